// SPDX-License-Identifier: Apache-2.0
// Checks whether operations of several threads on one object are linearizable (Herlihy and Wing, "Linearizability: a
// correctness condition for concurrent objects", TOPLAS 1990). That is: one order of all operations respects real time.
// A model that executes them one at a time in this order returns the same answers.
#pragma once

#include <cstdint>

#include <txsync/machine/assert.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

/// What a thread asks of the object. The model says what the numbers mean.
struct operation {
  std::uint8_t what;
  std::uint8_t argument;
};

/// Searches all orders, each as far as it can be right; for histories of a dozen operations. A Model is small and
/// copied freely. Its std::uint32_t run(const operation&) executes one operation and returns the answer of the object.
template <class Model>
class linearization_checker {
 public:
  static constexpr unsigned max_threads = 8;
  static constexpr unsigned max_operations = 16;

  // In the order of execution:
  void asks(unsigned thread, const operation& what) noexcept { open_[thread] = {what, 0, ++now_, 0}; }
  void answers(unsigned thread, std::uint32_t answer) noexcept {
    if (count_ == max_operations) {
      too_many_ = true;
      return;
    }
    done& one = all_[count_++];
    one = open_[thread];
    one.answer = answer;
    one.last = ++now_;
  }

  /// Null, or what is wrong. Requires: all operations have been answered.
  const char* fault() const {
    TXSYNC_ASSERT(too_many_ || is_answered(), "all operations have been answered");
    if (too_many_) return "the history has more operations than can be checked";
    return place_next(Model{}, 0) ? nullptr : "no order of the operations explains what they answered";
  }

 private:
  struct done {
    operation asked;
    std::uint32_t answer;
    std::uint32_t first;  ///< when it was asked
    std::uint32_t last;   ///< when it was answered
  };

  bool is_answered() const noexcept {
    for (const done& asked : open_) {
      unsigned i = 0;
      while (i < count_ && all_[i].first != asked.first) ++i;
      if (asked.first != 0 && i == count_) return false;
    }
    return true;
  }
  bool is_placed(std::uint32_t placed, unsigned which) const noexcept { return (placed >> which & 1) != 0; }
  /// Whether an operation without a place had ended before this one began.
  bool is_too_early(std::uint32_t placed, const done& one) const noexcept {
    for (unsigned i = 0; i < count_; ++i) {
      if (!is_placed(placed, i) && all_[i].last < one.first) return true;
    }
    return false;
  }
  bool place_next(const Model& state, std::uint32_t placed) const {
    if (placed == (std::uint32_t{1} << count_) - 1) return true;
    for (unsigned i = 0; i < count_; ++i) {
      if (is_placed(placed, i) || is_too_early(placed, all_[i])) continue;
      Model next = state;
      if (next.run(all_[i].asked) == all_[i].answer && place_next(next, placed | std::uint32_t{1} << i)) return true;
    }
    return false;
  }

  std::uint32_t now_ = 0;
  unsigned count_ = 0;
  bool too_many_ = false;
  done open_[max_threads] = {};
  done all_[max_operations] = {};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
