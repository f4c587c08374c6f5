// SPDX-License-Identifier: Apache-2.0
// Izraelevitz, Xiang and Scott, Performance Improvement via Always-Abort HTM: Figs 7, 8, 9 and 13. The paper ran its
// always-abort transactions on plain RTM, trusting that none would commit. Here they are RTM's, too, but nested so deep
// that none commits. The paper's text gives its numbers as ranges over all numbers of threads; here they are checked at
// 8 and 18. Threads run for a fixed time, because the paper reports throughput. With a fixed number of critical
// sections per thread, unfair locks would lose what they gain by being unfair.
#include <initializer_list>

#include <fmt/core.h>

#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

constexpr const char* paper_machine = "broadwell-e5-2697v4";
constexpr std::uint64_t virtual_time = 500;
const std::vector<std::uint64_t> all_cores = {1, 2, 4, 8, 18};

/// The paper's subjects (IV-A), and warm-up in software, which the paper does not have. For htm-10-fb-aahtm (IV-A 5)
/// the paper has numbers of other programs only.
std::vector<variant> subjects_of_the_paper(const std::vector<setting>& settings) {
  std::vector<variant> all;
  for (const auto& [name, subject] : {std::pair{"tatas", "tatas"},
                                      {"ticket", "fifo_ticket"},
                                      {"htm-1", "htm_1_tatas"},
                                      {"htm-10", "htm_10_tatas"},
                                      {"htm-10-fb-aahtm", "htm_10_aahtm_tatas"},
                                      {"tatas-aahtm", "aahtm_tatas"},
                                      {"tatas-pri-aahtm", "aahtm_priority_tatas"},
                                      {"ticket-aahtm", "aahtm_fifo_ticket"},
                                      {"ticket-software", "eager_warm_ticket"}}) {
    all.push_back({.name = name, .subject = subject, .settings = settings});
  }
  return all;
}

fact against(const char* name, const char* beside, std::uint64_t threads, range expected, const char* source) {
  return {.variant = name,
          .at = threads,
          .expected = expected,
          .source = source,
          .what = quantity::throughput,
          .read = reading::ratio,
          .beside = beside,
          .answers = "C2-3"};
}

/// `name` is faster than each of the others.
void ahead_of(std::vector<fact>& facts, const char* name, std::initializer_list<const char*> others,
              std::uint64_t threads, const char* source) {
  for (const char* const other : others) {
    if (std::string_view(other) != name) facts.push_back(against(name, other, threads, at_least(1), source));
  }
}
void ahead_of_all(std::vector<fact>& facts, const char* name, std::uint64_t threads, const char* source) {
  ahead_of(facts, name, {"tatas", "ticket", "htm-1", "htm-10", "tatas-aahtm", "tatas-pri-aahtm", "ticket-aahtm"},
           threads, source);
}

/// With small footprints, unfair locks are faster than fair ones of the same kind.
void unfair_ahead(std::vector<fact>& facts) {
  const char* const source = "IV-A 1: with smaller footprints the unfairness of tatas is an advantage over ticket";
  for (const std::uint64_t threads : {8, 18}) {
    ahead_of(facts, "tatas", {"ticket"}, threads, source);
    ahead_of(facts, "tatas-aahtm", {"ticket-aahtm"}, threads, source);
  }
}

experiment array_bench(const char* letter, const char* words, std::uint64_t writes, std::uint64_t high) {
  experiment made{
      .id = std::string("always-abort-array-") + words,
      .title = "random writes to an array of 1 Mi integers under one lock, " + std::string(words),
      .source = std::string("always-abort paper, IV-A 1, Fig 7") + letter,
      .machine = paper_machine,
      .workload = "arraybench",
      .microseconds = virtual_time,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", all_cores},
      .variants = subjects_of_the_paper({{"ints", std::uint64_t{1} << 20}, {"writes", writes}, {"contention", high}}),
      .facts = {},
  };
  if (high != 0) {
    const std::vector<setting> opt = {
        {"ints", std::uint64_t{1} << 20}, {"writes", writes}, {"contention", high}, {"ahead", 1}};
    made.variants.push_back({.name = "ticket-aahtm-opt", .subject = "aahtm_fifo_ticket", .settings = opt});
    made.variants.push_back({.name = "tatas-aahtm-opt", .subject = "aahtm_tatas", .settings = opt});
  }
  return made;
}

std::vector<experiment> arrays() {
  const char* const two_to_three = "IV-A 1: ticket-aahtm is 2 to 3 times ticket with large footprints";
  experiment small_low = array_bench("a", "small-low", 10, 0);
  experiment small_high = array_bench("b", "small-high", 10, 1);
  experiment large_low = array_bench("c", "large-low", 100, 0);
  experiment large_high = array_bench("d", "large-high", 100, 1);
  ahead_of_all(small_low.facts, "htm-10", 18, "IV-A 1: htm-10 is best with a small footprint and low contention");
  small_low.facts.push_back(against("htm-1", "tatas", 18, at_most(1), "IV-A 1: htm-1 is outperformed by the locks"));
  unfair_ahead(small_low.facts);
  unfair_ahead(small_high.facts);
  ahead_of(small_high.facts, "tatas-aahtm", {"tatas", "ticket", "htm-1", "htm-10"}, 18,
           "IV-A 1: an AAHTM lock is best but in Fig 7a; read as that whose unfairness helps");
  for (const std::uint64_t threads : {8, 18}) {
    large_low.facts.push_back(against("ticket-aahtm", "ticket", threads, between(2, 3), two_to_three));
    large_high.facts.push_back(against("ticket-aahtm", "ticket", threads, between(2, 3), two_to_three));
    large_high.facts.push_back(against("ticket-aahtm-opt", "ticket", threads, between(2, 3), two_to_three));
  }
  large_high.remark =
      "Where every section writes element 0 first, the holder's write aborts the attempts of those that run ahead. The "
      "path opt and software, which has no attempts, show what is lost by it.";
  ahead_of_all(large_low.facts, "ticket-aahtm", 18, "IV-A 1: ticket-aahtm appears best with large footprints");
  ahead_of_all(large_high.facts, "ticket-aahtm", 18, "IV-A 1: ticket-aahtm appears best with large footprints");
  return {small_low, small_high, large_low, large_high};
}

experiment map_bench(const char* letter, const char* words, std::uint64_t keys, std::uint64_t find,
                     std::uint64_t insert) {
  return {
      .id = std::string("always-abort-map-") + words,
      .title = fmt::format("a std::map of {} keys under one lock, {} % writes", keys, (100 - find) / 2),
      .source = std::string("always-abort paper, IV-A 1, Fig 8") + letter,
      .machine = paper_machine,
      .workload = "mapbench",
      .microseconds = virtual_time,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", all_cores},
      .variants =
          subjects_of_the_paper({{"keys", keys}, {"find", find}, {"insert", insert}, {"erase", 100 - find - insert}}),
      .facts = {},
  };
}

std::vector<experiment> maps() {
  experiment small_few = map_bench("a", "10k-10", 10'000, 80, 10);
  experiment small_many = map_bench("b", "10k-50", 10'000, 0, 50);
  experiment large_few = map_bench("c", "large-10", 100'000, 80, 10);
  experiment large_many = map_bench("d", "large-50", 100'000, 0, 50);
  for (experiment* const one : {&small_few, &small_many, &large_few}) {
    ahead_of_all(one->facts, "htm-10", 18,
                 "IV-A 1: traditional HTM works well in most cases; read as first in this one");
  }
  ahead_of_all(large_many.facts, "ticket-aahtm", 18, "IV-A 1: the AAHTM ticket lock again dominates (Fig 8d)");
  for (experiment* const one : {&large_few, &large_many}) {
    one->remark =
        "The paper's map has 10 M keys and its caches 45 MB; here it has 100 K, 2.4 MB of nodes, a hundredth.";
  }
  return {small_few, small_many, large_few, large_many};
}

/// memcached 1.4.5's two global locks. The paper's curves are speed-ups over one thread of its default lock. The paper
/// does not say how long a request takes outside of the locks; here it is a few system calls, 3 us. Without this time,
/// only one thread of the default lock would run for most of the time, because its waiters sleep. Spinning locks would
/// then not be faster than the default.
experiment memcached(const char* letter, std::uint64_t gets) {
  const std::vector<setting> settings = {{"keys", 20'000}, {"gets", gets}, {"outside", 300}};
  std::vector<variant> variants = subjects_of_the_paper(settings);
  variants.insert(variants.begin(), {.name = "default", .subject = "posix", .settings = settings});
  variants.push_back({.name = "default-aahtm", .subject = "aahtm_posix", .settings = settings});
  return {
      .id = fmt::format("always-abort-cache-get-{}", gets),
      .title = fmt::format("a cache under two global locks, {} % gets", gets),
      .source = std::string("always-abort paper, IV-A 2, Fig 9") + letter,
      .machine = paper_machine,
      .workload = "cache",
      .microseconds = 2 * virtual_time,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", all_cores},
      .variants = std::move(variants),
      .facts = {},
      .remark =
          "In process: what a server does for a request besides, some system calls, is 3 us of fences, which is "
          "assumed. "
          "20 K keys (4 MB), where the paper's table is larger than the last-level cache.",
  };
}

std::vector<experiment> caches() {
  experiment mostly_gets = memcached("a", 90);
  experiment half = memcached("b", 50);
  mostly_gets.facts = {
      against("htm-10", "default", 18, exactly(2), "IV-A 2: HTM is about twice as fast as the default")};
  half.facts = {
      against("tatas-aahtm", "default", 18, exactly(2.5), "IV-A 2: the AAHTM TATAS lock, 2.5 times the default"),
      against("ticket-aahtm", "tatas-aahtm", 18, exactly(1), "IV-A 2: the AAHTM ticket lock is on par with it")};
  ahead_of(mostly_gets.facts, "htm-10", {"tatas", "ticket", "tatas-aahtm", "tatas-pri-aahtm", "ticket-aahtm"}, 18,
           "IV-A 2: HTM outperforms all lock-based solutions with many threads");
  ahead_of(half.facts, "tatas-aahtm", {"tatas", "ticket", "tatas-pri-aahtm"}, 18,
           "IV-A 2: the best lock is the AAHTM TATAS lock");
  for (const char* const lock : {"tatas", "ticket", "tatas-aahtm", "tatas-pri-aahtm", "ticket-aahtm"}) {
    ahead_of(half.facts, lock, {"htm-10"}, 18, "IV-A 2: locks are more performant where HTM is unlikely to succeed");
  }
  return {mostly_gets, half};
}

/// Ten lines, a hundred writes, and no limit on the number of threads that speculate.
experiment hazard_bench() {
  const std::vector<setting> tiny = {{"ints", 160}, {"writes", 100}, {"contention", 0}};
  std::vector<setting> tested = tiny;
  tested.push_back({"ahead", 2});
  const char* const slower = "IV-A 6, Fig 13a: a slowdown on the order of 20 %";
  const char* const gone = "IV-A 6, Fig 13b: never slowed down with the protective test";
  return {
      .id = "always-abort-hazard",
      .title = "random writes to an array of ten lines under one lock, unlimited speculators",
      .source = "always-abort paper, IV-A 6, Fig 13",
      .machine = paper_machine,
      .workload = "arraybench",
      .microseconds = virtual_time,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", all_cores},
      .variants = {{.name = "tatas", .subject = "tatas", .settings = tiny},
                   {.name = "tatas-aahtm", .subject = "aahtm_tatas", .settings = tiny},
                   {.name = "tatas-aahtm-protected", .subject = "aahtm_tatas", .settings = tested},
                   {.name = "ticket", .subject = "fifo_ticket", .settings = tiny},
                   {.name = "ticket-aahtm", .subject = "aahtm_fifo_ticket", .settings = tiny},
                   {.name = "ticket-aahtm-protected", .subject = "aahtm_fifo_ticket", .settings = tested}},
      .facts = {against("tatas-aahtm", "tatas", 8, exactly(0.8), slower),
                against("tatas-aahtm", "tatas", 18, exactly(0.8), slower),
                against("ticket-aahtm", "ticket", 8, exactly(0.8), slower),
                against("ticket-aahtm", "ticket", 18, exactly(0.8), slower),
                against("tatas-aahtm-protected", "tatas", 18, exactly(1), gone),
                against("ticket-aahtm-protected", "ticket", 18, exactly(1), gone)},
  };
}

}  // namespace

std::vector<experiment> always_abort() {
  std::vector<experiment> all = arrays();
  for (experiment& one : maps()) all.push_back(std::move(one));
  for (experiment& one : caches()) all.push_back(std::move(one));
  all.push_back(hazard_bench());
  return all;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
