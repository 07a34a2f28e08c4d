#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What does not fit into --mem goes into a file: the same answers, a sentence where the disk is full, nothing left behind."""

import glob
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, DUMPS, MKDUMP, Run, Tap, listed  # noqa: E402

MB = 1 << 20
LINES = ("histo", "dom | head 30", "ls * -sort retained | head 40", "leaks", "roots | head 20", "check | cut check,result,detail",
         "paths #100", "refs #77 | head 20", "tree -by package", "cut #5")
WEAK = ("set weak on", "ls * -sort retained | head 20")  # of those formats that know weak references

OVERVIEW = ("overview",)
ALONE = ("top -n 100000", "dom | head 1000", "dom #1")  # where roots are recorded, without lists of referrers


def answers(dump, *options, lines=(), **how):
    lines = lines or LINES + (WEAK if "hprof" in os.path.basename(dump) else ())
    words = [word for line in lines for word in ("-x", line)]
    return Run([CAIRN, "--format", "csv", *options, *words, dump], **how)


def make(t, folder):
    """(name, dump, MB that do not suffice) of each format."""
    path = {name: os.path.join(folder, name) for name in ("big.phd", "big.txt", "big.godump", "big.hprof")}
    made = [Run([MKDUMP, "bench", "--objects", "200000", "--phd", path["big.phd"], "--classic", path["big.txt"]]),
            Run([MKDUMP, "bench", "--objects", "200000", "--hprof", path["big.hprof"]]),
            Run([MKDUMP, "go-bench", "--objects", "200000", "--out", path["big.godump"]])]
    t.none([m for m in made if m.status], made, "dumps of several formats are made")
    found = [("PHD", path["big.phd"], 6), ("classic", path["big.txt"], 6), ("Go", path["big.godump"], 6),
             ("made HPROF", path["big.hprof"], 6)]
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
    alone, overview = answers(dump, lines=ALONE), answers(dump, lines=OVERVIEW)
    for threads, lines, want in (("1", (), whole), ("3", (), whole), ("1", ALONE, alone), ("3", ALONE, alone),
                                 ("2", OVERVIEW, overview)):
        spilled = answers(dump, "--mem", mem, "--threads", threads, lines=lines)
        # what it will take is estimated and said where it is more than the limit (need.py)
        err = "".join(line for line in spilled.err.splitlines(True) if not line.startswith("cairn: needs ~"))
        what = "%s: the same under --mem %s, %s threads%s" % (name, mem, threads, ", %s alone" % lines[0] if lines else "")
        t.ok((spilled.status, spilled.out, err) == (want.status, want.out, want.err), what,
             str(spilled.err) + different(want.out, spilled.out))


def different(a, b):
    return "".join("- %s\n+ %s\n" % pair for pair in zip(a.splitlines(), b.splitlines()) if pair[0] != pair[1])[:1500]


def check_large(t, folder):
    """A list whose objects say that they have a terabyte each: sums that are dealt need more bits than a note has.
    And one whose sums have five bytes."""
    n, dump = 150000, os.path.join(folder, "list.txt")
    for size in (1 << 40, 1 << 16):
        listed(dump, n, size)
        want = [str((n - i) * size) for i in range(3)]
        for options in (), ("--mem", "4M"):
            run = Run([CAIRN, "--format", "csv", *options, "-x", "ls Node -sort retained | head 3", dump])
            t.ok([line.split(",")[3] for line in run.out.splitlines()[1:]] == want,
                 "sums of %d bytes %s" % (n * size, " ".join(options)), run)


def check_full(t, dump, folder):
    """A limit on files stands for a disk that is full; a folder that is none."""
    full = answers(dump, "--mem", "6M", "--spill", folder, preexec=(resource.RLIMIT_FSIZE, 1 * MB))
    lines = [line for line in full.err.splitlines() if "no room for" in line]
    t.ok(full.status != 0 and lines and folder in lines[0] and "--mem" in lines[0],
         "no room on the disk is a sentence that names the folder", full)
    for path, what in (("/nowhere/at/all", "a folder that is not there"), (dump, "a file in its place")):
        nowhere = Run([CAIRN, "--mem", "2M", "--spill", path, "-x", "top", dump])
        t.ok(nowhere.status != 0 and one_sentence(nowhere.err, path, "give another --spill folder or a larger --mem"),
             what + " is a sentence", nowhere)


def one_sentence(err, *words):
    """Beside what is said about the need."""
    lines = [line for line in err.splitlines() if not line.startswith("cairn: needs ~")]
    return len(lines) == 1 and all(word in lines[0] for word in words)


def check_may_not(t, dump, folder):
    """Somebody who is not root, in a folder that is not his."""
    at = os.path.join(folder, "not-his")
    os.mkdir(at, 0o755)
    if os.geteuid() or subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", CAIRN, "--version"], capture_output=True,
                                      check=False).returncode:
        t.skip("a folder that may not be written to", "nobody else to be here")
        return
    os.chmod(folder, 0o755)
    as_nobody = ["setpriv", "--reuid", "65534", "--clear-groups", CAIRN]
    spill = Run([*as_nobody, "--no-index", "--mem", "2M", "--spill", at, "-x", "top", dump])
    t.ok(spill.status != 0 and one_sentence(spill.err, at, "Permission denied", "give another --spill folder"),
         "a folder that may not be written to is a sentence", spill)
    index = Run([*as_nobody, "--no-index", "-x", "index %s/x.cairn" % at, dump])
    t.ok(index.status != 0 and one_sentence(index.err, at, "Permission denied"), "and for an index", index)
    t.ok(not os.listdir(at), "and nothing is left there", os.listdir(at))


def check_written(t, dump, at):
    """An index and an export where there is no room."""
    with open(os.path.join(at, "full"), "wb") as to:
        to.write(b"x" * 1900000)
    for line in "index %s/x.cairn" % at, "export %s/x.db" % at, "ls * > %s/x.csv" % at:
        run = Run([CAIRN, "--no-index", "-x", line, dump])
        sizes = {name: os.path.getsize(os.path.join(at, name)) for name in os.listdir(at)}
        t.ok(run.status != 0 and one_sentence(run.err, "No space left"), line.split()[0] + " without room is a sentence", run)
        t.equal([name for name in sizes if sizes[name]], ["full"], line.split()[0] + " leaves nothing that is half of it")


def check_references(t, dump, at):
    """Room for objects, but not for references: what needs none is answered.  Where --mem has room, no file is needed."""
    objects = Run([CAIRN, "--mem", "5M", "--spill", at, "--format", "csv", "-x", "histo | head 3", "-x", "refs #5", dump])
    whole = Run([CAIRN, "--format", "csv", "-x", "histo | head 3", dump])
    t.ok(objects.status != 0 and objects.out == whole.out and "the references did not fit" in objects.err,
         "a full disk leaves what needs no references", objects)
    # what may be in the file leaves seven tenths to what may not (KEPT_PERCENT in big.c), and this takes some 20 MB
    memory = answers(dump, "--mem", "100M", "--spill", at)
    t.ok(memory.status == 0 and not memory.err, "a full disk is no matter where --mem suffices", memory)


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
        check_references(t, dump, at)
        check_written(t, dump, at)
    finally:
        subprocess.run(["umount", at], check=True)


def check_gone(t, dump, folder, end_by):
    """Ended in the middle: the file has no name at any time."""
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
    process.send_signal(end_by)
    t.ok(process.wait() == -end_by, "%s ends it" % end_by.name, process.returncode)
    t.ok(seen, "there is a file while it runs")
    t.none(named + os.listdir(folder), seen, "and it has no name, then or afterwards")


def check_addresses(t, dump):
    """ulimit -v counts the pages of files as well, so it is what has to be raised.  What the libraries take is theirs."""
    with open(CAIRN, "rb") as f:
        if re.search(b"__[at]san_init", f.read()):
            t.skip("ulimit -v", "sanitizers take all addresses")
            return
    def run(mb):
        return Run([CAIRN, "--no-index", "--threads", "2", "-x", "histo | head 1", "-x", "top -n 1", dump],
                   preexec=(resource.RLIMIT_AS, mb * MB))
    started = next(mb for mb in range(8, 512) if "loading shared libraries" not in run(mb).err)
    runs = {mb: run(mb) for mb in range(started, started + 24, 4)}
    refused = {mb: run for mb, run in runs.items() if run.status}
    t.ok(refused and all("ulimit -v allows %d KB of addresses, files included (raise it)" % (mb << 10) in run.err
                         for mb, run in refused.items()), "where addresses lack, the sentence names ulimit -v",
         "\n".join("%d MB: %d %s" % (mb, run.status, run.err) for mb, run in runs.items()))


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
        for end_by in signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
            check_gone(t, dumps[0][1], at, end_by)
        check_may_not(t, dumps[0][1], folder)
        check_addresses(t, dumps[0][1])
    t.done()


if __name__ == "__main__":
    main()
