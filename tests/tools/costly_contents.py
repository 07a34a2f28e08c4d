# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps whose objects have contents that commands ask for, what stands beside dumps, and damage all along:
shapes for costly_dumps.py."""

import struct

from costly_dumps import (BYTE, FIRST_CLASS, FIRST_OBJECT, INT, OBJECT, REFERENCE, STRING, Hprof, nodes_of_map, shape)
from costly_graphs import Graph, STEP, classic, counted, fan, go, go_memory, numbers, phd, varint, wild


# --- contents ---------------------------------------------------------------------------------------


def put_text(h, address, text):
    """A String and its bytes, 32 bytes apart from the next."""
    h.instance(address, STRING, struct.pack(">Q", address + 16))
    h.heap.append(struct.pack(">BQIIB", 0x23, address + 16, 0, len(text), BYTE) + text)


def table_of(h, n, name, node, size):
    """A hash table with n texts as keys and values, each in a bucket of its own.  Returns where it is."""
    entry, of = FIRST_CLASS, FIRST_CLASS + 16
    nodes_of_map(h, entry, node)
    h.class_of(of, name, fields=[("table", REFERENCE), (size, INT)])
    h.class_of(FIRST_CLASS + 32, "[L" + node + ";")
    texts, nodes = FIRST_OBJECT + 64, FIRST_OBJECT + 64 + 64 * n
    h.instance(FIRST_OBJECT, of, struct.pack(">QI", FIRST_OBJECT + 32, n))
    h.array(FIRST_OBJECT + 32, [nodes + 32 * i for i in range(n)], FIRST_CLASS + 32)
    for i in range(n):
        put_text(h, texts + 64 * i, b"key%d" % i)
        put_text(h, texts + 64 * i + 32, b"value")
        h.instance(nodes + 32 * i, entry, struct.pack(">QQQI", 0, texts + 64 * i, texts + 64 * i + 32, i))
    h.heap.append(struct.pack(">BQ", 5, FIRST_OBJECT))
    return FIRST_OBJECT


@shape
def hash_map(n):
    """A HashMap with n entries."""
    h = Hprof()
    table_of(h, n, "java/util/HashMap", "java/util/HashMap$Node", "size")
    return h.bytes()


@shape
def properties(n):
    """n system properties, in a Hashtable as before Java 9."""
    h = Hprof()
    h.class_of(FIRST_CLASS - 16, "java/lang/System", statics=[("props", FIRST_OBJECT)])
    table_of(h, n, "java/util/Hashtable", "java/util/Hashtable$Entry", "count")
    return h.bytes()


@shape
def shared_chain(n):
    """n queues that do not count their elements, all of one chain of n nodes."""
    h = Hprof()
    queue, node = FIRST_CLASS, FIRST_CLASS + 16
    h.class_of(queue, "java/util/concurrent/ConcurrentLinkedQueue", fields=[("head", REFERENCE)])
    h.class_of(node, "java/util/concurrent/ConcurrentLinkedQueue$Node", fields=[("item", REFERENCE), ("next", REFERENCE)])
    nodes = FIRST_OBJECT + 16 * n
    for i in range(n):
        h.instance(FIRST_OBJECT + 16 * i, queue, struct.pack(">Q", nodes))
        h.heap.append(struct.pack(">BQ", 5, FIRST_OBJECT + 16 * i))
    for i in range(n):
        h.instance(nodes + 32 * i, node, struct.pack(">QQ", FIRST_OBJECT, nodes + 32 * (i + 1) if i + 1 < n else 0))
    return h.bytes()


@shape
def weak_references(n):
    """n WeakReferences to one object that nothing else holds, and one more to each of them."""
    h = Hprof()
    reference, weak = FIRST_CLASS, FIRST_CLASS + 16
    h.class_of(reference, "java/lang/ref/Reference", fields=[("referent", REFERENCE)])
    h.class_of(weak, "java/lang/ref/WeakReference", reference)
    h.instance(FIRST_OBJECT, OBJECT)
    for i in range(n):
        h.instance(FIRST_OBJECT + 32 * (i + 1), weak, struct.pack(">Q", FIRST_OBJECT))
        h.instance(FIRST_OBJECT + 32 * (i + 1) + 16, weak, struct.pack(">Q", FIRST_OBJECT + 32 * (i + 1)))
        h.heap.append(struct.pack(">BQ", 5, FIRST_OBJECT + 32 * (i + 1) + 16))
    return h.bytes()


# --- Go: sites and frames -----------------------------------------------------------------------------


def text(s):
    return counted(s.encode())


def before_its_end(dump, records):
    """Records at the end of a Go dump, before the record that ends it."""
    return dump[:-1] + b"".join(records) + dump[-1:]


@shape
def go_sites(n):
    """n stacks that allocated an object each, all ten frames deep, with one function in common."""
    records = []
    for i in range(n):
        stack = b"".join(text("main.f%d" % (i * d)) + text("main.go") + numbers(d) for d in range(10))
        records.append(varint(16) + numbers(i + 1, 16, 10) + stack + numbers(1, 0))
    records += [varint(17) + numbers(0xC000000000 + 16 * i, i + 1) for i in range(n)]
    return before_its_end(go(Graph(n)), records)


@shape
def go_frames(n):
    """A goroutine whose stack is n frames deep, each with a pointer to an object of its own."""
    stack = 0xD000000000
    records = [varint(4) + numbers(stack - 64, stack, 1, 0, 4, 0, 0, 0) + text("select") + numbers(0, 0, 0, 0)]
    for i in range(n):
        records.append(varint(5) + numbers(stack + 16 * i, i, stack + 16 * (i - 1) if i else 0) +
                       counted(struct.pack("<2Q", 0xC000000000 + 16 * i, 0)) + numbers(0x400000, 0x400010, 0) +
                       text("main.deeper") + varint(1) + varint(0) + b"\0")
    return before_its_end(go(Graph(n)), records)


# --- beside a dump ------------------------------------------------------------------------------------


@shape
def phd_javacore(n):
    """n threads in a javacore, each with ten frames, all waiting for one monitor; n classes of n loaders."""
    g = fan(n)
    g.names = ["java/lang/Thread"] + ["c/C%d" % i for i in range(n - 1)]
    name = "20261121.101500.4711.0001"
    lines = ["0SECTION       TITLE subcomponent dump routine", "1TICHARSET     UTF-8",
             "1TIDATETIME    Date: 2026/11/21 at 10:15:00:124", "0SECTION       LOCKS subcomponent dump routine",
             "2LKMONINUSE      sys_mon_t:0x0000000002 infl_mon_t: 0x0000000003:",
             "3LKMONOBJECT       java/lang/Thread@0x%016X: owner \"t0\" (J9VMThread:0x1000), entry count 1" %
             g.address[0], "3LKWAITERQ            Waiting to enter:"]
    lines += ["3LKWAITER                \"t%d\" (J9VMThread:0x%X)" % (i, 4096 + 16 * i) for i in range(n)]
    lines += ["0SECTION       THREADS subcomponent dump routine", "1XMTHDINFO     All Thread Details", "NULL"]
    for i in range(n):
        lines += ["3XMTHREADINFO      \"t%d\" J9VMThread:0x%016X, j9thread_t:0x%016X, java/lang/Thread:0x%016X, "
                  "state:B, prio=5" % (i, 4096 + 16 * i, 8192 + 16 * i, g.address[i]),
                  "3XMJAVALTHREAD            (java/lang/Thread getId:0x%X, isDaemon:false)" % (i + 1),
                  "3XMTHREADINFO3           Java callstack:"]
        lines += ["4XESTACKTRACE                at c/C%d.run(C.java:%d)" % (i, d) for d in range(10)]
        lines.append("NULL")
    lines += ["0SECTION       CLASSES subcomponent dump routine"]
    for i in range(n - 1):
        lines += ["2CLTEXTCLLOAD\t\tLoader c/L(0x%016X)" % g.address[i + 1],
                  "3CLTEXTCLASS\t\t\tc/C%d(0x%016X)" % (i, FIRST_CLASS + STEP * (i + 2))]
    return {"heapdump.%s.phd" % name: phd(g), "javacore.%s.txt" % name: "\n".join(lines + [""]).encode()}


# --- damage -------------------------------------------------------------------------------------------


def broken(dump, begin, every):
    """Bytes that are none of the format's, again and again."""
    out = bytearray(dump)
    for at in range(begin, len(out) - 64, every):
        out[at:at + 4] = b"\xee" * 4
    return bytes(out)


@shape
def broken_phd(n):
    """Damage from the middle on, every 1,000 bytes."""
    dump = phd(wild(n))
    return broken(dump, len(dump) // 2, 1000)


@shape
def broken_classic(n):
    """The same."""
    return broken(classic(wild(n)), 2000, 1000)


@shape
def broken_go(n):
    """The same."""
    dump = go(wild(n))
    return broken(dump, len(dump) // 2, 1000)
