#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""profile_files_test.py TXSYNC: call chains of `txsync run`, and the files that other tools open."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import run_programs_test as programs
from result_schema import complaints, jsonschema, load
from run_programs_test import call
from skips import leave

# One thread holds a lock for 2 ms at a time, and two others want it; all three take many short turns at another one.
CONTENDED = r"""#include <pthread.h>
#include <time.h>
#define noinline __attribute__((noinline))
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static volatile long after;
static void nap(long ns) {
  const struct timespec time = {0, ns};
  nanosleep(&time, 0);
}
noinline static void keeper(void) {
  pthread_mutex_lock(&slow);
  nap(2000000);
  pthread_mutex_unlock(&slow);
  ++after;
}
noinline static void wanter(void) {
  pthread_mutex_lock(&slow);
  pthread_mutex_unlock(&slow);
  ++after;
}
noinline static void writer(void) {
  pthread_rwlock_wrlock(&table);
  nap(300000);
  pthread_rwlock_unlock(&table);
  ++after;
}
static void* work(void* keeps) {
  for (int i = 0; i < 60; ++i) {
    if (keeps) keeper(); else wanter();
    nap(100000);
    writer();
  }
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, (void*)(long)(i == 0));
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""


def find_flamegraph():
    """The script by Brendan Gregg: as a command, or where Debian's libdevel-nytprof-perl has it."""
    packaged = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
    return shutil.which("flamegraph.pl") or (packaged if shutil.which("perl") and os.path.exists(packaged) else None)


class Fields:
    """A message of protocol buffers: the values of each field, numbers or bytes."""

    def __init__(self, data):
        self.values, at = {}, 0
        while at < len(data):
            key, at = self.varint(data, at)
            if key & 7 == 0:
                value, at = self.varint(data, at)
            elif key & 7 == 2:
                size, at = self.varint(data, at)
                value, at = data[at:at + size], at + size
                assert len(value) == size
            else:
                raise ValueError(f"wire type {key & 7}")
            self.values.setdefault(key >> 3, []).append(value)

    @staticmethod
    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                return value, at

    def all(self, field):
        return self.values.get(field, [])

    def one(self, field):
        return self.all(field)[0] if self.all(field) else 0

    def packed(self, field):
        numbers, data, at = [], b"".join(self.all(field)), 0
        while at < len(data):
            value, at = self.varint(data, at)
            numbers.append(value)
        return numbers


class Profile:
    """What a pprof file says: (functions, the outermost first; values; site) for each sample."""

    def __init__(self, data):
        whole = Fields(gzip.decompress(data))
        self.texts = [text.decode() for text in whole.all(6)]
        self.types = [self.type(one) for one in whole.all(1)]
        self.period_type = self.type(whole.one(11))
        self.files = {one.one(1): one for one in map(Fields, whole.all(3))}
        self.functions = {one.one(1): one for one in map(Fields, whole.all(5))}
        self.locations = {one.one(1): one for one in map(Fields, whole.all(4))}
        self.samples = [self.sample(Fields(one)) for one in whole.all(2)]

    def type(self, data):
        return tuple(self.texts[Fields(data).one(field)] for field in (1, 2))

    def sample(self, one):
        names = []
        for number in one.packed(1):
            where = self.locations[number]
            assert where.one(2) == 0 or where.one(2) in self.files
            for line in map(Fields, where.all(4)):
                names.append(self.texts[self.functions[line.one(1)].one(2)])
        label = Fields(one.one(3))
        return names[::-1], one.packed(2), self.texts[label.one(2)]


class ProfileFiles(programs.WithPrograms):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.contended = cls.program("contended", CONTENDED)
        cls.runs = {policy: cls.run_all(policy) for policy in ("libc", "mutex", "as-mutex")}

    @classmethod
    def run_all(cls, policy):
        files = {kind: cls.folder / f"{policy}.{kind}" for kind in ("folded", "pprof", "trace", "json")}
        options = [word for kind, file in files.items() for word in ("--" + kind, str(file))]
        done = call("run", "--policy", policy, *options, "--", cls.contended)
        assert done.returncode == 0, done.stderr
        document = load(files["json"].read_text())
        assert complaints(document) == [], complaints(document)
        return document, {kind: file.read_bytes() for kind, file in files.items()}, done.stderr

    def each_run(self):
        for policy, run in self.runs.items():
            with self.subTest(policy=policy):
                yield run

    def test_waits_are_those_of_the_functions_that_waited(self):
        for document, _, _ in self.each_run():
            by_function = {}
            for chain in document["wait_chains"]:
                self.assertEqual(len(chain["frames"]), len(chain["places"]))
                if not chain.get("rest"):
                    name = (chain["frames"][-2], chain["frames"][-1], chain["site"])
                    by_function[name] = by_function.get(name, 0) + chain["wait_ns"]
                    self.assertIn("work", chain["frames"])
                    self.assertRegex(chain["places"][-2], r"contended\.c:\d+$")
            slow = by_function["wanter", "pthread_mutex_lock", "slow in contended"]
            self.assertIn(("writer", "pthread_rwlock_wrlock", "table in contended"), by_function)
            self.assertGreater(slow, 20_000_000)
            self.assertGreater(slow, 4 * by_function.get(("keeper", "pthread_mutex_lock", "slow in contended"), 0))

    def test_holds_are_those_of_the_function_that_held(self):
        for document, _, _ in self.each_run():
            held = {}
            for chain in document["hold_chains"]:
                if chain["site"] == "slow in contended":
                    self.assertEqual(chain["frames"][-1], "pthread_mutex_unlock")
                    held[chain["frames"][-2]] = held.get(chain["frames"][-2], 0) + chain["wait_ns"]
            # A wait counts as a whole for who unlocks last before it ends: the second in line waited for the first, too.
            self.assertGreater(held.get("keeper", 0), 20_000_000, held)

    def test_the_table_names_the_line_that_held(self):
        line = CONTENDED[:CONTENDED.index("pthread_mutex_unlock(&slow)")].count("\n") + 1
        done = call("run", "--", self.contended)
        table = done.stderr[done.stderr.index("who held locks while others waited"):].splitlines()
        self.assertEqual(table[1].split("  ")[-1], "unlocked at; lock site")
        rows = {row.split(None, 2)[2]: float(row.split()[0]) for row in table[2:table.index("")]}
        held = sum(time for row, time in rows.items()
                   if row.startswith(f"keeper@contended.c:{line} from work@contended.c:") and row.endswith("; slow in contended"))
        self.assertGreater(held, 0.02, done.stderr)
        self.assertLessEqual(len(rows), 8)

    def test_chains_add_up_to_what_the_sites_waited(self):
        for document, _, _ in self.each_run():
            for site in document["points"][0]["sites"]:
                chains = [chain for chain in document["wait_chains"] if chain["site"] == site["name"]]
                self.assertEqual(sum(chain["wait_ns"] for chain in chains),
                                 site["wait_ns"] + site.get("failed_wait_ns", 0), site["name"])
                self.assertEqual(sum(chain["waits"] for chain in chains),
                                 site["contended"] + site.get("failed_waits", 0), site["name"])

    def test_a_policy_that_may_hang_a_program_is_warned_of(self):
        warning = 'rwlock = "as-mutex" admits one reader at a time: a program whose readers wait for each other inside a lock hangs'
        for policy, (document, _, table) in self.runs.items():
            with self.subTest(policy=policy):
                self.assertEqual(f"remark: {warning}\n" in table, policy == "as-mutex", table)
                self.assertEqual(warning in document["run"].get("remarks", []), policy == "as-mutex")

    def test_folded_stacks_have_the_weights_of_the_document(self):
        for document, files, _ in self.each_run():
            expected = []
            for chain in document["wait_chains"]:
                if (weight := (chain["wait_ns"] + 500) // 1000) != 0:
                    expected.append((";".join(frame.replace(";", ":") for frame in chain["frames"]), weight))
            found = [line.rsplit(" ", 1) for line in files["folded"].decode().splitlines()]
            self.assertEqual([(stack, int(weight)) for stack, weight in found], expected)

    def test_flamegraph_opens_the_folded_stacks(self):
        if (flamegraph := find_flamegraph()) is None:
            leave(self, "there is no flamegraph.pl")
        document, _, _ = self.runs["libc"]
        done = subprocess.run(["perl", flamegraph, "--countname", "us", "--minwidth", "0", str(self.folder / "libc.folded")],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        drawn = {}
        for name, us in re.findall(r"<title>(.*) \(([0-9,]+) us, [0-9.]+%\)</title>", done.stdout):
            drawn[name] = drawn.get(name, 0) + int(us.replace(",", ""))
        weights = [((chain["wait_ns"] + 500) // 1000, chain["frames"]) for chain in document["wait_chains"]]
        self.assertEqual(drawn["all"], sum(us for us, _ in weights))
        for name in ("work", "wanter", "pthread_mutex_lock"):
            self.assertEqual(drawn[name], sum(us for us, frames in weights if name in frames), name)

    def test_pprof_has_the_samples_of_the_document(self):
        for document, files, _ in self.each_run():
            profile = Profile(files["pprof"])
            self.assertEqual(profile.types, [("contentions", "count"), ("delay", "nanoseconds")])
            self.assertEqual(profile.period_type, ("contentions", "count"))
            self.assertEqual(profile.texts[0], "")
            self.assertEqual(profile.samples, [(chain["frames"], [chain["waits"], chain["wait_ns"]], chain["site"])
                                               for chain in document["wait_chains"]])

    def test_the_trace_has_events_of_the_trace_event_format(self):
        for document, files, _ in self.each_run():
            trace = json.loads(files["trace"])
            events = trace["traceEvents"]
            self.assertEqual(trace["otherData"], {"events": len(events), "events_left_out": 0, "max_events": 100_000})
            last = 0
            for event in events:
                self.assertEqual((event["ph"], type(event["pid"]), type(event["tid"])), ("X", int, int))
                self.assertGreaterEqual(event["ts"], last)
                self.assertGreaterEqual(event["dur"], 0)
                self.assertEqual(event["name"], event["cat"] + " " + event["args"]["site"])
                last = event["ts"]
            waits = [event for event in events if event["cat"] == "wait"]
            self.assertEqual(len(waits), sum(site["contended"] for site in document["points"][0]["sites"]))
            long_holds = [event for event in events if event["cat"] == "hold" and "slow" in event["name"]
                          and event["dur"] > 1900]
            self.assertEqual(len(long_holds), 60)
            self.assertEqual(len({event["tid"] for event in long_holds}), 1)
            self.assertEqual(len({event["tid"] for event in events}), 3)

    def test_the_trace_keeps_to_the_schema_of_its_format(self):
        schema = json.loads((pathlib.Path(__file__).parent / "trace_event.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for _, files, _ in self.each_run():
            trace = json.loads(files["trace"])
            self.assertEqual([error.message for error in validator.iter_errors(trace)], [])
            for key, value in (("dur", None), ("dur", -1), ("tid", "a"), ("ts", "0"), ("ph", "x"), ("name", 1)):
                wrong = {name: it for name, it in {**trace["traceEvents"][0], key: value}.items() if it is not None}
                self.assertFalse(validator.is_valid({**trace, "traceEvents": [wrong]}), (key, value))

    def test_what_a_thread_does_lies_within_or_beside_what_else_it_does(self):
        # Readers of traces draw one above the other; where two overlap in part they drop one.
        for _, files, _ in self.each_run():
            open_until = {}
            events = [(round(1000 * one["ts"]), round(1000 * one["dur"]), one) for one in json.loads(files["trace"])["traceEvents"]]
            for start, length, event in sorted(events, key=lambda one: (one[0], -one[1])):
                ends = open_until.setdefault((event["pid"], event["tid"]), [])
                while ends and ends[-1] <= start:
                    ends.pop()
                self.assertTrue(not ends or start + length <= ends[-1], event)
                ends.append(start + length)

    def test_a_trace_is_bounded_and_says_what_it_left_out(self):
        text = r"""#include <pthread.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        int main(void) {
          for (int i = 0; i < 120000; ++i) pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
          return 0;
        }
        """
        program = self.program("busy", text)
        file = self.folder / "busy.trace"
        done = call("run", "--trace", str(file), "--", program)
        trace = json.loads(file.read_text())
        self.assertEqual(len(trace["traceEvents"]), 100_000)
        self.assertEqual(trace["otherData"]["events_left_out"], 20_000)
        self.assertIn("remark: the trace has the first 100000 waits and holds; 20000 were left out", done.stderr)

    def test_without_buckets_there_are_no_chains(self):
        file = self.folder / "none.json"
        done = call("run", "--bucket", "0", "--json", str(file), "--", self.contended)
        self.assertEqual(done.returncode, 0)
        document = load(file.read_text())
        self.assertEqual(complaints(document), [])
        self.assertFalse({"wait_chains", "hold_chains"} & set(document))
        self.assertNotIn("who held locks", done.stderr)

    def test_one_file_may_be_the_standard_output(self):
        done = call("run", "--folded", "-", "--", self.contended)
        self.assertIn("pthread_mutex_lock ", done.stdout)
        for options in (["--folded", "-", "--pprof", "-"], ["--json", "-", "--trace", "-"]):
            done = call("run", *options, "--", self.contended)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
            self.assertIn(f"{options[2]}: '-' is given twice", done.stderr)

    def test_bad_options_are_refused_before_the_program_starts(self):
        mark = self.folder / "started"
        for options, words in ((["--folded", "/nowhere/x"], "--folded: cannot write '/nowhere/x'"),
                               (["--bucket", "often"], "--bucket: 'often' is not a number from 0 to 1000000000")):
            done = call("run", *options, "--", "/usr/bin/touch", str(mark))
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse(mark.exists())

    def test_go_opens_the_profile(self):
        go = shutil.which("go")
        if go is None:
            leave(self, "there is no go")
        document, _, _ = self.runs["libc"]
        done = subprocess.run([go, "tool", "pprof", "-top", "-unit=ns", str(self.folder / "libc.pprof")],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        total = sum(chain["wait_ns"] for chain in document["wait_chains"])
        self.assertIn(f"Total samples = {total}ns", done.stdout)


if __name__ == "__main__":
    programs.TXSYNC = sys.argv.pop(1)
    unittest.main()
