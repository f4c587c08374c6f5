# SPDX-License-Identifier: Apache-2.0
"""Result documents for the tests of the report: of every verb, with long names, many rows and awkward texts."""

import random

TOOL = {"name": "txsync", "version": "0.1.0", "commit": "0123456789ab", "compiler": "GCC 12.2.0", "build_type": "RelWithDebInfo"}
MACHINE = {
    "backend": "native", "architecture": "x86-64", "cpu": "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz", "cpus": 16,
    "hardware_threads": 16, "cores": 8, "sockets": 1, "page_bytes": 4096, "kernel": "Linux 6.1.0-18-amd64 #1 SMP", "libc": "glibc 2.36",
    "caches": [{"level": 1, "type": "Data", "bytes": 49152, "shared_by": 2}, {"level": 3, "type": "Unified", "bytes": 110100480, "shared_by": 16}],
    "htm": {"works": False, "verdict": "always-aborts", "what": "Hardware transactions do not work here: every one aborts.",
            "why": "4096 of 4096 one-store transactions aborted with status 0."},
}
HOSTILE = "</script><script>alert(1)</script>\"'&<b onload=x>\x01\x7f"


def document(*command, points=(), claims=(), **more):
    return {"schema": 1, "tool": TOOL, "command": ["txsync", *command], "machine": MACHINE, "seed": 1,
            "started": "2025-01-31T12:00:00Z", "points": list(points), "claims": list(claims), **more}


def point(subject, values, threads=2, **more):
    made = {"workload": "arraybench", "params": {"ints": 1048576, "contention": "low"}, "threads": threads, "place": "cores-first",
            "subject": subject, "kind": "ours", "metric": "throughput", "unit": "sections/s", "better": "higher", "values": values}
    if values:
        ordered = sorted(values)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        made.update(median=median, low=ordered[0], high=ordered[-1])
    made.update(more)
    return made


def site(name, waiting, **more):
    return {"name": name, "acquisitions": waiting // 50 + 7, "contended": waiting // 900, "wait_ns": waiting, "hold_ns": waiting // 3,
            "wait_percentiles_ns": {"samples": 9, "p50": 850, "p99": 125000}, "hold_percentiles_ns": {"samples": 9, "p50": 90, "p99": 2400},
            **more}


def noisy(draw, middle, count):
    return [middle * (1 + 0.05 * (draw.random() - 0.5)) for _ in range(count)]


LOCKS = ["txsync::mutex", "futex", "posix", "tatas", "ticket", "fifo_ticket", "mcs", "fifo_mcs", "txsync::shared_mutex", "occ_rwlock", "srwlock"]
PEERS = ["pthread_mutex", "pthread_adaptive", "pthread_spin", "std::mutex", "std::shared_mutex", "tbb::speculative_spin_mutex"]


def bench():
    draw = random.Random(1)
    points = []
    for threads in (1, 2, 4, 8, 16):
        for number, name in enumerate(LOCKS + PEERS):
            values = noisy(draw, 3e6 * (1 + number % 7 / 5) / (1 + threads / 9), 5)
            points.append(point(name, values, threads, kind="peer" if name in PEERS else "ours", waiting="parks",
                                latency_ns={"op": {"samples": 1000, "p50": 85, "p99": 1250, "p99.9": 250000}}))
    points[3]["faults"] = ["repetition 2: the sum is wrong"]
    points[4].update(values=[], faults=["repetition 1: the sum is wrong"])
    for member in ("median", "low", "high"):
        del points[4][member]
    points[0]["sites"] = [site("mutex", 1_000_000)]
    points[9]["sites"] = [site("mutex", 3_000_000)]
    return document("bench", "arraybench", "--threads", "1,2,4,8,16", points=points)


def one_thread_bench():
    draw = random.Random(2)
    turns = {"fewest": [10, 20, 25, 30, 40, 0, 25], "most": [100] * 7}
    points = [point(name, noisy(draw, 1e6 * (1 + i), 7), kind="peer" if name in PEERS else "ours", thread_operations=turns)
              for i, name in enumerate(LOCKS + PEERS)]
    return document("bench", "arraybench", points=points)


def sweep():
    """Two machines; the plain lock wins with long sections, the eager one with short ones, at one thread all are alike."""
    points = []
    for machine in ("haswell-i7-4770", "sapphire-rapids"):
        for ints in (64, 16384, 1048576):
            for writes in (10, 400):
                for threads in (1, 8):
                    eager = 1 if threads == 1 else 4 if writes == 10 else 0.2
                    for subject, factor in (("mcs", 1), ("eager_mcs", eager), ("elided_mcs", max(1, eager) * 0.95)):
                        points.append(point(subject, [1e7 / writes * factor], threads,
                                            params={"machine": machine, "ints": ints, "writes": writes, "rounds": 3}))
    return document("bench", points=points)


def blocks():
    """Atomic blocks: they have no lock, so they come after all sites with waiting."""
    nothing = {"acquisitions": 0, "contended": 0, "wait_ns": 0, "hold_ns": 0, "kind": "named"}
    counts = {"attempts": 120000, "commits": 90000, "failed": 2000, "elided": 90000, "fallbacks": 2500, "aborts": {"capacity": 24000, "conflict": 6000},
              "lost_ns": 31000000, "lost_error_ns": 1200000.5, "lost_samples": 900}
    why = "310 cycles in hardware, 450 cycles in software; 30000 of 120000 attempts aborted, 24000 by capacity"
    return [{"name": "orders.submit", **nothing, "speculation": counts, "transactions": {"commits": 2500, "alone": 3, "waits": 0, "aborts": {"locked": 7}},
             "path": {"algorithm": "auto", "prefers": "hardware", "reason": "cycles", "why": why, "hardware_cycles": 310, "software_cycles": 450}},
            {"name": "orders.<report>", **nothing, "transactions": {"commits": 900, "alone": 0, "waits": 1, "aborts": {}},
             "path": {"algorithm": "auto", "prefers": "software", "reason": "no-hardware", "why": "hardware transactions do not commit here"}}]


def run():
    names = [f"kyotocabinet::HashDB::accept_bulk<kyotocabinet::Visitor*, unsigned long>::very_long_function_{i}@kchashdb.h:{800 + i}" for i in range(60)]
    sites = [site(name, int(9e9 / (i + 1) ** 2), kind="mutex", where=f"kchashdb.h:{800 + i}", module="/usr/lib/libkyotocabinet.so.16")
             for i, name in enumerate(names)]
    sites[0]["speculation"] = {"attempts": 120000, "commits": 90000, "failed": 2000, "elided": 90500, "fallbacks": 7000,
                               "aborts": {"conflict": 24000, "lock-busy": 6000}, "lost_ns": 31000000, "lost_error_ns": 1200000.5, "lost_samples": 900}
    sites += blocks()
    one = point("mutex", [12.25], 8, workload="kccachetest", params={"args": "wicked -th 8 100000"}, place="none", metric="wall time", unit="s",
                better="lower", sites=sites, abort_ends=[{"line": "put (db.cpp:12)", "caller": "serve (shop.cpp:9)", "count": 3000, "cause": "conflict", "cycles": 90000},
                                                         {"line": "put (db.cpp:19)", "count": 1000, "cause": "unknown"}])
    return document("run", "--policy", "mutex", "--", "kccachetest", "wicked", "it's", points=[one],
                    run={"policy": "mutex", "status": 0, "cpu_s": 30.5, "processes": 1, "abort_samples": {"samples": 12, "lost": 1},
                         "notices": ["a mutex made at main.cpp:12 was unlocked by a thread that did not hold it"], "remarks": ["1 static program was not counted"]})


def call_chains(seed, call, scale=1.0, more=()):
    """Of four functions and those of `more`: some that wait long, twenty each that hardly wait, and one very deep chain."""
    draw = random.Random(seed)
    made = []
    root = ["clone3", "start_thread (nptl/pthread_create.c:442)", "worker(void*) (main.cpp:88)"]
    for name in ("kyotocabinet::HashDB::accept_bulk<kyotocabinet::Visitor*, unsigned long>", "kyotocabinet::CacheDB::accept", "flush_log", "steal_work", *more):
        for number in range(26):
            callee = f"rehash (hash.cpp:{100 + number})" if number < 6 else f"tiny_{number} (tiny.c:{number})"
            wait = int(scale * 1e9 * draw.random() / (1 if number < 6 else 3000))
            made.append({"frames": [*root, f"{name} (db.cpp:{60 + len(name)})", callee, call], "site": "queue_lock in kccachetest" if number % 2 else "slots[] in libkyotocabinet.so.16",
                         "waits": wait // 20000, "wait_ns": wait})
    made.append({"frames": [*root, *(f"descend (tree.cpp:{i})" for i in range(100)), call], "site": "tree_lock in kccachetest", "waits": 5, "wait_ns": int(3e8 * scale)})
    return made


def run_with_chains():
    made = run()
    made.update(wait_chains=call_chains(6, "pthread_mutex_lock"), hold_chains=call_chains(7, "pthread_mutex_unlock"))
    return made


def small_run(seconds, sites, policy="libc", program="server", args="-t 4", **more):
    """A run of `seconds` with sites as (name, waits, waited, longest wait)."""
    one = point(policy, [seconds], 4, workload=program, params={"args": args}, place="none", metric="wall time", unit="s", better="lower",
                sites=[site(name, waited, contended=waits, max_wait_ns=longest, kind="mutex") for name, waits, waited, longest in sites])
    chains = {name: more.pop(name) for name in ("wait_chains", "hold_chains") if name in more}
    return document("run", "--", program, *args.split(), points=[one], **chains, run={"policy": policy, "status": 0, "cpu_s": seconds, "processes": 1, **more})


def run_before():
    return small_run(10.0, [("queue_lock in server", 1000, 4_000_000_000, 50_000_000), ("cache::find@cache.cpp:12", 500, 1_000_000_000, 9_000_000),
                            ("old_lock in server", 100, 90_000_000, 2_000_000), ("quiet in server", 3, 3_000, 1_000)],
                     wait_chains=call_chains(8, "pthread_mutex_lock"), hold_chains=call_chains(9, "pthread_mutex_unlock"))


def run_after():
    """The queue waits a quarter of what it did, the cache's code has moved by three lines, and one lock is another."""
    return small_run(10.1, [("queue_lock in server", 400, 1_000_000_000, 12_500_000), ("cache::find@cache.cpp:15", 750, 1_500_000_000, 9_000_000),
                            ("new_lock in server", 7, 70_000_000, 5_000_000), ("quiet in server", 3, 3_000, 1_000)], policy="ticket",
                     wait_chains=call_chains(8, "pthread_mutex_lock", 0.4, ("compact_segments",)), hold_chains=call_chains(10, "pthread_mutex_unlock"))


def tune():
    draw = random.Random(3)
    rows, points = [], []

    def row(phase, name, middle, count, status, reference=None, **more):
        values = noisy(draw, middle, count)
        points.append(point(name, values, 1, workload="kccachetest", params={"args": "order -th 8", "phase": phase}, place="none",
                            metric="wall time", unit="s", better="lower"))
        made = {"phase": phase, "candidate": name, "status": status, "point": len(points) - 1, **more}
        if reference is not None:
            made.update(ratio=reference / middle, low95=reference / middle * 0.97, high95=reference / middle * 1.03, coverage=0.98)
        rows.append(made)

    row("whole program", "unmodified", 2.0, 10, "what you have", reference=None)
    rows[-1]["reference"] = True
    row("whole program", "mutex", 1.8, 10, "best", 2.0, winner=True)
    row("whole program", "tatas", 3.1, 5, "dropped in round 5: worse with p < 0.05", 2.0)
    row("whole program", "as-mutex", 2.6, 6, "dropped in round 6: worse with p < 0.05", 2.0)
    points.append(point("ticket", [], 1, workload="kccachetest", params={"args": "order -th 8", "phase": "whole program"}, place="none",
                        metric="wall time", unit="s", better="lower", faults=["round 1: it was ended after 20 s"]))
    rows.append({"phase": "whole program", "candidate": "ticket", "status": "failed in round 1: it was ended after 20 s", "point": len(points) - 1})
    starves = "a thread waited too long in 4 of 4 rounds: 1.5 s at main+0x1f, 20 ms under what you have"
    row("whole program", "tatas-file", 1.4, 4, f"refused in round 4: {starves}", 2.0, refused=starves, fairness={
        "bad_rounds": 4, "rounds": [{"max_wait_ns": 1_500_000_000, "reference_max_wait_ns": 20_000_000, "site": "main+0x1f", "bad": True,
                                     "slowest_thread": {"share": 0.001, "reference_share": 0.3, "site": "main+0x1f"}}] * 4})
    where = "site kyotocabinet::CacheDB::accept@kccachedb.h:412"
    row(where, "mutex", 1.8, 10, "the best so far", reference=None)
    rows[-1]["reference"] = True
    row(where, "mutex; kyotocabinet::CacheDB::accept@kccachedb.h:412: lock=ticket", 1.5, 10, "taken", 1.8, winner=True)
    row("proof", "unmodified", 2.0, 10, "what you have", reference=None)
    rows[-1]["reference"] = True
    row("proof", "mutex; kyotocabinet::CacheDB::accept@kccachedb.h:412: lock=ticket", 1.5, 10, "proven better", 2.0, winner=True)
    sites = points[1]["sites"] = [site("kyotocabinet::CacheDB::accept@kccachedb.h:412", int(4e9), kind="mutex"), site("main+0x1f", 20_000_000, kind="rwlock")]
    gain = {"median": 1.333, "low95": 1.29, "high95": 1.37, "coverage": 0.98, "rounds": 10}
    return document("tune", "-o", "policy.toml", "--", "kccachetest", "order", points=points, tune={
        "verdict": "'mutex; kyotocabinet::CacheDB::accept@kccachedb.h:412: lock=ticket' is 1.33 times as fast as what you have (95 % interval 1.29 to 1.37, 10 rounds).",
        "proven": True, "reference": "unmodified", "winner": "mutex; kyotocabinet::CacheDB::accept@kccachedb.h:412: lock=ticket",
        "metric": "wall time", "unit": "s", "better": "lower", "gain": gain, "refused": [{"candidate": "tatas-file", "reason": starves}], "table": rows, "sites": sites,
        "policy": "# made by txsync tune\nschema = 1\n\n[default]\nlock = \"mutex\"\n"})


def claims():
    draw = random.Random(4)
    points = [point("txsync::mutex", noisy(draw, 5e6, 8)), point("std::mutex", noisy(draw, 4e6, 8), kind="peer")]
    return document("bench", points=points, claims=[
        {"id": "A1-3", "claim": "the geometric mean over all cells of the ratio to the best peer of each cell", "value": 1.07, "low95": 1.02,
         "high95": 1.11, "coverage": 0.95, "goal": 1.05, "rule": "value >= goal; missed where high95 < goal", "holds": True, "outcome": "holds", "from": [0, 1]},
        {"id": "A1-4", "claim": "no lock loses an update", "value": False, "goal": True, "holds": False, "outcome": "missed", "from": [0]}])


def lab():
    """Two experiments: one with curves and a miss, one of a single position with a number that was not simulated."""
    lines = [64, 96, 128, 160]
    ours = [{"at": at, "value": at / 2, "point": place} for place, at in enumerate(lines)]
    points = [point("attempt", [at / 2], 1, metric="abort rate", unit="%", better="lower", attempts=100, commits=50) for at in lines]
    first = {"id": "overflow", "title": "random lines in sets", "source": "a thesis, Fig 3.1", "machine": "haswell-i7-4770",
             "changes": {"htm.taken_ways": 0}, "workload": "capacity", "quantity": "abort rate", "unit": "%", "axis": "lines written",
             "remark": "A miss is a result.",
             "curves": [{"name": "warm", "kind": "ours", "points": ours},
                        {"name": "warm, paper", "kind": "paper", "points": [{"at": 96, "value": 10}]}],
             "comparisons": [{"what": "warm at 96 lines written: abort rate", "standing": "fit", "verdict": "miss", "simulated": 48, "low": 10,
                              "high": 10, "error": 38, "error_unit": "points", "source": "Fig 3.1, as drawn"},
                             {"what": "warm at 160 lines written: abort rate", "standing": "held out", "verdict": "hit", "simulated": 80, "low": 75,
                              "error": 0, "error_unit": "points", "source": "3.2.1"}]}
    second = dict(first, id="types", title="types of words", curves=[{"name": "unsigned", "kind": "ours", "points": ours[:1]}], comparisons=[
        {"what": "unsigned char: aborted cycles", "standing": "held out", "verdict": "not simulated", "low": 12, "high": 12, "source": "Table 2.5"}])
    return document("lab", "all", points=points, lab={"experiments": [first, second]})


def lab_claims(*standings):
    """A lab's document with a claim for each of (standing, holds)."""
    made = lab()
    made["claims"] = [{"id": "B-4", "claim": f"number {i}", "value": 1, "goal": 1, "rule": "value >= goal", "holds": holds, "standing": standing, "from": [0]}
                      for i, (standing, holds) in enumerate(standings)]
    return made


def uneven():
    """Numbers of threads that are nearly powers, and many; and some of which most lie close together."""
    draw = random.Random(5)
    points = [point(name, noisy(draw, 1e6 * threads, 6), threads) for threads in (1, 2, 4, 8, 18, 36, 56) for name in LOCKS[:3]]
    points += [point("mcs", noisy(draw, 1e6 * threads, 6), threads, workload="mapbench") for threads in (10, 20, 40, 50)]
    points += [point("mcs", noisy(draw, 1e6 * threads, 6), threads, workload="counters") for threads in (*range(1, 17), 1020, 1021, 1022, 1024)]
    return document("bench", points=points)


def sim():
    """A program on the simulated machine, and where its attempts ended."""
    places = [{"cause": "conflict", "count": 1200, "own": "add_to (told.cpp:52)", "other": "add_to (told.cpp:53)", "line": "0x52ddc0", "lines": 1,
               "data": "counters+8", "different_bytes": 1200, "sharing": "false sharing: a and b lie on one line",
               "sharing_kind": "objects", "own_data": "a", "conflicting_data": "b",
               "own_calls": ["add_to (told.cpp:52)", "main (told.cpp:80)"], "other_calls": ["add_to (told.cpp:53)", "operator() (told.cpp:83)"]},
              {"cause": "capacity-write", "count": 300, "own": "fill (told.cpp:61)", "line": "0x100330300", "lines": 5,
               "data": "heap block of 64 bytes from main (told.cpp:70)", "room": "8 of 8 ways of set 12 written by this attempt",
               "occupancy": {"kind": "l1-set", "set": 12, "own": 8, "room": 8}},
              {"cause": "interrupt", "count": 1, "own": "main"}]
    one = point("mine", [0.0125], 4, workload="./mine", params={"args": "4", "elide": "yes"}, place="none", metric="simulated time", unit="s",
                better="lower", attempts=5000, commits=3499, fallbacks=0, aborts={"conflict": 1200, "capacity-write": 300, "interrupt": 1},
                signals={}, cycles={"total": 10**6, "transactional": 10**5, "aborted": 10**4}, abort_places=places,
                abort_ends=[{"line": "add_to (told.cpp:52)", "caller": "main (told.cpp:80)", "count": 1201}, {"line": "fill (told.cpp:61)", "count": 300}], end_hash="60303ae22b998861",
                key="txsync sim --machine haswell-i7-4770 --seed 1 --elide -- ./mine 4")
    return document("sim", "--machine", "haswell-i7-4770", "--elide", "--", "./mine", "4", points=[one], program={"status": 0, "accesses": 12345})


SIMULATED = {"backend": "simulated", "cpu": "ideal (simulated)", "cpus": 64, "hardware_threads": 64, "cores": 64, "sockets": 1, "line_bytes": 64,
             "page_bytes": 4096, "kernel": "simulated", "libc": "simulated", "htm": {"works": True, "verdict": "rtm"}}


def explored_document(command, tests, **more):
    """Of (name, schedules, key, member of the test): no schedules means that it could not be explored."""
    made = document(*command, machine=SIMULATED, explore={"orders": ["random"], "store_buffers": False, "schedules": 10000, "steps": 20000, "tests": [], **more})
    del made["started"]
    for name, schedules, key, told in tests:
        one = {"workload": "explore", "params": {"order": "+".join(made["explore"]["orders"])}, "threads": 1, "place": "none", "subject": name, "kind": "ours",
               "metric": "schedules", "unit": "schedules", "better": "higher", "values": [schedules] if schedules else []}
        if schedules:
            one.update(median=schedules, low=schedules, high=schedules)
            one["params"]["found"] = "a fault" if key else "nothing"
        else:
            one["faults"] = ["the simulation was ended by a signal: Killed"]
        if key:
            one["key"] = key
            told = {"complaint": "deadlock: nothing can run (seed 39); waiting: thread 0 in park < pthread_cond_wait < main (wake_up_test.cpp:16)",
                    "again": f"txsync replay {key}", **told}
        made["explore"]["tests"].append({"point": len(made["points"]), **told})
        made["points"].append(one)
    return made


def explore():
    """Tests of locks with everything that can come of one."""
    return explored_document(("explore",), [
        ("seeded:lost-wake-up", 11, "seeded:lost-wake-up@random+store-buffers@11", {"seeded": True, "right": True}),
        ("tatas", 10000, None, {"right": True}),
        ("mcs", 1234, "mcs@random+store-buffers@1234", {"right": False}),
        ("seeded:missing-fence", 10000, None, {"seeded": True, "right": False}),
        ("ticket", 0, None, {"right": False})], store_buffers=True, probes=["spurious-aborts", "tight-capacity"])


def explore_program(found=True):
    key = "wake_up_test@delay-bounded@39" if found else None
    return explored_document(("explore", "--", "./wake_up_test"), [
        ("wake_up_test", 39 if found else 1000, key, {"right": False, "again": f"txsync replay {key} -- ./wake_up_test"} if found else {"right": True})],
        orders=["random", "priorities", "delay-bounded"], schedules=1000, steps=10_000_000)


def empty():
    return document("list", "locks", list={"kind": "locks", "items": []})


def hostile():
    """Every text that a document can have is hostile."""
    bad = point(HOSTILE, [1.0, 2.0], workload=HOSTILE, params={HOSTILE: HOSTILE}, place=HOSTILE, metric=HOSTILE, unit=HOSTILE, waiting=HOSTILE,
                preset=HOSTILE, kind=HOSTILE, faults=[HOSTILE], sites=[site(HOSTILE, 500, where=HOSTILE, module=HOSTILE), site("b", 100)])
    good = point(HOSTILE + "2", [1.0, 2.0], workload=HOSTILE, params={HOSTILE: HOSTILE}, place=HOSTILE, metric=HOSTILE, unit=HOSTILE)
    claim = {"id": HOSTILE, "claim": HOSTILE, "value": HOSTILE, "goal": HOSTILE, "rule": HOSTILE, "holds": False, "from": []}
    made = document(HOSTILE, points=[bad, good, dict(good, subject=HOSTILE + "3"), dict(good, threads=4)], claims=[claim])
    made["machine"] = {key: HOSTILE for key in ("cpu", "kernel", "libc", "architecture", "cpus", "hypervisor")} | {"htm": {"what": HOSTILE, "why": HOSTILE}}
    made["tool"] = {key: HOSTILE for key in ("version", "commit", "compiler", "build_type", "sanitizers")}
    made["started"] = HOSTILE
    made["run"] = {"notices": [HOSTILE], "remarks": [HOSTILE]}
    return made


def hostile_sim():
    made = sim()
    for one in made["points"][0]["abort_places"]:
        one.update({key: HOSTILE for key in ("cause", "own", "other", "line", "data", "sharing", "room")})
    return made


def hostile_explore():
    made = explore()
    made["explore"].update(orders=[HOSTILE], probes=[HOSTILE])
    for one in made["points"]:
        one.update(subject=HOSTILE, params={"order": HOSTILE}, key=HOSTILE)
    for one in made["explore"]["tests"]:
        one.update(complaint=HOSTILE, again=HOSTILE)
    return made


def hostile_lab():
    made = lab()
    for one in made["lab"]["experiments"]:
        one.update({key: HOSTILE for key in ("id", "title", "source", "machine", "workload", "quantity", "unit", "axis", "remark")})
        one["changes"] = {HOSTILE: 1}
        for curve in one["curves"]:
            curve["name"] = HOSTILE
        for row in one["comparisons"]:
            row.update(what=HOSTILE, source=HOSTILE, standing=HOSTILE, error_unit=HOSTILE)
    return made


def hostile_run():
    made = run_with_chains()
    for chain in made["wait_chains"] + made["hold_chains"]:
        chain.update(frames=[HOSTILE, HOSTILE + "2", HOSTILE], site=HOSTILE)
    for one in made["points"][0]["sites"]:
        one.update(name=HOSTILE + one["name"], module=HOSTILE, where=HOSTILE)
    made["points"][0].update(workload=HOSTILE, params={"args": HOSTILE}, subject=HOSTILE)
    made["run"]["policy"] = HOSTILE
    return made


def hostile_tune():
    made = tune()
    made["tune"].update({key: HOSTILE for key in ("verdict", "reference", "winner", "metric", "unit", "policy")})
    for row in made["tune"]["table"]:
        row.update(candidate=HOSTILE, status=HOSTILE)
    return made


SAMPLES = {"bench": bench, "one-thread": one_thread_bench, "sweep": sweep, "run": run, "chains": run_with_chains, "tune": tune, "claims": claims, "lab": lab, "sim": sim,
           "explore": explore, "explore-program": explore_program, "uneven": uneven, "empty": empty}
# Before and after, for --diff.
PAIRS = {"difference": (run_before, run_after), "bench-difference": (bench, one_thread_bench)}
