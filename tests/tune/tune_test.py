#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tune_test.py TXSYNC [PROGRAM STARVING DOUBTFUL]: drives txsync tune over built-in workloads. If the preloaded library
can be used, also over PROGRAM (tuned_program), STARVING (starving_program) and DOUBTFUL (doubtful_program).
What is faster is not asserted, only that the numbers, the verdict and the files agree."""

import html
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import unittest

from result_schema import complaints, load

TXSYNC = PROGRAM = STARVING = DOUBTFUL = ""
QUICK = ("--rounds", "6", "--duration", "2", "--threads", "2")


def commands():
    """Of all processes that run."""
    found = []
    for one in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(one.read_text(errors="replace").rstrip("\0").replace("\0", " "))
        except OSError:
            pass  # it has ended meanwhile
    return found


def call(*arguments, **options):
    return subprocess.run([TXSYNC, *map(str, arguments)], capture_output=True, text=True, timeout=110, **options)


def starved_anyway(rounds):
    """Whether some wait under the C library's mutex lasted over 100 ms in half of the rounds or more; on a busy machine it may.
    No wait in a run of 400 ms is four times as long, which is one of the two ways to be refused."""
    return 2 * sum(one["reference_max_wait_ns"] > 100e6 for one in rounds) >= len(rounds)


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.json = self.folder / "result.json"

    def document(self):
        document = load(self.json.read_text(encoding="utf-8"))
        self.assertEqual(complaints(document), [])
        for row in document["tune"]["table"]:
            if "point" in row:
                point = document["points"][row["point"]]
                self.assertEqual((point["subject"], point["params"]["phase"]), (row["candidate"], row["phase"]))
        return document

    def refused(self, *arguments, says, **options):
        with self.subTest(arguments=arguments):
            done = call("tune", *arguments, **options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Atxsync tune: [^\n]+\n\Z")
            self.assertIn(says, done.stderr)


class Workloads(Tune):
    def test_a_workload_gives_a_table_a_verdict_and_files_of_one_piece(self):
        policy, page = self.folder / "policy.toml", self.folder / "page.html"
        done = call("tune", "arraybench", "contention=high", *QUICK, "--candidates", "tatas,mcs", "--json", self.json, "--report", page, "-o", policy)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = self.document()
        tune = document["tune"]
        self.assertIn(tune["verdict"], done.stdout)
        self.assertIn(tune["verdict"].split("'")[0][:10], page.read_text(encoding="utf-8"))
        self.assertEqual(tune["reference"], "pthread_mutex")
        self.assertEqual([row["candidate"] for row in tune["table"][:3]], ["pthread_mutex", "tatas", "mcs"])
        self.assertEqual(document["points"][0]["metric"], "throughput")
        self.assertEqual(document["points"][0]["threads"], 2)
        self.assertEqual(tune["proven"], policy.exists())
        self.assertEqual(tune["proven"], "policy" in tune)
        if tune["proven"]:
            self.assertGreater(tune["gain"]["low95"], 1)
            self.assertEqual(policy.read_text(encoding="utf-8"), tune["policy"])
        else:
            self.assertIn("no policy was written", done.stderr)
            self.assertEqual(tune["winner"], tune["reference"])

    def test_progress_is_a_line_for_each_round(self):
        done = call("tune", "arraybench", *QUICK, "--candidates", "tatas")
        self.assertRegex(done.stderr, r"(?m)^txsync tune: \d+ s: whole program, round 1 of 6, 2 left$")
        self.assertNotIn("\033", done.stderr)

    def test_comparisons_that_the_time_ended_are_named(self):
        page = self.folder / "page.html"
        # A round of two takes about 0.4 s. All of the six have 40 % of two seconds: enough for one on a busy machine, too.
        done = call("tune", "arraybench", "--rounds", "6", "--duration", "200", "--threads", "2", "--time", "2", "--candidates", "tatas", "--json", self.json, "--report", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        tune = self.document()["tune"]
        self.assertTrue(tune["out_of_time"])
        cut = tune["cut_short"][0]
        self.assertEqual((cut["phase"], cut["of"]), ("whole program", 6))
        self.assertEqual(cut["rounds"], len(self.document()["points"][0]["values"]))
        words = f"whole program, {cut['rounds']} of 6 rounds"
        self.assertIn("The time was up before all rounds were run; the intervals cover those that were: " + words, done.stdout)
        self.assertIn(f"The time was up: whole program ran {cut['rounds']} of 6 rounds", page.read_text(encoding="utf-8"))

    def interrupted_at_the_expectation(self, *arguments):
        """The line, of a tuning that is ended behind it."""
        with subprocess.Popen([TXSYNC, "tune", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            try:
                return next(line for line in running.stderr if "limits it" in line or "round 2" in line)
            finally:
                running.send_signal(signal.SIGINT)
                running.communicate(timeout=100)

    def test_a_long_tuning_says_so_after_its_first_run(self):
        says = r"\Atxsync tune: one run takes 0\.\d+ s; the whole command takes about \d+%s minutes; --time SECONDS limits it\n\Z"
        long = ("--rounds", "1000", "--candidates")
        workload = (*long, "tatas", "arraybench", "--duration", "100", "--threads", "2")
        self.assertRegex(self.interrupted_at_the_expectation(*workload), says % "")
        self.assertNotIn("limits it", self.interrupted_at_the_expectation("--time", "900", *workload))
        if PROGRAM:
            self.assertRegex(self.interrupted_at_the_expectation(*long, "mutex", "--", "sleep", "0.1"), says % r" to \d+")

    def test_an_interruption_leaves_what_was_measured(self):
        command = [TXSYNC, "tune", "arraybench", "--rounds", "1000", "--duration", "50", "--candidates", "tatas", "--json", str(self.json)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            for line in running.stderr:
                if "round 2" in line:
                    break
            running.send_signal(signal.SIGINT)
            output, _ = running.communicate(timeout=100)
        self.assertEqual(running.returncode, 1)
        document = self.document()
        self.assertTrue(document["interrupted"])
        self.assertGreaterEqual(len(document["points"]), 1)
        self.assertIn("Interrupted before a gain was proven: keep what you have.", output)

    def test_bad_input(self):
        self.refused(says="what to tune is missing")
        self.refused("arraybnch", says="did you mean 'arraybench'?")
        self.refused("arraybench", "contention=low", "contention=high", says="is set twice")
        self.refused("arraybench", "--candidates", "tata", says="--candidates: unknown lock 'tata'")
        self.refused("arraybench", "--candidates", "tatas,tatas", says="given twice")
        self.refused("arraybench", "--candidates", "pthread_mutex", says="nothing to compare with 'pthread_mutex'")
        self.refused("arraybench", "--candidates", "", says="empty")
        self.refused("arraybench", "--rounds", "5", says="from 6 to 1000")
        self.refused("arraybench", "--time", "x", says="--time")
        self.refused("arraybench", "--threads", "1,2", says="several numbers are given")
        self.refused("arraybench", "--metric", "(x)", says="--metric is for programs")
        self.refused("arraybench", "--lower-is-better", says="--metric")
        self.refused("arraybench", "-o", "/nowhere/policy.toml", says="--output: cannot write")
        self.refused("arraybench", "--report", "/nowhere/page.html", says="--report: cannot write")
        self.refused("--", says="what to tune is missing")
        self.refused("--", "", says="is an empty word")
        self.refused("arraybench", "--", "true", says="'arraybench' is before --")
        self.refused("--threads", "2", "--", "true", says="--threads is for built-in workloads")
        self.refused("arraybench", "--input", "/dev/null", says="--input is for programs")
        self.refused("--input", "/nowhere/input", "--", "true", says="--input: /nowhere/input cannot be read")
        self.refused("--input", "/", "--", "true", says="--input: / is not a regular file")
        self.refused("--input", "/dev/stdin", "--", "true", says="allowed: a regular file, or /dev/null", stdin=subprocess.PIPE)
        self.refused("--metric", "x", "--", "true", says="has 0 capture groups")
        self.refused("--metric", "(", "--", "true", says="is not a regular expression")
        self.refused("--candidates", "mutx", "--", "true", says="unknown policy 'mutx'")
        self.refused("--", "/nowhere/program", says="/nowhere/program")


class Programs(Tune):
    def setUp(self):
        super().setUp()
        if not PROGRAM:
            self.skipTest("the preloaded library is not for this build")

    def test_a_program_is_tuned(self):
        policy = self.folder / "policy.toml"
        done = call("tune", "--rounds", "6", "--candidates", "mutex,tatas", "--json", self.json, "-o", policy, "--report", self.folder / "page.html", "--", PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = self.document()
        rows = document["tune"]["table"]
        self.assertEqual([row["candidate"] for row in rows[:3]], ["unmodified", "mutex", "tatas"])
        self.assertEqual(document["points"][0]["metric"], "wall time")
        self.assertEqual(document["points"][0]["workload"], "tuned_program")
        self.assertNotIn("sites", document["points"][0])
        names = [site["name"] for site in document["points"][1]["sites"]]
        self.assertTrue(any("hot in tuned_program" in name for name in names), names)

    def test_a_metric_of_the_output(self):
        done = call("tune", "--rounds", "6", "--candidates", "mutex", "--metric", "sections: ([0-9]+)", "--json", self.json, "--", PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = self.document()
        self.assertEqual(set(document["points"][0]["values"]), {12000})
        self.assertEqual(document["points"][0]["better"], "higher")
        # On a busy machine a policy may be refused besides.
        self.assertRegex(document["tune"]["verdict"],
                         r"^Keep what you have: nothing that was tried is better(, except what was refused: .*)?\.$")

    def test_a_metric_that_is_not_in_the_output(self):
        done = call("tune", "--metric", "sections: ([0-9]+)", "--", PROGRAM, "silent")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("the output has no line that matches 'sections: ([0-9]+)'; its last lines: 'starting'", done.stderr.splitlines()[-1])

    def test_a_program_that_fails(self):
        done = call("tune", "--", PROGRAM, "fail")
        self.assertEqual(done.returncode, 1)
        self.assertIn("its exit status was 3; its last lines: 'cannot open the table'", done.stderr.splitlines()[-1])

    def test_candidates_that_fail_or_hang_are_out(self):
        for word, reason in (("fail-under-preload", "failed in round 1: its exit status was 3"), ("hang-under-preload", "failed in round 1: it took too long")):
            with self.subTest(word=word):
                done = call("tune", "--rounds", "6", "--candidates", "mutex", "--json", self.json, "--", PROGRAM, word)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(reason, done.stdout)
                tune = self.document()["tune"]
                self.assertEqual(tune["verdict"], "Keep what you have: every candidate failed.")
                self.assertTrue(tune["table"][1]["status"].startswith(reason))

    def test_a_policy_that_ignores_priorities_is_refused(self):
        if subprocess.run([PROGRAM, "realtime"], check=False).returncode == 77:
            self.skipTest("threads may not have real-time priorities here")
        done = call("tune", "--rounds", "6", "--candidates", "ticket,mutex", "--json", self.json, "--", PROGRAM, "realtime")
        self.assertEqual(done.returncode, 0, done.stderr)
        tune = self.document()["tune"]
        self.assertEqual(tune["refused"][0]["candidate"], "ticket", done.stdout)
        for one in tune["refused"]:  # the whole program, and where the tuner tries it at the one site
            self.assertIn("ticket", one["candidate"])
            self.assertEqual(one["reason"], "a thread with a real-time priority waited at (anonymous namespace)::hot in tuned_program, "
                                            "where this policy's lock ignores priorities")
        self.assertTrue(next(row for row in tune["table"] if row["candidate"] == "ticket")["status"].startswith("refused in round 1: "))

    def test_reader_writer_locks_become_mutexes_only_on_request(self):
        done = call("tune", "--rounds", "6", "--candidates", "mutex", "--json", self.json, "--", PROGRAM, "readers")
        self.assertEqual(done.returncode, 0, done.stderr)
        tried = [row["candidate"] for row in self.document()["tune"]["table"] if row["phase"].startswith("site ")]
        self.assertTrue(any("rwlock=" in one for one in tried), done.stdout)
        self.assertFalse([one for one in tried if "as-mutex" in one])

    def test_what_a_run_leaves_is_ended_with_it(self):
        # One in the process group of the run, one in a session of its own.
        seconds = "61.625"
        script = f"sleep {seconds} & setsid sleep {seconds} & exit 0"
        done = call("tune", "--rounds", "6", "--candidates", "mutex", "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(f"sleep {seconds}", commands())

    def test_what_one_has_may_be_a_policy_file(self):
        policy = self.folder / "mine.toml"
        policy.write_text('schema = 1\n[default]\nlock = "ticket"\n', encoding="utf-8")
        done = call("tune", "--rounds", "6", "--from", policy, "--candidates", "mutex", "--json", self.json, "--", PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.document()["tune"]["reference"], str(policy))

    def test_a_policy_that_starves_a_thread_is_refused(self):
        page = self.folder / "page.html"
        for how in ("time", "asks"):
            with self.subTest(how=how):
                for _ in range(3):
                    # Of the time limit 40 % is for the whole program: four rounds of three runs.
                    done = call("tune", "--rounds", "6", "--time", "14", "--candidates", "tatas", "--json", self.json, "--report", page, "--", STARVING, how)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    tune = self.document()["tune"]
                    if "refused" in tune["table"][1] or not starved_anyway(tune["table"][1]["fairness"]["rounds"]):
                        break
                self.assertEqual(tune["refused"][0]["candidate"], "tatas", done.stdout)
                reason = tune["refused"][0]["reason"]
                self.assertRegex(reason, r"a thread waited too long in|the slowest thread got under half of its share in")
                self.assertRegex(reason, r"of \d rounds: .+ at .+, .+ under what you have")
                row = tune["table"][1]
                self.assertEqual((row["candidate"], row["refused"]), ("tatas", reason))
                self.assertGreater(2 * row["fairness"]["bad_rounds"], len(row["fairness"]["rounds"]))
                self.assertIn(f"'tatas' was refused: {reason}.", done.stdout)
                self.assertIn("was refused: " + reason.split(" at ")[0], page.read_text(encoding="utf-8"))
                self.assertFalse(tune["proven"] and tune["winner"] == "tatas")

    def doubted(self, *arguments, options=(), **settings):
        """The warnings, which are the same in the table, the document, the page and the policy file."""
        page, policy = self.folder / "page.html", self.folder / "policy.toml"
        done = call("tune", "--rounds", "6", "--candidates", "mutex", "--json", self.json, "--report", page, "-o", policy, *options, "--", DOUBTFUL, *arguments, **settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        warnings = self.document()["tune"].get("warnings", [])
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("warning: ")], ["warning: the verdict may be worth nothing: " + one for one in warnings])
        for one in warnings:
            self.assertIn(f"The verdict may be worth nothing: {one}.", html.unescape(page.read_text(encoding="utf-8")))
            self.assertIn(f"# The verdict may be worth nothing: {one}.", policy.read_text(encoding="utf-8"))
        return warnings, done.stdout

    def test_what_each_run_reads(self):
        jobs = self.folder / "jobs"
        jobs.write_text("job\n" * 20, encoding="utf-8")
        warnings, _ = self.doubted("jobs", options=("--input", jobs, "--metric", "worked ([0-9]+)"))
        self.assertEqual(warnings, [])
        document = self.document()
        self.assertEqual({value for point in document["points"] for value in point["values"]}, {20})
        self.assertEqual(document["points"][0]["params"]["input"], str(jobs))
        policy = (self.folder / "policy.toml").read_text(encoding="utf-8")
        self.assertRegex(policy, rf"(?m)^# Use: txsync run --policy FILE -- \S+ jobs < {jobs}$")

    def test_a_program_that_reads_what_is_not_there(self):
        with open(os.devnull, encoding="utf-8") as nothing:
            warnings, _ = self.doubted("jobs", stdin=nothing)
        self.assertRegex(warnings[0], r"^the program reads its standard input, which is empty: .*--input FILE")
        self.assertRegex(warnings[1], r"^a run takes \S+ ms, and much of it is the process's start and end")
        warnings, _ = self.doubted("jobs", options=("--input", os.devnull))
        self.assertRegex(warnings[0], r"^a run takes ", "an empty input that was asked for")

    def test_an_input_at_the_terminal_is_read_by_no_run(self):
        leader, terminal = pty.openpty()
        os.write(leader, b"job\n")
        warnings, _ = self.doubted("jobs", stdin=terminal)
        self.assertIn("--input FILE", warnings[0])
        os.close(leader)
        os.close(terminal)

    def test_an_input_that_not_every_run_can_read_is_refused(self):
        jobs = self.folder / "jobs"
        jobs.write_text("job\n" * 20, encoding="utf-8")
        command = ("tune", "--rounds", "6", "--candidates", "mutex", "--", DOUBTFUL, "jobs")
        with open(jobs, encoding="utf-8") as file:
            by_file = call(*command, stdin=file)
        by_pipe = call(*command, input="job\n" * 20)
        for done, what in ((by_file, "a file"), (by_pipe, "a pipe")):
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertRegex(done.stderr.splitlines()[-1], rf"cannot be measured: it reads its standard input, which is {what} that not every run "
                                                           r"can read; give it as a file: --input FILE")
        # One that reads nothing does not care.
        with open(jobs, encoding="utf-8") as file:
            self.assertEqual(self.doubted("same", stdin=file)[0], [])
        self.assertEqual(self.doubted("same", input="job\n")[0], [])

    def test_a_verdict_about_runs_that_are_not_alike_has_a_warning(self):
        count = self.folder / "count"
        words = "the program's output differs, and not only in its numbers, "
        numbers = "numbers in the program's output differ "
        for arguments, begin in ((("same",), None),
                                 (("quick",), "a run takes "),
                                 (("says-under-preload",), words + "between 'unmodified' and 'libc': "),
                                 (("counts-under-preload",), numbers + "between 'unmodified' and 'libc': "),
                                 (("says", count), words + "from run to run: "),
                                 (("counts", count), numbers + "from run to run: ")):
            with self.subTest(arguments=arguments):
                count.write_text("")
                warnings, table = self.doubted(*arguments)
                self.assertEqual(len(warnings), 0 if begin is None else 1, table)
                if begin is not None:
                    self.assertTrue(warnings[0].startswith(begin), warnings)

    def test_an_exit_status_that_differs_has_a_warning(self):
        done = call("tune", "--rounds", "6", "--candidates", "mutex", "--json", self.json, "--", PROGRAM, "fail-under-preload")
        self.assertEqual(done.returncode, 0, done.stderr)
        statuses = [one for one in self.document()["tune"]["warnings"] if one.startswith("the program's exit status differs")]
        self.assertEqual(len(statuses), 1, done.stdout)
        self.assertIn("3 in ", statuses[0])

    def test_an_interruption_reaches_the_program(self):
        command = [TXSYNC, "tune", "--rounds", "1000", "--candidates", "mutex", "--json", str(self.json), "--", PROGRAM]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            for line in running.stderr:
                if "round 3" in line:
                    break
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=100)
        self.assertEqual(running.returncode, 1)
        self.assertTrue(self.document()["interrupted"])


if __name__ == "__main__":
    TXSYNC = sys.argv.pop(1)
    if len(sys.argv) > 2 and pathlib.Path(sys.argv[1]).is_file():
        PROGRAM, STARVING, DOUBTFUL = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
