"""Locks in the cache: what does not share one goes side by side. A guest takes none."""

import fcntl
import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from .lab import Lab, LabError


class Lock:
    """An open lock file. Whoever inherits its descriptor has the lock, too."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def take(self, shared: bool = False, seconds: float | None = None) -> bool:
        """Waits for the lock, for so many seconds at most. Returns whether it has it."""
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        if seconds is None:
            fcntl.flock(self.fd, kind)
            return True
        end = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self.fd, kind | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= end:
                    return False
                time.sleep(0.05)

    def is_at(self, path: Path) -> bool:
        """Returns whether path is this lock's file still."""
        return path.exists() and os.path.samestat(os.fstat(self.fd), path.stat())

    def sign(self, text: str) -> None:
        """Says for those who wait who has it."""
        os.ftruncate(self.fd, 0)
        os.write(self.fd, text.encode())

    def signature(self) -> str:
        return os.pread(self.fd, 200, 0).decode(errors="replace")

    def release(self) -> None:
        """Gives the lock back; whoever inherited it keeps it."""
        os.close(self.fd)


class Locks:
    """The locks of builds: one for each source and object tree, and for each kernel that modules are built for. Who holds one
    of an object tree or of a kernel may take that of a source, nobody two of one kind: no circle."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.held: list[Lock] = []
        self.cache: Lock | None = None

    def folder(self) -> Path:
        return self.lab.cache / "locks"

    def fds(self) -> list[int]:
        """Returns the descriptors of all that are held, for a process that is to have them, too."""
        return [lock.fd for lock in self.held]

    def share_cache(self) -> None:
        """Takes the lock that `clean` alone wants for itself, and removes, and makes the folders."""
        path = self.folder() / "cache"
        while not (self.cache and self.cache.is_at(path)):
            for name in ("src", "obj", "kernels", "logs", "locks"):
                (self.lab.cache / name).mkdir(parents=True, exist_ok=True)
            self.cache = Lock(path)
            self.cache.take(shared=True)

    @contextmanager
    def hold(self, name: str, who: str, shared: bool = False) -> Iterator[Lock]:
        """Waits for the lock of that name, with a line that says for whom. who is what others are told."""
        self.share_cache()
        lock = Lock(self.folder() / name)
        if not lock.take(shared, 0):
            holder = lock.signature()
            self.lab.note(f"waiting for another build in {self.lab.cache} ({name}{', held by ' if holder else ''}{holder})")
            lock.take(shared)
        if not shared:
            lock.sign(f"{who} since {time.strftime('%H:%M:%S')}")
        self.held.append(lock)
        try:
            yield lock
        finally:
            self.held.remove(lock)
            lock.release()

    def alone(self) -> Lock:
        """Takes the whole cache; raises LabError while a build is running."""
        lock = Lock(self.folder() / "cache")
        if not lock.take(seconds=0):
            raise LabError(f"a build is running in {self.lab.cache}")
        return lock
