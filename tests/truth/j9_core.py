#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects, classes, sizes, lengths and references of OpenJ9 system dumps against four other readers: a naive one
(lib/j9_core.py), DTFJ (ref-core.txt.xz), jdmpview's histogram, and the PHD of the same moment.

What the others leave out, by rule:
* DTFJ's sizes have no hash code that was put behind an object when it moved.
* DTFJ measures an array without elements as if it had the head of others.
* DTFJ does not tell the MemberName of a DirectMethodHandle, nor, in some dumps, Enum.name.
* DTFJ fails at some field of a few objects (then it ends with an X, or the object has a hash code put behind it):
  what it lacks there the PHD has.
* In a PHD class objects lack their fields, their array's class, and what constant pools and call sites hold; DTFJ
  has some of these, and says of each that it refers to itself.
* The thread that writes the dumps goes on between them: the PHD has a few objects where the core has none, and this
  thread's object may differ.
"""

import bisect
import collections
import glob
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Graph, Tap, some  # noqa: E402
from j9_core import Vm  # noqa: E402
from j9_sets import dtfj as lines_of_dtfj, folders, lines_of, unpack  # noqa: E402

OBJECT, ANONYMOUS = "java.lang.Object", "java/lang/InternalAnonymousClassLoader"
NEWER_MOST = 12               # objects of the thread that writes dumps
PRIMITIVES = dict(zip("ZCFDBSIJ", "boolean char float double byte short int long".split()))
UNTOLD = {"java/lang/invoke/DirectMethodHandle": "java.lang.invoke.MemberName", "java/lang/Enum": "java.lang.String"}


def java_name(name):
    """java/lang/String, [I as Java source has them."""
    inner = name.lstrip("[")
    depth = len(name) - len(inner)
    if depth:
        inner = PRIMITIVES.get(inner) or inner[1:-1]
    head, slash, hidden = inner.rpartition("/0x")  # of hidden classes the address stays
    return (head.replace("/", ".") + slash + hidden if slash else inner.replace("/", ".")) + "[]" * depth


class Dtfj:
    """objects: address -> (class, bytes, elements or None, references); classes: address of the class object ->
    references; kin: the same -> (name, name of the superclass or None, loader); failed: objects of which DTFJ did not
    read all."""

    def __init__(self, folder):
        self.objects, self.classes, self.kin, self.failed = {}, {}, {}, set()
        for part, tail, _ in lines_of_dtfj(folder, "OC"):
            at = int(part[1], 16)
            if part[0] == "O":
                refs = [int(w, 16) for w in tail if w[0] not in "cX" and "/" not in w]
                length = int(part[4])
                if tail and tail[-1] == "X":
                    self.failed.add(at)
                self.objects[at] = (part[2], int(part[3]), length if length >= 0 else None, sorted(refs))
            else:
                self.classes[at] = {int(w.partition("/")[0].lstrip("c"), 16) for w in tail}
                self.kin[at] = (part[2], None if part[3] == "null" else part[3], int(part[6], 16))


def check_naive(tap, name, vm, mirrors, got):
    """All but what class objects refer to; elements of arrays in their order."""
    def order(a, array, refs):
        return None if a in mirrors else refs if array else sorted(refs)

    want = {a: (java_name(c.name), size, length, order(a, c.array, refs))
            for a, (c, size, length, refs) in vm.objects.items()}
    mine = {a: (o.cls, o.shallow, o.length, order(a, o.kind == "object_array", o.out))
            for a, o in got.objects.items()}
    tap.equal(mine, want, "%s: %d objects as the naive reader has them" % (name, len(want)))
    by_mirror = {c.mirror: (java_name(c.name), c.loader or None, superclass(vm, c))
                 for c in vm.classes.values() if c.mirror}
    tap.equal({a: c[:3] for a, c in got.classes.items() if a in by_mirror}, by_mirror,
              "%s: %d classes, their loaders and superclasses" % (name, len(by_mirror)))


def superclass(vm, c):
    return vm.class_at(c.parents[-1]).mirror if c.parents else None


def is_untold(vm, c, got, more):
    """Are these references, which DTFJ lacks, of a field that it does not tell?"""
    untold = [UNTOLD[k.name] for k in [c] + [vm.class_at(p) for p in c.parents] if k.name in UNTOLD]
    return untold and [got.objects[t].cls for t in more.elements()] == untold


def check_kin(tap, name, got, dtfj):
    """Names, superclasses and loaders: but that interfaces have none to DTFJ, and hidden classes a loader of its own."""
    faults = []
    for a, (cls, above, loader) in dtfj.kin.items():
        mine, my_loader, my_above, *_ = got.classes.get(a, ("", 0, None))
        my_above = got.classes[my_above][0] if my_above in got.classes else None
        hidden = dtfj.objects[loader][0] == ANONYMOUS
        if "\ufffd" not in cls and (mine != java_name(cls) or not hidden and my_loader != loader or above and
                                    my_above != java_name(above) or not above and my_above not in (None, OBJECT)):
            faults.append("%s of 0x%x extends %s: %s of %s extends %s" % (cls, loader, above, mine, my_loader, my_above))
    tap.none(faults[:9], len(dtfj.kin), "%s: classes, superclasses and loaders as DTFJ has them" % name, 500)


def check_dtfj(tap, name, vm, mirrors, got, dtfj, phd):
    tap.equal(sorted(got.objects), sorted(dtfj.objects), "%s: the objects of DTFJ" % name)
    faults, hashed = [], 0
    for a, (cls, size, length, refs) in dtfj.objects.items():
        o, (c, naive, _, _) = got.objects.get(a), vm.objects.get(a, (None, 0, 0, 0))
        if not o or not c:
            continue
        plain = vm.measure(a, c, False)[0]
        hashed += plain != naive
        if length == 0:
            plain = max(16, -(-vm.head // vm.align) * vm.align)
        if (o.shallow, o.length, plain) != (naive, length, size) or o.cls != java_name(cls) and "\ufffd" not in cls:
            faults.append("%#x %s of %d, %s: %s %d %s" % (a, cls, size, length, o.cls, o.shallow, o.length))
        if a not in mirrors and sorted(o.out) != refs:
            more, less = (collections.Counter(x) - collections.Counter(y) for x, y in ((o.out, refs), (refs, o.out)))
            other = phd.objects[a].out if a in phd.objects else []
            fails = (a in dtfj.failed or plain != naive) and set(more) <= set(other)
            if less or not fails and not is_untold(vm, c, got, more):
                faults.append("%#x %s: %s, DTFJ %s" % (a, cls, list(map(hex, o.out))[:9], list(map(hex, refs))[:9]))
    tap.none(faults, len(dtfj.objects), "%s: sizes, lengths, references (%d with hash codes)" % (name, hashed), 1000)
    lacking = [(hex(a), hex(t)) for a, refs in dtfj.classes.items()
               for t in refs - {a} if a in got.objects and t in got.objects and t not in got.objects[a].out]
    tap.none(lacking[:9], len(dtfj.classes), "%s: what DTFJ has of class objects" % name, 500)


def check_classes(tap, name, vm, got, dtfj, phd):
    """Class objects refer to nothing that nobody explains, and to all that their constants are."""
    faults, lacking, arrays = [], [], collections.defaultdict(set)
    for c in vm.classes.values():
        if c.array:
            arrays[vm.get(c.at, "J9ArrayClass", "componentType")].add(c.mirror)
    for c in vm.classes.values():
        if c.mirror not in got.objects:
            continue
        known = set(vm.objects[c.mirror][3]) | vm.kin(c) | arrays[c.at]
        held = vm.side_tables(c)
        known |= held | {vm.classes[w].mirror for w in held if w in vm.classes}
        known |= dtfj.classes.get(c.mirror, set())
        if c.mirror in phd.objects:
            known |= set(phd.objects[c.mirror].out)
        faults += ["%s: %#x %s" % (c.name, t, got.objects[t].cls) for t in set(got.objects[c.mirror].out) - known]
        lacking += ["%s: %#x" % (c.name, t) for t in held - set(got.objects[c.mirror].out) if t in got.objects]
    tap.none(faults, len(vm.classes), "%s: nor more" % name, 500)
    tap.none(lacking[:9], len(vm.classes), "%s: all that constants and call sites hold" % name, 500)


def check_histogram(tap, name, folder, got, dtfj):
    path = os.path.join(folder, "jdmpview-core.txt.xz")
    if not os.path.exists(path):
        tap.skip("%s: jdmpview's histogram" % name, "there is none")
        return
    want, bytes_, listed = collections.Counter(), collections.Counter(), False
    for line in lines_of(path):
        if line.startswith("> "):
            listed = line == "> info class"
        part = line.split()
        if listed and len(part) == 3 and part[0].isdigit() and part[1].isdigit() and part[2].isascii():
            want[java_name(part[2])] += int(part[0])
            bytes_[java_name(part[2])] += int(part[1])
    mine = collections.Counter(o.cls for o in got.objects.values())
    theirs = collections.Counter()
    for cls, size, _, _ in dtfj.objects.values():
        theirs[java_name(cls)] += size
    tap.ok(len(want) > 500, "%s: jdmpview lists classes" % name, len(want))
    tap.equal({c: mine[c] for c in want}, dict(want), "%s: objects of each class as jdmpview counts them" % name)
    tap.equal({c: theirs[c] for c in want}, dict(bytes_), "%s: and their bytes, without hash codes" % name)


def check_phd(tap, name, vm, got, phd):
    starts = sorted(got.objects)

    def is_inside(a):
        before = starts[bisect.bisect_right(starts, a) - 1]
        return before <= a < before + got.objects[before].shallow

    newer = phd.objects.keys() - got.objects.keys()
    older = got.objects.keys() - phd.objects.keys()
    tap.ok(len(newer) <= NEWER_MOST and not any(map(is_inside, newer)) and not older,
           "%s: the objects of the PHD, but for %d newer ones" % (name, len(newer)), sorted(map(hex, newer))[:9])
    faults, threads = [], 0
    for a in got.objects.keys() & phd.objects.keys():
        o, p = got.objects[a], phd.objects[a]
        mine, theirs = set(o.out), set(p.out)
        if (o.cls, o.kind, o.shallow) != (p.cls, p.kind, p.shallow) or p.length not in (None, o.length):
            faults.append("%#x: %s %s %s, PHD %s %s %s" % (a, o.cls, o.kind, o.shallow, p.cls, p.kind, p.shallow))
        if mine == theirs or o.kind == "class" and mine >= theirs:
            continue
        if o.cls == "java.lang.Thread":
            threads += 1
        else:
            faults.append("%#x %s: %s, PHD %s" % (a, o.cls, *([hex(t) for t in x - y][:5] for x, y in (
                (mine, theirs), (theirs, mine)))))
    tap.none(faults, len(phd.objects), "%s: sizes and references as in the PHD" % name, 1000)
    tap.ok(threads <= 1, "%s: but for one thread" % name, threads)


def check(tap, folder):
    name = os.path.basename(folder)
    with tempfile.TemporaryDirectory() as work:
        core = unpack(folder, os.path.join(work, "core.dmp"))
        got, vm = Graph.of_dump(core, "-n"), Vm(core)
        tap.ok(got.run.status == 0, "%s is read" % name, got.run)
    mirrors = {c.mirror for c in vm.classes.values()}
    dtfj = Dtfj(folder)
    phd = Graph.of_dump(sorted(glob.glob(os.path.join(folder, "*.phd")))[0], "-n")  # asked for with the core
    check_naive(tap, name, vm, mirrors, got)
    check_dtfj(tap, name, vm, mirrors, got, dtfj, phd)
    check_kin(tap, name, got, dtfj)
    check_classes(tap, name, vm, got, dtfj, phd)
    check_histogram(tap, name, folder, got, dtfj)
    check_phd(tap, name, vm, got, phd)


def main():
    tap = Tap()
    sets = folders()
    tap.ok(len(sets) >= 5, "there are system dumps", sets)
    for folder in some(sets, 6):
        check(tap, folder)
    tap.done()


main()
