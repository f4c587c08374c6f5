// SPDX-License-Identifier: Apache-2.0
#include "simulate/interleaving.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/print.hpp"
#include "base/words.hpp"
#include "symbols/code_place.hpp"
#include "symbols/source_text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::hexadecimal;
using sim::step_kind;

namespace {

std::string name_of_action(step_kind what) {
  switch (what) {
    case step_kind::asks:
      return "asks for the lock";
    case step_kind::takes:
      return "takes the lock";
    case step_kind::takes_shared:
      return "takes for reading the lock";
    case step_kind::gives_up:
      return "gives up the lock";
    case step_kind::awaits:
      return "waits for the condition";
    default:
      return sim::name_of(what);
  }
}

/// The folder of this txsync's sources, as the image's compiler saw it. The library's sources are below it.
std::string library_folder(const symbols::module_symbols& symbols, const sim::image_result& seen) {
  const auto functions = symbols.around(seen.number(sim::number_record::library_code));
  if (functions.empty()) return "";
  const std::string& file = functions.back().file;
  const std::size_t end = file.rfind("sim/toolchain/library/");
  return end == std::string::npos ? "" : file.substr(0, end);
}

bool is_access(const sim::trace_step& step) {
  return step.what == step_kind::reads || step.what == step_kind::writes || step.what == step_kind::buffers ||
         step.what == step_kind::drains;
}

bool is_lock_call(const sim::trace_step& step) {
  return step.what >= step_kind::asks && step.what <= step_kind::awaits;
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
  if (step.what == step_kind::reads) return " = " + after;
  return fmt::format(": {} -> {}", value_text(values.before, values.bytes), after);
}

/// Names of what is in an image. Each place in the code is looked up once.
class image_names {
 public:
  image_names(const std::string& image, const sim::image_result& seen)
      : symbols_(image), source_(image), library_(library_folder(symbols_, seen)) {}

  /// The function of the library that is outermost at a place; null if the place is in the program's code, or unknown.
  const std::string* library_function(std::uint64_t code) {
    const known_code& known = look_up(code);
    return known.function.empty() ? nullptr : &known.function;
  }
  /// "  function (file:line)", with the text of the line if that is known.
  std::string place(std::uint64_t code) {
    const symbols::code_place& at = look_up(code).place;
    if (at.name.empty()) return "";
    static const std::string none;
    // The text of the compiler's own headers says nothing about the program.
    const std::string& text = at.file.starts_with("/usr/") ? none : source_.line(at.file, at.line);
    if (!text.empty()) return fmt::format("  {}: {}", at.name, text);
    return at.library.empty() ? "  " + at.name : fmt::format("  {} in {}", at.name, at.library);
  }
  /// "  function (file:line) in a function of the library".
  std::string short_place(std::uint64_t code) const { return "  " + symbols::place_name(symbols_, code); }
  /// "reads x = 1", "takes the lock m".
  std::string action(const sim::traced_step& step) const {
    const std::string name = object(step);
    return name_of_action(step.what) + (name.empty() ? "" : " " + name);
  }
  /// "x = 1", "m".
  std::string object(const sim::traced_step& step) const {
    if (step.address == 0) return "";
    const std::string name = symbols::data_name(symbols_, step.address);
    return (name.empty() ? hexadecimal(step.address) : name) + values_of(step);
  }

 private:
  struct known_code {
    symbols::code_place place;
    std::string function;
  };

  const known_code& look_up(std::uint64_t code) {
    const auto [found, is_new] = codes_.try_emplace(code);
    known_code& known = found->second;
    if (!is_new || code == 0) return known;
    known.place = symbols::place_of(symbols_, code);
    const auto functions = symbols_.around(code);
    if (!functions.empty() && !library_.empty() && functions.back().file.starts_with(library_))
      known.function = functions.back().name;
    return known;
  }

  symbols::module_symbols symbols_;
  symbols::source_text source_;
  std::string library_;
  std::unordered_map<std::uint64_t, known_code> codes_;
};

/// Lines of the table. One that is equal to the one before it is left out.
class line_printer {
 public:
  explicit line_printer(std::FILE* out) : out_(out) {}

  void print(unsigned thread, const std::string& what) {
    std::string line = fmt::format("thread {}{:{}}{}", thread, "", 1 + 4 * thread, what);
    // Where another thread goes on, the line is marked.
    const bool is_first = !before_.empty() && thread != last_thread_;
    if (line != before_) base::print(out_, "{} {}\n", is_first ? '>' : ' ', line);
    last_thread_ = thread;
    before_ = std::move(line);
  }

 private:
  std::FILE* out_;
  std::string before_;
  unsigned last_thread_ = 0;
};

/// The steps of the program's own code at memory that several threads access, line by line of its source. What a thread
/// does within the library is one line.
class program_printer {
 public:
  program_printer(std::FILE* out, const std::string& image, const sim::image_result& seen)
      : out_(out), lines_(out), names_(image, seen) {
    for (const sim::traced_step& step : seen.steps) {
      is_alone_ = is_alone_ || step.thread != 0;
      if (is_access(step) && names_.library_function(step.code) == nullptr) note_user(step);
    }
  }

  void print(const sim::traced_step& step, bool is_last) {
    std::erase_if(sleepers_, [&](const auto& one) { return one.second == step.thread; });
    const std::string call = is_lock_call(step) ? "" : call_of(step);
    if (passes_over(step, call)) return;
    if (is_lock_call(step)) {
      const bool ends_call =
          next_.kind == line_kind::call || (next_.kind == line_kind::asks && step.what != step_kind::gives_up);
      if (ends_call && next_.thread == step.thread) next_.what.clear();
      print_lock_call(step);
    } else if (!call.empty()) {
      print_within(call, step);
    } else if (!is_access(step)) {
      begin({step.thread, line_kind::other, names_.action(step), names_.place(step.code)});
    } else if (is_last || is_shared(step)) {
      print_access(step);
    }
  }

  void finish() {
    if (!next_.what.empty()) lines_.print(next_.thread, next_.what + next_.place);
    next_.what.clear();
  }

 private:
  enum class line_kind { other, access, call, asks, lock_call };
  struct line {
    unsigned thread = 0;
    line_kind kind = line_kind::other;
    std::string what{};  ///< empty: there is none
    std::string place{};
  };

  static constexpr unsigned max_accesses = 6;  // in one line; --all shows the others
  static constexpr std::uint32_t several = ~std::uint32_t{0};
  static std::uint64_t first_word(const sim::traced_step& step) { return step.address / 8; }
  static std::uint64_t last_word(const sim::traced_step& step) {
    return (step.address + std::max(step.values.bytes, 1u) - 1) / 8;
  }
  void note_user(const sim::traced_step& step) {
    for (std::uint64_t word = first_word(step); word <= last_word(step); ++word) {
      const auto [user, is_new] = users_.try_emplace(word, step.thread);
      if (!is_new && user->second != step.thread) user->second = several;
    }
  }
  bool is_shared(const sim::traced_step& step) const {
    for (std::uint64_t word = first_word(step); word <= last_word(step); ++word) {
      if (const auto user = users_.find(word); user != users_.end() && user->second == several) return true;
    }
    return false;
  }

  /// What main() does before it starts a thread is of no interest.
  bool passes_over(const sim::traced_step& step, const std::string& call) {
    if (!is_alone_) return false;
    is_alone_ =
        step.thread == 0 && call != "std::thread::_M_start_thread" && call != "pthread_create" && call != "thrd_create";
    passed_over_ += is_alone_ ? 1 : 0;
    if (!is_alone_ && passed_over_ != 0)
      base::print(out_, "  ({} steps of thread 0, before it starts another)\n", passed_over_);
    return is_alone_;
  }

  /// The library's function that the thread has called; empty if it is in the program's own code.
  std::string call_of(const sim::trace_step& step) {
    std::string& call = calls_[step.thread];
    if (step.code == 0) return call;
    const std::string* const function = names_.library_function(step.code);
    if (function == nullptr) {
      // A store that leaves its buffer now was done in that call.
      if (step.what != step_kind::drains) call.clear();
      return "";
    }
    const std::string name = symbols::name_in_program(*function);
    // A thread begins in the library, too.
    if (name != *function || call.empty() || is_frame_of_thread(call)) call = name;
    return call;
  }
  static bool is_frame_of_thread(const std::string& call) { return call == "run" || call == "run_state"; }

  /// Waiting for a condition gives up the lock: one line.
  void print_lock_call(const sim::traced_step& step) {
    const line_kind kind = step.what == step_kind::asks ? line_kind::asks : line_kind::lock_call;
    std::string place = names_.place(step.code);
    if (step.what == step_kind::gives_up && next_.kind == kind && next_.thread == step.thread && next_.place == place)
      next_.what += ", " + names_.action(step);
    else
      begin({step.thread, kind, names_.action(step), std::move(place)});
  }

  void print_within(const std::string& call, const sim::traced_step& step) {
    const bool goes_on = next_.thread == step.thread && !next_.what.empty();
    if (!is_access(step)) {
      if (goes_on && next_.kind == line_kind::call && next_.what == "in " + call) next_.what.clear();
      std::string what = sim::name_of(step.what);
      if (step.what == step_kind::wakes) what += who_is_woken(step.address);
      if (step.what == step_kind::sleeps) sleepers_.emplace_back(step.address, step.thread);
      begin({step.thread, line_kind::other, what + " in " + call});
    } else if (!is_frame_of_thread(call)) {
      const bool is_part = next_.kind == line_kind::asks || next_.kind == line_kind::lock_call;
      if (!goes_on || !is_part) begin({step.thread, line_kind::call, "in " + call});
    } else if (begun_.insert(step.thread).second) {
      begin({step.thread, line_kind::other, "begins"});
    } else if (!goes_on || next_.what != "begins") {
      begin({step.thread, line_kind::other, "ends"});
    }
  }

  /// Those who sleep at an address wake in the order in which they came.
  std::string who_is_woken(std::uint64_t address) {
    const auto first =
        std::find_if(sleepers_.begin(), sleepers_.end(), [&](const auto& one) { return one.first == address; });
    if (first == sleepers_.end()) return " another thread";
    const unsigned thread = first->second;
    sleepers_.erase(first);
    return fmt::format(" thread {}", thread);
  }

  /// Accesses of one line of the source are one line here: "reads a = 1, b = 2, writes c: 0 -> 1".
  void print_access(const sim::traced_step& step) {
    const std::string object = names_.object(step);
    std::string place = names_.place(step.code);
    if (next_.kind != line_kind::access || next_.thread != step.thread || next_.place != place) {
      begin({step.thread, line_kind::access, names_.action(step), std::move(place)});
      accesses_ = 1;
    } else if (!next_.what.ends_with(" " + object) || last_access_ != step.what) {
      const bool is_same = last_access_ == step.what;
      if (++accesses_ <= max_accesses) next_.what += ", " + (is_same ? object : names_.action(step));
      if (accesses_ == max_accesses + 1) next_.what += ", ...";
    }
    last_access_ = step.what;
  }

  void begin(line next) {
    if (next.thread != next_.thread || next.what != next_.what || next.place != next_.place) finish();
    next_ = std::move(next);
  }

  std::FILE* out_;
  line_printer lines_;
  image_names names_;
  std::unordered_map<std::uint64_t, std::uint32_t> users_;  // of words: the thread, or several
  std::map<unsigned, std::string> calls_;
  std::unordered_set<unsigned> begun_;
  std::vector<std::pair<std::uint64_t, unsigned>> sleepers_;  // address and thread
  bool is_alone_ = false;
  std::uint64_t passed_over_ = 0;
  unsigned accesses_ = 0;  // in next_
  step_kind last_access_ = step_kind::reads;
  line next_;  // to be printed when it is whole
};

}  // namespace

void print_interleaving(std::FILE* out, const std::string& image, const sim::image_result& seen, bool calls) {
  if (calls) {
    program_printer to(out, image, seen);
    for (const sim::traced_step& step : seen.steps) to.print(step, &step == &seen.steps.back());
    to.finish();
    return;
  }
  const image_names names(image, seen);
  line_printer lines(out);
  for (const sim::traced_step& step : seen.steps)
    lines.print(step.thread, names.action(step) + names.short_place(step.code));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
