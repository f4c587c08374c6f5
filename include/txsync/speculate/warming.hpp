// SPDX-License-Identifier: Apache-2.0
// Locks whose waiters warm up instead of only waiting (always-abort paper, section III). Mutual exclusion, fairness,
// and the behaviour with more threads than cores are those of the Lock. Only what its waiters do is new.
//
// For all of these locks:
//  - section(body) locks, runs the body, and unlocks. Waiters run the body over a warm_memory (warm_up.hpp). If the
//    site's trials find it faster, all threads run it before they ask for the lock.
//  - lock(warm) is for code that locks and unlocks by itself. warm(memory) touches what the section will touch.
//  - lock() without a body or `warm` is for machines with always-abort attempts (machine::htm().always_abort). The
//    waiter goes on into its own section in an attempt that never commits, and comes back. Elsewhere it only waits.
//  - is_warming() tells a section whether it runs in such an attempt (the paper's AAHTM_TEST). The section can then
//    leave out what would only disturb the holder (its protective test, IV-A 6; its path "opt", II-A).
//  - Each lock belongs to a site (site.hpp), which says how its waiters warm up, and counts that. If the Lock has a
//    site itself, as mutex has, both have the same one.
//  - Thread-safe; not recursive. An unlock in an always-abort attempt ends the attempt.
//  - Cost if warm-up is off: that of the Lock and about 2 ns.
//  - Cost of waiting: the energy of running. If waiters fetch lines that the holder writes, the holder has to fetch
//    them back. If that costs more than it brings, a policy that adapts leaves warm-up off.
#pragma once

#include <type_traits>

#include <txsync/locks/timed.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/speculate/warm_up.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// Whether the calling thread runs its section in an always-abort attempt, without effect.
inline bool is_warming() noexcept { return machine::warm_active(); }

namespace detail {

/// What warming and warming_with_node share.
template <class Lock>
class warming_base {
 public:
  constexpr explicit warming_base(site& the_site) noexcept : site_(the_site) {}
  constexpr explicit warming_base(site& the_site) noexcept
    requires std::is_constructible_v<Lock, site&>
      : site_(the_site), lock_(the_site) {}
  warming_base(const warming_base&) = delete;
  warming_base& operator=(const warming_base&) = delete;

  site& get_site() const noexcept { return site_; }
  [[deprecated("get_site")]] site& place() const noexcept { return get_site(); }
  /// Whether a thread holds it, at some moment during the call. An elided section subscribes to this.
  bool is_held() const noexcept { return lock_.is_held(); }
  /// Whether the Lock counts its acquisitions at the site (elided.hpp).
  static constexpr bool counts_itself = std::is_constructible_v<Lock, site&>;

 protected:
  template <class... Node>
  void acquire(Node&... mine) noexcept TXSYNC_UNCHECKED {
    if (machine::warm_active()) [[unlikely]]
      return;  // a section within a section that runs without effect
    if (warm_mode_of(site_) == warm_mode::never || !machine::htm().always_abort) {
      lock_.lock(mine...);
    } else {
      warm_wait wait(site_);
      if (!lock_.lock(mine..., wait)) return;  // the thread is in an attempt
    }
    count_warm_section(site_, false);
  }
  template <class Warm, class... Node>
  void acquire_with(const Warm& warm, Node&... mine) noexcept TXSYNC_UNCHECKED {
    if (machine::warm_active()) [[unlikely]]
      return;
    if (warm_mode_of(site_) == warm_mode::never) [[likely]] {
      lock_.lock(mine...);
    } else {
      acquire_warm(warm, mine...);
    }
    count_warm_section(site_, true);
  }
  /// Separate from the path that runs if warm-up does not pay.
  template <class Warm, class... Node>
  [[gnu::noinline]] void acquire_warm(const Warm& warm, Node&... mine) noexcept TXSYNC_UNCHECKED {
    warm_call_of<Warm> call(warm);
    warm_wait wait(site_, &call);
    if (wait.when() == warm_mode::before_lock) wait.run_before_lock();
    (void)lock_.lock(mine..., wait);
  }
  template <class... Node>
  void release(Node&... mine) noexcept TXSYNC_UNCHECKED {
    if (machine::warm_active()) [[unlikely]]
      machine::abort<machine::attempt_status::code_fall_back>();  // does not return
    if constexpr (sizeof...(mine) == 0 && requires { lock_.is_held(); }) {
      TXSYNC_ASSERT(lock_.is_held(), "the calling thread is in a section of the lock");
    }
    lock_.unlock(mine...);
  }

  site& site_;
  Lock lock_;
};

}  // namespace detail

/// A mutex whose waiters warm up. The Lock is ticket_lock, fifo_ticket_lock, tatas_lock, priority_tatas_lock,
/// futex_mutex, mutex or posix_mutex. Named requirements: Lockable; TimedLockable if the Lock is. Constant-initialised.
/// What all these locks share is at the top of this file.
template <class Lock>
class TXSYNC_CAPABILITY("mutex") warming : protected detail::warming_base<Lock>, public detail::timed<warming<Lock>> {
 public:
  constexpr explicit warming(site& where = site::unnamed()) noexcept : detail::warming_base<Lock>(where) {}
  using detail::warming_base<Lock>::get_site;
  using detail::warming_base<Lock>::place;
  using detail::warming_base<Lock>::is_held;
  using detail::warming_base<Lock>::counts_itself;

  void lock() noexcept TXSYNC_LOCKS { this->acquire(); }
  template <class Warm>
  void lock(const Warm& warm) noexcept TXSYNC_LOCKS {
    this->acquire_with(warm);
  }
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS { return machine::warm_active() || this->lock_.try_lock(); }
  /// Tries until machine::clock_ns() reaches the deadline. A thread that waits in this way does not warm up.
  [[nodiscard]] TXSYNC_TRY_LOCKS bool try_lock_until_ns(std::uint64_t deadline) noexcept
    requires detail::has_deadlines<Lock>
  {
    return machine::warm_active() || this->lock_.try_lock_until_ns(deadline);
  }
  /// Requires: the calling thread is in a section of this lock.
  void unlock() noexcept TXSYNC_UNLOCKS { this->release(); }

  /// Locks, runs body(memory), unlocks, and returns the body's result. An exception of the body unlocks, and
  /// propagates.
  template <class Body>
  decltype(auto) section(const Body& body) TXSYNC_UNCHECKED {
    lock([&](warm_memory& memory) { (void)body(memory); });
    const releaser guard{*this};
    section_memory memory;
    return body(memory);
  }

 private:
  struct releaser {
    warming& lock;
    ~releaser() { lock.unlock(); }
  };
};

/// The same for queue locks, mcs_lock and fifo_mcs_lock, whose threads pass a node.
template <class Lock>
class TXSYNC_CAPABILITY("mutex") warming_with_node : protected detail::warming_base<Lock> {
 public:
  using node = typename Lock::node;
  constexpr explicit warming_with_node(site& where = site::unnamed()) noexcept : detail::warming_base<Lock>(where) {}
  using detail::warming_base<Lock>::get_site;
  using detail::warming_base<Lock>::place;
  using detail::warming_base<Lock>::is_held;
  using detail::warming_base<Lock>::counts_itself;

  void lock(node& mine) noexcept TXSYNC_LOCKS { this->acquire(mine); }
  template <class Warm>
  void lock(node& mine, const Warm& warm) noexcept TXSYNC_LOCKS {
    this->acquire_with(warm, mine);
  }
  [[nodiscard]] bool try_lock(node& mine) noexcept TXSYNC_TRY_LOCKS {
    return machine::warm_active() || this->lock_.try_lock(mine);
  }
  /// Requires: the calling thread is in a section of this lock with this node.
  void unlock(node& mine) noexcept TXSYNC_UNLOCKS { this->release(mine); }

  /// As warming::section().
  template <class Body>
  decltype(auto) section(const Body& body) TXSYNC_UNCHECKED {
    node mine;
    lock(mine, [&](warm_memory& memory) { (void)body(memory); });
    const releaser guard{*this, mine};
    section_memory memory;
    return body(memory);
  }

 private:
  struct releaser {
    warming_with_node& lock;
    node& mine;
    ~releaser() { lock.unlock(mine); }
  };
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
