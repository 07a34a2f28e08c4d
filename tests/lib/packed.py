# SPDX-License-Identifier: GPL-3.0-or-later
"""Dumps packed in every way that cairn unpacks, by python itself or by the programs that are there."""

import bz2
import gzip
import io
import lzma
import shutil
import struct
import subprocess
import tarfile
import zipfile
import zlib

MEMBER = "dumps/heap.dump"


def program(*argv):
    """Packs bytes through a program; None where it is not there."""
    def pack(data):
        if not shutil.which(argv[0]):
            return None
        return subprocess.run(argv, input=data, stdout=subprocess.PIPE, check=True).stdout
    return pack


def compress(data):
    """.Z: LZW with codes of 9 to 16 bits, which come in groups of eight; the table fills up and stays."""
    most = 1 << 16
    table = {bytes([i]): i for i in range(256)}
    free, bits, section, out, known = 257, 9, [], bytearray(b"\x1f\x9d\x90"), b""

    def flush(whole):
        group = sum(code << bits * i for i, code in enumerate(section))
        size = (len(section) + 7) // 8 * bits if whole else (len(section) * bits + 7) // 8
        section.clear()
        return group.to_bytes(size, "little")
    for byte in data:
        longer = known + bytes([byte])
        if longer in table:
            known = longer
            continue
        section.append(table[known])
        if free > (1 << bits) - 1 and bits < 16:
            out += flush(True)
            bits += 1
        elif len(section) == 8:
            out += flush(True)
        if free < most:
            table[longer] = free
            free += 1
        known = longer[-1:]
    section.append(table[known])
    return bytes(out) + flush(False)


def lzip(data):
    """One member as lzip's manual describes it: a dictionary of 1 MiB, LZMA with its mark of the end, and three sums."""
    coder = {"id": lzma.FILTER_LZMA1, "preset": 6, "dict_size": 1 << 20, "lc": 3, "lp": 0, "pb": 2}
    body = lzma.compress(data, lzma.FORMAT_RAW, filters=[coder])
    return b"LZIP\x01\x14" + body + struct.pack("<IQQ", zlib.crc32(data), len(data), len(body) + 26)


def tar(data, name=MEMBER):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as t:
        add(t, "notes.txt", b"put in beside it\n" * 20)
        add(t, name, data)
    return out.getvalue()


def add(t, name, data, **more):
    """A member of a tar archive; more: fields of its header."""
    header = tarfile.TarInfo(name)
    header.size = len(data)
    for field, value in more.items():
        setattr(header, field, value)
    t.addfile(header, io.BytesIO(data))


class Stream(io.RawIOBase):
    """What zipfile takes for a pipe: sizes then stand behind the members."""

    def __init__(self):
        super().__init__()
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, more):
        self.data += more
        return len(more)


def zip_of(members, method=zipfile.ZIP_DEFLATED, piped=False, zip64=False):
    """A zip archive of (name, data)."""
    out = Stream() if piped else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in members:
            with z.open(zipfile.ZipInfo(name) if method == zipfile.ZIP_STORED else deflated(name, method), "w",
                        force_zip64=zip64) as f:
                f.write(data)
    return bytes(out.data) if piped else out.getvalue()


def deflated(name, method):
    info = zipfile.ZipInfo(name)
    info.compress_type = method
    return info


def zipped(method, **more):
    return lambda data: zip_of([("notes.txt", b"put in beside it\n" * 20), (MEMBER, data)], method, **more)


xz = lzma.compress
zst, lz4 = program("zstd", "-q", "-c"), program("lz4", "-q", "-c", "-BD", "-B4")


def tarred(pack):
    return lambda data: pack(tar(data))


# name -> what packs a dump that way, or returns None; the last: does a checksum or another sum tell of every wrong byte?
STREAMS = {
    "gz": (lambda data: gzip.compress(data, 6), True),
    "zst": (zst, True),
    "xz": (xz, True),
    "bz2": (bz2.compress, True),
    "lz4": (lz4, True),
    "lz": (lzip, True),
    "Z": (compress, False),
}
ARCHIVES = {
    "zip": (zipped(zipfile.ZIP_DEFLATED), True),
    "stored.zip": (zipped(zipfile.ZIP_STORED), True),
    "bzip2.zip": (zipped(zipfile.ZIP_BZIP2), True),
    "lzma.zip": (zipped(zipfile.ZIP_LZMA), True),
    "zip64.zip": (zipped(zipfile.ZIP_DEFLATED, zip64=True), True),
    "piped.zip": (zipped(zipfile.ZIP_DEFLATED, piped=True), True),
    "tar": (tar, False),
    "tar.gz": (tarred(lambda data: gzip.compress(data, 6)), True),
    "tar.zst": (tarred(zst), True),
    "tar.xz": (tarred(xz), True),
    "tar.bz2": (tarred(bz2.compress), True),
    "tar.lz4": (tarred(lz4), True),
    "tar.lz": (tarred(lzip), True),
    "tar.Z": (tarred(compress), False),
}
