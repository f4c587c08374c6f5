#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attempt_counts.py BIN PLAIN_MODEL MACHINES: what a program's locks count of their attempts."""

import collections
import pathlib
import sys
import unittest

import programs


class AttemptCounts(programs.ByCommand):
    """What the program's locks count of their attempts, beside the machine's own count."""

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
                self.assertAlmostEqual(took, threads * sections, delta=0.05 * threads * sections)
                lost_s = point["cycles"]["aborted"] / point["cycles"]["total"] * point["values"][0] * point["threads"]
                # The machine counts from the begin to the abort; the program's clock sees begin, rollback and clock, too.
                error_s = 3 * counted["lost_error_ns"] / 1e9
                self.assertGreater(counted["lost_ns"] / 1e9 + error_s, lost_s)
                self.assertLess(counted["lost_ns"] / 1e9 - error_s, 4 * lost_s)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
