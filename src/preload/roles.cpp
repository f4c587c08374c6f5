// SPDX-License-Identifier: Apache-2.0
#include "roles.hpp"

#include <new>

#include <txsync/machine/memory.hpp>

namespace txsync::inline TXSYNC_BACKEND::preload {

constinit std::atomic<lock_role*> roles[most_sites + 1] = {};

namespace {

const elision_policy& preset_of(policy::elision_kind kind) noexcept {
  switch (kind) {
    case policy::elision_kind::eager:
      return elision_presets::eager;
    case policy::elision_kind::shore:
      return elision_presets::shore;
    case policy::elision_kind::glibc:
      return elision_presets::glibc;
    case policy::elision_kind::libomp:
      return elision_presets::libomp;
    case policy::elision_kind::xsync:
      return elision_presets::xsync;
    case policy::elision_kind::thesis_100:
      return elision_presets::thesis_100;
    case policy::elision_kind::htm_1:
      return elision_presets::htm_1;
    case policy::elision_kind::htm_10:
      return elision_presets::htm_10;
    case policy::elision_kind::unsaid:
    case policy::elision_kind::off:
    case policy::elision_kind::standard:
      break;
  }
  return elision_presets::standard;
}

const warm_up_policy& preset_of(policy::warm_up_kind kind) noexcept {
  switch (kind) {
    case policy::warm_up_kind::eager:
      return warm_up_presets::eager;
    case policy::warm_up_kind::paper:
      return warm_up_presets::paper;
    case policy::warm_up_kind::paper_ticket:
      return warm_up_presets::paper_ticket;
    case policy::warm_up_kind::unsaid:
    case policy::warm_up_kind::off:
    case policy::warm_up_kind::standard:
      break;
  }
  return warm_up_presets::standard;
}

}  // namespace

bool make_role(std::uint32_t site, const role_choices& choices, const policy::packed& policy) noexcept {
  std::atomic<lock_role*>& mine = roles[site];
  lock_role* present = mine.load(std::memory_order_relaxed);  // relaxed: whether there is one
  if (present != nullptr) return true;
  void* const page = machine::map_pages(sizeof(lock_role));
  if (page == nullptr) return false;
  auto* const made =
      new (page) lock_role(policy.counting ? site : 0, preset_of(policy.elision), preset_of(policy.warm_up), choices);
  // release: the role, before others find it; pairs with the acquire in role_of(). relaxed: another's is as good
  if (!mine.compare_exchange_strong(present, made, std::memory_order_release, std::memory_order_relaxed)) {
    machine::unmap_pages(page, sizeof(lock_role));
  }
  return true;
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
