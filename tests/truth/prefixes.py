#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A dump that was cut says so, wherever it was cut: every format, every byte.

A cut dump either cannot be read at all (status 3), and then so in its first bytes only, or it is read
up to the cut (status 4) and names a byte at or before it.  Status 0 belongs to the whole dump; where a
format cannot tell a cut, the lengths at which it cannot follow from how the dump was made.
"""

import gzip
import os
import shutil
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "tools")]
from cairntest import BUILD, SAMPLE_TEXT, Run, Tap, make_dump  # noqa: E402
from costly_dumps import FIRST_OBJECT, OBJECT, Hprof  # noqa: E402

PREFIXES = os.path.join(BUILD, "tests", "tools", "prefixes")


def classic(line_end="\n"):
    """The first records of the sample, and the totals that they would have."""
    with open(SAMPLE_TEXT, encoding="utf-8") as f:
        lines = f.read().split("\n")
    records = 40
    head = lines[:1 + 2 * records]
    listed = sum(line.count("0x") for line in head[2::2])
    return line_end.join(head + [
        "// Breakdown - Classes: 0, Objects: %d, ObjectArrays: 0, PrimitiveArrays: 0" % records,
        "// EOF:  Total 'Objects',Refs(null) : %d,%d(0)" % (records, listed), ""])


def hprof():
    h = Hprof()
    h.frame(1)
    h.trace(1, [1, 1])
    h.thread(FIRST_OBJECT, 1, 1)
    h.array(FIRST_OBJECT + 64, [FIRST_OBJECT, 0, OBJECT])
    h.class_of(0x100000, "a/B", fields=[("next", 2), ("n", 10)])
    for i in range(1, 8):
        h.instance(FIRST_OBJECT + 128 * i + 8, 0x100000, struct.pack(">QI", FIRST_OBJECT, i))
    return h


def one_record(h):
    """The heap as one record that tells its length, as JDK 5 to 8 write it, with two records behind it:
    the bytes, and the lengths at which nothing shows that something is missing."""
    heap = b"".join(h.heap)
    data = b"".join(h.top) + struct.pack(">BII", 0x0C, 0, len(heap)) + heap
    complete = [len(data)]
    for tag, body in ((0x01, struct.pack(">Q", 999) + b"late"), (0x07, bytes(24))):
        data += struct.pack(">BII", tag, 0, len(body)) + body
        complete.append(len(data))
    return data, complete


def dumps(folder):
    """Name, bytes, the lengths that count as whole, the longest prefix that may be refused."""
    def made(kind, seed, ending):
        prefix, run = make_dump(folder, kind, seed)
        if run.status != 0:
            raise SystemExit(str(run))
        with open(prefix + ending, "rb") as f:
            return f.read()

    def whole(name, data, refused, less=0):
        return name, data, list(range(len(data) - less, len(data) + 1)), refused
    phd = made("random", 2, ".phd")
    segments = hprof().bytes()
    text = classic()
    yield whole("phd", phd, 200)
    # the end of the last line alone may be missing: the totals end in a parenthesis
    yield whole("classic", text.encode(), 100, 1)
    yield whole("classic, CR LF", classic("\r\n").encode(), 100, 2)
    yield whole("classic, EBCDIC", text.encode("cp037"), 100, 1)
    yield whole("hprof, segments", segments, 32)
    yield ("hprof, one record", *one_record(hprof()), 32)
    yield whole("go", made("go", 3, ".dump"), 16)
    for name, data in (("phd", phd), ("classic", text.encode()), ("hprof", segments)):
        yield whole(name + ", gzip", gzip.compress(data, mtime=0), 200)
    yield whole("phd, two gzip members", gzip.compress(phd[:2000], mtime=0) +
                gzip.compress(phd[2000:], mtime=0), 200)


def faults(lines, size, whole, refused):
    if [int(line[0]) for line in lines] != list(range(size, 0, -1)):
        return ["not a line for each length: %d lines for %d bytes" % (len(lines), size)]
    wrong = []
    for length, status, offset, _, why in lines:
        length = int(length)
        if status == "0":
            good = length in whole and not why
        elif status == "3":
            good = length <= refused and why
        else:
            # the byte of the dump; of one in gzip that cannot be compared with the file's
            good = length not in whole and offset != "-" and " byte " in why
        if not good:
            wrong.append("%d: status %s, byte %s: %s" % (length, status, offset, why))
    return wrong


def main():
    tap = Tap()
    folder = tempfile.mkdtemp(prefix="prefixes.", dir=os.path.join(BUILD, "tests"))
    try:
        for name, data, whole, refused in dumps(folder):
            path = os.path.join(folder, "dump")
            with open(path, "wb") as f:
                f.write(data)
            run = Run([PREFIXES, path])
            lines = [line.split(" ", 4) for line in run.out.split("\n") if line]
            wrong = faults(lines, len(data), whole, refused)
            tap.ok(run.status == 0 and not wrong, "%s: %d cuts" % (name, len(data) - 1),
                   "\n".join(["%d of them" % len(wrong)] + wrong[:12]))
            if "gzip" not in name:
                named = [line for line in lines if line[2] != "-"]
                late = [line for line in named if int(line[2]) > int(line[0])]
                tap.none(late[:5], named, "%s: no byte behind the cut is named" % name)
    finally:
        shutil.rmtree(folder)
    tap.done()


main()
