#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What leaks says of a reference is what cut finds when it walks the heap without it (tests/truth/cuts.py
holds cut itself to a naive search); a sentence promises no more than that.  Who holds the list of the
process that ran out of memory is read off its source, Waste.java: a static field and a local variable, which
have to be cleared together.
"""

import json
import os
import re
import tempfile
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, GO, SHOP, Tap, cairn  # noqa: E402
from hprofedit import Edit  # noqa: E402


def ask(line, path):
    return json.loads(cairn("--format", "json", "-x", line, path).out)


def check_row(tap, name, row, path):
    if not row["reference"]:
        tap.ok(not row["freed"], name + ": nothing to clear frees nothing", row)
        return
    loss = ask("cut " + row["reference"], path)
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
    both = "waste.Waste.hog root>%s" % row["address"]
    tap.equal(row["reference"], both, "it, and the static field")
    tap.ok("clearing waste.Waste.hog and root>%s (Java local, thread" % row["address"] in row["sentence"],
           "both stand in the sentence", row["sentence"])
    check_row(tap, "both", row, path)
    alone = [ask("cut " + word, path)["freed"] for word in both.split()]
    tap.equal(alone, [0, 0], "neither frees anything alone")


def check_loaders_list(tap):
    """A class whose static leaks is the suspect, not the list in which its loader has its classes; and what the suspects
    keep is not said again to be kept by roots of the VM."""
    path = os.path.join(DUMPS, "grove", "shop-small.hprof")
    if not DUMPS or not os.path.exists(path):
        tap.skip("shop-small.hprof", "it is not there")
        return
    with open(path.replace(".hprof", ".manifest.json"), encoding="utf-8") as f:
        leak = json.load(f)["leak"]["root"].split()[1]
    rows = ask("leaks", path)
    tap.ok([r for r in rows if r["class"] == "class " + leak.rsplit(".", 1)[0]], "the class that leaks is a suspect", rows)
    said = cairn("-x", "leaks", path).out
    tap.ok("more are kept" not in said, "what suspects keep is not said twice", said)


def check_two_holders(tap):
    """A dump in which a second static field holds the list: only both together free it, and that much."""
    edit = Edit(SHOP)
    audit, shop = (edit.by_name["com.acme.shop." + name][0] for name in ("AuditLog", "Shop"))
    entries = [r for r in edit.out(audit) if r[1] == "static ENTRIES"]
    version = [r for r in edit.out(shop) if r[1] == "static VERSION"]
    with tempfile.TemporaryDirectory() as directory:
        path, without = (os.path.join(directory, name) for name in ("two.hprof", "none.hprof"))
        edit.copy(path, version)
        two = Edit(path)
        data = bytearray(two.dump.data)
        data[version[0][2]:version[0][2] + two.dump.ids] = entries[0][3].to_bytes(two.dump.ids, "big")
        with open(path, "wb") as f:
            f.write(data)
        edit.copy(without, entries + version)
        freed = ask("info", path)["reachable_shallow"] - ask("info", without)["reachable_shallow"]
        rows = [r for r in ask("leaks", path) if r["reference"] and " " in r["reference"]]
        tap.equal([(sorted(r["reference"].split()), r["freed"]) for r in rows],
                  [(["com.acme.shop.AuditLog.ENTRIES", "com.acme.shop.Shop.VERSION"], freed)], "two static fields")
        tap.ok(rows and re.search(r"clearing com\.acme\.shop\.\S+ and com\.acme\.shop\.\S+ frees ", rows[0]["sentence"]),
               "both in one sentence", rows)


def check_holders(tap, path):
    """Where there is no suspect, the rows are the largest holders, as with a share that they have."""
    name = os.path.basename(path)
    run = cairn("--format", "json", "-x", "leaks -share 100", path)
    rows = json.loads(run.out)
    tap.equal(run.status, 1, name + ": what was looked for is not there")
    tap.ok(rows and all(r["kind"] == "holder" and r["sentence"] for r in rows), name + ": holders, which say so", rows)
    least = min(r["share"] for r in rows)
    suspects = [r for r in ask("leaks -share %g" % (least * 0.99), path) if r["kind"] == "suspect"]
    tap.equal([r["retained"] for r in rows], [r["retained"] for r in suspects][:len(rows)], name + ": the largest")
    for row in rows:
        check_row(tap, name + ", holder " + row["class"], row, path)


def main():
    tap = Tap()
    check_sample(tap, GO)
    check_sample(tap, SHOP)
    for path in (GO, SHOP):
        check_holders(tap, path)
    check_two_holders(tap)
    check_waste(tap)
    check_loaders_list(tap)
    tap.done()


main()
