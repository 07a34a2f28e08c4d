#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What src/heap/library.txt says of packages, against the JDKs of this machine and against the loaders of dumps."""

import csv
import glob
import io
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, SHOP, SOURCE, Tap, cairn, some  # noqa: E402

DUMPS = os.environ.get("CAIRN_DUMPS", "")
PLATFORM = ("", "<boot>", "jdk.internal.loader.ClassLoaders$PlatformClassLoader", "sun.misc.Launcher$ExtClassLoader")


def read_list():
    """The names under each heading."""
    found, names = {}, None
    with open(os.path.join(SOURCE, "src", "heap", "library.txt"), encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith("["):
                names = found.setdefault(line.strip("[]"), [])
            elif line and not line.startswith("#"):
                names.append(line)
    return found


def fits(names, name):
    """How long the longest is that fits."""
    return max([len(n) for n in names if (name.startswith(n[:-1]) if n.endswith("*") else name == n)], default=0)


def packages(java):
    """The packages of the modules of a JDK, of a quarter of them by turns."""
    run = lambda *words: subprocess.run([java, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,  # noqa: E731
                                        timeout=120).stdout
    found = set()
    for module in some([m.split("@")[0] for m in run("--list-modules").split()], 4):
        for line in run("--describe-module", module).splitlines():
            words = line.split()
            if words[:2] == ["qualified", "exports"] or words[:2] == ["qualified", "opens"]:
                found.add(words[2])
            elif words and words[0] in ("exports", "contains", "opens"):
                found.add(words[1])
    return {p for p in found if "." in p and not p.startswith(("images.", "toolbarButtonGraphics."))}  # pictures


def modules(tap, names):
    javas = sorted(glob.glob("/usr/lib/jvm/*/bin/java")) or [j for j in [shutil.which("java")] if j]
    javas = {os.path.realpath(j): j for j in javas}
    if not javas:
        tap.skip("packages of a JDK", "there is no java")
    for java in sorted(javas):
        of = packages(java)
        odd = sorted(p for p in of if not fits(names["jdk"] + names["jdk or library"], p + ".X"))
        if of:
            tap.none(odd, of, "the list has %d packages of %s" % (len(of), java))
        else:
            tap.skip("packages of " + java, "it has no modules")


def loaders(tap, names):
    """Classes of the boot loader and the platform's are the JDK's; those of other loaders are not."""
    dumps = [d for f in ("apps", "hotspot", "public", "today") for d in
             sorted(glob.glob(os.path.join(DUMPS, f, "**", "*.hprof*"), recursive=True))] if DUMPS else []
    if not dumps:
        tap.skip("loaders of dumps", "CAIRN_DUMPS names no folder of them")
    seen, odd = 0, set()
    for dump in some(dumps, 3):
        done = subprocess.run([CAIRN, "--no-config", "--format", "csv", "--csv", "raw", "-x",
                               "sql SELECT DISTINCT class, loader_class FROM classes", dump],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
        if not any(row[1].endswith("AppClassLoader") for row in rows):
            continue  # the dump does not say who loaded what
        for name, loader in rows:
            name = name.split("[")[0]
            jdk, either = fits(names["jdk"], name), fits(names["jdk or library"], name)
            if "." not in name or either > jdk or loader == "?":
                continue
            seen += 1
            generated = "$$" in name or "$Proxy" in name or name.startswith(("jdk.internal.reflect.", "sun.reflect.Generated"))
            if (loader in PLATFORM) != bool(jdk) and not generated and not name.startswith("com.sun.tools."):
                odd.add((name, loader))
    if dumps:
        tap.ok(seen > 1000 and not odd, "the list agrees with the loaders of %d classes" % seen, sorted(odd)[:40])


def wishes(tap):
    """By the library's rule java.lang.Thread is not the program's and com.acme.shop is; the user may say otherwise."""
    ask = lambda *lines: cairn("--no-config", *[w for line in lines for w in ("-x", line)], SHOP)  # noqa: E731
    shown = ask("set not-mine com.acme.*", "set mine com.acme.shop.*", "set")
    tap.ok("com.acme.shop.*" in shown.out and shown.status == 0, "set shows what is mine and what is not", shown)
    wrong = ask("set mine com.*.shop")
    tap.ok(wrong.status != 0 and "com.acme.*" in wrong.err, "* in the middle is refused", wrong)
    plan, other = ask("cut -plan 64K"), ask("set not-mine com.acme.*", "cut -plan 64K")
    tap.ok("e000e598.orders" in plan.out and ".orders" not in other.out, "a plan clears no reference of what is not mine",
           "%s\n%s" % (plan, other))


def main():
    tap, names = Tap(), read_list()
    modules(tap, names)
    loaders(tap, names)
    wishes(tap)
    tap.done()


main()
