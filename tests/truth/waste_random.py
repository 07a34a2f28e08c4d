#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""waste against a naive second algorithm, on small random heaps (tests/lib/wastemade.py).

What is waste is computed here from the graph that was made: collections are walked by the names of their fields, equal contents are
found with dicts.  Compared are the objects, the bytes and what of them is wasted of each kind, of each class, and of each field
where only one can be meant; and which objects a kind's row stands for.  No object may be in two kinds.  CAIRN_SEEDS: how many heaps."""

import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, seeds, try_seeds  # noqa: E402
from wastemade import BOXES, CLASSES, LOCKS, NODES, U, UC, WIDTH, Maker  # noqa: E402

SEEDS = seeds(24, 60)
PART, COLLECTION, STRING, BOX, PLAIN, REFERENCE, ARRAY = range(7)


# --- the naive algorithm --------------------------------------------------------------------------


def role(thing):
    name = thing.name
    if isinstance(thing.values, (bytes, list)):
        return ARRAY
    if name in NODES:
        return PART
    if name == "java.lang.String":
        return STRING
    if name in BOXES:
        return BOX
    if name.startswith("java.lang.ref."):
        return REFERENCE
    return COLLECTION if name.startswith(U) and name not in NODES and name in CLASSES and \
        not name.startswith((UC + "atomic", UC + "locks")) else PLAIN


class Naive:
    def __init__(self, h):
        self.h, self.things = h, h.things
        self.found = collections.defaultdict(list)  # by kind: (address, shallow, wasted)
        self.rooted = set(h.roots)
        self.roles = {at: role(t) for at, t in h.things.items()}
        self.find_holders()
        self.find_parts()
        self.texts()
        self.collections()
        self.arrays()
        self.boxes()
        self.objects()

    def find_holders(self):
        """By address, as often as they hold it; classes by their names."""
        for t in self.things.values():
            held = t.values.values() if isinstance(t.values, dict) else t.values if isinstance(t.values, list) else []
            if isinstance(t.values, dict):
                kinds = {f: k for k, f in self.h.fields(self.h.classes[t.name])}
                held = [v for f, v in t.values.items() if kinds[f] == "L"]
            for at in held:
                if at:
                    self.things[at].holders.append(t.at)
        for name, c in self.h.classes.items():
            for _, _, at in c[3]:
                self.things[at].holders.append(name)
        for t in self.things.values():  # classes lie before all objects
            t.holders.sort(key=lambda x: self.h.classes[x][0] if isinstance(x, str) else x)

    def get(self, at, field):
        return self.things[at].values[field]

    def own_array(self, at):
        return [at] if at and len(self.things[at].holders) == 1 else []

    def parts_of(self, at):
        """(elements, table, what it is made of but itself)"""
        name = self.things[at].name
        short = name.split(".")[-1]
        if short == "HashSet":
            inner = self.get(at, "map")
            n, table, parts = self.parts_of(inner)
            return n, table, [inner] + parts
        if short in ("ArrayList", "PriorityQueue", "IdentityHashMap"):
            table = self.get(at, {"ArrayList": "elementData", "PriorityQueue": "queue"}.get(short, "table"))
            return self.get(at, "size"), table, self.own_array(table)
        if short == "ArrayDeque":
            table = self.get(at, "elements")
            room = len(self.things[table].values)
            return (self.get(at, "tail") - self.get(at, "head")) % room, table, self.own_array(table)
        if short in ("HashMap", "Hashtable", "WeakHashMap", "ConcurrentHashMap"):
            table = self.get(at, "table")
            nodes = []
            for head in self.things[table].values if table else []:
                while head:
                    nodes.append(head)
                    head = self.get(head, "next")
            return len(nodes), table, self.own_array(table) + nodes
        first = self.get(at, {"LinkedList": "first", "LinkedBlockingQueue": "head", "TreeMap": "root"}[short])
        nodes = []
        while first:
            nodes.append(first)
            first = self.get(first, "left" if short == "TreeMap" else "next")
        return len(nodes) - (short == "LinkedBlockingQueue"), 0, nodes

    def find_parts(self):
        self.owner, self.inside = {}, set()
        sets = [at for at in self.things if self.things[at].name == U + "HashSet"]
        for at in sets + [at for at, r in self.roles.items() if r == COLLECTION and at not in sets]:
            if at in self.owner:
                continue
            for part in self.parts_of(at)[2]:
                self.owner[part] = at

    def stays(self, at):
        rank = 0
        for holder in self.things[at].holders:
            if not isinstance(holder, str) and self.roles[holder] == ARRAY and holder not in self.owner:
                holder = (self.things[holder].holders or [0])[0]
            rank = max(rank, int(isinstance(holder, str)))
        return -rank, at

    def equal(self, kind, groups, bytes_of):
        for same in groups:
            if len(same) > 1:
                first = min(same, key=self.stays)
                for at in same:
                    n = bytes_of(at, same, first)
                    self.found[kind].append((at, n, 0 if at == first else n))

    def text_of(self, at):
        v = self.things[at].values
        if not v["value"]:
            return None
        raw = self.things[v["value"]].values
        if self.h.strings == 6:
            return 2, raw[2 * v["offset"]:2 * (v["offset"] + v["count"])]
        return 2 if self.h.strings == 8 or v["coder"] else 1, raw

    def texts(self):
        groups = collections.defaultdict(list)
        for at, r in self.roles.items():
            if r == STRING and self.text_of(at):
                groups[self.text_of(at)].append(at)

        def bytes_of(at, same, first):
            array = self.things[self.get(at, "value")]
            sharing = [s for s in same if self.get(s, "value") == array.at]
            alone = set(sharing) == set(array.holders)
            counts = first if self.get(first, "value") == array.at else min(sharing)
            return self.things[at].size + (array.size if alone and at == counts else 0)

        self.equal("strings", groups.values(), bytes_of)
        for (width, raw), same in groups.items():
            array = self.things[self.get(same[0], "value")]
            if len(same) == 1 and self.h.strings == 17 and width == 2 and raw and not any(raw[1::2]) and \
                    array.holders == same:
                saved = array.size - self.h.array_size("B", len(raw) // 2)
                if saved:
                    self.found["wide"].append((same[0], self.things[same[0]].size + array.size, saved))

    def collections(self):
        for at, r in self.roles.items():
            if r != COLLECTION or at in self.owner:
                continue
            t = self.things[at]
            n, table, parts = self.parts_of(at)
            if n <= 1:
                inner = self.things[t.values["map"]] if "map" in t.values else t
                used = inner.values.get("modCount", 0) or inner.values.get("head", 0) * ("tail" in inner.values) or \
                    ("baseCount" in inner.values and table)
                kind = "single" if n else "emptied" if used else "unused"
                bytes_ = t.size + sum(self.things[p].size for p in parts)
                self.found[kind].append((at, bytes_, bytes_))
            elif table in self.owner:
                self.table(t, n, self.things[table])

    def table(self, t, n, table):
        shallow = t.size + table.size
        chained = table.name.endswith(("Node[]", "Entry[]"))
        used = sum(1 for x in table.values if x)
        if chained and n >= 16 and n // used >= 4:
            self.found["chains"].append((t.at, shallow, 0))
            return
        identity = t.name.endswith("IdentityHashMap")
        room = len(table.values) // (2 if identity else 1)
        if room <= 16 or n * 4 > room:
            return
        enough = n + t.name.endswith("ArrayDeque")
        if identity or chained:
            enough = next(1 << i for i in range(40) if (1 << i >= 3 * n if identity else 3 << i >= 4 * n))
        saved = table.size - self.h.array_size("L", enough)
        if saved > 0:
            self.found["oversized"].append((t.at, shallow, saved))

    def is_own(self, t):
        return t.at not in self.owner and not any(self.roles.get(x) == STRING for x in t.holders)

    def arrays(self):
        groups = collections.defaultdict(list)
        for t in self.things.values():
            if self.roles[t.at] != ARRAY or not self.is_own(t):
                continue
            width = 1 if isinstance(t.values, list) else WIDTH[t.kind]
            n = len(t.values) // width
            vms = not t.holders and t.at in self.rooted
            if n < 2:
                shared = any(isinstance(x, str) for x in t.holders)
                if not vms and not (shared and not n):
                    self.found["one" if n else "empty"].append((t.at, t.size, t.size))
            elif isinstance(t.values, list):
                used = sum(1 for x in t.values if x)
                if n >= 16 and used * 4 <= n and not vms:
                    self.found["sparse"].append((t.at, t.size, t.size - self.h.array_size("L", used)))
            else:
                self.contents(t, width, n, groups)
        self.equal("arrays", groups.values(), lambda at, same, first: self.things[at].size)

    def contents(self, t, width, n, groups):
        elements = [t.values[i * width:(i + 1) * width] for i in range(n)]
        while elements and not any(elements[-1]):
            elements.pop()
        zeros = (n - len(elements)) * width
        if t.values == t.values[:width] * n:
            self.found["constant"].append((t.at, t.size, t.size))
        elif zeros >= 64 and 2 * zeros >= len(t.values):
            self.found["tails"].append((t.at, t.size, t.size - self.h.array_size(t.kind, len(elements))))
        else:
            groups[t.name, t.values].append(t.at)

    def boxes(self):
        boxed = collections.defaultdict(lambda: [0, 0])
        for at, r in self.roles.items():
            t = self.things[at]
            if r != BOX or self.is_cached(t):
                continue
            more = max(0, WIDTH[BOXES[t.name]] - self.h.layout["ref"]) * max(1, len(t.holders))
            saved = max(0, t.size - more)
            first = self.owner.get(t.holders[0]) if t.holders else None
            if first is None:
                self.found["boxes"].append((at, t.size, saved))
            else:
                boxed[first][0] += t.size
                boxed[first][1] += saved
        self.found["boxed"] = [(at, *amounts) for at, amounts in boxed.items()]

    def is_cached(self, t):
        for x in t.holders:
            if x in BOXES or (self.roles.get(x) == ARRAY and "java.lang.Integer$IntegerCache" in self.things[x].holders):
                return True
        return False

    def objects(self):
        groups = collections.defaultdict(list)
        for at, r in self.roles.items():
            t = self.things[at]
            if r == PLAIN and t.values and not t.name.startswith(UC) and t.name not in LOCKS:
                groups[t.name, tuple(t.values.items())].append(at)
        self.equal("objects", groups.values(), lambda at, same, first: self.things[at].size)

    # --- of classes ---

    def of_classes(self):
        """Rows of fields and alignment: (kind, class, field): (objects, shallow, wasted)"""
        rows = {}
        instances = collections.defaultdict(list)
        for t in self.things.values():
            if isinstance(t.values, dict):
                instances[t.name].append(t)
        for name, c in self.h.classes.items():
            below = [t for x, list_ in instances.items() for t in list_ if self.is_below(x, name)]
            for kind, field in c[1]:
                if len(below) > 1000 and len({t.values[field] for t in below}) == 1:
                    rows["fields", name, field] = (len(below), sum(t.size for t in below), len(below) * self.h.width(kind))
            mine = instances[name]
            if mine:
                fields = sum(self.h.width(k) for k, _ in self.h.fields(c))
                loss = mine[0].size - self.h.layout["header"] - fields
                if loss:
                    rows["alignment", name, ""] = (len(mine), sum(t.size for t in mine), loss * len(mine))
        return rows

    def is_below(self, name, above):
        c = self.h.classes[name]
        while c:
            if c is self.h.classes[above]:
                return True
            c = c[2]
        return False

    # --- by field ---

    def place(self, at):
        """The field that holds an object of a heap where each has one holder."""
        deep = 0
        while True:
            at_holder = self.owner.get(at)
            if at_holder is None:
                holders = self.things[at].holders
                if not holders:
                    return ""
                at_holder = holders[0]
            if isinstance(at_holder, str):
                field = next(f for _, f, v in self.h.classes[at_holder][3] if v == at)
                return at_holder + "." + field + "[]" * min(deep, 8)
            if at_holder in self.owner:
                at = self.owner[at_holder]
            elif self.roles[at_holder] == COLLECTION:
                at = at_holder
            elif self.roles[at_holder] == ARRAY:
                at, deep = at_holder, deep + 1
            else:
                holder = self.things[at_holder]
                return holder.name + "." + next(f for f, v in holder.values.items() if v == at) + "[]" * min(deep, 8)


# --- comparing ------------------------------------------------------------------------------------


def sums(rows):
    total = collections.defaultdict(lambda: (0, 0, 0))
    for key, shallow, wasted in rows:
        n, s, w = total[key]
        total[key] = (n + 1, s + shallow, w + wasted)
    return {k: v for k, v in total.items() if v[2] or k[0] == "chains"}


def differences(what, got, want):
    return ["%s %s: got %s, want %s" % (what, k, got.get(k), want.get(k)) for k in sorted(set(got) | set(want), key=str)
            if got.get(k) != want.get(k)]


KINDS = ("strings wide unused emptied single chains oversized empty one sparse constant tails arrays boxes boxed objects "
         "fields alignment").split()


def one(folder, seed):
    made = Maker(seed)
    path = os.path.join(folder, "r.hprof")
    with open(path, "wb") as f:
        f.write(made.h.bytes())
    return "%s, Strings of JDK %d, %d objects%s" % (made.h.layout, made.h.strings, len(made.h.things),
                                                    ", shared" if made.shared else ""), compare(path, made), len(made.h.things)


def compare(path, made):
    naive = Naive(made.h)
    lines = ["waste"] + ["waste %s -by class" % k for k in KINDS] + (["waste " + k for k in KINDS[:16]])
    run = cairn(*[x for line in lines for x in ("-x", line)], "--format", "jsonl", path)
    rows = [json.loads(x) for x in run.out.splitlines()]
    if run.status or not rows:
        return [str(run)]
    figures = ("objects", "with_parts", "wasted")
    whole = {(r["kind"],): tuple(r[f] for f in figures) for r in rows if "class" not in r}
    by_class = {(r["kind"], r["class"]): tuple(r[f] for f in figures) for r in rows if "class" in r and "field" not in r}
    things, found = made.h.things, [(k, *row) for k, of in naive.found.items() for row in of]
    classes = naive.of_classes()
    want = sums(((k,), s, w) for k, at, s, w in found)
    for kind in ("fields", "alignment"):
        about = {name for k, name, _ in classes if k == kind}
        some = [t for t in things.values() if isinstance(t.values, dict) and
                (t.name in about or (kind == "fields" and any(naive.is_below(t.name, name) for name in about)))]
        if about:
            want[kind,] = (len(some), sum(t.size for t in some), sum(w for (k, _, _), (_, _, w) in classes.items() if k == kind))
    wrong = differences("kind", whole, want)
    want = sums(((k, things[at].name), s, w) for k, at, s, w in found)
    for (kind, name, _), (n, s, w) in classes.items():
        want[kind, name] = (n, s, want.get((kind, name), (0, 0, 0))[2] + w)
    wrong += differences("class", by_class, want)
    if not made.shared:
        by_field = collections.defaultdict(lambda: (0, 0, 0))
        for r in rows:
            if "field" in r:
                key = r["kind"], r["field"] or "", r["class"]
                by_field[key] = tuple(a + r[f] for a, f in zip(by_field[key], figures))
        want = sums(((k, naive.place(at), things[at].name), s, w) for k, at, s, w in found)
        wrong += differences("field", by_field, want)
    return wrong + compare_members(path, rows, naive)


def compare_members(path, rows, naive):
    """What the row of each kind stands for, by address; and the last line."""
    rows = [r["kind"] for r in rows if "class" not in r]
    kinds = [k for k in rows if k in KINDS[:16]]
    wrong = []
    run = cairn(*[x for k in kinds for x in ("-x", "waste", "-x", "$%s = %%%d" % (k, rows.index(k) + 1))],
                *[x for k in kinds for x in ("-x", "ls $%s" % k)], path)
    got, kind = {}, iter(kinds)
    for line in run.out.splitlines():
        if line.startswith("address"):
            at = got.setdefault(next(kind), set())
        elif line.startswith("0x"):
            at.add(int(line.split()[0], 16))
    want = {k: {row[0] for row in of} for k, of in naive.found.items() if k in kinds}
    for k in kinds:
        if got.get(k, set()) != want.get(k, set()):
            wrong.append("members of %s: %s" % (k, sorted(map(hex, got.get(k, set()) ^ want.get(k, set())))[:5]))
    seen = collections.Counter(at for k, of in naive.found.items() if k != "boxed" for at, *_ in of)
    wrong += ["%#x is of two kinds" % at for at, n in seen.items() if n > 1]
    return wrong


def main():
    t = Tap()
    try_seeds(t, SEEDS, one)
    t.done()


if __name__ == "__main__":
    main()
