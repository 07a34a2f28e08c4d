#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How time and memory grow with the dump: made dumps of 1, 3, 10, 30 … million objects of each format.

    bench/growth.py [-b BUILD] [-m MILLIONS] [-f FORMAT,…] [-r RUNS] [-d DIR] [-o SVG]
    bench/growth.py --draw TSV -o SVG

Of each dump bench/phases tells, with one thread and with two, the seconds of the clock and of the processor and the peak of
counted memory up to the first histogram, to references both ways with the roots, and to retained sizes; the least of RUNS (2)
counts.  A dump is made in DIR (BUILD/bench), measured and removed before the next; what does not fit on the disk or into memory is
left out, and that is said.  It prints a table with the exponents (1: time as the number of objects; 2: as its square),
leaves the figures in BUILD/bench/growth.tsv, and draws them into SVG (doc/growth.svg).

With -m 30 -r 1 it takes 4 minutes on an idle machine with two processors, with -m 100 11.
"""

import argparse
import math
import os
import subprocess
import sys

SIZES = (1, 3, 10, 30, 100)
# Of each format: how it is made, bytes an object on the disk, colour, mark.
FORMATS = {"PHD": (("bench", "--phd"), 17, "#0072b2", "circle"), "classic": (("bench", "--classic"), 106, "#d55e00", "square"),
           "HPROF": (("bench", "--hprof"), 76, "#009e73", "triangle"), "Go": (("go-bench", "--out"), 56, "#aa3377", "diamond")}
STAGES = (("histogram", "the first histogram", "first_histogram", "histogram_cpu", "histogram_peak"),
          ("references", "references both ways, and roots", "whole_graph", "cpu_seconds", "big_peak"),
          ("retained", "retained sizes", "retained_sizes", "retained_cpu", "retained_peak"))
PEAK = 90  # bytes of memory an object, at most
COLUMNS = ("format", "objects", "references", "bytes", "threads", "stage", "wall", "processor", "peak")


def available():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))


def phases(build, threads, dump):
    run = subprocess.run([os.path.join(build, "bench", "phases"), "-t", str(threads), dump], check=True, stdout=subprocess.PIPE)
    return {k: float(v) for k, v in (line.split("\t") for line in run.stdout.decode().splitlines())}


def measure(options, name, millions, rows):
    make, each = FORMATS[name][:2]
    n = millions * 1000000
    disk = os.statvfs(options.directory)
    short = [what for what, need, there in (("disk", n * each * 1.05, disk.f_bavail * disk.f_frsize), ("memory", n * PEAK, available()))
             if need > there]
    if short:
        print("# %s of %d million objects is left out: not enough %s" % (name, millions, " and ".join(short)), flush=True)
        return
    dump = os.path.join(options.directory, "growth.dump")
    try:
        subprocess.run([os.path.join(options.build, "tests", "tools", "mkdump"), make[0], "--objects", str(n), make[1], dump], check=True)
        with open(dump, "rb") as f:  # into the page cache, where there is room
            while f.read(1 << 22):
                pass
        for threads in (1, 2):
            runs = [phases(options.build, threads, dump) for _ in range(options.runs)]
            for stage, _, wall, processor, peak in STAGES:
                row = (name, int(runs[0]["objects"]), int(runs[0]["references"]), int(runs[0]["bytes"]), threads, stage,
                       min(r[wall] for r in runs), min(r[processor] for r in runs), int(max(r[peak] for r in runs)))
                rows.append(row)
                print("%-8s %5.0f M %10s  %d thread%s %8.2f s %8.2f s of processor %8.1f MB %6.1f bytes an object" %
                      (name, row[1] / 1e6, stage, threads, "s:" if threads > 1 else ": ", *row[6:8], row[8] / 1e6, row[8] / row[1]), flush=True)
    finally:
        if os.path.exists(dump):
            os.unlink(dump)


def series(rows, name, stage, threads, column):
    at = COLUMNS.index(column)
    return sorted((r[1], r[at]) for r in rows if r[0] == name and r[5] == stage and r[4] == threads and r[at] > 0)


def exponent(points):
    """The slope of the straight line through the logarithms."""
    if len(points) < 2:
        return math.nan
    x, y = ([math.log(p[i]) for p in points] for i in (0, 1))
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def tell(rows):
    print("\nexponents        processor time, 1 thread, 2 threads       memory")
    for name in FORMATS:
        for stage, *_ in STAGES:
            fits = [exponent(series(rows, name, stage, *what)) for what in ((1, "processor"), (2, "processor"), (1, "peak"))]
            if not math.isnan(fits[0]):
                print("%-8s %-12s %18.2f %10.2f %16.2f" % (name, stage, *fits))


# --- drawing ---------------------------------------------------------------------------------------

PANEL, HIGH, LEFT, TOP, GAP, ROW = 262, 250, 66, 116, 58, 74


def mark(kind, x, y, colour):
    shapes = {"circle": '<circle cx="%.1f" cy="%.1f" r="4"' % (x, y),
              "square": '<rect x="%.1f" y="%.1f" width="7" height="7"' % (x - 3.5, y - 3.5),
              "triangle": '<path d="M%.1f %.1fl5 8.5h-10z"' % (x, y - 5),
              "diamond": '<path d="M%.1f %.1fl5 5l-5 5l-5-5z"' % (x, y - 5)}
    return shapes[kind] + ' fill="%s"/>' % colour


def amount(value, unit):
    """A tick in few characters: seconds, or megabytes."""
    if unit == "s":
        return "%g s" % value
    return "%g MB" % value if value < 1000 else "%g GB" % (value / 1000)


def panel(rows, column, scale, unit, left, top, stage, title, low, high):
    objects = [r[1] for r in rows]
    x0, x1 = math.log10(min(objects)) - 0.08, math.log10(max(objects)) + 0.08
    y0, y1 = math.log10(low), math.log10(high)

    def place(n, value):
        return left + PANEL * (math.log10(n) - x0) / (x1 - x0), top + HIGH * (1 - (math.log10(value) - y0) / (y1 - y0))

    out = ['<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>' % (left, top, PANEL, HIGH),
           '<text x="%d" y="%d" class="title">%s</text>' % (left, top - 8, title)]
    for power in range(math.ceil(y0), math.floor(y1) + 1):
        y = place(min(objects), 10.0 ** power)[1]
        out.append('<path d="M%d %.1fh%d" stroke="#ddd"/>' % (left, y, PANEL))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (left - 6, y + 4, amount(10.0 ** power, unit)))
    for millions in SIZES:
        if x0 <= math.log10(millions * 1e6) <= x1:
            x = place(millions * 1e6, high)[0]
            out.append('<path d="M%.1f %dv%d" stroke="#eee"/>' % (x, top, HIGH))
            out.append('<text x="%.1f" y="%d" text-anchor="middle">%d M</text>' % (x, top + HIGH + 16, millions))
    # what grows as the objects do runs beside this line
    a, b = place(min(objects), low * 1.4), place(max(objects), low * 1.4 * max(objects) / min(objects))
    if b[1] > top:
        out.append('<path d="M%.1f %.1fL%.1f %.1f" stroke="#999" stroke-dasharray="2 4"/>' % (*a, *b))
    for name, (_, _, colour, kind) in FORMATS.items():
        for threads, dash in ((1, ""), (2, ' stroke-dasharray="7 4"')):
            if not column[threads]:
                continue
            points = [place(n, value / scale) for n, value in series(rows, name, stage, threads, column[threads])]
            if len(points) > 1:
                out.append('<path d="M%s" fill="none" stroke="%s" stroke-width="2"%s/>' %
                           ("L".join("%.1f %.1f" % p for p in points), colour, dash))
            out += [mark(kind, *p, colour) for p in points]
    return out


def bounds(rows, columns, scale):
    values = [r[COLUMNS.index(columns[r[4]])] / scale for r in rows if columns.get(r[4])]
    values = [v for v in values if v > 0]
    return min(values) / 1.5, max(values) * 1.5


def draw(rows, path, busy):
    clock = "processor" if busy else "wall"
    wide, high = LEFT + 3 * (PANEL + GAP) + 10, TOP + 2 * (HIGH + ROW) + 22
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">' % (wide, high, wide, high),
           "<style>text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.head{font:bold 17px sans-serif}</style>",
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="%d" y="28" class="head">cairn: time and memory over the number of objects (logarithmic both ways)</text>' % LEFT]
    x = LEFT
    for name, (_, _, colour, kind) in FORMATS.items():
        out += ['<path d="M%d 50h26" stroke="%s" stroke-width="2"/>' % (x, colour), mark(kind, x + 13, 50, colour),
                '<text x="%d" y="54">%s</text>' % (x + 32, name)]
        x += 100
    x = LEFT
    for text, colour, dash in (("one thread", "#333", "none"), ("two threads", "#333", "7 4"), ("grows as the objects do", "#999", "2 4")):
        out += ['<path d="M%d 72h30" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>' % (x, colour, dash),
                '<text x="%d" y="76">%s</text>' % (x + 36, text)]
        x += 60 + 7 * len(text)
    kinds = [({1: clock, 2: clock}, 1, "s", "processor time to " if busy else "time to "), ({1: "peak", 2: None}, 1e6, "MB", "peak memory to ")]
    for row, (columns, scale, unit, words) in enumerate(kinds):
        low, most = bounds(rows, columns, scale)
        for i, (stage, title, *_) in enumerate(STAGES):
            title = title.replace(", and roots", "")
            told = [r for r in rows if columns[r[4]]]
            out += panel(told, columns, scale, unit, LEFT + i * (PANEL + GAP), TOP + row * (HIGH + ROW), stage, words + title, low, most)
    out.append('<text x="%d" y="%d">millions of objects of made dumps: most references lead near by, one in thirty anywhere (Go: one in five); '
               'most objects have several referrers</text></svg>' % (LEFT, high - 10))
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


# --- the whole -------------------------------------------------------------------------------------

def read(path):
    kinds = (str, int, int, int, int, str, float, float, int)
    with open(path, encoding="utf-8") as f:
        return [tuple(kind(v) for kind, v in zip(kinds, line.split("\t"))) for line in list(f)[1:]]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ask = argparse.ArgumentParser(usage=__doc__[__doc__.index("    bench"):].replace("\n    bench", "\n       bench"))
    ask.add_argument("-b", dest="build", default="build")
    ask.add_argument("-m", dest="millions", type=int, default=30)
    ask.add_argument("-f", dest="formats", default=",".join(FORMATS))
    ask.add_argument("-r", dest="runs", type=int, default=2)
    ask.add_argument("-d", dest="directory")
    ask.add_argument("-o", dest="svg", default=os.path.join(here, "..", "doc", "growth.svg"))
    ask.add_argument("--draw", dest="tsv")
    ask.add_argument("--busy", action="store_true", help="draw processor seconds: others work on this machine")
    options = ask.parse_args()
    if options.tsv:
        rows = read(options.tsv)
    else:
        options.directory = options.directory or os.path.join(options.build, "bench")
        os.makedirs(options.directory, exist_ok=True)
        rows = []
        for millions in (m for m in SIZES if m <= options.millions):
            for name in options.formats.split(","):
                measure(options, name, millions, rows)
            with open(os.path.join(options.directory, "growth.tsv"), "w", encoding="utf-8") as f:
                f.writelines("\t".join(map(str, row)) + "\n" for row in [COLUMNS, *rows])
    if not rows:
        sys.exit("growth.py: nothing was measured")
    tell(rows)
    draw(rows, options.svg, options.busy)


main()
