#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""generated_test.py TXSYNC PROGRAM PLUGINS FULL: generated programs (program.hpp) work alone and under `txsync run`. There
they run with their own locks and with each policy that `txsync list policies` names. Seeds 1 to 300, complete alone
and with --brief under policies. With TXSYNC_TEST_BUDGET=full FULL programs, all with --brief. Those that went wrong once
(seeds.txt) always run. GENERATED_FIRST gives another first seed, and GENERATED_COUNT their number.

A program hangs that takes longer than a minute: a failure at once. One that takes longer than 5 s and ten times as long as
alone is run again when nothing else of this test runs. Three times in a row are a failure, since no program needs a second
alone. Otherwise it is a remark: a lock may let a thread wait long on a busy machine. A frequent remark shows a fault.
"""

import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

CHUNK = 100
WAITING = 3  # more runs at a time than cores: programs wait for deadlines, too
WAITING_BRIEF = 6  # they wait more than they compute
HANGS_S = 60
SLOW_S = 5
SLOW_TIMES = 10  # of the time alone
TRIES = 3


def policies(txsync):
    listed = subprocess.run([txsync, "list", "policies"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def kept_seeds():
    lines = (pathlib.Path(__file__).parent / "seeds.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


class Way:
    """How programs are run: alone, or under txsync."""

    def __init__(self, name, command, briefly=None):
        self.name = name
        self.command = command
        self.briefly = briefly

    def run(self, seeds, slow_s):
        """The status, the seeds that went wrong, the seconds of those that were slow, and all output."""
        limits = ["--limit", str(HANGS_S), "--slow", str(slow_s)]
        done = subprocess.run([*self.command, *limits, *seeds], capture_output=True, text=True)
        wrong = re.findall(r"^seed (\d+) goes wrong: ", done.stdout, re.MULTILINE)
        took = re.findall(r"^seed (\d+) took ([\d.]+) s$", done.stdout, re.MULTILINE)
        text = done.stdout + done.stderr[-400:] * (done.returncode not in (0, 1))
        return done.returncode, wrong, [(seed, float(s)) for seed, s in took if seed not in wrong], text

    def fault(self, status, wrong, text):
        again = "".join(f"again: {shlex.join([*self.command, '--times', '100', seed])}\n" for seed in wrong)
        return f"{self.name}: status {status}, seeds {' '.join(wrong) or 'unknown'}\n{text}{again}"


def try_slow_again(way, alone, seed, first_s):
    """Whether it is a fault, and what to say."""
    tries = [first_s]
    while len(tries) < TRIES:
        alone_s = [s for _, s in alone.run([seed], slow_s=0)[2]]
        status, wrong, took, text = way.run([seed], slow_s=0)
        if status != 0:
            return True, way.fault(status, wrong, text)
        tries.append(took[0][1])
        if not alone_s or tries[-1] <= SLOW_S + SLOW_TIMES * alone_s[0]:
            break
    said = ", ".join(f"{s:.1f}" for s in tries)
    if len(tries) == TRIES and tries[-1] > SLOW_S + SLOW_TIMES * alone_s[0]:
        return True, way.fault(0, [seed], f"always slow: {said} s; alone {alone_s[0]:.1f} s\n")
    return False, f"{way.name} {seed} ({said} s)"


def way_under(policy, txsync, generated):
    command = [txsync, "run", "--policy", policy, "--", *generated]
    return Way("under " + policy, command, Way(f"under {policy}, briefly", [*command, "--brief"]))


def jobs(ways, first, count):
    """Ways with the seeds of one run."""
    for way in ways:
        yield way, kept_seeds()
    for start in range(first, first + count, CHUNK):
        for index, way in enumerate(ways):
            yield way.briefly if index != 0 else way, [f"{start}-{min(start + CHUNK, first + count) - 1}"]


def main():
    txsync, program, plugins, programs_full = sys.argv[1:5]
    full = os.environ.get("TXSYNC_TEST_BUDGET") == "full"
    first = int(os.environ.get("GENERATED_FIRST", "1"))
    count = int(os.environ.get("GENERATED_COUNT", programs_full if full else "300"))
    generated = [program, plugins, *["--brief"] * full]
    alone = Way("alone", generated)
    ways = [alone] + [way_under(policy, txsync, generated) for policy in policies(txsync)]
    failed, slow = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() + (WAITING_BRIEF if full else WAITING)) as pool:
        todo = list(jobs(ways, first, count))
        for (way, _), (status, wrong, took, text) in zip(todo, pool.map(lambda job: job[0].run(job[1], SLOW_S), todo)):
            slow += [(way, seed, s) for seed, s in took]
            if status != 0:
                failed += 1
                print(way.fault(status, wrong, text), flush=True)
    remarks = []
    for way, seed, first_s in slow:
        is_fault, text = try_slow_again(way, alone, seed, first_s)
        if is_fault:
            failed += 1
            print(text, flush=True)
        else:
            remarks.append(text)
    if remarks:
        print(f"test remark: {len(remarks)} generated programs were slow, and not always: {', '.join(remarks)}")
    print(f"{count} programs, {len(ways)} ways, {failed} runs went wrong, {len(remarks)} remarks")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
