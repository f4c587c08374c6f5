// SPDX-License-Identifier: Apache-2.0
#include "held_locks.hpp"

#include <initializer_list>

#include "../program.h"
#include "call_chain.hpp"
#include "failure.hpp"
#include "state.hpp"
#include "systematic.hpp"
#include "traces.hpp"

namespace txsync::sim {

namespace {

struct held_lock {
  const void* lock;
  std::uintptr_t code;  ///< the program's call
  std::uint32_t thread;
  bool shared;
};

// Bits of txsync_sim_lock_asked().
constexpr unsigned shared = 1;
constexpr unsigned has_deadline = 2;
constexpr unsigned after_wake_up = 4;

// Of txsync_sim_lock_call_ends().
enum lock_call_end : int { try_has_failed, taken_shared, taken, given_up, taken_by_try, taken_shared_by_try };

constexpr unsigned max_held = 1024;  // what comes beyond them is not named
constinit held_lock held[max_held] = {};
constinit unsigned held_count = 0;

/// The thread that runs in a schedule, outside attempts: these may be undone.
thread_record* exploring_thread() noexcept {
  thread_record* const thread = state.current;
  return state.follows_program && thread != nullptr && thread->tx.depth == 0 ? thread : nullptr;
}

void remove(unsigned index) noexcept {
  for (--held_count; index < held_count; ++index) held[index] = held[index + 1];
}

bool holds(const thread_record& thread, const void* lock) noexcept {
  for (unsigned at = 0; at < held_count; ++at) {
    if (held[at].lock == lock && held[at].thread == thread.id) return true;
  }
  return false;
}

/// What was taken several times counts from the first time to the last.
void take(const void* lock, const thread_record& thread, bool is_shared, segment_event_kind how) noexcept {
  if (!holds(thread, lock)) happens_in_segment(how, lock);
  if (held_count < max_held) held[held_count++] = {lock, thread.library_call, thread.id, is_shared};
}

/// Returns whether it was held for reading.
bool give_up(const void* lock, const thread_record& thread) noexcept {
  // A lock that was taken several times was taken by one thread. That another one gives it up is not excluded.
  for (const bool own : {true, false}) {
    for (unsigned at = held_count; at-- != 0;) {
      if (held[at].lock != lock || (own && held[at].thread != thread.id)) continue;
      const bool was_shared = held[at].shared;
      remove(at);
      if (!holds(thread, lock)) happens_in_segment(segment_event_kind::gives_up, lock);
      return was_shared;
    }
  }
  return false;
}

void trace_call(const thread_record& thread, step_kind what, const void* object) noexcept {
  if (state.traces) trace(thread, thread.library_call, what, reinterpret_cast<std::uintptr_t>(object));
}

}  // namespace

bool can_go_on(const thread_record& thread) noexcept {
  if (thread.asked_thread != nullptr) return thread.asked_thread->state == thread_state::ended;
  if (thread.asked_semaphore != nullptr) return *thread.asked_semaphore != 0;
  if (thread.asked_lock == nullptr || (thread.asked_how & has_deadline) != 0) return true;
  for (unsigned at = 0; at < held_count; ++at) {
    const held_lock& one = held[at];
    if (one.lock == thread.asked_lock && one.thread != thread.id && !(one.shared && (thread.asked_how & shared) != 0))
      return false;
  }
  return true;
}

bool asks_for_lock(const thread_record& thread) noexcept {
  return thread.asked_lock != nullptr && (thread.asked_how & after_wake_up) == 0;
}

bool asks_for_reading(const thread_record& thread) noexcept { return (thread.asked_how & shared) != 0; }

byte_range asked_word(const thread_record& thread) noexcept {
  TXSYNC_SIM_ASSERT(asks_for_lock(thread), "the word is that of a lock that is asked for");
  constexpr std::size_t bytes = sizeof(std::uint32_t);  // no lock has fewer
  return {reinterpret_cast<std::uintptr_t>(thread.asked_lock), bytes};
}

void add_awaited_locks(line_text& line) noexcept {
  for (unsigned i = 0; i < state.thread_count; ++i) {
    const thread_record& thread = state.threads[i];
    const bool waits = thread.state == thread_state::blocked
                           ? (thread.asked_how & after_wake_up) == 0
                           : thread.state == thread_state::running && !can_go_on(thread);
    if (!waits || thread.asked_lock == nullptr) continue;
    for (unsigned at = 0; at < held_count; ++at) {
      const held_lock& one = held[at];
      if (one.lock != thread.asked_lock) continue;
      (line << "; thread " << thread.id << " waits for the lock at ")
          .hexadecimal(reinterpret_cast<std::uintptr_t>(one.lock));
      line << ", which thread " << one.thread << " has taken" << (one.shared ? " for reading" : "");
      add_code(line << " in ", one.code);
    }
  }
}

void forget_held_locks() noexcept { held_count = 0; }

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {

void txsync_sim_lock_asked(const void* lock, unsigned how) {
  thread_record* const thread = exploring_thread();
  if (thread == nullptr) return;
  thread->asked_lock = lock;
  thread->asked_how = how;
  if ((how & after_wake_up) == 0) trace_call(*thread, step_kind::asks, lock);
}

void txsync_sim_semaphore_asked(const std::uint32_t* count) {
  thread_record* const thread = exploring_thread();
  if (thread == nullptr) return;
  if (count == nullptr) happens_in_segment(segment_event_kind::waits_at, thread->asked_semaphore);
  thread->asked_semaphore = count;
}

void txsync_sim_join_asked(std::uintptr_t argument) {
  thread_record* const thread = exploring_thread();
  if (thread == nullptr) return;
  for (unsigned i = 1; i < state.thread_count; ++i) {
    const thread_record& other = state.threads[i];
    const bool is_meant = &other != thread && other.state != thread_state::unused && !other.detached &&
                          reinterpret_cast<std::uintptr_t>(other.argument) == argument;
    if (is_meant) thread->asked_thread = &other;
  }
}
void txsync_sim_join_asked_at(const void* argument) {
  txsync_sim_join_asked(*static_cast<const std::uintptr_t*>(argument));
}

void txsync_sim_lock_call_begins() {
  if (thread_record* const thread = exploring_thread()) thread->calls_lock = true;
}

void txsync_sim_lock_touched(const void* lock, std::size_t bytes) {
  if (exploring_thread() != nullptr) touches_in_segment(reinterpret_cast<std::uintptr_t>(lock), bytes, true);
}

void txsync_sim_lock_call_ends(const void* lock, std::size_t bytes, int what) {
  thread_record* const thread = exploring_thread();
  if (thread == nullptr) return;
  thread->calls_lock = false;
  thread->asked_lock = nullptr;
  const bool is_shared = what == taken_shared || what == taken_shared_by_try;
  bool is_read = what == try_has_failed || is_shared;
  if (what == given_up) is_read = give_up(lock, *thread);
  touches_in_segment(reinterpret_cast<std::uintptr_t>(lock), bytes, !is_read);
  if (what == try_has_failed) return;
  trace_call(*thread,
             what == given_up ? step_kind::gives_up
             : is_shared      ? step_kind::takes_shared
                              : step_kind::takes,
             lock);
  if (what == given_up) return;
  const bool waited = what == taken || what == taken_shared;
  take(lock, *thread, is_shared, waited ? segment_event_kind::takes : segment_event_kind::takes_by_try);
}

void txsync_sim_wait_begins(const void* condition, std::size_t condition_bytes, const void* lock, std::size_t bytes) {
  thread_record* const thread = exploring_thread();
  if (thread == nullptr) return;
  touches_in_segment(reinterpret_cast<std::uintptr_t>(condition), condition_bytes, true);
  trace_call(*thread, step_kind::awaits, condition);
  txsync_sim_lock_call_ends(lock, bytes, given_up);
  thread->calls_lock = true;
}

void txsync_sim_notifies(const void* condition, int all) {
  if (const thread_record* const thread = exploring_thread())
    trace_call(*thread, all != 0 ? step_kind::notifies_all : step_kind::notifies, condition);
}

}  // extern "C"
