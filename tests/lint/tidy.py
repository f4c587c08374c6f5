#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py BUILD_DIR: clang-tidy over the sources of src/, each once.

The compilation database has the sources above the seam once for each back end, with the same text. Only the native one
is read, which takes a third of the time."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_unity(entries):
    """Of a unity source, which includes others, an entry for each of those."""
    for entry in entries:
        if "/Unity/unity_" not in entry["file"]:
            yield entry
            continue
        with open(entry["file"], encoding="utf-8") as text:
            for source in re.findall(r'^#include "(.*)"$', text.read(), re.MULTILINE):
                yield entry | {"file": source, "command": entry["command"].replace(entry["file"], source)}


def one_entry_a_file(entries):
    chosen = {}
    for entry in without_unity(entries):
        if not entry["file"].startswith(str(ROOT / "src") + os.sep):
            continue
        if entry["file"] not in chosen or "_native.dir" in entry.get("output", ""):
            chosen[entry["file"]] = entry
    return chosen


def tidy(database, source):
    # The commands are GCC's, which has optimizations that Clang knows by name only.
    run = subprocess.run(["clang-tidy-19", "--quiet", "--extra-arg=-Wno-ignored-optimization-argument", "-p", database, source],
                         capture_output=True, text=True)
    return run.returncode == 0, run.stdout


def main():
    if len(sys.argv) != 2 or not os.path.exists(os.path.join(sys.argv[1], "compile_commands.json")):
        sys.exit("usage: tidy.py BUILD_DIR, a directory that holds compile_commands.json")
    with open(os.path.join(sys.argv[1], "compile_commands.json"), encoding="utf-8") as text:
        chosen = one_entry_a_file(json.load(text))
    for entry in chosen.values():
        command = entry["command"].removeprefix("ccache ").replace("/usr/bin/ccache ", "")
        command = re.sub(r"^\S*/txsync-c\+\+ --txsync-launch ", "", command)
        # Without precompiled headers, which are GCC's. So a source that lacks an #include is found.
        entry["command"] = re.sub(r" -Winvalid-pch -include \S+/cmake_pch\.hxx| -fpch-preprocess", "", command)
    database = os.path.join(sys.argv[1], "lint")
    os.makedirs(database, exist_ok=True)
    with open(os.path.join(database, "compile_commands.json"), "w", encoding="utf-8") as text:
        json.dump(list(chosen.values()), text)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for good, output in workers.map(lambda source: tidy(database, source), sorted(chosen)):
            if not good:
                failed += 1
                print(output.strip())
    print(f"clang-tidy: {len(chosen)} files, {failed} with findings")
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    main()
