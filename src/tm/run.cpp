// SPDX-License-Identifier: Apache-2.0
// Atomic blocks from beginning to end. An attempt that cannot go on jumps back to its beginning, over the body's
// frames. That takes some nanoseconds, where an exception would take a microsecond.
#include <cstdlib>
#include <cstring>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/tm/atomically.hpp>

#include "locks/backoff.hpp"
#include "tm/algorithms.hpp"
#include "tm/hybrid/hardware.hpp"
#include "tm/stm/dctl.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

constexpr std::uint32_t first_backoff = 64;  // cycles
constexpr std::uint32_t max_doublings = 8;
constexpr std::uint64_t look_cycles = 4'000;  // at an orec that another transaction owns
constexpr unsigned look_turns = 64;           // then so many yields to other threads

/// The next attempt would be serial. It would wait for the owner, too, and all others would wait for it. So the thread
/// waits here, without a bound: a body may take long, or never end.
void wait_for_long_owner(const runner& me) noexcept {
  txsync::detail::patient_spin waiting;
  // relaxed: only decides how long to wait
  while (me.met->load(std::memory_order_relaxed) == me.met_owner && still_runs(me.met_in)) {
    refuse_if_left_behind(*me.met_in.who);
    waiting.wait(first_backoff);
  }
}

/// Before the next attempt: until the owner that the last one met has ended, or was preempted for a while.
[[gnu::noinline]] void wait_before_attempt(runner& me) noexcept {
  me.alternative = nullptr;
  if (me.failures == 0) return;
  if (me.met == nullptr) {
    txsync::detail::jitter random(&me);
    const std::uint32_t doublings = me.failures < max_doublings ? me.failures : max_doublings;
    txsync::detail::pause_for(random.upto(std::uint64_t{first_backoff} << doublings));
    return;
  }
  // relaxed: only decides how long to wait
  const auto owned = [&] { return me.met->load(std::memory_order_relaxed) == me.met_owner; };
  const std::uint64_t start = machine::cycles();
  while (owned() && machine::cycles() - start < look_cycles) machine::relax();
  for (unsigned turn = 0; turn < look_turns && owned(); ++turn) machine::yield();
  if (me.met_must_end) {
    txsync::detail::patient_spin waiting;
    while (owned()) waiting.wait(first_backoff);
  }
  if (owned() && me.failures >= me.where->policy().attempts) wait_for_long_owner(me);
  me.met = nullptr;
  me.met_must_end = false;
}

// These calls are kept out of what every attempt does, so that it saves no registers for them.
[[gnu::noinline]] void begin_by_itself(runner& me) {
  enter_serial(me);
  me.mode = me.is_irrevocable() ? run_mode::irrevocable : run_mode::serial;
  me.how = &serial;
  if (me.keeps_timestamp) drop_timestamp(me);
  begin_serial(me);
}

/// By another algorithm than dctl, or after a failed attempt.
[[gnu::noinline]] void begin_in_turn(runner& me, const algorithm& how) {
  me.mode = run_mode::software;
  me.has_unlogged = false;
  me.how = &how;
  if (me.keeps_timestamp && &how != &two_phase) drop_timestamp(me);
  how.begin(me);
}

/// How an attempt has begun.
enum class kind : std::uint8_t { by_bias, in_software, irrevocable };

kind begin_attempt(runner& me) {
  if (!me.reads.empty()) me.reads.clear();
  if (!me.undo.empty()) me.undo.clear();
  clear_extras(me);
  if (me.is_marked) [[unlikely]]
    wait_before_attempt(me);
  if (me.goes_by_itself()) [[unlikely]] {
    begin_by_itself(me);
    return me.is_irrevocable() ? kind::irrevocable : kind::in_software;
  }
  enter(me);
  const algorithm& how = algorithm_now();
  if (&how != &dctl || me.is_marked) [[unlikely]] {
    begin_in_turn(me, how);
    return kind::in_software;
  }
  if (--me.until_look == 0) [[unlikely]]
    look_for_others(me);
  if (has_bias(me)) {
    me.mode = run_mode::software;
    me.has_unlogged = true;
    me.how = &biased;
    me.set_bound(engine::every_version);
    return kind::by_bias;
  }
  me.mode = run_mode::software;
  me.has_unlogged = false;
  me.how = &dctl;
  begin_dctl(me);
  return kind::in_software;
}

void leave_by_mode(runner& me) noexcept {
  if (me.mode == run_mode::software) {
    leave(me);
  } else {
    leave_serial(me);
  }
}

[[noreturn]] void jump_to_start(runner& me) { machine::jump_to(*me.beginning); }

/// The actions may run blocks, which use the same logs.
void run_actions(growing_log<txsync::detail::deferred_action>& list) noexcept {
  if (list.empty()) [[likely]]
    return;
  growing_log<txsync::detail::deferred_action> now;
  now.swap(list);
  for (txsync::detail::deferred_action& one : now) one.run(one.data);
}

/// What follows a commit, however the transaction was run. Requires: the thread runs none any more.
void settle(runner& me) noexcept {
  TXSYNC_ASSERT((me.activity.load(std::memory_order_relaxed) & 1) == 0, "the thread runs no transaction any more");
  if (!me.has_extras) [[likely]]
    return;
  if (me.privatizes) wait_for_running(me);
  if (!me.gone.empty()) bury_gone(me);
  keep_all_made(me);
  run_actions(me.commit_actions);
}

bool commit_by_algorithm(runner& me) { return me.how == &dctl ? commit_dctl(me) : me.how->commit(me); }

void wake_if_asleep(runner& me) noexcept {
  machine::light_fence();  // pairs with the heavy fence of a thread that is about to sleep
  // relaxed: after the fence
  if (shared.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_sleepers(me);
}

void commit_attempt(runner& me) {
  const run_mode mode = me.mode;
  order_before_blocks();
  const bool wrote = commit_by_algorithm(me) || mode == run_mode::irrevocable;
  leave_by_mode(me);
  if (wrote) wake_if_asleep(me);
  close_accesses(me);
  me.counts->transactions.commits.add(1);
  if (mode != run_mode::software) [[unlikely]]
    me.counts->transactions.alone.add(1);
  settle(me);
}

/// The same for an attempt that began under the gate's bias.
void commit_biased(runner& me) {
  order_before_blocks();
  const bool wrote = commit_serial(me);
  leave(me);
  if (wrote) wake_if_asleep(me);
  close_accesses_only(me);
  me.counts->transactions.commits.add(1);
  settle(me);
}

/// An exception leaves the body. What an irrevocable block has done stays.
void give_up(runner& me) {
  if (me.mode == run_mode::irrevocable) return commit_attempt(me);
  me.counts->transactions.aborts[static_cast<std::size_t>(abort_cause::user)].add(1);
  abandon(me);
  report_abort(me, abort_cause::user);
  run_actions(me.abort_actions);
}

/// Runs the thread's first block, or a block that is not among the last two that it learnt.
[[gnu::noinline]] void run_first(block& where, const erased_body& body, void* data) {
  runner::mine().learn(where);
  run(where, body, data);
}

[[gnu::noinline]] void run_within(runner& me, const block& where, const erased_body& body, void* data) {
  if (where.policy().irrevocable && me.mode != run_mode::irrevocable) restart_irrevocable(me);
  if (me.mode == run_mode::hardware || me.mode == run_mode::irrevocable) {
    body.directly(data, me.directly);
  } else {
    body.in_software(data, me);
  }
}

}  // namespace

void abandon(runner& me) noexcept {
  order_before_blocks();
  me.how->roll_back(me);
  drop_made(me);
  leave_by_mode(me);
  close_accesses(me);
}

void refuse(const char* why) noexcept {
  constexpr char before[] = "txsync: ";
  char text[256];
  std::size_t length = sizeof before - 1;
  std::memcpy(text, before, length);
  while (*why != '\0' && length < sizeof text - 1) text[length++] = *why++;
  text[length++] = '\n';
  machine::complain(text, length);
  std::abort();
}

void refuse_outside() noexcept { refuse("a transaction was used outside of its block"); }

void restart(engine& engine, abort_cause why) {
  runner& me = runner_of(engine);
  me.counts->transactions.aborts[static_cast<std::size_t>(why)].add(1);
  ++me.failures;
  me.is_marked = true;
  abandon(me);
  report_abort(me, why);
  jump_to_start(me);
}

void restart_irrevocable(engine& engine) {
  runner& me = runner_of(engine);
  require_block(me);
  leave_hardware(me);
  me.wants_irrevocable = true;
  me.is_marked = true;
  abandon(me);
  jump_to_start(me);
}

void retry(engine& engine) {
  runner& me = runner_of(engine);
  require_block(me);
  leave_hardware(me);
  if (me.alternative != nullptr) machine::jump_to(*me.alternative);
  if (me.mode == run_mode::irrevocable) refuse("retry() in an irrevocable block, which cannot be undone");
  if (me.has_unlogged && (me.how->add_reads != nullptr || !me.wants_log)) {
    me.wants_log = true;
    me.is_marked = true;
    abandon(me);
  } else if (!sleep_until_changed(me)) {
    refuse("retry() in an atomic block that has read nothing: it could never go on");
  }
  jump_to_start(me);
}

bool run_alternative(engine& engine, erased_code first, void* data) {
  runner& me = runner_of(engine);
  require_block(me);
  const log_mark before = me.mark();
  machine::jump_target* const outer = me.alternative;
  machine::jump_target here;
  if (!TXSYNC_LAND(here)) {
    me.alternative = &here;
    try {
      first(data, me);
    } catch (...) {
      me.alternative = outer;
      throw;
    }
    me.alternative = outer;
    return true;
  }
  me.alternative = outer;
  me.how->roll_back_to(me, before);
  give_up_made(me, before.made);
  me.gone.truncate(before.gone);
  me.commit_actions.truncate(before.on_commit);
  me.abort_actions.truncate(before.on_abort);
  return false;
}

void run(block& where, const erased_body& body, void* data) {
  runner* const found = runner::mine_if_any();
  if (found == nullptr) [[unlikely]]
    return run_first(where, body, data);
  runner& me = *found;
  if (me.mode != run_mode::idle) [[unlikely]]
    return run_within(me, where, body, data);
  if (!me.knows(where)) [[unlikely]]
    return run_first(where, body, data);
  me.begin_block(where);
  if (algorithm_now().in_hardware && run_in_hardware(me, body, data)) [[unlikely]]
    return settle(me);
  machine::jump_target start;
  me.beginning = &start;
  static_cast<void>(TXSYNC_LAND(start));  // every attempt begins here
  const kind begun = begin_attempt(me);
  order_behind_blocks();
  try {
    if (begun == kind::irrevocable) [[unlikely]] {
      body.directly(data, me.directly);
    } else {
      body.in_software(data, me);
    }
  } catch (...) {
    give_up(me);
    throw;
  }
  if (begun == kind::by_bias) {
    commit_biased(me);
  } else {
    commit_attempt(me);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
