// SPDX-License-Identifier: Apache-2.0
#include "preload/agreement.hpp"

#include <cmath>
#include <stdexcept>

#include "launch/launch.hpp"
#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr double goal = 0.10;  // A2-4: within 10 %
constexpr const char* sections = "1000000";

struct pair {
  const char* what;
  const char* member;
  std::vector<double> ours, own;
};

observe::point point_of(const pair& one, bool ours) {
  observe::point made;
  made.workload = "own_times";
  made.params = {{"sections", sections}};
  made.threads = 2;
  made.placement = "none";
  made.subject = ours ? "txsync run" : "the program itself";
  made.kind = ours ? observe::subject_kind::ours : observe::subject_kind::peer;
  made.metric = one.what;
  made.unit = "ns";
  made.way = observe::better::lower;
  made.values = ours ? one.ours : one.own;
  return made;
}

observe::claim claim_of(const pair& one, std::size_t first_point) {
  std::vector<double> off;
  for (std::size_t i = 0; i < one.ours.size(); ++i) off.push_back(std::fabs(one.ours[i] / one.own[i] - 1));
  return observe::judged(
      {.id = "A2-4",
       .words = std::string(one.what) + " of txsync run: how far from what the program measures itself",
       .from = {first_point, first_point + 1}},
      observe::median_interval(off), goal, observe::better::lower);
}

}  // namespace

void measure_agreement(observe::document& into, const std::string& program, unsigned rounds) {
  pair pairs[] = {{"time waited", "wait_ns", {}, {}}, {"time held", "hold_ns", {}, {}}};
  launch::launcher runs;
  launch::options what;
  what.command = {program, sections};
  what.capture = true;
  for (unsigned round = 0; round < rounds; ++round) {
    const launch::result ended = runs.launch(what);
    if (ended.exit_status != 0 || ended.sites.empty()) throw std::runtime_error("own_times failed: " + ended.output);
    const observe::json own = observe::json::parse(ended.output);
    const observe::site_record& site = ended.sites.front();
    const double ours[] = {static_cast<double>(site.wait_ns), static_cast<double>(site.hold_ns)};
    for (std::size_t i = 0; i < std::size(pairs); ++i) {
      pairs[i].ours.push_back(ours[i]);
      pairs[i].own.push_back(own.at(pairs[i].member).get<double>());
    }
  }
  for (const pair& one : pairs) {
    const std::size_t first = into.points.size();
    into.points.push_back(point_of(one, true));
    into.points.push_back(point_of(one, false));
    into.claims.push_back(claim_of(one, first));
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
