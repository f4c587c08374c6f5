// SPDX-License-Identifier: Apache-2.0
// The seam: hints, fences and clocks of one CPU.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// Destructive interference size that txsync pads to. Two 64-byte lines: Intel's spatial prefetcher fetches pairs,
/// POWER's line is 128 bytes.
inline constexpr unsigned pad_bytes = 128;

/// Brings the line of `address` near, for reading or for writing (in exclusive state). Never faults, whatever the
/// address. Never removed by the compiler, unlike its own builtin in a function without other effects.
[[gnu::always_inline]] inline void prefetch_read(const void* address) noexcept;
[[gnu::always_inline]] inline void prefetch_write(const void* address) noexcept;

/// A full (sequentially consistent) fence. Cost: 12..40 ns.
[[gnu::always_inline]] inline void fence() noexcept;

/// Keeps the compiler from moving memory accesses across; no instruction.
[[gnu::always_inline]] inline void compiler_fence() noexcept;

/// One pause of a spin loop. 5..50 ns, so count cycles() where a length matters.
[[gnu::always_inline]] inline void relax() noexcept;

/// A counter that grows at a constant rate, for short distances; unit: cycles_per_second() a second. About 10 ns.
/// May be used inside an attempt. Not ordered against memory accesses around it.
[[gnu::always_inline]] inline std::uint64_t cycles() noexcept;
/// The rate of cycles(). Measured at the first call (up to 2 ms) where the CPU does not tell.
TXSYNC_EXPORT std::uint64_t cycles_per_second() noexcept;

/// Monotonic time in nanoseconds since an arbitrary start. 20..60 ns; a system call on some machines.
TXSYNC_EXPORT std::uint64_t clock_ns() noexcept;
/// The CPU time that the calling thread has used, in nanoseconds. A system call, 0.1..1 us. Each simulated thread has a
/// hardware thread of its own, so there it is clock_ns().
TXSYNC_EXPORT std::uint64_t thread_cpu_ns() noexcept;

/// One leaf of the processor's self-description: x86 CPUID {eax, ebx, ecx, edx}. False where there is no such leaf or
/// no such instruction.
TXSYNC_EXPORT bool cpuid(std::uint32_t leaf, std::uint32_t subleaf, std::uint32_t (&registers)[4]) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine

#include <txsync_backend/cpu.hpp>
