#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""top_test.py TXSYNC: what `txsync top` says of running programs, and that it leaves them alone."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

import run_programs_test as programs
from result_schema import complaints

# Three threads wait for a static mutex whose holder sleeps or runs, and one waits on a condition. One calls the system
# again and again, and counts the calls that were interrupted.
WAITING = r"""#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#define noinline __attribute__((noinline))
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static volatile int over;
static volatile long turns, interrupted;
static int runs;
static void nap(long ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  if (nanosleep(&time, 0) != 0) ++interrupted;
}
noinline static void hold_it(void) {
  pthread_mutex_lock(&queue_lock);
  while (!over) {
    if (runs) ++turns; else nap(100000000);
  }
  pthread_mutex_unlock(&queue_lock);
  ++turns;
}
noinline static void want_it(void) {
  pthread_mutex_lock(&queue_lock);
  pthread_mutex_unlock(&queue_lock);
  ++turns;
}
static void* holder(void* unused) { prctl(PR_SET_NAME, "the holder"); hold_it(); return unused; }
static void* waiter(void* unused) { want_it(); return unused; }
static void* sleeper(void* unused) {
  pthread_mutex_lock(&other_lock);
  while (!over) pthread_cond_wait(&never, &other_lock);
  pthread_mutex_unlock(&other_lock);
  return unused;
}
static void* caller(void* unused) {
  struct epoll_event event;
  const int wait = epoll_create1(0);
  while (!over) {
    if (epoll_wait(wait, &event, 1, 20) < 0 && errno == EINTR) ++interrupted;
  }
  return unused;
}
int main(int count, char** words) {
  pthread_t threads[6];
  char end;
  runs = count > 1 && strcmp(words[1], "runs") == 0;
  pthread_create(&threads[0], 0, holder, 0);
  nap(50000000);
  for (int i = 1; i < 4; ++i) pthread_create(&threads[i], 0, waiter, 0);
  pthread_create(&threads[4], 0, sleeper, 0);
  pthread_create(&threads[5], 0, caller, 0);
  nap(50000000);
  puts("ready");
  fflush(stdout);
  if (read(0, &end, 1) < 0) ++interrupted;
  over = 1;
  pthread_cond_broadcast(&never);
  for (int i = 0; i < 6; ++i) pthread_join(threads[i], 0);
  printf("%ld interrupted\n", interrupted);
  return 0;
}
"""

DEADLOCK = r"""#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static void* other(void* unused) {
  pthread_mutex_lock(&two);
  usleep(50000);
  pthread_mutex_lock(&one);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&one);
  pthread_create(&thread, 0, other, 0);
  usleep(20000);
  puts("ready");
  fflush(stdout);
  pthread_mutex_lock(&two);
  return 0;
}
"""

# Calls code in memory that it made itself, which waits in the kernel.
MADE_CODE = r"""#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned word;
int main(void) {
  /* mov $202, %eax; mov $128, %esi; xor %edx, %edx; xor %r10d, %r10d; syscall; ret */
  static const unsigned char code[] = {0xb8, 202, 0, 0, 0, 0xbe, 128, 0, 0, 0, 0x31, 0xd2, 0x45, 0x31, 0xd2, 0x0f, 0x05, 0xc3};
  void* const made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(made, code, sizeof code);
  printf("%lx\n", (unsigned long)made);
  fflush(stdout);
  ((void (*)(unsigned*))made)(&word);
  return 0;
}
"""

MAX_STOP_NS = 1_000_000


def top(*words, timeout=60, **options):
    return subprocess.run([programs.TXSYNC, "top", *map(str, words)], capture_output=True, text=True, errors="replace", timeout=timeout, **options)


class Running:
    """A program that has said that it is ready."""

    def __init__(self, *words):
        self.process = subprocess.Popen([*map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = self.process.stdout.readline().strip()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """What it says at its end."""
        out, _ = self.process.communicate("x", timeout=60)
        return self.process.returncode, out


class Top(programs.WithPrograms):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.waiting = cls.program("waiting", WAITING)
        cls.slow_code = cls.program("slow_code", WAITING, "-O0")
        cls.deadlock = cls.program("deadlock", DEADLOCK)
        cls.made_code = cls.program("made_code", MADE_CODE)

    def document(self, *words):
        path = self.folder / "top.json"
        done = top("--once", "--json", path, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        return made["top"], done.stdout + done.stderr

    def queue_lock(self, seen):
        found = [one for one in seen["objects"] if one.get("name", "").startswith("queue_lock in ")]
        self.assertEqual(len(found), 1, seen)
        return found[0]

    @staticmethod
    def functions(thread):
        return [call.get("function", "") for call in thread["calls"]]

    def test_waiters_owner_and_the_calls_of_both(self):
        with Running(self.waiting) as one:
            for _ in range(20):  # its sleeps are short, and it may be seen between two of them
                seen, table = self.document(one.pid)
                lock = self.queue_lock(seen)
                if lock["owner"]["state"] == "sleeps" and seen["stops"] == 0:
                    break
            self.assertEqual(lock["kind"], "mutex")
            self.assertEqual(len(lock["waiters"]), 3)
            for waiter in lock["waiters"]:
                self.assertIn("want_it", self.functions(waiter))
                self.assertTrue(waiter["complete"])
            self.assertEqual(lock["owner"]["name"], "the holder")
            self.assertEqual(lock["owner"]["state"], "sleeps")
            self.assertIn("hold_it", self.functions(lock["owner"]))
            conditions = [item for item in seen["objects"] if item["kind"] == "condition"]
            self.assertEqual([item["name"].split(" ")[0] for item in conditions], ["never"])
            self.assertEqual(seen["stops"], 0, "threads that are blocked are not stopped")
            self.assertRegex(table, r"mutex queue_lock in waiting \(0x[0-9a-f]+\): 3 threads wait\n  held by \d+ \(the holder\), which sleeps")
            self.assertEqual(one.end(), (0, "0 interrupted\n"))

    def test_an_owner_that_runs_is_stopped_for_its_calls(self):
        with Running(self.waiting, "runs") as one:
            # On a machine that is busy elsewhere a thread may not stop in time; it is let go then, and its calls are unknown.
            for _ in range(20):
                seen, _ = self.document(one.pid)
                lock = self.queue_lock(seen)
                self.assertEqual(lock["owner"]["state"], "runs")
                if lock["owner"]["calls"]:
                    break
            self.assertIn("hold_it", self.functions(lock["owner"]))
            self.assertGreaterEqual(seen["stops"], 1)
            self.assertEqual(one.end(), (0, "0 interrupted\n"))

    def test_blocked_threads_whose_frames_need_a_register_are_stopped(self):
        with Running(self.slow_code) as one:
            # A holder that goes on meanwhile has other calls; a machine that is busy elsewhere may not give a thread its turn.
            copies_ns = []
            for _ in range(20):
                seen, _ = self.document(one.pid)
                lock = self.queue_lock(seen)
                threads = [*lock["waiters"], *([lock["owner"]] if lock["owner"]["state"] == "sleeps" else [])]
                if seen["stops"] > 0:
                    copies_ns.append(seen["max_copy_ns"])
                if len(threads) == 4 and all(thread["complete"] for thread in threads) and min(copies_ns, default=MAX_STOP_NS) < MAX_STOP_NS:
                    break
            self.assertEqual([self.functions(thread).count("want_it") for thread in lock["waiters"]], [1, 1, 1])
            self.assertEqual([thread["complete"] for thread in threads], [True] * 4)
            self.assertIn("hold_it", self.functions(lock["owner"]))
            self.assertIn("holder", self.functions(lock["owner"]))
            self.assertGreaterEqual(seen["stops"], 1)
            self.assertGreaterEqual(seen["max_stop_ns"], seen["max_copy_ns"])
            # In one look at least: another program may have the CPU while a thread is stopped.
            self.assertLess(min(copies_ns), MAX_STOP_NS)
            self.assertEqual(one.end(), (0, "0 interrupted\n"))

    def test_a_killed_top_leaves_the_program_alone(self):
        with Running(self.waiting, "runs") as one:
            for turn in range(12):
                looking = subprocess.Popen([programs.TXSYNC, "top", "--interval", "0.05", str(one.pid)], stdout=subprocess.DEVNULL)
                time.sleep(0.03 + 0.01 * turn)
                looking.kill()
                looking.wait()
            state = pathlib.Path(f"/proc/{one.pid}/status").read_text(encoding="utf-8")
            self.assertIn("TracerPid:\t0\n", state)
            self.assertNotRegex(state, r"State:\s+[tT]")
            self.assertEqual(one.end(), (0, "0 interrupted\n"))

    def test_tables_come_again_until_the_user_ends_them(self):
        path = self.folder / "again.json"
        with Running(self.waiting) as one:
            command = [programs.TXSYNC, "top", "--interval", "0.05", "--json", path, str(one.pid)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as looking:
                gives_up = threading.Timer(60, looking.kill)
                gives_up.start()
                tables = 0
                for line in looking.stdout:
                    tables += line.startswith(f"txsync top: {one.pid}: ")
                    if tables == 2:
                        looking.send_signal(signal.SIGINT)
                        break
                out, _ = looking.communicate()
                gives_up.cancel()
            self.assertEqual((tables, looking.returncode), (2, 0), out)
            made = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(complaints(made), [])
            self.assertEqual(len(self.queue_lock(made["top"])["waiters"]), 3, "of the last table")
            self.assertEqual(one.end(), (0, "0 interrupted\n"))

    def test_a_program_that_is_stopped_stays_so(self):
        with Running(self.waiting, "runs") as one:
            os.kill(one.pid, signal.SIGSTOP)
            time.sleep(0.05)
            top("--once", one.pid)
            self.assertRegex(pathlib.Path(f"/proc/{one.pid}/status").read_text(encoding="utf-8"), r"State:\s+T")
            os.kill(one.pid, signal.SIGCONT)
            self.assertEqual(one.end()[0], 0)

    def test_a_deadlock_is_told(self):
        link = self.folder / "other_name"  # as redis-server is one of redis-check-rdb
        link.symlink_to(self.deadlock)
        with Running(link) as one:
            for _ in range(20):  # on a busy machine a thread comes late
                time.sleep(0.1)
                seen, table = self.document(one.pid)
                if "deadlock" in seen:
                    break
            self.assertEqual(len(seen["deadlock"]), 2)
            self.assertIn(f"txsync top: {one.pid}: other_name: ", table)
            self.assertRegex(table, r"deadlock: each waits for a lock of the next: (\d+) -> \d+ -> \1\n")

    @unittest.skipUnless(os.uname().machine == "x86_64", "its machine code is for x86-64")
    def test_code_that_the_program_made_has_the_names_of_its_map(self):
        with Running(self.made_code) as one:
            path = pathlib.Path(f"/tmp/perf-{one.pid}.map")
            path.write_text(f"{one.said} 20 made by \x1b[31mthe program\n", encoding="utf-8")
            try:
                time.sleep(0.1)
                seen, table = self.document(one.pid)
                self.assertIn("made by ", json.dumps(seen))
                self.assertNotIn("\x1b", table)
                path.unlink()
                path.symlink_to("/dev/zero")  # of no regular file
                seen, _ = self.document(one.pid)
                self.assertNotIn("made by ", json.dumps(seen))
            finally:
                path.unlink()

    def test_what_there_is_no_such_program(self):
        ended = subprocess.Popen(["/bin/true"])
        ended.wait()
        for word, text in ((ended.pid, "no process"), ("0", "is not a process number"), ("99999999999", "is not a process number")):
            done = top("--once", word)
            self.assertEqual(done.returncode, 2, (word, done.stderr))
            self.assertRegex(done.stderr, rf"\Atxsync top: [^\n]*{re.escape(text)}[^\n]*\n\Z")
        done = top("--interval", "0", os.getpid())
        self.assertEqual(done.returncode, 2)
        self.assertIn("allowed: 0.05 to 3600", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "gives up the rights of root to be denied")
    def test_what_the_system_denies_is_told_with_the_remedy(self):
        with Running(self.waiting) as one:
            done = top("--once", one.pid, user=65534, group=65534, extra_groups=[])
            self.assertEqual(done.returncode, 1, done.stderr)
            remedy = rf"it belongs to user root; allowed: as that user, or as root: sudo txsync top {one.pid}"
            self.assertRegex(done.stderr, rf"\Atxsync top: process {one.pid} may not be read: ({remedy}|kernel\.yama\.ptrace_scope is 3, [^\n]+)\n\Z")
            self.assertEqual(one.end()[0], 0)

    def test_sites_of_a_program_under_run(self):
        with subprocess.Popen([programs.TXSYNC, "run", "--", self.waiting], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
            try:
                self.assertEqual(run.stdout.readline(), "ready\n")
                seen, table = self.document(run.pid)
                self.assertEqual(seen["mode"], "sites")
                queue = [one for one in seen["sites"] if one["name"].startswith("queue_lock in ")]
                self.assertEqual(queue[0]["waiting_now"], 3)
                # Each of the three waits during the whole interval.
                self.assertAlmostEqual(queue[0]["interval_wait_ns"] / 1e9 / seen["interval_s"], 3, delta=0.6)
                self.assertRegex(table, r"waiting now +acquisitions/s +held % +site\n")
                program = seen["process"]
                self.assertEqual(len(self.queue_lock(self.document("--threads", program)[0])["waiters"]), 3)
            finally:
                out, _ = run.communicate("x", timeout=60)
            self.assertEqual(out, "0 interrupted\n")


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    unittest.main(verbosity=2)
