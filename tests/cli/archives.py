#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packed dumps and archives of them: whole, cut, damaged and hostile ones.

What is compared with is the same dump as a plain file, whole or its first bytes; the archives are made here, by others.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import packed  # noqa: E402
from cairntest import CAIRN, GO, LONG, SAMPLE, SERIES, SHOP, Tap, cairn, skip_all, some, turn  # noqa: E402

ALL = {**packed.STREAMS, **packed.ARCHIVES}
ASKED = ("--format", "csv", "-x", "histo", "-x", "roots | cut address")


def data(path):
    with open(path, "rb") as f:
        return f.read()


class Place:
    """A folder to run in, with a folder for temporary files in it: what is there when a run ends and was not before?"""

    def __init__(self, tap, root):
        self.tap, self.root = tap, root
        self.folder, self.spill = os.path.join(root, "a", "b"), os.path.join(root, "spill")
        os.makedirs(self.folder)
        os.mkdir(self.spill)

    def files(self):
        return sorted(os.path.join(at, name) for at, folders, names in os.walk(self.root) for name in folders + names)

    def write(self, name, content):
        os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(content)
        return name

    def run(self, *arguments, **more):
        before = self.files()
        more["env"] = dict(more.get("env", {}), TMPDIR=self.spill)
        done = cairn("--no-index", *arguments, cwd=self.folder, **more)
        if self.files() != before:
            self.tap.ok(False, "nothing is left behind by %s" % (arguments,), set(self.files()) ^ set(before))
        return done

    def ask(self, name):
        return self.run(*ASKED, name)


def one_sentence(run, name, *words):
    """What a refusal or a warning has to be."""
    lines = [line for line in run.err.splitlines() if line]
    return len(lines) == 1 and name in lines[0] and not re.search(r"[^.]\.$", lines[0]) and \
        all(re.search(w, lines[0]) for w in words)


def kinds(tap, chosen):
    """Each kind and the bytes of the shop in it; those that nothing here makes are passed over aloud."""
    for kind, (pack, checked) in chosen.items():
        try:
            made = pack(data(SHOP))
        except TypeError:  # tar of which the packer is not there
            made = None
        if made is None:
            tap.skip(kind, "no program here packs it")
        else:
            yield kind, made, checked


# --- whole ---------------------------------------------------------------------------------------------


def whole(tap, p):
    for number, path in enumerate((SHOP, SAMPLE, GO)):
        want = p.ask(p.write("plain", data(path)))  # without the javacore that stands beside one of them
        tap.ok(want.status == 0 and want.out.count("\n") > 20, "%s, plain" % os.path.basename(path), want)
        for i, (kind, (pack, _)) in enumerate(ALL.items()):
            if number not in turn(i, (0, 1, 2)):
                continue
            if "zst" in kind and not packed.zst(b"x") or "lz4" in kind and not packed.lz4(b"x"):
                tap.skip(kind, "no program here packs it")
                continue
            name = p.write("x." + kind, pack(data(path)))
            for inside in ("", "::" + packed.MEMBER)[:2 if kind in packed.ARCHIVES else 1]:
                got = p.ask(name + inside)
                tap.ok((got.status, got.out, got.err) == (0, want.out, want.err),
                       "%s: %s%s" % (os.path.basename(path), kind, inside), got)
    same = p.write("x", packed.xz(data(SHOP)))  # without a name that tells
    tap.equal(p.ask(same).out, p.ask(SHOP).out, "what it is packed by is told by the bytes")


# --- cut and damaged -----------------------------------------------------------------------------------


def prefix(p, got, name):
    """The plain dump up to where the run says that all is true; returns its answer and the byte."""
    told = p.run("--format", "json", "-x", "info", name)
    at = json.loads(told.out)["true_up_to"] if told.status == 4 else None
    if at is None:
        return None, at
    p.write("prefix", data(SHOP)[:at + 1])
    return p.ask("prefix"), at


def facts(run):
    """Its rows but for what is certain of them: where only the end of the packing is cut the dump has all of them."""
    rows = list(csv.reader(run.out.splitlines()))
    return [[cell for name, cell in zip(rows[0], row) if not name.endswith("_certainty")] if row != ["address"] else row
            for row in rows]


def cut_anywhere(tap, p):
    for kind, made, _ in kinds(tap, ALL):
        most = 0
        for part in (1, 2, 3, 5, 7, 9, 10) if LONG else (2, 7, 10):
            size = len(made) * part // 10 - (part == 10) * (1 if kind in packed.STREAMS else len(made) // 50)
            name = p.write("cut." + kind, made[:size])
            got = p.ask(name)
            words = "%s cut at %d of %d" % (kind, size, len(made))
            if got.status == 3:
                tap.ok(not got.out and one_sentence(got, name), words + ": nothing came, and a sentence", got)
                tap.ok(part < 6 or "bz2" in kind or "bzip2" in kind, words + ": there is much of it", got)
                continue
            if got.status == 0:  # of compress and of what stands behind the dump the end does not tell
                tap.ok(got.out == p.ask(SHOP).out or kind.endswith("Z"), words + ": all of it came", got)
                continue
            want, at = prefix(p, got, name)
            most = max(most, at or 0)
            tap.ok(got.status == 4 and one_sentence(got, name, r"byte \d+"), words + ": a sentence with a byte", got)
            tap.ok(want and facts(want) == facts(got), words + ": what came is what stands there",
                   "%s\n%s" % (want, got))
        tap.ok(most > len(data(SHOP)) / 2 or "bz2" in kind or "bzip2" in kind,
               "%s cut: most of it was there to see" % kind, most)


def beginnings(tap, p):
    """Of the first bytes alone it is said that they are cut, and of wrong ones that they are wrong; a list says it, too."""
    bytes_of_magic = {"gz": 2, "zst": 4, "xz": 6, "bz2": 3, "lz4": 4, "lz": 5}  # fewer are those of no packing
    for kind, made, _ in kinds(tap, {kind: packed.STREAMS[kind] for kind in bytes_of_magic}):  # .Z has no end to miss
        seen, good = [], True
        for size in range(bytes_of_magic[kind], 16):
            name = p.write(os.path.join("early", "s.hprof." + kind), made[:size])
            got, row = p.ask(name), p.run("-x", "dumps", "--format", "csv", "early")
            seen += [got.err, row.out]
            good = good and got.status == 3 and one_sentence(got, name, r"truncated.* byte \d+") and "layers" not in got.err
            good = good and re.search("unreadable,.*truncated or damaged", row.out)
            os.unlink(os.path.join(p.folder, name))
        tap.ok(good, "the first bytes of " + kind, "".join(seen))
    for kind, at in (("bz2", 5), ("bz2", 5000), ("lz4", 5), ("lz", 5)):
        made = packed.STREAMS[kind][0](data(SHOP))
        if made is None:
            tap.skip(kind, "no program here packs it")
            continue
        name = p.write("wrong.hprof." + kind, made[:at] + bytes([made[at] ^ 0x55]) + made[at + 1:])
        got = p.ask(name)
        tap.ok(got.status == 3 and one_sentence(got, name, "damaged (near byte|in its first) [0-9]+") and
               "no format" not in got.err, "%s with byte %d wrong" % (kind, at), got)
    for kind, pack in (("bz2", bz2.compress), ("xz", packed.xz), ("gz", gzip.compress)):
        name = p.write("nothing.hprof." + kind, pack(b""))
        got = p.ask(name)
        tap.ok(got.status == 3 and one_sentence(got, name, "empty|nothing"), kind + " of nothing", got)


def damaged(tap, p):
    want = p.ask(SHOP)
    for kind, made, checked in kinds(tap, ALL):
        good, silent, seen = True, [], []
        for at in some([len(made) * k // 17 + k for k in range(1, 17)], 8):
            name = p.write("bad." + kind, made[:at] + bytes([made[at] ^ 0x55]) + made[at + 1:])
            got = p.ask(name)
            seen.append("byte %d: exit %s %s" % (at, got.status, got.err))
            silent += seen[-1:] if got.status == 0 and got.out != want.out else []
            # of a block of bzip2 in a zip archive more is unpacked than one looks at to see what it is
            why = () if kind == "bzip2.zip" or not checked else ("damaged|wrong|truncated",)
            good = good and got.status in (0, 3, 4) and (got.status == 0 or one_sentence(got, name, *why)) and \
                not (got.status == 3 and got.out)
        tap.ok(good, "%s with a wrong byte: a sentence" % kind, "\n".join(seen))
        if checked:
            tap.none(silent, seen, "%s with a wrong byte: nothing else than what was packed" % kind)


# --- more than there is room for -------------------------------------------------------------------------

PIECE, PIECES = bytes(1 << 20), 512 if LONG else 192  # the shop and so many pieces of zeros behind it


def bomb_through(out):
    out.write(data(SHOP))
    for _ in range(PIECES):
        out.write(PIECE)


def bomb_by(opener):
    def make(path):
        with opener(path) as f:
            bomb_through(f)
    return make


def bomb_by_program(*argv):
    def make(path):
        with open(path, "wb") as to, subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=to) as p:
            bomb_through(p.stdin)
    return make if shutil.which(argv[0]) else None


def zip_bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z, z.open("heap.hprof", "w") as f:
        bomb_through(f)


def twice_bomb(path):
    """One in another: a kilobyte or so of it."""
    with lzma.open(path, "wb", preset=0) as f, lzma.open(f, "wb", preset=0) as inner:
        bomb_through(inner)


BOMBS = {
    "gz": bomb_by(lambda path: gzip.open(path, "wb", 1)),
    "xz": bomb_by(lambda path: lzma.open(path, "wb", preset=0)),
    "bz2": bomb_by(lambda path: bz2.open(path, "wb", 1)),
    "zip": zip_bomb,
    "xz.xz": twice_bomb,
    "zst": bomb_by_program("zstd", "-q", "-1", "-c"),
    "lz4": bomb_by_program("lz4", "-q", "-c"),
}


def measured(p, *arguments, file_size=None):
    """Exit status, standard error and the most memory that was the program's own, in bytes."""
    def limit():
        if file_size:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    with subprocess.Popen([CAIRN, "--no-index", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=p.folder, env=dict(os.environ, TMPDIR=p.spill, LC_ALL="C.UTF-8"),
                          preexec_fn=limit) as run:
        said = run.stderr.read().decode()
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    return run.returncode, said, used.ru_maxrss * 1024


def bombs(tap, p):
    memory, disk, more = 64 << 20, 100 << 20, 24 << 20  # more: the program itself, and what unpacking needs
    sanitized = re.search(b"__[at]san_init", data(CAIRN))
    for kind, make in BOMBS.items():
        name = "bomb." + kind
        if not make:
            tap.skip(name, "no program here packs it")
            continue
        make(os.path.join(p.folder, name))
        packed_size = os.path.getsize(os.path.join(p.folder, name))
        tap.ok(packed_size < 8 << 20, "%s: %d bytes that are more than %d megabytes" % (name, packed_size, PIECES))
        for where, options, size in (("--spill none", ("--spill", "none"), None), ("a small disk", (), disk)):
            before = p.files()
            status, said, most = measured(p, "--mem", "64M", *options, "-x", "histo", name, file_size=size)
            words = "%s, %s" % (name, where)
            tap.ok(status == 3 and len(said.splitlines()) == 1 and name in said and
                   "not enough memory to unpack it" in said and
                   ("--mem allows 64.0M" in said if not size else p.spill in said and "no room" in said),
                   words + ": one sentence", (status, said))
            allowed = memory + (size or 0) + packed_size + more  # pages of files count where they are mapped
            if sanitized:
                tap.skip(words, "sanitizers take memory of their own")
            else:
                tap.ok(most <= allowed, words + ": within the limit", "%d of %d" % (most, allowed))
            tap.equal(p.files(), before, words + ": nothing is left behind")
        os.unlink(os.path.join(p.folder, name))


# --- a list of its dumps ---------------------------------------------------------------------------------


def listed(tap, p):
    """As those of a directory, whose table is of the same files here: sizes, times, numbers, comparisons."""
    os.mkdir(os.path.join(p.folder, "d"))
    members = []
    for path in SERIES:
        name = os.path.basename(path)
        p.write(os.path.join("d", name), data(path))
        members.append((name, data(path)))
    p.write(os.path.join("d", "notes.txt"), b"neither of them\n")
    members.append(("notes.txt", b"neither of them\n"))
    p.write("d.zip", packed.zip_of(members))
    with io.BytesIO() as f:
        with tarfile.open(fileobj=f, mode="w") as t:
            for name, content in members:
                packed.add(t, name, content)
        p.write("d.tar", f.getvalue())
        p.write("d.tar.xz", packed.xz(f.getvalue()))
    for lines in (("dumps",), ("use 2", "histo", "dumps"), ("use 1", "entries com.acme.shop.AuditLog.ENTRIES"),
                  ("tag 1 3", "growth"), ("growth",), ("histo",), ("use 4",), ("tag 1 2 3", "trend -by class")):
        words = [w for line in lines for w in ("-x", line)]
        want = p.run("--format", "csv", *words, "d")
        for archive in ("d.zip", "d.tar", "d.tar.xz"):
            got = p.run("--format", "csv", *words, archive)
            alike = [text.replace(archive + "::", "d/").replace(archive, "d").replace("an archive", "a directory")
                     for text in (got.out, got.err)]
            tap.equal((got.status, *alike), (want.status, want.out, want.err), "%s: %s" % (archive, ", ".join(lines)))
    got, want = p.run("d.zip"), p.run("d")
    tap.ok(got.status == 0 and got.out.count("not read") == 3 and "in d.zip, with 1 other file" in got.out,
           "without a command it is listed", got)
    tap.ok(want.status == 0 and want.out.count("not read") == 3, "as a directory", want)
    r = p.run("-x", "dumps", "--dump", "1", "d.zip")
    tap.ok(r.status == 2 and one_sentence(r, "d.zip", "about one dump"), "options of one dump are none of it", r)
    made = data(os.path.join(p.folder, "d.tar"))
    p.write("cut.tar", made[:-len(made) // 5])
    r = p.run("-x", "dumps", "cut.tar")
    words = "\ntruncated at byte %d, and the rest is missing; in cut.tar" % (len(made) - len(made) // 5)
    tap.ok(r.status == 0 and r.out.count("not read") == 3 and words in r.out, "cut: what is in it is listed, and why", r)
    p.write("cut.tar.gz", gzip.compress(made)[:-9999])
    r = p.run("-x", "dumps", "cut.tar.gz")
    size = os.path.getsize(os.path.join(p.folder, "cut.tar.gz"))
    tap.ok("\nthe gzip stream is truncated at byte %d of the file; in cut.tar.gz" % size in r.out, "where its packing is cut", r)
    whole = data(os.path.join(p.folder, "d.zip"))
    for end, status, words in ((whole.index(b"PK\3\4", 9), 0, ""), (20, 3, "a zip archive, truncated at byte 20, ")):
        p.write("cut.zip", whole[:end])  # behind the first file, and within its header
        r = p.run("-x", "info -brief", "cut.zip")
        tap.ok(r.status == status and words in r.err and "1 files" not in r.err + r.out, "cut at %d" % end, r)
    p.write("one.zip", packed.zip_of([("empty.hprof", b""), *members[:1], ("none.hprof", b"not at all " * 9)]))
    tap.equal(p.ask("one.zip").out, p.ask(SERIES[0]).out, "one dump beside others that only claim to be some")
    p.write("claims.zip", packed.zip_of([("empty.hprof", b""), *members[:2], ("none.hprof", b"not at all " * 9)]))
    r = p.run("-x", "dumps | sort file | cut file,state,damage", "--format", "csv", "claims.zip")
    tap.ok(r.out.count("unreadable") == 2 and "is empty (0 bytes" in r.out and
           "is not a dump, or its first bytes are damaged" in r.out and r.out.count("not read") == 2, "what claims to be a dump says why it is none", r)


def packed_in_a_directory(tap, p):
    """Their first bytes tell what they are, as far into them as a block of bzip2 goes."""
    os.mkdir(os.path.join(p.folder, "d"))
    for kind, made, _ in kinds(tap, packed.STREAMS):
        p.write(os.path.join("d", "x.hprof." + kind), made)
        r = p.run("-x", "dumps | grep hprof.%s | cut file,format,created,state" % kind, "--format", "csv", "d")
        tap.equal(r.out.replace("\r", "").splitlines()[-1], "d/x.hprof.%s,HPROF,2026-11-21T10:15:00Z,not read" % kind, kind)


def companions(tap, p):
    """The javacore beside an OpenJ9 dump in the archive tells of it what it tells beside the file."""
    javacore = SAMPLE.replace("heapdump.", "javacore.").replace(".phd", ".txt")
    names = [os.path.basename(path) for path in (SAMPLE, javacore)]
    want, without = p.ask(SAMPLE), p.ask(p.write("alone", data(SAMPLE)))
    tap.ok(want.status == 0 and want.out != without.out, "it tells more than the dump", want)
    both = [(folder + name, data(path)) for folder in ("", "logs/a/") for name, path in zip(names, (SAMPLE, javacore))]
    p.write("both.zip", packed.zip_of(both[2:]))
    p.write("stored.zip", packed.zip_of(both[:2], zipfile.ZIP_STORED))
    with io.BytesIO() as f:
        with tarfile.open(fileobj=f, mode="w") as t:
            for name, content in both[2:]:
                packed.add(t, name, content)
        p.write("both.tar", f.getvalue())
    for name in ("both.zip", "both.zip::" + both[2][0], "stored.zip", "stored.zip::" + names[0], "both.tar"):
        got = p.ask(name)
        tap.ok((got.status, got.out) == (0, want.out), name + ": with the javacore", got)
    p.write("apart.zip", packed.zip_of([both[0], both[3]]))
    tap.equal(p.ask("apart.zip").out, without.out, "one in another folder is not taken")
    for kind in ("gz", "zst", "xz", "bz2", "lz4", "lz"):
        made = packed.STREAMS[kind][0](data(SAMPLE))
        if made is None:
            tap.skip(kind, "no program here packs it")
            continue
        p.write(names[1], data(javacore))
        tap.equal(p.ask(p.write(names[0] + "." + kind, made)).out, want.out, "beside the dump that %s has packed" % kind)


def whole_reasons(tap, p):
    """What libarchive says of a damaged member is told whole or not at all."""
    made = packed.zip_of([(os.path.basename(path), data(path)) for path in SERIES])
    for kind, content in (("zip", made), ("piped.zip", packed.zip_of([("a.hprof", data(SHOP))], piped=True)),
                          ("lzma.zip", packed.ARCHIVES["lzma.zip"][0](data(SHOP)))):
        told = set()
        for at in range(50, len(content), len(content) // 40):
            name = p.write("r." + kind, content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1:])
            told |= {p.run("-x", "info -brief", name + inside).err for inside in ("", "::" + os.path.basename(SERIES[0]))}
        tap.ok(any("(" in err for err in told) and all(err.count("(") == err.count(")") and ".." not in err for err in told),
               kind + ": reasons are whole", "".join(sorted(told)))


def program_in_it(tap, p):
    """The program of a Go dump that is beside it in the archive is not read, and that is said."""
    want = p.ask(p.write("plain", data(GO)))
    for dump, beside, told in (("a/cart.dump", "a/cart.elf", True), ("cart.dump", "cart", True), ("c-7.dump", "c.elf", True),
                               ("a/cart.dump", "b/cart.elf", False), ("a/cart.dump", "a/carts", False)):
        members = [(beside, b"\x7fELF" + bytes(200)), (dump, data(GO))]
        p.write("go.zip", packed.zip_of(members))
        with io.BytesIO() as f:
            with tarfile.open(fileobj=f, mode="w") as t:
                for name, content in members:
                    packed.add(t, name, content)
            p.write("go.tar", f.getvalue())
        for name in ("go.zip", "go.tar", "go.zip::" + dump):
            r = p.ask(name)
            tap.ok((r.status, r.out) == (0, want.out) and (one_sentence(r, beside.split(".")[0], "unpack both") if told else
                   not r.err), "%s with %s in %s" % (dump, beside, name), r)


# --- hostile and odd archives ----------------------------------------------------------------------------


def says(tap, p, what, name, status, *words):
    """A refusal: the status, one sentence with these words, nothing else."""
    r = p.run("-x", "histo", name)
    tap.ok(r.status == status and not r.out and one_sentence(r, name.split("::")[0], *words), what, r)


def names(tap, p):
    """What members are called is never a path here."""
    want, shop = p.ask(SHOP), data(SHOP)
    outside = os.path.join(p.root, "outside")
    called = ["/etc/heap.hprof", outside, "../../up.hprof", "a/../../../b.hprof", "..", "c:\\x.hprof",
              "nul\x01\x1b[2J.hprof", "a::b.hprof", "-x", " ", "x" * 4000]
    with io.BytesIO() as f:
        with tarfile.open(fileobj=f, mode="w", format=tarfile.PAX_FORMAT) as t:
            for name in called:
                packed.add(t, name, shop)
        p.write("names.tar", f.getvalue())
    p.write("names.zip", packed.zip_of([(name, shop) for name in called if len(name) < 1000]))
    for archive in ("names.tar", "names.zip"):
        says(tap, p, archive + ": none of them is taken unasked", archive, 2, "an archive with 1[01] dumps")
        listed = p.run("-x", "dumps | cut file", "--format", "csv", archive)
        tap.ok(listed.status == 0 and archive + "::/etc/heap.hprof" in listed.out and
               archive + "::../../up.hprof" in listed.out and "\x1b" not in listed.out, archive + ": but listed", listed)
        tap.ok("\x1b" not in p.ask(archive).err, archive + ": what a terminal would obey is escaped")
        for name in called:
            if archive == "names.zip":
                name = name.replace("\\", "/")  # the only thing that parts folders there
            if archive == "names.tar" or len(name) < 1000:
                r = p.ask(archive + "::" + name)
                tap.ok((r.status, r.out) == (0, want.out), "%s::%.40r is read" % (archive, name), r)
    tap.ok(not os.path.exists(outside), "nothing is written outside")


def links(tap, p):
    """Links and devices of an archive lead nowhere."""
    shop = data(SHOP)
    with io.BytesIO() as f:
        with tarfile.open(fileobj=f, mode="w") as t:
            packed.add(t, "abs.hprof", b"", type=tarfile.SYMTYPE, linkname=SHOP)
            packed.add(t, "hard.hprof", b"", type=tarfile.LNKTYPE, linkname="heap.hprof")
            packed.add(t, "fifo.hprof", b"", type=tarfile.FIFOTYPE)
            packed.add(t, "zero.hprof", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=5)
            packed.add(t, "dir.hprof", b"", type=tarfile.DIRTYPE)
            packed.add(t, "heap.hprof", shop)
        p.write("links.tar", f.getvalue())
    tap.equal(p.ask("links.tar").out, p.ask(SHOP).out, "links and devices beside a dump: it is the dump")
    for name, word in (("abs", "is a link"), ("hard", "is a link"), ("fifo", "is not a file"), ("zero", "is not a file")):
        says(tap, p, "%s.hprof of them" % name, "links.tar::%s.hprof" % name, 3, word)
    says(tap, p, "a directory in it", "links.tar::dir.hprof", 3, "is not a file|has no member")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as t:  # the old format for holes: data, and zeros up to 1 MiB
        header = tarfile.TarInfo("heap.hprof")
        header.size = len(shop)
        block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
        block[156:157] = b"S"
        block[386:410] = b"%011o\0%011o\0" % (0, len(shop))
        block[410:434] = b"%011o\0%011o\0" % (1 << 20, 0)
        block[483:495] = b"%011o\0" % (1 << 20)
        block[148:156] = b"        "
        block[148:156] = b"%06o\0 " % sum(block)
        made.write(block + shop + bytes(-len(shop) % 512))
    p.write("sparse.tar", made.getvalue())
    p.write("filled", shop + bytes((1 << 20) - len(shop)))
    got, want = p.ask("sparse.tar"), p.ask("filled")
    tap.equal((got.status, got.out), (want.status, want.out), "a file with a hole behind it")
    huge = bytes(made.getvalue()).replace(b"%011o\0" % (1 << 20), b"%011o\0" % (1 << 32))
    block = bytearray(huge[:512])
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    p.write("sparse.tar", bytes(block) + huge[512:])
    r = p.run("--mem", "64M", "--spill", "none", *ASKED, "sparse.tar")
    tap.ok(r.status == 3 and one_sentence(r, "sparse.tar", "--mem allows"), "a hole of 4 GB has its limit", r)


def encrypted(tap, p):
    """By the flag in both headers of the member: what stands there then is noise to whoever has no password."""
    made = bytearray(packed.zip_of([("notes.txt", b"to be read"), ("heap.hprof", data(SHOP))]))
    at = made.rindex(b"PK\1\2") + 8
    made[at] |= 1
    at = made.rindex(b"PK\3\4") + 6
    made[at] |= 1
    p.write("secret.zip", bytes(made))
    says(tap, p, "an encrypted member", "secret.zip", 3, "encrypted", "password", "notes.txt")
    says(tap, p, "that is named", "secret.zip::heap.hprof", 3, "encrypted", "password")
    if shutil.which("zip"):
        p.write("heap.hprof", data(SHOP))
        subprocess.run(["zip", "-q", "-P", "secret", "real.zip", "heap.hprof"], cwd=p.folder, check=True)
        says(tap, p, "by zip itself", "real.zip", 3, "encrypted", "password")
    else:
        tap.skip("by zip itself", "no zip is here")


def odd(tap, p):
    shop, want = data(SHOP), p.ask(SHOP)
    older = data(SERIES[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the name is meant to be there twice
        p.write("twice.zip", packed.zip_of([("heap.hprof", older), ("heap.hprof", shop)]))
    for name in ("twice.zip", "twice.zip::heap.hprof"):
        tap.equal(p.ask(name).out, want.out, name + ": the last of one name, as unpacking would leave it")
    p.write("two.zip", packed.zip_of([("old.hprof", older), ("heap.hprof", shop)]))
    says(tap, p, "two dumps", "two.zip", 2, "an archive with 2 dumps", "the newest is two.zip::heap.hprof")
    r = p.run(*ASKED, "-", stdin=data(os.path.join(p.folder, "two.zip")))
    tap.ok(r.status == 2 and one_sentence(r, "standard input", "archive of 2 dumps", "old.hprof", "heap.hprof"),
           "two dumps through a pipe", r)
    for named in (("two.zip::",), (SHOP, "two.zip"), (SHOP, "two.zip::")):
        r = p.run("-x", "histo", *named)
        tap.ok(r.status == 2 and not r.out and one_sentence(r, "two.zip", "archive of 2 dumps", "old.hprof", "heap.hprof"),
               "two dumps, and none is named: %s" % (named,), r)
    r = p.run("-x", "diff", "two.zip", SHOP)
    tap.ok(r.status and "archive of 2 dumps" in r.err, "two dumps beside another one", r)
    tap.equal(p.ask("two.zip::heap.hprof").out, want.out, "one of them")
    p.write("none.zip", packed.zip_of([("a.txt", b"hello, hello, hello"), ("b.png", b"\x89PNG and so on and on")]))
    says(tap, p, "no dump", "none.zip", 3, "without a heap dump", "a.txt", "b.png")
    says(tap, p, "no such member", "two.zip::no.hprof", 3, "has no member no.hprof")
    p.write("empty.zip", packed.zip_of([]))
    says(tap, p, "no files", "empty.zip", 3, "without files")
    p.write("empty.tar", bytes(10240))
    says(tap, p, "zeros, as an empty tar archive is", "empty.tar", 3)
    p.write("x.7z", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(100))
    says(tap, p, "7z, which is not read", "x.7z", 3, "7z archive")
    p.write("not.zip", shop)
    says(tap, p, "a member of no archive", "not.zip::x", 3, "not a known archive")
    for kind, made in (("zip", packed.zip_of([("heap.hprof", shop)])),
                       ("piped zip", packed.zip_of([("heap.hprof", shop)], piped=True)),
                       ("tar.xz", packed.xz(packed.tar(shop)))):
        r = p.run(*ASKED, "-", stdin=made)
        tap.ok((r.status, r.out) == (0, want.out), kind + " through a pipe", r)
        r = p.run(*ASKED, "-", stdin=made[:len(made) * 3 // 4])
        tap.ok(r.status == 4 and one_sentence(r, "standard input", r"byte \d+") and r.out.count("\n") > 20,
               kind + " through a pipe that ends early: what came", r)


def bytes_of_names(tap, p):
    """Names are bytes, whatever the locale says of them."""
    shop, want = data(SHOP), p.ask(SHOP)
    for encoding, name in (("utf-8", "Grüße/höap 堆.hprof"), ("latin-1", "Grüße/höap.hprof")):
        raw = name.encode(encoding).decode("utf-8", "surrogateescape")
        with io.BytesIO() as f:
            with tarfile.open(fileobj=f, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8",
                              errors="surrogateescape") as t:
                packed.add(t, "other.hprof", shop)
                packed.add(t, raw, shop)
            p.write("n.tar", f.getvalue())
        made = packed.zip_of([("other.hprof", shop), ("x" * len(os.fsencode(raw)), shop)])
        p.write("n.zip", made.replace(b"x" * len(os.fsencode(raw)), os.fsencode(raw)))
        for archive in ("n.tar", "n.zip"):
            for locale in ("C", "C.UTF-8"):
                r = p.run(*ASKED, archive + "::" + raw, env={"LC_ALL": locale})
                tap.ok((r.status, r.out) == (0, want.out), "%s in %s, LC_ALL=%s" % (encoding, archive, locale), r)
                r = p.run(*ASKED, archive, env={"LC_ALL": locale})
                tap.ok(r.status == 2 and "with 2 dumps" in r.err, "and it is told from the other", r)
                r = p.run("-x", "dumps | cut file | grep Gr", "--format", "csv", archive, env={"LC_ALL": locale})
                tap.ok(r.status == 0 and r.out.count("\n") == 2, "and listed", r)


def nested(tap, p):
    shop, want = data(SHOP), p.ask(SHOP)
    made, path = shop, ""
    for layer, (name, pack) in enumerate((("a.hprof.xz", packed.xz), ("b.tar", lambda d: packed.tar(d, "a.hprof.xz")),
                                          ("c.zip", lambda d: packed.zip_of([("b.tar", d)])),
                                          ("d.tar", lambda d: packed.tar(d, "c.zip")), ("e.gz", gzip.compress)), 1):
        made = pack(made)
        path = {2: "a.hprof.xz", 3: "b.tar::a.hprof.xz", 4: "c.zip::b.tar::a.hprof.xz"}.get(layer, path)
        p.write(name, made)
        if layer <= 4:
            r = p.ask(name + ("::" + path if path else ""))
            tap.ok((r.status, r.out) == (0, want.out), "%d layers: %s" % (layer, name), r)
        else:
            says(tap, p, "%d layers" % layer, name + "::" + path, 3, "more than 4 nested layers")
    says(tap, p, "an archive in an archive is not looked into unasked", "c.zip", 3, "b.tar", "::")
    inner = b"at the bottom, and nothing else"
    for depth in range(40):  # each level ten times the one below it, as archives are that unpack themselves for ever
        inner = packed.zip_of([("%d.zip" % i, inner) for i in range(10 if depth > 37 else 1)])
    p.write("matryoshka.zip", inner)
    says(tap, p, "forty archives, one in another", "matryoshka.zip", 3, "without a heap dump", "0.zip")
    says(tap, p, "and five of them named", "matryoshka.zip" + "::0.zip" * 5, 3, "more than 4 nested layers")


def before_the_cut(tap, p):
    """Members of a packed tar that is cut behind them are whole."""
    names = ("one.hprof", "two.hprof", "three.hprof")
    bytes_of, plain = {name: data(path) for name, path in zip(names, SERIES)}, io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as t:
        for name in names:
            packed.add(t, name, bytes_of[name])
    for kind, module in (("gz", gzip), ("xz", lzma), ("bz2", bz2)):
        squeezed = module.compress(plain.getvalue(), **({"compresslevel": 1} if kind == "bz2" else {}))
        p.write("cut.tar." + kind, squeezed[:len(squeezed) * 9 // 10])
        for name in ("one.hprof", "two.hprof"):
            p.write(name, bytes_of[name])
            got, want = p.ask("cut.tar.%s::%s" % (kind, name)), p.ask(name)
            tap.ok(got.status == 0 and got.out == want.out and one_sentence(got, name, "truncated at byte", "after this member"),
                   "cut tar.%s: %s is whole" % (kind, name), got)
        got = p.ask("cut.tar.%s::three.hprof" % kind)
        tap.ok(got.status in (3, 4), "cut tar.%s: and the last one is not" % kind, got)


def second_heap(tap, p):
    """Damaged bytes that begin as one more heap does are not what is looked at, where the first is larger."""
    whole = data(SHOP)
    p.write("plain.hprof", whole[:-9])
    for junk in (bytes(200), b"\xff" * 200):
        p.write("junk.hprof", whole[:-9] + b"\x0c" + bytes(4) + (5000).to_bytes(4, "big") + junk)
        got, want = (p.run("--format", "csv", "-x", "histo | cut class", name) for name in ("junk.hprof", "plain.hprof"))
        tap.ok(got.status == 4 and got.out == want.out, "a heap of damaged bytes", got)


def ours(tap, p):
    """What take writes is no dump in an archive, but known."""
    cairn("-x", "bundle -o t", SHOP, cwd=p.folder)
    with zipfile.ZipFile(os.path.join(p.folder, "taken.zip"), "w") as z:
        for name in ("shop.cairn", "shop.profile.gz"):
            z.write(os.path.join(p.folder, "t", name), name)
    shutil.rmtree(os.path.join(p.folder, "t"))
    says(tap, p, "an index in an archive", "taken.zip::shop.cairn", 3, "an index of cairn", "unpack or save it first")
    says(tap, p, "a profile in an archive", "taken.zip::shop.profile.gz", 3, "a profile of cairn", "unpack or save it first")
    says(tap, p, "no such member", "taken.zip::nope", 3, "has no member nope .its members: shop.cairn, shop.profile.gz.")


def main():
    if "without libarchive" in cairn("--version").out:
        skip_all("built without libarchive")
    tap = Tap()
    for test in (whole, cut_anywhere, whole_reasons, beginnings, damaged, bombs, listed, packed_in_a_directory, companions, program_in_it, names, links, encrypted, odd, bytes_of_names, nested,
                 before_the_cut, second_heap, ours):
        with tempfile.TemporaryDirectory() as root:
            test(tap, Place(tap, root))
    tap.done()


main()
