#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of requires.py; ./dev lint runs them (house_test.py)."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import requires  # noqa: E402

HEADER = """/// Gives it up. Requires: the caller
/// holds it. Cost: a store.
void unlock() {
  TXSYNC_ASSERT(is_held(1, "x"), "the caller "
                                 "holds it");
}
"""
LINE = 'include/a.hpp :: the caller holds it :: asserted include/a.hpp: "the caller holds it"'


class Requirements(unittest.TestCase):
    def tree(self, files):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        root = pathlib.Path(made.name)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        subprocess.run(["git", "-C", str(root), "init", "-q"], check=True)
        subprocess.run(["git", "-C", str(root), "add", "."], check=True)
        return root

    def wrong(self, header, listed):
        return requires.check(self.tree({"include/a.hpp": header, requires.LIST: listed}))

    def test_a_requirement_ends_with_its_sentence(self):
        self.assertEqual(list(requires.requirements(HEADER)), ["the caller holds it"])
        self.assertEqual(list(requires.requirements("/// Requires: !started().\nint a;\n")), ["!started()"])
        self.assertEqual(list(requires.requirements("/* It ends. Requires: one\n   thread. */\nint a;\n")), ["one thread"])

    def test_what_is_asserted_as_listed_is_right(self):
        self.assertEqual(self.wrong(HEADER, "1 asserted, 0 not\n" + LINE + "\n"), [])

    def test_a_requirement_that_is_not_listed_is_found(self):
        self.assertIn("neither asserted nor listed", self.wrong(HEADER, "0 asserted, 0 not\n")[0])

    def test_a_line_without_its_requirement_is_found(self):
        self.assertIn("does not say any more", self.wrong("int a;\n", "1 asserted, 0 not\n" + LINE + "\n")[0])

    def test_an_assertion_that_is_gone_is_found(self):
        gone = HEADER.replace("TXSYNC_ASSERT", "ASSURE")
        self.assertIn("has no assertion", self.wrong(gone, "1 asserted, 0 not\n" + LINE + "\n")[0])

    def test_wrong_counts_and_missing_reasons_are_found(self):
        self.assertIn("it says", self.wrong(HEADER, "2 asserted, 0 not\n" + LINE + "\n")[0])
        unknown = LINE.split(" :: asserted")[0] + " :: not asserted: ?"
        self.assertIn("REASON", self.wrong(HEADER, "0 asserted, 1 not\n" + unknown + "\n")[0])

    def test_words_that_have_changed_are_renewed(self):
        root = self.tree({"include/a.hpp": HEADER.replace("the caller\n/// holds it", "the thread\n/// holds it"),
                          requires.LIST: "1 asserted, 0 not\n" + LINE + "\n"})
        self.assertIn("include/a.hpp :: the thread holds it :: asserted include/a.hpp", requires.renewed(root))


if __name__ == "__main__":
    unittest.main()
