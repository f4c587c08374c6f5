// SPDX-License-Identifier: Apache-2.0
// The least of many times, updated one at a time: a tournament tree (Knuth, TAOCP vol. 3, 5.4.1). Its nodes have the
// winner's time and place in one word. Each change takes log2(n) steps, and so does the runner-up.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

class tournament {
 public:
  static constexpr unsigned max_places = 2048;
  /// The time is in the bits above the place: 2^53 ticks are half a day of a processor. A later time counts as `never`.
  static constexpr ticks latest = ~ticks{0} / max_places;

  void set_up() noexcept;
  /// Adds a place, at `never`. Requires: fewer than max_places.
  unsigned add() noexcept;
  void set(unsigned place, ticks time) noexcept { static_cast<void>(set_and_compare(place, time)); }

  /// How a place compares with the earliest of the other places.
  struct comparison {
    bool is_first;  ///< of all; equal times are in the order of their places
    unsigned first_rival;
    ticks rival_time;
  };
  /// Like set(); returns how the place compares then.
  comparison set_and_compare(unsigned place, ticks time) noexcept {
    const std::uint64_t own = key(place, time);
    std::uint64_t node = leaves_ + place;
    std::uint64_t min_rival = empty;
    nodes_[node] = own;
    for (; node > 1; node /= 2) {
      const std::uint64_t rival = nodes_[node ^ 1];
      min_rival = rival < min_rival ? rival : min_rival;
      nodes_[node / 2] = min_rival < own ? min_rival : own;
    }
    return {own < min_rival, static_cast<unsigned>(min_rival % max_places), time_in(min_rival)};
  }
  /// The place with the least time, the lowest of equals. Requires: at least one place.
  unsigned first() const noexcept { return nodes_[1] % max_places; }
  ticks first_time() const noexcept { return time_in(nodes_[1]); }
  /// The least time of all other places.
  ticks first_except(unsigned place) const noexcept {
    std::uint64_t least = empty;
    for (std::uint64_t node = leaves_ + place; node > 1; node /= 2) {
      const std::uint64_t rival = nodes_[node ^ 1];
      least = rival < least ? rival : least;
    }
    return time_in(least);
  }

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};
  static std::uint64_t key(unsigned place, ticks time) noexcept {
    return time >= latest ? empty - max_places + 1 + place : time * max_places + place;
  }
  static ticks time_in(std::uint64_t word) noexcept { return word >= latest * max_places ? never : word / max_places; }

  std::uint64_t* nodes_ = nullptr;  ///< the root is 1, the leaves are leaves_ and up
  unsigned leaves_ = 2;
  unsigned used_ = 0;
};

}  // namespace txsync::sim
