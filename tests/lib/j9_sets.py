# SPDX-License-Identifier: GPL-3.0-or-later
"""The sets of openj9-real that have a system dump, and what is in them."""

import glob
import lzma
import os
import shutil

from cairntest import need_dumps


def folders():
    return sorted(os.path.dirname(p) for p in glob.glob(os.path.join(need_dumps(), "openj9-real", "*", "core*.dmp.xz")))


def unpack(folder, path):
    """The system dump, as a file."""
    with lzma.open(glob.glob(os.path.join(folder, "core*.dmp.xz"))[0]) as f, open(path, "wb") as to:
        shutil.copyfileobj(f, to, 1 << 20)
    return path


def joined(text):
    """Halves of letters beyond the BMP, which Java writes apart, are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_of(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rt", encoding="utf-8", errors="surrogatepass") as f:
        return joined(f.read())


def lines_of(path):
    with lzma.open(path, "rt", encoding="utf-8", errors="surrogatepass") as f:
        for line in f:
            yield joined(line).rstrip("\n")


def dtfj(folder, kinds):
    """What DTFJ said of the system dump, of these kinds (O an object, C a class, R a root, F a frame, M a monitor): of
    each the words of its head, those of its tail, and the whole line."""
    for line in lines_of(os.path.join(folder, "ref-core.txt.xz")):
        if line[:1] in kinds:
            head, _, tail = line.partition(" :")
            yield head.split(), tail.split(), line
