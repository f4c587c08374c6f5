// SPDX-License-Identifier: Apache-2.0
#include "abort_log.hpp"

#include "abort_calls.hpp"
#include "co_resident_ways.hpp"
#include "data_places.hpp"
#include "records.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

struct entry {
  std::uint64_t count;
  std::uint32_t own_code;
  std::uint32_t other_code;
  line_number line;
  cause why;
};

/// Details of an entry's first abort. They are stored separately, because a search for entries does not need them.
struct entry_data {
  data_place own;          ///< where the attempt had first touched the line; unknown if that is not recorded
  data_place conflicting;  ///< where the other access was, or what the attempt had no room for
  sim::occupancy occupancy;
  std::uint64_t
      false_sharing_hits;  ///< how many of the entry's aborts were at bytes other than those first touched or written
};

constexpr unsigned places = 1 << 14;  // further entries are counted by cause only
constinit entry entries[places] = {};
constinit entry_data data[places] = {};
constinit std::uint64_t aborted[causes] = {};
constinit std::uint64_t committed = 0;
constinit ticks committed_time = 0;
constinit ticks aborted_time = 0;
constinit bool counting = true;
constinit bool has_measured = false;
constinit ticks counted_since = 0;

/// Accesses have up to 16 bytes, most of them up to 8. Nearer addresses may belong to one access.
bool are_disjoint(std::uintptr_t one, std::uintptr_t other) noexcept {
  constexpr std::uintptr_t near = 8;
  return one + near <= other || other + near <= one;
}

/// Whether the other access was to bytes that the attempt is not known to have touched. Only two things are known:
/// where the attempt touched the line first, and what it has written.
bool hits_other_bytes(thread_record& thread, const abort_reason& reason) noexcept {
  if (reason.own_address == 0 || reason.address == 0 || !are_disjoint(reason.own_address, reason.address)) return false;
  for (const undo_entry& written : thread.tx.undo) {
    if (!are_disjoint(written.address(), reason.address)) return false;
  }
  return true;
}

ticks counted_time(const thread_record& thread) noexcept {
  const ticks from = thread.tx.began > counted_since ? thread.tx.began : counted_since;
  return thread.time > from ? thread.time - from : 0;
}

void write_entry(const entry& one, const entry_data& about) noexcept {
  write_record(abort_record{.why = one.why,
                            .count = one.count,
                            .own_code = one.own_code,
                            .other_code = one.other_code,
                            .address = state.lines.address_of(one.line),
                            .false_sharing_hits = about.false_sharing_hits,
                            .own = about.own,
                            .conflicting = about.conflicting,
                            .occupancy = about.occupancy});
}

}  // namespace

std::uint32_t own_code_of(const thread_record& thread, const abort_reason& reason) noexcept {
  return reason.own_code != 0 ? reason.own_code : static_cast<std::uint32_t>(thread.last_code);
}

bool counts_attempts() noexcept { return counting; }

void log_commit(const thread_record& thread) noexcept {
  if (!counting) return;
  ++committed;
  committed_time += counted_time(thread);
}

void log_abort(thread_record& thread, const abort_reason& reason) noexcept {
  if (!counting) return;
  ++aborted[static_cast<unsigned>(reason.why)];
  aborted_time += counted_time(thread);
  const line_number line = state.lines.line_of(reason.address);
  const std::uint32_t own = own_code_of(thread, reason);
  std::uint64_t hash = (std::uint64_t{own} * 31 + reason.other_code) * 31 + line + static_cast<unsigned>(reason.why);
  hash *= 0x9E3779B97F4A7C15u;
  for (unsigned step = 0; step < 64; ++step) {
    const std::size_t index = ((hash >> 40) + step) % places;
    entry& place = entries[index];
    if (place.count == 0) {
      place = {0, own, reason.other_code, line, reason.why};
      data[index] = {data_place_at(reason.own_address), data_place_at(reason.address),
                     occupancy_at(thread, line, reason.overflow), 0};
    }
    if (place.own_code == own && place.other_code == reason.other_code && place.line == line &&
        place.why == reason.why) {
      ++place.count;
      if (hits_other_bytes(thread, reason)) ++data[index].false_sharing_hits;
      return;
    }
  }
}

void write_abort_log() noexcept {
  std::uint64_t begun = committed;
  for (const std::uint64_t count : aborted) begun += count;
  write_record(number_record::attempts_begun, begun);
  write_record(number_record::attempts_committed, committed);
  write_record(number_record::committed_cycles, committed_time / ticks_per_cycle);
  write_record(number_record::aborted_cycles, aborted_time / ticks_per_cycle);
  for (unsigned i = 0; i < causes; ++i) write_record(number_record::aborts, name_of(static_cast<cause>(i)), aborted[i]);
  for (unsigned i = 0; i < places; ++i) {
    if (entries[i].count != 0) write_entry(entries[i], data[i]);
  }
}

void count_attempts(bool measured) noexcept {
  if (!measured) {
    counting = counting && !has_measured;
    return;
  }
  begin_to_sample_ends();
  for (entry& one : entries) one = {};
  for (std::uint64_t& count : aborted) count = 0;
  committed = 0;
  committed_time = aborted_time = 0;
  counting = has_measured = true;
  counted_since = state.current != nullptr ? state.current->time : state.latest;
}

}  // namespace txsync::sim
