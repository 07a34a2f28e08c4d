# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain reader of go1.7 heap dumps: every record as a dictionary, nothing worked out.

A second opinion for the tests, slow and simple.
"""


class Record(dict):
    __getattr__ = dict.__getitem__


LAYOUT = {
    1: ("object", "address contents:s fields:f"),
    2: ("root", "text:s pointer"),
    3: ("type", "address size name:s indirect"),
    4: ("goroutine", "address sp id created status system background since reason:s context m defer panic"),
    5: ("frame", "sp depth child contents:s entry pc continuation name:s fields:f"),
    6: ("params", "big_endian pointer start end arch:s version:s cpus"),
    7: ("finalizer", "object closure pc argument type"),
    8: ("itab", "address type"),
    9: ("thread", "address id os_id"),
    10: ("memstats", "numbers:m"),
    11: ("queued", "object closure pc argument type"),
    12: ("data", "address contents:s fields:f"),
    13: ("bss", "address contents:s fields:f"),
    14: ("defer", "address goroutine sp pc closure entry next"),
    15: ("panic", "address goroutine type data defer next"),
    16: ("bucket", "id size stack:b allocs frees"),
    17: ("sample", "object bucket"),
}


def records(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:16] != b"go1.7 heap dump\n":
        raise ValueError("no go1.7 heap dump")
    at = 16

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text():
        nonlocal at
        n = number()
        at += n
        return data[at - n:at]

    def fields():
        offsets = []
        while number():
            offsets.append(number())
        return offsets

    read = {"": number, "s": text, "f": fields, "m": lambda: [number() for _ in range(281)],
            "b": lambda: [(text().decode(), text().decode(), number()) for _ in range(number())]}
    while True:
        begin = at
        tag = number()
        if not tag:
            return
        kind, layout = LAYOUT[tag]
        r = Record(kind=kind, begin=begin)
        for field in layout.split():
            name, _, how = field.partition(":")
            r[name] = read[how]()
        r["length"] = at - begin
        yield r
