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
#include "simulate/step_names.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using sim::step_kind;

namespace {

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
      if (is_access(step) && names_.is_own_code(step.code)) note_user(step);
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
    } else if (step.what == step_kind::frees && !names_.is_own_code(step.code)) {
      return;
    } else if (!is_access(step)) {
      begin({step.thread, line_kind::other, names_.action(step), names_.place(step.code)});
    } else if (is_last || (names_.is_own_code(step.code) && is_shared(step))) {
      print_access(step);
    }
  }

  void finish() {
    if (next_.what.empty()) return;
    lines_.print(next_.thread, next_.what + next_.place);
    last_of_[next_.thread] = std::exchange(next_.what, "");
  }

 private:
  enum class line_kind { other, access, call, asks, lock_call };
  struct line {
    unsigned thread = 0;
    line_kind kind = line_kind::other;
    std::string what{};  ///< empty: there is none
    std::string place{};
  };

  /// "the lock m", and what the thread waits for after that.
  struct object_awaited {
    std::string now;
    std::string next;
  };
  static inline const std::string lock = "the lock ";
  static inline const std::string condition = "the condition ";

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

  /// Whoever waits for a condition waits for its lock afterwards.
  void note_awaited(const sim::traced_step& step) {
    object_awaited& of_thread = awaited_[step.thread];
    const bool waits_for_condition = of_thread.now.starts_with(condition);
    if (step.what == step_kind::asks) of_thread = {lock + names_.object(step), ""};
    if (step.what == step_kind::awaits) of_thread = {condition + names_.object(step), ""};
    if (step.what == step_kind::gives_up && waits_for_condition) of_thread.next = lock + names_.object(step);
    if (step.what == step_kind::takes || step.what == step_kind::takes_shared) of_thread = {};
  }

  /// Waiting for a condition gives up the lock: one line.
  void print_lock_call(const sim::traced_step& step) {
    const line_kind kind = step.what == step_kind::asks ? line_kind::asks : line_kind::lock_call;
    std::string place = names_.place(step.code);
    note_awaited(step);
    if (step.what == step_kind::gives_up && next_.kind == kind && next_.thread == step.thread && next_.place == place)
      next_.what += ", " + names_.action(step);
    else
      begin({step.thread, kind, names_.action(step), std::move(place)});
  }

  void print_within(const std::string& call, const sim::traced_step& step) {
    const bool goes_on = next_.thread == step.thread && !next_.what.empty();
    if (!is_access(step)) {
      if (goes_on && next_.kind == line_kind::call && next_.what == "in " + call) next_.what.clear();
      begin({step.thread, line_kind::other, sleep_or_wake(call, step)});
    } else if (ended_.contains(step.thread)) {
      return;
    } else if (!is_frame_of_thread(call)) {
      const bool is_part = next_.kind == line_kind::asks || next_.kind == line_kind::lock_call;
      if (!goes_on || !is_part) begin({step.thread, line_kind::call, "in " + call});
    } else if (begun_.insert(step.thread).second) {
      begin({step.thread, line_kind::other, "begins"});
    } else if ((!goes_on || next_.what != "begins") && ended_.insert(step.thread).second) {
      begin({step.thread, line_kind::other, "ends"});
    }
  }

  /// "sleeps, waits for the lock m", "wakes thread 1, which waits for the lock m".
  std::string sleep_or_wake(const std::string& call, const sim::traced_step& step) {
    std::string what = sim::name_of(step.what);
    if (step.what == step_kind::sleeps) {
      sleepers_.emplace_back(step.address, step.thread);
      const std::string& awaited = awaited_[step.thread].now;
      return awaited.empty() ? what + " in " + call : what + ", waits for " + awaited;
    }
    if (step.what != step_kind::wakes) return what + " in " + call;
    // Those who sleep at an address wake in the order in which they came.
    const auto first =
        std::find_if(sleepers_.begin(), sleepers_.end(), [&](const auto& one) { return one.first == step.address; });
    if (first == sleepers_.end()) return what + " another thread in " + call;
    const unsigned thread = first->second;
    sleepers_.erase(first);
    what += fmt::format(" thread {}", thread);
    object_awaited& of_thread = awaited_[thread];
    if (of_thread.now.empty()) return what + " in " + call;
    what += ", which waits for " + of_thread.now;
    if (!of_thread.next.empty()) of_thread.now = std::exchange(of_thread.next, "");
    return what;
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
    // To sleep again for the same is no news.
    if (next.what.starts_with(sim::name_of(step_kind::sleeps)) && last_of_[next.thread] == next.what) return;
    if (next.thread != next_.thread || next.what != next_.what || next.place != next_.place) finish();
    next_ = std::move(next);
  }

  std::FILE* out_;
  line_printer lines_;
  step_names names_;
  std::unordered_map<std::uint64_t, std::uint32_t> users_;  // of words: the thread, or several
  std::map<unsigned, std::string> calls_;
  std::unordered_set<unsigned> begun_;
  std::unordered_set<unsigned> ended_;
  std::map<unsigned, object_awaited> awaited_;
  std::vector<std::pair<std::uint64_t, unsigned>> sleepers_;  // address and thread
  bool is_alone_ = false;
  std::uint64_t passed_over_ = 0;
  std::map<unsigned, std::string> last_of_;  // printed lines, by thread
  unsigned accesses_ = 0;                    // in next_
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
  const step_names names(image, seen);
  line_printer lines(out);
  for (const sim::traced_step& step : seen.steps)
    lines.print(step.thread, names.action(step) + names.short_place(step.code));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
