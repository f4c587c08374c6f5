// SPDX-License-Identifier: Apache-2.0
// The locks and barriers that every Linux machine has: pthread's and the standard library's. Native only.
#include <pthread.h>

#include <barrier>
#include <mutex>
#include <shared_mutex>

#include "workloads/subjects/make_barrier.hpp"
#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/pthread_locks.hpp"
#include "workloads/subjects/subjects.hpp"
#include "workloads/transactions/run.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

class pthread_spin {
 public:
  pthread_spin() noexcept { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
  pthread_spin(const pthread_spin&) = delete;
  pthread_spin& operator=(const pthread_spin&) = delete;
  ~pthread_spin() { pthread_spin_destroy(&lock_); }
  void lock() noexcept { pthread_spin_lock(&lock_); }
  void unlock() noexcept { pthread_spin_unlock(&lock_); }

 private:
  pthread_spinlock_t lock_;
};

class pthread_barrier {
 public:
  explicit pthread_barrier(unsigned threads) noexcept { pthread_barrier_init(&barrier_, nullptr, threads); }
  pthread_barrier(const pthread_barrier&) = delete;
  pthread_barrier& operator=(const pthread_barrier&) = delete;
  ~pthread_barrier() { pthread_barrier_destroy(&barrier_); }
  void arrive_and_wait() noexcept { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

constexpr bool peer = true;
constexpr subject table[] = {
    make_subject<lockable<pthread_normal>>("pthread_mutex", peer, waiting::parks, "glibc's default mutex"),
    make_subject<lockable<pthread_adaptive>>("pthread_adaptive", peer, waiting::parks,
                                             "glibc's mutex that spins first"),
    make_subject<lockable<pthread_spin>>("pthread_spin", peer, waiting::spins, "glibc's spin lock"),
    with_transactions<lockable<std::mutex>>(
        make_subject<lockable<std::mutex>>("std::mutex", peer, waiting::parks, "the standard library's mutex")),
    make_subject<lockable<std::shared_mutex>>("std::shared_mutex", peer, waiting::parks,
                                              "the standard library's reader-writer mutex"),
    make_barrier_subject<pthread_barrier>("pthread_barrier", peer, "glibc's barrier"),
    make_barrier_subject<std::barrier<>>("std::barrier", peer, "the standard library's barrier"),
};

}  // namespace

std::span<const subject> peer_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
