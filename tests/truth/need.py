#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a dump is said to take before it is read is what it takes, within a factor of 1.5: of each format that the
generators make and of the real dumps that are large enough to be estimated.  And it is said where the limit is
lower, and otherwise only where progress is told.

    need.py [DUMP...]     tells of other dumps than the tests', and tests nothing
"""

import gzip
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, CAIRN, DUMPS, MKDUMP, SAMPLE, Tap  # noqa: E402
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
    tap.ok("cairn: needs ~" in text and " with retained sizes, of " in text, "beside progress it is said", text)
    text = said(dump, "--mem", "12M")
    tap.ok("of 12.0M; what does not fit goes into a file in " in text, "a lower limit, and where the rest goes", text)
    text = said(dump, "--mem", "12M", "--spill", "none")
    tap.ok("of 12.0M; that may not suffice" in text, "a lower limit, and no file", text)
    tap.ok("needs" not in said(dump, "--mem", "12M", "--progress", "never"), "nothing where no progress is wanted at all")
    tap.ok("needs" not in said(SAMPLE, "--progress", "always"), "nothing of a small dump")


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
