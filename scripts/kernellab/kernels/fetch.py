"""`lab fetch`: get Debian's kernels from its archive, and unpacked images of any distribution, without installing them."""

import hashlib
import os
import re
import shutil
from pathlib import Path

from ..lab import Lab, LabError, UsageError, output, read_options, remove
from .definitions import Kernels, version_key
from .image import Installer, image_release

# Take a kernel from the first suite that has it. sid is last because its list of packages is large.
SUITES = "bookworm-security trixie-security trixie-backports bullseye-security bookworm-backports sid".split()
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
VMLINUX_MB = 600  # a vmlinux with debug symbols has 0.4 to 0.6 GB
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


def command(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab fetch`."""
    lab = kernels.lab
    said = read_options(lab, "fetch", words, "", "--dbg --dbg-modules --newer")
    names = said.all("")
    symbols = "modules" if said.has("--dbg-modules") else "kernel" if said.has("--dbg") else ""
    fetcher = Fetcher(kernels)
    if not names:
        fetcher.list_archive()
    elif names[0].startswith("file:"):
        if len(names) > 2:
            raise UsageError("fetch file:DIR takes one name")
        fetcher.fetch_image(names[0].removeprefix("file:"), "".join(names[1:]))
    else:
        for name in names:
            if not name.startswith("debian-") or not kernels.is_stock(name):
                known = "debian-6.1, debian-6.12-cloud, debian-6.1-rt, ... (scripts/lab fetch lists them), or file:DIR"
                raise UsageError(f"cannot fetch '{name}': {known}")
        for name in names:
            folder = lab.cache / "stock" / name
            if said.has("--newer") or not (folder / "bzImage").is_file() or not has_symbols(folder, symbols):
                fetcher.fetch_debian(name, symbols)


def has_symbols(folder: Path, symbols: str) -> bool:
    """Return whether folder has these debug symbols: "kernel", "modules" (the kernel's and its modules'), or "" (none)."""
    return (not symbols or (folder / "vmlinux").is_file()) and (symbols != "modules" or (folder / "debug").is_dir())


class Suite:
    """A suite of Debian's archive. apt runs with the package lists of this suite, and without the machine's configuration."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.name = name
        self.dir = lab.cache / "stock/apt" / name
        self.env = os.environ | {"APT_CONFIG": str(self.dir / "apt.conf"), "LC_ALL": "C"}

    def update(self, installer: Installer) -> None:
        """Get the newest list of packages."""
        archive = "debian-security" if self.name.endswith("-security") else "debian"
        (self.dir / "lists/partial").mkdir(parents=True, exist_ok=True)
        source = f"deb [signed-by={KEYRING}] http://deb.debian.org/{archive} {self.name} main\n"
        (self.dir / "sources.list").write_text(source)
        (self.dir / "status").write_text("")
        (self.dir / "apt.conf").write_text(APT_CONF.format(dir=self.dir))
        installer.run(f"cannot read Debian's list of packages, suite {self.name}", ["apt-get", "-q", "update"], env=self.env)

    def kernels(self) -> dict[str, str]:
        """Return a dictionary from the lab's names of kernels to their newest packages in this suite."""
        found = {}
        for package in sorted(output(["apt-cache", "pkgnames", "linux-image-"], env=self.env).split(), key=version_key):
            match = PACKAGE.fullmatch(package)
            if match:
                flavour = re.search(r"-(cloud|rt)$", match[2] or "")
                found[f"debian-{match[1]}{flavour[0] if flavour else ''}"] = package
        return found

    def field(self, package: str, name: str) -> str:
        match = re.search(rf"^{name}: (.*)$", output(["apt-cache", "show", package], env=self.env), re.MULTILINE)
        return match[1] if match else ""


DEBUG_KERNEL = "'./usr/lib/debug/boot/vmlinux-*' './usr/lib/debug/lib/modules/*/vmlinux'"  # omit modules, which have gigabytes


class Fetcher(Installer):
    """Download kernels, and install them into the cache."""

    def __init__(self, kernels: Kernels) -> None:
        super().__init__(kernels.lab)
        self.kernels = kernels

    def list_archive(self) -> None:
        """Print the kernels that Debian's archive has, with their versions."""
        self.check_tools("apt-get")
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")
        seen: set[str] = set()
        for suite in [Suite(self.lab, name) for name in SUITES]:
            suite.update(self)
            newest = suite.kernels()
            for name in sorted(newest, key=version_key):
                print(f"{name + ('@' + suite.name if name in seen else ''):<36} {newest[name]}")
            seen |= set(newest)

    def pick(self, name: str) -> tuple[Suite, str]:
        """Return the first suite with a kernel, and the kernel's newest package in this suite."""
        kernel, _, suite_name = name.partition("@")
        suites = [suite_name] if suite_name else SUITES
        for suite in [Suite(self.lab, one) for one in suites]:
            suite.update(self)
            package = suite.kernels().get(kernel)
            if package:
                return suite, package
        raise LabError(f"Debian has no kernel {name} (looked in {' '.join(suites)}); scripts/lab fetch lists what it has")

    def fetch_debian(self, name: str, symbols: str) -> None:
        self.check_tools("apt-get", "apt-cache", "dpkg-deb")
        with self.kernels.locks.hold("stock", f"fetch {name}"):
            self.begin()
            suite, package = self.pick(name)
            version = suite.field(package, "Version")
            folder = self.lab.cache / "stock/versions" / f"{package}_{version}"
            image = self.part / "image"
            if not folder.is_dir():
                # From 7.x on, the kernel's files are in three packages that the image depends on.
                depends = re.findall(r"linux-(?:base|binary|modules)-[^ ,]+", suite.field(package, "Depends"))
                packages = [one for one in depends if "-" + package.removeprefix("linux-image-") in one] + [package]
                self.download(name, suite, version, packages, "")
                self.image(image, folder, f"{name}: {package.removeprefix('linux-image-')} ({version}, {suite.name})")
            if not has_symbols(folder, symbols):
                files = "./usr/lib/debug" if symbols == "modules" else DEBUG_KERNEL
                self.download(f"{name}, debug symbols", suite, version, [package + "-dbg"], files)
                self.vmlinux(image, folder)
                self.debug(image, folder)
            self.link(name, folder)
            remove(self.part)

    def download(self, what: str, suite: Suite, version: str, packages: list[str], files: str) -> None:
        """Print the size, download packages, and unpack the files that match `files`, or all files, into stock/part/image."""
        size = sum(int(suite.field(package, "Size") or 0) for package in packages) // 1000000
        space = sum(int(suite.field(package, "Installed-Size") or 0) for package in packages) // 1000
        space = VMLINUX_MB if files == DEBUG_KERNEL else space
        free = shutil.disk_usage(self.stock).free // 1000000
        needs = f"{size} MB to download, then {space} MB in {self.stock}"
        self.lab.note(f"fetching {what} ({version} from {suite.name}): {needs}")
        if free <= size + space:
            remove(self.part)
            raise LabError(f"fetching {what} needs {size + space} MB in {self.stock}, {free} MB are free")
        (self.part / "image").mkdir(parents=True, exist_ok=True)
        script = f'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards {files}'
        unpack = ["bash", "-o", "pipefail", "-c", script, "unpack"] if files else ["dpkg-deb", "-x"]
        for package in packages:
            words = ["apt-get", "-q", "download", f"{package}={version}"]
            self.run(f"cannot download {package}", words, cwd=self.part, env=suite.env)
            for file in self.part.glob(f"{package}_*.deb"):
                self.run(f"cannot unpack {package}", [*unpack, file, self.part / "image"])
                file.unlink()

    def fetch_image(self, source: str, name: str) -> None:
        """Install the kernel of an unpacked image of any distribution."""
        image = Path(source)
        if not image.is_dir():
            raise LabError(f"folder {source} does not exist")
        self.check_tools()
        release = image_release(image)
        kernel = self.kernel(image, release)
        name = name or release
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+~-]*", name):
            raise UsageError(f"'{name}' is not a valid kernel name")
        if name.startswith("debian-") or (name not in self.kernels.stock_names() and self.is_known(name)):
            raise LabError(f"'{name}' is the name of another kernel; specify a name: scripts/lab fetch file:{source} NAME")
        with self.kernels.locks.hold("stock", f"fetch {name}"):
            self.begin()
            key = hashlib.sha256(kernel.read_bytes()).hexdigest()[:12]
            folder = self.lab.cache / "stock/versions" / f"file-{release}-{key}"
            if not folder.is_dir():
                self.image(image, folder, f"{release}, from {image.resolve()}")
            self.vmlinux(image, folder)
            self.debug(image, folder)
            self.link(name, folder)
            remove(self.part)

    def is_known(self, name: str) -> bool:
        try:
            self.kernels.check_known(name)
            return True
        except LabError:
            return False


def listed(lab: Lab) -> str:
    """Return a summary of kernels that can be fetched, from package lists that an earlier `lab fetch` stored."""
    suites = [Suite(lab, name) for name in SUITES if (lab.cache / "stock/apt" / name).is_dir()]
    names = sorted({re.sub(r"-(cloud|rt)$", "", name) for suite in suites for name in suite.kernels()}, key=version_key)
    return f"{' '.join(names)} and these with -cloud or -rt" if names else "scripts/lab fetch lists them"
