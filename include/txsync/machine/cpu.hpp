// SPDX-License-Identifier: Apache-2.0
// The seam: hints, fences and clocks of one CPU.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// The destructive interference size to which txsync pads: two 64-byte lines. Intel's spatial prefetcher fetches pairs
/// of lines, and POWER's line has 128 bytes.
inline constexpr unsigned pad_bytes = 128;

/// Fetches the cache line of `address`, for reading or for writing (in exclusive state). Never faults, whatever the
/// address. The compiler never removes it, unlike its own builtin in a function without other effects.
[[gnu::always_inline]] inline void prefetch_read(const void* address) noexcept;
[[gnu::always_inline]] inline void prefetch_write(const void* address) noexcept;

/// A full (sequentially consistent) fence. Cost: 12..40 ns.
[[gnu::always_inline]] inline void fence() noexcept;

/// Keeps the compiler from moving memory accesses across this call; no instruction.
[[gnu::always_inline]] inline void compiler_fence() noexcept;

/// One pause of a spin loop. 5..50 ns, so count cycles() if the length matters.
[[gnu::always_inline]] inline void relax() noexcept;

/// A counter that grows at a constant rate, for short intervals. Its unit is 1 / cycles_per_second() seconds. About 10
/// ns. It may be used inside an attempt. It is not ordered against the memory accesses around it.
[[gnu::always_inline]] inline std::uint64_t cycles() noexcept;
/// The rate of cycles(). Measured at the first call (up to 2 ms) if the CPU does not report it.
TXSYNC_EXPORT std::uint64_t cycles_per_second() noexcept;

/// Monotonic time in nanoseconds since an arbitrary start. 20..60 ns; a system call on some machines.
TXSYNC_EXPORT std::uint64_t clock_ns() noexcept;
/// The CPU time that the calling thread has used, in nanoseconds. A system call, 0.1..1 us. On the simulated machine it
/// is clock_ns(), because each simulated thread has its own hardware thread.
TXSYNC_EXPORT std::uint64_t thread_cpu_ns() noexcept;

/// One leaf of x86 CPUID {eax, ebx, ecx, edx}, in which the processor describes itself. False if there is no such leaf
/// or no such instruction.
TXSYNC_EXPORT bool cpuid(std::uint32_t leaf, std::uint32_t subleaf, std::uint32_t (&registers)[4]) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/cpu.hpp>
