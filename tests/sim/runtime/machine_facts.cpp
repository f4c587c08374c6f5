// SPDX-License-Identifier: Apache-2.0
// A simulated program: tries what an attempt can hold on the machine that it finds, and tells by records.
// Compiled for the simulated machine; tests/sim/runtime/simulated_machines.cpp starts it and knows what is right.
#include <cstdint>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/thread.hpp>

#include <txsync_backend/runtime.h>

using namespace txsync;
using machine::attempt_status;

namespace {

constexpr std::size_t bytes = std::size_t{1} << 20;
constexpr std::size_t max_lines = 4096;

struct memory {
  volatile char* at = static_cast<volatile char*>(machine::map_pages(bytes));
  void touch() const {
    for (std::size_t i = 0; i < bytes; i += 64) at[i] = 1;
  }
};

/// The first of a few tries that commits, or the last one's status: a timer interrupt is nobody's capacity.
template <class Body>
attempt_status try_a_few(Body body) {
  attempt_status status;
  for (int i = 0; i < 4; ++i) {
    status = machine::begin();
    if (status.started()) {
      body();
      machine::end();
      return status;
    }
  }
  return status;
}

bool writes_fit(const memory& pages, std::size_t lines, std::size_t stride, std::size_t line_bytes) {
  volatile char* const at = pages.at;  // in a register: what is on the stack takes part of the room
  const std::size_t step = stride * line_bytes;
  return try_a_few([=] {
           for (std::size_t i = 0; i < lines; ++i) at[i * step] = 2;
         })
      .started();
}

/// The most lines of that stride that one attempt can write.
std::size_t write_capacity(const memory& pages, std::size_t stride, std::size_t line_bytes) {
  std::size_t fits = 0;
  std::size_t beyond = bytes / (stride * line_bytes) < max_lines ? bytes / (stride * line_bytes) : max_lines;
  while (beyond - fits > 1) {
    const std::size_t middle = (fits + beyond) / 2;
    (writes_fit(pages, middle, stride, line_bytes) ? fits : beyond) = middle;
  }
  return fits;
}

/// The most lines that one attempt can read and then write.
std::size_t increment_capacity(const memory& pages, std::size_t line_bytes) {
  std::size_t fits = 0;
  while (fits < max_lines && try_a_few([&] {
                               for (std::size_t i = 0; i <= fits; ++i) {
                                 pages.at[i * line_bytes] = static_cast<char>(pages.at[i * line_bytes] + 1);
                               }
                             }).started()) {
    ++fits;
  }
  return fits;
}

unsigned deepest_nesting() {
  unsigned deepest = 0;
  for (unsigned depth = 1; depth <= 100; ++depth) {
    const attempt_status status = machine::begin();
    if (!status.started()) break;
    for (unsigned i = 1; i < depth; ++i) static_cast<void>(machine::begin());
    for (unsigned i = 0; i < depth; ++i) machine::end();
    deepest = depth;
  }
  return deepest;
}

std::uint64_t status_of_first_touch() {
  const memory untouched;
  const attempt_status status = machine::begin();
  if (status.started()) {
    untouched.at[0] = 1;
    machine::end();
  }
  return status.raw;
}

std::uint64_t status_of_system_call() {
  const attempt_status status = machine::begin();
  if (status.started()) {
    machine::yield();
    machine::end();
  }
  return status.raw;
}

/// Whether an attempt commits that does this. Requires: what it does ends nobody's program outside an attempt.
template <class Body>
bool commits_with(Body body) {
  return try_a_few(body).started();
}

bool commits_with_elision_inside() {
  static std::atomic<std::uint32_t> lock{0};
  return commits_with([] {
    machine::hle_acquire(lock, 1);
    machine::hle_release(lock, 0);
  });
}

/// The same the other way round: the section runs a second time when its elision has ended, then with the lock taken.
bool commits_under_a_prefix() {
  static std::atomic<std::uint32_t> lock{0};
  bool elided = false;
  machine::hle_acquire(lock, 1);
  if (machine::active() && machine::begin().started()) {
    machine::end();
    elided = machine::active();
  }
  machine::hle_release(lock, 0);
  return elided;
}

/// Inside its section an elided lock looks taken, as it was left before; afterwards it looks free.
bool sees_its_own_elision() {
  static std::atomic<std::uint32_t> lock{0};
  bool elided = false;
  std::uint32_t inside = 0;
  for (int i = 0; i < 4 && !elided; ++i) {
    machine::hle_acquire(lock, 1);
    elided = machine::active();
    inside = lock.load(std::memory_order_relaxed);
    machine::hle_release(lock, 0);
  }
  return elided && inside == 1 && lock.load() == 0;
}

/// An abort takes back what was written, and gives the thread its registers and stack again.
bool abort_takes_back(const memory& pages) {
  pages.at[0] = 7;
  volatile int on_the_stack = 7;
  int times = 0;
  const attempt_status status = machine::begin();
  if (status.started()) {
    ++times;
    pages.at[0] = 8;
    on_the_stack = 8;
    machine::abort<42>();
  }
  return status.is_explicit() && status.code() == 42 && pages.at[0] == 7 && on_the_stack == 7 && times == 0;
}

void count_exit(void* raw) {
  auto& calls = *static_cast<volatile unsigned*>(raw);
  calls = calls + 1;
}
struct counts_its_end {
  void* calls = nullptr;
  ~counts_its_end() {
    if (calls != nullptr) count_exit(calls);
  }
};
void end_in_an_attempt(void* raw) {
  machine::at_thread_exit(count_exit, raw);
  if (machine::begin().started()) machine::at_thread_exit(count_exit, raw);
}
void end_with_an_object_in_an_attempt(void* raw) {
  static thread_local counts_its_end object;
  object.calls = raw;
  (void)machine::begin();
}
/// What a thread calls at its end, if it ends in an attempt. The abort takes back what was asked for in it.
unsigned exit_calls_of_an_open_attempt(machine::thread::entry body) {
  volatile unsigned calls = 0;
  machine::thread other;
  if (!other.start(body, const_cast<unsigned*>(&calls))) return 0;
  other.join();
  return calls;
}

struct meeting {
  const memory& pages;
  volatile int stage = 0;
};

/// Another thread's plain store ends an attempt that has read the line (strong isolation).
void store_into(void* raw) {
  auto& with = *static_cast<meeting*>(raw);
  while (with.stage != 1) machine::relax();
  while (with.stage == 1) {
    machine::sleep_ns(20'000);
    with.pages.at[64] = 9;
  }
}

std::uint64_t status_of_foreign_store(const memory& pages) {
  meeting with{pages};
  machine::thread other;
  if (!other.start(store_into, &with)) return 0;
  with.stage = 1;
  attempt_status status;
  for (int i = 0; i < 4 && status.raw == 0; ++i) {  // a timer interrupt may come first
    status = machine::begin();
    if (status.started()) {
      for (;;) static_cast<void>(pages.at[64]);  // a pause would end the attempt
    }
  }
  with.stage = 2;
  other.join();
  return status.raw;
}

/// Writes what the attempt never reads, one line after the other.
void store_elsewhere(void* raw) {
  auto& with = *static_cast<meeting*>(raw);
  while (with.stage != 1) machine::relax();
  for (std::size_t at = bytes / 2; with.stage == 1 && at < bytes; at += 256) {
    machine::sleep_ns(1'000);
    with.pages.at[at] = 9;
  }
}

/// Of an attempt that reads more than the L1 holds, while another thread writes elsewhere; 0 where that does not
/// matter.
std::uint64_t status_beside_stores_elsewhere(const memory& pages) {
  meeting with{pages};
  machine::thread other;
  if (!other.start(store_elsewhere, &with)) return 0;
  with.stage = 1;
  const attempt_status status = machine::begin();
  if (status.started()) {
    for (std::size_t at = 0; at < bytes / 4; at += 64) static_cast<void>(pages.at[at]);
    for (int i = 0; i < 100'000; ++i) static_cast<void>(pages.at[64]);
    machine::end();
  }
  with.stage = 2;
  other.join();
  return status.started() ? 0 : status.raw;
}

void write_and_abort(void* raw) {
  auto& with = *static_cast<meeting*>(raw);
  while (with.stage != 1) machine::relax();
  if (machine::begin().started()) {
    with.pages.at[128] = 2;
    for (int i = 0; i < 3000; ++i) static_cast<void>(with.pages.at[128]);
    machine::abort<1>();
  }
}

/// What a plain read finds after an attempt that has lost against another's uncommitted write.
int seen_after_a_lost_conflict(const memory& pages) {
  meeting with{pages};
  pages.at[128] = 1;
  machine::thread other;
  if (!other.start(write_and_abort, &with)) return 0;
  with.stage = 1;
  for (int i = 0; i < 300; ++i) pages.at[4096] = 1;
  if (machine::begin().started()) {
    static_cast<void>(pages.at[128]);
    machine::end();
  }
  const int seen = pages.at[128];
  other.join();
  return seen;
}

/// Suspended code is no part of the attempt: it may call the system, and hears of an abort when it resumes.
bool commits_with_a_call_while_suspended() {
  return commits_with([] {
    machine::suspend();
    machine::yield();
    machine::resume();
  });
}

/// A suspended store to what the attempt has written ends the attempt, and stays. Answers the status, 0 where the store
/// is not there.
std::uint64_t status_of_own_store_while_suspended(const memory& pages) {
  volatile char* const cell = pages.at + 512;
  volatile char* const past_the_abort = pages.at + 1024;
  *cell = 1;
  *past_the_abort = 0;
  const attempt_status status = machine::begin();
  if (status.started()) {
    *cell = 2;
    machine::suspend();
    *cell = 3;
    *past_the_abort = 1;
    machine::resume();
    machine::end();
    return 0;
  }
  return *cell == 3 && *past_the_abort == 1 ? status.raw : 0;
}

/// Another thread's store meets an attempt that is suspended: the attempt's own go at once, control when it resumes.
std::uint64_t status_of_foreign_store_while_suspended(const memory& pages) {
  meeting with{pages};
  machine::thread other;
  if (!other.start(store_into, &with)) return 0;
  volatile char* const cell = pages.at + 512;
  volatile char* const seen = pages.at + 1024;
  *cell = 1;
  *seen = 0;
  pages.at[64] = 0;
  with.stage = 1;
  const attempt_status status = machine::begin();
  if (status.started()) {
    static_cast<void>(pages.at[64]);
    *cell = 2;
    machine::suspend();
    while (pages.at[64] != 9) machine::relax();
    *seen = *cell;
    machine::resume();
    machine::end();
  }
  with.stage = 2;
  other.join();
  return *seen == 1 ? status.raw : 0;
}

void store_once(void* raw) {
  machine::pin(machine::cpu_for(machine::placement::cores_first, 1, 0));
  static_cast<const memory*>(raw)->at[256] = 1;
}

/// Of one access to a line that another core has written; pages are in the TLB.
std::uint64_t cycles_to_take_over(const memory& pages, bool write) {
  machine::thread other;
  if (!other.start(store_once, const_cast<memory*>(&pages))) return 0;
  other.join();
  static_cast<void>(pages.at[256 + 512]);
  machine::fence();
  const std::uint64_t begun = machine::cycles();
  if (write) {
    pages.at[256] = 2;
  } else {
    static_cast<void>(pages.at[256]);
  }
  return machine::cycles() - begun;
}

}  // namespace

int main(int count, char** words) {
  std::size_t line_bytes = 0;
  for (const char* digit = count > 1 ? words[1] : "64"; *digit != 0; ++digit) {
    line_bytes = line_bytes * 10 + static_cast<std::size_t>(*digit - '0');
  }
  const memory pages;
  pages.touch();
  txsync_sim_record("attempts", machine::htm().attempts ? 1 : 0);
  if (!machine::htm().attempts) return 0;
  txsync_sim_record("nesting", deepest_nesting());
  txsync_sim_record("stride_1", write_capacity(pages, 1, line_bytes));
  txsync_sim_record("stride_2", write_capacity(pages, 2, line_bytes));
  txsync_sim_record("stride_3", write_capacity(pages, 3, line_bytes));
  txsync_sim_record("stride_4", write_capacity(pages, 4, line_bytes));
  if (line_bytes == 128) txsync_sim_record("incremented", increment_capacity(pages, line_bytes));
  txsync_sim_record("after_a_lost_conflict", static_cast<std::uint64_t>(seen_after_a_lost_conflict(pages)));
  txsync_sim_record("first_touch", status_of_first_touch());
  txsync_sim_record("system_call", status_of_system_call());
  txsync_sim_record("prefix_in_attempt", commits_with_elision_inside() ? 1 : 0);
  txsync_sim_record("attempt_under_prefix", commits_under_a_prefix() ? 1 : 0);
  txsync_sim_record("sees_its_own_elision", sees_its_own_elision() ? 1 : 0);
  txsync_sim_record("pause", commits_with([] { machine::relax(); }) ? 1 : 0);
  txsync_sim_record("abort_takes_back", abort_takes_back(pages) ? 1 : 0);
  txsync_sim_record("exit_calls", exit_calls_of_an_open_attempt(end_in_an_attempt));
  txsync_sim_record("ended_objects", exit_calls_of_an_open_attempt(end_with_an_object_in_an_attempt));
  txsync_sim_record("read_from_other_core", cycles_to_take_over(pages, false));
  txsync_sim_record("write_from_other_core", cycles_to_take_over(pages, true));
  if (machine::htm().suspend) {
    txsync_sim_record("call_while_suspended", commits_with_a_call_while_suspended() ? 1 : 0);
    txsync_sim_record("own_store_while_suspended", status_of_own_store_while_suspended(pages));
    txsync_sim_record("foreign_store_while_suspended", status_of_foreign_store_while_suspended(pages));
  }
  txsync_sim_record("stores_elsewhere", status_beside_stores_elsewhere(pages));
  txsync_sim_record("foreign_store", status_of_foreign_store(pages));
  return 0;
}
