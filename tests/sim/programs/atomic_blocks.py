#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""atomic_blocks.py BIN FULL ALGORITHM: blocks beside hardware attempts on the simulated machine (D2-3, D2-9, D2-12).

2,000 schedules explore what blocks see, FULL with TXSYNC_TEST_BUDGET=full. Most are in random order with store buffers.
A tenth as many explore whether long blocks end. Each seeded fault has to be found within 20,000."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

BIN = pathlib.Path()
SCHEDULES = 0
ALGORITHM = ""
OVER = ""  # the software algorithm of a dmp
SEEDED_WITHIN = 20_000
PROBES = "spurious-aborts,tight-capacity,weak-exchanges,spurious-wakes"
# The share in percent, and the way.
WAYS = ((70, ("--store-buffers",)), (10, ()), (5, ("--order", "priorities", "--store-buffers")),
        (5, ("--order", "delay-bounded", "--store-buffers")), (10, ("--store-buffers", "--probe", PROBES)))


def txsync(*words, timeout=100):
    return subprocess.run([BIN / "txsync", *words], capture_output=True, text=True, timeout=timeout)


class AtomicBlocks(unittest.TestCase):
    def names(self, pattern, least):
        made = json.loads(txsync("list", "tests", "--json", "-").stdout)
        found = [item["name"] for item in made["list"]["items"] if re.fullmatch(pattern, item["name"])]
        self.assertGreaterEqual(len(found), least, found)
        return found

    def explore(self, names, schedules):
        for percent, way in WAYS:
            each = -(-schedules * percent // (100 * len(names)))  # rounded up
            with self.subTest(way=way):
                ran = txsync("explore", *names, "--schedules", str(each), *way, timeout=5400)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)

    def test_what_blocks_see(self):
        programs = f"tm-pages-.*-{OVER}" if OVER else f"tm-opacity-.*-{ALGORITHM}(-biased)?"
        self.explore(self.names(programs, 14), SCHEDULES)

    def test_long_blocks_end(self):
        if OVER:
            return  # a block of dmp runs alone after its attempts
        self.explore(self.names(rf"tm-(beside-long|long|long-clock)-{ALGORITHM}", 3), SCHEDULES // 10)

    def test_seeded_faults_are_found(self):
        if ALGORITHM == "auto" or OVER not in ("", "norec"):
            return  # those of hydctl, which auto is made of; those of dmp name what they are over
        names = self.names(f"seeded:{'dmp' if OVER else ALGORITHM}-.*", 4)
        for way in ((), ("--store-buffers",)):
            ran = txsync("explore", *names, "--schedules", str(SEEDED_WITHIN), *way, timeout=1000)
            print(re.sub(r"\n  .*", "", ran.stdout))  # how many schedules each took
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)

    def test_two_hundred_threads_on_four_cores(self):
        if OVER:
            return  # the simulator's workloads have no heap that is divided
        threads, each = 200, 10
        ran = txsync("sim", "--machine", "haswell-i5-4670t", "transactions", "--preset", "mixed-inside", "--lock", f"tm_{ALGORITHM}",
                     "--threads", str(threads), "--place", "none", "--operations", str(each), "--uncharged", "--json", "-")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        point = json.loads(ran.stdout)["points"][0]
        self.assertNotIn("faults", point)  # its bank and its list are as they must be
        self.assertEqual(point["thread_operations"], {"fewest": [each], "most": [each]})
        self.assertGreater(point["commits"], threads * each // 2)
        self.assertLess(point["commits"], threads * each, "some went on in software")


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    full = int(sys.argv.pop(1))
    SCHEDULES = full if os.environ.get("TXSYNC_TEST_BUDGET") == "full" else 2_000
    ALGORITHM = sys.argv.pop(1)
    OVER = ALGORITHM.removeprefix("dmp_") if ALGORITHM.startswith("dmp_") else ""
    unittest.main()
