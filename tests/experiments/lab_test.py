#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""lab_test.py TXSYNC WHOLE_PROGRAM: txsync lab, and what the simulated machines have to be by the papers and by
formulas. WHOLE_PROGRAM (whole_program.cpp) takes the place of LevelDB and Kyoto Cabinet."""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

from result_schema import complaints, load

TXSYNC = ""
WHOLE_PROGRAM = ""


def call(*arguments):
    return subprocess.run([TXSYNC, *arguments], capture_output=True, text=True, timeout=110)


def lab(*ids):
    """The table, and the experiments of the document by id, and the document."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "lab.json"
        done = call("lab", *ids, "--json", str(file))
        assert done.returncode == 0, done.stderr
        document = load(file.read_text(encoding="utf-8"))
    return done.stdout, {one["id"]: one for one in document["lab"]["experiments"]}, document


def curve(experiment, name):
    return {point["at"]: point["value"] for one in experiment["curves"] if one["name"] == name for point in one["points"]}


class Lab(unittest.TestCase):
    def hits(self, experiment, standing=None):
        for row in experiment["comparisons"]:
            if standing in (None, row["standing"]):
                with self.subTest(experiment=experiment["id"], number=row["what"]):
                    self.assertEqual(row["verdict"], "hit", row)

    def test_writes_commit_below_the_cache_and_abort_above_with_a_soft_edge(self):
        _, made, _ = lab("thesis-write-capacity")
        self.hits(made["thesis-write-capacity"], "fit")
        warm = curve(made["thesis-write-capacity"], "warm")
        self.assertLess(warm[9], 2)
        self.assertEqual(warm[34], 100)
        self.assertGreater(warm[20], 5)
        self.assertLess(warm[20], 15)

    def test_strides(self):
        _, made, _ = lab("thesis-associativity")
        usable = {row["what"].split(":")[0]: row["simulated"] for row in made["thesis-associativity"]["comparisons"][1:]}
        for stride, share, off in ((2, 0.5, 0.05), (3, 1, 0.05), (4, 0.25, 0.06), (5, 1, 0.05), (6, 0.5, 0.05)):
            with self.subTest(stride=stride):
                self.assertAlmostEqual(usable[f"stride {stride}"], share, delta=off)

    def test_nesting_and_tables_of_lines_are_sharp(self):
        _, made, _ = lab("thesis-nesting", "closed-form-tmcam")
        for one in made.values():
            self.hits(one)

    def test_what_the_model_was_fitted_to(self):
        _, made, _ = lab("thesis-overhead", "thesis-malloc")
        for one in made.values():
            self.hits(one, "fit")

    def test_formulas_within_two_points(self):
        _, made, _ = lab("closed-form-overflow-8", "closed-form-overflow-12", "closed-form-overflow-soft",
                         "closed-form-timer-250", "closed-form-timer-1000")
        for one in made.values():
            self.hits(one)
            for row in one["comparisons"]:
                self.assertLessEqual(abs(row["error"]), 2)

    def test_the_document_keeps_to_the_schema_and_has_the_papers_points(self):
        table, made, document = lab("thesis-malloc", "thesis-tas-short")
        self.assertEqual(complaints(document), [])
        self.assertEqual(document["machine"]["backend"], "simulated")
        self.assertEqual([point["kind"] for point in document["points"]].count("paper"), 2)
        malloc = made["thesis-malloc"]
        self.assertEqual(curve(malloc, "malloc"), {1: 100})
        self.assertEqual(curve(malloc, "malloc, paper"), {1: 100})
        for one in malloc["curves"]:
            for point in one["points"]:
                self.assertEqual(document["points"][point["point"]]["values"], [point["value"]])
        self.assertIn("simulated on haswell-i5-4670t", table)
        self.assertIn("leave out branch prediction and instruction caches", table)
        self.assertRegex(table, r"malloc: abort rate +100 +100 +- +fit +hit +C\.1")

    def test_what_an_issue_asks_for_is_a_claim(self):
        table, made, document = lab("thesis-counters-layouts")
        self.assertEqual(complaints(document), [])
        rows = {row["what"]: row for row in made["thesis-counters-layouts"]["comparisons"]}
        self.assertGreaterEqual(len(document["claims"]), 3)
        for claim in document["claims"]:
            row = rows[claim["claim"].removeprefix("thesis-counters-layouts: ").split(", simulated on ")[0]]
            self.assertEqual(claim["id"], "C1-2")
            self.assertEqual(claim["value"], row["simulated"])
            self.assertEqual(claim["holds"], row["verdict"] == "hit")
            self.assertEqual(claim["standing"], row["standing"])
            first, second = (document["points"][index]["values"][0] for index in claim["from"])
            self.assertAlmostEqual(claim["value"], first / second)
        self.assertEqual(table.count(", for C1-2"), len(document["claims"]))

    def test_what_b_4_asks_for_is_claimed_hit_or_missed(self):
        table, made, document = lab("thesis-associativity", "thesis-nesting", "closed-form-timer-250")
        self.assertEqual(complaints(document), [])
        rows = sum(len(one["comparisons"]) for one in made.values())
        self.assertEqual([claim["id"] for claim in document["claims"]], ["B-4"] * rows)
        self.assertEqual(table.count(", for B-4"), rows)
        half = next(claim for claim in document["claims"] if "stride 2: " in claim["claim"])
        curves = {document["points"][index]["params"]["step"] for index in half["from"]}
        self.assertEqual(curves, {64, 128}, "a crossing comes from both curves")
        self.assertIn("the formula has", document["claims"][-1]["claim"])

    def test_orders_of_the_thesis(self):
        _, made, _ = lab("thesis-counters-global")
        orders = [row for one in made.values() for row in one["comparisons"] if " over that of HLE" in row["what"] or
                  "HLE at 4 threads: throughput over" in row["what"]]
        self.assertEqual(len(orders), 3)
        for row in orders:
            with self.subTest(number=row["what"]):
                self.assertEqual(row["verdict"], "hit", row)

    def test_elision_in_the_place_of_occ_rwlock(self):
        _, made, document = lab("shore-mt-occ-rwlock")
        one = made["shore-mt-occ-rwlock"]
        self.hits(one)
        self.assertEqual(len(one["comparisons"]), 8)
        self.assertFalse(document.get("claims"), "they hang on a length that is assumed")
        points = {(point["subject"], point["threads"]): point for point in document["points"] if point["kind"] != "paper"}
        # One thread elides the small lock twice a section, or the section once; the plain locks have no attempts.
        self.assertEqual(points["hle_counting_rwlock", 1]["commits"], 2 * 1000)
        self.assertGreater(points["glibc_counting_rwlock", 1]["commits"], 990)
        self.assertGreater(points["shore_occ_rwlock", 8]["commits"], 0.99 * 8 * 1000)
        for plain in ("counting_rwlock", "occ_rwlock"):
            self.assertFalse(points[plain, 8].get("attempts"))
        # Sections that all write a count meet; sections that only look at it do not.
        self.assertIn("conflict", points["hle_counting_rwlock", 8]["aborts"])

    def test_one_reader_that_has_the_lock_sends_the_others_there(self):
        _, made, _ = lab("shore-mt-occ-rwlock-apart")
        at = {name: curve(made["shore-mt-occ-rwlock-apart"], name) for name in ("pthread rwlock", "pthread rwlock, RTM")}
        self.assertGreater(at["pthread rwlock, RTM"][100 * 33], 1.2 * at["pthread rwlock"][100 * 33])
        # In runs of this length an interrupt ends an attempt, or one writes too much. Its section takes the lock, and
        # every section that finds it held does so, too. Whether that happens in the lab's runs, an eighth as long, depends on the seed.
        for seed in ("1", "2"):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "sim.json"
                done = call("sim", "readers", "pairs=1024", "reads=100", "touches=4", "outside=0", "--machine",
                            "haswell-i7-4770", "--threads", "8", "--lock", "counting_rwlock,glibc_counting_rwlock",
                            "--operations", "8000", "--seed", seed, "--json", str(file))
                self.assertEqual(done.returncode, 0, done.stderr)
                points = {point["subject"]: point for point in json.loads(file.read_text())["points"]}
                elided = points["glibc_counting_rwlock"]
                self.assertGreater(elided["aborts"]["lock-busy"], elided["attempts"] / 8)
                first = elided["aborts"].get("interrupt", 0) + elided["aborts"].get("capacity-write", 0)
                self.assertIn(first, range(1, 10))
                # Twelve times as fast as the plain lock while nobody has it.
                self.assertLess(elided["values"][0], 3 * points["counting_rwlock"]["values"][0])

    def test_writers_of_the_lab_s_reader_writer_locks(self):
        # A run that fails its check is a failure: no reader has seen half of a write.
        names = "counting_rwlock,hle_counting_rwlock,glibc_counting_rwlock,shore_occ_rwlock,elided_occ_rwlock," \
                "shore_srwlock,shore_mcs"
        for seed in ("1", "2"):
            with self.subTest(seed=seed):
                done = call("sim", "readers", "pairs=16", "reads=50", "touches=6", "--machine", "haswell-i7-4770",
                            "--threads", "2,8", "--lock", names, "--operations", "300", "--seed", seed, "--check")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_misses_stay(self):
        table, made, _ = lab("thesis-tas-short")
        verdicts = {row["what"]: row["verdict"] for row in made["thesis-tas-short"]["comparisons"]}
        self.assertIn("miss", verdicts.values())
        self.assertEqual(table.count("MISS"), list(verdicts.values()).count("miss"))

    def test_locks_of_every_width_are_elided(self):
        _, _, document = lab("thesis-lock-type")
        simulated = [point for point in document["points"] if point["subject"].startswith("hle_tas") and point.get("attempts")]
        self.assertEqual({point["subject"] for point in simulated}, {"hle_tas", "hle_tas_1", "hle_tas_2", "hle_tas_8"})
        for point in simulated:
            self.assertEqual(point["attempts"], 4 * 5000)
            self.assertEqual(point["commits"], point["attempts"])

    def test_the_same_seed_gives_the_same(self):
        first, again, other = (lab("thesis-lock-type", *more)[2]["points"] for more in ([], [], ["--seed", "2"]))
        self.assertEqual(first, again)
        self.assertNotEqual([point.get("end_hash") for point in first], [point.get("end_hash") for point in other])

    def test_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            file, page = pathlib.Path(folder) / "lab.json", pathlib.Path(folder) / "lab.html"
            self.assertEqual(call("lab", "closed-form-tmcam", "thesis-malloc", "--json", str(file)).returncode, 0)
            self.assertEqual(call("report", str(file), "-o", str(page)).returncode, 0)
            text = page.read_text(encoding="utf-8")
        self.assertIn("closed-form-tmcam", text)
        self.assertIn("writes, formula", text)
        self.assertRegex(text, r"16 were hit \(none is held out, 2 of 2 that the model was fitted to, 14 of 14 that follow from the model\) and 0 missed")
        self.assertNotIn("verdict good", text, "nothing here is evidence")

    def whole_program_lab(self, name, files, experiment):
        with tempfile.TemporaryDirectory() as programs:
            folder = pathlib.Path(programs) / (name + "-simulated")
            folder.mkdir()
            for file in files:
                shutil.copy(WHOLE_PROGRAM, folder / file)
            table, made, document = lab(experiment, "--programs", programs)
        self.assertEqual(complaints(document), [])
        rows = made[experiment]["comparisons"]
        self.assertNotIn("not simulated", {row["verdict"] for row in rows})
        self.assertEqual(len(document["claims"]), len(rows))
        return table, rows, document

    def test_kyoto_cabinet_is_a_whole_program(self):
        table, rows, document = self.whole_program_lab("kyotocabinet", ["grass"], "kyotocabinet")
        self.assertIn("Kyoto Cabinet 1.2.79, 10000 operations of all threads together, 1 seed; throughput", table)
        self.assertEqual(len(rows), 16)
        self.assertEqual({claim["id"] for claim in document["claims"]}, {"C2-3"})
        points = {(point["subject"], point["threads"]): point for point in document["points"]}
        self.assertEqual(len(points), 9 * 7)
        self.assertEqual(points["default", 1]["kind"], "peer")
        self.assertEqual(points["htm-10", 1]["params"], {"machine": "broadwell-e5-2697v4", "operations": 10000, "records": 300000})
        # The lock is taken 300 times before the 100 operations, and once afterwards.
        self.assertAlmostEqual(points["htm-10", 1]["commits"], 100, delta=5)

    def test_leveldb_runs_with_three_seeds(self):
        locks = ("sleeping", "spinning", "xsync", "xsync_mutex", "xsync_uncoarsened", "plain", "elided", "eager")
        _, rows, document = self.whole_program_lab("leveldb", ["leveldb-" + lock for lock in locks], "leveldb-write-heavy")
        self.assertEqual({claim["id"] for claim in document["claims"]}, {"C1-4"})
        self.assertEqual({len(point["values"]) for point in document["points"]}, {3})
        self.assertEqual({point["workload"] for point in document["points"]}, {"write-heavy"})
        self.assertEqual(document["points"][0]["params"], {"machine": "haswell-i7-4770", "count": 2000, "records": 2000})
        for claim, row in zip(document["claims"], rows):
            mine, beside = (document["points"][index]["values"] for index in claim["from"])
            self.assertAlmostEqual(row["simulated"], statistics.median(a / b for a, b in zip(mine, beside)))

    def test_a_whole_program_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as programs:
            done = call("lab", "leveldb-fillseq", "--programs", programs)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"experiment leveldb-fillseq: there is no .*leveldb-sleeping; "
                                          r"integrations/leveldb-simulated\.sh --build builds it")
            file = pathlib.Path(programs) / "kyotocabinet-simulated" / "grass"
            file.parent.mkdir()
            shutil.copy(shutil.which("true"), file)
            done = call("lab", "kyotocabinet", "--programs", programs)
            self.assertEqual(done.returncode, 2)
            self.assertIn("grass was not built by txsync-c++", done.stderr)

    def test_what_cannot_be_asked_for(self):
        for arguments, says in (((), "an experiment is missing; allowed: all, thesis-write-capacity"),
                                (("thesis-write-capacty",), "did you mean 'thesis-write-capacity'?"),
                                (("all", "thesis-malloc"), "unknown experiment 'all'"),
                                (("thesis-malloc", "thesis-malloc"), "'thesis-malloc' is given twice"),
                                (("thesis-malloc", "--seed", "x"), "--seed: 'x'")):
            with self.subTest(arguments=arguments):
                done = call("lab", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(says, done.stderr)


if __name__ == "__main__":
    TXSYNC = sys.argv.pop(1)
    WHOLE_PROGRAM = sys.argv.pop(1)
    unittest.main()
