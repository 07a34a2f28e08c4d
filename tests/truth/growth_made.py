#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""growth over small series made here, which have what makes a sentence wrong: keys and lists in front of the objects of
a map, a queue that a thread's stack holds as well, loaders of several names, a plug-in's copy of a class, objects to
which a shorter way came, a cache that fell in between and one that filled up.
"""

import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, Tap, cairn  # noqa: E402

OBJECT, BYTE = 2, 8
CLASSES = {  # name: superclass, fields
    "java/lang/Object": (None, ""), "java/lang/Class": ("java/lang/Object", ""),
    "java/lang/ClassLoader": ("java/lang/Object", "name classes"), "java/lang/String": ("java/lang/Object", "value"),
    "java/lang/Thread": ("java/lang/Object", "name"), "java/util/ArrayList": ("java/lang/Object", "elementData"),
    "java/util/HashMap": ("java/lang/Object", "table"),
    "java/util/HashMap$Node": ("java/lang/Object", "key value next"),
    "app/Loader": ("java/lang/ClassLoader", ""), "app/Pool": ("java/lang/Object", "queue"),
    "app/Holder": ("java/lang/Object", "list"),
    "[Ljava/lang/Object;": ("java/lang/Object", ""), "[Ljava/util/HashMap$Node;": ("java/lang/Object", ""),
    "[B": ("java/lang/Object", ""),
}
for name in "Row Task Job Item Page Cell".split():
    CLASSES["app/" + name] = ("java/lang/Object", "")


class Made:
    """An HPROF dump; objects are numbers, and made before those that hold them."""

    def __init__(self):
        self.texts, self.head, self.heap, self.last, self.serial = {}, b"", b"", 0x1000, 0
        self.classes = {name: self.load(name) for name in CLASSES}

    def text(self, text):
        if text not in self.texts:
            self.texts[text] = len(self.texts) + 1
            self.head += self.record(1, struct.pack(">Q", self.texts[text]) + text.encode())
        return struct.pack(">Q", self.texts[text])

    @staticmethod
    def record(tag, body):
        return struct.pack(">BII", tag, 0, len(body)) + body

    def new(self):
        self.last += 0x40
        return self.last

    def load(self, name):
        ident, self.serial, text = self.new(), self.serial + 1, self.text(name)
        self.head += self.record(2, struct.pack(">IQI", self.serial, ident, 0) + text)
        return ident

    def fields(self, name):
        above, fields = CLASSES[name]
        return fields.split() + (self.fields(above) if above else [])

    def define(self, name, ident, loader=0, **statics):
        above, fields = CLASSES.get(name, ("java/lang/Object", ""))
        size = 8 * (len(self.fields(name)) if name in CLASSES else 0)
        self.heap += struct.pack(">BQIQQ", 0x20, ident, 0, self.classes.get(above, 0), loader) + bytes(32)
        self.heap += struct.pack(">IHH", size, 0, len(statics))
        for field, value in statics.items():
            self.heap += self.text(field) + struct.pack(">BQ", OBJECT, value)
        self.heap += struct.pack(">H", len(fields.split()))
        self.heap += b"".join(self.text(f) + bytes([OBJECT]) for f in fields.split())
        if not loader:
            self.heap += struct.pack(">BQ", 5, ident)

    def instance(self, cls, **values):
        ident, fields = self.new(), self.fields(cls)
        self.heap += struct.pack(">BQIQI", 0x21, ident, 0, self.classes[cls], 8 * len(fields))
        self.heap += b"".join(struct.pack(">Q", values.get(f, 0)) for f in fields)
        return ident

    def array(self, elements, name="[Ljava/lang/Object;"):
        ident = self.new()
        self.heap += struct.pack(">BQIIQ", 0x22, ident, 0, len(elements), self.classes[name])
        self.heap += struct.pack(">%dQ" % len(elements), *elements)
        return ident

    def string(self, text):
        ident = self.new()
        self.last += len(text)
        self.heap += struct.pack(">BQIIB", 0x23, ident, 0, len(text), BYTE) + text.encode()
        return self.instance("java/lang/String", value=ident)

    def list_of(self, elements):
        return self.instance("java/util/ArrayList", elementData=self.array(elements))

    def some(self, name, n):
        return self.list_of([self.instance("app/" + name) for _ in range(n)])

    def write(self, path):
        with open(path, "wb") as f:
            f.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0) + self.head + self.record(0x1C, self.heap) +
                    self.record(0x2C, b""))


COUNTS = {"Row": [4, 9, 15], "Task": [5, 7, 12], "Item": [3, 6, 9], "Page": [8, 2, 9], "Cell": [3, 6, 6]}
LISTS = [2, 3, 3]


def make(path, at):
    """What Main and Shared have in the dump of this number."""
    d = Made()
    n = {name: counts[at] for name, counts in COUNTS.items()}
    rows = [d.instance("app/Row") for _ in range(n["Row"])]
    nodes = [d.instance("java/util/HashMap$Node", key=d.string("list %d" % i), value=d.list_of(rows[i::LISTS[at]]))
             for i in range(LISTS[at])]
    table = d.array(nodes + [0] * (16 - len(nodes)), "[Ljava/util/HashMap$Node;")
    queue, jobs = d.some("Task", n["Task"]), d.some("Job", 6)
    thread = d.instance("java/lang/Thread", name=d.string("worker-1"))
    statics = {"rows": d.instance("java/util/HashMap", table=table), "pool": d.instance("app/Pool", queue=queue),
               "holder": d.instance("app/Holder", list=jobs), "cache": d.some("Page", n["Page"]),
               "full": d.some("Cell", n["Cell"])}
    if at == 2:
        statics["direct"] = jobs
    main, shared = d.load("app/Main"), d.load("app/Shared")
    loaders = []
    for name, many in (("web-%d", at + 1), ("lib", 1)):
        for i in range(many):
            copy = d.load("app/Shared")
            loader = d.instance("app/Loader", name=d.string(name.replace("%d", str(i))), classes=d.list_of([copy]))
            d.define("app/Shared", copy, loader, items=d.list_of([d.string("own")]))
            loaders.append(loader)
    statics["loaders"] = d.list_of(loaders)
    for name, ident in d.classes.items():
        d.define(name, ident)
    d.define("app/Main", main, **statics)
    d.define("app/Shared", shared, items=d.some("Item", n["Item"]))
    d.heap += struct.pack(">BQII", 8, thread, 1, 0) + struct.pack(">BQII", 3, queue, 1, 0xFFFFFFFF)
    d.write(path)


def main():
    t = Tap()
    paths = [os.path.join(BUILD, "tests", "growth.%d-%d.hprof" % (os.getpid(), i)) for i in range(3)]
    for at, path in enumerate(paths):
        make(path, at)
    done = cairn("--format", "json", "-x", "growth", *paths)
    rows = {r["reference"]: r for r in json.loads(done.out)}
    told = {ref: (r["class"], [int(c.strip("~<>=")) for c in r["course"].split()]) for ref, r in rows.items()}
    want = {"app.Main.rows": ("app.Row", COUNTS["Row"]), "app.Main.pool > queue": ("app.Task", COUNTS["Task"]),
            "app.Shared.items": ("app.Item", COUNTS["Item"]), "app.Main.full": ("app.Cell", COUNTS["Cell"]),
            'loader app.Loader "web-#"': ("app.Loader", [1, 2, 3])}
    for reference, row in want.items():
        t.equal(told.get(reference), row, "what grew at %s" % reference)
    t.ok("app.Main.cache" not in told and not any('"lib"' in ref for ref in told), "nothing else did", told)
    said = lambda ref: rows.get(ref, {}).get("sentence", "")  # noqa: E731
    t.ok("1 other reference holds it" in said("app.Main.pool > queue"), "a thread holds the queue, too",
         said("app.Main.pool > queue"))
    t.ok("frees" in said("app.Main.rows") and "frees" in said("app.Shared.items"), "what frees the others is told")
    t.ok("(unchanged in the last dump)" in said("app.Main.full") and "unchanged" not in said("app.Main.rows"),
         "what filled up is said to", said("app.Main.full"))
    direct = said("app.Main.direct")
    t.ok("came with" not in direct and "only since the last dump" in direct, "old objects on a new way did not come",
         direct)
    done = cairn("-x", "growth", *paths)
    t.ok("1 of the program's own places rose and fell" in done.out + done.err, "the cache is counted", done.err)
    names = [r["path"] for r in json.loads(cairn("--format", "json", "-x", "diff", *paths).out)]
    t.ok({'static app.Shared (app.Loader "%s").items' % name for name in ("web-#", "lib")} <= set(names),
         "copies of a class have the names of their loaders", names)
    t.equal(len([n for n in names if n == "static app.Shared.items"]), 1, "the program's own has none")
    for path in paths:
        os.unlink(path)
    sys.exit(t.done())


main()
