// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <ctime>

#include <txsync/machine/cpu.hpp>

#include "machine/known_rate.hpp"

namespace txsync::inline TXSYNC_BACKEND::machine {

namespace {

/// Counts cycles over at least two milliseconds of the monotonic clock.
[[maybe_unused]] std::uint64_t measure_rate() noexcept {
  const std::uint64_t start_ns = clock_ns();
  const std::uint64_t start = cycles();
  std::uint64_t now = start_ns;
  while (now - start_ns < 2'000'000) now = clock_ns();
  return (cycles() - start) * 1'000'000'000 / (now - start_ns);
}

// Written by whoever measures first; two measurements are as good as one. Relaxed: it guards no other data.
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
    // Without a hypervisor these leaves answer what the highest basic one does.
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

}  // namespace txsync::inline TXSYNC_BACKEND::machine
