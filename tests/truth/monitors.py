#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds a monitor and who only waits for it: roots, bt and threads against a reader of javacores of this test's own.

A thread that is blocked on a monitor, waits for it or is parked on a lock does not hold it, also where a frame of
its own entered it (Object.wait lets go of it); it is alive all the same.  A javacore made here has what the real
ones lack: parked threads, owners with odd names, locks that only the lock section tells of.
"""

import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, SAMPLE, Tap, cairn  # noqa: E402

THREAD = re.compile(r'\s*"(?P<name>.*)" (?:J9VMThread|TID):(?P<vm>0x[0-9A-F]+).*?java/lang/Thread:0x(?P<object>[0-9A-F]+)'
                    r'.*state:(?P<state>\w+)')
WAIT = re.compile(r'\s*(?:Blocked|Waiting|Parked) on: (?P<class>\S+)@0x(?P<at>[0-9A-F]+) Owned by: '
                  r'(?:"(?P<owner>.*)" \(J9VMThread:(?P<vm>0x[0-9A-F]+).*|(?P<none><.*>))')
LOCK = re.compile(r'\s*(?P<class>\S+)@0x(?P<at>[0-9A-F]+): (?:.*?"(?P<owner>.*)" \(J9VMThread:(?P<vm>0x[0-9A-F]+)\).*|'
                  r'(?P<none><.*>))')


def wait_of(found):
    owner = ", owned by " + found["owner"] if found["owner"] else \
        ", owned by no thread" if found["none"] == "<unowned>" else ""
    return {"at": int(found["at"], 16), "owner": found["vm"],
            "words": "%s 0x%x%s" % (found["class"].replace("/", "."), int(found["at"], 16), owner)}


def truth_of(path):
    """By thread name: what it waits for, what it holds and what only its VM block refers to, with the method."""
    with open(path, encoding="latin-1") as f:
        lines = [line.rstrip("\n").partition(" ") for line in f]
    threads, waiters, owners, lock, current = {}, {}, {}, None, None
    for tag, _, rest in lines:
        if tag == "3XMTHREADINFO":
            found = THREAD.match(rest)
            current = None
            if found and found["vm"] not in threads:
                current = threads[found["vm"]] = {"name": found["name"], "state": found["state"], "wait": None,
                                                  "entered": [], "frame": None}
        elif tag == "3XMTHREADBLOCK" and current:
            current["wait"] = wait_of(WAIT.match(rest))
        elif tag == "4XESTACKTRACE" and current:
            current["frame"] = re.sub(r"/(?=[^(]*\()", ".", rest.strip()[3:])
        elif tag == "5XESTACKTRACE" and current:
            current["entered"].append((int(re.search(r"@0x([0-9A-F]+)", rest)[1], 16), current["frame"]))
        elif tag in ("2LKMONINUSE", "2LKREGMON", "0SECTION"):
            lock = None
        elif tag == "3LKMONOBJECT":
            lock = LOCK.match(rest)
            if lock["vm"]:
                owners.setdefault(lock["vm"], []).append(int(lock["at"], 16))
        elif tag in ("3LKWAITER", "3LKWAITNOTIFY") and lock:
            waiters.setdefault(re.search(r"\(J9VMThread:(0x[0-9A-F]+)\)", rest)[1], wait_of(lock))
    truth = {}
    for vm, t in threads.items():
        wait = t["wait"] or waiters.get(vm)
        entered = t["entered"] + [(a, None) for a in owners.get(vm, []) if a not in [e[0] for e in t["entered"]]]
        lets_go = wait["at"] if wait and wait["owner"] != vm and t["state"] != "P" else None
        held = {e for e in entered if e[0] != lets_go}
        referred = {e for e in entered if e[0] == lets_go}
        if wait and wait["at"] not in [e[0] for e in entered]:
            referred.add((wait["at"], None))
        truth[t["name"]] = (wait and wait["words"], held, referred)
    return truth


def rows(command, dump, javacore):
    done = cairn("--javacore", javacore, "-x", command, "--format", "json", dump)
    return json.loads(done.out) if done.status == 0 else []


def check(tap, name, dump, javacore, least):
    truth = truth_of(javacore)
    told = {t["name"]: t.get("waits_for") for t in rows("threads", dump, javacore)}
    tap.equal({n: told.get(n) for n in truth}, {n: t[0] for n, t in truth.items()},
              "%s: threads tells what each waits for, and who owns it" % name)
    known = {int(r["address"], 16) for r in rows("roots", dump, javacore)}
    got = {n: (set(), set()) for n in truth}
    for r in rows("roots", dump, javacore):
        if r["kind"] in ("Busy monitor", "Thread block"):
            got[r["thread"]][r["kind"] == "Thread block"].add((int(r["address"], 16), r.get("frame")))
            if r["certainty"] != "exact":
                got[r["thread"]][0].add(("not exact", r["certainty"]))
    want = {n: tuple({e for e in part if e[0] in known} for part in t[1:]) for n, t in truth.items()}
    tap.equal(got, want, "%s: what each thread holds, and what it only waits for" % name)
    n = [sum(len(t[part]) for t in want.values()) for part in (0, 1)]
    tap.ok(n[0] >= least[0] and n[1] >= least[1], "%s: there are such: %d held, %d not" % (name, *n), n)
    for thread, t in want.items():
        if t[1]:
            bt = {(r["kind"], int(r["address"], 16)) for r in rows("bt \"%s\"" % thread.replace('"', '\\"'), dump, javacore)
                  if r.get("address")}
            tap.equal({k for k, a in bt if a in {e[0] for e in t[1]}}, {"Thread block"},
                      "%s: bt %s has it so" % (name, thread))


# Objects of the sample: those of its own javacore.
LOCK_A, LOCK_B, LOCK_C = "java/util/concurrent/locks/ReentrantLock@0x00000000FFF1BDC0", \
    "java/lang/Class@0x00000000E0017830", "java/lang/Class@0x00000000E0017870"
OBJECTS = ("00000000FFF1BDD0", "00000000FFF1BE58", "00000000FFF1BEF8", "00000000FFF1C0D0", "00000000FFF1C2B0",
           "00000000FFF1C498", "00000000FFF1C530")


def head(i, name, state):
    return ('3XMTHREADINFO      "%s" J9VMThread:0x%016X, omrthread_t:0x1, java/lang/Thread:0x%s, state:%s, prio=5\n'
            % (name, 0x1000 + i, OBJECTS[i], state))


def frame(method, lock=None):
    return "4XESTACKTRACE                at %s\n" % method + \
        (("5XESTACKTRACE                   (entered lock: %s, entry count: 1)\n" % lock) if lock else "")


def on(word, lock, owner):
    return "3XMTHREADBLOCK     %s on: %s Owned by: %s\n" % (word, lock, owner)


def thread(i, name):
    return '"%s" (J9VMThread:0x%016X, java/lang/Thread:0x%s)' % (name, 0x1000 + i, OBJECTS[i])


MADE = "".join((
    "0SECTION       LOCKS subcomponent dump routine\n",
    "2LKMONINUSE      sys_mon_t:0x1 infl_mon_t: 0x2:\n",
    "3LKMONOBJECT       %s: owner \"odd \"name\" (J9VMThread:0x7)\" (J9VMThread:0x%016X), entry count 2\n" % (LOCK_C, 0x1001),
    "3LKWAITERQ            Waiting to enter:\n",
    "3LKWAITER                \"only the locks tell\" (J9VMThread:0x%016X)\n" % 0x1005,
    "2LKREGMON          VM mem segment list lock (0x00000000007A7048): <unowned>\n",
    "3LKNOTIFYQ            Waiting to be notified:\n",
    "3LKWAITNOTIFY            \"none\" (J9VMThread:0x%016X)\n" % 0x1000,
    "0SECTION       THREADS subcomponent dump routine\n",
    head(0, "holder", "R"), frame("a/B.run(B.java:1)", LOCK_A),
    head(1, 'odd "name" (J9VMThread:0x7)', "R"), frame("a/B.run(B.java:2)"),
    head(2, "blocked", "B"), on("Blocked", LOCK_A, thread(0, "holder")), frame("a/B.run(B.java:3)"),
    head(3, "waits for what it entered", "CW"), on("Waiting", LOCK_B, "<unowned>"),
    frame("java/lang/Object.wait(Native Method)"), frame("a/B.run(B.java:4)", LOCK_B),
    head(4, "parked, and keeps its monitor", "P"), on("Parked", LOCK_B, "<unknown>"),
    frame("sun/misc/Unsafe.park(Native Method)"), frame("a/B.run(B.java:5)", LOCK_B),
    head(5, "only the locks tell", "B"), frame("a/B.run(B.java:6)"),
    head(6, "waits for a quoted one", "B"), on("Blocked", LOCK_C, thread(1, 'odd "name" (J9VMThread:0x7)')),
    frame("a/B.run(B.java:7)")))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.txt")
        with open(path, "w", encoding="ascii") as f:
            f.write(MADE)
        check(tap, "a javacore made here", SAMPLE, path, (3, 4))
        blocked = truth_of(path)["blocked"]
        tap.equal(blocked[0], "java.util.concurrent.locks.ReentrantLock 0xfff1bdc0, owned by holder",
                  "this test's own reader reads what was meant")
    check(tap, os.path.basename(SAMPLE), SAMPLE,
          SAMPLE.replace("heapdump", "javacore").replace(".phd", ".txt"), (2, 1))
    if not DUMPS:
        tap.skip("real javacores", "CAIRN_DUMPS is not set")
    for dump in sorted(glob.glob(os.path.join(DUMPS, "openj9", "*.2016*.phd"))) if DUMPS else ():
        stem = re.sub(r"heapdump\.(\d+\.\d+\.\d+)\..*", r"javacore.\1.*.txt", os.path.basename(dump))
        for javacore in glob.glob(os.path.join(DUMPS, "openj9", stem)):
            check(tap, os.path.basename(javacore), dump, javacore, (1, 1))
    tap.done()


if __name__ == "__main__":
    main()
