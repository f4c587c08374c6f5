// SPDX-License-Identifier: Apache-2.0
#include "tune/fairness.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

using observe::site_record;

std::uint64_t ns_of(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

const site_record* find_site(const measured& in, const std::string& name) {
  for (const site_seen& one : in.sites) {
    if (one.counted.name == name) return &one.counted;
  }
  return nullptr;
}

/// The same site in the other run. A lock without an initialiser is named by its first thread. If the name is missing
/// there, it takes the site with the most waiting whose name is not in this run.
const site_record* same_site(const site_record& site, const measured& run, const measured& reference) {
  const site_record* same = find_site(reference, site.name);
  if (same != nullptr) return same;
  for (const site_seen& candidate : reference.sites) {
    const bool free = candidate.counted.kind == site.kind && find_site(run, candidate.counted.name) == nullptr;
    if (free && (same == nullptr || candidate.counted.all_wait_ns() > same->all_wait_ns())) same = &candidate.counted;
  }
  return same;
}

/// Barriers are not locks. The C library's spin locks may have found no room in the table of their sites.
bool is_compared(const std::string& kind, const measured& reference) {
  if (kind != "spinlock") return kind != "barrier";
  return std::any_of(reference.sites.begin(), reference.sites.end(),
                     [](const site_seen& seen) { return seen.counted.kind == "spinlock"; });
}

void put_share(const site_record& site, const site_record& same, const measured& run, const measured& reference,
               round_fairness& fairness) {
  const std::vector<observe::thread_turns> threads = observe::compared_threads(site.by_thread, ns_of(run.seconds));
  const std::optional<observe::slow_thread> slow = observe::slowest_thread(threads, ns_of(run.seconds));
  if (!slow) return;
  const double share =
      observe::share_of_rank(observe::compared_threads(same.by_thread, ns_of(reference.seconds)), slow->rank);
  // A thread that had nothing can lose nothing.
  if (share == 0) return;
  // The criterion is the part of its share that is left: the smallest of all sites counts.
  if (!fairness.share_site.empty() && slow->share * fairness.reference_share >= fairness.share * share) return;
  fairness.share = slow->share;
  fairness.reference_share = share;
  fairness.share_site = site.name;
}

std::string duration(double ns) {
  return ns >= 1e9 ? fmt::format("{:.3g} s", ns / 1e9) : fmt::format("{:.3g} ms", ns / 1e6);
}

/// The median of a number over the rounds that `chosen` selects.
template <class Chosen, class Value>
double median(const std::vector<round_fairness>& rounds, Chosen chosen, Value value) {
  std::vector<double> values;
  for (const round_fairness& one : rounds) {
    if (chosen(one)) values.push_back(static_cast<double>(value(one)));
  }
  return observe::summarize(values).median;
}

template <class Chosen>
std::string usual_site(const std::vector<round_fairness>& rounds, Chosen chosen, std::string round_fairness::* site) {
  std::map<std::string, unsigned> count;
  for (const round_fairness& one : rounds) {
    if (chosen(one)) ++count[one.*site];
  }
  return std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace

round_fairness held_against(const measured& run, const measured& reference) {
  round_fairness fairness;
  for (const site_seen& site : reference.sites) {
    if (is_compared(site.counted.kind, reference))
      fairness.reference_max_wait_ns = std::max(fairness.reference_max_wait_ns, site.counted.max_wait_ns);
  }
  for (const site_seen& own : run.sites) {
    const site_record& site = own.counted;
    if (!is_compared(site.kind, reference)) continue;
    if (site.max_wait_ns > fairness.max_wait_ns) {
      fairness.max_wait_ns = site.max_wait_ns;
      fairness.wait_site = site.name;
    }
    if (const site_record* const same = same_site(site, run, reference))
      put_share(site, *same, run, reference, fairness);
  }
  return fairness;
}

std::size_t fairness_record::bad() const {
  return static_cast<std::size_t>(
      std::count_if(rounds.begin(), rounds.end(), [](const round_fairness& one) { return one.is_bad(); }));
}

std::string fairness_record::reason() const {
  const auto waits = [](const round_fairness& one) { return one.waits_too_long(); };
  const auto starves = [](const round_fairness& one) { return one.starves(); };
  const auto count = [this](auto chosen) {
    return static_cast<std::size_t>(std::count_if(rounds.begin(), rounds.end(), chosen));
  };
  std::string words;
  if (const std::size_t bad = count(waits); bad != 0) {
    words = fmt::format("a thread waited too long in {} of {} rounds: {} at {}, {} under what you have", bad,
                        rounds.size(), duration(median(rounds, waits, [](const auto& one) { return one.max_wait_ns; })),
                        usual_site(rounds, waits, &round_fairness::wait_site),
                        duration(median(rounds, waits, [](const auto& one) { return one.reference_max_wait_ns; })));
  }
  if (const std::size_t bad = count(starves); bad != 0) {
    words += fmt::format(
        "{}the slowest thread got under half of its share in {} of {} rounds: {:.2g} % of the turns at {}, {:.2g} % "
        "under what you have",
        words.empty() ? "" : "; ", bad, rounds.size(),
        100 * median(rounds, starves, [](const auto& one) { return one.share; }),
        usual_site(rounds, starves, &round_fairness::share_site),
        100 * median(rounds, starves, [](const auto& one) { return one.reference_share; }));
  }
  return words;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
