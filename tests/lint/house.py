#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""house.py [ROOT]: the rules of the house over all tracked files; see CONTRIBUTING.md.

floors   a file includes only headers of its own floor and of floors below it; a benchmark includes none of src/cli
seam     no inline assembly, processor builtin, standalone fence or direct system call outside the machine's folders
spdx     each source names its licence in its first line (the second under #!)
length   no source has more than 600 lines; src/cli has 3,300 in all of its C++ files
wire     options and records of simulated programs have their names from src/sim/protocol.hpp

and those of language.py, which has a list of exceptions: sentences of 25 words at most, and names of the field.

Prints one line a violation, as file:line: rule: what, and exits with 1 when there is one."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
import language  # noqa: E402

MAX_LINES = 600
MAX_FOLDER_LINES = {"src/cli/": 3300}  # of .cpp and .hpp: options, tables and verbs, and nothing else

# From the ground up. Floors of one number are neighbours: neither uses the other.
FLOORS = {
    "base": 0,
    "sim": 1,
    "machine": 2,
    "observe": 3,
    "symbols": 3,
    "policy": 4,
    "channel": 4,
    "locks": 5,
    "speculate": 6,
    "tm": 7,
    "store": 7,
    "preload": 8,
    "launch": 9,
    "workloads": 9,
    "attach": 10,
    "experiments": 10,
    "explorations": 10,
    "cache_server": 10,
    "measure": 10,
    "simulate": 11,
    "tune": 12,
    "report": 12,
    "doctor": 12,
    "cli": 13,
}

# Folders of a floor that have an order of their own, from the ground up; neighbours as above.
INNER_FLOORS = {
    "src/workloads/": {"harness": 0, "generators": 1, "cache": 1, "transactions": 1, "subjects": 2},
}
# What a benchmark may not include: it would measure through options and tables.
CLOSED_TO_BENCHMARKS = "src/cli/"

# Headers directly in include/txsync/ are the public faces of a floor.
PUBLIC_FACES = {
    "site.hpp": "observe",
    "load_policy.hpp": "policy",
    "explore.hpp": "machine",
    "mutex.hpp": "locks",
    "policy_mutex.hpp": "speculate",
    "shared_mutex.hpp": "locks",
    "condition_variable.hpp": "locks",
    "barrier.hpp": "locks",
    "tm.hpp": "tm",
}
ANY_FLOOR = {"export.hpp", "language.hpp"}  # use nothing, so that everything may use them

# Below the seam, or testing it.
# tests/preload holds programs that know nothing of us.
SEAM_FOLDERS = ("include/txsync/machine/", "src/machine/", "src/sim/", "tests/machine/", "tests/sim/", "tests/preload/")
SEAM_RULES = [
    (re.compile(r"\b(asm|__asm__|__asm)\b"), "inline assembly"),
    (re.compile(r"\b__builtin_(ia32|aarch64|arm|ppc|s390|altivec)\w*"), "a processor's builtin"),
    (re.compile(r"\b__builtin_(prefetch|thread_pointer|readcyclecounter)\b"), "a compiler builtin that machine:: offers"),
    (re.compile(r"\b__(sync|atomic)_\w+\s*\("), "a compiler builtin for atomics"),
    (re.compile(r"\b(_mm\w*_\w+|__rdtscp?|_xbegin|_xend|_xabort|_xtest)\s*\("), "a processor intrinsic"),
    (re.compile(r"\batomic_(thread|signal)_fence\b"), "a standalone fence"),
    (re.compile(r"(?<![\w.>:])syscall\s*\("), "a direct system call"),
]
SEAM_SUFFIXES = (".cpp", ".hpp", ".c", ".h")

# What a simulated program and its host both know.
WIRE = "src/sim/protocol.hpp"
WIRE_NAMES = [
    re.compile(r'"TXSYNC_SIM_'),
    re.compile(r'\b(write_record|txsync_sim_record|\w+\.(program_)?number)\("\w'),
]

SOURCE_SUFFIXES = (".cpp", ".hpp", ".c", ".h", ".cmake", ".sh", ".py", ".in", ".toml")
SOURCE_NAMES = ("CMakeLists.txt", "dev", "run", ".clang-tidy", ".clang-format", ".editorconfig")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Unknown(Exception):
    """A header or folder that stands in no floor."""


def floor_of(path):
    """The floor that holds a file, None for files outside the house (tests, benchmarks, examples)."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[:2] == ("include", "txsync"):
        name = parts[2]
        if len(parts) == 3:
            if name in ANY_FLOOR:
                return None
            if name not in PUBLIC_FACES:
                raise Unknown(f"the public header {name} has no floor; name it in tests/lint/house.py")
            return PUBLIC_FACES[name]
    elif parts[0] == "src" and len(parts) > 2:
        name = parts[1]
    else:
        return None
    if name not in FLOORS:
        raise Unknown(f"the folder {name} is no floor; allowed: {', '.join(FLOORS)}")
    return name


def resolve(root, path, bracket, name):
    """The file of this repository that an #include names, or None."""
    if name.startswith("txsync_backend/"):
        # One name, a file for each back end; no back end has a floor of its own.
        return "src/machine/" + name
    places = ["include", "src"]
    if bracket == '"':
        places.insert(0, str(pathlib.PurePosixPath(path).parent))
    for place in places:
        found = (root / place / name).resolve()
        if found.is_file() and found.is_relative_to(root):
            return found.relative_to(root).as_posix()
    if name.startswith("txsync/"):
        return "include/" + name
    return None


def inner_floor_of(path):
    """The folder of files that INNER_FLOORS orders, and the name and place of this file's folder in it; else None."""
    for folder, order in INNER_FLOORS.items():
        name = path.removeprefix(folder).partition("/")[0]
        if path.startswith(folder) and name in order:
            return folder, name, order[name]
    return None


def relation(there, here):
    return "stands beside" if there == here else "is above"


def complaint_of_inner_floors(path, target, name):
    here, there = inner_floor_of(path), inner_floor_of(target)
    if here is None or there is None or here[:2] == there[:2] or here[0] != there[0] or there[2] < here[2]:
        return None
    return f"{here[1]} includes {name} of {there[1]}, which {relation(there[2], here[2])} it"


def check_floors(root, path, lines):
    try:
        here = floor_of(path)
    except Unknown as error:
        yield 1, "floors", str(error)
        return
    if here is None and not path.startswith("benchmarks/"):
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        target = match and resolve(root, path, *match.groups())
        if not target:
            continue
        name = match.group(2)
        if here is None:
            if target.startswith(CLOSED_TO_BENCHMARKS):
                yield number, "floors", f"a benchmark includes {name}; what it needs of it belongs below {CLOSED_TO_BENCHMARKS}"
            continue
        if here == "sim" and target == "src/machine/txsync_backend/runtime.h":
            continue  # the interface that sim implements
        if complaint := complaint_of_inner_floors(path, target, name):
            yield number, "floors", complaint
        try:
            there = floor_of(target)
        except Unknown:
            continue  # said once, at that header
        if there is None or there == here:
            continue
        if FLOORS[there] >= FLOORS[here]:
            yield number, "floors", f"{here} includes {name} of {there}, which {relation(FLOORS[there], FLOORS[here])} it"


def without_comments(text):
    """The text with comments and string literals blanked, line by line as before."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def check_seam(path, text):
    if not path.endswith(SEAM_SUFFIXES) or path.startswith(SEAM_FOLDERS):
        return
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        for pattern, what in SEAM_RULES:
            if pattern.search(line):
                yield number, "seam", f"{what} above the seam; machine:: offers it, or should"


def check_wire(path, text):
    if not path.endswith(SEAM_SUFFIXES) or not path.startswith(("src/", "benchmarks/")) or path == WIRE:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for pattern in WIRE_NAMES:
            if pattern.search(line):
                yield number, "wire", f"a name of the wire in a literal; {WIRE} has it"


def is_source(path):
    return path.endswith(SOURCE_SUFFIXES) or pathlib.PurePosixPath(path).name in SOURCE_NAMES


def check_spdx(path, lines):
    if not is_source(path):
        return
    at = 1 if lines and lines[0].startswith("#!") else 0
    if len(lines) <= at or "SPDX-License-Identifier: Apache-2.0" not in lines[at]:
        yield at + 1, "spdx", "the line 'SPDX-License-Identifier: Apache-2.0' is missing here"


def check_length(path, lines):
    if is_source(path) and len(lines) > MAX_LINES:
        yield len(lines), "length", f"{len(lines)} lines; at most {MAX_LINES}"


def check_folders(sizes):
    """`sizes`: the lines of each file."""
    for folder, most in MAX_FOLDER_LINES.items():
        lines = sum(size for path, size in sizes.items() if path.startswith(folder) and path.endswith((".cpp", ".hpp")))
        if lines > most:
            yield folder, 1, "length", f"{lines} lines of C++; at most {most}"


def check(root, paths):
    """All violations in the files, as (path, line, rule, text)."""
    root = root.resolve()
    sizes = {}
    for path in paths:
        try:
            text = (root / path).read_text(encoding="utf-8")
        except (FileNotFoundError, IsADirectoryError):
            continue  # deleted, but not yet in the index
        except UnicodeDecodeError:
            continue  # not a text
        lines = text.splitlines()
        sizes[path] = len(lines)
        for found in (check_floors(root, path, lines), check_seam(path, text), check_spdx(path, lines), check_length(path, lines),
                      check_wire(path, text)):
            for violation in found:
                yield (path, *violation)
    yield from check_folders(sizes)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    paths = language.tracked(root)
    violations = list(check(root, paths)) + list(language.check(root, paths))
    for path, line, rule, text in violations:
        print(f"{path}:{line}: {rule}: {text}")
    print(f"rules of the house: {len(paths)} files, {len(violations)} violations")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
