// SPDX-License-Identifier: Apache-2.0
#include "tm/promises.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>
#include <vector>

#include <txsync/tm.hpp>

#include "tm/points.hpp"
#include "workloads/harness/random.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using workloads::random_stream;

constexpr unsigned vars = 2'000;
constexpr unsigned writers = 8;

constinit tm::block reading{"bench.long_reader"};
constinit tm::block writing{"bench.short_writer"};
constinit tm::block waiting{"bench.sleeper"};

observe::point make_promise(const std::string& subject, unsigned threads, const char* metric, const char* unit,
                            double value) {
  return make_point("promises", subject, threads, metric, unit, observe::better::lower, {value});
}

void add(observe::document& result, const char* id, observe::point measured, const std::string& words, double goal) {
  result.claims.push_back(observe::judged({.id = id, .words = words, .from = {result.points.size()}},
                                          measured.values.front(), goal, observe::better::lower));
  result.points.push_back(std::move(measured));
}

/// The most attempts of one transaction of the reader.
unsigned max_attempts(unsigned milliseconds, std::uint64_t& read) {
  std::vector<tm::var<std::int64_t>> all(vars);
  std::atomic<bool> stop{false};
  std::vector<std::thread> team;
  team.reserve(writers);
  for (unsigned index = 0; index < writers; ++index) {
    team.emplace_back([&, index] {
      random_stream random(1, index);
      while (!stop.load(std::memory_order_relaxed)) {  // guards nothing
        tm::var<std::int64_t>& from = all[random.below(vars)];
        tm::var<std::int64_t>& to = all[random.below(vars)];
        tm::atomically(writing, [&](auto& tx) {
          tx.write(from, tx.read(from) - 1);
          tx.write(to, tx.read(to) + 1);
        });
      }
    });
  }
  unsigned most = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
    unsigned attempts = 0;
    const std::int64_t sum = tm::atomically(reading, [&](auto& tx) {
      ++attempts;
      std::int64_t seen = 0;
      for (const tm::var<std::int64_t>& one : all) seen += tx.read(one);
      return seen;
    });
    if (sum != 0) std::abort();
    most = std::max(most, attempts);
    ++read;
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& one : team) one.join();
  return most;
}

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Of a thread that sleeps for a second while another one commits what it does not wait for, again and again.
double sleeping_ms() {
  struct alignas(64) apart {  // neighbours in memory, which the transactions' sets of what was read tell apart
    tm::var<int> value{0};
  };
  apart words[2];
  tm::var<int>& full = words[0].value;
  tm::var<int>& other = words[1].value;
  std::atomic<double> used{0};
  std::thread sleeper([&] {
    const double before = processor_ms();
    tm::atomically(waiting, [&](auto& tx) {
      if (tx.read(full) == 0) tx.retry();
    });
    used = processor_ms() - before;
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end) {
    tm::atomically(writing, [&](auto& tx) { tx.write(other, tx.read(other) + 1); });
  }
  tm::atomically(writing, [&](auto& tx) { tx.write(full, 1); });
  sleeper.join();
  return used;
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace

void measure_progress(observe::document& result, unsigned milliseconds) {
  struct bound {
    const char* algorithm;
    double attempts;
  };
  // docs/tm/algorithms: as many aborts as the block allows, and then alone; a restart for each other thread.
  const bound bounds[] = {{"dctl", 1.0 + reading.policy().attempts}, {"2plsf", 1.0 + writers}};
  for (const bound& one : bounds) {
    if (!tm::use_algorithm(one.algorithm)) continue;
    std::uint64_t read = 0;
    const unsigned most = max_attempts(milliseconds, read);
    const std::string name = std::string("tm_") + one.algorithm;
    add(result, "D1-4", make_promise(name, writers + 1, "attempts", "attempts", most),
        name + ": most attempts of " + std::to_string(read) + " long readers beside eight short writers", one.attempts);
  }
  static_cast<void>(tm::use_algorithm("dctl"));
  add(result, "D1-4", make_promise("tm_dctl", 2, "processor_time", "ms", sleeping_ms()),
      "processor time of a thread that sleeps in retry() for a second, ms", 5);
}

void measure_churn(observe::document& result, unsigned seconds) {
  constexpr unsigned threads = 3;
  const workloads::workload& which = *workloads::find_workload("transactions");
  const workloads::parameters values =
      workloads::preset_parameters(which, *workloads::find_preset(which, "hash-90-inside"));
  workloads::plan how;
  how.threads = threads;
  how.duration_ns = std::uint64_t{seconds} * 1'000'000'000;
  std::atomic<bool> stop{false};
  double early = 0;
  double late = 0;
  std::thread sampler([&] {
    for (unsigned tenth = 0; !stop.load(); ++tenth) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      double& most = tenth < 5 * seconds ? early : late;
      most = std::max(most, resident_mib());
    }
  });
  const workloads::outcome got = workloads::find_subject("tm_dctl")->runner_of(workloads::id_of(which))(values, how);
  stop.store(true);
  sampler.join();
  observe::point measured = make_promise("tm_dctl", threads, "memory_ratio", "ratio", late / early);
  if (got.fault != nullptr) measured.faults.emplace_back(got.fault);
  add(result, "D1-2", std::move(measured),
      "memory in the second half of " + std::to_string(seconds) + " s of churn to the first (" +
          std::to_string(static_cast<unsigned>(early)) + " MiB; " + std::to_string(got.operations / 1'000'000) +
          " M operations)",
      1.1);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
