// SPDX-License-Identifier: Apache-2.0
#include "acquisition.hpp"

#include <algorithm>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/speculate/warm_up.hpp>

#include "identity.hpp"
#include "locks/backoff.hpp"
#include "locks/left_tickets.hpp"
#include "order.hpp"
#include "speculating_sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

/// The lock that the calling thread waits for while it runs ahead: written before the attempt, so that it stands when
/// that is undone.
[[gnu::tls_model("initial-exec")]] constinit thread_local const mutex_state* waited_for = nullptr;

bool wants_warm_up(const policy::packed& policy) noexcept {
  return policy.warm_up != policy::warm_up_kind::unsaid && policy.warm_up != policy::warm_up_kind::off;
}

algorithm plain_lock(const policy::packed& policy, std::int32_t kind) noexcept {
  if ((kind & mutex_state::foreign_bits) != 0) return algorithm::libc;
  switch (policy.lock) {
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
    case policy::lock_kind::unsaid:
    case policy::lock_kind::mutex:
      break;
  }
  if (watches_order()) return algorithm::watched_futex;
  const std::int32_t type = kind & mutex_state::kind_bits;
  const bool checked = type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;
  return checked ? algorithm::checked_futex : algorithm::futex;
}

bool has_queue(algorithm how) noexcept { return how == algorithm::ticket || how == algorithm::fifo_ticket; }
/// Whether it counts its waiters, those of a fork's parent among them.
bool counts_waiters(algorithm how) noexcept { return has_queue(how) || how == algorithm::priority_tatas; }

/// True: the lock is the caller's. False, only where there is something to do meanwhile: it runs ahead.
bool wait_in_line(mutex_state& mutex, algorithm how, pastime* meanwhile) noexcept {
  switch (how) {
    case algorithm::tatas:
      if (meanwhile != nullptr) return mutex.word.tatas.lock(*meanwhile);
      mutex.word.tatas.lock();
      return true;
    case algorithm::priority_tatas:
      if (meanwhile != nullptr) return mutex.word.priority.lock(*meanwhile);
      mutex.word.priority.lock();
      return true;
    case algorithm::ticket:
      return detail::ticket_behind_door(mutex.word.queue, mutex.door).lock(meanwhile);
    case algorithm::fifo_ticket: {
      const std::uint32_t ticket = mutex.word.queue.draw();
      return mutex.word.queue.is_served(ticket) || mutex.word.queue.wait(ticket, meanwhile);
    }
    default: {
      const auto waits = how == algorithm::spin ? futex_mutex::waits::spinning : futex_mutex::waits::parking;
      futex_mutex& lock = mutex.word.futex;
      if (lock.acquire_if_free()) return true;
      return meanwhile != nullptr ? lock.lock_slow(*meanwhile, waits) : lock.lock_slow(machine::no_deadline, waits);
    }
  }
}

bool wait_running_ahead(mutex_state& mutex, algorithm how, site& place) noexcept {
  warm_wait ahead(place);
  runs_ahead_of(mutex);
  return wait_in_line(mutex, how, &ahead);
}

// acquire pairs with the release in settle_here()
std::uint16_t mark_of(const mutex_state& mutex) noexcept { return mutex.mark.load(std::memory_order_acquire); }

/// A thread of another process has had the lock last: of the parent, whose threads in its queue or outside its door do
/// not exist here; or of a process that uses the same memory, whose queue this is as long as its threads are in it. Or
/// nobody has had it, and it is not known whose queue it will be.
bool is_of_another(const mutex_state& mutex) noexcept {
  return (mark_of(mutex) & ~unsigned{mutex_state::of_several}) != process_mark();
}

/// Of several processes that use the same memory. The child of a fork clears the flag on memory of its own.
bool is_of_several(mutex_state& mutex) noexcept {
  std::uint16_t seen = mark_of(mutex);
  if ((seen & mutex_state::of_several) == 0) return false;
  if (is_shared_memory(&mutex)) return true;
  // relaxed: nobody else has this memory, and within the process the flag decides nothing that others rely on
  mutex.mark.compare_exchange_strong(seen, static_cast<std::uint16_t>(seen & ~unsigned{mutex_state::of_several}),
                                     std::memory_order_relaxed);
  return false;
}

/// Whether all that are in line before a thread of this process are of this process, too, and see its list of left
/// tickets. A thread of another one stands in line only once an owner of its process has left its mark. It may have the
/// lock before that: then the lock has no owner yet.
bool is_line_of_this_process(const mutex_state& mutex) noexcept {
  if (mutex.owner() == 0) return false;
  machine::fence();  // pairs with that in settle_here(): the owner's mark is seen
  return mark_of(mutex) == process_mark();
}

/// As others wait for that lock, until the deadline.
bool wait_for_tatas(mutex_state& mutex, algorithm how, std::uint64_t deadline) noexcept {
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  while (!try_acquire(mutex, how)) {
    if (machine::clock_ns() >= deadline) return false;
    backoff.wait();
  }
  return true;
}

/// In the queue, but not at its door: a timed waiter is one thread more inside. It does not leave where a thread of
/// another process may have to see that, and does not stand in line where several processes have the lock by turns.
bool wait_for_ticket(mutex_state& mutex, algorithm how, std::uint64_t deadline) noexcept {
  constexpr std::uint64_t pause_ns = 100'000;
  const detail::may_leave ask{
      [](const void* lock) noexcept { return is_line_of_this_process(*static_cast<const mutex_state*>(lock)); },
      &mutex};
  for (bool alone = true;;) {
    alone = alone && !is_of_several(mutex);  // asks the system once at most
    const detail::timed_wait came_to = !alone || is_of_another(mutex)
                                           ? detail::timed_wait::no_room
                                           : detail::draw_and_wait_until(mutex.word.queue, deadline, ask);
    if (came_to != detail::timed_wait::no_room) return came_to == detail::timed_wait::served;
    // The queue of a parent's threads, or hundreds of timed waiters.
    if (try_acquire(mutex, how)) return true;
    const std::uint64_t now = machine::clock_ns();
    if (now >= deadline) return false;
    machine::sleep_ns(std::min(pause_ns, deadline - now));
  }
}

bool wait_until(mutex_state& mutex, algorithm how, std::uint64_t deadline) noexcept {
  if (how == algorithm::tatas || how == algorithm::priority_tatas) return wait_for_tatas(mutex, how, deadline);
  if (has_queue(how)) return wait_for_ticket(mutex, how, deadline);
  return mutex.word.futex.try_lock_until_ns(deadline);
}

/// Instead of queueing up behind threads that do not exist. True when the lock was acquired; false: it has been
/// settled.
bool try_until_settled(mutex_state& mutex, algorithm how) noexcept {
  if (!counts_waiters(how)) return false;
  while (is_of_another(mutex)) {
    if (try_acquire(mutex, how)) return true;
    machine::sleep_ns(100'000);
  }
  return false;
}

/// Locks whose waiters are all alike keep a thread with a real-time priority from its turn. Told once for each site.
void tell_if_priority_is_ignored(lock_tag tag, algorithm how) noexcept {
  constexpr std::uint32_t bits = 64;
  static constinit std::atomic<std::uint64_t> told[most_sites / bits + 1] = {};
  if (how != algorithm::tatas && !counts_waiters(how)) return;
  // Within an attempt no system call is possible; its end comes here once more.
  if (tag.site() == 0 || machine::active() || !machine::has_realtime_priority()) return;
  const std::uint64_t bit = std::uint64_t{1} << tag.site() % bits;
  std::atomic<std::uint64_t>& word = told[tag.site() / bits];
  // relaxed, both: a set of numbers
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
  if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) tell(notice_kind::priority_ignored, tag.site());
}

template <class Lock>
bool is_held(const void* lock) noexcept {
  return static_cast<const Lock*>(lock)->is_held();
}

}  // namespace

bool wants_elision(const policy::packed& policy) noexcept {
  return policy.elision != policy::elision_kind::unsaid && policy.elision != policy::elision_kind::off;
}

lock_tag decide(const site_answer& answer, std::int32_t kind) noexcept {
  const policy::packed& policy = answer.policy;
  const algorithm how = plain_lock(policy, kind);
  const bool is_libcs = how == algorithm::libc;
  // An attempt leaves no owner, which error-checking mutexes and the order of locks want to know.
  const bool wants_owner = (kind & mutex_state::kind_bits) == PTHREAD_MUTEX_ERRORCHECK || watches_order();
  if (!wants_owner && (kind & mutex_state::foreign_bits) == 0) {
    const bool elides = wants_elision(policy) && !is_libcs && machine::htm().attempts;
    const bool warms = wants_warm_up(policy) && machine::htm().always_abort;
    if ((elides || warms) && make_speculating(answer.site, {how, elides, warms}, policy)) {
      return {policy.counting ? algorithm::by_role : algorithm::by_role_uncounted, answer.site};
    }
  }
  return {how, policy.counting ? answer.site : 0};
}

algorithm lock_under(lock_tag tag) noexcept {
  return tag.has_role() ? speculating_site_of(tag.role()).choices().under : tag.how();
}

/// Within an elided section it would end that.
site* runs_ahead_by(lock_tag tag) noexcept {
  if (!tag.has_role() || detail::in_elided_attempt()) return nullptr;
  speculating_site& its = speculating_site_of(tag.role());
  return its.choices().warms && !warm_up_is_off(its.place) ? &its.place : nullptr;
}

void runs_ahead_of(const mutex_state& mutex) noexcept { waited_for = &mutex; }

void count_for_trials(lock_tag tag) noexcept {
  if (!tag.has_role()) return;
  const speculating_site& its = speculating_site_of(tag.role());
  if (its.choices().warms) detail::count_warm_section(its.place, false);
}

bool try_acquire(mutex_state& mutex, algorithm how) noexcept {
  switch (how) {
    case algorithm::tatas:
      return mutex.word.tatas.try_lock();
    case algorithm::priority_tatas:
      return mutex.word.priority.try_lock() || (is_of_another(mutex) && mutex.word.priority.try_lock_past_ready());
    case algorithm::ticket:
    case algorithm::fifo_ticket:
      return mutex.word.queue.draw_if_served();
    default:
      return mutex.word.futex.try_lock();
  }
}

gain acquire(mutex_state& mutex, lock_tag tag, algorithm how, std::uint64_t deadline, lock_call call) noexcept {
  tell_if_priority_is_ignored(tag, how);
  const begun_wait wait = begin_wait(tag.site(), &mutex, call);
  if (deadline != machine::no_deadline) {
    if (!wait_until(mutex, how, deadline)) {
      fail_wait(tag.site(), &mutex, call, wait);
      return gain::nothing;
    }
  } else if (!try_until_settled(mutex, how)) {
    site* const ahead = runs_ahead_by(tag);
    const bool got = ahead == nullptr ? wait_in_line(mutex, how, nullptr) : wait_running_ahead(mutex, how, *ahead);
    if (!got) {
      forget_wait(wait);
      return gain::attempt;
    }
  }
  end_wait(tag.site(), &mutex, call, wait);
  return gain::lock;
}

namespace {

/// Those of a parent. Of memory that several processes use they exist, and end their wait.
void forget_ready(priority_tatas_lock& lock) noexcept {
  if (lock.has_ready() && !is_shared_memory(&lock)) lock.forget_ready();
}

}  // namespace

/// By the owner of a lock that counts its waiters. Until then the threads of this process only try, so that nobody is
/// lost.
void settle_here(mutex_state& mutex, algorithm how) noexcept {
  if (!counts_waiters(how)) [[likely]]
    return;
  const std::uint16_t mine = process_mark();
  const std::uint16_t last = mutex.mark.load(std::memory_order_relaxed);  // relaxed: ordered by the lock
  if ((last & ~unsigned{mutex_state::of_several}) == mine) [[likely]]
    return;
  if (how == algorithm::priority_tatas) {
    forget_ready(mutex.word.priority);
  } else if (last != 0) {
    new (&mutex.door) admission;
  }
  // release: the new door, before others go up to it
  mutex.mark.store(static_cast<std::uint16_t>(last != 0 ? mine | mutex_state::of_several : mine),
                   std::memory_order_release);
  machine::fence();  // before the caller says that it is the owner: is_line_of_this_process()
}

namespace {

void release_ticket(mutex_state& mutex, algorithm how) noexcept {
  const std::uint32_t next = detail::ticket_queue::ticket_after(mutex.word.queue.ticket_of_holder());
  if (how == algorithm::ticket)
    detail::ticket_behind_door(mutex.word.queue, mutex.door).unlock();
  else
    mutex.word.queue.serve_next();
  detail::pass_on_left(mutex.word.queue, next);
}

}  // namespace

void release(mutex_state& mutex, algorithm how) noexcept {
  switch (how) {
    case algorithm::tatas:
      return mutex.word.tatas.unlock();
    case algorithm::priority_tatas:
      return mutex.word.priority.unlock();
    case algorithm::ticket:
    case algorithm::fifo_ticket:
      // Taken before the fork, by the thread that forked.
      if (is_of_another(mutex)) [[unlikely]]
        new (&mutex.word.queue) detail::ticket_queue;
      else
        release_ticket(mutex, how);
      return;
    default:
      return mutex.word.futex.unlock();
  }
}

detail::held_test held_test_of(algorithm how) noexcept {
  if (how == algorithm::tatas) return is_held<tatas_lock>;
  if (how == algorithm::priority_tatas) return is_held<priority_tatas_lock>;
  return has_queue(how) ? is_held<detail::ticket_queue> : is_held<futex_mutex>;
}

bool enter_elided(mutex_state& mutex, lock_tag tag) noexcept {
  speculating_site& its = speculating_site_of(tag.role());
  return detail::enter_elided(its.place, &mutex.word, latch_mode::exclusive, held_test_of(its.choices().under));
}

detail::try_outcome try_enter_elided(mutex_state& mutex, lock_tag tag) noexcept {
  speculating_site& its = speculating_site_of(tag.role());
  return detail::try_enter_elided(its.place, &mutex.word, latch_mode::exclusive, held_test_of(its.choices().under));
}

void unlock_ahead(const mutex_state& mutex) noexcept {
  if (&mutex == waited_for) machine::abort<machine::attempt_status::code_fall_back>();
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
