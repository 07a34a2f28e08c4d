#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roots, threads, stacks and monitors of OpenJ9 system dumps: against DTFJ's answers, the javacore of the same moment,
and what the programs themselves said they would keep alive.

DTFJ calls the classes of hidden loaders strong, which the collector does not.  It does not see stacks of virtual
threads that do not run, nor what native code holds that no method of Java called.  cairn takes each word of a stack
that is an object's address, so it may have more.  DTFJ counts what weak references refer to as held.
"""

import collections
import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, some  # noqa: E402
from j9_sets import dtfj, folders, text_of, unpack  # noqa: E402

JNI_GLOBAL, CLASS, THREAD, FINALIZABLE, LOADER = 1, 2, 6, 8, 10  # JavaReference.HEAP_ROOT_…
STRONG = 1
STATES = {"R": "runnable", "CW": "waiting", "B": "blocked", "P": "parked", "S": "suspended", "Z": "zombie"}
SLEEPING = 0x8


def answer(command, path, *before):
    run = cairn("-n", "--no-index", "--top", "1000000", "--format", "json", *before, "-x", command, path)
    return json.loads(run.out)


def at(word):
    return int(word.lstrip("c"), 16) if "0x" in word else 0


class Dtfj:
    """Roots by kind and strength, objects on stacks, references, monitors."""

    def __init__(self, folder):
        self.roots, self.stacks = collections.defaultdict(set), set()
        self.refs, self.objects, self.monitors = collections.defaultdict(list), set(), {}
        for words, tail, line in dtfj(folder, "RFCOM"):
            if words[0] == "R":
                self.roots[int(words[1]), int(words[2])].add(at(words[3]))
            elif words[0] == "F":
                self.stacks.update(map(at, tail))
            elif words[0] in ("C", "O"):
                self.refs[at(words[1])] += [at(t.partition("/")[0]) for t in tail]
                if words[0] == "O":
                    self.objects.add(at(words[1]))
            elif words[0] == "M":
                m = re.match(r"M (0x\w+) owner=(.*) enter=(.*) notify=(.*)", line)
                blocked, waiting = ([w for w in m.group(i).split(",") if w] for i in (3, 4))
                self.monitors[int(m.group(1), 16)] = m.group(2), sorted(blocked), sorted(waiting)

    def reach(self):
        todo = set(self.stacks).union(*(v for k, v in self.roots.items() if k[1] == STRONG))
        seen = set()
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo.update(t for t in self.refs.get(one, ()) if t not in seen)
        return seen & self.objects


def check_roots(tap, name, path, dtfj):
    rows = answer("roots", path)
    ours = collections.defaultdict(set)
    for row in rows:
        on_stack = row["kind"] == "Java local" or row["kind"] == "JNI local" and row["slot"]
        ours["stack" if on_stack else row["kind"]].add(int(row["address"], 16))
    tap.equal(ours["JNI global"], dtfj.roots[JNI_GLOBAL, STRONG], name + ": JNI globals")
    tap.equal(ours["Finalizable"], dtfj.roots[FINALIZABLE, STRONG], name + ": finalizable objects")
    tap.equal(ours["Thread"] | ours["Thread block"] | ours["Busy monitor"] | ours["JNI local"],
              dtfj.roots[THREAD, STRONG], name + ": what threads hold besides their stacks")
    wanted = dtfj.roots[CLASS, STRONG] | dtfj.roots[LOADER, STRONG]
    tap.ok(ours["System class"] <= wanted, name + ": system classes are DTFJ's")
    tap.ok(dtfj.roots[LOADER, STRONG] <= ours["System class"], name + ": loaders that stay")
    tap.none(sorted(map(hex, dtfj.stacks - ours["stack"]))[:5], dtfj.stacks,
             name + ": all that DTFJ finds on stacks", 5)
    sure = {row["kind"] for row in rows if row["certainty"] == "exact"}
    tap.ok("Java local" not in sure, name + ": locals are inferred", sure)
    dead = {int(row["address"], 16) for row in answer("ls * -dead", path, "-x", "set weak on")}
    reached = dtfj.reach()
    tap.none(sorted(map(hex, reached & dead))[:5], reached, name + ": all that DTFJ reaches is reachable", 1000)


def javacore_threads(text):
    """By address of the thread object: name, state, native id, what it waits for, frames."""
    threads, now = {}, None
    for line in text.split("\n"):
        if line.startswith("3XMTHREADINFO "):
            m = re.match(r'\S+ +"(.*)" J9VMThread:\S+ omrthread_t:\S+ java/lang/Thread:(0x\w+), state:(\w+), '
                         r"rawStateValue:(0x\w+)", line)
            now = m and threads.setdefault(int(m.group(2), 16), {
                "name": m.group(1), "state": "sleeping" if int(m.group(4), 16) == SLEEPING else STATES[m.group(3)],
                "native_id": None, "waits": 0, "frames": []})
        elif now and line.startswith("3XMTHREADINFO1 "):
            now["native_id"] = int(re.search(r"native thread ID:(0x\w+)", line).group(1), 16)
        elif now and line.startswith("3XMTHREADBLOCK "):
            now["waits"] = int(re.search(r"@(0x\w+)", line).group(1), 16)
        elif now and line.startswith("4XESTACKTRACE "):
            method, place = re.match(r"\S+ +at (.*)\((.*?)\)", line).groups()
            now["frames"].append((method.replace("/", ".").replace("Lambda.0x", "Lambda/0x"),
                                  "Unknown Source" if place.startswith("Bytecode PC") else place))
    return threads


def check_threads(tap, name, path, text):
    want, wrong, frames = javacore_threads(text), [], 0
    rows = answer("threads", path)
    by_address = {int(row["address"], 16): row for row in rows}
    shared = want.keys() & by_address.keys()  # the javacore's own thread is a newer one
    tap.ok(len(shared) >= len(want) - 1 and len(rows) == len(want), name + ": threads of the javacore", len(shared))
    for address in shared:
        row, w = by_address[address], want[address]
        stack = []
        for r in answer("bt %s" % row["id"], path):
            if r.get("frame") is not None and int(r["frame"]) == len(stack):
                stack.append(tuple(re.match(r"(.*)\((.*)\)", r["method"]).groups()))
        waits = re.search(r"(0x\w+)", row.get("waits_for") or "")
        got = {"name": row["name"], "state": row["state"], "native_id": int(row["native_id"], 16),
               "waits": int(waits.group(1), 16) if waits else 0, "frames": stack}
        if "\ufffd" in w["name"]:  # as the javacore writes what is outside of the first plane
            w["name"] = got["name"]
        frames += len(w["frames"])
        wrong += ["%s: %s is %r, not %r" % (w["name"], k, got[k], w[k]) for k in w if got[k] != w[k]]
    tap.none(wrong[:3], frames, "%s: threads and their %d frames" % (name, frames), 10)


def check_locks(tap, name, path, dtfj):
    got = {}
    for row in answer("locks", path):
        if row["kind"] == "monitor":
            waiting = [w for w in (row["waiting"] or "").split(", ") if w]
            got[int(row["address"], 16)] = (
                row["owner"] or "-", sorted(w for w in waiting if not w.endswith(" (in wait)")),
                sorted(w[:-len(" (in wait)")] for w in waiting if w.endswith(" (in wait)")))
    tap.equal({k: v for k, v in got.items() if v[1] or v[2]}, dtfj.monitors, name + ": monitors")


def check_live(tap, name, path, manifest):
    with open(manifest, encoding="utf-8") as f:
        want = json.load(f).get("exact_instances_live")
    if want:
        rows = {row["class"]: row["objects"] for row in answer("histo -live", path)}
        tap.equal({k: rows.get(k, 0) for k in want}, want, name + ": what the program keeps alive")


def check_export(tap, name, path):
    """An HPROF made of it has the local variables, marked."""
    copy = path + ".hprof"
    run = cairn("-x", "export -hprof " + copy, path)
    tap.ok(run.status == 0, name + ": export -hprof", run)
    local = [{(r["address"], r["thread"], r["frame"]) for r in json.loads(cairn("-x", "roots", "--format", "json", dump).out)
              if r["kind"] == "Java local"} for dump in (path, copy)]
    tap.ok(local[0] and local[0] == local[1], name + ": the export has the same local variables", local[0] ^ local[1])
    os.unlink(copy)


def check_set(tap, folder, work):
    name = os.path.basename(folder)
    path = os.path.join(work, name + ".core")
    unpack(folder, path)
    answers = Dtfj(folder)
    check_roots(tap, name, path, answers)
    check_threads(tap, name, path, text_of(sorted(glob.glob(os.path.join(folder, "javacore*.txt")))[0]))
    check_locks(tap, name, path, answers)
    check_export(tap, name, path)
    for manifest in glob.glob(os.path.join(folder, "m.json")):
        check_live(tap, name, path, manifest)
    os.unlink(path)


def main():
    tap = Tap()
    sets = folders()
    tap.ok(len(sets) >= 5, "there are system dumps", sets)
    with tempfile.TemporaryDirectory() as work:
        for folder in some(sets, 3):
            check_set(tap, folder, work)
    tap.done()


main()
