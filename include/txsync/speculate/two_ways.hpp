// SPDX-License-Identifier: Apache-2.0
// Which of two ways of running a role's sections is the faster, found by trying both; and what each thread counts for
// it.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/cpu.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

/// First the sections are run the first way for a window of time or two. If so many ended that one after the other,
/// each as short as the shortest, they would have taken longer, no lock can do as much: that settles it, for a role of
/// one lock (under several, sections run beside each other anyway). Otherwise the second way is taken for two windows,
/// the first of which lets threads settle; in the first trial the first way has another chance then, as caches were
/// cold for it. The way that did more is kept until the next trial, which is the later, the more often the answer was
/// the same; a tie is the second way's, if not said otherwise. Threads report their sections in batches, which are
/// short enough in a trial that a window holds some of each thread's, and whoever finds a window long enough begins the
/// next. A window that counts and took twice as long as the longest should, because the program paused, is begun again,
/// once in a trial. Constant-initialised; thread-safe; 1,280 bytes.
class two_ways {
 public:
  static constexpr std::uint64_t no_length = ~std::uint64_t{0};
  static constexpr std::uint32_t batch = 16;  ///< sections of a thread from one report to the next, but for trials

  /// What a thread tells of its sections.
  struct report {
    std::uint64_t sections;  ///< that it has begun since its last report
    std::uint64_t since;     ///< machine::cycles() then
    std::uint64_t now;       ///< machine::cycles() of this report
    std::uint64_t shortest;  ///< cycles of the last one that was timed; no_length: none, or they exclude each other
    const void* lock;        ///< whose section that was
  };

  constexpr two_ways() noexcept = default;
  /// Whose a tie is; else it is the second way's.
  enum class tie : std::uint8_t { second, first };
  constexpr explicit two_ways(tie whose) noexcept : tie_(whose) {}

  /// Whether sections go the second way for now. One load of a line that changes only when a trial changes its mind.
  bool second() const noexcept {
    return second_.load(std::memory_order_relaxed);  // relaxed: both ways are right at any time
  }
  /// Whether a trial is under way.
  bool in_trial() const noexcept { return part_.load(std::memory_order_relaxed) != 0; }  // relaxed: advice
  /// machine::cycles() when the next one may begin. Requires: none is under way.
  std::uint64_t next_trial() const noexcept { return since_.load(std::memory_order_relaxed); }  // relaxed: advice
  /// Outside attempts. `window` is the least length of a window in machine::cycles(). Answers how many sections the
  /// thread begins before its next report, `batch` or fewer; 0: no trial is under way.
  TXSYNC_EXPORT std::uint32_t look(const report& mine, std::uint64_t window) noexcept;

 private:
  struct seen {
    std::uint64_t took = 0;      ///< cycles
    std::uint64_t sections = 0;  ///< 256 for each
    std::uint64_t shortest = no_length;
  };
  void take_part(const report& mine, std::uint64_t window) noexcept;
  void add(const report& mine, std::uint64_t since) noexcept;
  void remember(const void* lock) noexcept;
  std::uint64_t sections() const noexcept;
  seen take_tallies() noexcept;
  std::uint32_t end_window(std::uint32_t part, std::uint64_t now, std::uint64_t window) noexcept;
  bool takes_second(std::uint64_t second, std::uint64_t first) const noexcept;
  std::uint32_t decide(bool second, std::uint64_t now, std::uint64_t window) noexcept;

  alignas(machine::pad_bytes) std::atomic<bool> second_{false};
  const tie tie_ = tie::second;
  // Of the trial under way (two_ways.cpp); on lines of their own, because attempts watch nothing of them.
  alignas(machine::pad_bytes) std::atomic<std::uint32_t> part_{0};  ///< 0: between trials
  std::atomic<std::uint64_t> since_{0};
  std::atomic<std::uint64_t> began_{0};
  std::atomic<std::uint64_t> best_first_{0};
  std::atomic<std::uint64_t> rate_of_second_{0};
  std::atomic<std::uint32_t> agreed_{0};
  std::atomic<bool> paused_{false};         ///< a window of this trial was begun again
  std::atomic<const void*> lock_{nullptr};  ///< the one lock of all lengths that were reported; `this`: several
  /// What threads have done in the part, added up apart so that they do not wait for each other.
  struct alignas(machine::pad_bytes) tally {
    std::atomic<std::uint64_t> sections{0};  ///< 256 for each
    std::atomic<std::uint64_t> shortest{no_length};
  };
  static constexpr unsigned tallies = 8;
  tally done_[tallies];
};

/// In one word of a thread, so that one load or one store does for all: a count down to the next section that trials
/// look at; bits that stop it; and a count down of commits (src/observe/commit_counts.hpp).
class count_down {
 public:
  constexpr count_down() noexcept = default;

  /// Counts a section, and answers false. True, and nothing done: none is left to count, or a bit is set.
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

  /// set_bits(0), and one commit fewer is left. Requires: one is.
  void end_attempt() noexcept { word_ = word_ % one_bit - 1; }
  std::uint32_t commits_left() const noexcept { return static_cast<std::uint32_t>(word_ & max_commits_left); }
  /// Requires: from 1 to 255, or 0 after the last one.
  void set_commits_left(std::uint32_t commits) noexcept { word_ = (word_ & ~max_commits_left) | commits; }

 private:
  static constexpr std::uint64_t max_commits_left = 0xFF;
  static constexpr std::uint64_t one_left = max_commits_left + 1;
  static constexpr std::uint64_t one_bit = std::uint64_t{1} << 40;
  static constexpr std::uint64_t left_mask = one_bit - one_left;
  std::uint64_t word_ = two_ways::batch * one_left + 1;
};

/// What a thread has run of each role. Between trials nobody asks: a role is told of its turn now and then, whichever
/// comes up. While the thread knows of a trial it counts the sections of up to two roles apart, so that no role is told
/// of another's; no more, because the thread-local memory of libraries that are loaded late is scarce. Further roles
/// wait until a trial is over, or one of the two has been counted for long enough. Of one thread; 88 bytes.
class turns {
 public:
  constexpr turns() noexcept = default;

  /// Counts a section. True: it is time for look(). Requires: `left` is always the same one for a role, and has no bits
  /// set. Cost between trials: a count down, which one section in 16 to 256 ends; in a trial each does.
  bool count(count_down& left, const void* role) noexcept {
    if (!left.ends()) [[likely]]
      return false;
    return counts_exactly(left, role);
  }
  /// Of sections that ran in the attempt of one that was counted.
  TXSYNC_EXPORT void add(const void* role, std::uint32_t sections) noexcept;
  /// How long a section took that could have run beside others, and whose it was.
  TXSYNC_EXPORT void took(const void* role, std::uint64_t length, const void* lock) noexcept;
  /// Reports what was counted. True: the role is in a trial. Requires: count(left, role) has just been true.
  TXSYNC_EXPORT bool look(count_down& left, const void* role, two_ways& ways, std::uint64_t window) noexcept;

 private:
  struct place {
    const void* role = nullptr;
    std::uint64_t since = 0;     ///< machine::cycles() when counting began
    const void* lock = nullptr;  ///< whose section took `length`
    std::uint32_t length = no_length;
    std::uint16_t patience = 0;  ///< of roles that find all taken: sections
    std::uint8_t counted = 0;
    std::uint8_t batch = two_ways::batch;
  };
  static constexpr std::uint32_t no_length = ~std::uint32_t{0};
  static constexpr unsigned places = 2;

  place* find(const void* role) noexcept;
  TXSYNC_EXPORT bool counts_exactly(count_down& left, const void* role) noexcept;
  std::uint32_t vary() noexcept;
  std::uint16_t patience() noexcept;
  void restart(count_down& left, std::uint64_t now, std::uint64_t window) noexcept;

  std::uint64_t looked_ = 0;               ///< machine::cycles() of the last look between trials
  std::uint32_t apart_ = two_ways::batch;  ///< sections from that one to the next
  std::uint32_t varied_ = 0;
  std::uint32_t in_trial_ = 0;  ///< sections for which trials that the thread knows of are still believed in
  place places_[places];
};

/// The calling thread's, of all its roles.
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local turns my_turns;

}  // namespace txsync::inline TXSYNC_BACKEND::detail
