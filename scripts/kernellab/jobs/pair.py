"""Which two kernels are compared, and what either has on its command line."""

import os
import re
from dataclasses import dataclass, field

from ..kernels.definitions import Kernels
from ..kernels.pairs import check_pair_of_boots, pair_kernels
from ..lab import Lab, UsageError

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
        baseline, hardened = pair_kernels(kernels, wanted.protection, wanted.series)
    fact = kernels.protections.need(wanted.protection, series)
    append = {"baseline": fact.parameter["off"], "hardened": fact.parameter["on"]}
    return Pair({"baseline": baseline, "hardened": hardened}, append, fact.lab_cpu)
