#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects and references of a Go program in a core, beside a heap dump of the same instant; and damaged cores.

The heap dump is read by tests/lib/godump.py, which knows nothing of cairn.  The sample: data/make-go-core.sh.
CAIRN_GO_CORES: directories, each with prog, prog.core and prog.dump, or directories of such.

Between dump and core only the runtime went on: it links its goroutines and threads anew, and nothing else may differ.
Since Go 1.22 heap dumps have objects that there are not, at the end of a page: those alone the core may lack.
"""

import bisect
import csv
import gzip
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, GRAPHDUMP, LONG, ROUND, SOURCE, Tap, need_libdw  # noqa: E402
from gocores import places  # noqa: E402
from godump import records  # noqa: E402

DUMP_MOST = 64 << 20          # bytes of a heap dump that is read here
PAGE = 8192
SMALL = 512                   # objects of up to so many bytes have their bitmap at the end of the page
RUNTIME_OWN = ("runtime.",)   # classes whose values the runtime changes in between
CRASHED = ("/k", "/arm64")    # of cores that the kernel or qemu wrote when the program crashed, after the dump
CRASH_ALLOCATES = 10          # objects
INCOMPLETE = 4                # exit status: the dump is not whole
RAN_MOST = 24                 # objects of the runtime's own that may differ
# runtime.MemStats by its order in a heap dump, but for what counts allocations ("-"): that the core does not tell.
STATS = ("- - Sys - - - - HeapSys HeapIdle HeapInuse HeapReleased - StackInuse StackSys MSpanInuse MSpanSys MCacheInuse "
         "MCacheSys BuckHashSys GCSys OtherSys - - PauseTotalNs").split()


def dumped(path):
    """Address: size and the addresses of the objects that it references."""
    found = {r.address: r for r in records(path) if r.kind == "object"}
    starts = sorted(found)

    def at(address):
        i = bisect.bisect_right(starts, address)
        r = found[starts[i - 1]] if i else None
        return r.address if r and address < r.address + len(r.contents) else None

    heap = {}
    for a, r in found.items():
        words = [struct.unpack_from("<Q", r.contents, f)[0] for f in r.fields if f + 8 <= len(r.contents)]
        heap[a] = (len(r.contents), sorted({t for t in map(at, filter(None, words)) if t}))
    return heap


def graph(path):
    run = subprocess.run([GRAPHDUMP, path], capture_output=True, text=True, timeout=300)
    heap, classes = {}, {}
    for line in run.stdout.splitlines():
        w = line.split("\t")
        if w[0] == "object":
            a = int(w[1], 16)
            heap[a] = (int(w[5]), sorted({int(t, 16) for t in w[7].split(",") if t}))
            classes[a] = w[3]
    return run, heap, classes


def may_be_missing(address, size):
    """Is it where the bitmap of a page is?"""
    return size <= SMALL and address % PAGE + size > PAGE - 128 - 128 - size


def check(tap, name, core, dump):
    run, got, classes = graph(core)
    if "DWARF of its program" in run.stderr:
        tap.skip("%s: objects" % name, "stripped")
        return
    want = dumped(dump)
    missing = [a for a in want if a not in got and not may_be_missing(a, want[a][0])]
    more = [a for a in got if a not in want]
    if any(w in name for w in CRASHED) and len(more) <= CRASH_ALLOCATES:
        more = []
    tap.none(["0x%x %d" % (a, want[a][0]) for a in missing] + ["more: 0x%x %d" % (a, got[a][0]) for a in more],
             len(got), "%s: the same objects" % name, least=1000)
    both = [a for a in got if a in want]
    tap.none(["0x%x %d %d" % (a, got[a][0], want[a][0]) for a in both if got[a][0] != want[a][0]], both,
             "%s: the same sizes" % name)
    # what only the dump has as an object nothing in the core can reference
    differ = [a for a in both if got[a][1] != [t for t in want[a][1] if t in got]]
    wrong = [a for a in differ if not classes[a].lstrip("[]*").startswith(RUNTIME_OWN)]
    tap.none(["0x%x %s" % (a, classes[a]) for a in wrong], both, "%s: the same references" % name)
    tap.ok(len(differ) <= RAN_MOST, "%s: of the runtime's own few changed" % name, str(len(differ)))
    if not any(w in name for w in CRASHED):
        check_stats(tap, name, core, dump)


def check_stats(tap, name, core, dump):
    """The memory statistics of the runtime, which the program wrote into the dump itself."""
    wrote = next(r for r in records(dump) if r.kind == "memstats").numbers
    run = subprocess.run([CAIRN, "--format", "csv", "-x", "info", core], capture_output=True, text=True, timeout=300)
    got = next(csv.DictReader(run.stdout.splitlines()), {})
    want = {what: str(n) for what, n in zip(STATS, wrote) if what != "-"}
    tap.none(["%s: %s, not %s" % (w, got.get(w), want[w]) for w in want if got.get(w) != want[w]], want,
             "%s: the same memory statistics" % name, least=15)


# --- damage ------------------------------------------------------------------------------------------------------

def look(path):
    """Exit status and objects of a damaged core; never a signal."""
    run = subprocess.run([CAIRN, "--exe", os.path.join(SOURCE, "data", "gocart.elf"), "--format", "csv", "-x",
                          "sql SELECT count(*) FROM objects", "-x", "threads", "-x", "roots", path],
                         capture_output=True, text=True, timeout=120, errors="replace")
    count = [int(l.split(",")[0]) for l in run.stdout.splitlines()[1:2] if l.split(",")[0].isdigit()]
    return run, count[0] if count else None


def damaged(tap, folder):
    with gzip.open(os.path.join(SOURCE, "data", "gocart.core.gz")) as f:
        whole = f.read()
    path = os.path.join(folder, "damaged.core")

    def write(data):
        with open(path, "wb") as f:
            f.write(data)

    write(whole)
    run, all_of_them = look(path)
    tap.ok(run.returncode == 0 and all_of_them and all_of_them > 1000, "the sample unpacked", run.stderr)
    rng = random.Random(ROUND)
    n = 400 if LONG else 25
    faults, fewer = [], 0
    for i in range(n):
        cut = rng.randrange(0, len(whole)) // 4096 * 4096
        write(whole[:cut])
        run, count = look(path)
        fewer += count is not None and count < all_of_them
        unmarked = count is not None and ("truncated at byte %d" % cut not in run.stderr or
                                          ",lower bound" not in run.stdout or not run.returncode)
        if run.returncode < 0 or run.returncode > INCOMPLETE or (count or 0) > all_of_them or unmarked or "Sanitizer" in run.stderr:
            faults.append("cut at %d: %d %s" % (cut, run.returncode, run.stderr[:200]))
    tap.none(faults, n, "cut at a page: a sentence, or what is there, marked")
    tap.ok(fewer > 0, "a cut core has fewer objects", str(fewer))
    for what, change in (("pages zeroed", zeroed), ("words changed", changed)):
        faults = []
        for i in range(n):
            write(change(whole, rng))
            run, count = look(path)
            if run.returncode < 0 or run.returncode > INCOMPLETE or "Sanitizer" in run.stderr:
                faults.append("%d: %d %s" % (i, run.returncode, run.stderr[:200]))
        tap.none(faults, n, "%s: a sentence, or what is there" % what)


def zeroed(whole, rng):
    data = bytearray(whole)
    for _ in range(rng.randrange(1, 20)):
        at = rng.randrange(4096, len(data)) // 4096 * 4096
        data[at:at + 4096] = bytes(len(data[at:at + 4096]))
    return data


def changed(whole, rng):
    """Words that hold something become other words of the core, small numbers, or large ones."""
    data = bytearray(whole)
    used = [a for a in (rng.randrange(0, len(data) - 8) // 8 * 8 for _ in range(20000)) if any(data[a:a + 8])]
    for a in used[:rng.randrange(1, 400)]:
        b = rng.choice(used)
        data[a:a + 8] = rng.choice([whole[b:b + 8], struct.pack("<Q", rng.randrange(0, 300)), b"\xff" * 8,
                                    struct.pack("<Q", rng.getrandbits(48))])
    return data


def main():
    need_libdw()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "gocart.dump")
        with gzip.open(os.path.join(SOURCE, "data", "gocart-core.dump.gz")) as f, open(dump, "wb") as to:
            to.write(f.read())
        check(tap, "the sample", os.path.join(SOURCE, "data", "gocart.core.gz"), dump)
        run = subprocess.run([CAIRN, "--exe", CAIRN, "-x", "info", os.path.join(SOURCE, "data", "gocart.core.gz")],
                             capture_output=True, text=True, timeout=60)
        tap.ok(run.returncode != 0 and "is not the program of this core" in run.stderr, "another program is refused", run.stderr)
        damaged(tap, folder)
    all_of_them = [d for d in places() if "server" not in d and os.path.getsize(os.path.join(d, "prog.dump")) < DUMP_MOST]
    if not all_of_them:
        tap.skip("cores of Go programs", "CAIRN_GO_CORES names no directory with prog, prog.core, prog.dump")
    for d in all_of_them:
        check(tap, "/".join(d.split("/")[-2:]), os.path.join(d, "prog.core"), os.path.join(d, "prog.dump"))
    tap.done()


main()
