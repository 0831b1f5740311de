"""Files of the host in a guest's memory, so that the lab's transport is not part of the command's cost.

Another boot finds the files and folders that a command opens, and keeps nothing of what the command does. Before the command
begins, the guest copies these files to a layer on top of /, looks up what is in these folders, and reads ahead files in the
current directory, which is writable. Files that are only looked up stay the host's, as git compares inode numbers and times.
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, Callable, Sequence

from ..lab import Lab, counted
from ..locks import cache_entry

KEPT = 100
LIST_SECONDS = 60  # that a boot runs which finds what a command opens
BYTES_MOST = 256 << 20  # of a guest's 2 GB
COPY_BYTES = 1 << 20


def listed(lab: Lab, cwd: str, command: Sequence[str], find: Callable[[], bytes]) -> list[str]:
    """Return the files and folders that a command opens, in order; `find` boots a guest to find out, once per command."""

    def make(file: Path) -> None:
        found = find()
        if not found:
            raise OSError("the guest panicked")
        file.write_bytes(found)

    key = hashlib.sha256("\0".join([cwd, *command]).encode(errors="surrogateescape")).hexdigest()[:16]
    file = cache_entry(lab.cache / "files" / key, KEPT, True, make)
    return [os.fsdecode(path) for path in file.read_bytes().split(b"\0") if path] if file else []


class Pack:
    """A file with what a guest copies into its memory. An entry has mode, owner, group, time in ns, size, whether it is copied
    (or looked up and read only), and path, ended by a zero byte; then the content."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.folders: set[str] = set()
        self.room = BYTES_MOST
        self.left_out = 0

    def header(self, path: str, found: os.stat_result, size: int, into_memory: bool) -> None:
        fields = (found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, size, int(into_memory))
        self.file.write(" ".join(map(str, fields)).encode() + b" " + os.fsencode(path) + b"\0")

    def folder(self, path: str) -> None:
        """Add a folder and those above it."""
        if path not in self.folders and path != "/":
            self.folder(os.path.dirname(path))
            self.folders.add(path)
            self.header(path, os.stat(path), 0, True)

    def add(self, path: str, into_memory: bool) -> None:
        """Add what the command opens, unless it has gone."""
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
    """Write a pack of these files and folders. Return a note about files that have no room."""
    pack = Pack(file)
    for path in dict.fromkeys(paths):
        pack.add(path, into_memory=not (path + "/").startswith(cwd + "/"))
    if not pack.left_out:
        return ""
    stay = f"{counted(pack.left_out, 'file')} of the command stay on the host"
    return f"{stay}: more than {BYTES_MOST >> 20} MB; reading them, and the interrupts of that, are in its cost"
