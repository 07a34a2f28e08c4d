#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a core file of a Go program small: pack_core.py CORE OUTPUT

The runtime reserves hundreds of MB that it never touches.  Stretches of zeros of more than 4 MB are left out, so that
they read as holes; all else stays where it was: notes, and memory by pages.
"""

import struct
import sys

HEADER, SEGMENT = 64, "<IIQQQQQQ"
SEGMENT_BYTES = struct.calcsize(SEGMENT)
PAGE, GAP = 4096, 4 << 20
PT_LOAD, PT_NOTE = 1, 4


def runs(f, offset, size):
    """(place, bytes) of what is not one long stretch of zeros; whole if it is small."""
    f.seek(offset)
    if size <= GAP:
        return [(0, bytearray(f.read(size)))]
    found = []
    for at in range(0, size, PAGE):
        page = f.read(min(PAGE, size - at))
        if page.count(0) == len(page):
            continue
        if found and at - found[-1][0] - len(found[-1][1]) <= GAP:
            found[-1][1].extend(bytes(at - found[-1][0] - len(found[-1][1])))
            found[-1][1].extend(page)
        else:
            found.append((at, bytearray(page)))
    return found


def main():
    with open(sys.argv[1], "rb") as f:
        head = bytearray(f.read(HEADER))
        f.seek(struct.unpack_from("<Q", head, 32)[0])
        n = struct.unpack_from("<H", head, 56)[0]
        table = f.read(SEGMENT_BYTES * n)
        parts = []
        for i in range(n):
            kind, flags, offset, address, _, in_file, _, align = struct.unpack_from(SEGMENT, table, SEGMENT_BYTES * i)
            if kind == PT_NOTE:
                f.seek(offset)
                parts.insert(0, (kind, flags, address, f.read(in_file), 1))
            elif kind == PT_LOAD and in_file:
                parts += [(kind, flags, address + at, b, align) for at, b in runs(f, offset, in_file)]
    struct.pack_into("<QQ", head, 32, HEADER, 0)  # no sections
    struct.pack_into("<HHHH", head, 56, len(parts), 0, 0, 0)
    with open(sys.argv[2], "wb") as out:
        at = HEADER + SEGMENT_BYTES * len(parts)
        out.write(head)
        for kind, flags, address, contents, align in parts:
            at += -at % PAGE
            out.write(struct.pack(SEGMENT, kind, flags, at, address, 0, len(contents),
                                  len(contents) if kind == PT_LOAD else 0, align))
            at += len(contents)
        for part in parts:
            out.write(bytes(-out.tell() % PAGE))
            out.write(part[3])


main()
