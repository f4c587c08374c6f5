// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>

#include "peers/peers.hpp"
#include "workloads/subjects/make_subject.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using namespace workloads;

/// The library's scoped_lock is the thread's slot.
template <class Mutex>
class scoped {
 public:
  using slot = typename Mutex::scoped_lock;
  void lock(slot& mine) { mine.acquire(mutex_); }
  void unlock(slot& mine) { mine.release(); }

 private:
  Mutex mutex_;
};

constexpr subject table[] = {
    make_subject<lockable<tbb::spin_mutex>>("tbb::spin_mutex", true, waiting::spins, "oneTBB: test-and-set, yields"),
    make_subject<scoped<tbb::queuing_mutex>>("tbb::queuing_mutex", true, waiting::spins, "oneTBB: queue lock, yields"),
    make_subject<lockable<tbb::mutex>>("tbb::mutex", true, waiting::parks, "oneTBB: spins, then sleeps"),
    // Elides where the CPU has RTM: not a plain lock, so outside the ranking.
    make_subject<scoped<tbb::speculative_spin_mutex>>("tbb::speculative_spin_mutex", true, waiting::none,
                                                      "oneTBB: spin_mutex with RTM elision"),
};

constexpr subject ahead_table[] = {
    make_ahead_subject<lockable<tbb::spin_mutex>>("tbb::spin_mutex+ahead", waiting::spins,
                                                  "tbb::spin_mutex, prefetching before lock()"),
    make_ahead_subject<scoped<tbb::queuing_mutex>>("tbb::queuing_mutex+ahead", waiting::spins,
                                                   "tbb::queuing_mutex, prefetching before lock()"),
    make_ahead_subject<lockable<tbb::mutex>>("tbb::mutex+ahead", waiting::parks,
                                             "tbb::mutex, prefetching before lock()"),
};

}  // namespace

std::span<const subject> tbb_ahead_subjects() noexcept { return ahead_table; }
std::span<const subject> tbb_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
