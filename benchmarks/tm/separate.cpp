// SPDX-License-Identifier: Apache-2.0
#include "tm/separate.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync/tm.hpp>

#include "observe/statistics.hpp"
#include "tm/points.hpp"
#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using std::chrono::steady_clock;
using workloads::random_stream;

constexpr unsigned rounds = 5;
constexpr unsigned team_size = 2;

constinit tm::block looking{"bench.separate.look"};
constinit tm::block changing{"bench.separate.change"};
constinit tm::block counting{"bench.separate.count"};
constinit tm::block transferring{"bench.separate.transfer"};
constinit tm::block sleeping{"bench.separate.sleep"};

/// Runs body(thread) in each thread again and again, for that long. Returns how often each second, in all.
template <class Body>
double run_team(unsigned threads, unsigned milliseconds, const Body& body) {
  std::atomic<bool> stop{false};
  std::atomic<unsigned> ready{0};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> team;
  team.reserve(threads);
  for (unsigned index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      decltype(auto) step = body(index);
      ready.fetch_add(1);
      while (ready.load() != threads + 1) std::this_thread::yield();
      std::uint64_t mine = 0;
      for (; !stop.load(std::memory_order_relaxed); ++mine) step();  // relaxed: guards nothing
      done.fetch_add(mine);
    });
  }
  while (ready.load() != threads) std::this_thread::yield();
  ready.fetch_add(1);
  const auto start = steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& one : team) one.join();
  return static_cast<double>(done.load()) / std::chrono::duration<double>(steady_clock::now() - start).count();
}

observe::point throughput_of(const std::string& subject, unsigned threads, std::vector<double> values) {
  return make_point("separate", subject, threads, "throughput", "blocks/s", observe::better::higher, std::move(values));
}

double median_of(const std::vector<double>& values) { return observe::summarize(values).median; }

// Lists.

constexpr std::int64_t keys = 2'000;
constexpr unsigned update_percent = 20;

struct own_list {
  tm::sorted_list<std::int64_t, std::int64_t> all;
  random_stream random;
  explicit own_list(unsigned thread) : random(1, thread) {
    for (std::int64_t key = 0; key < keys; key += 2) {
      tm::atomically(changing, [&](auto& tx) { all.insert(tx, key, key); });
    }
  }
  void step() {
    const auto key = static_cast<std::int64_t>(random.below(keys));
    if (!random.percent(update_percent)) {
      tm::atomically(looking, [&](auto& tx) { return all.contains(tx, key); });
    } else if (random.percent(50)) {
      tm::atomically(changing, [&](auto& tx) { return all.insert(tx, key, key); });
    } else {
      tm::atomically(changing, [&](auto& tx) { return all.erase(tx, key); });
    }
  }
};

struct commits_and_aborts {
  std::uint64_t commits = 0;
  std::uint64_t aborts = 0;
};
commits_and_aborts counts_of_lists() {
  commits_and_aborts sum;
  for (tm::block* const one : {&looking, &changing}) {
    const tm::block_totals counts = tm::totals(*one);
    sum.commits += counts.commits;
    for (const std::uint64_t aborts : counts.aborts) sum.aborts += aborts;
  }
  return sum;
}

void measure_lists(observe::document& result, unsigned milliseconds) {
  std::vector<double> each_second;
  std::vector<double> aborts;
  for (unsigned round = 0; round < rounds; ++round) {
    commits_and_aborts before;
    each_second.push_back(run_team(team_size, milliseconds, [&](unsigned thread) {
      auto list = std::make_unique<own_list>(thread);
      if (thread == 0) before = counts_of_lists();
      return [list = std::move(list)] { list->step(); };
    }));
    const commits_and_aborts after = counts_of_lists();
    aborts.push_back(1'000.0 * static_cast<double>(after.aborts - before.aborts) /
                     static_cast<double>(after.commits - before.commits));
  }
  result.claims.push_back(observe::judged({.id = "D2-1",
                                           .words = "two threads on lists of their own, nodes made inside: aborts for "
                                                    "each 1,000 blocks",
                                           .from = {result.points.size()}},
                                          median_of(aborts), 0.1, observe::better::lower));
  result.points.push_back(make_point("separate", "tm_dctl", team_size, "aborts_per_1000", "aborts",
                                     observe::better::lower, std::move(aborts)));
  result.points.push_back(throughput_of("tm_dctl", team_size, std::move(each_second)));
}

// Counters.

constexpr std::size_t line_bytes = 128;
constexpr std::size_t page_bytes = 4'096;
struct alignas(line_bytes) line {
  tm::var<std::int64_t> count{0};
};

double count_apart(unsigned milliseconds, std::size_t lines_apart) {
  std::vector<line> all(2 * lines_apart + 1);
  return run_team(team_size, milliseconds, [&](unsigned thread) {
    return [&mine = all[thread * lines_apart].count] {
      tm::atomically(counting, [&](auto& tx) { tx.write(mine, tx.read(mine) + 1); });
    };
  });
}

void measure_counters(observe::document& result, unsigned milliseconds) {
  std::vector<double> near;
  std::vector<double> far;
  std::vector<double> ratios;
  for (unsigned round = 0; round < rounds; ++round) {
    far.push_back(count_apart(milliseconds, page_bytes / line_bytes));
    near.push_back(count_apart(milliseconds, 1));
    ratios.push_back(near.back() / far.back());
  }
  // They were slower by a factor of five.
  result.claims.push_back(
      observe::judged({.id = "D2-1",
                       .words = "two threads on counters 128 bytes apart, to counters on pages of their own",
                       .from = {result.points.size(), result.points.size() + 1}},
                      median_of(ratios), 0.8, observe::better::higher));
  result.points.push_back(throughput_of("tm_dctl", team_size, std::move(near)));
  result.points.push_back(throughput_of("tm_dctl", team_size, std::move(far)));
}

// Sleepers.

class sleepers {
 public:
  explicit sleepers(unsigned count) : places_(count) {
    for (line& one : places_) {
      const std::uint64_t before = tm::totals(sleeping).waits;
      team_.emplace_back([&one] {
        tm::atomically(sleeping, [&](auto& tx) {
          if (tx.read(one.count) == 0) tx.retry();
        });
      });
      while (tm::totals(sleeping).waits == before) std::this_thread::yield();
    }
  }
  sleepers(const sleepers&) = delete;
  sleepers& operator=(const sleepers&) = delete;
  ~sleepers() {
    for (line& one : places_) {
      tm::atomically(sleeping, [&](auto& tx) { tx.write(one.count, 1); });
    }
    for (std::thread& one : team_) one.join();
  }

 private:
  std::vector<line> places_;
  std::vector<std::thread> team_;
};

double transfers_beside(unsigned count, unsigned milliseconds) {
  constexpr std::uint64_t accounts = 1'024;
  const sleepers all(count);
  std::vector<tm::var<std::int64_t>> balances(accounts);
  random_stream random(1, 0);
  return run_team(1, milliseconds, [&](unsigned) {
    return [&] {
      tm::var<std::int64_t>& from = balances[random.below(accounts)];
      tm::var<std::int64_t>& to = balances[random.below(accounts)];
      tm::atomically(transferring, [&](auto& tx) {
        tx.write(from, tx.read(from) - 1);
        tx.write(to, tx.read(to) + 1);
      });
    };
  });
}

void measure_sleepers(observe::document& result, unsigned milliseconds, const char* algorithm) {
  if (!tm::use_algorithm(algorithm)) return;
  const std::string subject = std::string("tm_") + algorithm;
  const unsigned counts[] = {1, 16, 128};
  std::vector<double> without;
  std::vector<double> with[std::size(counts)];
  std::vector<double> ratios[std::size(counts)];
  for (unsigned round = 0; round < rounds; ++round) {
    without.push_back(transfers_beside(0, milliseconds));
    for (std::size_t i = 0; i < std::size(counts); ++i) {
      with[i].push_back(transfers_beside(counts[i], milliseconds));
      ratios[i].push_back(with[i].back() / without.back());
    }
  }
  const std::size_t first = result.points.size();
  result.points.push_back(throughput_of(subject, 1, std::move(without)));
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    result.claims.push_back(observe::judged({.id = "D2-1",
                                             .words = subject + ": a thread that writes beside " +
                                                      std::to_string(counts[i]) + " sleepers on other data, to none",
                                             .from = {result.points.size(), first}},
                                            median_of(ratios[i]), 0.8, observe::better::higher));
    result.points.push_back(throughput_of(subject, 1, std::move(with[i])));
  }
}

}  // namespace

void measure_separate(observe::document& result, unsigned milliseconds) {
  if (!tm::use_algorithm("dctl")) return;
  measure_lists(result, milliseconds);
  measure_counters(result, milliseconds);
  measure_sleepers(result, milliseconds, "dctl");
  if (machine::htm().attempts) measure_sleepers(result, milliseconds, "auto");
  static_cast<void>(tm::use_algorithm("auto"));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
