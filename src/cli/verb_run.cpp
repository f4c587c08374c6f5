// SPDX-License-Identifier: Apache-2.0
// txsync run -- PROGRAM: runs a program whose pthread locks are counted, or replaced and counted. If it links txsync,
// its named sites are counted, too. At the end it prints what the sites counted.
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include <txsync/machine/attempt.hpp>

#include "attach/sample_names.hpp"
#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/words.hpp"
#include "cli/holder_table.hpp"
#include "cli/options.hpp"
#include "cli/site_programs.hpp"
#include "cli/site_table.hpp"
#include "cli/verbs.hpp"
#include "launch/abort_samples.hpp"
#include "launch/launch.hpp"
#include "launch/machine_load.hpp"
#include "launch/run_document.hpp"
#include "observe/document/abort_ends.hpp"
#include "observe/document/output.hpp"
#include "observe/document/printable.hpp"
#include "report/profile_files.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::number_of;

namespace {

constexpr std::size_t max_rows = 20;
constexpr std::size_t max_holders = 8;
constexpr double max_limit = 1e8;  // three years
constexpr std::uint64_t fallback_bucket_us = 1000;
constexpr std::uint64_t max_bucket_us = 1'000'000'000;

class run_verb final : public verb {
 public:
  const char* name() const override { return "run"; }
  const char* summary() const override {
    return "Run a program and count its locks; --policy replaces its pthread locks";
  }

  void define(CLI::App& app) override {
    argument(app, "PROGRAM", misplaced_, "After --: the program, found as a shell finds it, and its arguments");
    text_option(app, "--policy", policy_, "P",
                "Replace the program's locks: a name of txsync list policies, or a policy file (libc: its own locks)");
    flag(app, "--check-order", check_order_, "Report locks that are taken in both orders; makes each lock call slower");
    text_option(app, "--limit", limit_, "SECONDS", "End the program's process group after this time");
    text_option(app, "--folded", folded_.file, "FILE",
                "Also write who waited, as folded stacks in microseconds for flame graphs; - is the standard output");
    text_option(app, "--pprof", pprof_.file, "FILE",
                "Also write who waited, as a contention profile for go tool pprof; - likewise");
    text_option(
        app, "--trace", trace_.file, "FILE",
        "Also write the first 100000 waits and holds as Trace Event JSON; makes each lock call slower; - likewise");
    text_option(app, "--bucket", bucket_, "US",
                "Take one call chain per US microseconds that a thread waits at a site (default: 1000; 0: none)");
    text_option(app, "--preload", library_, "FILE", "Library to preload (default: the one beside this command)");
    footer(app,
           "The table goes to the standard error, because the standard output is the program's.\n"
           "SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the program; the table is printed all the same.\n"
           "Exit status: the program's own, or 128 plus the signal's number if a signal ended it.\n"
           "127: the program was not found. 126: it cannot be run. 2: the command line was wrong.");
  }

  bool takes_program() const override { return true; }

  int run(session& with) override {
    launch::options what = checked(with);
    open_files(with.table == stderr);
    try {
      const launch::abort_sampling aborts = launch::choose_abort_sampling(machine::htm().attempts);
      what.sampled = aborts.event;
      launch::result result = launch::launch(what);
      for (std::string& one : launch::abort_remarks(result.sites, aborts.why_not, result.samples))
        result.remarks.push_back(std::move(one));
      if (std::string warning = policy::warning_of(what.policies); !warning.empty())
        result.remarks.push_back(std::move(warning));
      const std::vector<observe::abort_end> ends = ends_of(result);
      print(what, result, ends);
      launch::put_document(with.document, what, result, policy_name(), ends);
      for (const profile_file* one : files()) {
        if (one->out) one->out->write(one->made(result));
      }
      return result.exit_status;
    } catch (const launch::cannot_start& error) {
      base::print(stderr, "txsync run: {}\n", observe::printable(error.what()));
      return error.status;
    }
  }

 private:
  /// A file for other tools.
  struct profile_file {
    const char* option;
    std::string (*made)(const launch::result&);
    std::optional<std::string> file = {};
    mutable std::optional<observe::output> out = {};
  };
  std::vector<const profile_file*> files() const { return {&folded_, &pprof_, &trace_}; }

  /// To be called before the program starts. Throws bad_input.
  void open_files(bool standard_output_is_taken) const {
    for (const profile_file* one : files()) {
      if (!one->file) continue;
      try {
        one->out.emplace(*one->file);
      } catch (const observe::output_error& error) {
        throw bad_input(fmt::format("{}: {}", one->option, error.what()));
      }
      if (!one->out->is_standard_output()) continue;
      if (standard_output_is_taken)
        throw bad_input(fmt::format(
            "{}: '-' is given twice; allowed: the standard output for one of --json, --folded, --pprof, --trace",
            one->option));
      standard_output_is_taken = true;
    }
  }

  static std::vector<observe::abort_end> ends_of(const launch::result& result) {
    if (!result.samples) return {};
    attach::code_names names;
    return attach::ends_of(*result.samples, names);
  }

  std::string policy_name() const { return policy_.value_or("libc"); }

  /// Whose locks the table shows.
  std::string measured_locks(const launch::result& result) const {
    if (policy_name() == "libc") return "the program's own locks";
    const bool has_named = std::any_of(result.sites.begin(), result.sites.end(),
                                       [](const observe::site_record& site) { return site.kind == "named"; });
    return fmt::format("the locks of policy {}, in place of pthread's{}", policy_name(),
                       has_named ? "; locks of named sites stay, and follow it" : "");
  }

  /// Throws bad_input.
  launch::options checked(const session& with) const {
    if (with.program.empty()) {
      throw bad_input("the program is missing; allowed: txsync run [OPTIONS] -- PROGRAM [ARGUMENT...]");
    }
    launch::options made;
    made.command = with.program;
    made.check_order = check_order_;
    made.library = library_.value_or("");
    try {
      made.policies = policy::load_policy(policy_name());
    } catch (const policy::policy_error& error) {
      throw bad_input("--policy: " + std::string(error.what()));
    }
    const std::uint64_t bucket_us = number_of("--bucket", bucket_, 0, max_bucket_us, fallback_bucket_us);
    made.ns_per_chain = 1000 * bucket_us;
    made.events = trace_.file.has_value();
    if (limit_) made.limit_seconds = checked_limit(*limit_);
    return made;
  }

  static double checked_limit(const std::string& text) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size() || !(seconds > 0) || seconds > max_limit) {
      throw bad_input(fmt::format("--limit: '{}' is not a number of seconds; allowed: more than 0, at most 1e8", text));
    }
    return seconds;
  }

  static std::string end_of(const launch::result& result) {
    if (!WIFSIGNALED(result.wait_status)) return fmt::format("exit status {}", result.exit_status);
    const int signal = WTERMSIG(result.wait_status);
    return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
  }

  /// Whether a thread waited for another one. If so, not all locks were uncontended, whatever was counted of them.
  static bool is_contended(const launch::result& result) {
    return std::any_of(result.sites.begin(), result.sites.end(),
                       [](const observe::site_record& site) { return site.contended != 0 || site.failed_waits != 0; });
  }

  /// Empty if no thread took a lock, or nothing was counted: a remark says which. Also empty if threads took part that
  /// are not counted (in a sandbox).
  static std::string threads_text(const launch::result& result) {
    if (result.threads == 0 || result.threads_unknown) return "";
    if (result.threads == 1 && is_contended(result)) return "";
    return fmt::format(", locks taken by {} {} thread{} at a time",
                       result.threads_left_out != 0 ? "more than" : "at most", result.threads,
                       result.threads == 1 ? "" : "s");
  }

  void print(const launch::options& what, const launch::result& result,
             const std::vector<observe::abort_end>& ends) const {
    const double own_s = result.user_s + result.system_s;
    base::print(stderr, "\ntxsync run: {}: {:.3f} s, {:.3f} s of CPU time, {}; {} process{}{}\n",
                observe::printable(what.command.front()), result.wall_s, own_s, end_of(result), result.processes,
                result.processes == 1 ? "" : "es", threads_text(result));
    base::print(stderr, "measured: {}\n", observe::printable(measured_locks(result)));
    if (const std::string crowd = launch::crowd_words(result.wall_s, own_s, result.others_s); !crowd.empty())
      base::print(stderr, "{}: threads also waited for holders that had no CPU\n", crowd);
    if (result.timed_out)
      base::print(stderr, "txsync run: it was ended after {:g} s (--limit)\n", what.limit_seconds.value_or(0));
    if (!result.sites.empty()) {
      std::fputc('\n', stderr);
      print_sites(result, ends);
    }
    for (const std::string& diagnostic : result.diagnostics)
      base::print(stderr, "notice: {}\n", observe::printable(diagnostic));
    for (const std::string& remark : result.remarks) base::print(stderr, "remark: {}\n", observe::printable(remark));
  }

  /// With the programs, if threads of several waited.
  static void print_sites(const launch::result& result, const std::vector<observe::abort_end>& ends) {
    const bool several = several_programs_waited(result.sites);
    std::vector<site_row> rows = rows_by_program(result.sites, max_rows);
    if (!several)
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {"", &result.sites[i]};
    print_site_table(stderr, several ? "program" : "", rows, max_rows);
    observe::print_abort_ends(stderr, ends);
    std::vector<launch::blame> holds = result.hold_chains;
    for (launch::blame& one : holds) {
      const auto at = std::find_if(result.sites.begin(), result.sites.end(),
                                   [&](const observe::site_record& site) { return site.name == one.site; });
      if (at != result.sites.end()) one.site = name_with_programs(*at, several);
    }
    print_holders(stderr, holds, max_holders);
    print_waits(result, several);
  }

  /// Where a thread waited longest, and which thread was kept from its turns.
  static void print_waits(const launch::result& result, bool several) {
    const auto longest = std::max_element(result.sites.begin(), result.sites.end(),
                                          [](const auto& a, const auto& b) { return a.max_wait_ns < b.max_wait_ns; });
    if (longest->max_wait_ns == 0) return;
    base::print(stderr, "\nlongest wait: {:.3f} ms, at {}", static_cast<double>(longest->max_wait_ns) / 1e6,
                observe::printable(name_with_programs(*longest, several)));
    if (longest->unfinished_waits != 0)
      base::print(stderr, " (threads that waited at the end: {})", longest->unfinished_waits);
    std::fputc('\n', stderr);
    print_failed_waits(result, several);
    // Those with the most waiting come first.
    const auto slow = std::find_if(result.sites.begin(), result.sites.end(),
                                   [](const observe::site_record& site) { return site.slowest.has_value(); });
    if (slow == result.sites.end()) return;
    const observe::slow_thread thread = slow->slowest.value_or(observe::slow_thread{});
    base::print(stderr, "slowest thread: {:.3g} % of the turns of {} threads, {:.3f} s of waiting, at {}\n",
                100 * thread.share, thread.threads, static_cast<double>(thread.wait_ns) / 1e9,
                observe::printable(name_with_programs(*slow, several)));
  }

  /// Waits that ended without the lock: in programs that hang, or with short deadlines.
  static void print_failed_waits(const launch::result& result, bool several) {
    for (const observe::site_record& site : result.sites) {
      const std::string name = name_with_programs(site, several);
      const std::uint64_t unfinished = site.unfinished_waits;
      print_failed_waits("ended at a deadline", site.failed_waits - unfinished,
                         site.failed_wait_ns - site.unfinished_wait_ns, name);
      print_failed_waits("had not ended at the end", unfinished, site.unfinished_wait_ns, name);
    }
  }
  static void print_failed_waits(const char* how, std::uint64_t waits, std::uint64_t ns, const std::string& site) {
    if (waits == 0) return;
    base::print(stderr, "waits that {}: {}, {:.3f} s in all, at {}\n", how, waits, static_cast<double>(ns) / 1e9,
                observe::printable(site));
  }

  std::vector<std::string> misplaced_;  // without the dashes: for the help text
  std::optional<std::string> policy_;
  std::optional<std::string> limit_;
  std::optional<std::string> bucket_;
  profile_file folded_{"--folded", report::folded_file};
  profile_file pprof_{"--pprof", report::pprof_file};
  profile_file trace_{"--trace", report::trace_file};
  std::optional<std::string> library_;
  bool check_order_ = false;
};

}  // namespace

std::unique_ptr<verb> make_run() { return std::make_unique<run_verb>(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
