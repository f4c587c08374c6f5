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

# 1,600 threads, more than can count at one time, run eight at a time. Each takes the lock once, and twice in its key's
# destructor.
MANY_DESTRUCTORS = r"""#include <pthread.h>
enum { at_a_time = 8, rounds = 200 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static void take(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
}
static void at_the_end(void* value) {
  (void)value;
  take();
  take();
}
static void* work(void* value) {
  pthread_setspecific(key, value);
  take();
  return value;
}
int main(void) {
  pthread_key_create(&key, at_the_end);
  for (int i = 0; i < rounds; ++i) {
    pthread_t threads[at_a_time];
    for (int k = 0; k < at_a_time; ++k) if (pthread_create(&threads[k], 0, work, &lock) != 0) return 1;
    for (int k = 0; k < at_a_time; ++k) pthread_join(threads[k], 0);
  }
  return 0;
}
"""

# Two threads contend only in their keys' destructors. One holds the lock until the other sleeps, or for 0.1 s, and then
# for 20 ms more.
CONTENDED_DESTRUCTORS = r"""#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static volatile int holds, waiter;
static int sleeps(void) {
  char name[64], state = 0;
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", waiter);
  FILE* file = fopen(name, "r");
  if (file == 0) return 0;
  if (fscanf(file, "%*d %*s %c", &state) != 1) state = 0;
  fclose(file);
  return state == 'S';
}
static void at_the_end(void* value) {
  const int first = value == &holds;
  if (!first) {
    while (!holds) usleep(1000);
    waiter = (int)syscall(SYS_gettid);
  }
  pthread_mutex_lock(&lock);
  if (first) {
    holds = 1;
    while (waiter == 0) usleep(1000);
    for (int i = 0; i < 100 && !sleeps(); ++i) usleep(1000);  // under some policies it spins
    usleep(20000);
  }
  pthread_mutex_unlock(&lock);
}
static void* work(void* value) {
  pthread_setspecific(key, value);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  pthread_key_create(&key, at_the_end);
  pthread_create(&threads[0], 0, work, (void*)&holds);
  pthread_create(&threads[1], 0, work, (void*)&waiter);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""

# Four threads contend, who come when the program may open no file any more, as a sandbox may have it.
SANDBOXED = r"""#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* unused) {
  pthread_mutex_lock(&lock);
  usleep(5000);
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstat, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  pthread_t threads[4];
  work(0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 77;
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""

# The main thread holds the lock while one with a real-time priority waits; then it waits for its own lock until a
# deadline.
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

# POSIX leaves it undefined that the owner locks a mutex of the default type again; with the C library it waits.
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

# A mutex as a semaphore: main locks it twice, the second time it waits until the started thread unlocks it. With a
# word, nobody does. POSIX leaves both undefined for mutexes of the default type; with the C library they work.
HANDOFF = r"""#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t ready = PTHREAD_MUTEX_INITIALIZER;
static void* start(void* unused) {
  usleep(500);
  pthread_mutex_unlock(&ready);
  return unused;
}
int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; i < 20; ++i) {
    pthread_t one;
    pthread_mutex_lock(&ready);
    if (argc == 1) pthread_create(&one, 0, start, 0);
    pthread_mutex_lock(&ready);
    pthread_mutex_unlock(&ready);
    pthread_join(one, 0);
  }
  return 0;
}
"""

# What a fibre does that continues in another thread while it holds a lock is done here by two threads, one after the
# other. One locks, the other unlocks; then the first takes the lock again, and another one in an order that nobody can
# wait in. POSIX leaves the unlock by another thread undefined for mutexes of the default type.
FIBRE = r"""#include <pthread.h>
#include <string.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void* unlock_it(void* lock) {
  pthread_mutex_unlock(lock);
  return 0;
}
static void elsewhere(void* (*what)(void*), void* argument) {
  pthread_t one;
  pthread_create(&one, 0, what, argument);
  pthread_join(one, 0);
}
static void* in_order(void* unused) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  return unused;
}
int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "recursive")) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&first, &kind);
    for (int i = 0; i < 2; ++i) pthread_mutex_lock(&first);
    for (int i = 0; i < 2; ++i) pthread_mutex_unlock(&first);
    return 0;
  }
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&first);
    elsewhere(unlock_it, &first);
  }
  pthread_mutex_lock(&second);  // first is not held
  pthread_mutex_unlock(&second);
  elsewhere(in_order, 0);
  return 0;
}
"""

# A fibre that goes on in another thread while it holds a lock. POSIX leaves an unlock by
# another thread undefined, for mutexes of the default type; with the C library it works.
MOVING_FIBRE = r"""#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <ucontext.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static ucontext_t fibre, resumer;  // of the fibre, and of the thread that it runs in
static char stack[1 << 17];
static int ended;
__attribute__((noinline)) static void lock_it(void) { pthread_mutex_lock(&first); }
__attribute__((noinline)) static void unlock_it(void) { pthread_mutex_unlock(&first); }
static void work(void) {
  for (int i = 0; i < 20; ++i) {
    lock_it();
    swapcontext(&fibre, &resumer);  // goes on in another thread
    unlock_it();
    swapcontext(&fibre, &resumer);
  }
  ended = 1;
}
static void* resume(void* unused) {
  swapcontext(&resumer, &fibre);
  return unused;
}
static void elsewhere(void* (*what)(void*)) {
  pthread_t one;
  pthread_create(&one, 0, what, 0);
  pthread_join(one, 0);
}
static void* in_order(void* unused) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  return unused;
}
int main(void) {
  int held = 0;
  getcontext(&fibre);
  fibre.uc_stack.ss_sp = stack;
  fibre.uc_stack.ss_size = sizeof stack;
  fibre.uc_link = &resumer;
  makecontext(&fibre, work, 0);
  for (;;) {
    resume(0);
    if (ended) break;
    held += pthread_mutex_trylock(&first) != 0;
    elsewhere(resume);
    pthread_mutex_lock(&second);  // first is not held
    pthread_mutex_unlock(&second);
    elsewhere(in_order);
  }
  printf("held %d, free %d\n", held, pthread_mutex_trylock(&first) == 0);
  return 0;
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
        for policy in programs.policies():
            with self.subTest(policy=policy):
                sites, output, table = self.run_it(program, options=("--policy", policy))
                self.assertEqual(output, plain)
                self.assertEqual([site["acquisitions"] for site in sites.values()], [80], table)
                self.assertRegex(table, r"locks taken by at most 1 thread at a time")

    def test_locks_in_destructors_of_keys_are_counted(self):
        program = self.program("destructors", DESTRUCTORS)
        for policy in programs.policies():
            with self.subTest(policy=policy):
                sites, _, table = self.run_it(program, options=("--policy", policy))
                self.assertEqual([site["acquisitions"] for site in sites.values()], [60], table)
                self.assertRegex(table, r"locks taken by at most 1 thread at a time")

    def test_locks_in_destructors_of_thousands_of_threads_are_counted(self):
        program = self.program("many_destructors", MANY_DESTRUCTORS)
        for policy in programs.policies():
            with self.subTest(policy=policy):
                sites, _, table = self.run_it(program, options=("--policy", policy))
                self.assertEqual([site["acquisitions"] for site in sites.values()], [4800], table)
                # A thread that waits for one that has ended since may count where that one did: then no number is told.
                if "locks taken by" in table or not any(site["contended"] for site in sites.values()):
                    self.assertRegex(table, r"locks taken by at most [1-8] threads? at a time")

    def test_threads_that_contend_are_not_called_one_at_a_time(self):
        program = self.program("contended_destructors", CONTENDED_DESTRUCTORS)
        for policy in programs.policies():
            with self.subTest(policy=policy):
                sites, _, table = self.run_it(program, options=("--policy", policy))
                self.assertEqual([(site["acquisitions"], site["contended"]) for site in sites.values()], [(2, 1)], table)
                self.assertIn("locks taken by at most 2 threads at a time", table)

    def test_of_threads_that_cannot_count_no_number_is_told(self):
        program = self.program("sandboxed", SANDBOXED)
        if program is None or subprocess.run([program], check=False).returncode != 0:
            self.skipTest("no filters of system calls here")
        for policy in ("libc", "mutex"):
            with self.subTest(policy=policy):
                _, _, table = self.run_it(program, options=("--policy", policy))
                self.assertNotIn("locks taken by", table)
                self.assertIn("remark: some threads were not counted, or not at every site: the program's sandbox, a limit or a full disk denies them their counters", table)

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
        for policy in programs.policies():
            with self.subTest(policy=policy):
                _, _, table = self.run_it(program, options=("--policy", policy))
                self.assertRegex(table, r"notice: [^\n]* by the thread that held it; this thread waits until "
                                        r"[^\n]*its deadline comes, by main@")

    def test_a_mutex_that_its_owner_takes_again_is_told_to_wait_still_only_where_it_does(self):
        program = self.program("handoff", HANDOFF)
        for policy in programs.policies():
            with self.subTest(policy=policy):
                _, _, table = self.run_it(program, options=("--policy", policy))
                notices = [line for line in table.splitlines() if line.startswith("notice: ")]
                self.assertTrue(any("was locked by the thread that held it; this thread waits until another thread unlocks it" in one for one in notices), table)
                for words in ("ever", "still waited"):
                    self.assertFalse([one for one in notices if words in one], table)
                done = programs.call("run", "--policy", policy, "--limit", "0.4", "--", program, "alone")
                self.assertRegex(done.stderr, r"(?m)^notice: [^\n]* by the thread that held it; [^\n]*; when the run ended, a thread still waited there$")

    def test_a_fibre_gives_up_in_one_thread_what_it_took_in_another(self):
        program = self.program("moving_fibre", MOVING_FIBRE)
        plain = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertEqual(plain, "held 20, free 1\n")
        for policy in programs.policies():
            for options in ((), ("--check-order",)):
                with self.subTest(policy=policy, options=options):
                    _, output, table = self.run_it(program, options=("--policy", policy, *options))
                    self.assertEqual(output, plain)
                    self.assertNotIn("in the other order", table)
                    self.assertRegex(table, r"notice: a lock of site first in moving_fibre was unlocked by a thread that did not hold it, by unlock_it@")

    def test_a_lock_that_another_thread_gives_up_is_not_taken_for_held(self):
        program = self.program("fibre", FIBRE)
        for policy in programs.policies():
            for word in ((), ("recursive",)):
                with self.subTest(policy=policy, word=word):
                    _, _, table = self.run_it(program, *word, options=("--policy", policy, "--check-order"))
                    self.assertNotIn("in the other order", table)


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    unittest.main()
