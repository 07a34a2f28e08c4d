# SPDX-License-Identifier: GPL-3.0-or-later
"""An index on the screen: written, opened without its dump, stopped while it is written, cut while it is open."""

import os
import re
import shutil
import subprocess

from cairntest import MKDUMP, SHOP
from tui import BOTH, case, enter, leave, need, said


def written_to(name):
    return said("wrote the index of this dump to .*" + re.escape(name.replace(" ", "")))


@case("index: written from the screen, and opened without its dump: what that holds is ?", BOTH)
def written(t):
    dump = os.path.join(t.home, "shop.hprof")
    shutil.copy2(SHOP, dump)
    t.line('"$CAIRN" --index "$HOME/it\'s named.cairn" "$HOME/shop.hprof"')
    t.wait(r"^> byte\[\] +1,106 ")
    t.wait(written_to("it's named.cairn"))
    need(os.path.exists(os.path.join(t.home, "it's named.cairn")), "--index wrote it", t)
    enter(t, "index")
    t.wait(written_to("shop.hprof.cairn"))  # what the first one said may still be there
    leave(t)
    os.rename(dump, dump + ".away")
    t.line('"$CAIRN" "$HOME/shop.hprof.cairn"')
    t.wait(r"^> byte\[\] +1,106 ")
    t.wait(r"only the index of the dump is present: values and strings are \?")
    enter(t, "strings")
    t.wait(said(r"only its index is present"))
    enter(t, "ls com.acme.shop.Order")
    t.wait(r"^> 0xe\w+ .* \?$")
    enter(t, "x com.acme.shop.Shop")
    t.wait(r"INSTANCE")
    leave(t)


@case("index, profile: a question that a work asks is seen, n leaves the file, y replaces it, and no letter is a key", BOTH)
def asked(t):
    dump = os.path.join(t.home, "shop.hprof")
    shutil.copy2(SHOP, dump)
    for line, name in (('index "$HOME/i.cairn"', "i.cairn"), ('profile "$HOME/p.profile"', "p.profile")):
        path = os.path.join(t.home, name)
        line = line.replace("$HOME", t.home)
        with open(path, "w", encoding="ascii") as f:
            f.write("old\n")
        t.line('"$CAIRN" "$HOME/shop.hprof"')
        t.wait(r"^> byte\[\] +1,106 ")
        t.wait(lambda lines: lines[2].endswith("retained"))
        enter(t, line)
        t.wait(said(r"exists: replace it\? \[y/N\]"))
        t.type("ay")  # no letter of a line is a yes
        t.wait(said(r"exists: replace it\? \[y/N\] \(Enter: no\)"))
        t.keys("Enter")
        t.wait(said("is unchanged"))
        need(os.path.getsize(path) == 4, name + " is left", t)
        enter(t, line)
        t.wait(said(r"exists: replace it\? \[y/N\]"))
        t.type("y")
        t.wait(lambda lines: os.path.getsize(path) > 4)
        t.wait(r"^> byte\[\] +1,106 ")
        leave(t)


@case("index: ^C stops writing it, and one that is truncated while it is open gives no answers any more")
def cut(t):
    dump = os.path.join(t.home, "big.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "1000000", "--phd", dump], check=True)
    t.line('"$CAIRN" "$HOME/big.phd"')
    t.wait(lambda lines: lines[2].endswith("retained"))
    t.type(":index")
    t.keys("Enter")
    t.wait(said(r"index: .*\^C stops it"))
    t.keys("C-c")
    t.wait(said(r"index: (stopped|cancelled)"))
    need(sorted(f for f in os.listdir(t.home) if "big.phd." in f) == [], "nothing is left", t)
    enter(t, "index")
    t.wait(written_to(".cairn"))
    leave(t)
    t.line('"$CAIRN" "$HOME/big.phd"')
    t.wait(lambda lines: lines[2].endswith("retained"))  # before that they would be left out, and the rest be there
    os.truncate(dump + ".cairn", 70000)
    enter(t, "dom")
    t.wait(said(r"(this|the) index (was|file) changed"))  # the command says it, or work beside the screen
    leave(t)


@case("index: a dump in gzip is inflated behind the first page; where it is damaged values are ? and the rest answers")
def inflated(t):
    dump = os.path.join(t.home, "bench.hprof")
    subprocess.run([MKDUMP, "bench", "--objects", "100000", "--hprof", dump], check=True)
    subprocess.run(["gzip", "-1", dump], check=True)
    dump += ".gz"
    t.line('"$CAIRN" -x index "$HOME/bench.hprof.gz"; "$CAIRN" "$HOME/bench.hprof.gz"')
    t.wait(r"^> char\[\] +11,145 ")
    enter(t, "ls byte[]")
    t.wait(r"^> 0x\w+ .* \"abcdef\"$")
    leave(t)
    when, size = os.stat(dump), os.path.getsize(dump)
    with open(dump, "r+b") as f: # between two of the blocks that an index has a sum of
        f.seek(size // 63 * 31 + 20000)
        f.write(b"damage")
    os.utime(dump, ns=(when.st_atime_ns, when.st_mtime_ns))
    t.line('"$CAIRN" "$HOME/bench.hprof.gz"')
    t.wait(said(r"gzip .* damaged|gzip checksum"))
    enter(t, "ls byte[]")
    t.wait(r"^> 0x\w+ .* \?$")
    enter(t, "dom -by class")
    t.wait(r"^> java.lang.Thread +6 ")
    leave(t)
