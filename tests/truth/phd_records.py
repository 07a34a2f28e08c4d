#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the PHD reader says, against three kinds of truth that were made without it.

$CAIRN_DUMPS is a directory with openj9/ (real dumps with the records that OpenJ9's own reader
reported) and synthetic/ (generated dumps with *.expected.json, and damaged ones in broken/ with the
number of records that OpenJ9's reader delivered).  Without it everything is skipped.
"""
import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cairntest import some_synthetic  # noqa: E402

DUMPS = os.environ.get("CAIRN_DUMPS")
TOOL = os.path.join(os.environ.get("CAIRN_BUILD", "."), "tests/tools/dumprecords")
LETTER = dict(boolean="Z", char="C", float="F", double="D", byte="B", short="S", int="I", long="J")

number = 0


def ok(good, name, *why):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    for line in why if not good else ():
        print(f"# {line}"[:400])


def run(*args):
    done = subprocess.run([TOOL, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode("utf-8", "backslashreplace"), done.stderr.decode(), done.returncode


def escaped(name):
    """As text.h escapes: controls of the names that the generator uses."""
    return re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", name)


# --- real dumps, record by record -----------------------------------------------------------------

def as_openj9(line):
    """One of our lines in the form of OpenJ9's reader, as far as both hold the same."""
    line = re.sub(r" how=\S+", "", line.rstrip(" "))
    line = re.sub(r"^(P .*) type=\[(.)", r"\1 type=[\2", line)
    own = re.match(r"(O \S+ class=(\S+) size=\S+ refs=)(\d+): \2\b ?(.*)", line)
    if own:  # it takes a first reference that equals the class for the class, in dumps too that never begin with it
        line = own[1] + str(int(own[3]) - 1) + ":" + (" " + own[4] if own[4] else "")
    return line


def as_ours(line):
    """One of OpenJ9's lines in our form: hashes dropped, elements in file order."""
    line = re.sub(r" flags=\S+ hash=\S+", "", line.rstrip(" "))
    kind = line[0]
    if kind == "P":
        line = re.sub(r"type=(\S+)", lambda m: "type=[" + LETTER[m[1]], line)
    if kind == "C" and " name=[" in line:  # no meaning there: see the reader
        line = re.sub(r"isize=\S+", "isize=-", line)
    if kind == "A":
        head, _, references = line.partition(": ")
        if references:
            line = head + ": " + " ".join(reversed(references.split(" ")))
    return line


def real(path):
    truth = [as_ours(s) for s in gzip.open(path + ".records.txt.gz", "rt").read().split("\n")
             if s and s[0] != "#"]
    out, said, code = run(path)
    ours = [as_openj9(s) for s in out.split("\n") if s]
    name = os.path.basename(path)
    ok(code == 0, f"{name}: read to its end", said)
    ok(len(ours) == len(truth), f"{name}: {len(truth)} records", f"ours: {len(ours)}")
    wrong = [(a, b) for a, b in zip(truth, ours) if a != b]
    ok(not wrong, f"{name}: every record as OpenJ9's reader has it", f"{len(wrong)} differ",
       *(f"{a} / {b}" for a, b in wrong[:5]))


# --- generated dumps --------------------------------------------------------------------------------

class Dump:
    """Our records of one dump, counted."""

    def __init__(self, text):
        self.records = collections.Counter()
        self.references = collections.Counter()
        self.in_degree = collections.Counter()
        self.lines = {}
        names, instances, arrays = {}, collections.Counter(), collections.Counter()
        self.sizes = collections.Counter()
        for line in text.split("\n"):
            if not line:
                continue
            kind = line[0]
            head, _, tail = line.partition(": ") if kind != "P" else (line, "", "")
            targets = tail.split()
            words = head.split(" ")
            self.records[kind] += 1
            self.references[kind] += len(targets)
            self.in_degree.update(targets)
            self.lines[words[1]] = (line, targets)
            if kind == "C":
                names[words[1]] = re.search(r" name=(.*) refs=", line + " ")[1]
            elif kind == "O":
                instances[words[2][6:]] += 1
            else:
                array = (words[2][5:] if kind == "P" else (words[2][6:], words[3][4:]))
                size = re.search(r" size=(\S+)", head)[1]
                arrays[array] += 1
                if size != "-":
                    self.sizes[array] += int(size)
        # the defect of Java 6: every array names itself, none its component
        named = [a for a in arrays if isinstance(a, tuple) and a[1] == "component"]
        itself = named and all(names[a[0]].startswith("[") for a in named)

        def array_name(array):
            if isinstance(array, str):
                return array
            name = names[array[0]]
            if array[1] == "at" or (array[1] == "component" and itself):
                return name
            return "[" + name if name.startswith("[") else f"[L{name};"

        self.by_class = collections.Counter({"java/lang/Class": self.records["C"]})
        self.array_bytes = collections.Counter()
        for address, n in instances.items():
            self.by_class[names[address]] += n
        for array, n in arrays.items():
            self.by_class[array_name(array)] += n
            self.array_bytes[array_name(array)] += self.sizes[array]


def same_object(dump, o):
    """Does our record of a selected object agree with the truth; else in what."""
    if o["address"] not in dump.lines:
        return f"{o['address']}: no record"
    line, targets = dump.lines[o["address"]]
    if len(targets) != o["outbound_count"] or targets[:50] != o["outbound"]:
        return f"{line}: references {o['outbound']}"
    if "array_length" in o and f" len={o['array_length']} " not in line + " ":
        return f"{line}: length {o['array_length']}"
    if "array_length" in o and " size=-" not in line and f" size={o['size']}" not in line:
        return f"{line}: size {o['size']}"
    if o["kind"] == "class" and not line.startswith(
            f"C {o['address']} super={o['super_address'] or '0x0'} isize="):
        return f"{line}: superclass {o['super_address']}"
    if o["kind"] == "class" and o["name"][0] != "[" and f" isize={o['instance_size']} " not in line:
        return f"{line}: instance size {o['instance_size']}"
    return None


def generated(path):
    name = os.path.basename(path)
    truth = json.load(open(path + ".expected.json"))
    counts = truth["counts"]
    out, said, code = run(path)
    ok(code == 0 and "W " not in said, f"{name}: read without a warning", said)
    dump = Dump(out)
    want = {"C": counts["classes"], "O": counts["objects"], "A": counts["object_arrays"],
            "P": counts["primitive_arrays"]}
    ok(dict(dump.records) == want, f"{name}: {counts['total']} records", dict(dump.records), want)
    want = (counts["refs_from_classes"], counts["refs_from_objects"], counts["refs_from_object_arrays"])
    have = tuple(dump.references[k] for k in "COA")
    ok(have == want, f"{name}: {counts['refs_nonnull']} references", have, want)
    want = collections.Counter()
    want_bytes = collections.Counter()
    for row in truth["histogram"]:
        want[escaped(row["class"])] += row["count"]
        if row["class"].startswith("["):
            want_bytes[escaped(row["class"])] += row["shallow"]
    ok(dump.by_class == want, f"{name}: objects of each class", want - dump.by_class,
       dump.by_class - want)
    if truth["phd_version"] >= 6:
        ok(dump.array_bytes == want_bytes, f"{name}: bytes of each array class",
           want_bytes - dump.array_bytes, dump.array_bytes - want_bytes)
    wrong = [w for w in (same_object(dump, o) for o in truth["selected"].values()) if w]
    ok(not wrong, f"{name}: {len(truth['selected'])} selected objects", *wrong)
    wrong = [o for o in truth["in_degree_top10"] if dump.in_degree[o["address"]] != o["refs"]]
    ok(not wrong, f"{name}: the most referenced objects", *wrong)

    survey, _, _ = run("-s", path)
    bare = re.sub(r"^([OA][^:]*:).*$", r"\1", out, flags=re.M)
    ok(survey == bare, f"{name}: the survey says the same records")
    step = "500" if name.startswith("tiny") else "20000"
    parts, said, code = run("-p", step, path)
    n_parts = int(re.search(r"^S parts (\d+)$", said, re.M)[1])
    ok(n_parts > 20 and parts == out, f"{name}: {n_parts} parts read alone say the same")
    if os.path.exists(path + ".gz"):
        ok(run(path + ".gz")[0] == out, f"{name}.gz: the same records")


# --- damaged dumps --------------------------------------------------------------------------------

# Where we mean to differ from what OpenJ9's reader did, and what we do.
DIFFERENT = {
    "no-start-of-dump.phd": 2202,  # the mark carries nothing: read without it
    "notgz.phd.gz": 2202,  # the name says gzip, the bytes decide
    "gz-named.phd": 2202,
    "ascii-ftp.phd": 0,  # refused: each LF became CR LF
    "double.phd.gz": 2202,  # gzip in gzip is a nested packing as any other: both are unpacked
}


def damaged(folder):
    rows = re.findall(r"^\| (\S+\.phd\S*) \| \d+ \| .* \| (.*?)(\d+) records \((\d+) classes\) delivered",
                      open(os.path.join(folder, "README.md")).read(), re.M)
    ok(len(rows) > 70, "broken/README.md lists the damaged dumps", len(rows))
    for name, verdict, records, classes in rows:
        want = DIFFERENT.get(name, int(records))
        out, said, code = run(os.path.join(folder, name))
        have = sum(1 for s in out.split("\n") if s[:2] in ("C ", "O ", "A ", "P "))
        text = [s for s in said.split("\n") if s]
        ok(have == want and code in (0, 3, 4), f"broken/{name}: {want} records",
           f"{have} records, exit {code}", *text[-3:])
        good = code == 0 or name == "ascii-ftp.phd" and "each LF became CR LF" in said
        if "header" in verdict and name not in DIFFERENT:
            good = code == 3 and len(text) == 1 and name in text[0]
        elif "unexpected tag" in verdict and name not in DIFFERENT:
            good = code == 4 and re.search(r"^X -3 \d+ unknown record tag 0x.. at byte \d+$", said, re.M)
        elif "EOFException" in verdict:
            good = code == 4 and re.search(
                r"^X -4 (\d+) truncated (in an? .* record|after the last record .*) at byte \1",
                said, re.M)
        ok(good, f"broken/{name}: one clear sentence", f"exit {code}", *text[-3:])
    twice(os.path.join(folder, "double.phd.gz"))


def twice(path):
    """What two layers hold is the dump that gzip itself unpacks from them, record by record."""
    plain = gzip.decompress(gzip.decompress(open(path, "rb").read()))
    with tempfile.NamedTemporaryFile(suffix=".phd") as f:
        f.write(plain)
        f.flush()
        want, got = run(f.name), run(path)
    ok(want[2] == 0 and want[0] and want == got, "broken/double.phd.gz: every record of the dump packed twice",
       want[1], got[1])


def main():
    if not DUMPS:
        print("1..0 # SKIP CAIRN_DUMPS names no directory with dumps")
        return
    for path in sorted(glob.glob(os.path.join(DUMPS, "openj9/*.phd"))):
        real(path)
    for path in some_synthetic(sorted(glob.glob(os.path.join(DUMPS, "synthetic/*.phd.expected.json")))):
        generated(path[:-len(".expected.json")])
    damaged(os.path.join(DUMPS, "synthetic/broken"))
    print(f"1..{number}")


main()
