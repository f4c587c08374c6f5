// SPDX-License-Identifier: Apache-2.0
// Papers' figures of whole programs, which no workload replaces. LevelDB: the LevelDB paper's Figs 3 to 6 and 8. Kyoto
// Cabinet: the always-abort paper's Fig 10. integrations/README.md says what came out.
#include <tuple>
#include <utility>

#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

// ---- LevelDB

constexpr const char* as_it_is = "sleeping";
constexpr const char* papers_lock = "xsync";
constexpr const char* our_lock = "elided";
constexpr const char* leveldb_goal = "C1-4";

/// The pairs of lock and condition variable in integrations/leveldb/locks.hpp. Each has a program of its own.
std::vector<variant> leveldb_locks(unsigned threads_everywhere = 1) {
  std::vector<variant> made;
  for (const auto& [name, peer] : {std::pair{as_it_is, true},
                                   {"spinning", true},
                                   {papers_lock, false},
                                   {"xsync_mutex", false},
                                   {"xsync_uncoarsened", false},
                                   {"plain", false},
                                   {our_lock, false},
                                   {"eager", false}}) {
    made.push_back({.name = name,
                    .subject = std::string("leveldb, ") + name,
                    .threads = threads_everywhere,
                    .file = std::string("leveldb-") + name,
                    .peer = peer});
  }
  return made;
}

/// `settings`: the records in the store before a mix of YCSB.
program leveldb_program(const std::vector<setting>& settings = {}) {
  return {.name = "LevelDB 1.23",
          .folder = "leveldb-simulated",
          .built_by = "integrations/leveldb-simulated.sh --build",
          .operations_key = "count",
          .operations_are = "operations a thread",
          // The fills take no notice of the records.
          .arguments = {"{folder}/store", "{workload}", "{threads}", "{operations}", "{seed}",
                        settings.empty() ? "2000" : "{records}", "{folder}/result"},
          .settings = settings,
          .run_folder = "/dev/shm/txsync-leveldb.XXXXXX",
          .seeds = 3};
}

/// The speed with the paper's locks, to LevelDB as it is.
fact leveldb_ratio(const char* lock, std::uint64_t at, range expected, const std::string& source) {
  return {.variant = lock,
          .at = at,
          .expected = expected,
          .source = source,
          .read = reading::ratio,
          .beside = as_it_is,
          .answers = leveldb_goal};
}

/// A gain that the paper gives in percent. Locks of our own need not be near it, but have to reach it.
std::vector<fact> leveldb_gains(std::uint64_t at, double percent, const std::string& source) {
  std::vector<fact> made;
  for (const char* const lock : {papers_lock, our_lock}) {
    fact one = leveldb_ratio(lock, at, exactly(percent), source);
    one.read = reading::gain;
    if (std::string_view(lock) == our_lock) {
      one.expected = at_least(percent);
      one.source += "; ours has to reach it";
    }
    made.push_back(std::move(one));
  }
  return made;
}

void add_side(std::vector<fact>& facts, std::uint64_t at, range expected, const std::string& source) {
  for (const char* const lock : {papers_lock, our_lock}) facts.push_back(leveldb_ratio(lock, at, expected, source));
}

experiment leveldb_fill(const char* workload, const char* figure, double percent) {
  return {
      .id = std::string("leveldb-") + workload,
      .title = std::string("LevelDB's ") + workload + ", by the locks that it is built with",
      .source = std::string("LevelDB paper, 5.2 and ") + figure,
      .machine = "haswell-i7-4770",
      .workload = workload,
      .whole_program = leveldb_program(),
      .operations = 2'000,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", {1, 2, 4, 8}},
      .variants = leveldb_locks(),
      .facts = leveldb_gains(8, percent, std::string("5.2 and ") + figure),
      .remark = "The paper inserts 100,000 pairs.",
  };
}

/// Fig 5 shows how many operations the paper's locks are ahead at each moment.
experiment leveldb_write_heavy() {
  std::vector<fact> facts;
  add_side(facts, 2, at_least(1), "Fig 5: ahead at 2 threads");
  add_side(facts, 4, at_most(1), "Fig 5: behind at 4 threads for most of the run");
  add_side(facts, 8, at_least(1), "Fig 5: ahead at 8 threads");
  return {
      .id = "leveldb-write-heavy",
      .title = "LevelDB under as many updates as reads, by the locks that it is built with",
      .source = "LevelDB paper, Figs 5 and 6",
      .machine = "haswell-i7-4770",
      .workload = "write-heavy",
      .whole_program = leveldb_program({{"records", 2'000}}),
      .operations = 2'000,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", {2, 4, 8}},
      .variants = leveldb_locks(),
      .facts = std::move(facts),
      .remark = "The points of the document have the latencies (Fig 6), and how many operations had ended when.",
  };
}

/// Fig 8 is a drawing; the text says which side is higher.
experiment leveldb_ycsb() {
  enum mix : std::uint64_t { a, b, c, d, e_latest };
  std::vector<fact> facts;
  add_side(facts, a, at_most(1), "Fig 8: lower for a");
  add_side(facts, b, at_least(1), "Fig 8: higher for b");
  add_side(facts, c, at_least(1), "Fig 8: higher for c");
  add_side(facts, d, at_least(1), "Fig 8: higher for d");
  for (fact& one : leveldb_gains(e_latest, 0, "Fig 8: comparable for e")) facts.push_back(std::move(one));
  return {
      .id = "leveldb-ycsb",
      .title = "LevelDB under mixes of YCSB by four threads, by the locks that it is built with",
      .source = "LevelDB paper, Fig 8",
      .machine = "haswell-i7-4770",
      .workload = "ycsb",
      .whole_program = leveldb_program({{"records", 2'000}}),
      .operations = 2'000,
      .measured = quantity::throughput,
      .along = {"mix", "mix", {a, b, c, d, e_latest}, 1, {"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e-latest"}},
      .variants = leveldb_locks(4),
      .facts = std::move(facts),
  };
}

// ---- Kyoto Cabinet

constexpr const char* rwlock = "default";
constexpr std::uint64_t attempt_threads = 20;  ///< at which the paper tells what became of htm-10's attempts

/// Subjects of the paper's Fig 10, and ticket-standard, which is txsync's own.
std::vector<variant> kyoto_locks() {
  std::vector<variant> made;
  for (const auto& [name, locks, peer] :
       {std::tuple{rwlock, "", true},
        {"tatas", "rwlock=as-mutex lock=tatas", true},
        {"tatas-aahtm", "rwlock=as-mutex lock=tatas warm_up=paper", false},
        {"tatas-pri-aahtm", "rwlock=as-mutex lock=priority-tatas warm_up=paper-priority", false},
        {"ticket", "rwlock=as-mutex lock=fifo-ticket", true},
        {"ticket-aahtm", "rwlock=as-mutex lock=fifo-ticket warm_up=paper-ticket", false},
        {"ticket-standard", "rwlock=as-mutex lock=ticket warm_up=standard", false},
        {"htm-1", "rwlock=as-mutex lock=tatas elision=htm-1", false},
        {"htm-10", "rwlock=as-mutex lock=tatas elision=htm-10", false}}) {
    made.push_back({.name = name, .subject = name, .file = "grass", .locks = locks, .peer = peer});
  }
  return made;
}

fact kyoto_ratio(const char* lock, const char* beside, std::uint64_t at, range expected, const char* source) {
  return {.variant = lock,
          .at = at,
          .expected = expected,
          .source = source,
          .read = reading::ratio,
          .beside = beside,
          .answers = "C2-3"};
}

fact kyoto_attempts(quantity what, double expected, const char* source) {
  return {.variant = "htm-10",
          .at = attempt_threads,
          .expected = exactly(expected),
          .source = source,
          .what = what,
          .answers = "C2-3"};
}

std::vector<fact> kyoto_facts() {
  const char* const ahead = "IV-A 3: tatas is faster than default in all cases";
  const char* const gains = "IV-A 3: at 4 threads and more";
  const char* const fifo = "IV-A 3: ticket-aahtm outperforms tatas";
  const char* const no_speedup = "IV-A 3: no speedup over a single thread";
  std::vector<fact> made;
  for (const std::uint64_t at : {4, 8, 18}) {
    made.push_back(kyoto_ratio("tatas", rwlock, at, at_least(1), ahead));
  }
  for (const std::uint64_t at : {4, 8, 12, 18}) {
    made.push_back(kyoto_ratio("ticket-aahtm", "ticket", at, between(1.15, 1.27), gains));
  }
  for (const std::uint64_t at : {4, 8, 12, 18}) {
    made.push_back(kyoto_ratio("tatas-aahtm", "tatas", at, between(1.04, 1.25), gains));
  }
  made.push_back(kyoto_ratio("ticket-aahtm", "tatas", 18, at_least(1), fifo));
  for (const char* const lock : {"htm-1", "htm-10"}) {
    made.push_back(kyoto_ratio(lock, rwlock, 18, at_most(1), no_speedup));
    made.back().beside_at = 1;
  }
  made.push_back(kyoto_attempts(quantity::attempts_a_commit, 4.3, "IV-A 3: at 20 threads"));
  made.push_back(kyoto_attempts(quantity::conflict_aborts, 91, "IV-A 3: at 20 threads"));
  return made;
}

experiment kyoto_cabinet() {
  return {
      .id = "kyotocabinet",
      .title = "Kyoto Cabinet's tree under random writes, by the lock of the tree",
      .source = "always-abort paper, IV-A 3, Fig 10",
      .machine = "broadwell-e5-2697v4",
      .workload = "kyotocabinet",
      .whole_program = program{.name = "Kyoto Cabinet 1.2.79",
                               .folder = "kyotocabinet-simulated",
                               .built_by = "integrations/kyotocabinet-simulated.sh --build",
                               .operations_key = "operations",
                               .operations_are = "operations of all threads together",
                               .arguments = {"{threads}", "{operations}", "{records}", "{seed}", "{folder}/result"},
                               .settings = {{"records", 300'000}},  // in the tree before
                               .run_folder = "/tmp/txlab.XXXXXX",
                               .only_operations = true},
      .operations = 10'000,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", {1, 2, 4, 8, 12, 18, attempt_threads}},
      .variants = kyoto_locks(),
      .facts = kyoto_facts(),
      .remark =
          "The paper does 1 M and 5 M operations on a tree that is empty at the start; here it has 300,000 records.",
  };
}

}  // namespace

std::vector<experiment> whole_programs() {
  return {leveldb_fill("fillseq", "Fig 3", 22.5), leveldb_fill("fillrandom", "Fig 4", 25.2), leveldb_write_heavy(),
          leveldb_ycsb(), kyoto_cabinet()};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
