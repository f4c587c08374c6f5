// SPDX-License-Identifier: Apache-2.0
// attempt_counts THREADS ACCOUNTS JOURNAL RATES: so many critical sections of two mutexes and a reader-writer lock by
// each thread. They change some of 64 lines each, so that attempts commit, meet and fall back; one in a hundred makes a
// system call. One in eight of the reader-writer lock writes. Says how many there were of each, by what the data show.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr unsigned lines = 64;
struct alignas(64) line {
  long value;
};
line data[lines], entries[lines], prices[lines];
alignas(64) pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
alignas(64) pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
alignas(64) pthread_rwlock_t rates = PTHREAD_RWLOCK_INITIALIZER;
std::atomic<long> reads{0};

/// Of each thread, by lock.
struct counts {
  long accounts, journal, rates;
};

void call_system(unsigned seed) {
  if (seed % 100 == 7) (void)getppid();
}

/// Three lines of them, by the seed.
void change(line* of, unsigned seed) {
  for (unsigned n = 0; n < 3; ++n) ++of[(seed >> (8 * n)) % lines].value;
}

void write_account(unsigned seed) {
  pthread_mutex_lock(&accounts);
  change(data, seed);
  call_system(seed);
  pthread_mutex_unlock(&accounts);
}

void write_entry(unsigned seed) {
  pthread_mutex_lock(&journal);
  change(entries, seed);
  call_system(seed);
  pthread_mutex_unlock(&journal);
}

/// True: it has read.
bool use_rates(unsigned seed) {
  const bool writes = seed / 8 % 8 == 0;
  long seen = 0;
  if (writes) {
    pthread_rwlock_wrlock(&rates);
    change(prices, seed);
  } else {
    pthread_rwlock_rdlock(&rates);
    for (unsigned n = 0; n < 3; ++n) seen += prices[(seed >> (8 * n)) % lines].value;
  }
  call_system(seed);
  pthread_rwlock_unlock(&rates);
  return !writes && seen >= 0;
}

void work(unsigned seed, counts sections) {
  const long most = std::max({sections.accounts, sections.journal, sections.rates});
  long own_reads = 0;
  for (long i = 0; i < most; ++i) {
    seed = seed * 1'664'525 + 1'013'904'223;
    if (i < sections.accounts) write_account(seed);
    if (i < sections.journal) write_entry(seed);
    if (i < sections.rates && use_rates(seed)) ++own_reads;
  }
  reads += own_reads;
}

long sum_of(const line* all) {
  long sum = 0;
  for (unsigned i = 0; i < lines; ++i) sum += all[i].value;
  return sum / 3;
}

}  // namespace

int main(int, char** words) {
  const auto threads = static_cast<unsigned>(std::atoi(words[1]));
  const counts sections{std::atol(words[2]), std::atol(words[3]), std::atol(words[4])};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i + 1, sections);
  for (std::thread& one : all) one.join();
  std::printf("%ld %ld %ld\n", sum_of(data), sum_of(entries), sum_of(prices) + reads.load());
}
