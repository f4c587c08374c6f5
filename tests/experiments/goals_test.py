#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""goals_test.py ROOT: each id of a goal that the code prints stands in docs/goals.md, and no other one does."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path()
SUFFIXES = (".cpp", ".hpp", ".py")


class Goals(unittest.TestCase):
    def test_the_page_lists_what_the_code_prints(self):
        printed = set()
        for folder in ("benchmarks", "src"):
            for file in (ROOT / folder).rglob("*"):
                if file.suffix in SUFFIXES:
                    # Comments quote ids as examples.
                    code = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
                    printed |= set(re.findall(r'"([A-D][0-9]?-[0-9]+)"', code))
        rows = re.findall(r"^\| `([A-D][0-9]?-[0-9]+)` \|", (ROOT / "docs/goals.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertGreater(len(printed), 20)
        self.assertEqual(sorted(set(rows)), sorted(printed))


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1))
    unittest.main()
