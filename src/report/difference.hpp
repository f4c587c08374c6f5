// SPDX-License-Identifier: Apache-2.0
// Compares two result documents of the same verb: lock sites by name, measurements by what was measured.
#pragma once

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

/// What a site counted in all repetitions and threads of all its points.
struct site_figures {
  double waits = 0;
  double wait_ns = 0;
  double holds = 0;
  double hold_ns = 0;
  std::optional<double> p999_ns = {};
  std::optional<double> max_wait_ns = {};
  double unwatched = 0;  ///< of the holds, those of locks that do not count their waits

  /// As site_record::counts_waits().
  bool counts_waits() const { return unwatched == 0 || waits != 0; }
};

struct site_change {
  std::string name;
  std::string where;  ///< the point's subject and threads; empty if a document has only one point with sites
  std::optional<site_figures> before = {};  ///< at least one of the two has a value
  std::optional<site_figures> after = {};

  /// Whether waits were counted wherever the site is.
  bool compares_waits() const { return (!before || before->counts_waits()) && (!after || after->counts_waits()); }
};

/// A measured median with the lowest and highest value.
struct measured {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t values = 0;
};

struct point_change {
  std::string what;  ///< workload, parameters, subject, threads
  std::string metric;
  std::string unit;
  bool lower = false;  ///< lower is better
  measured before;
  measured after;
};

struct difference {
  std::string before;  ///< what was measured: "kccachetest wicked, policy libc"
  std::string after;
  double before_s = 0;  ///< how long it ran; 0 if unknown
  double after_s = 0;
  bool per_second = false;           ///< the lengths differ, so times are compared per second of the run
  std::vector<site_change> sites;    ///< the largest change of waiting first
  std::vector<point_change> points;  ///< the largest change first
  std::vector<std::string> remarks;  ///< what makes the two hard to compare

  /// The number by which times are divided before they are compared.
  double divisor_before() const { return per_second ? before_s : 1; }
  double divisor_after() const { return per_second ? after_s : 1; }
  /// The waiting of all threads, in nanoseconds, at the sites whose waits can be compared.
  double waiting_before() const;
  double waiting_after() const;
};

/// Throws report_error if there is nothing to compare, or if a member's type is not that of docs/result.schema.json.
/// The error names both documents.
difference compared(const source& before, const source& after);

/// A row in the table of a site: "before", "after", "ratio" and the like.
struct difference_row {
  std::string label;
  std::array<std::string, 6> cells;  ///< in the order of difference_heads
};
inline constexpr std::array<const char*, 6> difference_heads{"waits",        "waited", "wait p99.9",
                                                             "longest wait", "holds",  "held"};
std::vector<difference_row> rows_of(const site_change& site, const difference& all);

/// "better", "worse", "overlap" if the values of both overlap, or "–" for single values, whose spread is unknown.
const char* judged(const point_change& point);
/// A median in a readable unit: "12.3 s", "4.12 million sections/s".
std::string value_words(const point_change& point, const measured& value);

/// One sentence: how much waiting there was, and where it changed most.
std::string verdict_of(const difference& all);

/// The page of a comparison: tables, and flame graphs whose colours and signs show what changed. Requires: `all` is the
/// result of compared(). Throws report_error as compared() does.
std::string difference_page(const source& before, const source& after, const difference& all);

/// The error for documents with a member whose type is not that of docs/result.schema.json.
report_error not_as_the_schema(const source& before, const source& after, const std::exception& why);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
