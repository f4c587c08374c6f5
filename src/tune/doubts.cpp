// SPDX-License-Identifier: Apache-2.0
#include "tune/doubts.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/core.h>

#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

/// In a shorter run, the start and the end of the process are a good part of the time.
constexpr double short_run_seconds = 0.01;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_hex(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

/// The position after the number that begins at `at`: 12, 1.5e-3, 10:15:00, 0x7f00.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  if (text[at] == '0' && at + 2 < text.size() && text[at + 1] == 'x' && is_hex(text[at + 2])) {
    at += 2;
    while (at < text.size() && is_hex(text[at])) ++at;
    return at;
  }
  const auto digit_at = [text](std::size_t where) { return where < text.size() && is_digit(text[where]); };
  for (;;) {
    while (digit_at(at)) ++at;
    if (at >= text.size()) return at;
    if (std::string_view(".,:-+").find(text[at]) != std::string_view::npos && digit_at(at + 1)) {
      ++at;
    } else if (text[at] == 'e' && (digit_at(at + 1) || (at + 1 < text.size() && digit_at(at + 2) &&
                                                        (text[at + 1] == '-' || text[at + 1] == '+')))) {
      at += 2;
    } else {
      return at;
    }
  }
}

/// The line with one sign for each number, and without blanks, which only line numbers up.
std::string without_numbers(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    if (is_digit(line[at])) {
      at = end_of_number(line, at);
      text += '#';
    } else {
      if (line[at] != ' ' && line[at] != '\t') text += line[at];
      ++at;
    }
  }
  return text;
}

/// Sorted, since threads print in any order.
std::size_t hash_of(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return std::hash<std::string>()(text);
}

}  // namespace

doubts::doubts(std::string reference, bool has_metric) : reference_(std::move(reference)), has_metric_(has_metric) {}

void doubts::add(const run_facts& run) {
  read_in_vain_ = read_in_vain_ || run.read_in_vain;
  without_library_.insert(run.without_library.begin(), run.without_library.end());
  if (without_waits_.empty()) without_waits_ = run.without_waits;
  if (run.timed_out) return;
  if (run.configuration == reference_) reference_seconds_.push_back(run.seconds);
  ++statuses_[run.exit_status][run.configuration];
  if (run.exit_status == 0 && !run.output_cut) outputs_[run.configuration].insert(digest_of(run.output));
}

doubts::digest doubts::digest_of(std::string_view output) {
  std::vector<std::string> whole;
  std::vector<std::string> words;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    whole.emplace_back(output.substr(0, end));
    words.push_back(without_numbers(whole.back()));
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return {hash_of(std::move(words)), hash_of(std::move(whole))};
}

std::vector<std::string> doubts::sentences() const {
  std::vector<std::string> list;
  if (read_in_vain_)
    list.emplace_back(
        "the program reads its standard input, which is empty: it may have no work; --input FILE gives it a file "
        "(/dev/null: an empty one)");
  if (!without_library_.empty())
    list.push_back("under every policy, a program that it starts keeps its own locks or does not run: " +
                   *without_library_.begin());
  if (!without_waits_.empty())
    list.push_back("single sites are tried where threads are seen to wait, and not all waits were counted: " +
                   without_waits_);
  put_short(list);
  put_statuses(list);
  put_outputs(list);
  return list;
}

void doubts::put_short(std::vector<std::string>& list) const {
  if (reference_seconds_.empty()) return;
  const double median = observe::summarize(reference_seconds_).median;
  if (median >= short_run_seconds) return;
  list.push_back(
      fmt::format("a run takes {:.2g} ms, and much of it is the process's start and end: give it more work, tenths of "
                  "a second or more",
                  1000 * median));
}

/// The most frequent status is the usual one.
void doubts::put_statuses(std::vector<std::string>& list) const {
  if (statuses_.size() < 2) return;
  const auto all_of = [](const std::map<std::string, unsigned>& by_configuration) {
    unsigned sum = 0;
    for (const auto& [name, count] : by_configuration) sum += count;
    return sum;
  };
  const auto usual = std::max_element(statuses_.begin(), statuses_.end(), [&](const auto& a, const auto& b) {
    return all_of(a.second) < all_of(b.second);
  });
  std::string words;
  for (const auto& [status, by_configuration] : statuses_) {
    if (status == usual->first) continue;
    const unsigned runs = all_of(by_configuration);
    words += fmt::format("{}{} in {} run{}, the first of '{}'", words.empty() ? "" : "; ", status, runs,
                         runs == 1 ? "" : "s", by_configuration.begin()->first);
  }
  list.push_back(
      fmt::format("the program's exit status differs from run to run: {}; {} in all others. Not all runs did the same "
                  "work, or a policy breaks the program",
                  words, usual->first));
}

/// If the runs of the reference already differ, policies are not the reason.
void doubts::put_outputs(std::vector<std::string>& list) const {
  const std::string other_words = other_output(&digest::words);
  if (!other_words.empty()) {
    list.push_back(
        fmt::format("the program's output differs, and not only in its numbers, {}: runs that do not do the same work "
                    "do not compare",
                    other_words));
    return;
  }
  if (has_metric_) return;
  const std::string other_numbers = other_output(&digest::whole);
  if (!other_numbers.empty())
    list.push_back(fmt::format(
        "numbers in the program's output differ {}: if they are not times, the runs do not do the same work "
        "and do not compare",
        other_numbers));
}

/// "from run to run", "between 'unmodified' and 'ticket'"; empty if all are the same.
std::string doubts::other_output(std::size_t digest::* part) const {
  const auto distinct = [part](const std::set<digest>& seen) {
    std::set<std::size_t> values;
    for (const digest& one : seen) values.insert(one.*part);
    return values;
  };
  const auto reference = outputs_.find(reference_);
  if (reference == outputs_.end()) return {};
  const std::set<std::size_t> usual = distinct(reference->second);
  if (usual.size() > 1) return "from run to run";
  for (const auto& [name, seen] : outputs_)
    if (distinct(seen) != usual) return fmt::format("between '{}' and '{}'", reference_, name);
  return {};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
