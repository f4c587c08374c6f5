// SPDX-License-Identifier: Apache-2.0
#include "waiters.hpp"

#include "failure.hpp"
#include "schedule.hpp"
#include "state.hpp"
#include "traces.hpp"

namespace txsync::sim {

void waiters_by_deadline::set_up() noexcept {
  heap_ = static_cast<thread_record**>(reserve(0, max_threads * sizeof *heap_, "deadlines"));
}

void waiters_by_deadline::put(unsigned slot, thread_record& thread) noexcept {
  heap_[slot] = &thread;
  thread.deadline_slot = slot;
}

void waiters_by_deadline::sift_up(unsigned slot) noexcept {
  thread_record& moving = *heap_[slot];
  for (; slot != 0; slot = (slot - 1) / 2) {
    thread_record& parent = *heap_[(slot - 1) / 2];
    if (!before(moving, parent)) break;
    put(slot, parent);
  }
  put(slot, moving);
}

void waiters_by_deadline::sift_down(unsigned slot) noexcept {
  thread_record& moving = *heap_[slot];
  for (;;) {
    unsigned child = 2 * slot + 1;
    if (child >= size_) break;
    if (child + 1 < size_ && before(*heap_[child + 1], *heap_[child])) ++child;
    if (!before(*heap_[child], moving)) break;
    put(slot, *heap_[child]);
    slot = child;
  }
  put(slot, moving);
}

void waiters_by_deadline::add(thread_record& thread) noexcept {
  put(size_++, thread);
  sift_up(size_ - 1);
}

void waiters_by_deadline::remove(thread_record& thread) noexcept {
  const unsigned slot = thread.deadline_slot;
  TXSYNC_SIM_ASSERT(slot < size_ && heap_[slot] == &thread, "the thread that is removed was added");
  thread_record& last = *heap_[--size_];
  if (slot == size_) return;
  put(slot, last);
  sift_up(slot);
  sift_down(last.deadline_slot);
}

thread_record& waiters_by_deadline::take_first() noexcept {
  thread_record& first = *heap_[0];
  remove(first);
  return first;
}

namespace {

// By a hash of the address; oldest first within a list.
constexpr unsigned buckets = 256;
constinit thread_record* waiting[buckets] = {};

thread_record** bucket_of(const void* word) noexcept {
  return &waiting[(reinterpret_cast<std::uintptr_t>(word) >> 2) * 0x9E3779B97F4A7C15u >> 56];
}

}  // namespace

bool futex_wait(const void* word, ticks deadline) noexcept {
  thread_record& self = *state.current;
  if (state.traces) trace(self, self.last_code, step_kind::sleeps, reinterpret_cast<std::uintptr_t>(word));
  self.waits_at = word;
  self.next = nullptr;
  thread_record** place = bucket_of(word);
  while (*place != nullptr) place = &(*place)->next;
  *place = &self;
  block(deadline);
  return !self.timed_out;
}

unsigned futex_wake(const void* word, unsigned count) noexcept {
  unsigned woken = 0;
  for (thread_record** place = bucket_of(word); *place != nullptr && woken < count;) {
    thread_record& thread = **place;
    if (thread.waits_at != word) {
      place = &thread.next;
      continue;
    }
    *place = thread.next;
    thread.waits_at = nullptr;
    thread.next = nullptr;
    thread_record& waker = *state.current;
    if (state.traces) trace(waker, waker.last_code, step_kind::wakes, reinterpret_cast<std::uintptr_t>(word));
    waker.time += cycles(state.model.os_wake);
    wake(thread, waker.time + cycles(state.model.os_wake_delay));
    ++woken;
  }
  return woken;
}

void futex_forget(thread_record& thread) noexcept {
  if (thread.waits_at == nullptr) return;
  thread_record** place = bucket_of(thread.waits_at);
  while (*place != &thread) place = &(*place)->next;
  *place = thread.next;
  thread.waits_at = nullptr;
  thread.next = nullptr;
}

}  // namespace txsync::sim
