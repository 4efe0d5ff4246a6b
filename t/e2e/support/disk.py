# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""File systems of their own in a file, whose power can be cut. Needs root and loop devices.

ShutdownDisk: the file system itself stops, as XFS_IOC_GOINGDOWN does it (ext4 and xfs): what is not on the disk stays
in memory and is lost. SwitchDisk: any file system on t/tools/cutdisk, a disk with a volatile cache; of what was not
flushed a part survives. It can also record every write and flush."""
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
from pathlib import Path

from support.instance import tool, wait_until

# Octets of the image, and how it is made. Small journals wrap around often.
MAKE = {
    "ext4": (96 << 20, ["mkfs.ext4", "-q", "-m", "0", "-J", "size=4", "-E", "lazy_itable_init=0,lazy_journal_init=0"]),
    "xfs": (300 << 20, ["mkfs.xfs", "-q"]),
    "btrfs": (300 << 20, ["mkfs.btrfs", "-q"]),
}
PACKAGES = {"mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs", "xfs_io": "xfsprogs", "mkfs.btrfs": "btrfs-progs",
            "fusermount3": "fuse3"}


def _run(*words, check=True):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert not check or done.returncode == 0, f"{' '.join(map(str, words))}: {done.stdout}"
    return done


def _can_mount(place, kind):
    """Why a file system of this kind cannot be mounted from a file here, or None."""
    image, mount = Path(place) / f"try-{kind}", Path(place) / "try"
    mount.mkdir(exist_ok=True)
    make_image(image, kind)
    done = _run("mount", "-o", "loop", image, mount, check=False)
    if done.returncode == 0:
        _run("umount", mount)
    image.unlink()
    return None if done.returncode == 0 else f"no {kind} can be mounted from a file: {done.stdout.strip()}"


def cannot_freeze(place):
    """Why no file system can be frozen here, or None."""
    if os.getuid() != 0 or not shutil.which("fsfreeze"):
        return "only root can freeze file systems, by fsfreeze (package util-linux)"
    return _can_mount(place, "ext4")


def missing(kind, place, switch=False):
    """Return what keeps us from cutting the power of such a file system here, in words, or None. place: a directory."""
    if os.getuid() != 0:
        return "only root can mount file systems"
    programs = [MAKE[kind][1][0], "fusermount3" if switch else "xfs_io"]
    for program in programs:
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            return f"{program} is missing (package {PACKAGES[program]})"
    if switch and not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    if switch and not tool("cutdisk").exists():
        return "t/tools/cutdisk was not built (package libfuse3-dev)"
    return _can_mount(place, kind)


def make_image(path, kind):
    octets, command = MAKE[kind]
    with open(path, "wb") as file:
        file.truncate(octets)
    _run(*command, path)


class _Disk:
    """place: an empty directory for the image. image: an image to begin with; else a new file system is made."""

    def __init__(self, kind, place, image=None):
        self.kind, self.place = kind, Path(place)
        self.image, self.mount_point = self.place / "image", self.place / "mnt"
        self.mount_point.mkdir()
        self.mounted = False
        if image is None:
            make_image(self.image, kind)
        else:
            copy_sparse(image, self.image)

    def unmount(self):
        if self.mounted:
            wait_until(lambda: _run("umount", self.mount_point, check=False).returncode == 0, 20,
                       lambda: f"{self.mount_point} to be idle: {_run('fuser', '-mv', self.mount_point, check=False)}")
            self.mounted = False

    def save(self, path):
        """A copy of the image as it is now."""
        copy_sparse(self.image, path)


def copy_sparse(source, target):
    _run("cp", "--sparse=always", source, target)


class ShutdownDisk(_Disk):
    def mount(self, options="noatime"):
        _run("mount", "-t", self.kind, "-o", f"loop,{options}", self.image, self.mount_point)
        self.mounted = True
        return self

    def cut(self, chance):
        """Stops the file system in mid-flight; every call fails from now on. What the journal has in memory
        is lost, or, one time in four, still written: a cut a moment later."""
        how = "shutdown -f" if chance.random() < 0.25 else "shutdown"
        _run("xfs_io", "-x", "-c", how, self.mount_point)
        return how

    @contextlib.contextmanager
    def frozen(self):
        """Every call that would change something waits."""
        _run("fsfreeze", "--freeze", self.mount_point)
        try:
            yield
        finally:
            _run("fsfreeze", "--unfreeze", self.mount_point)

    def close(self):
        self.unmount()


class SwitchDisk(_Disk):
    def __init__(self, kind, place, image=None, record=None):
        super().__init__(kind, place, image)
        self.files = self.place / "fuse"
        self.files.mkdir()
        self.loop = None
        self.log = open(self.place / "cutdisk.log", "ab")
        self.process = subprocess.Popen([tool("cutdisk"), self.image, self.files, *([record] if record else [])],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_until((self.files / "disk").exists, 10, "cutdisk to show its disk")

    def _control(self, words):
        descriptor = os.open(self.files / "control", os.O_WRONLY)
        try:
            os.write(descriptor, words.encode())
        finally:
            os.close(descriptor)

    def mount(self, options="noatime"):
        self._control("on")
        self.loop = _run("losetup", "--find", "--show", self.files / "disk").stdout.strip()
        _run("mount", "-t", self.kind, "-o", options, self.loop, self.mount_point)
        self.mounted = True
        return self

    def cut(self, chance):
        seed = chance.randrange(1 << 32)
        self._control(f"cut {seed}")
        return f"cut {seed}"

    def unmount(self):
        super().unmount()
        if self.loop:
            _run("losetup", "-d", self.loop)
            self.loop = None

    def close(self):
        self.unmount()
        _run("fusermount3", "-u", self.files, check=False)
        self.process.wait(60)
        self.log.close()


@contextlib.contextmanager
def leased(file):
    """The file cannot be opened now, also not by root."""
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    descriptor = os.open(file, os.O_RDWR)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield
    finally:
        os.close(descriptor)
        signal.signal(signal.SIGIO, before)
