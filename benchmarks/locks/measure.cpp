// SPDX-License-Identifier: Apache-2.0
#include "locks/measure.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "locks/line_transfer.hpp"
#include "observe/document/more_rounds.hpp"
#include "workloads/harness/fairness.hpp"
#include "workloads/harness/windows.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

volatile std::sig_atomic_t stop_asked = 0;

/// What has been counted since `before`.
void add_attempts(std::optional<observe::attempt_record>& to, const observe::attempt_record& before,
                  const observe::attempt_record& now) {
  if (!to) {
    to.emplace();
    for (const auto& [cause, count] : now.aborts) to->aborts.emplace_back(cause, 0);
  }
  to->attempts += now.attempts - before.attempts;
  to->commits += now.commits - before.commits;
  to->fallbacks += now.fallbacks - before.fallbacks;
  for (std::size_t i = 0; i < now.aborts.size(); ++i)
    to->aborts[i].second += now.aborts[i].second - before.aborts[i].second;
}

bool has_windows(const request& wanted, const cell& one) {
  return wanted.watches_windows && one.threads <= machine::cpu_count();
}

workloads::outcome run_measured(const request& wanted, workloads::subject::runner run,
                                const workloads::parameters& values, const workloads::plan& how, cell& result) {
  if (!has_windows(wanted, result)) return workloads::run_with_shares(run, values, how, result.fairness);
  observe::undisturbed_record& windows = result.undisturbed;
  const double before_ns = line_transfer_ns();
  const workloads::outcome seen = workloads::run_with_windows(run, values, how, result.fairness, windows);
  if (seen.fault != nullptr) return seen;
  windows.line_before_ns.push_back(before_ns);
  windows.line_after_ns.push_back(line_transfer_ns());
  return seen;
}

/// Further runs, which time every operation and so are slower.
void run_timed(const request& wanted, workloads::subject::runner run, const workloads::parameters& values,
               workloads::plan how, cell& result) {
  const auto note = [&result](const workloads::outcome& timed) {
    if (timed.fault != nullptr) result.faults.push_back(std::string("with every operation timed: ") + timed.fault);
  };
  if (wanted.times_waits) note(workloads::run_for_waits(run, values, how, result.fairness));
  if (!wanted.times_operations) return;
  how.sample_every = 1;
  how.duration_ns /= 4;
  const workloads::outcome timed = run(values, how);
  note(timed);
  result.latency.merge(timed.latency);
}

void run_once(const request& wanted, const section& which, unsigned round, cell& result) {
  const workloads::subject& subject = wanted.subjects[result.subject];
  workloads::plan how;
  how.threads = result.threads;
  how.duration_ns = wanted.duration_ns;
  how.run_in_ns = wanted.duration_ns / 10;
  how.seed = wanted.seed + round;
  how.keeps_data = wanted.keeps_data;
  const bool counted = wanted.attempts_so_far != nullptr && subject.is_algorithm;
  const observe::attempt_record before = counted ? wanted.attempts_so_far() : observe::attempt_record{};
  const workloads::subject::runner run = subject.runner_of(workloads::id_of(*which.workload));
  if (counted) result.sites.begin();
  const workloads::outcome got = run_measured(wanted, run, which.values, how, result);
  if (counted) result.sites.end();
  if (got.fault != nullptr) {
    result.faults.emplace_back(got.fault);
    return;
  }
  // A strictly fair lock with more threads than cores may not finish one operation in a short run. Its rate is then
  // under one in that time, and is written as one. Ratios of rates need a number above 0, and this one errs in its
  // favour.
  const auto operations = std::max<std::uint64_t>(got.operations, 1);
  result.throughput.push_back(static_cast<double>(operations) * 1e9 / static_cast<double>(got.elapsed_ns));
  result.fewest.push_back(got.fewest);
  result.most.push_back(got.most);
  if (counted) add_attempts(result.attempts, before, wanted.attempts_so_far());
  run_timed(wanted, run, which.values, how, result);
}

/// Keeps the rounds that every subject has finished, so that rounds stay comparable.
void keep_whole_rounds(std::vector<cell>& cells, unsigned rounds) {
  for (cell& one : cells) {
    if (one.throughput.size() <= rounds) continue;
    one.throughput.resize(rounds);
    one.fewest.resize(rounds);
    one.most.resize(rounds);
    observe::fairness_record& fair = one.fairness;
    observe::undisturbed_record& windows = one.undisturbed;
    for (auto* const list :
         {&fair.slowest_share, &fair.busier_half_share, &fair.p999_wait_ns, &fair.max_wait_ns, &fair.wait_cpus,
          &windows.throughput, &windows.share, &windows.line_before_ns, &windows.line_after_ns}) {
      if (list->size() > rounds) list->resize(rounds);
    }
  }
}

observe::point make_point(const request& wanted, const cell& one) {
  const section& which = wanted.sections[one.section];
  const workloads::subject& subject = wanted.subjects[one.subject];
  observe::point made;
  made.workload = which.workload->name;
  for (unsigned key = 0; key < which.workload->keys.size(); ++key) {
    made.params[which.workload->keys[key].key] = which.values[key];
  }
  made.preset = which.name;
  made.threads = one.threads;
  made.placement = "cores-first";
  made.subject = subject.name;
  made.kind = subject.peer ? observe::subject_kind::peer : observe::subject_kind::ours;
  if (subject.how != workloads::waiting::none) {
    made.waiting = subject.how == workloads::waiting::spins ? "spins" : "parks";
  }
  made.metric = "throughput";
  made.unit = "sections/s";
  made.values = one.throughput;
  made.fewest = one.fewest;
  made.most = one.most;
  made.fairness = one.fairness;
  made.undisturbed = one.undisturbed;
  made.sites = one.sites.records();
  workloads::put_latency(made, one.latency);
  made.faults = one.faults;
  made.attempts = one.attempts;
  if (made.attempts) std::erase_if(made.attempts->aborts, [](const auto& line) { return line.second == 0; });
  return made;
}

observe::point make_transfer_point(const std::vector<double>& took_ns) {
  observe::point made;
  made.workload = "line_transfer";
  made.threads = 2;
  made.placement = "cores-first";
  made.subject = "machine";
  made.metric = "line transfer";
  made.unit = "ns";
  made.way = observe::better::lower;
  made.values = took_ns;
  return made;
}

std::vector<cell> empty_cells(const request& wanted) {
  std::vector<cell> cells;
  for (std::size_t section_index = 0; section_index < wanted.sections.size(); ++section_index) {
    const section& here = wanted.sections[section_index];
    const workloads::workload_id id = workloads::id_of(*here.workload);
    const auto runs = [&](const workloads::subject& one) {
      const bool is_named =
          here.only.empty() || std::find(here.only.begin(), here.only.end(), one.name) != here.only.end();
      return is_named && one.runner_of(id) != nullptr;
    };
    for (const unsigned threads : wanted.threads) {
      for (std::size_t subject = 0; subject < wanted.subjects.size(); ++subject) {
        if (runs(wanted.subjects[subject])) cells.push_back({section_index, threads, subject});
      }
    }
  }
  return cells;
}

/// False when it was interrupted: the round is not complete.
bool run_round(const request& wanted, measured& all, const std::vector<std::size_t>& chosen, unsigned round,
               unsigned end) {
  std::fprintf(stderr, "round %u of %u: %zu runs of %llu ms%s\n", round + 1, end, chosen.size(),
               static_cast<unsigned long long>(wanted.duration_ns / 1'000'000),
               round < wanted.rounds ? "" : ", for claims that are undecided");
  if (const double took = line_transfer_ns(); took != 0) all.line_transfer_ns.push_back(took);
  for (const std::size_t index : chosen) {
    if (interrupted()) break;
    cell& one = all.cells[index];
    run_once(wanted, wanted.sections[one.section], round, one);
  }
  return !interrupted();
}

}  // namespace

bool interrupted() noexcept { return stop_asked != 0; }

void stop_when_interrupted() noexcept {
  for (const int which : {SIGINT, SIGTERM}) {
    std::signal(which, [](int number) {
      stop_asked = 1;
      std::signal(number, SIG_DFL);
    });
  }
}

section preset_section(const char* name, const char* workload, const char* preset) {
  const workloads::workload* const found = workloads::find_workload(workload);
  const workloads::preset* const values = found != nullptr ? workloads::find_preset(*found, preset) : nullptr;
  if (values == nullptr) throw std::logic_error(std::string("no preset ") + workload + " " + preset);
  return {name, found, workloads::preset_parameters(*found, *values)};
}

std::vector<section> lock_sections() {
  return {preset_section("empty", "arraybench", "empty"), preset_section("small", "arraybench", "small"),
          preset_section("large-low", "arraybench", "large-low"),
          preset_section("large-high", "arraybench", "large-high"), preset_section("mapbench", "mapbench", "10k-10")};
}

measured measure(const request& wanted) {
  return measure_until_decided(wanted, [](const std::vector<cell>&) { return std::vector<observe::claim>(); });
}

measured measure_until_decided(const request& wanted, const claim_maker& claims_of) {
  measured all{.cells = empty_cells(wanted)};
  std::vector<std::size_t> chosen(all.cells.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  observe::more_rounds more(all.cells.size());
  unsigned whole = 0;
  while (!chosen.empty() && !interrupted()) {
    const unsigned end = whole + wanted.rounds;
    while (whole < end && run_round(wanted, all, chosen, whole, end)) ++whole;
    keep_whole_rounds(all.cells, whole);
    if (!interrupted()) chosen = more.next(claims_of(all.cells));
  }
  return all;
}

bool add_points(observe::document& result, const request& wanted, const measured& all, const char* name) {
  bool sound = !interrupted();
  for (const cell& one : all.cells) {
    sound = sound && one.faults.empty();
    for (const std::string& fault : one.faults) {
      std::fprintf(stderr, "%s: %s, %s, %u threads: %s\n", name, wanted.subjects[one.subject].name,
                   wanted.sections[one.section].name.c_str(), one.threads, fault.c_str());
    }
    result.points.push_back(make_point(wanted, one));
  }
  if (!all.line_transfer_ns.empty()) result.points.push_back(make_transfer_point(all.line_transfer_ns));
  return sound;
}

const cell* find_cell(const std::vector<cell>& cells, std::size_t section, unsigned threads, std::size_t subject) {
  for (const cell& one : cells) {
    if (one.section == section && one.threads == threads && one.subject == subject) return &one;
  }
  return nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
