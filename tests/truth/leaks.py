#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What leaks says of a reference is what cut finds when it walks the heap without it (tests/truth/cuts.py
holds cut itself to a naive search); a sentence promises no more than that.  Who holds the list of the
process that ran out of memory is read off its source, Waste.java: a static field and a local variable.
"""

import json
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, SHOP, Tap, cairn  # noqa: E402


def ask(line, path):
    return json.loads(cairn("--format", "json", "-x", line, path).out)


def check_row(tap, name, row, path):
    if not row["reference"]:
        tap.ok(not row["freed"], name + ": nothing to clear frees nothing", row)
        return
    reference = row["reference"]
    loss = ask("cut " + (reference if reference[0] == "'" else shlex.quote(reference)), path)
    tap.equal(row["freed"], loss["freed"], name + ": freed is what cutting the reference frees")
    if row["address"]:
        return
    dead = {r["class"].split(" ")[0]: r["objects"] for r in loss["fields"]}
    if dead.get(row["class"], 0) < row["objects"]:
        tap.ok("alone is not enough" in row["sentence"], name + ": says that others stay", row)


def check_sample(tap, path):
    groups = 0
    for i, row in enumerate(ask("leaks -share 1", path)):
        check_row(tap, "%s, %d. %s" % (os.path.basename(path), i + 1, row["class"]), row, path)
        groups += row["address"] is None
    tap.ok(groups, os.path.basename(path) + ": there are groups")


def check_waste(tap):
    path = os.path.join(DUMPS, "waste", "oom", "waste-oom.hprof")
    if not DUMPS or not os.path.exists(path):
        tap.skip("waste-oom.hprof", "it is not there")
        return
    row = ask("leaks", path)[0]
    tap.ok(row["path"].startswith('Java local, thread "oom-hog", waste.Waste.') and
           row["path"].endswith(" > java.util.ArrayList > elementData"), "the path begins with the local", row)
    tap.ok(row["sentence"].endswith("Object %s is also held by waste.Waste.hog." % row["address"]),
           "the static field is named, too", row)


def main():
    tap = Tap()
    check_sample(tap, GO)
    check_sample(tap, SHOP)
    check_waste(tap)
    tap.done()


main()
