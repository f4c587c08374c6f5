#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""comparison_test.py: what `./dev bench NAME --against COMMIT` computes, from documents as the benchmarks write them."""

import copy
import json
import pathlib
import unittest

import comparison
from comparison import NEW, OLD
from result_schema import complaints

MEASURED = pathlib.Path(__file__).resolve().parents[2] / "docs" / "measured"
TOOL = {"version": "0.1.0", "commit": "0123456789ab", "compiler": "GCC 12.2.0"}
MACHINE = {"backend": "native", "kernel": "Linux", "libc": "glibc", "page_bytes": 4096, "cpus": 2,
           "htm": {"works": False, "verdict": "absent"}}


def point(subject, values, **members):
    return {"workload": "arraybench", "params": {"writes": 10}, "threads": 2, "place": "cores-first", "subject": subject,
            "kind": "ours", "metric": "throughput", "unit": "sections/s", "better": "higher", "values": values, **members}


def document(*points):
    return {"schema": 1, "tool": TOOL, "command": ["bench_locks"], "machine": MACHINE, "seed": 1, "points": list(points), "claims": []}


def rounds_of(old, new, **members):
    """A round for each pair of values, of one cell."""
    return [{OLD: [document(point("tatas", [one], **members))], NEW: [document(point("tatas", [other], **members))]}
            for one, other in zip(old, new)]


def compared(rounds, **options):
    made = comparison.compare("locks", "0" * 40, rounds, ["./dev"], "2026-01-01T00:00:00Z", **options)
    assert complaints(made) == [], complaints(made)
    return made


class Statistics(unittest.TestCase):
    def test_agree_with_what_judge_has_written(self):
        """Ratios of two points by round, their interval and outcome, as src/observe/statistics.cpp computed them."""
        seen = set()
        for path in sorted(MEASURED.glob("*preload*.json")):
            written = json.loads(path.read_text(encoding="utf-8"))
            for claim in written["claims"]:
                if len(claim["from"]) != 2 or "times as fast" not in claim["claim"]:
                    continue
                ours, theirs = (written["points"][place] for place in claim["from"])
                interval = comparison.median_interval(comparison.ratios(ours["values"], theirs["values"], ours["better"]))
                for name, value in zip(("value", "low95", "high95", "coverage"), interval):
                    self.assertAlmostEqual(claim[name], value, 12, claim["claim"])
                if "outcome" in claim:
                    self.assertEqual(comparison.judge(interval, claim["goal"]), claim["outcome"])
                    seen.add(claim["outcome"])
        self.assertTrue(seen, "docs/measured has no claim to compare with")

    def test_geometric_means_are_of_medians(self):
        cells = [[0.9, 1.0, 1.1, 1.0], [2.0, 2.2, 1.9, 2.0]]
        mean, low, high, coverage = comparison.geometric_mean(cells)
        self.assertAlmostEqual(mean, 2**0.5, 12)
        self.assertTrue(0.9 * 1.9 < low**2 < 2 < high**2 < 1.1 * 2.2)
        self.assertEqual(coverage, 0.95)
        self.assertEqual(comparison.geometric_mean([[2.0], [8.0]]), (4.0, 4.0, 4.0, 0))
        self.assertEqual(comparison.geometric_mean(cells), comparison.geometric_mean(cells), "the same seed, the same interval")

    def test_ten_rounds_leave_out_one_at_each_end(self):
        self.assertEqual(comparison.median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])[:3], (5.5, 2, 9))
        self.assertAlmostEqual(comparison.median_interval(range(10))[3], 1 - 22 / 1024)
        self.assertEqual(comparison.median_interval([3])[3], 0)

    def test_three_outcomes(self):
        for interval, better, outcome in (((1.0, 0.9, 1.1, 0.95), "higher", "holds"), ((0.9, 0.8, 1.1, 0.95), "higher", "undecided"),
                                          ((0.8, 0.7, 0.9, 0.95), "higher", "missed"), ((1.0, 0.9, 1.1, 0.95), "lower", "holds"),
                                          ((1.1, 0.9, 1.2, 0.95), "lower", "undecided"), ((1.2, 1.1, 1.3, 0.95), "lower", "missed")):
            self.assertEqual(comparison.judge(interval, 1.0, better), outcome)

    def test_a_lock_that_stood_still_is_a_measurement(self):
        self.assertEqual(comparison.ratios([0, 5, 0, 4], [0, 0, 5, 2], "higher"), [1, 1000, 0.001, 2])
        self.assertEqual(comparison.ratios([1, 4], [2, 2], "lower"), [2, 0.5])


class Cells(unittest.TestCase):
    def test_builds_run_in_turns(self):
        self.assertEqual([comparison.order(turn) for turn in range(3)], [(OLD, NEW), (NEW, OLD), (OLD, NEW)])

    def test_ratios_are_formed_in_each_round(self):
        made = compared(rounds_of([100, 200, 400], [101, 202, 404]))
        row = made["against"]["cells"][0]
        self.assertAlmostEqual(row["ratio"], 1.01)
        self.assertAlmostEqual(row["high95"] - row["low95"], 0)
        self.assertEqual([made["points"][place]["build"] for place in row["points"]], [OLD, NEW])
        self.assertEqual(made["points"][0]["values"], [100, 200, 400])

    def test_a_time_is_better_lower(self):
        made = compared(rounds_of([10] * 10, [20] * 10, metric="time", unit="ns", better="lower"))
        self.assertEqual(made["against"]["cells"][0]["outcome"], "missed")
        self.assertEqual([(claim["value"], claim["outcome"]) for claim in made["claims"]], [(0.5, "missed"), (1, "missed")])

    def test_goals_of_mean_and_cells(self):
        for ratio, mean, cell in ((1.0, "holds", "holds"), (0.97, "missed", "holds"), (0.94, "missed", "missed")):
            made = compared(rounds_of([100] * 10, [100 * ratio] * 10))
            self.assertEqual(made["against"]["cells"][0]["outcome"], cell)
            self.assertEqual([claim["outcome"] for claim in made["claims"]], [mean, cell])
        undecided = compared(rounds_of([100] * 10, [90] * 6 + [101] * 4))
        self.assertEqual(undecided["against"]["cells"][0]["outcome"], "undecided")
        self.assertEqual(undecided["claims"][1]["value"], 0, "it may be over the goal")

    def test_peers_and_other_metrics_are_no_cells(self):
        one = document(point("tatas", [1.0]), point("tatas", [1.0], metric="longest wait", unit="ns"), point("ck_fas", [1.0], kind="peer"))
        made = compared([{OLD: [one], NEW: [one]}])
        self.assertEqual(len(made["against"]["cells"]), 1)
        self.assertNotIn("left_out", made["against"])

    def test_cells_differ_by_each_of_their_names(self):
        points = [point("tatas", [1.0]), point("tatas", [1.0], threads=4), point("tatas", [1.0], params={"writes": 0}),
                  point("tatas", [1.0], workload="mapbench"), point("ticket", [1.0])]
        self.assertEqual(len(comparison.cells_of([document(*points)])), 5)

    def test_parts_of_a_run_are_one(self):
        parts = [document(point("tatas", [1.0])), document(point("ticket", [1.0]))]
        self.assertEqual(len(compared([{OLD: parts, NEW: parts}])["against"]["cells"]), 2)

    def test_a_cell_of_one_build_is_left_out_and_named(self):
        both, one = point("tatas", [1.0]), point("brand_new", [1.0])
        made = compared([{OLD: [document(both)], NEW: [document(both, one)]}])
        self.assertEqual(made["against"]["left_out"], ["brand_new, arraybench (writes 10), 2 threads, throughput: the old build has none"])

    def test_what_was_renamed_is_compared_with_itself(self):
        earlier, now = "tm_htm_sgl", "tm_htm_sgl_adaptive"
        made = compared([{OLD: [document(point(earlier, [4]))], NEW: [document(point(now, [2]), point(earlier, [1]))]}])
        self.assertEqual([(one["subject"], one["values"]) for one in made["points"]], [(now, [4]), (now, [2])])
        self.assertEqual(len(made["against"]["left_out"]), 1)
        both = [document(point(earlier, [4]), point(now, [5]))]
        made = compared([{OLD: both, NEW: both}])
        self.assertEqual({one["subject"] for one in made["points"]}, {earlier, now})

    def test_a_parameter_that_came_later_makes_no_other_cell(self):
        old = [document(point("tatas", [4]), point("tatas", [5], params={"writes": 0}))]
        later = [point("tatas", [2], params={"writes": 10, "paths": "all"}), point("tatas", [3], params={"writes": 0, "paths": "one"}),
                 point("tatas", [7], params={"writes": 0, "paths": "two"})]
        made = compared([{OLD: old, NEW: [document(*later)]}])
        self.assertEqual([(one["params"], one["values"]) for one in made["points"]],
                         [({"writes": 10, "paths": "all"}, [4]), ({"writes": 10, "paths": "all"}, [2])])
        self.assertEqual(len(made["against"]["left_out"]), 3, "of two cells nobody knows which one is the old one")

    def test_dctl_has_a_goal_of_its_own(self):
        def claims(ratio, **members):
            rounds = rounds_of([100] * 10, [100 * ratio] * 10, **members)
            for one in rounds:
                for documents in one.values():
                    documents[0]["points"][0] |= {"subject": "tm_dctl", "preset": "bank-50"}
            return [(one["value"], one["goal"], one["outcome"]) for one in compared(rounds)["claims"] if one["id"] == "D2-2"]

        self.assertEqual(claims(0.97, workload="transactions"), [(0.97, 0.98, "missed")])
        self.assertEqual(claims(0.99, workload="transactions"), [(0.99, 0.98, "holds")])
        self.assertEqual(claims(0.99, workload="transactions", threads=4), [])
        self.assertEqual(claims(0.99), [], "of locks")

    def test_a_wrong_result_is_told_and_its_cell_left_out(self):
        rounds = rounds_of([1.0, 1.0], [1.0, 1.0])
        rounds[1][NEW][0]["points"] = [point("tatas", [], faults=["sum is 3, not 4"])]
        rounds[0][OLD][0]["points"].append(point("ticket", [1.0]))
        made = compared(copy.deepcopy(rounds))
        self.assertEqual(made["against"]["faults"], ["new: tatas, arraybench (writes 10), 2 threads, throughput: sum is 3, not 4"])
        self.assertEqual((made["against"]["cells"], made["claims"]), ([], []))
        self.assertEqual(len(made["against"]["left_out"]), 2)

    def test_a_cell_without_a_lock_is_a_control(self):
        both = document(point("tatas", [1.0]))
        made = compared([{OLD: [both, document(point("none", [2.0]))], NEW: [both, document(point("none", [1.0]))]}])
        self.assertEqual([(claim["value"], claim["outcome"]) for claim in made["claims"]], [(1.0, "holds"), (0, "holds"), (0.5, "holds")])

    def test_instructions_are_judged_by_what_is_added(self):
        for added, outcome in ((-3, "holds"), (2, "holds"), (3, "missed")):
            counted = rounds_of([30], [30 + added], metric=comparison.INSTRUCTIONS, unit="instructions", better="lower")
            made = compared(counted)
            self.assertEqual([(claim["value"], claim["outcome"]) for claim in made["claims"]], [(added, outcome)])
            self.assertIn(outcome.replace("missed", "MISSED"), comparison.table(made)[2])

    def test_recorded_documents_against_themselves(self):
        """A whole document of bench_tm, as both builds: every ratio is 1."""
        recorded = json.loads((MEASURED / "959009f-granite-rapids-tm.json").read_text(encoding="utf-8"))
        made = compared([{OLD: [recorded], NEW: [recorded]}] * 2, interrupted=True)
        self.assertGreater(len(made["against"]["cells"]), 50)
        self.assertEqual({row["ratio"] for row in made["against"]["cells"]}, {1.0})
        self.assertTrue(made["interrupted"])
        self.assertEqual(len(comparison.table(made)), 2 + len(made["against"]["cells"]) + len(made["claims"]))


if __name__ == "__main__":
    unittest.main()
