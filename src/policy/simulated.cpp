// SPDX-License-Identifier: Apache-2.0
#include "policy/simulated.hpp"

#include <cstdio>

namespace txsync::TXSYNC_INLINE_BACKEND::policy {
namespace {

std::string entry(observe::partial_policy given, const std::string& name) {
  char numbers[48];
  std::snprintf(numbers, sizeof numbers, "%x %x %zu ", given.word, given.mask, name.size());
  return numbers + name;
}

}  // namespace

std::string site_policies_to_simulate(const policy_set& set) {
  const observe::partial_policy everywhere = set.set_by_default();
  if (everywhere.mask == 0 && set.sites.empty()) return {};
  std::string text = entry(everywhere, {});
  for (const auto& [name, choices] : set.sites) text += entry(set.set_for(name), name);
  return text;
}

std::string lock_policies_to_simulate(const policy_set& set) {
  std::string text;
  if (set.default_mask == 0) return text;
  const packed choices = set.defaults;
  const auto add = [&text](const char* key, const char* word) {
    if (word != nullptr) text += std::string(text.empty() ? "" : " ") + key + "=" + word;
  };
  if (choices.lock != lock_kind::libc) add("lock", to_string(choices.lock));
  if (choices.rwlock != rwlock_kind::libc) add("rwlock", to_string(choices.rwlock));
  add("elision", to_string(choices.elision));
  add("warm_up", to_string(choices.warm_up));
  return text;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy
