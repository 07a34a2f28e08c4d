#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An index changes how long an answer takes, and nothing else: each command answers the same, byte for byte, with an
index and without, on a dump of each format.  Plain and packed ones take turns: each command is asked of each
dump through one kind and of the next dump through the other, in the long run through both.  Without the dump all but
values and texts is told.  And an index that does not fit its dump is left out, with one sentence.
"""

import collections
import csv
import gzip
import io
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import commands  # noqa: E402
from cairntest import CAIRN, DUMPS, GO, MKDUMP, SAMPLE, SAMPLE_TEXT, SHOP, Run, Tap, cairn, listed, some, turn  # noqa: E402

# What may differ: how long checks took, and which file it was.
TIMES = re.compile(r"it took [\d,.]+ \w+|^index_(file|packed|alone) .*\n", re.M)
# Of these no answer depends on values.
WITHOUT = ["histo -retained -all", "histo -by package -retained", "histo -live", "dom -by class", "dom -by package",
           "top -by class", "refs * -by class", "roots -by kind", 'sql SELECT depth, class, objects, shallow, retained FROM "paths *"',
           "path #{middle} -unfolded | cut address",
           "size *", "check", "tree", "cut * -each | cut -value", "duplicate-classes", "sql SELECT class, count(*), sum(shallow), "
           "max(retained) FROM objects GROUP BY class"]


def copied(folder, path, *beside):
    for name in (path, *beside):
        shutil.copy2(name, folder)
    return os.path.join(folder, os.path.basename(path))


def answer(dump, options, words, cwd):
    run = cairn("--no-config", *options, *[a for w in words for a in ("-x", w)], dump, cwd=cwd)
    return run.status, TIMES.sub("", run.out), TIMES.sub("", run.err)


def packs():
    return "without zstd" not in cairn("--version").out


def same(tap, folder, dump, name, number=0):
    """Every command's answers with an index, plain or packed, and without."""
    kinds = ["index", "index -packed"] if packs() else ["index"]
    n = len(cairn("--no-index", "--format", "csv", "-x", "ls *", dump).out.splitlines()) - 1
    words = {"class": "*", "object": ["#%d" % (n // 2), "#%d" % (n - 1)], "thread": "0", "folder": folder}
    lines = commands.lines(words, commands.without_dump() | set(commands.CHANGES) | {"redact", "profile"})
    # each command in a session of its own, which reads of the index what it needs: an eighth of the commands, by turns
    asked = {command: [line for script in some(those, 3, number) for line in script.split("; ") if folder not in line]
             for command, those in some(lines.items(), 8, number)}
    without = {command: answer(dump, ["--no-index"], those, folder) for command, those in asked.items()}
    for kind in kinds:
        written = cairn("--no-index", "-x", kind, dump)
        tap.ok(not written.status and not written.err, "%s: %s writes" % (name, kind), written.err)
        wrong = []
        its = [command for i, command in enumerate(asked) if kind in turn(number + i, kinds)]
        for command in its:
            with_it = answer(dump, [], asked[command], folder)
            if with_it != without[command]:
                wrong.append("%s: %r" % (command, first_difference(with_it, without[command])))
        tap.ok(len(its) > 1 and not wrong, "%s: %d commands answer the same with %s" % (name, len(its), kind), wrong)
        used = cairn("--format", "json", "-x", "info", dump).out
        tap.ok(dump + ".cairn" in used and '"index_packed": "%s"' % ("yes" if "packed" in kind else "no") in used,
               "%s: info names what %s wrote" % (name, kind), used[-300:])
    return n


def threads(tap, dump, name, n):
    """A packed index tells the same, whatever number of threads packed it and asks."""
    if not packs():
        return
    those = [a for line in WITHOUT for a in ("-x", line.format(middle=n // 2))]
    answers = set()
    counts = ("1", "2", "5")
    for i, count in enumerate(counts):
        cairn("--no-index", "--threads", count, "-x", "index -packed", dump)
        for asked in turn(i + 1, counts):
            run = cairn("--threads", asked, *those, dump)
            answers.add((run.status, TIMES.sub("", run.out), run.err))
    tap.ok(len(answers) == 1, "%s: packed and asked by 1, 2 and 5 threads" % name, len(answers))


def first_difference(a, b):
    for x, y in zip(a, b):
        if x != y and isinstance(x, str):
            for s, t in zip(x.split("\n"), y.split("\n")):
                if s != t:
                    return s, t
        if x != y:
            return x, y
    return ""


def without_dump(tap, dump, name, n):
    """The index alone."""
    those = [line.format(middle=n // 2) for line in WITHOUT]
    before = [cairn("--no-index", "-x", line, dump) for line in those]
    os.rename(dump, dump + ".away")
    alone = [cairn("-x", line, dump + ".cairn") for line in those]
    wrong = [(line, b.err or first_difference((b.out,), (a.out,))) for line, a, b in zip(those, before, alone)
             if (a.status, TIMES.sub("", a.out)) != (b.status, TIMES.sub("", b.out))]
    answered = [a for a in before if a.status == 0 and a.out]
    tap.none(wrong, answered, "%s: the index alone tells the same of objects, references and sizes" % name)
    unknown_not_wrong(tap, dump, name)
    texts = cairn("-x", "strings", dump + ".cairn")
    tap.ok(texts.status and not texts.out, "%s: and has no texts" % name, texts.out + texts.err)
    again = cairn("-x", "index %s.2" % dump, dump + ".cairn")
    tap.ok(again.status, "%s: no index is written of an index alone" % name, again.err)
    os.rename(dump + ".away", dump)


NAMES = "sql SELECT source, target, field FROM refs"


def unknown_not_wrong(tap, dump, name):
    """What an index alone names or shows is what the dump has, or ?."""
    full, alone = [csv.DictReader(io.StringIO(cairn("--format", "csv", "-x", NAMES, path).out))
                   for path in (dump + ".away", dump + ".cairn")]
    full, alone = [collections.Counter(tuple(row.values()) for row in rows if row["field"]) for rows in (full, alone)]
    wrong = alone - full
    if name.startswith("Go"):
        tap.ok(full and not alone, "%s: without the dump none of %d references has a name" % (name, sum(full.values())), list(alone)[:5])
    else:
        tap.none(list(wrong)[:5], alone, "%s: %d of %d references have a name, which is theirs" %
                 (name, sum(alone.values()), sum(full.values())))
    full, alone = [json.loads(cairn("--format", "json", "-x", "ls *", path).out) for path in
                   (dump + ".away", dump + ".cairn")]
    wrong = [(a, b) for a, b in zip(full, alone) if b.get("value") not in (None, a.get("value"))]
    tap.ok(full and len(full) == len(alone) and not wrong, "%s: and no value is told that is not the object's" % name, wrong[:3])
    if name == "HPROF":
        why = cairn("-x", "ls java.lang.String", "-x", "why value", dump + ".cairn")
        tap.ok("only its index is present" in why.out, "why tells that the dump is not here", why.out[-300:])
        asked = cairn("-x", "ls com.acme.shop.Order -where 'total > 5'", dump + ".cairn")
        tap.ok(asked.status and not asked.out and "only its index" in asked.err, "no row is chosen by what is unknown", asked.err)
        fields = json.loads(cairn("--format", "json", "-x", "ls com.acme.shop.Order -fields total", dump + ".cairn").out)
        tap.ok(fields and all(row["total"] is None for row in fields), "fields are columns of ?", [])


def no_names(tap, folder, dump, name):
    """Numbers for names: none of these stands in the file, and through the map it says what the dump says."""
    numbers, maps = os.path.join(folder, "numbers"), os.path.join(folder, "map")
    run = cairn("--no-index", "-x", "index -no-names %s %s" % (maps, numbers), dump)
    tap.ok(not run.status and os.stat(maps).st_mode & 0o777 == 0o600, "%s: the map is for its owner alone" % name, run.err)
    with open(maps, encoding="utf-8") as f:
        names = dict(line.rstrip("\n").split("\t", 1) for line in f)
    with open(numbers, "rb") as f:
        content = f.read()
    common = {"name", "status", "queue"} # fields of the class library have these, too; and numbers look like a letter or two
    secret = [n.encode() for n in names.values() if n not in common and len(n) > 2] + [os.fsencode(folder), os.path.basename(dump).encode()]
    told = [s for s in secret if b"\0" + s + b"\0" in content or (len(s) > 8 and s in content)]
    tap.ok(names and len(set(names.values())) > 10 and not told, "%s: none of %d names stands in it" % (name, len(names)), told[:5])
    through = lambda n: re.sub(r"class #[0-9]+", lambda m: names[m.group()], n)
    ask = "histo -retained -all"
    full, alone = [csv.DictReader(io.StringIO(cairn("--format", "csv", *options, "-x", ask, path).out))
                   for options, path in ((["--no-index"], dump), ([], numbers))]
    full, alone = [sorted((through(row["class"]), row["objects"], row["retained"]) for row in rows) for rows in (full, alone)]
    tap.ok(full and full == alone, "%s: and through the map classes are what they are" % name,
           [pair for pair in zip(full, alone) if pair[0] != pair[1]][:3])
    whole = cairn("-x", "check", numbers)
    tap.ok(whole.status == cairn("--no-index", "-x", "check", dump).status, "%s: and the graph keeps its promises" % name, whole.out[-300:])
    os.rename(numbers, dump + ".cairn")
    left_out(tap, dump, name + " beside its dump", "numbers instead of names")
    for path in (maps, dump + ".cairn"):
        os.unlink(path)


def left_out(tap, dump, name, why, options=(), status=0):
    """The dump is opened as if there were no index, and one sentence says why."""
    run, plain = cairn(*options, "-x", "histo", dump), cairn("--no-index", *options, "-x", "histo", dump)
    said = run.err.splitlines()
    tap.ok(run.out == plain.out and run.status == plain.status and len(said) == 1 and "is ignored" in said[0] and
           why in said[0], "%s: %s" % (name, why), (run.status, run.err, run.out[:200]))


def damaged_findings(tap, dump, whole, write):
    for name in (b"dominator", b"reachable"):
        at = whole.rindex(name + b"\0") # its entry in the table of contents, where a checksum of the chunk stands
        offset = int.from_bytes(whole[at + 16:at + 24], "little")
        write(whole[:offset + 8] + bytes([whole[offset + 8] ^ 1]) + whole[offset + 9:])
        run, plain = [cairn(*o, "-x", "dom", "-x", "info", dump) for o in ([], ["--no-index"])]
        tap.ok(TIMES.sub("", run.out) == plain.out and len(run.err.splitlines()) == 1 and "computed again" in run.err,
               "damaged: %s is found anew, and that is said" % name.decode(), run.err)


def refusals(tap, folder, dump, kind):
    index = dump + ".cairn"
    cairn("--no-index", "-x", kind, dump)
    with open(index, "rb") as f:
        whole = f.read()

    def write(content):
        with open(index, "wb") as f:
            f.write(content)

    left_out(tap, dump, "other rule of sizes", "another rule", ["--sizes", "mat"])
    write(whole[:len(whole) // 2])
    left_out(tap, dump, "cut in its middle", "truncated")
    write(b"")
    left_out(tap, dump, "empty", "it is empty")
    write(b"something else")
    left_out(tap, dump, "another file", "not an index file")
    for at in range(64, len(whole) - 3000, len(whole) // 7):
        write(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1:])
        run, plain = cairn("-x", "dom", dump), cairn("--no-index", "-x", "dom", dump)
        tap.ok((run.out, run.status) == (plain.out, plain.status) and len(run.err.splitlines()) <= 1,
               "%s, byte %d of %d is another one: the answer is true" % (kind, at, len(whole)), run.err + run.out[:300])
    if kind == "index": # of a packed one all is inflated and checked when it is opened, or needs more than a byte
        damaged_findings(tap, dump, whole, write)
    write(whole)
    os.utime(dump, (1, 1))
    left_out(tap, dump, "the dump was touched", "another modification time")
    other = os.path.join(folder, "other.hprof")
    shutil.copy2(SHOP.replace("shop.", "shop-1."), other)
    shutil.copy2(index, other + ".cairn")
    left_out(tap, other, "the index of another dump", "another size")
    cairn("--no-index", "-x", kind, dump)
    when = os.stat(dump)
    with open(dump, "r+b") as f:
        f.seek(100)
        byte = f.read(1)[0]
        f.seek(100)
        f.write(bytes([byte ^ 1]))
    os.utime(dump, ns=(when.st_atime_ns, when.st_mtime_ns))
    left_out(tap, dump, "other bytes at the same time", "has other contents")


def other_program(tap, dump):
    """Types are known by their numbers in the program, so an index is of a dump and its program."""
    program, aside = dump.replace(".dump", ".elf"), dump.replace(".dump", ".aside")
    cairn("-x", "index", dump)
    os.rename(program, aside)
    left_out(tap, dump, "the program is gone", "not next to the dump")
    cairn("--no-index", "-x", "index", dump)
    run = cairn("-x", "histo", dump)
    tap.ok(run.status == 0 and run.out and not run.err, "an index without it is one without it", run)
    os.rename(aside, program)
    left_out(tap, dump, "the program came", "without the program")


def places(tap, folder, dump):
    """Where an index is found and written."""
    index = dump + ".cairn"
    cache = os.path.join(folder, "cache")
    os.makedirs(os.path.join(cache, "cairn"))
    env = {"XDG_CACHE_HOME": cache}
    if os.path.exists(index):
        os.unlink(index)
    run = cairn("-x", "histo", dump, env=env)
    tap.ok(run.status == 0 and not os.path.exists(index) and not os.listdir(os.path.join(cache, "cairn")),
           "nothing is written unasked", run)
    cached = os.path.join(cache, "cairn", os.path.basename(index))
    cairn("-x", "index %s" % cached, dump, env=env)
    tap.ok(cached in cairn("--format", "json", "-x", "info", dump, env=env).out, "the index in the cache is found", [])
    named = os.path.join(folder, "named")
    first = cairn("--index", named, "-x", "histo", dump)
    tap.ok(os.path.exists(named) and not first.err and first.out == cairn("--no-index", "-x", "histo", dump).out,
           "--index writes the file that is not there", first.err)
    tap.ok(named in cairn("--index", named, "--format", "json", "-x", "info", dump).out, "and then opens it", [])
    left_alone(tap, folder, dump, named, env)
    saving = [subprocess.Popen([os.path.join(os.environ["CAIRN_BUILD"], "cairn"), "--no-index", "-x", "index", dump],
                               stderr=subprocess.PIPE) for _ in range(4)]
    said = [p.communicate()[1].decode() for p in saving]
    both = cairn("--format", "json", "-x", "info", dump)
    tap.ok(said == [""] * 4 and index in both.out and not both.err, "four save at once, and one of them has the name", said)
    tap.ok(sorted(os.listdir(folder)).count(os.path.basename(index)) == 1 and not
           [f for f in os.listdir(folder) if ".part" in f], "and nothing else is left", os.listdir(folder))
    full = cairn("--no-index", "-x", "index /dev/full", dump)
    tap.ok(full.status and len(full.err.splitlines()) == 1, "a full disk is one sentence", full.err)
    nowhere = cairn("--no-index", "-x", "index %s/no/such/folder.cairn" % folder, dump)
    tap.ok(nowhere.status and len(nowhere.err.splitlines()) == 1, "and so is a folder that is not there", nowhere.err)


def left_alone(tap, folder, dump, named, env):
    """--index asks nobody, so it replaces an older index of this dump and nothing else."""
    other = os.path.join(folder, "other.hprof")
    shutil.copy(dump, other)
    numbers, text = os.path.join(folder, "numbers"), os.path.join(folder, "text")
    cairn("--no-index", "-x", "index -no-names %s.map %s" % (numbers, numbers), dump)
    with open(text, "w", encoding="ascii") as to:
        to.write("hi\n")
    for path, of, why in ((text, dump, "not an index file"), (numbers, dump, "numbers instead of names"), (named, other, "another dump")):
        with open(path, "rb") as f:
            before = f.read()
        run = cairn("--index", path, "-x", "histo", of)
        with open(path, "rb") as f:
            same_bytes = f.read() == before
        tap.ok(run.status == 2 and same_bytes and re.search("is not overwritten: it (is|contains|belongs to) .*" + why, run.err),
               "--index leaves a file alone: " + why, run.err)
    written = os.stat(dump)
    os.utime(dump, ns=(written.st_atime_ns, written.st_mtime_ns + 1))
    run = cairn("--index", named, "-x", "histo", dump)
    again = cairn("--index", named, "-x", "histo", dump)
    tap.ok(run.status == 0 and again.status == 0 and again.out == run.out != "" and not again.err, "and replaces an older one of the dump", run.err)
    os.utime(dump, ns=(written.st_atime_ns, written.st_mtime_ns))
    tap.ok(cairn("--index", named, "--no-index", "-x", "histo", dump).status == 2, "--index with --no-index is an error", [])
    cached = os.path.join(env["XDG_CACHE_HOME"], "cairn", os.path.basename(other) + ".cairn")
    shutil.copy(named, cached)
    run = cairn("-x", "histo", other, env=env)
    tap.ok(run.status == 0 and run.out and not run.err, "in the cache an index of another dump of this name is nothing to speak of", run.err)
    os.unlink(cached)
    cairn("--no-index", "-x", "index", dump)
    with open(dump + ".cairn", "r+b") as f:
        f.seek(os.path.getsize(dump + ".cairn") // 2)
        f.write(bytes(range(1, 200)))
    run = cairn("-x", "check", "-x", "index", dump)
    again = cairn("-x", "check", dump)
    tap.ok(not run.status and "the command index writes a new one" in run.err and again.out and not again.err,
           "index writes a new one where the index that a dump was opened from is damaged", (run.err, again.err))
    plain = os.path.getsize(dump + ".cairn")
    run = cairn("-x", "index -packed", dump)
    tap.ok(not run.status and os.path.getsize(dump + ".cairn") < plain / 2,
           "the index that a dump was opened from is written anew, packed", run.err)


def cut_while_open(tap, folder, dump):
    """Somebody cuts the index that is mapped: one sentence, and no answer out of it."""
    cairn("--no-index", "-x", "index", dump)
    whole = os.path.getsize(dump + ".cairn")
    for size in (0, 5000, whole // 2, whole - 5000):
        cairn("--no-index", "-x", "index", dump)
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        lines = ["-x", "dom -by class", "-x", "histo | !cat %s" % fifo, "-x", "dom -by class", "-x", "check -tree"]
        run = subprocess.Popen([os.path.join(os.environ["CAIRN_BUILD"], "cairn"), "--no-config", *lines, dump],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with open(fifo, "w", encoding="ascii") as f: # opens when the second line reads it
            os.truncate(dump + ".cairn", size)
            f.write("now\n")
        out, err = run.communicate(timeout=60)
        said = err.decode().splitlines()
        tap.ok(b"now" in out and 0 < run.returncode < 5 and said and all("this index was changed" in line for line in said),
               "cut to %d of %d bytes while open: no answer counts" % (size, whole), (run.returncode, said, out[-300:]))
        os.unlink(fifo)


def set_back(path, when):
    os.utime(path, ns=(when.st_atime_ns, when.st_mtime_ns))


def overwrite(way, path, other, chosen):
    """Write to an index in place, as a copy over it does, or rsync --inplace, or an accident."""
    when, whole = os.stat(path), os.path.getsize(path)
    with open(other, "rb") as f:
        foreign = f.read()
    with open(path, "rb") as f:
        own = f.read()
    with open(path, "wb" if way in ("copied over", "written again") else "r+b") as f:
        if way == "copied over":
            f.write(foreign)
        elif way == "in place":
            f.write(foreign[:whole].ljust(whole, b"\xff"))
        elif way == "written again":
            time.sleep(0.005)
            f.write(own)
        else:
            f.seek(chosen.randrange(whole // 2))
            f.write(b"\xff" * (whole // 2 - 100))
    if way != "copied over":
        set_back(path, when)


def overwritten_while_open(tap, folder):
    """At any moment: the answer is the right one, or there is a sentence and a status; never a crash."""
    dump, other = os.path.join(folder, "open.phd"), os.path.join(folder, "larger.phd")
    for path, objects in ((dump, "200000"), (other, "260000")):
        subprocess.run([MKDUMP, "bench", "--objects", objects, "--phd", path], check=True, stdout=subprocess.DEVNULL)
        cairn("--no-index", "-x", "index", path)
    shutil.copy2(dump + ".cairn", dump + ".kept")
    lines = [a for line in ("histo -all", "dom -by class", "top", "refs * -by class", "ls * | head 5", "paths * | head 5",
                            "histo -live") for a in ("-x", line)]
    began = time.monotonic()
    right = cairn(*lines, dump)
    took = time.monotonic() - began
    chosen = random.Random(7)
    for way in ("copied over", "in place", "written again", "in the middle"):
        wrong, refused = [], 0
        for _ in range(int(os.environ.get("CAIRN_OVERWRITES", "4"))):
            os.unlink(dump + ".cairn")
            shutil.copy2(dump + ".kept", dump + ".cairn")
            run = subprocess.Popen([CAIRN, "--no-config", *lines, dump], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(chosen.random() * took)
            overwrite(way, dump + ".cairn", other + ".cairn", chosen)
            out, err = run.communicate(timeout=60)
            good = run.returncode == 0 and out.decode() == right.out
            refused += not good
            if not good and (run.returncode not in (2, 3, 4) or not err):
                wrong.append((run.returncode, err[-300:], first_difference((out.decode(),), (right.out,))))
        tap.ok(right.status == 0 and not wrong, "an index that is %s while it is open gives right answers or none "
               "(%d runs: none)" % (way, refused), wrong[:2])
    for name in (dump, other):
        os.unlink(name)


def another_users(tap, folder):
    """An index that another user can change is not opened unasked."""
    dump = os.path.join(folder, "shared.phd")
    subprocess.run([MKDUMP, "bench", "--objects", "50000", "--phd", dump], check=True, stdout=subprocess.DEVNULL)
    cairn("--no-index", "-x", "index", dump)
    index = dump + ".cairn"
    cases = [("everybody may write to it", lambda: os.chmod(index, 0o666))]
    if os.geteuid() == 0:
        cases.append(("it is another user's", lambda: (os.chmod(index, 0o600), os.chown(index, 12345, 12345))))
    for name, change in cases:
        change()
        run, asked = cairn("-x", "histo", dump), cairn("--index", index, "-x", "histo", dump)
        tap.ok(not run.status and "another user can change it" in run.err and not asked.err and run.out == asked.out != "",
               "%s: it is left out, and opened where it is named" % name, (run.err, asked.err))
    os.unlink(dump)


def gzipped(folder, path):
    packed = os.path.join(folder, os.path.basename(path) + ".gz")
    with open(path, "rb") as f, gzip.open(packed, "wb", 1) as g:
        shutil.copyfileobj(f, g)
    return packed


def damage_between_samples(path):
    """Of 64 blocks of the dump its index has a sum (index_key.c): one byte behind the middle one, at the same time."""
    when, room = os.stat(path), os.path.getsize(path) - 4096
    at = room // 63 * 31 + 4096 + (room // 63 - 4096) // 2
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 0xFF]))
    os.utime(path, ns=(when.st_atime_ns, when.st_mtime_ns))


# Of these no answer needs the bytes of the dump.
WITHOUT_BYTES = ["histo -retained", "histo -by package -retained", "dom -by class", "roots -by kind", "size *", "check"]


def inflated_late(tap, folder):
    """With an index a gzip file is inflated when somebody asks for values: so the rest answers where that is damaged."""
    plain = os.path.join(folder, "bench.hprof")
    made = Run([MKDUMP, "bench", "--objects", "100000", "--hprof", plain])
    dump = gzipped(folder, plain)
    room = os.path.getsize(dump) // 63
    tap.ok(not made.status and room > 5000, "a gzip file with %d bytes between samples" % (room - 4096), made)
    before = [cairn("--no-index", "-x", line, dump).out for line in WITHOUT_BYTES]
    cairn("-x", "index", dump)
    few = ["--mem", "6M", "--spill", "none"]
    run = cairn(*few, "-x", "ls byte[] | head 3", dump)
    tap.ok(run.status == 4 and run.out.count("?") == 3 and "--mem allows" in run.err and len(run.err.splitlines()) == 1,
           "what does not fit into memory is ?, and one sentence", run)
    run = cairn(*few, "-x", "histo -retained", dump)
    tap.ok((run.status, run.out, run.err) == (0, before[0], ""), "and histo -retained does not need it", run)
    damage_between_samples(dump)
    for line, out in zip(WITHOUT_BYTES, before):
        run = cairn("-x", line, dump)
        tap.ok((run.status, TIMES.sub("", run.out), run.err) == (0, TIMES.sub("", out), ""),
               "%s: the bytes of the dump do not matter" % line, run)
    run = cairn("-x", "ls byte[] | head 3", "-x", "x byte[]", "-x", "top | head 2", dump)
    tap.ok(run.status == 4 and run.out.count("?") > 5 and len(run.err.splitlines()) == 1 and "gzip" in run.err and
           "values and strings are missing" in run.err, "damaged: values are ?, and one sentence says why", run)
    run = cairn("-x", "find 12345", "-x", "histo -retained", dump)
    tap.ok(run.status and before[0].rstrip() in run.out, "and other answers stand behind it", run)
    run = cairn("-x", "index %s/second" % folder, "-x", "ls byte[] | head 1", "-x", "index %s/third" % folder, dump)
    tap.ok(os.path.exists(folder + "/second") and not os.path.exists(folder + "/third"),
           "no index is written once that is known", run)


def large_sums(tap, folder):
    """Retained sizes that take 32, 40 or more bits."""
    n, dump = 70000, os.path.join(folder, "list.txt")
    for size in (1 << 15, 1 << 16, 1 << 40):
        listed(dump, n, size)
        want = [str((n - i) * size) for i in range(n - 1, n - 4, -1)] + [str((n - i) * size) for i in range(3)]
        for kind in ["index", "index -packed"] if packs() else ["index"]:
            written = cairn("--no-index", "-x", kind, dump)
            runs = [cairn("--format", "csv", "-x", "ls Node -sort %s | head 3" % by, dump)
                    for by in ("retained -r", "retained")]
            got = [line.split(",")[3] for run in runs for line in run.out.splitlines()[1:]]
            tap.ok(not written.status and got == want and not any(run.err for run in runs),
                   "sums up to %d bytes in what %s wrote" % (n * size, kind), (got, runs))


def no_room(tap, folder, dump):
    before = sorted(os.listdir(folder))
    for limit in (0, 4096, 100000):
        run = cairn("--no-index", "-x", "index %s/full" % folder, dump, preexec=(resource.RLIMIT_FSIZE, limit))
        tap.ok(run.status and len(run.err.splitlines()) == 1 and sorted(os.listdir(folder)) == before,
               "room for %d bytes: one sentence, and nothing is left" % limit, run.err)
    run = cairn("--no-index", "-x", "index /proc/there", dump)
    tap.ok(run.status and len(run.err.splitlines()) == 1, "a folder that takes no files: one sentence", run.err)


def main():
    tap = Tap()
    if sys.argv[1:]: # a dump and what is to lie beside it
        with tempfile.TemporaryDirectory() as folder:
            same(tap, folder, copied(folder, *sys.argv[1:]), sys.argv[1])
        tap.done()
        return
    beside = SAMPLE.replace("heapdump", "javacore").replace(".phd", ".txt")
    kinds = [("HPROF", SHOP, ()), ("PHD", SAMPLE, (beside,)), ("classic", SAMPLE_TEXT, ()),
             ("Go", GO, (GO.replace(".dump", ".elf"),)), ("Go without its program", GO, ())]
    if DUMPS:
        kinds.append(("PHD of 2010", os.path.join(DUMPS, "openj9", "heapdump.20100112.141124.11580.0002.phd"), ()))
        sites = os.path.join(DUMPS, "go", "go-small-memprofile.")
        kinds.append(("Go with sites", sites + "dump", (sites + "elf",)))
    with tempfile.TemporaryDirectory() as top:
        for i, (name, path, more) in enumerate(kinds):
            folder = os.path.join(top, str(i))
            os.mkdir(folder)
            dump = copied(folder, path, *more)
            n = same(tap, folder, dump, name, i)
            without_dump(tap, dump, name, n)
            if "PHD of" not in name and "without" not in name:
                no_names(tap, folder, dump, name)
                cairn("-x", "index", dump)
            threads(tap, dump, name, n)
        folder = os.path.join(top, "gzip")
        os.mkdir(folder)
        for i, (name, path) in enumerate(some((("HPROF", SHOP), ("PHD", SAMPLE), ("Go", GO)), 3)):
            same(tap, folder, gzipped(folder, path), name + " in gzip", i + 1)
        inflated_late(tap, folder)
        folder = os.path.join(top, "0")
        for kind in ["index", "index -packed"] if packs() else ["index"]:
            refusals(tap, folder, copied(folder, SHOP), kind)
        folder = os.path.join(top, "places")
        os.mkdir(folder)
        places(tap, folder, copied(folder, SHOP))
        folder = os.path.join(top, "program")
        os.mkdir(folder)
        overwritten_while_open(tap, folder)
        another_users(tap, folder)
        if DUMPS: # of one that is large enough to be mapped
            cut_while_open(tap, folder, copied(folder, os.path.join(DUMPS, "go", "go-small.dump")))
        large_sums(tap, folder)
        no_room(tap, os.path.join(top, "places"), os.path.join(top, "places", os.path.basename(SHOP)))
        other_program(tap, copied(folder, GO, GO.replace(".dump", ".elf")))
    tap.done()


main()
