#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""report_in_browser_test.py TXSYNC: pages as Chromium renders them, on a wide screen, on a telephone and in dark colours.
The page is never wider than the window, no text overlaps another, text has contrast, and the script runs without errors.
Also takes a screenshot of each in TXSYNC_SCREENSHOTS, if that names a folder. Skipped without chromium (Debian: chromium)."""

import html
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import sample_documents as samples

TXSYNC = ""
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
VIEWS = {"wide": (1280, []), "telephone": (400, []), "dark": (1280, ["--blink-settings=preferredColorScheme=0"])}

# Runs in each page, which is a frame of one page that hosts them all, since a browser's start takes a second. Its
# result is the text of the host's <pre class=measured>.
MEASURE = """
<script>
addEventListener('load', function () {
  var found = {of: name, width: innerWidth, content: document.documentElement.scrollWidth, overlaps: [], outside: [], faint: [], errors: window.errors,
               ground: getComputedStyle(document.body).backgroundColor, marks: document.querySelectorAll('.mark').length, tips: 0};
  document.querySelectorAll('details').forEach(function (part) { part.open = true; });
  var boxes = [];
  var walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (var node; (node = walker.nextNode());) {
    if (!node.data.trim() || node.parentNode.closest('title,desc')) continue;
    var range = document.createRange();
    range.selectNodeContents(node);
    var rects = node.parentNode.closest('svg') ? [node.parentNode.getBoundingClientRect()] : Array.from(range.getClientRects());
    rects.forEach(function (rect) { boxes.push({text: node.data.trim().slice(0, 40), rect: rect, of: node}); });
    var svg = node.parentNode.closest('svg');
    if (svg) {
      var frame = svg.getBoundingClientRect(), rect = rects[0];
      var cell = node.parentNode.closest('.frame');
      if (cell && rects[0].right > cell.querySelector('rect').getBoundingClientRect().right + 1) found.outside.push('of its frame: ' + node.data);
      if (rect.left < frame.left - 1 || rect.right > frame.right + 1 || rect.top < frame.top - 1 || rect.bottom > frame.bottom + 1) found.outside.push(node.data);
    }
    var style = getComputedStyle(node.parentNode), ratio = contrast(svg ? style.fill : style.color, frame_of(node) || ground(node.parentNode));
    if (ratio < 4.5) found.faint.push(node.data.trim().slice(0, 40) + ' ' + ratio.toFixed(2));
  }
  for (var i = 0; i < boxes.length; i++) for (var j = i + 1; j < boxes.length; j++) {
    var a = boxes[i].rect, b = boxes[j].rect;
    if (boxes[i].of === boxes[j].of) continue;
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2.5)
      found.overlaps.push(boxes[i].text + ' | ' + boxes[j].text);
  }
  document.querySelectorAll('.mark').forEach(function (mark) {
    mark.dispatchEvent(new MouseEvent('mousemove', {clientX: innerWidth - 3, clientY: 3}));
    var tip = document.getElementById('tip'), box = tip.getBoundingClientRect();
    if (!tip.hidden && tip.textContent && box.right <= innerWidth + 1 && box.left >= -1) found.tips++;
  });
  var answer = document.createElement('pre');
  answer.className = 'measured';
  answer.textContent = JSON.stringify(found);
  parent.document.body.appendChild(answer);
  function parts(color) { return color.match(/[0-9.]+/g).map(Number); }
  function frame_of(node) {
    var frame = node.parentNode.closest('.frame');
    return frame && getComputedStyle(frame.querySelector('rect')).fill;
  }
  function ground(element) {
    for (; element; element = element.parentElement) {
      var color = getComputedStyle(element).backgroundColor;
      if (parts(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  }
  function light(color) {
    var c = parts(color).slice(0, 3).map(function (v) { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  }
  function contrast(one, other) {
    var a = light(one), b = light(other);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }
});
</script>
"""
ERRORS = "<script>window.errors = []; addEventListener('error', function (e) { window.errors.push(e.message); });</script>"


def png_size(path):
    return struct.unpack(">II", path.read_bytes()[16:24])


class InBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def browse(self, *options):
        arguments = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                     f"--user-data-dir={self.folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND", *options]
        return subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True).stdout

    def page(self, name):
        sources = []
        for number, make in enumerate(samples.PAIRS.get(name) or [samples.SAMPLES[name]]):
            sources.append(self.folder / f"{name}.{number}.json")
            sources[-1].write_text(json.dumps(make()), encoding="utf-8")
        page = self.folder / f"{name}.html"
        options = ["--diff"] if name in samples.PAIRS else []
        subprocess.run([TXSYNC, "report", *options, *sources, "-o", page], check=True, capture_output=True, timeout=60)
        return page

    def measured(self, views):
        """What all pages say of themselves in these views, by document and view."""
        options = VIEWS[views[0]][1]
        frames = []
        for name in (*samples.SAMPLES, *samples.PAIRS):
            text = self.page(name).read_text(encoding="utf-8")
            text = text.replace("<style>", ERRORS + "<style>", 1).replace("</body>", MEASURE + "</body>")
            frames += [f'<iframe name="{name}.{view}" style="width:{VIEWS[view][0]}px;height:1200px;border:0" srcdoc="{html.escape(text)}"></iframe>'
                       for view in views]
        host = self.folder / f"{views[0]}.host.html"
        host.write_text(f'<!doctype html><body style="margin:0">{"<br>".join(frames)}</body>', encoding="utf-8")
        dom = self.browse(*options, "--window-size=1280,1200", "--dump-dom", host.as_uri())
        answers = [json.loads(html.unescape(text)) for text in re.findall(r'<pre class="measured">(.*?)</pre>', dom, re.DOTALL)]
        return {tuple(one["of"].split(".")): one for one in answers}

    def test_pages_lie_well_in_every_view(self):
        measured = self.measured(["wide", "telephone"]) | self.measured(["dark"])
        for name in (*samples.SAMPLES, *samples.PAIRS):
            for view, (width, _) in VIEWS.items():
                with self.subTest(document=name, view=view):
                    found = measured[name, view]
                    self.assertEqual(found["width"], width)
                    self.assertLessEqual(found["content"], width, "the page is wider than the window")
                    self.assertEqual(found["overlaps"], [])
                    self.assertEqual(found["outside"], [], "text beyond the edge of its drawing")
                    self.assertEqual(found["faint"], [], "text with a contrast under 4.5")
                    self.assertEqual(found["errors"], [])
                    self.assertEqual(found["tips"], found["marks"], "marks that say nothing on hover, or beyond the window")
                    self.assertEqual(found["ground"], "rgb(20, 23, 27)" if view == "dark" else "rgb(255, 255, 255)")

    def test_screenshots(self):
        kept = os.environ.get("TXSYNC_SCREENSHOTS")
        folder = pathlib.Path(kept) if kept else self.folder
        for name in ("tune", "bench"):
            page = self.page(name)
            for view, (width, options) in VIEWS.items():
                with self.subTest(document=name, view=view):
                    shot = folder / f"{name}-{view}.png"
                    self.browse(*options, f"--window-size={width},1600", f"--screenshot={shot}", page.as_uri())
                    self.assertEqual(png_size(shot), (width, 1600))
                    self.assertGreater(shot.stat().st_size, 10_000, "an empty picture")

    def test_prints(self):
        for name in ("tune", "bench"):
            with self.subTest(document=name):
                file = self.folder / f"{name}.pdf"
                self.browse(f"--print-to-pdf={file}", "--no-pdf-header-footer", self.page(name).as_uri())
                self.assertTrue(file.read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: chromium is missing (Debian: chromium)")
        sys.exit(77)
    TXSYNC = sys.argv.pop(1)
    unittest.main()
