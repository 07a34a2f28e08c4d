# SPDX-License-Identifier: GPL-3.0-or-later
"""A crowd: an HPROF dump of as many objects as wanted, with texts, of which half are alike, and a list.

All hangs on one static field, Main.all: a list of Entry, each with a String, its bytes, and a Box.  Most commands
have something to do with it.
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from costly_dumps import BYTE, FIRST_OBJECT, INT, REFERENCE, STRING, Hprof  # noqa: E402

MAIN, ENTRY, BOX, LIST, ARRAY = (0x2000 + 16 * i for i in range(5))
KINDS = 4        # objects of an entry: itself, its text, the bytes of that, its box
STEP = 128       # addresses of an entry
SEGMENT = 50000  # entries written at once
THREAD_OBJECT, ELEMENTS = FIRST_OBJECT + 32, FIRST_OBJECT + 64


def entry(address, i, n):
    text = b"city %04d" % (i % 5000) if i % 2 else b"order-%08d" % i
    following = address + STEP if i + 1 < n else 0
    return b"".join((
        struct.pack(">BQIQIQQQ", 0x21, address, 0, ENTRY, 24, address + 32, address + 96, following),
        struct.pack(">BQIQIQ", 0x21, address + 32, 0, STRING, 8, address + 64),
        struct.pack(">BQIIB", 0x23, address + 64, 0, len(text), BYTE), text,
        struct.pack(">BQIQII", 0x21, address + 96, 0, BOX, 4, i)))


def crowd(path, objects):
    """Write it; the number of entries is returned."""
    n = objects // KINDS
    first = ELEMENTS + 16 * (n // 2 + 4)
    h = Hprof()
    h.class_of(ENTRY, "com/acme/Entry", fields=[("key", REFERENCE), ("value", REFERENCE), ("next", REFERENCE)])
    h.class_of(BOX, "com/acme/Box", fields=[("n", INT)])
    h.class_of(LIST, "java/util/ArrayList", fields=[("elementData", REFERENCE), ("size", INT)])
    h.class_of(ARRAY, "[Ljava/lang/Object;")
    h.class_of(MAIN, "com/acme/Main", statics=[("all", FIRST_OBJECT)])
    for address in (MAIN, ENTRY, BOX, LIST):
        h.heap.append(struct.pack(">BQ", 5, address))
    h.instance(FIRST_OBJECT, LIST, struct.pack(">QI", ELEMENTS, n))
    h.array(ELEMENTS, range(first, first + STEP * n, STEP), ARRAY)
    h.frame(1)
    h.trace(1, [1])
    h.thread(THREAD_OBJECT, 1, 1)
    with open(path, "wb") as to:
        to.write(h.bytes(ended=False))
        for begin in range(0, n, SEGMENT):
            heap = b"".join(entry(first + STEP * i, i, n) for i in range(begin, min(begin + SEGMENT, n)))
            to.write(struct.pack(">BII", 0x1C, 0, len(heap)) + heap)
        to.write(struct.pack(">BII", 0x2C, 0, 0))
    return n
