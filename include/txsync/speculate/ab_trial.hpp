// SPDX-License-Identifier: Apache-2.0
// The A/B trial: it tries two modes of running a site's critical sections, and finds out which is faster. Also what
// each thread counts for it.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/cpu.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// An A/B trial of a site. Now and then the site's sections run in both modes, for windows of time, and the faster mode
/// is kept until the next trial. The states, which docs/elision.md explains:
///
///     idle              the mode that was kept
///     first windows     first mode: two windows, four if the second mode was kept before
///     settle window     second mode: one window, not measured, while threads adjust
///     second window     second mode: one window
///     settle again      first mode: one window, not measured; in the first trial only
///     first again       first mode: one window; in the first trial only
///
/// A bound may end the trial after a first window. Suppose that the window's sections ran one after the other, each as
/// short as the shortest one. If that exceeds the window by a quarter, no lock can do as much, and the first mode is
/// kept. The bound is for a site of one lock: sections of several locks overlap anyway.
/// Otherwise the mode that ran more sections per cycle is kept. In the first trial the first mode gets a second chance,
/// because caches were cold for it. The second mode wins a tie, unless `tie` says otherwise. The more often the answer
/// was the same, the later the next trial.
/// Threads report their sections at intervals. In a trial, the report interval is so short that a window contains some
/// reports of each thread. A thread that finds the window long enough begins the next one. If a measured window took
/// twice as long as the longest window should, because the program paused, it is begun again, once in a trial.
/// Constant-initialised; thread-safe; 1,280 bytes.
class ab_trial {
 public:
  static constexpr std::uint64_t no_length = ~std::uint64_t{0};
  static constexpr std::uint32_t max_report_interval = 16;  ///< sections of a thread between two reports

  /// A thread's report of its sections.
  struct report {
    std::uint64_t sections;  ///< begun since its last report
    std::uint64_t since;     ///< machine::cycles() at the last report
    std::uint64_t now;       ///< machine::cycles() of this report
    std::uint64_t shortest;  ///< cycles of the last timed section; no_length: none, or sections exclude each other
    const void* lock;        ///< the lock of that section
  };

  constexpr ab_trial() noexcept = default;
  /// The mode that wins a tie; by default the second one.
  enum class tie : std::uint8_t { second, first };
  constexpr explicit ab_trial(tie whose) noexcept : tie_(whose) {}

  /// Whether sections run in the second mode at present. One load of a line that changes only when a trial changes the
  /// mode.
  bool second() const noexcept {
    return second_.load(std::memory_order_relaxed);  // relaxed: both modes are right at any time
  }
  /// Whether a trial is under way.
  bool in_trial() const noexcept { return state_.load(std::memory_order_relaxed) != 0; }  // relaxed: advice
  /// machine::cycles() at which the next trial may begin. Requires: none is under way.
  std::uint64_t next_trial() const noexcept { return since_.load(std::memory_order_relaxed); }  // relaxed: advice
  /// Takes the report of the calling thread into account. `window` is the minimum length of a window in
  /// machine::cycles(). Returns the report interval: how many sections the thread begins before its next
  /// report, at most `max_report_interval`. 0: no trial is under way. Requires: the calling thread is in no attempt.
  TXSYNC_EXPORT std::uint32_t look(const report& mine, std::uint64_t window) noexcept;

 private:
  /// What all threads have run in a window.
  struct window_total {
    std::uint64_t took = 0;      ///< cycles
    std::uint64_t sections = 0;  ///< 256 for each section
    std::uint64_t shortest = no_length;
  };
  void take_part(const report& mine, std::uint64_t window) noexcept;
  void add(const report& mine, std::uint64_t since) noexcept;
  void remember(const void* lock) noexcept;
  std::uint64_t sections() const noexcept;
  window_total take_tallies() noexcept;
  std::uint32_t end_window(std::uint32_t state, std::uint64_t now, std::uint64_t window) noexcept;
  bool takes_second(std::uint64_t second, std::uint64_t first) const noexcept;
  std::uint32_t decide(bool second, std::uint64_t now, std::uint64_t window) noexcept;

  alignas(machine::pad_bytes) std::atomic<bool> second_{false};
  const tie tie_ = tie::second;
  // The trial under way (ab_trial.cpp). On other lines than the mode, because attempts read none of it.
  alignas(machine::pad_bytes) std::atomic<std::uint32_t> state_{0};  ///< a state; 0: idle
  std::atomic<std::uint64_t> since_{0};           ///< when the window began; idle: when the next trial may begin
  std::atomic<std::uint64_t> began_{0};           ///< when the trial began
  std::atomic<std::uint64_t> best_first_{0};      ///< of this trial's windows in the first mode, the highest rate
  std::atomic<std::uint64_t> rate_of_second_{0};  ///< in second_window; in the first trial only
  std::atomic<std::uint32_t> agreed_{0};          ///< twice the equal answers in a row, and 1 for the second mode
  std::atomic<bool> paused_{false};               ///< a window of this trial was begun again
  std::atomic<const void*> lock_{nullptr};        ///< the lock of all reported lengths; `this`: several locks
  /// What threads have run in the present window, in several counts, so that threads do not wait for each other.
  struct alignas(machine::pad_bytes) tally {
    std::atomic<std::uint64_t> sections{0};  ///< 256 for each
    std::atomic<std::uint64_t> shortest{no_length};
  };
  static constexpr unsigned tallies = 8;
  tally done_[tallies];
};

/// Two counts and some bits in one word of a thread, so that one load or one store serves all. The first counts
/// sections down to the next one that trials look at; a bit that is set stops it. The second counts commits down to the
/// one after which they are added up (src/observe/commit_counts.hpp).
class count_down {
 public:
  constexpr count_down() noexcept = default;

  /// Counts a section, and returns false. Returns true, and counts nothing, if none is left to count or a bit is set.
  bool ends() noexcept {
    const std::uint64_t next = word_ - one_left;
    if (next - one_left >= one_bit) [[unlikely]]
      return true;
    word_ = next;
    return false;
  }
  void restart(std::uint32_t left) noexcept { word_ = (word_ & ~left_mask) | (left * one_left & left_mask); }
  std::uint32_t bits() const noexcept { return static_cast<std::uint32_t>(word_ / one_bit); }
  void set_bits(std::uint32_t bits) noexcept { word_ = (word_ % one_bit) | bits * one_bit; }

  /// set_bits(0), and one commit fewer is left. Requires: at least one is left.
  void end_attempt() noexcept {
    TXSYNC_ASSERT_VALUE((word_ & max_commits_left) != 0, "a commit is left to count");
    word_ = word_ % one_bit - 1;
  }
  std::uint32_t commits_left() const noexcept { return static_cast<std::uint32_t>(word_ & max_commits_left); }
  /// Requires: from 1 to 255, or 0 after the last one.
  void set_commits_left(std::uint32_t commits) noexcept {
    TXSYNC_ASSERT_VALUE(commits <= max_commits_left, "at most 255 commits are left");
    word_ = (word_ & ~max_commits_left) | commits;
  }

 private:
  static constexpr std::uint64_t max_commits_left = 0xFF;
  static constexpr std::uint64_t one_left = max_commits_left + 1;
  static constexpr std::uint64_t one_bit = std::uint64_t{1} << 40;
  static constexpr std::uint64_t left_mask = one_bit - one_left;
  std::uint64_t word_ = ab_trial::max_report_interval * one_left + 1;
};

/// A trial sampler: it counts what a thread has run of each site. Between trials the thread has one count for all its
/// sites. It looks at the trial of the site whose section ends that count. The length of the count varies, and so does
/// this site. While the thread knows of a trial, it counts the sections of up to two sites separately. So no trial gets
/// the sections of another site. It counts no more than two, because libraries that are loaded late have little
/// thread-local memory. Further sites wait until a trial is over, or until one of the two has been counted for long
/// enough. In the code, `role` stands for a site's trials. For one thread; 88 bytes.
class trial_sampler {
 public:
  constexpr trial_sampler() noexcept = default;

  /// Counts a section. True: it is time for look(). Requires: `countdown` is always the same for a role, and has no
  /// bits set. Cost between trials: a count down, which ends at one section in 16 to 256. In a trial each section ends
  /// it.
  bool count(count_down& countdown, const void* role) noexcept {
    if (!countdown.ends()) [[likely]]
      return false;
    return counts_exactly(countdown, role);
  }
  /// Counts further sections, which ran in the attempt of a counted one.
  TXSYNC_EXPORT void add(const void* role, std::uint32_t sections) noexcept;
  /// Takes the length of a section that could have run beside others, and its lock.
  TXSYNC_EXPORT void took(const void* role, std::uint64_t length, const void* lock) noexcept;
  /// Reports what was counted. True: the role is in a trial. Requires: count(countdown, role) has just returned true.
  TXSYNC_EXPORT bool look(count_down& countdown, const void* role, ab_trial& trial, std::uint64_t window) noexcept;

 private:
  struct slot {
    const void* role = nullptr;
    std::uint64_t since = 0;     ///< machine::cycles() when counting began
    const void* lock = nullptr;  ///< the lock of the section that took `length`
    std::uint32_t length = no_length;
    std::uint16_t patience = 0;  ///< sections of other roles, until one of them gets this slot
    std::uint8_t counted = 0;
    std::uint8_t report_interval = ab_trial::max_report_interval;
  };
  static constexpr std::uint32_t no_length = ~std::uint32_t{0};
  static constexpr unsigned slots = 2;

  slot* find(const void* role) noexcept;
  TXSYNC_EXPORT bool counts_exactly(count_down& countdown, const void* role) noexcept;
  std::uint32_t vary() noexcept;
  std::uint16_t patience() noexcept;
  void restart(count_down& countdown, std::uint64_t now, std::uint64_t window) noexcept;

  std::uint64_t looked_ = 0;                                     ///< machine::cycles() of the last look between trials
  std::uint32_t look_interval_ = ab_trial::max_report_interval;  ///< sections from that look to the next
  std::uint32_t random_ = 0;
  /// Sections until the sampler forgets the trials that it knows; 0: it knows of none.
  std::uint32_t forget_after_ = 0;
  slot slots_[slots];
};

/// The sampler of the calling thread.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local trial_sampler my_trial_sampler;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
