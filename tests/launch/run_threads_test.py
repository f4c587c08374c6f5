#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_threads_test.py TXSYNC: what a program's threads have and do must not depend on txsync: keys, their destructors,
and locks up to a thread's last instruction."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import run_programs_test as programs
from result_schema import load

KEYS = r"""#include <limits.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* unused) {
  for (int i = 0; i < 10; ++i) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
  return unused;
}
int main(void) {
  pthread_key_t key;
  int keys = 0;
  while (keys <= PTHREAD_KEYS_MAX && pthread_key_create(&key, 0) == 0) ++keys;
  printf("%d\n", keys);
  for (int i = 0; i < 8; ++i) {
    pthread_t one;
    pthread_create(&one, 0, work, 0);
    pthread_join(one, 0);
  }
  return 0;
}
"""

# Each thread takes the lock three times, and three times in each of the four rounds of its key's destructor.
DESTRUCTORS = r"""#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static void take(void) {
  for (int i = 0; i < 3; ++i) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
}
static void at_the_end(void* value) {
  take();
  pthread_setspecific(key, value);
}
static void* work(void* value) {
  pthread_setspecific(key, value);
  take();
  return value;
}
int main(void) {
  pthread_key_create(&key, at_the_end);
  for (int i = 0; i < 4; ++i) {
    pthread_t one;
    pthread_create(&one, 0, work, &lock);
    pthread_join(one, 0);
  }
  return 0;
}
"""


class RunThreads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (pathlib.Path(programs.TXSYNC).parent / "../lib/libtxsync-preload.so").exists():
            raise unittest.SkipTest("libtxsync-preload.so is not built here")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        if cls.program("keys", KEYS) is None:
            raise unittest.SkipTest("there is no C compiler")

    @classmethod
    def program(cls, name, text, *options):
        return programs.write_c_program(cls.folder, name, text, *options)

    def run_it(self, *command, options=()):
        """The sites by their names, the program's output, and the table."""
        file = self.folder / "r.json"
        done = programs.call("run", "--json", str(file), *options, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        sites = load(file.read_text())["points"][0].get("sites", [])
        return {site["name"]: site for site in sites}, done.stdout, done.stderr

    def test_a_program_may_take_all_keys(self):
        program = self.program("keys", KEYS)
        plain = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        for policy in ("libc", "mutex"):
            with self.subTest(policy=policy):
                sites, output, table = self.run_it(program, options=("--policy", policy))
                self.assertEqual(output, plain)
                self.assertEqual([site["acquisitions"] for site in sites.values()], [80], table)
                self.assertRegex(table, r"locks taken by at most 1 thread at a time")

    def test_locks_in_destructors_of_keys_are_counted(self):
        program = self.program("destructors", DESTRUCTORS)
        for policy in ("libc", "mutex"):
            with self.subTest(policy=policy):
                sites, _, table = self.run_it(program, options=("--policy", policy))
                self.assertEqual([site["acquisitions"] for site in sites.values()], [60], table)
                self.assertRegex(table, r"locks taken by at most 1 thread at a time")


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    unittest.main()
