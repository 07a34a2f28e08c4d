#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Go's runtime noted of objects and goroutines, against what the programs planted: finalizers."""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SHOP, Tap, cairn, need_dumps, need_libdw, skip_all  # noqa: E402


def rows(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.status == 0 and run.out.strip() else []


def head(path, what):
    lines = cairn("-x", "x " + what, path).out.split("\n\n")[0].splitlines()
    return dict((l.split(None, 1) + [""])[:2] for l in lines)


def check_finalizers(tap, name, path, m):
    """Of the program of all releases: which objects are kept, queued, and being finalized."""
    f = m["finalizers"]
    got = {(r["address"], r["state"]) for r in rows(path, "finalizers") if r["function"] == f["func"]}
    want = {(a, "registered") for a in f["kept"]} | {(a, "queued") for a in f["queued"]}
    tap.equal(sorted(got), sorted(want), name + ": finalizers registered and queued")
    tap.equal((head(path, f["kept"][0]).get("finalizer"), head(path, f["queued"][0]).get("finalizer")),
              (f["func"], f["func"] + " (queued)"), name + ": x tells of a finalizer")
    tap.ok("finalizer" not in head(path, m["order_samples"][0]["addr"]), name + ": and of none")


def check_today(tap, name, path, m):
    """The small values share blocks: all that is told is which blocks, and where in them."""
    found = [r for r in rows(path, "finalizers") if r["function"] == m["Finals"]["function"]]
    variables = [head(path, "main.Finals[%d]" % i) for i in range(m["Finals"]["n"])]
    tap.equal((len(found), {r["state"] for r in found}), (m["Finals"]["n"], {"registered"}), name + ": finalizers")
    tap.equal({r["address"] for r in found}, {v["address"] for v in variables}, name + ": of these objects")
    tap.ok(len({(r["address"], r["offset"]) for r in found}) == len(found), name + ": each of a value of its own", found)
    tap.ok(all(m["Finals"]["function"] in v.get("finalizer", "") for v in variables), name + ": x tells of them",
           variables)


def main():
    need_libdw()
    tap = Tap()
    found = False
    for path in sorted(glob.glob(os.path.join(need_dumps(), "*", "go*.dump"))):
        if "stripped" in path or not os.path.exists(path[:-len(".dump")] + ".manifest.json"):
            continue
        with open(path[:-len(".dump")] + ".manifest.json", encoding="utf-8") as f:
            m = json.load(f)
        name = os.path.basename(path)[:-len(".dump")]
        found = True
        if "finalizers" in m:
            check_finalizers(tap, name, path, m)
        if "Finals" in m:
            check_today(tap, name, path, m)
    run = cairn("-x", "finalizers", SHOP)
    tap.ok(run.status and "does not say which objects" in run.err, "HPROF: says so", run)
    if not found:
        skip_all("CAIRN_DUMPS holds no Go dumps")
    tap.done()


if __name__ == "__main__":
    main()
