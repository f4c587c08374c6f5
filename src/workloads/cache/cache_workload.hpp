// SPDX-License-Identifier: Apache-2.0
// cache: gets and sets in a cache without a server, under memcached 1.4.5's two global locks, or in stripes
// (always-abort paper, IV-A 2).
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/cache/locked.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload cache_workload;

namespace cache {

inline constexpr std::uint32_t workload_stripes = 64;

/// The parameters, and what follows from them.
class mix_of_requests {
 public:
  mix_of_requests(const parameters& values, const plan& how);

  std::uint64_t keys() const noexcept { return keys_; }
  std::uint64_t gets() const noexcept { return gets_; }  ///< percent
  std::uint32_t value_bytes() const noexcept { return value_bytes_; }
  /// Whether a key that was set stays for ever.
  bool keeps_all() const noexcept { return keeps_all_; }
  const std::vector<store_shape>& shapes() const noexcept { return shapes_; }
  std::uint64_t outside() const noexcept { return outside_; }  ///< fences between requests, on average
  /// The keys in the order in which they are set initially.
  const std::vector<std::uint32_t>& order() const noexcept { return order_; }

 private:
  std::uint64_t keys_;
  std::uint64_t gets_;
  std::uint32_t value_bytes_;
  bool keeps_all_;
  std::uint64_t outside_;
  std::vector<std::uint32_t> order_;
  std::vector<store_shape> shapes_;
};

/// Writes the value of a key: the key's number, a version, words that follow from both, and a hash of all of them.
void write_value(item& into, std::uint64_t key_number, std::uint64_t version) noexcept;
/// Whether it is such a value, and belongs to that key.
bool value_is_right(const item& one, std::uint64_t key_number) noexcept;
/// What each item of the table adds to a hash of all items.
void add_to_hash(running_hash& all, const item& one) noexcept;

/// One thread's gets and sets.
template <class Adapter>
class client {
 public:
  client(locked<Adapter>& shared, std::uint32_t value_bytes) noexcept : shared_(shared), value_bytes_(value_bytes) {}

  /// Whether the key is there. Its value is checked outside of critical sections.
  bool get(const item_key& key, std::uint64_t number) {
    request asked{.what = action::get, .now = second, .key = &key};
    shared_.run(slots_, key, asked);
    if (asked.subject == nullptr) return false;
    if (!value_is_right(*asked.subject, number)) ++wrong_;
    release(key, asked.subject);
    return true;
  }

  /// False if there was no memory for it.
  bool set(const item_key& key, std::uint64_t number, std::uint64_t version) {
    request asked{.what = action::take, .now = second, .value_bytes = value_bytes_, .key = &key};
    shared_.run(slots_, key, asked);
    item* const fresh = asked.subject;
    if (fresh == nullptr) return false;
    write_value(*fresh, number, version);
    asked = {.what = action::put, .now = second, .key = &key, .subject = fresh};
    shared_.run(slots_, key, asked);
    release(key, fresh);
    return true;
  }

  std::uint64_t wrong() const noexcept { return wrong_; }

 private:
  /// No time passes, because a run is shorter than a minute. Only once a minute is an item moved to the front.
  static constexpr std::uint32_t second = 1;

  void release(const item_key& key, item* one) {
    request asked{.what = action::release, .now = second, .subject = one};
    shared_.run(slots_, key, asked);
  }

  locked<Adapter>& shared_;
  std::uint32_t value_bytes_;
  std::uint64_t wrong_ = 0;
  lock_slots<Adapter> slots_;
};

template <class Adapter>
struct shared_cache {
  const mix_of_requests& mix;
  locked<Adapter> data;
};

/// The meaning of the workers' tallies.
enum tally : unsigned { missed, stored, refused, wrong };

template <class Adapter>
void request_all(worker& me, shared_cache<Adapter>& shared) {
  client<Adapter> mine(shared.data, shared.mix.value_bytes());
  random_stream random = me.random();
  std::uint64_t version = std::uint64_t{me.index() + 1} << 40;

  me.wait_for_start();
  while (me.more()) {
    const bool gets = random.percent(shared.mix.gets());
    const std::uint64_t number = random.below(shared.mix.keys());
    const item_key key(number);
    me.begin();
    if (gets) {
      me.tally(missed) += mine.get(key, number) ? 0 : 1;
    } else {
      ++me.tally(mine.set(key, number, ++version) ? stored : refused);
    }
    me.finish();
    work_outside(shared.mix.outside(), random);
  }
  me.tally(wrong) = mine.wrong();
}

/// Null, or why the run does not count. `filled` sets were done before the threads started.
const char* counts_wrong(const mix_of_requests& mix, const team_result& seen, const statistics& told,
                         std::uint64_t filled) noexcept;

/// Sums over the content of the table.
struct table_sums {
  std::uint64_t wrong = 0;
  running_hash all;
};
void look_at(table_sums& sums, const item& one, std::uint64_t keys) noexcept;

template <class Adapter>
outcome run_requests(const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(cache_workload, values, how)) return workloads::refused(wrong);
  const mix_of_requests mix(values, how);
  shared_cache<Adapter> shared{mix, locked<Adapter>(mix.shapes())};
  if (!shared.data.ok()) return workloads::refused(no_memory);
  {
    client<Adapter> filler(shared.data, mix.value_bytes());
    for (const std::uint32_t number : mix.order()) {
      if (!filler.set(item_key(number), number, 0)) return workloads::refused(no_memory);
    }
  }
  team_result result = run_team<request_all<Adapter>>(how, shared);

  lock_slots<Adapter> slots;
  const char* wrong = counts_wrong(mix, result, shared.data.told(slots), mix.order().size());
  if (wrong == nullptr) wrong = shared.data.complaint();
  table_sums sums;
  if (wrong == nullptr) {  // a walk along wrong links might not end
    shared.data.for_each([&](const item& one) { look_at(sums, one, mix.keys()); });
    if (sums.wrong != 0) wrong = "a value in the cache is not one that was written for its key";
  }
  return result.checked(wrong, sums.all.value());
}

}  // namespace cache

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
