#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py IMAGE MUTANTS PLAIN_MODEL MACHINE [ID|SOURCE...]: explores mutants (generate.py) until each has failed.

Prints the kill rate, and whoever survived without an argument. A survivor has to have an argument in survivors.txt, and
what is argued there has to survive. Without TXSYNC_TEST_BUDGET=full a fixed sample is run; with IDs, or sources (ticket.cpp),
those mutants. All of them take half an hour with two jobs (TXSYNC_MUTANT_JOBS; one for each CPU where all are run, else
one). What is wrong is printed as soon as it is known: who ends the run early has that much of its result."""

import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ORDERS = {"random": 1, "priorities": 2, "round-robin": 3, "delay-bounded": 4}
CPUS = 8
MOST_STEPS = 30_000
PATIENCE_S = 5
TOLD_EVERY = 50  # mutants
SAMPLE_OF = 61  # one in this many mutants is run when the budget is small

# Which explorations reach a source, by its name.
TESTS = {
    "concurrency_limiter": "(elided_)?(ticket|mcs)(-|$)|srwlock-shared-3|policy_mutex-ticket-(passed-by|called-in)$",
    "backoff": "(tatas|ticket|mcs|futex|srwlock|occ_rwlock|elided_tatas)(-|$)|condition_variable-destroyed",
    "barrier": "barrier",
    "warm_barrier": "(seeded:)?(warm_barrier|stray)",
    "condition_variable": "(condition_variable|elided_condition)",
    "deferred_wakes": "condition_variable",
    "watching": "condition_variable",
    "attempt_loop": "elided_(tatas|mutex|actions|condition)(-|$)",
    "elided": "elided_(tatas|mcs|srwlock|mutex|shared_mutex|occ_rwlock|actions|condition)(-|$)",
    "elided_condition_variable": "elided_condition",
    "elision": "elided_(tatas|mutex|actions|condition)(-|$)",
    "thread_memory": "elided_(tatas|mutex|actions|condition|memory)(-|$)",
    "commit_actions": "elided_(tatas|mutex|actions|condition)(-|$)",
    "futex_mutex": "(futex|spin|txsync::mutex|warm_futex)(-|$)",
    "sleeping_places": "(futex|spin|ticket|mcs|sleeping_place)(-|$)",
    "futex_rwlock": "(elided_)?futex_rwlock",
    "mcs": "((elided_)?(mcs|fifo_mcs)|warm_mcs|srwlock)(-|$)",
    "mutex": "txsync::mutex|condition_variable|warm_mutex",
    "occ_rwlock": "(elided_)?occ_rwlock",
    "shared_mutex": "txsync::shared_mutex",
    "spinning_mutex": "(warm_)?spin(-|$)",
    "srwlock": "srwlock",
    "policy_mutex": "(elided[-_]|warm_)?policy_mutex",
    "tagged_lock": "(elided[-_]|warm_)?policy_mutex|pthread_.*(ticket|tatas|futex)",
    "tatas": "(tatas|elided_tatas|warm_tatas)(-|$)",
    "timed": "condition_variable-timed|txsync::shared_mutex-timed",
    "once_in_child": "srwlock-forked",
    "left_tickets": r"(fifo_)?ticket-left.*|policy_mutex-(fifo_)?ticket-deadline$",
    "ticket": "((warm|elided)_)?(ticket|fifo_ticket)(-|$)|pthread_ticket-ahead",
    "priority_tatas": "warm_priority",
    "warm_up": "warm_(ticket|tatas|mcs|futex|priority|fifo_ticket)",
    "warming": "warm_(ticket|tatas|mcs|futex|priority|fifo_ticket)",
    # Atomic blocks.
    "algorithms": "tm-(opacity-(crossing|throwing|alternatives|changing)|watching|handing)-(dctl|norec|sgl)$",
    "block": "tm-(opacity-skewing|opacity-overtaking|watching|counting)-dctl$",
    "dctl": "tm-.*-dctl$",
    "dmp": "tm-pages-(meeting|exchanging|carrying-over|undoing|outpacing|chasing|outside|serving|ring)-(norec|dctl)$|"
           "tm-pages-(exchanging|handing)-tinystm$|tm-pages-scouting-(outpacing|exchanging)-(norec|dctl)$",
    "pages": "tm-pages-(meeting|exchanging|carrying-over|undoing|outpacing|following|serving)-(norec|dctl)$|"
             "tm-pages-scouting-exchanging-tinystm$",
    "scout": "tm-pages-scouting-.*",
    "announcements": "tm-(announcing|committing)|tm-opacity-(crossing|following|alone|giving-up|together)-auto$|"
                     "tm-opacity-ring-hydctl$|tm-opacity-crossing-(hytl2|hynorec)$|tm-opacity-overtaking-auto-biased$",
    "engine": "tm-(opacity-(crossing|skewing|following|throwing|late|clock|past|past-reads)|handing|watching|wide|waiting-irrevocable|"
              "either-irrevocable)-(dctl|hydctl)$|tm-watching-hytinystm$|tm-opacity-crossing-tinystm_wt$|"
              "tm-pages-outside-dctl$|tm-pages-(exchanging|undoing|widening)-norec$",
    "quiescence_gate": "tm-(privatizing-3|opacity-(alone|at-once|turning|changing)|waiting-alone)-(dctl|dctl-biased)$|"
                       "tm-(freeing|destroying)-dctl$|tm-opacity-alone-norec$",
    "rooms": "tm-slots(-3|-returning|-churning)?$|tm-(destroying|queue)-dctl$",
    "heap": "tm-slots(-3|-returning|-churning)?$|tm-(freeing|destroying|discarding|queue|hash-maps|counting|opacity-alternatives|linear-linked-list)-dctl$",
    "growing_log": "tm-(opacity-crossing|opacity-skewing|handing|destroying)-dctl$",
    "hardware": "tm-(opacity-(crossing|changing|turning|throwing|nesting|alone|at-once)|destroying|handing|either|counting)"
                "-(htm_sgl_adaptive|hydctl|auto-biased)$|tm-pages-(exchanging|outside|handing|scouting-exchanging)-dctl$",
    "hydctl": "tm-.*-(auto|hydctl)$",
    "hynorec": "tm-.*-hynorec$",
    "hytinystm": "tm-.*-hytinystm$",
    "hytl2": "tm-.*-hytl2$",
    "memory": "tm-(freeing|destroying|discarding|queue|hash-maps|counting|opacity-alternatives)-dctl$",
    "norec": "tm-.*-(norec|hynorec)$",
    "orecs": "tm-(opacity-.*|privatizing|handing)-(dctl|tl2|tinystm_wb|hytl2|hytinystm)$",
    "run": "tm-opacity-(crossing|alone|turning|throwing|changing|nesting)-(dctl|dctl-biased)$|"
           "tm-(privatizing|destroying|handing|either|counting|waiting-(irrevocable|until))-dctl$|"
           "tm-opacity-(crossing|alone)-(2plsf|auto|htm_sgl_adaptive)$|tm-(handing|watching)-(norec|auto)$|"
           "tm-waiting-irrevocable-htm_sgl_adaptive$|tm-pages-scouting-exchanging-dctl$",
    "runner": "tm-(destroying|counting|handing|opacity-(following|alone|at-once))-(dctl|2plsf)$|tm-pages-outside-dctl$",
    "sgl": "tm-.*-sgl$|tm-(opacity-(crossing|alone|at-once|turning|nesting)|waiting-alone|destroying|handing)"
           "-(htm_sgl_adaptive|dctl-biased)$",
    "sleep": "tm-((wide|either)(-irrevocable)?|wide-waiters?|handing(-3)?|watching|waiting-(alone|until|irrevocable))-dctl$|"
             "tm-(handing|watching|wide)-(norec|htm_sgl_adaptive)$|tm-(handing|watching)-hynorec$",
    "stripe_set": "tm-(wide|wide-waiters?|handing|watching)-(dctl|norec)$",
    "tinystm": "tm-.*-(tinystm(_w[bt])?|hytinystm)$",
    "tl2": "tm-.*-(tl2|hytl2)$",
    "transaction": "tm-(opacity-(crossing|turning|alternatives)|destroying|handing|hash-maps)-(dctl|htm_sgl_adaptive|hydctl)$",
    "two_phase": "tm-.*-2plsf$",
    "var": "tm-(opacity-following|handing|destroying|queue|hash-maps|linear-vector)-dctl$",
    "write_set": "tm-(opacity-.*|queue|hash-maps)-(norec|tl2)$",
}
# Order, store buffers, probes, schedules of each test. The first round finds most, and the last ones what is rare. What
# is argued is explored less: it survives with most tests, and only has to be found where its argument is wrong.
HARMLESS = 23  # all probes that a right program stands
ROUNDS = [("random", 1, 0, 200), ("random", 1, HARMLESS, 2_000), ("random", 1, 0, 2_000), ("priorities", 1, 0, 2_000),
          ("delay-bounded", 1, 0, 2_000), ("random", 0, 0, 2_000)]
MORE_ROUNDS = [("random", 1, 0, 20_000), ("random", 1, HARMLESS, 20_000), ("priorities", 1, 0, 20_000),
               ("random", 1, 0, 200_000)]

ARGUED_ROUNDS = [("random", 1, 0, 200), ("random", 1, HARMLESS, 500), ("priorities", 1, 0, 500), ("random", 0, 0, 200)]

Mutant = collections.namedtuple("Mutant", "id file line what words")


class Machine:
    """The image, and the model that it runs on: the one of txsync explore."""

    def __init__(self, image, plain_model, machine, folder):
        self.image = image
        self.model = pathlib.Path(folder) / "model.txt"
        subprocess.run([plain_model, machine, self.model], check=True)
        text = re.sub(r"^core\.sockets .*$", "core.sockets 1", self.model.read_text(), flags=re.MULTILINE)
        self.model.write_text(re.sub(r"^core\.cores .*$", f"core.cores {CPUS}", text, flags=re.MULTILINE))

    def call(self, *words, **options):
        environment = {f"TXSYNC_SIM_{name.upper()}": str(value) for name, value in options.items()}
        environment |= {"TXSYNC_SIM_MODEL": str(self.model), "TXSYNC_SIM_STEPS": str(MOST_STEPS),
                        "TXSYNC_SIM_PATIENCE": str(PATIENCE_S)}
        return subprocess.run([self.image, *map(str, words)], env=os.environ | environment, capture_output=True, text=True,
                              errors="replace", timeout=600)

    def tests(self):
        """The right ones of the image, which it records when it has no arguments."""
        read, write = os.pipe()
        with open(read, encoding="utf-8") as records:
            environment = {"TXSYNC_SIM_MODEL": str(self.model), "TXSYNC_SIM_RECORDS": str(write)}
            with subprocess.Popen([self.image], env=os.environ | environment, pass_fds=(write,)):
                os.close(write)
                lines = [line.split() for line in records if line.startswith("test ")]
        return [name for _, name, expected, *_ in lines
                if expected == "right" and not name.startswith(("litmus:", "peterson", "stray-commit"))]

    def fails(self, test, order, buffers, probes, schedules, variant):
        done = self.call(test, 1, schedules, order=ORDERS[order], store_buffers=buffers, probes=probes,
                         variant=variant)
        if done.returncode == 0:
            return None
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.returncode}"


def read_mutants(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    not_shown = int(lines[0].rsplit(" ", 1)[1])
    return [Mutant(int(words[0]), words[1], int(words[2]), *words[3:])
            for words in (line.split("\t") for line in lines[1:])], not_shown


def read_arguments():
    """By (file, what, text of the line) why the mutant survives."""
    arguments = {}
    waiting = []
    argued = False
    for line in (HERE / "survivors.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("  "):
            argued = True
            for key in waiting:
                arguments[key] = (arguments[key] + " " + line.strip()).strip()
            continue
        if argued:
            waiting, argued = [], False
        key = tuple((line.split(" :: ", 2) + [""])[:3])
        waiting.append(key)
        arguments[key] = ""
    return arguments


def key_of(mutant, arguments):
    key = (mutant.file, mutant.what, mutant.words)
    return key if arguments.get(key) else None


def explore(machine, tests, mutant, rounds):
    """What killed it, or None."""
    pattern = TESTS[pathlib.Path(mutant.file).stem]
    chosen = [test for test in tests if re.match(pattern, test)]
    for order, buffers, probes, schedules in rounds:
        for test in chosen:
            try:
                seen = machine.fails(test, order, buffers, probes, schedules, mutant.id)
            except subprocess.TimeoutExpired:
                seen = "does not end"
            if seen:
                return f"{test}@{order}{'+store-buffers' if buffers else ''}{'+probes' if probes else ''}: {seen}"
    return None


def told(mutant):
    return f"{mutant.file}:{mutant.line}: {mutant.what}\n    {mutant.words}"


def in_sample(mutant):
    """Chosen by its text, so that a change elsewhere does not change the sample."""
    return zlib.crc32(f"{mutant.file} {mutant.what} {mutant.words}".encode()) % SAMPLE_OF == 0


def choose(mutants, arguments, words):
    if words:
        chosen = [one for one in mutants if str(one.id) in words or pathlib.Path(one.file).name in words]
        found = {str(one.id) for one in chosen} | {pathlib.Path(one.file).name for one in chosen}
        for word in words:
            if word not in found:
                sys.exit(f"mutants.py: {word}: no mutant of that number or source")
        return chosen
    if os.environ.get("TXSYNC_TEST_BUDGET") == "full":
        return mutants
    return [one for one in mutants if key_of(one, arguments) is None and in_sample(one)]


def jobs():
    cpus = os.cpu_count()
    usual = cpus if os.environ.get("TXSYNC_TEST_BUDGET") == "full" else min(cpus, 2)
    return int(os.environ.get("TXSYNC_MUTANT_JOBS", usual))


def fault_of(mutant, killer, arguments):
    """What is wrong with the outcome, or None."""
    argued = key_of(mutant, arguments)
    if killer is None and argued is None:
        return f"survived, and nobody argues why: {told(mutant)}"
    if killer is not None and argued is not None and argued[1] != "*":
        return f"argued, but killed: {told(mutant)}\n    {killer}"
    return None


def faults_without_mutants(machine, tests):
    for test in tests:
        if not any(re.match(pattern, test) for pattern in TESTS.values()):
            continue  # of what has no mutants
        if seen := machine.fails(test, "random", 1, HARMLESS, 200, 0):
            yield f"fails without a mutant: {test}: {seen}"


def outcomes(machine, tests, chosen, arguments):
    """Each mutant with what killed it, in their order, as soon as it is known."""
    with concurrent.futures.ThreadPoolExecutor(jobs()) as workers:
        killers = workers.map(
            lambda one: explore(machine, tests, one, ARGUED_ROUNDS if key_of(one, arguments) else ROUNDS + MORE_ROUNDS), chosen)
        for number, (mutant, killer) in enumerate(zip(chosen, killers), 1):
            if number % TOLD_EVERY == 0:
                print(f"{number} of {len(chosen)} mutants done", flush=True)
            yield mutant, killer


def main():
    if len(sys.argv) < 5:
        sys.exit("usage: mutants.py IMAGE MUTANTS PLAIN_MODEL MACHINE [ID|SOURCE...]")
    mutants, not_shown = read_mutants(sys.argv[2])
    arguments = read_arguments()
    words = set(sys.argv[5:])
    chosen = choose(mutants, arguments, words)
    faults = [f"argued, but there is no such mutant: {' :: '.join(key)}"
              for key in arguments if not any(key_of(one, arguments) == key for one in mutants)]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(sys.argv[1], sys.argv[3], sys.argv[4], folder)
        tests = machine.tests()
        faults += faults_without_mutants(machine, tests)
        for fault in faults:
            print(fault, flush=True)
        for mutant, killer in outcomes(machine, tests, chosen, arguments):
            if killer is None:
                survivors.append(mutant)
            if words:
                print(f"{told(mutant)}\n    {killer or 'survived'}", flush=True)
            if fault := fault_of(mutant, killer, arguments):
                faults.append(fault)
                print(fault, flush=True)
    which = "" if words or len(chosen) == len(mutants) else ", a sample of those without an argument"
    print(f"{len(chosen)} of {len(mutants)} mutants{which}: {len(chosen) - len(survivors)} killed "
          f"({100 * (len(chosen) - len(survivors)) / max(1, len(chosen)):.1f} %), {len(survivors)} survived, "
          f"{len([one for one in survivors if key_of(one, arguments)])} of them argued; {not_shown} weaker orders that x86 "
          f"does not show were not tried; {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
