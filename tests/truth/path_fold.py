#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plumbing of paths, folded anew from each step of the path.

Each step is what other programs get, and paths.py proves it; people get the rows that are checked here.  The rule is
written anew, from names of classes and fields: which classes are collections is the list of layouts.txt, all else is
said by the steps, by classes and by x.  The rows that people get must be those of the rule, and those not marked as
folded; what a row frees and retains is said of the same step; a list's element is named by its number, a map's entry
by its key, a static field with its class.  No row of paths is a node, and its counts are those of the rows that are
left of the tree with each step.
"""

import html
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, DUMPS, GO, Graph, LONG, Run, SAMPLE, SHOP, SOURCE, Tap, some  # noqa: E402

OBJECTS = 120 if LONG else 24
LISTS = ("java.util.ArrayList", "java.util.Vector", "java.util.concurrent.CopyOnWriteArrayList",
         "java.util.Arrays$ArrayList", "java.util.PriorityQueue")


def known():
    """Classes of collections, those made of another or showing it, and those that are their own first node."""
    plain, wrappers, nodes = set(), set(), set()
    with open(os.path.join(SOURCE, "src/analysis/describe/layouts.txt"), encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) > 1 and not line.startswith("#"):
                plain.add(words[0])
                if words[1] in ("wrapper", "view", "joined"):
                    wrappers.add(words[0])
                if "store=this" in words:
                    nodes.add(words[0])
    return plain, wrappers, nodes


PLAIN, WRAPPERS, NODES = known()
PATTERNS = [(re.compile(".*".join(re.escape(part) for part in line.split("*")) + "$"), line)
            for line in sorted(PLAIN) if "*" in line]


def line_of(name):
    """The line of layouts.txt of a class, its first word; None: it has none."""
    return name if name in PLAIN else next((line for regex, line in PATTERNS if regex.match(name)), None)


def ask(path, *lines):
    words = [w for line in lines for w in ("-x", line)]
    run, values, at = Run([CAIRN, "--format", "json", *words, path]), [], 0
    decoder = json.JSONDecoder()
    while at < len(run.out):
        value, at = decoder.raw_decode(run.out, at)
        values.append(value)
        while run.out[at:at + 1].isspace():
            at += 1
    return values


def for_people(path, line, columns):
    """The cells that people read."""
    run = Run([CAIRN, "--format", "md", "-x", "%s | cut %s" % (line, columns), path])
    rows = [re.split(r" ?(?<!\\)\| ?", row)[1:-1] for row in run.out.splitlines() if row.startswith("|")]
    return [[html.unescape(re.sub(r"\\(.)", r"\1", c)).strip() for c in row] for row in rows[2:]]


class Classes:
    def __init__(self, path):
        self.above, self.mirror = {}, {}
        classes = Graph.of_dump(path, "-n").classes
        for address, (name, loader, superclass, _, _) in classes.items():
            self.above.setdefault(name, classes[superclass][0] if superclass in classes else None)
            self.mirror["0x%x" % address] = (name, loader and "0x%x" % loader)

    def chain(self, name):
        names = []
        while name and len(names) < 64:
            names.append(name)
            name = self.above.get(name)
        return names

    def is_array(self, name):
        array = name.endswith("[]") if self.java() else name.startswith("[]") and not name.endswith(" header")
        return array and not self.is_part(name)

    def java(self):
        return "java.lang.Object" in self.above

    def is_part(self, name):
        """Declared within the class of a collection, or an array of such; of Go a map's tables and buckets."""
        if re.match(r"map\[.* (buckets|table)$", name):
            return True
        return any(line_of(name[:m.start()]) for m in re.finditer(r"\$", name))

    def line(self, name):
        """Of its nearest superclass that has one."""
        return next((line_of(c) for c in self.chain(name) if line_of(c)), None)

    def is_collection(self, name):
        if not self.java():
            return re.match(r"(map\[|chan )", name) is not None and not self.is_part(name)
        return not name.endswith("[]") and self.line(name) is not None

    def made_of(self, holder, name):
        """Is what a holder references a collection's array or node, or the collection that it wraps?"""
        if self.is_part(name):
            return self.is_collection(holder) or self.is_part(holder) or (
                self.is_array(holder) and name.startswith("map["))
        if not self.is_collection(holder):
            return False
        first = self.line(holder)
        return self.is_array(name) or (self.is_collection(name) and first in WRAPPERS) or \
            (first in NODES and self.line(name) in NODES)


def fold(c, rows):
    """The numbers of the steps that people see."""
    n = len(rows)
    is_class = [r["address"] in c.mirror for r in rows]
    loads = [is_class[i] or "java.lang.ClassLoader" in c.chain(rows[i]["class"]) for i in range(n)]
    part = [0 < i < n - 1 and c.made_of(rows[i - 1]["class"], rows[i]["class"]) for i in range(n)]
    listed = [False] * n
    for k in range(1, n):
        loader = is_class[k] and c.mirror[rows[k]["address"]][1]
        near = [i for i in range(max(0, k - 8), k) if rows[i]["address"] == loader]
        for i in range(near[-1] + 1 if near else k, k):
            listed[i] = True

    def begins(k):
        while k and (loads[k - 1] or listed[k - 1]):
            k -= 1
        return 0 if k == 1 else k
    shown = [not part[i] and not listed[i] for i in range(n)]
    for i in range(1, n):
        first = begins(i)
        if is_class[i - 1] and (rows[i]["field"] or "").startswith("static "):
            shown[first:i] = [False] * (i - first)
        elif is_class[i] and not first:
            shown[:i] = [False] * i
    shown[n - 1] = True
    return [i for i in range(n) if shown[i]]


def near(words, number):
    """Is a size as people read it that number?"""
    m = re.match(r"[~≥>=]*([\d.]+)([KMGT]?)", words.replace(",", ""))
    if number is None or not m:
        return number is None and not m
    least = float(m.group(1)) * 1024 ** " KMGT".index(m.group(2) or " ")
    return abs(least - number) <= (0.051 * 1024 ** " KMGT".index(m.group(2)) if "." in words else
                                   0.51 * 1024 ** " KMGT".index(m.group(2))) if m.group(2) else least == number


def key_of(path, node):
    for row in ask(path, "x %s" % node)[0]["fields"]:
        if row["name"] == "key":
            return row
    return None


def label(path, c, rows, above, at):
    """What the field of a seen step must be; None: that is not known here."""
    field, holder = rows[at]["field"], rows[at - 1]
    if holder["address"] in c.mirror and (field or "").startswith("static "):
        return "static %s.%s" % (c.mirror[holder["address"]][0].rsplit(".", 1)[-1], field[len("static "):])
    if rows[at]["address"] in c.mirror and above != at - 1:
        loader = c.mirror[rows[at]["address"]][1]
        return "<loaded>" if loader and any(r["address"] == loader for r in rows[above or 0:at]) else None
    if above is None or above == at - 1:
        return field or ""
    if at == above + 2 and holder["class"] == "java.lang.Object[]" and \
            any(name in LISTS for name in c.chain(rows[above]["class"])):
        return field
    if above is not None and c.is_part(holder["class"]) and not c.is_part(rows[at]["class"]) and \
            holder["class"].startswith("java.util.") and not holder["class"].endswith("[]"):
        key = key_of(path, holder["address"])
        if key and len(key["value"]) < 40:
            return "key " + key["value"] if key["address"] == rows[at]["address"] else "[%s]" % key["value"]
    return None


def check(path, chance):
    c, wrong, done = Classes(path), [], 0
    classes = [row["class"] for row in ask(path, "histo")[0]]
    for name in chance.sample(classes, min(OBJECTS, len(classes))):
        of_class = ask(path, "ls '%s' | head 40" % name)
        if not of_class or not of_class[0]:
            continue
        to = chance.choice(of_class[0])["address"]
        answer = ask(path, "path %s" % to)
        if not answer:
            continue
        rows = answer[0]
        if len(rows) > 1000:  # a row each of so many links
            continue
        done += 1
        shown = fold(c, rows)
        people = for_people(path, "path %s" % to, "step retained freed field root")
        if [str(rows[i]["step"]) for i in shown] != [p[0] for p in people]:
            wrong.append("path %s: steps %s, want %s" % (to, [p[0] for p in people], [rows[i]["step"] for i in shown]))
            continue
        if [i for i in range(len(rows)) if not rows[i]["folded"]] != shown:
            wrong.append("path %s: marked as folded are others" % to)
        if len(for_people(path, "path %s -unfolded" % to, "step")) != len(rows):
            wrong.append("path %s -unfolded has not each step" % to)
        for k, i in enumerate(shown):
            want = label(path, c, rows, shown[k - 1] if k else None, i) if i else ""
            if want is not None and people[k][3] not in (want, "?" if not want else want):
                wrong.append("path %s, step %d: %s, want %s" % (to, i + 1, people[k][3], want))
            if not near(people[k][1], rows[i]["retained"]) or not near(people[k][2], rows[i]["freed"]):
                wrong.append("path %s, step %d: %s, want %s and %s" % (to, i + 1, people[k], rows[i]["retained"],
                                                                       rows[i]["freed"]))
        if people[0][4].lstrip("~") != (rows[0]["root"] or ""):
            wrong.append("path %s: root %s, want %s" % (to, people[0][4], rows[0]["root"]))
    return wrong, done


def check_merged(path, chance):
    """Of objects of one class: the rows at which paths end are as many objects, and nodes have no rows."""
    c, wrong, done = Classes(path), [], 0
    classes = [row["class"] for row in ask(path, "histo")[0] if not c.is_part(row["class"])]
    for name in chance.sample(classes, min(OBJECTS // 4, len(classes))):
        every = ask(path, "paths '%s'" % name)
        if not every:
            continue
        people = for_people(path, "paths '%s'" % name, "depth objects class")
        done += 1
        count = [int(re.sub(r"\D", "", p[1])) for p in people]
        depth = [int(p[0]) for p in people]
        inner = [sum(count[k] for k in range(i + 1, len(people)) if depth[k] == depth[i] + 1 and
                     all(d > depth[i] for d in depth[i + 1:k])) for i in range(len(people))]
        if sum(n for n, d in zip(count, depth) if d == 0) != sum(r["objects"] for r in every[0] if r["depth"] == 0):
            wrong.append("paths %s: %s objects" % (name, count[:3]))
        # where a path ends is the object itself: the rows of its class have as many more than those below them
        ends = sum(n - below for n, below, p in zip(count, inner, people) if n > below)
        if ends != sum(n for n, d in zip(count, depth) if d == 0):
            wrong.append("paths %s: %d of %d end" % (name, ends, sum(count)))
        held = [(people[i], people[k]) for k in range(len(people)) for i in range(k - 1, -1, -1)
                if depth[i] == depth[k] - 1 and all(d > depth[i] for d in depth[i + 1:k])]
        for above, below in held:
            upper, lower = (cell.rsplit("  ", 1)[-1] for cell in (above[2], below[2]))  # without "table  "
            if c.made_of(upper, lower) and lower != name:
                wrong.append("paths %s: %s below %s" % (name, below[2], above[2]))
    return wrong, done


def through(path, line):
    """The static fields on a path, "com.acme.Shop.INSTANCE"."""
    rows, c = ask(path, line)[0], Classes(path)
    return {"%s.%s" % (c.mirror[a["address"]][0], b["field"][len("static "):]) for a, b in zip(rows, rows[1:])
            if (b["field"] or "").startswith("static ")}


def check_freed(path):
    """Where clearing references leaves the largest of a group, another is shown, to which one of these leads."""
    wrong, done = [], 0
    for row in ask(path, "leaks -share 0.5")[0]:
        m = re.search(r"Path to (0x\w+), which is freed: ", row["sentence"])
        if not m:
            continue
        done += 1
        cleared = set(row["reference"].split())
        if not through(path, "path " + m.group(1)) & cleared:
            wrong.append("%s is not reached through %s" % (m.group(1), cleared))
        if through(path, "path " + row["accumulated_in"]) & cleared:
            wrong.append("%s is reached through %s" % (row["accumulated_in"], cleared))
    return wrong, done


def check_go_keys(path, variable):
    """An entry of a map of Go is named by its key, which entries reads from the map's own bytes."""
    wrong, done = [], 0
    entries = ask(path, "entries " + variable)[0]
    for entry in entries[::max(1, len(entries) // 8)]:
        last = for_people(path, "path " + entry["address"], "field through")[-1]
        done += 1
        if last[0] != "[%s]" % entry["key"] or not last[1]:
            wrong.append("path %s: %s, want [%s]" % (entry["address"], last, entry["key"]))
    return wrong, done


def check_thread_locals(path):
    """No step of a path to a thread-local value is the map's table or its entry."""
    wrong, done = [], 0
    for row in ask(path, "threadlocals")[0]:
        if not row["address"]:
            continue
        steps = [(r["field"], r["class"]) for r in ask(path, "path " + row["address"])[0]]
        if [field for field, _ in steps[-3:]][1:] != ["table", "value"] and (steps[-1][0] != "value" or len(steps) < 4):
            continue
        done += 1
        seen = for_people(path, "path " + row["address"], "field class")
        if any("ThreadLocalMap$Entry" in step[1] for step in seen) or not re.match(r"\[.*\]$", seen[-1][0]):
            wrong.append("path %s: %s" % (row["address"], seen))
    return wrong, done


def main():
    tap = Tap()
    dumps = [SHOP, SAMPLE, GO]
    if DUMPS:
        dumps += [os.path.join(DUMPS, name) for name in some((
            "waste/jdk17/waste.hprof", "grove/grove25.hprof", "today/go1.27-small.dump", "apps/scala.hprof",
            "apps/tc1.hprof"), 5)]
    for path in dumps:
        if not os.path.exists(path):
            continue
        name = os.path.basename(path)
        wrong, done = check(path, random.Random(name))
        tap.none(wrong[:8], done, "%s: rows of path, folded anew" % name)
        wrong, done = check_merged(path, random.Random(name))
        tap.none(wrong[:8], done, "%s: rows of paths" % name)
    for name, variable in (("today/go1.27-small.dump", "main.Cache"), ("today/go1.24-small.dump", "main.BigMap"),
                           ("today/gotoday1.24.dump", "main.Grown")) if DUMPS else ():
        wrong, done = check_go_keys(os.path.join(DUMPS, name), variable)
        tap.none(wrong, done, "%s: entries of %s by their keys" % (name, variable))
    for name in ("apps/tc1.hprof", "waste/jdk8/waste.hprof") if DUMPS else ():
        wrong, done = check_thread_locals(os.path.join(DUMPS, name))
        tap.none(wrong, done, "%s: thread-local values" % name)
    if DUMPS:
        wrong, done = check_freed(os.path.join(DUMPS, "waste/jdk8/waste.hprof"))
        tap.none(wrong, done, "leaks: a path through what is to be cleared")
    tap.done()


if __name__ == "__main__":
    main()
