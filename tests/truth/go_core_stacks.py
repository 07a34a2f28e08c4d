#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks of a Go program in a core, beside a heap dump of the same instant and what the program planted.

The sample: data/make-go-core.sh.  CAIRN_GO_CORES: directories, each with prog, prog.core, prog.dump and manifest.json (what each goroutine holds), or
directories of such.  Goroutines that did not run between dump and core must be equal in all that the heap dump has
of them.  With the objects of stacks, which a heap dump leaves out, each goroutine must reach what it holds, and must
not reach what the program says is dead.
"""

import bisect
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, need_libdw  # noqa: E402
from gocores import places  # noqa: E402
from godump import records  # noqa: E402

TOOL = os.path.join(os.environ.get("CAIRN_BUILD", "."), "tests/tools/gostacks")
DUMP_MOST = 64 << 20   # bytes of a heap dump that is searched here
RAN_MOST = 6           # of the programs, which are quiet: who dumps, two that compute, the runtime's own
# No statement after the wait uses what these hold: without optimization (N) no closure on their stacks does, either.
NOT_USED = ("main.gGoexit", "main.gNilDeref", "main.gPanicTwice")
IN_DEAD_BOXES = (111000, 112000)  # Payload.N of what only dead objects of a stack hold


def ask(d, *options, names=("prog", "prog.core", "prog.dump")):
    files = [os.path.join(d, f) for f in names]
    run = subprocess.run([TOOL, *options, *files], capture_output=True, text=True, timeout=300)
    lines = run.stdout.splitlines()
    counts = dict((k, int(v)) for k, v in (w.split("=") for w in lines[-1].split())) if lines else {}
    return run, lines[:-1], counts


class Heap:
    """The objects of the heap dump."""

    def __init__(self, path):
        self.all = {r.address: r for r in records(path) if r.kind == "object"}
        self.starts = sorted(self.all)

    def at(self, address):
        i = bisect.bisect_right(self.starts, address)
        r = self.all[self.starts[i - 1]] if i else None
        return r if r and address < r.address + max(len(r.contents), 1) else None

    def reached(self, pointers):
        found, todo = {}, list(pointers)
        while todo:
            r = self.at(todo.pop())
            if r and r.address not in found:
                found[r.address] = r
                todo += [struct.unpack_from("<Q", r.contents, f)[0] for f in r.fields if f + 8 <= len(r.contents)]
        return found


def pointers_of(lines):
    found = {}
    for line in lines:
        words = line.split(" ")
        if words[0] == "pointer":
            found.setdefault(int(words[1]), []).append(int(words[-1], 16))
    return found


def beside_frames(path):
    """By goroutine id: what its deferred calls and panics hold, and the closure it begins with."""
    found = {}
    for r in records(path):
        if r.kind == "goroutine":
            mine = found.setdefault(r.id, [r.context])
        elif r.kind == "defer":
            mine += [r.address, r.closure]
        elif r.kind == "panic":
            mine += [r.data]
    return found


def check_held(tap, name, d, lines):
    with open(os.path.join(d, "manifest.json")) as f:
        manifest = json.load(f)
    heap = Heap(os.path.join(d, "prog.dump"))
    beside = beside_frames(os.path.join(d, "prog.dump"))
    held = pointers_of(lines)
    lost, alive, looked_at = [], [], 0
    for g in manifest.get("goroutines", []):
        reached = heap.reached(held.get(g["goid"], []) + beside.get(g["goid"], []))
        looked_at += 1
        dead = "payload is dead" in g.get("note", "") or (g["func"] in NOT_USED and name.endswith("/N"))
        if not dead and int(g["payload_addr"], 16) not in reached:
            lost.append("goroutine %d (%s): %s" % (g["goid"], g["func"], g["payload_addr"]))
        for r in reached.values():
            if len(r.contents) == 64 and struct.unpack_from("<q", r.contents, 16)[0] in IN_DEAD_BOXES:
                alive.append("goroutine %d (%s): 0x%x" % (g["goid"], g["func"], r.address))
    tap.none(lost, looked_at, "%s: each goroutine reaches what it holds" % name, least=30)
    tap.none(alive, looked_at, "%s: none reaches what is dead" % name, least=30)


def check(tap, d):
    name = "/".join(d.split("/")[-2:])
    run, lines, counts = ask(d)
    if run.returncode == 3 and "the DWARF of the program" in run.stderr:
        tap.skip("%s: stacks" % name, "stripped")
        return
    tap.ok(run.returncode == 0 and counts.get("differences") == 0, "%s: equal to the heap dump" % name,
           "\n".join(lines[:20]) + run.stderr)
    quiet = "server" not in name
    tap.ok(counts.get("goroutines", 0) > 40 and counts["ran"] <= (RAN_MOST if quiet else counts["goroutines"] / 2),
           "%s: most goroutines did not run in between" % name, str(counts))
    run, lines, counts = ask(d, "-c", "-p")
    dead = [l for l in lines if not l.startswith("pointer") and "whether a word is a pointer is 0x0 in" not in l]
    tap.ok(run.returncode < 3 and not dead and counts["differences"] <= 4 and counts["added"] > 0,
           "%s: with the objects of stacks, all but frames that a fault ended" % name, "\n".join(dead[:20]) + str(counts))
    if quiet and os.path.getsize(os.path.join(d, "prog.dump")) < DUMP_MOST:
        check_held(tap, name, d, lines)


def check_sample(tap):
    """All but the goroutine that wrote the dump are equal; and lines, since each allocation is noted."""
    names = ("gocart.elf", "gocart.core.gz", "gocart-core.dump.gz")
    run, lines, counts = ask(os.path.join(os.environ.get("CAIRN_SOURCE", "."), "data"), names=names)
    tap.ok(run.returncode == 0 and counts.get("goroutines", 0) > 15 and counts["equal"] == counts["goroutines"] - 1 and
           counts["frames"] > 80 and counts["fields"] > 60 and counts["threads"] > 2 and counts["lines"] > 400,
           "the sample: equal to the heap dump", "\n".join(lines[:20]) + run.stderr + str(counts))


def main():
    need_libdw()
    tap = Tap()
    check_sample(tap)
    all_of_them = list(places("manifest.json"))
    if not all_of_them:
        tap.skip("stacks in cores of Go programs", "CAIRN_GO_CORES names no directory with prog, prog.core, prog.dump")
    for d in all_of_them:
        check(tap, d)
    tap.done()


main()
