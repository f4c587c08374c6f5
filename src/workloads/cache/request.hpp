// SPDX-License-Identifier: Apache-2.0
// What can be asked of a cache: one section each.
#pragma once

#include <cstdint>

#include "workloads/cache/item.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads::cache {

enum class action : std::uint8_t {
  get,      ///< subject: the key's item, which is the caller's to read until it is released
  take,     ///< subject: a new item for the key, not in the table, for the caller to fill and to release
  put,      ///< links subject, by the rule; an old item of the key goes
  join,     ///< puts subject's value before or behind the old one's, by the rule, in a new item
  release,  ///< the caller is done with subject
  count,    ///< adds delta to the number that the value is, or subtracts it
  remove,   ///< takes the key's item out
  touch,    ///< when it expires
  flush     ///< what is there now is over, or what is there at second `expires`
};

enum class rule : std::uint8_t { set, add, replace, cas, append, prepend };

enum class answer : std::uint8_t { done, not_found, not_stored, exists, not_a_number, no_memory, too_large };

/// One request and its answer. What goes in is not changed by running it: it can be run again.
struct request {
  action what = action::get;
  rule how = rule::set;
  bool up = true;         ///< count: adds
  std::uint32_t now = 0;  ///< second
  std::uint32_t expires = 0;
  std::uint32_t flags = 0;
  std::uint32_t value_bytes = 0;  ///< of take
  std::uint64_t cas = 0;          ///< that the old item has to have, by rule::cas
  std::uint64_t delta = 0;
  const item_key* key = nullptr;  ///< null: of release and flush

  item* subject = nullptr;  ///< goes in with put, join and release; comes out of get and take
  answer said = answer::done;
  std::uint64_t number = 0;  ///< count: what it is now
};

/// Guarded by the lock for statistics. Differences may be negative: they wrap.
struct statistics {
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stored = 0;     ///< ever
  std::uint64_t evicted = 0;    ///< to make room, before their time
  std::uint64_t reclaimed = 0;  ///< to make room, after it

  void add(const statistics& other) noexcept {
    items += other.items;
    bytes += other.bytes;
    stored += other.stored;
    evicted += other.evicted;
    reclaimed += other.reclaimed;
  }
};

}  // namespace txsync::inline TXSYNC_BACKEND::workloads::cache
