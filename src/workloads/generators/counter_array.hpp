// SPDX-License-Identifier: Apache-2.0
// counter-array: increments of random elements of an array, under one lock or one lock per element (LevelDB paper,
// section 3).
#pragma once

#include <cstdint>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload counter_array_workload;

/// The parameters by meaning.
struct counter_array_shape {
  explicit counter_array_shape(const parameters& values) noexcept;
  std::uint64_t counters;
  bool fine;  ///< a lock beside each counter
};

/// Reads the counters after a run.
class counter_reader {
 public:
  void add(std::uint64_t counter) noexcept {
    sum_ += counter;
    hash_.add(counter);
  }
  /// Null, or why the run does not count.
  const char* complaint(std::uint64_t operations) const noexcept;
  std::uint64_t hash() const noexcept { return hash_.value(); }

 private:
  std::uint64_t sum_ = 0;
  running_hash hash_;
};

template <class Adapter>
struct coarse_counters {
  alignas(machine::pad_bytes) Adapter lock{};
  alignas(machine::pad_bytes) page_array<std::uint64_t> counters;

  counter_reader read() const noexcept {
    counter_reader all;
    for (const std::uint64_t counter : counters) all.add(counter);
    return all;
  }
};

template <class Adapter>
struct fine_counters {
  struct entry {
    Adapter lock{};
    std::uint64_t value = 0;
  };
  page_array<entry> counters;

  counter_reader read() const noexcept {
    counter_reader all;
    for (const entry& one : counters) all.add(one.value);
    return all;
  }
};

template <class Adapter>
void coarse_increments(worker& me, coarse_counters<Adapter>& shared) {
  const std::uint64_t size = shared.counters.size();
  [[maybe_unused]] typename Adapter::slot mine{};
  random_stream random = me.random();

  me.wait_for_start();
  while (me.more()) {
    std::uint64_t& counter = shared.counters[random.below(size)];
    const bool timed = me.begin();
    shared.lock.lock(mine);
    me.entered(timed);
    ++counter;
    shared.lock.unlock(mine);
    me.finish();
  }
}

template <class Adapter>
void fine_increments(worker& me, fine_counters<Adapter>& shared) {
  const std::uint64_t size = shared.counters.size();
  [[maybe_unused]] typename Adapter::slot mine{};
  random_stream random = me.random();

  me.wait_for_start();
  while (me.more()) {
    auto& chosen = shared.counters[random.below(size)];
    const bool timed = me.begin();
    chosen.lock.lock(mine);
    me.entered(timed);
    ++chosen.value;
    chosen.lock.unlock(mine);
    me.finish();
  }
}

template <class Adapter, auto Body, class Shared>
outcome count_in(Shared& shared, const plan& how) {
  if (!shared.counters.ok()) return refused(no_memory);
  team_result result = run_team<Body>(how, shared);
  const counter_reader counters = shared.read();
  const char* const wrong = excludes<Adapter>() ? counters.complaint(result.all_operations) : nullptr;
  return result.checked(wrong, counters.hash());
}

template <class Adapter>
outcome run_counter_array(const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(counter_array_workload, values, how)) return refused(wrong);
  const counter_array_shape shape(values);
  if (shape.fine) {
    fine_counters<Adapter> shared{page_array<typename fine_counters<Adapter>::entry>(shape.counters)};
    return count_in<Adapter, fine_increments<Adapter>>(shared, how);
  }
  coarse_counters<Adapter> shared{.counters = page_array<std::uint64_t>(shape.counters)};
  return count_in<Adapter, coarse_increments<Adapter>>(shared, how);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
