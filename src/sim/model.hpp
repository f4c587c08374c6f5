// SPDX-License-Identifier: Apache-2.0
// What the simulated machine needs to know about the machine that it models: plain numbers, one list. machines/*.toml
// contain them with their sources; src/sim/models reads and checks those files. The runtime gets the numbers as lines
// "section.key value".
#pragma once

#include <cstdint>

namespace txsync::sim {

// X(section, key, least, most, unit, meaning). In the files, a key is in the table of its section. Times are in cycles
// of the core's clock (`core.mhz`), or 0 if a machine has no such thing.
#define TXSYNC_SIM_MODEL(X)                                                                                           \
  X(core, mhz, 100, 10000, "MHz", "clock; virtual time is this many million cycles a second")                         \
  X(core, sockets, 1, 16, "", "sockets, each with memory of its own")                                                 \
  X(core, cores, 1, 256, "", "cores a socket")                                                                        \
  X(core, threads, 1, 8, "", "hardware threads a core")                                                               \
  X(core, access, 0, 100, "cycles", "an access that hits the L1, as far as it is not hidden")                         \
  X(core, atomic, 0, 1000, "cycles", "a read-modify-write that hits the L1, beyond the access")                       \
  X(core, fence, 0, 1000, "cycles", "a full fence")                                                                   \
  X(core, pause, 1, 1000, "cycles", "one pause of a spin loop")                                                       \
  X(smt, share_1, 1, 100, "%", "speed of a hardware thread alone on its core")                                        \
  X(smt, share_2, 0, 100, "%", "speed of each of two hardware threads that run on one core")                          \
  X(smt, share_4, 0, 100, "%", "of each of four (three lie between)")                                                 \
  X(smt, share_8, 0, 100, "%", "of each of eight")                                                                    \
  X(l1, line, 16, 256, "bytes", "a cache line, of all levels, and what conflicts are detected on")                    \
  X(l1, kib, 1, 1024, "KiB", "L1 data cache of a core, shared by its hardware threads")                               \
  X(l1, ways, 1, 32, "", "")                                                                                          \
  X(l2, kib, 0, 65536, "KiB", "private L2 of a core; 0: none")                                                        \
  X(l2, ways, 0, 32, "", "")                                                                                          \
  X(l2, hit, 0, 1000, "cycles", "an access that misses the L1 and hits the L2")                                       \
  X(l3, kib, 0, 4194304, "KiB", "last level of a socket; 0: none")                                                    \
  X(l3, ways, 0, 64, "", "")                                                                                          \
  X(l3, hit, 0, 1000, "cycles", "an access that hits the socket's last level")                                        \
  X(l3, inclusive, 0, 1, "", "1: what leaves the last level leaves the private ones")                                 \
  X(memory, local, 1, 10000, "cycles", "an access to memory of the own socket")                                       \
  X(memory, remote, 1, 10000, "cycles", "to memory of another socket")                                                \
  X(memory, dirty_core, 1, 10000, "cycles", "a line that another core of the socket has modified, and upgrades")      \
  X(memory, dirty_socket, 1, 10000, "cycles", "a line that a core of another socket has modified")                    \
  X(memory, overlap, 1, 64, "", "misses of independent accesses that overlap (line fill buffers that help)")          \
  X(memory, window, 0, 10000, "cycles", "how long after a miss another one may begin and still overlap with it")      \
  X(prefetch, streams, 0, 64, "", "streams that the hardware prefetcher follows; 0: none")                            \
  X(prefetch, distance, 0, 64, "lines", "how far it runs ahead")                                                      \
  X(tlb, entries, 0, 65536, "", "first-level TLB; 0: translation is free")                                            \
  X(tlb, second_entries, 0, 1048576, "", "second level; 0: none")                                                     \
  X(tlb, second_hit, 0, 1000, "cycles", "a translation from the second level")                                        \
  X(tlb, walk, 0, 10000, "cycles", "a page walk")                                                                     \
  X(page, bytes, 1024, 2097152, "bytes", "a page")                                                                    \
  X(page, first_touch, 0, 1000000, "cycles", "the fault of the first access to a page")                               \
  X(page, protect, 0, 1000000, "cycles", "changing the rights of one page")                                           \
  X(page, shootdown, 0, 1000000, "cycles", "telling each other core that runs of it")                                 \
  X(os, syscall, 0, 1000000, "cycles", "entering and leaving the kernel")                                             \
  X(os, sleep, 0, 10000000, "cycles", "leaving the CPU, to the next thread's first instruction")                      \
  X(os, wake, 0, 10000000, "cycles", "waking another thread, in the waker")                                           \
  X(os, wake_delay, 0, 10000000, "cycles", "from the waking to the woken thread's first instruction")                 \
  X(os, thread_start, 0, 100000000, "cycles", "starting a thread")                                                    \
  X(os, timer_hz, 0, 100000, "Hz", "timer interrupts of each hardware thread; 0: none")                               \
  X(os, timer, 0, 1000000, "cycles", "one timer interrupt")                                                           \
  X(os, time_slice_us, 1, 1000000, "us", "how long a thread runs while others wait for its hardware thread")          \
  X(htm, attempts, 0, 1, "", "1: hardware transactions; 0: none, and the rest of this table is not used")             \
  X(htm, begin, 0, 10000, "cycles", "")                                                                               \
  X(htm, commit, 0, 10000, "cycles", "")                                                                              \
  X(htm, abort, 0, 100000, "cycles", "")                                                                              \
  X(htm, nesting, 1, 1000, "", "deepest flat nesting that commits, the outermost counted as 1")                       \
  X(htm, write_in_l1, 0, 1, "", "1: a written line that leaves the L1 aborts")                                        \
  X(htm, taken_ways, 0, 800, "1/100 ways",                                                                            \
    "mean of the ways of an L1 set that others than the attempt take while it runs; 0: none")                         \
  X(htm, entries, 0, 1048576, "lines",                                                                                \
    "lines that a core tracks (POWER's TMCAM); shared by its hardware threads; 0: no such bound")                     \
  X(htm, reads_in_entries, 0, 1, "", "1: read lines take entries too")                                                \
  X(htm, read_limit, 0, 16777216, "lines", "read lines that one attempt may have; 0: no bound")                       \
  X(htm, read_loss, 0, 1000000, "ppm", "chance that a read line that leaves the L1 is lost, and aborts")              \
  X(htm, read_filter, 0, 4096, "bits",                                                                                \
    "size of the filter that keeps read lines beyond the L1; its false hits are conflicts; 0: exact")                 \
  X(htm, reads_tracked, 0, 1, "", "0: reads never conflict")                                                          \
  X(htm, conflicts, 0, 1, "", "0: what attempts have read conflicts with nothing (an always-abort machine's option)") \
  X(htm, requester_wins, 0, 1, "", "1: who accesses aborts the other; 0: aborts itself")                              \
  X(htm, timer_aborts, 0, 1, "", "")                                                                                  \
  X(htm, fault_aborts, 0, 1, "", "page faults abort; 0: they are served outside")                                     \
  X(htm, violation_signal, 0, 1, "", "the program's handler learns of an attempt's access violation; 0: only aborts") \
  X(htm, allocation_aborts, 0, 1, "", "malloc and free abort an attempt, as the thesis measured")                     \
  X(htm, pause_aborts, 0, 1, "", "a spin loop's pause aborts an attempt")                                             \
  X(htm, precise_status, 0, 2, "", "0: the status is RTM's; 1: it tells causes that CPUs hide; 2: it is TEXASR's")    \
  X(htm, hle, 0, 1, "", "lock elision by prefix")                                                                     \
  X(htm, hle_locks, 0, 16, "", "locks that are elided at once")                                                       \
  X(htm, suspend, 0, 1, "", "")                                                                                       \
  X(htm, rollback_only, 0, 1, "", "")                                                                                 \
  X(htm, always_abort, 0, 1, "", "the always-abort instructions of that paper")

struct machine_model {
#define TXSYNC_SIM_FIELD(section, key, least, most, unit, meaning) std::uint32_t section##_##key = 0;
  TXSYNC_SIM_MODEL(TXSYNC_SIM_FIELD)
#undef TXSYNC_SIM_FIELD

  constexpr std::uint32_t total_cores() const noexcept { return core_sockets * core_cores; }
  constexpr std::uint32_t hardware_threads() const noexcept { return total_cores() * core_threads; }
};

}  // namespace txsync::sim
