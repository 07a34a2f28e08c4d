#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes src/view/term/terminals_table.c to standard output: the descriptions of terminals that cairn brings along,
as this machine's infocmp tells them (Debian: ncurses-term, kitty-terminfo and foot-terminfo have them all), cut
to the capabilities that curses and readline use."""

import re
import subprocess
import sys

# each with the one that it is told as a difference to
TYPES = (("xterm", None), ("xterm-256color", "xterm"), ("alacritty", "xterm-256color"), ("foot", "xterm-256color"),
         ("st-256color", "xterm-256color"), ("xterm-kitty", "xterm-256color"), ("rxvt", "xterm"),
         ("rxvt-unicode-256color", "xterm-256color"), ("screen", None), ("screen-256color", "screen"),
         ("tmux", "screen"), ("tmux-256color", "tmux"), ("linux", None), ("vt52", None), ("vt100", None),
         ("vt220", "vt100"), ("ansi", None), ("dumb", None))
KEPT = frozenset("""am bce km mir msgr xenl xon cols colors it lines ncv pairs
    acsc bel bold cbt civis clear cnorm cr csr cub cub1 cud cud1 cuf cuf1 cup cuu cuu1 cvvis dch dch1 dim dl dl1
    ech ed el el1 enacs flash home hpa ht ich il il1 ind indn op rc rep rev ri rin ritm rmacs rmcup rmir rmkx rmso
    rmul sc setab setaf sgr sgr0 sitm smacs smcup smir smkx smso smul vpa
    kbs kcbt kcub1 kcud1 kcuf1 kcuu1 kdch1 kend khome kich1 kmous knp kpp
    kf1 kf2 kf3 kf4 kf5 kf6 kf7 kf8 kf9 kf10 kf11 kf12""".split())
ESCAPED = {"E": 27, "n": 10, "r": 13, "t": 9, "b": 8, "f": 12, "s": 32}


def decoded(value):
    """The bytes of a string as infocmp writes it."""
    for plain, octal, letter, control in re.findall(r"([^\\^])|\\([0-7]{3})|\\(.)|\^(.)", value, re.S):
        if plain:
            yield ord(plain)
        elif octal:
            yield int(octal, 8)
        elif letter:
            yield ESCAPED.get(letter, ord(letter))
        else:
            yield ord(control) ^ 64


def told(name):
    """Of this terminal what is kept: {capability: its text in the table}."""
    found = {}
    for line in subprocess.run(["infocmp", "-1", name], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        if not line.startswith("\t"):
            continue
        capability, kind, value = re.fullmatch(r"\t(\w+|[^#=]+)([#=]?)(.*),", line).groups()
        if capability not in KEPT:
            continue
        if kind == "#":
            value = str(int(value, 0))
        elif kind == "=":
            value = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else "\\%03o" % b for b in decoded(value))
        found[capability] = capability + kind + value
    return found


def rows(words):
    """Lines of at most 120 columns."""
    line = "\t"
    for word in words:
        if len(line) + 3 + len(word) > 117 and line != "\t":
            yield line.rstrip()
            line = "\t"
        line += word + ", "
    yield line + "NULL"


def main():
    print("""/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminals_table.c - what terminals can do, for hosts that do not know them.
 *
 * Made by tests/tools/terminals.py from what infocmp tells; names and notation are those of terminfo(5), but a
 * string stands here as its bytes.  NAME@ is a capability of the base that this one lacks.
 */
#include "view/term/terminals.h"

#include <stddef.h>
""")
    known = {None: {}}
    for name, base in TYPES:
        known[name] = told(name)
        words = [text for key, text in known[name].items() if known[base].get(key) != text]
        words += [key + "@" for key in known[base] if key not in known[name]]
        # the longest in two halves, joined by the compiler; none begins with a digit, which would go on an octal
        words = ['"%s"' % re.sub(r"^(.{110,})$", lambda w: re.sub(r"^(.{60,90})(?=[\\%])", '\\1"\n\t    "', w[1]), w)
                 for w in words]
        print("static const char *const of_%s[] = {\n%s\n};\n" % (name.replace("-", "_"), "\n".join(rows(words))))
    print("const struct terminal_type terminal_types[] = {")
    for name, base in TYPES:
        print('\t{"%s", %s, of_%s},' % (name, '"%s"' % base if base else "NULL", name.replace("-", "_")))
    print("\t{NULL, NULL, NULL},\n};")


sys.stdout.reconfigure(encoding="ascii")
main()
