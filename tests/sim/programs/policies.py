#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""policies.py BIN PLAIN_MODEL MACHINES: what a policy does to the named sites of a linked program on the simulated machine.
Also what `txsync tune` finds for them there."""

import json
import pathlib
import sys
import unittest

import programs
from result_schema import complaints

ROOT = programs.HERE.parents[2]
HOT = "words.dictionary"


class WordCount(programs.ByCommand):
    """The example as it is, compiled once for all tests."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        include = ROOT / "include"
        cls.compile(ROOT / "examples/word_count.cpp",
                    more=("-O2", "-I", include, "-I", include / "txsync/machine/native", "-ltxsync"))

    # ---- txsync sim --policy

    def run_with(self, text=None, *words):
        """The point, of a run with that policy file."""
        options = ()
        if text is not None:
            (self.at / "policy.toml").write_text("schema = 1\n" + text, encoding="utf-8")
            options = ("--policy", "./policy.toml")
        made, ran = self.document(*options, *words, "--", "./program", "4")
        self.assertIn("2000 words, 501 of them different: right\n", ran.stdout)
        return made["points"][0]

    @staticmethod
    def attempts(point):
        return {site["name"]: site["speculation"]["attempts"] for site in point.get("sites", [])}

    def test_a_site_has_its_own(self):
        as_it_is = self.run_with()
        self.assertEqual(self.attempts(as_it_is), {})
        self.assertNotIn("policy", as_it_is["params"])
        eager = self.run_with(f'[site."{HOT}"]\nlock = "mutex"\nelision = "eager"\n')
        # A section that falls back makes several attempts.
        self.assertEqual(list(self.attempts(eager)), [HOT])
        self.assertGreater(self.attempts(eager)[HOT], 1000)
        self.assertEqual(eager["params"]["policy"], "./policy.toml")
        self.assertIn(" --policy ./policy.toml -- ./program 4", eager["key"])

    def test_the_lock_is_another_one(self):
        ticket, again, mutex = (self.run_with(f'[site."{HOT}"]\nlock = "{lock}"\n') for lock in ("ticket", "ticket", "mutex"))
        self.assertEqual(ticket["end_hash"], again["end_hash"])
        self.assertNotEqual(ticket["end_hash"], mutex["end_hash"])

    def test_the_default_is_of_all_sites_but_those_that_say_another(self):
        whole = self.attempts(self.run_with('[default]\nelision = "eager"\n'))
        self.assertEqual(set(whole), {HOT, "words.texts", "words.totals"})
        others = self.attempts(self.run_with(f'[default]\nelision = "eager"\n[site."{HOT}"]\nelision = "off"\n'))
        self.assertEqual(set(others), {"words.texts", "words.totals"})

    def test_names_of_other_sites_mean_none(self):
        near = "".join(f'[site."{name}"]\nelision = "eager"\n' for name in (HOT[:-1], HOT + "s", "4 1 16 " + HOT, "w\\nords"))
        self.assertEqual(self.attempts(self.run_with(near)), {})

    def test_pthreads_locks_have_the_default(self):
        self.compile("""
            #include <mutex>
            #include <thread>
            std::mutex mutex;
            int sum = 0;
            void add() { for (int i = 0; i < 1000; ++i) { std::lock_guard guard(mutex); ++sum; } }
            int main() { std::thread other(add); add(); other.join(); return sum != 2000; }""", "plain")
        begun = lambda policy: self.document("--policy", policy, "--", "./plain")[0]["points"][0]["attempts"]
        self.assertGreater(begun("elide"), 100)
        self.assertEqual([begun(policy) for policy in ("mutex", "libc", "spin")], [0, 0, 0])

    def test_what_sim_refuses(self):
        for words, said in ((("--policy", "mutx", "--", "./program"), "--policy: unknown policy 'mutx'"),
                            (("--policy", "./nowhere.toml", "--", "./program"), "--policy: ./nowhere.toml: cannot be read"),
                            (("--policy", "elide", "--elide", "--", "./program"), "--elide and --policy"),
                            (("mapbench", "--policy", "elide"), "--policy is for a program after --")):
            with self.subTest(words=words):
                ran = self.sim(*words)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
                self.assertRegex(ran.stderr, r"\Atxsync sim: [^\n]+\n\Z")
                self.assertIn(said, ran.stderr)

    # ---- txsync tune --machine: all of it repeats itself, its verdict too

    WORDS = ("--machine", "haswell-i7-4770", "--rounds", "6", "--metric", "([0-9]+) words a second")

    def tune(self, *words, status=0):
        ran = self.call(programs.BIN / "txsync", "tune", *words)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran

    def tuned(self, *words):
        ran = self.tune(*self.WORDS, *words, "--json", "tune.json", "-o", "tuned.toml", "--", "./program", "2")
        made = json.loads((self.at / "tune.json").read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        return made, ran

    def test_the_hot_site_is_named_and_gets_another_policy(self):
        made, ran = self.tuned("--candidates", "elide")
        as_it_is, tune = made["points"][0], made["tune"]
        self.assertEqual(as_it_is["subject"], "unmodified")
        waits = {site["name"]: site["wait_ns"] for site in as_it_is["sites"]}
        self.assertEqual(max(waits, key=waits.get), HOT)
        self.assertEqual(next(row["phase"] for row in tune["table"] if row["phase"].startswith("site ")), f"site {HOT}")
        tried = {row["candidate"] for row in tune["table"]}
        for kind in ("lock=mutex", "lock=spin", "elision=standard"):
            self.assertTrue(any(one.endswith(f"; {HOT}: {kind}") for one in tried), tried)
        self.assertTrue(tune["proven"], ran.stdout)
        # Attempts that commit are worth more than any lock there.
        self.assertRegex(tune["winner"], rf"\Aelide\b|; {HOT}: elision=standard")
        self.assertEqual(made["machine"]["backend"], "simulated")
        self.assertEqual((made["seed"], as_it_is["threads"]), (1, 9))
        # What it wrote does it.
        policy = (self.at / "tuned.toml").read_text(encoding="utf-8")
        self.assertIn("# Machine: haswell-i7-4770, simulated: ", policy)
        self.assertIn("# Use: txsync sim --machine haswell-i7-4770 --policy FILE -- ./program 2\n", policy)
        with_it, _ = self.document("--policy", "./tuned.toml", "--", "./program", "4")
        self.assertGreater(with_it["points"][0]["commits"], 500)

    def test_without_a_metric_it_is_simulated_time(self):
        ran = self.tune("--machine", "haswell-i7-4770", "--rounds", "6", "--seed", "7", "--candidates", "spin", "--json", "tune.json", "--", "./program", "1")
        made = json.loads((self.at / "tune.json").read_text(encoding="utf-8"))
        self.assertEqual((made["points"][0]["metric"], made["points"][0]["unit"], made["seed"]), ("simulated time", "s", 7), ran.stdout)
        once, _ = self.document("--seed", "8", "--", "./program", "1")  # behind the baseline run
        self.assertEqual(made["points"][0]["values"][0], once["points"][0]["values"][0])

    def test_a_candidate_that_fails_is_out(self):
        self.compile("""
            #include <cstdio>
            #include <cstdlib>
            int main() { std::puts("cannot open the table"); return std::getenv("TXSYNC_SIM_LOCKS") != nullptr ? 3 : 0; }""", "failing")
        ran = self.tune("--machine", "haswell-i7-4770", "--rounds", "6", "--candidates", "spin", "--", "./failing")
        self.assertIn("failed in round 1: its exit status was 3; its last lines: 'cannot open the table'", ran.stdout)

    def test_what_tune_refuses(self):
        for words, said in ((("--machine", "haswel", "--", "./program"), "haswel"),
                            (("--machine", "haswell-i7-4770", "--", "/bin/true"), "was not built by txsync-c++"),
                            (("--machine", "haswell-i7-4770", "--input", "/dev/null", "--", "./program"), "--input: a program on a simulated machine"),
                            (("--machine", "haswell-i7-4770", "--candidates", "mutx", "--", "./program"), "unknown policy 'mutx'"),
                            (("--machine", "haswell-i7-4770", "arraybench"), "--machine is for a program after --")):
            with self.subTest(words=words):
                ran = self.tune(*words, status=2)
                self.assertEqual(ran.stdout, "")
                self.assertRegex(ran.stderr, r"\Atxsync tune: [^\n]+\n\Z")
                self.assertIn(said, ran.stderr)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
