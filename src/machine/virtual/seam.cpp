// SPDX-License-Identifier: Apache-2.0
// The out-of-line part of the seam, which calls the simulated machine's runtime.
#include <cstdlib>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/restartable.hpp>
#include <txsync/machine/thread.hpp>

#include "../failed_assertion.hpp"
#include "../guarded.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

void detail::catch_faults(std::jmp_buf* target) noexcept { txsync_sim_catch_faults(target); }

std::uint64_t clock_ns() noexcept { return txsync_sim_clock_ns(); }
std::uint64_t thread_cpu_ns() noexcept { return txsync_sim_clock_ns(); }
std::uint64_t cycles_per_second() noexcept { return txsync_sim_cycles_per_second(); }

void heavy_fence() noexcept { txsync_sim_fence(); }
void membarrier_releases() noexcept { txsync_sim_fence(); }
bool releases_are_restartable() noexcept { return false; }

thread::~thread() {
  TXSYNC_ASSERT(!joinable_, "a thread is joined before its object is destroyed");
  if (joinable_) __builtin_trap();
}
bool thread::start(entry function, void* argument) noexcept {
  TXSYNC_ASSERT(!joinable_, "the object has no joinable thread when it starts one");
  joinable_ = txsync_sim_thread_start(&handle_, function, argument) != 0;
  return joinable_;
}
void thread::join() noexcept {
  TXSYNC_ASSERT(joinable_, "the thread was started, and not yet joined");
  txsync_sim_thread_join(handle_);
  joinable_ = false;
}
std::uint32_t thread_id() noexcept { return txsync_sim_thread_id(); }
bool at_thread_exit(thread::entry function, void* argument) noexcept {
  return txsync_sim_at_thread_exit(function, argument) != 0;
}
unsigned cpu_for(placement how, unsigned index, unsigned socket) noexcept {
  return txsync_sim_place(static_cast<int>(how), index, socket);
}
unsigned socket_count() noexcept { return txsync_sim_socket_count(); }

constinit thread_local bool detail::in_warm_attempt = false;

const htm_capability& htm() noexcept {
  // The runtime runs one simulated thread at a time, and all threads would write the same.
  static constinit htm_capability offered{};
  const unsigned bits = txsync_sim_capability();
  if (offered.max_depth != bits >> 8) {
    offered = {.attempts = (bits & 1) != 0,
               .hle = (bits & 2) != 0,
               .suspend = (bits & 4) != 0,
               .rollback_only = (bits & 8) != 0,
               // By instructions, or by nesting if that is deep enough.
               .always_abort = (bits & 16) != 0 || bits >> 8 > detail::warm_extra_depth,
               .max_depth = bits >> 8};
  }
  return offered;
}

void yield() noexcept { txsync_sim_yield(); }
void sleep_ns(std::uint64_t duration) noexcept { txsync_sim_sleep_ns(duration); }
unsigned cpu_count() noexcept { return txsync_sim_cpu_count(); }
bool has_realtime_priority() noexcept { return txsync_sim_is_realtime() != 0; }
bool pin(unsigned cpu) noexcept { return txsync_sim_pin(cpu) != 0; }

park_result park(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t deadline_ns) noexcept {
  return static_cast<park_result>(txsync_sim_park(&word, expected, deadline_ns));
}
park_result park_high(const std::atomic<std::uint64_t>& word, std::uint32_t expected_high,
                      std::uint64_t deadline_ns) noexcept {
  return static_cast<park_result>(
      txsync_sim_park(reinterpret_cast<const char*>(&word) + 4, expected_high, deadline_ns));
}
park_result park_low(const std::atomic<std::uint64_t>& word, std::uint32_t expected_low,
                     std::uint64_t deadline_ns) noexcept {
  return static_cast<park_result>(txsync_sim_park(&word, expected_low, deadline_ns));
}
unsigned unpark(const std::atomic<std::uint32_t>& word, unsigned count) noexcept {
  return txsync_sim_unpark(&word, count);
}
unsigned unpark_high(const std::atomic<std::uint64_t>& word, unsigned count) noexcept {
  return txsync_sim_unpark(reinterpret_cast<const char*>(&word) + 4, count);
}
unsigned unpark_low(const std::atomic<std::uint64_t>& word, unsigned count) noexcept {
  return txsync_sim_unpark(&word, count);
}
// A simulated program is one process. An exploration may say that it is the child of a fork.
std::uint32_t fork_count() noexcept { return txsync_sim_fork_count(); }
bool after_fork(void (*)()) noexcept { return true; }
bool around_fork(void (*)(), void (*)(), void (*)()) noexcept { return true; }
park_result park_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                        std::uint64_t deadline_ns) noexcept {
  return park(word, expected, deadline_ns);
}
unsigned unpark_shared(const std::atomic<std::uint32_t>& word, unsigned count) noexcept { return unpark(word, count); }
park_result park_cancelably(const std::atomic<std::uint32_t>& word, std::uint32_t expected, wait_clock clock,
                            std::uint64_t deadline_ns, void (*)(void*), void*) {
  if (clock == wait_clock::realtime && deadline_ns != no_deadline) {
    constexpr std::uint64_t start = TXSYNC_SIM_START_OF_TIME_NS;
    deadline_ns = deadline_ns > start ? deadline_ns - start : 0;
  }
  return park(word, expected, deadline_ns);
}

std::size_t page_size() noexcept { return txsync_sim_page_size(); }
void* map_pages(std::size_t bytes) noexcept { return txsync_sim_map_pages(bytes); }
void unmap_pages(void* address, std::size_t bytes) noexcept { txsync_sim_unmap_pages(address, bytes); }
void discard_pages(void* address, std::size_t bytes) noexcept { txsync_sim_discard_pages(address, bytes); }
void populate_pages(void* address, std::size_t bytes) noexcept { txsync_sim_populate_pages(address, bytes); }
double_mapping map_pages_twice(std::size_t bytes) noexcept {
  void* both[2];
  txsync_sim_map_pages_twice(bytes, both);
  return {both[0], both[1]};
}
bool renew_pages_twice(const double_mapping&, std::size_t) noexcept { return false; }
bool protect_pages(void* address, std::size_t bytes, page_rights rights) noexcept {
  return txsync_sim_protect_pages(address, bytes, static_cast<int>(rights)) != 0;
}

namespace {

// One simulated thread runs at a time.
constinit fault_handler called_for_faults = nullptr;

int call_for_fault(void* address, int write, void* argument) {
  return called_for_faults(address, write != 0, argument) == fault_answer::retry ? 1 : 0;
}

}  // namespace

bool set_fault_handler(fault_handler handler, void* argument) noexcept {
  called_for_faults = handler;
  txsync_sim_on_fault(handler != nullptr ? call_for_fault : nullptr, argument);
  return true;
}

void enter_phase(phase next) noexcept { txsync_sim_phase(static_cast<int>(next)); }

// The runtime keeps a copy of the variables in the program's memory.
const char* environment(const char* name) noexcept { return std::getenv(name); }

std::uint64_t random_seed() noexcept { return txsync_sim_seed(); }

const char* backend_name() noexcept { return "simulated"; }

void complain(const char* text, std::size_t length) noexcept { txsync_sim_complain(text, length); }

void detail::end_with(const char* line, std::size_t) noexcept {
  txsync_sim_give_up(line);
  std::abort();  // not reached, except in a test without the simulated machine
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
