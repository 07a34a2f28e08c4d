#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What about tells at a glance is what the commands that it gathers from tell one by one.

These (cut, path, refs, size) are proven by naive algorithms elsewhere; here every number of about is held
against theirs: of the largest classes, and of objects of each.
"""

import collections
import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, LONG, SAMPLE, SHOP, Tap, cairn  # noqa: E402
from hprofmade import Made  # noqa: E402

CLASSES = 14 if LONG else 6


def ask(path, *lines):
    """The answers of one run; None for all of them where one line is refused."""
    words = [w for line in lines for w in ("-x", line)]
    run = cairn("--format", "json", *words, path)
    values, at, decoder = [], 0, json.JSONDecoder()
    while at < len(run.out):
        value, at = decoder.raw_decode(run.out, at)
        values.append(value)
        while run.out[at:at + 1].isspace():
            at += 1
    return values if len(values) == len(lines) else [None] * len(lines)


def parts(about):
    found = collections.defaultdict(list)
    for row in about["fields"]:
        found[row["part"]].append(row)
    return found


def rows_of(value):
    return value["fields"] if isinstance(value, dict) else value


def total(rows, column):
    return sum(r[column] or 0 for r in rows_of(rows))


class Checked:
    def __init__(self, path):
        self.path, self.wrong, self.done = path, [], 0

    def same(self, what, got, want):
        self.done += 1
        if got != want:
            self.wrong.append("%s: %s, elsewhere %s" % (what, got, want))


def check_class(c, name, brief, names):
    about, cut, size = ask(c.path, "about '%s'" % name, "cut '%s'" % name, "size '%s'" % name)
    if not about or about.get("objects", 1) == 1:
        return
    p = parts(about)
    c.same(name + " objects", about["objects"], size["objects"])
    c.same(name + " shallow", about["shallow"], size["shallow"])
    c.same(name + " retained", about["retained"], size["retained"])
    c.same(name + ", all cut", p["cut"][-1]["freed"], size["retained"])
    for row in p["cut"][:-1]:  # one reference, or a few, for all of them
        freed = ask(c.path, row["value"])[0]
        c.same(name + ": " + row["value"], row["freed"], freed["freed"] if freed else None)
    shown = [r for r in p["if cut"] if r["objects"] is not None]
    want = {r["class"]: (r["objects"], r["freed"]) for r in rows_of(cut)}
    for r in shown:
        if [x["class"] for x in rows_of(cut)].count(r["name"]) == 1:
            c.same("%s if cut: %s" % (name, r["name"]), (r["objects"], r["shallow"]), want[r["name"]])
    for r in p["referrers"]:
        holder = re.sub(r"(\[…\]|\.[^.\[\]]+)$", "", re.sub(r"\[…\]$", "", r["name"]))
        full = [n for n in names if n in (r["name"], holder) or brief(n) in (r["name"], holder)]
        if name == "java.lang.Class":  # cut also clears what the dump implies: an object's hold on its class
            continue
        if r["freed"] is None or len(full) != 1 or r["name"].startswith(("static ", "class ")):
            continue
        answer = ask(c.path, "cut '%s>%s'" % (full[0], name))[0]
        if answer is not None:
            c.same("%s without those of %s" % (name, full[0]), r["freed"], answer["freed"])


def check_object(c, address):
    about, path, x = ask(c.path, "about %s" % address, "path %s" % address, "x %s" % address)
    if not about:
        return
    p = parts(about)
    c.same(address + " retained", about["retained"], x["retained"])
    steps = p["path from root"]
    if path:  # about begins with the last static field, and leaves out the middle of a long one
        n = len(steps) if all(s["freed"] is not None for s in steps) else 5
        c.same(address + " path frees", [s["freed"] for s in steps[-n:]], [s["freed"] for s in path[-n:]])
        c.same(address + " path retains", [s["retained"] for s in steps[-n:]], [s["retained"] for s in path[-n:]])
    for row in p["cut"]:
        freed = ask(c.path, row["value"])[0]
        c.same(address + ": " + row["value"], row["freed"], freed["freed"] if freed else None)
    below = ask(c.path, "size %s" % address)[0]
    if below and len(p["if cut"]) and not any(r["objects"] is None for r in p["if cut"]):
        c.same(address + " if cut", total(p["if cut"], "shallow"), below["retained"])
        c.same(address + " objects if cut", total(p["if cut"], "objects"), below["retained_objects"])


def check(tap, path, what):
    c = Checked(path)
    histo = ask(path, "histo")[0]
    names = [r["class"] for r in histo]
    java = "java.lang.Object" in names

    def brief(name):
        return name.rsplit(".", 1)[1] if java and "." in name else name
    once = [n for n in names if names.count(n) == 1]
    for name in once[:CLASSES]:
        check_class(c, name, brief, names)
        objects = ask(path, "ls '%s' | head 2" % name)[0] or []
        for row in objects[-1:]:
            check_object(c, row["address"])
    tap.none(c.wrong[:8], c.done, "%s: %d figures of about are those of cut, path, size and x" % (what, c.done), 21)


def check_collections(tap):
    """People read referrers that are the arrays and nodes of collections by what holds these: as many references as
    they have elements of the class, which entries reads another way."""
    shop = ask(SHOP, "ls com.acme.shop.Shop")[0][0]["address"]
    sessions = next(r["address"] for r in ask(SHOP, "refs " + shop)[0] if r["field"] == "sessions")
    for path, name, wanted in (
            (SHOP, "com.acme.shop.Session", {"AuditLog.ENTRIES[]": "com.acme.shop.AuditLog.ENTRIES",
                                             "Shop.sessions[]": sessions}),
            (GO, "main.Session", {"main.sessions[]": "main.sessions"})):
        of_class = {row["address"] for row in ask(path, "ls " + name)[0]}
        run = cairn("--format", "md", "-x", "about " + name, path).out
        got = dict(re.findall(r"^\| *referrers *\| *(.+?) *\| *([\d,]+) *\|", run, re.M))
        for label, collection in wanted.items():
            want = sum(row["address"] in of_class for row in ask(path, "entries " + collection)[0])
            tap.equal(got.get(label), str(want),
                      "%s: referrers of %s: %s" % (os.path.basename(path), name, label))
        tap.ok(got and not any("Node" in label or "…" in label for label in got), "none is called by a part", got)


def check_most(tap, folder):
    """Of many references by one class the row tells how the holder of most of them is held, wherever it stands."""
    m = Made()
    m.cls("app.Item", [("I", "n")])
    few = [m.array("java.lang.Object", [m.new("app.Item")]) for _ in range(3)]
    many = m.array("java.lang.Object", [m.new("app.Item") for _ in range(50)])
    held = {"few%d" % i: array for i, array in enumerate(few)}
    m.cls("app.Few", statics=[("L", name, array) for name, array in held.items()])
    m.cls("app.Many", statics=[("L", "ITEMS", many)])
    path = os.path.join(folder, "most.hprof")
    with open(path, "wb") as f:
        f.write(m.bytes())
    row = parts(ask(path, "about app.Item")[0])["referrers"][0]
    tap.equal((row["references"], row["value"]), (53, "static app.Many.ITEMS"), "the holder of most references is named")


def main():
    tap = Tap()
    check_collections(tap)
    with tempfile.TemporaryDirectory() as folder:
        check_most(tap, folder)
    for path in (SAMPLE, SHOP, GO):
        check(tap, path, os.path.basename(path))
    if DUMPS:
        for path in sorted(glob.glob(os.path.join(DUMPS, "grove", "*.hprof")))[:1]:
            check(tap, path, os.path.basename(path))
    tap.done()


main()
