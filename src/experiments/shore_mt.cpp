// SPDX-License-Identifier: Apache-2.0
// The Shore-MT paper's Fig 1: pthread's reader-writer lock in the place of occ_rwlock, with and without elision by the
// C library. The paper's own locks are measured for comparison: occ_rwlock, the latch and the queue lock, each elided
// by the paper's policy.
#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

// The names of the curves.
constexpr const char* plain = "pthread rwlock";
constexpr const char* elided_inside = "pthread rwlock, HLE inside";
constexpr const char* elided_sections = "pthread rwlock, RTM";

/// The settings of the workload's preset occ-rwlock, here without its fences (33 cycles each) between critical
/// sections. transactions() adds them.
std::vector<setting> only_sections() { return {{"pairs", 1024}, {"reads", 100}, {"touches", 4}}; }
std::vector<setting> transactions() {
  std::vector<setting> made = only_sections();
  made.push_back({"outside", 1000});
  return made;
}

std::vector<variant> shared_locks(unsigned threads, const std::vector<setting>& settings) {
  return {{plain, "counting_rwlock", threads, settings},
          {elided_inside, "hle_counting_rwlock", threads, settings},
          {elided_sections, "glibc_counting_rwlock", threads, settings},
          {"occ_rwlock", "occ_rwlock", threads, settings},
          {"occ_rwlock, RTM", "shore_occ_rwlock", threads, settings},
          {"srwlock", "srwlock", threads, settings},
          {"srwlock, RTM", "shore_srwlock", threads, settings},
          {"mcs", "mcs", threads, settings},
          {"mcs, RTM", "shore_mcs", threads, settings}};
}

/// Without claims, because the numbers depend on how long a transaction is, which is assumed.
std::vector<fact> pthread_facts() {
  std::vector<fact> made;
  for (const char* const elided : {elided_inside, elided_sections}) {
    for (const std::uint64_t threads : {1, 2, 4, 8}) {
      made.push_back({.variant = elided,
                      .at = threads,
                      .expected = between(0.95, 1.05),
                      .source = "Fig 1 and section 3.2: negligible impact; taken as 5 % either way",
                      .read = reading::ratio,
                      .beside = plain});
    }
  }
  return made;
}

experiment in_transactions() {
  return {
      .id = "shore-mt-occ-rwlock",
      .title = "a reader-writer lock that each short transaction reads once, elided by the C library",
      .source = "Shore-MT paper, 3.2, Fig 1",
      .machine = "haswell-i7-4770",
      .workload = "readers",
      .operations = 1'000,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", {1, 2, 4, 8}},
      .variants = shared_locks(1, transactions()),
      .facts = pthread_facts(),
      .remark =
          "The paper does not say what its C library elided. Both ways are here. Until 2.24, glibc's lock was counters "
          "under a small lock. The first way elides the small lock by HLE, as the paper says. The second elides whole "
          "sections by attempts, as in the experimental glibc that the paper names. It follows glibc's rule: three "
          "tries; a section that finds the lock held takes it, and so do the next three. Nobody writes, as checkpoints "
          "are rare; so nobody waits for a condition, which the paper blames. The length of a transaction, 10 us, is "
          "ours, and the hits depend on it: the paper gives none. Its own elision of occ_rwlock, RTM, has no number "
          "alone there.",
  };
}

experiment other_lengths() {
  return {
      .id = "shore-mt-occ-rwlock-apart",
      .title = "the same with transactions of other lengths, eight threads",
      .source = "Shore-MT paper, 3.2",
      .machine = "haswell-i7-4770",
      .workload = "readers",
      .operations = 1'000,
      .measured = quantity::throughput,
      .along = {"outside", "cycles between sections", {0, 10, 30, 100, 300, 1000}, 33},
      .variants = shared_locks(8, only_sections()),
      .facts = {},
      .remark =
          "The paper has no numbers of this; it shows from which length on the impact is negligible. In the model, "
          "cores that want one line at once do not queue for it. With almost nothing between sections, occ_rwlock is "
          "faster here than it can be.",
  };
}

}  // namespace

std::vector<experiment> shore_mt() { return {in_transactions(), other_lengths()}; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
