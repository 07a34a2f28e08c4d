#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways on which objects are reached (histo -by path) are those that a naive second algorithm finds
(tests/lib/ways.py): paths, classes, objects, bytes, and what they retain; and where objects lie decides nothing.

Random dumps made here have what real ones seldom have: chains entered on many ways, ways that come again and again,
ways without end.  The real series of CAIRN_DUMPS are counted where there are any.  CAIRN_SEEDS gives another number of
seeds than 40.
"""

import collections
import glob
import json
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, DUMPS, GO, SAMPLE, SAMPLE_TEXT, SERIES, Graph, Run, Tap, cairn, seeds, some  # noqa: E402
from hprofedit import Edit  # noqa: E402
from ways import Ways, moved, rows  # noqa: E402

SEEDS = seeds(10, 40)
CLASSES = {  # name: superclass, fields, static fields, all of them references
    "java/lang/Object": (None, "", ""), "java/lang/Class": ("java/lang/Object", "", ""),
    "java/lang/ClassLoader": ("java/lang/Object", "parent", ""),
    "java/lang/Thread": ("java/lang/Object", "name next", ""),
    "java/lang/ref/Reference": ("java/lang/Object", "referent", ""),
    "java/lang/ref/WeakReference": ("java/lang/ref/Reference", "", ""),
    "Key": ("java/lang/ref/WeakReference", "value", ""),
    "Map": ("java/lang/Object", "head tail table", "all last"), "Node": ("java/lang/Object", "next prev value", ""),
    "Leaf": ("java/lang/Object", "a", "a b"), "Branch": ("Leaf", "b", "next"),
    "[Ljava/lang/Object;": ("java/lang/Object", "", ""), "[LNode;": ("java/lang/Object", "", ""),
    "[[LNode;": ("java/lang/Object", "", ""),
}
LIKELY = ["Map", "Node", "Node", "Node", "Leaf", "Branch", "Key", "[Ljava/lang/Object;", "[LNode;", "[[LNode;"]
DOMINATORS = os.path.join(BUILD, "tests", "tools", "dominators")


def told(path, *options):
    """{(path, class, objects, shallow, retained): how many such rows}"""
    run = cairn("--format", "json", *options, "-x", "histo -by path", path)
    if run.status:
        raise RuntimeError(str(run))
    return collections.Counter((r["path"], r["class"], r["objects"], r["shallow"], r["retained"])
                               for r in json.loads(run.out))


def ways_only(told_rows):
    """Rows without bytes, which the distances between objects may decide."""
    found = collections.Counter()
    for row, n in told_rows.items():
        found[row[:3]] += n
    return found


def tree(path):
    """{address: (immediate dominator, retained bytes)} of all that is reachable; dominators.py holds it to a naive
    algorithm."""
    found = {}
    run = Run([DOMINATORS, path])
    for line in run.out.splitlines():
        address, above, retained = line.split("\t")
        if above != "-":
            found[int(address, 16)] = (int(above, 16), int(retained))
    return found


def counted(path):
    """The rows as the naive algorithm has them."""
    graph, above = Graph.of_dump(path), tree(path)
    found = collections.Counter()
    for words, cls, chain, objects in rows(Ways(Edit(path), above).tree()):
        members, retained = set(objects), 0
        for a in objects:
            up = above[a][0]
            while up and up not in members:
                up = above[up][0]
            retained += 0 if up else above[a][1]
        words += "*" * chain
        found[words, cls, len(objects), sum(graph.objects[a].shallow for a in objects), retained] += 1
    return found


def check_two(t, paths, name):
    """diff of two dumps: a chain that either shows is one in both."""
    run = cairn("--format", "json", "-x", "diff", *paths)
    got = collections.Counter((r["path"], r["class"], re.sub("[~<>=,]", "", r["course"])) for r in json.loads(run.out))
    trees = [Ways(Edit(path), tree(path)).tree() for path in paths]
    for number, top in enumerate(trees):
        waiting = [top]
        while waiting:
            way = waiting.pop()
            way.objects = [(number, a) for a in way.objects]
            waiting += way.below.values()
    trees[0].take(trees[1])
    want = collections.Counter((words, cls, " ".join(str(sum(o[0] == i for o in objects)) for i in (0, 1)))
                               for words, cls, _, objects in rows(trees[0]))
    differ = ["only cairn: %s" % (r,) for r in (got - want)] + ["only the naive one: %s" % (r,) for r in (want - got)]
    t.none(sorted(differ)[:12], want, "%s: %d ways side by side" % (name, len(want)))


def record(tag, body):
    return struct.pack(">BII", tag, 0, len(body)) + body


def make(path, seed, less=0):
    """A random dump: whoever holds whatever, most of it what was made soon afterwards.  less: of every ten references
    so many are null."""
    chance, later, word = random.Random(seed), random.Random(seed), lambda n: struct.pack(">Q", n)  # noqa: E731
    texts, head, heap = {}, b"", b""
    for name, (above, fields, statics) in CLASSES.items():
        for text in [name] + fields.split() + statics.split():
            if text not in texts:
                texts[text] = len(texts) + 1
                head += record(1, word(texts[text]) + text.encode())
    ident = {name: 0x1000 + 0x100 * i for i, name in enumerate(CLASSES)}
    kinds = ["java/lang/ClassLoader"] * 2 + ["java/lang/Thread"] * 2 + chance.choices(LIKELY, k=chance.randint(5, 150))
    straight = seed % 5 == 0  # each holds the next, and ways are long
    kinds += chance.choices(LIKELY, k=150 * straight)
    places = list(range(0x10000, 0x10000 + 0x100 * len(kinds), 0x100))
    if seed % 2:
        chance.shuffle(places)
    near = chance.choice((2, 4, 30))

    def someone(i):
        target = anyone(i)
        return word(0) if later.randrange(10) < less else target

    def anyone(i):
        if straight and chance.random() < 0.99:
            return word(places[min(i + 1, len(places) - 1)])
        if chance.random() < 0.2:
            return word(0)
        if chance.random() < 0.1:
            return word(chance.choice(places + list(ident.values())))
        return word(places[min(len(places) - 1, max(0, i + chance.randint(-1, near)))])

    def begin():
        return 0 if straight else chance.randrange(len(places))

    def fields_of(name):
        above, fields, _ = CLASSES[name]
        return fields.split() + (fields_of(above) if above else [])

    for number, (name, (above, fields, statics)) in enumerate(CLASSES.items(), 1):
        head += record(2, struct.pack(">I", number) + word(ident[name]) + struct.pack(">I", 0) + word(texts[name]))
        loader = places[number % 2] if not name.startswith(("java", "[")) else 0
        heap += b"\x20" + word(ident[name]) + bytes(4) + word(ident.get(above, 0)) + word(loader) + bytes(32)
        heap += struct.pack(">IHH", 8 * len(fields_of(name)), 0, len(statics.split()))
        heap += b"".join(word(texts[f]) + b"\x02" + someone(begin()) for f in statics.split())
        heap += struct.pack(">H", len(fields.split())) + b"".join(word(texts[f]) + b"\x02" for f in fields.split())
        heap += b"\x05" + word(ident[name]) if not loader else b""
    for i, (place, kind) in enumerate(zip(places, kinds)):
        if kind.startswith("["):
            n = chance.randint(straight, 6)
            heap += b"\x22" + word(place) + struct.pack(">II", 0, n) + word(ident[kind])
            heap += b"".join(someone(i) for _ in range(n))
        else:
            fields = fields_of(kind)
            heap += b"\x21" + word(place) + bytes(4) + word(ident[kind]) + struct.pack(">I", 8 * len(fields))
            heap += b"".join(word(0) if f == "name" else someone(i) for f in fields)
    for thread in (1, 2):
        heap += b"\x08" + word(places[1 + thread]) + struct.pack(">II", thread, 0)
        heap += b"\x03" + word(places[begin()]) + struct.pack(">II", thread, 0xffffffff)
    heap += b"\x01" + word(places[begin()]) + word(1)
    with open(path, "wb") as f:
        f.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0) + head + record(0x1C, heap) + record(0x2C, b""))


def check(t, path, name):
    got, want = told(path), counted(path)
    differ = ["only cairn: %s" % (r,) for r in (got - want)] + ["only the naive one: %s" % (r,) for r in (want - got)]
    t.none(sorted(differ)[:12], want, "%s: %d ways as a naive algorithm finds them" % (name, len(want)))
    other = os.path.join(BUILD, "tests", "moved.%d.hprof" % os.getpid())
    moved(Edit(path), other)
    got, again = ways_only(got), ways_only(told(other))
    differ = ["before: %s" % (r,) for r in (got - again)] + ["moved: %s" % (r,) for r in (again - got)]
    t.none(sorted(differ)[:12], again, "%s: the same with objects at other addresses" % name)
    os.unlink(other)


def check_formats(t):
    """Of dumps without values: a PHD and its classic twin, which does not tell what is a loader, have the same ways,
    which have all that is reachable."""
    phd, text = (ways_only(told(path)) for path in (SAMPLE, SAMPLE_TEXT))
    every = sum(row[2] * n for row, n in phd.items())
    for rows_of in (phd, text):
        for row in [row for row in rows_of if "ClassLoader" in row[0]]:
            del rows_of[row]
    differ = ["only PHD: %s" % (r,) for r in (phd - text)] + ["only classic: %s" % (r,) for r in (text - phd)]
    t.ok(len(phd) > 100 and not differ, "the PHD and its classic twin: %d ways" % len(phd), "\n".join(differ[:12]))
    info = json.loads(cairn("--format", "json", "-x", "info", SAMPLE).out)
    t.equal(every, info["objects"] - info["unreachable_objects"],
            "they have all reachable objects")


def check_goroutines(t, path, *options):
    """Goroutines of one function are one row, whatever their numbers; functions keep their digits."""
    done = cairn("--format", "json", *options, "-x", "threads", path)
    want = collections.Counter(re.sub(r"^goroutine \d+", "goroutine #", r["name"]) for r in json.loads(done.out))
    got = {row[0]: row[2] for row in told(path, *options) if row[0].startswith('thread "') and " > " not in row[0]}
    t.equal(got, {'thread "%s"' % name: n for name, n in want.items()},
            "%s: %d functions of goroutines" % (os.path.basename(path), len(want)))


def main():
    t = Tap()
    real = glob.glob(os.path.join(DUMPS, "tide", "jdk*", "*-4.hprof")) if DUMPS else []
    dumps = sys.argv[1:] or SERIES + some(sorted(real), 2)
    for path in dumps:
        check(t, path, os.path.relpath(path, DUMPS) if DUMPS and path.startswith(DUMPS) else os.path.basename(path))
    check_two(t, SERIES[::2], "the samples")
    check_formats(t)
    if "without libdw" in cairn("--version").out:
        t.skip("goroutines", "their functions need libdw")
    else:
        check_goroutines(t, GO)
        for path in glob.glob(os.path.join(DUMPS, "tide", "go", "*-3.dump")) if DUMPS else []:
            check_goroutines(t, path, "--exe", os.path.join(DUMPS, "tide", "go", "go-tide.elf"))
    if not DUMPS:
        t.skip("real series", "CAIRN_DUMPS is not set")
    for seed in () if sys.argv[1:] else SEEDS:
        path, other = (os.path.join(BUILD, "tests", "ways.%d-%d.hprof" % (os.getpid(), i)) for i in (1, 2))
        make(path, seed)
        make(other, seed, 1)
        check(t, path, "seed %d" % seed)
        check_two(t, [path, other], "seed %d" % seed)
        if t.failed:  # they are kept to be looked at
            break
        os.unlink(path)
        os.unlink(other)
    sys.exit(t.done())


main()
