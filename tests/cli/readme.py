#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What README.md and doc/manual.md show works as written, in their order.

A line that is indented and begins with ":" is a command for the dump named last before it; what
follows two blanks explains it.  Indented lines that begin with "cairn -x" are for the shell, on my.*.
"""

import os
import re
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SAMPLE, SHOP, SOURCE, Tap, cairn, manual_commands, manual_lines  # noqa: E402


def run_all(tap, dump, lines):
    """One session: what a line leaves behind is there for the next."""
    if dump.endswith(".dump") and "without libdw" in cairn("--version").out:
        tap.skip("the lines about %s" % dump, "Go types need libdw")
        return
    words = []
    for line in lines:
        words += ["-x", line]
    got = cairn(*words, *[os.path.join(SOURCE, d) for d in dump.split()])
    tap.ok(got.status == 0 and not got.err, "%d lines about %s" % (len(lines), dump),
           "status %d\n%s" % (got.status, got.err))


def shell_lines():
    for line in manual_lines():
        found = re.match(r"    (cairn .*-x .*?)(  +#.*)?$", line)
        if found and "4711" not in found.group(1):  # a running VM: truth/live.py
            yield found.group(1)


def main():
    tap = Tap()
    sections = manual_commands()
    series = "data/shop-1.hprof data/shop-2.hprof data/shop.hprof"
    tap.ok({dump for dump, _ in sections} >= {"data/shop.hprof", series, "data/gocart.dump"} and
           sum(len(lines) for _, lines in sections) > 15, "the manual has commands")
    for dump, lines in sections:
        run_all(tap, dump, lines)
    shell = list(shell_lines())
    tap.ok(shell, "the manual has lines for a shell")
    for line in shell:
        words = shlex.split(line)[1:]
        words = [{"my.phd": SAMPLE, "my.hprof": SHOP}.get(w, w) for w in words]
        got = cairn(*words)
        tap.ok(got.status == 0 and got.out and not got.err, line, "status %d\n%s" % (got.status, got.err))
    tap.done()


main()
