// SPDX-License-Identifier: Apache-2.0
#include "locks/line_transfer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr unsigned batches = 21;
constexpr unsigned trips = 500;  // a batch
constexpr std::uint32_t refused = ~std::uint32_t{0};

/// The line that travels: even while it is the first thread's turn. Nothing but its own value passes through it.
struct alignas(machine::pad_bytes) line {
  std::atomic<std::uint32_t> turn{1};  // nobody's, until the second thread is there

  /// Relaxed, here and below: the time of one line, which orders nothing else.
  std::uint32_t wait_for(std::uint32_t value) const noexcept {
    std::uint32_t seen = turn.load(std::memory_order_relaxed);
    while (seen != value && seen != refused) seen = turn.load(std::memory_order_relaxed);
    return seen;
  }
  void pass(std::uint32_t value) noexcept { turn.store(value, std::memory_order_relaxed); }
};

bool bind(unsigned index) noexcept { return machine::pin(machine::cpu_for(machine::placement::cores_first, index)); }

void answer(line& shared) noexcept {
  if (!bind(1)) return shared.pass(refused);
  shared.pass(0);  // the first turn begins when both are there
  for (std::uint32_t trip = 0; trip < batches * trips; ++trip) {
    if (shared.wait_for(2 * trip + 1) == refused) return;
    shared.pass(2 * trip + 2);
  }
}

double measure(line& shared) noexcept {
  if (!bind(0)) {
    shared.wait_for(0);
    shared.pass(refused);
    return 0;
  }
  std::array<double, batches> took{};
  std::uint32_t next = 0;
  if (shared.wait_for(next) == refused) return 0;
  for (double& batch : took) {
    const std::uint64_t start = machine::cycles();
    for (unsigned trip = 0; trip < trips; ++trip) {
      shared.pass(++next);
      shared.wait_for(++next);
    }
    batch = static_cast<double>(machine::cycles() - start) / (2 * trips);
  }
  std::nth_element(took.begin(), took.begin() + batches / 2, took.end());
  return took[batches / 2] * 1e9 / static_cast<double>(machine::cycles_per_second());
}

}  // namespace

double line_transfer_ns() {
  if (machine::cpu_count() < 2) return 0;
  line shared;
  double took = 0;
  // Threads of their own: where the caller runs is the caller's business.
  std::thread first([&] { took = measure(shared); });
  std::thread second([&] { answer(shared); });
  first.join();
  second.join();
  return took;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
