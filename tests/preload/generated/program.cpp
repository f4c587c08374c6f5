// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <algorithm>

namespace generated {

const char* const deed_names[deeds] = {"sections",      "reads",   "spin",      "tokens",   "turns",      "barrier",
                                       "answers",       "expire",  "patience",  "cancel",   "coroutine",  "plugin",
                                       "fork_inside",   "start",   "rw_expire", "executed", "replaced",   "c11",
                                       "renewed",       "robust",  "inherits",  "clocks",   "rw_holders", "atfork",
                                       "cancel_points", "plugins", "switched"};
const char* const way_names[ways] = {"lock", "attempt", "timed", "clock", "poll", "old", "old_attempt"};

namespace {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same on each machine.
class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

constexpr std::uint32_t all_mutexes = (1u << mutexes) - 1;

bool alone(deed what) {
  return what == deed::answers || what == deed::expire || what == deed::cancel || what == deed::plugin ||
         what == deed::fork_inside || what == deed::start || static_cast<int>(what) >= first_later_deed;
}

std::uint32_t some_threads(random& draw, const program& made, deed what) {
  if (alone(what)) return 1u << draw.below(made.threads);
  if (what == deed::turns) {  // two, of different processes where there are any
    const int first = draw.below(made.threads);
    return 1u << first | 1u << (first + 1) % made.threads;
  }
  const std::uint32_t all = (1u << made.threads) - 1;
  std::uint32_t chosen = static_cast<std::uint32_t>(draw.next()) & all;
  while (__builtin_popcount(chosen) < 2) chosen |= 1u << draw.below(made.threads);
  return chosen;
}

how some_way(random& draw, bool no_long_waits) {
  if (no_long_waits) return draw.one_in(2) ? how::attempt : how::poll;
  return static_cast<how>(draw.below(7));
}

int some_times(random& draw, deed what) {
  switch (what) {
    case deed::sections:
      return 1 + draw.below(200);
    case deed::reads:
      return 1 + draw.below(50);
    case deed::spin:
      return 1 + draw.below(30);
    case deed::tokens:
    case deed::clocks:
      return 1 + draw.below(20);
    case deed::turns:
      return 1 + draw.below(4);
    case deed::barrier:
      return 1 + draw.below(4);
    default:
      return 1 + draw.below(3);
  }
}

operation some_operation(random& draw, const program& made) {
  operation one;
  do {
    one.what = draw.one_in(6) ? deed::sections : static_cast<deed>(draw.below(first_later_deed));
    // Seconds, where it goes wrong: rarer than the others.
  } while ((one.what == deed::fork_inside && !made.undefined) || (one.what == deed::patience && !draw.one_in(3)));
  one.threads = some_threads(draw, made, one.what);
  one.objects = static_cast<std::uint32_t>(draw.next()) & all_mutexes;
  if (one.objects == 0) one.objects = 1u << draw.below(mutexes);
  bool no_long_waits = !made.rwlock_shared && made.processes > 1;
  if (one.what != deed::reads) {
    no_long_waits = false;
    for (int i = 0; i < mutexes; ++i)
      no_long_waits |= (one.objects >> i & 1) && made.processes > 1 && !made.mutex[i].shared;
  }
  one.by = some_way(draw, no_long_waits);
  if (one.what == deed::reads && no_long_waits) one.by = how::attempt;
  one.times = some_times(draw, one.what);
  one.signal = draw.one_in(2);
  return one;
}

operation some_later_operation(random& draw, const program& made, int first, int behind) {
  operation one;
  one.what = static_cast<deed>(first + draw.below(behind - first));
  one.threads = some_threads(draw, made, one.what);
  one.objects = static_cast<std::uint32_t>(draw.next()) & all_mutexes;
  one.by = static_cast<how>(draw.below(ways));
  one.times = some_times(draw, one.what);
  one.signal = draw.one_in(2);
  return one;
}

void add_later_operations(random draw, int count, int first, int behind, program& made) {
  for (; count > 0; --count) {
    const auto place = made.operations.begin() + draw.below(static_cast<int>(made.operations.size()) + 1);
    made.operations.insert(place, some_later_operation(draw, made, first, behind));
  }
}

void add_later_operations(std::uint64_t seed, program& made) {
  random later(seed * 2 + 2);
  const int count = later.below(max_later_operations + 1);
  add_later_operations(later, count, first_later_deed, first_latest_deed, made);
  random latest(~seed);
  if (latest.one_in(3)) add_later_operations(latest, max_latest_operations, first_latest_deed, first_own_deed, made);
  for (int what = first_own_deed; what < deeds; ++what) {
    random own(~(seed << 8 | static_cast<std::uint64_t>(what)));
    if (own.one_in(own_deed_one_in)) add_later_operations(own, 1, what, what + 1, made);
  }
}

/// Sections, patience and the start of programs are four fifths of all time. A quarter of them finds most of what all
/// of them find.
void shorten(program& made) {
  for (operation& one : made.operations)
    if (one.what == deed::sections || one.what == deed::reads) one.times = (one.times + 3) / 4;
  if (made.seed % 4 == 0) return;
  made.executes = false;
  std::erase_if(made.operations, [](const operation& one) {
    return one.what == deed::patience || one.what == deed::executed || one.what == deed::replaced;
  });
}

}  // namespace

program generate(std::uint64_t seed, omitted without) {
  random draw(seed * 2 + 1);
  program made;
  made.seed = seed;
  made.without = without;
  made.threads = 2 + draw.below(max_threads - 1);
  made.processes = draw.one_in(3) ? 1 : 2 + draw.below(std::min(made.threads, max_processes) - 1);
  made.executes = made.processes > 1 && draw.one_in(3);
  made.undefined = draw.one_in(4);
  for (object& one : made.mutex) {
    one.kind = static_cast<mutex_kind>(draw.below(4));
    one.static_initializer = made.processes == 1 && !made.undefined && draw.one_in(2);
    one.shared = made.undefined ? made.processes == 1 || draw.one_in(2) : made.processes > 1 || draw.one_in(4);
  }
  made.rwlock_shared = made.processes > 1 ? !made.undefined || draw.one_in(2) : draw.one_in(4);
  made.condition_shared = made.processes > 1 && (!made.undefined || draw.one_in(2));
  const int count = 3 + draw.below(max_early_operations - max_latest_operations - max_later_operations - 2);
  for (int i = 0; i < count; ++i) made.operations.push_back(some_operation(draw, made));
  add_later_operations(seed, made);
  if ((without & brief) != 0) shorten(made);
  std::erase_if(made.operations,
                [&](const operation& one) { return ((bit_of(one.what) | bit_of(one.by)) & without) != 0; });
  return made;
}

namespace {
/// One thread, which counts how often it was done.
bool counts_times(deed what) { return what == deed::atfork || what == deed::cancel_points || what == deed::switched; }
}  // namespace

counts expected(const program& made) {
  counts sum{};
  for (std::size_t i = 0; i < made.operations.size(); ++i) {
    const operation& one = made.operations[i];
    const long all = static_cast<long>(one.participants()) * one.times;
    const long cost = one.what == deed::start ? 2L * all : all;
    if (one.what == deed::sections || one.what == deed::coroutine || one.what == deed::fork_inside ||
        one.what == deed::start)
      for (int m = 0; m < mutexes; ++m) sum.mutex[m] += (one.objects >> m & 1) != 0 ? cost : 0;
    if (one.what == deed::reads) sum.rwlock[one.objects % rwlocks] += all;
    if (one.what == deed::spin) sum.spin[one.objects % spins] += all;
    // Makers and takers are as many: an odd one looks on.
    if (one.what == deed::tokens) sum.operation[i] = static_cast<long>(one.participants() / 2) * one.times;
    if (one.what == deed::executed || one.what == deed::replaced) sum.operation[i] = 2L * executed_rounds * one.times;
    if (one.what == deed::c11) sum.operation[i] = 3L * c11_rounds * one.times;
    if (one.what == deed::renewed) sum.operation[i] = 16L * renewed_rounds * one.times;  // two threads, eight objects
    if (one.what == deed::robust) sum.operation[i] = robust_turns(one);
    if (one.what == deed::inherits)
      sum.operation[i] = static_cast<long>(inherits_threads) * inherits_rounds * one.times;
    if (one.what == deed::clocks) sum.operation[i] = static_cast<long>(clocks_pairs(one)) * one.times;
    if (one.what == deed::rw_holders) sum.operation[i] = 2L * one.times;
    if (one.what == deed::plugins) sum.operation[i] = plugins_visits(one);
    if (one.what == deed::turns || one.what == deed::barrier || one.what == deed::cancel || counts_times(one.what))
      sum.operation[i] = all;
  }
  return sum;
}

std::string to_text(const program& made) {
  static const char* const kind_names[] = {"normal", "recursive", "error-checking", "adaptive"};
  std::string text = "seed " + std::to_string(made.seed) + ": threads " + std::to_string(made.threads) +
                     ", processes " + std::to_string(made.processes) + (made.executes ? " (exec)" : "") +
                     (made.undefined ? ", POSIX leaves it undefined" : "") + "\n  mutexes:";
  for (const object& one : made.mutex)
    text += std::string(" ") + kind_names[static_cast<int>(one.kind)] + (one.static_initializer ? "/static" : "") +
            (one.shared && !one.static_initializer ? "/shared" : "");
  text += std::string("; reader-writer locks ") + (made.rwlock_shared ? "shared" : "private") + ", conditions " +
          (made.condition_shared ? "shared" : "private") + "\n";
  for (std::size_t i = 0; i < made.operations.size(); ++i) {
    const operation& one = made.operations[i];
    text += "  " + std::to_string(i) + " " + deed_names[static_cast<int>(one.what)] + " threads";
    for (int t = 0; t < made.threads; ++t)
      if ((one.threads >> t & 1) != 0) text += " " + std::to_string(t);
    text += ", objects " + std::to_string(one.objects) + ", by " + way_names[static_cast<int>(one.by)] + ", times " +
            std::to_string(one.times) + (one.signal ? ", signal" : ", broadcast") + "\n";
  }
  return text;
}

}  // namespace generated
