// SPDX-License-Identifier: Apache-2.0
// Which lines are in which cache. The coherence directory is in the shadow's line records; the tags here say what has
// to leave when a line comes in. The order within a set is least-recently-used, as far as the runtime learns of uses.
// Lines that threads use through their filter get a second chance (Corbato 1968) instead.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "../model.hpp"
#include "prefetcher.hpp"
#include "shadow.hpp"

namespace txsync::sim {

/// One cache: sets of ways. A set has its tags (line + 1; 0 is free), and beside them the stamps of their last uses.
/// Both are padded to whole vectors. So nothing moves when a line is used, and no search branches on where the line is.
class tag_array {
 public:
  void set_up(std::uint64_t bytes, unsigned ways, unsigned line_bytes) noexcept;
  bool exists() const noexcept { return ways_ != 0; }
  unsigned ways() const noexcept { return ways_; }
  std::uint64_t sets() const noexcept { return sets_; }
  unsigned set_of(line_number line) const noexcept {
    return static_cast<unsigned>(mask_ != 0 ? line & mask_ : line % sets_);
  }
  /// True if the line is there; it is then the most recently used one.
  bool use(line_number line) noexcept {
    std::uint32_t* const tags = tags_of(line);
    const std::uint64_t there = equal_to(tags, line + 1);
    if (there == 0) return false;
    stamp(tags, there);
    return true;
  }
  bool has(line_number line) const noexcept { return equal_to(tags_of(line), line + 1) != 0; }
  void remove(line_number line) noexcept {
    std::uint32_t* const tags = tags_of(line);
    const std::uint64_t there = equal_to(tags, line + 1);
    if (there == 0) return;
    const int way = __builtin_ctzll(there);
    tags[way] = 0;
    tags[width_ + way] = free_stamp;
  }
  /// Prefetches, on the host, the set of a line that will be looked up soon.
  void fetch_set(line_number line) const noexcept { __builtin_prefetch(tags_of(line), 1); }

  /// Calls function(line) for each line in the set of this one.
  template <class Function>
  void for_set_of(line_number line, Function function) const noexcept {
    const std::uint32_t* const tags = tags_of(line);
    for (unsigned way = 0; way < ways_; ++way) {
      if (tags[way] != 0) function(static_cast<line_number>(tags[way] - 1));
    }
  }

  /// Inserts a line that is not there, as the most recently used one. The line that has to leave is the least recently
  /// used one for which keep(line) is false. Lines are asked up to twice, for second chances. If all are kept, the
  /// least recently used one leaves. Returns the line that left, or nothing_left if a way was free.
  template <class Keep>
  std::uint64_t insert(line_number line, Keep keep) noexcept {
    std::uint32_t* const tags = tags_of(line);
    std::uint64_t chosen = least_used(tags + width_);
    std::uint32_t left = tags[__builtin_ctzll(chosen)];
    if (left != 0) {
      for (unsigned tried = 0; tried < 2 * ways_ && keep(left - 1); ++tried) {
        chosen = least_used_after(tags + width_, tags[width_ + static_cast<unsigned>(__builtin_ctzll(chosen))]);
        left = tags[__builtin_ctzll(chosen)];
      }
    }
    tags[__builtin_ctzll(chosen)] = line + 1;
    stamp(tags, chosen);
    return left == 0 ? nothing_left : left - 1;
  }
  static constexpr std::uint64_t nothing_left = ~std::uint64_t{0};

  /// For tests: after a few more uses, the stamps are used up.
  void start_near_the_last_stamp() noexcept { now_ = no_way - 10; }

 private:
  static constexpr std::uint32_t free_stamp = 0;
  static constexpr std::uint32_t no_way = ~std::uint32_t{0};  ///< the stamp of entries that only pad a vector
  static constexpr unsigned max_ways = 64;
  static constexpr unsigned lanes = sizeof(__m128i) / sizeof(std::uint32_t);

  std::uint32_t* tags_of(line_number line) const noexcept { return tags_ + std::size_t{set_of(line)} * 2 * width_; }
  static __m128i at(const std::uint32_t* place) noexcept {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(place));
  }
  static __m128i everywhere(std::uint32_t value) noexcept { return _mm_set1_epi32(static_cast<int>(value)); }

  /// Bit n is set if the nth of a set's tags or stamps equals `value`.
  [[gnu::always_inline]] std::uint64_t equal_to(const std::uint32_t* values, std::uint32_t value) const noexcept {
    const __m128i wanted = everywhere(value);
    std::uint64_t found = equal_lanes(values, wanted);
    if (width_ == lanes) return found;
    found |= equal_lanes(values + lanes, wanted) << lanes;
    for (unsigned i = 2 * lanes; i < width_; i += lanes) found |= equal_lanes(values + i, wanted) << i;
    return found;
  }
  static std::uint64_t equal_lanes(const std::uint32_t* values, __m128i wanted) noexcept {
    return static_cast<std::uint64_t>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(at(values), wanted))));
  }
  static std::uint32_t min_lane(__m128i values) noexcept {
    values = _mm_min_epu32(values, _mm_shuffle_epi32(values, 0x4E));
    values = _mm_min_epu32(values, _mm_shuffle_epi32(values, 0xB1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(values));
  }
  std::uint64_t least_used(const std::uint32_t* stamps) const noexcept {
    __m128i least = at(stamps);
    for (unsigned i = lanes; i < width_; i += lanes) least = _mm_min_epu32(least, at(stamps + i));
    return equal_to(stamps, min_lane(least));
  }
  /// The next more recently used way; after the last one, the first again. Only for full sets.
  std::uint64_t least_used_after(const std::uint32_t* stamps, std::uint32_t before) const noexcept {
    const __m128i bound = everywhere(before);
    __m128i least = everywhere(no_way);
    for (unsigned i = 0; i < width_; i += lanes) {
      const __m128i values = at(stamps + i);
      const __m128i passed = _mm_cmpeq_epi32(_mm_max_epu32(values, bound), bound);
      least = _mm_min_epu32(least, _mm_or_si128(values, passed));
    }
    const std::uint32_t next = min_lane(least);
    return next != no_way ? equal_to(stamps, next) : least_used(stamps);
  }
  void stamp(std::uint32_t* tags, std::uint64_t way) noexcept {
    if (__builtin_expect(++now_ == no_way, 0)) renumber();
    tags[width_ + static_cast<unsigned>(__builtin_ctzll(way))] = now_;
  }
  void renumber() noexcept;

  std::uint32_t* tags_ = nullptr;
  unsigned width_ = 0;  ///< ways, padded to whole vectors
  std::uint32_t now_ = free_stamp;
  std::uint64_t sets_ = 0;
  std::uint64_t mask_ = 0;  ///< sets - 1 if sets is a power of two
  unsigned ways_ = 0;
};

/// A core's TLB: two levels of page numbers, 4 ways each.
class translation_buffer {
 public:
  void set_up(const machine_model& model) noexcept;
  /// Returns the cycles that the translation of this page adds.
  unsigned look_up(std::uint64_t page) noexcept {
    if (!first_.exists()) return 0;
    return first_.use(static_cast<line_number>(page)) ? 0 : look_further(page);
  }

 private:
  unsigned look_further(std::uint64_t page) noexcept;

  tag_array first_;
  tag_array second_;
  unsigned second_hit_ = 0;
  unsigned walk_ = 0;
};

struct hardware_thread;

struct core_caches {
  static constexpr unsigned max_threads_per_core = 8;  // model.hpp
  /// Its hardware threads that have ever run something, in their order. The filters of all others are empty.
  hardware_thread* used[max_threads_per_core] = {};
  unsigned used_count = 0;
  tag_array l1;
  tag_array l2;
  translation_buffer tlb;
  prefetcher streams;
};

struct caches {
  core_caches* cores = nullptr;
  tag_array* last_level = nullptr;  ///< one per socket

  void set_up(const machine_model& model) noexcept;
};

}  // namespace txsync::sim
