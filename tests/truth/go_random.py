#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random Go dumps of every version, byte order and pointer width: the heap must be the one planted.

Object by object: size, shape, references in the order of the fields (into objects, just past them and
to nowhere among them); roots by kind; goroutines with state, reason and frames; allocation samples;
and who dominates whom and retains how much, by a naive algorithm here.  CAIRN_SEEDS gives another
number of seeds than 300.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, Graph, MKDUMP, Run, Tap, cairn, make_dump, seeds, try_seeds  # noqa: E402

TOOL = os.path.join(BUILD, "tests", "tools", "dominators")
SEEDS = seeds(60, 300)

KINDS = {"data": {"Data segment"}, "bss": {"BSS segment"}, "frame": {"Stack frame"},
         "goroutine": {"Thread"}, "machine": {"Thread"}, "defer": {"Defer"}, "panic": {"Panic"},
         "finalizer": {"Finalizer function", "Field of finalizable"}, "queued": {"Finalizable"}}


def check_objects(graph, truth):
    wrong = []
    want = {o["at"]: o for o in truth["objects"]}
    if set(want) != set(graph.objects):
        return ["%d objects, not %d" % (len(graph.objects), len(want))]
    into = {a: [] for a in want}
    for a in sorted(want):
        for target, _ in want[a]["out"]:
            into[target].append(a)
    shapes, names = {}, {}
    for a, w in want.items():
        g = graph.objects[a]
        for what, x, y in (("size", g.shallow, w["size"]), ("out", g.out, [t for t, _ in w["out"]]),
                           ("in", g.into, into[a])):
            if x != y:
                wrong.append("0x%x %s: got %.200r, want %.200r" % (a, what, x, y))
        if truth["version"] < 5:  # there names say more than the shape
            continue
        shape = (w["size"], tuple(w["slots"]))
        if shapes.setdefault(shape, g.cls) != g.cls or names.setdefault(g.cls, shape) != shape:
            wrong.append("0x%x: %s means two shapes, or one shape has two names" % (a, g.cls))
        if len(shape[1]) < 3 and shape[1][1:2] != (shape[1][0] + truth["pointer"],) if shape[1] else True:
            simple = "%d B {%s}" % (shape[0], " ".join("ptr@%d" % s for s in shape[1]))
            if g.cls != simple:
                wrong.append("0x%x: %s, not %s" % (a, g.cls, simple))
    return wrong


def check_roots(graph, truth):
    got, wrong = set(graph.roots), []
    addresses = {a for a, _ in got}
    for root in truth["roots"]:
        if root["at"] not in addresses:
            wrong.append("0x%(at)x (%(kind)s) is no root" % root)
        elif not any((root["at"], kind) in got for kind in KINDS.get(root["kind"], {k for _, k in got})):
            wrong.append("0x%(at)x is no root of kind %(kind)s" % root)
    for a in addresses - {r["at"] for r in truth["roots"]}:
        wrong.append("0x%x is a root of nothing" % a)
    return wrong


def edges_of(truth):
    """References, and what a goroutine's stack holds as the goroutine's; the roots that remain."""
    out = {o["at"]: [t for t, _ in o["out"]] for o in truth["objects"]}
    roots = []
    for r in truth["roots"]:
        holder = truth["goroutines"][r["goroutine"]]["at"] if r["goroutine"] >= 0 else None
        if holder in out and holder != r["at"]:
            out[holder].append(r["at"])
        else:
            roots.append(r["at"])
    return out, roots


def reached(out, roots, without=None):
    seen = {without}
    stack = [r for r in roots if r != without]
    seen.update(stack)
    while stack:
        for t in out[stack.pop()]:
            if t not in seen:
                seen.add(t)
                stack.append(t)
    seen.discard(without)
    return seen


def check_dominators(path, truth):
    run = Run([TOOL, path])
    if run.status != 0:
        return [str(run)]
    got = {}
    for line in run.out.splitlines():
        address, above, retained = line.split("\t")
        got[int(address, 16)] = (None if above == "-" else int(above, 16), int(retained))
    out, roots = edges_of(truth)
    size = {o["at"]: o["size"] for o in truth["objects"]}
    live = reached(out, roots)
    lost = {a: live - reached(out, roots, a) for a in live}  # what a keeps alive, itself included
    if set(got) != set(size):
        return ["the tool knows %d objects, not %d" % (len(got), len(size))]
    wrong = []
    for a in size:
        if (got[a][0] is None) != (a not in live):
            wrong.append("0x%x: reachable: %s" % (a, a in live))
        elif a in live:
            above = [b for b in live if b != a and a in lost[b]]
            nearest = min(above, key=lambda b: len(lost[b])) if above else 0
            if got[a] != (nearest, sum(size[b] for b in lost[a])):
                wrong.append("0x%x hangs on 0x%x and retains %d, naively 0x%x, %d" %
                             (a, *got[a], nearest, sum(size[b] for b in lost[a])))
    return wrong


def check_goroutines(path, truth):
    run = cairn("--format", "json", "-x", "threads", path)
    rows = {r["tid"]: r for r in json.loads(run.out)} if run.out.strip() else {}
    wrong = []
    for g in truth["goroutines"]:
        row = rows.get(g["id"])
        if row is None:
            wrong.append("goroutine %(id)d is missing" % g)
            continue
        words = {1: "runnable", 3: "syscall", 4: "waiting"}[g["status"]]
        if words not in row["state"].replace("system call", "syscall"):
            wrong.append("goroutine %d: %s, not %s" % (g["id"], row["state"], words))
        if g["status"] == 4 and g["reason"] and g["reason"] not in json.dumps(row):
            wrong.append("goroutine %d: %s is not told" % (g["id"], g["reason"]))
        if row["frames"] != len(g["frames"]):
            wrong.append("goroutine %d: %d frames, not %d" % (g["id"], row["frames"], len(g["frames"])))
    return wrong


def one(directory, seed):
    prefix, made = make_dump(directory, "go", seed)
    if made.status != 0:
        return "mkdump", [str(made)], 0
    with open(prefix + ".json", encoding="utf-8") as f:
        truth = json.load(f)
    dump = prefix + ".dump"
    graph, wrong = Graph.of_dump_by_threads(dump)
    if not wrong:
        wrong += check_objects(graph, truth) + check_roots(graph, truth)
        if truth["version"] >= 5 and graph.counts["dangling"] != truth["outside"]:
            wrong.append("%d pointers to no object, not %d" % (graph.counts["dangling"], truth["outside"]))
        if seed % 3 == 0:
            wrong += check_goroutines(dump, truth)
        if len(truth["objects"]) < 150:
            wrong += check_dominators(dump, truth)
    return "go1.%d, %s endian, %d bytes" % (
        truth["version"], "big" if truth["big_endian"] else "little", truth["pointer"]), wrong, len(truth["objects"])


def check_surplus(tap, directory):
    """Objects beyond what the program counted: a warning, which since Go 1.22 says why."""
    for release, explained in (("go1.21.9", False), ("go1.22.0", True), ("go1.25.1", True)):
        prefix = os.path.join(directory, release)
        Run([MKDUMP, "go", "--seed", "4", "--version", "7", "--release", release, "--surplus", "3",
             "--out", prefix])
        with open(prefix + ".json", encoding="utf-8") as f:
            n = len(json.load(f)["objects"])
        run = cairn("--format", "json", "-x", "info", prefix + ".dump")
        info = json.loads(run.out)
        text = "HeapObjects of the dump is %d, but cairn read %d objects" % (n - 3, n)
        tap.ok(n > 3 and info["warnings"] == 1 and text in info["warning_text"] and
               ("write the bitmap" in info["warning_text"]) == explained and
               ("write the bitmap" in info["cannot_tell"]) == explained,
               "%s: more objects than the program counted" % release, run)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="random.", dir=os.path.join(BUILD, "tests")) as directory:
        check_surplus(tap, directory)
    try_seeds(tap, SEEDS, one)
    tap.done()


main()
