#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_programs_test.py TXSYNC: real programs, built here, under `txsync run` with the real preloaded library."""

import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from result_schema import complaints, load

TXSYNC = ""
FULL = os.environ.get("TXSYNC_TEST_BUDGET") == "full"


def call(*arguments, **options):
    return subprocess.run([TXSYNC, *arguments], capture_output=True, text=True, timeout=100, **options)


def policies():
    """The names of all."""
    return [line.split()[0] for line in call("list", "policies").stdout.splitlines()]


def write_c_program(folder, name, text, *options):
    """A program of the test's own; None without a C compiler."""
    source = pathlib.Path(folder) / f"{name}.c"
    source.write_text(text)
    made = pathlib.Path(folder) / name
    try:
        done = subprocess.run(["cc", "-g", "-O1", "-pthread", *options, str(source), "-o", str(made)], capture_output=True)
    except FileNotFoundError:
        return None
    return str(made) if done.returncode == 0 else None


COUNTER = r"""#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static long total, done;
__attribute__((noinline)) static void add_one(void) {
  pthread_mutex_lock(&hot);
  ++total;
  pthread_mutex_unlock(&hot);
}
static void* work(void* unused) {
  (void)unused;
  const char* times = getenv("TIMES");
  for (int i = 0; i < atoi(times); ++i) add_one();
  pthread_mutex_lock(&hot);
  ++done;
  pthread_cond_signal(&all_done);
  pthread_mutex_unlock(&hot);
  return 0;
}
static void count(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, 0);
  pthread_mutex_lock(&hot);
  while (done < 4) pthread_cond_wait(&all_done, &hot);
  pthread_mutex_unlock(&hot);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "fork") && fork() != 0) {
    wait(0);
    return 0;
  }
  count();
  printf("%ld\n", total);
  fflush(stdout);
  if (!strcmp(how, "_exit")) _exit(7);
  if (!strcmp(how, "kill")) raise(SIGKILL);
  if (!strcmp(how, "unlock")) pthread_mutex_unlock(&hot);
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


WRAPPED = r"""#include <pthread.h>
#include <thread>
#include <cstdio>
#include <mutex>
namespace shop {
class Mutex {
 public:
  Mutex() { pthread_mutex_init(&lock_, nullptr); }
  ~Mutex() { pthread_mutex_destroy(&lock_); }
  void lock() { pthread_mutex_lock(&lock_); }
  void unlock() { pthread_mutex_unlock(&lock_); }
 private:
  pthread_mutex_t lock_;
};
class ScopedMutex {
 public:
  explicit ScopedMutex(Mutex* lock) : lock_(lock) { lock_->lock(); }
  ~ScopedMutex() { lock_->unlock(); }
 private:
  Mutex* lock_;
};
struct orders {
  __attribute__((noinline)) orders() : count(0) {}
  __attribute__((noinline)) void add() { ScopedMutex hold(&lock); ++count; }
  Mutex lock;
  long count;
};
struct bills {
  __attribute__((noinline)) bills() : count(0) {}
  __attribute__((noinline)) void add() { ScopedMutex hold(&lock); ++count; }
  Mutex lock;
  long count;
};
std::mutex standard;
long count;
__attribute__((noinline)) void add_standard() { std::lock_guard<std::mutex> hold(standard); ++count; }
}  // namespace shop
int main() {
  shop::orders orders;
  shop::bills bills;
  auto work = [&] { for (int i = 0; i < 5000; ++i) { orders.add(); bills.add(); shop::add_standard(); } };
  std::thread a(work), b(work);
  a.join();
  b.join();
  std::printf("%ld\n", orders.count + bills.count + shop::count);
}
"""


# POSIX leaves undefined what "stranger" and "destroy" do.
MISUSE = r"""#include <pthread.h>
#include <string.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void* unlock_it(void* lock) {
  pthread_mutex_unlock(lock);
  return 0;
}
static void in_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, 0, function, argument);
  pthread_join(thread, 0);
}
__attribute__((noinline)) static void one_way(void) {
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&first);
}
__attribute__((noinline)) static void other_way(void) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
}
int main(int argc, char** argv) {
  (void)argc;
  if (!strcmp(argv[1], "stranger")) {
    pthread_mutex_lock(&first);
    in_thread(unlock_it, &first);
  } else if (!strcmp(argv[1], "destroy")) {
    pthread_mutex_lock(&first);
    pthread_mutex_destroy(&first);
  } else if (!strcmp(argv[1], "order")) {
    one_way();
    other_way();
  }
  return 0;
}
"""


# One lock is held until a second thread sleeps in its wait for it, and for 20 ms more. "leave" never unlocks it.
EVERYTHING = r"""#include <pthread.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t mutex, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_rwlock_t rwlock;
static long turn;
static void nap_ms(long ms) {
  struct timespec time = {0, ms * 1000000};
  nanosleep(&time, 0);
}
static void* work(void* raw) {
  long me = (long)raw;
  for (int i = 0; i < 200; ++i) {
    pthread_mutex_lock(&mutex);
    while (turn != me) pthread_cond_wait(&condition, &mutex);
    turn = !me;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
  }
  for (int i = 0; i < 5; ++i) pthread_barrier_wait(&barrier);
  return 0;
}
int main(void) {
  pthread_mutex_init(&mutex, 0);
  pthread_spin_init(&spin, 0);
  pthread_rwlock_init(&rwlock, 0);
  pthread_barrier_init(&barrier, 0, 2);
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  pthread_rwlock_wrlock(&rwlock);
  nap_ms(10);
  pthread_rwlock_unlock(&rwlock);
  pthread_mutex_lock(&other);  // of another site, on the same condition
  nap_ms(20);
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  if (pthread_cond_timedwait(&condition, &other, &soon) != ETIMEDOUT) return 1;
  pthread_mutex_unlock(&other);
  pthread_mutex_lock(&other);
  if (pthread_mutex_timedlock(&other, &soon) != ETIMEDOUT) return 1;
  pthread_mutex_unlock(&other);
  return pthread_cond_destroy(&condition) || pthread_barrier_destroy(&barrier) || pthread_mutex_destroy(&mutex);
}
"""


HELD = r"""#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static const char* kind;
static volatile int waiter;
__attribute__((noinline)) static void hold(int first) {
  if (!strcmp(kind, "mutex")) pthread_mutex_lock(&mutex);
  else if (first || !strcmp(kind, "write")) pthread_rwlock_wrlock(&rwlock);
  else pthread_rwlock_rdlock(&rwlock);
}
static void let_go(void) {
  if (!strcmp(kind, "mutex")) pthread_mutex_unlock(&mutex);
  else pthread_rwlock_unlock(&rwlock);
}
static void* work(void* unused) {
  (void)unused;
  waiter = (int)syscall(SYS_gettid);
  hold(0);
  let_go();
  return 0;
}
static int sleeps(void) {
  char name[64], state = 0;
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", waiter);
  FILE* file = fopen(name, "r");
  if (file == 0) return 0;
  if (fscanf(file, "%*d %*s %c", &state) != 1) state = 0;
  fclose(file);
  return state == 'S';
}
int main(int argc, char** argv) {
  pthread_t thread;
  kind = argv[1];
  hold(1);
  pthread_create(&thread, 0, work, 0);
  while (waiter == 0 || !sleeps()) usleep(1000);
  usleep(20000);
  if (argc > 2 && !strcmp(argv[2], "exit")) exit(0);
  if (argc > 2 && !strcmp(argv[2], "_exit")) _exit(0);
  if (argc > 2 && !strcmp(argv[2], "kill")) raise(SIGKILL);
  if (argc > 2 && !strcmp(argv[2], "exec")) execl("/bin/true", "true", (char*)0);
  let_go();
  pthread_join(thread, 0);
  return 0;
}
"""


# Starts the program that is named last by posix_spawn(), with a word before it by posix_spawnp().
SPAWNS = r"""#include <spawn.h>
#include <sys/wait.h>
extern char** environ;
int main(int argc, char** argv) {
  pid_t child;
  char* arguments[] = {argv[argc - 1], 0};
  const int status = (argc == 2 ? posix_spawn : posix_spawnp)(&child, arguments[0], 0, 0, arguments, environ);
  return status != 0 || wait(0) != child;
}
"""


class WithPrograms(unittest.TestCase):
    """Tests that compile programs and run them under the real library."""

    @classmethod
    def setUpClass(cls):
        if not (pathlib.Path(TXSYNC).parent / "../lib/libtxsync-preload.so").exists():
            raise unittest.SkipTest("libtxsync-preload.so is not built here")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        if cls.program("nothing", "int main(void) { return 0; }") is None:
            raise unittest.SkipTest("there is no C compiler")

    @classmethod
    def program(cls, name, text, *options):
        """None where it does not compile."""
        return write_c_program(cls.folder, name, text, *options)


class RunPrograms(WithPrograms):
    """Real programs under the real library."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.counter = cls.program("counter", COUNTER)

    def run_counter(self, *arguments, status, options=(), times=20_000):
        """The run's document and table, after the program's own output has been checked."""
        file = self.folder / "r.json"
        done = call("run", "--json", str(file), *options, "--", self.counter, *arguments,
                    env={**os.environ, "TIMES": str(times)})
        self.assertEqual((done.returncode, done.stdout), (status, f"{4 * times}\n"), done.stderr)
        made = load(file.read_text())
        self.assertEqual(complaints(made), [])
        self.assertEqual(made["run"]["status"], status)
        self.assertEqual(made["points"][0]["workload"], self.counter)
        return made, done.stderr

    def sites(self, made):
        return {site["name"]: site for site in made["points"][0].get("sites", [])}

    def test_own_status_and_the_hot_site_however_the_program_ends(self):
        for arguments, status in (((), 0), (("", "5"), 5), (("_exit",), 7), (("kill",), 137), (("fork",), 0)):
            with self.subTest(arguments=arguments):
                made, table = self.run_counter(*arguments, status=status)
                names = [name for name in self.sites(made) if name == "hot in counter"]
                self.assertTrue(names, table)
                # An estimate from samples.
                total = sum(site["acquisitions"] for site in self.sites(made).values())
                self.assertTrue(60_000 < total < 100_000, total)
                self.assertIn(names[0], table)
                self.assertRegex(table, r"(?m); [12] process(es)?, locks taken by at most [1-5] threads? at a time$")
                self.assertEqual("signal" in made["run"], status == 137)

    def test_every_policy_gives_the_same_result(self):
        for policy in policies():
            with self.subTest(policy=policy):
                # Strictly fair spinning is slow beyond the cores: few rounds.
                times = 300 if policy == "fifo-ticket" else 20_000
                made, _ = self.run_counter(status=0, options=("--policy", policy), times=times)
                self.assertEqual(made["points"][0]["subject"], policy)

    def held(self, *arguments, policy="mutex", status=0):
        """What the one site of the program HELD counted, and the text on standard error."""
        program = self.program("held", HELD)
        file = self.folder / "h.json"
        done = call("run", "--json", str(file), "--policy", policy, "--", program, *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        made = load(file.read_text())
        self.assertEqual(complaints(made), [])
        sites = self.sites(made)
        self.assertEqual(len(sites), 1, done.stderr)
        return next(iter(sites.values())), done.stderr

    def test_locks_that_are_left_to_the_c_library_are_counted(self):
        total = sum(site["acquisitions"] for site in self.sites(self.run_counter(status=0, options=("--policy", "libc"))[0]).values())
        self.assertTrue(60_000 < total < 100_000, total)
        for kind in ("mutex", "read", "write"):
            with self.subTest(kind=kind):
                site, table = self.held(kind, policy="libc")
                self.assertEqual((site["acquisitions"], site["contended"]), (2, 1), table)
                self.assertGreaterEqual(site["wait_ns"], 15_000_000, table)

    def everything(self, *options):
        """The sites of the program EVERYTHING by kind, `other` apart from `mutex`."""
        program = self.program("everything", EVERYTHING)
        file = self.folder / "e.json"
        done = call("run", "--json", str(file), *options, "--", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        by_kind = {}
        for site in self.sites(load(file.read_text())).values():
            kind = "other" if site["kind"] == "mutex" and site.get("failed_waits") else site["kind"]
            by_kind[kind] = site
        return by_kind, done.stderr

    def test_everything_of_the_c_library_is_counted(self):
        sites, table = self.everything()
        self.assertIn("measured: the program's own locks\n", table)
        self.assertEqual(set(sites), {"mutex", "other", "barrier", "spinlock", "rwlock"}, table)
        for kind in ("mutex", "spinlock"):
            self.assertTrue(200 < sites[kind]["acquisitions"] < 1500, table)  # estimates of 400
        self.assertGreater(sites["mutex"]["condition_waits"], 100, table)
        self.assertEqual(sites["barrier"]["condition_waits"], 5, table)
        self.assertEqual(sites["other"]["condition_waits"], 1, table)
        self.assertEqual(sites["other"]["failed_waits"], 1, table)
        self.assertRegex(table, r"(?m)^waits that ended at a deadline: 1, \d+\.\d+ s in all, at other in everything$")
        for kind, least_ms in (("other", 20), ("rwlock", 10)):
            self.assertGreaterEqual(sites[kind]["hold_ns"], least_ms * 900_000, table)

    def test_some_locks_are_replaced_and_others_are_left(self):
        sites, _ = self.everything("--policy", "libc")
        name = sites["mutex"]["name"]
        file = self.folder / "some.toml"
        for lock in ("mutex", "ticket", "libc"):
            with self.subTest(lock=lock):
                rest = "mutex" if lock == "libc" else "libc"
                file.write_text(f'schema = 1\n[default]\nlock = "{rest}"\nrwlock = "libc"\n[site."{name}"]\nlock = "{lock}"\n')
                sites, table = self.everything("--policy", str(file))
                self.assertTrue(200 < sites["mutex"]["acquisitions"] < 1500, table)
                self.assertEqual(sites["other"]["condition_waits"], 1, table)

    def test_the_longest_wait_is_that_of_a_thread_that_still_waits_at_the_end(self):
        for policy in ("libc", "mutex"):
            for kind, end, status in (("mutex", "exit", 0), ("read", "_exit", 0), ("write", "kill", 137)):
                with self.subTest(policy=policy, end=end):
                    site, table = self.held(kind, end, policy=policy, status=status)
                    self.assertEqual((site["contended"], site["unfinished_waits"]), (0, 1), table)
                    self.assertGreaterEqual(site["max_wait_ns"], 15_000_000, table)
                    self.assertRegex(table, r"(?m)^longest wait: [0-9.]+ ms, at (mutex|rwlock) in held \(threads that waited at the end: 1\)$")
                    self.assertEqual(site["unfinished_wait_ns"], site["failed_wait_ns"], table)
                    self.assertRegex(table, r"(?m)^waits that had not ended at the end: 1, \d+\.\d+ s in all, at (mutex|rwlock) in held$")
                    self.assertNotIn("ended at a deadline", table)
            site, table = self.held("mutex", policy=policy)
            self.assertGreaterEqual(site["max_wait_ns"], 15_000_000, table)
            self.assertNotIn("unfinished_waits", site)
            # The process runs another program: the time since then is no wait.
            site, table = self.held("mutex", "exec", policy=policy)
            self.assertNotIn("max_wait_ns", site, table)

    def test_a_site_of_the_table_can_stand_in_a_policy_file(self):
        name = "hot in counter"
        self.assertIn(name, self.sites(self.run_counter(status=0)[0]))
        file = self.folder / "p.toml"
        file.write_text(f'schema = 1\n[site."{name}"]\ncounting = false\n')
        made, _ = self.run_counter(status=0, options=("--policy", str(file)))
        self.assertNotIn(name, self.sites(made))

    def test_classes_that_wrap_locks_do_not_collapse_into_one_site(self):
        for level in ("-O0", "-O2"):
            source = self.folder / "wrapped.cpp"
            source.write_text(WRAPPED)
            program = str(source.with_suffix(""))
            try:
                subprocess.run(["c++", "-g", level, "-pthread", str(source), "-o", program], check=True)
            except FileNotFoundError:
                self.skipTest("there is no C++ compiler")
            names = []
            for _ in range(2):
                file = self.folder / "w.json"
                done = call("run", "--json", str(file), "--", program)
                self.assertEqual((done.returncode, done.stdout), (0, "30000\n"), done.stderr)
                names.append(sorted(self.sites(load(file.read_text()))))
            self.assertEqual(names[0], names[1], "the same from run to run")
            for begin in ("shop::orders::orders@wrapped.cpp:", "shop::bills::bills@wrapped.cpp:",
                          "shop::standard in wrapped"):
                self.assertTrue(any(name.startswith(begin) for name in names[0]), (level, names[0]))

    def test_condition_waits_stand_apart(self):
        made, table = self.run_counter(status=0)
        if any("condition_waits" in site for site in self.sites(made).values()):
            self.assertIn("waits on conditions (not for locks)", table)

    def test_a_double_unlock_is_noticed(self):
        made, table = self.run_counter("unlock", status=0)
        self.assertTrue(any("main@counter.c:" in notice for notice in made["run"].get("notices", [])), table)

    def test_misuse_is_noticed_with_its_caller(self):
        program = self.program("misuse", MISUSE)
        for how, says, caller in (("stranger", "by a thread that did not hold it", "unlock_it@misuse.c:"),
                                  ("destroy", "was destroyed or initialised again", "main@misuse.c:"),
                                  ("order", "and elsewhere in the other order", "other_way@misuse.c:")):
            with self.subTest(how=how):
                done = call("run", "--check-order", "--", program, how)
                self.assertEqual(done.returncode, 0, done.stderr)
                notices = [line for line in done.stderr.splitlines() if line.startswith("notice: ")]
                self.assertTrue(any(says in line and caller in line for line in notices), done.stderr)

    def test_programs_without_a_dynamic_linker_and_with_more_rights(self):
        static = self.program("static", "int main(void) { return 0; }", "-static")
        if static is not None:
            done = call("run", "--", static)
            self.assertEqual(done.returncode, 126)
            self.assertIn("is a static program", done.stderr)
        os.chmod(self.counter, 0o4755)
        done = call("run", "--", self.counter)
        os.chmod(self.counter, 0o755)
        self.assertEqual(done.returncode, 126)
        self.assertIn("is set-user-ID", done.stderr)

    def test_programs_within_that_cannot_load_the_library_are_named(self):
        static = self.program("static_within", "int main(void) { return 0; }", "-static")
        if static is None:
            self.skipTest("no static C library")
        spawns = self.program("spawns", SPAWNS)
        by_python = "import subprocess, sys; subprocess.run(sys.argv[1:])"
        for command in (("sh", "-c", static + "; true"), ("sh", "-c", static), ("sh", "-c", f"cd {self.folder} && ./static_within; true"),
                        ("env", "env", static), ("env", "env", "-C", str(self.folder), "./static_within"), ("sh", "-c", f"PATH=$PATH:{self.folder}; static_within"),
                        ("sh", "-c", f"for i in 1 2 3; do {static}; done"), (sys.executable, "-c", by_python, static), (spawns, static), (spawns, "p", static)):
            with self.subTest(command=command):
                done = call("run", "--", *command)
                self.assertEqual(done.returncode, 0, done.stderr)
                remarks = [line for line in done.stderr.splitlines() if "could not load libtxsync-preload.so" in line]
                self.assertEqual(len(remarks), 1, done.stderr)
                self.assertRegex(remarks[0], rf"^remark: a program that the program started .*: {self.folder}/(\./)?static_within is a static program: ")
        foreign = self.program("foreign", "int main(void) { return 0; }", "-Wl,--dynamic-linker=/nowhere/ld-musl-x86_64.so.1")
        done = call("run", "--", "sh", "-c", foreign)
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertRegex(done.stderr, rf"(?m)^remark: a program .*: {foreign} uses another C library \(/nowhere/ld-musl-x86_64\.so\.1\)")

    def test_nothing_is_said_of_programs_within_that_load_the_library(self):
        script = self.folder / "script"
        script.write_text("#!/bin/sh\nls / > /dev/null\n/nowhere/program\nsh -c true\n")
        script.chmod(0o755)
        rights = self.folder / "rights"
        shutil.copy("/bin/true", rights)
        if os.geteuid() == 0:  # to root the bit gives nothing, and the library is loaded
            rights.chmod(0o4755)
        done = call("run", "--", "sh", "-c", f"{script}; {rights}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("could not load", done.stderr)
        if os.geteuid() == 0:
            os.chown(rights, 65534, -1)
            rights.chmod(0o4755)
            self.assertRegex(call("run", "--", "sh", "-c", f"{rights}; true").stderr, rf"(?m)^remark: a program .*: {rights} is set-user-ID: ")

    def test_sanitizers_run_with_their_library_first_and_are_refused_without(self):
        for name in ("thread", "address"):
            with self.subTest(name=name):
                program = self.program(name, COUNTER, "-fsanitize=" + name)
                if program is None:
                    self.skipTest("the compiler has no sanitizers")
                environment = {**os.environ, "TIMES": "200"}
                environment.pop("LD_PRELOAD", None)
                done = call("run", "--", program, env=environment)
                self.assertEqual(done.returncode, 126, done.stderr)
                self.assertRegex(done.stderr, "is built with a sanitizer; .*: LD_PRELOAD=lib[at]san.so[.0-9]* txsync run")
                library = done.stderr.split("LD_PRELOAD=")[1].split()[0]
                done = call("run", "--limit", "50", "--", program, env={**environment, "LD_PRELOAD": library})
                self.assertEqual((done.returncode, done.stdout), (0, "800\n"), done.stderr)
                self.assertNotIn("WARNING", done.stderr)
                self.assertRegex(done.stderr, rf"(?m) hot in {name}$")

    def test_a_limit(self):
        done = call("run", "--limit", "0.3", "--", "sleep", "50")
        self.assertEqual(done.returncode, 143)
        self.assertIn("ended after 0.3 s (--limit)", done.stderr)

    def test_ctrl_c_at_a_terminal_reaches_the_program_once(self):
        script = "n=0; trap 'n=$((n + 1))' INT; echo ready; for i in 1 2 3 4 5; do sleep 0.2; done; echo got $n; exit 4"
        process, terminal = pty.fork()
        if process == 0:
            os.execv(TXSYNC, [TXSYNC, "run", "--", "sh", "-c", script])
        text = b""
        while b"ready" not in text:
            text += os.read(terminal, 1000)
        time.sleep(0.1)
        os.write(terminal, b"\x03")
        try:
            while part := os.read(terminal, 1000):
                text += part
        except OSError:
            pass  # the terminal's other end is gone
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 4, text)
        self.assertIn(b"got 1", text)
        self.assertIn(b"exit status 4", text)

    def test_ctrl_c_is_the_programs_and_the_table_comes_all_the_same(self):
        running = subprocess.Popen([TXSYNC, "run", "--", "sh", "-c", "trap 'exit 9' INT; echo ready; while :; do sleep 0.1; done"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(running.stdout.readline(), "ready\n")
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 9)
        self.assertIn("exit status 9", errors)


if __name__ == "__main__":
    TXSYNC = sys.argv.pop(1)
    unittest.main()
