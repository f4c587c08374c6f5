// SPDX-License-Identifier: Apache-2.0
// elision::part_ has `changing` set while one thread, which has set it, is the only one to write since_ and what stands
// around it. All of it is advice: a stale read puts some sections into the wrong window, and makes none of them wrong.
// Which is why relaxed is enough for all that part_ does not publish.
#include "speculate/trial.hpp"

#include <algorithm>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND {

constinit elision elision::unnamed_{};

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Values of part_.
constexpr std::uint32_t between = 0;
constexpr std::uint32_t first_elided = 1;
constexpr std::uint32_t settling = 16;
constexpr std::uint32_t locked_window = 17;
constexpr std::uint32_t changing = 1u << 31;

// Where the lock was kept, its sleepers have to be woken one by one before elision can show what it can do.
constexpr std::uint32_t windows_at_first = 2;
constexpr std::uint32_t windows_after_lock = 4;
constexpr std::uint32_t most_agreed = 6;

// Long sections make long windows: few of them tell little.
constexpr std::uint64_t longest_window = 8;  // times the shortest
constexpr std::uint64_t fewest = std::uint64_t{48} * 256;

constexpr std::uint64_t no_length = ~std::uint64_t{0};

bool locked_before(std::uint32_t agreed) noexcept { return agreed != 0 && agreed % 2 != 0; }

}  // namespace

/// A batch that began before the window counts for the part of it that lies within.
void elision_trial::add(elision& how, std::uint64_t since, std::uint64_t last, std::uint64_t now) noexcept {
  std::uint64_t sections = std::uint64_t{detail::section_log::batch} * 256;
  if (last < since) sections = sections * (now - since) / std::max<std::uint64_t>(1, now - last);
  elision::tally& mine = how.done_[machine::thread_id() % elision::tallies];
  mine.sections.fetch_add(sections, relaxed);
  const std::uint64_t length = detail::my_sections.attempt_cycles;
  if (length < mine.shortest.load(relaxed)) mine.shortest.store(length, relaxed);
}

elision_trial::seen elision_trial::take_tallies(elision& how) noexcept {
  seen all;
  for (elision::tally& one : how.done_) {
    all.sections += one.sections.exchange(0, relaxed);
    all.shortest = std::min(all.shortest, one.shortest.exchange(no_length, relaxed));
  }
  return all;
}

std::uint64_t elision_trial::sections_of(const elision& how) noexcept {
  std::uint64_t all = 0;
  for (const elision::tally& one : how.done_) all += one.sections.load(relaxed);
  return all;
}

/// The next trial is the later, the more often this one's answer was given before: 16 to 512 times its length.
std::uint32_t elision_trial::decide(elision& how, bool locked, std::uint64_t now) noexcept {
  const std::uint32_t agreed = how.agreed_.load(relaxed);
  const bool as_before = agreed != 0 && locked_before(agreed) == locked;
  const std::uint32_t times = as_before ? std::min(agreed / 2 + 1, most_agreed) : 1;
  how.agreed_.store(times * 2 + (locked ? 1 : 0), relaxed);
  how.takes_lock_.store(locked, relaxed);
  how.since_.store(now + ((now - how.began_.load(relaxed)) << (times + 3)), relaxed);
  return between;
}

std::uint32_t elision_trial::end_window(elision& how, std::uint32_t part, std::uint64_t now) noexcept {
  seen window = take_tallies(how);
  window.took = std::max<std::uint64_t>(1, now - how.since_.load(relaxed));
  const std::uint64_t rate = (window.sections << 16) / window.took;
  how.since_.store(now, relaxed);
  if (part == settling) return locked_window;
  if (part == locked_window) {
    // A tie is the lock's: attempts that gain nothing abort others'.
    const std::uint64_t elided = how.best_elided_.load(relaxed);
    return decide(how, rate + rate / 16 > elided, now);
  }
  if (rate > how.best_elided_.load(relaxed)) how.best_elided_.store(rate, relaxed);
  if (window.shortest != no_length) {
    const std::uint64_t in_a_row = window.sections * window.shortest / 256;
    if (in_a_row > window.took + window.took / 4) return decide(how, false, now);
  }
  const std::uint32_t windows = locked_before(how.agreed_.load(relaxed)) ? windows_after_lock : windows_at_first;
  if (part < windows) return part + 1;
  how.takes_lock_.store(true, relaxed);
  return settling;
}

void elision_trial::look(elision& how) noexcept {
  detail::section_log& mine = detail::my_sections;
  const std::uint64_t now = machine::cycles();
  const std::uint64_t last = mine.last_look;
  mine.last_look = now;
  mine.timed = true;
  // acquire pairs with the release at the end: what stands around it is of this part
  std::uint32_t part = how.part_.load(std::memory_order_acquire);
  const std::uint64_t since = how.since_.load(relaxed);
  if ((part & changing) != 0 || now <= since) return;
  if (part != between) {
    add(how, since, last, now);
    const std::uint64_t shortest = how.policy_.trial_cycles;
    if (now - since < shortest || (now - since < longest_window * shortest && sections_of(how) < fewest)) return;
  }
  // acquire as above; who fails has been overtaken, and looks again some other time
  if (!how.part_.compare_exchange_strong(part, part | changing, std::memory_order_acquire, relaxed)) return;
  std::uint32_t next = first_elided;
  if (part == between) {
    (void)take_tallies(how);
    how.best_elided_.store(0, relaxed);
    how.began_.store(now, relaxed);
    how.since_.store(now, relaxed);
    how.takes_lock_.store(false, relaxed);
  } else {
    next = end_window(how, part, now);
  }
  how.part_.store(next, std::memory_order_release);
}

}  // namespace txsync::inline TXSYNC_BACKEND
