"""Copies of the host's files in a guest's memory, so that reading from the host is not part of the command's cost.

A separate boot lists the files and folders that the command opens, and discards what the command writes. Before it measures,
the guest copies these files to a layer on top of /, and looks up all names in these folders. Files in the current directory,
which is writable, are only read ahead. A file is not copied if the command only looks up its name: git compares inode numbers
and times.
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, Callable, Sequence

from ..lab import Lab, counted
from ..locks import cache_entry

KEPT = 100
LIST_SECONDS = 60  # timeout of the boot that lists files
BYTES_MOST = 256 << 20  # maximum size of the copied files; a guest has 2 GB
COPY_BYTES = 1 << 20


def listed(lab: Lab, cwd: str, command: Sequence[str], find: Callable[[], bytes]) -> list[str]:
    """Return the files and folders that a command opens, in order. `find` boots a guest that lists them, once per command."""

    def make(file: Path) -> None:
        found = find()
        if not found:
            raise OSError("the guest panicked")
        file.write_bytes(found)

    key = hashlib.sha256("\0".join([cwd, *command]).encode(errors="surrogateescape")).hexdigest()[:16]
    file = cache_entry(lab.cache / "files" / key, KEPT, True, make)
    return [os.fsdecode(path) for path in file.read_bytes().split(b"\0") if path] if file else []


class Pack:
    """The file "files" for fill_memory in guest-init. An entry is a header, a zero byte, and the content. The header has mode,
    owner, group, time in ns, size, a flag and the path. The flag is 1 if the file is copied, or 0 if it is only looked up or
    read ahead."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.folders: set[str] = set()
        self.room = BYTES_MOST
        self.left_out = 0

    def header(self, path: str, found: os.stat_result, size: int, into_memory: bool) -> None:
        fields = (found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, size, int(into_memory))
        self.file.write(" ".join(map(str, fields)).encode() + b" " + os.fsencode(path) + b"\0")

    def folder(self, path: str) -> None:
        """Add a folder and its parents."""
        if path not in self.folders and path != "/":
            self.folder(os.path.dirname(path))
            self.folders.add(path)
            self.header(path, os.stat(path), 0, True)

    def add(self, path: str, into_memory: bool) -> None:
        """Add a file or folder. Ignore a file that cannot be read."""
        try:
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and into_memory:
                self.content(path)
            elif stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
                self.header(path, found, 0, False)
        except OSError:
            pass

    def content(self, path: str) -> None:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_size > self.room:
                self.left_out += 1
                return
            self.room -= found.st_size
            self.folder(os.path.dirname(path))
            self.header(path, found, found.st_size, True)
            left = found.st_size
            while left:
                data = file.read(min(left, COPY_BYTES)) or b"\0" * min(left, COPY_BYTES)
                self.file.write(data)
                left -= len(data)


def write(paths: Sequence[str], cwd: str, file: BinaryIO) -> str:
    """Write a Pack of these files and folders. Return a message about files that do not fit into BYTES_MOST, or ""."""
    pack = Pack(file)
    for path in dict.fromkeys(paths):
        pack.add(path, into_memory=not (path + "/").startswith(cwd + "/"))
    if not pack.left_out:
        return ""
    stay = f"{counted(pack.left_out, 'file')} of the command stay on the host"
    return f"{stay}: more than {BYTES_MOST >> 20} MB; reading them, and the interrupts of that, are in its cost"
