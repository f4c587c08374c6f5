#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_troubles_test.py TXSYNC LINKED_PROGRAM: under `txsync run` the disk is full, or the launcher is stopped or killed. The program
takes pthread's locks and txsync's, so both libraries meet the trouble; it has to go on, and to end with its own result."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import run_programs_test as programs
from result_schema import complaints, load

PROGRAM = ""
TURNS = 4 * 50_000

# A small /dev/shm of its own, and in it the program below.
IN_SMALL_MEMORY = 'mount -t tmpfs -o size=4m tmpfs /dev/shm && exec "$0" "$@"'
# What the launcher has made is there; all that is left of the room is taken.
ON_A_FULL_DISK = 'cat /dev/zero > /dev/shm/full 2> /dev/null; exec "$0" "$@"'


class Troubles(unittest.TestCase):
    def setUp(self):
        if not (pathlib.Path(programs.TXSYNC).parent / "../lib/libtxsync-preload.so").exists():
            self.skipTest("libtxsync-preload.so is not built here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def document(self):
        made = load((self.folder / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        return made

    def test_a_full_disk(self):
        namespace = ["unshare", "--map-root-user", "--mount", "sh", "-c", IN_SMALL_MEMORY]
        if not shutil.which("unshare") or subprocess.run([*namespace, "true"], capture_output=True).returncode != 0:
            self.skipTest("no file system of its own")
        run = [programs.TXSYNC, "run", "--json", str(self.folder / "run.json"), "--", "sh", "-c", ON_A_FULL_DISK]
        done = subprocess.run([*namespace, *run, PROGRAM, "serve", "orders"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"\A{TURNS} \d+\nshop\.orders 00000000\n\Z")
        run = self.document()["run"]
        self.assertEqual(len(run["remarks"]), 1, run)
        self.assertRegex(run["remarks"][0], r"^some threads were not counted, .* a full disk keeps them from their counters$")


if __name__ == "__main__":
    programs.TXSYNC, PROGRAM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
