#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Android's heaps: which one each object is in, against what was planted and what a naive walk over the bytes finds.

Most dumps are made here, as ART's writer makes them (identifiers of 4 bytes, a
record where the heap changes, the default again in each segment), and as it does not: heaps without names, with odd
ones, with too many; one segment for all, which threads divide at places that they guess.
"""

import csv
import io
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn  # noqa: E402
from hprof import KINDS, Dump  # noqa: E402

PLACES = ("/usr/bin/hprof-conv", "/usr/lib/android-sdk/platform-tools/hprof-conv")
CONV = next((p for p in PLACES if os.path.exists(p)), "")
USUAL = {0: "default", 0x41: "app", 0x49: "image", 0x5A: "zygote"}
OBJECT, CLASS, THING, BYTES = 0x1000, 0x1040, 0x1080, 0x10C0


def record(tag, body):
    return struct.pack(">BII", tag, 0, len(body)) + body


class Made:
    """A dump in the making; put() objects, each gets the heap that the records say."""

    def __init__(self, version=b"1.0.3"):
        self.out = b"JAVA PROFILE " + version + b"\0" + struct.pack(">IQ", 4, 1700000000000)
        self.texts, self.segments, self.heap_of = {}, [b""], {}
        self.at, self.now = 0x100000, "default"
        for serial, (at, name) in enumerate(((OBJECT, "java.lang.Object"), (CLASS, "java.lang.Class"),
                                             (THING, "app.Thing"), (BYTES, "byte[]"))):
            text = self.text(name)
            self.out += record(2, struct.pack(">IIII", serial + 1, at, 0, text))
        for at, above, fields in ((OBJECT, 0, b"\0\0"), (CLASS, OBJECT, b"\0\0"),
                                  (THING, OBJECT, b"\0\1" + struct.pack(">IB", self.text("next"), 2)),
                                  (BYTES, OBJECT, b"\0\0")):
            size = 8 if at == OBJECT else 16
            self.put(at, struct.pack(">BIIIIIIIIIHH", 0x20, at, 0, above, 0, 0, 0, 0, 0, size, 0, 0) + fields)

    def text(self, name):
        raw = name if isinstance(name, bytes) else name.encode()
        if raw not in self.texts:
            self.texts[raw] = 0x900000 + 8 * len(self.texts)
            self.out += record(1, struct.pack(">I", self.texts[raw]) + raw)
        return self.texts[raw]

    def add(self, raw):
        self.segments[-1] += raw

    def put(self, at, raw):
        self.add(raw)
        self.heap_of.setdefault(at, self.now)

    def heap(self, letter, name=None, shown=None):
        """name: None: its string is missing."""
        self.add(struct.pack(">BII", 0xFE, letter, self.text(name) if name is not None else 0x7777))
        self.now = shown if shown is not None else name or USUAL.get(letter, "heap 0x%x" % letter)

    def segment(self):
        self.segments.append(b"")
        self.now = "default"

    def thing(self, to=0):
        self.at += 16
        self.put(self.at, struct.pack(">BIIIII", 0x21, self.at, 0, THING, 4, to))
        return self.at

    def bytes(self, n, at=None):
        if at is None:
            self.at += 16 + (n + 7) // 8 * 8
        self.put(at or self.at, struct.pack(">BIIIB", 0x23, at or self.at, 0, n, 8) + bytes(n))
        return at or self.at

    def root(self, at):
        self.add(struct.pack(">BI", 0x05, at))

    def write(self, tag=0x1C):
        out = self.out + b"".join(record(tag, s) for s in self.segments)
        handle, path = tempfile.mkstemp(suffix=".hprof")
        with os.fdopen(handle, "wb") as f:
            f.write(out + (record(0x2C, b"") if tag == 0x1C else b""))
        return path


def naive(path):
    """Heap by address, by reading record behind record."""
    with open(path, "rb") as f:
        raw = f.read()
    p, texts, found = raw.index(b"\0") + 1, {}, {}
    ids = struct.unpack_from(">I", raw, p)[0]
    word = {4: ">I", 8: ">Q"}[ids]
    get = lambda at: struct.unpack_from(word, raw, at)[0]  # noqa: E731
    p += 12
    parts = []
    while p < len(raw):
        tag, _, n = struct.unpack_from(">BII", raw, p)
        if tag == 1:
            texts[get(p + 9)] = raw[p + 9 + ids:p + 9 + n]
        if tag in (0x0C, 0x1C):
            parts.append((p + 9, p + 9 + n))
        p += 9 + n
    for p, end in parts:
        now = "default"
        while p < end:
            tag = raw[p]
            if tag == 0xFE:
                letter = struct.unpack_from(">I", raw, p + 1)[0]
                name = texts.get(get(p + 5))
                now = name.decode() if name else USUAL.get(letter, "heap 0x%x" % letter)
                p += 5 + ids
                continue
            if tag == 0x05:
                p += 1 + ids
                continue
            found.setdefault(get(p + 1), now)
            if tag == 0x20:
                p += 1 + 7 * ids + 8
                assert raw[p:p + 4] == bytes(4)  # no constants, no static fields
                p += 6 + struct.unpack_from(">H", raw, p + 4)[0] * (ids + 1)
            elif tag == 0x21:
                p += 1 + 2 * ids + 8 + struct.unpack_from(">I", raw, p + 1 + 2 * ids + 4)[0]
            elif tag == 0x22:
                p += 1 + 2 * ids + 8 + ids * struct.unpack_from(">I", raw, p + 1 + ids + 4)[0]
            else:
                assert tag == 0x23 and raw[p + 1 + ids + 8] == 8
                p += 1 + ids + 9 + struct.unpack_from(">I", raw, p + 1 + ids + 4)[0]
    return found


def told(path, *options):
    """Heap by address, as SQL tells it where there is one, else ls."""
    run = cairn(*options, "--format", "csv", "-x", "ls *", path)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    return run, {int(r["address"], 16): r.get("heap") for r in rows}


def look(tap, name, made, tag=0x1C, ways=(("--no-index",),), bytewise=True):
    """The dump's path; the caller's."""
    path = made.write(tag)
    if bytewise:
        tap.equal(naive(path), made.heap_of, "%s: a naive walk finds what was planted" % name)
    for way in ways:
        run, got = told(path, *way)
        tap.equal(got, made.heap_of, "%s: each object (%s)" % (name, " ".join(way)))
    check = cairn("--no-index", "-x", "check -tree", path)
    tap.ok(check.status == 0 and "objects are in named heaps" in check.out, "%s: keeps its promises" % name, check)
    return path


def small(tap):
    m = Made()
    first = m.thing()
    m.heap(0x49, "image")
    image = [m.thing(first) for _ in range(3)]
    m.heap(0x5A, "zygote")
    zygote = [m.thing(image[0]), m.bytes(100)]
    m.segment()
    reset = m.thing()          # the default again
    m.heap(0x41, "app")
    app = [m.thing(reset), m.thing(zygote[0]), m.bytes(1000)]
    m.heap(0x41, None)         # its name is missing, its letter known
    app.append(m.bytes(24))
    m.heap(0x1234, None)
    odd = m.thing()
    m.heap(0, None)
    m.thing()
    m.heap(0x41, "app")
    m.heap(0x5A, "zygote")     # the last one counts
    zygote.append(m.thing(app[1]))
    m.heap(0x41, "app")
    m.thing()
    m.bytes(8, at=image[0])    # a second record of one address: the first counts
    m.root(app[1])
    path = look(tap, "small", m)
    by = lambda want: sorted(a for a, h in m.heap_of.items() if h == want)  # noqa: E731
    for heap in sorted(set(m.heap_of.values())):
        run = cairn("--no-index", "--format", "csv", "-x", "ls -heap '%s' *" % heap, path)
        got = sorted(int(r["address"], 16) for r in csv.DictReader(io.StringIO(run.out)))
        tap.equal(got, by(heap), "small: ls -heap %s" % heap)
    run = cairn("--no-index", "--format", "csv", "-x", "ls app.Thing & heap:app", path)
    got = sorted(int(r["address"], 16) for r in csv.DictReader(io.StringIO(run.out)))
    tap.equal(got, [a for a in by("app") if a not in (app[2], app[3])], "small: a set of objects of a heap")
    run = cairn("--no-index", "--format", "json", "-x", "histo -by heap -retained", path)
    rows = json.loads(run.out)
    tap.equal({r["heap"]: r["objects"] for r in rows},
              {h: len(by(h)) for h in set(m.heap_of.values())}, "small: histo -by heap")
    run = cairn("--no-index", "--format", "json", "-x", "histo -heap app", path)
    tap.equal({r["class"]: (r["objects"], r["shallow"]) for r in json.loads(run.out)},
              {"app.Thing": (3, 48), "byte[]": (2, 1056)}, "small: histo -heap")
    run = cairn("--no-index", "-x", "x 0x%x" % odd, path)
    tap.ok("heap 0x1234" in run.out, "small: x", run)
    run = cairn("--no-index", "--format", "json", "-x", "info", path)
    tap.ok("app 5 (" in json.loads(run.out)["heap_names"], "small: info", run)
    run = cairn("--no-index", "-x", "ls * -heap moon", path)
    tap.ok(run.status == 1 and "there are default, image, zygote, app" in run.err, "small: none of this name", run)
    run = cairn("--no-index", "--format", "csv", "-x", "sql select count(*) n from objects where heap = 'zygote'", path)
    if "SQLite" not in run.err:
        tap.equal(run.out.split(), ["n", str(len(by("zygote")))], "small: SQL")
    for packed in ("", " -packed"):
        index = path + ".cairn"
        made = cairn("-x", "index '%s'%s" % (index, packed), path)
        run, got = told(index)
        tap.ok(made.status == 0 and run.status == 0, "small: an index%s" % packed, "%s%s" % (made, run))
        tap.equal(got, m.heap_of, "small: from an index%s" % packed)
        os.unlink(index)
    converted(tap, m, path)
    os.unlink(path)
    none_of_default(tap)


def none_of_default(tap):
    m = Made()
    classes, m.segments[-1] = m.segments[-1], b""
    m.heap(0x41, "app")
    m.add(classes)
    m.thing()
    path = m.write(0x1C)
    run = cairn("--no-index", "-x", "ls * -heap moon", path)
    tap.ok(run.status == 1 and "(there are app)" in run.err, "a heap that no object is in is not named", run)
    os.unlink(path)


def converted(tap, m, path):
    """hprof-conv leaves the records out, so there are no heaps; with -z it leaves out what is not the app's."""
    if not CONV:
        tap.skip("hprof-conv", "it is not installed")
        return
    out = path + ".conv"
    subprocess.run([CONV, path, out], check=True, stdout=subprocess.DEVNULL)
    run = cairn("--no-index", "-x", "ls heap:app", out)
    tap.ok(run.status == 1 and "has only one heap" in run.err, "hprof-conv: there are none", run)
    _, got = told(out, "--no-index")
    tap.equal(sorted(got), sorted(m.heap_of), "hprof-conv: all objects are there")
    tap.ok("heap" not in cairn("--no-index", "-x", "ls *", out).out.split("\n")[0], "hprof-conv: no column")
    subprocess.run([CONV, "-z", path, out], check=True, stdout=subprocess.DEVNULL)
    _, got = told(out, "--no-index")
    tap.ok(set(got) < set(m.heap_of) and all(a in got for a, h in m.heap_of.items() if h == "app"),
           "hprof-conv -z: keeps those of the app", got)
    os.unlink(out)


def hostile(tap):
    m = Made()
    m.heap(0x41, "a\x1b[31mb\nc", shown="a\\x1b[31mb\\nc")
    m.thing()
    m.heap(0x42, "")           # an empty name is none
    m.thing()
    for i in range(300):
        m.heap(0x100 + i, "h%d" % i, shown="h%d" % i)
        m.thing()
    heaps = list(dict.fromkeys(m.heap_of.values()))
    m.heap_of = {a: "others" if heaps.index(h) >= 250 else h for a, h in m.heap_of.items()}
    path = m.write()
    run, got = told(path, "--no-index")
    tap.ok("\x1b" not in run.out, "hostile: a name is escaped", run)
    tap.equal(got, m.heap_of, "hostile: too many heaps count as one")
    run = cairn("--no-index", "-x", "info", path)
    tap.ok("names more than 250 heaps" in run.out + run.err, "hostile: and that is said", run)
    os.unlink(path)


def large(tap, segments):
    """Random ones over many segments, or one that is divided where threads guess."""
    rng = random.Random(7)
    m = Made()
    names = [("app", 0x41), ("zygote", 0x5A), ("image", 0x49)]
    for i in range(40 if segments else 10):
        if segments and i:
            m.segment()
        for _ in range(rng.randrange(4)):
            if rng.random() < 0.8:
                name, letter = rng.choice(names)
                m.heap(letter, name)
            for _ in range(rng.randrange(60, 200)):
                m.thing()
            m.bytes(rng.randrange(100000, 2000000 if not segments else 300000))
    ways = [("--threads", n, "--no-index") for n in ("1", "2", "5")]
    path = look(tap, "%s segments" % ("many" if segments else "one"), m, 0x1C if segments else 0x0C, ways)
    os.unlink(path)


def none(tap):
    m = Made(b"1.0.2")
    m.thing()
    path = m.write()
    for line in ("ls * -heap app", "histo -by heap", "histo heap:app", "histo -heap app"):
        run = cairn("--no-index", "-x", line, path)
        said = run.err.count("\n") == 1 and "has only one heap" in run.err
        tap.ok(run.status == 1 and said, "without: %s" % line, run)
    os.unlink(path)


def kinds_of(path):
    run = cairn("--no-index", "--format", "csv", "-x", "roots -by kind", path)
    return {r["kind"]: int(r["roots"]) for r in csv.DictReader(io.StringIO(run.out)) if r["roots"]}, run


def root_kinds(tap):
    """Each of Android's kinds has a name of its own; what was found unreachable is no root."""
    with_thread = {2, 3, 8, 0x8E}
    m, want = Made(), {}
    for n, (tag, kind) in enumerate(sorted(KINDS.items())):
        for _ in range(n + 1):
            at = m.thing()
            more = struct.pack(">II", 1, 0) if tag in with_thread else bytes(4) if tag in (1, 4, 6) else b""
            m.add(struct.pack(">BI", tag, at) + more)
            want[kind] = want.get(kind, 0) + 1
    lost = m.thing()
    m.add(struct.pack(">BI", 0x90, lost))
    path = m.write()
    got, run = kinds_of(path)
    tap.equal(got, want, "kinds of roots")
    run = cairn("--no-index", "-x", "roots 0x%x" % lost, path)
    tap.ok("0x%x" % lost not in run.out, "what was found unreachable is no root", run)
    os.unlink(path)
    real = os.path.join(DUMPS, "public", "dialer.android-hprof")
    if not os.path.exists(real):
        tap.skip("a dump of a device", "CAIRN_DUMPS has none")
        return
    with open(real, "rb") as f:
        dump = Dump(f.read())
    dump.classes, want, entries = {}, {}, set()
    for tag, body, end in dump.records(-1):
        if tag in KINDS and dump.id(body):  # two handles to an object are one
            entries.add((dump.id(body), KINDS[tag], dump.data[body + 4:end] if tag in with_thread | {4, 6} else b""))
    for _, kind, _ in entries:
        want[kind] = want.get(kind, 0) + 1
    tap.equal(want["Interned string"], 7286, "a device: interned strings, as its README has them")
    tap.equal(kinds_of(real)[0], want, "a device: kinds of roots")
    run = cairn("--no-index", "-x", "leaks", real)
    tap.ok("Interned string" in run.out and "Unknown" not in run.out, "a device: what holds the suspect", run)


def main():
    tap = Tap()
    small(tap)
    root_kinds(tap)
    hostile(tap)
    large(tap, True)
    large(tap, False)
    none(tap)
    tap.done()


main()
