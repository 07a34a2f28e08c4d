#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""costly_dumps.py SHAPE N FILE: write a dump of the worst shape we can think of, of about N parts.

costly_dumps.py alone lists the shapes.  Whatever reads or analyses such a dump must take time and memory
in proportion to N: tests make one of N and one of 4 N and compare.  A shape is a function of N that
returns the bytes of the dump, or, by name, those of the dump and then of files that stand beside it; its
first line of documentation says what it is about.
"""

import os
import struct
import sys

SHAPES = {}


def shape(make):
    """Register a function under its name."""
    SHAPES[make.__name__.replace("_", "-")] = make
    return make


# --- HPROF ----------------------------------------------------------------------------------------

OBJECT, CLASS, STRING, THREAD = 0x1000, 0x1010, 0x1020, 0x1030  # class objects that each dump has
FIRST_CLASS, FIRST_OBJECT = 0x100000, 0x10000000
REFERENCE, BYTE, INT = 2, 8, 10
APART = 4096  # few objects in each page of an index, however many there are


class Hprof:
    """An HPROF file with identifiers of 8 bytes: `top` before the heap, `heap` in one segment."""

    def __init__(self, wide=0):
        """wide: fields of java.lang.Thread."""
        self.top = [b"JAVA PROFILE 1.0.2\0", struct.pack(">IQ", 8, 1700000000000)]
        self.heap = []
        self.strings = {}
        self.classes = 0
        for address, name in ((OBJECT, "java/lang/Object"), (CLASS, "java/lang/Class"),
                              (STRING, "java/lang/String"), (THREAD, "java/lang/Thread")):
            fields = [("value", REFERENCE)] if address == STRING else \
                [("f%d" % i, REFERENCE) for i in range(wide)] if address == THREAD else ()
            self.class_of(address, name, 0 if address == OBJECT else OBJECT, fields)
            self.heap.append(struct.pack(">BQ", 5, address))

    def record(self, tag, body):
        self.top.append(struct.pack(">BII", tag, 0, len(body)) + body)

    def string(self, text, number=0):
        """The identifier of a string."""
        if number or text not in self.strings:
            number = number or len(self.strings) + 1
            self.strings[text] = number
            self.record(1, struct.pack(">Q", number) + text.encode())
        return self.strings[text]

    def load(self, address, name):
        self.classes += 1
        self.record(2, struct.pack(">IQIQ", self.classes, address, 0, self.string(name)))
        return self.classes

    def class_of(self, address, name, superclass=OBJECT, fields=(), statics=(), size=0):
        """A class; fields: (name, type), statics: (name, address).  Returns its serial."""
        serial = self.load(address, name)
        parts = [struct.pack(">BQIQQQQQQIHH", 0x20, address, 0, superclass, 0, 0, 0, 0, 0, size, 0,
                             len(statics))]
        parts += [struct.pack(">QBQ", self.string(n), REFERENCE, value) for n, value in statics]
        parts.append(struct.pack(">H", len(fields)))
        parts += [struct.pack(">QB", self.string(n), kind) for n, kind in fields]
        self.heap.append(b"".join(parts))
        return serial

    def instance(self, address, of, values=b""):
        self.heap.append(struct.pack(">BQIQI", 0x21, address, 0, of, len(values)) + values)

    def array(self, address, elements, of=OBJECT):
        self.heap.append(struct.pack(">BQIIQ", 0x22, address, 0, len(elements), of) +
                         struct.pack(">%dQ" % len(elements), *elements))

    def frame(self, number, method="run", serial=1, line=1):
        self.record(4, struct.pack(">QQQQII", number, self.string(method), self.string("()V"),
                                   self.string("Main.java"), serial, line))

    def trace(self, serial, frames, thread=0):
        self.record(5, struct.pack(">III", serial, thread, len(frames)) +
                    struct.pack(">%dQ" % len(frames), *frames))

    def thread(self, address, serial, trace):
        self.instance(address, THREAD)
        self.heap.append(struct.pack(">BQII", 8, address, serial, trace))

    def threads(self, n, trace, step=16):
        for i in range(n):
            self.thread(FIRST_OBJECT + step * i, i + 1, trace)

    def bytes(self, ended=True, tail=b""):
        heap = b"".join(self.heap)
        end = struct.pack(">BII", 0x2C, 0, 0) if ended else b""
        return b"".join(self.top) + struct.pack(">BII", 0x1C, 0, len(heap)) + heap + end + tail


@shape
def resync(n):
    """Behind damage each few bytes seem to begin a segment with a class of 65,535 constants."""
    return Hprof().bytes(ended=False, tail=b"\xee" * 16 + b"\x1c\x0a\x20\x00\xff\xff" * (n // 6))


@shape
def resync_statics(n):
    """The same, but what seems to be a class breaks off late, among its static fields."""
    unit = struct.pack(">BIIBQIQQQQQQIHH", 0x1C, 0, 0, 0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFFFF)
    fields = struct.pack(">QB", 1, BYTE) + b"\1"
    return Hprof().bytes(ended=False, tail=b"\xee" * 16 + (unit + fields * 16) * (n // 256))


@shape
def resync_many(n):
    """Many damaged places: behind each a record, then a segment that soon breaks off."""
    unit = (b"\xee" * 8 + struct.pack(">BIIQ", 1, 0, 9, 7) + b"x" + struct.pack(">BII", 0x1C, 0, 40) +
            struct.pack(">BQ", 5, OBJECT) * 4 + b"\xee" * 4 + struct.pack(">BIIQ", 1, 0, 9, 7) + b"x")
    return Hprof().bytes(ended=False, tail=unit * (n // len(unit)))


@shape
def interrupted(n):
    """A dump in parts that all begin as each place of its file does, with empty segments."""
    def segment(*roots):
        return struct.pack(">BII", 0x1C, 0, 9 * len(roots)) + b"".join(struct.pack(">BQ", 5, r) for r in roots)
    files = {"interrupted.hprof": Hprof().bytes(ended=False, tail=segment() * n + segment(OBJECT))}
    for k in range(20):
        files["interrupted.hprof.p%d" % k] = segment() * (n // 2) + segment(CLASS)
    return files


@shape
def collide(n):
    """Strings whose identifiers collide where a hash multiplies by 0x9E3779B97F4A7C15."""
    h = Hprof()
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    for i in range(1, n + 1):
        h.record(1, struct.pack(">Q", (i << 32 | i) * inverse % (1 << 64)) + b"s")
    return h.bytes()


@shape
def frames(n):
    """Threads that share a trace, with as many frames as there are threads."""
    h = Hprof()
    h.frame(1)
    h.trace(1, [1] * n)
    h.threads(n, 1)
    return h.bytes()


@shape
def trace_names(n):
    """A trace of many frames, each of whose names is the same long string."""
    h = Hprof()
    h.load(FIRST_CLASS, "L" * 60000)
    for i in range(n):
        h.frame(i + 1, "L" * 60000, h.classes)
    h.trace(1, range(1, n + 1))
    h.thread(FIRST_OBJECT, 1, 1)
    return h.bytes()


@shape
def field_names(n):
    """Classes of 100 fields, all of the same long name."""
    h = Hprof()
    for i in range(max(n // 100, 1)):
        h.class_of(FIRST_CLASS + 16 * i, "c/C%d" % i, fields=[("f" * 60000, INT)] * 100)
    return h.bytes()


@shape
def short_instances(n):
    """Instances without a byte of values, of a class with as many fields as there are instances."""
    h = Hprof()
    h.class_of(FIRST_CLASS, "c/Wide", fields=[("f%d" % i, REFERENCE) for i in range(min(n, 65535))])
    for i in range(n):
        h.instance(FIRST_OBJECT + 16 * i, FIRST_CLASS)
    return h.bytes()


@shape
def gap(n):
    """Many Strings share one array, which stands behind a long run of roots."""
    h = Hprof()
    array = FIRST_OBJECT + 16 * n + 16
    h.instance(FIRST_OBJECT - 16, OBJECT)
    h.heap += [struct.pack(">BQ", 5, OBJECT)] * n
    h.heap.append(struct.pack(">BQIIB", 0x23, array, 0, 3, BYTE) + b"abc")
    for i in range(n):
        h.instance(FIRST_OBJECT + 16 * i, STRING, struct.pack(">Q", array))
    return h.bytes()


@shape
def empty_segments(n):
    """Segments with nothing in them, between two objects."""
    h = Hprof()
    h.instance(FIRST_OBJECT, OBJECT)
    more = Hprof()
    more.instance(FIRST_OBJECT + 16, OBJECT)
    last = more.heap[-1]
    tail = struct.pack(">BII", 0x1C, 0, 0) * n + struct.pack(">BII", 0x1C, 0, len(last)) + last
    return h.bytes(ended=False, tail=tail + struct.pack(">BII", 0x2C, 0, 0))


@shape
def heaps(n):
    """Many heap dumps in one file, each of one object."""
    one = struct.pack(">BIIBQIQI", 0x0C, 0, 25, 0x21, FIRST_OBJECT, 0, OBJECT, 0)
    return Hprof().bytes(tail=one * n)


@shape
def same(n):
    """One object recorded again and again."""
    h = Hprof()
    for _ in range(n):
        h.instance(FIRST_OBJECT, OBJECT)
    return h.bytes()


@shape
def statics(n):
    """One class recorded again and again, with 1,000 static fields each time."""
    h = Hprof()
    for _ in range(max(n // 1000, 1)):
        h.class_of(FIRST_CLASS, "c/C", statics=[("s", OBJECT)] * 1000)
    return h.bytes()


@shape
def chain(n):
    """A chain of superclasses, with an instance of the lowest."""
    h = Hprof()
    for i in range(n):
        h.class_of(FIRST_CLASS + 16 * i, "c/C%d" % i, FIRST_CLASS + 16 * (i - 1) if i else OBJECT)
    h.instance(FIRST_OBJECT, FIRST_CLASS + 16 * (n - 1))
    return h.bytes()


@shape
def cycle(n):
    """Superclasses that lead round in a circle."""
    h = Hprof()
    for i in range(n):
        h.class_of(FIRST_CLASS + 16 * i, "c/C%d" % i, FIRST_CLASS + 16 * ((i + 1) % n))
    return h.bytes()


@shape
def roots(n):
    """One thread's stack with n local variables."""
    h = Hprof()
    h.frame(1)
    h.trace(1, [1] * 1000)
    h.thread(FIRST_OBJECT, 1, 1)
    h.heap += [struct.pack(">BQII", 3, OBJECT, 1, i % 1000) for i in range(n)]
    return h.bytes()


@shape
def longname(n):
    """A class with a name of n bytes."""
    h = Hprof()
    h.class_of(FIRST_CLASS, "a/" + "b" * n)
    h.instance(FIRST_OBJECT, FIRST_CLASS)
    return h.bytes()


@shape
def shared_name(n):
    """Classes and their arrays, all of one name, which takes half of the dump."""
    h = Hprof()
    name = "a.b/" * 8 + "c" * (45 * n)
    for i in range(max(n // 4, 1)):
        h.class_of(FIRST_CLASS + APART * i, name)
        h.class_of(FIRST_CLASS + APART * i + 16, "[L" + name + ";")
        h.class_of(FIRST_CLASS + APART * i + 32, name + "d")
        h.instance(FIRST_OBJECT + APART * i, FIRST_CLASS + APART * i)
        h.array(FIRST_OBJECT + APART * i + 16, [], FIRST_CLASS + APART * i + 16)
    return h.bytes()


@shape
def nested_name(n):
    """A name that is nothing but packages of packages, shared by as many classes."""
    h = Hprof()
    for i in range(n):
        h.class_of(FIRST_CLASS + APART * i, "a/" * n + "A")
    return h.bytes()


@shape
def wide_thread(n):
    """Threads whose class declares as many fields as there are threads, all read by each."""
    h = Hprof(wide=min(n, 65535))
    h.threads(n, 0, APART)
    return h.bytes()


@shape
def shared_text(n):
    """Strings that all share one array, as long as there are Strings."""
    h = Hprof()
    array = FIRST_OBJECT + 16 * n + 16
    h.heap.append(struct.pack(">BQIIB", 0x23, array, 0, n, BYTE) + b"a" * n)
    for i in range(n):
        h.instance(FIRST_OBJECT + 16 * i, STRING, struct.pack(">Q", array))
    return h.bytes()


@shape
def texts(n):
    """Strings of four texts that begin alike, each with an array of its own."""
    h = Hprof()
    array = FIRST_OBJECT + 16 * n + 16
    for i in range(n):
        h.instance(FIRST_OBJECT + 16 * i, STRING, struct.pack(">Q", array + 256 * i))
        h.heap.append(struct.pack(">BQIIB", 0x23, array + 256 * i, 0, 100, BYTE) + b"a" * 99 + b"%d" % (i % 4))
    return h.bytes()


def nodes_of_map(h, address, name):
    """The class of a hash table's nodes."""
    h.class_of(address, name, fields=[("next", REFERENCE), ("key", REFERENCE), ("value", REFERENCE), ("hash", INT)])


def links(n, turn):
    """n nodes with the fields next, item, in a HashMap, a LinkedList; the last leads to turn."""
    h = Hprof()
    node, entry = FIRST_CLASS, FIRST_CLASS + 16
    h.class_of(node, "java/util/LinkedList$Node", fields=[("next", REFERENCE), ("item", REFERENCE)])
    nodes_of_map(h, entry, "java/util/HashMap$Node")
    h.class_of(FIRST_CLASS + 32, "java/util/LinkedList",
               fields=[("first", REFERENCE), ("last", REFERENCE), ("size", INT)])
    h.class_of(FIRST_CLASS + 48, "java/util/HashMap", fields=[("table", REFERENCE), ("size", INT)])
    h.class_of(FIRST_CLASS + 64, "[Ljava/util/HashMap$Node;")
    first, second = FIRST_OBJECT + 64, FIRST_OBJECT + 64 + 32 * n
    h.instance(FIRST_OBJECT, FIRST_CLASS + 32, struct.pack(">QQI", first, first, n))
    h.instance(FIRST_OBJECT + 32, FIRST_CLASS + 48, struct.pack(">QI", FIRST_OBJECT + 48, n))
    h.array(FIRST_OBJECT + 48, [second], FIRST_CLASS + 64)
    for i in range(n):
        after = i + 1 if i + 1 < n else turn
        h.instance(first + 32 * i, node, struct.pack(">QQ", 0 if after < 0 else first + 32 * after, OBJECT))
        h.instance(second + 32 * i, entry,
                   struct.pack(">QQQI", 0 if after < 0 else second + 32 * after, STRING, OBJECT, i))
    for i in range(3):
        h.heap.append(struct.pack(">BQ", 5, FIRST_OBJECT + 16 * i))
    return h.bytes()


@shape
def chained(n):
    """A list of n nodes, and a map whose nodes are all in one bucket."""
    return links(n, -1)


@shape
def circle(n):
    """The same, but the last node leads to the one in the middle."""
    return links(n, n // 2)


@shape
def frame_roots(n):
    """A thread of n frames, each with a local variable of its own."""
    h = Hprof()
    h.frame(1)
    h.trace(1, [1] * n)
    h.thread(FIRST_OBJECT, 1, 1)
    for i in range(n):
        h.instance(FIRST_OBJECT + 16 * (i + 1), OBJECT)
        h.heap.append(struct.pack(">BQII", 3, FIRST_OBJECT + 16 * (i + 1), 1, i))
    return h.bytes()


@shape
def loaders(n):
    """n class loaders, each of which made a class; all these classes have the same name."""
    h = Hprof()
    loader = FIRST_CLASS - 16
    h.class_of(loader, "java/lang/ClassLoader")
    for i in range(n):
        address, of = FIRST_CLASS + 16 * i, FIRST_OBJECT + 16 * i
        h.load(address, "c/Same")
        h.instance(of, loader)
        h.heap.append(struct.pack(">BQIQQQQQQIHHH", 0x20, address, 0, OBJECT, of, 0, 0, 0, 0, 0, 0, 0, 0))
    return h.bytes()


@shape
def one_target(n):
    """An array that references one object n times, and n roots that are the same array."""
    h = Hprof()
    h.instance(FIRST_OBJECT, OBJECT)
    h.class_of(FIRST_CLASS, "[Ljava/lang/Object;")
    h.array(FIRST_OBJECT + 16, [FIRST_OBJECT] * n, FIRST_CLASS)
    h.heap += [struct.pack(">BQ", 5, FIRST_OBJECT + 16)] * n
    return h.bytes()


@shape
def classes(n):
    """n classes, each with a package of its own below the one before or beside it, and an instance."""
    h = Hprof()
    for i in range(n):
        h.class_of(FIRST_CLASS + 16 * i, "p%d/q%d/C%d" % (i % 1000, i, i))
        h.instance(FIRST_OBJECT + 16 * i, FIRST_CLASS + 16 * i)
        h.heap.append(struct.pack(">BQ", 5, FIRST_OBJECT + 16 * i))
    return h.bytes()


@shape
def fan(n):
    """n instances of a class lead from one root to one object."""
    h = Hprof()
    h.class_of(FIRST_CLASS, "c/Step", fields=[("to", REFERENCE)])
    h.instance(FIRST_OBJECT, OBJECT)
    for i in range(n):
        h.instance(FIRST_OBJECT + 32 + 16 * i, FIRST_CLASS, struct.pack(">Q", FIRST_OBJECT))
    h.class_of(FIRST_CLASS + 16, "[Ljava/lang/Object;")
    h.array(FIRST_OBJECT + 16, [FIRST_OBJECT + 32 + 16 * i for i in range(n)], FIRST_CLASS + 16)
    h.heap.append(struct.pack(">BQ", 5, FIRST_OBJECT + 16))
    return h.bytes()


@shape
def ladder(n):
    """Two chains of n nodes each, each node references the next of both: 2^n paths."""
    h = Hprof()
    h.class_of(FIRST_CLASS, "c/Rung", fields=[("left", REFERENCE), ("right", REFERENCE)])
    for i in range(n):
        both = struct.pack(">QQ", *(2 * [0] if i + 1 == n else
                                    [FIRST_OBJECT + 32 * (i + 1), FIRST_OBJECT + 32 * (i + 1) + 16]))
        h.instance(FIRST_OBJECT + 32 * i, FIRST_CLASS, both)
        h.instance(FIRST_OBJECT + 32 * i + 16, FIRST_CLASS, both)
    h.heap.append(struct.pack(">BQ", 5, FIRST_OBJECT))
    return h.bytes()


def write(name, n, path):
    """Write a shape; returns the dump's path, which has a name of its own where files stand beside it."""
    made = SHAPES[name](n)
    if isinstance(made, bytes):
        made = {os.path.basename(path): made}
    paths = [os.path.join(os.path.dirname(path), file) for file in made]
    for file, contents in zip(paths, made.values()):
        with open(file, "wb") as out:
            out.write(contents)
    return paths[0]


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in SHAPES or not sys.argv[2].isdigit():
        for name, make in SHAPES.items():
            print("%-16s %s" % (name, make.__doc__.splitlines()[0]))
        return "costly_dumps.py SHAPE N FILE" if len(sys.argv) > 1 else 0
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    return 0


if __name__ == "__main__":
    import costly_dumps  # itself, as those know it who add shapes
    import costly_graphs  # noqa: F401  these add shapes
    import costly_contents  # noqa: F401
    sys.exit(costly_dumps.main())
