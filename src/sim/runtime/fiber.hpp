// SPDX-License-Identifier: Apache-2.0
// A thread of the simulated program: a fiber of the one OS thread that simulates. It has a stack in the arena and the
// thread-local data of a parked OS thread. Switching to it means setting the FS base.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout.hpp"
#include "shadow.hpp"

namespace txsync::sim {

/// Virtual time in 1/64 of a cycle, so that the share of a hardware thread's siblings is not lost in rounding.
using ticks = std::uint64_t;
inline constexpr ticks ticks_per_cycle = 64;
inline constexpr ticks never = ~ticks{0};

enum class cause : std::uint8_t;  // status.hpp

enum class thread_state : std::uint8_t {
  unused,
  running,  ///< on its hardware thread
  ready,    ///< waits until its hardware thread is free
  blocked,  ///< waits for another thread, or for a time
  ended
};

/// Up to 8 bytes as they were before an attempt wrote them. The length is in the bits above the address.
struct undo_entry {
  std::uint64_t address_and_length;
  std::uint64_t old;
  std::uintptr_t address() const noexcept { return address_and_length & ((std::uint64_t{1} << 48) - 1); }
  std::size_t length() const noexcept { return address_and_length >> 48; }
};

/// A line of an attempt's read or write set, with the code that brought it in and the offset of its access in the line.
struct tracked_line {
  line_number line;
  std::uint32_t code;
  std::uint32_t offset;
};

struct byte_range {
  std::uintptr_t from;
  std::size_t bytes;
};

/// A lock that the attempt has elided. Others see it as it was; the thread itself sees it as taken.
struct elided_lock {
  std::uintptr_t address;
  unsigned bytes;  ///< 1, 2, 4 or 8
  std::uint64_t outside;
  std::uint64_t inside;
};
inline constexpr unsigned max_elided = 16;

/// Which read lines have left the L1, as far as a machine remembers: one bit stands for many lines.
class read_filter {
 public:
  void clear() noexcept {
    for (std::uint64_t& word : words_) word = 0;
  }
  void add(unsigned index) noexcept { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
  bool has(unsigned index) const noexcept { return (words_[index / 64] >> (index % 64) & 1) != 0; }

 private:
  std::uint64_t words_[4096 / 64] = {};
};

/// What a thread's attempt has done so far. Its lines are also marked in the shadow; these lists are used to unmark
/// them.
struct attempt {
  unsigned depth = 0;  ///< 0: no attempt
  bool suspended = false;
  /// Ended while suspended: its stores are undone, and the thread learns of it when it resumes.
  bool doomed = false;
  cause doomed_by{};
  std::uint8_t doomed_code = 0;
  bool tracks_reads = true;
  bool never_commits = false;  ///< an always-abort attempt
  bool by_prefix = false;      ///< HLE began it
  unsigned elided_count = 0;
  unsigned in_both = 0;      ///< lines in both lists, because they were first read and then written
  std::uintptr_t frame = 0;  ///< stack pointer in begin; everything above it is in stack_copy
  std::uint8_t* stack_copy = nullptr;
  std::size_t stack_copied = 0;
  std::uint64_t exception_state[2] = {};
  int error_number = 0;  ///< errno, which libc writes
  // Members of thread_record that the program's calls change.
  unsigned exit_count = 0;
  void* fault_jump_target = nullptr;
  ticks began = 0;
  elided_lock elided[max_elided] = {};
  growing_list<tracked_line> reads;
  growing_list<tracked_line> writes;
  growing_list<undo_entry> undo;
  growing_list<byte_range> foreign;  ///< in the copied part of the stack: what other threads wrote since
  growing_list<void*> allocated;
  growing_list<void*> freed;
  read_filter left_l1;                 ///< if the machine has such a filter
  growing_list<void*> freed_for_good;  ///< while suspended: freed whatever happens to the attempt
};

/// An access that its page's rights refuse.
struct refused_access {
  std::uintptr_t address = 0;  ///< as the program used it
  bool write = false;
};

/// What a switch reads comes first, on one cache line.
struct alignas(64) thread_record {
  ticks time = 0;
  ticks cycle = ticks_per_cycle;  ///< longer if its core is shared with others
  std::uintptr_t stack_pointer = 0;
  std::uintptr_t thread_pointer = 0;  ///< FS base
  std::uint32_t resume_value = 0;
  std::uint16_t cpu = 0;         ///< its hardware thread
  std::uintptr_t last_code = 0;  ///< return address of the last hook, for reports
  attempt tx;
  refused_access reported{};         ///< has ended its attempt, and the program's handler learns of it; 0: none
  std::uintptr_t last_miss = 0;      ///< the address of its last access that missed the L1
  ticks overlaps_until = 0;          ///< a miss before this time need not wait for it
  std::uint64_t priority = 0;        ///< in orders by priority
  std::uint64_t drain_priority = 0;  ///< of its store buffer
  thread_state state = thread_state::unused;
  bool timed_out = false;  ///< whether its last wait timed out
  std::uint32_t id = 0;
  std::uint32_t creator = 0;  ///< the thread that has started it
  std::uintptr_t stack_low = 0;
  void* fault_jump_target = nullptr;  // a jmp_buf of the program
  std::uintptr_t stack_high = 0;

  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  thread_record* joiner = nullptr;
  thread_record* next = nullptr;  ///< in the queue of its hardware thread, or of a futex
  const void* waits_at = nullptr;
  ticks deadline = never;
  std::uint32_t deadline_slot = 0;
  bool waits_shortly = false;  ///< its deadline is near: in explorations of programs it may come at any step
  bool detached = false;
  bool pinned = false;          ///< by its own call, to the hardware thread that it is on
  bool shows_realtime = false;  ///< what the program sees

  /// The access at whose step it waits, while exploring; no bytes: a call, or none.
  byte_range next_access = {};
  bool next_writes = false;
  // Of program_steps.hpp.
  bool enters_library = false;              ///< it has called the library, which has accessed nothing yet
  std::uint32_t library_depth = 0;          ///< functions of the library that it is in
  std::uint32_t accesses_without_step = 0;  ///< since its last step
  std::uintptr_t library_call = 0;          ///< the program's last call of the library
  // Of held_locks.hpp: what it waits for, if it waits.
  const void* asked_lock = nullptr;
  unsigned asked_how = 0;   ///< bits as of txsync_sim_lock_asked()
  bool calls_lock = false;  ///< it is in a call that takes or gives up a lock
  const thread_record* asked_thread = nullptr;
  const std::uint32_t* asked_semaphore = nullptr;

  struct exit_call {
    void (*function)(void*);
    void* argument;
  };
  exit_call exit_calls[8] = {};
  unsigned exit_count = 0;
};

/// Saves the running context and continues the one saved at `to`. Returns the value of the switch that comes back here.
extern "C" std::uint32_t txsync_sim_switch(std::uintptr_t* save, std::uintptr_t to, std::uint32_t value);

/// Whether this CPU and kernel let programs set the FS base.
bool fs_base_is_ours() noexcept;
inline void set_fs_base(std::uintptr_t base) noexcept { asm volatile("wrfsbase %0" : : "r"(base) : "memory"); }
std::uintptr_t fs_base() noexcept;
/// The thread's errno. libc writes it without a hook.
int& error_number_of(const thread_record& thread) noexcept;

/// Gives `thread` a stack and thread-local data (those of an ended thread, or new ones), and makes it start in `entry`.
void prepare_fiber(thread_record& thread, void (*entry)()) noexcept;

}  // namespace txsync::sim
