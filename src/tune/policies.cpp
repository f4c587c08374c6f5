// SPDX-License-Identifier: Apache-2.0
#include "tune/policies.hpp"

#include <algorithm>
#include <utility>

#include <txsync/machine/assert.hpp>

#include "policy/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

/// Whether a kind is tried although nobody named it. Strict order serves only when threads are no more than cores. The
/// papers' spin locks may starve a thread, and readers that wait for each other inside a mutex hang. Of elision and of
/// warm-up only txsync's own policy is tried, if the machine supports it and the site has a lock of ours.
bool is_tried(const std::string& object, const std::string& kind, policy::packed present, offered_attempts machine) {
  const bool ours = object == "named" || (object == "rwlock" ? present.rwlock != policy::rwlock_kind::libc
                                                             : present.lock != policy::lock_kind::libc);
  if (object == "named" && kind.ends_with("=libc")) return false;  // says nothing: the lock is the program's own
  const bool usual = kind.ends_with("=off") || kind.ends_with("=standard");
  if (kind.starts_with("elision=")) return ours && usual && machine.attempts;
  if (kind.starts_with("warm_up=")) return ours && usual && machine.always_abort;
  return kind != "lock=fifo-ticket" && kind != "lock=tatas" && kind != "lock=priority-tatas" &&
         kind != "rwlock=as-mutex";
}

/// "lock=ticket" for each word except the one that the site has.
std::vector<std::string> others(const observe::site_record& site, policy::packed present, offered_attempts machine) {
  const std::string& object = site.kind;
  std::vector<std::string> list;
  policy::for_parts(policy::followed_parts(object, site.heeded), [&](const char* key, const auto& words, auto member) {
    for (const auto& [word, kind] : words) {
      const std::string text = std::string(key) + "=" + word;
      if (kind != present.*member && is_tried(object, text, present, machine)) list.push_back(text);
    }
  });
  return list;
}

/// Puts "lock=ticket" into the choices.
void apply(const std::string& kind, policy::packed& choices) {
  policy::for_parts(~std::uint32_t{0}, [&](const char* key, const auto& words, auto member) {
    for (const auto& [word, meaning] : words) {
      if (std::string(key) + "=" + word == kind) choices.*member = meaning;
    }
  });
}

}  // namespace

policies::policies(const std::vector<std::string>& candidates, offered_attempts machine) : machine_(machine) {
  for (const std::string& name : candidates) {
    by_name_[name] = name == unmodified ? std::nullopt : std::optional(policy::load_policy(name));
  }
}

std::optional<policy::policy_set> policies::of(const configuration& config) const {
  TXSYNC_ASSERT(by_name_.count(config.candidate) != 0, "the candidate was given to the constructor");
  std::optional<policy::policy_set> policy = by_name_.at(config.candidate);
  if (!policy) return policy;
  for (const site_setting& setting : config.sites) {
    auto at = std::find_if(policy->sites.begin(), policy->sites.end(),
                           [&](const auto& known) { return known.first == setting.site; });
    if (at == policy->sites.end()) {
      policy::packed unset;
      unset.counting = policy->defaults.counting;
      at = policy->sites.insert(at, {setting.site, unset});
    }
    apply(setting.kind, at->second);
  }
  return policy;
}

site_seen policies::seen(const observe::site_record& counted, const std::optional<policy::policy_set>& policy) const {
  const policy::packed present = policy ? policy->find(counted.name) : policy::packed{};
  std::vector<std::string> kinds = others(counted, present, machine_);
  return {counted, std::move(kinds)};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
