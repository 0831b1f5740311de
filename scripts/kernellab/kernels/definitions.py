"""What a kernel is: option lines and where its sources are from.

A kernel's name is STEM or STEM-SERIES: hardened-6.12 is hardened made of other sources. scripts/kernels/STEM.config says what
it is, kernels/STEM-SERIES.config what another series has otherwise; own/STEM/config in the cache is one that `build` was told
of. PROTECTION-off and PROTECTION-on are baseline with what switches a protection of the catalogue.
"""

import hashlib
import os
import re
import shutil
from pathlib import Path

from ..lab import Lab, LabError, UsageError, output
from . import stock
from .protections import Protections
from .sources import Trees, source_version

NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
OPTION = re.compile(r"(CONFIG_[A-Z0-9_]+)=.*|# (CONFIG_[A-Z0-9_]+) is not set")
SERIES = re.compile(r"(.+)-([0-9]+\.[0-9]+)")
DEPTH_MOST = 16


def stem_of(name: str) -> str:
    """Returns the name without a series."""
    match = SERIES.fullmatch(name)
    return match[1] if match else name


def version_key(version: str) -> list[int | str]:
    """Returns what sorts 6.2 before 6.12."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", version)]


def named_compiler() -> str:
    """Returns gcc, or the compiler that CC names. Kbuild makes everything anew if the name differs, so cc, which is a link to
    gcc, is gcc."""
    name = os.environ.get("CC") or "gcc"
    path, gcc = shutil.which(name), shutil.which("gcc")
    return "gcc" if path and gcc and os.path.samefile(path, gcc) else name


class Kernels:
    """All kernels that the lab knows."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.protections = Protections(lab)
        self.trees = Trees(lab)
        self.compiler_versions: dict[str, str] = {}

    # --- headers ---------------------------------------------------------------

    def fragment_file(self, stem: str) -> Path:
        file = self.lab.fragments / f"{stem}.config"
        return file if file.is_file() else self.own(stem) / "config"

    def own(self, stem: str) -> Path:
        """Returns the folder of a kernel that `build` was told of."""
        return self.lab.cache / "own" / stem

    def has_fragment(self, stem: str) -> bool:
        return self.fragment_file(stem).is_file()

    def pair_side(self, stem: str) -> tuple[str, str] | None:
        """Returns protection and side of PROTECTION-off or PROTECTION-on."""
        match = re.fullmatch(r"([a-z0-9_]+)-(off|on)", stem)
        return (match[1], match[2]) if match and not self.has_fragment(stem) else None

    def known_pair(self, stem: str) -> bool:
        pair = self.pair_side(stem)
        return pair is not None and self.protections.fact(pair[0], self.base_series()) is not None

    def header(self, stem: str, key: str) -> str:
        """Returns what the `# KEY: value` lines of its fragment say, a line each."""
        pair = self.pair_side(stem)
        if pair:
            return self.pair_header(*pair, key)
        found = []
        for line in self.fragment_file(stem).read_text().splitlines():
            if line.startswith(f"# {key}: "):
                found.append(line[len(key) + 4 :])
            elif line and not line.startswith("#"):
                break
        return "\n".join(found)

    def pair_header(self, protection: str, side: str, key: str) -> str:
        if key == "on":
            return "baseline"
        fact = self.protections.fact(protection, self.base_series())
        if key == "about":
            return f"{fact.title if fact else protection} {side}"
        # One that changes every file gets out of the others' way.
        return "wide" if key == "objects" and fact and fact.switched_by == "full rebuild" else ""

    def inherited(self, name: str, key: str) -> str:
        """Returns the same, from the nearest of a kernel and those that it builds on."""
        stem = "" if self.is_stock(name) else stem_of(name)
        while stem:
            value = self.header(stem, key)
            if value:
                return value
            stem = self.header(stem, "on")
        return ""

    def base_series(self) -> str:
        return self.header("base", "source")

    def other_series(self) -> list[str]:
        """Returns the series besides base's that there are options for."""
        return sorted(file.name[len("base-") : -len(".config")] for file in self.lab.fragments.glob("base-*.config"))

    def series(self, name: str) -> str:
        """Returns the series of a kernel that the lab builds."""
        match = SERIES.fullmatch(name)
        return match[2] if match else self.inherited(name, "source")

    def kernel_series(self, name: str) -> str:
        """Returns the same of any kernel."""
        if not self.is_stock(name):
            return self.series(name)
        match = re.match(r"[0-9]+\.[0-9]+", stock.image_release(self.built_dir(name)))
        return match[0] if match else ""

    def nearest_series(self, version: str) -> str:
        """Returns, of the series that the lab has options for, the last one up to version, or the first."""
        series = sorted([self.base_series(), *self.other_series()], key=version_key)
        return ([one for one in series if version_key(one) <= version_key(version)] or series[:1])[-1]

    # --- names -----------------------------------------------------------------

    def names(self) -> list[str]:
        """Returns the ones of base's series, then the same of others, then those of the cache."""
        stems = [file.stem for file in sorted(self.lab.fragments.glob("*.config"))]
        stems = [stem for stem in stems if stem != "base" and stem == stem_of(stem)]
        own = sorted(file.parent.name for file in self.lab.cache.glob("own/*/config"))
        return [stem + suffix for suffix in ["", *("-" + one for one in self.other_series())] for stem in stems] + own

    def is_stock(self, name: str) -> bool:
        return stock.is_stock(self.lab, name)

    def check_known(self, name: str) -> None:
        """Raises UsageError for a kernel that there is not."""
        if self.is_stock(name):
            return
        stem = stem_of(name)
        valid = NAME.fullmatch(stem) and stem != "base"
        if not valid or not (self.has_fragment(stem) or self.known_pair(stem)):
            pairs = [protection + side for side in ("-off", "-on") for protection in self.protections.names()]
            near = self.lab.guess(name, [*self.names(), *stock.names(self.lab), *pairs])
            raise UsageError(
                f"unknown kernel '{name}'; known: {' '.join(self.names())} and PROTECTION-off, PROTECTION-on{near}"
            )
        series = self.series(name)
        if series != self.base_series() and not (self.lab.fragments / f"base-{series}.config").exists():
            raise UsageError(
                f"unknown kernel '{name}': the lab has Linux {' '.join([self.base_series(), *self.other_series()])}"
            )

    def check_own(self, name: str) -> None:
        """Raises UsageError for a kernel that the lab does not build."""
        self.check_known(name)
        if self.is_stock(name):
            raise UsageError(f"kernel '{name}' is fetched, not built: scripts/lab fetch {name}")

    def stems(self, name: str) -> list[str]:
        """Returns its stem and those that it builds on, base first."""
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
        """Returns the names of the two kernels that differ in a protection, which are one where a parameter switches it.
        series is empty for that of base. Raises LabError where the lab cannot switch it."""
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
        """Returns all option lines that make a kernel; of two for one option the later wins. Remarks and headers are no part
        of a kernel's identity."""
        series = self.series(name)
        last: dict[str, str] = {}
        for stem in self.stems(name):
            for file in (self.fragment_file(stem), self.lab.fragments / f"{stem}-{series}.config"):
                self.add_options(last, file.read_text().splitlines() if file.is_file() else [])
            pair = self.pair_side(stem)
            fact = self.protections.fact(pair[0], series) if pair else None
            if pair and fact:
                self.add_options(last, fact.options[pair[1]])
        return list(last.values())

    @staticmethod
    def add_options(last: dict[str, str], lines: list[str]) -> None:
        for line in lines:
            match = OPTION.match(line)
            if match:
                last[match[1] or match[2]] = line

    def compiler(self, options: list[str]) -> str:
        """Returns what compiles a kernel with these option lines. For one that has to be Clang's it is the oldest that has KCFI
        for x86, as it is the nearest to the lab's sources."""
        if "CONFIG_CC_IS_CLANG=y" not in options:
            return named_compiler()
        found = set()
        for folder in os.environ.get("PATH", "").split(":"):
            found |= {int(file.name[6:]) for file in Path(folder or ".").glob("clang-[0-9]*") if file.name[6:].isdigit()}
        return f"clang-{min([one for one in found if one >= 16], default=16)}"

    def compiler_version(self, compiler: str) -> str:
        """Returns the first line of what it says of itself, nothing where there is none."""
        if compiler not in self.compiler_versions:
            self.compiler_versions[compiler] = output([compiler, "--version"]).partition("\n")[0]
        return self.compiler_versions[compiler]

    def sources(self, name: str) -> str:
        """Returns one word for what a kernel's patches apply to: the name of a folder in src."""
        tree = self.inherited(name, "tree")
        return self.trees.repository_name(tree) if tree else source_version(self.lab, self.series(name))

    def sources_title(self, name: str) -> str:
        """Returns the same for messages."""
        tree = self.inherited(name, "tree")
        return str(self.trees.folder(tree)) if tree else f"linux-source-{self.series(name)} {self.sources(name)}"

    def patches(self, name: str) -> list[Path]:
        """Returns a kernel's patches in order; those of what it builds on come first."""
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
        """Returns git's name for the content of its tree, nothing where it has none."""
        tree = self.inherited(name, "tree")
        return self.trees.identity(tree) if tree else ""

    def own_sources(self, name: str) -> bool:
        """Returns whether its sources are anything else than the package's."""
        return bool(self.inherited(name, "tree")) or bool(self.patches(name))

    def changes(self, name: str) -> bytes:
        """Returns all that tells its sources from those of the package or repository."""
        tree = self.tree_id(name)
        return (tree + "\n" if tree else "").encode() + self.patch_texts(name)

    def objects(self, name: str) -> str:
        """Returns the name of its object tree. Compilers share none."""
        clang = self.compiler(self.fragment(name)).startswith("clang-")
        return f"{self.sources(name)}-{self.inherited(name, 'objects')}{'-clang' if clang else ''}"

    # --- built -----------------------------------------------------------------

    def dir(self, name: str) -> Path:
        """Returns where a kernel's files are or will be. The folder's name holds all that they depend on, so that what exists
        is what is wanted, under whichever name it was built."""
        if self.is_stock(name):
            return stock.folder(self.lab, name)
        version, options = self.sources(name), self.fragment(name)
        depends = [*options, version, self.compiler_version(self.compiler(options)), self.tree_id(name)]
        text = "".join(line + "\n" for line in depends if line).encode() + self.patch_texts(name)
        key = hashlib.sha256(text).hexdigest()[:12]
        kernels = self.lab.cache / "kernels"
        found = sorted(one for one in kernels.glob(f"*-{version}-{key}") if one.is_dir())
        return found[0] if found else kernels / f"{stem_of(name)}-{version}-{key}"

    def dir_if(self, name: str) -> Path | None:
        """Returns the same, None where it cannot have one."""
        try:
            return self.dir(name)
        except LabError:
            return None

    def built_dir(self, name: str) -> Path:
        """Returns the same of a kernel that is there. A folder is renamed into place complete, so its presence is enough."""
        folder = self.dir(name)
        if not folder.is_dir():
            verb = ("fetched", "fetch") if self.is_stock(name) else ("built", "build")
            raise LabError(f"kernel '{name}' is not {verb[0]}; {verb[1]} it with: scripts/lab {verb[1]} {name}")
        return folder

    def known_dir(self, name: str) -> Path:
        self.check_known(name)
        return self.built_dir(name)
