#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schedules.py BIN PLAIN_MODEL MACHINES: txsync explore, of its own tests; runs repeat in another folder; calls of the C library."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import programs
from result_schema import complaints


class Schedules(programs.ByCommand):
    """txsync explore."""

    def told(self, order, *words):
        """Accesses and switches of the image of explorations."""
        model = self.at / "explored.txt"
        if not model.exists():
            self.call(programs.PLAIN_MODEL, programs.MACHINES / "ideal.toml", model)
            text = model.read_text(encoding="ascii")
            for key, number in (("sockets", 1), ("cores", 8)):
                text = re.sub(rf"^core\.{key} .*$", f"core.{key} {number}", text, flags=re.MULTILINE)
            model.write_text(text, encoding="ascii")
        read, write = os.pipe()
        os.set_inheritable(write, True)
        with open(read, encoding="ascii") as records:
            environment = {"TXSYNC_SIM_MODEL": str(model), "TXSYNC_SIM_RECORDS": str(write), "TXSYNC_SIM_ORDER": str(order)}
            subprocess.run([programs.BIN.parent / "lib/txsync/txsync-sim-explorations", *words], env=os.environ | environment, check=True,
                           timeout=100, pass_fds=(write,))
            os.close(write)
            seen = {name: int(value) for name, value in (line.split()[:2] for line in records) if value.isdigit()}
        return seen["visits"], seen["switches"]

    def test_a_schedule_is_the_same_whatever_ran_before_it(self):
        for test in ("txsync::mutex", "txsync::shared_mutex", "posix", "condition_variable", "elided_tatas", "mcs-crowded"):
            for order in (1, 2):
                with self.subTest(test=test, order=order):
                    begin, first, second, both = (self.told(order, test, seed, count)
                                                  for seed, count in (("500", "0"), ("500", "1"), ("501", "1"), ("500", "2")))
                    for i in (0, 1):
                        self.assertEqual(both[i] - first[i], second[i] - begin[i])

    def ended_early(self, end):
        """What it says, and its document, after end(txsync, image), both by their process id."""
        with subprocess.Popen([programs.BIN / "txsync", "explore", "tatas", "--schedules", "1000000000", "--json", "result.json"],
                              stdout=subprocess.PIPE, text=True, cwd=self.at) as exploring:
            children = pathlib.Path(f"/proc/{exploring.pid}/task/{exploring.pid}/children")
            explorer = None
            while explorer is None:  # others only say which tests there are
                for child in children.read_text(encoding="ascii").split():
                    with contextlib.suppress(OSError):
                        words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                        explorer = int(child) if words[0].endswith(b"txsync-sim-explorations") and b"tatas" in words else None
            end(exploring.pid, explorer)
            said, _ = exploring.communicate(timeout=100)
        made = json.loads((self.at / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        return exploring.returncode, said, made

    def test_an_image_that_is_killed_has_not_passed(self):
        status, said, made = self.ended_early(lambda _, image: os.kill(image, signal.SIGKILL))
        self.assertEqual(status, 1)
        self.assertIn("ended by a signal: Killed", said)
        self.assertEqual(made["explore"]["tests"], [{"point": 0, "right": False}])
        self.assertEqual(made["points"][0]["faults"], ["the simulation was ended by a signal: Killed"])
        self.assertNotIn("interrupted", made)

    def test_what_the_user_ends_is_missing_and_not_wrong(self):
        def end(*both):
            for one in both:
                os.kill(one, signal.SIGINT)
            time.sleep(0.1)

        status, _, made = self.ended_early(end)
        self.assertEqual(status, 128 + signal.SIGINT)
        self.assertEqual((made["interrupted"], made["points"], made["explore"]["tests"]), (True, [], []))


class MovedPrograms(programs.ByCommand):
    """Another folder is the same build: the same seed gives the same run there."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "asked.cpp")

    def test_a_copy_in_another_folder_runs_alike(self):
        hashes = []
        for length in range(1, 65, 8):  # all places of a pointer in a cache line
            place = self.at / ("x" * length)
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.at / "program", place)
            made, _ = self.document("--elide", "--", f"{place}/program", "x", status=3, input="20\n")
            hashes.append(made["points"][0]["end_hash"])
        self.assertEqual(len(set(hashes)), 1, hashes)


class OfferedCalls(programs.ByCommand):
    """Calls of the C library, in a C program."""

    def test_more_of_the_libraries(self):
        self.compile(programs.HERE / "offered.cpp", more=("-w",))  # <strstream> warns of itself
        ran = self.sim("--check", "--", "./program")
        self.assertEqual((ran.returncode, ran.stdout), (0, "all right\n"), ran.stderr)

    def test_each_works_or_fails_or_ends_the_run(self):
        made = self.call(programs.BIN / "txsync-cc", "-g", programs.HERE / "offered.c", "-o", "program")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertRegex(made.stderr, r"^txsync: \S*offered.c: main uses pthread_cancel: a call ends the run: [^\n]*\n$")
        ran = self.sim("--", "./program")
        self.assertEqual(ran.returncode, 21, ran.stderr)
        self.assertEqual(ran.stderr.splitlines()[:3],
                         ["program: 1 text: No such file or directory", "program: 2 text", "program: the end"])
        ran = self.sim("--", "./program", "x")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("the program calls pthread_cancel, which a simulated program cannot do", ran.stderr)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
