"""`lab module`: build an external module for a kernel that is already built.

The module is not built in the kernel's object tree in obj/: the last build there may be of another kernel, and the module's
type information (BTF) would refer to the vmlinux of that kernel.
"""

import hashlib
import os
import re
import shutil
from contextlib import nullcontext
from pathlib import Path

from ..lab import LabError, UsageError, all_but_newest, output, read_options, remove, whole
from .build import check_tools, run_make
from .definitions import Kernels
from .layout import lay_out, opened

OLDER_KEPT = 4  # number of older builds of modules in folders of the same name to keep for other clones
PRODUCTS = re.compile(r"\..*|.*\.(o|ko|mod|mod\.c)|modules\.order|Module\.symvers")


def command(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab module`."""
    said = read_options(kernels.lab, "module", words, "--kernel")
    folders = said.all("") + words
    if len(folders) != 1:
        raise UsageError("module needs one folder with a Kbuild or Makefile")
    for file in build(kernels, said.get("--kernel", "hardened"), folders[0]):
        print(file)


def build(kernels: Kernels, kernel: str, folder: str) -> list[Path]:
    """Build the module in folder for a kernel, unless it is already built. Return the module's files."""
    kernels.check_own(kernel)
    if not any(os.path.isfile(os.path.join(folder, file)) for file in ("Kbuild", "Makefile")):
        raise LabError(f"neither {folder}/Kbuild nor {folder}/Makefile exists")
    sources = Path(os.path.realpath(folder))
    name = re.sub(r"[^A-Za-z0-9._-]", "_", sources.name)  # make cannot quote names
    kernel_dir = kernels.built_dir(kernel)
    module = kernel_dir / "modules" / f"{name}-{sources_hash(sources)}"
    if not module.is_dir():
        check_tools(kernels.compiler((kernel_dir / "config").read_text().splitlines()))
        # This lock also keeps builds of kernels from removing this kernel.
        with kernels.locks.hold(f"kernel-{kernel_dir.name}", f"module {name}"):
            if not kernel_dir.is_dir():
                raise LabError(f"kernel '{kernel}' has been removed; build it with: scripts/lab build {kernel}")
            if not (kernel_dir / "build").is_dir():
                prepare(kernels, kernel, kernel_dir)
            if not module.is_dir():
                compile_module(kernels, kernel, kernel_dir, sources, name, module)
    return sorted(module.glob("*.ko"))


def source_files(folder: Path) -> list[str]:
    """Return the files in a folder that are not products of kbuild."""
    found = []
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [one for one in folders if not one.startswith(".")]
        found += [os.path.relpath(os.path.join(place, file), folder) for file in files if not PRODUCTS.fullmatch(file)]
    return sorted(found, key=os.fsencode)


def sources_hash(folder: Path) -> str:
    """Return a hash of the source files' names and contents, and of the folder's path, which is in debug information."""
    found = hashlib.sha256(os.fsencode(folder))
    for file in source_files(folder):
        found.update(os.fsencode(file) + b"\0" + hashlib.sha256((folder / file).read_bytes()).digest())
    return found.hexdigest()[:12]


def prepare(kernels: Kernels, name: str, kernel_dir: Path) -> None:
    """Make the kernel's folder "build" for modules; if its sources differ from the package's, also the folder "source"."""
    log = kernels.lab.cache / "logs" / f"prepare-{name}.log"
    with opened(kernels, name) as src, whole(kernel_dir / "build", kernel_dir / ".build.part") as new:
        if kernels.own_sources(name):
            lay_out(kernels, name, src, kernel_dir / "source")
            src = kernel_dir / "source"
        kernels.lab.note(f"preparing kernel {name} for modules (log: {log})")
        new.mkdir()
        shutil.copy(kernel_dir / "config", new / ".config")
        log.write_bytes(b"")
        run_make(kernels, f"module support of {name}", src, new, log, "modules_prepare")
        for file in ("Module.symvers", "vmlinux"):
            remove(new / file)
            (new / file).symlink_to(f"../{file}")


def compile_module(kernels: Kernels, kernel: str, kernel_dir: Path, sources: Path, name: str, module: Path) -> None:
    """Build the module in a copy of its sources, because kbuild writes files next to them."""
    log = kernels.lab.cache / "logs" / f"module-{name}.log"
    src = kernel_dir / "source"
    with nullcontext(src) if src.is_dir() else opened(kernels, kernel) as src, whole(module, module.parent / ".part") as new:
        # Let debug information name the original sources instead of the copy, unless make would have to quote their name.
        plain = not re.search(r"[^A-Za-z0-9_./+-]", str(sources))
        flags = [f"KCFLAGS=-fdebug-prefix-map={new}={sources}"] if plain else []
        new.mkdir(parents=True)
        for file in source_files(sources):
            (new / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(sources / file, new / file)
        log.write_bytes(b"")
        run_make(kernels, f"module {name}", src, kernel_dir / "build", log, f"M={new}", *flags, "modules")
        built = list(new.glob("*.ko"))
        if not built:
            raise LabError(f"building {sources} produced no module; log: {log}")
        for ko in built:
            if not has_btf(kernel_dir, ko):
                raise LabError(f"{ko} has no BTF, which fentry needs; log: {log}")
        for old in all_but_newest(OLDER_KEPT, module.parent.glob(f"{name}-????????????")):
            remove(old)


def has_btf(kernel_dir: Path, module: Path) -> bool:
    """Return whether a module has BTF, or needs none by its kernel's configuration. kbuild may omit BTF with a message only."""
    wanted = "CONFIG_DEBUG_INFO_BTF_MODULES=y" in (kernel_dir / "config").read_text().splitlines()
    return not wanted or " .BTF " in output(["readelf", "-SW", module], env=os.environ | {"LC_ALL": "C"})
