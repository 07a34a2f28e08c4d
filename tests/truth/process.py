#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What info tells of the process: of javacores, held against a reader of this test's own, and of Go dumps,
against the plain reader of records in tests/lib.

A javacore made here has what the real ones lack: a signal, limits, secrets.  A Go dump made of data/gocart.dump
has roots that the runtime describes, experiments, and other pauses.
"""

import glob
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, SAMPLE, SHOP, Tap, cairn  # noqa: E402
from godump import records  # noqa: E402


def answer(line, path, *options):
    done = cairn("--format", "json", *options, "-x", line, path)
    return json.loads(done.out) if done.out else done


# --- javacores ----------------------------------------------------------------------------------------

def lines_of(path):
    charset = "utf-8"
    with open(path, "rb") as f:
        data = f.read()
    named = re.search(rb"^1TICHARSET\s+(\S+)", data, re.M)
    if named and named[1].isdigit():
        charset = "cp" + named[1].decode()
    for line in data.decode(charset, "replace").splitlines():
        tag, _, rest = line.partition(" ")
        yield tag, rest


def first(lines, tag, pattern=r"\s*(.*?)\s*$"):
    for t, rest in lines:
        found = re.match(pattern, rest) if t == tag else None
        if found:
            return found[1]
    return None


def iso(stamp):
    return stamp and re.sub(r"(\d+)/(\d+)/(\d+) at (\S+)", r"\1-\2-\3T\4", stamp)


def number(digits, base=10):
    return digits and int(digits, base)


def truth_of(path):
    lines = list(lines_of(path))
    stamp = r".*?(\d{4}/\d\d/\d\d at \d\d:\d\d:\d\d)"
    maxima = [a for a in (re.match(r"\s*-Xmx(\d+)([kmgKMG]?)\s*$", r) for t, r in lines if t == "2CIUSERARG") if a]
    told = {
        "cause": first(lines, "1TISIGINFO"),
        "cause_date": iso(first(lines, "1TIDATETIME", stamp)),
        "command_line": first(lines, "1CICMDLINE"),
        "started": iso(first(lines, "1CISTARTTIME", stamp)),
        "process_id": number(first(lines, "1CIPROCESSID", r".*Process ID: (\d+)")),
        "java_version": first(lines, "1CIJAVAVERSION"),
        "vm_version": first(lines, "1CIVMVERSION"),
        "os": first(lines, "2XHOSLEVEL", r"[^:]*:\s*(.*?)\s*$"),
        "cpus": number(first(lines, "3XHNUMCPUS", r".*?(\d+)\s*$")),
        "signal": number(first(lines, "1XHEXCPCODE", r"\s*Signal_Number: ([0-9A-Fa-f]+)"), 16),
        "heap_max": int(maxima[-1][1]) << {"": 0, "k": 10, "m": 20, "g": 30}[maxima[-1][2].lower()] if maxima else None,
        "heap_total": number(first(lines, "1STHEAPTOTAL", r"\s*Total memory:\s*(\d+)")),
        "heap_used": number(first(lines, "1STHEAPINUSE", r"\s*Total memory in use:\s*(\d+)")),
    }
    free = first(lines, "1STHEAPFREE", r"\s*Bytes of Heap Space Free:\s*([0-9A-Fa-f]+)")
    size = first(lines, "1STHEAPALLOC", r"\s*Bytes of Heap Space Allocated:\s*([0-9A-Fa-f]+)")
    if free and size:
        told["heap_total"] = int(size, 16)
        told["heap_used"] = int(size, 16) - int(free, 16)
    arguments = [{"argument": r.strip()} for t, r in lines if t == "2CIUSERARG"]
    limits = [dict(zip(("name", "soft", "hard"), r.split())) for t, r in lines if t == "2CIUSERLIMIT"]
    variables = []
    for t, rest in lines:
        if t == "2CIENVVAR":
            rest = rest.lstrip(" ")
            at = rest.index("=", 1)
            variables.append({"name": rest[:at], "value": rest[at + 1:]})
    return told, arguments, limits, variables


def masked(rows, secrets):
    """The rows with the secrets that this test knows of replaced."""
    text = json.dumps(rows)
    for s in secrets:
        text = text.replace(s, "***")
    return json.loads(text)


def check_javacore(tap, name, dump, javacore, secrets=()):
    options = ("--javacore", javacore)
    told, arguments, limits, variables = masked(truth_of(javacore), secrets)
    info = answer("info", dump, *options)
    tap.equal({k: info.get(k) for k in told}, told, name + ": info")
    for word, want in (("args", arguments), ("limits", limits), ("env", variables)):
        got = answer("info -" + word, dump, *options)
        if want:
            tap.equal(got, want, "%s: info -%s, %d rows" % (name, word, len(want)))
        else:
            tap.ok(not isinstance(got, list) and got.status == 1 and "the javacore has no" in got.err,
                   "%s: info -%s says that there are none" % (name, word), got)
    return info


SECRETS = ("hunter2", "s3cr3t words", "tok-1", "rose", "u:pw")
MADE = """0SECTION       TITLE subcomponent dump routine
1TICHARSET     UTF-8
1TISIGINFO     Dump Event "systhrow" (00040000) Detail "java/lang/OutOfMemoryError" "Java heap space" received
1TIDATETIME    Date: 2021/02/03 at 04:05:06:789
0SECTION       GPINFO subcomponent dump routine
2XHOSLEVEL     OS Level         : Linux 5.14.0-70.el9.x86_64
3XHCPUARCH       Architecture   : amd64
3XHNUMCPUS       How Many       : 16
1XHEXCPCODE    J9Generic_Signal_Number: 00000018
1XHEXCPCODE    Signal_Number: 0000000B
0SECTION       ENVINFO subcomponent dump routine
1CIJAVAVERSION JRE 11 Linux amd64-64 (build 11.0.10)
1CIVMVERSION   20210118_899
1CISTARTTIME   JVM start time: 2021/02/03 at 01:02:03:004
1CIPROCESSID   Process ID: 271828 (0x425D4)
1CICMDLINE     java -Xmx4g -Dx.password=hunter2 "-Dsecret.text=s3cr3t words" -jar a.jar --token tok-1
1CIUSERARGS    UserArgs:
2CIUSERARG               -Xmx512m
2CIUSERARG               -Dx.password=hunter2
2CIUSERARG               -Xmx4g
1CIUSERLIMITS  User Limits (in bytes except for NOFILE and NPROC)
NULL           type                            soft limit           hard limit
2CIUSERLIMIT   RLIMIT_AS                        unlimited            unlimited
2CIUSERLIMIT   RLIMIT_NOFILE                         1024                 4096
1CIENVVARS     Environment Variables
2CIENVVAR      PWD=/srv
2CIENVVAR      EMPTY=
2CIENVVAR      API_KEY=rose
2CIENVVAR      DATABASE_URL=postgres://u:pw@db/shop
2CIENVVAR      STRANGE=a=b \x01c
0SECTION       MEMINFO subcomponent dump routine
1STHEAPTOTAL   Total memory:                  4294967296 (0x0000000100000000)
1STHEAPINUSE   Total memory in use:           4000000000 (0x00000000EE6B2800)
"""


def made_javacore(tap, folder):
    path = os.path.join(folder, "made.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(MADE.replace("\x01", ""))
    check_javacore(tap, "a javacore made here", SAMPLE, path, SECRETS)
    everything = cairn("--javacore", path, "-x", "info", "-x", "info -args", "-x", "info -env", SAMPLE).out
    tap.ok("***" in everything, "secrets are masked", everything)
    tap.none([s for s in SECRETS if s in everything], SECRETS, "no secret is printed")
    with open(path, "w", encoding="utf-8") as f:
        f.write(MADE)
    row = answer("info -env", SAMPLE, "--javacore", path)[-1]
    tap.equal(row, {"name": "STRANGE", "value": "a=b \\x01c"}, "a control character is escaped")
    with open(path, "w", encoding="ascii") as f:
        f.write("0SECTION       TITLE\n2CIENVVAR\n2CIENVVAR      =\n2CIENVVAR      NAME\n2CIUSERLIMIT   X 1\n"
                "2CIUSERARG\n1CIPROCESSID   Process ID: 99999999999999999999999\n2CIUSERARG               -Xmx\n"
                "1STHEAPTOTAL   Total memory:\n3XHNUMCPUS\n1CISTARTTIME   JVM start time: 2021/02\n")
    info = answer("info", SAMPLE, "--javacore", path)
    tap.none([k for k in ("process_id", "heap_max", "heap_total", "cpus", "started") if k in info], info,
             "what a damaged javacore does not tell is left out")
    for word in ("env", "limits"):
        none = cairn("--javacore", path, "-x", "info -" + word, SAMPLE)
        tap.ok(none.status == 1 and "has no" in none.err, "info -%s of it says so" % word, none)


def no_javacore(tap, folder):
    alone = os.path.join(folder, "alone.phd")
    shutil.copy(SAMPLE, alone)
    for path, words in ((alone, "PHD has no environment variables (open it with its javacore)"),
                        (SHOP, "HPROF has no environment variables"), (GO, "a Go dump has no environment variables")):
        done = cairn("-x", "info -env", path)
        tap.ok(done.status == 1 and words in done.err and not done.out, "without a javacore: " + words, done)


def made_properties(tap, folder):
    """A property's name becomes another of the same length."""
    path = os.path.join(folder, "made.hprof")
    with open(SHOP, "rb") as f:
        data = f.read()
    plain = {r["key"]: r["value"] for r in answer("props", SHOP)}
    tap.ok(data.count(b"user.dir") == 1 and plain["user.dir"] not in ("", "***"), "a property that is no secret", plain)
    with open(path, "wb") as f:
        f.write(data.replace(b"user.dir", b"user.pwd"))
    want = {("user.pwd" if k == "user.dir" else k): ("***" if k == "user.dir" else v) for k, v in plain.items()}
    tap.equal({r["key"]: r["value"] for r in answer("props", path)}, want, "props masks what is secret by its name")


# --- Go -----------------------------------------------------------------------------------------------

def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def text(s):
    return varint(len(s)) + s


def check_go(tap, path):
    name = os.path.basename(path)
    params = stats = None
    for r in records(path):
        if r.kind == "params":
            params = r
        elif r.kind == "memstats":
            stats = r.numbers
    info = answer("info", path)
    pauses, n_gc = stats[24:280], stats[280]
    known = pauses[:min(n_gc, 256)]
    release, _, experiments = params.version.decode().partition(" X:")
    want = {"cpus": params.cpus, "heap_start": "0x%x" % params.start, "heap_end": "0x%x" % params.end,
            "experiments": experiments.split(" ")[0] or None, "NumGC": n_gc, "PauseTotalNs": stats[23],
            "pause_last_ns": pauses[(n_gc + 255) % 256] if n_gc else None,
            "pause_longest_ns": max(known) if known else None, "Sys": stats[2], "HeapSys": stats[7],
            "HeapIdle": stats[8], "HeapReleased": stats[10], "StackInuse": stats[12], "NextGC": stats[21]}
    tap.equal({k: info.get(k) for k in want}, want, name + ": cpus, heap range, experiments, pauses, memory")
    tap.ok(release in info["vm"], name + ": the release", info["vm"])


def made_go(tap, folder):
    """Other roots behind the parameters, another release, and a ring of pauses that went round."""
    path = os.path.join(folder, "made.dump")
    with open(GO, "rb") as f:
        data = f.read()
    places = {r.kind: r for r in records(GO) if r.kind in ("params", "memstats")}
    objects = [r.address for r in records(GO) if r.kind == "object"][:400]
    p, m = places["params"], places["memstats"]
    params = (varint(6) + varint(p.big_endian) + varint(p.pointer) + varint(p.start) + varint(p.end) + text(p.arch) +
              text(b"go1.19.8 X:arenas,boring\x01crypto next") + varint(96))
    roots = (varint(2) + text(b"finalizer queue") + varint(objects[100]) + varint(2) + text(b"a \x1b[31mred root") +
             varint(objects[200] + 8) + varint(2) + text(b"") + varint(objects[300]) + varint(2) + text(b"nowhere") +
             varint(0))
    numbers = list(m.numbers)
    numbers[24:280] = [1000 + i for i in range(256)]
    numbers[24 + 41] = 77
    numbers[280] = 256 + 42
    stats = varint(10) + b"".join(varint(n) for n in numbers)
    end = m.begin + m.length
    with open(path, "wb") as f:
        f.write(data[:p.begin] + params + roots + data[p.begin + p.length:m.begin] + stats + data[end:])
    info = answer("info", path)
    tap.equal([info.get(k) for k in ("cpus", "experiments", "pause_last_ns", "pause_longest_ns")],
              [96, "arenas,boring\\x01crypto", 77, 1255], "a made Go dump: cpus, experiments, pauses")
    rows = [r for r in answer("roots", path) if r["kind"] == "VM internal"]
    tap.equal(sorted((r["address"], r["description"], r["slot"]) for r in rows),
              sorted([("0x%x" % objects[100], "finalizer queue", None),
                      ("0x%x" % objects[200], "a \\x1b[31mred root", None), ("0x%x" % objects[300], None, None)]),
              "and the roots that the runtime describes")
    told = answer("x 0x%x" % objects[100], path)
    tap.ok("VM internal (finalizer queue)" in told["root"], "x says so, too", told["root"])


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        made_javacore(tap, folder)
        no_javacore(tap, folder)
        made_go(tap, folder)
        made_properties(tap, folder)
    sample = SAMPLE.replace("heapdump", "javacore").replace(".phd", ".txt")
    check_javacore(tap, os.path.basename(sample), SAMPLE, sample, ("tulip-4711", "rose-0815"))
    check_go(tap, GO)
    if not DUMPS:
        tap.skip("real dumps", "CAIRN_DUMPS is not set")
        tap.done()
    for dump in sorted(glob.glob(os.path.join(DUMPS, "openj9/*.phd"))):
        stem = re.sub(r"heapdump\.(\d+\.\d+\.\d+)\..*", r"javacore.\1.*.txt", os.path.basename(dump))
        for javacore in glob.glob(os.path.join(DUMPS, "openj9", stem)):
            check_javacore(tap, os.path.basename(javacore), dump, javacore)
    for path in sorted(glob.glob(os.path.join(DUMPS, "go/*.dump")) + glob.glob(os.path.join(DUMPS, "today/*.dump"))):
        check_go(tap, path)
    tap.done()


main()
