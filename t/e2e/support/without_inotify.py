#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""without_inotify.py PROGRAM ARGUMENT...: becomes PROGRAM where the kernel refuses inotify: in a user namespace with
all the users of this one, of which none may have an instance. Needs root."""
import ctypes
import os
import sys

CLONE_NEWUSER = 0x10000000


def map_users(process):
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{process}/{name}", "w", encoding="ascii") as file:
            file.write("0 0 4294967295")


def main():
    process = os.getpid()
    unshared, mapped = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(unshared[1])
        if not os.read(unshared[0], 1):
            os._exit(1)  # refused: in a chroot, say
        map_users(process)
        os.write(mapped[1], b"x")
        os._exit(0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        sys.exit(f"unshare: {os.strerror(ctypes.get_errno())}")
    os.write(unshared[1], b"x")
    os.read(mapped[0], 1)
    os.wait()
    with open("/proc/sys/user/max_inotify_instances", "w", encoding="ascii") as file:
        file.write("0")
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
