"""Locks of the cache. Builds run in parallel unless they need the same lock. Guests take no locks of builds."""

import fcntl
import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from .lab import Lab, LabError, all_but_newest, remove, whole, with_suffix


class Lock:
    """An open lock file. Processes that inherit its descriptor hold the lock too."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def take(self, shared: bool = False, seconds: float | None = None) -> bool:
        """Wait for the lock, for ever if seconds is None. Return whether the lock is held."""
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        end = time.monotonic() + (seconds or 0)
        while True:
            try:
                fcntl.flock(self.fd, kind if seconds is None else kind | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= end:
                    return False
                time.sleep(0.05)

    def wait(self, lab: Lab, text: str) -> None:
        """Take the lock. If it is taken already, print a message and wait."""
        if not self.take(seconds=0):
            lab.note(f"waiting for {text}")
            self.take()

    def release(self) -> None:
        """Close the file. Processes that inherited it keep the lock."""
        os.close(self.fd)


def cache_entry(path: Path, kept: int, wait: bool, make: Callable[[Path], None]) -> Path | None:
    """Return a cached file or folder. If it is missing, let `make` create it, and keep only the newest `kept` entries. Return
    None if `make` raises OSError or, unless wait is set, if another lab is making it."""
    lock = Lock(with_suffix(path, ".lock"))
    try:
        if not path.exists():
            if not lock.take(seconds=None if wait else 0):
                return None
        if not path.exists():
            with whole(path, with_suffix(path, ".part")) as part:
                make(part)
            same = [one for one in path.parent.iterdir() if one.suffix == "" and one.is_dir() == path.is_dir()]
            for old in all_but_newest(kept, same):
                remove(old)
                remove(with_suffix(old, ".lock"))
        os.utime(path)
        return path
    except OSError:
        return None
    finally:
        lock.release()


class Locks:
    """The locks of builds: one per source tree, per object tree, and per kernel with modules. To avoid deadlocks, take the lock
    of an object tree or kernel before that of a source tree, and never two locks of the same kind."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.folder = lab.cache / "locks"
        self.held: list[int] = []  # descriptors, which make inherits
        self.cache: Lock | None = None

    def share_cache(self) -> None:
        """Make the cache's folders. Take a shared lock on the cache, which keeps `lab clean` from removing them."""
        path = self.folder / "cache"
        while not (self.cache and path.exists() and os.path.samestat(os.fstat(self.cache.fd), path.stat())):
            for name in ("src", "obj", "kernels", "logs", "locks"):
                (self.lab.cache / name).mkdir(parents=True, exist_ok=True)
            self.cache = Lock(path)
            self.cache.take(shared=True)

    @contextmanager
    def hold(self, name: str, who: str, shared: bool = False) -> Iterator[Lock]:
        """Hold a lock. If it is taken already, print its holder and wait. Write `who` into the lock file for others."""
        self.share_cache()
        lock = Lock(self.folder / name)
        if not lock.take(shared, 0):
            holder = os.pread(lock.fd, 200, 0).decode(errors="replace")
            self.lab.note(f"waiting for another build in {self.lab.cache} ({name}{', held by ' if holder else ''}{holder})")
            lock.take(shared)
        if not shared:
            os.ftruncate(lock.fd, 0)
            os.write(lock.fd, f"{who} since {time.strftime('%H:%M:%S')}".encode())
        self.held.append(lock.fd)
        try:
            yield lock
        finally:
            self.held.remove(lock.fd)
            lock.release()

    def alone(self) -> Lock:
        """Take the exclusive lock on the cache. Raise LabError while a build is running."""
        lock = Lock(self.folder / "cache")
        if not lock.take(seconds=0):
            raise LabError(f"a build is running in {self.lab.cache}")
        return lock
