// SPDX-License-Identifier: Apache-2.0
#include "speculating_sites.hpp"

#include <new>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/speculate/site_page.hpp>

namespace txsync::inline TXSYNC_BACKEND::preload {

constinit std::atomic<site_block*> site_blocks[max_sites / site_block::sites + 1] = {};

namespace {

bool make_block(std::uint32_t index) noexcept {
  std::atomic<site_block*>& mine = site_blocks[index];
  site_block* present = mine.load(std::memory_order_relaxed);  // relaxed: whether there is one
  if (present != nullptr) return true;
  void* const page = machine::map_pages(sizeof(site_block));
  if (page == nullptr) return false;
  auto* const made = new (page) site_block;
  for (std::uint32_t i = 0; i < site_block::sites; ++i) {
    new (made->room[i]) speculating_site(index * site_block::sites + i);
  }
  // release: the sites, before others find them; pairs with the acquire in speculating_site_of(). relaxed: another
  // thread's block is as good
  if (!mine.compare_exchange_strong(present, made, std::memory_order_release, std::memory_order_relaxed)) {
    machine::unmap_pages(page, sizeof(site_block));
  }
  return true;
}

}  // namespace

bool make_speculating(std::uint32_t number, const site_choices& choices, const policy::packed& asked) noexcept {
  if (!make_block(number / site_block::sites)) return false;
  speculating_site& made = speculating_site_of(number);
  if (!made.has_choices()) made.place.set_policy(asked.word());
  const auto what = choices.elides ? detail::speculation::elision : detail::speculation::warm_up;
  if (detail::decide_state(made.place, what).place() == nullptr) {
    // Nothing is decided in an attempt, and a lock's kind is final. So the critical section starts again outside the
    // attempt.
    machine::abort<machine::attempt_status::code_fall_back>();
    return false;
  }
  made.set_choices(choices);
  return true;
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
