#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""export -hprof: the heap that was open, again.

PHD against its export by two readers that share nothing with the program (lib/phdparse.py, lib/hprof.py): objects,
classes, references, lengths, sizes.  Every format by cairn's own reader, object by object: references, roots, retained
sizes; of HPROF also values, texts and stacks.  Names and arrays that are hostile or lack something.  jhat, where a JDK 8
is among the homes of CAIRN_JVMS, opens all of it.
"""

import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, GRAPHDUMP, SAMPLE, SAMPLE_TEXT, SHOP, Tap, cairn, some  # noqa: E402
from hprof import PRIMITIVES, java_name, read  # noqa: E402
from javadump import JavaDump, with_references  # noqa: E402
import phdparse  # noqa: E402

JHAT = [j for home in os.environ.get("CAIRN_JVMS", "").split(":") for j in glob.glob(os.path.join(home, "bin", "jhat"))]


def export(tap, path, to, name, status=0):
    if os.path.exists(to):
        os.remove(to)
    run = cairn("--format", "json", "-x", "export -hprof " + to, path)
    tap.ok(run.status == status and os.path.exists(to), name + ": an HPROF file is written", run)
    return json.loads(run.out)[0]


def jhat(tap, to, name, objects):
    """jhat reads the file without a complaint."""
    if JHAT:
        run = subprocess.run([JHAT[0], "-parseonly", "true", to], capture_output=True, text=True)
        tap.ok("Resolving %d objects" % objects in run.stdout and "Snapshot resolved" in run.stdout and
               "WARN" not in run.stdout + run.stderr, name + ": jhat opens it", (run.stdout[-500:], run.stderr[-300:]))


# --- graphs as cairn reads them -----------------------------------------------------------------------------


def graph(path, lines_without=(), sizes=True, ordered=True):
    """What graphdump tells, sorted where the order may differ."""
    out = subprocess.run([GRAPHDUMP, path], capture_output=True).stdout.decode("utf-8", "surrogateescape").split("\n")
    rows = []
    for line in out:
        part = line.split("\t")
        if part[0] == "count" and part[1] in ("warnings", "dangling", "references") + tuple(lines_without):
            continue
        if part[0] == "object" and not ordered:
            part[7:9] = [",".join(sorted(p.split(","))) for p in part[7:9]]
        if part[0] in ("object", "class") and not sizes:
            part[5 if part[0] == "object" else 6] = ""
        if part[0] == "count" and part[1] == "shallow" and not sizes:
            continue
        rows.append("\t".join(part))
    return rows


def same(tap, a, b, name):
    """The lines of two graphs."""
    tap.none(differences(a, b), a, name)


def differences(a, b):
    return sorted((Counter(a) - Counter(b)).elements())[:4] + sorted((Counter(b) - Counter(a)).elements())[:4]


def frames(path):
    """Every frame of every thread, and which objects it holds."""
    n = len(json.loads(cairn("--format", "json", "-x", "threads", path).out or "[]"))
    return [cairn("--format", "csv", "-x", "bt %d" % i, path).out for i in range(n)]


def asked(path, *lines):
    words = [w for line in lines for w in ("-x", line)]
    return cairn("--format", "csv", *words, path).out


def stacks(path):
    """Names of threads and how many frames they have, by the thread's object."""
    rows = json.loads(cairn("--format", "json", "-x", "threads", path).out or "[]")
    return {r["address"]: (r["name"], r["frames"]) for r in rows if r["address"]}


# --- PHD ----------------------------------------------------------------------------------------------------


def text_of(modified):
    """Of modified UTF-8."""
    return modified.decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16")


# A PHD file that jdmpview made of a core has 0, or the number of references, for lengths, and addresses of the VM for
# superclasses.
def phd_differences(path, to):
    """Between the records of a PHD file and those of its export, and the objects that are there; figures of sizes as
    Eclipse MAT adds fields up."""
    records = phdparse.parse(path)[2]
    d = read(to)
    g = d.graph(len(d.heaps) - 1)
    there = {r["a"] for r in records}
    names = {r["a"]: text_of(r["name"]) for r in records if r["k"] == "C"}
    sizes = {r["a"]: r["isize"] for r in records if r["k"] == "C"}
    wrong = ["objects: %s" % [hex(a) for a in sorted(there ^ set(g.objects))[:5]]] if there != set(g.objects) else []
    for r in records:
        o = g.objects.get(r["a"])
        if o is None:
            continue
        want = sorted(t for t in r["refs"] if t in there)
        if sorted(o.out) != want:
            wrong.append("0x%x: references %s, want %s" % (r["a"], o.out[:9], want[:9]))
        elements = [t for t in reversed(r["refs"]) if t in there]  # which PHD has from the last to the first
        if r["k"] == "A" and [t for t in o.out if t in elements] != elements:
            wrong.append("0x%x: elements %s, want %s" % (r["a"], o.out[:9], elements[:9]))
        if o.kind != {"O": "instance", "C": "class", "A": "object_array", "P": "primitive_array"}[r["k"]]:
            wrong.append("0x%x is %s" % (r["a"], o.kind))
        if r["k"] == "O" and o.class_address != r["c"]:
            wrong.append("0x%x is of class 0x%x" % (r["a"], o.class_address))
        if r["k"] in "AP" and "conv-" not in path and o.length != r["len"]:
            wrong.append("0x%x has length %d, want %d" % (r["a"], o.length, r["len"]))
        if r["k"] == "C":
            c = d.classes[r["a"]]
            if java_name(d.class_name(r["a"])) != java_name(names[r["a"]]):
                wrong.append("0x%x is called %s, want %s" % (r["a"], d.class_name(r["a"]), names[r["a"]]))
            if c["super"] != r["sup"] and (r["sup"] in there or "conv-" not in path):
                wrong.append("0x%x has the superclass 0x%x" % (r["a"], c["super"]))
    wide = any(r["k"] == "A" and r["len"] > 9 and r["size"] and r["size"] > 8 * r["len"] for r in records)
    return wrong[:5], set(g.objects), mat_sizes(d, sizes, 8 if wide else 4)


def mat_sizes(d, sizes, reference):
    """Classes whose instances take as much as the dump says when Eclipse MAT adds their fields up, those that take
    more, and those that take less (HprofParserHandlerImpl.calculateSizeRecursive)."""
    exact, more, less = 0, [], []

    def added(c):
        up = d.classes[c]["super"]
        if not up:
            return d.ids + reference
        own = sum(reference if t == 2 else PRIMITIVES[t][1] for t in d.classes[c]["fields"])
        return (added(up) + own + reference - 1) // reference * reference

    for c, size in sizes.items():
        if c not in d.classes or not size or not d.classes[c]["super"] or d.class_name(c).endswith("[]"):
            continue
        mat, true = (added(c) + 7) // 8 * 8, max((size + 7) // 8 * 8, 16)
        exact += mat == true
        (more if mat > true else less).append((d.class_name(c), mat, true)) if mat != true else None
    return exact, more, less


def check_phd(tap, path, folder):
    name, to = os.path.join(*path.split("/")[-2:]), os.path.join(folder, "of.hprof")
    row = export(tap, path, to, name)
    wrong, there, (exact, more, less) = phd_differences(path, to)
    objects = len(there)
    tap.none(wrong, objects, name + ": both readers find the same objects, classes, references and lengths")
    tap.ok(row["holds"].startswith("{:,} objects; fields with invented names".format(objects)) and
           "values except references" in row["leaves_out"], name + ": what is invented is told", row)
    tap.ok(exact > 10 * len(less) and exact > 2 * len(more), name + ": most instances are as large for MAT as they are",
           (exact, len(more), more[:3], len(less), less[:3]))
    without = ("threads",)  # threads without an object are left out
    same(tap, graph(path, without, False, False), graph(to, without, False, False), name + ": cairn reads the same graph and roots from it")
    jhat(tap, to, name, objects)
    before, after = stacks(path), stacks(to)
    tap.equal(after.keys() - before.keys() if before else set(), set(), name + ": no thread that the javacore lacks")
    wrong = [(t, after.get(a)) for a, t in before.items() if int(a, 16) in there and after.get(a) != t]
    tap.ok(after and not wrong, name + ": threads that are objects have their names and stacks", wrong[:3])
    info = json.loads(cairn("--format", "json", "-x", "info", to).out)
    tap.ok("exported from PHD" in info["cannot_tell"] and "invented" in info["cannot_tell"], name + ": info says so", info)
    run = cairn("-x", "strings", to)
    tap.ok(run.status and "exported from PHD" in run.err, name + ": zeros are not taken for texts", run)
    run = cairn("-x", "references", to)
    tap.ok(run.status and "cannot be distinguished" in run.err, name + ": no reference is known to be weak", run)
    marks = cairn("-x", "roots -by kind", to).out
    tap.ok("~" in marks, name + ": roots stay inferred", marks)
    return to


def check_sizes(tap, path, to, name):
    """Where nothing in the heap has a size of its own, all figures are the same."""
    lines = ["histo -retained | cut class objects shallow retained", "dom | head 40 | cut address retained"]
    tap.equal(asked(to, *lines), asked(path, *lines), name + ": shallow and retained sizes, and dominators")


# --- HPROF --------------------------------------------------------------------------------------------------


def values(path):
    """Texts, statics, and fields of every so many-th object."""
    lines = ["strings", "sql SELECT * FROM statics", "collections"]
    addresses = [l.split("\t")[1] for l in graph(path) if l.startswith("object\t")]
    lines += ["x " + a for a in addresses[::max(len(addresses) // 60, 1)]]
    return [cairn("--format", "csv", "-x", line, path).out for line in lines]


def check_hprof(tap, path, folder, deep=True):
    name, to = os.path.join(*path.split("/")[-2:]), os.path.join(folder, "copy.hprof")
    row = export(tap, path, to, name)
    tap.equal(row.get("leaves_out") or "", "", name + ": nothing is left out")
    same(tap, graph(path), graph(to), name + ": the same graph, sizes and roots")
    jhat(tap, to, name, sum(line.startswith("object\t") for line in graph(to)))
    tap.equal(stacks(to), stacks(path), name + ": the same threads")
    tap.equal(frames(to), frames(path), name + ": the same stacks, with the locals of each frame")
    if deep:
        both = [values(p) for p in (path, to)]
        tap.ok(both[0] == both[1] and len(both[0][0]) > 100, name + ": the same values",
               [(a[:200], b[:200]) for a, b in zip(*both) if a != b][:2])
        check_sizes(tap, path, to, name)
    again = os.path.join(folder, "again.hprof")
    export(tap, to, again, name)
    with open(to, "rb") as a, open(again, "rb") as b:
        tap.ok(a.read() == b.read(), name + ": an export of the export is the same file")


# --- what is hostile ----------------------------------------------------------------------------------------

ODD = ["x.L\u00e4nge\u20ac", "x.\U0001F600$1", "x.new\nline", "x.a[]b", "x.[I", "x..y.", "x/0x00ff12", "x.Hidden/0x1+2",
       "a" * 5000, "x.\u202eltr", "?0", "x.tab\there", "int.x", "x.", " "]


def check_hostile(tap, folder):
    """Names with every kind of character, a heap of nothing, a class without a record, references in class objects."""
    path, to = os.path.join(folder, "odd.hprof"), os.path.join(folder, "odd.copy.hprof")
    d = with_references()
    for name in ODD:
        d.add_class(name, fields="one:L two:I", statics="held:L")
    d.classes = {k: v for k, v in d.classes.items()}
    last = 0
    for i, name in enumerate(ODD):
        last = d.new(name, one=last, two=i)
        d.static(name, "held", last)
    d.root("jni", last)
    d.write(path)
    export(tap, path, to, "odd names")
    same(tap, graph(path), graph(to), "odd names: the same graph and names")
    with open(path, "rb") as f:
        data = f.read()
    heap = 31 + len(b"".join(d.tops))
    for name, bytes_ in (("no objects", data[:heap] + struct.pack(">BII", 0x0C, 0, 9) + b"\xff" + bytes(8)),
                         ("nothing", data[:31] + struct.pack(">BII", 0x0C, 0, 9) + b"\xff" + bytes(8))):
        with open(path, "wb") as f:
            f.write(bytes_)
        export(tap, path, to, name)
        run = cairn("-x", "info", to)
        tap.ok(run.status == 0 and not run.err, name + ": it is read without a warning", run)
    lost = JavaDump()
    lost.add_class("x.Known", fields="one:L")
    lost.add_class("x.Lost", fields="one:L")
    held = lost.new("x.Lost")
    lost.root("jni", lost.new("x.Known", one=held))
    lost.write(path)
    with open(path, "rb") as f:
        data = f.read()
    at = data.index(b"\x20" + struct.pack(">QI", lost.classes["x.Lost"][0], 1))
    n = 1 + 28 + 32 + 4 + 2 + 2 + 2 + 9  # this record: no constants, no statics, one field
    head = 31 + len(b"".join(lost.tops))
    stated = struct.unpack_from(">I", data, head + 5)[0] - n
    with open(path, "wb") as f:
        f.write(data[:head + 5] + struct.pack(">I", stated) + data[head + 9:at] + data[at + n:])
    row = export(tap, path, to, "a class without a record")
    tap.ok("1 class without a record" in row["holds"], "a class without a record gets one, which is told", row)
    d = read(to)
    g = d.graph(len(d.heaps) - 1)
    tap.ok(held in g.objects and g.objects[held].cls == "x.Lost", "and its object is of that class",
           g.objects.get(held) and g.objects[held].cls)


def check_roots(tap, folder):
    """Objects that are roots of several kinds, of which HPROF has some alone and others not at all."""
    path, to = os.path.join(folder, "roots.hprof"), os.path.join(folder, "roots.copy.hprof")
    d, planned = with_references(), set()
    d.add_class("x.Thing", fields="one:L")
    thread = d.thread(d.new("x.Thing"), ["x.Thing.run", "x.Thing.call"])
    place = {"block": ("<unnamed>", None), "local": ("<unnamed>", "x.Thing.call(Some.java:7)")}
    for kinds in (("interned", "debugger"), ("debugger", "unknown", "finalizing"), ("unknown",), ("vm", "monitor", "jni"),
                  ("block", "interned", "unknown"), ("local", "monitor", "debugger")):
        at = d.new("x.Thing")
        for kind in kinds:
            d.root(kind, at, thread, 1)
            planned.add((KINDS[kind], "0x%x" % at) + place.get(kind, (None, None)))
    d.write(path)
    with open(path, "r+b") as f:
        f.truncate(os.path.getsize(path) - 1)  # the export of a whole one has no words of its own
    export(tap, path, to, "roots of several kinds", 4)
    for what, file in ("the dump", path), ("its export", to):
        rows = json.loads(cairn("--format", "json", "-x", "roots x.Thing", file).out)
        found = {(r["kind"], r["address"], r["thread"], r["frame"]) for r in rows if r["kind"] != "Thread"}
        tap.equal(found, planned, "roots of several kinds: " + what)


KINDS = {"interned": "Interned string", "debugger": "Debugger", "unknown": "Unknown", "finalizing": "Finalizable",
         "vm": "VM internal", "monitor": "Busy monitor", "block": "Thread block", "jni": "JNI global",
         "local": "Java local"}


def check_facts(tap, folder):
    """A file that claims to be an export: of what exports never have, nothing is taken."""
    to, word = os.path.join(folder, "facts.hprof"), b"exported by cairn: java_version "
    export(tap, SAMPLE, to, "facts")
    with open(to, "rb") as f:
        data = f.read()
    with open(to, "wb") as f:
        f.write(data.replace(word, b"exported by cairn: command_line "))
    info = json.loads(cairn("--format", "json", "-x", "info", to).out)
    tap.ok(data.count(word) == 1 and info["process_id"] == 4711 and not info.get("command_line") and
           not info.get("java_version"), "a command line in an export is not taken for one", info)


def check_refused(tap, folder):
    to = os.path.join(folder, "no.hprof")
    run = cairn("-x", "export -hprof " + to, GO)
    tap.ok(run.status and "Go" in run.err and not os.path.exists(to), "a Go heap is refused, and why", run)
    run = cairn("-x", "export -hprof /dev/full", SHOP)
    tap.ok(run.status and "space" in run.err, "a full disk is told", run)
    before = open(SHOP, "rb").read()
    run = cairn("-x", "export -hprof " + SHOP, SHOP)
    tap.ok(run.status and open(SHOP, "rb").read() == before, "the dump itself is never written to", run)


def check_lacking(tap, folder):
    """What a damaged or redacted dump lacks is not taken for there in the export."""
    cut, to = os.path.join(folder, "cut.hprof"), os.path.join(folder, "cut.copy.hprof")
    with open(SHOP, "rb") as f:
        data = f.read()
    with open(cut, "wb") as f:
        f.write(data[:len(data) * 2 // 3])
    row = export(tap, cut, to, "a truncated dump", 4)
    tap.ok("damaged" in row["leaves_out"], "a truncated dump: that something is missing is told", row)
    same(tap, graph(cut), graph(to), "a truncated dump: what is there is in the export")
    run = cairn("-x", "info", to)
    tap.ok("damaged dump" in run.out + run.err, "a truncated dump: and its export says so", run)
    redacted, again = os.path.join(folder, "r.hprof"), os.path.join(folder, "rr.hprof")
    cairn("-x", "redact " + redacted, SHOP)
    export(tap, redacted, again, "a redacted copy")
    run = cairn("-x", "strings", again)
    tap.ok(run.status and "no values" in run.err, "a redacted copy: zeros are still no values", run)
    phd, safe = os.path.join(folder, "phd.hprof"), os.path.join(folder, "safe.hprof")
    export(tap, SAMPLE, phd, "PHD")
    run = cairn("-x", "redact " + safe, phd)
    tap.ok(run.status == 0, "an export can be redacted", run)
    same(tap, graph(phd), graph(safe), "and stays what it was")


def main():
    tap = Tap()
    given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        phds = [p for p in given if ".phd" in p] if given else [SAMPLE] + some(sorted(
            glob.glob(os.path.join(DUMPS or "/nowhere", "openj9-real", "*", "*.phd"))), 3)
        for path in phds:
            check_phd(tap, path, folder)
        for path in [p for p in given if ".hprof" in p] if given else [SHOP] + some([p for p in (
                os.path.join(DUMPS or "/nowhere", *w.split("/")) for w in ("waste/jdk8/waste.hprof", "today/grove21.hprof",
                "waste/jdk28/waste.hprof", "grove/grove-i386.hprof", "grove/grove-zgc.hprof")) if os.path.exists(p)], 2):
            check_hprof(tap, path, folder)
        if given:
            tap.done()
        export(tap, SAMPLE, os.path.join(folder, "sample.hprof"), "sample")
        check_sizes(tap, SAMPLE, os.path.join(folder, "sample.hprof"), "PHD without hashed objects")
        to = os.path.join(folder, "text.hprof")
        row = export(tap, SAMPLE_TEXT, to, "classic")
        tap.ok("made of their sizes" in row["leaves_out"], "classic: lengths are made of sizes, which is told", row)
        lines = [[re.sub(r"^(object(?:\t[^\t]*){5}\t)[^\t]*", r"\1", line) for line in graph(p, ("threads",), False, False)]
                 for p in (SAMPLE_TEXT, to)]
        same(tap, *lines, "classic: the same graph but for lengths")
        check_hostile(tap, folder)
        check_lacking(tap, folder)
        check_roots(tap, folder)
        check_facts(tap, folder)
        check_refused(tap, folder)
    tap.done()


main()
