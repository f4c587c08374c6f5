// SPDX-License-Identifier: Apache-2.0
// The waiting side of futex_mutex. A waiter is in one of these states:
//
// | State    | In the word                   | How it waits           | Next state                                   |
// |----------|-------------------------------|------------------------|----------------------------------------------|
// | newcomer | -                             | spins                  | owner, if the lock is free; in line; aside,  |
// |          |                               |                        | with a deadline or a real-time priority      |
// | in line  | `line`; number drawn,         | sleeps on the place of | head: an unlock grants its number, or there  |
// |          | not granted                   | its number             | was neither head nor line when it drew       |
// | head     | `head`; number granted;       | spins and naps; sleeps | owner, if the lock is free; overdue, past    |
// |          | `sleeping` while it sleeps    | in a long section      | its deadline or at age `due_age`             |
// | overdue  | `head`, `overdue`             | spins, then sleeps     | owner: the next unlock sets `given_to_head`  |
// | aside    | `aside_bits` count it; then   | sleeps on the low half | owner, if the lock is free or an unlock has  |
// |          | `pressing`, or `urgent`       | of the word            | set `given_to_aside`; gone, at its deadline  |
//
// `pressing`: it has waited for long enough. `urgent`: it has a real-time priority.
//
// What holds in every schedule:
//  - The lock is free only if there is a head or no line. A head clears its bits when it gets the lock, and later gives
//    the lock up. That unlock sees the line and grants the next number in the same exchange. A thread that draws a
//    number while there is neither head nor line is the head at once.
//  - No wake-up is lost. A waiter in line sleeps on the place of its number, and reads that place before it reads the
//    word. A thread that changes the word for it changes the place afterwards. Waiters aside sleep on the low half of
//    the word, which every unlock changes.
//  - A release by plain stores may miss a bit that a waiter has just set. So membarrier_releases() stands between a
//    waiter's bit and its next read of the word. Either that read sees the release, or the release sees the bit.
//  - A lock that was given to the head (or to a waiter aside) stays held until that waiter claims it.
#include <algorithm>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"
#include "patience.hpp"
#include "sleeping_places.hpp"
#include "waiter_limits.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {

constexpr std::uint64_t min_nap_ns = 20'000;
constexpr std::uint64_t max_nap_ns = 500'000;
// For waiters that a full line has no room for. The line takes longer anyway. Six thousand waiters that each looked
// every 20 ms kept two CPUs busy.
constexpr std::uint64_t min_full_line_nap_ns = 20'000'000;
constexpr std::uint64_t max_full_line_nap_ns = 640'000'000;
constexpr std::uint64_t max_full_aside_nap_ns = 160'000'000;  // likewise, for waiters aside
constexpr std::uint64_t usual_max_wait_ns = 1'000'000;
constexpr std::uint64_t usual_min_lead_ns = 250'000;
constexpr std::uint64_t endless_ns = 1'000'000'000'000'000;
constexpr std::uint64_t no_limit = ~std::uint64_t{0};
constexpr std::uint64_t brief_spin = 512;     // cycles
constinit std::uint64_t max_spin = no_limit;  // cycles; lowered by explorations
// A head that sleeps until the current critical section ends is woken by that end, and hardly ever by the timer. A
// timer that is not the next one of its CPU need not be set in hardware. Setting it takes a virtual machine some
// microseconds. So with one CPU the timer ends later than the deadline.
constexpr std::uint64_t max_extra_sleep_ns = 3'000'000;
constexpr std::uint64_t due_age = 192;
// In the child of a fork, the head may be a thread of the parent. A waiter first checks for that after the shorter
// time, and then at growing intervals. A thousand waiters that each checked a hundred times a second would keep the
// CPUs busy.
constexpr std::uint64_t min_trust_in_others_ns = 10'000'000;
constexpr std::uint64_t max_trust_in_others_ns = 640'000'000;

/// With one CPU the holder cannot run while another thread spins. No waiter calls machine::yield(): the kernel may not
/// run it again for some milliseconds. A sleeping thread runs as soon as it is woken.
bool has_one_cpu() noexcept { return machine::cpu_count() == 1; }

bool may_be_dead() noexcept { return machine::fork_count() != 0; }

/// When a sleeper checks next whether the waiters before it exist.
class looks {
 public:
  std::uint64_t next(std::uint64_t deadline) noexcept {
    if (!may_be_dead()) return deadline;
    return std::min(deadline, machine::clock_ns() + distances_ns_.next());
  }

 private:
  detail::doubling distances_ns_{min_trust_in_others_ns, max_trust_in_others_ns};
};

constexpr std::uint64_t min_pause = 128;  // cycles

/// Leaves, at the end of a scope, a place that the thread has entered.
class visit {
 public:
  explicit visit(detail::sleeping_place& place) noexcept : place_(place) {}
  ~visit() { place_.leave(); }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

 private:
  detail::sleeping_place& place_;
};

}  // namespace

/// How a waiter reads the lock at growing intervals. All times in machine::cycles().
struct futex_mutex::spinning {
  std::uint64_t budget;
  std::uint64_t max_pause;
};
struct futex_mutex::waiting {
  spinning at_arrival;
  spinning at_head;  // between two naps
};

namespace {
// Found with ./dev bench locks.
constexpr std::uint64_t overdue_budget = 40'000;
constexpr std::uint64_t overdue_pause = 512;
}  // namespace

// A waiter's deadline: the first time after its arrival, but not before the second time after it became the head.
constinit std::uint64_t detail::max_wait_ns = usual_max_wait_ns;
constinit std::uint64_t detail::min_lead_ns = usual_min_lead_ns;

void detail::wait_with(patience how) noexcept {
  max_wait_ns = usual_max_wait_ns;
  if (how == patience::none) max_wait_ns = 0;
  if (how == patience::endless) max_wait_ns = endless_ns;
  min_lead_ns = how == patience::none ? 0 : usual_min_lead_ns;
  max_spin = how == patience::usual ? no_limit : brief_spin;
}

/// The word with `quiet` set as the other bits require.
constexpr std::uint64_t futex_mutex::settled(std::uint64_t word) noexcept {
  const bool tells = (word & (aside_bits | sleeping | overdue)) != 0 || (word & (line | head)) == line;
  return tells ? word & ~quiet : word | quiet;
}

/// The word with the next number granted.
constexpr std::uint64_t futex_mutex::with_next_head(std::uint64_t word) noexcept {
  const std::uint16_t next = number(granted(word) + 1u);
  word = (word & ~(granted_bits | line | heads_bits)) | std::uint64_t{next} << granted_shift | head;
  return next != drawn(word) ? word | line : word;
}

/// Acquires if `seen` says that the lock is free. Reloads `seen` if it fails.
bool futex_mutex::take(std::uint64_t& seen, waiter who) noexcept {
  const std::uint64_t taken_away = who == waiter::head ? heads_bits : 0;
  // acquire pairs with the release of release_unless_waited() and release()
  return word_.compare_exchange_strong(seen, settled((seen & ~taken_away) | held), std::memory_order_acquire,
                                       std::memory_order_relaxed);
}

/// Acquires if `seen` says that the lock is free, or given to the caller. Reloads `seen` if it fails.
bool futex_mutex::claim(std::uint64_t& seen, waiter who) noexcept {
  while ((seen & held) == 0 || (who == waiter::head && (seen & given_to_head) != 0)) {
    if (take(seen, who)) return true;
  }
  return false;
}

/// Returns true when it got the lock.
///
/// A lock that changes hands costs some line transfers. So it pays to let its owner run a few more short critical
/// sections, but not to miss the end of a long one. The waiter therefore compares two reads of the word:
///  - At most one section has ended between them: the next read follows closely, and a free lock is taken.
///  - More have ended: the pauses double, and a free lock is taken only after the longest pause.
[[gnu::always_inline]] inline bool futex_mutex::spin(const spinning& how, waiter who, arrival* times) noexcept {
  std::uint64_t before = word_.load(std::memory_order_relaxed);  // relaxed: only a look
  if (has_one_cpu()) return claim(before, who);
  detail::jitter jitter(&how);
  std::uint64_t pause = min_pause;
  bool was_long = false;
  const std::uint64_t budget = std::min(how.budget, max_spin);
  for (std::uint64_t spun = 0; spun < budget;) {
    const std::uint64_t length = pause / 2 + jitter.upto(pause / 2);
    const detail::span paused = detail::pause_for(length);
    if (times != nullptr) {
      if (spun == 0) times->begin = paused.begin;
      times->end = paused.end;
    }
    spun += length;
    if (was_long && who == waiter::newcomer && acquire_if_free()) return true;
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: only a look
    const bool is_long = sections_between(before, seen) <= 1;
    was_long = is_long;
    const bool is_given = (seen & given_to_head) != 0;
    before = seen;
    if ((is_long || is_given || pause >= how.max_pause) && claim(seen, who)) return true;
    pause = is_long ? min_pause : std::min(2 * pause, how.max_pause);
  }
  return false;
}

/// Returns false if it got the lock instead. Otherwise the thread has drawn a number and entered its place. It enters
/// the place before others can see the number as drawn, so that nobody takes it for a dead thread's.
bool futex_mutex::draw(std::uint16_t& mine) noexcept {
  static_assert(detail::waiter_limits().in_line == max_line);
  detail::doubling naps_ns(min_full_line_nap_ns, max_full_line_nap_ns);
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  for (;;) {
    if (claim(seen, waiter::newcomer)) return false;
    if (number(drawn(seen) - std::uint32_t{granted(seen)}) >= detail::max_waiters.in_line) {
      machine::sleep_ns(naps_ns.next());
      seen = word_.load(std::memory_order_relaxed);  // relaxed: as above
      continue;
    }
    mine = drawn(seen);
    const std::uint64_t in_line = (seen & ~drawn_bits) | std::uint64_t{number(mine + 1u)} << drawn_shift;
    const bool is_first = (seen & (line | head)) == 0;
    detail::sleeping_place& place = detail::place_of(this, mine);
    place.enter();
    // release pairs with the acquire of replace_the_dead(): a thread that sees the number sees who has entered its
    // place
    if (word_.compare_exchange_weak(seen, settled(is_first ? with_next_head(in_line) : in_line | line),
                                    std::memory_order_release, std::memory_order_relaxed)) {
      return true;
    }
    place.leave();
  }
}

void futex_mutex::await_grant(std::uint16_t mine) noexcept {
  detail::sleeping_place& place = detail::place_of(this, mine);
  looks for_dead;
  for (;;) {
    const std::uint32_t ticket = place.ticket();
    // relaxed: a change made before the place changed is seen after ticket()
    const std::uint64_t seen = word_.load(std::memory_order_relaxed);
    if (is_granted(seen, mine)) return;
    if (place.sleep(ticket, for_dead.next(machine::no_deadline)) == machine::park_result::timed_out) {
      replace_the_dead();
    }
  }
}

void futex_mutex::wait_in_line(const waiting& how, std::uint64_t before) noexcept {
  const std::uint64_t arrived_ns = machine::clock_ns();
  std::uint16_t mine = 0;
  if (!draw(mine)) return;
  const visit here(detail::place_of(this, mine));
  const std::uint64_t drawn_at = word_.load(std::memory_order_relaxed);  // relaxed: only a look
  if (!is_granted(drawn_at, mine)) {
    await_grant(mine);
    before = 0;
  }
  lead(how, mine, arrived_ns, before);
}

/// Requires: the caller is the head. `before` is the word when the caller arrived, or 0 if that is unknown.
void futex_mutex::lead(const waiting& how, std::uint16_t mine, std::uint64_t arrived_ns,
                       std::uint64_t before) noexcept {
  TXSYNC_ASSERT(
      (word_.load(std::memory_order_relaxed) & head) != 0 && head_of(word_.load(std::memory_order_relaxed)) == mine,
      "the waiter that leads is the head");
  // Not the same for all. With sections of one length, some threads would get one section more than others each time.
  const std::uint64_t lead_ns = detail::jitter(&arrived_ns).upto(detail::min_lead_ns / 3 * 4);
  const std::uint64_t due = std::max(arrived_ns + detail::max_wait_ns, machine::clock_ns() + lead_ns);
  detail::sleeping_place& place = detail::place_of(this, mine);
  for (detail::doubling naps_ns(min_nap_ns, max_nap_ns);;) {
    const std::uint32_t ticket = place.ticket();
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: only a look
    if (claim(seen, waiter::head)) return;
    const std::uint64_t now = machine::clock_ns();
    if (now >= due || (seen & age_bits) >= due_age * older) return lead_overdue(mine);
    if (is_same_section(before, seen)) {
      // The critical section is long, so its unlock may wake its waiter.
      if (sleep_until_given_up(place, has_one_cpu() ? due + max_extra_sleep_ns : due)) return;
      before = 0;
      continue;
    }
    before = seen;
    if (spin(how.at_head, waiter::head)) return;
    if (is_same_section(before, word_.load(std::memory_order_relaxed))) continue;  // relaxed: only a look
    place.sleep(ticket, std::min(now + naps_ns.next(), due));
  }
}

/// Requires: the caller is the head. Sleeps until the next unlock at most. True: it got the lock.
bool futex_mutex::sleep_until_given_up(detail::sleeping_place& place, std::uint64_t until_ns) noexcept {
  TXSYNC_ASSERT((word_.load(std::memory_order_relaxed) & head) != 0, "the waiter that asks for a wake-up is the head");
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  do {
    if (claim(seen, waiter::head)) return true;
    // relaxed: asks for a wake-up, and orders nothing; the read below comes after membarrier_releases()
  } while (!word_.compare_exchange_weak(seen, settled(seen | sleeping), std::memory_order_relaxed));
  machine::membarrier_releases();
  for (bool late = false;;) {
    const std::uint32_t ticket = place.ticket();
    seen = word_.load(std::memory_order_relaxed);  // relaxed: after ticket(), as in await_grant()
    if (claim(seen, waiter::head)) return true;
    if ((seen & sleeping) == 0) return false;
    if (late) {
      // relaxed: as above. A wake-up that still comes is unnecessary and harmless
      if (word_.compare_exchange_weak(seen, settled(seen & ~sleeping), std::memory_order_relaxed)) return false;
      continue;
    }
    late = place.sleep(ticket, until_ns) == machine::park_result::timed_out;
  }
}

/// Requires: the caller is the head. The next unlock gives it the lock.
void futex_mutex::lead_overdue(std::uint16_t mine) noexcept {
  TXSYNC_ASSERT(
      (word_.load(std::memory_order_relaxed) & head) != 0 && head_of(word_.load(std::memory_order_relaxed)) == mine,
      "the overdue waiter is the head");
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  do {
    if (claim(seen, waiter::head)) return;
    // relaxed: as in sleep_until_given_up()
  } while (!word_.compare_exchange_weak(seen, settled(seen | overdue), std::memory_order_relaxed));
  machine::membarrier_releases();
  // A hand-over to a running thread costs a line transfer; one to a sleeping thread costs a wake-up.
  if (spin({overdue_budget, overdue_pause}, waiter::head)) return;
  detail::sleeping_place& place = detail::place_of(this, mine);
  looks for_dead;
  for (;;) {
    const std::uint32_t ticket = place.ticket();
    seen = word_.load(std::memory_order_relaxed);  // relaxed: as in await_grant()
    if (claim(seen, waiter::head)) return;
    if (place.sleep(ticket, for_dead.next(machine::no_deadline)) == machine::park_result::timed_out) {
      replace_the_dead();
    }
  }
}

/// Becomes a waiter aside, unless it gets the lock first or its deadline passes.
futex_mutex::joined futex_mutex::join_aside(std::uint64_t deadline, std::uint64_t how) noexcept {
  static_assert(detail::waiter_limits().aside == aside_bits / aside);
  detail::doubling naps_ns(min_nap_ns, max_full_aside_nap_ns);
  std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  for (;;) {
    if (claim(seen, waiter::newcomer)) return joined::got_lock;
    if ((seen & aside_bits) / aside >= detail::max_waiters.aside) {
      if (!detail::nap(naps_ns.next(), deadline)) return joined::late;
      seen = word_.load(std::memory_order_relaxed);  // relaxed: as above
      continue;
    }
    if (detail::is_past(deadline)) return joined::late;
    // release: as in draw()
    if (word_.compare_exchange_weak(seen, settled((seen + aside) | how), std::memory_order_release,
                                    std::memory_order_relaxed))
      break;
  }
  machine::membarrier_releases();
  return joined::waits;
}

bool futex_mutex::wait_aside(std::uint64_t deadline, bool realtime) noexcept {
  detail::sleeping_place& place = detail::place_aside_of(this);
  place.enter();
  const visit here(place);
  // Which bit it sets to ask for the lock, and when.
  const std::uint64_t asks = realtime ? urgent : pressing;
  const std::uint64_t due = realtime || detail::max_wait_ns == 0 ? 0 : machine::clock_ns() + detail::max_wait_ns;
  const joined how = join_aside(deadline, due == 0 ? asks : 0);
  if (how != joined::waits) return how == joined::got_lock;
  looks for_dead;
  bool is_due = due == 0;
  for (bool late = false;;) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchanges decide
    // If others aside have asked, the next unlock wakes one of them first, which then asks again.
    const std::uint64_t left = (seen - aside) & ~(urgent | pressing);
    if ((seen & held) == 0 || (seen & given_to_aside) != 0) {
      // acquire pairs with the release of release_unless_waited() and release()
      if (word_.compare_exchange_weak(seen, settled((left & ~given_to_aside) | held), std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    } else if (late) {
      // relaxed: orders nothing
      if (word_.compare_exchange_weak(seen, settled(left), std::memory_order_relaxed)) return false;
    } else if (is_due && (seen & asks) == 0) {
      // relaxed: as in join_aside(). From then on unlocks take the slow path, so that none is missed.
      word_.compare_exchange_weak(seen, settled(seen | asks), std::memory_order_relaxed);
    } else {
      const std::uint64_t until = is_due ? deadline : std::min(deadline, due);
      const auto woken = machine::park_low(word_, static_cast<std::uint32_t>(seen), for_dead.next(until));
      is_due = is_due || detail::is_past(due);
      if (woken != machine::park_result::timed_out) continue;
      replace_the_dead();
      late = detail::is_past(deadline);
    }
  }
}

/// In the child of a fork: the word without the waiters aside, if all of them are threads of the parent.
std::uint64_t futex_mutex::without_dead_aside(std::uint64_t word) const noexcept {
  if ((word & (aside_bits | given_to_aside)) == 0 || detail::place_aside_of(this).is_in_use()) return word;
  if ((word & given_to_aside) != 0) word &= ~held;
  return word & ~(given_to_aside | aside_bits | urgent | pressing);
}

/// In the child of a fork: whether the head is a thread of the parent.
bool futex_mutex::is_head_dead(std::uint64_t word) const noexcept {
  return (word & head) != 0 && !detail::place_of(this, head_of(word)).is_in_use();
}

/// A thread that has waited long checks whether the threads with the next turn exist.
void futex_mutex::replace_the_dead() noexcept {
  if (!may_be_dead()) return;
  // acquire pairs with the release of draw() and join_aside()
  std::uint64_t seen = word_.load(std::memory_order_acquire);
  for (;;) {
    std::uint64_t next = without_dead_aside(seen);
    if (is_head_dead(next)) {
      const std::uint64_t given = next & given_to_head;
      if ((next & line) != 0) {
        next = with_next_head(next) | given;
      } else {
        next &= ~heads_bits;
        if (given != 0) next &= ~held;
      }
    } else if ((next & (held | line | head)) == line) {
      next = with_next_head(next);
    }
    if (next == seen) return;
    // release and acquire: passes on what an earlier release gave, as the thread that is gone would have done
    if (!word_.compare_exchange_strong(seen, settled(next), std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    if ((next & head) != 0) detail::place_of(this, head_of(next)).wake();
    seen = settled(next);
  }
}

const futex_mutex::waiting& futex_mutex::chosen(waits how) noexcept {
  static constexpr waiting as_parking = {{20'000, 8'192}, {5'000, 8'192}};
  static constexpr waiting as_spinning = {{60'000, 1'024}, {60'000, 1'024}};
  return how == waits::parking ? as_parking : as_spinning;
}

bool futex_mutex::lock_spinning(arrival& seen, waits how) noexcept {
  seen.word = word_.load(std::memory_order_relaxed);  // relaxed: only a look
  return machine::annotate_unseen_acquire_if(spin(chosen(how).at_arrival, waiter::newcomer, &seen), &word_);
}

bool futex_mutex::lock_after(const arrival& seen, std::uint64_t deadline, waits how) noexcept {
  const bool realtime = machine::has_realtime_priority();
  if (realtime || deadline != machine::no_deadline)
    return machine::annotate_unseen_acquire_if(wait_aside(deadline, realtime), &word_);
  wait_in_line(chosen(how), seen.word);
  machine::annotate_unseen_acquire(&word_);
  return true;
}

bool futex_mutex::lock_slow(std::uint64_t deadline, waits how) noexcept {
  arrival seen;
  return lock_spinning(seen, how) || lock_after(seen, deadline, how);
}

bool futex_mutex::lock_slow(wait_task& task, waits how) noexcept {
  const auto is_over = [](const void* lock, std::uint64_t) noexcept {
    return !static_cast<const futex_mutex*>(lock)->is_held();
  };
  for (;;) {
    const wait_task::result result = task.run_once({is_over, this, 0, 1});
    if (result == wait_task::result::in_attempt) return false;
    if (acquire_if_free()) break;
    if (result == wait_task::result::nothing) return lock_slow(machine::no_deadline, how);
  }
  machine::annotate_unseen_acquire(&word_);
  return true;
}

/// The word after an unlock, and which waiters to wake.
std::uint64_t futex_mutex::given_up(std::uint64_t seen, bool fair, told& whom) noexcept {
  const bool ages = is_last_turn(seen) && (seen & head) != 0;
  const bool at_max_age = (seen & age_bits) == max_age * older;
  std::uint64_t next = (seen & ~holders_bits) | released(seen);
  if (ages && !at_max_age) next += older;
  if ((next & urgent) != 0) {
    whom.aside = true;
    return settled(next | held | given_to_aside);
  }
  const bool due_by_age = ages && (next & age_bits) == due_age * older;
  if ((next & (line | head)) == line) {
    next = with_next_head(next);
    whom.head = true;
  }
  const bool head_is_due = (next & head) != 0 && (fair || (next & overdue) != 0 || (ages && at_max_age));
  // The head has the odd turns. The turn at which its age grows is one of these.
  if ((next & pressing) != 0 && !(head_is_due && (seen & turn) != 0)) {
    whom.head = whom.head || due_by_age;
    whom.aside = true;
    return settled(next | held | given_to_aside);
  }
  if (head_is_due) {
    whom.head = true;
    return settled((next & ~(overdue | sleeping)) | held | given_to_head);
  }
  if ((next & sleeping) != 0 || due_by_age) whom.head = true;
  whom.aside = (next & aside_bits) != 0;
  return settled(next & ~sleeping);
}

void futex_mutex::release(bool fair) noexcept {
  machine::annotate_unseen_release(&word_);
  // acquire pairs with the release of draw() and join_aside(); the exchange decides
  std::uint64_t seen = word_.load(std::memory_order_acquire);
  std::uint64_t next;
  told whom;
  do {
    whom = {};
    if (may_be_dead()) [[unlikely]] {
      next = given_up(without_dead_aside(seen), fair, whom);
      // This head's own waiters find out later that it is dead. Nobody else would.
      if ((next & given_to_head) != 0 && is_head_dead(next)) next = settled(next & ~(held | given_to_head));
    } else {
      next = given_up(seen, fair, whom);
    }
    // release pairs with the acquire of the next owner
  } while (!word_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_acquire));
  // Both by address only: the word may be gone.
  if (whom.head) detail::place_of(this, head_of(next)).wake();
  if (whom.aside) machine::unpark_low(word_, 1);
}

void futex_mutex::unlock_slow() noexcept { release(false); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND
