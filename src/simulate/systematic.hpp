// SPDX-License-Identifier: Apache-2.0
// The systematic order: executes a program again and again, until each order of execution is equivalent to one before.
// Executions are equivalent if they order dependent segments alike. Two segments are dependent if they access the same
// memory, and one of them writes it.
//
// Source: source-DPOR (Abdulla, Aronsson, Jonsson and Sagonas, POPL 2014, Algorithm 1), with sleep sets (Godefroid, 1996).
// No two whole executions are equivalent: sleep sets see to that. Some runs end early, because each thread that could go
// on would only lead to an execution that was explored.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <txsync_backend/name.hpp>

#include "sim/host/image.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

/// Which threads go on, from the first choice on. Some threads sleep at the last of these choices: what they would lead to
/// is explored. With each comes what it would touch.
struct execution_plan {
  std::vector<unsigned> choices = {};
  std::map<unsigned, std::vector<sim::segment_touch>> sleeping = {};

  /// As the image reads it (runtime/systematic.hpp).
  std::vector<std::uint64_t> words() const;
};

class systematic_exploration {
 public:
  bool has_next() const { return has_next_; }
  /// Requires: has_next().
  execution_plan next() const;
  /// The run of next(): all of its segments. `awaited`: what the threads would do that still wait for a lock or a
  /// semaphore at its end.
  void add(std::vector<sim::segment> run, const std::vector<sim::segment>& awaited);

 private:
  using clock = std::vector<std::size_t>;  ///< for each thread, one more than its last segment that comes before
  using touches_of_threads = std::map<unsigned, std::vector<sim::segment_touch>>;

  struct node {
    sim::segment made;               ///< by the last run
    touches_of_threads done = {};    ///< threads that went on here before
    touches_of_threads asleep = {};  ///< when the node was reached
    std::set<unsigned> to_do = {};   ///< threads that have to go on here; those before included
    clock time = {};                 ///< of what `made` comes after, itself included
  };

  clock fixed_order_before(std::size_t number) const;
  void order(std::size_t number);
  void order_awaited(const sim::segment& awaited);
  void reverse_waits(std::size_t number, const clock& so_far, sim::segment_event_kind kind);
  void reverse(std::size_t before, std::size_t after);
  bool is_before(std::size_t a, std::size_t b) const;
  std::vector<std::size_t> dependent_before(std::size_t number) const;
  bool go_back();

  std::vector<node> nodes_;
  bool has_next_ = true;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
