// SPDX-License-Identifier: Apache-2.0
// An A/B trial. Its states, the values of state_:
//
// | state_         | Mode             | What is measured      | Next state                                        |
// |----------------|------------------|-----------------------|---------------------------------------------------|
// | idle           | the one kept     | nothing               | first_window, when next_trial() has come          |
// | first_window   | first            | each window; the      | idle (first kept), if the sections one after      |
// | and windows    |                  | fastest one counts    | the other take longer than the window by 1/4;     |
// | after it       |                  |                       | after windows_at_first, or windows_after_second   |
// |                |                  |                       | if the second mode was kept: settle_window        |
// | settle_window  | second           | nothing               | second_window                                     |
// | second_window  | second           | this window           | idle (first kept), if the first mode wins;        |
// |                |                  |                       | else settle_again in the first trial, and later   |
// |                |                  |                       | idle (second kept)                                |
// | settle_again   | first            | nothing               | first_again                                       |
// | first_again    | first            | this window           | idle, with the mode that wins                     |
//
// In first_window, second_window and first_again, a window of more than twice the maximum length is repeated, once in a
// trial.
//
// While a thread changes the state, it has set the bit `changing`. Only that thread then writes since_ and the values
// that belong to the state. All of it is advice: a stale read counts some sections in the wrong window, and no section
// becomes wrong. So relaxed is enough for everything that state_ does not publish.
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/speculate/ab_trial.hpp>

#include <algorithm>
#include <iterator>

#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Values of state_.
constexpr std::uint32_t idle = 0;
constexpr std::uint32_t first_window = 1;  // and 2 to 4, for the windows after it
constexpr std::uint32_t settle_window = 5;
constexpr std::uint32_t second_window = 6;
constexpr std::uint32_t settle_again = 7;
constexpr std::uint32_t first_again = 8;
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

/// A report interval that began before the window counts in proportion to the part within it.
void ab_trial::add(const report& mine, std::uint64_t since) noexcept {
  std::uint64_t sections = mine.sections * 256;
  if (mine.since < since) sections = sections * (mine.now - since) / std::max<std::uint64_t>(1, mine.now - mine.since);
  tally& own = done_[machine::thread_id() % tallies];
  own.sections.fetch_add(sections, relaxed);
  if (mine.shortest == no_length) return;
  remember(mine.lock);
  if (mine.shortest < own.shortest.load(relaxed)) own.shortest.store(mine.shortest, relaxed);
}

void ab_trial::remember(const void* lock) noexcept {
  const void* one = lock_.load(relaxed);
  if (one == lock || one == this || (one == nullptr && lock_.compare_exchange_strong(one, lock, relaxed))) return;
  if (one != lock) lock_.store(this, relaxed);
}

ab_trial::window_total ab_trial::take_tallies() noexcept {
  window_total all;
  for (tally& one : done_) {
    all.sections += one.sections.exchange(0, relaxed);
    all.shortest = std::min(all.shortest, one.shortest.exchange(no_length, relaxed));
  }
  return all;
}

std::uint64_t ab_trial::sections() const noexcept {
  std::uint64_t all = 0;
  for (const tally& one : done_) all += one.sections.load(relaxed);
  return all;
}

/// The pause until the next trial is 32 times this one's length. It doubles with each equal answer in a row, up to 512
/// times.
std::uint32_t ab_trial::decide(bool second, std::uint64_t now, std::uint64_t window) noexcept {
  const std::uint32_t agreed = agreed_.load(relaxed);
  const bool as_before = agreed != 0 && second_before(agreed) == second;
  const std::uint32_t times = as_before ? std::min(agreed / 2 + 1, max_agreed) : 1;
  agreed_.store(times * 2 + (second ? 1 : 0), relaxed);
  second_.store(second, relaxed);
  const std::uint64_t took = std::min(now - began_.load(relaxed), max_windows * max_window * window);
  since_.store(now + (took << (times + 4)), relaxed);
  return idle;
}

/// The second mode mostly wins a tie: attempts that gain nothing abort others.
bool ab_trial::takes_second(std::uint64_t second, std::uint64_t first) const noexcept {
  return tie_ == tie::second ? second + second / 16 >= first : second >= first + first / 16;
}

std::uint32_t ab_trial::end_window(std::uint32_t state, std::uint64_t now, std::uint64_t window) noexcept {
  window_total done = take_tallies();
  done.took = std::max<std::uint64_t>(1, now - since_.load(relaxed));
  const std::uint64_t rate = (done.sections << 24) / done.took;
  since_.store(now, relaxed);
  if (state == settle_window) return second_window;
  if (state == settle_again) return first_again;
  // Either nobody ran sections for most of the window, or sections are that long. The next window shows which.
  if (done.took > 2 * max_window * window && !paused_.exchange(true, relaxed)) return state;
  const std::uint64_t best_first = best_first_.load(relaxed);
  if (state == second_window) {
    const bool second = takes_second(rate, best_first);
    if (!second || agreed_.load(relaxed) != 0) return decide(second, now, window);
    // In a program's first trial caches were cold for the first mode, and warm for the second.
    rate_of_second_.store(rate, relaxed);
    second_.store(false, relaxed);
    return settle_again;
  }
  if (state == first_again) {
    return decide(takes_second(rate_of_second_.load(relaxed), std::max(rate, best_first)), now, window);
  }
  if (rate > best_first) best_first_.store(rate, relaxed);
  if (done.shortest != no_length && lock_.load(relaxed) != this) {
    const std::uint64_t in_a_row = done.sections * done.shortest / 256;
    if (in_a_row > done.took + done.took / 4) return decide(false, now, window);
  }
  static_assert(first_window + windows_at_first <= settle_window &&
                first_window + windows_after_second <= settle_window);
  const std::uint32_t windows = second_before(agreed_.load(relaxed)) ? windows_after_second : windows_at_first;
  if (state < windows) return state + 1;
  second_.store(true, relaxed);
  return settle_window;
}

void ab_trial::take_part(const report& mine, std::uint64_t window) noexcept {
  // acquire pairs with the release at the end: the values beside state_ belong to this state
  std::uint32_t state = state_.load(std::memory_order_acquire);
  const std::uint64_t since = since_.load(relaxed);
  if ((state & changing) != 0 || mine.now <= since) return;
  if (state != idle) {
    add(mine, since);
    const std::uint64_t length = mine.now - since;
    if (length < window || (length < max_window * window && sections() < min_sections())) return;
  }
  // acquire: as above. A thread whose exchange fails was overtaken, and looks again later.
  if (!state_.compare_exchange_strong(state, state | changing, std::memory_order_acquire, relaxed)) return;
  if (since_.load(relaxed) != since) {
    // Begun again since then: this thread's values belong to another window.
    state_.store(state, std::memory_order_release);
    return;
  }
  std::uint32_t next = first_window;
  if (state == idle) {
    (void)take_tallies();
    best_first_.store(0, relaxed);
    paused_.store(false, relaxed);
    began_.store(mine.now, relaxed);
    since_.store(mine.now, relaxed);
    second_.store(false, relaxed);
  } else {
    next = end_window(state, mine.now, window);
  }
  state_.store(next, std::memory_order_release);
}

std::uint32_t ab_trial::look(const report& mine, std::uint64_t window) noexcept {
  TXSYNC_ASSERT(!machine::active(), "a thread reports to a trial outside of attempts");
  take_part(mine, window);
  if (state_.load(relaxed) == idle) return 0;
  const std::uint64_t took = std::max<std::uint64_t>(1, mine.now - mine.since);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(mine.sections * (window / reports_a_window) / took, 1, max_report_interval));
}

constinit thread_local trial_sampler my_trial_sampler;

trial_sampler::slot* trial_sampler::find(const void* role) noexcept {
  for (slot& one : slots_) {
    if (one.role == role) return &one;
  }
  return nullptr;
}

/// 0 to 31, and not always the same number. Threads run sites in a fixed order, and each site has to be chosen at some
/// time.
std::uint32_t trial_sampler::vary() noexcept {
  random_ = random_ * 1'664'525 + 1'013'904'223;  // Numerical Recipes' generator
  return random_ >> 27;
}

std::uint16_t trial_sampler::patience() noexcept { return static_cast<std::uint16_t>(patience_of_others + vary()); }

/// Short sections are looked at less often: a look costs as much as half of one.
void trial_sampler::restart(count_down& countdown, std::uint64_t now, std::uint64_t window) noexcept {
  const std::uint64_t took = now - looked_;
  if (took < look_interval_ * (window / very_many_a_window)) {
    look_interval_ = 15 * ab_trial::max_report_interval + vary();
  } else if (took < look_interval_ * (window / many_a_window)) {
    look_interval_ = 3 * ab_trial::max_report_interval + vary();
  } else {
    look_interval_ = ab_trial::max_report_interval - 4 + vary() / 4;
  }
  looked_ = now;
  countdown.restart(look_interval_);
}

bool trial_sampler::counts_exactly(count_down& countdown, const void* role) noexcept {
  TXSYNC_ASSERT(countdown.bits() == 0, "no bit is set while sections are counted");
  if (forget_after_ == 0) return true;
  countdown.restart(1);
  if (--forget_after_ == 0) {
    // The sites that this thread has known in trials do not come any more.
    for (slot& one : slots_) one.role = nullptr;
    return true;
  }
  if (slot* const at = find(role)) {
    forget_after_ = max_settled_sections;
    return ++at->counted >= at->report_interval;
  }
  slot* at = find(nullptr);
  if (at == nullptr) {
    at = &slots_[random_ >> 31];
    if (at->patience-- != 0) return false;
  }
  *at = {.role = role, .since = machine::cycles(), .patience = patience(), .counted = 1};
  return false;
}

void trial_sampler::add(const void* role, std::uint32_t sections) noexcept {
  if (slot* const at = find(role)) {
    at->counted = static_cast<std::uint8_t>(std::min<std::uint32_t>(at->counted + sections, 255));
  }
}

void trial_sampler::took(const void* role, std::uint64_t length, const void* lock) noexcept {
  slot* const at = find(role);
  if (at == nullptr) return;
  at->length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, no_length - 1));
  at->lock = lock;
}

bool trial_sampler::look(count_down& countdown, const void* role, ab_trial& trial, std::uint64_t window) noexcept {
  slot* at = find(role);
  TXSYNC_ASSERT(forget_after_ == 0 || (at != nullptr && at->counted >= at->report_interval),
                "count() has just said that it is time to look");
  const std::uint64_t now = machine::cycles();
  ab_trial::report mine{.sections = 0, .since = now, .now = now, .shortest = ab_trial::no_length, .lock = nullptr};
  if (at != nullptr) {
    mine.sections = at->counted;
    mine.since = at->since;
    if (at->length != no_length) mine.shortest = at->length;
    mine.lock = at->lock;
  }
  const std::uint32_t report_interval = trial.look(mine, window);
  if (report_interval != 0) {
    const std::uint16_t stays = at != nullptr ? at->patience : patience();
    if (at == nullptr) at = &slots_[0];  // between trials all are free
    *at = {
        .role = role, .since = now, .patience = stays, .report_interval = static_cast<std::uint8_t>(report_interval)};
    forget_after_ = max_settled_sections;
    countdown.restart(1);
  } else if (at != nullptr) {
    at->role = nullptr;
    if (std::none_of(std::begin(slots_), std::end(slots_), [](const slot& one) { return one.role != nullptr; })) {
      forget_after_ = 0;
    }
  }
  if (forget_after_ == 0) restart(countdown, now, window);
  return report_interval != 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
