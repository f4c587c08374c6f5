// SPDX-License-Identifier: Apache-2.0
#include "tournament.hpp"

namespace txsync::sim {

void tournament::set_up(unsigned places) noexcept {
  leaves_ = 2;
  while (leaves_ < places) leaves_ *= 2;
  times_ = static_cast<ticks*>(reserve(0, leaves_ * sizeof(ticks), "times"));
  winners_ = static_cast<std::uint16_t*>(reserve(0, 2 * leaves_ * sizeof(std::uint16_t), "order of threads"));
  for (unsigned i = 0; i < leaves_; ++i) {
    times_[i] = never;
    winners_[leaves_ + i] = static_cast<std::uint16_t>(i);
  }
  for (unsigned node = leaves_ - 1; node != 0; --node) winners_[node] = winners_[2 * node];
}

void tournament::set(unsigned place, ticks time) noexcept {
  times_[place] = time;
  for (unsigned node = (leaves_ + place) / 2; node != 0; node /= 2) {
    const std::uint16_t left = winners_[2 * node];
    const std::uint16_t right = winners_[2 * node + 1];
    winners_[node] = times_[right] < times_[left] ? right : left;
  }
}

ticks tournament::first_except(unsigned place) const noexcept {
  ticks least = never;
  for (unsigned node = leaves_ + place; node > 1; node /= 2) {
    const ticks rival = times_[winners_[node ^ 1]];
    if (rival < least) least = rival;
  }
  return least;
}

}  // namespace txsync::sim
