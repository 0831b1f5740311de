"""The definition of a kernel: option lines and sources.

A kernel's name is STEM or STEM-SERIES: hardened-6.12 is hardened, built from the sources of Linux 6.12. The file
scripts/kernels/STEM.config, called fragment, defines a kernel. STEM-SERIES.config adds options for a series. own/STEM/config in
the cache is the fragment of a kernel that the user defined (lab build --patch). PROTECTION-off and PROTECTION-on are baseline
with the options of a protection; they have no file.
"""

import hashlib
import itertools
import os
import re
import shutil
from functools import cache
from pathlib import Path

from ..lab import Lab, LabError, UsageError, join_lines, output
from ..locks import Locks
from .image import image_release
from .protections import Protections
from .sources import Trees, source_version

NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
OPTION = re.compile(r"(CONFIG_[A-Z0-9_]+)=.*|# (CONFIG_[A-Z0-9_]+) is not set")
SERIES = re.compile(r"(.+)-([0-9]+\.[0-9]+)")
DEBIAN = re.compile(r"debian-[0-9]+\.[0-9]+(-cloud|-rt)?(@[a-z-]+)?")
DEPTH_MOST = 16


def stem_of(name: str) -> str:
    """Return a kernel's name without its series."""
    match = SERIES.fullmatch(name)
    return match[1] if match else name


def version_key(version: str) -> list[int | str]:
    """Return a sort key that puts 6.2 before 6.12."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", version)]


def named_compiler() -> str:
    """Return the compiler in the variable CC, by default gcc. Return "gcc" for a link to gcc such as cc: if the name changes,
    kbuild compiles everything again."""
    name = os.environ.get("CC") or "gcc"
    path, gcc = shutil.which(name), shutil.which("gcc")
    return "gcc" if path and gcc and os.path.samefile(path, gcc) else name


def options_by_symbol(lines: list[str]) -> dict[str, str]:
    """Return a dictionary of the option lines, with their symbols as keys."""
    matches = [OPTION.match(line) for line in lines]
    return {match[1] or match[2]: match.string for match in matches if match}


@cache
def compiler_version(compiler: str) -> str:
    """Return the first line of `COMPILER --version`, or "" if the compiler does not exist."""
    return output([compiler, "--version"]).partition("\n")[0]


class Kernels:
    """All kernels that the lab knows."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.locks = Locks(lab)
        self.protections = Protections(lab)
        self.trees = Trees(lab)

    @property
    def stock(self) -> Path:
        return self.lab.cache / "stock"

    # --- headers ---------------------------------------------------------------

    def fragment_file(self, stem: str) -> Path:
        file = self.lab.fragments / f"{stem}.config"
        return file if file.is_file() else self.own(stem) / "config"

    def own(self, stem: str) -> Path:
        """Return the folder of a kernel that the user defined."""
        return self.lab.cache / "own" / stem

    def has_fragment(self, stem: str) -> bool:
        return self.fragment_file(stem).is_file()

    def pair_side(self, stem: str) -> tuple[str, str] | None:
        """Return PROTECTION and "off" or "on" if stem is PROTECTION-off or PROTECTION-on, else None."""
        match = re.fullmatch(r"([a-z0-9_]+)-(off|on)", stem)
        return (match[1], match[2]) if match and not self.has_fragment(stem) else None

    def known_pair(self, stem: str) -> bool:
        pair = self.pair_side(stem)
        return pair is not None and pair[0] in self.protections.catalogue

    def lines(self, stem: str, series: str) -> list[str]:
        """Return the fragment of a stem. For PROTECTION-off and PROTECTION-on make it from the catalogue of protections."""
        pair = self.pair_side(stem)
        if not pair:
            return self.fragment_file(stem).read_text().splitlines()
        fact = self.protections.need(pair[0], series or self.base_series())
        # A protection that changes every file has an object tree of its own.
        wide = ["# objects: wide"] if fact.switched_by == "full rebuild" else []
        return [f"# about: {fact.title} {pair[1]}", "# on: baseline", *wide, *fact.options[pair[1]]]

    def header(self, stem: str, key: str) -> str:
        """Return the values of all `# KEY: value` lines at the start of a fragment, one value per line."""
        head = itertools.takewhile(lambda line: line[:1] in ("", "#"), self.lines(stem, ""))
        return "\n".join(line[len(key) + 4 :] for line in head if line.startswith(f"# {key}: "))

    def inherited(self, name: str, key: str) -> str:
        """Return the header KEY of a kernel; if it has none, the header of the nearest kernel that it builds on (`# on:`)."""
        stem = "" if self.is_stock(name) else stem_of(name)
        while stem:
            value = self.header(stem, key)
            if value:
                return value
            stem = self.header(stem, "on")
        return ""

    def base_series(self) -> str:
        return self.header("base", "source")

    def all_series(self) -> list[str]:
        """Return the series of Linux for which the lab has options, the base kernel's series first."""
        others = sorted(file.stem.removeprefix("base-") for file in self.lab.fragments.glob("base-*.config"))
        return [self.base_series(), *others]

    def series(self, name: str) -> str:
        """Return the series of a kernel that the lab builds."""
        match = SERIES.fullmatch(name)
        return match[2] if match else self.inherited(name, "source")

    def kernel_series(self, name: str) -> str:
        """Return the series of a kernel that the lab builds or has fetched."""
        if not self.is_stock(name):
            return self.series(name)
        match = re.match(r"[0-9]+\.[0-9]+", image_release(self.built_dir(name)))
        return match[0] if match else ""

    def nearest_series(self, version: str) -> str:
        """Return the newest series with options that is not newer than version; if there is none, the oldest series."""
        series = sorted(self.all_series(), key=version_key)
        return ([one for one in series if version_key(one) <= version_key(version)] or series[:1])[-1]

    # --- names -----------------------------------------------------------------

    def names(self) -> list[str]:
        """Return all names: first those without a series, then those of each other series, then those that the user defined."""
        stems = [file.stem for file in sorted(self.lab.fragments.glob("*.config"))]
        stems = [stem for stem in stems if stem != "base" and stem == stem_of(stem)]
        own = sorted(file.parent.name for file in self.lab.cache.glob("own/*/config"))
        suffixes = ["", *("-" + one for one in self.all_series()[1:])]
        return [stem + suffix for suffix in suffixes for stem in stems] + own

    def is_stock(self, name: str) -> bool:
        """Return whether this is the name of a distribution's kernel, fetched or not."""
        return bool(DEBIAN.fullmatch(name)) or (name != "" and "/" not in name and (self.stock / name).is_symlink())

    def stock_names(self) -> list[str]:
        """Return the names of the fetched kernels."""
        return sorted(one.name for one in self.stock.glob("*") if one.is_symlink())

    def check_known(self, name: str) -> None:
        """Raise UsageError if the lab has no kernel of this name."""
        if self.is_stock(name):
            return
        stem = stem_of(name)
        valid = NAME.fullmatch(stem) and stem != "base"
        if not valid or not (self.has_fragment(stem) or self.known_pair(stem)):
            pairs = [protection + side for side in ("-off", "-on") for protection in self.protections.names()]
            near = self.lab.guess(name, [*self.names(), *self.stock_names(), *pairs])
            known = f"{' '.join(self.names())} and PROTECTION-off, PROTECTION-on"
            raise UsageError(f"unknown kernel '{name}'; known: {known}{near}")
        if self.series(name) not in self.all_series():
            raise UsageError(f"unknown kernel '{name}': the lab has Linux {' '.join(self.all_series())}")

    def check_own(self, name: str) -> None:
        """Raise UsageError unless this is the name of a kernel that the lab builds."""
        self.check_known(name)
        if self.is_stock(name):
            raise UsageError(f"kernel '{name}' is fetched, not built: scripts/lab fetch {name}")

    def stems(self, name: str) -> list[str]:
        """Return the stems of a kernel and of all kernels that it builds on, base first."""
        stem, found = stem_of(name), list[str]()
        while stem:
            if not self.has_fragment(stem) and not self.pair_side(stem):
                raise LabError(f"{name} is based on '{stem}', which does not exist")
            if len(found) == DEPTH_MOST:
                raise LabError(f"{name} is based on itself")
            found.insert(0, stem)
            stem = self.header(stem, "on")
        return found

    def pair(self, protection: str, series: str) -> tuple[str, str]:
        """Return the names of the kernels with a protection off and on. They are equal if a kernel parameter switches the
        protection. Raise LabError if the lab cannot switch the protection."""
        suffix = "-" + series if series else ""
        fact = self.protections.need(protection, series or self.base_series())
        if fact.missing:
            raise LabError(f"the lab cannot switch {protection}: {fact.missing}")
        if not fact.exists:
            raise LabError(f"this Linux has no {protection}, which is new in {fact.since} (scripts/lab ... --series 6.12)")
        if fact.switched_by == "boot":
            same = self.fragment(f"{protection}-on{suffix}") == self.fragment("baseline" + suffix)
            kernel = ("baseline" if same else "switches") + suffix
            return kernel, kernel
        if fact.switched_by in ("rebuild", "full rebuild"):
            return f"{protection}-off{suffix}", f"{protection}-on{suffix}"
        if fact.switched_by == "programs":
            raise LabError(f"{protection} is switched by programs, not by the kernel")
        raise LabError(f"{protection} is always there")

    # --- content ---------------------------------------------------------------

    def fragment(self, name: str) -> list[str]:
        """Return all option lines of a kernel and the kernels that it builds on (`# on:`). The last line for an option wins."""
        series = self.series(name)
        last: dict[str, str] = {}
        for stem in self.stems(name):
            last |= options_by_symbol(self.lines(stem, series))
            other = self.lab.fragments / f"{stem}-{series}.config"
            last |= options_by_symbol(other.read_text().splitlines() if other.is_file() else [])
        return list(last.values())

    def compiler(self, options: list[str]) -> str:
        """Return the compiler for these option lines. For Clang, return the oldest version with KCFI for x86 (16 or later)."""
        if "CONFIG_CC_IS_CLANG=y" not in options:
            return named_compiler()
        found = set()
        for folder in os.environ.get("PATH", "").split(":"):
            found |= {int(file.name[6:]) for file in Path(folder or ".").glob("clang-[0-9]*") if file.name[6:].isdigit()}
        return f"clang-{min([one for one in found if one >= 16], default=16)}"

    def sources(self, name: str) -> str:
        """Return the name of the folder in src/ with a kernel's unpatched sources."""
        tree = self.inherited(name, "tree")
        return self.trees.repository_name(tree) if tree else source_version(self.lab, self.series(name))

    def sources_title(self, name: str) -> str:
        """Return a description of a kernel's unpatched sources, for messages."""
        tree = self.inherited(name, "tree")
        return str(self.trees.folder(tree)) if tree else f"linux-source-{self.series(name)} {self.sources(name)}"

    def patches(self, name: str) -> list[Path]:
        """Return the patches of the kernels that a kernel builds on (`# on:`), then its own patches, in order."""
        return [self.trees.absolute(file) for stem in self.stems(name) for file in self.header(stem, "patch").splitlines()]

    def patch_texts(self, name: str) -> bytes:
        text = b""
        for file in self.patches(name):
            try:
                text += b"patch\n" + file.read_bytes()
            except OSError as error:
                raise LabError(f"kernel '{name}': cannot read the patch {file}") from error
        return text

    def tree_id(self, name: str) -> str:
        """Return the ID of the git tree with a kernel's sources, or ""."""
        tree = self.inherited(name, "tree")
        return self.trees.identity(tree) if tree else ""

    def own_sources(self, name: str) -> bool:
        """Return whether a kernel's sources differ from those of the package: the kernel has a git tree or patches."""
        return bool(self.inherited(name, "tree")) or bool(self.patches(name))

    def objects(self, name: str) -> str:
        """Return the name of a kernel's object tree in obj/."""
        clang = self.compiler(self.fragment(name)).startswith("clang-")
        return f"{self.sources(name)}-{self.inherited(name, 'objects')}{'-clang' if clang else ''}"

    # --- built -----------------------------------------------------------------

    def dir(self, name: str) -> Path:
        """Return the folder of a kernel's files, which may not exist. Its name has a hash of all that the files depend on."""
        if self.is_stock(name):
            return Path(os.path.realpath(self.stock / name))
        version, options = self.sources(name), self.fragment(name)
        depends = [*options, version, compiler_version(self.compiler(options)), self.tree_id(name)]
        text = join_lines(filter(None, depends)).encode() + self.patch_texts(name)
        key = hashlib.sha256(text).hexdigest()[:12]
        kernels = self.lab.cache / "kernels"
        found = sorted(one for one in kernels.glob(f"*-{version}-{key}") if one.is_dir())
        return found[0] if found else kernels / f"{stem_of(name)}-{version}-{key}"

    def dir_if(self, name: str) -> Path | None:
        """Return dir(name), or None if the kernel's sources are missing."""
        try:
            return self.dir(name)
        except LabError:
            return None

    def built_dir(self, name: str) -> Path:
        """Return dir(name). Raise LabError if the kernel is not built or fetched."""
        folder = self.dir(name)
        if not folder.is_dir():
            verb = ("fetched", "fetch") if self.is_stock(name) else ("built", "build")
            raise LabError(f"kernel '{name}' is not {verb[0]}; {verb[1]} it with: scripts/lab {verb[1]} {name}")
        return folder

    def known_dir(self, name: str) -> Path:
        self.check_known(name)
        return self.built_dir(name)
