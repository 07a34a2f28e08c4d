#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in HotSpot dumps against what the dumped program planted and what the JVM printed.

The manifests say what the program put into its fields, strings and collections; threads.txt is the
JVM's own thread dump; facts.json was counted by another reader.  Constants that no manifest repeats
are those of the program's source (Grove.java).

Of each fourth dump all is asked as it stands, of the others through an index, which spares reading them for each
question; that an index changes no answer is what index.py and same.py prove.  The long run has no index.
"""

import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import CAIRN, LONG, Run, Tap, need_dumps, some  # noqa: E402

MAX_DOUBLE = "1.7976931348623157E308"


def escaped(s):
    """Text as every table shows it: controls, what nobody sees and half surrogate pairs escaped."""
    out = []
    unseen = ((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
              (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
              (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF))
    for c in s.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"):
        p = ord(c)
        steers = p < 0x20 or 0x7F <= p <= 0x9F or any(a <= p <= b for a, b in unseen)
        if c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        elif 0xD800 <= p <= 0xDFFF or (steers and p >= 0x80):
            out.append("\\u%04x" % p if p < 0x10000 else "\\u{%x}" % p)
        elif steers:
            out.append("\\x%02x" % p)
        else:
            out.append(c)
    return "".join(out)


def quoted(s):
    return '"%s"' % escaped(s)


class Dump:
    """Command lines on one dump; each answer is parsed JSON."""

    def __init__(self, path, *options, big_endian=True):
        self.path, self.options, self.known, self.big_endian = path, options, {}, big_endian

    def ahead(self, *lines):
        """Ask in one session what will be asked line by line."""
        self.known = dict(zip(lines, self.run(*lines)))

    def run(self, *lines):
        argv = [CAIRN, "--format", "json", *self.options]
        for line in lines:
            argv += ["-x", line]
        done = Run(argv + [self.path])
        answers, decoder, at = [], json.JSONDecoder(), 0
        text = done.out
        while at < len(text):
            while at < len(text) and text[at].isspace():
                at += 1
            if at < len(text):
                value, at = decoder.raw_decode(text, at)
                answers.append(value)
        if len(answers) != len(lines):
            raise RuntimeError("%s: %d answers\n%s" % (lines[:3], len(answers), done))
        return answers

    def one(self, line):
        return self.known[line] if line in self.known else self.run(line)[0]

    def fields(self, what):
        """Rows of x by name; a shadowed name as Class.name."""
        rows = self.one("x " + what)["fields"]
        out = {}
        for row in rows:
            name = row["name"]
            out[name if name not in out else row["declared_in"] + "." + name] = row
        return out

    def entries(self, address):
        return self.one("entries " + address)


def java_float(x):
    """A manifest's number as Java writes a float or double of that size."""
    if isinstance(x, str):
        return x
    return repr(float(x))


def check_orders(t, d, manifest, grove):
    cache = {e["key"]: e for e in d.entries(grove["CACHE"]["address"])}
    t.equal(len(cache), manifest["order_cache"]["entries"], "entries of CACHE")
    there = [cache.get(quoted(want["cache_key"])) for want in manifest["order_samples"]]
    d.ahead(*["x " + entry["address"] for entry in there if entry])
    for want, entry in zip(manifest["order_samples"], there):
        if not t.ok(entry is not None, "%s is in the cache" % want["cache_key"], list(cache)[:5]):
            continue
        f = d.fields(entry["address"])
        got = {k: v["value"] for k, v in f.items()}
        expected = {
            "baseId": str(want["baseId"]), "name": quoted(want["Order.name"]),
            "grove.Grove$Base.name": quoted(want["Base.name"]),
            "paid": "true" if want["paid"] else "false", "b": str(want["b"]),
            "c": "'%s'" % escaped(chr(want["c_codeunit"])), "s": str(want["s"]),
            "i": str(want["i"]), "l": str(want["l"]), "f": java_float(want["f"]),
            "d": java_float(want["d"]), "items": str(want["items"]), "status": want["status"],
            "nothing": "null"}
        if "hurry" in want:
            expected.update(hurry=str(want["hurry"]), courier=quoted(want["courier"]))
        t.equal(got, expected, "fields of " + want["cache_key"])
        t.equal(entry["value_class"], want["class"], "class of " + want["cache_key"])
        t.equal((f["baseId"]["type"], f["baseId"]["declared_in"], f["paid"]["declared_in"]),
                ("long", "grove.Grove$Base", "grove.Grove$Order"), "types and declaring classes")
    check_shared(t, d, manifest, cache)
    check_found(t, d, manifest, cache)
    return cache


def check_shared(t, d, manifest, cache):
    """The same fields as columns of a list, of objects of two classes."""
    rows = {r["address"]: r for r in d.one("ls '/^grove.Grove.(Rush)?Order$/' -fields all")}
    t.equal(len(rows), len({e["address"] for e in cache.values()}), "all orders are listed")
    t.none([r for r in rows.values() if "hurry" in r], rows, "no field that only one of the classes has")
    for want in manifest["order_samples"]:
        r = rows[cache[quoted(want["cache_key"])]["address"]]
        numbers = {k: want[k] for k in ("baseId", "paid", "b", "s", "i", "l", "f", "d")}
        got = {k: r[k] for k in numbers}
        t.equal(got, numbers, "numbers of %s in a list" % want["cache_key"])
        t.equal([r[k] for k in ("name", "Grove$Base.name", "c", "status", "nothing")],
                [quoted(want["Order.name"]), quoted(want["Base.name"]),
                 "'%s'" % escaped(chr(want["c_codeunit"])), want["status"], "null"],
                "its texts, of a name that two classes declare")


def check_found(t, d, manifest, cache):
    """find leads from a number to the object that has it."""
    # no number that is not written in digits, nor one that many others have
    asked = [(want, field) for want in manifest["order_samples"] for field in ("l", "d")
             if not isinstance(want[field], str) and abs(want[field]) >= 1000]
    answers = d.run(*["find %s" % want[field] for want, field in asked])
    for (want, field), rows in zip(asked, answers):
        got = [(r["address"], r["field"]) for r in rows if r["kind"] == "field"]
        t.ok((cache[quoted(want["cache_key"])]["address"], field) in got, "find %s" % want[field], got[:9])


def check_found_in_words(t, d, manifest):
    """find finds values that no String holds by the words that the manifest has for them."""
    asked = [manifest["shelf"][field] for field in ("uuid", "bi", "bd", "date")]
    for word, rows in zip(asked, d.run(*["find %s" % word for word in asked])):
        t.equal([r["name"] for r in rows if r["kind"] == "value"], [word], "find %s" % word)


def check_statics(t, d, manifest):
    want = manifest["order_statics"]
    got = {k: v["value"] for k, v in d.fields("grove.Grove$Order").items() if k[0] != "<"}
    expected = {k: str(v) for k, v in want.items() if "." not in k}
    expected.update(S_BOOLEAN="true", S_CHAR="'\u6728'", S_STRING=quoted(want["S_STRING"]),
                    S_NULL="null")
    t.equal(got, expected, "statics of Order")
    base = d.fields("grove.Grove$Base")
    t.equal(base["BASE_STATIC"]["value"], quoted(want["Base.BASE_STATIC"]), "static of Base")


def units(words):
    return b"".join(int(w, 16).to_bytes(2, "little") for w in words.split()).decode(
        "utf-16-le", "surrogatepass")


def check_text(t, d, manifest, grove):
    want = manifest["text"]
    f = {k: v["value"] for k, v in d.fields(grove["TEXT"]["address"]).items()}
    expected = {k: quoted(want[k]) for k in
                ("ascii", "empty", "latin1", "utf16", "emoji", "nul", "control", "rtl", "html")}
    expected["combining"] = quoted("e\u0301")
    expected["mixed"] = quoted("A\u0100")
    expected["loneHigh"] = quoted(units(want["loneHigh_units"]))
    expected["loneLow"] = quoted(units(want["loneLow_units"]))
    t.equal({k: f[k] for k in expected}, expected, "texts of every coding")
    rows = d.fields(grove["TEXT"]["address"])
    whole = d.one("x %s -length 200000" % rows["big"]["address"])
    t.equal(whole["value"], quoted("0123456789" * 10000), "a text of 100,000 characters")
    part = d.one("x %s -start 9998 -length 10" % rows["bigUtf16"]["address"])
    t.equal(part["value"], "\u2026\u68ee\u6797\"", "the end of a long UTF-16 text")


def check_arrays(t, d, grove):
    f = {k: v["value"] for k, v in d.fields(grove["ARRAYS"]["address"]).items()}
    want = {
        "z": "[true, false, true]", "b": "[-128, -1, 0, 1, 127]",
        "c": quoted("a\u00e9\u6728\ud83c\uffff\0"), "s": "[-32768, -1, 0, 1, 32767]",
        "i": "[-2147483648, -1, 0, 1, 2147483647]",
        "l": "[-9223372036854775808, -1, 0, 1, 9223372036854775807]",
        "f": "[-0.0, 0.0, 1.5, 1.4E-45, 3.4028235E38, Infinity, -Infinity, NaN]",
        "d": "[-0.0, 0.0, 1.5, 4.9E-324, %s, Infinity, -Infinity, NaN, 3.141592653589793]"
             % MAX_DOUBLE}
    t.equal({k: f[k] for k in want}, want, "primitive arrays")
    rows = d.fields(grove["ARRAYS"]["address"])
    i2 = d.fields(rows["i2"]["address"])
    t.equal([v["value"] for v in i2.values()],
            [str([10 * x + y for y in range(4)]) for x in range(3)], "int[3][4]")
    s2 = d.fields(rows["s2"]["address"])
    t.equal([(k, v["value"], v["class"]) for k, v in s2.items()],
            [("[0]", "length 1", "java.lang.String[]"), ("[1]", "null", None),
             ("[2]", "length 2", "java.lang.String[]")], "elements of String[][]")
    part = d.one("x %s -start 4998 -length 10" % rows["zeros"]["address"])
    t.equal([(r["name"], r["value"]) for r in part["fields"]], [("[4998]", "0"), ("[4999]", "0")],
            "the end of long[5000]")
    hexa = d.one("x %s -hex" % rows["l"]["address"])
    least = "80 00 00 00 00 00 00 00" if d.big_endian else "00 00 00 00 00 00 00 80"
    t.equal(hexa["fields"][0]["hex"], least + "  ff ff ff ff ff ff ff ff", "-hex")


def numbered(key, first, n=5):
    return [(quoted("%s%d" % (key, k)), str(first + k)) for k in range(n)]


def texts(word, n=5):
    return [(None, quoted("%s%d" % (word, k))) for k in range(n)]


def release(manifest):
    """8 of JDK 8 (whose VM calls itself 25.504), else the number that the VM's version begins with."""
    major, minor = re.match(r"(\d+)\.?(\d*)", manifest["vm"]["version"]).groups()
    return 8 if major == "25" and len(minor) == 3 else int(major)


def check_shelf(t, d, manifest, grove):
    rows = d.fields(grove["SHELF"]["address"])
    jdk_8 = release(manifest) == 8
    ordered = {
        "linked": numbered("lk", 1000), "tree": numbered("tk", 2000), "lset": texts("lset"),
        "tset": [(None, str(3000 + k)) for k in range(5)], "deque": texts("dq"),
        "cow": texts("cow"), "skip": numbered("skip", 6000), "llist": texts("ll"),
        "vector": texts("vec"), "stack": texts("st"), "lbq": texts("lbq"), "abq": texts("abq"),
        "listOf3": [(None, quoted(c)) for c in "pqr"], "listOf1": [(None, quoted("only"))],
        "asList": texts("l", 3)[1:], "unmod": texts("ll"), "syncd": [(quoted("sk"), quoted("sv"))],
        "em": [("PAID", quoted("paid!"))], "es": [(None, "NEW"), (None, "SHIPPED")]}
    any_order = {
        "set": texts("set"), "chm": numbered("chm", 5000), "hashtable": numbered("ht", 7000),
        "pq": [(None, str(n)) for n in range(4001, 4006)],
        "ident": [(quoted(k), quoted(v)) for k, v in (("p", "id3"), ("q", "id4"), ("r", "id2"))],
        "mapOf": [(quoted("one"), "1"), (quoted("two"), "2")],
        "setOf": [(None, quoted("s%d" % k)) for k in (1, 2, 3)]}
    if jdk_8:  # Map.of and Set.of came with 9: there the program left a HashMap and a HashSet empty
        any_order.update(mapOf=[], setOf=[])
    names = list(ordered) + list(any_order) + ["colliding"]
    answers = dict(zip(names, d.run(*["entries " + rows[n]["address"] for n in names])))
    got = {n: [(e["key"], e["value"]) for e in answers[n]] for n in names}
    for name, want in ordered.items():
        t.equal(got[name], want, "contents of %s in order" % rows[name]["class"])
    for name, want in any_order.items():
        t.equal(sorted(got[name], key=str), sorted(want, key=str),
                "contents of " + rows[name]["class"])
    t.equal(sorted(v for _, v in got["colliding"]), sorted(quoted("bad-%d" % k) for k in range(200)),
            "a HashMap whose bin became a tree")
    if jdk_8:  # its ConcurrentSkipListMap does not count
        names.remove("skip")
    t.equal({n: len(got[n]) for n in names},
            {n: int(re.match(r"size (\d+)$", rows[n]["value"]).group(1)) for n in names},
            "sizes that the collections state")
    shelf = manifest["shelf"]
    want = {"uuid": shelf["uuid"], "bi": shelf["bi"], "bd": shelf["bd"], "date": shelf["date"],
            "klass": shelf["klass"], "prim": shelf["prim"], "arr": shelf["arr"],
            "lo": str(shelf["lo"]), "sh": "4", "by": "3", "ch": "'Q'", "fl": "2.5", "db": "6.25",
            "bTrue": "true", "some": 'Optional["present"]', "none": "Optional.empty", "ai": "5",
            "al": "6", "ar": quoted("aref"), "sb": quoted("builder7"),
            "uri": "http://example.org/x?y=z", "instant": "2023-11-14T22:13:20.000000005Z",
            "udate": "2023-11-14T22:13:20Z", "bits": "{0, 20, 40, 60, 80}"}
    t.equal({k: rows[k]["value"] for k in want}, want, "boxes, dates, numbers, wrappers")
    t.ok(rows["file"]["value"].endswith("some-file.txt"), "a File", rows["file"])


def check_sizes(t, d, manifest, grove):
    leak = d.fields("grove.Grove$Leak")["HOARD"]
    hoard = d.entries(leak["address"])
    t.equal(len(hoard), manifest["leak"]["elements"], "elements of HOARD")
    head = d.one("x " + leak["address"])
    t.ok(head["size"] == manifest["leak"]["elements"] and head["capacity"] >= head["size"],
         "size and capacity of HOARD", head)
    size = manifest["leak"]["each_byte[]_length"]
    k = len(hoard) - 1
    array = d.one("x %s" % hoard[k]["address"])
    signed = [(k + 128) % 256 - 128, (~k + 128) % 256 - 128]
    t.equal([array["length"], array["fields"][0]["value"], array["fields"][-1]["value"]],
            [size, str(signed[0]), str(signed[1])], "first and last byte of the last element")
    waste = d.fields(grove["WASTE"]["address"])
    d.ahead(*["x " + waste[field]["address"] for field in ("presized", "untouched", "emptied", "neverUsed", "dq")])
    for field, n, wanted in (("presized", 40, (0, 100)), ("untouched", 20, (0, 0)),
                             ("emptied", 30, (0, 64)), ("neverUsed", 15, (0, None)),
                             ("dq", 9, (0, 17 if release(manifest) >= 12 else 16))):
        rows = d.fields(waste[field]["address"])
        heads = d.run(*["x " + r["address"] for r in rows.values()])
        t.equal({(h.get("size"), h.get("capacity")) for h in heads}, {wanted},
                "sizes and capacities of " + field)
        t.equal(len(heads), n, "length of " + field)


def check_references(t, d, grove, cache):
    order = cache[quoted("order-3")]["address"]
    into = [(r["field"], r["class"]) for r in d.one("refs %s -in" % order)]
    t.equal(sorted(into), [("[300]", "java.lang.Object[]")] * 10 + [("value", "java.util.HashMap$Node")],
            "fields that lead to order-3")
    out = {r["field"]: r["address"] for r in d.one("refs %s -out" % grove["RING"]["address"])}
    t.equal(sorted(out), ["<class>", "chord", "next", "prev"], "fields of a Ring")
    fields = d.fields(grove["RING"]["address"])
    t.equal([out[k] for k in ("chord", "next", "prev")],
            [fields[k]["address"] for k in ("chord", "next", "prev")], "where they lead")
    holder = [r for r in d.one("refs %s -in" % grove["SHELF"]["address"]) if r["field"]]
    t.ok(any(r["field"] == "static SHELF" for r in holder), "a static field that leads to SHELF",
         holder)
    kinds = {r["field"] for r in d.one("refs grove.Grove$RushOrder -out")}
    t.ok({"<class>", "<super>", "<loader>"} <= kinds, "references that the dump implies", kinds)


def check_chain(t, d, grove, manifest):
    t.equal(len(d.one("ls grove.Grove$Link | cut address")), manifest["chain"]["length"], "Links")
    head = d.one("x " + grove["NCHAIN"]["address"])
    at = [r["name"] for r in head["fields"]].index("next") + 1
    answers = d.run("x " + grove["NCHAIN"]["address"], *["x %%%d" % at] * 999)
    depth = [{r["name"]: r["value"] for r in a["fields"]} for a in answers]
    t.equal([f["depth"] for f in depth], [str(k) for k in range(1000)], "a chain followed by next")
    t.equal(depth[-1]["next"], "null", "the end of the chain")


def check_names(t, d, grove):
    t.equal(d.fields(d.one("ls 'grove.Grove$Gr\u00f6\u00dfe'")[0]["address"])["stra\u00dfe"]["value"],
            quoted("Stra\u00dfe"), "names in German")
    tree = [d.fields(r["address"]) for r in d.one("ls 'grove.Grove$\u6728'")]
    t.equal({f["\u540d\u524d"]["value"] for f in tree}, {quoted("\u6a39")}, "names in Japanese")
    script = d.fields(d.one("ls 'grove.Grove$Script_\U0001d4b3'")[0]["address"])
    t.equal(script["\U0001d4b3"]["value"], "7", "a name outside the basic plane")


def check_loaders(t, d, base):
    twice = [r for r in d.one("duplicate-classes") if r["class"] == "plug.Plugin"]
    if os.path.exists(base + ".how.txt") and os.path.exists(base + ".histo.txt"):
        with open(base + ".histo.txt", encoding="utf-8") as f:
            if len(re.findall(r"\bplug\.Plugin\b", f.read())) == 1:  # the class path had it: one loader found it
                t.equal(twice, [], "plug.Plugin is loaded once")
                return
    t.equal(len(twice), 2, "plug.Plugin is loaded twice")
    addresses = [r.get("address") or r.get("class_address") for r in twice]
    got = {}
    for address in addresses:
        f = d.fields(address)
        got[f["LOADED_AS"]["value"]] = f["COUNT"]["value"]
    t.equal(got, {quoted("loader-A"): "3", quoted("loader-B"): "7"}, "statics of each")


def check_strings(t, d, manifest, facts):
    dups = d.one("dups")
    by_value = {r["value"]: r for r in dups}
    copies = manifest["duplicate_strings"]["copies"]
    garbage = facts and facts["strings"]["copies_of_duplicate_value_77"] > copies
    if garbage:  # a dump of all objects: the Strings that the planted ones were made from, too
        copies = facts["strings"]["copies_of_duplicate_value_77"]
    t.equal(by_value["duplicate-value-77"]["count"], copies, "copies of duplicate-value-77")
    t.equal(by_value["duplicate-value-77"]["arrays"], copies, "each with an array of its own")
    shared = by_value["shared-bytes-literal"]
    t.equal((shared["count"], shared["arrays"]), (301, 1), "Strings over one array")
    string = d.one("ls java.lang.String | head 1 | cut shallow")[0]["shallow"]
    t.equal(shared["wasted"], 300 * string, "their waste")
    if not garbage:
        t.equal([r["value"] for r in d.one("strings ^courier-9$")], ["courier-9"], "strings RE")
        t.equal(len(d.one("strings -i ^ORDER-NAME-[0-9]+$")), manifest["order_cache"]["entries"],
                "strings -i")
    if not facts:
        return
    instances = facts["strings"]["instances"]
    null = facts["strings"]["null_value"]
    t.equal(len(d.one("strings | cut address")), instances, "Strings")
    t.equal(instances - null - sum(r["count"] - 1 for r in dups), facts["strings"]["distinct"],
            "different texts")
    top = {escaped(v): n for v, n in facts["strings"]["top_duplicates"]}
    t.equal({v: by_value[v]["count"] for v in top if v in by_value}, top, "the most frequent")


def check_properties(t, d, manifest):
    props = {r["key"]: r["value"] for r in d.one("props")}
    t.equal((props.get("java.vm.version"), props.get("sun.arch.data.model")),
            (manifest["vm"]["version"], manifest["vm"]["arch_bits"]), "system properties")


def jvm_threads(path):
    """Name -> (tid, daemon, priority, state, frames) of a thread dump of the JVM."""
    threads, name = {}, None
    head = re.compile(r'^"(.*)" #(\d+)(?: \[\d+\])?( daemon)? prio=(\d+)')
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = head.match(line)
            if m:
                name = m.group(1)
                threads[name] = [int(m.group(2)), bool(m.group(3)), int(m.group(4)), None, []]
            elif line.startswith('"') or not line.strip():
                name = None
            elif name and line.startswith("   java.lang.Thread.State: "):
                threads[name][3] = line.split(": ", 1)[1].strip()
            elif name and line.startswith("\tat "):
                frame = re.sub(r"\([^()]*?@[^()/]*/", "(", line[4:].strip())
                frame = re.sub(r"(\$\$Lambda\$\d+)/", r"\1/", frame)
                threads[name][4].append(frame)
    return threads


def check_threads(t, d, manifest, path):
    want = jvm_threads(path)
    got = {r["name"]: r for r in d.one("threads")}
    names = [escaped(name) for name in manifest["threads"]["names"]]
    d.ahead("bt grove-owner", *["bt %d" % got[name]["id"] for name in names if name in got and want.get(name)])
    for name in names:
        if not t.ok(name in got, "thread " + name, sorted(got)):
            continue
        jvm = want.get(name)
        if jvm is None:  # the JVM printed a name that the terminal's coding could not hold
            continue
        r = got[name]
        t.equal([r["tid"], r["daemon"], r["priority"], r["state"]], jvm[:4],
                "id, daemon, priority, state of " + name)
        frames = []
        for row in d.one("bt %d" % r["id"]):
            if row["frame"] is not None and row["frame"] == len(frames):
                frames.append(row["method"])
        plain = [re.sub(r"\$\$Lambda.*?\.run\(.*", "$$Lambda", f) for f in frames]
        t.equal(plain, [re.sub(r"\$\$Lambda.*?\.run\(.*", "$$Lambda", f) for f in jvm[4]],
                "frames of " + name)
    locals_of = [r["address"] for r in d.one("bt grove-owner") if r["class"] == "grove.Grove$StackOnly"]
    t.equal({d.fields(a)["n"]["value"] for a in locals_of}, {"1"}, "a local of grove-owner")
    if "virtual_threads" in manifest and release(manifest) < 22:  # 21 writes no parked ones
        t.none([n for n in got if n.startswith("grove-virtual")], got, "parked virtual threads are not there")
    elif "virtual_threads" in manifest:
        t.equal({got["grove-virtual-%d" % k]["state"] for k in range(5)}, {"WAITING (parking)"},
                "parked virtual threads")


def check_dump(t, dump, base, options):
    with open(base + ".manifest.json", encoding="utf-8") as f:
        manifest = json.load(f)
    facts = None
    if os.path.exists(base + ".facts.json"):
        with open(base + ".facts.json", encoding="utf-8") as f:
            facts = json.load(f)
    d = Dump(dump, *options)
    grove = d.fields("grove.Grove")
    cache = check_orders(t, d, manifest, grove)
    check_statics(t, d, manifest)
    check_text(t, d, manifest, grove)
    check_arrays(t, d, grove)
    check_shelf(t, d, manifest, grove)
    check_found_in_words(t, d, manifest)
    check_sizes(t, d, manifest, grove)
    check_references(t, d, grove, cache)
    check_chain(t, d, grove, manifest)
    check_names(t, d, grove)
    check_loaders(t, d, base)
    check_strings(t, d, manifest, facts)
    check_properties(t, d, manifest)
    check_threads(t, d, manifest, base + ".threads.txt")


class Named:
    """A Tap that puts the dump's name before every case."""

    def __init__(self, tap, name):
        self.tap, self.name = tap, name

    def ok(self, good, name, detail=""):
        return self.tap.ok(good, self.name + ": " + name, detail)

    def none(self, wrong, looked_at, name):
        return self.tap.none(wrong, looked_at, self.name + ": " + name)

    def equal(self, got, want, name):
        return self.tap.equal(got, want, self.name + ": " + name)


def main():
    dumps = need_dumps()
    tap = Tap()
    only = sys.argv[1:]
    folder = tempfile.TemporaryDirectory()
    found = sorted(glob.glob(os.path.join(dumps, "grove", "grove*.hprof*")) +
                   glob.glob(os.path.join(dumps, "today", "grove*.hprof*")))
    for number, dump in enumerate(found if only else some(found, 5)):
        base = dump[:dump.index(".hprof")]
        name = os.path.basename(base)
        if only and name not in only:
            continue
        try:
            options = ["--no-index"] if LONG or number % 4 == 0 else ["--index", os.path.join(folder.name, name)]
            check_dump(Named(tap, name), dump, base, options)
        except (KeyError, IndexError, RuntimeError, AttributeError) as e:
            tap.ok(False, name + ": all questions are answered", repr(e))
    folder.cleanup()
    tap.ok(tap.count > 0, "there were dumps to look at", dumps)
    tap.done()


if __name__ == "__main__":
    main()
