#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""waste against what Waste.java planted: each row of waste.manifest.json of the kinds that waste knows, by field, with
its objects and the bytes that would be saved, computed here from the figures of the manifest and the sizes that the VM
gives to objects and arrays; and no other field of its classes is accused."""

import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn  # noqa: E402

STRING, LIST, MAP, SET, CHM, DEQUE, VECTOR, TABLE = (
    "java.lang.String", "java.util.ArrayList", "java.util.HashMap", "java.util.HashSet",
    "java.util.concurrent.ConcurrentHashMap", "java.util.ArrayDeque", "java.util.Vector", "java.util.Hashtable")
WIDTH = {"byte": 1, "char": 2, "int": 4, "long": 8, "double": 8}
# References, and bytes of other fields, as the JDK's sources have them.
FIELDS = {LIST: (1, 8), MAP: (4, 16), SET: (1, 0), CHM: (8, 20), DEQUE: (1, 8), VECTOR: (1, 12), TABLE: (4, 16),
          "node": (3, 4), "Integer": (0, 4), "Long": (0, 8), "Double": (0, 8), "Same": (1, 20), "BadKey": (0, 4)}
KINDS = ("strings", "wide", "unused", "emptied", "single", "chains", "oversized", "empty", "one", "sparse", "constant",
         "tails", "arrays", "boxes", "boxed", "objects", "fields")


def rows(path, line):
    return [json.loads(x) for x in cairn("-x", line, "--format", "jsonl", path).out.splitlines()]


class Layout:
    """How the VM of a dump lays objects out, by its release and its options."""

    def __init__(self, manifest, command):
        release = int(manifest["java"].replace("1.8", "8").split(".")[0].split("-")[0])
        self.old = release == 8
        self.reference = 8 if "-UseCompressedOops" in command or "UseZGC" in command else 4
        narrow = "-UseCompressedClassPointers" not in command and (self.reference == 4 or release > 14)
        self.header = 8 if release >= 27 or "+UseCompactObjectHeaders" in command else 12 if narrow else 16
        self.relaxed = release >= 23  # elements come right behind the length
        aligned = re.search(r"ObjectAlignmentInBytes=(\d+)", command)
        self.alignment = int(aligned[1]) if aligned else 8
        self.wide = self.old or "-CompactStrings" in command  # two bytes for each character

    def end(self, n):
        return (n + self.alignment - 1) // self.alignment * self.alignment

    def array(self, element, n):
        width = self.reference if element == "ref" else WIDTH[element]
        step = width if self.relaxed else 8
        return self.end((self.header + 4 + step - 1) // step * step + n * width)

    def of(self, name):
        references, others = FIELDS[name]
        return self.end(self.header + references * self.reference + others)

    def string(self, chars):
        return self.end(self.header + self.reference + (4 if self.old else 6)) + \
            self.array("byte", chars * 2 if self.wide else chars)


def planted(m, size):
    """(kind, field, class): (objects, wasted); wasted None where only a part of it is planted."""
    by_id = {r["id"]: r for r in m["planted"]}
    plan = {k: v[0] for k, v in m["plan"].items()}
    want = {}

    def add(kind, row, wasted, field=None, name=None, count=None):
        r = by_id[row]
        want[kind, field or r["field"], name or r["class"]] = (r["count"] if count is None else count, wasted)

    def each(kind, row, bytes_of_one):
        add(kind, row, by_id[row]["count"] * bytes_of_one)

    nodes = size.of("node")
    each("unused", "lazyLists", size.of(LIST))
    each("unused", "sizedLists", size.of(LIST) + size.array("ref", plan["sized"]))
    each("unused", "lazyMaps", size.of(MAP))
    each("unused", "lazySets", size.of(SET) + size.of(MAP))
    each("unused", "lazyConcurrents", size.of(CHM))
    each("unused", "vectors", size.of(VECTOR) + size.array("ref", 10))
    each("unused", "hashtables", size.of(TABLE) + size.array("ref", 11))
    new_deque = not size.old and not m["java"].startswith("9") and not m["java"].startswith("10")
    each("unused", "deques", size.of(DEQUE) + size.array("ref", 17 if new_deque else 16))
    each("emptied", "emptiedMaps", size.of(MAP) + size.array("ref", 16))
    each("emptied", "emptiedConcurrents", size.of(CHM) + size.array("ref", 16))
    each("single", "singleLists", size.of(LIST) + size.array("ref", 10))
    each("single", "singleMaps", size.of(MAP) + size.array("ref", 16) + nodes)
    one_set = size.of(SET) + size.of(MAP) + size.array("ref", 16) + nodes
    each("single", "singleSets", one_set)
    add("single", "oneEach", plan["oneEach"] * one_set, name=SET, count=plan["oneEach"])
    each("oversized", "hugeLists", size.array("ref", by_id["hugeLists"]["slots"]) -
         size.array("ref", by_id["hugeLists"]["size"]))
    enough = next(c for c in (1 << i for i in range(32)) if 3 * c >= 4 * by_id["hugeMaps"]["size"])
    each("oversized", "hugeMaps", size.array("ref", by_id["hugeMaps"]["slots"]) - size.array("ref", enough))
    each("chains", "badMap", 0)
    each("chains", "badTable", 0)
    each("empty", "zeroLengthBytes", size.array("byte", 0))
    each("empty", "zeroLengthObjects", size.array("ref", 0))
    each("one", "oneInts", size.array("int", 1))
    each("one", "oneObjects", size.array("ref", 1))
    each("constant", "zeroBytes", size.array("byte", plan["zeroLength"]))
    each("tails", "tailBytes", size.array("byte", plan["tailLength"]) - size.array("byte", plan["tailUsed"]))
    each("sparse", "sparse", size.array("ref", plan["sparseLength"]) - size.array("ref", plan["sparseUsed"]))
    each("boxes", "boxedInts", size.of("Integer"))
    each("boxes", "boxedLongs", size.of("Long") - 8 + size.reference)     # a long may be wider than the reference to its box
    each("boxes", "boxedDoubles", size.of("Double") - 8 + size.reference)
    for row in ("intMap", "boxedList"):
        add("boxed", row, by_id[row]["boxes"] * size.of("Integer"))
    for row, element in (("dupBytes", "byte"), ("dupInts", "int")):
        r = by_id[row]
        add("arrays", row, r["redundant"] * size.array(element, r["elements"]))
    add("objects", "sameObjects", by_id["sameObjects"]["redundant"] * size.of("Same"))
    # what the program has besides: the keys of one map equal those of the other, and its own arguments are kept
    keys = min(plan["badKeys"], plan["badTableKeys"])
    want["objects", "BadKey", "waste.BadKey"] = (None, keys * size.of("BadKey"))
    ones = sum(len(v) == 1 for v in m["plan"].values())
    want["one", "waste.Waste.plan", "int[]"] = (ones, ones * size.array("int", 1))
    return want


def texts_of(path, field):
    """By text: how often Labels have it."""
    found = {}
    for r in rows(path, "ls waste.Label -fields " + field):
        found[r[field]] = found.get(r[field], 0) + 1
    return found


def check_strings(t, name, path, m, size, got, wide):
    r = next(r for r in m["planted"] if r["id"] == "dupStrings")
    texts = texts_of(path, "name")
    length = {x: len(json.loads(x) if x.startswith('"') else x) for x in texts}
    t.equal((len(texts), sum(texts.values()), sum(length[x] * n for x, n in texts.items())),
            (r["distinct"], r["count"], r["chars"]), name + ": the labels are those of the manifest")
    want = sum((n - 1) * size.string(length[x]) for x, n in texts.items())
    row = got.get(("strings", "waste.Label.name", STRING))
    t.ok(row and row["objects"] == r["count"] and row["wasted"] == want, name + ": equal labels",
         (row, r["count"], want))
    if wide:
        row = got.get(("wide", "waste.Waste.wides[]", STRING))
        planted_wide = next(r for r in m["planted"] if r["id"] == "wideStrings")
        t.ok(row and row["objects"] == planted_wide["count"], name + ": Strings in two bytes that fit one", row)
        of_wide = [f for k, f, _ in got if k == "wide"]
        t.none([f for f in of_wide if f == "waste.Waste.utf16s[]"], of_wide, name + ": but none that need them")
    else:
        t.none([x for x in got if x[0] == "wide"], got, name + ": no String is wider than it must be")


# What is waste besides by the rules, though nobody planted it: program's own constants and arguments, DirectByteBuffers
# of one owner that are equal, the lines that the manifest was made of, equal loads of what leaks.
OF_ITSELF = {("strings", "waste.Waste.plan"), ("wide", None), ("objects", "waste.Waste.duplicates[]"),
             ("objects", "waste.Waste.slices[]"), ("arrays", "waste.LeakValue.load"),
             ("strings", "waste.Waste.<resolved_references>[]")}


def check(t, path, size=None):
    folder = os.path.dirname(path)
    name = os.path.basename(folder) + "/" + os.path.basename(path)
    with open(os.path.join(folder, "waste.manifest.json"), encoding="utf-8") as f:
        m = json.load(f)
    with open(os.path.join(folder, "command.txt"), encoding="utf-8") as f:
        command = f.read()
    size, wide = size or Layout(m, command), "-CompactStrings" in command
    got = {(k, r["field"], r["class"]): r for k in KINDS for r in rows(path, "waste " + k)}
    want = planted(m, size)
    keys = [(k, r) for k, r in got.items() if k[0] == "objects" and k[2] == "waste.BadKey"]
    t.equal(sum(r["wasted"] for k, r in keys), want.pop(("objects", "BadKey", "waste.BadKey"))[1],
            name + ": keys of both bad tables")
    for key, figures in sorted(want.items()):
        row = got.get(key)
        t.ok(row and (row["objects"], row["wasted"]) == figures, "%s: %s of %s" % (name, key[0], key[1]),
             "%s, not %s objects, %s bytes" % (row, *figures))
    check_strings(t, name, path, m, size, got, wide)
    of_program = [k for k in got if (k[1] or "").startswith("waste.")]
    others = [k for k in of_program if k not in want and k[2] != "waste.BadKey" and
              (k[0], k[1]) not in OF_ITSELF and (k[0], None) not in OF_ITSELF and
              k[:2] != ("strings", "waste.Label.name")]
    t.none(others, of_program, name + ": no other field of the program is accused")
    check_sums(t, name, path, got)


def check_sums(t, name, path, got):
    """The row of each kind is the sum of those that it opens to; the last line that of all kinds but two."""
    table = {r["kind"]: r for r in rows(path, "waste")}
    for kind in KINDS:
        opened = [r for k, r in got.items() if k[0] == kind]
        t.equal(sum(r["wasted"] for r in opened), table.get(kind, {"wasted": 0})["wasted"],
                "%s: %s by field is %s in the whole" % (name, kind, kind))
    # boxed counts boxes of collections that other kinds may count; of equal Strings the one that stays may be too wide
    apart = [k for k in table if k not in ("fields", "alignment", "boxed", "wide")]
    pairs = [(a, b) for i, a in enumerate(apart) for b in apart[i + 1:]]
    lines = ["$%s = waste %s" % (k, k) for k in apart] + ["size $%s & $%s" % p for p in pairs]
    both = cairn(*[x for line in lines for x in ("-x", line)], path).out
    counts = [line.split()[1] for line in both.splitlines() if line.startswith("objects ")]
    t.equal(counts, ["0"] * len(pairs), name + ": no object is of two kinds")
    summed = sum(r["wasted"] for k, r in table.items() if k not in ("fields", "alignment"))
    last = re.search(r"^\d+ kinds .* ~?([0-9.]+)([KM]?) +~?([0-9.]+)%$", cairn("-x", "waste", path).out, re.M)
    unit = {"": 1, "K": 1 << 10, "M": 1 << 20}[last[2]]
    t.ok(abs(float(last[1]) * unit - summed) <= unit, name + ": the last line is the sum without fields and alignment",
         (last[0], summed))
    whole = sum(r["shallow"] for r in rows(path, "histo"))
    t.ok(abs(float(last[3]) - 100 * summed / whole) < 0.051, name + ": its share is that of all objects, not of rounded ones",
         (last[0], summed, whole))


def android(t):
    """Arrays that the dumper invented: 1,296 with 417,744 elements of a real device, of 1,349 constant ones before (the
    README says how they were counted); and three of ART's among nothing else."""
    real = os.path.join(DUMPS or "", "public", "dialer.android-hprof")
    made = glob.glob(os.path.join(DUMPS or "", "found", "reports", "04-*", "overhead.hprof"))
    if not DUMPS or not os.path.exists(real) or not made:
        t.skip("arrays of Android's dumper", "no CAIRN_DUMPS with them")
        return
    overhead = [(r["objects"], r["shallow"]) for r in rows(real, "histo '<class overhead>'")]
    elements = rows(real, "sql SELECT sum(length) n FROM objects WHERE class = '<class overhead>'")[0]["n"]
    t.equal(([n for n, _ in overhead], elements), ([1296], 417744), "dialer: class overhead is no byte[] of the program")
    kinds = {r["kind"]: r["objects"] for r in rows(real, "waste")}
    t.equal(kinds["constant"], 1349 - 1296, "dialer: and no waste")
    wasted = [r for k in ("constant", "tails", "arrays", "one", "empty") for r in rows(real, "waste " + k)]
    t.none([r for r in wasted if "Overhead" in (r["field"] or "")], wasted, "dialer: no row of a kind has it")
    t.equal(({r["class"]: r["objects"] for r in rows(made[0], "histo") if "java" not in r["class"]}, rows(made[0], "waste")),
            ({"byte[]": 1, "<class overhead>": 3}, []), "overhead.hprof: three of the dumper's, one of the program, no waste")


def main():
    t = Tap()
    android(t)
    paths = sorted(glob.glob(os.path.join(DUMPS, "waste", "jdk*", "waste*.hprof"))) if DUMPS else []
    if not paths:
        t.skip("waste", "no CAIRN_DUMPS")
    for path in paths:
        check(t, path)
    t.done()


if __name__ == "__main__":
    main()
