// SPDX-License-Identifier: Apache-2.0
// Commit actions wait in a queue of the thread (leveldb paper, 4.1). Within an attempt an abort undoes the queue's
// length. The actions themselves may stay where they are.
#include "speculate/commit_actions.hpp"

#include <txsync/speculate/elision.hpp>

#include "speculate/thread_memory.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

void bring_in_actions() noexcept {
  // volatile, so that storing the value that is there already is not left out. The queue may lie across two pages.
  thread_memory* const memory = my_memory();
  if (memory == nullptr) return;
  for (deferred_action* const one : {&memory->actions[0], &memory->actions[thread_memory::max_actions - 1]}) {
    volatile unsigned char& touched = one->data[deferred_action::room - 1];
    touched = touched;
  }
}

void defer(const deferred_action& action) noexcept {
  attempt_frame& mine = my_attempt_frame;
  if (mine.is(attempt_frame::coarsened)) commit_coarsened();  // the thread is in no critical section
  if (!must_defer()) {
    deferred_action now = action;
    return now.run(now.data);
  }
  // A thread in an attempt has the memory. A thread that holds a lock may have none: then nothing waits.
  thread_memory* const memory = in_elided_attempt() ? my_memory_if_any() : my_memory();
  if (memory == nullptr) {
    deferred_action now = action;
    return now.run(now.data);
  }
  if (mine.actions == thread_memory::max_actions) {
    machine::abort<machine::attempt_status::code_fall_back>();  // goes on only if no attempt runs
    run_deferred();
  }
  memory->actions[mine.actions++] = action;
}

void run_deferred() noexcept {
  attempt_frame& mine = my_attempt_frame;
  // By value: an action may enter critical sections, and add actions itself.
  while (mine.actions != 0) {
    const thread_memory& memory = *my_memory_if_any();
    deferred_action batch[thread_memory::max_actions];
    const unsigned count = mine.actions;
    for (unsigned i = 0; i < count; ++i) batch[i] = memory.actions[i];
    mine.actions = 0;
    for (unsigned i = 0; i < count; ++i) batch[i].run(batch[i].data);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
