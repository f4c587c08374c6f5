#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py KIND BUILD_DIR CTEST_LOG: fails where a test was skipped that the lists here do not have.

KIND says what attempts do on the machine at hand: attempts-commit, attempts-abort or no-attempts. KIND.txt lists what is
skipped on such a machine, any.txt what may be skipped on all. A line has a test, with * for any text, and the reason.
What is listed need not be skipped: root, CPUs and tools differ. Skips are read from three places, since ctest's tests are
single cases or whole programs. These are CTEST_LOG, GoogleTest's documents in BUILD_DIR/skips, and ctest's own log of all
output.
"""
import fnmatch
import json
import pathlib
import re
import sys

KINDS = ("attempts-commit", "attempts-abort", "no-attempts")


def listed(path):
    """The patterns of one list. A line without a reason is an error."""
    patterns = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        test, _, reason = line.partition("  ")
        if not reason.strip():
            raise SystemExit(f"{path}:{number}: a test, two spaces, and the reason why it is skipped are needed")
        patterns.append(test)
    return patterns


def of_ctest(log):
    """Tests that ctest calls skipped, or has not run."""
    # Behind a parameter's number, and two spaces, ctest writes the parameter.
    return re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+)(?:  #.*)? \.* *\*\*\*(?:Skipped|Not Run)", log, re.MULTILINE)


def of_documents(folder):
    """Cases that GoogleTest has skipped in programs that ran as a whole."""
    for path in sorted(folder.glob("*.json")):
        program = path.name.split(".")[0]
        for suite in json.loads(path.read_text()).get("testsuites", []):
            for case in suite.get("testsuite", []):
                if case.get("result") == "SKIPPED":
                    yield f"{program}.{suite['name']}.{case['name']}"


def of_output(log):
    """The same of programs without a document: (test of ctest).(case)."""
    test = "?"
    for line in log.splitlines():
        begun = re.match(r"\d+/\d+ Test: (\S+)", line)
        if begun:
            test = re.sub(r"\.[01]$", "", begun.group(1))  # half of a program
        case = re.match(r"\[  SKIPPED \] (\S+\.\S+) \(\d+ ms\)", line)
        if case and not test.endswith(case.group(1)):
            yield f"{test}.{case.group(1)}"


def skipped(build, log):
    """All of them, by name."""
    names = set(of_ctest(log))
    names.update(of_documents(build / "skips"))
    output = build / "Testing" / "Temporary" / "LastTest.log"
    if output.exists():
        names.update(of_output(output.read_text(errors="replace")))
    return sorted(names)


def new_ones(names, patterns):
    """Those that no pattern speaks of. Brackets are no wildcards: names of cases may have them."""
    rules = [re.compile(fnmatch.translate(one.replace("[", "[[]"))) for one in patterns]
    return [name for name in names if not any(rule.fullmatch(name) for rule in rules)]


def main(arguments):
    if len(arguments) != 3 or arguments[0] not in KINDS:
        print(f"usage: check.py {'|'.join(KINDS)} BUILD_DIR CTEST_LOG", file=sys.stderr)
        return 2
    kind, build, log = arguments
    here = pathlib.Path(__file__).resolve().parent
    patterns = listed(here / "any.txt") + listed(here / f"{kind}.txt")
    names = skipped(pathlib.Path(build), pathlib.Path(log).read_text(errors="replace"))
    unlisted = new_ones(names, patterns)
    for name in unlisted:
        print(f"skipped tests: {name} was skipped, and tests/skipped/any.txt and {kind}.txt do not list it")
    print(f"skipped tests: {len(names)}, of them {len(unlisted)} not listed ({kind})")
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
