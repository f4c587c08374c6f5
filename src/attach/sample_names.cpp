// SPDX-License-Identifier: Apache-2.0
#include "attach/sample_names.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "launch/place_name.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

constexpr std::size_t max_ends = 64;

/// What was mapped where, in processes that have ended by now.
class past_processes {
 public:
  past_processes(const launch::code_samples& all, code_names& names) : names_(names) {
    for (const launch::code_mapping& one : all.mappings) mapped_[one.process].push_back(&one);
    for (const launch::process_start& one : all.starts) starts_[one.process] = one;
  }

  /// The innermost first; none where no file was mapped.
  std::vector<named_frame> names(std::uint32_t process, const code_frame& frame) {
    const launch::code_mapping* const in = mapping_at(process, frame.code);
    if (in == nullptr) return {};
    if (const std::optional<loaded_file>& file = file_of(*in)) return names_.names(*file, frame);
    const std::string module = observe::printable(in->path.substr(in->path.rfind('/') + 1));
    return {{{}, {}, module, frame.code - in->begin + in->offset}};
  }

 private:
  /// The newest one; of a child that has mapped nothing there itself, what its parent had when it started.
  const launch::code_mapping* mapping_at(std::uint32_t process, std::uint64_t address) const {
    constexpr unsigned max_generations = 64;
    std::uint64_t until_ns = ~std::uint64_t{0};
    for (unsigned i = 0; i < max_generations; ++i) {
      if (const auto own = mapped_.find(process); own != mapped_.end()) {
        const auto found = std::find_if(own->second.rbegin(), own->second.rend(), [&](const auto* one) {
          return one->time_ns <= until_ns && address >= one->begin && address < one->end;
        });
        if (found != own->second.rend()) return *found;
      }
      const auto start = starts_.find(process);
      if (start == starts_.end()) return nullptr;
      until_ns = start->second.time_ns;
      process = start->second.parent;
    }
    return nullptr;
  }

  const std::optional<loaded_file>& file_of(const launch::code_mapping& one) {
    const auto [at, is_new] = files_.try_emplace({one.path, one.begin});
    if (is_new) at->second = place_file(one.path, {one.begin, one.end, one.offset, true, one.path});
    return at->second;
  }

  code_names& names_;
  std::map<std::uint32_t, std::vector<const launch::code_mapping*>> mapped_;  // by time
  std::map<std::uint32_t, launch::process_start> starts_;
  std::map<std::pair<std::string, std::uint64_t>, std::optional<loaded_file>> files_;
};

/// Code that is no caller: txsync's, the C++ library's, and lock wrappers.
bool is_no_caller(const named_frame& one) {
  if (one.module.starts_with("libtxsync")) return true;
  return !one.function.empty() && (one.function.starts_with("txsync::") || symbols::is_library_code(one.function) ||
                                   launch::is_lock_wrapper(one.function));
}

/// The calls behind the attempt, inlined ones too.
std::vector<named_frame> calls_of(const launch::sampled_place& place, past_processes& processes) {
  std::vector<named_frame> made;
  for (std::size_t i = 0; i < place.calls.size(); ++i) {
    std::vector<named_frame> some = processes.names(place.process, {place.calls[i], i != 0});
    made.insert(made.end(), some.begin(), some.end());
  }
  return made;
}

struct named_end {
  std::string line;
  std::string caller;
};

named_end name_end(const launch::sampled_place& place, past_processes& processes) {
  const std::vector<named_frame> here = processes.names(place.process, {place.code, false});
  if (here.empty()) return {text_of({{}, {}, {}, place.code}), {}};
  auto line = std::find_if(here.begin(), here.end(),
                           [](const named_frame& one) { return !symbols::is_library_code(one.function); });
  if (line == here.end()) line = here.begin();
  named_end made{text_of(*line), {}};
  if (line != here.begin()) made.line += " in " + here.front().function;

  // Those that the line is inlined into, then the calls from its function's own on.
  std::vector<named_frame> callers(line + 1, here.end());
  const std::vector<named_frame> calls = calls_of(place, processes);
  const auto from = std::find_if(calls.begin(), calls.end(), [&](const named_frame& one) {
    return !one.function.empty() && one.function == here.back().function && one.module == here.back().module;
  });
  callers.insert(callers.end(), from == calls.end() ? calls.begin() : from + 1, calls.end());
  const auto caller = std::find_if_not(callers.begin(), callers.end(), is_no_caller);
  if (caller != callers.end()) made.caller = text_of(*caller);
  return made;
}

}  // namespace

std::vector<observe::abort_end> ends_of(const launch::code_samples& all, code_names& names) {
  past_processes processes(all, names);
  std::map<std::tuple<std::string, std::string, std::string>, observe::abort_end> sums;
  for (const auto& [place, sum] : all.places) {
    const named_end named = name_end(place, processes);
    const std::string cause = place.cause ? to_string(*place.cause) : "";
    observe::abort_end& into = sums[{named.line, named.caller, cause}];
    into.line = named.line;
    into.caller = named.caller;
    into.cause = cause;
    into.count += sum.events;
    into.cycles += sum.cycles;
  }
  std::vector<observe::abort_end> ends;
  ends.reserve(sums.size());
  for (auto& [key, one] : sums) ends.push_back(std::move(one));
  std::erase_if(ends, [](const observe::abort_end& one) { return one.count == 0; });
  std::stable_sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  if (ends.size() > max_ends) ends.resize(max_ends);
  return ends;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
