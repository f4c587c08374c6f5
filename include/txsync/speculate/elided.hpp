// SPDX-License-Identifier: Apache-2.0
// Lock elision: critical sections of a lock run as hardware attempts beside each other. They take the lock only if that
// fails. Sources: Shore-MT paper, section 3.2; InnoDB thesis, chapter 2; LevelDB paper, section 4.
//
// For all of these locks:
//  - Lock is a lock of txsync that tells whether it is held (is_held(); has_writer() and readers() for reader-writer
//    locks).
//  - Each belongs to a site (site.hpp). The site says how its sections are tried, and counts them and their attempts.
//    If Lock has a site itself, as mutex and shared_mutex have, both have the same one, and waits are counted there.
//    Other locks do not count their waits. Where no attempts work, they count nothing.
//  - Sections of several locks nest in any order, up to 8 in one attempt. The attempt of the outermost section runs
//    them all, by the policy of that lock's site, and commits when the last has ended. Each lock is checked once.
//  - A section that cannot run in an attempt takes the lock in the end. Reasons are a system call, a page fault, too
//    much data, or a condition wait in nested sections. When an attempt aborts, its effects are undone, and the section
//    runs again. Sections must not spin on what other threads do, because those see nothing of the attempt before its
//    commit.
//  - Thread-safe; not recursive. Among threads that take it, Lock decides which is first. Attempts run whenever no
//    thread holds it.
//  - Errors: an unlock of a lock that no thread holds is reported on the standard error, and does nothing. For queue
//    locks, so is an unlock by a node that has no turn. Two kinds of wrong unlock may be done and not reported. One is
//    that of the section that the calling thread has begun last, if another thread has unlocked it. It leaves
//    ticket locks locked for ever, as with the plain locks. (A look at the lock would cost 12 % of an empty section of
//    ticket_lock, and 40 % of fifo_ticket_lock; Emerald Rapids.) The other is one in a signal handler that interrupts an
//    unlock.
//  - How unlock() knows whether an attempt runs the section: by the calling thread's attempt frame.
//    posix_mutex_with_word looks at the lock before the frame, and queue locks at the node: an attempt has read the
//    lock, and aborts as soon as a thread takes it.
//  - Without hardware transactions they are the plain locks. Cost: a load and a store more to lock, and the same to
//    unlock; queue locks a load and a store; posix_mutex_with_word a load to lock and one to unlock. For ticket_lock,
//    occ_rwlock, srwlock and futex_rwlock, it is one read of a constant if a function both locks and unlocks. They are
//    larger by a pointer.
//  - Cost of an attempt: begin and commit (36..96 cycles), a read of the lock word that all threads share, and some
//    twenty instructions. An abort costs 120..250 cycles and the work that is lost.
#pragma once

#include <cstdint>
#include <type_traits>

#include <txsync/locks/timed.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/speculate/elision.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

class futex_rwlock;
class occ_rwlock;
class posix_mutex_with_word;
class srwlock;
class ticket_lock;

namespace detail {

template <class Lock>
bool is_held_at_all(const void* lock) noexcept {
  return static_cast<const Lock*>(lock)->is_held();
}
template <class Lock>
bool has_writer_inside(const void* lock) noexcept {
  return static_cast<const Lock*>(lock)->has_writer();
}

/// Whether unlock() asks the lock if it is held, and the thread keeps no record. The lock is asked first: no thread
/// holds it while an attempt runs the section. This is for a lock that has a word for it, which no atomic instruction
/// writes. With the frame first and without HTM, a section of 10 writes took 1.16 times as long as the plain one (Emerald
/// Rapids). With the lock first, it takes 1.04 times as long.
template <class Lock>
inline constexpr bool looks_at_lock = false;
template <>
inline constexpr bool looks_at_lock<posix_mutex_with_word> = true;

/// Whether the lock finds out at no cost, while it unlocks, that no thread held it. In an attempt, such an unlock would
/// write the lock. Where attempts never work, unlock() only unlocks. With any load before that, an empty shared section
/// of occ_rwlock took 1.2 times as long as the plain one (Emerald Rapids).
template <class Lock>
inline constexpr bool checks_itself = false;
template <>
inline constexpr bool checks_itself<ticket_lock> = true;
template <>
inline constexpr bool checks_itself<occ_rwlock> = true;
template <>
inline constexpr bool checks_itself<srwlock> = true;
template <>
inline constexpr bool checks_itself<futex_rwlock> = true;

/// Whether unlock() looks at the attempt frame, where attempts may work. The thread keeps no record. This is for locks
/// that unlock by an atomic instruction, which would have to wait for the stores of a record. With a record, an empty
/// shared section of occ_rwlock took 1.66 times as long (Emerald Rapids). ticket_lock is as fast with a record.
template <class Lock>
inline constexpr bool looks_at_frame = checks_itself<Lock> && !std::is_same_v<Lock, ticket_lock>;

/// Whether the lock counts its acquisitions at the site that it is given. Locks that only pass the site on say so.
template <class Lock>
inline constexpr bool counts_itself = std::is_constructible_v<Lock, site&>;
template <class Lock>
  requires requires { Lock::counts_itself; }
inline constexpr bool counts_itself<Lock> = Lock::counts_itself;

/// The program has locks that count their acquisitions only where attempts work, and their waits nowhere. This tells
/// `txsync run` so when the program is loaded: without attempts no section of theirs would.
template <class Lock>
inline const bool announced = observe::detail::announce_unwatched();

/// What elided and elided_with_node share. Calls are inlined up to the first check of what the machine can do.
template <class Lock>
class elided_base {
 public:
  constexpr explicit elided_base(site& the_site) noexcept : site_(the_site) {}
  constexpr explicit elided_base(site& the_site) noexcept
    requires std::is_constructible_v<Lock, site&>
      : site_(the_site), lock_(the_site) {}
  elided_base(const elided_base&) = delete;
  elided_base& operator=(const elided_base&) = delete;

  site& get_site() const noexcept { return site_; }
  [[deprecated("get_site")]] site& place() const noexcept { return get_site(); }

 protected:
  bool enter(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    if (!may_try()) return false;
    if (enter_elided(site_, &lock_, mode, held)) return true;
    count_taken();
    return false;
  }
  /// For a wait with a deadline. True: the thread is in an attempt. An attempt that the thread is in cannot wait: it
  /// falls back instead, and its sections begin again with their locks.
  bool enter_at_once(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    const try_outcome how = try_enter(mode, held);
    if (how == try_outcome::busy) machine::abort<machine::attempt_status::code_fall_back>();
    return how == try_outcome::elided;
  }
  try_outcome try_enter(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    return may_try() ? try_enter_elided(site_, &lock_, mode, held) : try_outcome::try_lock;
  }
  bool leave() noexcept { return in_elided_attempt() && leave_elided(&lock_); }

  static bool may_try() noexcept {
    if constexpr (checks_itself<Lock>) {
      if (machine::attempts_never_work()) return false;
    }
    return machine::attempts_work();
  }
  /// Whether unlock() needs to know nothing but the lock.
  static bool only_unlocks() noexcept { return checks_itself<Lock> && machine::attempts_never_work(); }

  /// The section takes the lock. Lock may count that itself.
  void count_taken() const noexcept {
    if constexpr (!counts_itself<Lock>) {
      (void)&announced<Lock>;
      if (site_.is_counted() && --observe::detail::until_sample <= 0) [[unlikely]]
        observe::detail::sample_unwatched(observe::detail::counted_id(site_));
    }
  }

  /// For a section that takes the lock itself. A thread may unlock the lock that it has taken last without a look at
  /// the lock. A load right after an atomic instruction on the same line costs up to a third of a section.
  void acquired(latch_mode mode = latch_mode::exclusive) const noexcept {
    machine::annotate_acquire(&lock_);
    if (keeps_record && !only_unlocks()) my_attempt_frame.taken.remember(&lock_, mode);
  }
  bool acquired_if(bool got, latch_mode mode = latch_mode::exclusive) const noexcept {
    if (!got) return false;
    acquired(mode);
    if (may_try()) count_taken();
    return true;
  }
  /// True: the calling thread has the lock in this mode and is about to unlock it.
  bool releases_last_taken(latch_mode mode) const noexcept {
    // For the compiler only. Without it, the compiler may see nothing between lock and unlock, and merge the stores of
    // both. That is slower: for mutex on Zen 4, 2.66 ns instead of 2.53.
    machine::compiler_fence();
    if constexpr (remembers_itself) {
      if (!lock_.is_newest_held()) return false;
    } else {
      if (!my_attempt_frame.taken.is(&lock_, mode)) return false;
    }
    machine::annotate_release(&lock_);
    return true;
  }
  /// To be called before an unlock that is a store. The next atomic instruction waits for both stores, and it waits
  /// less if they have this order. (Emerald Rapids, tatas: 6.7 ns instead of 8.8; 10 writes: 10.4 instead of 12.4.) To
  /// be called after an unlock that is an atomic instruction. That instruction would have to wait for this store (Zen
  /// 4, shared_mutex, shared, 10 writes: 0.35 ns).
  static void forget_taken() noexcept {
    if constexpr (!remembers_itself) my_attempt_frame.taken.forget();
  }

  /// Ends a section that is not the last one taken. It is a section of an attempt, or one that has taken the lock. If
  /// there is neither, that is reported.
  void leave_or_release() noexcept {
    if (!leave()) release_checked();
  }
  void leave_or_release_shared() noexcept {
    if (!leave()) release_shared_checked();
  }
  [[gnu::noinline]] void leave_or_refuse() noexcept {
    if (!leave()) refuse_release();
  }

  /// Unlocks, or reports that there is no section to end. For locks that notice that while they unlock.
  [[gnu::always_inline]] void release_or_refuse() noexcept TXSYNC_UNCHECKED {
    machine::annotate_release(&lock_);
    if (!lock_.unlock_if_held()) [[unlikely]]
      refuse_release();
  }
  [[gnu::always_inline]] void release_or_refuse_shared() noexcept TXSYNC_UNCHECKED {
    machine::annotate_release(&lock_);
    if (!lock_.unlock_shared_if_held()) [[unlikely]]
      refuse_release();
  }

  [[gnu::noinline]] void refuse_release() const noexcept {
    // An attempt may see the effect of its own stores. Outside an attempt, the fault is seen again.
    machine::abort<machine::attempt_status::code_fall_back>();
    report_double_unlock(&lock_);
  }

  site& site_;
  Lock lock_;

 private:
  /// Lock tells whether it is the last one that the thread has taken (mutex).
  static constexpr bool remembers_itself = requires(const Lock& one) { one.is_newest_held(); };
  static constexpr bool keeps_record = !looks_at_lock<Lock> && !looks_at_frame<Lock> && !remembers_itself;

  /// Whether a thread holds it in the mode that unlock() releases.
  bool is_held_to_unlock() const noexcept {
    if constexpr (requires { lock_.has_writer(); }) {
      return lock_.has_writer();
    } else {
      return lock_.is_held();
    }
  }
  /// As release_or_refuse(), for all locks.
  [[gnu::noinline]] void release_checked() noexcept TXSYNC_UNCHECKED {
    if constexpr (requires { lock_.unlock_if_held(); }) {
      release_or_refuse();
    } else {
      machine::annotate_release(&lock_);
      if (!is_held_to_unlock()) [[unlikely]]
        return refuse_release();
      lock_.unlock();
    }
  }
  [[gnu::noinline]] void release_shared_checked() noexcept TXSYNC_UNCHECKED {
    if constexpr (requires { lock_.unlock_shared_if_held(); }) {
      release_or_refuse_shared();
    } else {
      machine::annotate_release(&lock_);
      if (lock_.readers() == 0) return refuse_release();
      lock_.unlock_shared();
    }
  }
};

}  // namespace detail

/// A mutex whose critical sections are elided. Lock is tatas_lock, ticket_lock, fifo_ticket_lock, futex_mutex,
/// spinning_mutex, mutex, or posix_mutex_with_word. Each attempt reads the lock word, so data that sections write
/// belongs on other cache lines than the lock (alignas(128)). Named requirements: Lockable; TimedLockable if Lock is.
/// Constant-initialised. What all these locks share is at the top of this file.
template <class Lock>
class TXSYNC_CAPABILITY("mutex") elided : protected detail::elided_base<Lock>, public detail::timed<elided<Lock>> {
 public:
  constexpr explicit elided(site& where = site::unnamed()) noexcept : detail::elided_base<Lock>(where) {}
  using detail::elided_base<Lock>::get_site;
  using detail::elided_base<Lock>::place;

  [[gnu::always_inline]] void lock() noexcept TXSYNC_LOCKS {
    if (this->enter()) return;
    this->lock_.lock();
    this->acquired();
  }
  /// Makes one attempt at most. If the lock is held, the attempt ends at once. If it aborts, the result is that of the
  /// lock's own try_lock(). Returns false also if the calling thread's attempt is in a section of this lock.
  [[nodiscard]] bool try_lock() noexcept TXSYNC_TRY_LOCKS {
    const detail::try_outcome how = this->try_enter();
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    return this->acquired_if(this->lock_.try_lock());
  }
  /// The same. If the lock itself is to be taken, the lock's own try goes on until machine::clock_ns() reaches the
  /// deadline. An attempt that the thread is in falls back rather than waits.
  [[nodiscard]] TXSYNC_TRY_LOCKS bool try_lock_until_ns(std::uint64_t deadline) noexcept
    requires detail::has_deadlines<Lock>
  {
    return this->enter_at_once() || this->acquired_if(this->lock_.try_lock_until_ns(deadline));
  }
  /// Requires: the calling thread is in a section of this lock. If no thread holds the lock, that is reported. If
  /// another thread holds it, that thread's section ends, as with the lock itself.
  [[gnu::always_inline]] void unlock() noexcept TXSYNC_UNLOCKS {
    if constexpr (detail::looks_at_lock<Lock>) {
      machine::annotate_release(&this->lock_);
      if (!this->lock_.unlock_if_held()) [[unlikely]]
        this->leave_or_refuse();
    } else if constexpr (detail::looks_at_frame<Lock>) {
      if (!this->only_unlocks() && detail::in_elided_attempt()) [[unlikely]]
        return this->leave_or_release();
      this->release_or_refuse();
    } else {
      if constexpr (detail::checks_itself<Lock>) {
        if (this->only_unlocks()) return this->release_or_refuse();
      }
      if (!this->releases_last_taken(latch_mode::exclusive)) [[unlikely]]
        return this->leave_or_release();
      this->forget_taken();
      this->lock_.unlock();
    }
  }
};

/// The same for queue locks, mcs_lock and fifo_mcs_lock, whose threads pass a node. An elided section does not use the
/// node.
template <class Lock>
class TXSYNC_CAPABILITY("mutex") elided_with_node : protected detail::elided_base<Lock> {
 public:
  using node = typename Lock::node;
  constexpr explicit elided_with_node(site& where = site::unnamed()) noexcept : detail::elided_base<Lock>(where) {}
  using detail::elided_base<Lock>::get_site;
  using detail::elided_base<Lock>::place;

  [[gnu::always_inline]] void lock(node& mine) noexcept TXSYNC_LOCKS {
    // Before the check of what the machine can do: beside that load, the store costs nothing.
    Lock::begin_turn(mine);
    if (machine::attempts_work() && this->enter_without(mine)) return;
    this->lock_.lock_begun(mine);
    machine::annotate_acquire(&this->lock_);
  }
  /// As elided::try_lock(): the function that Shore-MT's mcs lock calls attempt (shore-mt paper, 3.2).
  [[nodiscard]] bool try_lock(node& mine) noexcept TXSYNC_TRY_LOCKS {
    const detail::try_outcome how = this->try_enter();
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    if (!this->lock_.try_lock(mine)) return false;
    machine::annotate_acquire(&this->lock_);
    if (machine::attempts_work()) this->count_taken();
    return true;
  }
  /// Requires: the calling thread is in a section of this lock with this node. If the node's last section has ended,
  /// that is reported, whichever thread holds the lock meanwhile.
  [[gnu::always_inline]] void unlock(node& mine) noexcept TXSYNC_UNLOCKS {
    machine::annotate_release(&this->lock_);
    // An elided section does not use the node, which has no turn then.
    if (!this->lock_.unlock_if_held(mine)) [[unlikely]]
      this->leave_or_refuse();
  }

 private:
  bool enter_without(node& mine) noexcept {
    const bool elided = this->enter();
    // begin_turn() here is for the scripted machine: on other machines an abort has undone end_turn().
    elided ? Lock::end_turn(mine) : Lock::begin_turn(mine);
    return elided;
  }
};

/// A reader-writer lock whose critical sections are elided. Lock is occ_rwlock, srwlock, futex_rwlock or shared_mutex.
/// Elided readers run beside readers that hold the lock. Elided writers run beside elided sections of other data. A
/// thread that takes the lock aborts the attempts that have read its word. Of these, readers may try again beside a
/// reader that holds the lock; the others wait.
/// Named requirements: SharedLockable; SharedTimedLockable if Lock is. Constant-initialised. What all these locks share
/// is at the top of this file.
template <class Lock>
class TXSYNC_CAPABILITY("shared_mutex") elided_shared : public elided<Lock>,
                                                        public detail::timed_shared<elided_shared<Lock>> {
 public:
  using elided<Lock>::elided;

  [[gnu::always_inline]] void lock_shared() noexcept TXSYNC_LOCKS_SHARED {
    if (this->enter(latch_mode::shared, detail::has_writer_inside<Lock>)) return;
    this->lock_.lock_shared();
    this->acquired(latch_mode::shared);
  }
  [[nodiscard]] bool try_lock_shared() noexcept TXSYNC_TRY_LOCKS_SHARED {
    const detail::try_outcome how = this->try_enter(latch_mode::shared, detail::has_writer_inside<Lock>);
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    return this->acquired_if(this->lock_.try_lock_shared(), latch_mode::shared);
  }
  /// As elided::try_lock_until_ns().
  [[nodiscard]] TXSYNC_TRY_LOCKS_SHARED bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept
    requires detail::has_shared_deadlines<Lock>
  {
    if (this->enter_at_once(latch_mode::shared, detail::has_writer_inside<Lock>)) return true;
    return this->acquired_if(this->lock_.try_lock_shared_until_ns(deadline), latch_mode::shared);
  }
  [[gnu::always_inline]] void unlock_shared() noexcept TXSYNC_UNLOCKS_SHARED {
    if constexpr (detail::looks_at_frame<Lock>) {
      if (!this->only_unlocks() && detail::in_elided_attempt()) [[unlikely]]
        return this->leave_or_release_shared();
      this->release_or_refuse_shared();
    } else {
      if (!this->releases_last_taken(latch_mode::shared)) [[unlikely]]
        return this->leave_or_release_shared();
      this->lock_.unlock_shared();
      this->forget_taken();
    }
  }

  /// From shared to exclusive, if Lock can do that (srwlock). If no thread holds the lock, an elided reader becomes an
  /// elided writer. False: it is still shared. Requires: the calling thread is in a shared section of this lock. Never
  /// waits.
  [[nodiscard]] bool try_upgrade() noexcept {
    TXSYNC_ASSERT(mode() == latch_mode::shared, "the calling thread is in a shared section of the lock");
    static_assert(detail::looks_at_frame<Lock>, "there is no record of the section, which would have to be changed");
    if (!detail::in_elided_attempt() || detail::elided_mode(&this->lock_) == latch_mode::none) {
      return this->lock_.try_upgrade();
    }
    if (this->lock_.is_held()) return false;
    detail::change_elided_mode(&this->lock_, latch_mode::exclusive);
    return true;
  }
  /// From exclusive to shared. Requires: the calling thread is in an exclusive section of this lock.
  void downgrade() noexcept {
    TXSYNC_ASSERT(mode() == latch_mode::exclusive, "the calling thread is in an exclusive section of the lock");
    static_assert(detail::looks_at_frame<Lock>, "there is no record of the section, which would have to be changed");
    if (!detail::in_elided_attempt() || detail::elided_mode(&this->lock_) == latch_mode::none) {
      return this->lock_.downgrade();
    }
    detail::change_elided_mode(&this->lock_, latch_mode::shared);
  }

  /// The readers that hold the lock, and the calling thread's elided section. Elided sections of other threads are not
  /// seen.
  std::uint32_t readers() const noexcept { return this->lock_.readers() + (own_mode() == latch_mode::shared ? 1 : 0); }
  latch_mode mode() const noexcept {
    const latch_mode mine = own_mode();
    if (mine == latch_mode::exclusive || this->lock_.has_writer()) return latch_mode::exclusive;
    return mine == latch_mode::shared || this->lock_.readers() != 0 ? latch_mode::shared : latch_mode::none;
  }

 private:
  latch_mode own_mode() const noexcept {
    return detail::in_elided_attempt() ? detail::elided_mode(&this->lock_) : latch_mode::none;
  }
};

/// An exclusive critical section for the length of a scope. In it, on_commit() waits for the section's end, whether the
/// section is elided or not. Lock is elided<...> or elided_shared<...>. Guards nest; actions run when the outermost has
/// ended. A guard belongs to the thread that made it. Cost: the section, and two increments in the attempt frame.
template <class Lock>
class TXSYNC_SCOPED_CAPABILITY elided_guard {
 public:
  explicit elided_guard(Lock& lock) noexcept TXSYNC_ACQUIRE(lock) TXSYNC_UNCHECKED : lock_(lock) {
    lock_.lock();
    ++detail::my_attempt_frame.guards;
  }
  ~elided_guard() TXSYNC_UNLOCKS {
    --detail::my_attempt_frame.guards;
    lock_.unlock();
    if (!detail::must_defer()) detail::run_deferred();
  }
  elided_guard(const elided_guard&) = delete;
  elided_guard& operator=(const elided_guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
