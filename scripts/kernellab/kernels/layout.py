"""Source folders of the cache.

kbuild knows its files by absolute names and by their times. A patched kernel is therefore built where the unpatched ones are,
by copies that have the same times. Meanwhile the originals have the suffix .kept. So make compiles only what a patch changes.
"""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

from ..lab import LabError, remove, whole, with_suffix
from .definitions import Kernels
from .sources import tarball


def kept(folder: Path) -> Path:
    return with_suffix(folder, ".kept")


def part(folder: Path) -> Path:
    return with_suffix(folder, ".part")


def stand_in(folder: Path) -> None:
    """Put folder's .part in its place until put_back."""
    folder.rename(kept(folder))
    part(folder).rename(folder)


def put_back(folder: Path) -> None:
    """End what stands in for a folder, if anything does."""
    if kept(folder).is_dir():
        remove(folder)
        kept(folder).rename(folder)


@contextmanager
def opened(kernels: Kernels, name: str) -> Iterator[Path]:
    """Make src/SOURCES what a kernel's patches apply to, and hold its lock. Kernels of unchanged sources share it."""
    src, own = kernels.lab.cache / "src" / kernels.sources(name), kernels.own_sources(name)
    with kernels.locks.hold(f"src-{src.name}", f"kernel {name}", shared=not own) as lock:
        if own:
            settle(kernels, name, src, unpack)
        # A build of another kernel may hold the lock as long as it takes; look again each second.
        while not own and (not src.is_dir() or kept(src).is_dir()):
            if lock.take(seconds=1):
                settle(kernels, name, src, unpack)
            lock.take(shared=True)
        yield src


def settle(kernels: Kernels, name: str, src: Path, fill: Callable[[Kernels, str, Path], None]) -> None:
    """Make src the unpatched sources, by the holder of its lock: check out a tree of git; else call fill, if it is new."""
    put_back(src)
    tree = kernels.inherited(name, "tree")
    if tree:
        kernels.trees.check_out(tree, src)
    elif not src.is_dir():
        with whole(src, part(src)) as new:
            fill(kernels, name, new)


def unpack(kernels: Kernels, name: str, into: Path) -> None:
    series = kernels.series(name)
    kernels.lab.note(f"unpacking linux-source-{series}")
    into.mkdir()
    words = ["tar", "-xf", str(tarball(series)), "-C", str(into), "--strip-components=1"]
    if subprocess.run(words, check=False).returncode != 0:
        raise LabError(f"cannot unpack {tarball(series)} into {into.parent} (is the disk full?)")


def link(kernels: Kernels, name: str, into: Path) -> None:
    with opened(kernels, name) as shared:
        subprocess.run(["cp", "-al", shared, into], check=True)


@contextmanager
def opened_for(kernels: Kernels, name: str, objects: str) -> Iterator[Path]:
    """Do the same for an object tree, by the holder of its lock. Trees other than main have sources of their own."""
    if objects.endswith("-main"):
        with opened(kernels, name) as src:
            yield src
    else:
        src = kernels.lab.cache / "src" / objects
        settle(kernels, name, src, link)
        yield src


def lay_out(kernels: Kernels, name: str, src: Path, into: Path) -> None:
    """Put a kernel's sources with its patches into a folder: links to the files of src that they leave alone."""
    remove(into)
    subprocess.run(["cp", "-al", src, into], check=True)
    for file in kernels.patches(name):
        # git must not look for a repository around the cache. It replaces files and does not write into them.
        env = os.environ | {"GIT_CEILING_DIRECTORIES": str(into.parent)}
        done = subprocess.run(["git", "apply", "--", file], cwd=into, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            remove(into)
            said = [line[7:] for line in done.stderr.splitlines() if line.startswith("error: ")]
            raise LabError(f"cannot apply {file.name} to {kernels.sources_title(name)}: {(said or [''])[0]}")
