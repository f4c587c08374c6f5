// SPDX-License-Identifier: Apache-2.0
// Two result documents of the same verb, compared: lock sites by their names, measurements by what was measured.
#pragma once

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace txsync::inline TXSYNC_BACKEND::report {

/// What a site counted, all its points' repetitions and threads together.
struct site_figures {
  double waits = 0;
  double wait_ns = 0;
  double holds = 0;
  double hold_ns = 0;
  std::optional<double> p999_ns = {};
  std::optional<double> max_wait_ns = {};
};

struct site_change {
  std::string name;
  std::string where;  ///< the point's subject and threads; empty where a document has one point with sites
  std::optional<site_figures> before = {};  ///< at least one of both is there
  std::optional<site_figures> after = {};
};

/// A measured median with the least and greatest value.
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
  bool lower = false;  ///< less is better
  measured before;
  measured after;
};

struct difference {
  std::string before;  ///< what was measured: "kccachetest wicked, policy libc"
  std::string after;
  double before_s = 0;  ///< how long it ran; 0 where that is unknown
  double after_s = 0;
  bool per_second = false;           ///< the lengths differ: changes are judged by the time for each second of the run
  std::vector<site_change> sites;    ///< the greatest change of waiting first
  std::vector<point_change> points;  ///< the greatest change first
  std::vector<std::string> remarks;  ///< what makes the two hard to compare

  /// What times are divided by before they are compared.
  double divisor_before() const { return per_second ? before_s : 1; }
  double divisor_after() const { return per_second ? after_s : 1; }
  /// Of all sites and threads, nanoseconds.
  double waiting_before() const;
  double waiting_after() const;
};

/// Throws report_error, which names both, where there is nothing to compare, or a member has another type than
/// docs/result.schema.json says.
difference compared(const source& before, const source& after);

/// A row of the table of a site: "before", "after", "ratio" and the like.
struct difference_row {
  std::string label;
  std::array<std::string, 6> cells;  ///< as difference_heads has them
};
inline constexpr std::array<const char*, 6> difference_heads{"waits",        "waited", "wait p99.9",
                                                             "longest wait", "holds",  "held"};
std::vector<difference_row> rows_of(const site_change& site, const difference& all);

/// "better", "worse", "overlap" where the values of both do, or "–" of single values, which tell nothing of their
/// spread.
const char* judged(const point_change& one);
/// A median as it reads well: "12.3 s", "4.12 million sections/s".
std::string value_words(const point_change& one, const measured& value);

/// One sentence: how much waiting there was, and where it changed most.
std::string verdict_of(const difference& all);

/// The page of a comparison: tables, and flame graphs in which colours and signs say what changed. Requires: `all` is
/// what compared() answers. Throws report_error as compared().
std::string difference_page(const source& before, const source& after, const difference& all);

/// Of documents that have a member of another type than docs/result.schema.json says.
report_error not_as_the_schema(const source& before, const source& after, const std::exception& why);

}  // namespace txsync::inline TXSYNC_BACKEND::report
