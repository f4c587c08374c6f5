// SPDX-License-Identifier: Apache-2.0
// Which policy a site's locks follow, and the page that the site takes for it.
#include <txsync/speculate/site_page.hpp>

#include <new>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/observe/site_policy.hpp>

#include "observe/registry.hpp"
#include "policy/presets.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {

constexpr elision_policy no_elision{.attempts = 0, .adapts = adaptation::none};
constexpr warm_up_policy no_warm_up{.tries = 0, .adapts = false, .early = prefetch_before_lock::never};

/// What the policy word says; else what the code gives; else the standard preset.
template <auto given, const auto& off, const auto& standard, class Kind>
const auto& choose(const site& the_site, std::uint32_t word, Kind kind) noexcept {
  if (kind == Kind::off) return off;
  if (kind != Kind::unset) return policy::policy_of(kind);
  if ((word & policy_word::in_code) != 0) {
    if (const auto* const in_code = (static_cast<const site_with_policy&>(the_site).*given)()) return *in_code;
  }
  return standard;
}

const elision_policy& choose_elision(const site& the_site, std::uint32_t word) noexcept {
  return choose<&site_with_policy::elision, no_elision, elision_presets::standard>(the_site, word,
                                                                                   policy::packed::of(word).elision);
}

const warm_up_policy& choose_warm_up(const site& the_site, std::uint32_t word) noexcept {
  return choose<&site_with_policy::warm_up, no_warm_up, warm_up_presets::standard>(the_site, word,
                                                                                   policy::packed::of(word).warm_up);
}

}  // namespace

const elision_policy& elision_policy_of(const site& the_site) noexcept {
  return choose_elision(the_site, the_site.policy());
}
const warm_up_policy& warm_up_policy_of(const site& the_site) noexcept {
  return choose_warm_up(the_site, the_site.policy());
}

bool takes_lock(const site& the_site) noexcept {
  if (!machine::attempts_work()) return true;
  const detail::site_state& state = detail::site_state::of(the_site);
  if (state.elision() == nullptr || state.takes_lock()) return true;  // null: no section has asked
  const std::uint32_t locks_heed = observe::site_registry::heeded(state.get_site()->id());
  return (locks_heed & policy::packed::parts::lock) != 0 && !detail::asks_for_elision(the_site, the_site.policy());
}

namespace detail {

bool asks_for_elision(const site& the_site, std::uint32_t word) noexcept {
  if (!machine::attempts_work()) return false;
  const policy::elision_kind kind = policy::packed::of(word).elision;
  if (kind != policy::elision_kind::unset) return kind != policy::elision_kind::off;
  return (word & policy_word::in_code) != 0 && static_cast<const site_with_policy&>(the_site).elision() != nullptr;
}

namespace {

// Shared by sites that do not speculate, or for which one of the two kinds has not been asked yet.
constinit site_state without_elision{&no_elision, nullptr, site_page::policy_changed};
constinit site_state without_warm_up{nullptr, &no_warm_up, site_page::policy_changed};
constinit site_state without_both{&no_elision, &no_warm_up, site_page::policy_changed};

bool is_decided(const site_state& state, speculation what) noexcept {
  return what == speculation::elision ? state.elision() != nullptr : state.warm_up() != nullptr;
}

bool is_wanted(const site& the_site, std::uint32_t word, speculation what) noexcept {
  return what == speculation::elision ? choose_elision(the_site, word).attempts != 0
                                      : choose_warm_up(the_site, word).tries != 0;
}

constexpr std::uint32_t heeded_for(speculation what) noexcept {
  using parts = observe::detail::policy_parts;
  return what == speculation::elision ? parts::elision : parts::warm_up;
}

/// The state of a site with `state` that does not speculate in this way.
site_state& without(const site_state& state, speculation what) noexcept {
  if (&state != &undecided) return without_both;
  return what == speculation::elision ? without_elision : without_warm_up;
}

site_page* make_page(site& the_site) noexcept {
  void* const memory = machine::map_pages(sizeof(site_page));
  if (memory == nullptr) return nullptr;
  auto* const page = new (memory) site_page(the_site);
  page->apply_policy();
  return page;
}

}  // namespace

site_state& decide_state(site& the_site, speculation what) noexcept {
  for (;;) {
    site_state& state = site_state::of(the_site);
    if (is_decided(state, what)) return state;
    if (machine::active() || machine::warm_active()) return without_both;
    const std::uint32_t word = observe::detail::policy_at_first_use(the_site, heeded_for(what));
    const bool speculates = is_wanted(the_site, word, what);
    site_page* const page = speculates ? make_page(the_site) : nullptr;
    site_state& made = page != nullptr ? *page : speculates ? without_both : without(state, what);
    if (!site_state::replace(the_site, state, made)) {
      if (page != nullptr) machine::unmap_pages(page, sizeof(site_page));
    } else if (site_state::latest_word(the_site) != word) {
      site_page::policy_changed(the_site);
    }
  }
}

void site_page::policy_changed(site& the_site) noexcept {
  site_state& state = site_state::of(the_site);
  if (state.get_site() != nullptr) {
    static_cast<site_page&>(state).apply_policy();
  } else {
    // A thread that has replaced it since reads the policy word after that.
    (void)site_state::replace(the_site, state, undecided);
  }
}

// A policy is written before its answers. Answers are written before the check that the policy is still the same. So
// the thread that writes an answer last has seen the last policy. For that all of it is sequentially consistent.

bool site_page::answer(const elision_policy& policy) const noexcept {
  return policy.attempts == 0 || (policy.adapts == adaptation::trial && elision_trial.second());
}

void site_page::keep_elision_answer() noexcept {
  for (;;) {
    const elision_policy* const by = elision_.load();
    const bool now = answer(*by);
    if (takes_lock_.load() != now) takes_lock_.store(now);
    if (elision_.load() == by) return;
  }
}

/// No prefetch before lock while the first trial is under way: that trial asks for the speed without it.
warm_mode site_page::answer(const warm_up_policy& policy) const noexcept {
  if (policy.tries == 0) return warm_mode::never;
  if (policy.early == prefetch_before_lock::always) return warm_mode::before_lock;
  if (!policy.adapts) return warm_mode::in_wait;
  if (before_lock_trial.second() && (before_lock_trial.in_trial() || !warm_up_trial.in_trial()))
    return warm_mode::before_lock;
  return warm_up_trial.second() ? warm_mode::never : warm_mode::in_wait;
}

void site_page::keep_warm_up_answer() noexcept {
  for (;;) {
    const warm_up_policy* const by = warm_up_.load();
    const bool counts = by->tries != 0 && by->adapts && by->early != prefetch_before_lock::always;
    const warm_mode now = answer(*by);
    if (when_.load() != now) when_.store(now);
    if (counts_for_warm_up_.load() != counts) counts_for_warm_up_.store(counts);
    if (warm_up_.load() == by) return;
  }
}

void site_page::apply_policy() noexcept {
  for (;;) {
    const std::uint32_t word = latest_word(*get_site());
    elision_.store(&choose_elision(*get_site(), word));
    warm_up_.store(&choose_warm_up(*get_site(), word));
    // relaxed: a flag; while it changes, counting one more or one less is right at some time
    counts_attempts_.store((word & policy_word::counting_off) == 0, std::memory_order_relaxed);
    keep_elision_answer();
    keep_warm_up_answer();
    if (latest_word(*get_site()) == word) return;
  }
}

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND
