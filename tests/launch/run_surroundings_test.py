#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_surroundings_test.py TXSYNC: programs under `txsync run` that outlive it, change their user, lock their memory, or are started
with limits, signals and namespaces of their own."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import run_programs_test as programs
from result_schema import load

NOBODY = "65534"

# As a daemon starts: the parent ends, the child takes its first lock when the launcher has had time to end, too.
DAEMON = r"""#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char** argv) {
  struct timespec begin, end;
  (void)argc;
  if (fork() != 0) return 0;
  for (int i = 0; i < 3; ++i) close(i);
  usleep(300000);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_mutex_lock(&first);
  clock_gettime(CLOCK_MONOTONIC, &end);
  pthread_mutex_unlock(&first);
  FILE* file = fopen(argv[1], "w");
  fprintf(file, "%.4f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
  fclose(file);
  return 0;
}
"""

# Prints the kilobytes that it has locked in memory after two threads have taken locks; -1: it may not lock memory.
MEMORY = r"""#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* unused) {
  for (int i = 0; i < 100; ++i) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
  return unused;
}
int main(void) {
  pthread_t threads[2];
  long locked = -1;
  char line[256];
  if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0) locked = 0;
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  FILE* file = fopen("/proc/self/status", "r");
  while (locked >= 0 && fgets(line, sizeof line, file) != 0) sscanf(line, "VmLck: %ld", &locked);
  printf("%ld\n", locked);
  return 0;
}
"""

# A library that makes one mutex and takes another before the constructors of preloaded libraries run.
EARLY_LIBRARY = r"""#include <pthread.h>
static pthread_mutex_t made, taken = PTHREAD_MUTEX_INITIALIZER;
long count;
__attribute__((constructor)) static void set_up(void) {
  pthread_mutex_init(&made, 0);
  pthread_mutex_lock(&taken);
  pthread_mutex_unlock(&taken);
}
void add(void) {
  pthread_mutex_lock(&made);
  pthread_mutex_lock(&taken);
  ++count;
  pthread_mutex_unlock(&taken);
  pthread_mutex_unlock(&made);
}
"""
EARLY = "void add(void); int main(void) { for (int i = 0; i < 1000; ++i) add(); return 0; }"

# Prints what the preloaded library made of a mutex (the bytes behind its kind), and what it cost to find that out.
DECIDED = r"""#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
  unsigned short tag;
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  memcpy(&tag, (char*)&lock + 22, sizeof tag);
  printf("%d\n", tag >> 12);
  return 0;
}
"""

CHILDREN = r"""#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char** argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 8;
  for (int i = 0; i < children; ++i) {
    if (fork() == 0) {
      for (int k = 0; k < 10; ++k) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
      _exit(0);
    }
    wait(0);
  }
  return 0;
}
"""


def channel_folders(process):
    """Of a launcher."""
    return sorted(pathlib.Path("/dev/shm").glob(f"txsync-{process}-*"))


class Surroundings(programs.WithPrograms):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chmod(cls.folder, 0o755)
        cls.program("counter", programs.COUNTER)

    def counted(self, *command, options=(), **settings):
        """The sites by their names, and what was written to the standard error."""
        file = self.folder / "r.json"
        done = programs.call("run", "--json", str(file), *options, "--", *command, **settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {site["name"]: site for site in load(file.read_text())["points"][0].get("sites", [])}, done.stderr

    def as_nobody(self, *command):
        plain = [shutil.which("setpriv") or "", f"--reuid={NOBODY}", "--clear-groups", *command]
        if os.geteuid() != 0 or not plain[0]:
            self.skipTest("needs root and setpriv")
        return plain

    def test_a_daemon_goes_on_at_once_when_the_launcher_has_ended(self):
        told = self.folder / "daemon.txt"
        done = programs.call("run", "--", self.program("daemon", DAEMON), str(told))
        self.assertEqual(done.returncode, 0, done.stderr)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (told.exists() and told.read_text().endswith("\n")):
            time.sleep(0.01)
        self.assertLess(float(told.read_text()), 1)

    def test_memory_that_a_program_locks(self):
        memory = self.program("memory", MEMORY)
        plain = int(subprocess.run([memory], capture_output=True, text=True, check=True).stdout)
        if plain < 0:
            self.skipTest("may not lock memory")
        done = programs.call("run", "--", memory)
        self.assertLess(int(done.stdout) - plain, 64 * 1024, "kilobytes")
        self.assertIn("locks taken by at most", done.stderr)

    def test_locks_of_constructors_that_run_before_the_librarys_own(self):
        library = self.program("libearly.so", EARLY_LIBRARY, "-shared", "-fPIC")
        early = self.program("early", EARLY, "-Wl,--no-as-needed", library, f"-Wl,-rpath,{self.folder}")
        sites, table = self.counted(early, options=("--policy", "ticket"))
        total = sum(site["acquisitions"] for name, site in sites.items() if name in ("made in libearly.so", "taken in libearly.so"))
        self.assertTrue(1500 < total < 2600, table)

    def test_a_program_that_becomes_another_user_keeps_policy_and_counts(self):
        decided = self.program("decided", DECIDED)
        command = self.as_nobody(decided)
        for policy in ("libc", "ticket"):
            with self.subTest(policy=policy):
                plain = programs.call("run", "--policy", policy, "--", decided).stdout
                self.assertEqual(programs.call("run", "--policy", policy, "--", *command).stdout, plain)
                sites, table = self.counted(*command, options=("--policy", policy))
                self.assertIn("lock in decided", sites, table)

    def test_strangers_do_not_find_the_channel(self):
        script = 'folder=$(dirname "$TXSYNC_CHANNEL"); ' + " ".join(self.as_nobody("ls", '"$folder"'))
        done = programs.call("run", "--", "sh", "-c", script)
        self.assertIn("Permission denied", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_a_process_that_cannot_open_the_channel_has_the_policy_all_the_same(self):
        decided = self.program("decided", DECIDED)
        for policy in ("libc", "ticket"):
            plain = programs.call("run", "--policy", policy, "--", decided).stdout
            lost = programs.call("run", "--policy", policy, "--", "env", "TXSYNC_CHANNEL=/nowhere/channel", decided)
            self.assertEqual((lost.stdout, "cannot open" in lost.stderr), (plain, False))
        folder = programs.call("run", "--", "env", f"TXSYNC_CHANNEL={self.folder}", decided)
        self.assertIn("cannot open the file of its launcher", folder.stderr)

    def test_signals_are_as_the_caller_has_them(self):
        def set_up():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR2, signal.SIGTERM})

        look = ["grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"]
        for name, before in (("usual", None), ("changed", set_up)):
            with self.subTest(signals=name):
                plain = subprocess.run(look, capture_output=True, text=True, preexec_fn=before).stdout
                done = programs.call("run", "--", *look, preexec_fn=before)
                self.assertEqual((done.returncode, done.stdout), (0, plain), done.stderr)

    def test_processes_one_after_another_count_in_one_block(self):
        children = 1200 if programs.FULL else 8  # there are 1,024 blocks
        sites, table = self.counted(self.program("children", CHILDREN), str(children))
        self.assertEqual([site["acquisitions"] for site in sites.values()], [10 * children], table)
        self.assertRegex(table, rf"(?m) {children + 1} processes, locks taken by at most 1 thread at a time$")

    def test_a_limit_of_file_sizes(self):
        run = ("run", "--", self.program("children", CHILDREN))
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        done = programs.call(*run, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, most)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("locks taken by at most 1 thread", done.stderr)
        done = programs.call(*run, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)))
        if done.returncode != 0:  # who may raise limits is not stopped by one
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"^txsync run: [^\n]*File too large[^\n]*ulimit -f[^\n]*\n$")

    def test_what_a_killed_launcher_has_left_is_removed_by_a_later_one(self):
        killed, living = [subprocess.Popen([programs.TXSYNC, "run", "--", "sh", "-c", "echo $$; exec sleep 50"],
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(2)]
        children = [int(one.stdout.readline()) for one in (killed, living)]
        killed.kill()
        killed.wait()
        for process in (killed.pid, living.pid):
            for folder in channel_folders(process):
                os.utime(folder, (1, 1))  # old enough
        self.assertEqual(len(channel_folders(killed.pid)), 1)
        # A folder of the user's own, called much the same, is not touched.
        own = pathlib.Path(f"/dev/shm/txsync-{killed.pid}-abcdef")
        own.mkdir()
        self.addCleanup(shutil.rmtree, own)
        (own / "results").write_text("mine")
        os.utime(own, (1, 1))
        self.assertEqual(programs.call("run", "--", "true").returncode, 0)
        self.assertTrue((own / "results").exists())
        left = ([one for one in channel_folders(killed.pid) if one != own], len(channel_folders(living.pid)))
        for child in children:
            os.kill(child, signal.SIGKILL)
        living.communicate()
        killed.stdout.close()
        self.assertEqual(left, ([], 1))
        self.assertEqual(channel_folders(living.pid), [])

    def test_the_dynamic_linker_as_the_program(self):
        linker = re.search(r"interpreter (\S+?)[],]", subprocess.run(["file", "-L", sys.executable], capture_output=True, text=True).stdout
                           if shutil.which("file") else "")
        path = linker.group(1) if linker else "/lib64/ld-linux-x86-64.so.2"
        if not pathlib.Path(path).exists():
            self.skipTest("the dynamic linker is elsewhere")
        sites, table = self.counted(path, str(self.folder / "counter"), env={**os.environ, "TIMES": "100"})
        self.assertIn("hot in counter", sites, table)

    def test_sites_in_another_pid_namespace_have_their_own_names(self):
        command = ["unshare", "--pid", "--fork", str(self.folder / "counter")]
        settings = {"env": {**os.environ, "TIMES": "100"}}
        try:
            subprocess.run(command, capture_output=True, check=True, **settings)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("no PID namespaces here")
        sites, table = self.counted(*command, **settings)
        self.assertIn("hot in counter", sites, table)
        self.assertFalse(any("unshare" in name for name in sites), table)


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    unittest.main()
