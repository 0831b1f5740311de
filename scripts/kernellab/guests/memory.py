"""Files of the host in a guest's memory, so that what the lab needs to reach them is not taken for the command's cost.

    files/KEY   the files and folders that a command opens, found by a boot of its own, which keeps nothing of what the command
                does; KEY is a hash of the command and the current directory. The last 100 are kept

Before the command begins the guest has copies of these files in a layer of its own, on top of the host's /, and has looked up
what else is in these folders. Files that are looked up but not opened stay the host's, with inode numbers and times as git
knows them. What lies in the current directory, which is writable, is read ahead instead.
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, Callable, Sequence

from ..lab import Lab, counted, with_suffix
from ..locks import Lock

KEPT = 100
LIST_SECONDS = 60  # that a boot runs which finds what a command opens
BYTES_MOST = 256 << 20  # of a guest's 2 GB
COPY_BYTES = 1 << 20


def list_file(lab: Lab, cwd: str, command: Sequence[str]) -> Path:
    """Returns the file that lists what a command opens."""
    key = hashlib.sha256("\0".join([cwd, *command]).encode(errors="surrogateescape")).hexdigest()[:16]
    return lab.cache / "files" / key


def listed(lab: Lab, cwd: str, command: Sequence[str], find: Callable[[], bytes]) -> list[str]:
    """Returns the files and folders that a command opens, in order; `find` boots a guest to find out, once for each command."""
    file = list_file(lab, cwd, command)
    lock = Lock(with_suffix(file, ".lock"))
    try:
        if not file.is_file():
            lock.take()
        if not file.is_file():
            found = find()
            # Of a guest that panicked there is no list.
            if not found:
                return []
            new = with_suffix(file, ".part")
            new.write_bytes(found)
            new.rename(file)
            prune(file.parent)
        os.utime(file)
        return [os.fsdecode(path) for path in file.read_bytes().split(b"\0") if path]
    except FileNotFoundError:  # another has just removed the oldest
        return []
    finally:
        lock.release()


def prune(folder: Path) -> None:
    lists = [one for one in folder.iterdir() if one.suffix not in (".lock", ".part")]
    for old in sorted(lists, key=lambda one: -one.stat().st_mtime)[KEPT:]:
        old.unlink(missing_ok=True)
        with_suffix(old, ".lock").unlink(missing_ok=True)


class Pack:
    """A file with what a guest copies into its memory: for each entry its mode, owner, group, time in ns, size and path,
    ended by a zero byte, and its content. `into_memory` is whether it is copied, or looked up and read only."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.folders: set[str] = set()
        self.room = BYTES_MOST
        self.left_out = 0

    def header(self, path: str, found: os.stat_result, size: int, into_memory: bool) -> None:
        fields = (found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, size, int(into_memory))
        self.file.write(" ".join(map(str, fields)).encode() + b" " + os.fsencode(path) + b"\0")

    def folder(self, path: str) -> None:
        """Adds a folder and those above it."""
        if path not in self.folders and path != "/":
            self.folder(os.path.dirname(path))
            self.folders.add(path)
            self.header(path, os.stat(path), 0, True)

    def add(self, path: str, into_memory: bool) -> None:
        """Adds what the command opens, unless it has gone."""
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
    """Writes a pack of these files and folders. Returns what is to be said of files that have no room."""
    pack = Pack(file)
    for path in dict.fromkeys(paths):
        pack.add(path, into_memory=not (path + "/").startswith(cwd + "/"))
    if not pack.left_out:
        return ""
    stay = f"{counted(pack.left_out, 'file')} of the command stay on the host"
    return f"{stay}: more than {BYTES_MOST >> 20} MB; reading them, and the interrupts of that, are in its cost"
