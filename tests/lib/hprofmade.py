# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes small HPROF dumps out of Python: classes with fields, objects with values, for whoever plants something."""

import struct

TYPES = {"L": 2, "Z": 4, "C": 5, "F": 6, "D": 7, "B": 8, "S": 9, "I": 10, "J": 11}
FORMATS = {2: ">Q", 4: ">B", 5: ">H", 6: ">f", 7: ">d", 8: ">b", 9: ">h", 10: ">i", 11: ">q"}


class Made:
    def __init__(self, version=b"1.0.2"):
        self.version, self.texts, self.tops, self.heap = version, {}, [], []
        self.classes, self.next, self.roots = {}, 0x1000, []
        self.no_root = set()  # names of classes that no root holds
        self.cls("java.lang.Object")
        self.cls("java.lang.Class")

    def address(self, step=64):
        self.next += step
        return self.next

    def text(self, s):
        return self.texts.setdefault(s, 0x900000 + len(self.texts) * 8)

    def cls(self, name, fields=(), up="java.lang.Object", statics=()):
        """fields: ("I", "capacity"); statics: ("J", "count", 7)."""
        if name not in self.classes:
            above = self.classes.get(up) if name != "java.lang.Object" else None
            self.classes[name] = [self.address(), list(fields), above, list(statics)]
        return self.classes[name][0]

    def fields(self, c):
        return c[1] + (self.fields(c[2]) if c[2] else [])

    def new(self, name, serial=0, **values):
        """An object; what is not given is 0.  A list has the values of fields of one name, the class's own first."""
        at = self.address()
        self.heap.append((at, name, serial, values))
        return at

    def array(self, name, elements, serial=0):
        at = self.address(64 + 8 * len(elements))
        self.cls(name + "[]")
        self.heap.append((at, name + "[]", serial, list(elements)))
        return at

    def primitives(self, kind, raw, serial=0):
        """An array of "B" and so on, by its bytes in the dump."""
        at = self.address(64 + len(raw))
        self.heap.append((at, kind, serial, raw))
        return at

    def string(self, s):
        """Of one byte a character, as JDK 9 and later have them."""
        self.cls("java.lang.String", [("L", "value"), ("B", "coder")])
        return self.new("java.lang.String", value=self.primitives("B", s.encode("latin-1")))

    def android_heap(self, letter, name):
        """The objects from here on are of this one."""
        self.heap.append((0, name, ord(letter), None))

    def root(self, at):
        self.roots.append(at)

    def top(self, tag, body):
        self.tops.append((tag, body))

    def bytes(self):
        body = b""
        for name, (at, fields, above, statics) in self.classes.items():
            body += struct.pack(">BQIQQQQQQI", 0x20, at, 0, above[0] if above else 0, 0, 0, 0, 0, 0,
                                sum(struct.calcsize(FORMATS[TYPES[t]]) for t, _ in self.fields([0, fields, above, 0])))
            body += struct.pack(">HH", 0, len(statics))
            for t, field, value in statics:
                body += struct.pack(">QB", self.text(field), TYPES[t]) + struct.pack(FORMATS[TYPES[t]], value)
            body += struct.pack(">H", len(fields))
            for t, field in fields:
                body += struct.pack(">QB", self.text(field), TYPES[t])
            body += struct.pack(">BQ", 5, at) if name not in self.no_root else b""
        for at in self.roots:
            body += struct.pack(">BQ", 0xFF, at)
        for at, name, serial, values in self.heap:
            if values is None:
                body += struct.pack(">BIQ", 0xFE, serial, self.text(name))
                continue
            if isinstance(values, bytes):
                width = struct.calcsize(FORMATS[TYPES[name]])
                body += struct.pack(">BQIIB", 0x23, at, serial, len(values) // width, TYPES[name]) + values
                continue
            c = self.classes[name]
            if isinstance(values, list):
                body += struct.pack(">BQIIQ", 0x22, at, serial, len(values), c[0])
                body += b"".join(struct.pack(">Q", v) for v in values)
                continue
            values = {f: list(v) if isinstance(v, list) else v for f, v in values.items()}
            inside = b"".join(struct.pack(FORMATS[TYPES[t]], values[f].pop(0) if isinstance(values.get(f), list)
                                          else values.get(f, 0)) for t, f in self.fields(c))
            body += struct.pack(">BQIQI", 0x21, at, serial, c[0], len(inside)) + inside
        loads = [struct.pack(">IQIQ", n + 1, c[0], 0, self.text(internal(name)))
                 for n, (name, c) in enumerate(self.classes.items())]
        out = b"JAVA PROFILE " + self.version + b"\0" + struct.pack(">IQ", 8, 1700000000000)
        for s, at in self.texts.items():
            out += record(1, struct.pack(">Q", at) + s.encode())
        out += b"".join(record(2, b) for b in loads) + b"".join(record(t, b) for t, b in self.tops)
        return out + record(0x1C, body) + record(0x2C, b"")


def internal(name):
    """As the VM writes it: "[Ljava/lang/Object;"."""
    deep = name.count("[]")
    plain = name.replace("[]", "").replace(".", "/")
    return "[" * deep + "L%s;" % plain if deep else plain


def record(tag, body):
    return struct.pack(">BII", tag, 0, len(body)) + body


def buffers():
    """The JDK's classes around direct memory, as JDK 17 has them."""
    m = Made()
    m.cls("java.nio.Buffer", [("I", "mark"), ("I", "position"), ("I", "limit"), ("I", "capacity"), ("J", "address"),
                              ("L", "segment")])
    m.cls("java.nio.ByteBuffer", [("L", "hb"), ("I", "offset")], "java.nio.Buffer")
    m.cls("java.nio.MappedByteBuffer", [("L", "fd"), ("Z", "isSync")], "java.nio.ByteBuffer")
    m.cls("java.nio.DirectByteBuffer", [("L", "cleaner"), ("L", "att")], "java.nio.MappedByteBuffer")
    m.cls("java.lang.ref.Reference", [("L", "referent"), ("L", "queue")])
    m.cls("jdk.internal.ref.Cleaner", [("L", "thunk"), ("L", "next"), ("L", "prev")], "java.lang.ref.Reference")
    m.cls("java.nio.DirectByteBuffer$Deallocator", [("I", "capacity"), ("J", "size"), ("J", "address")])
    m.cls("java.util.concurrent.atomic.AtomicLong", [("J", "value")])
    return m


def add_direct(m, capacity, address=None, limit=None, **more):
    """A buffer with its cleaner; returns both, and the deallocator."""
    at = m.address()
    address = (0x7F0000000000 + at * 65536) if address is None else address
    action = m.new("java.nio.DirectByteBuffer$Deallocator", capacity=capacity, size=capacity, address=address)
    cleaner = m.new("jdk.internal.ref.Cleaner", thunk=action, referent=at)
    m.heap.append((at, "java.nio.DirectByteBuffer", 0, dict(dict(capacity=capacity,
                   limit=capacity if limit is None else limit, address=address, cleaner=cleaner), **more)))
    return at, cleaner, action
