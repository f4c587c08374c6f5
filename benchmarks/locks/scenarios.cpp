// SPDX-License-Identifier: Apache-2.0
#include "locks/scenarios.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>

#include "locks/measure.hpp"
#include "peers/go_model.hpp"
#include "peers/parking_lot_model.hpp"
#include "workloads/harness/adapters.hpp"
#include "workloads/subjects/pthread_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using workloads::lockable;
using workloads::with_node;

constexpr unsigned words = 10;              ///< that a short section writes
constexpr unsigned long_section = 100'000;  ///< writes of the owner's section, some 100 us
constexpr unsigned base_load = 4;           ///< threads before the rise and after the fall
constexpr unsigned intervals = 10;          ///< that the time after the fall is divided into
constexpr double recovered = 0.8;           ///< of the throughput before the rise

/// The data lies next to the lock, as it usually does: waiters that read the lock's cache line too often slow the owner
/// down.
template <class Adapter>
struct guarded {
  alignas(machine::pad_bytes) Adapter lock{};
  volatile std::uint64_t data[words] = {};
};

struct alignas(machine::pad_bytes) counter {
  std::atomic<std::uint64_t> done{0};
  // relaxed: only its thread writes it, and it guards no data
  void add() noexcept { done.store(done.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

template <class Adapter>
void short_section(guarded<Adapter>& shared, typename Adapter::slot& mine) {
  shared.lock.lock(mine);
  for (volatile std::uint64_t& word : shared.data) word = word + 1;
  shared.lock.unlock(mine);
}

void sleep_for(std::uint64_t ns) { machine::sleep_ns(ns); }

struct answer {
  double value = 0;
  double others[2] = {};
};

/// The owner's writes a microsecond of its CPU time, while that many other threads lock and unlock.
template <class Adapter>
answer owner_speed(unsigned waiters, std::uint64_t duration_ns) {
  const auto shared = std::make_unique<guarded<Adapter>>();
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (unsigned i = 0; i < waiters; ++i) {
    others.emplace_back([&, i] {
      machine::pin(machine::cpu_for(machine::placement::cores_first, i + 1));
      typename Adapter::slot mine{};
      while (!stop.load()) short_section(*shared, mine);
    });
  }
  std::uint64_t cpu_ns = 0, writes = 0;
  std::thread owner([&] {
    machine::pin(machine::cpu_for(machine::placement::cores_first, 0));
    typename Adapter::slot mine{};
    for (const std::uint64_t end = machine::clock_ns() + duration_ns; machine::clock_ns() < end;) {
      shared->lock.lock(mine);
      const std::uint64_t began = machine::thread_cpu_ns();
      for (unsigned i = 0; i < long_section; ++i) shared->data[i % words] = shared->data[i % words] + 1;
      cpu_ns += machine::thread_cpu_ns() - began;
      shared->lock.unlock(mine);
      writes += long_section;
    }
  });
  owner.join();
  stop.store(true);
  for (std::thread& one : others) one.join();
  return {1e3 * static_cast<double>(writes) / static_cast<double>(cpu_ns)};
}

/// Base load, `peak` threads, and base load again, each for the same time. The value is the throughput after the fall.
/// The others are the throughput at the peak, and the milliseconds until it recovered (the whole phase if it never
/// did). All throughputs are parts of that before the rise.
template <class Adapter>
answer rise_and_fall(unsigned peak, std::uint64_t duration_ns) {
  const auto shared = std::make_unique<guarded<Adapter>>();
  std::vector<counter> counters(peak);
  std::atomic<std::uint32_t> active{base_load};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < peak; ++i) {
    threads.emplace_back([&, i] {
      typename Adapter::slot mine{};
      while (!stop.load()) {
        if (const std::uint32_t seen = active.load(); i >= seen) {
          machine::park(active, seen);
          continue;
        }
        short_section(*shared, mine);
        counters[i].add();
      }
    });
  }
  const auto total = [&] {
    std::uint64_t sum = 0;
    for (const counter& one : counters) sum += one.done.load(std::memory_order_relaxed);  // as in counter
    return sum;
  };
  const auto rate = [&](std::uint64_t ns) {
    const std::uint64_t before = total(), began = machine::clock_ns();
    sleep_for(ns);
    return static_cast<double>(total() - before) / static_cast<double>(machine::clock_ns() - began);
  };
  const auto set_load = [&](unsigned load) {
    active.store(load);
    machine::unpark(active, machine::everyone);
  };
  sleep_for(duration_ns / 10);
  const double before = std::max(rate(duration_ns), 1e-9);
  set_load(peak);
  const double at_peak = rate(duration_ns);
  const std::uint64_t fell = machine::clock_ns();
  set_load(base_load);
  double after = 0, back_ms = static_cast<double>(duration_ns) / 1e6;
  for (unsigned i = 0; i < intervals; ++i) {
    const double now = rate(duration_ns / intervals);
    const double since_ms = static_cast<double>(machine::clock_ns() - fell) / 1e6;
    if (now >= recovered * before) back_ms = std::min(back_ms, since_ms);
    after += now / intervals;
  }
  stop.store(true);
  set_load(peak + 1);
  for (std::thread& one : threads) one.join();
  return {after / before, {at_peak / before, back_ms}};
}

/// The writer's part of all sections; its longest wait in ms; the sections of all threads, in millions a second.
template <class Adapter>
answer readers_against_writer(unsigned readers, std::uint64_t duration_ns) {
  const auto shared = std::make_unique<guarded<Adapter>>();
  std::vector<counter> counters(readers + 1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::uint64_t max_wait_ns = 0;
  for (unsigned i = 0; i < readers; ++i) {
    threads.emplace_back([&, i] {
      typename Adapter::slot mine{};
      while (!stop.load()) {
        shared->lock.lock_shared(mine);
        for (const volatile std::uint64_t& word : shared->data) static_cast<void>(word + 0);
        shared->lock.unlock_shared(mine);
        counters[i].add();
      }
    });
  }
  threads.emplace_back([&] {
    typename Adapter::slot mine{};
    while (!stop.load()) {
      const std::uint64_t asked = machine::clock_ns();
      shared->lock.lock(mine);
      const std::uint64_t got = machine::clock_ns();
      for (volatile std::uint64_t& word : shared->data) word = word + 1;
      shared->lock.unlock(mine);
      max_wait_ns = std::max(max_wait_ns, got - asked);
      counters[readers].add();
    }
  });
  sleep_for(duration_ns);
  stop.store(true);
  for (std::thread& one : threads) one.join();
  std::uint64_t all = 0;
  for (const counter& one : counters) all += one.done.load();
  const auto wrote = static_cast<double>(counters[readers].done.load());
  return {all == 0 ? 0 : wrote / static_cast<double>(all),
          {static_cast<double>(max_wait_ns) / 1e6, static_cast<double>(all) * 1e3 / static_cast<double>(duration_ns)}};
}

using scenario = answer (*)(unsigned threads, std::uint64_t duration_ns);

struct contender {
  const char* lock;
  bool peer;
  scenario run[2];  ///< of a mutex: owner_speed, rise_and_fall; of a reader-writer lock: readers_against_writer
};

template <class Adapter>
constexpr contender mutex_of(const char* name, bool peer = false) {
  return {name, peer, {owner_speed<Adapter>, rise_and_fall<Adapter>}};
}
template <class Lock>
constexpr contender rwlock_of(const char* name, bool peer = false) {
  return {name, peer, {readers_against_writer<lockable<Lock>>, nullptr}};
}

constexpr contender mutexes[] = {mutex_of<lockable<mutex>>("txsync::mutex"),
                                 mutex_of<lockable<tatas_lock>>("tatas"),
                                 mutex_of<lockable<ticket_lock>>("ticket"),
                                 mutex_of<with_node<mcs_lock>>("mcs"),
                                 mutex_of<lockable<workloads::pthread_normal>>("pthread_mutex", true),
                                 mutex_of<lockable<workloads::pthread_adaptive>>("pthread_adaptive", true),
                                 mutex_of<lockable<parking_lot_model>>("parking_lot model", true),
                                 mutex_of<lockable<go_model>>("go model", true)};
constexpr contender rwlocks[] = {rwlock_of<shared_mutex>("txsync::shared_mutex"),
                                 rwlock_of<futex_rwlock>("futex_rwlock"), rwlock_of<occ_rwlock>("occ_rwlock"),
                                 rwlock_of<srwlock>("srwlock"),
                                 rwlock_of<std::shared_mutex>("std::shared_mutex", true)};

struct what {
  const char* workload;
  const char* metric;
  const char* unit;
  const char* parameter;
  std::vector<unsigned> counts;
  bool is_mutex;
  unsigned scenario;
};
const what kinds[] = {
    {"owner_speed", "owner's speed", "writes/us", "waiters", {0, 1, 7}, true, 0},
    {"rise_and_fall", "throughput after the fall", "of before", "peak", {64, 512}, true, 1},
    {"readers_against_writer", "writer's share", "of all sections", "readers", {1, 7}, false, 0},
};

scenario_result empty_result(const what& kind, const contender& one, unsigned count) {
  scenario_result made;
  made.point.workload = kind.workload;
  made.point.params[kind.parameter] = count;
  made.point.threads = kind.scenario == 1 ? count : count + 1;
  made.point.placement = kind.is_mutex && kind.scenario == 0 ? "cores-first" : "none";
  made.point.subject = one.lock;
  made.point.kind = one.peer ? observe::subject_kind::peer : observe::subject_kind::ours;
  made.point.metric = kind.metric;
  made.point.unit = kind.unit;
  return made;
}

}  // namespace

std::vector<scenario_result> measure_scenarios(unsigned rounds, std::uint64_t duration_ns) {
  struct run {
    scenario how;
    unsigned count;
  };
  std::vector<scenario_result> all;
  std::vector<run> runs;
  for (const what& kind : kinds) {
    const std::span<const contender> locks = kind.is_mutex ? std::span<const contender>(mutexes) : rwlocks;
    for (const unsigned count : kind.counts) {
      for (const contender& one : locks) {
        all.push_back(empty_result(kind, one, count));
        runs.push_back({one.run[kind.scenario], count});
      }
    }
  }
  for (unsigned round = 0; round < rounds && !interrupted(); ++round) {
    std::fprintf(stderr, "scenarios, round %u of %u: %zu runs\n", round + 1, rounds, runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const answer got = runs[i].how(runs[i].count, duration_ns);
      all[i].point.values.push_back(got.value);
      for (unsigned other = 0; other < 2; ++other) all[i].others[other].push_back(got.others[other]);
    }
  }
  return all;
}

void print_scenarios(std::FILE* out, const std::vector<scenario_result>& all) {
  const auto middle = [](const std::vector<double>& values) { return observe::summarize(values).median; };
  std::string before;
  const scenario_result* first = nullptr;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const observe::point& one = all[i].point;
    if (one.values.empty()) continue;
    if (one.workload != before) {
      before = one.workload;
      first = &all[i];
      std::fprintf(out, "\n%s\n",
                   before == "owner_speed" ? "Owner's speed: its writes in sections of 100,000, a us of its CPU time; "
                                             "a part of that without waiters\n"
                                             "lock                 waiters   writes/us    part"
                   : before == "rise_and_fall" ? "Load of 4 threads, of many, of 4 again: throughput as a part of that "
                                                 "before the rise; ms until it was back\n"
                                                 "at 0.8 (the whole phase where it never was)\n"
                                                 "lock                    peak     at peak   after      ms"
                                               : "Readers against one writer: the writer's part of all sections, its "
                                                 "longest wait; million sections/s of all\n"
                                                 "lock                 readers       share max ms   million/s");
    }
    const unsigned count = one.params.begin()->get<unsigned>();
    std::fprintf(out, "%-20s %7u  ", one.subject.c_str(), count);
    if (one.workload == "owner_speed") {
      const auto& alone =
          (first + (i - static_cast<std::size_t>(first - all.data())) % std::size(mutexes))->point.values;
      std::fprintf(out, "%10.1f  %6.2f\n", middle(one.values), middle(observe::ratios(one.values, alone)));
    } else if (one.workload == "rise_and_fall") {
      std::fprintf(out, "%10.2f  %6.2f  %6.0f\n", middle(all[i].others[0]), middle(one.values),
                   middle(all[i].others[1]));
    } else {
      std::fprintf(out, "%10.3f %6.1f  %10.2f\n", middle(one.values), middle(all[i].others[0]),
                   middle(all[i].others[1]));
    }
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
