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
    def assert_agrees(self, counted, point, sections):
        """What a site counted, beside the machine's own count, and the program's."""
        for member in ("attempts", "commits"):
            self.assertAlmostEqual(counted[member], point[member], delta=0.05 * point[member], msg=member)
        self.assertEqual(counted["attempts"], counted["commits"] + sum(counted["aborts"].values()))
        # This machine's status tells no more than that: what was a system call or an interrupt is unknown.
        told = collections.Counter()
        for cause, count in point["aborts"].items():
            told["capacity" if cause.startswith("capacity") else cause if cause in ("conflict", "lock-busy") else "unknown"] += count
        self.assertGreater(told["unknown"], 0)
        for cause, count in told.items():
            self.assertAlmostEqual(counted["aborts"].get(cause, 0), count, delta=0.05 * count + 3, msg=cause)
        took = counted["commits"] + counted["fallbacks"]
        self.assertAlmostEqual(took, sections, delta=0.05 * sections)


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
    """What the locks of an unmodified program count of their attempts."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "attempt_counts.cpp")

    def test_they_agree_with_the_machines(self):
        for threads, sections in ((1, 6000), (4, 3000)):
            with self.subTest(threads=threads):
                made, ran = self.document("--elide", "--", "./program", threads, sections)
                self.assertEqual(int(ran.stdout), threads * sections)
                point, = made["points"]
                counted = max(point["sites"], key=lambda site: site["acquisitions"])["speculation"]
                self.assert_agrees(counted, point, threads * sections)
                self.assert_ends(point)
                lost_s = point["cycles"]["aborted"] / point["cycles"]["total"] * point["values"][0] * point["threads"]
                # The machine counts from the begin to the abort; the program's clock sees begin, rollback and clock, too.
                error_s = 3 * counted["lost_error_ns"] / 1e9
                # One section in 16 is timed: of few that abort it may be none.
                if point["attempts"] - point["commits"] >= 160:
                    self.assertGreater(counted["lost_ns"] / 1e9 + error_s, lost_s)
                self.assertLess(counted["lost_ns"] / 1e9 - error_s, 4 * lost_s)


class LinkedCounts(Counts):
    """The same of a program that links txsync."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        include = programs.HERE.parents[2] / "include"
        cls.compile(programs.HERE / "linked_counts.cpp", more=("-I", include, "-I", include / "txsync/machine/native", "-ltxsync"))

    def counted(self, what, threads, sections):
        made, ran = self.document("--", "./program", what, threads, sections)
        self.assertEqual(int(ran.stdout), threads * sections)
        point, = made["points"]
        return point, {site["name"]: site for site in point["sites"]}

    def test_the_site_of_an_elided_mutex_agrees_with_the_machine(self):
        for threads, sections in ((1, 6000), (4, 3000)):
            with self.subTest(threads=threads):
                point, sites = self.counted("locks", threads, sections)
                self.assert_agrees(sites["linked.accounts"]["speculation"], point, threads * sections)

    def test_the_site_of_an_atomic_block_agrees_with_the_machine(self):
        for threads, sections in ((1, 6000), (4, 3000)):
            with self.subTest(threads=threads):
                point, sites = self.counted("blocks", threads, sections)
                site = sites["linked.transfer"]
                blocks = threads * sections + 64  # those that add up
                self.assert_agrees(site["speculation"], point, blocks)
                self.assertEqual(site["speculation"]["commits"] + site["speculation"]["fallbacks"], blocks)
                self.assertEqual(site["transactions"]["commits"], site["speculation"]["fallbacks"])


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
