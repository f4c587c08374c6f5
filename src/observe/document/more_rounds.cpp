// SPDX-License-Identifier: Apache-2.0
#include "observe/document/more_rounds.hpp"

#include <algorithm>
#include <numeric>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

more_rounds::more_rounds(std::size_t points) : chosen_(points) { std::iota(chosen_.begin(), chosen_.end(), 0); }

const std::vector<std::size_t>& more_rounds::next(const std::vector<claim>& claims) {
  const auto is_undecided = [&](std::size_t point) {
    return std::any_of(claims.begin(), claims.end(), [&](const claim& one) {
      return one.outcome == outcome::undecided && std::find(one.from.begin(), one.from.end(), point) != one.from.end();
    });
  };
  const bool enough = series_ == max_round_factor;
  std::erase_if(chosen_, [&](std::size_t point) { return enough || !is_undecided(point); });
  if (!chosen_.empty()) ++series_;
  return chosen_;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
