#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run_linked_test.py TXSYNC LINKED_PROGRAM WORD_COUNT: a program that links txsync under `txsync run`, `top`, `tune` and `report`, and
what TXSYNC_POLICY and load_policy() do to it."""

import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import run_programs_test as programs
from result_schema import complaints, load
from run_programs_test import call

PROGRAM = WORD_COUNT = ""
TURNS = 4 * 50_000
SAMPLING_PERIOD = 256  # observe/counters.hpp

# src/policy/packed.hpp
LOCK_TICKET, LOCK_SPIN, ELISION_OFF, COUNTING_OFF = 4 << 4, 6 << 4, 1 << 16, 1


def alone(*deeds, **variables):
    """The program without `txsync run`."""
    environment = {**os.environ, **variables}
    return subprocess.run([PROGRAM, *deeds], capture_output=True, text=True, timeout=60, env=environment)


class Linked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text, name="p.toml", mode=0o600):
        file = self.folder / name
        file.write_text("schema = 1\n" + text)
        file.chmod(mode)
        return str(file)

    def run_it(self, *deeds, options=(), **variables):
        """What `txsync run` printed, and its document."""
        document = self.folder / "run.json"
        done = call("run", *options, "--json", str(document), "--", PROGRAM, *deeds, env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        read = load(document.read_text(encoding="utf-8"))
        self.assertEqual(complaints(read), [])
        return done, read

    @staticmethod
    def sites(document):
        return {site["name"]: site for site in document["points"][0]["sites"]}

    def check_count(self, seen, exact):
        """Within five standard errors of the samples."""
        self.assertLess(abs(seen - exact), 5 * math.sqrt(exact * SAMPLING_PERIOD), (seen, exact))

    # ---- run

    def test_its_sites_stand_beside_pthreads_in_one_table(self):
        done, document = self.run_it("serve")
        turns, waits = map(int, done.stdout.split())
        sites = self.sites(document)
        self.assertEqual(turns, TURNS)
        own = sites["shop.orders"]
        self.assertEqual(own["kind"], "named")
        self.check_count(own["acquisitions"], turns)
        self.assertGreater(waits, 0)
        self.assertEqual(own["contended"], waits)
        pthreads = [site for name, site in sites.items() if "till in " in name]
        self.assertEqual([site["kind"] for site in pthreads], ["mutex"], sites.keys())
        self.check_count(pthreads[0]["acquisitions"], turns)
        # No acquisition is counted twice: nothing else is, but for a few of the C library's.
        for name, site in sites.items():
            if site is not own and site is not pthreads[0]:
                self.assertLess(site["acquisitions"], 100, name)
        self.assertRegex(done.stderr, r"(?m)^.* shop\.orders$")
        self.assertEqual(document["run"]["processes"], 1)
        # Each thread counts in a block of either library, and is one.
        self.assertLessEqual(document["points"][0]["threads"], 5)

    def test_sites_of_one_name_are_one_row(self):
        _, document = self.run_it("twins")
        names = [site["name"] for site in document["points"][0]["sites"]]
        self.assertEqual(names.count("shop.twin"), 1)
        self.assertEqual(self.sites(document)["shop.twin"]["acquisitions"], 11)

    def test_children_count_for_themselves(self):
        _, document = self.run_it("orders", "fork", "fork")
        self.assertEqual(self.sites(document)["shop.orders"]["acquisitions"], 3 + 2 * 7)
        self.assertEqual(document["run"]["processes"], 3)

    def test_a_long_chain_of_forks(self):
        _, document = self.run_it("orders", "chain")
        self.assertEqual(self.sites(document)["shop.orders"]["acquisitions"], 3 + 6 * 2)

    def test_a_program_that_is_killed_loses_nothing(self):
        document = self.folder / "run.json"
        done = call("run", "--json", str(document), "--", PROGRAM, "orders", "kill9")
        self.assertEqual(done.returncode, 128 + 9)
        self.assertEqual(self.sites(load(document.read_text(encoding="utf-8")))["shop.orders"]["acquisitions"], 3)

    def test_after_exec_the_counts_go_on(self):
        document = self.folder / "run.json"
        shell = f"{PROGRAM} orders; exec {PROGRAM} orders"
        done = call("run", "--json", str(document), "--", "sh", "-c", shell)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sites(load(document.read_text(encoding="utf-8")))["shop.orders"]["acquisitions"], 6)

    def test_a_site_that_is_first_used_in_an_attempt(self):
        _, document = self.run_it("in-attempt")
        self.assertEqual(self.sites(document)["shop.late"]["acquisitions"], 5)

    def test_snapshots_have_the_programs_own_sites(self):
        done, _ = self.run_it("orders", "twins", "snapshot")
        lines = done.stdout.splitlines()
        self.assertIn("shop.orders: 3", lines)
        self.assertIn("shop.twin: 11", lines)

    def test_a_process_that_outlives_its_launcher_numbers_for_itself(self):
        out = self.folder / "out"
        with open(out, "w", encoding="utf-8") as file:
            done = subprocess.run([programs.TXSYNC, "run", "--", PROGRAM, "orders", "alone"], stdout=file,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        for _ in range(100):
            if "shop.late: 3" in out.read_text():
                break
            time.sleep(0.1)
        self.assertIn("shop.late: 3", out.read_text().splitlines())

    def test_without_its_launcher_a_program_goes_on(self):
        done = alone("orders", "snapshot", TXSYNC_CHANNEL="/nowhere/channel")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("shop.orders: 3", done.stdout.splitlines())
        other = self.folder / "channel"
        other.write_bytes(b"\1" * 1_000_000)
        done = alone("orders", "snapshot", TXSYNC_CHANNEL=str(other))
        self.assertRegex(done.stderr, r"^txsync: process \d+ has another version of txsync than its launcher: .*\n$")
        self.assertIn("shop.orders: 3", done.stdout.splitlines())

    # ---- policies

    def test_the_launchers_policy_arrives(self):
        file = self.write('[site."shop.orders"]\nlock = "ticket"\n')
        done, _ = self.run_it("orders", "late", options=("--policy", file))
        self.assertEqual(done.stdout, f"shop.orders {LOCK_TICKET:08x}\nshop.late 00000000\n")

    def test_without_a_policy_nothing_is_said(self):
        done, _ = self.run_it("orders")
        self.assertEqual(done.stdout, "shop.orders 00000000\n")

    def test_a_named_policy_says_all(self):
        done, _ = self.run_it("orders", options=("--policy", "spin"))
        word = int(done.stdout.split()[1], 16)
        self.assertEqual(word & 0xF0, LOCK_SPIN)
        self.assertEqual(word & 0xFF0000, ELISION_OFF)

    def test_a_site_that_is_not_counted_is_in_no_table(self):
        file = self.write('[site."shop.orders"]\ncounting = false\n')
        done, document = self.run_it("orders", "twins", options=("--policy", file))
        self.assertEqual(done.stdout, f"shop.orders {COUNTING_OFF:08x}\n")
        self.assertNotIn("shop.orders", self.sites(document))
        self.assertIn("shop.twin", self.sites(document))

    def test_the_environments_policy(self):
        file = self.write('[site."shop.orders"]\nlock = "ticket"\n[site."shop.late"]\nelision = "off"\n')
        done = alone("orders", "late", TXSYNC_POLICY=file)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, f"shop.orders {LOCK_TICKET:08x}\nshop.late {ELISION_OFF:08x}\n")

    def test_a_bad_policy_is_one_line_and_changes_nothing(self):
        file = self.write('[site."shop.orders"]\nlock = "tiket"\n')
        done = alone("orders", TXSYNC_POLICY=file)
        self.assertEqual(done.stdout, "shop.orders 00000000\n")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr,
                         rf"\Atxsync: TXSYNC_POLICY: {re.escape(file)}:3: unknown lock 'tiket'; allowed: .*\n\Z")

    def test_a_strangers_policy_is_refused(self):
        file = self.write('[site."shop.orders"]\nlock = "ticket"\n', mode=0o666)
        for done in alone("orders", TXSYNC_POLICY=file), alone(file, "orders"):
            self.assertIn("shop.orders 00000000\n", done.stdout)
            self.assertIn(f"{file}: is writable by other users; allowed: only its owner may write it (chmod go-w)\n", done.stdout + done.stderr)
        os.chmod(file, 0o600)
        if os.geteuid() != 0:
            return
        os.chown(file, 65534, -1)
        done = alone("orders", TXSYNC_POLICY=file)
        self.assertEqual(done.stdout, "shop.orders 00000000\n")
        self.assertEqual(done.stderr, f"txsync: TXSYNC_POLICY: {file}: belongs to user 65534; allowed: your own files and root's\n")

    @unittest.skipIf(os.geteuid() != 0, "only root makes a program that runs as another user")
    def test_set_user_id_programs_ignore_the_environment(self):
        other = self.folder / "other"
        shutil.copy(PROGRAM, other)
        self.folder.chmod(0o755)
        file = self.write('[site."shop.orders"]\nlock = "ticket"\n', mode=0o644)
        run = lambda: subprocess.run([other, "orders"], capture_output=True, text=True, timeout=60,
                                     env={**os.environ, "TXSYNC_POLICY": file, "TXSYNC_CHANNEL": str(other)})
        self.assertEqual(run().stdout, f"shop.orders {LOCK_TICKET:08x}\n")
        os.chown(other, 65534, -1)
        other.chmod(0o4755)
        done = run()
        self.assertEqual((done.stdout, done.stderr), ("shop.orders 00000000\n", ""))

    def test_load_policy(self):
        first = self.write('[default]\nelision = "off"\n[site."shop.orders"]\nlock = "ticket"\n')
        second = self.write('[site."shop.orders"]\nlock = "spin"\n', "second.toml")
        done = alone("orders", first, "orders", second, "orders", "late")
        self.assertEqual(done.stdout.splitlines(), [
            "shop.orders 00000000", "load_policy: ok", f"shop.orders {LOCK_TICKET | ELISION_OFF:08x}", "load_policy: ok",
            f"shop.orders {LOCK_SPIN | ELISION_OFF:08x}", f"shop.late {ELISION_OFF:08x}"])

    def test_load_policy_returns_its_errors(self):
        wrong = self.write('[site."shop.orders"]\nlok = "spin"\n')
        done = alone(wrong, "/nowhere/p.toml", "spim", "orders")
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith(f"load_policy: {wrong}:3: unknown key 'lok' in [site.\"shop.orders\"]; allowed: lock, "), lines)
        self.assertEqual(lines[1], "load_policy: /nowhere/p.toml: cannot be read: No such file or directory")
        self.assertTrue(lines[2].startswith("load_policy: unknown policy 'spim'; allowed: "), lines)
        self.assertEqual(lines[3], "shop.orders 00000000")
        self.assertEqual(done.stderr, "")

    def test_who_counts_over_whom(self):
        environments = self.write('[site."shop.orders"]\nlock = "mutex"\nelision = "off"\n')
        loaded = self.write('[site."shop.orders"]\nlock = "spin"\n', "loaded.toml")
        launchers = self.write('[site."shop.orders"]\nlock = "ticket"\n', "launchers.toml")
        done = alone(loaded, "orders", TXSYNC_POLICY=environments)
        self.assertEqual(done.stdout.splitlines()[1], f"shop.orders {LOCK_SPIN | ELISION_OFF:08x}")
        for deeds in ((loaded, "orders"), ("orders", loaded, "orders")):
            done, _ = self.run_it(*deeds, options=("--policy", launchers), TXSYNC_POLICY=environments)
            self.assertEqual(done.stdout.splitlines()[-1], f"shop.orders {LOCK_TICKET | ELISION_OFF:08x}")

    # ---- the other tools

    def test_top_shows_its_sites(self):
        with subprocess.Popen([programs.TXSYNC, "run", "--", PROGRAM, "stay"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
            try:
                self.assertEqual(run.stdout.readline(), "ready\n")
                done = call("top", "--once", "--interval", "0.1", str(run.pid))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"(?m)^.* shop\.orders$")
            finally:
                run.communicate("\n", timeout=30)

    def test_the_report_shows_its_sites(self):
        self.run_it("serve")
        page = self.folder / "page.html"
        done = call("report", str(self.folder / "run.json"), "-o", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("shop.orders", page.read_text())

    def test_tune_changes_sites_whose_locks_heed_it(self):
        document = self.folder / "tune.json"
        # By a number that is always the same: nothing seems better, so that no rounds are added.
        metric = ("--metric", "bargains: ([0-9]+)")
        done = call("tune", "--candidates", "mutex", "--rounds", "6", *metric, "--json", str(document), "--", PROGRAM, "bargain")
        self.assertEqual(done.returncode, 0, done.stderr)
        read = load(document.read_text(encoding="utf-8"))
        phases = {row["phase"] for row in read["tune"]["table"]}
        candidates = " ".join(row["candidate"] for row in read["tune"]["table"])
        self.assertIn("site shop.choosy", phases, done.stderr)
        self.assertIn("shop.choosy: lock=ticket", candidates)
        self.assertNotIn("shop.choosy: elision", candidates)
        self.assertNotIn("site shop.orders", phases)
        self.assertNotIn("shop.orders: ", candidates)

    def test_tune_names_the_hot_site_of_the_example(self):
        """examples/word_count.cpp gives `ticket` to the lock that eight threads wait for. What is faster there is measured by `./dev bench
        tune`, and repeats itself in tests/sim/programs/policies.py. Here the number is always the same, so that nothing is better by chance."""
        document = self.folder / "tune.json"
        words = ("--candidates", "mutex", "--metric", "([0-9]+) words, ", "--json", str(document))
        # As much work as takes many time slices: a thread that loses its CPU within the lock has all others wait. On a busy
        # machine one run may take longer than the first of these times.
        for seconds in ("1", "20"):
            done = call("tune", *words, "--time", seconds, "--", WORD_COUNT, "1500")
            if "it took too long" not in done.stderr:
                break
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^Threads waited most at, under what you have: words\.dictionary \(")
        read = load(document.read_text(encoding="utf-8"))
        self.assertEqual(complaints(read), [])
        tune = read["tune"]
        # Its time may be up before.
        tried = [row["phase"] for row in tune["table"]] + [comparison["phase"] for comparison in tune.get("cut_short", [])]
        self.assertIn("site words.dictionary", tried)
        self.assertNotIn("ticket", tune["winner"])


if __name__ == "__main__":
    programs.TXSYNC, PROGRAM, WORD_COUNT = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
