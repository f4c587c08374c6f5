// SPDX-License-Identifier: Apache-2.0
// The library in front of OpenMP's, on the scripted machine with an OpenMP library of the test's own. It tests which
// regions the library serves, how threads run ahead of their barriers, and that no task is forgotten.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include <machine/scripted/script.hpp>
#include <preload/openmp.hpp>
#include <txsync/machine/cpu.hpp>

extern "C" {
void scripted_GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
void scripted_GOMP_barrier();
long scripted_GOMP_task(long, long, long, long, long, long, long, long, long, long, long, long);
}

namespace {

namespace machine = txsync::machine;
using machine::attempt_status;
using txsync::script::machine_script;
using txsync::script::plan;

// The OpenMP library: a team is a number of threads and a barrier.
struct team {
  explicit team(unsigned count) : size(count), barrier(static_cast<std::ptrdiff_t>(count)) {}
  unsigned size;
  std::barrier<> barrier;
};
thread_local team* my_team = nullptr;
thread_local int my_level = 0;
thread_local unsigned my_number = 0;
std::atomic<unsigned> library_barriers{0};  // threads that came to one
std::atomic<unsigned> regions_started{0};
std::atomic<unsigned> tasks_made{0};
std::atomic<bool> cancels{false};

void library_parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {
  ++regions_started;
  team all(threads);
  std::vector<std::thread> others;
  const auto member = [&](unsigned number) {
    team* const outer = my_team;
    const unsigned outer_number = my_number;
    my_team = &all;
    my_number = number;
    ++my_level;
    body(data);
    --my_level;
    my_team = outer;
    my_number = outer_number;
  };
  const int level = my_level;
  for (unsigned number = 0; number < threads; ++number) {
    others.emplace_back([&, number] {
      my_level = level;
      member(number);
    });
  }
  for (std::thread& one : others) one.join();
}
void library_barrier() {
  ++library_barriers;
  if (my_team != nullptr) my_team->barrier.arrive_and_wait();
}
long library_task(long, long, long, long, long, long, long, long, long, long, long, long last) {
  ++tasks_made;
  return last;
}
int library_threads() { return my_team != nullptr ? static_cast<int>(my_team->size) : 1; }
int library_level() { return my_level; }
int library_cancellation() { return cancels ? 1 : 0; }

/// Runs the body in a region of so many threads.
template <class Body>
void parallel(unsigned threads, Body body) {
  scripted_GOMP_parallel([](void* raw) { (*static_cast<Body*>(raw))(my_number); }, &body, threads, 0);
}

class OpenmpBarriers : public testing::Test {
 protected:
  OpenmpBarriers() {
    script.have_rtm();
    library_barriers = 0;
    regions_started = 0;
    tasks_made = 0;
    cancels = false;
  }
  std::uint64_t warm_begins() const { return script.counted().warm_begins; }
  /// Phases in each of which every thread looks whether all have come.
  unsigned early_after(unsigned threads, unsigned phases) {
    std::atomic<unsigned> arrived{0};
    std::atomic<unsigned> early{0};
    parallel(threads, [&](unsigned) {
      for (unsigned phase = 1; phase <= phases; ++phase) {
        ++arrived;
        scripted_GOMP_barrier();
        if (machine::warm_active()) machine::relax();  // comes back
        if (arrived < phase * threads) ++early;
      }
    });
    EXPECT_EQ(arrived, phases * threads);
    return early;
  }

  machine_script script;
};

TEST_F(OpenmpBarriers, AreServedAndThreadsRunAhead) {
  for (unsigned i = 0; i < 10'000; ++i) {
    script.on_warm_begin(plan::aborts_at_step(1, attempt_status::conflict_bit | attempt_status::retry_bit));
  }
  EXPECT_EQ(early_after(3, 50), 0U);
  EXPECT_EQ(library_barriers, 0U);
  EXPECT_EQ(regions_started, 1U);
  EXPECT_GT(warm_begins(), 0U);
}

TEST_F(OpenmpBarriers, RegionsFollowEachOther) {
  for (unsigned i = 0; i < 10'000; ++i) script.on_warm_begin(plan::aborts(0));
  for (const unsigned threads : {2U, 4U, 3U, 2U}) EXPECT_EQ(early_after(threads, 5), 0U);
  EXPECT_EQ(library_barriers, 0U);
}

TEST_F(OpenmpBarriers, ARunAheadEndsAtTheRegionsEndAndAtOthers) {
  std::atomic<bool> wanted{false};
  std::atomic<unsigned> ends{0};
  parallel(2, [&](unsigned number) {
    if (number == 0) {
      while (!wanted) std::this_thread::yield();
    }
    scripted_GOMP_barrier();
    if (machine::warm_active()) {
      ++ends;
      wanted = true;
      return;  // the end of the region; aborts, and no other attempt follows
    }
  });
  EXPECT_EQ(ends, 1U);
  EXPECT_EQ(warm_begins(), 1U);
}

TEST_F(OpenmpBarriers, WithoutAttemptsAreTheLibrarys) {
  script.begin_is(txsync::script::begin_nature::always_aborts);
  EXPECT_EQ(early_after(3, 10), 0U);
  EXPECT_EQ(library_barriers, 30U);
}

TEST_F(OpenmpBarriers, WithCancellationAreTheLibrarys) {
  cancels = true;
  EXPECT_EQ(early_after(2, 3), 0U);
  EXPECT_EQ(library_barriers, 6U);
}

TEST_F(OpenmpBarriers, OutsideOfRegionsAndInRegionsOfOneAreTheLibrarys) {
  scripted_GOMP_barrier();
  EXPECT_EQ(library_barriers, 1U);
  EXPECT_EQ(early_after(1, 3), 0U);
  EXPECT_EQ(library_barriers, 4U);
}

TEST_F(OpenmpBarriers, OfRegionsWithinThatWeDoNotKnowAreTheLibrarys) {
  for (unsigned i = 0; i < 1'000; ++i) script.on_warm_begin(plan::aborts(0));
  parallel(2, [](unsigned) {
    scripted_GOMP_barrier();
    library_parallel([](void*) { scripted_GOMP_barrier(); }, nullptr, 3, 0);
    ++my_level;  // a region of one thread, as the library runs it
    scripted_GOMP_barrier();
    --my_level;
    scripted_GOMP_barrier();
  });
  EXPECT_EQ(library_barriers, 2 * 3U + 2);
}

TEST_F(OpenmpBarriers, OfRegionsWithinThatWeKnowAreServed) {
  for (unsigned i = 0; i < 1'000; ++i) script.on_warm_begin(plan::aborts(0));
  parallel(2, [](unsigned) {
    scripted_GOMP_barrier();
    parallel(2, [](unsigned) {
      scripted_GOMP_barrier();
      scripted_GOMP_barrier();
    });
    scripted_GOMP_barrier();
  });
  EXPECT_EQ(regions_started, 3U);
  EXPECT_EQ(library_barriers, 0U);
}

/// The last test: once a program has made tasks, further regions are the library's.
TEST_F(OpenmpBarriers, WithTasksAreFollowedByTheLibrarys) {
  for (unsigned i = 0; i < 10'000; ++i) script.on_warm_begin(plan::aborts(0));
  parallel(3, [](unsigned number) {
    scripted_GOMP_barrier();
    scripted_GOMP_barrier();
    if (number == 1) {
      EXPECT_EQ(scripted_GOMP_task(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 12) << "as it was given";
    }
    for (int phase = 2; phase < 10; ++phase) scripted_GOMP_barrier();
  });
  EXPECT_EQ(tasks_made, 1U);
  EXPECT_EQ(library_barriers, 3U * 8) << "from the barrier behind the task on";
  library_barriers = 0;
  EXPECT_EQ(early_after(3, 5), 0U);
  EXPECT_EQ(library_barriers, 15U);
}

}  // namespace

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

const openmp_functions& openmp() noexcept {
  static const openmp_functions library{library_parallel, library_barrier, library_task,        library_task,
                                        library_task,     library_task,    library_task,        library_task,
                                        library_threads,  library_level,   library_cancellation};
  return library;
}
bool serves_barriers() noexcept { return machine::htm().always_abort; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
