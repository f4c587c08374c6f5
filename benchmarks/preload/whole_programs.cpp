// SPDX-License-Identifier: Apache-2.0
#include "preload/whole_programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "launch/launch.hpp"
#include "observe/statistics.hpp"
#include "tune/engine.hpp"
#include "tune/program.hpp"
#include "tune/record.hpp"
#include "tune/usual_policies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

namespace fs = std::filesystem;

constexpr double max_time_counted = 1.1;
constexpr double max_time_of_own_times = 1.05;
constexpr double max_time_of_a_policy = 1.25;
constexpr double max_lengthening = 1.03;
constexpr double max_deviation = 0.10;
constexpr const char* own_times_name = "own_times";
constexpr const char* own_times_sections = "300000";
/// One way counts the program's own locks.
constexpr const char* counted = "libc";

/// A folder of this run, with a server's socket and what javac writes.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (fs::temp_directory_path() / "txsync-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

struct program {
  std::string name;
  std::vector<std::string> needs;    ///< programs that have to be installed
  std::vector<std::string> command;  ///< a fixed amount of work, of some seconds: starting a program costs more
  std::vector<std::string> before;   ///< run once, plain; may be empty
};

/// The first argument is the folder.
constexpr const char* redis_run = R"(
redis-server --port 0 --unixsocket "$0/socket" --dir "$0" --save '' --appendonly no --io-threads 2 --io-threads-do-reads yes > /dev/null &
for ((i = 0; i < 200; ++i)); do redis-cli -s "$0/socket" ping > /dev/null 2>&1 && break; sleep 0.01; done
redis-benchmark -s "$0/socket" -c 20 -n 30000 -q -t set,get,incr,lpush > /dev/null || exit 1
redis-cli -s "$0/socket" shutdown nosave
wait
)";

std::vector<program> all_programs(const whole_programs_options& asked, const fs::path& folder) {
  const fs::path integrations = asked.integrations;
  constexpr const char* python = "import runpy, sys\nfor _ in range(8): runpy.run_path(sys.argv[1])";
  return {
      {own_times_name, {}, {asked.own_times, own_times_sections}, {}},
      {"python3", {"python3"}, {"python3", "-c", python, (integrations / "python_threads.py").string()}, {}},
      {"java",
       {"java", "javac"},
       {"java", "-Xmx256m", "-XX:+UseParallelGC", "-cp", folder.string(), "Pool", "6"},
       {"javac", "-d", folder.string(), (integrations / "Pool.java").string()}},
      {"stress-ng",
       {"stress-ng"},
       {"stress-ng", "--temp-path", folder.string(), "--pthread", "2", "--pthread-ops", "10000", "--timeout", "60"},
       {}},
      {"redis",
       {"bash", "redis-server", "redis-benchmark", "redis-cli"},
       {"bash", "-c", redis_run, folder.string()},
       {}},
  };
}

bool is_installed(const std::string& name) {
  try {
    (void)launch::find_program(name);
    return true;
  } catch (const launch::cannot_start&) {
    return false;
  }
}

/// A way to run a program; without a policy as it is.
struct way {
  std::string name;
  std::optional<policy::policy_set> policies;
};

std::vector<way> all_ways() {
  std::vector<way> ways = {{"plain", std::nullopt}};
  for (const std::string& name : tune::usual_policies()) ways.push_back({name, policy::load_policy(name)});
  return ways;
}

/// What the runs of a program in one way came to, by round.
struct cell {
  std::vector<double> wall_s, cpu_s;
  observe::fairness_record fairness;                     // of counted runs
  std::vector<double> own_wait_ns, own_hold_ns;          // own_times: what it measured itself
  std::vector<double> counted_wait_ns, counted_hold_ns;  // ... and what was counted of it
};

/// The longest wait of all sites; and at the site with the most waiting the turns of the slowest thread, to an equal
/// share.
void put_fairness(const launch::result& ended, observe::fairness_record& into) {
  if (ended.sites.empty()) return;
  std::uint64_t max_wait_ns = 0;
  for (const observe::site_record& site : ended.sites) max_wait_ns = std::max(max_wait_ns, site.max_wait_ns);
  into.max_wait_ns.push_back(static_cast<double>(max_wait_ns));
  const std::optional<observe::slow_thread>& slowest = ended.sites.front().slowest;
  // Of the threads that waited for long, the one with the fewest turns may have more than an equal share.
  if (slowest) into.slowest_share.push_back(std::min(1.0, slowest->share * static_cast<double>(slowest->threads)));
}

/// A signal came for this process while a program ran.
struct interruption {};

void run_once(launch::launcher& runs, const program& what, const way& how, cell& into) {
  launch::options options;
  options.command = what.command;
  options.preload = how.policies.has_value();
  if (how.policies) options.policies = *how.policies;
  options.capture = true;
  options.end_family = true;
  const launch::result ended = runs.launch(options);
  // Servers end with status 0 then.
  if (ended.interrupted != 0) throw interruption{};
  if (ended.exit_status != 0)
    throw std::runtime_error(what.name + " failed under " + how.name + ": " + tune::last_lines(ended.output));
  into.wall_s.push_back(ended.wall_s);
  into.cpu_s.push_back(ended.user_s + ended.system_s);
  put_fairness(ended, into.fairness);
  if (what.name != own_times_name) return;
  const observe::json own = observe::json::parse(ended.output);
  into.own_wait_ns.push_back(own.at("wait_ns").get<double>());
  into.own_hold_ns.push_back(own.at("hold_ns").get<double>());
  if (!how.policies) return;
  if (ended.sites.empty()) throw std::runtime_error(std::string(own_times_name) + ": nothing was counted");
  into.counted_wait_ns.push_back(static_cast<double>(ended.sites.front().wait_ns));
  into.counted_hold_ns.push_back(static_cast<double>(ended.sites.front().hold_ns));
}

/// A part of the document: the points of a program, two for each way.
class report {
 public:
  report(observe::document& into, std::FILE* table, const program& what, const std::vector<way>& ways,
         const std::vector<cell>& cells)
      : into_(into), table_(table), what_(what), ways_(ways), cells_(cells), first_(into.points.size()) {}

  void put() {
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      into_.points[put_point(i, "wall time", "s", cells_[i].wall_s)].fairness = cells_[i].fairness;
      put_point(i, "CPU time", "s", cells_[i].cpu_s);
      print(i);
    }
    for (std::size_t i = 1; i < ways_.size(); ++i) put_time_claim(i);
    if (what_.name == own_times_name) put_claims_of_own_times();
  }

 private:
  static double goal_of(const program& what, const way& how) {
    if (how.name != counted) return max_time_of_a_policy;
    return what.name == own_times_name ? max_time_of_own_times : max_time_counted;
  }
  std::size_t point_of(std::size_t index) const { return first_ + 2 * index; }

  /// Answers its index.
  std::size_t put_point(std::size_t index, const char* metric, const char* unit, const std::vector<double>& values) {
    observe::point made;
    made.workload = what_.name;
    made.placement = "none";
    made.subject = ways_[index].name;
    made.kind = index == 0 ? observe::subject_kind::peer : observe::subject_kind::ours;
    made.metric = metric;
    made.unit = unit;
    made.way = observe::better::lower;
    made.values = values;
    into_.points.push_back(std::move(made));
    return into_.points.size() - 1;
  }

  /// More than 1: it takes longer.
  static observe::interval longer(const std::vector<double>& one, const std::vector<double>& plain) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(one.size(), plain.size()); ++i) ratios.push_back(one[i] / plain[i]);
    return observe::median_interval(ratios);
  }

  void print(std::size_t index) const {
    const cell& one = cells_[index];
    std::fprintf(table_, "%-10s %-8s %8.3f s", what_.name.c_str(), ways_[index].name.c_str(),
                 observe::summarize(one.wall_s).median);
    if (index != 0) {
      const observe::interval wall = longer(one.wall_s, cells_[0].wall_s);
      const observe::interval cpu = longer(one.cpu_s, cells_[0].cpu_s);
      std::fprintf(table_, "   time %5.3f [%5.3f, %5.3f]   CPU %5.3f [%5.3f, %5.3f]", wall.median, wall.low95,
                   wall.high95, cpu.median, cpu.low95, cpu.high95);
    }
    const observe::fairness_record& fair = one.fairness;
    if (!fair.max_wait_ns.empty())
      std::fprintf(table_, "   longest wait %8.2f ms", observe::summarize(fair.max_wait_ns).median / 1e6);
    if (!fair.slowest_share.empty())
      std::fprintf(table_, "   slowest thread %4.2f", observe::summarize(fair.slowest_share).median);
    std::fputc('\n', table_);
    std::fflush(table_);
  }

  void put_time_claim(std::size_t index) {
    const way& how = ways_[index];
    const std::string under = how.name == counted ? "its own locks counted" : "policy " + how.name;
    into_.claims.push_back(observe::judged({.id = "A3-5",
                                            .words = what_.name + ", " + under + ": time to that of a plain run",
                                            .from = {point_of(index), point_of(0)}},
                                           longer(cells_[index].wall_s, cells_[0].wall_s), goal_of(what_, how),
                                           observe::better::lower));
    if (how.name == counted) return;
    const observe::outcome outcome = into_.claims.back().outcome;
    constexpr std::size_t min_rounds_to_doubt = 10;  // with fewer nearly all is undecided
    const bool is_doubtful =
        outcome == observe::outcome::undecided && cells_[index].wall_s.size() >= min_rounds_to_doubt;
    if (is_doubtful || outcome == observe::outcome::missed) put_rejection(index, is_doubtful);
  }

  /// Where a policy makes a program much slower, the tuner has to say so. `is_undecided`: it may find that it does not.
  void put_rejection(std::size_t index, bool is_undecided) {
    const std::string& policy = ways_[index].name;
    tune::question question;
    question.candidates = {tune::unmodified, policy};
    question.counted_reference = counted;
    question.by_sites = false;
    question.rounds = tune::min_proof_rounds;
    tune::program_trial runs(what_.command, std::nullopt, {tune::unmodified, policy, counted});
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    const tune::outcome found = tune::tune(runs, question, {now, [&runs] { return runs.interrupted(); }});
    if (found.interrupted) throw interruption{};
    std::string status = "it did not run";
    bool rejected = false;
    for (const tune::table_row& row : tune::table_of(found, question.way)) {
      if (row.phase != "whole program" || row.arm->config.candidate != policy) continue;
      status = row.status;
      // A wait has to be named: by how much more threads waited where, or who waited too long.
      const bool is_refused = row.arm->status == tune::arm_status::refused;
      rejected = row.slow ? !row.slow->site.empty() : is_refused || is_undecided;
    }
    into_.claims.push_back({.id = "A3-5",
                            .words = what_.name + ", policy " + policy +
                                     (is_undecided ? ": tune rejects it or measures less: " : ": tune rejects it: ") +
                                     status,
                            .value = rejected,
                            .goal = true,
                            .outcome = observe::judge(rejected),
                            .from = {point_of(index), point_of(0)}});
  }

  void put_claims_of_own_times() {
    const std::size_t plain = put_point(0, "time waited, own stamps", "ns", cells_[0].own_wait_ns);
    for (std::size_t i = 1; i < ways_.size(); ++i) {
      if (ways_[i].name != counted) continue;
      const cell& one = cells_[i];
      const std::size_t waited = put_point(i, "time waited, own stamps", "ns", one.own_wait_ns);
      put_deviation("time waited", one.own_wait_ns, waited, one.counted_wait_ns,
                    put_point(i, "time waited, as counted", "ns", one.counted_wait_ns));
      put_deviation("time held", one.own_hold_ns, put_point(i, "time held, own stamps", "ns", one.own_hold_ns),
                    one.counted_hold_ns, put_point(i, "time held, as counted", "ns", one.counted_hold_ns));
      into_.claims.push_back(
          observe::judged({.id = "A3-5",
                           .words = "own_times, its own locks counted: time waited in all, by its own stamps, to that "
                                    "of a plain run",
                           .from = {waited, plain}},
                          longer(one.own_wait_ns, cells_[0].own_wait_ns), max_lengthening, observe::better::lower));
    }
  }

  void put_deviation(const std::string& what, const std::vector<double>& own, std::size_t own_point,
                     const std::vector<double>& told, std::size_t told_point) {
    std::vector<double> off;
    for (std::size_t i = 0; i < std::min(told.size(), own.size()); ++i) off.push_back(std::fabs(told[i] / own[i] - 1));
    into_.claims.push_back(observe::judged(
        {.id = "A3-5",
         .words = "own_times, its own locks counted: " + what + ", how far from the program's own stamps",
         .from = {told_point, own_point}},
        observe::median_interval(off), max_deviation, observe::better::lower));
  }

  observe::document& into_;
  std::FILE* table_;
  const program& what_;
  const std::vector<way>& ways_;
  const std::vector<cell>& cells_;
  std::size_t first_;
};

void run_before(launch::launcher& runs, const program& what) {
  if (what.before.empty()) return;
  launch::options options;
  options.command = what.before;
  options.preload = false;
  options.capture = true;
  const launch::result ended = runs.launch(options);
  if (ended.interrupted != 0) throw interruption{};
  if (ended.exit_status != 0)
    throw std::runtime_error(what.before.front() + " failed: " + tune::last_lines(ended.output));
}

/// Each round begins one way later, so that a disturbance of the machine meets all alike.
std::vector<cell> measure(launch::launcher& runs, const program& what, const std::vector<way>& ways, unsigned rounds) {
  std::vector<cell> cells(ways.size());
  run_before(runs, what);
  cell warm_up;
  run_once(runs, what, ways.front(), warm_up);
  for (unsigned round = 0; round < rounds; ++round) {
    std::fprintf(stderr, "%s, round %u of %u\n", what.name.c_str(), round + 1, rounds);
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t i = (turn + round) % ways.size();
      run_once(runs, what, ways[i], cells[i]);
    }
  }
  return cells;
}

}  // namespace

std::vector<std::string> whole_program_names() {
  std::vector<std::string> names;
  for (const program& one : all_programs({}, {})) names.push_back(one.name);
  return names;
}

void measure_whole_programs(observe::document& into, const whole_programs_options& asked, std::FILE* table) {
  const scratch_folder folder;
  const std::vector<way> ways = all_ways();
  launch::launcher runs;
  std::fprintf(table, "whole programs: time and CPU time to those of the plain run of the same round, by %u rounds\n",
               asked.rounds);
  for (const program& one : all_programs(asked, folder.path())) {
    if (!asked.only.empty() && std::find(asked.only.begin(), asked.only.end(), one.name) == asked.only.end()) continue;
    const auto missing = std::find_if_not(one.needs.begin(), one.needs.end(), is_installed);
    if (missing != one.needs.end()) {
      std::fprintf(table, "%-10s left out: %s is not installed\n", one.name.c_str(), missing->c_str());
      continue;
    }
    try {
      const std::vector<cell> cells = measure(runs, one, ways, asked.rounds);
      report(into, table, one, ways, cells).put();
    } catch (const interruption&) {
      into.interrupted = true;
      return;
    }
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
