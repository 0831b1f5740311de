"""Which two kernels are compared, and what either has on its command line."""

import os
import re
from dataclasses import dataclass, field

from ..kernels.definitions import Kernels
from ..lab import Lab, LabError, UsageError

SIDES = ("baseline", "hardened")


@dataclass
class Pair:
    """Two sides: a kernel's name, or the path of one; parameters; and what QEMU's CPU must claim to be."""

    kernel: dict[str, str]
    append: dict[str, str] = field(default_factory=lambda: {side: "" for side in SIDES})
    cpu: str = ""


@dataclass
class Wanted:
    """What a command line says of the two."""

    baseline: str = ""
    hardened: str = ""
    kernel: str = ""
    series: str = ""
    protection: str = ""
    change: list[tuple[str, str]] = field(default_factory=list)  # --patch, --tree and --config, in order

    def patches(self) -> list[str]:
        """Returns kprotperf's options for the patches by which the sides differ."""
        return [f"{option}={value}" for option, value in self.change if option == "--patch"]


def changed_name(wanted: Wanted) -> str:
    """Returns the name of the kernel that --patch, --tree and --config make, after the first's file or folder."""
    option, value = wanted.change[0]
    name = os.path.basename(os.path.abspath(value))
    name = name if option == "--tree" else os.path.splitext(name)[0] or name
    return "ab-" + re.sub("[^a-z0-9_-]", "-", name.lower())


def check_pair_of_boots(lab: Lab, kernels: Kernels, protection: str, kernel: str) -> None:
    """Raises LabError unless a parameter of that kernel switches the protection."""
    fact = kernels.protections.need(protection, kernels.kernel_series(kernel))
    if not any(fact.parameter.values()):
        raise LabError(f"no kernel parameter switches {protection}: it needs two kernels (use ab without --kernel)")
    folder = kernels.built_dir(kernel)
    config = (folder / "config").read_text() if (folder / "config").is_file() else ""
    for symbol in fact.symbols:
        if f"\nCONFIG_{symbol}=" not in "\n" + config:
            raise LabError(f"kernel {kernel} has no {protection}: CONFIG_{symbol} is not set")
    if not (folder / "vmlinux").is_file() and kernel.startswith("debian-"):
        without = f"without debug symbols nothing is timed that is inlined in {kernel}"
        lab.note(f"{without}; get them with: scripts/lab fetch --dbg {kernel}")


def choose(lab: Lab, kernels: Kernels, wanted: Wanted) -> Pair:
    """Returns the pair; raises LabError where there is none."""
    baseline, hardened, suffix = wanted.baseline, wanted.hardened, "-" + wanted.series if wanted.series else ""
    if wanted.change:
        if hardened or wanted.kernel or wanted.protection or "/" in baseline:
            how = "build the hardened kernel, from a --baseline that the lab builds"
            raise UsageError(f"--patch, --tree and --config {how}")
        hardened = changed_name(wanted)
    elif wanted.kernel:
        if baseline or hardened or wanted.series:
            raise UsageError("--kernel is for both sides: it cannot be combined with --baseline, --hardened or --series")
        baseline = hardened = wanted.kernel
    if not wanted.protection:
        return Pair({"baseline": baseline or "baseline" + suffix, "hardened": hardened or "hardened" + suffix})
    if wanted.kernel:
        kernels.check_known(wanted.kernel)
        series = kernels.kernel_series(wanted.kernel)
        check_pair_of_boots(lab, kernels, wanted.protection, wanted.kernel)
    else:
        if baseline or hardened:
            raise UsageError("--protection chooses the kernels: it cannot be combined with --baseline or --hardened")
        series = wanted.series or kernels.base_series()
        baseline, hardened = kernels.pair(wanted.protection, wanted.series)
    fact = kernels.protections.need(wanted.protection, series)
    append = {"baseline": fact.parameter["off"], "hardened": fact.parameter["on"]}
    return Pair({"baseline": baseline, "hardened": hardened}, append, fact.lab_cpu)
