// SPDX-License-Identifier: Apache-2.0
#include "attempts.hpp"

#include <cstring>

#include "abort_calls.hpp"
#include "abort_log.hpp"
#include "elision.hpp"
#include "failure.hpp"
#include "heap.hpp"
#include "oracle.hpp"
#include "probes.hpp"
#include "schedule.hpp"
#include "state.hpp"
#include "store_buffer.hpp"
#include "traces.hpp"

// libstdc++'s count of exceptions in flight is thread-local data that no hook sees.
extern "C" void* __cxa_get_globals_fast() noexcept __attribute__((weak));

namespace txsync::sim {

namespace {

// The program calls one of these; an abort returns from it a second time. The frame is the one that txsync_sim_switch
// pops: it is copied with the stack, and an abort switches to it.
#define TXSYNC_SIM_ENTRY(name)          \
  asm(".text\n"                         \
      ".globl " name                    \
      "\n"                              \
      ".type " name ",@function\n" name \
      ":\n"                             \
      "push %rbp\n"                     \
      "push %rbx\n"                     \
      "push %r12\n"                     \
      "push %r13\n"                     \
      "push %r14\n"                     \
      "push %r15\n"                     \
      "mov %rsp,%rdi\n"                 \
      "sub $8,%rsp\n"                   \
      "call " name                      \
      "_at\n"                           \
      "add $8,%rsp\n"                   \
      "pop %r15\n"                      \
      "pop %r14\n"                      \
      "pop %r13\n"                      \
      "pop %r12\n"                      \
      "pop %rbx\n"                      \
      "pop %rbp\n"                      \
      "ret\n"                           \
      ".size " name ",.-" name "\n")
TXSYNC_SIM_ENTRY("txsync_sim_begin");
TXSYNC_SIM_ENTRY("txsync_sim_begin_rollback_only");
TXSYNC_SIM_ENTRY("txsync_sim_warm_begin");
TXSYNC_SIM_ENTRY("txsync_sim_begin_by_prefix");
#undef TXSYNC_SIM_ENTRY

// A switch to a frame that prepare_report() has made comes here, with the frame of begin on the stack. The value that
// the call returns is that of begin.
asm(R"(
.text
.type txsync_sim_after_violation,@function
txsync_sim_after_violation:
  sub $8,%rsp
  call txsync_sim_report_violation
  add $8,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size txsync_sim_after_violation,.-txsync_sim_after_violation
)");
extern "C" void txsync_sim_after_violation();

constexpr std::size_t max_lines = std::size_t{1} << 22;
constexpr std::size_t max_undo = std::size_t{1} << 24;
constexpr std::size_t max_small_bytes = std::size_t{1} << 16;

constinit abort_reason wanted{};

void set_up(attempt& tx) noexcept {
  if (tx.stack_copy != nullptr) return;
  tx.stack_copy = static_cast<std::uint8_t*>(reserve(0, stack_bytes, "copy of a stack"));
  tx.reads.reserve_for(max_lines, "read set");
  tx.writes.reserve_for(max_lines, "write set");
  tx.undo.reserve_for(max_undo, "undo log");
  tx.foreign.reserve_for(max_small_bytes, "writes to stacks");
  tx.allocated.reserve_for(max_small_bytes, "allocations");
  tx.freed.reserve_for(max_small_bytes, "frees");
  tx.freed_for_good.reserve_for(max_small_bytes, "frees");
}

/// Saves or restores the exception state of the running thread. It is at the thread's own FS base.
void copy_exception_state(thread_record& thread, bool save) noexcept {
  if (__cxa_get_globals_fast == nullptr) return;
  const std::uintptr_t before = fs_base();
  if (before != thread.thread_pointer) set_fs_base(thread.thread_pointer);
  void* theirs = __cxa_get_globals_fast();
  if (before != thread.thread_pointer) set_fs_base(before);
  if (save) {
    std::memcpy(thread.tx.exception_state, theirs, sizeof thread.tx.exception_state);
  } else {
    std::memcpy(theirs, thread.tx.exception_state, sizeof thread.tx.exception_state);
  }
}

/// Removes the thread's lines from the sets of its attempt.
void release_lines(thread_record& thread) noexcept {
  attempt& tx = thread.tx;
  for (const tracked_line& entry : tx.reads) {
    state.lines.readers(state.lines.record(entry.line)).remove(thread.cpu);
  }
  for (const tracked_line& entry : tx.writes) state.lines.record(entry.line).writer_plus_one = 0;
  tx.reads.clear();
  tx.writes.clear();
  tx.undo.clear();
  tx.in_both = 0;
}

void forget_attempt(thread_record& thread) noexcept {
  attempt& tx = thread.tx;
  release_lines(thread);
  tx.foreign.clear();
  tx.allocated.clear();
  tx.freed.clear();
  tx.freed_for_good.clear();
  if (tx.depth != 0) --state.attempts;
  tx.depth = 0;
  tx.suspended = false;
  tx.doomed = false;
  tx.tracks_reads = true;
  tx.never_commits = false;
  tx.by_prefix = false;
  tx.elided_count = 0;
}

/// Corrects stack copies: a thread whose attempt began later may have copied bytes that this attempt wrote to its
/// stack.
void put_into_stack_copies(const thread_record& except, std::uintptr_t address, const void* bytes,
                           std::size_t count) noexcept {
  if (address < stacks_begin || address >= program_end) return;
  thread_record& owner = state.threads[(address - stacks_begin) / stack_bytes];
  if (&owner == &except || owner.tx.depth == 0 || address < owner.tx.frame) return;
  std::memcpy(owner.tx.stack_copy + (address - owner.tx.frame), bytes, count);
}

void undo_writes(thread_record& thread) noexcept {
  attempt& tx = thread.tx;
  for (std::size_t i = tx.undo.size(); i-- != 0;) {
    const undo_entry& entry = tx.undo[i];
    std::memcpy(reinterpret_cast<void*>(entry.address()), &entry.old, entry.length());
    put_into_stack_copies(thread, entry.address(), &entry.old, entry.length());
  }
}

/// Spills and saved registers have no hooks, so the whole stack is restored, except for what others wrote there.
void restore_stack(thread_record& thread) noexcept {
  attempt& tx = thread.tx;
  for (const byte_range& range : tx.foreign) {
    std::memcpy(tx.stack_copy + (range.from - tx.frame), reinterpret_cast<void*>(range.from), range.bytes);
  }
  std::memcpy(reinterpret_cast<void*>(tx.frame), tx.stack_copy, tx.stack_copied);
}

void take_back_writes(thread_record& thread, const abort_reason& reason) noexcept {
  if (state.traces) trace(thread, thread.last_code, aborts_for(reason.why), reason.address);
  undo_writes(thread);
  if (state.oracle) oracle_after_abort(thread);
}

/// Makes the thread call the program's handler when it runs again, before it continues at begin.
void prepare_report(thread_record& thread) noexcept {
  constexpr unsigned registers = 6;  // that a switch pops
  auto* const frame = reinterpret_cast<std::uintptr_t*>(thread.tx.frame) - registers - 1;
  for (unsigned i = 0; i < registers; ++i) frame[i] = 0;
  frame[registers] = reinterpret_cast<std::uintptr_t>(&txsync_sim_after_violation);
  thread.stack_pointer = reinterpret_cast<std::uintptr_t>(frame);
}

/// Requires: the thread's stack is not in use.
void roll_back(thread_record& thread, const abort_reason& reason) noexcept {
  TXSYNC_SIM_ASSERT(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - thread.stack_low >= stack_bytes,
                    "the thread's stack is not in use");
  attempt& tx = thread.tx;
  const bool was_nested = tx.depth > 1;
  if (!tx.doomed) {
    note_calls(thread, reason);
    take_back_writes(thread, reason);  // first of all, because the allocator writes into the blocks that it gets back
  }
  restore_stack(thread);
  copy_exception_state(thread, false);
  error_number_of(thread) = tx.error_number;
  thread.exit_count = tx.exit_count;
  thread.fault_jump_target = tx.fault_jump_target;
  for (void* allocation : tx.allocated) heap_free(allocation);
  for (void* allocation : tx.freed_for_good) heap_free(allocation);
  if (!tx.doomed) log_abort(thread, reason);
  forget_attempt(thread);
  thread.stack_pointer = tx.frame;
  thread.resume_value =
      status_of(reason.why, reason.code, was_nested, static_cast<status_words>(state.model.htm_precise_status));
  charge(thread, state.model.htm_abort);
  if (thread.reported.address != 0) prepare_report(thread);
}

/// Ends a suspended attempt. Its stores are undone at once, its registers and stack when it resumes. Source: Power ISA
/// 2.07B, book II, 5.2 (transaction failure in suspended state).
void doom(thread_record& thread, const abort_reason& reason) noexcept {
  attempt& tx = thread.tx;
  if (tx.doomed) return;
  take_back_writes(thread, reason);
  log_abort(thread, reason);
  release_lines(thread);
  tx.doomed = true;
  tx.doomed_by = reason.why;
  tx.doomed_code = reason.code;
}

void commit(thread_record& thread) noexcept {
  attempt& tx = thread.tx;
  if (state.traces) trace(thread, thread.last_code, step_kind::commits, 0);
  if (state.oracle) oracle_before_commit(thread);
  log_commit(thread);
  for (void* allocation : tx.freed) heap_free(allocation);
  for (void* allocation : tx.freed_for_good) heap_free(allocation);
  forget_attempt(thread);
}

std::uint32_t begin_outermost(thread_record& thread, std::uintptr_t frame) noexcept {
  attempt& tx = thread.tx;
  set_up(tx);
  tx.depth = 1;
  ++state.attempts;
  tx.frame = frame;
  tx.stack_copied = thread.stack_high - frame;
  std::memcpy(tx.stack_copy, reinterpret_cast<void*>(frame), tx.stack_copied);
  copy_exception_state(thread, true);
  tx.error_number = error_number_of(thread);
  tx.exit_count = thread.exit_count;
  tx.fault_jump_target = thread.fault_jump_target;
  cpu_of(thread).in_attempt.clear();
  tx.tracks_reads = state.model.htm_reads_tracked != 0;
  if (state.model.htm_read_filter != 0) tx.left_l1.clear();
  if (state.oracle) oracle_begin(thread);
  if (state.probes != 0) begin_probes(thread);
  if (state.traces) trace(thread, *reinterpret_cast<std::uintptr_t*>(frame + 6 * sizeof frame), step_kind::begins, 0);
  load_hot_state();
  return started;
}

enum class kind : std::uint8_t { plain, rollback_only, never_commits, by_prefix };

std::uint32_t begin_or_nest(std::uintptr_t frame, kind asked) noexcept {
  if (state.current == nullptr || state.model.htm_attempts == 0) return 0;
  if (state.uncharged) charge_from_now_on();  // uncharged accesses are not looked at and could not be undone
  // In the order of time, an attempt's begin concerns no other thread; its first access does.
  if (exploring()) {
    scheduling_point();
    drain_own();
  }
  thread_record& thread = *state.current;
  const ticks asked_at = thread.time;  // the time of begin belongs to the attempt, as in the counters of CPUs
  charge(thread, state.model.htm_begin);
  attempt& tx = thread.tx;
  if (tx.depth != 0) {
    if (tx.depth >= state.model.htm_nesting) abort_self({.why = cause::nested});
    // Elision by prefix inside an attempt of the other kind, or the reverse, aborts (Intel's optimization manual, 12).
    if ((asked == kind::by_prefix) != tx.by_prefix) abort_self({.why = cause::unfriendly_instruction});
    ++tx.depth;
    return started;
  }
  // A stack of the program's own, such as a coroutine's, could not be restored.
  if (frame - thread.stack_low >= stack_bytes) return 0;
  const std::uint32_t answer = begin_outermost(thread, frame);
  tx.began = asked_at;
  if (asked == kind::rollback_only) tx.tracks_reads = false;
  tx.never_commits = asked == kind::never_commits;
  tx.by_prefix = asked == kind::by_prefix;
  return answer;
}

constexpr std::uint8_t lock_busy_code = 0xFF;  // machine::attempt_status

/// No effect outside of attempts.
void end_as_asked(const abort_reason& reason) noexcept {
  if (state.current != nullptr && state.current->tx.depth != 0) end_own_attempt(reason);
}

}  // namespace

void abort_other(thread_record& victim, const abort_reason& reason) noexcept {
  if (victim.tx.suspended) return doom(victim, reason);
  if (victim.time < state.current->time) victim.time = state.current->time;
  const common_view all;
  roll_back(victim, reason);
  time_changed(victim);
}

void abort_self(const abort_reason& reason) noexcept {
  wanted = reason;
  thread_record& self = *state.current;
  hide_elided_locks(self);
  switch_to_scheduler(self);
  __builtin_unreachable();
}

void abort_self_for(const refused_access& refused) noexcept {
  // The addresses of an always-abort attempt may be garbage.
  thread_record& self = *state.current;
  if (state.model.htm_violation_signal != 0 && !self.tx.never_commits) self.reported = refused;
  abort_self({.why = cause::fault, .address = first_address_of(refused.address)});
}

void end_own_attempt(const abort_reason& reason) noexcept {
  if (!state.current->tx.suspended) abort_self(reason);
  doom(*state.current, reason);
}

void drop_suspended_attempt(thread_record& thread) noexcept {
  if (!thread.tx.suspended) return;
  doom(thread, {.why = cause::syscall});
  for (void* allocation : thread.tx.allocated) heap_free(allocation);
  for (void* allocation : thread.tx.freed_for_good) heap_free(allocation);
  forget_attempt(thread);
}

void finish_abort_of_current() noexcept {
  roll_back(*state.current, wanted);
  load_hot_state();
}

void leave_attempt(cause why) noexcept {
  if (state.current == nullptr || state.current->tx.depth == 0) return;
  if (!state.current->tx.suspended || why == cause::interrupt) end_own_attempt({.why = why});
}

void note_write(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  const bool own_stack = address - thread.stack_low < stack_bytes;
  attempt& tx = thread.tx;
  if (!own_stack && address >= stacks_begin && address < program_end) {
    thread_record& owner = state.threads[(address - stacks_begin) / stack_bytes];
    if (owner.tx.depth != 0 && address >= owner.tx.frame && !owner.tx.foreign.push({address, bytes})) {
      fail("an attempt saw too many writes of others to its stack");
    }
  }
  if (tx.depth == 0) return;
  // The word of a lock that it has elided differs from what others see, so a write to it could not be undone.
  for (unsigned i = 0; i < tx.elided_count; ++i) {
    const elided_lock& lock = tx.elided[i];
    if (address < lock.address + lock.bytes && lock.address < address + bytes) {
      abort_self({.why = cause::unfriendly_instruction, .address = lock.address});
    }
  }
  if (tx.suspended) {
    if (own_stack && address >= tx.frame && !tx.foreign.push({address, bytes}))
      fail("a suspended attempt wrote to too many places of its stack");
    return;
  }
  if (own_stack) return;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = bytes - done < 8 ? bytes - done : 8;
    undo_entry entry{(address + done) | std::uint64_t{part} << 48, 0};
    std::memcpy(&entry.old, reinterpret_cast<void*>(address + done), part);
    if (!tx.undo.push(entry)) fail("an attempt wrote more than 128 MiB");
    done += part;
  }
}

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {

std::uint32_t txsync_sim_begin_at(std::uintptr_t frame) noexcept { return begin_or_nest(frame, kind::plain); }
std::uint32_t txsync_sim_begin_rollback_only_at(std::uintptr_t frame) noexcept {
  return state.model.htm_rollback_only != 0 ? begin_or_nest(frame, kind::rollback_only) : 0;
}
std::uint32_t txsync_sim_warm_begin_at(std::uintptr_t frame) noexcept {
  return state.model.htm_always_abort != 0 ? begin_or_nest(frame, kind::never_commits) : 0;
}
std::uint32_t txsync_sim_begin_by_prefix_at(std::uintptr_t frame) noexcept {
  return begin_or_nest(frame, kind::by_prefix);
}

void txsync_sim_end() noexcept {
  scheduling_point();
  if (state.current == nullptr || state.current->tx.depth == 0) fail("an attempt was ended while none was under way");
  thread_record& thread = *state.current;
  if (thread.tx.depth > 1) {
    --thread.tx.depth;
    return;
  }
  if (thread.tx.by_prefix) abort_self({.why = cause::unfriendly_instruction});
  if (thread.tx.never_commits) abort_self({.why = cause::always});
  charge(thread, state.model.htm_commit);
  commit(thread);
  load_hot_state();
}

void txsync_sim_abort(std::uint8_t code) noexcept {
  end_as_asked({.why = code == lock_busy_code ? cause::lock_busy : cause::explicit_abort, .code = code});
}

void txsync_sim_abort_busy(const void* lock) noexcept {
  end_as_asked({.why = cause::lock_busy, .code = lock_busy_code, .address = reinterpret_cast<std::uintptr_t>(lock)});
}

int txsync_sim_warm_active() noexcept { return state.current != nullptr && state.current->tx.never_commits ? 1 : 0; }

unsigned txsync_sim_depth() noexcept { return state.current != nullptr ? state.current->tx.depth : 0; }

void txsync_sim_suspend() noexcept {
  if (state.current == nullptr || state.current->tx.depth == 0 || state.model.htm_suspend == 0) return;
  state.current->tx.suspended = true;
  load_hot_state();
}

void txsync_sim_resume() noexcept {
  if (state.current == nullptr || !state.current->tx.suspended) return;
  attempt& tx = state.current->tx;
  tx.suspended = false;
  if (tx.doomed) abort_self({.why = tx.doomed_by, .code = tx.doomed_code});
  load_hot_state();
}

}  // extern "C"
