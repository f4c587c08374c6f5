// SPDX-License-Identifier: Apache-2.0
// The one simulated machine of this process. There is one OS thread, so nothing here is atomic.
#pragma once

#include <cstdint>

#include "../model.hpp"
#include "../protocol.hpp"
#include "caches.hpp"
#include "fiber.hpp"
#include "random.hpp"
#include "shadow.hpp"

namespace txsync::sim {

/// Lines that the running thread may access at once: it has looked at them already, and no other thread has come since.
/// Direct-mapped by line number. An entry has the epoch, the part of the line number beyond the index, and a bit for
/// writing.
///  - An entry for reading means: the line is in the core's L1, and no attempt has written it, except perhaps this one.
///  - An entry for writing also means: no other hardware thread has an entry or a copy, or has read it in an attempt.
/// While an attempt runs, an entry also means that the line is in its read or write set.
class line_filter {
 public:
  bool may_read(line_number line) const noexcept { return (at(line) ^ key(line)) <= write_bit; }
  bool may_write(line_number line) const noexcept { return at(line) == (key(line) | write_bit); }
  void allow(line_number line, bool write) noexcept {
    entries_[line % entries] = key(line) | static_cast<std::uint32_t>(write);
  }
  void only_read(line_number line) noexcept {
    if (may_read(line)) allow(line, false);
  }
  /// Removes a line; returns whether it was there.
  bool forget(line_number line) noexcept {
    const bool there = may_read(line);
    if (there) entries_[line % entries] = 0;
    return there;
  }
  /// Entries of another epoch are invalid, so this costs nothing when an attempt begins.
  void clear() noexcept {
    epoch_ += first_epoch;
    if (epoch_ != 0) return;
    for (std::uint32_t& entry : entries_) entry = 0;
    epoch_ = first_epoch;
  }

 private:
  static constexpr unsigned index_bits = 9;
  static constexpr unsigned entries = 1u << index_bits;
  static constexpr std::uint32_t write_bit = 1;
  static constexpr std::uint32_t first_epoch = 1u << (program_line_bits - index_bits + 1);
  static_assert(first_epoch <= 1u << 24);  // or the filter is emptied too often

  std::uint32_t key(line_number line) const noexcept { return epoch_ | line >> index_bits << 1; }
  std::uint32_t at(line_number line) const noexcept { return entries_[line % entries]; }

  std::uint32_t epoch_ = first_epoch;
  std::uint32_t entries_[entries] = {};
};

struct hardware_thread {
  line_filter plain;
  line_filter in_attempt;
  thread_record* running = nullptr;
  thread_record* ready_first = nullptr;
  thread_record* ready_last = nullptr;
  ticks free_since = 0;
  ticks next_timer = never;
  ticks slice_end = never;
  /// The timer, or the end of the time slice if another thread waits for the hardware thread.
  ticks interruption = never;
  std::uint16_t number = 0;
  std::uint16_t core = 0;
  std::uint16_t socket = 0;
  std::uint16_t place_plus_one = 0;  ///< in the schedule; 0: never used yet
  bool was_used = false;             ///< it is in the list of its core

  unsigned place() const noexcept { return place_plus_one - 1u; }
};

struct runtime_state {
  // What each access reads.
  thread_record* charged = nullptr;  ///< the running thread; null if accesses cost nothing and change no cache
  /// The filter of the running thread; null if every access is looked at (oracle, exploring).
  line_filter* filter = nullptr;
  ticks limit = 0;                   ///< until then, the running thread goes on without asking
  ticks hit_limit = 0;               ///< until then, it goes on with accesses that concern no other thread
  ticks access_cost = 0;             ///< of a hit in the L1, with the running thread's share of its core
  thread_record* current = nullptr;  ///< the running thread; null outside the simulation
  unsigned line_shift = 6;
  unsigned page_shift = 12;
  bool logs_writes = false;          ///< the running thread is in an attempt
  bool by_time_alone = false;        ///< only time decides who runs, and nothing is checked on the way
  std::uint64_t slow_accesses = 0;   ///< accesses that the filter did not answer
  std::uint64_t hits = 0;            ///< accesses that the filter answered
  std::uint64_t free_of_charge = 0;  ///< accesses that cost nothing

  machine_model model;
  shadow lines;
  caches memory;
  hardware_thread* cpus = nullptr;
  unsigned cpu_count = 0;
  unsigned variant = 0;           ///< given to the program, which chooses by it
  unsigned shown_cpus = 0;        ///< what the program sees; 0: cpu_count
  std::uint32_t shown_forks = 0;  ///< what the program sees
  bool waits_for_ever = false;    ///< waits on a word ignore their deadlines
  thread_record* threads = nullptr;
  unsigned thread_count = 0;      ///< how many records were ever used
  unsigned live_threads = 0;      ///< have begun and not ended
  unsigned unjoined_threads = 0;  ///< have begun, and nobody has waited for their end yet; but the first one
  unsigned attempts = 0;          ///< of all threads: those that have begun and not ended

  schedule_order scheduling = schedule_order::virtual_time;
  ticks slack = 0;
  bool uncharged_set_up = false;   ///< as requested
  bool uncharged = false;          ///< now: one thread sets up
  bool looks_unseen = false;       ///< now: an assertion looks at memory
  ticks overlaps_before_look = 0;  ///< the thread's overlaps_until when the assertion began to look
  bool wants_trace = false;
  bool traces = false;  ///< each step goes into the records
  bool oracle = false;
  unsigned probes = 0;             ///< bits of `probe`
  bool store_buffers = false;      ///< exploring with store_buffer.hpp
  bool follows_program = false;    ///< exploring: the steps are those of program_steps.hpp
  bool looks_at_accesses = false;  ///< exploring: likewise, or in an order that asks which accesses come next
  bool explores_itself = false;    ///< exploring: the program runs a part of itself in many schedules
  bool counts_uses = false;        ///< exploring: accesses at steps are counted (uniform_walk.hpp)
  bool guards_pages = false;       ///< some page has ever been less than readable and writable
  seeded_random random;
  std::uint64_t seed = 1;
  std::uint64_t switches = 0;
  std::uint64_t steps = 0;
  std::uint64_t last_step = ~std::uint64_t{0};  ///< a run that goes beyond it is a livelock
  std::uint64_t schedule_seed = 0;
  ticks time_limit = never;     ///< a program that runs beyond it ends, and says where its threads are
  std::uint64_t max_steps = 0;  ///< how many steps a run or a schedule may have; 0: no bound
  ticks latest = 0;             ///< the latest time at which a thread has ended
};

extern runtime_state state;

inline void set_current(thread_record* thread) noexcept {
  state.current = thread;
  state.charged = state.uncharged ? nullptr : thread;
}

inline void charge_from_now_on() noexcept {
  state.uncharged = false;
  set_current(state.current);
}

/// Whether every access is a scheduling point and costs the same: what is explored does not depend on caches.
inline bool exploring() noexcept { return state.scheduling != schedule_order::virtual_time; }
/// The seed of the current schedule, if a run has many.
inline std::uint64_t present_seed() noexcept { return exploring() ? state.schedule_seed : state.seed; }

inline ticks cycles(std::uint64_t count) noexcept { return count * ticks_per_cycle; }

inline hardware_thread& cpu_of(const thread_record& thread) noexcept { return state.cpus[thread.cpu]; }

}  // namespace txsync::sim
