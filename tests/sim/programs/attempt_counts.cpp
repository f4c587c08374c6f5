// SPDX-License-Identifier: Apache-2.0
// attempt_counts THREADS SECTIONS: critical sections of one mutex that change some of 64 lines each, so that attempts
// commit, meet and fall back; one in a hundred makes a system call. Says how many there were.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr unsigned lines = 64;
struct alignas(64) line {
  long value;
};
line data[lines];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void work(unsigned seed, long sections) {
  for (long i = 0; i < sections; ++i) {
    seed = seed * 1'664'525 + 1'013'904'223;
    pthread_mutex_lock(&lock);
    for (unsigned n = 0; n < 3; ++n) ++data[(seed >> (8 * n)) % lines].value;
    if (seed % 100 == 7) (void)getppid();
    pthread_mutex_unlock(&lock);
  }
}

}  // namespace

int main(int, char** words) {
  const auto threads = static_cast<unsigned>(std::atoi(words[1]));
  const long sections = std::atol(words[2]);
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i + 1, sections);
  for (std::thread& one : all) one.join();
  long sum = 0;
  for (const line& one : data) sum += one.value;
  std::printf("%ld\n", sum / 3);
}
