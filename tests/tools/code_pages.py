#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes src/dump/code_pages_table.c to standard output: character sets of one byte a character, as this machine's
iconv has them."""

import subprocess

# beside a number how iconv calls it: the upper halves of what is ASCII below, and whole pages of EBCDIC
UPPER = ([(n, "CP%d" % n) for n in (437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869,
                                    874, 1125)] +
         [(n, "CP%d" % n) for n in range(1250, 1258)] +
         [(88590 + n, "ISO-8859-%d" % n) for n in range(1, 10)] + [(885900 + n, "ISO-8859-%d" % n) for n in (10, 11, 13, 14, 15, 16)] +
         [(20866, "KOI8-R"), (21866, "KOI8-U")])
EBCDIC = [(n, "IBM%03d" % n) for n in (37, 500, 1047)]


def points(charset, first):
    """What the bytes from first on stand for; U+FFFD: nothing."""
    for byte in range(first, 256):
        done = subprocess.run(["iconv", "-f", charset, "-t", "UTF-16BE"], input=bytes([byte]),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        yield int.from_bytes(done.stdout, "big") if done.returncode == 0 and len(done.stdout) == 2 else 0xFFFD


def rows(values, form, each):
    values = [form % v for v in values]
    for i in range(0, len(values), each):
        print("\t\t" + ", ".join(values[i:i + each]) + ",")


def main():
    print("""/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_pages_table.c - made by tests/tools/code_pages.py from what iconv knows.
 */
#include "dump/code_pages.h"

const struct code_page code_pages[] = {""")
    for number, charset in UPPER:
        print("\t{%d, { /* %s */" % (number, charset))
        rows(points(charset, 128), "0x%04X", 14)
        print("\t}},")
    print("\t{0, {0}},\n};\n\nconst struct ebcdic_page ebcdic_pages[] = {")
    for number, charset in EBCDIC:
        print("\t{%d, { /* %s */" % (number, charset))
        rows(points(charset, 0), "0x%02X", 18)
        print("\t}},")
    print("\t{0, {0}},\n};")


main()
