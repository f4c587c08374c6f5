// SPDX-License-Identifier: Apache-2.0
// Parts of the command that its built form cannot be driven into: a lock that fails its check, a single run at a time.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "base/words.hpp"
#include "cli/bench_table.hpp"
#include "cli/holder_table.hpp"
#include "cli/site_programs.hpp"
#include "cli/site_table.hpp"
#include "cli/tune_table.hpp"
#include "launch/abort_samples.hpp"
#include "measure/measure.hpp"
#include "observe/document/abort_ends.hpp"
#include "tune/request.hpp"

namespace base = txsync::base;
namespace cli = txsync::cli;
namespace launch = txsync::launch;
namespace measure = txsync::measure;
namespace observe = txsync::observe;
namespace workloads = txsync::workloads;

namespace {

unsigned runs_of_broken = 0;
std::vector<const char*> order;  // of the runs, by lock

workloads::outcome good_outcome() {
  workloads::outcome made;
  made.operations = 1000;
  made.elapsed_ns = 1'000'000;
  made.fewest = 400;
  made.most = 600;
  return made;
}

workloads::outcome run_good(const workloads::parameters&, const workloads::plan&) {
  order.push_back("good");
  return good_outcome();
}

workloads::outcome run_broken(const workloads::parameters&, const workloads::plan&) {
  order.push_back("broken");
  workloads::outcome made = good_outcome();
  if (++runs_of_broken == 2) made.fault = "the sum is wrong";
  return made;
}

workloads::outcome run_idle(const workloads::parameters&, const workloads::plan&) {
  workloads::outcome made;
  made.elapsed_ns = 1'000'000;
  return made;
}

workloads::outcome run_interrupted(const workloads::parameters&, const workloads::plan&) {
  std::raise(SIGINT);
  return good_outcome();
}

/// What `print` writes into a file.
std::string printed(const auto& print) {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) return "no file";
  print(file);
  std::rewind(file);
  std::string text;
  for (int one = std::fgetc(file); one != EOF; one = std::fgetc(file)) text += static_cast<char>(one);
  std::fclose(file);
  return text;
}

workloads::subject lock_of(const char* name, workloads::subject::runner run) {
  workloads::subject made;
  made.name = name;
  for (workloads::subject::runner& one : made.run) one = run;
  return made;
}

measure::bench_request request_of(std::vector<const workloads::subject*> locks, unsigned repeat) {
  measure::bench_request made;
  made.workload = &workloads::workloads()[0];
  made.values = workloads::default_parameters(*made.workload);
  made.threads = {1, 2};
  made.locks = std::move(locks);
  made.placement = "none";
  made.repeat = repeat;
  return made;
}

}  // namespace

TEST(measure, interleaves_the_locks_over_the_repetitions) {
  const auto good = lock_of("good", run_good);
  const auto broken = lock_of("broken", run_broken);
  order.clear();
  runs_of_broken = 100;  // never again the second
  const auto result = measure::measure(request_of({&good, &broken}, 2));
  // With two threads each is run once more for its waits, until it is known to record none.
  EXPECT_EQ(order, (std::vector<const char*>{"good", "broken", "good", "good", "broken", "broken", "good", "broken",
                                             "good", "broken"}));
  ASSERT_EQ(result.points.size(), 4u);
  EXPECT_EQ(result.points[0].values, (std::vector<double>{1e6, 1e6}));
  EXPECT_EQ(result.points[0].fewest, (std::vector<std::uint64_t>{400, 400}));
  EXPECT_EQ(result.points[1].subject, "broken");
  EXPECT_EQ(result.points[2].threads, 2u);
  EXPECT_EQ(result.runs, 8u);
}

TEST(measure, runs_a_cell_that_failed_its_check_no_more) {
  const auto good = lock_of("good", run_good);
  const auto broken = lock_of("broken", run_broken);
  runs_of_broken = 0;  // the second run of it is the one with 2 threads in the first round
  const auto result = measure::measure(request_of({&good, &broken}, 3));
  EXPECT_EQ(runs_of_broken, 4u);
  ASSERT_EQ(result.points.size(), 4u);
  EXPECT_EQ(result.points[1].values.size(), 3u);
  EXPECT_TRUE(result.points[1].faults.empty());
  EXPECT_TRUE(result.points[3].values.empty());
  EXPECT_EQ(result.points[3].faults, (std::vector<std::string>{"repetition 1: the sum is wrong"}));
  EXPECT_EQ(result.points[2].values.size(), 3u);
}

TEST(measure, takes_a_run_without_an_operation_as_a_value) {
  const auto idle = lock_of("idle", run_idle);
  const auto result = measure::measure(request_of({&idle}, 1));
  EXPECT_EQ(result.points[0].values, (std::vector<double>{0}));
  EXPECT_TRUE(result.points[0].faults.empty());
}

TEST(measure, ends_after_the_run_in_which_the_user_asks) {
  const auto interrupted = lock_of("interrupted", run_interrupted);
  const auto before = std::signal(SIGINT, SIG_DFL);
  const auto result = measure::measure(request_of({&interrupted}, 5));
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.runs, 1u);
  EXPECT_EQ(result.planned, 10u);
  ASSERT_EQ(result.points.size(), 1u);  // the cell that was never run is left out
  EXPECT_EQ(result.points[0].values.size(), 1u);
  EXPECT_EQ(std::signal(SIGINT, before), SIG_DFL);  // restored
}

TEST(table, marks_what_failed) {
  const auto broken = lock_of("broken", run_broken);
  auto request = request_of({&broken}, 1);
  request.threads = {1};
  runs_of_broken = 1;
  const auto result = measure::measure(request);
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  cli::print_table(out, request, result);
  std::fclose(out);
  EXPECT_NE(std::string(text).find("FAILED at repetition 1: the sum is wrong"), std::string::npos);
  std::free(text);
}

TEST(words, are_numbers_only_when_nothing_else_is_there) {
  std::uint64_t value = 7;
  EXPECT_TRUE(base::parse_number("0", 9, value));
  EXPECT_EQ(value, 0u);
  EXPECT_TRUE(base::parse_number("18446744073709551615", ~std::uint64_t{0}, value));
  EXPECT_EQ(value, ~std::uint64_t{0});
  for (const char* wrong : {"", " 1", "1 ", "+1", "-1", "0x1", "10", "18446744073709551616", "1e3"}) {
    EXPECT_FALSE(base::parse_number(wrong, 9, value)) << wrong;
  }
}

TEST(words, are_numbers_with_an_ending_too) {
  std::uint64_t value = 7;
  EXPECT_TRUE(base::parse_number("2K", 2000, value));
  EXPECT_EQ(value, 2000u);
  EXPECT_TRUE(base::parse_number("3Mi", ~std::uint64_t{0}, value));
  EXPECT_EQ(value, 3u << 20);
  EXPECT_FALSE(base::parse_number("2Ki", 2000, value));
  for (const char* wrong : {"K", "2k", "2 K", "2KK", "2T", "99999999999999999G"}) {
    EXPECT_FALSE(base::parse_number(wrong, ~std::uint64_t{0}, value)) << wrong;
  }
}

TEST(site_table, says_what_became_of_attempts) {
  txsync::observe::site_record bank;
  bank.name = "bank";
  bank.acquisitions = 1000;
  bank.speculation = {.attempts = 1200,
                      .commits = 900,
                      .failed = 40,
                      .elided = 900,
                      .fallbacks = 100,
                      .aborts = {{"conflict", 180}, {"lock-busy", 120}},
                      .lost_ns = 2'000'000'000,
                      .lost_error_ns = 1e8,
                      .lost_samples = 9};
  txsync::observe::site_record transfer;
  transfer.name = "transfer";
  transfer.transactions = {.commits = 90, .alone = 2, .waits = 3, .aborts = {{"validation", 4}, {"locked", 6}}};
  transfer.path = {.algorithm = "auto", .reason = "no-hardware"};
  bank.warm_ups = {.runs = 12, .attempts = 4, .ns = 1'500'000'000, .aborts = {{"conflict", 1}, {"explicit", 3}}};
  txsync::observe::site_record plain;
  plain.name = "plain";
  const std::string text = printed(
      [&](std::FILE* file) { cli::print_site_table(file, "", {{"", &bank}, {"", &transfer}, {"", &plain}}, 10); });
  const std::size_t table =
      text.find("critical sections and atomic blocks as hardware transactions (lost: one section in 32 is timed)\n");
  ASSERT_NE(table, std::string::npos) << text;
  EXPECT_NE(text.find("        1200        75.0          100           40        2.000 (0.100)  bank; conflict 15.0 %, "
                      "lock-busy 10.0 %\n",
                      table),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("plain", table), std::string::npos) << text;
  const std::size_t software = text.find("atomic blocks in software\n");
  ASSERT_NE(software, std::string::npos) << text;
  const std::size_t paths = text.find("atomic blocks by path ");
  ASSERT_NE(paths, std::string::npos) << text;
  EXPECT_GT(text.find("transfer"), paths) << text;  // it is no lock
  EXPECT_NE(text.find("         100        90.0            2            3  transfer; locked 6.0 %, validation 4.0 %\n",
                      software),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("          12            4       1.500  bank; explicit 75.0 %, conflict 25.0 %\n"),
            std::string::npos)
      << text;
}

TEST(site_table, shows_the_path_of_each_block_and_why) {
  txsync::observe::site_record few;
  few.name = "few";
  few.transactions = {.commits = 90, .alone = 2, .waits = 0, .aborts = {}};
  few.path = {.algorithm = "dctl", .reason = "algorithm"};
  txsync::observe::site_record many;
  many.name = "many";
  many.speculation = {.attempts = 1200, .commits = 900, .aborts = {{"capacity", 100}, {"conflict", 200}}};
  many.transactions = {.commits = 15, .alone = 0, .waits = 0, .aborts = {}};
  many.path = {
      .algorithm = "auto", .in_hardware = true, .reason = "cycles", .hardware_cycles = 310, .software_cycles = 450};
  txsync::observe::site_record lock;
  lock.name = "lock";
  lock.acquisitions = 10;
  const std::string text =
      printed([&](std::FILE* file) { cli::print_site_table(file, "", {{"", &few}, {"", &many}, {"", &lock}}, 10); });
  const std::string table =
      "\natomic blocks by path (serially: of those in software, with no other block beside)\n"
      " in hardware  in software   serially  algorithm        prefers   block; why\n"
      "         900           15          0  auto             hardware  many; 310 cycles in hardware, 450 cycles in "
      "software; 300 of 1200 attempts aborted, 200 by conflict\n"
      "           0           90          2  dctl             software  few; the algorithm makes no attempts in "
      "hardware\n\n";
  EXPECT_NE(text.find(table), std::string::npos) << text;
}

TEST(site_table, says_what_has_not_been_timed) {
  txsync::observe::site_record site;
  site.name = "block";
  site.transactions = {.commits = 1, .alone = 0, .waits = 0, .aborts = {}};
  txsync::observe::path_record path = {.algorithm = "auto", .in_hardware = true, .reason = "not-timed"};
  EXPECT_EQ(observe::why_of(path, site), "no path has been timed often enough");
  path.hardware_cycles = 310;
  EXPECT_EQ(observe::why_of(path, site), "310 cycles in hardware, not timed often enough in software");
  path.software_cycles = 300;
  EXPECT_EQ(observe::why_of(path, site), "310 cycles in hardware, 300 cycles in software: not enough for a change");
  path = {.algorithm = "auto", .reason = "block-policy"};
  EXPECT_EQ(observe::why_of(path, site), "the block's policy excludes the hardware");
  path = {.algorithm = "hydctl", .in_hardware = true, .reason = "algorithm"};
  EXPECT_EQ(observe::why_of(path, site), "the algorithm tries the hardware first");
}

TEST(site_table, has_no_number_where_nobody_counted) {
  txsync::observe::site_record bare;
  bare.name = "bare";
  bare.acquisitions = 1000;
  bare.unwatched = 1000;
  bare.speculation = {.attempts = 2, .commits = 1, .aborts = {{"conflict", 1}}, .lost_ns = 10, .lost_error_ns = 5};
  const auto row = [&](std::string_view end) {
    const std::string text = printed([&](std::FILE* file) { cli::print_site_table(file, "", {{"", &bare}}, 10); });
    const std::size_t at = text.find(end);
    if (at == std::string::npos) return "no row: " + text;
    const std::size_t begin = text.rfind('\n', at) + 1;
    std::string words;
    for (const char letter : text.substr(begin, at - begin))
      if (letter != ' ' || (!words.empty() && words.back() != ' ')) words += letter;
    return words;
  };
  EXPECT_EQ(row(" bare\n"), "1000 - - - - - - - - ");
  EXPECT_EQ(row(" bare; conflict"), "2 50.0 0 0 - ");
  bare.speculation->lost_error_ns = 4;
  EXPECT_EQ(row(" bare; conflict"), "2 50.0 0 0 0.000 (0.000) ");
  bare.unwatched = 500;
  bare.contended = 10;  // of the other locks
  EXPECT_EQ(row(" bare\n"), "1000 2.00 0.000 0.0 - - - - - ");
}

TEST(site_programs, are_said_where_threads_of_several_waited) {
  std::vector<txsync::observe::site_record> sites(3);
  sites[0].name = "table";
  sites[0].programs = {"server"};
  sites[1].programs = {"client", "server"};
  sites[2].programs = {"script"};
  EXPECT_FALSE(cli::several_programs_waited(sites));
  sites[0].wait_ns = 1;
  EXPECT_FALSE(cli::several_programs_waited(sites));
  sites[2].failed_wait_ns = 1;
  EXPECT_TRUE(cli::several_programs_waited(sites));
  sites[2].failed_wait_ns = 0;
  sites[1].wait_ns = 1;
  EXPECT_TRUE(cli::several_programs_waited(sites));
  EXPECT_EQ(cli::name_with_programs(sites[0], true), "table (server)");
  EXPECT_EQ(cli::name_with_programs(sites[0], false), "table");
  EXPECT_EQ(cli::programs_of(sites[1]), "client, server");
}

TEST(site_programs, have_their_share_of_the_rows) {
  std::vector<txsync::observe::site_record> sites(10);
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i].programs = {i < 7 ? "client" : "server"};
  const auto shown = [&](std::size_t max_rows) {
    const std::vector<cli::site_row> rows = cli::rows_by_program(sites, max_rows);
    EXPECT_EQ(rows.size(), sites.size());
    std::vector<std::ptrdiff_t> numbers;
    for (std::size_t i = 0; i < std::min(max_rows, rows.size()); ++i) {
      numbers.push_back(rows[i].site - sites.data());
      EXPECT_EQ(rows[i].lead, rows[i].site->programs.front());
    }
    return numbers;
  };
  using numbers = std::vector<std::ptrdiff_t>;
  EXPECT_EQ(shown(4), (numbers{0, 1, 7, 8}));
  EXPECT_EQ(shown(8), (numbers{0, 1, 2, 3, 4, 7, 8, 9}));  // the server has no more
  EXPECT_EQ(shown(1), (numbers{0}));
  EXPECT_EQ(shown(20), (numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

txsync::launch::named_call call(const char* name, const char* file = "", unsigned line = 0) {
  txsync::launch::named_call made;
  made.name = name;
  made.file = file;
  made.line = line;
  return made;
}

TEST(holder_table, adds_up_the_waiting_by_line_and_site) {
  using txsync::launch::blame;
  const auto unlock = call("pthread_mutex_unlock");
  const auto put = call("put", "src/queue.c", 40);
  const auto worker = call("worker", "main.c", 9);
  const blame first{{call("main", "main.c", 5), worker, put, unlock}, "queue", 3, 2'000'000'000};
  const blame other_chain{{worker, put, unlock}, "queue", 1, 1'000'000'000};
  const blame without_line{{call("take"), unlock}, "queue", 1, 1'000'000'000};
  EXPECT_EQ(printed([&](std::FILE* file) { cli::print_holders(file, {without_line, first, other_chain}, 1); }),
            "\nwho held locks while others waited (from samples)\n"
            "waited for, s  of these %  unlocked at; lock site\n"
            "        3.000        75.0  put@queue.c:40 from worker@main.c:9; queue\n"
            "... and 1 more\n");
  EXPECT_NE(printed([&](std::FILE* file) { cli::print_holders(file, {without_line}, 1); }).find("  take; queue\n"),
            std::string::npos);
  EXPECT_EQ(printed([&](std::FILE* file) { cli::print_holders(file, {}, 1); }), "");
}

TEST(tune_table, tells_that_others_had_the_cpus) {
  txsync::tune::described what;
  const auto table = [&] { return printed([&](std::FILE* file) { cli::print_table(file, {}, what); }); };
  EXPECT_EQ(table().find("intervals are wider"), std::string::npos) << table();
  what.crowd = "other programs had 1.50 of the machine's 2 CPUs meanwhile";
  EXPECT_NE(table().find("\nother programs had 1.50 of the machine's 2 CPUs meanwhile: intervals are wider than on a "
                         "machine of its own\n"),
            std::string::npos)
      << table();
}

TEST(abort_samples, are_taken_where_attempts_work) {
  EXPECT_TRUE(launch::choose_abort_sampling(false, "/nowhere").why_not.empty()) << "nothing can abort";
  EXPECT_NE(launch::choose_abort_sampling(true, "/nowhere").why_not.find("no hardware counters"), std::string::npos);
}

TEST(tune_table, says_how_long_a_long_tuning_takes) {
  EXPECT_EQ(cli::expectation_words({1, 60, 300}), "");
  EXPECT_EQ(cli::expectation_words({1.2345, 84.1, 372}),
            "one run takes 1.23 s; the whole command takes about 2 to 7 minutes; --time SECONDS limits it");
  EXPECT_EQ(cli::expectation_words({20, 600, 600}),
            "one run takes 20 s; the whole command takes about 10 minutes; --time SECONDS limits it");
  EXPECT_EQ(cli::expectation_words({60, 4200, 18600}),
            "one run takes 60 s; the whole command takes about 1.2 to 5.2 hours; --time SECONDS limits it");
}

TEST(abort_samples, are_missing_for_a_reason) {
  txsync::observe::site_record bank;
  txsync::observe::speculation_record& counted = bank.speculation.emplace();
  counted.attempts = counted.commits = 7;
  EXPECT_EQ(launch::abort_remarks({bank}, "there are no counters", {}), base::words{});
  counted.attempts = 8;
  const std::string begin = "the source lines at which attempts ended are not known: ";
  EXPECT_EQ(launch::abort_remarks({bank}, "there are no counters", {}), base::words{begin + "there are no counters"});
  txsync::launch::code_samples samples;
  EXPECT_EQ(launch::abort_remarks({bank}, "", samples), base::words{begin + "no abort was sampled"});
  samples.why_not = "it is not allowed";
  EXPECT_EQ(launch::abort_remarks({bank}, "", samples), base::words{begin + "it is not allowed"});
  samples = {};
  samples.lost = 10;
  EXPECT_EQ(launch::abort_remarks({bank}, "", samples), base::words{begin + "all 10 abort samples were lost"});
  samples = {};
  samples.samples = 90;
  EXPECT_EQ(launch::abort_remarks({bank}, "", samples), base::words{});
  samples.lost = 10;
  samples.damaged = 1;
  EXPECT_EQ(launch::abort_remarks({bank}, "", samples),
            (base::words{"10 of 100 abort samples were lost: they came too fast",
                         "1 damaged records of abort samples were skipped"}));
}

TEST(abort_ends, are_shares_by_line_by_function_and_by_caller) {
  const std::vector<txsync::observe::abort_end> ends = {{"put (db.cpp:12)", "serve (shop.cpp:9)", 50, "conflict"},
                                                        {"put (db.cpp:12)", "serve (shop.cpp:9)", 10, "lock-busy"},
                                                        {"put (db.cpp:19)", "", 40, "conflict"}};
  EXPECT_EQ(printed([&](std::FILE* file) { observe::print_abort_ends(file, ends); }),
            "\n"
            "What attempts did when they ended, as a share of the sampled aborts\n"
            "  by line\n"
            "    60.0 %  put (db.cpp:12)\n"
            "    40.0 %  put (db.cpp:19)\n"
            "  by function\n"
            "   100.0 %  put\n"
            "  by caller\n"
            "    60.0 %  put from serve\n"
            "    40.0 %  (not known)\n"
            "  by line and cause\n"
            "    50.0 %  put (db.cpp:12): conflict\n"
            "    40.0 %  put (db.cpp:19): conflict\n"
            "    10.0 %  put (db.cpp:12): lock-busy\n");
  EXPECT_EQ(printed([&](std::FILE* file) { observe::print_abort_ends(file, {}); }), "");
}

TEST(words, are_split_at_each_comma) {
  EXPECT_EQ(base::split("a,b,,c"), (base::words{"a", "b", "", "c"}));
  EXPECT_EQ(base::split(""), (base::words{""}));
  EXPECT_EQ(base::split(","), (base::words{"", ""}));
}

TEST(words, are_near_when_few_letters_differ) {
  const base::words allowed{"arraybench", "mapbench", "txsync::mutex", "list"};
  EXPECT_EQ(base::nearest("arraybnech", allowed), "arraybench");  // two letters swapped
  EXPECT_EQ(base::nearest("MAPBENCH", allowed), "mapbench");
  EXPECT_EQ(base::nearest("mutex", allowed), "txsync::mutex");
  EXPECT_EQ(base::nearest("lst", allowed), "list");
  EXPECT_EQ(base::nearest("frobnicate", allowed), "");
  EXPECT_EQ(base::nearest("", allowed), "");
  EXPECT_EQ(base::nearest("x", allowed), "");
}

TEST(words, say_what_is_allowed) {
  EXPECT_EQ(base::unknown("fruit", "aple", {"apple", "pear"}),
            "unknown fruit 'aple'; allowed: apple, pear (did you mean 'apple'?)");
}
