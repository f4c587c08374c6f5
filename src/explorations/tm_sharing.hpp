// SPDX-License-Identifier: Apache-2.0
// Objects that blocks unlink, destroy, hand over and wait for.
#pragma once

#include <atomic>
#include <cstdlib>

#include "explorations/tm_explored.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored {

constexpr std::uint64_t poison = 0xA5A5;

/// Two numbers that are equal in every block. Its destructor leaves poison. With the header that transactions put
/// before it, it is as large as two stripes, so that two of them never share a stripe.
struct alignas(16) pair_of_equals {
  tm::var<std::uint64_t> first;
  tm::var<std::uint64_t> second;
  tm::var<std::uint64_t> rest[3];
  std::atomic<unsigned>* alive;  ///< how many exist; null: not counted

  explicit pair_of_equals(std::uint64_t both, std::atomic<unsigned>* counter = nullptr)
      : first(both), second(both), alive(counter) {
    if (alive != nullptr) alive->fetch_add(1);
  }
  ~pair_of_equals() {
    if (alive != nullptr) alive->fetch_sub(1);
    first.store(poison);
    second.store(poison);
  }
  pair_of_equals(const pair_of_equals&) = delete;
  pair_of_equals& operator=(const pair_of_equals&) = delete;
};

template <class Transaction>
void look_at(Transaction& tx, pair_of_equals& one) {
  const std::uint64_t first = tx.read(one.first);
  if (tx.read(one.second) != first || first == poison) note_wrong();
}

template <class Transaction>
void change(Transaction& tx, pair_of_equals& one) {
  const std::uint64_t next = tx.read(one.first) + 1;
  if (next == poison + 1) note_wrong();
  tx.write(one.first, next);
  tx.write(one.second, next);
}

inline pair_of_equals* take_out(tm::var<pair_of_equals*>& shared_pair) {
  return tm::atomically(blocks::writing, [&](auto& tx) {
    pair_of_equals* const found = tx.read(shared_pair);
    tx.write(shared_pair, nullptr);
    tx.privatize();
    return found;
  });
}

/// Thread 0 takes the pair out, uses it outside of blocks, and puts it back. Others change it, or look at it.
template <unsigned threads>
struct privatizing_test {
  static constexpr unsigned turns = 4;
  alignas(64) tm::var<pair_of_equals*> shared_pair;
  alignas(64) pair_of_equals pair{1};

  privatizing_test() : shared_pair(&pair) {}
  static void body(privatizing_test& me, unsigned index) {
    if (index == 0) return me.use_privately();
    for (unsigned i = 0; i < 2; ++i) {
      tm::atomically(index == 1 ? blocks::writing : blocks::reading, [&](auto& tx) {
        pair_of_equals* const found = tx.read(me.shared_pair);
        if (found == nullptr) return;
        // Repeatedly, so that thread 0 can commit meanwhile.
        for (unsigned turn = 0; turn < turns; ++turn) index == 1 ? change(tx, *found) : look_at(tx, *found);
      });
    }
  }
  void use_privately() {
    pair_of_equals* const taken = take_out(shared_pair);
    if (taken->first.load() != taken->second.load()) note_wrong();
    taken->first.store(poison);
    taken->second.store(poison - 1);
    if (taken->first.load() != poison || taken->second.load() != poison - 1) note_wrong();
    taken->first.store(7);
    taken->second.store(7);
    tm::atomically(blocks::writing, [&](auto& tx) { tx.write(shared_pair, taken); });
  }
  const char* check() const {
    const std::uint64_t last = pair.first.load();
    if (last != pair.second.load() || last < 7 || last > 7 + 2 * turns) return "a change was lost, or came late";
    return check_notes(0, nullptr, nullptr);
  }
};

/// The same, but the memory is returned to the heap and reused at once.
struct freeing_test {
  alignas(64) tm::var<pair_of_equals*> shared_pair;

  freeing_test() : shared_pair(new(std::malloc(sizeof(pair_of_equals))) pair_of_equals(1)) {}
  static void body(freeing_test& me, unsigned index) {
    if (index == 0) {
      auto* const taken = take_out(me.shared_pair);
      taken->~pair_of_equals();
      std::free(taken);
      auto* const other = static_cast<std::uint64_t*>(std::malloc(sizeof(pair_of_equals)));
      for (unsigned i = 0; i < 4; ++i) other[i] = i;
      for (unsigned i = 0; i < 4; ++i) {
        if (other[i] != i) note_wrong();
      }
      return std::free(other);
    }
    tm::atomically(blocks::writing, [&](auto& tx) {
      pair_of_equals* const found = tx.read(me.shared_pair);
      if (found != nullptr) index == 1 ? change(tx, *found) : look_at(tx, *found);
    });
  }
  const char* check() const { return check_notes(0, nullptr, nullptr); }
};

/// Threads replace the pair and destroy the old one, or look at it. What a thread has destroyed is freed when no thread
/// looks at it, at the latest at the thread's end.
struct destroying_test {
  alignas(64) tm::var<pair_of_equals*> shared_pair{nullptr};
  alignas(64) std::atomic<unsigned> alive{0};

  static void body(destroying_test& me, unsigned index) {
    for (unsigned i = 0; i < 2; ++i) {
      tm::atomically(index < 2 ? blocks::writing : blocks::reading, [&](auto& tx) {
        pair_of_equals* const found = tx.read(me.shared_pair);
        if (found != nullptr) look_at(tx, *found);
        if (index == 2) return;
        pair_of_equals* const made = tx.template make<pair_of_equals>(index, &me.alive);
        tx.write(me.shared_pair, made);
        tx.destroy(found);
        if (index == 1) look_at(tx, *made);
      });
      if (index == 0) empty_limbo(tm::detail::runner::mine());
    }
  }
  const char* check() const {
    pair_of_equals* const last = shared_pair.load();
    if (last->first.load() == poison) return "what is reachable was destroyed";
    tm::detail::runner::free_orphans();
    if (alive.load() != 1) return "what nobody can reach is still there, or was destroyed twice";
    tm::destroy_unshared(last);
    return alive.load() == 0 ? check_notes(0, nullptr, nullptr) : "what nobody shares was not destroyed";
  }
};

/// A place for one thing: thread 0 puts, the others take; all wait by retry().
template <unsigned threads, unsigned takes>
struct handing_test {
  alignas(64) tm::var<std::uint64_t> full{0};
  alignas(64) tm::var<std::uint64_t> taken{0};

  static void body(handing_test& me, unsigned index) {
    const unsigned changes = index == 0 ? takes * (threads - 1) : takes;
    for (unsigned i = 0; i < changes; ++i) {
      tm::atomically(blocks::writing, [&](auto& tx) {
        if ((tx.read(me.full) == 0) != (index == 0)) tx.retry();
        tx.write(me.full, index == 0 ? 1 : 0);
        if (index != 0) tx.write(me.taken, tx.read(me.taken) + 1);
      });
    }
  }
  const char* check() const {
    return taken.load() != std::uint64_t{takes} * (threads - 1) ? "a hand-over was lost" : nullptr;
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored
