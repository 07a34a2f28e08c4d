#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortest paths against a naive search over the same graph, on random dumps and on real ones.

The naive search walks forward from the roots over recorded and implied references and takes, from the
object backward, the holder of the lowest address one step nearer to a root: the very path must come
out, searched backward (path alone) and forward (after paths, which finds them all at once).  In dumps
with fields, soft, weak, phantom and final references are told apart by the class names here, so every
step of a strong path must be more than a referent.  A real dump is asked for strong paths, in the long run two
for strong and weak ones.  CAIRN_SEEDS gives another number of seeds than 8 (40 in the long run), whose shapes
come again and again.
"""

import json
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, CAIRN, DUMPS, Graph, MKDUMP, Run, SAMPLE, Tap, seeds, some, turn  # noqa: E402

SEEDS = seeds(8, 40)


class Naive:
    """A graph with the implied references of the model, both ways.  Only OpenJ9's loaders hold the
    classes that they made: HotSpot's have a list of them."""

    def __init__(self, graph, loaders_hold):
        self.objects = graph.objects
        self.out = {a: set(t for t in o.out if t in graph.objects) for a, o in graph.objects.items()}
        for a, o in graph.objects.items():
            if o.class_address in graph.objects:
                self.out[a].add(o.class_address)
        for a, (_, loader, superclass, _, _) in graph.classes.items():
            if a not in self.out:
                continue
            if superclass in self.out:
                self.out[a].add(superclass)
            if loader in self.out:
                self.out[a].add(loader)
                if loaders_hold:
                    self.out[loader].add(a)
        self.into = {a: [] for a in self.out}
        for a in sorted(self.out):
            for t in self.out[a]:
                self.into[t].append(a)
        self.roots = set(r for r, _ in graph.roots)
        self.from_roots = None  # how far each object is from them, of a walk that is done once

    def walk(self, starts, barred, edge=None, to=None):
        """How far objects are from those, the walk being over where it meets to."""
        level = sorted(a for a in starts if a not in barred)
        far, steps = dict.fromkeys(level, 0), 0
        while level and to not in far:
            after, steps = [], steps + 1
            for a in level:
                for t in self.out[a]:
                    if t not in far and t not in barred and (a, t) != edge:
                        far[t] = steps
                        after.append(t)
            level = after
        return far

    def path(self, starts, to, barred=(), edge=None):
        """The path of paths.h, or None."""
        barred = set(barred) - {to}
        if not barred and not edge and starts == self.roots:
            self.from_roots = self.from_roots or self.walk(starts, barred)
            far = self.from_roots
        else:
            far = self.walk(starts, barred, edge, to)
        if to not in far:
            return None
        path = [to]
        while far[path[-1]]:
            path.append(min(a for a in self.into[path[-1]] if far.get(a) == far[path[-1]] - 1 and
                            (a, path[-1]) != edge))
        return path[::-1]

    def drop(self, holder, target):
        """The holder's recorded reference, unless a second one stays or its class is meant."""
        o = self.objects[holder]
        if o.out.count(target) == 1 and o.class_address != target and target in self.out[holder]:
            self.out[holder].discard(target)
            self.into[target].remove(holder)
            self.from_roots = None

    def disjoint(self, to, n):
        found, barred, starts = [], set(), set(self.roots)
        while len(found) < n:
            path = self.path(starts, to, barred)
            if path is None:
                break
            found.append(path)
            barred |= set(path[1:-1])
            if len(path) == 2:
                barred.add(path[0])
            if len(path) == 1:
                starts.discard(to)
        return found


def ask(path, lines, *options):
    """An answer for each line: a list of paths (lists of addresses), or None where there is none."""
    argv = [CAIRN, "--format", "json", *options]
    for line in lines:
        argv += ["-x", line]
    done = Run(argv + [path])
    answers, decoder, at = [], json.JSONDecoder(), 0
    while at < len(done.out):
        value, at = decoder.raw_decode(done.out, at)
        while at < len(done.out) and done.out[at].isspace():
            at += 1
        answers.append(value)
    return answers, done


def paths_of(rows):
    out = []
    for row in rows:
        if row["step"] == 1:
            out.append([])
        out[-1].append(int(row["address"], 16))
    return out


def check(path, naive, options, chance, most, weak=" -weak", also=()):
    """What is wrong with the paths of one dump, and of how many lines."""
    wrong = []
    objects = sorted(naive.out)
    chosen = objects if len(objects) <= most else chance.sample(objects, most)
    chosen = chosen + chance.sample(sorted(also), min(most // 2, len(also)))
    lines, want, unreached = [], [], []
    for to in chosen:
        expected = naive.disjoint(to, 1)
        if not expected:
            unreached.append(to)
            continue
        lines.append("path 0x%x%s" % (to, weak))
        want.append(expected)
    forward = ["paths 0x%x%s" % (want[0][0][-1], weak)] if want else []
    for to in chosen[:most // 4]:
        expected = naive.disjoint(to, 3)
        if expected:
            lines.append("path 0x%x%s -n 3" % (to, weak))
            want.append(expected)
        start = chance.choice(objects)
        expected = naive.path([start], to)
        if expected:
            lines.append("path 0x%x 0x%x%s" % (start, to, weak))
            want.append([expected])
        direct = naive.path(naive.roots, to)
        cls = direct and len(direct) > 2 and naive.objects[direct[1]].class_address
        if cls:
            barred = {a for a, o in naive.objects.items() if o.class_address == cls} | {cls}
            expected = naive.path(naive.roots, to, barred)
            if expected:
                lines.append("path 0x%x%s -not 0x%x" % (to, weak, cls))
                want.append([expected])
            elif len(unreached) < 3:
                done = ask(path, ["path 0x%x%s -not 0x%x" % (to, weak, cls)], *options)[1]
                if done.status != 1 or "every path" not in done.err:
                    wrong.append("0x%x -not 0x%x: %s" % (to, cls, done))
    for before in ([], forward):
        answers, done = ask(path, before + lines, *options)
        answers = answers[len(before):]
        if len(answers) != len(lines):
            return ["%d answers for %d lines\n%s" % (len(answers), len(lines), done)], 0
        for line, rows, expected in zip(lines, answers, want):
            got = paths_of(rows)
            if got != expected:
                wrong.append("%s%s: got %s, want %s" % (before and "forward " or "", line,
                             [list(map(hex, p)) for p in got], [list(map(hex, p)) for p in expected]))
    for to in unreached[:3]:
        done = ask(path, ["path 0x%x%s" % (to, weak)], *options)[1]
        said = "no root reaches" in done.err or not weak and "only weak" in done.err
        soft = not weak and done.status == 0 and '"field": "referent"' in done.out  # no firmer path leads there
        if not soft and (done.status != 1 or not said):
            wrong.append("0x%x is reached by nothing: %s" % (to, done))
    return wrong, len(lines)


def made(tap):
    directory = tempfile.mkdtemp(prefix="paths.", dir=os.path.join(BUILD, "tests"))
    for seed in SEEDS:
        prefix = os.path.join(directory, "r%d" % seed)
        run = Run([MKDUMP, "random", "--seed", str(seed), "--out", prefix])
        if run.status != 0:
            tap.ok(False, "seed %d" % seed, run)
            continue
        path, layout = run.out.strip().split("\t")
        graph = Graph.of_dump(path, "-n")
        wrong, n = check(path, Naive(graph, True), [], random.Random(seed), 40)
        tap.none(wrong[:8], n, "seed %d: %s" % (seed, layout))
        if tap.failed > 10:
            break
    shutil.rmtree(directory)


REFERENCES = ("SoftReference", "WeakReference", "PhantomReference", "FinalReference")


def without_weak(path, graph):
    """The graph without referents, as x shows them; and which those are."""
    naive, weak = Naive(graph, False), set()
    wanted = ["java.lang.ref." + r for r in REFERENCES]
    for a in graph.classes:
        at, steps = a, 0
        while at in graph.classes and steps < 99:
            if graph.classes[at][0] in wanted:
                weak.add(a)
            at, steps = graph.classes[at][2], steps + 1
    holders = [a for a, o in graph.objects.items() if o.class_address in weak]
    dropped = set()
    for i in range(0, len(holders), 500):
        lines = ["x 0x%x" % a for a in holders[i:i + 500]]
        for holder, answer in zip(holders[i:], ask(path, lines)[0]):
            for row in answer["fields"]:
                if row["name"] == "referent" and row["address"]:
                    naive.drop(holder, int(row["address"], 16))
                    dropped.add(int(row["address"], 16))
    return naive, dropped & set(naive.out)


def fields_told(path, naive, chance):
    """Where there are fields every step has one, and the first a root: what is wrong, and in how many paths."""
    wrong, n = [], 0
    for a in chance.sample(sorted(naive.out), 20):
        answers, done = ask(path, ["path 0x%x" % a])
        if done.status == 1:
            continue
        n += 1
        wrong += ["%s: a step without a field" % r for r in answers[0][1:] if not r["field"]]
        wrong += ["%s: no root" % r for r in answers[0][:1] if not r["root"]]
    return wrong, n


GROVE = [
    # what Grove.java and Shop.java planted: the static field that keeps the objects of a class
    ("grove25.hprof", "grove.Grove$Order", "static CACHE"),
    ("shop-small.hprof", "shop.Shop$OrderLine", "static DB"),
    ("shop-small.hprof", "shop.Shop$Session", "static LEAK"),
]


def with_fields(tap, path, name, number):
    graph, asked = Graph.of_dump(path), turn(number, ("strong", "weak"))
    naive = Naive(graph, False)
    if "weak" in asked:
        wrong, n = check(path, naive, [], random.Random(1), 24)
        tap.none(wrong[:8], n, "%s: the naive search's paths" % name)
    if "strong" in asked:
        naive, dropped = without_weak(path, graph)
        wrong, n = check(path, naive, [], random.Random(2), 16, "", dropped)
        tap.none(wrong[:8], dropped and n, "%s: without %d weak references" % (name, len(dropped)))
    wrong, n = fields_told(path, naive, random.Random(3))
    tap.none(wrong[:8], n, "%s: fields and roots of %d paths" % (name, n))


def real(tap):
    if not DUMPS:
        tap.skip("real dumps", "CAIRN_DUMPS is not set")
        return
    for number, name in enumerate(some(("grove/shop-small.hprof", "grove/grove-tiny.hprof"), 2)):
        if os.path.exists(os.path.join(DUMPS, name)):
            with_fields(tap, os.path.join(DUMPS, name), name, number)
    for name, cls, field in GROVE:
        path = os.path.join(DUMPS, "grove", name)
        if not os.path.exists(path):
            continue
        rows = ask(path, ["ls '%s' | head 40" % cls])[0][0]
        wrong = []
        for answer in ask(path, ["path %s" % r["address"] for r in rows])[0]:
            fields = [r["field"] for r in answer]
            if field not in fields:
                wrong.append("%s: %s" % (answer[-1]["address"], fields))
        tap.ok(rows and not wrong, "%s: %s hangs on %s" % (name, cls, field), "\n".join(wrong[:8]))


def main():
    tap = Tap()
    made(tap)
    wrong, n = check(SAMPLE, Naive(Graph.of_dump(SAMPLE), True), [], random.Random(0), 60)
    tap.none(wrong[:8], n, "the PHD sample")
    real(tap)
    tap.done()


main()
