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
            if victim:
                tap.equal(ask("threads | head 1", dump)[0]["name"], victim, "%s: it is the first row" % title)
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


JAVACORE = """0SECTION       TITLE subcomponent dump routine
1TISIGINFO     Dump Event "%s" received
1TIDATETIME    Date: 2026/08/04 at 02:59:47:101
0SECTION       THREADS subcomponent dump routine
1XMCURTHDINFO  Current thread
%s1XMTHDINFO     All Thread Details
%s%s"""
OOM = 'systhrow" (00040000) Detail "java/lang/OutOfMemoryError'


def thread_lines(name, address, number):
    return ('3XMTHREADINFO      "%s" J9VMThread:0x%X, omrthread_t:0x1, java/lang/Thread:0x%X, state:R, prio=5\n'
            "3XMJAVALTHREAD            (java/lang/Thread getId:0x%X, isDaemon:false)\n"
            "4XESTACKTRACE                at acme/Cache.fill(Cache.java:7)\n" % (name, address, address, number))


def made_javacores(tap):
    """Which event, which thread, and which file's name."""
    classic = ("// Version: JRE 1.8.0 Linux amd64-64\n0x100000 [64] CLS java/lang/Object\n\t\n"
               "0x100100 [64] CLS java/lang/Thread\n\t\n0xE0000000 [64] OBJ java/lang/Thread\n\t\n"
               "0xE0000040 [64] OBJ java/lang/Thread\n\t\n// EOF:  Total 'Objects',Refs(null) : 4,0(0)\n")
    a, b = thread_lines("first", 0xE0000000, 1), thread_lines("second", 0xE0000040, 0x2A)
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "heapdump.20260804.025947.3576.0002.txt")
        with open(dump, "w", encoding="utf-8") as f:
            f.write(classic)

        def told(event, current, name="javacore.20260804.025947.3576.0011.txt"):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(JAVACORE % (event, current, a, b))
            threads = ask("threads", dump) or []
            info = cairn("-x", "info", "--format", "json", dump)
            os.unlink(path)
            return ({t["name"]: (t["tid"], t["oom"]) for t in threads}, json.loads(info.out).get("oom_thread"),
                    json.loads(info.out).get("oom_kind"), name in info.err)
        both = {"first": (1, False), "second": (0x2A, False)}
        tap.equal(told(OOM, b), ({**both, "second": (0x2A, True)}, "second", None, False), "the second thread ran out")
        tap.equal(list(told(OOM, b)[0]), ["second", "first"], "and is the first row")
        tap.equal(told(OOM + '" "Java heap space', a),
                  ({**both, "first": (1, True)}, "first", "Java heap space", False), "the first one did, of heap space")
        tap.equal(told(OOM + '" "my secret', a)[1:], ("first", None, False), "a message of the program is no kind")
        tap.equal(told(OOM, ""), (both, None, None, False), "no thread is called current")
        tap.equal(told('user" (00004000', b), (both, None, None, False), "a user's event is no lack of memory")
        tap.equal(told('systhrow" (00040000) Detail "java/lang/StackOverflowError', b), (both, None, None, False),
                  "nor is another error")
        for other in ("javacore.20260804.030947.3576.0003.txt", "javacore.20260803.025947.3576.0002.txt"):
            tap.equal(told(OOM, b, other), ({}, None, None, True), "%s is passed over, and named" % other)
        tap.equal(told(OOM, b, "javacore.20260804.025947.3577.0003.txt"), ({}, None, None, False),
                  "that of another process is none of ours")


def openj9(tap):
    """What is found of a real OpenJ9's out-of-memory event, and of public bug reports (their README has the values)."""
    reports = os.path.join(DUMPS, "found", "reports")
    for folder, name in (("01-javacore-not-found", "0002"), ("02-j9-oom-thread", "0003"), ("18-javacore-tid", "0002")):
        dump, = glob.glob(os.path.join(reports, folder, "heapdump*.%s.txt" % name))
        info = ask("info", dump)
        number = "0003" if folder.startswith("18") else "0004"
        tap.ok((info["companion"] or "").endswith("javacore.20260804.025944.3576.%s.txt" % number),
               "%s: its javacore" % folder, info["companion"])
        tap.ok('"systhrow"' in info["cause"] and info["oom_thread"] == "worker-7", "%s: who ran out" % folder, info)
        tap.equal([r["name"] for r in ask("overview", dump) if r["section"] == "cause"],
                  ["OutOfMemoryError in thread worker-7"] if "Java heap" not in info["cause"] else
                  ["OutOfMemoryError: Java heap space in thread worker-7"], "%s: in a line" % folder)
        tap.equal([(t["name"], t["oom"], t["tid"]) for t in ask("threads", dump)],
                  [("worker-7", True, 0x17), ("main", False, 1)], "%s: threads" % folder)
        tap.equal(ask("bt -oom", dump)[0]["method"], "com.example.Cache.fill(Cache.java:42)", "%s: bt -oom" % folder)
    dump, = glob.glob(os.path.join(reports, "13-leaks-thread-name", "heapdump*.txt"))
    leaks = cairn("-x", "leaks", dump).out
    tap.ok('java.lang.Thread "worker-7" 0xe0000040 retains' in leaks, "leaks names the thread", leaks)
    tap.equal([r["value"] for r in ask("top | head 1", dump)], ["worker-7"], "top names it")
    for dump in sorted(glob.glob(os.path.join(DUMPS, "openj9-real", "leaky-default", "heapdump*.phd"))):
        tap.equal((ask("info", dump)["oom_thread"], ask("info", dump)["oom_kind"]), ("leaky-eater", "Java heap space"),
                  "%s: who ran out" % os.path.basename(dump))
        tap.equal([(t["name"], t["tid"]) for t in ask("threads", dump) if t["oom"]], [("leaky-eater", 0x16)],
                  "%s: threads" % os.path.basename(dump))
        tap.ok(ask("bt -oom", dump)[0]["method"].startswith("Leaky"), "%s: bt -oom" % os.path.basename(dump))


def main():
    tap = Tap()
    made(tap)
    made_javacores(tap)
    direct_limit(tap)
    if DUMPS:
        openj9(tap)
        real(tap)
        found(tap)
        limits(tap)
    else:
        tap.skip("real dumps", "CAIRN_DUMPS is not set")
    tap.done()


if __name__ == "__main__":
    main()
