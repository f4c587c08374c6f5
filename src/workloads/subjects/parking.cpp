// SPDX-License-Identifier: Apache-2.0
// Our locks whose waiters sleep.
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/mutex.hpp>

#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/subjects.hpp"
#include "workloads/transactions/run.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr bool peer = false;
constexpr subject table[] = {
    with_transactions<lockable<mutex>>(make_subject<lockable<mutex>>("txsync::mutex", peer, waiting::parks,
                                                                     "the default: futex, with a site that counts")),
    make_subject<lockable<futex_mutex>>("futex", peer, waiting::parks, "adaptive spinning, then sleep; no site"),
    make_subject<lockable<posix_mutex>>("posix", peer, waiting::parks, "pthread_mutex_t in our shape"),
};

}  // namespace

std::span<const subject> parking_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
