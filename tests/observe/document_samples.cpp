// SPDX-License-Identifier: Apache-2.0
// document_samples FOLDER: writes result documents with every member that the model has, for document_test.py, which
// holds them against the schema.
#include <cstdio>
#include <limits>
#include <string>

#include "observe/document/document.hpp"
#include "observe/document/output.hpp"

namespace observe = txsync::observe;

namespace {

constexpr std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();

observe::json machine(const char* backend) {
  return {{"backend", backend},   {"cpus", 2},
          {"page_bytes", 4096},   {"kernel", "Linux 6.1"},
          {"libc", "glibc 2.36"}, {"htm", {{"works", false}, {"verdict", "always-aborts"}}}};
}

observe::document frame(const char* backend = "native") {
  observe::document made;
  made.command = {"txsync", "bench", "arraybench"};
  made.machine = machine(backend);
  made.seed = greatest;
  return made;
}

observe::point small_point() {
  observe::point made;
  made.workload = "arraybench";
  made.params = {{"ints", 1048576}, {"contention", "low"}};
  made.threads = 2;
  made.placement = "cores-first";
  made.subject = "txsync::mutex";
  made.metric = "throughput";
  made.unit = "sections/s";
  made.values = {3e6, 1e6, 2e6};
  return made;
}

observe::point full_point() {
  observe::point made = small_point();
  made.preset = "small-low";
  made.placement = "socket=1";
  made.kind = observe::subject_kind::peer;
  made.waiting = "parks";
  made.speculates = true;
  made.way = observe::better::lower;
  made.fewest = {1, 2, 3};
  made.most = {4, 5, greatest};
  made.fairness = {{0.5, 0.4, 0.6}, {0.75, 0.8, 0.7}, {1000, 2000, 3000}, {4e6, 5e6, 6e6}, {0.5, 0.25, 1.5}};
  made.undisturbed = {{3.5e6, 0, 2.5e6}, {0.9, 0.01, 0.5}, {24, 70, 0}, {62, 70, 0}};
  made.faults = {"repetition 4: the sum is wrong"};
  made.unpinned = 1;
  made.attempts = {{100, 90, 10, {{"conflict", 7}, {"unknown", 3}}, {{"conflict", 7}, {"capacity-read", 1}}}};
  made.cycles = {{1000, 800, 100}};
  made.latency = {{"op", {12, {{"p10", 1}, {"p50", 2.5}, {"p99.9", 40}}}}};
  made.series = {{0.5, 1000}, {1.0, 2500}};
  made.abort_places = {{"conflict",
                        12,
                        "insert (map.cpp:12)",
                        "find (map.cpp:30)",
                        "0x100100080",
                        "counters+8",
                        3,
                        11,
                        observe::sharing_kind::objects,
                        "a",
                        "b",
                        {txsync::sim::overflow_kind::l1_set, 12, 7, 1, 8},
                        {"insert (map.cpp:12)", "main (shop.cpp:3)"},
                        {"find (map.cpp:30)", "serve (shop.cpp:9)"}}};
  made.abort_ends = {{"insert (map.cpp:12)", "main (shop.cpp:3)", 9}, {"find (map.cpp:30)", "", 3, "conflict", 700}};
  made.sites = {{"shop.orders", 100, 20, 10, 5000, 7000, 3, 900, {10, {{"p50", 100}}}, {12, {{"p99", 200}}}},
                {"shop.bills", 1, 0, 0, 0, 40, 0, 0, {}, {}, "rwlock", "/src/bills.cpp:12", "/usr/bin/shop"}};
  made.sites[0].max_wait_ns = 900;
  made.sites[0].unfinished_waits = 1;
  made.sites[0].unfinished_wait_ns = 700;
  made.sites[0].speculation = {.attempts = 90,
                               .commits = 70,
                               .failed = 8,
                               .elided = 70,
                               .fallbacks = 30,
                               .aborts = {{"conflict", 15}, {"lock-busy", 5}},
                               .lost_ns = 4000,
                               .lost_error_ns = 250.5,
                               .lost_samples = 3};
  made.sites[1].transactions = {.commits = 12, .alone = 1, .waits = 2, .aborts = {{"validation", 3}, {"locked", 1}}};
  made.sites[0].path = {
      .algorithm = "auto", .in_hardware = true, .reason = "cycles", .hardware_cycles = 310, .software_cycles = 450};
  made.sites[1].path = {.algorithm = "auto", .reason = "no-hardware"};
  made.sites[1].warm_ups = {.runs = 5, .attempts = 2, .ns = 900, .aborts = {{"conflict", 1}, {"explicit", 1}}};
  made.sites[1].slowest = {.share = 0.25, .rank = 0, .threads = 2, .wait_ns = 800};
  made.end_hash = "9f86d081884c7d65";
  made.key = "arraybench/1/9f86";
  return made;
}

observe::document full() {
  observe::document made = frame("simulated");
  made.started = observe::utc_now();
  made.interrupted = true;
  made.end_hash = "60303ae22b998861";
  observe::point failed = small_point();
  failed.values = {};
  failed.faults = {"repetition 1: \"lost\" updates, bytes \xff and \n in the text"};
  made.points = {small_point(), full_point(), failed};
  made.more["run"] = {{"policy", "mutex"}, {"status", 137}, {"signal", 9},
                      {"timed_out", true}, {"cpu_s", 0.5},  {"processes", 2}};
  made.more["program"] = {{"status", 139}, {"signal", 11}, {"accesses", 12345}};
  made.more["lab"]["experiments"] = {{{"id", "overflow"},
                                      {"title", "random lines in sets"},
                                      {"source", "a formula"},
                                      {"machine", "haswell-i7-4770"},
                                      {"changes", {{"htm.taken_ways", 0}}},
                                      {"workload", "capacity"},
                                      {"quantity", "abort rate"},
                                      {"unit", "%"},
                                      {"axis", "lines written"},
                                      {"remark", "why"},
                                      {"curves", observe::json::array()},
                                      {"comparisons", observe::json::array()}}};
  observe::json& experiment = made.more["lab"]["experiments"][0];
  experiment["curves"].push_back(
      {{"name", "lines"}, {"kind", "ours"}, {"points", {{{"at", 96}, {"value", 0.4}, {"point", 0}}}}});
  experiment["comparisons"].push_back({{"what", "lines at 96"},
                                       {"standing", "closed form"},
                                       {"verdict", "miss"},
                                       {"simulated", 0.4},
                                       {"low", 0.2},
                                       {"high", 0.3},
                                       {"error", 0.1},
                                       {"error_unit", "points"},
                                       {"source", "a formula"}});
  made.more["explore"] = {{"orders", {"random", "priorities"}},
                          {"store_buffers", true},
                          {"probes", observe::json::array({"spurious-aborts"})},
                          {"schedules", 1000},
                          {"steps", 20000},
                          {"tests", observe::json::array()}};
  made.more["explore"]["tests"].push_back({{"point", 0},
                                           {"seeded", true},
                                           {"right", true},
                                           {"complaint", "an update was lost"},
                                           {"again", "txsync replay shop@random@11"}});
  made.more["run"]["notices"] = {"a lock of site x was unlocked while no thread held it, by y"};
  made.more["run"]["remarks"] = {"1 thread was not counted: there is room for 4096"};
  made.claims = {{"A1-3",
                  "the mean ratio to the best peer",
                  1.07,
                  1.05,
                  observe::outcome::holds,
                  {0, 1},
                  {{1.07, 1.06, 1.08, 0.95}},
                  observe::rule_at_least,
                  "held out"},
                 {"A1-6", "doctor names the reason", "always-aborts", "always-aborts", observe::judge(true)},
                 {"A1-7", "sanitizers are silent", false, true, observe::judge(false)},
                 observe::judged({.id = "A1-3", .words = "another mean", .from = {0}}, {0.98, 0.91, 1.09, 0.95}, 1.05)};
  return made;
}

void write(const std::string& file, const observe::document& all) {
  observe::output out(file);
  out.write(all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  try {
    write(folder + "/least.json", frame());
    write(folder + "/full.json", full());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
