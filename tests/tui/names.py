#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names are whole as long as there is room: on the main pages, with the widest names of each dump.

A clipped name is a fault if it still has its packages; if columns of its list or pane are blank in every row, or those
of a bar that is wider than it must be; or if a pane beside its list could be narrower.
"""

import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import SAMPLE, SAMPLE_TEXT, SOURCE, Tap, cairn, some  # noqa: E402
from vt52 import Screen  # noqa: E402

DATA = os.path.join(SOURCE, "data")
SHOP = [os.path.join(DATA, name) for name in ("shop-1.hprof", "shop-2.hprof", "shop.hprof")]
REAL = ["apps/tc1.hprof", "apps/scala.hprof", "apps/groovy.hprof", "waste/oom/waste-oom.hprof", "go/go-small.dump",
        "public/dialer.android-hprof", "grove/grove25.hprof"]
WIDTHS = (80, 120, 200)
HEIGHT = 35
GAP, BAR_LEAST, PANE_LEAST = 2, 8, 37  # columns between columns; of a bar, and of a pane at the side
PAGES_BELOW = 6
SIGN = 4  # columns at the end of a header, for the number of columns without room
CUT = re.compile(r"[A-Za-z$)\]]\.\.(?![.\d])|(?<![.,\d ])\.\.[A-Za-z$]")
PACKAGE = re.compile(r"\b[a-z]+\.[a-z]+\.[a-zA-Z.]*\.\.|\.\.[a-z]*\.[a-z]+\.[a-z]+\.[A-Z]")


def plain(line):
    """Without the texts and lists of values, which may be clipped."""
    return re.sub(r'"[^"]*("|$)|\{.*|\[[-\d].*|= .*|0x[0-9a-f]*\.\.', lambda m: "q" * len(m.group()), line)


def parts(lines, width):
    """Between the borders, those across the screen first: what stands in each, and its columns."""
    lines = [line.ljust(width) for line in lines]
    across = [-1, *(y for y, line in enumerate(lines) if line.count("-") > 0.9 * width), len(lines)]
    for top, bottom in zip(across, across[1:]):
        band = lines[top + 1:bottom]
        borders = [x for x in range(width) if band and sum(line[x] == "|" for line in band) >= 0.6 * len(band)]
        edges = [-1, *borders, width]
        yield [[row for row in (plain(line[left + 1:right]) for line in band) if row.strip()]
               for left, right in zip(edges, edges[1:]) if right - left > 1]


def unused(rows):
    """Columns of a part that are blank in all rows, but for gaps; and those of bars."""
    width, columns, blank, bar = len(rows[0]) if rows else 0, 0, 0, 0
    for x in range(width + 1):
        seen = {row[x] for row in rows} if x < width else set()
        if seen == {" "}:
            blank += 1
            continue
        columns += max(0, blank - (GAP if x < width else 1))
        blank = 0
        bar += bool(seen) and seen <= {" ", "#", "="}
    return columns + max(0, bar - BAR_LEAST)


def is_list(rows):
    return any(row.startswith(">") for row in rows)


def faults(pages, width):
    """Clipped names of a page, and why they need not be.  The screens after the first one have more rows of its list."""
    bands, *further = [list(parts(lines, width)) for lines in pages]
    found = []
    for k, band in enumerate(bands):
        for i, rows in enumerate(band):
            cut = [row.strip() for row in rows if CUT.search(row)]
            found += [(row, "it has packages") for row in cut
                      if PACKAGE.search(row) and not re.search(r"\bgoroutine\b|^(> *)?g\d+ ", row)]
            beside = [part for at, part in enumerate(band)
                      if is_list(rows) and abs(at - i) == 1 and part and len(part[0]) > PANE_LEAST]
            more = [row for page in further if is_list(rows) and k < len(page) and i < len(page[k]) for row in page[k][i]
                    if len(row) == len(rows[0])]
            if cut and unused(rows + more) > SIGN:
                found.append((cut[0], "%d columns are unused" % unused(rows + more)))
            if cut and beside:
                found.append((cut[0], "a pane has %d columns" % max(len(part[0]) for part in beside)))
    return found


def widest(dump):
    """The class whose name is widest without its package."""
    rows = json.loads(cairn("-x", "histo", "--format", "json", dump).out)
    return max((row["class"] for row in rows), key=lambda name: len(re.split(r"[./]", name)[-1]))


def settled(screen):
    while screen.take(0.25):
        pass
    return screen.lines()[2:-2]


def check(screen, width):
    """The faults of a page.  What seems to be unused may be for rows further below."""
    pages = [settled(screen)]
    found = faults(pages, width)
    for _ in range(PAGES_BELOW if found else 0):
        screen.type("\x06")
        pages.append(settled(screen))
    if found:
        screen.type("g")
        found = faults(pages, width)
    return found


def look(dump, width, older=()):
    """What is wrong, and how many pages were seen."""
    screen = Screen(*older, dump, width=width, height=HEIGHT)
    wrong, pages = [], 0
    try:
        screen.until(r"(^|\|)>")
        for name, keys in (("histogram", ""), ("widest class", "f" + widest(dump).split(" ")[0] + "\r"), ("its objects", "\r"),
                           ("an object", "\r"), ("overview", "0"), ("heap", "2"), ("heap, open", "*"), ("leaks", "3"),
                           ("threads", "4"), *((name, ":%s\r" % name) for name in (("diff", "growth", "trend") if older else ()))):
            screen.type(keys)
            pages += 1
            wrong += ["%s %d %s: %s" % (os.path.basename(dump), width, name, fault)
                      for fault in check(screen, width)]
    finally:
        screen.close()
    return wrong, pages


def main():
    tap = Tap()
    dumps = [SAMPLE, SAMPLE_TEXT, SHOP[1], SHOP[2], os.path.join(DATA, "gocart.dump")]
    if "CAIRN_DUMPS" in os.environ:
        dumps += [path for path in (os.path.join(os.environ["CAIRN_DUMPS"], name) for name in REAL) if os.path.exists(path)]
    all_looks = [(dump, width, ()) for dump in dumps for width in WIDTHS]
    all_looks += [(SHOP[1], width, (SHOP[0],)) for width in WIDTHS]
    looks = some(all_looks, len(all_looks) // 4)
    with concurrent.futures.ThreadPoolExecutor(len(looks) if len(looks) < 6 else 4) as pool:
        seen = list(pool.map(lambda these: look(*these), looks))
    wrong = [fault for faults_of_one, _ in seen for fault in faults_of_one]
    tap.none(wrong, sum(pages for _, pages in seen), "no simple name is clipped where there is room")
    tap.done()


if __name__ == "__main__":
    main()
