# SPDX-License-Identifier: Apache-2.0
"""body_types_test.py CXX INCLUDE[:INCLUDE...]: what the compiler says of a body that atomically() cannot take, and of one
that reaches for what is not for users."""

import re
import subprocess
import sys
import unittest

PROGRAM = """
#include <txsync/tm.hpp>
namespace stm = txsync::tm;
constinit stm::block counting{"count"};
stm::var<int> number{0};
int kept = 0;
auto run() {
  return stm::atomically(counting, %s);
}
"""

KINDS = ["stm::transaction", "stm::direct_transaction"]
# Each statement is a function of its own, on a line of its own.
STATEMENTS = """
#include <txsync/tm.hpp>
namespace stm = txsync::tm;
stm::var<int> number{0};
stm::word cell{0};
"""
# What an engine allows, and what the compiler says of the same with a transaction.
OF_ENGINE = {
    "(void)it.mode": "no member named",
    "(void)it.bound()": "no member named",
    "it.set_bound(0)": "no member named",
    "it.undo.clear()": "no member named",
    "[[maybe_unused]] stm::detail::engine& me = it": "invalid initialization|cannot bind",
    "(void)static_cast<stm::detail::engine&>(it)": "invalid .static_cast.|cannot bind",
    "(void)static_cast<stm::detail::transaction_engine&>(it)": "inaccessible|private|invalid .static_cast.|cannot bind",
}
OF_LIBRARY = {
    "(void)it.state()": "private",
    "(void)it.read_word(cell)": "private",
    "it.write_word(cell, 1)": "private",
    "stm::transaction made": "private",
    "(void)stm::direct_transaction(it.state())": "private",
    "(void)number.at(0)": "private",
}


class Bodies(unittest.TestCase):
    compiler = []

    def errors_of(self, program):
        done = subprocess.run([*self.compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=program, text=True,
                              capture_output=True, check=False)
        return [line for line in done.stderr.splitlines() if "error: " in line]

    def errors(self, body):
        return self.errors_of(PROGRAM % body)

    def errors_of_each(self, kinds, statements):
        """What the compiler says of each statement, with `it` of each of these kinds."""
        cases = [(kind, one) for kind in kinds for one in statements]
        functions = [f"void f{number}([[maybe_unused]] {kind}& it) {{ {one}; }}\n" for number, (kind, one) in enumerate(cases)]
        first = STATEMENTS.count("\n") + 1
        said = dict.fromkeys(cases, "")
        for error in self.errors_of(STATEMENTS + "".join(functions)):
            found = re.match(r"<stdin>:(\d+):", error)
            self.assertIsNotNone(found, error)
            said[cases[int(found.group(1)) - first]] += error
        return said

    def test_a_generic_body_is_taken(self):
        self.assertEqual(self.errors("[](auto& tx) { return tx.read(number); }"), [])

    def test_a_body_for_one_kind_of_transaction_gets_one_line(self):
        for kind in [*KINDS, "int"]:
            said = self.errors("[](%s&) { return 1; }" % kind)
            self.assertEqual(len(said), 1, said)
            self.assertIn("the body has to take its transaction as `auto& tx`", said[0])

    def test_a_reference_is_no_result(self):
        said = self.errors("[](auto&) -> int& { return kept; }")
        self.assertIn("the body has to return a value, or nothing", said[0])

    def test_an_engine_is_not_reached_through_a_transaction(self):
        allowed = self.errors_of_each(["stm::detail::transaction_engine"], OF_ENGINE)
        self.assertEqual(set(allowed.values()), {""}, allowed)
        for (kind, statement), error in self.errors_of_each(KINDS, OF_ENGINE).items():
            self.assertRegex(error, OF_ENGINE[statement], f"{kind}: {statement}")

    def test_what_the_library_alone_calls_is_private(self):
        for (kind, statement), error in self.errors_of_each(KINDS, OF_LIBRARY).items():
            self.assertRegex(error, OF_LIBRARY[statement], f"{kind}: {statement}")


if __name__ == "__main__":
    compiler, folders = sys.argv[1:]
    Bodies.compiler = [compiler, *(word for folder in folders.split(":") for word in ("-I", folder))]
    unittest.main(argv=sys.argv[:1])
