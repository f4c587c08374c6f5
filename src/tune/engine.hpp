// SPDX-License-Identifier: Apache-2.0
// The tuner: which configuration of locks makes a program better than the reference, which is what its user has? And is
// that sure?
//
//  - Baseline run: the reference, once. Does it run, does the metric match, how long does it take? Not
//    counted.
//  - Phase 1: the candidates for the whole program are compared with each other (comparison.hpp).
//  - Phase 2: the sites that wait most (together 95 % of all waiting, at most 6), one after the other. Each gets the
//    other kinds of lock while everything else stays. First come the sites of the reference; those of phase 1's winner
//    only if that is better still. A change is taken if the whole 95 % interval of its ratio to the best so far lies
//    above 1. If there are several changes, fresh rounds show which are not needed, and those are left out.
//  - Phase 3, the proof: the result against the reference, in fresh rounds. The rounds that choose are never those that
//    prove: the best of several noisy ones looks better than it is. A gain is proven if the whole 95 % interval of the
//    ratio lies above 1. Otherwise the advice is to keep the reference.
//
// Configurations that let a thread starve are refused in any phase (fairness.hpp).
#pragma once

#include "tune/comparison.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

struct question {
  /// The first is what the user has, the reference. At least two.
  std::vector<std::string> candidates;
  /// The candidate that stands for the reference when single sites get other locks; empty: the reference itself.
  std::string site_base;
  /// The candidate whose runs count waits and turns in place of the reference's; empty: the reference's runs count
  /// them.
  std::string counted_reference = {};
  bool by_sites = true;  ///< phase 2 at all
  observe::better way = observe::better::lower;
  unsigned rounds = 10;  ///< of each comparison; at least 6, since fewer give no interval of 95 %
  double seconds = 0;    ///< for everything; 0: no limit
};

inline constexpr unsigned min_proof_rounds = 6;
inline constexpr unsigned max_sites = 6;

// Comparisons with the best so far, as for sites, and not with the reference:
/// of changed sites, each left out in turn;
inline constexpr std::string_view each_change = "changed sites one fewer";
/// between changed sites and the best for the whole program.
inline constexpr std::string_view sites_or_whole = "changed sites or whole program";

/// A comparison that was run.
struct phase_record {
  std::string name;  ///< "whole program", "site NAME", "proof", or one of the two above
  std::vector<arm> arms;
};

/// A comparison that the time limit ended before its rounds.
struct cut_comparison {
  std::string name;        ///< as phase_record's
  std::size_t rounds = 0;  ///< those that were run, which its intervals cover; 0: a site that was not tried at all
  unsigned of = 0;         ///< question::rounds
};

/// A configuration that was faster or slower, and let a thread starve.
struct refusal {
  configuration config;
  std::string reason;  ///< one sentence, with figures
};

struct outcome {
  std::vector<phase_record> phases;
  std::vector<site_seen> sites;  ///< what waited under the winner of phase 1, the longest waits first
  /// The sites that waited under the reference in phase 1, or under what counts for it, the longest waits first. Empty
  /// if nothing counts for it.
  std::vector<site_seen> reference_sites;
  std::size_t reference_runs = 0;  ///< how many runs reference_sites adds up
  configuration reference;
  configuration best;            ///< the result of phases 1 and 2; the reference if nothing looked better
  bool proven = false;           ///< phase 3 says that best is better than the reference
  observe::interval gain;        ///< ratio of best to the reference in the proof; coverage 0 without a proof
  unsigned proof_rounds = 0;     ///< rounds that `gain` is based on
  std::vector<refusal> refused;  ///< each once
  /// Why the run that counts for the reference failed, so that starving was not judged. Empty if it was judged.
  std::string unjudged;
  bool interrupted = false;
  std::vector<cut_comparison> cut_short;  ///< in the order of measuring; empty if the time was enough
  std::string broken;  ///< why the reference itself failed, one sentence: there is nothing to compare with
  double seconds = 0;  ///< for everything

  /// The proof's record, or null.
  const phase_record* proof() const {
    return phases.empty() || phases.back().name != "proof" ? nullptr : &phases.back();
  }
};

outcome tune(trial& runs, const question& asked, const environment& world);

/// For runs of that length. Counts each comparison with its rounds, without dropped losers and added rounds.
expected_time expected(const question& asked, double run_seconds);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
