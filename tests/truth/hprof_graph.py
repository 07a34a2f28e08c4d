#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real HPROF dumps, object by object, against a second and much simpler reader.

The reader below loads all sub-records into dictionaries and follows superclasses by recursion; it
shares nothing with the program.  Compared are every object with its class, length and references in
their order, every class with its name, superclass and loader, and every root.  With it go the counts
that the dumps' makers state (*.counts.json).
"""

import glob
import gzip
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Graph, Object, Tap, cairn, compare, need_dumps  # noqa: E402

PRIMITIVES = {4: ("boolean", 1), 5: ("char", 2), 6: ("float", 4), 7: ("double", 8), 8: ("byte", 1),
              9: ("short", 2), 10: ("int", 4), 11: ("long", 8)}
LETTERS = {"Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short",
           "I": "int", "J": "long"}
KINDS = {1: "JNI global", 2: "JNI local", 3: "Java local", 4: "Native stack", 5: "System class",
         6: "Thread block", 7: "Busy monitor", 8: "Thread", 0xFF: "Unknown"}


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
                if tag in (0xFF, 5, 7):
                    n = s
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
        c = {"super": self.id(body + s + 4), "loader": self.id(body + 2 * s + 4), "out": [], "fields": []}
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

    def graph(self, heap):
        self.classes = {}
        rows = list(self.records(heap))
        graph, s, roots = Graph([]), self.ids, set()
        names = {a: self.class_name(a) for a in self.classes}
        by_name = {}
        for a, n in names.items():
            by_name.setdefault(n, []).append(a)
        for tag, body, end in rows:
            if tag not in (0x20, 0x21, 0x22, 0x23):
                if self.id(body):
                    roots.add((self.id(body), KINDS[tag]))
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


def normal(name):
    """As java_name, but the number of a hidden class keeps its slash in the program."""
    head, slash, tail = name.rpartition("/")
    return head + "." + tail if slash and tail[:1].isdigit() else name


def check(tap, path, threads):
    name = os.path.basename(path)
    dump = read(path)
    want = dump.graph(-1)
    for t in threads:
        got = Graph.of_dump(path, "-t", t)
        for o in got.objects.values():
            o.cls = normal(o.cls)
        got.classes = {a: (normal(c[0]),) + c[1:] for a, c in got.classes.items()}
        tap.ok(got.run.status == 0, "%s opens (-t %s)" % (name, t), got.run.err)
        wrong = compare(got, want)
        tap.ok(not wrong, "%s: every object and class as the simple reader has it (-t %s)" % (name, t),
               "\n".join(wrong))
        tap.equal(sorted(set(got.roots) ^ want.roots)[:9], [], "%s: every root (-t %s)" % (name, t))
    return dump


def check_reachable(tap, path, dump):
    """What is reachable: as a simple walk finds it, and without what Eclipse MAT does not follow (a class's
    constants, which the old agent wrote, its signers and its protection domain) as MAT counts it."""
    name = os.path.basename(path)
    for truth in sorted(glob.glob(path + ".mat.json.gz") + glob.glob(path + ".heap*.mat.json.gz")):
        heap = int(truth[len(path) + 5]) if ".heap" in truth[len(path):] else len(dump.heaps)
        with gzip.open(truth, "rt", encoding="utf-8") as f:
            mat = json.load(f)
        graph = dump.graph(heap - 1)
        by_mat = reachable(graph, {a: c["beyond"] for a, c in dump.classes.items()})
        tap.equal(len(by_mat), mat["objects"] - 1, "%s, heap %d: reachable by MAT" % (name, heap))
        run = cairn("-x", "info", "--format", "json", "--dump", str(heap), path)
        tap.equal(json.loads(run.out or "{}").get("reachable_objects"), len(reachable(graph)),
                  "%s, heap %d: reachable, all that a class holds followed" % (name, heap))


def check_counts(tap, path):
    """What the dump's maker counted in it, and what the program built."""
    name = os.path.basename(path)
    base = path.split(".hprof")[0]
    with open(base + ".counts.json", encoding="utf-8") as f:
        counts = json.load(f)
    run = cairn("-x", "info", "--format", "json", path)
    info = json.loads(run.out or "{}")
    heap = counts["heap_records"]
    want = {"objects": counts["objects"], "classes": heap["CLASS_DUMP"],
            "instances": heap["INSTANCE_DUMP"], "object_arrays": heap["OBJ_ARRAY_DUMP"],
            "primitive_arrays": heap["PRIM_ARRAY_DUMP"], "word_bits": 8 * counts["id_size"],
            "threads": heap["ROOT_THREAD_OBJECT"]}
    tap.equal({k: info.get(k) for k in want}, want, "%s: info" % name)
    run = cairn("-x", "histo", "--format", "json", path)
    ours = {}
    for row in json.loads(run.out or "[]"):
        ours[row["class"]] = ours.get(row["class"], 0) + row["objects"]
    want = {java_name(k): sum(r["instances"] for r in (v if isinstance(v, list) else [v]))
            for k, v in counts["instances"].items()}
    if "java.lang.Class" in want:
        want["java.lang.Class"] += heap["CLASS_DUMP"]
    tap.equal({k: ours.get(k) for k in want}, want, "%s: objects of %d classes" % (name, len(want)))


def main():
    dumps = need_dumps()
    tap = Tap()
    real = sorted(glob.glob(os.path.join(dumps, "hotspot", "*.hprof")))
    tap.ok(len(real) >= 4, "there are dumps in hotspot/", real)
    for path in real:
        check_reachable(tap, path, check(tap, path, ("1", "3")))
    for name in ("grove25-gz.hprof.gz", "grove-i386.hprof", "grove-zgc.hprof"):
        check(tap, os.path.join(dumps, "grove", name), ("2",))
    counted = [p for p in sorted(glob.glob(os.path.join(dumps, "grove", "*.hprof*")))]
    tap.ok(len(counted) >= 10, "there are dumps in grove/", counted)
    for path in counted:
        check_counts(tap, path)
    tap.done()


main()
