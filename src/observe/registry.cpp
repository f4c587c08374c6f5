// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <atomic>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/observe/site_policy.hpp>
#include <txsync/observe/site_state.hpp>

#include "outside.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

constinit detail::site_state detail::undecided;
constinit site site::unnamed_{"(unnamed)"};

void site::set_policy(std::uint32_t packed) noexcept {
  TXSYNC_ASSERT(!machine::active(), "a policy is set outside of attempts");
  // relaxed: the bit never changes
  const std::uint32_t kept = policy_.load(std::memory_order_relaxed) & policy_word::in_code;
  // seq_cst, the store and the load: as in site_state::replace().
  policy_.store((packed & ~policy_word::in_code) | kept, std::memory_order_seq_cst);
  const detail::site_state& state = *state_.load(std::memory_order_seq_cst);
  if (state.changed() != nullptr) state.changed()(*this);
}

std::uint32_t site::register_site() noexcept { return observe::site_registry::enter(*this); }

namespace observe {

namespace {

constinit std::atomic<std::uint32_t> given{0};
/// The last number that the launcher has given. relaxed: it only grows
constinit std::atomic<std::uint32_t> from_launcher{0};
/// For numbers given here: whose number it is.
constinit std::atomic<site*> owners[site::site_limit + 1] = {};
constinit std::atomic<const char*> names[site::site_limit + 1] = {};
/// What the launcher sets for a site: the mask of bits in the upper half, the word below. relaxed: one number each
constinit std::atomic<std::uint64_t> ruled[site::site_limit + 1] = {};
/// The parts of its policy that the locks of a site heed. relaxed: a set that only grows
constinit std::atomic<std::uint32_t> heeded[site::site_limit + 1] = {};

/// All sites that have numbers, for put_policies(). Sequentially consistent, with files_read(). A thread that reads a
/// file looks at the list afterwards; a thread that enters a site looks for files afterwards. So one of the two sees
/// the other.
constinit std::atomic<site*> entered[site::site_limit] = {};

void list(site& the_site) noexcept {
  for (std::atomic<site*>& one : entered) {
    site* seen = one.load();
    if (seen == nullptr && one.compare_exchange_strong(seen, &the_site)) return;
    if (seen == &the_site) return;
  }
}

/// The launcher's policy overrides the files', and these override the program's own.
void put_policy(site& the_site, std::uint32_t id) noexcept {
  for (;;) {
    const std::uint32_t files = files_read();
    const std::uint64_t launcher = ruled[id].load(std::memory_order_relaxed);
    const partial_policy by_launcher{static_cast<std::uint32_t>(launcher), static_cast<std::uint32_t>(launcher >> 32)};
    const partial_policy all = by_launcher.over(policy_from_files(the_site.name()));
    if (all.mask != 0) the_site.set_policy(all.over(the_site.policy()));
    // Another thread may have read a further file meanwhile and set its policy before ours.
    if (files_read() == files) return;
  }
}

void raise_to(std::atomic<std::uint32_t>& count, std::uint32_t id) noexcept {
  // relaxed: the count only has to grow
  std::uint32_t last = count.load(std::memory_order_relaxed);
  while (last < id && !count.compare_exchange_weak(last, id, std::memory_order_relaxed)) {
  }
}

/// The first number after the launcher's that is free, or that another thread has just taken for this site. Numbers
/// never become free again, so both threads look at the same ones. 0: none is left.
std::uint32_t take_number(site& the_site) noexcept {
  for (std::uint32_t id = from_launcher.load(std::memory_order_relaxed) + 1; id <= site::site_limit; ++id) {
    site* seen = owners[id].load();
    if (seen == nullptr && owners[id].compare_exchange_strong(seen, &the_site)) seen = &the_site;
    if (seen != &the_site) continue;
    raise_to(given, id);
    return id;
  }
  return 0;
}

/// Called before the number is stored: whoever sees the number also sees the name and the policy.
void make_known(site& the_site, std::uint32_t id, bool takes_policies) noexcept {
  if (id != 0) names[id].store(the_site.name(), std::memory_order_release);  // pairs with the acquire in name()
  if (!takes_policies) return;
  list(the_site);
  put_policy(the_site, id);
}

/// A site whose counting is off from the start is not counted this first time, either.
std::uint32_t counted_now(const site& the_site, std::uint32_t id) noexcept {
  return (the_site.policy() & policy_word::counting_off) != 0 ? 0 : id;
}

}  // namespace

/// Threads that enter a site numbered by the launcher at the same time all ask, and get the same answer. So none waits
/// for another one, which it may have interrupted.
std::uint32_t site_registry::enter(site& the_site) noexcept {
  const outside_number answer = number_from_outside(the_site.name(), 0);
  if (answer.by == numbering::later) return 0;
  if (answer.by == numbering::here) return number_here(the_site, answer.takes_policies);
  if (answer.id != 0) {
    ruled[answer.id].store(std::uint64_t{answer.policy.mask} << 32 | answer.policy.word, std::memory_order_relaxed);
    raise_to(from_launcher, answer.id);
    raise_to(given, answer.id);
  }
  make_known(the_site, answer.id, true);
  the_site.id_.store(answer.id, std::memory_order_release);  // pairs with the acquire in site::id()
  return counted_now(the_site, answer.id);
}

/// Threads that enter one site at the same time get one number. None waits for another one: each does all of the work.
std::uint32_t site_registry::number_here(site& the_site, bool takes_policies) noexcept {
  const std::uint32_t id = take_number(the_site);
  make_known(the_site, id, takes_policies);
  the_site.id_.store(id, std::memory_order_release);  // pairs with the acquire in site::id()
  return counted_now(the_site, id);
}

void site_registry::put_policies() noexcept {
  for (std::atomic<site*>& one : entered) {
    site* const the_site = one.load();
    if (the_site == nullptr) return;
    // relaxed: while a site is being entered, its own thread sets the policy, too
    const std::uint32_t id = the_site->id_.load(std::memory_order_relaxed);
    put_policy(*the_site, id <= site::site_limit ? id : 0);
  }
}

std::uint32_t site_registry::count() noexcept { return given.load(std::memory_order_relaxed); }

const char* site_registry::name(std::uint32_t id) noexcept {
  const char* const name = names[id].load(std::memory_order_acquire);  // pairs with the release in make_known()
  return name != nullptr ? name : "";
}

std::uint32_t site_registry::heeded(std::uint32_t id) noexcept {
  return id <= site::site_limit ? observe::heeded[id].load(std::memory_order_relaxed) : 0;
}

std::uint32_t detail::policy_at_first_use(site& the_site, std::uint32_t parts) noexcept {
  const std::uint32_t id = the_site.id();
  if (id == 0 || id > site::site_limit || machine::active() || machine::warm_active()) return the_site.policy();
  const std::uint32_t before = heeded[id].load(std::memory_order_relaxed);
  if ((before | parts) != before &&
      number_from_outside(the_site.name(), before | parts).by != numbering::later)  // else the next call reports them
    heeded[id].fetch_or(parts, std::memory_order_relaxed);
  return the_site.policy();
}

}  // namespace observe

}  // namespace txsync::TXSYNC_INLINE_BACKEND
