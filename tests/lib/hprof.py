# SPDX-License-Identifier: GPL-3.0-or-later
"""A second and much simpler reader of HPROF dumps.

It loads all sub-records into dictionaries and follows superclasses by recursion; it shares nothing
with the program.
"""

import gzip
import struct

from cairntest import Graph, Object

PRIMITIVES = {4: ("boolean", 1), 5: ("char", 2), 6: ("float", 4), 7: ("double", 8), 8: ("byte", 1),
              9: ("short", 2), 10: ("int", 4), 11: ("long", 8)}
LETTERS = {"Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short",
           "I": "int", "J": "long"}
KINDS = {1: "JNI global", 2: "JNI local", 3: "Java local", 4: "Native stack", 5: "System class",
         6: "Thread block", 7: "Busy monitor", 8: "Thread", 0xFF: "Unknown",
         # Android's (ART, runtime/hprof/hprof.cc)
         0x89: "Interned string", 0x8A: "Finalizable", 0x8B: "Debugger", 0x8C: "Reference cleanup", 0x8D: "VM internal",
         0x8E: "Busy monitor"}


def java_name(name):
    if not name.startswith("["):
        return name.replace("/", ".")
    core = name.lstrip("[")
    depth = len(name) - len(core)
    core = core[1:-1].replace("/", ".") if core.startswith("L") else LETTERS[core]
    return core + "[]" * depth


class Dump:
    """The last heap of a file."""

    def __init__(self, data):
        self.data = data
        end = data.index(b"\0")
        self.ids = struct.unpack(">I", data[end + 1:end + 5])[0]
        self.id_format = ">Q" if self.ids == 8 else ">I"
        self.strings, self.names, self.heaps, self.tops = {}, {}, [], {}
        open_run = False
        at = end + 13
        while at < len(data):
            tag, _, n = struct.unpack(">BII", data[at:at + 9])
            body = at + 9
            self.tops[tag] = self.tops.get(tag, 0) + 1
            if tag == 1:
                self.strings[self.id(body)] = data[body + self.ids:body + n]
            elif tag == 2:
                self.names[self.id(body + 4)] = self.id(body + 8 + self.ids)
            elif tag == 0x0C:
                self.heaps.append([(body, body + n)])
                open_run = False
            elif tag == 0x1C:
                if not open_run:
                    self.heaps.append([])
                open_run = True
                self.heaps[-1].append((body, body + n))
            elif tag == 0x2C:
                open_run = False
            at = body + n

    def id(self, at):
        return struct.unpack_from(self.id_format, self.data, at)[0]

    def u4(self, at):
        return struct.unpack_from(">I", self.data, at)[0]

    def u2(self, at):
        return struct.unpack_from(">H", self.data, at)[0]

    def width(self, t):
        return self.ids if t == 2 else PRIMITIVES[t][1]

    def records(self, heap):
        """(sub-tag, offset of the body, offset of the next) of every sub-record."""
        s, d = self.ids, self.data
        for at, end in self.heaps[heap]:
            while at < end:
                tag, body = d[at], at + 1
                if tag in (0xFF, 5, 7, 0x89, 0x8A, 0x8B, 0x8C, 0x8D, 0x90):
                    n = s
                elif tag == 0x8E:
                    n = s + 8
                elif tag == 0xFE:
                    n = 4 + s
                elif tag == 1:
                    n = 2 * s
                elif tag in (2, 3, 8):
                    n = s + 8
                elif tag in (4, 6):
                    n = s + 4
                elif tag == 0x21:
                    n = 2 * s + 8 + self.u4(body + 2 * s + 4)
                elif tag == 0x22:
                    n = 2 * s + 8 + s * self.u4(body + s + 4)
                elif tag == 0x23:
                    n = s + 9 + self.width(d[body + s + 8]) * self.u4(body + s + 4)
                elif tag == 0x20:
                    n = self.read_class(body) - body
                else:
                    raise ValueError("sub-tag %d at %d" % (tag, at))
                yield tag, body, body + n
                at = body + n
            assert at == end

    def read_class(self, body):
        s, d = self.ids, self.data
        c = {"super": self.id(body + s + 4), "loader": self.id(body + 2 * s + 4), "out": [], "fields": [],
             "names": []}
        c["out"] += [x for x in (self.id(body + 3 * s + 4), self.id(body + 4 * s + 4)) if x]  # signers, domain
        at = body + 7 * s + 8
        n, at = self.u2(at), at + 2
        for _ in range(n):
            if d[at + 2] == 2 and self.id(at + 3):
                c["out"].append(self.id(at + 3))
            at += 3 + self.width(d[at + 2])
        c["beyond"] = len(c["out"])  # of these: what Eclipse MAT does not follow
        n, at = self.u2(at), at + 2
        for _ in range(n):
            t = d[at + s]
            if t == 2 and self.id(at + s + 1):
                c["out"].append(self.id(at + s + 1))
            at += s + 1 + self.width(t)
        n, at = self.u2(at), at + 2
        for _ in range(n):
            c["fields"].append(d[at + s])
            c["names"].append(self.id(at))
            at += s + 1
        self.classes[self.id(body)] = c
        return at

    def all_fields(self, class_id):
        """Types, own first."""
        if not class_id:
            return []
        c = self.classes[class_id]
        if "all" not in c:
            c["all"] = c["fields"] + self.all_fields(c["super"])
        return c["all"]

    def class_name(self, class_id):
        name = self.strings[self.names[class_id]].decode("utf-8", "surrogatepass")
        name = name.encode("utf-16", "surrogatepass").decode("utf-16")
        dims = 0
        if "/" not in name and not name.startswith("["):  # the old agent's spelling
            while name.endswith("[]"):
                name, dims = name[:-2], dims + 1
            return name + "[]" * dims
        return java_name(name)

    def texts(self, heap):
        """The texts of all Strings, and names of threads (which were arrays before JDK 8)."""
        self.classes, strings, arrays, threads = {}, {}, {}, []
        rows, s = list(self.records(heap)), self.ids
        kinds = {a: self.class_name(a) for a in self.classes}
        for tag, body, _ in rows:
            if tag == 0x23 and self.data[body + s + 8] in (5, 8):
                at, wide = body + s + 9, self.data[body + s + 8] == 5
                arrays[self.id(body)] = (self.data[at:at + self.u4(body + s + 4) * (2 if wide else 1)], wide)
        for tag, body, _ in rows:
            cls = self.id(body + s + 4) if tag == 0x21 else 0
            held, at, c, lineage = {}, body + 2 * s + 8, cls, []
            while c:
                lineage.append(kinds[c])
                for name, t in zip(self.classes[c]["names"], self.classes[c]["fields"]):
                    held.setdefault(self.strings[name], (t, at))
                    at += self.width(t)
                c = self.classes[c]["super"]
            if "java.lang.String" in lineage and held[b"value"][0] == 2:
                array, wide = arrays.get(self.id(held[b"value"][1]), (b"", False))
                if b"count" in held:
                    first, n = (self.u4(held[w][1]) for w in (b"offset", b"count"))
                    array = array[2 * first:2 * (first + n)]
                utf16 = wide or (b"coder" in held and self.data[held[b"coder"][1]])
                strings[self.id(body)] = array.decode(("utf-16-be" if wide else "utf-16-le") if utf16 else "latin-1",
                                                      "replace")
            elif "java.lang.Thread" in lineage:
                threads.append(self.id(held[b"name"][1]))
        return set(strings.values()), {strings.get(a) or arrays.get(a, (b"", 0))[0].decode("utf-16-be", "replace")
                                       for a in threads}

    def graph(self, heap):
        self.classes = {}
        rows = list(self.records(heap))
        graph, s, roots, entries = Graph([]), self.ids, set(), set()
        names = {a: self.class_name(a) for a in self.classes}
        by_name = {}
        for a, n in names.items():
            by_name.setdefault(n, []).append(a)
        for tag, body, end in rows:
            if tag not in (0x20, 0x21, 0x22, 0x23):
                if self.id(body):
                    roots.add((self.id(body), KINDS[tag]))
                    # what makes it a root: of a kind, a thread and a frame; two handles to it are one
                    entries.add((self.id(body), KINDS[tag], self.data[body + s:end] if tag in (2, 3, 4, 6, 8) else b""))
                continue
            o = Object()
            o.address, o.out, o.into, o.length, o.shallow = self.id(body), [], None, None, None
            if tag == 0x20:
                o.kind, o.class_address = "class", by_name["java.lang.Class"][0]
                o.out = self.classes[o.address]["out"]
            elif tag == 0x21:
                o.kind, o.class_address = "instance", self.id(body + s + 4)
                at = body + 2 * s + 8
                for t in self.all_fields(o.class_address):
                    if t == 2 and self.id(at):
                        o.out.append(self.id(at))
                    at += self.width(t)
                assert at == end
            elif tag == 0x22:
                o.kind, o.class_address = "object_array", self.id(body + s + 8)
                o.length = self.u4(body + s + 4)
                o.out = [e for e in struct.unpack_from(">%d%s" % (o.length, self.id_format[1]), self.data,
                                                       body + 2 * s + 8) if e]
            else:
                name = PRIMITIVES[self.data[body + s + 8]][0] + "[]"
                o.kind, o.class_address = "primitive_array", by_name[name][0]
                o.length = self.u4(body + s + 4)
            o.cls = names[o.class_address]
            graph.objects[o.address] = o
        n_of = {}
        for o in graph.objects.values():
            n_of[o.class_address] = n_of.get(o.class_address, 0) + 1
        for a, c in self.classes.items():
            graph.classes[a] = (names[a], c["loader"] if c["loader"] in graph.objects else None,
                                c["super"] or None, n_of.get(a, 0), None)
        graph.roots = {r for r in roots if r[0] in graph.objects}
        # of a thread without an object no frames are known, nor which thread it is
        threads = {e[2][:4] for e in entries if e[1] == "Thread" and e[0] in graph.objects}
        graph.entries = {(a, kind, where if where[:4] in threads else b"") for a, kind, where in entries
                         if a in graph.objects}
        if not any(k == "System class" for _, k in graph.roots):
            graph.roots |= {(a, "System class") for a, c in self.classes.items()
                            if c["loader"] not in graph.objects and not names[a].endswith("[]")}
        total = {k: sum(1 for o in graph.objects.values() if o.kind == k)
                 for k in ("class", "instance", "object_array", "primitive_array")}
        all_out = [t for o in graph.objects.values() for t in o.out]
        graph.counts = {"objects": len(graph.objects), "classes": total["class"],
                        "instances": total["instance"], "object_arrays": total["object_array"],
                        "primitive_arrays": total["primitive_array"], "references": len(all_out),
                        "dangling": sum(1 for t in all_out if t not in graph.objects)}
        return graph


def reachable(graph, beyond=None):
    """Objects that a walk from the roots meets; beyond: for each class the number of its first references
    that are not followed."""
    found, stack, loaded = set(), [a for a, _ in graph.roots], {}
    for a, c in graph.classes.items():
        loaded.setdefault(c[1], []).append(a)
    while stack:
        a = stack.pop()
        if a in found or a not in graph.objects:
            continue
        found.add(a)
        o = graph.objects[a]
        stack += o.out[(beyond or {}).get(a, 0):] + [o.class_address]
        if a in graph.classes:
            stack += [x for x in graph.classes[a][1:3] if x]
        stack += loaded.get(a, [])
    return found


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return Dump(f.read())


def symbols(path):
    """Texts of all UTF8 records, and those that name something, by a walk over what names."""
    d = read(path)
    d.classes = {}
    used = set(d.names.values())
    at = d.data.index(b"\0") + 13
    while at < len(d.data):
        tag, n = d.data[at], int.from_bytes(d.data[at + 5:at + 9], "big")
        if tag == 4:
            used |= {d.id(at + 9 + i * d.ids) for i in (1, 2, 3)}
        at += 9 + n
    for tag, body, _ in d.records(-1):
        if tag == 0xFE:
            used.add(d.id(body + 4))
        if tag == 0x20:
            s, p = d.ids, body + 7 * d.ids + 8
            n, p = d.u2(p), p + 2
            for _ in range(n):
                p += 3 + d.width(d.data[p + 2])
            n, p = d.u2(p), p + 2
            for _ in range(n):
                used.add(d.id(p))
                p += s + 1 + d.width(d.data[p + s])
    used |= {n for c in d.classes.values() for n in c["names"]}
    return d.strings, {k for k in used if k in d.strings}
