#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""data/gocart.dump says what data/gocart/main.go does; the expectations are read off the source.

Also: what cairn says where the program is not there, or is another one.
"""

import json
import os
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, GO, SOURCE, Tap, cairn, need_libdw  # noqa: E402
import godump  # noqa: E402

DUMP = GO
ELF = os.path.join(SOURCE, "data", "gocart.elf")


def rows(line, path=DUMP, *options):
    run = cairn("--format", "json", *options, "-x", line, path)
    got = json.loads(run.out) if run.out.strip() else []
    if isinstance(got, dict):
        lists = [v for v in got.values() if isinstance(v, list)]
        return lists[0] if lists else [got]
    return got


def value_of(line):
    """Of an object: {name: value}."""
    return {r["name"]: r["value"] for r in rows(line)}


def check_contents(tap):
    sessions = rows("entries main.sessions")
    tap.equal({r["key"] for r in sessions}, {'"session-%d"' % i for i in range(100)}, "the map that leaks")
    tap.equal({r["key"]: r["value"] for r in rows("entries main.visits")},
              {str(i): "2" for i in range(50)}, "a map of numbers")
    ids = [r["value"].partition("{ID: ")[2].partition(",")[0] for r in rows("entries main.orders")]
    tap.equal(ids, [str((1 << 40) + 11 * i) for i in range(5)], "a channel, oldest first")
    notify = [r["value"].split(" ")[0] for r in rows("entries main.notify")]
    tap.equal(notify, ["*main.Mail", "main.Pager", "nil"], "interfaces and their dynamic types")
    settings = {r["key"]: r["value"] for r in rows("entries main.settings")}
    want = {'"name"': 'string "gocart"', '"retries"': "int 3", '"ratio"': "float64 0.75", '"none"': "nil"}
    tap.equal({k: settings.get(k) for k in want}, want, "empty interfaces and their values")
    tap.ok(settings['"sizes"'].startswith("[]int 0xc"), "a type that DWARF leaves out", settings)
    titles = [r["value"].split('"')[1::2][:2] for r in rows("entries main.catalogue")]
    want = [["SKU-%d" % (10000 + i), "%s no. %d" % (
        ["kettle", "lamp", "teapot", "caf\u00e9 cup", "\u8336 tin", "quilt"][i % 6], i)] for i in range(60)]
    tap.equal(titles[:60], want, "a slice of pointers, texts in UTF-8")


def check_fields(tap):
    session = [r["address"] for r in rows("entries main.sessions") if r["key"] == '"session-7"'][0]
    f = value_of("x " + session)
    want = {"ID": str((1 << 40) + 7), "Status": "1", "Discount": "0.875"}
    tap.equal({k: f.get(k) for k in want}, want, "numbers of a struct")
    tap.ok(f["Extra"].startswith("*main.Customer 0xc"), "a pointer in an interface", f)
    tap.ok(f["Cart"].startswith("len 3 cap "), "a slice with its length", f)
    tap.ok('Name: "customer 7", Email: "c7@example.org"' in f["Customer"], "what a pointer leads to", f)
    tap.ok(f["Previous"].partition(" ")[2].startswith("{ID: %d," % ((1 << 40) + 6)), "the one before", f)
    fields = [r["field"] for r in rows("referrers " + session) if "buckets" in r["class"]]
    tap.equal(fields, ['["session-7"]'], "a map holds it by its key")
    tap.equal(len(rows("ls main.Session")), 103, "100 sessions and three on offer")
    where = {(r["kind"], r["class"], r["field"]) for r in rows("find %d" % ((1 << 40) + 7))}
    tap.ok(("field", "main.Session", "ID") in where, "find: a number of a struct", where)
    where = [r["class"] for r in rows("find 42") if r["field"] == "key 42"]
    tap.equal(where, ["map[int]int buckets"], "the key of a map")
    listed = rows("ls main.Session -fields all")
    want = {((1 << 40) + i, i / 8, i % 8) for i in range(100)}
    got = {(r["ID"], r["Discount"], r["ID"] % 8) for r in listed}
    tap.ok(want <= got, "the same as columns of a list", want - got)
    by = [r["Discount"] for r in rows("ls main.Session -sort -Discount")]
    tap.ok(by == sorted(by, reverse=True) and by[0] == 99 / 8, "and the order by one", by)
    warehouse = rows("ls main.Warehouse | sort address")[0]["value"]
    count = [sum(i for i in range(60) if i % 3 == 0 and i % 16 == k) for k in range(16)]
    tap.ok("Count: [%s]" % ", ".join(map(str, count)) in warehouse, "an array in a struct", warehouse)


def check_variables(tap):
    """Global variables that are no single pointer, and parts of them as Go writes them."""
    stores = [r["value"] for r in rows("x main.stores")]
    tap.equal([v.partition('Name: "')[2].partition('"')[0] for v in stores],
              ["store %d" % i for i in range(3)], "an array that is a variable")
    tap.equal([r["name"] for r in rows("x main.stores")], ["[0]", "[1]", "[2]"], "its elements")
    count = sum(i for i in range(60) if i % 3 == 1 and i % 16 == 4)
    got = [r["value"] for r in rows("x main.stores[1].Count")]
    tap.equal(got[4:5], [str(count)], "a part of what an element points to")
    head = cairn("-x", "x main.receipt -length 0", DUMP).out.split("\n")
    tap.ok(["variable_value", '"a line of a very long receipt"'] in [l.split(None, 1) for l in head],
           "a string is its own part of an array", head)
    head = cairn("-x", "x main.hot", DUMP).out.split("\n")
    root = [l for l in head if l.startswith("root ")][0]
    tap.ok("main.hot+" in root and "main.stores[1]" in root, "both variables that hold an object", root)
    run = cairn("-x", "x main.guard", DUMP)
    tap.ok(run.status == 1 and "main.guard is not in the dump" in run.err, "a variable that Go leaves out", run.err)
    for line, told in (("x main.stores[3]", "has no [3]"), ("x main.stores.Name", "has no .Name")):
        run = cairn("-x", line, DUMP)
        tap.ok(run.status == 2 and told in run.err, "%s is no part" % line, (run.status, run.err))


def cut_of(line):
    run = cairn("--format", "json", "-x", line, DUMP)
    got = json.loads(run.out)
    return got["references"], {r["class"]: r["objects"] for r in got["fields"]}


def check_packages(tap):
    """What is made of a package's types counts for it: maps, slices and channels of them, closures."""
    found = {r["package"] for r in rows("histo -by package")}
    tap.ok("main" in found and not [p for p in found if " " in p or "*" in p], "packages are names", found)
    main = [r for r in rows("histo -by package") if r["package"] == "main"][0]
    named = [r for r in rows("histo") if "main." in r["class"]]
    tap.equal(main["objects"], sum(r["objects"] for r in named), "objects of what main declares")


def check_cuts(tap):
    """What goes when fields are cleared: a fifth of the customers is in Extra too; each has three texts."""
    tap.equal(cut_of("cut main.Session.Customer"), (100, {"main.Customer": 80, "[]uint8": 240}),
              "a field of all objects of a type")
    tap.equal(cut_of("cut main.Session.Cart"), (75, {"[]main.Line": 75}), "a slice that every fourth lacks")
    tap.equal(rows("size main.stores")[0]["objects"], 3, "all that a variable points to is a set")
    tap.equal(cut_of("cut root>main.receipt")[0], 1, "the hold of a variable")
    session = [r["address"] for r in rows("entries main.sessions") if r["key"] == '"session-8"'][0]
    tap.equal(cut_of("cut %s.Customer" % session), (1, {"main.Customer": 1, "[]uint8": 3}), "a field of one")
    run = cairn("-x", "cut main.Session.Status", DUMP)
    tap.ok(run.status == 1 and 'has no reference field "Status"' in run.err, "a field without pointers", (run.status, run.err))


def check_waste(tap):
    """Every tenth of 100 sessions has a map with one note; all customers have the same number as their second one; a window
    shows 20 words of an array for 500, which takes 512."""
    def waste(kind):
        return {(r["field"], r["class"]): (r["objects"], r["wasted"]) for r in rows("waste " + kind)
                if not (r["field"] or "").startswith("runtime.")}

    notes = waste("single")
    tap.ok(list(notes) == [("main.Session.Notes", "map[string]string")] and notes[list(notes)[0]][0] == 10,
           "maps with one entry, by their field", notes)
    tap.equal(waste("strings"), {("main.Customer.Phone[]", "[]uint8"): (100, 99 * 16)}, "equal texts, by their field")
    tap.equal([v for (_, c), v in waste("oversized").items() if c == "[]int64"], [(1, (512 - 20) * 8)],
              "a slice that uses little of its array")
    tap.equal(waste("unused"), {}, "no map and no slice of the program is empty")


def check_interior(tap):
    """Pointers into the middle keep all of the object."""
    slots = {r["slot"]: r for r in rows("roots | grep 'main.'") if r["slot"]}
    got = {name: (slots[name]["class"], slots[name]["offset"]) for name in ("main.hot", "main.receipt",
                                                                          "main.window")}
    # 16 bytes of a string, then element 4 of the counters; bytes 6000 to 6029; elements 100 to 120
    tap.equal(got, {"main.hot": ("main.Warehouse", 16 + 4 * 8), "main.receipt": ("[]uint8", 6000),
                    "main.window": ("[]int64", 800)}, "globals that point into objects")
    stores = [r["address"] for r in rows("ls main.Warehouse")]
    into = rows("referrers %s -class main.Item" % stores[1])
    tap.equal(sorted(int(r["field"].partition("+")[2]) for r in into),
              sorted(16 + 8 * (i % 16) for i in range(60) if i % 3 == 1), "fields that point into an object")
    globals_ = {r["name"]: r["retained"] for r in rows("globals")}
    found = rows("find ^main.sessions$")
    tap.equal([(r["kind"], r["class"]) for r in found], [("global", "map[string]*main.Session")],
              "a variable is found by its name")
    run = cairn("--format", "json", "-x", "$g = roots -by name | grep main.stores", "-x", "size $g", DUMP)
    size = json.loads(run.out.splitlines()[-1])
    tap.equal(size["objects"], 3, "a row of roots counts what its variable holds")
    tap.ok(globals_["main.receipt"] >= 12000, "29 bytes keep a page of 12000", globals_["main.receipt"])


def check_goroutines(tap):
    stacks = {(r["waits_for"], r["stack"].split("+")[0]): r["count"] for r in rows("threads -by stack")}
    tap.equal(stacks.get(("chan receive", "main.waitForAnswer")), 8, "goroutines that wait for an answer")
    tap.equal(stacks.get(("chan send", "main.offer")), 3, "goroutines that nobody listens to")
    truth = {r.id: r for r in godump.records(DUMP) if r.kind == "goroutine"}
    got = {r["id"]: (int(r["address"], 16), r["system"]) for r in rows("goroutines")}
    tap.equal(got, {i: (r.address, r.system != 0) for i, r in truth.items()}, "every goroutine")
    waiting = [r["id"] for r in rows("threads") if "waitForAnswer" in r["name"]]
    held = [(r["variable"], r["class"]) for r in rows("bt %d" % waiting[0])
            if (r["method"] or "").startswith("main.waitForAnswer")]
    tap.ok(("s", "main.Session") in held, "a local variable keeps a session", held)


def check_sites(tap):
    records = list(godump.records(DUMP))
    samples = [r for r in records if r.kind == "sample"]
    sites = rows("sites")
    tap.equal(sum(r["objects"] for r in sites), len({r.object for r in samples}), "every sample counts")
    bucket = {r.id: r.stack for r in records if r.kind == "bucket"}
    want = {}
    for r in samples:
        stack = " < ".join(f for f, _, _ in bucket[r.bucket])
        want[stack] = want.get(stack, 0) + 1
    got = {}
    for r in sites:
        got[r["stack"]] = got.get(r["stack"], 0) + r["objects"]
    tap.equal(got, want, "objects by stack")
    site = rows("x main.catalogue")
    head = json.loads(cairn("--format", "json", "-x", "x main.last", DUMP).out)
    tap.ok("main.visit gocart/main.go:" in json.dumps(head) and site, "who allocated an object", head)


def check_without(tap):
    """The dump alone; another program; a program for other data."""
    directory = tempfile.mkdtemp(prefix="go.", dir=os.path.join(BUILD, "tests"))
    alone = os.path.join(directory, "alone.dump")
    shutil.copy(DUMP, alone)
    names = {r["slot"] for r in rows("roots | grep segment", alone)}
    tap.ok(names and all(n.startswith(("bss+0x", "data+0x")) for n in names), "alone: places instead of names")
    session = [r for r in rows("ls main.Session")][0]["address"]
    words = rows("x " + session, alone)
    record = [r for r in godump.records(DUMP) if r.kind == "object" and r.address == int(session, 16)][0]
    want = ["0x%016x" % w for w in struct.unpack("<10Q", record.contents)]
    got = [r["value"].split(" ")[0] for r in words]
    for i, r in enumerate(words):
        if r["type"] == "pointer":
            got[i] = "0x%016x" % (0 if r["value"] == "nil" else sum(int(p, 0) for p in got[i].split("+")))
    tap.equal(got, want, "alone: words in hexadecimal")
    tap.equal([int(r["name"], 16) for r in words if r["type"] == "pointer"], record.fields,
              "alone: pointers are marked")
    same = rows("roots | grep segment", alone, "--exe", ELF)
    tap.ok(any(r["slot"] == "main.sessions" for r in same), "--exe: names again")
    run = cairn("-x", "info", "--exe", os.path.join(BUILD, "cairn"), alone)
    tap.ok(run.status == 0 and "did not write this dump" in run.out + run.err, "another program is refused", run)
    shutil.rmtree(directory)


def main():
    need_libdw()
    tap = Tap()
    for check in (check_contents, check_fields, check_variables, check_packages, check_cuts, check_waste,
                  check_interior, check_goroutines, check_sites, check_without):
        check(tap)
    tap.done()


main()
