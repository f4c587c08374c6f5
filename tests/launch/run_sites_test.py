#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_sites_test.py TXSYNC: how `txsync run` finds and names the sites of real programs, and what that costs."""

import os
import platform
import resource
import shutil
import sys
import unittest

import run_programs_test as programs
from result_schema import complaints, load
from run_programs_test import call


STATICS = r"""#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t queue_lock;
static pthread_mutex_t lock, rows[400];
static struct { long count; pthread_mutex_t lock; char more[50]; } engine;
static pthread_rwlock_t table;
pthread_mutex_t* other_lock(void);
static void use(pthread_mutex_t* mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}
static void* first(void* unused) { use(&queue_lock); return unused; }
static void* second(void* unused) { use(&queue_lock); return unused; }
int main(int argc, char** argv) {
  pthread_t threads[2];
  pthread_rwlock_init(&table, 0);
  pthread_rwlock_rdlock(&table);
  pthread_rwlock_unlock(&table);
  use(&lock);
  use(other_lock());
  use(&engine.lock);
  const int turned = argc > 1 && argv[1][0] == 't';
  pthread_create(&threads[0], 0, turned ? second : first, 0);
  if (turned) pthread_join(threads[0], 0);
  pthread_create(&threads[1], 0, turned ? first : second, 0);
  if (!turned) pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  for (int i = 0; i < 400 && argc < 3; ++i) use(&rows[i]);
  return argv == 0;
}
"""

# A mutex that is made by one function, in as many chains of calls as are asked for.
CHAINS = r"""#include <pthread.h>
#include <stdlib.h>
static volatile long sink;
static void go(unsigned number, int depth);
__attribute__((noinline)) static void make(void) {
  pthread_mutex_t* mutex = malloc(sizeof *mutex);
  pthread_mutex_init(mutex, 0);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}
#define WAY(n) __attribute__((noinline)) static void way##n(unsigned number, int depth) { go(number, depth); sink = n; }
WAY(0) WAY(1) WAY(2) WAY(3)
static void go(unsigned number, int depth) {
  static void (*const ways[])(unsigned, int) = {way0, way1, way2, way3};
  if (depth == 0) make();
  else ways[number & 3](number >> 2, depth - 1);
  sink = 4;
}
int main(int argc, char** argv) {
  for (int i = 0; i < atoi(argv[argc - 1]); ++i) go((unsigned)i, 9);
}
"""

# Two functions whose locks one wrapper makes, in a frame whose size varies.
VARYING = r"""#include <alloca.h>
#include <pthread.h>
#include <string.h>
static volatile long sink;
__attribute__((noinline)) static void my_mutex_init_all(pthread_mutex_t* mutex, unsigned size) {
  char* room = alloca(size);
  memset(room, 0, size);
  pthread_mutex_init(mutex, 0);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  sink = room[size / 2];
}
__attribute__((noinline)) static void seldom(unsigned size) {
  pthread_mutex_t mutex;
  my_mutex_init_all(&mutex, size);
  pthread_mutex_destroy(&mutex);
  sink = 1;
}
__attribute__((noinline)) static void often(unsigned size) {
  pthread_mutex_t mutex;
  my_mutex_init_all(&mutex, size);
  pthread_mutex_destroy(&mutex);
  sink = 2;
}
static void* work(void* unused) {
  for (unsigned i = 0; i < 8000; ++i) (i % 4 == 0 ? seldom : often)(16 + i * 48 % 960);
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
"""

SHORT_LIVES = r"""#include <pthread.h>
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) static void live(void) {
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, 0);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_destroy(&mutex);
}
int main(void) {
  enum { times = 300000 };
  struct timespec used;
  for (int i = 0; i < times; ++i) live();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  printf("%.0f\n", (used.tv_sec * 1e9 + used.tv_nsec) / times);
}
"""

# Two functions, one of which makes mutexes and one takes them first, wherever they lie.
ANYWHERE = r"""#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t made_here, taken_here;
__attribute__((noinline)) static void make(pthread_mutex_t* mutex) {
  pthread_mutex_init(mutex, 0);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  pthread_mutex_destroy(mutex);
}
__attribute__((noinline)) static void take(pthread_mutex_t* mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}
static void* everywhere(void* unused) {
  for (int i = 0; i < 50; ++i) {
    const pthread_mutex_t initial = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t made, taken = initial;
    pthread_mutex_t* const mutex = calloc(2, sizeof *mutex);
    make(&made);
    take(&taken);
    make(mutex);
    take(mutex + 1);
    free(mutex);
  }
  return unused;
}
int main(void) {
  pthread_t thread;
  everywhere(0);
  pthread_create(&thread, 0, everywhere, 0);
  pthread_join(thread, 0);
  for (int i = 0; i < 50; ++i) make(&made_here);
  for (int i = 0; i < 50; ++i) take(&taken_here);
}
"""

ONE_WAIT = r"""#include <pthread.h>
#include <unistd.h>
static void* hold(void* mutex) {
  pthread_mutex_lock(mutex);
  usleep(50000);
  pthread_mutex_unlock(mutex);
  return 0;
}
int main(void) {
  pthread_mutex_t mutex;
  pthread_t thread;
  pthread_mutex_init(&mutex, 0);
  pthread_create(&thread, 0, hold, &mutex);
  usleep(10000);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
}
"""


def sites_of(document):
    return {site["name"]: site for site in document["points"][0].get("sites", [])}


class RunSites(programs.WithPrograms):
    """Programs whose sites are known."""

    def statics(self, name, *options, argument=()):
        """The sites of a program of two files, linked with the options."""
        other = self.folder / "other.c"
        other.write_text("#include <pthread.h>\nstatic pthread_mutex_t lock;\npthread_mutex_t* other_lock(void) { return &lock; }\n")
        program = self.program(name, STATICS, str(other), *options)
        file = self.folder / "s.json"
        done = call("run", "--json", str(file), "--", program, *argument)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sites_of(load(file.read_text()))

    def test_locks_in_static_storage_are_named_by_their_symbols(self):
        names = {"queue_lock in statics", "lock (statics.c) in statics", "lock (other.c) in statics", "rows in statics",
                 "table in statics"}
        for options in ((), ("-g0",), ("-no-pie",)):
            sites = self.statics("statics", *options)
            self.assertEqual({name for name in sites if not name.startswith("engine+0x")}, names)
            self.assertEqual(len(sites), 6, sites)
            self.assertGreater(sites["rows in statics"]["acquisitions"], 300)
            # Whoever is first.
            self.assertEqual(set(self.statics("statics", *options, argument=("turned",))), set(sites))
        stripped = set(self.statics("stripped", "-s", argument=("first", "few")))
        self.assertEqual(len(stripped), 5, stripped)
        self.assertTrue(all(name.startswith("stripped+0x") for name in stripped), stripped)
        self.assertEqual(stripped, set(self.statics("stripped", "-s", argument=("turned", "few"))))
        # A table of locks does not use up the sites.
        many = self.statics("stripped", "-s")
        self.assertIn("stripped (static objects without symbols)", many)
        self.assertLess(len(many), 260)

    def test_a_site_without_a_line_says_what_is_missing(self):
        for options, is_told in (("-g0",), True), (("-g",), False):
            done = call("run", "--", self.program("one_wait", ONE_WAIT, *options))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("has no source line: one_wait has no debug information here. Build it with -g" in done.stderr,
                             is_told, done.stderr)

    def test_a_place_is_one_whatever_calls_it(self):
        file = self.folder / "c.json"
        program = self.program("chains", CHAINS)
        done = call("run", "--json", str(file), "--", program, "40000")
        self.assertEqual(done.returncode, 0, done.stderr)
        sites = sites_of(load(file.read_text()))
        self.assertEqual(len(sites), 1, done.stderr)
        name, site = next(iter(sites.items()))
        self.assertTrue(name.startswith("make@chains.c:"), name)
        self.assertGreater(site["acquisitions"], 37_000)

    def test_where_a_mutex_lies_decides_before_who_made_it(self):
        file = self.folder / "a.json"
        program = self.program("anywhere", ANYWHERE)
        for options in ((), ("--policy", "mutex"), ("--policy", "ticket")):
            done = call("run", *options, "--json", str(file), "--", program)
            self.assertEqual(done.returncode, 0, done.stderr)
            sites = sites_of(load(file.read_text()))
            seen = {name.partition("@")[0]: site["acquisitions"] for name, site in sites.items()}
            self.assertEqual(set(seen), {"make", "take", "made_here in anywhere", "taken_here in anywhere"}, options)
            # Estimated from samples, of which the first are all.
            for name, taken in seen.items():
                right = 50 if "in anywhere" in name else 200
                self.assertTrue(right / 2 < taken < right * 2, (options, seen))

    @unittest.skipUnless(platform.machine() == "x86_64", "call chains are unwound each time elsewhere")
    def test_locks_of_short_life_are_cheap(self):
        program = self.program("short_lives", SHORT_LIVES)
        done = call("run", "--", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Some 40 ns, 410 by a library that is not optimized, and 1000 where each call chain is unwound.
        self.assertLess(float(done.stdout), 700)

    def test_callers_of_one_wrapper_stay_apart(self):
        file = self.folder / "v.json"
        for options in (("-O0",), ("-O2",), ("-O2", "-fno-omit-frame-pointer")):
            program = self.program("varying", VARYING.replace("_init_all", "_init"), *options)
            done = call("run", "--json", str(file), "--", program)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = {name.partition("@")[0]: site["acquisitions"] for name, site in sites_of(load(file.read_text())).items()}
            self.assertEqual(set(seen), {"seldom", "often"}, done.stderr)
            self.assertTrue(3_000 < seen["seldom"] < 5_000 and 10_500 < seen["often"] < 13_500, (options, seen))

    def test_locks_beyond_what_a_process_remembers_are_told(self):
        library = os.environ.get("PRELOAD_OF_FEW_PLACES")
        if library is None:
            self.skipTest("there is no library with little room")
        text = "#include <pthread.h>\n" + "".join(f"static pthread_mutex_t m{i};\n" for i in range(100)) + "int main(void) {\n"
        text += "".join(f"  pthread_mutex_lock(&m{i}); pthread_mutex_unlock(&m{i});\n" for i in range(100)) + "}\n"
        done = call("run", "--preload", library, "--", self.program("hundred", text))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("remark: 36 locks were not counted and had the default policy", done.stderr)

    def test_naming_the_places_of_a_big_unit(self):
        count = 20_000 if programs.FULL else 5000
        text = "#include <pthread.h>\n#include <stdlib.h>\n"
        for i in range(count):
            text += (f"static void f{i}(void) {{ pthread_mutex_t* m = calloc(1, sizeof *m);\n"
                     "  pthread_mutex_lock(m); pthread_mutex_unlock(m); }\n")
        text += "int main(void) {\n" + "".join(f"  f{i}();\n" for i in range(count)) + "}\n"
        program = self.program("big_unit", text, "-O0")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = call("run", "--", program)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{count - 4095} places beyond the first 4095 sites were not counted", done.stderr)
        # Seconds; where the cost of naming grew with the square of their number: 120 for 20,000.
        self.assertLess(after.ru_utime - before.ru_utime, count / 2000, done.stderr)

    def test_sites_of_several_programs_are_told_apart(self):
        held = self.program("held", programs.HELD)
        server, client = (shutil.copy(held, self.folder / name) for name in ("server", "client"))
        file = self.folder / "several.json"
        run = lambda script: call("run", "--json", str(file), "--", "sh", "-c", script).stderr
        table = run(f"{server} mutex & {client} mutex; wait")
        document = load(file.read_text())
        self.assertEqual(complaints(document), [])
        sites = {site["name"]: site["programs"] for site in document["points"][0]["sites"]}
        self.assertEqual(sites, {"mutex in server": ["server"], "mutex in client": ["client"]})
        self.assertRegex(table, r"(?m)^program +acquisitions ")
        for name in ("server", "client"):
            # Of all waiting of the program's own locks.
            self.assertRegex(table, rf"(?m)^{name} +2 +50\.00 +0\.\d+ +100\.0 .* mutex in {name}$")
        self.assertRegex(table, r"(?m)^longest wait: .* at mutex in (server|client) \((server|client)\)$")
        page = self.folder / "several.html"
        self.assertEqual(call("report", str(file), "-o", str(page)).returncode, 0)
        self.assertIn("locks of server<", page.read_text())

        # Two of one program, and one that is kept out.
        table = run(f"{server} mutex & {server} mutex & env -u LD_PRELOAD {client} mutex; wait")
        self.assertNotRegex(table, r"(?m)^program |client")
        self.assertRegex(table, r"(?m)^longest wait: .* at mutex in server$")

    def test_names_cannot_steer_a_terminal(self):
        text = "#include <pthread.h>\n#include <stdlib.h>\n#line 3 \"a\\033[31mb.c\"\nint main(void) {\n" \
               "  pthread_mutex_t* m = calloc(1, sizeof *m);\n  pthread_mutex_lock(m);\n  return pthread_mutex_unlock(m); }\n"
        program = self.program("colour\x1b[31m", text)
        for arguments in ((program,), (program + "\x1b[32m",)):
            done = call("run", "--", *arguments)
            self.assertNotIn("\x1b", done.stderr)
            self.assertIn(r"\x1b[31m", done.stderr)
        self.assertRegex(call("run", "--", program).stderr, r"main@a\\x1b\[31mb\.c:\d+\n")

    def test_barriers_are_no_locks_and_percentiles_are_rounded(self):
        text = r"""#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t meeting;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static void* come(void* unused) { pthread_barrier_wait(&meeting); return unused; }
int main(void) {
  pthread_t other;
  pthread_barrier_init(&meeting, 0, 2);
  pthread_create(&other, 0, come, 0);
  for (int i = 0; i < 5; ++i) { pthread_mutex_lock(&held); usleep(5000 + 100 * i); pthread_mutex_unlock(&held); }
  pthread_barrier_wait(&meeting);
  return pthread_join(other, 0);
}
"""
        done = call("run", "--", self.program("meets", text))
        locks, conditions = done.stderr.split("waits on conditions and at barriers (not for locks)")
        self.assertNotIn("meeting in meets", locks)
        self.assertIn("  barrier meeting in meets\n", conditions)
        row = next(line for line in locks.splitlines() if line.endswith("held in meets")).split()
        for percentile in row[7:9]:
            self.assertRegex(percentile, r"^[0-9]{2}0*$", locks)


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    unittest.main()
