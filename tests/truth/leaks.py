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
import godump  # noqa: E402
from hprofedit import Edit  # noqa: E402
from hprofmade import Made  # noqa: E402


def ask(line, path):
    return json.loads(cairn("--format", "json", "-x", line, path).out)


def check_row(tap, name, row, path):
    if not row["reference"]:
        tap.ok(not row["freed"], name + ": nothing to clear frees nothing", row)
        return
    loss = ask("cut " + row["reference"], path)
    tap.equal(row["freed"], loss["freed"], name + ": freed is what cutting the reference frees")
    said = re.findall(r"\(cut ([^)]*)\)", row["sentence"])
    tap.ok(said in ([], [row["reference"]]), name + ": the words to clear it", row)
    if row["address"]:
        return
    dead = {r["class"].split(" ")[0]: r["objects"] for r in loss["fields"]}
    if dead.get(row["class"], 0) < row["objects"]:
        tap.ok("but not all of" in row["sentence"], name + ": says that others stay", row)


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
    tap.ok("(cut %s)" % both in row["sentence"], "the words to clear both", row)
    said = cairn("-x", "path " + row["address"], path).out
    tap.ok("1 object refers to it, too (path %s -n 3)" % row["address"] in said, "path says that another holds it", said)
    plan = ask("cut -plan 6M", path)
    tap.equal([r["reference"] for r in plan["fields"]], [both], "a plan has them, not the array of the JDK's list")
    local = 'a local of thread "oom-hog" in waste.Waste.'
    tap.ok("Two references hold it: waste.Waste.hog and " + local in row["sentence"], "both stand in the sentence", row["sentence"])
    tap.ok(row["name"].startswith("waste.Waste.hog + " + local), "and in the name", row["name"])
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
    with open(path.replace(".hprof", ".expected.json"), encoding="utf-8") as f:
        expected = json.load(f)
    of_leak = [r for r in rows if r["reference"] == leak]
    below = ask("dom " + of_leak[0]["accumulated_in"], path) if of_leak else []
    others = sum(r["retained"] for r in below if r["shallow"] != r["retained"] and "Session" not in json.dumps(r))
    own = ask("x " + of_leak[0]["accumulated_in"], path)["shallow"] if of_leak else 0
    want = "Largest parts: {:,} shop.Shop$Session (>={:.0f}K), ".format(
        expected["customers"], (expected["SessionCache_LEAK"]["bytes"] - own - others) / 1024)
    tap.ok(of_leak and of_leak[0]["contents"].startswith(want), "it names what accumulates: " + want, of_leak)
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
        tap.ok(rows and re.search(r": com\.acme\.shop\.\S+ and com\.acme\.shop\.\S+\. Clearing both frees ", rows[0]["sentence"]),
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


NOT_THE_PROGRAM = re.compile("no reference of the program")


def found(*names):
    path = os.path.join(DUMPS or "", "found", *names)
    return path if DUMPS and os.path.exists(path) else None


def check_own_loader(tap):
    """What a loader of the program's own class keeps is the program's: Ldr.java and Ldr4.java beside the dumps say
    which fields hold it."""
    for name, reference in (("ldr4.hprof", "Ldr4.MINE"), ("Ldr17.hprof", "0xffd197f8.data")):
        path = found("truth", "02-own-class-loader-called-jdk", name)
        if not path:
            tap.skip(name, "it is not there")
            continue
        row = ask("leaks", path)[0]
        tap.equal(row["reference"], reference, name + ": the program's reference")
        check_row(tap, name, row, path)
        tap.ok(row["sentence"] and not NOT_THE_PROGRAM.search(row["sentence"]), name + ": nothing else is said", row["sentence"])
        if name == "Ldr17.hprof":
            tap.ok("Ldr.MINE" in row["sentence"] and "Ldr.OTHER" in row["sentence"], "both static fields hold the loader",
                   row["sentence"])
            plan = ask("cut -plan 1M", path)
            tap.equal([r["reference"] for r in plan["fields"]], [reference], name + ": a plan clears it, too")


def loaders_dump(jdk):
    """A loader of the program's own class with 200 arrays; jdk: the JDK keeps the list by a static field as well."""
    m = Made()
    m.cls("java.lang.ClassLoader", [("L", "parent")])
    m.cls("java.util.ArrayList", [("L", "elementData")])
    m.cls("app.Mine", [("L", "data")], "java.lang.ClassLoader")
    data = m.array("java.lang.Object", [m.primitives("B", bytes(400)) for _ in range(200)])
    kept = m.new("java.util.ArrayList", elementData=data)
    loader = m.new("app.Mine", data=kept)
    m.cls("app.Main", statics=[("L", "MINE", loader), ("L", "AGAIN", loader)])
    m.cls("java.util.Timer", statics=[("L", "lists", kept if jdk else 0)])
    return m.bytes(), loader


def chains_dump(links, parts=1):
    """A list of nodes for each of `parts` static fields of a class."""
    m = Made()
    m.cls("app.Node", [("L", "next"), ("L", "bytes")])
    heads = []
    for _ in range(parts):
        head = 0
        for _ in range(links):
            head = m.new("app.Node", next=head, bytes=m.primitives("B", bytes(100)))
        heads.append(head)
    m.cls("app.Lists", statics=[("L", "head%d" % i, at) for i, at in enumerate(heads)])
    return m.bytes()


def shared_dump(more, one_class, recorded=True):
    """100 sessions in each of two static fields, ten of them also held by roots that nobody clears; the first `more`
    in a third field.  recorded: the system classes are among the roots."""
    m = Made()
    m.cls("app.Session", [("L", "bytes")])
    sessions = [m.new("app.Session", bytes=m.primitives("B", bytes(1000))) for _ in range(100)]
    lists = [m.array("java.lang.Object", some) for some in (sessions, sessions, sessions[:more])]
    fields = [("L", field, at) for field, at in zip(("all", "again", "few"), lists)]
    for i, field in enumerate(fields):
        m.cls("app.Main%d" % i, statics=[field]) if not one_class else None
    m.cls("app.Main", statics=fields if one_class else [])
    m.no_root.update(m.classes if not recorded else ())
    for at in sessions[90:]:
        m.root(at)
    return m.bytes()


def list_dump(sessions, orders, holder, shared=0):
    """A list of these objects in a static field, or in the field of an object that is in one; its address, the array's.
    shared: so many of them are roots as well."""
    m = Made()
    m.cls("java.util.ArrayList", [("L", "elementData"), ("I", "size")])
    for name in ("app.Session", "app.Order"):
        m.cls(name, [("L", "bytes")])
    names = ["app.Session"] * sessions + ["app.Order"] * orders
    objects = [m.new(name, bytes=m.primitives("B", bytes(200))) for name in names]
    for at in objects[:shared]:
        m.root(at)
    data = m.array("java.lang.Object", objects)
    kept = m.new("java.util.ArrayList", elementData=data, size=len(names))
    m.cls("app.Cache", [("L", "list"), ("L", "other")])
    m.cls("app.Main", statics=[("L", "HELD", m.new("app.Cache", list=kept, other=m.primitives("B", bytes(2000)))
                                if holder else kept)])
    return m.bytes(), "0x%x" % kept, "0x%x" % data


def check_elements(tap, directory):
    """The sentence says what is in the list that holds the memory, and not that a list has its elements in an array."""
    path = os.path.join(directory, "made.hprof")
    for sessions, orders, words in ((40, 0, "40 elements, all app.Session"), (30, 10, "40 elements, 30 of them app.Session"),
                                    (20, 20, "40 elements"), (1, 0, "1 element, app.Session")):
        for holder in (False, True):
            data, kept, array = list_dump(sessions, orders, holder)
            with open(path, "wb") as f:
                f.write(data)
            said = ask("leaks -share 5", path)[0]["sentence"]
            where = "(" + words if holder else "app.Main.HELD (java.util.ArrayList %s, %s)" % (kept, words)
            if holder and sessions > 1:
                where = " is in java.util.ArrayList %s (%s)." % (kept, words)
            if sessions > 1 or not holder:
                tap.ok(where in said and array not in said, "a list%s: %s" % (" in an object" * holder, words), said)


def check_name(tap, directory):
    """A suspect is called by a reference only if that frees half of it, and its size is that of what the name means."""
    path = os.path.join(directory, "made.hprof")
    for fields, named in ((1, True), (8, False)):
        m = Made()
        arrays = [m.primitives("B", bytes(1000)) for _ in range(fields)]
        m.cls("app.Main", statics=[("L", "part%d" % i, at) for i, at in enumerate(arrays)])
        with open(path, "wb") as f:
            f.write(m.bytes())
        row = ask("leaks -share 50", path)[0]
        tap.equal(row["name"], "app.Main.part0" if named else "class app.Main", "%d static fields: the name" % fields)
        of = ask("x 0x%x" % arrays[0], path)["retained"] if named else row["retained"]
        tap.equal(row["name_retained"], of, "and what that retains")
        if not named:
            tap.ok(row["remedy"].startswith("CLEAR app.Main.part"), "what clearing one field frees", row["remedy"])
            tap.ok(" of " in row["remedy"].split("frees")[1], "of what", row["remedy"])
    m = Made()
    m.cls("app.Main", statics=[("L", "root>kept", m.primitives("B", bytes(1000)))])  # a name that class files may have
    with open(path, "wb") as f:
        f.write(m.bytes())
    said = ask("leaks -share 50", path)[0]["sentence"]
    tap.ok("app.Main.root>kept (" in said and "(cut" not in said, "a static field is no root, whatever its name", said)
    m = Made()
    m.cls("app.Main", statics=[("L", "part%d" % i, m.primitives("B", bytes(1000))) for i in range(20)])
    with open(path, "wb") as f:
        f.write(m.bytes())
    row = ask("leaks", path)[0]
    tap.ok("CLEAR" not in row["remedy"] and "frees a tenth" in row["remedy"] and "app.Main.part" in row["remedy"],
           "what frees a twentieth is no remedy", row["remedy"])
    for row in ask("leaks", SHOP):
        target = re.search(r"\(\S+ (0x\w+)", row["sentence"]).group(1)
        tap.equal(row["name_retained"], ask("x " + target, SHOP)["retained"], row["name"] + ": the size of what it holds")
        tap.equal(row["retained"], ask("x " + row["address"], SHOP)["retained"], "and retained is that of address")


def check_loaders(tap):
    """Static fields of one class that several loaders loaded: the name says whose each is."""
    path = os.path.join(DUMPS or "", "apps", "tc3.hprof")
    if not DUMPS or not os.path.exists(path):
        tap.skip("tc3.hprof", "it is not there")
        return
    rows = [r for r in ask("leaks", path) if r["class"] == "class leaky.Leaky"]
    tap.ok(len(rows) > 1 and len({r["name"] for r in rows}) == len(rows), "each has a name of its own", rows)
    for row in rows:
        loader = ask("x " + row["address"], path)["loader"]
        tap.equal(row["name"], "leaky.Leaky.BASKETS, loader " + loader, "the loader")
        tap.ok(" is loaded by " in row["sentence"] and loader in row["sentence"], "also in the sentence", row["sentence"])


def check_contents(tap, directory):
    """What a card says is in the list: how many, whether only the list holds them, and what of them is most of it."""
    path = os.path.join(directory, "made.hprof")
    for sessions, orders, shared, words in ((40, 0, 0, "40 app.Session, reached only from here; mostly byte[] in bytes"),
                                            (40, 0, 1, "40 app.Session; mostly byte[] in bytes"),
                                            (30, 10, 0, "30 of 40 elements are app.Session, reached only from here; mostly"),
                                            (40, 0, 39, "40 app.Session.")):
        with open(path, "wb") as f:
            f.write(list_dump(sessions, orders, False, shared)[0])
        row = [r for r in ask("leaks -share 2", path) if r["name"] == "app.Main.HELD"][0]
        tap.ok(row["contents"].startswith(words), "contents: %s" % words, row["contents"])
        tap.equal(row["holder_kind"], "static ArrayList \u00b7 40", "and who holds it")
        if "mostly" in words:
            array = ask("histo", path)
            one = [r["shallow"] / r["objects"] for r in array if r["class"] == "byte[]"][0]
            tap.ok(row["contents"].endswith(" (%.1fK)." % ((sessions - shared) * one / 1024)),
                   "its bytes are those of the arrays that go with it", row["contents"])


def check_made(tap, directory):
    path = os.path.join(directory, "made.hprof")

    def leaks(data):
        with open(path, "wb") as f:
            f.write(data)
        row = ask("leaks", path)[0]
        check_row(tap, "made", row, path)
        return row

    data, loader = loaders_dump(False)
    row = leaks(data)
    tap.equal(row["reference"], "0x%x.data" % loader, "the field of the program's loader")
    data, loader = loaders_dump(True)
    row = leaks(data)
    tap.ok("Only the JDK" not in row["sentence"] and "0x%x.data" % loader in row["sentence"],
           "where the JDK holds it as well, the program's reference stands in the sentence", row["sentence"])
    row = leaks(chains_dump(300))
    tap.equal(row["reference"], "app.Lists.head0", "a chain right below a class: the static field")
    row = leaks(chains_dump(200, 3))
    tap.ok(row["reference"].startswith("app.Lists.head"), "several such", row)
    for recorded, root in (True, "(System class)"), (False, "(~System class)"):
        said = leaks(shared_dump(5, True, recorded))["sentence"]
        tap.ok("is a GC root " + root in said, "a root that is inferred is marked", said)
    for more, one_class, names in ((5, False, "0.all 1.again"), (40, False, "0.all 1.again 2.few"),
                                   (40, True, ".again .all .few")):
        row = leaks(shared_dump(more, one_class))
        names = ["app.Main" + name for name in names.split()]
        tap.equal(sorted((row["reference"] or "").split()), names, "the fields that hold most, with one for %d of 90" % more)
        dead = {r["class"]: r["objects"] for r in ask("cut " + row["reference"], path)["fields"]}
        tap.equal(dead["app.Session"], 90 - (more if len(names) == 2 else 0), "and that many of them go")
        # the class retains just those that only its fields hold
        tap.equal("but not all of " in row["sentence"], not one_class, "and the rest stays")


def check_chain(tap):
    path = found("reports", "20-leaks-chain-in-static", "chain.hprof")
    if not path:
        tap.skip("chain.hprof", "it is not there")
        return
    row = ask("leaks", path)[0]
    tap.equal(row["reference"], "com.ex.Chain.head", "the static field with the list")
    check_row(tap, "chain.hprof", row, path)
    plan = ask("cut -plan 8K", path)
    tap.equal([r["reference"] for r in plan["fields"]], ["com.ex.Chain.head"], "a plan begins at the head of the chain")


def check_go_variables(tap, directory):
    """A second variable gets the pointer of the first: both are named; where it is one of Go's library nothing is
    proposed."""
    sample = os.path.join(DUMPS or "", "go", "go-small.dump")
    if not DUMPS or not os.path.exists(sample):
        tap.skip("go-small.dump", "it is not there")
        return
    where = {r["slot"]: int(r["address"], 16) for r in ask("roots", sample) if r["slot"]}
    with open(sample, "rb") as f:
        data = f.read()
    contents = [r for r in godump.records(sample) if r.kind in ("bss", "data")]

    def with_second(variable):
        old, new = (where[v].to_bytes(8, "little") for v in (variable, "main.Hoard"))
        holders = [r for r in contents if old in r.contents]
        assert len(holders) == 1 and holders[0].contents.count(old) == 1, variable
        begin = data.index(holders[0].contents) + holders[0].contents.index(old)
        path = os.path.join(directory, "two.dump")
        with open(path, "wb") as f:
            f.write(data[:begin] + new + data[begin + 8:])
        os.system("cp %s %s" % (sample.replace(".dump", ".elf"), path.replace(".dump", ".elf")))
        return [r for r in ask("leaks -share 3", path) if r["address"] == "0x%x" % where["main.Hoard"]][0]

    row = with_second("main.Chain")
    tap.ok(re.search(r"Clearing main\.\w+ and main\.\w+ together frees", row["sentence"]), "Go: both variables", row["sentence"])
    tap.equal(sorted(row["name"].split(" + ")), ["main.Chain", "main.Hoard"], "Go: its name")
    library = next(v for v in sorted(where) if re.match(r"(fmt|internal/cpu|sync|os)\.", v) and
                   data.count(where[v].to_bytes(8, "little")) == 1)
    row = with_second(library)
    tap.ok(not row["freed"] and not row["reference"], "Go: nobody clears %s" % library, row)
    tap.ok("Go's library holds it, too" in row["sentence"], "Go: and the sentence says so", row["sentence"])


def check_gos_own(tap):
    """Tables that only variables of Go's library hold are no suspects, however large they are."""
    where = {r["address"]: r["slot"] for r in ask("roots", GO) if r["slot"] and r["slot"].startswith(("unicode.", "runtime."))}
    if not where:
        tap.skip("Go's own tables", "built without libelf")
        return
    run = cairn("--format", "json", "-x", "leaks -share 2", GO)
    rows, least = json.loads(run.out), ask("info", GO)["reachable_shallow"] // 50
    large = [a for a in where if ask("x " + a, GO)["retained"] > least]
    tap.none([r for r in rows if r["address"] in where or re.match(r"(runtime|unicode)\.", r["path"])], large, "Go's own tables")
    tap.ok("more is retained by Go's own tables" in cairn("-x", "leaks -share 2", GO).out, "a note says what they retain")
    tap.ok([r for r in rows if r["path"].startswith("main.")], "the program's variables are there", rows)


def two_caches(own):
    """A static field of the JDK with 100 arrays, and one of the program with `own` of them."""
    m = Made()
    for cls, field, n in (("java.util.Timer", "kept", 100), ("app.Cache", "ALL", own)):
        m.cls(cls, statics=[("L", field, m.array("java.lang.Object", [m.primitives("B", bytes(1000)) for _ in range(n)]))])
    return m.bytes()


def check_own_first(tap, directory):
    """Of two that retain about the same the program's own comes first."""
    path = os.path.join(directory, "made.hprof")
    for own, first in ((95, "app.Cache"), (105, "app.Cache"), (70, "java.util.Timer")):
        with open(path, "wb") as f:
            f.write(two_caches(own))
        rows = ask("leaks", path)
        tap.equal([r["class"] for r in rows][:2], ["class " + c for c in sorted(("app.Cache", "java.util.Timer"), key=lambda c: c != first)],
                  "%d arrays of the program's, 100 of the JDK's" % own)


def scattered(cls, own):
    """200 objects of a class that roots of the VM hold one by one, 1000 bytes each, and a static field of the program's
    with `own` arrays of that size."""
    m = Made()
    m.cls(cls, [("L", "value")])
    for _ in range(200):
        m.root(m.new(cls, value=m.primitives("B", bytes(1000))))
    m.cls("app.Cache", statics=[("L", "ALL", m.array("java.lang.Object", [m.primitives("B", bytes(1000)) for _ in range(own)]))])
    return m.bytes()


def check_nowhere(tap, directory):
    """Objects of the JDK's that no reference frees come last; where there is nothing else, the program's static field
    is named before them, down to a quarter of the share.  Groups of the program's own class stay where they are."""
    path = os.path.join(directory, "made.hprof")
    jdk, cache = ("java.lang.String", "suspect"), "class app.Cache"
    for cls, own, expected in (("java.lang.String", 40, [(cache, "suspect"), jdk]), ("java.lang.String", 12, [(cache, "holder"), jdk]),
                               ("java.lang.String", 2, [jdk]), ("app.Job", 40, [("app.Job", "suspect"), (cache, "suspect")]),
                               ("app.Job", 12, [("app.Job", "suspect")])):
        with open(path, "wb") as f:
            f.write(scattered(cls, own))
        rows = ask("leaks", path)
        tap.equal([(r["class"], r["kind"]) for r in rows], expected, "200 scattered %s, %d arrays in a static field" % (cls, own))
        for row in rows:
            check_row(tap, "scattered", row, path)


def main():
    tap = Tap()
    check_gos_own(tap)
    check_own_loader(tap)
    check_chain(tap)
    with tempfile.TemporaryDirectory() as directory:
        check_elements(tap, directory)
        check_contents(tap, directory)
        check_name(tap, directory)
        check_made(tap, directory)
        check_own_first(tap, directory)
        check_nowhere(tap, directory)
        check_go_variables(tap, directory)
    check_sample(tap, GO)
    check_sample(tap, SHOP)
    for path in (GO, SHOP):
        check_holders(tap, path)
    check_two_holders(tap)
    check_waste(tap)
    check_loaders_list(tap)
    check_loaders(tap)
    tap.done()


main()
