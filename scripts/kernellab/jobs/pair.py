"""The two kernels of a comparison, and their parameters."""

import os
import re
from dataclasses import dataclass

from ..kernels.definitions import Kernels
from ..kernels.protections import Fact
from ..lab import LabError, Options, UsageError

SIDES = ("baseline", "hardened")
CHANGES = ("--patch", "--tree", "--config")


@dataclass(frozen=True)
class Side:
    """A kernel, by name or path, and the options of its boots."""

    kernel: str
    append: str = ""
    cpu: str = ""  # value of --cpu: features of QEMU's CPU


def readable(kernel: str) -> str:
    if not os.access(kernel, os.R_OK):
        raise LabError(f"cannot read the kernel {kernel}")
    return kernel


def named(given: Options, side: str) -> str:
    """Return the name or path of the kernel that the options give for a side, or ""."""
    bzimage = given.get("--bzimage-" + side)
    return os.path.realpath(readable(bzimage)) if bzimage else given.get("--" + side)


def changed_name(option: str, value: str) -> str:
    """Return the name of the kernel that --patch, --tree or --config defines. It contains the name of the first file."""
    name = os.path.basename(os.path.abspath(value))
    name = name if option == "--tree" else os.path.splitext(name)[0] or name
    return "ab-" + re.sub("[^a-z0-9_-]", "-", name.lower())


def fact_of_boots(kernels: Kernels, protection: str, kernel: str) -> Fact:
    """Return the facts about a protection. Raise LabError unless a kernel parameter can switch it on this kernel."""
    kernels.check_known(kernel)
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
        kernels.lab.note(f"{without}; get them with: scripts/lab fetch --dbg {kernel}")
    return fact


def choose(kernels: Kernels, given: Options) -> dict[str, Side]:
    """Return the two kernels that the options of `lab ab` select. Raise LabError if they do not exist."""
    baseline, hardened = named(given, "baseline"), named(given, "hardened")
    kernel, series, protection = map(given.get, ("--kernel", "--series", "--protection"))
    changes, suffix = [one for one in given.given if one[0] in CHANGES], "-" + series if series else ""
    if changes:
        if hardened or kernel or protection or "/" in baseline:
            how = "build the hardened kernel, from a --baseline that the lab builds"
            raise UsageError(f"--patch, --tree and --config {how}")
        hardened = changed_name(*changes[0])
    elif kernel:
        if baseline or hardened or series:
            raise UsageError("--kernel is for both sides: it cannot be combined with --baseline, --hardened or --series")
        baseline = hardened = kernel
    if not protection:
        return {"baseline": Side(baseline or "baseline" + suffix), "hardened": Side(hardened or "hardened" + suffix)}
    if kernel:
        fact = fact_of_boots(kernels, protection, kernel)
    else:
        if baseline or hardened:
            raise UsageError("--protection chooses the kernels: it cannot be combined with --baseline or --hardened")
        baseline, hardened = kernels.pair(protection, series)
        fact = kernels.protections.need(protection, series or kernels.base_series())
    off, on = fact.parameter["off"], fact.parameter["on"]
    return {"baseline": Side(baseline, off, fact.lab_cpu), "hardened": Side(hardened, on, fact.lab_cpu)}
