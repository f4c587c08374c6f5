#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""policies.py BIN PLAIN_MODEL MACHINES: what a policy does to the named sites of a linked program on the simulated machine."""

import pathlib
import sys
import unittest

import programs

ROOT = programs.HERE.parents[2]
HOT = "words.dictionary"


class OfWordCount(programs.ByCommand):
    """The example as it is."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        include = ROOT / "include"
        cls.compile(ROOT / "examples/word_count.cpp",
                    more=("-O2", "-I", include, "-I", include / "txsync/machine/native", "-ltxsync"))


class Policies(OfWordCount):
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

    def test_what_is_refused(self):
        for words, said in ((("--policy", "mutx", "--", "./program"), "--policy: unknown policy 'mutx'"),
                            (("--policy", "./nowhere.toml", "--", "./program"), "--policy: ./nowhere.toml: cannot be read"),
                            (("--policy", "elide", "--elide", "--", "./program"), "--elide and --policy"),
                            (("mapbench", "--policy", "elide"), "--policy is for a program behind --")):
            with self.subTest(words=words):
                ran = self.sim(*words)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
                self.assertRegex(ran.stderr, r"\Atxsync sim: [^\n]+\n\Z")
                self.assertIn(said, ran.stderr)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
