// SPDX-License-Identifier: Apache-2.0
#include "tagged_lock.hpp"

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

namespace {

constexpr std::uint64_t pause_ns = 100'000;        // between two tries of a lock in whose line the thread cannot stand
constexpr std::uint64_t max_pause_ns = 1'600'000;  // likewise, if the line has no room for hundreds

template <class Lock>
bool is_held(const void* words) noexcept {
  return static_cast<const Lock*>(words)->is_held();
}

}  // namespace

algorithm algorithm_of(policy::lock_kind kind) noexcept {
  switch (kind) {
    case policy::lock_kind::libc:
      return algorithm::libc;
    case policy::lock_kind::tatas:
      return algorithm::tatas;
    case policy::lock_kind::ticket:
      return algorithm::ticket;
    case policy::lock_kind::fifo_ticket:
      return algorithm::fifo_ticket;
    case policy::lock_kind::spin:
      return algorithm::spin;
    case policy::lock_kind::priority_tatas:
      return algorithm::priority_tatas;
    case policy::lock_kind::unset:
    case policy::lock_kind::mutex:
      break;
  }
  return algorithm::futex;
}

held_look held_as(algorithm how) noexcept {
  if (how == algorithm::tatas) return is_held<tatas_lock>;
  if (how == algorithm::priority_tatas) return is_held<priority_tatas_lock>;
  return has_queue(how) ? is_held<ticket_queue> : is_held<futex_mutex>;
}

bool tagged_lock::acquire(algorithm how, const lock_waiter& who) noexcept {
  switch (how) {
    case algorithm::tatas:
      return acquire_tatas(who);
    case algorithm::priority_tatas:
      return acquire_priority(who);
    case algorithm::ticket:
    case algorithm::fifo_ticket:
      if (who.deadline != machine::no_deadline) return acquire_until(who);
      return try_until_settled(how, who.here) || acquire_in_line(how, who);
    case algorithm::spin:
      return acquire_futex(futex_mutex::waits::spinning, who);
    default:
      return acquire_futex(futex_mutex::waits::parking, who);
  }
}

bool tagged_lock::acquire_futex(futex_mutex::waits how, const lock_waiter& who) noexcept {
  if (words_.futex.acquire_if_free()) return true;
  if (who.task != nullptr) return words_.futex.lock_slow(*who.task, how);
  return words_.futex.lock_slow(who.deadline, how);
}

bool tagged_lock::acquire_tatas(const lock_waiter& who) noexcept {
  if (who.task != nullptr) return words_.tatas.lock(*who.task);
  return words_.tatas.try_lock_until_ns(who.deadline);
}

bool tagged_lock::acquire_priority(const lock_waiter& who) noexcept TXSYNC_UNCHECKED {
  constexpr algorithm how = algorithm::priority_tatas;
  if (who.deadline == machine::no_deadline) {
    if (try_until_settled(how, who.here)) return true;
    if (who.task != nullptr) return words_.priority.lock(*who.task);
    words_.priority.lock();
    return true;
  }
  exponential_backoff backoff(spin_lock_waiting);
  while (!try_acquire(how, [&who]() noexcept { return who.here; })) {
    if (machine::clock_ns() >= who.deadline) return false;
    backoff.wait();
  }
  return true;
}

/// True: the caller owns the lock. False, only with a wait task: the caller is in an attempt.
bool tagged_lock::acquire_in_line(algorithm how, const lock_waiter& who) noexcept {
  if (how == algorithm::ticket) return limited_ticket(words_.queue, limiter_).lock(who.task);
  const std::uint32_t ticket = words_.queue.draw();
  return words_.queue.is_served(ticket) || words_.queue.wait(ticket, who.task);
}

/// Used instead of waiting behind threads that do not exist. True: the lock was acquired. False: it has been settled.
bool tagged_lock::try_until_settled(algorithm how, std::uint16_t here) noexcept {
  while (is_of_another(here)) {
    if (try_acquire(how, [here]() noexcept { return here; })) return true;
    machine::sleep_ns(pause_ns);
  }
  return false;
}

/// Whether several processes use the same memory. The child of a fork clears the flag on memory of its own.
bool tagged_lock::is_of_several(const lock_waiter& who) noexcept {
  std::uint16_t seen = mark_.load(std::memory_order_relaxed);  // relaxed: only decides where a thread waits
  if ((seen & of_several) == 0) return false;
  if (who.is_shared != nullptr && who.is_shared(&words_)) return true;
  // relaxed: nobody else has this memory, and within the process others rely on nothing that the flag decides
  mark_.compare_exchange_strong(seen, process_of(seen), std::memory_order_relaxed);
  return false;
}

/// Waits in the queue, but not at the concurrency limiter: a timed waiter is one thread more inside. It does not leave
/// if a thread of another process may have to see that. It does not stand in line if several processes use the lock by
/// turns.
bool tagged_lock::acquire_until(const lock_waiter& who) noexcept {
  detail::doubling naps_ns(pause_ns, max_pause_ns);
  for (bool alone = true;;) {
    alone = alone && !is_of_several(who);  // asks the system once at most
    const timed_wait came_to = !alone || is_of_another(who.here)
                                   ? timed_wait::no_room
                                   : draw_and_wait_until(words_.queue, who.deadline, who.ask);
    if (came_to != timed_wait::no_room) return came_to == timed_wait::served;
    // The queue belongs to a parent's threads, or hundreds of timed waiters have filled the list.
    if (words_.queue.draw_if_served()) return true;
    if (!detail::nap(naps_ns.next(), who.deadline)) return false;
  }
}

/// By the owner. Until then the threads of this process only try, so that none is lost. If several processes use the
/// memory, the ready threads that are counted exist and end their wait themselves.
void tagged_lock::become_of(algorithm how, std::uint16_t here, shared_look is_shared) noexcept {
  const std::uint16_t last = mark_.load(std::memory_order_relaxed);  // relaxed: ordered by the lock
  if (how == algorithm::priority_tatas) {
    const bool may_exist = words_.priority.has_ready() && is_shared != nullptr && is_shared(&words_);
    if (!may_exist) words_.priority.forget_ready();
  }
  // The concurrency limiter knows by itself that its passive set is a parent's. Other threads may be asking it now.
  // release pairs with is_of_another(): a thread that waits as usual finds no ready threads of a parent
  mark_.store(static_cast<std::uint16_t>(last != 0 ? here | of_several : here), std::memory_order_release);
  // before the caller says that it is the owner: threads that wait with a deadline may ask for the owner
  machine::fence();
}

void tagged_lock::release_queue(algorithm how, std::uint16_t here) noexcept TXSYNC_UNCHECKED {
  if (is_of_another(here)) [[unlikely]] {
    // Taken before the fork, by the thread that forked. The other tickets are the parent's: threads of this process only
    // try. The last step frees the lock, so nothing may be written after it.
    for (std::uint32_t drawn = words_.queue.active(); drawn != 0; --drawn) words_.queue.serve_next();
    return;
  }
  const std::uint32_t next = ticket_queue::ticket_after(words_.queue.ticket_of_holder());
  if (how == algorithm::ticket)
    limited_ticket(words_.queue, limiter_).unlock();
  else
    words_.queue.serve_next();
  pass_on_left(words_.queue, next);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
