// SPDX-License-Identifier: Apache-2.0
// What a simulated run tells of its attempts, as members of a point.
#include <algorithm>
#include <map>

#include "cli/code_place.hpp"
#include "cli/sim.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

constexpr std::size_t most_abort_places = 8;

/// Places in the code by name. A few places end attempts at thousands of lines, and a name takes long to be found.
class place_names {
 public:
  explicit place_names(const launch::module_symbols& symbols) : symbols_(symbols) {}
  const std::string& of(std::uint64_t code) {
    const auto [at, fresh] = known_.try_emplace(code);
    if (fresh) at->second = place_name(symbols_, code);
    return at->second;
  }

 private:
  const launch::module_symbols& symbols_;
  std::map<std::uint64_t, std::string> known_;
};

}  // namespace

/// Entries that read the same are one: several instructions of a line, several attempts of a function.
std::vector<observe::abort_place> abort_places(const launch::module_symbols& symbols, const sim::image_result& seen) {
  place_names names(symbols);
  std::vector<observe::abort_place> sites;
  for (const sim::abort_entry& entry : seen.aborts) {
    const observe::abort_place made{entry.cause, entry.count, names.of(entry.own_code), names.of(entry.other_code),
                                    entry.address != 0 ? hexadecimal(entry.address) : ""};
    const auto same = std::find_if(sites.begin(), sites.end(), [&](const observe::abort_place& one) {
      return one.cause == made.cause && one.own == made.own && one.other == made.other && one.line == made.line;
    });
    if (same != sites.end()) {
      same->count += made.count;
    } else {
      sites.push_back(made);
    }
  }
  std::stable_sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  if (sites.size() > most_abort_places) sites.resize(most_abort_places);
  return sites;
}

void add_attempts(observe::point& point, const sim::image_result& seen, std::uint64_t cycles) {
  if (!point.attempts) point.attempts.emplace();
  if (!point.cycles) point.cycles.emplace();
  observe::attempt_record& sum = *point.attempts;
  sum.attempts += seen.number("attempts.begun");
  sum.commits += seen.number("attempts.committed");
  for (const auto& [name, count] : seen.records) {
    if (!name.starts_with("aborts.") || count == 0) continue;
    const std::string cause = name.substr(name.find('.') + 1);
    const auto found =
        std::find_if(sum.aborts.begin(), sum.aborts.end(), [&](const auto& one) { return one.first == cause; });
    if (found != sum.aborts.end()) {
      found->second += count;
    } else {
      sum.aborts.emplace_back(cause, count);
    }
  }
  point.cycles->total += cycles * point.threads;
  point.cycles->transactional += seen.number("attempts.committed_cycles");
  point.cycles->aborted += seen.number("attempts.aborted_cycles");
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
