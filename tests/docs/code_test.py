#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""code_test.py TXSYNC CXX BUILD_DIR NATIVE_INCLUDES SCRIPTED_INCLUDES (folders with : between): blocks of code in pages
compile, and files in them are read by what reads them.

A block of C++ that does not compile alone has a context, contexts/PAGE.cpp with _ for / in the page's path. A line
`//@ LINE` there stands for a block's lines from LINE on, up to the next line so named. If several are alike, it is the
next one. A context has to name all lines of its page's blocks. `...` in a block is left out.

A CMake block without project() is part of a project with a program for each target that it names."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pages  # noqa: E402

TXSYNC = CXX = BUILD = ""
INCLUDES = {}
CONTEXTS = pathlib.Path(__file__).resolve().parent / "contexts"
NAMED = re.compile(r"^ *//@ (.*)$")


def context_of(page):
    return CONTEXTS / (page.removesuffix(".md").replace("/", "_") + ".cpp")


def without_ellipses(text):
    text = re.sub(r"\{ \.\.\. \}", "{ }", text)
    return re.sub(r"^( *)\.\.\..*$", r"\1", re.sub(r"; \.\.\. \}", "; }", text), flags=re.MULTILINE)


class misnamed(Exception):
    pass


def with_context(context, blocks):
    """The context with the blocks' lines in it. Throws if it names a line that is in no block, or leaves one out."""
    lines = [line for one in blocks for line in [*one.text.rstrip("\n").split("\n"), None]]  # None: a block's end
    texts = [line and line.strip() for line in lines]
    marks = [(number, match.group(1).strip()) for number, line in enumerate(context.split("\n"))
             if (match := NAMED.match(line))]
    starts = []
    for _, named in marks:
        same = [at for at, text in enumerate(texts) if text == named and at not in starts]
        if not same:
            raise misnamed(f"no block has the line: {named}")
        starts.append(next((at for at in same if starts and at > starts[-1]), same[0]))
    pieces, used = {}, set()
    for (number, _), start in zip(marks, starts):
        end = start + 1
        while lines[end] is not None and end not in starts:
            end += 1
        used.update(range(start, end))
        pieces[number] = "\n".join(lines[start:end])
    for at, text in enumerate(texts):
        if text and at not in used:
            raise misnamed(f"the context leaves out: {text}")
    return "\n".join(pieces.get(number, line) for number, line in enumerate(context.split("\n")))


def sources():
    """What is compiled, as (name, back end, text)."""
    by_page = {}
    for one in pages.blocks_of("c++"):
        by_page.setdefault(one.page, []).append(one)
    for page, blocks in by_page.items():
        file = context_of(page)
        if file.is_file():
            context = file.read_text(encoding="utf-8")
            backend = "scripted" if "// back end: scripted\n" in context else "native"
            try:
                yield page, backend, without_ellipses(with_context(context, blocks))
            except misnamed as error:
                yield page, backend, f"#error {file.name}: {error}\n"
        else:
            yield from ((f"{page}:{one.line}", "native", without_ellipses(one.text)) for one in blocks)


def complaint(source):
    name, backend, text = source
    folders = [option for folder in INCLUDES[backend].split(":") if folder for option in ("-I", folder)]
    done = subprocess.run([CXX, "-std=c++20", "-fsyntax-only", "-w", *folders, "-I", str(pages.ROOT / "src"), "-x", "c++", "-"],
                          input=text, capture_output=True, text=True, check=False)
    return name, done.stderr if done.returncode else ""


class Cpp(unittest.TestCase):
    def test_blocks_compile(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(complaint, sources()))
        self.assertGreater(len(results), 15)
        for name, said in results:
            with self.subTest(block=name):
                self.assertEqual(said, "")

    def test_each_context_has_a_page(self):
        self.assertLessEqual({file for file in CONTEXTS.iterdir() if file.suffix == ".cpp"},
                             {context_of(one.page) for one in pages.blocks_of("c++")})

    def test_a_context_names_each_line(self):
        blocks = [pages.block("a.md", 1, "c++", "int a;\nint b;\n\nint c;\n"), pages.block("a.md", 9, "c++", "int d;\n")]
        made = with_context("//@ int a;\nf() {\n  //@ int c;\n}\n//@ int d;", blocks)
        self.assertEqual(made, "int a;\nint b;\n\nf() {\nint c;\n}\nint d;")
        for context, says in (("//@ int a;", "leaves out: int d;"), ("//@ int a;\n//@ int e;", "no block has the line: int e;")):
            with self.assertRaisesRegex(misnamed, says):
                with_context(context, blocks)


def files_of(kind, begins):
    return [one for one in pages.blocks_of(kind) if re.search(begins, one.text, re.MULTILINE)]


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def write(self, name, text):
        (pathlib.Path(self.folder) / name).write_text(text, encoding="utf-8")
        return f"{self.folder}/{name}"

    def txsync(self, *arguments, **environment):
        return subprocess.run([TXSYNC, *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **environment})

    def test_policies_are_read(self):
        policies = files_of("toml", r"^\[(?:default|site\.)")
        self.assertGreaterEqual(len(policies), 2)
        for one in policies:
            with self.subTest(block=f"{one.page}:{one.line}"):
                file = self.write("policy.toml", one.text)
                done = self.txsync("run", "--policy", file, "--", "no-such-program")  # the policy is read first
                self.assertEqual(done.returncode, 127, done.stderr)

    def test_a_part_of_a_machine_lacks_numbers_only(self):
        machines = files_of("toml", r"^name = ")
        self.assertEqual(len(machines), 1)
        name = re.search(r'^name = "(.*)"', machines[0].text, re.MULTILINE).group(1)
        self.write(f"{name}.toml", machines[0].text)
        done = self.txsync("list", "machines", TXSYNC_MACHINES=self.folder)
        self.assertRegex(done.stderr, rf"{name}\.toml:\d+: \S+ is missing; allowed: ")

    def test_no_other_file_is_shown(self):
        self.assertEqual(len(files_of("toml", "")), len(files_of("toml", r"^\[(?:default|site\.)")) + len(files_of("toml", r"^name = ")))

    def test_json_is_json(self):
        for one in pages.blocks_of("json"):
            with self.subTest(block=f"{one.page}:{one.line}"):
                self.assertIsInstance(json.loads(re.sub(r"\.\.\.", "", one.text)), dict)


class CMake(unittest.TestCase):
    def test_blocks_configure(self):
        blocks = pages.blocks_of("cmake")
        self.assertGreaterEqual(len(blocks), 3)
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for component in ("development", "simulator"):  # the latter may be empty
            done = subprocess.run(["cmake", "--install", BUILD, "--prefix", f"{folder}/installed", "--component", component],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for number, one in enumerate(blocks):
            with self.subTest(block=f"{one.page}:{one.line}"):
                source = pathlib.Path(folder) / str(number)
                source.mkdir()
                (source / "main.cpp").write_text("int main() {}\n", encoding="utf-8")
                text = one.text
                if "project(" not in text:
                    targets = re.findall(r"target_link_libraries\((\w+)", text)
                    programs = "".join(f"add_executable({target} main.cpp)\n" for target in targets)
                    text = f"cmake_minimum_required(VERSION 3.25)\nproject(page LANGUAGES CXX)\n{programs}{text}"
                (source / "CMakeLists.txt").write_text(text, encoding="utf-8")
                done = subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", source / "build", f"-DCMAKE_CXX_COMPILER={CXX}",
                                       f"-DCMAKE_PREFIX_PATH={folder}/installed"], capture_output=True, text=True, check=False)
                if "COMPONENTS simulator" in text and "has no simulated machine" in done.stderr:
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    TXSYNC, CXX, BUILD, INCLUDES["native"], INCLUDES["scripted"] = sys.argv[1:6]
    del sys.argv[1:6]
    unittest.main()
