#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""failures.py BUILD_DIR: the end of what each test printed that failed in ctest's last run there.

A log of all tests has thousands of lines. Who gets only its last page still sees why the run failed.
"""
import pathlib
import re
import sys

MAX_LINES = 40  # of a test
TEST = re.compile(r"^\d+/\d+ Test: (\S+)$.*?^Output:\n-+\n(.*?)^<end of output>\n.*?^Test (\S+?)\.$", re.MULTILINE | re.DOTALL)


def failures(log):
    """The names of tests, and what they printed."""
    return [(name, output) for name, output, result in TEST.findall(log) if result != "Passed"]


def main():
    (folder,) = sys.argv[1:]
    log = pathlib.Path(folder) / "Testing" / "Temporary" / "LastTest.log"
    for name, output in failures(log.read_text(errors="replace")) if log.exists() else ():
        lines = output.splitlines()
        left_out = f" (its last {MAX_LINES} of {len(lines)} lines)" if len(lines) > MAX_LINES else ""
        print(f"== {folder}: {name} failed{left_out}")
        print("\n".join(lines[-MAX_LINES:]))


if __name__ == "__main__":
    main()
