"""Kernels that the user defines by --on, --patch, --tree and --config. The cache has the definition of NAME in own/NAME."""

import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from ..lab import LabError, Options, UsageError, join_lines, remove, whole
from .definitions import NAME, Kernels, SERIES, stem_of

OPTION_LINE = re.compile(r"CONFIG_[A-Z0-9_]+=|#|\s*$")
OPTION_SET = re.compile(r"CONFIG_[A-Z0-9_]+=|# CONFIG_[A-Z0-9_]+ is not set$")


def check(kernels: Kernels, name: str, on: str, files: list[str]) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(f"a kernel name consists of a-z, digits, - and _, not '{name}'")
    taken = name == "base" or (kernels.lab.fragments / f"{name}.config").is_file() or kernels.is_stock(name)
    if taken or kernels.known_pair(name) or ("-" not in name and kernels.known_pair(name + "-on")):
        raise UsageError(f"kernel '{name}' already exists; choose another name")
    kernels.check_own(on)
    if name in kernels.stems(on):
        raise UsageError(f"'{on}' is based on '{name}'")
    for file in files:
        if not (os.path.isfile(file) and os.access(file, os.R_OK)):
            raise LabError(f"cannot read {file}")
        if not os.path.getsize(file):
            raise LabError(f"{file} is empty")


def source_lines(kernels: Kernels, on: str, tree: str) -> list[str]:
    """Return the header lines that name the kernel's sources; none if the kernel has the sources of the kernel `on`."""
    series = SERIES.fullmatch(on)
    if not tree:
        return [f"# source: {series[2]}"] if series else []
    tree = os.path.join(os.getcwd(), tree)
    identity, version = kernels.trees.identity(tree), kernels.trees.version(tree)
    folder = os.path.realpath(kernels.trees.folder(tree))
    return [f"# tree: {folder}@{identity}", f"# source: {kernels.nearest_series(version)}"]


def option_lines(file: str) -> list[str]:
    """Return the option lines of a configuration. Raise LabError for any other line."""
    lines = Path(file).read_text(errors="surrogateescape").splitlines()
    for number, line in enumerate(lines, 1):
        if not OPTION_LINE.match(line):
            raise LabError(f"{file}:{number}: not an option line: {line}")
    return [line for line in lines if OPTION_SET.match(line)]


@contextmanager
def defined(kernels: Kernels, name: str, on: str, changes: Options) -> Iterator[None]:
    """Write own/NAME, the definition of a kernel. If the block fails, restore the previous definition."""
    patches, config, tree = changes.all("--patch"), changes.get("--config"), changes.get("--tree")
    files = patches + [file for file in [config] if file]
    check(kernels, name, on, files)
    own = kernels.own(name)
    old = own.with_name(f".{name}.old")
    title = " + ".join([on + (f" of {tree}" if tree else ""), *(os.path.basename(file) for file in files)])
    lines = [f"# about: {title}", f"# on: {stem_of(on)}", *source_lines(kernels, on, tree)]
    try:
        with whole(own, own.with_name(f".{name}.part")) as new:
            # Copy the patches: the user may change or remove them.
            for number, file in enumerate(patches, 1):
                (new / str(number)).mkdir(parents=True)
                copy = shutil.copyfile(file, new / str(number) / os.path.basename(file))
                lines.append(f"# patch: {own / copy.relative_to(new)}")
            lines += option_lines(config) if config else []
            new.mkdir(parents=True, exist_ok=True)
            (new / "config").write_text(join_lines(lines), errors="surrogateescape")
            remove(old)
            if own.is_dir():
                own.rename(old)
        try:
            yield
        except BaseException:
            remove(own)
            if old.is_dir():
                old.rename(own)
            raise
    finally:
        remove(old)
