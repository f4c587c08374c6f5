// SPDX-License-Identifier: Apache-2.0
// Policies: what the locks of each site are, by the site's name. From a file (docs/policy-file.md) or by a name.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/said_policy.hpp"
#include "policy/packed.hpp"

namespace txsync::inline TXSYNC_BACKEND::policy {

/// What a file or a name could not be read for, in one line: "FILE:LINE: what; allowed: ...".
struct policy_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where nothing is said.
inline constexpr packed built_in{lock_kind::mutex,  rwlock_kind::rwlock, spinlock_kind::tatas, true,
                                 elision_kind::off, warm_up_kind::off};

/// The words of policy files and tables; null for `unsaid`.
const char* to_string(lock_kind kind) noexcept;
const char* to_string(rwlock_kind kind) noexcept;
const char* to_string(spinlock_kind kind) noexcept;
const char* to_string(elision_kind kind) noexcept;
const char* to_string(warm_up_kind kind) noexcept;
const char* to_string(openmp_kind kind) noexcept;

/// "lock=tatas elision=off warm_up=off rwlock=rwlock spinlock=tatas counting=true", without what is unsaid.
std::string to_string(packed choices);

/// A default, and what single sites do instead.
struct policy_set {
  packed defaults = built_in;
  /// In any order, no name twice. What is unsaid is the default's; counting is always said.
  std::vector<std::pair<std::string, packed>> sites;
  openmp_kind openmp_barrier = openmp_kind::library;
  /// Which bits of the defaults' word somebody has said; the others are there for pthread's locks, whose own way is not
  /// wanted once there is a policy.
  std::uint32_t default_said = 0;

  /// What a site of pthread's locks does, nothing unsaid.
  packed find(std::string_view site) const;
  /// What is said of a named site: its locks do the rest as the program has it. "libc" says nothing of those.
  observe::said_policy said(std::string_view site) const;
  /// The same of a site that is not among `sites`.
  observe::said_policy said_by_default() const;
};

/// A policy that has a name: a default for all sites.
struct named_policy {
  const char* name;
  const char* summary;
  packed defaults;
};
std::span<const named_policy> named_policies() noexcept;

/// Of named_policies(); none for other names.
std::optional<policy_set> find_named(std::string_view name);

/// Reads a policy file. Throws policy_error: for every key and value that is not known, and when somebody else than the
/// user or root could have written it.
policy_set read_policy_file(const std::string& path);

/// The same for a text; `source` is what errors name.
policy_set parse_policy(std::string_view text, const std::string& source);

/// A name or a file; a file of such a name is meant by ./NAME. Throws policy_error.
policy_set load_policy(const std::string& name_or_file);

/// What a policy may do to a program that is right, in one sentence; empty where there is nothing to say. Today: some
/// reader-writer locks are mutexes.
std::string warning_of(const policy_set& set);

/// The text of a policy file, in the order of `set`. Each line of `heading` stands above it as a comment, and a comment
/// stands above each choice that warning_of() speaks of.
std::string to_toml(const policy_set& set, std::string_view heading = {});

}  // namespace txsync::inline TXSYNC_BACKEND::policy
