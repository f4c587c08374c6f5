// SPDX-License-Identifier: Apache-2.0
// An OpenMP program that knows nothing of txsync: phases over one array, what GCC makes barriers of, tasks, regions
// within regions. Says what is wrong, and exits with 1. Its argument is the number of threads.
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int faults = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
#pragma omp atomic
  ++faults;
}

/// Each phase reads what another thread has written in the one before.
void phases(int threads) {
  constexpr int count = 100;
  std::vector<long> left(static_cast<std::size_t>(threads));
  bool right = true;
#pragma omp parallel num_threads(threads) reduction(&& : right)
  {
    const int me = omp_get_thread_num();
    const int all = omp_get_num_threads();
    for (long phase = 1; phase <= count; ++phase) {
      left[static_cast<std::size_t>(me)] = phase;
#pragma omp barrier
      right = right && left[static_cast<std::size_t>((me + 1) % all)] == phase;
#pragma omp barrier
    }
  }
  expect(right, "a thread passed a barrier before all had come");
}

void worksharing(int threads) {
  constexpr int count = 1'000;
  std::vector<long> squares(count);
  std::vector<long> sums(count);
  int singles = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 5; ++round) {
#pragma omp for schedule(static)
    for (int i = 0; i < count; ++i) squares[static_cast<std::size_t>(i)] = long{i} * i + round;
#pragma omp for schedule(dynamic, 7)
    for (int i = 0; i < count; ++i) {
      sums[static_cast<std::size_t>(i)] =
          squares[static_cast<std::size_t>(i)] + squares[static_cast<std::size_t>(count - 1 - i)];
    }
#pragma omp single
    ++singles;
#pragma omp sections
    {
#pragma omp section
      {
        expect(sums[1] == squares[1] + squares[count - 2], "a loop's end let a thread through");
      }
#pragma omp section
      {
        expect(singles == round + 1, "a single was not run once");
      }
    }
  }
}

void nested(int threads) {
  omp_set_max_active_levels(2);
  long sum = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp atomic
      ++sum;
#pragma omp barrier
    }
#pragma omp barrier
#pragma omp single
    expect(sum == 2L * threads, "regions within a region");
  }
}

/// Tasks are done behind a barrier, whoever made them.
void tasks(int threads) {
  for (int round = 0; round < 5; ++round) {
    long done = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp single nowait
      for (int i = 0; i < 200; ++i) {
#pragma omp task
        {
#pragma omp task
          {
#pragma omp atomic
            ++done;
          }
        }
      }
#pragma omp barrier
      expect(done == 200, "a task was not done behind the barrier");
#pragma omp barrier
#pragma omp single
#pragma omp taskloop
      for (int i = 0; i < 100; ++i) {
#pragma omp atomic
        ++done;
      }
      expect(done == 300, "a loop's tasks were not done behind the barrier");
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const int threads = count > 1 ? std::atoi(words[1]) : 2;
  phases(threads);
  worksharing(threads);
  nested(threads);
  tasks(threads);
  phases(threads);
  if (faults == 0) std::puts("all is right");
  return faults == 0 ? 0 : 1;
}
