#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""report_diff_test.py TXSYNC [WAITING_PROGRAM]: flame graphs of who waited and who was waited for, and the comparison of two
documents. WAITING_PROGRAM is absent where the preloaded library is."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

import report_test
import sample_documents as samples
from result_schema import complaints

PROGRAM = None
FRAME = re.compile(r'<g class="mark frame ([^"]*)"><title>([^<]*)</title><rect x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="[0-9.]+"/>'
                   r'(?:<text class="name"[^>]*>([^<]*)</text>)?</g>')
WIDE = 960


def graphs(text):
    """The frames of each flame graph as (look, title, x, y, width, label)."""
    return [[(look, title, float(x), float(y), float(across), label) for look, title, x, y, across, label in FRAME.findall(drawing)]
            for drawing in re.findall(r'<svg role="img" class="flame".*?</svg>', text, re.DOTALL)]


class FlameGraphs(report_test.Pages):
    def with_chains(self, waits, holds=()):
        made = samples.run_with_chains()
        made.update(wait_chains=waits, hold_chains=list(holds))
        self.assertEqual(complaints(made), [])
        return self.page(made)

    @staticmethod
    def chain(frames, wait, site="queue_lock in server", waits=1):
        return {"frames": frames, "places": [""] * len(frames), "site": site, "waits": waits, "wait_ns": wait}

    def test_frames_are_as_wide_as_their_time_and_stand_on_their_callers(self):
        _, text = self.with_chains([self.chain(["main", "read", "pthread_mutex_lock"], 600_000_000), self.chain(["main", "write", "pthread_mutex_lock"], 300_000_000),
                                    self.chain(["main", "read", "pthread_mutex_lock"], 100_000_000, site="other in server")])
        frames = graphs(text)[0]
        self.assertEqual([(title, across) for _, title, _, _, across, _ in frames], [
            ("all waiting: 1.00 s waited, 100 % of all", 960), ("main: 1.00 s waited, 100 % of all", 960), ("read: 700 ms waited, 70 % of all", 672),
            ("pthread_mutex_lock: 700 ms waited, 70 % of all", 672), ("queue_lock in server: 600 ms waited, 60 % of all", 576),
            ("other in server: 100 ms waited, 10 % of all", 96), ("write: 300 ms waited, 30 % of all", 288),
            ("pthread_mutex_lock: 300 ms waited, 30 % of all", 288), ("queue_lock in server: 300 ms waited, 30 % of all", 288)])
        level = {title.split(":")[0]: y for _, title, _, y, _, _ in frames}
        self.assertGreater(level["all waiting"], level["main"])
        self.assertGreater(level["main"], level["read"])
        self.assertEqual(level["read"], level["write"])
        self.assertEqual([x for _, title, x, _, _, _ in frames if title.startswith("write")], [672])

    def test_every_frame_lies_on_its_caller_within_the_drawing(self):
        for name, make in (("chains", samples.run_with_chains), ("sites", samples.run)):
            _, text = self.page(make())
            for frames in graphs(text):
                with self.subTest(document=name):
                    self.assertGreater(len(frames), 3)
                    self.assertLess(len(frames), 260)
                    step = 19
                    for _, title, x, y, across, _ in frames:
                        self.assertLessEqual(x + across, WIDE + 0.2, title)
                        below = [one for one in frames if abs(one[3] - y - step) < 0.1 and one[2] <= x + 0.2 and x + across <= one[2] + one[4] + 0.3]
                        self.assertEqual(bool(below), not title.startswith("all "), title)

    def test_narrow_frames_are_one_that_says_how_many(self):
        chains = [self.chain(["main", "wide", "pthread_mutex_lock"], 900_000_000)] + [self.chain(["main", f"narrow_{i}", "pthread_mutex_lock"], 1_000_000) for i in range(100)]
        _, text = self.with_chains(chains)
        merged = [(title, label) for _, title, _, _, _, label in graphs(text)[0] if "narrow" in title]
        self.assertEqual(merged, [("100 narrow frames together: 100 ms waited, 10 % of all", "… 100 more")])

    def test_labels_are_whole_or_end_in_an_ellipsis(self):
        name = "kyotocabinet::HashDB::accept_bulk<kyotocabinet::Visitor*, unsigned long>"
        for share, expected in ((1.0, f"{name} (db.cpp:70)"), (0.55, name), (0.16, "accept_bulk"), (0.07, "accept…"), (0.02, "")):
            with self.subTest(share=share):
                _, text = self.with_chains([self.chain([f"{name} (db.cpp:70)", "pthread_mutex_lock"], int(share * 1e9)), self.chain(["rest"], int((1 - share) * 1e9))])
                label, title = next((label, title) for _, title, _, _, _, label in graphs(text)[0] if title.startswith("kyoto"))
                self.assertEqual(label.replace("&lt;", "<").replace("&gt;", ">"), expected)
                self.assertIn("(db.cpp:70): ", title)

    def test_deep_chains_lose_their_middle(self):
        _, text = self.with_chains([self.chain([*(f"f{i}" for i in range(1000)), "pthread_mutex_lock"], 1_000_000)])
        titles = [title.split(":")[0] for _, title, _, _, _, _ in graphs(text)[0]]
        self.assertEqual(len(titles), 41)
        self.assertEqual([titles[1], titles[8], titles[9], titles[-3], titles[-1]], ["f0", "f7", "… 963 calls left out", "f999", "queue_lock in server"])

    def test_blame_goes_to_the_code_that_called_and_not_to_wrappers(self):
        wrapped = ["main", "take (a.cpp:7)", "std::lock_guard<std::mutex>::lock_guard (std_mutex.h:3)", "pthread_mutex_lock"]
        page, text = self.with_chains([self.chain(wrapped, 750_000_000, waits=12), self.chain(["main", "give (a.cpp:9)", "pthread_mutex_lock"], 250_000_000)],
                                      [self.chain(["main", "hold (b.cpp:3)", "pthread_mutex_unlock"], 1_000_000_000, waits=1234)])
        rows = [re.sub(r"<[^>]*>", "|", row) for row in text.splitlines() if "pthread_mutex" in row and row.startswith("<tr>")]
        self.assertEqual([[word for word in row.split("|") if word] for row in rows], [
            ["take (a.cpp:7)", "pthread_mutex_lock", "queue_lock in server", "12", "750 ms", "75 %"],
            ["give (a.cpp:9)", "pthread_mutex_lock", "queue_lock in server", "1", "250 ms", "25 %"],
            ["hold (b.cpp:3)", "pthread_mutex_unlock", "queue_lock in server", "1,234", "1.00 s", "100 %"]])
        self.assertIn("waited", page.texts["th"])
        self.assertIn("waited for", page.texts["th"])

    def test_without_chains_the_sites_are_drawn(self):
        page, text = self.page(samples.run())
        self.assertIn("This document has no call chains of waits", text)
        waits, holds = graphs(text)
        self.assertEqual([title.split(":")[0] for _, title, *_ in waits[:2]], ["all waiting", "libkyotocabinet.so.16"])
        self.assertTrue(waits[2][1].endswith("kchashdb.h:800: 9.00 s waited, 61 % of all"), waits[2])
        self.assertTrue(holds[2][1].endswith("kchashdb.h:800: 3.00 s held, 61 % of all"), holds[2])
        self.assertIn("waited for", page.texts["th"])

    def test_a_run_that_never_waited_has_none(self):
        page, text = self.page(samples.small_run(1.0, [("a", 0, 0, 0)]))
        self.assertEqual(graphs(text), [])
        self.assertNotIn("Who waited", page.texts["h2"])

    def test_sites_of_chains_may_be_numbers(self):
        _, text = self.page(samples.small_run(1.0, [("first lock", 1, 1, 1), ("second lock", 1, 1, 1)], wait_chains=[self.chain(["main", "pthread_mutex_lock"], 5, site=1)]))
        self.assertIn("second lock: 5.00 ns waited, 100 % of all", text)

    def test_frames_have_their_places(self):
        chain = {**self.chain(["main", "work", "pthread_mutex_lock"], 1000), "places": ["", "../src/work.cpp:19", ""]}
        _, text = self.with_chains([chain])
        self.assertEqual([title.split(": ")[0] for _, title, *_ in graphs(text)[0]][1:4], ["main", "work (work.cpp:19)", "pthread_mutex_lock"])

    def test_what_is_no_chain_is_refused(self):
        for chains in ([{"frames": "main"}], [{"frames": [1]}], [5], {"frames": ["main"]}, [{"frames": ["main"], "wait_ns": "1"}], [{"frames": ["main"], "places": 5}]):
            with self.subTest(chains=chains):
                made = samples.small_run(1.0, [("a", 1, 1, 1)], wait_chains=chains)
                done = self.call(*self.files(made), "-o", self.folder / "page.html")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, r"\Atxsync report: [^\n]*result\.schema\.json[^\n]*\n\Z")

    def test_amounts_that_cannot_be_drawn_are_left_out(self):
        _, text = self.with_chains([self.chain(["main", "f"], 0), self.chain(["main", "g"], 2**64 - 1), self.chain(["main", "g"], 2**64 - 1)])
        self.assertNotRegex(text, r'="[^"]*(inf|nan)')


class Difference(report_test.Pages):
    def table(self, before, after, *options):
        done = self.call("--diff", *self.files(before, after), *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_sites_stand_beside_each_other_the_greatest_change_first(self):
        table = self.table(samples.run_before(), samples.run_after())
        self.assertIn("before: server -t 4, policy libc\nafter:  server -t 4, policy ticket\n", table)
        self.assertIn("Threads waited for locks 5.09 s before, 2.57 s after (−50 %). Most changed queue_lock in server: 4.00 s, then 1.00 s.\n", table)
        self.assertEqual(re.findall(r"(?m)^(?:before|after) .*  (\S+ in server|cache::\S+)$", table), ["queue_lock in server", "cache::find@cache.cpp:15", "old_lock in server", "new_lock in server", "quiet in server"])
        sites = table[table.index("  site\n"):]
        rows = [line.split() for line in sites.splitlines()[1:4]]
        self.assertEqual(rows[0][:6], ["before", "1,000", "4.00", "s", "–", "50.0"])
        self.assertEqual(rows[1][:6], ["after", "400", "1.00", "s", "–", "12.5"])
        self.assertEqual(rows[2], ["ratio", "0.400", "0.250", "–", "0.250", "0.250", "0.250"])
        self.assertEqual(re.findall(r"(?m)^(new|gone)$", sites), ["gone", "new"])
        self.assertNotIn("a second", table)
        self.assertIn("remark: The policies of the locks differ: libc, and ticket.\n", table)

    def test_waits_that_nobody_counted_are_not_compared(self):
        before = samples.small_run(1.0, [("a", 1000, 4_000_000_000, 5), ("b", 10, 1_000_000_000, 5)])
        after = samples.small_run(1.0, [("a", 0, 0, 5), ("b", 5, 500_000_000, 5)])
        uncounted = after["points"][0]["sites"][0]
        uncounted["unwatched"] = uncounted["acquisitions"]
        table = self.table(before, after)
        self.assertIn("Threads waited for locks 1.00 s before, 500 ms after (−50 %). Most changed b: 1.00 s, then 500 ms.", table)
        self.assertIn("remark: One of the documents, or both, did not count the waits at: a. They are not compared.\n", table)
        rows = [line.split() for line in table[table.index("  a\n"):].splitlines()[1:3]]
        self.assertEqual([row[:3] for row in rows], [["after", "–", "–"], ["ratio", "–", "–"]])
        _, page = self.page(before, after, options=["--diff"])
        self.assertEqual([title.split(" ")[0] for _, title, *_ in graphs(page)[0]], ["all", "b:"])
        del after["points"][0]["sites"][1]
        self.assertIn("No waits can be compared: not both documents counted them.", self.table(samples.small_run(1.0, [("a", 1, 1, 1)]), after))

    def test_no_page_is_made_unless_asked_for(self):
        self.call("--diff", *self.files(samples.run_before(), samples.run_after()))
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), ["0.json", "1.json"])
        self.assertFalse(pathlib.Path("report.html").exists() and pathlib.Path("report.html").stat().st_size == 0)

    def test_runs_of_different_lengths_are_judged_by_the_second(self):
        before = samples.small_run(10.0, [("a", 1000, 1_000_000_000, 5), ("b", 10, 100_000_000, 5)])
        after = samples.small_run(20.0, [("a", 2000, 2_000_000_000, 5), ("b", 40, 400_000_000, 5)])
        table = self.table(before, after)
        self.assertIn("Threads waited for locks 110 ms before, 120 ms after in each second of the run (+9.1 %). Most changed b: 10.0 ms, then 20.0 ms.", table)
        self.assertIn("The runs had different lengths, 10.0 s and 20.0 s", table)
        of_a = table[table.index("  a\n"):]
        self.assertRegex(of_a, r"(?m)^a second +100 +100 ms +2,000,001")
        self.assertRegex(of_a, r"(?m)^ratio +2\.00 +2\.00")
        self.assertRegex(of_a, r"(?m)^a second +1\.00 +1\.00")

    def test_the_page_has_the_same_and_colours_with_signs(self):
        page, text = self.page(samples.run_before(), samples.run_after(), options=["--diff"])
        self.assertEqual(page.texts["h2"], ["Remarks", "Measured", "Lock sites", "Who waited more, who less", "Who was waited for more, who less", "How to reproduce"])
        for words in ("gone", "half or less", "less", "less than 10 % apart", "more", "twice or more", "new"):
            self.assertIn(words, page.texts["text"])
        waits, holds = graphs(text)
        self.assertGreater(len(holds), 10)
        looks = {"less3": "gone", "less2": "−", "less1": "−", "more1": "+", "more2": r"\+|times", "more3": "new", "same": "[+−]|no change"}
        for look, title, *_ in waits + holds:
            self.assertRegex(title, r" before, .* after \(" + f".*({looks[look].replace('+', chr(92) + '+') if look == 'more1' else looks[look]})", look)
        self.assertIn("more3", [look for look, title, *_ in waits if title.startswith("compact_segments")])
        self.assertEqual([label for _, title, *_, label in waits if title.startswith("all waiting")][0][-4:], title_change(waits[0][1]))

    def test_moved_lines_are_the_same_code(self):
        def run(line):
            return samples.small_run(1.0, [(f"f@a.cpp:{line}", 1, 1000, 1)], wait_chains=[FlameGraphs.chain([f"main (a.cpp:{line})", "pthread_mutex_lock"], 1000, site=f"f@a.cpp:{line}")])
        _, text = self.page(run(10), run(13), options=["--diff"])
        titles = [title for _, title, *_ in graphs(text)[0]]
        self.assertEqual(titles[1], "main (a.cpp:13): 1.00 µs before, 1.00 µs after (no change) waited")
        self.assertEqual(len(titles), 4)
        table = self.table(samples.small_run(1.0, [("f@a.cpp:1", 1, 1, 1), ("f@a.cpp:2", 1, 1, 1)]), samples.small_run(1.0, [("f@a.cpp:3", 1, 1, 1)]))
        self.assertEqual(re.findall(r"(?m)^(new|gone)$", table).count("gone"), 2, "which of two it was is not known")

    def test_measurements_of_bench_are_judged_by_their_values(self):
        before = samples.document("bench", points=[samples.point("mutex", [10.0, 11.0]), samples.point("tatas", [10.0, 12.0]), samples.point("mcs", [10.0, 10.5]), samples.point("ticket", [1.0])])
        after = samples.document("bench", points=[samples.point("mutex", [20.0, 21.0]), samples.point("tatas", [11.0, 13.0]), samples.point("mcs", [5.0, 6.0]), samples.point("ticket", [2.0]),
                                                  samples.point("other", [2.0])])
        table = self.table(before, after)
        judged = {line.split()[-3].rstrip(","): line.split()[5] for line in table.splitlines() if "throughput of" in line}
        self.assertEqual(judged, {"mutex": "better", "ticket": "–", "mcs": "worse", "tatas": "overlap"})
        self.assertIn("Of 3 measurements 1 are better, 1 worse; of 1 the values overlap.", table)

    def test_what_cannot_be_compared_is_one_line(self):
        other = samples.document("bench", points=[samples.point("x", [1.0], workload="other")])
        for before, after, says in ((samples.run(), samples.bench(), "are of different kinds, txsync run and txsync bench; --diff takes two of the same"),
                                    (samples.empty(), samples.empty(), "nothing to compare"), (samples.explore(), samples.explore(), "nothing to compare"),
                                    (samples.claims(), other, "nothing in common"), ({**samples.run(), "points": [{"median": "x"}]}, samples.run(), "result.schema.json")):
            with self.subTest(says=says):
                done = self.call("--diff", *self.files(before, after), "-o", self.folder / "page.html")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Atxsync report: [^\n]+\n\Z")
                self.assertIn(says, done.stderr)
                self.assertFalse((self.folder / "page.html").exists())

    def test_other_programs_are_a_remark(self):
        table = self.table(samples.small_run(1.0, [("a", 1, 1, 1)]), samples.small_run(1.0, [("b", 1, 1, 1)], program="client", status=3))
        self.assertIn("remark: The programs or their arguments differ: server -t 4, and client -t 4.\n", table)
        self.assertIn("1.json': the program ended with status 3.\n", table)

    def test_numbers_of_documents_must_be_two(self):
        files = self.files(samples.run_before(), samples.run_after(), samples.run())
        for some in (files[:1], files):
            done = self.call("--diff", *some)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"txsync report: --diff takes two result documents, before and after; given: {len(some)}\n")

    def test_the_page_may_go_to_the_standard_output(self):
        done = self.call("--diff", *self.files(samples.run_before(), samples.run_after()), "-o", "-")
        self.assertEqual(report_test.Page(done.stdout).faults, [])
        self.assertIn("queue_lock in server", done.stderr)

    def test_names_are_harmless(self):
        other = samples.hostile_run()
        other["points"][0]["sites"][0]["name"] = samples.HOSTILE + "\x1b[31m\x9b"
        page, text = self.page(samples.hostile_run(), other, options=["--diff"])
        self.assertEqual(text.count("<script"), 1)
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f]")
        self.assertIn("<script>alert(1)</script>", "".join(page.texts["td"]))
        table = self.table(samples.hostile_run(), other)
        self.assertNotRegex(table, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
        self.assertIn("\\x1b[31m\\xc2\\x9b", table)

    def test_two_runs_of_a_program(self):
        if PROGRAM is None:
            self.skipTest("the preloaded library is not for this build")
        files = []
        for number, microseconds in enumerate(("1000", "4000")):
            files.append(self.folder / f"{number}.json")
            done = subprocess.run([report_test.TXSYNC, "run", "--json", files[-1], "--", PROGRAM, microseconds], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
        before, after = (json.loads(file.read_text(encoding="utf-8")) for file in files)
        table = self.table(before, after)
        self.assertIn("queue_lock in waiting_program", table)
        self.assertRegex(table, r"remark: The programs or their arguments differ: \S*waiting_program 1000, and ")
        self.assertNotRegex(table, r"(?m)^(new|gone)$")
        page, text = self.page(before, after, options=["--diff"])
        self.assertIn("queue_lock in waiting_program", "".join(page.texts["td"]))
        self.assertTrue(any(title.startswith("queue_lock in waiting_program: ") for _, title, *_ in graphs(text)[0]))
        page, text = self.page(before)
        self.assertIn("Who waited", page.texts["h2"])
        self.assertTrue(any(title.startswith("queue_lock in waiting_program: ") for _, title, *_ in graphs(text)[0]))


def title_change(title):
    """The last four letters of what a title says in brackets."""
    return re.search(r"\((.*?)\)", title).group(1)[-4:]


if __name__ == "__main__":
    report_test.TXSYNC = sys.argv.pop(1)
    if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_file():
        PROGRAM = sys.argv.pop(1)
    unittest.main()
