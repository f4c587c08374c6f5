# SPDX-License-Identifier: Apache-2.0
"""Two builds of one benchmark, compared cell by cell: what `./dev bench NAME --against COMMIT` computes. Pure: documents of
the runs go in, a result document comes out.

The statistics are those of src/observe/statistics.hpp, which names their sources. They are ratios by round, their median
with its interval by order statistics, the geometric mean with a stratified bootstrap, and judge(). comparison_test.py
compares them with claims that judge() has written (docs/measured)."""

import math
import random
import statistics

OLD, NEW = "old", "new"
CLAIM = "A4-3"
MEAN_GOAL = 0.98  # the geometric mean of a benchmark's cells
CELL_GOAL = 0.95  # no cell has an upper 95 % bound under it
DCTL_GOAL = 0.98  # D2-2: dctl with 1 and 2 threads, each workload
INSTRUCTIONS_GOAL = 2  # more than before, on an uncontended path
GREATEST_RATIO = 1000
DRAWS = 1000  # of the bootstrap
RULE_AT_LEAST = "value >= goal; missed where high95 < goal"

# Of ours, what is a cell's figure; the others tell of fairness, memory and the like.
METRICS = ("throughput", "time", "time of a lock and unlock", "wall time", "CPU time")
INSTRUCTIONS = "instructions of a lock and unlock"
# What is measured, and its name in builds that do not have the present one. htm_sgl became the hybrid paper's baseline, and
# what had been called so is htm_sgl_adaptive (880b7a13).
EARLIER_NAMES = {"tm_htm_sgl_adaptive": "tm_htm_sgl"}
# Measured beside the locks, without one: between builds only the compiler can change it.
NO_LOCK = ("none",)


def order(turn):
    """Which build runs first in a turn: old, new, new, old, and so on. A machine that slows down favours neither."""
    return (OLD, NEW) if turn % 2 == 0 else (NEW, OLD)


def trim_for_95(count):
    """How many values to leave out at each end so that the interval still covers 95 %, and what it then covers."""
    outside = math.comb(count, 0) / 2**count
    trimmed = (0, max(0.0, 1 - 2 * outside))
    for k in range(1, (count + 1) // 2):
        outside += math.comb(count, k) / 2**count
        if 2 * outside > 0.05:
            break
        trimmed = (k, 1 - 2 * outside)
    return trimmed


def median_interval(values):
    """(median, low95, high95, coverage)"""
    ordered = sorted(values)
    at_each_end, coverage = trim_for_95(len(ordered))
    return statistics.median(ordered), ordered[at_each_end], ordered[-1 - at_each_end], coverage


def ratios(ours, theirs, better):
    """By round, more than 1 where ours is better."""
    pairs = zip(ours, theirs) if better == "higher" else zip(theirs, ours)
    return [bounded_ratio(above, below) for above, below in pairs]


def bounded_ratio(above, below):
    if above == below:
        return 1.0
    return float(GREATEST_RATIO) if below == 0 else min(max(above / below, 1 / GREATEST_RATIO), GREATEST_RATIO)


def geometric_mean(ratios_by_cell, seed=1):
    """(mean, low95, high95, coverage) of the cells' medians; the rounds of each cell are drawn anew."""
    mean = math.exp(statistics.fmean(math.log(statistics.median(cell)) for cell in ratios_by_cell))
    if all(len(cell) == 1 for cell in ratios_by_cell):
        return mean, mean, mean, 0
    drawing = random.Random(seed)
    logs = [[math.log(ratio) for ratio in cell] for cell in ratios_by_cell]
    drawn = sorted(statistics.fmean(drawn_median(cell, drawing) for cell in logs) for _ in range(DRAWS))
    tail = DRAWS // 40
    return mean, math.exp(drawn[tail]), math.exp(drawn[-1 - tail]), 0.95


def drawn_median(values, drawing):
    ordered = sorted(drawing.choices(values, k=len(values)))
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def judge(interval, goal, better="higher"):
    """As observe::judge(): missed where the whole interval is on the wrong side, holds where the median reaches it."""
    median, low, high, _ = interval
    if (high < goal) if better == "higher" else (low > goal):
        return "missed"
    reached = median >= goal if better == "higher" else median <= goal
    return "holds" if reached else "undecided"


# ---- cells


def cell_of(point):
    """What makes two points the same cell."""
    params = tuple(sorted((name, str(value)) for name, value in point["params"].items()))
    return (point["workload"], params, point["threads"], point["place"], point["subject"], point["metric"], point["unit"])


def name_of(point):
    """A cell in words."""
    preset = point.get("preset")
    params = preset or ", ".join(f"{name} {value}" for name, value in point["params"].items())
    words = [point["subject"], point["workload"] + (f" ({params})" if params else "")]
    return ", ".join(words + [f"{point['threads']} thread" + ("s" if point["threads"] > 1 else ""), point["metric"]])


def cells_of(documents):
    """Of one run, whose parts may be documents of their own: {cell: point}, of what is ours and judged."""
    points = [point for document in documents for point in document["points"]]
    return {cell_of(point): point for point in points if point["kind"] == "ours" and point["metric"] in (*METRICS, INSTRUCTIONS)}


def with_present_names(old, new):
    """The old build's cells; what has another name now has that one."""
    subjects = [{point["subject"] for one in found for point in one.values()} for found in (old, new)]
    renamed = {earlier: now for now, earlier in EARLIER_NAMES.items() if now in subjects[1] - subjects[0]}
    return [{cell_of(named): named for named in (renamed_point(point, renamed) for point in one.values())} for one in old]


def renamed_point(point, names):
    return point | {"subject": names.get(point["subject"], point["subject"])}


def with_present_params(old, new):
    """The old build's cells; a parameter that it does not know has the value of the new build's only cell that is the same
    otherwise."""
    present = {cell: point for one in new for cell, point in one.items()}

    def present_point(cell, point):
        names = point["params"].keys()
        same = [one for one in present.values() if cell_of(one | {"params": {
            name: value for name, value in one["params"].items() if name in names}}) == cell]
        return point | {"params": same[0]["params"]} if cell not in present and len(same) == 1 else point

    return [{cell_of(named): named for named in (present_point(*item) for item in one.items())} for one in old]


def faults_of(documents):
    """What the benchmark found wrong with its results, a sentence each."""
    points = [point for document in documents for point in document["points"]]
    return [f"{name_of(point)}: {fault}" for point in points for fault in point.get("faults", [])]


class Pairs:
    """The same cells of both builds, by round."""

    def __init__(self, rounds):
        """rounds: of each whole round {OLD: documents, NEW: documents}."""
        found = {build: [cells_of(one[build]) for one in rounds] for build in (OLD, NEW)}
        found[OLD] = with_present_params(with_present_names(found[OLD], found[NEW]), found[NEW])
        self.cells = []  # (a point of the new build, old values, new values)
        self.left_out = []  # sentences
        names = {cell: point for build in (OLD, NEW) for one in found[build] for cell, point in one.items()}
        for cell, point in names.items():
            in_build = {build: [one[cell] for one in found[build] if cell in one] for build in (OLD, NEW)}
            lacking = [build for build in (OLD, NEW) if not in_build[build]]
            whole = all(len(points) == len(rounds) and all(one["values"] for one in points) for points in in_build.values())
            if lacking:
                self.left_out.append(f"{name_of(point)}: the {lacking[0]} build has none")
            elif not whole:
                self.left_out.append(f"{name_of(point)}: not every round has a value")
            else:
                middles = {build: [statistics.median(one["values"]) for one in in_build[build]] for build in in_build}
                self.cells.append((in_build[NEW][0], middles[OLD], middles[NEW]))


# ---- the document


def points_of(point, values_by_build):
    """The cell's two points, the old one first."""
    kept = ("workload", "params", "preset", "threads", "place", "subject", "kind", "waiting", "metric", "unit", "better")
    for build, values in values_by_build:
        made = {name: point[name] for name in kept if name in point}
        made |= {"build": build, "values": values, "median": statistics.median(values), "low": min(values), "high": max(values)}
        yield made


def judged_cell(point, old, new, places):
    """A row of member `against`: a time by its ratio, a number of instructions by its difference."""
    if point["metric"] == INSTRUCTIONS:
        difference = statistics.median(new) - statistics.median(old)
        return {"points": places, "added": difference, "goal": INSTRUCTIONS_GOAL,
                "outcome": "holds" if difference <= INSTRUCTIONS_GOAL else "missed"}
    interval = median_interval(ratios(new, old, point.get("better", "higher")))
    median, low, high, coverage = interval
    return {"points": places, "ratio": median, "low95": low, "high95": high, "coverage": coverage, "goal": CELL_GOAL,
            "outcome": judge(interval, CELL_GOAL)}


def number_claim(words, value, goal, rule, places):
    holds = value <= goal
    return {"id": CLAIM, "claim": words, "value": value, "goal": goal, "rule": rule, "holds": holds,
            "outcome": "holds" if holds else "missed", "from": places}


def mean_claim(words, ratios_by_cell, goal, places):
    return interval_claim(CLAIM, words, geometric_mean(ratios_by_cell), goal, places)


def interval_claim(name, words, interval, goal, places):
    """Without a goal where it is None: printed as it is."""
    outcome = "holds" if goal is None else judge(interval, goal)
    return {"id": name, "claim": words, "value": interval[0], "low95": interval[1], "high95": interval[2],
            "coverage": interval[3], "goal": 0.0 if goal is None else goal,
            "rule": "printed as it is" if goal is None else RULE_AT_LEAST, "holds": outcome == "holds", "outcome": outcome,
            "from": places}


def claims_of(name, pairs, rows):
    """The claims over all cells."""
    claims = []
    timed = [(row, ratios(new, old, point.get("better", "higher")), point["subject"] in NO_LOCK)
             for row, (point, old, new) in zip(rows, pairs.cells) if "ratio" in row]
    judged = [one for one in timed if not one[2]]
    places = [place for row, _, _ in judged for place in row["points"]]
    if judged:
        claims.append(mean_claim(f"{name}, geometric mean of the ratio of the new build to the old one over {len(judged)} cells",
                                 [values for _, values, _ in judged], MEAN_GOAL, places))
        missed = sum(row["outcome"] == "missed" for row, _, _ in judged)
        claims.append(number_claim(f"{name}, cells whose ratio of the new build to the old one is under {CELL_GOAL}", missed, 0,
                                   f"a cell counts when the upper 95 % bound of its ratio is under {CELL_GOAL}", places))
    claims += dctl_claims(pairs, rows)
    control = [one for one in timed if one[2]]
    if control:
        claims.append(mean_claim(f"{name}, the same without any lock, as a control", [values for _, values, _ in control], None,
                                 [place for row, _, _ in control for place in row["points"]]))
    counted = [row for row in rows if "added" in row]
    if counted:
        most = max(row["added"] for row in counted)
        claims.append(number_claim(f"{name}, instructions that the new build adds to an uncontended path, the most of "
                                   f"{len(counted)} paths", most, INSTRUCTIONS_GOAL, "value <= goal",
                                   [place for row in counted for place in row["points"]]))
    return claims


def dctl_claims(pairs, rows):
    """D2-2: the default software algorithm is no slower than it was."""
    return [interval_claim("D2-2", f"{name_of(point)}: the new build to the old one",
                           (row["ratio"], row["low95"], row["high95"], row["coverage"]), DCTL_GOAL, row["points"])
            for row, (point, _, _) in zip(rows, pairs.cells)
            if point["workload"] == "transactions" and point["subject"] == "tm_dctl" and point["threads"] <= 2]


def compare(name, commit, rounds, command, started, interrupted=False):
    """The result document of whole rounds, each {OLD: documents, NEW: documents}. Requires: at least one."""
    pairs = Pairs(rounds)
    newest = rounds[0][NEW][0]
    document = {"schema": 1, "tool": newest["tool"], "command": command, "machine": newest["machine"],
                "seed": newest["seed"], "started": started}
    if interrupted:
        document["interrupted"] = True
    document["points"] = []
    rows = []
    for point, old, new in pairs.cells:
        places = [len(document["points"]), len(document["points"]) + 1]
        document["points"] += points_of(point, ((OLD, old), (NEW, new)))
        rows.append(judged_cell(point, old, new, places))
    document["claims"] = claims_of(name, pairs, rows)
    document["against"] = {"benchmark": name, "commit": commit, "tool": rounds[0][OLD][0]["tool"], "rounds": len(rounds), "cells": rows}
    if pairs.left_out:
        document["against"]["left_out"] = pairs.left_out
    faults = [f"{build}: {fault}" for one in rounds for build in (OLD, NEW) for fault in faults_of(one[build])]
    if faults:
        document["against"]["faults"] = faults
    return document


# ---- the table


def figures(value):
    """Four figures, without a power of ten."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table(document):
    """Lines: a cell each, as it stands in the document, then the claims."""
    against = document["against"]
    lines = [f"{against['benchmark']}: the new build ({document['tool']['commit']}) against the old one "
             f"({against['tool']['commit']}), rounds: {against['rounds']}; above 1 the new build is better",
             f"{'old':>14} {'new':>14} {'unit':<13} {'new to old':>10} {'[95 %]':<16} {'outcome':<10} cell"]
    for row in against["cells"]:
        old, new = (document["points"][place] for place in row["points"])
        change = f"{row['ratio']:>10.3f} " + f"[{row['low95']:.3f}, {row['high95']:.3f}]" if "ratio" in row else f"{row['added']:>+10.0f} "
        lines.append(f"{figures(old['median']):>14} {figures(new['median']):>14} {new['unit']:<13} {change:<27} "
                     f"{shown(row['outcome']):<10} {name_of(new)}")
    lines += [f"left out: {sentence}" for sentence in against.get("left_out", [])]
    lines += [f"wrong result: {sentence}" for sentence in against.get("faults", [])]
    for claim in document["claims"]:
        interval = f" [{claim['low95']:.3f}, {claim['high95']:.3f}]" if "low95" in claim else ""
        value = f"{claim['value']:.3f}" if interval else f"{claim['value']:g}"
        judged = "-" if claim["rule"] == "printed as it is" else f"goal {claim['goal']}: {shown(claim['outcome'])}"
        lines.append(f"{claim['id']} {claim['claim']}: {value}{interval}, {judged}")
    return lines


def shown(outcome):
    return "MISSED" if outcome == "missed" else outcome
