#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules for the language find what they refuse, and nothing else; the list of exceptions has no line too many."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import language  # noqa: E402
import prose  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def words(count, last="."):
    """A sentence of so many words."""
    return " ".join(["Word"] + ["word"] * (count - 1)) + last


class tree:
    """Files in a folder of their own, which is removed when the test ends."""

    def __init__(self, test, files):
        self.root = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory()))
        self.write(files)

    def write(self, files):
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")
        self.paths = sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())

    def violations(self):
        return [(path, line, rule) for path, line, rule, _ in language.check(self.root, self.paths)]

    def write_exceptions(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            language.write_exceptions(self.root, self.paths)
        return said.getvalue()


class Sentences(unittest.TestCase):
    def lengths(self, path, text):
        """How many words each sentence of a file has."""
        return [len(found) for paragraph in prose.paragraphs(path, text) for _, found in prose.sentences(paragraph)]

    def lines(self, path, text):
        """The lines where long sentences begin."""
        return [line for line, _ in prose.long_sentences(path, text, language.MAX_WORDS)]

    def test_25_words_are_allowed_and_26_are_not(self):
        for path, mark in (("src/a.cpp", "// "), ("src/a.py", "# "), ("src/a.sh", "# "), ("src/CMakeLists.txt", "# "),
                           ("docs/a.md", "")):
            with self.subTest(path=path):
                self.assertEqual(tree(self, {path: mark + words(25) + "\n"}).violations(), [])
                self.assertEqual(tree(self, {path: mark + words(26) + "\n"}).violations(), [(path, 1, "sentence")])

    def test_other_folders_and_files_are_not_read(self):
        others = {"integrations/a.sh": "# " + words(30) + "\n", "CHANGELOG.md": words(30) + "\n"}
        self.assertEqual(tree(self, others).violations(), [])
        self.assertEqual(tree(self, {"README.md": words(30) + "\n"}).violations(), [("README.md", 1, "sentence")])

    def test_what_ends_a_sentence(self):
        for text, lengths in (
            ("One two. Three four five.", [2, 3]),
            ("One two? Three! Four", [2, 1, 1]),
            ("One (two). Three (four.) Five", [2, 2, 1]),
            ("See README.md. It says more.", [2, 3]),
            ("The lock is `free`. `take()` takes it.", [4, 3]),
            ('He said "no." Then he left.', [3, 3]),
            ("**Fast.** It is.", [1, 2]),
            ("It costs 2.5 ns. More is 3. Then more.", [4, 3, 2]),
            ("A, b, etc. Then c.", [3, 2]),
            ("The answer is no. Then stop.", [4, 2]),
        ):
            with self.subTest(text=text):
                self.assertEqual(self.lengths("docs/a.md", text), lengths)

    def test_what_ends_no_sentence(self):
        for text in (
            "One, e.g. Two, i.e. Three, vs. Four, cf. Five.",
            "See Fig. 3 and no. 4 on p. 5.",
            "By Herlihy et al. [3] and others, etc. as above.",
            "Version 2.18.1 takes 3.5 ns.",
            "The file mutex.hpp and the folder .ci hold it.",
            "One; two: three, four - five.",
            "It waits ... and waits... and waits.",
            '"Why?" was asked (who knows?) and answered.',
            "The pattern `a. B? C!` ends nothing.",
        ):
            with self.subTest(text=text):
                self.assertEqual(len(self.lengths("docs/a.md", text)), 1)

    def test_code_links_and_urls_are_one_word_each(self):
        for text, count in (
            ("Call `lock(a, b, c)` now", 3),
            ("Call ``a ` b`` now", 3),
            ("Call txsync::lock(a, b, f(c)) now", 3),
            ("See [the other page](other.md#part) now", 5),
            ("See https://example.org/a.b?c=d. Not more", 2),
            ("a - b -- c => d", 4),
        ):
            with self.subTest(text=text):
                self.assertEqual(self.lengths("docs/a.md", text)[0], count)

    def test_what_is_no_sentence_in_markdown(self):
        long = words(30)
        for text in (
            f"# {long}",
            f"| {long} | {long} |",
            f"- {long}\n  {long}\n\n  {long}",
            f"1. {long}\n{long}\n2. {long}",
            f"    {long}",
            f"```sh\n{long}\n```",
            f"<!-- {long}\n{long} -->",
            f"[a]: {long}",
        ):
            with self.subTest(text=text):
                self.assertEqual(self.lines("docs/a.md", text + "\n"), [])
                self.assertEqual(self.lines("docs/a.md", text + "\n\n" + long + "\n"), [text.count("\n") + 3])

    def test_a_paragraph_ends_its_sentences(self):
        half = words(20, "")
        self.assertEqual(self.lines("docs/a.md", f"{half}\n\n{half}\n"), [])
        self.assertEqual(self.lines("docs/a.md", f"{half}:\n- {half}\n- {half}\n"), [])
        self.assertEqual(self.lines("docs/a.md", f"{half}\n{half}\n"), [1])
        # A number at the begin of a line is a list item only where a list can begin.
        self.assertEqual(self.lines("docs/a.md", f"{half}\n2000. {half}\n{half}\n"), [2])

    def test_the_line_is_that_where_the_sentence_begins(self):
        self.assertEqual(self.lines("docs/a.md", f"# Head\n\nShort `of\ntwo lines`.\nShort.\n{words(26)}\n"), [6])
        self.assertEqual(self.lines("src/a.cpp", f"int a;\n// Short.\n// {words(10, '')}\n// {words(20)}\n"), [3])

    def test_comments_that_follow_one_another_are_one(self):
        half = words(20, "")
        self.assertEqual(self.lines("src/a.cpp", f"/// {half}\n/// {half}\n"), [1])
        self.assertEqual(self.lines("src/a.cpp", f"int a;  // {half}\n        // {half}\n"), [1])
        self.assertEqual(self.lines("src/a.cpp", f"/* {half}\n * {half} */\n"), [1])
        for apart in (f"// {half}\n\n// {half}\n", f"// {half}\n//\n// {half}\n", f"// {half}\n  // {half}\n",
                      f"int a;  // {half}\nint b;  // {half}\n", f"// {half}\n/// Requires: {half}\n"):
            with self.subTest(apart=apart):
                self.assertEqual(self.lines("src/a.cpp", apart), [])

    def test_what_is_no_sentence_in_a_comment(self):
        long = words(30)
        for text in (f"- {long}\n  {long}", f"1. {long}", f"    {long}", f"| {long}", f"name    {long}",
                     f"SPDX-License-Identifier: {long}", f"Copyright {long}"):
            with self.subTest(text=text):
                comment = "".join(f"// {line}\n" for line in ("Short.", *text.split("\n"), "Short."))
                self.assertEqual(self.lines("src/a.cpp", comment), [])

    def test_literals_are_no_comments(self):
        long = words(30)
        for path, text in (
            ("src/a.cpp", f'auto a = "// {long}"; auto b = R"x(\n// {long}\n)x"; char c = \'"\'; auto d = 1\'000; // Short.\n'),
            ("src/a.py", f'a = "# {long}"\nb = f("""\n# {long}""")\nc = \'"\'  # Short.\n'),
            ("src/a.sh", f'a="# {long}"; b=${{a#x}}\ncat << "END"\n# {long}\nEND\necho $((1 << a)) "$#" # Short.\n'),
            ("src/a.cmake", f'set(a "# {long}")\n'),
        ):
            with self.subTest(path=path):
                self.assertEqual(self.lines(path, text), [])
                comment = f"{'//' if path.endswith('cpp') else '#'} {long}\n"
                self.assertEqual(self.lines(path, text + comment), [text.count("\n") + 1])

    def test_docstrings_are_comments(self):
        text = f'#!/usr/bin/python3\n# SPDX\n"""{words(26)}"""\n\n\ndef f():\n    """Short.\n\n    {words(26)}\n    """\n'
        self.assertEqual(self.lines("src/a.py", text), [3, 9])


class Messages(unittest.TestCase):
    def found(self, code, path="src/a/a.cpp"):
        return [(line, rule) for _, line, rule in tree(self, {path: SPDX + code}).violations()]

    def test_25_words_are_allowed_and_26_are_not(self):
        self.assertEqual(self.found(f'auto a = "{words(25)}";\n'), [])
        self.assertEqual(self.found(f'auto a = "{words(26)}";\n'), [(2, "message")])
        self.assertEqual(self.found(f'auto a = "{words(26)}";\n', "include/txsync/a.hpp"), [(2, "message")])
        self.assertEqual(self.found(f'auto a = "{words(26)}";\n', "tests/a/a.cpp"), [])

    def test_parts_are_one_message(self):
        half = words(15, "")
        for between in (' "\n  "', ' " + std::to_string(a) + " ', ' " + (a ? b(c) : d) +\n" '):
            with self.subTest(between=between):
                self.assertEqual(self.found(f'auto a = "{half}{between}{half}";\n'), [(2, "message")])
        for between in ('", "', '"; b = "', '" + a; b = c + "', '.\\n', '\\n', '. ', '.</p><p>'):
            with self.subTest(between=between):
                self.assertEqual(self.found(f'auto a = "{half}{between}{half}";\n'), [])

    def test_values_tags_and_escapes(self):
        begin = words(23, "")
        self.assertEqual(self.found(f'auto a = "{begin} " + x + " word";\n'), [])
        self.assertEqual(self.found(f'auto a = "{begin} " + x + " word word";\n'), [(2, "message")])
        self.assertEqual(self.found(f'auto a = "<p class=\\"a b c d\\">{begin} \\"word\\" word</p>";\n'), [])

    def test_raw_strings_and_comments_are_no_messages(self):
        self.assertEqual(self.found(f'auto a = R"({words(26)})"; // {words(3)} "word"\nchar b = \'"\';\n'), [])

    def test_the_line_is_that_where_the_message_begins(self):
        self.assertEqual(self.found(f'auto a = "Short.";\n\nf("{words(10, "")} "\n  "{words(20)}");\n'), [(4, "message")])


class Names(unittest.TestCase):
    def found(self, path, code):
        return [violation[1] for violation in tree(self, {path: SPDX + code}).violations() if violation[2] == "name"]

    def test_former_names_are_found(self):
        for code in ("pastime a;", "int meanwhile_ = 0;", "void two_ways();", "a->settle_releases();", "x::warmth::early;"):
            with self.subTest(code=code):
                self.assertEqual(self.found("tests/locks/a.cpp", "\n" + code + "\n"), [3])

    def test_bounds_are_found(self):
        for name in ("most_rows", "least_ns", "longest_wait_", "fewest_rows", "greatest_ratio", "told_most_rows",
                     "least_rounds_of_a_proof"):
            with self.subTest(name=name):
                self.assertEqual(self.found("src/a/a.hpp", f"int {name};\n"), [2])

    def test_other_names_are_allowed(self):
        for name in ("max_rows", "outermost_lock", "at_most_once", "passed_by_at_most_", "least_used", "most",
                     "most_recently_seen", "tries_the_sites_that_wait_most_one_by_one", "wait_task", "spender", "doors"):
            with self.subTest(name=name):
                self.assertEqual(self.found("src/a/a.hpp", f"int {name};\n"), [])

    def test_deprecated_declarations_may_have_former_names(self):
        for code in ('using pastime [[deprecated("wait_task")]] = wait_task;', '[[deprecated("a")]] void spend() { a(); }',
                     'class [[deprecated("a")]] pastime {\n  using spent = b;\n  int spend() { return 1; }\n};'):
            with self.subTest(code=code):
                self.assertEqual(self.found("src/a/a.hpp", code + "\n"), [])
                self.assertEqual(self.found("src/a/a.hpp", code + "\nint meanwhile;\n"), [3 + code.count("\n")])

    def test_some_names_are_refused_in_their_folders_only(self):
        self.assertEqual(self.found("src/tm/a.cpp", "int gate;\n"), [2])
        self.assertEqual(self.found("src/sim/a.cpp", "int gate;\n"), [])
        self.assertEqual(self.found("src/sim/runtime/a.cpp", "int visit;\n"), [2])
        self.assertEqual(self.found("include/txsync/tm/a.hpp", "int visit;\n"), [])

    def test_comments_literals_and_includes_are_no_names(self):
        code = ('// pastime\n/* most_rows\n*/ const char* a = "most_rows"; const char* b = R"(pastime)";\n'
                "#include <txsync/locks/pastime.hpp>\n")
        self.assertEqual(self.found("src/a/a.cpp", code), [])

    def test_only_c_and_cpp_have_names(self):
        self.assertEqual(self.found("tests/a.py", "most_rows = 1\n"), [])
        self.assertEqual(self.found("docs/a.md", "most_rows\n"), [])


class Exceptions(unittest.TestCase):
    def setUp(self):
        self.sentence = "// " + words(26) + "\n"
        self.tree = tree(self, {"src/a/a.cpp": SPDX + "\n" + self.sentence + "int most_rows;\n", "docs/a.md": words(27) + "\n",
                          language.EXCEPTIONS: ""})
        self.tree.write_exceptions()

    def test_what_is_listed_passes(self):
        self.assertEqual(self.tree.violations(), [])
        lines = (self.tree.root / language.EXCEPTIONS).read_text().splitlines()
        entries = [line.split()[:2] for line in lines if not line.startswith("#")]
        self.assertEqual(entries, [["docs/a.md", "sentence"], ["src/a/a.cpp", "name"], ["src/a/a.cpp", "sentence"]])

    def test_what_is_new_fails(self):
        self.tree.write({"src/a/b.cpp": self.sentence + "int most_rows;\n",
                         "docs/a.md": words(27) + "\n\n" + words(28) + "\n"})
        self.assertEqual(self.tree.violations(),
                         [("docs/a.md", 3, "sentence"), ("src/a/b.cpp", 1, "sentence"), ("src/a/b.cpp", 2, "name")])

    def test_what_is_without_use_fails(self):
        self.tree.write({"src/a/a.cpp": SPDX + "\n" + self.sentence + "int max_rows;\n"})
        (self.tree.root / "docs/a.md").unlink()
        self.assertEqual([(path, rule) for path, _, rule in self.tree.violations()], [(language.EXCEPTIONS, "exception")] * 2)

    def test_a_line_that_is_none_fails(self):
        with open(self.tree.root / language.EXCEPTIONS, "a", encoding="utf-8") as listed:
            listed.write("src/a/a.cpp most_rows\n")
        self.assertEqual([rule for _, _, rule in self.tree.violations()], ["exception"])

    def test_a_sentence_may_move_and_its_names_may_change(self):
        long = "// " + words(13, "") + " {0} " + words(13) + "\n"
        self.tree.write({"docs/a.md": words(27) + "\n", "src/a/c.cpp": SPDX + "\n" + long.format("most_rows")})
        self.tree.write_exceptions()
        self.tree.write({"src/a/c.cpp": SPDX + "\nint a;\n\n" + long.format("max_rows")})
        self.assertEqual(self.tree.violations(), [])
        self.tree.write({"src/a/c.cpp": SPDX + "\n" + long.format("rows")})
        self.assertEqual([rule for _, _, rule in self.tree.violations()], ["sentence", "exception"])

    def test_writing_says_what_came_and_went(self):
        self.tree.write({"src/a/a.cpp": SPDX + "\n" + self.sentence + "int least_rows;\n"})
        said = self.tree.write_exceptions()
        self.assertEqual(said.splitlines()[0].split(), ["added:", "src/a/a.cpp", "name", "least_rows"])
        self.assertTrue(said.endswith("3 lines, 1 added, 1 removed\n"), said)
        self.assertEqual(self.tree.violations(), [])


if __name__ == "__main__":
    unittest.main()
