#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps of Go 1.22 and later: what is an object, and what objects say of themselves.

Expected: the dump's own counts, what the programs planted, and a second, slower way to tell objects from
what is none: all records of a page are looked at before any is judged.
"""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps, need_libdw  # noqa: E402
from godump import records  # noqa: E402

PAGE = 8192


def ask(path, *commands):
    runs = [cairn("--format", "json", "-x", c, path) for c in commands]
    return runs[0], [json.loads(r.out) if r.status == 0 else [] for r in runs]


def objects_of(path, release):
    """address: whether it begins with a header."""
    pages, found = {}, {}
    marks = 128 if release >= 26 else 0
    for r in records(path):
        if r.kind == "object":
            pages.setdefault(r.address // PAGE, []).append((r.address, len(r.contents), bool(r.fields)))
    for page in pages.values():
        sure = [f for a, n, f in page if n > 512 or a % PAGE + n <= PAGE - 128 - marks]
        for a, n, fields in page:
            reserve = (128 if any(sure) else 0) + (marks if n >= 16 else 0)
            if n > 512 or a % PAGE + n <= PAGE - reserve:
                found[a] = fields and 512 < n <= 32768
    return found


def check_objects(tap, name, path, release):
    want = objects_of(path, release)
    run, answers = ask(path, "info", "ls * | cut address")
    info = answers[0]
    got = {int(r["address"], 16) for r in answers[1]}
    tap.equal([info["objects"], info["shallow"], info["warnings"]], [info["HeapObjects"], info["HeapAlloc"], 0],
              name + ": as many objects and bytes as the program counted")
    tap.ok(got == set(want), name + ": the same objects as in the second way", sorted(got ^ set(want))[:5] or run)
    n = sum(want.values())
    typed = [w for w in info["typed_by"].split(", ") if w.startswith("header ")]
    # of runtime.m DWARF may lack the padded type that is allocated
    threads = len(ask(path, "ls runtime.m | cut address")[1][0])
    tap.ok(n > 10 and typed and n - threads <= int(typed[0].split()[1]) <= n,
           "%s: %d objects tell their types" % (name, n), info["typed_by"])
    share = 100.0 * info["typed_shallow"] / info["shallow"]
    tap.ok(share >= 99.9, name + ": 99.9 % of the bytes have a type", share)


def check_planted(tap, name, path, m):
    at = {k: int(m[k].get("at") or m[k]["backing at"], 16) for k in ("Chain", "Ptrs", "Structs", "Array", "TheHuge")}
    run, answers = ask(path, "ls main.Big | cut address,shallow", *["ls %#x | cut address,class" % a for a in at.values()])
    tap.equal(len(answers[0]), m["Chain"]["count of main.Big on the heap outside of the channel"], name + ": main.Big")
    got = {k: (int(rows[0]["address"], 16), rows[0]["class"]) for k, rows in zip(at, answers[1:])}
    want = {"Chain": (at["Chain"] - 8, "main.Big"), "Ptrs": (at["Ptrs"] - 8, "[]*main.Pair"),
            "Structs": (at["Structs"] - 8, "[]main.Pair"), "Array": (at["Array"] - 8, "[100]main.Pair"),
            "TheHuge": (at["TheHuge"], "main.Huge")}
    tap.equal(got, want, name + ": values behind headers are found by their addresses")


def main():
    need_libdw()
    tap = Tap()
    paths = sorted(glob.glob(os.path.join(need_dumps(), "today", "go*.dump")))
    if not paths:
        tap.skip("dumps of Go 1.22 and later", "none in CAIRN_DUMPS")
    for path in paths:
        with open(path[:-len(".dump")] + ".manifest.json", encoding="utf-8") as f:
            manifest = json.load(f)
        name = os.path.basename(path)[:-len(".dump")]
        version = manifest.get("go") or manifest["environment"]["version"]
        check_objects(tap, name, path, int(version.split(".")[1]))
        if "Chain" in manifest:
            check_planted(tap, name, path, manifest)
    tap.done()


if __name__ == "__main__":
    main()
