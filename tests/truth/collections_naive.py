#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What collections of the JDK contain, against a naive count that knows no order of nodes.

Of a collection made of nodes: how many nodes its references lead to, through nodes, tables and segments, that hold
something.  Of one made of an array: what is not null in it.  Real dumps of JDK 6 to 28.
"""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn, skip_all  # noqa: E402
from hprofedit import Edit  # noqa: E402

U, UC = "java.util.", "java.util.concurrent."
# the field that a node holds something by, and what is no node of entries
NODES = {U + "HashMap": "", U + "LinkedHashMap": "", U + "Hashtable": "", U + "Properties": "", U + "TreeMap": "",
         U + "WeakHashMap": "", UC + "ConcurrentHashMap": "key", U + "LinkedList": "", UC + "LinkedBlockingQueue": "item",
         UC + "LinkedBlockingDeque": "item", UC + "ConcurrentLinkedQueue": "item", UC + "ConcurrentLinkedDeque": "item",
         UC + "LinkedTransferQueue": "item", UC + "ConcurrentSkipListMap": "key"}
# slots of an array for each element
ARRAYS = {U + "ArrayList": 1, U + "Vector": 1, U + "Stack": 1, U + "PriorityQueue": 1, U + "ArrayDeque": 1,
          UC + "ArrayBlockingQueue": 1, UC + "PriorityBlockingQueue": 1, UC + "CopyOnWriteArrayList": 1,
          U + "Arrays$ArrayList": 1, U + "ImmutableCollections$ListN": 1, U + "ImmutableCollections$SetN": 1,
          U + "ImmutableCollections$MapN": 2, U + "IdentityHashMap": 2}
FIELDS = {"elementData", "queue", "elements", "items", "array", "a", "table"}
CONTENT = {"key", "value", "val", "item", "element", "referent"}
PARTS = ("Node", "Entry", "HashEntry", "Segment", "TreeBin", "TreeNode", "Index", "HeadIndex")
FROM = [U + x for x in ("HashMap$", "LinkedHashMap$", "Hashtable$", "TreeMap$", "WeakHashMap$", "LinkedList$",
                        "concurrent.")]


def is_part(name):
    plain = name.rstrip("[]")
    return any(plain.startswith(x) for x in FROM) and plain.rsplit("$", 1)[-1] in PARTS


def name_of(e, a):
    return e.names.get(e.instance_class.get(a), "")


def held(e, a, content):
    """Does the node hold something?  No header of a list does, nor what marks a place."""
    fields = {label: target for _, label, _, target in e.out(a)}
    simple = name_of(e, a).rsplit("$", 1)[-1]
    if simple in ("Segment", "TreeBin", "Index", "HeadIndex") or name_of(e, a).endswith("[]"):
        return False
    value = fields.get("value", fields.get("val"))
    if content == "key" and "SkipList" in name_of(e, a) and (not value or value == a):
        return False
    return not content or bool(fields.get(content))


def nodes(e, a, content):
    """How many nodes hold something."""
    inner = [t for _, label, _, t in e.out(a) if label == "map" and t in e.places]
    if inner:  # Properties since Java 9
        return nodes(e, inner[0], "key")
    headers = {t for _, label, _, t in e.out(a) if label == "header"}
    seen, stack, n = set(), [a], 0
    while stack:
        at = stack.pop()
        for _, label, _, to in e.out(at):
            if to in seen or to not in e.places or label in CONTENT or not is_part(name_of(e, to)):
                continue
            seen.add(to)
            stack.append(to)
            n += to not in headers and held(e, to, content)
    return n


def filled(e, a, slots):
    """What is not null in its array."""
    for _, label, _, to in e.out(a):
        if label in FIELDS and name_of(e, to).endswith("[]"):
            taken = {int(l[1:-1]) // slots for _, l, _, t in e.out(to) if t and l.startswith("[")}
            return len(taken)
    return 0


def check(tap, path):
    name, e = os.path.relpath(path, DUMPS), Edit(path)
    wanted = {}
    for c, kinds in e.by_name.items():
        if c in NODES or c in ARRAYS:
            for a in (x for k in kinds for x in e.by_class.get(k, [])):
                wanted[a] = (c, nodes(e, a, NODES[c]) if c in NODES else filled(e, a, ARRAYS[c]))
    names = ", ".join("'%s'" % c for c in {**NODES, **ARRAYS})
    line = ("sql SELECT o.address AS a, size(o.address) AS size, count(x.\"index\") AS entries, "
            "count(x.value_address) AS filled FROM objects o "
            "LEFT JOIN entries(o.address) x WHERE o.class IN (%s) GROUP BY o.address" % names)
    run = cairn("--format", "jsonl", "-x", line, path)
    found = {int(r["a"], 16): r for r in map(json.loads, run.out.splitlines())}
    by_class = {}
    for a, (c, n) in wanted.items():
        by_class.setdefault(c, []).append((a, n))
    for c, those in sorted(by_class.items()):
        def agrees(a, n):
            r = found.get(a)
            if not r:
                return False
            told = r["entries"]
            if c in ARRAYS and ARRAYS[c] == 1:  # nulls are elements of lists
                told = r["filled"]
            return told == n and r["size"] in (None, r["entries"])
        wrong = [(hex(a), n, found.get(a)) for a, n in those if not agrees(a, n)]
        tap.none(wrong[:5], those, "%s: %d %s, %d entries" % (name, len(those), c, sum(n for _, n in those)))


def main():
    if not DUMPS:
        skip_all("no CAIRN_DUMPS")
    tap = Tap()
    given = sys.argv[1:] or [p for pattern in ("today/grove8.hprof", "today/grove28.hprof", "grove/grove25-coh.hprof",
                                               "hotspot/*6_3*.hprof", "hotspot/oracle*.hprof")
                             for p in sorted(glob.glob(os.path.join(DUMPS, pattern)))]
    for path in given:
        check(tap, path)
    tap.done()


main()
