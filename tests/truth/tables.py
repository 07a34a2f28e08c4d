#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of every table, -where, -by, -sort and -r, against the same done here with the rows that the command
alone prints: for all commands with rows, on a Java and a Go dump; of each command some lines, in the long run all.
CAIRN_QUICK: on one."""

import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cairntest import GO, QUICK, SHOP, Tap, cairn, some  # noqa: E402
import commands  # noqa: E402
from marks import Kind, values_of  # noqa: E402

OWN_REVERSE = {"paths"}  # -r turns its tree round
HEADINGS = {"bt"}        # of which some rows are headings, in no group


def rows(path, line):
    done = cairn("--format", "json", "-x", line, path)
    if done.status not in (0, 1) or not done.out.strip():
        return None, done.err
    value = values_of(done.out)[0]
    return (value if isinstance(value, list) else None), done.err


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def columns(table):
    """Names of columns of numbers, and of texts: those of which some value is known."""
    numbers, texts = [], []
    for name in table[0]:
        known = [r[name] for r in table if r.get(name) is not None]
        if known and all(is_number(v) for v in known) and not name.endswith("_certainty"):
            numbers.append(name)
        elif known and all(isinstance(v, str) for v in known) and not name.endswith("_certainty"):
            texts.append(name)
    return numbers, texts


def key(row):
    return json.dumps(row, sort_keys=True)


def check(tap, path, line, compared):
    base, said = rows(path, line)
    if not base:
        return
    numbers, texts = columns(base)
    own = line.split()[0]
    name = "%s: %s" % (os.path.basename(path), line)
    every = collections.Counter(map(key, base))
    for column in numbers[:2]:
        known = sorted((r[column] for r in base if r[column] is not None), reverse=True)
        got, said = rows(path, "%s -sort %s" % (line, column))
        if not tap.ok(got is not None, "%s -sort %s answers" % (name, column)):
            print("# " + said)
            continue
        tap.equal([r[column] for r in got if r[column] is not None], known, "%s: largest %s first" % (name, column))
        tap.equal(len([r for r in got[:len(known)] if r[column] is None]), 0, "%s: unknown %s last" % (name, column))
        tap.equal(collections.Counter(map(key, got)), every, "%s -sort %s: the same rows" % (name, column))
        if own not in OWN_REVERSE:
            got, said = rows(path, "%s -sort %s -r" % (line, column))
            tap.equal([r[column] for r in got or () if r[column] is not None], known[::-1], "%s -r" % name)
        compared["sort"] += 1
    for column in numbers[:1]:
        known = sorted(r[column] for r in base if r[column] is not None)
        limit = known[len(known) // 2]
        if "where" in said or own in ("histo", "ls", "refs"):  # a condition on objects
            continue
        got, said = rows(path, "%s -where '%s >= %s'" % (line, column, limit))
        want = collections.Counter(key(r) for r in base if r[column] is not None and r[column] >= limit)
        tap.equal(collections.Counter(map(key, got or ())), want, "%s -where %s >= %s" % (name, column, limit))
        compared["where"] += 1
    for column in texts[:2] if own not in HEADINGS else ():
        got, said = rows(path, "%s -by %s" % (line, column))
        if " -by " in line or got is None or "rows" not in got[0]:
            continue
        want = collections.Counter(r[column] for r in base)
        have = collections.Counter()
        for r in got:
            have[r[column]] += r["rows"]
        tap.equal(have, want, "%s -by %s" % (name, column))
        compared["by"] += 1


def check_loaders(tap, path, name):
    """Two classes of one name are two groups, each with its loader: counted here object by object."""
    roots = collections.Counter(row["address"] for row in rows(path, "roots")[0])
    want = collections.Counter()
    for row in rows(path, "histo -sort class")[0]:
        if row["class"] == name:
            for found in rows(path, "ls " + row["class_address"])[0]:
                want[row["loader"]] += roots[found["address"]]
    got = {row["loader"]: row["rows"] for row in rows(path, "roots -by class")[0] if row["class"] == name}
    tap.ok(len(want) > 1 and got == {loader: n for loader, n in want.items() if n},
           "%s: roots -by class, loaders of %s" % (os.path.basename(path), name), (got, want))
    tap.ok(cairn("-x", "roots -by class", path).out.splitlines()[0].split() == ["class", "loader", "rows"],
           "people see the loaders, too")


def main():
    tap = Tap()
    check_loaders(tap, SHOP, "com.acme.plugin.PriceRule")
    for path in (SHOP, GO)[:1 if QUICK else 2]:
        words = Kind("sample", path).choose()
        compared = collections.Counter()
        left = commands.without_figures() | commands.compare() | {"find", "overview", "sets"}  # their rows depend on the question, or are of others
        for command, lines in commands.lines(words, left).items():
            lines = [line for line in lines if not any(word in line for word in ("|", ";", "-sort", "-where"))
                     and not commands.groups(line)]
            for line in some(lines, 3, len(command)) if lines else ():
                check(tap, path, line, compared)
        for option, least in (("sort", 20), ("where", 8), ("by", 12)):
            tap.ok(compared[option] >= least, "%s: -%s of %d tables" % (os.path.basename(path), option, compared[option]))
    tap.done()


main()
