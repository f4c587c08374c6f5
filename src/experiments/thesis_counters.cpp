// SPDX-License-Identifier: Apache-2.0
// The thesis on TSX in InnoDB (2014), section 3.3.2: increments of counters, one for all threads or one per core.
#include "experiments/thesis_words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

constexpr unsigned cores = 4;
enum layout : std::uint64_t { single, unaligned, aligned, global };

/// Increments in one layout, over the number of threads.
experiment counters(const char* id, const char* title, const char* figure, layout which) {
  return {
      .id = id,
      .title = title,
      .source = std::string("thesis on TSX in InnoDB, 3.3.2, ") + figure,
      .machine = thesis_machine,
      .workload = "counters",
      .operations = 10'000,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", {1, 2, cores, 8}},
      .variants = locks_of_the_thesis(1, {{"layout", which}}),
      .facts = {},
  };
}

experiment single_counter() {
  experiment made = counters("thesis-counter-single", "one counter for all threads", "Fig 3.13", single);
  const char* const alone = "3.3.2: with one thread HTM is clearly worse";
  const char* const together = "3.3.2: HTM is no better than what is not elided";
  made.facts = {answering(over("HLE", "TAS", 1, at_most(1), alone)),
                answering(over("elision only", "TAS", 1, at_most(1), alone)),
                answering(over("HLE", "TAS", cores, at_most(1), together)),
                answering(over("elision only", "TAS", cores, at_most(1), together)),
                share("elision only", 1, quantity::aborted_cycles, 0.08, "3.3.2: 0.08 % aborted cycles"),
                share("elision only", cores, quantity::aborted_cycles, 37, "3.3.2: 37 % aborted cycles")};
  made.remark =
      "Half of RTM's attempts meet another's at the counter. Each takes one line from core to core, where a lock's "
      "section takes two: that is the factor of two here. Nine of ten of HLE's elisions abort and take the lock.";
  return made;
}

experiment side_by_side() {
  experiment made = counters("thesis-counters-unaligned", "a counter a core, all on one line", "Fig 3.14", unaligned);
  const char* const source = "3.3.2: HLE and RTM perform extremely badly";
  made.facts = {answering(over("HLE", "TAS", cores, at_most(1), source)),
                answering(over("elision only", "TAS", cores, at_most(1), source))};
  return made;
}

experiment apart() {
  experiment made = counters("thesis-counters-aligned", "a counter a core, each on a line of its own, a lock each",
                             "Fig 3.15", aligned);
  const char* const source = "3.3.2: HTM is not ahead of what is not elided";
  made.facts = {answering(over("HLE", "TAS", cores, at_most(1), source)),
                answering(over("elision only", "TAS", cores, at_most(1), source)),
                growth("HLE", cores, 2, at_least(1), "3.3.2: grows from two threads to four"),
                growth("elision only", cores, 2, at_least(1), "3.3.2: grows from two threads to four"),
                share("elision only", cores, quantity::aborted_cycles, 0, "3.3.2: 0 % aborted cycles")};
  return made;
}

experiment one_lock() {
  experiment made = counters("thesis-counters-global", "the same under one lock", "Fig 3.16", global);
  const char* const source = "3.3.2: POSIX and TAS suffer, HLE does not";
  made.facts = {
      answering(over("HLE", "POSIX", cores, at_least(1), source)),
      answering(over("HLE", "TAS", cores, at_least(1), source)),
      over("elision only", "HLE", cores, at_least(1), "Fig 3.16: one thread's abort ends no others' attempts")};
  return made;
}

/// What the figures say about each other.
experiment layouts() {
  const char* const slight = "3.3.2: only a slight difference";
  const char* const greatly = "3.3.2: suffers greatly; taken as a loss of half or more";
  return {
      .id = "thesis-counters-layouts",
      .title = "counters of four threads, a counter a core",
      .source = "thesis on TSX in InnoDB, 3.3.2, Figs 3.14 to 3.16",
      .machine = thesis_machine,
      .workload = "counters",
      .operations = 10'000,
      .measured = quantity::throughput,
      .along = {"layout", "layout", {unaligned, aligned, global}, 1, {"one line", "lines of their own", "one lock"}},
      .variants = locks_of_the_thesis(cores),
      .facts = {growth("HLE", aligned, unaligned, exactly(10), "3.3.2: about ten times as fast"),
                growth("elision only", aligned, unaligned, exactly(10), "3.3.2: about ten times as fast"),
                growth("TAS", aligned, unaligned, at_least(1), "3.3.2: TAS profits too"),
                answering(growth("HLE", global, aligned, at_least(0.8), slight)),
                growth("elision only", global, aligned, exactly(1), "RTM takes no lock"),
                answering(growth("TAS", global, aligned, at_most(0.5), greatly)),
                answering(growth("POSIX", global, aligned, at_most(0.5), greatly))},
      .remark =
          "On one line each of HLE's elisions aborts once, and half of RTM's attempts abort. An abort takes 160 cycles "
          "and a line from another core 60. Together they are four to five times the cycles of a section that has its "
          "line. The thesis's ten times are more aborts a section, or dearer ones.",
  };
}

}  // namespace

std::vector<experiment> thesis_counters() { return {single_counter(), side_by_side(), apart(), one_lock(), layouts()}; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
