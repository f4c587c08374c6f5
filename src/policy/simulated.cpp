// SPDX-License-Identifier: Apache-2.0
#include "policy/simulated.hpp"

#include <cstdio>

namespace txsync::TXSYNC_INLINE_BACKEND::policy {
namespace {

std::string entry(observe::said_policy said, const std::string& name) {
  char numbers[48];
  std::snprintf(numbers, sizeof numbers, "%x %x %zu ", said.word, said.said, name.size());
  return numbers + name;
}

}  // namespace

std::string told_sites(const policy_set& set) {
  const observe::said_policy everywhere = set.said_by_default();
  if (everywhere.said == 0 && set.sites.empty()) return {};
  std::string text = entry(everywhere, {});
  for (const auto& [name, choices] : set.sites) text += entry(set.said(name), name);
  return text;
}

std::string told_locks(const policy_set& set) {
  std::string text;
  if (set.default_said == 0) return text;
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
