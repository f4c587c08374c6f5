# SPDX-License-Identifier: Apache-2.0
"""body_types_test.py CXX INCLUDE[:INCLUDE...]: what the compiler says of a body that atomically() cannot take."""

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


class Bodies(unittest.TestCase):
    compiler = []

    def errors(self, body):
        done = subprocess.run([*self.compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=PROGRAM % body, text=True,
                              capture_output=True, check=False)
        return [line for line in done.stderr.splitlines() if "error: " in line]

    def test_a_generic_body_is_taken(self):
        self.assertEqual(self.errors("[](auto& tx) { return tx.read(number); }"), [])

    def test_a_body_for_one_kind_of_transaction_gets_one_line(self):
        for kind in ["stm::transaction", "stm::direct_transaction", "int"]:
            said = self.errors("[](%s&) { return 1; }" % kind)
            self.assertEqual(len(said), 1, said)
            self.assertIn("the body has to take its transaction as `auto& tx`", said[0])

    def test_a_reference_is_no_result(self):
        said = self.errors("[](auto&) -> int& { return kept; }")
        self.assertIn("the body has to return a value, or nothing", said[0])


if __name__ == "__main__":
    compiler, folders = sys.argv[1:]
    Bodies.compiler = [compiler, *(word for folder in folders.split(":") for word in ("-I", folder))]
    unittest.main(argv=sys.argv[:1])
