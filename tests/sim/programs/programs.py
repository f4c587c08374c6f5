#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py BIN PLAIN_MODEL MACHINES: programs made by txsync-c++, run on the simulated machine."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from result_schema import complaints

HERE = pathlib.Path(__file__).resolve().parent
BIN = PLAIN_MODEL = MACHINES = None
FAILED = 99  # the status of a simulation that cannot go on


class Simulated(unittest.TestCase):
    """A folder for each class; what setUpClass() compiles serves all of its tests."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = pathlib.Path(cls.folder.name)

    @classmethod
    def call(cls, *command, **options):
        words = [str(word) for word in command]
        return subprocess.run(words, cwd=cls.at, capture_output=True, text=True, timeout=300, **options)

    @classmethod
    def compile(cls, source, output="program", debug="-g", more=()):
        if not isinstance(source, pathlib.Path):
            (cls.at / "source.cpp").write_text(source, encoding="utf-8")
            source = "source.cpp"
        done = cls.call(BIN / "txsync-c++", debug, "-std=c++20", source, "-o", output, *more)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def simulate(self, *words, machine="ideal", **options):
        model = self.at / f"{machine}.txt"
        if not model.exists():
            done = self.call(PLAIN_MODEL, MACHINES / f"{machine}.toml", model)
            self.assertEqual(done.returncode, 0, done.stderr)
        environment = {f"TXSYNC_SIM_{name.upper()}": str(value) for name, value in options.items()}
        return self.call("./program", *words, env=os.environ | environment | {"TXSYNC_SIM_MODEL": str(model)})

    def right(self, source, **options):
        self.compile(source)
        ran = self.simulate(oracle=1, **options)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def records(self, *words, machine="ideal", **options):
        """What the runtime tells of a run that ends well, by name."""
        read, write = os.pipe()
        os.set_inheritable(write, True)
        try:
            with open(read, encoding="ascii") as told:
                model = self.at / f"{machine}.txt"
                self.simulate(*words, machine=machine, **options)  # makes the model
                environment = {f"TXSYNC_SIM_{name.upper()}": str(value) for name, value in options.items()}
                environment |= {"TXSYNC_SIM_MODEL": str(model), "TXSYNC_SIM_RECORDS": str(write)}
                subprocess.run(["./program", *map(str, words)], cwd=self.at, env=os.environ | environment, check=True, timeout=100,
                               capture_output=True, pass_fds=(write,))
                os.close(write)
                write = None
                lines = (line.split() for line in told)
                return {words[0]: int(words[1]) for words in lines if len(words) == 2
  }
        finally:
            if write is not None:
                os.close(write)


class InSeveralOrders:
    """A program that says "all right", plain and elided, in several orders, checked by the oracle."""

    SOURCE = None
    ORDERS = (0, 1, 3)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(HERE / cls.SOURCE)

    def run_all(self, machine, **options):
        for order in self.ORDERS:
            for seed in (1, 2):
                with self.subTest(order=order, seed=seed):
                    ran = self.simulate(machine=machine, order=order, seed=seed, oracle=1, **options)
                    self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def test_with_store_buffers(self):
        for order in (1, 4):  # random, delay-bounded
            for options in ({}, {"elide": 1, "probes": 23}):
                with self.subTest(order=order, **options):
                    ran = self.simulate(machine="ideal", order=order, store_buffers=1, **options)
                    self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def test_plain(self):
        self.run_all("ideal", elide=0)
        self.run_all("broadwell-e5-2697v4", elide=0)

    def test_elided(self):
        self.run_all("ideal", elide=1)
        self.run_all("broadwell-e5-2697v4", elide=1)


class Pthreads(InSeveralOrders, Simulated):
    SOURCE = "pthreads.cpp"

    def test_attempts_commit_only_when_asked_for(self):
        self.assertEqual(self.records(elide=0)["attempts.begun"], 0)
        self.assertGreater(self.records(elide=1)["attempts.committed"], 1000)


class StdThreads(InSeveralOrders, Simulated):
    SOURCE = "std_threads.cpp"
    ORDERS = (0, 1)  # std::lock() makes no progress where all go in step


class RunsAhead(Simulated):
    """A program whose locks are waited for by running ahead: right in every order, whatever the lock is."""

    LOCKS = [f"lock={lock} warm_up={how}" for lock in ("mutex", "tatas", "ticket", "fifo_ticket")
             for how in ("eager", "standard")] + ["lock=tatas warm_up=paper elision=htm_1", "lock=ticket"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(HERE / "runs_ahead.cpp")

    def test_in_many_orders(self):
        for locks in self.LOCKS:
            for order, seed in [(0, 1), (3, 1)] + [(order, seed) for order in (1, 4) for seed in range(1, 5)]:
                with self.subTest(locks=locks, order=order, seed=seed):
                    ran = self.simulate(3, 12, machine="broadwell-e5-2697v4", order=order, seed=seed, oracle=1,
                                        locks="rwlock=as-mutex " + locks)
                    self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def test_with_store_buffers(self):
        for seed in range(1, 5):
            with self.subTest(seed=seed):
                ran = self.simulate(2, 12, machine="broadwell-e5-2697v4", order=1, seed=seed, store_buffers=1,
                                    locks="rwlock=as-mutex lock=fifo_ticket warm_up=eager")
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def test_attempts_are_made_where_they_are_asked_for(self):
        plain = "rwlock=as-mutex lock=fifo_ticket"
        self.assertEqual(self.begun(plain), 0)
        self.assertGreater(self.begun(plain + " warm_up=eager"), 50)

    def begun(self, locks):
        return self.records(3, 40, machine="broadwell-e5-2697v4", locks=locks)["attempts.begun"]

    def test_words_that_are_not_known_end_it(self):
        ran = self.simulate(2, 1, locks="lock=tickets")
        self.assertEqual(ran.returncode, FAILED)
        self.assertIn("a word of TXSYNC_SIM_LOCKS", ran.stderr)


class Library(Simulated):
    """What libc does between program and machine."""

    def test_error_numbers(self):
        self.right("""
            #include <cerrno>
            #include <cstdio>
            #include <cstdlib>
            #include <unistd.h>
            extern "C" unsigned txsync_sim_begin();
            extern "C" void txsync_sim_abort(unsigned char);
            int main() {
              errno = 0;
              if (close(-1) == 0 || errno != EBADF) return 1;
              errno = EDOM;
              if (txsync_sim_begin() == ~0u) {
                std::strtol("99999999999999999999", nullptr, 10);
                if (errno != ERANGE) return 2;
                txsync_sim_abort(1);
              }
              if (errno != EDOM) return 3;
              std::puts("all right");
            }""")

    def test_words_and_lines_are_those_of_libstdcxx(self):
        self.compile(HERE / "words_and_lines.cpp")
        done = self.call("g++", "-std=c++20", HERE / "words_and_lines.cpp", "-o", "native")
        self.assertEqual(done.returncode, 0, done.stderr)
        given = "two words\n\nlast"
        wanted = self.call("./native", input=given).stdout
        self.assertTrue(wanted.startswith("two\nwords\nlast\n"), wanted[:100])
        self.assertTrue(wanted.endswith("throws 1\n"), wanted[-100:])
        ran = self.call(BIN / "txsync", "sim", "--machine", "ideal", "--check", "--", "./program", input=given)
        self.assertEqual((ran.returncode, ran.stdout), (0, wanted), ran.stderr)

    def test_mapped_files(self):
        (self.at / "file").write_text("0123456789" * 1000, encoding="ascii")
        self.right("""
            #include <cstdio>
            #include <cstring>
            #include <fcntl.h>
            #include <sys/mman.h>
            #include <unistd.h>
            int main() {
              const int file = open("file", O_RDWR);
              auto* mine = static_cast<char*>(mmap(nullptr, 10000, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
              auto* all = static_cast<char*>(mmap(nullptr, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
              if (mine == MAP_FAILED || all == MAP_FAILED || std::memcmp(mine, "0123456789", 10) != 0) return 1;
              std::memcpy(mine + 5000, "mine", 4);
              std::memcpy(all + 6000, "ours", 4);
              char read_back[4];
              if (pread(file, read_back, 4, 5000) != 4 || std::memcmp(read_back, "0123", 4) != 0) return 2;
              if (pread(file, read_back, 4, 6000) != 4 || std::memcmp(read_back, "ours", 4) != 0) return 3;
              if (mmap(all, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != all) return 4;
              if (all[0] != 0 || std::memcmp(all + 6000, "ours", 4) != 0) return 5;
              if (munmap(mine, 10000) != 0 || munmap(all, 10000) != 0 || close(file) != 0) return 6;
              if (mmap(nullptr, 10, PROT_READ, MAP_PRIVATE, file, 0) != MAP_FAILED) return 7;
              std::puts("all right");
            }""")

    def test_a_first_throw_in_an_attempt(self):
        self.right("""
            #include <cstdio>
            #include <stdexcept>
            #include <string>
            extern "C" unsigned txsync_sim_begin();
            extern "C" void txsync_sim_abort(unsigned char);
            void try_it() {
              try {
                throw std::runtime_error(std::string(100, 'x'));
              } catch (const std::runtime_error& error) {
                if (error.what() != std::string(100, 'x')) std::puts("another text");
              }
            }
            int main() {
              if (txsync_sim_begin() == ~0u) {
                try_it();
                txsync_sim_abort(1);
              }
              try_it();
              std::puts("all right");
            }""")

    def test_rights_of_pages(self):
        self.right("""
            #include <csignal>
            #include <cstdio>
            #include <cstring>
            #include <sys/mman.h>
            extern "C" unsigned txsync_sim_begin();
            extern "C" void txsync_sim_end();
            char* pages;
            volatile int faults = 0;
            void* volatile last = nullptr;
            void on_fault(int, siginfo_t* info, void*) {
              faults = faults + 1;
              last = info->si_addr;
              mprotect(pages + (static_cast<char*>(info->si_addr) - pages) / 4096 * 4096, 4096, PROT_READ | PROT_WRITE);
            }
            int main() {
              struct sigaction action{};
              action.sa_sigaction = on_fault;
              action.sa_flags = SA_SIGINFO;
              if (sigaction(SIGSEGV, &action, nullptr) != 0) return 1;
              const int all = PROT_READ | PROT_WRITE;
              pages = static_cast<char*>(mmap(nullptr, 4 * 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
              std::memset(pages, 1, 4 * 4096);
              mprotect(pages, 4 * 4096, PROT_READ);
              if (pages[5000] != 1 || faults != 0) return 2;
              pages[5000] = 2;
              if (faults != 1 || last != pages + 5000 || pages[5000] != 2) return 3;
              // That of an attempt is reported after its end, on this machine.
              const unsigned status = txsync_sim_begin();
              if (status == ~0u) {
                pages[9000] = 3;
                txsync_sim_end();
                return 4;
              }
              if (faults != 2 || last != pages + 9000 || pages[9000] != 1) return 5;
              std::memset(pages, 4, 4 * 4096);
              if (faults != 4 || pages[9000] != 4) return 6;
              mprotect(pages, 4096, PROT_NONE);
              if (pages[7] != 4 || faults != 5) return 7;
              std::puts("all right");
            }""")

    def test_what_a_thread_writes_last(self):
        self.compile("""
            #include <atomic>
            #include <cstdio>
            #include <thread>
            std::atomic<int> ended{0};
            struct counted { int number = 1; ~counted() { ended += number; } };
            thread_local counted own;
            int main() {
              std::thread team[8];
              for (std::thread& one : team) one = std::thread([] { ++own.number; });
              for (std::thread& one : team) one.join();
              if (ended == 16) std::puts("all right");
            }""")
        for seed in range(20):
            ran = self.simulate(oracle=1, order=1, seed=seed)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def test_futures_without_a_bound(self):
        self.right("""
            #include <cstdio>
            #include <future>
            #include <thread>
            int main() {
              std::promise<int> promise;
              std::future<int> future = promise.get_future();
              std::thread late([&] {
                std::this_thread::sleep_for(std::chrono::seconds(1));
                promise.set_value(42);
              });
              if (future.wait_for(std::chrono::milliseconds(5)) != std::future_status::timeout) return 1;
              const auto soon = std::chrono::system_clock::now() + std::chrono::milliseconds(5);
              if (future.wait_until(soon) != std::future_status::timeout) return 2;
              if (future.get() == 42) std::puts("all right");
              late.join();
            }""")


class Failures(Simulated):
    """What cannot go on ends with one line: what, where in the program, and by which seed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(HERE / "failures.cpp")

    def fails(self, way, *parts, said="", **options):
        ran = self.simulate(way, seed=5, **options)
        self.assertEqual(ran.returncode, FAILED, ran.stderr)
        self.assertEqual(ran.stdout, said)
        lines = [line for line in ran.stderr.splitlines() if line.startswith("txsync sim: ")]
        self.assertEqual(len(lines), 1, ran.stderr)
        self.assertEqual(ran.stderr.splitlines()[-1], lines[0])
        for part in (*parts, "seed 5"):
            self.assertIn(part, lines[0])

    def test_a_null_pointer(self):
        self.fails("null_pointer", "there is nothing at 0x8 (SIGSEGV) (simulated thread 1 at ",
                   " in (anonymous namespace)::add_up < ")

    def test_a_deadlock(self):
        self.fails("deadlock", "deadlock: nothing can run", "thread 0 in thread_join < ", "deadlock < main; thread 1 in park < ",
                   "pthread_mutex_lock < (anonymous namespace)::transfer < ")

    def test_a_stack_overflow(self):
        self.fails("overflow", "the stack of a simulated thread is full (256 KiB)", " in (anonymous namespace)::dive < ")

    def test_a_division_by_zero(self):
        self.fails("division", "divides by zero", " in (anonymous namespace)::divide < ")

    def test_an_exception_that_nobody_catches(self):
        self.fails("uncaught", "an exception that nobody caught", " < (anonymous namespace)::check < ")

    def test_abort(self):
        self.fails("give_up", "the program has called abort()", " < main;")

    def test_a_loop_without_an_access(self):
        self.fails("compute", "the program has not accessed memory for long", " in (anonymous namespace)::compute < ", patience=1)

    def test_steps_beyond_the_limit(self):
        self.fails("deadlock", "livelock: more than 2 steps", steps=2)

    def test_a_wild_pointer(self):
        self.fails("wild_pointer", "writes 0x7fff00000000", " in memset < (anonymous namespace)::fill < ")

    def test_a_call_that_is_not_offered(self):
        self.fails("unsupported", "the program calls mremap, which a simulated program cannot do", "(anonymous namespace)::grow < ")

    def test_a_fault_in_an_attempt(self):
        self.fails("in_attempt", "there is nothing at 0x0", said="after the attempt\n")


class ByCommand(Simulated):
    """txsync sim -- PROGRAM."""

    def sim(self, *words, machine="haswell-i7-4770", **options):
        return self.call(BIN / "txsync", "sim", "--machine", machine, *words, **options)

    def document(self, *words, status=0, **options):
        ran = self.sim("--json", "result.json", *words, **options)
        self.assertEqual(ran.returncode, status, ran.stderr)
        made = json.loads((self.at / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(complaints(made), [])
        return made, ran


class Command(ByCommand):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(HERE / "asked.cpp")

    def test_input_output_status_and_what_is_told(self):
        made, ran = self.document("--elide", "--", "./program", "two words", status=3, input="20\n")
        self.assertEqual(ran.stdout, "two words: 80\n")
        self.assertIn("the program's own word\n", ran.stderr)
        point, = made["points"]
        self.assertEqual((point["workload"], point["params"]), ("./program", {"args": "'two words'", "elide": "yes"}))
        self.assertEqual((point["threads"], point["metric"], made["program"]["status"]), (5, "simulated time", 3))
        self.assertEqual(point["attempts"], point["commits"] + sum(point["aborts"].values()))
        self.assertGreater(point["commits"], 10)
        self.assertGreater(made["program"]["accesses"], 1000)
        for said in ("exit status 3", f"end hash {point['end_hash']}", "up to 5 threads", "Attempts (hardware transactions)",
                     f"repeat it by: {point['key']}\n"):
            self.assertIn(said, ran.stderr)
        command = shlex.split(point["key"])
        self.assertEqual(command[0], "txsync")
        # Another environment and a folder that is not this one do not move anything.
        for more in ({"MORE": "x" * 70000}, *({f"MORE{i}": "" for i in range(count)} for count in range(1, 10))):
            again = self.call(BIN / "txsync", *command[1:], input="20\n", env=os.environ | more)
            self.assertEqual((again.returncode, again.stdout, again.stderr), (3, ran.stdout, ran.stderr))

    def test_without_elision_there_are_no_attempts(self):
        made, ran = self.document("--", "./program", "x", status=3, input="5\n")
        self.assertEqual((made["points"][0]["attempts"], ran.stdout), (0, "x: 20\n"))
        self.assertNotIn("Attempts", ran.stderr)

    def test_checked_with_slack_and_a_seed(self):
        made, ran = self.document("--check", "--elide", "--seed", "7", "--slack", "100", "--", "./program", "x", status=3, input="5\n")
        self.assertEqual(ran.stdout, "x: 20\n")
        self.assertIn("--seed 7 --slack 100 --check --elide -- ./program x", made["points"][0]["key"])

    def test_a_program_that_cannot_start(self):
        for path, status, said in (("./nowhere", 127, "No such file"), ("no-such-program", 127, "not found along PATH"),
                                   ("/bin/true", 126, "was not built by txsync-c++"), ("./", 126, "Is a directory")):
            with self.subTest(path=path):
                ran = self.sim("--", path)
                self.assertEqual((ran.returncode, ran.stdout), (status, ""))
                self.assertRegex(ran.stderr, r"\Atxsync sim: [^\n]+\n\Z")
                self.assertIn(said, ran.stderr)

    def test_what_a_program_does_not_take(self):
        for words, said in ((("mapbench",), "allowed: --machine, --seed"), (("--threads", "2"), "allowed: --machine, --seed"),
                            (("--uncharged",), "allowed: --machine, --seed")):
            ran = self.sim(*words, "--", "./program")
            self.assertEqual(ran.returncode, 2)
            self.assertIn(said, ran.stderr)
        self.assertEqual(self.sim("mapbench", "--elide").returncode, 2)

    def test_a_stripped_program(self):
        subprocess.run(["strip", "-o", self.at / "stripped", self.at / "program"], check=True)
        self.assertEqual(self.document("--", "./stripped", "x", status=3, input="5\n")[1].stdout, "x: 20\n")


class Spinning(ByCommand):
    """A program that waits for itself, and does not sleep."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile("""
            #include <atomic>
            #include <thread>
            std::atomic<bool> taken{true};
            void take() { while (taken.exchange(true)) {} }
            int main() { std::thread(take).join(); }""")

    def test_up_to_a_limit(self):
        ran = self.sim("--limit", "2", "--", "./program")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertRegex(ran.stderr, "(?m)^txsync sim: ./program: not over after 2000 us of simulated time: thread 0 in .*main.*; "
                                     r"thread 1 in take \(source.cpp:5\)")
        self.assertIn("--limit 2 -- ./program\n", ran.stderr)

    def test_until_somebody_has_had_enough(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([BIN / "txsync", "sim", "--machine", "haswell-i7-4770", "--", "./program"], cwd=self.at, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
                time.sleep(1)
                ran.send_signal(number)
                printed, said = ran.communicate(timeout=60)
            self.assertEqual((ran.returncode, printed), (1, ""))
            self.assertRegex(said, r"(?m)^txsync sim: interrupted: .*thread 1 in take \(source.cpp:5\)")


class Told(ByCommand):
    """What is said of the data that attempts met at."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(HERE / "told.cpp")

    def places(self, way, cause):
        made, ran = self.document("--elide", "--", "./program", way)
        found = [place for place in made["points"][0]["abort_places"] if place["cause"] == cause and "add_to" in place["own"] + way]
        self.assertGreater(len(found), 0, ran.stderr)
        for member in {"data", "sharing", "room"} & found[0].keys():
            self.assertIn(found[0][member], ran.stderr)
        return found[0]

    def test_parts_of_an_object(self):
        place = self.places("both", "conflict")
        self.assertRegex(place["data"], r"both(\+8)?$")
        self.assertEqual(place["different_bytes"], place["count"])
        self.assertRegex(place["sharing"], "^100% met at other bytes .* later$")

    def test_how_the_two_got_there(self):
        place = self.places("both", "conflict")
        self.assertRegex(place["other_calls"][0], r"^add_to \(told.cpp:\d+\)")
        # Where the attempt was by then, perhaps about to end.
        self.assertRegex(place["own_calls"][0], r"^(add_to \(told.cpp:\d+\)|txsync::|\w+ \((mutex|attempt_loop).cpp:\d+\))")
        for calls in place["own_calls"], place["other_calls"]:
            self.assertRegex(" < ".join(calls[1:]), r"operator\(\) \(told.cpp:\d+\)")  # in line in main, and in the thread that beside() starts
        alone = self.places("overflow add_to", "capacity-write")
        self.assertRegex(alone["own_calls"][0], r"^overflow \(told.cpp:\d+\)")
        self.assertNotIn("other_calls", alone)

    def test_two_objects_on_one_line(self):
        self.assertRegex(self.places("neighbours", "conflict")["sharing"],
                         r"false sharing: .*neighbour_[ab] of the attempt and .*neighbour_[ab] lie on one line")

    def test_a_block_of_the_heap(self):
        place = self.places("heap", "conflict")
        self.assertRegex(place["data"], r"heap block of 128 bytes from main \(told.cpp:\d+\)$")
        self.assertNotIn("sharing", place)

    def test_a_lock_that_was_held(self):
        place = self.places("take_and_try add_to", "lock-busy")
        self.assertRegex(place["data"], r"taken_lock(\+\d+)?$")
        self.assertIn(f"lock: {place['data']}\n", self.document("--elide", "--", "./program", "take_and_try add_to")[1].stderr)
        self.assertRegex(" < ".join(place["own_calls"]), r"take_and_try \(told.cpp:\d+\)")

    def test_a_full_set(self):
        place = self.places("overflow add_to", "capacity-write")
        self.assertRegex(place["room"], r"^[2-8] of 8 ways of set 12 written by this attempt")
        self.assertRegex(place["data"], r"heap block of \d+ bytes from main \(told.cpp:\d+\)")

    def test_a_set_that_read_lines_have_left(self):
        made, ran = self.document("capacity", "lines=16000", "access=read", "--lock", "attempt", "--threads", "1", "--operations", "20",
                                  machine="haswell-i5-4670t")
        place = next(place for place in made["points"][0]["abort_places"] if place["cause"] == "capacity-read")
        lines = re.match(r"(\d+) lines of set \d+, which has 8 ways, touched by this attempt$", place["room"])
        self.assertGreater(int(lines[1]), 8)
        self.assertIn(place["room"], ran.stdout)

    def test_what_runs_an_attempt_is_in_no_chain(self):
        made, _ = self.document("mapbench", "keys=100", "--lock", "hle_tas_t", "--threads", "4", "--operations", "300")
        chains = [place[calls] for place in made["points"][0]["abort_places"] for calls in ("own_calls", "other_calls") if calls in place]
        self.assertGreater(len(chains), 0)
        for chain in chains:
            self.assertNotRegex(" < ".join(chain), r"elision.cpp|attempts.cpp|hooks.cpp")


class FailuresOfPrograms(ByCommand):
    """What cannot go on, told by the command: with lines of the source, and the command that repeats it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(HERE / "failures.cpp")

    def fails(self, way, *patterns):
        made, ran = self.document("--seed", "5", "--", "./program", way, status=1)
        fault, = made["points"][0]["faults"]
        self.assertIn(f"txsync sim: ./program: {fault}\nrepeat it by: {made['points'][0]['key']}\n", ran.stderr)
        for pattern in patterns:
            self.assertRegex(fault, pattern)
        return fault

    def test_a_crash(self):
        self.fails("null_pointer", r"there is nothing at 0x8 \(SIGSEGV\).*add_up \(failures.cpp:\d+\) < .*seed 5")

    def test_a_deadlock(self):
        fault = self.fails("deadlock", r"deadlock: nothing can run", r"thread 1 in park [^;]* < transfer \(failures.cpp:\d+\)",
                           r"thread 0 in thread_join [^;]*deadlock \(failures.cpp:\d+\) < main \(failures.cpp:\d+\); thread 1")
        self.assertNotIn("code at 0x", fault)

    def test_an_end_before_any_access(self):
        self.compile("int main(int count, char**) { return 100 / (count - 1); }", "early")
        made, _ = self.document("--", "./early", status=1)
        self.assertRegex(made["points"][0]["faults"][0], r"\(simulated thread 0 at \d+ cycles, in main \(source.cpp:1\)")

    def test_a_program_without_lines(self):
        self.compile("int main(int count, char**) { return 100 / (count - 1); }", "early", debug="-g0")
        made, _ = self.document("--", "./early", status=1)
        self.assertIn(" cycles, in main; seed 1)", made["points"][0]["faults"][0])


if __name__ == "__main__":
    BIN, PLAIN_MODEL, MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
