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
ROOTS = {"sticky": 5, "local": 3, "thread": 8, "jni": 1, "monitor": 7, "block": 6, "interned": 0x89, "finalizing": 0x8A,
         "debugger": 0x8B, "vm": 0x8D, "unknown": 0xFF}


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
        elif kind == "block":
            body += struct.pack(">I", thread)
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


LOCKS = "java.util.concurrent.locks."
AQS = LOCKS + "AbstractQueuedSynchronizer"


def add_locks(d, since_14=True):
    """The classes of locks, as JDK 17 or JDK 8 have them; before the first thread is made."""
    d.classes["java.lang.Thread"][2].append(("parkBlocker", "L"))
    d.add_class(LOCKS + "AbstractOwnableSynchronizer", fields="exclusiveOwnerThread:L")
    d.add_class(AQS, LOCKS + "AbstractOwnableSynchronizer", fields="head:L tail:L state:I")
    if since_14:
        d.add_class(AQS + "$Node", fields="prev:L next:L waiter:L status:I")
        d.add_class(AQS + "$ConditionNode", AQS + "$Node", fields="nextWaiter:L")
    else:
        d.add_class(AQS + "$Node", fields="waitStatus:I prev:L next:L thread:L nextWaiter:L")
    d.add_class(AQS + "$ConditionObject", fields="firstWaiter:L lastWaiter:L this$0:L")
    d.add_class(LOCKS + "ReentrantLock", fields="sync:L")
    d.add_class(LOCKS + "ReentrantLock$Sync", AQS)
    d.add_class(LOCKS + "ReentrantLock$NonfairSync", LOCKS + "ReentrantLock$Sync")
    return d


def named_thread(d, name, status=0x291, frames=()):
    """A parked thread (JVMTI's bits): its object, and its number."""
    t = d.new("java.lang.Thread", name=d.string(name), threadStatus=status)
    return t, d.thread(t, frames)


def queue(d, waiters, since_14=True):
    """Head and tail of a queue of these threads."""
    nodes = [d.new(AQS + "$Node", **{"waiter" if since_14 else "thread": w}) for w in [0] + list(waiters)]
    for before, after in zip(nodes, nodes[1:]):
        d.put(before, next=after)
        d.put(after, prev=before)
    return nodes


def lock(d, owner, waiters=(), since_14=True, **more):
    """A ReentrantLock with its owner and who waits for it."""
    nodes = queue(d, waiters, since_14) if waiters else [0]
    sync = d.new(LOCKS + "ReentrantLock$NonfairSync", exclusiveOwnerThread=owner, state=1 if owner else 0,
                 **dict({"head": nodes[0], "tail": nodes[-1]}, **more))
    made = d.new(LOCKS + "ReentrantLock", sync=sync)
    d.root("jni", made)
    return made


def deadlock(d, n=2, since_14=True):
    """n threads, each of which has a lock and waits for that of the next."""
    threads = [named_thread(d, "dead-%d" % i)[0] for i in range(n)]
    return [lock(d, threads[i], [threads[i - 1]], since_14) for i in range(n)]
