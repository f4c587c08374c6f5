#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""report_test.py TXSYNC: pages from documents of every verb are well-formed, whole, small and harmless; what is no document is
refused in one line."""

import html.parser
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import sample_documents as samples

TXSYNC = ""
VOID = {"meta", "br", "link", "img", "hr", "input"}
MOST_BYTES = 400_000


class Page(html.parser.HTMLParser):
    """Reads a page strictly: every tag is closed in order, and nothing refers to anything outside."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.texts, self.tags = [], [], {}, []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"never closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        for name, value in attributes:
            outside = name in ("src", "srcset", "xlink:href", "action", "data") or (name == "href" and not value.startswith("#"))
            if outside or name.startswith("on") or "url(" in (value or ""):
                self.faults.append(f"<{tag} {name}={value!r}>")
        if tag in ("link", "img", "iframe", "object", "embed", "base", "form"):
            self.faults.append(f"<{tag}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]} at {self.getpos()}")
        else:
            self.open.pop()

    def handle_data(self, data):
        for tag in self.open[-1:]:
            self.texts.setdefault(tag, []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


class Pages(unittest.TestCase):
    """Makes pages, and holds what is true of each."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *arguments):
        return subprocess.run([TXSYNC, "report", *map(str, arguments)], capture_output=True, text=True, timeout=60)

    def files(self, *documents):
        files = []
        for number, document in enumerate(documents):
            files.append(self.folder / f"{number}.json")
            files[-1].write_text(json.dumps(document), encoding="utf-8")
        return files

    def page(self, *documents, options=()):
        done = self.call(*options, *self.files(*documents), "-o", self.folder / "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "page.html").read_text(encoding="utf-8")
        page = Page(text)
        self.assertEqual(page.faults, [])
        self.assertLess(len(text.encode()), MOST_BYTES)
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        return page, text


class Report(Pages):
    def test_every_verb_gives_a_page_with_its_sections(self):
        wanted = {"bench": ["Notices", "arraybench: throughput", "Lock sites", "Machine", "How to reproduce"],
                  "one-thread": ["arraybench: throughput", "Machine", "How to reproduce"],
                  "sweep": ["Sweep", *["arraybench: throughput"] * 12, "Machine", "How to reproduce"],
                  "run": ["Notices", "kccachetest: wall time", "What attempts did when they ended", "Lock sites", "Who waited", "Who was waited for", "Machine", "How to reproduce"],
                  "chains": ["Notices", "kccachetest: wall time", "What attempts did when they ended", "Lock sites", "Who waited", "Who was waited for", "Machine", "How to reproduce"],
                  "tune": ["Notices", "What was compared", "Lock sites", "Machine", "How to reproduce"],
                  "claims": ["Claims", "arraybench: throughput", "Machine", "How to reproduce"],
                  "lab": ["overflow: random lines in sets", "types: types of words", "Machine", "How to reproduce"],
                  "sim": ["./mine: simulated time", "Hardware transactions", "Where attempts ended", "What attempts did when they ended", "Machine", "How to reproduce"],
                  "explore": ["Notices", "Faults found", "What was explored", "How it was explored", "Machine", "How to reproduce"],
                  "explore-program": ["Faults found", "What was explored", "How it was explored", "Machine", "How to reproduce"],
                  "uneven": ["arraybench: throughput", "mapbench: throughput", "counters: throughput", "Machine", "How to reproduce"],
                  "empty": ["Machine", "How to reproduce"]}
        for name, make in samples.SAMPLES.items():
            with self.subTest(document=name):
                page, _ = self.page(make())
                self.assertEqual(page.texts["h2"], wanted[name])
                self.assertEqual(len(page.all("h1")), 1)

    def test_attempts_of_sites_have_a_table(self):
        page, text = self.page(samples.SAMPLES["run"]())
        self.assertIn("Critical sections and atomic blocks as hardware transactions", page.texts["h3"])
        self.assertRegex(text, r"<td>conflict 20 %, lock-busy 5(\.0)? %</td>")
        self.assertIn("estimated from one section in 32, with its standard error", text)
        _, without = self.page(samples.SAMPLES["tune"]())
        self.assertNotIn("Critical sections and atomic blocks as hardware transactions", without)

    def test_blocks_have_a_table_by_path(self):
        page, text = self.page(samples.SAMPLES["run"]())
        self.assertIn("Atomic blocks by path", page.texts["h3"])
        self.assertRegex(text, r'<td class="w">orders\.submit</td><td class="n">90[^0-9<]*000</td><td class="n">2[^0-9<]*500</td><td class="n">3</td>'
                               r"<td>auto</td><td>hardware</td><td>310 cycles in hardware, 450 cycles in software; 30000 of 120000 attempts aborted, "
                               r"24000 by capacity</td>")
        self.assertRegex(text, r"orders\.&lt;report&gt;</td>.*<td>software</td><td>hardware transactions do not commit here</td>")
        _, without = self.page(samples.SAMPLES["tune"]())
        self.assertNotIn("Atomic blocks by path", without)

    def test_the_verdict_is_the_first_heading(self):
        expected = {"bench": r"Failed: tatas, ticket\. On arraybench with 16 threads, \S+ had the best median of 17: [0-9.]+ \S+ sections/s\. "
                             r"txsync::mutex was 0\.\d+ \(from least to greatest .*\) times as good as the best of the others, .*",
                    "run": r"Threads waited 14\.7 s for locks in total, 61 % of it at kyotocabinet::HashDB::accept_bulk.*",
                    "tune": r"'mutex; .* is 1\.33 times as fast as what you have .*", "claims": r"1 of 2 claims holds; missed: A1-4\.",
                    "lab": r"Simulated: of 2 numbers in 2 experiments 1 were hit \(1 of 1 held out, 0 of 1 that the model was fitted to\) and 1 missed\.",
                    "explore": r"Explored on a simulated machine: 1 of 5 tests failed: mcs; not found: the fault put into seeded:missing-fence; "
                               r"could not be explored: ticket\.",
                    "explore-program": r"Explored on a simulated machine: wake_up_test fails in schedule 39 \(deadlock: nothing can run\)\.",
                    "empty": r"Hardware transactions do not work here: every one aborts\."}
        for name, pattern in expected.items():
            with self.subTest(document=name):
                page, _ = self.page(samples.SAMPLES[name]())
                self.assertRegex("".join(page.texts["h1"]), rf"\A{pattern}\Z")

    def test_drawings_have_titles_descriptions_and_tables(self):
        for name, drawings in {"bench": 2, "one-thread": 1, "sweep": 14, "run": 3, "chains": 3, "tune": 4, "claims": 1, "lab": 1, "uneven": 3, "explore": 0, "empty": 0}.items():
            with self.subTest(document=name):
                page, text = self.page(samples.SAMPLES[name]())
                self.assertEqual(len(page.all("svg")), drawings)
                self.assertEqual(len(page.all("desc")), drawings)
                self.assertGreaterEqual(len(page.all("table")), 1 if drawings else 0)
                self.assertEqual(text.count("<figcaption>"), drawings)

    def test_numbers_have_units_and_intervals(self):
        page, text = self.page(samples.SAMPLES["one-thread"]())
        self.assertIn("median, million sections/s", page.texts["th"])
        self.assertIn("interval, million sections/s", page.texts["th"])
        self.assertIn("they cover at least 95 %", text)
        self.assertIn("fairness", page.texts["th"])
        self.assertEqual(page.texts["td"].count("0.25"), len(samples.LOCKS + samples.PEERS), "the median of the repetitions'")
        self.assertIn("119 runs<small>of 17 subjects</small>", text)
        page, text = self.page(samples.SAMPLES["bench"]())
        self.assertNotIn("fairness", page.texts["th"])
        self.assertIn(" runs<small>of 17 subjects at 5 numbers of threads</small>", text)
        self.assertIn("they cover 93.8 % where repetitions are fewest", text)
        page, _ = self.page(samples.SAMPLES["run"]())
        self.assertIn("9.00 s", page.texts["td"])
        self.assertIn("130 µs", page.texts["td"])

    def test_shares_and_waits_stand_beside_the_throughput(self):
        made = samples.claims()
        made["points"][0].update(fairness={"slowest_share": [0.31, 0.32, 0.33], "busier_half_share": [0.87, 0.88, 0.89]},
                                 waits={"p99.9_ns": [900, 950, 970], "max_ns": [4e6, 5e6, 9e6], "cpu_s_per_s": [1.2, 1.3, 1.4]})
        page, _ = self.page(made)
        for head in ("slowest thread", "busier half", "wait p99.9", "longest wait", "CPUs waiting"):
            self.assertIn(head, page.texts["th"])
        for cell in ("0.32", "0.88", "950 ns", "5.00 ms", "1.3"):
            self.assertIn(cell, page.texts["td"])
        page, _ = self.page(samples.claims())
        self.assertNotIn("longest wait", page.texts["th"])

    def test_experiments_have_the_papers_numbers_beside_the_simulated_ones(self):
        page, text = self.page(samples.lab())
        for cell in ("48", "10", "+38 points", "fit", "miss", "at least 75", "not simulated", "Table 2.5"):
            self.assertIn(cell, page.texts["td"])
        self.assertIn("capacity on haswell-i7-4770, htm.taken_ways = 0. A miss is a result.", text)
        self.assertIn("warm, paper at 96: 10", text)
        self.assertEqual(text.count("<path d="), 1, "the paper's marks are not connected")
        self.assertNotIn("Hardware transactions", page.texts["h2"])

    def test_what_was_explored_says_how_and_how_to_see_it_again(self):
        page, text = self.page(samples.explore_program())
        self.assertIn("txsync replay wake_up_test@delay-bounded@39 -- ./wake_up_test", page.texts["pre"])
        self.assertIn("wake_up_test@delay-bounded@39", page.texts["td"])
        self.assertIn("waiting: thread 0 in park &lt; pthread_cond_wait &lt; main (wake_up_test.cpp:16)", text)
        for words in ("random, priorities, delay-bounded; schedules take turns", "who goes on is drawn", "threads have drawn priorities", "passed over", "sequentially consistent:", "at most 1,000 of each",
                      "of more than 10,000,000 accesses", "with store buffers, or on machines with weaker memory orders than x86", "ideal (simulated)"):
            self.assertIn(words, text)
        self.assertNotIn("All times are simulated", text, "there is no time on this page")
        page, text = self.page(samples.explore())
        self.assertIn("x86-TSO: stores wait in a buffer", text)
        self.assertIn("spurious-aborts, tight-capacity", page.texts["dd"])
        self.assertEqual(page.texts["h3"], ["mcs", "seeded:lost-wake-up"], "what should not have failed is first")
        self.assertEqual(text.count('<tr class="bad">'), 3)
        self.assertIn("ticket: the simulation was ended by a signal: Killed", page.texts["li"])
        self.assertIn("21,245<small>orders of execution, of 5 tests</small>", text)

    def test_that_nothing_was_found_is_no_proof(self):
        page, text = self.page(samples.explore_program(found=False))
        self.assertEqual(page.texts["h1"], ["Explored on a simulated machine: nothing wrong was found in wake_up_test with 1,000 schedules."])
        self.assertEqual(page.all("h1")[0]["class"], "verdict")
        self.assertNotIn("Faults found", page.texts["h2"])
        seeded = samples.explored_document(("explore",), [("a", 7, "a@random@7", {"seeded": True, "right": True}), ("b", 9, None, {"right": True})])
        page, _ = self.page(seeded)
        self.assertEqual(page.texts["h1"], ["Explored on a simulated machine: nothing wrong was found in b with 9 schedules; the fault put into a was found."])
        page, _ = self.page(samples.explored_document(("explore",), []))
        self.assertEqual(page.texts["h1"], ["Explored on a simulated machine: nothing came to an end."])

    def test_a_lab_is_good_by_what_was_held_out_only(self):
        fit, held, closed = ("fit", True), ("held out", True), ("closed form", True)
        for claims, words, look in (
                ([fit, fit], "2 of 2 claims hold (none is held out, 2 of 2 that the model was fitted to).", "verdict"),
                ([fit, closed], "2 of 2 claims hold (none is held out, 1 of 1 that the model was fitted to, 1 of 1 that follow from the model).", "verdict"),
                ([fit, held], "2 of 2 claims hold (1 of 1 held out, 1 of 1 that the model was fitted to).", "verdict good"),
                ([held, fit, ("held out", False), ("held out", False)],
                 "2 of 4 claims hold (1 of 3 held out, 1 of 1 that the model was fitted to); missed: B-4 (2).", "verdict bad")):
            with self.subTest(claims=claims):
                page, _ = self.page(samples.lab_claims(*claims))
                self.assertEqual(page.texts["h1"], ["Simulated: " + words])
                self.assertEqual(page.all("h1")[0]["class"], look)
                self.assertIn("the model is", page.texts["th"])
        page, _ = self.page(samples.claims())
        self.assertNotIn("the model is", page.texts["th"])

    def test_an_undecided_claim_neither_holds_nor_is_missed(self):
        for outcomes, words, look in (
                (["holds", "undecided"], "1 of 2 claims holds; undecided: A1-3.", "verdict"),
                (["undecided", "missed", "undecided"], "0 of 3 claims hold; missed: A1-3; undecided: A1-3 (2).", "verdict bad"),
                (["holds", "holds"], "2 of 2 claims hold.", "verdict good"),
                ([None, None], "2 of 2 claims hold.", "verdict good")):
            with self.subTest(outcomes=outcomes):
                made = samples.claims()
                one = made["claims"][0]
                made["claims"] = [dict(one, outcome=outcome, holds=outcome in ("holds", None)) for outcome in outcomes]
                if outcomes[0] is None:  # as versions without outcomes wrote it
                    for claim in made["claims"]:
                        del claim["outcome"]
                page, text = self.page(made)
                self.assertEqual(page.texts["h1"], [words])
                self.assertEqual(page.all("h1")[0]["class"], look)
                self.assertEqual(text.count('<tr class="open">'), outcomes.count("undecided"))
                self.assertEqual(text.count('<tr class="bad">'), outcomes.count("missed"))
                for outcome in set(outcomes) - {None}:
                    self.assertIn(outcome, page.texts["td"])

    def test_numbers_of_threads_stand_to_scale(self):
        _, text = self.page(samples.uneven())
        powers, steps, many = text.split("<svg ")[1:]

        def places(drawing):
            return [float(x) for x in re.findall(r'<circle cx="([0-9.]+)"', drawing.split('<g class="line ')[1])]

        at = places(powers)
        self.assertEqual(len(at), 7)
        for threads, x in zip((1, 2, 4, 8, 18, 36, 56), at):
            self.assertAlmostEqual((x - at[0]) / (at[-1] - at[0]), math.log(threads) / math.log(56), delta=0.01)
        self.assertIn(">threads (logarithmic scale)<", powers)
        at = places(steps)
        for threads, x in zip((10, 20, 40, 50), at):
            self.assertAlmostEqual((x - at[0]) / (at[-1] - at[0]), (threads - 10) / 40, delta=0.01)
        self.assertIn(">threads<", steps)
        ticks = re.findall(r'<text class="tick" [^>]*>([^<]+)<', many)
        self.assertEqual((ticks[0], ticks[-1]), ("1", "1,024"))
        self.assertNotIn("1,022", ticks, "it would lie on the last one")
        lengths = samples.lab()
        for point, at in zip(lengths["lab"]["experiments"][0]["curves"][0]["points"], (0, 300, 3000, 30000)):
            point["at"] = at
        del lengths["lab"]["experiments"][0]["curves"][1]
        _, text = self.page(lengths)
        at = places(text)
        self.assertAlmostEqual(at[1] - at[0], at[2] - at[1], delta=0.2)
        self.assertAlmostEqual(at[2] - at[1], at[3] - at[2], delta=0.2)
        self.assertIn(">lines written (logarithmic scale, 0 apart)<", text)

    def test_what_made_no_attempts_is_told(self):
        document = samples.sim()
        nothing = {"attempts": 0, "commits": 0, "aborts": {}}
        for name, more in (("elided", {"speculates": True}), ("plain", {})):
            document["points"].append({**document["points"][0], "subject": name, **nothing, **more})
        page, text = self.page(document)
        self.assertIn('<td>elided</td><td colspan="5">no attempts</td>', text)
        self.assertEqual(page.texts["td"].count("no attempts"), 1)

    def test_what_was_simulated_says_what_the_machine_leaves_out(self):
        words = "All times are simulated, on models that leave out branch prediction and instruction caches."
        for backend in ("native", "simulated"):
            with self.subTest(backend=backend):
                document = samples.lab()
                document["machine"] = dict(document["machine"], backend=backend)
                page, _ = self.page(document)
                self.assertEqual(words in page.texts.get("li", []), backend == "simulated")

    def test_what_was_refused_is_there_with_its_figures(self):
        _, made = self.page(samples.tune())
        reason = "a thread waited too long in 4 of 4 rounds: 1.5 s at main+0x1f, 20 ms under what you have"
        self.assertIn(f"<p>'tatas-file' was refused: {reason}.</p>".replace("'", "&#39;"), made.replace("'", "&#39;"))
        row = next(line for line in made.splitlines() if "<td class=\"w\">tatas-file</td>" in line)
        self.assertIn('<tr class="bad">', row)
        self.assertRegex(row, r"<td[^>]*>1\.50 s</td>")

    def test_comparisons_that_the_time_ended_are_named_with_their_rounds(self):
        document = samples.tune()
        page, text = self.page(document)
        self.assertNotIn("The time was up", text)
        document["tune"].update(out_of_time=True, cut_short=[{"phase": "whole program", "rounds": 2, "of": 10}, {"phase": "site a@b.cpp:1", "rounds": 0, "of": 10}])
        page, _ = self.page(document)
        self.assertIn("The time was up: whole program ran 2 of 10 rounds, and its intervals cover only these.", page.texts["li"])
        self.assertIn("The time was up: site a@b.cpp:1 was not tried.", page.texts["li"])

    def test_a_sweep_is_a_map_for_each_machine(self):
        page, text = self.page(samples.sweep())
        self.assertEqual(text.count('class="mark cell '), 2 * 6 * 2 * 3)
        captions = [words for words in page.texts["figcaption"] if "part of the best" in words]
        self.assertEqual(captions, ["throughput of arraybench, machine = haswell-i7-4770: each as a part of the best, by threads",
                                    "throughput of arraybench, machine = sapphire-rapids: each as a part of the best, by threads"])
        self.assertIn("ints · writes", page.texts["text"], "and not rounds, which is the same everywhere")
        self.assertIn("elided_mcs, ints · writes: 16,384 · 10, threads: 8: median 3.800 million sections/s, the best has 4.000", text)
        self.assertRegex(text, r'class="mark cell m0"><title>eager_mcs, ints · writes: 64 · 400, threads: 8[^§]*?>0\.20<')
        page, text = self.page(samples.bench())
        self.assertNotIn("Sweep", page.texts["h2"], "one set of parameters is none")

    def test_where_attempts_ended_is_told_with_the_data(self):
        _, text = self.page(samples.sim())
        self.assertIn("add_to (told.cpp:52) met add_to (told.cpp:53); false sharing: a and b lie on one line", text)
        self.assertIn("attempt: add_to (told.cpp:52) &lt; main (told.cpp:80)", text)
        self.assertIn("met by: add_to (told.cpp:53) &lt; operator() (told.cpp:83)", text)
        self.assertIn("counters+8, line 0x52ddc0<", text)
        self.assertIn("fill (told.cpp:61); 8 of 8 ways of set 12 written by this attempt", text)
        self.assertIn("heap block of 64 bytes from main (told.cpp:70), line 0x100330300 and 4 more<", text)

    def test_what_attempts_were_doing_is_told_in_shares(self):
        _, text = self.page(samples.run())
        for by, share, code in (("line", "75 %", "put (db.cpp:12)"), ("line", "25 %", "put (db.cpp:19)"), ("function", "100 %", "put"),
                                ("caller", "75 %", "put from serve"), ("caller", "25 %", "(not known)"),
                                ("line and cause", "25 %", "put (db.cpp:19): unknown")):
            self.assertRegex(text, rf'<td>{by}</td><td class="n">{share.replace(" ", r"(?:.0)? ")}</td><td class="w">{re.escape(code)}</td>')
        _, simulated = self.page(samples.sim())
        self.assertIn('<td class="w">add_to from main</td>', simulated)
        self.assertNotIn("<td>line and cause</td>", simulated, "the causes are not known")

    def test_how_to_reproduce_is_a_line_for_the_shell(self):
        page, text = self.page(samples.SAMPLES["run"]())
        self.assertIn("txsync run --policy mutex -- kccachetest wicked 'it'\\''s'", page.texts["pre"])
        self.assertIn("0.1.0, commit 0123456789ab", text)

    def test_texts_of_documents_are_texts(self):
        for name, document in {"hostile": samples.hostile(), "tune": samples.hostile_tune(), "lab": samples.hostile_lab(), "run": samples.hostile_run(),
                               "sim": samples.hostile_sim(), "explore": samples.hostile_explore()}.items():
            with self.subTest(document=name):
                page, text = self.page(document)
                self.assertEqual(text.count("<script"), 1)
                self.assertNotIn("<b ", text)
                self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f]")
                self.assertIn("<script>alert(1)</script>", "".join("".join(parts) for parts in page.texts.values()))

    def test_several_documents_have_contents(self):
        page, text = self.page(*(make() for make in samples.SAMPLES.values()))
        self.assertEqual([a["href"] for a in page.all("a")], [f"#r{i + 1}" for i in range(len(samples.SAMPLES))])
        self.assertEqual([a["id"] for a in page.all("article")], [f"r{i + 1}" for i in range(len(samples.SAMPLES))])

    def test_the_same_documents_give_the_same_page(self):
        self.assertEqual(self.page(samples.bench())[1], self.page(samples.bench())[1])

    def test_what_is_no_document_is_refused_in_one_line(self):
        good = samples.bench()
        cases = {"not-json": ("{", "it is not JSON"), "list": ("[]", "schema"), "other": ('{"a": 1}', "schema"),
                 "newer": (json.dumps({**good, "schema": 2}), "its schema is 2; allowed: 1"),
                 "points": (json.dumps({**good, "points": 5}), '"points"'),
                 "inner": (json.dumps({**good, "points": [{"values": "x"}]}), "result.schema.json"),
                 "value": (json.dumps({**good, "points": [{"values": [None]}]}), "result.schema.json"),
                 "deep": ("[" * 100_000, "it is not JSON"), "bytes": ("\x00\x01", "it is not JSON"), "empty": ("", "it is not JSON")}
        page = self.folder / "page.html"
        page.write_text("old", encoding="utf-8")
        for name, (text, says) in cases.items():
            with self.subTest(case=name):
                file = self.folder / f"{name}.json"
                file.write_text(text, encoding="utf-8")
                done = self.call(file, "-o", page)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Atxsync report: [^\n]+\n\Z")
                self.assertIn(says, done.stderr)
                self.assertIn(name, done.stderr)
                self.assertEqual(page.read_text(encoding="utf-8"), "old")

    def test_files_that_cannot_be_read_or_written(self):
        good = self.folder / "good.json"
        good.write_text(json.dumps(samples.empty()), encoding="utf-8")
        for arguments, says in (([], "a result document is missing"), ([self.folder / "none.json"], "cannot read"), ([self.folder], "cannot read"),
                                ([good, "-o", "/nowhere/page.html"], "cannot write")):
            with self.subTest(arguments=arguments):
                done = self.call(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, r"\Atxsync report: [^\n]+\n\Z")
                self.assertIn(says, done.stderr)

    def test_the_page_may_go_to_the_standard_output(self):
        good = self.folder / "good.json"
        good.write_text(json.dumps(samples.empty()), encoding="utf-8")
        done = self.call(good, "-o", "-")
        self.assertEqual(Page(done.stdout).faults, [])
        self.assertTrue(re.search("</html>\n\\Z", done.stdout))


if __name__ == "__main__":
    TXSYNC = sys.argv.pop(1)
    unittest.main()
