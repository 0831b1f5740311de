"""Install kernels that a distribution built, with their modules and an initramfs that mounts the host's files."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, Sequence

from ..lab import Lab, LabError, need_tools, output, remove

NEEDED = {"virtio_pci": "VIRTIO_PCI", "virtio_console": "VIRTIO_CONSOLE", "overlay": "OVERLAY_FS"}
UNPACK = {".xz": ["xz", "-dc"], ".zst": ["zstd", "-qdc"], ".gz": ["gzip", "-dc"]}
REASON = re.compile(r"E: |(tar|dpkg-deb|cpio|xz|zstd|cp|depmod): |.*No space")


def image_release(image: Path) -> str:
    """Return the release of the kernel in an image: the name of its folder of modules. Raise LabError unless there is one."""
    found = {one.name for lib in ("lib", "usr/lib") for one in (image / lib / "modules").glob("*") if one.is_dir()}
    if not found:
        raise LabError(f"{image} is not an unpacked kernel image: no folder lib/modules/RELEASE")
    if len(found) > 1:
        raise LabError(f"{image} contains several kernels ({' '.join(sorted(found))}), but the lab takes one")
    return found.pop()


class Installer:
    """Install kernels into the cache. The caller holds the lock "stock"."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.stock = lab.cache / "stock"
        self.part = self.stock / "part"
        self.log = lab.cache / "logs/fetch.log"

    def check_tools(self, *more: str) -> None:
        need_tools("fetch", "lab-stock", ["depmod", "modprobe", "cpio", "busybox", *more])

    def begin(self) -> None:
        """Make an empty folder stock/part, and empty the log."""
        remove(self.part)
        try:
            for folder in (self.part, self.stock / "versions", self.stock / "apt"):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LabError(f"cannot write to {self.stock}") from error
        self.log.write_bytes(b"")

    def failed(self, what: str, status: int) -> LabError:
        """Return an error with the first reason in the log, or with the signal that ended the program. Remove stock/part."""
        killed = signal.strsignal(-status) if status < 0 else ""
        lines = self.log.read_text(errors="replace").splitlines() or [killed or "no reason given"]
        reason = next((line for line in lines if REASON.match(line)), lines[-1])
        remove(self.part)
        return LabError(f"{what}: {reason.removeprefix('E: ')} (log: {self.log})")

    def run(self, what: str, words: Sequence[str | Path], **options: Any) -> None:
        """Run a program. If it fails, raise LabError with `what` and the reason."""
        with self.log.open("ab") as log:
            how: dict[str, Any] = {"stdout": log, "stderr": log} | options
            done = subprocess.run(words, check=False, **how)
        if done.returncode != 0:
            raise self.failed(what, done.returncode)

    @staticmethod
    def first_file(files: Sequence[Path]) -> Path | None:
        return next((file for file in files if file.is_file()), None)

    def kernel(self, image: Path, release: str) -> Path:
        """Return the path of vmlinuz in an image."""
        modules = [image / lib / "modules" / release / "vmlinuz" for lib in ("lib", "usr/lib")]
        found = self.first_file([image / f"boot/vmlinuz-{release}", *modules])
        if not found:
            neither = f"neither boot/vmlinuz-{release} nor lib/modules/{release}/vmlinuz"
            raise LabError(f"{image} has modules of {release}, but {neither}")
        return found

    def image(self, image: Path, folder: Path, about: str) -> None:
        """Make the folder of a kernel in the cache from an unpacked image."""
        release = image_release(image)
        kernel, new = self.kernel(image, release), self.part / "kernel"
        modules = image / "lib/modules" / release
        if not modules.is_dir():
            modules = image / "usr/lib/modules" / release
        (new / "boot").mkdir(parents=True)
        (new / "lib/modules").mkdir(parents=True)
        for words in (["cp", kernel, new / f"boot/vmlinuz-{release}"], ["cp", "-a", modules, new / "lib/modules/"]):
            self.run(f"cannot copy {image} into {self.stock}", list(map(str, words)))
        for name in ("build", "source", "vmlinux", "vmlinuz"):
            remove(new / "lib/modules" / release / name)
        (new / "bzImage").symlink_to(f"boot/vmlinuz-{release}")
        config = self.first_file([image / f"boot/config-{release}", modules / "config"])
        if config:
            shutil.copy(config, new / f"boot/config-{release}")
            (new / "config").symlink_to(f"boot/config-{release}")
        (new / "about").write_text(about + "\n")
        self.run(f"cannot list the modules of {release}", ["/sbin/depmod", "-b", new, release])
        self.initramfs(new, release)
        new.rename(folder)

    def vmlinux(self, image: Path, folder: Path) -> None:
        """Add the vmlinux with debug information to folder, if the image has one."""
        release = image_release(folder)
        debug = image / "usr/lib/debug"
        beside = [image / lib / "modules" / release / "vmlinux" for lib in ("lib", "usr/lib")]
        names = [f"boot/vmlinux-{release}", f"lib/modules/{release}/vmlinux"]
        file = self.first_file([*(debug / name for name in names), image / names[0], *beside])
        if file and not (folder / "vmlinux").is_file():
            self.run(f"cannot copy {file} into {self.stock}", ["cp", file, self.part / "vmlinux"])
            (self.part / "vmlinux").rename(folder / "vmlinux")
            self.lab.make_index(folder / "vmlinux", beside=True)

    def debug(self, image: Path, folder: Path) -> None:
        """Add the modules' debug files to folder, compressed to a third, if the image has any."""
        release = image_release(folder)
        kernel = image / "usr/lib/debug/lib/modules" / release / "kernel"
        if not kernel.is_dir() or (folder / "debug").is_dir():
            return
        self.lab.note(f"keeping the debug symbols of modules of {release}")
        new, what = self.part / "debug", f"cannot keep the debug symbols of modules in {self.stock}"
        (new / "modules" / release).mkdir(parents=True)
        self.run(what, ["cp", "-a", kernel, new / "modules" / release])
        files = [str(file) for end in ("*.ko", "*.ko.debug") for file in new.rglob(end)]
        names = "\0".join(files).encode()
        self.run(what, ["xargs", "-0", "-r", "-n", "16", "-P", str(os.cpu_count()), "gzip", "-1"], input=names)
        new.rename(folder / "debug")

    def link(self, name: str, folder: Path) -> None:
        """Make stock/NAME a link to the folder of a version."""
        link = self.part / "link"
        remove(link)
        link.symlink_to(f"versions/{folder.name}")
        link.rename(self.stock / name)

    def module_files(self, root: Path, release: str, modules: Sequence[str]) -> list[str] | None:
        """Return the files of modules and of their dependencies, in the order of loading, without built-in modules. Return None
        if a module is missing."""
        files: list[str] = []
        for module in modules:
            words = ["/sbin/modprobe", "-C", "/dev/null", "-d", str(root), "-S", release, "--show-depends", module]
            said = output(words)
            if not said:
                return None
            files += [file for file in re.findall(r"^insmod (.*\.ko[.a-z]*) *$", said, re.MULTILINE) if file not in files]
        return files

    def initramfs(self, folder: Path, release: str) -> None:
        """Make the initramfs, whose modules can mount the host's files. Write 9p or virtiofs to the file "share"."""
        for module, option in NEEDED.items():
            if self.module_files(folder, release, [module]) is None:
                raise LabError(f"kernel {release} cannot be a guest of the lab: it lacks CONFIG_{option}")
        share, files = "9p", self.module_files(folder, release, [*NEEDED, "9p", "9pnet_virtio"])
        if files is None:
            share, files = "virtiofs", self.module_files(folder, release, [*NEEDED, "virtiofs"])
        if files is None:
            lacks = "CONFIG_9P_FS with CONFIG_NET_9P_VIRTIO, and CONFIG_VIRTIO_FS"
            raise LabError(f"kernel {release} cannot be a guest of the lab: it lacks {lacks}")
        (folder / "share").write_text(share + "\n")
        tree = self.part / "initramfs"
        for name in ("bin", "modules", "root"):
            (tree / name).mkdir(parents=True)
        shutil.copy(shutil.which("busybox") or "busybox", tree / "bin/busybox")
        shutil.copy(self.lab.data / "guests/guest-initramfs", tree / "init")
        (tree / "init").chmod(0o755)
        for number, file in enumerate(files, 101):
            # Number the files, so that a glob lists them in the order to load them.
            with (tree / f"modules/{number}.ko").open("wb") as unpacked:
                self.run(f"cannot unpack {file}", [*UNPACK.get(Path(file).suffix, ["cat"]), file], stdout=unpacked)
        with (folder / "initramfs").open("wb") as archive:
            names = "".join(f"{one.relative_to(tree)}\n" for one in [tree, *sorted(tree.rglob("*"))]).encode()
            words = ["cpio", "--quiet", "-o", "-H", "newc"]
            self.run(f"cannot write {folder}/initramfs", words, cwd=tree, input=names, stdout=archive)
