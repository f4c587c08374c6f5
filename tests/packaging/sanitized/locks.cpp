// SPDX-License-Identifier: Apache-2.0
// locks all | KIND...: a correct program for each type, and `race`, which is not correct. Each checks the order that
// the compiled half of the library ensures, and that of the inlined code. Threads wait, and yield within critical
// sections.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <txsync/barrier.hpp>
#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/policy_mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/elided_condition_variable.hpp>
#include <txsync/speculate/warm_barrier.hpp>
#include <txsync/tm.hpp>
#include <vector>

namespace {

constexpr int threads = 3;
constexpr int times = 200;

template <class Work>
void in_threads(Work work) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& one : all) one.join();
}

void give_way(int round) {
  if (round % 4 == 0) std::this_thread::yield();
}

template <class Lock>
void lock_by_turns(Lock& lock, int round) {
  if constexpr (requires { lock.try_lock_for(std::chrono::seconds(1)); }) {
    if (round % 3 == 0) {
      while (!lock.try_lock_for(std::chrono::seconds(1))) {
      }
      return;
    }
  }
  if (round % 3 == 1 && lock.try_lock()) return;
  lock.lock();
}

template <class Lock>
bool excludes() {
  Lock lock;
  long number = 0;
  in_threads([&](int) {
    for (int i = 0; i < times; ++i) {
      lock_by_turns(lock, i);
      ++number;
      give_way(i);
      lock.unlock();
    }
  });
  return number == threads * times;
}

template <class Lock>
bool excludes_with_nodes() {
  Lock lock;
  long number = 0;
  in_threads([&](int) {
    for (int i = 0; i < times; ++i) {
      const typename Lock::guard held(lock);
      ++number;
      give_way(i);
    }
  });
  return number == threads * times;
}

template <class Lock>
bool lets_readers_in() {
  Lock lock;
  long number = 0;
  long odd = 0;
  in_threads([&](int who) {
    for (int i = 0; i < times; ++i) {
      if (who == 0) {
        const std::shared_lock held(lock);
        if (number % 2 != 0) ++odd;
        give_way(i);
      } else {
        lock_by_turns(lock, i);
        ++number;
        give_way(i);
        ++number;
        lock.unlock();
      }
    }
  });
  return odd == 0 && number == 2L * (threads - 1) * times;
}

bool waits_for_notifications() {
  txsync::mutex guard;
  txsync::condition_variable changed;
  int turn = 0;
  long data = 0;
  in_threads([&](int who) {
    for (int i = 0; i < times; ++i) {
      std::unique_lock held(guard);
      changed.wait(held, [&] { return turn == who; });
      ++data;
      turn = (turn + 1) % threads;
      changed.notify_all();
    }
  });
  return data == threads * times;
}

bool waits_in_elided_sections() {
  txsync::elided<txsync::mutex> guard;
  txsync::elided_condition_variable changed;
  int turn = 0;
  long data = 0;
  in_threads([&](int who) {
    for (int i = 0; i < times; ++i) {
      const std::lock_guard held(guard);
      changed.wait(guard, [&] { return turn == who; });
      ++data;
      turn = (turn + 1) % threads;
      changed.notify_all();
    }
  });
  return data == threads * times;
}

template <class Barrier>
bool keeps_phases() {
  Barrier phase(threads);
  long numbers[threads] = {};
  in_threads([&](int who) {
    for (int i = 0; i < times; ++i) {
      ++numbers[(who + i) % threads];
      phase.arrive_and_wait();
    }
  });
  return numbers[0] == times && numbers[1] == times && numbers[2] == times;
}

/// What is no var, but can be reached by one.
struct node {
  long plain;
  txsync::tm::var<long> next;
  explicit node(long value) : plain(value), next(value) {}
};
constinit txsync::tm::block replaces{"replaces"};
constinit txsync::tm::block takes{"takes"};
constinit txsync::tm::block opens{"opens"};
txsync::tm::var<node*> newest{nullptr};
txsync::tm::var<node*> unshared{nullptr};

bool publishes() {
  in_threads([](int who) {
    for (int i = 0; i < times; ++i) {
      txsync::tm::atomically(replaces, [&](auto& tx) {
        node* const old = tx.read(newest);
        if (old != nullptr && old->plain != tx.read(old->next)) std::puts("torn");
        if (who != 0 && i % 4 != 0) return;
        tx.write(newest, tx.template make<node>(i));
        tx.destroy(old);
      });
    }
  });
  return true;
}

bool makes_private() {
  long sum = 0;
  in_threads([&](int who) {
    for (int i = 0; i < times; ++i) {
      node* mine = nullptr;
      txsync::tm::atomically(takes, [&](auto& tx) {
        mine = tx.read(unshared);
        if (mine == nullptr) {
          tx.write(unshared, tx.template make<node>(i));
        } else if (who == 0) {
          tx.write(unshared, nullptr);
          tx.privatize();
        } else if (mine->plain >= 0) {
          tx.write(mine->next, tx.read(mine->next) + 1);
        }
      });
      if (mine == nullptr || who != 0) continue;
      sum += ++mine->plain;
      txsync::tm::destroy_unshared(mine);
    }
  });
  return sum >= 0;
}

bool waits_in_blocks() {
  static txsync::tm::var<long> opened{0};
  static long data = 0;
  std::thread other([] {
    data = 42;
    txsync::tm::atomically(opens, [](auto& tx) { tx.write(opened, 1); });
  });
  txsync::tm::atomically(opens, [](auto& tx) {
    if (tx.read(opened) == 0) tx.retry();
  });
  const bool right = data == 42;
  other.join();
  return right;
}

template <class Lock>
void lock_for_nothing(Lock& lock) {
  for (int i = 0; i < times; ++i) {
    const std::lock_guard held(lock);
    give_way(i);
  }
}
/// Shares nothing but the objects of txsync themselves.
bool guards_nothing() {
  static txsync::mutex mutex;
  static txsync::ticket_lock ticket;
  static txsync::shared_mutex shared_mutex;
  static txsync::occ_rwlock occ_rwlock;
  static txsync::elided<txsync::mutex> elided;
  static txsync::barrier phase(threads);
  static txsync::tm::var<long> sum{0};
  in_threads([](int) {
    lock_for_nothing(mutex);
    lock_for_nothing(ticket);
    lock_for_nothing(shared_mutex);
    lock_for_nothing(occ_rwlock);
    lock_for_nothing(elided);
    phase.arrive_and_wait();
    for (int i = 0; i < times; ++i) {
      txsync::tm::atomically(opens, [](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
    }
  });
  return sum.load() == threads * times;
}

/// One thread counts without the lock.
bool races() {
  txsync::mutex lock;
  long number = 0;
  in_threads([&](int who) {
    for (int i = 0; i < times; ++i) {
      if (who != 0) lock.lock();
      ++number;
      if (who != 0) lock.unlock();
    }
  });
  return number != 0;
}

/// A policy_mutex by each algorithm.
template <std::uint32_t word>
struct by_policy : txsync::policy_mutex {
  static inline constinit txsync::site place{"sanitized"};
  by_policy() : policy_mutex(place) { place.set_policy(word); }
};

struct {
  const char* name;
  bool (*is_right)();
} const kinds[] = {
    {"mutex", excludes<txsync::mutex>},
    {"futex_mutex", excludes<txsync::futex_mutex>},
    {"spinning_mutex", excludes<txsync::spinning_mutex>},
    {"ticket", excludes<txsync::ticket_lock>},
    {"fifo_ticket", excludes<txsync::fifo_ticket_lock>},
    {"tatas", excludes<txsync::tatas_lock>},
    {"policy_mutex", excludes<txsync::policy_mutex>},
    {"policy_tatas", excludes<by_policy<txsync::lock_policy::tatas>>},
    {"policy_ticket", excludes<by_policy<txsync::lock_policy::ticket>>},
    {"policy_fifo_ticket", excludes<by_policy<txsync::lock_policy::fifo_ticket>>},
    {"policy_spin", excludes<by_policy<txsync::lock_policy::spin>>},
    {"priority_tatas", excludes<txsync::priority_tatas_lock>},
    {"mcs", excludes_with_nodes<txsync::mcs_lock>},
    {"fifo_mcs", excludes_with_nodes<txsync::fifo_mcs_lock>},
    {"shared_mutex", lets_readers_in<txsync::shared_mutex>},
    {"occ_rwlock", lets_readers_in<txsync::occ_rwlock>},
    {"futex_rwlock", lets_readers_in<txsync::futex_rwlock>},
    {"srwlock", lets_readers_in<txsync::srwlock>},
    {"elided", excludes<txsync::elided<txsync::mutex>>},
    {"elided_shared", lets_readers_in<txsync::elided_shared<txsync::shared_mutex>>},
    {"condition", waits_for_notifications},
    {"elided_condition", waits_in_elided_sections},
    {"barrier", keeps_phases<txsync::barrier>},
    {"warm_barrier", keeps_phases<txsync::warm_barrier>},
    {"blocks", publishes},
    {"private", makes_private},
    {"retry", waits_in_blocks},
    {"nothing", guards_nothing},
    {"race", races},
};

}  // namespace

int main(int, char** words) {
  bool right = true;
  for (; *++words != nullptr;) {
    const bool all = std::strcmp(*words, "all") == 0;
    for (const auto& kind : kinds) {
      if (std::strcmp(*words, kind.name) != 0 && (!all || kind.is_right == races)) continue;
      if (kind.is_right()) continue;
      std::printf("%s is wrong\n", kind.name);
      right = false;
    }
  }
  std::puts(right ? "right" : "wrong");
}
