// SPDX-License-Identifier: Apache-2.0
// Data structures under locks, behind one interface. So one template runs all of them on a lock, and each structure is
// compiled once instead of once for each lock.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The critical sections of one operation, each under one lock of the structure, one after the other.
struct section_list {
  static constexpr unsigned most = 2;
  unsigned count = 0;
  std::uint64_t locks[most] = {};
};

/// One thread's access to a structure. Only that thread uses it.
class visitor {
 public:
  /// Draws the next operation, and prepares what its sections must not do, such as allocation.
  virtual section_list draw() = 0;
  /// Runs one section of the drawn operation. If an attempt aborts, nothing of it has happened. Requires: the section's
  /// lock is held.
  virtual void apply(unsigned section) = 0;
  /// Touches what apply() would touch. Called by a thread that waits for the section's lock.
  virtual void warm(unsigned /*section*/, warm_memory& /*memory*/) {}
  /// Called after the sections: frees what is no longer needed, and counts.
  virtual void settle() = 0;

 protected:
  ~visitor() = default;
};

/// What the threads share. It knows nothing about locks except how many it needs.
class structure {
 public:
  structure() = default;
  structure(const structure&) = delete;
  structure& operator=(const structure&) = delete;
  virtual ~structure() = default;

  virtual std::uint64_t locks() const noexcept = 0;
  virtual visitor& visitor_of(unsigned thread) noexcept = 0;

  // After all threads have ended:
  /// Null, or why the run does not count.
  virtual const char* complaint() const = 0;
  /// A hash of all the data, see outcome::end_hash.
  virtual std::uint64_t hash() const = 0;
};

/// Makes and fills a structure for the threads of a plan. Null if the machine has not enough memory.
using structure_maker = std::unique_ptr<structure> (*)(const parameters& values, const plan& how);

extern const workload bank_workload;
extern const workload list_workload;
extern const workload hashmap_workload;
extern const workload tree_workload;
std::unique_ptr<structure> make_bank(const parameters& values, const plan& how);
std::unique_ptr<structure> make_list(const parameters& values, const plan& how);
std::unique_ptr<structure> make_hashmap(const parameters& values, const plan& how);
std::unique_ptr<structure> make_tree(const parameters& values, const plan& how);

template <class Adapter>
struct structure_shared {
  structure& data;
  page_array<padded<Adapter>> locks;
};

template <class Adapter>
void visit(worker& me, structure_shared<Adapter>& shared) {
  visitor& mine = shared.data.visitor_of(me.index());
  [[maybe_unused]] typename Adapter::slot slot{};

  me.wait_for_start();
  while (me.more()) {
    const section_list sections = mine.draw();
    const bool timed = me.begin();
    for (unsigned i = 0; i < sections.count; ++i) {
      Adapter& lock = shared.locks[sections.locks[i]].object;
      if (i != 0) me.ask(timed);
      lock_warming(lock, slot, [&](warm_memory& memory) { mine.warm(i, memory); });
      me.entered(timed);
      mine.apply(i);
      lock.unlock(slot);
    }
    me.finish();
    mine.settle();
  }
}

template <class Adapter>
outcome run_on_structure(structure& data, const plan& how) {
  structure_shared<Adapter> shared{data, page_array<padded<Adapter>>(data.locks())};
  if (!shared.locks.ok()) return refused(no_memory);
  team_result result = run_team<visit<Adapter>>(how, shared);
  const char* const wrong = excludes<Adapter>() ? data.complaint() : nullptr;
  const bool hashed = wrong == nullptr && !how.keeps_data;  // a walk along wrong links might not end
  return result.checked(wrong, hashed ? data.hash() : 0);
}

using structure_runner = outcome (*)(structure& data, const plan& how);
outcome run_erased_structure(const workload& which, structure_maker make, structure_runner run,
                             const parameters& values, const plan& how);

template <class Adapter, const workload& Which, structure_maker Make>
outcome run_structure(const parameters& values, const plan& how) {
  return run_erased_structure(Which, Make, run_on_structure<Adapter>, values, how);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
