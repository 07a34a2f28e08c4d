#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The net under the layout rules: sizes of classes for which no rule is known, from distances.

To switch rules off, classes that they are about get other names in a copy of a dump.  What the JVM's
histogram says of them is then either found by distances, or the class is said not to be sure.  In
dumps as they are the rules are right, so no class may be measured, whatever garbage lies between.
"""

import json
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps  # noqa: E402
from hprof_sizes import histogram, jvm_histogram, named_as_dumped, pairs_of  # noqa: E402

UNRULED = ["java.lang.Thread", "java.lang.VirtualThread", "java.lang.ClassLoader", "java.lang.Module",
           "java.lang.reflect.Field", "java.lang.invoke.MemberName", "java.lang.invoke.ResolvedMethodName",
           "java.lang.invoke.CallSite", "java.util.concurrent.ForkJoinPool",
           "java.util.concurrent.ForkJoinPool$WorkQueue"]

# Dumps, and the classes whose sizes the distances must tell there; the heaps of ZGC have gaps.
SWITCHED = {
    "grove/grove-tiny": ["java.lang.Thread", "java.lang.Module", "java.lang.invoke.MemberName",
                         "java.lang.invoke.ResolvedMethodName"],
    "grove/grove-zgc": ["java.lang.Module", "java.lang.invoke.MemberName"],
    "grove/grove25": ["java.lang.Thread", "java.lang.VirtualThread", "java.lang.Module",
                      "java.lang.invoke.MemberName", "java.lang.invoke.ResolvedMethodName",
                      "java.util.concurrent.ForkJoinPool$WorkQueue"],
    "today/grove21": ["java.lang.Thread", "java.lang.Module", "java.lang.invoke.MemberName",
                      "java.lang.invoke.ResolvedMethodName", "java.util.concurrent.ForkJoinPool$WorkQueue"],
    "today/grove21-zgen": ["java.lang.Module", "java.lang.invoke.MemberName"],
    "today/grove28": ["java.lang.Thread", "java.lang.VirtualThread", "java.lang.Module",
                      "java.lang.invoke.MemberName", "java.lang.invoke.ResolvedMethodName"],
    "today/grove28-nocoh": ["java.lang.Thread", "java.lang.VirtualThread", "java.lang.Module",
                            "java.lang.invoke.MemberName", "java.lang.reflect.Field"],
}


def other_name(name):
    return name[:-1] + "_"


def with_other_names(data, names):
    """The dump with these classes renamed in the UTF-8 records that hold just their names."""
    out = bytearray(data)
    pointer, = struct.unpack_from(">I", data, data.index(b"\0") + 1)
    for name in names:
        text = name.replace(".", "/").encode()
        at = data.find(text)
        while at >= 0:
            head = at - pointer - 9
            if head > 0 and data[head] == 1 and struct.unpack_from(">I", data, head + 5)[0] == pointer + len(text):
                out[at:at + len(text)] = other_name(text.decode()).encode()
            at = data.find(text, at + 1)
    return bytes(out)


def info(dump):
    return json.loads(cairn("--format", "json", "-x", "info", dump).out)


def names_in(value):
    return set((value or "").split(", ")) - {""}


def switched_off(tap, stem, must, folder):
    path = os.path.join(need_dumps(), stem + ".hprof")
    copy = os.path.join(folder, "dump.hprof")
    with open(path, "rb") as f, open(copy, "wb") as to:
        to.write(with_other_names(f.read(), UNRULED))
    got = histogram(tap, copy)
    want = named_as_dumped(jvm_histogram(os.path.join(need_dumps(), stem + ".histo.txt")), got)
    facts = info(copy)
    measured, unsure = names_in(facts.get("measured_classes")), names_in(facts.get("unsure_classes"))
    right, silent, n = set(), [], 0
    for c, (objects, size) in want.items():
        c = other_name(c) if c in UNRULED else c
        if c not in got or c.endswith("[]") or c == "java.lang.Class":
            continue
        n += 1
        if size * got[c][0] == got[c][1] * objects:
            right.add(c)
        elif c not in measured | unsure:
            silent.append("%s: got %s, the JVM has %s" % (c, got[c], [objects, size]))
    tap.ok(n > 300 and not silent, "%s without rules: no class is wrong without a word (%d)" % (stem, n),
           "\n".join(silent))
    for c in must:
        tap.ok(other_name(c) in measured & right, "%s: %s is as large as the JVM says" % (stem, c),
               (got.get(other_name(c)), want.get(c), sorted(measured)))
    run = cairn("-x", "histo %s" % other_name(must[0]), "-x", "why", copy)
    tap.ok("distance from each to the next" in run.out, "%s: why says where the size is from" % stem, run)
    run = cairn("-x", "check", copy)
    tap.ok(run.status == 0 and re.search(r"follow from rules +ok +except for \d+ class", run.out),
           "%s: check tells of it" % stem, run)
    run = cairn("--sizes", "mat", "-x", "info", copy)
    tap.ok("measured_classes" not in run.out, "%s: MAT's rule measures nothing" % stem, run)


def main():
    need_dumps()
    tap = Tap()
    for dump, _ in pairs_of():
        run = cairn("--format", "json", "-x", "info", dump)
        tap.ok(run.status == 0 and "measured_classes" not in run.out,
               "%s: rules suffice" % os.path.relpath(dump, need_dumps()), run.out)
    with tempfile.TemporaryDirectory() as folder:
        for stem, must in sorted(SWITCHED.items()):
            switched_off(tap, stem, must, folder)
    tap.done()


if __name__ == "__main__":
    main()
