// SPDX-License-Identifier: Apache-2.0
#include "taken_ways.hpp"

#include "state.hpp"

namespace txsync::sim {

namespace {

constexpr unsigned max_ways = 32;  // model.hpp

/// By the number of ways of a set that attempts have: the chance that others take more than the rest, of 2^32.
constinit std::uint32_t chance_by_held[max_ways + 1] = {};
/// With fewer written lines in a set the chance is 0, so short attempts are not checked.
constinit unsigned min_ways_held = max_ways + 1;

/// e^-x, because the runtime links no mathematical library.
double negative_exponential(double x) noexcept {
  double sum = 1;
  double term = 1;
  for (unsigned i = 1; i < 64; ++i) sum += term *= x / i;
  return 1 / sum;
}

/// How many lines of the line's set are written, including those of the core's other hardware threads.
unsigned written_in_set(unsigned core, line_number line) noexcept {
  unsigned written = 0;
  state.memory.cores[core].l1.for_set_of(line, [&](line_number other) {
    const unsigned writer = state.lines.record(other).writer_plus_one;
    if (writer != 0 && state.cpus[writer - 1].core == core) ++written;
  });
  return written;
}

/// A random number of 32 bits, fixed for an attempt and a set.
std::uint32_t draw(const thread_record& thread, unsigned set) noexcept {
  seeded_random random;
  random.seed((thread.tx.began * 4096 + set) ^ (state.seed << 48) ^ thread.id);
  return static_cast<std::uint32_t>(random.next() >> 32);
}

/// How many lines of a set of its L1 an attempt has written, or with `also_read` touched.
std::uint32_t lines_in_set(thread_record& holder, const tag_array& l1, std::uint32_t set, bool also_read) noexcept {
  std::uint32_t found = 0;
  for (const tracked_line& one : holder.tx.writes) {
    const bool in_both = also_read && state.lines.readers(state.lines.record(one.line)).has(holder.cpu);
    if (l1.set_of(one.line) == set && !in_both) ++found;
  }
  if (!also_read) return found;
  for (const tracked_line& one : holder.tx.reads) {
    if (l1.set_of(one.line) == set) ++found;
  }
  return found;
}

}  // namespace

void set_up_taken_ways() noexcept {
  const machine_model& model = state.model;
  if (model.htm_taken_ways == 0 || model.htm_write_in_l1 == 0) return;
  const double mean = model.htm_taken_ways / 100.0;
  double exactly = negative_exponential(mean);
  double more = 1;
  for (unsigned taken = 0; taken <= model.l1_ways; ++taken) {
    more = more > exactly ? more - exactly : 0;
    const unsigned held = model.l1_ways - taken;
    chance_by_held[held] = static_cast<std::uint32_t>(more * 4294967295.0);
    constexpr double next_to_nothing = 1e-6;
    if (more >= next_to_nothing) min_ways_held = held;
    exactly *= mean / (taken + 1);
  }
}

std::size_t entries_of(const attempt& tx) noexcept {
  if (state.model.htm_reads_in_entries == 0) return tx.writes.size();
  return tx.writes.size() + tx.reads.size() - tx.in_both;
}

occupancy occupancy_at(thread_record& thread, line_number line, lack of) noexcept {
  if (of == lack::other) return {};
  const machine_model& model = state.model;
  if (of == lack::reads) {
    return {.of = of, .own = static_cast<std::uint32_t>(thread.tx.reads.size()), .room = model.htm_read_limit};
  }
  const tag_array& l1 = state.memory.cores[cpu_of(thread).core].l1;
  const bool entries = of == lack::entries;
  occupancy made{.of = of, .set = entries ? 0 : l1.set_of(line), .room = entries ? model.htm_entries : model.l1_ways};
  const unsigned first = thread.cpu / model.core_threads * model.core_threads;
  for (unsigned cpu = first; cpu < first + model.core_threads; ++cpu) {
    thread_record* holder = state.cpus[cpu].running;
    if (holder == nullptr || holder->tx.depth == 0) continue;
    std::uint32_t& held = holder == &thread ? made.own : made.siblings;
    held += entries ? static_cast<std::uint32_t>(entries_of(holder->tx))
                    : lines_in_set(*holder, l1, made.set, of == lack::l1_set_of_reads);
  }
  return made;
}

bool set_is_too_small(const thread_record& thread, line_number line) noexcept {
  if (thread.tx.writes.size() < min_ways_held) return false;
  const unsigned core = cpu_of(thread).core;
  const unsigned held = written_in_set(core, line);
  if (held < min_ways_held) return false;
  return draw(thread, state.memory.cores[core].l1.set_of(line)) < chance_by_held[held];
}

}  // namespace txsync::sim
