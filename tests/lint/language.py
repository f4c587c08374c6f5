#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""language.py [--list | --write-exceptions] [ROOT]: the rules for the project's language over all tracked files.

sentence    no sentence has more than 25 words: in comments of sources, and in Markdown (prose.py says what a sentence is)
message     the same in string literals of src and include, also those that are joined by +
name        no C++ identifier is a name of the former vocabulary, or says most_, least_, ... of a bound; except in
            declarations that are [[deprecated]]
exception   no line of language-exceptions.txt is without use

Without an option it prints one line a violation, as file:line: rule: what, and exits with 1 when there is one. house.py
does the same as a part of ./dev lint.

--list               prints how many there are in each folder, those of the exceptions included
--write-exceptions   makes the list of exceptions anew from the tree, and prints what came into it"""

import collections
import hashlib
import pathlib
import re
import subprocess
import sys
import typing

sys.dont_write_bytecode = True
import prose  # noqa: E402

MAX_WORDS = 25
SENTENCE_FOLDERS = ("src/", "include/", "tests/", "benchmarks/", "examples/", "docs/")
SENTENCE_FILES = ("README.md", "CONTRIBUTING.md")
MESSAGE_FOLDERS = ("src/", "include/")
NAME_FOLDERS = ("src/", "include/", "tests/", "benchmarks/", "examples/")
NAME_SUFFIXES = (".cpp", ".hpp", ".c", ".h")

EXCEPTIONS = "tests/lint/language-exceptions.txt"
HEADER = """\
# What the rules for the language (tests/lint/language.py) let pass, one a line: FILE sentence HASH FIRST WORDS, FILE
# message HASH FIRST WORDS, or FILE name IDENTIFIER. Only the hash counts for a sentence; code in it may change. Shorten this list, and add nothing
# by hand. After a merge conflict: python3 tests/lint/language.py --write-exceptions
"""

# The former name, and what to say instead. `name_`, a member, is the same name.
FORMER_NAMES = {
    "two_ways": "ab_trial",
    "settling": "settle_window",
    "warm_early": "prefetch_before_lock",
    "warmth": "warm_mode",
    "spend_early": "run_before_lock",
    "pastime": "wait_task",
    "spend": "run_once",
    "meanwhile": "wait_task",
    "experience": "elision_history",
    "in_vain": "futile_waits",
    "grain": "coarsening_factor",
    "admission": "concurrency_limiter",
    "door": "concurrency_limiter",
    "stands_open": "admit",
    "came_in": "admit",
    "shut": "close",
    "release_passed": "hand_off",
    "by_itself": "serial",
    "section_log": "attempt_frame",
    "answerer": "site_resolver",
    "notice": "diagnostic",
    "tell": "report",
    "is_news": "first_time",
    "unlock_by_stranger": "unlock_by_non_owner",
    "settle_releases": "membarrier_releases",
    "landing": "jump_target",
    "lack": "overflow_kind",
    "books": "metadata",
    "taken_ways": "co_resident_ways",
    "fetch_books": "prefetch_metadata",
    "contest": "comparison",
    "surroundings": "environment",
    "rehearsal": "baseline_run",
}

# Names that are the field's words elsewhere: refused in these folders only. Some names of the former vocabulary are not
# refused at all, since other code of the same folder needs them:
#  - place, batch, entry, left, inside, open, outside
#  - one, made, mine, seen, found, of, how, what
FORMER_NAMES_IN = [
    (("src/speculate/", "include/txsync/speculate/"), {
        "turns": "trial_sampler",
        "between": "idle",
        "spent": "result",
        "missing": "attempt_deficit",
    }),
    (("src/locks/", "include/txsync/locks/"), {"spent": "result"}),
    (("include/txsync/machine/", "src/machine/", "src/speculate/"), {"peek": "speculative_load"}),
    (("src/tm/", "include/txsync/tm/"), {"gate": "quiescence_gate", "alone": "serial"}),
    (("src/preload/",), {
        "gain": "acquire_result",
        "arrival": "acquire_kind",
        "patience": "wait_spec",
        "say": "log",
    }),
    (("src/preload/", "src/channel/", "src/launch/"), {"question": "site_request"}),
    (("src/sim/runtime/", "src/sim/host/"), {
        "crowd": "occupancy",
        "apart": "false_sharing_hits",
        "met": "conflicting",
        "meet": "conflict_with",
        "look_at": "check_access",
        "visit": "slow_access",
    }),
    (("src/tune/",), {"lane": "arm", "choice": "configuration"}),
]
FORMER_NAMES_BY_FOLDER = [(FORMER_NAMES, NAME_FOLDERS)] + [(names, folders) for folders, names in FORMER_NAMES_IN]

BOUNDS = {"most": "max_", "longest": "max_", "greatest": "max_", "least": "min_", "fewest": "min_"}
BOUND = re.compile(r"(?:^|_)(most|longest|greatest|least|fewest)_")
# An order and no bound: what was used least, what waits most. Nor is at_most_ a bound's name.
NO_BOUND = re.compile(r"(?:^|_)(?:at_(?:most|least)_|(?:most|least)_(?:used|recent|recently|significant|waiting)(?:_|$))")
MAX_PARTS = 4  # a longer identifier is the name of a test, a sentence

INCLUDE_LINE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*", re.MULTILINE)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
DEPRECATED = re.compile(r"^.*\[\[deprecated\b", re.MULTILINE)


class offence(typing.NamedTuple):
    path: str
    line: int
    rule: str
    key: str  # what an exception names, with the path
    says: str  # the violation's text
    shows: str = ""  # the rest of an exception's line


# ---- sentences


def first_words(words):
    return " ".join(words[:6]).replace(prose.CODE, "CODE")


def hash_of(words):
    """The same for the sentence with other names in it: a rename is no new offence."""
    same = [prose.CODE if prose.CODE in word or "_" in word or "::" in word else word for word in words]
    return hashlib.sha1(" ".join(same).encode()).hexdigest()[:8]


def long_sentences(path, text):
    if path not in SENTENCE_FILES and not path.startswith(SENTENCE_FOLDERS):
        return
    for line, words in prose.long_sentences(path, text, MAX_WORDS):
        begins = first_words(words)
        yield offence(path, line, "sentence", hash_of(words), f'{len(words)} words, at most {MAX_WORDS}: "{begins} ..."', begins)


def long_messages(path, text):
    if not path.startswith(MESSAGE_FOLDERS) or not path.endswith(NAME_SUFFIXES):
        return
    for line, words in prose.long_messages(text, MAX_WORDS):
        begins = first_words(words)
        yield offence(path, line, "message", hash_of(words), f'{len(words)} words, at most {MAX_WORDS}: "{begins} ..."', begins)


# ---- names


def only_code(text):
    """The text with comments, literals and #include lines blanked, line by line as before."""
    blank = prose.C.sub(lambda match: "\n" * match.group(0).count("\n") or " ", text)
    return INCLUDE_LINE.sub("", blank)


def without_deprecated(code):
    """The code with its deprecated declarations blanked: former names may stay there."""
    for found in reversed(list(DEPRECATED.finditer(code))):
        depth, end = 0, found.start()
        while end < len(code) and (depth != 0 or code[end] != ";"):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
            if code[end - 1] == "}" and depth <= 0:
                break
        code = code[: found.start()] + "\n" * code.count("\n", found.start(), end) + code[end:]
    return code


def better_name(path, name):
    """What to say instead of an identifier of the former vocabulary; None for any other."""
    bound = BOUND.search(name)
    if bound and not NO_BOUND.search(name) and (bound.start() == 0 or name.count("_") < MAX_PARTS):
        return BOUNDS[bound.group(1)] + ", and a unit last"
    for names, folders in FORMER_NAMES_BY_FOLDER:
        if path.startswith(folders) and name.removesuffix("_") in names:
            return names[name.removesuffix("_")]
    return None


def former_names(path, text):
    if not path.endswith(NAME_SUFFIXES) or not path.startswith(NAME_FOLDERS):
        return
    code = without_deprecated(only_code(text))
    for name in sorted(set(IDENTIFIER.findall(code))):
        instead = better_name(path, name)
        if instead:
            line = code.count("\n", 0, re.search(rf"\b{name}\b", code).start()) + 1
            yield offence(path, line, "name", name, f"{name}; say {instead}")


# ---- the tree and its exceptions


def offences(root, paths):
    """All offences in the files, those of the exceptions included."""
    for path in paths:
        if not path.startswith(SENTENCE_FOLDERS + NAME_FOLDERS) and path not in SENTENCE_FILES:
            continue
        if not path.endswith((".md", ".py", ".sh", ".cmake", "CMakeLists.txt") + NAME_SUFFIXES):
            continue
        try:
            text = (root / path).read_text(encoding="utf-8")
        except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
            continue  # as in house.py
        yield from long_sentences(path, text)
        yield from long_messages(path, text)
        yield from former_names(path, text)


def exceptions(root):
    """The list of exceptions, as (line number, (path, rule, key)); None for what is none."""
    try:
        lines = (root / EXCEPTIONS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            parts = line.split(" ", 3)
            good = len(parts) >= 3 and parts[1] in ("sentence", "message", "name")
            yield number, tuple(parts[:3]) if good else None


def check(root, paths):
    """All violations, as (path, line, rule, text): offences that are no exceptions, and exceptions that are none."""
    listed = list(exceptions(root))
    excepted, used = {entry for _, entry in listed}, set()
    for found in offences(root, paths):
        entry = (found.path, found.rule, found.key)
        used.add(entry)
        if entry not in excepted:
            yield found.path, found.line, found.rule, found.says
    for number, entry in listed:
        if entry is None:
            yield EXCEPTIONS, number, "exception", "neither FILE sentence HASH FIRST WORDS, nor FILE message HASH FIRST WORDS, nor FILE name IDENTIFIER"
        elif entry not in used:
            yield EXCEPTIONS, number, "exception", f"{entry[0]} has no {entry[1]} {entry[2]} any more; remove it"


def write_exceptions(root, paths):
    before = {entry for _, entry in exceptions(root)}
    now = {(found.path, found.rule, found.key): found.shows for found in offences(root, paths)}
    lines = [" ".join((*entry, shows)).rstrip() + "\n" for entry, shows in sorted(now.items())]
    (root / EXCEPTIONS).write_text(HEADER + "".join(lines), encoding="utf-8")
    for entry in sorted(now.keys() - before):
        print("added:", *entry, now[entry])
    print(f"{EXCEPTIONS}: {len(now)} lines, {len(now.keys() - before)} added, {len(before - now.keys())} removed")


def print_list(root, paths):
    counts = collections.Counter()
    for found in offences(root, paths):
        folder = "/".join(pathlib.PurePosixPath(found.path).parent.parts[:2]) or "."
        counts[folder, found.rule] += 1
    print(f"{'folder':<28} {'sentences':>9} {'messages':>9} {'names':>9}")
    for folder in sorted({folder for folder, _ in counts}):
        print(f"{folder:<28} {counts[folder, 'sentence']:>9} {counts[folder, 'message']:>9} {counts[folder, 'name']:>9}")
    total = collections.Counter()
    for (_, rule), count in counts.items():
        total[rule] += count
    print(f"{'in all':<28} {total['sentence']:>9} {total['message']:>9} {total['name']:>9}")


def tracked(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=True, text=True)
    return [path for path in listed.stdout.split("\0") if path]


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    roots = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if len(options) > 1 or len(roots) > 1 or not {*options} <= {"--list", "--write-exceptions"}:
        print("usage: language.py [--list | --write-exceptions] [ROOT]", file=sys.stderr)
        sys.exit(2)
    root = pathlib.Path(roots[0] if roots else __file__).resolve()
    root = root if roots else root.parents[2]
    paths = tracked(root)
    if options == ["--list"]:
        print_list(root, paths)
    elif options:
        write_exceptions(root, paths)
    else:
        violations = list(check(root, paths))
        for path, line, rule, text in violations:
            print(f"{path}:{line}: {rule}: {text}")
        sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
