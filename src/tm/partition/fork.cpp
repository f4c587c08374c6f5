// SPDX-License-Identifier: Apache-2.0
// The heap at a fork. Memory that is mapped twice is shared with the child. So the child gets new memory at the same
// addresses, with a copy of what the parent had. While it is made, no other block may run. One that does not end in time
// is not waited for: then the child can tell whether it has changed anything meanwhile.
#include <memory>
#include <new>

#include <txsync/locks/futex_mutex.hpp>

#include "tm/partition/dmp.hpp"
#include "tm/quiescence_gate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

/// Of the fork that goes on.
struct heap_at_fork {
  futex_mutex one_at_a_time;
  runner* me = nullptr;      ///< null: the thread has run no block, and there is no memory for its first one
  bool others_wait = false;  ///< at the gate
  std::uint64_t others_activity = 0;
  void* copy = nullptr;
  std::size_t copied_rooms = 0;
  std::size_t max_rooms = 0;
};
constinit heap_at_fork at_fork;

void copy_heap() noexcept {
  at_fork.max_rooms = used_divided_rooms();
  at_fork.copied_rooms = 0;
  at_fork.copy = at_fork.max_rooms != 0 ? machine::map_pages(at_fork.max_rooms * room_bytes) : nullptr;
  if (at_fork.copy != nullptr) at_fork.copied_rooms = copy_divided_rooms(at_fork.copy, at_fork.max_rooms);
}

void drop_copy() noexcept {
  if (at_fork.copy != nullptr) machine::unmap_pages(at_fork.copy, at_fork.max_rooms * room_bytes);
  at_fork.copy = nullptr;
}

void let_others_run() noexcept {
  if (!at_fork.others_wait) return;
  at_fork.me->mode = run_mode::idle;
  leave_serial(*at_fork.me);
}

runner* mine_if_possible() noexcept {
  try {
    return &runner::mine();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void before_fork() noexcept TXSYNC_UNCHECKED {  // the functions behind the fork unlock it
  if (!heap_pages.is_there()) return;
  at_fork.one_at_a_time.lock();
  runner* const me = at_fork.me = mine_if_possible();
  at_fork.others_wait = me != nullptr && me->mode == run_mode::idle && try_to_enter_serial(*me);
  if (at_fork.others_wait) me->mode = run_mode::serial;  // for forget_turns()
  if (me != nullptr) at_fork.others_activity = activity_of_others(*me);
  copy_heap();
}

void after_fork_in_parent() noexcept TXSYNC_UNCHECKED {
  if (!heap_pages.is_there()) return;
  drop_copy();
  let_others_run();
  at_fork.one_at_a_time.unlock();
}

/// Runs after runner::forget_other_threads().
void after_fork_in_child() noexcept {
  if (!heap_pages.is_there()) return;
  const bool is_mapped = machine::renew_pages_twice(heap_pages.mapping, heap_pages.mapped_bytes);
  const bool is_whole = is_mapped && at_fork.copied_rooms == used_divided_rooms() && at_fork.me != nullptr &&
                        activity_of_others(*at_fork.me) == at_fork.others_activity;
  if (is_mapped) {
    restore_divided_rooms(at_fork.copy, at_fork.copied_rooms);
    heap_pages.renew_rights();
  }
  if (!is_whole) shared.torn_by_fork.store(true, std::memory_order_relaxed);  // relaxed: there is one thread
  drop_copy();
  let_others_run();
  std::construct_at(&at_fork.one_at_a_time);
}

}  // namespace

bool copy_heap_at_forks() noexcept {
  return machine::around_fork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
