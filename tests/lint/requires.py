#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""requires.py [--write] [ROOT]: each "Requires:" of include and src is asserted, or has a reason why it is not.

requires.txt has one line for each:

    FILE :: the requirement :: asserted FILE: "the sentence of the TXSYNC_ASSERT"
    FILE :: the requirement :: not asserted: the reason

Its first line that is no comment says how many of each there are. Exit status 1 if a requirement is not listed, if a
listed one or its assertion is gone, or if the counts are wrong.

--write: gives each line the words that the requirement has now in that file, in the order of the files, and renews the
counts. A requirement that is new has to be decided by hand: its line gets "not asserted: ?", which is refused."""

import difflib
import pathlib
import re
import subprocess
import sys

LIST = "tests/lint/requires.txt"
COMMENT = re.compile(r"^\s*(?:///?<?|/\*|\*)?\s?(.*?)(?:\s*\*/)?\s*$")
# A sentence ends at a period before a capital letter, or where the comment ends.
SENTENCE_END = re.compile(r"\.(?=\s+[A-Z(`]|\s*$)")
ASSERTED = re.compile(r'^asserted (?P<file>\S+): "(?P<sentence>[^"]+)"$')
REFUSED = "not asserted: "
COUNTS = re.compile(r"^(\d+) asserted, (\d+) not$")
ASSERTION = re.compile(r"\bTXSYNC(?:_SIM)?_ASSERT(?:_VALUE)?\(")
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def is_comment(line):
    return line.lstrip().startswith(("//", "/*", "*")) or "*/" in line


def requirements(text):
    """The requirements of one file, in order: each the words from "Requires:" to the end of the sentence."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        inside = line.find("Requires:")
        if inside < 0:
            continue
        words = [line[inside + len("Requires:"):].strip().removesuffix("*/").strip()]
        in_block = not line.lstrip().startswith("//")
        for later in lines[number + 1:]:
            if SENTENCE_END.search(" ".join(words)):
                break
            if not in_block and not later.lstrip().startswith("//"):
                break
            words.append(COMMENT.match(later).group(1))
            if in_block and "*/" in later:
                break
        said = " ".join(words).strip()
        end = SENTENCE_END.search(said)
        yield " ".join((said[:end.start()] if end else said).split())


def assertions(text):
    """The sentences of all assertions of a file: the literals at the end of their arguments."""
    found = set()
    for one in ASSERTION.finditer(text):
        depth, at, end_of_condition, literals = 1, one.end(), one.end(), []
        while depth and at < len(text):
            literal = LITERAL.match(text, at)
            if literal:
                literals.append((at, literal.group(1)))
                at = literal.end()
                continue
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
            if depth == 1 and text[at] == ",":
                end_of_condition = at
            at += 1
        found.add("".join(words for place, words in literals if place > end_of_condition))
    return found


def sources(root):
    names = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "include", "src"], capture_output=True, check=True)
    for name in sorted(set(names.stdout.decode().split("\0"))):  # an unmerged file is there three times
        if name.endswith((".hpp", ".cpp", ".h", ".c")) and (root / name).is_file():
            yield name


def in_tree(root):
    """All requirements, as a list of (file, requirement)."""
    found = []
    for name in sources(root):
        text = (root / name).read_text(encoding="utf-8")
        if "Requires:" in text:
            found += [(name, one) for one in requirements(text)]
    return found


def read_list(text):
    """The comment lines, the counts or None, and the lines as [file, requirement, decision]."""
    comments, counts, entries = [], None, []
    for line in text.split("\n"):
        if line.startswith("#"):
            comments.append(line)
        elif COUNTS.match(line):
            counts = tuple(int(one) for one in COUNTS.match(line).groups())
        elif line:
            entries.append(line.split(" :: "))
    return comments, counts, entries


def check(root):
    """What is wrong, as texts."""
    comments, counts, entries = read_list((root / LIST).read_text(encoding="utf-8"))
    wrong = [f"{LIST}: a line has not three parts: {' :: '.join(one)}" for one in entries if len(one) != 3]
    entries = [one for one in entries if len(one) == 3]
    left = [(one[0], one[1]) for one in entries]
    for name, requirement in in_tree(root):
        if (name, requirement) in left:
            left.remove((name, requirement))
        else:
            wrong.append(f"{name}: neither asserted nor listed in {LIST}: Requires: {requirement}")
    wrong += [f"{LIST}: {name} does not say any more: Requires: {requirement}" for name, requirement in left]
    said = {}
    for name, requirement, decision in entries:
        asserted = ASSERTED.match(decision)
        if asserted:
            where = asserted["file"]
            if where not in said:
                said[where] = assertions((root / where).read_text(encoding="utf-8")) if (root / where).is_file() else set()
            if asserted["sentence"] not in said[where]:
                wrong.append(f'{LIST}: {where} has no assertion "{asserted["sentence"]}"')
        elif not decision.startswith(REFUSED) or len(decision) < len(REFUSED) + 10:
            wrong.append(f"{LIST}: neither 'asserted FILE: \"SENTENCE\"' nor 'not asserted: REASON': {name} :: {decision}")
    if counts != count(entries):
        wrong.append(f"{LIST}: it says {counts}; there are {count(entries)} (asserted, not)")
    return wrong


def count(entries):
    asserted = sum(1 for one in entries if one[2].startswith("asserted "))
    return asserted, len(entries) - asserted


def renewed(root):
    """The list with the words of today. Exact lines stay. Others get the decision of the most similar line that is left.
    That line is of the same file, or of a file that is gone."""
    comments, _, entries = read_list((root / LIST).read_text(encoding="utf-8"))
    left = [one for one in entries if len(one) == 3]
    found = in_tree(root)
    decisions = {}
    for number, (name, requirement) in enumerate(found):
        exact = next((one for one in left if one[:2] == [name, requirement]), None)
        if exact:
            left.remove(exact)
            decisions[number] = exact[2]
    for number, (name, requirement) in enumerate(found):
        if number in decisions:
            continue
        alike = [(difflib.SequenceMatcher(None, one[1], requirement).ratio() + (one[0] == name), one) for one in left
                 if one[0] == name or not (root / one[0]).is_file()]
        score, best = max(alike, default=(0, None), key=lambda pair: pair[0])
        decisions[number] = "not asserted: ?"
        if best and score > 0.5:
            left.remove(best)
            decisions[number] = best[2].replace(f"asserted {best[0]}:", f"asserted {name}:")
    lines = [" :: ".join((*one, decisions[number])) for number, one in enumerate(found)]
    counts = count([line.split(" :: ") for line in lines])
    return "\n".join([*comments, f"{counts[0]} asserted, {counts[1]} not", *lines]) + "\n"


def main():
    arguments = sys.argv[1:]
    writes = arguments[:1] == ["--write"]
    rest = arguments[1:] if writes else arguments
    root = pathlib.Path(rest[0]) if rest else pathlib.Path(__file__).resolve().parents[2]
    if writes:
        (root / LIST).write_text(renewed(root), encoding="utf-8")
    wrong = check(root)
    for one in wrong:
        print(one)
    comments, counts, entries = read_list((root / LIST).read_text(encoding="utf-8"))
    print(f"requirements: {len(entries)}, {count(entries)[0]} of them asserted; {len(wrong)} violations")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
