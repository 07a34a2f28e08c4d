# SPDX-License-Identifier: GPL-3.0-or-later
"""Small random heaps full of waste: Strings (of JDK 6, 8 and 17), arrays, boxes, collections and other objects, many of them
equal, shared, or held by nobody, laid out in memory in one of the ways of a VM."""

import random
import struct

from hprofmade import FORMATS, TYPES, Made

WIDTH = {t: struct.calcsize(FORMATS[n]) for t, n in TYPES.items()}
ARRAY_NAMES = {"Z": "boolean[]", "C": "char[]", "F": "float[]", "D": "double[]", "B": "byte[]", "S": "short[]", "I": "int[]",
               "J": "long[]"}
BOXES = {"java.lang.Integer": "I", "java.lang.Long": "J", "java.lang.Double": "D", "java.lang.Byte": "B",
         "java.lang.Boolean": "Z", "java.lang.Character": "C"}
U = "java.util."
UC = "java.util.concurrent."
NODE = [("I", "hash"), ("L", "key"), ("L", "value"), ("L", "next")]
CLASSES = {
    U + "ArrayList": [("L", "elementData"), ("I", "size"), ("I", "modCount")],
    U + "PriorityQueue": [("L", "queue"), ("I", "size"), ("I", "modCount")],
    U + "ArrayDeque": [("L", "elements"), ("I", "head"), ("I", "tail")],
    U + "HashMap": [("L", "table"), ("I", "size"), ("I", "modCount"), ("I", "threshold")],
    U + "Hashtable": [("L", "table"), ("I", "count"), ("I", "modCount")],
    U + "LinkedList": [("L", "first"), ("L", "last"), ("I", "size"), ("I", "modCount")],
    U + "TreeMap": [("L", "root"), ("I", "size"), ("I", "modCount")],
    U + "IdentityHashMap": [("L", "table"), ("I", "size"), ("I", "modCount")],
    U + "WeakHashMap": [("L", "table"), ("I", "size"), ("I", "modCount")],
    U + "HashSet": [("L", "map")],
    UC + "ConcurrentHashMap": [("L", "table"), ("J", "baseCount")],
    UC + "LinkedBlockingQueue": [("L", "head"), ("L", "last"), ("L", "count"), ("I", "capacity")],
    UC + "atomic.AtomicInteger": [("I", "value")],
    U + "HashMap$Node": NODE, U + "Hashtable$Entry": NODE, UC + "ConcurrentHashMap$Node": NODE,
    U + "LinkedList$Node": [("L", "item"), ("L", "next"), ("L", "prev")],
    U + "TreeMap$Entry": [("L", "key"), ("L", "value"), ("L", "left"), ("L", "right"), ("L", "parent"), ("Z", "color")],
    UC + "LinkedBlockingQueue$Node": [("L", "item"), ("L", "next")],
    "java.lang.Object": [],
    "com.acme.Holder": [("L", "a"), ("L", "b"), ("I", "number")],
    "com.acme.Point": [("I", "x"), ("I", "y"), ("B", "z")],
    "com.acme.Pair": [("L", "left"), ("L", "right"), ("J", "at")],
    "com.acme.Other": [("I", "x"), ("I", "y"), ("B", "z")],
    UC + "locks.Lock": [("I", "state")],
    "com.acme.Row": [("J", "id"), ("L", "never"), ("I", "one"), ("S", "kind")],
}
LOCKS = {"com.acme.Gate": UC + "locks.Lock"}  # equal by chance like what it is made of
REFERENCES = {"java.lang.ref.Reference": None, "java.lang.ref.WeakReference": "java.lang.ref.Reference",
              U + "WeakHashMap$Entry": "java.lang.ref.WeakReference"}
NODES = {name for name in list(CLASSES) + list(REFERENCES) if "$" in name}
LAYOUTS = [dict(header=16, ref=8, align=8, base=24), dict(header=12, ref=4, align=8, base=16),
           dict(header=12, ref=4, align=16, base=16), dict(header=8, ref=4, align=8, base=12)]
CLASSES_AT = 0x10000000


class Thing:
    """An object: values is a dict, a list of addresses, or bytes."""

    def __init__(self, at, name, values, size):
        self.at, self.name, self.values, self.size, self.holders = at, name, values, size, []


class Heap(Made):
    """What hprofmade makes, laid out as a VM does, and remembered."""

    def __init__(self, layout, strings):
        self.layout, self.strings, self.things, self.end = layout, strings, {}, 0x20000000
        super().__init__()
        string = {6: [("L", "value"), ("I", "offset"), ("I", "count"), ("I", "hash")], 8: [("L", "value"), ("I", "hash")],
                  17: [("L", "value"), ("I", "hash"), ("B", "coder")]}[strings]
        self.cls("java.lang.String", string)
        for name, field in BOXES.items():
            self.cls(name, [(field, "value")])
        for name, fields in CLASSES.items():
            self.cls(name, fields)
        for name, above in LOCKS.items():
            self.cls(name, [], above)
        for name, above in REFERENCES.items():
            own = [("L", "referent")] if above is None else NODE[::2] + NODE[3:] if "$" in name else []
            self.cls(name, own, above or "java.lang.Object")

    def address(self, step=64):
        self.next = max(self.next, CLASSES_AT) + 1024
        return self.next

    def take(self, name, values, size, at=None):
        align = self.layout["align"]
        size = (size + align - 1) // align * align
        at, self.end = self.end, self.end + size
        self.things[at] = Thing(at, name, values, size)
        return at

    def width(self, field):
        return self.layout["ref"] if field == "L" else WIDTH[field]

    def new(self, name, serial=0, **values):
        fields = self.fields(self.classes[name])
        at = self.take(name, {f: values.get(f, 0) for _, f in fields},
                       self.layout["header"] + sum(self.width(t) for t, _ in fields))
        self.heap.append((at, name, serial, values))
        return at

    def array_size(self, element, n):
        width, align, base = self.width(element), self.layout["align"], self.layout["base"]
        base = (base + width - 1) // width * width if base == 12 else base
        return (base + width * n + align - 1) // align * align

    def array(self, name, elements, serial=0):
        self.cls(name + "[]")
        at = self.take(name + "[]", list(elements), self.array_size("L", len(elements)))
        self.heap.append((at, name + "[]", serial, self.things[at].values))
        return at

    def primitives(self, kind, raw, serial=0):
        at = self.take(ARRAY_NAMES[kind], raw, self.array_size(kind, len(raw) // WIDTH[kind]))
        self.things[at].kind = kind
        self.heap.append((at, kind, serial, raw))
        return at

    def static(self, name, field, at):
        self.cls(name)
        self.classes[name][3].append(("L", field, at))


class Maker:
    """Random contents."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.h = Heap(r.choice(LAYOUTS), r.choice([6, 8, 17, 17]))
        self.shared = seed % 2 == 1  # objects with several holders; else each has one at most
        self.loose, self.held = [], []
        self.many = seed % 8 == 3
        makers = [self.text, self.text, self.text, self.numbers, self.numbers, self.references, self.box, self.plain,
                  self.plain, self.plain, self.any_collection, self.any_collection]
        for _ in range(r.randrange(60, 200)):
            self.loose.append(r.choice(makers)())
        if self.many:
            self.rows()
        self.hold()

    # --- things ---

    def text(self):
        r, h = self.r, self.h
        text = r.choice(["", "a", "tide", "tides", "heap", "x" * 40, "äöü", "né", "łódź", "日本", str(r.randrange(30))])
        if h.strings != 17:
            if self.shared and r.random() < 0.3:
                return self.slice(text)
            at = self.use_again("C", text.encode("utf-16-be"))
            return h.new("java.lang.String", value=at, **({"count": len(text)} if h.strings == 6 else {}))
        if r.random() < 0.05:
            return h.new("java.lang.String")  # not yet made
        wide = any(ord(c) > 255 for c in text) or r.random() < 0.2
        raw = text.encode("utf-16-le") if wide else text.encode("latin-1")
        return h.new("java.lang.String", value=self.use_again("B", raw), coder=int(wide))

    def use_again(self, kind, raw):
        """An array of these contents, which is sometimes another String's, or was put somewhere else besides."""
        if self.shared and self.r.random() < 0.4:
            same = [t.at for t in self.h.things.values() if t.values == raw and t.kind == kind]
            if same:
                return self.r.choice(same)
        at = self.h.primitives(kind, raw)
        if self.shared and self.r.random() < 0.1:
            self.loose.append(at)
        return at

    def slice(self, text):
        whole = ("ab" + text + "yz").encode("utf-16-be")
        at = self.use_again("C", whole)
        if self.h.strings == 6:
            return self.h.new("java.lang.String", value=at, offset=2, count=len(text))
        return self.h.new("java.lang.String", value=at)

    def numbers(self):
        r = self.r
        kind = r.choice("BBCISJZD")
        n, width = r.choice([0, 1, 1, 2, 3, 8, 40, 64, 100, 200]), WIDTH[kind]
        one = struct.pack(FORMATS[TYPES[kind]], r.choice([0, 1, 1]))
        form = r.randrange(4)
        if form == 0 or not n:
            raw = one * n
        else:
            raw = b"".join(struct.pack(FORMATS[TYPES[kind]], (i + form * 3) % 2 if kind == "Z" else (i * form) % 100)
                           for i in range(n))
            if form == 3:
                keep = r.randrange(n + 1)
                raw = raw[:keep * width] + bytes((n - keep) * width)
        return self.h.primitives(kind, raw)

    def references(self):
        r = self.r
        n = r.choice([0, 0, 1, 1, 2, 5, 15, 16, 17, 40])
        elements = [0] * n
        for i in range(n):
            if r.random() < r.choice([0.1, 0.3, 0.9]):
                elements[i] = self.give()
        return self.h.array(r.choice(["java.lang.Object", "com.acme.Point"]), elements)

    def box(self):
        name = self.r.choice(list(BOXES))
        return self.h.new(name, value=self.r.randrange(2))

    def plain(self):
        r = self.r
        name = r.choice(["com.acme.Point", "com.acme.Other", "com.acme.Pair", "com.acme.Gate", UC + "locks.Lock", "java.lang.Object",
                         UC + "atomic.AtomicInteger"])
        if name == "com.acme.Pair":
            return self.h.new(name, left=self.give() if r.random() < 0.3 else 0, right=0, at=r.randrange(2))
        if name in ("com.acme.Point", "com.acme.Other"):
            return self.h.new(name, x=r.randrange(3), y=r.randrange(2), z=r.randrange(-1, 1))
        return self.h.new(name)

    def rows(self):
        n = self.r.choice([1000, 1001, 1400])
        for i in range(n):
            self.loose.append(self.h.new("com.acme.Row", id=i, one=7 if self.r.random() < 0.9999 else 8, kind=-3))

    def give(self):
        """Something to be held here; of heaps where objects are shared it may be held elsewhere, too."""
        if self.shared and self.held and self.r.random() < 0.2:
            return self.r.choice(self.held)
        if not self.loose:
            return 0
        at = self.loose.pop(self.r.randrange(len(self.loose)))
        self.held.append(at)
        return at

    # --- collections ---

    def entries(self):
        """A list of the entries of a map, as they are sorted."""
        nodes = [t.at for t in self.h.things.values() if t.name == U + "HashMap$Node"]
        some = self.r.sample(nodes, min(len(nodes), self.r.choice([1, 1, 2, 5])))
        return self.h.new(U + "ArrayList", elementData=self.h.array("java.lang.Object", some or [0]), size=len(some), modCount=1)

    def slots(self, n, size=None):
        return self.h.array("java.lang.Object", [self.give() or self.box_held() for _ in range(n)] + [0] * (size - n))

    def box_held(self):
        at = self.box()
        self.held.append(at)
        return at

    def any_collection(self):
        r = self.r
        if self.shared and r.random() < 0.1:
            return self.entries()
        n = r.choice([0, 0, 0, 1, 1, 2, 3, 4, 5, 8, 17, 20])
        make = r.choice([self.array_list, self.priority_queue, self.deque, self.hash_map, self.hash_map, self.hash_set,
                         self.table, self.linked, self.tree, self.identity, self.weak, self.concurrent, self.queue])
        return make(n, n or r.choice([0, 3]))

    def room(self, n):
        return self.r.choice([n, n, max(n, 10), max(n, 17), max(n, 64), 4 * n + 1])

    def empty(self):
        """The one array of all empty lists."""
        if not hasattr(self, "empty_array"):
            self.empty_array = self.h.array("java.lang.Object", [])
            self.h.static(U + "ArrayList", "EMPTY_ELEMENTDATA", self.empty_array)
        return self.empty_array

    def array_list(self, n, changes):
        room = self.room(n)
        data = self.slots(n, room) if room else self.empty()
        return self.h.new(U + "ArrayList", elementData=data, size=n, modCount=changes)

    def priority_queue(self, n, changes):
        return self.h.new(U + "PriorityQueue", queue=self.slots(n, self.room(n)), size=n, modCount=changes)

    def deque(self, n, changes):
        room = max(self.room(n), n + 1)
        head = changes % room
        elements = [0] * room
        for i in range(n):
            elements[(head + i) % room] = self.give() or self.box_held()
        return self.h.new(U + "ArrayDeque", elements=self.h.array("java.lang.Object", elements), head=head,
                          tail=(head + n) % room)

    def buckets(self, node, n, bad):
        if not n and self.r.random() < 0.5:
            return 0
        room = 1 << self.r.choice([2, 4, 4, 5, 7])
        heads = [0] * room
        for i in range(n):
            at = 5 % room if bad else self.r.randrange(room)
            heads[at] = self.node(node, heads[at])
        return self.h.array(node, heads)

    def node(self, name, after):
        key, value = self.give() or self.box_held(), self.give()
        if name.endswith("HashMap$Entry"):
            return self.h.new(name, referent=key, value=value, next=after)
        return self.h.new(name, key=key, value=value, next=after, hash=5)

    def hash_map(self, n, changes):
        table = self.buckets(U + "HashMap$Node", n, self.r.random() < 0.3)
        return self.h.new(U + "HashMap", table=table, size=n, modCount=changes)

    def hash_set(self, n, changes):
        return self.h.new(U + "HashSet", map=self.hash_map(n, changes))

    def table(self, n, changes):
        table = self.buckets(U + "Hashtable$Entry", n, self.r.random() < 0.5) or self.h.array(U + "Hashtable$Entry", [0] * 11)
        return self.h.new(U + "Hashtable", table=table, count=n, modCount=changes)

    def weak(self, n, changes):
        table = self.buckets(U + "WeakHashMap$Entry", n, False) or self.h.array(U + "WeakHashMap$Entry", [0] * 16)
        return self.h.new(U + "WeakHashMap", table=table, size=n, modCount=changes)

    def concurrent(self, n, changes):
        return self.h.new(UC + "ConcurrentHashMap", table=self.buckets(UC + "ConcurrentHashMap$Node", n, False), baseCount=n)

    def identity(self, n, changes):
        room = self.r.choice([8, 32, 64, 128])
        pairs = [0] * room
        for i in range(n):
            at = self.r.randrange(room // 2)
            while pairs[2 * at]:
                at = (at + 1) % (room // 2)
            if sum(1 for k in pairs[::2] if k) + 2 > room // 2:
                n = i
                break
            pairs[2 * at:2 * at + 2] = [self.give() or self.box_held(), self.give()]
        return self.h.new(U + "IdentityHashMap", table=self.h.array("java.lang.Object", pairs), size=n, modCount=changes)

    def linked(self, n, changes):
        nodes = [self.h.new(U + "LinkedList$Node", item=self.give() or self.box_held()) for _ in range(n)]
        for a, b in zip(nodes, nodes[1:]):
            self.set(a, "next", b)
            self.set(b, "prev", a)
        return self.h.new(U + "LinkedList", first=nodes[0] if n else 0, last=nodes[-1] if n else 0, size=n, modCount=changes)

    def queue(self, n, changes):
        nodes = [self.h.new(UC + "LinkedBlockingQueue$Node", item=(self.give() or self.box_held()) if i else 0)
                 for i in range(n + 1)]
        for a, b in zip(nodes, nodes[1:]):
            self.set(a, "next", b)
        count = self.h.new(UC + "atomic.AtomicInteger", value=n)
        return self.h.new(UC + "LinkedBlockingQueue", head=nodes[0], last=nodes[-1], count=count, capacity=9)

    def tree(self, n, changes):
        root = 0
        for _ in range(n):
            above = self.h.new(U + "TreeMap$Entry", key=self.give() or self.box_held(), value=self.give(), left=root)
            if root:
                self.set(root, "parent", above)
            root = above
        return self.h.new(U + "TreeMap", root=root, size=n, modCount=changes)

    def set(self, at, field, value):
        self.h.things[at].values[field] = value
        next(x for x in self.h.heap if x[0] == at)[3][field] = value

    # --- who holds them ---

    def hold(self):
        r, h = self.r, self.h
        number, statics = 0, 0
        while self.loose:
            at = self.give()
            way = r.randrange(10)
            if way == 0:
                self.held.remove(at)
            elif way == 1 and statics < 6:
                h.static("com.acme.Shop", "PLACE_%d" % statics, at)
                statics += 1
            elif way == 2:
                self.loose.append(h.array("java.lang.Object", [at] + [self.give() for _ in range(r.randrange(5))]))
            elif way == 3:
                h.root(at)
            else:
                number += 1
                h.root(h.new("com.acme.Holder", **{r.choice("ab"): at}, number=number))
        cache = [h.new("java.lang.Integer", value=i) for i in range(3)]
        h.static("java.lang.Integer$IntegerCache", "cache", h.array("java.lang.Integer", cache))
        h.static("java.lang.Boolean", "TRUE", h.new("java.lang.Boolean", value=1))
