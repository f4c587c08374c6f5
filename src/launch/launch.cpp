// SPDX-License-Identifier: Apache-2.0
#include "launch/launch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

#include <fmt/core.h>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>

#include "launch/channel_file.hpp"
#include "launch/child.hpp"
#include "launch/diagnostics.hpp"
#include "launch/folder.hpp"
#include "launch/policy_remarks.hpp"
#include "launch/profile_reader.hpp"
#include "launch/program_input.hpp"
#include "launch/sampler.hpp"
#include "launch/site_resolver.hpp"
#include "launch/wait_remarks.hpp"
#include "observe/document/sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libtxsync-preload.so";
constexpr const char* openmp_library_name = "libtxsync-openmp.so";

/// Beside the running program: in the build tree, and where it is installed.
std::string find_library(const std::string& given) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> candidates = {self / ".." / TXSYNC_LIBRARY_FOLDER / "txsync",
                                      self / ".." / TXSYNC_LIBRARY_FOLDER, self / "../lib/txsync", self / "../lib",
                                      self};
  if (!given.empty()) candidates = {fs::absolute(given, error).parent_path()};
  const std::string name = given.empty() ? library_name : fs::path(given).filename().string();
  for (const fs::path& folder : candidates) {
    const std::string path = fs::weakly_canonical(folder / name, error).string();
    if (error || access(path.c_str(), R_OK) != 0) continue;
    // The dynamic linker splits LD_PRELOAD at both.
    if (path.find_first_of(" :") != std::string::npos) {
      throw cannot_start(126, path + " cannot be preloaded: its path has a blank or a colon");
    }
    return path;
  }
  throw cannot_start(126, given.empty() ? std::string(library_name) + " is not beside this program (" + self.string() +
                                              "); --preload FILE says where it is"
                                        : given + " cannot be read; --preload FILE says where " + library_name + " is");
}

/// This process' environment, with changes.
class environment {
 public:
  environment() {
    for (char** one = environ; *one != nullptr; ++one) list_.emplace_back(*one);
  }

  void set(const std::string& name, const std::string& value) {
    const std::string begin = name + "=";
    std::erase_if(list_, [&](const std::string& one) { return one.starts_with(begin); });
    list_.push_back(begin + value);
  }

  std::string preloaded() const {
    const std::string begin = "LD_PRELOAD=";
    std::string value;
    for (const std::string& one : list_) {
      if (one.starts_with(begin)) value = one.substr(begin.size());
    }
    return value;
  }

  /// After what is preloaded already: sanitizers must be the first.
  void preload(const std::string& library) {
    const std::string value = preloaded();
    set("LD_PRELOAD", value.empty() ? library : value + ":" + library);
  }

  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

/// How many processes still have the channel mapped.
unsigned still_counting(const std::string& channel) {
  unsigned count = 0;
  for (const pid_t process : all_processes()) {
    if (process == getpid()) continue;
    std::ifstream maps(fmt::format("/proc/{}/maps", process));
    for (std::string line; std::getline(maps, line);) {
      if (!line.ends_with(channel)) continue;
      ++count;
      break;
    }
  }
  return count;
}

std::string plural(std::uint64_t count, const char* singular, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? singular : more);
}

/// A launch under the preloaded library: the channel, the thread that answers in it, and the results.
class counted_launch {
 public:
  counted_launch(const options& settings, place_names& names, std::string preloaded)
      : settings_(settings),
        channel_({settings.policies.find({}), settings.policies.sites.empty(), settings.check_order,
                  settings.ns_per_chain, settings.events}),
        names_(names),
        resolver_(channel_, settings_.policies, names, std::move(preloaded)) {}

  const channel_file& channel() const { return channel_; }

  void collect(result& into, const child_end& ended) {
    resolver_.stop();
    put_sites(into, ended);
    for (std::string& sentence : sentences_of(resolver_, waited_at_end_))
      into.diagnostics.push_back(std::move(sentence));
    into.without_library = resolver_.started().without_library();
    into.priority_ignored_at = sites_that_ignored_a_priority(resolver_);
    // relaxed, here and below: the program has ended Processes that link txsync have the preloaded library, too, unless
    // somebody has changed their environment.
    into.processes = std::max(channel_.head().processes.load(std::memory_order_relaxed),
                              channel_.head().linked_processes.load(std::memory_order_relaxed));
    put_remarks(into);
  }

 private:
  void put_sites(result& into, const child_end& ended) {
    const std::vector<site_resolver::site>& known = resolver_.sites();
    channel_file::counts counted =
        channel_.read_counts(static_cast<std::uint32_t>(known.size()), ended.process, ended.ended_at);
    into.threads = counted.threads;
    const auto run_ns = static_cast<std::uint64_t>(ended.wall_s * 1e9);
    for (std::size_t i = 0; i < known.size(); ++i) {
      waited_at_end_.push_back(counted.totals[i].unfinished_waits != 0);
      if (observe::is_idle(counted.totals[i])) continue;
      observe::site_record record = observe::record_of(counted.totals[i]);
      record.slowest = observe::slowest_thread(observe::compared_threads(counted.by_thread[i], run_ns), run_ns);
      record.by_thread = std::move(counted.by_thread[i]);
      record.name = known[i].place.name;
      record.kind = to_string(known[i].kind);
      record.where = known[i].place.where;
      record.module = known[i].place.module;
      record.heeded = known[i].heeded;
      record.programs.assign(known[i].programs.begin(), known[i].programs.end());
      into.sites.push_back(std::move(record));
    }
    put_profile(into, counted.totals);
    std::sort(into.sites.begin(), into.sites.end(), [](const auto& a, const auto& b) {
      const std::uint64_t first = a.all_wait_ns();
      const std::uint64_t second = b.all_wait_ns();
      return std::tie(second, b.acquisitions, a.name) < std::tie(first, a.acquisitions, b.name);
    });
  }

  void put_profile(result& into, const std::vector<observe::site_totals>& totals) {
    if (settings_.ns_per_chain != 0) {
      read_chains chains = chains_of(channel_, resolver_.sites(), names_, totals);
      into.wait_chains = std::move(chains.waits);
      into.hold_chains = std::move(chains.holds);
      if (chains.left_out != 0) {
        into.remarks.push_back(fmt::format("of {} of waits have no call chain: there is room for {}",
                                           plural(chains.left_out, "sum", "sums"), preload::chain_area::max_chains));
      }
    }
    if (!settings_.events) return;
    read_events events = events_of(channel_, resolver_.sites(), started_at_);
    into.events = std::move(events.events);
    into.events_left_out = events.left_out;
    if (events.left_out != 0) {
      into.remarks.push_back(fmt::format("the trace has the first {} waits and holds; {} were left out",
                                         preload::event_area::max_events, events.left_out));
    }
  }

  /// If the site with the longest waits has an offset instead of a line: says what would give it a line.
  static void put_remark_on_names(result& into) {
    if (into.sites.empty()) return;
    const observe::site_record& most = into.sites.front();
    const bool is_object = most.name.find(" in ") != std::string::npos;
    if (most.all_wait_ns() == 0 || !most.where.empty() || most.module.empty() || is_object) return;
    into.remarks.push_back(
        fmt::format("{} has no source line: {} has no debug information here. Build it with -g, or install its debug "
                    "symbols (Debian: the package whose name ends in -dbgsym)",
                    most.name, fs::path(most.module).filename().string()));
  }

  /// Programs that the program started and that cannot have loaded the library.
  static void put_remarks_on_others(result& into) {
    constexpr std::size_t max_named = 8;
    const std::vector<std::string>& all = into.without_library;
    for (std::size_t i = 0; i < std::min(all.size(), max_named); ++i)
      into.remarks.push_back(
          fmt::format("a program that the program started could not load {}, and was not counted or did not run: {}",
                      library_name, all[i]));
    if (all.size() > max_named)
      into.remarks.push_back(
          fmt::format("so could {} not", plural(all.size() - max_named, "further program", "further programs")));
  }

  void put_remark_on_nothing(result& into) {
    const channel::head& head = channel_.head();
    // relaxed, here and below: the program has ended
    if (into.sites.empty() && head.processes.load(std::memory_order_relaxed) == 0) {
      into.remarks.push_back(fmt::format("nothing was counted: no process of the program loaded {}", library_name));
    } else if (!settings_.policies.any(&policy::packed::counting)) {
      into.remarks.emplace_back("nothing was counted: the policy says counting = false");
    } else if (into.sites.empty() && head.blocks_out_of_reach.load(std::memory_order_relaxed) == 0) {
      into.remarks.emplace_back(
          "nothing was counted: the program took no lock of pthread, and none of a named site; elided locks are "
          "counted where hardware transactions work");
    }
  }

  void put_remark_on_waits(result& into) {
    if (!settings_.policies.any(&policy::packed::counting)) return;
    const bool has_such = channel_.head().unwatched_locks.load(std::memory_order_relaxed) != 0;
    into.without_waits = remark_on_waits(into.sites, has_such, machine::htm().attempts);
    if (!into.without_waits.empty()) into.remarks.push_back(into.without_waits);
  }

  /// Only if the library was in the program, so that all sites are known.
  void put_remarks_on_policy(result& into) {
    if (into.processes == 0) return;
    std::vector<known_site> known;
    for (const site_resolver::site& one : resolver_.sites())
      known.push_back({one.place.name, to_string(one.kind), one.heeded});
    for (std::string& one : policy_remarks(settings_.policies, known, machine::htm()))
      into.remarks.push_back(std::move(one));
  }

  void put_remarks_on_threads(result& into) {
    const channel::head& head = channel_.head();
    const std::uint32_t asked = head.blocks_given.load(std::memory_order_relaxed);
    if (asked > channel_.blocks()) {
      into.threads_left_out = asked - channel_.blocks();
      into.remarks.push_back(fmt::format("{} not counted: there is room for {}",
                                         plural(asked - channel_.blocks(), "thread was", "threads were"),
                                         channel_.blocks()));
    }
    into.threads_unknown = head.blocks_out_of_reach.load(std::memory_order_relaxed) != 0;
    if (into.threads_unknown)
      into.remarks.emplace_back(
          "some threads were not counted, or not at every site: the program's sandbox, a limit or a full disk denies "
          "them their counters");
  }

  /// What else found no room.
  void put_remarks_on_room(result& into) {
    const channel::head& head = channel_.head();
    if (resolver_.refused() != 0) {
      into.remarks.push_back(fmt::format("{} beyond the first {} sites {} not counted",
                                         plural(resolver_.refused(), "place", "places"), resolver_.sites().size(),
                                         resolver_.refused() == 1 ? "was" : "were"));
    }
    if (const std::uint64_t lost = head.locks_without_room.load(std::memory_order_relaxed); lost != 0) {
      into.remarks.push_back(
          plural(lost, "lock was", "locks were") +
          " not counted and had the default policy: a process remembers 32768 places that create locks");
    }
    const std::uint32_t diagnostics = head.diagnostics_given.load(std::memory_order_relaxed);
    if (diagnostics > channel::head::max_diagnostics) {
      into.remarks.push_back(fmt::format("{} beyond the first {} were dropped",
                                         plural(diagnostics - channel::head::max_diagnostics, "notice", "notices"),
                                         channel::head::max_diagnostics));
    }
  }

  void put_remarks(result& into) {
    put_remark_on_names(into);
    put_remark_on_nothing(into);
    put_remark_on_waits(into);
    put_remarks_on_policy(into);
    put_remarks_on_others(into);
    put_remarks_on_threads(into);
    put_remarks_on_room(into);
    if (const unsigned left = into.processes == 0 ? 0 : still_counting(channel_.path()); left != 0) {
      into.remarks.push_back(plural(left, "process", "processes") +
                             " of the program still run: what they count from now on is not in the table");
    }
  }

  options settings_;
  channel_file channel_;
  place_names& names_;
  std::vector<bool> waited_at_end_;  // by site
  std::uint64_t started_at_ = machine::cycles();
  site_resolver resolver_;
};

/// The results that any program has. Takes the output.
result result_of(child_end& ended) {
  result summary;
  summary.wait_status = ended.wait_status;
  summary.exit_status =
      WIFSIGNALED(ended.wait_status) ? 128 + WTERMSIG(ended.wait_status) : WEXITSTATUS(ended.wait_status);
  summary.wall_s = ended.wall_s;
  summary.user_s = ended.user_s;
  summary.system_s = ended.system_s;
  summary.others_s = ended.others_s;
  summary.output = std::move(ended.output);
  summary.output_cut = ended.output_cut;
  summary.timed_out = ended.timed_out;
  summary.interrupted = ended.interrupted;
  return summary;
}

child_request request_of(const options& settings) {
  child_request request;
  request.path = find_program(settings.command.front());
  request.arguments = settings.command;
  request.limit_seconds = settings.limit_seconds;
  request.capture = settings.capture;
  request.capture_bytes = settings.capture_bytes;
  request.end_family = settings.end_family;
  return request;
}

/// Puts into the program's environment the library, and what it finds the channel by.
std::unique_ptr<counted_launch> preload(const options& settings, const std::string& program, place_names& names,
                                        environment& set) {
  const std::string library = find_library(settings.library);
  check_takes_library(program, set.preloaded());
  names.forget_changed_files();
  names.set_program(fs::absolute(program));
  auto counted = std::make_unique<counted_launch>(settings, names, set.preloaded());
  set.preload(library);
  // Without such attempts it would leave everything to the OpenMP library.
  if (settings.policies.openmp_barrier == policy::openmp_kind::warm && machine::htm().always_abort)
    set.preload(find_library((fs::path(library).parent_path() / openmp_library_name).string()));
  set.set(channel::file_variable, counted->channel().path());
  set.set(channel::policy_variable, std::to_string(settings.policies.find({}).word()));
  return counted;
}

}  // namespace

struct launcher::memory {
  place_names names;
};

launcher::launcher() : memory_(std::make_unique<memory>()) {}
launcher::~launcher() = default;

result launcher::launch(const options& settings) {
  TXSYNC_ASSERT(!settings.command.empty(), "there is a command to start");
  child_request request = request_of(settings);
  const std::optional<program_input> input =
      settings.capture ? std::optional<program_input>(settings.input) : std::nullopt;
  if (input) request.input = input->file();
  environment set;
  for (const auto& [name, value] : settings.environment) set.set(name, value);
  std::unique_ptr<counted_launch> counted;
  if (settings.preload) counted = preload(settings, request.path, memory_->names, set);
  std::optional<sampler> samples;
  if (settings.sampled) samples.emplace(*settings.sampled);
  request.while_waiting = [&] {
    if (counted) counted->channel().mark_alive();
    if (samples) samples->read();
  };
  request.environment = set.take();
  child_end ended = run_child(request);

  result summary = result_of(ended);
  summary.read_in_vain = input && input->was_read_in_vain();
  if (samples) {
    samples->read();
    summary.samples = samples->take();
  }
  if (counted) counted->collect(summary, ended);
  return summary;
}

result launch(const options& settings) { return launcher().launch(settings); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
