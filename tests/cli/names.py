#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile names: of dumps, of other files, and in what a user types.

Whatever bytes a name has, what is printed is UTF-8 without controls and bidirectional marks, each message
is one line that begins with "cairn: ", JSON and CSV can be parsed, and the name is told, escaped.
"""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, CAIRN, GO, SAMPLE, Tap  # noqa: E402

# a name, and what stands for it where it is told
NAMES = (
    (b"line\nfeed.phd", r"line\nfeed.phd"),
    (b"esc\x1b]0;title\x07\x1b[31m.phd", r"esc\x1b]0;title\x07\x1b[31m.phd"),
    (b"invalid\xff\xfe\xc0\x80.phd", r"invalid\xff\xfe\xc0\x80.phd"),
    (b"quotes\"'\\.phd", "quotes\"'\\.phd"),
    (b"-x", "-x"),
    (b"surrogate\xed\xa0\x80bidi\xe2\x80\xaephd", r"surrogate\ud800bidi\u202ephd"),
    (b"=1+2,@SUM(A1).phd", "=1+2,@SUM(A1).phd"),
    (b"\xc2\x9bcsi\xc2\x85.phd", r"\u009bcsi\u0085.phd"),
    (b"tab\tcr\rdel\x7f.phd", r"tab\tcr\x0ddel\x7f.phd"),
    (b"%s%n%d.phd", "%s%n%d.phd"),
    (b"\xf4\x90\x80\x80" + b"n" * 240, r"\xf4\x90\x80\x80" + "n" * 240),
)

# what stands before a name in a command line
COMMANDS = ("", "ls ", "refs ", "x ", "bt ", "find ", "strings /(", "histo -sort ", "histo -by ", "histo -",
            "histo | ", "histo | grep [", "histo | sort ", "histo | cut ", "histo | head ", "set ", "set top ",
            "help ", "source ", "save no/", "histo > no/", "histo >> no/", "size ( ", "dom -not ", "path #5 -not ",
            "$", "$a = ", "entries ", "cut ", "cut -plan ", "ls char[] -min ", "roots ", "roots -by ", "why ")
OPTIONS = ("--format=", "--top=", "--mem=", "--color=", "--progress=", "--sizes=", "--dump=", "--threads=", "--csv=",
           "--exe=", "--javacore=", "-f", "-ono/", "--no-", "-")

STEERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Wrong(Exception):
    pass


def run(folder, *arguments):
    """What the program prints, once it is known to be clean."""
    words = [a if isinstance(a, bytes) else a.encode() for a in arguments]
    done = subprocess.run([CAIRN.encode(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=folder, timeout=60, check=False)
    if done.returncode not in range(5):
        raise Wrong("%r: exit status %d" % (words, done.returncode))
    try:
        out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    except UnicodeDecodeError as e:
        raise Wrong("%r: not UTF-8: %s" % (words, e)) from e
    for text in (out.replace("\r\n", "\n"), err):
        found = STEERS.search(text)
        if found:
            raise Wrong("%r: %r is printed: %.300r" % (words, found.group(), text))
    for line in err.splitlines():
        if not line.startswith("cairn: "):
            raise Wrong("%r: a line of standard error is %r" % (words, line))
    return done.returncode, out, err


def need(condition, what, *seen):
    if not condition:
        raise Wrong("%s: %.600r" % (what, seen))


def dump_of_that_name(folder, name, told):
    with open(SAMPLE, "rb") as f, open(os.path.join(folder.encode(), name), "wb") as to:
        to.write(f.read(20000))  # cut, so that a warning names it, too
    _, out, err = run(folder, "-x", "info | cut file", "--", name)
    need(told in out, "info does not tell it", out)
    _, out, err = run(folder, "-x", "info", "--format", "json", "--", name)
    need(json.loads(out)["file"] == told, "json", out)
    _, out, err = run(folder, "-x", "info", "--format", "jsonl", "--", name)
    need(json.loads(out)["file"] == told, "jsonl", out)
    safe = ("'" if told.startswith(("=", "-")) else "") + told
    _, out, err = run(folder, "-x", "info", "--format", "csv", "--", name)
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    need(rows[0]["file"] == safe, "csv", out)
    run(folder, "-x", "why", "-x", "check", "--", name)
    os.remove(os.path.join(folder.encode(), name))


def told_in_errors(folder, name, told):
    path = os.path.join(folder.encode(), name)
    status, _, err = run(folder, "-x", "info", "--", name)
    need(status == 3 and told in err, "a missing dump", status, err)
    with open(path, "wb") as f:
        f.write(b"hello \x1b[31m\n")
    status, _, err = run(folder, "-x", "info", "--", name)
    need(status == 3 and told in err, "no dump", status, err)
    status, _, err = run(folder, b"-f" + name, SAMPLE)
    need(status == 2 and told in err, "a script", status, err)
    for option in (b"--exe=", b"--javacore="):
        for dump in (SAMPLE, GO):
            run(folder, option + name, "-x", "info", dump)
    os.remove(path)
    os.mkdir(path)
    for wanted, *words in ((3, "-x", "info", "--", name), (2, "-x", "info", b"-o" + name, SAMPLE)):
        status, _, err = run(folder, *words)
        need(status == wanted and told[:150] in err, "a directory", words, status, err)
    os.rmdir(path)


def typed(folder, name, told):
    quoted = b'"' + name.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
    for command in COMMANDS:
        run(folder, "-x", command.encode() + name, SAMPLE)
        run(folder, "-x", command.encode() + quoted, SAMPLE)
    status, _, err = run(folder, "-x", b"source " + quoted, SAMPLE)
    need(status == 2 and told[:150] in err, "source", status, err)
    _, out, _ = run(folder, "-x", b"help " + quoted, "-x", "history | head 1", "--format", "json", SAMPLE)
    json.loads(out)
    for option in OPTIONS:
        run(folder, option.encode() + name, SAMPLE)


def main():
    tap = Tap()
    folder = tempfile.mkdtemp(prefix="names.", dir=os.path.join(BUILD, "tests"))
    for name, told in NAMES:
        for what in (dump_of_that_name, told_in_errors, typed):
            try:
                what(folder, name, told)
                tap.ok(True, "%s: %s" % (what.__name__.replace("_", " "), ascii(name)[:60]))
            except Wrong as e:
                tap.ok(False, "%s: %s" % (what.__name__.replace("_", " "), ascii(name)[:60]), str(e))
    shutil.rmtree(folder, ignore_errors=True)
    tap.done()


main()
