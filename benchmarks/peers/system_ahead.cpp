// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <txsync/locks/ticket.hpp>

#include "peers/peers.hpp"
#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/pthread_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using namespace workloads;

constexpr subject table[] = {
    make_ahead_subject<lockable<pthread_normal>>("pthread_mutex+ahead", waiting::parks,
                                                 "pthread_mutex, prefetching before lock()"),
    make_ahead_subject<lockable<std::mutex>>("std::mutex+ahead", waiting::parks,
                                             "std::mutex, prefetching before lock()"),
    make_ahead_subject<lockable<ticket_lock>>("ticket+ahead", waiting::spins, "our ticket, prefetching before lock()"),
};

}  // namespace

std::span<const subject> system_ahead_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
