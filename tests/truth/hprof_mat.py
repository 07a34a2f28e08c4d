#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""HPROF dumps of HotSpot against Eclipse MAT's results: objects, what is reachable, classes, roots.

MAT adds one object, a boot class loader at address 0.  It keeps roots that threads hold apart from
those of the VM and lists only the latter.
"""

import glob
import gzip
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps  # noqa: E402

LOCAL = ("JNI local", "Java local", "Thread block", "Native stack")
LOCAL_BY_MAT = ("JNI Local", "Java Local", "Thread Block", "Native Stack")


def load(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def result(path, command, *options):
    run = cairn("-x", "set weak on", "-x", command, "--format", "json", *options, path)
    return json.loads(run.out) if run.status == 0 else {"status": run.status, "err": run.err}


def rows(mat):
    """Objects of each class by MAT, those it threw away included."""
    n = {}
    for r in mat["histogram"] + (mat.get("discarded_unreachable") or {}).get("histogram", []):
        name = r["class"]
        n[name] = n.get(name, 0) + r["objects"]
    n["java.lang.ClassLoader"] = n.get("java.lang.ClassLoader", 0) - 1
    return {k: v for k, v in n.items() if v}


def ours(path, *options):
    n = {}
    for r in result(path, "histo", *options):
        head, slash, tail = r["class"].rpartition("/")
        name = head + "." + tail if slash and tail[:1].isdigit() else r["class"]
        n[name] = n.get(name, 0) + r["objects"]
    return {k: v for k, v in n.items() if v}


def check(tap, path, truth, *options):
    mat = load(truth)
    name = os.path.basename(truth)
    info = result(path, "info", "--sizes", "mat", *options)  # and MAT's model: nothing keeps classes of arrays
    thrown = (mat.get("discarded_unreachable") or {}).get("objects", 0)
    tap.equal(info.get("objects"), mat["objects"] + thrown - 1, "%s: objects" % name)
    if "keep-unreachable" not in name:
        if "hprofagent" not in name:  # with constants, which MAT leaves out: hprof_graph.py holds both numbers
            tap.equal(info.get("reachable_objects"), mat["objects"] - 1, "%s: reachable" % name)
        kinds = {}
        for r in result(path, "roots", *options):
            if r["kind"] not in LOCAL:
                kinds.setdefault(int(r["address"], 16), set()).add(r["kind"].lower())
        want = {}
        for r in mat["roots"]:
            # Address 0: a thread without an object, whose own roots become the VM's in MAT.
            kept = {t.lower() for t in r["types"] if t not in LOCAL_BY_MAT}
            if kept and int(r["address"], 16):
                want[int(r["address"], 16)] = kept
        tap.equal(kinds, want, "%s: roots and their kinds" % name)
        tap.equal(info.get("created"), mat["creation_date"][:19] + "Z", "%s: created" % name)
    tap.equal(ours(path, *options), rows(mat), "%s: objects per class" % name)


def main():
    hotspot = os.path.join(need_dumps(), "hotspot")
    tap = Tap()
    n = 0
    for truth in sorted(glob.glob(os.path.join(hotspot, "*.json.gz"))):
        path, _, rest = truth.partition(".mat")
        options = []
        if path.endswith((".heap1", ".heap2")):
            options = ["--dump", path[-1]]
            path = path[:-6]
        if os.path.exists(path):
            check(tap, path, truth, *options)
            n += 1
    tap.ok(n >= 10, "there are results of MAT in hotspot/", n)
    tap.done()


main()
