#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_threads_test.py TXSYNC: what a program's threads have and do must not depend on txsync: keys, their destructors,
and locks up to a thread's last instruction."""

import subprocess
import sys
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

# The main thread holds the lock while one with a real-time priority waits; then it waits for its own lock until a deadline.
PRIORITIES = r"""#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_attr_t urgent;
  struct sched_param priority = {.sched_priority = 5};
  pthread_attr_init(&urgent);
  pthread_attr_setinheritsched(&urgent, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&urgent, SCHED_FIFO);
  pthread_attr_setschedparam(&urgent, &priority);
  pthread_t one;
  pthread_mutex_lock(&lock);
  const int status = pthread_create(&one, &urgent, work, 0);
  puts(strerror(status));
  if (status == 0) {
    usleep(50000);
    pthread_mutex_unlock(&lock);
    pthread_join(one, 0);
  }
  return 0;
}
"""

RELOCK = r"""#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
  struct timespec soon;
  pthread_mutex_lock(&lock);
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_sec += soon.tv_nsec >= 900000000;
  soon.tv_nsec = (soon.tv_nsec + 100000000) % 1000000000;
  return pthread_mutex_timedlock(&lock, &soon) == 0;
}
"""


class RunThreads(programs.WithPrograms):
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

    def test_a_lock_that_ignores_priorities_says_so(self):
        program = self.program("priorities", PRIORITIES)
        for policy, told in (("ticket", 1), ("fifo_ticket", 1), ("tatas", 1), ("mutex", 0), ("spin", 0), ("libc", 0)):
            with self.subTest(policy=policy):
                _, output, table = self.run_it(program, options=("--policy", policy))
                if output != "Success\n":
                    self.skipTest("no right to a real-time priority")
                self.assertEqual(table.count("notice: "), told, table)
                self.assertEqual(table.count("ignores priorities under its policy, by work@"), told, table)

    def test_a_timed_lock_by_its_owner_is_told_to_wait_until_its_deadline(self):
        program = self.program("relock", RELOCK)
        for policy in ("libc", "mutex", "ticket"):
            with self.subTest(policy=policy):
                _, _, table = self.run_it(program, options=("--policy", policy))
                self.assertRegex(table, r"notice: [^\n]* by the thread that held it, which waits until "
                                        r"[^\n]*its deadline comes, by main@")


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    unittest.main()
