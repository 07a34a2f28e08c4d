#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts and paths of real HPROF dumps, proven in the bytes.

Which references a line for cut means is decided here, from the records alone (tests/lib/hprofedit.py).
Exactly these are nulled in a copy of the dump, root records taken out, and the copy is loaded: what can
be reached then must be less by just what cut said.  Each step of a path is a reference in the bytes, and
where its last one is nulled the object is gone or reached another way, as freed told.

CAIRN_SEED gives another seed; CAIRN_NULLED another number of cuts a dump.
"""

import json
import os
import random
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, LONG, SHOP, Tap, cairn, some  # noqa: E402
from hprofedit import Edit  # noqa: E402

SEED = os.environ.get("CAIRN_SEED", "1")
CUTS = int(os.environ.get("CAIRN_NULLED", "14" if LONG else "6"))
REAL = ["today/grove8.hprof", "today/grove21.hprof", "today/grove28.hprof", "grove/grove-i386.hprof",
        "grove/grove25.hprof", "waste/jdk17-wide/waste.hprof"]
IMPLIED = ("<class>", "<super>", "<loader>")
ASKABLE = re.compile(r"[A-Za-z_][\w.$]*(\[\])*$")
KINDS = {"JNI global": 1, "JNI local": 2, "Java local": 3, "Native stack": 4, "System class": 5,
         "Thread block": 6, "Busy monitor": 7, "Thread": 8, "Unknown": 0xFF}


def hexed(address):
    return "0x%08x" % address


def number(text):
    return int(text, 16) if text else None


def ask(path, lines, all_of_them=True):
    """The answers to several lines, in one run; a line that fails has none."""
    decode, found = json.JSONDecoder().raw_decode, []
    run = cairn("--format", "json", *[w for line in lines for w in ("-x", line)], path)
    text, at = run.out, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        answer, at = decode(text, at)
        found.append(answer)
    assert len(found) == len(lines) or not all_of_them, "%d answers to %d lines\n%s" % (len(found), len(lines), run)
    return found


def total(path):
    info = ask(path, ["info"])[0]
    return info["reachable_objects"], info["reachable_shallow"]


class Case:
    """A line for cut, and what it means in the bytes."""

    def __init__(self, words, references, roots=(), counted=None):
        """counted: how many references cut tells of; those of a set that is cut off are not among them."""
        self.words, self.references, self.roots = words, list(references), set(roots)
        self.counted = len(self.references) + len(self.roots) if counted is None else counted


class Maker:
    """Random cuts of one dump."""

    def __init__(self, edit, seed):
        self.edit, self.rng = edit, random.Random(seed)
        e = edit
        self.objects = sorted(a for a, (tag, _, _) in e.places.items() if tag != 0x20)
        self.holders = [a for a in self.objects if a in e.instance_class and e.out(a)]
        self.arrays = [a for a in self.holders if e.places[a][0] == 0x22]
        self.instances = [a for a in self.holders if e.places[a][0] == 0x21]
        self.statics = [r for c in sorted(e.dump.classes) for r in e.out(c)
                        if r[1].startswith("static ") and ASKABLE.match(r[1][7:])
                        and len(e.by_name[e.names[c]]) == 1 and ASKABLE.match(e.names[c])]
        self.classes = sorted(c for c in e.by_class if len(e.by_name[e.names[c]]) == 1
                              and ASKABLE.match(e.names[c]))

    def whole(self):
        """All that leads to an object."""
        a = self.rng.choice(self.objects)
        return Case(hexed(a), self.edit.into(a), [a] if a in self.edit.roots else [], 0)

    def root(self):
        a = self.rng.choice(sorted(self.edit.roots))
        return Case("root>" + hexed(a), [], [a])

    def element(self):
        r = self.rng.choice(self.edit.out(self.rng.choice(self.arrays)))
        return Case(hexed(r[0]) + r[1], [r])

    def field(self):
        """A field of an object: the first of its name, its own class's before those of superclasses."""
        a = self.rng.choice(self.instances)
        label = self.rng.choice(self.edit.out(a))[1]
        at = [at for _, name, at in self.edit.fields(a) if name == label][0]
        return Case("%s.%s" % (hexed(a), label), [r for r in self.edit.out(a) if r[2] == at])

    def static(self):
        r = self.rng.choice(self.statics)
        return Case("%s.%s" % (self.edit.names[r[0]], r[1][7:]), [r])

    def field_of_all(self):
        """A declared field of all instances, also of subclasses."""
        e = self.edit
        c = self.rng.choice(e.lineage(e.instance_class[self.rng.choice(self.instances)]))
        names = [name for name, t in e.own_fields(c) if t == 2]
        if not names or not ASKABLE.match(e.names[c]) or len(e.by_name[e.names[c]]) > 1:
            return None
        label = self.rng.choice(names)
        found = []
        for k, members in e.by_class.items():
            if c in e.lineage(k):
                for a in members:
                    at = {p for declared, name, p in e.fields(a) if declared == c and name == label}
                    found += [r for r in e.out(a) if r[2] in at]
        if "static " + label in [r[1] for r in e.out(c)]:
            return None
        return Case("%s.%s" % (e.names[c], label), found)

    def pair(self):
        r = self.rng.choice(self.edit.out(self.rng.choice(self.holders)))
        if r[3] in self.edit.dump.classes:
            return None
        return Case("%s>%s" % (hexed(r[0]), hexed(r[3])), [x for x in self.edit.out(r[0]) if x[3] == r[3]])

    def classes_pair(self):
        e = self.edit
        r = self.rng.choice(e.out(self.rng.choice(self.holders)))
        a, b = e.instance_class[r[0]], e.instance_class.get(r[3])
        if a not in self.classes or b not in self.classes:
            return None
        targets = set(e.by_class[b])
        return Case("%s>%s" % (e.names[a], e.names[b]),
                    [x for h in e.by_class[a] for x in e.out(h) if x[3] in targets])

    def several(self):
        """References of different kinds at once."""
        parts = [p for p in (self.whole(), self.static(), self.pair(), self.field_of_all()) if p]
        at = {r[2]: r for p in parts for r in p.references}
        if len(at) < sum(len(p.references) for p in parts):
            return None  # a reference named twice is counted twice
        return Case(" ".join(p.words for p in parts), at.values(), {a for p in parts for a in p.roots},
                    len({r[2] for p in parts for r in p.references if p.counted}))

    def cases(self, n):
        makers = [self.whole, self.root, self.element, self.field, self.static, self.static, self.field_of_all,
                  self.pair, self.classes_pair, self.several]
        found, i = [], 0
        while len(found) < n:
            case = makers[i % len(makers)]()
            i += 1
            if case and (case.references or case.roots):
                found.append(case)
        return found


class Bench:
    """A dump, what of it can be reached, and a place for copies."""

    def __init__(self, path, directory):
        self.path, self.name = path, os.path.relpath(path, DUMPS) if "today" in path or "/grove/" in path \
            else os.path.basename(path)
        self.copy = os.path.join(directory, "nulled.hprof")
        self.edit = Edit(path)
        self.before = total(path)
        self.seed = SEED + self.name
        self.wrong, self.cuts, self.freeing = [], 0, 0

    def without(self, case):
        self.edit.copy(self.copy, case.references, case.roots)
        after = total(self.copy)
        return self.before[0] - after[0], self.before[1] - after[1]

    def compare(self, case, said, objects, freed):
        """said: how many references cut counted, or None where it does not say."""
        self.cuts += 1
        self.freeing += freed > 0
        got = self.without(case)
        if got[1] != freed or objects not in (None, got[0]):
            self.wrong.append("cut %s: said %s objects, %d bytes; nulled %d objects, %d bytes"
                              % (case.words, objects, freed, *got))
        if said not in (None, case.counted):
            self.wrong.append("cut %s: %d references, in the bytes %d" % (case.words, said, case.counted))

    def named(self, address, label, target):
        """The case of one reference, as rows name it; None if the dump only implies it."""
        e = self.edit
        if label in IMPLIED:
            return None
        if address is None:
            return Case("root>" + hexed(target), [], [target]) if target in e.roots else None
        found = [r for r in e.out(address) if r[1] == label and r[3] == target]
        return Case("%s %s" % (hexed(address), label), found[:1]) if found else None


def check_cuts(bench):
    cases = Maker(bench.edit, bench.seed).cases(CUTS)
    for case, got in zip(cases, ask(bench.path, ["cut " + c.words for c in cases])):
        bench.compare(case, got.get("references", case.counted if "set" in got else -1), got["objects"], got["freed"])


def check_each(bench):
    """Single references, as -each lists them; those that free something first."""
    maker = Maker(bench.edit, bench.seed + "each")
    words = [c.words for c in (maker.whole(), maker.field_of_all(), maker.static(), maker.classes_pair()) if c]
    for word, rows in zip(words, ask(bench.path, ["cut %s -each" % w for w in words])):
        for r in rows[:1] + maker.rng.sample(rows, min(len(rows), 2)):
            case = bench.named(number(r["address"]), r["field"], number(r["target"]))
            if case:
                bench.compare(case, None, None, r["freed"])
            elif r["field"] not in IMPLIED:
                bench.wrong.append("cut %s -each: no such reference: %s" % (word, r))


def field_of_class(edit, c, label):
    """A static field, or the field of all instances of a class."""
    found = [r for r in edit.out(c) if r[1] == "static " + label]
    if not found:
        for k, members in edit.by_class.items():
            if c in edit.lineage(k):
                found += [r for a in members for r in edit.out(a) if r[1] == label]
    return found


def reference(edit, words):
    """What a proposal means, in the forms that -plan and leaks use."""
    root = re.fullmatch(r"root>(0x[0-9a-f]+)", words)
    one = re.fullmatch(r"(0x[0-9a-f]+)", words)
    part = re.fullmatch(r"(0x[0-9a-f]+)(\[\d+\]|\.[\w$]+)", words)
    if root:
        return Case(words, [], [int(root[1], 16)])
    if one:
        a = int(one[1], 16)
        return Case(words, edit.into(a), [a] if a in edit.roots else [])
    if part:
        a, label = int(part[1], 16), part[2].lstrip(".")
        if a in edit.dump.classes:
            return Case(words, field_of_class(edit, a, label))
        return Case(words, [r for r in edit.out(a) if r[1] == label][:1])
    if ">" in words:
        a, b = words.split(">")
        a, b = (edit.by_name[x] for x in (a, b))
        targets = {t for c in b for t in edit.by_class.get(c, [])}
        return Case(words, [r for c in a for h in edit.by_class.get(c, []) for r in edit.out(h) if r[3] in targets])
    name, _, label = words.rpartition(".")
    (c,) = edit.by_name[name]
    return Case(words, field_of_class(edit, c, label))


def references(edit, words):
    """What several proposals mean, one behind another."""
    cases = [reference(edit, word) for word in shlex.split(words)]
    return Case(words, {r[2]: r for c in cases for r in c.references}.values(), {r for c in cases for r in c.roots})


def check_plans(bench):
    shares = (50, 20, 8, 3, 1) if LONG else (50, 8)
    plans = ask(bench.path, ["cut -plan %d" % (bench.before[1] * s // 100) for s in shares])
    for plan in plans:
        at, roots, rows = {}, set(), plan["fields"]
        picked = {0, len(rows) - 1, len(rows) // 2}
        for i, row in enumerate(rows):
            case = references(bench.edit, row["reference"])
            at.update((r[2], r) for r in case.references)
            roots |= case.roots
            if i in picked:
                bench.compare(case, row["references"], None, row["freed"])
                bench.compare(Case("-plan: rows to %d" % i, at.values(), roots), None, None, row["total"])
        bench.compare(Case("-plan %d" % plan["wanted"], at.values(), roots), None, plan["objects"], plan["freed"])
    seen = set()
    for row in ask(bench.path, ["leaks -share 2"])[0]:
        if row["reference"] and row["reference"] not in seen:
            seen.add(row["reference"])
            bench.compare(references(bench.edit, row["reference"]), None, None, row["freed"])


def implied(edit, before, label, address):
    """Whether the dump implies this reference."""
    c = edit.dump.classes.get(before)
    if label == "<super>":
        return c and c["super"] == address
    if label == "<loader>":
        return c and c["loader"] == address
    if before in edit.instance_class:
        return edit.instance_class[before] == address
    return edit.names.get(address, "").endswith("[]") or edit.names.get(address) == "java.lang.Class"


def false_steps(edit, rows, without=None):
    """What is not in the bytes of a path's rows."""
    wrong, before = [], None
    for r in rows:
        a = number(r["address"])
        if before is None or r["step"] == 1:
            tags = {tag for _, _, tag in edit.roots.get(a, [])}
            if not [k for k, tag in KINDS.items() if r["root"].startswith(k) and tag in tags]:
                wrong.append("no such root: %s" % r)
        elif r["field"] in IMPLIED:
            if not implied(edit, before, r["field"], a):
                wrong.append("not implied: %s" % r)
        elif not [x for x in edit.out(before) if x[1] == r["field"] and x[3] == a and x[2] != without]:
            wrong.append("no such reference: %s.%s > %s" % (hexed(before), r["field"], hexed(a)))
        before = a
    return wrong


def check_paths(bench):
    """Number of paths, of objects whose last reference was nulled, and of those that were gone then."""
    edit, rng = bench.edit, random.Random(bench.seed + "paths")
    objects = rng.sample(sorted(edit.places), 120 if LONG else 40)
    nulled = gone = 0
    paths = ask(bench.path, ["path %s" % hexed(a) for a in objects], False)
    for rows in paths:
        a = number(rows[-1]["address"])
        bench.wrong += false_steps(edit, rows)
        if len(rows) < 2 or nulled >= (16 if LONG else 6):
            continue
        last = rows[-1]
        case = bench.named(number(rows[-2]["address"]), last["field"], a)
        if not case:
            continue
        nulled += 1
        edit.copy(bench.copy, case.references)
        left = sum(ask(bench.copy, ["path %s" % hexed(a)], False), [])
        gone += not left
        if bool(left) == bool(last["freed"]):
            bench.wrong.append("path %s: frees %s, %s others, and then %s" % (
                hexed(a), last["freed"], last["others"], "there is another path" if left else "it is gone"))
        bench.wrong += false_steps(edit, left, case.references[0][2])
    return len(paths), nulled, gone


def main():
    tap, all_nulled, all_gone = Tap(), 0, 0
    paths = [SHOP]
    if DUMPS:
        paths += [os.path.join(DUMPS, p) for p in some(REAL, 4)]
    else:
        tap.skip("dumps of other releases", "CAIRN_DUMPS is not set")
    directory = tempfile.mkdtemp()
    try:
        for path in paths:
            bench = Bench(path, directory)
            check_cuts(bench)
            check_each(bench)
            check_plans(bench)
            tap.none(bench.wrong, bench.cuts, "%s: %d cuts, as the bytes without them say" % (bench.name, bench.cuts))
            tap.ok(bench.freeing * 4 > bench.cuts, "%s: %d of them free something" % (bench.name, bench.freeing))
            bench.wrong = []
            paths, nulled, gone = check_paths(bench)
            tap.none(bench.wrong, paths, "%s: %d paths are in the bytes" % (bench.name, paths))
            all_nulled += nulled
            all_gone += gone
        few = all_nulled < 20  # then all may be gone, else some are reached another way
        tap.ok(0 < all_gone <= all_nulled - (not few), "of %d objects whose last reference was nulled %d were gone"
               % (all_nulled, all_gone))
    finally:
        shutil.rmtree(directory)
    tap.done()


main()
