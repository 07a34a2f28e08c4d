#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet's year in small: profiles of many hosts over many nights with leaks planted in them, and what DuckDB finds.

    bench/fleet.py [-b BUILD] [-d DIR] [-H HOSTS] [-n NIGHTS] [-w WIDTH] [--modules DIR] [--keep]

The profile of data/shop.hprof, which cairn writes, is written again for each host and night with other figures: all
waver by 2%, one path by a hundredfold, and these are planted (-w: the shop's classes and paths are there so many times
under other names, since real programs have more of them):

  * from the release r07 on the sessions in AuditLog.ENTRIES grow each night on every fifth host, by 3,000 to 6,000,
    until the next release begins anew;
  * in r03 and r04 the orders do on all hosts, by 20,000;
  * the third host has 500 times the sessions of the others in Shop's table.

cairn makes rows of each profile, DuckDB (the npm package @duckdb/node-api in DIR/node_modules, --modules) makes Parquet
of these and answers bench/fleet/*.sql; each answer is compared with what was planted.  Status 1 if one differs.  Its
seconds are those of the clock, then those of all processors.  A store of 10,000 profiles takes 110 MB in
DIR (BUILD/bench/fleet), with -w 20 seven times as much.
"""

import argparse
import concurrent.futures
import datetime
import gzip
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RELEASE_NIGHTS = 10
LEAK, LEAK_CLASS = "static com.acme.shop.AuditLog.ENTRIES > elementData[]", "com.acme.shop.Session"
FIXED, FIXED_CLASS = "static com.acme.shop.Shop.INSTANCE > orders > elementData[]", "com.acme.shop.Order"
ODD = "static com.acme.shop.Shop.INSTANCE > sessions > table[]"
WAVERS = ("com.acme.shop.Shop", "INSTANCE", "catalog", "root")
WAYS = {LEAK: ("com.acme.shop.AuditLog", "ENTRIES", "elementData", "[]"),
        FIXED: ("com.acme.shop.Shop", "INSTANCE", "orders", "elementData", "[]"),
        ODD: ("com.acme.shop.Shop", "INSTANCE", "sessions", "table", "[]")}
ROWS = ["-x", "diff -by path | cut path class objects shallow retained",
        "-x", "diff -by class | cut class objects shallow retained"]
QUESTIONS = ("size", "grew", "differs", "since")


class Base:
    """The profile that all others are made of."""

    def __init__(self, path, width):
        db = sqlite3.connect(path)
        self.schema = [sql for sql, in db.execute("select sql from sqlite_schema order by rowid")]
        self.pragmas = [db.execute("pragma %s" % p).fetchone()[0] for p in ("application_id", "user_version")]
        self.tables = {t: db.execute("select * from %s" % t).fetchall() for t in ("profile", "sort", "string")}
        self.rows = db.execute("select * from row order by id").fetchall()
        self.sort = {s[0]: s for s in self.tables["sort"]}
        self.string = dict(self.tables["string"])
        self.widen(width)
        self.children, self.class_row = {}, {}
        for r in self.rows:
            if r[2] is not None:
                self.children.setdefault(r[2], []).append(r[0])
            if self.sort[r[1]][1] == "class":
                self.class_row[self.string[r[3]]] = r[0]
        self.ways = {name: self.find(way) for name, way in WAYS.items()}
        self.wavers = self.find(WAVERS)

    def widen(self, width):
        """The paths that begin at a class of the program, and its classes, again under other names."""
        own, numbers = list(self.rows), {text: i for i, text in self.string.items()}
        for k in range(1, width):
            def other(i):
                text = self.string[i].replace("com.acme.", "com.acme%d." % k) if i is not None else None
                return None if i is None else numbers.setdefault(text, len(numbers))
            ids = {}
            for r in own:
                name = self.string.get(r[4] if self.sort[r[1]][1] == "path" else r[3], "")
                begins = r[2] is None
                if self.sort[r[1]][1] not in ("path", "class") or (begins and "com.acme." not in name):
                    continue
                if not begins and r[2] not in ids:
                    continue
                ids[r[0]] = len(self.rows)
                parent = None if begins else ids[r[2]]
                self.rows.append((len(self.rows), r[1], parent, other(r[3]), other(r[4]), *r[5:]))
        self.tables["string"] = sorted((i, text) for text, i in numbers.items())
        self.string = dict(self.tables["string"])

    def find(self, way):
        """The row of a path that begins at this class."""
        at = [r[0] for r in self.rows if self.sort[r[1]][2] == "class" and self.string.get(r[4]) == way[0]]
        for word in way[1:]:
            at = [c for a in at for c in self.children.get(a, ()) if self.string[self.rows[c][3]] == word]
        assert len(at) == 1, way
        return at[0]

    def below(self, at):
        found = [at]
        for i in found:
            found += self.children.get(i, ())
        return found


def plant(base, rows, totals, at, more):
    """So many objects more on a path, with all that hangs on each."""
    ratio = more / base.rows[at][5]
    for i in base.below(at):
        objects, shallow, retained = (round((n or 0) * ratio) for n in base.rows[i][5:8])
        rows[i][5] += objects
        rows[i][6] += shallow
        if rows[i][7] is not None:
            rows[i][7] += max(retained, shallow)
        kind = base.class_row.get(base.string[rows[i][4]])
        if kind is not None:
            rows[kind][5] += objects
            rows[kind][6] += shallow
            if rows[kind][7] is not None:
                rows[kind][7] += shallow
        totals[0] += objects
        totals[1] += shallow
    hangs = round((base.rows[at][7] or base.rows[at][6]) * ratio)
    at = base.rows[at][2]
    while at is not None:
        rows[at][7] = (rows[at][6] if rows[at][7] is None else rows[at][7]) + hangs
        at = base.rows[at][2]


class Fleet:
    def __init__(self, hosts, nights):
        self.hosts, self.nights = hosts, nights
        self.first = datetime.date(2026, 1, 1)

    def release(self, night):
        return "r%02d" % (night // RELEASE_NIGHTS + 1)

    def leaks(self, host):
        """Sessions a night from r07 on; 0: it does not."""
        return 1000 * (3 + host // 5 % 4) if host % 5 == 0 else 0

    def folder(self, host, night):
        return "service=shop/release=%s/host=h%03d/date=%s" % (
            self.release(night), host, self.first + datetime.timedelta(night))

    def profile(self, base, host, night):
        """The bytes of the database."""
        rng = random.Random(host * 100003 + night)
        rows = [list(r) for r in base.rows]
        for r in rows:
            if r[7] is not None:
                r[7] += int(r[7] * 0.02 * rng.random())
        totals = [0, 0]
        since = night % RELEASE_NIGHTS + 1  # nights that the release runs
        if self.leaks(host) and night // RELEASE_NIGHTS >= 6:
            plant(base, rows, totals, base.ways[LEAK], self.leaks(host) * since)
        if night // RELEASE_NIGHTS in (2, 3):
            plant(base, rows, totals, base.ways[FIXED], 20000 * since)
        if host == 3:
            plant(base, rows, totals, base.ways[ODD], 500 * base.rows[base.ways[ODD]][5])
        plant(base, rows, totals, base.wavers, rng.randrange(100) * base.rows[base.wavers][5])
        db = sqlite3.connect(":memory:")
        for pragma, value in zip(("application_id", "user_version"), base.pragmas):
            db.execute("pragma %s = %d" % (pragma, value))
        for sql in base.schema:
            db.execute(sql)
        of = list(base.tables["profile"][0])
        of[2] = "%sT03:00:00Z" % (self.first + datetime.timedelta(night))
        of[7] += totals[0]
        of[10] += totals[1]
        of[13] += totals[1]
        of[16] = None  # figures were changed on purpose
        db.execute("insert into profile values (%s)" % ",".join("?" * len(of)), of)
        for table in ("sort", "string"):
            places = ",".join("?" * len(base.tables[table][0]))
            db.executemany("insert into %s values (%s)" % (table, places), base.tables[table])
        db.executemany("insert into row values (?,?,?,?,?,?,?,?)", rows)
        db.commit()
        return db.serialize()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return len(data)


def rows_of(cairn, profile, to):
    """What nightly.sh does with a profile: (bytes, rows, what cairn says against it)."""
    run = subprocess.run([cairn, "--format", "jsonl", *ROWS, profile, profile], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    if run.returncode or run.stderr:
        return 0, 0, run.stderr.decode()
    return write(to, gzip.compress(run.stdout, 6)), run.stdout.count(b"\n"), ""


def used():
    """Seconds of processors, of this program and of those that it ran."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def make(fleet, base, cairn, store, say):
    sizes = [0, 0, 0]
    began, before = time.time(), used()
    nights = [(h, n) for n in range(fleet.nights) for h in range(fleet.hosts)]
    for host, night in nights:
        data = fleet.profile(base, host, night)
        sizes[0] += len(data)
        path = os.path.join(store, "profiles", fleet.folder(host, night), "heap.profile.gz")
        sizes[1] += write(path, gzip.compress(data, 6))
    say("generating the profiles", time.time() - began, used() - before)
    began, before, lines = time.time(), used(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(rows_of, cairn, os.path.join(store, "profiles", fleet.folder(h, n), "heap.profile.gz"),
                            os.path.join(store, "rows", fleet.folder(h, n), "rows.jsonl.gz")) for h, n in nights]
        for job in jobs:
            n, count, wrong = job.result()
            if wrong:
                sys.exit("cairn refuses a profile: " + wrong)
            sizes[2] += n
            lines += count
    say("cairn reads each and makes rows of it, two at a time", time.time() - began, used() - before)
    return len(nights), lines, sizes


def close(got, want):
    return abs(got - want) <= want * 0.03


def check(fleet, base, answers):
    """What is wrong with the answers."""
    wrong = []
    leaking = ["h%03d" % h for h in range(fleet.hosts) if fleet.leaks(h)]
    each = {w: (base.rows[i][7] or base.rows[i][6]) / base.rows[i][5] for w, i in base.ways.items()}
    slopes = sorted(fleet.leaks(h) for h in range(fleet.hosts) if fleet.leaks(h))
    usual = (slopes[(len(slopes) - 1) // 2] + slopes[len(slopes) // 2]) / 2
    last = (fleet.nights - 1) // RELEASE_NIGHTS + 1
    grew = answers["grew"]
    if [(r["name"], r["class"], r["which"]) for r in grew] != [(LEAK, LEAK_CLASS, leaking)]:
        wrong.append("grew: %s" % grew)
    elif not (close(int(grew[0]["objects_a_night"]), usual) and
              close(int(grew[0]["bytes_a_night"]), usual * each[LEAK])):
        wrong.append("grew: slope %s, planted %s of %s bytes" % (grew, usual, each[LEAK]))
    odd = {(r["host"], r["name"]) for r in answers["differs"]}
    if odd != {(h, LEAK) for h in leaking} | {("h003", ODD)}:
        wrong.append("differs: %s" % sorted(odd))
    since = {r["name"]: (r["since"], r["up_to"], int(r["hosts"])) for r in answers["since"]}
    if since != {LEAK: ("r07", "r%02d" % last, len(leaking)), FIXED: ("r03", "r04", fleet.hosts)}:
        wrong.append("since: %s" % since)
    size = answers["size"][0]
    if (int(size["hosts"]), int(size["nights"])) != (fleet.hosts, fleet.nights):
        wrong.append("size: %s" % size)
    return wrong


def ask(modules, store, names):
    files = [os.path.join(HERE, "fleet", n + ".sql") for n in names]
    run = subprocess.run(["node", os.path.join(HERE, "fleet", "ask.mjs"), modules, store, *files],
                         stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def folder_size(path):
    return sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(path) for f in files)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-b", "--build", default=".")
    p.add_argument("-d", "--dir")
    p.add_argument("-H", "--hosts", type=int, default=100)
    p.add_argument("-n", "--nights", type=int, default=100)
    p.add_argument("-w", "--width", type=int, default=1)
    p.add_argument("--modules")
    p.add_argument("--keep", action="store_true")
    a = p.parse_args()
    store = os.path.abspath(a.dir or os.path.join(a.build, "bench", "fleet"))
    cairn = os.path.abspath(os.path.join(a.build, "cairn"))
    if a.nights < 7 * RELEASE_NIGHTS + 10 or a.nights % RELEASE_NIGHTS or a.hosts < 10:
        sys.exit("the plants want 80, 90, 100 … nights and 10 hosts")

    def say(what, seconds, processor):
        print("%-60s %8.1f s %8.1f s" % (what, seconds, processor), flush=True)
    shutil.rmtree(store, ignore_errors=True)
    os.makedirs(store)
    profile = os.path.join(store, "base.profile")
    subprocess.run([cairn, "-x", "profile " + profile, os.path.join(HERE, "..", "data", "shop.hprof")], check=True,
                   stderr=subprocess.DEVNULL)
    fleet, base = Fleet(a.hosts, a.nights), Base(profile, a.width)
    n, lines, sizes = make(fleet, base, cairn, store, say)
    for what, size in zip(("profiles, plain", "profiles, gzip", "rows, gzip"), sizes):
        print("%-40s %10.1f MB %10.1f KB each" % (what, size / 1e6, size / 1e3 / n))
    modules = a.modules or os.path.join(store, "node_modules")
    compacted = ask(modules, store, ["compact"])
    say("DuckDB makes Parquet of %d rows in %d files, peak %d MB" % (lines, n, compacted[0]["peak"] / 1e6),
        compacted[0]["seconds"], compacted[0]["processor"])
    size = folder_size(os.path.join(store, "parquet"))
    print("%-40s %10.1f MB %10.1f KB each" % ("Parquet", size / 1e6, size / 1e3 / n))
    told = ask(modules, store, QUESTIONS)
    for t in told:
        say("%s: %d rows" % (t["name"], len(t["rows"])), t["seconds"], t["processor"])
    wrong = check(fleet, base, {t["name"][:-4]: t["rows"] for t in told})
    print("\n".join(wrong) if wrong else "every answer is what was planted")
    if not a.keep:
        shutil.rmtree(store)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
