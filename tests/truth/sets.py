#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows and sets, against sets of Python put together from the lists of single objects.

Every row of every grouped table must stand for exactly the objects that it counts, found here by
going through all of them; random expressions of sets must give what Python's sets give.
"""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, SOURCE, Tap, cairn  # noqa: E402

DATA = os.path.join(SOURCE, "data")
HPROF = os.path.join(DATA, "shop.hprof")
PHD = os.path.join(DATA, "heapdump.20261121.101500.4711.0001.phd")
ROWS = 40  # of each table, so many are opened


def answers(dump, lines):
    """The tables that a script of command lines prints."""
    run = cairn("--format", "json", "-f", "-", dump, stdin=("\n".join(lines) + "\n").encode())
    if run.err.strip():
        raise AssertionError("%s: %s" % (dump, run.err))
    decoder, at, out, text = json.JSONDecoder(), 0, [], run.out
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        out.append(value)
        while text[at:at + 1].isspace():
            at += 1
    return out


class Objects:
    """All objects of a dump, and their classes, one by one."""

    def __init__(self, dump):
        self.dump = dump
        rows, classes = answers(dump, ["ls *", "histo -all"])
        self.all = {r["address"]: r for r in rows}
        self.classes = classes
        self.ambiguous = len({c["class"] for c in classes}) != len(classes)
        self.of = {}
        for c in classes:
            self.of.setdefault(c["class"], []).append(c)

    def where(self, keep):
        """Addresses of objects whose class row satisfies keep; names here belong to one class each,
        or to several that agree."""
        return {a for a, r in self.all.items() if any(keep(c) for c in self.of[r["class"]])}


def members(dump, table, rows, before=()):
    """The table, and the addresses behind each of its first rows."""
    shown = answers(dump, list(before) + [table])[-1]
    # an empty row cannot be opened
    which = [i for i, r in enumerate(shown[:rows])
             if r.get("objects", r.get("instances", r.get("count")))]
    script = list(before)
    # the table again before each row, as %N means the last one; with one column it is still the row
    for i in which:
        script += [table + " | cut %s" % list(shown[0])[0], "ls %%%d" % (i + 1)]
    lists = answers(dump, script)[1::2]
    return [shown[i] for i in which], [{o["address"] for o in x} for x in lists]


def package(name):
    base = name.split("[")[0]
    if "." in base.split("/")[0]:
        return base.split("/")[0].rsplit(".", 1)[0]
    primitive = base in ("byte", "char", "int", "long", "short", "boolean", "float", "double")
    return "<primitive>" if primitive and name.count("[") < 2 else "<default>"


def same(tap, name, rows, got, want, count="objects"):
    wrong = []
    for row, g, w in zip(rows, got, want):
        if g != w:
            wrong.append("%s: %d objects, not %d" % (row, len(g), len(w)))
        elif count and row.get(count) != len(g):
            wrong.append("%s: it says %s and holds %d" % (row, row.get(count), len(g)))
    tap.none(wrong[:5], rows, "%s: %d rows" % (name, len(rows)))


def check_histograms(tap, o, name, extra=""):
    inside = set(o.all)
    if extra:
        inside = {x["address"] for x in answers(o.dump, ["ls com.acme.*"])[0]}
    rows, got = members(o.dump, "histo %s -by package" % extra, ROWS, KEEP)
    same(tap, name + " by package", rows, got,
         [o.where(lambda c, p=r["package"]: package(c["class"]) == p) & inside for r in rows])
    rows, got = members(o.dump, "histo %s" % extra, ROWS, KEEP)
    same(tap, name + " by class", rows, got,
         [{a for a, x in o.all.items() if x["class"] == r["class"]} & inside
          if len(o.of[r["class"]]) == 1 else g for r, g in zip(rows, got)])
    rows, got = members(o.dump, "histo %s -by loader" % extra, ROWS, KEEP)
    same(tap, name + " by loader", rows, got,
         [o.where(lambda c, w=r["loader"]: c["loader"] == w) & inside if not o.ambiguous else g
          for r, g in zip(rows, got)])
    union = set().union(*got)
    tap.ok(union == inside and sum(map(len, got)) == len(inside),
           "%s by loader: every object is in one row" % name)


KEEP = ["$acme = ls com.acme.*"]


def check_groups(tap, o, name, values):
    rows, got = members(o.dump, "roots -by kind", 9)
    kinds = answers(o.dump, ["roots"])[0]
    same(tap, name + ": kinds of roots", rows, got,
         [{k["address"] for k in kinds if k["kind"] == r["kind"]} for r in rows])
    rows, got = members(o.dump, "loaders | sort -classes", 9)
    same(tap, name + ": loaders", rows, got,
         [o.where(lambda c, w=r["address"]: c["loader"] == w) if not o.ambiguous else g
          for r, g in zip(rows, got)], "instances")
    top = answers(o.dump, ["dom"])[0]
    for by, key in (("class", lambda x: x), ("package", package)):
        rows, got = members(o.dump, "dom -by " + by, 9)
        same(tap, "%s: top of the dominator tree by %s" % (name, by), rows, got,
             [{x["address"] for x in top if key(x["class"]) == r[by]} for r in rows])
    big = max(top, key=lambda x: x["children"])["address"]
    below = answers(o.dump, ["dom " + big])[0]
    rows, got = members(o.dump, "dom %s -by class" % big, ROWS)
    same(tap, name + ": below an object by class", rows, got,
         [{x["address"] for x in below if x["class"] == r["class"]} for r in rows])
    rows, got = members(o.dump, "top -by package", 9)
    same(tap, name + ": largest packages", rows, got,
         [o.where(lambda c, p=r["package"]: package(c["class"]) == p) for r in rows])
    holders = [x["address"] for x in o.all.values() if x["class"] == "java.lang.Class"][:1]
    rows, got = members(o.dump, "refs %s -by class" % holders[0], 20)
    single = answers(o.dump, ["refs " + holders[0]])[0]
    same(tap, name + ": references by class", rows, got,
         [{x["address"] for x in single if x["class"] == r["class"] and
           x["direction"] == r["direction"]} for r in rows])
    if not values:
        return
    texts = {}
    for s in answers(o.dump, ["strings"])[0]:
        texts.setdefault(s["value"], set()).add(s["address"])
    rows, got = members(o.dump, "dups", ROWS)
    same(tap, name + ": texts that several Strings have", rows, got,
         [texts[r["value"]] for r in rows], "count")


def check_holders(tap, o, name, dominator, pattern, skip):
    """holders, by climbing the tree for every object by itself."""
    ids = [x["address"] for x in answers(o.dump, ["ls " + pattern])[0]]
    want = {}
    for a in ids:
        up = dominator.get(a)
        if a not in dominator:
            continue
        while up and skip and o.all[up]["class"].startswith(skip):
            up = dominator[up]
        row = want.setdefault(o.all[up]["class"] if up else "<roots>", (set(), set()))
        row[1].add(a)
        if up:
            row[0].add(up)

    def size(addresses):
        return sum(o.all[a]["shallow"] for a in addresses)
    line = "holders '%s'%s" % (pattern, skip and " -skip '%s*'" % skip)
    rows, got = members(o.dump, line, ROWS)
    named = {r["class"]: r for r in answers(o.dump, [line])[0]}
    # classes of one name from several loaders have a row each
    once = {c: w for c, w in want.items() if len(o.of.get(c, [0])) == 1}
    wrong = [c for c, (up, held) in once.items() if c not in named or
             (named[c]["objects"], named[c]["held"], named[c]["shallow"],
              named[c]["held_shallow"]) != (len(up), len(held), size(up), size(held))]
    tap.none(wrong[:5], once, "%s: %s: %d classes" % (name, line, len(once)))
    same(tap, "%s: %s" % (name, line), rows, got,
         [want[r["class"]][0] if r["class"] in once else g for r, g in zip(rows, got)])


def check_tree(tap, o, name, sets):
    """What hangs on the dominator tree, and what does not: that no root reaches."""
    tree = answers(o.dump, ["dom -depth 4000000000"])[0]
    dominator = {x["address"]: x["dominator"] for x in tree}
    for pattern, skip in sets:
        check_holders(tap, o, name, dominator, pattern, skip)
    live, dead, some = answers(o.dump, ["histo -live", "histo -unreachable", "ls * -dead"])
    gone = set(o.all) - set(dominator)
    tap.ok({x["address"] for x in some} == gone, "%s: ls -dead: %d objects" % (name, len(gone)))
    for rows, which, word in ((live, set(dominator), "live"), (dead, gone, "unreachable")):
        count, shallow = {}, {}
        for a in which:
            c = o.all[a]["class"]
            count[c] = count.get(c, 0) + 1
            shallow[c] = shallow.get(c, 0) + o.all[a]["shallow"]
        got, got_shallow = {}, {}
        for r in rows:
            got[r["class"]] = got.get(r["class"], 0) + r["objects"]
            got_shallow[r["class"]] = got_shallow.get(r["class"], 0) + r["shallow"]
        tap.ok((got, got_shallow) == (count, shallow),
               "%s: histo -%s: %d classes" % (name, word, len(count)))
    top = max(tree[:200], key=lambda x: x["children"])["address"]
    walked, known = answers(o.dump, ["size " + top, "dom | head 1", "size " + top])[::2]
    below = {top}
    for x in tree:  # what stands above comes first
        if x["dominator"] in below:
            below.add(x["address"])
    tap.ok(walked == known and known["retained_objects"] == len(below) and
           known["retained"] == sum(o.all[a]["shallow"] for a in below),
           "%s: size of an object, by walking, by the tree and by hand" % name, str((walked, known)))


def check_why(tap, o, name, hold):
    """How much hangs on inferred roots alone, by a search from the others.  hold: loaders keep their
    classes without a reference."""
    addresses = sorted(o.all)
    edges = dict(zip(addresses, answers(o.dump, ["refs %s -out" % a for a in addresses])))
    edges = {a: {x["address"] for x in rows} for a, rows in edges.items()}
    for c in o.classes if hold else []:
        if c["loader"] and c["class_address"]:
            edges[c["loader"]].add(c["class_address"])
    roots = answers(o.dump, ["roots"])[0]
    seen, todo = set(), [r["address"] for r in roots if r["certainty"] == "exact"]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += edges[at]
    lines = ["why"]
    at = [i for i, r in enumerate(answers(o.dump, lines)[0]) if r["what"] == "roots"][0]
    rows, got = answers(o.dump, lines + ["ls %%%d" % (at + 1)])
    left = set(o.all) - seen
    tap.ok(rows[at]["certainty"] == "inferred" and rows[at]["objects"] == len(left) and
           rows[at]["shallow"] == sum(o.all[a]["shallow"] for a in left) and
           {x["address"] for x in got} == left and left,
           "%s: why: %d objects hang on inferred roots alone" % (name, len(left)), str(rows[at]))


def check_paths(tap, o, name, pattern):
    objects = [x["address"] for x in answers(o.dump, ["ls " + pattern])[0]]
    ways = []
    for address, way in zip(objects, answers(o.dump, ["path " + a for a in objects])):
        chain = []
        for step in way:
            here = o.all[step["address"]]
            mirror = here["class"] == "java.lang.Class" and here["value"]
            chain.append("class " + here["value"] if mirror else here["class"])
        ways.append((address, chain))
    for option in ("", " -r"):
        rows, got = members(o.dump, "paths %s%s" % (pattern, option), 60)
        want, above = [], []
        for r in rows:
            above[r["depth"]:] = [r["class"]]
            want.append({a for a, c in ways
                         if (c[::-1] if option else c)[:len(above)] == above})
        same(tap, "%s: paths to %s%s" % (name, pattern, option), rows, got, want)


def check_algebra(tap, o, name, seed):
    rng = random.Random(seed)
    names = ["$a", "$b", "java.lang.*", "com.acme.*", "%2-3", "%1,4", "java.lang.String"]
    byclass = answers(o.dump, ["histo"])[0]

    def of(classes):
        return {a for a, x in o.all.items() if x["class"] in classes}

    def starts(prefix):
        return {a for a, x in o.all.items() if x["class"].startswith(prefix)}
    rows = [r["class"] for r in byclass]
    one = sorted(o.all)[rng.randrange(len(o.all))]
    value = {"$a": starts("com.acme."), "$b": of(["java.lang.String", rows[0]]),
             "java.lang.*": starts("java.lang."), "com.acme.*": starts("com.acme."),
             "%2-3": of(rows[1:3]), "%1,4": of([rows[0], rows[3]]),
             "java.lang.String": of(["java.lang.String"]), one: {one}}
    names.append(one)

    def make(depth):
        """A random expression with its value; 0: a sum, 1: a product, 2: a single set."""
        kind = rng.randrange(3) if depth else 2
        if kind == 2:
            word = rng.choice(names)
            return word, value[word], 2
        left, x, kx = make(depth - 1)
        right, y, ky = make(depth - 1)
        if kind == 1:
            left = left if kx else rng.choice(["( %s )", "(%s)"]) % left
            right = right if ky == 2 else "( %s)" % right
            return left + " & " + right, x & y, 1
        right = right if ky else "(%s )" % right
        how = rng.choice("+-")
        return "%s %s %s" % (left, how, right), x | y if how == "+" else x - y, 0

    made = [make(4) for _ in range(120)]
    lines = ["$a = com.acme.*", "$b = %s + java.lang.String" % rows[0]]
    for text, _, _ in made:
        lines += ["histo", "$c = " + text, "ls $c"]
    out = answers(o.dump, lines)[1::2]
    wrong = [(t, len(v), len(g)) for (t, v, _), g in zip(made, out)
             if {x["address"] for x in g} != v]
    tap.none(wrong[:3], out, "%s: %d expressions" % (name, len(made)), len(made))
    some = [m for m in made if m[1]][:20]
    out = answers(o.dump, lines[:2] + [x for t, _, _ in some for x in ("histo", "size " + t)])[1::2]
    wrong = [(t, g) for (t, v, _), g in zip(some, out)
             if g["objects"] != len(v) or g["shallow"] != sum(o.all[a]["shallow"] for a in v)]
    tap.none(wrong[:3], out, "%s: sizes of %d expressions" % (name, len(some)), max(1, len(some)))


def main():
    tap = Tap()
    for dump, name, values in ((HPROF, "HPROF sample", True), (PHD, "PHD sample", False)):
        o = Objects(dump)
        check_histograms(tap, o, name + ": histogram")
        check_histograms(tap, o, name + ": histogram of a set", "$acme")
        check_groups(tap, o, name, values)
        check_paths(tap, o, name, "com.acme.shop.Session")
        check_tree(tap, o, name, [("byte[]" if values else "char[]", ""),
                                  ("java.lang.String", "java."), ("com.acme.*", "com.acme.shop.")])
        if not values:
            check_why(tap, o, name, True)
        for seed in range(3):
            check_algebra(tap, o, name, seed)
    garbage = os.path.join(DUMPS, "grove", "grove-tiny.hprof")
    if DUMPS and os.path.exists(garbage):
        check_tree(tap, Objects(garbage), "a dump with garbage",
                   [("byte[]", "java.lang.String"), ("java.util.*", "java.util.")])
    else:
        tap.skip("a dump with garbage", "needs CAIRN_DUMPS")
    tap.done()


main()
