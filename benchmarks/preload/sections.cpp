// SPDX-License-Identifier: Apache-2.0
// The program that bench_preload measures from outside. preload_sections SECTION MILLISECONDS prints how many
// nanoseconds an uncontended lock and unlock took. For the sections "short_*" that is the whole life of a mutex that is
// locked once. It knows only pthread.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

namespace {

double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct objects {
  pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
  pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  pthread_mutex_t nested = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;  // held already
  pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_spinlock_t spinlock;
  long volatile inside = 0;
};

/// The time of one pair, over as many as fit.
template <class Pair>
double time_of(double duration_ns, objects& all, Pair pair) {
  constexpr int batch = 10'000;
  long done = 0;
  const double start = now_ns();
  double spent = 0;
  do {
    for (int i = 0; i < batch; ++i) pair(all);
    done += batch;
    spent = now_ns() - start;
  } while (spent < duration_ns);
  return spent / static_cast<double>(done);
}

// ---- mutexes that are locked once. Not inlined: each has a place of its own, as in a program.

void lock_once(pthread_mutex_t& one, objects& all) {
  pthread_mutex_lock(&one);
  all.inside = all.inside + 1;
  pthread_mutex_unlock(&one);
}

void live_once(pthread_mutex_t& one, objects& all) {
  pthread_mutex_init(&one, nullptr);
  lock_once(one, all);
  pthread_mutex_destroy(&one);
}

[[gnu::noinline]] void live_on_stack(objects& all) {
  pthread_mutex_t one;
  live_once(one, all);
}

/// In memory that is not allocated anew each time: malloc would cost the same with and without the library.
[[gnu::noinline]] void live_on_heap(pthread_mutex_t& one, objects& all) { live_once(one, all); }

/// As std::mutex is made and ends: no function is called for either.
[[gnu::noinline]] void live_unannounced(objects& all) {
  pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  lock_once(one, all);
}

/// Negative: there is no such section.
double measure_short_lives(const char* section, double duration_ns, objects& all) {
  if (std::strcmp(section, "short_stack") == 0) return time_of(duration_ns, all, live_on_stack);
  if (std::strcmp(section, "short_static") == 0) return time_of(duration_ns, all, live_unannounced);
  if (std::strcmp(section, "short_heap") != 0) return -1;
  const std::unique_ptr<pthread_mutex_t> one(new pthread_mutex_t);
  return time_of(duration_ns, all, [&one](objects& shared) { live_on_heap(*one, shared); });
}

double measure(const char* section, double duration_ns, objects& all) {
  const auto mutex = [&](pthread_mutex_t& one) {
    return time_of(duration_ns, all, [&one](objects& shared) {
      pthread_mutex_lock(&one);
      shared.inside = shared.inside + 1;
      pthread_mutex_unlock(&one);
    });
  };
  if (std::strcmp(section, "normal") == 0) return mutex(all.normal);
  if (std::strcmp(section, "adaptive") == 0) return mutex(all.adaptive);
  if (std::strcmp(section, "recursive") == 0) return mutex(all.recursive);
  if (std::strcmp(section, "nested") == 0) return mutex(all.nested);
  if (std::strcmp(section, "errorcheck") == 0) return mutex(all.errorcheck);
  const auto rwlock = [&](int (*lock)(pthread_rwlock_t*)) {
    return time_of(duration_ns, all, [lock](objects& shared) {
      lock(&shared.rwlock);
      shared.inside = shared.inside + 1;
      pthread_rwlock_unlock(&shared.rwlock);
    });
  };
  if (std::strcmp(section, "read") == 0) return rwlock(pthread_rwlock_rdlock);
  if (std::strcmp(section, "write") == 0) return rwlock(pthread_rwlock_wrlock);
  if (std::strcmp(section, "spin") == 0)
    return time_of(duration_ns, all, [](objects& shared) {
      pthread_spin_lock(&shared.spinlock);
      shared.inside = shared.inside + 1;
      pthread_spin_unlock(&shared.spinlock);
    });
  return measure_short_lives(section, duration_ns, all);
}

void* second_thread(void*) { return nullptr; }

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  static objects all;
  pthread_spin_init(&all.spinlock, PTHREAD_PROCESS_PRIVATE);
  pthread_mutex_lock(&all.nested);
  // The C library leaves out the atomic instructions of a process that never had a second thread.
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, second_thread, nullptr) != 0) return 1;
  pthread_join(thread, nullptr);
  const double duration_ns = std::atof(words[2]) * 1e6;
  (void)measure(words[1], duration_ns / 4, all);  // the run-in; a thread's first acquisitions are counted one by one
  const double ns = measure(words[1], duration_ns, all);
  if (ns < 0) return 2;
  std::printf("%.4f\n", ns);
  return 0;
}
