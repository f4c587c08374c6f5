// SPDX-License-Identifier: Apache-2.0
#include "tm/separate.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync/tm.hpp>

#include "observe/statistics.hpp"
#include "tm/teams.hpp"
#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using workloads::random_stream;

constexpr unsigned rounds = 5;
constexpr unsigned team_size = 2;

constinit tm::block looking{"bench.separate.look"};
constinit tm::block changing{"bench.separate.change"};
constinit tm::block counting{"bench.separate.count"};
constinit tm::block transferring{"bench.separate.transfer"};
constinit tm::block sleeping{"bench.separate.sleep"};

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

void measure_lists(std::FILE* out, observe::document& result, unsigned milliseconds) {
  team_figures figures;
  std::vector<double> aborts;
  for (unsigned round = 0; round < rounds; ++round) {
    const commits_and_aborts before = counts_of_lists();
    figures.add(team_size, milliseconds, [&](unsigned thread) {
      auto list = std::make_unique<own_list>(thread);
      return [list = std::move(list)] { list->step(); };
    });
    const commits_and_aborts after = counts_of_lists();
    aborts.push_back(1'000.0 * static_cast<double>(after.aborts - before.aborts) /
                     static_cast<double>(after.commits - before.commits));
  }
  result.claims.push_back(observe::judged({.id = "D2-1",
                                           .words = "two threads on lists of their own, nodes made inside: aborts for "
                                                    "each 1,000 blocks",
                                           .from = {result.points.size()}},
                                          observe::median_interval(aborts), 0.1, observe::better::lower));
  result.points.push_back(make_point("separate", "tm_dctl", team_size, "aborts_per_1000", "aborts",
                                     observe::better::lower, std::move(aborts)));
  figures.report(out, result, "tm_dctl", "on lists of their own", team_size);
}

// Counters.

constexpr std::size_t line_bytes = 128;
constexpr std::size_t page_bytes = 4'096;
struct alignas(line_bytes) line {
  tm::var<std::int64_t> count{0};
};

void count_apart(team_figures& figures, unsigned milliseconds, std::size_t lines_apart) {
  std::vector<line> all(2 * lines_apart + 1);
  figures.add(team_size, milliseconds, [&](unsigned thread) {
    return [&mine = all[thread * lines_apart].count] {
      tm::atomically(counting, [&](auto& tx) { tx.write(mine, tx.read(mine) + 1); });
    };
  });
}

void measure_counters(std::FILE* out, observe::document& result, unsigned milliseconds) {
  team_figures near, far;
  for (unsigned round = 0; round < rounds; ++round) {
    count_apart(far, milliseconds, page_bytes / line_bytes);
    count_apart(near, milliseconds, 1);
  }
  const std::size_t first = result.points.size();
  near.report(out, result, "tm_dctl", "on counters 128 bytes apart", team_size);
  const std::size_t second = result.points.size();
  far.report(out, result, "tm_dctl", "on counters on pages of their own", team_size);
  // They were slower by a factor of five.
  result.claims.push_back(
      observe::judged({.id = "D2-1",
                       .words = "two threads on counters 128 bytes apart, to counters on pages of their own",
                       .from = {first, second}},
                      observe::ratio_interval(near.throughput(), far.throughput()), 0.8, observe::better::higher));
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

void transfers_beside(unsigned count, team_figures& figures, unsigned milliseconds) {
  constexpr std::uint64_t accounts = 1'024;
  const sleepers all(count);
  std::vector<tm::var<std::int64_t>> balances(accounts);
  random_stream random(1, 0);
  figures.add(1, milliseconds, [&](unsigned) {
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

void measure_sleepers(std::FILE* out, observe::document& result, unsigned milliseconds, const char* algorithm) {
  if (!tm::use_algorithm(algorithm)) return;
  const std::string subject = std::string("tm_") + algorithm;
  const unsigned counts[] = {1, 16, 128};
  team_figures without;
  team_figures with[std::size(counts)];
  for (unsigned round = 0; round < rounds; ++round) {
    transfers_beside(0, without, milliseconds);
    for (std::size_t i = 0; i < std::size(counts); ++i) transfers_beside(counts[i], with[i], milliseconds);
  }
  const std::size_t first = result.points.size();
  without.report(out, result, subject, "that write, without sleepers", 1);
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    result.claims.push_back(observe::judged({.id = "D2-1",
                                             .words = subject + ": a thread that writes beside " +
                                                      std::to_string(counts[i]) + " sleepers on other data, to none",
                                             .from = {result.points.size(), first}},
                                            observe::ratio_interval(with[i].throughput(), without.throughput()), 0.8,
                                            observe::better::higher));
    with[i].report(out, result, subject, "that write beside " + std::to_string(counts[i]) + " sleepers", 1);
  }
}

}  // namespace

void measure_separate(std::FILE* out, observe::document& result, unsigned milliseconds) {
  if (!tm::use_algorithm("dctl")) return;
  std::fprintf(
      out,
      "\nBlocks that share nothing (D2-1), medians of %u rounds. slowest: of the slowest thread, to an equal share. "
      "p99.9 and\nlongest: in runs of their own in which every block is timed. CPUs: what the threads used.\n",
      rounds);
  team_figures::print_head(out);
  measure_lists(out, result, milliseconds);
  measure_counters(out, result, milliseconds);
  measure_sleepers(out, result, milliseconds, "dctl");
  if (machine::htm().attempts) measure_sleepers(out, result, milliseconds, "auto");
  static_cast<void>(tm::use_algorithm("auto"));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
