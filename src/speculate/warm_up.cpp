// SPDX-License-Identifier: Apache-2.0
// What a waiter does (always-abort paper, III-A to III-C), when that pays, and how the bounds of a body are kept.
#include <txsync/machine/assert.hpp>
#include <txsync/speculate/warm_up.hpp>

#include <txsync/machine/attempt.hpp>
#include <txsync/observe/counters.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr auto relaxed = std::memory_order_relaxed;

/// The prefetch before the lock needs no waiters that settle into alternate sleeping and looking. If it hurts, it hurts
/// each critical section.
constexpr std::uint32_t before_lock_windows_shorter = 4;

/// When a warm-up begins, in machine::cycles(). 0: it is not counted.
std::uint64_t begin_counted(const detail::site_state& state) noexcept {
  return state.get_site() != nullptr && state.get_site()->is_counted() ? machine::cycles() | 1 : 0;
}
/// For an always-abort attempt, with the cause of its end.
void end_counted(const detail::site_state& state, std::uint64_t began, const abort_cause* attempt_ended_by) noexcept {
  if (began == 0) return;
  const std::uint64_t now = machine::cycles();
  observe::detail::warmed_up(observe::detail::counted_id(*state.get_site()), now > began ? now - began : 0,
                             attempt_ended_by);
}

/// Whether the next trial is that of the prefetch before the lock: the trial under way, else the one due first. Without
/// a closure that trial may begin only to find that the other mode has ended: its sections then tie.
bool tries_before_lock_next(const detail::site_page& page, const warm_up_policy& policy, bool has_call) noexcept {
  if (policy.early != prefetch_before_lock::where_faster) return false;
  if (page.before_lock_trial.in_trial()) return true;
  if (page.warm_up_trial.in_trial() || (!page.before_lock_trial.second() && !has_call)) return false;
  return page.before_lock_trial.next_trial() < page.warm_up_trial.next_trial();
}
}  // namespace

bool warm_memory::false_or_leave() noexcept {
  if (machine::is_guarded()) machine::leave_guarded();
  return false;
}

namespace detail {

constinit thread_local count_down until_warm_look;

/// Two trials, one after the other: whether warm-up during waits pays, and whether it does more before them.
void look_at_warm_trial(site_page& page, bool has_call) noexcept {
  const warm_up_policy& policy = page.warms_by();
  // As in count_warm_section(): the page stands for the site's warm-up.
  if (tries_before_lock_next(page, policy, has_call)) {
    my_trial_sampler.look(until_warm_look, &page, page.before_lock_trial,
                          policy.trial_cycles / before_lock_windows_shorter);
  } else {
    my_trial_sampler.look(until_warm_look, &page, page.warm_up_trial, policy.trial_cycles);
  }
  page.keep_warm_up_answer();
}

bool run_warm(warm_call& call) noexcept {
  const auto body = [](void* raw) {
    auto& mine = *static_cast<warm_call*>(raw);
    mine.run(mine);
  };
  return machine::run_guarded(body, &call) == machine::guarded_end::returned;
}

}  // namespace detail

/// Runs the call. True: it need not run again.
bool warm_wait::run(warm_memory& memory) noexcept {
  call_->memory = &memory;
  const std::uint64_t began = begin_counted(state_);
  const bool is_done = detail::run_warm(*call_);
  end_counted(state_, began, nullptr);
  return is_done;
}

void warm_wait::run_before_lock() noexcept {
  TXSYNC_ASSERT(call_ != nullptr, "there is a call that is run before the lock is asked for");
  if (tries_ == 0) return;
  if (policy_.speculators != 0 && !join(policy_.speculators)) return;
  warm_memory memory(policy_.max_accesses);
  is_warm_ = run(memory);
  if (is_warm_) tries_ = 0;
  if (policy_.speculators != 0) leave();
}

wait_task::result warm_wait::run_once(const lock_wait& wait) noexcept {
  if (is_warm_) [[unlikely]] {
    is_warm_ = false;
    return result::ran;  // once, for locks that serve warm waiters first
  }
  if (tries_ == 0 || wait.ahead < policy_.nearest || wait.ahead > policy_.farthest) return result::nothing;
  if (call_ == nullptr && !machine::htm().always_abort) return result::nothing;
  if (policy_.speculators != 0 && !join(policy_.speculators)) return result::nothing;
  --tries_;
  if (call_ == nullptr) {
    if (attempt(wait) == result::in_attempt) return result::in_attempt;
  } else {
    warm_memory memory(wait, policy_.max_accesses);
    if (run(memory) && !wait.over()) tries_ = 0;
  }
  if (policy_.speculators != 0) leave();
  return result::ran;
}

/// If a policy limits how many threads warm up, the site has a page.
std::atomic<std::uint32_t>& warm_wait::speculators() const noexcept {
  return static_cast<detail::site_page&>(state_).speculators;
}

/// Counts the caller among the threads that warm up. False: the limit is reached.
bool warm_wait::join(std::uint32_t most) noexcept {
  // relaxed: bounds a number, orders nothing. The load keeps threads that would be refused from writing the line
  std::atomic<std::uint32_t>& all = speculators();
  if (all.load(relaxed) >= most) return false;
  if (all.fetch_add(1, relaxed) < most) return true;
  all.fetch_sub(1, relaxed);  // relaxed: as above
  return false;
}

void warm_wait::leave() noexcept {
  speculators().fetch_sub(1, relaxed);  // relaxed: as in join()
}

/// One always-abort attempt. It returns at once inside the attempt, and again when the attempt has aborted.
wait_task::result warm_wait::attempt(const lock_wait& wait) noexcept {
  const std::uint64_t began = begin_counted(state_);
  TXSYNC_ASSERT(machine::htm().always_abort && !machine::active(),
                "the machine has always-abort attempts, and the thread is in no attempt");
  const machine::attempt_status status = machine::warm_begin();
  if (!status.started()) {
    const abort_cause why = status.cause();
    end_counted(state_, began, &why);
    return result::ran;
  }
  // III-D does the same with the release of a barrier: the later write aborts the attempt.
  if (policy_.watches && wait.ahead == 1 && wait.over()) machine::abort_busy(wait.place);
  return result::in_attempt;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
