// SPDX-License-Identifier: Apache-2.0
// Mutexes whose algorithm is given by the policy of their site.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/policy_mutex.hpp>

#include "speculate/scoped_site.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

/// The site of all of them.
inline constinit site policy_site{"explored.policy"};

/// Counting is off, because a count must not be part of a schedule.
inline void set_explored_policy(std::uint32_t word) noexcept {
  policy_site.set_policy(word | policy_word::counting_off);
}

/// Where its queue and its concurrency limiter (`limiter`) are: after the words, the site, the choice and the mark.
inline const detail::ticket_queue& queue_of(const policy_mutex& lock) noexcept {
  return reinterpret_cast<const detail::ticket_queue&>(lock);
}
inline std::byte* limiter_of(policy_mutex& lock) noexcept {
  constexpr std::size_t before = sizeof(detail::lock_words) + sizeof(site*) + 2 * sizeof(std::uint16_t);
  static_assert(sizeof(policy_mutex) - before - sizeof(concurrency_limiter) < alignof(policy_mutex));
  return reinterpret_cast<std::byte*>(&lock) + before;
}

template <std::uint32_t word>
class by_policy : public policy_mutex {
 public:
  by_policy() noexcept : policy_mutex(policy_site) { set_explored_policy(word); }
};

/// The same with sections that run as attempts, at their own site, because nothing may be learnt from one schedule to
/// the next.
struct eager_site {
  scoped_site own{elision_presets::eager};
};
template <std::uint32_t word>
class elided_by_policy : private eager_site, public policy_mutex {
 public:
  elided_by_policy() noexcept : policy_mutex(own) { own.set_policy(word | policy_word::counting_off); }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
