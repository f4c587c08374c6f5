#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""generated_test.py TXSYNC PROGRAM PLUGIN: generated programs (program.hpp) go right alone, and under `txsync run` with the
program's own locks and with each policy that `txsync list policies` names. Seeds 1 to 300, of which each policy gets 200;
with TXSYNC_TEST_BUDGET=full 100,000, and each policy all, from a seed that GENERATED_FIRST may give. Those that went wrong
once (seeds.txt) always run."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

CHUNK = 100
WAITING = 1  # more runs at a time than cores: programs wait for deadlines, too
CALMER = 3  # a program that is slow on a busy machine is given more time, alone


def policies(txsync):
    listed = subprocess.run([txsync, "list", "policies"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def kept_seeds():
    lines = (pathlib.Path(__file__).parent / "seeds.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def run(prefix, program, seeds, limit=20):
    done = subprocess.run([*prefix, *program, "--limit", str(limit), *seeds], capture_output=True, text=True)
    wrong = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("seed ") and " goes wrong: " in line]
    return done.returncode, wrong, done.stdout + done.stderr[-400:] * (done.returncode not in (0, 1))


def run_again_where_slow(job):
    name, prefix, program, seeds = job
    status, wrong, text = run(prefix, program, seeds)
    slow = [line.split()[1] for line in text.splitlines() if " goes wrong: is not done" in line]
    if status == 1 and slow and set(slow) == set(wrong):
        status, wrong, again = run(prefix, program, slow, limit=20 * CALMER)
        text += "again:\n" + again
    return name, status, wrong, text


def main():
    txsync, program, plugin = sys.argv[1:4]
    full = os.environ.get("TXSYNC_TEST_BUDGET") == "full"
    first = int(os.environ.get("GENERATED_FIRST", "1"))
    count = 100_000 if full else 300
    ways = [("alone", [])] + [("under " + name, [txsync, "run", "--policy", name, "--"]) for name in policies(txsync)]
    ranges = [[f"{start}-{min(start + CHUNK, first + count) - 1}"] for start in range(first, first + count, CHUNK)]
    jobs = [(name, prefix, [program, plugin], kept_seeds()) for name, prefix in ways]
    for number, seeds in enumerate(ranges):
        for index, (name, prefix) in enumerate(ways):
            if full or index == 0 or (number + index) % 3 != 0:
                jobs.append((name, prefix, [program, plugin], seeds))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() + WAITING) as pool:
        for name, status, wrong, text in pool.map(run_again_where_slow, jobs):
            if status == 0:
                continue
            failed += 1
            print(f"{name}: status {status}, seeds {' '.join(wrong) or 'unknown'}\n{text}", flush=True)
    print(f"{count} programs, {len(ways)} ways, {failed} runs went wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
