#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What references free, against a naive algorithm: take them away, see what can still be reached.

Every reference of many random graphs alone, and sets of them.  Where there are dumps: what a program
that knows its own sizes built and leaked, by cut and by leaks; and groups of suspects added up from
the dominator tree's top.  CAIRN_SEEDS gives another number of seeds than 36 (160 in the long run).
"""

import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from hprofmade import Made  # noqa: E402
from cairntest import BUILD, DUMPS, MKDUMP, Run, SOURCE, Tap, cairn, seeds  # noqa: E402

TOOL = os.path.join(BUILD, "tests", "tools", "cuts")
DOMINATORS = os.path.join(BUILD, "tests", "tools", "dominators")
SEEDS = seeds(20, 160)


def check_random(tap, directory):
    wrong, compared, freeing, plans, several = [], 0, 0, 0, 0
    for seed in SEEDS:
        made = Run([MKDUMP, "random", "--seed", str(seed), "--out", os.path.join(directory, "g")])
        if made.status != 0:
            wrong.append("seed %d: %s" % (seed, made))
            break
        run = Run([TOOL, made.out.split("\t")[0]])
        if run.status != 0:
            wrong.append("seed %d (%s): %s" % (seed, made.out.strip(), run))
        elif run.out:
            word = run.out.split()
            compared += int(word[0])
            freeing += int(word[2])
            plans += int(word[5])
            several += int(word[7])
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
    tap.none(wrong, compared, "%d random graphs as the naive algorithm has them" % len(SEEDS))
    tap.ok(freeing * 20 > compared, "of %d cuts %d free something" % (compared, freeing))
    tap.ok(several, "of %d plans %d take several references" % (plans, several))


def check_weak(tap):
    """Dumps with values, in the VM's model and in MAT's, where weak references hold; roots on the stacks of threads."""
    dumps = [(os.path.join(SOURCE, "data", "shop.hprof"), "3")]
    real = os.path.join(DUMPS, "hotspot", "sun_jdk6_18_x32.hprof")
    if os.path.exists(real):
        dumps.append((real, "499"))
    for path, step in dumps:
        for options in ((), ("-m",)):
            run = Run([TOOL, "-s", step, *options, path])
            tap.ok(run.status == 0, "%s %s" % (os.path.basename(path), " ".join(options)), run)


def ask(path, line, *options):
    return json.loads(cairn("-x", line, "--format", "json", *options, path).out or "[]")


def check_sample(tap):
    """The sample's leak: a static list that closed sessions are never taken from."""
    path = os.path.join(SOURCE, "data", "shop.hprof")
    rows = {r["path"]: r for r in ask(path, "leaks")}
    leak = rows.get("static com.acme.shop.AuditLog.ENTRIES > elementData", {})
    tap.equal(leak.get("reference"), "com.acme.shop.AuditLog.ENTRIES", "leaks: the planted one")
    whole = ask(path, "cut com.acme.shop.AuditLog.ENTRIES")
    tap.equal(leak.get("freed"), whole.get("freed"), "leaks and cut: one number")
    for threads in ("1", "4"):
        tap.equal(ask(path, "leaks", "-t", threads), list(rows.values()), "leaks: %s threads" % threads)


def check_references(tap):
    """What leaks calls a reference is a word for cut; a row stands for what its address says."""
    for name in sorted(os.listdir(os.path.join(SOURCE, "data"))):
        path = os.path.join(SOURCE, "data", name)
        if not name.endswith((".dump", ".hprof", ".phd")):
            continue
        rows = ask(path, "leaks -share 2")
        named = [r for r in rows if r["reference"]]
        tap.ok(named, "%s: suspects have references" % name)
        tap.equal([ask(path, "cut " + r["reference"])["freed"] for r in named], [r["freed"] for r in named],
                  "%s: cut takes them" % name)
        slots = {}  # what people call a root: its variable
        for r in ask(path, "roots"):
            slots.setdefault("root>" + r["address"], []).append(r["slot"])
        silent = [r for r in named if not all(word in r["sentence"] or [s for s in slots.get(word, ()) if s and s in r["sentence"]]
                                              for word in r["reference"].split()) and
                  r["reference"] not in r["sentence"] and "Clearing it frees" not in r["sentence"]]
        tap.none([r for r in named if "root>" in r["sentence"] + r["name"]], named, "%s: and roots by what makes them one" % name)
        tap.none(silent, named, "%s: they are in the sentences" % name)
        for r in named:  # the object that is named is the suspect, what piles up or one between them
            ways = ask(path, "path " + r["accumulated_in"])
            steps = {s["address"] for s in (ways if isinstance(ways, list) else ways["fields"])} | {r["address"]}
            tap.ok(steps & set(re.findall("0x[0-9a-f]+", r["sentence"])), "%s: so is an object on the path" % name, r)
        single = [(i + 1, r) for i, r in enumerate(rows) if r["address"]]
        for row, r in single[:3]:
            out = cairn("-x", "leaks -share 2", "-x", "x %%%d" % row, "--format", "jsonl", path).out.splitlines()
            x = json.loads(out[-1])
            tap.equal((x["address"], x["retained"]), (r["address"], r["retained"]), "%s: row %d" % (name, row))


def check_plans(tap):
    """Plans for more and more: who wants more gets no less, and cut frees what the plan's rows say."""
    for name in sorted(os.listdir(os.path.join(SOURCE, "data"))):
        path = os.path.join(SOURCE, "data", name)
        if not name.endswith((".dump", ".hprof", ".phd")):
            continue
        whole = ask(path, "info")["reachable_shallow"]
        wrong, most, missed = [], 0, 0
        for part in range(1, 11):
            plan = ask(path, "cut -plan %d" % (whole * part // 10))
            got = ask(path, "cut " + " ".join(r["reference"] for r in plan["fields"]))
            if got["freed"] != plan["freed"] or got["objects"] != plan["objects"]:
                wrong.append("%d/10: cut frees %d of %d" % (part, got["freed"], plan["freed"]))
            if not plan["reached"] and plan["freed"] < most:
                wrong.append("%d/10: %d, before %d" % (part, plan["freed"], most))
            if sum(r["adds"] for r in plan["fields"]) != plan["freed"]:
                wrong.append("%d/10: what the rows add is not the total" % part)
            most = max(most, plan["freed"])
            missed += not plan["reached"]
        tap.none(wrong, missed, "%s: plans for more free no less" % name)


def check_proposals(tap):
    """What a plan names, and what it never does."""
    shop = os.path.join(SOURCE, "data", "shop.hprof")
    (orders,) = [r for r in ask(shop, "refs %s -out" % ask(shop, "ls com.acme.shop.Shop")[0]["address"])
                 if r["field"] == "orders"]
    tap.equal([(r["field"], r["address"]) for r in ask(shop, "cut -plan 64K")["fields"]],
              [("orders", orders["address"])], "a field of the program, not the array inside its list")
    whole = ask(shop, "info")["reachable_shallow"]
    jdk = [r["reference"] for r in ask(shop, "cut -plan %d" % whole)["fields"]
           if (r["class"] or "").startswith("java.lang.")]
    tap.equal(jdk, [], "nothing inside of what static fields of the JDK hold")
    cart = os.path.join(SOURCE, "data", "gocart.dump")
    if not [r for r in ask(cart, "roots") if "main.sessions" in str(r)]:
        tap.skip("names of variables in gocart.dump", "built without libelf")
        return
    last = ask(cart, "path %s" % [r for r in ask(cart, "roots") if "main.last" in str(r)][0]["address"])[-1]["address"]
    before = [r["address"] for r in ask(cart, "refs %s -out" % last) if r["field"] == "Previous"]
    tap.equal([r["target"] for r in ask(cart, "cut %s.Previous -each" % last)], before, "a field of a Go object")
    sessions = [r["address"] for r in ask(cart, "ls main.Session")]
    fields = [r["target"] for r in ask(cart, "cut main.Session.Previous -each")]
    refs = [r["address"] for s in sessions for r in ask(cart, "refs %s -out" % s) if r["field"] == "Previous"]
    tap.equal(sorted(fields), sorted(refs), "a field of all objects of a Go type")
    sessions = [r["address"] for r in ask(cart, "roots") if "main.sessions" in str(r)][0]
    tap.equal([ask(cart, "x main.sessions")["address"], ask(cart, "ls main.sessions")[0]["address"],
               ask(cart, "cut main.sessions")["freed"], ask(cart, "cut root>main.sessions")["freed"]],
              [sessions, sessions, *[ask(cart, "cut root>%s" % sessions)["freed"]] * 2], "a global variable's name")
    none = cairn("-x", "x main.Session", cart)
    tap.ok(none.status == 1 and "ls main.Session lists" in none.err, "a class without an object", none)
    plan = ask(cart, "cut -plan 1G")["fields"]
    held = [r["field"] for r in plan if r["reference"].startswith("root>0x")]
    tap.ok("main.sessions" in held and not [n for n in held if n.startswith(("runtime.", "unicode.", "internal/"))],
           "nothing that Go's own library holds", held)
    tap.ok("main.Session>main.Session" in [r["reference"] for r in ask(cart, "cut -plan 40K")["fields"]],
           "what the objects of a type hold of another, once others let go")


def check_shop(tap):
    """What a program built and knows the size of."""
    path = os.path.join(DUMPS, "grove", "shop-small.hprof")
    if not os.path.exists(path):
        tap.skip("shop-small.hprof", "CAIRN_DUMPS is not set")
        return
    with open(path[:-len(".hprof")] + ".expected.json", encoding="utf-8") as f:
        truth = json.load(f)
    leak, database = truth["SessionCache_LEAK"], truth["Shop_DB"]
    got = ask(path, "cut shop.Shop$SessionCache.LEAK")
    tap.equal((got["objects"], got["freed"]), (leak["objects"], leak["bytes"]), "cut: the leak")
    both = ask(path, "cut shop.Shop$SessionCache.LEAK shop.Shop.DB")
    classes = [r for r in both["fields"] if r["class"] == "java.lang.Class"]
    tap.equal((both["objects"] - sum(r["objects"] for r in classes),
               both["freed"] - sum(r["freed"] for r in classes)),
              (leak["objects"] + database["objects"], leak["bytes"] + database["bytes"]),
              "cut: the leak and the database, but for the class object that goes with it")
    row = [r for r in ask(path, "leaks") if r["accumulated_class"] == "shop.Shop$SessionCache"]
    tap.equal([(r["freed"], r["reference"]) for r in row],
              [(leak["bytes"], "shop.Shop$SessionCache.LEAK")], "leaks: the leak")


def groups(path, share):
    """The groups of suspects as the tree's top has them; None where a class or loader is opened."""
    top = ask(path, "dom")
    least = int(ask(path, "info")["reachable_shallow"] * share / 100)
    large = [r for r in top if r["retained"] > least]
    if any(r["class"] == "java.lang.Class" or "Loader" in r["class"] for r in large):
        return None
    sums = {}
    for r in top:
        if r["retained"] <= least and r["class"] != "java.lang.Class":
            sums[r["class"]] = sums.get(r["class"], 0) + r["retained"]
    return {c: n for c, n in sums.items() if n > least}


def check_groups(tap, directory):
    wrong, tried = [], 0
    for number, seed in enumerate(range(SEEDS[0], SEEDS[0] + 400)):  # few have such groups
        if number >= len(SEEDS) // 4 and tried:
            break
        made = Run([MKDUMP, "random", "--seed", str(seed), "--out", os.path.join(directory, "g")])
        path = made.out.split("\t")[0]
        want = groups(path, 5)
        if want:
            got = {r["class"]: r["retained"] for r in ask(path, "leaks -share 5") if not r["address"]}
            tried += 1
            if got != want:
                wrong.append("seed %d: %s, not %s" % (seed, got, want))
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
    tap.none(wrong, tried, "%d random graphs: suspects by class" % tried)


def merged(path, class_name, backward):
    """What the rows of paths must say: (classes from the tree's begin) -> objects, retained."""
    tree = {}
    for line in Run([DOMINATORS, path]).out.splitlines():
        address, above, retained = line.split("\t")
        tree[int(address, 16)] = (None if above == "-" else int(above, 16), int(retained))
    objects = [r["address"] for r in ask(path, "ls %s" % class_name)]
    members = {}
    for address in objects:
        steps = ask(path, "path %s" % address)
        names = [("class " + str(s["value"]) if s["class"] == "java.lang.Class" else s["class"]) for s in steps]
        names = names[::-1] if backward else names
        for n in range(1, len(names) + 1):
            members.setdefault(tuple(names[:n]), set()).add(int(address, 16))
    rows = {}
    for names, of in members.items():
        total = 0
        for address in of:
            up = tree[address][0]
            while up and up not in of:
                up = tree[up][0]
            total += 0 if up else tree[address][1]
        rows[names] = (len(of), total)
    return rows


def check_merged(tap, directory):
    wrong, tried, nested = [], 0, 0
    for seed in SEEDS[1::9]:
        made = Run([MKDUMP, "random", "--seed", str(seed), "--out", os.path.join(directory, "g")])
        path = made.out.split("\t")[0]
        histo = [r for r in ask(path, "histo") if 1 < r["objects"] < 14 and
                 sum(o["class"] == r["class"] for o in ask(path, "histo %s" % r["class"])) == 1]
        for r in histo[:1]:
            for option in ("", " -r"):
                want = merged(path, r["class"], bool(option))
                got, names = {}, []
                for row in ask(path, "paths %s%s" % (r["class"], option)):
                    names = names[:row["depth"]] + [row["class"]]
                    got[tuple(names)] = (row["objects"], row["retained"])
                tried += 1
                nested += any(n > 1 for n, _ in want.values())
                if got != want:
                    wrong.append("seed %d, %s%s: %s, not %s" % (seed, r["class"], option, got, want))
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
    tap.none(wrong[:3], nested, "%d trees of merged paths: what their rows retain" % tried)


def check_fields_of_one_name(tap, directory):
    """A name means the field that can hold an object; where several can, the sentence has a way to write each."""
    path = os.path.join(DUMPS, "found", "reports", "12-fields-of-one-name", "e1.hprof")
    if DUMPS and os.path.exists(path):
        tap.equal(ask(path, "cut a.b.a")["freed"], 48, "e1.hprof: the String, not the int or the long")
        tap.equal(ask(path, "cut 0xe0000428.a")["freed"], 48, "e1.hprof: of the object, too")
    else:
        tap.skip("e1.hprof", "it is not there")
    m = Made()
    held = [m.primitives("B", bytes(n)) for n in (100, 300, 500, 700, 900)]
    m.cls("a.Up", [("L", "a"), ("L", "z")])
    m.cls("a.One", [("I", "a"), ("L", "a"), ("J", "a"), ("I", "z")], "a.Up")
    m.cls("a.Two", [("L", "a"), ("L", "a")])
    m.cls("a.Lists", statics=[("I", "s", 1), ("L", "s", held[4])])
    one = m.new("a.One", a=[7, held[0], 9, held[1]], z=[3, held[2]])
    two = m.new("a.Two", a=[held[2], held[3]])
    null = m.new("a.Two", a=[0, held[3]])
    for at in (one, two, null):
        m.root(at)
    path = os.path.join(directory, "names.hprof")
    with open(path, "wb") as f:
        f.write(m.bytes())

    sizes = {r["address"]: r["shallow"] for r in ask(path, "ls byte[]")}
    size = [sizes["0x%x" % at] for at in held]
    for word, freed in (("a.One.a", size[0]), ("0x%x.a" % one, size[0]), ("a.Up.a", size[1]), ("a.Lists.s", size[4]),
                        ("0x%x.z" % one, 0), ("a.One.z", 0), ("0x%x.a" % null, 0)):
        tap.equal(ask(path, "cut " + word)["freed"], freed, "names.hprof: cut " + word)
    got = cairn("-x", "cut 0x%x.a" % two, path)
    ways = ["0x%x>0x%x" % (two, at) for at in held[2:4]]
    tap.ok(got.status == 2 and all(way in got.err for way in ways), "several of an object: both ways", got)
    got = cairn("-x", "cut a.Two.a", path)
    tap.ok(got.status == 2 and "a.Two>byte[]" in got.err, "several of a class: a way", got)
    for row in ask(path, "path 0x%x -n 3" % held[3]):
        if row["field"]:
            tap.equal(row["field"], "a_2", "path names the second of a class")
    tap.equal(ask(path, "cut a.Two.a_2")["freed"], size[3], "and cut takes it")


def check_array_classes(tap, directory):
    """HotSpot keeps the class of an array with that of its elements, though no reference of a dump says so: its own
    histogram has as many class objects before and after the arrays went.  MAT's model, of --sizes mat, has none of it."""
    m = Made()
    m.cls("app.A")
    held = m.array("app.A", [m.new("app.A")])
    twice = m.array("app.A[]", [held])
    m.cls("app.Main", statics=[("L", "h", twice)])
    m.no_root |= {"app.A[]", "app.A[][]"}
    path = os.path.join(directory, "arrays.hprof")
    with open(path, "wb") as f:
        f.write(m.bytes())
    got = ask(path, "cut app.Main.h")
    tap.equal([r["class"] for r in got["fields"] if r["class"] == "java.lang.Class"], [], "no class object goes")
    tap.equal(got["objects"], 3, "but the arrays and the element do")
    tap.equal(ask(path, "size 0x%x" % twice)["retained"], got["freed"], "size says the same")
    arrays = ["0x%x" % m.classes[n][0] for n in ("app.A[]", "app.A[][]")]
    rows = {a: ask(path, "refs %s -in" % a) for a in arrays}
    tap.none([rows[a] for a in arrays if not any(r["field"] == "<array>" for r in rows[a])], arrays, "refs names what keeps them")
    m.classes["app.Main"][3] = [("L", "h", 0)]
    with open(path, "wb") as f:
        f.write(m.bytes())
    garbage = ask(path, "histo -unreachable")
    tap.none([r for r in garbage if r["class"] == "java.lang.Class" and r["objects"]], garbage,
             "no class object is garbage without instances")
    tap.equal([r["objects"] for r in ask(path, "histo -unreachable", "--sizes", "mat") if r["class"] == "java.lang.Class"],
              [2], "in MAT's model two are")


def main():
    tap = Tap()
    directory = tempfile.mkdtemp(prefix="cuts.", dir=os.path.join(BUILD, "tests"))
    check_fields_of_one_name(tap, directory)
    check_array_classes(tap, directory)
    check_random(tap, directory)
    check_merged(tap, directory)
    check_weak(tap)
    check_sample(tap)
    check_references(tap)
    check_plans(tap)
    check_proposals(tap)
    check_shop(tap)
    check_groups(tap, directory)
    shutil.rmtree(directory)
    tap.done()


main()
