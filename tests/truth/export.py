#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What export writes against what the same commands print: a database by Python's SQLite, parts by its CSV.

The second witness is the command's own CSV (--csv raw), whose numbers other tests hold against the dumps; here it
matters that nothing is lost or changed on the way, that DuckDB, where it is installed, reads from the parts of several
dumps what SQLite reads from their databases, that parts of different dumps have the same columns, that a file is
whole or not there, and that no word of a dump or of a line becomes SQL or a path.
"""

import csv
import glob
import io
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import duck  # noqa: E402
from cairntest import BUILD, GO, SAMPLE, SHOP, SOURCE, Tap, cairn  # noqa: E402

# Tables that are written if none is named, and the lines that say the same.
USUAL = {"classes": "histo", "packages": "histo -by package", "threads": "threads",
         "frames": "sql SELECT * FROM frames", "roots": "roots", "loaders": "loaders"}
NAMED = {SHOP: ["com.acme.shop.Order", "refs 0xe0036138", "own=histo -retained", "statics", "heap", "objects", "refs"],
         GO: ["globals", "main.Session", "own=histo -retained"],
         SAMPLE: ["refs #100", "own=histo -retained", "objects"]}


def printed(line, dump):
    """The rows that a command prints as CSV; None: it has no answer."""
    run = cairn("--format", "csv", "--csv", "raw", "-x", line, dump)
    return list(csv.reader(io.StringIO(run.out, newline=""))) if not run.status else None


def same_cell(text, value):
    """Is the text of CSV this value of the database?"""
    if text.startswith("0x") and isinstance(value, str):
        return text == value
    if text.startswith("0x"):
        return int(text, 16) == value % (1 << 64)
    if text in ("true", "false") and isinstance(value, int):
        return (text == "true") == bool(value)
    if isinstance(value, float):
        return float(text) == value
    return text == ("" if value is None else str(value))


def differences(header, rows, wanted):
    """What a table has otherwise than the command prints it; columns of certainty may be more."""
    names = wanted[0]
    known = [n for n in names if not n.endswith("_certainty")]
    if header[:len(known)] != known:
        return ["columns %s, want %s" % (header, names)]
    at = [header.index(n) for n in names]
    if len(rows) != len(wanted) - 1:
        return ["%d rows, want %d" % (len(rows), len(wanted) - 1)]
    return ["row %d %s: %r, want %r" % (i, n, row[a], text)
            for i, (row, want) in enumerate(zip(rows, wanted[1:])) for n, a, text in zip(names, at, want)
            if not same_cell(text, row[a])][:5]


def database(path, table):
    """Header and rows of a table."""
    db = sqlite3.connect(path)
    cursor = db.execute('SELECT * FROM "%s"' % table.replace('"', '""'))
    out = [d[0] for d in cursor.description], cursor.fetchall()
    db.close()
    return out


def tables(path):
    db = sqlite3.connect(path)
    names = [n for n, in db.execute("SELECT name FROM sqlite_master")]
    good = db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()
    return names if good else []


def check_forms(tap, folder, dump):
    """Both forms have the rows that commands print."""
    name = os.path.basename(dump)
    path, parts = os.path.join(folder, name + ".sqlite"), os.path.join(folder, name + ".d")
    named = ["'%s'" % word for word in NAMED[dump]]
    for line in (path, "-dir %s -partition host=web1,day=1" % parts, "%s.db %s" % (path, " ".join(named))):
        run = cairn("-x", "export " + line, dump)
        tap.ok(run.status == 0 and not run.err, "export of %s" % name, run.err)
    written = tables(path)
    for table, line in USUAL.items():
        wanted = printed(line, dump)
        tap.ok((table in written) == (wanted is not None), "%s: %s is there if the dump tells it" % (name, table))
        if table not in written:
            continue
        wrong = differences(*database(path, table), wanted)
        tap.none(wrong, wanted[1:], "%s: the table %s has the rows of %s" % (name, table, line))
        found = glob.glob(os.path.join(parts, table, "host=web1", "day=1", "part-*.csv"))
        with open(found[0], encoding="utf-8", newline="") as f:
            rows = list(csv.reader(f))
        wrong = differences(rows[0], rows[1:], wanted)
        tap.ok(len(found) == 1 and not wrong, "%s: so has its part" % name, "\n".join(wrong))
    info = {n: v for n, v, _ in database(path, "info")[1]}
    head = printed("info", dump)
    tap.ok(len(head) == 2 and all(info[n] == v or (v == "" and info[n] is None) for n, v in zip(*head)
                                  if not n.endswith("_certainty")), "%s: info has the values of info" % name)
    tap.equal(database(path, "cairn")[1][0][0], dump, "%s: the table cairn names the dump" % name)
    for word in NAMED[dump]:
        table, line = (word.split("=", 1) if word.startswith("own=") else (word, word))
        if "." in line and not line.startswith("refs"):
            line = 'sql SELECT * FROM "%s"' % line
        elif line in ("statics", "globals", "objects", "refs"):
            line = "sql SELECT * FROM " + line
        wanted = printed(line, dump)
        wrong = differences(*database(path + ".db", table), wanted)
        tap.none(wrong, wanted[1:], "%s: the table %s has the rows of %s" % (name, table, line))
    return parts


def check_fleet(tap, folder, parts):
    """Parts of one table have the same columns, whichever dump they are of."""
    for table in USUAL:
        headers = set()
        for path in glob.glob(os.path.join(folder, "*.d", table, "*", "*", "part-*.csv")):
            with open(path, encoding="utf-8", newline="") as f:
                headers.add(tuple(next(csv.reader(f))))
        tap.ok(len(headers) == 1, "all parts of %s have the same columns" % table, str(headers))
    before = sorted(glob.glob(os.path.join(parts, "*", "*", "*", "*")))
    cairn("-x", "export -dir %s -partition host=web1,day=1" % parts, SHOP)
    tap.equal(sorted(glob.glob(os.path.join(parts, "*", "*", "*", "*"))), before, "a second run replaces its own parts")


# Texts with each character that CSV, a reader of it, or SQL may take for something else; '' and NULL; numbers at their
# ends; a column of nothing.
HOSTILE = "hostile=sql " + " UNION ALL ".join("SELECT " + ", ".join("%s AS %s" % (value, name) for name, value in zip(
    ("quote", "ending", "empty", "unicode", "void", "number", "broken"), row)) for row in (
        ("char(39,120,39)", "char(92)", "char()", "char(233,8364,128512)", "NULL", "9223372036854775807", "0.1"),
        ("char(34,44,10,13,34)", "char(97,92,34)", "NULL", "char(8238,65279)", "NULL", "-1", "-2.25"),
        ("char(34)", "char(97,0,98)", "char(32,120,32)", "char(78,85,76,76)", "NULL", "NULL", "NULL"),
        ("char(35,59,124,9)", "char(92,78)", "char(92,110)", "char(45,45)", "NULL", "0", "1e300")))
def duckdb_question(folder):
    """As the help of export, which the manual repeats, says that DuckDB reads a table."""
    with open(os.path.join(SOURCE, "doc", "cairn.1"), encoding="utf-8") as f:
        line, = [line for line in f if line.startswith("SELECT * FROM read_csv('DIR/classes/")]
    return line.strip().rstrip(";").replace("\\-", "-").replace("DIR/classes", folder.replace("'", "''"))


def same_in_duckdb(text, kind, value):
    """Is this what DuckDB read, made a text, what SQLite has?"""
    if text is None or value is None:
        return text is value
    if kind == "BIGINT" and isinstance(value, int):
        return int(text) == value
    if kind == "DOUBLE" and not isinstance(value, str):
        return float(text) == value
    if kind.startswith("TIMESTAMP"):
        return text.replace(" ", "T").replace("+00", "Z") == value
    return same_cell(text, value)


def duckdb_differences(ask, fleet, folder_name, databases, table):
    """Between a table that DuckDB reads of all parts and what the databases have, by host; and of how many rows."""
    names, kinds, rows = duck.read(ask, duckdb_question(os.path.join(fleet, folder_name)))
    host, wrong = names.index("host"), []
    for of, path in databases.items():
        if table not in tables(path):
            wrong += ["rows of %s, which has no such table" % of] if any(r[host] == of for r in rows) else []
            continue
        header, wanted = database(path, table)
        known = [n for n in header if not n.endswith("_certainty")]
        read = [r for r in rows if r[host] == of]
        if len(read) != len(wanted) or names[:len(known)] != known:
            wrong.append("%s: %d rows of %s, want %d of %s" % (of, len(read), names, len(wanted), known))
            continue
        for i, n in enumerate(known):
            numbers = {type(w[i]) for w in wanted} - {type(None)}
            if numbers and numbers <= {int, float} and kinds[i] not in ("BIGINT", "DOUBLE", "BOOLEAN"):
                wrong.append("%s: %s is %s" % (of, n, kinds[i]))
            wrong += ["%s: row %d %s: %r, want %r" % (of, row, n, r[i], w[i]) for row, (r, w) in
                      enumerate(zip(read, wanted)) if not same_in_duckdb(r[i], kinds[i], w[i])]
    return wrong[:5], len(rows)


def check_duckdb(tap, folder):
    """DuckDB reads the parts of all dumps as one table, cell by cell as SQLite the databases."""
    ask = duck.find()
    if not ask:
        tap.skip("DuckDB reads the parts", "no DuckDB (program, Python's module, or node's @duckdb/node-api)")
        return
    fleet, databases = os.path.join(folder, "fleet"), {}
    for dump in (SHOP, GO, SAMPLE):
        of = os.path.basename(dump)[:8]
        databases[of] = os.path.join(folder, of + ".sqlite")
        usual = [t for t in list(USUAL) + ["info"] if t != "packages" and not (t == "loaders" and dump == GO)]
        words = "-retained " + " ".join("'%s'" % w for w in usual + NAMED[dump] + [HOSTILE])
        run = cairn("-x", "export %s %s" % (databases[of], words),
                    "-x", "export -dir %s -partition host=%s,day=2026-11-22 %s" % (fleet, of, words), dump)
        tap.ok(run.status == 0, "parts and a database of %s" % of, run.err)
    for folder_name in sorted(os.listdir(fleet)):
        table = urllib.parse.unquote(folder_name)
        try:
            wrong, n = duckdb_differences(ask, fleet, folder_name, databases, table)
        except RuntimeError as e:
            wrong, n = [str(e)], 0
        tap.none(wrong, n, "DuckDB reads the parts of %s as SQLite the databases" % table)


def check_names(tap, folder):
    """No word becomes a path or SQL."""
    wild = os.path.join(folder, "wild")
    for partition in ("host=..", "host=a/b", "host=", "=a", "host", "../x=1", "a=1,A=2", "a=1,,b=2", "shallow=1",
                      "x=\x01"):
        run = cairn("-x", "export -dir %s -partition '%s' classes" % (wild, partition), SHOP)
        written = glob.glob(os.path.join(wild, "**", "*.csv"), recursive=True)
        tap.ok(run.status == 2 and run.err.count("\n") == 1 and not written,
               "-partition %r is refused" % partition, run.err)
    run = cairn("-x", "export -dir %s -partition 'k=.%%= é' \"sql_x=histo\" \"find ../..\"" % wild, SHOP)
    tap.ok(run.status == 0 and sorted(os.listdir(wild)) == ["find%20..%2F..", "sql_x"] and
           os.listdir(os.path.join(wild, "sql_x")) == ["k=%2E%25%3D%20é"], "names are escaped as Hive does", run.err)
    evil = 'refs "); DROP TABLE cairn; --'
    run = cairn("-x", "export %s.sqlite '%s'" % (wild, evil), SHOP)
    tap.ok(run.status and not os.path.exists(wild + ".sqlite"), "what is no table leaves no file", run.err)


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


def check_ended(tap, folder):
    """Whoever ends the program leaves nothing half written behind: the more tables, the longer it writes."""
    path = os.path.join(folder, "ended.sqlite")
    line = "export %s %s" % (path, " ".join("t%d=refs" % i for i in range(300)))
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = subprocess.Popen([os.path.join(BUILD, "cairn"), "-x", line, SHOP], stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while run.poll() is None and not [p for p in glob.glob(path + "*") if os.path.getsize(p)]:
            pass
        run.send_signal(ending)
        run.communicate()
        tap.ok(run.returncode == -ending and not glob.glob(path + "*"), "%s leaves nothing" % ending.name)
    parts = os.path.join(folder, "ended")
    line = "export -dir %s -partition a=b %s" % (parts, " ".join("t%d=refs" % i for i in range(300)))
    for ending in (signal.SIGINT, signal.SIGTERM):
        run = subprocess.Popen([os.path.join(BUILD, "cairn"), "-x", line, SHOP], stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while run.poll() is None and not os.path.exists(parts + "/t1"):
            pass
        run.send_signal(ending)
        run.communicate()
        kept = [at for at, folders, files in os.walk(parts) if not folders and
                (len(files) != 1 or not files[0].endswith(".csv"))]
        tap.ok(run.returncode == -ending and os.path.exists(parts + "/t0") and not kept,
               "%s leaves whole parts and no empty folder" % ending.name, kept)
        shutil.rmtree(parts)


def check_failures(tap, folder):
    """A file that cannot be written is not there, and one that was stays."""
    path = os.path.join(folder, "full.sqlite")
    for before in (None, b"before"):
        if before:
            with open(path, "wb") as f:
                f.write(before)
        run = subprocess.run([os.path.join(BUILD, "cairn"), "-x", "export %s objects" % path, SHOP],
                             capture_output=True, preexec_fn=small_files)
        left = glob.glob(path + "*")
        tap.ok(run.returncode == 2 and run.stderr.count(b"\n") == 1 and (left == [path] if before else not left),
               "a full disk is a sentence, and leaves %s" % ("the file" if before else "nothing"), run.stderr.decode())
    with open(path, "rb") as f:
        tap.equal(f.read(), b"before", "with what it had")
    shutil.copy(SAMPLE, path)
    run = cairn("-x", "export %s" % path, SHOP)
    tap.ok(run.status == 2 and "is a heap dump" in run.err, "a dump is not replaced", run.err)
    run = cairn("-x", "export %s/no/x.sqlite" % folder, SHOP)
    tap.ok(run.status == 2 and run.err.count("\n") == 1, "nor is a folder made for a database", run.err)
    run = cairn("-x", "export -dir %s/x/y -partition a=1 threads" % path, SHOP)
    tap.ok(run.status == 2 and run.err.count("\n") == 1, "a folder that cannot be made is a sentence", run.err)


def main():
    tap = Tap()
    folder = tempfile.mkdtemp()
    try:
        if "without SQLite" in cairn("--version").out:
            run = cairn("-x", "export %s/x.sqlite" % folder, SHOP)
            tap.ok(run.status == 1 and "no SQLite" in run.err and not os.listdir(folder),
                   "a build without SQLite says so")
            run = cairn("-x", "export -dir %s -partition a=1 classes" % folder, SHOP)
            tap.ok(run.status == 0 and os.listdir(folder) == ["classes"], "and writes parts", run.err)
        else:
            parts = [check_forms(tap, folder, dump) for dump in (SHOP, GO, SAMPLE)]
            check_fleet(tap, folder, parts[0])
            check_duckdb(tap, folder)
            check_names(tap, folder)
            check_ended(tap, folder)
            check_failures(tap, folder)
    finally:
        shutil.rmtree(folder)
    tap.done()


main()
