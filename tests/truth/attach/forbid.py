# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a program whose calls of some kinds fail with EPERM, as the filter of a container has it (seccomp):

    forbid.py ptrace|process_vm_readv PROGRAM [ARGUMENT]...
"""

import ctypes
import os
import struct
import sys

NUMBERS = {"x86_64": {"ptrace": 101, "process_vm_readv": 310}, "aarch64": {"ptrace": 117, "process_vm_readv": 270}}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO, EPERM = 0x7fff0000, 0x00050000, 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2


def forbid(number):
    steps = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | EPERM), (RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.c_void_p(ctypes.addressof(program)), 0, 0):
        sys.exit("no filter: " + os.strerror(ctypes.get_errno()))


forbid(NUMBERS[os.uname().machine][sys.argv[1]])
os.execv(sys.argv[2], sys.argv[2:])
