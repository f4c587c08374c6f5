#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_faketime_test.py TXSYNC: programs that another preloaded library, libfaketime, gives another time. It takes locks in
functions of the C library that txsync's own library calls, and replaces timed condition waits."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import run_programs_test as programs

# Two threads wait for each other in turns, by both clocks, with deadlines that do not pass. Then each clock's wait ends at its
# deadline. Prints the turns, and whether the waits in vain took their time by the program's own clock.
WAITS = r"""#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change[2];
static clockid_t clocks[2] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
static int turns;
static double now(int which) {
  struct timespec time;
  clock_gettime(clocks[which], &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
static int wait_until(int which, double then) {
  struct timespec time = {(time_t)then, (long)((then - (double)(time_t)then) * 1e9)};
  return pthread_cond_timedwait(&change[which], &lock, &time);
}
static void* take_turns(void* self) {
  int which = self != 0;
  pthread_mutex_lock(&lock);
  while (turns < 100) {
    while (turns < 100 && turns % 2 != which)
      if (wait_until(which, now(which) + 1000) == ETIMEDOUT) puts("a wait ended too early");
    ++turns;
    pthread_cond_signal(&change[!which]);
  }
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, clocks[i]);
    pthread_cond_init(&change[i], &attributes);
  }
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, take_turns, i != 0 ? &turns : 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  printf("%d\n", turns >= 100);
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&lock);
    double begin = now(i);
    int status = wait_until(i, begin + 0.1);
    double took = now(i) - begin;
    pthread_mutex_unlock(&lock);
    printf("%d %d\n", status == ETIMEDOUT, took > 0.08);
  }
  return 0;
}
"""


def faketime_library():
    """None where it is not installed."""
    command = shutil.which("faketime")
    folders = [*pathlib.Path("/usr/lib").glob("*/faketime"), pathlib.Path("/usr/lib/faketime"), pathlib.Path("/usr/lib64/faketime")]
    if command:
        folders.append(pathlib.Path(command).resolve().parents[1] / "lib/faketime")
    return next((str(folder / "libfaketime.so.1") for folder in folders if (folder / "libfaketime.so.1").exists()), None)


class RunFaketime(programs.WithPrograms):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = faketime_library()
        cls.waits = cls.program("waits", WAITS)

    def output(self, *command, preload=None, time="+1d"):
        environment = {**os.environ, "LD_PRELOAD": preload or self.library, "FAKETIME": time}
        done = subprocess.run([*command, self.waits], capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_timed_waits_end_as_without_txsync(self):
        for time in "+1d", "+0 x2":
            plain = self.output(time=time)
            self.assertTrue(plain.startswith("1\n"), plain)
            for policy in (), ("--policy", "mutex"), ("--policy", "spin"), ("--policy", "ticket"):
                with self.subTest(time=time, policy=policy):
                    self.assertEqual(self.output(programs.TXSYNC, "run", "--limit", "20", *policy, "--", time=time), plain)

    def test_without_a_launcher(self):
        ours = (pathlib.Path(programs.TXSYNC).parent / "../lib/libtxsync-preload.so").resolve()
        self.assertEqual(self.output("timeout", "20", preload=f"{self.library} {ours}"), self.output())


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    if faketime_library() is None:
        print("there is no libfaketime")
        sys.exit(77)
    unittest.main()
