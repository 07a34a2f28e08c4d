#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of heap against a naive second algorithm.

The dominator tree that dom prints (proven elsewhere) is grouped here once more, by the rules that help
states: siblings of one class together, but a large one alone; what an object that is no array holds of its own
class with it; class objects looked through, and the class loaders that hold them.  Every row of heap -unfolded must be a node of that tree, and every
node a row; the nodes that heap gives one row are found here once more as well.  Of Go, whose types' kinds dom does not tell, only the sums are held against each other.
CAIRN_SEEDS: random dumps, 6 otherwise, in the long run 25.
"""

import glob
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, MKDUMP, QUICK, SAMPLE, SHOP, Run, Tap, cairn, seeds, some  # noqa: E402
from hprofedit import Edit  # noqa: E402

SEEDS = seeds(6, 25)
DEEP = "1000000"


# what a collection keeps its elements in belongs to its row; written down from java.util, not from our table
COLLECTIONS = {"java.lang.ThreadLocal$ThreadLocalMap"} | {"java.util." + n for n in """
    ArrayList Vector Stack LinkedList ArrayDeque PriorityQueue HashMap LinkedHashMap Hashtable Properties WeakHashMap
    TreeMap IdentityHashMap EnumMap RegularEnumSet JumboEnumSet HashSet LinkedHashSet TreeSet Arrays$ArrayList
    jar.Attributes ImmutableCollections$ListN ImmutableCollections$MapN ImmutableCollections$SetN
    ImmutableCollections$List12 ImmutableCollections$Map1 ImmutableCollections$Set12
    Collections$EmptyList Collections$EmptyMap Collections$EmptySet Collections$SingletonList Collections$SingletonMap
    Collections$SingletonSet Collections$UnmodifiableCollection Collections$UnmodifiableMap Collections$SetFromMap
    Collections$SynchronizedCollection Collections$SynchronizedMap Collections$CheckedCollection Collections$CheckedMap
    concurrent.ConcurrentHashMap concurrent.ConcurrentHashMap$KeySetView concurrent.CopyOnWriteArrayList
    concurrent.CopyOnWriteArraySet concurrent.LinkedBlockingQueue concurrent.LinkedBlockingDeque
    concurrent.ArrayBlockingQueue concurrent.ConcurrentLinkedQueue concurrent.ConcurrentLinkedDeque
    concurrent.ConcurrentSkipListMap concurrent.ConcurrentSkipListSet concurrent.PriorityBlockingQueue
    concurrent.DelayQueue""".split()}
PRIMITIVES = "boolean char byte short int long float double".split()


class Node:
    """What heap may give a row: objects, of which the topmost stand below no other."""

    def __init__(self, top, n, shallow, retained, children, mirrors=False):
        self.top, self.n, self.shallow, self.retained = top, n, shallow, retained
        self.children, self.mirrors = children, mirrors
        self.tops = self.direct = 0  # how many are topmost, and how many of these no static field holds


def rows_of(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.status == 0 else run


class Naive:
    """The dominator tree of a dump, by address."""

    def __init__(self, path):
        edit = Edit(path) if path.endswith(".hprof") else None
        self.children, self.of, self.total, self.supers = {}, {}, 0, {}
        if edit:
            for c, name in edit.names.items():
                _, body, _ = edit.places[c]
                self.supers.setdefault(name, edit.names.get(edit.dump.id(body + edit.dump.ids + 4)))
        for r in rows_of(path, "dom -depth " + DEEP):
            address = int(r["address"], 16)
            above = int(r["dominator"], 16) if r["dominator"] else None
            mirror = r["object"] != r["class"]
            which = edit.instance_class.get(address, r["class"]) if edit else r["class"]
            self.of[address] = (which, r["class"], r["shallow"], r["retained"], mirror)
            self.children.setdefault(above, []).append(address)
            self.total += r["shallow"]
        self.loaders = self.holding({int(r["address"], 16) for r in rows_of(path, "loaders") if r["address"]})

    def holding(self, loaders):
        """The loaders that hold class objects, eight steps above at the most, and what is on the way to these."""
        above = {c: a for a, below in self.children.items() for c in below}
        out = set()
        for a in (a for a, of in self.of.items() if of[4]):
            way = []
            while above[a] is not None and len(way) < 8:
                a = above[a]
                way.append(a)
                if a in loaders:
                    out.update(way)
                    break
        return out

    def below(self, address, joined):
        """What stands below an object, class objects and their loaders looked through: (objects, class objects + loaders)."""
        found, mirrors = [], ([], [])
        todo = [c for c in self.children.get(address, []) if c not in joined]
        while todo:
            c = todo.pop()
            if self.of[c][4] or c in self.loaders:
                mirrors[not self.of[c][4]].append(c)
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
                todo += [c for c in self.children.get(a, []) if self.of[c][0] == self.of[a][0] and not self.of[c][4]
                         and c not in self.loaders]
        return members

    def level(self, found, mirrors, each):
        """Nodes of what stands beside each other: lists of the topmost objects; then class objects, and loaders."""
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
        return self.node_list(self.level(*self.below(None, ()), each), {None}, each)

    def node_list(self, level, members, each):
        """The nodes of a level that hangs on these objects."""
        nodes, mirrors = level
        direct = {c for a in members for c in self.children.get(a, [])}
        out = []
        for tops in nodes:
            joined = set().union(*(self.joined(a) for a in tops))
            found, below_mirrors = [], ([], [])
            for a in joined:
                f, m = self.below(a, joined)
                found += f
                for to, more in zip(below_mirrors, m):
                    to += more
            node = Node(tops[0], len(joined), sum(self.of[a][2] for a in joined), sum(self.of[a][3] for a in tops),
                        self.node_list(self.level(found, below_mirrors, each), joined, each))
            node.tops, node.direct = len(tops), len(direct.intersection(tops))
            out.append(node)
        for looked_through in filter(None, mirrors):
            shallow = sum(self.of[a][2] for a in looked_through)
            out.append(Node(looked_through[0], len(looked_through), shallow, shallow, [], True))
        return out

    def brief(self, node):
        return self.of[node.top][1].rsplit(".", 1)[-1]

    def kinds(self, name):
        """A class and those above it."""
        out = []
        while name and name not in out:
            out.append(name)
            name = self.supers.get(name)
        return out

    def is_collection(self, node):
        return any(c in COLLECTIONS for c in self.kinds(self.of[node.top][1]))

    def inside(self, way, child):
        """Is it what a collection or a String of the way is made of?"""
        name, last = self.of[child.top][1], way[-1]
        if self.of[last.top][1] == "java.lang.String":
            return name[:-2] in PRIMITIVES
        owners = [n for n in way if self.is_collection(n)]
        if not owners:
            return False
        if any(name.startswith(c + "$") for c in self.kinds(self.of[owners[-1].top][1])):
            return True
        return owners[-1] is last and (name.endswith("[]") or self.is_collection(child))

    def way(self, node):
        """The nodes in its row, and whether each is what the one before is made of."""
        way, made, beside = [node], [False], 0
        while len(way) <= 16 and not node.mirrors:
            below = way[-1].retained - way[-1].shallow
            for child in way[-1].children:
                more = beside + below - child.retained
                alone = sum(self.of[c.top][0] == self.of[child.top][0] for c in way[-1].children if not c.mirrors) == 1
                if child.mirrors or not alone or child.direct < child.tops or \
                        2 * child.retained < node.retained or more > node.retained // 20:
                    continue
                inside = self.inside(way, child)
                if child.tops <= node.tops or inside:
                    break
            else:
                break
            way.append(child)
            made.append(inside)
            beside = more
        return way, made

    def rows(self, nodes, folded, depth=0):
        """(class, objects, shallow, retained, depth, what the row ends with, rows below), in an order."""
        out = []
        for node in nodes:
            way, made = self.way(node) if folded else ([node], [False])
            below = [c for n in way for c in n.children if c not in way]
            told = max(i for i in range(len(way)) if not made[i])
            if node.top in self.loaders:
                out.append(("", node.n, node.shallow, node.retained, depth, ("class loaders, own bytes", False), []))
                continue
            end = "%s%s" % ("{:,} × ".format(way[told].n) if way[told].n > 1 else "", self.brief(way[told]))
            out.append((self.of[node.top][1], node.n, node.shallow, node.retained, depth, (end, told > 0),
                        self.rows(below, folded, depth + 1)))
        return sorted(out)


def nested(rows):
    """The rows of heap as Naive.rows gives them."""
    top = []
    stack = [(-1, top)]
    for r in rows:
        while stack[-1][0] >= r["depth"]:
            stack.pop()
        goes_on = " > " in r["branch"]
        words = r["branch"] if not r["class"] else r["branch"].rsplit(" > " if "  " not in r["branch"].rsplit(" > ", 1)[-1] else "  ", 1)[-1]
        node = [r["class"] or "", r["objects"], r["shallow"], r["retained"], r["depth"], (words, goes_on), []]
        stack[-1][1].append(node)
        stack.append((r["depth"], node[6]))

    def ordered(nodes):
        return sorted(tuple(n[:6]) + (ordered(n[6]),) for n in nodes)
    return ordered(top)


def first_difference(a, b, where=""):
    if len(a) != len(b):
        few = {n[:6] for n in a} ^ {n[:6] for n in b}
        return "%s: %d rows against %d: %s" % (where or "top", len(a), len(b), sorted(few)[:4])
    for x, y in zip(a, b):
        if x[:6] != y[:6]:
            return "%s: %s against %s" % (where or "top", x[:6], y[:6])
        if x[6] != y[6]:
            return first_difference(x[6], y[6], where + " > " + x[0])
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
    return path.endswith(".hprof") or not json.loads(cairn("--format", "json", "-x", "duplicate-classes", path).out or "[]")


def check(tap, path, name, naive=True):
    info = json.loads(cairn("--format", "json", "-x", "info", path).out)
    rows = rows_of(path, "heap -unfolded -depth " + DEEP)
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
        nodes = truth.tree(each)
        # of HPROF the superclasses can be read here, and so what is a collection; one JDK has what the others have
        ways = not each and path.endswith((os.path.basename(SHOP), "grove11.hprof", "grove28.hprof"))
        for folded in (False, True) if ways else (False,):
            rows = rows_of(path, "heap %s %s -depth %s" % ("-each" * each, "-unfolded" * (not folded), DEEP))
            got, want = nested(rows), truth.rows(nodes, folded)
            how = ", each object alone" * each + ", ways in one row" * folded
            tap.ok(got == want, "%s: %d rows as the naive algorithm has them%s" % (name, len(rows), how),
                   first_difference(got, want))


def check_random(tap, directory):
    wrong, asked = [], 0
    for seed in SEEDS:
        made = Run([MKDUMP, "random", "--seed", str(seed), "--out", os.path.join(directory, "g")])
        path = made.out.split("\t")[0]
        if not tells_classes(path):
            continue
        asked += 1
        truth = Naive(path)
        nodes = truth.tree()
        for folded in (False, True):
            got = nested(rows_of(path, "heap %s -depth %s" % ("-unfolded" * (not folded), DEEP)))
            want = truth.rows(nodes, folded)
            if got != want:
                wrong.append("seed %d: %s" % (seed, first_difference(got, want)))
    tap.ok(asked and not wrong, "%d random dumps as the naive algorithm has them" % asked, "\n".join(wrong))


def check_sets(tap, path):
    """Of one object: what dom prints below it; of all objects: nothing is left to stand below them."""
    sys.setrecursionlimit(10000)
    for r in rows_of(path, "dom")[:20]:
        rows = rows_of(path, "heap %s -each -unfolded" % r["address"])
        if isinstance(rows, list):
            want = r["retained"] - r["shallow"]
            got = sum(x["retained"] for x in rows)
            tap.ok(got == want, "%s holds what hangs below it" % r["address"], "%d of %d" % (got, want))
    run = cairn("-x", "heap *", path)
    tap.ok("it dominates no other object" in run.out + run.err, "below all objects there is nothing", run)


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
        real = sorted(glob.glob(os.path.join(DUMPS, "today", "*.hprof")) + glob.glob(os.path.join(DUMPS, "openj9", "*.phd")))
        for path in real[:1] if QUICK else some(real, 4):
            check(tap, path, os.path.relpath(path, DUMPS))
        for path in sorted(glob.glob(os.path.join(DUMPS, "today", "*.dump"))):
            check(tap, path, os.path.relpath(path, DUMPS), naive=False)
    else:
        tap.skip("dumps of today's runtimes", "CAIRN_DUMPS is not set")
    tap.done()


main()
