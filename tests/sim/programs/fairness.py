#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fairness.py BIN FULL: how often waiters are passed by, explored (A3-7): 2,000 schedules of each test, FULL with
TXSYNC_TEST_BUDGET=full, with and without store buffers. Half of the tests have deadlines that do not pass; the other
half's have passed. The bound in turns holds whatever the clock does."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

BIN = pathlib.Path()
FULL = ""
LOCKS = "futex|futex_rwlock|txsync::mutex|txsync::shared_mutex|spin|ticket|condition_variable"
KINDS = re.compile(rf"(seeded:)?({LOCKS})-(passed-by|overdue|pressing|fair|handed|drain|mutexes|sleeping)(-.*)?|futex-urgent(-3)?")
ASSERTED = ("futex-passed-by", "futex-pressing", "futex-pressing-beside-line", "futex-pressing-beside-line-4", "futex-handed", "futex-handed-3",
            "futex-handed-late", "futex-handed-fair", "futex-urgent", "futex-urgent-3", "txsync::mutex-overdue", "txsync::mutex-handed",
            "txsync::mutex-handed-fair", "txsync::shared_mutex-fair", "spin-passed-by", "spin-handed", "ticket-passed-by", "condition_variable-passed-by",
            "futex_rwlock-overdue-readers", "futex_rwlock-overdue-writers", "futex_rwlock-overdue-later", "futex_rwlock-overdue-after-writers")
SEEDED = ("seeded:futex-passed-by", "seeded:ticket-passed-by", "seeded:condition_variable-passed-by", "seeded:futex-fair",
          "seeded:txsync::mutex-fair", "seeded:txsync::shared_mutex-fair", "seeded:futex_rwlock-overdue-reader",
          "seeded:futex_rwlock-overdue-writer")


def txsync(*words, **options):
    return subprocess.run([BIN / "txsync", *words], capture_output=True, text=True, **options)


class Fairness(unittest.TestCase):
    def explored(self, *words):
        made = json.loads(txsync("list", "tests", "--json", "-", timeout=100).stdout)
        names = [item["name"] for item in made["list"]["items"] if KINDS.fullmatch(item["name"])]
        for kind in ASSERTED:
            self.assertIn(kind, names)
        schedules = FULL if os.environ.get("TXSYNC_TEST_BUDGET") == "full" else "2000"
        ran = txsync("explore", *names, "--schedules", schedules, *words, timeout=5400)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        for kind in SEEDED:
            self.assertIn(f"txsync replay {kind}@", ran.stdout, "a lock that hands nothing over must be found")

    def test_in_order(self):
        self.explored()

    def test_with_store_buffers(self):
        self.explored("--store-buffers")


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    FULL = sys.argv.pop(1)
    unittest.main()
