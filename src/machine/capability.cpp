// SPDX-License-Identifier: Apache-2.0
// Decides whether hardware transactions can be trusted. The source is the same for the native and the scripted machine,
// so that unit tests drive every branch.
#include <atomic>
#include <string_view>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/capability.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/environment.hpp>

#include "claim.hpp"
#include "unknown_setting.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

constexpr unsigned deepest_tried = 64;  // POWER8 nests 62 levels, RTM 7

/// Complains once, because every later call gets the same answer.
void complain_of_switch(std::string_view wish) noexcept {
  static constinit std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  detail::unknown_setting said("TXSYNC_HTM", "value", wish);
  said.allow("off");
  said.allow("on");
  said.report("it is ignored");
}

bool switched_off_by_environment() noexcept {
  const char* const value = environment("TXSYNC_HTM");
  const std::string_view wish = value != nullptr ? value : "";
  if (!wish.empty() && wish != "on" && wish != "off") complain_of_switch(wish);
  return wish == "off";
}

/// Counts one attempt with one store.
void try_one_store(htm_trial& trial) noexcept {
  alignas(pad_bytes) static volatile std::uint32_t cell = 0;
  ++trial.tries;
  cell = 0;  // makes sure that the page exists and is writable
  const attempt_status status = begin();
  if (status.started()) {
    cell = 1;
    end();
    if (cell == 1) ++trial.commits;
    return;
  }
  trial.last_abort = status;
  if (status.raw == 0) ++trial.without_reason;
}

bool commits_at_depth(unsigned levels, unsigned tries) noexcept {
  for (unsigned i = 0; i < tries; ++i) {
    if (!begin().started()) continue;  // a nesting overflow returns here, too
    for (unsigned level = 1; level < levels; ++level) (void)begin();
    for (unsigned level = 0; level < levels; ++level) end();
    return true;
  }
  return false;
}

htm_obstacle obstacle_of(htm_claim claim) noexcept {
  switch (claim) {
    case htm_claim::no_instructions:
      return htm_obstacle::no_instructions;
    case htm_claim::absent:
      return htm_obstacle::not_claimed;
    case htm_claim::forced_abort:
      return htm_obstacle::forced_abort;
    case htm_claim::present:
      break;
  }
  return htm_obstacle::none;
}

}  // namespace

namespace detail {

htm_claim claim_by_cpuid() noexcept {
  constexpr std::uint32_t rtm_bit = 1u << 11;           // CPUID.7.0:EBX
  constexpr std::uint32_t always_abort_bit = 1u << 11;  // CPUID.7.0:EDX
  std::uint32_t leaf[4];
  if (!cpuid(7, 0, leaf)) return htm_claim::absent;
  if ((leaf[3] & always_abort_bit) != 0) return htm_claim::forced_abort;
  return (leaf[1] & rtm_bit) != 0 ? htm_claim::present : htm_claim::absent;
}

}  // namespace detail

htm_trial try_htm(unsigned tries) noexcept {
  const detail::trial_scope scope;
  htm_trial trial;
  trial.claim = claimed_htm();
  trial.obstacle = switched_off_by_environment() ? htm_obstacle::kill_switch : obstacle_of(trial.claim);
  if (trial.obstacle != htm_obstacle::none) return trial;
  for (unsigned i = 0; i < tries; ++i) try_one_store(trial);
  if (trial.commits == 0) {
    trial.obstacle = htm_obstacle::never_commits;
    return trial;
  }
  htm_capability& found = trial.capability;
  found.attempts = true;
  while (found.max_depth < deepest_tried && commits_at_depth(found.max_depth + 1, tries)) ++found.max_depth;
  found.always_abort = found.max_depth > detail::warm_extra_depth;
  detail::add_extras(found);
  return trial;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
