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
import commands  # noqa: E402
from cairntest import GO, SAMPLE, SERIES, SHOP, SOURCE, Tap, cairn  # noqa: E402
from hprofmade import add_direct, buffers  # noqa: E402
from javadump import add_locks, deadlock, with_references  # noqa: E402
from schema import faults  # noqa: E402

# Of some sample the words that lines are about.
WORDS = {SHOP: {"class": "java.lang.String", "object": "#100"}, GO: {"class": "string", "object": "#100"},
         SAMPLE: {"class": "java.lang.String", "object": ["#100", "0xe0001260"]}}
# Their rows have columns of their own.
OWN_COLUMNS = ("sql SELECT", "growth", "diff", "trend")


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


class Asked:
    """Lines in one session, and what each answered: as JSON, and in a table for people."""

    def __init__(self, lines, dumps, folder):
        self.lines, self.dumps = lines, dumps
        scripts = [line for those in lines.values() for line in those]
        answers = [commands.session(scripts, ("--format", form, "--top", "20"), dumps, cwd=folder)[0] for form in ("json", "md")]
        assert [len(a) for a in answers] == [len(scripts)] * 2, "a session ended early: %s" % (dumps,)
        self.json, self.text = (dict(zip(scripts, those)) for those in answers)

    def answers(self, name):
        """Of the command's lines those with an answer, and the value; groups have columns of their own."""
        for line in self.lines.get(name, []):
            if self.json[line].strip() and "| cut" not in line and not commands.groups(line):
                try:
                    yield line, json.loads(self.json[line])
                except ValueError:
                    yield line, "no JSON: " + self.json[line]

    def columns(self, line):
        """The columns of the last table."""
        text = self.text[line].split("\n")
        under = [i for i, words in enumerate(text) if re.match(r"\| ---", words)]
        return {w.strip() for w in text[under[-1] - 1].strip("| ").split("|")} if under else set()


def ask(folder):
    """The lines of every command on each sample, those that compare on several, and the examples of help on theirs."""
    compare = commands.compare()
    for sample, dumps in ((SHOP, [SHOP]), (GO, [GO]), (SAMPLE, [SAMPLE]), (SHOP, [SAMPLE, SHOP]), (GO, [SHOP, GO]), (SAMPLE, SERIES)):
        lines = commands.lines({"thread": "1", "folder": folder, **WORDS[sample]}, {"source", "use", "open", "close"})
        yield Asked({name: those for name, those in lines.items() if (name in compare) == (len(dumps) > 1)}, dumps, folder)
    yield Asked({"dumps": ["dumps"]}, [os.path.dirname(SHOP)], folder)
    for on in sorted({e["on"] for c in commands.table().values() for e in c.examples} - {"", "on a running VM"}):
        lines = {name: [e["line"] for e in c.examples if e["on"] == on and e["line"].split()[0] == name]
                 for name, c in commands.table().items()}
        yield Asked(lines, [os.path.abspath(os.path.join(SOURCE, dump)) for dump in on.split()[1:]], folder)


def ask_more(names, dump, folder):
    """The lines of commands that have forms which no sample shows."""
    lines = commands.lines({"thread": "1", "folder": folder, "class": "java.nio.DirectByteBuffer", "object": "#100"})
    return Asked({name: lines[name] for name in names}, [dump], folder)


def rows_of(value):
    """A head counts as a row."""
    return len(value) if not isinstance(value, dict) else 1 + len(value.get("fields", []))


def check_help(line, value, seen, forms):
    """What is wrong with the columns that help names; and the form whose columns people see."""
    rows = value if isinstance(value, list) else value.get("fields", []) if isinstance(value, dict) else []
    if not rows or line.startswith(OWN_COLUMNS) or " -fields" in line:
        return [], []
    printed = {k for r in rows for k in r if not k.endswith("_certainty")}
    fits = [form for form in forms if form[0] | form[1] == printed]
    wrong = [] if fits else ["%s: help names %s, printed are %s" % (line, forms, sorted(printed))]
    return wrong, [(tuple(map(frozenset, form)), seen) for form in fits if seen]  # report and help are plain text


def forms_seen(name, asked, shapes, schema):
    return {s["title"] for one in asked for _, value in one.answers(name) if rows_of(value)
            for s in shapes if not faults(value, s, schema)}


def try_command(tap, name, asked, shapes, schema):
    forms, told, wrong, answered, silent = help_columns(name), {}, [], 0, set()
    for one in asked:
        silent |= set(one.lines.get(name, []))
    for one in asked:
        for line, value in one.answers(name):
            answered += 1
            silent.discard(line)
            wrong += ["%s on %s: %s" % (line, one.dumps[-1], f) for f in faults(value, shapes[0] if len(shapes) == 1 else
                                                                                {"anyOf": shapes}, schema)]
            odd, shown = check_help(line, value, one.columns(line), forms)
            wrong += odd
            for form, seen in shown:
                told.setdefault(form, set()).update(seen)
    tap.none(wrong, answered, "%s: %d answers are as promised, with the columns of help" % (name, answered))
    for (shown, _), printed in told.items():
        tap.ok(shown <= printed, name + ": help calls hidden what text leaves out", sorted(shown - printed))
    titles = forms_seen(name, asked, shapes, schema)
    for shape in shapes:
        tap.ok(shape["title"] in titles, "a result like %s was seen" % shape["title"])
    return silent


def main(direct):
    tap = Tap()
    promised, schema = commands.shapes()
    promised = {name: shapes for name, shapes in promised.items() if name not in commands.RUNNING}
    folder = tempfile.TemporaryDirectory()
    made = os.path.join(folder.name, "made.hprof")
    make_dump(made)
    help_shape = {"anyOf": promised["help"]}
    tap.ok(faults([{"text": 7}], help_shape, schema), "a wrong type is seen")
    tap.ok(faults([{}], help_shape, schema), "a missing column is seen")
    tap.ok(faults([{"text": "", "more": 1}], help_shape, schema), "a column that is not promised is seen")
    asked = list(ask(folder.name))
    lacking = [name for name, shapes in promised.items() if len(forms_seen(name, asked, shapes, schema)) < len(shapes)]
    asked += [ask_more(lacking, dump, folder.name) for dump in (direct, made)]
    silent = set()
    for name, shapes in promised.items():
        silent |= try_command(tap, name, asked, shapes, schema)
    # the lines are made from the table of commands, so the program understands them
    refused = [(line, run.err) for line in sorted(silent) for run in [cairn("-x", line.split("; ")[-1], *map(os.path.abspath, SERIES), cwd=folder.name)]
               if run.status == 2 and not re.search("no (row|table)", run.err)]
    tap.none(refused, promised, "every line is understood")
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
