#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a large system dump of an OpenJ9 VM is beside an HPROF dump of the same objects.

    bench/core.py BUILD CORE [-n COPIES] [-r RUNS] [-d DIR]

CORE is a small system dump, whose heap has a region without objects.  Its heap is copied COPIES times (120) behind
the memory that it has, and cairn exports the HPROF dump.  Both are made in DIR (BUILD/bench) once.  Each command runs
RUNS times (5) on the one and the other in turn; told are the median seconds, and the ratios of best and median.
"""
import argparse
import array
import os
import shutil
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "lib"))
import j9_core  # noqa: E402

PAGE, COMMANDS = 4096, ("histo | head 1", "dom | head 1", "leaks")


def image(vm):
    """The words of all objects but class objects, references to one another as offsets, and where these are."""
    kept = {at: o for at, o in vm.objects.items() if o[0].name != "java/lang/Class"}
    place, end = {}, 0
    for at, (_, size, _, _) in kept.items():
        place[at], end = end, end + size
    words = array.array("Q" if vm.slot == 8 else "I", b"".join(vm.memory.bytes(at, o[1]) for at, o in kept.items()))
    inner = []
    for at, (c, _, length, held) in kept.items():
        if not held:
            continue
        offsets = range(vm.head, vm.head + length * vm.slot, vm.slot) if c.array else c.offsets
        for i in ((place[at] + o) // vm.slot for o in offsets):
            if words[i] << vm.shift in place:
                words[i] = place[words[i] << vm.shift] >> vm.shift
                inner.append(i)
    return words, inner


def room(vm, n):
    """An address with n free bytes behind it that references reach."""
    at = 1 << 32
    for begin, end, _ in vm.memory.segments:
        if begin >= at + n:
            break
        at = max(at, -(-end // PAGE) * PAGE)
    return at


def empty_region(vm):
    manager = vm.get(vm.get(vm.vm, "J9JavaVM", "gcExtensions"), "MM_GCExtensions", "heapRegionManager")
    for at in vm.chain(vm.get(manager, "MM_HeapRegionManager", "_auxRegionDescriptorList"),
                       "MM_HeapRegionDescriptor", "_nextRegion"):
        low, high = (vm.get(at, "MM_HeapRegionDescriptor", m) for m in ("_lowAddress", "_highAddress"))
        if not any(low <= o < high for o in vm.objects):
            return at
    sys.exit("core.py: this core has no region without objects")


def file_offset(vm, address):
    return next(o + address - a for a, b, o in vm.memory.segments if a <= address < b)


def grow(source, target, copies):
    vm = j9_core.Vm(source)
    words, inner = image(vm)
    size = len(words) * vm.slot
    base, region = room(vm, size * copies), empty_region(vm)
    shutil.copy(source, target + ".part")
    with open(target + ".part", "r+b") as f:
        end = -(-f.seek(0, 2) // PAGE) * PAGE
        f.seek(end)
        for k in range(copies):
            copy, moved = words[:], (base + k * size) >> vm.shift
            for i in inner:
                copy[i] += moved
            copy.tofile(f)
        for member, value in (("_lowAddress", base), ("_highAddress", base + size * copies)):
            f.seek(file_offset(vm, region + vm.names.find("MM_HeapRegionDescriptor", member)[0]))
            f.write(struct.pack("<Q", value))
        f.seek(0)
        head = f.read(64)
        where, n = struct.unpack_from("<Q", head, 32)[0], struct.unpack_from("<H", head, 56)[0]
        for i in range(n):  # the header of a segment without bytes becomes that of the copies
            f.seek(where + 56 * i)
            kind, _, _, _, _, length, _, _ = struct.unpack("<IIQQQQQQ", f.read(56))
            if kind == 1 and length == 0:
                f.seek(where + 56 * i)
                f.write(struct.pack("<IIQQQQQQ", 1, 6, end, base, 0, size * copies, size * copies, PAGE))
                break
        else:
            sys.exit("core.py: this core has no segment without bytes")
    os.rename(target + ".part", target)


def seconds(cairn, line, dump):
    began = time.monotonic()
    subprocess.run([cairn, "--no-config", "--no-index", "-n", "-x", line, dump], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build")
    p.add_argument("core")
    p.add_argument("-n", type=int, default=120)
    p.add_argument("-r", type=int, default=5)
    p.add_argument("-d")
    a = p.parse_args()
    cairn, folder = os.path.join(a.build, "cairn"), a.d or os.path.join(a.build, "bench")
    os.makedirs(folder, exist_ok=True)
    core, hprof = (os.path.join(folder, "grown-%d.%s" % (a.n, end)) for end in ("core", "hprof"))
    if not os.path.exists(core):
        grow(a.core, core, a.n)
    if not os.path.exists(hprof):
        subprocess.run([cairn, "-n", "-x", "export -hprof " + hprof, core], check=True)
    for line in COMMANDS:
        runs = [(seconds(cairn, line, core), seconds(cairn, line, hprof)) for _ in range(a.r + 1)][1:]
        cores, hprofs = zip(*runs)
        print("%-16s core %.2f s, HPROF %.2f s: best %.2f, median %.2f times" % (
            line, statistics.median(cores), statistics.median(hprofs), min(cores) / min(hprofs),
            statistics.median(x / y for x, y in runs)))


if __name__ == "__main__":
    main()
