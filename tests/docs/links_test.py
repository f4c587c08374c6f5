#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each relative link of a page leads to a file of the tree, and each #anchor to a heading. Sources name pages that exist."""

import functools
import os
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pages  # noqa: E402

# Written by a run, and not tracked.
MADE = {"docs/test-summary.md"}
NAMED_PAGE = re.compile(r"(?<![\w/.-])docs/[\w/.-]*?\w\.md\b")


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        anchors = functools.lru_cache(None)(pages.anchors)
        count = 0
        for page in pages.pages():
            for line, target in pages.links(page):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                path, _, anchor = target.partition("#")
                aim = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                with self.subTest(link=f"{page}:{line}: {target}"):
                    self.assertTrue((pages.ROOT / aim).exists(), "no such file")
                    if anchor:
                        self.assertTrue(aim.endswith(".md"), "an anchor of what is no page")
                        self.assertIn(anchor, anchors(aim), "no such heading")
        self.assertGreater(count, 500)

    def test_sources_name_pages_that_exist(self):
        count = 0
        for path in pages.tracked("src", "include", "tests", "benchmarks", "examples", "dev", "*CMakeLists.txt"):
            if path.startswith(("tests/docs/", "tests/lint/")) or path.endswith((".md", ".png", ".gz", ".zip")):
                continue
            try:
                text = pages.read(path)
            except UnicodeDecodeError:
                continue
            for name in sorted(set(NAMED_PAGE.findall(text)) - MADE):
                count += 1
                with self.subTest(source=path, page=name):
                    self.assertTrue((pages.ROOT / name).is_file(), "no such page")
        self.assertGreater(count, 30)

    def test_index_has_every_page(self):
        """docs/README.md, or a page that it links, leads to each page of docs."""
        reached, ahead = set(), ["docs/README.md"]
        while ahead:
            page = ahead.pop()
            if page in reached or not page.endswith(".md") or not (pages.ROOT / page).is_file():
                continue
            reached.add(page)
            ahead += [os.path.normpath(os.path.join(os.path.dirname(page), target.partition("#")[0]))
                      for _, target in pages.links(page) if not re.match(r"[a-z]+:|#", target)]
        self.assertEqual([page for page in pages.pages() if page.startswith("docs/") and page not in reached], [])


class Reading(unittest.TestCase):
    """What pages.py takes for an anchor, a link and a block."""

    def read(self, text):
        before = pages.read
        pages.read = lambda page: text
        self.addCleanup(setattr, pages, "read", before)

    def test_anchors(self):
        self.read("# A `b_c`: d/e (f)\n## A [link](x.md)\n## Same\n## Same\n```\n# none\n```\n<a id=\"own\"></a>\n")
        self.assertEqual(pages.anchors("a.md"), {"a-b_c-de-f", "a-link", "same", "same-1", "own"})

    def test_links(self):
        self.read("[a](b.md#c) `[no](no.md)` [two\nlines](d_(e).md)\n```\n[no](no.md)\n```\n[r]: f.md\n")
        self.assertEqual(list(pages.links("a.md")), [(1, "b.md#c"), (2, "d_(e).md"), (6, "f.md")])

    def test_blocks(self):
        self.read("Text\n    no block\n\n    txsync a  # says\n    txsync b\n\n    #include <x>\n    int a;\n\n- item\n\n    no block\n\n"
                  "Text\n\n    // main.cpp\n    int b;\n\n    txsync c && ./dev d\n\n```toml\na = 1\n```\n")
        self.assertEqual([(one.line, one.kind) for one in pages.blocks("a.md")],
                         [(4, "commands"), (7, "c++"), (16, "c++"), (19, "commands"), (22, "toml")])


if __name__ == "__main__":
    unittest.main()
