# SPDX-License-Identifier: Apache-2.0
"""How a test in Python is skipped."""


def leave(test, reason):
    """Skips the test, in the words in which check.py finds it."""
    print(f"[  SKIPPED ] {type(test).__name__}.{test._testMethodName} (0 ms)", flush=True)
    test.skipTest(reason)
