#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A dump whose records are in another order than their addresses, as ZGC writes them, has the same answers.

The copy is made here: the records of instances and arrays are shuffled, all else stays where it is.
"""

import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SERIES, SHOP, Tap, cairn  # noqa: E402
from hprof import read  # noqa: E402

OBJECTS = {0x21, 0x22, 0x23}
LINES = ["histo", "waste", "waste strings", "waste arrays", "waste objects", "waste boxes", "waste fields", "dups", "strings",
         "strings -i shop", "collections", "collections -by class", "find Order", "find 17", "top | head 30",
         "ls java.lang.String | head 50"]


def shuffled(path, to, seed):
    """Returns how many records were moved."""
    d = read(path)
    d.classes = {}
    data, at = d.data, d.data.index(b"\0") + 13
    kept = [bytes(data[:at])]
    while at < len(data):
        end = at + 9 + d.u4(at + 5)
        if data[at] not in (0x0C, 0x1C, 0x2C):
            kept.append(bytes(data[at:end]))
        at = end
    heap = [(tag in OBJECTS, bytes(data[body - 1:end])) for tag, body, end in d.records(-1)]
    moved = [record for is_object, record in heap if is_object]
    random.Random(seed).shuffle(moved)
    records = b"".join([record for is_object, record in heap if not is_object] + moved)
    with open(to, "wb") as f:
        f.write(b"".join(kept) + b"\x1c\0\0\0\0" + len(records).to_bytes(4, "big") + records + b"\x2c" + b"\0" * 8)
    return len(moved)


def answers(path, *options):
    run = cairn("--no-index", *options, "-n", *(word for line in LINES for word in ("-x", line)), path)
    return run.status, run.out


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.hprof")
        for path in [SHOP] + list(SERIES)[:1]:
            moved = shuffled(path, copy, 4711)
            tap.ok(moved > 1000, "%s: many records are moved" % os.path.basename(path), moved)
            want = answers(path)
            tap.ok(want[0] == 0 and len(want[1].splitlines()) > 500, "it is read", want)
            for options in ([], ["--threads", "1"]):
                got = answers(copy, *options)
                tap.equal(got[1], want[1], "the same answers " + " ".join(options))
    tap.done()


main()
