#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures in doc/pictures are what the screen shows: made once more, they are the same."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SOURCE, Tap, skip_all  # noqa: E402
sys.path.insert(0, os.path.join(SOURCE, "doc"))
sys.dont_write_bytecode = True
import pictures  # noqa: E402


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)", svg)


def main():
    if not shutil.which("tmux"):
        skip_all("tmux is not installed")
    tap = Tap()
    for picture, make in [(p, pictures.take) for p in pictures.PICTURES] + [(r, pictures.record) for r in pictures.RECORDINGS]:
        with open(os.path.join(SOURCE, "doc", "pictures", picture[0] + ".svg"), encoding="utf-8") as f:
            kept = f.read()
        made = make(*picture)
        odd = [(a, b) for a, b in zip(texts(kept), texts(made)) if a != b][:5]
        tap.ok(made == kept, "%s.svg is the screen of today (make pictures renews it)" % picture[0],
               "\n".join("%s: now %s" % pair for pair in odd))
    tap.done()


main()
