// SPDX-License-Identifier: Apache-2.0
// Small tests whose every schedule is a test of its own: `txsync explore` runs them on the simulated machine, again and
// again, each time in another order of execution.
#pragma once

#include <cstdint>
#include <new>
#include <span>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// What exploring has to find.
enum class verdict : std::uint8_t {
  right,                      ///< nothing, ever
  broken,                     ///< the fault that it is seeded with
  broken_with_store_buffers,  ///< that, with store buffers, and nothing without
};

/// One test. run() makes everything anew, runs the threads, and answers null or what was wrong. Nothing of it may be
/// left from one schedule to the next.
struct exploration {
  const char* name;
  const char* summary;
  verdict expected;
  const char* (*run)();
};

std::span<const exploration> lock_explorations() noexcept;    ///< lock_explorations.cpp
std::span<const exploration> seeded_explorations() noexcept;  ///< seeded_explorations.cpp
std::span<const exploration> litmus_explorations() noexcept;  ///< litmus_explorations.cpp

/// Runs body(state, index) in `count` threads and waits for them.
template <class State, unsigned count>
void in_threads(State& state, void (*body)(State& state, unsigned index)) {
  struct start {
    State* state;
    void (*body)(State& state, unsigned index);
    unsigned index;
  };
  start starts[count];
  machine::thread threads[count];
  for (unsigned i = 0; i < count; ++i) {
    starts[i] = {&state, body, i};
    const auto entry = [](void* raw) {
      const start& mine = *static_cast<start*>(raw);
      mine.body(*mine.state, mine.index);
    };
    if (!threads[i].start(entry, &starts[i])) __builtin_trap();
  }
  for (machine::thread& one : threads) one.join();
}

/// Sections of one lock, each of which looks whether it is alone.
template <class Adapter, unsigned threads, unsigned sections>
struct exclusion_test {
  Adapter lock{};
  std::uint64_t count = 0;
  std::uint32_t inside = 0;
  bool met = false;

  static void body(exclusion_test& me, unsigned) {
    typename Adapter::slot mine;
    for (unsigned i = 0; i < sections; ++i) {
      me.lock.lock(mine);
      if (me.inside != 0) me.met = true;
      me.inside = 1;
      ++me.count;
      me.inside = 0;
      me.lock.unlock(mine);
    }
  }

  static const char* run() {
    alignas(exclusion_test) static unsigned char place[sizeof(exclusion_test)];
    auto& made = *new (place) exclusion_test;
    in_threads<exclusion_test, threads>(made, body);
    const char* fault = made.met                           ? "two threads were in the section"
                        : made.count != threads * sections ? "an update was lost"
                                                           : nullptr;
    made.~exclusion_test();
    return fault;
  }
};

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
