#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of one name: a subclass hides a field of its superclass, or an obfuscator gave one class several of a name.

The dump is made here, so which value is in which field is known.  A plain name is the field of the nearest class, "A.next"
the one that A declares, "a_2" the second of one class.  Each command must name the field that has the value, and take it
where that name is written.  Oracle: FIELDS below, what was put into the dump.
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, Tap, cairn  # noqa: E402
from hprofmade import Made  # noqa: E402

A, B, C, D, X, DEEP = "org.app.A", "org.app.B", "org.app.C", "org.lib.A", "o.X", "a.a"
SUPERCLASSES = {A: [], B: [A], C: [B, A], D: [A]}


class Planted:
    def __init__(self):
        m = self.m = Made()
        m.cls("java.lang.String", [("L", "value"), ("B", "coder")])
        self.texts = {}
        pair = [("L", "next"), ("I", "n")]
        m.cls(A, pair, statics=[("L", "shared", self.text("static A")), ("I", "count", 1)])
        m.cls(B, pair, A, statics=[("L", "shared", self.text("static B")), ("I", "count", 2)])
        m.cls(C, pair, B, statics=[("L", "shared", self.text("static C")), ("L", "shared", self.text("static C 2"))])
        m.cls(D, pair, A)  # of the same name as its superclass, in another package
        m.cls(X, [("I", "a"), ("L", "a"), ("J", "a"), ("J", "a_2")])
        m.cls(DEEP, [("L", "a")])  # a path "a.a" is no class and its field
        self.a = self.add(A, ("next", "n"))
        self.b = self.add(B, ("next", "n"), ("A.next", "A.n"))
        self.c = self.add(C, ("next", "n"), ("B.next", "B.n"), ("A.next", "A.n"))
        self.d = self.add(D, ("next", "n"), ("org.app.A.next", "org.app.A.n"))
        text = self.text("of X")
        self.x = m.new(X, a=[5, text, 9], a_2=7)
        self.inner = m.new(DEEP, a=self.text("the end"))
        self.outer = m.new(DEEP, a=self.inner)
        for at in (self.x, self.outer):
            m.root(at)

    def text(self, s):
        at = self.texts[s] = self.m.string(s)
        return at

    def add(self, name, *pairs):
        """An object with a text and a number of its own in each pair of fields; they are called by their words."""
        texts, numbers, words = [], [], {}
        for next_word, n_word in pairs:
            words[next_word], words[n_word] = "%s %s" % (name, next_word), 1000 + 10 * len(self.texts)
            texts.append(self.text(words[next_word]))
            numbers.append(words[n_word])
        at = self.m.new(name, next=texts, n=numbers)
        self.m.root(at)
        return at, words, name


def ask(path, line):
    """The answer: rows, or a dict of a head with rows in its "fields"."""
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.out.strip() else {"fields": [], "said": run.err}


def rows(path, line):
    got = ask(path, line)
    return got if isinstance(got, list) else got.get("fields", [])


def bare(value):
    return value.strip('"') if isinstance(value, str) else value


def check_names(tap, path, p, name, at, words):
    """What names fields of an object: x, ls, SQL, refs, path, find."""
    x = [(r["declared_in"], r["name"], bare(r["value"])) for r in rows(path, "x 0x%x" % at)]
    chain = [c for c in [name] + SUPERCLASSES[name] for _ in range(2)]
    tap.equal(x, [(c, k.split(".")[-1], str(v)) for c, (k, v) in zip(chain, words.items())], "%s: x" % name)
    shown = "declared_in" in cairn("-x", "x 0x%x" % at, path).out
    tap.equal(shown, len(words) > 2, "%s: x shows which class declares what, where two have one name" % name)
    ls = [r for r in rows(path, "ls %s -fields all" % name)][0]
    tap.equal({k: bare(ls.get(k)) for k in words}, words, "%s: ls -fields" % name)
    sql = rows(path, 'sql \'SELECT * FROM "class %s"\'' % name)
    tap.equal({k: sql[0].get(k) for k in words}, words, "%s: the table's columns" % name)
    texts = {v: k for k, v in words.items() if isinstance(v, str)}
    for command in ("refs 0x%x" % at, "refs 0x%x -out" % at):
        got = {bare(r["value"]): r["field"] for r in rows(path, command) if r["field"][0] != "<"}
        tap.equal(got, texts, "%s: %s" % (name, command.split(" ", 1)[-1]))
    got = rows(path, "sql \"SELECT field, target FROM refs WHERE source = '0x%x'\"" % at)
    tap.equal({r["field"]: int(r["target"], 16) for r in got}, {k: p.texts[v] for v, k in texts.items()}, "%s: refs of SQL" % name)
    for text, word in texts.items():
        step = rows(path, "path 0x%x" % p.texts[text])
        tap.equal([r["field"] for r in step if r["field"]], [word], "%s: path to %s" % (name, word))
        tap.equal([r["field"] for r in rows(path, "refs 0x%x -in" % p.texts[text])], [word], "%s: refs -in of %s" % (name, word))
    for word, n in words.items():
        if isinstance(n, int):
            tap.equal([r["field"] for r in rows(path, "find %d" % n) if r["field"]], [word], "%s: find says %s" % (name, word))


def check_words(tap, path, p, name, at, words):
    """What takes a field by its name: -fields, -sort, -where, field(), cut; also with the whole name of the class."""
    for word, value in words.items():
        owner = {"A": A, "B": B, "C": C}.get(word.split(".")[0]) if "." in word else None
        for w in [word] + ([owner + "." + word.split(".")[-1]] if owner else []):
            got = rows(path, "ls %s -fields %s" % (name, w))
            tap.equal([bare(v) for k, v in got[0].items() if k == word], [value], "%s: -fields %s" % (name, w))
            got = rows(path, "sql \"SELECT field(%d, '%s') AS v\"" % (at, w))
            tap.equal(got, [{"v": value}], "%s: field('%s')" % (name, w))
            literal = value if isinstance(value, int) else "'%s'" % value
            for also, found in ((literal, 1), ("'no'" if isinstance(value, str) else -1, 0)):
                got = rows(path, 'ls %s -where "%s = %s"' % (name, w, also))
                tap.equal(len(got), found, "%s: -where %s = %s" % (name, w, also))
            if not isinstance(value, str):
                continue
            alone = ask(path, "size 0x%x" % p.texts[value])["retained"]
            tap.equal(ask(path, "cut 0x%x.%s" % (at, w)).get("freed"), alone, "%s: cut of the object, %s" % (name, w))
            place = list(words).index(word) - len(words)  # from the end: subclasses have it there, too
            every = [list(o[1].values())[place] for o in (p.a, p.b, p.c, p.d) if o[0] == at or name in SUPERCLASSES[o[2]]]
            tap.equal(ask(path, "cut %s.%s" % (name, w)).get("freed"),
                      sum(ask(path, "size 0x%x" % p.texts[t])["retained"] for t in every), "%s: cut of the class, %s" % (name, w))
    if len(words) > 2:
        got = rows(path, "ls %s -fields next,%s -sort -%s" % (name, list(words)[-1], list(words)[-1]))
        tap.equal([k for k in got[0] if k in words], ["next", list(words)[-1]], "%s: -sort by a hidden field adds no column twice" % name)


def check_several(tap, path, p):
    """Of objects of several classes a name is the field that they share."""
    want = {at: list(words.values())[-1] for at, words, _ in (p.a, p.b, p.c)}
    got = {int(r["address"], 16): r["n"] for r in rows(path, "ls org.app.? -fields n")}
    tap.equal(got, want, "several classes: -fields has A's")
    for at, words, _ in (p.b, p.c):
        for word, n in words.items():
            if not isinstance(n, int):
                continue
            got = [int(r["address"], 16) for r in rows(path, "ls org.app.? -where 'n = %d'" % n)]
            tap.equal(got, [at] if n == want[at] else [], "several classes: -where n = %d (%s)" % (n, word))
    got = rows(path, "refs org.app.? -out -by field")
    tap.equal(sorted((r["field"], r["references"]) for r in got), [("A.next", 2), ("B.next", 1), ("next", 3)], "refs -by field")
    got = rows(path, "refs java.lang.String -in -by field")
    tap.equal(sorted((r["class"], r["field"]) for r in got if r["class"] == C), [(C, "A.next"), (C, "B.next"), (C, "next")],
              "refs -in -by field")


def check_one_class(tap, path, p):
    """a is an int, a_3 a String, a_4 a long; a_2 is the name of another field."""
    want = {"a": 5, "a_3": "of X", "a_4": 9, "a_2": 7}
    tap.equal({k: bare(v) for k, v in rows(path, "ls o.X -fields all")[0].items() if k[0] == "a" and k != "address"}, want, "X: ls")
    sql = rows(path, 'sql \'SELECT * FROM "class o.X"\'')[0]
    tap.equal({k: sql.get(k) for k in want}, want, "X: SQL")
    tap.equal([r["name"] for r in rows(path, "x 0x%x" % p.x)], list(want)[:3] + ["a_2"], "X: x")
    for word, value in want.items():
        got = rows(path, 'ls o.X -where "%s = %s"' % (word, value if isinstance(value, int) else "'%s'" % value))
        tap.equal(len(got), 1, "X: -where %s" % word)
    tap.equal([r["field"] for r in rows(path, "path 0x%x" % p.texts["of X"])], [None, "a_3"], "X: path")
    for word in ("a", "a_3", "X.a_3"):
        tap.equal(ask(path, "cut o.X.%s" % word)["freed"], ask(path, "cut 0x%x>0x%x" % (p.x, p.texts["of X"]))["freed"], "X: cut %s" % word)
    got = rows(path, "ls a.a -where \"a.a = 'the end'\"")
    tap.equal([int(r["address"], 16) for r in got], [p.outer], "a.a is a path where there is one")


def check_statics(tap, path, p):
    for name, text in ((A, "static A"), (B, "static B"), (C, "static C")):
        got = rows(path, "sql \"SELECT address FROM statics WHERE class = '%s' AND field = 'shared'\"" % name)
        tap.equal([int(r["address"], 16) for r in got], [p.texts[text]], "statics: %s" % name)
        tap.equal(bare(ask(path, "x %s.shared" % name)["value"]), text, "x %s.shared" % name)
    got = rows(path, "refs 0x%x -in" % p.texts["static C 2"])
    tap.equal([r["field"] for r in got], ["static shared_2"], "refs -in: the second of one class")


def check_index(tap, path, directory, p):
    """An index alone has no values, and the same names."""
    index = os.path.join(directory, "i.cairn")
    cairn("-x", "index " + index, path)
    away = os.path.join(directory, "away")
    os.rename(path, away)
    got = rows(index, "refs 0x%x" % p.c[0])
    tap.equal([r["field"] for r in got if r["field"][0] != "<"], ["next", "B.next", "A.next"], "an index alone")
    os.rename(away, path)


def main():
    tap = Tap()
    p = Planted()
    with tempfile.TemporaryDirectory(dir=os.path.join(BUILD, "tests")) as directory:
        path = os.path.join(directory, "fields.hprof")
        with open(path, "wb") as f:
            f.write(p.m.bytes())
        for at, words, name in (p.a, p.b, p.c, p.d):
            check_names(tap, path, p, name, at, words)
            check_words(tap, path, p, name, at, words)
        check_several(tap, path, p)
        check_one_class(tap, path, p)
        check_statics(tap, path, p)
        check_index(tap, path, directory, p)
    tap.done()


if __name__ == "__main__":
    main()
