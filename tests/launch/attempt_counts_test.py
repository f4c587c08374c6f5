#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""attempt_counts_test.py TXSYNC PROGRAM LINKED_PROGRAM: what each site counts of its sections under
`txsync run --policy elide`, beside the program's own count of them. On a simulated machine, beside the machine's count
of attempts too: tests/sim/programs/attempt_counts.py, with the same two programs."""

import os
import pathlib
import sys
import tempfile
import unittest

import run_programs_test as programs
from result_schema import complaints, load
from run_programs_test import call
from skips import leave

PROGRAM = LINKED = ""
THREADS = 4
# Of each thread. Acquisitions are estimated, with a standard error of 1 % where there are so many of all threads. Blocks
# are exact. No two numbers are alike, so that one at another's site is seen.
PTHREADS = {"accounts in ": 1_200_000, "journal in ": 1_000_000, "rates in ": 800_000}
LOCKS = {"linked.accounts": 1_200_000, "linked.journal": 1_000_000, "linked.rates": 800_000}
BLOCKS = {"linked.transfer": 20_000}


def run(program, sections, **variables):
    """The document of one run, and its sites."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "run.json"
        words = [str(THREADS), *(str(count) for count in sections)]
        done = call("run", "--policy", "elide", "--json", str(file), "--", program, *words, env={**os.environ, **variables})
        made = load(file.read_text(encoding="utf-8")) if file.exists() else {}
    return done, made


class Counted:
    """One run of a program serves all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.ran = run(cls.program(), cls.OWN.values())

    def site(self, document, name):
        sites = [site for site in document["points"][0]["sites"] if name in site["name"]]
        self.assertEqual(len(sites), 1, (name, [site["name"] for site in document["points"][0]["sites"]]))
        return sites[0]

    @staticmethod
    def counted(site):
        """Its attempts; of a site that made none, what a document leaves out."""
        software = site.get("transactions", {}).get("commits", 0)
        return site.get("speculation", {"attempts": 0, "commits": 0, "aborts": {}, "fallbacks": site["acquisitions"] + software})

    def assert_sections(self, done, document):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(complaints(document), [])
        self.assertEqual(done.stdout.split(), [str(THREADS * count) for count in self.OWN.values()])
        for name, count in self.OWN.items():
            with self.subTest(site=name):
                counted = self.counted(self.site(document, name))
                self.assertEqual(counted["attempts"], counted["commits"] + sum(counted["aborts"].values()))
                took = counted["commits"] + counted["fallbacks"]
                self.assertAlmostEqual(took, THREADS * count, delta=0.05 * THREADS * count)

    def commits_here(self):
        return self.ran[1]["machine"]["htm"]["verdict"] == "works"

    def test_commits_and_fallbacks_are_the_programs_sections(self):
        self.assert_sections(*self.ran)

    def test_without_attempts_all_are_fallbacks(self):
        done, document = run(self.program(), self.OWN.values(), TXSYNC_HTM="off") if self.commits_here() else self.ran
        self.assert_sections(done, document)
        for name in self.OWN:
            self.assertEqual(self.counted(self.site(document, name))["attempts"], 0, name)

    def test_attempts_commit(self):
        if not self.commits_here():
            leave(self, "no hardware transactions that commit: " + self.ran[1]["machine"]["htm"]["verdict"])
        for name in self.OWN:
            self.assertGreater(self.counted(self.site(self.ran[1], name))["commits"], 0, name)


class PthreadCounts(Counted, unittest.TestCase):
    """Mutexes and a reader-writer lock of an unmodified program."""

    OWN = PTHREADS

    @staticmethod
    def program():
        return PROGRAM


class LinkedCounts(Counted, unittest.TestCase):
    """elided<mutex>, elided_shared<shared_mutex> and atomic blocks."""

    OWN = LOCKS | BLOCKS

    @staticmethod
    def program():
        return LINKED


if __name__ == "__main__":
    programs.TXSYNC, PROGRAM, LINKED = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
