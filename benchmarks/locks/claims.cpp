// SPDX-License-Identifier: Apache-2.0
#include "locks/claims.hpp"

#include <cstring>
#include <optional>

#include "locks/compared_rounds.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::claim;

std::size_t index_of(const request& wanted, const char* name) {
  std::size_t index = 0;
  while (index < wanted.subjects.size() && std::strcmp(wanted.subjects[index].name, name) != 0) ++index;
  return index;
}

std::size_t position(const std::vector<cell>& cells, const cell* one) {
  return static_cast<std::size_t>(one - cells.data());
}

/// Two claims of one subject against its peers: no cell far below, and the mean above.
void against_peers(const std::vector<comparison>& compared, const char* subject, std::vector<claim>& claims) {
  std::vector<std::vector<double>> ratios;
  std::vector<std::size_t> from;
  unsigned missed = 0;
  for (const comparison& one : compared) {
    if (one.subject != subject) continue;
    ratios.push_back(one.result.ratios);
    from.insert(from.end(), one.from.begin(), one.from.end());
    if (observe::judge(one.result.ratio, lowest_ratio) == observe::outcome::missed) ++missed;
  }
  if (ratios.empty()) return;
  claims.push_back({.id = "A1-3",
                    .words = std::string(subject) + ", cells whose ratio to the best peer of its class is under 0.95",
                    .value = missed,
                    .goal = 0,
                    .outcome = observe::judge(missed == 0),
                    .from = from,
                    .rule = "a cell counts when the upper 95 % bound of its ratio is under 0.95"});
  claims.push_back(
      observe::judged({.id = "A1-3",
                       .words = std::string(subject) + ", geometric mean of the ratio to the best peer over all cells",
                       .from = from},
                      observe::geometric_mean(ratios), goal_mean));
}

/// How much of its 2-thread figure a lock keeps with more threads than the machine has cores.
void oversubscribed(const request& wanted, const std::vector<cell>& cells, const char* name,
                    std::vector<claim>& claims) {
  const std::size_t subject = index_of(wanted, name);
  std::optional<observe::interval> worst;
  std::vector<std::size_t> from;
  std::string where;
  for (std::size_t section_index = 0; section_index < wanted.sections.size(); ++section_index) {
    const cell* const two = find_cell(cells, section_index, 2, subject);
    for (const unsigned threads : {4u, 8u}) {
      const cell* const more = find_cell(cells, section_index, threads, subject);
      if (!comparable(two, more)) continue;
      from.push_back(position(cells, two));
      from.push_back(position(cells, more));
      const observe::interval kept = ratio_of(*more, *two);
      if (worst && !observe::is_worse(kept, *worst, goal_kept)) continue;
      worst = kept;
      where = wanted.sections[section_index].name + ", " + std::to_string(threads) + " threads";
    }
  }
  if (!worst) return;
  claims.push_back(observe::judged(
      {.id = "A1-4",
       .words = std::string(name) + ", least part of its 2-thread figure kept at 4 and 8 threads (" + where + ")",
       .from = from},
      *worst, goal_kept));
  claims.back().rule += " in the worst cell";
}

/// One thread, which never waits.
void uncontended(const request& wanted, const std::vector<comparison>& compared, const char* subject,
                 std::vector<claim>& claims) {
  for (const comparison& one : compared) {
    const std::string& section = wanted.sections[one.section].name;
    if (one.subject != subject || one.threads != 1 || (section != "empty" && section != "small")) continue;
    claims.push_back(observe::judged(
        {.id = "A3-4",
         .words = one.subject + ", ratio to the best peer of its class, " + section + ", 1 thread (" + one.peer + ")",
         .from = one.from},
        one.result.ratio, min_uncontended_ratio));
  }
}

/// What site and counting add to the same mutex without them, one thread.
void counting(const request& wanted, const std::vector<cell>& cells, const char* section_name, double goal,
              std::vector<claim>& claims) {
  const std::size_t with = index_of(wanted, "txsync::mutex");
  const std::size_t without = index_of(wanted, "futex");
  for (std::size_t section_index = 0; section_index < wanted.sections.size(); ++section_index) {
    if (wanted.sections[section_index].name != section_name) continue;
    const cell* const counted = find_cell(cells, section_index, 1, with);
    const cell* const plain = find_cell(cells, section_index, 1, without);
    if (!comparable(counted, plain)) continue;
    observe::interval cost = ratio_of(*plain, *counted);
    for (double* const bound : {&cost.median, &cost.low95, &cost.high95}) *bound -= 1;
    claims.push_back(
        observe::judged({.id = "A1-5",
                         .words = std::string("time that site and counting add to a section, ") + section_name,
                         .from = {position(cells, counted), position(cells, plain)}},
                        cost, goal, observe::better::lower));
  }
}

}  // namespace

namespace {

void compare_with_peers(const request& wanted, const std::vector<cell>& cells, const char* subject,
                        std::vector<comparison>& all) {
  const std::size_t ours = index_of(wanted, subject);
  if (ours == wanted.subjects.size()) return;
  for (std::size_t section_index = 0; section_index < wanted.sections.size(); ++section_index) {
    for (const unsigned threads : wanted.threads) {
      const cell* const mine = find_cell(cells, section_index, threads, ours);
      comparison one{subject, section_index, threads, {}, {}, {}};
      std::vector<const cell*> peers;
      for (std::size_t other = 0; other < wanted.subjects.size(); ++other) {
        const workloads::subject& peer = wanted.subjects[other];
        const cell* const theirs = find_cell(cells, section_index, threads, other);
        if (!peer.peer || peer.how != wanted.subjects[ours].how || !comparable(mine, theirs)) continue;
        peers.push_back(theirs);
      }
      const auto result = compare_to_best(wanted, mine, peers);
      if (!result) continue;
      one.result = *result;
      one.peer = result->peer_name;
      one.from.push_back(position(cells, mine));
      for (const cell* const peer : peers) one.from.push_back(position(cells, peer));
      all.push_back(std::move(one));
    }
  }
}

}  // namespace

std::vector<comparison> compare_with_peers(const request& wanted, const std::vector<cell>& cells) {
  std::vector<comparison> all;
  for (const char* const subject : {"txsync::mutex", "spin", "tatas"}) compare_with_peers(wanted, cells, subject, all);
  return all;
}

std::vector<bound_cost> costs_of_bound(const request& wanted, const std::vector<cell>& cells) {
  const std::size_t bounded = index_of(wanted, "futex"), unbounded = index_of(wanted, "unbounded futex");
  std::vector<bound_cost> all;
  for (std::size_t section_index = 0; section_index < wanted.sections.size(); ++section_index) {
    for (const unsigned threads : wanted.threads) {
      const cell* const with = find_cell(cells, section_index, threads, bounded);
      const cell* const without = find_cell(cells, section_index, threads, unbounded);
      if (comparable(with, without)) all.push_back({section_index, threads, ratio_of(*with, *without)});
    }
  }
  return all;
}

std::vector<claim> make_claims(const request& wanted, const std::vector<cell>& cells,
                               const std::vector<comparison>& compared) {
  std::vector<claim> claims;
  against_peers(compared, "txsync::mutex", claims);
  against_peers(compared, "spin", claims);
  against_peers(compared, "tatas", claims);
  uncontended(wanted, compared, "txsync::mutex", claims);
  for (const char* const name : {"txsync::mutex", "spin", "tatas", "ticket", "mcs"})
    oversubscribed(wanted, cells, name, claims);
  counting(wanted, cells, "small", goal_counting_small, claims);
  counting(wanted, cells, "empty", goal_counting_empty, claims);
  return claims;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
