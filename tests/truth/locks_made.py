#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""locks on dumps made here: queues of both generations, circles of many threads, and what no VM would write.

Queues that run in circles end; an owner that is no thread owns nothing; who stands behind itself, waits for what it has
itself or waits only for a time is in no deadlock; a monitor that several threads may have belongs to nobody.
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn  # noqa: E402
from javadump import AQS, LOCKS, JavaDump, add_locks, deadlock, lock, named_thread, queue  # noqa: E402

BLOCKED, WAITING, TIMED_PARK = 0x401, 0x191, 0x2A1
FOLDER = tempfile.TemporaryDirectory()


def ask(d, command="locks"):
    path = os.path.join(FOLDER.name, "made.hprof")
    d.write(path)
    done = cairn("-x", command, "--format", "json", path)
    return json.loads(done.out) if done.status == 0 and done.out.strip() else None


def rows(d):
    return {int(r["address"], 16): r for r in ask(d)}


def new(since_14=True):
    return add_locks(JavaDump(), since_14)


def short(row):
    return None if row is None else (row["owner"], row["waiting"], row["waiters"], row["holds"])


def queues(tap):
    for since_14 in (True, False):
        d = new(since_14)
        owner, first, second = (named_thread(d, n)[0] for n in ("owner", "first", "second"))
        made = lock(d, owner, [first, second], since_14)
        free = lock(d, 0)
        got = rows(d)
        tap.equal(short(got.get(made)), ("owner", "first, second", 2, 1), "a queue in its order, since 14: %s" % since_14)
        tap.ok(free not in got, "a free lock is not told")
        for n in (2, 3, 40):
            d = new(since_14)
            deadlock(d, n, since_14)
            found = ask(d, "locks -deadlock")
            tap.equal([(r["threads"], r["certainty"]) for r in found], [(n, "exact")], "a circle of %d threads" % n)
    d = new(False)
    gone, stays = named_thread(d, "gone")[0], named_thread(d, "stays")[0]
    nodes = queue(d, [gone, stays], False)
    d.put(nodes[1], waitStatus=1)
    d.put(nodes[2], waitStatus=(1 << 32) - 1)
    made = lock(d, 0, head=nodes[0], tail=nodes[-1])
    tap.equal(short(rows(d)[made]), (None, "stays", 1, 0), "who gave up does not wait, JDK 8")
    d = new()
    gone, stays = named_thread(d, "gone")[0], named_thread(d, "stays")[0]
    nodes = queue(d, [gone, stays])
    d.put(nodes[1], status=(1 << 31))
    made = lock(d, 0, head=nodes[0], tail=nodes[-1])
    tap.equal(short(rows(d)[made]), (None, "stays", 1, 0), "who gave up does not wait, JDK 17")


def readers(tap):
    """Readers are counted in the state; of one of them the lock knows how often it entered."""
    for since_28 in (False, True):
        d = new()
        if since_28:
            d.classes[AQS][2][:] = [("head", "L"), ("tail", "L"), ("state", "J")]
        d.add_class(LOCKS + "ReentrantReadWriteLock", fields="sync:L")
        d.add_class(LOCKS + "ReentrantReadWriteLock$Sync", AQS, fields="firstReader:L firstReaderHoldCount:I")
        reader, writer = named_thread(d, "reader")[0], named_thread(d, "writer")[0]
        nodes = queue(d, [writer])
        half = 32 if since_28 else 16
        sync = d.new(LOCKS + "ReentrantReadWriteLock$Sync", state=3 << half, firstReader=reader, firstReaderHoldCount=3,
                     head=nodes[0], tail=nodes[-1])
        made = d.new(LOCKS + "ReentrantReadWriteLock", sync=sync)
        d.root("jni", made)
        title = "a state of %d bits" % (2 * half)
        tap.equal(short(rows(d)[made]), ("reader", "writer", 1, 3), "one reader that entered three times, " + title)
        lock(d, writer, [reader])
        tap.equal([r["threads"] for r in ask(d, "locks -deadlock")], [2], "it may be in a deadlock, " + title)
        d.put(sync, firstReaderHoldCount=1)
        tap.equal(short(rows(d)[made]), (None, "writer", 1, 3), "of several readers nobody is named, " + title)
        d.put(sync, state=2, exclusiveOwnerThread=reader)
        got = rows(d)[made]
        tap.equal((short(got), got["kind"]), (("reader", "writer", 1, 2), "write lock"), "a writer, " + title)


def stamped(tap):
    """Seven bits of readers, a bit for a writer; what readers are too many for these stands beside."""
    for state, beyond, held in ((0x180, 0, 1), (0x103, 0, 3), (0x17E, 5, 131), (0x100, 0, 0)):
        d = new()
        d.add_class(LOCKS + "StampedLock", fields="state:J readerOverflow:I")
        made = d.new(LOCKS + "StampedLock", state=state, readerOverflow=beyond)
        d.root("jni", made)
        d.put(named_thread(d, "waits")[0], parkBlocker=made)
        got = rows(d)[made]
        tap.equal((short(got), got["kind"]), ((None, "waits", 1, held), "stamped lock"), "a StampedLock of state 0x%x" % state)


def hostile(tap):
    d = new()
    a, b = named_thread(d, "a")[0], named_thread(d, "b")[0]
    nodes = queue(d, [a, b])
    d.put(nodes[0], prev=nodes[-1])
    made = lock(d, 0, head=nodes[0], tail=nodes[-1])
    tap.equal(short(rows(d)[made]), (None, "a, b", 2, 0), "a queue in a circle ends, and nobody waits twice")
    d.put(nodes[2], prev=nodes[2])
    tap.equal(short(rows(d)[made]), (None, "b", 1, 0), "who stands behind itself")

    d = new()
    waits = named_thread(d, "waits")[0]
    made = lock(d, d.new("java.lang.Object"), [waits])
    got = rows(d)[made]
    tap.ok("waits" not in (got["owner"] or "") and ask(d, "locks -deadlock") == [], "an owner that is no thread", got)
    made = lock(d, 0x7777777, [waits])
    tap.equal(rows(d)[made]["owner"], None, "an owner that is nothing")

    d = new()
    alone = named_thread(d, "alone")[0]
    lock(d, alone, [alone])
    tap.equal(ask(d, "locks -deadlock"), [], "who waits for what it has itself waits for no other")

    d = new()
    timed, other = named_thread(d, "timed", TIMED_PARK)[0], named_thread(d, "other")[0]
    lock(d, timed, [other])
    lock(d, other, [timed])
    tap.equal(ask(d, "locks -deadlock"), [], "who waits only for a time goes on by itself")

    d = new()
    t = named_thread(d, "t")[0]
    nodes = queue(d, [d.new("java.lang.Object"), t])
    tail = d.array([t])
    made = lock(d, 0, head=nodes[0], tail=nodes[-1])
    odd = lock(d, t, head=tail, tail=tail)
    got = rows(d)
    tap.equal(short(got[made]), (None, "t", 1, 0), "a node whose thread is none")
    tap.equal(short(got[odd]), ("t", None, 0, 1), "a node that is an array")
    d.put(nodes[-1], prev=0x123456)
    tap.equal(short(rows(d)[made]), (None, "t", 1, 0), "a node before the first that is nothing")

    d = new()
    t = named_thread(d, "t")[0]
    d.put(t, parkBlocker=t)
    tap.equal([(r["kind"], r["waiting"]) for r in ask(d)], [("parked", "t")], "a thread parked on itself")
    d = new()
    t = named_thread(d, "t")[0]
    node = d.new(AQS + "$ConditionNode", waiter=t)
    d.put(node, nextWaiter=node)
    condition = d.new(AQS + "$ConditionObject", firstWaiter=node, lastWaiter=node)
    d.root("jni", condition)
    tap.equal(short(rows(d)[condition]), (None, "t", 1, None), "a condition whose node follows itself")
    d = new()
    for field in ("head", "tail", "state"):
        d.classes[AQS][2].remove(next(f for f in d.classes[AQS][2] if f[0] == field))
    t = named_thread(d, "t")[0]
    d.root("jni", d.new(LOCKS + "ReentrantLock$NonfairSync", exclusiveOwnerThread=t))
    tap.equal([r["owner"] for r in ask(d)], ["t"], "a synchronizer without queue and state")


def blocked(d, name, *held, frames=("acme.A.run",), status=BLOCKED):
    t, number = named_thread(d, name, status, frames)
    for frame, objects in enumerate(held):
        for o in objects:
            d.root("local", o, number, frame)
    return t


def monitors(tap):
    d = new()
    m, n, arg = (d.new("java.lang.Object") for _ in range(3))
    blocked(d, "waits", [m])
    blocked(d, "has", [], [m], frames=("acme.B.work", "acme.B.run"), status=5)
    got = rows(d)
    tap.equal((short(got[m]), got[m]["certainty"]), (("has", "waits", 1, None), "inferred"),
              "the only one that holds it has it")
    tap.ok(".run(" in got[m]["frame"], "and that is the frame which does", got[m]["frame"])
    blocked(d, "may have", [m], status=5)
    tap.equal(short(rows(d)[m]), (None, "waits", 1, None), "of two that may have it nobody is named")
    tap.equal(ask(d, "locks -deadlock"), [], "and nobody is accused")

    d = new()
    m, n, arg = (d.new("java.lang.Object") for _ in range(3))
    blocked(d, "one", [arg, m, n])
    blocked(d, "two", [arg, n, m])
    found = ask(d, "locks -deadlock")
    tap.equal([(r["threads"], r["certainty"]) for r in found], [(2, "inferred")], "the last local is what is wanted")
    blocked(d, "three", [m], status=WAITING, frames=("java.lang.Object.wait",))
    tap.equal(len(ask(d, "locks -deadlock")), 1, "who let go of a monitor to be notified does not have it")

    d = new()
    m, n = d.new("java.lang.Object"), d.new("java.lang.Object")
    for name in ("one", "two", "three"):
        blocked(d, name, [m, n])
    tap.equal(ask(d, "locks -deadlock"), [], "threads at one place are no deadlock: the owner is not seen")


def of_classes():
    d = new()
    return d, d.add_class("acme.A"), d.add_class("acme.B"), d.add_class("acme.Main")


def static_monitors(tap):
    """The object of a class, which a static synchronized method locks and holds in no local."""
    circle = "locks -deadlock"
    d, a, b, _ = of_classes()
    blocked(d, "one", [a, b], frames=("acme.Main.hold",))
    blocked(d, "two", [b, a], frames=("acme.Main.hold",))
    tap.equal([r["threads"] for r in ask(d, circle)], [2], "two blocks that want each other's class")
    blocked(d, "idle", frames=("acme.Main.sleep", "acme.B.lambda$own$0", "acme.A.<init>"), status=5)
    tap.equal(len(ask(d, circle)), 1, "neither a constructor nor a lambda is synchronized and static")
    blocked(d, "owner", frames=("acme.Main.sleep", "acme.B.own", "acme.A.own"), status=5)
    tap.equal((ask(d, circle), short(rows(d)[a]), short(rows(d)[b])),
              ([], (None, "two", 1, None), (None, "one", 1, None)), "a thread in methods of both may have them")

    d, a, b, _ = of_classes()
    text = d.string("an argument")
    blocked(d, "one", [text], frames=("acme.B.m", "acme.A.m"))
    blocked(d, "two", frames=("acme.A.m", "acme.B.m"))
    blocked(d, "idle", frames=("acme.A.other", "acme.B.other"), status=5)
    tap.equal([(r["threads"], r["certainty"]) for r in ask(d, circle)], [(2, "inferred")],
              "two static synchronized methods: who is in the method has its class")
    got = rows(d)
    tap.equal((short(got[a]), short(got[b]), got[a]["certainty"]),
              (("one", "two", 1, None), ("two", "one", 1, None), "inferred"), "marked as inferred")
    blocked(d, "strange", frames=("acme.B.m",), status=5)
    tap.equal((ask(d, circle), short(rows(d)[b])[0]), ([], None), "two in that method: nobody is named")

    d, a, b, _ = of_classes()
    blocked(d, "one", frames=("acme.B.m", "acme.A.first"))
    blocked(d, "two", frames=("acme.A.m", "acme.B.first"))
    tap.equal(len(ask(d, circle)), 1, "the only thread in a method of the class has it")
    blocked(d, "idle", frames=("acme.A.other",), status=5)
    tap.equal((ask(d, circle), short(rows(d)[a])[0]), ([], None), "of two threads in other methods nobody is named")

    d, a, b, main = of_classes()
    for i in range(3000):
        blocked(d, "t%d" % i, frames=("acme.A.m",) * 3)
    tap.equal(ask(d, circle), [], "3,000 threads at the method of a class end soon")


def main():
    tap = Tap()
    queues(tap)
    static_monitors(tap)
    readers(tap)
    stamped(tap)
    hostile(tap)
    monitors(tap)
    tap.done()


if __name__ == "__main__":
    main()
