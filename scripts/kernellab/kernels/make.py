"""make: the one program that compiles kernels and modules."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from ..lab import Lab, LabError, missing_tools
from ..locks import Locks
from .definitions import Kernels

# Everything that would make two builds of one configuration differ is fixed.
FIXED = [
    "KBUILD_BUILD_TIMESTAMP=2026-01-01",
    "KBUILD_BUILD_USER=lab",
    "KBUILD_BUILD_HOST=lab",
    "KBUILD_BUILD_VERSION=1",
    "LOCALVERSION=",
]
TOOLS = "flex bison bc pahole cpio lz4 xz tar flock git rsync".split()
FAILURES = (r"error:|undefined reference|No space|Killed", r"error|Error")


class Make:
    """make in the lab's sources and object trees."""

    def __init__(self, lab: Lab, kernels: Kernels, locks: Locks) -> None:
        self.lab = lab
        self.kernels = kernels
        self.locks = locks

    def check_tools(self, compiler: str) -> None:
        """Raises LabError where what builds kernels is not there."""
        tools, purpose = ["make", compiler, *TOOLS], "lab"
        if compiler.startswith("clang-"):
            llvm = [f"{tool}-{compiler[6:]}" for tool in ("ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy")]
            tools, purpose = ["make", compiler, *llvm, *TOOLS], "lab-clang"
        missing = missing_tools(tools)
        if missing:
            raise LabError(f"cannot build kernels without {' '.join(missing)}; install them with scripts/setup --for={purpose}")

    def words(self, src: Path, obj: Path, *targets: str) -> list[str]:
        options = obj / "fragment" if (obj / "fragment").is_file() else obj / ".config"
        compiler = self.kernels.compiler(options.read_text().splitlines())
        llvm = [f"LLVM=-{compiler[6:]}"] if compiler.startswith("clang-") else []
        return ["make", "-C", str(src), f"O={obj}", f"CC={compiler}", *llvm, *FIXED, *targets]

    def configure(self, name: str, src: Path, obj: Path, log: Path) -> None:
        """Makes a kernel's configuration, as far as it holds."""
        (obj / "fragment").write_text("".join(line + "\n" for line in self.kernels.fragment(name)))
        words = self.words(src, obj, f"KCONFIG_ALLCONFIG={obj}/fragment", "allnoconfig")
        with log.open("ab") as file:
            if subprocess.run(words, stdout=file, stderr=file, check=False).returncode != 0:
                raise self.failed(f"kernel {name}", log)

    def run(self, what: str, src: Path, obj: Path, log: Path, *targets: str) -> None:
        """Runs make, with a progress line on a terminal. Raises LabError with the first error where it fails."""
        words = self.words(src, obj, "-j", str(os.cpu_count()), *targets)
        # A process group of its own, so that a signal to the lab can end the compilers too; make leaves no half-made target
        # behind. It inherits the locks: were only the lab killed, no other build may join it in its tree.
        with log.open("ab") as file:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, process_group=0, pass_fds=self.locks.fds()
            )
        try:
            self.wait(process, what, log)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
        if process.returncode != 0:
            raise self.failed(what, log)

    def wait(self, process: subprocess.Popen[bytes], what: str, log: Path) -> None:
        while sys.stderr.isatty():
            print(f"\rlab: {what}: {log.read_bytes().count(10)} steps  ", end="", file=sys.stderr, flush=True)
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                continue
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            return
        process.wait()

    def failed(self, what: str, log: Path) -> LabError:
        """Returns the error with the first reason in the log, and where that is."""
        lines = log.read_text(errors="replace").splitlines()
        found = [(number, line) for one in FAILURES for number, line in enumerate(lines, 1) if re.search(one, line)]
        number, line = found[0] if found else (len(lines), "no reason given")
        line = re.sub(re.escape(str(self.lab.cache)) + "/src/[^/]*/", "", line)
        return LabError(f"cannot build {what}: {line}; log: {log}:{number}")
