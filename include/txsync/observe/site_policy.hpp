// SPDX-License-Identifier: Apache-2.0
// How a lock asks for the policy of its site. For authors of locks.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe::detail {

/// The parts of a site's policy word (site::policy()) that a lock may follow. 0 in a part: the policy says nothing, and
/// the lock has its default behaviour. The values are those of src/policy/packed.hpp.
struct policy_parts {
  static constexpr std::uint32_t lock = 0xFu << 4;
  static constexpr std::uint32_t rwlock = 0xFu << 8;
  static constexpr std::uint32_t spinlock = 0xFu << 12;
  static constexpr std::uint32_t elision = 0xFFu << 16;
  static constexpr std::uint32_t warm_up = 0xFFu << 24;
};

/// The site's policy word, for a lock that is used for the first time, after `txsync run` and policy files have been
/// asked about the site. `heeded`: the policy_parts that this lock follows, at its first use or at each acquisition.
/// `txsync tune` tries only those at the site. Later changes are in site::policy().
///
/// Cost: some 10 ns; under `txsync run` 0.1 ms and more if the site, or a part of it, is new. Within an attempt the
/// launcher is not asked: the result is the present word, which is 0 if the site is new. Thread-safe,
/// async-signal-safe.
TXSYNC_EXPORT std::uint32_t policy_at_first_use(site& the_site, std::uint32_t heeded) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe::detail
