#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that needs nothing of its host (make cairn-static), in a root without any other file.

What it prints there is what the ordinary program prints here; the screen is there on terminals of all kinds.
The one for aarch64 is tried where ./bootstrap static aarch64 has made it and qemu-user is there.
"""

import concurrent.futures
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, CAIRN, GO, SAMPLE, SAMPLE_TEXT, SHOP, SOURCE, Tap, skip_all  # noqa: E402
from tmux import Gone, Terminal  # noqa: E402
from tui import leave, need, wait_selected  # noqa: E402

QEMU = shutil.which("qemu-aarch64-static")
ARM = os.path.join(SOURCE, "build", "static", "cairn-aarch64")
CHROOT = shutil.which("chroot", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
ENTER = ([] if os.geteuid() == 0 else ["unshare", "-r"]) + [CHROOT or "chroot"]
TERMS = ("xterm-256color", "xterm", "screen-256color", "tmux-256color", "linux", "vt100", "vt220", "alacritty",
         "xterm-kitty", "xterm-no-such")
# on which dump, and what is asked; what is written stays in the root
ASKED = (
    ("shop.hprof", ("info", "histo | head 9", "leaks", "x com.acme.shop.Shop", "path 0xe00200a8")),
    ("shop.hprof.gz", ("histo | head 9", "dups | head 5")),
    ("shop.hprof", ("sql SELECT class, objects FROM classes ORDER BY shallow DESC, class LIMIT 5",
                    'sql SELECT status, count(*) FROM "com.acme.shop.Order" GROUP BY status')),
    (os.path.basename(SAMPLE), ("info", "histo | head 9", "threads | head 5")),
    ("sample.txt", ("info", "histo | head 9")),
    ("zos.txt", ("info", "histo | head 9")),
    ("gocart.dump", ("histo | head 9", "x main.last", "goroutines")),
)
WRITTEN = (
    ("shop.hprof", ("profile shop.profile", "index -packed packed.cairn", "report -o page.html", "histo > ~nobody/x")),
    ("packed.cairn", ("histo | head 9",)),
    ("shop.profile", ("trend | head 5",)),
)


def made(root):
    """The dumps, of each family one and more."""
    os.mkdir(root)
    javacore = SAMPLE.replace("heapdump", "javacore").replace(".phd", ".txt")
    for path in (SAMPLE, javacore, SHOP, GO, GO.replace(".dump", ".elf")):
        shutil.copy(path, root)
    shutil.copy(SAMPLE_TEXT, os.path.join(root, "sample.txt"))
    with open(SHOP, "rb") as f, gzip.open(os.path.join(root, "shop.hprof.gz"), "wb") as to:
        to.write(f.read())
    with open(SHOP, "rb") as f, lzma.open(os.path.join(root, "shop.hprof.xz"), "wb", preset=0) as to:
        to.write(f.read())
    with zipfile.ZipFile(os.path.join(root, "shop.zip"), "w", zipfile.ZIP_DEFLATED) as to:
        to.write(SHOP, "shop.hprof")
    with open(SAMPLE_TEXT, encoding="utf-8") as f, open(os.path.join(root, "zos.txt"), "wb") as to:
        to.write(f.read().encode("cp037", "backslashreplace").replace(b"\x25", b"\x15"))


def answers(program, folder, dump, lines, alone=(), come=b""):
    """What the lines print, with the status; come: through standard input."""
    words = [*alone, program, dump]
    for line in lines:
        words += ["-x", line]
    done = subprocess.run(words, cwd=folder, input=come, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                          env={"PATH": "", "LANG": "xx_XX.UTF-8", "TERM": "xterm"})
    return done.returncode, done.stdout.decode("utf-8", "replace")


def scripts(tap, work, root, alone, program, what):
    for dump, lines in ASKED:
        got = answers(program, work, dump, lines, alone)
        want = answers(CAIRN, root, dump, lines)
        tap.ok(got == want and want[0] == 0, "%s: %s of %s as the ordinary program" % (what, lines[0].split()[0], dump),
               "%s\n%s" % (got, want))
    for dump in ("shop.hprof.xz", "shop.zip"):
        want = answers(CAIRN, root, dump, ("histo | head 9",))
        if want[0] == 0:
            tap.equal(answers(program, work, dump, ("histo | head 9",), alone), want, "%s: %s" % (what, dump))
        else:
            tap.skip("%s: %s" % (what, dump), "the ordinary program does not read it: it is without libarchive")
    with open(SHOP, "rb") as f:
        got = answers(program, work, "-", ("histo | head 9",), alone, f.read())
    want = answers(CAIRN, root, "shop.hprof", ("histo | head 9",))
    tap.equal(got, want, "%s: a dump that comes through a pipe" % what)
    for dump, lines in WRITTEN:
        got = answers(program, work, dump, lines, alone)
        tap.ok(got[0] in (0, 2) and "ignal" not in got[1], "%s: %s" % (what, lines[0]), got)
    for name, begin in (("shop.profile", b"SQLite format 3"), ("packed.cairn", b""), ("page.html", b"<!DOCTYPE html>")):
        path = os.path.join(root, name)
        size = os.path.getsize(path) if os.path.exists(path) else 0
        with open(path if size else os.devnull, "rb") as f:
            tap.ok(size > 1000 and f.read(20).startswith(begin), "%s: %s is written" % (what, name), size)


def screen(root, term):
    """The screen on this terminal, with characters beyond ASCII typed and shown; then the prompt without one."""
    t = Terminal(100, 24, {"TERM": term, "LANG": "xx_XX.UTF-8", "LC_ALL": ""})
    try:
        before = t.stty()
        t.line("%s '%s' /cairn --start histo shop.hprof" % (" ".join(ENTER), root))
        wait_selected(t, r"byte\[\]")
        t.wait(lambda lines: any("64 bit · 4,861 objects" in line for line in lines), panes=True)  # with its dots
        t.keys("Down")
        wait_selected(t, r"java\.lang\.String ")
        t.type(":histo Größe日本")
        t.wait("^:histo Größe日本$")
        t.keys("Left", "Left", "BSpace")
        t.type("ß")
        t.wait("^:histo Größß日本$")
        t.keys("C-c")
        leave(t)
        need(t.stty() == before, "stty differs", t)
        if term.endswith("no-such"):
            t.wait("treated as xterm-256color")
        t.line("%s '%s' /cairn --plain shop.hprof" % (" ".join(ENTER), root))
        t.wait("^cairn>")
        t.type("histo | head 1")
        t.keys("Enter")
        t.wait(r"^byte\[\] +1,106")
        t.type("größ ~nobody")
        t.wait("^cairn> größ ~nobody$")
        t.keys("C-a", "C-k", "C-d")
        t.line("echo gone")
        t.wait("^gone")
    except Gone as wrong:
        return str(wrong)
    finally:
        t.close()
    return None


def screens(tap, root):
    if not shutil.which("tmux"):
        tap.skip("the screen", "tmux is not installed")
        return
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for term, wrong in zip(TERMS, pool.map(lambda term: screen(root, term), TERMS)):
            tap.ok(wrong is None, "the screen and the prompt in an empty root, TERM=" + term, wrong)


def arm(tap, root):
    if not os.path.exists(ARM) or not QEMU:
        tap.skip("the program for aarch64", "it is made by ./bootstrap static aarch64, and run by qemu-aarch64-static")
        return
    shutil.copy(ARM, os.path.join(root, "cairn-aarch64"))
    shutil.copy(QEMU, os.path.join(root, "qemu"))
    for name in ("shop.profile", "packed.cairn", "page.html"):
        os.remove(os.path.join(root, name))
    scripts(tap, root, root, [*ENTER, root, "/qemu"], "/cairn-aarch64", "aarch64")


def main():
    flag, lacks = (subprocess.run(["make", "-s", "--no-print-directory", "-C", BUILD, target], stdout=subprocess.PIPE,
                                  text=True).stdout.strip() for target in ("static-flag", "static-lacks"))
    if flag == "none" or lacks:
        skip_all("no static program can be linked here%s" % (": there is no " + lacks if lacks else ""))
    with tempfile.TemporaryDirectory(prefix="cli.", dir=os.path.join(BUILD, "tests")) as work:
        root = os.path.join(work, "root")
        made(root)
        build = subprocess.run(["make", "-s", "-C", BUILD, "cairn-static"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        if build.returncode:
            print("1..1\nnot ok 1 - make cairn-static")
            print("\n".join("# " + line for line in build.stdout.splitlines()[-40:]))
            sys.exit(1)
        subprocess.run(["strip", "-o", os.path.join(root, "cairn"), os.path.join(BUILD, "cairn-static")], check=True)
        if subprocess.run([*ENTER, root, "/cairn", "-V"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            skip_all("no other root may be entered here (chroot)")
        tap = Tap()
        tap.equal(answers("/cairn", work, "--version", (), [*ENTER, root]), answers(CAIRN, work, "--version", ()),
                  "the same is inside as in the ordinary program")
        scripts(tap, root, root, [*ENTER, root], "/cairn", "in an empty root")
        screens(tap, root)
        arm(tap, root)
        tap.done()


main()
