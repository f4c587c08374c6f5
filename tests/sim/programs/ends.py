#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ends.py BIN PLAIN_MODEL MACHINES: what outlives threads, attempts and schedules, and what does not."""

import pathlib
import sys
import unittest

import programs


class Ends(programs.Simulated):
    """Of threads, of attempts, of time."""

    def test_pages_come_back(self):
        self.compile("""
            #include <cstdio>
            #include <sys/mman.h>
            char* map(unsigned long bytes, void* at = nullptr, int more = 0) {
              return static_cast<char*>(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0));
            }
            int main() {
              constexpr unsigned long big = 1 << 20;
              char* const kept = map(big);
              kept[big - 1] = 1;
              // More than all memory that there is, and never two at a time.
              for (int i = 0; i < 100'000; ++i) {
                char* const one = map(big);
                if (one == MAP_FAILED || one[0] != 0 || one[big - 1] != 0) return 1;
                one[0] = one[big - 1] = 1;
                if (munmap(one, big) != 0) return 2;
              }
              // In parts, the middle kept; and what a program takes back itself nobody else gets.
              char* const parts = map(3 * big);
              parts[big] = 7;
              munmap(parts, big);
              munmap(parts + 2 * big, big);
              if (map(big, parts, MAP_FIXED) != parts) return 3;
              for (int i = 0; i < 4; ++i) {
                char* const one = map(big);
                if (one < parts + 2 * big && parts < one + big) return 4;
                one[0] = 9;
              }
              if (parts[big] != 7 || parts[0] != 0 || kept[big - 1] != 1) return 5;
              std::puts("all right");
            }""")
        ran = self.simulate()
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))

    def test_processors(self):
        self.right("""
            #include <cstdio>
            #include <pthread.h>
            #include <sched.h>
            #include <sys/syscall.h>
            #include <thread>
            #include <unistd.h>
            extern "C" unsigned txsync_sim_begin();
            extern "C" void txsync_sim_end();
            int wrong = 0;
            void pin_and_ask(int number) {
              cpu_set_t set;
              CPU_ZERO(&set);
              CPU_SET(number, &set);
              if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0 || sched_getcpu() != number) wrong = 1;
              cpu_set_t seen;
              if (pthread_getaffinity_np(pthread_self(), sizeof seen, &seen) != 0 || !CPU_EQUAL(&set, &seen)) wrong = 2;
              unsigned cpu = 99, node = 99;
              if (getcpu(&cpu, &node) != 0 || cpu != static_cast<unsigned>(number) || node != 0) wrong = 3;
              if (syscall(SYS_getcpu, &cpu, nullptr, nullptr) != 0 || cpu != static_cast<unsigned>(number)) wrong = 4;
              int tries = 100;
              while (tries != 0 && txsync_sim_begin() != ~0u) --tries;
              if (tries == 0) return void(wrong = 5);
              const int inside = sched_getcpu();
              txsync_sim_end();
              if (inside != number) wrong = 6;
            }
            int main() {
              const unsigned all = std::thread::hardware_concurrency();
              if (all != 8 || sysconf(_SC_NPROCESSORS_ONLN) != 8 || sched_getcpu() != 0) return 1;
              cpu_set_t set;
              if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 8) return 2;
              for (int number = 0; number < 8; ++number) std::thread(pin_and_ask, number).join();
              unsigned places = 0;  // those that nobody has pinned run side by side, each on a place of its own
              std::thread team[3];
              for (std::thread& one : team) one = std::thread([&] { __atomic_fetch_or(&places, 1u << sched_getcpu(), 5); });
              for (std::thread& one : team) one.join();
              if (wrong != 0 || (places & places - 1) == 0) return 10 + wrong;
              std::puts("all right");
            }""", machine="haswell-i7-4770")

    def test_threads_that_take_the_places_of_others(self):
        self.right("""
            #include <atomic>
            #include <cstdio>
            #include <pthread.h>
            #include <thread>
            #include <vector>
            thread_local int number = 7;
            thread_local std::vector<int> kept;
            int destroyed = 0;
            std::atomic<int> ended{0};
            int main() {
              int wrong = 0;
              pthread_key_t key;
              pthread_key_create(&key, [](void*) { ++destroyed; });
              for (int i = 0; i < 3; ++i) {
                std::thread one([&] {
                  if (number != 7 || !kept.empty() || pthread_getspecific(key) != nullptr) ++wrong;
                  ++number;
                  kept.push_back(i);
                  pthread_setspecific(key, &wrong);
                });
                one.join();
              }
              if (wrong != 0 || destroyed != 3) return 1;
              for (int i = 0; i < 2100; ++i) {  // more than there can be at a time
                std::thread([] { ++ended; }).detach();
                while (ended != i + 1) std::this_thread::yield();
              }
              std::puts("all right");
            }""")

    def test_faults_and_ends_in_attempts(self):
        self.right("""
            #include <cstdint>
            #include <cstdio>
            #include <cstdlib>
            extern "C" { std::uint32_t txsync_sim_begin(); void txsync_sim_end(); }
            int* volatile wild = reinterpret_cast<int*>(0x7fff00000000);
            volatile int nothing = 0;
            volatile int into;
            template <class Body> void never_commits(Body body) {
              if (txsync_sim_begin() != ~0u) return;
              body();
              txsync_sim_end();
              std::_Exit(1);
            }
            int main() {
              never_commits([] { into = *wild; });
              never_commits([] { *wild = 1; });
              never_commits([] { into = 100 / nothing; });
              never_commits([] { __builtin_trap(); });
              never_commits([] { std::exit(2); });
              never_commits([] { std::abort(); });
              std::puts("all right");
            }""")

    def test_blocks_of_a_suspended_attempt(self):
        self.right("""
            #include <cstdint>
            #include <cstdio>
            #include <cstdlib>
            extern "C" {
            std::uint32_t txsync_sim_begin();
            void txsync_sim_abort(std::uint8_t), txsync_sim_suspend(), txsync_sim_resume();
            }
            char* volatile kept;
            int main() {
              char* volatile mine = static_cast<char*>(std::malloc(640));
              if (txsync_sim_begin() == ~0u) {
                mine[0] = 't';
                txsync_sim_suspend();
                kept = static_cast<char*>(std::malloc(64));
                kept[0] = 'k';
                std::free(mine);
                txsync_sim_resume();
                txsync_sim_abort(1);
              }
              char* other = static_cast<char*>(std::malloc(64));
              other[0] = 'o';
              if (kept == other || kept[0] != 'k' || std::malloc(640) != mine || std::malloc(640) == mine) return 1;
              std::puts("all right");
            }""")

    def test_rights_that_go_end_attempts(self):
        source = """
            #include <atomic>
            #include <cstdint>
            #include <cstdio>
            #include <thread>
            #include <sys/mman.h>
            extern "C" { std::uint32_t txsync_sim_begin(); void txsync_sim_end(); }
            struct alignas(128) { volatile long number = 0; } here, there;
            std::atomic<bool> ready{false};
            int main() {
              auto* page = static_cast<volatile char*>(
                  mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
              page[0] = 1;
              here.number = there.number = 1;
              bool committed = false;
              std::thread one([&] {
                ready = true;
                if (txsync_sim_begin() != ~0u) return;
                page[0] = 2;
                for (int i = 0; i < 3000; ++i) here.number = here.number + 1;
                txsync_sim_end();
                committed = true;
              });
              while (!ready) {
              }
              for (int i = 0; i < 500; ++i) there.number = there.number + 1;
              mprotect(const_cast<char*>(page), 65536, PROT_NONE);
              one.join();
              if (!committed) std::puts("all right");
            }"""
        self.right(source)
        for machine in ("power8-8284-22a", "broadwell-e5-2697v4"):
            self.assertEqual(self.simulate(machine=machine).stdout, "all right\n")

    def test_attempts_of_a_set_up_that_costs_nothing(self):
        self.compile("""
            #include <cstdint>
            #include <cstdio>
            extern "C" { std::uint32_t txsync_sim_begin(); void txsync_sim_abort(std::uint8_t), txsync_sim_phase(int); }
            volatile long number = 7;
            volatile long many = 0;
            int main(int count, char**) {
              txsync_sim_phase(1);
              if (count > 1) {
                while (many < 500'000'000) many = many + 1;
              } else if (txsync_sim_begin() == ~0u) {
                number = 8;
                txsync_sim_abort(1);
              }
              if (number == 7) std::puts("all right");
            }""")
        self.assertEqual(self.simulate(uncharged=1).stdout, "all right\n")
        # Accesses that cost nothing are progress all the same.
        self.assertEqual(self.simulate("long", uncharged=1, patience=1).stdout, "all right\n")

    def test_rights_of_pages_hold_in_a_set_up_that_costs_nothing(self):
        for before in (0, 1):
            self.compile(f"""
                #include <csignal>
                #include <cstdio>
                #include <sys/mman.h>
                extern "C" void txsync_sim_phase(int);
                static volatile char* page;
                static volatile int refused = 0;
                static void on_fault(int, siginfo_t*, void*) {{
                  refused = refused + 1;
                  mprotect(const_cast<char*>(page), 4096, PROT_READ | PROT_WRITE);
                }}
                int main() {{
                  struct sigaction handling {{}};
                  handling.sa_sigaction = on_fault;
                  handling.sa_flags = SA_SIGINFO;
                  sigaction(SIGSEGV, &handling, nullptr);
                  page = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
                  if ({before}) mprotect(const_cast<char*>(page), 4096, PROT_NONE);
                  txsync_sim_phase(1);
                  page[0] = 1;
                  mprotect(const_cast<char*>(page), 4096, PROT_READ);
                  page[0] = 2;
                  if (refused == 1 + {before} && page[0] == 2) std::puts("all right");
                }}""")
            self.assertEqual(self.simulate(uncharged=1).stdout, "all right\n")

    def test_locks_that_an_elision_does_not_give_back_by_prefix(self):
        source = """
            #include <cstdint>
            #include <cstdio>
            extern "C" {
            std::uint64_t txsync_sim_hle_acquire(void*, unsigned, std::uint64_t);
            void txsync_sim_hle_release(void*, unsigned, std::uint64_t), txsync_sim_yield();
            unsigned txsync_sim_depth();
            }
            alignas(64) std::uint32_t a;
            alignas(64) std::uint32_t b;
            int main() {
              a = b = 0;
              const std::uint64_t alone = txsync_sim_hle_acquire(&a, 4, 1);
              if (txsync_sim_depth() != 0) {
                *static_cast<volatile std::uint32_t*>(&a) = 0;
                txsync_sim_yield();
              }
              a = 0;
              const std::uint64_t first = txsync_sim_hle_acquire(&a, 4, 1);
              const std::uint64_t second = txsync_sim_hle_acquire(&b, 4, 1);
              txsync_sim_hle_release(&a, 4, 0);
              txsync_sim_hle_release(&b, 4, 0);
              txsync_sim_yield();
              if (alone + first + second + a + b == 0) std::puts("all right");
            }"""
        self.right(source)
        self.assertEqual(self.simulate(machine="haswell-i7-4770", oracle=1).stdout, "all right\n")

    def test_the_end_of_time(self):
        self.compile("""
            #include <unistd.h>
            int main() { sleep(4'000'000); }""")
        ran = self.simulate()
        self.assertEqual(ran.returncode, programs.FAILED)
        self.assertIn("simulated time is over: it goes up to ", ran.stderr)


class Prefixes(programs.InSeveralOrders, programs.Simulated):
    """Locks that a program elides by Intel's hints itself."""

    SOURCE = "prefixes.cpp"
    ORDERS = (0, 1)  # in step, exchanging threads take the lock from each other

    def test_where_they_are_elided(self):
        for machine in ("haswell-i5-4670t", "haswell-i7-4770"):
            self.run_all(machine)
            self.assertGreater(self.records(machine=machine)["attempts.committed"], 20)

    def test_where_they_are_only_hints(self):
        self.assertEqual(self.records(machine="granite-rapids")["attempts.begun"], 0)


class ElidedExits(programs.ByCommand):
    """Ways out of sections of pthread locks, and what programs do wrong with them: elided as with the lock."""

    LEARN = ("standard", "glibc", "libomp", "xsync")
    DO_NOT = ("eager", "shore", "thesis_100", "htm_1", "htm_10")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(programs.HERE / "elided_exits.cpp")

    def comes_out(self, *words, stderr="", **options):
        with self.subTest(words=words, **options):
            ran = self.simulate(*words, oracle=1, **options)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", stderr))

    def test_with_the_lock(self):
        self.comes_out(elide="off")

    def test_elided_by_every_policy(self):
        for machine in ("ideal", "haswell-i7-4770"):
            for preset in self.LEARN:
                self.comes_out(elide=preset, machine=machine)
            for preset in self.DO_NOT:
                self.comes_out("sure", elide=preset, machine=machine)

    def test_in_other_orders_and_with_attempts_that_fail_for_nothing(self):
        for preset in ("standard", "eager", "xsync"):
            for order in (1, 3):
                for probes in (3, 23):
                    self.comes_out(elide=preset, order=order, probes=probes)

    def test_mistakes_are_told_once_and_do_no_harm(self):
        for elide in ("off", "standard", "eager", "xsync"):
            for word, told in (("double-unlock", "a lock was unlocked while no thread held it"),
                               ("destroy", "a lock was destroyed while a thread held it"),
                               ("relock", "a thread locks a mutex that it holds; it waits until "
                                "another thread unlocks it or its deadline comes")):
                self.comes_out(word, elide=elide, stderr=f"txsync: {told}\n")

    def test_a_thread_that_waits_for_itself(self):
        for elide in ("off", "standard", "eager"):
            ran = self.simulate("deadlock", elide=elide)
            self.assertEqual((ran.returncode, ran.stdout), (programs.FAILED, ""), ran.stderr)
            self.assertIn("deadlock: nothing can run", ran.stderr)
            self.assertIn("txsync: a thread locks a mutex that it holds", ran.stderr)

    def test_exceptions_one_after_the_other_in_one_attempt(self):
        """Their blocks are the same, what the C++ library writes there without a hook is not."""
        self.compile("""
            #include <cstdio>
            #include <mutex>
            #include <stdexcept>
            #include <string>
            int main() {
              std::mutex mutex;
              int wrong = 0;
              for (int i = 0; i < 400; ++i) {
                try {
                  const std::lock_guard hold(mutex);
                  throw std::out_of_range("number " + std::to_string(i));
                } catch (const std::exception& error) {
                  if (error.what() != "number " + std::to_string(i)) ++wrong;
                }
              }
              if (wrong == 0) std::puts("all right");
            }""", "exceptions")
        (self.at / "program").rename(self.at / "kept")
        (self.at / "exceptions").rename(self.at / "program")
        try:
            for machine in ("ideal", "haswell-i7-4770"):
                self.comes_out(elide="xsync", machine=machine)
        finally:
            (self.at / "kept").rename(self.at / "program")

    def test_by_command(self):
        made, ran = self.document("--elide", "--", "./program")
        self.assertEqual(ran.stdout, "all right\n")
        self.assertGreater(made["points"][0]["commits"], 50)


class ElidedReaders(programs.Simulated):
    """Sections of a pthread_rwlock_t as attempts."""

    SOURCE = """
        #include <pthread.h>
        #include <sched.h>
        #include <cstdio>
        #include <cstdlib>
        #include <cstring>
        #include <thread>
        #include <vector>
        constexpr int readers = 4, rounds = 100;
        alignas(128) pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
        struct alignas(128) number { volatile long value = 0; } first, second;
        alignas(128) volatile char large[128 * 1024];
        int main(int, char** words) {
          const bool calls = std::strcmp(words[1], "calls") == 0;
          const bool writes = calls || std::strcmp(words[1], "writes") == 0;
          const bool is_large = std::strcmp(words[1], "large") == 0;
          std::memset(const_cast<char*>(large), 1, sizeof large);
          bool torn = false;
          std::vector<std::thread> team;
          for (int me = 0; me < readers; ++me) {
            team.emplace_back([&] {
              for (int i = 0; i < rounds; ++i) {
                pthread_rwlock_rdlock(&lock);
                const long seen = first.value;
                for (int at = 0; at < 20; ++at) static_cast<void>(large[at * 64]);
                if (second.value != seen) torn = true;
                pthread_rwlock_unlock(&lock);
              }
            });
          }
          if (writes || is_large) {
            for (int i = 0; i < rounds; ++i) {
              pthread_rwlock_wrlock(&lock);
              first.value = first.value + 1;
              if (calls) sched_yield();
              if (is_large) for (unsigned at = 0; at < sizeof large; at += 64) large[at] = large[at];
              second.value = second.value + 1;
              pthread_rwlock_unlock(&lock);
            }
          }
          for (std::thread& one : team) one.join();
          if (!torn && first.value == second.value && first.value == (writes || is_large ? rounds : 0)) std::puts("all right");
        }"""
    MACHINE = "haswell-i7-4770"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compile(cls.SOURCE)

    def told(self, way):
        for order in (0, 1, 3):
            ran = self.simulate(way, machine=self.MACHINE, elide="eager", order=order, oracle=1)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))
        return self.records(way, machine=self.MACHINE, elide="eager")

    def test_readers_alone_meet_nobody(self):
        told = self.told("reads")
        self.assertEqual(told["attempts.committed"], 400)
        self.assertEqual(told.get("aborts.conflict", 0) + told.get("aborts.lock-busy", 0), 0)

    def test_writers_run_as_attempts_too(self):
        told = self.told("writes")
        self.assertGreater(told["attempts.committed"], 400)

    def test_a_writer_that_takes_the_lock_ends_readers_attempts(self):
        told = self.told("calls")
        self.assertGreaterEqual(told["aborts.syscall"], 90)
        self.assertGreater(told.get("aborts.conflict", 0) + told.get("aborts.lock-busy", 0), 10)
        self.assertGreaterEqual(told["attempts.committed"], 300)  # of readers

    def test_a_section_that_is_too_large_takes_the_lock(self):
        told = self.told("large")
        self.assertGreaterEqual(sum(count for name, count in told.items() if name.startswith("aborts.capacity")), 50)

    def test_locks_that_are_not_elided_make_no_attempts(self):
        for locks in ("lock=mutex", "rwlock=rwlock elision=off"):
            self.assertEqual(self.records("reads", machine=self.MACHINE, locks=locks)["attempts.begun"], 0)


class ElidedSignals(programs.Simulated):
    """Conditions in sections of elided mutexes."""

    def test_a_signal_waits_for_the_commit_and_ends_no_attempt(self):
        self.compile("""
            #include <condition_variable>
            #include <cstdio>
            #include <mutex>
            #include <thread>
            std::mutex mutex;
            std::condition_variable changed, unheard;
            int turn = 0;
            long turns = 0;
            void take_turns(int me) {
              for (int i = 0; i < 100; ++i) {
                std::unique_lock held(mutex);
                changed.wait(held, [me] { return turn == me; });
                turn = 1 - me;
                ++turns;
                unheard.notify_all();
                i % 2 == 0 ? changed.notify_one() : changed.notify_all();
              }
            }
            int main() {
              std::thread other(take_turns, 1);
              take_turns(0);
              other.join();
              if (turns == 200) std::puts("all right");
            }""")
        for order in (0, 1, 3):
            for probes in (0, 23):
                ran = self.simulate(machine="haswell-i7-4770", elide="eager", order=order, probes=probes, oracle=1)
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all right\n", ""))
        told = self.records(machine="haswell-i7-4770", elide="eager")
        self.assertEqual(told.get("aborts.syscall", 0), 0)
        self.assertGreater(told["attempts.committed"], 20)


def compile_with_library(test, source):
    """Links "program" with txsync as it is built for simulated programs."""
    project = programs.HERE.parents[2]
    (test.at / "with_library.cpp").write_text(source, encoding="utf-8")
    done = test.call(programs.BIN / "txsync-c++", "-std=c++20", f"-I{project / 'include'}", f"-I{project / 'include/txsync/machine/native'}",
                     "with_library.cpp", programs.BIN.parent / "lib/txsync/libtxsync-sim-floors.a", "-o", "program")
    test.assertEqual(done.returncode, 0, done.stderr)


class CommitActions(programs.Simulated):
    """Actions of an attempt's commit wait in memory that the thread may not have touched before."""

    SOURCE = """
        #include <cstdio>
        #include <thread>
        #include <txsync/locks/tatas.hpp>
        #include <txsync/speculate/elided.hpp>
        txsync::site place{"ends"};
        txsync::elided<txsync::tatas_lock> lock{place};
        int done = 0;
        int main() {
          std::thread other([] {
            for (int i = 0; i < 200; ++i) {
              const txsync::elided_guard hold(lock);
              txsync::on_commit([]() noexcept { ++done; });
            }
          });
          other.join();
          if (done == 200) std::puts("all right");
        }"""

    def test_the_first_one_of_a_thread_costs_no_attempt(self):
        compile_with_library(self, self.SOURCE)
        self.assertEqual(self.simulate(machine="haswell-i7-4770", oracle=1).stdout, "all right\n")
        told = self.records(machine="haswell-i7-4770")
        self.assertEqual((told["aborts.fault"], told["attempts.begun"], told["attempts.committed"]), (0, 200, 200))


class Complaints(programs.Simulated):
    """What the library says of misuse goes to the standard error, and is not said by each of many schedules."""

    SOURCE = """
        #include <txsync/locks/tatas.hpp>
        #include <txsync/speculate/elided.hpp>
        constinit txsync::elided<txsync::tatas_lock> lock;
        int main() {
          lock.lock();
          lock.unlock();
          lock.unlock();
        }"""

    def test_a_double_unlock_is_told(self):
        compile_with_library(self, self.SOURCE)
        for machine in ("haswell-i7-4770", "ideal"):
            ran = self.simulate(machine=machine)
            self.assertEqual(ran.returncode, 0)
            self.assertRegex(ran.stderr, r"\Atxsync: unlock of a lock that the thread does not hold, at 0x[0-9a-f]+\n\Z")


if __name__ == "__main__":
    programs.BIN, programs.PLAIN_MODEL, programs.MACHINES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
