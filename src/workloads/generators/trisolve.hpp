// SPDX-License-Identifier: Apache-2.0
// trisolve: a sparse triangular system, solved backwards level by level, with a barrier between two levels
// (always-abort paper, IV-B, Fig 14 and Table I). It measures the barrier.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <txsync/speculate/warm_up.hpp>

#include "workloads/generators/sparse_matrix.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload trisolve_workload;

/// The system, the order in which its rows can be solved, and the expected result. The diagonal consists of ones and is
/// not stored. Rows of one level need only rows of earlier levels. A thread always has the same part of each level.
/// Solves take turns between two right-hand sides, so a row that is read before it is solved has the wrong value.
class triangular_system {
 public:
  static constexpr unsigned sides = 2;

  triangular_system(const sparse_matrix& matrix, std::uint64_t seed, unsigned threads);

  bool ok() const noexcept;
  std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(y_.size()); }
  std::uint32_t levels() const noexcept { return static_cast<std::uint32_t>(level_begins_.size() - 1); }
  std::uint64_t elements() const noexcept { return values_.size(); }
  std::uint64_t rows_of(unsigned thread) const noexcept { return parts_[thread].rows; }

  /// Solves the thread's part of a level. Returns what part_sum() adds up.
  std::uint64_t solve(unsigned thread, std::uint32_t level, unsigned side) noexcept;
  /// Fetches what solve() will touch, as far as that can be known.
  void warm_up(warm_memory& memory, unsigned thread, std::uint32_t level, unsigned side) noexcept;
  /// The sum of solve()'s results for all levels, if everything is right.
  std::uint64_t part_sum(unsigned thread, unsigned side) const noexcept { return parts_[thread].sums[side]; }

  /// Null, or why the last solve, with that side, does not count.
  const char* complaint(unsigned side) const noexcept;
  std::uint64_t hash() const noexcept;

 private:
  struct part {
    std::uint64_t rows = 0;
    std::uint64_t sums[sides] = {};
  };
  struct range {
    std::uint32_t first;
    std::uint32_t last;
  };
  range range_of(unsigned thread, std::uint32_t level) const noexcept;
  void make_schedule(const sparse_matrix& matrix);
  void solve_alone(unsigned side) noexcept;

  // The names are those of Fig 14.
  page_array<std::uint32_t> rowptr_;
  page_array<std::uint32_t> colidx_;
  page_array<double> values_;
  page_array<std::uint32_t> perm_;  ///< rows in the order of their levels
  page_array<double> y_;
  page_array<double> b_;  ///< one right-hand side after the other

  page_array<double> expected_;  ///< likewise
  std::vector<std::uint32_t> level_begins_;
  std::vector<part> parts_;
  unsigned threads_;
};

/// The matrix of a run. Its `fault` says why there is none.
sparse_matrix trisolve_matrix(const parameters& values, std::uint64_t seed);
/// Counts rows instead of parts of solves.
void count_rows(outcome& seen, const triangular_system& system, unsigned threads) noexcept;

template <class Barrier>
struct trisolve_shared {
  triangular_system& system;
  Barrier barrier;
  std::atomic<std::uint32_t> first{undecided};
  std::atomic<bool> another[triangular_system::sides] = {true, true};

  enum : std::uint32_t { undecided, go, end };
};

/// Whether there is a first solve. The first thread decides and all follow, because a thread that waits at a barrier
/// waits for all.
template <class Barrier>
bool is_to_begin(worker& me, trisolve_shared<Barrier>& shared) {
  using state = trisolve_shared<Barrier>;
  if (me.index() == 0) shared.first.store(me.more() ? state::go : state::end);
  while (shared.first.load() == state::undecided) machine::yield();
  return shared.first.load() == state::go;
}

/// Waits between two levels. A barrier with always-abort attempts runs ahead by itself; one that takes a body gets it.
template <class Barrier>
[[gnu::always_inline]] inline void pass(Barrier& barrier, triangular_system& system, unsigned thread,
                                        std::uint32_t next, unsigned side) {
  if constexpr (requires { Barrier::takes_body; }) {
    barrier.arrive_and_wait([&](warm_memory& memory) { system.warm_up(memory, thread, next, side); });
  } else {
    barrier.arrive_and_wait();
  }
}

/// Tallies: 0, solves in which this thread's part was wrong.
template <class Barrier>
void solve_parts(worker& me, trisolve_shared<Barrier>& shared) {
  triangular_system& system = shared.system;
  const std::uint32_t last = system.levels() - 1;
  me.wait_for_start();
  if (!is_to_begin(me, shared)) return;
  unsigned side = 0;
  for (bool another = true; another; side = 1 - side) {
    std::uint64_t sum = 0;
    me.begin();
    for (std::uint32_t level = 0; level < last; ++level) {
      sum += system.solve(me.index(), level, side);
      pass(shared.barrier, system, me.index(), level + 1, side);
    }
    sum += system.solve(me.index(), last, side);
    me.finish();
    if (sum != system.part_sum(me.index(), side)) ++me.tally(0);
    // relaxed: the barrier separates the write from the reads, and the other side's turn comes before the next write
    const bool more = me.more();
    if (me.index() == 0) shared.another[side].store(more, std::memory_order_relaxed);
    pass(shared.barrier, system, me.index(), 0, 1 - side);
    another = shared.another[side].load(std::memory_order_relaxed);
  }
}

template <class Barrier>
outcome run_trisolve(const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(trisolve_workload, values, how)) return refused(wrong);
  const sparse_matrix matrix = trisolve_matrix(values, how.seed);
  if (matrix.fault != nullptr) return refused(matrix.fault);
  triangular_system system(matrix, how.seed, how.threads);
  if (!system.ok()) return refused(no_memory);
  page_array<std::byte> place(sizeof(trisolve_shared<Barrier>));
  if (!place.ok()) return refused(no_memory);
  auto* const shared = new (place.data()) trisolve_shared<Barrier>{system, Barrier(how.threads)};
  team_result result = run_team<solve_parts<Barrier>>(how, *shared);
  shared->~trisolve_shared<Barrier>();
  const std::uint64_t solves = result.all_operations / how.threads;
  const char* wrong = result.tallies[0] != 0 ? "a thread read a row before it was solved" : nullptr;
  if (wrong == nullptr && solves != 0) wrong = system.complaint((solves - 1) % triangular_system::sides);
  count_rows(result.seen, system, how.threads);
  return result.checked(wrong, system.hash());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
