#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""report: what it says first; and with -redact no text of the dump is in it but names of the program.

Of real dumps every String of 8 characters or more is searched in all three forms, but for names of classes, fields,
methods, files of source and threads, words of this program, and versions.  Secrets are planted where texts get out: in
messages of errors, values, properties, arguments, a javacore, and names of files.
"""

import glob
import html
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import hprof  # noqa: E402
from cairntest import DUMPS, GO, SAMPLE, SHOP, Tap, cairn, some  # noqa: E402
from javadump import JavaDump, named_thread  # noqa: E402

FORMS = ("txt", "md", "html")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")
VERSION = re.compile(r"(OpenJDK|Java HotSpot\(TM\)) .*VM|[\d._+-]*\d[\w.+-]*")
ERROR = "java.lang.OutOfMemoryError"
JAVACORE = """0SECTION       TITLE subcomponent dump routine
1TISIGINFO     %s
1TIDATETIME    Date: 2021/02/03 at 04:05:06:789
0SECTION       GPINFO subcomponent dump routine
2XHOSLEVEL     OS Level         : SECRET-os 5.14
0SECTION       ENVINFO subcomponent dump routine
1CIJAVAVERSION JRE 11 Linux amd64-64 (build 11.0.10)
1CICMDLINE     java -Xmx4g -jar SECRET.jar
1CIUSERARGS    UserArgs:
2CIUSERARG               -Dwhat=SECRET
1CIENVVARS     Environment Variables
2CIENVVAR      HOME=SECRET
"""


def reports(dump, *options, words="-redact"):
    """The report in each form, as a person reads it."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            path = os.path.join(folder, "r." + form)
            done = cairn(*options, "-x", "report %s -o %s" % (words, path), dump)
            assert done.status in (0, 4), done
            with open(path, encoding="utf-8") as f:
                made[form] = f.read()
    made["md"] = re.sub(r"\\([^\w\s])", r"\1", html.unescape(made["md"]))
    made["html"] = html.unescape(made["html"])
    return {form: " ".join(text.split()) for form, text in made.items()}


def own_words():
    text = []
    for path in glob.glob(os.path.join(SOURCE, "**", "*.[ch]"), recursive=True):
        with open(path, encoding="utf-8") as f:
            text.append(re.sub(r'"\s*"', "", f.read()))
    return "\n".join(text)


def check_texts(tap, path, own):
    dump = hprof.read(path)
    texts, threads = dump.texts(len(dump.heaps) - 1)
    texts = {" ".join(t.split()) for t in texts}
    texts = {t for t in texts if len(t) >= 8}
    names = {s.decode("utf-8", "replace") for s in dump.strings.values()}
    names = "\n".join(names | {n.replace("/", ".") for n in names} | threads)
    found = [(form, t) for form, text in reports(path).items() for t in texts if t in text]
    found = [(form, t) for form, t in found if t not in names and t not in own and not VERSION.fullmatch(t)]
    tap.none(found[:5], texts, "%s: none of %d texts" % (os.path.relpath(path, DUMPS or "/"), len(texts)), 101)


# --- what was planted ---------------------------------------------------------------------------------

def planted(folder):
    """A dump of a thread that ran out of memory, with a secret wherever a text may stand."""
    d = JavaDump()
    d.add_class(ERROR, fields="detailMessage:L backtrace:L depth:I")
    d.root("jni", d.new(ERROR, detailMessage=d.string("SECRET-message of 4711"), depth=3))
    d.add_class("java.util.Properties", fields="table:L")
    d.add_class("java.lang.System", statics="props:L")
    d.add_class("acme.Customer", fields="name:L")
    d.add_class("acme.Main", statics="first:L all:L")
    customers = [d.new("acme.Customer", name=d.string("SECRET-customer")) for _ in range(40)]
    d.static("acme.Main", "first", customers[0])
    d.static("acme.Main", "all", d.array(customers))
    d.add_class("java.util.Hashtable$Entry", fields="hash:I key:L value:L next:L")
    d.add_class("java.util.Hashtable$Entry[]", "java.lang.Object[]")
    d.classes["java.util.Properties"][1:3] = ["java.util.Hashtable", []]
    d.add_class("java.util.Hashtable", fields="table:L count:I")
    pairs = {"sun.java.command": "acme.Main SECRET-argument", "os.name": "SECRET-os", "os.version": "1", "os.arch": "x",
             "user.name": "SECRET-user"}
    entries = [d.new("java.util.Hashtable$Entry", key=d.string(k), value=d.string(v)) for k, v in pairs.items()]
    table = d.array(entries, "java.util.Hashtable$Entry[]")
    d.static("java.lang.System", "props", d.new("java.util.Properties", table=table, count=len(pairs)))
    named_thread(d, "worker", 5, (ERROR + ".<init>", "acme.Main.run"))
    path = os.path.join(folder, "SECRET-file.hprof")
    d.write(path)
    return path


def check_planted(tap, folder):
    path = planted(folder)
    whole, redacted = reports(path, words=""), reports(path)
    for form in FORMS:
        for secret in ("message", "argument", "os", "file"):
            tap.ok("SECRET-" + secret in whole[form], "%s has the %s" % (form, secret), whole[form][:1500])
        tap.ok("SECRET" not in redacted[form], "%s redacted has none" % form,
               re.findall(r".{40}SECRET.{20}", redacted[form]))
        tap.ok("in thread worker" in redacted[form] and "acme.Main.run" in redacted[form] and
               "acme.Customer" in redacted[form], "%s keeps names, and the cause" % form, redacted[form][:1500])
    with open(path, "rb") as f:
        data = f.read()
    with open(path, "wb") as f:
        f.write(data[:-300])
    redacted = reports(path)
    tap.none([t for t in redacted.values() if "SECRET" in t or "is damaged" not in t], redacted, "nor where the dump is cut")


def check_javacore(tap, folder):
    """What quotes stand behind the kind of event and the class of an error is a text of the program."""
    for cause, kept in (
            ('Dump Event "systhrow" (00040000) Detail "java/lang/OutOfMemoryError" "SECRET" received',
             'Dump Event "systhrow" (00040000) Detail "java/lang/OutOfMemoryError"'),
            ('Dump Event "throw" (00000010) Detail "acme/Bad$1" "SECRET "of" it" received', 'Detail "acme/Bad$1"'),
            ('Dump Requested By User (00100000) Through "SECRET"', "Dump Requested By User (00100000)"),
            ('Dump Event "user SECRET" received', "Dump Event"),
            ('Dump Event "user" (00004000) Detail SECRET words received', 'Dump Event "user" (00004000) Detail'),
            ("SECRET", ""), ('Dump Event "gpf" (00002000) SECRET', 'Dump Event "gpf" (00002000)'),
            ("Dump Event (SECRET)", "Dump Event")):
        path = os.path.join(folder, "javacore.SECRET.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(JAVACORE % cause)
        made = reports(SAMPLE, "--javacore", path)
        tap.none([t[:900] for t in made.values() if kept not in t or "build 11.0.10" not in t or "SECRET" in t], made, cause)


def check_keys(tap):
    """The steps of a path through a map of Go are its keys."""
    whole, redacted = reports(GO, words=""), reports(GO)
    lines = cairn("-x", "heap -depth 2", "-x", "report -redact", "-x", "report", GO).out
    for form in FORMS:
        tap.ok(re.search(r"session-\d+", whole[form]), "%s: a key of a map is in the path of a suspect" % form)
        tap.ok(not re.search(r"session-\d+", redacted[form]) and "main.sessions" in redacted[form],
               "%s: and not where it is redacted" % form, re.findall(r".{60}session-\d+.{20}", redacted[form]))
    first = lines[lines.index("Heap dump\n"):lines.index("Heap of ")]
    tap.ok("main.sessions" in first and not re.search(r"session-\d+", first), "nor where it was shown before", first[:300])


# --- sentences ----------------------------------------------------------------------------------------

def check_brief(tap):
    """What stands first is what the commands say of the dump, and what is called a suspect is one."""
    for name in ("hotspot/sun_jdk6_18_x32.hprof", "waste/jdk17/waste.hprof", "waste/jdk8/waste.hprof",
                 "today/grove21-zgen.hprof"):  # of this most is alignment, which is no part of the sum
        path = os.path.join(DUMPS, name)
        page = reports(path, words="")["txt"]
        brief = page[:page.index("The dump ---")]
        shares = [row["share"] for row in answer("leaks", path)]
        tap.equal("No leak suspect" in brief, shares[0] <= 10, "%s: suspects" % name)
        waste = [row for row in answer("waste", path) if row["kind"] not in ("fields", "alignment")]
        most = max(waste, key=lambda row: row["wasted"])
        tap.ok(re.search(r"The largest kind is [^.]+, \S+: %s" % re.escape(most["meaning"]), brief), "%s: the most of waste" % name, brief)
        if "jdk6" in name or "jdk8" in name:
            tap.ok("wide" not in [row["kind"] for row in waste], "%s: a char[] has no narrow twin" % name, waste)
        share = re.search(r"~?([\d.]+[KM]) \(~?([\d.]+)%\) is wasted", brief)
        tap.ok(share and abs(float(share[2]) - sum(row["share"] for row in waste)) < 1, "%s: its share" % name, brief)
        if name.startswith("waste"):  # the manifest: one Doomed blocks
            tap.ok("runs finalize() of waste.Doomed" in brief and brief.count("Deadlock: ") == 2,
                   "%s: the blocked finalizer, two deadlocks" % name, brief)


def answer(line, path):
    return json.loads(cairn("--format", "json", "-x", line, path).out)


def check_oom(tap):
    """The stack of the thread that ran out of memory stands in a report where there is one, and nowhere else."""
    for path, there in ((os.path.join(DUMPS, "waste", "oom", "waste-oom.hprof"), True), (SHOP, False)):
        out = cairn("-x", "report", path).out
        head, _, rest = out.partition("\nOut of memory\n")
        frames = [f for f in ("waste.Waste.lambda$oom$24", "java.lang.OutOfMemoryError.<init>") if f in rest.split("Suspects")[0]]
        tap.equal((bool(rest), len(frames)), (there, 2 if there else 0), os.path.basename(path) + ": the stack without memory")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_planted(tap, folder)
        check_javacore(tap, folder)
    check_keys(tap)
    own = own_words()
    real = [SHOP]
    for pattern in ("hotspot/*.hprof", "waste/jdk*/waste.hprof", "waste/oom/*.hprof", "today/grove28.hprof") if DUMPS else ():
        real += sorted(glob.glob(os.path.join(DUMPS, pattern)))
    if DUMPS:
        tap.ok(len(real) >= 12, "real dumps are present", real)
    for path in some(real, 3):
        check_texts(tap, path, own)
    if DUMPS:
        check_brief(tap)
        check_oom(tap)
    tap.done()


if __name__ == "__main__":
    main()
