#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_troubles_test.py TXSYNC LINKED_PROGRAM: under `txsync run` the disk is full, or the launcher is stopped or killed. The program
takes pthread's locks and txsync's, so both libraries meet the trouble; it has to go on, and to end with its own result."""

import ctypes
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
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
        self.assertRegex(run["remarks"][0], r"^some threads were not counted, .* a full disk denies them their counters$")

    def paused(self, *deeds):
        """A launcher, and the process of its program, which stands before its first lock."""
        run = subprocess.Popen([programs.TXSYNC, "run", "--json", str(self.folder / "run.json"), "--", PROGRAM, "pause", *deeds],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stdin.close)
        word, process = run.stdout.readline().split()
        self.assertEqual(word, b"ready")
        return run, int(process)

    def go_on(self, run, process, lines):
        """What the program prints up to so many lines, or its end. A program that hangs is killed."""
        hangs = threading.Timer(30, os.kill, (process, signal.SIGKILL))
        hangs.start()
        try:
            return [line.decode() for line in itertools.islice(run.stdout, lines)]
        finally:
            hangs.cancel()

    def check_output(self, lines):
        self.assertRegex("".join(lines[:2]), rf"\A{TURNS} \d+\nshop\.late 00000000\n\Z")

    def test_a_launcher_that_stops(self):
        run, process = self.paused("serve", "late")
        run.send_signal(signal.SIGSTOP)
        run.stdin.write(b"\n")
        run.stdin.flush()
        # The launcher has the pipe, too, and it does not end.
        lines = self.go_on(run, process, 2)
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(timeout=30), 0)
        self.check_output(lines)
        self.assertEqual(self.document()["run"]["status"], 0)

    def test_a_launcher_that_goes_on_while_it_is_asked(self):
        run, process = self.paused("serve", "late")
        run.send_signal(signal.SIGSTOP)
        run.stdin.write(b"\n")
        run.stdin.flush()
        time.sleep(0.3)  # now it is asked
        run.send_signal(signal.SIGCONT)
        self.check_output(self.go_on(run, process, 2))
        self.assertEqual(run.wait(timeout=30), 0)
        sites = {site["name"]: site for site in self.document()["points"][0]["sites"]}
        self.assertGreater(sites["shop.orders"]["acquisitions"], TURNS / 2)
        self.assertGreater(next(sites[name] for name in sites if "till in " in name)["acquisitions"], TURNS / 2)
        self.assertEqual(sites["shop.late"]["acquisitions"], 3)

    def test_a_launcher_that_is_killed_while_it_is_asked(self):
        run, process = self.paused("serve", "late", "snapshot")
        for folder in pathlib.Path("/dev/shm").glob(f"txsync-{run.pid}-*"):
            self.addCleanup(shutil.rmtree, folder)
        run.send_signal(signal.SIGSTOP)
        run.stdin.write(b"\n")
        run.stdin.flush()
        time.sleep(0.3)
        run.kill()
        run.wait()
        lines = self.go_on(run, process, None)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)
        self.check_output(lines)
        # It numbers its sites for itself.
        self.assertIn("shop.late: 3\n", lines)


if __name__ == "__main__":
    # Programs whose launcher was killed become children of this process.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    programs.TXSYNC, PROGRAM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
