#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py BIN PLAIN_MODEL MACHINES: programs made by txsync-c++, run on the simulated machine."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BIN = PLAIN_MODEL = MACHINES = None
FAILED = 99  # the status of a simulation that cannot go on


class Simulated(unittest.TestCase):
    """A folder for each class; what setUpClass() compiles serves all of its tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = pathlib.Path(cls.folder.name)

    @classmethod
    def call(cls, *command, **options):
        words = [str(word) for word in command]
        return subprocess.run(words, cwd=cls.at, capture_output=True, text=True, timeout=100, **options)

    @classmethod
    def compile(cls, source, output="program"):
        if not isinstance(source, pathlib.Path):
            (cls.at / "source.cpp").write_text(source, encoding="utf-8")
            source = "source.cpp"
        done = cls.call(BIN / "txsync-c++", "-g", "-std=c++20", source, "-o", output)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def simulate(self, program="program", machine="ideal", **options):
        model = self.at / f"{machine}.txt"
        if not model.exists():
            done = self.call(PLAIN_MODEL, MACHINES / f"{machine}.toml", model)
            self.assertEqual(done.returncode, 0, done.stderr)
        environment = {f"TXSYNC_SIM_{name.upper()}": str(value) for name, value in options.items()}
        return self.call(f"./{program}", env=os.environ | environment | {"TXSYNC_SIM_MODEL": str(model)})

    def records(self, **options):
        """What the runtime tells of a run that ends well, by name."""
        read, write = os.pipe()
        os.set_inheritable(write, True)
        try:
            with open(read, encoding="ascii") as told:
                model = self.at / "ideal.txt"
                self.simulate(**options)  # makes the model
                environment = {f"TXSYNC_SIM_{name.upper()}": str(value) for name, value in options.items()}
                environment |= {"TXSYNC_SIM_MODEL": str(model), "TXSYNC_SIM_RECORDS": str(write)}
                subprocess.run(["./program"], cwd=self.at, env=os.environ | environment, check=True, timeout=100,
                               capture_output=True, pass_fds=(write,))
                os.close(write)
                write = None
                lines = (line.split() for line in told)
                return {words[0]: int(words[1]) for words in lines if len(words) == 2
  }
        finally:
            if write is not None:
                os.close(write)


class Pthreads(Simulated):
    """pthread_mutex_lock and its kin, plain and elided, in several orders, checked by the oracle."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(HERE / "pthreads.cpp")

    def run_all(self, machine, **options):
        for order in (0, 1, 3):
            for seed in (1, 2):
                with self.subTest(order=order, seed=seed):
                    ran = self.simulate(machine=machine, order=order, seed=seed, oracle=1, **options)
                    self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def test_plain(self):
        self.run_all("ideal", elide=0)
        self.run_all("broadwell-e5-2697v4", elide=0)

    def test_elided(self):
        self.run_all("ideal", elide=1)
        self.run_all("broadwell-e5-2697v4", elide=1)

    def test_attempts_commit_only_when_asked_for(self):
        self.assertEqual(self.records(elide=0)["attempts.begun"], 0)
        self.assertGreater(self.records(elide=1)["attempts.committed"], 1000)


if __name__ == "__main__":
    BIN, PLAIN_MODEL, MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
