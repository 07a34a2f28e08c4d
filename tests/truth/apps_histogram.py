#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real programs and odd VMs: objects and bytes of each class, and classes of each loader, as the VM itself counted
them at the same moment (jcmd GC.class_histogram, VM.classloaders, VM.native_memory).

Where a dump differs from its histogram, a rule of hprof_sizes says why, and the size of one instance is the same.
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps  # noqa: E402
from hprof_sizes import (  # noqa: E402
    COUNTS_DIFFER, COUNTS_DIFFER_TO_11, PRIMITIVES, java_name, jvm_histogram, named_as_dumped, rows)

APPS = ["groovy", "scala", "tc1", "tc2", "tc3", "zk1"]
FOUND = [  # of other collectors and layouts: the histogram, and classes of which some died before it was taken
    ("truth/01-cms-sizes-exact-but-wrong/cms8", COUNTS_DIFFER_TO_11),   # CMS pads objects of 16 bytes
    ("truth/01-cms-sizes-exact-but-wrong/cms11", {}),
    ("truth/01-cms-sizes-exact-but-wrong/ser8", COUNTS_DIFFER_TO_11),
    ("truth/13-compactfields-off-one-class/l8nocf", COUNTS_DIFFER_TO_11),  # -XX:-CompactFields
    ("truth/08-filler-inverted-in-all-dumps/fill21", {}),  # fillers among the program's own garbage
]
FILLERS = "jdk.internal.vm.FillerElement[]"


def facts(dump):
    return json.loads(cairn("--format", "json", "-x", "info", dump).out)


def counted(tap, dump):
    """{class: [objects, bytes, certainty of the objects, of the bytes]}; classes of one name together."""
    table = {}
    for r in rows(tap, dump):
        if r["objects"]:
            t = table.setdefault(java_name(r["class"]), [0, 0, "exact", "exact"])
            t[0] += r["objects"]
            t[1] += r["shallow"]
            for i, c in ((2, "objects_certainty"), (3, "shallow_certainty")):
                t[i] = r.get(c) or t[i]
    return table


def fillers(tap, name, got, want):
    """int[] and fillers together are as the VM has them; apart they are, or say that they are inferred."""
    none = [0, 0, "exact", "exact"]
    f, i = got.pop("<filler>", none), got.pop("int[]")
    wf, wi = want.pop(FILLERS, [0, 0]), want.pop("int[]")
    tap.equal([f[0] + i[0], f[1] + i[1]], [wf[0] + wi[0], wf[1] + wi[1]], "%s: int[] and fillers together" % name)
    tap.ok(f[0] <= wf[0] and i[0] >= wi[0], "%s: no array that the VM calls int[] is a filler" % name, (f, wf, i, wi))
    tap.ok(i[:2] == wi or i[2] == i[3] == "inferred", "%s: int[] are as many, or marked" % name, (i, wi))


def against_vm(tap, name, dump, truth, died):
    got = counted(tap, dump)
    want = named_as_dumped(jvm_histogram(truth), {c: t[:2] for c, t in got.items()})
    n_mirrors = facts(dump).get("archived_mirrors", 0)
    if FILLERS in want:
        fillers(tap, name, got, want)
    mirrors = want.pop("java.lang.Class")[0] - got.pop("java.lang.Class")[0]
    tap.ok(abs(mirrors - n_mirrors) <= 3, "%s: class objects of archived classes are not in the dump" % name,
           (mirrors, n_mirrors))
    wrong, n_equal = [], 0
    for c in sorted(set(got) | set(want)):
        g, w = got.get(c), want.get(c)
        if g and w and g[:2] == w:
            n_equal += 1
        elif c not in died and c not in COUNTS_DIFFER:
            wrong.append("%s: got %s, the VM has %s" % (c, g, w))
        elif g and w and not c.endswith("[]") and g[1] * w[0] != w[1] * g[0]:
            wrong.append("%s: an instance of %s, the VM has %s" % (c, g, w))
    tap.none(wrong, n_equal, "%s: all classes as the VM has them (%d equal)" % (name, n_equal))
    marked = sorted(c for c, t in got.items() if "exact" != t[3])
    tap.ok(n_equal > 150 and len(marked) <= 2, "%s: and hardly any is marked" % name, marked)


def vm_loaders(path):
    """The names of the classes of each loader, those of the boot loader first."""
    loaders = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            line = re.sub(r"^[ |]*", "", line.rstrip())
            if line.startswith("+-- "):
                loaders.append([])
            m = re.match(r"(?:(?:Hidden )?Class(?:es)?: +)?([^\s(]\S*)( \(invokes: .*)?$", line)
            if loaders and m and not line.startswith("+"):
                loaders[-1].append(java_name(m.group(1)))
    return loaders


def loaders(tap, name, dump, truth):
    """Classes of each loader are as many as the VM lists, and those with objects among them.  It lists also some
    that it has loaded and not linked yet, which are in no record.  The eight arrays of primitive types are of no
    loader there."""
    mine, lists = {}, vm_loaders(truth)
    for r in rows(tap, dump):
        mine.setdefault(r["loader"], set()).add(java_name(r["class"]))
    table = json.loads(cairn("--format", "json", "-x", "loaders", dump).out)
    n = {r["address"]: r["classes"] for r in table if r["classes"]}
    boot = n.pop(None) - len(PRIMITIVES)
    names = mine.pop(None) - {t + "[]" for t in PRIMITIVES.values()} - {"<filler>"}
    tap.ok(boot <= len(lists[0]) and names <= set(lists[0]), "%s: %d of the boot loader's %d classes are linked" % (
        name, boot, len(lists[0])), sorted(names - set(lists[0])))
    others = [c for c in lists[1:] if c]
    tap.ok(len(n) <= len(others) <= len(n) + 1, "%s: the VM lists %d other loaders" % (name, len(others)), len(n))
    wrong = [(at, n[at]) for at in n if not any(
        n[at] <= len(c) <= n[at] + 2 and mine.get(at, set()) <= set(c) for c in others)]
    tap.none(wrong, n, "%s: classes of the other %d loaders" % (name, len(n)))


def instances(tap, dump, histogram, name, least):
    """What the dump has of the classes that the VM's histogram has, too; instances are as large in both."""
    got, want = counted(tap, dump), jvm_histogram(histogram)
    both = [c for c in got if c in want and not c.endswith("[]") and c != "java.lang.Class"]
    wrong = ["%s: got %s, the VM has %s" % (c, got[c], want[c]) for c in both
             if got[c][1] * want[c][0] != want[c][1] * got[c][0]]
    tap.none(wrong, both, "%s: every instance as the VM has it (%d)" % (name, len(both)), least + 1)
    return [got[c] for c in both]


def agent(tap, dumps):
    """The old agent numbers objects by 4 bytes; the VM has 64 bits.  It leaves out what ends an array, and classes
    that are gone at the histogram's collection: sizes of instances are what agrees."""
    stem = os.path.join(dumps, "found/truth/10-hprof-agent-64-bit-called-32/agent8")
    rows = instances(tap, stem + ".hprof", stem + ".histo.txt", "agent8", 100)
    tap.equal({r[3] for r in rows}, {"inferred"}, "agent8: no distance shows it, so that it is marked")
    tap.equal(facts(stem + ".hprof")["word_bits"], 64, "agent8: the VM has 64 bits")
    old = os.path.join(dumps, "hotspot/sun_jdk6_31_hprofagent_nocompressedOops")
    instances(tap, old + ".hprof", old + ".txt", "JDK 6 agent, wide references", 80)


def hello(tap, dumps):
    """VM.native_memory: (classes #635), of one loader and the application's one class."""
    stem = os.path.join(dumps, "found/truth/11-loaders-count-filler/hello")
    with open(stem + ".nmt.txt", encoding="utf-8") as f:
        n = int(re.search(r"\(classes #(\d+)\)", f.read()).group(1))
    table = json.loads(cairn("--format", "json", "-x", "loaders", stem + ".hprof").out)
    tap.equal(sum(r["classes"] for r in table), n, "hello: classes of all loaders")
    got = facts(stem + ".hprof")
    tap.equal(got["classes"], n, "hello: classes")
    tap.equal({got.get(k + "_certainty") for k in ("reachable_objects", "reachable_shallow", "unreachable_objects",
                                                   "unreachable_shallow")}, {"inferred"},
              "hello: what is reachable is as sure as what is not")


def main():
    dumps = need_dumps()
    tap = Tap()
    for app in APPS:
        stem = os.path.join(dumps, "apps", app)
        against_vm(tap, app, stem + ".hprof", stem + ".histo.txt", {})
        loaders(tap, app, stem + ".hprof", stem + ".VM.classloaders-classes.txt")
    for path, died in FOUND:
        stem = os.path.join(dumps, "found", path)
        against_vm(tap, os.path.basename(path), stem + ".hprof", stem + ".histo.txt", died)
    agent(tap, dumps)
    hello(tap, dumps)
    tap.done()


if __name__ == "__main__":
    main()
