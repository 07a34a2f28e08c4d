#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is answered before references are read is what is answered afterwards; and they are not read for it."""

import glob
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, LONG, MKDUMP, SOURCE, Run, Tap, cairn, some  # noqa: E402

LINES = ("histo", "histo -by package", "histo -by loader", "histo -by super", "histo java.*", "histo -sort objects | head 5",
         "ls java.lang.String | head 7", "ls byte[] | head 5", "ls * -sort shallow | head 9",
         "ls java.util.* | head 5", "ls java.lang.Class | head 3",
         "ls com.*.Order | grep value", "histo | sort retained | head 3", "tree | head 20", "tree -by package", "duplicate-classes", "props",
         "columns histo", "info -brief | cut objects,shallow,classes,instances,format,vm,cannot_tell")
MOST = 12 << 20  # bytes of a dump
OF_KIND = 3 if LONG else 1  # dumps of a folder and an ending


def dumps():
    found = [os.path.join(SOURCE, "data", name) for name in os.listdir(os.path.join(SOURCE, "data"))]
    if DUMPS:
        found += glob.glob(os.path.join(DUMPS, "**", "*"), recursive=True)
    wanted = (".phd", ".hprof", ".phd.gz", ".hprof.gz", ".dump", ".txt")
    kept, of_kind = [], {}
    for path in sorted(found):
        kind = os.path.dirname(path), os.path.splitext(path)[1]
        if os.path.isfile(path) and path.endswith(wanted) and os.path.getsize(path) < MOST and of_kind.get(kind, 0) < OF_KIND:
            of_kind[kind] = of_kind.get(kind, 0) + 1  # some of each folder
            kept.append(path)
    return some(kept, 2)


def answers(lines, dump):
    """What is printed of the lines, without what a first info line is told."""
    got = cairn("--format", "jsonl", "--batch", *(word for line in lines for word in ("-x", line)), dump)
    return got, [row for row in got.out.split("\n") if not row.startswith('{"format":')]


def check_same(t, dump):
    """The lines alone, and behind one that has everything read."""
    alone, rows = answers(LINES, dump)
    after, same = answers(("info",) + LINES, dump)
    if alone.status == 3:  # no dump that can be read
        return
    t.ok(rows == same and (alone.status, alone.err) == (after.status, after.err), dump, "".join(
        "- %s\n+ %s\n" % pair for pair in zip(rows, same) if pair[0] != pair[1])[:2000] or (alone.err + after.err))


def check_not_read(t, folder):
    """With memory for objects alone nothing is missing, until a line asks for references."""
    big = os.path.join(folder, "big.phd")
    made = Run([MKDUMP, "bench", "--objects", "1000000", "--phd", big])
    t.ok(made.status == 0, "a larger dump is made", made)
    got = cairn("--spill", "none", "--mem", "24M", "-x", "histo", big)
    t.ok(got.status == 0 and not got.err, "a histogram needs no memory for references", got)
    got = cairn("--spill", "none", "--mem", "24M", "-x", "info -brief", "-x", "tree | head 3", "-x", "help histo", big)
    t.ok(got.status == 0 and not got.err, "nor do others that say so", got)
    got = cairn("--spill", "none", "--mem", "24M", "-x", "histo | head 1", "-x", "refs #1", big)
    t.ok(got.status not in (0, 4) and got.out.count("\n") == 2 and got.err.count("did not fit") == 1 and
         "references are not loaded" in got.err, "refs does, and what there is stays", got)
    got = cairn("--spill", "none", "--mem", "24M", "-x", "histo | head 1", "-x", "info | grep -i format", big)
    t.ok(got.status == 4 and "references are not loaded" in got.err, "info tells of them where they fit", got)


def main():
    t = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_not_read(t, folder)
    for dump in dumps():
        check_same(t, dump)
    t.done()


if __name__ == "__main__":
    main()
