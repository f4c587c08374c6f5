#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_musl_test.py TXSYNC: programs of another C library, musl, as the program of the command line and started within (rr, 2499;
appscope, 362). The preloaded library is glibc's, so that such a program is refused, or cannot run; who runs it is told."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import run_programs_test as programs

COMPILER = "musl-gcc"

LOCKS = r"""#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void* work(void* unused) {
  for (int i = 0; i < 1000; ++i) { pthread_mutex_lock(&lock); ++total; pthread_mutex_unlock(&lock); }
  return unused;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  work(0);
  pthread_join(one, 0);
  printf("%ld\n", total);
  return 0;
}
"""


class RunMusl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        source = cls.folder / "locks.c"
        source.write_text(LOCKS)
        cls.dynamic, cls.static = str(cls.folder / "dynamic"), str(cls.folder / "static")
        for made, options in ((cls.dynamic, ()), (cls.static, ("-static",))):
            subprocess.run([COMPILER, "-O1", "-pthread", *options, str(source), "-o", made], check=True)
            plain = subprocess.run([made], capture_output=True, text=True, check=True, timeout=60)
            assert plain.stdout == "2000\n", plain.stdout

    def test_it_is_refused_as_the_program(self):
        for verb in ("run", "tune"):
            for program, reason in ((self.dynamic, r"uses another C library \(\S*ld-musl\S*\)"), (self.static, "is a static program")):
                with self.subTest(verb=verb, program=program):
                    done = programs.call(verb, "--", program)
                    self.assertEqual((done.returncode, done.stdout), (126 if verb == "run" else 2, ""), done.stderr)
                    self.assertRegex(done.stderr, rf"\Atxsync {verb}: {program} {reason}[^\n]*\n\Z")

    def test_started_within_it_does_not_run_and_a_remark_says_why(self):
        script = self.folder / "script"
        script.write_text(f"#!/bin/sh\n{self.dynamic}\necho status $?\n")
        script.chmod(0o755)
        for policy in programs.policies():
            with self.subTest(policy=policy):
                done = programs.call("run", "--policy", policy, "--", str(script))
                self.assertEqual((done.returncode, done.stdout), (0, "status 127\n"), done.stderr)
                remarks = re.findall(r"(?m)^remark: .* could not load libtxsync-preload.so.*$", done.stderr)
                self.assertEqual(len(remarks), 1, done.stderr)
                self.assertRegex(remarks[0], rf": {self.dynamic} uses another C library \(\S*ld-musl\S*\)")
                # A static one runs with its own locks.
                done = programs.call("run", "--policy", policy, "--", "sh", "-c", f"{self.static}; true")
                self.assertEqual((done.returncode, done.stdout), (0, "2000\n"), done.stderr)
                self.assertRegex(done.stderr, rf"(?m)^remark: .*: {self.static} is a static program: ")


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    if shutil.which(COMPILER) is None:
        print(f"there is no {COMPILER} (musl-tools)")
        sys.exit(77)
    unittest.main()
