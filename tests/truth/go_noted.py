#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Go's runtime noted of objects and goroutines, against what the programs planted: finalizers,
deferred calls, panics, channels that are waited for."""

import glob
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SHOP, Tap, cairn, need_dumps, need_libdw, skip_all, some  # noqa: E402
from godump import records  # noqa: E402


def rows(path, line):
    run = cairn("--format", "json", "-x", line, path)
    got = json.loads(run.out) if run.status == 0 and run.out.strip() else []
    return got["fields"] if isinstance(got, dict) else got


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
    tap.none([v for v in variables if m["Finals"]["function"] not in v.get("finalizer", "")], variables,
             name + ": x tells of them")


def check_channels(tap, name, path, m):
    """What goroutines wait for: all that are blocked on a channel of the program."""
    wrong, n = [], 0
    for g in m["goroutines"]:
        if g["kind"] not in ("chan receive", "chan send"):
            continue
        n += 1
        kinds = [r["kind"] for r in rows(path, "bt %d" % g["goid"]) if (r["kind"] or "").startswith("Waits")]
        if kinds != ["Waits to " + g["kind"].partition(" ")[2]]:
            wrong.append("%s: %s" % (g, kinds))
    tap.ok(n > 10 and not wrong, "%s: %d goroutines wait for a channel" % (name, n), "\n".join(wrong))


def check_calls(tap, name, path, m):
    """A function with four closures deferred in a loop and one more; one that panics twice."""
    goid = {g["func"]: g["goid"] for g in m["goroutines"]}
    calls = [r for r in rows(path, "bt %d" % goid["main.withDefers"]) if r["kind"] == "Deferred call"]
    functions = [r["method"] for r in calls]
    tap.ok(len(calls) == 5 and len(set(functions[1:])) == 1 and functions[0] != functions[1] and
           all(f.startswith("main.withDefers.") for f in functions), name + ": deferred calls, the last first", calls)
    frames = {r["frame"]: r["method"] for r in rows(path, "bt %d" % goid["main.withDefers"]) if r["method"] and
              r["kind"] != "Deferred call"}
    tap.none([c for c in calls if not frames.get(c["frame"], "").startswith("main.withDefers+")], calls,
             name + ": and who did")
    open_defer = rows(path, "bt %d" % goid["main.openDefer"])
    tap.none([r for r in open_defer if r["kind"] == "Deferred call"], open_defer,
             name + ": a call that is recorded nowhere is not told")
    panics = [(r["class"], r["value"]) for r in rows(path, "bt %d" % goid["main.inPanic"]) if r["kind"] == "Panic"]
    n = [g["payload_n"] for g in m["goroutines"] if g["func"] == "main.inPanic"][0]
    tap.ok(len(panics) == 2 and panics[0][0] == "*main.MyErr" and "{Code: 2}" in panics[0][1] and
           panics[1] == ("string", 'string "first panic %d"' % n), name + ": panics, the last first", panics)


def check_waiting(tap, name, path, m):
    """One goroutine sends a pointer, one panics with one."""
    threads = {r["name"].split()[-1]: r for r in rows(path, "threads")}
    found = {"sending": None, "panicking": None}
    for t in threads.values():
        for r in rows(path, "bt %d" % t["id"]):
            what = {"Sends": "sending", "Panic": "panicking"}.get(r["kind"])
            if what:
                found[what] = (r["address"], r["class"], "{A: %d," % m[what]["A"] in r["value"], t["id"])
    want = {k: (m[k]["value at"], "*main.Pair", True) for k in found}
    tap.equal({k: v and v[:3] for k, v in found.items()}, want, name + ": the value that is sent, and that of the panic")
    held = [r for r in rows(path, "bt %d" % found["sending"][3]) if r["address"] == m["sending"]["value at"]]
    tap.ok("Stack frame" in [r["kind"] for r in held], name + ": who waits to send holds what he sends", held)


def check_circle(tap, name, path):
    """A sudog that says that it is the next of itself: the list ends, and the dump can be read."""
    waiting = [t["id"] for t in rows(path, "threads") if t["waits_for"] == "chan send"][0]
    sudog = [r["address"] for r in rows(path, "bt %d" % waiting) if r["class"] == "runtime.sudog"][0]
    link = [r["offset"] for r in rows(path, "x " + sudog) if r["name"] == "waitlink"][0]
    contents = [r.contents for r in records(path) if r.kind == "object" and r.address == int(sudog, 16)][0]
    with open(path, "rb") as f:
        dump = f.read()
    with tempfile.TemporaryDirectory() as folder:
        bad = shutil.copy(path, folder)
        shutil.copy(path[:-len(".dump")] + ".elf", folder)
        with open(bad, "wb") as f:
            forged = contents[:link] + int(sudog, 16).to_bytes(8, "little") + contents[link + 8:]
            f.write(dump.replace(contents, forged))
        sent = [r for r in rows(bad, "bt %d" % waiting) if r["kind"] == "Sends"]
        roots = [r for r in rows(bad, "roots") if r["slot"] and r["thread"] and "%d " % waiting in r["thread"]]
    tap.ok(dump.count(contents) == 1 and 1 <= len(sent) <= 2 and roots, name + ": a circle of sudogs ends", sent)


def main():
    need_libdw()
    tap = Tap()
    found = False
    for path in some([p for p in sorted(glob.glob(os.path.join(need_dumps(), "*", "go*.dump")))
                      if "stripped" not in p and os.path.exists(p[:-len(".dump")] + ".manifest.json")], 2):
        with open(path[:-len(".dump")] + ".manifest.json", encoding="utf-8") as f:
            m = json.load(f)
        name = os.path.basename(path)[:-len(".dump")]
        found = True
        if "finalizers" in m:
            check_finalizers(tap, name, path, m)
            check_calls(tap, name, path, m)
            if name == "go-mini":
                check_channels(tap, name, path, m)
        if "Finals" in m:
            check_today(tap, name, path, m)
            check_waiting(tap, name, path, m)
            check_circle(tap, name, path)
    run = cairn("-x", "finalizers", SHOP)
    tap.ok(run.status and "does not record which objects" in run.err, "HPROF: says so", run)
    if not found:
        skip_all("CAIRN_DUMPS holds no Go dumps")
    tap.done()


if __name__ == "__main__":
    main()
