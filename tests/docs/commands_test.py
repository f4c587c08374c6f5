#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands_test.py TXSYNC CC: the commands of pages. Each command line in a block is executed, with shorter runs and with
small programs for PROGRAM, ./server and so on. NOT_RUN lists those that are not, with the reason. Verbs and options of
all of them have to be known, and so have those in the text of pages (`txsync run --policy`)."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pages  # noqa: E402

TXSYNC = CC = ""

# Of txsync's own commands; the text begins so.
NOT_RUN = {
    "txsync lab all": "three minutes",
    "txsync lab leveldb-fillseq leveldb-fillrandom": "needs LevelDB, which integrations/leveldb-simulated.sh fetches and builds",
    "txsync explore": "all tests, an hour; with names of tests it is run",
    "txsync-c++ -std=c++20 -g -c -I/usr/src/googletest/googletest /usr/src/googletest/googletest/src/gtest-all.cc /usr/src/googletest/googletest/src/gtest_main.cc": "compiles GoogleTest; tests/sim/programs/own_explorations.py does",
    "txsync-c++ -std=c++20 -g account_test.cpp gtest-all.o gtest_main.o -o account_test": "as above",
}
# Commands of others, by the first word.
OTHERS = {
    "apt-get": "installs packages",
    "git": "needs the repository's address",
    "cd": "no command of its own", "export": "no command of its own",
    "seq": "a tool of the system",
    "perf": "needs the right to trace, and the tool",
    "bpftrace": "needs root, and the tool",
    "go": "tests/launch/profile_files_test.py runs it, where it is installed",
    "flamegraph.pl": "tests/launch/profile_files_test.py runs it, where it is installed",
    "npx": "fetches a package",
    "memcaslap": "needs the tool; tests/cache_server talks to the server",
}

PROGRAM = """
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void* work(void* unused) {
  for (int i = 0; i < 1000; ++i) { pthread_mutex_lock(&lock); ++done; pthread_mutex_unlock(&lock); }
  return unused;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, 0);
  work(0);
  pthread_join(other, 0);
  puts("ops/s: 12.5");
  puts("transactions: 7");
}
"""
PROGRAMS = ("PROGRAM", "server", "benchmark", "worker", "shop", "kcgrasstest")
POLICY = 'schema = 1\n[default]\nlock = "ticket"\n'
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n2 2 1\n3 3 1\n1 2 1\n2 3 1\n"


def call(words, folder, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TXSYNC_")}
    path = f"{folder}:{os.path.dirname(TXSYNC)}:{os.environ['PATH']}"
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=100, check=False, stdin=subprocess.DEVNULL,
                          env={**kept, "PATH": path, **environment})


# ---- what there is


@functools.lru_cache(None)
def help_of(verb):
    return call([TXSYNC, *([verb] if verb else []), "--help"], "/").stdout


def options_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))


def verbs():
    return set(re.findall(r"(?m)^  ([a-z]+) {2,}", help_of("").split("\nVerbs:\n")[1]))


def unknown_in(words):
    """What a txsync command line has that the command has not; empty if all is known. An option may be shortened to `--X ...`."""
    own = words[1:words.index("--")] if "--" in words else words[1:]
    if own and own[0].startswith("-"):
        return sorted(options_in(" ".join(own)) - options_in(help_of("")))
    if not own or own[0] not in verbs():
        return own[:1]
    return sorted(option for option in options_in(" ".join(word for word in own if word.startswith("-")))
                  if option not in options_in(help_of(own[0])))


@functools.lru_cache(None)
def text_of(*paths):
    return "\n".join(pages.read(path) for path in pages.tracked(*paths))


def unknown_to_dev(words):
    """The same for ./dev."""
    usage = text_of("dev")
    commands = re.search(r"    ([a-z |]+)\) \"cmd_\$command\"", usage).group(1).split(" | ")
    if len(words) < 2 or words[1] not in [*commands, "help"]:
        return words[1:2]
    known = usage
    if words[1] == "bench" and len(words) > 2:
        if not re.search(rf"\b(?:bench_{words[2]}|txsync_bench\({words[2]}|NAME {words[2]})\b", text_of("benchmarks")) \
                and not re.search(rf"\b{words[2]}\b", usage) \
                and words[2] not in ("NAME", "COMMIT"):
            return words[2:3]
        known += text_of("benchmarks")
    return sorted(option for option in options_in(" ".join(words[2:])) if option not in options_in(known))


# ---- what is run


def replaced(words, option, value):
    """The words with another value of the option, which is added if it is not there."""
    if option in words:
        at = words.index(option)
        return [*words[:at + 1], value, *words[at + 2:]]
    return [*words, option, value]


def without(words, option):
    at = words.index(option) if option in words else len(words)
    return words[:at] + words[at + 2:]


def shorter(words):
    """The command line for a run that is short."""
    at = words.index("--") if "--" in words else len(words)
    own, program = words[1:at], words[at:]
    verb, what = own[0], own[1] if len(own) > 1 else ""
    if verb in ("bench", "sim") and not program:
        own = replaced(without(own, "--duration"), "--operations", "5")
        own = [word for word in own if not word.startswith("keys=")]
        own += {"mapbench": ["keys=1K"], "cache": ["keys=200"]}.get(what, [])
        if what == "trisolve" and not any(word.startswith("file=") for word in own):
            own += ["rows=200", "parallelism=20"]
        if "--lock" not in own:
            own += ["--lock", "txsync::barrier" if what == "trisolve" else "tatas"]
        if verb == "bench":
            own = replaced(own, "--repeat", "1")
    elif verb == "explore":
        own = replaced(own, "--schedules", "100" if program else "20")
    elif verb == "tune":
        own = replaced(replaced(own, "--rounds", "6"), "--time", "1")
        own = own if program else replaced(own, "--duration", "2")
    elif verb == "lab" and f"\n{what} " in "\n" + call([TXSYNC, "list", "experiments"], "/").stdout:
        own[1] = "closed-form-tmcam"  # as any other, and short
    elif verb == "top":
        own.append("--once")
    return [TXSYNC, *own, *program]


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        here = pathlib.Path(cls.folder)
        (here / "program.c").write_text(PROGRAM, encoding="utf-8")
        subprocess.run([CC, "-O1", "-g", "-pthread", "-o", here / PROGRAMS[0], here / "program.c"], check=True)
        for name in PROGRAMS[1:]:
            shutil.copy(here / PROGRAMS[0], here / name)
        for name, text in (("policy.toml", POLICY), ("shop.toml", POLICY), ("jobs", "1\n"), ("input.txt", "1\n"),
                           ("mine.cpp", PROGRAM), ("offshore.mtx", MATRIX),
                           ("mine.toml", text_of("machines/ideal.toml").replace('"ideal"', '"mine"', 1))):
            (here / name).write_text(text, encoding="utf-8")
        for one in pages.blocks_of("c++"):  # those that are files
            if match := re.match(r"// (\w+\.cpp)$", one.first_line()):
                (here / match.group(1)).write_text(one.text, encoding="utf-8")
        for name in ("before.json", "after.json"):
            cls.result = call([TXSYNC, "run", "--json", name, "--", "./shop"], cls.folder)
        cls.simulates = os.access(os.path.join(os.path.dirname(TXSYNC), "txsync-c++"), os.X_OK) and \
            call([TXSYNC, "list", "tests"], cls.folder).stdout.startswith("tatas")
        if cls.simulates:
            cls.built = call(["txsync-c++", "-x", "c++", "-O1", "-g", "-fpermissive", "-w", "-o", "mine", "mine.cpp"], cls.folder)

    def simulated(self, words):
        """Whether they need the simulated machine, or what it has made."""
        return words[0] == "txsync-c++" or "--machine" in words or words[1:2] in (["sim"], ["explore"], ["replay"], ["lab"]) or \
            words[1:2] == ["report"] and words[2].startswith(("lab", "explored"))

    def check(self, one):
        words = one.words
        environment = {}
        while re.match(r"[A-Z_]+=", words[0]):
            name, _, value = words[0].partition("=")
            environment[name], words = value, words[1:]
        if self.simulated(words) and not self.simulates:
            return
        if words[0] == "txsync-c++":
            words = words[:next((at for at, word in enumerate(words) if word.startswith("$(")), len(words))]
        elif words[0] == "txsync":
            words = shorter(words)
        begun = time.monotonic()
        if "top" in words[1:2]:
            with subprocess.Popen([TXSYNC, "run", "--", "sh", "-c", "echo $$; exec sleep 60"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as watched:
                process = watched.stdout.readline().strip()
                done = call([process if word == "PID" else word for word in words], self.folder)
                watched.terminate()
        else:
            done = call(words, self.folder, **environment)
        if os.environ.get("TXSYNC_SHOW_TIMES"):
            print(f"{time.monotonic() - begun:6.2f} s  {one.where()}  {one.text}", file=sys.stderr)
        allowed = (0, 1) if words[1:2] in (["explore"], ["replay"]) else (0,)  # a schedule that fails has been found
        self.assertIn(done.returncode, allowed, done.stdout + done.stderr)

    def test_commands_end_well(self):
        own = [one for one in pages.commands() if re.match(r"(?:[A-Z_]+=\S+ )*(?:txsync|txsync-c\+\+|\./shop)\b", one.text)]
        self.assertGreater(len(own), 60)
        not_run = {one.text for one in own if one.text in NOT_RUN}
        self.assertEqual(not_run, set(NOT_RUN), "a line of NOT_RUN is without use")
        seen = set()
        for one in own:
            if one.text not in NOT_RUN and one.text not in seen:
                seen.add(one.text)
                with self.subTest(command=f"{one.where()}: {one.text}"):
                    self.check(one)


class Known(unittest.TestCase):
    def test_what_is_unknown_is_found(self):
        self.assertEqual(unknown_in(["txsync", "run", "--policy", "x", "--", "--frob"]), [])
        self.assertEqual(unknown_in(["txsync", "run", "--frob", "x"]), ["--frob"])
        self.assertEqual(unknown_in(["txsync", "frob"]), ["frob"])
        self.assertEqual(unknown_in(["txsync", "--version"]), [])
        self.assertEqual(unknown_to_dev(["./dev", "frob"]), ["frob"])
        self.assertEqual(unknown_to_dev(["./dev", "test", "--frob"]), ["--frob"])
        self.assertEqual(unknown_to_dev(["./dev", "bench", "frob"]), ["frob"])

    def test_commands_of_txsync(self):
        for one in pages.commands():
            words = [word for word in one.words if not re.match(r"[A-Z_]+=", word)]
            if words[:1] == ["txsync"]:
                with self.subTest(command=f"{one.where()}: {one.text}"):
                    self.assertEqual(unknown_in(words), [])

    def test_commands_in_the_text(self):
        count = 0
        for page in pages.pages():
            if page == "CHANGELOG.md":
                continue
            for line, text in pages.spans(page):
                if match := re.match(r"txsync(?: (?:[a-z]+|--?[a-z][\w-]*)\b.*)?$", text):
                    words = match.group(0).split()
                    count += len(words) > 1
                    with self.subTest(span=f"{page}:{line}: {text}"):
                        self.assertEqual(unknown_in(words) if len(words) > 1 else [], [])
                elif text.startswith("./dev "):
                    count += 1
                    with self.subTest(span=f"{page}:{line}: {text}"):
                        self.assertEqual(unknown_to_dev(text.split()), [])
        self.assertGreater(count, 200)

    def test_commands_of_others(self):
        for one in pages.commands():
            words = [word for word in one.words if not re.match(r"[A-Z_]+=", word)]
            first = words[0]
            with self.subTest(command=f"{one.where()}: {one.text}"):
                if first == "./dev":
                    self.assertEqual(unknown_to_dev(words), [])
                elif first.startswith(("integrations/", "tests/")):
                    self.assertTrue(os.access(pages.ROOT / first, os.X_OK), "no such script")
                    known = options_in(text_of(first, "integrations/lib.sh"))
                    self.assertLessEqual(options_in(" ".join(words[1:])), known)
                elif first == "cmake":
                    known = text_of("CMakeLists.txt", "cmake/*", "src/CMakeLists.txt")
                    for name in re.findall(r"-D(TXSYNC_\w+)", one.text):
                        self.assertRegex(known, rf"option\({name}\b")
                elif first == "ctest":
                    self.assertIn(f'"name": "{words[words.index("--preset") + 1]}"', text_of("CMakePresets.json"))
                elif first.startswith("build/release/bin/"):
                    self.assertLessEqual(options_in(" ".join(words[1:])), options_in(text_of("src/cache_server/main.cpp")))
                elif first.startswith("build/asan/bin/"):
                    self.assertRegex(text_of("tests/*/CMakeLists.txt"), rf"txsync_tests?\({first.rpartition('/')[2]} ")
                elif first not in ("txsync", "txsync-c++", "./shop"):
                    self.assertIn(first, OTHERS, "say why it is not run")


if __name__ == "__main__":
    TXSYNC, CC = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
