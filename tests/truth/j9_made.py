#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""System dumps of OpenJ9 that are made here, with structures laid out as in no release: cairn finds what was
planned, and says in one sentence what is missing where they are damaged.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import j9_made  # noqa: E402
import j9_memory  # noqa: E402
import j9_program  # noqa: E402
from cairntest import GRAPHDUMP, QUICK, Graph, Run, Tap, cairn, some  # noqa: E402

SHAPES = {
    "compressed": {},
    "compressed, big endian": {"big": True, "shift": 2, "seed": 2},
    "full": {"compressed": False, "seed": 3},
    "full, big endian": {"compressed": False, "big": True, "seed": 4},
    "aligned to 16": {"align": 16, "shift": 4, "seed": 7},
    "32 bits": {"word": 4, "seed": 5},
    "32 bits, big endian": {"word": 4, "big": True, "seed": 6},
}
COLLECTORS = "gencon", "balanced", "offheap", "metronome"
TIMEOUT = 20  # seconds


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def check_plan(tap, name, made, path):
    run = Run([GRAPHDUMP, "-n", path])
    tap.ok(run.status == 0 and "neither" not in run.err, name + ": it is read", run)
    got, plan = Graph(run.out.split("\n")), made.plan
    tap.equal({a: (o.cls, o.kind, o.shallow, o.length, sorted(o.out)) for a, o in got.objects.items()},
              {a: (titled(p[0]), *p[1:]) for a, p in plan.objects.items()}, name + ": objects")
    tap.equal(sorted(set(got.roots)), sorted(set(plan.roots)), name + ": roots")
    want = {}
    for c in made.classes.values():
        if not c.dying:
            loader = made.loaders[2 if c.leaf or c.name in made.THIRD else list(made.classes).index(c.name) % 2]
            want[c.object] = (titled(c.title()), loader, c.above.object if c.above else None)
    tap.equal({a: c[:3] for a, c in got.classes.items()}, want, name + ": classes")
    check_program(tap, name, made, path)


def check_program(tap, name, made, path):
    """Values of fields, threads, frames, monitors and options."""
    questions = ["ls %s -fields %s" % (c, ",".join(values)) for c, (_, values) in made.with_fields.items()]
    questions += ["x 0x%x" % made.classes["Fields"].object, "threads", "bt main", "locks", "info -args"]
    run = cairn("-n", "--no-index", "--format", "json", *(w for q in questions for w in ("-x", q)), path)
    rest, got = run.out.strip(), []
    while rest:
        answer, n = json.JSONDecoder().raw_decode(rest)
        got.append(answer)
        rest = rest[n:].lstrip()
    if not tap.equal(len(got), len(questions), name + ": all questions are answered"):
        return
    for (c, (_, values)), rows in zip(made.with_fields.items(), got):
        first = next(r for r in rows if int(r["address"], 16) == made.with_fields[c][0])
        tap.equal({n: first[n] for n in values}, {n: shown(made, *v) for n, v in values.items()},
                  "%s: fields of %s" % (name, c))
    statics, threads, frames, locks, options = got[-5:]
    tap.equal({f["name"]: f["value"] for f in statics["fields"]},
              {n: text_of(shown(made, kind, v)) for n, kind, v in j9_program.STATICS["Fields"]}, name + ": statics")
    lock = made.with_fields["Lock"][0]
    tap.equal([(t["name"], t["state"], int(t["native_id"], 16), t["frames"], t["waits_for"]) for t in threads],
              [("main", "runnable", 100, len(j9_program.METHODS), None),
               ("worker", "blocked", 101, 0, "Lock 0x%x, owned by main" % made.inflated)], name + ": threads")
    tap.equal(sorted({(f["frame"], f["method"]) for f in frames if f["frame"] is not None}),
              [(i, "%s.%s(Made.java:%d)" % m[:3]) for i, m in enumerate(j9_program.METHODS)], name + ": frames")
    tap.equal({(int(r["address"], 16), r["owner"], r["waiting"]) for r in locks},
              {(lock, "main", None), (made.inflated, "main", "worker")}, name + ": monitors")
    tap.equal([r["argument"] for r in options], list(j9_program.OPTIONS), name + ": options")


def shown(made, kind, value):
    """As JSON has a value."""
    if kind == "[B":
        return '"UUUUU"'
    return "0x%x" % made.named[value] if kind[0] == "L" else bool(value) if kind == "Z" else \
        "'%s'" % chr(value) if kind == "C" else value


def text_of(value):
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def titled(name):
    """[LNode; is Node[]."""
    leaf = {"B": "byte", "J": "long"}.get(name.strip("["), name.strip("[;")[1:]) if name[0] == "[" else name
    return leaf + "[]" * name.count("[")


# --- what is missing or damaged --------------------------------------------------------------------------------

LOST = "bytes of the heap are neither objects nor free"
SENTENCES = {  # what may be said, with its exit status; anything else is a fault
    3: "empty file|only zero bytes|its first bytes are zeros|a core file without memory|needs the program that wrote it|"
       "description of its structures|truncated at byte|does not have the VM's (first structure|classes)",
    4: "truncated at byte|only a part of the VM's lists|does not have the names of|of the heap are not in the core|" + LOST,
}


def answers(path):
    """What is wrong with what cairn says of it; None: nothing."""
    run = cairn("-n", "--no-index", "-x", "histo", "-x", "threads", "-x", "roots", path, timeout=TIMEOUT)
    said = run.err.strip().split("\n") if run.err.strip() else []
    if run.status == 0 and not said:
        return None
    good = run.status in SENTENCES and len(said) == 1 and re.search(SENTENCES[run.status], said[0])
    return None if good else str(run)


def check_damaged(tap, name, core, path):
    """Truncated at each page, and without each page."""
    faults, looked_at = [], 0
    for page in some(range(0, len(core), j9_memory.PAGE), 6 if QUICK else 2):
        for what, data in (("truncated at", core[:page]),
                           ("zeros at", core[:page] + bytes(j9_memory.PAGE) + core[page + j9_memory.PAGE:])):
            fault = answers(write(path, data))
            faults += ["%s %d: %s" % (what, page, fault)] if fault else []
            looked_at += 1
    tap.none(faults, looked_at, name + ": truncated, and without a page", 2)


def check_members(tap, path):
    """Without each of the members: what is needed is named, all else goes on."""
    needed, faults = [], []
    whole = j9_made.Made()
    members = [(structure, m) for structure, all_ in whole.d.members.items() for m, _ in all_]
    for structure, member in members:
        write(path, j9_made.Made(without=[(structure, member)]).core())
        run = cairn("-n", "--no-index", "-x", "histo", "-x", "threads", path, timeout=TIMEOUT)
        if run.status == 3 and re.search(r"structures does not have \w+\.%s\n$" % member, run.err):
            needed.append(member)
        elif run.status != (4 if LOST in run.err else 0) or "Node[]" not in run.out:
            faults.append("%s.%s: %s" % (structure, member, run))
    tap.none(faults, members, "without a member of a structure", 60)
    few = {"vm", "gcExtensions", "heapRegionManager", "_lowAddress", "classDepthAndFlags", "className", "eyecatcher"}
    tap.ok(few <= set(needed) and "jniGlobalReferences" not in needed and "pid" not in needed,
           "those that are needed are named", needed)


def check_circles(tap, path):
    """Lists that are a circle, of which the second leads back to itself or to the one before."""
    for collector in "gencon", "balanced":
        for name, turn in CIRCLES.items():
            made = j9_made.Made(collector=collector)
            turn(made, made.m)
            fault = answers(write(path, made.core()))
            tap.ok(fault is None, "%s: %s are a circle" % (collector, name), fault)


def check_long(tap, path):
    """Arrays whose elements the core does not have, as many as there can be: they are not looked for one by one."""
    made = j9_made.Made(collector="offheap")
    for at, (_, kind, _, length, _) in made.plan.objects.items():
        if kind == "object_array" and length > 56:
            made.m.put(at + made.slot, 0x7fffffff, 4)
            made.m.set(at, "J9IndexableObjectWithDataAddressContiguousCompressed", dataAddr=0x123400000000)
    fault = answers(write(path, made.core()))
    tap.ok(fault is None, "long arrays without elements", fault)


def check_endless(tap, path):
    """Superclasses and words of a stack of which there are said to be 2^60: they are not looked for one by one."""
    known = j9_memory.CONSTANTS["J9JavaAccessFlags"]
    mask, known["J9AccClassDepthMask"] = known["J9AccClassDepthMask"], (1 << 63) - 1
    made = j9_made.Made()
    known["J9AccClassDepthMask"] = mask
    made.m.set(made.classes["Wide"].at, "J9Class", classDepthAndFlags=1 << 60 | j9_made.MIXED << 16 | 1)
    fault = answers(write(path, made.core()))
    tap.ok(fault is None, "superclasses without end", fault)
    made = j9_made.Made()
    stack = made.m.new("vm", "J9JavaStack", end=1 << 63, size=1 << 63)
    made.m.set(made.ring[1], "J9VMThread", stackObject=stack, sp=made.word)
    run = cairn("-n", "--no-index", "-x", "threads", "-x", "info", write(path, made.core()), timeout=TIMEOUT)
    tap.ok("worker" in run.out and "too long" not in run.out + run.err, "a stack without end", run)


def check_lost(tap, path):
    """An object overwritten with zeros: what is counted is at least so much, and the size of the gap is said."""
    made = j9_made.Made()
    at, (_, _, size, _, _) = next((at, o) for at, o in made.plan.objects.items() if o[0] == "Node")
    for word in range(at, at + size, made.word):
        made.m.put(word, 0, made.word)
    run = cairn("-n", "--no-index", "-x", "histo Node", write(path, made.core()), timeout=TIMEOUT)
    tap.ok(run.status == 4 and "%d %s" % (size, LOST) in run.err and
           re.search(r"^Node +>=", run.out, re.M), "an object overwritten with zeros", run)


def check_early_gap(tap, path):
    """A class that gets a gap before a reference of its superclass, which no VM leaves: its fields are unknown."""
    j9_program.FIELDS["Filling"] = (("r", "LNode;", "node"),)
    made = EarlyGap()
    run = cairn("-n", "--no-index", "-x", "info", "-x", "ls SubFields -fields w", write(path, made.core()))
    tap.ok(re.findall(r"(\w+): where its fields are", run.out) == ["Filling"] and
           "0x%x" % made.named["node"] in run.out, "a gap before references of a superclass", run)
    del j9_program.FIELDS["Filling"]


class EarlyGap(j9_made.Made):
    def make_classes(self):
        super().make_classes()
        above = self.cls("Hollow", self.classes["Node"], [0, 2], 3, gap=self.slot)
        j9_program.lay_out(self, self.cls("Filling", above), False)


CIRCLES = {
    "classes": lambda made, m: m.set(made.classes["Node"].at, "J9Class", nextClassInSegment=made.classes["Node"].at),
    "all classes": lambda made, m: m.set(made.classes["java/lang/Object"].at, "J9Class",
                                         nextClassInSegment=made.classes["Exact"].at),
    "segments": lambda made, m: m.set(made.segment, "J9MemorySegment", nextSegment=made.segment),
    "regions": lambda made, m: m.set(made.aux, "MM_HeapRegionDescriptor", _nextRegion=made.aux) if made.aux else 0,
    "threads": lambda made, m: m.set(made.ring[1], "J9VMThread", linkNext=made.ring[1]),
    "puddles": lambda made, m: m.relative(made.puddles[1], "J9PoolPuddle", "nextPuddle", made.puddles[0]),
    "interfaces": lambda made, m: m.set(made.classes["Node"].tables, "J9ITable", next=made.classes["Node"].tables),
}


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "made.core")
        for shape, options in SHAPES.items():
            for collector in COLLECTORS if "align" not in options else ("gencon",):
                made = j9_made.Made(collector=collector, **options)
                write(path, made.core())
                check_plan(tap, shape + ", " + collector, made, path)
                check_damaged(tap, shape + ", " + collector, made.core(), path)
        check_members(tap, path)
        check_circles(tap, path)
        check_long(tap, path)
        check_endless(tap, path)
        check_lost(tap, path)
        check_early_gap(tap, path)
    tap.done()


main()
