"""lab build: kernels into the cache.

    own/NAME                a kernel of one's own: a config like those of scripts/kernels, and its patches
    obj/SOURCES-OBJECTS     object trees; kernels that differ little share one, so that the second of a pair is an incremental
                            build
    kernels/NAME-VERSION-KEY  what others use: bzImage, vmlinux, config, System.map, Module.symvers, and changes (patches,
    which tree)
                            of what is not made of a package's sources as they are; renamed into place whole; the index of
                            vmlinux comes to lie beside it
    logs/build-NAME.log     what make said
"""

import re
import subprocess
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Iterator

from ..lab import Ended, Lab, LabError, UsageError, remove
from ..locks import Lock, Locks
from ..words import REST, no_option, options
from .define import Definition, defined
from .definitions import Kernels, stem_of
from .layout import Layout, part, put_back, stand_in
from .make import Make

OLDER_KEPT = 1  # builds of the same kernel and sources, for the clone or branch that still wants it; each is 0.3 GB
TARGETS = ("bzImage", "vmlinux", "modules")


class Builder:
    """Builds kernels."""

    def __init__(self, lab: Lab, kernels: Kernels) -> None:
        self.lab = lab
        self.kernels = kernels
        self.locks = Locks(lab)
        self.layout = Layout(lab, kernels, self.locks)
        self.make = Make(lab, kernels, self.locks)

    def command(self, words: list[str], usage: str) -> None:
        """Does what `build` with these words is to do."""
        names, definition = self.read(words, usage)
        if not definition.says_anything():
            self.build(names or ["baseline", "hardened"])
            return
        if len(names) != 1:
            raise UsageError("build needs one name for a kernel with --patch, --tree, --config or --on")
        with defined(self.kernels, names[0], definition):
            self.build(names)

    def read(self, words: list[str], usage: str) -> tuple[list[str], Definition]:
        names: list[str] = []
        definition = Definition()
        words_are = names
        for option, value, known in options(words, ("--patch", "--tree", "--config", "--on"), ()):
            if not known:
                raise no_option(self.lab, usage, "build", option)
            if option == REST:
                # As the shell writes out --patch *.patch.
                words_are.append(value)
            elif option == "--patch":
                definition.patches.append(value)
                words_are = definition.patches
            else:
                setattr(definition, option[2:], value)
                words_are = names
        return names, definition

    def build(self, names: list[str]) -> None:
        """Builds what is not built yet. The name of a protection stands for its pair."""
        wanted: list[str] = []
        for name in names:
            stem = stem_of(name)
            if (
                re.fullmatch("[a-z0-9_]+", stem)
                and not self.kernels.has_fragment(stem)
                and self.kernels.known_pair(stem + "-on")
            ):
                wanted += sorted(set(self.kernels.pair(stem, name[len(stem) + 1 :])))
            else:
                self.kernels.check_own(name)
                wanted.append(name)
        for name in [name for name in wanted if not self.kernels.dir(name).is_dir()]:
            self.make.check_tools(self.kernels.compiler(self.kernels.fragment(name)))
            objects = self.kernels.objects(name)
            with self.locks.hold(f"obj-{objects}", f"kernel {name}"):
                # Another build may have made it while we waited.
                if not self.kernels.dir(name).is_dir():
                    self.build_one(name, objects)

    def build_one(self, name: str, objects: str) -> None:
        """Builds a kernel; by whoever holds the lock of its object tree."""
        started = time.monotonic()
        folder, obj = self.kernels.dir(name), self.lab.cache / "obj" / objects
        log = self.lab.cache / "logs" / f"build-{name}.log"
        put_back(obj)
        obj.mkdir(parents=True, exist_ok=True)
        with self.open_sources(name, objects) as src:
            log.write_bytes(b"")
            with self.patched(name, src, obj, log) if self.kernels.patches(name) else nullcontext():
                self.make.configure(name, src, obj, log)
                self.check_options(name, src, obj)
                if not self.kernels.own_sources(name) and self.same_kernel(obj, self.kernels.sources(name), folder):
                    self.lab.note(f"kernel {name} is identical to {folder.readlink().name}")
                    return
                self.lab.note(f"building kernel {name} (log: {log})")
                self.make.run(f"kernel {name}", src, obj, log, *TARGETS)
                self.install(name, src, obj, folder)
        self.lab.make_index(folder / "vmlinux", beside=True)
        self.prune(folder)
        self.lab.note(f"kernel {name} is built ({time.monotonic() - started:.0f} s)")

    @contextmanager
    def open_sources(self, name: str, objects: str) -> Iterator[Path]:
        if objects.endswith("-main"):
            with self.layout.opened(name) as src:
                yield src
            return
        src = self.lab.cache / "src" / objects
        self.layout.copy(name, src)
        yield src

    @contextmanager
    def patched(self, name: str, src: Path, obj: Path, log: Path) -> Iterator[None]:
        """Has patched sources and a copy of the object tree stand in for both."""
        self.layout.lay_out(name, src, part(src))
        # What the patches leave alone is compiled where it stays.
        if not (obj / "vmlinux").exists():
            self.make.configure(name, src, obj, log)
            self.lab.note(f"building kernel {name} without its patches first (log: {log})")
            self.make.run(f"kernel {name}", src, obj, log, *TARGETS)
        remove(part(obj))
        # Without the largest files, two thirds of it, which are linked anew anyway.
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

    def check_options(self, name: str, src: Path, obj: Path) -> None:
        """Proves that the configuration holds: kconfig drops in silence what its dependencies do not allow."""

        def option(line: str) -> str:
            return line.split()[1] if line.startswith("#") else line.partition("=")[0]

        got = {option(line): line for line in (obj / ".config").read_text().splitlines() if "CONFIG_" in line}
        tolerated = self.tolerated(name, src)
        lost = []
        for line in (obj / "fragment").read_text().splitlines():
            has = got.get(option(line), line if line.startswith("#") else "")
            if has != line and line not in tolerated:
                lost.append(line)
        if not lost:
            return
        self.lab.note(
            f"kernel {name} cannot have these options (a dependency is missing, or they do not exist):\n" + "\n".join(lost)
        )
        if "CONFIG_GCC_PLUGINS=y" in lost:
            self.lab.note("gcc's plugin headers may be missing; install them with scripts/setup --for=lab-plugins")
        raise Ended(1)

    def tolerated(self, name: str, src: Path) -> list[str]:
        """Returns the options that a Linux of the sources' version need not have. Of one that the lab has no options for, those
        of the nearest that it has are taken as far as they hold."""
        series = self.kernels.series(name)
        makefile = (src / "Makefile").read_text()
        version = ".".join(re.findall(r"^(?:VERSION|PATCHLEVEL) = (.*)$", makefile, re.MULTILINE))
        return [] if version in ("", series) else self.kernels.fragment(f"base-{series}")

    def same_kernel(self, obj: Path, version: str, folder: Path) -> bool:
        """Makes folder a link to a kernel with the configuration in obj, if one is built, under whichever name: what one asked
        for may be what another has by default."""

        def is_set(config: Path) -> list[str]:
            # That something is not set may be told or not, as the compiler's packages have it.
            return [line for line in config.read_text().splitlines() if line.startswith("CONFIG_")]

        folder.unlink(missing_ok=True)  # a link to one that was pruned
        for other in sorted(folder.parent.glob(f"*-{version}-????????????")):
            plain = not other.is_symlink() and not (other / "changes").exists() and (other / "config").is_file()
            if plain and is_set(obj / ".config") == is_set(other / "config"):
                folder.symlink_to(other.name)
                return True
        return False

    def install(self, name: str, src: Path, obj: Path, folder: Path) -> None:
        """Puts what was built into folder, which appears whole. The part is the object tree's, whose lock we hold."""
        new = folder.with_name(f".part-{folder.name}")
        remove(new)
        new.mkdir(parents=True)
        files = [obj / file for file in ("arch/x86/boot/bzImage", "vmlinux", "System.map", "Module.symvers")]
        subprocess.run(["cp", "--reflink=auto", *files, new], check=True)
        subprocess.run(["cp", "--reflink=auto", obj / ".config", new / "config"], check=True)
        if self.kernels.own_sources(name):
            (new / "changes").write_bytes(self.kernels.changes(name))
        self.keep_patched(name, src, new / "source")
        new.rename(folder)

    def keep_patched(self, name: str, src: Path, into: Path) -> None:
        """Keeps the files that the patches change, as they are compiled: in src they are as the package has them later."""
        changed = re.findall(rb"^\+\+\+ [^/\n]*/([^\t\n]*)", self.kernels.patch_texts(name), re.MULTILINE)
        for file in [one.decode(errors="surrogateescape") for one in changed]:
            if (src / file).is_file():
                (into / file).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", src / file, into / file], check=True)

    def prune(self, folder: Path) -> None:
        """Removes older builds of the same kernel and sources."""
        same = [one for one in folder.parent.glob(folder.name[:-12] + "????????????") if one != folder]
        for old in sorted(same, key=lambda one: -one.lstat().st_mtime)[OLDER_KEPT:]:
            # Not the one that a module is being built for.
            lock = Lock(self.locks.folder() / f"kernel-{old.name}")
            if lock.take(seconds=0):
                remove(old)
            lock.release()

    # --- removal ---------------------------------------------------------------

    def remove(self, name: str) -> None:
        """Removes a kernel's builds, unless they are other kernels' too, and its definition; but nothing that another needs."""
        stem, version, objects = stem_of(name), self.kernels.sources(name), self.kernels.objects(name)
        builds, users = [], []
        for other in [one for one in self.kernels.names() if one != name]:
            if self.kernels.own(stem).is_dir() and self.kernels.header(stem_of(other), "on") == stem:
                raise LabError(f"kernel '{other}' is based on '{name}'; remove it first")
            builds.append(self.kernels.dir_if(other))
            if builds[-1] and self.kernels.sources(other) == version:
                users.append(other)
        own = self.kernels.dir(name)
        with self.locks.hold(f"obj-{objects}", f"the removal of {name}"):
            for folder in [own, *own.parent.glob(f"{stem}-{version}-????????????")]:
                if folder not in builds:
                    remove(folder)
            remove(self.kernels.own(stem))
            # With the last one of a git repository its sources go.
            if not users and version.startswith("git-"):
                with self.locks.hold(f"src-{version}", f"the removal of {name}"):
                    src = self.lab.cache / "src"
                    for path in [*(self.lab.cache / "obj").glob(version + "-*"), src / version, src / f"{version}.index"]:
                        remove(path)
                    for path in src.glob(version + "-*"):
                        remove(path)
