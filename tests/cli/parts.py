#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps that HotSpot wrote in parallel and did not finish: the file and its parts, each object of them once.

The sample's records are dealt to parts here as HotSpot deals them; those that are expected are those that were dealt.
"""

import gzip
import io
import os
import struct
import sys
import tarfile
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import hprof  # noqa: E402
import packed  # noqa: E402
from cairntest import SHOP, Tap, cairn  # noqa: E402

PARTS, SEGMENT = 4, 9000
END = struct.pack(">BII", 0x2C, 0, 0)
OBJECTS = (0x20, 0x21, 0x22, 0x23)


class Part:
    """Segments, and where in them which object's record ends."""

    def __init__(self, records):
        self.data, self.ends, segment, held = b"", [], b"", []
        for record, address in records + [(None, None)]:
            if segment and (record is None or len(segment) + len(record) > SEGMENT):
                self.data += struct.pack(">BII", 0x1C, 0, len(segment))
                self.ends += [(len(self.data) + end, a) for end, a in held]
                self.data += segment
                segment, held = b"", []
            if record is not None:
                segment += record
                if address:
                    held.append((len(segment), address))

    def objects(self, size=None):
        return [a for end, a in self.ends if size is None or end <= size]


def split():
    """The bytes before the objects, and the parts."""
    with open(SHOP, "rb") as f:
        data = f.read()
    dump = hprof.Dump(data)
    dump.classes = {}
    records = []
    for tag, body, after in dump.records(-1):
        records.append((data[body - 1:after], dump.id(body) if tag in OBJECTS else None))
    first = [r for r in records if r[1] is None or r[0][0] == 0x20]
    rest = [r for r in records if not (r[1] is None or r[0][0] == 0x20)]
    n = len(rest) // PARTS + 1
    dealt = [rest[k * n:(k + 1) * n] for k in range(PARTS)]
    dealt[-1] = first + dealt[-1]  # roots and classes come from any
    return data[:dump.heaps[-1][0][0] - 9], [Part(d) for d in dealt]


def blocks(data):
    """Packed as HotSpot does it with -gz: a member for each block."""
    return b"".join(gzip.compress(data[at:at + 4096], 1) for at in range(0, len(data), 4096))


def inflated(data):
    """What can be had of members of which the last may be cut."""
    out = b""
    while data:
        z = zlib.decompressobj(31)
        out += z.decompress(data)
        data = z.unused_data
    return out


class Case:
    def __init__(self, tap, head, parts):
        self.tap, self.head, self.parts = tap, head, parts

    def run(self, what, file, parts, expected, status=4, words=".p"):
        """file: its bytes; parts: bytes by number; expected: addresses, in any order."""
        self.files("packed, " + what, "a.hprof.gz", blocks(file), {k: blocks(d) for k, d in parts.items()}, expected,
                   status, words)
        return self.files(what, "a.hprof", file, parts, expected, status, words)

    def files(self, what, name, file, parts, expected, status=4, words=".p"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            for name, data in [(path, file)] + [("%s.p%d" % (path, k), d) for k, d in parts.items()]:
                with open(name, "wb") as f:
                    f.write(data)
            r = cairn("--format", "csv", "-x", "sql SELECT address FROM objects", path)
            got = sorted(int(line.split(",")[0], 16) for line in r.out.splitlines()[1:] if line)
            self.tap.ok(r.status == status and words in r.err and (status or not r.err), what + ": told", r.err[:600])
            self.tap.equal(got, sorted(expected), what + ": each object once")
        return r


def packed_cuts(c, head, parts, every):
    """Where the streams end, and where one is damaged."""
    gz = {k: blocks(p.data) for k, p in enumerate(parts)}
    head, left = blocks(head), {k: gz[k] for k in (1, 2, 3)}
    for m in (0, 1, 10, 18, 500, 20000, len(gz[1]) // 2, len(gz[1]) - 1, len(gz[1])):
        c.files("while the second was appended, %d packed bytes" % m, "a.hprof.gz", head + gz[0] + gz[1][:m], left,
                every, words="parts .p1 ")
    for k, n in ((0, 5000), (1, 9), (2, 40), (3, len(gz[3]) - 1), (1, len(gz[1]) // 2)):
        some = {**gz, k: gz[k][:n]}
        expected = [a for i, p in enumerate(parts) for a in p.objects(len(inflated(gz[k][:n])) if i == k else None)]
        c.files("the VM died within packed part %d, %d bytes" % (k, n), "a.hprof.gz", head, some, expected)
    after = len(blocks(parts[1].data[:8192]))
    bad = gz[1][:after + 10] + b"\xff" * 8 + gz[1][after + 18:]
    expected = [a for i, p in enumerate(parts) for a in p.objects(8192 if i == 1 else None)]
    c.files("a damaged one", "a.hprof.gz", head, {**gz, 1: bad}, expected, words=".p1 (damaged) .p2")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.hprof.gz")
        for name, d in (("", head), (".p0", gz[0]), (".p1", gz[1])):
            with open(path + name, "wb") as f:
                f.write(d)
        for k in (0, 1):
            r = cairn("-x", "info", "%s.p%d" % (path, k))
            c.tap.ok(r.status == 3 and "open a.hprof.gz, which includes all parts" in r.err, "a packed part named", r)
        r = cairn("-x", "index", path)
        c.tap.ok(r.status == 2 and "consists of several parts" in r.err and len(os.listdir(folder)) == 3, "no index of packed parts", r)
        r = cairn("-x", "dumps", folder)
        c.tap.ok(r.out.count("a.hprof.gz") == 1 and ".p0" not in r.out, "parts are no dumps in a directory", r)


def tar(members):
    with io.BytesIO() as f:
        with tarfile.open(fileobj=f, mode="w") as t:
            for name, content in members:
                packed.add(t, name, content)
        return f.getvalue()


def in_archives(tap, head, data, every):
    """The dump and its parts are members, before or behind it, packed themselves or not."""
    plain = [("logs/a.hprof", head)] + [("logs/a.hprof.p%d" % k, d) for k, d in data.items()]
    of_gz = [(name.replace(".hprof", ".hprof.gz"), blocks(d)) for name, d in plain]
    others = [("logs/b.hprof.p0", data[0]), ("logs/a.hprof.p7", b"text"), ("a.hprof.p5", data[1])]
    made = {
        "a.tar": tar(plain), "b.tar": tar(plain[::-1]), "c.tgz": gzip.compress(tar(of_gz)), "d.zip": packed.zip_of(plain + others),
        "e.zip": packed.zip_of(of_gz, 0), "f.tar": tar([("in.zip", packed.zip_of(plain))]),
        "g.tgz": gzip.compress(tar(plain)), "h.tar": tar([("logs/a.hprof.p0", b"\x1c\0\0\0\0\0\0\0\0")] + plain),
    }
    names = "parts .p0 .p1 .p2 .p3\n"
    with tempfile.TemporaryDirectory() as folder:
        for name, content in made.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
            for path in (name, name + "::logs/a.hprof" + (".gz" if name[0] in "ce" else "")):
                if name == "f.tar":
                    path = "f.tar::in.zip" + path[5:]
                r = cairn("--format", "csv", "-x", "sql SELECT address FROM objects", os.path.join(folder, path))
                got = sorted(int(line.split(",")[0], 16) for line in r.out.splitlines()[1:] if line)
                tap.ok(r.status == 4 and names in r.err and got == sorted(every), "in an archive: " + path, r.err)
        for name, content in made.items():
            r = cairn("--format", "json", "-x", "info", os.path.join(folder, name.replace("f.tar", "f.tar::in.zip")))
            tap.ok('"file_size": %d,' % len(content) in r.out, "its size is that of the archive: " + name, r.out[:300])
        r = cairn("--format", "csv", "-x", "sql SELECT address FROM objects", "-", stdin=made["c.tgz"])
        tap.ok(r.status == 4 and names in r.err and r.out.count("0x") == len(every), "in an archive that comes through a pipe", r.err)
        r = cairn("-x", "info", os.path.join(folder, "a.tar::logs/a.hprof.p1"))
        tap.ok(r.status == 3 and "a part (.p0, .p1 ...) of an unfinished dump" in r.err, "a part in an archive named", r)


def apart(tap, head, data):
    """What lacks a part, or has none, says so."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.hprof")
        for names, content in (("names", head), ("half of them", head[:7000])):
            with open(path, "wb") as f:
                f.write(content)
            r = cairn("-x", "info", path)
            tap.ok(r.status == 4 and "before the objects" in r.err, "alone, " + names, r)
            tap.equal(".p0" in r.err, names == "names", "a file cut among its names may be any, alone, " + names)
        for k, content in ((1, data[1]), (3, b"")):
            with open("%s.p%d" % (path, k), "wb") as f:
                f.write(content)
        r = cairn("-x", "info", path)
        tap.ok(r.status == 4 and "parts .p1 .p3 (empty); other parts are missing; names" in r.err, "two of four", r)
        for k, d in data.items():
            with open("%s.p%d" % (path, k), "wb") as f:
                f.write(blocks(d) if k == 2 else d)
        r = cairn("-x", "check", path)
        tap.ok(" .p2 .p3; names" in r.err and r.out.count(" ok ") > 10 and "broken" not in r.out, "one of them packed: what is loaded keeps its promises", r)


def main():
    tap = Tap()
    head, parts = split()
    every = [a for p in parts for a in p.objects()]
    data = {k: p.data for k, p in enumerate(parts)}
    c = Case(tap, head, parts)
    tap.ok(len(set(every)) == len(every) > 3000 and all(len(d) > 3 * SEGMENT for d in data.values()), "dealt")
    c.run("while they were written", head, data, every, words="parts .p0 .p1 .p2 .p3\n")
    c.run("while its names were written, too", head[:7000], data, every, words="parts .p0 .p1 .p2 .p3; names that were not written are unknown\n")
    c.run("all are in it", head + b"".join(data.values()) + END, data, every, status=0, words="")
    c.run("the end was written before they were appended", head + END, data, every, words="parts .p0 .p1 .p2 .p3\n")
    c.run("and the first was appended behind it", head + END + data[0], {k: data[k] for k in (1, 2, 3)}, every,
          words="parts .p1 .p2 .p3\n")
    left = {k: data[k] for k in (1, 2, 3)}
    for m in (0, 1, 8, 9, 10, 64, SEGMENT, SEGMENT + 20, len(data[1]) // 2, len(data[1]) - 1):
        c.run("while the second was appended, %d bytes" % m, head + data[0] + data[1][:m], left, every,
              words="parts .p1 .p2 .p3\n")
    c.run("appended and not deleted", head + data[0] + data[1], left, every, words="parts .p1 (included) .p2 .p3\n")
    c.run("two of them", head + data[0] + data[1] + data[2][:777], left, every, words=".p1 (included) .p2 .p3\n")
    size = {k: len(d) for k, d in data.items()}
    for k, n in ((0, 5000), (1, 9), (2, 4), (3, size[3] - 1), (1, size[1] // 2), (2, size[2] - 3)):
        some = {**data, k: data[k][:n]}
        expected = [a for i, p in enumerate(parts) for a in p.objects(n if i == k else None)]
        c.run("the VM died within part %d, %d bytes" % (k, n), head, some, expected)
    some = {k: data[k] for k in (0, 1, 3)}
    c.run("one is missing", head, some, [a for k in some for a in parts[k].objects()], words="other parts are missing")
    for kept in ((0, 1, 3), (1, 3), (0, 3)):  # the one at the end whole, or cut as well
        for last in (data[3], data[3][:size[3] // 2]):
            some = {k: data[k] for k in kept[:-1]}
            expected = [a for k in some for a in parts[k].objects()] + parts[3].objects(len(last))
            r = c.run("of 4 the parts %s" % (kept,), head, {**some, 3: last}, expected, words="parts are missing")
            tap.ok("all is true up to" not in r.err, "which are the beginning of nothing", r.err)
    some = {k: data[k] for k in (0, 1, 3)}
    c.run("a file of such a name that is none", head, {**some, 2: b"text"},
          [a for k in some for a in parts[k].objects()], words="parts .p0 .p1 .p3; other parts are missing")
    packed_cuts(c, head, parts, every)
    in_archives(tap, head, data, every)
    in_archives(tap, head + END, data, every)
    apart(tap, head, data)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.hprof")
        for name, d in (("", head), (".p0", data[0]), (".p1", data[1])):
            with open(path + name, "wb") as f:
                f.write(d)
        r = cairn("-x", "index", path)
        tap.ok(r.status == 2 and "consists of several parts" in r.err and len(os.listdir(folder)) == 3, "no index of parts", r)
        r = cairn("-x", "redact %s/b.hprof" % folder, path)
        tap.ok(r.status == 2 and len(os.listdir(folder)) == 3, "and no copy", r)
    for k in (0, 3):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.hprof")
            with open("%s.p%d" % (path, k), "wb") as f:
                f.write(data[k])
            r = cairn("-x", "info", "%s.p%d" % (path, k))
            tap.ok(r.status == 3 and "a.hprof, which has the names, is missing" in r.err, "a part alone", r)
            with open(path, "wb") as f:
                f.write(head)
            r = cairn("-x", "info", "%s.p%d" % (path, k))
            tap.ok(r.status == 3 and "open a.hprof, which includes all parts" in r.err, "a part that is named", r)
    tap.done()


main()
