#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a dump is said to take before it is read is what it takes, within a factor of 1.5: of each format that the
generators make and of the real dumps that are large enough to be estimated.  And it is said where the limit is
lower, and otherwise only where progress is told.

    need.py [DUMP...]     tells of other dumps than the tests', and tests nothing
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, CAIRN, DUMPS, MKDUMP, SAMPLE, Run, Tap  # noqa: E402
from crowd import crowd  # noqa: E402

FACTOR = 1.5
FROM = 10 << 20   # HEAP_NEED_FROM of heap.h


def needs(dump):
    """What tests/tools/need tells: {what: (estimated, counted)}."""
    out = subprocess.run([os.path.join(BUILD, "tests", "tools", "need"), dump], stdout=subprocess.PIPE, check=True,
                         timeout=300).stdout.decode()
    return {what: (int(estimated), int(counted)) for what, estimated, counted in
            (line.split("\t") for line in out.splitlines())}


def check(tap, name, dump):
    told = needs(dump)
    for what, (estimated, counted) in told.items():
        if what not in ("load", "retained"):
            continue
        tap.ok(estimated and 1 / FACTOR <= estimated / counted <= FACTOR,
               "%s: %s ~%d, counted %d: %.2f" % (name, what, estimated, counted, estimated / counted))


def said(dump, *options):
    return subprocess.run([CAIRN, *options, "-x", "roots | head 1", "-x", "histo | head 1", dump], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=300, check=False).stderr.decode()


def sentences(tap, dump):
    tap.ok("needs" not in said(dump), "nothing is said of memory where there is enough and no progress is told")
    text = said(dump, "--progress", "always")
    tap.ok("cairn: needs ~" in text and " of memory, " in text and " allowed; ~" in text and " with retained sizes" in text, "beside progress it is said", text)
    text = said(dump, "--mem", "12M")
    tap.ok(" of memory, 12.0M allowed; ~" in text and "; the rest goes into a file in " in text,
           "a lower limit, and where the rest goes", text)
    text = said(dump, "--mem", "12M", "--spill", "none")
    tap.ok(re.search(r" with retained sizes \(give --mem [\d.]+[MG], or --spill DIR\)\n", text), "a lower limit, and no file", text)
    tap.ok("needs" not in said(dump, "--mem", "12M", "--progress", "never"), "nothing where no progress is wanted at all")
    tap.ok("needs" not in said(SAMPLE, "--progress", "always"), "nothing of a small dump")


def limited(dump, mem, *lines):
    words = [word for line in lines for word in ("-x", line)]
    return Run([CAIRN, "--format", "csv", "--spill", "none", *(("--mem", mem) if mem else ()), *words, dump])


def advice(tap, dump):
    """What a refusal advises suffices; and what needs no references is answered where these did not fit."""
    got = limited(dump, "4M", "histo")
    found = re.search(r"needs ~([\d.]+)M of memory, 4.0M allowed \(give --mem ([\d.]+[MG]), or --spill DIR\)\n", got.err)
    tap.ok(found and got.status == 3, "too little for objects: what the dump takes is advised", got)
    got = limited(dump, found.group(2), "histo", "roots | head 1")
    tap.ok(got.status == 0, "that suffices", got)
    few = float(found.group(1))
    while few < 100 and limited(dump, "%.1fM" % few, "histo").status:
        few *= 1.1
    few = "%.1fM" % few
    whole, alone = limited(dump, None, "duplicate-classes", "strings | head 9"), limited(dump, few, "duplicate-classes", "strings | head 9")
    tap.ok(alone.status == 0 and (alone.out, alone.err) == (whole.out, ""), "enough for objects is enough for what needs no references", alone)
    for lines in ("refs #9", "duplicate-classes", "strings | head 9"), ("duplicate-classes", "strings | head 9", "refs #9"):
        got = limited(dump, few, *lines)
        tap.ok(got.status == 3 and got.out == whole.out and got.err.count("did not fit") == 1 and
               "warning: references are not loaded: memory: " in got.err,
               "references do not fit: what needs none is answered, in any order", got)
    found = re.search(r"\(give --mem ([\d.]+[MG]), ([\d.]+[MG]) with retained sizes, or --spill DIR\)", got.err)
    tap.ok(found, "the refusal advises what the dump takes", got)
    got = limited(dump, few, "strings | head 9", "info")
    tap.ok(got.status == 4, "and where all is answered, what is left out is told by status 4", got)
    got = limited(dump, found.group(1), "roots | head 1")
    tap.ok(got.status == 0, "that suffices for references", got)
    got = limited(dump, found.group(2), "dom | head 1")
    tap.ok(got.status == 0, "and the other for retained sizes", got)


def mount(at, size):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % (size >> 10), "tmpfs", at], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def on_disk(at, size, dump, line):
    """A run whose folder is a disk of so many bytes, of which it leaves a part to others."""
    mount(at, size)
    try:
        return Run([CAIRN, "--mem", "8M", "--spill", at, "-x", line, dump])
    finally:
        subprocess.run(["umount", at], check=True)


def small_disk(tap, dump, at):
    """A folder with too little room: it is said before, and what is to be done when it fails."""
    os.mkdir(at)
    if not mount(at, 4 << 20):
        tap.skip("a small disk", "none can be mounted here")
        return
    subprocess.run(["umount", at], check=True)
    got = on_disk(at, 4 << 20, dump, "roots | head 1")
    told = re.search(r"; the rest needs up to ~([\d.]+)M in %s, 3\.[89]M free \(give --mem [\d.]+[MG], or a --spill folder with "
                     r"more room\)\n" % re.escape(at), got.err)
    tap.ok(told, "a disk without room: a sentence before it is tried", got)
    tap.ok(got.status == 3 and re.search(
        r"temporary file in %s: no room for \S+ more, \S+ of 3\.[89]M are in use: .* \(give --mem"
        r" .* --spill folder with more room" % re.escape(at), got.err), "and one where it fails", got)
    most = float(told.group(1)) * (1 << 20) if told else 0
    # what the file has no room for is tried in memory, so it is not as sharp as the estimate
    got = on_disk(at, int(most / FACTOR ** 3), dump, "dom | head 1")
    tap.ok(got.status == 3 and "needs up to" in got.err, "much less than it is said to need is too little", got)
    got = on_disk(at, int(most * FACTOR), dump, "dom | head 1")
    tap.ok(got.status == 0 and "needs up to" not in got.err, "and somewhat more suffices", got)


def main():
    tap = Tap()
    if sys.argv[1:]:
        for dump in sys.argv[1:]:
            check(tap, os.path.basename(dump), dump)
        return
    with tempfile.TemporaryDirectory(prefix="need.", dir=os.path.join(BUILD, "tests")) as folder:
        def at(name):
            return os.path.join(folder, name)
        subprocess.run([MKDUMP, "bench", "--objects", "800000", "--phd", at("bench.phd"), "--classic", at("bench.txt"),
                        "--truth", at("truth")], check=True)
        subprocess.run([MKDUMP, "go-bench", "--objects", "400000", "--out", at("go.dump")], check=True)
        crowd(at("crowd.hprof"), 600000)
        with open(at("crowd.hprof"), "rb") as plain, gzip.open(at("crowd.hprof.gz"), "wb", compresslevel=1) as packed:
            packed.write(plain.read())
        for name in ("bench.phd", "bench.txt", "go.dump", "crowd.hprof", "crowd.hprof.gz"):
            if os.path.getsize(at(name)) >= FROM or name.endswith(".gz"):
                check(tap, name, at(name))
            else:
                tap.ok(False, "%s is large enough" % name)
        sentences(tap, at("crowd.hprof"))
        advice(tap, at("crowd.hprof"))
        small_disk(tap, at("crowd.hprof"), at("small"))
    for top, folders, names in os.walk(DUMPS, followlinks=True) if DUMPS else ():
        folders.sort()
        if os.path.basename(top) in ("broken", "synthetic"):  # what is damaged, and small
            folders.clear()
            continue
        for name in sorted(names):
            if os.path.getsize(os.path.join(top, name)) >= FROM and not name.endswith((".txt", ".gz", ".json")):
                check(tap, name, os.path.join(top, name))
    tap.done()


if __name__ == "__main__":
    main()
