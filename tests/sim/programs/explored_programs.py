#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explored_programs.py BIN PLAIN_MODEL MACHINES: txsync explore and replay of programs, with faults and without."""

import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import time
import unittest

import programs
from result_schema import complaints


class ExploredPrograms(programs.ByCommand):
    """txsync explore -- PROGRAM."""

    ORDERS = ("random", "priorities", "delay-bounded", "partial-order", "uniform-walk")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "explored.cpp")

    def explore(self, *words, status, **options):
        ran = self.call(programs.BIN / "txsync", "explore", *words, **options)
        self.assertEqual((ran.returncode, ran.stderr), (status, ""))
        return ran.stdout

    def found(self, fault, *options, says, schedules=400, thread=1):
        """Found, within a few hundred schedules, and found again from the key."""
        told = self.explore("--schedules", str(schedules), *options, "--", "./program", fault, status=1)
        self.assertIn(says, told)
        again = shlex.split(told.splitlines()[-1])
        self.assertEqual(again[:2] + again[3:], ["txsync", "replay", "--", "./program", fault])
        ran = self.call(programs.BIN / "txsync", *again[1:])
        self.assertEqual((ran.returncode, ran.stderr), (1, ""))
        self.assertIn(says, ran.stdout.splitlines()[-1])
        self.assertRegex(ran.stdout, rf"thread {thread} .*explored.cpp:\d+")

    def test_finds_faults_in_each_order(self):
        for order in self.ORDERS:
            for fault, says in (("crossing-locks", "deadlock: nothing can run"), ("lost-update", "assertion failed: count.load() == 2")):
                with self.subTest(order=order, fault=fault):
                    self.found(fault, "--order", order, says=says)

    def test_members_have_their_names(self):
        told = self.explore("--", "./program", "crossing-locks", status=1)
        self.assertRegex(told, r"\n +thread 0 waits for the lock small_bank\.accounts\[0\]\.lock, which thread 1 has taken in ")
        self.assertRegex(told, r"\n +thread 1 waits for the lock small_bank\.accounts\[1\]\.lock, which thread 0 has taken in ")

    def test_what_main_does_not_wait_for_is_found_in_each_order(self):
        for order in self.ORDERS:
            with self.subTest(order=order):
                self.found("never-joined", "--order", order, schedules=4000, says="assertion failed: !is_done || balance == 1")

    def test_a_step_may_be_an_access_to_memory_that_nobody_used_before(self):
        for order in self.ORDERS:
            with self.subTest(order=order):
                self.found("published-too-early", "--order", order, says="assertion failed: seen->length == seen->checksum")

    def test_finds_what_needs_a_late_thread_first(self):
        for order in ("priorities", "partial-order"):
            with self.subTest(order=order):
                self.found("reordered", "--order", order, thread=5, says="assertion failed: (a == 0 && b == 0)")

    def test_a_call_that_takes_a_lock_is_an_access_to_it(self):
        self.found("two-stages", "--order", "uniform-walk", thread=13, says="assertion failed: b == 1")

    def test_a_short_sleep_orders_nothing(self):
        for order in self.ORDERS:
            with self.subTest(order=order):
                self.found("sleeps-shortly", "--order", order, says="assertion failed: is_ready", thread=0)
                self.assertIn(" nothing\n", self.explore("--schedules", "100", "--order", order, "--", "./program", "sleeps-long", status=0))

    def test_who_spins_without_a_pause_is_right(self):
        for order in self.ORDERS:
            with self.subTest(order=order):
                self.assertIn(" nothing\n", self.explore("--schedules", "100", "--order", order, "--", "./program", "spins-without-pause", status=0))

    def test_who_spins_beside_a_sleeper_is_right(self):
        for order in self.ORDERS:
            with self.subTest(order=order):
                self.assertIn(" nothing\n", self.explore("--schedules", "20", "--order", order, "--", "./program", "spins-beside-a-sleeper", status=0))

    def test_finds_a_block_that_is_freed_twice(self):
        self.found("double-free", says="the program frees a block of 64 bytes twice: ")

    def test_finds_a_read_of_a_freed_block_with_both_places(self):
        self.found("use-after-free", says="the program reads 4 bytes of a block that is free: offset 0, allocated by use_after_free (explored.cpp:")

    def test_finds_a_write_beyond_a_block(self):
        self.found("overflow", says="the program writes 1 byte at offset 10 of a block that has 10, allocated by ")

    def test_finds_data_races_where_asked_for(self):
        self.found("data-race", "--races", says="data race: thread ")
        for fault in ("data-race", "no-race"):
            with self.subTest(fault=fault):
                words = ["--races"] * (fault == "no-race")
                self.assertIn(" nothing\n", self.explore("--schedules", "400", *words, "--", "./program", fault, status=0))

    def test_a_process_ends_with_its_last_thread(self):
        self.assertIn(" nothing\n", self.explore("--schedules", "300", "--", "./program", "main-ends-first", status=0))
        ran = self.sim("--", "./program", "main-ends-first")
        self.assertEqual((ran.returncode, ran.stdout), (0, "after main\nat the end\n"))

    def test_finds_what_some_orders_seldom_meet(self):
        self.found("lost-wake-up", says="deadlock: nothing can run")

    def test_finds_faults_in_a_coroutine(self):
        for fault, says in (("coroutine-loses-update", "the program has called abort()"),
                            ("coroutine-crosses-locks", "deadlock: nothing can run")):
            with self.subTest(fault=fault):
                self.found(fault, says=says)

    def test_a_coroutine_is_not_elided(self):
        ran = self.sim("--elide", "--", "./program", "coroutine", input="")
        self.assertEqual((ran.returncode, ran.stdout), (0, "one of many outputs\n"), ran.stderr)
        self.assertIn("attempts", ran.stderr)

    def test_replays_with_the_programs_own_steps(self):
        told = self.explore("--order", "random", "--", "./program", "lost-update", status=1)
        again = shlex.split(told.splitlines()[-1])[1:]
        steps = self.call(programs.BIN / "txsync", *again).stdout
        self.assertRegex(steps.splitlines()[0], r"^  \(\d+ steps of thread 0, before it starts another\)$")
        self.assertEqual(steps.splitlines()[1], "  thread 0 in std::thread::_M_start_thread")
        text = r".*explored.cpp:\d+\): const auto add = \[\] { count.store\(count.load\(\) \+ 1\); };$"
        for line in (r"^> thread 1     begins$", r"^  thread 1     ends$", rf"^[ >] thread 0 reads .*::count = 0{text}", rf"^[ >] thread 1     reads .*::count = 0{text}",
                     rf"^[ >] thread [01] .*writes .*::count: 0 -> 1{text}", rf"^[ >] thread [01] .*writes .*::count: 1 -> 1{text}"):
            self.assertRegex(steps, re.compile(line, re.MULTILINE))
        self.assertNotIn("std_threads.cpp", steps.split("\n\n", maxsplit=1)[0])
        everything = self.call(programs.BIN / "txsync", *again[:2], "--all", *again[2:]).stdout
        self.assertIn("std_threads.cpp", everything.split("\n\n", maxsplit=1)[0])
        self.assertEqual(steps.splitlines()[-1], everything.splitlines()[-1])

    def test_a_replay_names_locks_and_who_is_woken(self):
        told = self.explore("--order", "random", "--", "./program", "lost-wake-up", status=1)
        key = shlex.split(told.splitlines()[-1])[2]
        steps = self.call(programs.BIN / "txsync", "replay", key, "--", "./program", "lost-wake-up").stdout
        for line in (r"^[ >] thread 0 takes the lock .*first  .*\(explored.cpp:\d+\): std::unique_lock lock\(first\);$",
                     r"^[ >] thread 0 waits for the condition .*changed, gives up the lock .*first  .*: .*changed.wait\(lock\);$",
                     r"^[ >] thread 1     notifies one waiter of the condition .*changed  .*: changed.notify_one\(\);$",
                     r"^[ >] thread 0 sleeps, waits for the condition .*changed$"):
            self.assertRegex(steps, re.compile(line, re.MULTILINE))
        right = "".join(self.call(programs.BIN / "txsync", "replay", f"program@random@{seed}", "--", "./program", "lost-wake-up").stdout
                        for seed in range(1, 11))
        self.assertRegex(right, r"[ >] thread 1     wakes thread 0, which waits for the condition changed\n")
        os.utime(self.at / "program", (0, 0))  # as if the source had changed since
        self.assertNotIn("unique_lock lock(first)", self.call(programs.BIN / "txsync", "replay", key, "--", "./program", "lost-wake-up").stdout)
        os.utime(self.at / "program")

    def test_finds_what_only_store_buffers_show(self):
        self.assertIn(" nothing\n", self.explore("--schedules", "100", "--", "./program", "missing-fence", status=0))
        self.assertIn(" nothing\n", self.explore("--schedules", "100", "--store-buffers", "--", "./program", "fence", status=0))
        for order in self.ORDERS:
            with self.subTest(order=order):
                self.found("missing-fence", "--store-buffers", "--order", order, schedules=5000, says="both have entered; exit status 3")

    def test_a_right_program_and_the_document(self):
        told = self.explore("--schedules", "100", "--seed", "7", "--json", "result.json", "--", "./program", status=0, input="a word\n")
        self.assertRegex(told, r"program +100 +\d+  nothing\n$")
        made = json.loads((self.at / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        self.assertEqual([point["values"] for point in made["points"]], [[100]])
        self.assertEqual(made["explore"], {"orders": list(self.ORDERS), "store_buffers": False, "schedules": 100, "steps": 10_000_000,
                                           "tests": [{"point": 0, "right": True}]})
        self.assertEqual(made["machine"]["backend"], "simulated")

    def test_who_spins_for_ever_is_told(self):
        told = self.explore("--steps", "5000", "--", "./program", "spins-for-ever", status=1)
        self.assertIn("livelock: more than 5000 steps", told)
        self.assertIn(" --steps 5000 -- ./program spins-for-ever\n", told)

    def test_an_interruption_ends_it(self):
        with subprocess.Popen([programs.BIN / "txsync", "explore", "--steps", "1000000000000", "--", "./program", "spins-for-ever"],
                              cwd=self.at, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as exploring:
            children = pathlib.Path(f"/proc/{exploring.pid}/task/{exploring.pid}/children")
            while not children.read_text(encoding="ascii"):
                time.sleep(0.01)
            time.sleep(0.2)
            exploring.send_signal(signal.SIGINT)
            _, said = exploring.communicate(timeout=100)
        self.assertEqual(exploring.returncode, 128 + signal.SIGINT)
        self.assertIn("spins_for_ever (explored.cpp:", said)

    def test_a_signal_to_the_whole_group_is_no_fault_of_the_program(self):
        draw = random.Random(29)
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 3:
            with self.subTest(sent=sent), subprocess.Popen(
                    [programs.BIN / "txsync", "explore", "--schedules", "1000000", "--json", "result.json", "--", "./program"],
                    cwd=self.at, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)) as exploring:  # under nohup, it is ignored
                tasks = pathlib.Path(f"/proc/{exploring.pid}/task")
                until = time.monotonic() + 100
                while not any(one.read_text(encoding="ascii") for one in tasks.glob("*/children")):
                    self.assertLess(time.monotonic(), until)
                time.sleep(draw.uniform(0, 0.2))
                os.killpg(exploring.pid, sent)
                table, said = exploring.communicate(timeout=100)
                self.assertEqual((exploring.returncode, "FAILED" in table), (128 + sent, False), table + said)
                self.assertRegex(said, r"(?m)^txsync explore: .*interrupted")
                made = json.loads((self.at / "result.json").read_text(encoding="utf-8"))
                self.assertEqual(complaints(made), [])
                self.assertTrue(made["interrupted"])

    def test_what_cannot_be_is_refused(self):
        for words, says in ((("explore", "tatas", "--", "./program"), "is explored alone; remove 'tatas'"),
                            (("explore", "--", "./missing"), "No such file"),
                            (("explore", "./program"), "'./program' is a file; allowed for a program: txsync explore -- ./program"),
                            (("explore", "--", "/bin/true"), "was not built by txsync-c++"),
                            (("explore", "--steps", "9", "tatas"), "--steps, --machine and --shorten are for a program"),
                            (("replay", "--all", "tatas@random@1"), "--gdb are for a program"),
                            (("replay", "tatas@random@1", "--", "./program"), "the key belongs to tatas, but the program is program"),
                            (("replay", "program@random@1"), "unknown test 'program'")):
            with self.subTest(words=words):
                ran = self.call(programs.BIN / "txsync", *words)
                self.assertEqual((ran.returncode, ran.stdout, len(ran.stderr.splitlines())), (2, "", 1))
                self.assertIn(says, ran.stderr)


class PlantedFaults(programs.ByCommand):
    """Five programs with four faults each: each is found, with both places."""

    PLACE = r"[^;]*\(planted\.cpp:\d+\)[^;]*"
    SAYS = {"race": rf"data race: thread \d {PLACE} and thread \d (wrote|read) in {PLACE}; nothing orders the two",
            "use-after-free": rf"of a block that is free: offset \d+, allocated by {PLACE}, freed by thread \d, {PLACE} \(simulated thread \d {PLACE}",
            "double-free": rf"(frees a block of \d+ bytes twice: 0x\w+|of a block that is free: offset 0), {PLACE}, {PLACE}",
            "overflow": rf"at offset \d+ of a block that has \d+, allocated by {PLACE} \(simulated thread \d {PLACE}"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "planted.cpp", more=("-O1",))

    def explore(self, *words):
        return self.call(programs.BIN / "txsync", "explore", *words)

    def test_each_fault_is_found_with_both_places(self):
        for program in ("messages", "accounts", "caches", "tasks", "logs"):
            for fault, says in self.SAYS.items():
                with self.subTest(program=program, fault=fault):
                    ran = self.explore(*["--races"] * (fault == "race"), "--schedules", "1000", "--", "./program", program, fault)
                    self.assertEqual(ran.returncode, 1, ran)
                    self.assertRegex(ran.stdout, says)

    def test_a_failure_is_made_shorter(self):
        keys = {}
        for words in ((), ("--shorten", "2")):
            told = self.explore(*words, "--order", "random", "--", "./program", "messages", "overflow").stdout.splitlines()
            keys[words] = shlex.split(told[-1])[2]
        switches = {words: len(re.findall("^>", self.call(programs.BIN / "txsync", "replay", "--all", key, "--", "./program", "messages", "overflow").stdout,
                                          re.MULTILINE)) for words, key in keys.items()}
        self.assertLess(switches["--shorten", "2"], switches[()], keys)

    def test_without_a_fault_nothing_is_found(self):
        for program in ("messages", "accounts", "caches", "tasks", "logs"):
            with self.subTest(program=program):
                ran = self.explore("--races", "--schedules", "100", "--", "./program", program, "none")
                self.assertEqual(ran.returncode, 0, ran)


class SystematicOrder(programs.ByCommand):
    """Each execution once. The numbers are those of an enumeration of all interleavings, or counted by hand."""

    # What the threads of a part of systematic.cpp do: reads and writes of words, one after the other.
    PARTS = {"independent": ["Wx", "Wy"], "two-stores": ["Wx", "Wx"], "store-buffering": ["Wx Ry", "Wy Rx"],
             "message": ["Wx Wy", "Ry Rx"], "one-writer": ["Wx", "Rx", "Rx"], "adds": ["Wx Wx", "Wx Wx"],
             "three-adds": ["Wx", "Wx", "Wx"], "chain": ["Wx", "Rx Wy", "Ry Wz"], "four-words": ["Wx Wy", "Wy Wz", "Wz Wx"]}
    # With locks: a critical section comes before another, or after it.
    BY_HAND = {"two-sections": 2, "three-sections": 6, "two-locks": 4, "a-condition": 2, "a-semaphore": 2, "readers-and-writer": 4,
               "a-try": 3, "taken-twice": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "systematic.cpp")

    @staticmethod
    def executions(threads):
        """How many interleavings differ in the order of two accesses to one word, one of which writes."""
        threads = [thread.split() for thread in threads]
        seen = set()

        def go_on(done, places):
            left = [number for number, thread in enumerate(threads) if places[number] < len(thread)]
            if not left:
                seen.add(frozenset((a, b) for i, a in enumerate(done) for b in done[i + 1:]
                                   if a[0] != b[0] and a[2][1] == b[2][1] and "W" in (a[2][0], b[2][0])))
            for number in left:
                place = places[number]
                go_on(done + [(number, place, threads[number][place])], places[:number] + [place + 1] + places[number + 1:])

        go_on([], [0] * len(threads))
        return len(seen)

    def explore(self, part, *options):
        return self.call(programs.BIN / "txsync", "explore", "--order", "systematic", *options, "--", "./program", part)

    def test_the_numbers_are_those_of_an_enumeration(self):
        numbers = {part: self.executions(threads) for part, threads in self.PARTS.items()}
        self.assertEqual(numbers["message"], 3)  # so the enumeration itself is right
        for part, number in (numbers | self.BY_HAND).items():
            with self.subTest(part=part):
                ran = self.explore(part)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.assertRegex(ran.stdout, rf"program +{number} +\d+  nothing; explored completely\n$")

    def test_a_limit_leaves_it_incomplete(self):
        ran = self.explore("three-adds", "--schedules", "5", "--json", "result.json")
        self.assertRegex(ran.stdout, r"program +5 +\d+  nothing; not explored completely: there are more than --schedules 5\n$")
        made = json.loads((self.at / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        self.assertEqual(made["explore"]["tests"], [{"point": 0, "right": True, "complete": False, "redundant": 0}])

    def test_finds_a_deadlock_and_replays_it(self):
        ran = self.explore("crossing-locks")
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stdout, r"\n +thread 1 waits for the lock .*second, which thread 2 has taken in [^;]*\(systematic.cpp:\d+\)")
        again = shlex.split(ran.stdout.splitlines()[-1])[1:]
        repeated = self.call(programs.BIN / "txsync", *again)
        self.assertEqual(repeated.returncode, 1)
        self.assertEqual(repeated.stdout.splitlines()[-1].partition(";")[0], "deadlock: nothing can run")

    def test_the_end_of_the_process_comes_at_each_place(self):
        ran = self.explore("never-joined")
        self.assertEqual(ran.returncode, 1, ran)
        self.assertIn("the thread was cut off", ran.stdout)

    def test_a_short_sleep_leaves_it_incomplete(self):
        self.assertIn("  nothing; not explored completely: a thread waits for a millisecond or less\n", self.explore("sleeps").stdout)

    def test_too_many_threads_are_no_fault(self):
        ran = self.explore("many-threads")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("the systematic order cannot explore this program: it has more than 64 threads", ran.stderr)

    def test_what_it_cannot_do_is_refused(self):
        for words, says in ((("--store-buffers", "--", "./program", "adds"), "the order systematic has no store buffers"),
                            (("tatas",), "--races and --order systematic are for a program after --")):
            with self.subTest(words=words):
                ran = self.call(programs.BIN / "txsync", "explore", "--order", "systematic", *words)
                self.assertEqual((ran.returncode, len(ran.stderr.splitlines())), (2, 1))
                self.assertIn(says, ran.stderr)


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
