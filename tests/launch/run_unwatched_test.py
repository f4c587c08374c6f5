#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_unwatched_test.py TXSYNC UNWATCHED_PROGRAM: what is said of waits that nobody counts."""

import os
import pathlib
import sys
import tempfile
import unittest

import run_programs_test as programs
from result_schema import complaints, load
from run_programs_test import call
from skips import leave

PROGRAM = ""
UNWATCHED = ("bare", "queue", "table")


def attempts_work():
    return "verdict      works" in call("doctor").stdout


class Unwatched(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def document(self, *words, **variables):
        """What the command printed, and its document."""
        file = self.folder / "made.json"
        done = call(*words, "--json", str(file), "--", PROGRAM, env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        made = load(file.read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        return done, made

    @staticmethod
    def row(text, name):
        """The words of the site's row in the table of locks."""
        return next(line.split() for line in text.splitlines() if line.endswith(f"  {name}"))

    def test_no_number_stands_for_what_nobody_counted(self):
        if not attempts_work():
            leave(self, "hardware transactions do not work here")
        done, made = self.document("run")
        turns = int(done.stdout)
        sites = {site["name"]: site for site in made["points"][0]["sites"]}
        for name in UNWATCHED:
            with self.subTest(site=name):
                # All threads' first acquisitions are counted one by one, then fewer.
                self.assertEqual(sites[name]["unwatched"], sites[name]["acquisitions"])
                self.assertAlmostEqual(sites[name]["acquisitions"], turns, delta=turns / 2)
                self.assertEqual(self.row(done.stderr, name)[1:], ["-"] * 8 + [name])
        self.assertGreater(sites["both"]["contended"], 0)
        self.assertLess(sites["both"]["unwatched"], sites["both"]["acquisitions"])
        self.assertNotIn("-", self.row(done.stderr, "both"))
        remark = next(one for one in made["run"]["remarks"] if "do not count their waits: at " in one)
        self.assertEqual(set(remark.partition(": at ")[2].partition(";")[0].split(", ")), {"both", *UNWATCHED})
        page = self.folder / "page.html"
        self.assertEqual(call("report", str(self.folder / "made.json"), "-o", str(page)).returncode, 0)
        row = page.read_text(encoding="utf-8").partition("<td class=\"w\">queue")[2].partition("</tr>")[0]
        self.assertEqual(row.count(">–<"), 8, row)

    def test_where_no_attempts_work_it_is_said_that_rows_are_missing(self):
        _, made = self.document("run", TXSYNC_HTM="off")
        self.assertEqual([site["name"] for site in made["points"][0]["sites"] if site["name"] in UNWATCHED], [])
        self.assertEqual(len([one for one in made["run"]["remarks"] if "do not count anything" in one]), 1)

    def test_tune_says_that_it_does_not_try_them(self):
        done, made = self.document("tune", "--candidates", "mutex", "--rounds", "6", "--metric", "([0-9]+)", TXSYNC_HTM="off")
        self.assertEqual(len([one for one in made["tune"]["warnings"] if "do not count anything" in one]), 1, done.stderr)


if __name__ == "__main__":
    programs.TXSYNC, PROGRAM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
