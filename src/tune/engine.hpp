// SPDX-License-Identifier: Apache-2.0
// The tuner: which choice of locks makes a program better than what its user has, and is that sure?
//
//   rehearsal  what the user has, once: does it run, does the metric match, how long does it take. Not counted.
//   phase 1    the candidates for the whole program against each other (contest.hpp).
//   phase 2    the sites that wait most (together 95 % of all waiting, at most 6), one after the other: each gets the
//              other kinds of lock while all else stays. First those of what the user has; those of phase 1's winner
//              only if that is better still. A change is taken when the whole 95 % interval of its ratio to the best
//              so far lies above 1; of several, those that are not needed are left out in fresh rounds.
//   phase 3    the proof: what came out against what the user has, in fresh rounds. The rounds that chose are never
//              those that prove: the best of several noisy ones looks better than it is. A gain is proven when the
//              whole 95 % interval of the ratio lies above 1; else the advice is to keep what one has.
//
// Choices that let a thread starve are refused in any phase (fairness.hpp).
#pragma once

#include "tune/contest.hpp"

namespace txsync::inline TXSYNC_BACKEND::tune {

struct question {
  /// The first is what the user has, the reference. At least two.
  std::vector<std::string> candidates;
  /// The candidate that stands for the reference where single sites get other locks; empty: the reference itself.
  std::string site_base;
  /// The candidate whose runs count waits and turns in place of the reference's; empty: the reference's runs count
  /// them.
  std::string counted_reference = {};
  bool by_sites = true;  ///< phase 2 at all
  observe::better way = observe::better::lower;
  unsigned rounds = 10;  ///< of each contest; at least 6, fewer give no interval of 95 %
  double seconds = 0;    ///< for everything; 0: no limit
};

inline constexpr unsigned least_rounds_of_a_proof = 6;
inline constexpr unsigned most_sites = 6;

// Contests that compare with the best so far, as those of sites do, and not with the reference:
/// of changed sites, each left out in turn;
inline constexpr std::string_view each_change = "changed sites one fewer";
/// between changed sites and the best for the whole program.
inline constexpr std::string_view sites_or_whole = "changed sites or whole program";

/// A contest that was run.
struct phase_record {
  std::string name;  ///< "whole program", "site NAME", "proof", or one of the two above
  std::vector<lane> lanes;
};

/// A contest that the time limit ended before its rounds.
struct cut_contest {
  std::string name;        ///< as phase_record's
  std::size_t rounds = 0;  ///< that were run, and that its intervals cover; 0: a site that was not tried at all
  unsigned of = 0;         ///< question::rounds
};

/// A choice that was faster or slower, and let a thread starve.
struct refusal {
  choice what;
  std::string reason;  ///< one sentence, with figures
};

struct outcome {
  std::vector<phase_record> phases;
  std::vector<site_seen> sites;  ///< what waited under the winner of phase 1, most first
  /// The sites that waited under the reference in phase 1, or under what counts for it, most first; empty if nothing
  /// counts for it.
  std::vector<site_seen> reference_sites;
  std::size_t reference_runs = 0;  ///< that reference_sites are the sum of
  choice reference;
  choice best;                   ///< what came out of phases 1 and 2; the reference when nothing looked better
  bool proven = false;           ///< phase 3 says that best is better than the reference
  observe::interval gain;        ///< ratio of best to the reference in the proof; coverage 0 without a proof
  unsigned proof_rounds = 0;     ///< rounds that `gain` rests on
  std::vector<refusal> refused;  ///< each once
  /// Why the run that counts for the reference failed, so that starving was not judged; empty where it was.
  std::string unjudged;
  bool interrupted = false;
  std::vector<cut_contest> cut_short;  ///< in the order of measuring; empty where the time was enough
  std::string broken;                  ///< the reference itself failed, one sentence: there is nothing to compare with
  double seconds = 0;                  ///< of everything

  /// The proof's record, or null.
  const phase_record* proof() const {
    return phases.empty() || phases.back().name != "proof" ? nullptr : &phases.back();
  }
};

outcome tune(trial& runs, const question& asked, const surroundings& world);

/// For runs of that length. Counts each contest with its rounds, no loser dropped and no round added.
expected_time expected(const question& asked, double run_seconds);

}  // namespace txsync::inline TXSYNC_BACKEND::tune
