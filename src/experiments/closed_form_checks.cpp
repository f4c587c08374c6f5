// SPDX-License-Identifier: Apache-2.0
// Simulations of cases that have a formula. They say nothing about real machines; they show that the simulation does
// what its model says.
#include <utility>

#include <fmt/core.h>

#include "experiments/closed_forms.hpp"
#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

/// Lines of a 4 MiB array. There are so many per set that random lines fall into sets almost independently.
constexpr std::uint64_t places = 65'536;
constexpr unsigned sets = 64;
constexpr unsigned lines_each = places / sets;
const std::vector<setting> anywhere{{"order", 1}, {"places", places}};

std::vector<fact> overflow_facts(const std::vector<std::uint64_t>& positions, const cache_shape& of) {
  std::vector<fact> facts;
  facts.reserve(positions.size());
  for (const std::uint64_t lines : positions) {
    const double chance = overflow_chance(static_cast<unsigned>(lines), of);
    facts.push_back({"random lines", lines, exactly(100 * chance), standing::closed_form, "overflow_chance()"});
  }
  return facts;
}

experiment overflow(const char* id, const char* title, const char* machine, const cache_shape& of,
                    const std::vector<std::uint64_t>& positions) {
  experiment made{
      .id = id,
      .title = title,
      .source = "lines that fall into sets at random",
      .machine = machine,
      .workload = "capacity",
      .operations = 8'000,
      .along = {"lines", "lines written", positions},
      .variants = {{"random lines", bare_attempt, 1, anywhere}},
      .facts = answering("B-4", overflow_facts(positions, of)),
      .allowed = of_closed_forms,
  };
  if (of.co_resident_ways == 0) made.changes = {{"htm.taken_ways", 0}};
  return made;
}

/// The attempts' starts are spread evenly over the timer's period: each starts 1.618 periods (the golden ratio) after
/// the previous one.
experiment timer(const char* id, unsigned hertz) {
  constexpr double golden = 1.6180339887;
  const std::vector<std::uint64_t> positions{10'000, 100'000, 300'000, 1'000'000, 2'000'000, 3'000'000, 10'000'000};
  const auto every_ns = static_cast<std::uint64_t>(golden * 1e9 / hertz);
  experiment made{
      .id = id,
      .title = fmt::format("attempts that a timer of {} Hz ends", hertz),
      .source = "a periodic interrupt and attempts that begin at any time",
      .machine = "haswell-i7-4770",
      .workload = "lock-array",
      .operations = 300,
      .along = {"hold", "cycles", positions},
      .variants = {{"attempt", bare_attempt, 1, {{"locks", 1}, {"every", every_ns}}}},
      .facts = {},
      .allowed = of_closed_forms,
      .changes = {{"os.timer_hz", hertz}},
  };
  for (const std::uint64_t cycles : positions) {
    constexpr double mhz = 3400;
    made.facts.push_back({"attempt", cycles, exactly(100 * timer_chance(static_cast<double>(cycles), mhz, hertz)),
                          standing::closed_form, "timer_chance()"});
  }
  made.facts = answering("B-4", std::move(made.facts));
  return made;
}

experiment table_of_lines() {
  const std::vector<std::uint64_t> positions{1, 32, 63, 64, 65, 66, 128};
  experiment made{
      .id = "closed-form-tmcam",
      .title = "a table of 64 lines for reads and writes",
      .source = "64 entries",
      .machine = "power8-8284-22a",
      .workload = "capacity",
      .along = {"lines", "lines", positions},
      .variants = {{"writes", bare_attempt, 1, {{"step", 128}}},
                   {"reads", bare_attempt, 1, {{"step", 128}, {"access", 1}}}},
      .facts = {},
      .allowed = of_closed_forms,
  };
  for (const variant& one : made.variants) {
    for (const std::uint64_t lines : positions) {
      made.facts.push_back(
          {one.name, lines, exactly(lines <= 64 ? 0 : 100), standing::closed_form, "64 lines commit, 65 abort"});
    }
  }
  return made;
}

}  // namespace

std::vector<experiment> closed_form_checks() {
  constexpr double taken_by_others = 0.51;  // htm.taken_ways of the machine
  return {
      overflow("closed-form-overflow-8", "random written lines in 64 sets of 8 ways", "haswell-i7-4770",
               {sets, 8, lines_each, 0}, {96, 160, 192, 224, 256, 288}),
      overflow("closed-form-overflow-12", "random written lines in 64 sets of 12 ways", "sapphire-rapids",
               {sets, 12, lines_each, 0}, {256, 320, 384, 448}),
      overflow("closed-form-overflow-soft", "the same in 64 sets of 8 ways of which others take some",
               "haswell-i7-4770", {sets, 8, lines_each, taken_by_others}, {96, 160, 192, 224}),
      timer("closed-form-timer-250", 250),
      timer("closed-form-timer-1000", 1000),
      table_of_lines(),
  };
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments
