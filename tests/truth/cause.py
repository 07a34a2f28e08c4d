#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a dump was written and by which program: info, threads and bt -oom against what is known of real dumps, and made ones.

Of the program Waste the command lines are known (command.txt), and which thread ran out of memory (manifest).  The made
dumps have what must not be mistaken for that: a thread that is making such an error itself, errors that the VM has in
advance, and one that was thrown.
"""

import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn  # noqa: E402
from javadump import JavaDump, named_thread  # noqa: E402

ERROR = "java.lang.OutOfMemoryError"
INIT = ERROR + ".<init>"


def ask(command, dump):
    done = cairn("-x", command, "--format", "json", dump)
    return json.loads(done.out) if done.status == 0 and done.out.strip() else None


def command_of(path):
    """What follows the VM's own options: its class and arguments."""
    with open(path, encoding="utf-8") as f:
        words = f.read().split()
    while not words[0].startswith("waste."):
        words.pop(0)
    return " ".join(words)


def real(tap):
    for folder in sorted(glob.glob(os.path.join(DUMPS, "waste", "jdk*")) + glob.glob(os.path.join(DUMPS, "waste", "oom"))):
        with open(os.path.join(folder, "waste.manifest.json"), encoding="utf-8") as f:
            manifest = json.load(f)
        planted = {p["id"]: p for p in manifest["planted"]}
        for dump in sorted(glob.glob(os.path.join(folder, "waste*.hprof"))):
            title = "/".join(dump.split("/")[-2:])
            info = ask("info", dump)
            tap.equal((info["command_line"], info["java_version"]),
                      (command_of(os.path.join(folder, "command.txt")), manifest["java"]), "%s: what ran" % title)
            victim = planted["oom"]["thread"] if os.path.basename(folder) == "oom" else None
            tap.equal(info.get("oom_thread"), victim, "%s: who ran out of memory" % title)
            tap.equal([t["name"] for t in ask("threads", dump) if t["oom"]], [victim] if victim else [],
                      "%s: threads marks nobody else" % title)
            frames = ask("bt -oom", dump)
            tap.equal(frames and [frames[0]["method"].startswith(INIT), frames[1]["method"].split("(")[0][:11]],
                      [True, "waste.Waste"] if victim else None, "%s: bt -oom" % title)
            if victim:
                tap.ok("Java heap space" in info["oom_kind"] and victim in info["cause"] and
                       frames[1]["method"] in info["cause"], "%s: in words" % title, info["cause"])
            else:
                tap.equal(info.get("cause"), None, "%s: nothing is told of the cause" % title)
                tap.equal(info.get("oom_thrown"), None, "%s: errors made in advance were not thrown" % title)


def limits(tap):
    """How large the heap may grow: as the VM's own list of flags has it, where the program kept its options."""
    n = {"exact": 0, "inferred": 0}
    for path in sorted(glob.glob(os.path.join(DUMPS, "*", "*vmflags.txt")) +
                       glob.glob(os.path.join(DUMPS, "waste", "*", "vmflags.txt"))):
        dump = path.replace(".vmflags.txt", ".hprof").replace("vmflags.txt", "waste.hprof")
        with open(path, encoding="utf-8") as f:
            flag = re.search(r"MaxHeapSize\s*=\s*(\d+)", f.read())
        if not flag or not os.path.exists(dump):
            continue
        info = ask("info", dump)
        inferred = "heap_max_certainty" in info
        n["inferred" if inferred else "exact"] += 1
        got, want = info["heap_max"], int(flag[1])
        # What is inferred leaves out a space of survivors, as Runtime.maxMemory does.
        tap.ok(got == want or (inferred and want * 3 // 4 <= got < want), "%s: heap_max" % os.path.basename(dump),
               "%s, not %d" % (got, want))
    tap.ok(n["exact"] >= 5 and n["inferred"] >= 4, "of both kinds", str(n))


def new():
    d = JavaDump()
    d.add_class(ERROR, fields="detailMessage:L backtrace:L depth:I")
    for message in ("Java heap space", "Metaspace", "Requested array size exceeds VM limit"):
        d.root("jni", d.new(ERROR, detailMessage=d.string(message)))
    d.add_class("acme.A", statics="last:L")
    return d


def look(d):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.hprof")
        d.write(path)
        info = ask("info", path)
        return info.get("oom_thread"), info.get("oom_kind"), info.get("oom_thrown"), cairn("-x", "bt -oom", path).status


def made(tap):
    d = new()
    named_thread(d, "other", 5, ("acme.A.run",))
    tap.equal(look(d), (None, None, None, 1), "errors that the VM has in advance say nothing")
    thrown = d.new(ERROR, detailMessage=d.string("Direct buffer memory"), depth=3)
    d.root("jni", thrown)
    tap.equal(look(d), (None, None, "Direct buffer memory", 1), "one that was thrown")
    _, number = named_thread(d, "making", 5, (INIT, "acme.A.run"))
    d.root("local", thrown, number, 0)
    tap.equal(look(d), (None, None, "Direct buffer memory", 1), "who is making one itself did not run out of memory")
    named_thread(d, "victim", 5, (INIT, "acme.A.fill"))
    tap.equal(look(d), ("victim", None, "Direct buffer memory", 0), "who did; nothing tells the kind")
    d = new()
    d.root("jni", d.array([r for r, c, _ in d.objects if c == ERROR], "java.lang.Object[]"))
    tap.equal(look(d), (None, None, None, 1), "the VM's array of its errors is not the program's")
    mine = d.new(ERROR, detailMessage=d.string("Requested array size exceeds VM limit"))
    d.static("acme.A", "last", mine)
    tap.equal(look(d)[2], "Requested array size exceeds VM limit", "one without a stack that the program kept was thrown")
    other = d.new(ERROR, detailMessage=d.string("Metaspace"))
    _, number = named_thread(d, "catches", 5, ("acme.A.run",))
    d.root("local", other, number, 0)
    tap.equal(look(d)[2], "Requested array size exceeds VM limit; Metaspace", "and one that a frame has")
    d = new()
    at, _ = named_thread(d, "", 5, (INIT, "acme.A.fill"))
    tap.equal(look(d)[0], "<unnamed>", "a thread without name and number")
    d = new()
    named_thread(d, "loads", 5, (INIT, "java.lang.ClassLoader.defineClass1", "acme.A.load"))
    got = look(d)
    tap.ok(got[0] == "loads" and "Metaspace" in got[1], "who defines a class", got)
    d = new()
    named_thread(d, "bare", 5, (INIT,))
    tap.equal(look(d), ("bare", None, None, 0), "a stack of that frame alone")


def direct_limit(tap):
    """VM.directMemory is the heap's limit only where the VM was not given one of its own: its saved properties say so."""
    given, mb = "sun.nio.MaxDirectMemorySize", 1 << 20
    for keys, want in (({"java.home": "/"}, 64 * mb), ({"java.home": "/", given: "67108864"}, None),
                       ({given: "-1"}, 64 * mb), (None, None)):
        d = JavaDump()
        vm = "jdk.internal.misc.VM"
        d.add_class(vm, statics="directMemory:J savedProps:L")
        d.add_class("java.util.HashMap", fields="table:L size:I")
        d.add_class("java.util.HashMap$Node", fields="hash:I key:L value:L next:L")
        d.add_class("java.util.HashMap$Node[]")
        d.static(vm, "directMemory", 64 * mb)
        if keys is not None:
            nodes = [d.new("java.util.HashMap$Node", key=d.string(k), value=d.string(v)) for k, v in keys.items()]
            table = d.array(nodes + [0] * (4 - len(nodes)), "java.util.HashMap$Node[]")
            d.static(vm, "savedProps", d.new("java.util.HashMap", table=table, size=len(nodes)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "made.hprof")
            d.write(path)
            tap.equal(ask("info", path).get("heap_max"), want, "heap_max of %s" % keys)


def found(tap):
    """A virtual thread without a name, and a program that keeps what it threw: its own output says what."""
    folder = os.path.join(DUMPS, "found", "truth", "09-oom-sentence-and-thrown")
    if not os.path.isdir(folder):
        tap.skip("found errors", "CAIRN_DUMPS has none")
        return
    voom = os.path.join(folder, "voom.hprof")
    tid = [t["tid"] for t in ask("threads", voom) if t["oom"]]
    info = ask("info", voom)
    tap.equal((info["oom_thread"], info["cause"].split(",")[0]), ("#%d" % tid[0], ERROR + " in thread #%d" % tid[0]),
              "a thread without a name has a number")
    with open(os.path.join(folder, "thrown.txt"), encoding="utf-8") as f:
        lines = [line[4:].split(" | ")[0].replace(ERROR, "").strip(": \n") for line in f if line.startswith("ERR ")]
    # "Requested array size" was thrown twice and is one error
    want = sorted(lines)
    want.remove("Requested array size exceeds VM limit")
    got = ask("info", os.path.join(folder, "thrown.hprof"))["oom_thrown"]
    shown, more = got.rsplit("; and ", 1)
    shown = ["" if s == "without a message" else s for s in shown.split("; ")]
    tap.equal(len(shown) + int(more.split()[0]), len(want), "as many errors as the program kept")
    left = list(want)
    for s in shown:
        if s in left:
            left.remove(s)
    tap.equal(len(left), len(want) - len(shown), "each of them is one of its own")


def main():
    tap = Tap()
    made(tap)
    direct_limit(tap)
    if DUMPS:
        real(tap)
        found(tap)
        limits(tap)
    else:
        tap.skip("real dumps", "CAIRN_DUMPS is not set")
    tap.done()


if __name__ == "__main__":
    main()
