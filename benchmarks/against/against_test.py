#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""against_test.py: the command behind `./dev bench NAME --against COMMIT`, with scripts in the place of benchmarks."""

import argparse
import os
import pathlib
import signal
import tempfile
import unittest

import against
import comparison
from comparison import NEW, OLD

# A benchmark: `--locks ?` names its locks; else it writes the document, and ends with the status, that are in its folder.
PROGRAM = """#!/bin/sh
if [ "$2" = "?" ]; then echo "bench: no lock '?'; there are: ticket, tatas" >&2; exit 2; fi
echo "$*" >> words
while [ $# -gt 1 ]; do shift; done
[ ! -e document ] || cp document "$1"
[ ! -e interrupts ] || { kill -TERM $PPID; exec sleep 5; }
echo "bench: something happened" >&2
exit $(cat status)
"""


class Words(unittest.TestCase):
    def test_bad_words_are_refused(self):
        for words, says in ((["nothing", "--against", "HEAD"], "nothing"), (["locks", "--against", "HEAD", "--rounds", "0"], "1 to 1000"),
                            (["locks", "--against", "HEAD", "--sections", "x"], "unrecognized"),
                            (["locks", "--against", "HEAD", "--json", "/no/such/folder/x"], "no such folder"),
                            (["locks", "--against"], "expected one argument")):
            with self.assertRaisesRegex(against.BadInput, says):
                against.options_of(words)

    def test_a_commit_that_lacks_an_option_is_refused(self):
        against.check_help("tm", OLD, "--rounds --duration --churn --threads --json", against.RUNS["tm"])
        with self.assertRaisesRegex(against.BadInput, "the old build has no option --churn"):
            against.check_help("tm", OLD, "--rounds --duration --threads --json", against.RUNS["tm"])

    def test_what_is_no_commit_is_refused(self):
        with self.assertRaisesRegex(against.BadInput, "'no-such-branch' is no commit"):
            against.hash_of("no-such-branch")

    def test_builds_of_different_flags_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            trees = [pathlib.Path(name) / build for build in (OLD, NEW)]
            for tree, flags in zip(trees, ("-O2", "-O3")):
                (tree / "build" / "release").mkdir(parents=True)
                (tree / "build" / "release" / "CMakeCache.txt").write_text(f"# notes\nCMAKE_CXX_FLAGS:STRING={flags}\n")
            against.check_same_options(trees[0], trees[0])
            with self.assertRaisesRegex(against.BadInput, "differ in CMAKE_CXX_FLAGS: '-O2', now '-O3'"):
                against.check_same_options(*trees)


class Runs(unittest.TestCase):
    def setUp(self):
        self.handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trees = {build: pathlib.Path(folder.name) / build for build in (OLD, NEW)}
        for tree in self.trees.values():
            bin_folder = tree / "build" / "release" / "bin"
            bin_folder.mkdir(parents=True)
            program = bin_folder / "bench_locks"
            program.write_text(PROGRAM)
            os.chmod(program, 0o755)
            self.set(tree, "{\"points\": []}", 0)
        call = (7, ["--duration", "{ms}", ("--later", "0"), "--locks", ["mcs", "ticket", "tatas"]])
        asked = argparse.Namespace(name="locks", duration=None, runs=[call])
        helps = {OLD: "--duration --locks", NEW: "--duration --later --locks"}
        self.runs = against.Runs(against.Stop(), asked, self.trees, helps, folder.name)

    def tearDown(self):
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def set(self, tree, document, status):
        (tree / "status").write_text(str(status))
        (tree / "document").unlink(missing_ok=True)
        if document is not None:
            (tree / "document").write_text(document)

    def test_both_builds_run_with_what_both_know(self):
        rounds, why = against.measure(self.runs, 3)
        self.assertIsNone(why)
        self.assertEqual(rounds, [{OLD: [{"points": []}] * 2, NEW: [{"points": []}] * 2}] * 3)
        for build, later in ((OLD, ""), (NEW, "--later 0 ")):
            words = [line.partition(" --json /")[0] for line in (self.trees[build] / "words").read_text().splitlines()]
            self.assertEqual(words, [f"--duration 7 {later}--locks ticket", f"--duration 7 {later}--locks tatas"] * 3)

    def test_builds_take_turns_by_call(self):
        ran = []
        self.runs.once = lambda build, call: ran.append((build, call[-1]))
        against.measure(self.runs, 2)
        self.assertEqual(ran, [(OLD, "ticket"), (NEW, "ticket"), (NEW, "tatas"), (OLD, "tatas"),
                               (NEW, "ticket"), (OLD, "ticket"), (OLD, "tatas"), (NEW, "tatas")])

    def test_a_wrong_result_is_kept(self):
        wrong = {"workload": "w", "params": {}, "threads": 1, "place": "none", "subject": "s", "kind": "ours", "metric": "m",
                 "unit": "u", "values": [], "faults": ["lost an update"]}
        self.set(self.trees[NEW], against.json.dumps({"points": [wrong]}), 1)
        rounds, why = against.measure(self.runs, 1)
        self.assertIsNone(why)
        self.assertEqual(comparison.faults_of(rounds[0][NEW]), ["s, w, 1 thread, m: lost an update"] * 2)

    def test_a_run_that_fails_ends_it_after_whole_rounds(self):
        for document, status in ((None, 0), (None, 1), ("{\"points\": []}", 1)):
            self.set(self.trees[NEW], document, status)
            rounds, why = against.measure(self.runs, 2)
            self.assertEqual(rounds, [])
            self.assertIsInstance(why, against.Failed)
            self.assertEqual(str(why), f"bench_locks of the new build ended with status {status}: bench: something happened")

    def test_bad_input_of_a_benchmark_is_bad_input(self):
        self.set(self.trees[OLD], None, 2)
        with self.assertRaisesRegex(against.BadInput, "bench_locks of the old build: bench: something happened"):
            against.measure(self.runs, 1)

    def test_an_interrupt_ends_the_run_and_everything(self):
        (self.trees[NEW] / "interrupts").touch()
        rounds, why = against.measure(self.runs, 2)
        self.assertEqual(rounds, [])
        self.assertIsInstance(why, against.Interrupted)

    def test_documents_are_whole_or_absent(self):
        path = self.trees[OLD] / "result.json"
        against.write({"schema": 1}, path)
        self.assertEqual(against.json.loads(path.read_text()), {"schema": 1})
        self.assertEqual([one.name for one in path.parent.glob("result*")], ["result.json"])


if __name__ == "__main__":
    unittest.main()
