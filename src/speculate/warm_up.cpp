// SPDX-License-Identifier: Apache-2.0
// What a waiter does (always-abort paper, III-A to III-C), when that pays, and how a body is kept within bounds.
#include <txsync/speculate/warm_up.hpp>

#include <txsync/machine/attempt.hpp>
#include <txsync/observe/counters.hpp>

namespace txsync::inline TXSYNC_BACKEND {

constinit warm_up warm_up::unnamed_{};

namespace {
constexpr auto relaxed = std::memory_order_relaxed;

/// What is run before the lock needs no waiters that settle into sleeping and looking in turns, and where it hurts, it
/// hurts each section.
constexpr std::uint32_t early_trials_shorter = 4;

/// When a warm-up begins: machine::cycles(). 0: it is not counted.
std::uint64_t begin_counted(const warm_up& role) noexcept {
  return role.place() != nullptr ? machine::cycles() | 1 : 0;
}
void end_counted(const warm_up& role, std::uint64_t began, bool in_attempt) noexcept {
  if (began == 0) return;
  const std::uint64_t now = machine::cycles();
  observe::detail::warmed_up(observe::detail::counted_id(*role.place()), now > began ? now - began : 0, in_attempt);
}
}  // namespace

/// The one under way, else the one whose time comes first. One may begin without a closure only to find that the other
/// way is over: its sections then tie.
bool warm_up::tries_early_next(bool has_call) const noexcept {
  if (policy_.early != warm_early::where_faster) return false;
  if (early_.in_trial()) return true;
  if (ways_.in_trial() || (!early_.second() && !has_call)) return false;
  return early_.next_trial() < ways_.next_trial();
}

/// Nothing is early while the first trial is under way: it asks what would be without.
void warm_up::keep_answers() noexcept {
  const bool is_early = early_.second() && (early_.in_trial() || !ways_.in_trial());
  const detail::warmth otherwise = ways_.second() ? detail::warmth::never : detail::warmth::waiting;
  const detail::warmth now = is_early ? detail::warmth::early : otherwise;
  // relaxed: advice. Who is overtaken here writes what was so before, until somebody's next look
  if (when() != now) when_.store(now, relaxed);
}

bool warm_memory::false_or_leave() noexcept {
  if (machine::is_guarded()) machine::leave_guarded();
  return false;
}

namespace detail {

constinit thread_local count_down until_warm_look;

/// Two trials, one after the other: whether warm-up in waits pays, and whether it does more before them.
void look_at_warm_trial(warm_up& role, bool has_call) noexcept {
  const warm_up_policy& policy = role.policy_;
  if (role.tries_early_next(has_call)) {
    my_turns.look(until_warm_look, &role, role.early_, policy.trial_cycles / early_trials_shorter);
  } else {
    my_turns.look(until_warm_look, &role, role.ways_, policy.trial_cycles);
  }
  role.keep_answers();
}

bool run_warm(warm_call& call) noexcept {
  const auto body = [](void* raw) {
    auto& mine = *static_cast<warm_call*>(raw);
    mine.run(mine);
  };
  return machine::run_guarded(body, &call) == machine::guarded_end::returned;
}

}  // namespace detail

/// Runs the call. True: it need not be run again.
bool warm_wait::run(warm_memory& memory) noexcept {
  call_->memory = &memory;
  const std::uint64_t began = begin_counted(role_);
  const bool is_done = detail::run_warm(*call_);
  end_counted(role_, began, false);
  return is_done;
}

void warm_wait::spend_early() noexcept {
  if (tries_ == 0) return;
  const warm_up_policy& policy = role_.policy_;
  if (policy.speculators != 0 && !join(policy.speculators)) return;
  warm_memory memory(policy.most_accesses);
  is_warm_ = run(memory);
  if (is_warm_) tries_ = 0;
  if (policy.speculators != 0) leave();
}

pastime::spent warm_wait::spend(const lock_wait& wait) noexcept {
  if (is_warm_) [[unlikely]] {
    is_warm_ = false;
    return spent::time;  // once, for locks that go to warm waiters first
  }
  const warm_up_policy& policy = role_.policy_;
  if (tries_ == 0 || wait.ahead < policy.nearest || wait.ahead > policy.farthest) return spent::nothing;
  if (call_ == nullptr && !machine::htm().always_abort) return spent::nothing;
  if (policy.speculators != 0 && !join(policy.speculators)) return spent::nothing;
  --tries_;
  if (call_ == nullptr) {
    if (attempt(wait) == spent::inside_attempt) return spent::inside_attempt;
  } else {
    warm_memory memory(wait, policy.most_accesses);
    if (run(memory) && !wait.over()) tries_ = 0;
  }
  if (policy.speculators != 0) leave();
  return spent::time;
}

/// Counts the caller among those that warm up. False: they are as many as may.
bool warm_wait::join(std::uint32_t most) noexcept {
  // relaxed: a limit of how many, which orders nothing. The load keeps those away from the line who would be refused
  if (role_.speculators_.load(relaxed) >= most) return false;
  if (role_.speculators_.fetch_add(1, relaxed) < most) return true;
  role_.speculators_.fetch_sub(1, relaxed);  // relaxed: as above
  return false;
}

void warm_wait::leave() noexcept {
  role_.speculators_.fetch_sub(1, relaxed);  // relaxed: as in join()
}

/// One always-abort attempt; inside it returns at once, and again when it has aborted.
pastime::spent warm_wait::attempt(const lock_wait& wait) noexcept {
  const std::uint64_t began = begin_counted(role_);
  if (!machine::warm_begin().started()) {
    end_counted(role_, began, true);
    return spent::time;
  }
  // III-D does so with the release of a barrier: what is written then aborts the attempt.
  if (role_.policy_.watches && wait.ahead == 1 && wait.over()) machine::abort_busy(wait.place);
  return spent::inside_attempt;
}

}  // namespace txsync::inline TXSYNC_BACKEND
