#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions in SQL against SQLite itself, over tables that were copied.

The objects and references of a dump, and the primitive fields of its classes, are entered into ordinary tables of a
database: the graph as tests/tools/graphdump tells it, fields as the second reader (lib/hprof.py) finds them.  Then
each question is asked of both.  What the program plans (constraints, orders and limits that it takes over from SQLite)
must change no answer.  Of each kind SEEDS random questions a dump.
"""

import glob
import json
import os
import random
import sqlite3
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import hprof  # noqa: E402
from cairntest import DUMPS, GO, LONG, SAMPLE, SHOP, Graph, Tap, cairn  # noqa: E402

REAL = 2  # dumps of CAIRN_DUMPS, the smallest
SEEDS = 7 if LONG else 1
FORMATS = {"boolean": ">?", "char": ">H", "float": ">f", "double": ">d", "byte": ">b", "short": ">h", "int": ">i",
           "long": ">q"}


def signed(n):
    return n - (1 << 64) if n >> 63 else n


class Copy:
    """The tables of a dump, copied."""

    def __init__(self, path, threads=None):
        self.path = path
        self.db = sqlite3.connect(":memory:")
        self.graph = Graph.of_dump(path)
        self.addresses = sorted(self.graph.objects)
        self.db.execute("CREATE TABLE objects(address, class, shallow, length, id)")
        self.db.execute("CREATE TABLE refs(source, target, source_class, target_class)")
        for i, a in enumerate(self.addresses):
            o = self.graph.objects[a]
            self.db.execute("INSERT INTO objects VALUES(?,?,?,?,?)", (signed(a), o.cls, o.shallow, o.length, i))
            for t in o.out:
                if t in self.graph.objects:
                    self.db.execute("INSERT INTO refs VALUES(?,?,?,?)",
                                    (signed(a), signed(t), o.cls, self.graph.objects[t].cls))
        self.db.execute("CREATE INDEX o ON objects(address)")
        self.db.execute("CREATE INDEX r ON refs(target)")
        self.db.execute("CREATE INDEX s ON refs(source)")
        self.classes = sorted({o.cls for o in self.graph.objects.values()})
        self.shallow = sorted({o.shallow for o in self.graph.objects.values() if o.shallow is not None})
        self.tables = {}

    def add_fields(self):
        """A table for each class of one name, with its fields of numbers."""
        dump = hprof.read(self.path)
        dump.graph(len(dump.heaps) - 1)
        rows = {}
        for tag, body, end in dump.records(len(dump.heaps) - 1):
            if tag == 0x21:
                rows.setdefault(dump.id(body + dump.ids + 4), []).append((dump.id(body), body + 2 * dump.ids + 8))
        names = {a: dump.class_name(a) for a in dump.classes}
        for a, instances in rows.items():
            fields, c = [], a
            while c:
                fields += [(dump.strings[n].decode("utf-8", "replace"), t)
                           for n, t in zip(dump.classes[c]["names"], dump.classes[c]["fields"])]
                c = dump.classes[c]["super"]
            taken = [f for f, _ in fields]
            kept = [f for f, t in fields if t != 2 and taken.count(f) == 1 and f.lower() not in
                    ("address", "class", "shallow", "retained", "length", "value", "id") and
                    [x.lower() for x in taken].count(f.lower()) == 1]
            # java.lang.Class: of class objects a dump holds static fields alone, so these are no columns
            if list(names.values()).count(names[a]) > 1 or not kept or names[a] == "java.lang.Class":
                continue
            columns = ", ".join('"%s"' % f for f in kept)
            self.db.execute('CREATE TABLE "%s"(address, %s)' % (names[a], columns))
            self.tables[names[a]] = kept
            for address, at in instances:
                values = {}
                for f, t in fields:
                    if t != 2:
                        values[f] = struct.unpack_from(FORMATS[hprof.PRIMITIVES[t][0]], dump.data, at)[0]
                        if hprof.PRIMITIVES[t][0] == "char":
                            values[f] = chr(values[f]) if values[f] > 31 else "\\x%02x" % values[f]
                    at += dump.width(t)
                self.db.execute('INSERT INTO "%s" VALUES(?%s)' % (names[a], ",?" * len(kept)),
                                [signed(address)] + [values[f] for f in kept])

    def ask(self, question):
        return [tuple(plain(v) for v in row) for row in self.db.execute(question)]

    def program(self, question):
        run = cairn("--format", "json", "-x", "sql " + question, self.path)
        if run.status > 1 or not run.out:  # 1: no row
            return run.err
        table = json.loads(run.out)
        rows = table["rows"] if isinstance(table, dict) else table
        return [tuple(plain(v) for k, v in row.items() if not k.endswith("_certainty")) for row in rows]


def plain(v):
    if isinstance(v, bool):
        return int(v)
    if isinstance(v, str) and v.startswith("0x"):
        return signed(int(v, 16))
    if isinstance(v, float):
        return float("%.12g" % v)
    return v


def escaped_names(copy):
    return [c for c in copy.classes if c.isascii() and c.isprintable() and "'" not in c]


def questions(copy, rng):
    """(question, its rows are in an order)"""
    at = copy.addresses
    for _ in range(SEEDS):
        a, b = (signed(rng.choice(at)) for _ in range(2))
        s, t = rng.choice(copy.shallow), rng.choice(copy.shallow)
        c = rng.choice(escaped_names(copy))
        k = rng.randrange(1, 40)
        i, j = rng.randrange(len(at)), rng.randrange(len(at))
        op, pq = rng.choice("< <= > >= =".split()), rng.choice("< <= > >= =".split())
        yield "SELECT count(*), sum(shallow) FROM objects WHERE class = '%s'" % c, False
        yield "SELECT address, shallow FROM objects WHERE class = '%s' AND shallow %s %d ORDER BY address" % (c, op, s), True
        yield "SELECT address FROM objects WHERE address %s %d AND address %s %d" % (op, a, pq, b), False
        yield "SELECT count(*), min(address) FROM objects WHERE id %s %d AND id %s %d" % (op, i, pq, j), False
        yield "SELECT shallow FROM objects WHERE shallow %s %d AND shallow %s %d ORDER BY shallow DESC LIMIT %d" % (
            op, s, pq, t, k), True
        yield "SELECT shallow FROM objects ORDER BY shallow LIMIT %d" % k, True
        yield "SELECT %s(shallow) FROM objects WHERE id %s %d" % (rng.choice(("min", "max")), op, i), False
        yield "SELECT shallow FROM objects ORDER BY shallow DESC LIMIT %d OFFSET %d" % (k, k), True
        yield "SELECT class, address FROM objects WHERE shallow > %d ORDER BY class DESC, address LIMIT %d" % (s, k), True
        yield "SELECT address FROM objects WHERE shallow > %d.5 AND id < %d.25 ORDER BY address DESC LIMIT %d" % (s, i, k), True
        yield "SELECT address FROM objects WHERE length %s %d OR shallow = %d" % (op, k, s), False
        yield "SELECT source, target FROM refs WHERE target = %d" % a, False
        yield "SELECT source, target FROM refs WHERE source = %d" % a, False
        yield "SELECT count(*) FROM refs WHERE source = %d AND target = %d" % (a, b), False
        yield ("SELECT r.source_class, count(*), count(DISTINCT r.source) FROM objects o JOIN refs r ON r.target = o.address "
               "WHERE o.class = '%s' GROUP BY 1 ORDER BY 1" % c), True
        yield ("SELECT o.class, sum(p.shallow) FROM objects o JOIN refs r ON r.source = o.address JOIN objects p ON "
               "p.address = r.target WHERE o.shallow >= %d GROUP BY o.class ORDER BY o.class DESC" % t), True
        yield "SELECT count(*) FROM objects o WHERE NOT EXISTS (SELECT 1 FROM refs WHERE target = o.address) AND class = '%s'" % c, False
        yield from about_references(copy, rng, c, a, k)
        yield ("WITH RECURSIVE up(a, n) AS (SELECT %d, 0 UNION SELECT source, n + 1 FROM up JOIN refs ON target = a "
               "WHERE n < 2) SELECT count(DISTINCT a) FROM up" % a), False
    yield "SELECT class, count(*), sum(shallow) FROM objects GROUP BY class ORDER BY class", True
    yield "SELECT class, count(*) AS n, sum(shallow) FROM objects GROUP BY class ORDER BY n DESC, class", True
    yield "SELECT DISTINCT class FROM objects ORDER BY class DESC", True
    yield "SELECT shallow FROM objects ORDER BY shallow DESC", True
    yield "SELECT shallow FROM objects ORDER BY shallow LIMIT 150 OFFSET 50", True
    yield "SELECT source_class, target_class, count(*) FROM refs GROUP BY 1, 2 ORDER BY 1, 2", True
    for name, fields in sorted(copy.tables.items()):
        if name not in escaped_names(copy):
            continue
        f, g = rng.choice(fields), rng.choice(fields)
        yield 'SELECT address, %s FROM "%s"' % (", ".join('"%s"' % x for x in fields), name), False
        yield 'SELECT "%s", count(*), min("%s"), max("%s") FROM "%s" GROUP BY 1 ORDER BY 1' % (f, g, g, name), True
        yield ('SELECT o.address, x."%s" FROM objects o JOIN "%s" x ON x.address = o.address WHERE x."%s" > 0 AND '
               'o.shallow > 16' % (f, name, g)), False


def about_references(copy, rng, c, a, k):
    """Rows grouped, told once, and in orders, of which the program makes some itself."""
    d, b = rng.choice(escaped_names(copy)), signed(rng.choice(copy.addresses))
    where = rng.choice(("", " WHERE source_class = '%s'" % c, " WHERE target_class = '%s'" % c,
                        " WHERE source_class > '%s' AND target_class <= '%s'" % (c, d),
                        " WHERE target_class IN ('%s', '%s')" % (c, d), " WHERE source >= %d" % a))
    keys = rng.sample(("source_class", "target_class"), rng.randrange(1, 3))
    named, down = ", ".join(keys), ", ".join(x + rng.choice(("", " DESC")) for x in keys)
    end = rng.choice(("source", "target"))
    turn = rng.choice(("", " DESC"))
    yield "SELECT %s, count(*) FROM refs%s GROUP BY %s%s" % (named, where, named, rng.choice(("", " ORDER BY " + down))), False
    yield "SELECT %s FROM refs%s ORDER BY %s LIMIT %d" % (named, where, down, k), True
    yield "SELECT DISTINCT %s FROM refs%s ORDER BY %s" % (named, where, down), True
    yield "SELECT %s, count(*), count(DISTINCT source_class) FROM refs%s GROUP BY 1 ORDER BY 1%s LIMIT %d" % (
        end, where, turn, k), True
    yield "SELECT count(*), sum(source & 65535) FROM refs WHERE source = %d OR target = %d" % (a, b), False


def own_fields(copy, rng):
    """The same question twice: what has a + before it SQLite groups and sorts itself."""
    for _ in range(max(2, SEEDS // 4)):
        keys = rng.sample(("source_class", "field", "target_class"), rng.randrange(1, 4))
        where = rng.choice(("", " WHERE target_class = '%s'" % rng.choice(escaped_names(copy))))
        order = ", ".join("%d%s" % (i + 1, rng.choice(("", " DESC"))) for i in range(len(keys)))
        for form in ("SELECT {0}, count(*) FROM refs{1} GROUP BY {0} ORDER BY {2}",
                     "SELECT DISTINCT {0} FROM refs{1} ORDER BY {2}"):
            yield [form.format(", ".join(before + x for x in keys), where, order) for before in ("", "+")]


def compare(tap, path, fields):
    copy = Copy(path)
    if fields:
        copy.add_fields()
    rng = random.Random(os.path.basename(path))
    asked, wrong = 0, []
    for question, ordered in questions(copy, rng):
        got, want = copy.program(question.replace("\n", " ") if ">" not in question and "<" not in question
                                 else quoted(question)), copy.ask(question)
        asked += 1
        if not isinstance(got, str) and not ordered:
            got, want = sorted(got, key=repr), sorted(want, key=repr)
        if got != want:
            wrong.append("%s\n got  %.300r\n want %.300r" % (question, got, want))
    for _ in range(SEEDS):  # SQLite compares and sorts what has a + before it, and nothing else than the sizes differs
        a, b, k = rng.choice(copy.shallow), rng.choice(copy.shallow) * 3, rng.randrange(1, 40)
        c = rng.choice(escaped_names(copy))
        for form in ("SELECT retained FROM objects WHERE %%s >= %d ORDER BY %%s DESC LIMIT %d" % (a, k),
                     "SELECT retained FROM objects WHERE class = '%s' AND %%s < %d ORDER BY %%s LIMIT %d" % (c, b, k),
                     "SELECT count(*), sum(retained) FROM objects WHERE %%s > %d AND %%s <= %d" % (a, b)):
            got, want = (copy.program(quoted(form % (x, x))) for x in ("retained", "+retained"))
            asked += 1
            if got != want:
                wrong.append("%s\n got  %.300r\n want %.300r" % (form, got, want))
    for pair in own_fields(copy, rng):
        got, want = (copy.program(quoted(x)) for x in pair)
        asked += 1
        if got != want:
            wrong.append("%s\n got  %.300r\n want %.300r" % (pair[0], got, want))
    tap.none(wrong[:6], asked, "%s: %d questions, as SQLite answers them over copies" % (os.path.basename(path), asked))


def quoted(question):
    return '"%s"' % question.replace("\\", "\\\\").replace('"', '\\"')


def main():
    tap = Tap()
    compare(tap, SHOP, True)
    compare(tap, SAMPLE, False)
    compare(tap, GO, False)
    real = sorted(glob.glob(os.path.join(DUMPS, "hotspot", "*.hprof")), key=os.path.getsize)[:REAL] if DUMPS else []
    for path in real:
        compare(tap, path, True)
    if not real:
        tap.skip("real dumps", "CAIRN_DUMPS has no hotspot/*.hprof" if DUMPS else "CAIRN_DUMPS is not set")
    tap.done()


main()
