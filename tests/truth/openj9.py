#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real OpenJ9 dumps against two other readers: OpenJ9's own, record by record, and Eclipse MAT.

OpenJ9's reader reports array elements in element order, as the heap has them; it reports sizes as the file holds
them.  It leaves out a first reference to the object's class (of arrays: the last element, if that is the component's
class), which is a true reference in these dumps: the file has it (phdparse.py).  MAT counts each class object twice and does not know the
smallest object of 64-bit J9 (16 bytes); everything else must be the same.
"""

import glob
import gzip
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Graph, Object, Tap, cairn, compare, mirror, need_dumps  # noqa: E402
from phdparse import hash_slots, parse  # noqa: E402

PRIMITIVES = "boolean char float double byte short int long".split()
LETTERS = dict(zip("ZCFDBSIJ", PRIMITIVES))


def java_name(name):
    """java/lang/String, [I, [Ljava/lang/String; as Java source has them."""
    depth = len(name) - len(name.lstrip("["))
    core = name[depth:]
    if depth:
        core = core[1:-1] if core.startswith("L") else LETTERS[core]
    return core.replace("/", ".") + "[]" * depth


def up8(n):
    return (n + 7) // 8 * 8


def pairs(words):
    return dict(w.split("=", 1) for w in words)


def read_records(path):
    """The records as a Graph with what they tell; sizes of version 5 arrays are not in them."""
    graph = Graph([])
    header = {}
    classes = {}
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                header.update(pairs(w for w in line[1:].split() if "=" in w))
                continue
            head, _, tail = line.rstrip("\n").partition(": ")
            part = head.rstrip(":").split()
            row = (part[0], int(part[1], 16), pairs(w for w in part[2:] if "=" in w),
                   [int(t, 16) for t in tail.split()])
            rows.append(row)
            if row[0] == "C":
                classes[row[1]] = row[2]
    names = {a: java_name(c["name"]) for a, c in classes.items()}
    by_name = {}
    for a, n in names.items():
        by_name.setdefault(n, []).append(a)
    j9_64 = header["is64"] == "true" and header["j9"] == "true" and header["allHashed"] == "false"
    least = 16 if j9_64 else 0
    class_class = by_name["java.lang.Class"][0]
    stored = {r["a"]: r for r in parse(path.replace(".records.txt.gz", ""))[2]}
    restored = 0
    for kind, address, word, references in rows:
        r = stored[address]
        if kind in "OA" and r["refs"] and r["refs"][0] == r["c"]:
            references = r["refs"] if kind == "O" else r["refs"][::-1]
            restored += 1
        o = Object()
        o.address, o.out, o.into, o.length, o.shallow = address, references, None, None, None
        if kind == "O":
            o.kind, o.class_address = "instance", int(word["class"], 16)
            o.shallow = max(up8(int(classes[o.class_address]["isize"])), least)
        elif kind == "C":
            o.kind, o.class_address = "class", class_class
            o.shallow = max(up8(int(classes[class_class]["isize"])), least)
        else:
            o.length = int(word["len"])
            if word["size"] != "-":
                o.shallow = int(word["size"])
            if kind == "P":
                o.kind, name = "primitive_array", word["type"] + "[]"
            else:
                o.kind, name = "object_array", names[int(word["class"], 16)] + "[]"
            assert len(by_name[name]) == 1, "two classes named " + name
            o.class_address = by_name[name][0]
        o.cls = names[o.class_address]
        graph.objects[address] = o
    for a, c in classes.items():
        super_address = int(c["super"], 16) or None
        n = sum(1 for o in graph.objects.values() if o.class_address == a)
        graph.classes[a] = (names[a], None, super_address, n, None)
    for a, slot in (hash_slots(stored.values(), lambda n: max(up8(n), least)) if j9_64 else {}).items():
        graph.objects[a].shallow += slot
    total = {k: sum(1 for r in rows if r[0] == k) for k in "OAPC"}
    graph.counts = {"objects": len(rows), "instances": total["O"], "object_arrays": total["A"],
                    "primitive_arrays": total["P"], "classes": total["C"],
                    "references": sum(len(r[3]) for r in rows) + restored}
    graph.version = header["phd_version"]
    return graph


def check_records(tap, dump, name):
    want = read_records(dump + ".records.txt.gz")
    for threads in ("1", "3"):
        got = Graph.of_dump(dump, "-t", threads)
        tap.ok(got.run.status == 0, "%s opens (-t %s)" % (name, threads), got.run)
        wrong = compare(got, want, check_loaders=False)
        tap.none(wrong, want.objects, "%s: every record as OpenJ9's reader has it (-t %s)" % (name, threads))
    tap.equal(got.counts.get("dangling"), 0, "%s: no reference to nowhere" % name)
    return want


def check_mat(tap, dump, name, truth):
    with gzip.open(dump + ".mat.json.gz", "rt", encoding="utf-8") as f:
        mat = json.load(f)
    with gzip.open(dump + ".mat-loaderfix.json.gz", "rt", encoding="utf-8") as f:
        fixed = json.load(f)
    rows = {int(r["class_address"], 16): r for r in mat["histogram"]}
    run = cairn("-x", "histo", "--format", "json", dump)
    if not tap.ok(run.status == 0, "%s: histo" % name, run):
        return
    ours = {int(r["class_address"], 16): r for r in json.loads(run.out) if r["class_address"]}
    # Where the javacore names no thread objects (J9 2.5 and older) MAT invents one for each thread, a
    # java.lang.Object of 16 bytes.  MAT lists classes without objects, histo does not.
    pseudo = mat["objects"] - len(truth.objects)
    wrong_count, wrong_size, wrong_name = {}, {}, {}
    class_class = next(a for a, r in ours.items() if r["class"] == "java.lang.Class")
    for a, r in rows.items():
        if a not in ours and r["objects"] == 0:
            continue
        if a not in ours:
            wrong_count[hex(a)] = (r["class"], "missing")
            continue
        here = [o for o in truth.objects.values() if o.class_address == a]
        extra = pseudo if r["class"] == "java.lang.Object" else 0
        if ours[a]["objects"] + extra != r["objects"]:
            wrong_count[r["class"]] = (ours[a]["objects"], r["objects"])
        if ours[a]["class"] != r["class"]:
            wrong_name[hex(a)] = (ours[a]["class"], r["class"])
        # What MAT makes of the same objects, by its own rule.
        size = ours[a]["shallow"]
        if here and here[0].kind in ("instance", "class"):
            size -= sum(o.shallow - SIZES[truth.version][a] for o in here)
        if a == class_class:
            size *= 2
        size += 16 * extra
        if size != r["shallow"]:
            wrong_size[r["class"]] = (ours[a]["shallow"], size, r["shallow"])
    tap.equal(wrong_count, {}, "%s: objects per class as MAT counts them" % name)
    tap.equal(wrong_name, {}, "%s: class names as MAT has them" % name)
    tap.equal(wrong_size, {}, "%s: shallow per class: MAT's with each class object once" % name)
    info = json.loads(cairn("-x", "info", "--format", "json", dump).out)
    tap.equal(info["classes"], mat["classes"], "%s: classes" % name)
    tap.equal(info["objects"] + pseudo, mat["objects"], "%s: objects" % name)
    mat_sizes = json.loads(cairn("--sizes", "mat", "-x", "info", "--format", "json", dump).out)
    tap.equal(mat_sizes["shallow"] + 16 * pseudo, mat["used_heap_size"],
              "%s: --sizes mat gives MAT's total" % name)
    tap.equal(info["shallow"], sum(r["shallow"] for r in ours.values()),
              "%s: the classes' sizes add up to the whole" % name)
    loaders = {int(r["class_address"], 16): int(r["loader"], 16) for r in fixed["histogram"]
               if r.get("loader")}
    odd = {}
    for a, r in ours.items():
        if a in loaders and loaders[a] and int(r["loader"] or "0", 16) != loaders[a]:
            odd[r["class"]] = (r["loader"], hex(loaders[a]))
    tap.equal(odd, {}, "%s: the loader of every class as MAT has it" % name)


# Version -> class address -> size of an instance by MAT's rule: rounded up to 8, no smallest object.
SIZES = {}


def read_sizes(path, version):
    table = SIZES.setdefault(version, {})
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            if line.startswith("C "):
                word = pairs(w for w in line.split() if "=" in w)
                table[int(line.split()[1], 16)] = up8(int(word["isize"]))


# The true totals of shallow bytes, checked by decoding the files apart from any reader: arrays of the
# version 5 dump by the distance to the next object (16-byte headers, exact for every one of them); of version 6 three
# hashed objects have 8 bytes more before the next one, as no other object has.
TOTALS = {"heapdump.20100112.141124.11580.0002.phd": 422144,
          "heapdump.20160404.083909.9480.0002.phd": 2975240}


def check_commands(tap, dump, name, truth):
    """refs and ls of a few objects through the command line itself."""
    into = mirror(truth.objects)
    busiest = sorted(truth.objects, key=lambda a: (-len(into[a]), a))[:3]
    widest = sorted(truth.objects, key=lambda a: (-len(truth.objects[a].out), a))[:3]
    for a in busiest + widest:
        run = cairn("-x", "refs 0x%x -out" % a, "--format", "json", dump)
        rows = [r for r in json.loads(run.out or "[]") if not (r.get("field") or "").startswith("<")]
        tap.equal([int(r["address"], 16) for r in rows], truth.objects[a].out,
                  "%s: refs 0x%x -out" % (name, a))
        run = cairn("-x", "referrers 0x%x" % a, "--format", "json", dump)
        rows = [r for r in json.loads(run.out or "[]") if not (r.get("field") or "").startswith("<")]
        tap.equal(sorted({int(r["address"], 16) for r in rows}), sorted(set(into[a])),
                  "%s: referrers 0x%x" % (name, a))
    run = cairn("-x", "ls java.lang.String", "--format", "jsonl", dump)
    rows = {int(r["address"], 16): r["shallow"] for r in map(json.loads, run.out.splitlines())}
    tap.equal(rows, {a: o.shallow for a, o in truth.objects.items() if o.cls == "java.lang.String"},
              "%s: ls java.lang.String" % name)


def main():
    dumps = sorted(glob.glob(os.path.join(need_dumps(), "openj9", "*.phd")))
    tap = Tap()
    tap.ok(len(dumps) >= 2, "there are dumps in openj9/", dumps)
    for dump in dumps:
        name = os.path.basename(dump)
        truth = check_records(tap, dump, name)
        read_sizes(dump + ".records.txt.gz", truth.version)
        run = cairn("-x", "info", "--format", "json", dump)
        if name in TOTALS:
            tap.equal(json.loads(run.out or "{}").get("shallow"), TOTALS[name],
                      "%s: shallow bytes, true sizes" % name)
        check_mat(tap, dump, name, truth)
        check_commands(tap, dump, name, truth)
    tap.done()


main()
