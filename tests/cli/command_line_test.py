#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""command_line_test.py TXSYNC: drives the built command. Bad input is one line and status 2, before anything else happens;
good input is a table and a document that keeps to the schema.

command_line_test.py TXSYNC --write-page puts the present help texts into docs/command-line.md instead."""

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

from result_schema import complaints, load

TXSYNC = ""
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
SHOWN_HELP = re.compile(r"```text\n\$ txsync (.*?)\n(.*?)```", re.DOTALL)
LIST_KINDS = ("workloads", "machines", "locks", "policies", "presets", "algorithms", "experiments", "tests")
# A few operations rather than a time: a test must not depend on how busy the machine is.
QUICK = ("--operations", "200", "--repeat", "2")


def call(*arguments, **options):
    return subprocess.run([TXSYNC, *arguments], capture_output=True, text=True, timeout=100, **options)


class BadInput(unittest.TestCase):
    def refused(self, *arguments, says, **options):
        """One line on the standard error that says all of `says`, nothing on the standard output, status 2."""
        with self.subTest(arguments=arguments):
            done = call(*arguments, **options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Atxsync[^\n]*: [^\n]+\n\Z")
            for part in says:
                self.assertIn(part, done.stderr)

    def test_verbs(self):
        self.refused(says=["txsync: a verb is missing", "allowed: ", "bench, ", "list"])
        self.refused("benhc", "arraybench", says=["unknown verb 'benhc'", "allowed: ", "did you mean 'bench'?"])
        self.refused("", says=["unknown verb ''"])
        self.refused("frobnicate", says=["unknown verb 'frobnicate'"])

    def test_verbs_that_do_not_exist_yet_are_not_offered(self):
        for verb in ("store",):
            self.refused(verb, says=[f"unknown verb '{verb}'", "allowed: "])
            self.assertNotRegex(call("--help").stdout, rf"(?m)^  {verb} ")

    def test_comparisons_take_two_documents_of_one_kind(self):
        self.refused("report", "--diff", says=["a result document is missing"])
        with tempfile.TemporaryDirectory() as folder:
            made = [os.path.join(folder, name) for name in ("bench.json", "list.json")]
            self.assertEqual(call("bench", "arraybench", *QUICK, "--lock", "tatas", "--json", made[0]).returncode, 0)
            self.assertEqual(call("list", "locks", "--json", made[1]).returncode, 0)
            self.refused("report", "--diff", made[0], says=["--diff takes two result documents", "given: 1"])
            self.refused("report", "--diff", *made, says=["bench.json", "list.json", "of different kinds, txsync bench and txsync list"])
            self.refused("report", "--diff", made[1], made[1], says=["list.json", "nothing to compare"])
            self.refused("report", "--diff", made[0], os.path.join(folder, "none.json"), says=["cannot read", "none.json"])
            self.refused("report", "--diff", made[0], made[0], "-o", os.path.join(folder, "no", "page.html"), says=["--output", "cannot write"])
            done = call("report", "--diff", made[0], made[0])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("overlap  throughput of arraybench", done.stdout)

    def test_simulated_machines(self):
        if "has no simulated machine" in call("sim", "mapbench", "--machine", "ideal", "--operations", "1").stderr:
            self.skipTest("no simulated machine in this build")
        self.refused("sim", "mapbench", says=["--machine is missing", "haswell-i7-4770"])
        self.refused("sim", "mapbench", "--machine", "pdp-11", says=["unknown machine 'pdp-11'", "allowed: "])
        self.refused("sim", "mapbench", "--machine", "ideal", "--lock", "std::mutex", says=["std::mutex", "allowed: "])
        self.refused("sim", "mapbench", "--machine", "ideal", "--slack", "x", says=["--slack: 'x'", "from 0 to "])
        self.refused("sim", "mapbench", "--machine", "ideal", "--place", "socket=1", says=["socket=1", "socket=0"])

    def test_explorations(self):
        if not call("list", "tests").stdout.startswith("tatas"):
            self.skipTest("no simulated machine in this build")
        one_line = "unknown test '{}'; txsync list tests names them"
        self.refused("explore", "tata", says=[one_line.format("tata") + " (did you mean 'tatas'?)\n"])
        self.refused("replay", "xyzzyx@random@1", says=[one_line.format("xyzzyx") + "\n"])
        self.refused("explore", "tatas", "--schedules", "0", says=["--schedules: '0'", "from 1 to"])
        self.refused("explore", "tatas", "--order", "chaos", says=["unknown order 'chaos'", "round-robin"])
        self.refused("replay", "tatas@random+chaos@1", says=["unknown mode 'chaos'", "store-buffers"])
        self.refused("explore", "tatas", "--probe", "gremlins", says=["unknown mode 'gremlins'", "spurious-aborts"])
        self.refused("replay", says=["is not a key", "TEST@ORDER[+MODE]@SEED"])
        self.refused("replay", "tata@random@1", says=["unknown test 'tata'"])
        self.refused("replay", "tatas@random@x", says=["'tatas@random@x' is not a key"])

    def test_options(self):
        self.refused("--frob", says=["txsync: unknown option '--frob'", "--version"])
        self.refused("bench", "arraybench", "--thread", "2",
                     says=["txsync bench: unknown option '--thread'", "did you mean '--threads'?"])
        self.refused("bench", "arraybench", "--thread=2", says=["unknown option '--thread'"])
        self.refused("bench", "arraybench", "-t", "2", says=["unknown option '-t'"])
        self.refused("list", "locks", "--threads", "2", says=["txsync list: unknown option '--threads'"])
        self.refused("bench", "arraybench", "--threads", says=["--threads needs a value"])
        self.refused("bench", "arraybench", "--seed", "1", "--seed", "2", says=["--seed is given twice"])
        self.refused("bench", "arraybench", "--duration", "5", "--operations", "5", says=["--duration and --operations"])

    def test_workloads(self):
        self.refused("bench", says=["txsync bench: a workload is missing", "arraybench, mapbench"])
        self.refused("bench", "", says=["a workload is missing"])
        self.refused("bench", "arraybnch", says=["unknown workload 'arraybnch'", "did you mean 'arraybench'?"])
        self.refused("bench", "locks", says=["unknown workload 'locks'"])

    def test_presets_and_parameters(self):
        self.refused("bench", "arraybench", "--preset", "smal-low", says=["unknown preset 'smal-low'", "did you mean 'small-low'?"])
        self.refused("bench", "arraybench", "--preset", "", says=["unknown preset ''"])
        self.refused("bench", "arraybench", "preset=small", "--preset", "small", says=["two presets"])
        self.refused("bench", "arraybench", "write=3", says=["no parameter 'write'", "did you mean 'writes'?"])
        self.refused("bench", "arraybench", "writes=x", says=["writes", "'x'", "0..1024"])
        self.refused("bench", "arraybench", "writes=1025", says=["writes", "'1025'", "0..1024"])
        self.refused("bench", "arraybench", "writes=-1", says=["writes", "'-1'"])
        self.refused("bench", "arraybench", "contention=lo", says=["contention", "low|high"])
        self.refused("bench", "arraybench", "writes", says=["'writes'", "key=value"])
        self.refused("bench", "arraybench", "writes=1", "writes=2", says=["'writes' is set twice"])

    def test_locks(self):
        self.refused("bench", "arraybench", "--lock", "tata", says=["unknown lock 'tata'", "did you mean 'tatas'?"])
        self.refused("bench", "arraybench", "--lock", "shared_mutx", says=["did you mean 'txsync::shared_mutex'?"])
        self.refused("bench", "arraybench", "--lock", "tatas,,ticket", says=["unknown lock ''"])
        self.refused("bench", "arraybench", "--lock", "tatas,tatas", says=["'tatas' is given twice"])
        self.refused("bench", "mapbench", "--lock", "none", says=["mapbench cannot run on 'none'", "allowed: "])

    def test_locks_of_the_simulated_machine_alone(self):
        items = load(call("list", "locks", "--json", "-").stdout)["list"]["items"]
        names = {item["name"] for item in items if item.get("simulated_only")}
        self.assertLess({"hle_tas", "hle_tas_2", "attempt", "counting_rwlock"}, names)
        listed = {line.split()[0] for line in call("list", "locks").stdout.splitlines() if line.endswith("; simulated only")}
        self.assertEqual(listed, names)
        for name in names:
            self.refused("bench", "counters", "--lock", name, says=[f"--lock: '{name}' is simulated only (txsync sim); allowed: "])
        self.refused("tune", "counters", "--candidates", "hle_tas", says=["--candidates: 'hle_tas' is simulated only (txsync sim)"])

    def test_threads(self):
        for wrong in ("0", "-1", "", "two", "1,", "1,,2", "1.5", "4097", "99999999999999999999", "1 2"):
            self.refused("bench", "arraybench", "--threads", wrong, says=["--threads: ", "numbers from 1 to 4096"])
        self.refused("bench", "arraybench", "--threads", "2,4,2", says=["--threads: 2 is given twice"])

    def test_numbers(self):
        for option in ("--seed", "--repeat", "--duration", "--operations", "--sample"):
            for wrong in ("", "x", "-1", "1x", "99999999999999999999"):
                self.refused("bench", "arraybench", option, wrong, says=[f"{option}: '{wrong}' is not a number from "])
        self.refused("bench", "arraybench", "--repeat", "0", says=["--repeat: '0'", "1 to 1000"])
        self.refused("bench", "arraybench", "--repeat", "2K", says=["--repeat: '2K'", "1 to 1000", "may end in K, M, G, Ki, Mi, Gi"])

    def test_places(self):
        self.refused("bench", "arraybench", "--place", "core-first",
                     says=["unknown place 'core-first'", "did you mean 'cores-first'?", "smt-first", "socket=N"])
        for wrong in ("socket=9999", "socket=", "socket=x"):
            self.refused("bench", "arraybench", "--place", wrong, says=[f"'{wrong}'", "allowed: socket=0"])

    def test_kinds_of_lists(self):
        self.refused("list", says=["a kind is missing", *LIST_KINDS])
        self.refused("list", "lokcs", says=["unknown kind 'lokcs'", "did you mean 'locks'?"])
        self.refused("list", "locks", "workloads", says=["unexpected argument 'workloads'"])

    def test_machines_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mine.toml"
            file.write_text("schema = 1\nname = \"yours\"\n")
            self.refused("list", "machines", env={**os.environ, "TXSYNC_MACHINES": folder},
                         says=[f"{file}:2: name 'yours' is not the file's; allowed: \"mine\""])
        self.refused("list", "machines", env={**os.environ, "TXSYNC_MACHINES": folder},
                     says=[f"TXSYNC_MACHINES: '{folder}' is no folder"])

    def test_documents_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments in (("list", "locks"), ("bench", "arraybench")):
                self.refused(*arguments, "--json", f"{folder}/none/r.json",
                             says=["--json: cannot write", f"{folder}/none/r.json", "No such file or directory"])
                self.refused(*arguments, "--json", folder, says=["Is a directory"])
                self.refused(*arguments, "--json", "", says=["cannot write ''"])

    def test_bad_input_leaves_the_old_document(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            file.write_text("old")
            self.refused("bench", "arraybench", "--threads", "0", "--json", str(file), says=["--threads"])
            self.assertEqual(file.read_text(), "old")
            self.assertEqual(os.listdir(folder), ["r.json"])


class GoodInput(unittest.TestCase):
    def document(self, *arguments, status=0):
        """The document on the standard output, which keeps to the closed schema; the table on the standard error."""
        done = call(*arguments, "--json", "-")
        self.assertEqual(done.returncode, status, done.stderr)
        made = load(done.stdout)
        self.assertEqual(complaints(made), [])
        self.assertEqual(made["command"][1:], [*arguments, "--json", "-"])
        return made, done.stderr

    def page(self, document):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            file.write_text(json.dumps(document), encoding="utf-8")
            done = call("report", str(file), "-o", "-")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout

    def test_help_and_version(self):
        for arguments, says in ((["--help"], ["bench", "list", "Exit status"]), (["bench", "--help"], ["--threads", "--json"]),
                                (["list", "-h"], ["KIND", "--json"]), (["--version"], ["txsync ", "commit "])):
            with self.subTest(arguments=arguments):
                done = call(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                for part in says:
                    self.assertIn(part, done.stdout)

    def test_doctor(self):
        made, table = self.document("doctor")
        self.assertIn(made["machine"]["htm"]["verdict"], table)
        self.assertEqual(made["points"], [])

    def test_lists(self):
        for kind in LIST_KINDS:
            with self.subTest(kind=kind):
                made, table = self.document("list", kind)
                self.assertEqual(made["list"]["kind"], kind)
                self.assertEqual(call("list", kind).stdout, table)
                items = made["list"]["items"]
                for item in items:
                    self.assertIn(item["name"], table)
                if not items:
                    self.assertRegex(table, rf"\A{kind}: none; [^\n]+\n\Z")

    def test_presets_are_words_of_policy_files_and_subjects(self):
        made, table = self.document("list", "presets")
        presets = {(item["key"], item["name"]): item for item in made["list"]["items"]}
        self.assertEqual(presets["elision", "shore"]["source"], "Shore-MT paper, 3.2")
        self.assertNotIn("source", presets["elision", "standard"])
        self.assertRegex(table, r'(?m)^elision = "shore" +elided by the Shore-MT paper.* \(Shore-MT paper, 3\.2\)$')
        self.assertRegex(table, r'(?m)^warm_up = "paper-ticket" +waiters .* \(always-abort paper, IV-A\)$')
        summaries = {item["summary"] for item in self.document("list", "locks")[0]["list"]["items"]}
        for (key, name), item in presets.items():
            between = ", " if key == "elision" else ", whose "
            self.assertTrue(any(one.endswith(between + item["summary"]) for one in summaries), name)
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "p.toml"
                file.write_text(f'schema = 1\n[default]\n{key} = "{name}"\n')
                # It is read before the program is looked for.
                self.assertEqual(call("run", "--policy", str(file), "--", "no-such-program").returncode, 127, name)

    def test_machines_say_where_their_numbers_are_from(self):
        made, table = self.document("list", "machines")
        machines = {item["name"]: item for item in made["list"]["items"]}
        power8 = machines["power8-8284-22a"]
        self.assertEqual((power8["sockets"], power8["cores"], power8["hardware_threads"]), (2, 10, 80))
        self.assertRegex(table, r"power8-8284-22a +10 x 8 +3\.42 GHz +64 lines, suspend, rollback-only +IBM")
        numbers = {number["key"]: number for number in power8["numbers"]}
        self.assertEqual((numbers["l1.line"]["value"], numbers["l1.line"]["unit"]), (128, "bytes"))
        self.assertIn("DMP-TM paper", numbers["page.bytes"]["source"])
        self.assertEqual(numbers["page.bytes"]["confidence"], "read")

    def test_experiments_have_sources_and_machines(self):
        made, table = self.document("list", "experiments")
        experiments = {item["name"]: item for item in made["list"]["items"]}
        self.assertEqual(experiments["thesis-nesting"]["machine"], "haswell-i5-4670t")
        self.assertIn("Fig 3.8", experiments["thesis-nesting"]["source"])
        self.assertRegex(table, r"closed-form-tmcam +power8-8284-22a +a table of 64 lines")

    def test_every_workload_has_a_point_a_lock_and_thread_count(self):
        for item in self.document("list", "workloads")[0]["list"]["items"]:
            with self.subTest(workload=item["name"]):
                ours, peer, less = "tatas", "pthread_mutex", []
                if item["name"] == "trisolve":  # on barriers
                    ours, peer, less = "txsync::barrier", "pthread_barrier", ["rows=200", "parallelism=20"]
                if item["name"] == "transactions":  # by atomic blocks, and under few locks
                    ours, peer = "tm_dctl", "std::mutex"
                made, table = self.document("bench", item["name"], "--threads", "1,3", "--lock", f"{ours},{peer}", *less, *QUICK)
                cells = [(point["threads"], point["subject"], point["kind"]) for point in made["points"]]
                self.assertEqual(cells, [(1, ours, "ours"), (1, peer, "peer"), (3, ours, "ours"), (3, peer, "peer")])
                for point in made["points"]:
                    self.assertEqual(len(point["values"]), 2)
                    self.assertEqual(point["unit"], item["operation"] + "/s")
                    self.assertEqual(set(point["params"]), {one["key"] for one in item["parameters"]})
                self.assertIn(f"million {item['operation']}/s", table)

    def test_the_document_goes_to_a_file_and_the_table_to_the_standard_output(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            done = call("bench", "arraybench", "--lock", "tatas", "--threads", "1", *QUICK, "--json", str(file))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^ +1  tatas +ours  spins +[0-9.]+ +[0-9.]+ +[0-9.]+ +1\.00  +1\.00  0\.50 +- +- +-$")
            self.assertEqual(complaints(load(file.read_text())), [])
            self.assertEqual(os.listdir(folder), ["r.json"])

    def test_parameters_change_single_values_of_a_preset(self):
        made, _ = self.document("bench", "arraybench", "writes=7", "ints=4Ki", "--preset", "large-high", "--lock", "tatas",
                                "--threads", "1", *QUICK)
        point = made["points"][0]
        self.assertEqual(point["preset"], "large-high")
        self.assertEqual(point["params"], {"ints": 4096, "writes": 7, "contention": "high", "outside": 0, "ahead": "same"})

    def test_seed_and_place(self):
        made, _ = self.document("bench", "arraybench", "--seed", str(2**64 - 1), "--place", "none", "--lock", "tatas",
                                "--threads", "2", *QUICK)
        self.assertEqual(made["seed"], 2**64 - 1)
        self.assertEqual(made["points"][0]["place"], "none")
        self.document("bench", "arraybench", "--place", "socket=0", "--lock", "tatas", "--threads", "2", *QUICK)

    def test_options_end_as_parameters_do(self):
        made, _ = self.document("bench", "arraybench", "ints=4Ki", "--operations", "1K", "--seed", "2M", "--repeat", "1", "--lock", "tatas",
                                "--threads", "1")
        self.assertEqual(made["seed"], 2_000_000)
        self.assertEqual(made["points"][0]["thread_operations"], {"fewest": [1000], "most": [1000]})

    def test_latency(self):
        made, table = self.document("bench", "arraybench", "--lock", "tatas", "--threads", "2", "--sample", "1", *QUICK)
        latency = made["points"][0]["latency_ns"]["op"]
        self.assertGreater(latency["samples"], 0)
        self.assertLessEqual(latency["p50"], latency["p99"])
        self.assertIn("p99.9", table)

    def test_fairness_and_waits(self):
        made, table = self.document("bench", "counters", "--lock", "tatas", "--threads", "1,3", "--repeat", "2", "--duration", "100")
        alone, three = made["points"]
        self.assertEqual(alone["fairness"], {"slowest_share": [1, 1], "busier_half_share": [0.5, 0.5]})
        self.assertNotIn("waits", alone)
        for slowest, half in zip(three["fairness"]["slowest_share"], three["fairness"]["busier_half_share"]):
            self.assertLessEqual(0, slowest)
            self.assertLessEqual(slowest, 1)
            self.assertLessEqual(0.5, half)
        waits = three["waits"]
        for p999, longest, cpus in zip(waits["p99.9_ns"], waits["max_ns"], waits["cpu_s_per_s"]):
            self.assertLessEqual(p999, longest)
            self.assertGreater(longest, 0)
            self.assertGreaterEqual(cpus, 0)
        self.assertEqual([len(waits[name]) for name in ("p99.9_ns", "max_ns", "cpu_s_per_s")], [2, 2, 2])
        for head in ("slowest", "half", "p99.9 us", "max us", "wait CPUs"):
            self.assertIn(head, table)

    def test_sites(self):
        made, table = self.document("bench", "arraybench", "--lock", "txsync::mutex,tatas", "--threads", "2", "--sites", *QUICK)
        mutex, tatas = made["points"]
        self.assertNotIn("sites", tatas)
        # 2 threads of 200 operations, twice; the first acquisitions of a thread are counted one by one, later ones estimated.
        self.assertGreater(sum(site["acquisitions"] for site in mutex["sites"]), 100)
        self.assertIn(mutex["sites"][0]["name"], table)

    def test_every_lock_runs_by_default_and_twice_the_cpus_too(self):
        made, _ = self.document("bench", "arraybench", "ints=1024", *QUICK)
        # Those that speculate are for machines that can, and run where they are asked for.
        locks = {item["name"] for item in self.document("list", "locks")[0]["list"]["items"]
                 if not (item.get("speculates") or item.get("simulated_only") or item.get("barrier"))} - {"none"}
        self.assertEqual({point["subject"] for point in made["points"]}, locks)
        self.assertIn(2 * made["machine"]["cpus"], {point["threads"] for point in made["points"]})

    def test_a_simulated_machine(self):
        asked = ("sim", "mapbench", "--machine", "haswell-i7-4770", "--threads", "1,4", "--lock", "tatas,elided_tatas",
                 "--operations", "300", "find=90", "insert=5", "erase=5")
        if "has no simulated machine" in call(*asked).stderr:
            self.skipTest("no simulated machine in this build")
        peer = call(*asked[:-6], "std::mutex")
        self.assertEqual((peer.returncode, peer.stdout), (2, ""))
        self.assertIn("--lock: 'std::mutex' belongs to another library and runs natively only (txsync bench); allowed: ", peer.stderr)
        made, table = self.document(*asked)
        self.assertIn("simulated", table)
        self.assertEqual((made["machine"]["backend"], made["machine"]["cpus"]), ("simulated", 8))
        self.assertEqual(len(made["points"]), 4)
        again, _ = self.document(*asked)
        self.assertEqual(again["points"], made["points"])  # virtual time: all of it is the same
        cell = made["points"][3]
        alone, _ = self.document(*shlex.split(cell["key"])[1:])
        self.assertEqual(alone["points"], [cell])
        elided = [point for point in made["points"] if point["subject"] == "elided_tatas"]
        for point in elided:
            self.assertEqual(point["attempts"], point["commits"] + sum(point["aborts"].values()))

    def test_an_elided_lock_that_made_no_attempts_says_so(self):
        name = "haswell-i7-4770.toml"
        text = (PAGE.parents[1] / "machines" / name).read_text(encoding="utf-8")
        without = re.sub(r"(?m)^attempts = \{ value = 1,", "attempts = { value = 0,", text)
        self.assertNotEqual(without, text)
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder) / name
            machine.write_text(without, encoding="utf-8")
            asked = ("sim", "counters", "--machine", str(machine), "--threads", "2", "--lock", "tatas,eager_tatas", "--operations", "20")
            if "has no simulated machine" in call(*asked).stderr:
                self.skipTest("no simulated machine in this build")
            made, table = self.document(*asked)
        self.assertEqual([(point["attempts"], point.get("speculates")) for point in made["points"]], [(0, None), (0, True)])
        attempts = table.split("\nAttempts (")[1]
        self.assertRegex(attempts, r"(?m)^ +2  eager_tatas +no attempts$")
        self.assertNotRegex(attempts, r"(?m)^ +2  tatas ")
        page = self.page(made)
        self.assertIn('<td>eager_tatas</td><td colspan="5">no attempts</td>', page)
        self.assertEqual(page.count("no attempts"), 1)

    def test_what_is_set_up_without_charge_takes_no_time(self):
        asked = ("sim", "mapbench", "--machine", "broadwell-e5-2697v4", "--threads", "1", "--lock", "tatas,elided_tatas",
                 "--operations", "200", "keys=100000")
        if "has no simulated machine" in call(*asked).stderr:
            self.skipTest("no simulated machine in this build")
        charged, _ = self.document(*asked)
        uncharged, _ = self.document(*asked, "--uncharged")
        for one, other in zip(charged["points"], uncharged["points"]):
            self.assertNotEqual(one["end_hash"], other["end_hash"])
            self.assertGreater(one["values"][0], other["values"][0])  # its caches are warm
            self.assertIn(" --uncharged ", other["key"])
            alone, _ = self.document(*shlex.split(other["key"])[1:])
            self.assertEqual(alone["points"], [other])

    def test_the_time_of_attempts_is_of_the_measured_phase(self):
        asked = ("sim", "mapbench", "--machine", "haswell-i7-4770", "--lock", "eager_tatas", "--duration", "1")
        if "has no simulated machine" in call(*asked).stderr:
            self.skipTest("no simulated machine in this build")
        for threads in "1", "4":
            (point,) = self.document(*asked, "--threads", threads)[0]["points"]
            cycles = point["cycles"]
            self.assertLessEqual(cycles["transactional"] + cycles["aborted"], cycles["total"])
            self.assertGreater(cycles["transactional"], cycles["total"] / 10)

    def test_exploring_finds_what_is_wrong_and_replays_it(self):
        tests = {item["name"] for item in self.document("list", "tests")[0]["list"]["items"]}
        if not tests:
            self.skipTest("no simulated machine in this build")
        seeded = sorted(name for name in tests if name.startswith("seeded:"))
        self.assertGreaterEqual(len(seeded), 4)
        for needs_a_mode in "seeded:missing-fence", "seeded:dmp-no-fence", "seeded:late-subscription":
            seeded.remove(needs_a_mode)
        # The fault that is found last takes some 6,000 schedules on average.
        made, table = self.document("explore", *seeded, "elided_tatas", "--schedules", "100000")
        keys = {point["subject"]: point.get("key") for point in made["points"]}
        self.assertIsNone(keys.pop("elided_tatas"))
        for name in seeded:
            with self.subTest(test=name):
                self.assertIn(f"txsync replay {keys[name]}", table)
                replayed = call("replay", keys[name])
                self.assertEqual(replayed.returncode, 1, replayed.stderr)
                self.assertIn("exploration.hpp:", replayed.stdout)  # lines of the source, by thread
                self.assertIn("thread 2", replayed.stdout)
                self.assertEqual(call("replay", keys[name]).stdout, replayed.stdout)
        self.assertEqual((made["machine"]["backend"], made["explore"]["orders"], made["explore"]["schedules"]), ("simulated", ["random"], 100000))
        for told in made["explore"]["tests"]:
            key = made["points"][told["point"]].get("key")
            self.assertEqual((told["right"], told.get("seeded", False)), (True, key is not None))
            self.assertEqual(told.get("again"), key and f"txsync replay {key}")
            for seed in re.findall(r"\(seed ([0-9]+)\)", told.get("complaint", "")):
                self.assertEqual(seed, key.rsplit("@", 1)[1], "the seed of the schedule")
        page = self.page(made)
        self.assertIn("Explored on a simulated machine: nothing wrong was found in elided_tatas with 100,000 schedules; the faults put into ", page)
        for name in seeded:
            self.assertIn(f"<pre>txsync replay {keys[name]}</pre>", page)
        self.assertEqual(call("replay", "tatas@round-robin@1").returncode, 0)
        # Change points and delays come late where schedules are long.
        for order in "priorities", "delay-bounded":
            with self.subTest(order=order):
                made, _ = self.document("explore", "seeded:look-then-take-late", "--order", order, "--schedules", "20000")
                key = made["points"][0]["key"]
                self.assertIn(f"@{order}@", key)
                self.assertEqual(call("replay", key).returncode, 1)

    def test_exploring_with_store_buffers_shows_what_x86_allows_and_no_more(self):
        tests = {item["name"] for item in self.document("list", "tests")[0]["list"]["items"]}
        if not tests:
            self.skipTest("no simulated machine in this build")
        litmus = sorted(name for name in tests if name.startswith("litmus:"))
        allowed = {"litmus:store-buffering", "seeded:missing-fence"}
        for order in "random", "priorities", "delay-bounded":
            with self.subTest(order=order):
                made, _ = self.document("explore", *litmus, "seeded:missing-fence", "peterson", "--schedules", "10000",
                                        "--order", order, "--store-buffers")
                found = {point["subject"]: point["key"] for point in made["points"] if "key" in point}
                self.assertEqual(found.keys(), allowed)
                for key in found.values():
                    replayed = call("replay", key)
                    self.assertEqual(replayed.returncode, 1, replayed.stderr)
                    self.assertIn(" buffers ", replayed.stdout)
                    self.assertEqual(call("replay", key).stdout, replayed.stdout)
        made, _ = self.document("explore", *litmus, "seeded:missing-fence", "--schedules", "10000")
        self.assertEqual([point["subject"] for point in made["points"] if "key" in point], [])

    def test_probes_leave_right_locks_right_and_are_in_the_key(self):
        if not self.document("list", "tests")[0]["list"]["items"]:
            self.skipTest("no simulated machine in this build")
        locks = "elided_tatas-calling", "elided_futex", "srwlock-shared", "futex_rwlock-shared-sleeping"
        harmless = "spurious-aborts,tight-capacity,weak-exchanges,spurious-wakes"
        made, _ = self.document("explore", *locks, "seeded:late-subscription", "--probe", harmless, "--schedules", "3000")
        self.assertEqual([point["subject"] for point in made["points"] if "key" in point], [])
        made, _ = self.document("explore", "elided_tatas", "seeded:late-subscription", "--probe", "late-subscription",
                                "--schedules", "10000")
        (key,) = [point["key"] for point in made["points"] if "key" in point]
        self.assertRegex(key, r"^seeded:late-subscription@random\+late-subscription@[0-9]+$")
        self.assertEqual(call("replay", key).returncode, 1)
        made, _ = self.document("explore", "seeded:forgotten-subscription", "--order", "priorities", "--probe",
                                "spurious-aborts", "--schedules", "10000")
        self.assertIn("@priorities+spurious-aborts@", made["points"][0]["key"])

    def test_an_interrupted_run_leaves_what_was_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            running = subprocess.Popen(
                [TXSYNC, "bench", "arraybench", "--lock", "tatas", "--threads", "1", "--duration", "50", "--repeat", "1000",
                 "--json", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertTrue(running.stdout.readline().startswith("arraybench: "))  # checked, and about to measure
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            table, errors = running.communicate(timeout=60)
            self.assertEqual(running.returncode, 1)
            self.assertRegex(errors, r"\Atxsync bench: interrupted after [0-9]+ of 1000 runs\n\Z")
            made = load(file.read_text())
            self.assertEqual(complaints(made), [])
            self.assertTrue(made["interrupted"])
            runs = int(re.search(r"after ([0-9]+) of", errors).group(1))
            self.assertEqual(sum(len(point["values"]) for point in made["points"]), runs)
            self.assertEqual("tatas" in table, runs > 0)

    def test_a_reader_that_goes_away_is_no_crash(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([TXSYNC, "list", "workloads"], stdout=writing, stderr=subprocess.PIPE, timeout=100)
        os.close(writing)
        self.assertEqual(done.returncode, 1)

    def test_a_full_device_is_a_failed_run(self):
        done = call("list", "locks", "--json", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_page_that_does_not_fit_is_a_failed_run(self):
        with tempfile.TemporaryDirectory() as folder:
            document = os.path.join(folder, "list.json")
            self.assertEqual(call("list", "locks", "--json", document).returncode, 0)
            done = call("report", document, "-o", "/dev/full")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "txsync report: cannot write '/dev/full': No space left on device\n")


class Run(unittest.TestCase):
    """What does not need the preloaded library; tests/launch/run_programs_test.py has the rest."""

    def refused(self, status, *arguments, says):
        done = call("run", *arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Atxsync run: [^\n]+\n\Z")
        for part in says:
            self.assertIn(part, done.stderr)

    def test_bad_input(self):
        for arguments in ((), ("--",), ("true",), ("--policy", "mutex", "true")):
            self.refused(2, *arguments, says=["the program is missing; allowed: txsync run [OPTIONS] -- PROGRAM"])
        self.refused(2, "--polcy", "mutex", "--", "true", says=["unknown option '--polcy'", "did you mean '--policy'?"])
        for wrong in ("0", "-1", "x", "1x", "nan", "inf", "1e9", ""):
            self.refused(2, "--limit", wrong, "--", "true", says=[f"--limit: '{wrong}'", "allowed: "])
        self.refused(2, "--policy", "mutx", "--", "true", says=["--policy: unknown policy 'mutx'; allowed: libc, mutex, "])
        done = call("bench", "arraybench", "--", "true")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))

    def test_bad_policy_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "p.toml"
            for text, line, says in (('schema = 1\n[default]\nlock = "mutx"\n', 3, "unknown lock 'mutx'"),
                                     ("schema = 1\n[default]\ncounting = 1\n", 3, "counting is integer"),
                                     ('schema = 1\n[site."x"]\nlocks = "mutex"\n', 3, "unknown key 'locks'"),
                                     ("schema = 2\n", 1, "schema = 1"), ("schema = 1\n[default\n", 2, "")):
                file.write_text(text)
                self.refused(2, "--policy", str(file), "--", "true", says=[f"{file}:{line}: ", says, "; allowed: "])
            self.refused(2, "--policy", f"{folder}/none.toml", "--", "true", says=["none.toml: cannot be read"])

    def test_programs_that_cannot_start(self):
        self.refused(127, "--", "no-such-program", says=["no-such-program: not found along PATH"])
        self.refused(127, "--", "/no/such/program", says=["/no/such/program: No such file or directory"])
        self.refused(126, "--", "/", says=["/: Is a directory"])
        with tempfile.TemporaryDirectory() as folder:
            plain = pathlib.Path(folder) / "plain"
            plain.write_text("text")
            self.refused(126, "--", str(plain), says=["plain: Permission denied"])
        self.refused(126, "--preload", "/no/lib.so", "--", "true", says=["/no/lib.so", "--preload FILE"])


class Neighbours(unittest.TestCase):
    def test_the_page_shows_the_help_as_it_is(self):
        blocks = SHOWN_HELP.findall(PAGE.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(blocks), 4)
        for arguments, text in blocks:
            with self.subTest(arguments=arguments):
                self.assertEqual(call(*arguments.split()).stdout, text)


def write_page():
    def shown(block):
        return f"```text\n$ txsync {block.group(1)}\n{call(*block.group(1).split()).stdout}```"

    PAGE.write_text(SHOWN_HELP.sub(shown, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    TXSYNC = sys.argv.pop(1)
    if sys.argv[1:] == ["--write-page"]:
        write_page()
    else:
        unittest.main()
