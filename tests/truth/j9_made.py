#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""System dumps of OpenJ9 that are made here, with structures laid out as in no release: cairn finds what was
planned, and says in one sentence what is missing where they are damaged.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import j9_made  # noqa: E402
from cairntest import GRAPHDUMP, QUICK, Graph, Run, Tap, cairn, some  # noqa: E402

SHAPES = {
    "compressed": {},
    "compressed, big endian": {"big": True, "shift": 2, "seed": 2},
    "full": {"compressed": False, "seed": 3},
    "full, big endian": {"compressed": False, "big": True, "seed": 4},
    "32 bits": {"word": 4, "seed": 5},
    "32 bits, big endian": {"word": 4, "big": True, "seed": 6},
}
COLLECTORS = "gencon", "balanced", "offheap", "metronome"
TIMEOUT = 20


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def check_plan(tap, name, made, path):
    run = Run([GRAPHDUMP, "-n", path])
    tap.ok(run.status == 0 and "neither" not in run.err, name + ": it is read", run)
    got, plan = Graph(run.out.split("\n")), made.plan
    tap.equal({a: (o.cls, o.kind, o.shallow, o.length, sorted(o.out)) for a, o in got.objects.items()},
              {a: (titled(p[0]), *p[1:]) for a, p in plan.objects.items()}, name + ": objects")
    tap.equal(sorted(set(got.roots)), sorted(set(plan.roots)), name + ": roots")
    want = {}
    for c in made.classes.values():
        if not c.dying:
            loader = made.loaders[2 if c.leaf or c.name in made.THIRD else list(made.classes).index(c.name) % 2]
            want[c.object] = (titled(c.title()), loader, c.above.object if c.above else None)
    tap.equal({a: c[:3] for a, c in got.classes.items()}, want, name + ": classes")
    threads = json.loads(cairn("-n", "--no-index", "--format", "json", "-x", "threads", path).out or "[]")
    tap.equal([t["name"] for t in threads], plan.threads, name + ": threads")


def titled(name):
    """[LNode; is Node[]."""
    leaf = {"B": "byte", "J": "long"}.get(name.strip("["), name.strip("[;")[1:]) if name[0] == "[" else name
    return leaf + "[]" * name.count("[")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "made.core")
        for shape, options in SHAPES.items():
            for collector in COLLECTORS:
                made = j9_made.Made(collector=collector, **options)
                write(path, made.core())
                check_plan(tap, shape + ", " + collector, made, path)
    tap.done()


main()
