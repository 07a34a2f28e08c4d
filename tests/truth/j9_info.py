#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cairn says of a system dump of OpenJ9 as a whole: against the javacore of the same moment, jdmpview, and the
core itself where a thread runs, a secret is in the environment, or memory is missing.
"""

import glob
import json
import os
import re
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import QUICK, Tap, cairn, some  # noqa: E402
from j9_core import Structures  # noqa: E402
from j9_sets import folders, text_of, unpack  # noqa: E402


class Core(Structures):
    """A system dump whose bytes may be changed."""

    def __init__(self, data):
        self.data = bytearray(data)
        super().__init__(self.data)

    def put(self, address, structure, member, value):
        offset, kind = self.names.find(structure, member)
        n = self.names.width(kind)
        at = self.memory.offset(address + offset, n)
        self.data[at:at + n] = value.to_bytes(n, self.memory.order)

    def threads(self):
        return self.chain(self.get(self.vm, "J9JavaVM", "mainThread"), "J9VMThread", "linkNext")

    def segment_of(self, address):
        """Where it begins in the file, and how many bytes it has."""
        return next((o, end - a) for a, end, o in self.memory.segments if a <= address < end)

    def without(self, segment):
        """A copy in which a segment is not in the file: its header says that it has no bytes there."""
        data = bytearray(self.data)
        table, n = (int.from_bytes(data[a:b], "little") for a, b in ((32, 40), (56, 58)))
        header = next(h for h in range(table, table + 56 * n, 56) if data[h + 32:h + 40] != bytes(8) and
                      data[h] == 1 and int.from_bytes(data[h + 8:h + 16], "little") == segment[0])
        data[header + 32:header + 40] = bytes(8)
        return data


def facts(path, *options):
    run = cairn("-n", "--no-index", "--format", "json", *options, "-x", "info", path)
    return run, {k: v for k, v in json.loads(run.out or "{}").items() if v is not None}


def rows(path, what, column):
    run = cairn("-n", "--no-index", "--format", "json", "-x", "info " + what, path)
    return [row[column] for row in json.loads(run.out)] if run.status == 0 else run.err


def tagged(text, tag):
    return [line[len(tag):].strip() for line in text.split("\n") if line.startswith(tag + " ")]


def iso(date):
    """2026/11/26 at 19:17:14:398 of a machine in UTC."""
    return re.sub(r"(\d+)/(\d+)/(\d+)(?: at)? ([\d:]{8}).*", r"\1-\2-\3T\4Z", date)


def want_of(javacore, jdmpview):
    """What the javacore and jdmpview say, as info has it."""
    options = tagged(javacore, "2CIUSERARG")
    policy = [o.split(":")[1] for o in options if o.startswith("-Xgcpolicy:")]
    want = {
        "cause": tagged(javacore, "1TISIGINFO")[0],
        "process_id": int(re.search(r"(\d+)", tagged(javacore, "1CIPROCESSID")[0]).group(1)),
        "command_line": tagged(javacore, "1CICMDLINE")[0],
        "java_version": tagged(javacore, "1CIJAVAVERSION")[0],
        "vm": tagged(javacore, "1CIJAVAVERSION")[0],
        "os": tagged(javacore, "2XHOSLEVEL")[0].split(":")[1].strip(),
        "cpus": int(tagged(javacore, "3XHNUMCPUS")[0].split(":")[1]),
        "started": iso(tagged(javacore, "1CISTARTTIME")[0].split(": ", 1)[1]),
        "heap_total": int(re.search(r": +(\d+)", tagged(javacore, "1STHEAPTOTAL")[0]).group(1)),
        "heap_max": int([o for o in options if o.startswith("-Xmx")][-1][4:-1]) << 20,
        "gc_policy": (policy or ["gencon"])[-1],
        "reference_bytes": 8 if "-Xnocompressedrefs" in options else 4,
    }
    if jdmpview:
        want["created"] = iso(re.search(r"Dump creation time: (.*)", jdmpview).group(1))
        want["host"] = re.search(r"Machine name:\s+(.*)", jdmpview).group(1)
        want["started"] = iso(re.search(r"JVM start time: (.*)", jdmpview).group(1))
    return want, options


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def check_set(tap, folder, work):
    name = os.path.basename(folder)
    path = unpack(folder, os.path.join(work, name + ".core"))
    javacore = text_of(sorted(glob.glob(os.path.join(folder, "javacore*.txt")))[0])
    jdmpview = "".join(map(text_of, glob.glob(os.path.join(folder, "jdmpview-core.txt.xz"))))
    want, options = want_of(javacore, jdmpview)
    run, got = facts(path)
    tap.ok(run.status == 0, name + ": it is read", run)
    tap.equal({k: got.get(k) for k in want}, want, name + ": the process is as the javacore and jdmpview have it")
    tap.equal(rows(path, "-args", "argument"), options, name + ": options")
    variables = [v.split("=", 1) for v in tagged(javacore, "2CIENVVAR")]
    tap.equal(rows(path, "-env", "value"), [v[1] for v in variables], name + ": environment")
    run = cairn("-n", "--no-index", "--format", "json", "-x", "threads | head 1", path)
    tap.ok("OutOfMemoryError" not in want["cause"] or json.loads(run.out)[0]["name"] == got["oom_thread"],
           name + ": the thread that ran out of memory is the first", run)
    tap.ok("running" not in got.get("cannot_tell", ""), name + ": threads stood still", got.get("cannot_tell"))
    return path


def check_joined(tap, folder, path, work):
    """A javacore next to the core, next to a zip of the core, and in the zip."""
    javacore = sorted(glob.glob(os.path.join(folder, "javacore*.txt")))[0]
    core = os.path.basename(glob.glob(os.path.join(folder, "core*.dmp.xz"))[0])[:-3]
    text = text_of(javacore)
    ids = {name: int(number, 16) for name, number in re.findall(
        r'3XMTHREADINFO +"(.*?)" J9VMThread:.*\n3XMJAVALTHREAD +\(java/lang/Thread getId:0x(\w+)', text)}
    beside = os.path.join(work, "beside")
    os.mkdir(beside)
    os.symlink(path, os.path.join(beside, core))
    with open(javacore, "rb") as f:
        write(os.path.join(beside, os.path.basename(javacore)), f.read())
    with zipfile.ZipFile(os.path.join(beside, core + ".zip"), "w", zipfile.ZIP_STORED) as z:
        z.write(path, core)
        z.writestr("opt/lib/libj9vm29.so", b"\x7fELF\2\1\1" + bytes(200))
        z.writestr("opt/lib/j9ddr.dat", bytes(200))
    with zipfile.ZipFile(os.path.join(work, "jextract.zip"), "w", zipfile.ZIP_STORED) as z:
        z.write(path, core)
        z.write(javacore, os.path.basename(javacore))
    for dump in os.path.join(beside, core), os.path.join(beside, core + ".zip"), os.path.join(work, "jextract.zip"):
        where = os.path.relpath(dump, work)
        run, got = facts(dump)
        tap.ok(got.get("companion", "").endswith(os.path.basename(javacore)), where + ": the javacore is found", run)
        tap.equal(got.get("cause_date"), iso(tagged(text, "1TIDATETIME")[0].split(": ", 1)[1])[:-1],
                  where + ": the javacore tells when")
        tap.equal(got.get("gc_policy"), "gencon", where + ": the core tells what the javacore does not")
        run = cairn("-n", "--no-index", "--format", "json", "-x", "threads", dump)
        got = {row["name"]: row.get("tid") for row in json.loads(run.out)}
        odd = [name for name in ids if got.get(name) != ids[name]]  # the thread that asks for both is another by then
        tap.ok(len(odd) <= 1, where + ": ids of threads", odd)
        tap.equal(sorted(got), sorted(ids), where + ": names of threads")
        run = cairn("-n", "--no-index", "--format", "json", "-x", "loaders", dump)
        parents = {int(a, 16): int(b, 16) for a, b in re.findall(
            r"2CLTEXTCLLOADER.*\(0x(\w+)\), Parent .*\(0x(\w+)\)", text) if int(b, 16)}
        got = {int(row["address"], 16): int(row["parent"], 16) for row in json.loads(run.out) if row["parent"]}
        tap.equal(got, parents, where + ": parents of loaders, which only the javacore has")


def check_changed(tap, path, work):
    with open(path, "rb") as f:
        core = Core(f.read())
    changed = os.path.join(work, "changed.core")

    where = core.data.find(b"\0LANG=C.UTF-8\0")
    secret = Core(core.data)
    secret.data[where:where + 14] = b"\0TOKEN=abcdef\0"
    write(changed, secret.data)
    run = cairn("-n", "--no-index", "-x", "info -env", changed)
    tap.ok(re.search(r"(?m)^TOKEN +\*\*\*$", run.out) and "abcdef" not in run.out, "a secret is masked", run)

    moving = Core(core.data)
    moving.put(core.vm, "J9JavaVM", "exclusiveAccessState", 0)
    for thread in list(core.threads())[:3]:
        moving.put(thread, "J9VMThread", "publicFlags", 0x20)
        moving.put(thread, "J9VMThread", "inNative", 0)
    running = sum(moving.get(t, "J9VMThread", "publicFlags") & 0x20 and not moving.get(t, "J9VMThread", "inNative")
                  for t in core.threads())
    write(changed, moving.data)
    _, got = facts(changed)
    tap.ok("%d threads were running" % running in got["cannot_tell"], "threads that ran are told", got["cannot_tell"])
    omr = moving.get(list(core.threads())[0], "J9VMThread", "omrVMThread")
    moving.put(omr, "OMR_VMThread", "vmState", 0x20003)
    write(changed, moving.data)
    _, got = facts(changed)
    tap.ok("collector was running" in got["cannot_tell"], "a collection is told", got["cannot_tell"])

    ends = Core(core.data)
    ends.put(core.ras, "J9RAS", "dumpTimeMillis", 0)
    write(changed, ends.data)
    _, got = facts(changed)
    tap.ok("cause" not in got and got.get("signal") == 11, "a core of the system's own: its signal", got)


def check_lacks(tap, folder, path, work):
    with open(path, "rb") as f:
        core = Core(f.read())
    changed, size = os.path.join(work, "changed.core"), len(core.data)
    _, whole = facts(path)
    write(changed, core.data[:-1])
    run, got = facts(changed)
    tap.ok(run.status == 4 and re.search(r"truncated at byte %d: .*\b1 byte of memory is missing" % (size - 1), run.err) and
           got["objects"] == whole["objects"], "a byte is missing: all objects, and the damage", run)
    blob = core.memory.offset(core.memory.number(core.ras + 24, 8))
    write(changed, core.data[:blob + 100])
    run, _ = facts(changed)
    tap.ok(run.status == 3 and "description of its structures" in run.err, "truncated in the description", run)
    heap = core.segment_of(int(re.search(r"0x0*([0-9A-F]+)", tagged(text_of(sorted(glob.glob(os.path.join(folder,
        "javacore*.txt")))[0]), "1STHEAPREGION")[0].split()[1]).group(1), 16))
    lost = heap[1]
    write(changed, core.without(heap))
    run, got = facts(changed)
    tap.ok(run.status == 4 and "%d bytes of the heap are not in the core" % lost in run.err and
           0 < got["objects"] < whole["objects"], "a segment of the heap is missing", run)
    classes = core.get(core.get(core.vm, "J9JavaVM", "classMemorySegments"), "J9MemorySegmentList", "nextSegment")
    write(changed, core.without(core.segment_of(classes)))
    run, _ = facts(changed)
    tap.ok(run.status == 3 and "classes" in run.err, "the classes are missing", run)
    faults, looked_at = [], 0
    for cut in some(range(blob // 4096 * 4096, size, 4096), 600 if QUICK else 150):
        write(changed, core.data[:cut])
        run, got = facts(changed)
        looked_at += 1
        if not (run.status == 3 and "truncated at byte" in run.err or run.status == 4 and
                "truncated at byte %d" % cut in run.err and got["objects"] == whole["objects"]):
            faults.append("%d: %s" % (cut, run))
    tap.none(faults, looked_at, "cut at pages behind the heap")


def main():
    tap = Tap()
    sets = folders()
    tap.ok(len(sets) >= 5, "there are system dumps", sets)
    with tempfile.TemporaryDirectory() as work:
        of_turn = some(sets, 3)
        for folder in sets:
            if folder not in of_turn and os.path.basename(folder) != "grove-clean":
                continue
            path = check_set(tap, folder, work)
            if os.path.basename(folder) == "grove-clean":
                check_joined(tap, folder, path, work)
                check_changed(tap, path, work)
                check_lacks(tap, folder, path, work)
            os.unlink(path)
    tap.done()


main()
