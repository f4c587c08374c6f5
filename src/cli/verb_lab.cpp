// SPDX-License-Identifier: Apache-2.0
// txsync lab EXPERIMENT...|all: the papers' figures, simulated, beside the papers' numbers.
#include <fmt/core.h>

#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/words.hpp"
#include "cli/lab_table.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "simulate/lab.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::join;
using base::number_of;
using base::unknown;
using base::words;

namespace {

using experiment_list = std::vector<const experiments::experiment*>;

/// Those of "all" whose whole program is missing are left out, with a line that says so. If they are asked for by name,
/// throws bad_input.
experiment_list asked_for(const words& ids, const std::string& programs) {
  words allowed{"all"};
  for (const experiments::experiment& one : experiments::all()) allowed.push_back(one.id);
  if (ids.empty()) throw bad_input("an experiment is missing; allowed: " + join(allowed));
  experiment_list list;
  for (const std::string& id : ids) {
    if (id == "all" && ids.size() == 1) {
      for (const experiments::experiment& one : experiments::all()) {
        const std::string complaint = one.whole_program ? simulate::complaint_of_programs(one, programs) : "";
        if (complaint.empty()) {
          list.push_back(&one);
        } else {
          base::print(stderr, "txsync lab: {} is left out: {}\n", one.id, complaint);
        }
      }
      return list;
    }
    const experiments::experiment* one = experiments::find(id);
    if (one == nullptr) throw bad_input(unknown("experiment", id, allowed));
    if (std::find(list.begin(), list.end(), one) != list.end()) throw bad_input(fmt::format("'{}' is given twice", id));
    const std::string complaint = one->whole_program ? simulate::complaint_of_programs(*one, programs) : "";
    if (!complaint.empty()) throw bad_input(fmt::format("experiment {}: {}", id, complaint));
    list.push_back(one);
  }
  return list;
}

/// The image of the experiments that have a workload; nothing if none has.
std::string workloads_image(const experiment_list& list) {
  if (std::all_of(list.begin(), list.end(), [](const auto* one) { return one->whole_program.has_value(); })) return {};
  try {
    return sim::image_file("workloads");
  } catch (const sim::image_error& error) {
    throw bad_input(error.what());
  }
}

class lab_verb final : public verb {
 public:
  const char* name() const override { return "lab"; }
  const char* summary() const override {
    return "Simulate figures of papers, and compare them with the papers' numbers";
  }

  void define(CLI::App& app) override {
    argument(app, "EXPERIMENT", ids_, "all, or names that txsync list experiments prints");
    text_option(app, "--seed", seed_, "N", "Seed of all random choices (default: 1)");
    text_option(app, "--programs", programs_, "FOLDER",
                "Where simulated whole programs have been built (default: build of the checkout)");
    footer(app,
           "All numbers are simulated. Each number of a paper is printed beside the simulated one, with its kind:\n"
           "\"fit\": the machine's model was fitted to it. \"held out\": it was not. \"closed form\": it follows from "
           "the model.\n"
           "A miss is a result, not an error. Exit status 1: a run failed.");
  }

  int run(session& with) override {
    const experiment_list list = asked_for(ids_, programs_);
    const std::string image = workloads_image(list);
    const std::uint64_t seed = number_of("--seed", seed_, 0, std::numeric_limits<std::uint64_t>::max(), 1);
    with.document.seed = seed;
    with.document.started.clear();
    std::vector<simulate::lab_result> done;
    done.reserve(list.size());
    for (const experiments::experiment* one : list) {
      done.push_back(one->whole_program ? simulate::run_program_experiment(*one, programs_, seed)
                                        : simulate::run_experiment(*one, image, seed));
      with.document.interrupted = done.back().interrupted;
      if (done.back().interrupted) break;
      print_experiment(with.table, done.back());
    }
    print_summary(with.table, done);
    std::fflush(with.table);
    simulate::add_to_document(with.document, done);
    return report(done);
  }

 private:
  static int report(const std::vector<simulate::lab_result>& done) {
    int status = ok;
    for (const simulate::lab_result& one : done) {
      for (const std::string& fault : one.faults) {
        base::print(stderr, "txsync lab: {}\n", fault);
        status = failed;
      }
      if (one.interrupted) status = failed;
    }
    return status;
  }

  words ids_;
  std::string programs_ = simulate::folder_of_programs();
  std::optional<std::string> seed_;
};

}  // namespace

std::unique_ptr<verb> make_lab() { return std::make_unique<lab_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
