#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collections: by class, by what holds them, and by how full they are.

Real dumps with a manifest of the collections that their program planted (waste: numbers, sizes, places), and dumps of Go
(today: entries of maps).  Dumps made here: layouts of libraries and of a user, and such as lie.
"""

import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import DUMPS, Tap, cairn  # noqa: E402
from hprofmade import Made  # noqa: E402


def rows(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.out.strip() else []


def planted(tap, path, manifest):
    name = os.path.relpath(path, DUMPS)
    with open(manifest, encoding="utf-8") as f:
        plants = [r for r in json.load(f)["planted"] if "size" in r and r["class"].startswith("java.util.")]
    if not plants:
        return
    found = {(r["holder"], r["class"]): r for r in rows(path, "collections -by holder")}
    for r in plants:
        holder = r["field"] if r["field"].startswith("waste.") else "waste.Waste." + r["field"]
        mine = found.get((holder, r["class"]))
        wanted = {"objects": r["count"], "size": r["count"] * r["size"], "empty": 0 if r["size"] else r["count"]}
        if "slots" in r:
            wanted["capacity"] = r["count"] * r["slots"]
        got = {k: mine[k] for k in wanted} if mine else None
        tap.equal(got, wanted, "%s: %s" % (name, r["id"]))
    sets = found.get(("waste.Waste.oneEach[]", "java.util.HashSet"))
    one_each = [r for r in plants if r["id"] == "oneEach"][0]
    tap.equal((sets["objects"], sets["size"]), (one_each["size"], one_each["size"]), name + ": the sets in a map")
    inner = [k for k in found if k[0].endswith("Sets[]") and k[1] == "java.util.HashMap"]
    tap.equal(inner, [], name + ": the map of a set is no collection of its own")
    one_by_one(tap, name, path, plants)
    by_class, by_fill = rows(path, "collections"), rows(path, "collections -fill")
    for column in ("objects", "size", "capacity"):
        sums = [sum(r[column] for r in some) for some in (by_class, by_fill, found.values())]
        tap.ok(len(set(sums)) == 1, "%s: %s is the same whatever way it is parted" % (name, column), sums)
    degrees = {r["fill"]: r["objects"] for r in by_fill}
    ones = sum(r["count"] for r in plants if r["size"] == 1) + one_each["size"]
    tap.ok(degrees["1 element"] >= ones, name + ": with one element", degrees)
    some = rows(path, "collections java.util.Vector -by holder")
    tap.ok({r["class"] for r in some} == {"java.util.Vector"}, name + ": of a set of objects", some)


def one_by_one(tap, name, path, plants):
    """Each collection of what was planted is a row, with its own size and the field that holds it."""
    each = rows(path, "collections -each")
    of = {}
    for r in each:
        of.setdefault((r["holder"], r["class"]), []).append(r["size"])
    wrong = [r["id"] for r in plants if of.get((r["field"] if r["field"].startswith("waste.") else
             "waste.Waste." + r["field"], r["class"])) != [r["size"]] * r["count"]]
    tap.equal(wrong, [], name + ": a row for each of what was planted")
    tap.equal(len({r["address"] for r in each}), sum(r["objects"] for r in rows(path, "collections")), name + ": all others as well")
    least = max(r["size"] for r in plants)
    large = rows(path, "collections -each -min %d" % least)
    tap.equal(large, [r for r in each if r["size"] >= least], "%s: of at least %d elements" % (name, least))
    tap.ok({r["class"] for r in plants if r["size"] == least} <= {r["class"] for r in large}, name + ": the largest planted", large)


def of_grove(tap, path, manifest):
    """What grove planted, by the words of its manifest: "40 ArrayLists of capacity 100, size 0"."""
    name = os.path.relpath(path, DUMPS)
    with open(manifest, encoding="utf-8") as f:
        m = json.load(f)
    found = {r["holder"]: r for r in rows(path, "collections -by holder")}
    waste, shelf = m["waste"], m["shelf"]

    def number(words, at=0):
        return [int(w) for w in re.findall(r"\d+", str(words))][at]

    wanted = {"Grove.CACHE": (1, m["order_cache"]["entries"]), "Grove$Leak.HOARD": (1, m["leak"]["elements"]),
              "Grove.CODE": (1, m["code"]["elements"])}
    wanted.update(("Grove$Waste.%s[]" % k, (number(waste[k]), 0))
                  for k in ("presized", "untouched", "emptied", "neverUsed", "chm", "ll", "dq"))
    fives = re.findall(r"(\w+) [\w*{]", shelf["five entries each (k=0..4)"])
    for k in fives:
        if k not in ("bits", "capacity", "llist"):  # llist is within unmod
            wanted["Grove$Shelf." + k] = (1, 5)
    wanted["Grove$Shelf.unmod"] = (1, 5)
    for k, n in (("ident", number(shelf["ident"])), ("colliding", number(shelf["colliding"])), ("em", 1), ("listOf3", 3)):
        wanted["Grove$Shelf." + k] = (1, n)
    got = {k: (found["grove." + k]["objects"], found["grove." + k]["size"]) for k in wanted if "grove." + k in found}
    tap.equal(got, wanted, name + ": objects and elements of what was planted")
    tap.ok(len(wanted) >= 28, name + ": all that the manifest names", sorted(wanted))
    capacity = {k: found["grove.Grove$Waste.%s[]" % k]["capacity"] for k in ("presized", "emptied", "neverUsed")}
    tap.equal(capacity, {"presized": number(waste["presized"]) * number(waste["presized"], 1),
                         "emptied": number(waste["emptied"]) * number(waste["emptied"], 1), "neverUsed": 0},
              name + ": places without elements")


def of_go(tap, path, manifest):
    name = os.path.relpath(path, DUMPS)
    with open(manifest, encoding="utf-8") as f:
        m = json.load(f)
    found = rows(path, "collections")
    tap.ok([r for r in found if r["class"].startswith("map[") and r["size"] >= m["Grown"]["n"]], name + ": the grown map",
           found)
    each = {r["holder"]: r["size"] for r in rows(path, "collections -each -min %d" % m["Grown"]["n"])}
    tap.ok(each.get("main.Grown", 0) >= m["Grown"]["n"], name + ": the variable that holds it", each)
    arrays = {r["class"]: r for r in found}
    tap.equal(arrays["[]interface {}"]["size"], m["Anys"]["n"], name + ": elements of a slice")


def slices_of_go(tap):
    """size() of what a global slice leads to is the number of its elements, as entries has it."""
    path = os.path.join(DUMPS or "", "go", "go-mini.dump")
    if not DUMPS or not os.path.exists(path):
        tap.skip("slices of Go", "no go in CAIRN_DUMPS")
        return
    line = "sql SELECT field, size(address) n FROM globals WHERE type LIKE '[]%' AND field LIKE 'main.%' AND address > 0"
    some = {r["field"]: r["n"] for r in rows(path, line)}
    own = {f: len(rows(path, "entries " + f)) for f in some if some[f] is not None}
    tap.ok(len(own) > 8 and "main.SubSlice" in own, "slices that are held", some)
    tap.equal({f: some[f] for f in own}, own, "size() of a slice in SQL is what entries shows")


LAYOUTS = """# of our own
com.acme.IntMap pairs map store=table size=count
com.acme.*List   array  store=items size=n
com.acme.Odd heap store=items
com.acme.Odd array
com.acme.Odd array store=items sise=n
java.util.ArrayList array store=items size=n
"""


def own(tap, folder):
    m = Made()
    m.cls("com.acme.IntMap", [("L", "table"), ("I", "count")])
    m.cls("com.acme.BigList", [("L", "items"), ("I", "n")])
    m.cls("java.util.ArrayList", [("L", "items"), ("I", "n")])  # not the JDK's
    m.cls("com.acme.Text", [("I", "x")])
    a, b = m.new("com.acme.Text"), m.new("com.acme.Text")
    good = m.new("com.acme.IntMap", table=m.array("java.lang.Object", [a, b, 0, 0]), count=1)
    made = [good, m.new("com.acme.IntMap", table=m.array("java.lang.Object", [a, b]), count=1),
            m.new("com.acme.IntMap", table=m.array("java.lang.Object", [a, b]), count=7),   # more than there are places
            m.new("com.acme.IntMap", table=m.array("java.lang.Object", [a, b]), count=-1),
            m.new("com.acme.IntMap", table=a, count=1),                                  # no array
            m.new("com.acme.BigList", items=m.array("java.lang.Object", [a, b, b]), n=2),
            m.new("java.util.ArrayList", items=m.array("java.lang.Object", [a]), n=1)]
    m.root(m.new("com.acme.BigList", items=m.array("java.lang.Object", made), n=len(made)))
    path, config = os.path.join(folder, "own.hprof"), os.path.join(folder, "config")
    os.makedirs(os.path.join(config, "cairn"))
    with open(path, "wb") as f:
        f.write(m.bytes())
    with open(os.path.join(config, "cairn", "layouts"), "w") as f:
        f.write(LAYOUTS)
    env = {"XDG_CONFIG_HOME": config}
    run = cairn("--format", "json", "-x", "collections", path, env=env)
    found = {r["class"]: (r["objects"], r["size"], r["capacity"]) for r in json.loads(run.out)}
    tap.equal(found, {"com.acme.IntMap": (2, 2, 3), "com.acme.BigList": (2, 2 + len(made), 3 + len(made)),
                      "java.util.ArrayList": (1, 1, 1)}, "classes of one's own, by their layouts")
    said = [line.split("layouts:")[-1] for line in run.err.splitlines()]
    tap.equal(said, ["4: unknown shape \"heap\" after the class",
                     "5: a layout of the shape array needs store=",
                     '6: unknown word "sise="'], "each wrong line is told with its place")
    told = cairn("-x", "collections", path, env=env).out
    tap.ok("line 4 of layouts is wrong: unknown shape \"heap\" after the class, and 2 more lines" in told,
           "collections tell it, too", told)
    tap.ok("3 are left out: their sizes are impossible" in told, "objects that lie are told", told)
    entries = cairn("--format", "json", "-x", "entries 0x%x" % good, path, env=env)
    tap.ok(entries.out.count("0x%x" % a) == 1 and entries.out.count("0x%x" % b) == 1, "entries by the same layout", entries)
    none = cairn("--no-config", "--format", "json", "-x", "collections", path, env=env)
    tap.ok("com.acme" not in none.out and not none.err, "--no-config leaves the file out", none)


SHAPES = """com.acme.Linked sparse store=first next=last free=com.acme.Linked.JUMP
com.acme.Full ring store=items next=start tail=end last=full
com.acme.Threaded tree store=root value=item control=info
com.acme.Vector nested store=root|tail value=array next=shift size=n
com.acme.Deep array store=inside.items size=inside.n
com.acme.Segmented buckets map parts=segments store=table next=next key=key value=box.value size=count
"""


def shapes(tap, folder):
    """Arrays that lead to the next one, rings that are full, trees with threads, vectors of nodes, fields of fields,
    tables in segments: each with a number of elements that is planted."""
    m = Made()
    m.cls("com.acme.Item", [("I", "x")])
    item = [m.new("com.acme.Item", x=i) for i in range(12)]
    jump = m.new("com.acme.Item")
    m.cls("com.acme.Linked", [("L", "first")], statics=[("L", "JUMP", jump)])
    m.cls("com.acme.Full", [("L", "items"), ("I", "start"), ("I", "end"), ("Z", "full")])
    m.cls("com.acme.Node", [("L", "left"), ("L", "right"), ("I", "info"), ("L", "item")])
    m.cls("com.acme.Threaded", [("L", "root")])
    m.cls("com.acme.Part", [("L", "array")])
    m.cls("com.acme.Vector", [("L", "root"), ("L", "tail"), ("I", "shift"), ("I", "n")])
    m.cls("com.acme.Inside", [("L", "items"), ("I", "n")])
    m.cls("com.acme.Deep", [("L", "inside")])
    m.cls("com.acme.Segment", [("L", "table"), ("I", "count")])
    m.cls("com.acme.Entry", [("L", "next"), ("L", "key"), ("L", "box")])
    m.cls("com.acme.Box", [("L", "value")])
    m.cls("com.acme.Segmented", [("L", "segments")])

    def array(*of):
        return m.array("java.lang.Object", list(of))
    linked = m.new("com.acme.Linked", first=array(0, item[0], jump, array(item[1], 0, item[2], 0)))
    full = m.new("com.acme.Full", items=array(*item[:5]), start=2, end=2, full=1)
    empty = m.new("com.acme.Full", items=array(0, 0, 0), start=2, end=2)
    partly = m.new("com.acme.Full", items=array(item[0], 0, item[1]), start=2, end=1)
    node = [m.address() for _ in range(4)]  # 0 < 1 < 2 < 3, the root is 2
    threads = [(0, node[1], 1 << 30, 0), (node[0], node[2], -1 << 31, 1), (node[1], node[3], 0, 2),
               (node[2], 0, 1 << 30, 3)]
    for at, (left, right, info, i) in zip(node, threads):
        m.heap.append((at, "com.acme.Node", 0, dict(left=left, right=right, info=info, item=item[i])))
    tree = m.new("com.acme.Threaded", root=node[2])
    parts = [m.new("com.acme.Part", array=array(*item[i:i + 3])) for i in (0, 3)]
    vector = m.new("com.acme.Vector", root=m.new("com.acme.Part", array=array(*parts, 0)), tail=array(item[6]), shift=5, n=7)
    deep = m.new("com.acme.Deep", inside=m.new("com.acme.Inside", items=array(item[0], item[1], 0), n=2))

    def entry(i, after=0):
        return m.new("com.acme.Entry", key=item[i], box=m.new("com.acme.Box", value=item[i + 1]), next=after)
    segments = [m.new("com.acme.Segment", table=array(entry(0, entry(2)), 0), count=2),
                m.new("com.acme.Segment", table=array(0, entry(4), 0, 0), count=1)]
    segmented = m.new("com.acme.Segmented", segments=array(*segments))
    for at in (linked, full, empty, partly, tree, vector, deep, segmented):
        m.root(at)
    path, config = os.path.join(folder, "shapes.hprof"), os.path.join(folder, "shapes")
    os.makedirs(os.path.join(config, "cairn"))
    with open(path, "wb") as f:
        f.write(m.bytes())
    with open(os.path.join(config, "cairn", "layouts"), "w") as f:
        f.write(SHAPES)
    env = {"XDG_CONFIG_HOME": config}

    def numbers(at, column):
        run = cairn("--format", "json", "-x", "entries 0x%x" % at, path, env=env)
        return [item.index(int(r[column], 16)) for r in json.loads(run.out)] if run.status == 0 and run.out.strip() else run
    wanted = [("arrays that lead to the next", linked, [0, 1, 2]), ("a full ring", full, [2, 3, 4, 0, 1]),
              ("a ring with room", partly, [1, 0]), ("a tree with threads", tree, [0, 1, 2, 3]),
              ("a vector of nodes", vector, list(range(7))), ("a field of a field", deep, [0, 1]),
              ("tables in segments", segmented, [1, 3, 5])]
    for what, at, which in wanted:
        tap.equal(numbers(at, "address"), which, what + ": its elements")
    tap.equal(numbers(segmented, "key_address"), [0, 2, 4], "tables in segments: the keys")
    run = cairn("--format", "json", "-x", "collections", path, env=env)
    found = {r["class"].split(".")[-1]: (r["objects"], r["size"], r["capacity"]) for r in json.loads(run.out)}
    sizes = {"Linked": (1, 3, 0), "Full": (3, 7, 11), "Threaded": (1, 4, 0), "Vector": (1, 7, 0), "Deep": (1, 2, 3),
             "Segmented": (1, 3, 6)}
    tap.equal(found, sizes, "their sizes and places")


COUNTS = """com.acme.Many wrapper map store=map size=total counts=value
com.acme.Uncounted wrapper map store=map counts=value
com.acme.Pairs pairs map store=table null=key
com.acme.Part wrapper store=list unless=low|high
"""


def counting(tap, folder):
    """What counts more than its keys, null as a key, and what shows a part: a naive sum over what was made."""
    m = Made()
    m.cls("java.util.ArrayList", [("L", "elementData"), ("I", "size")])
    m.cls("com.acme.Pairs", [("L", "table")])
    m.cls("com.acme.Many", [("L", "map"), ("I", "total")])
    m.cls("com.acme.Uncounted", [("L", "map")])
    m.cls("com.acme.Part", [("L", "list"), ("Z", "low"), ("Z", "high")])
    m.cls("com.acme.Text", [("I", "x")])
    m.cls("com.acme.Number", [("I", "value")])
    text = [m.new("com.acme.Text") for _ in range(8)]

    def a_list(some):
        return m.new("java.util.ArrayList", elementData=m.array("java.lang.Object", some + [0, 0]), size=len(some))

    def pairs(of):
        return m.new("com.acme.Pairs", table=m.array("java.lang.Object", [x for pair in of for x in pair]))
    lists = [text[:3], text[3:4], [], text[:2]]
    number = [m.new("com.acme.Number", value=n) for n in (3, 1, 70)]
    a_pair = pairs([(0, text[0]), (text[1], 0)])
    stated = m.new("com.acme.Many", map=pairs([(text[i], a_list(x)) for i, x in enumerate(lists)]), total=6)
    counted = m.new("com.acme.Uncounted", map=pairs([(text[i], a_list(x)) for i, x in enumerate(lists)]))
    bag = m.new("com.acme.Uncounted", map=pairs(list(zip(text, number))))
    table = m.new("com.acme.Uncounted", map=pairs([(text[0], a_pair), (text[1], a_pair)]))
    none = m.new("com.acme.Uncounted", map=pairs([]))
    odd = m.new("com.acme.Uncounted", map=pairs([(text[0], text[1])]))
    whole, part = (m.new("com.acme.Part", list=a_list(text), low=0, high=n) for n in (0, 1))
    made = {"a pair": (a_pair, 2, 2), "stated": (stated, 6, 6), "counted": (counted, 6, 6), "a bag": (bag, 74, 3),
            "a table": (table, 4, 2), "nothing": (none, 0, 0), "what says no number": (odd, None, 1),
            "a whole": (whole, 8, 8), "a part": (part, None, None)}
    m.root(m.array("java.lang.Object", [x[0] for x in made.values()]))
    path, config = os.path.join(folder, "counts.hprof"), os.path.join(folder, "counts")
    os.makedirs(os.path.join(config, "cairn"))
    with open(path, "wb") as f:
        f.write(m.bytes())
    with open(os.path.join(config, "cairn", "layouts"), "w") as f:
        f.write(COUNTS)
    env = {"XDG_CONFIG_HOME": config}

    for what, (at, size, n) in made.items():
        run = cairn("--format", "json", "-x", "sql SELECT size(0x%x) n" % at, path, env=env)
        tap.equal(json.loads(run.out)[0]["n"], size, what + ": size() in SQL")
        head = cairn("-x", "x 0x%x" % at, path, env=env).out
        tap.equal(re.findall(r"^size +(\S+)$", head, re.M), [] if n is None else ["?" if size is None else str(size)],
                  what + ": size in x")
        run = cairn("--format", "json", "-x", "entries 0x%x" % at, path, env=env)
        tap.equal(len(json.loads(run.out)) if run.out.strip() else None, n, what + ": its rows")
    run = cairn("--format", "json", "-x", "entries 0x%x" % counted, path, env=env)
    tap.equal([(int(r["key_address"], 16), int(r["address"], 16)) for r in json.loads(run.out)],
              [(text[i], x) for i, some in enumerate(lists) for x in some], "a multimap's entries: each value with its key")
    said = cairn("-x", "entries 0x%x" % bag, path, env=env).out
    tap.ok("it has 74 elements: the value of an entry is its number" in said, "a bag's rows are said to be fewer", said)
    found = {r["class"].split(".")[-1]: (r["objects"], r["size"]) for r in
             json.loads(cairn("--format", "json", "-x", "collections", path, env=env).out)}
    tap.equal(found, {"Many": (1, 6), "Uncounted": (5, 84), "Part": (1, 8), "ArrayList": (1, 8)},
              "collections: the same sizes; values of a multimap are a part of it")


def of_found(tap):
    """Real libraries: what size() answered in the program, in the folder's sizes.txt or README."""
    base = os.path.join(DUMPS or "", "found", "truth")
    if not DUMPS or not os.path.isdir(base):
        tap.skip("multimaps, views and nulls of real libraries", "no found in CAIRN_DUMPS")
        return

    def path(number, name):
        return glob.glob(os.path.join(base, number + "-*", name))[0]

    def sizes(at, cls):
        return {r["field"]: r["n"] for r in rows(at, "sql SELECT field, size(address) n FROM statics WHERE class = '%s'" % cls)}
    mm = path("03", "mm.hprof")
    with open(path("03", "sizes.txt"), encoding="utf-8") as f:
        said = [line.split() for line in f if line.startswith("SIZE")]
    wanted = {field: int(n) for _, field, _, n in said}
    mine = sizes(mm, "Mm")
    tap.equal({k: mine.get(k) for k in wanted}, wanted, "multimaps, bags and tables: size() in SQL is the program's")
    of_class = {r["class"]: r for r in rows(mm, "collections")}
    single = {c: int(n) for _, _, c, n in said}  # of ImmutableMultiset there is an empty one, too
    tap.equal({c: of_class[c]["size"] for c in single}, single, "and so is the size in collections")
    tap.equal(of_class["com.google.common.collect.HashMultimap"]["fill"], 6.3, "fill is that of 2 keys in 32 buckets")
    tap.equal([len(rows(mm, "entries Mm." + f)) for f in ("hash", "linkedHash", "tree", "cc", "immList", "hashSet", "table")],
              [600, 600, 600, 600, 3, 2, 2], "entries: all of a multimap, a row a key of a bag and a table")
    one = {r["field"] for r in rows(path("03", "one.hprof"), "waste single")}
    tap.ok(one and not [f for f in one if f.startswith("One.")], "of 2,000 values of one key none is a single element", one)
    filt = path("04", "filt.hprof")
    mine = sizes(filt, "Filt")
    tap.equal([mine.get(f) for f in ("set", "coll", "unmod", "base")], [None, None, None, 1000], "filtered views: size unknown")
    refused = [cairn("-x", "entries Filt." + f, filt).status for f in ("set", "unmod")]
    tap.equal(refused, [1, 1], "filtered views: their elements are not known")
    nul = path("07", "nul.hprof")
    mine = sizes(nul, "Nul")
    tap.equal([(mine[f], len(rows(nul, "entries Nul." + f))) for f in ("clojure_", "trove", "troveSet")],
              [(3, 3), (2, 2), (2, 2)], "null is a key of Clojure's and Trove's maps")
    of_class = {r["class"]: r["size"] for r in rows(nul, "collections")}
    tap.equal(of_class["clojure.lang.PersistentArrayMap"], 8322, "Clojure's own maps, those with null, too")
    box = path("05", "box.hprof")
    tap.none([r for r in rows(box, "waste boxed") if r["field"].startswith("Box.")], rows(box, "ls Box"), "boxes of the caches are no waste, whoever holds them")


def main():
    tap = Tap()
    of_found(tap)
    with tempfile.TemporaryDirectory() as folder:
        own(tap, folder)
        counting(tap, folder)
        shapes(tap, folder)
    if not DUMPS:
        tap.skip("dumps with planted collections", "no CAIRN_DUMPS")
    for manifest in sorted(glob.glob(os.path.join(DUMPS or "", "waste", "*", "waste.manifest.json"))):
        for path in sorted(glob.glob(os.path.join(os.path.dirname(manifest), "waste*.hprof"))):
            planted(tap, path, manifest)
    for name in ("grove/grove25-coh", "grove/grove-i386", "grove/grove-tiny", "today/grove8", "today/grove28"):
        manifest = os.path.join(DUMPS or "", name + ".manifest.json")
        if DUMPS and os.path.exists(manifest):
            of_grove(tap, manifest.replace(".manifest.json", ".hprof"), manifest)
    for manifest in sorted(glob.glob(os.path.join(DUMPS or "", "today", "gotoday*.manifest.json"))):
        of_go(tap, manifest.replace(".manifest.json", ".dump"), manifest)
    slices_of_go(tap)
    tap.done()


if __name__ == "__main__":
    main()
