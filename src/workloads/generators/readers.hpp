// SPDX-License-Identifier: Apache-2.0
// readers: read and write sections over an array of pairs, under one reader-writer lock.
#pragma once

#include <cstdint>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload readers_workload;

/// Pairs whose halves are equal outside of write sections. A reader that sees unequal halves was not excluded.
class pair_data {
 public:
  static constexpr unsigned max_touches = 1024;
  struct pair {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };

  explicit pair_data(const parameters& values) noexcept;

  /// How many of the pairs at these places have unequal halves.
  std::uint64_t read(const std::uint32_t* places) const noexcept {
    std::uint64_t unequal = 0;
    for (unsigned i = 0; i < touches; ++i) {
      const pair& one = pairs.data()[places[i]];
      unequal += one.left != one.right ? 1 : 0;
    }
    return unequal;
  }
  void write(const std::uint32_t* places) noexcept {
    for (unsigned i = 0; i < touches; ++i) {
      pair& one = pairs[places[i]];
      ++one.left;
      ++one.right;
    }
  }

  /// Null, or why the run does not count: `unequal` is what all readers saw, `writes` how many write sections ran.
  const char* complaint(std::uint64_t unequal, std::uint64_t writes) const noexcept;
  /// A hash of all the data, see outcome::end_hash.
  std::uint64_t hash() const noexcept;

  page_array<pair> pairs;
  std::uint64_t reads;    ///< percent of sections that read
  unsigned touches;       ///< pairs that a section reads or writes
  std::uint64_t outside;  ///< fences between sections, on average
};

template <class Adapter>
struct pairs_shared {
  alignas(machine::pad_bytes) Adapter lock{};
  alignas(machine::pad_bytes) pair_data data;
};

/// A read section; shared if the lock supports it.
template <class Adapter, class Entered>
std::uint64_t read_section(Adapter& lock, typename Adapter::slot& mine, const pair_data& data,
                           const std::uint32_t* places, const Entered& entered) {
  std::uint64_t unequal = 0;
  if constexpr (has_read_sections<Adapter>) {
    lock.lock_shared(mine);
    entered();
    unequal = data.read(places);
    lock.unlock_shared(mine);
  } else {
    lock.lock(mine);
    entered();
    unequal = data.read(places);
    lock.unlock(mine);
  }
  return unequal;
}

template <class Adapter>
void read_and_write_sections(worker& me, pairs_shared<Adapter>& shared) {
  Adapter& lock = shared.lock;
  pair_data& data = shared.data;
  const std::uint64_t size = data.pairs.size();
  typename Adapter::slot mine{};
  random_stream random = me.random();
  std::uint32_t places[pair_data::max_touches];
  std::uint64_t unequal = 0;
  std::uint64_t writes = 0;

  me.wait_for_start();
  while (me.more()) {
    const bool reads = random.percent(data.reads);
    for (unsigned i = 0; i < data.touches; ++i) places[i] = static_cast<std::uint32_t>(random.below(size));
    const bool timed = me.begin();
    if (reads) {
      unequal += read_section(lock, mine, data, places, [&] { me.entered(timed); });
    } else {
      lock.lock(mine);
      me.entered(timed);
      data.write(places);
      lock.unlock(mine);
      ++writes;
    }
    me.finish();
    work_outside(data.outside, random);
  }
  me.tally(0) = unequal;
  me.tally(1) = writes;
}

template <class Adapter>
outcome run_readers(const parameters& values, const plan& how) {
  if (const char* const refusal = complaint(readers_workload, values, how)) return refused(refusal);
  pairs_shared<Adapter> shared{.data = pair_data(values)};
  if (!shared.data.pairs.ok()) return refused(no_memory);
  team_result result = run_team<read_and_write_sections<Adapter>>(how, shared);
  const char* const wrong = excludes<Adapter>() ? shared.data.complaint(result.tallies[0], result.tallies[1]) : nullptr;
  return result.checked(wrong, shared.data.hash());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
