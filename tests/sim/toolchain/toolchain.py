#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""toolchain.py BIN RECORDER: what txsync-c++, txsync-cc and txsync-audit make and refuse."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BIN = RECORDER = None


class Toolchain(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def call(self, *command):
        words = [str(word) for word in command]
        plain_quotes = os.environ | {"LC_ALL": "C"}
        return subprocess.run(words, cwd=self.at, env=plain_quotes, capture_output=True, text=True, timeout=100)

    def write(self, name, text):
        (self.at / name).write_text(text, encoding="utf-8")
        return name

    def cxx(self, *words, driver="txsync-c++"):
        return self.call(BIN / driver, "-g", f"--txsync-runtime={RECORDER}", "-I", HERE, *words)

    def made(self, *words, driver="txsync-c++"):
        done = self.cxx(*words, driver=driver)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def refused(self, done, *parts):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for part in parts:
            self.assertIn(part, done.stderr)


class Holes(Toolchain):
    def run_holes(self, *flags):
        self.made(*flags, HERE / "holes.cpp", "-o", "holes")
        ran = self.call("./holes")
        self.assertEqual((ran.returncode, ran.stdout), (0, ""))

    def test_holes_at_O2(self):
        self.run_holes("-O2")

    def test_holes_at_O3(self):
        self.run_holes("-O3")

    def test_holes_at_O1_in_cxx17(self):
        self.run_holes("-O1", "-std=c++17")


class Refusals(Toolchain):
    def plain(self, text, name="plain.cpp"):
        self.write(name, text)
        done = self.call("g++", "-O2", "-g", "-c", name)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_object_of_another_compiler(self):
        self.plain("int shared; int take(int* from) { return *from + shared; }")
        self.write("main.cpp", "int take(int*); int main() { int x = 0; return take(&x); }")
        self.refused(self.cxx("main.cpp", "plain.o", "-o", "program"),
                     "plain.o: take(int*) (plain.cpp:1", "a load that no hook sees")
        self.assertFalse((self.at / "program").exists())

    def test_an_object_that_uses_libc_itself(self):
        self.plain('#include <string.h>\nunsigned long measure(const char* s) { return strlen(s); }')
        self.write("main.cpp", "unsigned long measure(const char*); int main() { return measure(\"\"); }")
        self.refused(self.cxx("main.cpp", "plain.o"), "plain.o: was not made by txsync-c++", "strlen")

    def test_a_function_of_C_has_its_own_name(self):
        self.write("part.c", "__attribute__((no_sanitize(\"thread\"))) void h(int* at) { *at = 1; }")
        self.refused(self.cxx("-c", "part.c", driver="txsync-cc"), "txsync: part.c: h (part.c:1")

    def test_constants_of_another_object_have_no_hooks(self):
        """Their addresses may be computed in a register, or come from there."""
        self.write("part.c", "typedef struct { const char* name; signed char length; unsigned format; } entry;\n"
                   "extern const entry table[];\n"
                   "unsigned take(int at, unsigned char* from) { return (table[at].format & 15) + table[*from].length; }")
        for optimize in ("-O0", "-O1", "-O2"):
            self.made(optimize, "-c", "part.c", driver="txsync-cc")
        self.write("part.s", ".globl put\nput:\n  lea table(%rip), %rax\n  movl $1, (%rax)\n  ret\n.section .note.GNU-stack\n")
        self.assertEqual(self.call("gcc", "-c", "part.s", "-o", "put.o").returncode, 0)
        self.refused(self.call(BIN / "txsync-audit", "--symbols", BIN.parent / "lib/txsync/symbols.txt", "--accesses", "put.o"),
                     "put", "a store that no hook sees")

    def test_a_function_without_instrumentation(self):
        self.write("part.cpp", "__attribute__((no_sanitize(\"thread\"))) void set(int* at) { *at = 1; }")
        self.refused(self.cxx("-c", "part.cpp"), "txsync: part.cpp: set(int*) (part.cpp:1", "a store that no hook sees")
        self.assertFalse((self.at / "part.o").exists())

    def test_a_system_call_in_assembly(self):
        self.write("part.cpp", 'void go() { asm volatile("syscall" ::: "memory"); }')
        self.refused(self.cxx("-c", "part.cpp"), "txsync: part.cpp: go()", "a system call that the simulated machine does not see")

    def test_a_second_process_ends_the_run_and_not_the_link(self):
        self.write("main.cpp", "#include <unistd.h>\nint main(int count, char**) { return count > 1 ? fork() : 0; }")
        done = self.cxx("main.cpp", "-o", "program")
        self.assertEqual((done.returncode, done.stderr),
                         (0, "txsync: main.cpp: main uses fork: a call ends the run: a simulated program is one process\n"))
        self.assertEqual(self.call("./program").returncode, 0)
        ran = self.call("./program", "x")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("fork", ran.stderr)

    def test_what_threads_use_links(self):
        """Each function of these headers that a program with threads may use is in symbols.txt."""
        functions = """alarm getitimer pause sigsuspend sigwait sigwaitinfo sigtimedwait sigqueue sigpending sigprocmask
            dlopen dlclose dlsym dlerror dladdr getpwuid getpwnam_r getgrgid getpwent getlogin
            gethostbyaddr_r gethostbyname2_r getservbyport getprotobyname_r getprotobynumber_r getnameinfo getifaddrs
            ftok semget semop semctl shmget shmat shmctl shmdt msgget msgsnd sendfile preadv pwritev
            getpriority setpriority prlimit tcgetattr cfmakeraw ppoll syslog openlog posix_spawn posix_spawnattr_init
            aio_read aio_suspend lio_listio mq_open mq_receive glob globfree fnmatch wordexp nl_langinfo_l iconv iconv_open
            timer_create timerfd_create inotify_init eventfd_read sem_open mlock mallopt backtrace gettid strerror_r ctime
            tss_create pthread_tryjoin_np pthread_mutex_consistent pthread_getcpuclockid sched_getscheduler""".split()
        self.write("main.c", "".join(f"void {name}(void);\n" for name in functions) + "int main(int count, char** words) {\n"
                   + "".join(f"  if (count == {i + 2}) {name}();\n" for i, name in enumerate(functions)) + "  return 0;\n}")
        done = self.cxx("-w", "-fno-builtin", "main.c", "-o", "program", driver="txsync-cc")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^txsync: main.c: main uses \w+: a call ends the run: ")
        self.assertEqual(self.call("./program").returncode, 0)

    def test_a_program_may_have_a_function_of_such_a_name(self):
        self.write("main.c", "int send(int a) { return a - 3; }\nint main() { return send(3); }")
        self.made("main.c", "-o", "program", driver="txsync-cc")
        self.assertEqual(self.call("./program").returncode, 0)

    def test_an_unknown_function(self):
        self.write("main.cpp", 'extern "C" int mystery(); int main() { return mystery(); }')
        self.made("-c", "main.cpp")
        self.refused(self.cxx("main.o"), "txsync: main.o: main uses mystery: no function of the simulated machine")

    def test_what_only_a_cold_part_uses(self):
        self.write("main.cpp", "#include <signal.h>\n__attribute__((noinline)) void go(int) {}\nint main(int count, char**) {\n"
                   "  go(count);\n  if (__builtin_expect(count > 3, 0)) { raise(3); __builtin_abort(); }\n}")
        self.assertIn("main.cpp: main uses raise: a call ends the run", self.cxx("-freorder-blocks-and-partition", "main.cpp").stderr)

    def test_flags(self):
        self.write("main.cpp", "int main() {}")
        for flag in ("-shared", "-fsanitize=address", "-flto", "-fopenmp", "--coverage"):
            done = self.cxx(flag, "main.cpp")
            self.assertEqual(done.returncode, 2)
            self.refused(done, f"{flag} is not for a simulated program: ")
            self.assertEqual(done.stderr.count("\n"), 1)


class ColdParts(Toolchain):
    """What GCC moves out of a function's way is no other function: its frame is the function's own."""

    SOURCE = """
        int* take();
        void give(int* back);
        struct owned {
          int* what = take();
          ~owned() {
            if (what) give(what);
          }
        };
        struct alignas(64) wide { long words[8]; };
        void fill(wide& to, void* room);
        int NAME(int count, char**) {
          wide own;
          owned a, b, c, d, e, f, g, h;
          fill(own, __builtin_alloca(count));
          return own.words[1] == 0;
        }"""

    def test_cold_parts(self):
        for name in ("main", "body"):  # main is renamed, its cold part is not
            with self.subTest(name=name):
                self.write("part.cpp", self.SOURCE.replace("NAME", name))
                # The recipe has the opposite of these two; objects of others may be so.
                self.made("-O2", "-freorder-functions", "-freorder-blocks-and-partition", "-c", "part.cpp")
                # The test's own ground: a cold part that uses the frame through rbp.
                code = self.call("objdump", "-d", "-j", ".text.unlikely", "--no-show-raw-insn", "part.o").stdout
                self.assertRegex(code, r"cold>:(?s:.*)mov +-0x[0-9a-f]+\(%rbp\)")


class Driver(Toolchain):
    def test_objects_one_by_one(self):
        self.write("one.cpp", "int twice(int x) { return 2 * x; }")
        self.write("two.cpp", "int twice(int); int main(int count, char**) { return twice(count + BIAS); }")
        self.made("-c", "one.cpp")
        self.made("-c", "-DBIAS=3", "two.cpp", "-o", "other.o")
        self.made("one.o", "other.o", "-o", "program", "-lpthread", "-lm")
        self.assertEqual(self.call("./program").returncode, 8)

    def test_archives(self):
        self.write("one.cpp", "int twice(int x) { return 2 * x; }")
        self.write("two.cpp", "int twice(int); int main() { return twice(21); }")
        self.made("-c", "one.cpp")
        self.assertEqual(self.call("ar", "rcs", "libone.a", "one.o").returncode, 0)
        self.made("two.cpp", "-L.", "-lone", "-fPIC", "-o", "program")
        self.assertEqual(self.call("./program").returncode, 42)

    def test_c(self):
        self.write("main.c", "#include <stdio.h>\nint main(void) { int class = 3; printf(\"%d\\n\", class); return 0; }")
        self.made("-std=c11", "main.c", "-o", "program", driver="txsync-cc")
        self.assertEqual(self.call("./program").stdout, "3\n")

    def test_verbose_and_kept(self):
        self.write("main.cpp", "int main() {}")
        done = self.cxx("-v", "--txsync-keep", "main.cpp", "-o", "program")
        self.assertEqual(done.returncode, 0)
        for word in ("-fsanitize=thread", "objcopy", "txsync-audit"):
            self.assertIn(word, done.stderr)
        self.assertTrue((self.at / "program.parts" / "0-main.o").exists())

    def test_a_mistake_in_the_source(self):
        self.write("main.cpp", "int main() { return x; }")
        self.refused(self.cxx("-c", "main.cpp"), "'x' was not declared")


class Library(Toolchain):
    """The program library does what libc and libstdc++ do, as far as one thread can tell."""

    def run_program(self, *flags):
        self.made(*flags, HERE / "library.cpp", "-o", "library")
        ran = self.call("./library")
        self.assertEqual((ran.returncode, ran.stdout), (0, "all as expected\n"), ran.stderr)

    def test_all_that_is_wrapped_exists(self):
        parts = BIN.parent / "lib" / "txsync"
        wanted = self.call(BIN / "txsync-audit", "--symbols", parts / "symbols.txt", "--wrapped").stdout.split()
        self.assertGreater(len(wanted), 200)
        defined = self.call("nm", "--defined-only", *parts.glob("*.a")).stdout.split()
        self.assertEqual(set(wanted) - set(defined), {"txsync_sim_user_main"})

    def test_in_cxx20(self):
        self.run_program("-std=c++20")

    def test_in_cxx17(self):
        self.run_program("-std=c++17", "-O3")


if __name__ == "__main__":
    BIN, RECORDER = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
