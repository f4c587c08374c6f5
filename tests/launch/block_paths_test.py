#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""block_paths_test.py TXSYNC PROGRAM: which path the atomic blocks of a program took, and why, as `txsync run`, `top` and
`report` show it. On a simulated machine: tests/sim/programs/block_paths.py, with the same program."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import run_programs_test as programs
from result_schema import complaints, load
from run_programs_test import call

PROGRAM = ""
THREADS, BLOCKS = 2, 20_000
# What the program commits, and the last sum.
COMMITS = {"paths.few": THREADS * BLOCKS, "paths.kept": THREADS * BLOCKS, "paths.many": THREADS * BLOCKS // 10 + 1}
EXCLUDED = "hardware transactions do not commit here"


class BlockPaths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, **variables):
        """What was printed, the document, and its blocks."""
        file = self.folder / "run.json"
        done = call("run", "--json", str(file), "--", PROGRAM, str(THREADS), str(BLOCKS), env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"{THREADS * BLOCKS // 10 * 544}\n")
        made = load(file.read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        return done.stderr, made, {site["name"]: site for site in made["points"][0]["sites"] if site["name"].startswith("paths.")}

    def assert_rows(self, printed, blocks):
        """The table has the numbers of the document."""
        table = printed[printed.index("\natomic blocks by path "):].split("\n\n")[0].splitlines()
        rows = {}
        for row in table[3:]:
            numbers, why = row.split("; ", 1)
            hardware, software, serially, algorithm, prefers, name = numbers.split()
            rows[name] = (int(hardware), int(software), int(serially), algorithm, prefers, why)
        self.assertEqual(rows.keys(), COMMITS.keys())
        for name, site in blocks.items():
            path, transactions = site["path"], site.get("transactions", {"commits": 0, "alone": 0})
            hardware = site.get("speculation", {"commits": 0})["commits"]
            self.assertEqual(rows[name], (hardware, transactions["commits"], transactions["alone"], path["algorithm"], path["prefers"],
                                          path["why"]), name)
            self.assertEqual(hardware + transactions["commits"], COMMITS[name], name)

    def test_auto_says_what_it_prefers_and_why(self):
        printed, made, blocks = self.run_it()
        self.assert_rows(printed, blocks)
        works = made["machine"]["htm"]["verdict"] == "works"
        for name, site in blocks.items():
            path = site["path"]
            self.assertEqual(path["algorithm"], "auto", name)
            if not works:
                self.assertEqual((path["prefers"], path["reason"], path["why"]), ("software", "no-hardware", EXCLUDED), name)
            elif name == "paths.kept":
                self.assertEqual((path["prefers"], path["reason"]), ("software", "block-policy"))
            else:
                self.assertIn(path["reason"], ("cycles", "not-timed"), name)

    def test_without_hardware_that_is_the_reason(self):
        printed, _, blocks = self.run_it(TXSYNC_HTM="off")
        self.assert_rows(printed, blocks)
        for name, site in blocks.items():
            self.assertEqual(site["path"], {"algorithm": "auto", "prefers": "software", "reason": "no-hardware", "why": EXCLUDED}, name)

    def test_an_algorithm_decides_for_all_blocks(self):
        printed, _, blocks = self.run_it(TXSYNC_TM="norec")
        self.assert_rows(printed, blocks)
        for name, site in blocks.items():
            self.assertEqual(site["path"], {"algorithm": "norec", "prefers": "software", "reason": "algorithm",
                                            "why": "the algorithm makes no attempts in hardware"}, name)

    def test_the_report_shows_them(self):
        self.run_it(TXSYNC_HTM="off")
        page = self.folder / "page.html"
        done = call("report", str(self.folder / "run.json"), "-o", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(page.read_text(encoding="utf-8"), rf"paths\.few</td>.*<td>auto</td><td>software</td><td>{EXCLUDED}</td>")

    def test_top_shows_the_blocks_of_the_interval(self):
        file = self.folder / "top.json"
        environment = {**os.environ, "TXSYNC_HTM": "off"}
        with subprocess.Popen([programs.TXSYNC, "run", "--", PROGRAM, "1", "100", "stay"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=environment) as run:
            try:
                run.stdout.readline()
                self.assertEqual(run.stdout.readline(), "ready\n")
                done = call("top", "--once", "--interval", "0.1", "--json", str(file), str(run.pid))
                self.assertEqual(done.returncode, 0, done.stderr)
            finally:
                run.communicate(timeout=30)
        found = re.search(rf"(?m)^ +0 +([0-9]+) +0  auto +software  paths\.few; {EXCLUDED}$", done.stdout)
        self.assertTrue(found, done.stdout)
        self.assertGreater(int(found[1]), 0)
        self.assertEqual(done.stdout.count("paths.few"), 1, done.stdout)  # it is no lock
        made = load(file.read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        sites = {site["name"]: site for site in made["top"]["sites"]}
        self.assertEqual(sites["paths.few"]["path"]["reason"], "no-hardware")
        self.assertEqual(sites["paths.few"]["transactions"]["commits"], int(found[1]))


if __name__ == "__main__":
    programs.TXSYNC, PROGRAM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
