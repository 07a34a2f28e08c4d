# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps of the worst shapes we can think of, as each format writes them, for costly_dumps.py.

A graph is a list of objects (address, class, references) with the names of its classes.  A shape of a
graph is a function of n; here it becomes a shape of costly_dumps.py for each format: "phd-chain", "go-star".
"""

import random
import struct

from costly_dumps import FIRST_CLASS, FIRST_OBJECT, OBJECT, Hprof, SHAPES, shape

STEP = 32  # bytes between objects


class Graph:
    """n objects of one class; edges by `link`."""

    def __init__(self, n, names=("a/Node",)):
        self.n = n
        self.names = list(names)
        self.cls = [0] * n
        self.address = [FIRST_OBJECT + STEP * i for i in range(n)]
        self.to = [[] for _ in range(n)]
        self.supers = {}  # of classes, else Object
        self.texts = False  # every object holds a text, where a format has such

    def link(self, a, b):
        self.to[a].append(self.address[b % self.n])

    def link_all(self, *steps):
        """Each references those so many places further on, where there are such."""
        for i in range(self.n):
            self.to[i] += [self.address[i + step] for step in steps if 0 <= i + step < self.n]


GRAPHS = {}


def graph(make):
    GRAPHS[make.__name__] = make
    return make


# --- how objects hang together ---------------------------------------------------------------------


@graph
def chain(n):
    """Each references the next."""
    g = Graph(n)
    g.link_all(1)
    return g


@graph
def back(n):
    """Each references the one before it, so that the root has the highest address."""
    g = Graph(n)
    g.link_all(-1)
    return g


@graph
def circle(n):
    """A cycle."""
    g = Graph(n)
    for i in range(n):
        g.link(i, i + 1)
    return g


@graph
def fan(n):
    """One array references all."""
    g = Graph(n)
    g.to[0] = g.address[1:]
    return g


@graph
def star(n):
    """All reference one."""
    g = Graph(n)
    for i in range(n):
        g.link(i, n // 2)
    return g


@graph
def hub(n):
    """One references all, and all reference it."""
    g = fan(n)
    for i in range(1, n):
        g.link(i, 0)
    return g


@graph
def same(n):
    """One references another n times."""
    g = Graph(n)
    g.to[0] = [g.address[1]] * n
    g.to[1] = [g.address[1]] * n
    return g


@graph
def ladder(n):
    """Each references the next two, and so does a second way round: every one is a junction."""
    g = Graph(n)
    g.link_all(2, 1)
    return g


@graph
def comb(n):
    """A chain forth, with references back to every earlier power of two: loops within loops."""
    g = Graph(n)
    for i in range(n - 1):
        g.link(i, i + 1)
        g.link(i + 1, i & (i - 1))
    return g


@graph
def braid(n):
    """Two chains that hold each other crosswise: no dominator is near."""
    g = Graph(n)
    half = n // 2
    g.link(0, 1)
    g.link(0, half)
    for i in range(1, half - 1):
        g.link(i, i + 1)
        g.link(half + i, half + i + 1)
        g.link(i, half + i + 1)
        g.link(half + i, i + 1)
    return g


@graph
def bipartite(n):
    """All of some √n reference all of others."""
    g = Graph(n)
    side = int(n ** 0.5)
    for i in range(side):
        g.to[i] = [g.address[side + k] for k in range(side)]
    return g


@graph
def wild(n):
    """Three random references each."""
    g = Graph(n)
    chance = random.Random(7)
    for i in range(n):
        g.to[i] = [g.address[chance.randrange(n)] for _ in range(3)]
    return g


@graph
def lonely(n):
    """No references: all are roots where roots are inferred, else garbage."""
    return Graph(n)


# --- addresses -------------------------------------------------------------------------------------


@graph
def reversed_addresses(n):
    """Written from the highest address down."""
    g = chain(n)
    back_to_front = {a: g.address[n - 1 - i] for i, a in enumerate(g.address)}
    g.address = [back_to_front[a] for a in g.address]
    g.to = [[back_to_front[a] for a in to] for to in g.to]
    return g


@graph
def sparse(n):
    """Far from each other, in no order."""
    g = Graph(n)
    chance = random.Random(5)
    g.address = [FIRST_OBJECT + 4096 * 8 * (i * 7919 % n) + 8 * chance.randrange(9) for i in range(n)]
    g.to[0] = sorted(g.address[1:])
    return g


@graph
def duplicates(n):
    """All have one of two addresses."""
    g = Graph(n)
    g.address = [FIRST_OBJECT + STEP * (i % 2) for i in range(n)]
    for i in range(n):
        g.link(i, i + 1)
    return g


@graph
def dangling(n):
    """References to objects that are not there."""
    g = Graph(n)
    g.to = [[a + STEP // 2] * 3 for a in g.address]
    return g


# --- classes ---------------------------------------------------------------------------------------


@graph
def class_each(n):
    """A class for each object."""
    g = chain(n)
    g.names = ["p%d/C%d" % (i, i) for i in range(n)]
    g.cls = list(range(n))
    return g


@graph
def equal_names(n):
    """A class for each object, all of one name."""
    g = chain(n)
    g.names = ["a/Same"] * n
    g.cls = list(range(n))
    return g


@graph
def deep_packages(n):
    """Packages each within the other, as deep as names can be long."""
    g = fan(8)
    depth = min(n, 32000)
    g.names = ["a/" * depth + "C", "a/" * (depth // 2) + "C"]
    g.cls = [i % 2 for i in range(n)]
    return g


@graph
def super_chain(n):
    """Classes each below the other, with an object each."""
    g = chain(n)
    g.names = ["s/C%d" % i for i in range(n)]
    g.cls = list(range(n))
    g.supers = {i: i - 1 for i in range(1, n)}
    return g


@graph
def super_circle(n):
    """The same in a circle."""
    g = super_chain(n)
    g.supers[0] = n - 1
    return g


@graph
def long_name(n):
    """One class with a name as long as formats can hold, with dots and brackets."""
    g = chain(8)
    g.names = [("a/" + "[" * 5) * (min(8 * n, 60000) // 7) + "B"]
    return g


@graph
def texts(n):
    """Strings that are all equal."""
    g = fan(n)
    g.texts = True
    return g


# --- writers -----------------------------------------------------------------------------------------


def phd(g):
    """PHD 6, 64 bit, in its widest records."""
    out = [struct.pack(">H18sIIBBB", 18, b"portable heap dump", 6, 1, 1, 2, 2)]
    before = 0

    def put(tag, flags, address, rest):
        nonlocal before
        out.append(struct.pack(">BBq", tag, flags, (address - before) // 8) + rest)
        before = address

    classes = [FIRST_CLASS + STEP * (i + 1) for i in range(len(g.names))]
    put(6, 0xF0, FIRST_CLASS, struct.pack(">IQH", 16, 0, 16) + b"java/lang/Object" + struct.pack(">I", 0))
    for i, (address, name) in enumerate(zip(classes, g.names)):
        above = classes[g.supers[i]] if i in g.supers else FIRST_CLASS
        name = name.encode()
        put(6, 0xF0, address, struct.pack(">IQH", 24, above, len(name)) + name + struct.pack(">I", 0))
    for address, cls, to in zip(g.address, g.cls, g.to):
        put(4, 0xF1, address, struct.pack(">QI", classes[cls], len(to)) +
            struct.pack(">%dq" % len(to), *((a - address) // 8 for a in to)))
    return b"".join(out) + b"\3"


def classic(g):
    """As a VM writes it."""
    out = ["// Version: J9VM worst"]

    def put(address, kind, name, to):
        out.append("0x%016X [24] %s %s" % (address, kind, name))
        out.append("\t" + "".join("0x%016X " % a for a in to))

    for address, cls, to in zip(g.address, g.cls, g.to):
        put(address, "OBJ", g.names[cls], to)
    classes = [FIRST_CLASS + STEP * (i + 1) for i in range(len(g.names))]
    for i, (address, name) in enumerate(zip(classes, g.names)):
        put(address, "CLS", name, [classes[g.supers[i]]] if i in g.supers else [])
    refs = sum(map(len, g.to)) + len(g.supers)
    out.append("// Breakdown - Classes: %d, Objects: %d, ObjectArrays: 0, PrimitiveArrays: 0" %
               (len(g.names), g.n))
    out.append("// EOF:  Total 'Objects',Refs(null) : %d,%d(0)" % (len(g.names) + g.n, refs))
    return ("\n".join(out) + "\n").encode()


def classic_ebcdic(g):
    """The same from z/OS, whose line ends are 0x15."""
    return classic(g).decode().encode("cp037").replace(b"\x25", b"\x15")


def hprof(g):
    """Objects are arrays where they reference more than one; the first is a root."""
    h = Hprof()
    arrays = 0x2000
    h.class_of(arrays, "[Ljava/lang/Object;")
    for i, name in enumerate(g.names):
        above = FIRST_CLASS + STEP * g.supers[i] if i in g.supers else OBJECT
        h.class_of(FIRST_CLASS + STEP * i, name, above, [("next", 2)], size=24)
    for address, cls, to in zip(g.address, g.cls, g.to):
        if len(to) > 1:
            h.array(address, to, arrays)
        else:
            value = struct.pack(">Q", to[0] if to else 0)
            h.instance(address, FIRST_CLASS + STEP * cls, value)
    if g.texts:
        put_texts(h, g.n)
    h.heap.append(struct.pack(">BQ", 0xFF, g.address[0]))
    return h.bytes()


def put_texts(h, n):
    """n equal strings, and a list of them."""
    values, texts, of = 0x40000000, 0x50000000, 0x2040
    h.class_of(of, "java/lang/Text", 0x1020, [("value", 2)], size=24)
    h.class_of(0x2080, "[C")
    for i in range(n):
        address = values + STEP * i
        h.heap.append(struct.pack(">BQIIB", 0x23, address, 0, 4, 5) + "same".encode("utf-16-be"))
        h.instance(texts + STEP * i, of, struct.pack(">Q", address))
    h.array(0x60000000, [texts + STEP * i for i in range(n)], 0x2000)
    h.heap.append(struct.pack(">BQ", 0xFF, 0x60000000))


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def counted(data):
    return varint(len(data)) + data


def numbers(*values):
    return b"".join(map(varint, values))


def go_fields(words):
    return b"".join(varint(1) + varint(8 * i) for i in range(words)) + b"\0"


def go_memory(tag, address, words):
    return varint(tag) + varint(address) + counted(struct.pack("<%dQ" % len(words), *words)) + \
        go_fields(len(words))


def go_head(g):
    low, high = min(g.address), max(g.address) + STEP * (g.n + 4)
    return b"go1.7 heap dump\n" + varint(6) + numbers(0, 8, low, high) + counted(b"amd64") + \
        counted(b"go1.19") + varint(2)


def go(g):
    """Go 1.7 and later: each object is words that are pointers; one of data holds the first.  Objects with
    many references end where the next begins, so they are moved apart."""
    place, at = {}, 0xC000000000
    for i in sorted(range(g.n), key=lambda i: g.address[i]):
        place.setdefault(g.address[i], at)
        at += max(16, 8 * len(g.to[i]))
    out = [go_head(g).replace(varint(min(g.address)), varint(0xC000000000), 1)
           .replace(varint(max(g.address) + STEP * (g.n + 4)), varint(at), 1)]
    for address, to in zip(g.address, g.to):
        words = [place.get(a, a) for a in to] + [0] * (2 - len(to))
        out.append(go_memory(1, place[address], words))
    out.append(go_memory(12, 0x500000, [place[g.address[0]]]))
    out.append(go_memory(13, 0x600000, [0] * 4))
    return b"".join(out) + varint(10) + varint(0) * 281 + b"\0"


WRITERS = {"phd": phd, "classic": classic, "hprof": hprof, "go": go}
WITHOUT = {  # shapes that a format cannot hold, or that costly_dumps.py has for it
    "go": {"class_each", "equal_names", "deep_packages", "super_chain", "super_circle", "long_name",
           "texts", "duplicates"},
    "classic": {"texts"},
    "phd": {"texts"},
    "hprof": {"super_chain", "super_circle"},
}


def register(make, kind, write):
    def of_n(n):
        return write(make(n))
    of_n.__name__ = kind + "_" + make.__name__
    of_n.__doc__ = make.__doc__
    shape(of_n)


for kind_, write_ in WRITERS.items():
    for name_, make_ in GRAPHS.items():
        if name_ not in WITHOUT.get(kind_, ()):
            register(make_, kind_, write_)
register(wild, "ebcdic", classic_ebcdic)
