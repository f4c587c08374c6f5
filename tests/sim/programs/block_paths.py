#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""block_paths.py BIN PLAIN_MODEL MACHINES: which path the atomic blocks of a program took on a simulated machine, and
why. On this machine: tests/launch/block_paths_test.py, with the same program."""

import pathlib
import sys
import unittest

import programs


class BlockPaths(programs.ByCommand):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        include = programs.HERE.parents[2] / "include"
        cls.compile(programs.HERE / "linked_paths.cpp", more=("-I", include, "-I", include / "txsync/machine/native", "-ltxsync"))

    def blocks(self, *words, **options):
        made, ran = self.document("--", "./program", *words, **options)
        point, = made["points"]
        return {site["name"]: site for site in point["sites"]}, ran

    def test_each_block_takes_the_path_that_pays(self):
        blocks, ran = self.blocks(2, 3000)
        few, many, kept = (blocks[f"paths.{name}"] for name in ("few", "many", "kept"))
        for site in blocks.values():
            self.assertEqual(site["path"]["algorithm"], "auto")
        # Two words cost less in hardware.
        self.assertEqual((few["path"]["prefers"], few["path"]["reason"]), ("hardware", "cycles"), few)
        self.assertLess(few["path"]["hardware_cycles"], few["path"]["software_cycles"])
        self.assertGreater(few["speculation"]["commits"], few["transactions"]["commits"])
        self.assertEqual(few["speculation"]["commits"] + few["transactions"]["commits"], 6000)
        # 544 lines do not fit into the cache of 512 that holds what an attempt writes.
        self.assertEqual((many["path"]["prefers"], many["path"]["reason"]), ("software", "cycles"), many)
        self.assertLess(many["path"]["software_cycles"], many["path"]["hardware_cycles"])
        self.assertRegex(many["path"]["why"], r"^\d+ cycles in software, \d+ cycles in hardware; \d+ of \d+ attempts aborted, \d+ by capacity$")
        self.assertEqual((kept["path"]["prefers"], kept["path"]["reason"]), ("software", "block-policy"), kept)
        self.assertEqual(kept["transactions"]["commits"], 6000)
        for site in blocks.values():
            self.assertIn(f"{site['path']['prefers']:8}  {site['name']}; {site['path']['why']}\n", ran.stderr)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
