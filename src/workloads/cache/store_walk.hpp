// SPDX-License-Identifier: Apache-2.0
// The critical sections of a cache, written once for the holder of the lock and for a waiter that warms up
// (warm_up.hpp). A waiter sees items that change, but nothing else (item.hpp). This file is included where it is
// instantiated.
#pragma once

#include <cstring>

#include "workloads/cache/numbers.hpp"
#include "workloads/cache/store.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

// ---- the way to an item: bucket, chain, item

template <class Memory>
bool store::same_key(Memory& memory, const item& one, const item_key& key) const noexcept {
  if (memory.load(one.hash) != key.hash() || memory.load(one.key_bytes) != key.bytes()) return false;
  const std::uint64_t* const words = one.key_words();
  for (unsigned i = 0; i < key.words(); ++i) {
    if (memory.load(words[i]) != key.word(i)) return false;
  }
  return true;
}

/// The link to the key's item, or the end of its chain.
template <class Memory>
item** store::find_link(Memory& memory, const item_key& key) noexcept {
  item** link = &bucket_of(key.hash());
  for (item* one = memory.load(*link); one != nullptr && !same_key(memory, *one, key); one = memory.load(*link)) {
    link = &one->next;
  }
  return link;
}

template <class Memory>
bool store::is_over(Memory& memory, const item& one, std::uint32_t now) const noexcept {
  const std::uint32_t expires = memory.load(one.expires);
  return (expires != 0 && expires <= now) || memory.load(one.cas) < memory.load(over_before_);
}

/// The key's item and the link to it. If the item has expired, removes it and returns null.
template <class Memory>
item* store::find_live(Memory& memory, const item_key& key, std::uint32_t now, item**& link) noexcept {
  link = find_link(memory, key);
  item* const one = memory.load(*link);
  if (one == nullptr || !is_over(memory, *one, now)) return one;
  unlink(memory, link);
  return nullptr;
}

template <class Memory>
void store::flush_if_due(Memory& memory, std::uint32_t now) noexcept {
  const std::uint32_t due = memory.load(flush_at_);
  if (due == 0 || now < due) [[likely]]
    return;
  memory.store(flush_at_, std::uint32_t{0});
  memory.store(over_before_, memory.load(next_cas_));
}

// ---- in and out of the table

/// Like item::value() and item::bytes().
template <class Memory>
char* store::value_of(Memory& memory, item* one) noexcept {
  return reinterpret_cast<char*>(one->key_words() + item::words_of(memory.load(one->key_bytes)));
}
template <class Memory>
std::size_t store::bytes_of(Memory& memory, const item* one) noexcept {
  return item::bytes_of(memory.load(one->key_bytes), memory.load(one->value_bytes));
}

template <class Memory>
void store::to_front(Memory& memory, item* one) noexcept {
  use_order& order = orders_[memory.load(one->place) & ~item::linked_bit];
  item* const before = memory.load(order.newest);
  memory.store(one->newer, static_cast<item*>(nullptr));
  memory.store(one->older, before);
  if (before != nullptr) {
    memory.store(before->newer, one);
  } else {
    memory.store(order.oldest, one);
  }
  memory.store(order.newest, one);
}

template <class Memory>
void store::out_of_order(Memory& memory, item* one) noexcept {
  use_order& order = orders_[memory.load(one->place) & ~item::linked_bit];
  item* const newer = memory.load(one->newer);
  item* const older = memory.load(one->older);
  memory.store(newer != nullptr ? newer->older : order.newest, older);
  memory.store(older != nullptr ? older->newer : order.oldest, newer);
}

/// Moves an item to the front, but at most once a minute, as in memcached. Otherwise each use of a popular item would
/// write to it.
template <class Memory>
void store::move_if_old(Memory& memory, item* one, std::uint32_t now) noexcept {
  constexpr std::uint32_t interval = 60;
  if (now - memory.load(one->moved) < interval) return;
  memory.store(one->moved, now);
  out_of_order(memory, one);
  to_front(memory, one);
}

template <class Memory>
void store::report(Memory& memory, const statistics& more) noexcept {
  if constexpr (Memory::speculative) {
    memory.fetch(&news_, sizeof news_);
  } else {
    has_news_ = true;
    news_.add(more);
  }
}

/// Links the item as the first of its chain. Requires: no item of the table has its key.
template <class Memory>
void store::link(Memory& memory, item* one, std::uint32_t now) noexcept {
  item*& first = bucket_of(memory.load(one->hash));
  memory.store(one->next, memory.load(first));
  memory.store(first, one);
  memory.store(one->cas, memory.load(next_cas_));
  memory.store(next_cas_, memory.load(next_cas_) + 1);
  memory.store(one->moved, now);
  to_front(memory, one);
  memory.store(one->place, static_cast<std::uint8_t>(memory.load(one->place) | item::linked_bit));
  report(memory, {.items = 1, .bytes = bytes_of(memory, one), .stored = 1});
}

template <class Memory>
void store::unlink(Memory& memory, item** link) noexcept {
  item* const one = memory.load(*link);
  if (Memory::speculative && one == nullptr) return;  // it was there a moment ago
  memory.store(*link, memory.load(one->next));
  out_of_order(memory, one);
  memory.store(one->place, static_cast<std::uint8_t>(memory.load(one->place) & ~item::linked_bit));
  report(memory, {.items = ~std::uint64_t{0}, .bytes = 0 - std::uint64_t{bytes_of(memory, one)}});
  if (memory.load(one->references) == 0) slabs_.give(memory, one);
}

/// Removes a user. The last one gives the memory back if the table no longer has the item.
template <class Memory>
void store::drop(Memory& memory, item* one) noexcept {
  const auto left = static_cast<std::uint16_t>(memory.load(one->references) - 1);
  memory.store(one->references, left);
  if (left == 0 && (memory.load(one->place) & item::linked_bit) == 0) slabs_.give(memory, one);
}

// ---- memory for an item

/// Removes one of the items that have not been used for the longest time. False if all of them have users.
template <class Memory>
bool store::evict(Memory& memory, unsigned size_class, std::uint32_t now) noexcept {
  constexpr unsigned max_tries = 50;
  item* one = memory.load(orders_[size_class].oldest);
  for (unsigned tries = 0; one != nullptr && tries < max_tries; one = memory.load(one->newer), ++tries) {
    if (memory.load(one->references) != 0) continue;
    const bool over = is_over(memory, *one, now);
    report(memory, {.evicted = over ? 0U : 1U, .reclaimed = over ? 1U : 0U});
    item** link = &bucket_of(memory.load(one->hash));
    for (item* at = memory.load(*link); at != one; at = memory.load(*link)) {
      if (Memory::speculative && at == nullptr) return false;  // the chain has changed
      link = &at->next;
    }
    unlink(memory, link);
    return true;
  }
  return false;
}

/// A new item with its key and one user. If there is no memory for it, null and the reason.
template <class Memory>
item* store::make(Memory& memory, const item_key& key, const request& like, std::size_t value_bytes,
                  answer& why) noexcept {
  const unsigned size_class = slabs::class_of(item::bytes_of(key.bytes(), value_bytes));
  if (size_class == slabs::max_classes) {
    why = answer::too_large;
    return nullptr;
  }
  item* one = slabs_.take(memory, size_class);
  if (one == nullptr && evict(memory, size_class, like.now)) one = slabs_.take(memory, size_class);
  if (one == nullptr) {
    why = answer::no_memory;
    return nullptr;
  }
  memory.store(one->hash, key.hash());
  memory.store(one->value_bytes, static_cast<std::uint32_t>(value_bytes));
  memory.store(one->flags, like.flags);
  memory.store(one->expires, like.expires);
  memory.store(one->references, std::uint16_t{1});
  memory.store(one->key_bytes, static_cast<std::uint8_t>(key.bytes()));
  memory.store(one->place, static_cast<std::uint8_t>(size_class));
  for (unsigned i = 0; i < key.words(); ++i) memory.store(one->key_words()[i], key.word(i));
  return one;
}

// ---- requests

template <class Memory>
void store::get(Memory& memory, request& asked) noexcept {
  item** link = nullptr;
  item* const one = find_live(memory, *asked.key, asked.now, link);
  asked.subject = one;
  asked.said = one != nullptr ? answer::done : answer::not_found;
  if (one == nullptr) return;
  memory.store(one->references, static_cast<std::uint16_t>(memory.load(one->references) + 1));
  move_if_old(memory, one, asked.now);
  memory.fetch(one + 1, item::bytes_of(asked.key->bytes(), memory.load(one->value_bytes)) - sizeof(item));
}

template <class Memory>
answer store::put(Memory& memory, const request& asked) noexcept {
  item** old_link = nullptr;
  item* const old = find_live(memory, *asked.key, asked.now, old_link);
  switch (asked.how) {
    case rule::add:
      if (old == nullptr) break;
      move_if_old(memory, old, asked.now);
      return answer::not_stored;
    case rule::replace:
      if (old == nullptr) return answer::not_stored;
      break;
    case rule::cas:
      if (old == nullptr) return answer::not_found;
      if (memory.load(old->cas) != asked.cas) return answer::exists;
      break;
    default:
      break;
  }
  if (old != nullptr) unlink(memory, old_link);
  link(memory, asked.subject, asked.now);
  return answer::done;
}

template <class Memory>
answer store::join(Memory& memory, const request& asked) noexcept {
  item** old_link = nullptr;
  item* const old = find_live(memory, *asked.key, asked.now, old_link);
  if (old == nullptr) return answer::not_stored;
  const std::size_t before = memory.load(old->value_bytes);
  const std::size_t more = memory.load(asked.subject->value_bytes);
  // Counted as a user, so that the item is not evicted to make room for its own successor.
  memory.store(old->references, static_cast<std::uint16_t>(memory.load(old->references) + 1));
  request like = asked;
  like.flags = memory.load(old->flags);
  like.expires = memory.load(old->expires);
  answer why = answer::done;
  item* const both = make(memory, *asked.key, like, before + more, why);
  if constexpr (Memory::speculative) {
    memory.fetch(value_of(memory, old), before);
  } else if (both != nullptr) {
    const bool behind = asked.how == rule::append;
    std::memcpy(both->value() + (behind ? 0 : more), old->value(), before);
    std::memcpy(both->value() + (behind ? before : 0), asked.subject->value(), more);
    unlink(memory, find_link(memory, *asked.key));  // an evicted item may have been before it
    link(memory, both, asked.now);
    drop(memory, both);
  }
  drop(memory, old);
  return both != nullptr ? answer::done : answer::not_stored;
}

template <class Memory>
answer store::count(Memory& memory, request& asked) noexcept {
  item** old_link = nullptr;
  item* const old = find_live(memory, *asked.key, asked.now, old_link);
  if (old == nullptr) return answer::not_found;
  if constexpr (Memory::speculative) {
    memory.fetch(value_of(memory, old), max_number_letters);
    return answer::done;
  } else {
    std::uint64_t number = 0;
    if (!read_number(old->value(), old->value_bytes, number)) return answer::not_a_number;
    if (asked.up) {
      number += asked.delta;
    } else {
      number -= asked.delta < number ? asked.delta : number;
    }
    asked.number = number;
    char text[max_number_letters];
    const unsigned length = write_number(number, text);
    if (length <= old->value_bytes && old->references == 0) {  // no one reads it
      std::memcpy(old->value(), text, length);
      std::memset(old->value() + length, ' ', old->value_bytes - length);
      memory.store(old->cas, memory.load(next_cas_));
      memory.store(next_cas_, memory.load(next_cas_) + 1);
      move_if_old(memory, old, asked.now);
      return answer::done;
    }
    request like = asked;
    like.flags = old->flags;
    like.expires = old->expires;
    memory.store(old->references, static_cast<std::uint16_t>(old->references + 1));  // as in join()
    answer why = answer::done;
    item* const fresh = make(memory, *asked.key, like, length, why);
    if (fresh != nullptr) {
      std::memcpy(fresh->value(), text, length);
      unlink(memory, find_link(memory, *asked.key));
      link(memory, fresh, asked.now);
      drop(memory, fresh);
    }
    drop(memory, old);
    return why;
  }
}

template <class Memory>
answer store::remove(Memory& memory, const request& asked) noexcept {
  item** old_link = nullptr;
  if (find_live(memory, *asked.key, asked.now, old_link) == nullptr) return answer::not_found;
  unlink(memory, old_link);
  return answer::done;
}

template <class Memory>
answer store::touch(Memory& memory, const request& asked) noexcept {
  item** link = nullptr;
  item* const one = find_live(memory, *asked.key, asked.now, link);
  if (one == nullptr) return answer::not_found;
  memory.store(one->expires, asked.expires);
  move_if_old(memory, one, asked.now);
  return answer::done;
}

template <class Memory>
void store::apply(Memory& memory, request& asked) noexcept {
  flush_if_due(memory, asked.now);
  switch (asked.what) {
    case action::get:
      return get(memory, asked);
    case action::take:
      asked.said = answer::done;
      asked.subject = make(memory, *asked.key, asked, asked.value_bytes, asked.said);
      return;
    case action::put:
      asked.said = put(memory, asked);
      return;
    case action::join:
      asked.said = join(memory, asked);
      return;
    case action::release:
      return drop(memory, asked.subject);
    case action::count:
      asked.said = count(memory, asked);
      return;
    case action::remove:
      asked.said = remove(memory, asked);
      return;
    case action::touch:
      asked.said = touch(memory, asked);
      return;
    case action::flush:
      // Second 0 means no order, because it has long passed.
      if (asked.expires > asked.now) return memory.store(flush_at_, asked.expires);
      memory.store(flush_at_, std::uint32_t{0});
      return memory.store(over_before_, memory.load(next_cas_));
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache
