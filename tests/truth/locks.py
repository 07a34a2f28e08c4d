#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What locks tells of dumps of the program Waste: against its manifest, and against the VM's own list of threads.

The manifest has the plan: two deadlocks, a monitor that many want, waiters of every kind.  The list (Thread.print -l)
was printed by the VM that wrote the dump: it says of each thread what it waits for, and which of them are deadlocked.
CAIRN_LOCKS names further dumps with a manifest beside each (DUMP:MANIFEST, blanks between).
"""

import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn, need_dumps  # noqa: E402

HEAD = re.compile(r'^"(?P<name>.*)" (#\d+ )?.*tid=0x')
WAITS = re.compile(r"\s*- (waiting to lock|waiting on|waiting to re-lock in wait\(\)|parking to wait for)\s+<")
OWNS = re.compile(r"(\S+) owns (\w+) wants (\w+)")


def ask(command, dump):
    done = cairn("-x", command, "--format", "json", dump)
    return json.loads(done.out) if done.status == 0 and done.out.strip() else []


def names(row):
    return [n.replace(" (in wait)", "") for n in row["waiting"].split(", ")] if row["waiting"] else []


def plain(text):
    return (text or "").lstrip("~")


def planted(manifest):
    return {p["id"]: p for p in manifest["planted"]}


def check_plan(tap, title, rows, sentences, manifest, path):
    plan = planted(manifest)
    of = {row["field"].rpartition(".")[2]: row for row in rows if (row["field"] or "").startswith("waste.Waste.")}
    edges, cycles = set(), {}
    for which in ("deadlockMonitors", "deadlockLocks"):
        found = OWNS.findall(plan[which]["threads"])
        for thread, owns, wants in found:
            edges.add((thread, owns, wants))
        cycles[which] = {of[owns]["cycle"] for _, owns, _ in found}
    got = {(plain(row["owner"]), name) for name, row in of.items() if row["owner"]}
    want = {(thread, owns) for thread, owns, _ in edges} | \
        {(plan["hotMonitor"]["owner"], plan["hotMonitor"]["field"].rpartition(".")[2]),
         (", ".join("reader-%d" % (i + 1) for i in range(plan["readLock"]["readers"])), "rw")}
    tap.equal(got, want, "%s: these own what they own, and nobody else owns anything" % title)
    tap.equal({(w, name) for name in [e[2] for e in edges] for w in names(of[name])},
              {(thread, wants) for thread, _, wants in edges}, "%s: who is deadlocked waits for what he wants" % title)
    tap.equal([len(c) for c in cycles.values()] + [len(set.union(*cycles.values()))], [1, 1, 2],
              "%s: each deadlock has a number of its own" % title)
    tap.equal(sorted(name for name, row in of.items() if row["cycle"]), sorted(e[1] for e in edges),
              "%s: nothing else is in a deadlock" % title)
    tap.none([row["cycle"] for row in rows if row["cycle"] and row not in of.values()], rows,
             "%s: nor anything of the library's" % title)
    tap.equal(len(sentences), 2, "%s: two deadlocks are told" % title)
    for number, sentence in enumerate(sentences, 1):
        run = cairn("--format", "csv", "-x", "locks -deadlock", "-x", "ls %%%d" % number, path)
        named = set(re.findall(r"0x[0-9a-f]+", sentence if isinstance(sentence, str) else str(sentence)))
        found = set(re.findall(r"^(0x[0-9a-f]+)", run.out, re.M))
        tap.ok(named and named <= found and len(found) == 2 * len(named),
               "%s: a deadlock's row counts its locks, and a thread for each" % title, run.out[-600:])
    for thread, owns, wants in edges:
        mine = [s["sentence"] for s in sentences if thread in s["sentence"]]
        held = "%s (waste.Waste.%s)" % (of[owns]["address"], owns)
        wanted = "waits for %s %s (waste.Waste.%s), held by %s" % (
            of[wants]["class"], of[wants]["address"], wants, plain(of[wants]["owner"]))
        tap.ok(len(mine) == 1 and held in mine[0] and wanted in mine[0], "%s: the sentence of %s" % (title, thread), mine)
    tap.equal({frozenset(s["waiting"].lstrip("~").split(", ")) for s in sentences},
              {frozenset(re.findall(r"dead-[a-z]+-\d", plan[which]["threads"])) for which in cycles},
              "%s: a deadlock is named by its threads" % title)
    tap.equal({s["certainty"] for s in sentences if "dead-lock" in s["sentence"]}, {"exact"},
              "%s: that of locks is exact" % title)
    tap.equal({s["certainty"] for s in sentences if "dead-monitor" in s["sentence"]}, {"inferred"},
              "%s: that of monitors is marked" % title)
    figures = {
        "hot": (plan["hotMonitor"]["blocked"], "monHot", "monitor", None),
        "wait": (plan["objectWait"]["waiting"], "monWait", "monitor", None),
        "condition": (plan["conditionWait"]["waiting"], "cond", "condition", None),
        "read": (plan["readLock"]["writersWaiting"], "rw", "read lock", plan["readLock"]["readers"]),
        "semaphore": (plan["semaphore"]["waiting"], "sem", "semaphore", plan["semaphore"]["permits"]),
    }
    for what, (waiters, name, kind, holds) in figures.items():
        row = of[name]
        tap.equal((row["waiters"], len(names(row)), row["kind"], row["holds"]), (waiters, waiters, kind, holds),
                  "%s: %s, as planned" % (title, what))
    virtual = plan["virtualThreads"]["count"] if "virtualThreads" in plan else 0
    parked = 1 + manifest["plan"]["workers"][0] + manifest["plan"]["readers"][0] + virtual
    tap.equal(of["PARKED"]["waiters"], parked, "%s: all that only park, virtual threads too" % title)


def listed(path):
    """By thread: does it wait; and the names of each deadlock."""
    waiting, deadlocks, name, dead = set(), [], None, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            head = HEAD.match(line)
            if re.match(r"Found (one|\d+) Java-level deadlock", line):
                dead = set()
                deadlocks.append(dead)
                name = None
            elif line.startswith("Java stack information for the threads"):
                dead, name = None, None
                continue
            elif dead is not None and re.match(r'^"(.*)":$', line):
                dead.add(re.match(r'^"(.*)":$', line)[1])
            elif head and not deadlocks:
                name = head["name"]
            elif name and WAITS.match(line):
                waiting.add(name)
    return waiting, {frozenset(d) for d in deadlocks}


def check_list(tap, title, rows, sentences, path):
    waiting, deadlocks = listed(path)
    threads = {n for d in deadlocks for n in d}
    tap.equal({frozenset(n for n in threads if n in s["sentence"]) for s in sentences}, deadlocks,
              "%s: the VM knows the same deadlocks" % title)
    ours = {n for row in rows for n in names(row)}
    missing, more = waiting - ours, {n for n in ours - waiting if not n.startswith("virtual-")}
    tap.equal((missing, more), (set(), set()), "%s: the VM has the same %d threads waiting" % (title, len(waiting)))


def check_static(tap):
    """Static synchronized methods: jcmd Thread.print -l says that of these dumps one alone has a deadlock."""
    folder = glob.glob(os.path.join(DUMPS, "found", "truth", "06-*"))
    for name, threads in (("falsedead", None), ("staticdead", {"dl-1", "dl-2"})):
        path = os.path.join(folder[0], name + ".hprof") if folder else ""
        if not os.path.exists(path):
            tap.skip(name, "CAIRN_DUMPS has no found/truth/06-*/" + name + ".hprof")
            continue
        found = ask("locks -deadlock", path)
        tap.equal([r["certainty"] for r in found], ["inferred"] if threads else [], name + ": what the JVM says of it")
        owners = {r["owner"] for r in ask("locks", path) if r["waiting"] and r["owner"]}
        tap.equal(owners, threads or set(), name + ": who has what others wait for")


def main():
    tap = Tap()
    need_dumps()
    pairs = [(d, os.path.join(os.path.dirname(d), "waste.manifest.json"))
             for d in sorted(glob.glob(os.path.join(DUMPS, "waste", "*", "waste*.hprof")))]
    pairs += [tuple(p.split(":")) for p in os.environ.get("CAIRN_LOCKS", "").split()]
    n = 0
    for dump, path in pairs:
        with open(path, encoding="utf-8") as f:
            manifest = json.load(f)
        if "deadlockLocks" not in planted(manifest):
            continue
        n += 1
        title = "/".join(dump.split("/")[-2:])
        rows, sentences = ask("locks", dump), ask("locks -deadlock", dump)
        check_plan(tap, title, rows, sentences, manifest, dump)
        threads = os.path.join(os.path.dirname(dump), "threads-l.txt")
        if os.path.exists(threads):
            check_list(tap, title, rows, sentences, threads)
    tap.ok(n >= 6, "there are such dumps", n)
    quiet = sorted(glob.glob(os.path.join(DUMPS, "grove", "*.hprof"))) + \
        sorted(glob.glob(os.path.join(DUMPS, "today", "*.hprof"))) + \
        sorted(glob.glob(os.path.join(DUMPS, "hotspot", "*.hprof"))) + \
        sorted(glob.glob(os.path.join(DUMPS, "tide", "*", "tide-4.hprof")))
    check_static(tap)
    tap.none([d for d in quiet if ask("locks -deadlock", d)], quiet, "no deadlock is seen where none was planted")
    tap.done()


if __name__ == "__main__":
    main()
