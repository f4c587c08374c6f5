// SPDX-License-Identifier: Apache-2.0
#include "launch/policy_remarks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "policy/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

namespace {

using policy::packed;
using parts = packed::parts;

constexpr std::size_t max_named = 8;

/// "lock and elision": the keys of policy files for those parts.
std::string keys_of(std::uint32_t which) {
  std::vector<std::string> keys;
  policy::for_parts(which, [&](const char* key, const auto&, auto) { keys.emplace_back(key); });
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i) text += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + keys[i];
  return text;
}

/// Where attempts of that kind are not possible, a lock need not say whether it would follow the policy.
std::uint32_t parts_without_attempts(const machine::htm_capability& machine) {
  return (machine.attempts ? 0 : parts::elision) | (machine.always_abort ? 0 : parts::warm_up);
}

void remark_on_machine(std::vector<std::string>& into, const policy::policy_set& policies,
                       const machine::htm_capability& machine) {
  if (!machine.attempts && policies.any(&packed::wants_elision))
    into.emplace_back("nothing was elided: hardware transactions do not work here; txsync doctor says why");
  if (!machine.always_abort && policies.any(&packed::wants_warm_up))
    into.emplace_back("no waiter ran ahead: there are no always-abort attempts here; txsync doctor says why");
}

/// Whether a lock of pthread's stays the C library's, which elides nothing.
bool stays_in_libc(const std::string& kind, packed choices) {
  return (kind == "mutex" && choices.lock == policy::lock_kind::libc) ||
         (kind == "rwlock" && choices.rwlock == policy::rwlock_kind::libc);
}

void remark_on_site(std::vector<std::string>& into, const known_site& site, packed own, packed whole,
                    std::uint32_t not_asked) {
  std::uint32_t follows = policy::followed_parts(site.kind, site.heeded);
  if (site.kind == "rwlock" && whole.rwlock == policy::rwlock_kind::as_mutex) follows |= parts::lock | parts::warm_up;
  if (const std::uint32_t ignored = own.set_bits() & ~follows & ~not_asked; ignored != 0) {
    into.push_back(fmt::format("the policy sets {} of {}, whose locks follow {}", keys_of(ignored), site.name,
                               follows == 0 ? "no policy" : "only " + keys_of(follows)));
  }
  if (own.wants_elision() && (follows & parts::elision) != 0 && stays_in_libc(site.kind, whole)) {
    into.push_back(
        fmt::format("{} stays a lock of the C library, which elides nothing: to be elided, it needs {}", site.name,
                    site.kind == "rwlock" ? "rwlock = \"rwlock\"" : "lock = \"mutex\" or another lock of txsync"));
  }
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), max_named); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > max_named) text += " and " + std::to_string(names.size() - max_named) + " more";
  return text;
}

std::vector<std::string> policy_remarks(const policy::policy_set& policies, const std::vector<known_site>& known,
                                        const machine::htm_capability& machine) {
  std::vector<std::string> made;
  remark_on_machine(made, policies, machine);
  std::vector<std::string> missing;
  std::size_t named = 0;
  for (const auto& [name, own] : policies.sites) {
    const auto at = std::find_if(known.begin(), known.end(), [&](const known_site& one) { return one.name == name; });
    if (at == known.end()) {
      missing.push_back(name);
    } else if (std::vector<std::string> said;
               remark_on_site(said, *at, own, policies.find(name), parts_without_attempts(machine)), !said.empty()) {
      if (++named <= max_named) std::move(said.begin(), said.end(), std::back_inserter(made));
    }
  }
  if (!missing.empty()) {
    made.push_back(fmt::format("the policy names {} of which the program took no lock: {}",
                               missing.size() == 1 ? "a site" : "sites", listed(missing)));
  }
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
