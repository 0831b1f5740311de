"""Rows of a matrix. A row compares a protection off and on, as `lab ab --protection` does, or combines two protections."""

import re
from dataclasses import dataclass, field, replace
from typing import Sequence

from ..kernels.definitions import Kernels
from ..lab import LabError, Options
from .pair import Side, choose

SWITCHED = ("boot", "rebuild", "full rebuild")
BASELINE = re.compile(r"baseline(-[0-9.]+)?")
FLOOR = "A+A"


@dataclass
class Row:
    """A row: the kernels with the protection "off" and "on", or the reason why there are none."""

    name: str
    sides: dict[str, Side] = field(default_factory=dict)
    reason: str = ""
    folders: dict[str, str] = field(default_factory=dict)  # names of the sides' folders in boots/


def protection_row(kernels: Kernels, name: str, protection: str, source: tuple[str, str], own_cpu: bool) -> Row:
    """Return the row of a protection. `source` is ("--series" or "--kernel", name). `own_cpu`: no --cpu, for a machine."""
    try:
        pair = choose(kernels, Options(("--protection", protection), source))
    except LabError as error:
        return Row(name, reason=kernels.lab.text(str(error)))
    off, on = (replace(side, cpu="") if own_cpu else side for side in pair.values())
    return Row(name, {"off": off, "on": on})


def join(one: Side, other: Side) -> Side:
    """Return a side with the parameters of both sides. If a side's kernel is not baseline, use it, since it has the options of
    baseline and more. Raise LabError if the sides need different kernels or CPUs."""
    kernel = other.kernel if BASELINE.fullmatch(one.kernel) else one.kernel
    other_kernel = kernel if BASELINE.fullmatch(other.kernel) else other.kernel
    if kernel != other_kernel:
        why = "at most one of them may be switched by other than parameters"
        raise LabError(f"they need two kernels, {kernel} and {other_kernel}: {why}")
    if one.cpu and other.cpu and one.cpu != other.cpu:
        raise LabError(f"they need two CPUs, {one.cpu} and {other.cpu}")
    return Side(kernel, " ".join(filter(None, (one.append, other.append))), one.cpu or other.cpu)


def together_rows(p: Row, q: Row, suffix: str) -> list[Row]:
    """Return the four rows for two protections: each one alone, the second one with the first one on, and both."""
    ways = {
        f"{p.name} without {q.name}": (("off", "off"), ("on", "off")),
        f"{q.name} without {p.name}": (("off", "off"), ("off", "on")),
        f"{q.name} with {p.name}": (("on", "off"), ("on", "on")),
        f"{p.name}+{q.name}": (("off", "off"), ("on", "on")),
    }
    try:
        if p.reason or q.reason:
            raise LabError(p.reason or q.reason)
        sides = [[join(p.sides[one], q.sides[other]) for one, other in way] for way in ways.values()]
        return [Row(name + suffix, {"off": off, "on": on}) for name, (off, on) in zip(ways, sides)]
    except LabError as error:
        return [Row(name + suffix, reason=str(error)) for name in ways]


def switchable(kernels: Kernels) -> list[str]:
    """Return the names of the protections that the lab can switch, by boots or builds."""
    catalogue = kernels.protections.catalogue.values()
    return [one["name"] for one in catalogue if not one.get("missing") and one["switched_by"] in SWITCHED]


def best_workloads(kernels: Kernels, protections: Sequence[str]) -> list[str]:
    """Return the first workload that the catalogue lists for each of these protections, without duplicates."""
    return sorted({kernels.protections.catalogue[name]["workloads"][0] for name in protections})
