"""`lab build`: build kernels into the cache. Similar kernels share an object tree, so that builds are incremental."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Iterator

from ..lab import Lab, LabError, Options, UsageError, all_but_newest, join_lines, need_tools, read_options, remove, whole
from ..locks import Lock
from .define import defined
from .definitions import Kernels, options_by_symbol, stem_of
from .layout import lay_out, opened_for, part, put_back, stand_in

OLDER_KEPT = 1  # number of older builds of the same kernel and sources to keep for other clones or branches; each has 0.3 GB
TARGETS = ("bzImage", "vmlinux", "modules")
# Two builds of the same configuration must not differ.
FIXED = (
    "KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab KBUILD_BUILD_VERSION=1 LOCALVERSION=".split()
)
TOOLS = "flex bison bc pahole cpio lz4 xz tar flock git rsync".split()
FAILURES = (r"error:|undefined reference|No space|Killed", r"error|Error")


def command(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab build`."""
    names, changes, before = list[str](), Options(), ""
    for option, value in read_options(kernels.lab, "build", words, "--patch --tree --config --on").given:
        # The shell expands --patch *.patch to several words. The words after the first one are patches, too.
        if option or before == "--patch":
            before = option or before
            changes.given.append((before, value))
        else:
            names.append(value)
    if not changes.given:
        build(kernels, names or ["baseline", "hardened"])
        return
    if len(names) != 1:
        raise UsageError("build needs one name for a kernel with --patch, --tree, --config or --on")
    with defined(kernels, names[0], changes.get("--on") or "baseline", changes):
        build(kernels, names)


def build(kernels: Kernels, names: list[str]) -> None:
    """Build kernels that are not built yet. The name of a protection means its two kernels, off and on."""
    wanted = list[str]()
    for name in names:
        stem = stem_of(name)
        if "-" not in stem and not kernels.has_fragment(stem) and kernels.known_pair(stem + "-on"):
            wanted += sorted(set(kernels.pair(stem, name[len(stem) + 1 :])))
        else:
            kernels.check_own(name)
            wanted.append(name)
    for name in [name for name in wanted if not kernels.dir(name).is_dir()]:
        check_tools(kernels.compiler(kernels.fragment(name)))
        objects = kernels.objects(name)
        with kernels.locks.hold(f"obj-{objects}", f"kernel {name}"):
            # Another build may have built the kernel during the wait for the lock.
            if not kernels.dir(name).is_dir():
                build_one(kernels, name, objects)


def build_one(kernels: Kernels, name: str, objects: str) -> None:
    """Build a kernel. The caller holds the lock of its object tree."""
    started = time.monotonic()
    folder, obj = kernels.dir(name), kernels.lab.cache / "obj" / objects
    log = kernels.lab.cache / "logs" / f"build-{name}.log"
    put_back(obj)
    obj.mkdir(parents=True, exist_ok=True)
    with opened_for(kernels, name, objects) as src:
        log.write_bytes(b"")
        with patched(kernels, name, src, obj, log) if kernels.patches(name) else nullcontext():
            configure(kernels, name, src, obj, log)
            check_options(kernels, name, src, obj)
            if not kernels.own_sources(name) and same_kernel(obj, kernels.sources(name), folder):
                kernels.lab.note(f"kernel {name} is identical to {folder.readlink().name}")
                return
            kernels.lab.note(f"building kernel {name} (log: {log})")
            run_make(kernels, f"kernel {name}", src, obj, log, *TARGETS)
            install(kernels, name, src, obj, folder)
    kernels.lab.make_index(folder / "vmlinux", beside=True)
    prune(kernels, folder)
    kernels.lab.note(f"kernel {name} is built ({time.monotonic() - started:.0f} s)")


@contextmanager
def patched(kernels: Kernels, name: str, src: Path, obj: Path, log: Path) -> Iterator[None]:
    """Replace src by patched sources, and obj by a copy of the object tree. Restore the originals after the block."""
    lay_out(kernels, name, src, part(src))
    # If nothing is built in obj, build the kernel without its patches first, for later builds of other kernels to use.
    if not (obj / "vmlinux").exists():
        configure(kernels, name, src, obj, log)
        kernels.lab.note(f"building kernel {name} without its patches first (log: {log})")
        run_make(kernels, f"kernel {name}", src, obj, log, *TARGETS)
    remove(part(obj))
    # Do not copy the largest files, two thirds of the tree, since the linker writes them again.
    large = [f"--exclude={file}" for file in ("/vmlinux", "/vmlinux.o", "/.tmp_vmlinux*")]
    if subprocess.run(["rsync", "-a", *large, f"{obj}/", part(obj)], check=False).returncode != 0:
        raise LabError(f"cannot copy {obj} (is the disk full?)")
    try:
        stand_in(src)
        stand_in(obj)
        yield
    finally:
        put_back(src)
        put_back(obj)


def check_options(kernels: Kernels, name: str, src: Path, obj: Path) -> None:
    """Check that kconfig has dropped no option because of a missing dependency."""
    got = options_by_symbol((obj / ".config").read_text().splitlines())
    wanted = options_by_symbol((obj / "fragment").read_text().splitlines())
    tolerated = tolerated_options(kernels, name, src)
    # An option that .config does not mention is not set.
    unset = [symbol for symbol, line in wanted.items() if line.startswith("#") and symbol not in got]
    lost = [line for symbol, line in wanted.items() if got.get(symbol) != line and symbol not in unset]
    lost = [line for line in lost if line not in tolerated]
    if not lost:
        return
    why = "a dependency is missing, or they do not exist"
    kernels.lab.note(f"kernel {name} cannot have these options ({why}):\n" + "\n".join(lost))
    if "CONFIG_GCC_PLUGINS=y" in lost:
        kernels.lab.note("gcc's plugin headers may be missing; install them with scripts/setup --for=lab-plugins")
    raise SystemExit(1)


def tolerated_options(kernels: Kernels, name: str, src: Path) -> list[str]:
    """Return the options that kconfig may drop: the base kernel's if the sources' version is not the series, else none."""
    series = kernels.series(name)
    makefile = (src / "Makefile").read_text()
    version = ".".join(re.findall(r"^(?:VERSION|PATCHLEVEL) = (.*)$", makefile, re.MULTILINE))
    return [] if version in ("", series) else kernels.fragment(f"base-{series}")


def same_kernel(obj: Path, version: str, folder: Path) -> bool:
    """If a kernel with the configuration in obj exists under any name, make folder a link to it. Return whether one exists."""

    def is_set(config: Path) -> list[str]:
        # Ignore unset options: kconfig mentions some of them only if certain packages of the compiler are installed.
        return [line for line in config.read_text().splitlines() if line.startswith("CONFIG_")]

    folder.unlink(missing_ok=True)  # remove a link to a kernel that prune() removed
    for other in sorted(folder.parent.glob(f"*-{version}-????????????")):
        plain = not other.is_symlink() and not (other / "changes").exists() and (other / "config").is_file()
        if plain and is_set(obj / ".config") == is_set(other / "config"):
            folder.symlink_to(other.name)
            return True
    return False


def install(kernels: Kernels, name: str, src: Path, obj: Path, folder: Path) -> None:
    """Copy the built files from obj to folder. The caller holds the lock of the object tree."""
    with whole(folder, part(folder)) as new:
        new.mkdir(parents=True)
        files = [obj / file for file in ("arch/x86/boot/bzImage", "vmlinux", "System.map", "Module.symvers")]
        subprocess.run(["cp", "--reflink=auto", *files, new], check=True)
        subprocess.run(["cp", "--reflink=auto", obj / ".config", new / "config"], check=True)
        if kernels.own_sources(name):
            (new / "changes").write_bytes(
                join_lines(filter(None, [kernels.tree_id(name)])).encode() + kernels.patch_texts(name)
            )
        keep_patched(kernels, name, src, new / "source")


def keep_patched(kernels: Kernels, name: str, src: Path, into: Path) -> None:
    """Copy the files that the patches change, in their patched state."""
    changed = re.findall(rb"^\+\+\+ [^/\n]*/([^\t\n]*)", kernels.patch_texts(name), re.MULTILINE)
    for file in [one.decode(errors="surrogateescape") for one in changed]:
        if (src / file).is_file():
            (into / file).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", src / file, into / file], check=True)


def prune(kernels: Kernels, folder: Path) -> None:
    """Remove older builds of the same kernel and sources, except OLDER_KEPT of them, and those that a module build uses."""
    same = [one for one in folder.parent.glob(folder.name[:-12] + "????????????") if one != folder]
    for old in all_but_newest(OLDER_KEPT, same):
        lock = Lock(kernels.locks.folder / f"kernel-{old.name}")
        if lock.take(seconds=0):
            remove(old)
        lock.release()


# --- make --------------------------------------------------------------------------


def check_tools(compiler: str) -> None:
    """Raise LabError unless the programs that build kernels are installed."""
    clang = compiler.startswith("clang-")
    llvm = [f"{tool}-{compiler[6:]}" for tool in ("ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy")] if clang else []
    need_tools("build", "lab-clang" if clang else "lab", ["make", compiler, *llvm, *TOOLS])


def make_words(kernels: Kernels, src: Path, obj: Path, *targets: str) -> list[str]:
    options = obj / "fragment" if (obj / "fragment").is_file() else obj / ".config"
    compiler = kernels.compiler(options.read_text().splitlines())
    llvm = [f"LLVM=-{compiler[6:]}"] if compiler.startswith("clang-") else []
    return ["make", "-C", str(src), f"O={obj}", f"CC={compiler}", *llvm, *FIXED, *targets]


def configure(kernels: Kernels, name: str, src: Path, obj: Path, log: Path) -> None:
    """Make the configuration of a kernel in obj. kconfig drops options that it does not accept."""
    (obj / "fragment").write_text(join_lines(kernels.fragment(name)))
    words = make_words(kernels, src, obj, f"KCONFIG_ALLCONFIG={obj}/fragment", "allnoconfig")
    with log.open("ab") as file:
        if subprocess.run(words, stdout=file, stderr=file, check=False).returncode != 0:
            raise failed(kernels.lab, f"kernel {name}", log)


def run_make(kernels: Kernels, what: str, src: Path, obj: Path, log: Path, *targets: str) -> None:
    """Run make, with a progress line on a terminal. Raise LabError with the first error if it fails."""
    words = make_words(kernels, src, obj, "-j", str(os.cpu_count()), *targets)
    # Start make in its own process group, so that a signal to the lab can end the compilers too. make removes unfinished
    # targets. make inherits the locks: if only the lab is killed, no other build uses the tree before make ends.
    with log.open("ab") as file:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, process_group=0, pass_fds=kernels.locks.held
        )
    try:
        wait(process, what, log)
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    if process.returncode != 0:
        raise failed(kernels.lab, what, log)


def wait(process: subprocess.Popen[bytes], what: str, log: Path) -> None:
    while sys.stderr.isatty():
        print(f"\rlab: {what}: {log.read_bytes().count(10)} steps  ", end="", file=sys.stderr, flush=True)
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            continue
        print("\r\033[K", end="", file=sys.stderr, flush=True)
        return
    process.wait()


def failed(lab: Lab, what: str, log: Path) -> LabError:
    """Return an error with the first failure in the log, and its line number."""
    lines = log.read_text(errors="replace").splitlines()
    found = [(number, line) for one in FAILURES for number, line in enumerate(lines, 1) if re.search(one, line)]
    number, line = found[0] if found else (len(lines), "no reason given")
    line = re.sub(re.escape(str(lab.cache)) + "/src/[^/]*/", "", line)
    return LabError(f"cannot build {what}: {line}; log: {log}:{number}")


# --- removal -----------------------------------------------------------------------


def remove_kernel(kernels: Kernels, name: str) -> None:
    """Remove the definition and the builds of a kernel, except files that another kernel needs."""
    stem, version, objects = stem_of(name), kernels.sources(name), kernels.objects(name)
    builds, users = list[Path | None](), []
    for other in [one for one in kernels.names() if one != name]:
        if kernels.own(stem).is_dir() and kernels.header(stem_of(other), "on") == stem:
            raise LabError(f"kernel '{other}' is based on '{name}'; remove it first")
        builds.append(kernels.dir_if(other))
        if builds[-1] and kernels.sources(other) == version:
            users.append(other)
    own = kernels.dir(name)
    with kernels.locks.hold(f"obj-{objects}", f"the removal of {name}"):
        for folder in [own, *own.parent.glob(f"{stem}-{version}-????????????")]:
            if folder not in builds:
                remove(folder)
        remove(kernels.own(stem))
        # If this was the last kernel of a git repository, remove the sources too.
        if not users and version.startswith("git-"):
            with kernels.locks.hold(f"src-{version}", f"the removal of {name}"):
                src, obj = kernels.lab.cache / "src", kernels.lab.cache / "obj"
                for path in [src / version, src / f"{version}.index", *src.glob(f"{version}-*"), *obj.glob(f"{version}-*")]:
                    remove(path)
