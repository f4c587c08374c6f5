// SPDX-License-Identifier: Apache-2.0
// What `txsync sim` prints beyond the table of `txsync bench`: the outcome of the attempts, and where they ended.
#include <algorithm>

#include <fmt/core.h>

#include "base/print.hpp"
#include "observe/document/abort_ends.hpp"
#include "observe/document/abort_text.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
namespace {

using observe::point;

constexpr std::size_t name_width = 16;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string causes_text(const observe::attempt_record& attempts) {
  std::string text;
  for (const auto& [cause, count] : attempts.aborts) {
    text += fmt::format("{}{} {:.1f}%", text.empty() ? "" : ", ", cause, percent(count, attempts.attempts));
  }
  return text.empty() ? "none" : text;
}

void print_row(std::FILE* out, const point& one) {
  const observe::attempt_record attempts = one.attempts.value_or(observe::attempt_record{});
  const observe::cycle_record cycles = one.cycles.value_or(observe::cycle_record{});
  if (attempts.attempts == 0) {
    base::print(out, "{:7}  {} no attempts\n", one.threads, base::padded(one.subject, name_width));
    return;
  }
  base::print(out, "{:7}  {} {:10} {:>9.1f}%  {:>8.1f}% {:>8.1f}%  {}\n", one.threads,
              base::padded(one.subject, name_width), attempts.attempts, percent(attempts.commits, attempts.attempts),
              percent(cycles.transactional, cycles.total), percent(cycles.aborted, cycles.total),
              causes_text(attempts));
}

/// For a chain of one call the place says everything.
std::string calls_text(const char* whose, const std::vector<std::string>& calls) {
  if (calls.size() < 2) return {};
  std::string text = whose;
  for (const std::string& call : calls) text += (&call == &calls.front() ? "" : " < ") + call;
  return text;
}

/// What the line holds. If an attempt aborted because a lock was held: that lock.
std::string data_text(const observe::abort_place& place) {
  return place.cause == "lock-busy" && !place.data.empty() ? "lock: " + place.data : place.data;
}

/// A lock that could have made attempts has a row even if it made none.
bool has_row(const point& one) { return one.attempts && (one.attempts->attempts != 0 || one.speculates); }

}  // namespace

void print_attempts(std::FILE* out, const measure::bench_result& result) {
  const std::vector<point>& points = result.points;
  if (std::none_of(points.begin(), points.end(), has_row)) return;
  std::fputs("\nAttempts (hardware transactions), and their cycles as a share of all cycles of the threads\n", out);
  base::print(out, "threads  {:{}} {:>10} {:>10}  {:>9} {:>9}  aborts by cause\n", "lock", name_width, "attempts",
              "committed", "in tx %", "aborted %");
  for (const point& one : points) {
    if (has_row(one)) print_row(out, one);
  }
}

void print_abort_places(std::FILE* out, const measure::bench_result& result) {
  for (auto one = result.points.begin(); one != result.points.end(); ++one) {
    // The table above has all points. The places are shown for each lock's greatest number of threads.
    const auto same = [&](const point& other) { return other.subject == one->subject; };
    if (one->abort_places.empty() || std::any_of(one + 1, result.points.end(), same)) continue;
    base::print(out, "\nWhere attempts of {} at {} threads ended\n", one->subject, one->threads);
    for (const observe::abort_place& place : one->abort_places) {
      base::print(out, "{:9}  {:14} {}{}{}{}{}\n", place.count, place.cause, place.own,
                  place.other.empty() ? "" : "  met  ", place.other, place.line.empty() ? "" : "  at line ",
                  place.line);
      if (place.lines > 1) base::print(out, "{:27}and {} more lines\n", "", place.lines - 1);
      for (const std::string& told :
           {data_text(place), observe::sharing_text(place), observe::room_text(place),
            calls_text("attempt: ", place.own_calls), calls_text("met by: ", place.other_calls)}) {
        if (!told.empty()) base::print(out, "{:27}{}\n", "", told);
      }
    }
    print_abort_ends(out, one->abort_ends);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
