#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Allocation sites of HPROF dumps: the serials of stacks in the records of objects.

A second reader (tests/lib/hprof.py) takes the serials, stacks and frames of real dumps; sites must sum the same, x must
tell the same stack, and an index must keep it.  Dumps made here have serials to nowhere, stacks without frames, frames
to nowhere, ALLOC SITES, and one serial for all.
"""

import collections
import glob
import json
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn  # noqa: E402
import hprof  # noqa: E402
from hprofmade import Made  # noqa: E402


def read_records(data):
    """{address: the names of the frames of its stack}, of objects of the last heap that have such a stack."""
    d = hprof.Dump(data)
    stacks, frames, serials = {}, {}, {}
    at = data.index(b"\0") + 13
    while at < len(data):
        tag, _, n = struct.unpack(">BII", data[at:at + 9])
        body = at + 9
        if tag == 5:
            stacks[d.u4(body)] = [d.id(body + 12 + i * d.ids) for i in range(d.u4(body + 8))]
        elif tag == 4:
            frames[d.id(body)] = (d.u4(body + 4 * d.ids), d.id(body + d.ids))
        elif tag == 2:
            serials[d.u4(body)] = d.id(body + 4)
        at = body + n
    d.classes = {}
    found = {}
    for tag, body, _ in d.records(len(d.heaps) - 1):
        if tag in (0x20, 0x21, 0x22, 0x23) and stacks.get(d.u4(body + d.ids)):
            names = []
            for f in stacks[d.u4(body + d.ids)]:
                serial, method = frames[f]
                names.append(d.class_name(serials[serial]) + "." + d.strings[method].decode())
            found[d.id(body)] = (d.u4(body + d.ids), names)
    return found


def rows(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.status == 0 else []


def real(tap, path, folder):
    name = os.path.basename(path)
    with open(path, "rb") as f:
        truth = read_records(f.read())
    want = collections.Counter()
    for serial, names in truth.values():
        want[(serial, " < ".join(names))] += 1
    want = sorted((stack, n) for (_, stack), n in want.items())
    if not truth:
        run = cairn("-x", "sites", path)
        tap.ok(run.status == 1 and "only if its writer recorded" in run.err, name + ": says why there are none", run)
        return
    have = sorted((r["stack"], r["objects"]) for r in rows(path, "sites"))
    tap.equal(have, want, "%s: %d stacks allocated %d objects" % (name, len(want), len(truth)))
    some = sorted(truth)[::max(1, len(truth) // 20)]
    for at in some:
        told = rows(path, "x 0x%x" % at)
        names = [f.split("(")[0] for f in told["site"].split(" < ")]
        if names != truth[at][1]:
            tap.ok(False, "%s: x 0x%x" % (name, at), told["site"])
            break
    else:
        tap.ok(True, "%s: x tells the stacks of %d objects" % (name, len(some)))
    index = os.path.join(folder, "its.cairn")
    before = cairn("-x", "sites", path).out
    done = cairn("-x", "index " + index, path)
    after = cairn("--index", index, "-x", "sites", path)
    tap.ok(done.status == 0 and after.out == before, name + ": an index keeps them", done)


def trace(serial, frames):
    return struct.pack(">III", serial, 0, len(frames)) + b"".join(struct.pack(">Q", f) for f in frames)


def made(tap, folder):
    m = Made()
    m.cls("com.acme.Order", [("I", "n")])
    m.top(4, struct.pack(">QQQQIi", 0x51, m.text("main"), 0, m.text("Shop.java"), 3, 17))
    m.top(4, struct.pack(">QQQQIi", 0x52, m.text("add"), 0, 0, 3, 0))
    m.top(5, trace(10, [0x52, 0x51]))
    m.top(5, trace(11, []))
    m.top(5, trace(12, [0x99]))
    m.top(5, trace(14, [0x51]))  # of no object
    m.top(0x0E, struct.pack(">IH", 1, 4))
    sites = [(10, 2, 7), (10, 1, 1), (12, 9, 3)]  # class serials do not matter; live, allocated
    m.top(6, struct.pack(">HIIIQQI", 0, 0, 0, 0, 0, 0, len(sites)) +
          b"".join(struct.pack(">BIIIIII", 0, 1, s, 0, live, 0, made_) for s, live, made_ in sites))
    at = {}
    for serial in (10, 10, 10, 11, 12, 13, 0):
        at[serial] = m.new("com.acme.Order", serial=serial)
        m.root(at[serial])
    path = os.path.join(folder, "made.hprof")
    with open(path, "wb") as f:
        f.write(m.bytes())
    found = {(r["stack"], r["objects"], r["allocs"], r["frees"]) for r in rows(path, "sites")}
    tap.equal(found, {("com.acme.Order.add < com.acme.Order.main", 3, 8, 5), ("<unresolved frame 0x99>", 1, 3, 0)},
              "made: stacks, frames to nowhere, and what the agent counted")
    text = cairn("-x", "sites", path).out
    tap.ok("4 of 10 objects have an allocation stack" in text and "1 more sample names an object or a stack that" in text,
           "made: a serial to nowhere is said", text)
    tap.ok("site" in rows(path, "x 0x%x" % at[10]) and rows(path, "x 0x%x" % at[11]).get("site") is None,
           "made: x tells a stack where there is one")
    # who wrote it is not told: another writer's serials differ, Android tracks or does not, HotSpot's are all 1
    for version, serials, n in ((b"1.0.2", [7, 7, 8, 0, 7], 3), (b"1.0.3", [7] * 5, 5), (b"1.0.3", [0] * 5, 0),
                                (b"1.0.2", [1] * 5, 0)):
        m = Made(version)
        m.cls("com.acme.Order", [("I", "n")])
        m.top(4, struct.pack(">QQQQIi", 0x51, m.text("main"), 0, m.text("Shop.java"), 3, 17))
        m.top(5, trace(1, []))
        m.top(5, trace(7, [0x51]))
        m.top(5, trace(8, []))
        for serial in serials:
            m.root(m.new("com.acme.Order", serial=serial))
        with open(path, "wb") as f:
            f.write(m.bytes())
        run = cairn("-x", "sites", path)
        words = "made: version %s, serials %s" % (version.decode(), serials)
        if n:
            tap.equal([(r["site"], r["objects"]) for r in rows(path, "sites")],
                      [("com.acme.Order.main(Shop.java:17)", n)], words)
        else:
            tap.ok(run.status == 1 and "only if its writer" in run.err, words, run)


def counted(tap, folder):
    """heap=sites: no heap, but stacks with what the agent counted; the sentence says what the file is."""
    m = Made(b"1.0.1")
    m.cls("com.acme.Order", [("I", "n")])
    m.top(4, struct.pack(">QQQQIi", 0x51, m.text("main"), 0, m.text("Shop.java"), 3, 17))
    m.top(4, struct.pack(">QQQQIi", 0x52, m.text("add"), 0, m.text("Shop.java"), 3, 5))
    m.top(5, trace(10, [0x51]))
    m.top(5, trace(11, []))
    m.top(5, trace(12, [0x52, 0x51]))
    m.top(0x0E, struct.pack(">IH", 1, 4))
    sites = [(10, 2, 7), (10, 1, 1), (11, 4, 4), (12, 0, 30)]  # class serials do not matter; live, allocated
    m.top(6, struct.pack(">HIIIQQI", 0, 0, 0, 0, 0, 0, len(sites)) +
          b"".join(struct.pack(">BIIIIII", 0, 1, s, 0, live, 0, made_) for s, live, made_ in sites))
    data = m.bytes()
    path = os.path.join(folder, "sites.hprof")
    with open(path, "wb") as f:
        f.write(data[:data.index(b"\x1C\0\0\0\0")])
    run = cairn("--format", "json", "-x", "sites", path)
    tap.equal({(r["stack"], r["objects"], r["shallow"], r["allocs"], r["frees"]) for r in json.loads(run.out or "[]")},
              {("com.acme.Order.main", 3, None, 8, 5), ("com.acme.Order.add < com.acme.Order.main", 0, None, 30, 30)},
              "heap=sites: the agent's own counts")
    tap.ok("no heap in the file: the hprof agent wrote it with heap=sites" in run.err and ".p0" not in run.err,
           "heap=sites: and what the file is", run)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        made(tap, folder)
        counted(tap, folder)
        paths = sorted(glob.glob(os.path.join(DUMPS, "hotspot", "*.hprof"))) if DUMPS else []
        for path in paths:
            if os.path.getsize(path) < 8 << 20:
                real(tap, path, folder)
        if not paths:
            tap.skip("real dumps", "no CAIRN_DUMPS")
    tap.done()


main()
