// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/site_policy.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/policy_mutex.hpp>

#include "locks/left_tickets.hpp"
#include "locks/tagged_lock.hpp"
#include "policy/packed.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {

using detail::algorithm;

constexpr std::uint32_t word_of(policy::lock_kind kind) noexcept { return policy::packed{.lock = kind}.word(); }
static_assert(lock_policy::mutex == word_of(policy::lock_kind::mutex));
static_assert(lock_policy::tatas == word_of(policy::lock_kind::tatas));
static_assert(lock_policy::ticket == word_of(policy::lock_kind::ticket));
static_assert(lock_policy::fifo_ticket == word_of(policy::lock_kind::fifo_ticket));
static_assert(lock_policy::spin == word_of(policy::lock_kind::spin));
static_assert(lock_policy::priority_tatas == word_of(policy::lock_kind::priority_tatas));

/// A policy that says `libc`, which is for pthread locks, means the default here.
algorithm algorithm_by(std::uint32_t word) noexcept {
  const algorithm how = detail::algorithm_of(policy::packed::of(word).lock);
  return how != algorithm::libc ? how : algorithm::futex;
}

using detail::asks_for_elision;

/// The mark of the calling process. It differs from its parents' marks.
std::uint16_t mark_here(algorithm how) noexcept {
  constexpr std::uint32_t marks = detail::tagged_lock::of_several - 1u;
  return detail::counts_waiters(how) ? static_cast<std::uint16_t>(machine::fork_count() % marks + 1) : 0;
}

}  // namespace

detail::tagged_lock policy_mutex::core() noexcept { return {words_, mark_, limiter_}; }

/// Chooses how a lock works that is not used yet. What is left of an earlier lock in the same memory is forgotten.
policy_mutex::choice policy_mutex::chosen() noexcept {
  std::uint16_t seen = tag_.load(std::memory_order_relaxed);
  if (seen != 0) [[likely]]
    return choice(seen);
  // acquire pairs with the count of leaves() (left_tickets.cpp): if a ticket of this lock is among `so_far`, the read
  // of its tag below sees it.
  const std::uint32_t so_far = detail::tickets_listed.load(std::memory_order_acquire);
  seen = tag_.load(std::memory_order_relaxed);
  if (seen != 0) return choice(seen);
  // Within an attempt nobody can be asked for the policy.
  machine::abort<machine::attempt_status::code_fall_back>();
  constexpr std::uint32_t heeded = policy::packed::parts::lock | policy::packed::parts::elision;
  const std::uint32_t word = observe::detail::policy_at_first_use(get_site(), heeded);
  const choice mine(algorithm_by(word), asks_for_elision(get_site(), word));
  detail::forget_left(&words_.queue, so_far);
  // relaxed: as in is_mutex(). The second thread takes what the first one has chosen.
  return tag_.compare_exchange_strong(seen, mine.tag(), std::memory_order_relaxed) ? mine : choice(seen);
}

/// True in an attempt that runs the critical section.
bool policy_mutex::enter_elided(choice made) noexcept {
  return made.speculates() && asks_for_elision(get_site(), get_site().policy()) &&
         detail::enter_elided(get_site(), &words_, latch_mode::exclusive, detail::held_as(made.how()));
}

detail::try_outcome policy_mutex::try_elided(choice made) noexcept {
  if (!made.speculates() || !asks_for_elision(get_site(), get_site().policy())) return detail::try_outcome::try_lock;
  return detail::try_enter_elided(get_site(), &words_, latch_mode::exclusive, detail::held_as(made.how()));
}

/// Ends the critical section if an attempt runs it.
bool policy_mutex::leave_elided(choice made) noexcept {
  return made.speculates() && detail::in_elided_attempt() && detail::leave_elided(&words_);
}

bool policy_mutex::try_as(algorithm how) noexcept {
  return core().try_acquire(how, [how]() noexcept { return mark_here(how); });
}

/// The calling thread has just acquired it here, where a race detector sees nothing.
void policy_mutex::become_owner(algorithm how) noexcept {
  machine::annotate_acquire(&words_);
  machine::annotate_unseen_acquire(&words_);
  if (detail::counts_waiters(how)) core().settle(how, mark_here(how));
  count();
}

/// A lock that is in use also finds out here that its site now asks for elision.
void policy_mutex::count_sampled() noexcept {
  // The inlined unlock() checks the mark. Other locks check whether they are the one that is timed.
  if (observe::detail::sample(observe::detail::counted_id(get_site()), this) && is_mutex()) words_.futex.mark();
  // relaxed: critical sections with the lock and attempts may be mixed at any time
  if (!choice(tag_.load(std::memory_order_relaxed)).speculates() && asks_for_elision(get_site(), get_site().policy()))
    tag_.fetch_or(choice::speculates_bit, std::memory_order_relaxed);
}

bool policy_mutex::lock_slowly(wait_task* task) noexcept {
  const choice made = chosen();
  if (enter_elided(made)) return true;
  const algorithm how = made.how();
  if (core().keeps_newcomers_out(how) || !try_as(how)) {
    const std::uint32_t site_id = observe::detail::counted_id(get_site());
    const std::uint64_t start = observe::detail::wait_begins(site_id, this);
    if (!core().acquire(how, {.here = mark_here(how), .task = task})) return false;
    observe::detail::waited(site_id, this, machine::cycles() - start);
  }
  become_owner(how);
  return true;
}

bool policy_mutex::try_lock_slowly() noexcept {
  const choice made = chosen();
  const detail::try_outcome tried = try_elided(made);
  if (tried != detail::try_outcome::try_lock) return tried == detail::try_outcome::elided;
  if (!try_as(made.how())) return false;
  become_owner(made.how());
  return true;
}

/// A wait would end an attempt. What runs within one starts again with the lock.
bool policy_mutex::try_lock_until_ns(std::uint64_t deadline) noexcept {
  const choice made = chosen();
  const detail::try_outcome tried = try_elided(made);
  if (tried == detail::try_outcome::elided) return true;
  if (tried == detail::try_outcome::busy) machine::abort<machine::attempt_status::code_fall_back>();
  const algorithm how = made.how();
  if (!try_as(how)) {
    const std::uint32_t site_id = observe::detail::counted_id(get_site());
    const std::uint64_t start = observe::detail::wait_begins(site_id, this);
    if (!core().acquire(how, {.here = mark_here(how), .deadline = deadline})) {
      observe::detail::wait_timed_out(site_id, this, machine::cycles() - start);
      return false;
    }
    observe::detail::waited(site_id, this, machine::cycles() - start);
  }
  become_owner(how);
  return true;
}

void policy_mutex::unlock_marked() noexcept {
  observe::detail::hold_ends(this);
  words_.futex.unlock_marked();
}

void policy_mutex::unlock_slowly() noexcept {
  const choice made = chosen();
  if (leave_elided(made)) return;
  observe::detail::hold_ends_if_timed(this);
  machine::annotate_release(&words_);
  machine::annotate_unseen_release(&words_);
  core().release(made.how(), mark_here(made.how()));
}

bool policy_mutex::is_held() const noexcept {
  return detail::held_as(choice(tag_.load(std::memory_order_relaxed)).how())(&words_);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
