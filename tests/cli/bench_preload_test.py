#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench_preload_test.py BENCH_PRELOAD: the document of the benchmark's whole programs. Status 77 where it is not built."""

import pathlib
import subprocess
import sys
import unittest

from result_schema import complaints, load

BENCH = ""


class BenchPreload(unittest.TestCase):
    def test_claims_rest_on_points_of_the_document(self):
        done = subprocess.run([BENCH, "--only", "own_times", "--pairs", "3", "--json", "-"], capture_output=True, text=True, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = load(done.stdout)
        self.assertEqual(complaints(document), [])
        subjects = {point["subject"] for point in document["points"]}
        self.assertLessEqual({"plain", "libc", "mutex"}, subjects)
        self.assertTrue(all(len(point["values"]) == 3 for point in document["points"]))
        claims = [claim for claim in document["claims"] if claim["id"] == "A3-5"]
        words = " ".join(claim["claim"] for claim in claims)
        for part in ("time to that of a plain run", "time waited, how far", "time held, how far", "time waited in all"):
            self.assertIn(part, words)
        for claim in claims:
            workloads = {document["points"][index]["workload"] for index in claim["from"]}
            self.assertEqual(workloads, {"own_times"}, claim)
        # What was counted is what the program has measured. Beside other tests a run may be far off: a section of which
        # one in many is timed has lost its CPU. Not all three.
        values = {(point["subject"], point["metric"]): point["values"] for point in document["points"]}
        ratios = [counted / own for own, counted in zip(values["libc", "time held, own stamps"], values["libc", "time held, as counted"])]
        self.assertLess(min(abs(ratio - 1) for ratio in ratios), 0.3, ratios)

    def test_unknown_programs_are_refused(self):
        done = subprocess.run([BENCH, "--only", "nothing"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
        self.assertIn("own_times", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not pathlib.Path(sys.argv[1]).exists():
        print("skipped: bench_preload is not built")
        sys.exit(77)
    BENCH = sys.argv.pop(1)
    unittest.main()
