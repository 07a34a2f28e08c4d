# SPDX-License-Identifier: GPL-3.0-or-later
"""Small HPROF dumps made here: classes with fields and statics by name, objects, arrays, threads with frames.

    d = JavaDump()
    node = d.add_class("acme.Node", fields="next:L size:I")
    a = d.new("acme.Node", next=0, size=3)
    d.static("acme.Node", "first", a)
    d.write(path)

Objects get their addresses at once and may be changed until the dump is written (d.put).
"""

import struct

TYPES = {"L": 2, "Z": 4, "C": 5, "F": 6, "D": 7, "B": 8, "S": 9, "I": 10, "J": 11}
WIDTHS = {"L": 8, "Z": 1, "C": 2, "F": 4, "D": 8, "B": 1, "S": 2, "I": 4, "J": 8}
ROOTS = {"sticky": 5, "local": 3, "thread": 8, "jni": 1}


class JavaDump:
    def __init__(self):
        self.at = 0x10000000
        self.tops, self.serials = [], {}
        self.classes = {}   # name: [address, superclass, [(field, letter)], {static: (letter, value)}, loader]
        self.objects = []   # (address, class, {field: value}) or (address, class, [elements])
        self.roots, self.threads = [], []
        for name in ("java.lang.Object", "java.lang.Class", "java.lang.ClassLoader"):
            self.add_class(name)
        self.add_class("java.lang.String", fields="value:L coder:B")
        self.add_class("java.lang.Object[]")
        self.add_class("byte[]")
        self.add_class("java.lang.Thread", fields="name:L threadStatus:I threadLocals:L inheritableThreadLocals:L")

    def take(self, size):
        at, self.at = self.at, self.at + size
        return at

    def text(self, s):
        if s not in self.serials:
            self.serials[s] = 1 + len(self.serials)
            body = struct.pack(">Q", self.serials[s]) + s.encode()
            self.tops.append(struct.pack(">BII", 1, 0, len(body)) + body)
        return struct.pack(">Q", self.serials[s])

    def add_class(self, name, above="java.lang.Object", fields="", statics="", loader=0):
        parse = [tuple(f.split(":")) for f in fields.split()]
        held = {f.split(":")[0]: [f.split(":")[1], 0] for f in statics.split()}
        self.classes[name] = [self.take(128), None if name == "java.lang.Object" else above, parse, held, loader]
        spelled = {"java.lang.Object[]": "[Ljava/lang/Object;", "byte[]": "[B"}.get(name)
        if not spelled and name.endswith("[]"):
            spelled = "[L%s;" % name[:-2].replace(".", "/")
        body = struct.pack(">IQI", len(self.classes), self.classes[name][0], 1)
        body += self.text(spelled or name.replace(".", "/"))
        self.tops.append(struct.pack(">BII", 2, 0, len(body)) + body)
        self.roots.append((5, struct.pack(">Q", self.classes[name][0])))
        return self.classes[name][0]

    def static(self, name, field, value):
        self.classes[name][3][field][1] = value

    def lineage(self, name):
        while name:
            yield name
            name = self.classes[name][1]

    def new(self, cls, **values):
        """Values by field; a field of the same name of a superclass is "SIMPLE_CLASS__field"."""
        address = self.take(256)
        self.objects.append([address, cls, dict(values)])
        return address

    def put(self, address, **values):
        next(o for o in self.objects if o[0] == address)[2].update(values)

    def array(self, elements, cls="java.lang.Object[]"):
        address = self.take(64 + 8 * len(elements))
        self.objects.append([address, cls, list(elements)])
        return address

    def string(self, s):
        data = self.take(64 + len(s))
        self.objects.append([data, "byte[]", s.encode("latin-1")])
        return self.new("java.lang.String", value=data)

    def root(self, kind, address, thread=0, frame=0):
        body = struct.pack(">Q", address)
        if kind in ("local", "thread"):
            body += struct.pack(">II", thread, frame)
        elif kind == "jni":
            body += bytes(8)
        self.roots.append((ROOTS[kind], body))

    def thread(self, address, frames=()):
        """Its number; frames as "acme.Node.run", innermost first."""
        number = len(self.threads) + 1
        self.threads.append(address)
        ids = []
        for i, f in enumerate(frames):
            owner, method = f.rsplit(".", 1)
            ids.append(number * 100 + i)
            serial = 1 + list(self.classes).index(owner) if owner in self.classes else 0
            body = struct.pack(">Q", ids[-1]) + self.text(method) + self.text("()V") + self.text("Some.java")
            self.tops.append(struct.pack(">BII", 4, 0, len(body) + 8) + body + struct.pack(">II", serial, 7))
        body = struct.pack(">III", number + 1, number, len(ids)) + b"".join(struct.pack(">Q", i) for i in ids)
        self.tops.append(struct.pack(">BII", 5, 0, len(body)) + body)
        self.roots.append((8, struct.pack(">QII", address, number, number + 1)))
        return number

    def packed(self, letter, value):
        n = WIDTHS[letter]
        return (value & (1 << 8 * n) - 1).to_bytes(n, "big")

    def instance(self, cls, values):
        data = b""
        for c in self.lineage(cls):
            for field, letter in self.classes[c][2]:
                data += self.packed(letter, values.get(c.split(".")[-1] + "__" + field, values.get(field, 0)))
        return data

    def heap(self):
        out = b"".join(bytes([tag]) + body for tag, body in self.roots)
        for name, (address, above, fields, held, loader) in self.classes.items():
            out += b"\x20" + struct.pack(">QIQQ", address, 1, self.classes[above][0] if above else 0, loader)
            size = len(self.instance(name, {}))
            out += bytes(32) + struct.pack(">IH", size, 0) + struct.pack(">H", len(held))
            for field, (letter, value) in held.items():
                out += self.text(field) + bytes([TYPES[letter]]) + self.packed(letter, value)
            out += struct.pack(">H", len(fields))
            out += b"".join(self.text(field) + bytes([TYPES[letter]]) for field, letter in fields)
        for address, cls, values in self.objects:
            if isinstance(values, dict):
                data = self.instance(cls, values)
                out += b"\x21" + struct.pack(">QIQI", address, 1, self.classes[cls][0], len(data)) + data
            elif isinstance(values, bytes):
                out += b"\x23" + struct.pack(">QIIB", address, 1, len(values), 8) + values
            else:
                out += b"\x22" + struct.pack(">QIIQ", address, 1, len(values), self.classes[cls][0])
                out += b"".join(struct.pack(">Q", v) for v in values)
        return out

    def write(self, path):
        heap = self.heap()
        with open(path, "wb") as f:
            f.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1700000000000) + b"".join(self.tops))
            f.write(struct.pack(">BII", 0x1C, 0, len(heap)) + heap + struct.pack(">BII", 0x2C, 0, 0))


def with_references():
    """A dump with references of each kind, their classes as JDK 17 has them."""
    d = JavaDump()
    ref = "java.lang.ref."
    d.add_class(ref + "ReferenceQueue", fields="head:L queueLength:J")
    d.add_class(ref + "Reference", fields="referent:L queue:L next:L discovered:L")
    for name in ("Soft", "Weak", "Phantom", "Final"):
        d.add_class(ref + name + "Reference", ref + "Reference")
    d.add_class(ref + "Finalizer", ref + "FinalReference", fields="next:L prev:L", statics="queue:L unfinalized:L")
    d.add_class(ref + "Finalizer$FinalizerThread", "java.lang.Thread")
    d.add_class("jdk.internal.ref.PhantomCleanable", ref + "PhantomReference", fields="prev:L next:L")
    d.add_class("java.lang.ThreadLocal")
    d.add_class("java.lang.ThreadLocal$ThreadLocalMap$Entry", ref + "WeakReference", fields="value:L")
    d.add_class("java.lang.ThreadLocal$ThreadLocalMap$Entry[]", "java.lang.Object[]")
    d.add_class("java.lang.ThreadLocal$ThreadLocalMap", fields="table:L size:I")
    return d
