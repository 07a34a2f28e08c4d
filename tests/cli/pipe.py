#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps that come through a pipe: as those of a file, whole or cut, and nothing of them is left behind."""

import gzip
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import packed  # noqa: E402
from cairntest import CAIRN, GO, SAMPLE, SERIES, SHOP, Run, Tap, cairn  # noqa: E402

LINES = ("-x", "histo", "-x", "info", "--format", "json")
OWN = re.compile(r'"(file_size|file|created)":[^,}]*')  # the file's, not the dump's


def data(path):
    with open(path, "rb") as f:
        return f.read()


def same(tap, what, got, want, path):
    """Two runs that answer alike, but for the name of the dump."""
    runs = [(r.status, OWN.sub("", r.out).replace(path, "standard input"), r.err.replace(path, "standard input"))
            for r in (got, want)]
    tap.equal(runs[0], runs[1], what)


def families(tap, folder):
    for path in (SHOP, SAMPLE, GO):
        whole, name = data(path), os.path.basename(path)
        alone = os.path.join(folder, "x")  # of what stands beside it nothing is known of a pipe
        shutil.copy(path, alone)
        same(tap, name + " through a pipe", cairn(*LINES, "-", stdin=whole), cairn(*LINES, alone), alone)
        packed = os.path.join(folder, "x.gz")
        with gzip.open(packed, "wb", 1) as f:
            f.write(whole)
        same(tap, name + " and packed", cairn(*LINES, "-", stdin=data(packed)), cairn(*LINES, packed), packed)


def cut_anywhere(tap, folder):
    """A pipe that ends early is a file that does."""
    whole = data(SHOP)
    part = os.path.join(folder, "part.hprof")
    for size in [1, 18, 31, 32, 4095, 4096, 65536, 65537] + [len(whole) * k // 9 for k in range(1, 9)]:
        with open(part, "wb") as f:
            f.write(whole[:size])
        same(tap, "%d bytes" % size, cairn(*LINES, "-", stdin=whole[:size]), cairn(*LINES, part), part)


def as_file(tap, *arguments, stdin, line="histo | head 1"):
    with open(stdin, "rb") as f:
        done = subprocess.run([CAIRN, "--no-config", *arguments, "-x", line, "-"], stdin=f, capture_output=True,
                              timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def what_stdin_is(tap, folder):
    status, out, err = as_file(tap, stdin=SHOP)
    tap.ok(status == 0 and "byte[]" in out and not err, "a file that is redirected", (status, out, err))
    own = os.path.join(folder, "own.txt")
    shutil.copy(SHOP, own)
    status, out, err = as_file(tap, stdin=own, line="histo > " + own)
    tap.ok(status == 2 and "is the dump" in err, "which is not written to", (status, out, err))
    status, out, err = as_file(tap, stdin="/dev/null")
    tap.ok(status == 3 and "the pipe is empty" in err, "nothing", (status, out, err))
    done = subprocess.run('"%s" -x info - <&-' % CAIRN, shell=True, capture_output=True, timeout=60, check=False)
    tap.ok(done.returncode == 3 and b"the pipe is empty" in done.stderr, "closed", done)
    done = subprocess.run('"%s" -x info - <"%s"' % (CAIRN, folder), shell=True, capture_output=True, timeout=60, check=False)
    tap.ok(done.returncode == 3 and b"is a directory" in done.stderr, "a directory", done)
    for words, arguments in (("a script (-f -)", ("-f", "-", "-")), ("give - once", ("-x", "info", "-", "-"))):
        r = cairn(*arguments, stdin=data(SHOP))
        tap.ok(r.status == 2 and words in r.err, "usage: " + words, r)
    r = cairn("-x", "open -", SHOP)
    tap.ok(r.status == 2 and "cannot open standard input now" in r.err, "open - in a session", r)
    r = cairn("-x", "histo | head 1 | !cat; cat", "-", stdin=data(SHOP))
    tap.ok(r.status == 0 and r.out.count("byte[]") == 1, "a shell's command does not read the pipe", r)


def members(tap, folder):
    """One of the dumps in an archive that comes through a pipe, as of the same archive in a file."""
    if "without libarchive" in cairn("--version").out:
        tap.skip("members of archives", "built without libarchive")
        return
    made = packed.zip_of([("old.hprof", data(SERIES[0])), ("a::b/new.hprof", data(SHOP)),
                          ("in.tar", packed.tar(data(SERIES[1]), "deep.hprof"))])
    path = os.path.join(folder, "d.zip")
    with open(path, "wb") as f:
        f.write(made)
    for inside in ("::old.hprof", "::a::b/new.hprof", "::in.tar::deep.hprof"):
        same(tap, "-" + inside, cairn(*LINES, "-" + inside, stdin=made), cairn(*LINES, path + inside), path)
        r = cairn("-" + inside, *LINES, stdin=made)
        tap.ok(r.status == 0, "in front of options", r)
    for lines in (("diff",), ("growth",), ("dumps | cut number,file,objects,state",), ("use 1", "histo")):
        asked = ("--format", "csv", *(word for line in lines for word in ("-x", line)))
        got = cairn(*asked, "-::old.hprof", "-::a::b/new.hprof", stdin=made)
        want = cairn("--no-index", *asked, path + "::old.hprof", path + "::a::b/new.hprof")
        same(tap, "two of one pipe: " + ", ".join(lines), got, want, path)
    r = cairn("-x", "histo", "-", stdin=made)
    tap.ok(r.status == 2 and "old.hprof" in r.err and "cairn -::NAME" in r.err and not r.out, "none is named", r)
    r = cairn("-x", "histo", "-::no.hprof", stdin=made)
    tap.ok(r.status == 3 and "has no member no.hprof" in r.err, "one that is not there", r)
    r = cairn("-x", "histo", "-::x", stdin=data(SHOP))
    tap.ok(r.status == 3 and "not a known archive" in r.err, "of no archive", r)
    r = cairn("-x", "histo", "-", "-::old.hprof", stdin=made)
    tap.ok(r.status == 2 and "-::NAME" in r.err, "all of it, and one of it", r)
    r = cairn("-f", "-", "-::old.hprof", stdin=made)
    tap.ok(r.status == 2 and "a script (-f -)" in r.err, "and a script", r)


def several(tap, folder):
    """It is read once, and is there as often as it is asked for."""
    older = os.path.join(folder, "older.hprof")
    shutil.copy(SHOP, older)
    lines = ("--format", "csv", "-x", "dumps | cut file", "-x", "use 1", "-x", "close 2", "-x", "use 2", "-x", "histo | head 1")
    r = cairn(*lines, older, "-", stdin=data(SHOP))
    tap.ok(r.status == 0 and "standard input" in r.out and "byte[]" in r.out, "opened again", r)
    r = cairn("-x", "diff | head 1", "-", older, stdin=data(SHOP))
    tap.ok(r.status == 0 and not r.err, "an older one", r)
    index = os.path.join(folder, "own.cairn")
    r = cairn("-x", "index " + index, "-", stdin=data(SHOP))
    tap.ok(r.status == 0 and os.path.exists(index), "an index that is named is written", r)
    r = cairn("-x", "histo | head 1", index)
    tap.ok(r.status == 0 and "byte[]" in r.out, "and read without the dump", r)
    r = cairn("--index", index, "-x", "histo | head 1", "-", stdin=data(SHOP))
    tap.ok(r.status == 0 and "byte[]" in r.out, "and is of another one when the next comes", r)
    tap.ok(sorted(os.listdir(folder)) == ["older.hprof", "own.cairn"], "and none beside", os.listdir(folder))


def fifos(tap, folder):
    path = os.path.join(folder, "fifo")
    os.mkfifo(path)

    def feed():
        time.sleep(0.2)
        with open(path, "wb", buffering=0) as f:
            whole = data(SHOP)
            for at in range(0, len(whole), 50000):
                f.write(whole[at:at + 50000])
                time.sleep(0.02)
    writer = threading.Thread(target=feed)
    writer.start()
    r = cairn("-x", "histo | head 1", "-x", "open " + path, "-x", "dumps | cut file", path)
    writer.join()
    tap.ok(r.status == 0 and r.out.count("fifo") == 1, "a FIFO by its name, slowly, and again", r)
    r = Run(["bash", "-c", '"%s" -x "histo | head 1" <(cat "%s")' % (CAIRN, SHOP)])
    tap.ok(r.status == 0 and "byte[]" in r.out, "what a shell puts there", r)


def no_room(tap, folder):
    whole = data(SHOP)
    limited = (resource.RLIMIT_FSIZE, 102400)
    r = cairn("-x", "histo | head 1", "--spill", folder, "-", stdin=whole, preexec=limited)
    tap.ok(r.status == 4 and ">=" in r.out and "the pipe to byte 102400 " in r.err and folder in r.err and "--spill DIR" in r.err,
           "a file that may not grow: what came is there", r)
    same_size = cairn("-x", "histo", "--format", "csv", "-", stdin=whole[:102400])
    r = cairn("-x", "histo", "--format", "csv", "--spill", folder, "-", stdin=whole, preexec=limited)
    tap.equal(r.out, same_size.out, "and nothing else")
    r = cairn("-x", "info", "--spill", os.path.join(folder, "none"), "-", stdin=whole)
    tap.ok(r.status == 3 and "cannot make a file" in r.err and "none: No such file" in r.err and "another --spill DIR" in r.err,
           "no such folder", r)
    r = cairn("-x", "histo | head 1", "-", stdin=whole, env={"TMPDIR": os.path.join(folder, "none")})
    tap.ok(r.status == 0 and "byte[]" in r.out, "nor one that nobody chose: memory", r)
    r = cairn("-x", "histo | head 1", "--spill", "none", "-", stdin=whole)
    tap.ok(r.status == 0 and "byte[]" in r.out, "--spill none: memory", r)
    small = os.path.join(folder, "small")
    os.mkdir(small)
    if Run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small]).status:
        tap.skip("a small file system", "none can be mounted here")
    else:
        r = cairn("-x", "histo | head 1", "--spill", small, "-", stdin=whole)
        tap.ok(r.status == 0 and "byte[]" in r.out, "a small file system that has room", r)
        r = cairn("-x", "histo | head 1", "--spill", small, "-", stdin=whole[:-9] + bytes(12 << 20))
        tap.ok(r.status == 4 and "is full: No space left on device" in r.err, "and one that has not", r)
        Run(["umount", small])
    os.rmdir(small)
    r = cairn("-x", "info", "--spill", "none", "--mem", "1000K", "-", stdin=whole)
    tap.ok(r.status == 3 and "--mem allows no more" in r.err, "within --mem", r)
    tap.equal(os.listdir(folder), [], "nothing is left behind")


def killed(tap, folder):
    for number in (signal.SIGKILL, signal.SIGINT):
        p = subprocess.Popen([CAIRN, "--progress", "always", "--spill", folder, "-x", "histo", "-"], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        p.stdin.write(data(SHOP)[:100000])
        p.stdin.flush()
        said = p.stderr.readline().decode()
        while "reading the pipe 97.7K" not in said and p.poll() is None:
            said = p.stderr.readline().decode()
        began = time.monotonic()
        p.send_signal(number)
        p.wait(timeout=60)
        tap.ok(p.returncode == -number and time.monotonic() - began < 5, "signal %d ends it at once" % number, p.returncode)
        p.stdin.close()
        p.stderr.close()
        tap.equal(os.listdir(folder), [], "and nothing is left behind")


def main():
    tap = Tap()
    for test in (families, cut_anywhere, what_stdin_is, members, several, fifos, no_room, killed):
        with tempfile.TemporaryDirectory() as folder:
            test(tap, folder)
    tap.done()


main()
