// SPDX-License-Identifier: Apache-2.0
// Uses the templates in public headers as users do, so that all of their code is compiled. headers.sh compiles it with
// the warnings that careful projects turn on, and without exceptions.
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <string>

#include <txsync/barrier.hpp>
#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/thread_annotations.hpp>
#include <txsync/mutex.hpp>
#include <txsync/policy_mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/elided_condition_variable.hpp>
#include <txsync/speculate/warm_barrier.hpp>
#include <txsync/speculate/warming.hpp>
#include <txsync/tm.hpp>

using namespace std::chrono_literals;

struct point {
  int x, y;
};

template class txsync::elided<txsync::mutex>;
template class txsync::elided<txsync::policy_mutex>;
template class txsync::elided<txsync::tatas_lock>;
template class txsync::elided<txsync::fifo_ticket_lock>;
template class txsync::elided<txsync::posix_mutex_with_word>;
template class txsync::elided_with_node<txsync::mcs_lock>;
template class txsync::elided_shared<txsync::srwlock>;
template class txsync::elided_guard<txsync::elided<txsync::mutex>>;
template class txsync::warming<txsync::mutex>;
template class txsync::warming<txsync::policy_mutex>;
template class txsync::warming_with_node<txsync::mcs_lock>;
template class txsync::tm::var<int>;
template class txsync::tm::var<point*>;
template class txsync::tm::vector<point>;
template class txsync::tm::queue<int>;

template <class Lock>
bool wait_in_all_ways(Lock& lock) TXSYNC_UNCHECKED {  // a lock that was got is kept
  return lock.try_lock_for(1ms) || lock.try_lock_for(std::chrono::duration<double>(0.1)) ||
         lock.try_lock_until(std::chrono::system_clock::now()) || std::unique_lock(lock, 1s).owns_lock();
}
template <class Lock>
bool read_in_all_ways(Lock& lock) TXSYNC_UNCHECKED {
  return lock.try_lock_shared_for(1ms) || lock.try_lock_shared_until(std::chrono::steady_clock::now()) ||
         std::shared_lock(lock, 1s).owns_lock();
}

template <class... Locks>
int lock_in_all_ways(Locks&... locks) {
  return (0 + ... + int{wait_in_all_ways(locks)});
}
template <class... Locks>
int share_in_all_ways(Locks&... locks) {
  return lock_in_all_ways(locks...) + (0 + ... + int{read_in_all_ways(locks)});
}

int use_locks(txsync::mutex& a, txsync::spinning_mutex& b, txsync::tatas_lock& c, txsync::warming<txsync::mutex>& d,
              txsync::policy_mutex& e);
int use_locks(txsync::mutex& a, txsync::spinning_mutex& b, txsync::tatas_lock& c, txsync::warming<txsync::mutex>& d,
              txsync::policy_mutex& e) {
  return lock_in_all_ways(a, b, c, d, e) +
         d.section([](auto& memory) { return memory.load(*std::string("7").data()); });
}
int use_shared(txsync::shared_mutex& a, txsync::occ_rwlock& b, txsync::futex_rwlock& c,
               txsync::elided_shared<txsync::shared_mutex>& d);
int use_shared(txsync::shared_mutex& a, txsync::occ_rwlock& b, txsync::futex_rwlock& c,
               txsync::elided_shared<txsync::shared_mutex>& d) {
  return share_in_all_ways(a, b, c, d);
}

void use_conditions(txsync::condition_variable& changed, std::unique_lock<txsync::mutex>& lock,
                    txsync::elided_condition_variable& other, txsync::elided<txsync::mutex>& elided);
void use_conditions(txsync::condition_variable& changed, std::unique_lock<txsync::mutex>& lock,
                    txsync::elided_condition_variable& other, txsync::elided<txsync::mutex>& elided) {
  const auto yes = [] { return true; };
  changed.wait(lock, yes);
  (void)changed.wait_for(lock, 1ms, yes);
  (void)changed.wait_until(lock, std::chrono::file_clock::now(), yes);
  (void)changed.wait_with(elided);
  other.wait(elided, yes);
  txsync::on_commit([&changed]() noexcept { changed.notify_all(); });
}

int use_blocks(txsync::tm::block& where, txsync::tm::vector<point>& points, txsync::tm::hash_map<int, int>& hash,
               txsync::tm::ordered_map<int, int>& map, txsync::tm::linked_list<int>& list,
               txsync::tm::queue<int>& queue);
int use_blocks(txsync::tm::block& where, txsync::tm::vector<point>& points, txsync::tm::hash_map<int, int>& hash,
               txsync::tm::ordered_map<int, int>& map, txsync::tm::linked_list<int>& list,
               txsync::tm::queue<int>& queue) {
  return txsync::tm::atomically(where, [&](auto& tx) {
    points.push_back(tx, {1, 2});
    points.resize(tx, 9);
    int* const made = tx.template make<int>(3);
    tx.destroy(made);
    int sum = points.pop_back(tx).x + static_cast<int>(hash.size(tx) + map.size(tx) + list.size(tx));
    (void)hash.insert(tx, 1, 2);
    (void)map.insert(tx, 1, 2);
    queue.push(tx, 1);
    for (const point one : points.all(tx)) sum += one.x;
    for (const auto& one : hash.all(tx)) sum += one.value;
    for (const auto& one : map.all(tx)) sum += one.value;
    tx.or_else([](auto& inner) { inner.retry(); }, [](auto&) {});
    return sum;
  });
}
