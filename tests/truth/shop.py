#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample data/shop.hprof: every value that its generator planted, found again.

Needs no dumps from elsewhere: the generator writes the sample and, beside it, what is in it.
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import MKDUMP, SOURCE, Run, Tap, cairn  # noqa: E402

DUMP = os.path.join(SOURCE, "data", "shop.hprof")
LETTERS = {"I": "int", "D": "double", "B": "byte"}
FIRST = ["Anna", "Bj\u00f6rn", "Chlo\u00e9", "Dmitri", "Eva", "Fran\u00e7ois", "Gia", "\u82b1\u5b50"]
CITY = ["Berlin", "Berlin", "Berlin", "K\u00f6ln", "Lyon", "\u6771\u4eac"]
GOODS = ["Teapot", "Garden hose", "Kite", "Cookbook", "K\u00e4sereibe", "\u6728\u306e\u6905\u5b50",
         "Lamp", "Puzzle"]


def ask(line):
    done = cairn("--format", "json", "-x", line, DUMP)
    if done.status not in (0, 1) or not done.out:
        raise RuntimeError("%s: %s" % (line, done))
    return json.loads(done.out)


def values(what):
    return {r["name"]: r["value"] for r in ask("x " + what)["fields"]}


def rows(what):
    return {r["name"]: r for r in ask("x " + what)["fields"]}


def entries(address):
    return [(e["key"], e["value"]) for e in ask("entries " + address)]


def java_name(name):
    depth = len(name) - len(name.lstrip("["))
    core = name[depth:]
    if depth:
        core = core[1:-1] if core[0] == "L" else LETTERS[core]
    return core.replace("/", ".") + "[]" * depth


def money(cents):
    return "%d.%02d" % (cents // 100, cents % 100)


def check_totals(t, truth):
    info = ask("info")
    t.equal([info["objects"], info["references"], info["dangling"], info["unreachable_objects"]],
            [truth["objects"], truth["references"], 0, 0], "objects and references")
    got, want = {}, {}
    for r in ask("histo"):
        n, size = got.get(r["class"], (0, 0))
        got[r["class"]] = (n + r["objects"], size + r["shallow"])
    for name, n, size, _ in truth["classes"]:
        if n:
            before = want.get(java_name(name), (0, 0))
            want[java_name(name)] = (n + before[0], size + before[1])
    t.equal(got, want, "objects and sizes of every class")


def check_shop(t, truth):
    statics = rows("com.acme.shop.Shop")
    t.equal({k: v["value"] for k, v in statics.items() if k != "INSTANCE"},
            {"VERSION": '"2.4.1"', "DEBUG": "false", "RATE": "0.19"}, "statics")
    shop = rows(statics["INSTANCE"]["address"])
    t.equal({k: shop[k]["value"] for k in ("catalog", "sessions", "orders", "stock", "comments",
                                           "queue", "sales", "grid", "home")},
            {"catalog": "size %d" % truth["products"], "sessions": "size %d" % truth["live"],
             "orders": "size %d" % truth["orders"], "stock": "size 5", "comments": "size 9",
             "queue": "size 0", "sales": "[0.1, -0.0, 1.0E10, 1234567.5, 0.001, 1.0E-5]",
             "grid": "length 2", "home": "/srv/shop"}, "fields of the shop")
    t.equal(list(values(shop["grid"]["address"]).values()), ["[-5, -4, -3]", "[5, 6, 7]"], "int[2][3]")
    t.equal(sorted(entries(shop["stock"]["address"])),
            [('"shelf-%d"' % i, str(100 * i - 100)) for i in range(5)], "a HashMap of Integers")
    t.equal(entries(shop["comments"]["address"]), [(None, '"%s"' % s) for s in (
        "Gut!", "Sch\u00f6n & g\u00fcnstig", "\u3068\u3066\u3082\u826f\u3044", "great \U0001f333",
        "red: \\x1b[31mred\\x1b[0m", "half \\ud83c pair", "\\u202egnp.exe",
        "two\\nlines\\tand a tab", "")], "an ArrayDeque that runs around its end; escapes")
    t.equal(entries(shop["queue"]["address"]), [], "an empty list")
    head = ask("x " + shop["queue"]["address"])
    t.equal([head["size"], head["capacity"], head["fill"]], [0, 100, 0.0], "its fill")
    t.equal(list(values(shop["currency"]["address"]).items()),
            [("k\u00fcrzel", "'\u20ac'"), ("kurs", "1.0925")], "names that are not ASCII")
    live = ask("entries " + shop["sessions"]["address"])
    t.equal(sorted(e["key"] for e in live), sorted('"session-%d"' % (4700 + i)
            for i in range(truth["live"])), "keys of a ConcurrentHashMap")
    return shop


def check_catalog(t, truth, shop):
    catalog = ask("entries " + shop["catalog"]["address"])
    t.equal([e["key"] for e in catalog], ['"SKU-%d"' % (1000 + i) for i in range(truth["products"])],
            "keys of a TreeMap in order")
    for i in (0, 5, 7, 39):
        category = ["BOOKS", "GARDEN", "KITCHEN", "TOYS"][i % 4]
        t.equal(values(catalog[i]["address"]), {
            "sku": '"SKU-%d"' % (1000 + i), "name": '"%s %d"' % (GOODS[i % 8], i),
            "price": money(199 + 250 * i), "category": category, "weight": str(0.25 * i),
            "stock": "-1" if i == 7 else str(3 * i)}, "product %d" % i)


def check_orders(t, shop):
    orders = ask("entries " + shop["orders"]["address"])
    for i in (0, 1, 10, 319):
        order = rows(orders[i]["address"])
        note = 'Optional["leave at the door"]' if i % 10 == 0 else "Optional.empty"
        at = 1795000000 + 60 * i
        placed = "2026-11-18T%02d:%02d:%02dZ" % (at // 3600 % 24, at // 60 % 60, at % 60)
        t.equal({k: v["value"] for k, v in order.items() if k != "customer"}, {
            "number": str(4711000000 + i), "items": "length %d" % (1 + i % 3),
            "status": ["NEW", "PAID", "SHIPPED", "RETURNED"][i % 4], "total": money(1000 + i),
            "placed": placed, "note": note}, "order %d" % i)
        c = i % 200
        t.equal(values(order["customer"]["address"]), {
            "name": '"%s %d"' % (FIRST[c % 8], c), "email": '"customer%d@example.org"' % c,
            "city": '"%s"' % CITY[c % 6], "since": "%d-%02d-%02d" % (
                2010 + c % 15, 1 + c % 12, 1 + c % 28), "newsletter": str(c % 3 == 0).lower(),
            "id": "%08x-%04x-%04x-%04x-%012x" % (
                0x01234567, 0x89ab, 0x4def + c, 0x8edc, 0xba9876543210 + c)}, "customer %d" % c)
    t.ok(values(shop["last"]["address"])["referent"] == orders[-1]["address"], "a WeakReference")


def check_fields(t, truth):
    """ls with the fields of the class, each as what it is."""
    orders = ask("ls com.acme.shop.Order -fields all")
    t.equal([{k: r[k] for k in ("number", "items", "status", "total")} for r in orders],
            [{"number": 4711000000 + i, "items": "length %d" % (1 + i % 3), "total": money(1000 + i),
              "status": ["NEW", "PAID", "SHIPPED", "RETURNED"][i % 4]} for i in range(320)],
            "fields of all orders, numbers as numbers")
    t.equal(list(orders[0]), ["address", "class", "shallow", "retained", "length", "value", "number",
                              "customer", "items", "status", "total", "placed", "note"],
            "as columns behind the usual ones")
    products = [(-1 if i == 7 else 3 * i, 0.25 * i) for i in range(truth["products"])]
    got = ask("ls com.acme.shop.Product -fields stock,weight -sort -stock")
    t.equal([(r["stock"], r["weight"]) for r in got],
            sorted(products, key=lambda p: -p[0]), "ordered by a number below 0, too")
    t.equal(list(got[0])[6:], ["weight", "stock"], "only the fields asked for")
    got = ask("ls com.acme.shop.Product -sort weight -r | cut weight")
    t.equal([r["weight"] for r in got], sorted(p[1] for p in products), "ordered by a real number")
    flags = [r["newsletter"] for r in ask("ls com.acme.shop.Customer -fields newsletter")]
    t.equal(flags, [i % 3 == 0 for i in range(truth["customers"])], "truth values")
    names = list(ask("ls java.lang.String -fields all | head 1")[0])
    t.ok("String.value" in names and names.count("value") == 1, "a field named as a column", names)
    shared = ask("ls '/^com.acme.shop.(Category|Status)$/' -fields all")
    t.equal([(r["name"], r["ordinal"]) for r in shared if r["class"].endswith("Status")],
            [('"%s"' % s, i) for i, s in enumerate(("NEW", "PAID", "SHIPPED", "RETURNED"))],
            "objects of two classes: the fields of Enum")
    t.equal(len({tuple(r) for r in shared}), 1, "and no others")
    held = {r["name"]: r["retained"] for r in ask("x com.acme.shop.Shop.INSTANCE")["fields"]}
    t.equal([held["queue"], held["home"]], [24 + 16 + 4 * 100, 32 + 24 + 32],
            "retained by field: a list with room for 100, a file with its path")
    none = cairn("-x", "ls com.acme.shop.Order -fields total,price", DUMP)
    t.ok(none.status == 2 and '"price" (use one of number customer' in none.err, "no such field", none)
    t.equal(list(ask("ls byte[] -fields all")[0])[-1], "value", "arrays have no fields")


def check_leak(t, truth):
    log = rows("com.acme.shop.AuditLog")["ENTRIES"]
    closed = ask("entries " + log["address"])
    t.equal(len(closed), truth["closed"], "sessions that the audit log holds")
    session = rows(closed[-1]["address"])
    t.equal([session["closed"]["value"], session["lastSeen"]["value"]],
            ["true", str(1795256000000 - 1000 * (truth["live"] + truth["closed"] - 1))],
            "the last of them")
    t.equal(ask("x " + session["viewState"]["address"])["length"], truth["view_state"], "its state")
    into = [(r["field"], r["class"]) for r in ask("refs %s -in" % closed[-1]["address"])]
    t.equal(into, [("[%d]" % (truth["closed"] - 1), "java.lang.Object[]")], "who holds it")
    into = [r["field"] for r in ask("refs %s -in" % log["address"])]
    t.equal(into, ["static ENTRIES"], "who holds the list")


def check_strings(t, truth):
    dups = {r["value"]: r for r in ask("dups")}
    n = sum(CITY[i % 6] == "Berlin" for i in range(truth["customers"]))
    t.equal([dups["Berlin"][k] for k in ("count", "arrays", "with_parts", "wasted")],
            [n, n, n * 48, (n - 1) * 48], "duplicates of Berlin")
    got = [r["value"] for r in ask("strings '^session-47[0-9]0$'")]
    live = ["session-%d" % n for n in range(4700, 4740, 10)]
    t.equal(sorted(got), sorted(live * 2 + ["session-%d" % n for n in range(4740, 4800, 10)]),
            "strings: a live session's id is its key, too")
    props = {r["key"]: r["value"] for r in ask("props")}
    t.equal(props, {k: v.replace("\n", "\\n") for k, v in truth["properties"].items()},
            "system properties")
    kinds = {(r["kind"], r["name"]) for r in ask("find Berlin")}
    t.equal(kinds, {("string", '"Berlin"')}, "find in texts")


def found(line):
    return [(r["kind"], r["class"].rpartition(".")[2], r["field"]) for r in ask("find " + line) if r["kind"] != "string"]


def check_numbers(t, truth):
    t.equal(found("4711000004"), [("field", "Order", "number")], "find: the number of an order")
    order = ask("find 4711000004")[0]["address"]
    t.equal(values(order)["number"], "4711000004", "which has it")
    t.equal(found("0x118cc27c4"), [("field", "Order", "number")], "the same in hexadecimal")
    t.equal(found("%d" % (4711000000 + 320)), [("field", "Class", "static counter")], "a static field")
    t.equal(found("1234567.5"), [("field", "double[]", "[3]")], "an element of an array")
    t.equal(found("1.0925"), [("field", "W\u00e4hrung", "kurs")], "a float, by its digits")
    below = [r for r in found("-1") if r[1] == "Product"]
    t.equal(below, [("field", "Product", "stock")], "a number below 0")
    t.ok(("field", "Product", "stock") in found("0xffffffff"), "as its bits are printed")
    real = [r for r in found("9.75") if r[1] == "Product"]
    t.equal(real, [("field", "Product", "weight")] * sum(0.25 * i == 9.75 for i in range(truth["products"])), "a double")
    t.equal([r for r in found("^SHIPPED$")], [("enum", "Status", None)], "a constant of an enum")
    keys = [(r["class"].rpartition(".")[2], r["name"]) for r in ask("find ^session-4711$") if r["kind"] == "key"]
    session = [e["address"] for e in ask("entries " + rows("com.acme.shop.Shop.INSTANCE")["sessions"]["address"]) if e["key"] == '"session-4711"']
    t.equal(keys, [("ConcurrentHashMap$Node", '"session-4711" -> ' + session[0])], "the key of a map's entry")
    none = cairn("-x", "find 0x123456789abc", DUMP)
    t.ok(none.status == 1 and "no object at" in none.err, "a number nowhere", none)


def in_words(line):
    """The classes and words of the values that find finds, in order."""
    return sorted((r["class"].rpartition(".")[2], r["name"]) for r in ask("find " + line) if r["kind"] == "value")


def check_values(t, truth):
    """find finds what a column of values shows: the generator made these of the same numbers."""
    prices = [199 + 250 * i for i in range(truth["products"])] + [1000 + i for i in range(320)]
    for cents in (1005, 1199, 199):
        t.equal(in_words(money(cents)), [("BigDecimal", money(cents))] * prices.count(cents), "an amount of money")
    t.equal(in_words("10.5"), [("BigDecimal", "10.50")], "a number without the zero at its end")
    t.equal(in_words("0.05"), [], "not the end of a number")
    placed = ["2026-11-18T%02d:%02d:%02dZ" % (at // 3600 % 24, at // 60 % 60, at % 60)
              for at in range(1795000000, 1795000000 + 60 * 320, 60)]
    t.equal(in_words(placed[4]), [("Instant", placed[4])], "a time")
    t.equal(in_words("2026-11-18"), [("Instant", p) for p in sorted(placed)], "all times of a day")
    t.equal(in_words("-i '^2026.*t11:1[0-9]'"), [("Instant", p) for p in sorted(placed) if "T11:1" in p], "by an expression, in any case")
    since = ["%d-%02d-%02d" % (2010 + c % 15, 1 + c % 12, 1 + c % 28) for c in range(truth["customers"])]
    t.equal(in_words(since[7]), [("LocalDate", since[7])] * since.count(since[7]), "a date")
    t.equal(in_words("'^2014-'"), [("LocalDate", d) for d in sorted(since) if d.startswith("2014-")], "a year's dates")
    t.equal(in_words("2014"), [], "a number is none of a date")
    uuid = "%08x-%04x-%04x-%04x-%012x" % (0x01234567, 0x89ab, 0x4def + 9, 0x8edc, 0xba9876543210 + 9)
    t.equal(in_words(uuid), [("UUID", uuid)], "a UUID")
    t.equal(in_words("-i " + uuid.upper()), [("UUID", uuid)], "in capitals")
    t.equal(in_words("/srv/shop"), [("File", "/srv/shop")], "the path of a file")
    t.equal(in_words("'leave at the door'"), [("Optional", 'Optional["leave at the door"]')] * 32, "what an Optional has")
    t.ok(("field", "Integer", "value") in found("300"), "a box")


def check_threads(t, truth):
    got = [[r["name"], r["state"], r["priority"], r["daemon"], r["tid"], r["frames"]]
           for r in ask("threads")]
    t.equal(got, truth["threads"], "threads; a subclass's own field `name` is not the thread's")
    bt = [(r["frame"], r["method"], r["class"], r["value"]) for r in ask("bt http-2")]
    t.equal(bt, [(0, "com.acme.shop.Order.total(Shop.java:102)", "com.acme.shop.Order", None),
                 (1, "com.acme.shop.Worker.run(Shop.java:17)", "com.acme.shop.Worker", "http-2"),
                 (None, None, "com.acme.shop.Worker", "http-2")], "a stack with its locals")


def check_plugins(t, truth):
    twice = [a for name, _, _, a in truth["classes"] if name == "com/acme/plugin/PriceRule"]
    got = {}
    for address in twice:
        head = ask("x 0x%x" % address)
        loader = values(head["loader"])["name"]
        got[loader] = (head["fields"][0]["value"], head["instances"])
    t.equal(got, {'"plug-in A"': ('"loyalty"', 2), '"plug-in B"': ('"summer sale"', 5)},
            "a class that two loaders have loaded")


def check_refusals(t):
    done = cairn("-x", "entries com.acme.shop.Shop", DUMP)
    t.ok(done.status == 1 and "is not a known collection" in done.err, "entries of what is no collection", done)
    phd = os.path.join(SOURCE, "data", "heapdump.20261121.101500.4711.0001.phd")
    for line in ("entries 0xE0000AF0", "strings", "dups", "props"):
        done = cairn("-x", line, phd)
        t.ok(done.status == 1 and "PHD holds no" in done.err, "PHD refuses " + line, done)


def main():
    t = Tap()
    with tempfile.TemporaryDirectory() as directory:
        made = Run([MKDUMP, "sample", directory, "--truth"])
        t.ok(made.status == 0, "the generator runs", made)
        with open(os.path.join(directory, "shop.hprof.truth"), encoding="utf-8") as f:
            truth = json.load(f)
    try:
        check_totals(t, truth)
        shop = check_shop(t, truth)
        check_catalog(t, truth, shop)
        check_orders(t, shop)
        check_fields(t, truth)
        check_leak(t, truth)
        check_strings(t, truth)
        check_numbers(t, truth)
        check_values(t, truth)
        check_threads(t, truth)
        check_plugins(t, truth)
        check_refusals(t)
    except (KeyError, IndexError, RuntimeError) as e:
        t.ok(False, "all questions are answered", repr(e))
    t.done()


if __name__ == "__main__":
    main()
