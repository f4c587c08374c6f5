#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""failures.py BUILD_DIR: the end of what each test printed that failed in ctest's last run there.

A log of all tests has thousands of lines. Who gets only its last page still sees why the run failed.
"""
import pathlib
import re
import sys

MAX_LINES = 40  # of a test


def failed_tests(folder):
    """Their names: ctest writes "NUMBER:NAME" lines."""
    path = folder / "LastTestsFailed.log"
    return [line.partition(":")[2] for line in path.read_text().splitlines()] if path.exists() else []


def outputs(log):
    """What each test printed, by name."""
    found = {}
    for part in re.split(r"^\d+/\d+ Testing: ", log, flags=re.MULTILINE)[1:]:
        output = re.search(r"^Output:\n-+\n(.*?)^<end of output>$", part, re.MULTILINE | re.DOTALL)
        found[part.partition("\n")[0]] = output.group(1) if output else "(it was not run)\n"
    return found


def main():
    folder = pathlib.Path(sys.argv[1]) / "Testing" / "Temporary"
    log = folder / "LastTest.log"
    if not log.exists():
        return
    printed = outputs(log.read_text(errors="replace"))
    for name in failed_tests(folder):
        lines = printed.get(name, "").splitlines()
        left_out = f" (its last {MAX_LINES} of {len(lines)} lines)" if len(lines) > MAX_LINES else ""
        print(f"== {sys.argv[1]}: {name} failed{left_out}")
        print("\n".join(lines[-MAX_LINES:]))


if __name__ == "__main__":
    main()
