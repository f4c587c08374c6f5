#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ctags_test.py BUILD_DIR: ctags lists every function of src and include that clangd lists, by file and name, but those
that a macro makes. A few files, drawn once; all with TXSYNC_TEST_BUDGET=full (a quarter of an hour). Status 77 where a
tool is missing."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ""
CLANGD = shutil.which("clangd-19")
FUNCTIONS = (6, 9, 12)  # method, constructor, function
SAMPLE = 6


class language_server:
    """clangd, asked over its standard input, one question at a time."""

    def __init__(self, test):
        self.process = test.enterContext(
            subprocess.Popen([CLANGD, "--background-index=false", "--clang-tidy=false", "--log=error", f"--compile-commands-dir={BUILD}"],
                             cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        test.addCleanup(self.process.terminate)
        self.asked = 0
        symbols = {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}
        self.ask("initialize", {"processId": os.getpid(), "rootUri": ROOT.as_uri(), "capabilities": {"textDocument": symbols}})
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while header := self.process.stdout.readline().strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.asked += 1
        self.send({"id": self.asked, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.asked and "method" not in message:
                return message["result"]

    def functions(self, path):
        """The functions of a file, as (line number, name)."""
        document = {"uri": (ROOT / path).as_uri()}
        text = (ROOT / path).read_text(encoding="utf-8")
        self.send({"method": "textDocument/didOpen",
                   "params": {"textDocument": {**document, "languageId": "cpp", "version": 1, "text": text}}})
        ahead, found = self.ask("textDocument/documentSymbol", {"textDocument": document}), []
        self.send({"method": "textDocument/didClose", "params": {"textDocument": document}})
        while ahead:
            symbol = ahead.pop()
            ahead += symbol.get("children", [])
            if symbol["kind"] in FUNCTIONS:
                found.append((symbol["selectionRange"]["start"]["line"] + 1, symbol["name"]))
        return sorted(found)


def plain(name):
    """The name as both tools have it: without its class, a specialization's arguments, and spaces."""
    name = name.replace(" ", "")
    if "operator" in name:
        return name[name.index("operator"):]
    return re.sub(r"<.*>$", "", name).split("::")[-1]


def made_by_macro(name, line):
    """Whether the line calls a macro that makes the function of this name."""
    call = re.match(r"\s*[A-Z][A-Z0-9_]*\(([^()]*)\)", line)
    return name not in line.replace(" ", "") or (call is not None and name in re.findall(r"\w+", call[1]))


def tags(paths):
    """The names that ctags lists, by file."""
    listed = subprocess.run(["ctags", "--options=NONE", "--options=.ctags.d/txsync.ctags", "--output-format=json", "-f", "-", *paths],
                            cwd=ROOT, capture_output=True, check=True, text=True).stdout
    names = {}
    for line in listed.splitlines():
        tag = json.loads(line)
        if tag["_type"] == "tag":
            names.setdefault(tag["path"], set()).add(plain(tag["name"]))
    return names


def paths():
    all_of = sorted(path.relative_to(ROOT).as_posix() for folder in ("src", "include") for path in (ROOT / folder).rglob("*.[ch]pp"))
    if os.environ.get("TXSYNC_TEST_BUDGET") == "full":
        return all_of
    return sorted(all_of, key=lambda path: hashlib.sha1(path.encode()).digest())[:SAMPLE]


def has_tools():
    if not CLANGD or not shutil.which("ctags"):
        return False
    return "Universal" in subprocess.run(["ctags", "--version"], capture_output=True, check=False, text=True).stdout


class Tools(unittest.TestCase):
    def test_ctags_lists_what_clangd_lists(self):
        server, chosen, count = language_server(self), paths(), 0
        names = tags(chosen)
        for path in chosen:
            lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
            with self.subTest(path=path):
                listed = [(line, name) for line, name in server.functions(path) if not made_by_macro(plain(name), lines[line - 1])]
                count += len(listed)
                self.assertEqual([one for one in listed if plain(one[1]) not in names.get(path, ())], [])
        self.assertGreater(count, len(chosen))

    def test_functions_that_macros_make_are_told(self):
        self.assertTrue(made_by_macro("GOMP_task", "MAKES_TASKS(GOMP_task, task)"))
        self.assertTrue(made_by_macro("anything", "MAKES_TASKS(GOMP_task, task)"))
        self.assertFalse(made_by_macro("GOMP_barrier", "TXSYNC_INTERPOSE void GOMP_barrier() {"))
        self.assertFalse(made_by_macro("lock", "TXSYNC_ACQUIRE(this) void lock() {"))

    def test_names_are_the_same_for_both(self):
        for name, expected in (("operator ()", "operator()"), ("site::site", "site"), ("hash<int>", "hash"), ("~site", "~site"),
                               ("vector<T>::at", "at"), ("one::operator<", "operator<")):
            self.assertEqual(plain(name), expected)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    if not has_tools():
        print("skipped: there is no universal-ctags, or no clangd-19")
        sys.exit(77)
    unittest.main()
