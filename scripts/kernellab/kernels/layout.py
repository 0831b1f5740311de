"""Source folders of the cache.

kbuild compares absolute names and times of files. So a patched kernel is built in copies of the unpatched sources and object
tree, which have the same paths and times: make then compiles only files that a patch changes. Meanwhile the originals have the
suffix .kept.
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
    """Replace a folder by its copy with the suffix .part, until put_back()."""
    folder.rename(kept(folder))
    part(folder).rename(folder)


def put_back(folder: Path) -> None:
    """Undo stand_in() of a folder if it was replaced."""
    if kept(folder).is_dir():
        remove(folder)
        kept(folder).rename(folder)


@contextmanager
def opened(kernels: Kernels, name: str) -> Iterator[Path]:
    """Yield src/SOURCES, the kernel's sources without its patches, while holding their lock. Kernels that use these sources
    unchanged share the lock."""
    src, own = kernels.lab.cache / "src" / kernels.sources(name), kernels.own_sources(name)
    with kernels.locks.hold(f"src-{src.name}", f"kernel {name}", shared=not own) as lock:
        if own:
            settle(kernels, name, src, unpack)
        # Unpacking needs the exclusive lock. Try for a second at a time, since another lab may unpack the sources meanwhile.
        while not own and (not src.is_dir() or kept(src).is_dir()):
            if lock.take(seconds=1):
                settle(kernels, name, src, unpack)
            lock.take(shared=True)
        yield src


def settle(kernels: Kernels, name: str, src: Path, fill: Callable[[Kernels, str, Path], None]) -> None:
    """Make the folder src contain the unpatched sources. The caller holds its lock. If the kernel has a git tree, check out
    this tree. Otherwise let `fill` make src if it is missing."""
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
    """Yield the unpatched sources for an object tree. The caller holds the object tree's lock. An object tree whose name does
    not end in -main has a source folder of its own."""
    if objects.endswith("-main"):
        with opened(kernels, name) as src:
            yield src
    else:
        src = kernels.lab.cache / "src" / objects
        settle(kernels, name, src, link)
        yield src


def lay_out(kernels: Kernels, name: str, src: Path, into: Path) -> None:
    """Make a folder with the kernel's patched sources. Unpatched files in it are hard links to the files of src."""
    remove(into)
    subprocess.run(["cp", "-al", src, into], check=True)
    for file in kernels.patches(name):
        # git apply replaces files, so the files of src stay unchanged. It must not look for a repository above the cache.
        env = os.environ | {"GIT_CEILING_DIRECTORIES": str(into.parent)}
        done = subprocess.run(["git", "apply", "--", file], cwd=into, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            remove(into)
            said = [line[7:] for line in done.stderr.splitlines() if line.startswith("error: ")]
            raise LabError(f"cannot apply {file.name} to {kernels.sources_title(name)}: {(said or [''])[0]}")
