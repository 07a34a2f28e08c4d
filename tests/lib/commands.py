# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of the program, as it lists them itself (cairn --dump-docs commands), and lines to run of each.

Tests that try every command take their lines from here: a new command, option or choice is tried by all of them.
What the table cannot know (a question in SQL, an object that has entries) is below, and nowhere else.

In a line {…} is a word of the dump that the test fills in: {class} a class or all objects, {object} an object, {thread}
a thread, {folder} a directory to write into.  A test may give several of a kind.  "; " is between lines of which the
later ones need the earlier ones.
"""

import functools
import itertools
import json

from cairntest import CAIRN, Run

# Words for arguments and values of options by their kind.
KINDS = {
    "object": ["{object}"], "objects": ["{object}", "{class}"], "value": ["{object}"], "class": ["{class}"],
    "set": ["{class}", "{object}"], "thread": ["{thread}"], "regex": ["o"], "file": ["{folder}/written"], "dump": ["1"],
    "dumps": ["1"], "command": ["histo"], "classes": ["java.*"], "size": ["1K"], "count": ["3"], "hash": ["1234"],
    "column": ["1"],
}
# Words that only their name in the usage explains; none: only without it (a running VM: truth/attach.py).
NAMES = {
    "FILE": ["{folder}/written"], "ROW": ["java.lang.Class"], "EXPR...": ["'info.objects > 5' 'rows(\"{class}\") < 1'"],
    "WORD...": ["retained"], "REF...": ["{object}", "{class}"], "TEXT": ["a note"], "%N|COLUMN": [], "KIND": [], "NAME": [], "COND": ["'COL = COL'"],
    "NAMES": ["all"], "VALUE": [], "WORD": ["dumpobj"], "FILE.xml": ["{folder}/its.xml"], "DIR": ["{folder}/parts"],
    "EXPR": ["'size(address) > 1'"], "KEY=VALUE,...": [], "MAP": ["{folder}/its.map"], "PERCENT": ["1"],
    "FILE.sqlite TABLE...": ["{folder}/its.sqlite"], "DUMP...": [], "PROCESS": [], "PID|NAME": [], "CLASS": [], "N...": ["1"],
    "QUESTION": ["SELECT class, count(*), sum(shallow) FROM objects GROUP BY class"],
}
# The same for one command.
OWN = {
    "save FILE": ["{folder}/saved.csv"], "profile FILE": ["{folder}/its.profile"], "index FILE": ["{folder}/its.cairn"],
    "redact FILE": ["{folder}/its.hprof"], "source FILE": ["{folder}/script"], "open FILE": ["{folder}/its.profile"],
    "report FILE": ["{folder}/its.html"], "bundle DIR": ["{folder}/away"], "export DIR": ["{folder}/parts -partition host=a,day=b"], "waste KIND": ["strings"], "diff N": ["1"], "use N": ["2"], "close N": ["1"],
    "path-history ROW": ["{class}"],
}
# Their argument is optional in the usage because an option of ALONE or a default replaces it, which writes beside the dump.
NEEDS = {"index", "find", "cut", "export", "waste"}
ALONE = {"-hash", "-plan", "-dir", "-hprof", "-oom"}
# What a command needs before it.
BEFORE = {"save": "ls {class}", "why": "histo -retained", "columns": "histo", "sets": "$some = ls {class}"}
# Lines of values and of combinations that differ in what they compute.
MORE = {
    "histo": ["histo {class} -all -sort class", "histo /a.*e/ -sort objects -r"],
    "ls": ["ls {class} -sort address -r", "ls {class} -live -min 1", "ls {class} | grep o", "ls {class} | grep- o",
           "ls {class} | sort -class | head 10 | cut class", "ls {class}; ls %1-100"],
    "entries": ["ls java.util.HashMap; entries %1", "ls java.util.LinkedList; entries %1"],
    "find": ["find '(a|o)*$' -i", "find 7"],
    "waste": ["waste", "waste objects -by holder", "waste one -by class", "waste boxed",
              "waste fields"],
    "refs": ["refs {class} -in", "refs {class} -out -by class", "refs {class} -by holder -retained"],
    "path": ["path {object} -weak -not java.*"],
    "paths": ["$all = ls {class}; paths $all -weak -depth 3", "paths {class} -r"],
    "heap": ["heap -depth 1000000", "$all = ls {class}; heap $all -each"],
    "dom": ["dom -depth 1000000"],
    "top": ["top -by class -n 1000000"],
    "size": ["$all = ls {class}; size ( $all - {object} ) & {class}"],
    "cut": ["cut {class}>{class}", "cut {class} -each"],
    "why": ["ls {class}; why %1", "roots; why"],
    "references": ["references cleaner"],
    "diff": ["diff {class}"],
    "trend": ["trend -by class -sort first_seen"],
    "path-history": ["path-history java.lang.Class -by class"],
    "sql": ["sql SELECT address, retained FROM objects ORDER BY retained DESC LIMIT 100",
            "sql SELECT source_class, field, count(*) FROM refs GROUP BY 1, 2",
            "sql SELECT count(r.field) FROM objects o JOIN refs r ON r.target = o.address",
            "sql SELECT count(value), count(path(address)) FROM objects WHERE id < 100", "sql SELECT * FROM statics"],
    "assert": ["assert 'leaks.share < 1' 'retained({class}) < 1' '(SELECT count(*) FROM objects) > 0'"],
    "export": ["export {folder}/its.db objects refs"],
    "set": ["set weak on; dom; paths {class}; histo -retained; set weak off"],
    "note": ["note {object} the first; note"],
    "columns": ["ls {class}; columns objects; columns"],
}
# Nothing of these can be compared between two ways to read a dump.
CHANGES = {"growth": "nothing grew in one dump", "index": "writes what is compared", "bundle": "lists the index, too",
           "check": "how long checks took"}
# These have no figures of the dump, or those of others; named tests have them.  Besides all that is about the session.
NO_FIGURES = {
    "entries": "what a program's own collection counts", "props": "texts", "why": "is asked about each of the others",
    "assert": "judges figures of others: assert.test", "report": "has the results of others: report.py",
    "growth": "nothing grew beside itself: growth.py", "profile": "writes what trend shows: growth.py",
    "sql": "has columns NAME_certainty: sql.py", "export": "writes figures of others: export.py",
}


class Command:
    def __init__(self, row):
        self.name, self.group = row["name"], row["group"]
        self.arguments, self.options, self.flags, self.examples = (row[k] for k in ("arguments", "options", "flags", "examples"))

    def words(self, name, kind):
        return OWN.get("%s %s" % (self.name, name)) or KINDS.get(kind) or NAMES[name]

    def heads(self):
        """The command with its arguments: without optional ones, and with each."""
        heads = []
        for n in range(len(self.arguments) + 1):
            if all(a["optional"] and self.name not in NEEDS for a in self.arguments[n:]):
                choices = [self.words(a["name"], a["kind"]) for a in self.arguments[:n]]
                heads += [" ".join([self.name, *words]) for words in itertools.product(*choices)]
        return heads

    def option_lines(self, head, column):
        for option in self.options:
            word, kind, value = option["word"], option["kind"], option["value"]
            if kind == "flag":
                values = [""] if word != "-r" else []  # with -sort
            elif kind == "choice":
                values = value.split("|")
            elif value == "COL":
                values = [column + " -r" if word == "-sort" else column]
            else:
                values = [v.replace("COL", column) for v in self.words(value, kind)]
            yield from (" ".join([self.name if word in ALONE else head, word, v]).strip() for v in values)

    def lines(self, column):
        """Lines with words in braces."""
        heads = self.heads()
        if not heads:
            return MORE.get(self.name, [])
        rest = self.arguments and self.arguments[-1]["kind"] == "rest"
        before = BEFORE[self.name] + "; " if self.name in BEFORE else ""
        lines = [before + line for line in heads + list(self.option_lines(self.name if rest else heads[0], column))]
        return list(dict.fromkeys(lines + MORE.get(self.name, [])))


@functools.lru_cache(None)
def table():
    """The commands by name, in the order of help."""
    return {row["name"]: Command(row) for row in json.loads(Run([CAIRN, "--dump-docs", "commands"]).out)}


@functools.lru_cache(None)
def shapes():
    """By command the forms of its results as JSON Schemas, and the schema that holds them."""
    schema = json.loads(Run([CAIRN, "--dump-docs", "schema"]).out)
    return {k: v["anyOf"] for k, v in schema["$defs"].items() if not k.startswith("_")}, schema


def column_of(name):
    """A column to sort by, which all forms of the results have; no time, which is another at each run."""
    forms = [form.get("items") or form["properties"].get("fields", {}).get("items", {}) for form in shapes()[0].get(name, [])]
    forms = [form.get("required", []) for form in forms]
    return next((c for c in reversed(forms[0]) if c != "milliseconds" and all(c in form for form in forms)), "shallow") if forms else ""


def groups(line):
    """Does the line group rows by a column, so that they have columns of their own?"""
    return line.endswith(" -by " + column_of(line.split("; ")[-1].split()[0]))


def filled(line, words, number):
    """The line for each choice of the words that it has, of which a word of words may be several; with options for one."""
    names = [name for name in words if "{%s}" % name in line]
    choices = [words[n] if isinstance(words[n], list) else [words[n]] for n in names]
    if " -" in line:
        choices = [[c[number % len(c)]] for c in choices]
    for values in itertools.product(*choices):
        text = line
        for name, value in zip(names, values):
            text = text.replace("{%s}" % name, str(value))
        yield text


# These are about what runs on a host: truth/processes.py, truth/live.py, truth/attach.py.
RUNNING = {"processes", "attach", "live"}


def lines(words, leave=()):
    """By command, its lines with the words of a dump; without those of the commands to leave."""
    return {name: list(dict.fromkeys(text for i, line in enumerate(command.lines(column_of(name)))
                                     for text in filled(line, words, i)))
            for name, command in table().items() if name not in leave and name != "quit" and name not in RUNNING}


def without_dump():
    """The commands about something else than a dump, those that choose dumps, and those that write."""
    return {name for name, c in table().items() if {"no dump", "switches", "writes"} & set(c.flags)}


def without_figures():
    """The commands whose results are no figures of the dump, or those of others."""
    return without_dump() | {n for n, c in table().items() if "session" in c.flags and n != "sets"} | set(NO_FIGURES)


def compare():
    """The commands that read the other dumps, too."""
    return {name for name, c in table().items() if "compares" in c.flags}


END = "-- end of an answer --"


def session(scripts, options=(), dumps=(), **more):
    """What each script (lines joined by "; ") prints last, all in one session; and the finished program."""
    words = [w for script in scripts for line in silenced(script.split("; ")) + ["help quit | !cat >/dev/null; echo '%s'" % END]
             for w in ("-x", line)]
    run = Run([CAIRN, *options, *words, *dumps], **more)
    return run.out.split(END + "\n")[:-1], run


def silenced(script):
    """All lines but the last one print nothing."""
    return [line if line.startswith(("$", "set ")) else line + " > /dev/null" for line in script[:-1]] + script[-1:]
