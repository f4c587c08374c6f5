# SPDX-License-Identifier: Apache-2.0
"""The Markdown pages of the project: their links, their headings, and their blocks of code by kind.

A block is fenced (```) or indented by four columns. Its parts may be of different kinds: a line such as `// main.cpp` or
`# CMakeLists.txt` begins a part, and so does a command after an empty line. Kinds are c++, cmake, toml, json, commands,
and output for all others."""

import fnmatch
import functools
import pathlib
import re
import shlex
import subprocess
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The first words of what a user types. A line that begins otherwise is no command.
TOOLS = ("txsync", "txsync-c++", "./dev", "cmake", "ctest", "git", "cd", "apt-get", "seq", "perf", "bpftrace", "go", "npx",
         "flamegraph.pl", "memcaslap", "tests/cross.sh")
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?!txsync (?:\(|[a-z]+: ))(?:" + "|".join(re.escape(tool) for tool in TOOLS) +
                     r"|integrations/\S+|build/release/bin/\S+|\./shop)(?:\s|$)")
FILE_HEADING = re.compile(r"(?://|#) (?:CMakeLists\.txt|\w+\.(?:cpp|hpp|toml))$")
LINK = re.compile(r"(?<!\\)\]\(\s*<?([^()\s>]*(?:\([^()]*\)[^()\s>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^\[[^\]]+\]: +(\S+)", re.MULTILINE)
SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
KINDS = {"cpp": "c++", "c++": "c++", "cmake": "cmake", "toml": "toml", "json": "json", "text": "output", "sh": "commands"}


class block(typing.NamedTuple):
    page: str  # path from the root
    line: int
    kind: str
    text: str

    def first_line(self):
        return self.text.strip("\n").split("\n")[0].strip()


@functools.lru_cache(None)
def all_files():
    """The tracked files; in a tree without git all that are not below build/ or out/."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True, text=True)
        return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]
    found = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file())
    return sorted(path for path in found if not path.startswith(("build/", "out/")))


def tracked(*patterns):
    """The files that are named, lie in a folder that is named, or match."""
    return [path for path in all_files()
            if any(path == one or path.startswith(one + "/") or fnmatch.fnmatchcase(path, one) for one in patterns)]


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def pages():
    """All pages that a reader may open. Measured results stay as they were written."""
    return [path for path in tracked("*.md") if not path.startswith("docs/measured/")]


# ---- blocks


def raw_blocks(text):
    """The blocks of a page, as (line number, language or None, lines without their indentation)."""
    lines, found, number = text.split("\n"), [], 0
    in_list = after_text = False
    while number < len(lines):
        line = lines[number]
        fence = re.match(r"( *)(```+|~~~+)(\S*)", line)
        if fence:
            begin = number = number + 1
            while number < len(lines) and not lines[number].strip().startswith(fence.group(2)):
                number += 1
            found.append((begin + 1, fence.group(3), [one[len(fence.group(1)):] for one in lines[begin:number]]))
        elif line.startswith("    ") and not in_list and not after_text:
            begin = number
            while number < len(lines) and (not lines[number].strip() or lines[number].startswith("    ")):
                number += 1
            number -= 1
            found.append((begin + 1, None, [one[4:] for one in lines[begin:number + 1]]))
        elif re.match(r" {0,3}(?:[-*+]|\d+[.)]) ", line):
            in_list = True
        elif line.strip() and not line.startswith(" ") and not after_text:
            in_list = False
        after_text = bool(lines[number].strip()) and not fence if number < len(lines) else False
        number += 1
    return found


def kind_of(lines):
    """The kind of a part of an indented block."""
    code = [re.sub(r"\s+//.*", "", line).rstrip() for line in lines]
    code = [line for line in code if line and not line.lstrip().startswith(("//", "#  "))]
    if any(COMMAND.match(line) for line in code if not line.startswith("#")):
        return "commands"
    if any(re.match(r"(?:find_package|target_link_libraries|cmake_minimum_required)\(", line) for line in code):
        return "cmake"
    if any(line.endswith((";", "{")) or line.startswith("#include <") for line in code) or code and code[-1].endswith("}"):
        return "c++"
    return "output"


def parts(lines):
    """Where the parts of an indented block begin."""
    yield 0
    for at in range(1, len(lines)):
        is_command = bool(COMMAND.match(lines[at]))
        if FILE_HEADING.match(lines[at]) or is_command and not lines[at - 1].strip() or not lines[at - 1].strip() and \
                lines[at].strip() and kind_of(lines[:at]) == "commands" and kind_of(lines[at:]) == "c++":
            yield at


def blocks(page):
    for number, language, lines in raw_blocks(read(page)):
        if language:
            yield block(page, number, KINDS.get(language, "output"), "\n".join(lines) + "\n")
            continue
        begins = [*parts(lines), len(lines)]
        for begin, end in zip(begins, begins[1:]):
            yield block(page, number + begin, kind_of(lines[begin:end]), "\n".join(lines[begin:end]).rstrip("\n") + "\n")


def blocks_of(kind):
    return [one for page in pages() for one in blocks(page) if one.kind == kind]


# ---- commands


class command(typing.NamedTuple):
    page: str
    line: int
    text: str
    words: list  # as a shell reads them, without the comment

    def where(self):
        return f"{self.page}:{self.line}"


def without_comment(line):
    return re.sub(r"\s+#\s.*$", "", line)


def commands():
    """The commands in blocks, those of `a && b` one by one; lines that end in a backslash go on."""
    for one in blocks_of("commands"):
        text, begin = "", 0
        for at, line in enumerate(one.text.split("\n")):
            if not text:
                begin = at
            text += without_comment(line)
            if text.endswith("\\"):
                text = text[:-1]
                continue
            if text.strip() and not text.startswith("#"):
                for single in text.split(" && "):
                    yield command(one.page, one.line + begin, single.strip(), shlex.split(single))
            text = ""


def spans(page):
    """The inline code of a page, as (line number, text)."""
    text = re.sub(r"^```.*?^```", lambda match: "\n" * match.group(0).count("\n"), read(page), flags=re.MULTILINE | re.DOTALL)
    for match in SPAN.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match.group(2).split())


# ---- links


def without_code(text):
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    return SPAN.sub(lambda match: "\n" * match.group(0).count("\n"), text)


def links(page):
    """The links of a page, as (line number, target)."""
    text = without_code(read(page))
    for pattern in (LINK, REFERENCE):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them, and its own."""
    found, seen = set(), {}
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "", read(page), flags=re.MULTILINE | re.DOTALL)
    for match in re.finditer(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
        title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1))
        anchor = re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-")
        times = seen[anchor] = seen.get(anchor, -1) + 1
        found.add(anchor if times == 0 else f"{anchor}-{times}")
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
