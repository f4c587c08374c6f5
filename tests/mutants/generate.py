#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py ROOT TREE: a copy of the sources of locks and atomic blocks that holds all of its mutants, and
TREE/mutants.tsv, which lists them.

All mutants are in one program, so that they are compiled at once (mutant schemata: Untch, Offutt and Harrold, ISSTA 1993).
Each stands behind a question to the simulated machine, whether it is the one of this run. There are these mutants:
 - each store dropped, and weakened if it is sequentially consistent;
 - each read-modify-write made two steps, and its write dropped;
 - each compare-exchange made blind;
 - each fence and each wake-up dropped;
 - each operand of a condition negated.

Weaker orders of loads, of read-modify-writes and of release stores are no mutants: x86's store buffers, which exploring
has, do not show them. They are counted."""

import pathlib
import re
import sys

FOLDERS = ["include/txsync/locks", "include/txsync/speculate", "src/locks", "src/speculate",
           "src/tm", "src/tm/hybrid", "src/tm/partition", "src/tm/stm"]
FILES = ["include/txsync/barrier.hpp", "include/txsync/condition_variable.hpp", "include/txsync/mutex.hpp",
         "include/txsync/policy_mutex.hpp",
         "include/txsync/shared_mutex.hpp",
         "include/txsync/tm/block.hpp", "include/txsync/tm/detail/engine.hpp", "include/txsync/tm/detail/growing_log.hpp",
         "include/txsync/tm/transaction.hpp", "include/txsync/tm/var.hpp"]
# The C library's; what only tells; what only decides which of two right ways is taken, and when. Forks, and what a
# process does once: tests/tm/divided_heap.cpp.
LEFT_OUT = {"include/txsync/locks/posix_mutex.hpp", "src/speculate/double_unlock.cpp", "src/speculate/elision_history.cpp",
            "src/tm/hybrid/path_choice.cpp", "src/tm/hybrid/path_choice.hpp", "src/tm/partition/fork.cpp",
            "src/tm/partition/heap.cpp",
            "include/txsync/speculate/ab_trial.hpp", "src/speculate/ab_trial.cpp", "src/speculate/site_page.cpp"}

STORE = ["the store is dropped", "the store is not sequentially consistent"]
MODIFY = ["the read-modify-write is two steps", "its write is dropped"]
EXCHANGE = MODIFY + ["it does not compare"]

OPERATION = re.compile(r"(?:\.|->)(store|load|exchange|fetch_\w+|compare_exchange_\w+)\(")
CALL = re.compile(r"\bmachine::(unpark\w*|fence|light_fence|heavy_fence|membarrier_releases)\(")
CONDITION = re.compile(r"\b(?:if|while) \(")
FOR = re.compile(r"\bfor \(")
VALUE = re.compile(r"(?:\breturn |(?<!constexpr )\bbool \w+ = )")
DECLARES = re.compile(r"(?:const |auto )[^=]* = ")
ASSERTION = re.compile(r"\bTXSYNC_ASSERT(?:_VALUE)?\(")
COMPARES = re.compile(r" (?:==|!=|<|>|<=|>=|&&|\|\|) ")


def blanked(text):
    """The same with nothing in comments and literals, so that positions stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closing(text, opening):
    """Where the bracket that opens at `opening` closes."""
    depth = 0
    for at in range(opening, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    raise ValueError("a bracket is not closed")


def without_assertions(code):
    """The same with nothing in assertions, which are no part of what is to be right."""
    for found in ASSERTION.finditer(code):
        end = closing(code, found.end() - 1)
        code = code[:found.end()] + re.sub(r"[^\n]", " ", code[found.end():end]) + code[end:]
    return code


def top_level(text, begin, end, words):
    """Positions of any of the words in [begin, end) outside of brackets."""
    depth = 0
    at = begin
    while at < end:
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        elif depth == 0:
            for word in words:
                if text.startswith(word, at):
                    yield at, word
                    at += len(word) - 1
                    break
        at += 1


def operands(text, begin, end):
    """The ranges of the operands of && and || in a condition, those in parentheses of their own too; a choice is one."""
    start = begin
    chooses = any(top_level(text, begin, end, [" ? "]))
    for at, word in [*([] if chooses else top_level(text, begin, end, [" && ", " || "])), (end, "")]:
        first, last = start, at
        while first < last and text[first].isspace():
            first += 1
        inner = text[first] == "(" and closing(text, first) == last - 1
        if inner and COMPARES.search(text[first:last]):
            yield from operands(text, first + 1, last - 1)
        elif first < last:
            yield first, last
        start = at + len(word)


def statement_end(text, begin):
    return next(top_level(text, begin, len(text), [";"]))[0]


class Source:
    """One file, its mutants, and the text with them in it."""

    def __init__(self, root, name, first_id):
        self.name = name
        self.text = (root / name).read_text(encoding="utf-8")
        self.code = without_assertions(blanked(self.text))
        self.next_id = first_id
        self.mutants = []  # id, line, what, text of the line (and which one, where there are several)
        self.insertions = []
        self.not_shown = 0
        self.wrapped = set()

    def line_of(self, at):
        return self.text.count("\n", 0, at) + 1

    def mutant(self, at, what):
        line = self.line_of(at)
        words = " ".join(self.text.split("\n")[line - 1].split("//")[0].split())
        same = sum(1 for one in self.mutants if (one[2], one[3].split("  (")[0]) == (what, words))
        self.mutants.append((self.next_id, line, what, f"{words}  ({same + 1})" if same else words))
        self.next_id += 1
        return self.next_id - 1

    def wrap(self, begin, end, before, after):
        # Of two that begin or end at one place the wider one is outside.
        self.insertions.append((begin, 0, begin - end, before))
        self.insertions.append((end, -1, -begin, after))

    def operations(self):
        for found in OPERATION.finditer(self.code):
            name, opening = found.group(1), found.end() - 1
            arguments = self.code[opening:closing(self.code, opening)]
            ordered = "seq_cst" in arguments or "memory_order" not in arguments
            if name == "load":
                self.not_shown += 1
                continue
            kinds = STORE[:2 if ordered else 1] if name == "store" else MODIFY
            if name.startswith("compare_exchange"):
                kinds = EXCHANGE
            self.not_shown += 0 if name == "store" and ordered else 1
            ids = [self.mutant(found.start(), f"{name}: {what}") for what in kinds]
            self.insertions.append((opening + 1, 1, 0, f"mutated::at<{ids[0]}>{{}}, "))

    def calls(self):
        for found in CALL.finditer(self.code):
            one = self.mutant(found.start(), f"{found.group(1)} is dropped")
            nothing = "0u" if found.group(1).startswith("unpark") else "void()"
            self.wrap(found.start(), closing(self.code, found.end() - 1) + 1, f"(mutated::on({one}) ? {nothing} : ", ")")

    def condition(self, begin, end):
        if DECLARES.match(self.code, begin):
            return
        for first, last in operands(self.code, begin, end):
            if (first, last) in self.wrapped or self.code[first:last] == "true":
                continue
            self.wrapped.add((first, last))
            words = " ".join(self.text[first:last].split())
            one = self.mutant(first, f"turned round: {words}")
            self.wrap(first, last, f"mutated::turned<{one}>(static_cast<bool>(", "))")

    def conditions(self):
        for found in CONDITION.finditer(self.code):
            begin, end = found.end(), closing(self.code, found.end() - 1)
            for at, _ in top_level(self.code, begin, end, [";"]):
                begin = at + 1
            self.condition(begin, end)
        for found in FOR.finditer(self.code):
            end = closing(self.code, found.end() - 1)
            parts = [at for at, _ in top_level(self.code, found.end(), end, [";"])]
            if len(parts) == 2 and self.code[parts[0] + 1:parts[1]].strip():
                self.condition(parts[0] + 1, parts[1])

    def values(self):
        for found in VALUE.finditer(self.code):
            begin, end = found.end(), statement_end(self.code, found.end())
            chosen = [at for at, _ in top_level(self.code, begin, end, [" ? "])]
            if not chosen and COMPARES.search("".join(self.flat(begin, end))):
                self.condition(begin, end)
        for at in (found.start() for found in re.finditer(r" \? ", self.code)):
            self.condition(self.start_of_choice(at), at)

    def flat(self, begin, end):
        """The code of a range without what is in brackets."""
        depth = 0
        for character in self.code[begin:end]:
            depth -= character in ")]}"
            if depth == 0:
                yield character
            depth += character in "([{"

    def start_of_choice(self, at):
        depth = 0
        while at > 0:
            before = self.code[at - 1]
            if before in ")]}":
                depth += 1
            elif before in "([{":
                if depth == 0:
                    return at
                depth -= 1
            elif depth == 0 and (before in ",;" or self.code[:at].endswith(("return ", " = "))):
                return at
            at -= 1
        raise ValueError("a choice without a beginning")

    def mutated(self):
        self.operations()
        self.calls()
        self.conditions()
        self.values()
        text = self.text
        for at, _, _, words in sorted(self.insertions, reverse=True):
            text = text[:at] + words + text[at:]
        text = text.replace("std::atomic<", "mutated::atomic<").replace("machine::lock_word word_",
                                                                          "mutated::atomic<std::uint64_t> word_")
        # In place of the licence line, so that lines keep their numbers.
        return '#include "mutation.hpp"\n' + text.split("\n", 1)[1]


def sources(root):
    names = list(FILES)
    for folder in FOLDERS:
        names += [f"{folder}/{file.name}" for file in sorted((root / folder).glob("*.[ch]pp"))]
    return [name for name in names if name not in LEFT_OUT]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--list":  # for the build: what is read and made
        print(";".join(sources(pathlib.Path(sys.argv[2]))))
        return
    if len(sys.argv) != 3:
        sys.exit("usage: generate.py ROOT TREE")
    root, tree = map(pathlib.Path, sys.argv[1:])
    lines = []
    not_shown = 0
    next_id = 1
    for name in sources(root):
        source = Source(root, name, next_id)
        made = tree / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(source.mutated(), encoding="utf-8")
        next_id = source.next_id
        not_shown += source.not_shown
        lines += ["\t".join(map(str, (one[0], name, *one[1:]))) for one in source.mutants]
    (tree / "mutants.tsv").write_text(f"# weaker orders that x86 does not show: {not_shown}\n" + "\n".join(lines) + "\n",
                                      encoding="utf-8")


if __name__ == "__main__":
    main()
