// SPDX-License-Identifier: Apache-2.0
#include "simulate/interleaving.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/print.hpp"
#include "base/words.hpp"
#include "symbols/code_place.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::hexadecimal;

namespace {

/// The folder of this txsync's sources, as the image's compiler saw it. The library's sources are below it.
std::string library_folder(const symbols::module_symbols& symbols, const sim::image_result& seen) {
  const auto functions = symbols.around(seen.number(sim::number_record::library_code));
  if (functions.empty()) return "";
  const std::string& file = functions.back().file;
  const std::size_t end = file.rfind("sim/toolchain/library/");
  return end == std::string::npos ? "" : file.substr(0, end);
}

bool is_access(const sim::trace_step& step) {
  using kind = sim::step_kind;
  return step.what == kind::reads || step.what == kind::writes || step.what == kind::buffers ||
         step.what == kind::drains;
}

/// Small numbers as they are, negative ones with their sign; others are addresses or bits.
std::string value_text(std::uint64_t value, unsigned bytes) {
  constexpr std::int64_t small = 1'000'000;
  const unsigned unused_bits = 64 - 8 * bytes;
  const auto with_sign = static_cast<std::int64_t>(value << unused_bits) >> unused_bits;
  return -small < with_sign && with_sign < small ? std::to_string(with_sign) : hexadecimal(value);
}

/// " = 1" that is read, ": 1 -> 2" that is written.
std::string values_of(const sim::traced_step& step) {
  const sim::step_values& values = step.values;
  if (values.bytes == 0 || values.bytes > sizeof values.before) return "";
  const std::string after = value_text(values.after, values.bytes);
  if (step.what == sim::step_kind::reads) return " = " + after;
  return fmt::format(": {} -> {}", value_text(values.before, values.bytes), after);
}

class printer {
 public:
  printer(std::FILE* out, const std::string& image, const sim::image_result& seen, bool calls)
      : out_(out),
        symbols_(image),
        library_(calls ? library_folder(symbols_, seen) : ""),
        is_alone_(!library_.empty() && std::any_of(seen.steps.begin(), seen.steps.end(), is_of_another_thread)) {}

  void print(const sim::traced_step& step) {
    const std::string call = library_.empty() ? "" : call_of(step);
    if (passes_over(step, call)) return;
    std::string line = fmt::format("thread {}{:{}}", step.thread, "", 1 + 4 * step.thread);
    if (!call.empty() && is_access(step)) {
      line += "in " + call;
    } else {
      line += fmt::format("{}{}{}  {}", sim::name_of(step.what), data_name(step.address), values_of(step),
                          symbols::place_name(symbols_, step.code));
    }
    // Where another thread goes on, the line is marked.
    const bool is_first = !before_.empty() && step.thread != last_thread_;
    if (line != before_) base::print(out_, "{} {}\n", is_first ? '>' : ' ', line);
    last_thread_ = step.thread;
    before_ = std::move(line);
  }

 private:
  static bool is_of_another_thread(const sim::traced_step& step) { return step.thread != 0; }

  /// What main() does before it starts a thread is of no interest.
  bool passes_over(const sim::traced_step& step, const std::string& call) {
    if (!is_alone_) return false;
    is_alone_ = !is_of_another_thread(step) && call != "std::thread::_M_start_thread" && call != "pthread_create" &&
                call != "thrd_create";
    passed_over_ += is_alone_ ? 1 : 0;
    if (!is_alone_ && passed_over_ != 0)
      base::print(out_, "  ({} steps of thread 0, before it starts another)\n", passed_over_);
    return is_alone_;
  }

  std::string data_name(std::uint64_t address) const {
    if (address == 0) return "";
    const std::string name = symbols::data_name(symbols_, address);
    return " " + (name.empty() ? hexadecimal(address) : name);
  }
  /// The library's function that the thread has called; empty if it is in the program's own code.
  std::string call_of(const sim::trace_step& step) {
    std::string& call = calls_[step.thread];
    const auto functions = symbols_.around(step.code);
    if (step.code == 0 || functions.empty()) return call;
    const symbols::function_at& outermost = functions.back();
    if (!outermost.file.starts_with(library_)) {
      // A store that leaves its buffer now was done in that call.
      if (step.what != sim::step_kind::drains) call.clear();
      return "";
    }
    const std::string name = symbols::name_in_program(outermost.name);
    // A thread begins in the library, too.
    const bool is_begin = call.empty() || call == "run" || call == "run_state";
    if (name != outermost.name || is_begin) call = name;
    return call;
  }

  std::FILE* out_;
  symbols::module_symbols symbols_;
  std::string library_;
  bool is_alone_;
  std::uint64_t passed_over_ = 0;
  std::map<unsigned, std::string> calls_;
  std::string before_;
  unsigned last_thread_ = 0;
};

}  // namespace

void print_interleaving(std::FILE* out, const std::string& image, const sim::image_result& seen, bool calls) {
  printer to(out, image, seen, calls);
  for (const sim::traced_step& step : seen.steps) to.print(step);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
