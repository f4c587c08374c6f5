// SPDX-License-Identifier: Apache-2.0
// htm_sgl: attempts of the machine, and a single global lock where those do not work; what every published hybrid is
// measured against (hybrid paper, section V). Attempts subscribe to the lock, and to the gate of transactions that run
// alone: whoever takes either aborts them all. They are tried again when it is free (no lemmings; shore-mt paper, 3.2).
#include "tm/hybrid/hardware.hpp"

#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/attempt.hpp>

#include "locks/backoff.hpp"
#include "tm/algorithms.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

namespace {

using machine::attempt_status;

constexpr std::uint64_t shortest_wait = 64;  // cycles
constexpr unsigned most_doublings = 6;
// Waits of one block for others that run alone. They may follow each other for ever, and give way to who waits in line.
constexpr std::uint32_t most_waits = 64;

bool somebody_is_alone() noexcept {
  // relaxed: in an attempt, or to decide how long to wait
  return shared.gate.load(std::memory_order_relaxed) != 0 || global_lock_is_held();
}

/// True: another attempt may help, and what had to be waited for is over.
bool wait_to_try_again(runner& me, attempt_status status, std::uint32_t& left, std::uint32_t& waits_left) noexcept {
  const abort_cause why = status.cause();
  block_counts::add_one(me.counts->aborts[static_cast<std::size_t>(why)]);
  tell_abort(me, why);
  if (why == abort_cause::lock_busy || (why == abort_cause::conflict && somebody_is_alone())) {
    refuse_if_torn();
    if (--waits_left == 0) return false;
    txsync::detail::patient_spin waiting;
    while (somebody_is_alone()) waiting.wait(shortest_wait);
    return true;
  }
  if ((why != abort_cause::conflict && !status.may_retry()) || --left == 0) return false;
  txsync::detail::jitter random(&me);
  const std::uint32_t made = me.where->policy().hardware_attempts - left;
  txsync::detail::pause_for(random.upto(shortest_wait << (made < most_doublings ? made : most_doublings)));
  return true;
}

/// The last attempt has aborted. Answers what run_in_hardware() does then.
[[gnu::noinline]] bool fall_back_after(const runner& me, attempt_status status) noexcept {
  tell_fallback(me, status.cause());
  return false;
}

void commit(runner& me) noexcept {
  me.mode = run_mode::idle;
  order_before_attempts();
  machine::end();
  block_counts::add_one(me.counts->commits);
  block_counts::add_one(me.counts->hardware);
  machine::light_fence();  // as in software
  if (shared.sleepers.load(std::memory_order_relaxed) != 0) {
    me.how = &alone;
    me.mode = run_mode::hardware;
    wake_sleepers(me);
    shut(me);
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

bool run_in_hardware(runner& me, const erased_body& body, void* data) {
  std::uint32_t left = me.where->policy().hardware_attempts;
  std::uint32_t waits_left = most_waits;
  if (!machine::attempts_work() || left == 0 || me.is_irrevocable()) return false;
  for (;;) {
    clear_extras(me);
    const attempt_status status = machine::begin();
    if (status.started()) {
      if (somebody_is_alone()) machine::abort<attempt_status::code_lock_busy>();
      // Another algorithm's transactions look at records, which attempts do not write. Who changes it shuts the gate.
      if (!algorithm_now().in_hardware) machine::abort<attempt_status::code_fall_back>();
      order_behind_attempts();
      me.mode = run_mode::hardware;
      if (!runs_through(me, body, data)) fall_back();  // in software it is thrown again, outside of an attempt
      commit(me);
      return true;
    }
    // The scripted machine restores the stack and what blocks have written, so the rest is restored here.
    me.mode = run_mode::idle;
    if (!me.made.empty()) drop_made(me);
    if (wait_to_try_again(me, status, left, waits_left)) continue;
    return fall_back_after(me, status);
  }
}

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
