// SPDX-License-Identifier: Apache-2.0
// retry(): a transaction sleeps until something that it has read has been written (Harris, Marlow, Peyton Jones and
// Herlihy, "Composable memory transactions", PPoPP 2005). Sleepers stand in a list with what they have read. A
// transaction that commits writes looks for them there.
#include <memory>
#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/mutex.hpp>

#include "tm/quiescence_gate.hpp"
#include "tm/stripe_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

struct sleeper {
  stripe_set reads;
  std::atomic<std::uint32_t> told{0};
  sleeper* next = nullptr;
};

constinit mutex list_guard;
constinit sleeper* list TXSYNC_GUARDED_BY(list_guard) = nullptr;

void add(sleeper& mine) noexcept {
  list_guard.lock();
  mine.next = list;
  list = &mine;
  // relaxed: before the heavy fence; pairs with the light one in wake_sleepers()
  shared.sleepers.store(shared.sleepers.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  list_guard.unlock();
  machine::heavy_fence();
}

void remove(sleeper& mine) noexcept {
  list_guard.lock();
  sleeper** link = &list;
  while (*link != &mine) link = &(*link)->next;
  *link = mine.next;
  shared.sleepers.store(shared.sleepers.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // as in add()
  list_guard.unlock();
}

}  // namespace

void forget_sleepers() noexcept TXSYNC_UNCHECKED {  // there is one thread
  std::construct_at(&list_guard);
  list = nullptr;
  shared.sleepers.store(0, std::memory_order_relaxed);  // there is one thread
}

void wake_sleepers(runner& me) noexcept {
  stripe_set written;
  if (me.mode != run_mode::irrevocable && me.mode != run_mode::hardware) {
    me.how->add_writes(me, written);
  } else {
    written.add_all();
  }
  list_guard.lock();
  for (sleeper* one = list; one != nullptr; one = one->next) {
    if (!one->reads.meets(written)) continue;
    one->told.store(1, std::memory_order_relaxed);  // guards nothing: the sleeper reads again what it wants to know
    machine::unpark(one->told, 1);
  }
  list_guard.unlock();
}

bool sleep_until_changed(runner& me) noexcept {
  sleeper mine;
  if (me.how->add_reads != nullptr) {
    me.how->add_reads(me, mine.reads);
    if (mine.reads.empty()) return false;
  } else {
    if (!me.has_unlogged) return false;
    mine.reads.add_all();
  }
  add(mine);
  // A transaction that commits a change from here on finds the sleeper in the list. An earlier change is seen now.
  const bool same = me.how->is_valid == nullptr || me.how->is_valid(me);
  abandon(me);
  if (same) {
    me.counts->transactions.waits.add(1);
    while (mine.told.load(std::memory_order_relaxed) == 0) static_cast<void>(machine::park(mine.told, 0));
  }
  remove(mine);
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
