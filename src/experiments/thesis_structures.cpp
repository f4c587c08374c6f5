// SPDX-License-Identifier: Apache-2.0
// The thesis on TSX in InnoDB (2014), sections 3.3.1, 3.3.3 and 3.3.4, appendices C.6, C.7 and D.2: a bank, a list and
// a hash map.
#include "experiments/thesis_words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

constexpr unsigned four = 4;
constexpr unsigned two = 2;
constexpr std::uint64_t shared_draws = 1;

// ---- the bank

experiment bank() {
  const char* const ahead = "3.3.1: HTM is slightly ahead";
  const auto slightly = [&](const char* name, const char* beside) {
    return answering(over(name, beside, 50, at_least(1), ahead));
  };
  return {
      .id = "thesis-bank",
      .title = "a closed bank with 10,000 accounts, a lock each",
      .source = "thesis on TSX in InnoDB, 3.3.1, Fig 3.12",
      .machine = thesis_machine,
      .workload = "bank",
      .operations = 10'000,
      .measured = quantity::throughput,
      .along = {"reads", "% read", {0, 50, 100}},
      .variants = locks_of_the_thesis(four, {{"draws", shared_draws}}),
      .facts = {slightly("HLE", "POSIX"), slightly("HLE", "TAS"), slightly("elision only", "POSIX"),
                slightly("elision only", "TAS"),
                answering(over("POSIX", "TAS", 50, at_least(1), "3.3.1: POSIX is a little ahead of TAS"))},
      .remark =
          "Two sections hardly ever conflict unless two threads draw the same numbers. So locks rank by their cost "
          "alone and by the cost of a conflict. POSIX's waiters sleep, and pay for it here. Nothing in the model makes "
          "them faster than TAS, which was the cheaper one in the thesis's Fig 3.10 as well.",
  };
}

experiment small_bank() {
  return {
      .id = "thesis-bank-hundred",
      .title = "a closed bank with 100 accounts",
      .source = "thesis on TSX in InnoDB, C.6, Figs C.8 and C.9",
      .machine = thesis_machine,
      .workload = "bank",
      .operations = 10'000,
      .measured = quantity::throughput,
      .along = {"locking", "locks", {0, 1}, 1, {"a lock an account", "one lock"}},
      .variants = locks_of_the_thesis(four, {{"accounts", 100}, {"draws", shared_draws}}),
      .facts = {},
      .remark = "The thesis's text has no numbers of these drawings.",
  };
}

// ---- the list

experiment list() {
  const char* const all_read = "3.3.3: with 100 % read HTM is well ahead";
  return {
      .id = "thesis-list",
      .title = "a doubly linked list of 100 items under one lock, two threads",
      .source = "thesis on TSX in InnoDB, 3.3.3, Fig 3.17",
      .machine = thesis_machine,
      .workload = "list",
      .operations = 5'000,
      .measured = quantity::throughput,
      .along = {"reads", "% read", {0, 25, 50, 75, 100}},
      .variants = locks_of_the_thesis(two),
      .facts = {answering(over("HLE", "POSIX", 100, at_least(1), all_read)),
                answering(over("HLE", "TAS", 100, at_least(1), all_read)),
                answering(over("elision only", "POSIX", 100, at_least(1), all_read)),
                answering(over("elision only", "TAS", 100, at_least(1), all_read)),
                answering(over("HLE", "POSIX", 0, at_least(1), "3.3.3: with 0 % read HLE is ahead")),
                answering(over("HLE", "TAS", 0, at_least(1), "3.3.3: with 0 % read HLE is ahead")),
                answering(over("elision only", "TAS", 0, at_most(1), "3.3.3: with 0 % read RTM is behind TAS")),
                growth("HLE", 50, 0, at_most(1), "3.3.3: 50 % read is slower than 0 %"),
                growth("HLE", 50, 100, at_most(1), "3.3.3: 50 % read is slower than 100 %"),
                {.variant = "HLE",
                 .at = 50,
                 .expected = at_most(1e6),
                 .source = "3.3.3: every lock below 1000 operations per ms"}},
      .remark =
          "A lookup of 100 items takes about 1000 cycles here, where the thesis's takes over 4000; what else its loop "
          "does it does not say. With 0 % read, RTM commits four of five attempts: most that do not have met the other "
          "thread's removal at the first item. The thesis's shape otherwise: slowest at some read and some update.",
  };
}

experiment list_sizes() {
  return {
      .id = "thesis-list-size",
      .title = "lookups in lists of other sizes, one thread",
      .source = "thesis on TSX in InnoDB, 3.3.3",
      .machine = thesis_machine,
      .workload = "list",
      .operations = 1'000,
      .along = {"items", "items", {100, 250, 500, 1000}},
      .variants = {{"HLE", "hle_tas_t", 1, {{"reads", 100}, {"values", 1'000'000}}}},
      .facts = {share("HLE", 1000, quantity::abort_rate, 100, "3.3.3: 1000 items make elision impossible")},
      .remark =
          "Values are drawn from so many that lookups go through the whole list. The thesis takes the L1 for the bound "
          "of what an attempt reads. In its own Fig 3.2, to which the model is fitted, reads of 64 KiB commit.",
  };
}

experiment list_alignment() {
  const std::string by_malloc = ", malloc";
  std::vector<variant> variants = locks_of_the_thesis(two);
  for (variant& one : locks_of_the_thesis(two, {{"alignment", 1}}, by_malloc)) variants.push_back(std::move(one));
  return {
      .id = "thesis-list-alignment",
      .title = "the same list with items that share lines, two threads",
      .source = "thesis on TSX in InnoDB, D.2, Figs 3.17 and D.6",
      .machine = thesis_machine,
      .workload = "list",
      .operations = 5'000,
      .measured = quantity::throughput,
      .along = {"reads", "% read", {0, 50, 100}},
      .variants = std::move(variants),
      .facts = {over("elision only", "elision only" + by_malloc, 0, exactly(3),
                     "D.2: with 0 % read RTM is three times as fast with aligned items"),
                over("elision only", "elision only" + by_malloc, 50, at_least(1), "D.2: otherwise not nearly as much"),
                over("elision only", "elision only" + by_malloc, 100, at_least(1),
                     "D.2: otherwise not nearly as much")},
      .remark =
          "The simulated heap gives each thread blocks from a list of its own, so items of two threads seldom share a "
          "line. With 0 % reads, 22 % of RTM's attempts abort; with aligned items, 19 %. Most abort at the first item, "
          "which is the same one either way.",
  };
}

experiment list_with_four_threads() {
  return {
      .id = "thesis-list-four",
      .title = "a list with items as malloc gives them, four threads",
      .source = "thesis on TSX in InnoDB, D.2, Fig D.5 and Table D.1",
      .machine = thesis_machine,
      .workload = "list",
      .operations = 2'000,
      .measured = quantity::throughput,
      .along = {"reads", "% read", {0, 50, 100}},
      .variants = locks_of_the_thesis(four, {{"alignment", 1}}),
      .facts = {growth("TAS", 100, 0, at_least(1), "D.2: the more reads, the better"),
                growth("TAS", 100, 50, at_least(1), "D.2: the more reads, the better"),
                share("HLE", 50, quantity::transactional_cycles, 13.31, "Table D.1"),
                share("HLE", 50, quantity::aborted_cycles, 64.61, "Table D.1")},
      .remark =
          "The thesis does not say at which share of reads its Table D.1 was taken: 50 % is assumed. Half of HLE's "
          "aborts are at the lock that a thread has taken after an abort. Most others are at the first items, which "
          "removals write; RTM alone makes little progress there. Removals look for the oldest items, which stand "
          "first, so that updates are short and TAS is fastest without reads.",
  };
}

// ---- the hash map

std::string speedup(const char* table) { return std::string("3.3.4, ") + table; }

void add_speedups(std::vector<fact>& facts) {
  facts.push_back(answering(over("HLE", "POSIX", 10, exactly(2.30), speedup("Fig 3.18"))));
  facts.push_back(answering(over("HLE", "POSIX", 100, exactly(2.34), speedup("Fig 3.18"))));
  facts.push_back(over("TAS", "POSIX", 10, exactly(1.99), speedup("Table 3.4")));
  facts.push_back(over("TAS", "POSIX", 100, exactly(8.52 / 4.42), speedup("Table 3.4")));
  facts.push_back(over("elision only", "POSIX", 10, exactly(2.37), speedup("Table 3.4")));
  facts.push_back(over("elision only", "POSIX", 100, exactly(11.29 / 4.42), speedup("Table 3.4")));
}

/// Table 3.4 gives all locks in percent of POSIX with 10 buckets.
void add_ratios_without_posix(std::vector<fact>& facts) {
  facts.push_back(over("HLE", "TAS", 10, exactly(2.30 / 1.99), speedup("Table 3.4")));
  facts.push_back(over("HLE", "TAS", 100, exactly(10.33 / 8.52), speedup("Table 3.4")));
  facts.push_back(over("elision only", "HLE", 10, exactly(2.37 / 2.30), speedup("Table 3.4")));
  facts.push_back(over("elision only", "HLE", 100, exactly(11.29 / 10.33), speedup("Table 3.4")));
}

void add_growth(std::vector<fact>& facts) {
  facts.push_back(growth("POSIX", 100, 10, exactly(4.42), "Table 3.4"));
  facts.push_back(growth("TAS", 100, 10, exactly(4.27), "Table 3.4"));
  facts.push_back(growth("HLE", 100, 10, exactly(4.50), "Table 3.4"));
  facts.push_back(growth("elision only", 100, 10, exactly(4.76), "Table 3.4"));
}

void add_indicators(std::vector<fact>& facts) {
  facts.push_back(answering(share("HLE", 10, quantity::abort_rate, 45.11, "Table 3.3")));
  facts.push_back(answering(share("HLE", 100, quantity::abort_rate, 15.02, "Table 3.3")));
  facts.push_back(share("HLE", 10, quantity::transactional_cycles, 53.06, "Table 3.3"));
  facts.push_back(share("HLE", 100, quantity::transactional_cycles, 30.58, "Table 3.3"));
  facts.push_back(share("HLE", 10, quantity::aborted_cycles, 34.31, "Table 3.3"));
  facts.push_back(share("HLE", 100, quantity::aborted_cycles, 6.72, "Table 3.3"));
}

experiment bucket_locks() {
  experiment made{
      .id = "thesis-hashmap-buckets",
      .title = "a hash map of 1000 items with a lock a bucket",
      .source = "thesis on TSX in InnoDB, 3.3.4, Fig 3.18, Tables 3.3 and 3.4",
      .machine = thesis_machine,
      .workload = "hashmap",
      .operations = 5'000,
      .measured = quantity::throughput,
      .along = {"buckets", "buckets", {10, 100}},
      .variants = locks_of_the_thesis(four),
      .facts = {},
  };
  made.remark =
      "With 10 buckets 8 of 100 elisions abort. 6 conflict with an update of their bucket, mostly a removal near its "
      "front; 2 find its lock taken. With 100 buckets not one aborts. Threads with random numbers of their own "
      "conflict no oftener; what conflicted in the thesis is not known. There is less work between sections here: with "
      "100 buckets they are 59 % of all cycles, and 31 % in the thesis. With 100 buckets POSIX's waiters hardly ever "
      "sleep.";
  add_speedups(made.facts);
  add_ratios_without_posix(made.facts);
  add_growth(made.facts);
  add_indicators(made.facts);
  return made;
}

experiment single_bucket() {
  const char* const source = "3.3.4: a single bucket; of 10 or of 100 buckets it does not say";
  return {
      .id = "thesis-hashmap-single",
      .title = "the same with a single bucket",
      .source = "thesis on TSX in InnoDB, 3.3.4",
      .machine = thesis_machine,
      .workload = "hashmap",
      .operations = 500,
      .measured = quantity::throughput,
      .along = {"buckets", "buckets", {1, 10}},
      .variants = locks_of_the_thesis(four),
      .facts = {growth("TAS", 10, 1, exactly(13), source), growth("elision only", 10, 1, exactly(33), source)},
      .remark =
          "Four threads take turns at one lock, with lists ten times as long. TAS loses by both; RTM loses by the "
          "length and a few aborts.",
  };
}

experiment global_lock() {
  constexpr std::uint64_t a_bucket = 0;
  constexpr std::uint64_t global = 1;
  const char* const vastly = "3.3.4: vastly faster with a lock a bucket; taken as twice or more";
  return {
      .id = "thesis-hashmap-global",
      .title = "a hash map of 1000 items and 1000 buckets",
      .source = "thesis on TSX in InnoDB, 3.3.4, Fig 3.19 and Table 3.5",
      .machine = thesis_machine,
      .workload = "hashmap",
      .operations = 10'000,
      .measured = quantity::throughput,
      .along = {"locking", "locks", {a_bucket, global}, 1, {"a lock a bucket", "one lock"}},
      .variants = locks_of_the_thesis(four, {{"buckets", 1000}}),
      .facts = {answering(share("HLE", global, quantity::aborted_cycles, 53.56, "Table 3.5")),
                answering(share("HLE", a_bucket, quantity::aborted_cycles, 5.81, "Table 3.5")),
                share("HLE", global, quantity::transactional_cycles, 25.90, "Table 3.5"),
                share("HLE", a_bucket, quantity::transactional_cycles, 22.19, "Table 3.5"),
                growth("POSIX", a_bucket, global, at_least(2), vastly),
                growth("TAS", a_bucket, global, at_least(2), vastly),
                over("HLE", "TAS", global, at_least(1), "3.3.4: HLE does not suffer as much as TAS"),
                over("HLE", "elision only", global, at_most(1), "3.3.4: HLE is behind RTM"),
                growth("elision only", global, a_bucket, exactly(1), "3.3.4: RTM takes no lock")},
      .remark =
          "The avalanche that the thesis describes is here. Of some 450 aborts about 20 are conflicts of data; all "
          "others are of threads that found the lock taken after a fallback. But sections of a thousand buckets "
          "conflict once in 2000, and the lock is free again before most see it taken.",
  };
}

experiment map_sizes() {
  return {
      .id = "thesis-hashmap-sizes",
      .title = "a hash map of 10,000 items of various sizes under one lock",
      .source = "thesis on TSX in InnoDB, C.7, Fig C.10",
      .machine = thesis_machine,
      .workload = "hashmap",
      .operations = 1'000,
      .measured = quantity::throughput,
      .along = {"buckets", "buckets", {100, 1000, 10'000}},
      .variants = locks_of_the_thesis(four, {{"items", 10'000}, {"locking", 1}}),
      .facts = {},
      .remark = "The thesis's text has no numbers of this drawing.",
  };
}

}  // namespace

std::vector<experiment> thesis_structures() {
  return {bank(),         small_bank(),    list(),        list_sizes(), list_alignment(), list_with_four_threads(),
          bucket_locks(), single_bucket(), global_lock(), map_sizes()};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
