// SPDX-License-Identifier: Apache-2.0
// txsync top: what the locks of a running program do now.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <txsync/machine/cpu.hpp>

#include "attach/waiting_document.hpp"
#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/stop_on_signal.hpp"
#include "base/words.hpp"
#include "cli/options.hpp"
#include "cli/top.hpp"
#include "cli/verbs.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::parse_number;
using base::stop_on_signal;

namespace {

constexpr std::size_t max_top_rows = 20;
constexpr double min_interval_s = 0.05;
constexpr double max_interval_s = 3600;
constexpr std::uint64_t max_process = std::uint64_t{1} << 22;  // Linux's maximum

/// Sleeps until then, or until the user asks for the end; then it returns false.
bool sleep_until(std::uint64_t when_ns) {
  for (;;) {
    if (stop_on_signal::asked()) return false;
    const std::uint64_t now = machine::clock_ns();
    if (now >= when_ns) return true;
    const std::uint64_t rest = std::min<std::uint64_t>(when_ns - now, 100'000'000);
    const timespec wait{0, static_cast<long>(rest)};
    nanosleep(&wait, nullptr);
  }
}

class top_verb final : public verb {
 public:
  const char* name() const override { return "top"; }
  const char* summary() const override { return "Show again and again what the locks of a running program do now"; }

  void define(CLI::App& app) override {
    argument(app, "PID", process_,
             "Process to watch (default: the only program under txsync run; if there are several, their list)");
    text_option(app, "--interval", interval_, "SECONDS", "Time between two tables: 0.05 to 3600 (default: 1)");
    flag(app, "--once", once_, "Print one table, then end");
    flag(app, "--threads", threads_, "Of a program under txsync run, show the waiting threads instead of the sites");
    footer(
        app,
        "For a program under txsync run, the table shows the waits at its sites in the last interval.\n"
        "For any other program, it shows the threads that now wait at futexes, and the calls of waiters and owners.\n"
        "An owner is known where the C library records it. --json writes the last table. Ctrl-C ends the command.\n"
        "Exit status: 1 if the system does not allow it, 2 if there is no such program.");
  }

  int run(session& with) override {
    interval_ns_ = static_cast<std::uint64_t>(checked_interval() * 1e9);
    const std::vector<attach::running_launch> launches = attach::running_launches();
    const stop_on_signal ends;
    if (process_.empty()) {
      if (launches.size() == 1 && !threads_) return watch_sites(with, launches.front());
      return list(with, launches);
    }
    const int process = checked_process();
    const auto found = std::find_if(launches.begin(), launches.end(),
                                    [process](const auto& one) { return attach::belongs_to(one, process); });
    if (found != launches.end() && !threads_) return watch_sites(with, *found);
    return watch_threads(with, process);
  }

 private:
  double checked_interval() const {
    if (!interval_) return 1;
    double seconds = 0;
    const char* const end_of_text = interval_->data() + interval_->size();
    const auto [end, error] = std::from_chars(interval_->data(), end_of_text, seconds);
    if (error != std::errc{} || end != end_of_text || !(seconds >= min_interval_s) || seconds > max_interval_s)
      throw bad_input(fmt::format("--interval: '{}' is not a number of seconds; allowed: 0.05 to 3600", *interval_));
    return seconds;
  }

  int checked_process() const {
    std::uint64_t number = 0;
    if (!parse_number(process_, max_process, number) || number == 0)
      throw bad_input(
          fmt::format("PID: '{}' is not a process number; txsync top without PID lists programs", process_));
    return static_cast<int>(number);
  }

  int list(session& with, const std::vector<attach::running_launch>& launches) const {
    if (launches.empty() || (threads_ && launches.size() == 1))
      throw bad_input(launches.empty() ? "no program of this user runs under txsync run; allowed: txsync top PID"
                                       : "--threads needs a PID");
    std::fputs("programs under txsync run; txsync top PID shows one:\n", with.table);
    observe::json& all = with.document.more["top"];
    all = {{"mode", "list"}, {"programs", observe::json::array()}};
    for (const attach::running_launch& one : launches) {
      const int shown = one.processes.empty() ? one.launcher : one.processes.front();
      base::print(with.table, "{:10}  {}\n", shown, one.command);
      all["programs"].push_back(
          {{"process", shown}, {"launcher", one.launcher}, {"processes", one.processes}, {"command", one.command}});
    }
    return ok;
  }

  /// Before a table: on a terminal it replaces the last one.
  void begin_table(std::FILE* out, bool& first) const {
    if (!once_ && isatty(fileno(out)) != 0) {
      std::fputs("\033[H\033[2J", out);
    } else if (!first) {
      std::fputc('\n', out);
    }
    first = false;
  }

  static std::string time_of_day() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    char text[16];
    std::strftime(text, sizeof text, "%H:%M:%S", &parts);
    return text;
  }

  static bool written(std::FILE* out) { return std::fflush(out) == 0 && std::ferror(out) == 0; }

  int watch_sites(session& with, const attach::running_launch& what) {
    attach::channel_view channel(what.channel);
    const int shown = what.processes.empty() ? what.launcher : what.processes.front();
    observe::json& into = with.document.more["top"];
    into = {{"mode", "sites"}, {"process", shown}, {"command", what.command}};
    channel.sites();
    attach::channel_counts earlier = channel.read();
    bool first = true;
    while (sleep_until(earlier.at_ns + interval_ns_)) {
      if (!channel.is_alive()) {
        std::fputs("the program has ended\n", with.table);
        return first ? failed : ok;
      }
      // Names first: a site that is counted later is shown later.
      const std::vector<launch::listed_site>& sites = channel.sites();
      attach::channel_counts later = channel.read();
      const std::vector<attach::site_interval> all = attach::intervals_of(sites, earlier, later);
      begin_table(with.table, first);
      const double interval_s = static_cast<double>(later.at_ns - earlier.at_ns) / 1e9;
      base::print(with.table, "txsync top: {}: {}: {}, the last {:.3g} s, {} thread{}\n", shown, what.command,
                  time_of_day(), interval_s, later.threads, later.threads == 1 ? "" : "s");
      print_intervals(with.table, all, max_top_rows);
      into["interval_s"] = interval_s;
      into["sites"] = observe::json::array();
      for (const attach::site_interval& one : all) into["sites"].push_back(attach::interval_json(one));
      earlier = std::move(later);
      if (once_ || !written(with.table)) break;
    }
    return ok;
  }

  int watch_threads(session& with, int process) {
    try {
      attach::watcher watched(attach::open_target(process));
      return look_again(with, watched);
    } catch (const attach::refused& error) {
      if (!error.by_system) throw bad_input(error.what());
      base::print(stderr, "txsync top: {}\n", observe::printable(error.what()));
      return failed;
    }
  }

  int look_again(session& with, attach::watcher& watched) {
    const attach::target& of = watched.process();
    const std::string program = observe::printable(of.name);
    bool first = true;
    for (;;) {
      const std::uint64_t begin = machine::clock_ns();
      const attach::waiting seen = watched.look();
      if (seen.threads == 0 || !attach::is_alive(of)) {
        std::fputs("the program has ended\n", with.table);
        return first ? failed : ok;
      }
      begin_table(with.table, first);
      base::print(with.table, "txsync top: {}: {}: {}, ", of.process, program, time_of_day());
      print_threads(with.table, seen);
      observe::json& into = with.document.more["top"];
      into = attach::waiting_json(seen);
      into["mode"] = "threads";
      into["process"] = of.process;
      into["command"] = observe::printable(of.program);
      if (once_ || !written(with.table) || !sleep_until(begin + interval_ns_)) return ok;
    }
  }

  std::string process_;
  std::optional<std::string> interval_;
  bool once_ = false;
  bool threads_ = false;
  std::uint64_t interval_ns_ = 0;
};

}  // namespace

std::unique_ptr<verb> make_top() { return std::make_unique<top_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
