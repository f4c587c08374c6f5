// SPDX-License-Identifier: Apache-2.0
// The least of many times, kept up to date one at a time: a tournament tree (Knuth, TAOCP vol. 3, 5.4.1). log2(n) steps
// for each change and for the runner-up.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

class tournament {
 public:
  void set_up(unsigned places) noexcept;
  void set(unsigned place, ticks time) noexcept;
  /// The place with the least time, the lowest of equals.
  unsigned first() const noexcept { return winners_[1]; }
  ticks time_of(unsigned place) const noexcept { return times_[place]; }
  /// The least time of all places but this.
  ticks first_except(unsigned place) const noexcept;

 private:
  ticks* times_ = nullptr;
  std::uint16_t* winners_ = nullptr;  ///< of the subtree below each node; leaves are nodes leaves_ and up
  unsigned leaves_ = 0;
};

}  // namespace txsync::sim
