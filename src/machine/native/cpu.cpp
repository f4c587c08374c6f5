// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <ctime>

#include <txsync/machine/cpu.hpp>

#include "machine/known_rate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

#if !defined(__aarch64__)
struct moment {
  std::uint64_t ns, cycles;
};

/// Reads both clocks at about one moment. It tries up to 8 times, because the thread may lose its CPU in between.
moment read_clocks() noexcept {
  constexpr std::uint64_t good_ns = 500;
  moment best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int tries = 0; tries < 8 && least > good_ns; ++tries) {
    const std::uint64_t before = clock_ns();
    const std::uint64_t counted = cycles();
    const std::uint64_t took = clock_ns() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, counted};
  }
  return best;
}

constinit moment loaded{};
[[gnu::constructor]] void read_first() noexcept { loaded = read_clocks(); }

/// Counts cycles since this code was loaded. If that is less than 0.2 ms ago, it waits until then. Two readings are off
/// by some 0.1 us together, so the rate is exact to 0.1 %.
std::uint64_t measure_rate() noexcept {
  constexpr std::uint64_t min_ns = 200'000;
  // Longer intervals are not used: a machine that sleeps stops only one of the clocks. The product below also fits.
  constexpr std::uint64_t max_ns = 1'000'000'000;
  moment begin = loaded;
  if (begin.ns == 0 || clock_ns() - begin.ns > max_ns) begin = read_clocks();
  moment end = read_clocks();
  while (end.ns - begin.ns < min_ns) end = read_clocks();
  return (end.cycles - begin.cycles) * 1'000'000'000 / (end.ns - begin.ns);
}
#endif

// Written by whoever measures first; two measurements are equally good. Relaxed: it guards no other data.
constinit std::atomic<std::uint64_t> rate{0};

std::uint64_t time_of(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t clock_ns() noexcept { return time_of(CLOCK_MONOTONIC); }
std::uint64_t thread_cpu_ns() noexcept { return time_of(CLOCK_THREAD_CPUTIME_ID); }

std::uint64_t cycles_per_second() noexcept {
  std::uint64_t known = rate.load(std::memory_order_relaxed);
  if (known == 0) {
#if defined(__aarch64__)
    asm volatile("mrs %0, cntfrq_el0" : "=r"(known));
#else
    known = measure_rate();
#endif
    rate.store(known, std::memory_order_relaxed);
  }
  return known;
}

void know_cycles_per_second(std::uint64_t other) noexcept { rate.store(other, std::memory_order_relaxed); }

bool cpuid(std::uint32_t leaf, std::uint32_t subleaf, std::uint32_t (&registers)[4]) noexcept {
#if defined(__x86_64__)
  const auto ask = [&](std::uint32_t a, std::uint32_t c) {
    asm volatile("cpuid"
                 : "=a"(registers[0]), "=b"(registers[1]), "=c"(registers[2]), "=d"(registers[3])
                 : "a"(a), "c"(c));
  };
  constexpr std::uint32_t hypervisor_leaves = 0x40000000;
  constexpr std::uint32_t range_mask = 0xC0000000;
  if ((leaf & range_mask) == hypervisor_leaves) {
    // Without a hypervisor, these leaves return the values of the highest basic leaf.
    constexpr std::uint32_t hypervisor_bit = 1u << 31;  // CPUID.1:ECX
    ask(1, 0);
    if ((registers[2] & hypervisor_bit) == 0) return false;
  }
  ask(leaf & range_mask, 0);
  if (registers[0] < leaf) return false;
  ask(leaf, subleaf);
  return true;
#else
  (void)leaf, (void)subleaf, (void)registers;
  return false;
#endif
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
