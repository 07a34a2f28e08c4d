# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that speak the attach protocols of VMs, for what a real one does not do, or is not here to do.

    fake_vm.py hotspot FOLDER MANNER    with a library named libjvm.so mapped, as a VM has one
    fake_vm.py openj9 FOLDER MANNER     with its attachInfo in /tmp/.com_ibm_tools_attach, or in the folder that
                                        -Dcom.ibm.tools.attach.directory names here or in JAVA_TOOL_OPTIONS

It prints "ready", then each request.  FOLDER is for its own files.  Manners of hotspot: "old" refuses to write over a
file, as before Java 17; "garbage", "endless", "silent" and "closing" answer so; "ignores" does not open its socket.  Of
openj9: "good"; "six" connects by IPv6; "named" has a folder that its user named; "refuses"; "old" has no diagnostic
commands; "elsewhere" writes to another file, "piped" no core; "pieces" and "huge" answer so; "ends" when it is asked;
"mute" never connects, "wrong" with another key, and "stranger" first so.  FAKE_DUMP in the environment names a
file whose bytes it dumps.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import re
import signal
import socket
import struct
import sys
import threading
import time

KIND, FOLDER, MANNER = sys.argv[1:4]
PID = os.getpid()


def say(*words):
    print(*words, flush=True)


# --- HotSpot: hotspot/os/posix/attachListener_posix.cpp ------------------------------------------------------------

def serve(listener):
    connection, _ = listener.accept()
    request = b""
    while request.count(b"\0") < 5:
        more = connection.recv(4096)
        if not more:
            return
        request += more
    version, command, *arguments = [part.decode() for part in request.split(b"\0")[:5]]
    say("request", version, command, arguments)
    if MANNER == "garbage":
        connection.sendall(os.urandom(5000))
    elif MANNER == "endless":
        try:
            connection.sendall(b"0\n")
            while True:
                connection.sendall(b"x" * 65536)
        except OSError:
            pass
    elif MANNER == "silent":
        time.sleep(3600)
    elif MANNER == "old" and command == "jcmd":
        words = arguments[0].split()
        if "-overwrite" in words:
            connection.sendall(b"1\njava.lang.IllegalArgumentException: Unknown argument '-overwrite' in diagnostic command.\n")
        else:
            with open(words[-1], "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
                f.write(DUMP)
            connection.sendall(b"0\nHeap dump file created\n")
    elif MANNER != "closing":
        connection.sendall(b"0\nhello\n")
    connection.close()


def hotspot():
    library = os.path.join(FOLDER, "lib", "server", "libjvm.so")
    os.makedirs(os.path.dirname(library))
    with open(library, "wb") as f:
        f.write(b"\0" * 4096)
    with open(library, "rb") as f:
        mapped = mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ)
    path, trigger = "/tmp/.java_pid%d" % PID, "/tmp/.attach_pid%d" % PID
    listeners = []

    def asked(*_):
        say("SIGQUIT", os.path.exists(trigger))
        if MANNER != "ignores" and os.path.exists(trigger):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path + ".tmp")
            listener.listen(5)
            os.rename(path + ".tmp", path)
            listeners.append(listener)

    signal.signal(signal.SIGQUIT, asked)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    say("ready")
    try:
        while True:
            if listeners:
                serve(listeners[0])
            else:
                time.sleep(0.02)
    finally:
        if listeners:
            os.unlink(path)
        del mapped


# --- OpenJ9: jcl, openj9.internal.tools.attach.target ---------------------------------------------------------------

def properties(pairs):
    """As java.util.Properties.store writes them."""
    def escaped(text):
        text = "".join("\\" + {"\t": "t", "\n": "n", "\f": "f", "\r": "r"}.get(c, c) if c in "\\\t\n\f\r=:#!" else c
                       if " " <= c <= "~" else "".join("\\u%04X" % unit for unit in struct.unpack(
                           "<%dH" % (len(c.encode("utf-16-le")) // 2), c.encode("utf-16-le"))) for c in text)
        return "\\" + text if text.startswith(" ") else text
    return "#\n#" + time.ctime() + "\n" + "".join("%s=%s\n" % (k, escaped(v)) for k, v in pairs.items())


def write_dump(what, path):
    """At the path that was asked for, or at another one if there is a file."""
    while os.path.exists(path):
        path += ".0001"
    with open(path, "xb", opener=lambda path, flags: os.open(path, flags, 0o660)) as f:
        if what == "Dump.system":  # with a hole, as the kernel writes one
            f.write(b"\x7fELF")
            f.truncate(CORE_BYTES)
        else:
            f.write(DUMP if what == "Dump.heap" else b"0SECTION       TITLE subcomponent dump routine\n")
    return path


def diagnose(command):
    """As DiagnosticUtils does: the properties of an answer."""
    what, *rest = command.split(",")
    result = {"openj9_diagnostics.error": "false", "openj9_diagnostics.errortype": "Error in command"}
    if MANNER == "refuses":
        return {**result, "openj9_diagnostics.error": "true", "openj9_diagnostics.errormsg": "Error: no dump today"}
    if what in ("Dump.heap", "Dump.java", "Dump.system") and len(rest) == 1:
        wrote = write_dump(what, rest[0] if MANNER != "elsewhere" else os.path.join(FOLDER, "other"))
        if MANNER == "piped" and what == "Dump.system":
            os.unlink(wrote)
            wrote = "The core file created by child process with pid = 17 was not found. Expected to find core file with " \
                "name \"%s\"" % os.path.join(os.path.dirname(wrote), "core")
        return {**result, "openj9_diagnostics.string_result": "Dump written to " + wrote, "command_string": command}
    if what == "Thread.print" and not rest:
        text = "one\ntwo: three=\\four\t!#\rfive\fs\xe9chs" + (" %d" % 7) * (1000000 if MANNER == "huge" else 1)
        return {"command_string": command, **result, "openj9_diagnostics.string_result": text}
    return {**result, "openj9_diagnostics.error": "true",
            "openj9_diagnostics.errormsg": "Command %s not recognized" % command}


def send(connection, text):
    if MANNER == "pieces":
        for i in range(0, len(text), 7):
            connection.sendall(text[i:i + 7])
            time.sleep(0.002)
    else:
        connection.sendall(text)
    connection.sendall(b"\0")


def receive(connection):
    """Read until the last byte that came is a NUL; None: the connection was closed."""
    text = b""
    while not text.endswith(b"\0"):
        more = connection.recv(100)
        if not more:
            return None
        text += more
    return text[:-1].decode()


def attach(code, port):
    """A thread of the VM's: connect, and do what comes."""
    if MANNER in ("stranger", "wrong"):
        with socket.create_connection((LOOPBACK, port)) as stranger:
            stranger.sendall(b"ATTACH_CONNECTED 0123456789abcdef \0")
            say("stranger", stranger.recv(1))
    if MANNER == "wrong":
        return
    connection = socket.create_connection((LOOPBACK, port))
    connection.sendall(("ATTACH_CONNECTED %s " % code).encode())
    connection.sendall(b"\0")
    while True:
        command = receive(connection)
        say("command", command)
        if command is None or command.startswith("ATTACH_DETACH"):
            break
        if MANNER == "ends":
            os._exit(1)
        if MANNER != "old" and command.startswith("ATTACH_DIAGNOSTICS:"):
            send(connection, properties(diagnose(command.split(":", 1)[1])).encode("latin-1"))
        else:
            send(connection, ("ATTACH_ERR command invalid: " + command).encode())
    try:
        send(connection, b"ATTACH_DETACHED")
    except OSError:
        pass
    connection.close()


def check_own(path):
    """IPC.checkOwnerAccessOnly: a reply that others can read or write is not looked at."""
    st = os.lstat(path)
    if st.st_mode & 0o066 or (os.geteuid() and st.st_uid != os.geteuid()):
        raise OSError("%s has mode %o, owner %d" % (path, st.st_mode, st.st_uid))


def woken(own, sync):
    """After a post: WaitLoop.checkReplyAndCreateAttachment."""
    reply = os.path.join(own, "replyInfo")
    check_own(own)
    if MANNER != "mute" and os.path.exists(reply):
        check_own(reply)
        with open(reply, encoding="ascii") as f:
            code, port, *rest = f.read().split("\n")
        say("reply", oct(os.stat(reply).st_mode & 0o777), os.stat(reply).st_uid, len(code), rest)
        threading.Thread(target=attach, args=(code, int(port)), daemon=True).start()
    else:
        say("no reply")
    with open(sync, "r+b") as f:  # as long as the other side has it, so that no post is taken twice
        try:
            fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
            say("not locked")
        except BlockingIOError:
            fcntl.lockf(f, fcntl.LOCK_EX, 1)
            say("was locked")
    time.sleep(0.3)


def loopback_up():
    """In a network namespace of its own it is down."""
    with socket.socket() as s:
        try:
            flags = struct.unpack("16sH", fcntl.ioctl(s, 0x8913, struct.pack("16sH14x", b"lo", 0))[:18])[1]
            if not flags & 1:
                fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", flags | 1))
        except OSError:
            pass


def make(path, mode, text=""):
    """A file whose mode no umask changes; what is there already stays as it is."""
    with open(path, "a", encoding="ascii") as f:
        if os.fstat(f.fileno()).st_uid == os.geteuid():
            os.fchmod(f.fileno(), mode)
        f.write(text)


def openj9():
    loopback_up()
    libc = ctypes.CDLL(None, use_errno=True)
    named = re.search(r"-Dcom\.ibm\.tools\.attach\.directory=(\S+)",
                      " ".join([*sys.argv, os.environ.get("JAVA_TOOL_OPTIONS", "")]))
    common = named.group(1) if named else "/tmp/.com_ibm_tools_attach"
    own = os.path.join(common, "named_by_user" if MANNER == "named" else str(PID))
    if not os.path.isdir(common):
        os.mkdir(common)
        os.chmod(common, 0o1777)
    os.mkdir(own)
    os.chmod(own, 0o1711)
    sync, notifier = os.path.join(own, "attachNotificationSync"), os.path.join(common, "_notifier")
    make(sync, 0o666)
    make(notifier, 0o666)
    make(os.path.join(common, "_controller"), 0o666)
    make(os.path.join(own, "attachInfo"), 0o600, "".join("%s=%s\n" % pair for pair in (
        ("version", "0.1"), ("userId", "nobody"), ("userUid", os.geteuid()), ("processId", PID),
        ("vmId", os.path.basename(own)), ("displayName", "com.acme.Fake\\ run"), ("notifier", "_notifier"),
        ("globalSemaphore", "true"), ("replyFile", os.path.join(own, "replyInfo")), ("attachNotificationSync", sync))))
    st = os.stat(notifier)
    key = 0xa1 << 24 | (st.st_dev & 0xff) << 16 | st.st_ino & 0xffff
    semaphore = libc.semget(ctypes.c_int(key - (1 << 32)), 1, 0o1000 | 0o666)
    if semaphore < 0:
        sys.exit("no semaphore: %s" % os.strerror(ctypes.get_errno()))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    say("ready")
    try:
        while True:
            if libc.semop(semaphore, struct.pack("hhh", 0, -1, 0), 1) == 0:
                say("woken")
                try:
                    woken(own, sync)
                except OSError as e:
                    say("exception", e)
            elif ctypes.get_errno() != errno.EINTR:  # EIDRM: another one that ended removed it
                semaphore = libc.semget(ctypes.c_int(key - (1 << 32)), 1, 0o1000 | 0o666)
    finally:
        for name in os.listdir(own):
            os.unlink(os.path.join(own, name))
        os.rmdir(own)
        if not any(name.isdigit() for name in os.listdir(common)):
            libc.semctl(semaphore, 0, 0)


CORE_BYTES = 3 << 20
LOOPBACK = "::1" if MANNER == "six" else "127.0.0.1"
if "FAKE_DUMP" in os.environ:
    with open(os.environ["FAKE_DUMP"], "rb") as file:
        DUMP = file.read()
else:
    DUMP = b"a dump of %d bytes" % 4711 * 1000
if __name__ == "__main__":
    {"hotspot": hotspot, "openj9": openj9}[KIND]()
