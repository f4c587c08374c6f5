// SPDX-License-Identifier: Apache-2.0
// Hardware attempts, and a single global lock for when those fail. Attempts subscribe to the lock, and to the gate of
// serial transactions: a thread that takes either of them aborts all attempts.
//
// htm_sgl is the baseline of every published hybrid (hybrid paper, section V): ten tries, whatever the causes of their
// aborts. Capacity counts, and so does an abort by a thread that takes the lock. The paper names no wait between tries.
// Here the next one begins when the lock is free. Otherwise one held lock ends all ten within a microsecond.
// htm_sgl_adaptive is ours. It counts only aborts that say something about the block. It tries again when no serial
// transaction runs (no lemmings; shore-mt paper, 3.2).
#include "tm/hybrid/hardware.hpp"

#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/attempt.hpp>

#include "locks/backoff.hpp"
#include "observe/commit_counts.hpp"
#include "tm/algorithms.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

using machine::attempt_status;

constexpr std::uint64_t min_wait_cycles = 64;
constexpr unsigned max_doublings = 6;
// How often one block waits for serial transactions. They may follow each other for ever. Then the block goes on in
// software, where it waits in line with them.
constexpr std::uint32_t max_waits = 64;

/// Whether the thread's attempts would find the gate closed, or biased to another thread.
std::uintptr_t gate_now() noexcept {
  return shared.quiescence_gate.load(
      std::memory_order_relaxed);  // relaxed: in an attempt, or to decide what to wait for
}
bool attempts_are_excluded(const runner& me) noexcept { return !is_open_for(gate_now(), me) || global_lock_is_held(); }

/// What is left for a block that is tried in hardware.
struct hardware_tries {
  std::uint32_t left;
  bool every_abort_counts;
  bool ends_alone;  ///< algorithm::alone_after_attempts
  std::uint32_t waits_left = max_waits;
  bool was_hopeless = false;  ///< an abort has said that another attempt would not help
};

void wait_until_not_excluded(runner& me) noexcept {
  refuse_if_torn();
  txsync::detail::patient_spin waiting;
  while (attempts_are_excluded(me)) {
    if (is_biased(gate_now())) {
      // The thread that has the bias may not come back for long. Entering ends the bias.
      enter(me);
      leave(me);
      continue;
    }
    waiting.wait(min_wait_cycles);
  }
}

/// Whether the block's transactions nearly always commit in hardware. Then a capacity abort comes from a line that was
/// evicted by chance, or by another thread of the core. One more attempt costs less than software, which others have to
/// notice.
bool commits_mostly(const runner& me) noexcept {
  constexpr std::uint64_t min_commits_a_failure = 8;
  return me.counts->attempts.blocks.read() > min_commits_a_failure * me.counts->attempts.failed.read();
}

void count_abort(const runner& me, abort_cause why) noexcept {
  me.counts->attempts.begun.add(1);
  me.counts->attempts.aborts[static_cast<std::size_t>(why)].add(1);
  report_abort(me, why);
}

/// True: another attempt may help, and what had to be waited for is over.
bool wait_to_try_again(runner& me, attempt_status status, hardware_tries& tries) noexcept {
  const abort_cause why = status.cause();
  std::uint32_t& left = tries.left;
  if (tries.ends_alone && status.is_explicit()) {
    if (status.code() == attempt_status::code_alone) return false;
    if (status.code() == attempt_status::code_fall_back) {  // by the body, as in retry()
      tries.ends_alone = false;
      return false;
    }
  }
  if (tries.every_abort_counts) {
    if (--left == 0) return false;
    wait_until_not_excluded(me);
    return true;
  }
  if (why == abort_cause::lock_busy || (why == abort_cause::conflict && attempts_are_excluded(me))) {
    if (--tries.waits_left == 0) return false;
    wait_until_not_excluded(me);
    return true;
  }
  const bool has_hope = why == abort_cause::conflict || why == abort_cause::locked || status.may_retry();
  if (!has_hope && (tries.was_hopeless || !commits_mostly(me))) return false;
  tries.was_hopeless |= !has_hope;
  if (--left == 0) return false;
  txsync::detail::jitter random(&me);
  const std::uint32_t made = me.where->policy().hardware_attempts - left;
  txsync::detail::pause_for(random.upto(min_wait_cycles << (made < max_doublings ? made : max_doublings)));
  return true;
}

/// The last attempt has aborted. Returns what run_in_hardware() then returns.
[[gnu::noinline]] bool fall_back_after(runner& me, attempt_status status) noexcept {
  me.counts->attempts.failed.add(1);
  me.timed.end(me.where->get_site());
  if (observe::times_next(me.counts->attempts.begun.read())) me.timed.time_next();
  report_fallback(me, status.cause());
  return false;
}

/// In an attempt: reads what aborts it when another transaction must not run beside it.
void subscribe(runner& me, const algorithm& how, bool others_sleep) noexcept {
  if (!is_open_for(gate_now(), me)) machine::abort<attempt_status::code_lock_busy>();
  // Transactions of another algorithm may not know of such attempts. A thread that changes it closes the gate.
  if (shared.in_use.load(std::memory_order_relaxed) != &how) machine::abort<attempt_status::code_fall_back>();
  how.in_hardware->begin(me);
  if (others_sleep) me.duties |= notes_stripes;
  order_behind_attempts();
  me.mode = run_mode::hardware;
}

void commit(runner& me, const algorithm& how) noexcept {
  how.in_hardware->end(me);
  me.mode = run_mode::idle;
  order_before_attempts();
  machine::end();
  me.forget_attempt();
  // Others look whether this thread runs blocks. relaxed: it guards nothing
  me.activity.store(me.activity.load(std::memory_order_relaxed) + 2, std::memory_order_relaxed);
  const std::uint64_t blocks = me.counts->attempts.blocks.add(1);
  me.timed.end(me.where->get_site());
  if (observe::times_next(blocks)) [[unlikely]]
    me.timed.time_next();
  machine::light_fence();  // as in software
  if (shared.sleepers.load(std::memory_order_relaxed) != 0) {
    me.how = &serial;
    me.mode = run_mode::hardware;
    wake_sleepers(me);
    close_accesses(me);
  }
}

/// In an attempt: the block goes on in software. On the scripted machine the race detector sees what an attempt read
/// before its abort, so the order is announced here too. Other machines undo the announcement.
void fall_back() noexcept {
  order_before_attempts();
  machine::abort<attempt_status::code_fall_back>();
}

/// False: an exception has left the body. It is destroyed before the attempt is aborted, since not every machine undoes
/// its construction.
bool runs_through(runner& me, const erased_body& body, void* data) noexcept {
  try {
    body.directly(data, me.directly);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void leave_hardware(const runner& me) noexcept {
  if (me.mode == run_mode::hardware) fall_back();
}

bool run_in_hardware(runner& me, const algorithm& how, const erased_body& body, void* data) {
  const std::uint32_t wanted = me.where->policy().hardware_attempts;
  if (!machine::attempts_work() || wanted == 0 || me.is_irrevocable()) return false;
  if (how.in_hardware->may_try != nullptr && !how.in_hardware->may_try(me)) return false;
  const std::uint32_t always = how.hardware_tries;
  hardware_tries tries{always != 0 ? always : wanted, always != 0, how.alone_after_attempts};
  me.timed.begin();
  for (;;) {
    clear_extras(me);
    how.in_hardware->prepare(me);
    const bool others_sleep = shared.sleepers.load(std::memory_order_relaxed) != 0;  // relaxed: a hint
    me.written.begin(others_sleep);
    const attempt_status status = machine::begin();
    if (status.started()) {
      subscribe(me, how, others_sleep);
      if (!runs_through(me, body, data)) fall_back();  // the software attempt throws it again
      commit(me, how);
      return true;
    }
    // The scripted machine restores the stack and what blocks have written. The rest is restored here.
    me.mode = run_mode::idle;
    me.forget_attempt();
    if (!me.made.empty()) drop_made(me);
    me.timed.aborted();
    count_abort(me, status.cause());
    if (how.in_hardware->needs_scout != nullptr && how.in_hardware->needs_scout(me, status.cause())) {
      me.timed.end(me.where->get_site());
      return false;
    }
    const bool may_try = how.in_hardware->may_try == nullptr || how.in_hardware->may_try(me);
    if (!may_try || !wait_to_try_again(me, status, tries)) {
      if (may_try && tries.ends_alone) me.wants_alone = me.is_marked = true;
      return fall_back_after(me, status);
    }
    me.timed.again();
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
