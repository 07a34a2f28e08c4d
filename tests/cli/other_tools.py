#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of other tools do what the command does that they mean here, with the user's own arguments.

The pairs are written down here, the words that the contract promises among them; they are not taken from
the program.  Both lines must give the same answer, and it must not be empty.
"""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, GO, SAMPLE, SHOP, Tap, cairn  # noqa: E402

CLASS, OBJECT, LIST = "com.acme.shop.Shop", "com.acme.shop.Shop.INSTANCE", "0xe001c7e8"

# the sample has none of these
NONE_THERE = ("find 'strings'", "duplicate-classes", "histo -dead", "waste constant", "waste sparse", "waste tails", "references soft", "threadlocals",
              "threadlocals -by class")

# a word with arguments, and what it means; on the HPROF sample unless another is named
PAIRS = (
    # the contract's
    ("histogram", "histo"),
    ("dumpheap -stat", "histo"),
    ("instances " + CLASS, "ls " + CLASS),
    ("list_objects " + CLASS, "ls " + CLASS),
    ("dumpheap -type java.lang.String -min 16", "ls java.lang.String -min 16"),
    ("do " + OBJECT, "x " + OBJECT),
    ("inspect " + OBJECT, "x " + OBJECT),
    ("x/j " + OBJECT, "x " + OBJECT),
    ("objectrefs " + OBJECT, "refs " + OBJECT),
    ("referrers " + OBJECT, "refs -in " + OBJECT),
    ("gc_roots", "roots"),
    ("gcroot " + OBJECT, "path " + OBJECT),
    ("path2gc " + OBJECT, "path " + OBJECT),
    ("merge_shortest_paths java.lang.String", "paths java.lang.String"),
    ("dominator_tree", "dom"),
    ("objsize " + OBJECT, "size " + OBJECT),
    ("top_consumers -by class", "top -by class"),
    ("leakhunter", "leaks"),
    ("leak_suspects", "leaks"),
    ("leak suspects", "leaks"),
    ("clrthreads", "threads"),
    ("whatis String", "find String"),
    ("goroutines", "threads", GO),
    # words that people try
    ("search String", "find String"),
    ("grep leave", "strings leave"),
    ("duplicates", "dups"),
    ("gcroots", "roots"),
    ("stack main", "bt main"),
    ("summary", "info"),
    ("retained", "histo -retained"),
    ("retained " + CLASS, "size " + CLASS),
    ("maps", "collections"),
    ("keys", "help keys"),
    ("mouse", "help mouse"),
    ("theme", "help theme"),
    ("biggest", "top"),
    ("huge -by class", "top -by class"),
    ("packages", "tree -by package"),
    ("package", "tree -by package"),
    ("classes", "histo"),
    ("suspects", "leaks"),
    ("config", "set"),
    ("configuration", "set"),
    ("settings", "set"),
    (CLASS, "ls " + CLASS),
    ("Session -sub", "ls Session -sub"),
    ("byte[] -min 1k", "ls byte[] -min 1k"),
    # MAT's
    ("component_report " + CLASS, "about " + CLASS),
    ("collection_fill_ratio", "collections -fill"),
    ("collections_grouped_by_size", "collections"),
    ("primitive_arrays_with_a_constant_value", "waste constant"),
    ("array_fill_ratio", "waste sparse"),
    ("waste_in_char_arrays", "waste tails"),
    ("big_drops_in_dominator_tree", "leaks -share 1"),
    ("customized_retained_set " + CLASS, "size " + CLASS),
    ("references_statistics", "references"),
    ("soft_references_statistics", "references soft"),
    ("weak_references_statistics", "references weak"),
    # SOS
    ("dumpobj " + OBJECT, "x " + OBJECT),
    ("DumpObj " + OBJECT, "x " + OBJECT),
    ("!dumpobj " + OBJECT, "x " + OBJECT),
    ("da 0xe0001260 -start 1", "x 0xe0001260 -start 1"),
    ("dumparray " + LIST, "x " + LIST),
    ("eeheap", "info"),
    ("eeheap -gc", "info"),
    ("dumpheap -stat -type java.lang.*", "histo java.lang.*"),
    ("dumpheap -type java.lang.* -stat", "histo java.lang.*"),
    ("dumpheap -min 1024", "ls * -min 1024"),
    ("dumpheap -type byte[] -min 512", "ls byte[] -min 512"),
    ("dumpheap -strings", "dups"),
    ("gcroot -all " + OBJECT, "path -n 10 " + OBJECT),
    ("pathto %s java.lang.String" % OBJECT, "path %s java.lang.String" % OBJECT),
    ("gchandles", "roots -by kind"),
    ("clrstack -a main", "bt main"),
    ("dso main", "bt main"),
    ("eestack", "threads -by stack"),
    ("pstacks", "threads -by stack"),
    ("verifyheap | cut check,result", "check | cut check,result"),
    # jdmpview and its DDR
    ("info class", "histo"),
    ("info class java.lang.String", "histo java.lang.String"),
    ("info class java.lang.String", "histo java.lang.String", SAMPLE),
    ("info thread", "threads"),
    ("info thread *", "threads"),
    ("info thread main", "bt main"),
    ("info thread main", "bt main", SAMPLE),
    ("info heap", "info"),
    ("x/s " + OBJECT, "x " + OBJECT),
    ("x/d " + OBJECT, "x " + OBJECT),
    ("hexdump 0xe0001260", "x -hex 0xe0001260"),
    ("x/x 0xe0001260", "x -hex 0xe0001260"),
    ("findptr " + OBJECT, "refs -in " + OBJECT),
    ("!objectrefs " + OBJECT, "refs " + OBJECT),
    ("!rootpathfind " + OBJECT, "path " + OBJECT),
    # gdb, delve, viewcore
    ("print " + OBJECT, "x " + OBJECT),
    ("print main.last", "x main.last", GO),
    ("info threads", "threads"),
    ("info variables", "roots -by variable", GO),
    ("vars", "roots -by variable", GO),
    ("info types main.*", "histo main.*", GO),
    ("thread apply all bt", "threads -by stack", GO),
    ("goroutine 8", "bt 8", GO),
    ("backtrace main", "bt main"),
    ("objects main.*", "ls main.*", GO),
    ("reachable #100", "path #100"),
    # the JDK's
    ("jmap -histo", "histo"),
    ("jmap -histo:live", "histo -live"),
    ("GC.class_histogram", "histo -live"),
    ("jmap -clstats", "loaders"),
    ("jstack", "threads -by stack"),
    ("VM.system_properties", "props"),
    # MAT's
    ("heap_dump_overview", "info"),
    ("immediate_dominators byte[]", "holders byte[]"),
    ("immediate_dominators byte[] -skip java.*", "holders byte[] -skip java.*"),
    ("show_retained_set java.lang.String", "size java.lang.String"),
    ("find_strings a", "strings a"),
    ("group_by_value", "dups"),
    ("thread_details main", "bt main"),
    ("thread_overview", "threads"),
    ("thread_stack main", "bt main"),
    ("class_references " + OBJECT, "refs -by class " + OBJECT),
    ("unreachable_objects", "histo -dead"),
    ("extract_list_values " + LIST, "entries " + LIST),
    ("system_properties", "props"),
    ("duplicate_classes", "duplicate-classes"),
    ("show_dominator_tree", "dom"),
    # MAT's names as they are spoken
    ("gc roots", "roots"),
    ("dominator tree", "dom"),
    ("leak suspects -share 5", "leaks -share 5"),
    ("thread details main", "bt main"),
    ("duplicate classes", "duplicate-classes"),
    ("system properties", "props"),
    # but a command of ours keeps its arguments
    ("find strings", "find 'strings'"),
    # of several
    ("users " + OBJECT, "refs -in " + OBJECT),
    ("inbounds " + OBJECT, "refs -in " + OBJECT),
    ("outbounds " + OBJECT, "refs -out " + OBJECT),
    ("whatif java.lang.String>byte[]", "cut java.lang.String>byte[]"),
    # earlier names of commands
    ("dom -up byte[]", "holders byte[]"),
    ("dom -u byte[] -skip java.*", "holders byte[] -skip java.*"),
    ("dominators -up byte[]", "holders byte[]"),
    ("locals", "threadlocals"),
    ("locals -by class", "threadlocals -by class"),
    ("weak", "references"),
    ("weak weak", "references weak"),
    ("take", "bundle"),
    ("tak", "bundle"),
    ("dupclasses", "duplicate-classes"),
    ("sql SELECT kind, objects FROM weak", 'sql SELECT kind, objects FROM "references"'),
    ("sql SELECT count(*) AS n FROM dupclasses", 'sql SELECT count(*) AS n FROM "duplicate-classes"'),
    ("assert 'rows(weak) > 0' | cut ok", "assert 'rows(references) > 0' | cut ok"),
    # full names of kinds of waste
    ("waste one-entry collections", "waste single"),
    ("waste 'zero tails'", "waste tails"),
    ("waste empty-collections", "waste unused"),
    ("waste duplicate str", "waste strings"),
    # beginnings that were unique before newer commands came
    ("b main", "bt main"),
    ("th", "threads"),
    ("ref " + OBJECT, "refs " + OBJECT),
    ("duplicate", "dups"),
)


def answers(tap, word, meaning, sample=SHOP):
    name = "%s on %s" % (word, os.path.basename(sample))
    got, want = (cairn("-x", line, "--format", "csv", sample) for line in (word, meaning))
    tap.ok(got.out == want.out and got.err == want.err and got.status == want.status,
           "%s is %s" % (name, meaning), "%s\n%s\nbut\n%s\n%s" % (got.err, got.out[:500], want.err, want.out[:500]))
    tap.ok(want.status in (0, 1) and (want.out.count("\n") > 1 or meaning in NONE_THERE),
           name + " answers something", want.err)


def once(tap):
    """Each is said once to be what it is here; only people are told."""
    run = cairn("-x", "dumpobj " + OBJECT, "-x", "dumpobj " + OBJECT, "-x", "gcroot " + OBJECT, SHOP)
    tap.equal((run.out.count("dumpobj is x here"), run.out.count("gcroot is path here")), (1, 1),
              "a word is said once to be ours")
    run = cairn("-x", "x " + OBJECT, "-x", "referrers " + OBJECT, SHOP)
    tap.ok(" here (" not in run.out, "nothing is said of words that are no other tool's")


def told(tap):
    for word, command in (("dumpobj", "x"), ("info class", "histo"), ("immediate_dominators", "holders"),
                          ("thread_details", "bt"), ("eeheap", "info")):
        run = cairn("-x", "help " + command)
        tap.ok(word in " ".join(run.out.split()), "help %s names %s" % (command, word))
        run = cairn("-x", "alias '%s' | cut word,command" % word, "--format", "csv")
        tap.ok(run.status == 0 and "\n%s,%s" % (word, command) in "\n" + run.out.replace("\r", ""),
               "alias '%s' names %s" % (word, command), run.out + run.err)
    for word, said in (("dumpobj", "dumpobj means x"), ("locals", "locals means threadlocals")):
        first, rest = cairn("-x", "help " + word).out.split("\n", 1)
        tap.equal((first, rest), (said, cairn("-x", "help " + said.split()[-1]).out), "help %s says what it is, then explains that" % word)
    tap.ok("in bt" in cairn("-x", "help locals").out, "help locals leads to the variables of methods")
    run = cairn("-x", "alias nonsense")
    tap.equal(run.status, 1, "alias of no word: status 1")


def earlier(tap):
    """Earlier names of commands work everywhere, and no list has them."""
    older = os.path.join(os.path.dirname(SHOP), "shop-1.hprof")
    listed = cairn("-x", "help").out
    for word, name, on in (("dom -up *", "holders *", [SHOP]), ("locals", "threadlocals", [SHOP]),
                           ("weak", "references", [SHOP]), ("take", "bundle", [SHOP]),
                           ("course -by class java.lang.String", "path-history -by class java.lang.String", [older, SHOP]),
                           ("dupclasses", "duplicate-classes", [SHOP])):
        got, want = (cairn("-x", line, "--format", "json", *on) for line in (word, name))
        tap.equal((got.out, got.err, got.status), (want.out, want.err, want.status), "%s is %s" % (word, name))
        old, new = word.split()[0], name.split()[0]
        if old == "dom":
            continue
        tap.equal(cairn("-x", "help " + old).out.split("\n", 1)[1], cairn("-x", "help " + new).out, "help %s is help %s" % (old, new))
        tap.ok(re.search(r"^  %s " % new, listed, re.M) and not re.search(r"^  %s " % old, listed, re.M), "help does not list %s" % old)
        tap.equal(cairn("-x", "alias | grep ^%s$" % old, "--format", "csv").out.count("\n"), 1, "neither does alias")
        if old != "weak":  # in upper case it begins MAT's weak_references_statistics
            tap.ok(cairn("-x", old.title(), SHOP).err.startswith("cairn: ls: "),
                   "%s is a class" % old.title())
    with tempfile.TemporaryDirectory(prefix="tools.", dir=os.path.join(BUILD, "tests")) as folder:
        run = cairn("-x", "export -dir t -partition host=a weak dupclasses", SHOP, cwd=folder)
        tap.equal((run.status, sorted(os.listdir(os.path.join(folder, "t")))), (0, ["dupclasses", "weak"]),
                  "tables are exported under the names that were typed")


def pages(tap):
    for name, word in (("keys", "PgUp"), ("mouse", "wheel"), ("theme", "NO_COLOR")):
        tap.ok(word in cairn("-x", "help " + name).out, "help %s is a page" % name)
        tap.ok("help %s," % name in cairn("-x", "apropos " + name, "--format", "csv").out, "apropos %s finds it" % name)
    for word in ("biggest", "largest", "fattest", "huge"):
        tap.ok("help top," in cairn("-x", "apropos " + word, "--format", "csv").out, "apropos %s finds top" % word)
    older = os.path.join(os.path.dirname(SHOP), "shop-1.hprof")
    for word, name, on in (("compare", "diff", [older, SHOP]), ("oom", "bt -oom", [SHOP]), ("maps", "collections", [SHOP])):
        got, want = (cairn("-x", line, *on) for line in (word, name))
        tap.equal((got.out, got.err, got.status), (want.out, want.err, want.status), "%s is %s" % (word, name))
    for word in ("q!", "wq"):
        tap.equal(cairn("-x", word, "-x", "histo", SHOP).out, "", "%s ends it" % word)
    tap.ok("cairn --version" in cairn("-x", "version").err, "version leads on")


def wrong(tap):
    """What goes wrong is told of the command that it is."""
    run = cairn("-x", "dumpobj 0x10", SHOP)
    tap.ok(run.status == 1 and run.err.startswith("cairn: x: "), "dumpobj of no object", run.err)
    run = cairn("-x", "immediate_dominators", SHOP)
    tap.ok(run.status == 2 and "SET is missing" in run.err, "immediate_dominators of nothing", run.err)


# an unknown word, and the lines that it leads to, the nearest first
LEADS = (
    ("histogramm", ["histo"]), ("histgram", ["histo"]), ("hsito", ["histo"]), ("objetcs", ["ls *"]), ("dominatr", ["dom"]),
    ("leakage", ["leaks"]), ("memory", ["waste", "offheap", "close"]), ("thread_", ["threads", "bt"]), ("backtrac", ["bt"]),
    ("gcrot", ["path"]), ("systemproperties", ["props"]), ("group", ["heap"]),
    # whose beginning or letters another tool's word has by chance
    ("array", []), ("hash", []), ("xyzzy", []), ("kubernetes", []), ("frobnicate", []), ("foo", []), ("teapot", []),
)


def leads(tap):
    """An unknown word leads to three near lines at most, and to none that is far; no beginning of a tool's word runs."""
    for word, lines in LEADS:
        run = cairn("-x", word, SHOP)
        near = re.search(r"\(nearest: (.*)\)$", run.err.strip())
        found = [n.split(": ")[0] for n in near.group(1).split("; ")] if near else []
        tap.equal((run.status, run.out, found), (2, "", lines), "%s leads to %s" % (word, ", ".join(lines) or "nothing"))
        tap.ok(near or "apropos " + word in run.err, "or to apropos", run.err)
    for word, lead in (("back", "Esc goes back"), ("show", "heap"), ("show heap", "heap")):
        run = cairn("-x", word, SHOP)
        tap.ok(run.status == 2 and not run.out and "%s: not a command" % word.split()[0] in run.err and lead in run.err,
               "%s leads on" % word, run.err)


def apropos(tap):
    rows = cairn("-x", "apropos garbage", "--format", "csv").out.replace("\r", "").splitlines()
    tap.equal(rows[0], "command,text", "apropos has columns")
    tap.ok(any(row.startswith("help histo,") for row in rows), "apropos garbage finds histo", rows)
    tap.none([row for row in rows[1:] if "garbage" not in row.lower()], rows[1:], "each row tells of it")
    tap.equal([row.split(",")[0] for row in
               cairn("-x", "apropos RFC 4180", "--format", "csv").out.splitlines()[1:]], ["help formats"],
              "apropos finds pages, by all words")
    tap.ok("help x" in cairn("-x", "apropos dumpobj", "--format", "csv").out, "apropos finds other tools' words")
    run = cairn("-x", "apropos xyzzy")
    tap.ok(run.status == 1 and "nothing in the help matches it" in run.out, "apropos of nothing: status 1", run.out)
    run = cairn("-x", "apropos")
    tap.equal(run.status, 2, "apropos without a word is wrong usage")
    run = cairn("-x", "help zzyx")
    tap.ok(run.status == 2 and "nearest" not in run.err and "apropos zzyx" in run.err,
           "help of an unknown word leads to apropos", run.err)


def main():
    tap = Tap()
    for pair in PAIRS:
        answers(tap, *pair)
    once(tap)
    told(tap)
    earlier(tap)
    pages(tap)
    wrong(tap)
    leads(tap)
    apropos(tap)
    tap.done()


main()
