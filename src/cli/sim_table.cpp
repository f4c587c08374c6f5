// SPDX-License-Identifier: Apache-2.0
// What `txsync sim` prints beyond the table of `txsync bench`: what became of the attempts, and where they ended.
#include <algorithm>
#include <map>

#include "cli/sim.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

using observe::point;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string causes_text(const observe::attempt_record& attempts) {
  std::string text;
  for (const auto& [cause, count] : attempts.aborts) {
    char part[64];
    std::snprintf(part, sizeof part, "%s%s %.1f%%", text.empty() ? "" : ", ", cause.c_str(),
                  percent(count, attempts.attempts));
    text += part;
  }
  return text.empty() ? "none" : text;
}

void print_row(std::FILE* out, const point& one) {
  const observe::attempt_record attempts = one.attempts.value_or(observe::attempt_record{});
  const observe::cycle_record cycles = one.cycles.value_or(observe::cycle_record{});
  if (attempts.attempts == 0) {
    std::fprintf(out, "%7u  %-16s no attempts\n", one.threads, one.subject.c_str());
    return;
  }
  std::fprintf(out, "%7u  %-16s %10llu %9.1f%%  %8.1f%% %8.1f%%  %s\n", one.threads, one.subject.c_str(),
               static_cast<unsigned long long>(attempts.attempts), percent(attempts.commits, attempts.attempts),
               percent(cycles.transactional, cycles.total), percent(cycles.aborted, cycles.total),
               causes_text(attempts).c_str());
}

unsigned long long more_lines(const observe::abort_place& place) { return place.lines - 1; }

/// Of a chain of one there is nothing more to tell than the place.
std::string calls_text(const char* whose, const std::vector<std::string>& calls) {
  if (calls.size() < 2) return {};
  std::string text = whose;
  for (const std::string& call : calls) text += (&call == &calls.front() ? "" : " < ") + call;
  return text;
}

/// What the line holds; where an attempt gave way to who held a lock, that lock.
std::string data_text(const observe::abort_place& place) {
  return place.cause == "lock-busy" && !place.data.empty() ? "lock: " + place.data : place.data;
}

/// Of what could have made attempts, that it made none is told, too.
bool has_row(const point& one) { return one.attempts && (one.attempts->attempts != 0 || one.speculates); }

/// "add_to (program.cpp:12)" without the line.
std::string function_of(const std::string& place) { return place.substr(0, place.rfind(" (")); }

/// The parts of all ends that have the same name, the largest first.
void print_shares(std::FILE* out, const char* title, const std::vector<observe::abort_end>& ends,
                  std::string (*name_of)(const observe::abort_end& end)) {
  constexpr std::size_t max_shown = 5;
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t all = 0;
  for (const observe::abort_end& end : ends) {
    counts[name_of(end)] += end.count;
    all += end.count;
  }
  std::vector<std::pair<std::string, std::uint64_t>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::fprintf(out, "  by %s\n", title);
  for (std::size_t i = 0; i < list.size() && i < max_shown; ++i) {
    const double part = static_cast<double>(list[i].second) / static_cast<double>(all);
    std::fprintf(out, "%8.1f %%  %s\n", 100 * part, list[i].first.c_str());
  }
  if (list.size() > max_shown) std::fprintf(out, "            ... and %zu more\n", list.size() - max_shown);
}

void print_ends(std::FILE* out, const std::vector<observe::abort_end>& ends) {
  if (ends.empty()) return;
  std::fprintf(out, "\nWhat those attempts were doing as they ended, as part of the aborts that were sampled\n");
  print_shares(out, "line", ends, [](const observe::abort_end& end) { return end.line; });
  print_shares(out, "function", ends, [](const observe::abort_end& end) { return function_of(end.line); });
  print_shares(out, "caller", ends, [](const observe::abort_end& end) {
    return end.caller.empty() ? "(not known)" : function_of(end.caller) + " calls " + function_of(end.line);
  });
}

}  // namespace

void print_attempts(std::FILE* out, const bench_result& result) {
  const std::vector<point>& points = result.points;
  if (std::none_of(points.begin(), points.end(), has_row)) return;
  std::fprintf(out, "\nAttempts (hardware transactions), and their cycles as part of all that the threads had\n");
  std::fprintf(out, "threads  %-16s %10s %10s  %9s %9s  aborts by cause\n", "lock", "attempts", "committed", "in tx %",
               "aborted %");
  for (const point& one : points) {
    if (has_row(one)) print_row(out, one);
  }
}

void print_abort_places(std::FILE* out, const bench_result& result) {
  for (auto one = result.points.begin(); one != result.points.end(); ++one) {
    // The table above has all points; the places are shown where each lock had the most threads.
    const auto same = [&](const point& other) { return other.subject == one->subject; };
    if (one->abort_places.empty() || std::any_of(one + 1, result.points.end(), same)) continue;
    std::fprintf(out, "\nWhere attempts of %s at %u threads ended\n", one->subject.c_str(), one->threads);
    for (const observe::abort_place& place : one->abort_places) {
      std::fprintf(out, "%9llu  %-14s %s%s%s%s%s\n", static_cast<unsigned long long>(place.count), place.cause.c_str(),
                   place.own.c_str(), place.other.empty() ? "" : "  met  ", place.other.c_str(),
                   place.line.empty() ? "" : "  at line ", place.line.c_str());
      if (place.lines > 1) std::fprintf(out, "%27sand %llu more lines\n", "", more_lines(place));
      for (const std::string& told :
           {data_text(place), place.sharing, place.room, calls_text("attempt: ", place.own_calls),
            calls_text("met by: ", place.other_calls)}) {
        if (!told.empty()) std::fprintf(out, "%27s%s\n", "", told.c_str());
      }
    }
    print_ends(out, one->abort_ends);
  }
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
