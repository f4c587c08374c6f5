// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <txsync/observe/site_state.hpp>

namespace txsync::inline TXSYNC_BACKEND {

constinit detail::site_state detail::undecided;
constinit site site::unnamed_{"(unnamed)"};

void site::set_policy(std::uint32_t packed) noexcept {
  // relaxed: the bit is constant
  const std::uint32_t kept = policy_.load(std::memory_order_relaxed) & policy_word::in_code;
  // seq_cst, the store and the load: as in site_state::replace().
  policy_.store((packed & ~policy_word::in_code) | kept, std::memory_order_seq_cst);
  const detail::site_state& state = *state_.load(std::memory_order_seq_cst);
  if (state.changed() != nullptr) state.changed()(*this);
}

std::uint32_t site::register_site() noexcept { return observe::site_registry::enter(*this); }

namespace observe {

namespace {
constinit std::atomic<std::uint32_t> given{0};
constinit std::atomic<const char*> names[site::site_limit + 1] = {};
}  // namespace

std::uint32_t site_registry::enter(site& place) noexcept {
  // Two threads may come at once: a number is drawn only by the one that turns "unregistered" into "being entered" (0,
  // which reads as "not counted yet").
  std::uint32_t expected = site::unregistered;
  // acquire: pairs with the release below, for the loser that returns the winner's number
  if (!place.id_.compare_exchange_strong(expected, 0, std::memory_order_acquire)) return expected;
  // relaxed: the count only has to grow; name() answers "" until the store below
  std::uint32_t last = given.load(std::memory_order_relaxed);
  do {
    if (last == site::site_limit) return 0;
  } while (!given.compare_exchange_weak(last, last + 1, std::memory_order_relaxed));
  const std::uint32_t id = last + 1;
  names[id].store(place.name(), std::memory_order_release);  // pairs with the acquire in name()
  place.id_.store(id, std::memory_order_release);            // pairs with the acquire in site::id()
  return id;
}

std::uint32_t site_registry::count() noexcept { return given.load(std::memory_order_relaxed); }

const char* site_registry::name(std::uint32_t id) noexcept {
  const char* const name = names[id].load(std::memory_order_acquire);  // pairs with the release in enter()
  return name != nullptr ? name : "";
}

}  // namespace observe

}  // namespace txsync::inline TXSYNC_BACKEND
