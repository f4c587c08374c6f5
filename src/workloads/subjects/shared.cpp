// SPDX-License-Identifier: Apache-2.0
// Our reader-writer locks.
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/shared_mutex.hpp>

#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr bool peer = false;
constexpr subject table[] = {
    make_subject<lockable<shared_mutex>>("txsync::shared_mutex", peer, waiting::parks,
                                         "the default reader-writer mutex, phase-fair, with a site that counts"),
    make_subject<lockable<occ_rwlock>>("occ_rwlock", peer, waiting::parks, "readers and occasional writers (Shore-MT)"),
    make_subject<lockable<futex_rwlock>>("futex_rwlock", peer, waiting::parks, "readers first, as pthread_rwlock_t"),
    make_subject<lockable<srwlock>>("srwlock", peer, waiting::spins, "a page latch, fair queue (Shore-MT)"),
};

}  // namespace

std::span<const subject> shared_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
