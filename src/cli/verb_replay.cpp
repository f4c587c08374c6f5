// SPDX-License-Identifier: Apache-2.0
// txsync replay KEY: one schedule again, with every step.
#include "cli/code_place.hpp"
#include "cli/explore.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

class replay_verb final : public verb {
 public:
  const char* name() const override { return "replay"; }
  const char* summary() const override { return "Repeat one schedule of txsync explore, and show who did what"; }

  void define(CLI::App& app) override {
    argument(app, "KEY", key_, "TEST@ORDER[+MODE]@SEED, as txsync explore prints it");
    footer(app,
           "Steps of one thread at one place stand in one line. Exit status 1 when the schedule fails, as it did.");
  }

  int run(session& with) override {
    const schedule_key key = parse_key(key_);
    sim::image_request request = exploration_request(key, 1);
    request.traces = true;
    with.document.seed = key.seed;
    sim::image_result seen;
    try {
      seen = sim::run_image(request);
    } catch (const sim::image_error& error) {
      throw bad_input(error.what());
    }
    print_steps(with.table, request.path, seen.steps);
    if (seen.status == 0 && seen.signal == 0) {
      std::fprintf(with.table, "\nnothing was wrong\n");
      return ok;
    }
    std::fprintf(with.table, "\n%s\n", complaint_of(seen, request.path).c_str());
    return failed;
  }

 private:
  static void print_steps(std::FILE* out, const std::string& image, const std::vector<sim::trace_step>& steps) {
    const launch::module_symbols symbols(image);
    std::string before;
    for (const sim::trace_step& step : steps) {
      const std::string line = "thread " + std::to_string(step.thread) + std::string(1 + 4 * step.thread, ' ') +
                               step.what + (step.address != 0 ? " " + hexadecimal(step.address) : "") + "  " +
                               place_name(symbols, step.code);
      if (line != before) std::fprintf(out, "%s\n", line.c_str());
      before = line;
    }
  }

  std::string key_;
};

}  // namespace

std::unique_ptr<verb> make_replay() { return std::make_unique<replay_verb>(); }

}  // namespace txsync::inline TXSYNC_BACKEND::cli
