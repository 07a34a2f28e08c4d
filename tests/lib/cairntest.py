# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Python tests share: TAP output, the programs under test, truth files, graphs."""

import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

BUILD = os.environ.get("CAIRN_BUILD", os.getcwd())
SOURCE = os.environ.get("CAIRN_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
DUMPS = os.environ.get("CAIRN_DUMPS", "")
CAIRN = os.path.join(BUILD, "cairn")
GRAPHDUMP = os.path.join(BUILD, "tests", "tools", "graphdump")
MKDUMP = os.path.join(BUILD, "tests", "tools", "mkdump")
SAMPLE = os.path.join(SOURCE, "data", "heapdump.20261121.101500.4711.0001.phd")
GO = os.path.join(SOURCE, "data", "gocart.dump")
SHOP = os.path.join(SOURCE, "data", "shop.hprof")
SERIES = [os.path.join(SOURCE, "data", name) for name in ("shop-1.hprof", "shop-2.hprof")] + [SHOP]
SAMPLE_TEXT = os.path.join(SOURCE, "data", "heapdump.20261121.101500.4711.0001.txt")
# a shell's background job ignores these, as does nohup, and so would what is run here
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
TIMEOUT = 120  # seconds; only a hang takes that long
# "./bootstrap check --long": all that a test knows, where every check takes turns with it or tries less of a kind
LONG = bool(os.environ.get("CAIRN_LONG"))
# builds with sanitizers, and of the release archive: less than every check of the plain build
QUICK = bool(os.environ.get("CAIRN_QUICK")) and not LONG


# Which part a check takes where it does not do all: the commit's number, so that in days all is run.  ./bootstrap
# prints it; CAIRN_ROUND=N repeats a check.
ROUND = int(os.environ.get("CAIRN_ROUND") or 0)


def turn(number, choices):
    """Of each thing's choices the one whose turn it is, so that each choice meets some thing; all in the long run."""
    return list(choices) if LONG else [choices[(number + ROUND) % len(choices)]]


def some(things, every, number=0):
    """Of things in an order each every-th, from the one whose turn it is; at least one, in the long run all."""
    things = list(things)
    first = (number + ROUND) % min(every, len(things) or 1)
    return things if LONG else things[first::every]


def some_synthetic(paths, every=12):
    """Of dumps of synthetic/ the tiny ones, which have each format, and some of the larger ones, all of one heap."""
    tiny = [path for path in paths if os.path.basename(path).startswith("tiny")]
    return tiny + ([] if QUICK else some([path for path in paths if path not in tiny], every))


def seeds(few, all_of_them):
    """Of the random dumps that a test can make those whose turn it is: few, or as many as CAIRN_SEEDS says; in the long
    run all."""
    n = int(os.environ.get("CAIRN_SEEDS", all_of_them if LONG else few))
    first = ROUND % max(1, all_of_them // max(n, 1)) * n
    return range(first, first + n)


WHY_MOST = 1500  # characters


class Tap:
    """Test results as lines; done() prints the plan."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, name, detail=""):
        self.count += 1
        if not good and detail:  # who gets a list of the lines that failed sees why, too
            name += ": " + " ".join(str(detail).split())[:WHY_MOST]
        name = name.replace("#", "\\#").replace("\n", " ")
        print(("ok" if good else "not ok"), self.count, "-", name)
        if not good:
            self.failed += 1
            for line in str(detail).splitlines()[:40]:
                print("#   " + line)
        sys.stdout.flush()
        return good

    def none(self, wrong, looked_at, name, least=1):
        """Nothing is wrong with what was looked at: those things, or their number, of which there must be so many at
        least.  wrong: a line for each fault."""
        n = looked_at if isinstance(looked_at, int) else len(looked_at)
        few = [] if n >= least else ["only %d were looked at, not %d" % (n, least) if n else "nothing was looked at"]
        faults = few + [str(fault) for fault in wrong]
        return self.ok(faults == [], name, "\n".join(faults))

    def skip(self, name, why):
        self.count += 1
        print("ok", self.count, "-", name, "# SKIP", why)

    def equal(self, got, want, name):
        """Equal values; shows the first differences of lists and dicts."""
        return self.ok(got == want, name, "" if got == want else difference(got, want))

    def done(self):
        print("1..%d" % self.count)
        sys.exit(1 if self.failed else 0)


def difference(got, want):
    lines = []
    if isinstance(got, dict) and isinstance(want, dict):
        keys = sorted(set(got) | set(want), key=str)
        odd = [k for k in keys if got.get(k) != want.get(k)]
        lines.append("%d of %d differ" % (len(odd), len(keys)))
        lines += ["%s: got %.300r, want %.300r" % (k, got.get(k), want.get(k)) for k in odd[:12]]
    elif isinstance(got, list) and isinstance(want, list):
        lines.append("%d got, %d wanted" % (len(got), len(want)))
        odd = [i for i, (a, b) in enumerate(zip(got, want)) if a != b]
        lines += ["[%d]: got %.300r, want %.300r" % (i, got[i], want[i]) for i in odd[:12]]
    else:
        lines.append("got  %.2000r" % (got,))
        lines.append("want %.2000r" % (want,))
    return "\n".join(lines)


def manual_lines():
    """Of README.md and the manual."""
    for name in "README.md", os.path.join("doc", "manual.md"):
        with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
            yield from f


def manual_commands():
    """What README.md and the manual show after ":", as (dump, lines) in their order."""
    sections = []
    for line in manual_lines():
        named = re.findall(r"`cairn (data/[^`]+)`", line)
        if named:
            sections.append((named[-1], []))
        found = re.match(r"    :(.*?)(  +.*)?$", line)
        if found:
            sections[-1][1].append(found.group(1).strip())
    return sections


def skip_all(why):
    print("1..0 # SKIP " + why)
    sys.exit(0)


def need_dumps():
    """The directory of unpacked dumps; ends the test as skipped where there is none."""
    if not DUMPS:
        skip_all("CAIRN_DUMPS is not set")
    if not os.path.isdir(DUMPS):
        skip_all("CAIRN_DUMPS (%s) is no directory" % DUMPS)
    return DUMPS


def broken_dumps(tap, ending, least):
    """Each damaged dump with this ending: path, name, name without ending, and what stands before its
    damage by expected.json ({} where that does not tell).  There must be so many at least,
    of which each second is taken, with CAIRN_QUICK each sixth."""
    if not DUMPS:
        tap.skip("damaged dumps", "CAIRN_DUMPS is not set")
        return
    folder = os.path.join(need_dumps(), "broken")
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as f:
        expected = json.load(f)
    paths = sorted(glob.glob(os.path.join(folder, "*" + ending + "*")))
    tap.ok(len(paths) >= least, "there are damaged dumps", paths)
    for path in some(paths, 6 if QUICK else 2):
        name = os.path.basename(path)
        yield path, name, name.split(ending)[0], expected.get(name, {})


class Run:
    """A finished program: status, out, err (text)."""

    def __init__(self, argv, stdin=None, env=None, timeout=TIMEOUT, cwd=None, preexec=None):
        full = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "dumb", **(env or {})}
        try:
            done = subprocess.run(argv, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL if stdin is None else None,
                                  env=full, timeout=timeout, cwd=cwd,
                                  preexec_fn=preexec and (lambda: resource.setrlimit(preexec[0], (preexec[1],) * 2)))
            self.status, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as e:
            self.status, out, err = "timeout after %d s" % timeout, e.stdout or b"", e.stderr or b""
        self.out = out.decode("utf-8", "backslashreplace")
        self.err = err.decode("utf-8", "backslashreplace")

    def __str__(self):
        return "exit %s\nstdout: %.1500s\nstderr: %.1500s" % (self.status, self.out, self.err)


def cairn(*arguments, **options):
    return Run([CAIRN, *map(str, arguments)], **options)


def need_libdw():
    """Ends the test as skipped where cairn cannot read the programs of Go dumps."""
    if "without libdw" in cairn("--version").out:
        skip_all("built without libdw")


class Object:
    __slots__ = ("address", "kind", "cls", "class_address", "shallow", "length", "out", "into")

    def key(self):
        return (self.kind, self.cls, self.class_address, self.shallow, self.length)


def number(text):
    return None if text == "-" else int(text, 0)


def targets(text):
    return [int(t, 16) for t in text.split(",")] if text else []


class Graph:
    """The objects, classes and counts of a graphdump or a truth file."""

    def __init__(self, lines):
        self.objects = {}
        self.classes = {}
        self.counts = {}
        self.roots = []
        self.twice = []
        for line in lines:
            part = line.rstrip("\n").split("\t")
            if part[0] == "object":
                o = Object()
                o.address = int(part[1], 16)
                o.kind, o.cls = part[2], part[3]
                o.class_address = number(part[4])
                o.shallow, o.length = number(part[5]), number(part[6])
                o.out = targets(part[7])
                o.into = targets(part[8]) if len(part) > 8 else None
                if o.address in self.objects:
                    self.twice.append(o.address)
                self.objects[o.address] = o
            elif part[0] == "class":
                # Made-up classes have no address.
                key = number(part[1])
                if key is not None:
                    self.classes[key] = (part[2], number(part[3]), number(part[4]), number(part[5]),
                                         number(part[6]))
            elif part[0] == "root":
                self.roots.append((int(part[1], 16), part[2]))
            elif part[0] == "count":
                self.counts[part[1]] = int(part[2])

    @staticmethod
    def of_file(path):
        with open(path, encoding="utf-8") as f:
            return Graph(f)

    @staticmethod
    def of_dump(path, *options):
        run = Run([GRAPHDUMP, *options, path])
        graph = Graph(run.out.split("\n"))
        graph.run = run
        return graph

    @staticmethod
    def of_dump_by_threads(path):
        """The graph without a javacore, and what is wrong when one thread and four do not agree."""
        one, four = (Graph.of_dump(path, "-t", threads, "-n") for threads in ("1", "4"))
        wrong = [str(graph.run) for graph in (one, four) if graph.run.status != 0]
        if one.run.out != four.run.out:
            wrong.append("one thread and four differ")
        return one, wrong


def try_seeds(tap, those, one):
    """Of each seed one(directory, seed) makes a dump in an empty directory and returns its name, what is wrong
    with it, and of how many objects.  Dumps with faults are kept, and more than twenty are enough."""
    kept = tempfile.mkdtemp(prefix="random.", dir=os.path.join(BUILD, "tests"))
    for seed in those:
        directory = os.path.join(kept, str(seed))
        os.mkdir(directory)
        name, wrong, objects = one(directory, seed)
        if tap.none(wrong, objects, "seed %d: %s" % (seed, name)):
            shutil.rmtree(directory)
        if tap.failed > 20:
            print("# more than 20 failures: stopping")
            break
    if tap.failed:
        print("# the failing dumps are kept in", kept)
    else:
        shutil.rmtree(kept)


def make_dump(directory, kind, seed):
    """What "mkdump KIND --seed" makes there: (the prefix of its files, the finished program)."""
    prefix = os.path.join(directory, "r")
    return prefix, Run([MKDUMP, kind, "--seed", str(seed), "--out", prefix])


def listed(path, n, size):
    """Write a classic dump of a list of n objects, of so many bytes each."""
    with open(path, "w", encoding="ascii") as to:
        to.write("// Version: JRE 17 Linux amd64-64 build 20240716_000000 (made)\n")
        for i in range(1, n + 1):
            to.write("0x%016X [%d] OBJ Node\n\t%s\n" % (i * size, size, "0x%016X " % ((i + 1) * size) if i < n else ""))
        to.write("// EOF: Total 'Objects',Refs(null) : %d,%d(1)\n" % (n, n))


def mirror(objects):
    """In-references from out-references: address -> sorted list of referrers, one for each reference."""
    into = {a: [] for a in objects}
    for a in sorted(objects):
        for t in objects[a].out:
            if t in into:
                into[t].append(a)
    return into


def compare(got, want, keep_order=True, check_loaders=True):
    """Every way in which a graph differs from the truth; [] when it does not.

    Numbers that the truth does not know (None) are not compared; references to where no object is
    are left out of the truth's lists, as they are of the graph's.
    """
    wrong = []
    if got.twice:
        wrong.append("%d addresses twice" % len(got.twice))
    for a in sorted(set(got.objects) ^ set(want.objects))[:5]:
        wrong.append("0x%x: only in the %s" % (a, "graph" if a in got.objects else "truth"))
    into = mirror(want.objects)
    for a, w in want.objects.items():
        g = got.objects.get(a)
        if g is None:
            continue
        pairs = [("kind", g.kind, w.kind), ("class", g.cls, w.cls),
                 ("class address", g.class_address, w.class_address)]
        if w.shallow is not None:
            pairs.append(("shallow", g.shallow, w.shallow))
        if w.length is not None:
            pairs.append(("length", g.length, w.length))
        real = [t for t in w.out if t in want.objects]
        if keep_order:
            pairs.append(("out", g.out, real))
        else:
            pairs.append(("out", sorted(g.out), sorted(real)))
        pairs.append(("in", g.into, into[a]))
        for name, x, y in pairs:
            if x != y:
                wrong.append("0x%x %s: got %.200r, want %.200r" % (a, name, x, y))
        if len(wrong) > 12:
            return wrong
    for a, w in want.classes.items():
        g = got.classes.get(a)
        if g is None:
            wrong.append("class 0x%x %s is missing" % (a, w[0]))
            continue
        for i, name in enumerate(("name", "loader", "superclass", "objects", "shallow")):
            if w[i] is None and name in ("loader", "shallow"):
                continue
            if name == "loader" and not check_loaders:
                continue
            if w[i] is None and name == "superclass" and g[i] is not None:
                wrong.append("class 0x%x: superclass 0x%x of nothing" % (a, g[i]))
            elif g[i] != w[i]:
                wrong.append("class 0x%x %s: got %r, want %r" % (a, name, g[i], w[i]))
    for name, w in want.counts.items():
        if got.counts.get(name) != w:
            wrong.append("%s: got %s, want %s" % (name, got.counts.get(name), w))
    return wrong
