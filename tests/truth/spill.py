#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What does not fit into --mem goes into a file: the same answers, a sentence where the disk is full, nothing left behind."""

import glob
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, DUMPS, MKDUMP, Run, Tap  # noqa: E402

MB = 1 << 20
LINES = ("histo", "dom | head 30", "ls * -sort retained | head 40", "leaks", "roots | head 20", "check | cut check,result,detail",
         "paths #100", "refs #77 | head 20", "tree -by package", "cut #5")
WEAK = ("set weak off", "ls * -sort retained | head 20")  # of those formats that know weak references


def answers(dump, *options, **how):
    lines = LINES + (WEAK if "hprof" in os.path.basename(dump) else ())
    words = [word for line in lines for word in ("-x", line)]
    return Run([CAIRN, "--format", "csv", *options, *words, dump], **how)


def make(t, folder):
    """(name, dump, MB that do not suffice) of each format."""
    path = {name: os.path.join(folder, name) for name in ("big.phd", "big.txt", "big.godump")}
    made = [Run([MKDUMP, "bench", "--objects", "200000", "--phd", path["big.phd"], "--classic", path["big.txt"]]),
            Run([MKDUMP, "go-bench", "--objects", "200000", "--out", path["big.godump"]])]
    t.ok(all(m.status == 0 for m in made), "dumps of several formats are made", "\n".join(map(str, made)))
    found = [("PHD", path["big.phd"], 6), ("classic", path["big.txt"], 6), ("Go", path["big.godump"], 6)]
    hprof = glob.glob(os.path.join(DUMPS, "tide", "jdk17-g1", "tide-4.hprof")) if DUMPS else []
    if hprof:
        found.append(("HPROF", hprof[0], 4))
        zipped = os.path.join(folder, "tide.hprof.gz")
        with open(zipped, "wb") as to:
            subprocess.run(["gzip", "-1", "-c", hprof[0]], stdout=to, check=True)
        found.append(("HPROF in gzip", zipped, 4))
    else:
        t.skip("an HPROF dump", "CAIRN_DUMPS has none")
    return found


def check_same(t, name, dump, most):
    mem = "%dM" % most
    whole = answers(dump)
    t.ok(whole.status == 0, name + ": all is answered without a limit", whole)
    refused = answers(dump, "--mem", mem, "--spill", "none")
    t.ok(refused.status != 0 and "--mem allows" in refused.err, name + ": memory alone does not suffice", refused)
    for threads in "1", "3":
        spilled = answers(dump, "--mem", mem, "--threads", threads)
        # what it will take is estimated and said where it is more than the limit (need.py)
        err = "".join(line for line in spilled.err.splitlines(True) if not line.startswith("cairn: needs ~"))
        t.ok((spilled.status, spilled.out, err) == (whole.status, whole.out, whole.err),
             "%s: the same under --mem %s, %s threads" % (name, mem, threads), str(spilled.err) + different(whole.out, spilled.out))


def different(a, b):
    return "".join("- %s\n+ %s\n" % pair for pair in zip(a.splitlines(), b.splitlines()) if pair[0] != pair[1])[:1500]


def check_large(t, folder):
    """A list whose objects say that they have a terabyte each: sums that are dealt need more bits than a note has."""
    n, size, dump = 150000, 1 << 40, os.path.join(folder, "list.txt")
    with open(dump, "w", encoding="ascii") as to:
        to.write("// Version: JRE 17 Linux amd64-64 build 20240716_000000 (made)\n")
        for i in range(1, n + 1):
            to.write("0x%016X [%d] OBJ Node\n\t%s\n" % (i * size, size, "0x%016X " % ((i + 1) * size) if i < n else ""))
        to.write("// EOF: Total 'Objects',Refs(null) : %d,%d(1)\n" % (n, n))
    want = [str((n - i) * size) for i in range(3)]
    for options in (), ("--mem", "4M"):
        run = Run([CAIRN, "--format", "csv", *options, "-x", "ls Node -sort retained | head 3", dump])
        t.ok([line.split(",")[3] for line in run.out.splitlines()[1:]] == want, "sums of terabytes " + " ".join(options), run)


def check_full(t, dump, folder):
    """A limit on files stands for a disk that is full; a folder that is none."""
    full = answers(dump, "--mem", "6M", "--spill", folder, preexec=(resource.RLIMIT_FSIZE, 1 * MB))
    lines = [line for line in full.err.splitlines() if "no room for" in line]
    t.ok(full.status != 0 and lines and folder in lines[0] and "--mem" in lines[0],
         "no room on the disk is a sentence that names the folder", full)
    nowhere = answers(dump, "--mem", "6M", "--spill", "/nowhere/at/all")
    t.ok(nowhere.status != 0 and "/nowhere/at/all" in nowhere.err, "a folder that is not there is a sentence", nowhere)


def check_mounted(t, dump, folder):
    """A real file system that is too small, where one may be mounted."""
    at = os.path.join(folder, "small")
    os.mkdir(at)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", at], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, check=False).returncode:
        t.skip("a full file system", "none can be mounted here")
        return
    try:
        full = answers(dump, "--mem", "6M", "--spill", at)
        t.ok(full.status != 0 and "no room for" in full.err and "No space left" in full.err,
             "a full file system is a sentence", full)
        t.ok(not os.listdir(at), "nothing is left there", os.listdir(at))
    finally:
        subprocess.run(["umount", at], check=True)


def check_gone(t, dump, folder):
    """Killed in the middle: the file has no name at any time."""
    process = subprocess.Popen([CAIRN, "--mem", "6M", "--spill", folder, "-n", "-x", "check -tree", "-x", "check -tree", dump],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen, named, end = False, [], time.monotonic() + 30
    while process.poll() is None and not seen and time.monotonic() < end:
        named += os.listdir(folder)
        for fd in glob.glob("/proc/%d/fd/*" % process.pid):
            try:
                seen |= os.readlink(fd).startswith(folder)
            except OSError:
                pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    t.ok(seen, "there is a file while it runs")
    t.ok(not named and not os.listdir(folder), "and it has no name, then or afterwards", named)


def main():
    t = Tap()
    with tempfile.TemporaryDirectory() as folder:
        dumps = make(t, folder)
        for name, dump, most in dumps:
            check_same(t, name, dump, most)
        at = os.path.join(folder, "spill")
        os.mkdir(at)
        check_full(t, dumps[0][1], at)
        check_large(t, folder)
        check_mounted(t, dumps[0][1], folder)
        check_gone(t, dumps[0][1], at)
    t.done()


if __name__ == "__main__":
    main()
