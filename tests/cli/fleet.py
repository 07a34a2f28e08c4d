#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""doc/fleet.md: its SQL and its nightly job are the files that bench/fleet.py runs, and the job does what it says.

The questions themselves are asked of DuckDB where CAIRN_DUCKDB names the folder of the npm package @duckdb/node-api
(node_modules), of ten hosts and eighty nights.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, CAIRN, SHOP, SOURCE, Tap, cairn  # noqa: E402

FLEET = os.path.join(SOURCE, "bench", "fleet")
FILES = ["nightly.sh", "compact.sql", "size.sql", "grew.sql", "differs.sql", "since.sql"]


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def blocks():
    """What stands in the page's blocks of shell and SQL."""
    return re.findall(r"^```(?:sh|sql)\n(.*?)^```$", read(SOURCE, "doc", "fleet.md"), re.M | re.S)


def job(tap, folder):
    """It runs where rsync only copies."""
    programs, store = os.path.join(folder, "bin"), os.path.join(folder, "store")
    os.mkdir(programs)
    os.mkdir(store)
    os.symlink(CAIRN, os.path.join(programs, "cairn"))
    rsync = os.path.join(programs, "rsync")
    with open(rsync, "w", encoding="ascii") as f:
        f.write('#!/bin/sh\ncp -R "$2." "$3"\n')
    os.chmod(rsync, 0o755)
    env = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], SERVICE="shop", RELEASE="r01", HOST="h1",
               DATE="2026-01-01", STORE=store, DUMP=SHOP)
    run = subprocess.run(["sh", os.path.join(FLEET, "nightly.sh")], env=env, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False)
    if not tap.ok(run.returncode == 0 and not run.stdout, "the nightly job runs", run.stderr.decode()):
        return
    at = "service=shop/release=r01/host=h1/date=2026-01-01"
    with gzip.open(os.path.join(store, "rows", at, "rows.jsonl.gz"), "rt", encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    tell = lambda r, name: (r[name].replace("*", ""), r["objects"], r["shallow"], r["retained"])  # noqa: E731
    for line, got in (("histo -by path", [tell(r, "path") for r in rows if "path" in r]),
                      ("histo -retained", [tell(r, "class") for r in rows if "path" not in r])):
        name = "path" if "path" in line else "class"
        want = {}  # classes of one name are one row in a profile
        for r in json.loads(cairn("--format", "json", "-x", line, SHOP).out):
            row = tell(r, name)
            want[row[0]] = tuple(a + b for a, b in zip(want.get(row[0], (0, 0, 0)), row[1:]))
        tap.equal({r[0]: r[1:] for r in got}, want, "its rows are those of %s" % line)
    profile = os.path.join(store, "profiles", at, "heap.profile.gz")
    told = cairn("-x", "dumps", profile)
    tap.ok(told.status == 0 and "profile of HPROF" in told.out, "its profile is one", told)


def main():
    tap = Tap()
    got = blocks()
    tap.equal(got[:len(FILES)], [read(FLEET, name) for name in FILES], "the page shows the files that run")
    with tempfile.TemporaryDirectory() as folder:
        if "without SQLite" in cairn("--version").out or cairn("-x", "profile " + folder + "/p", SHOP).status:
            tap.skip("the nightly job", "there are no profiles without SQLite")
        else:
            job(tap, folder)
        modules = os.environ.get("CAIRN_DUCKDB", "")
        if not modules:
            tap.skip("the questions", "CAIRN_DUCKDB is not set")
        else:
            run = subprocess.run([sys.executable, os.path.join(SOURCE, "bench", "fleet.py"), "-b", BUILD, "-d",
                                  os.path.join(folder, "fleet"), "--modules", modules, "-H", "10", "-n", "80"],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            tap.ok(run.returncode == 0, "every answer is what was planted", run.stdout.decode())
    tap.done()


main()
