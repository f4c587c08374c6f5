// SPDX-License-Identifier: Apache-2.0
// What can be asked of a cache. Each action is one critical section.
#pragma once

#include <cstdint>

#include "workloads/cache/item.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

enum class action : std::uint8_t {
  get,      ///< subject: the key's item, which the caller may read until it releases it
  take,     ///< subject: a new item for the key, not in the table; the caller fills and releases it
  put,      ///< links subject, by the rule; removes an old item of the key
  join,     ///< puts subject's value before or after the old one's, by the rule, in a new item
  release,  ///< the caller is done with subject
  count,    ///< adds delta to the number in the value, or subtracts it
  remove,   ///< removes the key's item
  touch,    ///< sets when it expires
  flush     ///< expires everything that is there now, or everything that is there at second `expires`
};

enum class rule : std::uint8_t { set, add, replace, cas, append, prepend };

enum class answer : std::uint8_t { done, not_found, not_stored, exists, not_a_number, no_memory, too_large };

/// One request and its answer. Running it does not change its inputs, so it can be run again.
struct request {
  action what = action::get;
  rule how = rule::set;
  bool up = true;         ///< for count: adds
  std::uint32_t now = 0;  ///< second
  std::uint32_t expires = 0;
  std::uint32_t flags = 0;
  std::uint32_t value_bytes = 0;  ///< for take
  std::uint64_t cas = 0;          ///< for rule::cas: what the old item must have
  std::uint64_t delta = 0;
  const item_key* key = nullptr;  ///< null for release and flush

  item* subject = nullptr;  ///< input of put, join and release; result of get and take
  answer said = answer::done;
  std::uint64_t number = 0;  ///< for count: the new value
};

/// Guarded by the lock for statistics. Differences may be negative; they wrap around.
struct statistics {
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stored = 0;     ///< in all
  std::uint64_t evicted = 0;    ///< removed before they expired, to make room
  std::uint64_t reclaimed = 0;  ///< removed after they expired, to make room

  void add(const statistics& other) noexcept {
    items += other.items;
    bytes += other.bytes;
    stored += other.stored;
    evicted += other.evicted;
    reclaimed += other.reclaimed;
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache
