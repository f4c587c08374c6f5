// SPDX-License-Identifier: Apache-2.0
// What a waiter does (always-abort paper, III-A to III-C), and how a body is kept within bounds.
#include <txsync/speculate/warm_up.hpp>

#include <txsync/machine/attempt.hpp>

namespace txsync::inline TXSYNC_BACKEND {

constinit warm_up warm_up::unnamed_{};

namespace {
constexpr auto relaxed = std::memory_order_relaxed;
}  // namespace

bool warm_memory::false_or_leave() noexcept {
  if (machine::is_guarded()) machine::leave_guarded();
  return false;
}

namespace detail {

constinit thread_local count_down until_warm_look;

/// Two trials in turns: whether warm-up in waits pays, and whether it does more before them. While the second says so,
/// nobody asks the first.
void look_at_warm_trial(warm_up& role, bool has_call) noexcept {
  const auto look = [&](two_ways& ways) noexcept {
    const std::uint32_t window = role.policy_.trial_cycles;
    return my_turns.look(until_warm_look, &role, ways, &ways == &role.early_ ? window / 4 : window);
  };
  const bool may_be_early = has_call && role.policy_.early == warm_early::where_faster;
  if (may_be_early && (role.early_.in_trial() || !role.early_.second())) {
    look(role.early_);
  } else if (!look(role.ways_) && may_be_early) {
    look(role.early_);
  }
  // relaxed: advice. Who is overtaken here writes what was so before, until somebody's next look
  const warmth said = role.ways_.second() ? warmth::never : warmth::waiting;
  const warmth now = role.early_.second() ? said : warmth::early;
  if (role.when() != now) role.when_.store(now, relaxed);
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
  return detail::run_warm(*call_);
}

void warm_wait::spend_early() noexcept {
  if (tries_ == 0) return;
  const warm_up_policy& policy = role_.policy_;
  if (policy.speculators != 0 && !join(policy.speculators)) return;
  warm_memory memory(policy.most_accesses);
  if (run(memory)) tries_ = 0;
  if (policy.speculators != 0) leave();
}

pastime::spent warm_wait::spend(const lock_wait& wait) noexcept {
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
  if (!machine::warm_begin().started()) return spent::time;
  // III-D does so with the release of a barrier: what is written then aborts the attempt.
  if (role_.policy_.watches && wait.ahead == 1 && wait.over()) machine::abort_busy(wait.place);
  return spent::inside_attempt;
}

}  // namespace txsync::inline TXSYNC_BACKEND
