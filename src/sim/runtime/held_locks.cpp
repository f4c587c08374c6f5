// SPDX-License-Identifier: Apache-2.0
#include "held_locks.hpp"

#include "../program.h"
#include "call_chain.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

struct held_lock {
  const void* lock;
  std::uintptr_t code;  ///< the program's call
  std::uint32_t thread;
  bool shared;
};

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

}  // namespace

void add_awaited_locks(line_text& line) noexcept {
  for (unsigned i = 0; i < state.thread_count; ++i) {
    const thread_record& thread = state.threads[i];
    if (thread.state != thread_state::blocked || thread.asked_lock == nullptr) continue;
    for (unsigned at = 0; at < held_count; ++at) {
      const held_lock& one = held[at];
      if (one.lock != thread.asked_lock) continue;
      (line << "; thread " << thread.id << " waits for the lock at ")
          .hexadecimal(reinterpret_cast<std::uintptr_t>(one.lock));
      line << ", which thread " << one.thread << " has taken" << (one.shared ? " for reading" : "");
      (line << " in code at ").hexadecimal(one.code);
    }
  }
}

void forget_held_locks() noexcept { held_count = 0; }

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {

void txsync_sim_lock_asked(const void* lock) {
  if (thread_record* const thread = exploring_thread()) thread->asked_lock = lock;
}

void txsync_sim_lock_taken(const void* lock, int shared) {
  thread_record* const thread = exploring_thread();
  if (thread == nullptr) return;
  thread->asked_lock = nullptr;
  if (held_count == max_held) return;
  held[held_count++] = {lock, thread->library_call, thread->id, shared != 0};
}

void txsync_sim_lock_released(const void* lock) {
  const thread_record* const thread = exploring_thread();
  if (thread == nullptr) return;
  // A lock that was taken several times was taken by one thread. That another one gives it up is not excluded.
  for (const bool own : {true, false}) {
    for (unsigned at = held_count; at-- != 0;) {
      if (held[at].lock == lock && (held[at].thread == thread->id || !own)) return remove(at);
    }
  }
}

}  // extern "C"
