// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include <txsync/machine/cpu.hpp>

#include "cache_server/conversation.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint32_t first_second = 2;

}  // namespace

second_clock::second_clock() noexcept
    : started_ns_(machine::clock_ns()), started_(static_cast<std::int64_t>(std::time(nullptr)) - first_second) {}

std::uint32_t second_clock::now() const noexcept {
  return static_cast<std::uint32_t>((machine::clock_ns() - started_ns_) / second_ns) + first_second;
}

std::int64_t second_clock::world_time() const noexcept { return started_ + now(); }

std::uint32_t second_clock::second_of(std::int64_t seconds) const noexcept {
  constexpr std::int32_t thirty_days = 60 * 60 * 24 * 30;
  constexpr std::uint32_t long_past = 1;
  const auto wanted = static_cast<std::int32_t>(seconds);  // narrowed as in memcached
  if (wanted == 0) return 0;
  if (wanted < 0) return long_past;
  if (wanted <= thirty_days) return now() + static_cast<std::uint32_t>(wanted);
  return wanted <= started_ + long_past ? long_past : static_cast<std::uint32_t>(wanted - started_);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server
