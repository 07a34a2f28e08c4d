#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged dumps through the program itself: one sentence, the right exit status, what is left of them.

The README beside the broken PHD files says what OpenJ9's own reader made of each: how many records it
delivered before the damage.  Those records must be there; nothing may crash, hang or take memory by
an unchecked number.
"""

import glob
import gzip
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn, need_dumps  # noqa: E402

# What OpenJ9's reader refuses and a careful one need not: a file named .gz that is none, gzip without
# the name, gzip in gzip, and a mark between header and body that says nothing.
READABLE = {"no-start-of-dump.phd", "gz-named.phd", "notgz.phd.gz", "double.phd.gz"}
# OpenJ9's reader takes one record of it before it meets what cannot be; all bytes after the first LF are elsewhere.
TEXT_MODE = {"ascii-ftp.phd"}
# Two records at one address are one object.
TWICE = {"dup-address-conflict.phd": 1, "dup-address-same.phd": 1, "dup-class-address.phd": 1,
         "gap-overflow.phd": 1, "wrong-word-size.phd": 1}
# Read to the end, but the damage is told in a count of warnings.
WARNS = {"array-length-long-max.phd", "dup-address-conflict.phd", "dup-class-address.phd", "trailing-garbage.phd", "unknown-flags.phd",
         "array-length-lt-refs.phd", "super-cycle.phd", "super-self.phd"}
# A class that nothing defines is made up and shown as such.
UNKNOWN = {"class-undefined-medium.phd": "<unknown 0xdeadbee0>",
           "class-undefined-array.phd": "<unknown 0xdeadbee0>[]"}


def expectations(folder):
    """File name -> (words of OpenJ9's reader, records delivered)."""
    table = {}
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
        for line in f:
            cell = [c.strip() for c in line.strip().strip("|").split("|")]
            n = re.search(r"(\d+) records", cell[-1]) if len(cell) > 3 else None
            if n:
                table[cell[0]] = (cell[-1], int(n.group(1)))
    return table


def one_sentence(run, name):
    lines = [line for line in run.err.splitlines() if line]
    if len(lines) != 1:
        return "%d lines on standard error: %.400s" % (len(lines), run.err)
    if name not in lines[0]:
        return "the message does not name the file: " + lines[0]
    if lines[0].endswith("."):
        return "the message ends in a full stop: " + lines[0]
    if run.status == 4 and not re.search(r"byte \d+", lines[0]):
        return "no byte is named: " + lines[0]
    return ""


def check_any(tap, path):
    """What holds for every damaged file."""
    name = os.path.basename(path)
    run = cairn("-x", "info", "--format", "json", "--mem", "2G", path, timeout=20)
    wrong = ""
    info = None
    if run.status not in (0, 3, 4):
        wrong = str(run)
    elif run.status == 0:
        wrong = run.err and "fine, but: " + run.err
    else:
        wrong = one_sentence(run, name)
    if not wrong and run.status != 3:
        try:
            info = json.loads(run.out)
        except ValueError:
            wrong = "no JSON: %.300s" % run.out
    if not wrong and run.status == 3 and run.out:
        wrong = "output in spite of status 3: %.300s" % run.out
    tap.ok(wrong == "", "%s: a sentence and a status (%s)" % (name, run.status), wrong)
    if not wrong and run.status == 4:
        again = cairn("-x", "check", "--format", "csv", "--mem", "2G", path, timeout=20)
        tap.ok(again.status == 4, "%s: what was read holds together" % name, again)
    return run, info


def check_twice(tap, path):
    """A dump packed twice is the one that gzip itself unpacks from it."""
    with open(path, "rb") as f:
        plain = gzip.decompress(gzip.decompress(f.read()))
    with tempfile.NamedTemporaryFile(suffix=".phd") as f:
        f.write(plain)
        f.flush()
        want, got = (cairn("-x", "histo", "-x", "roots", "--format", "csv", p) for p in (f.name, path))
    tap.ok(want.status == 0 and want.out == got.out and got.status == 0, "double.phd.gz: as unpacked by hand", (want, got))


def check_phd(tap, path, words, records):
    name = os.path.basename(path)
    run, info = check_any(tap, path)
    if words.startswith("header:") and name not in READABLE:
        tap.equal(run.status, 3, "%s: not readable" % name)
        return
    if words.startswith("header:"):
        tap.equal((run.status, info and info["objects"]), (0, 2202), "%s: readable all the same" % name)
        if name == "double.phd.gz":
            check_twice(tap, path)
        return
    if name in TEXT_MODE:
        tap.ok(run.status == 3 and "each LF became CR LF" in run.err, "%s: refused, and the cause is named" % name, run)
        return
    whole = words.startswith("reads to the end") and not name.startswith("badcrc")
    tap.equal(run.status, 0 if whole else 4, "%s: exit status" % name)
    got = info["objects"] if info else None
    if name.startswith("bitflip"):
        # Turned bits make records collide, and the unknown class of a few may have no object.
        tap.ok(got is not None and records - 30 <= got <= records,
               "%s: the records before the damage" % name, "%s of %d" % (got, records))
    else:
        tap.equal(got, records - TWICE.get(name, 0), "%s: the records before the damage" % name)
    if name in WARNS:
        tap.ok(info and info["warnings"] > 0, "%s: warned of" % name, info)
    if name in UNKNOWN:
        run = cairn("-x", "histo", "--format", "json", path)
        names = [r["class"] for r in json.loads(run.out)]
        tap.ok(UNKNOWN[name] in names, "%s: the class that is missing has a name" % name, names)


def main():
    dumps = need_dumps()
    tap = Tap()
    folder = os.path.join(dumps, "synthetic", "broken")
    table = expectations(folder)
    tap.ok(len(table) > 70, "the README lists broken PHD files", len(table))
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        name = os.path.basename(path)
        if name in table:
            check_phd(tap, path, *table[name])
        elif not name.endswith(".md"):
            check_any(tap, path)
    for path in sorted(glob.glob(os.path.join(dumps, "broken", "*"))):
        if not path.endswith((".md", ".json")):
            check_any(tap, path)
    tap.done()


main()
