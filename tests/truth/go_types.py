#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of objects in real Go dumps, with the programs that wrote them.

The programs planted objects and told their addresses in a manifest; the counts come from the numbers
that the program was asked to make, and from a prototype of the same algorithm in another language.
"""

import csv
import glob
import io
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps, need_libdw  # noqa: E402

# what the program calls its known objects, and the class of each; a regular expression
KNOWN = [
    (r"Order order-7$", r"main\.Order"),
    (r"Chain head$", r"main\.Link"),
    (r"Ring head$", r"main\.Ring"),
    (r"Hoard backing$", r"\[\]\[\]uint8"),
    (r"LargeNoscan$", r"\[\]uint8"),
    (r"LargePtrs backing$", r"\[\]\*main\.Payload"),
    (r"Cache hmap$", r"map\[string\]\*main\.Order"),
    (r"Buffered hchan$", r"chan \*main\.Payload"),
    (r"FuncVar ", r"closure of main\.\(\*Payload\)\.method-fm"),
    (r"closure \d$", r"closure of main\.main\.func\d+"),
    (r"\[\]int64 backing", r"\[\]int64"),
    (r"12000-byte string", r"\[\]uint8"),
    (r"Dups\[\d\] bytes$", r"\[\]uint8"),
    (r"last Garbage$", r"main\.Garbage"),
    # nothing in the program says what an int64 in the middle of it is part of
    (r"Outer ", r"\d+ B \{.*"),
]

# at least; the program makes 1,000 for BigMap, 119 for goroutines, 201 in main.recurse, and others
LEAST = {"main.Payload": 1222, "runtime.sudog": 81, "main.Finalized": 16, "[]*main.Dom": 1}


def table(*arguments):
    run = cairn("--format", "csv", *arguments)
    return run, list(csv.DictReader(io.StringIO(run.out)))


def number(text):
    return int(text, 16)


class Dump:
    def __init__(self, tap, path, *options):
        self.name = os.path.basename(path)[:-len(".dump")]
        self.manifest = json.load(open(path[:-len(".dump")] + ".manifest.json"))
        run, rows = table(*options, "-x", "ls * | cut address,class,shallow,length", path)
        self.good = tap.ok(run.status == 0 and rows, self.name + ": opens", run)
        self.at = {number(r["address"]): r for r in rows}
        self.objects, self.shallow = {}, 0
        for r in rows:
            self.objects[r["class"]] = self.objects.get(r["class"], 0) + 1
            self.shallow += int(r["shallow"])
        run = cairn("--format", "json", *options, "-x", "info", path)
        self.info = json.loads(run.out) if run.status == 0 else {}

    def class_at(self, address):
        """Of the object that begins there, or whose value does, behind a header of 8 bytes."""
        row = self.at.get(number(address)) or self.at.get(number(address) - 8)
        return row["class"] if row else None


def check_known(tap, d):
    for known in d.manifest["known"]:
        want = [c for name, c in KNOWN if re.match(name, known["name"])]
        if not want:
            continue
        got = d.class_at(known["addr"])
        tap.ok(got is not None and re.fullmatch(want[0], got), "%s: %s" % (d.name, known["name"]),
               "got %s, want %s" % (got, want[0]))


def check_many(tap, d):
    """Objects of which the manifest has many: all must be right."""
    m = d.manifest
    lists = {
        "main.Dom": list(m["dominators"]["addr"].values()),
        "main.Finalized": m["finalizers"]["kept"] + m["finalizers"]["queued"],
        "main.Order": [o["addr"] for o in m["order_samples"]],
    }
    for name, addresses in lists.items():
        wrong = {a: d.class_at(a) for a in addresses if d.class_at(a) != name}
        tap.ok(addresses and not wrong, "%s: all %d known %s" % (d.name, len(addresses), name), wrong)
    # what a goroutine does not use any more is garbage, or held by a closure alone: 4 of them
    payloads = [d.class_at(g["payload_addr"]) for g in m["goroutines"] if "payload_addr" in g]
    typed = [c for c in payloads if c == "main.Payload"]
    wrong = [c for c in payloads if c and c != "main.Payload" and not re.match(r"\d+ B \{", c)]
    tap.ok(len(typed) >= len(payloads) - 4 and not wrong, "%s: payloads of goroutines" % d.name,
           "%d of %d, %s" % (len(typed), len(payloads), wrong))


def check_counts(tap, d):
    m = d.manifest
    want = {"main.Link": m["expect"]["chain"], "main.Ring": m["expect"]["ring"],
            "main.Garbage": m["expect"]["garbage"], "main.Dom": 13, "main.Order": m["expect"]["orders"]}
    got = {k: d.objects.get(k, 0) for k in want}
    tap.equal(got, want, d.name + ": how many of each")
    few = ["%s: %d" % (k, d.objects.get(k, 0)) for k, n in LEAST.items() if d.objects.get(k, 0) < n]
    tap.none(few, LEAST, d.name + ": not fewer than there are")
    # goroutines that ended leave theirs behind
    tap.ok(d.objects.get("runtime.g", 0) >= m["num_goroutine"], d.name + ": goroutines",
           d.objects.get("runtime.g"))


def check_shares(tap, d):
    i = d.info
    share = 100.0 * i["typed_shallow"] / i["shallow"]
    tap.ok(share >= 99.9, "%s: 99.9 %% of the bytes have a type" % d.name, "%.2f: %s" % (share, i["typed_by"]))
    shapes = [r for r in d.at.values() if re.match(r"\d+ B \{", r["class"])]
    tap.equal([i["typed_objects"], i["typed_shallow"]],
              [len(d.at) - len(shapes), d.shallow - sum(int(r["shallow"]) for r in shapes)],
              d.name + ": info counts what has a type")


def head(d, row):
    """Since Go 1.22 objects with pointers of 513 to 32,768 bytes begin with the address of their type."""
    release = int(re.match(r"go1\.(\d+)", d.info["vm"]).group(1))
    pointers = row["class"] not in ("[]uint8", "[]int64")
    return 8 if release >= 22 and pointers and 512 < int(row["shallow"]) <= 32768 else 0


def check_lengths(tap, d):
    """An array's length is what fits into its object."""
    word = 8 if d.info["word_bits"] == 64 else 4
    widths = {"[]uint8": 1, "[]int64": 8, "[]*main.Payload": word, "[]string": 2 * word,
              "[][]uint8": 3 * word}
    arrays = [r for r in d.at.values() if r["class"] in widths]
    wrong = [r for r in arrays if int(r["length"]) != (int(r["shallow"]) - head(d, r)) // widths[r["class"]]]
    tap.none(wrong[:5], arrays, d.name + ": lengths")


def check_names(tap, d, path, *options):
    """Variables hold what the manifest says that their first word points to."""
    run, rows = table(*options, "-x", "roots | cut kind,address,class,slot", path)
    slots = {(r["slot"], number(r["address"])) for r in rows}
    for name, v in d.manifest["package_variables"].items():
        target = number(v["first_word"])
        target = target if target in d.at else target - 8
        if target in d.at and name not in ("main.Ifaces",):
            tap.ok((name, target) in slots or (name + "[0]", target) in slots, "%s: %s is a root by name" % (d.name, name),
                   sorted(s for s in slots if s[0].startswith(name))[:5])


def right(tap, path):
    d = Dump(tap, path)
    if not d.good:
        return
    check_known(tap, d)
    check_many(tap, d)
    check_counts(tap, d)
    check_shares(tap, d)
    check_lengths(tap, d)
    check_names(tap, d, path)


def stripped(tap, path):
    """Nothing but what the dump itself tells; and with the program as it was before."""
    d = Dump(tap, path)
    tap.ok("stripped" in (d.info.get("program") or ""), d.name + ": says that it was stripped", d.info)
    tap.ok(d.info["warnings"] == 0, d.name + ": which is no fault of the dump", d.info)
    given = Dump(tap, path, "--exe", path[:-len(".dump")] + ".elf")
    tap.ok("stripped" in (given.info.get("warning_text") or ""), d.name + ": a warning if it was asked for",
           given.info)
    whole = path.replace("-stripped.dump", ".elf")
    if os.path.exists(whole):
        d = Dump(tap, path, "--exe", whole)
        check_known(tap, d)
        check_shares(tap, d)


def wrong(tap, dumps):
    """Programs that did not write the dump: nothing is typed by them, and why is said."""
    pairs = [("go-small", "go-small-arm64", "arm64"), ("go-small", "go-small-386", "386"),
             ("go-small", "go-small-pie", "build"), ("go-small-386", "go-small-mips", "mips"),
             ("go-small", "go-small-memprofile", "build"), ("go-small-pie", "go-small", "build")]
    for dump, program, word in pairs:
        path = os.path.join(dumps, dump + ".dump")
        other = os.path.join(dumps, program + ".elf")
        if not os.path.exists(path) or not os.path.exists(other):
            continue
        run = cairn("--format", "json", "--exe", other, "-x", "info", path)
        info = json.loads(run.out) if run.status == 0 else {}
        said = info.get("warning_text") or ""
        tap.ok("is ignored" in said and word in said and info["typed_objects"] < 50,
               "%s with the program of %s" % (dump, program), info or run)
    path = os.path.join(dumps, "go-mini.dump")
    if os.path.exists(path):
        run = cairn("--exe", os.path.join(dumps, "go-mini.how.txt"), "-x", "info", path)
        tap.ok(run.status == 0 and "ELF" in run.out, "a program that is none", run)
        run = cairn("--exe", os.path.join(dumps, "there is none"), "-x", "info", path)
        tap.ok(run.status == 3 and "there is none" in run.err, "a program that is not there", run)


def main():
    need_libdw()
    tap = Tap()
    dumps = os.path.join(need_dumps(), "go")
    paths = sorted(p for p in glob.glob(os.path.join(dumps, "*.dump")) +
                   glob.glob(os.path.join(dumps, "..", "today", "go*-small.dump"))
                   if os.path.exists(p[:-len(".dump")] + ".elf"))
    if not paths:
        tap.skip("types of Go dumps", "no Go dumps with their programs in CAIRN_DUMPS")
    else:
        for path in paths:
            (stripped if "stripped" in path else right)(tap, path)
        wrong(tap, dumps)
    tap.done()


if __name__ == "__main__":
    main()
