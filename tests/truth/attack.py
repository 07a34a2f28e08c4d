#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs that broke the program once: what each is answered with, and a file that shrinks while it is open.

The shapes are made here, small; the files that did the damage are tried too where CAIRN_DUMPS has
them (attack/).  Each is opened with every command that it once broke; the status and the message are
held, and so is that it ends soon.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "tools")]
from cairntest import BUILD, DUMPS, GO, QUICK, SAMPLE, SAMPLE_TEXT, SHOP, Tap, cairn, some  # noqa: E402
from godump import records  # noqa: E402
from javadump import named_thread, with_references  # noqa: E402
from costly_dumps import SHAPES  # noqa: E402

SOON = 60  # seconds, on a machine with much else to do; these took minutes or never ended
EVERY = some(("info", "histo", "check", "x #0", "refs #0", "path #0", "dom", "leaks", "roots", "threads",
         "bt 0", "strings", "dups", "globals", "size #0", "ls * | head 5"), 4 if QUICK else 1)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def go_with_word(size):
    """The sample with another size of pointers, which is the second number of the parameters."""
    data = bytearray(read(GO))
    at = next(r.begin for r in records(GO) if r.kind == "params")
    assert (data[at], data[at + 1], data[at + 2]) == (6, 0, 8)
    data[at + 2] = size
    return bytes(data)


def made():
    """Name, ending, bytes, status, what the one message must say, commands, of which file it is the like."""
    text = read(SAMPLE_TEXT)
    last = text.rindex(b"\n0x")
    name = text.index(b"com/acme/shop/Order")
    nul = text[:name + 8] + b"\0" + text[name + 9:]
    for size in (0, 3):
        yield ("go, pointers of %d bytes" % size, ".dump", go_with_word(size), 4,
               r"byte \d+ give pointers %d bytes" % size, EVERY)
    yield "classic, cut at a record", ".txt", text[:last + 1], 4, r"truncated at byte %d" % (last + 1), EVERY
    yield "classic, cut in its totals", ".txt", text[:-3], 4, r"truncated at byte %d" % (len(text) - 3), EVERY
    yield "classic, NUL in a name", ".txt", nul, 0, "", EVERY
    yield ("classic, NUL in the first name", ".txt",
           b"".join(b"0x%08X [16] OBJ a%cb\n\t\n" % (32 * i + 32, 0) for i in range(40)), 4, "truncated at byte", EVERY)
    yield ("classic, sizes that add up to more than 2^64", ".txt",
           b"".join(b"0x%08X [%d] OBJ a\n\t\n" % (16 * i + 16, 1 << 48) for i in range(1 << 16)), 3,
           "total size of the objects exceeds", ("info",))
    yield "phd, nothing to sort", ".phd", read(SAMPLE), 0, "", ("path #100", "paths #100", "leaks")
    for shape, n, status, says in (("resync", 20000, 4, r"byte \d+"), ("resync-statics", 20000, 4, r"byte \d+"),
                                   ("resync-many", 20000, 4, r"byte \d+"), ("collide", 4000, 0, ""),
                                   ("frames", 1000, 0, ""), ("chain", 3000, 0, ""), ("cycle", 3000, 0, ""),
                                   ("roots", 20000, 0, ""), ("longname", 50000, 0, ""),
                                   ("shared-name", 60, 0, ""), ("nested-name", 300, 0, ""),
                                   ("wide-thread", 1000, 0, "")):
        yield "hprof, " + shape, ".hprof", SHAPES[shape](n), status, says, EVERY


# The files themselves, where the program once was asked these.
REAL = {
    "go-wordsize0-sigfpe.dump": (4, "give pointers 0 bytes", ("x #0", "info")),
    "classic-cut-in-trailer.txt": (4, "truncated at byte 193898", ("info",)),
    "classic-nul-overread.txt": (0, "", ("info", "histo")),
    "classic-sample-overread.txt": (4, r"byte \d+", ("info", "histo")),
    "ub-qsort-null.phd": (0, "", ("path #100",)),
    "tty-long-class-name.hprof": (0, "", ("histo",)),
    "threads-frames-amplify.hprof": (0, "", ("threads | head 3",)),
    "resync-quadratic-1m.hprof": (4, r"byte \d+", ("info",)),
    "idmap-collision-5e4.hprof": (0, "", ("info",)),
    "idmap-collision-2e5.hprof": (0, "", ("info",)),
    "superclass-chain-1e5.hprof": (0, "", ("check", "leaks")),
    "supercycle-1e5.hprof": (0, "", ("check", "leaks")),
    "roots-1e6.hprof": (0, "", ("roots | head 3", "bt 0 | head 3")),
}


def check(tap, name, path, status, says, commands):
    lines = [word for command in commands for word in ("-x", command)]
    run = cairn(*lines, path, timeout=SOON)
    begin = "cairn: " if status == 3 else "cairn: warning: "  # 3: the dump cannot be opened at all
    warned = [line for line in run.err.splitlines() if line.startswith(begin)]
    # "nothing found" or "this format cannot tell" may be the answer to some of them, and is told first
    allowed = (3,) if status == 3 else (status, 1)
    tap.ok(run.status in allowed, "%s: its commands answer" % name, run)
    opened = cairn("-x", "info", path, timeout=SOON)
    tap.ok(opened.status == status, "%s: status %d" % (name, status), opened)
    tap.ok(len(warned) == bool(says) and re.search(says, "".join(warned)), name + ": one warning, of the place", run)


# Commands whose numbers come of values in the file, and some of whose numbers do not.
OF_VALUES = ("dups", "dups | sort -count | head 5 | cut count,wasted", "strings", "strings nothing-is-so",
             "find Berlin")
NOT_OF_VALUES = ("histo", "size *", "ls java.lang.String", "path 0xe00200a8", "dom")
LINES = some(OF_VALUES, 3) + some(NOT_OF_VALUES, 3)
WITHOUT_TOTAL = ("find Berlin", "size *", "path 0xe00200a8")
NUMBERS = {"count", "shallow", "with_parts", "retained", "wasted", "length", "arrays", "objects"}


def unmarked(text):
    """A table without marks and what they widen."""
    return re.sub(r" +", " ", text.replace("~", ""))


def check_marks(tap, path, how, command, lines):
    """Every number of a row that depends on the file's values is inferred then, in all formats; others stay exact."""
    def after(line, *options):
        shutil.copy(SHOP, path)
        return cairn(*options, "-x", "histo | !" + command, "-x", line, path)
    for line in lines:
        marked = line in OF_VALUES
        rows = json.loads(after(line, "--format", "json").out)
        numbers = [(row, row.get(name + "_certainty") == "inferred") for row in (rows if isinstance(rows, list) else [rows])
                   for name in NUMBERS & row.keys() if row[name] is not None]
        no_rows = marked and ("nothing" in line or how == "shrinks to nothing")
        if no_rows:
            tap.equal(rows, [], "a file that %s: no row of %s" % (how, line))
        else:
            tap.none([row for row, inferred in numbers if inferred != marked][:3], numbers,
                     "a file that %s: numbers of %s are %s, JSON" % (how, line, "inferred" if marked else "as sure as before"))
        head = after(line, "--format", "csv").out.split("\r\n")[0]
        tap.ok(head and ("_certainty" in head) == (marked and not no_rows), "the same in CSV: " + line, head)
        shown = after(line).out.splitlines()
        cells = [re.sub(r"0x\w+", "", text) for text in shown if re.match(r"~?[\d,]+ \w+( |$)", text)]
        if not no_rows and line not in WITHOUT_TOTAL:
            tap.none([text for text in cells if ("~" in text) != marked], cells, "the same of totals: " + line)
    texts = after("dups").out.splitlines()
    tap.ok(re.match(r"~[\d,]+ Strings, ~[\d,]+ different texts; one of each saves ~", texts[-1]),
           "a file that %s: what the sentence of dups counts is marked" % how, texts[-1])
    why = cairn("-x", "histo | !" + command, "-x", "dups", "-x", "why %1", path).out
    tap.ok(how == "shrinks to nothing" or "the file has changed since it was loaded" in why,
           "a file that %s: why tells the reason" % how, why)
    value = after("x #100").out
    good = re.search(r"shallow +40\n", value) and re.search(r"newsletter +boolean +~(true|false)\n", value)
    tap.ok(how == "shrinks to nothing" or good,
           "a file that %s: x marks what it reads, and not what the heap knows" % how, value)


def check_shrinking(tap, folder):
    """A file of which half goes away between two commands: the shell does it."""
    os.environ["CAIRN_KEEP_MAPPING"] = "1"  # a copy, as sanitized builds make one, would not shrink
    path = os.path.join(folder, "shop.hprof")
    half = os.path.getsize(SHOP) // 2
    for how, command, status, says in (
            ("shrinks", "truncate -s %d %s" % (half, path), 4, "the file shrank or is unreadable from byte %d on" % half),
            ("shrinks to nothing", "truncate -s 0 " + path, 4, "the file shrank or is unreadable from byte 0 on"),
            ("is written to", "touch -d tomorrow " + path, 4, "the file was changed after loading")):
        shutil.copy(SHOP, path)
        before = cairn("-x", "strings", path)
        run = cairn("-x", "histo | !" + command, "-x", "strings", "-x", "check", "-x", "info", path)
        tap.equal(run.status, status, "a file that %s after it was loaded: status" % how)
        tap.equal(run.err.count("cairn: warning: "), 1, "a file that %s: one warning" % how)
        tap.equal((run.out.count(says), run.err.count(says)), (4, 1),
                  "a file that %s: each answer says so, info twice" % how)
        there = unmarked(before.out).rstrip() in unmarked(run.out)
        tap.ok(before.status == 0 and there == (how == "is written to"),
               "a file that %s: texts are %s" % (how, "there" if there else "missing"))
        shutil.copy(SHOP, path)
        machine = cairn("--format", "json", "-x", "histo | !" + command, "-x", "strings", path)
        tap.ok(machine.status == status and says in machine.err, "a file that %s: JSON and a warning" % how, machine.err)
        check_marks(tap, path, how, command, LINES if how == "shrinks" else ("dups", "histo"))
    shutil.copy(SAMPLE, path)
    run = cairn("-x", "histo | !truncate -s 100 " + path, "-x", "histo", "-x", "check", path)
    tap.equal((run.status, run.err), (0, ""), "a format without values is not read again")


COUNTED = os.path.join(BUILD, "tests", "tools", "cairn-counted")  # can be held up: tests/tools/steps.h


def check_shrinking_while_read(tap, folder):
    """A file that shrinks while references are read is told as that, not as damage."""
    if not os.path.exists(COUNTED):
        return tap.skip("a file that shrinks while it is read", "this build counts no steps")
    path = os.path.join(folder, "reading.hprof")
    env = dict(os.environ, CAIRN_KEEP_MAPPING="1", CAIRN_SLOW="reading references:300000", LC_ALL="C.UTF-8")
    shutil.copy(SHOP, path)
    with subprocess.Popen([COUNTED, "--progress", "always", "-t", "1", "-x", "info", path], env=env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
        seen, more = b"", b"?"
        while more and b"reading references" not in seen:
            more = os.read(run.stderr.fileno(), 4096)
            seen += more
        os.truncate(path, 100)
        try:
            words = run.communicate(timeout=SOON)[1].decode()
        except subprocess.TimeoutExpired:
            run.kill()
            words = "it goes on"
    last = re.split(r"[\r\n]+", words.strip())[-1]
    tap.ok(run.returncode == 3 and last.endswith(
        "reading.hprof: the file shrank or became unreadable from byte 100 on while cairn read it"),
        "a file that shrinks while it is read: said so", (run.returncode, last))


def check_shared_locals(tap, folder):
    """A map of ThreadLocals that all threads name: its entries are rows once, not for each thread."""
    threads, entries = 600, 600
    d = with_references()
    map_of = "java.lang.ThreadLocal$ThreadLocalMap"
    made = [d.new(map_of + "$Entry", value=d.string("v")) for _ in range(entries)]
    table = d.array(made, map_of + "$Entry[]")
    shared = d.new(map_of, table=table)
    for i in range(threads):
        t, _ = named_thread(d, "t%d" % i)
        d.put(t, threadLocals=shared, inheritableThreadLocals=d.new(map_of, table=table))
    path = os.path.join(folder, "locals.hprof")
    d.write(path)
    run = cairn("--format", "json", "-x", "threadlocals", path, timeout=SOON)
    found = json.loads(run.out) if run.status == 0 else []
    tap.equal(len(found), entries, "threads that share a map: each of its entries is one row")
    said = cairn("-x", "threadlocals | head 1", path).out
    tap.ok("1,199 tables of values belong to several threads" in said, "and that is said", said)


def check_long_archive(tap, folder):
    path = os.path.join(folder, "long.zip")
    with zipfile.ZipFile(path, "w") as z:
        for i in range(10007):
            z.writestr("f%05d" % i, read(SAMPLE) if i < 2 else b"x")
    said = cairn("-x", "dumps", path, timeout=SOON).out
    tap.ok("7 more files of the archive are not listed (limit: 10,000)" in said,
           "an archive of more files than are listed: that is said", said[-400:])


def check_config(tap, folder):
    """A configuration of 20,000 lines of a kind is read in no more than a moment."""
    os.makedirs(os.path.join(folder, "config", "cairn"))
    for what, line in (("views", "view v%d = SELECT 1\n"), ("lines of one", "progress = %d \\\n"), ("keys", "key F5 = ls %d\n")):
        with open(os.path.join(folder, "config", "cairn", "config"), "w", encoding="ascii") as f:
            f.writelines(line % i for i in range(20000))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = subprocess.run([os.path.join(BUILD, "cairn"), "--plain", SHOP], input=b"q\n", capture_output=True, check=False,
                             timeout=SOON, env=dict(os.environ, XDG_CONFIG_HOME=os.path.join(folder, "config")))
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        tap.ok(run.returncode == 0 and took < 3, "20,000 %s: soon read" % what, (run.returncode, took, run.stderr[-300:]))


def main():
    tap = Tap()
    folder = tempfile.mkdtemp(prefix="attack.", dir=os.path.join(BUILD, "tests"))
    try:
        for name, ending, data, status, says, commands in some(made(), 2 if QUICK else 1):
            path = os.path.join(folder, "dump" + ending)
            with open(path, "wb") as f:
                f.write(data)
            check(tap, name, path, status, says, commands)
        check_shared_locals(tap, folder)
        check_long_archive(tap, folder)
        check_config(tap, folder)
        check_shrinking(tap, folder)
        check_shrinking_while_read(tap, folder)
    finally:
        shutil.rmtree(folder)
    for name, (status, says, commands) in REAL.items():
        path = os.path.join(DUMPS, "attack", name)
        if DUMPS and os.path.exists(path):
            check(tap, name, path, status, says, commands)
        else:
            tap.skip(name, "CAIRN_DUMPS has no attack/" + name)
    tap.done()


main()
