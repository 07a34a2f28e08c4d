#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads, stacks, system properties and finalizers of real applications, against what their VM said at that moment.

Beside each dump are the VM's answers (jcmd Thread.print, VM.system_properties, GC.finalizer_info) and, of some, what JMX
told. Dump and answers are moments apart: a thread of a pool may have begun or ended, and one that runs has moved on. So
threads are compared by their number, and stacks where the thread waits in both.
"""

import datetime
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn, skip_all  # noqa: E402

# The VM hides these from outside, and from its own dumps; jhsdb does not.
HIDDEN = re.compile(r"(C1|C2) CompilerThread\d+|Service Thread|Monitor Deflation Thread|Sweeper thread")
HEAD = re.compile(r'^"(?P<name>.*)" #(?P<tid>\d+)(?: \[\d+\])?(?P<daemon> daemon)? prio=(?P<priority>\d+) ')


def threads_of(path):
    """{number: what jcmd Thread.print says of the thread}, of the first such list in the file."""
    threads, now = {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            head = HEAD.match(line)
            if head:
                if int(head["tid"]) in threads:
                    break
                now = {"name": head["name"], "daemon": bool(head["daemon"]), "priority": int(head["priority"]), "frames": []}
                threads[int(head["tid"])] = now
            elif line.startswith('"'):
                now = None  # a thread of the VM's own, which is no object
            elif now and line.startswith("   java.lang.Thread.State: "):
                now["state"] = line[27:].strip()
            elif now and line.startswith("\tat "):
                now["frames"].append(frame(line[4:].strip()))
    return threads


def frame(text):
    """Method, and the line where there is one; a hidden class's address and a module's version are left out."""
    method, _, place = re.sub(r"[/+]0x[0-9a-f]+", "", text).partition("(")
    place = place.rstrip(")").rsplit("/", 1)[-1]
    return method, place if re.search(r":\d+$|^Native Method$", place) else ""


def properties_of(path):
    """A properties file, as java.util.Properties writes it."""
    found = {}
    with open(path, encoding="latin-1") as f:
        for line in f.read().splitlines():
            if line.startswith("#") or "=" not in line:
                continue
            key, value = re.match(r"((?:\\.|[^=\\])*)=(.*)", line).groups()
            plain = [re.sub(r"\\(u[0-9a-fA-F]{4}|.)", lambda m: unescape(m[1]), s) for s in (key, value)]
            found[plain[0]] = plain[1]
    return found


def unescape(c):
    return chr(int(c[1:], 16)) if len(c) == 5 else {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}.get(c, c)


def rows(path, *lines):
    words = [w for line in lines for w in ("-x", line)]
    run = cairn("--no-index", "--format", "json", *words, path)
    values, at, decoder = [], 0, json.JSONDecoder()
    while at < len(run.out):
        value, at = decoder.raw_decode(run.out, at)
        values.append(value)
        while run.out[at:at + 1].isspace():
            at += 1
    return values


def check_threads(tap, title, path, want):
    got = {t["tid"]: t for t in rows(path, "threads")[0]}
    both = sorted(set(got) & set(want))
    missing = [want[t]["name"] for t in sorted(set(want) - set(got))]
    tap.ok(len([name for name in missing if not HIDDEN.fullmatch(name)]) <= 2,
           "%s: the threads that the VM lists" % title, "missing: %s" % missing)
    tap.ok(len(both) >= len(got) - 2, "%s: and no others" % title,
           "more: %s" % [got[t]["name"] for t in sorted(set(got) - set(want))])
    for field in ("name", "daemon", "priority"):
        # a dump of jhsdb, and any other, has these in the objects
        wrong = [(t, got[t][field], want[t][field]) for t in both if got[t][field] != want[t][field]]
        tap.none(wrong, both, "%s: %s of %d threads" % (title, field, len(both)))
    moved = [(want[t]["name"], got[t]["state"], want[t].get("state")) for t in both
             if got[t]["state"] != want[t].get("state", "RUNNABLE")]
    tap.ok(len(moved) <= len(both) // 10, "%s: states, but for threads that moved on" % title, moved)
    return [(t, got[t]) for t in both if got[t]["state"] == want[t].get("state")]


def check_stacks(tap, title, path, same, want):
    lines = ["bt %s" % t["address"] for _, t in same]
    stacks = rows(path, *lines)
    moved, frames = [], 0
    for (tid, t), stack in zip(same, stacks):
        mine = {}
        for r in stack:
            if r["frame"] is not None:
                mine.setdefault(r["frame"], frame(r["method"]))
        mine = [mine[i] for i in sorted(mine)]
        frames += len(mine)
        if len(mine) != t["frames"] or mine != want[tid]["frames"]:
            moved.append((want[tid]["name"], [x for x in zip(mine, want[tid]["frames"]) if x[0] != x[1]][:2],
                          (len(mine), t["frames"], len(want[tid]["frames"]))))
    tap.ok(len(stacks) == len(lines) and len(moved) <= len(lines) // 10,
           "%s: %d frames of %d threads, by method and line" % (title, frames, len(lines)), moved)


def check_properties(tap, title, path, want):
    got = {r["key"]: r["value"] for r in rows(path, "props")[0]}
    tap.equal(sorted(got), sorted(want), "%s: names of system properties" % title)
    wrong = {k: (v, want.get(k)) for k, v in got.items() if v not in (want.get(k, "").replace("\n", "\\n"), "***")}
    tap.equal(wrong, {}, "%s: their values" % title)
    masked = sorted(k for k, v in got.items() if v == "***")
    tap.none([k for k in masked if not re.search("password|secret|token|key", k)], got, "%s: secrets alone are masked" % title)


def check_finalizers(tap, title, path, text):
    queued = sum(r["objects"] for r in rows(path, "finalizers")[0] if r["state"] in ("queued", "pending", "running"))
    if "No instances waiting" in text:
        tap.equal(queued, 0, "%s: nothing waits for finalization" % title)
    else:
        tap.equal(queued, sum(int(n) for n in re.findall(r"^(\d+)\s+\d*\s*\S", text, re.M)), "%s: what waits" % title)


def check_jmx(tap, title, path, lines):
    told = [line.rstrip("\n").split("\t") for line in lines]
    info = rows(path, "info")[0]
    one = {line[1]: line[2] for line in told if line[0] == "runtime"}
    if "process_id" in info:  # where the program asked for it
        tap.equal(str(info["process_id"]), one["pid"], "%s: the process" % title)
    began = datetime.datetime.fromtimestamp(int(one["start"]) // 1000, datetime.timezone.utc)
    tap.equal(info["started"], began.strftime("%Y-%m-%dT%H:%M:%SZ"), "%s: when it began" % title)
    limits = [int(n) << {"k": 10, "m": 20, "g": 30}[unit] for n, unit in re.findall(r"-Xmx(\d+)([kmg])", one["args"])]
    tap.ok(limits and abs(info["heap_max"] - limits[-1]) <= limits[-1] // 8, "%s: the heap's limit" % title,
           (info["heap_max"], limits))
    got = {t["tid"]: (t["name"], t["daemon"], t["priority"]) for t in rows(path, "threads")[0]}
    want = {int(line[1]): (line[2], line[4] == "true", int(line[5])) for line in told if line[0] == "thread"}
    both = set(got) & set(want)
    tap.ok(len(both) >= len(want) - 2 and all(got[t] == want[t] for t in both), "%s: threads, as JMX has them" % title,
           [(got.get(t), want[t]) for t in want if got.get(t) != want[t]])


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def main():
    if not glob.glob(os.path.join(DUMPS, "apps", "*.hprof")):
        skip_all("CAIRN_DUMPS has no applications")
    tap = Tap()
    paths = sorted(glob.glob(os.path.join(DUMPS, "apps", "*.hprof")))
    # jhsdb does not say whose a stack is
    paths += glob.glob(os.path.join(DUMPS, "found", "truth", "12-sa-dump-frames-0", "sa21.hprof"))
    for path in paths:
        title, base = os.path.basename(path)[:-6], path[:-6]
        want = threads_of(base + ".threads.txt")
        same = check_threads(tap, title, path, want)
        check_stacks(tap, title, path, same, want)
        if os.path.exists(base + ".VM.system_properties.txt"):
            check_properties(tap, title, path, properties_of(base + ".VM.system_properties.txt"))
            check_finalizers(tap, title, path, text_of(base + ".GC.finalizer_info.txt"))
        if os.path.exists(base + ".jmx.txt"):
            check_jmx(tap, title, path, text_of(base + ".jmx.txt").splitlines())
    tap.done()


main()
