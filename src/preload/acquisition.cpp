// SPDX-License-Identifier: Apache-2.0
#include "acquisition.hpp"

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/speculate/warm_up.hpp>

#include "identity.hpp"
#include "locks/tagged_lock.hpp"
#include "order.hpp"
#include "speculating_sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// The lock that the calling thread waits for while it runs ahead. Written before the attempt, so that it stays when
/// the attempt is undone.
[[gnu::tls_model("initial-exec")]] constinit thread_local const mutex_state* waited_for = nullptr;

algorithm plain_lock(const policy::packed& policy, std::int32_t kind) noexcept {
  if ((kind & mutex_state::foreign_bits) != 0) return algorithm::libc;
  const algorithm lock_algorithm = detail::algorithm_of(policy.lock);
  if (lock_algorithm != algorithm::futex) return lock_algorithm;
  if (watches_order()) return algorithm::watched_futex;
  const std::int32_t type = kind & mutex_state::kind_bits;
  const bool checked = type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;
  return checked ? algorithm::checked_futex : algorithm::futex;
}

detail::tagged_lock lock_of(mutex_state& mutex) noexcept { return {mutex.word, mutex.mark, mutex.limiter}; }

/// The mark of the calling process, if the lock needs it.
std::uint16_t mark_for(algorithm lock_algorithm) noexcept {
  return detail::counts_waiters(lock_algorithm) ? process_mark() : 0;
}

/// Whether all threads that stand in line before a thread of this process are of this process, too, and see its list of
/// left tickets. A thread of another process stands in line only once an owner of its process has set its mark. It may
/// have the lock before that: then the lock has no owner yet.
bool is_line_of_this_process(const void* raw) noexcept {
  const mutex_state& mutex = *static_cast<const mutex_state*>(raw);
  if (mutex.owner() == 0) return false;
  machine::fence();  // pairs with the fence after the mark's change: the owner's mark is seen
  // acquire pairs with the release of that change
  return mutex.mark.load(std::memory_order_acquire) == process_mark();
}

bool wait_until(mutex_state& mutex, algorithm lock_algorithm, std::uint64_t deadline) noexcept {
  return lock_of(mutex).acquire(lock_algorithm, {.here = mark_for(lock_algorithm),
                                                 .deadline = deadline,
                                                 .is_shared = is_shared_memory,
                                                 .ask = {is_line_of_this_process, &mutex}});
}

/// True: the caller owns the lock. False, only if its site's policy lets it run ahead: the caller is in an attempt.
bool wait_for(mutex_state& mutex, algorithm lock_algorithm, site* runs_ahead) noexcept {
  if (runs_ahead == nullptr) return lock_of(mutex).acquire(lock_algorithm, {.here = mark_for(lock_algorithm)});
  warm_wait ahead(*runs_ahead);
  runs_ahead_of(mutex);
  return lock_of(mutex).acquire(lock_algorithm, {.here = mark_for(lock_algorithm), .task = &ahead});
}

/// Locks that treat all waiters alike keep a thread with a real-time priority from its turn. Reported once for each
/// site.
void report_if_priority_is_ignored(lock_tag tag, algorithm lock_algorithm) noexcept {
  constexpr std::uint32_t bits = 64;
  static constinit std::atomic<std::uint64_t> reported[max_sites / bits + 1] = {};
  if (lock_algorithm != algorithm::tatas && !detail::counts_waiters(lock_algorithm)) return;
  // A system call is impossible within an attempt. After the attempt's end the thread comes here once more.
  if (tag.site() == 0 || machine::active() || !machine::has_realtime_priority()) return;
  const std::uint64_t bit = std::uint64_t{1} << tag.site() % bits;
  std::atomic<std::uint64_t>& word = reported[tag.site() / bits];
  // relaxed, both: a set of numbers
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
  if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) report(diagnostic_kind::priority_ignored, tag.site());
}

}  // namespace

bool needs_site(const policy::packed& policy) noexcept {
  return policy.counting || (policy.wants_elision() && machine::htm().attempts) ||
         (policy.wants_warm_up() && machine::htm().always_abort);
}

namespace {

/// By the policy alone, whatever lock of the site comes first. Each process makes its own choices, and a lock in memory
/// that they share has to be the same lock for all of them. Where a policy says `libc`, the site's mutexes are not
/// elided; its reader-writer locks do not heed the word.
site_choices choices_by(const policy::packed& policy) noexcept {
  return {detail::algorithm_of(policy.lock), policy.wants_elision() && machine::htm().attempts,
          policy.wants_warm_up() && machine::htm().always_abort};
}

}  // namespace

site_choices choices_anew(std::uint32_t number) noexcept {
  leave_attempt();   // memory is mapped below
  machine::fence();  // pairs with the release of the thread that has decided the lock: the site's policy
  const policy::packed policy = policy_of_site(number);
  const site_choices choices = choices_by(policy);
  if (make_speculating(number, choices, policy)) return choices;
  return {choices.under, false, false};
}

lock_tag decide(const site_answer& answer, std::int32_t kind, bool may_be_libcs) noexcept {
  const policy::packed& policy = answer.policy;
  algorithm lock_algorithm = plain_lock(policy, kind);
  if (lock_algorithm == algorithm::libc && !may_be_libcs) lock_algorithm = algorithm::futex;
  const bool is_libcs = lock_algorithm == algorithm::libc;
  // An attempt has no owner. Error-checking mutexes and the check of the lock order need one.
  const bool wants_owner = (kind & mutex_state::kind_bits) == PTHREAD_MUTEX_ERRORCHECK || watches_order();
  if (!wants_owner && (kind & mutex_state::foreign_bits) == 0) {
    const site_choices choices = choices_by(policy);
    if (((choices.elides && !is_libcs) || choices.warms) && make_speculating(answer.site, choices, policy)) {
      return {policy.counting ? algorithm::by_role : algorithm::by_role_uncounted, answer.site};
    }
  }
  return {lock_algorithm, policy.counting ? answer.site : 0};
}

algorithm lock_under(lock_tag tag) noexcept {
  return tag.has_role() ? choices_of(tag.role()).under : tag.lock_algorithm();
}

/// Not within an elided critical section: it would end that.
site* runs_ahead_by(lock_tag tag) noexcept {
  if (!tag.has_role() || detail::in_elided_attempt()) return nullptr;
  if (!choices_of(tag.role()).warms) return nullptr;
  site& lock_site = speculating_site_of(tag.role()).lock_site;
  return warm_up_is_off(lock_site) ? nullptr : &lock_site;
}

void runs_ahead_of(const mutex_state& mutex) noexcept { waited_for = &mutex; }

void count_for_trials(lock_tag tag) noexcept {
  if (tag.has_role() && choices_of(tag.role()).warms)
    detail::count_warm_section(speculating_site_of(tag.role()).lock_site, false);
}

bool try_acquire(mutex_state& mutex, algorithm lock_algorithm) noexcept {
  return lock_of(mutex).try_acquire(lock_algorithm, process_mark);
}
bool acquire_in_turn(mutex_state& mutex, algorithm lock_algorithm) noexcept {
  return !lock_of(mutex).keeps_newcomers_out(lock_algorithm) && try_acquire(mutex, lock_algorithm);
}

acquire_result acquire(mutex_state& mutex, lock_tag tag, algorithm lock_algorithm, std::uint64_t deadline,
                       lock_call call) noexcept {
  report_if_priority_is_ignored(tag, lock_algorithm);
  const begun_wait wait = begin_wait(tag.site(), &mutex, call);
  if (deadline != machine::no_deadline) {
    if (!wait_until(mutex, lock_algorithm, deadline)) {
      fail_wait(tag.site(), &mutex, call, wait);
      return acquire_result::timed_out;
    }
  } else if (!wait_for(mutex, lock_algorithm, runs_ahead_by(tag))) {
    forget_wait(wait);
    return acquire_result::in_attempt;
  }
  end_wait(tag.site(), &mutex, call, wait);
  return acquire_result::acquired;
}

void settle_here(mutex_state& mutex, algorithm lock_algorithm) noexcept {
  if (detail::counts_waiters(lock_algorithm)) [[unlikely]]
    lock_of(mutex).settle(lock_algorithm, process_mark(), is_shared_memory);
}

void release(mutex_state& mutex, algorithm lock_algorithm) noexcept {
  lock_of(mutex).release(lock_algorithm, mark_for(lock_algorithm));
}

bool enter_elided(mutex_state& mutex, lock_tag tag) noexcept {
  speculating_site& speculating = speculating_site_of(tag.role());
  return detail::enter_elided(speculating.lock_site, &mutex.word, latch_mode::exclusive,
                              detail::held_as(speculating.choices().under));
}

detail::try_outcome try_enter_elided(mutex_state& mutex, lock_tag tag) noexcept {
  speculating_site& speculating = speculating_site_of(tag.role());
  return detail::try_enter_elided(speculating.lock_site, &mutex.word, latch_mode::exclusive,
                                  detail::held_as(speculating.choices().under));
}

void unlock_ahead(const mutex_state& mutex) noexcept {
  if (&mutex == waited_for) machine::abort<machine::attempt_status::code_fall_back>();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
