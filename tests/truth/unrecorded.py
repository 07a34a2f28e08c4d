#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What HPROF does not record may hold an object, so path does not call it garbage; else it does.

Small dumps made here, each once with what may hold the object and once without.  Who may hold what was
read off dumps of living objects only: data of hidden classes, continuations that are no virtual thread's,
names of source files.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import Tap, cairn  # noqa: E402
from hprof_made import Made  # noqa: E402

OBJECT = "java/lang/Object"


def begun():
    """A dump with the classes that all need, and a loader for those of the program."""
    m = Made()
    m.add_class(OBJECT)
    m.add_class("java/lang/Class", OBJECT)
    m.add_class("java/lang/String", OBJECT, "value:L coder:B hash:I")
    m.add_class("java/lang/ClassLoader", OBJECT, "name:L")
    m.add_class("app/Loader", "java/lang/ClassLoader")
    m.add_class("java/lang/invoke/MethodHandle", OBJECT, "type:L")
    m.loader = m.instance("app/Loader", 24)
    for name in ("app/Data", "app/Cart", "app/Cart$$Lambda$7+0x00007f0000001000"):
        m.add_class(name, OBJECT, "value:L", loader=m.loader)
    for ident, _, _ in m.classes.values():
        m.heap += b"\x05" + m.word(ident)
    return m


def instance(m, name, *references):
    """Of a class with fields that refer to others only."""
    return m.instance(name, 8 * len(references) + 16, b"".join(m.word(r) for r in references))


def string(m, text):
    value = m.array("B", len(text), 16 + (len(text) + 7) // 8 * 8, text.encode())
    return m.instance("java/lang/String", 24, m.word(value) + bytes(5))


def said_of(m, ident):
    path = m.write()
    run = cairn("-x", "path -weak 0x%x" % ident, path)
    check = cairn("-x", "check -tree", path)
    os.unlink(path)
    return run.err if run.status and check.status == 0 else "%s%s" % (run, check)


def compare(tap, what, make, words):
    """make(dump, held): the object; held: with what may hold it."""
    for held in (True, False):
        m = begun()
        said = said_of(m, make(m, held))
        good = words in said and "garbage" not in said if held else "was garbage" in said
        tap.ok(good, "%s: %s" % (what, "may be alive" if held else "else it is garbage"), said)


def class_data(m, held):
    m.add_class("app/Made%s" % ("+0x00007f0000002000" if held else ""), OBJECT, loader=m.loader)
    return instance(m, "app/Data", 0)


def continuation(m, held):
    m.add_class("jdk/internal/vm/StackChunk", OBJECT, "parent:L size:I sp:I bottom:I")
    m.add_class("jdk/internal/vm/Continuation", OBJECT, "tail:L")
    m.add_class("java/lang/VirtualThread$VThreadContinuation", "jdk/internal/vm/Continuation")
    m.add_class("java/lang/Thread", OBJECT, "name:L")
    m.add_class("java/lang/VirtualThread", "java/lang/Thread")
    thread = instance(m, "java/lang/VirtualThread", 0)
    m.heap += b"\x08" + m.word(thread) + bytes(8)
    chunk = m.instance("jdk/internal/vm/StackChunk", 128, m.word(0) + bytes(12))
    instance(m, "java/lang/VirtualThread$VThreadContinuation", chunk)
    instance(m, "jdk/internal/vm/Continuation", chunk if held else 0)
    return instance(m, "app/Data", 0)


def list_of_two(m, held):
    m.add_class("java/util/ImmutableCollections$List12", OBJECT, "e0:L e1:L")
    one = instance(m, "java/lang/invoke/MethodHandle" if held else "app/Data", 0)
    return instance(m, "java/util/ImmutableCollections$List12", one, one)


def long_list(m, held):
    m.add_class("java/util/ImmutableCollections$ListN", OBJECT, "elements:L")
    m.add_class("[Ljava/lang/Object;", OBJECT)
    one = instance(m, "java/lang/invoke/MethodHandle" if held else "app/Data", 0)
    elements = m.objects("[Ljava/lang/Object;", 3, 40, [one] * 3)
    return instance(m, "java/util/ImmutableCollections$ListN", elements)


def fillers(tap):
    """Nothing references an int[]; with garbage of the program in the dump it may be the program's, too."""
    for garbage, words in ((False, "probably a filler"), (True, "was garbage at the time of the dump, or fills a gap")):
        m = begun()
        m.add_class("[Ljdk/internal/vm/FillerElement;", OBJECT)
        m.add_class("[I", OBJECT)
        m.add_class("[B", OBJECT)
        if garbage:
            string(m, "app")
            m.array("B", 3, 24)
        filler, held = m.array("I", 5, 40), m.array("I", 5, 40)
        instance(m, "app/Data", held)
        said = said_of(m, filler)
        tap.ok(words in said, "a filler, %s garbage" % ("with" if garbage else "without"), said)
        said = said_of(m, held)
        tap.ok(said.strip().endswith("it was garbage when the dump was written"), "an int[] that garbage holds", said)


def main():
    tap, fields = Tap(), "fields of java.lang.Class"
    compare(tap, "an object that a hidden class was given", class_data, "class data of hidden classes")
    compare(tap, "an object on the stack of a continuation", continuation, "other continuations")
    compare(tap, "a list of two method handles", list_of_two, fields)
    compare(tap, "a list of three method handles", long_list, fields)
    compare(tap, "the name of a file", lambda m, held: string(m, "Cart.java" if held else "Tart.java"), fields)
    compare(tap, "the name of a class without its package",
            lambda m, held: string(m, "Cart" if held else "cart"), fields)
    fillers(tap)
    tap.done()


if __name__ == "__main__":
    main()
