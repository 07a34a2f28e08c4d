#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that a dump may have and SQL does not expect: quotes, newlines, SQL, SQLite's own words and tables, our own columns
and tables, names that differ in case only, twice in one class, empty, very long, not UTF-8, thousands of fields.

Each class and each field is reached, by the statement that "help sql" tells.  CAIRN_QUICK: two dumps of random names, 6 otherwise.
"""

import json
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, Run, Tap, cairn  # noqa: E402

SEEDS = 2 if os.environ.get("CAIRN_QUICK") else 6

CLASSES = [b'com/acme/Qu"ote', b"It's", b'a"; DROP TABLE objects; --', b"new\nline", b"tab\there", b"semi;colon", b"\xff\xfe\x80",
           b"bell\x07 esc\x1b[31m", b"select", b"group", b"rowid", b"objects", b"refs", b"entries", b"statics", b"globals",
           b"classes", b"dominators", b"retained", b"gc_paths", b"locals", b"frames", b"sqlite_master", b"sqlite_schema",
           b"sqlite_x", b"sqlite_sequence", b"histo", b"threads", b"Case", b"CASE", b"case", b"x" * 60000, b"", b" ", b"class",
           b"class objects", b"class 0x10", b"a b", b"%s%n%d", b"back`tick", b"back\\slash", b"]", b"\xc3\xbc\xe6\x97\xa5",
           b"json_each", b"pragma_table_info", b"temp", b"main.objects", b"--", b"/*", b"NULL", b"0x10", b"%1", b"$x", b"*", b"?1",
           b"histo -by package", b"these objects 1", b"a\\\"b", b"''", b'""', b"\xe2\x80\xaegnp.exe", b"\xed\xa0\xbd"]
FIELDS = [b'q"uote', b"it's", b'"; DROP TABLE objects; --', b"new\nline", b"semi;colon", b"\xff\xfe", b"bell\x07", b"select",
          b"group", b"rowid", b"oid", b"_rowid_", b"address", b"class", b"id", b"value", b"retained", b"shallow", b"length",
          b"reachable", b"dominator", b"loader", b"class_address", b"class_certainty", b"shallow_certainty", b"object_id",
          b"retained_certainty", b"Case", b"CASE", b"case", b"", b" ", b"a b", b"a.b", b"a", b"[0]", b"[", b"]", b"back`tick",
          b"back\\slash", b"%s%n", b"twice", b"twice", b"twice", b"twice_2", b"inherited", b"y" * 60000, b"NULL", b"count(*)", b"*",
          b"true", b"\xc3\xbc", b"setof", b"1", b"-1", b"?", b"?1", b":x", b"@x", b"$x", b"/*", b"--", b"and", b"not"]


class Dump:
    """Classes with fields of ints, an instance of each: its numbers differ from all others'."""

    def __init__(self):
        self.names, self.heap, self.serial, self.at, self.number = b"", b"", 0, 0x10000000, 1000
        self.wanted = []  # (address, class's address, name, numbers)

    def text(self, name):
        self.serial += 1
        self.names += struct.pack(">BIIQ", 1, 0, len(name) + 8, self.serial) + name
        return self.serial

    def add(self, name, fields=(b"n",), above=None):
        at, instance = self.at, self.at + 64
        self.at += 128 + 4 * len(fields) // 8 * 8 + (4 * len(above[3]) // 8 * 8 if above else 0)
        called = self.text(name)
        self.names += struct.pack(">BIIIQIQ", 2, 0, 24, called, at, 1, called)
        inherited = above[3] if above else []
        self.heap += struct.pack(">BQIQ5QIHHH", 0x20, at, 1, above[1] if above else 0, 0, 0, 0, 0, 0,
                                 4 * (len(fields) + len(inherited)), 0, 0, len(fields))
        for field in fields:
            called = self.text(field)
            self.heap += struct.pack(">QB", called, 10)
        numbers = list(range(self.number, self.number + len(fields)))
        self.number += len(fields) + len(inherited)
        numbers += list(range(self.number - len(inherited), self.number))
        self.heap += struct.pack(">BQIQI", 0x21, instance, 1, at, 4 * len(numbers))
        self.heap += b"".join(struct.pack(">i", n) for n in numbers)
        self.wanted.append((instance, at, name, numbers))
        return self.wanted[-1]

    def write(self, folder):
        path = os.path.join(folder, "names.hprof")
        with open(path, "wb") as f:
            f.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0) + self.names)
            f.write(struct.pack(">BII", 0x1C, 0, len(self.heap)) + self.heap + struct.pack(">BII", 0x2C, 0, 0))
        return path


def quoted(line):
    """A question with backslashes in it stands in quotes of the command line."""
    question = line[len("sql "):]
    return line if "\\" not in question else 'sql "%s"' % question.replace("\\", "\\\\").replace('"', '\\"')


def ask(path, lines):
    """The rows that each line answers with, as lists of dicts; the program's words where one fails."""
    with open(path + ".script", "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write("".join(quoted(line) + "\n" for line in lines))
    done = Run([CAIRN, "--format", "json", "-f", path + ".script", path])
    answers, at, decoder = [], 0, json.JSONDecoder()
    while done.out[at:].strip():
        at += len(done.out[at:]) - len(done.out[at:].lstrip())
        value, at = decoder.raw_decode(done.out, at)
        answers.append(value if isinstance(value, list) else [])
    return answers, done


def quote(name, mark='"'):
    return mark + name.replace(mark, 2 * mark) + mark


def check_classes(wrong, path, dump):
    found = ask(path, ["sql SELECT class(%d) AS c" % w[0] for w in dump.wanted])[0]
    names = [rows[0]["c"] for rows in found]
    lines = []
    for w, name in zip(dump.wanted, names):
        alone = names.count(name) == 1
        lines += ["sql SELECT * FROM %s WHERE address = %d" % (quote("class " + name if alone else "class 0x%x" % w[1]), w[0]),
                  "sql SELECT count(*) AS n FROM %s" % quote("class 0x%x" % w[1]),
                  "sql SELECT count(*) AS n FROM objects WHERE class = %s" % quote(name, "'")]
    answers, done = ask(path, lines)
    if len(answers) != len(lines):
        wrong.append("%d answers to %d lines: %s" % (len(answers), len(lines), done.err[:900]))
        return names
    for i, w in enumerate(dump.wanted):
        row, one, same = answers[3 * i:3 * i + 3]
        if not row or not set(w[3]) <= set(v for v in row[0].values() if isinstance(v, int)) or one != [{"n": 1}] or \
                same != [{"n": names.count(names[i])}]:
            wrong.append("%.60r: %.200r %r %r" % (w[2], row, one, same))
    return names


def check_fields(wrong, path, dump, which):
    """Each field of a class by its column, by field() and in -where; its numbers tell whether it was the right one."""
    address, at, _, numbers = dump.wanted[which]
    table = quote("class 0x%x" % at)
    (columns,), _ = ask(path, ["sql SELECT * FROM " + table])
    keys = {v: k for k, v in columns[0].items() if isinstance(v, int) and v in numbers}
    missing = set(numbers) - set(keys)
    if missing:
        wrong.append("no column has %s: %.300s" % (sorted(missing)[:9], list(columns[0])))
    lines = []
    for n, key in keys.items():
        lines += ["sql SELECT %s AS n FROM %s" % (quote(key), table), "sql SELECT field(%d, %s) AS n" % (address, quote(key, "'"))]
    answers, done = ask(path, lines)
    for i, (n, key) in enumerate(keys.items()):
        got = answers[2 * i:2 * i + 2]
        if got != [[{"n": n}], [{"n": n}]] and key:  # nothing names the field "" in a path
            wrong.append("%.60r: %r, wanted %d" % (key, got, n))
    for n, key in list(keys.items())[:40]:
        if not key or "`" in key or len(key) > 1000:
            continue
        where = "`%s` = %d" % (key, n)
        done = cairn("-x", 'ls 0x%x -where "%s"' % (address, where.replace("\\", "\\\\").replace('"', '\\"')), path)
        if done.status != 0 or "0x%x" % address not in done.out:
            wrong.append("-where %.60r: %s" % (key, done))


def fuzzed(rng):
    alphabet = [b"a", b"A", b"'", b'"', b";", b"\n", b"\\", b".", b" ", b"`", b"[", b"]", b"%", b"\x01", b"\xff", b"\xc3\xa9", b"$",
                b"--", b"select", b"objects", b"/", b"(", b")", b"0x1", b"_2", b"?"]
    return b"".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 7))).lstrip(b"[") or b"x"  # no array's name


def check(tap, folder, what, dump, which=None):
    wrong = []
    path = dump.write(folder)
    check_classes(wrong, path, dump)
    if which is not None:
        check_fields(wrong, path, dump, which)
    tap.none(wrong[:14], dump.wanted, what)
    return path


def check_wide(tap, folder):
    dump = Dump()
    wide = dump.add(b"Wide", [b"f%d" % i for i in range(3000)])
    thousand = dump.add(b"Thousand", [b"f%d" % i for i in range(1000)])
    path = dump.write(folder)
    run = cairn("-x", "sql SELECT f0, f999, field(address, 'f2999') AS last FROM Wide", path)
    words = run.out.split("\n")
    tap.ok(len(words) > 1 and words[1].split() == [str(wide[3][i]) for i in (0, 999, 2999)] and "field(address, 'NAME')" in run.out,
           "of 3,000 fields the first are columns, the others are told of and reached", run)
    run = cairn("--format", "csv", "-x", "sql SELECT f0 + f999 AS s FROM Thousand", "-x", "sql SELECT * FROM Thousand", path)
    tap.ok(run.out.split()[1] == str(thousand[3][0] + thousand[3][999]) and run.out.count(",") > 2000, "a thousand columns", run)
    run = cairn("--format", "csv", "-x", "ls Wide -where 'f2999 = %d and f0 = %d' | cut class" % (wide[3][2999], wide[3][0]), path)
    tap.ok(run.out.split() == ["class", "Wide"], "-where finds the last of 3,000 fields", run)
    run = cairn("-x", "sql SELECT f2999 FROM Wide", path)
    tap.ok(run.status == 2 and "field(address, 'NAME')" in run.err, "a field that is no column is named with the way to it", run)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        dump = Dump()
        for name in CLASSES + [b"plug/Same", b"plug/Same"]:
            dump.add(name)
        path = check(tap, folder, "%d classes of odd names" % len(dump.wanted), dump)
        for line in ("sql SELECT * FROM objects", "sql SELECT * FROM statics", "histo", "ls *", "sql SELECT * FROM classes"):
            run = cairn("-x", line, path)
            tap.ok(run.status in (0, 1) and "\x1b" not in run.out and "\x07" not in run.out, "%s among them" % line, run)
        dump = Dump()
        above = dump.add(b"Base", [b"inherited", b"twice", b"own"])
        dump.add(b"Fields", FIELDS, above)
        check(tap, folder, "%d fields of odd names" % len(FIELDS), dump, 1)
        check_wide(tap, folder)
        for seed in range(SEEDS):
            rng = random.Random(seed)
            dump = Dump()
            for _ in range(30):
                dump.add(fuzzed(rng))
            above = dump.add(b"Base", [fuzzed(rng) for _ in range(10)])
            dump.add(fuzzed(rng), [fuzzed(rng) for _ in range(30)], above)
            check(tap, folder, "random names, seed %d" % seed, dump, len(dump.wanted) - 1)
    tap.done()


main()
