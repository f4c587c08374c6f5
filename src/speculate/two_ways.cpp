// SPDX-License-Identifier: Apache-2.0
// An A/B trial. Its state is part_:
//
// | part_          | Mode             | What is measured      | Next state                                        |
// |----------------|------------------|-----------------------|---------------------------------------------------|
// | between        | the one kept     | nothing               | first_window, when next_trial() has come          |
// | first_window   | first            | each window; the      | between (first kept), if the sections one after   |
// | and windows    |                  | fastest one counts    | the other take longer than the window by 1/4;     |
// | after it       |                  |                       | after windows_at_first, or windows_after_second   |
// |                |                  |                       | if the second mode was kept: settling             |
// | settling       | second           | nothing               | second_window                                     |
// | second_window  | second           | this window           | between (first kept), if the first mode wins;     |
// |                |                  |                       | else settling_again in the first trial, and later |
// |                |                  |                       | between (second kept)                             |
// | settling_again | first            | nothing               | first_again                                       |
// | first_again    | first            | this window           | between, with the mode that wins                  |
//
// In first_window, second_window and first_again, a window of more than twice the maximum length is repeated, once in a
// trial.
//
// While a thread changes the state, it has set the bit `changing`. Only that thread then writes since_ and the values
// that belong to the state. All of it is advice: a stale read counts some sections in the wrong window, and no section
// becomes wrong. So relaxed is enough for everything that part_ does not publish.
#include <txsync/speculate/two_ways.hpp>

#include <algorithm>
#include <iterator>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Values of part_.
constexpr std::uint32_t between = 0;
constexpr std::uint32_t first_window = 1;
constexpr std::uint32_t settling = 16;
constexpr std::uint32_t second_window = 17;
constexpr std::uint32_t settling_again = 18;
constexpr std::uint32_t first_again = 19;
constexpr std::uint32_t changing = 1u << 31;

// If the second mode was kept (the lock), its sleepers have to be woken one by one before the first shows its speed.
constexpr std::uint32_t windows_at_first = 2;
constexpr std::uint32_t windows_after_second = 4;
constexpr std::uint32_t max_agreed = 5;

// Long sections make long windows, and few of them tell little. Threads that queue for a lock leave it one by one
// before elision shows its speed. So a window has to hold all of them and as many more.
constexpr std::uint64_t max_window = 32;  // times the shortest window
std::uint64_t min_sections() noexcept {
  return std::max<std::uint64_t>(48, std::uint64_t{2} * machine::cpu_count()) * 256;
}
// Sections that a thread has begun and not reported at the end of a window are lost to that window.
constexpr std::uint64_t reports_a_window = 8;
// The maximum length of a trial without pauses of the program, in windows.
constexpr std::uint64_t max_windows = 8;

// If a thread runs so many sections in a window, it looks at one of 64, or of 256, instead of one of 16.
constexpr std::uint64_t many_a_window = 256;
constexpr std::uint64_t very_many_a_window = 4'096;
// If both slots of a thread are taken, a site waits for so many sections before it gets one of them.
constexpr std::uint32_t patience_of_others = 256;
// So many sections of a thread without one of a site that it knows in a trial, or too few for a report.
constexpr std::uint32_t max_settled_sections = 4'096;

bool second_before(std::uint32_t agreed) noexcept { return agreed != 0 && agreed % 2 != 0; }

}  // namespace

/// A batch that began before the window counts in proportion to the part within it.
void two_ways::add(const report& mine, std::uint64_t since) noexcept {
  std::uint64_t sections = mine.sections * 256;
  if (mine.since < since) sections = sections * (mine.now - since) / std::max<std::uint64_t>(1, mine.now - mine.since);
  tally& own = done_[machine::thread_id() % tallies];
  own.sections.fetch_add(sections, relaxed);
  if (mine.shortest == no_length) return;
  remember(mine.lock);
  if (mine.shortest < own.shortest.load(relaxed)) own.shortest.store(mine.shortest, relaxed);
}

void two_ways::remember(const void* lock) noexcept {
  const void* one = lock_.load(relaxed);
  if (one == lock || one == this || (one == nullptr && lock_.compare_exchange_strong(one, lock, relaxed))) return;
  if (one != lock) lock_.store(this, relaxed);
}

two_ways::seen two_ways::take_tallies() noexcept {
  seen all;
  for (tally& one : done_) {
    all.sections += one.sections.exchange(0, relaxed);
    all.shortest = std::min(all.shortest, one.shortest.exchange(no_length, relaxed));
  }
  return all;
}

std::uint64_t two_ways::sections() const noexcept {
  std::uint64_t all = 0;
  for (const tally& one : done_) all += one.sections.load(relaxed);
  return all;
}

/// The pause until the next trial is 32 times this one's length. It doubles with each equal answer in a row, up to 512
/// times.
std::uint32_t two_ways::decide(bool second, std::uint64_t now, std::uint64_t window) noexcept {
  const std::uint32_t agreed = agreed_.load(relaxed);
  const bool as_before = agreed != 0 && second_before(agreed) == second;
  const std::uint32_t times = as_before ? std::min(agreed / 2 + 1, max_agreed) : 1;
  agreed_.store(times * 2 + (second ? 1 : 0), relaxed);
  second_.store(second, relaxed);
  const std::uint64_t took = std::min(now - began_.load(relaxed), max_windows * max_window * window);
  since_.store(now + (took << (times + 4)), relaxed);
  return between;
}

/// The second mode mostly wins a tie: attempts that gain nothing abort others.
bool two_ways::takes_second(std::uint64_t second, std::uint64_t first) const noexcept {
  return tie_ == tie::second ? second + second / 16 >= first : second >= first + first / 16;
}

std::uint32_t two_ways::end_window(std::uint32_t part, std::uint64_t now, std::uint64_t window) noexcept {
  seen done = take_tallies();
  done.took = std::max<std::uint64_t>(1, now - since_.load(relaxed));
  const std::uint64_t rate = (done.sections << 24) / done.took;
  since_.store(now, relaxed);
  if (part == settling) return second_window;
  if (part == settling_again) return first_again;
  // Either nobody ran sections for most of the window, or sections are that long. The next window shows which.
  if (done.took > 2 * max_window * window && !paused_.exchange(true, relaxed)) return part;
  const std::uint64_t best_first = best_first_.load(relaxed);
  if (part == second_window) {
    const bool second = takes_second(rate, best_first);
    if (!second || agreed_.load(relaxed) != 0) return decide(second, now, window);
    // In a program's first trial caches were cold for the first mode, and warm for the second.
    rate_of_second_.store(rate, relaxed);
    second_.store(false, relaxed);
    return settling_again;
  }
  if (part == first_again) {
    return decide(takes_second(rate_of_second_.load(relaxed), std::max(rate, best_first)), now, window);
  }
  if (rate > best_first) best_first_.store(rate, relaxed);
  if (done.shortest != no_length && lock_.load(relaxed) != this) {
    const std::uint64_t in_a_row = done.sections * done.shortest / 256;
    if (in_a_row > done.took + done.took / 4) return decide(false, now, window);
  }
  const std::uint32_t windows = second_before(agreed_.load(relaxed)) ? windows_after_second : windows_at_first;
  if (part < windows) return part + 1;
  second_.store(true, relaxed);
  return settling;
}

void two_ways::take_part(const report& mine, std::uint64_t window) noexcept {
  // acquire pairs with the release at the end: the values beside part_ belong to this state
  std::uint32_t part = part_.load(std::memory_order_acquire);
  const std::uint64_t since = since_.load(relaxed);
  if ((part & changing) != 0 || mine.now <= since) return;
  if (part != between) {
    add(mine, since);
    const std::uint64_t length = mine.now - since;
    if (length < window || (length < max_window * window && sections() < min_sections())) return;
  }
  // acquire: as above. A thread whose exchange fails was overtaken, and looks again later.
  if (!part_.compare_exchange_strong(part, part | changing, std::memory_order_acquire, relaxed)) return;
  if (since_.load(relaxed) != since) {
    // Begun again since then: this thread's values belong to another window.
    part_.store(part, std::memory_order_release);
    return;
  }
  std::uint32_t next = first_window;
  if (part == between) {
    (void)take_tallies();
    best_first_.store(0, relaxed);
    paused_.store(false, relaxed);
    began_.store(mine.now, relaxed);
    since_.store(mine.now, relaxed);
    second_.store(false, relaxed);
  } else {
    next = end_window(part, mine.now, window);
  }
  part_.store(next, std::memory_order_release);
}

std::uint32_t two_ways::look(const report& mine, std::uint64_t window) noexcept {
  take_part(mine, window);
  if (part_.load(relaxed) == between) return 0;
  const std::uint64_t took = std::max<std::uint64_t>(1, mine.now - mine.since);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(mine.sections * (window / reports_a_window) / took, 1, batch));
}

constinit thread_local turns my_turns;

turns::place* turns::find(const void* role) noexcept {
  for (place& one : places_) {
    if (one.role == role) return &one;
  }
  return nullptr;
}

/// 0 to 31, and not always the same number. Threads run sites in turns, and each site has to be chosen at some time.
std::uint32_t turns::vary() noexcept {
  varied_ = varied_ * 1'664'525 + 1'013'904'223;  // Numerical Recipes' generator
  return varied_ >> 27;
}

std::uint16_t turns::patience() noexcept { return static_cast<std::uint16_t>(patience_of_others + vary()); }

/// Short sections are looked at less often: a look costs as much as half of one.
void turns::restart(count_down& left, std::uint64_t now, std::uint64_t window) noexcept {
  const std::uint64_t took = now - looked_;
  if (took < apart_ * (window / very_many_a_window)) {
    apart_ = 15 * two_ways::batch + vary();
  } else if (took < apart_ * (window / many_a_window)) {
    apart_ = 3 * two_ways::batch + vary();
  } else {
    apart_ = two_ways::batch - 4 + vary() / 4;
  }
  looked_ = now;
  left.restart(apart_);
}

bool turns::counts_exactly(count_down& left, const void* role) noexcept {
  if (in_trial_ == 0) return true;
  left.restart(1);
  if (--in_trial_ == 0) {
    // The sites that this thread has known in trials do not come any more.
    for (place& one : places_) one.role = nullptr;
    return true;
  }
  if (place* const at = find(role)) {
    in_trial_ = max_settled_sections;
    return ++at->counted >= at->batch;
  }
  place* at = find(nullptr);
  if (at == nullptr) {
    at = &places_[varied_ >> 31];
    if (at->patience-- != 0) return false;
  }
  *at = {.role = role, .since = machine::cycles(), .patience = patience(), .counted = 1};
  return false;
}

void turns::add(const void* role, std::uint32_t sections) noexcept {
  if (place* const at = find(role)) {
    at->counted = static_cast<std::uint8_t>(std::min<std::uint32_t>(at->counted + sections, 255));
  }
}

void turns::took(const void* role, std::uint64_t length, const void* lock) noexcept {
  place* const at = find(role);
  if (at == nullptr) return;
  at->length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, no_length - 1));
  at->lock = lock;
}

bool turns::look(count_down& left, const void* role, two_ways& ways, std::uint64_t window) noexcept {
  place* at = find(role);
  const std::uint64_t now = machine::cycles();
  two_ways::report mine{.sections = 0, .since = now, .now = now, .shortest = two_ways::no_length, .lock = nullptr};
  if (at != nullptr) {
    mine.sections = at->counted;
    mine.since = at->since;
    if (at->length != no_length) mine.shortest = at->length;
    mine.lock = at->lock;
  }
  const std::uint32_t batch = ways.look(mine, window);
  if (batch != 0) {
    const std::uint16_t stays = at != nullptr ? at->patience : patience();
    if (at == nullptr) at = &places_[0];  // between trials all are free
    *at = {.role = role, .since = now, .patience = stays, .batch = static_cast<std::uint8_t>(batch)};
    in_trial_ = max_settled_sections;
    left.restart(1);
  } else if (at != nullptr) {
    at->role = nullptr;
    if (std::none_of(std::begin(places_), std::end(places_), [](const place& one) { return one.role != nullptr; })) {
      in_trial_ = 0;
    }
  }
  if (in_trial_ == 0) restart(left, now, window);
  return batch != 0;
}

}  // namespace txsync::inline TXSYNC_BACKEND::detail
