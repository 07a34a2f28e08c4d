#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged Go dumps: all that is whole is there, what is missing is said in one sentence.

expected.json tells how many records stand before the damage: they must be there, and the graph that
is made of them must hold together.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import godump  # noqa: E402
from cairntest import DUMPS, GO, Tap, broken_dumps, cairn  # noqa: E402

WHOLE, GOROUTINES = 4935, 95  # of the dump that was damaged

UNREADABLE = {"empty", "g-cut-in-header", "g-new-version"}
# Nothing is missing but what a warning tells; "" where there is nothing to warn of.
HARMLESS = {"g-field-outside": "1 pointer outside of it", "g-field-unaligned": "not aligned",
            "g-frame-without-goroutine": "a stack frame without a goroutine", "g-trailing-garbage": "1000 bytes follow",
            "g-duplicate-object": "two records", "g-bigendian-wrong": "none of the 8411 pointers",
            "g-no-data": "", "g-go1.5": ""}
# All objects are there, but no reference can be read.
NO_POINTERS = {"g-no-params", "g-ptrsize-0", "g-ptrsize-3", "g-ptrsize-4-wrong"}
# What stands before the damage, where expected.json does not tell.
OBJECTS = {"g-old-version": 0, "g-text": 0}
# Which byte the sentence must name.
BYTES = {"g-cut-in-object": 267938, "g-cut-in-varint": 267938, "g-cut-between-records": 267938,
         "g-cut-in-fieldlist": 272288, "g-cut-in-frame": 1929870, "g-cut-in-memstats": 2279361,
         "g-no-eof": 2279711, "g-unknown-tag": 267938, "g-huge-object": 267938,
         "g-big-object": 267938, "g-bitflip-length": 267938, "g-overlong-varint": 267938,
         "g-bad-fieldkind": 272288, "g-header-only": 16, "g-text": 16}


def one_sentence(run, name):
    lines = [line for line in run.err.splitlines() if line]
    good = len(lines) == 1 and name in lines[0] and not lines[0].endswith(".")
    return good and (run.status == 3 or re.search(r"byte \d+", lines[0]))


def check_readable(tap, name, short, run, want):
    info = json.loads(run.out or "{}")
    objects, threads = info.get("objects"), info.get("threads") or 0
    if short in HARMLESS:
        tap.equal((run.status, objects, threads), (0, WHOLE, GOROUTINES), name + ": all is there")
        said = info["warning_text"] or ""
        tap.ok(HARMLESS[short] in said and bool(HARMLESS[short]) == bool(said),
               name + ": and what is odd is said", info["warning_text"])
        return
    tap.ok(run.status == 4 and one_sentence(run, name), name + ": read in part, one sentence", run)
    if short in NO_POINTERS:
        tap.equal((objects, threads, info["references"]), (WHOLE, GOROUTINES, 0),
                  name + ": all objects, no references")
        return
    tap.equal((objects, threads), (want.get("whole_objects", OBJECTS.get(short)), want.get("goroutines", 0)),
              name + ": what stands before the damage")
    if short in BYTES:
        tap.equal(info["true_up_to"], BYTES[short], name + ": the byte up to which all is true")


def roots_missing(tap):
    """A dump that ends before its variables lacks the roots: what they hold is unknown, and nobody is accused."""
    with open(GO, "rb") as f:
        data = f.read()
    bss = data.index(next(r.contents for r in godump.records(GO) if r.kind == "bss"))
    for at, missing in ((bss // 2, True), (bss, True), (len(data) - 9, False)):
        with tempfile.TemporaryDirectory() as folder:
            path, name = os.path.join(folder, "go.dump"), "truncated at byte %d" % at
            with open(path, "wb") as f:
                f.write(data[:at])
            suspects = json.loads(cairn("--format", "json", "-x", "leaks", path).out)
            info = json.loads(cairn("--format", "json", "-x", "info", path).out)
            said = cairn("-x", "leaks", path).out
        tap.equal((not suspects, info["reachable_objects"] is None, "GC roots are in the part" in said), (missing,) * 3,
                  name + ": suspects just with variables, and what is reachable")


def main():
    tap = Tap()
    roots_missing(tap)
    for path, name, short, want in broken_dumps(tap, ".dump", 29):
        run = cairn("-x", "info", "--format", "json", "--mem", "2G", path, timeout=20)
        if short in UNREADABLE:
            tap.ok(run.status == 3 and one_sentence(run, name), name + ": refused with a reason", run)
            continue
        check_readable(tap, name, short, run, want)
        again = cairn("-x", "check -tree", "-x", "threads", "-x", "roots", "--mem", "2G", path, timeout=20)
        tap.ok(again.status in (0, 1, 4) and "broken" not in again.out,
               name + ": what was read holds together", again)
    # go1.5 loses the names of types that have a package: the objects are those of the dump that has them
    folder = os.path.join(DUMPS, "found", "reports", "09-go15-type-names")
    for name in ("good", "bad") if os.path.isdir(folder) else ():
        run = cairn("-x", "histo", "--format", "json", os.path.join(folder, "go15-%s.dump" % name))
        rows = json.loads(run.out or "[]")
        tap.equal((run.status, {r["class"]: (r["objects"], r["shallow"]) for r in rows}),
                  (0, {"64 B {}": (1, 64), "32 B {ptr@0}": (1, 32)}), "types without names: " + name)
    if not os.path.isdir(folder):
        tap.skip("types without names", "CAIRN_DUMPS has none")
    tap.done()


if __name__ == "__main__":
    main()
