// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// The default reader-writer mutex, with a site. It replaces std::shared_mutex.
///
/// What it does: readers count themselves in one word. A writer announces itself there. From then on new readers wait,
/// and the writer enters when the active readers have left. When the writer leaves, all waiting readers enter at once,
/// before the next writer (phase-fair: Brandenburg and Anderson, ECRTS 2009). Waiters spin for a short time, then
/// sleep.
/// Fairness: a reader waits for one writer at most. A writer waits for the active readers, and for other writers as in
/// futex_mutex: at most futex_mutex::bypass_bound(writers) of them pass a writer in line. Between two writers the
/// waiting readers enter. The time that a writer waits is bounded as for futex_mutex, where each section includes the
/// readers before it.
/// Use it for: read sections that are long enough to overlap (a microsecond and more). Do not use it for: tiny read
/// sections, whose shared count costs more than a mutex.
/// Cost: one compare-exchange to enter, and one fetch-sub to leave. For writing: a mutex and one more atomic operation.
/// The site's statistics count both modes, and every wait.
/// Named requirements: SharedTimedLockable (SharedTimedMutex). Thread-safe. Not recursive, also not for readers: a
/// thread that holds it shared must not lock it shared again. If a writer has announced itself in between, the second
/// shared lock waits for the writer, and the writer waits for the first one. (futex_rwlock lets readers lock again.)
/// At most 2^30 shared holds exist, over all threads. Further readers are refused, or wait until a hold ends: they
/// check once a millisecond. The same applies beyond 2^24 - 1 waiting readers (Linux has room for 2^22 threads).
/// In the child of a fork, the thread that held it exclusively can unlock and use it. If the thread held it shared
/// while a writer waited, it can unlock it; the lock then waits for that writer forever.
/// Constant-initialised; 24 bytes.
class TXSYNC_CAPABILITY("shared_mutex") shared_mutex : public detail::timed<shared_mutex>,
                                                       public detail::timed_shared<shared_mutex> {
 public:
  constexpr shared_mutex() noexcept : site_(nullptr) {}
  constexpr explicit shared_mutex(site& the_site) noexcept : site_(&the_site) {}
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  void lock_shared() noexcept TXSYNC_LOCKS_SHARED {
    if (!try_enter()) [[unlikely]]
      (void)lock_shared_slow(machine::no_deadline);
    count();
  }
  [[nodiscard]] bool try_lock_shared() noexcept TXSYNC_TRY_LOCKS_SHARED { return counted(try_enter()); }
  /// Tries until machine::clock_ns() reaches the deadline.
  [[nodiscard]] bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS_SHARED {
    return counted(try_enter() || lock_shared_slow(deadline));
  }
  void unlock_shared() noexcept TXSYNC_UNLOCKS_SHARED {
    TXSYNC_ASSERT(readers() != 0, "the calling thread holds the lock shared");
    // release pairs with the writer's acquire
    const std::uint64_t before = state_.fetch_sub(reader, std::memory_order_release);
    if ((before & (readers_bits | writer)) == (reader | writer)) [[unlikely]]
      wake_writer();
  }

  TXSYNC_EXPORT void lock() noexcept TXSYNC_LOCKS;
  TXSYNC_EXPORT [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS;
  TXSYNC_EXPORT [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept TXSYNC_TRY_LOCKS;
  TXSYNC_EXPORT void unlock() noexcept TXSYNC_UNLOCKS;
  /// unlock() of a writer that also hands the lock over among writers (lock_api's unlock_fair()). Waiting readers enter
  /// at once, as at unlock(). After them, the next writer in line has the lock, as with futex_mutex::unlock_fair(): no
  /// other writer takes it before. Readers that arrive before that writer has entered may enter, too.
  /// Requires: the calling thread holds it exclusively. Cost: as unlock(), and a hand-over if a writer waits; not
  /// inlined. Thread-safe; no errors.
  TXSYNC_EXPORT void unlock_fair() noexcept TXSYNC_UNLOCKS;

  /// Whether a writer waits for another writer, at some moment during the call.
  bool is_waited_for() const noexcept { return writers_.is_waited_for(); }
  /// Whether a writer holds it or is about to; the number of active readers; whether there is either. Each is true at
  /// some moment during the call. Elision subscribes to these.
  bool has_writer() const noexcept { return (state_.load(std::memory_order_relaxed) & writer) != 0; }
  std::uint32_t readers() const noexcept {
    return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed) & readers_bits);
  }
  bool is_held() const noexcept { return (state_.load(std::memory_order_relaxed) & (readers_bits | writer)) != 0; }

  site& get_site() const noexcept { return site_ != nullptr ? *site_ : site::unnamed(); }
  [[deprecated("get_site")]] site& place() const noexcept { return get_site(); }

 private:
  // The low half, on which a writer sleeps: the active readers.
  static constexpr std::uint64_t reader = 1;
  static constexpr std::uint64_t readers_bits = 0xFFFF'FFFF;
  static constexpr std::uint64_t full = std::uint64_t{1} << 30;  ///< new readers may not enter; waiting ones may
  // The high half, on which readers sleep. It holds the number of waiting readers and their process, by the count of
  // forks. `writer` is the announced writer. `parity` flips whenever the waiting readers are let in.
  static constexpr unsigned waiting_shift = 32;
  static constexpr std::uint64_t waiting_reader = std::uint64_t{1} << waiting_shift;
  static constexpr std::uint64_t waiting_bits = std::uint64_t{0xFF'FFFF} << waiting_shift;
  static constexpr unsigned process_shift = 56;
  static constexpr std::uint64_t process_bits = std::uint64_t{0x3F} << process_shift;
  static constexpr std::uint64_t writer = std::uint64_t{1} << 62;
  static constexpr std::uint64_t parity = std::uint64_t{1} << 63;

  bool try_enter() noexcept {
    std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((seen & (writer | full)) == 0) {
      // acquire pairs with the release in unlock()
      if (state_.compare_exchange_weak(seen, seen + reader, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  bool counted(bool got) noexcept {
    if (got) count();
    return got;
  }
  void count() noexcept {
    if (--observe::detail::until_sample <= 0) [[unlikely]]
      observe::detail::sample(observe::detail::counted_id(get_site()), nullptr);
  }
  TXSYNC_EXPORT bool lock_shared_slow(std::uint64_t deadline) noexcept;
  static std::uint64_t without_parents_readers(std::uint64_t seen) noexcept;
  bool wait_to_read(std::uint64_t deadline) noexcept;
  bool await_turn(std::uint64_t before, std::uint64_t deadline) noexcept;
  bool await_readers(std::uint64_t seen, std::uint64_t deadline) noexcept;
  bool withdraw(std::uint64_t& seen) noexcept;
  void let_readers_in() noexcept;
  void unlock_to_readers() noexcept;
  TXSYNC_EXPORT void wake_writer() noexcept;

  std::atomic<std::uint64_t> state_{0};
  futex_mutex writers_;
  site* site_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
