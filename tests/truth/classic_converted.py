#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two real heaps, written as classic dumps in the manner of every known writer.

No real classic dump is to be had.  What OpenJ9's own reader saw in real PHD dumps is written here as
text: as the VM does it, as jdmpview, as PrintHeapdump, as J9 2.3 (class blocks and nulls), with
other line ends, in EBCDIC, after a transfer that spoilt it, and cut off.  Each form must tell the
same records.
"""

import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]
from cairntest import BUILD, Tap, need_dumps, turn  # noqa: E402
from classic_records import read, told_records  # noqa: E402

LETTERS = dict(boolean="Z", char="C", float="F", double="D", byte="B", short="S", int="I", long="J")
WORDS = {v: k for k, v in LETTERS.items()}


def real_records(path):
    """(kind, address, size, name, references) in the order of the PHD."""
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                continue
            head, _, tail = line.rstrip("\n").partition(": ")
            words = head.rstrip(":").split()
            rows.append((words[0], int(words[1], 16), dict(w.split("=", 1) for w in words[2:]),
                         [int(t, 16) for t in tail.split()]))
    names = {a: values["name"] for kind, a, values, _ in rows if kind == "C"}
    sizes = {a: int(values["isize"]) for kind, a, values, _ in rows if kind == "C"}
    records = []
    for kind, address, values, references in rows:
        if kind == "P":
            name = "[" + LETTERS[values["type"]]
        elif kind == "C":
            name = values["name"]
        else:
            name = names[int(values["class"], 16)]
        if kind == "A":
            name = "[" + (name if name.startswith("[") else "L" + name + ";")
        size = sizes[int(values["class"], 16)] if kind == "O" else values.get("size", "-")
        size = 24 if size == "-" else int(size)
        records.append((kind, address, None if kind == "C" else size, name, references))
    return records


class Writer:
    """One manner of writing; what differs from the VM's is overridden."""
    version = "// Version: a real heap, written once more"
    word, prefix, null = 16, "0x%0*X", None
    printed_blanks = " "

    def __init__(self, word):
        self.word = word

    def address(self, a):
        return self.prefix % (self.word, a)

    def head(self, kind, name):
        return ("CLS " if kind == "C" else "OBJ ") + name

    def references(self, record):
        return [self.address(r) for r in record[4]]

    def text(self, records):
        out = [self.version]
        for r in records:
            line = "".join(x + " " for x in self.references(r))
            out.append("\n%s [%d] %s\n\t%s" % (self.address(r[1]), r[2] or 64,
                                               self.head(r[0], r[3]), line))
        return "".join(out) + self.trailer(records)

    def trailer(self, records):
        n = [sum(r[0] == k for r in records) for k in "COAP"]
        total = sum(len(r[4]) for r in records)
        b = self.printed_blanks
        return ("\n// Breakdown - Classes:%s%d, Objects:%s%d, ObjectArrays:%s%d, PrimitiveArrays:%s%d"
                "\n// EOF: %sTotal 'Objects',Refs(null) : %d,%d(%d)\n" %
                (b, n[0], b, n[1], b, n[2], b, n[3], b, len(records), total + 5, 5))


class Jdmpview(Writer):
    printed_blanks = ""

    def references(self, record):
        listed = super().references(record)
        return ["0x0"] + listed + ["0x0"] if record[1] % 3 == 0 else listed


class PrintHeapdump(Writer):
    version = ""

    def address(self, a):
        return "0X%x" % a

    def references(self, record):
        return ["0x%x" % r for r in record[4]]

    def head(self, kind, name):
        if kind == "C":
            return "class " + name
        depth = len(name) - len(name.lstrip("["))
        core = name[depth:]
        if not depth:
            return name + " [hashcode = 0x1234]"
        if core in WORDS:
            return WORDS[core] + "[]" * depth
        return "array of " + core[1:-1] + "[]" * (depth - 1)


class Old(Writer):
    """J9 2.3: the class block of the record's class first; for a class, that of java/lang/Class."""

    def __init__(self, word, own_block=False):
        super().__init__(word)
        self.blocks = {}
        self.own_block = own_block

    def references(self, record):
        name = "java/lang/Class" if record[0] == "C" else record[3]
        block = 0x1000 + 0x100 * self.blocks.setdefault(name, len(self.blocks))
        if record[0] == "C" and self.own_block:
            block = record[1]
        listed = [block]
        for i, r in enumerate(record[4]):
            listed += [0, r] if i % 2 else [r]
        return [self.address(r) for r in listed]


def recode(data, source, target):
    return subprocess.run(["iconv", "-f", source, "-t", target], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


def to_zos(text, page, newline):
    """As the VM on z/OS: every byte by the code page, but its own line end."""
    latin = bytes(range(256))
    table = bytearray(recode(latin, "ISO-8859-1", page))
    table[ord("\n")] = newline
    return text.encode("latin-1").translate(bytes(table))


def forms(records, word):
    plain = Writer(word).text(records)
    yield "the VM's", plain.encode()
    yield "CR LF", plain.replace("\n", "\r\n").encode()
    yield "CR", plain.replace("\n", "\r").encode()
    yield "no version line", plain[plain.index("\n"):].encode()
    yield "nothing before the first record", plain[plain.index("\n") + 1:].encode()
    yield "lower case", re.sub(r"0x[0-9A-F]+", lambda m: m.group().lower(), plain).encode()
    yield "jdmpview", Jdmpview(word).text(records).encode()
    yield "PrintHeapdump", PrintHeapdump(word).text(records).encode()
    yield "old style", Old(word).text(records).encode()
    yield "old style, own class block", Old(word, True).text(records).encode()
    for page in ("IBM1047", "IBM037", "IBM500"):
        yield "z/OS " + page, to_zos(plain, page, 0x15)
    yield "EBCDIC by iconv", to_zos(plain, "IBM1047", 0x25)
    yield "037 read as 1047, Latin-1", recode(to_zos(plain, "IBM037", 0x25), "IBM1047",
                                             "ISO-8859-1")
    yield "037 read as 1047, UTF-8", recode(to_zos(plain, "IBM037", 0x25), "IBM1047", "UTF-8")
    yield "1047 by iconv, NL kept", recode(to_zos(plain, "IBM1047", 0x15), "IBM1047", "UTF-8")


def check_heap(tap, directory, path, number):
    records = real_records(path)
    word = 8 if "2010" in os.path.basename(path) else 16
    heap = os.path.basename(path)[:17]
    wanted = [(k, a, s, n.encode(), r) for k, a, s, n, r in records]
    for i, (form, data) in enumerate(forms(records, word)):
        if number not in turn(i, (0, 1)):
            continue
        file = os.path.join(directory, "dump.txt")
        with open(file, "wb") as f:
            f.write(data)
        for parts in ("1", "5") if form == "the VM's" else ("5",):
            status, out, err = read(file, "-w", parts)
            told = told_records(out) if out else []
            odd = [(a, b) for a, b in zip(told, wanted) if a != b][:3]
            tap.ok(status == 0 and told == wanted, "%s, %s, %s parts" % (heap, form, parts),
                   "status %s, %d records, %d wanted\n%s\n%s" %
                   (status, len(told), len(wanted), "\n".join(map(str, odd)), err[:500]))
    plain = Writer(word).text(records).encode()
    for share in (0.1, 0.33, 0.5, 0.9):
        cut = int(len(plain) * share)
        while plain[cut - 1:cut] in (b" ", b"\t", b"\n"):
            cut += 1
        with open(os.path.join(directory, "cut.txt"), "wb") as f:
            f.write(plain[:cut])
        status, out, err = read(os.path.join(directory, "cut.txt"), "-w", "3")
        told = told_records(out)
        at = re.search(r"^X -4 (\d+) ", err, re.M)
        # The damaged record begins where the error says: as many stand before it as were told.
        before = plain[:int(at.group(1))].count(b"] OBJ ") + \
            plain[:int(at.group(1))].count(b"] CLS ") if at else -1
        tap.ok(status == 4 and told == wanted[:before] and before > 0,
               "%s, cut at %d" % (heap, cut), err[:500])


def main():
    paths = sorted(glob.glob(os.path.join(need_dumps(), "openj9", "*.records.txt.gz")))
    tap = Tap()
    if not shutil.which("iconv"):
        tap.skip("all forms", "there is no iconv program")
        return tap.done()
    tap.equal(len(paths), 2, "two real heaps")
    directory = tempfile.mkdtemp(prefix="classic.", dir=os.path.join(BUILD, "tests"))
    try:
        for number, path in enumerate(paths):
            check_heap(tap, directory, path, number)
    finally:
        shutil.rmtree(directory)
    return tap.done()


main()
