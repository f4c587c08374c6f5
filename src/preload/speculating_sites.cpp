// SPDX-License-Identifier: Apache-2.0
#include "speculating_sites.hpp"

#include <new>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/speculate/site_page.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

constinit std::atomic<site_block*> site_blocks[max_sites / site_block::sites + 1] = {};

namespace {

bool make_block(std::uint32_t index) noexcept {
  std::atomic<site_block*>& slot = site_blocks[index];
  site_block* present = slot.load(std::memory_order_relaxed);  // relaxed: whether there is one
  if (present != nullptr) return true;
  void* const page = machine::map_pages(sizeof(site_block));
  if (page == nullptr) return false;
  auto* const block = new (page) site_block;
  for (std::uint32_t i = 0; i < site_block::sites; ++i) {
    new (block->room[i]) speculating_site(index * site_block::sites + i);
  }
  // release: the sites, before others find them; pairs with the acquire in speculating_site_of(). relaxed: another
  // thread's block is as good
  if (!slot.compare_exchange_strong(present, block, std::memory_order_release, std::memory_order_relaxed)) {
    machine::unmap_pages(page, sizeof(site_block));
  }
  return true;
}

}  // namespace

bool make_speculating(std::uint32_t number, const site_choices& choices, const policy::packed& asked) noexcept {
  if (!make_block(number / site_block::sites)) return false;
  speculating_site& speculating = speculating_site_of(number);
  if (!choices.elides && !choices.warms) {
    speculating.set_choices(choices);
    return true;
  }
  if (!speculating.has_choices()) speculating.lock_site.set_policy(asked.word());
  const auto why = choices.elides ? detail::speculation::elision : detail::speculation::warm_up;
  if (detail::decide_state(speculating.lock_site, why).get_site() == nullptr) {
    // Nothing is decided in an attempt, and a lock's kind is final. So the critical section starts again outside the
    // attempt.
    machine::abort<machine::attempt_status::code_fall_back>();
    return false;
  }
  speculating.set_choices(choices);
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
