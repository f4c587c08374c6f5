// SPDX-License-Identifier: Apache-2.0
#include "locks/elision_cost.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>

#include "locks/measure.hpp"
#include "observe/document/more_rounds.hpp"
#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr double goal = 1.1;
constexpr unsigned learning = 1'000;

/// Lock and data lie the same way on a page of their own, whatever the lock: what share a set, or alias, are the same.
template <class Entry>
struct alignas(4096) place {
  Entry entry;
  alignas(1024) volatile std::uint64_t words[16];
};

template <class Lock>
struct exclusively {
  alignas(machine::pad_bytes) Lock lock{};
  [[gnu::always_inline]] void enter() { lock.lock(); }
  [[gnu::always_inline]] void leave() { lock.unlock(); }
};
template <class Lock>
struct with_node {
  alignas(machine::pad_bytes) Lock lock{};
  typename Lock::node node{};
  [[gnu::always_inline]] void enter() { lock.lock(node); }
  [[gnu::always_inline]] void leave() { lock.unlock(node); }
};
template <class Lock>
struct shared {
  alignas(machine::pad_bytes) Lock lock{};
  [[gnu::always_inline]] void enter() { lock.lock_shared(); }
  [[gnu::always_inline]] void leave() { lock.unlock_shared(); }
};

/// Out of line for each lock: the compiler would put some of them into their caller, and reload the address in others.
template <class Entry, unsigned writes>
[[gnu::noinline]] void run_sections(place<Entry>& here, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    here.entry.enter();
    for (unsigned word = 0; word < writes; ++word) here.words[word] = here.words[word] + 1;
    here.entry.leave();
  }
}

/// Nanoseconds a section. Each run uses the next of several places: some addresses conflict in a cache, by the hash of
/// its way predictor. The loader chooses them anew for each process.
template <class Entry, unsigned writes>
double run(std::uint64_t duration_ns) {
  static place<Entry> places[8];
  static unsigned runs = 0;
  place<Entry>& here = places[runs++ % std::size(places)];
  run_sections<Entry, writes>(here, learning);
  std::uint64_t done = 0;
  const std::uint64_t start = machine::clock_ns();
  std::uint64_t now = start;
  constexpr unsigned batch = 5'000;
  for (; now - start < duration_ns; now = machine::clock_ns()) {
    run_sections<Entry, writes>(here, batch);
    done += batch;
  }
  return static_cast<double>(now - start) / static_cast<double>(done);
}

struct contender {
  const char* lock;
  double (*plain[2])(std::uint64_t);
  double (*elided[2])(std::uint64_t);
};

template <class Plain, class Elided>
constexpr contender pair_of(const char* name) {
  return {name, {run<Plain, 0>, run<Plain, 10>}, {run<Elided, 0>, run<Elided, 10>}};
}
template <class Lock>
constexpr contender mutex_pair(const char* name) {
  return pair_of<exclusively<Lock>, exclusively<elided<Lock>>>(name);
}
template <class Lock>
constexpr contender node_pair(const char* name) {
  return pair_of<with_node<Lock>, with_node<elided_with_node<Lock>>>(name);
}

constexpr contender contenders[] = {
    mutex_pair<tatas_lock>("tatas"),
    mutex_pair<ticket_lock>("ticket"),
    mutex_pair<fifo_ticket_lock>("fifo_ticket"),
    node_pair<mcs_lock>("mcs"),
    node_pair<fifo_mcs_lock>("fifo_mcs"),
    mutex_pair<futex_mutex>("futex"),
    mutex_pair<mutex>("txsync::mutex"),
    pair_of<exclusively<posix_mutex>, exclusively<elided<posix_mutex_with_word>>>("posix"),
    pair_of<shared<occ_rwlock>, shared<elided_shared<occ_rwlock>>>("occ_rwlock, shared"),
    pair_of<exclusively<occ_rwlock>, exclusively<elided_shared<occ_rwlock>>>("occ_rwlock"),
    pair_of<shared<srwlock>, shared<elided_shared<srwlock>>>("srwlock, shared"),
    pair_of<exclusively<srwlock>, exclusively<elided_shared<srwlock>>>("srwlock"),
    pair_of<shared<futex_rwlock>, shared<elided_shared<futex_rwlock>>>("futex_rwlock, shared"),
    pair_of<exclusively<futex_rwlock>, exclusively<elided_shared<futex_rwlock>>>("futex_rwlock"),
    pair_of<shared<shared_mutex>, shared<elided_shared<shared_mutex>>>("txsync::shared_mutex, shared"),
    pair_of<exclusively<shared_mutex>, exclusively<elided_shared<shared_mutex>>>("txsync::shared_mutex"),
};
constexpr const char* section_names[] = {"empty", "small"};
constexpr unsigned section_writes[] = {0, 10};

observe::point point_of(const elision_cost& one, bool elided) {
  observe::point made;
  made.workload = "uncontended";
  made.params["writes"] = section_writes[one.section == section_names[0] ? 0 : 1];
  made.threads = 1;
  made.placement = "cores-first";
  made.subject = elided ? "elided " + one.lock : one.lock;
  made.metric = "time";
  made.unit = "ns/section";
  made.way = observe::better::lower;
  made.values = elided ? one.elided : one.plain;
  return made;
}

void add_rounds(const contender& one, unsigned section, unsigned rounds, std::uint64_t duration_ns,
                elision_cost& into) {
  for (unsigned round = 0; round < rounds; ++round) {
    const bool first = round % 2 == 0;
    const double before = (first ? one.plain : one.elided)[section](duration_ns);
    const double after = (first ? one.elided : one.plain)[section](duration_ns);
    into.plain.push_back(first ? before : after);
    into.elided.push_back(first ? after : before);
  }
}

/// Without the indices of its points; nothing if there are no costs.
std::optional<observe::claim> claim_of(const std::vector<elision_cost>& costs) {
  std::optional<observe::interval> highest;
  std::string words;
  for (const elision_cost& one : costs) {
    const observe::interval ratio = observe::ratio_interval(one.elided, one.plain);
    if (highest && !observe::is_worse(ratio, *highest, goal, observe::better::lower)) continue;
    highest = ratio;
    words = "uncontended section of an elided lock over the plain lock's, the worst: " + one.lock + ", " + one.section +
            (machine::htm().attempts ? "" : ", no hardware transactions that work");
  }
  if (!highest) return std::nullopt;
  observe::claim worst = observe::judged({.id = "C1-1", .words = words}, *highest, goal, observe::better::lower);
  worst.rule += ", for every lock and section";
  return worst;
}

}  // namespace

std::vector<elision_cost> measure_elision_cost(unsigned rounds, std::uint64_t duration_ns, bool until_decided) {
  std::vector<elision_cost> all;
  for (const contender& one : contenders) {
    for (const char* const section : section_names) all.push_back({one.lock, section, {}, {}});
  }
  for (unsigned series = 0; series < (until_decided ? observe::max_round_factor : 1); ++series) {
    for (std::size_t i = 0; i < all.size() && !interrupted(); ++i) {
      add_rounds(contenders[i / 2], static_cast<unsigned>(i % 2), rounds, duration_ns, all[i]);
    }
    if (interrupted()) break;
    const std::optional<observe::claim> claim = claim_of(all);
    if (!claim || claim->outcome != observe::outcome::undecided) break;
  }
  std::erase_if(all, [](const elision_cost& one) { return one.plain.empty(); });
  return all;
}

void print_elision_cost(std::FILE* out, const std::vector<elision_cost>& costs) {
  if (costs.empty()) return;
  std::fprintf(out, "\nElided locks beside the plain ones, one thread, %s\n%-29s %-8s %10s %10s  %s\n",
               machine::htm().attempts ? "with hardware transactions" : "without hardware transactions", "lock",
               "section", "plain ns", "elided ns", "elided/plain [95 %]");
  for (const elision_cost& one : costs) {
    const observe::interval ratio = observe::ratio_interval(one.elided, one.plain);
    std::fprintf(out, "%-29s %-8s %10.2f %10.2f  %.3f [%.3f, %.3f]\n", one.lock.c_str(), one.section.c_str(),
                 observe::summarize(one.plain).median, observe::summarize(one.elided).median, ratio.median, ratio.low95,
                 ratio.high95);
  }
}

void add_elision_cost(observe::document& result, const std::vector<elision_cost>& costs, bool with_claims) {
  std::optional<observe::claim> claim = claim_of(costs);
  if (!claim) return;
  for (const elision_cost& one : costs) {
    for (const bool elided : {false, true}) {
      claim->from.push_back(result.points.size());
      result.points.push_back(point_of(one, elided));
    }
  }
  if (with_claims) result.claims.push_back(std::move(*claim));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
