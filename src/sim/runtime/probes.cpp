// SPDX-License-Identifier: Apache-2.0
#include "probes.hpp"

namespace txsync::sim {

namespace {

constexpr std::uint64_t abort_of = 16;     // one of this many accesses of attempts aborts
constexpr std::uint64_t exchange_of = 4;   // one of this many weak compare-exchanges fails
constexpr std::uint64_t wake_of = 4;       // one of this many sleeps ends at once
constexpr std::uint64_t max_lines = 8;     // half of the attempts have room for fewer lines than this
constexpr std::uint64_t latest_watch = 8;  // accesses after the first

struct attempt_probe {
  unsigned lines_left;  // until the one that is too many; 0: no bound
  unsigned watched_in;  // accesses until the first line is watched; 0: it is, or there is none yet
  line_number first;
  bool has_first;
};

constinit attempt_probe* attempts = nullptr;  // by thread

bool is_in_sets(const thread_record& thread, line_number line) noexcept {
  line_record& record = state.lines.record(line);
  return record.writer_plus_one == thread.cpu + 1 || state.lines.readers(record).has(thread.cpu);
}

void watch(thread_record& thread, line_number line) noexcept {
  if (is_in_sets(thread, line)) return;
  if (!thread.tx.reads.push({line, static_cast<std::uint32_t>(thread.last_site), 0})) return;
  state.lines.readers(state.lines.record(line)).add(thread.cpu);
}

bool is_watched(thread_record& thread, attempt_probe& now, line_number line, bool write) noexcept {
  if (!now.has_first && !write) {
    now.has_first = true;
    now.first = line;
    now.watched_in = static_cast<unsigned>(1 + state.random.below(latest_watch));
    return false;
  }
  if (now.watched_in != 0) {
    --now.watched_in;
    if (now.watched_in == 0) watch(thread, now.first);
  }
  return write || now.watched_in == 0 || line != now.first;
}

}  // namespace

void set_up_probes() noexcept {
  attempts = static_cast<attempt_probe*>(reserve(0, max_threads * sizeof(attempt_probe), "probes"));
}

void begin_probes(const thread_record& thread) noexcept {
  attempt_probe& now = attempts[thread.id] = {};
  if (probes(probe::tight_capacity) && state.random.below(2) == 0) {
    now.lines_left = static_cast<unsigned>(1 + state.random.below(max_lines));
  }
}

probed probe_access(thread_record& thread, line_number line, bool write) noexcept {
  attempt_probe& now = attempts[thread.id];
  if (probes(probe::spurious_aborts) && state.random.below(abort_of) == 0) return {.ends = true};
  if (now.lines_left != 0 && !is_in_sets(thread, line)) {
    --now.lines_left;
    if (now.lines_left == 0) return {.ends = true, .why = write ? cause::capacity_write : cause::capacity_read};
  }
  if (!probes(probe::late_subscription)) return {};
  return {.watched = is_watched(thread, now, line, write)};
}

bool wakes_at_once() noexcept { return probes(probe::spurious_wakes) && state.random.below(wake_of) == 0; }

bool exchange_fails() noexcept { return probes(probe::weak_exchanges) && state.random.below(exchange_of) == 0; }

}  // namespace txsync::sim
