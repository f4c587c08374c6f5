// SPDX-License-Identifier: Apache-2.0
#include "abort_log.hpp"

#include "records.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

struct entry {
  std::uint64_t count;
  std::uint32_t own_site;
  std::uint32_t other_site;
  line_number line;
  cause why;
};

constexpr unsigned places = 1 << 14;  // entries beyond are counted by cause only
constinit entry entries[places] = {};
constinit std::uint64_t aborted[causes] = {};
constinit std::uint64_t begun = 0;
constinit std::uint64_t committed = 0;
constinit ticks committed_time = 0;
constinit ticks aborted_time = 0;

}  // namespace

void log_begin(const thread_record&) noexcept { ++begun; }

void log_commit(const thread_record& thread) noexcept {
  ++committed;
  committed_time += thread.time - thread.tx.began;
}

void log_abort(const thread_record& thread, const abort_reason& reason) noexcept {
  ++aborted[static_cast<unsigned>(reason.why)];
  aborted_time += thread.time - thread.tx.began;
  const line_number line = state.lines.line_of(reason.address);
  const std::uint32_t own = reason.own_site != 0 ? reason.own_site : static_cast<std::uint32_t>(thread.last_site);
  std::uint64_t hash = (std::uint64_t{own} * 31 + reason.other_site) * 31 + line + static_cast<unsigned>(reason.why);
  hash *= 0x9E3779B97F4A7C15u;
  for (unsigned step = 0; step < 64; ++step) {
    entry& place = entries[((hash >> 40) + step) % places];
    if (place.count == 0) place = {0, own, reason.other_site, line, reason.why};
    if (place.own_site == own && place.other_site == reason.other_site && place.line == line &&
        place.why == reason.why) {
      ++place.count;
      return;
    }
  }
}

void write_abort_log() noexcept {
  write_record("attempts.begun", begun);
  write_record("attempts.committed", committed);
  write_record("attempts.committed_cycles", committed_time / ticks_per_cycle);
  write_record("attempts.aborted_cycles", aborted_time / ticks_per_cycle);
  for (unsigned i = 0; i < causes; ++i) write_record("aborts.", name_of(static_cast<cause>(i)), aborted[i]);
  for (const entry& one : entries) {
    if (one.count == 0) continue;
    write_abort_record(name_of(one.why), one.count, one.own_site, one.other_site, state.lines.address_of(one.line));
  }
}

void reset_abort_log() noexcept {
  for (entry& one : entries) one = {};
  for (std::uint64_t& count : aborted) count = 0;
  begun = committed = 0;
  committed_time = aborted_time = 0;
}

}  // namespace txsync::sim
