#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes src/dump/code_pages.txt to standard output: character sets of one byte a character, as this machine's iconv
has them."""

import subprocess
import unicodedata

# beside a number how iconv calls it: what is ASCII below 128, and EBCDIC
ASCII = ([(n, "CP%d" % n) for n in (437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869,
                                    874, 1125)] +
         [(n, "CP%d" % n) for n in range(1250, 1258)] +
         [(88590 + n, "ISO-8859-%d" % n) for n in range(1, 10)] + [(885900 + n, "ISO-8859-%d" % n) for n in (10, 11, 13, 14, 15, 16)] +
         [(20866, "KOI8-R"), (21866, "KOI8-U")])
EBCDIC = [(n, "IBM%03d" % n) for n in (37, 500, 1047)]

HEAD = """# Character sets of one byte a character, made by tests/tools/code_pages.py from what iconv knows.
#
# Number (the digits of its name, 88591 for ISO-8859-1), first byte, and the characters from it on; those before are of
# ISO-8859-1. A dot: no character. \\XXXX: a character in hexadecimal.
"""


def points(charset, first):
    """The code points of the bytes from first on, None where there is none."""
    for byte in range(first, 256):
        done = subprocess.run(["iconv", "-f", charset, "-t", "UTF-16BE"], input=bytes([byte]),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        yield int.from_bytes(done.stdout, "big") if done.returncode == 0 and len(done.stdout) == 2 else None


def spelled(point):
    if point is None:
        return "."
    plain = unicodedata.category(chr(point))[0] in "LNPS" and not unicodedata.bidirectional(chr(point)) in ("R", "AL")
    return chr(point) if plain and chr(point) not in ".\\" else "\\%04X" % point


def main():
    print(HEAD)
    for number, charset in ASCII + EBCDIC:
        first = 0 if (number, charset) in EBCDIC else 128
        all_points = list(points(charset, first))
        while all_points[:1] == [first]:
            first, all_points = first + 1, all_points[1:]
        print("%d %d %s" % (number, first, "".join(map(spelled, all_points))))


main()
