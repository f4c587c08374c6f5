// SPDX-License-Identifier: Apache-2.0
// Lock elision: sections of a lock run as hardware attempts beside each other, and take the lock only when that does
// not work. Shore-MT paper, section 3.2; InnoDB thesis, chapter 2; LevelDB paper, section 4.
//
// For all of these locks:
//  - Lock is one of ours: it tells whether it is held (is_held(); has_writer() and readers() for readers and writers).
//    Each belongs to a role (elision.hpp), whose policy says how its sections are tried.
//  - Sections of several locks nest in any order, up to 8 in one attempt; the attempt of the outermost runs them all,
//    by that lock's policy, and commits when the last has ended. Each lock is looked at once.
//  - What cannot run in an attempt (a system call, a page fault, too much data, a condition wait in nested sections)
//    takes the lock in the end. What an attempt has done is undone when it aborts, and then done again: sections must
//    not spin on what other threads do, who see nothing of the attempt before its commit.
//  - Thread-safe; not recursive. Who is let in first is the Lock's business among those that take it; attempts run
//    whenever nobody holds it.
//  - Errors: which sections run in attempts is known from a record of the calling thread, never guessed from the lock
//    word. An unlock of a lock that nobody holds is told on the standard error, and does nothing; of a queue lock also
//    one by a node that has no turn.
//  - Without hardware transactions they are the plain locks: cost a load more to lock, two to unlock. A pointer more.
//  - Cost of an attempt: begin and commit (36..96 cycles), a read of the lock word shared by all, some twenty
//    instructions; an abort 120..250 cycles and the work that is lost.
#pragma once

#include <cstdint>

#include <txsync/machine/attempt.hpp>
#include <txsync/speculate/elision.hpp>

namespace txsync::inline TXSYNC_BACKEND {

namespace detail {

template <class Lock>
bool is_held_at_all(const void* lock) noexcept {
  return static_cast<const Lock*>(lock)->is_held();
}
template <class Lock>
bool has_writer_inside(const void* lock) noexcept {
  return static_cast<const Lock*>(lock)->has_writer();
}

/// What both faces of elision share. Calls are inlined up to the first look at what the machine can do.
template <class Lock>
class elided_base {
 public:
  constexpr explicit elided_base(elision& how) noexcept : how_(how) {}
  elided_base(const elided_base&) = delete;
  elided_base& operator=(const elided_base&) = delete;

  elision& role() const noexcept { return how_; }

 protected:
  bool enter(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    return machine::attempts_work() && enter_elided(how_, &lock_, mode, held);
  }
  try_outcome try_enter(latch_mode mode = latch_mode::exclusive, held_test held = is_held_at_all<Lock>) noexcept {
    return machine::attempts_work() ? try_enter_elided(how_, &lock_, mode, held) : try_outcome::try_lock;
  }
  bool leave() noexcept { return in_elided_attempt() && leave_elided(&lock_); }
  /// Whether somebody holds it as unlock() lets it go.
  bool is_held_to_unlock() const noexcept {
    if constexpr (requires { lock_.has_writer(); }) {
      return lock_.has_writer();
    } else {
      return lock_.is_held();
    }
  }
  /// Where no attempt runs the section: unlocks, or tells that there is no section to end. Locks that find that out on
  /// their way have a function for both.
  template <class... Node>
  void release(Node&... mine) noexcept {
    machine::annotate_release(&lock_);
    if constexpr (requires { lock_.unlock_if_held(mine...); }) {
      if (!lock_.unlock_if_held(mine...)) [[unlikely]]
        refuse_release();
    } else {
      if (!is_held_to_unlock()) [[unlikely]]
        return refuse_release();
      lock_.unlock(mine...);
    }
  }
  void release_shared() noexcept {
    machine::annotate_release(&lock_);
    if constexpr (requires { lock_.unlock_shared_if_held(); }) {
      if (!lock_.unlock_shared_if_held()) [[unlikely]]
        refuse_release();
    } else {
      if (lock_.readers() == 0) [[unlikely]]
        return refuse_release();
      lock_.unlock_shared();
    }
  }
  [[gnu::noinline]] void refuse_release() const noexcept {
    // What an attempt sees may be what it has done itself: outside it is seen again.
    machine::abort<machine::attempt_status::code_fall_back>();
    report_double_unlock(&lock_);
  }

  /// Around the lock itself, where no attempt runs the section.
  void acquired() const noexcept { machine::annotate_acquire(&lock_); }
  bool acquired_if(bool got) const noexcept {
    if (got) acquired();
    return got;
  }

  elision& how_;
  Lock lock_;
};

}  // namespace detail

/// A mutex whose sections are elided: of tatas_lock, ticket_lock, fifo_ticket_lock, futex_mutex, mutex, or
/// posix_mutex_with_word. Named requirements: Lockable. Constant-initialised. What all share stands above.
template <class Lock>
class elided : protected detail::elided_base<Lock> {
 public:
  constexpr explicit elided(elision& how = elision::unnamed()) noexcept : detail::elided_base<Lock>(how) {}
  using detail::elided_base<Lock>::role;

  void lock() noexcept {
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
  /// Requires: the calling thread is in a section of this lock. Told where nobody holds it; where another thread does,
  /// it is that thread's section that ends, as with the lock itself.
  void unlock() noexcept {
    if (!this->leave()) this->release();
  }
};

/// The same for queue locks, mcs_lock and fifo_mcs_lock, whose threads bring a node; a section that is elided does not
/// use it.
template <class Lock>
class elided_with_node : protected detail::elided_base<Lock> {
 public:
  using node = typename Lock::node;
  constexpr explicit elided_with_node(elision& how = elision::unnamed()) noexcept : detail::elided_base<Lock>(how) {}
  using detail::elided_base<Lock>::role;

  void lock(node& mine) noexcept {
    if (this->enter()) return;
    this->lock_.lock(mine);
    this->acquired();
  }
  /// As elided::try_lock(): the function that Shore-MT's mcs lock calls attempt (shore-mt paper, 3.2).
  [[nodiscard]] bool try_lock(node& mine) noexcept {
    const detail::try_outcome how = this->try_enter();
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    return this->acquired_if(this->lock_.try_lock(mine));
  }
  /// Requires: the calling thread is in a section of this lock with this node. Told where its last one has ended,
  /// whoever holds the lock meanwhile.
  void unlock(node& mine) noexcept {
    if (!this->leave()) this->release(mine);
  }
};

/// A reader-writer lock whose sections are elided: of occ_rwlock, srwlock, futex_rwlock or shared_mutex. Elided readers
/// run beside readers that hold the lock, elided writers beside elided sections of other data. Whoever takes the lock
/// aborts the attempts that have looked at its word; readers may try again beside a reader, others wait.
/// Named requirements: SharedLockable. Constant-initialised. What all share stands above.
template <class Lock>
class elided_shared : public elided<Lock> {
 public:
  using elided<Lock>::elided;

  void lock_shared() noexcept {
    if (this->enter(latch_mode::shared, detail::has_writer_inside<Lock>)) return;
    this->lock_.lock_shared();
    this->acquired();
  }
  [[nodiscard]] bool try_lock_shared() noexcept {
    const detail::try_outcome how = this->try_enter(latch_mode::shared, detail::has_writer_inside<Lock>);
    if (how != detail::try_outcome::try_lock) return how == detail::try_outcome::elided;
    return this->acquired_if(this->lock_.try_lock_shared());
  }
  void unlock_shared() noexcept {
    if (!this->leave()) this->release_shared();
  }

  /// From shared to exclusive, for Lock that can (srwlock): an elided reader becomes an elided writer where nobody
  /// holds the lock. False: still shared. Requires: the calling thread is in a shared section of this lock. Never
  /// waits.
  [[nodiscard]] bool try_upgrade() noexcept {
    if (!detail::in_elided_attempt() || detail::elided_mode(&this->lock_) == latch_mode::none) {
      return this->lock_.try_upgrade();
    }
    if (this->lock_.is_held()) return false;
    detail::change_elided_mode(&this->lock_, latch_mode::exclusive);
    return true;
  }
  /// From exclusive to shared. Requires: the calling thread is in an exclusive section of this lock.
  void downgrade() noexcept {
    if (!detail::in_elided_attempt() || detail::elided_mode(&this->lock_) == latch_mode::none) {
      return this->lock_.downgrade();
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
