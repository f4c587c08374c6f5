#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""cases_test.py TXSYNC CASES: programs that once went wrong under `txsync run`. They run with their own locks, and with
each policy that `txsync tune` tries by itself, here or on a machine with hardware transactions. With
TXSYNC_TEST_BUDGET=full they have the sizes with which they went wrong."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from result_schema import load

TXSYNC, CASES = "", ""
EACH = ((), *(("--policy", name) for name in ("mutex", "spin", "ticket", "warm", "elide")))
FULL = os.environ.get("TXSYNC_TEST_BUDGET") == "full"


def size(usual, full):
    return full if FULL else usual


def run(*case, options=(), limit=20):
    return subprocess.run([TXSYNC, "run", "--limit", str(limit), *options, "--", CASES, *map(str, case)], capture_output=True,
                          text=True, timeout=100)


class Cases(unittest.TestCase):
    def least(self, most, *case, tries=5, options=()):
        """The number that the case prints, of the first run in which it is small enough: other programs only add to it."""
        numbers = []
        while not numbers or (min(numbers) > most and len(numbers) < tries):
            done = run(*case, options=options)
            self.assertEqual(done.returncode, 0, done.stderr)
            numbers.append(float(done.stdout))
        return min(numbers)

    def under_each(self, most, *case, each=EACH):
        for options in each:
            with self.subTest(options=options):
                self.assertLess(self.least(most, *case, options=options), most)

    def test_nobody_is_kept_from_a_lock_that_is_taken_again_at_once(self):
        self.under_each(200, "starve", size(30, 300))  # milliseconds; without a bound: seconds

    def test_nobody_is_kept_from_a_reader_writer_lock_that_is_written_again_at_once(self):
        # Milliseconds; without a bound: hundreds. The C library's own keeps the writer out as long, and has no bound.
        self.under_each(50, "starve_rwlock", 30, each=EACH[1:])

    def test_a_signal_before_the_unlock_hands_over_at_once(self):
        self.under_each(50, "hand_over", size(500, 30_000))  # microseconds a turn; with naps: 64 to 128 on a quiet machine

    def test_waiters_leave_one_behind_the_other(self):
        self.under_each(500, "drain", size(100, 1000))  # microseconds each; where sleepers look once a millisecond: 1000 and more

    def test_waiters_of_a_lock_of_strict_order_leave_it(self):
        # Microseconds each; 1,500 and growing with their number where all of them look every 50 us.
        options = ("--policy", "fifo_ticket")
        self.assertLess(self.least(600, "drain", size(400, 1000), options=options), 600)

    def test_more_threads_than_are_counted(self):
        done = run("drain", 1200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"locks taken by more than 10\d\d threads at a time")

    def test_readers_meet(self):
        for options in EACH:
            done = run("readers_meet", 0, options=options)
            self.assertEqual((done.returncode, done.stdout), (0, "met\n"), done.stderr)

    def deadlocked(self, options, limit):
        """The mutexes of two threads that wait for each other, by name, when the run has been ended after that time."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "d.json"
            done = run("deadlock", 0, options=(*options, "--json", str(file)), limit=limit)
            self.assertEqual(done.returncode, 143, done.stderr)
            sites = load(file.read_text())["points"][0].get("sites", [])
            return {site["name"]: site for site in sites if site["kind"] == "mutex"}

    def test_a_deadlock_shows_as_waits_that_never_ended(self):
        for options in EACH:
            with self.subTest(options=options):
                sites = self.deadlocked(options, 0.4)
                if len(sites) < 2 or any("unfinished_waits" not in site for site in sites.values()):
                    sites = self.deadlocked(options, 8)  # on a busy machine the second thread came late
                self.assertEqual(set(sites), {"first in preload_cases", "second in preload_cases"})
                for site in sites.values():
                    self.assertEqual((site["unfinished_waits"], site["unfinished_wait_ns"]), (1, site["failed_wait_ns"]), site)
                    self.assertGreater(site["max_wait_ns"], 1_000_000, site)

    def test_locks_found_by_version_are_the_same(self):
        for version in ("GLIBC_2.2.5", "GLIBC_2.17"):
            for options in EACH:
                done = run("by_version", version, options=options)
                if done.returncode != 2:  # that machine's C library has the version
                    self.assertEqual((done.returncode, done.stdout), (0, "one\n"), done.stderr)

    def test_locks_of_short_life_that_no_call_initialises(self):
        for depth in (0, 20):
            # Some 60 ns, 550 by a library that is not optimized; 2,000 and more where the callers are unwound each time.
            self.assertLess(self.least(900, "short_lives", depth, size(100_000, 300_000)), 900)

    def test_a_higher_priority_gets_in(self):
        for options in EACH:
            # Of 2,000 to 3,000 times with the C library's lock; it was once where a waiter napped.
            with self.subTest(options=options):
                tries = []
                while not tries or (tries[-1] <= 50 and len(tries) < 5):
                    done = run("priorities", 0, options=options)
                    if done.returncode == 77:
                        self.skipTest("no right to real-time priorities")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    tries.append(int(done.stdout))
                self.assertGreater(tries[-1], 50)


if __name__ == "__main__":
    TXSYNC, CASES = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
