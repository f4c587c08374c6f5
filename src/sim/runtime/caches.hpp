// SPDX-License-Identifier: Apache-2.0
// Which lines are in which cache. The coherence directory is in the shadow's line records; the tags here say what has
// to leave when something comes. Order within a set is least-recently-used, as far as the runtime hears of uses: lines
// that threads use through their filter get a second chance (Corbato 1968) instead.
#pragma once

#include <cstdint>

#include "../model.hpp"
#include "prefetcher.hpp"
#include "shadow.hpp"

namespace txsync::sim {

/// One cache: sets of ways, the most recently used first. A way holds line + 1; 0 is free.
class tag_array {
 public:
  void set_up(std::uint64_t bytes, unsigned ways, unsigned line_bytes) noexcept;
  bool exists() const noexcept { return ways_ != 0; }
  unsigned ways() const noexcept { return ways_; }
  std::uint64_t sets() const noexcept { return sets_; }
  unsigned set_of(line_number line) const noexcept {
    return static_cast<unsigned>(mask_ != 0 ? line & mask_ : line % sets_);
  }
  /// True when the line is there; then it is the most recently used.
  bool use(line_number line) noexcept {
    std::uint32_t* set = tags_ + std::size_t{set_of(line)} * ways_;
    return set[0] == line + 1 || use_further(set, line);
  }
  bool has(line_number line) const noexcept;
  void remove(line_number line) noexcept;

  /// Calls function(line) for each line of the set that this one belongs to.
  template <class Function>
  void for_set_of(line_number line, Function function) const noexcept {
    const std::uint32_t* set = tags_ + std::size_t{set_of(line)} * ways_;
    for (unsigned way = 0; way < ways_; ++way) {
      if (set[way] != 0) function(static_cast<line_number>(set[way] - 1));
    }
  }

  /// Puts a line that is not there in front. What has to leave is the last for which keep(line) is false, asked twice
  /// (for second chances), and if there is none, the last; answers it, or nothing_left where a way was free.
  template <class Keep>
  std::uint64_t insert(line_number line, Keep keep) noexcept {
    std::uint32_t* set = tags_ + std::size_t{set_of(line)} * ways_;
    unsigned way = ways_ - 1;
    if (set[way] != 0) {
      for (unsigned tried = 0; tried < 2 * ways_ && keep(set[way] - 1); ++tried) {
        way = way == 0 ? ways_ - 1 : way - 1;
      }
    }
    const std::uint32_t left = set[way];
    for (; way != 0; --way) set[way] = set[way - 1];
    set[0] = line + 1;
    return left == 0 ? nothing_left : left - 1;
  }
  static constexpr std::uint64_t nothing_left = ~std::uint64_t{0};

 private:
  bool use_further(std::uint32_t* set, line_number line) noexcept;

  std::uint32_t* tags_ = nullptr;
  std::uint64_t sets_ = 0;
  std::uint64_t mask_ = 0;  ///< sets - 1 where that is a power of two
  unsigned ways_ = 0;
};

/// A core's TLB: two levels of page numbers, 4 ways each.
class translation_buffer {
 public:
  void set_up(const machine_model& model) noexcept;
  /// The cycles that the translation of this page adds.
  unsigned look_up(std::uint64_t page) noexcept {
    if (page == last_ || !first_.exists()) return 0;
    last_ = page;
    return look_further(page);
  }

 private:
  unsigned look_further(std::uint64_t page) noexcept;

  std::uint64_t last_ = ~std::uint64_t{0};  ///< is the most recently used of its set
  tag_array first_;
  tag_array second_;
  unsigned second_hit_ = 0;
  unsigned walk_ = 0;
};

struct core_caches {
  tag_array l1;
  tag_array l2;
  translation_buffer tlb;
  prefetcher streams;
};

struct caches {
  core_caches* cores = nullptr;
  tag_array* last_level = nullptr;  ///< one a socket

  void set_up(const machine_model& model) noexcept;
};

}  // namespace txsync::sim
