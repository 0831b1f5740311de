"""Pairs of kernels, or of boots, that differ in one protection."""

from ..lab import Lab, LabError
from .definitions import Kernels


def pair_kernels(kernels: Kernels, protection: str, series: str) -> tuple[str, str]:
    """Returns the names of the two kernels that differ in a protection, which are one where a parameter switches it. series is
    empty for that of base. Raises LabError where the lab cannot switch it."""
    suffix = "-" + series if series else ""
    fact = kernels.protections.need(protection, series or kernels.base_series())
    if fact.missing:
        raise LabError(f"the lab cannot switch {protection}: {fact.missing}")
    if not fact.exists:
        raise LabError(f"this Linux has no {protection}, which is new in {fact.since} (scripts/lab ... --series 6.12)")
    if fact.switched_by == "boot":
        same = kernels.fragment(f"{protection}-on{suffix}") == kernels.fragment("baseline" + suffix)
        kernel = ("baseline" if same else "switches") + suffix
        return kernel, kernel
    if fact.switched_by in ("rebuild", "full rebuild"):
        return f"{protection}-off{suffix}", f"{protection}-on{suffix}"
    if fact.switched_by == "programs":
        raise LabError(f"{protection} is switched by programs, not by the kernel")
    raise LabError(f"{protection} is always there")


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
