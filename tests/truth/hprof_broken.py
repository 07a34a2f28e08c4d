#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged HPROF dumps: all that is whole is there, what is missing is said, nothing ends badly.

expected.json tells how many records stand before the damage.  Where the damage costs nothing, or the
records behind it are found again, there are more.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, broken_dumps, cairn  # noqa: E402

WHOLE = 27609  # objects of the dump that was damaged

# Damage that takes nothing away: all objects, and no worse than a warning.
HARMLESS = {"h-bitflip-segment-length", "h-huge-length", "h-zero-length-segment", "h-unknown-toptag",
            "h-invalid-utf8", "h-trailing-garbage", "h-superclass-cycle", "h-superclass-self",
            "h-superclass-missing", "h-unknown-class"}
ONE_LESS = {"h-duplicate-id", "h-null-id"}
# Strings are lost, objects are not.
ALL_BUT_NAMES = {"h-bitflip-utf8-length", "h-bitflip-utf8-length-small", "h-utf8-length-under-id",
                 "h-no-end"}
UNREADABLE = {"empty", "h-cut-in-magic", "h-cut-in-header", "h-idsize-0", "h-idsize-3",
              "h-idsize-huge", "h-bad-version", "h-no-nul", "h-not-a-dump", "h-text", "h-gz-empty"}


def main():
    tap = Tap()
    for path, name, short, want in broken_dumps(tap, ".hprof", 40):
        run = cairn("-x", "info", "-x", "check", "--format", "json", path)
        if short in UNREADABLE:
            tap.ok(run.status == 3 and run.err.strip(), "%s: refused with a reason" % name, run)
            continue
        tap.ok(run.status in (0, 4), "%s: opens" % name, run)
        run = cairn("-x", "info", "--format", "json", path)
        info = json.loads(run.out or "{}")
        objects = info.get("objects", -1)
        if short in HARMLESS:
            tap.equal((run.status, objects), (0, WHOLE), "%s: all objects" % name)
            if short != "h-invalid-utf8":
                tap.ok(info.get("warnings", 0) > 0, "%s: but a warning" % name, run)
        elif short in ONE_LESS:
            tap.equal((run.status, objects), (0, WHOLE - 1), "%s: all objects but one" % name)
            tap.ok(info.get("warnings", 0) > 0, "%s: and a warning" % name, run)
        elif short in ALL_BUT_NAMES:
            tap.equal((run.status, objects), (4, WHOLE), "%s: all objects, read in part" % name)
        else:
            tap.equal(run.status, 4, "%s: read in part" % name)
            tap.ok("byte" in run.err or "gzip" in run.err, "%s: and it is said up to where" % name, run)
        if "-cut-" in name and want:
            of = want["of_them"]
            got = {"CLASS_DUMP": info.get("classes"), "INSTANCE_DUMP": info.get("instances"),
                   "OBJ_ARRAY_DUMP": info.get("object_arrays"),
                   "PRIM_ARRAY_DUMP": info.get("primitive_arrays")}
            tap.equal(got, of, "%s: exactly what is whole" % name)
        elif want:
            tap.ok(objects >= want["whole_heap_objects"], "%s: at least what is before it" % name, run)
    tap.done()


main()
