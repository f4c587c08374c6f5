#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checker finds each kind of violation, and nothing where there is none."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import house  # noqa: E402
from language_test import Exceptions, Names, Sentences  # noqa: E402, F401 (./dev lint runs this file)
from requires_test import Requirements  # noqa: E402, F401

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class House(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return [(path, line, rule) for path, line, rule, _ in house.check(root, sorted(files))]

    def test_downwards_is_allowed(self):
        self.assertEqual(
            self.violations({
                "include/txsync/machine/cpu.hpp": SPDX + "#include <txsync_backend/cpu.hpp>\n",
                "include/txsync/mutex.hpp": SPDX + "#include <txsync/machine/cpu.hpp>\n",
                "src/locks/mutex.cpp": SPDX + '#include <txsync/mutex.hpp>\n#include "backoff.hpp"\n#include <vector>\n',
                "src/locks/backoff.hpp": SPDX + "#include <txsync/machine/cpu.hpp>\n",
                "tests/locks/mutex_test.cpp": SPDX + '#include "workloads/team.hpp"\n',
            }), [])

    def test_upwards_is_found(self):
        self.assertEqual(
            self.violations({
                "include/txsync/machine/cpu.hpp": SPDX + "#include <txsync/mutex.hpp>\n",
                "include/txsync/mutex.hpp": SPDX,
                "src/observe/site.cpp": SPDX + '\n#include "locks/backoff.hpp"\n',
                "src/locks/backoff.hpp": SPDX,
            }), [("include/txsync/machine/cpu.hpp", 2, "floors"), ("src/observe/site.cpp", 3, "floors")])

    def test_up_by_a_relative_path_is_found(self):
        self.assertEqual(
            self.violations({
                "src/machine/a.cpp": SPDX + '#include "../locks/backoff.hpp"\n',
                "src/locks/backoff.hpp": SPDX,
            }), [("src/machine/a.cpp", 2, "floors")])

    def test_a_header_that_is_not_there_yet_has_a_floor(self):
        self.assertEqual(
            self.violations({"src/observe/a.cpp": SPDX + "#include <txsync/locks/later.hpp>\n"}),
            [("src/observe/a.cpp", 2, "floors")])

    def test_names_of_the_wire_are_in_one_file(self):
        option = '"TXSYNC_SIM_SEED";\n'
        self.assertEqual(
            self.violations({
                "src/sim/protocol.hpp": SPDX + option,
                "src/sim/host/image.cpp": SPDX + option + "seen.number(number_record::threads);\n",
                "src/cli/a.cpp": SPDX + 'seen.number("threads");\n',
                "src/sim/runtime/start.cpp": SPDX + 'write_record("threads", 1);\n',
                "tests/sim/a.cpp": SPDX + option,
            }), [("src/cli/a.cpp", 2, "wire"), ("src/sim/host/image.cpp", 2, "wire"), ("src/sim/runtime/start.cpp", 2, "wire")])

    def test_neighbours_do_not_meet(self):
        self.assertEqual(
            self.violations({"src/store/a.cpp": SPDX + '#include "tm/b.hpp"\n', "src/tm/b.hpp": SPDX}),
            [("src/store/a.cpp", 2, "floors")])

    def test_sim_uses_nothing_above_it_but_its_own_interface(self):
        self.assertEqual(
            self.violations({
                "src/sim/a.cpp": SPDX + "#include <txsync_backend/runtime.h>\n#include <txsync_backend/cpu.hpp>\n"
            }), [("src/sim/a.cpp", 3, "floors")])

    def test_folders_of_a_floor_have_an_order(self):
        self.assertEqual(
            self.violations({
                "src/workloads/harness/a.cpp": SPDX + '#include "workloads/generators/b.hpp"\n',
                "src/workloads/generators/b.hpp": SPDX + '#include "workloads/harness/a.hpp"\n#include "../cache/c.hpp"\n',
                "src/workloads/harness/a.hpp": SPDX,
                "src/workloads/cache/c.hpp": SPDX,
                "src/workloads/subjects/d.cpp": SPDX + '#include "workloads/generators/b.hpp"\n',
            }), [("src/workloads/generators/b.hpp", 3, "floors"), ("src/workloads/harness/a.cpp", 2, "floors")])

    def test_benchmarks_include_nothing_of_the_command(self):
        files = {"src/cli/a.hpp": SPDX, "src/simulate/b.hpp": SPDX}
        for name, at in (("cli/a.hpp", 3), ("../src/cli/a.hpp", 3), ("simulate/b.hpp", 0)):
            with self.subTest(name=name):
                self.assertEqual(self.violations(files | {"benchmarks/a.cpp": SPDX + f'\n#include "{name}"\n'}),
                                 [("benchmarks/a.cpp", at, "floors")] if at else [])
                self.assertEqual(self.violations(files | {"tests/cli/a.cpp": SPDX + f'\n#include "{name}"\n'}), [])

    def test_unknown_folders_and_faces_are_found(self):
        self.assertEqual(
            self.violations({"src/attic/a.cpp": SPDX, "include/txsync/new.hpp": SPDX}),
            [("include/txsync/new.hpp", 1, "floors"), ("src/attic/a.cpp", 1, "floors")])

    def test_what_belongs_below_the_seam_is_found(self):
        for code in ("asm volatile(\"\");", "__builtin_ia32_pause();", "std::atomic_thread_fence(order);", "syscall(1);",
                     "_mm_pause();", "__builtin_prefetch(p);", "__sync_synchronize();"):
            with self.subTest(code=code):
                self.assertEqual(self.violations({"src/locks/a.cpp": SPDX + code + "\n"}), [("src/locks/a.cpp", 2, "seam")])
                self.assertEqual(self.violations({"src/machine/native/a.cpp": SPDX + code + "\n"}), [])

    def test_words_in_comments_and_strings_are_no_code(self):
        text = SPDX + '// asm, syscall(\n/* atomic_thread_fence\n asm */ const char* s = "syscall(1)"; my.syscall(2);\n'
        self.assertEqual(self.violations({"src/locks/a.cpp": text}), [])

    def test_missing_licence_is_found(self):
        self.assertEqual(
            self.violations({"src/locks/a.cpp": "int a;\n", "dev": "#!/bin/bash\n# hello\n", "empty.sh": "", "README.md": "hi\n"}),
            [("dev", 2, "spdx"), ("empty.sh", 1, "spdx"), ("src/locks/a.cpp", 1, "spdx")])

    def test_long_files_are_found(self):
        self.assertEqual(self.violations({"src/locks/a.cpp": SPDX + "\n" * 600}), [("src/locks/a.cpp", 601, "length")])
        self.assertEqual(self.violations({"src/locks/a.cpp": SPDX + "\n" * 599}), [])

    def test_a_command_that_is_more_than_options_tables_and_verbs_is_found(self):
        files = {f"src/cli/{number}.cpp": SPDX + "\n" * 599 for number in range(5)}
        self.assertEqual(self.violations(files | {"src/cli/a.hpp": SPDX + "\n" * 299}), [])
        self.assertEqual(self.violations(files | {"src/cli/a.hpp": SPDX + "\n" * 300}), [("src/cli/", 1, "length")])


if __name__ == "__main__":
    unittest.main()
