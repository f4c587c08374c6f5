// SPDX-License-Identifier: Apache-2.0
// Our locks whose waiters spin, and no lock at all.
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>

#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr bool peer = false;
constexpr subject table[] = {
    make_subject<lockable<tatas_lock>>("tatas", peer, waiting::spins, "test-and-test-and-set, exponential backoff"),
    make_subject<lockable<spinning_mutex>>("spin", peer, waiting::spins, "spinning_mutex: spins; starves no thread"),
    make_subject<lockable<ticket_lock>>("ticket", peer, waiting::spins, "fair, for any number of threads"),
    make_subject<lockable<fifo_ticket_lock>>("fifo_ticket", peer, waiting::spins,
                                             "strictly first come, first served; not for more threads than cores"),
    make_subject<with_node<mcs_lock>>("mcs", peer, waiting::spins, "a fair queue, for any number of threads"),
    make_subject<with_node<fifo_mcs_lock>>("fifo_mcs", peer, waiting::spins,
                                           "a strictly fair queue; not for more threads than cores"),
    make_subject<no_lock>("none", peer, waiting::none, "no lock: loses updates, results are not checked"),
};

}  // namespace

std::span<const subject> spinning_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
