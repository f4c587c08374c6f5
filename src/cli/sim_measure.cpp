// SPDX-License-Identifier: Apache-2.0
// The runs of `txsync sim`: one process of the workloads' image for each cell and repetition.
#include <algorithm>
#include <cinttypes>
#include <map>

#include "cli/code_place.hpp"
#include "cli/describe.hpp"
#include "cli/sim.hpp"
#include "cli/stop_on_signal.hpp"
#include "launch/symbols.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

constexpr std::size_t most_abort_places = 8;

/// The main program of the image takes numbers only (workloads/simulated_main.cpp).
std::vector<std::string> arguments_of(const bench_request& request, const workloads::subject& lock, unsigned threads,
                                      std::uint64_t seed) {
  const workloads::plan& plan = request.plan;
  std::vector<std::string> words{request.workload->name, lock.name, std::to_string(threads)};
  for (const std::uint64_t number : {static_cast<std::uint64_t>(plan.place), std::uint64_t{plan.socket},
                                     plan.duration_ns, plan.operations, plan.run_in_ns, seed, plan.sample_every}) {
    words.push_back(std::to_string(number));
  }
  for (std::size_t i = 0; i < request.workload->keys.size(); ++i) {
    words.push_back(std::to_string(request.values[static_cast<unsigned>(i)]));
  }
  return words;
}

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

void add_attempts(observe::point& point, const sim::image_result& seen, std::uint32_t mhz) {
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
  point.cycles->total += seen.number("program.elapsed_ns") * mhz / 1000 * point.threads;
  point.cycles->transactional += seen.number("attempts.committed_cycles");
  point.cycles->aborted += seen.number("attempts.aborted_cycles");
}

class simulation {
 public:
  explicit simulation(const sim_request& request) : request_(request), symbols_(request.image) {}

  bench_result run() {
    const stop_on_signal guard;
    const bench_request& bench = request_.bench;
    result_.planned = static_cast<unsigned>(bench.threads.size() * bench.locks.size()) * bench.repeat;
    for (const unsigned threads : bench.threads) {
      for (const workloads::subject* lock : bench.locks) {
        if (stop_on_signal::asked()) break;
        run_cell(*lock, threads);
      }
    }
    result_.interrupted = stop_on_signal::asked();
    return std::move(result_);
  }

 private:
  observe::point new_point(const workloads::subject& lock, unsigned threads) const {
    const bench_request& bench = request_.bench;
    observe::point made;
    made.workload = bench.workload->name;
    made.params = named_values(*bench.workload, bench.values);
    made.preset = bench.preset;
    made.threads = threads;
    made.place = bench.place;
    made.subject = lock.name;
    made.waiting = waiting_word(lock.how);
    made.metric = "throughput";
    made.unit = std::string(bench.workload->operation) + "/s";
    return made;
  }

  sim::image_request image_request_of(const workloads::subject& lock, unsigned threads, std::uint64_t seed) const {
    return {.path = request_.image,
            .arguments = arguments_of(request_.bench, lock, threads, seed),
            .model = request_.machine.model,
            .seed = seed,
            .slack_cycles = request_.slack_cycles,
            .oracle = request_.oracle};
  }

  void run_cell(const workloads::subject& lock, unsigned threads) {
    observe::point point = new_point(lock, threads);
    for (unsigned round = 0; round < request_.bench.repeat && !stop_on_signal::asked(); ++round) {
      const std::uint64_t seed = request_.bench.plan.seed + round;
      try {
        const sim::image_result seen = sim::run_image(image_request_of(lock, threads, seed));
        ++result_.runs;
        if (!add(point, seen)) break;
        if (round == 0) point.abort_places = abort_places(symbols_, seen);
      } catch (const sim::image_error& error) {
        if (stop_on_signal::asked()) break;
        point.faults.push_back("repetition " + std::to_string(round + 1) + ": " + error.what());
        break;
      }
    }
    if (point.values.empty() && point.faults.empty()) return;
    result_.points.push_back(std::move(point));
  }

  bool add(observe::point& point, const sim::image_result& seen) const {
    const std::uint64_t elapsed = seen.number("program.elapsed_ns");
    if (seen.status != 0 || elapsed == 0) {
      std::string said = seen.messages.substr(0, seen.messages.find('\n'));
      if (said.empty()) said = "the image answered " + std::to_string(seen.status);
      point.faults.push_back(std::move(said));
      return false;
    }
    const auto operations = static_cast<double>(seen.number("program.operations"));
    point.values.push_back(operations * 1e9 / static_cast<double>(elapsed));
    point.fewest.push_back(seen.number("program.fewest"));
    point.most.push_back(seen.number("program.most"));
    add_attempts(point, seen, request_.machine.model.core_mhz);
    point.end_hash = hexadecimal(seen.number("end_hash")).substr(2);
    return true;
  }

  const sim_request& request_;
  launch::module_symbols symbols_;
  bench_result result_;
};

}  // namespace

bench_result simulate(const sim_request& request) { return simulation(request).run(); }

observe::json machine_object(const sim::machine& machine) {
  const sim::machine_model& model = machine.model;
  observe::json made;
  made["backend"] = "simulated";
  made["cpu"] = machine.name + " (simulated)";
  made["cpus"] = model.hardware_threads();
  made["hardware_threads"] = model.hardware_threads();
  made["cores"] = model.total_cores();
  made["sockets"] = model.core_sockets;
  made["line_bytes"] = model.l1_line;
  made["page_bytes"] = model.page_bytes;
  made["kernel"] = "simulated";
  made["libc"] = "simulated";
  made["htm"] = {{"works", model.htm_attempts != 0}, {"verdict", sim::htm_words(model)}};
  return made;
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
