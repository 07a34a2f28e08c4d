#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the commands print as JSON is what they promise (cairn --dump-docs schema, made from the table
of commands): rows with the columns of one of the command's shapes and no other, values of the types
that the catalogue of columns tells.  Every shape that is promised is seen.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import GO, SAMPLE, SERIES, SHOP, Tap, cairn  # noqa: E402
from hprofmade import add_direct, buffers  # noqa: E402
from javadump import add_locks, deadlock, with_references  # noqa: E402
from schema import faults  # noqa: E402

# Lines by command, such that each of its shapes comes with rows from some sample.
LINES = {
    "alias": ["alias"],
    "apropos": ["apropos retained"],
    "about": ["about #100", "about java.lang.String"],
    "bt": ["bt main", "bt 1"],
    "check": ["check", "check -tree"],
    "columns": ["columns"],
    "path-history": ["path-history -by class java.lang.String", "path-history -by class string"],
    "report": ["report", "report -o {folder}/r.txt"],
    "profile": ["profile {folder}/p.profile"],
    "assert": ["assert 'info.objects > 5' 'rows(histo) < 1'"],
    "cut": ["cut java.lang.String", "cut java.lang.String>char[] -each", "cut -plan 16K"],
    "diff": ["diff", "diff -by class", "diff -by package", "diff -by loader",
             "diff -by field", "diff -by site", "diff -by thread"],
    "dumps": ["dumps"],
    "dom": ["dom", "dom -depth 2", "dom -by class", "dom -by package", "dom -by loader"],
    "holders": ["holders java.lang.String", "holders string"],
    "dups": ["dups"],
    "waste": ["waste", "waste strings", "waste strings -by class", "waste strings -by holder"],
    "duplicate-classes": ["duplicate-classes"],
    "entries": ["entries 0xe0010228", "entries main.sessions"],
    "find": ["find String", "find 42", "find -hash 66501cf5"],
    "growth": ["growth"],
    "heap": ["heap", "heap -depth 2", "heap string"],
    "help": ["help", "help histo"],
    "histo": ["histo", "histo -by package", "histo -by loader", "histo -by super", "histo -by path", "histo -retained",
              "histo -by heap"],
    "history": ["history"],
    "info": ["info", "info -args", "info -limits", "info -env"],
    "leaks": ["leaks"],
    "loaders": ["loaders"],
    "ls": ["ls java.nio.DirectByteBuffer", "ls java.nio.DirectByteBuffer -fields all",
           "ls java.lang.String", "ls string", "ls char[] -retained", "ls java.lang.String -fields all",
           "ls main.Session -fields all"],
    "note": ["note java.util.Date a day", "note"],
    "path": ["path java.util.Date", "path #100", "path #100 -n 3"],
    "paths": ["paths java.lang.String", "paths string -r"],
    "props": ["props"],
    "refs": ["refs #100", "refs #100 -by class", "refs #100 -by field", "refs #100 -by holder"],
    "roots": ["roots", "roots -by kind", "roots -by name", "globals"],
    "set": ["set"],
    "sets": ["sets"],
    "sites": ["sites"],
    "finalizers": ["finalizers"],
    "export": ["export {folder}/a.sqlite", "export -dir {folder}/d -partition a=b"],
    "index": ["index {folder}/a.cairn", "index -packed {folder}/p.cairn"],
    "redact": ["redact /dev/null"],
    "collections": ["collections", "collections -by holder", "collections -fill"],
    "offheap": ["offheap", "offheap -by holder", "offheap -each", "offheap -limits", "offheap -native"],
    "locks": ["locks", "locks -deadlock"],
    "size": ["size #100"],
    "sql": ["sql SELECT address, class, shallow FROM objects LIMIT 3", "sql",
            "sql -schema com.acme.shop.Order", "sql -schema"],
    "strings": ["strings"],
    "bundle": ["bundle"],
    "threads": ["threads", "threads -by stack"],
    "top": ["top", "top -by class", "top -by package", "top -by loader"],
    "trend": ["trend", "trend -by class", "trend -by package", "trend -by loader", "trend -by field", "trend -by site",
              "trend -by thread"],
    "tree": ["tree", "tree -by package"],
    "threadlocals": ["threadlocals", "threadlocals -by class"],
    "references": ["references", "references -only"],
    "why": ["why"],
    "x": ["x #100", "x #7", "x java.util.Date", "x 0xe0001260 -hex", "x #50 -hex"],
}


# What is compared: the samples are of different programs, so each has what the other has not.
OLDER = {SHOP: SAMPLE, GO: SHOP, SAMPLE: SHOP}


# Their rows have columns of their own.
OWN_COLUMNS = ("sql SELECT", "growth", "diff", "trend")
# Of these no sample has all that they tell of.
OF_MADE = ("references", "finalizers", "locks", "threadlocals")


def make_dump(path):
    """With a reference of a kind, an object that nothing else reaches, and threads that wait for each other."""
    d = add_locks(with_references())
    deadlock(d)
    soft = d.new("java.lang.ref.SoftReference", referent=d.new("java.lang.Object"))
    d.root("jni", soft)
    d.static("java.lang.ref.Finalizer", "unfinalized",
             d.new("java.lang.ref.Finalizer", referent=d.new("java.lang.Object")))
    entries = d.array([d.new("java.lang.ThreadLocal$ThreadLocalMap$Entry", value=d.new("java.lang.Object"))],
                      "java.lang.ThreadLocal$ThreadLocalMap$Entry[]")
    d.new("java.lang.Thread", threadLocals=d.new("java.lang.ThreadLocal$ThreadLocalMap", table=entries))
    d.write(path)


def help_columns(name):
    """The forms of results by the help of a command: their columns, as (those of text, hidden ones)."""
    forms, words = [], None
    for line in cairn("-x", "help " + name, SHOP).out.split("\n") + ["end"]:
        begins = re.match(r"  (columns|values)(?: .*?)?: (.*)", line)
        if words is not None and not begins and re.match(r"  [a-z_]\S*( \S+)*$", line):
            words += line
            continue
        if words is not None:
            forms.append(tuple(set(re.findall(r"\w+", part)) for part in re.match("(.*?)(?:hidden: (.*))?$", words).groups("")))
        words = begins.group(2) if begins and begins.group(1) == "columns" else None
    return forms


def check_help(tap, line, older, before, sample, value, forms):
    """The columns that help names are those that the command prints; returns the forms whose columns people see."""
    rows = value if isinstance(value, list) else value.get("fields", [])
    printed = {k for r in rows for k in r if not k.endswith("_certainty")}
    fits = [form for form in forms if form[0] | form[1] == printed]
    if not rows:
        return []
    tap.ok(fits, "%s on %s: help names its columns" % (line, os.path.basename(sample)), "%s, not %s" % (sorted(printed), forms))
    text = cairn(*before, "-x", line, "--format", "md", *older, sample).out.split("\n")
    under = [i for i, words in enumerate(text) if re.match(r"\| ---", words)]
    seen = {w.strip() for w in text[under[-1] - 1].strip("| ").split("|")} if under else set()
    return [(form, seen) for form in fits if seen]  # report and help are plain text


def rows_of(value):
    """A head counts as a row."""
    return len(value) if isinstance(value, list) else 1 + len(value.get("fields", []))


def try_line(tap, line, sample, schema, shapes, told):
    """Validate the answer, if there is one; the titles of the shapes that it may have.  told: the forms of help, and
    by form the columns that people saw."""
    name = os.path.basename(sample)
    older = [OLDER[sample]] if sample in OLDER and line.split()[0] in ("path-history", "diff", "dumps", "trend") else []
    if line == "growth" and sample == SHOP:
        older = SERIES[:1]  # of another program nothing grew
    before = [] if os.path.isdir(sample) else ["-x", "$kept = histo"]
    if line == "note":
        before += ["-x", "note #100 a day > " + os.devnull]
    run = cairn(*before, "-x", line + " > " + os.devnull, "-x", line, "--format", "json", *older, sample)
    if run.status not in (0, 1) or not run.out.strip():
        return set()  # the format or the sample does not have it; another one does
    value = json.loads(run.out)
    wrong = faults(value, {"anyOf": shapes}, schema)
    fits = [s["title"] for s in shapes if not faults(value, s, schema)]
    if len(shapes) == 1:
        wrong = faults(value, shapes[0], schema)
    tap.equal(wrong, [], "%s on %s is as promised" % (line, name))
    if told and not line.startswith(OWN_COLUMNS) and " -fields" not in line:
        for form, seen in check_help(tap, line, older, before, sample, value, told[0]):
            told[1].setdefault(tuple(map(frozenset, form)), set()).update(seen)
    return set(fits) if rows_of(value) else set()


def main(direct):
    tap = Tap()
    schema = json.loads(cairn("--dump-docs", "schema").out)
    folder = tempfile.TemporaryDirectory()
    made = os.path.join(folder.name, "made.hprof")
    make_dump(made)
    promised = {k: v["anyOf"] for k, v in schema["$defs"].items() if not k.startswith("_")}
    tap.equal(sorted(LINES), sorted(promised), "every command that answers is tried")
    tap.ok(faults([{"text": 7}], {"anyOf": promised["help"]}, schema), "a wrong type is seen")
    tap.ok(faults([{}], {"anyOf": promised["help"]}, schema), "a missing column is seen")
    tap.ok(faults([{"text": "", "more": 1}], {"anyOf": promised["help"]}, schema),
           "a column that is not promised is seen")
    for name, lines in LINES.items():
        seen, told = set(), (help_columns(name), {})
        for line in lines:
            line, with_rows = line.replace("{folder}", folder.name), set()
            for sample in (SHOP, GO, SAMPLE) + ((direct,) if name in ("offheap", "histo", "ls") else ()) + (
                    (made,) if name in OF_MADE else ()):
                with_rows |= try_line(tap, line, sample, schema, promised.get(name, []), told)
            if line == "dumps":
                with_rows |= try_line(tap, line, os.path.dirname(SHOP), schema, promised[name], told)
            tap.ok(with_rows, "%s has rows on some dump" % line)
            seen |= with_rows
        for (shown, _), printed in told[1].items():
            tap.ok(shown <= printed, name + ": help calls hidden what text leaves out", sorted(shown - printed))
        for shape in promised.get(name, []):
            tap.ok(shape["title"] in seen, "a result like %s was seen" % shape["title"])
    tap.done()


def direct_memory(folder):
    """A dump with a direct buffer and the JDK's count of it, and with heaps of Android, which no sample has."""
    made = buffers()
    made.android_heap("A", "app")
    count = made.new("java.util.concurrent.atomic.AtomicLong", value=1)
    made.cls("java.nio.Bits", statics=[("L", "COUNT", count)])
    made.root(add_direct(made, 1000)[0])
    path = os.path.join(folder, "direct.hprof")
    with open(path, "wb") as f:
        f.write(made.bytes())
    return path


with tempfile.TemporaryDirectory() as temporary:
    main(direct_memory(temporary))
