// SPDX-License-Identifier: Apache-2.0
// Critical sections in attempts. An attempt is begun and retried cause by cause (shore-mt paper, 3.2; thesis, 2.1).
// Sections within it join it. It ends with the last of them, or some sections later (coarsening; leveldb paper, 4.2.2).
//
// After an abort a thread goes on from begin(). Everything that the attempt has written is undone, including this
// thread's record of sections. The scripted machine undoes only the stack: what is put back by hand here is put back
// for it.
#include <txsync/speculate/elision.hpp>

#include "locks/backoff.hpp"
#include "observe/commit_counts.hpp"
#include "observe/reporting.hpp"
#include "speculate/commit_actions.hpp"
#include "speculate/elision_history.hpp"
#include "speculate/thread_memory.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace detail {

constinit thread_local attempt_frame my_attempt_frame;

namespace {

using machine::attempt_status;

constexpr std::uint64_t min_wait_cycles = 64;  // between two looks at a held lock

/// What the end of an attempt implies for the next one.
failure failure_of(attempt_status status, const elision_policy& policy, const void* lock, held_test held) noexcept {
  const abort_cause why = status.cause();
  if (policy.adapts == adaptation::skip_after_failure) {
    // glibc looks only at the retry hint. An attempt that finds the lock held has none.
    if (why == abort_cause::lock_busy) return failure::busy;
    return status.may_retry() ? failure::conflicts : failure::hopeless;
  }
  // A thread that takes the lock aborts, by a conflict, the attempts that have read it.
  if (why == abort_cause::lock_busy || (why == abort_cause::conflict && held(lock))) return failure::busy;
  return why == abort_cause::conflict || status.may_retry() ? failure::conflicts : failure::hopeless;
}

/// What to do after each aborted attempt of one critical section.
class retries {
 public:
  retries(const site_page& how, elision_history& history, const void* lock, held_test held) noexcept
      : how_(how),
        policy_(how.elides_by()),
        history_(history),
        lock_(lock),
        held_(held),
        hintless_(policy_.tries_without_hint) {}

  /// True: try again now. What had to be waited for is over.
  bool again(attempt_status status) noexcept {
    why_ = failure_of(status, policy_, lock_, held_);
    if (policy_.every_abort_counts) {
      if (uses_last()) return false;
      back_off();
      return true;
    }
    if (why_ == failure::busy) return again_when_free();
    if (why_ == failure::hopeless && hintless_ != 0) {
      --hintless_;
      why_ = failure::conflicts;
    }
    if (why_ == failure::hopeless || uses_last()) return false;
    if (status.cause() == abort_cause::conflict) back_off();
    return true;
  }
  /// The reason of the last abort.
  failure why() const noexcept { return why_; }

 private:
  /// Counts an attempt as used by an abort. True: it was the last, or the abort has taken the remaining ones away.
  bool uses_last() noexcept { return ++used_ >= attempts_now(history_, policy_); }
  bool again_when_free() noexcept {
    if (policy_.busy == when_busy::takes_lock) return false;
    if (policy_.busy_counts && uses_last()) return false;
    if (policy_.busy_limit != 0 && ++times_busy_ > policy_.busy_limit) return false;
    if (policy_.busy == when_busy::retries) return true;
    // Perhaps a section within this one has found another lock held. Its end cannot be seen from here.
    if (!held_(lock_)) {
      back_off();
      return true;
    }
    return wait_outside();
  }
  /// False: take the lock.
  bool wait_outside() noexcept {
    const std::uint64_t most = std::uint64_t{policy_.max_wait} << history_.futile_waits;
    const std::uint64_t before = waited_;
    const std::uint64_t start = machine::cycles();
    patient_spin waiting;
    while (held_(lock_)) {
      if (how_.takes_lock()) return false;
      waited_ = before + (machine::cycles() - start);
      if (most != 0 && waited_ >= most) {
        // A thread behind a lock whose queue never ends never sees it free.
        if (history_.futile_waits < elision_history::max_futile_waits) ++history_.futile_waits;
        return false;
      }
      waiting.wait(min_wait_cycles);
    }
    if (waited_ < policy_.max_wait) history_.futile_waits = 0;
    return true;
  }
  void back_off() noexcept {
    if (policy_.max_backoff == 0) return;
    // Threads that conflicted once conflict again if both come back after the same time (thesis 2.4; always-abort
    // paper, IV-A).
    jitter random(this);
    pause_for(random.upto(pause_));
    if (pause_ < policy_.max_backoff) pause_ *= 2;
  }

  const site_page& how_;
  const elision_policy& policy_;
  elision_history& history_;
  const void* const lock_;
  const held_test held_;
  std::uint32_t used_ = 0;
  std::uint32_t hintless_;
  std::uint32_t times_busy_ = 0;
  std::uint32_t pause_ = min_wait_cycles;
  std::uint64_t waited_ = 0;  ///< cycles
  failure why_ = failure::hopeless;
};

bool is_capacity(abort_cause why) noexcept {
  return why == abort_cause::capacity || why == abort_cause::capacity_read || why == abort_cause::capacity_write;
}

bool is_coarse(const elision_history& history, const elision_policy& policy) noexcept {
  return policy.max_sections > 1 && history.commits >= policy.coarsens_after && history.coarsening_factor > 1;
}

/// For a race detector of the library or of the program only: it does not see attempts. To be called within them.
void order_behind_sections(const void* lock) noexcept {
  machine::annotate_acquire(lock);
  machine::annotate_unseen_acquire(lock);
}
void order_before_sections(const void* lock) noexcept {
  machine::annotate_release(lock);
  machine::annotate_unseen_release(lock);
}

/// In an attempt: adds the critical section to it.
void record(attempt_frame& mine, const void* lock, latch_mode mode) noexcept {
  if (mine.count == attempt_frame::max_sections) machine::abort<attempt_status::code_fall_back>();
  order_behind_sections(lock);
  mine.sections[mine.count++] = {lock, mode};
  mine.become(attempt_frame::in_section);
}

/// What is counted from now on belongs to this site.
void note_site(attempt_frame& mine, site_page& how) noexcept {
  const counted_page now(how);
  if (mine.how == now) [[likely]]
    return;
  mine.how = now;
  observe::my_commits.add();
  observe::forget_attempt_counters();
}

void record_outermost(attempt_frame& mine, site_page& how, const void* lock, latch_mode mode) noexcept {
  order_behind_sections(lock);
  note_site(mine, how);
  mine.outermost = lock;
  mine.done = 0;  // read only by policies that coarsen
  mine.sections[0] = {lock, mode};
  mine.count = 1;
  mine.become(attempt_frame::in_section);
}

/// Called in an attempt that has found the lock held.
[[gnu::noinline]] void give_way(when_busy how, const void* lock, held_test held) noexcept {
  if (how == when_busy::waits_inside) {
    // No pause here: it would abort the attempt on some CPUs. The release is a conflict, which aborts the attempt.
    while (held(lock)) machine::compiler_fence();
  }
  machine::abort_busy(lock);
}

/// What try_attempt() needs to know about a critical section.
struct section_request {
  site_page& how;
  const void* lock;
  latch_mode mode;
  held_test held;
};

[[gnu::always_inline]] inline attempt_status begin_timed(attempt_frame& mine, const site_page& how) noexcept {
  if (mine.timed_for == &how) [[unlikely]]
    mine.began = machine::cycles();
  return machine::begin();
}

[[gnu::always_inline]] inline attempt_status try_attempt(attempt_frame& mine, const section_request& asked) noexcept {
  const attempt_status status = begin_timed(mine, asked.how);
  if (status.started()) {
    if (asked.held(asked.lock)) [[unlikely]]
      give_way(asked.how.elides_by().busy, asked.lock, asked.held);
    record_outermost(mine, asked.how, asked.lock, asked.mode);
  }
  return status;
}

/// The number of the site that counts the outcome of an attempt or a section; or 0.
std::uint32_t counted_as(const site_page& how) noexcept { return observe::detail::counted_id(*how.get_site()); }
// Not inlined, so that a try that commits uses no registers for them.
[[gnu::noinline]] void count_abort(const site_page& how, const void* lock, attempt_status status) noexcept {
  // Otherwise note_site() would add them in the next attempt. A page fault at the counters would abort each attempt
  // there.
  observe::my_commits.add();
  const std::uint32_t number = counted_as(how);
  const abort_cause why = status.cause();
  if (number != 0) observe::detail::attempt_aborted(number, why);
  observe::report_abort(number, lock, why);
}
/// `status`: that of the last attempt.
[[gnu::noinline]] void count_failure(const site_page& how, const void* lock, attempt_status status) noexcept {
  const std::uint32_t number = counted_as(how);
  if (number != 0 && observe::detail::attempts_failed(number)) my_attempt_frame.times_losses = true;
  observe::report_fallback(number, lock, status.cause());
}
constexpr observe::commits_left own_commits_left = {
    .get = []() noexcept { return my_attempt_frame.countdown.commits_left(); },
    .set = [](std::uint32_t commits) noexcept { my_attempt_frame.countdown.set_commits_left(commits); }};

[[gnu::noinline]] void add_commits(attempt_frame& mine) noexcept {
  if (observe::add_commits(*mine.how.page().get_site(), own_commits_left)) mine.times_losses = true;
}

/// Ends the attempt, and counts it if it is to be counted.
void end_attempt(attempt_frame& mine) noexcept {
  const bool is_counted = mine.how.is_counted();
  if (machine::detail::aborts_undo_stores && is_counted) {
    mine.countdown.end_attempt();  // within the attempt: if it aborts here, this is undone
    machine::end();
  } else {
    mine.become(0);
    machine::end();
    if (is_counted) mine.countdown.end_attempt();
  }
  if (mine.countdown.commits_left() == 0) [[unlikely]]
    add_commits(mine);
}

/// What an abort leaves of the record, for machines where it is put back by hand (see above).
class kept_record {
 public:
  explicit kept_record(const attempt_frame& mine) noexcept {
    if constexpr (machine::detail::aborts_undo_stores) return;
    actions_ = mine.actions;
    guards_ = mine.guards;
  }
  void put_back(attempt_frame& mine) const noexcept {
    if constexpr (machine::detail::aborts_undo_stores) return;
    mine.count = 0;
    mine.become(0);
    mine.actions = actions_;
    mine.guards = guards_;
    mine.taken.forget();
  }

 private:
  std::uint8_t actions_ = 0;
  std::uint32_t guards_ = 0;
};

/// Called after the first attempt has aborted.
[[gnu::noinline]] bool enter_after(attempt_status status, attempt_frame& mine, section_request asked,
                                   elision_history& history, bool coarse) noexcept {
  const elision_policy& policy = asked.how.elides_by();
  retries decide(asked.how, history, asked.lock, asked.held);
  timed_sections& timed = my_memory_if_any()->timed;
  const kept_record kept(mine);
  for (;;) {
    timed.aborted();
    count_abort(asked.how, asked.lock, status);
    if (coarse) {
      coarse_attempt_aborted(history, is_capacity(status.cause()));
    } else {
      attempt_aborted(history, policy);
      if (!decide.again(status)) break;
    }
    coarse = is_coarse(history, policy);
    timed.again();
    status = try_attempt(mine, asked);
    if (status.started()) return true;
    kept.put_back(mine);
  }
  attempts_failed(history, asked.lock, policy, decide.why());
  timed.end(asked.how);
  count_failure(asked.how, asked.lock, status);
  if (decide.why() == failure::hopeless) bring_in_actions();
  return false;
}

bool enter_from_outside(attempt_frame& mine, const section_request& asked, elision_history& history) noexcept {
  const bool coarse = is_coarse(history, asked.how.elides_by());
  if (mine.times_losses) [[unlikely]] {
    mine.times_losses = false;
    if (asked.how.counts_attempts()) my_memory_if_any()->timed.begin_timing();
  }
  const kept_record kept(mine);
  const attempt_status status = try_attempt(mine, asked);
  if (status.started()) [[likely]]
    return true;
  kept.put_back(mine);
  return enter_after(status, mine, asked, history, coarse);
}

void commit(attempt_frame& mine, unsigned sections) noexcept {
  site_page& how = mine.how.page();
  const elision_policy& policy = how.elides_by();
  elision_history& history = elision_history_in_attempt(mine.outermost);
  end_attempt(mine);
  if (mine.timed_for == &how) [[unlikely]] {
    mine.timed_for = nullptr;
    // Readers run beside each other under the lock, too. So their length does not show what the lock can do.
    if (mine.sections[0].mode != latch_mode::shared)
      my_trial_sampler.took(&how.elision_trial, (machine::cycles() - mine.began) / sections, mine.outermost);
  }
  attempt_committed(history, policy, sections);
  if (sections > 1) [[unlikely]] {
    my_trial_sampler.add(&how.elision_trial, sections - 1);
    if (mine.how.is_counted()) observe::count_joined(*how.get_site(), sections - 1);
  }
  my_memory_if_any()->timed.end(how);
  if (mine.actions != 0 && mine.guards == 0) [[unlikely]]
    run_deferred();
}

[[gnu::noinline]] void look_at_trial(site_page& how, const elision_policy& policy) noexcept {
  attempt_frame& mine = my_attempt_frame;
  if (my_trial_sampler.look(mine.countdown, &how.elision_trial, how.elision_trial, policy.trial_cycles))
    mine.timed_for = &how;
  how.keep_elision_answer();
}

void look_now_and_then(site_page& how, const elision_policy& policy) noexcept {
  if (policy.adapts == adaptation::trial && my_trial_sampler.count(my_attempt_frame.countdown, &how.elision_trial))
      [[unlikely]]
    look_at_trial(how, policy);
}

elided_section* find(attempt_frame& mine, const void* lock) noexcept {
  for (std::uint32_t i = mine.count; i-- != 0;) {
    if (mine.sections[i].lock == lock) return &mine.sections[i];
  }
  return nullptr;
}

/// Whether critical sections of the site run in attempts at all. Called in an attempt, where nothing is decided.
bool is_elided_within(const site& the_site, const site_state& state) noexcept {
  const elision_policy* const decided = state.elision();
  return (decided != nullptr ? *decided : elision_policy_of(the_site)).attempts != 0;
}

/// The site's policy and page, outside the thread's own attempts. Without a page sections take the lock.
struct elision_choice {
  const elision_policy* policy;
  site_page* how;
};
elision_choice choice_of(site& the_site, site_state& seen) noexcept {
  site_state* state = &seen;
  if (state->elision() == nullptr) [[unlikely]]
    state = &decide_state(the_site, speculation::elision);
  const elision_policy* const policy = state->elision();
  // A site that makes attempts has a page.
  return {policy, policy->attempts == 0 ? nullptr : static_cast<site_page*>(state)};
}

}  // namespace

bool try_elision(site& the_site, site_state& state, const void* lock, latch_mode mode, held_test held) noexcept {
  attempt_frame& mine = my_attempt_frame;
  if (mine.is(attempt_frame::in_attempt)) {
    if (!is_elided_within(the_site, state)) return false;
    if (held(lock)) machine::abort_busy(lock);
    record(mine, lock, mode);
    return true;
  }
  const elision_choice chosen = choice_of(the_site, state);
  if (chosen.how == nullptr) return false;
  site_page& how = *chosen.how;
  const elision_policy& policy = *chosen.policy;
  look_now_and_then(how, policy);
  if (how.takes_lock()) return false;
  elision_history* const history = elision_history_of(lock);
  if (history == nullptr || !wants_attempt(*history, lock, policy)) return false;
  return enter_from_outside(mine, {how, lock, mode, held}, *history);
}

try_outcome try_enter_elided(site& the_site, const void* lock, latch_mode mode, held_test held) noexcept {
  attempt_frame& mine = my_attempt_frame;
  site_state& state = site_state::of(the_site);
  if (mine.is(attempt_frame::in_attempt)) {
    if (!is_elided_within(the_site, state)) return try_outcome::try_lock;
    const latch_mode within = elided_mode(lock);
    const bool own = within == latch_mode::exclusive || (within == latch_mode::shared && mode != latch_mode::shared);
    if (own || held(lock)) return try_outcome::busy;
    record(mine, lock, mode);
    return try_outcome::elided;
  }
  const elision_choice chosen = choice_of(the_site, state);
  if (chosen.how == nullptr) return try_outcome::try_lock;
  site_page& how = *chosen.how;
  const elision_policy& policy = *chosen.policy;
  // A failed try is no critical section.
  if (!held(lock)) look_now_and_then(how, policy);
  if (how.takes_lock()) return try_outcome::try_lock;
  elision_history* const history = elision_history_of(lock);
  if (history == nullptr || !wants_attempt(*history, lock, policy)) return try_outcome::try_lock;
  const kept_record kept(mine);
  const attempt_status status = begin_timed(mine, how);
  if (!status.started()) {
    kept.put_back(mine);
    count_abort(how, lock, status);
    attempt_aborted(*history, policy);
    attempts_failed(*history, lock, policy, failure_of(status, policy, lock, held));
    count_failure(how, lock, status);
    return try_outcome::try_lock;
  }
  if (held(lock)) {
    note_site(mine, how);
    end_attempt(mine);
    if (mine.how.is_counted()) observe::count_empty(*how.get_site());
    return try_outcome::busy;
  }
  record_outermost(mine, how, lock, mode);
  return try_outcome::elided;
}

bool leave_elided(const void* lock) noexcept {
  attempt_frame& mine = my_attempt_frame;
  elided_section* const found = find(mine, lock);
  if (found == nullptr) return false;
  order_before_sections(lock);
  --mine.count;
  for (elided_section* at = found; at != mine.sections + mine.count; ++at) *at = at[1];
  if (mine.count != 0) return true;
  const elision_policy& policy = mine.how.page().elides_by();
  unsigned sections = 1;
  if (policy.max_sections > 1) {
    sections = ++mine.done;
    const elision_history& history = elision_history_in_attempt(mine.outermost);
    if (mine.actions == 0 && is_coarse(history, policy) && sections < history.coarsening_factor) {
      mine.become(attempt_frame::coarsened);
      return true;
    }
  }
  commit(mine, sections);
  return true;
}

latch_mode elided_mode(const void* lock) noexcept {
  const elided_section* const found = find(my_attempt_frame, lock);
  return found == nullptr ? latch_mode::none : found->mode;
}

void change_elided_mode(const void* lock, latch_mode mode) noexcept {
  elided_section* const found = find(my_attempt_frame, lock);
  if (found != nullptr) found->mode = mode;
}

}  // namespace detail

void commit_coarsened() noexcept {
  detail::attempt_frame& mine = detail::my_attempt_frame;
  if (mine.is(detail::attempt_frame::coarsened)) detail::commit(mine, mine.done);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
