#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fetches.py OBJDUMP CACHE_SERVER WARM_UP_TESTS: bodies run by waiters do prefetch, as the binary shows. A compiler may
remove a prefetch as something without effect, and with it all that led to it."""

import re
import subprocess
import sys
import unittest

OBJDUMP = CACHE_SERVER = WARM_UP_TESTS = None
# Of x86-64, AArch64 and POWER.
TO_READ = re.compile(r"\s(prefetcht0|prfm\s+pldl1|dcbt\s)")
TO_WRITE = re.compile(r"\s(prefetchw|prfm\s+pstl1|dcbtst\s)")


def functions_of(binary):
    """Their instructions, by name."""
    done = subprocess.run([OBJDUMP, "-d", "-C", "--no-show-raw-insn", binary], capture_output=True, text=True, check=True)
    functions, name = {}, None
    for line in done.stdout.splitlines():
        if begins := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            name = begins.group(1)
        elif name is not None:
            functions[name] = functions.get(name, "") + line + "\n"
    return functions


class Fetches(unittest.TestCase):
    def test_a_function_that_does_nothing_else(self):
        found = [text for name, text in functions_of(WARM_UP_TESTS).items() if "only_fetches(" in name]
        self.assertTrue(found, "the function is gone")
        self.assertRegex("".join(found), TO_READ)
        self.assertRegex("".join(found), TO_WRITE)

    def test_the_requests_of_the_cache_server(self):
        requests = {"warm": [], "section": []}
        for name, text in functions_of(CACHE_SERVER).items():
            for memory, texts in requests.items():
                if re.search(rf"cache::store::\w+<.*{memory}_memory>", name):
                    texts.append(text)
        for texts in requests.values():
            self.assertTrue(texts, "no function of the cache goes by its name")
        warm, section = "".join(requests["warm"]), "".join(requests["section"])
        self.assertRegex(warm, TO_READ)
        self.assertRegex(warm, TO_WRITE)
        self.assertNotRegex(section, TO_WRITE, "by the holder of the lock, the same body, nothing is fetched")


if __name__ == "__main__":
    OBJDUMP, CACHE_SERVER, WARM_UP_TESTS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
