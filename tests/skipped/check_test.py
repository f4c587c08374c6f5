#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_test.py: check.py finds what was skipped, wherever that is written, and knows what is listed."""
import json
import pathlib
import tempfile
import unittest

import check

CTEST = """
      Start 1: locks.A.B/0
1/5 Test #1: locks.A.B/0  # GetParam() = std_shared_mutex ....***Skipped   0.00 sec
2/5 Test  #22: report_in_browser .............................***Skipped   0.04 sec
3/5 Test   #3: locks.A.C ..................................   Passed    0.00 sec
4/5 Test   #4: ScriptedFiles.IsSkipped ....................   Passed    0.00 sec
5/5 Test   #5: gone .......................................***Not Run (Disabled)   0.00 sec
"""
OUTPUT = """
7/9 Test: preload_fork.counting
[  SKIPPED ] fork.case (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] fork.case
8/9 Test: locks.A.B/0
[  SKIPPED ] A.B/0 (0 ms)
9/9 Test: tm_blocks.1
[  SKIPPED ] A.Not/x (0 ms)
"""
DOCUMENT = {"testsuites": [{"name": "A", "testsuite": [{"name": "Runs", "result": "COMPLETED"},
                                                       {"name": "Not/x", "result": "SKIPPED"}]}]}


class Checks(unittest.TestCase):
    def test_skips_are_found_in_each_place(self):
        with tempfile.TemporaryDirectory() as name:
            build = pathlib.Path(name)
            (build / "skips").mkdir()
            (build / "skips" / "tm_blocks.1.json").write_text(json.dumps(DOCUMENT))
            (build / "Testing" / "Temporary").mkdir(parents=True)
            (build / "Testing" / "Temporary" / "LastTest.log").write_text(OUTPUT)
            self.assertEqual(check.skipped(build, CTEST),
                             ["gone", "locks.A.B/0", "preload_fork.counting.fork.case", "report_in_browser",
                              "tm_blocks.A.Not/x"])

    def test_what_is_not_listed_is_new(self):
        names = ["locks.A.B/0", "locks.A.B/1", "other[1]"]
        self.assertEqual(check.new_ones(names, ["locks.A.B/0", "other[1]"]), ["locks.A.B/1"])
        self.assertEqual(check.new_ones(names, ["locks.*", "other*"]), [])

    def test_each_list_has_reasons(self):
        here = pathlib.Path(check.__file__).resolve().parent
        for name in ("any", *check.KINDS):
            self.assertTrue(check.listed(here / f"{name}.txt"))

    def test_a_line_without_a_reason_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "list.txt"
            path.write_text("# a comment\nlocks.A.B\n")
            with self.assertRaisesRegex(SystemExit, "list.txt:2: "):
                check.listed(path)


if __name__ == "__main__":
    unittest.main()
