#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bundle: none of the dump's texts is in the files that it writes.

Dumps are made here with secrets wherever a text can stand; files are unpacked here and searched anew.  Arguments:
dumps, of which every String's text is looked for.
"""

import csv
import ctypes
import ctypes.util
import glob
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, DUMPS, GO, SAMPLE, SAMPLE_TEXT, SHOP, Run, Tap, cairn  # noqa: E402
from hprof import symbols  # noqa: E402
from hprofmade import Made  # noqa: E402

ENDINGS = [".cairn", ".profile.gz", ".html", "-redacted.hprof.gz"]
ZSTD = b"\x28\xb5\x2f\xfd"


def zstd():
    name = ctypes.util.find_library("zstd")
    lib = ctypes.CDLL(name) if name else None
    if lib:
        for f in (lib.ZSTD_findFrameCompressedSize, lib.ZSTD_decompress):
            f.restype = ctypes.c_size_t
        lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    return lib


def unpacked(data, lib):
    """The bytes of a file, and what they unpack to."""
    if data.startswith(b"\x1f\x8b"):
        return [data, gzip.decompress(data)]
    parts, at = [data], data.find(ZSTD)
    while lib and at >= 0:
        rest = data[at:]
        n = lib.ZSTD_findFrameCompressedSize(rest, ctypes.c_size_t(len(rest)))
        size = lib.ZSTD_getFrameContentSize(rest, ctypes.c_size_t(len(rest))) if n <= len(rest) else 1 << 63
        if size < 1 << 32:
            to = ctypes.create_string_buffer(size)
            if lib.ZSTD_decompress(to, ctypes.c_size_t(size), rest, ctypes.c_size_t(n)) == size:
                parts.append(to.raw)
        at = data.find(ZSTD, at + (n if n <= len(rest) else 1))
    return parts


def forms(text):
    return {text.encode("utf-8", "surrogatepass"), text.encode("utf-16-le", "surrogatepass"),
            text.encode("utf-16-be", "surrogatepass"), text.encode("latin-1", "ignore")}


def found_in(folder, texts, lib):
    """Which texts are in which files of a folder, in any form."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        with open(path, "rb") as f:
            parts = unpacked(f.read(), lib)
        found += [(os.path.basename(path), text) for text in texts
                  if any(len(b) >= 8 and b in part for b in forms(text) for part in parts)]
    return found


def take(folder, dump, *words, **options):
    return cairn("--format", "csv", *words, "-x", "bundle -o %s" % folder, dump, **options)


def rows(run):
    return list(csv.DictReader(io.StringIO(run.out)))


SECRETS = {"String": "s3cret-in-a-String", "UTF-16": "s3cret \u4e2d\u6587 of two bytes", "Latin-1": "s\u00e9cret-in-Latin-1",
           "key": "s3cret-key-of-a-map", "value": "s3cret-value-of-a-map", "char[]": "s3cret-in-a-char-array",
           "byte[]": "s3cret-in-a-byte-array", "symbol": "s3cret symbol of the program", "entity": "s3cret & <more> of it",
           "number": "4111111111111111", "long": "s3cret that is very long " * 400, "path": "/srv/s3cret/place.hprof"}


def made(more=(), names=("com.acme.Holder",)):
    """A dump with secrets wherever a text can stand, and with texts that may be in files."""
    m = Made()
    m.cls("java.lang.String", [("L", "value"), ("B", "coder")])
    m.cls("com.acme.Holder", [("L", "text"), ("L", "letters"), ("L", "bytes")], statics=[("L", "PASSWORDS", 0)])
    m.cls("java.util.HashMap$Node", [("I", "hash"), ("L", "key"), ("L", "value"), ("L", "next")])
    m.cls("java.lang.Thread", [("L", "name"), ("J", "tid")])
    strings = [m.string(s) for s in [SECRETS[k] for k in ("String", "Latin-1", "entity", "number", "long", "path")] +
               ["<!DOCTYPE html>", "PASSWORDS", "--------", "short"] + list(names) + list(more)]
    strings.append(m.new("java.lang.String", value=m.primitives("B", SECRETS["UTF-16"].encode("utf-16-le")), coder=1))
    letters = m.primitives("C", SECRETS["char[]"].encode("utf-16-be"))
    raw = m.primitives("B", SECRETS["byte[]"].encode())
    node = m.new("java.util.HashMap$Node", key=m.string(SECRETS["key"]), value=m.string(SECRETS["value"]))
    thread = m.address()
    m.heap.append((thread, "java.lang.Thread", 0, {"name": m.string("worker-for-orders"), "tid": 7}))
    m.text(SECRETS["symbol"])
    m.text("worker-for-orders")
    for s in strings:
        m.root(m.new("com.acme.Holder", text=s, letters=letters, bytes=raw))
    m.root(node)
    m.root(thread)
    return m


def write(path, m):
    with open(path, "wb") as f:
        f.write(m.bytes())
    return path


def check_made(tap, folder, lib):
    os.makedirs(os.path.join(folder, "srv", "s3cret"))
    dump = write(os.path.join(folder, "srv", "s3cret", "place.hprof"), made((os.path.join(folder, "srv", "s3cret"),)))
    away = os.path.join(folder, "new", "away")
    run = take(away, dump)
    tap.ok(run.status == 0 and not run.err, "a made dump: all is written", run)
    tap.equal(sorted(os.listdir(away)), sorted("place" + e for e in ENDINGS), "under these names")
    tap.equal([(os.path.basename(r["file"]), r["bytes"]) for r in rows(run)],
              [("place" + e, str(os.path.getsize(os.path.join(away, "place" + e)))) for e in ENDINGS], "and told with their sizes")
    tap.none([r for r in rows(run) if not r["holds"] or not r["leaves_out"]], rows(run), "and what they hold and leave out")
    tap.equal(found_in(away, list(SECRETS.values()) + [os.path.join(folder, "srv")], lib), [], "no secret is in them")
    names = {name for name, _ in found_in(away, ["com.acme.Holder"], lib)}
    tap.ok({"place.cairn", "place.html", "place-redacted.hprof.gz"} <= names if not lib else len(names) >= 3 and
           "place.cairn" in names or "com/acme/Holder", "names are", names)
    if lib:
        with open(os.path.join(away, "place.cairn"), "rb") as f:
            tap.ok(any(b"com.acme.Holder" in p for p in unpacked(f.read(), lib)), "the search looks into a packed index")
    secret = write(os.path.join(folder, "leaks.hprof"), made(["s3cret-shown"]))
    with open(secret, "rb") as f:
        tap.ok(b"s3cret-shown" in f.read(), "the secrets were planted")
    return dump, away


def check_used(tap, dump, away):
    """The files are what they say."""
    stem = os.path.join(away, "place")
    words = "histo | cut class,objects,shallow"
    want = cairn("--format", "csv", "-x", words, dump).out
    tap.equal(cairn("--format", "csv", "-x", words, stem + ".cairn").out, want, "the index opens, and has the objects")
    tap.equal(cairn("--format", "csv", "-x", words, stem + "-redacted.hprof.gz").out, want, "and so does the copy")
    run = cairn("--format", "csv", "-x", "diff -by class | cut class,d_objects", stem + ".profile.gz", dump)
    grown = [line for line in run.out.splitlines()[1:] if not line.endswith(",0")]
    tap.ok(run.status == 0 and "com.acme.Holder,0" in run.out and not grown, "the profile says that nothing grew", run)
    with open(stem + "-redacted.hprof.gz", "rb") as f:
        tap.ok(b"HPROF BLOCKSIZE=" in f.read(64), "the copy is in blocks")
    with open(stem + ".html", encoding="utf-8") as f:
        tap.ok(f.read().startswith("<!DOCTYPE html>"), "the report is a page")


# A page of an earlier day: nothing but files of cairn is replaced.
WAS = '<meta name="generator" content="cairn">as it was'


def check_folders(tap, folder, dump):
    there = os.path.join(folder, "there")
    os.mkdir(there)
    for name in ("place.html", "other"):
        with open(os.path.join(there, name), "w", encoding="ascii") as f:
            f.write(WAS)
    run = take(there, dump)
    with open(os.path.join(there, "place.html"), encoding="utf-8") as f:
        tap.ok(run.status == 0 and "<html" in f.read(), "an existing page of cairn is replaced", run)
    with open(os.path.join(there, "other"), encoding="ascii") as f:
        tap.equal(f.read(), WAS, "no other is")
    with open(dump, "rb") as f, open(os.path.join(there, "place.html"), "wb") as to:
        to.write(f.read())
    run = take(there, dump)
    tap.ok(run.status == 2 and not run.out and "another program wrote" in run.err, "but no dump", run)
    run = take(os.path.join(there, "other"), dump)
    tap.ok(run.status not in (0, 3) and "other" in run.err and not run.out, "a file is no folder", run)
    if os.geteuid():
        closed = os.path.join(folder, "closed")
        os.mkdir(closed, 0o555)
        run = take(closed, dump)
        tap.ok(run.status != 0 and "ermission" in run.err and not os.listdir(closed), "a folder that cannot be written to", run)
    run = cairn("-x", "bundle -o ''", dump)
    tap.equal(run.status, 2, "no folder is wrong usage")


def check_full(tap, folder):
    """A full disk, and a stop: nothing is left of what was not finished."""
    m = made()
    m.root(m.primitives("B", os.urandom(40 << 20)))
    dump = write(os.path.join(folder, "large.hprof"), m)
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], stderr=subprocess.DEVNULL).returncode:
        tap.skip("a full disk", "no disk of its own")
    else:
        try:
            run = take(disk, dump)
            left = os.listdir(disk)
            tap.ok(run.status not in (0, 3) and "No space left" in run.out + run.err, "a full disk is told", run)
            tap.none([n for n in left if "part" in n], left, "and nothing is left of what had no room")
        finally:
            subprocess.run(["umount", disk], check=False)
    for ends in (signal.SIGINT, signal.SIGTERM):
        away = os.path.join(folder, "stopped%d" % ends)
        process = subprocess.Popen([CAIRN, "-x", "bundle -o %s" % away, dump], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        began = time.monotonic()
        while process.poll() is None and time.monotonic() - began < 60 and not glob.glob(away + "/*redacted*"):
            time.sleep(0.002)
        process.send_signal(ends)
        tap.equal(process.wait(), -ends, "signal %d ends it" % ends)
        left = os.listdir(away)
        tap.none([n for n in left if ".part-" in n], left, "nothing unfinished is left by signal %d" % ends)


def check_inputs(tap, folder, dump, lib):
    packed = os.path.join(folder, "packed.hprof.gz")
    with open(dump, "rb") as f, gzip.open(packed, "wb") as to:
        to.write(f.read())
    away = os.path.join(folder, "packed")
    tap.equal(take(away, packed).status, 0, "a dump in gzip")
    tap.equal(sorted(os.listdir(away)), sorted("packed" + e for e in ENDINGS), "all four")
    tap.equal(found_in(away, SECRETS.values(), lib), [], "without secrets")
    away = os.path.join(folder, "piped")
    with open(dump, "rb") as f:
        run = Run([CAIRN, "--format", "csv", "-x", "bundle -o %s" % away, "-"], stdin=f.read())
    left = sorted(os.listdir(away))
    tap.ok(left and all(n.startswith("dump") for n in left), "a dump through a pipe", (run, left))
    tap.equal(found_in(away, SECRETS.values(), lib), [], "without secrets")


def check_javacore(tap, folder, lib):
    """What the javacore of the sample tells of the process and its host."""
    away = os.path.join(folder, "javacore")
    with open(glob.glob(os.path.join(os.path.dirname(SAMPLE), "javacore*"))[0], encoding="utf-8") as f:
        told = f.read()
    secrets = ["tulip-4711", "rose-0815", "/srv/shop", os.path.dirname(os.path.realpath(SAMPLE))]
    tap.none([s for s in secrets[:3] if s not in told], secrets, "the sample's javacore has secrets")
    run = take(away, SAMPLE)
    tap.ok(run.status == 0 and len(os.listdir(away)) == 3, "a PHD dump: three files, and no failure", run)
    tap.equal(found_in(away, secrets, lib), [], "nothing of them is there")
    tap.equal(cairn("--format", "csv", "-x", "histo | cut class,objects,shallow", glob.glob(away + "/*.cairn")[0]).out,
              cairn("--format", "csv", "-x", "histo | cut class,objects,shallow", SAMPLE).out, "the index opens")
    told = cairn("-x", "info", glob.glob(away + "/*.cairn")[0]).out
    tap.ok(os.path.dirname(os.path.realpath(SAMPLE)) not in told, "and does not know where the dump lies", told)


def check_list(tap):
    for dump, lacks in ((SHOP, None), (SAMPLE, "PHD cannot be redacted"), (SAMPLE_TEXT, "cannot be redacted"),
                        (GO, "a Go dump cannot be redacted")):
        run = cairn("--format", "json", "-x", "bundle", dump)
        table = json.loads(run.out)
        tap.ok(run.status == 0 and [list(r) for r in table] == [["file", "bytes", "holds", "leaves_out"]] * 4,
               "%s: the list has the columns of the contract" % os.path.basename(dump), run)
        tap.none([r for r in table if r["bytes"]], table, "nothing is written, no size is told")
        told = table[3]["leaves_out"]
        tap.ok(("not written" in told and lacks in told) if lacks else "not written" not in told, "what a format has not", told)


def eights(parts):
    """Every eight bytes in a row of them: what a text may begin with."""
    return {part[i:i + 8] for part in parts for i in range(len(part) - 7)}


def names_of(path):
    """What may stand in files: names of the program as the dump has them and with dots, threads, the VM's version."""
    known = b""
    if "hprof" in path:
        every, used = symbols(path)
        known = b"\0".join(every[k] for k in used)
    told = cairn("-x", "info", "-x", "threads | cut name", "-x", "histo | cut class", path).out.encode()
    with open(CAIRN, "rb") as f:
        return known + b"\0" + known.replace(b"/", b".") + b"\0" + told + b"\0" + f.read()


def is_spelled(text, names):
    """A name with a character more, or "static CLASS.FIELD" as reports have it."""
    cut = text[7:].rpartition(".") if text.startswith("static ") else ("\0",)
    return any(t.encode("utf-8", "replace") in names for t in (text[:-1], text[1:])) or \
        all(t.encode("utf-8", "replace") in names for t in cut)


def check_given(tap, path, lib):
    """Every String's text of a dump, whole, as cairn lists them."""
    name = os.path.basename(path)
    with tempfile.TemporaryDirectory() as folder:
        away = os.path.join(folder, "away")
        run = take(away, path, timeout=600)
        tap.ok(run.status == 0, "%s: all is written" % name, run)
        listed = cairn("--format", "json", "-x", "strings | cut value", path, timeout=600)
        texts = {r["value"] for r in json.loads(listed.out or "[]") if r["value"] and len(r["value"]) >= 8}
        texts = {t for t in texts if not re.fullmatch(r"0x[0-9a-f]+|[^A-Za-z\x80-\uffff]+", t)}
        names, left, there = names_of(path), [], 0
        for file in sorted(os.listdir(away)):
            with open(os.path.join(away, file), "rb") as f:
                parts = unpacked(f.read(), lib)
            beginnings = eights(parts)
            found = [t for t in texts if any(len(b) >= 8 and b[:8] in beginnings and any(b in p for p in parts)
                                             for b in forms(t))]
            there += len(found)
            left += [(file, t) for t in found if t.encode("utf-8", "replace") not in names]
        tap.none([f for f in left if not is_spelled(f[1], names)], texts,
                 "%s: of %d texts %d are there, all in names" % (name, len(texts), there))


def main():
    tap, lib = Tap(), zstd()
    with tempfile.TemporaryDirectory() as folder:
        dump, away = check_made(tap, folder, lib)
        check_used(tap, dump, away)
        check_folders(tap, folder, dump)
        check_full(tap, folder)
        check_inputs(tap, folder, dump, lib)
        check_javacore(tap, folder, lib)
    check_list(tap)
    given = [os.path.join(DUMPS, *names) for names in (("grove", "grove-tiny.hprof"), ("hotspot", "sun_jdk6_18_x32.hprof"),
                                                       ("go", "go-mini.dump"))] if DUMPS else []
    for path in [SHOP, GO] + [p for p in given if os.path.exists(p)] + sys.argv[1:]:
        check_given(tap, path, lib)
    tap.done()


if __name__ == "__main__":
    main()
