#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""document_test.py SAMPLES: the result document as src/observe/document writes it, against its schema and its page."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import result_schema
from result_schema import complaints, replaced, without

SAMPLES = ""
PAGE = result_schema.SCHEMA_FILE.parent / "result-document.md"


class Document(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([SAMPLES, folder], check=True)
            names = sorted(path.name for path in pathlib.Path(folder).iterdir())
            texts = {name: (pathlib.Path(folder) / name).read_bytes() for name in names}
        cls.names = names
        cls.full = result_schema.load(texts["full.json"].decode("utf-8"))
        cls.least = result_schema.load(texts["least.json"].decode("utf-8"))
        cls.full_text = texts["full.json"]

    def test_nothing_but_the_documents_is_left_behind(self):
        self.assertEqual(self.names, ["full.json", "least.json"])

    def test_documents_keep_to_the_closed_schema(self):
        self.assertEqual(complaints(self.full), [])
        self.assertEqual(complaints(self.least), [])

    def test_the_text_is_utf8_whatever_a_fault_says(self):
        fault = self.full["points"][2]["faults"][0]
        self.assertIn('"lost" updates', fault)
        self.assertIn("\ufffd", fault)
        self.assertTrue(self.full_text.endswith(b"}\n"))

    def test_every_described_member_is_written_by_the_samples(self):
        """A schema for members that nobody writes would be tested by nobody."""
        points = self.full["points"]
        written = set().union(*points)
        described = set(result_schema.schema()["$defs"]["point"]["properties"])
        # `build` is written by benchmarks/against, whose test holds its documents to the closed schema.
        self.assertEqual(described - written, {"build"})
        self.assertEqual(set(result_schema.schema()["$defs"]["claim"]["properties"]) - set().union(*self.full["claims"]), set())

        experiments = self.full["lab"]["experiments"]
        self.assertEqual(set(result_schema.schema()["$defs"]["experiment"]["properties"]) - set().union(*experiments), set())

    def test_numbers_come_out_as_they_went_in(self):
        self.assertEqual(self.full["seed"], 2**64 - 1)
        point = self.full["points"][0]
        self.assertEqual(point["values"], [3e6, 1e6, 2e6])
        self.assertEqual((point["median"], point["low"], point["high"]), (2e6, 1e6, 3e6))
        claim = self.full["claims"][0]
        self.assertEqual((claim["value"], claim["low95"], claim["high95"]), (1.07, 1.06, 1.08))
        self.assertEqual(self.full["points"][1]["series"], [[0.5, 1000], [1, 2500]])

    def test_later_members_are_allowed_to_readers_only(self):
        for grown in (replaced(self.full, 1, "later"), replaced(self.full, 1, "points", 0, "later"),
                      replaced(self.full, 1, "machine", "later")):
            self.assertEqual(complaints(grown, strict=False), [])
            self.assertEqual(len(complaints(grown, strict=True)), 1)

    def test_documents_without_a_required_member_are_refused(self):
        for path in (["schema"], ["tool"], ["tool", "commit"], ["command"], ["machine"], ["machine", "htm"], ["seed"],
                     ["points"], ["claims"], ["points", 0, "workload"], ["points", 0, "values"], ["points", 0, "median"],
                     ["points", 0, "unit"], ["points", 2, "faults"], ["claims", 0, "holds"], ["points", 1, "sites", 0, "name"]):
            with self.subTest(path=path):
                self.assertNotEqual(complaints(without(self.full, *path), strict=False), [])

    def test_wrong_members_are_refused(self):
        for value, path in ((2, ["schema"]), (-1, ["seed"]), (2**64, ["seed"]), ("theirs", ["points", 0, "kind"]),
                            (0, ["points", 0, "threads"]), ("2", ["points", 0, "threads"]), ([None], ["points", 0, "values"]),
                            (5e6, ["points", 0, "median"]), ("nowhere", ["points", 0, "place"]), ("3", ["claims", 0, "id"]),
                            ([99], ["claims", 0, "from"]), ([1], ["points", 1, "thread_operations", "fewest"]),
                            ("HEAD", ["tool", "commit"]), ([[1]], ["points", 1, "series"])):
            with self.subTest(path=path, value=value):
                self.assertNotEqual(complaints(replaced(self.full, value, *path), strict=False), [])
        self.assertNotEqual(complaints(replaced(self.full, 1, "points", 1, "aborts", "weather")), [])

    def test_the_page_explains_every_member(self):
        text = re.sub(r"```.*?```", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
        explained = set(re.findall(r"`([^`]+)`", text))
        named = set()

        def collect(part):
            if isinstance(part, dict):
                named.update(part.get("properties", {}))
                for inner in part.values():
                    collect(inner)
            elif isinstance(part, list):
                for inner in part:
                    collect(inner)

        collect(result_schema.schema())
        self.assertEqual(sorted(named - explained), [])

    def test_the_example_of_the_page_is_a_document(self):
        blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        self.assertGreaterEqual(len(blocks), 1)
        for block in blocks:
            self.assertEqual(complaints(json.loads(block)), [])


if __name__ == "__main__":
    SAMPLES = sys.argv.pop(1)
    unittest.main()
