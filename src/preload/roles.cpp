// SPDX-License-Identifier: Apache-2.0
#include "roles.hpp"

#include <new>

#include <txsync/machine/memory.hpp>

#include "policy/presets.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

constinit std::atomic<lock_role*> roles[most_sites + 1] = {};

bool make_role(std::uint32_t site, const role_choices& choices, const policy::packed& asked) noexcept {
  std::atomic<lock_role*>& mine = roles[site];
  lock_role* present = mine.load(std::memory_order_relaxed);  // relaxed: whether there is one
  if (present != nullptr) return true;
  void* const page = machine::map_pages(sizeof(lock_role));
  if (page == nullptr) return false;
  auto* const made = new (page)
      lock_role(asked.counting ? site : 0, policy::policy_of(asked.elision), policy::policy_of(asked.warm_up), choices);
  // release: the role, before others find it; pairs with the acquire in role_of(). relaxed: another's is as good
  if (!mine.compare_exchange_strong(present, made, std::memory_order_release, std::memory_order_relaxed)) {
    machine::unmap_pages(page, sizeof(lock_role));
  }
  return true;
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
