#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench_locks_test.py BENCH_LOCKS: the benchmark writes the same kind of document as the command. Status 77 where it is not
built: `./dev test` does not build the benchmarks, .ci/run does and then runs this."""

import os
import signal
import subprocess
import sys
import unittest

from result_schema import complaints, load

PROGRAM = ""


class BenchLocks(unittest.TestCase):
    def test_writes_the_same_document(self):
        done = subprocess.run([PROGRAM, "--threads", "1", "--locks", "txsync::mutex", "tatas", "pthread_mutex", "pthread_spin",
                               "--rounds", "4", "--duration", "1", "--seed", "1Ki", "--json", "-"], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = load(done.stdout)
        self.assertEqual(complaints(made), [])
        self.assertEqual(made["seed"], 1024)
        self.assertTrue(made["claims"])
        transfers = [point for point in made["points"] if point["metric"] == "line transfer"]
        if len(os.sched_getaffinity(0)) < 2:
            self.assertEqual(transfers, [])
        else:
            self.assertEqual([point["unit"] for point in transfers], ["ns"])
            self.assertIn(len(transfers[0]["values"]), (4, 8, 12, 16))
            self.assertGreater(min(transfers[0]["values"]), 1)
        for point in made["points"]:
            self.assertEqual(point["better"], "lower" if point["unit"].startswith("ns") else "higher", point)
            self.assertIn(len(point["values"]), (4, 8, 12, 16), "undecided claims get more rounds, at most 4 times as many")
        for claim in made["claims"]:
            line = next(line for line in done.stderr.splitlines() if claim["claim"] in line)
            self.assertIn(f" {claim['outcome'].replace('missed', 'MISSED')} ", line)
            self.assertEqual(claim["holds"], claim["outcome"] == "holds")
            if "low95" not in claim:
                self.assertNotEqual(claim["outcome"], "undecided")

    def test_measures_waiting(self):
        done = subprocess.run([PROGRAM, "--waiting-only", "--threads", "2", "--crowds", "4", "--rounds", "2", "--duration", "1",
                               "--json", "-"], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = load(done.stdout)
        self.assertEqual(complaints(made), [])
        for point in made["points"]:
            allowed = {"ask": (2,), "pair-before": (2, 4, 6, 8), "pair-behind": (2, 4, 6, 8)}
            self.assertIn(len(point["values"]), allowed.get(point["params"]["scenario"], (1, 2, 3, 4)),
                          "undecided claims get more rounds, at most 4 times as many, but for the longest waits")
        values = [len(point["values"]) for point in made["points"]]
        undecided = [claim for claim in made["claims"] if claim["outcome"] == "undecided" and "(b)" not in claim["claim"]]
        for claim in undecided:
            self.assertTrue(any(values[point] >= 4 for point in claim["from"]), "stays undecided after 4 times its rounds only")
        bounds = [claim for claim in made["claims"] if "turns during a wait" in claim["claim"]]
        self.assertGreaterEqual(len(bounds), 3)
        self.assertEqual({claim["outcome"] for claim in bounds}, {"holds"}, "the bound in turns holds at any load")
        self.assertLessEqual({"A3-2", "A3-3"}, {claim["id"] for claim in made["claims"]})

    def test_measures_what_counting_attempts_costs(self):
        done = subprocess.run([PROGRAM, "--elision-only", "--rounds", "3", "--duration", "1", "--json", "-"],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = load(done.stdout)
        self.assertEqual(complaints(made), [])
        claims = [claim for claim in made["claims"] if claim["id"] == "A4-1"]
        points = [point for point in made["points"] if point["workload"] == "elided section"]
        self.assertEqual(len(points), 2 * len(claims))
        for claim in claims:
            self.assertEqual(claim["goal"], 0.03)
            off, counted = (made["points"][index] for index in claim["from"])
            self.assertEqual((off["subject"], counted["subject"]), ("elided tatas, counting off", "elided tatas, counted"))
            if "machine" in off["params"]:  # virtual time is no property of the machine at hand
                self.assertGreater(counted["median"], off["median"], "what counts stores more")
                # Whether the goal is met is the claim's to say; this finds a cost that grows.
                self.assertLess(claim["value"], 0.03)

    def test_what_is_interrupted_is_written(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([PROGRAM, "--scenarios-only", "--rounds", "100", "--duration", "1", "--json", "-"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                for line in running.stderr:
                    if "round 2 of" in line:
                        running.send_signal(sent)
                        break
                said, _ = running.communicate(timeout=100)
            self.assertEqual(running.returncode, 1)
            made = load(said)
            self.assertEqual(complaints(made), [])
            self.assertTrue(made["interrupted"])
            self.assertTrue(made["points"])

    def test_numbers_end_as_those_of_the_command(self):
        for wrong, says in (("2K", "Value 2000 not in range 2 to 1000"),
                            ("2k", "'2k' is not a number, which may end in K, M, G, Ki, Mi, Gi; allowed: INT in [2 - 1000]")):
            done = subprocess.run([PROGRAM, "--rounds", wrong], capture_output=True, text=True, timeout=100)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"bench_locks: --rounds: {says}\n"))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    if not os.path.exists(PROGRAM):
        sys.exit(77)
    unittest.main()
