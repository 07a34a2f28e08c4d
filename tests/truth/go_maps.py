#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps of Go 1.24 and later against what the program planted: every entry of every map, and how many."""

import glob
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps, need_libdw, skip_all  # noqa: E402


def rows(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.status == 0 and run.out.strip() else []


def entries(path, name):
    return [(r["key"], r["value"]) for r in rows(path, "entries " + name)]


def wide(i):
    """A key and a value too large for their places: all zeros but one."""
    key, value = ["0"] * 20, ["0"] * 16
    key[3], value[5] = str(i), str(i * i)
    return ("{K: [%s]}" % ", ".join(key), '{V: [%s], S: "wide-%d"}' % (", ".join(value), i))


def check(tap, name, path, m):
    def equal(what, got, want):
        tap.ok(len(got) == len(set(got)) and sorted(got) == sorted(want), "%s: entries of %s" % (name, what),
               "%d, not %d: %s" % (len(got), len(want), sorted(set(got) ^ set(want))[:10]))

    equal("Small", entries(path, "main.Small"), [('"%s"' % k, str(v)) for k, v in m["Small"].items()])
    grown = [(k, v.partition(" ")[2]) for k, v in entries(path, "main.Grown")]
    equal("Grown", grown, [(str(i), '{A: %d, S: "grown-%d"}' % (i, i)) for i in range(m["Grown"]["n"])])
    equal("Deleted", entries(path, "main.Deleted"), [(str(i), '"del-%d"' % i) for i in range(0, 100, 10)])
    equal("Wide", entries(path, "main.Wide"), [wide(i) for i in range(m["Wide"]["n"])])
    equal("Empty", entries(path, "main.Empty"), [])
    equal("Ifaces", entries(path, "main.Ifaces"), [("int 1", 'string "int key"'), ('string "s"', "float64 2.5"),
                                                   ('main.Pair {A: 1, S: "k"}', "[]int len 2 cap 2 [1, 2]")])
    equal("Sets", entries(path, "main.Sets"), [('"%s"' % k, "{}") for k in m["Sets"]])
    inner = {r["key"].strip('"'): dict((k.strip('"'), int(v)) for k, v in entries(path, r["address"]))
             for r in rows(path, "entries main.Nested")}
    tap.equal(inner, m["Nested"], name + ": maps in a map")
    sizes = {}
    for what in ("Small", "Grown", "Deleted", "Wide", "Empty", "Nested", "Sets"):
        head = dict(l.split(None, 1) for l in cairn("-x", "x main." + what, path).out.split("\n\n")[0].splitlines())
        # the head of an empty map may be no object of the heap
        sizes[what] = int(head["size"].replace(",", "")) if "size" in head else head.get("value")
    want = {k: m[k]["n"] if isinstance(m[k], dict) and "n" in m[k] else m[k] if isinstance(m[k], int) else len(m[k])
            for k in sizes}
    tap.equal(sizes, want, name + ": sizes of maps")
    again = [entries(path, "main.Grown -start 100 -length 50"), entries(path, "main.Grown")[100:150]]
    tap.equal(again[0], again[1], name + ": the order is the same each time, and part of the whole")


def check_bare(tap, path):
    """Without the program it is said in one sentence why there are no entries."""
    head = cairn("-x", "x main.Small", path).out.split()
    with tempfile.TemporaryDirectory() as folder:
        bare = shutil.copy(path, folder)
        run = cairn("-x", "entries " + head[1], bare)
    tap.ok(run.status and run.err.count("\n") == 1 and "--exe" in run.err, "without the program: why", run)


def main():
    need_libdw()
    tap = Tap()
    found = False
    for path in sorted(glob.glob(os.path.join(need_dumps(), "today", "gotoday*.dump"))):
        with open(path[:-len(".dump")] + ".manifest.json", encoding="utf-8") as f:
            check(tap, os.path.basename(path)[:-len(".dump")], path, json.load(f))
        check_bare(tap, path)
        found = True
    if not found:
        skip_all("CAIRN_DUMPS holds no dumps of Go 1.24 or later")
    tap.done()


if __name__ == "__main__":
    main()
