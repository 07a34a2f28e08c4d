#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Classic dumps with known contents: every record that the reader says, against a second parser.

The second parser is a regular expression over the whole file.  The EBCDIC files are held against
the plain ones of the same heap.  Counts, the trailer and selected objects come from the JSON that
the generator of the dumps wrote.  Each file is read in one part and in several.
"""

import glob
import gzip
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, TIMEOUT, Tap, need_dumps, some_synthetic  # noqa: E402

TOOL = os.path.join(BUILD, "tests", "tools", "dumprecords")
RECORD = re.compile(rb"^0x([0-9A-Fa-f]+) \[(\d+)\] (OBJ|CLS) ([^\r\n]*)\r?\n([^\r\n]*)", re.M)
PRIMITIVE_ARRAY = re.compile(rb"\[[ZCFDBSIJ]$")


def expected_records(data):
    """(kind, address, size, name, references) of each record, in the order of the file."""
    records = []
    for address, size, word, name, line in RECORD.findall(data):
        references = [int(r, 16) for r in line.split()]
        kind = "C" if word == b"CLS" else "O"
        if kind == "O" and name.startswith(b"["):
            kind = "P" if PRIMITIVE_ARRAY.match(name) else "A"
        # A class record's size is not among what the tool prints, nor a primitive array's references.
        records.append((kind, int(address, 16), None if kind == "C" else int(size), name,
                        [r for r in references if r]))
    return records


LINE = re.compile(rb"^([COAP]) 0x([0-9a-f]+) (?:super=0x0 isize=- name=|type=)(.*?)"
                  rb"(?: how=named)?(?: len=-)?(?: size=(\d+))?(?: refs=(\d+):((?: 0x[0-9a-f]+)*))?$",
                  re.S)


def told_records(out):
    records = []
    for line in out.rstrip(b"\n").split(b"\n"):
        kind, address, name, size, n, references = LINE.match(line).groups()
        references = [int(r, 16) for r in (references or b"").split()]
        if n is not None and int(n) != len(references):
            raise ValueError("%r: %d references" % (line[:200], len(references)))
        records.append((kind.decode(), int(address, 16), int(size) if size else None, name,
                        references))
    return records


def read(path, *options):
    done = subprocess.run([TOOL, *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=TIMEOUT)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "backslashreplace")


def java_text(name):
    """Modified UTF-8 to a string of UTF-16 code units and back to real characters."""
    units = name.replace(b"\xc0\x80", b"\x00").decode("utf-8", "surrogatepass")
    return units.encode("utf-16", "surrogatepass").decode("utf-16")


def as_told(name):
    """The tool spells NUL so."""
    return name.decode("utf-8").replace("\\x00", "\0")


def in_ebcdic(name):
    """How a z/OS file spells it: what Latin-1 lacks, as \\uXXXX for each UTF-16 unit."""
    units = name.replace(b"\xc0\x80", b"\x00").decode("utf-8", "surrogatepass")
    text = "".join(c if ord(c) < 256 else "\\u%04X" % ord(c) for c in units)
    return text.upper()


def same_records(tap, name, told, wanted, spell_told, spell_wanted):
    if len(told) != len(wanted):
        return tap.ok(False, name, "%d records, %d wanted" % (len(told), len(wanted)))
    for got, want in zip(told, wanted):
        a, b = spell_told(got[3]), spell_wanted(want[3])
        if got[:3] + got[4:] != want[:3] + want[4:] or a != b:
            return tap.ok(False, name, "got  %.300r %r\nwant %.300r %r" % (got, a, want, b))
    return tap.ok(True, name)


def stated(err):
    return {m.group(1): int(m.group(2)) for m in re.finditer(r"^S (.*) (\d+)$", err, re.M)
            if m.group(1) != "parts"}


def check_counts(tap, name, told, err, truth):
    counts, trailer = truth["counts"], truth["trailer"]
    tally = {k: sum(r[0] == k for r in told) for k in "COAP"}
    tap.equal(tally, {"C": counts["classes"], "O": counts["objects"], "A": counts["object_arrays"],
                      "P": counts["primitive_arrays"]}, name + ": counts by kind")
    tap.equal(sum(len(r[4]) for r in told), counts["refs_nonnull"], name + ": references")
    tap.equal(stated(err), {
        "classes": trailer["classes"], "objects": trailer["objects"],
        "object arrays": trailer["object_arrays"],
        "primitive arrays": trailer["primitive_arrays"], "records": trailer["total_objects"],
        "references and nulls": trailer["refs_incl_null"], "nulls": trailer["nulls"]},
        name + ": trailer")
    tap.ok("\nW " not in "\n" + err, name + ": no warning", err)
    by_address = {}
    for r in told:
        by_address[r[1]] = r
    wrong = []
    for what, o in truth["selected"].items():
        r = by_address.get(int(o["address"], 16))
        outbound = [int(a, 16) for a in o["outbound"]]
        if not r or len(r[4]) != o["outbound_count"] or r[4][:len(outbound)] != outbound or \
                r[2] not in (None, o["size"]):
            wrong.append("%s: got %.300r, want %.300r" % (what, r, o))
    tap.none(wrong, truth["selected"], name + ": selected objects")


def check_file(tap, path, truth_path, plain):
    name = os.path.basename(path)
    status, out, err = read(path)
    if not tap.ok(status == 0, name + ": reads", err):
        return
    told = told_records(out)
    wanted = expected_records(plain)
    if "ebcdic" in name:
        same_records(tap, name + ": records", told, wanted,
                     lambda n: as_told(n).upper(), in_ebcdic)
    else:
        same_records(tap, name + ": records", told, wanted, as_told, java_text)
    with open(truth_path) as f:
        check_counts(tap, name, told, err, json.load(f))
    for parts in ("7",) if name.startswith("small") else ("2", "3", "7", "50"):
        again = read(path, "-w", parts)
        tap.ok(again == (status, out, err), "%s: %s parts say the same" % (name, parts), again[2])


def main():
    directory = os.path.join(need_dumps(), "synthetic")
    tap = Tap()
    paths = sorted(glob.glob(os.path.join(directory, "*-classic-*.txt")) +
                   glob.glob(os.path.join(directory, "*-classic-*.txt.gz")))
    tap.ok(len(paths) >= 10, "there are classic dumps")
    for path in some_synthetic(paths, 5):
        twin = re.sub(r"-ebcdic(-iconv)?", "", path)
        opener = gzip.open if twin.endswith(".gz") else open
        with opener(twin, "rb") as f:
            plain = f.read()
        check_file(tap, path, re.sub(r"\.gz$", "", path) + ".expected.json", plain)
    tap.done()


if __name__ == "__main__":
    main()
