#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shallow sizes, class by class: HPROF against the JVM's own histogram of the same heap, and with
--sizes mat HPROF and PHD against Eclipse MAT's.

Where a histogram was taken a moment after the dump a few counts differ for known reasons; then the
size of one instance must still be the same.
"""

import gzip
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps  # noqa: E402

PRIMITIVES = {"Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short",
              "I": "int", "J": "long"}

# Counts that may differ between a dump and the histogram taken after it, and why.
DIED = "died at the histogram's own collection, with what it alone held"
COUNTS_DIFFER = {
    # the histogram counts mirrors of archived classes that are in no record of the dump
    "java.lang.Class": "archived mirrors",
    "jdk.internal.ref.CleanerImpl$PhantomCleanableRef": DIED,
    "java.lang.invoke.MethodHandleNatives$CallSiteContext": DIED,
    # the collector fills gaps with arrays; since JDK 21 they are FillerElement[], and dumped as int[]
    "int[]": "fillers",
    "<filler>": "fillers",
    "jdk.internal.vm.FillerElement[]": "fillers",
    "jdk.internal.vm.FillerObject": "fillers",
}
# The same of JDK 8 and 11, where streams of files end with their finalizers.
COUNTS_DIFFER_TO_11 = {
    "java.util.zip.ZipFile$InflaterCleanupAction": DIED,
    "java.util.zip.ZipFile$ZipFileInflaterInputStream": DIED,
    "java.util.zip.ZipFile$ZipFileInputStream": DIED,
    "java.lang.ref.Finalizer": DIED,
    "java.io.FileInputStream": DIED,
    "java.io.FileDescriptor": DIED,
    "java.util.WeakHashMap$Entry": DIED,
    "java.lang.Object": DIED,
    "java.lang.String": DIED,
    "char[]": DIED,
    "byte[]": DIED,
}
# Beyond the basic plane jcmd prints two U+FFFD.
UNPRINTABLE = re.compile("[^\x00-\x7f]+")


def java_name(name):
    depth = len(name) - len(name.lstrip("["))
    if depth:
        name = name[depth:]
        name = PRIMITIVES.get(name) or name[1:].rstrip(";")
    return UNPRINTABLE.sub("?", name.replace("+0x", "/0x")) + "[]" * depth


def add(table, name, objects, size):
    have = table.setdefault(name, [0, 0])
    have[0] += objects
    have[1] += size


def jvm_histogram(path):
    """name: [objects, bytes]; classes of one name together."""
    table = {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            # with or without a running number; a module in brackets behind the name
            m = re.match(r"\s*(?:\d+:)?\s*(\d+)\s+(\d+)\s+(\S+)(\s+\(.*\))?\s*$", line)
            if m and not m.group(3).startswith("<"):  # <methodKlass>: not in the heap that is dumped
                add(table, java_name(m.group(3)), int(m.group(1)), int(m.group(2)))
    return table


def rows(tap, dump, *options):
    run = cairn(*options, "--format", "json", "-x", "histo", dump)
    if not tap.ok(run.status == 0, "%s: histogram %s" % (os.path.basename(dump), " ".join(options)), run):
        return []
    return json.loads(run.out)


def histogram(tap, dump, *options, sure=None):
    """sure: gets how sure the number of objects is, by class."""
    table = {}
    for r in rows(tap, dump, *options):
        if r["objects"]:
            add(table, java_name(r["class"]), r["objects"], r["shallow"])
            if sure is not None:
                sure[java_name(r["class"])] = r.get("objects_certainty", "exact")
    return table


def named_as_dumped(want, got):
    """Up to JDK 11 the histogram adds to a hidden class's name a number that the dump leaves out."""
    return {c.split("/")[0] if "$$Lambda$" in c and c not in got else c: n for c, n in want.items()}


def against_jvm(tap, dump, truth_path, exact):
    name = os.path.relpath(dump, need_dumps())
    sure = {}
    got = histogram(tap, dump, sure=sure)
    want = named_as_dumped(jvm_histogram(truth_path), got)
    if "jdk.internal.vm.FillerElement[]" in want and got["int[]"][0] > want["int[]"][0]:
        tap.equal(sure["int[]"], "inferred", "%s: some of these int[] may be fillers, as the mark says" % name)
    differ = dict(COUNTS_DIFFER, **(COUNTS_DIFFER_TO_11 if re.search(r"(grove|jdk)(8|11)\b", name) else {}))
    wrong, n_equal, n_each = [], 0, 0
    for c in sorted(set(got) | set(want)):
        g, w = got.get(c), want.get(c)
        if g == w:
            n_equal += 1
        elif c not in differ or (g and w and g[0] == w[0]):
            wrong.append("%s: got %s, the JVM has %s" % (c, g, w))
        elif g and w and not c.endswith("[]") and c != "java.lang.Class":
            n_each += 1
            if g[1] * w[0] != w[1] * g[0]:
                wrong.append("%s: an instance of %s, the JVM has %s" % (c, g, w))
    tap.none(wrong, n_equal, "%s: all classes as the JVM has them" % name)
    if "<filler>" in got:  # a lock or the program's own must not be among them
        tap.ok(got["int[]"][0] >= want["int[]"][0], "%s: no array that the JVM calls int[] is a filler" % name,
               "%s, the JVM has %s" % (got["int[]"], want["int[]"]))
        if got["int[]"][0] == want["int[]"][0]:
            exact.append(got["<filler>"][0] == want["jdk.internal.vm.FillerElement[]"][0])
    tap.ok(n_equal > 300, "%s: and they were many (%d equal, %d by instance)" % (name, n_equal, n_each))


def size_of_one(table, c):
    """Of a class whose instances are all of one size."""
    return table[c][1] / table[c][0]


def one_by_one(tap, dump, truth_path):
    """The histogram is of another run of the same program: only sizes of one instance agree."""
    name = os.path.basename(dump)
    got, want = histogram(tap, dump), jvm_histogram(truth_path)
    both = [c for c in got if c in want and not c.endswith("[]")]
    wrong = ["%s: got %s, the JVM has %s" % (c, got[c], want[c]) for c in sorted(both)
             if size_of_one(got, c) != size_of_one(want, c)]
    tap.none(wrong, both, "%s: every instance as the JVM has it (%d)" % (name, len(both)), 81)


def mat_rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def address(text):
    return int(text or "0", 16)


def against_mat(tap, dump, truth_path):
    """All objects, unreachable ones too: MAT's one made-up class loader is the only difference."""
    name = os.path.basename(dump)
    mat = mat_rows(truth_path)
    got = {address(r["class_address"]): [r["class"], r["objects"], r["shallow"]]
           for r in rows(tap, dump, "--sizes", "mat")}
    wrong, total = [], sum(r[2] for r in got.values())
    for r in mat["histogram"]:
        w = [r["objects"], r["shallow"]]
        g = got.get(address(r["class_address"]), [r["class"], 0, 0])
        if r["class"] == "java.lang.ClassLoader":
            loader = r["shallow"] // r["objects"]
            w = [w[0] - 1, w[1] - loader]
            total += loader
        if g[1:] != w:
            wrong.append("%s: got %s, MAT has %s" % (r["class"], g[1:], w))
    tap.none(wrong, mat["histogram"], "%s: all classes as MAT has them" % name)
    tap.equal(total, mat["used_heap_size"], "%s: MAT's sum" % name)


def against_mat_one_by_one(tap, dump, number, truth_path):
    """MAT has reachable objects only: the size of one instance agrees."""
    name = "%s, heap %d" % (os.path.basename(dump), number)
    got = {}
    for r in rows(tap, dump, "--sizes", "mat", "--dump", str(number)):
        if r["objects"]:
            add(got, r["class"], r["objects"], r["shallow"])
    want = {}
    for r in mat_rows(truth_path)["histogram"]:
        if r["objects"]:
            add(want, r["class"], r["objects"], r["shallow"])
    both = [c for c in want if c in got and not c.endswith("[]") and c != "java.lang.Class"]
    wrong = ["%s: got %s, MAT has %s" % (c, got[c], want[c]) for c in sorted(both)
             if size_of_one(got, c) != size_of_one(want, c)]
    tap.none(wrong, both, "%s: every instance as MAT has it (%d)" % (name, len(both)), 81)


def phd_against_mat(tap, dump, truth_path):
    """MAT has pseudo objects for threads without one: java.lang.Object's row is left to the sum."""
    name = os.path.basename(dump)
    mat = mat_rows(truth_path)
    got = {r["class_address"]: [r["objects"], r["shallow"]] for r in rows(tap, dump, "--sizes", "mat")}
    wrong, pseudo = [], 0
    for r in mat["histogram"]:
        g, w = got.get(r["class_address"], [0, 0]), [r["objects"], r["shallow"]]
        if r["class"] == "java.lang.Object":
            pseudo = w[1] - g[1]
            w = [g[0] + pseudo // 16, w[1]]
            g = [r["objects"], w[1]]
        if g != w:
            wrong.append("%s: got %s, MAT has %s" % (r["class"], g, w))
    tap.none(wrong, mat["histogram"], "%s: all classes as MAT has them" % name)
    tap.equal(sum(g[1] for g in got.values()) + pseudo, mat["used_heap_size"], "%s: MAT's sum" % name)
    tap.ok(pseudo in (0, 80), "%s: at most five pseudo threads" % name, pseudo)


def first_of(*paths):
    return next((p for p in paths if os.path.exists(p)), None)


def pairs_of():
    """Every dump of which the JVM's histogram was taken just after, with that."""
    dumps, pairs = need_dumps(), []
    for at in [os.path.join(dumps, "grove"), os.path.join(dumps, "today")]:
        for histo in sorted(f for f in os.listdir(at) if f.endswith(".histo.txt")):
            stem = os.path.join(at, histo[:-len(".histo.txt")])
            pairs.append((first_of(stem + ".hprof", stem + ".hprof.gz"), os.path.join(at, histo)))
    for at, _, files in sorted(os.walk(os.path.join(dumps, "waste"))):
        for histo in sorted(f for f in files if re.match(r"histogram.*\.txt$", f)):
            stem = os.path.join(at, histo.replace("histogram", "waste")[:-len(".txt")])
            pairs.append((stem + ".hprof", os.path.join(at, histo)))
    return pairs


def archived(tap, dump, truth_path):
    """Class objects that the histogram has and the dump has not: archived, and told apart in info.  A few
    classes that the dump still has were unloaded before the histogram."""
    name = os.path.relpath(dump, need_dumps())
    facts = json.loads(cairn("--format", "json", "-x", "info", dump).out)
    missing = jvm_histogram(truth_path)["java.lang.Class"][0] - histogram(tap, dump)["java.lang.Class"][0]
    told = facts.get("archived_mirrors", 0)
    tap.ok(0 <= told - missing <= 3, "%s: class objects that were archived (%d)" % (name, told), (told, missing))
    tap.equal(facts["dangling"], facts.get("dangling_mirrors", 0), "%s: nothing else dangles" % name)


def virtual_machine(tap, dump, truth_path):
    """The histogram names the module java.base with the VM's version; JDK 8 has no modules."""
    with open(truth_path, encoding="utf-8", errors="replace") as f:
        version = re.search(r"\(java\.base@([^)]+)\)", f.read())
    vm = json.loads(cairn("--format", "json", "-x", "info", dump).out)["vm"]
    want = r"OpenJDK .*Server VM .*, java (%s)$" % (
        re.escape(version.group(1)) if version else r"1\.8\.0_\d+")
    tap.ok(version or re.search(r"(grove|jdk)8\b", dump), "%s: of which release" % truth_path)
    tap.ok(re.match(want, vm or ""), "%s: its VM" % os.path.relpath(dump, need_dumps()), (vm, want))


def main():
    dumps = need_dumps()
    tap = Tap()
    pairs = pairs_of()
    exact = []  # where nothing died between dump and histogram: are there as many fillers?
    for dump, histo in pairs:
        against_jvm(tap, dump, histo, exact)
        archived(tap, dump, histo)
        virtual_machine(tap, dump, histo)
    tap.ok(exact and all(exact), "fillers are as many as the JVM counts (%d dumps)" % len(exact), exact)
    tap.ok(len(pairs) >= 27, "dumps of all releases were held against their histograms (%d)" % len(pairs))

    hotspot = os.path.join(dumps, "hotspot")
    for dump, version in (("oracle_jdk8_05_x64.hprof", "1.8.0_05"), ("openjdk_jdk11_04_x64.hprof.gz", "11.0.4"),
                          ("sun_jdk6_30_x64_compressedOops.hprof", "1.6.0_30"),
                          ("sun_jdk6_31_hprofagent_nocompressedOops.hprof", "1.6.0_31")):
        facts = json.loads(cairn("--format", "json", "-x", "info", os.path.join(hotspot, dump)).out)
        tap.ok((facts["vm"] or "").endswith(", java " + version), "%s: its VM" % dump, facts["vm"])
    for dump, truth in (("sun_jdk6_18_x32.hprof", "histogram_sun_jdk6_18_x32.txt"),
                        ("sun_jdk6_18_x64.hprof", "histogram_sun_jdk6_18_x64.txt"),
                        ("sun_jdk6_30_x64_compressedOops.hprof",
                         "sun_jdk6_30_x64_compressedOops.notes.txt")):
        one_by_one(tap, os.path.join(hotspot, dump), os.path.join(hotspot, truth))

    for truth in sorted(os.listdir(hotspot)):
        keep = truth.endswith(".mat-keep-unreachable.json.gz")
        heap = re.match(r"(.*)\.heap(\d)\.mat\.json\.gz$", truth)
        if keep:
            against_mat(tap, os.path.join(hotspot, truth[:-len(".mat-keep-unreachable.json.gz")]),
                        os.path.join(hotspot, truth))
        elif heap:
            against_mat_one_by_one(tap, os.path.join(hotspot, heap.group(1)), int(heap.group(2)),
                                   os.path.join(hotspot, truth))

    openj9 = os.path.join(dumps, "openj9")
    for truth in sorted(os.listdir(openj9)):
        if truth.endswith(".mat-loaderfix.json.gz"):
            phd_against_mat(tap, os.path.join(openj9, truth[:-len(".mat-loaderfix.json.gz")]),
                            os.path.join(openj9, truth))
    tap.done()


if __name__ == "__main__":
    main()
