#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles as files: how they are written, that no value of the dump is in them, and what comes of bad ones.

Whatever is wrong with an older dump or a profile: it is named in a sentence, and the others are compared.
"""

import gzip
import json
import os
import re
import sqlite3
import struct
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import hprof  # noqa: E402
from cairntest import CAIRN, MKDUMP, SERIES, SHOP, Run, Tap, cairn, skip_all  # noqa: E402


def rows(line, dumps, *options):
    done = cairn("--format", "json", *options, "-x", line, *dumps)
    if done.status not in (0, 1) or not done.out:
        raise RuntimeError("%s: %s" % (line, done))
    return json.loads(done.out)


def sql(path, *lines):
    db = sqlite3.connect(path)
    for line in lines:
        db.execute(line)
    db.commit()
    db.close()


def checksum(path):
    """As doc/profile-format.md describes it."""
    total, db = 0, sqlite3.connect(path)
    for asked in ("SELECT objects, objects_certainty, objects_reason, shallow, shallow_certainty, shallow_reason, reachable, "
                  "reachable_certainty, reachable_reason FROM profile", "SELECT * FROM string ORDER BY id",
                  "SELECT * FROM sort ORDER BY id", "SELECT * FROM row ORDER BY id"):
        for value in (value for row in db.execute(asked) for value in row):
            held = b"\5" if value is None else value.encode() + b"\3" if isinstance(value, str) else struct.pack("<qB", value, 1)
            total = zlib.crc32(held, total)
    stated = db.execute("SELECT checksum FROM profile").fetchone()[0]
    db.close()
    return total == stated


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, held):
    with open(path, "wb") as f:
        f.write(held)
    return path


# --- what is wrong -------------------------------------------------------------------------------

FORGED = { # what is done to a good profile, and words of the sentence
    "newer": (["PRAGMA user_version = 7"], "a profile of version 7, written by a newer cairn"),
    "circle": (["UPDATE row SET parent = id WHERE parent IS NOT NULL"], "its parent is not an earlier path"),
    "circles": (["UPDATE row SET parent = (SELECT max(id) FROM row) WHERE parent IS NOT NULL"], "its parent is not an earlier path"),
    "beyond": (["UPDATE row SET words = 4294967296"], "its string does not exist"),
    "negative": (["UPDATE row SET objects = -1"], "invalid number of objects"),
    "real": (["UPDATE row SET shallow = 0.5"], "invalid number of"),
    "null": (["UPDATE row SET shallow = NULL"], "invalid number of"),
    "text": (["UPDATE row SET objects = 'many'"], "invalid number of"),
    "blob": (["UPDATE string SET text = x'00ff'"], "it is not a text"),
    "sort": (["UPDATE row SET sort = 77"], "its sort is unknown"),
    "empty": (["DELETE FROM profile"], "does not name its dump"),
    "gap": (["DELETE FROM row WHERE id = 3"], "ids are not consecutive"),
    "view": (["DROP VIEW named", "ALTER TABLE string RENAME TO other",
              "CREATE VIEW string AS SELECT id, text FROM other"], "not those of a profile"),
    "trigger": (["CREATE TRIGGER t INSERT ON row BEGIN DELETE FROM row; END"], "not those of a profile"),
    "index": (["CREATE INDEX i ON row (words)"], "not those of a profile"),
    "column": (["ALTER TABLE string ADD COLUMN more AS (zeroblob(100000000))"], "not those of a profile"),
    "wide": (["CREATE TABLE wide (%s)" % ", ".join("c%d" % i for i in range(1500))], "malformed"),
    "deep": (["CREATE VIEW deep AS SELECT %s1" % ("1 + " * 500)], "malformed"),
    "wal": (["PRAGMA journal_mode = wal"], "WAL mode"),
    "other": (["PRAGMA application_id = 1"], "not a profile of cairn"),
    "one more": (["UPDATE row SET objects = objects + 1 WHERE id = 2"], "do not match its checksum"),
    "swapped": (["UPDATE string SET text = (SELECT text FROM string WHERE id = 3) WHERE id = 2"], "do not match its checksum"),
    "lost": (["DELETE FROM row WHERE id = (SELECT max(id) FROM row)"], "do not match its checksum"),
    "total": (["UPDATE profile SET shallow = shallow - 1"], "do not match its checksum"),
    "summed": (["UPDATE profile SET checksum = (checksum + 1) % 4294967296"], "do not match its checksum"),
    "no sum": (["UPDATE profile SET checksum = 'none'"], "data about the dump is invalid"),
    "string": (["UPDATE string SET text = printf('%.*c', 3000000, 'x') WHERE id = 0"], "too big"),
}
# what may be: the sentence is about something else, or there is none
ODD = {
    "escapes": "UPDATE string SET text = char(27) || '[2J' || char(7) || text",
    "same words": "UPDATE string SET text = 'x'",
    "huge": "UPDATE row SET objects = 9223372036854775807, shallow = 9223372036854775807, retained = NULL",
    "none": "DELETE FROM row",
}


def bad_files(folder, held):
    """Path and words of the sentence, by name."""
    bad = {}
    for name, (lines, words) in FORGED.items():
        path = write(os.path.join(folder, name), held)
        sql(path, *lines)
        bad[name] = path, words
    path = os.path.join(folder, "mine")
    sql(path, "CREATE TABLE mine (a)")
    bad["mine"] = path, "not a profile of cairn"
    for name, n in ("cut", len(held) // 2), ("page", 1024), ("head", 60):
        bad[name] = write(os.path.join(folder, name), held[:n]), "it is truncated"
    packed = gzip.compress(held)
    bad["cut.gz"] = write(os.path.join(folder, "cut.gz"), packed[:-100]), "damaged profile"
    bad["sum.gz"] = write(os.path.join(folder, "sum.gz"), packed[:-8] + b"sums" + packed[-4:]), "damaged profile"
    path = write(os.path.join(folder, "unfinished"), held)
    write(path + "-journal", bytes.fromhex("d9d505f920a163d7") + bytes(504))
    bad["unfinished"] = path, "incompletely written"
    bad["folder"] = folder, "directory"
    bad["missing"] = os.path.join(folder, "nowhere"), "no such file"
    bad["nothing"] = write(os.path.join(folder, "nothing"), b""), "empty"
    bad["words"] = write(os.path.join(folder, "words"), b"just some words\n" * 9), "not a heap dump"
    with open(SHOP, "rb") as f:
        bad["dump"] = write(os.path.join(folder, "dump"), f.read(40)), "before its first object"
    return bad


def check_bad(t, folder, good, held):
    many = bad_files(folder, held)
    for name, (path, words) in many.items():
        listed = rows("dumps", [path, good, SHOP])
        t.ok(words in (listed[0]["damage"] or "") and path in listed[0]["damage"],
             "%s: dumps says why (%s)" % (name, listed[0]["damage"]))
        got = cairn("-x", "diff -by class | head 1", path, good, SHOP)
        t.ok(got.status == 0 and "left out" in got.out + got.err, "%s: the others are compared" % name, got)
        got = cairn("-x", "growth", path, SHOP)
        t.ok(got.status and words in got.err, "%s: alone it is an error" % name, got)
    got = cairn("-x", "diff -by class | head 1", *(path for path, _ in many.values()), good, SHOP)
    t.ok(got.status == 0, "all of them at once: the good one is compared", got)
    for name, line in ODD.items():
        path = write(os.path.join(folder, name.replace(" ", "-")), held)
        sql(path, line, "UPDATE profile SET checksum = NULL")
        for asked in "diff", "diff -by class", "growth", "trend", "dumps":
            got = cairn("-x", asked, path, *([good] if asked == "trend" else [good, SHOP]))
            t.ok(got.status in (0, 1) and not re.search("[\0-\x08\x0b-\x1f\x7f]", got.out + got.err),
                 "%s: %s answers, and escapes what it prints" % (name, asked), got)


def check_many(t, folder, good, held):
    got = cairn("-x", "diff -by class", good, good, SHOP, SHOP)
    t.ok(got.status in (0, 1), "the same files twice are compared", got)
    hundred = [write(os.path.join(folder, "of-%03d" % i), held) for i in range(100)]
    t.ok(len(rows("dumps", hundred + [SHOP])) == 101 and
         cairn("-x", "diff -by class | head 3", *hundred, SHOP).status == 0, "a hundred profiles and a dump")


def check_memory(t, folder, good, held):
    """An older dump or a profile that --mem does not hold."""
    large = os.path.join(folder, "large.phd")
    made = Run([MKDUMP, "bench", "--objects", "200000", "--phd", large])
    t.ok(made.status == 0, "a larger dump is made", made)
    profile = write(os.path.join(folder, "large.profile"), held)
    sql(profile, "UPDATE profile SET checksum = NULL", "WITH RECURSIVE n(i) AS (SELECT (SELECT max(id) FROM string) + 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 20000) INSERT INTO string SELECT i, printf('%.*c', 1000, 'x') FROM n")
    for path in large, profile:
        got = cairn("-x", "dumps", "-x", "diff -by class | head 1", "--spill", "none", "--mem", "3M", path, good, SHOP)
        t.ok(got.status == 0 and "left out" in got.out + got.err and "--mem" in got.out,
             "%s: --mem leaves it out, and compares the others" % os.path.basename(path), got)
        t.ok(cairn("-x", "diff -by class | head 1", path, good, SHOP).status == 0,
             "%s: without --mem it is compared" % os.path.basename(path))


def check_reading_alone(t, folder, good):
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    path = write(os.path.join(inside, "a.profile"), read(good))
    os.chmod(path, 0o444)
    os.chmod(inside, 0o555)
    before = os.stat(path)
    got = cairn("-x", "diff -by class | head 1", path, SHOP)
    after = os.stat(path)
    t.ok(got.status == 0 and os.listdir(inside) == ["a.profile"] and before.st_mtime_ns == after.st_mtime_ns,
         "a profile is read where nothing can be written, and nothing is left there", got)
    os.chmod(inside, 0o755)


# --- how they are written ------------------------------------------------------------------------


def check_writing(t, folder):
    path = os.path.join(folder, "new.profile")
    t.ok(cairn("-x", "profile " + path, SHOP).status == 0 and read(path)[:15] == b"SQLite format 3", "a profile is written")
    held = read(path)
    os.chmod(path, 0o640)
    link = os.path.join(folder, "link")
    os.symlink("new.profile", link)
    write(path, b"old")
    t.ok(cairn("-x", "profile " + link, SHOP).status == 0 and read(path) == held and os.path.islink(link) and
         os.stat(path).st_mode & 0o777 == 0o640, "a file is replaced behind its link, with its mode")
    for name, text in (path, "the earlier file is unchanged"), (os.path.join(folder, "no.profile"), "nothing was written"):
        got = Run(["sh", "-c", "ulimit -f 4; exec \"$@\"", "sh", CAIRN, "-x", "profile " + name, SHOP])
        t.ok(got.status == 2 and got.err.count("\n") == 1 and "File too large" in got.err and text in got.err,
             "a disk that is full: one sentence (%s)" % got.err.strip(), got)
    t.ok(read(path) == held, "what stood there is there")
    got = cairn("-x", "profile /dev/full", SHOP)
    t.ok(got.status == 2 and "No space left" in got.err, "/dev/full: one sentence", got)
    got = cairn("-x", "profile /nowhere/at/all", SHOP)
    t.ok(got.status == 2 and "/nowhere/at/all: No such file" in got.err, "no such folder: one sentence", got)
    t.equal(sorted(os.listdir(folder)), ["link", "new.profile"], "nothing else is left behind")
    got = cairn("-x", "profile " + SHOP, SHOP)
    t.ok(got.status == 2 and "which cairn is reading" in got.err, "a dump is not written over")
    got = cairn("-x", "profile " + path, path, SHOP)
    t.ok(got.status == 2 and read(path) == held, "nor a profile that is compared with")
    copy = write(os.path.join(folder, "copy.hprof"), read(SHOP))
    got = cairn("-x", "profile " + copy, SHOP)
    t.ok(got.status == 2 and "--force" in got.err and read(copy) == read(SHOP), "nor another dump, without --force")
    t.ok(cairn("--force", "-x", "profile " + copy, SHOP).status == 0 and read(copy) == held, "with --force it is")
    packed = os.path.join(folder, "it.profile.gz")
    t.ok(cairn("-x", "profile " + packed, SHOP).status == 0 and gzip.decompress(read(packed)) == held and
         os.path.getsize(packed) < len(held) / 2, "a name with .gz compresses it to less than half")
    older = os.path.join(folder, "older.profile")
    cairn("-x", "profile " + older, SERIES[0])
    write(older + ".gz", gzip.compress(read(older)))
    t.ok(rows("diff -by class", [older + ".gz", SHOP]) == rows("diff -by class", [older, SHOP]), "and it is read so")
    with sqlite3.connect(path) as db:
        t.ok(db.execute("SELECT sum(objects) FROM named WHERE what = 'class'").fetchone() ==
             db.execute("SELECT objects FROM profile").fetchone(), "its view tells all objects of all classes")


# --- that no value is in them --------------------------------------------------------------------

def texts_of(dump):
    """Runs of eight letters and more in arrays of bytes and characters."""
    dump.classes = {}
    for tag, body, end in dump.records(-1):
        if tag != 0x23:
            continue
        kind, elements = dump.data[body + dump.ids + 8], dump.data[body + dump.ids + 9:end]
        if kind == 5:
            elements = elements.decode("utf-16-be", "replace").encode("utf-8", "replace")
        if kind in (5, 8):
            yield from re.findall(rb"[ -~]{8,}", elements)


def check_no_values(t, name, path, folder):
    dump = hprof.read(path)
    names = {n.replace(b"/", b".") for n in dump.strings.values()}
    told = b"\0".join(names) # a text that is a name, or a piece of one, is no secret
    profile = os.path.join(folder, "of-" + name)
    cairn("-x", "profile " + profile, path)
    t.ok(checksum(profile), "%s: the checksum is as the documents describe it" % name)
    held = read(profile)
    called = {s.encode() for s, in sqlite3.connect(profile).execute( # threads and loaders have names
        "SELECT words FROM named WHERE start IN ('thread', 'loader') OR what = 'loader'")}
    digits = lambda x: re.sub(rb"\d+", b"#", x)  # noqa: E731
    texts = {x for x in texts_of(dump) if x.replace(b"/", b".") not in told and
             not any(x in c or digits(x) in c for c in called)}
    found = {x for x in texts if x in held.replace(os.path.basename(path).encode(), b"")}
    t.ok(len(texts) > 10 and not found, "%s: none of %d texts is in its profile" % (name, len(texts)), found)
    t.ok(os.path.dirname(path).encode() not in held, "%s: nor where it stood" % name)


def main():
    t = Tap()
    if "SQLite" not in cairn("--version").out:
        skip_all("built without SQLite")
    with tempfile.TemporaryDirectory() as folder:
        check_writing(t, folder)
    with tempfile.TemporaryDirectory() as folder:
        for name, path in ("shop", SHOP), ("shop-1", SERIES[0]):
            check_no_values(t, name, path, folder)
        tide = os.path.join(os.environ.get("CAIRN_DUMPS", ""), "tide", "jdk17-g1", "tide-4.hprof")
        if os.path.exists(tide):
            check_no_values(t, "tide", tide, folder)
    with tempfile.TemporaryDirectory() as folder:
        good = os.path.join(folder, "good.profile")
        cairn("-x", "profile " + good, SERIES[0])
        held = read(good)
        check_bad(t, folder, good, held)
        check_many(t, folder, good, held)
        check_memory(t, folder, good, held)
        check_reading_alone(t, folder, good)
        same = os.path.join(folder, "same.profile")
        cairn("-x", "profile " + same, SHOP)
        got = cairn("-x", "growth", same, SHOP)
        t.equal((got.status, "nothing grew" in got.out), (1, True), "a dump against its own profile: nothing grew")
    t.done()


if __name__ == "__main__":
    main()
