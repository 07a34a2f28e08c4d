#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dates beside numbers, against Python's datetime: at the borders of each unit, for names that speak of time, of
something else, and of neither; and find of each date finds just the fields that show it.
"""

import calendar
import datetime
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Run, CAIRN, Tap, cairn  # noqa: E402
from hprofmade import Made  # noqa: E402

UTC = datetime.timezone.utc
CREATED = datetime.datetime.fromtimestamp(1700000000, UTC)  # as Made writes it
FIRST = datetime.datetime(2000, 1, 1, tzinfo=UTC)
LAST = CREATED.replace(year=CREATED.year + 10)
UNITS = (1, 10**3, 10**6, 10**9)
ANY, BY_ITSELF, NONE = UNITS, UNITS[1:3], ()
NAMES = {"lastSeen": ANY, "createdAt": ANY, "expires": ANY, "modificationTime": ANY, "ctimestamp": ANY, "sent_at": ANY,
         "total": BY_ITSELF, "x": BY_ITSELF, "flat": BY_ITSELF, "Attempts": BY_ITSELF,
         "lastNanoTime": UNITS[3:], "sentMillis": UNITS[1:2], "xdostime": NONE,
         "id": NONE, "userId": NONE, "serialVersionUID": NONE, "hashCode": NONE, "bufferAddress": NONE, "timeId": NONE}


def shown(number, units):
    """The date that stands beside it, or None."""
    for unit in units:
        whole, rest = divmod(number, unit)
        nanos = rest * (10**9 // unit)
        try:
            at = datetime.datetime.fromtimestamp(0, UTC) + datetime.timedelta(seconds=whole)
        except OverflowError:
            continue
        if at < FIRST or at > LAST or (at == LAST and nanos):
            continue
        fraction = "%09d" % nanos
        while fraction.endswith("000"):
            fraction = fraction[:-3]
        return at.strftime("%Y-%m-%dT%H:%M:%S") + ("." + fraction if fraction else "") + "Z"
    return None


def numbers():
    made = [0, 1, -1, -1700000000000, 2**31, 2**30, 2**62, -2**63, 2**63 - 1]
    for unit in UNITS:
        for border in (FIRST, LAST):
            seconds = calendar.timegm(border.timetuple())
            made += [seconds * unit + d for d in (-1, 0, 1)] + [(seconds + d) * unit for d in (-1, 1)]
        some = random.Random(unit)
        first, last = (calendar.timegm(t.timetuple()) for t in (FIRST, LAST))
        made += [some.randrange(first * unit, last * unit) for _ in range(40)]
        for y, m, d in ((2000, 2, 29), (2004, 2, 29), (2016, 12, 31), (2020, 2, 29), (2020, 3, 1), (2023, 1, 1)):
            made.append(calendar.timegm((y, m, d, 23, 59, 59)) * unit)
    return made


def main():
    t = Tap()
    m = Made()
    m.cls("Times", [("J", name) for name in NAMES])
    m.cls("Small", [("I", "createdAt"), ("I", "total")])
    held = {}
    for n in numbers():
        at = m.new("Times", **{name: n for name in NAMES})
        m.root(at)
        held[at] = n
    small = m.new("Small", createdAt=1700000001, total=1700000001)
    m.root(small)
    longs = m.primitives("J", b"".join(n.to_bytes(8, "big", signed=True) for n in (1700000001, 1700000001500)))
    m.root(longs)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "times.hprof")
        with open(path, "wb") as f:
            f.write(m.bytes())
        argv = [CAIRN]
        for at in held:
            argv += ["-x", "x 0x%x" % at]
        out = Run(argv + [path]).out
        blocks = re.split(r"(?m)^address +", out)[1:]
        wrong, looked, by_date = [], 0, {}
        for (at, n), block in zip(held.items(), blocks):
            for name, units in NAMES.items():
                said = re.search(r"(?m)^%s +long +(-?\d+)(?:  (\S+))?$" % name, block)
                want = shown(n, units)
                looked += 1
                if not said or int(said.group(1)) != n or said.group(2) != want:
                    wrong.append((name, n, want, said and said.groups()))
                if want:
                    by_date.setdefault(want, set()).add((at, name))
        t.ok(len(blocks) == len(held) and looked == len(held) * len(NAMES), "each field is looked at")
        t.none(wrong, looked, "dates are those of Python's datetime", 1000)
        t.ok(len(by_date) > 100, "there are dates")

        line = cairn("-x", "x 0x%x" % small, "-x", "x 0x%x" % longs, path).out
        t.ok(re.search(r"createdAt +int +1700000001  2023-11-14T22:13:21Z$", line, re.M) is not None and
                re.search(r"total +int +1700000001$", line, re.M) is not None, "seconds of an int, if its name says so")
        t.ok(re.search(r"\[0\] +long +1700000001$", line, re.M) is not None and
                re.search(r"\[1\] +long +1700000001500  2023-11-14T22:13:21\.500Z$", line, re.M) is not None,
                "elements have no name: milliseconds only")

        wrong = []
        some = random.Random(7).sample(sorted(by_date), 60)
        argv = [CAIRN, "--format", "csv"]
        for date in some:
            argv += ["-x", "find %s | cut address,field" % date]
        answers = re.split(r"(?m)^address,field\n", Run(argv + [path]).out.replace("\r", ""))[1:]
        for date, answer in zip(some, answers):
            found = {(int(a, 16), f) for a, f in re.findall(r"(?m)^(0x\w+),(\w+)$", answer) if int(a, 16) in held}
            if found != by_date[date]:
                wrong.append((date, sorted(found ^ by_date[date])[:3]))
        t.none(wrong, len(answers), "find finds the fields that show a date", len(some))
        for word, finds in (("2023-11-14T22:13:21", True), ("'2023-11-14 22:13:21Z'", True), ("2023-11-14T22:13:22Z", False),
                            ("2023-02-29T22:13:21Z", False), ("2023-11-14T24:13:21Z", False), ("1999-12-31T23:59:59Z", False),
                            ("2023-11-14T22:13:21.Z", False), ("2023-11-14T22:13:21ZZ", False)):
            r = Run([CAIRN, "--format", "csv", "-x", "find %s | cut address,field" % word, path])
            t.ok(("createdAt" in r.out) == finds, "find %s: %s" % (word, "Small.createdAt" if finds else "nothing"))
        csv = cairn("--format", "csv", "-x", "x 0x%x" % small, path).out
        t.ok("2023-11-14T" not in csv, "csv has the number alone")
    t.done()


if __name__ == "__main__":
    main()
