// SPDX-License-Identifier: Apache-2.0
// Locks whose waiters warm up (always-abort paper, section III). They do it in software, over data that changes and is
// freed meanwhile. If the machine has always-abort attempts, they also do it in those.
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/warming.hpp>

#include "explorations/exploration.hpp"
#include "explorations/own_site.hpp"
#include "explorations/policy_locks.hpp"
#include "workloads/harness/adapters.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {
using workloads::lockable;
using workloads::with_node;

template <class Warming, const warm_up_policy& policy = warm_up_presets::eager>
using warm_with_own_site = with_own_site<Warming, policy>;

constexpr std::uintptr_t no_address = 0xA5A5'A5A5'A5A5'A5A8;

struct node {
  std::uint64_t value = 0;
  node* next = nullptr;
};
constexpr unsigned length = 3;

/// While a node is moved to the end, it is unreadable: its link is no address, as in a node that was freed and reused.
struct moving_list {
  alignas(64) node nodes[length];
  node* head = nullptr;

  moving_list() noexcept {
    for (node& one : nodes) one = {1, std::exchange(head, &one)};
  }
  void replace_first(node* last) noexcept {
    node* const moved = head;
    node* const rest = moved->next;
    moved->next = reinterpret_cast<node*>(no_address);
    machine::compiler_fence();  // otherwise the compiler would remove the store
    head = rest;
    moved->next = nullptr;
    last->next = moved;
  }
};

/// Each node is allocated separately and freed when a new one comes at the end. Its memory is then something else.
struct freeing_list {
  struct something_else {
    std::uintptr_t words[2] = {no_address, no_address};
  };
  alignas(64) node* head = nullptr;
  something_else* in_its_place = nullptr;

  freeing_list() {
    for (unsigned i = 0; i < length; ++i) head = new node{1, head};
  }
  ~freeing_list() {
    while (head != nullptr) delete std::exchange(head, head->next);
    delete in_its_place;
  }
  void replace_first(node* last) {
    delete in_its_place;
    delete std::exchange(head, head->next);
    in_its_place = new something_else;
    last->next = new node{1, nullptr};
  }
};

/// Threads walk a list to its end, and move its head there.
template <class Lock, class List, unsigned threads, unsigned sections>
struct list_test {
  Lock lock{};
  List list{};
  std::uint64_t total = 0;

  template <class Memory>
  void run(Memory& memory) {
    node* last = nullptr;
    std::uint64_t seen = 0;
    for (node* at = memory.load(list.head); at != nullptr; at = memory.load(at->next)) {
      seen += memory.load(at->value);
      last = at;
    }
    if constexpr (Memory::speculative) {
      if (last != nullptr) memory.store(last->next, nullptr);
      memory.store(total, seen);
    } else {
      list.replace_first(last);
      total += seen;
    }
  }

  static void body(list_test& me, unsigned) {
    for (unsigned i = 0; i < sections; ++i) me.lock.section([&](auto& memory) { me.run(memory); });
  }

  const char* check() const {
    unsigned seen = 0;
    for (const node* at = list.head; at != nullptr && seen <= length; at = at->next) ++seen;
    if (seen != length) return "a node was lost";
    return total != std::uint64_t{length} * threads * sections ? "a section was lost, or run for nothing" : nullptr;
  }
};

/// Waiters whose bodies do what the section does not: loop for ever, throw, or divide by what may be zero.
enum class manner : std::uint8_t { looping, throwing, dividing };

template <class Lock, manner how, unsigned threads, unsigned sections>
struct misbehaving_test {
  Lock lock{};
  alignas(64) std::uint64_t count = 0;
  std::uint64_t bucket_count = 2;
  std::uint64_t buckets[2] = {};

  void run(section_memory&) noexcept {
    bucket_count = 2 - bucket_count;
    ++count;
  }
  void run(warm_memory& memory) {
    for (;;) {
      const std::uint64_t seen = memory.load(count);
      if constexpr (how == manner::throwing) throw seen;
      if constexpr (how == manner::dividing) memory.store(buckets[seen % memory.load(bucket_count)], 0);
    }
  }

  static void body(misbehaving_test& me, unsigned) {
    for (unsigned i = 0; i < sections; ++i) me.lock.section([&](auto& memory) { me.run(memory); });
  }

  const char* check() const {
    return count != std::uint64_t{threads} * sections ? "a section was lost, or run for nothing" : nullptr;
  }
};

/// A seeded fault: a waiter whose stores are real.
class storing_memory {
 public:
  static constexpr bool speculative = true;
  explicit storing_memory(warm_memory& memory) noexcept : memory_(memory) {}
  template <class T>
  T load(const T& place) noexcept {
    return memory_.load(place);
  }
  template <class T, class V>
  void store(T& place, V&& value) noexcept {
    if (!memory_.over()) place = std::forward<V>(value);
  }

 private:
  warm_memory& memory_;
};
template <class Warming>
struct storing : Warming {
  template <class Body>
  void section(const Body& body) {
    this->lock([&](warm_memory& memory) {
      storing_memory real(memory);
      body(real);
    });
    section_memory memory;
    body(memory);
    this->unlock();
  }
};

using ticket = warm_with_own_site<warming<ticket_lock>>;
using fifo_ticket = warm_with_own_site<warming<fifo_ticket_lock>>;
using tatas = warm_with_own_site<warming<tatas_lock>>;
using priority = warm_with_own_site<warming<priority_tatas_lock>>;
using futex = warm_with_own_site<warming<futex_mutex>>;
using spin = warm_with_own_site<warming<spinning_mutex>>;
using whole = warm_with_own_site<warming<mutex>>;
using mcs = warm_with_own_site<warming_with_node<mcs_lock>>;

/// Bodies end by the number of their accesses or with the wait.
constexpr warm_up_policy short_bodies{.tries = 2, .max_accesses = 24, .adapts = false};
using brief_ticket = warm_with_own_site<warming<ticket_lock>, short_bodies>;
using brief_mcs = warm_with_own_site<warming_with_node<mcs_lock>, short_bodies>;

/// Bodies run before the lock is asked for, while other threads are in critical sections of it.
constexpr warm_up_policy short_and_early{
    .tries = 2, .max_accesses = 24, .adapts = false, .early = prefetch_before_lock::always};
using early_ticket = warm_with_own_site<warming<ticket_lock>, short_and_early>;
using early_tatas = warm_with_own_site<warming<tatas_lock>, short_and_early>;
using early_mcs = warm_with_own_site<warming_with_node<mcs_lock>, short_and_early>;

template <class Test, unsigned threads>
constexpr exploration test_of(const char* name, const char* summary, verdict expected = verdict::right) {
  return {name, summary, expected, run_anew<Test, threads>};
}

constexpr exploration table[] = {
    test_of<list_test<ticket, moving_list, 2, 2>, 2>("warm_ticket-moving",
                                                     "software warm-up over a changing list, ticket"),
    test_of<list_test<ticket, moving_list, 3, 1>, 3>("warm_ticket-moving-3", "the same, 3 threads"),
    test_of<list_test<fifo_ticket, moving_list, 3, 1>, 3>("warm_fifo_ticket-moving", "the same, strictly fair"),
    test_of<list_test<mcs, moving_list, 2, 2>, 2>("warm_mcs-moving", "software warm-up over a changing list, mcs"),
    test_of<list_test<tatas, moving_list, 2, 2>, 2>("warm_tatas-moving",
                                                    "software warm-up over a changing list, tatas"),
    test_of<list_test<priority, moving_list, 3, 2>, 3>("warm_priority-moving", "the same, warm waiters first"),
    test_of<list_test<futex, moving_list, 2, 2>, 2>("warm_futex-moving", "the same, the futex mutex"),
    test_of<list_test<spin, moving_list, 2, 2>, 2>("warm_spin-moving", "the same, the spinning mutex"),
    test_of<list_test<whole, moving_list, 2, 2>, 2>("warm_mutex-moving", "the same, txsync::mutex"),
    test_of<list_test<ticket, freeing_list, 2, 2>, 2>("warm_ticket-freeing",
                                                      "software warm-up over nodes that are freed, ticket"),
    test_of<list_test<mcs, freeing_list, 3, 1>, 3>("warm_mcs-freeing", "the same, mcs"),
    test_of<misbehaving_test<brief_ticket, manner::looping, 2, 2>, 2>("warm_ticket-looping",
                                                                      "bodies that never end by themselves, ticket"),
    test_of<misbehaving_test<brief_mcs, manner::looping, 3, 1>, 3>("warm_mcs-looping", "the same, mcs"),
    test_of<misbehaving_test<brief_ticket, manner::throwing, 2, 2>, 2>("warm_ticket-throwing",
                                                                       "bodies that throw, ticket"),
    test_of<misbehaving_test<brief_mcs, manner::throwing, 3, 1>, 3>("warm_mcs-throwing", "the same, mcs"),
    test_of<misbehaving_test<brief_ticket, manner::dividing, 2, 2>, 2>(
        "warm_ticket-dividing", "bodies that divide by what may be zero, ticket"),
    test_of<misbehaving_test<brief_mcs, manner::dividing, 3, 1>, 3>("warm_mcs-dividing", "the same, mcs"),
    test_of<list_test<early_ticket, moving_list, 2, 2>, 2>("warm_ticket-early-moving",
                                                           "bodies before the lock over a changing list, ticket"),
    test_of<list_test<early_mcs, freeing_list, 3, 1>, 3>("warm_mcs-early-freeing",
                                                         "bodies before the lock over nodes that are freed, mcs"),
    test_of<misbehaving_test<early_tatas, manner::looping, 2, 2>, 2>(
        "warm_tatas-early-looping", "bodies before the lock that never end by themselves, tatas"),
    test_of<misbehaving_test<early_ticket, manner::dividing, 2, 2>, 2>(
        "warm_ticket-early-dividing", "bodies before the lock that divide by what may be zero, ticket"),
    {"warm_ticket-ahead", "always-abort attempts, ticket", verdict::right, exclusion_test<lockable<ticket>, 2, 2>::run},
    {"warm_tatas-ahead", "always-abort attempts, tatas", verdict::right, exclusion_test<lockable<tatas>, 2, 2>::run},
    {"warm_priority-ahead", "always-abort attempts, warm waiters first", verdict::right,
     exclusion_test<lockable<priority>, 3, 2>::run},
    {"warm_futex-ahead", "always-abort attempts, the futex mutex", verdict::right,
     exclusion_test<lockable<futex>, 2, 2>::run},
    {"warm_futex-try", "the same, entered by try_lock() too", verdict::right, exclusion_test<trying<futex>, 3, 2>::run},
    {"warm_policy_mutex-ahead", "always-abort attempts, a mutex by policy", verdict::right,
     exclusion_test<lockable<warm_with_own_site<warming<by_policy<lock_policy::mutex>>>>, 2, 2>::run},
    {"warm_policy_mutex-ticket-ahead", "the same, ticket", verdict::right,
     exclusion_test<lockable<warm_with_own_site<warming<by_policy<lock_policy::ticket>>>>, 2, 2>::run},
    {"warm_policy_mutex-fifo_ticket-ahead", "the same, fifo_ticket", verdict::right,
     exclusion_test<lockable<warm_with_own_site<warming<by_policy<lock_policy::fifo_ticket>>>>, 2, 2>::run},
    {"warm_policy_mutex-tatas-ahead", "the same, tatas", verdict::right,
     exclusion_test<lockable<warm_with_own_site<warming<by_policy<lock_policy::tatas>>>>, 2, 2>::run},
    {"warm_policy_mutex-priority_tatas-ahead", "the same, warm waiters first", verdict::right,
     exclusion_test<lockable<warm_with_own_site<warming<by_policy<lock_policy::priority_tatas>>>>, 3, 2>::run},
    {"warm_mcs-try", "the same, mcs", verdict::right, exclusion_test<trying_with_node<mcs>, 3, 2>::run},
    {"warm_mcs-ahead", "always-abort attempts, mcs", verdict::right, exclusion_test<with_node<mcs>, 2, 2>::run},
    test_of<list_test<storing<ticket>, moving_list, 2, 2>, 2>("seeded:warm-up-that-stores",
                                                              "a waiter whose stores are real", verdict::broken),
};

}  // namespace

std::span<const exploration> warming_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
