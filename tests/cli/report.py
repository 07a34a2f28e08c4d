#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""report: a page that needs nothing but itself, whose texts are no markup, whose areas are what objects retain."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, GO, SAMPLE, SHOP, Tap  # noqa: E402

VOID = {"meta", "rect"}
PLACES = {"src", "data", "action", "background", "srcset", "poster", "style"}


class Page(html.parser.HTMLParser):
    """What stands in it, and what is wrong with it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.ids, self.links, self.tags, self.words, self.rects = [], [], [], [], [], "", []
        self.within, self.labels, self.scrolls, self.unscoped = [], [], [], 0
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append("open at the end: %s" % self.open)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = dict(attributes)
        self.within += ["%s in %s" % (tag, self.open[-1])] if self.open else []
        self.labels += [given["aria-labelledby"]] if "aria-labelledby" in given else []
        self.scrolls += [given.get("role")] if given.get("class") == "table" and given.get("tabindex") == "0" else []
        self.unscoped += tag == "th" and given.get("scope") not in ("col", "row", "rowgroup")
        self.faults += ["%s of %s" % (a, tag) for a in given if a in PLACES or a.startswith("on")]
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if tag == "rect" and given.get("class", "").startswith("t"):
            self.rects.append(float(given["width"]) * float(given["height"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append("</%s> in %s" % (tag, self.open))

    def handle_data(self, data):
        self.words += data


def report(dump, name, *words):
    subprocess.run([CAIRN, "--no-config", "-x", "report -o '%s' %s" % (name, " ".join(words)), dump], check=True,
                   capture_output=True)
    with open(name, encoding="utf-8") as f:
        return f.read()


def asked(dump, line):
    run = subprocess.run([CAIRN, "--no-config", "--format", "json", "-x", line, dump], check=True, capture_output=True)
    return json.loads(run.stdout)


def check_page(tap, dump, folder):
    what = os.path.basename(dump)
    text = report(dump, os.path.join(folder, "heap.html"))
    page = Page(text)
    tap.none(page.faults, page.tags, "%s: every tag is closed, no attribute loads or runs anything" % what)
    tap.ok(page.tags and not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(page.tags) and
           "url(" not in text and "@import" not in text, "%s: nothing is fetched, no script is there" % what)
    tap.ok(len(set(page.ids)) == len(page.ids) and page.links and all(link[1:] in page.ids for link in page.links),
           "%s: each section has its link" % what, (page.ids, page.links))
    heads = [tag for tag in page.tags if tag in ("h1", "h2", "h3")]
    tap.ok(heads[0] == "h1" and set(heads[1:]) == {"h2"} and page.within.count("thead in table") ==
           page.within.count("tbody in table") == page.tags.count("table") and not page.unscoped and
           all(i in page.ids for ids in page.labels for i in ids.split()) and
           page.scrolls == ["region"] * (page.tags.count("table") + page.tags.count("svg")) and
           page.tags.count("svg") == 1, "%s: headings, headers of tables, and what scrolls by keys has a name" % what,
           (heads, page.labels, page.scrolls))
    words = " ".join(page.words.split())
    for row in asked(dump, "leaks"):
        tap.ok(" ".join(row["sentence"].split()) in words, "%s: the suspect %s" % (what, row["class"]), words[:2000])
    tops = [row for row in asked(dump, "heap -depth 1")]
    all_bytes = asked(dump, "info")["reachable_shallow"]
    wanted = [row["retained"] for row in tops if row["retained"] >= all_bytes / 200][:24]
    whole = 1000 * 520
    tap.ok(len(wanted) == len(page.rects) and all(abs(area / whole - n / all_bytes) < 0.003
           for area, n in zip(page.rects, wanted)), "%s: areas are what is retained" % what,
           ([n / all_bytes for n in wanted], [area / whole for area in page.rects]))


def check_redacted(tap, folder):
    """A customer's name, the system property of the user's name, the path of the dump."""
    planted = ("/srv/shop", folder)
    whole, redacted = (report(SHOP, os.path.join(folder, name), *words)
                       for name, words in (("a.md", ()), ("b.md", ("-redact",))))
    for name in "a.txt", "b.html":
        redacted += report(SHOP, os.path.join(folder, name), "-redact")
    tap.ok("/srv/shop" in whole.replace("\\", "") and "/srv/shop" not in redacted.replace("\\", ""), "texts of values are left out")
    tap.ok(os.path.dirname(SHOP) in whole.replace("\\", "") and os.path.dirname(SHOP) not in redacted.replace("\\", ""),
           "and the dump's path", planted)
    tap.ok("com.acme.shop.Order" in redacted, "names of classes stay")


def check_escaped(tap, folder):
    dump = os.path.join(folder, "<b onload=x>&\033[31m.hprof")
    shutil.copy(SHOP, dump)
    page = Page(report(dump, os.path.join(folder, "c.html")))
    tap.ok("<b onload=x>&" in page.words and not page.faults and "b" not in page.tags and "\033" not in page.words,
           "the dump's name is text", page.faults)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for dump in SHOP, GO, SAMPLE:
            check_page(tap, dump, folder)
        check_redacted(tap, folder)
        check_escaped(tap, folder)
        text = subprocess.run([CAIRN, "--no-config", "-x", "report", SHOP], check=True, capture_output=True).stdout.decode()
        tap.equal(text, report(SHOP, os.path.join(folder, "d.txt")), "what a pipe gets is what the file has")
        titles = re.findall(r"^(.+)\n-+$", text, re.M)
        tap.equal(titles, re.findall(r"^## (.+)$", report(SHOP, os.path.join(folder, "e.md")), re.M),
                  "text and Markdown have the same sections")
        bad = subprocess.run([CAIRN, "--no-config", "-x", "report -o %s/x.csv" % folder, SHOP], capture_output=True)
        tap.ok(bad.returncode == 2 and b"(use .txt, .md or .html)" in bad.stderr, "other endings are none", bad)
        tap.ok(not os.path.exists(os.path.join(folder, "x.csv")), "and nothing was written")
    tap.done()


main()
