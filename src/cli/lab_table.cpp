// SPDX-License-Identifier: Apache-2.0
// What `txsync lab` prints: the curves of an experiment, then each number of the paper beside the simulated one.
#include <algorithm>
#include <cmath>

#include "base/words.hpp"
#include "cli/lab_table.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

using experiments::comparison;
using experiments::digits;
using experiments::experiment;
using experiments::verdict;

constexpr int number_width = 12;

/// What a point does: "arraybench, 500 virtual microseconds a point".
std::string work_text(const experiment& of) {
  if (of.whole_program) {
    const experiments::program& whole = *of.whole_program;
    return whole.name + ", " + std::to_string(of.operations) + " " + whole.operations_are + ", " +
           std::to_string(whole.seeds) + (whole.seeds == 1 ? " seed" : " seeds");
  }
  if (of.microseconds != 0)
    return of.workload + ", " + std::to_string(of.microseconds) + " virtual microseconds a point";
  return of.workload + ", " + std::to_string(of.operations) + " sections a thread and point";
}

void print_head(std::FILE* out, const simulate::lab_result& one) {
  const experiment& of = *one.of;
  std::fprintf(out, "\n%s: %s\n  %s\n  simulated on %s", of.id.c_str(), of.title.c_str(), of.source.c_str(),
               of.machine.c_str());
  for (const experiments::setting& change : of.changes) {
    std::fprintf(out, " with %s = %llu", change.key.c_str(), static_cast<unsigned long long>(change.value));
  }
  std::fprintf(out, "; %s; %s, %s\n", work_text(of).c_str(), to_string(of.measured), unit_of(of.measured));
  if (!of.remark.empty()) std::fprintf(out, "  %s\n", of.remark.c_str());
}

std::string text_of(const simulate::lab_result& one, std::size_t curve, std::size_t place) {
  const auto& point = one.results.points[curve][place];
  if (!point) return "-";
  const std::optional<double> value = number_of(one.of->measured, *point, one.results.mhz);
  return value ? digits(*value) : "-";
}

int width_of(const experiments::variant& curve) { return std::max(number_width, static_cast<int>(curve.name.size())); }

void print_curves(std::FILE* out, const simulate::lab_result& one) {
  const experiment& of = *one.of;
  std::size_t widest = of.along.words.size();
  for (const std::string& name : of.along.names) widest = std::max(widest, name.size());
  const int first = std::max(number_width, static_cast<int>(widest));
  std::fprintf(out, "\n  %*s", first, of.along.words.c_str());
  for (const experiments::variant& curve : of.variants) {
    std::fprintf(out, "  %*s", width_of(curve), curve.name.c_str());
  }
  std::fprintf(out, "\n");
  for (std::size_t place = 0; place < of.along.positions.size(); ++place) {
    const std::string at = of.along.words.empty() ? "" : position_text(of.along, of.along.positions[place]);
    std::fprintf(out, "  %*s", first, at.c_str());
    for (std::size_t curve = 0; curve < of.variants.size(); ++curve) {
      std::fprintf(out, "  %*s", width_of(of.variants[curve]), text_of(one, curve, place).c_str());
    }
    std::fprintf(out, "\n");
  }
}

/// "+3.2 points", "-12 %"; "-" if nothing was simulated, or a range is met.
std::string error_text(const comparison& one) {
  if (!one.simulated || one.error == 0) return "-";
  if (!std::isfinite(one.error)) return "never";
  char text[48];
  std::snprintf(text, sizeof text, "%+.1f %s", one.error, one.in_points ? "points" : "%");
  return text;
}

std::string simulated_text(const comparison& one) {
  if (!one.simulated) return "-";
  return std::isfinite(*one.simulated) ? digits(*one.simulated) : "never";
}

void print_comparisons(std::FILE* out, const simulate::lab_result& one) {
  if (one.comparisons.empty()) return;
  std::size_t widest = 0;
  for (const comparison& row : one.comparisons) widest = std::max(widest, words_of(*one.of, *row.of).size());
  const int width = static_cast<int>(widest);
  std::fprintf(out, "\n  %-*s  %10s  %13s  %13s  %-11s  %-13s  %s\n", width, "", "simulated",
               simulate::paper_word(one.comparisons.front()), "error", "model is", "", "source");
  for (const comparison& row : one.comparisons) {
    const std::string asked = row.of->answers.empty() ? "" : ", for " + row.of->answers;
    std::fprintf(out, "  %-*s  %10s  %13s  %13s  %-11s  %-13s  %s%s\n", width, words_of(*one.of, *row.of).c_str(),
                 simulated_text(row).c_str(), expected_words(row.of->expected).c_str(), error_text(row).c_str(),
                 to_string(row.of->how), to_string(row.how), row.of->source.c_str(), asked.c_str());
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
  for (const std::string& fault : one.faults) std::fprintf(out, "  FAULT: %s\n", fault.c_str());
  std::fflush(out);
}

void print_summary(std::FILE* out, const std::vector<simulate::lab_result>& all) {
  std::fprintf(out, "\n%-12s %7s %5s %7s %14s\n", "numbers", "of them", "hit", "missed", "not simulated");
  for (const auto how :
       {experiments::standing::fit, experiments::standing::held_out, experiments::standing::closed_form}) {
    const tally count = tally_of(all, how);
    if (count.all() == 0) continue;
    std::fprintf(out, "%-12s %7u %5u %7u %14u\n", to_string(how), count.all(), count.hits, count.misses,
                 count.not_simulated);
  }
  std::fprintf(out,
               "hit: within %g percentage points or %g percent, %g points of a closed form; a range has no allowance\n"
               "The simulated machines leave out branch prediction and instruction caches.\n",
               experiments::of_papers.points, experiments::of_papers.percent, experiments::of_closed_forms.points);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
