#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""divided_memory.py BIN PLAIN_MODEL MACHINES: programs whose memory dmp divides (D2-12, D2-13). One simulated machine
reports the faults of attempts, and the other does not."""

import pathlib
import re
import sys
import unittest

import programs


class DividedMemory(programs.ByCommand):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        include = programs.HERE.parents[2] / "include"
        cls.compile(programs.HERE / "divided.cpp", more=("-I", include, "-I", include / "txsync/machine/native", "-ltxsync"))

    def blocks(self, machine, *words):
        ran = self.call(programs.BIN / "txsync", "sim", "--machine", machine, "--", "./program", *map(str, words))
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        found = re.findall(r"^divided\.(\w+) (\d+) commits, (\d+) in hardware, (\d+) alone$", ran.stdout, re.MULTILINE)
        return {name: tuple(map(int, numbers)) for name, *numbers in found}

    def test_each_side_keeps_to_its_pages(self):
        threads, each = 4, 256
        for machine, algorithm in (("power8-8284-22a", "dmp_dctl"), ("power8-8284-22a", "dmp_norec"), ("power8-8284-22a", "dmp_tinystm"),
                                   ("haswell-i7-4770", "dmp_dctl"), ("haswell-i7-4770", "dmp_norec"), ("sapphire-rapids", "dmp_tinystm")):
            with self.subTest(machine=machine, algorithm=algorithm):
                blocks = self.blocks(machine, threads, each, algorithm)
                commits, hardware, alone = blocks["move"]
                self.assertEqual(commits, threads * (each - each // 8))
                self.assertGreater(hardware, 0.8 * commits, blocks)
                commits, hardware, alone = blocks["scan"]
                self.assertEqual((commits, hardware), (threads * (each // 8 - each // 64) + 1, 0))
                self.assertLess(alone, commits // 2, blocks)
                self.assertGreater(blocks["across"][1], 0, "pages went back to the hardware")

    def test_two_hundred_threads(self):
        for machine in ("power8-8284-22a", "haswell-i7-4770"):
            with self.subTest(machine=machine):
                blocks = self.blocks(machine, 200, 16, "dmp_tinystm")
                self.assertEqual(sum(commits for commits, _, _ in blocks.values()), 200 * 16 + 1)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
