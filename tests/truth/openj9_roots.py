#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inferred roots of OpenJ9 dumps against the system dump of the same moment, as DTFJ reads it.

What DTFJ's strong roots and stack slots reach must be reachable here, too.  The share of inferred roots that DTFJ
reaches is printed; doc/how-it-works/08-roots.md has the table.  DTFJ's graph counts referents of weak references as held.
A made dump has garbage with a stale reference, which must be no root, and neither may what references it.
"""

import glob
import json
import lzma
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn  # noqa: E402

def answer(command, path):
    return json.loads(cairn("--format", "json", "-x", command, path).out)


ADDRESS = re.compile(r"\bc?(0x[0-9a-f]+)")


def read_core(path):
    """References by object, strong roots, loaders that are strong roots, objects with their sizes."""
    refs, sizes, strong, loaders = {}, {}, set(), set()
    with lzma.open(path, "rt", errors="replace") as f:
        for line in f:
            kind = line[:2]
            if kind in ("C ", "O "):
                head, _, tail = line.rstrip("\n").partition(" : ")
                words = head.split(" ")
                at = int(words[1], 16)
                targets = [int(t.lstrip("c").partition("/")[0], 16) for t in tail.split() if "0x" in t]
                refs.setdefault(at, []).extend(targets)
                if kind == "O ":
                    sizes[at] = int(words[3])
            elif kind == "R ":
                words = line.split()
                if words[2] == "1" and "0x" in words[3]:
                    strong.add(int(words[3].lstrip("c"), 16))
                    if words[4] == "ClassLoader":
                        loaders.add(int(words[3].lstrip("c"), 16))
            elif kind == "F ":
                strong.update(int(a, 16) for a in ADDRESS.findall(line.rpartition(" : ")[2]))
    return refs, sizes, strong, loaders


def reach(refs, starts):
    seen, todo = set(), [s for s in starts if s in refs]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo.extend(t for t in refs[at] if t in refs and t not in seen)
    return seen


def real(tap, folder):
    name = os.path.basename(folder)
    refs, sizes, strong, loaders = read_core(os.path.join(folder, "ref-core.txt.xz"))
    phd = sorted(glob.glob(os.path.join(folder, "*.phd")))[0]
    rows = answer("roots", phd)
    held = reach(refs, strong)
    ours = {int(r["address"], 16) for r in rows}
    missed = (held & sizes.keys()) - reach(refs, ours)
    tap.ok(len(held) > 1000 and not missed, f"{name}: all that DTFJ reaches is reachable", sorted(map(hex, missed))[:5])
    tap.ok(loaders and loaders <= ours, f"{name}: the loaders that the VM refers to are roots")
    inferred = {int(r["address"], 16) for r in rows if r["certainty"] == "inferred"} & refs.keys()
    print(f"# {name}: {len(inferred)} inferred roots, {100 * len(inferred & held) / len(inferred):.0f} % alive")
    end, holes = 0, 0
    for at in sorted(sizes):
        holes += bool(end) and at - end >= 16 and at % 4096 != 0
        end = at + sizes[at]
    info = answer("info", phd)
    said = "did not compact" in cairn("-x", "info", phd).out
    tap.ok(said == (info["holes"] > 0), f"{name}: info says whether the VM compacted")
    if not name.startswith("leaky"):  # its PHD is not of the core's moment: the VM compacted in between
        tap.ok(abs(info["holes"] - holes) <= 1, f"{name}: holes", f"{info['holes']}, DTFJ {holes}")


# An object by address: its size, its class, what it references.  0x...2018 is the middle of the byte array.
MADE = """// Version: JRE 21 Linux amd64-64 build made
0x80001000 [112] CLS java/lang/Object
\t
0x80001100 [112] CLS com/acme/Node
\t
0x80002000 [64] OBJ [B
\t
0x80002040 [24] OBJ com/acme/Node
\t0x80002018 0x80002070
0x80002058 [24] OBJ com/acme/Node
\t0x80002040
0x80002070 [24] OBJ com/acme/Node
\t0x80002000
0x80002088 [24] OBJ com/acme/Node
\t0x800020a0
0x800020a0 [24] OBJ com/acme/Node
\t0x90000000
// Breakdown - Classes: 2, Objects: 5, ObjectArrays: 0, PrimitiveArrays: 1
// EOF: Total 'Objects',Refs(null) : 8,6(0)
"""


def made(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "heapdump.txt")
        with open(path, "w", encoding="ascii") as f:
            f.write(MADE)
        roots = {r["address"] for r in answer("roots", path)}
        tap.ok({"0x80002070", "0x80002088"} <= roots, "what only garbage references may be alive", sorted(roots))
        tap.ok(roots and not {"0x80002040", "0x80002058"} & roots, "garbage is no root, nor is what references it")
        tap.ok("0x800020a0" not in roots, "a reference to nowhere proves nothing")
        info = answer("info", path)
        tap.ok(info["unreachable_objects"] == 2 and info["unreachable_objects_certainty"] == "inferred",
               "garbage counts as unreachable", info["unreachable_objects"])
        with open(path, "w", encoding="ascii") as f:  # a class of the boot loader holds the same: so it is alive
            f.write(MADE.replace("java/lang/Object\n\t\n", "java/lang/Object\n\t0x80002058\n"))
        info = answer("info", path)
        tap.ok(info["unreachable_objects"] == 0, "no garbage where a certain root leads to it")


def main():
    tap = Tap()
    made(tap)
    folders = sorted(glob.glob(os.path.join(DUMPS, "openj9-real", "*-*"))) if DUMPS else []
    folders = [f for f in folders if os.path.exists(os.path.join(f, "ref-core.txt.xz"))]
    if not folders:
        tap.skip("real OpenJ9 dumps", "no CAIRN_DUMPS with openj9-real")
    for folder in folders:
        if not os.path.basename(folder).startswith("shop"):  # the largest shows nothing more
            real(tap, folder)
    tap.done()


main()
