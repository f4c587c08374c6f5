// SPDX-License-Identifier: Apache-2.0
// Runs the shapes on a system. A system gives critical sections or blocks to structures:
//
//   template <class T> using cell;                    // what structures keep values in
//   static auto read(body), static auto write(body)   // body(access) as one step; read: it writes nothing
#pragma once

#include <memory>

#include <txsync/tm/block.hpp>

#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"
#include "workloads/transactions/bank_and_list.hpp"
#include "workloads/transactions/red_black_tree.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload transactions_workload;

namespace transactions {

/// What the blocks of the workload have counted, for all algorithms.
tm::block_totals totals_so_far() noexcept;

enum key : unsigned { shape, size, buckets, updates, allocation, transfers, paths };
enum class shape_name : std::uint8_t { bank, chains, tree, mixed };

template <class System, class Structure>
struct shared_structure {
  shared_structure(System& gives_sections, const shape_values& values) : system(gives_sections), data(values) {}
  System& system;
  Structure data;
};

template <class System, class Structure>
void visit(worker& me, shared_structure<System, Structure>& shared) {
  decltype(auto) mine = shared.data.visitor_of(me.index());
  me.wait_for_start();
  while (me.more()) {
    me.begin();
    shared.data.step(shared.system, mine);
    me.finish();
  }
}

template <class System, class Structure>
outcome run_structure(System& system, const shape_values& values, const plan& how) {
  auto shared = std::make_unique<shared_structure<System, Structure>>(system, values);
  if (!shared->data.ok()) return refused(no_memory);
  shared->data.fill(system);
  team_result result = run_team<visit<System, Structure>>(how, *shared);
  const char* const wrong = shared->data.complaint();
  if (wrong != nullptr) return result.checked(wrong, 0);  // a walk along wrong links might not end
  const std::uint64_t hash = shared->data.hash();
  shared->data.empty(system);
  return result.checked(nullptr, hash);
}

template <class System>
outcome run(System& system, const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(transactions_workload, values, how)) return refused(wrong);
  const shape_values wanted{
      values[key::size], values[key::buckets],  values[key::updates], values[key::allocation] != 0, how.threads,
      how.seed,          values[key::transfers]};
  switch (static_cast<shape_name>(values[key::shape])) {
    case shape_name::bank:
      return run_structure<System, accounts<System::template cell>>(system, wanted, how);
    case shape_name::chains:
      return run_structure<System, chains<System::template cell>>(system, wanted, how);
    case shape_name::mixed:
      return run_structure<System, bank_and_list<System::template cell>>(system, wanted, how);
    default:
      return run_structure<System, red_black_tree<System::template cell>>(system, wanted, how);
  }
}

/// A lock around plain code.
template <class Adapter>
class locked {
 public:
  template <class T>
  using cell = plain_cell<T>;

  template <class Body>
  auto read(const Body& body) {
    return write(body);
  }
  template <class Body>
  auto write(const Body& body) {
    typename Adapter::slot slot{};
    const struct section {
      Adapter& lock;
      typename Adapter::slot& slot;
      ~section() { lock.unlock(slot); }
    } ends{lock_, slot};
    lock_.lock(slot);
    plain_access access;
    return body(access);
  }

 private:
  alignas(machine::pad_bytes) Adapter lock_;
};

template <class Adapter>
outcome run_locked(const parameters& values, const plan& how) {
  const auto system = std::make_unique<locked<Adapter>>();
  return run(*system, values, how);
}

}  // namespace transactions

/// The subject, which also runs `transactions`.
template <class Adapter>
constexpr subject with_transactions(subject made) noexcept {
  made.run[static_cast<unsigned>(workload_id::transactions)] = transactions::run_locked<Adapter>;
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
