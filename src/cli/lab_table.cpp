// SPDX-License-Identifier: Apache-2.0
// What `txsync lab` prints: the curves of an experiment, then each number of the paper beside the simulated one.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/print.hpp"
#include "cli/lab_table.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

using experiments::comparison;
using experiments::digits;
using experiments::experiment;
using experiments::verdict;

constexpr std::size_t number_width = 12;

/// What a point does: "arraybench, 500 virtual microseconds a point".
std::string work_text(const experiment& of) {
  if (of.whole_program) {
    const experiments::program& whole = *of.whole_program;
    return fmt::format("{}, {} {}, {} seed{}", whole.name, of.operations, whole.operations_are, whole.seeds,
                       whole.seeds == 1 ? "" : "s");
  }
  if (of.microseconds != 0) return fmt::format("{}, {} virtual microseconds a point", of.workload, of.microseconds);
  return fmt::format("{}, {} sections a thread and point", of.workload, of.operations);
}

void print_head(std::FILE* out, const simulate::lab_result& one) {
  const experiment& of = *one.of;
  base::print(out, "\n{}: {}\n  {}\n  simulated on {}", of.id, of.title, of.source, of.machine);
  for (const experiments::setting& change : of.changes) {
    base::print(out, " with {} = {}", change.key, change.value);
  }
  base::print(out, "; {}; {}, {}\n", work_text(of), to_string(of.measured), unit_of(of.measured));
  if (!of.remark.empty()) base::print(out, "  {}\n", of.remark);
}

std::string text_of(const simulate::lab_result& one, std::size_t curve, std::size_t place) {
  const auto& point = one.results.points[curve][place];
  if (!point) return "-";
  const std::optional<double> value = number_of(one.of->measured, *point, one.results.mhz);
  return value ? digits(*value) : "-";
}

std::size_t width_of(const experiments::variant& curve) { return std::max(number_width, curve.name.size()); }

void print_curves(std::FILE* out, const simulate::lab_result& one) {
  const experiment& of = *one.of;
  std::size_t first = std::max(number_width, of.along.words.size());
  for (const std::string& name : of.along.names) first = std::max(first, name.size());
  base::print(out, "\n  {:>{}}", of.along.words, first);
  for (const experiments::variant& curve : of.variants) base::print(out, "  {:>{}}", curve.name, width_of(curve));
  std::fputc('\n', out);
  for (std::size_t place = 0; place < of.along.positions.size(); ++place) {
    const std::string at = of.along.words.empty() ? "" : position_text(of.along, of.along.positions[place]);
    base::print(out, "  {:>{}}", at, first);
    for (std::size_t curve = 0; curve < of.variants.size(); ++curve) {
      base::print(out, "  {:>{}}", text_of(one, curve, place), width_of(of.variants[curve]));
    }
    std::fputc('\n', out);
  }
}

/// "+3.2 points", "-12 %"; "-" if nothing was simulated, or a range is met.
std::string error_text(const comparison& one) {
  if (!one.simulated || one.error == 0) return "-";
  if (!std::isfinite(one.error)) return "never";
  return fmt::format("{:+.1f} {}", one.error, one.in_points ? "points" : "%");
}

std::string simulated_text(const comparison& one) {
  if (!one.simulated) return "-";
  return std::isfinite(*one.simulated) ? digits(*one.simulated) : "never";
}

void print_comparisons(std::FILE* out, const simulate::lab_result& one) {
  if (one.comparisons.empty()) return;
  std::size_t width = 0;
  for (const comparison& row : one.comparisons) width = std::max(width, words_of(*one.of, *row.of).size());
  base::print(out, "\n  {:{}}  {:>10}  {:>13}  {:>13}  {:11}  {:13}  source\n", "", width, "simulated",
              simulate::paper_word(one.comparisons.front()), "error", "model is", "");
  for (const comparison& row : one.comparisons) {
    const std::string asked = row.of->answers.empty() ? "" : ", for " + row.of->answers;
    base::print(out, "  {:{}}  {:>10}  {:>13}  {:>13}  {:11}  {:13}  {}{}\n", words_of(*one.of, *row.of), width,
                simulated_text(row), expected_words(row.of->expected), error_text(row), to_string(row.of->how),
                to_string(row.how), row.of->source, asked);
  }
}

struct tally {
  unsigned hits = 0;
  unsigned misses = 0;
  unsigned not_simulated = 0;

  void add(verdict how) { ++(how == verdict::hit ? hits : how == verdict::miss ? misses : not_simulated); }
  unsigned all() const { return hits + misses + not_simulated; }
};

tally tally_of(const std::vector<simulate::lab_result>& all, experiments::standing how) {
  tally made;
  for (const simulate::lab_result& one : all) {
    for (const comparison& row : one.comparisons) {
      if (row.of->how == how) made.add(row.how);
    }
  }
  return made;
}

}  // namespace

void print_experiment(std::FILE* out, const simulate::lab_result& one) {
  print_head(out, one);
  print_curves(out, one);
  print_comparisons(out, one);
  for (const std::string& fault : one.faults) base::print(out, "  FAULT: {}\n", fault);
  std::fflush(out);
}

void print_summary(std::FILE* out, const std::vector<simulate::lab_result>& all) {
  std::fputs("\nnumbers      of them   hit  missed  not simulated\n", out);
  for (const auto how :
       {experiments::standing::fit, experiments::standing::held_out, experiments::standing::closed_form}) {
    const tally count = tally_of(all, how);
    if (count.all() == 0) continue;
    base::print(out, "{:12} {:7} {:5} {:7} {:14}\n", to_string(how), count.all(), count.hits, count.misses,
                count.not_simulated);
  }
  base::print(
      out,
      "hit: within {:g} percentage points or {:g} percent, {:g} points of a closed form; a range has no allowance\n"
      "The simulated machines leave out branch prediction and instruction caches.\n",
      experiments::of_papers.points, experiments::of_papers.percent, experiments::of_closed_forms.points);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
