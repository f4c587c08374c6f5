// SPDX-License-Identifier: Apache-2.0
// launch(): a program's own end, whatever it is; what it counted, however it ended; signals, limits and output.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "launch/child.hpp"
#include "launch/launch.hpp"
#include "launch/machine_load.hpp"

namespace fs = std::filesystem;
namespace launch = txsync::launch;
namespace observe = txsync::observe;
namespace policy = txsync::policy;

namespace {

launch::options of(std::vector<std::string> deeds) {
  launch::options made;
  made.command = std::move(deeds);
  made.command.insert(made.command.begin(), COUNTING_PROGRAM);
  made.library = EMPTY_LIBRARY;
  made.capture = true;
  // Sanitizers insist on being preloaded first.
  made.environment = {{"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"}};
  return made;
}

launch::result run(std::vector<std::string> deeds) { return launch::launch(of(std::move(deeds))); }

/// Of this process: other tests launch programs at the same time.
std::set<std::string> channels() {
  std::set<std::string> found;
  const std::string begin = "txsync-" + std::to_string(getpid()) + "-";
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().starts_with(begin)) found.insert(entry.path());
  }
  return found;
}

const observe::site_record* find(const launch::result& in, const std::string& begin) {
  for (const observe::site_record& one : in.sites) {
    if (one.name.starts_with(begin)) return &one;
  }
  return nullptr;
}

std::string remarks(const launch::result& of) {
  std::string all;
  for (const std::string& one : of.remarks) all += one + "\n";
  return all;
}

TEST(MachineLoad, BusyTimeIsAllButIdleAndWaitingForDisks) {
  EXPECT_EQ(launch::busy_cpu_s("cpu  100 20 30 5000 600 7 8 35 90 9\ncpu0 1 2 3\n", 100), 2.0);
  EXPECT_EQ(launch::busy_cpu_s("cpu  100 20 30 5000", 100), 0);
  EXPECT_EQ(launch::busy_cpu_s("intr 1 2 3 4 5 6 7 8", 100), 0);
  EXPECT_GT(launch::busy_cpu_s(), 0);
}

TEST(MachineLoad, OthersAreToldWhereTheyTookCpusThatWereWanted) {
  EXPECT_EQ(launch::crowd_words(10, 3.8, 16.2, 2), "other programs had 1.62 of the machine's 2 CPUs meanwhile");
  EXPECT_EQ(launch::crowd_words(10, 8, 2, 1), "other programs had 0.20 of the machine's 1 CPU meanwhile");
  EXPECT_EQ(launch::crowd_words(10, 19, 1, 2), "") << "hardly anything";
  EXPECT_EQ(launch::crowd_words(10, 5, 10, 2), "") << "there were idle CPUs";
}

TEST(Launches, OthersOfTheMachineAreNotTheProgramItself) {
  const launch::result seen = run({"open", "orders"});
  EXPECT_GE(seen.others_s, 0);
  const double cpus = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_LE(seen.others_s, (seen.wall_s + 1) * cpus);
}

TEST(Launches, TheProgramsOwnStatus) {
  EXPECT_EQ(run({"open"}).exit_status, 0);
  EXPECT_EQ(run({"open", "exit3"}).exit_status, 3);
  EXPECT_EQ(run({"open", "_exit4"}).exit_status, 4);
  const launch::result killed = run({"open", "kill9"});
  EXPECT_EQ(killed.exit_status, 128 + SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(killed.wait_status));
  EXPECT_EQ(run({"open", "abort"}).exit_status, 128 + SIGABRT);
}

TEST(Launches, SitesAreNamedCountedAndSorted) {
  const launch::result seen = run({"open", "orders", "bills", "nowhere", "condition"});
  ASSERT_EQ(seen.exit_status, 0) << seen.output;
  ASSERT_EQ(seen.sites.size(), 3u);
  const observe::site_record& bills = seen.sites[0];
  EXPECT_TRUE(std::regex_match(bills.name, std::regex("shop::bills::write@counting_program\\.cpp:[0-9]+")))
      << bills.name;
  EXPECT_EQ(bills.kind, "rwlock");
  EXPECT_EQ(bills.acquisitions, 8u);
  EXPECT_EQ(bills.contended, 7u);
  EXPECT_GT(bills.wait_ns, seen.sites[1].wait_ns);
  EXPECT_TRUE(bills.module.ends_with("counting_program")) << bills.module;
  EXPECT_TRUE(std::regex_search(bills.where, std::regex("counting_program\\.cpp:[0-9]+$"))) << bills.where;
  EXPECT_TRUE(seen.sites[1].name.starts_with("shop::take_order@")) << seen.sites[1].name;
  EXPECT_EQ(seen.sites[1].acquisitions, 4u);
  EXPECT_EQ(seen.sites[1].condition_waits, 1u);
  EXPECT_EQ(seen.sites[1].kind, "mutex");
  EXPECT_EQ(seen.sites[2].name, "libgone.so.3+0x1234");
  EXPECT_EQ(seen.sites[2].kind, "spinlock");
  EXPECT_EQ(remarks(seen), "");
  EXPECT_EQ(seen.processes, 1u);
  EXPECT_EQ(seen.threads, 1u);
  EXPECT_GT(seen.wall_s, 0);
}

TEST(Launches, NothingIsLostHoweverTheProgramEnds) {
  for (const char* end : {"exit3", "_exit4", "kill9", "abort"}) {
    const launch::result seen = run({"open", "orders", end});
    const observe::site_record* site = find(seen, "shop::take_order");
    ASSERT_NE(site, nullptr) << end;
    EXPECT_EQ(site->acquisitions, 4u) << end;
    EXPECT_EQ(site->contended, 3u) << end;
  }
}

TEST(Launches, ChildrenCountToo) {
  const launch::result seen = run({"open", "orders", "fork", "fork"});
  ASSERT_NE(find(seen, "shop::take_order"), nullptr);
  EXPECT_EQ(find(seen, "shop::take_order")->acquisitions, 14u);
  EXPECT_EQ(find(seen, "shop::take_order")->contended, 7u);
}

TEST(Launches, NamesAreTheSameFromRunToRun) {
  launch::launcher twice;
  const launch::result first = twice.launch(of({"open", "orders", "bills"}));
  const launch::result second = twice.launch(of({"open", "orders", "bills"}));
  ASSERT_EQ(first.sites.size(), 2u);
  ASSERT_EQ(second.sites.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(first.sites[i].name, second.sites[i].name);
}

TEST(Launches, EachSiteGetsItsPolicy) {
  const std::string name = run({"open", "orders"}).sites.at(0).name;
  launch::options what = of({"open", "policies"});
  what.policies = *policy::find_named("libc");
  what.policies.sites = {{name, {policy::lock_kind::tatas, {}, {}, true}}};
  const launch::result seen = launch::launch(what);
  EXPECT_EQ(seen.output, std::to_string(what.policies.find(name).word()) + " " +
                             std::to_string(what.policies.defaults.word()) + "\n");
}

TEST(Launches, ProgramsAreToldWhetherAnySiteHasAPolicyOfItsOwn) {
  launch::options what = of({"open", "one-policy"});
  EXPECT_EQ(launch::launch(what).output, "1\n");
  what.policies.sites = {{"another program's", {policy::lock_kind::tatas, {}, {}, true}}};
  EXPECT_EQ(launch::launch(what).output, "0\n");
}

TEST(Launches, ManyAskAtOnce) { EXPECT_EQ(run({"open", "threads", "orders"}).exit_status, 0); }

TEST(Launches, QuestionsOfTheDeadDoNotBlockTheLiving) {
  const launch::result seen = run({"open", "abandon", "orders"});
  EXPECT_EQ(seen.exit_status, 0);
  EXPECT_NE(find(seen, "shop::take_order"), nullptr);
}

TEST(Launches, NoticesAreSentences) {
  const launch::result seen = run({"open", "notices"});
  ASSERT_EQ(seen.diagnostics.size(), 7u);
  const char* const parts[] = {
      "unlocked while no thread held it", "a thread that did not hold it", "was destroyed", "in the other order",
      "waited for a condition",           "by the thread that held it"};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NE(seen.diagnostics[i].find(parts[i]), std::string::npos) << seen.diagnostics[i];
    EXPECT_NE(seen.diagnostics[i].find("shop::take_order@"), std::string::npos) << seen.diagnostics[i];
  }
  EXPECT_NE(seen.diagnostics[3].find("shop::bills::write"), std::string::npos) << seen.diagnostics[3];
  EXPECT_NE(seen.diagnostics[6].find("(unknown)"), std::string::npos) << seen.diagnostics[6];
  EXPECT_NE(remarks(seen).find("80 notices beyond the first 128 were dropped\n"), std::string::npos) << remarks(seen);
}

TEST(Launches, WhyNothingWasCounted) {
  EXPECT_NE(remarks(run({"nothing"})).find("no process of the program loaded"), std::string::npos);
  EXPECT_NE(remarks(run({"open"})).find("took no lock of pthread"), std::string::npos);
  launch::options what = of({"open"});
  what.policies.defaults.counting = false;
  EXPECT_NE(remarks(launch::launch(what)).find("counting = false"), std::string::npos);
}

TEST(Launches, LocksWithoutARememberedPlaceAreTold) {
  EXPECT_NE(remarks(run({"open", "orders", "placeless"})).find("7 locks were not counted and had the default policy"),
            std::string::npos);
  EXPECT_EQ(remarks(run({"open", "orders"})), "");
}

TEST(Launches, ProcessesThatStayAreNamed) {
  const launch::result seen = run({"open", "orders", "stay"});
  EXPECT_EQ(remarks(seen).find("1 process of the program still run"), 0u) << remarks(seen);
  EXPECT_EQ(find(seen, "shop::take_order")->acquisitions, 4u);
}

TEST(Launches, AndEndWithTheProgramWhereThatIsAsked) {
  // One in the program's process group, one in a session of its own, and one that SIGTERM does not end.
  for (const char* how : {"stay", "daemon", "stay-stubbornly"}) {
    launch::options what = of({"open", "orders", how});
    what.end_family = true;
    const launch::result seen = launch::launch(what);
    EXPECT_EQ(seen.exit_status, 0);
    EXPECT_EQ(remarks(seen), "") << how;
    EXPECT_LT(seen.wall_s, 1.5) << "the rest is no time of the program";
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  }
}

TEST(Launches, SignalsThatThisProcessAloneIgnores) {
  const auto before = signal(SIGPIPE, SIG_DFL);
  launch::ignore_in_this_process(SIGPIPE);
  EXPECT_EQ(run({"pipe-signal"}).output, "1\n");
  signal(SIGPIPE, before);
}

TEST(Launches, MoreSitesThanTheLibraryTakes) {
  const launch::result seen = run({"open", "many-places"});
  EXPECT_EQ(seen.output, "4095 0\n");
  EXPECT_NE(remarks(seen).find("1 place beyond the first 4095 sites was not counted\n"), std::string::npos)
      << remarks(seen);
}

TEST(Launches, NothingIsLeftBehind) {
  (void)run({"open", "orders"});
  launch::options what = of({});
  what.command = {"/dev/null"};
  EXPECT_THROW(launch::launch(what), launch::cannot_start);
  EXPECT_EQ(channels(), std::set<std::string>());
}

TEST(Launches, CapturedOutputIsWholeUpToTheBound) {
  EXPECT_EQ(run({"print"}).output, "out\nerr\n");
  EXPECT_EQ(run({"stdin"}).output, "-1\n") << "there is nothing to read";
  launch::options what = of({"chatter"});
  what.capture_bytes = 100;
  const launch::result seen = launch::launch(what);
  EXPECT_TRUE(seen.output_cut);
  EXPECT_EQ(seen.output.size(), 100u);
  EXPECT_TRUE(seen.output.ends_with("line 199999\n")) << seen.output;
}

TEST(Launches, ACapturedProgramReadsItsInputFromTheBeginningAndItIsKnownWhenItReadsNone) {
  const std::string file = fs::temp_directory_path() / ("input-" + std::to_string(getpid()));
  std::ofstream(file) << "one\ntwo\n";
  launch::options what;
  what.preload = false;
  what.capture = true;
  const auto reading = [&](std::vector<std::string> command, std::optional<std::string> input) {
    what.command = std::move(command);
    what.input = std::move(input);
    return launch::launch(what);
  };
  for (int run = 0; run < 2; ++run) {
    const launch::result seen = reading({"cat"}, file);
    EXPECT_EQ(seen.output, "one\ntwo\n");
    EXPECT_FALSE(seen.read_in_vain);
  }
  EXPECT_TRUE(reading({"cat"}, std::nullopt).read_in_vain);
  EXPECT_TRUE(reading({"sh", "-c", "sh -c 'read line'"}, std::nullopt).read_in_vain) << "a child of it";
  EXPECT_FALSE(reading({"sh", "-c", "true"}, std::nullopt).read_in_vain);
  EXPECT_FALSE(reading({"cat"}, "/dev/null").read_in_vain);
  for (const char* none : {"/nowhere/input", "/", "/dev/zero"})
    EXPECT_THROW(reading({"cat"}, none), launch::cannot_start) << none;
  fs::remove(file);
}

TEST(Launches, TheEnvironmentIsExtended) {
  launch::options what = of({"environment"});
  what.environment.emplace_back("SHOP", "open");
  what.environment.emplace_back("LD_PRELOAD", "/nowhere/other.so");
  const launch::result seen = launch::launch(what);
  EXPECT_NE(seen.output.find("/nowhere/other.so:" + fs::canonical(EMPTY_LIBRARY).string() + "|open"), std::string::npos)
      << seen.output;
}

TEST(Launches, WithoutTheLibraryTheProgramIsAsItIs) {
  launch::options what = of({"exit3"});
  what.preload = false;
  const launch::result seen = launch::launch(what);
  EXPECT_EQ(seen.exit_status, 3);
  EXPECT_EQ(remarks(seen), "");
  EXPECT_EQ(seen.processes, 0u);
}

TEST(Launches, TheLibraryMustBeThere) {
  launch::options what = of({"open"});
  what.library = "/nowhere/lib.so";
  try {
    launch::launch(what);
    FAIL();
  } catch (const launch::cannot_start& error) {
    EXPECT_EQ(error.status, 126);
    EXPECT_NE(std::string(error.what()).find("--preload FILE"), std::string::npos);
  }
}

TEST(Launches, ATimeLimitEndsTheGroup) {
  signal(SIGUSR1, SIG_IGN);
  launch::options what = of({"wait-for-signal"});
  what.limit_seconds = 0.5;
  const launch::result seen = launch::launch(what);
  EXPECT_TRUE(seen.timed_out);
  EXPECT_EQ(seen.exit_status, 15);
  EXPECT_GE(seen.wall_s, 0.5);
}

TEST(Launches, AndKillsWhoDoesNotListen) {
  launch::options what = of({"open", "orders", "stubborn"});
  what.limit_seconds = 1;
  const launch::result seen = launch::launch(what);
  EXPECT_TRUE(seen.timed_out);
  EXPECT_EQ(seen.exit_status, 128 + SIGKILL);
  EXPECT_NE(find(seen, "shop::take_order"), nullptr);
}

std::atomic<int> signal_to_send{0};

TEST(Launches, SignalsArePassedOn) {
  // The program says that it is ready by SIGUSR1.
  signal(SIGUSR1, [](int) { kill(getpid(), signal_to_send); });
  for (const auto& [sent, status] : {std::pair{SIGTERM, 15}, std::pair{SIGINT, 16}, std::pair{SIGHUP, 128 + SIGHUP}}) {
    for (const bool capture : {false, true}) {
      signal_to_send = sent;
      launch::options what = of({"open", "orders", "wait-for-signal"});
      what.capture = capture;
      const launch::result seen = launch::launch(what);
      EXPECT_EQ(seen.exit_status, status);
      EXPECT_EQ(seen.interrupted, sent);
      EXPECT_NE(find(seen, "shop::take_order"), nullptr) << "the table is still there";
    }
  }
  signal(SIGUSR1, SIG_DFL);
}

}  // namespace
