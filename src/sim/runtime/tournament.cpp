// SPDX-License-Identifier: Apache-2.0
#include "tournament.hpp"

#include <algorithm>

#include "failure.hpp"

namespace txsync::sim {

void tournament::set_up() noexcept {
  nodes_ = static_cast<std::uint64_t*>(reserve(0, std::size_t{2} * max_places * sizeof *nodes_, "order of threads"));
  for (unsigned node = 1; node < 2 * leaves_; ++node) nodes_[node] = empty;
}

unsigned tournament::add() noexcept {
  if (used_ == max_places) fail("more hardware threads are in use than the scheduler has places for");
  if (used_ == leaves_) {
    for (unsigned i = 0; i < leaves_; ++i) nodes_[std::size_t{2} * leaves_ + i] = nodes_[leaves_ + i];
    for (unsigned i = leaves_; i < 2 * leaves_; ++i) nodes_[std::size_t{2} * leaves_ + i] = empty;
    leaves_ *= 2;
    for (unsigned node = leaves_ - 1; node != 0; --node) {
      nodes_[node] = std::min(nodes_[std::size_t{2} * node], nodes_[std::size_t{2} * node + 1]);
    }
  }
  set(used_, never);
  return used_++;
}

}  // namespace txsync::sim
