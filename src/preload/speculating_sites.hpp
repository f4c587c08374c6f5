// SPDX-License-Identifier: Apache-2.0
// The sites whose locks are elided, or whose waiters run ahead. The site has the policy and what was learnt about it
// (speculate/site_page.hpp). Beside it stands what the policy means on this machine.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/assert.hpp>
#include <txsync/site.hpp>

#include "mutex_state.hpp"
#include "observe/registry.hpp"
#include "policy/packed.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// What a site's policy means on this machine.
struct site_choices {
  algorithm under;  ///< the lock that is taken
  bool elides;
  bool warms;
};

class speculating_site {
 public:
  /// `number`: the launcher's for the site.
  explicit speculating_site(std::uint32_t number) noexcept : lock_site(observe::site_registry::numbered(number)) {}

  /// Requires: set_choices(). acquire pairs with the release there.
  site_choices choices() const noexcept {
    const std::uint32_t kept = kept_choices();
    TXSYNC_ASSERT_VALUE(kept != 0, "the choices of the site were made");
    return choices_in(kept);
  }
  bool has_choices() const noexcept { return kept_choices() != 0; }
  /// 0: they were not made in this process.
  std::uint32_t kept_choices() const noexcept { return choices_.load(std::memory_order_acquire); }
  /// `kept` is not 0.
  static site_choices choices_in(std::uint32_t kept) noexcept {
    return {static_cast<algorithm>(kept & under_bits), (kept & elides_bit) != 0, (kept & warms_bit) != 0};
  }
  /// The first choices stay.
  void set_choices(const site_choices& choices) noexcept {
    std::uint32_t none = 0;
    const std::uint32_t kept = set_bit | (choices.elides ? elides_bit : 0) | (choices.warms ? warms_bit : 0) |
                               static_cast<std::uint32_t>(choices.under);
    // release: the policy, before others find the choices; relaxed: another thread's are as good
    choices_.compare_exchange_strong(none, kept, std::memory_order_release, std::memory_order_relaxed);
  }

  site lock_site;

 private:
  static constexpr std::uint32_t under_bits = 0xFF;
  static constexpr std::uint32_t elides_bit = 1u << 8;
  static constexpr std::uint32_t warms_bit = 1u << 9;
  static constexpr std::uint32_t set_bit = 1u << 10;

  std::atomic<std::uint32_t> choices_{0};
};

/// The sites of consecutive numbers: a page of memory, mapped by the first of them, never given back.
struct site_block {
  static constexpr std::uint32_t sites = 128;
  alignas(speculating_site) unsigned char room[sites][sizeof(speculating_site)];
};
static_assert(sizeof(site_block) == 4096);
extern constinit std::atomic<site_block*> site_blocks[max_sites / site_block::sites + 1];

/// Makes the choices of the site, and its page (speculate/site_page.hpp) if it elides or warms up. False if
/// there is no memory left: then its locks are plain. Sites that are not counted have a number, too. Thread-safe.
bool make_speculating(std::uint32_t number, const site_choices& choices, const policy::packed& asked) noexcept;

/// Null: no choices were made in this process for sites with such numbers. Another process may have decided a lock in
/// memory that both use.
inline const speculating_site* find_speculating_site(std::uint32_t number) noexcept {
  // acquire pairs with the release in make_speculating()
  const site_block* const block = site_blocks[number / site_block::sites].load(std::memory_order_acquire);
  if (block == nullptr) return nullptr;
  return std::launder(reinterpret_cast<const speculating_site*>(block->room[number % site_block::sites]));
}

/// Requires: make_speculating(number, ...) has been true in this process.
inline speculating_site& speculating_site_of(std::uint32_t number) noexcept {
  TXSYNC_ASSERT(site_blocks[number / site_block::sites].load(std::memory_order_relaxed) != nullptr,
                "the site was made a speculating one");
  // acquire pairs with the release in make_speculating()
  site_block& block = *site_blocks[number / site_block::sites].load(std::memory_order_acquire);
  return *std::launder(reinterpret_cast<speculating_site*>(block.room[number % site_block::sites]));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
