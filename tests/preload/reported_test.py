#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""reported_test.py TXSYNC PROGRAM PLUGIN PLUGIN: what public bug reports found in libraries that take the place of the C
library's locks. Each case answers the same without txsync and under each policy that `txsync list policies` names."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from skips import leave

TXSYNC, PROGRAM, PLUGINS = "", "", []


# The policies of `txsync list policies` in the words of a policy file.
IN_FILES = {"libc": 'lock = "libc"\nrwlock = "libc"\nspinlock = "libc"', "mutex": 'lock = "mutex"', "spin": 'lock = "spin"',
            "tatas": 'lock = "tatas"', "ticket": 'lock = "ticket"', "fifo-ticket": 'lock = "fifo-ticket"',
            "as-mutex": 'rwlock = "as-mutex"', "warm": 'lock = "ticket"\nwarm_up = "standard"', "elide": 'elision = "standard"'}


def policies():
    listed = subprocess.run([TXSYNC, "list", "policies"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


def run(*case, options=(), limit=30):
    return subprocess.run([TXSYNC, "run", "--limit", str(limit), *options, "--", PROGRAM, *map(str, case)],
                          capture_output=True, text=True, timeout=100)


class Reported(unittest.TestCase):
    def answers(self, answer, *case, otherwise=None, plain=None, libc_may_hang=False):
        """`otherwise`, `plain`: the words that are another case's under a policy, and without txsync. `libc_may_hang`: on
        a busy machine the C library's own locks may wait for ever in this case, so a run with them may be repeated."""
        plain = subprocess.run([PROGRAM, *map(str, plain or case)], capture_output=True, text=True, timeout=60)
        self.assertEqual((plain.returncode, plain.stdout), (0, answer + "\n"), plain.stderr)
        for options in [(), *(("--policy", name) for name in policies())]:
            with self.subTest(options=options):
                words = (otherwise or {}).get(options[-1:], case)
                done = run(*words, options=options)
                if libc_may_hang and options in ((), ("--policy", "libc")) and "ended after" in done.stderr:
                    done = run(*words, options=options)
                self.assertEqual((done.returncode, done.stdout), (0, answer + "\n"), done.stderr)

    def test_the_lowest_frame_of_a_coroutine_leads_nowhere(self):
        self.answers("done", "coroutine", 1)
        with tempfile.TemporaryDirectory() as folder:
            chains = pathlib.Path(folder) / "chains"
            for options in ((), ("--policy", "mutex")):
                for _ in range(10):  # on a busy machine the coroutine may not have to wait for long enough
                    done = run("coroutine", 1, options=(*options, "--folded", str(chains)))
                    self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
                    if "run_coroutine" in chains.read_text():
                        break
                self.assertRegex(chains.read_text(), r"(?m)^(.*;)?run_coroutine;contend;pthread_mutex_lock ")

    def test_coroutines_are_tuned(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            for seconds in ("1", "20"):  # a run may take longer than the first on a busy machine
                done = subprocess.run([TXSYNC, "tune", "--rounds", "6", "--time", seconds, "--candidates", "mutex,ticket", "--json", str(file),
                                       "--", PROGRAM, "coroutine", "1"], capture_output=True, text=True, timeout=100)
                if "it took too long" not in done.stderr:
                    break
            self.assertEqual(done.returncode, 0, done.stderr)
            table = json.loads(file.read_text())["tune"]["table"]
            tried = [row for row in table if row["phase"] == "whole program"]
            self.assertEqual([row["candidate"] for row in tried], ["unmodified", "mutex", "ticket"])
            self.assertEqual([row for row in table if "failed" in row["status"]], [])

    @unittest.skipUnless(os.uname().machine == "x86_64", "its coroutine is for x86-64")
    def test_the_waiters_of_a_coroutine_are_shown_while_it_runs(self):
        for words in ((), (TXSYNC, "run", "--"), (TXSYNC, "run", "--policy", "mutex", "--")):
            with self.subTest(words=words), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "top.json"
                with subprocess.Popen([*words, PROGRAM, "coroutine", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True) as one:
                    try:
                        self.assertEqual(one.stdout.readline(), "ready\n")
                        found = one.pid
                        for look in ((), ("--threads",)) if words else ((),):
                            for _ in range(20):  # it may not wait yet
                                done = subprocess.run([TXSYNC, "top", "--once", "--json", str(file), *look, str(found)],
                                                      capture_output=True, text=True, timeout=60)
                                self.assertEqual(done.returncode, 0, done.stderr)
                                if "run_coroutine" in file.read_text():
                                    break
                            self.assertIn("run_coroutine", file.read_text())
                            found = json.loads(file.read_text())["top"]["process"]
                    finally:
                        out, _ = one.communicate("x", timeout=60)
                    self.assertEqual((one.returncode, out), (0, "done\n"))

    def test_where_nothing_is_counted_and_no_site_differs_nothing_is_unwound_or_looked_up(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "uncounted.toml"
            for lock in ("libc", "mutex", "ticket"):
                default = f'schema = 1\n[default]\nlock = "{lock}"\ncounting = '
                for text, seen in ((default + "false\n", "none"), (default + "true\n", "some"),
                                   (default + 'false\n[site."another"]\nlock = "tatas"\n', "some")):
                    with self.subTest(text=text):
                        file.write_text(text)
                        done = run("lookups", 3, options=("--policy", str(file)))
                        self.assertEqual((done.returncode, done.stdout), (0, seen + "\n"), done.stderr)
                        done = run("coroutine", 1, options=("--policy", str(file)))
                        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)

    def test_programs_share_a_condition_without_the_attribute(self):
        self.answers("all taken", "condition_alone", 40)

    def test_processes_share_a_condition_and_its_mutex_without_the_attribute(self):
        # The end of a wait locks the mutex, and a sleeper of another process is not woken without the attribute.
        self.answers("all taken", "condition_and_mutex", 40, libc_may_hang=True)

    def test_threads_of_two_processes_wait_on_a_condition_without_the_attribute_and_are_told(self):
        self.answers("both waited", "condition_of_two", 2)
        for name in policies():
            done = run("condition_of_two", 2, options=("--policy", name))
            told = re.findall(r"(?m)^notice: threads of two processes waited for a condition [^\n]*, by wait_beside@", done.stderr)
            # The C library's condition is its own affair.
            self.assertEqual(len(told), 0 if name == "libc" else 1, done.stderr)

    def test_processes_share_locks_without_the_attribute(self):
        for threads in (0, 1):
            self.answers("ended, lost 0", "shared_owner", threads)

    def test_programs_share_locks_without_the_attribute(self):
        for threads in (0, 1):
            self.answers("ended, lost 0", "shared_by_programs", threads)

    def test_programs_share_locks_at_sites_with_policies_that_only_one_of_them_has_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            file, result = pathlib.Path(folder) / "p.toml", pathlib.Path(folder) / "result.json"
            done = run("shared_by_programs", 1, options=("--json", str(result)))
            self.assertEqual((done.returncode, done.stdout), (0, "ended, lost 0\n"), done.stderr)
            made = {site["name"] for site in json.loads(result.read_text())["points"][0]["sites"] if site["name"].startswith("make_counter@")}
            self.assertTrue(made)
            for words in ('lock = "ticket"\nelision = "eager"', 'lock = "tatas"\nelision = "standard"\nrwlock = "as-mutex"',
                          'lock = "fifo-ticket"\nwarm_up = "eager"', 'lock = "libc"\nwarm_up = "eager"'):
                with self.subTest(words=words):
                    file.write_text("schema = 1\n" + "".join(f'[site."{name}"]\n{words}\n' for name in made))
                    done = run("shared_by_programs", 1, options=("--policy", str(file)))
                    self.assertEqual((done.returncode, done.stdout), (0, "ended, lost 0\n"), done.stderr)

    def test_a_child_gives_up_what_its_thread_held(self):
        for way in (0, 1):
            self.answers("done", "held_over_fork", way)
            for name in policies():
                with self.subTest(policy=name):
                    self.assertNotIn("notice:", run("held_over_fork", way, options=("--policy", name)).stderr)

    def test_programs_look_who_holds_a_mutex(self):
        self.answers("wrong 0", "owner", 3000)
        # docs/limits.md says that lock word and depth are the C library's own.
        for name in policies():
            done = run("lock_words", 3, options=("--policy", name))
            self.assertEqual(done.stdout, "as the C library's\n" if name == "libc" else "other words\n", name)

    def test_a_wait_with_a_deadline_gets_a_lock_that_is_nearly_always_free(self):
        # Under these no waiter stands in line: of waits of 2 s a quarter failed under tatas where other programs had the processors.
        long = ("watchdog", 12_000)
        self.answers("failed:", "watchdog", 1000, otherwise={(): long, ("tatas",): long, ("libc",): long}, plain=long)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "priority.toml"
            file.write_text('schema = 1\n[default]\nlock = "priority-tatas"\n')
            done = run(*long, options=("--policy", str(file)))
            self.assertEqual((done.returncode, done.stdout), (0, "failed:\n"), done.stderr)

    def test_more_waits_with_a_deadline_than_a_line_has_room_for(self):
        # Under the others each unlock wakes many: 257 waits took 1.3 s of CPU time, 64 take 0.1.
        few = {(name,): ("many_deadlines", 64) for name in ("mutex", "spin", "as-mutex", "elide")}
        self.answers("late: granted 0, missing 0; in time: refused 0, missing 0; intruders 0, free: 1", "many_deadlines", 257,
                     otherwise=few)

    def test_deadlines_pass_and_nobody_is_lost(self):
        for threads in (2, 5):
            self.answers("lost 0, all ended: 1, free: 1", "deadlines", threads)

    def test_the_names_of_before_glibc_2_34(self):
        # A turn of a fair lock takes up to 0.2 ms where other programs have the processors: few turns.
        self.answers("lost 0", "old_names", 1000)

    def test_the_smallest_stack(self):
        self.answers("ran", "small_stack", 7800)

    def test_a_mutex_as_a_semaphore(self):
        self.answers("turns 20", "semaphore", 20)
        done = run("semaphore", 20)
        self.assertNotIn("for ever", done.stderr)

    def test_events_that_their_waiters_destroy(self):
        self.answers("failed 0", "event", 150)

    def test_objects_that_their_last_users_destroy(self):
        self.answers("failed 0", "last_user", 90)

    def test_a_library_in_the_place_of_another_one(self):
        plain = subprocess.run([PROGRAM, "reloaded", *PLUGINS], capture_output=True, text=True, timeout=60)
        if plain.stdout == "elsewhere\n":
            leave(self, "the linker puts the second library elsewhere")
        self.assertEqual((plain.returncode, plain.stdout), (0, "at one address\n"), plain.stderr)
        made, static = ["alpha_open", "omega_open"], [f"stationary in {pathlib.Path(one).name}" for one in PLUGINS]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(list(IN_FILES), policies())
            for turn, (name, words) in enumerate(IN_FILES.items()):
                with self.subTest(policy=name):
                    sites = self.sites_of_plugins(folder, f"schema = 1\n[default]\n{words}\n")
                    self.assertEqual(sorted(site.split("@")[0] for site in sites), sorted(made + static))
                    # What is said of one library's sites is said of them alone.
                    gone = (turn + 1) % 2
                    said = "".join(f'[site."{site}"]\ncounting = false\n' for site in sites
                                   if site.split("@")[0] in (made[gone], static[gone]))
                    left = self.sites_of_plugins(folder, f"schema = 1\n[default]\n{words}\n{said}")
                    self.assertEqual(sorted(site.split("@")[0] for site in left), sorted([made[1 - gone], static[1 - gone]]))

    def sites_of_plugins(self, folder, policy):
        """The names of the sites of mutexes that both threads of a library have taken as often as they do."""
        file, result = pathlib.Path(folder) / "p.toml", pathlib.Path(folder) / "result.json"
        file.write_text(policy)
        done = run("reloaded", *PLUGINS, options=("--policy", str(file), "--json", str(result)))
        self.assertEqual((done.returncode, done.stdout), (0, "at one address\n"), done.stderr)
        sites = json.loads(result.read_text())["points"][0]["sites"]
        return [site["name"] for site in sites if site["kind"] == "mutex" and site["acquisitions"] >= 8]


if __name__ == "__main__":
    TXSYNC, PROGRAM, *PLUGINS = sys.argv[1:5]
    del sys.argv[1:5]
    unittest.main()
