#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of heap against a naive second algorithm.

The dominator tree that dom prints (proven elsewhere) is grouped here once more, by the rules that help
states: siblings of one class together, but a large one alone; what an object that is no array holds of its own
class with it; class objects looked through.  Every row of heap must be a node of that tree, and every node
a row.  Of Go, whose types' kinds dom does not tell, only the sums are held against each other.
CAIRN_SEEDS: random dumps, 25 otherwise.
"""

import glob
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, MKDUMP, SAMPLE, SHOP, Run, Tap, cairn  # noqa: E402
from hprofedit import Edit  # noqa: E402

SEEDS = int(os.environ.get("CAIRN_SEEDS", "25"))
QUICK = bool(os.environ.get("CAIRN_QUICK"))
DEEP = "1000000"


def rows_of(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.status == 0 else run


class Naive:
    """The dominator tree of a dump, by address."""

    def __init__(self, path):
        edit = Edit(path) if path.endswith(".hprof") else None
        self.children, self.of, self.total = {}, {}, 0
        for r in rows_of(path, "dom -depth " + DEEP):
            address = int(r["address"], 16)
            above = int(r["dominator"], 16) if r["dominator"] else None
            mirror = r["object"] != r["class"]
            which = edit.instance_class.get(address, r["class"]) if edit else r["class"]
            self.of[address] = (which, r["class"], r["shallow"], r["retained"], mirror)
            self.children.setdefault(above, []).append(address)
            self.total += r["shallow"]

    def below(self, address, joined):
        """What stands below an object, class objects looked through: (objects, class objects)."""
        found, mirrors = [], []
        todo = [c for c in self.children.get(address, []) if c not in joined]
        while todo:
            c = todo.pop()
            if self.of[c][4]:
                mirrors.append(c)
                todo += self.children.get(c, [])
            else:
                found.append(c)
        return found, mirrors

    def joined(self, top):
        """The object, and what it dominates of its own class without another class between them."""
        members, todo = set(), [top]
        while todo:
            a = todo.pop()
            members.add(a)
            if not self.of[a][1].endswith("[]"):
                todo += [c for c in self.children.get(a, []) if self.of[c][0] == self.of[a][0] and not self.of[c][4]]
        return members

    def level(self, found, mirrors, each):
        """Nodes of what stands beside each other: lists of the topmost objects; class objects are the last."""
        classes = {}
        for a in found:
            classes.setdefault(self.of[a][0], []).append(a)
        nodes = []
        for objects in classes.values():
            size = sum(self.of[a][3] for a in objects)
            alone = [a for a in objects if each or self.of[a][3] >= max(size // 8, self.total // 100)]
            nodes += [[a] for a in alone]
            others = [a for a in objects if a not in set(alone)]
            nodes += [others] if others else []
        return nodes, mirrors

    def tree(self, each=False):
        """(depth, class, objects, shallow, retained) of every node, as a nested tuple that has an order."""
        top = self.below(None, ())
        return self.node_list(self.level(*top, each), 0, each)

    def node_list(self, level, depth, each):
        nodes, mirrors = level
        out = []
        for tops in nodes:
            members = set().union(*(self.joined(a) for a in tops))
            found, below_mirrors = [], []
            for a in members:
                f, m = self.below(a, members)
                found += f
                below_mirrors += m
            out.append((self.of[tops[0]][1], len(members), sum(self.of[a][2] for a in members),
                        sum(self.of[a][3] for a in tops), depth,
                        self.node_list(self.level(found, below_mirrors, each), depth + 1, each)))
        if mirrors:
            shallow = sum(self.of[a][2] for a in mirrors)
            out.append((self.of[mirrors[0]][1], len(mirrors), shallow, shallow, depth, []))
        return sorted(out)


def nested(rows):
    """The rows of heap as Naive.tree gives them."""
    top = []
    stack = [(-1, top)]
    for r in rows:
        while stack[-1][0] >= r["depth"]:
            stack.pop()
        node = [r["class"], r["objects"], r["shallow"], r["retained"], r["depth"], []]
        stack[-1][1].append(node)
        stack.append((r["depth"], node[5]))

    def ordered(nodes):
        return sorted(tuple(n[:5]) + (ordered(n[5]),) for n in nodes)
    return ordered(top)


def first_difference(a, b, where=""):
    if len(a) != len(b):
        few = {n[:5] for n in a} ^ {n[:5] for n in b}
        return "%s: %d rows against %d: %s" % (where or "top", len(a), len(b), sorted(few)[:4])
    for x, y in zip(a, b):
        if x[:5] != y[:5]:
            return "%s: %s against %s" % (where or "top", x[:5], y[:5])
        if x[5] != y[5]:
            return first_difference(x[5], y[5], where + " > " + x[0])
    return ""


def sums(rows, total):
    """What rows below a row retain is what it retains less its own bytes."""
    wrong, open_rows = [], [[-1, total, 0, "top"]]
    for r in rows + [None]:
        depth = r["depth"] if r else 0
        while open_rows[-1][0] >= depth:
            _, left, n, name = open_rows.pop()
            if left and n:
                wrong.append("%s: %d bytes too few below it" % (name, left))
        if r:
            open_rows[-1][1] -= r["retained"]
            open_rows[-1][2] += 1
            own = r["shallow"]
            open_rows.append([depth, r["retained"] - own, 0, r["branch"]])
    if open_rows[0][1]:
        wrong.append("top: %d bytes too few" % open_rows[0][1])
    return wrong


def tells_classes(path):
    """Does dom tell the class of an object?  Not where several have one name, unless the dump can be read here."""
    return path.endswith(".hprof") or not json.loads(cairn("--format", "json", "-x", "dupclasses", path).out or "[]")


def check(tap, path, name, naive=True):
    info = json.loads(cairn("--format", "json", "-x", "info", path).out)
    rows = rows_of(path, "heap -depth " + DEEP)
    if not isinstance(rows, list):
        tap.ok(False, "%s: heap" % name, rows)
        return
    wrong = sums(rows, info["reachable_shallow"])
    count = sum(r["objects"] for r in rows)
    if count != info["reachable_objects"]:
        wrong.append("%d objects of %d" % (count, info["reachable_objects"]))
    tap.ok(rows and not wrong, "%s: %d rows sum up to what is reachable" % (name, len(rows)), "\n".join(wrong[:10]))
    if not naive or not tells_classes(path):
        return
    truth = Naive(path)
    for each in (False, True):
        rows = rows_of(path, "heap %s -depth %s" % ("-each" if each else "", DEEP))
        got, want = nested(rows), truth.tree(each)
        tap.ok(got == want, "%s: %d rows as the naive algorithm has them%s" % (name, len(rows), ", each object alone" if each else ""),
               first_difference(got, want))


def check_random(tap, directory):
    wrong, asked = [], 0
    for seed in range(SEEDS):
        made = Run([MKDUMP, "random", "--seed", str(seed), "--out", os.path.join(directory, "g")])
        path = made.out.split("\t")[0]
        if not tells_classes(path):
            continue
        asked += 1
        got, want = nested(rows_of(path, "heap -depth " + DEEP)), Naive(path).tree()
        if got != want:
            wrong.append("seed %d: %s" % (seed, first_difference(got, want)))
    tap.ok(asked and not wrong, "%d random dumps as the naive algorithm has them" % asked, "\n".join(wrong))


def check_sets(tap, path):
    """Of one object: what dom prints below it; of all objects: nothing is left to stand below them."""
    sys.setrecursionlimit(10000)
    for r in rows_of(path, "dom")[:20]:
        rows = rows_of(path, "heap %s -each" % r["address"])
        if isinstance(rows, list):
            want = r["retained"] - r["shallow"]
            got = sum(x["retained"] for x in rows)
            tap.ok(got == want, "%s holds what hangs below it" % r["address"], "%d of %d" % (got, want))
    run = cairn("-x", "heap *", path)
    tap.ok("nothing hangs on it alone" in run.out + run.err, "below all objects there is nothing", run)


def main():
    sys.setrecursionlimit(100000)
    tap = Tap()
    check(tap, SHOP, "shop.hprof")
    check(tap, SAMPLE, "the sample of PHD")
    check(tap, GO, "gocart.dump", naive=False)
    check_sets(tap, SHOP)
    with tempfile.TemporaryDirectory() as directory:
        check_random(tap, directory)
    if DUMPS:
        for path in sorted(glob.glob(os.path.join(DUMPS, "today", "*.hprof")) +
                           glob.glob(os.path.join(DUMPS, "openj9", "*.phd")))[:1 if QUICK else None]:
            check(tap, path, os.path.relpath(path, DUMPS))
        for path in sorted(glob.glob(os.path.join(DUMPS, "today", "*.dump"))):
            check(tap, path, os.path.relpath(path, DUMPS), naive=False)
    else:
        tap.skip("dumps of today's runtimes", "CAIRN_DUMPS is not set")
    tap.done()


main()
