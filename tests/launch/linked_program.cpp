// SPDX-License-Identifier: Apache-2.0
// linked_program DEED...: does each deed in turn. Links txsync, and has named sites beside pthread's locks; prints what
// it counted by itself.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <txsync/load_policy.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/mutex.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/observe/events.hpp>
#include <txsync/observe/site_policy.hpp>
#include <txsync/site.hpp>

namespace observe = txsync::observe;

namespace {

constexpr unsigned threads = 4;
constexpr unsigned turns = 50'000;

constinit txsync::site orders{"shop.orders"};
constinit txsync::site one_twin{"shop.twin"}, other_twin{"shop.twin"};
constinit txsync::site late{"shop.late"};
constinit txsync::site choosy{"shop.choosy"};
constinit txsync::mutex orders_lock{orders};
constinit txsync::mutex twin_locks[2] = {txsync::mutex{one_twin}, txsync::mutex{other_twin}};
constinit txsync::mutex late_lock{late};
constinit txsync::mutex choosy_lock{choosy};
pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;

std::atomic<long> waits{0};

void count_waits(const observe::event& what) noexcept {
  if (what.kind == observe::event_kind::wait_end && what.acquired && std::strcmp(what.site_name, "shop.orders") == 0)
    waits.fetch_add(1);
}

template <class Work>
void in_threads(Work work) {
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& one : all) one.join();
}

void take(txsync::mutex& lock, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    lock.lock();
    lock.unlock();
  }
}

/// Each thread takes both locks; some of its sections are long, so that others wait.
void serve() {
  (void)observe::set_listener(count_waits);
  in_threads([](unsigned) {
    for (unsigned i = 0; i < turns; ++i) {
      orders_lock.lock();
      if (i % 1000 == 0) usleep(100);
      orders_lock.unlock();
      pthread_mutex_lock(&till);
      pthread_mutex_unlock(&till);
    }
  });
  std::printf("%u %ld\n", threads * turns, waits.load());
}

void print_word(txsync::site& place, txsync::mutex& lock) {
  take(lock, 3);
  std::printf("%s %08x\n", place.name(), place.policy());
}

void print_load(const char* file) {
  const std::string error = txsync::load_policy(file);
  std::printf("load_policy: %s\n", error.empty() ? "ok" : error.c_str());
}

void print_snapshot() {
  std::vector<observe::site_totals> all(txsync::site::site_limit);
  const std::uint32_t known = observe::snapshot(all.data(), static_cast<std::uint32_t>(all.size()));
  for (std::uint32_t i = 0; i < known; ++i) {
    if (all[i].name[0] != '\0')
      std::printf("%s: %llu\n", all[i].name, static_cast<unsigned long long>(all[i].acquisitions));
  }
}

void count_in_child() {
  const pid_t child = fork();
  if (child == 0) {
    take(orders_lock, 7);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

/// Each process is the child of the one before.
void fork_in_a_chain() {
  const pid_t program = getpid();
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child != 0) {
      waitpid(child, nullptr, 0);
      if (getpid() != program) _exit(0);
      return;
    }
    take(orders_lock, 2);
  }
  _exit(0);
}

/// The site's first lock is taken in an attempt, where there are such.
void first_use_in_attempt() {
  bool done = false;
  for (int i = 0; i < 10 && !done && txsync::machine::htm().attempts; ++i) {
    if (!txsync::machine::begin().started()) continue;
    (void)late.id();
    txsync::machine::end();
    done = true;
  }
  take(late_lock, 5);
}

void choose() {
  using parts = observe::detail::policy_parts;
  std::printf("%08x\n", observe::detail::policy_at_first_use(choosy, parts::lock));
  take(choosy_lock, 5);
}

/// Threads wait at a site whose locks heed a policy, and at one whose locks do not.
void bargain() {
  (void)observe::detail::policy_at_first_use(choosy, observe::detail::policy_parts::lock);
  constexpr unsigned times = 20;
  in_threads([](unsigned) {
    for (unsigned i = 0; i < times; ++i) {
      for (txsync::mutex* lock : {&choosy_lock, &orders_lock}) {
        lock->lock();
        usleep(20);
        lock->unlock();
      }
    }
  });
  std::printf("bargains: %u\n", threads * times);
}

/// As a daemon does: goes on when the program has ended, and its launcher with it.
void go_on_alone() {
  const pid_t program = getpid();
  if (fork() != 0) return;
  while (getppid() == program) usleep(1000);
  usleep(300'000);  // the launcher ends
  print_word(late, late_lock);
  print_snapshot();
  std::fflush(stdout);
  _exit(0);
}

void stay() {
  std::printf("ready\n");
  std::fflush(stdout);
  std::atomic<bool> ends{false};
  std::thread busy([&] {
    while (!ends) take(orders_lock, 1000);
  });
  (void)std::getchar();
  ends = true;
  busy.join();
}

/// Until a line comes.
void pause_for_line() {
  std::printf("ready %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  while (std::getchar() != '\n') {
  }
}

using deed = void (*)();
const std::map<std::string, deed> deeds = {
    {"serve", serve},
    {"orders", [] { print_word(orders, orders_lock); }},
    {"late", [] { print_word(late, late_lock); }},
    {"twins", [] { take(twin_locks[0], 6), take(twin_locks[1], 5); }},
    {"snapshot", print_snapshot},
    {"fork", count_in_child},
    {"chain", fork_in_a_chain},
    {"in-attempt", first_use_in_attempt},
    {"choose", choose},
    {"bargain", bargain},
    {"alone", go_on_alone},
    {"stay", stay},
    {"pause", pause_for_line},
    {"off", [] { orders.set_policy(txsync::policy_word::counting_off); }},
    {"kill9", [] { raise(SIGKILL); }},
};

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto at = deeds.find(argv[i]);
    if (at != deeds.end())
      at->second();
    else
      print_load(argv[i]);
    std::fflush(stdout);
  }
}
