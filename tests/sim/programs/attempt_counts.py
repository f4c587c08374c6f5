#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attempt_counts.py BIN PLAIN_MODEL MACHINES: what a program's locks count of their attempts."""

import collections
import math
import pathlib
import sys
import unittest

import programs


class Counts(programs.ByCommand):
    def assert_site(self, counted, sections):
        """What a site counted, beside the program's count of its own sections."""
        self.assertEqual(counted["attempts"], counted["commits"] + sum(counted["aborts"].values()))
        self.assertAlmostEqual(counted["commits"] + counted["fallbacks"], sections, delta=0.05 * sections)

    def assert_sums(self, all_counted, point):
        """What all sites counted, beside the machine's own count."""
        sums = collections.Counter()
        for counted in all_counted:
            sums.update({member: counted[member] for member in ("attempts", "commits")})
            sums.update(counted["aborts"])
        for member in ("attempts", "commits"):
            self.assertAlmostEqual(sums[member], point[member], delta=0.05 * point[member], msg=member)
        # This machine's status tells no more than that: what was a system call or an interrupt is unknown.
        told = collections.Counter()
        for cause, count in point["aborts"].items():
            told["capacity" if cause.startswith("capacity") else cause if cause in ("conflict", "lock-busy") else "unknown"] += count
        self.assertGreater(told["unknown"], 0)
        for cause, count in told.items():
            self.assertAlmostEqual(sums[cause], count, delta=0.05 * count + 3, msg=cause)

    def assert_ends(self, point):
        """The line that makes the system call ends attempts as often as system calls do."""
        source = (programs.HERE / "attempt_counts.cpp").read_text(encoding="utf-8").splitlines()
        line = next(number for number, text in enumerate(source, 1) if "getppid" in text)
        ends = point["abort_ends"]
        aborts = point["attempts"] - point["commits"]
        self.assertAlmostEqual(sum(end["count"] for end in ends), aborts, delta=0.1 * aborts + 64)
        here = f"attempt_counts.cpp:{line})"
        calls = sum(end["count"] for end in ends if end["line"].endswith(here) or end.get("caller", "").endswith(here))
        # All of the first 256 aborts are looked at, then one in 64.
        error = 2 if aborts <= 256 else 3 * math.sqrt(64 * point["aborts"]["syscall"])
        self.assertAlmostEqual(calls, point["aborts"]["syscall"], delta=error)


class AttemptCounts(Counts):
    """What the locks of an unmodified program count of their attempts. All of them are one site in a simulated program;
    tests/launch/attempt_counts_test.py has several."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "attempt_counts.cpp")

    def test_they_agree_with_the_machines(self):
        # Accounts, journal, rates: two mutexes and a reader-writer lock; and that one alone.
        for threads, sections in ((1, (3000, 2000, 1000)), (4, (1500, 1000, 500)), (4, (0, 0, 2000))):
            with self.subTest(threads=threads, sections=sections):
                made, ran = self.document("--elide", "--", "./program", threads, *sections)
                self.assertEqual(ran.stdout.split(), [str(threads * count) for count in sections])
                point, = made["points"]
                site, = point["sites"]
                counted = site["speculation"]
                self.assert_site(counted, threads * sum(sections))
                self.assert_sums([counted], point)
                self.assert_ends(point)
                lost_s = point["cycles"]["aborted"] / point["cycles"]["total"] * point["values"][0] * point["threads"]
                # The machine counts from the begin to the abort; the program's clock sees begin, rollback and clock, too.
                error_s = 3 * counted["lost_error_ns"] / 1e9
                # One section in 32 is timed: of few that abort it may be none.
                if point["attempts"] - point["commits"] >= 160:
                    self.assertGreater(counted["lost_ns"] / 1e9 + error_s, lost_s)
                self.assertLess(counted["lost_ns"] / 1e9 - error_s, 4 * lost_s)


class LinkedCounts(Counts):
    """The same of a program that links txsync, at each of its sites."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        include = programs.HERE.parents[2] / "include"
        cls.compile(programs.HERE / "linked_counts.cpp", more=("-I", include, "-I", include / "txsync/machine/native", "-ltxsync"))

    def counted(self, threads, *sections):
        made, ran = self.document("--", "./program", threads, *sections)
        self.assertEqual(ran.stdout.split(), [str(threads * count) for count in sections])
        point, = made["points"]
        return point, {site["name"]: site for site in point["sites"]}

    def test_the_sites_of_elided_locks_agree_with_the_machine(self):
        own = {"linked.accounts": 3000, "linked.journal": 2000, "linked.rates": 1000}
        for threads, part in ((1, 1), (4, 2)):
            with self.subTest(threads=threads):
                point, sites = self.counted(threads, *(count // part for count in own.values()), 0)
                for name, count in own.items():
                    with self.subTest(site=name):
                        self.assert_site(sites[name]["speculation"], threads * count // part)
                self.assert_sums([site["speculation"] for site in sites.values()], point)
                # Threads that go from site to site write nothing that the attempts of others read.
                self.assertGreater(point["commits"], 0.9 * point["attempts"])

    def test_the_sites_of_atomic_blocks_agree_with_the_machine(self):
        for threads, blocks in ((1, 6000), (4, 3000)):
            with self.subTest(threads=threads):
                point, sites = self.counted(threads, 0, 0, 0, blocks)
                self.assertEqual(sites.keys(), {"linked.transfer", "linked.audit"})
                for name, count in (("linked.transfer", threads * blocks), ("linked.audit", 64)):
                    counted = sites[name]["speculation"]
                    self.assert_site(counted, count)
                    self.assertEqual(counted["commits"] + counted["fallbacks"], count, name)
                    self.assertEqual(sites[name].get("transactions", {}).get("commits", 0), counted["fallbacks"], name)
                self.assert_sums([site["speculation"] for site in sites.values()], point)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
