// SPDX-License-Identifier: Apache-2.0
// Checks whether what transactions have read and written is opaque (Guerraoui and Kapalka, "On the correctness of
// transactional memory", PPoPP 2008). That is: there is one order of all committed transactions that respects real
// time. In it, each attempt, committed or not, has a place where it has read the values of that moment.
#pragma once

#include <cstdint>
#include <span>

#include <txsync_backend/name.hpp>

#include <txsync/machine/assert.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

/// What a thread did, in the order of execution.
struct event {
  enum class kind : std::uint8_t {
    asks,      ///< is about to run a block
    begins,    ///< an attempt's body starts; the attempt before it, if any, has aborted
    reads,     ///< `value` from `place`
    writes,    ///< `value`, which is written once in a history and is not 0
    commits,   ///< the block has committed
    gives_up,  ///< the block has ended, and is undone
  };
  kind what;
  std::uint8_t thread;
  std::uint8_t place;
  std::uint32_t value;
};

/// Searches all orders, each as far as it can be right; for histories of a dozen transactions. Initially all places
/// hold 0.
class opacity_checker {
 public:
  static constexpr unsigned max_threads = 8;
  static constexpr unsigned max_places = 8;
  static constexpr unsigned max_commits = 16;
  static constexpr unsigned max_attempts = 32;  ///< further aborted ones are not checked

  void add(const event& one) noexcept {
    ++now_;
    running& mine = running_[one.thread];
    switch (one.what) {
      case event::kind::asks:
        mine.since = now_;
        break;
      case event::kind::begins:
        if (mine.open) close(mine, false);
        mine.made = attempt{};
        mine.made.thread = one.thread;
        mine.made.first = mine.since;
        mine.open = true;
        break;
      case event::kind::reads:
        note_read(mine.made, one);
        break;
      case event::kind::writes:
        mine.made.wrote |= 1u << one.place;
        mine.made.written[one.place] = one.value;
        break;
      case event::kind::commits:
      case event::kind::gives_up:
        close(mine, one.what == event::kind::commits);
        break;
    }
    mine.since = now_;
  }

  /// Null, or what is wrong. Requires: all blocks have ended.
  const char* fault() noexcept {
    for ([[maybe_unused]] const running& one : running_) TXSYNC_ASSERT(!one.open, "all blocks have ended");
    if (fault_ != nullptr) return fault_;
    if (place_next(0)) return nullptr;
    return deepest_ == commits_ ? "an attempt that did not commit saw what was never so"
                                : "no order of the transactions explains what they saw";
  }

 private:
  struct attempt {
    std::uint8_t thread = 0;
    std::uint32_t first = 0;  ///< it began after this event of its thread
    std::uint32_t last = 0;   ///< it ended before this event
    std::uint32_t read = 0;   ///< a bit for each place
    std::uint32_t wrote = 0;
    std::uint32_t seen[max_places] = {};
    std::uint32_t written[max_places] = {};
  };
  struct running {
    std::uint32_t since = 0;
    bool open = false;
    attempt made;
  };

  /// In real time. When a restarted attempt ended and the next one began is known only as an interval; which of the two
  /// was first is known.
  static bool precedes(const attempt& one, const attempt& other) noexcept {
    return one.last < (one.thread == other.thread ? other.last : other.first);
  }

  void note_read(attempt& mine, const event& one) noexcept {
    const std::uint32_t bit = 1u << one.place;
    if ((mine.wrote & bit) != 0) {
      if (mine.written[one.place] != one.value) fault_ = "a transaction did not see its own write";
    } else if ((mine.read & bit) != 0) {
      if (mine.seen[one.place] != one.value) fault_ = "two reads of one place in one attempt differ";
    } else {
      mine.read |= bit;
      mine.seen[one.place] = one.value;
    }
  }

  void close(running& mine, bool committed) noexcept {
    mine.open = false;
    mine.made.last = now_;
    if (!committed) {
      if (mine.made.read != 0 && aborts_ < max_attempts) aborted_[aborts_++] = mine.made;
    } else if (commits_ == max_commits) {
      fault_ = "the history has more transactions than can be checked";
    } else {
      committed_[commits_++] = mine.made;
    }
  }

  bool fits(const attempt& one, const std::uint32_t (&state)[max_places]) const noexcept {
    for (unsigned i = 0; i < max_places; ++i) {
      if ((one.read >> i & 1) != 0 && one.seen[i] != state[i]) return false;
    }
    return true;
  }

  /// Whether a transaction without a place had ended before this one began.
  bool is_too_early(const attempt& one) const noexcept {
    for (unsigned i = 0; i < commits_; ++i) {
      if ((placed_ >> i & 1) == 0 && precedes(committed_[i], one)) return true;
    }
    return false;
  }

  bool place_next(unsigned depth) noexcept {
    if (depth > deepest_) deepest_ = depth;
    if (depth == commits_) return all_aborted_fit();
    for (unsigned i = 0; i < commits_; ++i) {
      const attempt& one = committed_[i];
      if ((placed_ >> i & 1) != 0 || is_too_early(one) || !fits(one, states_[depth])) continue;
      placed_ |= 1u << i;
      order_[depth] = i;
      for (unsigned place = 0; place < max_places; ++place) {
        states_[depth + 1][place] = (one.wrote >> place & 1) != 0 ? one.written[place] : states_[depth][place];
      }
      if (place_next(depth + 1)) return true;
      placed_ &= ~(1u << i);
    }
    return false;
  }

  /// Puts each at its first possible place: after everything that had ended when it began, committed or not. Those that
  /// end first come first in the list.
  bool all_aborted_fit() noexcept {
    for (unsigned i = 0; i < aborts_; ++i) {
      const attempt& one = aborted_[i];
      unsigned at = 0;
      unsigned beyond = commits_;
      for (unsigned place = 0; place < commits_; ++place) {
        const attempt& other = committed_[order_[place]];
        if (precedes(other, one)) at = place + 1;
        if (precedes(one, other) && place < beyond) beyond = place;
      }
      for (unsigned before = 0; before < i; ++before) {
        if (precedes(aborted_[before], one) && places_[before] > at) at = places_[before];
      }
      while (at <= beyond && !fits(one, states_[at])) ++at;
      if (at > beyond) return false;
      places_[i] = at;
    }
    return true;
  }

  const char* fault_ = nullptr;
  std::uint32_t now_ = 0;
  unsigned commits_ = 0;
  unsigned aborts_ = 0;
  unsigned deepest_ = 0;
  std::uint32_t placed_ = 0;
  unsigned order_[max_commits] = {};
  unsigned places_[max_attempts] = {};
  std::uint32_t states_[max_commits + 1][max_places] = {};
  running running_[max_threads];
  attempt committed_[max_commits];
  attempt aborted_[max_attempts];
};

inline const char* opacity_fault(std::span<const event> history) {
  opacity_checker checker;
  for (const event& one : history) checker.add(one);
  return checker.fault();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
