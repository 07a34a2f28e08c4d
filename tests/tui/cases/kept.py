# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes back the next time, the configuration, the clipboard."""

import base64
import os
import re

from cairntest import SHOP
from tmux import PROMPT
from tui import case, enter, leave, need, said, start, wait_selected


@case("the configuration: first page, layout, keys, columns, views, what q does; the command line goes before it",
      sizes=((130, 40),))
def configuration(t):
    os.makedirs(os.path.join(t.home, ".config", "cairn"))
    with open(os.path.join(t.home, ".config", "cairn", "config"), "w") as f:
        f.write("start = threads\nlayout = list\nkey z = size\nkey d = histo -by package\nq = quit\n"
                "columns histo = class objects superclass\ncolour = red\n"
                "view by_status = SELECT status, count(*) AS n \\\n  FROM \"com.acme.shop.Order\" GROUP BY 1\n")
    t.line('"$CAIRN_ITSELF" "%s"' % SHOP)
    t.wait(r"^> +\S+ +main +")
    t.wait(said(r'cairn/config:7: unknown name "colour"'))
    t.keys("1")
    t.wait(r"^ *class +objects +superclass")
    lines = t.wait(r"^> byte\[\] +1,106 +java\.lang\.Object")
    need(not any(re.search(r"retained|91\.4K|│", line) for line in lines), "other columns, or a pane", t)
    t.keys("z")
    t.wait(r"retained objects +1,106")
    t.keys("Escape")
    t.wait(r"^> byte\[\] +1,106")
    t.keys("d")  # goes before the key of dominators
    t.wait(r"^> <primitive> +1,109")
    enter(t, "sql SELECT status, n FROM by_status")
    t.wait(r"^> NEW +80$")
    t.keys("?", "?")
    t.wait(r"^ *Keys of your configuration")
    t.wait(r"^ +z +size")
    t.keys("q")
    t.wait("^" + PROMPT)
    t.line('clear; "$CAIRN" --start info "%s"' % SHOP)
    t.wait(r"^ +format +hprof")
    t.keys("q")
    t.wait("^" + PROMPT)
    t.line('clear; "$CAIRN" --no-config "%s"' % SHOP)
    t.wait(r"^ *class +objects +shallow +retained")
    leave(t)


@case("a layout of the user's that is wrong is told on the screen, and with what misses it")
def layouts(t):
    os.makedirs(os.path.join(t.home, ".config", "cairn"))
    with open(os.path.join(t.home, ".config", "cairn", "layouts"), "w") as f:
        f.write("# mine\ncom.acme.Odd heap store=items\ncom.acme.Odd array\n")
    start(t, dump=SHOP)
    t.wait(r'^line 2 of layouts is wrong: unknown shape "heap" after the class *$')
    enter(t, "collections")
    t.wait(r"^line 2 of layouts is wrong; w: why *$")
    t.keys("w")
    t.wait(said('"heap" after the class, and 1 more line'))
    leave(t)


@case("y copies what the row is, Y the row, Y again the table; what a clipboard does not take is said")
def copies(t):
    def copied(what):
        t.wait(lambda lines: re.match(what, t.tmux("show-buffer"), re.S))

    t.tmux("set-option", "-s", "set-clipboard", "on")
    t.line("cd; clear")
    start(t, dump=SHOP)
    t.wait(r"^> byte\[\] .*% +91\.4K$")
    t.keys("y")
    copied(r"byte\[\]$")
    t.keys("Y")
    copied("byte\\[\\]\t1106\t93568\t93568$")
    t.keys("Y")
    t.wait(r"^copied 43 rows with the header, if the terminal allows it$")
    copied("class\tobjects\tshallow\tretained\nbyte\\[\\]\t1106\t.*\n.*\n$")
    enter(t, "ls *")
    t.wait(r"1/4,861$")
    t.keys("Y", "Y")
    said = t.wait(r"^copied [\d,]+ of 4,861 rows, if the terminal allows it; the clipboard is full$")
    n = int(re.search(r"^copied ([\d,]+)", "\n".join(said), re.M).group(1).replace(",", ""))
    text = t.tmux("show-buffer")
    enter(t, "set copy copied")
    t.keys("Home", "y", "Y")
    t.wait(r"^copied to copied$")
    with open(os.path.join(t.home, "copied"), encoding="utf-8") as f:
        need(re.match("0xe0000000\n0xe0000000\t.*\n$", f.read()), "the file", t)
    need(text.count("\n") == n + 1 and 74000 < len(text.encode()) <= 74994, "%d rows" % n, t)
    leave(t)


@case("y in tmux as it is set up by default fills its buffer; in screen the sequence is wrapped; without a clipboard it is said")
def copies_inside(t):
    socket = t.tmux("display-message", "-p", "#{socket_path},#{pid},0").strip()
    t.line("cd; clear")
    t.line("TMUX='%s' \"$CAIRN\" '%s'" % (socket, SHOP))
    t.wait(r"^> byte\[\] .*% +91\.4K$")
    t.keys("y")
    t.wait(r"^copied byte\[\]$")
    need(t.tmux("show-buffer") == "byte[]", "the buffer", t)
    leave(t)
    t.line("clear; TMUX=/nobody/there,1,0 \"$CAIRN\" '%s'" % SHOP)
    t.wait(r"^> byte\[\] .*% +91\.4K$")
    t.keys("y")
    t.wait(r"^copied byte\[\], if the terminal allows it$")
    leave(t)
    log = os.path.join(t.home, "log")
    t.tmux("pipe-pane", "cat >>'%s'" % log)
    t.line("clear; STY=1.pts-0.host \"$CAIRN\" '%s'" % SHOP)
    t.wait(r"^> byte\[\] .*% +91\.4K$")
    t.keys("Y", "Y")
    t.wait(r"^copied 43 rows")
    leave(t)
    t.tmux("pipe-pane")
    with open(log, "rb") as f:
        pieces = re.findall(rb"\033P(.*?)\033\\", f.read(), re.S)
    need(pieces and pieces[0] == b"\033]11;?\a" and max(map(len, pieces)) <= 250, "pieces: %r" % pieces[:3], t)
    sent = re.fullmatch(rb"(?:\033\]52;c;[A-Za-z0-9+/=]+\a){2}", b"".join(pieces[1:]))
    need(sent and base64.b64decode(sent.group().split(b";")[-1][:-1]).startswith(b"class\tobjects\t"), "the sequence", t)
    t.line("clear; TERM=linux \"$CAIRN\" '%s'" % SHOP)
    t.wait(r"^> byte\[\] .*% +91\.4K$")
    t.keys("y")
    t.wait(r"^not copied: this terminal has no clipboard \(set copy FILE writes to a file\)$")
    leave(t)


@case("marks, notes and sets come back with the dump; nothing is written before there are any")
def kept(t):
    def files():
        return [os.path.join(folder, name) for folder, _, names in os.walk(t.home) for name in names
                if folder.endswith("/dumps")]

    def again():
        t.line("clear")
        start(t, dump=SHOP)
        t.wait(r" 1/43$")

    start(t, dump=SHOP)
    enter(t, "ls com.acme.shop.Order")
    t.wait(r" 1/320$")
    leave(t)
    need(not files(), "written without a reason", t)
    again()
    t.keys("Down", "Down", "Down")
    enter(t, "note . decimals")
    t.wait(r"^the note on class \S+ 0x[0-9a-f]+ is: decimals$")
    t.keys("Up", "Down")
    t.wait(r"^note: decimals$")
    enter(t, "ls com.acme.shop.Order")
    t.wait(r" 1/320$")
    t.keys(*["Down"] * 6)
    t.wait(r" 7/320$")
    wait_selected(t, "0xe0011428 ")
    t.keys("m", "a")
    t.wait(r"^ls com\.acme\.shop\.Order, 0xe0[0-9a-f]+, is marked; ' and a return here$")
    t.keys("m", "!")
    t.wait(r"^a mark is a letter from a to z$")
    enter(t, "$mine = com.acme.shop.Order")
    t.wait(r"^\$mine keeps 320 objects$")
    t.wait(r"1/320$")
    enter(t, "note com.acme.shop.Shop")
    t.wait(r"^class com\.acme\.shop\.Shop 0x[0-9a-f]+ has no note \(add a text to write one\)$")
    enter(t, "set top 20")
    t.wait(r"^top is 20 now \(rows printed of each result")
    enter(t, "roots")
    t.wait(r" 1/60$")
    t.keys("Down", "Down")
    t.wait(r" 3/60$")
    leave(t)
    need(len(files()) == 1 and os.stat(files()[0]).st_mode & 0o777 == 0o600, "files %s" % files(), t)
    again()
    t.wait(r"^last place: roots > 0x\w+; '' returns there$")
    t.keys("'", "'")
    t.wait(r"> roots .* 3/60$")
    t.keys("'", "a")
    t.wait(r" 7/320$")
    wait_selected(t, "0xe0011428 ")
    t.keys("'", "b")
    t.wait(r"^no mark named b; marks: a$")
    enter(t, "size $mine")
    t.wait(r"^ +objects +320$")
    enter(t, "note")
    t.wait(r"^> 0x\w+ +class java\.math\.BigDecimal +decimals$")
    leave(t)
    # what was cut, and what means other objects, is left alone
    path = files()[0]  # which goes when nothing of it was kept
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for other in (text[:-4], text.replace(" 4861\n", " 4862\n"),
                  "cairn 1 4861\nset x 7-3\nset y 4861\nset z 1-\nnote 99999 a\nmark a 4861 0 ls\nmark b\n"
                  "columns \t\ncolumns histo\ncolumns histo\tno such\tclass\ncolumns set\t\x7f\t\t\nend\n"):
        with open(path, "w", encoding="utf-8") as f:
            f.write(other)
        again()
        t.keys("'", "a")
        t.wait(r"^no mark named a; m and a letter set one$")
        enter(t, "set")
        t.wait(r"> settings ")
        t.wait(r"\$|kept set", gone=True)
        leave(t)
    # columns that were chosen under an earlier name of a command
    with open(path, "w", encoding="utf-8") as f:
        f.write("cairn 1 4861\ncolumns weak\tkind\tclass\treferents\ncolumns dom -up SET\tclass\theld_shallow\nend\n")
    again()
    for line, header in (("references", r"^  kind +class +referents *$"), ("holders java.lang.String", r"^  class +held shallow *$")):
        enter(t, line)
        t.wait(header)
    leave(t)
