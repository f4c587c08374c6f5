// SPDX-License-Identifier: Apache-2.0
// The options of `txsync bench`, checked.
#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/core.h>

#include <txsync/machine/thread.hpp>

#include "base/bad_input.hpp"
#include "base/words.hpp"
#include "measure/measure.hpp"
#include "workloads/generators/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {
using base::bad_input;
using base::join;
using base::nearest;
using base::number_of;
using base::parse_number;
using base::split;
using base::unknown;
using base::words;

namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t max_ms = 3'600'000;
constexpr std::uint64_t max_repeats = 1000;

template <class Range>
words names_of(const Range& range) {
  words names;
  for (const auto& one : range) names.emplace_back(one.name);
  return names;
}

const workloads::workload& workload_of(const std::string& name) {
  const words names = names_of(workloads::workloads());
  if (name.empty()) throw bad_input("a workload is missing; allowed: " + join(names));
  const workloads::workload* found = workloads::find_workload(name);
  if (found == nullptr) throw bad_input(unknown("workload", name, names));
  return *found;
}

void apply_preset(bench_request& request, const std::string& name) {
  const workloads::preset* found = workloads::find_preset(*request.workload, name);
  if (found == nullptr) throw bad_input(unknown("preset", name, names_of(request.workload->presets)));
  request.preset = name;
  request.values = workloads::preset_parameters(*request.workload, *found);
}

/// What `assign` complains of, with the nearest key if the key is unknown.
std::string with_suggestion(std::string complaint, const workloads::workload& which, const std::string& key) {
  if (workloads::find_parameter(which, key) >= 0) return complaint;
  words keys;
  for (const workloads::parameter& one : which.keys) keys.emplace_back(one.key);
  if (const std::string meant = nearest(key, keys); !meant.empty()) complaint += " (did you mean '" + meant + "'?)";
  return complaint;
}

void apply_settings(bench_request& request, const words& settings, const environment& on) {
  words seen;
  for (const std::string& setting : settings) {
    const std::string key = setting.substr(0, setting.find('='));
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) throw bad_input("'" + key + "' is set twice");
    seen.push_back(key);
    const std::string complaint = workloads::assign(*request.workload, setting, request.values);
    if (!complaint.empty()) throw bad_input(with_suggestion(complaint, *request.workload, key));
  }
  for (unsigned i = 0; i < request.workload->keys.size(); ++i) {
    const workloads::parameter& key = request.workload->keys[i];
    if (on.simulated && key.is_file && request.values[i] != 0) {
      throw bad_input(std::string(key.key) + ": simulated workloads read no files; remove it");
    }
  }
  if (const char* complaint = workloads::complaint(*request.workload, request.values)) {
    throw bad_input(std::string(request.workload->name) + ": " + complaint);
  }
}

/// First the preset, wherever it stands, as an option or as preset=NAME; then the values that change it.
void apply_values(bench_request& request, const bench_options& options, const environment& on) {
  request.values = workloads::default_parameters(*request.workload);
  words settings;
  std::optional<std::string> preset = options.preset;
  for (const std::string& setting : options.settings) {
    if (!setting.starts_with("preset=")) {
      settings.push_back(setting);
    } else if (!preset) {
      preset = setting.substr(setting.find('=') + 1);
    } else {
      throw bad_input("two presets are given; allowed: one");
    }
  }
  if (preset) apply_preset(request, *preset);
  apply_settings(request, settings, on);
}

/// One thread, as many as CPUs, and twice as many: uncontended, contended, oversubscribed. On simulated machines: a
/// curve up to the number of CPUs.
std::vector<unsigned> default_threads(const environment& on) {
  const unsigned cpus = std::min(on.cpus, workloads::max_threads / 2);
  if (on.simulated) {
    std::vector<unsigned> curve;
    for (unsigned threads = 1; threads <= std::min(cpus, 16u); threads *= 2) curve.push_back(threads);
    return curve;
  }
  return cpus == 1 ? std::vector<unsigned>{1, 2} : std::vector<unsigned>{1, cpus, 2 * cpus};
}

std::vector<unsigned> threads_of(const std::optional<std::string>& text, const environment& on) {
  if (!text) return default_threads(on);
  std::vector<unsigned> list;
  for (const std::string& word : split(*text)) {
    std::uint64_t value = 0;
    if (!parse_number(word, workloads::max_threads, value) || value == 0) {
      throw bad_input(
          fmt::format("--threads: '{}' is not a number of threads; allowed: numbers from 1 to {}, for example 1,2,4",
                      word, workloads::max_threads));
    }
    if (std::find(list.begin(), list.end(), value) != list.end())
      throw bad_input("--threads: " + word + " is given twice");
    list.push_back(static_cast<unsigned>(value));
  }
  return list;
}

using subject_list = std::vector<const workloads::subject*>;

subject_list able_to_run(const workloads::workload& which, const environment& on) {
  subject_list able;
  for (const workloads::subject& one : workloads::subjects()) {
    if (on.simulated ? one.peer : one.simulated_only) continue;
    if (one.runner_of(workloads::id_of(which)) != nullptr) able.push_back(&one);
  }
  return able;
}

/// Why a lock that exists cannot be used.
std::string reason_against(const workloads::subject& one, const workloads::workload& which, const environment& on) {
  const std::string name = "'" + std::string(one.name) + "'";
  if (one.simulated_only && !on.simulated) return name + " is simulated only (txsync sim)";
  if (one.peer && on.simulated) return name + " belongs to another library and runs natively only (txsync bench)";
  return std::string(which.name) + " cannot run on " + name;
}

subject_list locks_of(const workloads::workload& which, const std::optional<std::string>& text, const environment& on) {
  const subject_list able = able_to_run(which, on);
  subject_list list;
  if (!text) {
    std::copy_if(able.begin(), able.end(), std::back_inserter(list),
                 [](const auto* one) { return one->exclusive && !one->speculates && !one->simulated_only; });
    return list;
  }
  words names;
  for (const workloads::subject* one : able) names.emplace_back(one->name);
  for (const std::string& word : split(*text)) {
    const workloads::subject* found = workloads::find_subject(word);
    if (found == nullptr) throw bad_input("--lock: " + unknown("lock", word, names));
    if (std::find(able.begin(), able.end(), found) == able.end()) {
      throw bad_input("--lock: " + reason_against(*found, which, on) + "; allowed: " + join(names));
    }
    if (std::find(list.begin(), list.end(), found) != list.end())
      throw bad_input("--lock: '" + word + "' is given twice");
    list.push_back(found);
  }
  return list;
}

void apply_placement(bench_request& request, const std::string& text, const environment& on) {
  request.placement = text;
  if (request.placement == "cores-first") {
    request.plan.placement = machine::placement::cores_first;
  } else if (request.placement == "smt-first") {
    request.plan.placement = machine::placement::smt_first;
  } else if (request.placement == "none") {
    request.plan.placement = machine::placement::none;
  } else if (request.placement.starts_with("socket=")) {
    std::uint64_t socket = 0;
    const unsigned last = on.sockets - 1;
    if (!parse_number(request.placement.substr(request.placement.find('=') + 1), last, socket)) {
      throw bad_input(fmt::format("--place: '{}' is not a socket of this machine; allowed: socket=0{}", text,
                                  last == 0 ? "" : fmt::format(" to socket={}", last)));
    }
    request.plan.placement = machine::placement::socket;
    request.plan.socket = static_cast<unsigned>(socket);
  } else {
    throw bad_input("--place: " + unknown("place", text, split("cores-first,smt-first,socket=N,none")));
  }
}

}  // namespace

environment native_environment() { return {machine::cpu_count(), machine::socket_count(), false}; }

bench_request checked(const bench_options& options, const environment& on) {
  bench_request request;
  request.workload = &workload_of(options.workload);
  apply_values(request, options, on);
  request.threads = threads_of(options.threads, on);
  request.locks = locks_of(*request.workload, options.locks, on);
  apply_placement(request, options.placement.value_or("cores-first"), on);
  if (options.duration && options.operations) {
    throw bad_input("--duration and --operations are both given; allowed: one of the two");
  }
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  request.repeat = static_cast<unsigned>(number_of("--repeat", options.repeat, 1, max_repeats, on.simulated ? 1 : 5));
  request.plan.duration_ns = number_of("--duration", options.duration, 1, max_ms, on.simulated ? 1 : 100) * ns_per_ms;
  request.plan.operations = number_of("--operations", options.operations, 1, any, 0);
  request.plan.run_in_ns = request.plan.operations == 0 ? request.plan.duration_ns / 10 : 0;
  request.plan.seed = number_of("--seed", options.seed, 0, any, 1);
  request.plan.sample_every = number_of("--sample", options.sample, 1, any, 0);
  return request;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
