// SPDX-License-Identifier: Apache-2.0
// The sections of the page. Each is made from one document and returns HTML, or nothing if the document has nothing for
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

using observe::json;

/// The sentence that a reader wants first, and whether it is good or bad news.
struct verdict {
  enum class mood : std::uint8_t { plain, good, bad };
  std::string words;
  mood how = mood::plain;
};
verdict verdict_of(const json& document);

/// Numbers of the verdict that get boxes of their own under the headline.
std::string key_figures(const json& document);

/// One workload with many sets of parameters: each subject as a fraction of the best, in one drawing (sweep.cpp).
std::string sweep_section(const json& document);
/// Tables and drawings of the points, by workload and parameters (points.cpp).
std::string points_section(const json& document);
/// What happened to attempts, and where they ended (attempts.cpp).
std::string attempts_section(const json& document);
/// What `txsync explore` tried and found, and its verdict (explored.cpp).
std::string exploration_section(const json& document);
verdict verdict_of_exploration(const json& document);
std::string exploration_figures(const json& document);
/// The experiments of `txsync lab` (experiments.cpp).
std::string experiments_section(const json& document);
/// The comparisons of `txsync tune` (comparisons.cpp).
std::string comparisons_section(const json& document);
/// The lock sites (sites.cpp).
std::string sites_section(const json& document);
/// For a run: who waited, and who held the lock meanwhile (blame.cpp).
std::string blame_section(const json& document);
/// Repetitions that failed their check, notices of the preloaded library, an interruption (notices.cpp).
std::string notices_section(const json& document);
std::string claims_section(const json& document);
std::string machine_section(const json& document);
std::string reproduce_section(const json& document, const std::string& file);

/// "holds", "undecided" or "missed". Documents of older versions have no member `outcome`; then `holds` decides.
std::string outcome_of(const json& claim);
/// The verb that wrote the document, such as "txsync bench", or the program's name.
std::string verb_of(const json& document);

/// A site with the point that it was counted in. `where` is empty if there is only one such point.
struct counted {
  const json* site;
  std::string where;
};
/// The sites of all points, those that waited most first. For a tuning, only the sites counted in the run that chose
/// which sites to change (sites.cpp). `always`: gives the point even if there is only one.
std::vector<counted> sites_of(const json& document, bool always = false);

/// The whole page around its articles.
std::string page_around(const std::string& title, const std::string& body);
/// "txsync tune, started 2025-01-31 12:00 UTC".
std::string over_line(const json& document);

/// "<h2>WORDS</h2>", and a table in a box that scrolls on its own.
std::string heading(const std::string& words);
std::string table(const std::string& head, const std::string& rows);
/// A box under the headline, and an entry of a list of facts. Empty facts are left out.
std::string box(const std::string& name, const std::string& value, const std::string& below);
std::string fact(const std::string& name, const std::string& value);

/// "95 % interval ", or another name if there are too few rounds for one.
std::string interval_name(double coverage);
/// "1.12 (95 % interval 1.05 to 1.20)"; without the interval if there is none.
std::string ratio_words(double value, double low, double high, double coverage);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
