// SPDX-License-Identifier: Apache-2.0
// bench_lock_waits LOCK SCENARIO THREADS SECTION_US DURATION_MS SEED: runs one case in a process of its own and prints
// its figures on one line. bench_locks starts it, for `pthread` also with the preloaded library.
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>

#include "locks/lock_waits_hand_over.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

struct ours {
  mutex lock_;
  condition_variable condition;

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  void wait() {
    std::unique_lock<mutex> held(lock_, std::adopt_lock);
    condition.wait(held);
    held.release();
  }
  void signal() { condition.notify_one(); }
};

struct of_the_system {
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

  void lock() { pthread_mutex_lock(&lock_); }
  void unlock() { pthread_mutex_unlock(&lock_); }
  void wait() { pthread_cond_wait(&condition, &lock_); }
  void signal() { pthread_cond_signal(&condition); }
};

template <class Lock>
int run(const char* scenario, const case_request& wanted) {
  const auto is = [scenario](const char* name) { return std::strcmp(scenario, name) == 0; };
  if (is("ask") || is("loop")) return run_steady<Lock>(wanted, is("ask"));
  if (is("wave")) return run_wave<Lock>(wanted);
  if constexpr (requires(Lock& one) { one.signal(); }) {
    if (is("pair-before") || is("pair-behind")) return run_pair<Lock>(wanted, is("pair-before"));
    if (is("realtime")) return run_realtime<Lock>(wanted);
  }
  std::fprintf(stderr, "bench_lock_waits: no scenario '%s' for this lock\n", scenario);
  return 2;
}

struct named {
  const char* name;
  int (*run)(const char* scenario, const case_request& wanted);
};
constexpr named locks[] = {{"txsync::mutex", run<ours>},
                           {"spinning_mutex", run<spinning_mutex>},
                           {"ticket", run<ticket_lock>},
                           {"pthread", run<of_the_system>}};

int run_case(char** words) {
  const auto number = [words](int i) { return std::strtoull(words[i], nullptr, 10); };
  const case_request wanted{.threads = static_cast<unsigned>(number(3)),
                            .section_ns = number(4) * 1'000,
                            .duration_ns = number(5) * 1'000'000,
                            .seed = number(6)};
  for (const named& one : locks) {
    if (std::strcmp(one.name, words[1]) != 0) continue;
    const int status = one.run(words[2], wanted);
    std::printf("\n");
    return status;
  }
  std::fprintf(stderr, "bench_lock_waits: no lock '%s'\n", words[1]);
  return 2;
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** words) {
  if (count == 7) return txsync::benchmarks::run_case(words);
  std::fprintf(stderr, "bench_lock_waits: LOCK SCENARIO THREADS SECTION_US DURATION_MS SEED, not %d words\n",
               count - 1);
  return 2;
}
