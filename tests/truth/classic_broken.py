#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged classic dumps: what is left of them follows from what was done to the good one.

Every damaged file is the control file with one thing changed, so the records that must remain are
the control's, less the one that was hit, or up to the cut.  In one part and in several.
"""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, TIMEOUT, Tap, need_dumps  # noqa: E402

TOOL = os.path.join(BUILD, "tests", "tools", "dumprecords")

# Damage that takes no record away.
UNHARMED = """garbage-lines garbage-between-obj-and-refs lowercase-hex trailer-counts-disagree trailer-counts-huge refs-without-tab refs-before-any-object nul-bytes
    mixed-eol cr-only utf8-bom no-version two-versions""".split()
# Damage to the first line of the record at HIT: it goes, with its references.
LOST = """nonhex-address address-17-digits address-no-0x no-size size-negative size-overflow size-text
    unknown-kind no-class-name""".split()
HIT = "0x7f1234001cd0"
# What cannot be read at all, and the word that says why.
REFUSED = {"zero-byte": "empty", "utf16": "UTF-16", "random": "unknown format"}


def read(path, *options):
    done = subprocess.run([TOOL, *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=TIMEOUT)
    return (done.returncode, done.stdout.decode("utf-8", "backslashreplace"),
            done.stderr.decode("utf-8", "backslashreplace"))


def without_references(lines):
    return [re.sub(r" refs=.*", "", line) for line in lines]


def differences(got, want):
    """(lines only in got, lines only in want), both in order; they differ in a few lines."""
    extra = [line for line in got if line not in want]
    gone = [line for line in want if line not in got]
    return extra, gone


def check_damage(tap, name, status, lines, err, good):
    extra, gone = differences(set(lines), set(good))
    warned = "\nW " in "\n" + err
    if name in UNHARMED:
        tap.equal((status, lines), (0, good), name + ": all records")
        tap.ok(warned == (name not in ("lowercase-hex", "refs-without-tab", "mixed-eol", "cr-only",
                                       "no-version", "trailer-counts-disagree")),
               name + ": a warning where something was odd", err)
    elif name in LOST:
        tap.equal((status, lines), (0, [g for g in good if not g.startswith("O %s " % HIT)]),
                  name + ": the one record is gone")
        tap.ok(warned, name + ": says so", err)
    elif name in ("trunc-mid-address", "trunc-mid-record", "cut.txt"):
        tap.equal((status, lines), (4, good[:len(lines)]), name + ": what stands before the cut")
        tap.ok(100 < len(lines) < len(good), name + ": some of it")
        tap.ok(re.search(r"^X -4 \d+ truncated in ", err, re.M), name + ": says where", err)
    elif name in ("missing-trailer", "missing-eof-line"):
        tap.equal((status, lines), (4, good), name + ": all records, but nobody can know")
        tap.ok(re.search(r"^X -4 \d+ truncated at byte", err, re.M), name + ": says where", err)
    elif name in ("header-only", "no-newline-10mb"):
        tap.equal((status, lines), (4, []), name + ": no record")
        tap.ok(re.search(r"^X -4 \d+ truncated at byte", err, re.M), name + ": says so", err)
    elif name == "missing-ref-line" or name == "nonhex-ref":
        tap.equal(without_references(lines), without_references(good), name + ": all records")
        tap.equal((len(extra), len(gone)), (1, 1), name + ": one differs")
        tap.ok(HIT in "".join(extra) and extra.pop().endswith(" refs=0:"), name + ": it has none")
    elif name == "ref-undefined":
        tap.equal((len(extra), len(gone)), (1, 1), name + ": one differs")
        tap.ok(extra.pop().endswith(" refs=1: 0xffffffffffffffff"),
               name + ": 17 digits and null are no reference")
    elif name == "overlong-line":
        tap.equal((len(lines), len(extra)), (len(good), 1), name + ": one record differs")
        tap.equal(extra.pop().count(" 0x7"), 300001, name + ": all of its references, and itself")
    elif name == "overlong-name":
        tap.equal((len(lines), len(extra)), (len(good), 1), name + ": one record differs")
        tap.ok(len(extra.pop()) < 66000 and warned, name + ": its type is cut", err)
    elif name == "class-never-defined":
        tap.equal((len(lines), len(extra)), (len(good), 1), name + ": one record differs")
    elif name in ("dup-address", "trailer-garbage-after"):
        tap.equal((len(lines), len(extra), len(gone)), (len(good) + 1, 1, 0),
                  name + ": one record more")
    elif name in ("00-good", "notgz.txt"):
        tap.equal((status, lines, warned), (0, good, False), name + ": the control")
    else:
        tap.ok(False, name + ": nobody has said what must be left of it")


def main():
    directory = os.path.join(need_dumps(), "synthetic", "broken")
    tap = Tap()
    good = read(os.path.join(directory, "00-good.txt"))[1].splitlines()
    tap.equal(len(good), 2202, "the control has its records")
    for path in sorted(glob.glob(os.path.join(directory, "*.txt")) +
                       glob.glob(os.path.join(directory, "*.txt.gz"))):
        name = re.sub(r"\.(txt|gz)$", "", os.path.basename(path))
        status, out, err = read(path)
        if name in REFUSED:
            tap.ok(status == 3 and REFUSED[name] in err, name + ": refused in clear words", err)
            continue
        check_damage(tap, name, status, out.splitlines(), err, good)
        tap.ok(read(path, "-w", "7") == (status, out, err), name + ": 7 parts say the same")
    tap.done()


main()
