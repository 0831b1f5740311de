"""lab fetch: Debian's kernels from its archive, verified with the archive's keys, and unpacked images of any distribution.
Nothing is installed."""

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Callable

from ..lab import Lab, LabError, UsageError, output, remove
from ..locks import Locks
from ..words import REST, no_option, options
from . import stock
from .definitions import Kernels, version_key
from .image import Installer

# The first suite that has a kernel wins. Their package lists are small, sid's is not.
SUITES = "bookworm-security trixie-security trixie-backports bullseye-security bookworm-backports sid".split()
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
VMLINUX_MB = 600  # a kernel's debug symbols have 0.4 to 0.6 GB
PACKAGE = re.compile(r"linux-image-([0-9]+\.[0-9]+)([.~+-][a-z0-9.+~-]*)?-amd64")
APT_CONF = """\
Dir::State "{dir}";
Dir::State::lists "{dir}/lists";
Dir::State::status "{dir}/status";
Dir::Cache "{dir}";
Dir::Etc::sourcelist "{dir}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Languages "none";
Acquire::http::Timeout "30";
APT::Architecture "amd64";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
"""


def command(lab: Lab, kernels: Kernels, words: list[str], usage: str) -> None:
    """Does what `fetch` with these words is to do."""
    names, symbols, newer = [], "", False
    for option, value, known in options(words, (), ("--dbg", "--dbg-modules", "--newer")):
        if not known:
            raise no_option(lab, usage, "fetch", option)
        if option == REST:
            names.append(value)
        newer = newer or option == "--newer"
        if option.startswith("--dbg"):
            symbols = "modules" if option == "--dbg-modules" else symbols or "kernel"
    fetcher = Fetcher(lab, kernels)
    if names and names[0].startswith("file:"):
        if len(names) > 2:
            raise UsageError("fetch file:DIR takes one name")
        fetcher.fetch_image(names[0][len("file:") :], "".join(names[1:]))
        return
    if not names:
        fetcher.list_archive()
        return
    for name in names:
        if not name.startswith("debian-") or not stock.is_stock(lab, name):
            known_ones = "debian-6.1, debian-6.12-cloud, debian-6.1-rt, ... (scripts/lab fetch lists them), or file:DIR"
            raise UsageError(f"cannot fetch '{name}': {known_ones}")
    for name in names:
        if (
            newer
            or not (lab.cache / "stock" / name / "bzImage").is_file()
            or not has_symbols(lab.cache / "stock" / name, symbols)
        ):
            fetcher.fetch_debian(name, symbols)


def has_symbols(folder: Path, symbols: str) -> bool:
    """Returns whether those that are wanted are there: the kernel's, and its modules', or none."""
    return (not symbols or (folder / "vmlinux").is_file()) and (symbols != "modules" or (folder / "debug").is_dir())


class Suite:
    """A suite of Debian's archive: apt with that suite's lists, and nothing of the machine's."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.name = name
        self.dir = lab.cache / "stock/apt" / name
        self.env = os.environ | {"APT_CONFIG": str(self.dir / "apt.conf"), "LC_ALL": "C"}

    def update(self, installer: Installer) -> None:
        """Gets the newest list of packages."""
        archive = "debian-security" if self.name.endswith("-security") else "debian"
        (self.dir / "lists/partial").mkdir(parents=True, exist_ok=True)
        source = f"deb [signed-by={KEYRING}] http://deb.debian.org/{archive} {self.name} main\n"
        (self.dir / "sources.list").write_text(source)
        (self.dir / "status").write_text("")
        (self.dir / "apt.conf").write_text(APT_CONF.format(dir=self.dir))
        installer.run(f"cannot read Debian's list of packages, suite {self.name}", ["apt-get", "-q", "update"], env=self.env)

    def kernels(self) -> list[tuple[str, str]]:
        """Returns the name in the lab and the package of each kernel in the list, the newest last."""
        found = []
        for package in sorted(output(["apt-cache", "pkgnames", "linux-image-"], env=self.env).split(), key=version_key):
            match = PACKAGE.fullmatch(package)
            if match:
                flavour = re.search(r"-(cloud|rt)$", match[2] or "")
                found.append((f"debian-{match[1]}{flavour[0] if flavour else ''}", package))
        return found

    def field(self, package: str, name: str) -> str:
        match = re.search(rf"^{name}: (.*)$", output(["apt-cache", "show", package], env=self.env), re.MULTILINE)
        return match[1] if match else ""


def unpack_package(package: Path, into: Path) -> list[str]:
    return ["dpkg-deb", "-x", str(package), str(into)]


def unpack_part(package: Path, into: Path, what: str) -> list[str]:
    script = f'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards {what}'
    return ["bash", "-o", "pipefail", "-c", script, "unpack", str(package), str(into)]


def unpack_kernel_symbols(package: Path, into: Path) -> list[str]:
    # Its modules' are gigabytes.
    return unpack_part(package, into, "'./usr/lib/debug/boot/vmlinux-*' './usr/lib/debug/lib/modules/*/vmlinux'")


def unpack_all_symbols(package: Path, into: Path) -> list[str]:
    return unpack_part(package, into, "./usr/lib/debug")


class Fetcher:
    """Fetches kernels."""

    def __init__(self, lab: Lab, kernels: Kernels) -> None:
        self.lab = lab
        self.kernels = kernels
        self.locks = Locks(lab)
        self.installer = Installer(lab)

    # --- Debian's archive ------------------------------------------------------

    def list_archive(self) -> None:
        """Prints what could be fetched, of what version."""
        self.installer.check_tools("apt-get")
        self.installer.log.parent.mkdir(parents=True, exist_ok=True)
        self.installer.log.write_bytes(b"")
        seen: set[str] = set()
        for suite in [Suite(self.lab, name) for name in SUITES]:
            suite.update(self.installer)
            newest = dict(suite.kernels())
            for name in sorted(newest, key=version_key):
                print(f"{name + ('@' + suite.name if name in seen else ''):<36} {newest[name]}")
            seen |= set(newest)

    def pick(self, name: str) -> tuple[Suite, str]:
        """Returns the first suite that has a kernel, and its newest package there."""
        kernel, _, suite_name = name.partition("@")
        suites = [suite_name] if suite_name else SUITES
        for suite in [Suite(self.lab, one) for one in suites]:
            suite.update(self.installer)
            package = dict(suite.kernels()).get(kernel)
            if package:
                return suite, package
        raise LabError(f"Debian has no kernel {name} (looked in {' '.join(suites)}); scripts/lab fetch lists what it has")

    def fetch_debian(self, name: str, symbols: str) -> None:
        self.installer.check_tools("apt-get", "apt-cache", "dpkg-deb")
        with self.locks.hold("stock", f"fetch {name}"):
            self.installer.begin()
            suite, package = self.pick(name)
            version = suite.field(package, "Version")
            folder = self.lab.cache / "stock/versions" / f"{package}_{version}"
            image = self.installer.part / "image"
            if not folder.is_dir():
                # From 7.x the image is a shell around three packages.
                depends = re.findall(r"linux-(?:base|binary|modules)-[^ ,]+", suite.field(package, "Depends"))
                packages = [one for one in depends if "-" + package.removeprefix("linux-image-") in one] + [package]
                self.download(name, suite, version, unpack_package, packages)
                self.installer.image(image, folder, f"{name}: {package.removeprefix('linux-image-')} ({version}, {suite.name})")
            if not has_symbols(folder, symbols):
                unpack = unpack_all_symbols if symbols == "modules" else unpack_kernel_symbols
                self.download(f"{name}, debug symbols", suite, version, unpack, [package + "-dbg"])
                self.installer.vmlinux(image, folder)
                self.installer.debug(image, folder)
            self.installer.link(name, folder)
            remove(self.installer.part)

    def download(
        self, what: str, suite: Suite, version: str, unpack: Callable[[Path, Path], list[str]], packages: list[str]
    ) -> None:
        """Downloads and unpacks packages into stock/part/image. What it takes is said first."""
        size = sum(int(suite.field(package, "Size") or 0) for package in packages) // 1000000
        space = sum(int(suite.field(package, "Installed-Size") or 0) for package in packages) // 1000
        if unpack is unpack_kernel_symbols:
            space = VMLINUX_MB
        part, stock_dir = self.installer.part, self.installer.stock
        free = shutil.disk_usage(stock_dir).free // 1000000
        needs = f"{size} MB to download, then {space} MB in {stock_dir}"
        self.lab.note(f"fetching {what} ({version} from {suite.name}): {needs}")
        if free <= size + space:
            remove(part)
            raise LabError(f"fetching {what} needs {size + space} MB in {stock_dir}, {free} MB are free")
        (part / "image").mkdir(parents=True, exist_ok=True)
        for package in packages:
            words = ["apt-get", "-q", "download", f"{package}={version}"]
            self.installer.run(f"cannot download {package}", words, cwd=part, env=suite.env)
            for file in part.glob(f"{package}_*.deb"):
                self.installer.run(f"cannot unpack {package}", unpack(file, part / "image"))
                file.unlink()

    # --- images ----------------------------------------------------------------

    def fetch_image(self, source: str, name: str) -> None:
        """Takes an unpacked image of any distribution."""
        image = Path(source)
        if not image.is_dir():
            raise LabError(f"folder {source} does not exist")
        self.installer.check_tools()
        release = stock.image_release(image)
        kernel = self.installer.kernel(image, release)
        name = name or release
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+~-]*", name):
            raise UsageError(f"'{name}' is not a valid kernel name")
        if name.startswith("debian-") or (not (self.lab.cache / "stock" / name).is_symlink() and self.is_known(name)):
            raise LabError(f"'{name}' is the name of another kernel; specify a name: scripts/lab fetch file:{source} NAME")
        with self.locks.hold("stock", f"fetch {name}"):
            self.installer.begin()
            key = hashlib.sha256(kernel.read_bytes()).hexdigest()[:12]
            folder = self.lab.cache / "stock/versions" / f"file-{release}-{key}"
            if not folder.is_dir():
                self.installer.image(image, folder, f"{release}, from {image.resolve()}")
            self.installer.vmlinux(image, folder)
            self.installer.debug(image, folder)
            self.installer.link(name, folder)
            remove(self.installer.part)

    def is_known(self, name: str) -> bool:
        try:
            self.kernels.check_known(name)
            return True
        except LabError:
            return False


def listed(lab: Lab) -> str:
    """Returns what can be fetched in a few words, as far as lists were read before."""
    found = {
        kernel for suite in SUITES if (lab.cache / "stock/apt" / suite).is_dir() for kernel, _ in Suite(lab, suite).kernels()
    }
    names = sorted({re.sub(r"-(cloud|rt)$", "", name) for name in found}, key=version_key)
    return f"{' '.join(names)} and these with -cloud or -rt" if names else "scripts/lab fetch lists them"
