// SPDX-License-Identifier: Apache-2.0
// What a simulated run reports on its attempts, as members of a point.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/words.hpp"
#include "simulate/simulate.hpp"
#include "symbols/code_place.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::hexadecimal;

namespace {

constexpr std::size_t max_abort_places = 8;

/// Names of places in the code. A few places end attempts at thousands of lines, and it takes long to find a name.
class place_names {
 public:
  explicit place_names(const symbols::module_symbols& symbols) : symbols_(symbols) {}
  const std::string& of(std::uint64_t code) {
    const auto [at, fresh] = known_.try_emplace(code);
    if (fresh) at->second = symbols::place_name(symbols_, code);
    return at->second;
  }

 private:
  const symbols::module_symbols& symbols_;
  std::map<std::uint64_t, std::string> known_;
};

/// An object's name, and an offset in the object.
struct data_name {
  std::string object;
  std::uint64_t offset = 0;

  std::string whole() const { return offset == 0 ? object : fmt::format("{}+{}", object, offset); }
};

data_name name_of_data(const symbols::module_symbols& symbols, place_names& names, const sim::data_place& place) {
  switch (place.kind) {
    case sim::data_kind::image: {
      symbols::object_at found = symbols.object(place.offset);
      if (found.name.empty()) return {"static data", 0};
      return {std::move(found.name), found.offset};
    }
    case sim::data_kind::heap: {
      const std::string block = fmt::format("heap block of {} bytes", place.bytes);
      return {place.whose != 0 ? block + " from " + names.of(place.whose) : block, place.offset};
    }
    case sim::data_kind::mapped:
      return {"mapped memory", 0};
    case sim::data_kind::stack:
      return {fmt::format("stack of thread {}", place.whose), 0};
    case sim::data_kind::thread_local_data:
      return {fmt::format("thread-local data of thread {}", place.whose), 0};
    case sim::data_kind::unknown:
      break;
  }
  return {};
}

/// Entries with the same text: several instructions of a line, several attempts of a function, several objects of a
/// kind.
struct joined_entries {
  observe::abort_place place;
  const sim::abort_entry* first;  ///< the most frequent
  data_name own;
  data_name conflicting;
  std::set<std::uint64_t> lines;

  bool is_like(const joined_entries& other) const {
    return place.cause == other.place.cause && place.own == other.place.own && place.other == other.place.other &&
           own.object == other.own.object && conflicting.object == other.conflicting.object &&
           (!conflicting.object.empty() || place.line == other.place.line);
  }
  void add(const joined_entries& other, const sim::abort_entry& entry) {
    place.count += other.place.count;
    place.different_bytes += entry.false_sharing_hits;
    lines.insert(entry.address);
  }
};

observe::sharing_kind sharing_of(const joined_entries& one) {
  const sim::data_place& own = one.first->own;
  const sim::data_place& conflicting = one.first->conflicting;
  if (own.kind == sim::data_kind::unknown || conflicting.kind == sim::data_kind::unknown ||
      one.place.different_bytes == 0) {
    return observe::sharing_kind::none;
  }
  if (one.own.object != one.conflicting.object) return observe::sharing_kind::objects;
  return own.start != conflicting.start ? observe::sharing_kind::blocks : observe::sharing_kind::bytes;
}

observe::abort_place finished(joined_entries& one, place_names& names) {
  observe::abort_place& place = one.place;
  if (!place.line.empty()) place.lines = one.lines.size();
  if (place.lines == 1 && !place.data.empty()) place.data = one.conflicting.whole();
  place.sharing = sharing_of(one);
  if (place.sharing != observe::sharing_kind::none) {
    place.own_data = one.own.whole();
    place.conflicting_data = one.conflicting.whole();
  }
  const auto name_all = [&](const sim::call_chain& calls, std::vector<std::string>& into) {
    for (const std::uint64_t code : calls) into.push_back(names.of(code));
  };
  name_all(one.first->own_calls, place.own_calls);
  name_all(one.first->other_calls, place.other_calls);
  place.occupancy = one.first->occupancy;
  return std::move(place);
}

}  // namespace

std::vector<observe::abort_place> abort_places(const symbols::module_symbols& symbols, const sim::image_result& seen) {
  place_names names(symbols);
  std::vector<joined_entries> joined;
  for (const sim::abort_entry& entry : seen.aborts) {
    const data_name conflicting = name_of_data(symbols, names, entry.conflicting);
    const data_name own = name_of_data(symbols, names, entry.own);
    joined_entries made{{sim::name_of(entry.why), entry.count, names.of(entry.own_code), names.of(entry.other_code),
                         entry.address != 0 ? hexadecimal(entry.address) : "", conflicting.object},
                        &entry,
                        own.object.empty() ? conflicting : own,
                        conflicting,
                        {entry.address}};
    const auto same = std::find_if(joined.begin(), joined.end(), [&](const auto& one) { return one.is_like(made); });
    if (same != joined.end()) {
      same->add(made, entry);
    } else {
      made.place.different_bytes = entry.false_sharing_hits;
      joined.push_back(std::move(made));
    }
  }
  std::stable_sort(joined.begin(), joined.end(),
                   [](const auto& a, const auto& b) { return a.place.count > b.place.count; });
  if (joined.size() > max_abort_places) joined.resize(max_abort_places);
  std::vector<observe::abort_place> places;
  places.reserve(joined.size());
  for (joined_entries& one : joined) places.push_back(finished(one, names));
  return places;
}

std::vector<observe::abort_end> abort_ends(const symbols::module_symbols& symbols, const sim::image_result& seen) {
  constexpr std::size_t max_ends = 64;
  place_names names(symbols);
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;  // instructions of a line count together
  for (const sim::abort_end& end : seen.ends) {
    counts[{names.of(end.code), end.caller != 0 ? names.of(end.caller) : ""}] += end.count;
  }
  std::vector<observe::abort_end> ends;
  ends.reserve(counts.size());
  for (const auto& [places, count] : counts) ends.push_back({places.first, places.second, count});
  std::stable_sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  if (ends.size() > max_ends) ends.resize(max_ends);
  return ends;
}

void add_attempts(observe::point& point, const sim::image_result& seen, std::uint64_t cycles) {
  if (!point.attempts) point.attempts.emplace();
  if (!point.cycles) point.cycles.emplace();
  observe::attempt_record& sum = *point.attempts;
  sum.attempts += seen.number(sim::number_record::attempts_begun);
  sum.commits += seen.number(sim::number_record::attempts_committed);
  for (const auto& [name, count] : seen.records) {
    if (!name.starts_with(sim::number_record::aborts) || count == 0) continue;
    const std::string cause = name.substr(std::string_view(sim::number_record::aborts).size());
    const auto found =
        std::find_if(sum.aborts.begin(), sum.aborts.end(), [&](const auto& one) { return one.first == cause; });
    if (found != sum.aborts.end()) {
      found->second += count;
    } else {
      sum.aborts.emplace_back(cause, count);
    }
  }
  point.cycles->total += cycles * point.threads;
  point.cycles->transactional += seen.number(sim::number_record::committed_cycles);
  point.cycles->aborted += seen.number(sim::number_record::aborted_cycles);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
