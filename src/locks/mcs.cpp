// SPDX-License-Identifier: Apache-2.0
// In the child of a fork, nodes of the parent's threads may be gone. Nothing may be written there. The thread that
// forked may hold the lock with such nodes behind its own. So nobody in the child joins the queue until it has been
// made for the child. Until then threads only try. A holder that finds nodes behind its own until then leaves them. A
// thread that gets the lock by trying makes the queue for the child.
#include <txsync/locks/mcs.hpp>
#include <txsync/machine/attempt.hpp>

#include "backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace detail {

bool mcs_queue::note_turn_if(bool got) const noexcept { return machine::annotate_unseen_acquire_if(got, &tail_); }
void mcs_queue::note_end() const noexcept { machine::annotate_unseen_release(&tail_); }

/// Requires: nobody waits, since threads of this process only try.
void mcs_queue::make_for(std::uint32_t process) noexcept {
  // relaxed: no thread of this process has written it yet; published by the next line
  waiting_.store(0, std::memory_order_relaxed);
  made_for_.store(process, std::memory_order_release);  // pairs with the acquire in lock_in_child()
}

/// True: the calling thread has got the lock.
bool mcs_queue::try_until_made_for(std::uint32_t process, node& mine) noexcept {
  patient_spin patience;
  // acquire pairs with the release in make_for()
  while (made_for_.load(std::memory_order_acquire) != process) {
    node* expected = nullptr;
    // acq_rel: as in lock_begun()
    if (!is_held() && tail_.compare_exchange_strong(expected, &mine, std::memory_order_acq_rel)) {
      // Another thread may have made it in the meantime, and threads may wait. relaxed: that thread has had the lock
      if (made_for_.load(std::memory_order_relaxed) != process) make_for(process);
      machine::fence();  // as in wait_behind()
      return true;
    }
    patience.wait(0);
  }
  return false;
}

bool mcs_queue::lock_in_child(node& mine, wait_task* task) noexcept {
  const std::uint32_t here = machine::fork_count();
  if (machine::annotate_unseen_acquire_if(try_until_made_for(here, mine), &tail_)) return true;
  // acq_rel: as in lock_begun()
  node* const ahead = tail_.exchange(&mine, std::memory_order_acq_rel);
  return machine::annotate_unseen_acquire_if(ahead == nullptr, &tail_) || wait_behind(*ahead, mine, task);
}

bool mcs_queue::leave_parents_threads() noexcept {
  const std::uint32_t here = machine::fork_count();
  // relaxed: a thread in the queue had seen that it was made, and the caller has seen that thread
  if (made_for_.load(std::memory_order_relaxed) == here) return false;
  waiting_.store(0, std::memory_order_relaxed);  // relaxed: published by the next line
  machine::annotate_unseen_release(&tail_);
  tail_.store(nullptr, std::memory_order_release);  // pairs with the acquires of those that try
  return true;
}

bool mcs_queue::wait_behind(node& ahead, node& mine, wait_task* task) noexcept {
  machine::annotate_unseen_release(&ahead.next);
  mine.waiting.store(true, std::memory_order_relaxed);  // relaxed: published by the release below
  waiting_.fetch_add(1, std::memory_order_relaxed);     // relaxed: ordered by the release below
  ahead.next.store(&mine, std::memory_order_release);   // pairs with the acquires in unlock() and await_successor()
  const auto is_over = [](const void* waiter, std::uint64_t) noexcept {
    return !static_cast<const node*>(waiter)->waiting.load(
        std::memory_order_acquire);  // pairs with the release in unlock()
  };
  patient_spin patience;
  while (!is_over(&mine, 0)) {
    if (task != nullptr) {
      const wait_task::result result = task->run_once({is_over, &mine, 0, 1});
      if (result == wait_task::result::in_attempt) return false;
      if (result == wait_task::result::ran) continue;
    }
    patience.wait(0);
  }
  machine::annotate_unseen_acquire(&mine.waiting);  // if the lock was given up in inlined code
  machine::annotate_unseen_acquire(&tail_);         // or in mcs_lock::unlock_limited()
  machine::fence();  // before this holder checks the passive set (concurrency_limiter.cpp)
  return true;
}

/// A successor has changed the tail and is about to link itself.
mcs_queue::node* mcs_queue::await_successor(node& mine) noexcept {
  patient_spin patience;
  for (;;) {
    node* const next = mine.next.load(std::memory_order_acquire);  // pairs with the release in wait_behind()
    if (next != nullptr) {
      machine::annotate_unseen_acquire(&mine.next);
      return next;
    }
    patience.wait(0);
  }
}

}  // namespace detail

bool mcs_lock::lock_limited(node& mine, wait_task* task) noexcept {
  if (!limiter_.crowded(queue_.active(), task != nullptr)) return lock_in_queue(mine, task);
  const auto still_crowded = [](void* self) {
    auto& lock = *static_cast<mcs_lock*>(self);
    return lock.limiter_.crowded(lock.queue_.active(), false);
  };
  const auto kick = [](void* self) TXSYNC_UNCHECKED {
    auto& lock = *static_cast<mcs_lock*>(self);
    node passing;
    lock.queue_.lock(passing);
    const concurrency_limiter::hand_over passed_on(lock.limiter_, concurrency_limiter::others::visitor);
    lock.queue_.unlock(passing);
  };
  const auto is_held = [](void* self) { return static_cast<mcs_lock*>(self)->queue_.is_held(); };
  limiter_.wait_in_passive_set({still_crowded, kick, is_held, this});
  if (!lock_in_queue(mine, task)) return false;
  limiter_.note_admitted();
  return true;
}

bool mcs_lock::lock_in_queue(node& mine, wait_task* task) noexcept {
  return queue_.note_turn_if(queue_.lock(mine, task));
}

void mcs_lock::unlock_limited(node& mine) noexcept TXSYNC_UNCHECKED {
  queue_.note_end();
  const concurrency_limiter::hand_over passed_on(limiter_, other_active());
  queue_.unlock(mine);
}

bool mcs_lock::unlock_limited_if_held(node& mine) noexcept TXSYNC_UNCHECKED {
  if (!queue_.may_be_unlocked(mine)) return false;
  queue_.note_end();
  const concurrency_limiter::hand_over passed_on(limiter_, other_active());
  return queue_.unlock_if_held(mine);
}

concurrency_limiter::others mcs_lock::other_active() const noexcept {
  return queue_.waiting() == 0 ? concurrency_limiter::others::nobody : concurrency_limiter::others::some;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
