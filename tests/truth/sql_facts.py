#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What dumped programs planted, by their manifests, asked in SQL and of commands.

Each fact is one question about one dump: how many objects, what stands in a field, a text, a box, a constant, at the
end of a path, in a collection, in a static field or a variable of Go; who holds what; threads, frames and what they
hold; what things retain.  All questions about a dump go to one process.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, Run, Tap, cairn, need_dumps  # noqa: E402


class Facts:
    """Questions about one dump, each with what its rows must be: they are asked together."""

    def __init__(self, path):
        self.path, self.asked = path, []

    def rows(self, name, line, want, ordered=False):
        """The rows of a line, as tuples."""
        self.asked.append((name, line, want if ordered else sorted(want, key=repr), ordered))

    def sql(self, name, question, want, ordered=False):
        self.rows(name, "sql " + question, want, ordered)

    def one(self, name, question, *want):
        """A single row."""
        self.sql(name, question, [want])

    def check(self, tap):
        argv = [CAIRN, "--format", "json"]
        for _, line, _, _ in self.asked:
            argv += ["-x", line]
        done = Run(argv + [self.path])
        answers, wrong, at, decoder = [], [], 0, json.JSONDecoder()
        text = done.out
        while text[at:].strip():
            value, end = decoder.raw_decode(text[at:].lstrip())
            at = len(text) - len(text[at:].lstrip()) + end
            answers.append(value)
        if len(answers) != len(self.asked):
            wrong.append("%d answers to %d questions: %s" % (len(answers), len(self.asked), done.err[:1500]))
        for (name, line, want, ordered), answer in zip(self.asked, answers):
            rows = answer if isinstance(answer, list) else next((v for v in answer.values() if isinstance(v, list)), [])
            got = [tuple(plain(v) for v in row.values()) for row in rows]
            if not ordered:
                got = sorted(got, key=repr)
            if got != [tuple(plain(v) for v in row) for row in want]:
                wrong.append("%s: %s\n got  %.300r\n want %.300r" % (name, line[:300], got, want))
        tap.ok(self.asked and not wrong, "%s: %d facts" % (os.path.basename(self.path), len(self.asked)),
               "%d wrong\n%s" % (len(wrong), "\n".join(wrong[:12])))


def plain(v):
    if isinstance(v, bool):
        return int(v)
    if isinstance(v, str) and re.fullmatch("0x[0-9a-f]+", v):
        return int(v, 16)
    if isinstance(v, float):
        return float("%.12g" % v)
    return v


def quote(s):
    return "'%s'" % s.replace("'", "''")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


# --- grove ------------------------------------------------------------------------------------------

STATIC = "(SELECT address FROM statics WHERE class = 'grove.Grove' AND field = '%s')"


def signed_byte(n):
    return (n + 128) % 256 - 128


def grove_orders(f, m):
    f.one("CACHE", "SELECT size(%s), (SELECT count(*) FROM entries(%s))" % ((STATIC % "CACHE",) * 2),
          m["order_cache"]["entries"], m["order_cache"]["entries"])
    f.one("Orders and RushOrders", 'SELECT count(*), sum(instanceof(address, \'grove.Grove$RushOrder\')) FROM "class '
          'grove.Grove$Order"',
          m["order_cache"]["Order_and_RushOrder"] - m["order_cache"]["of_which_RushOrder"], 0)
    f.sql("orders by their cache's values", "SELECT class(value_address), count(*) FROM entries(%s) GROUP BY 1" %
          (STATIC % "CACHE"), [("grove.Grove$Order", m["order_cache"]["Order_and_RushOrder"] - m["order_cache"]["of_which_RushOrder"]),
                                  ("grove.Grove$RushOrder", m["order_cache"]["of_which_RushOrder"])])
    for o in m["order_samples"]:
        which = "SELECT value_address FROM entries(%s) WHERE key = %s" % (STATIC % "CACHE", quote(o["cache_key"]))
        d = float(o["d"].replace("Infinity", "inf")) if isinstance(o["d"], str) else o["d"]
        numbers = ("baseId", "paid", "b", "s", "i", "l", "f")
        f.one(o["cache_key"] + ", columns", 'SELECT %s, c, "Grove$Base.name", name, status, "nothing" IS NULL FROM "%s" WHERE '
              'address = (%s)' % (", ".join('"%s"' % n for n in numbers), o["class"], which),
              *[o[n] for n in numbers], chr(o["c_codeunit"]), o["Base.name"], o["Order.name"], o["status"], 1)
        f.one(o["cache_key"] + ", a double", "SELECT %s FROM \"%s\" WHERE address = (%s)" % (
            "d" if abs(d) < 1e300 else "d = -9e999", o["class"], which), d if abs(d) < 1e300 else 1)
        f.one(o["cache_key"] + ", paths", "SELECT class(a), field(a, 'baseId'), field(a, 'Grove$Base.name'), field(a, 'name'), "
              "field(a, 'status.name'), text(ref(a, 'status')), field(a, 'c') FROM (SELECT (%s) AS a)" % which,
              o["class"], o["baseId"], o["Base.name"], o["Order.name"], o["status"], o["status"], chr(o["c_codeunit"]))
        f.sql(o["cache_key"] + ", elements", "SELECT value FROM entries(ref((%s), 'items'))" % which,
              [(n,) for n in o["items"]], True)
        f.rows(o["cache_key"] + ", ls -where", "ls '/^grove.Grove.(Rush)?Order$/' -where 'name = \"%s\" and `Grove$Base.name` = "
               "\"%s\" and baseId = %d' -fields name,baseId | cut name baseId" % (o["Order.name"], o["Base.name"], o["baseId"]),
               [('"%s"' % o["Order.name"], o["baseId"])])
        if "hurry" in o:
            f.one(o["cache_key"] + ", its own fields", 'SELECT hurry, courier FROM "grove.Grove$RushOrder" WHERE name = %s' %
                  quote(o["Order.name"]), o["hurry"], o["courier"])


def grove_statics(f, m):
    want = m["order_statics"]
    for name in ("S_BOOLEAN", "S_BYTE", "S_SHORT", "S_INT", "S_LONG", "S_STRING", "S_NULL"):
        kind = "null" if want[name] is None else "text" if isinstance(want[name], str) else "integer"
        f.one("static " + name, "SELECT value, typeof(value) FROM statics WHERE class = 'grove.Grove$Order' AND field = '%s'" %
              name, want[name], kind)
        f.one("static %s by field()" % name, "SELECT field(object, '%s') FROM (SELECT class_address AS object FROM "
              "\"grove.Grove$Order\" LIMIT 1)" % name, want[name])
    f.one("a static char", "SELECT value FROM statics WHERE class = 'grove.Grove$Order' AND field = 'S_CHAR'", "\u6728")
    f.sql("a static array", "SELECT value FROM entries((SELECT address FROM statics WHERE class = 'grove.Grove$Order' AND "
          "field = 'S_ARRAY'))", [(n,) for n in want["S_ARRAY"]], True)
    f.one("a static of a superclass", "SELECT value FROM statics WHERE class = 'grove.Grove$Base' AND field = 'BASE_STATIC'",
          want["Base.BASE_STATIC"])
    for field, size in (("HOARD", m["leak"]["elements"]),):
        f.one("static " + field, "SELECT size(address), class(address) FROM statics WHERE class = 'grove.Grove$Leak' AND "
              "field = '%s'" % field, size, "java.util.ArrayList")
    k = m["leak"]["elements"] - 1
    last = m["leak"]["each_byte[]_length"] - 1
    for k in (0, 1, k):
        f.one("HOARD[%d]" % k, "SELECT size(value_address), field(value_address, '[0]'), field(value_address, '[%d]'), "
              "field(value_address, '[1]') FROM statics, entries(address) WHERE class = 'grove.Grove$Leak' AND field = 'HOARD' "
              'AND "index" = %d' % (last, k), last + 1, signed_byte(k), signed_byte(~k), 0)


def grove_counts(f, m, counts):
    for cls, n in counts.items():
        if "zgc" in f.path and cls in ("grove.Grove$Referent", "grove.Grove$JniHeld"):  # it clears weak references later
            continue
        if "\ud835" in cls or any(ord(c) > 0xFFFF for c in cls):
            cls = cls.encode("utf-16", "surrogatepass").decode("utf-16")
        if n:
            f.one(cls + " by its table", 'SELECT count(*) FROM "class %s"' % cls, n)
            f.one(cls + " by classes", "SELECT sum(objects) FROM classes WHERE class = %s" % quote(cls), n)
        f.one(cls + " by objects", "SELECT count(*) FROM objects WHERE class = %s" % quote(cls), n)


def grove_shapes(f, m, garbage):
    n = m["ring"]["length"]
    f.one("ring: next", 'SELECT count(*), count(DISTINCT next), sum(field(next, \'pos\') = (pos + 1) %% %d), '
          'sum(field(chord, \'pos\') = (pos * 7 + 3) %% %d) FROM "grove.Grove$Ring"' % (n, n), n, n, n, n)
    f.one("chain", "WITH RECURSIVE c(a, n) AS (SELECT %s, 1 UNION ALL SELECT ref(a, 'next'), n + 1 FROM c WHERE ref(a, 'next') "
          "IS NOT NULL) SELECT count(*), max(n) FROM c" % (STATIC % "NCHAIN"), 1000, 1000)
    f.one("depths", 'SELECT min(depth), max(depth), count(DISTINCT depth) FROM "grove.Grove$NumberedLink"', 0, 999, 1000)
    of = dict(e.split(":") for e in m["dominators"]["immediate_dominator_of"].split())
    f.sql("immediate dominators", 'SELECT label, field(dominator, \'label\') FROM "grove.Grove$Dom" WHERE label <> \'R\'',
          list(of.items()))
    f.sql("edges", "SELECT DISTINCT field(r.source, 'label') || field(r.target, 'label') FROM \"grove.Grove$Dom\" d JOIN refs r "
          "ON r.target = d.address WHERE r.source_class = 'grove.Grove$Dom' UNION SELECT field(r2.source, 'label') || "
          "field(r.target, 'label') FROM \"grove.Grove$Dom\" d JOIN refs r ON r.target = d.address JOIN refs r2 ON r2.target = "
          "r.source WHERE r2.source_class = 'grove.Grove$Dom' AND r.source_class = 'grove.Grove$Dom[]'",
          [(e,) for e in m["dominators"]["edges"].split()])
    f.sql("weights", 'SELECT label, size(weight) FROM "grove.Grove$Dom"',
          [(c, 1000 + 10 * (ord(c) - ord("A"))) for c in list(of) + ["R"]])
    if not garbage:
        dup = m["duplicate_strings"]
        f.one("copies of a text", "SELECT count(*), count(DISTINCT value_at) FROM (SELECT ref(address, 'value') AS value_at "
              "FROM \"java.lang.String\" WHERE value = 'duplicate-value-77')", dup["copies"], dup["copies"])
        f.one("texts that share", "SELECT count(*), count(DISTINCT ref(address, 'value')) FROM \"java.lang.String\" WHERE "
              "value = 'shared-bytes-literal'", 301, 1)
    f.sql("its holders", "SELECT DISTINCT r.source_class, r.field FROM \"grove.Grove$Order\" o JOIN refs r ON r.target = "
          "o.address WHERE o.name = 'order-name-3' AND r.source_class = 'java.util.HashMap$Node'",
          [("java.util.HashMap$Node", "value")])


def grove_text(f, m):
    want = m["text"]
    at = STATIC % "TEXT"
    for name in ("ascii", "empty", "latin1", "utf16", "emoji", "html"):
        f.one("text " + name, "SELECT field(%s, '%s'), size(ref(%s, '%s'))" % (at, name, at, name), want[name],
              len(want[name].encode("utf-16-le")) // 2)
    f.one("a long text", "SELECT length(big), size(ref(address, 'big')), substr(big, 99991), length(\"bigUtf16\") FROM "
          '"grove.Grove$Text"', 100000, 100000, "0123456789", 10000)
    f.one("a text by its value", "SELECT count(*) FROM objects WHERE class = 'java.lang.String' AND value = %s AND address = "
          "ref(%s, 'utf16')" % (quote(want["utf16"]), at), 1)


def grove_arrays(f):
    at = STATIC % "ARRAYS"
    arrays = {"z": [1, 0, 1], "b": [-128, -1, 0, 1, 127], "s": [-32768, -1, 0, 1, 32767],
              "i": [-2 ** 31, -1, 0, 1, 2 ** 31 - 1], "l": [-2 ** 63, -1, 0, 1, 2 ** 63 - 1]}
    for name, want in arrays.items():
        f.sql("elements of " + name, "SELECT value FROM entries(ref(%s, '%s'))" % (at, name), [(n,) for n in want], True)
        f.one("one of " + name, "SELECT field(%s, '%s[4]'), field(%s, '%s[1]'), size(ref(%s, '%s'))" % ((at, name) * 3),
              want[4] if len(want) > 4 else None, want[1], len(want))
    f.sql("elements of d", "SELECT value FROM entries(ref(%s, 'd')) WHERE abs(value) < 1e300 AND value <> 0" % at,
          [(1.5,), (5e-324,), (3.141592653589793,)], True)
    f.sql("int[3][4]", "SELECT e.value FROM entries(ref(%s, 'i2')) r, entries(r.value_address) e" % at,
          [(10 * x + y,) for x in range(3) for y in range(4)], True)
    f.one("String[][]", "SELECT field(a, '[0][0]'), field(a, '[1]'), field(a, '[2][1]') FROM (SELECT ref(%s, 's2') AS a)" % at,
          "x", None, "z")
    f.one("zeros", "SELECT size(ref(%s, 'zeros')), count(*), sum(value) FROM entries(ref(%s, 'zeros'))" % (at, at), 5000, 5000, 0)


def grove_shelf(f, m, jdk):
    at = STATIC % "SHELF"
    s = m["shelf"]
    texts = {"linked": "lk", "chm": "chm", "hashtable": "ht", "tree": "tk"}
    first = {"linked": 1000, "chm": 5000, "hashtable": 7000, "tree": 2000}
    for name, key in texts.items():
        f.sql("map " + name, "SELECT key, value FROM entries(ref(%s, '%s'))" % (at, name),
              [("%s%d" % (key, k), first[name] + k) for k in range(5)])
    for name, word in (("set", "set"), ("lset", "lset"), ("deque", "dq"), ("cow", "cow"), ("llist", "ll"), ("vector", "vec"),
                       ("stack", "st"), ("lbq", "lbq"), ("abq", "abq")):
        f.sql("collection " + name, "SELECT value FROM entries(ref(%s, '%s'))" % (at, name),
              [("%s%d" % (word, k),) for k in range(5)])
        f.one("size of " + name, "SELECT size(ref(%s, '%s'))" % (at, name), 5)
    f.one("a bin that is a tree", "SELECT count(*), count(DISTINCT value) FROM entries(ref(%s, 'colliding')) WHERE value LIKE "
          "'bad-%%'" % at, 200, 200)
    f.one("an EnumMap", "SELECT key, value FROM entries(ref(%s, 'em'))" % at, "PAID", "paid!")
    for name, want in (("uuid", s["uuid"]), ("bd", 3.14159), ("lo", s["lo"]), ("sh", 4), ("by", 3), ("ch", "Q"), ("fl", 2.5),
                       ("db", 6.25), ("bTrue", 1), ("ai", 5), ("al", 6), ("date", s["date"]),
                       ("bits", "{0, 20, 40, 60, 80}")):
        f.one("a %s" % name, "SELECT text(ref(%s, '%s')), value = text(address) FROM objects WHERE address = ref(%s, '%s')" %
              (at, name, at, name), want, 1)
    f.one("a BigInteger", "SELECT text(ref(%s, 'bi')), abs(field(%s, 'bi') / %s - 1) < 1e-9" % (at, at, s["bi"] + ".0"),
          s["bi"], 1)
    f.one("a class", "SELECT text(ref(%s, 'klass')), text(ref(%s, 'prim')), text(ref(%s, 'arr'))" % (at, at, at),
          s["klass"], s["prim"], s["arr"])
    f.one("Longs as columns", 'SELECT value, typeof(value) FROM "java.lang.Long" WHERE address = ref(%s, \'lo\')' % at, s["lo"],
          "integer")


def grove_threads(f, m, facts):
    names = [t for t in m["threads"]["names"]]
    f.sql("threads", "SELECT name FROM threads WHERE name IN (%s)" % ", ".join(quote(n) for n in names), [(n,) for n in names])
    recursive = next((t for t in facts["threads"] if t["name"] == "grove-recursive"), None) if facts else None
    if recursive:
        f.one("frames of a deep stack", "SELECT count(*), max(frame) FROM frames WHERE name = 'grove-recursive'",
              recursive["frames"], recursive["frames"] - 1)
        f.one("locals of a deep stack", "SELECT count(DISTINCT address), min(field(address, 'n')), max(field(address, 'n')) FROM "
              "locals WHERE class = 'grove.Grove$StackOnly' AND thread LIKE 'grove-recursive%'", 301, 0, 300)
    for name, n in (("owner", 1), ("blocked", 2), ("waiting", 3), ("parked", 4), ("sleeping", 5), ("local", 6)):
        f.sql("what grove-%s holds" % name, "SELECT DISTINCT field(address, 'n') FROM locals WHERE class = "
              "'grove.Grove$StackOnly' AND thread LIKE 'grove-%s%%'" % name, [(n,)])


def grove_facts(f, facts):
    f.one("CACHE and HOARD", "SELECT %s, (SELECT address FROM statics WHERE class = 'grove.Grove$Leak' AND field = 'HOARD')" %
          (STATIC % "CACHE"), int(facts["CACHE"]["HashMap"], 16), int(facts["Leak.HOARD"]["ArrayList"], 16))
    f.one("table of CACHE", "SELECT size(ref(%s, 'table'))" % (STATIC % "CACHE"), facts["CACHE"]["table_length"])
    f.sql("addresses of orders", "SELECT key, value_address FROM entries(%s) WHERE key IN (%s)" % (
        STATIC % "CACHE", ", ".join(quote(k) for k in facts["orders"])),
        [(k, int(v, 16)) for k, v in facts["orders"].items()])
    f.one("Strings", 'SELECT count(*), sum("String.value" IS NULL), count(DISTINCT value) FROM "java.lang.String"',
          facts["strings"]["instances"], facts["strings"]["null_value"], facts["strings"]["distinct"])
    for name, text in facts["TEXT"].items():
        f.one("address of TEXT." + name, "SELECT %s" % (STATIC % "TEXT" if name == "object" else
                                                       "ref(%s, '%s')" % (STATIC % "TEXT", name)), int(text, 16))
    for loader, (count, _, statics) in facts.get("plug.Plugin classes", {}).items():
        statics = sorted(statics, key=lambda v: isinstance(v, str))
        f.one("plug.Plugin of " + loader, "SELECT a.value FROM statics a, statics b WHERE a.class = 'plug.Plugin' AND "
              "a.class_address = b.class_address AND a.field = 'COUNT' AND b.field = 'LOADED_AS' AND b.value = %s" %
              quote(statics[1]), statics[0])
        f.one("objects of %s" % loader, "SELECT count(*) FROM \"plug.Plugin\" WHERE field(class_address, 'LOADED_AS') = %s" %
              quote(statics[1]), count)
    for name, size in facts["shallow_sizes_of_own_classes"].items():
        if name.startswith("grove.Grove$") and "Lambda" not in name and name.isascii():
            f.sql("size of " + name, "SELECT DISTINCT shallow FROM objects WHERE class = %s" % quote(name), [(size,)])
    for name, r in facts["retained_by_removal"].items():
        if r["of_which_Class_objects"]:  # whose bytes that reader did not count
            continue
        f.one("retained by " + name, "SELECT retained, shallow FROM objects WHERE address = addr('%s')" % r["id"],
              r["retained_bytes"], r["shallow"])


def grove(tap, path):
    base = re.sub(r"\.hprof(\.gz)?$", "", path)
    m = load(base + ".manifest.json")
    facts = load(base + ".facts.json") if os.path.exists(base + ".facts.json") else None
    garbage = facts and facts["strings"]["copies_of_duplicate_value_77"] > m["duplicate_strings"]["copies"]
    f = Facts(path)
    grove_orders(f, m)
    grove_statics(f, m)
    grove_counts(f, m, m["exact_instances_all" if garbage else "exact_instances_live"])
    grove_shapes(f, m, garbage)
    grove_text(f, m)
    grove_arrays(f)
    grove_shelf(f, m, 17)
    grove_threads(f, m, facts)
    if facts:
        grove_facts(f, facts)
    f.check(tap)


# --- waste and tide ---------------------------------------------------------------------------------

def planted(f, program, facts, live):
    """What a program keeps in its static fields: arrays of things ("[]"), or one thing."""
    for fact in facts:
        m = re.fullmatch(re.escape(program) + r"\.(\w+)(\[\])?", fact["field"])
        at = m and "(SELECT address FROM statics WHERE class = '%s' AND field = '%s')" % (program, m.group(1))
        if at and m.group(2) and fact["count"] and not (live and fact.get("live") == 0):
            f.sql("what %s are" % fact["id"], "SELECT class(value_address), count(*) FROM entries(%s) WHERE value_address IS NOT "
                  "NULL AND instanceof(value_address, '%s') GROUP BY 1" % (at, fact["class"]), [(fact["class"], fact["count"])])
            for size in ("size", "elements"):
                if size in fact:
                    f.sql("%s of %s" % (size, fact["id"]), "SELECT DISTINCT size(value_address) FROM entries(%s)" % at,
                          [(fact[size],)])
            if fact["class"] in ("java.lang.Integer", "java.lang.Long", "java.lang.Double"):
                f.one("values of " + fact["id"], "SELECT count(DISTINCT value), count(DISTINCT value_address) FROM entries(%s)" %
                      at, fact["distinct"], fact["count"])
            if "capacitySum" in fact and fact["capacitySum"] and "orphans" not in fact["id"]:
                f.one("capacities of " + fact["id"], "SELECT sum(field(value_address, 'capacity')) FROM entries(%s)" % at,
                      fact["capacitySum"])
            if fact["class"].startswith("java.lang.ref."):
                f.one("referents of " + fact["id"], "SELECT count(DISTINCT ref(value_address, 'referent')) FROM entries(%s)" % at,
                      fact["count"])
        elif at and fact.get("size"):
            f.one("size of " + fact["id"], "SELECT size(%s), class(%s), (SELECT count(*) FROM entries(%s))" % (at, at, at),
                  fact["size"], fact["class"], fact["size"])
    for cls in {fact["class"] for fact in facts if fact["class"].startswith(program.split(".")[0])}:
        mine = [fact for fact in facts if fact["class"] == cls]
        if len(mine) == 1 and mine[0]["count"] and not (live and "live" in mine[0]) and "holder" not in mine[0]:
            f.one("objects of " + cls, "SELECT count(*) FROM objects WHERE class = '%s'" % cls, mine[0]["count"])


def waste(tap, path):
    m = load(os.path.join(os.path.dirname(path), "waste.manifest.json"))
    f = Facts(path)
    live = "-all" not in path
    facts = [p for p in m["planted"] if p["id"] not in (
        "virtualThreads", "directMemory", "doomed", "deadlockMonitors", "threadLocalLeak", "softOnly", "weakOnly")]
    planted(f, "waste.Waste", facts, live)
    by = {p["id"]: p for p in m["planted"]}
    at = "(SELECT address FROM statics WHERE class = 'waste.Waste' AND field = '%s')"
    f.one("labels", "SELECT count(*), count(DISTINCT field(value_address, 'name')), sum(size(ref(value_address, 'name'))) FROM "
          "entries(%s)" % at % "labels", by["dupStrings"]["count"], by["dupStrings"]["distinct"], by["dupStrings"]["chars"])
    f.one("sparse arrays", "SELECT sum(e.value_address IS NULL), count(*) FROM entries(%s) s, entries(s.value_address) e" % at %
          "sparse", by["sparse"]["nulls"], by["sparse"]["count"] * by["sparse"]["elements"])
    f.one("zeros", "SELECT sum(e.value = 0) FROM entries(%s) s, entries(s.value_address) e" % at % "zeroBytes",
          by["zeroBytes"]["zeros"])
    f.one("a map of boxes", "SELECT count(DISTINCT key), count(DISTINCT value) FROM entries(%s)" % at % "intMap",
          by["intMap"]["size"], by["intMap"]["distinctValues"])
    f.one("sets in a map", "SELECT count(*), sum(size(value_address)) FROM entries(%s)" % at % "oneEach", by["oneEach"]["size"],
          by["oneEach"]["size"])
    f.sql("threads that wait", "SELECT count(*) FROM threads WHERE name LIKE 'object-waiter-%'", [(by["objectWait"]["waiting"],)])
    f.sql("distinct arrays", "SELECT count(*) FROM (SELECT DISTINCT (SELECT group_concat(e.value) FROM entries(s.value_address) e) "
          "FROM entries(%s) s)" % at % "twinInts", [(by["dupInts"]["distinct"],)])
    f.check(tap)


def tide(tap, path):
    m = load(path.replace(".hprof", ".manifest.json"))
    f = Facts(path)
    by = {p["id"]: p for p in m["planted"]}
    at = "(SELECT address FROM statics WHERE class = 'tide.Tide' AND field = '%s')"
    for name in ("sessions", "ledgers", "cache", "late", "index", "echo", "pool", "plugins", "steady", "churn", "early"):
        count = by[name].get("entries", by[name]["count"])
        f.one("entries of " + name, "SELECT count(*), ifnull(size(%s), 0) FROM entries(%s)" % ((at % name,) * 2), count, count)
    for name, cls, path_, per in (("sessions", "tide.Session", "body", 512), ("ledgers", "tide.Ledger", "lines", 4096),
                                  ("cache", "tide.Page", "bytes", 256)):
        f.one(name, 'SELECT count(*), min(size(ref(address, \'%s\'))), max(size(ref(address, \'%s\'))) FROM "%s"' % (
            path_, path_, cls), by[name]["count"], per, per)
    f.one("stamps", "SELECT count(*) FROM objects WHERE class = 'tide.Stamp'", by["stamps"]["count"])
    f.one("the table of a map", "SELECT size(ref(%s, 'table'))" % at % "sessions", by["sessions"]["tableSlots"])
    f.one("an echo", "SELECT count(DISTINCT value), sum(size(value_address)) FROM entries(%s)" % at % "echo",
          by["echo"]["distinct"], by["echo"]["chars"])
    f.one("classes of one name", "SELECT count(*), sum(size(address)) FROM statics WHERE class = 'tide.Plugin' AND field = "
          "'table'", by["plugins"]["classes"], by["plugins"]["payloadBytes"] // 4)
    f.check(tap)


# --- Go ---------------------------------------------------------------------------------------------

def go(tap, path):
    m = load(path[:-len(".dump")] + ".manifest.json")
    f = Facts(path)
    at = "(SELECT address FROM globals WHERE field = 'main.%s')"
    for o in m["order_samples"]:
        numbers = ("ID", "B", "S", "I", "Status", "Paid", "Price", "F32")
        f.one("order " + o["Name"], 'SELECT %s, "Name" FROM "main.Order" WHERE address = addr(\'%s\')' % (
            ", ".join('"%s"' % n for n in numbers), o["addr"]), *[o[n] for n in numbers], o["Name"])
        f.one("paths of " + o["Name"], "SELECT field(a, 'ID'), field(a, 'Name'), class(a) FROM (SELECT addr('%s') AS a)" %
              o["addr"], o["ID"], o["Name"], "main.Order")
        f.rows("ls -where of " + o["Name"], "ls main.Order -where 'Name = \"%s\" and `ID` = %d' | cut address" % (
            o["Name"], o["ID"]), [(o["addr"],)])
    n = m["expect"]
    f.one("maps", "SELECT size(%s), (SELECT count(*) FROM entries(%s)), (SELECT sum(value) FROM entries(%s))" % (
        at % "Cache", at % "Cache", at % "IntMap"), n["orders"], n["orders"], sum(k * k for k in range(1000)))
    f.sql("a map of texts", "SELECT key, value FROM entries(%s)" % at % "SmallMap", [("one", 1), ("two", 2), ("three", 3)])
    f.one("orders in a map", "SELECT count(*) FROM entries(%s) e, \"main.Order\" o WHERE o.address = e.value_address AND "
          "e.key = 'order-' || (o.\"ID\" - 7000000000)" % at % "Cache", n["orders"])
    f.sql("a slice of an array", "SELECT value FROM entries(%s)" % at % "SubSlice", [(k,) for k in range(900, 950)], True)
    f.one("a ring", 'SELECT count(*), sum(field("Next", \'Pos\') = ("Pos" + 1) %% %d) FROM "main.Ring"' % n["ring"], n["ring"],
          n["ring"])
    f.sql("variables", "SELECT field, address FROM globals WHERE field IN ('main.Chain', 'main.RingHead', 'main.DomRoot')",
          [(v, m["package_variables"][v]["first_word"]) for v in ("main.Chain", "main.RingHead", "main.DomRoot")])
    f.sql("goroutines", "SELECT id, waits_for FROM threads WHERE waits_for IN ('chan send', 'select')",
          [(g["goid"], g["kind"]) for g in m["goroutines"] if g["kind"] in ("chan send", "select")])
    deep = next(g["goid"] for g in m["goroutines"] if g["func"] == "main.recurse")
    f.one("a deep stack", "SELECT count(*) FROM frames WHERE id = %d AND method LIKE 'main.recurse%%'" % deep, 201)
    f.sql("duplicated texts", "SELECT count(*) FROM objects WHERE value = 'a duplicated string value'", [(300,)])
    for k in m["known"]:
        for edge in k.get("pointers", [])[:1]:
            if "NOT in the heap" not in k["note"] and "Strings" not in k["name"] and "Order" not in k["name"]:
                f.one("%s leads to" % k["name"], "SELECT count(*) > 0 FROM refs WHERE source = addr('%s') AND target = "
                      "addr('%s')" % (k["addr"], edge["to"]), 1)
    f.check(tap)


# --- the shop ---------------------------------------------------------------------------------------

def shop(tap, path, manifest):
    m = load(manifest)
    f = Facts(path)
    for cls, n in m["exact_instances"].items():
        f.one(cls, 'SELECT count(*) FROM "%s"' % cls, n)
        f.one(cls + " by classes", "SELECT objects FROM classes WHERE class = '%s'" % cls, n)
    c = m["sample_customer"]
    o = c["orders[1]"]
    f.one("a customer", "SELECT id, name, field(address, 'email'), field(address, 'address.street'), "
          "field(address, 'address.city'), field(address, 'createdAt'), field(address, 'active') FROM \"shop.Shop$Customer\" "
          "WHERE id = %d" % c["id"], *[c[k] for k in ("id", "name", "email", "address.street", "address.city", "createdAt",
                                                      "active")])
    f.one("its order", "SELECT o.id, o.total, o.status, o.ref FROM \"shop.Shop$Customer\" c, entries(ref(c.address, 'orders')) e, "
          "\"shop.Shop$Order\" o WHERE c.id = %d AND e.\"index\" = 1 AND o.address = e.value_address" % c["id"],
          o["id"], o["total"], o["status"], o["ref"])
    f.rows("the customer by ls", "ls shop.Shop$Customer -where 'id = %d and address.city = \"%s\"' -fields id,name | cut id name" %
           (c["id"], c["address.city"]), [(c["id"], '"%s"' % c["name"])])
    d = m["duplicate_strings"]
    f.one("cities", 'SELECT count(DISTINCT city), count(*), sum(city = \'City-A0\') FROM "shop.Shop$Address"', d["distinct"],
          d["copies_not_counting_CITIES"], d["copies_of_City-A0_in_addresses"])
    leak = m["leak"]
    f.one("sessions", "SELECT count(*), max(id), min(size(payload)), max(size(payload)), sum(previous IS NULL) FROM "
          '"shop.Shop$Session"', leak["sessions"], leak["last_session_id"], leak["payload_bytes_each"],
          leak["payload_bytes_each"], 1)
    f.sql("threads", "SELECT name FROM threads WHERE name LIKE 'shop-worker-%'", [(t,) for t in m["threads"]])
    f.check(tap)


def of_null(tap, path):
    """One of the two objects has mManager null; claims that compare with NULL hold for no dump."""
    def found(where):
        run = cairn("--format", "json", "-x", "ls com.ex.Frag -where '%s'" % where, path)
        return [r["address"] for r in json.loads(run.out)] if run.out.strip() else []
    is_null, is_not = found("mManager is null"), found("mManager is not null")
    tap.equal((len(is_null), len(is_not)), (1, 1), "null.hprof: one is null, one is not")
    for where, want in (("mManager = null", is_null), ("mManager == NULL", is_null), ("mManager != null", is_not)):
        tap.equal(found(where), want, "null.hprof: -where " + where)
    run = cairn("-x", "assert '(SELECT count(*) FROM \"com.ex.Frag\" WHERE mManager = NULL) = 0'", path)
    tap.ok(run.status == 2 and "never true" in run.err, "null.hprof: a claim with = NULL is refused", run)
    run = cairn("-x", "ls com.ex.Frag -where 'address = 5' -fields tag", path)
    tap.ok("nothing found" in run.out + run.err and "no field" not in run.err, "null.hprof: no object, no missing field", run)


INTERFACES = ["java.util." + name for name in ("Collection", "List", "Set", "SortedSet", "Queue", "Deque", "Map", "NavigableMap",
              "Map$Entry", "concurrent.ConcurrentMap", "concurrent.Future")] + ["java.lang.CharSequence"]
ASK_JAVA = """
class AskJava {
    public static void main(String[] a) throws Exception {
        for (String name : new String(System.in.readAllBytes()).split("\\n"))
            try {
                Class<?> c = Class.forName(name, false, null);
                StringBuilder said = new StringBuilder(name);
                for (String i : a)
                    said.append(Class.forName(i).isAssignableFrom(c) ? " 1" : " 0");
                System.out.println(said);
            } catch (Throwable notOfThisJava) {
            }
    }
}
"""


def java_release(path=None):
    """"17": of the VM that wrote a dump, or of the Java of this machine; None: unknown, or there is none."""
    if path:
        said = re.search(r'"java_version": "(?:1\.)?(\d+)', cairn("--format", "json", "-x", "info -brief", path).out)
    elif shutil.which("java"):
        said = re.search(r'version "(?:1\.)?(\d+)', subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr)
    else:
        said = None
    return said[1] if said else None


def implemented(tap, path):
    """instanceof of an interface, which no dump records, for each class of the dump that the Java of this machine, of the
    same release, has too."""
    name = os.path.basename(path)
    asked = ", ".join("max(instanceof(address, '%s'))" % i for i in INTERFACES)
    run = cairn("--format", "json", "-x", "sql SELECT class, %s FROM objects WHERE class NOT LIKE '%%[]' GROUP BY class" % asked, path)
    got = {row.pop("class"): [int(v) for v in row.values()] for row in json.loads(run.out)}
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "AskJava.java")
        with open(source, "w", encoding="utf-8") as f:
            f.write(ASK_JAVA)
        said = subprocess.run(["java", source] + INTERFACES, input="\n".join(got).encode(), capture_output=True, check=False)
    want = {line.split()[0]: [int(v) for v in line.split()[1:]] for line in said.stdout.decode().splitlines()}
    wrong = ["%s: %s, Java says %s" % (c, got[c], w) for c, w in want.items() if got[c] != w]
    tap.none(wrong, [c for c, w in want.items() if any(w)], "%s: instanceof of interfaces, as Java has it" % name)


def main():
    tap = Tap()
    if len(sys.argv) == 3:  # a large dump of the shop, and its manifest
        shop(tap, *sys.argv[1:])
        tap.done()
    dumps = need_dumps()
    for path in sorted(glob.glob(os.path.join(dumps, "grove", "grove*.hprof*"))):
        grove(tap, path)
    for path in sorted(glob.glob(os.path.join(dumps, "waste", "*", "waste*.hprof"))):
        if "oom" not in path:
            waste(tap, path)
    for path in sorted(glob.glob(os.path.join(dumps, "tide", "jdk*", "tide-[24].hprof"))):
        tide(tap, path)
    if "without libdw" not in cairn("--version").out:
        for path in sorted(glob.glob(os.path.join(dumps, "go", "*.dump"))):
            if "stripped" not in path:
                go(tap, path)
    small = os.path.join(dumps, "grove", "shop-small")
    if os.path.exists(small + ".hprof"):
        shop(tap, small + ".hprof", small + ".manifest.json")
    for path in glob.glob(os.path.join(dumps, "found", "reports", "07-*", "null.hprof")):
        of_null(tap, path)
    java = java_release()
    of_this = [path for where in ("apps", "grove", os.path.join("tide", "*")) if java
               for path in sorted(glob.glob(os.path.join(dumps, where, "*.hprof"))) if java_release(path) == java]
    for path in of_this[:4]:
        implemented(tap, path)
    if not of_this:
        tap.skip("instanceof of interfaces", "no java, or no dump of its release")
    tap.ok(tap.count > 20, "there were dumps to ask")
    tap.done()


main()
