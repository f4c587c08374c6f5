// SPDX-License-Identifier: Apache-2.0
#include "locks/counting_cost.hpp"

#include <algorithm>
#include <utility>

#include "locks/counted_sections.hpp"
#include "locks/measure.hpp"
#include "observe/document/more_rounds.hpp"
#include "observe/statistics.hpp"
#ifdef TXSYNC_HAS_MODELS
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr double goal = 0.03;
constexpr unsigned max_simulated_rounds = 12;

/// The time that counting adds, as a part of the section without it.
observe::interval added(const counting_cost& one) {
  observe::interval cost = observe::ratio_interval(one.counted, one.uncounted);
  for (double* const bound : {&cost.median, &cost.low95, &cost.high95}) *bound -= 1;
  return cost;
}

void add_round(counting_cost& into, double counted_ns, double uncounted_ns, unsigned sections) {
  into.counted.push_back(counted_ns / sections);
  into.uncounted.push_back(uncounted_ns / sections);
}

counting_cost measure_here(unsigned rounds, bool until_decided) {
  constexpr unsigned sections = 100'000;
  counting_cost made;
  for (unsigned series = 0; series < (until_decided ? observe::max_round_factor : 1) && !interrupted(); ++series) {
    run_counted_sections(rounds, sections, [&](const counted_round& seen) {
      add_round(made, static_cast<double>(seen.counted), static_cast<double>(seen.uncounted), sections);
    });
    if (observe::judge(added(made), goal, observe::better::lower) != observe::outcome::undecided) break;
  }
  return made;
}

#ifdef TXSYNC_HAS_MODELS
/// Rounds in virtual time differ little: in what is done only now and then.
counting_cost simulate(const char* model, unsigned rounds) {
  constexpr unsigned sections = 10'000;
  sim::image_request request;
  request.path = sim::image_file("counted");
  request.model = sim::load_machine(model).model;
  request.arguments = {std::to_string(rounds), std::to_string(sections)};
  const sim::image_result ended = sim::run_image(request);
  if (ended.status != 0) throw sim::image_error(ended.messages.substr(0, ended.messages.find('\n')));
  counting_cost made{.machine = model, .counted = {}, .uncounted = {}};
  for (unsigned round = 0; round < rounds; ++round) {
    char number[16];
    std::snprintf(number, sizeof number, ".%03u", round % 1'000);
    const auto ns = [&](const char* name) {
      return static_cast<double>(ended.program_number(std::string(name) + number));
    };
    add_round(made, ns("counted"), ns("uncounted"), sections);
  }
  return made;
}
#endif

observe::point point_of(const counting_cost& one, bool counted) {
  observe::point made;
  made.workload = "elided section";
  made.params["writes"] = counted_writes;
  if (!one.machine.empty()) made.params["machine"] = one.machine;
  made.threads = 1;
  made.placement = "cores-first";
  made.subject = counted ? "elided tatas, counted" : "elided tatas, counting off";
  made.metric = "time";
  made.unit = one.machine.empty() ? "ns/section" : "ns/section, simulated";
  made.way = observe::better::lower;
  made.values = counted ? one.counted : one.uncounted;
  return made;
}

observe::claim claim_of(const counting_cost& one) {
  const std::string where = one.machine.empty() ? "" : ", " + one.machine + ", simulated";
  return observe::judged(
      {.id = "A4-1", .words = "time that counting attempts adds to an elided section of 10 writes" + where}, added(one),
      goal, observe::better::lower);
}

}  // namespace

std::vector<counting_cost> measure_counting_cost(unsigned rounds, bool until_decided) {
  if (machine::htm().attempts) return {measure_here(rounds, until_decided)};
  std::vector<counting_cost> all;
#ifdef TXSYNC_HAS_MODELS
  try {
    for (const char* const model : {"haswell-i7-4770", "broadwell-e5-2697v4"}) {
      if (!interrupted()) all.push_back(simulate(model, std::min(rounds, max_simulated_rounds)));
    }
  } catch (const sim::image_error& error) {
    std::fprintf(stderr, "bench_locks: what counting attempts costs was not measured: %s\n", error.what());
  }
#endif
  return all;
}

void print_counting_cost(std::FILE* out, const std::vector<counting_cost>& costs) {
  if (costs.empty()) return;
  std::fprintf(out,
               "\nWhat counting attempts adds to an elided section of 10 writes, one thread\n%-32s %14s %10s  %s\n",
               "machine", "counting off", "counted", "added, % [95 %]");
  for (const counting_cost& one : costs) {
    const observe::interval cost = added(one);
    const std::string where = one.machine.empty() ? "this one" : one.machine + ", simulated";
    std::fprintf(out, "%-32s %11.2f ns %7.2f ns  %.2f [%.2f, %.2f]\n", where.c_str(),
                 observe::summarize(one.uncounted).median, observe::summarize(one.counted).median, 100 * cost.median,
                 100 * cost.low95, 100 * cost.high95);
  }
}

void add_counting_cost(observe::document& result, const std::vector<counting_cost>& costs, bool with_claims) {
  for (const counting_cost& one : costs) {
    observe::claim claim = claim_of(one);
    for (const bool counted : {false, true}) {
      claim.from.push_back(result.points.size());
      result.points.push_back(point_of(one, counted));
    }
    if (with_claims) result.claims.push_back(std::move(claim));
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
