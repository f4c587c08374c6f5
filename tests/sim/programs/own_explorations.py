#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""own_explorations.py BIN PLAIN_MODEL MACHINES: programs that explore parts of themselves by txsync::explore()."""

import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time
import unittest

import programs

INCLUDE = pathlib.Path(__file__).resolve().parents[3] / "include"
HEADERS = (f"-I{INCLUDE}", f"-I{INCLUDE}/txsync/machine/native")
NAME = r"own_exploration\.cpp:\d+(#2)?"
GOOGLETEST = pathlib.Path("/usr/src/googletest/googletest")


class OwnExplorations(programs.ByCommand):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "own_exploration.cpp")

    def found(self, *words, status, says):
        """Found; and found again, by the command that the program prints."""
        ran = self.call("./program", *words)
        self.assertEqual(ran.returncode, status, ran)
        self.assertIn(says, ran.stderr)
        last = ran.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("txsync explore: again: "), ran.stderr)
        again = shlex.split(last.rpartition("again: ")[2])
        self.assertEqual(again[:2] + again[3:], ["txsync", "replay", "--", "./program", *words])
        self.assertRegex(again[2], rf"^{NAME}@[a-z-]+(\+races)?(\+store-buffers)?@\d+$")
        repeated = self.call(programs.BIN / "txsync", *again[1:])
        self.assertEqual((repeated.returncode, repeated.stderr), (1, ""))
        self.assertRegex(repeated.stdout, r"thread [12] .*own_exploration.cpp:\d+")
        return repeated.stdout

    def test_the_machine_that_is_built_in_is_the_one_of_explorations(self):
        built_in = programs.BIN.parent / "src/sim/runtime/ideal.txt"
        written = self.at / "written.txt"
        self.assertEqual(self.call(programs.PLAIN_MODEL, programs.MACHINES / "ideal.toml", written).returncode, 0)
        self.assertEqual(built_in.read_text(encoding="ascii"), written.read_text(encoding="ascii"))

    def test_a_check_that_fails_ends_the_exploration_with_a_key(self):
        repeated = self.found("lost-update", status=1, says=": a schedule failed\n")
        self.assertRegex(repeated, r"reads .* = 0 .*\n(.*\n)*.*writes .*: 0 -> 1 .*\n(.*\n)*.*writes .*: 1 -> 1 ")

    def test_the_program_finds_the_fault_again_after_the_same_number_of_schedules(self):
        for words in (("lost-update",), ("late", "order=6"), ("use-after-free",)):
            with self.subTest(words=words):
                first, second = (self.call("./program", *words) for _ in range(2))
                self.assertEqual((first.stdout, first.stderr), (second.stdout, second.stderr))

    def test_each_order_finds_a_lost_update(self):
        for order in (1, 2, 4, 5, 6):  # round-robin makes the same schedule again and again
            with self.subTest(order=order):
                self.found("lost-update", f"order={order}", status=1, says=": a schedule failed\n")

    def test_right_parts_say_so(self):
        for words in (("right",), ("right", "races"), ("right", "store-buffers"), ("data-race",)):
            with self.subTest(words=words):
                ran = self.call("./program", *words)
                self.assertEqual((ran.returncode, ran.stdout), (0, "nothing after 5000 schedules\n"))
                self.assertRegex(ran.stderr, rf"\Atxsync explore: {NAME}: 5000 schedules, no failure\n\Z")

    def test_a_program_that_explores_itself_is_told_how_to_start_it(self):
        ran = self.call(programs.BIN / "txsync", "explore", "--schedules", "20", "--", "./program", "right")
        self.assertEqual(ran.returncode, 0, ran)
        self.assertEqual(ran.stderr, "txsync explore: program explores parts of itself by txsync::explore(), here once each; "
                                     "start it without txsync explore: ./program right\n")

    def test_an_exception_goes_on_to_the_caller_with_a_key_before_it(self):
        ran = self.call("./program", "throws")
        self.assertEqual(ran.returncode, programs.FAILED)
        self.assertRegex(ran.stderr, rf"^txsync explore: {NAME}: a schedule failed\ntxsync explore: again: txsync replay {NAME}@")

    def test_what_ends_the_program_names_the_key(self):
        for fault, says in (("aborts", "the program has called abort()"), ("crossing-locks", "deadlock: nothing can run"),
                            ("use-after-free", "the program reads 4 bytes of a block that is free")):
            with self.subTest(fault=fault):
                self.found(fault, status=programs.FAILED, says=says)
        self.found("data-race", "races", status=programs.FAILED, says="data race: thread ")

    def test_a_thread_that_is_not_joined_is_refused(self):
        ran = self.call("./program", "not-joined")
        self.assertEqual(ran.returncode, programs.FAILED)
        self.assertIn("a thread that it has started is not joined; allowed: a body that joins its threads", ran.stderr)

    def test_a_call_where_it_cannot_be_is_refused(self):
        for words, says in ((("nested",), "txsync::explore() is called within an exploration"),
                            (("right", "beside"), "txsync::explore() is called beside other threads; allowed: where there is one thread")):
            with self.subTest(words=words):
                ran = self.call("./program", *words)
                self.assertEqual(ran.returncode, programs.FAILED)
                self.assertIn(says, ran.stderr)

    def test_the_second_exploration_at_a_place_has_a_key_of_its_own(self):
        self.found("second-time", status=1, says=": a schedule failed\n")
        self.assertRegex(self.call("./program", "second-time").stderr, r"again: txsync replay own_exploration\.cpp:\d+#2@")

    def test_a_body_that_ends_the_program_is_a_fault(self):
        ran = self.call("./program", "exits")
        self.assertEqual(ran.returncode, programs.FAILED)
        self.assertRegex(ran.stderr, rf"^txsync explore: {NAME}: the body has ended the program\ntxsync explore: again: ")

    def test_an_interruption_says_how_many_were_explored(self):
        with subprocess.Popen(["./program", "right"], cwd=self.at, stderr=subprocess.PIPE, text=True,
                              env={"TXSYNC_EXPLORE_SCHEDULES": "1000000000"}) as exploring:
            time.sleep(1)
            exploring.send_signal(signal.SIGINT)
            _, error = exploring.communicate(timeout=30)
        self.assertEqual(exploring.returncode, 130)
        self.assertRegex(error, rf"^txsync explore: {NAME}: interrupted after \d+ of 1000000000 schedules\n$")

    def test_the_environment_says_how_many_schedules(self):
        ran = subprocess.run(["./program", "right"], cwd=self.at, capture_output=True, text=True, check=True, timeout=100,
                             env={"TXSYNC_EXPLORE_SCHEDULES": "123"})
        self.assertEqual(ran.stdout, "nothing after 123 schedules\n")
        for wrong in ("abc", "0", "10k", "-1", ""):
            ran = subprocess.run(["./program", "right"], cwd=self.at, capture_output=True, text=True, check=False, timeout=100,
                                 env={"TXSYNC_EXPLORE_SCHEDULES": wrong})
            self.assertEqual(ran.returncode, programs.FAILED)
            self.assertIn(f"TXSYNC_EXPLORE_SCHEDULES={wrong} is not understood; allowed: a number of schedules, at least 1", ran.stderr)

    def test_under_the_verbs_the_part_runs_once(self):
        ran = self.call(programs.BIN / "txsync", "sim", "--machine", "ideal", "--", "./program", "right")
        self.assertEqual((ran.returncode, ran.stdout), (0, "nothing after 1 schedules\n"))
        ran = self.call(programs.BIN / "txsync", "explore", "--schedules", "20", "--", "./program", "right")
        self.assertEqual(ran.returncode, 0, ran)

    def test_a_key_of_another_place_is_refused(self):
        ran = self.call(programs.BIN / "txsync", "replay", "other.cpp:1@random@3", "--", "./program", "right")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("has not made the exploration other.cpp:1; allowed: a key that it has printed", ran.stderr)

    def test_natively_the_part_runs_once(self):
        done = self.call("g++", "-std=c++20", *HEADERS, programs.HERE / "own_exploration.cpp", "-o", "native", "-pthread")
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = self.call("./native", "right")
        self.assertEqual((ran.returncode, ran.stdout), (0, "nothing after 1 schedules\n"))


class WithAttempts(programs.ByCommand):
    """A program that elides a lock, explored on a machine with hardware transactions."""

    SOURCE = """
        #include <cassert>
        #include <thread>
        #include <txsync/mutex.hpp>
        #include <txsync/speculate/elided.hpp>
        constinit txsync::site place{"accounts"};
        txsync::elided<txsync::mutex> lock{place};
        int balance = 0;
        int main(int count, char**) {
          const auto add = [] { lock.lock(), ++balance, lock.unlock(); };
          const auto add_without_lock = [] { ++balance; };
          std::thread one(add), other = count > 1 ? std::thread(add_without_lock) : std::thread(add);
          one.join();
          other.join();
          assert(balance == 2);
        }"""

    def test_the_probes_of_attempts_are_on(self):
        self.compile(self.SOURCE, more=(*HEADERS, "-ltxsync"))
        explore = (programs.BIN / "txsync", "explore", "--machine", "haswell-i7-4770", "--schedules", "200", "--", "./program")
        self.assertIn(" nothing\n", self.call(*explore).stdout)
        ran = self.call(*explore, "x")
        self.assertEqual(ran.returncode, 1, ran)
        again = shlex.split(ran.stdout.splitlines()[-1])
        self.assertRegex(again[2], r"^program@[a-z-]+\+spurious-aborts\+tight-capacity@\d+$")
        self.assertEqual(again[3:], ["--machine", "haswell-i7-4770", "--", "./program", "x"])
        repeated = self.call(programs.BIN / "txsync", *again[1:])
        self.assertEqual((repeated.returncode, repeated.stderr), (1, ""))
        self.assertIn("assertion failed: balance == 2", repeated.stdout)


@unittest.skipUnless(GOOGLETEST.exists(), "no sources of GoogleTest (Debian's libgtest-dev)")
class WithGoogleTest(programs.ByCommand):
    SOURCE = """
        #include <atomic>
        #include <thread>
        #include <gtest/gtest.h>
        #include <txsync/explore.hpp>
        static std::atomic<int> balance{0};
        static void add() { balance = balance + 1; }
        static void two(void (*body)()) {
          balance = 0;
          std::thread one(body), other(body);
          one.join();
          other.join();
        }
        TEST(Account, LosesAnUpdate) {
          txsync::explore({.has_failed = testing::Test::HasFailure}, [] {
            two(add);
            EXPECT_EQ(balance, 2);
          });
        }
        TEST(Account, HasThreadsWithoutExploring) {
          std::thread([] { ++balance; }).detach();
          two([] { ++balance; });
          EXPECT_GE(balance, 2);
        }
        TEST(Account, LosesAnUpdateAgain) {
          txsync::explore({.order = txsync::explore_order::uniform_walk, .has_failed = testing::Test::HasFailure}, [] {
            two(add);
            EXPECT_EQ(balance, 2);
          });
          const auto seen = txsync::explore({.has_failed = testing::Test::HasFailure}, [] {});
          EXPECT_EQ(seen.schedules, 0u);
        }
        TEST(Account, AddsInOneStep) {
          const auto seen = txsync::explore({.schedules = 300, .has_failed = testing::Test::HasFailure}, [] {
            two([] { ++balance; });
            EXPECT_EQ(balance, 2);
          });
          EXPECT_EQ(seen.schedules, 300u);
        }"""

    def test_a_failing_expectation_has_a_key(self):
        self.compile(self.SOURCE, "program", more=("-O1", f"-I{GOOGLETEST}", f"-I{GOOGLETEST}/include", GOOGLETEST / "src/gtest-all.cc",
                                                   GOOGLETEST / "src/gtest_main.cc"))
        ran = self.call("./program")
        self.assertEqual(ran.returncode, 1, ran)
        self.assertIn("[  FAILED  ] Account.LosesAnUpdate", ran.stdout)
        self.assertIn("[       OK ] Account.AddsInOneStep", ran.stdout)
        self.assertEqual(ran.stderr.count("\n"), 5, ran.stderr)
        self.assertRegex(ran.stderr, r"\ntxsync explore: source\.cpp:\d+: 300 schedules, no failure\n\Z")
        key, second = re.findall(r"again: txsync replay (source\.cpp:\d+@[a-z-]+@\d+) -- \./program\n", ran.stderr)
        repeated = self.call(programs.BIN / "txsync", "replay", key, "--", "./program", "--gtest_filter=Account.LosesAnUpdate")
        self.assertEqual(repeated.returncode, 1, repeated)
        self.assertIn("Expected equality of these values", repeated.stdout)
        self.assertRegex(repeated.stdout, r"> thread [12] .*writes balance: 0 -> 1 .*add \(source\.cpp:7\)")
        # The second exploration that fails has learnt nothing from the first, and its key repeats without it.
        repeated = self.call(programs.BIN / "txsync", "replay", second, "--", "./program")
        self.assertEqual(repeated.returncode, 1, repeated)
        self.assertIn("[  FAILED  ] Account.LosesAnUpdateAgain", repeated.stdout)
        self.assertIn("[       OK ] Account.LosesAnUpdate ", repeated.stdout)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
