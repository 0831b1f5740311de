"""Sources on disk, for those who build of them.

    src/*.kept, obj/*.kept  the sources and an object tree as they were before a patched kernel began to be built in their place

kbuild knows its files by absolute names and by their times. A patched kernel is therefore built where the unpatched ones are,
by copies that have the same times, and then what was there comes back: make compiles what a patch changes, and nothing again
after it.
"""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from ..lab import Lab, LabError, remove, with_suffix
from ..locks import Locks
from .definitions import Kernels
from .sources import tarball


def kept(folder: Path) -> Path:
    return with_suffix(folder, ".kept")


def part(folder: Path) -> Path:
    return with_suffix(folder, ".part")


def stand_in(folder: Path) -> None:
    """Has folder's .part take its place until put_back."""
    folder.rename(kept(folder))
    part(folder).rename(folder)


def put_back(folder: Path) -> None:
    """Ends what stands in for a folder, if anything does."""
    if kept(folder).is_dir():
        remove(folder)
        kept(folder).rename(folder)


def copy_by_links(source: Path, into: Path) -> None:
    subprocess.run(["cp", "-al", source, into], check=True)


class Layout:
    """The source folders of the cache."""

    def __init__(self, lab: Lab, kernels: Kernels, locks: Locks) -> None:
        self.lab = lab
        self.kernels = kernels
        self.locks = locks

    def folder(self, name: str) -> Path:
        return self.lab.cache / "src" / self.kernels.sources(name)

    @contextmanager
    def opened(self, name: str) -> Iterator[Path]:
        """Makes src/SOURCES what a kernel's patches apply to, and keeps its lock, which kernels share that use the sources as
        the package has them."""
        src, own = self.folder(name), self.kernels.own_sources(name)
        with self.locks.hold(f"src-{src.name}", f"kernel {name}", shared=not own) as lock:
            if own:
                self.settle(name, src, self.unpack)
            # Another may have settled them meanwhile, and hold the lock while it builds: one looks again each second.
            while not own and (not src.is_dir() or kept(src).is_dir()):
                if lock.take(seconds=1):
                    self.settle(name, src, self.unpack)
                lock.take(shared=True)
            yield src

    def settle(self, name: str, src: Path, fill: Callable[[str, Path], None]) -> None:
        """Makes src so, by the only one who has it open; what is not a tree of git and is not there yet is made by fill."""
        put_back(src)
        tree = self.kernels.inherited(name, "tree")
        if tree:
            self.kernels.trees.check_out(tree, src)
        elif not src.is_dir():
            remove(part(src))
            fill(name, part(src))
            part(src).rename(src)

    def unpack(self, name: str, into: Path) -> None:
        series = self.kernels.series(name)
        self.lab.note(f"unpacking linux-source-{series}")
        into.mkdir()
        words = ["tar", "-xf", str(tarball(series)), "-C", str(into), "--strip-components=1"]
        if subprocess.run(words, check=False).returncode != 0:
            raise LabError(f"cannot unpack {tarball(series)} into {into.parent} (is the disk full?)")

    def link(self, name: str, into: Path) -> None:
        with self.opened(name) as shared:
            copy_by_links(shared, into)

    def copy(self, name: str, src: Path) -> None:
        """Makes src the same; by whoever holds the lock of the object tree that alone is built of it."""
        self.settle(name, src, self.link)

    def lay_out(self, name: str, src: Path, into: Path) -> None:
        """Puts a kernel's sources with its patches into a folder: links to the files of src that they leave alone."""
        remove(into)
        copy_by_links(src, into)
        for file in self.kernels.patches(name):
            # A repository around the cache is none of its business. git replaces files, it does not write into them.
            env = os.environ | {"GIT_CEILING_DIRECTORIES": str(into.parent)}
            done = subprocess.run(["git", "apply", "--", file], cwd=into, env=env, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                remove(into)
                said = [line[7:] for line in done.stderr.splitlines() if line.startswith("error: ")]
                raise LabError(f"cannot apply {file.name} to {self.kernels.sources_title(name)}: {(said or [''])[0]}")
