// SPDX-License-Identifier: Apache-2.0
// A simulated program: memory with two addresses, and accesses that the rights of one of them refuse.
// Compiled for the simulated machine; tests/sim/runtime/simulated_views.cpp starts it and knows what is right.
#include <cstdint>
#include <cstdlib>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/thread.hpp>

#include <txsync_backend/runtime.h>

using namespace txsync;
using machine::attempt_status;
using machine::page_rights;

namespace {

constexpr std::size_t page_count = 16;
// How an attempt ended: simulated_views.cpp has the same numbers.
constexpr std::uint64_t committed = 1;
constexpr std::uint64_t conflict = 2;
constexpr std::uint64_t without_cause = 3;
constexpr std::uint64_t otherwise = 4;

using cell = volatile char*;

struct memory {
  std::size_t page = machine::page_size();
  machine::double_mapping both = machine::map_pages_twice(page_count * page);
  cell first(std::size_t number) const { return static_cast<cell>(both.first) + number * page; }
  cell second(std::size_t number) const { return static_cast<cell>(both.second) + number * page; }
  void touch() const {
    for (std::size_t i = 0; i < page_count; ++i) {
      first(i)[0] = 1;
      second(i)[0] = 1;
    }
  }
};

std::uint64_t outcome_of(attempt_status status) {
  if (status.started()) return committed;
  if (status.cause() == abort_cause::conflict) return conflict;
  return status.cause() == abort_cause::unknown ? without_cause : otherwise;
}

/// The outcome of one attempt. No timer interrupts it.
template <class Body>
std::uint64_t attempt(Body body) {
  const attempt_status status = machine::begin();
  if (status.started()) {
    body();
    machine::end();
  }
  return outcome_of(status);
}

void read(cell at) { static_cast<void>(*at); }

/// What another thread does while an attempt runs.
struct other_thread {
  void (*act)(const memory&);
  const memory& on;
  volatile int stage = 0;

  static void run(void* raw) {
    auto& self = *static_cast<other_thread*>(raw);
    while (self.stage != 1) machine::relax();
    const std::uint64_t until = machine::cycles() + 5'000;
    while (machine::cycles() < until) machine::relax();
    self.act(self.on);
  }
};

/// The outcome of an attempt that does `body` and goes on for a while, in which another thread does `act`.
template <class Body>
std::uint64_t attempt_beside(const memory& on, void (*act)(const memory&), Body body) {
  other_thread other{act, on};
  machine::thread thread;
  if (!thread.start(other_thread::run, &other)) return 0;
  const cell elsewhere = on.first(page_count - 1);  // what is on the stack costs no time
  other.stage = 1;
  const attempt_status status = machine::begin();
  if (status.started()) {
    body();
    for (int i = 0; i < 20'000; ++i) read(elsewhere);
    machine::end();
  }
  thread.join();
  return outcome_of(status);
}

// ---- one memory

void record_conflicts(const memory& on) {
  const auto write_first = [](const memory& with) { *with.first(1) = 7; };
  const auto write_second = [](const memory& with) { *with.second(1) = 7; };
  const auto read_second = [](const memory& with) { read(with.second(1)); };
  txsync_sim_record("first_then_first", attempt_beside(on, write_first, [&] { read(on.first(1)); }));
  txsync_sim_record("first_then_second", attempt_beside(on, write_second, [&] { read(on.first(1)); }));
  txsync_sim_record("second_then_first", attempt_beside(on, write_first, [&] { read(on.second(1)); }));
  txsync_sim_record("written_then_read", attempt_beside(on, read_second, [&] { *on.first(1) = 3; }));
}

/// Whether an attempt has room for so many lines if it uses both addresses of each.
std::uint64_t has_room_for(const memory& on, std::size_t lines, std::size_t line_bytes) {
  return attempt([&] {
    for (std::size_t i = 0; i < lines; ++i) {
      read(on.first(2) + i * line_bytes);
      on.second(2)[i * line_bytes] = 1;
    }
  });
}

/// Whether stores by one address are read by the other, and taken back there by an abort.
bool is_one_memory(const memory& on) {
  *on.first(0) = 3;
  if (*on.second(0) != 3) return false;
  *on.second(0) = 4;
  if (*on.first(0) != 4) return false;
  if (machine::begin().started()) {
    *on.second(0) = 5;
    machine::abort<1>();
  }
  return *on.first(0) == 4;
}

/// The time of a read after the line was brought in by the other address.
std::uint64_t cycles_of_known_line(const memory& on) {
  read(on.first(3) + 512);
  read(on.second(3));  // its page is known
  const std::uint64_t before = machine::cycles();
  read(on.second(3) + 512);
  return machine::cycles() - before;
}

// ---- rights

struct seen_faults {
  unsigned count = 0;
  void* address = nullptr;
  bool write = false;
  bool gives_rights = false;
  std::size_t page = 0;
};

machine::fault_answer note_fault(void* address, bool write, void* raw) {
  auto& seen = *static_cast<seen_faults*>(raw);
  ++seen.count;
  seen.address = address;
  seen.write = write;
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) / seen.page * seen.page;
  if (seen.gives_rights && !machine::protect_pages(reinterpret_cast<void*>(page), seen.page, page_rights::read_write))
    return machine::fault_answer::not_mine;
  return machine::fault_answer::retry;
}

bool protect(cell at, std::size_t page, page_rights rights) {
  return machine::protect_pages(const_cast<char*>(at), page, rights);
}

void record_refusals(const memory& on) {
  seen_faults seen{.page = on.page};
  if (!machine::set_fault_handler(note_fault, &seen)) return;
  bool done = protect(on.second(4), on.page, page_rights::none);
  *on.first(4) = 9;  // the other address has its rights
  txsync_sim_record("faults_of_first", seen.count);
  txsync_sim_record("refused_read", attempt([&] { read(on.second(4) + 24); }));
  txsync_sim_record("faults_of_attempt", seen.count);
  txsync_sim_record("fault_address_is_right", seen.address == const_cast<char*>(on.second(4) + 24) && !seen.write);
  done = protect(on.second(4), on.page, page_rights::read) && done;
  txsync_sim_record("allowed_read", attempt([&] { read(on.second(4)); }));
  txsync_sim_record("refused_write", attempt([&] { *on.second(4) = 1; }));
  txsync_sim_record("faults_of_attempts", seen.count);
  txsync_sim_record("fault_is_a_write", seen.write);
  seen = {.gives_rights = true, .page = on.page};
  txsync_sim_record("refused_once", attempt([&] { *on.second(4) = 2; }));
  txsync_sim_record("second_try", attempt([&] { *on.second(4) = 2; }));
  done = protect(on.second(4), on.page, page_rights::none) && done;
  seen = {.gives_rights = true, .page = on.page};
  *on.second(4) = 5;  // outside attempts, on every machine
  txsync_sim_record("faults_of_plain_write", seen.count);
  txsync_sim_record("plain_write", static_cast<std::uint64_t>(*on.first(4)));
  txsync_sim_record("rights_changed", done);
  static_cast<void>(machine::set_fault_handler(nullptr, nullptr));
}

void record_revocations(const memory& on) {
  const auto revoke = [](const memory& with) {
    static_cast<void>(protect(with.second(6), with.page, page_rights::none));
  };
  // In an order without time the page may be revoked before the attempt uses it.
  seen_faults seen{.gives_rights = true, .page = on.page};
  if (!machine::set_fault_handler(note_fault, &seen)) return;
  const auto give_back = [&] { static_cast<void>(protect(on.second(6), on.page, page_rights::read_write)); };
  txsync_sim_record("revoked_own", attempt_beside(on, revoke, [&] { read(on.second(6)); }));
  give_back();
  txsync_sim_record("revoked_other", attempt_beside(on, revoke, [&] { read(on.second(7)); }));
  give_back();
  static_cast<void>(machine::set_fault_handler(nullptr, nullptr));
}

/// A page that was touched by its first address only.
std::uint64_t untouched_second() {
  const memory fresh;
  *fresh.first(0) = 1;
  return attempt([&] { read(fresh.second(0)); });
}

// ---- unmapping

/// Each address goes alone; the other stays usable, and the memory is new when it is mapped again.
bool unmaps_each_alone() {
  for (const bool second_first : {true, false}) {
    const memory pages;
    *pages.first(0) = 6;
    const std::size_t bytes = page_count * pages.page;
    machine::unmap_pages(second_first ? pages.both.second : pages.both.first, bytes);
    if (*(second_first ? pages.first(0) : pages.second(0)) != 6) return false;
    machine::unmap_pages(second_first ? pages.both.first : pages.both.second, bytes);
    const memory again;
    if (*again.second(0) != 0) return false;
    auto* plain = static_cast<cell>(machine::map_pages(bytes));
    if (*plain != 0) return false;
    machine::unmap_pages(const_cast<char*>(plain), bytes);
  }
  return true;
}

}  // namespace

int main(int, char** arguments) {
  const memory on;
  on.touch();
  txsync_sim_record("is_one_memory", is_one_memory(on));
  record_conflicts(on);
  const auto line_bytes = static_cast<std::size_t>(std::strtoul(arguments[1], nullptr, 10));
  txsync_sim_record("room_for_60", has_room_for(on, 60, line_bytes));
  txsync_sim_record("room_for_100", has_room_for(on, 100, line_bytes));
  txsync_sim_record("known_line_cycles", cycles_of_known_line(on));
  record_refusals(on);
  record_revocations(on);
  txsync_sim_record("untouched_second", untouched_second());
  txsync_sim_record("unmaps_each_alone", unmaps_each_alone());
  return 0;
}
