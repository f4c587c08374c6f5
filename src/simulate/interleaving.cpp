// SPDX-License-Identifier: Apache-2.0
#include "simulate/interleaving.hpp"

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

class printer {
 public:
  printer(std::FILE* out, const std::string& image, const sim::image_result& seen, bool calls)
      : out_(out), symbols_(image), library_(calls ? library_folder(symbols_, seen) : "") {}

  void print(const sim::trace_step& step) {
    const std::string call = library_.empty() ? "" : call_of(step);
    std::string line = fmt::format("thread {}{:{}}", step.thread, "", 1 + 4 * step.thread);
    if (!call.empty() && is_access(step)) {
      line += "in " + call;
    } else {
      line += fmt::format("{}{}  {}", sim::name_of(step.what), data_name(step.address),
                          symbols::place_name(symbols_, step.code));
    }
    if (line != before_) base::print(out_, "{}\n", line);
    before_ = std::move(line);
  }

 private:
  std::string data_name(std::uint64_t address) const {
    if (address == 0) return "";
    symbols::object_at object = symbols_.object(address);
    if (object.name.empty()) return " " + hexadecimal(address);
    // For a static object in a template's function, which the place already names: only its own name.
    if (object.name.find('<') != std::string::npos) object.name.erase(0, object.name.rfind(':') + 1);
    return object.offset == 0 ? " " + object.name : fmt::format(" {}+{}", object.name, object.offset);
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
    constexpr std::string_view renamed = "txsync_sim_";  // by the recipe of simulated programs
    if (outermost.name.starts_with(renamed)) {
      call = outermost.name.substr(renamed.size());
    } else if (call.empty()) {
      call = outermost.name;
    }
    return call;
  }

  std::FILE* out_;
  symbols::module_symbols symbols_;
  std::string library_;
  std::map<unsigned, std::string> calls_;
  std::string before_;
};

}  // namespace

void print_interleaving(std::FILE* out, const std::string& image, const sim::image_result& seen, bool calls) {
  printer to(out, image, seen, calls);
  for (const sim::trace_step& step : seen.steps) to.print(step);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
