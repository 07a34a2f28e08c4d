#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goroutines hold by values on their stacks that no frame lists: closures of deferred calls, and what
selects wait to send.  Dump and program are made, so that each value has one holder alone."""

import json
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "tools")]
from cairntest import Tap, cairn, need_libdw  # noqa: E402
from mkprogram import BSS, DATA, TEXT, TYPES, Program  # noqa: E402

HEAP, STACK = 0xC000000000, 0xC000100000
WAIT, CALLED, WORKS = TEXT, TEXT + 0x20, TEXT + 0x40  # functions
G, SUDOG, CHANNEL, PAIR = 0x30, 0x30, 0x48, 0x10      # sizes


def varint(n):
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def numbers(*all_of_them):
    return b"".join(varint(n) for n in all_of_them)


def text(s):
    return varint(len(s)) + s


def words(*all_of_them):
    return struct.pack("<%dQ" % len(all_of_them), *all_of_them)


class Made(Program):
    def common(self):
        self.entry("unit", name="main")
        self.entry("base", "int", name="int", encoding=5, size=8, kind=2, runtime=0x40)
        self.entry("base", "bool", name="bool", encoding=2, size=1, kind=1, runtime=0x60)
        self.entry("base", "uint8", name="uint8", encoding=7, size=1, kind=8, runtime=0x80)
        self.pointer("*uint8", "uint8")
        self.struct("main.Pair", PAIR, ("A", 0, "int"), ("P", 8, "*main.Pair"), runtime=0x100)
        self.pointer("*main.Pair", "main.Pair", 0x140)
        self.pointer("**main.Pair", "*main.Pair")
        self.struct("runtime.sudog", SUDOG, ("g", 0, "*uint8"), ("next", 8, "*sudog"), ("elem", 16, "*uint8"),
                    ("waitlink", 24, "*sudog"), ("c", 32, "*hchan"))
        self.pointer("*sudog", "runtime.sudog")
        self.struct("runtime.waitq", 16, ("first", 0, "*sudog"), ("last", 8, "*sudog"))
        self.struct("runtime.hchan", CHANNEL, ("qcount", 0, "int"), ("dataqsiz", 8, "int"), ("buf", 16, "*uint8"),
                    ("elemtype", 24, "*uint8"), ("recvq", 32, "runtime.waitq"), ("sendq", 48, "runtime.waitq"))
        self.pointer("*hchan", "runtime.hchan")
        self.struct("runtime.g", G, ("waiting", 0, "*sudog"), ("goid", 8, "int"))
        self.struct("runtime._panic", 16, ("argp", 0, "*uint8"), ("goexit", 8, "bool"))
        self.entry("function", name="main.waits", low=WAIT, high=WAIT + 0x20, frame=b"\x9c")
        self.done()
        self.entry("function", name="main.waits.func1", low=CALLED, high=CALLED + 0x20, frame=b"\x9c")
        self.entry("captured", name="p", type="*main.Pair", captured=8)
        self.entry("captured", name="&shared", type="**main.Pair", captured=16)
        self.done()
        self.entry("function", name="main.works", low=WORKS, high=WORKS + 0x20, frame=b"\x9c")
        self.done()
        self.symbols = [("runtime.data", DATA, 0, 0), ("runtime.edata", DATA + 0x100, 0, 0),
                        ("runtime.bss", BSS, 0, 0), ("runtime.ebss", BSS + 0x200, 0, 0),
                        ("runtime.types", TYPES, 0, 0), ("runtime.etypes", TYPES + 0x1000, 0, 0)]


class Dump:
    def __init__(self):
        self.out = b""
        self.at = HEAP

    def object(self, contents, fields=()):
        contents += bytes(-len(contents) % 16)
        self.out += b"\x01" + varint(self.at) + text(contents) + b"".join(b"\x01" + varint(f) for f in fields) + b"\0"
        self.at += len(contents)
        return self.at - len(contents)

    def goroutine(self, address, number, stack, reason, function, entry, calls=(), panics=()):
        """Its only frame is `stack`: none of the words is listed."""
        self.out += b"\x04" + numbers(address, stack[0], number, 0, 4, 0, 0, 0) + text(reason) + \
            numbers(0, 0, 0, 0)
        self.out += b"\x05" + numbers(stack[0], 0, 0) + text(stack[1]) + numbers(entry, entry + 8, entry + 8) + \
            text(function) + b"\0"
        for call in calls:
            self.out += b"\x0e" + numbers(0, address, stack[0], entry + 8, call, CALLED, 0)
        for panic in panics:
            self.out += b"\x0f" + numbers(panic, address, 0, 0, 0, 0)

    def write(self, path):
        head = b"go1.7 heap dump\n" + b"\x06" + numbers(0, 8, HEAP, HEAP + (1 << 26)) + text(b"amd64") + \
            text(b"go1.24.1") + varint(2)
        data = b"\x0c" + varint(DATA) + text(bytes(0x100)) + b"\0" + b"\x0d" + varint(BSS) + text(bytes(0x200)) + b"\0"
        with open(path, "wb") as f:
            f.write(head + self.out + data + b"\0")


def rows(path, line):
    run = cairn("--format", "json", "-x", line, path)
    return json.loads(run.out) if run.status == 0 and run.out.strip() else []


def make(path):
    """Addresses of what is planted.  Two goroutines select on one channel, each in both ways; their sudogs
    stand in both queues."""
    d = Dump()
    pairs = [d.object(words(100 + i, 0), [8]) for i in range(6)]
    channel = d.at
    sudogs = [channel + 0x50 + k * SUDOG for k in range(4)]
    gs = [sudogs[3] + SUDOG + k * G for k in range(3)]
    sent, got = STACK + 0x10, STACK + 0x20
    # goroutine 0 sends with sudog 0 and receives with 1; goroutine 1 with 2 and 3
    d.object(words(0, 0, 0, TYPES + 0x140, sudogs[1], sudogs[3], sudogs[0], sudogs[2], 0), [32, 40, 48, 56])
    for g, elem, after, link in ((0, sent, sudogs[2], sudogs[1]), (0, got, sudogs[3], 0),
                                 (1, sent + 0x100, 0, sudogs[3]), (1, got + 0x100, 0, 0)):
        d.object(words(gs[g], after, elem, link, channel, 0), [0, 8, 24, 32])
    for k in range(3):
        d.object(words(sudogs[2 * k] if k < 2 else 0, k, 0, 0, 0, 0), [0])
    for k in range(2):
        stack = words(0, 0, pairs[k], 0, pairs[5], 0)
        d.goroutine(gs[k], k + 1, (STACK + 0x100 * k, stack), b"select", b"main.waits", WAIT)
    # a closure on the stack, a variable that it shares with its function, and a panic that is none
    base = STACK + 0x200
    stack = words(0, CALLED, pairs[2], base + 0x28, 0, pairs[3], 0, 1, pairs[5])
    d.goroutine(gs[2], 3, (base, stack), b"chan receive", b"main.works", WORKS, [base + 8], [base + 0x30])
    d.write(path)
    return pairs


def check(tap, path, pairs):
    for k in range(2):
        found = rows(path, "bt %d" % (k + 1))
        waits = [r["kind"] for r in found if (r["kind"] or "").startswith("Waits")]
        tap.equal(waits, ["Waits to send", "Waits to receive"],
                  "goroutine %d: each case of a select on one channel is what it is" % (k + 1))
        sends = [(int(r["address"], 16), r["class"]) for r in found if r["kind"] == "Sends"]
        tap.equal(sends, [(pairs[k], "*main.Pair")], "goroutine %d: what it sends" % (k + 1))
    found = rows(path, "bt 3")
    tap.equal([(int(r["address"], 16), r["class"]) for r in found if r["kind"] == "Defer"],
              [(pairs[2], "main.Pair"), (pairs[3], "main.Pair")],
              "what a deferred closure on the stack holds, and shares")
    tap.equal([r["method"] for r in found if r["kind"] == "Deferred call"], ["main.waits.func1"], "its function")
    tap.equal([r["kind"] for r in found if r["kind"] in ("Panic", "Goexit")], ["Goexit"], "runtime.Goexit is no panic")
    for field, told in (("P", '"main.Pair.P" is null'), ("A", 'no reference field "A"')):
        run = cairn("-x", "cut main.Pair.%s" % field, path)
        tap.ok(run.status == 1 and told in run.err, "a field that is nil everywhere, and one without pointers", run.err)
    live = {int(r["address"], 16) for r in rows(path, "ls * -live | cut address")}
    tap.equal(sorted(live & set(pairs)), pairs[:4], "all of these are alive, and what only lies on a stack is not")


def main():
    need_libdw()
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "stacks.dump")
        program = Made()
        program.common()
        program.write(os.path.join(directory, "stacks.elf"))
        check(tap, path, make(path))
    tap.done()


if __name__ == "__main__":
    main()
