#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps with as many classes as two bytes can number, with one more, and with more: each object has its class.

An index has high bits of class numbers (class_high) from 65,537 classes on, and not before.
"""

import csv
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "tools")]
from cairntest import BUILD, Tap, cairn  # noqa: E402
from costly_dumps import FIRST_CLASS, FIRST_OBJECT, REFERENCE, Hprof  # noqa: E402

NUMBERED = 1 << 16  # by two bytes
STEP = 32


def write(path, classes, first):
    """A dump with so many classes: from its own class number `first` on there are instances, each of which holds the one
    before it, and a root the last.  Returns instances by class name, and where the last one is."""
    h = Hprof()
    own, wanted, address = classes - h.classes, {}, FIRST_OBJECT
    for i in range(own):
        name, n = "c/C%05d" % i, 1 + i % 3 if i >= first else 0
        h.class_of(FIRST_CLASS + 16 * i, name, fields=[("before", REFERENCE)], size=16)
        wanted[name.replace("/", ".")] = n
        for _ in range(n):
            h.instance(address, FIRST_CLASS + 16 * i, struct.pack(">Q", address - STEP if address > FIRST_OBJECT else 0))
            address += STEP
    h.heap.append(struct.pack(">BQ", 5, address - STEP))
    with open(path, "wb") as f:
        f.write(h.bytes())
    wanted["java.lang.Class"] = classes
    return wanted, address - STEP


def chunks(path):
    with open(path, "rb") as f:
        data = f.read()
    contents = struct.unpack_from("<Q", data, len(data) - 40)[0]
    return [data[at:at + 16].split(b"\0")[0].decode() for at in range(contents, len(data) - 40, 40)]


def counted(dump, *options):
    run = cairn("--no-config", *options, "--format", "csv", "-x", "histo -all", dump)
    rows = [row for row in csv.DictReader(run.out.splitlines()) if row["class"].startswith(("c.", "java.lang.Class"))]
    return {row["class"]: int(row["objects"]) for row in rows} if run.status == 0 else run


def differ(got, wanted):
    if not isinstance(got, dict):
        return str(got)
    return [(name, got.get(name), n) for name, n in wanted.items() if got.get(name, 0) != n][:5]


def answers(dump, *lines):
    run = cairn("--no-config", *[word for line in lines for word in ("-x", line)], dump)
    return run.status, run.out, run.err


def one(tap, folder, classes, first):
    dump, name = os.path.join(folder, "many.hprof"), "%d classes, instances from %d on" % (classes, first)
    wanted, last = write(dump, classes, first)
    lines = ["inspect 0x%x" % last, "refs 0x%x" % (last - STEP), "dom 0x%x | head 3" % last, "dom -by class | head 5"]
    for options in (["--threads", "1"], ["--threads", "3"], ["--mem", "40M", "--spill", folder]):
        wrong = differ(counted(dump, *options), wanted)
        tap.none(wrong, wanted, "%s: %s: objects by class" % (name, " ".join(options[:2])))
    without, checked = answers(dump, *lines), answers(dump, "check -tree")
    tap.ok(checked[0] == 0, name + ": check", checked[1][-1000:])
    written = cairn("-x", "index", dump)
    has = chunks(dump + ".cairn") if written.status == 0 else []
    tap.ok("class_low" in has and ("class_high" in has) == (classes > NUMBERED), name + ": high bits where needed", has)
    wrong = differ(counted(dump), wanted)
    tap.none(wrong, wanted, name + ": objects by class from an index")
    index = answers(dump, *lines)
    tap.ok(without[0] == 0 and index == without, name + ": from an index the same", str(index)[:500])
    os.remove(dump + ".cairn")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(dir=os.path.join(BUILD, "tests")) as folder:
        one(tap, folder, NUMBERED, 0)
        one(tap, folder, NUMBERED + 1, 0)
        one(tap, folder, NUMBERED + 5000, NUMBERED + 4000)  # few handles while they are read, then high numbers
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
