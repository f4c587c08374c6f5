// SPDX-License-Identifier: Apache-2.0
#include <absl/synchronization/mutex.h>

#include "peers/peers.hpp"
#include "workloads/subjects/make_subject.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using namespace workloads;

class absl_mutex {
 public:
  struct slot {};
  void lock(slot&) { mutex_.Lock(); }
  void unlock(slot&) { mutex_.Unlock(); }
  void lock_shared(slot&) { mutex_.ReaderLock(); }
  void unlock_shared(slot&) { mutex_.ReaderUnlock(); }

 private:
  absl::Mutex mutex_;
};

constexpr subject table[] = {
    make_subject<absl_mutex>("absl::Mutex", true, waiting::parks, "Abseil: reader-writer mutex, spins, then sleeps"),
};

constexpr subject ahead_table[] = {
    make_ahead_subject<absl_mutex>("absl::Mutex+ahead", waiting::parks, "absl::Mutex, prefetching before lock()"),
};

}  // namespace

std::span<const subject> absl_ahead_subjects() noexcept { return ahead_table; }
std::span<const subject> absl_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
