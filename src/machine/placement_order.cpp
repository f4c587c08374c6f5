// SPDX-License-Identifier: Apache-2.0
#include "placement_order.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

namespace {

std::set<unsigned> socket_numbers(const std::vector<cpu_place>& places) {
  std::set<unsigned> numbers;
  for (const cpu_place& place : places) numbers.insert(place.socket);
  return numbers;
}

void keep_socket(std::vector<cpu_place>& places, unsigned position) {
  const std::set<unsigned> numbers = socket_numbers(places);
  if (position >= numbers.size()) return places.clear();
  const unsigned wanted = *std::next(numbers.begin(), position);
  std::erase_if(places, [&](const cpu_place& place) { return place.socket != wanted; });
}

}  // namespace

std::vector<unsigned> placement_order(std::vector<cpu_place> places, placement how, unsigned socket) {
  if (how == placement::socket) keep_socket(places, socket);
  std::vector<unsigned> order;
  if (how == placement::none) {
    for (const cpu_place& place : places) order.push_back(place.cpu);
    std::sort(order.begin(), order.end());
    return order;
  }
  std::sort(places.begin(), places.end(), [](const cpu_place& a, const cpu_place& b) {
    return std::tie(a.socket, a.core, a.cpu) < std::tie(b.socket, b.core, b.cpu);
  });
  if (how != placement::smt_first) {
    // Round r takes the r-th hardware thread of every core.
    std::vector<unsigned> rank(places.size(), 0);
    for (std::size_t i = 1; i < places.size(); ++i) {
      if (places[i].socket == places[i - 1].socket && places[i].core == places[i - 1].core) rank[i] = rank[i - 1] + 1;
    }
    const unsigned rounds = places.empty() ? 0 : *std::max_element(rank.begin(), rank.end()) + 1;
    for (unsigned round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (rank[i] == round) order.push_back(places[i].cpu);
      }
    }
    return order;
  }
  for (const cpu_place& place : places) order.push_back(place.cpu);
  return order;
}

unsigned sockets_of(const std::vector<cpu_place>& places) {
  return static_cast<unsigned>(socket_numbers(places).size());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
