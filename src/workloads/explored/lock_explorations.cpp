// SPDX-License-Identifier: Apache-2.0
// Every lock: two threads with three sections each, and three threads with two.
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>

#include "workloads/adapters.hpp"
#include "workloads/explored/exploration.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

constexpr const char* two = "exclusion, 2 threads x 3 sections";
constexpr const char* three = "exclusion, 3 threads x 2 sections";

template <class Adapter>
constexpr exploration pair_of(const char* name) {
  return {name, two, verdict::right, exclusion_test<Adapter, 2, 3>::run};
}
template <class Adapter>
constexpr exploration trio_of(const char* name) {
  return {name, three, verdict::right, exclusion_test<Adapter, 3, 2>::run};
}

constexpr exploration table[] = {
    pair_of<lockable<tatas_lock>>("tatas"),
    trio_of<lockable<tatas_lock>>("tatas-3"),
    pair_of<lockable<ticket_lock>>("ticket"),
    trio_of<lockable<ticket_lock>>("ticket-3"),
    pair_of<lockable<fifo_ticket_lock>>("fifo_ticket"),
    pair_of<with_node<mcs_lock>>("mcs"),
    trio_of<with_node<mcs_lock>>("mcs-3"),
    pair_of<with_node<fifo_mcs_lock>>("fifo_mcs"),
    pair_of<lockable<futex_mutex>>("futex"),
    trio_of<lockable<futex_mutex>>("futex-3"),
    pair_of<lockable<mutex>>("txsync::mutex"),
    pair_of<lockable<posix_mutex>>("posix"),
    pair_of<lockable<occ_rwlock>>("occ_rwlock"),
    pair_of<lockable<shared_mutex>>("txsync::shared_mutex"),
    pair_of<lockable<elided<tatas_lock>>>("elided_tatas"),
    trio_of<lockable<elided<tatas_lock>>>("elided_tatas-3"),
    pair_of<with_node<elided_with_node<mcs_lock>>>("elided_mcs"),
    pair_of<lockable<elided<futex_mutex>>>("elided_futex"),
};

}  // namespace

std::span<const exploration> lock_explorations() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
