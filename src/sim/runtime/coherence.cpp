// SPDX-License-Identifier: Apache-2.0
#include "coherence.hpp"

#include "attempts.hpp"
#include "co_resident_ways.hpp"
#include "pages.hpp"
#include "probes.hpp"
#include "schedule.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

template <class Function>
[[gnu::always_inline]] inline void for_cpus_of(unsigned core, Function function) noexcept {
  const core_caches& own = state.memory.cores[core];
  for (unsigned lane = 0; lane < own.used_count; ++lane) function(*own.used[lane]);
}

bool runs_attempt(const hardware_thread& cpu) noexcept { return cpu.running != nullptr && cpu.running->tx.depth != 0; }

unsigned socket_of(unsigned core) noexcept { return core / state.model.core_cores; }

/// Removes the line from the filters of the core's hardware threads. Returns whether it was in one of them.
bool forget_in_filters(unsigned core, line_number line) noexcept {
  bool used = false;
  for_cpus_of(core, [&](hardware_thread& cpu) {
    used |= cpu.plain.forget(line);
    used |= cpu.in_attempt.forget(line);
  });
  return used;
}

void only_read_in_filters(unsigned core, line_number line) noexcept {
  for_cpus_of(core, [&](hardware_thread& cpu) {
    cpu.plain.only_read(line);
    cpu.in_attempt.only_read(line);
  });
}

/// How a line came into an attempt's set.
tracked_line found_in(growing_list<tracked_line>& set, line_number line) noexcept {
  for (tracked_line& entry : set) {
    if (entry.line == line) return entry;
  }
  return {line, 0, 0};
}

std::uintptr_t address_of(const tracked_line& entry) noexcept {
  return entry.code != 0 ? state.lines.address_of(entry.line) + entry.offset : 0;
}

/// Why an access ends the thread's own attempt. One access is processed at a time.
constinit abort_reason own_end{};

/// One access while it is processed. An abort of the thread's own attempt is kept in `own_end` until all metadata is
/// right.
struct access {
  thread_record& thread;
  line_number line;
  std::uintptr_t address;
  bool write;
  line_record& record;
  unsigned cpu;
  unsigned core;
  bool ends_own = false;
  bool page_is_entered = false;

  void end_own(const abort_reason& reason) noexcept {
    if (!ends_own) own_end = reason;
    ends_own = true;
  }
};

void end_attempt_on(access& now, unsigned cpu, const abort_reason& reason) noexcept {
  if (cpu == now.cpu) {
    now.end_own(reason);
  } else if (thread_record* victim = state.cpus[cpu].running; victim != nullptr && victim->tx.depth != 0) {
    abort_other(*victim, reason);
  }
}

// ---- conflicts

void conflict_with(access& now, unsigned other_cpu, bool other_wrote) noexcept {
  thread_record* other = state.cpus[other_cpu].running;
  if (other == nullptr || other->tx.depth == 0) return;
  const tracked_line theirs = found_in(other_wrote ? other->tx.writes : other->tx.reads, now.line);
  const auto here = static_cast<std::uint32_t>(now.thread.last_code);
  if (state.model.htm_requester_wins != 0 || now.thread.tx.depth == 0 || now.thread.tx.suspended) {
    abort_other(*other, {.why = cause::conflict,
                         .address = now.address,
                         .own_address = address_of(theirs),
                         .own_code = theirs.code,
                         .other_code = here});
  } else {
    now.end_own({.why = cause::conflict,
                 .address = address_of(theirs),
                 .own_address = now.address,
                 .own_code = here,
                 .other_code = theirs.code});
  }
}

/// A write of which another core must be told may look like a write to a line that an attempt has read.
void conflict_by_filter(access& now) noexcept {
  if (now.record.owner_plus_one == now.core + 1) return;
  const unsigned index = now.line % state.model.htm_read_filter;
  for (unsigned cpu = 0; cpu < state.cpu_count; ++cpu) {
    const hardware_thread& other = state.cpus[cpu];
    if (other.core != now.core && runs_attempt(other) && other.running->tx.left_l1.has(index))
      conflict_with(now, cpu, false);
  }
}

/// Ends the attempts that have the line and that this access breaks. What an attempt has written, no other thread may
/// see, even if the machine detects no conflicts.
[[gnu::always_inline]] inline void end_conflicting_attempts(access& now) noexcept {
  const unsigned writer = now.record.writer_plus_one;
  if (writer != 0 && writer - 1 != now.cpu) conflict_with(now, writer - 1, true);
  if (!now.write || state.model.htm_conflicts == 0) return;
  state.lines.readers(now.record).for_each([&](unsigned reader) {
    if (reader != now.cpu) conflict_with(now, reader, false);
  });
  if (state.model.htm_read_filter != 0) conflict_by_filter(now);
}

// ---- what leaves caches

/// Whether attempts run on a core. If none does, no line is tracked there.
bool has_attempts(unsigned core) noexcept {
  bool any = false;
  for_cpus_of(core, [&](hardware_thread& cpu) { any = any || runs_attempt(cpu); });
  return any;
}

/// A line leaves a core's L1, because that cache or another one was full. Attempts that track it there lose it.
void leave_l1(access& now, unsigned core, line_number line, overflow_kind overflow = overflow_kind::other) noexcept {
  forget_in_filters(core, line);
  if (!has_attempts(core)) return;
  line_record& record = state.lines.record(line);
  const std::uintptr_t address = state.lines.address_of(line);
  const unsigned writer = record.writer_plus_one;
  if (writer != 0 && state.cpus[writer - 1].core == core && state.model.htm_write_in_l1 != 0) {
    end_attempt_on(now, writer - 1, {.why = cause::capacity_write, .overflow = overflow, .address = address});
  }
  if (state.model.htm_read_loss == 0 && state.model.htm_read_filter == 0) return;
  const bit_set readers = state.lines.readers(record);
  for_cpus_of(core, [&](hardware_thread& own) {
    const unsigned cpu = own.number;
    if (!readers.has(cpu)) return;
    if (state.model.htm_read_filter != 0) own.running->tx.left_l1.add(line % state.model.htm_read_filter);
    if (state.model.htm_read_loss != 0 && state.random.below(1'000'000) < state.model.htm_read_loss) {
      const overflow_kind in_set =
          overflow == overflow_kind::l1_set ? overflow_kind::l1_set_of_reads : overflow_kind::other;
      end_attempt_on(now, cpu, {.why = cause::capacity_read, .overflow = in_set, .address = address});
    }
  });
}

void fill_last_level(access& now, unsigned socket, line_number line) noexcept;

/// A line leaves all caches of a core.
void leave_core(access& now, unsigned core, line_number line) noexcept {
  line_record& record = state.lines.record(line);
  state.lines.copies(record).remove(core);
  if (record.owner_plus_one == core + 1) record.owner_plus_one = 0;
  // A last level that is not inclusive takes what the private caches drop.
  if (state.model.l3_inclusive == 0) fill_last_level(now, socket_of(core), line);
}

bool written_in_attempt_on(unsigned core, line_number line) noexcept {
  const unsigned writer = state.lines.record(line).writer_plus_one;
  return writer != 0 && state.cpus[writer - 1].core == core;
}

void fill_l1(access& now) noexcept {
  core_caches& own = state.memory.cores[now.core];
  const bool attempts = has_attempts(now.core);
  // Whether a full set drops another line instead of this one. A line in use gets only one second chance, unless it is
  // used again.
  const std::uint64_t left = own.l1.insert(now.line, [&](line_number line) {
    return (attempts && written_in_attempt_on(now.core, line)) || forget_in_filters(now.core, line);
  });
  if (left == tag_array::nothing_left) return;
  if (attempts)
    leave_l1(now, now.core, static_cast<line_number>(left), overflow_kind::l1_set);  // otherwise it is in no filter
  if (!own.l2.exists()) leave_core(now, now.core, static_cast<line_number>(left));
}

void fill_l2(access& now) noexcept {
  core_caches& own = state.memory.cores[now.core];
  if (!own.l2.exists()) return;
  const std::uint64_t left = own.l2.insert(now.line, [&](line_number line) { return own.l1.has(line); });
  if (left == tag_array::nothing_left) return;
  const auto line = static_cast<line_number>(left);
  if (own.l1.has(line)) {
    own.l1.remove(line);
    leave_l1(now, now.core, line);
  }
  leave_core(now, now.core, line);
}

/// A line leaves an inclusive last level, and with it all private caches of the socket.
void leave_socket(access& now, unsigned socket, line_number line) noexcept {
  line_record& record = state.lines.record(line);
  state.lines.copies(record).for_each([&](unsigned core) {
    if (socket_of(core) != socket) return;
    core_caches& caches = state.memory.cores[core];
    if (caches.l2.exists()) caches.l2.remove(line);
    if (caches.l1.has(line)) {
      caches.l1.remove(line);
      leave_l1(now, core, line);
    }
    leave_core(now, core, line);
  });
}

void fill_last_level(access& now, unsigned socket, line_number line) noexcept {
  tag_array& level = state.memory.last_level[socket];
  if (!level.exists() || level.use(line)) return;
  const bool inclusive = state.model.l3_inclusive != 0;
  const std::uint64_t left = level.insert(
      line, [&](line_number other) { return inclusive && !state.lines.copies(state.lines.record(other)).empty(); });
  if (left != tag_array::nothing_left && inclusive) leave_socket(now, socket, static_cast<line_number>(left));
}

// ---- coming and going between cores

/// Removes all other copies of a line that is about to be written. Returns the cycles until the last core has answered.
unsigned take_from_others(access& now) noexcept {
  unsigned cost = 0;
  const bit_set copies = state.lines.copies(now.record);
  copies.for_each([&](unsigned core) {
    if (core == now.core) return;
    const bool near = socket_of(core) == socket_of(now.core);
    const unsigned way = near ? state.model.memory_dirty_core : state.model.memory_dirty_socket;
    if (way > cost) cost = way;
    core_caches& caches = state.memory.cores[core];
    caches.l1.remove(now.line);
    if (caches.l2.exists()) caches.l2.remove(now.line);
    forget_in_filters(core, now.line);
    copies.remove(core);
  });
  return cost;
}

/// The cycles to fetch the line from the nearest place that has it.
unsigned fetch_cost(access& now) noexcept {
  const unsigned socket = socket_of(now.core);
  tag_array& level = state.memory.last_level[socket];
  const bool in_last_level = level.exists() && level.use(now.line);
  if (const unsigned owner = now.record.owner_plus_one; owner != 0) {
    return socket_of(owner - 1) == socket ? state.model.memory_dirty_core : state.model.memory_dirty_socket;
  }
  if (in_last_level) return state.model.l3_hit;
  bool in_socket = false;
  state.lines.copies(now.record).for_each([&](unsigned core) { in_socket = in_socket || socket_of(core) == socket; });
  if (in_socket) return state.model.memory_dirty_core;
  const page_record& page = page_of(now.address);
  const bool local = page.home_plus_one == 0 || page.home_plus_one == socket + 1;
  return local ? state.model.memory_local : state.model.memory_remote;
}

unsigned bring_from_outside(access& now) noexcept {
  const bit_set copies = state.lines.copies(now.record);
  const unsigned cost = fetch_cost(now);
  if (const unsigned owner = now.record.owner_plus_one; owner != 0) {
    only_read_in_filters(owner - 1, now.line);
    now.record.owner_plus_one = 0;
  }
  const bool alone = copies.empty();
  copies.add(now.core);
  if (alone) now.record.owner_plus_one = static_cast<std::uint16_t>(now.core + 1);
  if (state.model.l3_inclusive != 0) fill_last_level(now, socket_of(now.core), now.line);
  fill_l2(now);
  fill_l1(now);
  return cost;
}

/// Brings the line into the core's caches. Returns the cycles.
[[gnu::always_inline]] inline unsigned bring(access& now) noexcept {
  core_caches& own = state.memory.cores[now.core];
  if (!state.lines.copies(now.record).has(now.core)) return bring_from_outside(now);
  if (own.l1.use(now.line)) return 0;
  if (own.l2.exists()) own.l2.use(now.line);
  fill_l1(now);
  return state.model.l2_hit;
}

/// Updates the core's other hardware threads: they share its caches, but not what its filter promises.
[[gnu::always_inline]] inline void tell_siblings(access& now) noexcept {
  if (state.memory.cores[now.core].used_count == 1) return;
  for_cpus_of(now.core, [&](hardware_thread& cpu) {
    if (cpu.number == now.cpu) return;
    if (now.write) {
      cpu.plain.forget(now.line);
      cpu.in_attempt.forget(now.line);
    } else {
      cpu.plain.only_read(now.line);
      cpu.in_attempt.only_read(now.line);
    }
  });
}

// ---- the attempt's own sets

bool sibling_entries_full(access& now) noexcept {
  std::size_t used = 0;
  for_cpus_of(now.core, [&](hardware_thread& cpu) {
    if (runs_attempt(cpu)) used += entries_of(cpu.running->tx);
  });
  return used >= state.model.htm_entries;
}

tracked_line tracked(const access& now) noexcept {
  return {now.line, static_cast<std::uint32_t>(now.thread.last_code),
          static_cast<std::uint32_t>(now.address - state.lines.address_of(now.line))};
}

abort_reason no_room(const access& now, cause why, overflow_kind overflow) noexcept {
  return {.why = why,
          .overflow = overflow,
          .address = now.address,
          .own_code = static_cast<std::uint32_t>(now.thread.last_code)};
}

void track_write(access& now) noexcept {
  if (now.record.writer_plus_one == now.cpu + 1) return;
  attempt& tx = now.thread.tx;
  const bool has_entry = state.model.htm_reads_in_entries != 0 && state.lines.readers(now.record).has(now.cpu);
  if (state.model.htm_entries != 0 && !has_entry && sibling_entries_full(now))
    return now.end_own(no_room(now, cause::capacity_write, overflow_kind::entries));
  if (!tx.writes.push(tracked(now))) return now.end_own(no_room(now, cause::capacity_write, overflow_kind::other));
  if (has_entry) ++tx.in_both;
  now.record.writer_plus_one = static_cast<std::uint16_t>(now.cpu + 1);
  if (set_is_too_small(now.thread, now.line))
    now.end_own(no_room(now, cause::capacity_write, overflow_kind::rest_of_l1_set));
}

[[gnu::always_inline]] inline void track_read(access& now) noexcept {
  const bit_set readers = state.lines.readers(now.record);
  attempt& tx = now.thread.tx;
  if (!tx.tracks_reads || readers.has(now.cpu) || now.record.writer_plus_one == now.cpu + 1) return;
  const machine_model& model = state.model;
  if (model.htm_entries != 0 && model.htm_reads_in_entries != 0 && sibling_entries_full(now))
    return now.end_own(no_room(now, cause::capacity_read, overflow_kind::entries));
  if (model.htm_read_limit != 0 && tx.reads.size() >= model.htm_read_limit)
    return now.end_own(no_room(now, cause::capacity_read, overflow_kind::reads));
  if (!tx.reads.push(tracked(now))) return now.end_own(no_room(now, cause::capacity_read, overflow_kind::other));
  readers.add(now.cpu);
}

}  // namespace

namespace {

[[gnu::always_inline]] inline void track(access& now) noexcept {
  attempt& tx = now.thread.tx;
  if (state.probes != 0 && tx.depth != 0 && !tx.suspended && !now.ends_own) {
    const probed answer = probe_access(now.thread, now.line, now.write);
    if (answer.ends) now.end_own({.why = answer.why, .address = now.address});
    if (!answer.watched) return;
  }
  if (tx.depth != 0 && !tx.suspended && !now.ends_own) now.write ? track_write(now) : track_read(now);
}

/// Brings in a line for the prefetcher. It takes nothing from a core that has the line for writing, and nothing from an
/// attempt.
void bring_ahead(access& now, line_number line) noexcept {
  line_record& record = state.lines.record(line);
  const bit_set copies = state.lines.copies(record);
  const std::uintptr_t address = state.lines.address_of(line);
  if (record.owner_plus_one != 0 || record.writer_plus_one != 0 || copies.has(now.core)) return;
  if (page_of(address).home_plus_one == 0) return;
  access ahead{now.thread, line, address, false, record, now.cpu, now.core, now.ends_own};
  if (copies.empty()) record.owner_plus_one = static_cast<std::uint16_t>(now.core + 1);
  copies.add(now.core);
  if (state.model.l3_inclusive != 0) fill_last_level(ahead, socket_of(now.core), line);
  fill_l2(ahead);
  now.ends_own = ahead.ends_own;
}

void prefetch_stream(access& now) noexcept {
  core_caches& own = state.memory.cores[now.core];
  if (!own.streams.exists() || !own.l2.exists()) return;
  prefetcher::lines wanted = own.streams.follow(now.line);
  for (; wanted.count != 0; --wanted.count) {
    bring_ahead(now, wanted.first);
    wanted.first += static_cast<line_number>(wanted.step);
  }
}

/// Whether the address of a miss may come from the data of the miss before it. That line then contains a pointer to the
/// address, or to a little before it. Pointers that are computed are not recognised.
bool depends_on_last_miss(const access& now) noexcept {
  constexpr std::uintptr_t max_offset = 512;
  const std::uintptr_t last = now.thread.last_miss;
  if (last < arena_begin || last >= arena_end) return false;
  const std::uintptr_t bytes = std::uintptr_t{1} << state.line_shift;
  const auto* words = reinterpret_cast<const std::uintptr_t*>(last & ~(bytes - 1));
  // Without a branch for each word: no CPU could predict which word it is.
  bool found = false;
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) found |= now.address - words[i] < max_offset;
  return found;
}

/// Misses that need not wait for each other share the time of one (memory-level parallelism).
unsigned hidden_by_overlap(access& now, unsigned cost) noexcept {
  thread_record& thread = now.thread;
  const bool overlaps = thread.time < thread.overlaps_until && !depends_on_last_miss(now);
  if (overlaps) cost = (cost + state.model.memory_overlap - 1) / state.model.memory_overlap;
  thread.last_miss = now.address;
  return cost;
}

/// Does the access through all caches. False if it does not happen, because an attempt that has the line has won.
[[gnu::always_inline]] inline bool move_line(access& now) noexcept {
  if (!now.page_is_entered) enter_page(now.thread, now.address);
  end_conflicting_attempts(now);
  if (now.ends_own) return false;
  unsigned cost = bring(now);
  if (cost != 0) prefetch_stream(now);
  if (now.write && now.record.owner_plus_one != now.core + 1) {
    const unsigned taken = take_from_others(now);  // at the same time as the line comes
    if (taken > cost) cost = taken;
    now.record.owner_plus_one = static_cast<std::uint16_t>(now.core + 1);
  }
  tell_siblings(now);
  if (cost != 0) cost = hidden_by_overlap(now, cost);
  charge(now.thread, state.model.core_access + cost);
  if (cost != 0) now.thread.overlaps_until = now.thread.time + cycles(state.model.memory_window);
  track(now);
  return true;
}

/// Ends a suspended attempt whose thread writes what the attempt has read or written (Power ISA: self-induced
/// conflict).
void end_self_induced(const access& now) noexcept {
  if (now.record.writer_plus_one != now.cpu + 1 && !state.lines.readers(now.record).has(now.cpu)) return;
  end_own_attempt({.why = cause::conflict, .address = now.address, .own_address = now.address});
}

}  // namespace

namespace {

/// For accesses without a filter: exploring, with the oracle, or while an attempt is suspended.
[[gnu::noinline]] void slow_access_unfiltered(access& now) noexcept {
  if (now.thread.tx.suspended && now.write) end_self_induced(now);
  if (exploring()) {
    end_conflicting_attempts(now);
    charge(now.thread, 1);
    track(now);
  } else {
    static_cast<void>(move_line(now));
  }
  if (now.ends_own) end_own_attempt(own_end);
}

}  // namespace

template <bool write>
void slow_access(thread_record& thread, line_number line, std::uintptr_t address, bool page_is_entered) noexcept {
  ++state.slow_accesses;
  hardware_thread& cpu = cpu_of(thread);
  access now{thread, line, address, write, state.lines.record(line), thread.cpu, cpu.core};
  now.page_is_entered = page_is_entered;
  if (state.filter == nullptr) return slow_access_unfiltered(now);
  // What the thread may do with the line outside attempts, it may also do inside; only the attempt does not have it
  // yet.
  if (write ? cpu.plain.may_write(line) : cpu.plain.may_read(line)) {
    thread.time += state.access_cost;
    track(now);
  } else if (move_line(now)) {
    cpu.plain.allow(line, write);
  }
  if (now.ends_own) end_own_attempt(own_end);
  state.filter->allow(line, write);
}
template void slow_access<false>(thread_record&, line_number, std::uintptr_t, bool) noexcept;
template void slow_access<true>(thread_record&, line_number, std::uintptr_t, bool) noexcept;

void prefetch_metadata(const thread_record& thread, std::uintptr_t address) noexcept {
  if (address >= program_end) return;
  const line_number line = state.lines.line_of(address);
  __builtin_prefetch(&state.lines.record(line), 1);
  __builtin_prefetch(&page_of(address));
  __builtin_prefetch(reinterpret_cast<const void*>(address));
  state.memory.cores[cpu_of(thread).core].l1.fetch_set(line);
}

void prefetch(thread_record& thread, line_number line, bool write) noexcept {
  charge(thread, state.model.core_access);
  line_record& record = state.lines.record(line);
  const hardware_thread& cpu = cpu_of(thread);
  const bool foreign_writer = record.writer_plus_one != 0 && record.writer_plus_one != thread.cpu + 1;
  // What an attempt has stays where it is. A page that was never touched has nothing to fetch.
  if (foreign_writer || (write && !state.lines.readers(record).empty())) return;
  const std::uintptr_t address = state.lines.address_of(line);
  if (page_of(address).home_plus_one == 0) return;
  access now{thread, line, address, write, record, thread.cpu, cpu.core};
  bring(now);
  if (write && record.owner_plus_one != now.core + 1) {
    take_from_others(now);
    record.owner_plus_one = static_cast<std::uint16_t>(now.core + 1);
  }
  tell_siblings(now);
  if (now.ends_own) end_own_attempt(own_end);
}

}  // namespace txsync::sim
