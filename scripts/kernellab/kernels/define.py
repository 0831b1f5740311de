"""Kernels of one's own, as `build NAME --patch` and the like define them."""

import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

from ..lab import LabError, UsageError, join_lines, remove, whole
from .definitions import NAME, Kernels, SERIES, stem_of

OPTION_LINE = re.compile(r"CONFIG_[A-Z0-9_]+=|#|\s*$")
OPTION_SET = re.compile(r"CONFIG_[A-Z0-9_]+=|# CONFIG_[A-Z0-9_]+ is not set$")


@dataclass
class Definition:
    """A kernel as `build` defines it."""

    on: str = ""
    tree: str = ""
    config: str = ""
    patches: list[str] = field(default_factory=list)

    def files(self) -> list[str]:
        return self.patches + ([self.config] if self.config else [])

    def title(self) -> str:
        of = f" of {self.tree}" if self.tree else ""
        return " + ".join([(self.on or "baseline") + of, *(os.path.basename(file) for file in self.files())])


def check(kernels: Kernels, name: str, definition: Definition) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(f"a kernel name consists of a-z, digits, - and _, not '{name}'")
    taken = name == "base" or (kernels.lab.fragments / f"{name}.config").is_file() or kernels.is_stock(name)
    if taken or kernels.known_pair(name) or ("-" not in name and kernels.known_pair(name + "-on")):
        raise UsageError(f"kernel '{name}' already exists; choose another name")
    kernels.check_own(definition.on)
    if name in kernels.stems(definition.on):
        raise UsageError(f"'{definition.on}' is based on '{name}'")
    for file in definition.files():
        if not (os.path.isfile(file) and os.access(file, os.R_OK)):
            raise LabError(f"cannot read {file}")
        if not os.path.getsize(file):
            raise LabError(f"{file} is empty")


def source_lines(kernels: Kernels, definition: Definition) -> list[str]:
    """Return the header lines of its sources, if they are not those of the kernel that it builds on."""
    series = SERIES.fullmatch(definition.on)
    if not definition.tree:
        return [f"# source: {series[2]}"] if series else []
    tree = os.path.join(os.getcwd(), definition.tree)
    identity, version = kernels.trees.identity(tree), kernels.trees.version(tree)
    folder = os.path.realpath(kernels.trees.folder(tree))
    return [f"# tree: {folder}@{identity}", f"# source: {kernels.nearest_series(version)}"]


def option_lines(file: str) -> list[str]:
    """Return the option lines of a configuration; raise LabError for any other line."""
    lines = Path(file).read_text(errors="surrogateescape").splitlines()
    for number, line in enumerate(lines, 1):
        if not OPTION_LINE.match(line):
            raise LabError(f"{file}:{number}: not an option line: {line}")
    return [line for line in lines if OPTION_SET.match(line)]


@contextmanager
def defined(kernels: Kernels, name: str, definition: Definition) -> Iterator[None]:
    """Write own/NAME, with copies of what may change: the patches, the name of a tree's content. If the block fails, restore
    what was there."""
    definition.on = definition.on or "baseline"
    check(kernels, name, definition)
    own = kernels.own(name)
    old = own.with_name(f".{name}.old")
    try:
        with whole(own, own.with_name(f".{name}.part")) as new:
            write(kernels, name, definition, new)
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


def write(kernels: Kernels, name: str, definition: Definition, into: Path) -> None:
    into.mkdir(parents=True)
    lines = [f"# about: {definition.title()}", f"# on: {stem_of(definition.on)}", *source_lines(kernels, definition)]
    for number, file in enumerate(definition.patches, 1):
        copy = f"{number}/{os.path.basename(file)}"
        (into / str(number)).mkdir()
        shutil.copyfile(file, into / copy)
        lines.append(f"# patch: {kernels.own(name) / copy}")
    lines += option_lines(definition.config) if definition.config else []
    (into / "config").write_text(join_lines(lines), errors="surrogateescape")
