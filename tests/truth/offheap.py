#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory outside of the heap: offheap.

Real dumps with a manifest of what their program planted (waste): each figure, held by the field that it was planted
in.  Dumps made here: what the JDK's classes can say that is not so (attachments in circles, capacities below 0,
addresses twice), and what other programs have (Netty, Android, memory segments in sessions).
"""

import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, SAMPLE, Tap, cairn  # noqa: E402
from hprofmade import Made, add_direct, buffers  # noqa: E402


def rows(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.out.strip() else []


def sums(found, **wanted):
    """(objects, capacity) of the rows with these values."""
    mine = [r for r in found if all(r[k] == v for k, v in wanted.items())]
    return sum(r["objects"] for r in mine), sum(r["capacity"] or 0 for r in mine)


def planted(tap, path, manifest):
    name = os.path.relpath(path, DUMPS) if path.startswith(DUMPS) else os.path.basename(path)
    with open(manifest, encoding="utf-8") as f:
        rows_of = {r["id"]: r for r in json.load(f)["planted"]}
    if "directs" not in rows_of:
        return
    found, each, kinds = rows(path, "offheap -by holder"), rows(path, "offheap -each"), rows(path, "offheap")
    of = {"directs": "direct", "orphans": "direct", "mapped": "mapped"}
    for plant, kind in of.items():
        r = rows_of[plant]
        holder = "waste.Waste." + (r["field"] if "." not in r["field"] else r["field"].split("Waste.")[-1])
        tap.equal(sums(found, holder=holder, kind=kind), (r["count"], r["capacitySum"]), "%s: %s" % (name, holder))
    r = rows_of["directMemory"]
    tap.equal(sums(kinds, kind="direct"), (r["count"], r["capacitySum"]), name + ": all direct memory, and no other")
    tap.equal(sums(kinds, kind="mapped"), (1, rows_of["mapped"]["capacitySum"]), name + ": all that is mapped")
    for plant in ("slices", "duplicates"):
        holders = {x["holder"] for x in found}
        tap.ok("waste.Waste.%s[]" % plant not in holders, "%s: %s own nothing" % (name, plant), holders)
    for plant, kind in (("deflaters", "deflater"), ("inflaters", "inflater")):
        n = sums(found, holder="waste.Waste.%s[]" % plant, kind=kind)[0]
        tap.equal(n, rows_of[plant]["open"], "%s: open %s" % (name, plant))
    ended = rows_of["endedDeflaters"]
    tap.ok(not sums(found, holder="waste.Waste.endedDeflaters[]")[0], name + ": ended deflaters own nothing")
    tap.equal(sums(kinds, kind="deflater")[0], rows_of["deflaters"]["open"], name + ": no other deflaters")
    told = cairn("-x", "offheap", path).out
    if not path.endswith("-all.hprof"):
        tap.ok("%d owner" % ended["count"] in told, name + ": it is said how many were ended", told)
    tap.ok(told.count("as found") == 2, name + ": the JDK's own counters agree, and it is said", told)
    bits = [x for x in rows(path, "offheap -limits") if x["name"] == "java.nio.Bits"]
    tap.equal([(b["count"], b["capacity"]) for b in bits], [(r["count"], r["capacitySum"])], name + ": java.nio.Bits")
    tap.equal(sum(x["capacity"] for x in each if x["kind"] == "direct"), r["capacitySum"], name + ": one by one")
    direct = [x for x in each if x["kind"] == "direct"]
    tap.none([x for x in direct if x["limit"] > x["capacity"] or not x["memory"]], direct, name + ": limits and addresses")
    program = [x for x in found if x["kind"] not in ("stack", "zip") and x["holder"].startswith("waste.")]
    known = {"waste.Waste.%s" % f for f in ("directs[]", "orphans[]", "mapped", "deflaters[]", "inflaters[]")}
    tap.equal({x["holder"] for x in program}, known, name + ": no other field of the program is accused")


def write(folder, name, made):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(made.bytes())
    return path


def hostile(tap, folder):
    """What cannot be is left out, counted and said; what is true beside it is found."""
    m = buffers()
    held = m.cls("com.acme.Pool", [("L", "all")], statics=())
    good = [add_direct(m, n)[0] for n in (1000, 2000)]
    circle = [m.address(), m.address(), m.address()]
    for i, at in enumerate(circle):
        m.heap.append((at, "java.nio.DirectByteBuffer", 0, dict(capacity=5, att=circle[(i + 1) % 3], address=77)))
    deep = good[0]
    for _ in range(200):
        deep = m.new("java.nio.DirectByteBuffer", capacity=10, limit=10, att=deep, address=5)
    lost = m.new("java.nio.DirectByteBuffer", capacity=10, att=0xDEAD0000, address=5)
    negative = m.new("java.nio.DirectByteBuffer", capacity=-5, address=5)
    wrong = add_direct(m, -7)[0]
    ended = add_direct(m, 123, address=0)[0]
    again = m.new("jdk.internal.ref.Cleaner", thunk=m.heap[0][0], referent=good[0])  # one action, two cleaners
    array = m.array("java.nio.ByteBuffer", good + circle + [deep, lost, negative, wrong, ended, again])
    m.root(m.new("com.acme.Pool", all=array))
    del held
    path = write(folder, "hostile.hprof", m)
    tap.equal(sums(rows(path, "offheap"), kind="direct"), (2, 3000), "hostile: owners that are sane count, once")
    tap.equal([(r["holder"], r["objects"]) for r in rows(path, "offheap -by holder")], [("com.acme.Pool.all[]", 2)],
              "hostile: the field that holds them")
    told = cairn("-x", "offheap", path).out
    for words in ("204 buffers and segments share", "4 of them have no owner", "1 owner was closed",
                  "2 objects are left out"):
        tap.ok(words in told, "hostile: it is said: " + words, told)


def lent(tap, folder):
    """Netty's chunks have no cleaner; what native code lends overlaps, and counts once."""
    m = buffers()
    m.cls("io.netty.buffer.PoolChunk", [("L", "memory"), ("I", "chunkSize")])
    m.cls("io.grpc.netty.shaded.io.netty.buffer.PoolChunk", [("L", "memory")])
    m.cls("com.acme.Jni", [("L", "a"), ("L", "b"), ("L", "c")])
    direct = "java.nio.DirectByteBuffer"
    chunks = [m.new(direct, capacity=65536, limit=65536, address=0x10000000 + i * 65536) for i in range(2)]
    m.root(m.new("io.netty.buffer.PoolChunk", memory=chunks[0], chunkSize=65536))
    m.root(m.new("io.grpc.netty.shaded.io.netty.buffer.PoolChunk", memory=chunks[1]))
    wide = m.new(direct, capacity=1000, limit=10, address=0x20000000)
    inside = m.new(direct, capacity=100, limit=100, address=0x20000010)
    over = m.new(direct, capacity=500, limit=500, address=0x20000000 + 900)
    m.root(m.new("com.acme.Jni", a=wide, b=inside, c=over))
    # Netty 4.2 from Java 24 on: memory of malloc, a segment over it, and a buffer over that
    at = "jdk.internal.foreign.NativeMemorySegmentImpl"
    m.cls(at, [("J", "min"), ("J", "length"), ("L", "scope")])
    m.cls("io.netty.util.internal.CleanerJava24Linker$CleanableDirectBufferImpl", [("L", "buffer")])
    segment = m.new(at, min=0x30000000, length=4096)
    over = m.new(direct, capacity=4096, limit=4096, address=0x30000000, segment=segment)
    m.root(m.new("io.netty.util.internal.CleanerJava24Linker$CleanableDirectBufferImpl", buffer=over))
    path = write(folder, "lent.hprof", m)
    found = rows(path, "offheap -by holder")
    tap.equal({(r["holder"], r["kind"], r["objects"], r["capacity"], r["certainty"]) for r in found},
              {("io.netty.util.internal.CleanerJava24Linker$CleanableDirectBufferImpl.buffer", "netty", 1, 4096,
                "inferred"),
               ("io.netty.buffer.PoolChunk.memory", "netty", 1, 65536, "inferred"),
               ("io.grpc.netty.shaded.io.netty.buffer.PoolChunk.memory", "netty", 1, 65536, "inferred"),
               ("com.acme.Jni.a", "lent", 1, 1400, "inferred")}, "lent: Netty's, gRPC's and JNI's")


def android(tap, folder):
    m = Made(b"1.0.3")
    m.cls("java.lang.ref.Reference", [("L", "referent")])
    m.cls("sun.misc.Cleaner", [("L", "thunk"), ("L", "next")], "java.lang.ref.Reference")
    m.cls("libcore.util.NativeAllocationRegistry", [("J", "size")])
    m.cls("libcore.util.NativeAllocationRegistry$CleanerThunk", [("J", "nativePtr"), ("L", "this$0")])
    m.cls("android.graphics.Bitmap", [("I", "mWidth")])
    m.cls("com.acme.Screen", [("L", "picture")])
    m.cls("android.graphics.Paint", [("I", "mColor")])
    m.cls("com.acme.Pen", [("L", "paint")])
    for size, pointer in ((99, 0x9000), (99, 0xa000), (1, 0xb000)):
        registry = m.new("libcore.util.NativeAllocationRegistry", size=size)
        paint = m.new("android.graphics.Paint")
        thunk = m.new("libcore.util.NativeAllocationRegistry$CleanerThunk", nativePtr=pointer, **{"this$0": registry})
        m.root(m.new("sun.misc.Cleaner", thunk=thunk, referent=paint))
        m.root(m.new("com.acme.Pen", paint=paint))
    for size, pointer in ((40001, 0x7000), (1200, 0x8000), (999, 0)):
        registry = m.new("libcore.util.NativeAllocationRegistry", size=size)
        picture = m.new("android.graphics.Bitmap")
        thunk = m.new("libcore.util.NativeAllocationRegistry$CleanerThunk", nativePtr=pointer, **{"this$0": registry})
        m.root(m.new("sun.misc.Cleaner", thunk=thunk, referent=picture))
        m.root(m.new("com.acme.Screen", picture=picture))
    path = write(folder, "android.hprof", m)
    found = rows(path, "offheap -by holder")
    tap.equal([(r["holder"], r["kind"], r["class"], r["objects"], r["capacity"]) for r in found if "Bitmap" in r["class"]],
              [("com.acme.Screen.picture", "registered", "android.graphics.Bitmap", 2, 41200)],
              "android: registered bitmaps, those that are freed not")
    each = sorted((r["capacity"] or 0, r["certainty"]) for r in rows(path, "offheap registered -each"))
    tap.equal(each, [(0, "unknown"), (98, "inferred"), (98, "inferred"), (1200, "exact"), (40000, "exact")],
              "android: what malloc made without a size is assumed, or unknown; what states a size is exact")
    path = glob.glob(os.path.join(DUMPS or "", "found", "reports", "10-*", "registered.hprof"))
    if DUMPS and path:
        found = {r["class"]: (r["objects"], r["capacity"], r["certainty"]) for r in rows(path[0], "offheap")}
        tap.equal((found["android.graphics.Paint"], found["android.graphics.Bitmap"][1:]),
                  ((5, 490, "inferred"), (6416384, "exact")), "registered.hprof: 98 bytes are an assumption")


def sessions(tap, folder):
    """Lists of sessions of JDK 21's layout, one in a circle, one closed; slices, one without its whole."""
    m = buffers()
    at = "jdk.internal.foreign."
    m.cls(at + "MemorySessionImpl", [("L", "resourceList"), ("I", "state")])
    m.cls(at + "MemorySessionImpl$ResourceList", [("L", "fst")])
    m.cls(at + "SharedSession$SharedResourceList", [], at + "MemorySessionImpl$ResourceList")
    m.cls(at + "MemorySessionImpl$ResourceList$ResourceCleanup", [("L", "next")])
    m.cls(at + "NativeMemorySegmentImpl$1", [("J", "val$buf"), ("J", "val$byteSize"), ("J", "val$alignedSize")],
          at + "MemorySessionImpl$ResourceList$ResourceCleanup")
    m.cls(at + "NativeMemorySegmentImpl", [("J", "min"), ("J", "length"), ("L", "scope")])
    m.cls("com.acme.Native", [("L", "whole"), ("L", "slice"), ("L", "orphan"), ("L", "shut")])
    first, second = m.address(), m.address()
    for a, n, base, size in ((first, second, 0x100000, 5000), (second, first, 0x200000, 7000)):
        m.heap.append((a, at + "NativeMemorySegmentImpl$1", 0, {"next": n, "val$buf": base, "val$byteSize": size,
                                                               "val$alignedSize": size + 8}))
    lists = m.new(at + "SharedSession$SharedResourceList", fst=first)
    scope = m.new(at + "MemorySessionImpl", resourceList=lists, state=0)
    closed = m.new(at + "MemorySessionImpl", resourceList=0, state=-2)
    segment = at + "NativeMemorySegmentImpl"
    whole = m.new(segment, min=0x100000, length=5000, scope=scope)
    piece = m.new(segment, min=0x100000 + 10, length=100, scope=scope)
    orphan = m.new(segment, min=0x200000 + 10, length=100, scope=scope)
    shut = m.new(segment, min=0x300000, length=100, scope=closed)
    m.root(m.new(segment, min=0, length=(1 << 63) - 1))
    m.root(m.new("com.acme.Native", whole=whole, slice=piece, orphan=orphan, shut=shut))
    path = write(folder, "sessions.hprof", m)
    tap.equal({(r["holder"], r["kind"], r["objects"], r["capacity"], r["certainty"])
               for r in rows(path, "offheap -by holder")},
              {("com.acme.Native.whole", "segment", 1, 5000, "exact"),
               ("com.acme.Native.orphan", "segment", 1, 7000, "exact")}, "sessions: what they free, once")


def option(tap, folder):
    """The limit of a VM whose dump holds no values, by the javacore beside it."""
    for path in (SAMPLE, glob.glob(os.path.join(os.path.dirname(SAMPLE), "javacore.*.txt"))[0]):
        with open(path, "rb") as f:
            data = f.read()
        with open(os.path.join(folder, os.path.basename(path)), "wb") as f:
            f.write(data.replace(b"2CIUSERARG ", b"2CIUSERARG               -XX:MaxDirectMemorySize=64m\n2CIUSERARG ", 1))
    limits = rows(os.path.join(folder, os.path.basename(SAMPLE)), "offheap -limits")
    tap.equal([(r["name"], r["limit"], r["capacity"]) for r in limits], [("MaxDirectMemorySize", 64 << 20, None)],
              "PHD: the limit that the javacore tells")


def stacks(tap, folder):
    """Of threads that run: what their constructors were given, else what the VM's options say, else nothing."""
    for options, wanted in ((["-Xmx1g", "-Xss320k"], 320 << 10), (["-Xss1m", "-XX:ThreadStackSize=512"], 512 << 10),
                            (["-Xssmuch"], None), ([], None)):
        m = Made()
        m.cls("java.util.ArrayList", [("L", "elementData"), ("I", "size")])
        m.cls("java.lang.Thread", [("J", "eetop"), ("J", "stackSize")])
        m.cls("sun.management.VMManagementImpl", [("L", "vmArgs")])
        array = m.array("java.lang.Object", [m.string(s) for s in options])
        vm = m.new("sun.management.VMManagementImpl", vmArgs=m.new("java.util.ArrayList", elementData=array,
                                                                   size=len(options)))
        m.cls("sun.management.ManagementFactoryHelper", statics=[("L", "jvm", vm)])
        for eetop, size in ((1, 0), (1, 8192), (0, 0)):
            m.root(m.new("java.lang.Thread", eetop=eetop, stackSize=size))
        path = write(folder, "stacks.hprof", m)
        found = sorted((r["capacity"] or 0, r["certainty"]) for r in rows(path, "offheap stack -each"))
        tap.equal(found, sorted([(8192, "inferred"), (wanted or 0, "inferred" if wanted else "unknown")]),
                  "stacks with the options %s" % options)


def native(tap, path):
    """What the VM allocated itself: each line of the javacore, and nothing else."""
    name, wanted, way = os.path.basename(path), {}, []
    for core in glob.glob(os.path.join(os.path.dirname(path), "javacore.%s*" % name.split(".")[1])):
        with open(core, encoding="latin-1") as f:
            for line in f:
                m = re.match(r"(\d)MEMUSER[ |+-]*(\S.*): ([\d,]+) bytes / (\d+) alloc", line)
                if m:
                    way[int(m.group(1)) - 1:] = [m.group(2)]
                    wanted[": ".join(way[1:] or way)] = (int(m.group(3).replace(",", "")), int(m.group(4)))
    found = rows(path, "offheap -native") if wanted else []
    tap.equal({r["name"]: (r["capacity"], r["count"]) for r in found}, wanted, name + ": native memory of the javacore")
    return wanted


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        hostile(tap, folder)
        lent(tap, folder)
        android(tap, folder)
        sessions(tap, folder)
        option(tap, folder)
        stacks(tap, folder)
    tap.ok(native(tap, SAMPLE), "the sample's javacore tells of native memory")
    for path in sorted(glob.glob(os.path.join(DUMPS, "openj9", "*.phd"))) if DUMPS else []:
        told = native(tap, path)
        for n, of in [(v[1], k) for k, v in told.items() if k.endswith("Direct Byte Buffers")]:
            tap.equal(sums(rows(path, "offheap"), kind="direct")[0], n, "PHD: as many direct buffers as " + of)
    go = {r["kind"]: r["capacity"] for r in rows(GO, "offheap")}
    info = json.loads(cairn("--format", "json", "-x", "info", GO).out)
    tap.equal(go.get("stacks of goroutines"), info["StackSys"], "Go: stacks, as the runtime counted them")
    more = sys.argv[1:] or sorted(glob.glob(os.path.join(DUMPS, "waste", "*", "*.hprof")) if DUMPS else [])
    for path in more:
        planted(tap, path, os.path.join(os.path.dirname(path), "waste.manifest.json"))
    if not more:
        tap.skip("dumps with planted buffers", "no CAIRN_DUMPS")
    tap.done()


main()
