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
#include "tm/hybrid/announcements.hpp"
#include "tm/hybrid/hardware.hpp"
#include "tm/hybrid/path_choice.hpp"
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
  me.in_place = engine::nobody;
  me.how = &serial;
  if (me.keeps_timestamp) drop_timestamp(me);
  begin_serial(me);
  if (me.mode == run_mode::irrevocable) {
    const bool notes = shared.sleepers.load(std::memory_order_relaxed) != 0;  // relaxed: of others nothing is known
    me.written.begin(notes);
    if (notes) me.duties = notes_stripes;
  }
}

void leave_by_mode(runner& me) noexcept {
  if (me.mode == run_mode::software) {
    leave(me);
  } else {
    leave_serial(me);
  }
}

/// The actions may run blocks, which use the same logs.
void run_actions(growing_log<txsync::detail::deferred_action>& list) noexcept {
  if (list.empty()) [[likely]]
    return;
  growing_log<txsync::detail::deferred_action> now;
  now.swap(list);
  for (txsync::detail::deferred_action& one : now) one.run(one.data);
}

/// What few transactions have to do after a commit. Requires: the thread runs none any more.
[[gnu::noinline]] void settle_extras(runner& me) noexcept {
  TXSYNC_ASSERT((me.activity.load(std::memory_order_relaxed) & 1) == 0, "the thread runs no transaction any more");
  if (me.privatizes) wait_for_running(me);
  if (!me.gone.empty()) bury_gone(me);
  keep_all_made(me);
  run_actions(me.commit_actions);
}
/// What follows a commit, however the transaction was run.
void settle(runner& me) noexcept {
  if (me.has_extras) [[unlikely]]
    settle_extras(me);
}

/// For a thread that has written. Those that sleep may wait for that.
bool others_sleep() noexcept {
  machine::light_fence();  // pairs with the heavy fence of a thread that is about to sleep
  return shared.sleepers.load(std::memory_order_relaxed) != 0;  // relaxed: after the fence
}

/// The attempt has seen which rights the block needs. It leaves nothing else.
void end_scouting(runner& me) noexcept {
  abandon(me);
  me.wants_scout = false;
  me.has_scouted = true;
}

void commit_attempt(runner& me) {
  if (me.is_scout) [[unlikely]]
    return end_scouting(me);
  const run_mode mode = me.mode;
  order_before_blocks();
  const bool wrote = me.how->commit(me) || mode == run_mode::irrevocable;
  leave_by_mode(me);
  if (wrote && others_sleep()) wake_sleepers(me);
  close_accesses(me);
  me.counts->transactions.commits.add(1);
  if (mode != run_mode::software) me.counts->transactions.alone.add(1);
  settle(me);
}

/// An exception leaves the body. What an irrevocable block has done stays.
[[gnu::noinline]] void give_up(runner& me) {
  if (me.mode == run_mode::irrevocable) return commit_attempt(me);
  me.counts->transactions.aborts[static_cast<std::size_t>(abort_cause::user)].add(1);
  abandon(me);
  report_abort(me, abort_cause::user);
  run_actions(me.abort_actions);
}

/// An attempt that has begun, to its commit.
void run_body_and_commit(runner& me) {
  order_behind_blocks();
  try {
    if (me.mode == run_mode::irrevocable) {
      me.body->directly(me.data, me.directly);
    } else {
      me.body->in_software(me.data, me.seen_by_bodies());
    }
  } catch (...) {
    give_up(me);
    throw;
  }
  commit_attempt(me);
}

/// How the software half of a transaction of dctl begins and ends: alone, or as that of auto.
enum class beside : bool { software, hardware };

/// The end of a transaction that began ready (get_ready()): the next one is ready, too, if its block is the same.
template <beside what>
[[gnu::always_inline]] inline void end_quickly(runner& me) noexcept {
  me.reads.clear();
  me.set_bound(0);  // dctl then refuses every access
  me.mode = run_mode::idle;
  me.counts->transactions.commits.add(1);
  if (me.has_extras) [[unlikely]]
    return settle_extras(me);
  if (what == beside::hardware) {
    if (me.until_timed == 1) return;  // choose_path() has to look at the next one
    --me.until_timed;
  }
  me.ready_for = me.where;
}

template <beside what>
[[gnu::noinline]] void end_waking(runner& me) noexcept {
  if (is_waited_for(me.undo)) wake_sleepers(me);
  me.undo.clear();
  end_quickly<what>(me);
}
/// The same, if it has written.
template <beside what>
[[gnu::always_inline]] inline void end_writing_quickly(runner& me) noexcept {
  if (others_sleep()) [[unlikely]]
    return end_waking<what>(me);
  me.undo.clear();
  end_quickly<what>(me);
}

/// Commits what a transaction of dctl has written.
template <beside what>
[[gnu::noinline]] void commit_writes(runner& me) {
  commit_owned(me);
  leave(me);
  me.owned.clear();
  end_writing_quickly<what>(me);
}

/// An attempt by dctl of a thread that was ready, and has entered.
template <beside what>
[[gnu::always_inline]] inline void run_by_dctl(runner& me) {
  if (what == beside::hardware) announce(me);
  me.mode = run_mode::software;
  me.has_unlogged = false;
  const unsigned learnt = me.where->learnt();
  me.logs_reads = (learnt & block::writes) != 0;
  me.set_bound((learnt & block::starts_late) == 0 ? shared.clock.load() : move_clock(me));
  try {
    me.body->in_software(me.data, me.seen_by_bodies());
  } catch (...) {
    give_up(me);
    throw;
  }
  if (!me.owned.empty()) return commit_writes<what>(me);
  leave(me);
  end_quickly<what>(me);
}

/// The same under the gate's bias.
template <beside what>
void run_by_bias(runner& me) {
  me.mode = run_mode::software;
  me.has_unlogged = true;
  me.how = &biased;
  me.set_bound(engine::every_version);
  try {
    me.body->in_software(me.data, me.seen_by_bodies());
  } catch (...) {
    give_up(me);
    throw;
  }
  leave(me);
  me.how = &dctl;
  if (commit_serial(me)) return end_writing_quickly<what>(me);
  end_quickly<what>(me);
}

/// By another algorithm than dctl, or after a failed attempt, once the thread has entered.
[[gnu::noinline]] void run_entered(runner& me) {
  const algorithm& how = algorithm_now();
  me.mode = run_mode::software;
  me.has_unlogged = false;
  me.in_place = engine::nobody;
  me.how = &how;
  if (me.keeps_timestamp && &how != &two_phase) drop_timestamp(me);
  how.begin(me);
  run_body_and_commit(me);
}

/// Any attempt.
void run_in_turn(void* thread) {
  runner& me = *static_cast<runner*>(thread);
  me.reads.clear();
  me.values.clear();
  me.undo.clear();
  clear_extras(me);
  if (me.is_marked) wait_before_attempt(me);
  if (me.goes_by_itself()) {
    begin_by_itself(me);
    return run_body_and_commit(me);
  }
  enter(me);
  run_entered(me);
}

/// Looks for other threads, which it does once in a while.
template <beside what>
[[gnu::noinline]] void run_looking(runner& me) {
  look_for_others(me);
  if (has_bias(me)) return run_by_bias<what>(me);
  run_by_dctl<what>(me);
}

/// The gate is closed, or biased to another thread.
template <beside what>
[[gnu::noinline]] void run_behind_gate(runner& me) {
  wait_for_gate(me);
  if (&algorithm_now() != me.ready_by) return run_entered(me);
  if (--me.until_look == 0) return run_looking<what>(me);
  run_by_dctl<what>(me);
}

/// The gate was biased to the thread when it entered. A thread that ends the bias waits, so no other one runs blocks.
/// The algorithm in use is the thread's, since a thread that chooses another one ends the bias first.
template <beside what>
[[gnu::noinline]] void run_biased(runner& me) {
  TXSYNC_ASSERT(&algorithm_now() == me.ready_by, "the gate is biased only while the algorithm stays in use");
  if (--me.until_look == 0) [[unlikely]]
    return run_looking<what>(me);
  run_by_bias<what>(me);
}

/// The first attempt of most transactions. Nothing is kept in registers over calls, so it saves none.
template <beside what>
void run_quickly(void* thread) {
  runner& me = *static_cast<runner*>(thread);
  TXSYNC_ASSERT_VALUE(me.is_clean() && me.how == &dctl, "the thread is ready: the last transaction has left nothing");
  me.ready_for = nullptr;
  const std::uintptr_t state = begin_to_enter(me);
  if (state != gate_open) [[unlikely]]
    return is_open_for(state, me) ? run_biased<what>(me) : run_behind_gate<what>(me);
  // acquire: as in algorithm_now()
  if (shared.in_use.load(std::memory_order_acquire) != me.ready_by) [[unlikely]]
    return run_entered(me);
  if (--me.until_look == 0) [[unlikely]]
    return run_looking<what>(me);
  run_by_dctl<what>(me);
}

/// For run_quickly(): with that, nothing but the gate and the algorithm in use remains to be looked at.
void get_ready(runner& me, const algorithm& how) {
  me.reads.clear();
  me.values.clear();
  me.undo.clear();
  clear_extras(me);
  begin_with_orecs(me);
  me.in_place = me.engine::mine;
  me.how = &dctl;
  me.ready_by = &how;
  me.begins_by = &how == &dctl ? run_quickly<beside::software> : run_quickly<beside::hardware>;
}

[[gnu::noinline]] void run_within(runner& me, const block& where, const erased_body& body, void* data) {
  if (where.policy().irrevocable && me.mode != run_mode::irrevocable) restart_irrevocable(me);
  if (me.mode == run_mode::hardware || me.mode == run_mode::irrevocable) {
    body.directly(data, me.directly);
  } else {
    body.in_software(data, me.seen_by_bodies());
  }
}

void run_in_software(runner& me, const algorithm& how) {
  const bool is_quick = &how == &dctl || &how == &automatic;
  if (is_quick && !me.goes_by_itself() && machine::calls_are_recorded()) {
    get_ready(me, how);
    machine::call_recorded_from(me.beginning, me.begins_by, &me);
  } else {
    machine::call_from(me.beginning, run_in_turn, &me);
  }
}

/// When the hardware attempts have failed. Behind a scout there are others.
void go_on_behind_attempts(runner& me, const algorithm& how) {
  for (;;) {
    me.has_scouted = false;
    machine::call_from(me.beginning, run_in_turn, &me);
    if (!me.has_scouted) return withdraw_soon(me);
    if (run_in_hardware(me, how, *me.body, me.data)) return settle(me);
  }
}

/// A block under an algorithm that makes hardware attempts.
void run_on_a_path(runner& me, block& where, const algorithm& how, const erased_body& body, void* data) {
  const path_taken taken = &how == &automatic ? choose_path(me) : path_taken{.in_hardware = true};
  if (taken.in_hardware && run_in_hardware(me, how, body, data)) {
    settle(me);
  } else {
    me.body = &body;
    me.data = data;
    if (taken.in_hardware) {
      go_on_behind_attempts(me, how);
    } else {
      run_in_software(me, how);
    }
  }
  end_path(me, where, taken);
}

/// A block of a thread that is not ready for it.
[[gnu::noinline]] void run_otherwise(block& where, const erased_body& body, void* data) {
  runner& me = runner::mine();
  if (me.mode != run_mode::idle) return run_within(me, where, body, data);
  me.ready_for = nullptr;
  const algorithm& how = algorithm_now();
  if (me.ran_by != &how) [[unlikely]]
    me.begin_with(how);
  me.begin_block(where);
  if (how.in_hardware != nullptr) return run_on_a_path(me, where, how, body, data);
  me.body = &body;
  me.data = data;
  run_in_software(me, how);
}

[[noreturn]] void begin_next_attempt(runner& me) {
  me.alternative = nullptr;
  machine::begin_anew(me.beginning, run_in_turn, &me);
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
  begin_next_attempt(me);
}

void run_anew(engine& engine) {
  runner& me = runner_of(engine);
  abandon(me);
  begin_next_attempt(me);
}

void restart_irrevocable(engine& engine) {
  runner& me = runner_of(engine);
  require_block(me);
  leave_hardware(me);
  me.wants_irrevocable = true;
  me.is_marked = true;
  abandon(me);
  begin_next_attempt(me);
}

namespace {

/// What the attempt has read is only what it has written, or stands beside that in its stripe.
bool has_read_owned_only(const runner& me) noexcept {
  if (me.mode != run_mode::software || !me.values.empty()) return false;
  for (const orec* const record : me.reads) {
    if (record->load(std::memory_order_relaxed) != me.engine::mine) return false;  // relaxed: whether it is this one's
  }
  return !me.reads.empty();
}

/// The transaction that sleeps ends here, and a new one begins.
void sleep_and_forget(runner& me) noexcept {
  if (me.reads.empty() && me.values.empty()) {
    refuse("retry() in an atomic block that has read nothing: it could never go on");
  }
  sleep_until_changed(me, me.sleeps_until);
  me.forget_marks();
  me.wants_log = true;
  me.is_marked = true;
}

}  // namespace

void retry(engine& engine, std::uint64_t deadline) {
  runner& me = runner_of(engine);
  require_block(me);
  leave_hardware(me);
  if (deadline < me.sleeps_until) {
    me.sleeps_until = deadline;
    me.is_marked = true;
    me.has_extras = true;  // the next transaction does not begin as most do, even if another alternative commits
  }
  if (me.alternative != nullptr) machine::jump_to(*me.alternative);
  if (me.mode == run_mode::irrevocable) refuse("retry() in an irrevocable block, which cannot be undone");
  if (me.has_unlogged || has_read_owned_only(me)) {
    me.wants_exact_log = !me.has_unlogged;
    me.wants_log = true;
    me.is_marked = true;
    abandon(me);
  } else {
    sleep_and_forget(me);
  }
  begin_next_attempt(me);
}

void retry_until(engine& engine, std::uint64_t deadline) {
  require_block(engine);
  leave_hardware(runner_of(engine));
  if (machine::clock_ns() < deadline) retry(engine, deadline);
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
      first(data, me.seen_by_bodies());
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
  if (found == nullptr || found->ready_for != &where) [[unlikely]]
    return run_otherwise(where, body, data);
  found->body = &body;
  found->data = data;
  machine::call_recorded_from(found->beginning, found->begins_by, found);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
