# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that speak the attach protocols of VMs, for what a real one does not do, or is not here to do.

    fake_vm.py hotspot FOLDER MANNER    with a library named libjvm.so mapped, as a VM has one
    fake_vm.py openj9 FOLDER MANNER     with its attachInfo in /tmp/.com_ibm_tools_attach, or in the folder that
                                        -Dcom.ibm.tools.attach.directory names here or in JAVA_TOOL_OPTIONS

It prints "ready", then each request.  FOLDER is for its own files.  Manners of hotspot: "old" refuses to write over a
file, as before Java 17; "garbage", "endless", "silent" and "closing" answer so; "ignores" does not open its socket.  Of
openj9: "good"; "refuses"; "elsewhere" writes to another file; "mute" never connects.  FAKE_DUMP in the
environment names a file whose bytes it dumps.
"""

import ctypes
import fcntl
import mmap
import os
import re
import signal
import socket
import struct
import sys
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
    def escaped(text):
        return re.sub(r"[\\:=#!]", lambda m: "\\" + m.group(), text).replace("\n", "\\n")
    return "#a comment\n#" + time.ctime() + "\n" + "".join("%s=%s\n" % (k, escaped(v)) for k, v in pairs.items())


def diagnose(command):
    """As DiagnosticUtils does: the properties of an answer."""
    what, *rest = command.split(",")
    if MANNER == "refuses":
        return {"openj9_diagnostics.error": "true", "openj9_diagnostics.errortype": "Error in command",
                "openj9_diagnostics.errormsg": "Error: no dump today"}
    if what in ("Dump.heap", "Dump.java"):
        path = rest[0] if MANNER != "elsewhere" else os.path.join(FOLDER, "other")
        with open(path, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write(DUMP if what == "Dump.heap" else b"0SECTION       TITLE subcomponent dump routine\n")
        return {"openj9_diagnostics.error": "false",
                "openj9_diagnostics.string_result": "Dump written to " + path, "command_string": command}
    return {"openj9_diagnostics.error": "false", "openj9_diagnostics.string_result": "one\ntwo: three=\\four"}


def receive(connection):
    text = b""
    while not text.endswith(b"\0"):
        more = connection.recv(100)
        if not more:
            return None
        text += more
    return text[:-1].decode()


def loopback_up():
    """In a network namespace of its own it is down."""
    with socket.socket() as s:
        try:
            flags = struct.unpack("16sH", fcntl.ioctl(s, 0x8913, struct.pack("16sH14x", b"lo", 0))[:18])[1]
            if not flags & 1:
                fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", flags | 1))
        except OSError:
            pass


def openj9():
    loopback_up()
    libc = ctypes.CDLL(None, use_errno=True)
    named = re.search(r"-Dcom\.ibm\.tools\.attach\.directory=(\S+)",
                      " ".join([*sys.argv, os.environ.get("JAVA_TOOL_OPTIONS", "")]))
    common = named.group(1) if named else "/tmp/.com_ibm_tools_attach"
    own = os.path.join(common, str(PID))
    os.makedirs(own, 0o700)
    with open(os.path.join(own, "attachInfo"), "w", encoding="ascii") as f:
        f.write(properties({"version": "0.1", "userId": str(os.geteuid()), "processId": str(PID), "vmId": str(PID),
                            "displayName": "com.acme.Fake run", "replyFile": os.path.join(own, "replyInfo")}))
    open(os.path.join(own, "attachNotificationSync"), "w").close()
    notifier = os.path.join(common, "_notifier")
    open(notifier, "a").close()
    st = os.stat(notifier)
    key = 0xa1 << 24 | (st.st_dev & 0xff) << 16 | st.st_ino & 0xffff
    semaphore = libc.semget(ctypes.c_int(key - (1 << 32)), 1, 0o1000 | 0o666)
    if semaphore < 0:
        sys.exit("no semaphore: %s" % os.strerror(ctypes.get_errno()))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    say("ready")
    try:
        while True:
            libc.semop(semaphore, struct.pack("hhh", 0, -1, 0), 1)
            reply = os.path.join(own, "replyInfo")
            say("woken", os.path.exists(reply))
            if MANNER == "mute" or not os.path.exists(reply):
                time.sleep(0.3)
                continue
            mode = os.stat(reply)
            with open(reply, encoding="ascii") as f:
                code, port = f.read().split()
            say("reply", oct(mode.st_mode & 0o777), mode.st_uid, len(code))
            connection = socket.create_connection(("127.0.0.1", int(port)))
            connection.sendall(b"ATTACH_CONNECTED " + code.encode() + b" \0")
            while True:
                command = receive(connection)
                say("command", command)
                if command is None or command.startswith("ATTACH_DETACH"):
                    break
                if command.startswith("ATTACH_DIAGNOSTICS:"):
                    connection.sendall(properties(diagnose(command.split(":", 1)[1])).encode() + b"\0")
                else:
                    connection.sendall(("ATTACH_ERR command invalid: " + command).encode() + b"\0")
            connection.close()
    finally:
        libc.semctl(semaphore, 0, 0)
        for name in os.listdir(own):
            os.unlink(os.path.join(own, name))
        os.rmdir(own)


if "FAKE_DUMP" in os.environ:
    with open(os.environ["FAKE_DUMP"], "rb") as file:
        DUMP = file.read()
else:
    DUMP = b"a dump of %d bytes" % 4711 * 1000
if __name__ == "__main__":
    {"hotspot": hotspot, "openj9": openj9}[KIND]()
