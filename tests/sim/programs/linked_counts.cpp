// SPDX-License-Identifier: Apache-2.0
// linked_counts THREADS ACCOUNTS JOURNAL RATES BLOCKS: a program that links txsync. So many critical sections of two
// elided mutexes and an elided reader-writer lock, and atomic blocks, by each thread. They change some of 64 lines
// each; one in a hundred makes a system call. One in eight of the reader-writer lock writes. Says how many there were
// of each, by what the data show; 64 blocks of another site add that up.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/tm.hpp>

namespace {

constexpr unsigned lines = 64;
struct alignas(64) line {
  long value;
};
line data[lines], entries[lines], prices[lines];
struct alignas(64) variable {
  txsync::tm::var<long> value{0};
};
variable variables[lines];
std::atomic<long> reads{0};

constinit txsync::site_with_policy accounts{"linked.accounts", txsync::elision_presets::eager};
constinit txsync::site_with_policy journal{"linked.journal", txsync::elision_presets::eager};
constinit txsync::site_with_policy rates{"linked.rates", txsync::elision_presets::eager};
alignas(64) constinit txsync::elided<txsync::mutex> accounts_lock{accounts};
alignas(64) constinit txsync::elided<txsync::mutex> journal_lock{journal};
alignas(64) constinit txsync::elided_shared<txsync::shared_mutex> rates_lock{rates};
constinit txsync::tm::block transfer{"linked.transfer"};
constinit txsync::tm::block audit{"linked.audit"};

/// Of each thread.
struct counts {
  long accounts, journal, rates, blocks;
};

void call_system(unsigned seed) {
  if (seed % 100 == 7) (void)getppid();
}

/// Three lines of them, by the seed.
void change(line* of, unsigned seed) {
  for (unsigned n = 0; n < 3; ++n) ++of[(seed >> (8 * n)) % lines].value;
}

void write_account(unsigned seed) {
  const std::lock_guard guard(accounts_lock);
  change(data, seed);
  call_system(seed);
}

void write_entry(unsigned seed) {
  const std::lock_guard guard(journal_lock);
  change(entries, seed);
  call_system(seed);
}

/// True: it has read.
bool use_rates(unsigned seed) {
  if (seed / 8 % 8 == 0) {
    const std::unique_lock guard(rates_lock);
    change(prices, seed);
    call_system(seed);
    return false;
  }
  long seen = 0;
  const std::shared_lock guard(rates_lock);
  for (unsigned n = 0; n < 3; ++n) seen += prices[(seed >> (8 * n)) % lines].value;
  call_system(seed);
  return seen >= 0;
}

void run_block(unsigned seed) {
  txsync::tm::atomically(transfer, [&](auto& tx) {
    for (unsigned n = 0; n < 3; ++n) {
      auto& one = variables[(seed >> (8 * n)) % lines].value;
      tx.write(one, tx.read(one) + 1);
    }
    call_system(seed);
  });
}

void work(unsigned seed, counts sections) {
  const long most = std::max({sections.accounts, sections.journal, sections.rates, sections.blocks});
  long own_reads = 0;
  for (long i = 0; i < most; ++i) {
    seed = seed * 1'664'525 + 1'013'904'223;
    if (i < sections.accounts) write_account(seed);
    if (i < sections.journal) write_entry(seed);
    if (i < sections.rates && use_rates(seed)) ++own_reads;
    if (i < sections.blocks) run_block(seed);
  }
  reads += own_reads;
}

long sum_of(const line* all) {
  long sum = 0;
  for (unsigned i = 0; i < lines; ++i) sum += all[i].value;
  return sum / 3;
}

long sum_of_blocks() {
  long sum = 0;
  for (variable& one : variables) {
    sum += txsync::tm::atomically(audit, [&](auto& tx) { return tx.read(one.value); });
  }
  return sum / 3;
}

}  // namespace

int main(int, char** words) {
  if (!txsync::tm::use_algorithm("htm_sgl")) return 1;
  const auto threads = static_cast<unsigned>(std::atoi(words[1]));
  const counts sections{std::atol(words[2]), std::atol(words[3]), std::atol(words[4]), std::atol(words[5])};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i + 1, sections);
  for (std::thread& one : all) one.join();
  std::printf("%ld %ld %ld %ld\n", sum_of(data), sum_of(entries), sum_of(prices) + reads.load(), sum_of_blocks());
}
