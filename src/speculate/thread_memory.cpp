// SPDX-License-Identifier: Apache-2.0
#include "speculate/thread_memory.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <txsync/machine/memory.hpp>

#include "observe/commit_counts.hpp"
#include "observe/ownership.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

namespace {

struct owned_memory {
  observe::ownership owner;
  owned_memory* next = nullptr;  // in the list of all; constant once it is published
  thread_memory kept;
};

constinit std::atomic<owned_memory*> all{nullptr};
constinit observe::ownerships owners;
enum class state : std::uint8_t { new_thread, has_memory, never };
[[gnu::tls_model("initial-exec")]] constinit thread_local owned_memory* mine = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local state my_state = state::new_thread;

bool give_back(const observe::ownership& block) noexcept {
  if (mine == nullptr || &mine->owner != &block) return false;
  mine = nullptr;
  my_state = state::never;
  return true;
}

owned_memory* adopt() noexcept {
  if (!observe::may_be_unowned(owners)) return nullptr;
  // acquire pairs with the release in publish()
  for (owned_memory* one = all.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    if (observe::own(one->owner)) return one;
  }
  return nullptr;
}

void publish(owned_memory& made) noexcept {
  made.next = all.load(std::memory_order_relaxed);
  // release pairs with the acquire in adopt(): an entry that is found is complete
  while (!all.compare_exchange_weak(made.next, &made, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

owned_memory* make() noexcept {
  const std::size_t bytes = std::max(machine::page_size(), sizeof(owned_memory));
  auto* const pages = static_cast<char*>(machine::map_pages(bytes));
  if (pages == nullptr) return nullptr;
  owned_memory* first = nullptr;
  for (std::size_t at = 0; at + sizeof(owned_memory) <= bytes; at += sizeof(owned_memory)) {
    auto* const made = new (pages + at) owned_memory;
    observe::make_unowned(made->owner, owners);
    // If the system does not report a thread's end, nobody can own it.
    if (first == nullptr && observe::own(made->owner)) first = made;
    publish(*made);
  }
  return first;
}

[[gnu::noinline]] thread_memory* take() noexcept {
  if (my_state == state::never) return nullptr;
  my_state = state::never;  // also for what the calls below may do
  observe::also_stops(give_back);
  owned_memory* got = observe::may_own() ? adopt() : nullptr;
  if (got == nullptr && observe::may_own()) got = make();
  if (got == nullptr) return nullptr;
  for (elision_history& one : got->kept.table) one = {};
  got->kept.timed = {};
  mine = got;
  my_state = state::has_memory;
  return &got->kept;
}

}  // namespace

void timed_sections::begin_timing() noexcept {
  is_next_ = false;
  lost_ = 0;
  began_ = machine::cycles() | 1;
}

void timed_sections::end_timing(site& the_site) noexcept {
  began_ = 0;
  if (lost_ == 0) return;
  observe::detail::lost_in_attempts(observe::detail::counted_id(the_site), lost_, observe::timing_period);
}

thread_memory* my_memory() noexcept {
  owned_memory* const known = mine;
  return known != nullptr ? &known->kept : take();
}

thread_memory* my_memory_if_any() noexcept { return mine != nullptr ? &mine->kept : nullptr; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
