#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several dumps of one process (tide): what grew is named with its counts and the reference it hangs on, and
nothing else is.

The counts come from the program that was dumped, those of the samples (data/shop*.hprof) from their generator.
Needs CAIRN_DUMPS; without it only the samples are compared.
"""

import glob
import json
import os
import re
import sqlite3
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import BUILD, GO, MKDUMP, SAMPLE, SERIES, SHOP, Run, Tap, cairn, some  # noqa: E402

DUMPS = os.environ.get("CAIRN_DUMPS", "")


def rows(line, dumps, *options):
    done = cairn("--format", "json", *options, "-x", line, *dumps)
    if done.status not in (0, 1) or not done.out:
        raise RuntimeError("%s: %s" % (line, done))
    return json.loads(done.out)


def course(row):
    return [int(n.replace(",", "")) for n in row["course"].split()]


def planted(manifests):
    """What the program says of each thing it planted: its place, class, and count in each dump."""
    things = {}
    for i, manifest in enumerate(manifests):
        for p in manifest.get("planted") or manifest["Planted"]:
            p = {k.lower(): v for k, v in p.items()}
            key = (p.get("id") or p["where"] + p["type"])
            thing = things.setdefault(key, {"place": p.get("field") or p["where"], "class": p.get("class") or p["type"],
                                            "counts": [0] * len(manifests)})
            thing["counts"][i] = p["count"]
    return things


def grows(counts):
    return counts[-1] > counts[0] and all(b >= a for a, b in zip(counts, counts[1:]))


def under(row, place):
    way = row["path"]
    return way.startswith("static " + place) or way.startswith(place)


def sums(diff, place, cls):
    """Objects of a class below a place, in each dump, and whether there are any rows."""
    found = [course(r) for r in diff if r["class"] == cls and under(r, place)]
    return [sum(c) for c in zip(*found)] if found else None


# planted by the way of another thing, so that no path begins at the named field
ELSEWHERE = {"pool", "cargo", "loaders", "ghost"}


def check_series(t, name, dumps, manifests, *options):
    things = planted(manifests)
    diff = rows("diff", dumps, *options)
    growth = rows("growth", dumps, *options)
    for key, thing in sorted(things.items()):
        place, cls, counts = thing["place"], thing["class"], thing["counts"]
        if key in ELSEWHERE or place.startswith("goroutines"):
            found = [course(r) for r in diff if r["class"] == cls]
            got = [sum(c) for c in zip(*found)] if found else [0] * len(counts)
        elif cls in ("[]uint8", "byte[]"): # one array, whose length is the count
            got = sums(diff, place, cls) or [0] * len(counts)
            counts = [int(c > 0) for c in counts]
        elif cls == "string": # a Go string is its bytes
            got = sums(diff, place, "[]uint8")
        else:
            got = sums(diff, place, cls) or [0] * len(counts)
        t.equal(got, counts, "%s: %s, in each dump" % (name, key))
        told = [r for r in growth if r["reference"].startswith(place)]
        if key in ELSEWHERE or place.startswith("goroutines"):
            continue
        t.ok(bool(told) == any(grows(o["counts"]) for o in things.values() if o["place"] == place),
             "%s: %s is %s" % (name, place, "named" if told else "not named"))
    for r in growth:
        if " " not in r["reference"] and r["freed"] is not None:
            cut = rows("cut '%s'" % r["reference"], dumps[-1:], *options)
            t.equal(r["freed"], cut["freed"], "%s: clearing %s frees what cut says" % (name, r["reference"]))
    reachable = {r["reference"] for r in growth}
    t.none([r for r in growth if r["d_objects"] <= 0 and r["d_retained"] <= 0], growth, "%s: all that is named grew" % name)
    t.equal(len(reachable), len(growth), "%s: no place is named twice" % name)
    for r in growth: # a sentence has the figures of its row
        t.ok(str("{:,}".format(course(r)[-1])) in r["sentence"] or " came " in r["sentence"] or
             " grew from " in r["sentence"], "%s: the sentence about %s" % (name, r["reference"]))


def check_same(t, dump):
    growth = cairn("-x", "growth", dump, dump)
    t.equal((growth.status, "nothing grew" in growth.out), (1, True), "the same dump twice: nothing grew")
    same = rows("diff", [dump, dump])
    t.none([r for r in same if r["d_objects"] or r["d_retained"] or r["d_shallow"]], same, "the same dump twice: no difference")
    grew = cairn("-x", "diff -grew", dump, dump)
    t.equal(grew.status, 1, "diff -grew of the same dump twice: exit status 1")


def check_bad(t, dump):
    got = cairn("-x", "growth", "/nowhere/at/all", dump)
    t.ok(got.status and "/nowhere/at/all" in got.err, "an older dump that is not there is named")
    listed = rows("dumps", ["/nowhere/at/all", dump])
    t.ok("/nowhere/at/all" in listed[0]["damage"] and listed[1]["objects"] > 0, "dumps lists it with the reason")
    got = cairn("-x", "diff | head 1", "/nowhere/at/all", dump, dump)
    t.ok(got.status == 0 and "left out" in got.out + got.err, "the others are compared: %s" % got.err)
    got = cairn("-x", "diff", dump)
    t.ok(got.status == 2 and "OLD" in got.err, "without an older dump diff says how to name one")


def check_chosen(t, profiles):
    """diff DUMP... SET: as if no other dumps were named on the command line; only the rows of the set, whole."""
    cls = "com.acme.shop.Session"
    for words, dumps in (("1 3", [SERIES[0], SERIES[2]]), ("1 2", SERIES[:2]), ("2", SERIES[1:]), ("3 1", SERIES[::-2]),
                         (" ".join(map(os.path.basename, SERIES[::2])), SERIES[::2]), (SERIES[0] + " 2", SERIES[:2])):
        for by in ("path", "class", "field", "package"):
            line = "diff%s -by %s -sort " + by  # the order by itself asks the newest dump, which may not be open
            t.equal(rows(line % (" " + words, by), SERIES), rows(line % ("", by), dumps),
                    "diff %s -by %s is as with these dumps alone" % (words, by))
    whole = {by: rows("diff -by " + by, SERIES) for by in ("path", "class", "package")}
    for order in SERIES, SERIES[::-1]:
        same = [not (r["d_objects"] or r["d_shallow"] or r["d_retained"]) for r in rows("diff -by class", order)]
        t.ok(same == sorted(same) and 5 < sum(same) < len(same) - 5, "diff: unchanged rows come last", same)
    for words in ("%s", "*.Session -by path", "1 2 3 Session"):
        words = words.replace("%s", cls)
        t.equal(rows("diff " + words, SERIES), [r for r in whole["path"] if r["class"] == cls], "diff " + words)
    t.equal(rows("diff Session -by class", SERIES), [r for r in whole["class"] if r["class"] == cls], "diff SET -by class")
    t.equal(rows("diff Session -by package", SERIES), [r for r in whole["package"] if r["package"] == "com.acme.shop"],
            "diff SET -by package: whole rows")
    kept = cairn("--format", "jsonl", "-x", "$s = ls %s" % cls, "-x", "diff $s + com.acme.shop.Order -by class", *SERIES)
    t.equal([json.loads(r)["class"] for r in kept.out.splitlines()],
            [r["class"] for r in whole["class"] if r["class"] in (cls, "com.acme.shop.Order")], "diff of kept sets")
    for words, backwards in (("3 1", True), ("1 3", False), ("2 1", True)):
        said = cairn("-x", "diff %s -by class | head 1" % words, *SERIES)
        t.equal("not in the order" in said.out, backwards, "diff %s says whether it goes back in time" % words)
    for words, told in (("3", "newest"), ("1 1", "twice"), ("4", "1 to 3"), ("1 2 Session -by field", "use 2"),
                        ("1 2 -base 3", "-base"), ("1 Session Order", "too many")):
        got = cairn("-x", "diff " + words, *SERIES)
        t.ok(got.status == 2 and told in got.err, "diff %s: %s" % (words, got.err.strip()))
    for words in ("1 3", "1", "-base 1", "3 1"):
        got = cairn("-x", "diff " + words, "/nowhere/at/all", *SERIES[1:])
        t.ok(got.status == (2 if words[0] == "-" else 3), "diff %s where dump 1 is not there: %s" % (words, got.err.strip()))
    if profiles:
        with tempfile.TemporaryDirectory() as folder:
            made = profiles_of(SERIES, folder)
            line = "diff 1 3 Session -sort path"
            t.equal(rows(line, made), rows(line, SERIES), "diff DUMP... SET of profiles")
            got = cairn("-x", "diff nobody", *made)
            t.ok(got.status == 1 and "nobody" in got.err, "diff SET of profiles: %s" % got.err.strip())


def check_other_programs(t, older, newer, same):
    """The same program or not, whatever both have of the runtime; of different ones nothing is told."""
    words = "they are of different programs"
    said = cairn("-x", "diff -by class | head 1", older, newer)
    t.equal(words in said.out, not same, "%s beside %s: %s" % (os.path.basename(older), os.path.basename(newer),
                                                              "the same program" if same else words))
    if not same:
        growth = cairn("-x", "growth", older, newer)
        t.equal((growth.status, growth.out.count(" more ("), words in growth.out, "nothing grew" in growth.out),
                (1, 0, True, False), "and growth tells nothing but that")


def check_blame(t):
    """why names the dump that makes a figure unsure, and no other; bytes by other rules are no exact differences."""
    with tempfile.TemporaryDirectory() as folder:
        cut = os.path.join(folder, "cut.hprof")
        with open(SERIES[0], "rb") as f:
            held = f.read()
        with open(cut, "wb") as f:
            f.write(held[:len(held) * 2 // 3])
        mat = profiles_of(SERIES[:1], folder, "--sizes", "mat")[0]
        os.mkdir(os.path.join(folder, "wide"))
        wide = profiles_of(SERIES[:1], os.path.join(folder, "wide"))[0]
        db = sqlite3.connect(wide)
        db.execute("UPDATE profile SET word_bits = 32")
        db.commit()
        db.close()
        for name, older, column, sure, reason in (
                ("cut", cut, "d_objects", "unknown", "only a part could be read"),
                ("inferred roots", SAMPLE, "d_retained", "inferred", "roots are inferred"),
                ("mat sizes", mat, "d_shallow", "inferred", "another rule"),
                ("words of 32 bits", wide, "d_shallow", "inferred", "wider or narrower")):
            for words in ("%s" % column, "%1"):
                dumps = [older, SERIES[1], SHOP]
                done = cairn("--format", "jsonl", "-x", "diff -by class | grep shop.Session | head 1", "-x",
                             "why " + words, *dumps)
                said = {r.get("what"): r for r in map(json.loads, done.out.splitlines())}
                got = said[column]["why"]
                t.ok(said[column]["certainty"] == sure and reason in got and "dump 1 (" in got and
                     "dump 2 (" not in got, "%s: why %s blames the dump (%s)" % (name, words, got))
                plain = "objects" if column != "d_objects" else "shallow"
                t.ok(words != "%1" or said[plain]["certainty"] == "exact", "%s: %s of the newest is exact" % (name, plain))
            for line in ("growth | head 1", "dumps"):
                done = cairn("--format", "jsonl", "-x", line, "-x", "why %1", *dumps)
                said = {r.get("what"): r for r in map(json.loads, done.out.splitlines())}
                unsure = {w: r["why"] for w, r in said.items() if w and r["certainty"] != "exact" and reason in r["why"]}
                t.ok((line == "dumps" or name == "cut" or {"d_retained", "d_objects"} & set(unsure)) and
                     (line != "dumps" or name != "cut" or "objects" in unsure) and
                     all("of dump 1 (" in w for w in unsure.values()),
                     "%s: why %%1 of %s blames the dump (%s)" % (name, line, unsure))
            trend = cairn("--format", "json", "-x", "trend -by class -sort slope | head 1", "-x", "why slope", *dumps)
            t.ok(name == "cut" or reason in trend.out, "%s: why blames it for slopes" % name)


def check_leaks(t, closed):
    """leaks beside older dumps: what a suspect kept in each of them, as each tells by itself."""
    def alone(dump, path):
        found = [r for r in cairn("-x", "set wide on", "-x", "histo -by path -sort path", dump).out.splitlines()
                 if r.startswith(path + "  ")]
        return re.split("  +", found[0])[-1] if found else "0"
    for path in ("static com.acme.shop.AuditLog.ENTRIES > elementData", "static com.acme.shop.Shop.INSTANCE"):
        kept = [alone(d, path) for d in SERIES]
        told = [r["sentence"] for r in rows("leaks", SERIES) if r["path"] == path]
        t.ok(len(told) == 1 and "since dump 1 (shop-1.hprof), from " + " to ".join(kept) in told[0],
             "leaks: %s kept %s (%s)" % (path, kept, told))
    said = [r["sentence"] for r in rows("leaks", SERIES)]
    t.ok("com.acme.shop.Session from " + " to ".join(map(str, closed)) in said[1] and "The accumulation point grew since" in said[1] and
         "It went up and down since" in said[0] and "while com.acme.shop.Order grew" in said[0],
         "leaks: what piles up there (%s)" % said)
    back = [r["sentence"] for r in rows("leaks", SERIES[:1] + SERIES[2:]) if r["path"] == "static com.acme.shop.Shop.INSTANCE"]
    t.ok(len(back) == 1 and "It shrank since" in back[0], "leaks: of two dumps the second is smaller (%s)" % back)
    card = rows("leaks", SERIES)[0]["course"]
    t.ok(card.startswith(" \u2192 ".join(alone(d, "static com.acme.shop.Shop.INSTANCE") for d in SERIES)),
         "leaks: a card of what is smaller says its bytes, not the class of which there is more (%s)" % card)
    same = [r["sentence"] for r in rows("leaks", [SHOP, SHOP])]
    t.ok(same and all("was as large in dump 1 (shop.hprof): " in s for s in same), "leaks: nothing grew (%s)" % same)
    only = [r["sentence"] for r in rows("leaks", [SHOP])]
    t.equal([re.split(" (?:It|The accumulation point) was as large", s)[0] for s in same], only, "leaks: without older dumps nothing of them")
    other = rows("leaks", [GO, SHOP])
    t.equal([r["sentence"] for r in other], only, "leaks: nor beside another program")
    bad = cairn("-x", "leaks", "/nowhere/at/all", SHOP)
    t.ok(bad.status == 0 and "/nowhere/at/all" in bad.out and "suspects" not in bad.err,
         "leaks: beside an older dump that is not there: %s" % bad.err)


def check_samples(t):
    with tempfile.TemporaryDirectory(dir=os.path.join(BUILD, "tests")) as directory:
        Run([MKDUMP, "sample", directory, "--truth"])
        hours = [json.load(open(os.path.join(directory, os.path.basename(d) + ".truth"))) for d in SERIES]
    said = lambda key: [hour[key] for hour in hours]  # noqa: E731
    diff, growth = rows("diff", SERIES), rows("growth", SERIES)
    classes = {r["class"]: r for r in rows("diff -by class", SERIES)}
    session, order = "com.acme.shop.Session", "com.acme.shop.Order"
    t.equal(sums(diff, "com.acme.shop.AuditLog.ENTRIES", session), said("closed"), "samples: closed sessions")
    t.equal([sum(c) for c in zip(*(course(r) for r in diff if r["class"] == session))],
            [a + b for a, b in zip(said("live"), said("closed"))], "samples: all sessions, on whatever ways")
    t.equal([sum(c) for c in zip(*(course(r) for r in diff if r["class"] == order))], said("orders"),
            "samples: all orders, on whatever ways")
    check_leaks(t, said("closed"))
    for i, hour in enumerate(hours):
        want = {}
        for name, n, _, _ in hour["classes"]:
            name = name.replace("/", ".")
            if not name.startswith("["):
                want[name] = want.get(name, 0) + n
        t.equal({name: course(classes[name])[i] for name, n in want.items() if n},
                {name: n for name, n in want.items() if n}, "samples: objects of every class, dump %d" % (i + 1))
    first = growth[0]
    t.equal([first["reference"], first["class"], course(first), first["d_objects"]],
            ["com.acme.shop.AuditLog.ENTRIES", session, said("closed"), said("closed")[-1] - said("closed")[0]],
            "samples: the closed sessions are what grew most")
    t.ok(first["freed"] >= hours[-1]["closed"] * hours[-1]["view_state"] and first["freed"] == first["retained"],
         "samples: clearing their list frees them", first)
    t.equal([course(r) for r in growth if r["class"] == "com.acme.shop.Worker"], [said("workers")],
            "samples: the pool's threads")
    t.none([r["reference"] for r in growth if r["reference"].startswith("com.acme.shop.Shop")], growth,
           "samples: live sessions that come and go do not grow")
    t.equal([r["created"] for r in rows("dumps", SERIES)], ["2026-11-21T%02d:15:00Z" % h for h in (8, 9, 10)],
            "samples: when they were written")


def profiles_of(dumps, folder, *options):
    """A profile of each dump."""
    made = [os.path.join(folder, os.path.basename(d) + ".profile") for d in dumps]
    for dump, path in zip(dumps, made):
        done = cairn("-x", "profile " + path, *options, dump)
        if done.status:
            raise RuntimeError("profile %s: %s" % (path, done.err))
    return made


def check_profiles(t, name, dumps, *options):
    """Profiles stand for the older dumps: the same rows, whichever of them are profiles."""
    with tempfile.TemporaryDirectory() as folder:
        made = profiles_of(dumps[:-1], folder, *options)
        size = max(os.path.getsize(p) for p in made)
        t.ok(size < 200000, "%s: profiles are small (%d bytes)" % (name, size))
        for line in ("diff", "diff -by class", "diff -by package", "diff -by loader", "diff -by field", "diff -by thread",
                     "growth"):
            order = (lambda got: sorted(map(str, got))) if line.endswith("field") else list # where rows tie
            wanted = order(rows(line, dumps, *options))
            t.ok(order(rows(line, made + dumps[-1:], *options)) == wanted and wanted,
                 "%s: %s is the same with profiles" % (name, line))
        t.ok(rows("diff", made[:1] + dumps[1:2] + dumps[-1:], *options) ==
             rows("diff", dumps[:2] + dumps[-1:], *options), "%s: with a profile and a dump" % name)
        alone = profiles_of(dumps, folder, *options) # without any dump the same, but for what asks its objects
        for line in ("diff", "diff -by class", "diff -by thread"):
            got, wanted = (sorted(map(str, rows(line, of, *options))) for of in (alone, dumps)) # objects tell the order
            t.ok(got == wanted, "%s: %s of profiles alone" % (name, line))
        told = rows("growth", alone, *options)
        t.equal(sorted((r["reference"], r["course"], r["d_retained"]) for r in told),
                sorted((r["reference"], r["course"], r["d_retained"]) for r in rows("growth", dumps, *options)),
                "%s: growth of profiles alone" % name)
        t.none([r for r in told if "Clearing" in r["sentence"] or r["freed"]], told, "%s: nobody knows what clearing frees" % name)
        for line in ("histo", "x #1", "growth | head 1", "ls %1", "diff", "size %1"):
            done = cairn("-x", "diff", "-x", line, *alone)
            t.equal((done.status, "profile" in done.err), (0, False) if line.split()[0] in ("growth", "diff") else (1, True),
                    "%s: %s with profiles alone" % (name, line))
        over = cairn(*alone)
        t.ok(over.status == 0 and all(os.path.basename(p) in over.out for p in alone), "%s: without a command" % name)
        typed = cairn("--plain", "--no-config", *alone, stdin=b"growth | head 1\nquit\n")
        t.ok("slope" in typed.out and "profiles" in typed.out and "reference" in typed.out, "%s: at a prompt" % name)
        listed = rows("dumps", made + dumps[-1:], *options)
        whole = rows("dumps", dumps, *options)
        for got, wanted in zip(listed[:-1], whole):
            t.equal({k: got[k] for k in ("format", "created", "objects", "shallow")},
                    {"format": "profile of " + wanted["format"], **{k: wanted[k] for k in ("created", "objects", "shallow")}},
                    "%s: dumps lists %s" % (name, os.path.basename(got["file"])))


# What some class retains in each of twelve dumps; None: it is not there.
COURSES = {
    "leak": [1000 * i for i in range(1, 13)],
    "noisy leak": [100, 300, 200, 500, 400, 700, 600, 900, 800, 1100, 1000, 1300],
    "leap": [100] * 6 + [9000] * 6,
    "cache": [100, 900] * 6,
    "shrinks": [5000 - 100 * i for i in range(12)],
    "late": [None] * 8 + [10, 20, 40, 80],
    "once": [None] * 11 + [4000],
    "gone": [50, 60, 70] + [None] * 9,
    "same": [77] * 12,
    "outlier": [100 + 10 * i for i in range(5)] + [10 ** 12] + [160 + 10 * i for i in range(6)],
}


def trend_of(values):
    """First and last dump, slope, steady: by the rule that help states."""
    seen = [i for i, v in enumerate(values) if v is not None]
    since = [v or 0 for v in values[seen[0]:]]
    pairs = [(b - a, j - i) for i, a in enumerate(since) for j, b in enumerate(since) if i < j]
    if not pairs:
        return seen[0], seen[-1], None, None
    slope = statistics.median(change / steps for change, steps in pairs)
    rising = sum(change > 0 for change, _ in pairs)
    steps = [b > a for a, b in zip(since, since[1:])]
    return (seen[0], seen[-1], slope,
            len(since) >= 3 and rising >= 0.75 * len(pairs) and 2 * sum(steps) >= len(steps))


def check_trends(t, dump):
    """Slopes and what is steady, against profiles whose numbers are planted."""
    with tempfile.TemporaryDirectory() as folder:
        held = open(profiles_of([dump], folder)[0], "rb").read()
        paths, classes = [], None
        for i in range(12):
            paths.append(os.path.join(folder, "%02d.profile" % i))
            open(paths[-1], "wb").write(held)
            db = sqlite3.connect(paths[-1])
            classes = classes or db.execute(
                "select r.id, n.words from row r join named n on n.id = r.id join sort u on u.id = r.sort where u.what = 'class' "
                "and r.objects > 0 and u.retained_certainty = 'exact' and u.objects_certainty = 'exact' and n.words in "
                "(select words from named where what = 'class' group by words having count(*) = 1) order by r.id limit ?", [len(COURSES)]).fetchall()
            for (row, _), values in zip(classes, COURSES.values()):
                db.execute("update row set objects = ?, shallow = ?, retained = ? where id = ?",
                           [0 if values[i] is None else 1, values[i] or 0, values[i] or 0, row])
            db.execute("update profile set checksum = null, created = ?", ["" if i == 3 else "2026-01-%02dT00:00:00Z" % (i + 1)])
            db.commit()
            db.close()
        got = {r["class"]: r for r in rows("trend -by class", paths)}
        date = lambda i: "dump 4" if i == 3 else "2026-01-%02dT00:00:00Z" % (i + 1)  # noqa: E731
        for (_, name), (what, values) in zip(classes, COURSES.items()):
            first, last, slope, steady = trend_of(values)
            row = got[name]
            t.equal([row["first_seen"], row["last_seen"], row["steady"]], [date(first), date(last), steady],
                    "trend: %s" % what)
            t.ok(row["slope"] == slope or abs(row["slope"] - slope) <= 0.5, "trend: slope of %s" % what)
            t.ok(len(row["plot"]) == 12 and all((c == "\u00b7") == (v is None) for c, v in zip(row["plot"], values)) and
                 row["plot"][values.index(max(v or 0 for v in values))] == "\u2588", "trend: plot of %s" % what)
        steady = [n for (_, n), v in zip(classes, COURSES.values()) if trend_of(v)[3]]
        t.ok(len(steady) == 4 and {r["class"] for r in rows("trend -by class -steady", paths)} == set(steady),
             "trend: -steady has those that rise, and not what leapt, shrank or comes and goes")
        many = {r["class"]: r["plot"] for r in rows("trend -by class", paths * 10)}
        for (_, name), (what, values) in zip(classes, COURSES.items()):
            most, shared = max(v or 0 for v in values), [pair_of(values, i) for i in range(6)]
            t.equal(many[name], "".join(block(v, most) for v in shared) * 10,
                    "trend: of 120 dumps two share a column, which is the most of them: %s" % what)
        check_course(t, paths, {name: values for (_, name), values in zip(classes, COURSES.values())})


def pair_of(values, i):
    """Of two that share a column of the plot the most; None: neither is there."""
    there = [v for v in values[2 * i:2 * i + 2] if v is not None]
    return max(there) if there else None


def block(value, most):
    """As high as its part of the most, the lowest for 0."""
    return "\u00b7" if value is None else chr(0x2581 + int(value / most * 7 + 0.5))


def check_course(t, paths, planted):
    """A row dump by dump; what could not be read is unknown and keeps its place."""
    broken = os.path.join(os.path.dirname(paths[0]), "broken")
    open(broken, "w").close()
    line = paths[:5] + [broken] + paths[5:]
    for name, values in planted.items():
        values = values[:5] + ["?"] + values[5:]
        got = rows("path-history -by class '%s'" % name, line)
        t.equal([r["retained"] for r in got], [None if v == "?" else v or 0 for v in values], "course: of %s" % name)
        t.ok([r["number"] for r in got] == list(range(1, 14)) and [r["file"] for r in got] == line,
             "course: the dumps in their order")
    plots = {r["class"]: r["plot"] for r in rows("trend -by class", line)}
    t.none([name for name in planted if len(plots[name]) != 13 or plots[name][5] != "?"], planted,
           "trend: what could not be read is a ? in the plot")


def main():
    t = Tap()
    check_samples(t)
    check_same(t, SHOP)
    check_bad(t, SHOP)
    profiles = "SQLite" in cairn("--version").out
    check_chosen(t, profiles)
    if profiles:
        check_profiles(t, "samples", SERIES)
        check_trends(t, SHOP)
        check_blame(t)
    else:
        t.skip("profiles", "this build has no SQLite")
    if not DUMPS:
        t.skip("series of dumps", "CAIRN_DUMPS is not set")
    check_other_programs(t, GO, SHOP, False)
    check_other_programs(t, SERIES[0], SHOP, True)
    for older, newer, same in (("grove/shop-small.hprof", "tide/jdk17-g1/tide-4.hprof", False),
                               ("grove/grove-i386.hprof", "grove/grove25.hprof", True),
                               ("tide/jdk17-g1/tide-1.hprof", "tide/jdk21-zgc/tide-4.hprof", True)) if DUMPS else ():
        check_other_programs(t, os.path.join(DUMPS, older), os.path.join(DUMPS, newer), same)
    for directory in some(sorted(glob.glob(os.path.join(DUMPS, "tide", "jdk*"))), 2) if DUMPS else []:
        dumps = sorted(glob.glob(os.path.join(directory, "*.hprof")))
        manifests = [json.load(open(d[:-6] + ".manifest.json")) for d in dumps]
        check_series(t, os.path.basename(directory), dumps, manifests)
    for directory in sorted(glob.glob(os.path.join(DUMPS, "tide", "go"))) if DUMPS else []:
        dumps = sorted(glob.glob(os.path.join(directory, "*.dump")))
        manifests = [json.load(open(d[:-5] + ".manifest.json")) for d in dumps]
        program = "--exe", os.path.join(directory, "go-tide.elf")
        check_series(t, "go", dumps, manifests, *program)
        t.ok(rows("growth", dumps) == rows("growth", dumps, *program), "go: a series finds its program by its name")
        with tempfile.TemporaryDirectory() as folder: # what is counted without it is right
            alone = [os.path.join(folder, os.path.basename(d)) for d in dumps]
            for dump, link in zip(dumps, alone):
                os.symlink(dump, link)
            told = [course(r) for r in rows("growth", alone) if r["reference"].startswith('thread "goroutine')]
            t.equal(told, [[m["goroutinesInLeak"] for m in manifests]], "go: goroutines are counted without a program")
        if profiles:
            check_profiles(t, "go", dumps, *program)
    sys.exit(t.done())


main()
