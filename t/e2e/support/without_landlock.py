#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""without_landlock.py PROGRAM ARGUMENT...: becomes PROGRAM where the kernel seems to lack Landlock: a filter of system
calls answers ENOSYS."""
import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LANDLOCK_CREATE_RULESET = 444  # the same on all architectures
LOAD_NUMBER, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW, ENOSYS = 0x00050000, 0x7fff0000, 38


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def main():
    lines = [(LOAD_NUMBER, 0, 0, 0), (JUMP_EQUAL, 0, 1, LANDLOCK_CREATE_RULESET),
             (RETURN, 0, 0, SECCOMP_RET_ERRNO | ENOSYS), (RETURN, 0, 0, SECCOMP_RET_ALLOW)]
    octets = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = Program(len(lines), ctypes.cast(octets, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)):
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
