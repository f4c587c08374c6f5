// SPDX-License-Identifier: Apache-2.0
// Ticket locks some of whose waiters leave when their deadline passes, before or while they are served.
#include "locks/left_tickets.hpp"

#include <new>

#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/cpu.hpp>

#include "explorations/exploration.hpp"
#include "locks/waiter_limits.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

enum class ends : std::uint8_t {
  passes_on,
  forgets,
  enters_without_room  ///< forgets nothing, but a thread without room on the list acts as the holder
};

/// Threads with an odd number wait for at most `patience_ns`, the others without a limit. `room`: how many may wait
/// with a deadline.
template <bool has_limiter, std::uint64_t patience_ns, ends how,
          std::uint32_t room = detail::waiter_limits().tickets_left>
struct left_tickets_test {
  static constexpr unsigned sections = 2;

  detail::ticket_queue queue{};
  concurrency_limiter limiter{};
  unsigned inside = 0;  // guarded by the lock
  unsigned taken = 0;
  bool met = false;
  bool was_full = false;

  left_tickets_test() {
    detail::forget_all_left();
    detail::max_waiters.tickets_left = room;
  }
  ~left_tickets_test() { detail::max_waiters = {}; }

  bool lock(bool is_patient) noexcept {
    if (!is_patient) {
      const auto came_to = detail::draw_and_wait_until(queue, machine::clock_ns() + patience_ns);
      if (came_to == detail::timed_wait::no_room) was_full = true;
      if (came_to == detail::timed_wait::no_room) return how == ends::enters_without_room || queue.draw_if_served();
      return came_to == detail::timed_wait::served;
    }
    if (has_limiter) {
      detail::limited_ticket(queue, limiter).lock();
    } else if (const std::uint32_t ticket = queue.draw(); !queue.is_served(ticket)) {
      queue.wait(ticket);
    }
    return true;
  }
  void unlock() noexcept {
    const std::uint32_t next = detail::ticket_queue::ticket_after(queue.ticket_of_holder());
    if (has_limiter)
      detail::limited_ticket(queue, limiter).unlock();
    else
      queue.serve_next();
    if (how != ends::forgets) detail::pass_on_left(queue, next);
  }

  static void body(left_tickets_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) {
      if (!me.lock(index % 2 == 0)) continue;
      if (me.inside++ != 0) me.met = true;
      ++me.taken;
      --me.inside;
      me.unlock();
    }
  }
  const char* check() const {
    if (met || inside != 0) return "two threads were inside at once";
    if (was_full && room > 1) return "there was no room on a list that was not full";
    if (queue.is_held()) return "a ticket that was left is served, and nobody passes it on";
    if (detail::tickets_left.load() != 0) return "a ticket is on the list that nobody holds";
    return taken >= sections ? nullptr : "a thread that waits for as long as it takes got nothing";
  }
};

/// Each thread makes locks in the same memory, one after another. Each lock but the last ends while it is held and a ticket
/// is left in it, which means nothing to the next one.
struct made_anew_test {
  static constexpr unsigned threads = 2;
  static constexpr unsigned locks = 2;

  struct memory {
    alignas(64) detail::ticket_queue queue{};
    const char* fault = nullptr;
  };
  memory of_thread[threads];
  memory before_the_fork;

  /// The calling thread then holds the new lock.
  static void make(memory& mine) noexcept {
    const std::uint32_t so_far = detail::tickets_listed.load();
    new (&mine.queue) detail::ticket_queue;
    detail::forget_left(&mine.queue, so_far);
    if (!mine.queue.is_served(mine.queue.draw())) mine.fault = "a new lock is held";
  }
  static void leave(memory& mine) noexcept {
    if (detail::draw_and_wait_until(mine.queue, 0) != detail::timed_wait::expired)
      mine.fault = "the next ticket of a lock that is held was served";
  }

  made_anew_test() {
    detail::forget_all_left();
    make(before_the_fork);
    leave(before_the_fork);
    detail::forget_all_left();
  }
  static void body(made_anew_test& me, unsigned index) {
    memory& mine = me.of_thread[index];
    for (unsigned i = 0; i < locks; ++i) {
      make(mine);
      leave(mine);
    }
    make(mine);
    const std::uint32_t next = mine.queue.draw();
    mine.queue.serve_next();
    detail::pass_on_left(mine.queue, next);
    if (!mine.queue.is_served(next)) mine.fault = "a ticket of an earlier lock was passed on";
  }
  const char* check() const {
    for (const memory& one : of_thread)
      if (one.fault != nullptr) return one.fault;
    return detail::tickets_left.load() == 0 ? nullptr : "a ticket is on the list that nobody holds";
  }
};

constexpr auto right = verdict::right;

constexpr exploration table[] = {
    {"fifo_ticket-left", "a deadline has passed, two threads", right,
     run_anew<left_tickets_test<false, 0, ends::passes_on>, 2>},
    {"fifo_ticket-left-3", "the same, three threads", right, run_anew<left_tickets_test<false, 0, ends::passes_on>, 3>},
    {"fifo_ticket-left-4", "two of four leave", right, run_anew<left_tickets_test<false, 0, ends::passes_on>, 4>},
    {"fifo_ticket-left-late", "a deadline passes meanwhile", right,
     run_anew<left_tickets_test<false, 300, ends::passes_on>, 3>},
    {"fifo_ticket-left-few", "two of four leave, one at a time", right,
     run_anew<left_tickets_test<false, 0, ends::passes_on, 1>, 4>},
    {"fifo_ticket-left-few-late", "the same, deadlines pass meanwhile", right,
     run_anew<left_tickets_test<false, 300, ends::passes_on, 1>, 4>},
    {"ticket-left", "with a limiter, two threads", right, run_anew<left_tickets_test<true, 0, ends::passes_on>, 2>},
    {"ticket-left-3", "with a limiter, three threads", right, run_anew<left_tickets_test<true, 0, ends::passes_on>, 3>,
     1},
    {"ticket-left-late", "with a limiter, a deadline passes meanwhile", right,
     run_anew<left_tickets_test<true, 300, ends::passes_on>, 4>, 1},
    {"fifo_ticket-left-anew", "locks in the memory of locks that were never given up", right,
     run_anew<made_anew_test, made_anew_test::threads>},
    {"seeded:fifo_ticket-left", "nobody passes a ticket on", verdict::broken,
     run_anew<left_tickets_test<false, 0, ends::forgets>, 2>},
    {"seeded:fifo_ticket-left-few", "who has no room on the list enters", verdict::broken,
     run_anew<left_tickets_test<false, 300, ends::enters_without_room, 1>, 4>},
};

}  // namespace

std::span<const exploration> left_ticket_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
