// SPDX-License-Identifier: Apache-2.0
// Policies: what the locks of each site are, by the site's name. They come from a file (docs/policy-file.md) or by
// name.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/partial_policy.hpp"
#include "policy/packed.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::policy {

/// Why a file or a name could not be read, in one line: "FILE:LINE: what; allowed: ...".
struct policy_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What applies where no policy says anything.
inline constexpr packed built_in{lock_kind::mutex,  rwlock_kind::rwlock, spinlock_kind::tatas, true,
                                 elision_kind::off, warm_up_kind::off};

/// The words of policy files and tables; null for `unset`.
const char* to_string(lock_kind kind) noexcept;
const char* to_string(rwlock_kind kind) noexcept;
const char* to_string(spinlock_kind kind) noexcept;
const char* to_string(elision_kind kind) noexcept;
const char* to_string(warm_up_kind kind) noexcept;
const char* to_string(openmp_kind kind) noexcept;

/// "lock=tatas elision=off warm_up=off rwlock=rwlock spinlock=tatas counting=true", without fields that are `unset`.
std::string to_string(packed choices);

/// The parts of its policy (packed::parts) that a site's locks follow. `kind`: observe::site_record::kind. The locks of a
/// "named" site have said so themselves: `heeded`.
std::uint32_t followed_parts(std::string_view kind, std::uint32_t heeded) noexcept;

/// A default, and the exceptions of single sites.
struct policy_set {
  packed defaults = built_in;
  /// In any order, no name twice. A field that is `unset` takes the default's value; counting always has a value.
  std::vector<std::pair<std::string, packed>> sites;
  openmp_kind openmp_barrier = openmp_kind::library;
  /// Which bits of the defaults' word a user has set. The other bits are for pthread's locks: once there is a policy,
  /// those no longer stay as they are in libc.
  std::uint32_t default_mask = 0;

  /// What a site of pthread's locks does. No field of it is `unset`.
  packed find(std::string_view site) const;
  /// What a policy sets for a named site. For the rest, its locks are as the program declares them. "libc" sets
  /// nothing.
  observe::partial_policy set_for(std::string_view site) const;
  /// The same for a site that is not in `sites`.
  observe::partial_policy set_by_default() const;
  /// Whether the defaults, or a site's own choices, are as asked.
  template <class Test>
  bool any(const Test& test) const {
    return std::invoke(test, defaults) ||
           std::any_of(sites.begin(), sites.end(), [&](const auto& one) { return std::invoke(test, one.second); });
  }
};

/// A policy that has a name: a default for all sites.
struct named_policy {
  const char* name;
  const char* summary;
  packed defaults;
};
std::span<const named_policy> named_policies() noexcept;

/// The policy of that name in named_policies(); nothing for other names.
std::optional<policy_set> find_named(std::string_view name);

/// Reads a policy file. Throws policy_error for every unknown key or value. Also throws it if anybody except the user
/// or root could have written the file.
policy_set read_policy_file(const std::string& path);

/// The same for a text. Errors name `source` as the file.
policy_set parse_policy(std::string_view text, const std::string& source);

/// Reads a name or a file. A file whose name is also a policy's is written as ./NAME. Throws policy_error.
policy_set load_policy(const std::string& name_or_file);

/// How a policy may break a correct program, in one sentence; empty if it cannot. Today there is one case: some
/// reader-writer locks are mutexes.
std::string warning_of(const policy_set& set);

/// The text of a policy file, in the order of `set`. Each line of `heading` becomes a comment at the top. A choice that
/// warning_of() warns about has a comment above it.
std::string to_toml(const policy_set& set, std::string_view heading = {});

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy
