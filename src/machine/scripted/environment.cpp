// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <txsync/machine/environment.hpp>

#include <set>

#include "../seed.hpp"
#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

using script::the_state;

namespace {

/// A copy that stays valid whatever the script changes. Requires: the state's guard is held.
const char* lasting(const std::string& text) {
  static auto* const texts = new std::set<std::string>;
  return texts->insert(text).first->c_str();
}

}  // namespace

const char* environment(const char* name) noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  const auto found = all.system.environment.find(name);
  return found == all.system.environment.end() ? nullptr : lasting(found->second);
}

std::uint64_t random_seed() noexcept {
  detail::scripted_system_call();
  if (const std::optional<std::uint64_t> given = detail::seed_from_environment()) return *given;
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return all.system.seed;
}

const char* backend_name() noexcept { return "scripted"; }

const char* kernel_version() noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return lasting(all.system.kernel);
}

const char* libc_version() noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return lasting(all.system.libc);
}

void enter_phase(phase) noexcept {}

void complain(const char* text, std::size_t length) noexcept {
  detail::scripted_system_call();
  std::fwrite(text, 1, length, stderr);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
