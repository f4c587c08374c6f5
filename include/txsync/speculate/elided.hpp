// SPDX-License-Identifier: Apache-2.0
// Lock elision: sections of a lock run as hardware attempts beside each other, and take the lock only when that does
// not work. Shore-MT paper, section 3.2; InnoDB thesis, chapter 2; LevelDB paper, section 4.
//
// For all of these locks:
//  - Lock is one of ours: it tells whether it is held (is_held(); has_writer() and readers() for readers and writers).
//    Each belongs to a site (site.hpp), which says how its sections are tried, and counts them and their attempts.
//    A Lock that has a site itself, as mutex has, has the same one.
//  - Sections of several locks nest in any order, up to 8 in one attempt; the attempt of the outermost runs them all,
//    by that lock's policy, and commits when the last has ended. Each lock is looked at once.
//  - What cannot run in an attempt (a system call, a page fault, too much data, a condition wait in nested sections)
//    takes the lock in the end. What an attempt has done is undone when it aborts, and then done again: sections must
//    not spin on what other threads do, who see nothing of the attempt before its commit.
//  - Thread-safe; not recursive. Who is let in first is the Lock's business among those that take it; attempts run
//    whenever nobody holds it.
//  - Errors: which sections run in attempts is known from a record of the calling thread. Ticket locks look at the lock
//    before the record: an attempt has read it, and aborts as soon as somebody takes it. An unlock of a lock that
//    nobody holds is told on the standard error, and does nothing; of a queue lock also one by a node that has no turn.
//    It may be done and not told if another thread has unlocked the section that the calling thread has begun last.
//  - Without hardware transactions they are the plain locks. Cost: a load and a store more to lock, and the same to
//    unlock; ticket locks a load; queue locks a load and a store. A pointer more.
//  - Cost of an attempt: begin and commit (36..96 cycles), a read of the lock word shared by all, some twenty
//    instructions; an abort 120..250 cycles and the work that is lost.
#pragma once

#include <cstdint>
#include <type_traits>

#include <txsync/locks/timed.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/speculate/elision.hpp>

namespace txsync::inline TXSYNC_BACKEND {

class fifo_ticket_lock;
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

/// Whether unlock() asks the lock if it is held, and the thread remembers nothing. The lock is asked first: nobody
/// holds it while an attempt runs the section. For locks whose own unlock() reads the same words: on Zen 4, with 10
/// writes, an elided ticket lock takes as long as the plain one. Where the thread remembered the lock it took 1.13
/// times as long.
template <class Lock>
inline constexpr bool looks_at_lock = false;
template <>
inline constexpr bool looks_at_lock<fifo_ticket_lock> = true;
template <>
inline constexpr bool looks_at_lock<ticket_lock> = true;

/// Whether the lock counts its acquisitions at the site that it is given. Locks that only hand the site on say so.
template <class Lock>
inline constexpr bool counts_itself = std::is_constructible_v<Lock, site&>;
template <class Lock>
  requires requires { Lock::counts_itself; }
inline constexpr bool counts_itself<Lock> = Lock::counts_itself;

/// What both faces of elision share. Calls are inlined up to the first look at what the machine can do.
template <class Lock>
class elided_base {
 public:
  constexpr explicit elided_base(site& place) noexcept : place_(place) {}
  constexpr explicit elided_base(site& place) noexcept
    requires std::is_constructible_v<Lock, site&>
      : place_(place), lock_(place) {}
  elided_base(const elided_base&) = delete;
  elided_base& operator=(const elided_base&) = delete;

  site& place() const noexcept { return place_; }

 protected:
  bool enter(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    if (!machine::attempts_work()) return false;
    if (enter_elided(place_, &lock_, mode, held)) return true;
    count_taken();
    return false;
  }
  /// For a wait with a deadline: true in an attempt. An attempt would not bear to wait: what runs within one starts
  /// anew with the lock.
  bool enter_at_once(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    const try_outcome how = try_enter(mode, held);
    if (how == try_outcome::busy) machine::abort<machine::attempt_status::code_fall_back>();
    return how == try_outcome::elided;
  }
  try_outcome try_enter(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    return machine::attempts_work() ? try_enter_elided(place_, &lock_, mode, held) : try_outcome::try_lock;
  }
  bool leave() noexcept { return in_elided_attempt() && leave_elided(&lock_); }

  /// The section takes the lock, which may count it itself.
  void count_taken() const noexcept {
    if constexpr (!counts_itself<Lock>) {
      if (place_.is_counted() && --observe::detail::until_sample <= 0) [[unlikely]]
        observe::detail::sample(observe::detail::counted_id(place_), nullptr);
    }
  }

  /// Around the lock itself, where no attempt runs the section. What the thread has taken last it may unlock without a
  /// look at the lock: a load right behind an atomic instruction on the same line costs up to a third of a section.
  void acquired(latch_mode mode = latch_mode::exclusive) const noexcept {
    machine::annotate_acquire(&lock_);
    now_holds(mode);
  }
  void now_holds(latch_mode mode) const noexcept {
    if constexpr (!looks_at_lock<Lock> && !remembers_itself) my_sections.taken.remember(&lock_, mode);
  }
  bool acquired_if(bool got, latch_mode mode = latch_mode::exclusive) const noexcept {
    if (!got) return false;
    acquired(mode);
    if (machine::attempts_work()) count_taken();
    return true;
  }
  /// True: the calling thread has the lock in this mode and is about to unlock it.
  bool releases_last_taken(latch_mode mode) const noexcept {
    // For the compiler only. Where it sees nothing between lock and unlock it makes one store of what both write, and
    // that is slower: on Zen 4, of mutex, 2.66 ns instead of 2.53.
    machine::compiler_fence();
    if constexpr (remembers_itself) {
      if (!lock_.is_newest_held()) return false;
    } else {
      if (!my_sections.taken.is(&lock_, mode)) return false;
    }
    machine::annotate_release(&lock_);
    return true;
  }
  /// Once that lock has been unlocked: where that is an atomic instruction, it would have to wait for a store before it
  /// (on Zen 4, 0.35 ns of shared_mutex, shared, with 10 writes).
  void released_last_taken() const noexcept {
    if constexpr (!remembers_itself) my_sections.taken.forget();
  }

  /// Ends a section that is not the last one taken: that of an attempt, or one of the lock, or there is none to end,
  /// which is told.
  void leave_or_release() noexcept {
    if (!leave()) release_checked();
  }
  void leave_or_release_shared() noexcept {
    if (!leave()) release_shared_checked();
  }
  [[gnu::noinline]] void leave_or_refuse() noexcept {
    if (!leave()) refuse_release();
  }

  [[gnu::noinline]] void refuse_release() const noexcept {
    // What an attempt sees may be what it has done itself: outside it is seen again.
    machine::abort<machine::attempt_status::code_fall_back>();
    report_double_unlock(&lock_);
  }

  site& place_;
  Lock lock_;

 private:
  /// The lock tells whether it is the last one that the thread has taken (mutex).
  static constexpr bool remembers_itself = requires(const Lock& one) { one.is_newest_held(); };

  /// Whether somebody holds it as unlock() lets it go.
  bool is_held_to_unlock() const noexcept {
    if constexpr (requires { lock_.has_writer(); }) {
      return lock_.has_writer();
    } else {
      return lock_.is_held();
    }
  }
  /// Unlocks, or tells that there is no section to end. Locks that find that out on their way have a function for both.
  [[gnu::noinline]] void release_checked() noexcept {
    machine::annotate_release(&lock_);
    if constexpr (requires { lock_.unlock_if_held(); }) {
      if (!lock_.unlock_if_held()) [[unlikely]]
        refuse_release();
    } else {
      if (!is_held_to_unlock()) [[unlikely]]
        return refuse_release();
      lock_.unlock();
    }
  }
  [[gnu::noinline]] void release_shared_checked() noexcept {
    machine::annotate_release(&lock_);
    if constexpr (requires { lock_.unlock_shared_if_held(); }) {
      if (!lock_.unlock_shared_if_held()) refuse_release();
    } else {
      if (lock_.readers() == 0) return refuse_release();
      lock_.unlock_shared();
    }
  }
};

}  // namespace detail

/// A mutex whose sections are elided: of tatas_lock, ticket_lock, fifo_ticket_lock, futex_mutex, mutex, or
/// posix_mutex_with_word. Named requirements: Lockable; TimedLockable where the Lock is. Constant-initialised. What all
/// share stands above.
template <class Lock>
class elided : protected detail::elided_base<Lock>, public detail::timed<elided<Lock>> {
 public:
  constexpr explicit elided(site& where = site::unnamed()) noexcept : detail::elided_base<Lock>(where) {}
  using detail::elided_base<Lock>::place;

  [[gnu::always_inline]] void lock() noexcept {
    if (this->enter()) return;
    this->lock_.lock();
    this->acquired();
  }
  /// One attempt at most, which ends at once where the lock is held; if it aborts, the lock's own try_lock(). False
  /// also where the calling thread's attempt is in a section of this lock.
  [[nodiscard]] bool try_lock() noexcept {
    const detail::try_outcome how = this->try_enter();
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    return this->acquired_if(this->lock_.try_lock());
  }
  /// The same; where it is the lock that is to be taken, the lock's own try until machine::clock_ns() reaches the
  /// deadline. Within an attempt that attempt falls back rather than waits.
  [[nodiscard]] bool try_lock_until_ns(std::uint64_t deadline) noexcept
    requires detail::has_deadlines<Lock>
  {
    return this->enter_at_once() || this->acquired_if(this->lock_.try_lock_until_ns(deadline));
  }
  /// Requires: the calling thread is in a section of this lock. Told where nobody holds it; where another thread does,
  /// it is that thread's section that ends, as with the lock itself.
  [[gnu::always_inline]] void unlock() noexcept {
    if constexpr (detail::looks_at_lock<Lock>) {
      machine::annotate_release(&this->lock_);
      if (!this->lock_.unlock_if_held()) [[unlikely]]
        this->leave_or_refuse();
    } else {
      if (!this->releases_last_taken(latch_mode::exclusive)) [[unlikely]]
        return this->leave_or_release();
      this->lock_.unlock();
      this->released_last_taken();
    }
  }
};

/// The same for queue locks, mcs_lock and fifo_mcs_lock, whose threads bring a node; a section that is elided does not
/// use it.
template <class Lock>
class elided_with_node : protected detail::elided_base<Lock> {
 public:
  using node = typename Lock::node;
  constexpr explicit elided_with_node(site& where = site::unnamed()) noexcept : detail::elided_base<Lock>(where) {}
  using detail::elided_base<Lock>::place;

  [[gnu::always_inline]] void lock(node& mine) noexcept {
    // Before the look at what the machine can do: beside that load, the store costs nothing.
    Lock::begin_turn(mine);
    if (machine::attempts_work() && this->enter_without(mine)) return;
    this->lock_.lock_begun(mine);
    machine::annotate_acquire(&this->lock_);
  }
  /// As elided::try_lock(): the function that Shore-MT's mcs lock calls attempt (shore-mt paper, 3.2).
  [[nodiscard]] bool try_lock(node& mine) noexcept {
    const detail::try_outcome how = this->try_enter();
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    if (!this->lock_.try_lock(mine)) return false;
    machine::annotate_acquire(&this->lock_);
    if (machine::attempts_work()) this->count_taken();
    return true;
  }
  /// Requires: the calling thread is in a section of this lock with this node. Told where its last one has ended,
  /// whoever holds the lock meanwhile.
  [[gnu::always_inline]] void unlock(node& mine) noexcept {
    machine::annotate_release(&this->lock_);
    // An elided section leaves the node alone: it has no turn then.
    if (!this->lock_.unlock_if_held(mine)) [[unlikely]]
      this->leave_or_refuse();
  }

 private:
  bool enter_without(node& mine) noexcept {
    const bool elided = this->enter();
    // The latter is undone by an abort; not by the scripted machine's.
    elided ? Lock::end_turn(mine) : Lock::begin_turn(mine);
    return elided;
  }
};

/// A reader-writer lock whose sections are elided: of occ_rwlock, srwlock, futex_rwlock or shared_mutex. Elided readers
/// run beside readers that hold the lock, elided writers beside elided sections of other data. Whoever takes the lock
/// aborts the attempts that have looked at its word; readers may try again beside a reader, others wait.
/// Named requirements: SharedLockable; SharedTimedLockable where the Lock is. Constant-initialised. What all share
/// stands above.
template <class Lock>
class elided_shared : public elided<Lock>, public detail::timed_shared<elided_shared<Lock>> {
 public:
  using elided<Lock>::elided;

  [[gnu::always_inline]] void lock_shared() noexcept {
    if (this->enter(latch_mode::shared, detail::has_writer_inside<Lock>)) return;
    this->lock_.lock_shared();
    this->acquired(latch_mode::shared);
  }
  [[nodiscard]] bool try_lock_shared() noexcept {
    const detail::try_outcome how = this->try_enter(latch_mode::shared, detail::has_writer_inside<Lock>);
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    return this->acquired_if(this->lock_.try_lock_shared(), latch_mode::shared);
  }
  /// As elided::try_lock_until_ns().
  [[nodiscard]] bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept
    requires detail::has_shared_deadlines<Lock>
  {
    if (this->enter_at_once(latch_mode::shared, detail::has_writer_inside<Lock>)) return true;
    return this->acquired_if(this->lock_.try_lock_shared_until_ns(deadline), latch_mode::shared);
  }
  [[gnu::always_inline]] void unlock_shared() noexcept {
    if (!this->releases_last_taken(latch_mode::shared)) [[unlikely]]
      return this->leave_or_release_shared();
    this->lock_.unlock_shared();
    this->released_last_taken();
  }

  /// From shared to exclusive, for Lock that can (srwlock): an elided reader becomes an elided writer where nobody
  /// holds the lock. False: still shared. Requires: the calling thread is in a shared section of this lock. Never
  /// waits.
  [[nodiscard]] bool try_upgrade() noexcept {
    if (!detail::in_elided_attempt() || detail::elided_mode(&this->lock_) == latch_mode::none) {
      if (!this->lock_.try_upgrade()) return false;
      this->now_holds(latch_mode::exclusive);
      return true;
    }
    if (this->lock_.is_held()) return false;
    detail::change_elided_mode(&this->lock_, latch_mode::exclusive);
    return true;
  }
  /// From exclusive to shared. Requires: the calling thread is in an exclusive section of this lock.
  void downgrade() noexcept {
    if (!detail::in_elided_attempt() || detail::elided_mode(&this->lock_) == latch_mode::none) {
      this->lock_.downgrade();
      return this->now_holds(latch_mode::shared);
    }
    detail::change_elided_mode(&this->lock_, latch_mode::shared);
  }

  /// Of those that hold the lock, and the calling thread's elided section with them; other threads' are not seen.
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

/// An exclusive section for the length of a scope, in which on_commit() waits for the section's end whether it is
/// elided or not. Lock is elided<...> or elided_shared<...>. Guards nest; actions run when the outermost has ended. It
/// belongs to the thread that made it. Cost: two increments in the thread's record more than the section.
template <class Lock>
class elided_guard {
 public:
  explicit elided_guard(Lock& lock) noexcept : lock_(lock) {
    lock_.lock();
    ++detail::my_sections.guards;
  }
  ~elided_guard() {
    --detail::my_sections.guards;
    lock_.unlock();
    if (!detail::must_defer()) detail::run_deferred();
  }
  elided_guard(const elided_guard&) = delete;
  elided_guard& operator=(const elided_guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace txsync::inline TXSYNC_BACKEND
