# SPDX-License-Identifier: Apache-2.0
"""The sentences of a text: of Markdown, of the comments in C++, Python, shell and CMake, and of messages in C++.

A list item, a table, a code block, a heading and a licence line are no sentences. Neither is a line of a comment that is
indented beyond its neighbours, or that has columns.

A sentence ends at a full stop, a question mark or an exclamation mark before white space, and at the end of its
paragraph. A colon and a semicolon do not end it. Inline code, a call such as f(x, y) and a URL are one word each. A word
has a letter or a digit in it."""

import re

CODE = "\x01"  # stands for a word of code

NEVER_LAST = {"e.g.", "i.e.", "vs.", "cf.", "viz.", "approx.", "ca.", "resp.", "incl."}
BEFORE_A_NUMBER = {"fig.", "figs.", "sec.", "sect.", "ch.", "eq.", "tab.", "no.", "nos.", "p.", "pp.", "vol."}
LAST_BEFORE_A_CAPITAL = {"etc.", "al."}
OPENERS = "([{\"'*_<"
CLOSERS = ")]}\"'*_>"

LICENCE = re.compile(r"SPDX-License-Identifier|Copyright|^!/")  # and the first line of a script
LIST_ITEM = re.compile(r"(?:[-*+]|(\d+)[.)])\s")
COLUMNS = re.compile(r"[^\s.!?:;] {2,}\S|\S {3,}\S")
# What a contract in a header begins its parts with.
PART = re.compile(r"(?:Requires|Returns|Cost|Errors|Fairness|Thread safety|Sources?|Named requirements)\b[^.:]{0,40}: ")

LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)|\[[^\[\]]*\])")
SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
URL = re.compile(r"https?://[^\s)\]>]*[^\s)\]>.,;:!?]")
CALL = re.compile(r"[\w:.~]*\w\((?:[^()\n]|\([^()\n]*\))*\)")
TOKEN = re.compile(r"\S+")


# ---- from a paragraph to its sentences


def is_last(token, following):
    """Whether a sentence ends with this word, before the next one."""
    core = token.rstrip(CLOSERS)
    if not core or core[-1] not in ".!?" or not any(letter.isalnum() or letter in CODE + CLOSERS for letter in core[:-1]):
        return False
    word = core.lstrip(OPENERS).lower()
    if word in NEVER_LAST:
        return False
    start = following.lstrip(OPENERS)[:1]
    if word in BEFORE_A_NUMBER:
        return not start.isdigit()
    if word in LAST_BEFORE_A_CAPITAL:
        return start.isupper()
    # A quotation or a parenthesis within the sentence, or an ellipsis.
    return not (start.islower() and (core != token or core.endswith("..")))


def without_markup(text):
    """The text with each piece of code as one word; as many lines as before."""
    text = SPAN.sub(lambda match: "\n" * match.group(0).count("\n") + CODE, text)
    text = LINK.sub(lambda match: match.group(1) + "\n" * match.group(0)[len(match.group(1)):].count("\n"), text)
    text = URL.sub(CODE, text)
    return CALL.sub(CODE, text)


def sentences(paragraph):
    """The sentences of a paragraph, given as (line number, text) for each line, as (line number, words)."""
    text = without_markup("\n".join(line for _, line in paragraph))
    tokens = list(TOKEN.finditer(text))
    words, first = [], 0
    for at, match in enumerate(tokens):
        token = match.group(0)
        if not words:
            first = match.start()
        if CODE in token or any(letter.isalnum() for letter in token):
            words.append(token)
        if words and (at + 1 == len(tokens) or is_last(token, tokens[at + 1].group(0))):
            line = min(text.count("\n", 0, first), len(paragraph) - 1)
            yield paragraph[line][0], words
            words = []


# ---- from a text to its paragraphs


def begins_item(line, within_text):
    """Whether a line begins a list item. Within a paragraph a number other than 1 is a number that came first."""
    match = LIST_ITEM.match(line)
    return bool(match) and not (within_text and match.group(1) not in (None, "1"))


def paragraphs_of_markdown(text):
    paragraph, fence, in_list, after_blank, in_html = [], "", False, True, False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        ends = True
        if fence or bare.startswith(("```", "~~~")):
            if not fence:
                fence = bare[:3]
            elif bare.startswith(fence):
                fence = ""
        elif in_html or bare.startswith("<!--"):
            in_html = "-->" not in bare
        elif not bare:
            pass
        elif bare[0] == "|" or bare[0] == "#" and line[0] == "#" or re.match(r"\[[^\]]+\]: |[-=*_]{3,}$", bare):
            in_list = False
        elif begins_item(bare, paragraph) and (in_list or not line.startswith("    ")):
            in_list = True
        elif in_list and (line[0] == " " or not after_blank):
            pass  # the item goes on
        elif line.startswith("    ") and not paragraph:
            pass  # code
        else:
            in_list, ends = False, False
        if ends and paragraph:
            yield paragraph
            paragraph = []
        if not ends:
            paragraph.append((number, bare.lstrip("> ") if bare[0] == ">" else bare))
        after_blank = not bare
    if paragraph:
        yield paragraph


def paragraphs_of_comment(lines):
    """Of a comment without its marks, given as (line number, text with its indentation) for each line."""
    base = min((len(line) - len(line.lstrip()) for _, line in lines if line.strip()), default=0)
    paragraph = []
    for number, line in lines:
        bare = line.strip()
        no_text = (not bare or len(line) - len(line.lstrip()) > base + 1 or bare[0] == "|" or LICENCE.search(bare)
                   or begins_item(bare, paragraph) or COLUMNS.search(bare))
        if paragraph and (no_text or PART.match(bare)):
            yield paragraph
            paragraph = []
        if not no_text:
            paragraph.append((number, bare))
    if paragraph:
        yield paragraph


# ---- from a source to its comments

MARK_OF_C = re.compile(r"//[/!]*<?|/\*[*!]*<?")
C_TEXT = r"""R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\[^\n']+|\\'|[^'\\\n])'"""
C = re.compile(r"//[^\n]*|/\*.*?\*/|" + C_TEXT, re.DOTALL)
PYTHON_TEXT = r"""\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
PYTHON = re.compile(r"#[^\n]*|" + PYTHON_TEXT, re.DOTALL)
CMAKE = re.compile(r'#[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)
HERE_DOCUMENT = re.compile(r"(?<!<)<<-?\s*[\"']?([A-Za-z_]\w*)")


class joined:
    """Comments of one line each, put together where one goes on below the other."""

    def __init__(self):
        self.lines, self.column = [], -1

    def add(self, number, line, start, mark):
        """Takes the next comment, whose text begins at `mark`; gives the one that ended before it, or None."""
        goes_on = self.lines and number == self.lines[-1][0] + 1 and start == self.column and not line[:start].strip()
        ended = None
        if self.lines and not goes_on:
            ended, self.lines = self.lines, []
        self.column = start
        self.lines.append((number, line[mark:]))
        return ended


def lines_of(number, text):
    """A comment of several lines without its marks."""
    lines = text.split("\n")
    if all(line.lstrip().startswith("*") for line in lines[1:] if line.strip()):
        lines[1:] = [line.lstrip()[1:] for line in lines[1:]]
    indentation = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return [(number, lines[0].strip())] + [(number + at, line[indentation:]) for at, line in enumerate(lines[1:], 1)]


def is_docstring(text, start):
    """Whether the triple quotes at `start` begin the first statement of a file, a class or a function."""
    lines = text[:start].split("\n")
    if lines.pop().strip():
        return False
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return not lines or lines[-1].split("  #")[0].rstrip().endswith(":")


def comments(pattern, text):
    """The comments in a source, each as (line number, text) for each line."""
    run, number, counted = joined(), 1, 0
    for match in pattern.finditer(text):
        comment, start = match.group(0), match.start()
        if comment[0] not in "/#" and not (comment[:3] in ('"""', "'''") and is_docstring(text, start)):
            continue
        number += text.count("\n", counted, start)
        counted = start
        if comment[0] not in "/#":
            yield lines_of(number, comment[3:-3])
        elif comment[:2] == "/*":
            yield lines_of(number, comment[MARK_OF_C.match(comment).end():-2])
        else:
            mark = MARK_OF_C.match(comment).end() if comment[0] == "/" else len(comment) - len(comment.lstrip("#"))
            line_start = text.rfind("\n", 0, start) + 1
            ended = run.add(number, text[line_start:match.end()], start - line_start, start - line_start + mark)
            if ended:
                yield ended
    if run.lines:
        yield run.lines


def start_of_shell_comment(line):
    """Where the comment of a line begins, or None. A # in quotes that are open at it begins none."""
    bare = line.lstrip()
    if bare.startswith("#"):
        return len(line) - len(bare)
    for match in re.finditer(r"\s#\s", line):
        before = line[:match.start()]
        if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return match.start() + 1
    return None


def comments_of_shell(text):
    """The comments of a shell script, without what looks like one in a here-document."""
    run, here_ends = joined(), ""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if here_ends:
            if line.strip() == here_ends:
                here_ends = ""
            continue
        start = start_of_shell_comment(line)
        here = HERE_DOCUMENT.search(line[:start])
        if here and here.group(1) in lines[number:]:  # else it is a shift
            here_ends = here.group(1)
        if start is not None:
            ended = run.add(number, line, start, len(line) - len(line[start:].lstrip("#")))
            if ended:
                yield ended
    if run.lines:
        yield run.lines


# ---- from a source to its messages

VALUE = re.compile(r"\s*\+[^;{}\"]*\+\s*")  # between two parts of a message
ESCAPE = re.compile(r"\\([nt])|\\(.)")
TAG = re.compile(r"</?[a-z][^<>]*>")


def messages(text):
    """The messages in a C++ source, as (line number, text): literals side by side, or joined by +. Each value between two
    literals is a word. Raw strings are none."""
    message, number, counted, last = None, 1, 0, 0
    for match in C.finditer(text):
        literal = match.group(0)
        if literal[0] != '"':
            continue
        between, last = text[last:match.start()], match.end()
        if message and (not between.strip() or VALUE.fullmatch(between)):
            message[1] += (f" {CODE} " if between.strip() else "") + literal[1:-1]
            continue
        if message:
            yield message
        number += text.count("\n", counted, match.start())
        counted = match.start()
        message = [number, literal[1:-1]]
    if message:
        yield message


def long_messages(text, limit):
    """The sentences of more than `limit` words in messages, as (line number, words). A line of output ends a
    sentence, and so does a tag of HTML."""
    for number, message in messages(text):
        if len(message.split()) <= limit:
            continue
        plain = TAG.sub("\n", ESCAPE.sub(lambda match: "\n" if match.group(1) else match.group(2), message))
        for line in plain.split("\n"):
            for _, words in sentences([(number, line)]):
                if len(words) > limit:
                    yield number, words


# ---- from a file to its long sentences


def comments_in(path, text):
    """The comments of a source, by the kind of the file; none of a file of another kind."""
    if path.endswith(".sh"):
        return comments_of_shell(text)
    if path.endswith((".cpp", ".hpp", ".c", ".h")):
        return comments(C, text)
    if path.endswith(".py"):
        return comments(PYTHON, text)
    if path.endswith((".cmake", "CMakeLists.txt")):
        return comments(CMAKE, text)
    return ()


def paragraphs(path, text):
    """The paragraphs of a file, each as (line number, text) for each line."""
    if path.endswith(".md"):
        yield from paragraphs_of_markdown(text)
    else:
        for comment in comments_in(path, text):
            yield from paragraphs_of_comment(comment)


def long_sentences(path, text, limit):
    """The sentences of more than `limit` words, as (line number, words)."""
    for paragraph in paragraphs(path, text):
        if sum(len(line.split()) for _, line in paragraph) <= limit:
            continue
        for number, words in sentences(paragraph):
            if len(words) > limit:
                yield number, words
