#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How sure numbers are, in every command, on a dump of each kind of doubt.

The same figure (the bytes of an object, the objects of a class, all that is reachable) has the same
number and the same mark wherever it stands; what depends on something doubtful is marked by all
commands that show it; and why gives a reason for each mark.  Lines are those of tests/lib/commands.py.  CAIRN_QUICK: of four kinds of dumps, which have
each doubt.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import commands  # noqa: E402
from cairntest import DUMPS, GO, LONG, SAMPLE, SAMPLE_TEXT, SHOP, Tap, cairn, some  # noqa: E402

# {class}: a class with many objects, {array}: an array class, {object}: an object, {thread}: a thread.
MORE = ["find '^{pattern}$'", "find {object}", "ls {array}", "heap -depth 3", "sets -retained"]
# Each dump is asked these, and of the others each ninth by turns; in the long run all.
ALWAYS = ["info", "histo", "histo -live", "duplicate-classes", "roots -by kind", "ls {class}", "size {class}", "cut {class}", "x {object}"]
EVERY = 9


SURENESS = ["exact", "lower bound", "inferred", "unknown"]
BYTES = {"shallow", "with_parts", "retained", "freed", "wasted", "held_shallow", "shallow_below", "instances_shallow",
         "reachable_shallow", "unreachable_shallow", "weakly_reachable_shallow", "adds", "accumulated", "instance_size", "share", "with_locals"}
HELD = {"retained", "freed", "share", "children", "retained_objects", "unreachable_objects",
        "unreachable_shallow", "weakly_reachable_objects", "weakly_reachable_shallow", "adds", "accumulated", "others", "held", "held_shallow",
        "with_locals"}
REACHED = {"reachable_objects", "reachable_shallow"}
COUNTED = {"objects", "instances", "instances_shallow", "shallow", "references", "classes", "roots",
           "subclasses", "objects_below", "shallow_below", "held", "count", "wasted", "times"}


# Kinds of waste that are judgement: help waste marks them.
JUDGED = {"single", "oversized", "one", "sparse", "constant", "tails", "objects", "fields", "alignment"}


END = "-- end of an answer --"


def values_of(text):
    """The answers in what was printed."""
    values, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        values.append(value)
    return values


class Kind:
    """A dump with what is doubtful in it."""

    def __init__(self, name, path, doubts=(), options=()):
        self.name, self.path, self.doubts, self.options = name, path, set(doubts), options

    def run(self, *lines):
        words = []
        for line in lines:
            words += ["-x", line]
        older = [self.path] * any(line.split()[0] in commands.compare() - {"leaks"} for line in lines)
        done = cairn("--format", "json", *self.options, *words, *older, self.path)
        return values_of(done.out), done

    def answers(self, before, scripts):
        """What the last line of each script answers, by its first line, if it does: in one session, in which all that
        is retained is known, the line before in front of each script; in the long run each has a session of its own."""
        said, alone = {}, [script for script in scripts if LONG]
        for compares in (False, True):
            those = [script for script in scripts if (script[0].split()[0] in commands.compare() - {"leaks"}) == compares]
            for some in [[s] for s in those if s in alone] + [[s for s in those if s not in alone]]:
                words = [w for script in some for line in (before, *script, "info | !cat >/dev/null; echo '%s'" % END)
                         for w in ("-x", line)]
                done = cairn("--format", "json", *self.options, "-x", "top | head 1", *words, *[self.path] * (1 + compares))
                texts = done.out.split("\n", 1)[1].split(END)
                assert len(texts) == len(some) + 1, done
                found = [(script[0], values_of(text)) for script, text in zip(some, texts)]
                said.update((line, values[-1]) for line, values in found if values)
        return said

    def choose(self):
        """A class with several objects, an array class, an object and a thread that the dump has."""
        histo = self.run("histo")[0][0]
        names = [r["class"] for r in histo]
        once = [r for r in histo if names.count(r["class"]) == 1 and r["objects"] > 1]
        plain = [r for r in once if "[" not in r["class"] and r["class"] != "java.lang.Class"]
        arrays = [r for r in once if "[" in r["class"]]
        klass = (plain or once)[0]["class"]
        array = (arrays or once)[0]["class"]
        objects = self.run("ls '%s'" % klass)[0][0]
        threads = [t["id"] for v in self.run("threads")[0] for t in v]
        return {"class": "'%s'" % klass, "pattern": re.escape(klass).replace("\\ ", " "), "array": "'%s'" % array,
                "object": objects[0]["address"], "thread": threads[0] if threads else "0"}


def with_handles(path, to):
    """The dump with identifiers that count up, as the old profiling agent wrote them: no distance
    between objects tells how large they are."""
    data = open(path, "rb").read()
    known = sorted({int(r["address"], 16) for r in Kind("", path).run("ls *")[0][0]})
    handle = {a.to_bytes(8, "big"): (0x50000001 + i).to_bytes(8, "big") for i, a in enumerate(known)}
    pattern = re.compile(b"\0\0\0\0[" + bytes(sorted({re.escape(a.to_bytes(8, "big")[4:5])[-1] for a in known}))
                         + b"]...", re.DOTALL)
    open(to, "wb").write(pattern.sub(lambda m: handle.get(m[0], m[0]), data))
    return to


def cut(path, to, part):
    data = open(path, "rb").read()
    open(to, "wb").write(data[:int(len(data) * part)])
    return to


def parts(value):
    """Head and rows of a result."""
    if isinstance(value, list):
        return {}, value
    rows = value.get("fields", [])
    return {k: v for k, v in value.items() if k != "fields"}, rows


def mark(row, column):
    if row.get(column) is None:
        return "unknown"
    return row.get(column + "_certainty", "exact")


def is_figure(row, column):
    number = row[column]
    return not column.endswith("_certainty") and not isinstance(number, (bool, str)) and number is not None


# --- the same figure, wherever it appears -----------------------------------------------------------

def of_object(row, key="address"):
    for column in ("shallow", "retained", "children"):
        if column in row:
            yield ("object", row[key], column), row, column


def of_class(row, name, objects="objects", shallow="shallow"):
    yield ("class", name, "objects"), row, objects
    yield ("class", name, "shallow"), row, shallow


def figures(line, words, value):
    """What each number is, as (key, row, column)."""
    head, rows = parts(value)
    verb, name = line.split()[0], words["class"].strip("'")
    if line == "info":
        yield ("dump", "objects"), head, "objects"
        yield ("dump", "shallow"), head, "shallow"
    elif line == "size *":
        yield ("dump", "objects"), head, "objects"
        yield ("dump", "shallow"), head, "shallow"
    elif line == "size {class}":
        yield from of_class(head, name)
        yield ("gone", "bytes"), head, "retained"
        yield ("gone", "objects"), head, "retained_objects"
    elif line == "size {object}":
        yield ("object", words["object"], "shallow"), head, "shallow"
        yield ("object", words["object"], "retained"), head, "retained"
        yield ("gone object", "objects"), head, "retained_objects"
    elif line == "cut {class}":
        yield ("gone", "objects"), head, "objects"
        yield ("gone", "bytes"), head, "freed"
    elif line == "cut {object}":
        yield ("gone object", "objects"), head, "objects"
        yield ("object", words["object"], "retained"), head, "freed"
    elif verb == "sets":
        for row in rows:
            yield from of_class(row, name)
            yield ("gone", "bytes"), row, "retained"
    elif line in ("histo", "histo {class}", "top -by class", "duplicate-classes"):
        for row in rows:
            yield from of_class(row, row["class"])
            if "retained" in row:
                yield ("class", row["class"], "retained"), row, "retained"
    elif line == "tree":
        for row in rows:
            yield from of_class(row, row["class"])
    elif line == "tree -by package":
        for row in rows:
            if row["classes"] == 1:
                yield from of_class(row, row["name"])
                yield ("class", row["name"], "retained"), row, "retained"
    elif line in ("histo -by package", "top -by package"):
        for row in rows:
            for column in ("objects", "shallow", "retained"):
                yield ("package", row["package"], column), row, column
    elif line in ("histo -by loader", "top -by loader", "loaders"):
        for row in rows:
            loader = row["address" if verb == "loaders" else "loader"]
            count = "instances" if verb == "loaders" else "objects"
            for what, column in (("objects", count), ("shallow", "shallow"), ("retained", "retained")):
                if loader:
                    yield ("loader", loader, what), row, column
    elif verb == "find":
        for row in rows:
            if row["kind"] == "class":
                yield from of_class(row, row["name"])
            elif row["kind"] in ("object", "string", "global", "field", "key", "enum"):
                yield ("object", row["address"], "shallow"), row, "shallow"
    elif verb == "x" and "instances" in head:
        yield from of_class(head, name, "instances", "instances_shallow")
        yield from of_object(head)
    elif verb == "x":
        yield from of_object(head)
        for row in rows:
            if row.get("address"):
                yield from of_object(row)
    elif verb in ("ls", "strings", "refs", "roots", "path", "bt", "dom", "heap", "top", "leaks", "threads"):
        for row in rows if "-by holder" not in line else []:  # dom -by sums what hangs at one place: no address, no figure of others
            if row.get("address") and row.get("objects", 1) == 1:  # of heap one may be a chain of many
                yield from of_object(row)


def sums(value, column):
    """The sum of a column and the mark of its least sure part."""
    rows = [r for r in parts(value)[1] if r.get(column) is not None]
    worst = max([SURENESS.index(mark(r, column)) for r in rows] or [0])
    silent = not rows and any(column in r for r in parts(value)[1])
    return sum(r[column] for r in rows), "unknown" if silent else SURENESS[worst]


def same_figures(tap, kind, results, words):
    found, seen = {}, 0
    twice = {r["class"] for r in parts(results["duplicate-classes"])[1]}  # which of them a name means is open
    for line, value in results.items():
        for key, row, column in figures(line, words, value):
            if column not in row or (key[0] == "class" and key[1] in twice):
                continue
            if key[-1] in ("retained", "children") and row[column] is None:
                continue
            got = (row[column], mark(row, column))
            found.setdefault(key, {}).setdefault(got, []).append(line)
            seen += 1
    wrong = ["%s: %s" % (" ".join(map(str, k)), "; ".join("%s %s in %s" % (n, m, ", ".join(sorted(set(w))[:4]))
                                                           for (n, m), w in v.items()))
             for k, v in found.items() if len(v) > 1]
    several = sum(len(w) > 1 for v in found.values() for w in v.values())
    tap.none(wrong[:20], several, "%s: %d figures of %d numbers are the same everywhere" % (kind.name, len(found), seen),
             11 if not LONG else 51 if kind.name == "Go" else 101)
    info = parts(results["info"])[0]
    pairs = []
    if "names" not in kind.doubts:
        pairs += [("histo", "objects", "objects"), ("histo", "shallow", "shallow")]
        pairs += [("histo -live", w, "reachable_" + w) for w in ("objects", "shallow")]
    pairs += [("roots -by kind", "roots", "root_entries")]
    wrong, pairs = [], [pair for pair in pairs if pair[0] in results]
    for line, column, word in pairs:
        if sums(results[line], column) != (info[word] or 0, mark(info, word)):
            wrong.append("%s of %s: %s, but %s of info: %s %s" % (
                column, line, sums(results[line], column), word, info[word], mark(info, word)))
    tap.none(wrong, pairs, "%s: sums of rows are the totals of info, as sure" % kind.name)


# --- what must be marked ----------------------------------------------------------------------------

def allowed(kind, line, row, column):
    """Marks that the number may have."""
    verb, value = line.split()[0], row[column]
    single = "address" in row and verb not in ("loaders", "dups", "duplicate-classes") and row.get("kind") != "class"
    single |= verb in ("path", "x") or line == "size {object}"
    if verb == "overview" and column in ("bytes", "share"):  # of several columns of other commands
        if row["section"] == "also":
            return set(SURENESS)
        column = "shallow" if row["section"] == "class" else "retained"
    if column.startswith("d_"):  # how it changed in no time is as sure as what it is
        return {"exact"} if mark(row, column[2:]) == "exact" else {"lower bound", "inferred", "unknown"}
    if verb == "waste" and column in ("wasted", "share"):
        if row["kind"] in JUDGED:
            return {"inferred"}
        column = "wasted"  # the share is that of all objects, whatever roots reach
    if column == "slope":  # no bound of it follows from bounds of what is retained
        return {"exact"} if mark(row, "retained") == "exact" else {"inferred", "unknown"}
    if column == "heap_max":  # HPROF has what it follows from
        return {"exact", "inferred"}
    if column == "waiters":  # of a monitor HPROF records none
        return {"inferred"} if row.get("kind") == "monitor" and "roots" not in kind.doubts else {"exact"}
    if column in ("file_size", "object_size", "wanted"):
        return {"exact"}
    if "roots" in kind.doubts and column in HELD | REACHED:
        return {"inferred"}
    if "sizes" in kind.doubts and column in BYTES:
        return {"inferred"} if value else {"exact", "inferred"}  # nothing has no size that is assumed
    if "cut" in kind.doubts and column in HELD:
        return {"inferred"}
    if "cut" in kind.doubts and column in REACHED:
        return {"lower bound", "inferred"}  # of the latter where no system class was read
    if "cut" in kind.doubts and column in COUNTED and not single and verb not in ("refs", "cut"):
        return {"lower bound", "inferred"}
    if not kind.doubts - {"joint"}:
        joint = column in ("retained", "share") and (verb == "loaders" or not row.get("address"))
        joint |= column == "with_locals"
        return {"exact", "lower bound"} if joint else {"exact"}
    return set(SURENESS)


def must_be_marked(tap, kind, results):
    wrong, seen, marked = [], 0, 0
    for line, value in results.items():
        head, rows = parts(value)
        for row in ([head] if head else []) + rows:
            for column in row:
                if not is_figure(row, column) or (row is head and line == "info" and column == "typed_objects"):
                    continue
                may = allowed(kind, line, row, column)
                seen += 1
                marked += mark(row, column) != "exact"
                if mark(row, column) not in may:
                    wrong.append("%s: %s %s is %s, not %s" % (line, column, row[column], mark(row, column),
                                                             " or ".join(sorted(may))))
    tap.none(wrong[:30], marked if kind.doubts else seen, "%s: %d numbers are marked as they must be, %d as doubtful"
             % (kind.name, seen, marked))


# --- why --------------------------------------------------------------------------------------------

def ask_why(tap, kind, results, words):
    """Of the first row of each result, and of each head."""
    wrong, asked = [], 0
    answers = kind.answers("$marks = " + words["class"], [[next(commands.filled(line, words, 0)), "why %1" if parts(value)[1] else "why"]
                                                              for line, value in results.items()])
    for line, value in results.items():
        head, rows = parts(value)
        said = {}
        for row in answers[next(commands.filled(line, words, 0))]:
            said.setdefault(row["what"], row)
        told = rows[0] if rows else head
        for column in told:
            if not is_figure(told, column) or column not in said:
                continue
            sure, words_why = said[column]["certainty"], said[column]["why"]
            asked += 1
            want = mark(told, column)
            reason = words_why == "exact" if sure == "exact" else re.match("(a )?%s: .{15,}" % sure, words_why)
            if sure != want or not reason:
                wrong.append("%s: %s is %s, why says %s: %s" % (line, column, want, sure, words_why))
    tap.none(wrong[:20], asked, "%s: why gives the reason of %d marks" % (kind.name, asked), 21 if LONG else 7)


def lines_of(number):
    """Lines of the commands that have figures, with words in braces, for a dump of this number."""
    those = commands.lines({}, commands.without_figures())
    lines = [line for lines in those.values() for line in lines if "; " not in line and "| cut" not in line
             and not commands.groups(line)] + MORE
    return list(dict.fromkeys(ALWAYS + some(lines, EVERY, number)))


def look_at(tap, number, kind, worked):
    words = kind.choose()
    lines = {next(commands.filled(line, words, 0)): line for line in lines_of(number)}
    results = {lines[asked]: value for asked, value in kind.answers("$marks = " + words["class"], [[line] for line in lines]).items()}
    worked.update(results)
    same_figures(tap, kind, results, words)
    must_be_marked(tap, kind, results)
    ask_why(tap, kind, results, words)


def main():
    tap = Tap()
    worked = set()
    with tempfile.TemporaryDirectory() as folder:
        handles = with_handles(SHOP, os.path.join(folder, "handles.hprof"))
        kinds = [
            Kind("sound", SHOP, ["joint"]),
            Kind("assumed sizes", handles, ["sizes"]),
            Kind("inferred roots", SAMPLE, ["roots"]),
            Kind("inferred roots, shared names", SAMPLE_TEXT, ["roots", "names"]),
            Kind("cut", cut(SHOP, os.path.join(folder, "cut.hprof"), 0.6), ["cut"]),
            Kind("cut, inferred roots", cut(SAMPLE, os.path.join(folder, "cut.phd"), 0.6), ["cut", "roots"]),
            Kind("cut, assumed sizes", cut(handles, os.path.join(folder, "cut2.hprof"), 0.6), ["cut", "sizes"]),
            Kind("Go", GO, ["blocks"]),
        ]
        agent = os.path.join(DUMPS, "hotspot", "sun_jdk6_31_hprofagent_nocompressedOops.hprof")
        if DUMPS and os.path.exists(agent):
            kinds.append(Kind("real: old profiling agent", agent, ["sizes"]))
        tiny = os.path.join(DUMPS, "grove", "grove-tiny-gz.hprof.gz")  # of two classes it is in doubt
        if DUMPS and os.path.exists(tiny):
            kinds.append(Kind("real: doubtful sizes", tiny, ["some sizes"]))
        if os.environ.get("CAIRN_QUICK"):
            kinds = [kind for kind in kinds if kind.name in ("sound", "assumed sizes", "cut, inferred roots", "Go")]
        for number, kind in enumerate(kinds):
            look_at(tap, number, kind, worked)
    never = LONG and set(commands.table()) - commands.without_figures() - {line.split()[0] for line in worked}
    tap.none(never or [], worked, "every command worked on some dump")
    tap.done()


if __name__ == "__main__":
    main()
