# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours and glyphs."""

import os
import re
import shutil
import subprocess
import time

from cairntest import SAMPLE, SERIES, SHOP
from tui import case, enter, leave, need, start, wait_selected


@case("NO_COLOR: no colour, the selected row is still reversed", env={"NO_COLOR": "1"})
def no_color(t):
    start(t)
    t.wait(r"^> byte")
    text = "\n".join(t.screen(escapes=True))
    colours = re.findall(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)(?:;[0-9;]*)?m", text)
    need(not colours, "colours: %r" % colours[:5], t)
    need(re.search(r"\x1b\[(?:[0-9;]*;)?7(?:;[0-9;]*)?m", text), "nothing is reversed", t)
    leave(t)


def colours(t):
    """Red, green and blue of all letters on the screen that have a colour; of one of the eight its number alone."""
    found = set()
    for codes in re.findall(r"\x1b\[([0-9;:]*)m", "\n".join(t.screen(escapes=True))):
        codes = codes.replace("38:2::", "38:2:")
        for code in re.findall(r"38[;:][25][;:][0-9;:]+|\b(?:3[0-7]|9[0-7])\b", codes):
            parts = [int(c) for c in re.split("[;:]", code)]
            if len(parts) == 1:
                found.add(parts[0])
            elif parts[1] == 2:
                found.add(tuple(parts[2:5]))
            elif parts[2] < 16:
                found.add(parts[2])
            elif parts[2] < 232:  # xterm's palette: a cube, then greys
                n = parts[2] - 16
                found.add(tuple(0 if level == 0 else 55 + 40 * level for level in (n // 36, n // 6 % 6, n % 6)))
            else:
                found.add((8 + 10 * (parts[2] - 232),) * 3)
    return found


def contrast(colour, background):
    """As the W3C's guidelines define it; text wants 4.5."""
    def luminance(c):
        parts = [v / 255 for v in c]
        red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    a, b = sorted((luminance(colour), luminance(background)))
    return (b + 0.05) / (a + 0.05)


# The sixteen as the console of a PC has them, and as xterm does.
SIXTEEN = (
    [(0xaa * (n & 1), 0x55 * (n >> 1 & 1) * (1 if n == 3 else 2), 0xaa * (n >> 2)) for n in range(8)] +
    [(0x55 + 0xaa * (n & 1), 0x55 + 0xaa * (n >> 1 & 1), 0x55 + 0xaa * (n >> 2)) for n in range(8)],
    [(0xcd * (n & 1), 0xcd * (n >> 1 & 1), (0xee if n == 4 else 0xcd) * (n >> 2)) for n in range(8)] +
    [(0x7f, 0x7f, 0x7f), (0xff, 0, 0), (0, 0xff, 0), (0xff, 0xff, 0), (0x5c, 0x5c, 0xff), (0xff, 0, 0xff), (0, 0xff, 0xff),
     (0xff, 0xff, 0xff)])


@case("themes: dark and light can be read on their background, by --theme or COLORFGBG; 8, 16 and direct colours")
def themes(t):
    seen = {}
    tic = shutil.which("tic")
    if tic:  # terminals with direct colours, and with sixteen
        with open(os.path.join(t.home, "more.ti"), "w") as f:
            f.write("cairn-direct|direct colours, use=screen-256color, RGB, colors#0x1000000, pairs#0x7fff,"
                    " setaf=\\E[38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm,\n"
                    "cairn-16|sixteen colours, use=screen, colors#16, pairs#256,"
                    " setaf=\\E[%?%p1%{8}%<%t%p1%{30}%+%e%p1%{82}%+%;%dm,"
                    " setab=\\E[%?%p1%{8}%<%t%p1%{40}%+%e%p1%{92}%+%;%dm,\n")
        subprocess.run([tic, "-x", "-o", os.path.join(t.home, ".terminfo"), os.path.join(t.home, "more.ti")],
                       check=True)
    for name, words, options in (
            ("dark", "", "--theme dark"), ("light", "COLORFGBG='0;15'", ""), ("told dark", "COLORFGBG='15;0'", ""),
            ("classic8", "", "--theme classic8"), ("either", "", ""), ("mono", "", "--theme mono"), ("told no", "NO_COLOR=1", "--theme dark"),
            ("few", "TERM=screen", "--theme light"), ("direct", "TERM=cairn-direct", "--theme dark"),
            ("dark of 16", "TERM=cairn-16", "--theme dark"), ("light of 16", "TERM=cairn-16", "--theme light")):
        if "TERM=cairn" in words and not tic:
            continue
        t.line('clear; %s "$CAIRN" --tour %s "%s"' % (words, options, SAMPLE))  # its words are of the colour of work
        t.wait(r"^> byte\[\] +114 +195K .*~195K$")  # whatever the colours: what is selected, and what is not exact
        t.wait(r"^ *54 classes")
        seen[name] = colours(t)
        enter(t, "frobnicate")
        t.wait('unknown command "frobnicate"')
        seen[name] |= colours(t)
        leave(t)
    for name, background in (("dark", (0, 0, 0)), ("light", (255, 255, 255)), ("either", (0, 0, 0)),
                             ("either", (255, 255, 255))):
        need(len(seen[name]) >= 4, "%s: few colours: %r" % (name, seen[name]), t)
        for colour in seen[name]:
            need(isinstance(colour, tuple) and contrast(colour, background) >= 4.5,
                 "%s: %r cannot be read" % (name, colour), t)
        for palette in SIXTEEN if tic and name != "either" else ():
            of_16 = seen[name + " of 16"]
            need(len(of_16) >= 2, "%s of 16: few colours: %r" % (name, of_16), t)
            for number in of_16:
                need(contrast(palette[number % 10 + (8 if number >= 90 else 0)], background) >= 4.5,
                     "%s: %r of 16 cannot be read" % (name, number), t)
    need(seen["told dark"] == seen["dark"] != seen["light"], "COLORFGBG: %r" % seen, t)
    need(seen.get("direct", seen["dark"]) == seen["dark"], "direct: %r" % seen, t)
    need(seen["classic8"] and seen["classic8"] <= {31, 32, 33, 36}, "classic8: %r" % seen["classic8"], t)
    need(seen["few"] and seen["few"] <= {31, 34, 35}, "eight colours, light: %r" % seen["few"], t)
    need(not seen["mono"] and not seen["told no"], "colours: %r" % seen, t)


LIGHT_BLUE = (0, 95, 135)  # of the title, where the background is light


@case("the terminal's answer about its background brings the colours, late and in pieces too, and is never keys")
def answered(t):
    start(t)
    t.wait(r"^> byte\[\] +114 ")
    t.wait(r" 1/54$")
    need(LIGHT_BLUE not in colours(t), "it knew before the answer", t)
    for piece in ("\033]11;rgb:ff", "ff/ffff", "/ffff", "\033", "\\"):
        t.type(piece)
        time.sleep(0.15)
    t.wait(lambda lines: LIGHT_BLUE in colours(t))
    need(re.search(r"^> byte.*\n", t.text(), re.M) and " 1/54" in t.text(), "the answer acted", t)
    t.type("\033]11;rgb:0000/0000/0000\007")  # one that nobody waits for any more
    t.keys("Down")
    t.wait(r" 2/54$")
    need(LIGHT_BLUE in colours(t) and " filter:" not in t.text(), "a second answer", t)
    leave(t)
    t.tmux("set-option", "-g", "window-style", "bg=#ffffff")  # now tmux knows, and answers
    start(t)
    t.wait(lambda lines: LIGHT_BLUE in colours(t))
    t.wait(r" 1/54$")
    leave(t)


@case("names have the colour of what they are: the program's own bright, the JDK's dim, arrays, texts")
def meanings(t):
    start(t, options="--theme dark", dump=SHOP)
    t.wait(r"^> byte")
    t.keys("End")
    t.wait(r" 43/43$")
    t.keys("Home")
    t.wait(r"^> byte")
    text = "\n".join(t.screen(escapes=True))
    t.keys("v")  # panes would find the exact size
    enter(t, "histo -by package")
    wait_selected(t, r"<primitive> .*>=91\.5K")
    text += "\n".join(t.screen(escapes=True))
    for look, name in ((r"38;5;247m", "java.math.BigDecimal"), ("1m", "com.acme.shop.Order"),
                       ("38;5;110m", r"com.acme.shop.Product\[\]"), ("38;5;114m", "java.lang.String"),
                       ("38;5;247m", ">=208K")):
        need(re.search(r"\x1b\[" + look + " *" + name + r"(\x1b|$)", text, re.M), "%s is not %s" % (name, look), t)
    t.keys("2")
    t.wait(r"^> .*static Shop")
    t.wait(r" 1/21$")
    text = "\n".join(t.screen(escapes=True))
    for look, name in (("1m", "static AuditLog.ENTRIES"), ("38;5;247m", "static System.props"), ("1m", "4 × Session"),
                       ("38;5;114m", "4 × String")):
        need(re.search(r"\x1b\[" + look + " *(▸ )? *" + name, text), "%s is not %s in the tree" % (name, look), t)
    leave(t)


@case("growth: bars as long as their part of the largest, what a tenth of net growth is in is red; a cause in the list")
def growth_looks(t):
    os.mkdir(os.path.join(t.home, "d"))
    for i, dump in enumerate(SERIES):
        shutil.copy(dump, os.path.join(t.home, "d", "java_pid%d.hprof" % i))
    t.line('cd "$HOME/d"; "$CAIRN" --theme dark *')
    t.wait(r"^> byte")
    t.keys("7")
    wait_selected(t, r"ENTRIES +\S*Session +\+53\.1K ████ ")
    t.wait(r"^  reference +class +\u0394 retained ")  # d_retained, as commands say
    t.keys("Down")
    wait_selected(t, r"thread .* >=\+368  ")  # a part that is too small for a bar
    text = "\n".join(t.screen(escapes=True))
    need(re.search(r"\x1b\[1m\x1b\[38;5;210m *\S*AuditLog\.ENTRIES|\x1b\[1;38;5;210m *\S*AuditLog\.ENTRIES", text), "a suspect is red", t)
    leave(t)
    t.line('clear; "$CAIRN" --theme dark')
    t.wait(r" java_pid0\.hprof .* ~OutOfMemoryError")
    text = "\n".join(t.screen(escapes=True))
    need(re.search(r"38;5;210m *~OutOfMemoryError", text), "a cause is red", t)
    leave(t)


@case("--ascii: nothing beyond ASCII on the frame of the screen")
def ascii_only(t):
    start(t, options="--ascii")
    lines = t.wait(r"^> byte")
    own = [line for line in lines if "acme" not in line]
    need(all(ord(ch) < 128 for line in own for ch in line), "a character beyond ASCII", t)
    need("####" in t.text(), "no bar", t)
    leave(t)


@case("in ASCII signs mean nothing else: x for times, .. where a name is clipped; ~ is only before numbers",
      env={"LC_ALL": "C"})
def ascii_signs(t):
    start(t, dump=SHOP)
    t.wait(r"^> byte")
    t.keys("0")
    t.wait(r"\d x Session|x com\.acme")
    t.keys("2")
    t.wait(r"^> . ")
    t.keys("*")
    t.wait(r"\d x [A-Z]")
    t.resize(34, 24)
    t.wait(r"\w\.\.\w")
    for line in t.screen():
        need(all(ord(c) < 128 for c in line), "not ASCII: " + line, t)
        need(not re.search(r"~(?![\d?])", line), "~ without a number: " + line, t)
    leave(t)
