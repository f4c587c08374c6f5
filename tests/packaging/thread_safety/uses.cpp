// SPDX-License-Identifier: Apache-2.0
// Data that locks guard. WRONG selects a use that -Wthread-safety has to refuse; 0 is right.
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/mutex.hpp>
#include <txsync/policy_mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>

namespace {

txsync::mutex orders_lock;
int orders TXSYNC_GUARDED_BY(orders_lock) = 0;

txsync::shared_mutex stock_lock;
int stock TXSYNC_GUARDED_BY(stock_lock) = 0;

txsync::elided<txsync::tatas_lock> prices_lock;
int prices TXSYNC_GUARDED_BY(prices_lock) = 0;

txsync::mcs_lock queue_lock;
int queued TXSYNC_GUARDED_BY(queue_lock) = 0;

template <class Lock>
void take_and_give_up() {
  static Lock lock;
  [[maybe_unused]] static int guarded TXSYNC_GUARDED_BY(lock) = 0;
  lock.lock();
  ++guarded;
  lock.unlock();
  if (lock.try_lock()) {
    ++guarded;
    lock.unlock();
  }
}

int add_order() TXSYNC_REQUIRES(orders_lock) { return ++orders; }

}  // namespace

int uses() {
  take_and_give_up<txsync::tatas_lock>();
  take_and_give_up<txsync::ticket_lock>();
  take_and_give_up<txsync::futex_mutex>();
  take_and_give_up<txsync::futex_rwlock>();
  take_and_give_up<txsync::policy_mutex>();
  take_and_give_up<txsync::warming<txsync::ticket_lock>>();

  orders_lock.lock();
  add_order();
  orders_lock.unlock();

  stock_lock.lock_shared();
  int sum = stock;
  stock_lock.unlock_shared();

  {
    const txsync::elided_guard guard(prices_lock);
    sum += ++prices;
  }
  {
    const txsync::mcs_lock::guard guard(queue_lock);
    sum += ++queued;
  }

#if WRONG == 1  // no lock
  ++orders;
#elif WRONG == 2   // another lock
  stock_lock.lock();
  ++orders;
  stock_lock.unlock();
#elif WRONG == 3   // the lock is kept
  orders_lock.lock();
#elif WRONG == 4   // it is given up twice
  orders_lock.lock();
  orders_lock.unlock();
  orders_lock.unlock();
#elif WRONG == 5   // a write under the shared lock
  stock_lock.lock_shared();
  ++stock;
  stock_lock.unlock_shared();
#elif WRONG == 6   // a function that requires the lock
  add_order();
#elif WRONG == 7   // the result of a try is not looked at
  static_cast<void>(orders_lock.try_lock());
  ++orders;
  orders_lock.unlock();
#elif WRONG == 8   // after the guard
  sum += prices;
#elif WRONG == 9   // taken twice
  orders_lock.lock();
  orders_lock.lock();
  orders_lock.unlock();
#elif WRONG == 10  // given up in another mode
  stock_lock.lock();
  stock_lock.unlock_shared();
#endif
  return sum;
}
