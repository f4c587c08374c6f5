// SPDX-License-Identifier: Apache-2.0
#include "program_steps.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "failure.hpp"
#include "granules.hpp"
#include "heap_guard.hpp"
#include "records.hpp"
#include "schedule.hpp"
#include "systematic.hpp"

// Where the library's code begins, behind the program's own (txsync-cxx.sh). Never called.
extern "C" [[gnu::weak]] void txsync_sim_library_begin();
// The same for its data, with and without values.
extern "C" [[gnu::weak]] char txsync_sim_library_data_begin;
extern "C" [[gnu::weak]] char txsync_sim_library_bss_begin;
// The linker's: the ends of code, and of both kinds of data.
extern "C" const char etext;
extern "C" const char edata;
extern "C" const char end;

namespace txsync::sim {

namespace {

/// A thread that spins on memory that nobody else has used yet has to let others go on.
constexpr std::uint32_t max_accesses_without_step = 4096;
constexpr std::size_t max_users = std::size_t{1} << 24;

struct user {
  std::uint32_t code;
  std::uint32_t next;
};

constinit std::uintptr_t library_begin = 0;
constinit bool learning = false;
constinit growing_list<user> users;               // the first one stands for none
constinit std::uint64_t* shared_codes = nullptr;  // one bit for each byte of code
constinit std::size_t code_end = 0;
// Of several schedules in this process, what the present one has to be cleared of.
constinit bool runs_own_schedule = false;
constinit bool forgets = false;
constinit growing_list<std::uint32_t> touched_granules;
constinit growing_list<std::uint32_t> marked_codes;
constexpr std::size_t max_touched = std::size_t{1} << 24;
constexpr std::size_t max_marked = std::size_t{1} << 20;

bool is_shared_code(std::uintptr_t code) noexcept {
  return code < code_end && (shared_codes[code / 64] >> (code % 64) & 1) != 0;
}
void mark(std::uintptr_t code) noexcept {
  if (code >= code_end || is_shared_code(code)) return;
  if (forgets && !marked_codes.push(static_cast<std::uint32_t>(code))) return;
  shared_codes[code / 64] |= std::uint64_t{1} << (code % 64);
}

void remember_user(granule& at, std::uintptr_t code) noexcept {
  for (std::uint32_t i = at.users; i != 0; i = users[i].next) {
    if (users[i].code == code) return;
  }
  if (!users.push({static_cast<std::uint32_t>(code), at.users})) return mark(code);  // no room to wait for another
  at.users = static_cast<std::uint32_t>(users.size() - 1);
}

/// Whether others use the memory, too, and somebody writes it.
bool touch(const thread_record& thread, granule& at, bool write, std::uintptr_t code) noexcept {
  if (at.first_plus_one == 0) {
    if (state.explores_itself && !touched_granules.push(number_of(at)))
      fail("a schedule uses more than 128 MiB of memory; allowed: less");
    at.first_plus_one = static_cast<std::uint16_t>(thread.id + 1);
  }
  at.several = at.several || at.first_plus_one != thread.id + 1;
  at.written = at.written || write;
  if (!at.several || !at.written) {
    if (learning) remember_user(at, code);
    return false;
  }
  for (; at.users != 0; at.users = users[at.users].next) mark(users[at.users].code);
  mark(code);
  return true;
}

bool touch_all(const thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write,
               std::uintptr_t code) noexcept {
  if (state.unjoined_threads == 0 || bytes == 0 || address + bytes > program_end) return false;
  if (state.explores_itself && !runs_own_schedule) return false;
  bool shared = false;
  for (std::uintptr_t at = address; at < address + bytes; at = after_granule(at)) {
    shared = touch(thread, granule_at(at), write, code) || shared;
  }
  return shared;
}

/// The file has the numbers in words of this machine.
void read_shared_codes(const char* path) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  std::uint64_t codes[512];
  ssize_t size = 0;
  while (file >= 0 && (size = read(file, codes, sizeof codes)) > 0) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(size) / sizeof *codes; ++i) mark(codes[i]);
  }
  if (file < 0 || size < 0) {
    line_text line;
    line << "cannot read the shared instructions in " << path;
    fail(line);
  }
  close(file);
}

}  // namespace

void follow_program(bool learns, bool races_are_faults) noexcept {
  library_begin = reinterpret_cast<std::uintptr_t>(&txsync_sim_library_begin);
  learning = learns;
  code_end = reinterpret_cast<std::uintptr_t>(&etext) / 64 * 64 + 64;
  shared_codes = static_cast<std::uint64_t*>(reserve(0, code_end / 8, "shared instructions"));
  reserve(granules_begin, program_end / granule_bytes * sizeof(granule), "users of memory");
  users.reserve_for(max_users, "users of memory");
  users.push({0, 0});
  if (const char* path = std::getenv(option::shared_codes)) read_shared_codes(path);
  set_up_races(races_are_faults ? nullptr : mark_races);
  state.follows_program = true;
  state.looks_at_accesses = true;
}

void begin_program_schedule(bool learns, bool learns_for_others) noexcept {
  touched_granules.reserve_for(max_touched, "used memory");
  marked_codes.reserve_for(max_marked, "instructions of a schedule");
  for (const std::uint32_t number : touched_granules) {
    granule& at = granule_of_number(number);
    at.first_plus_one = 0;
    at.several = at.written = false;
    at.users = 0;
  }
  touched_granules.clear();
  for (const std::uint32_t code : marked_codes) shared_codes[code / 64] &= ~(std::uint64_t{1} << (code % 64));
  marked_codes.clear();
  users.shrink(1);
  learning = learns;
  forgets = !learns_for_others;
  runs_own_schedule = true;
  thread_record& self = *state.current;
  self.enters_library = false;
  self.library_depth = 0;
  self.accesses_without_step = 0;
}

void end_program_schedules() noexcept {
  begin_program_schedule(false, false);
  runs_own_schedule = false;
  for (std::size_t i = 0; i < code_end / 64; ++i) shared_codes[i] = 0;
}

bool is_library_data(std::uintptr_t address) noexcept {
  const auto is_between = [&](const char* from, const char* to) noexcept {
    return from != nullptr && address >= reinterpret_cast<std::uintptr_t>(from) &&
           address < reinterpret_cast<std::uintptr_t>(to);
  };
  return is_between(&txsync_sim_library_data_begin, &edata) || is_between(&txsync_sim_library_bss_begin, &end);
}

bool is_library_code(std::uintptr_t code) noexcept {
  TXSYNC_SIM_ASSERT(state.follows_program, "code is told apart where a program is followed");
  return code >= library_begin;
}

bool is_step_of_program(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write,
                        std::uintptr_t code, bool is_atomic) noexcept {
  if (code >= library_begin) return std::exchange(thread.enters_library, false);
  thread.library_depth = 0;
  thread.enters_library = false;
  const bool synchronizes = is_atomic || !finds_races();
  const bool shared =
      (synchronizes && touch_all(thread, address, bytes, write, code)) || is_shared_code(code) || learning;
  if (!shared && ++thread.accesses_without_step < max_accesses_without_step) return false;
  thread.accesses_without_step = 0;
  return true;
}

bool is_step_of_call(thread_record& thread, std::uintptr_t code) noexcept {
  if (std::exchange(thread.enters_library, false)) return true;
  return thread.library_depth == 0 && (learning || code < library_begin || is_shared_code(code));
}

void find_faults(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write, std::uintptr_t code,
                 const atomic_access& how) noexcept {
  touches_in_segment(address, bytes, write);
  if (thread.tx.depth == 0) check_usable(address, bytes, write);
  if (code >= library_begin) return synchronize(thread, address, how);
  check_race(thread, address, bytes, write, code != 0 ? code : thread.last_code, how);
}

void touches_for_program(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  const atomic_access how = std::exchange(next_access_is, {});
  find_faults(thread, address, bytes, write, thread.library_depth == 0 ? 0 : library_begin, how);
  if (thread.library_depth == 0 && (how.is_atomic || !finds_races()))
    touch_all(thread, address, bytes, write, thread.last_code);
}

void mark_races(std::uintptr_t code, std::uintptr_t other) noexcept {
  mark(code);
  mark(other);
}

void pass_without_step() noexcept {
  if (++state.steps > state.last_step) report_livelock();
}

void enter_function(std::uintptr_t caller, std::uintptr_t code) noexcept {
  if (state.current == nullptr) return;
  thread_record& thread = *state.current;
  if (code < library_begin) {
    thread.library_depth = 0;
    thread.enters_library = false;
  } else if (caller < library_begin) {
    thread.library_depth = 1;
    thread.enters_library = true;
    thread.library_call = caller;
  } else if (thread.library_depth != 0) {
    ++thread.library_depth;
  }
}

void leave_function(std::uintptr_t code) noexcept {
  if (state.current == nullptr || code < library_begin) return;
  thread_record& thread = *state.current;
  if (thread.library_depth == 0) return;
  --thread.library_depth;
  if (thread.library_depth == 0) thread.enters_library = false;
}

void write_shared_codes() noexcept {
  if (!learning) return;
  for (std::size_t i = 0; i < code_end / 64; ++i) {
    for (std::uint64_t rest = shared_codes[i]; rest != 0; rest &= rest - 1) {
      write_record(shared_instruction{i * 64 + static_cast<unsigned>(__builtin_ctzll(rest))});
    }
  }
}

}  // namespace txsync::sim
