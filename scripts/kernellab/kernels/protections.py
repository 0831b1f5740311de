"""Protections of the catalogue as the lab needs them: `kprotperf list --protections` says what switches each.

What a parameter of the kernel's command line switches needs two boots of one kernel: baseline, or switches, which has built in
what baseline has not. All others need two kernels.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..lab import Lab, UsageError


@dataclass
class Fact:
    """A protection, of one series of Linux; sides are "off" and "on"."""

    name: str
    title: str
    switched_by: str
    missing: str
    since: str
    lab_cpu: str
    exists: bool  # in that series
    options: dict[str, list[str]]
    parameter: dict[str, str]
    symbols: list[str]


def release(version: str) -> int:
    major, minor = version.split(".")[:2]
    return int(major) * 1000 + int(minor)


def exists(entry: dict[str, Any], series: str) -> bool:
    return release(entry.get("since") or "0.0") <= release(series) < release(entry.get("until") or "99.0")


def option_line(option: dict[str, Any], side: str) -> str:
    symbol, value = option["symbol"], option[side]
    return f"# CONFIG_{symbol} is not set" if value == "n" else f"CONFIG_{symbol}={value}"


class Protections:
    """The catalogue."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    @cached_property
    def catalogue(self) -> dict[str, dict[str, Any]]:
        self.lab.need_kprotperf(", which knows the protections")
        found = self.lab.ask("list", "--protections", "--format=json") or {"protections": []}
        return {one["name"]: one for one in found["protections"]}

    def names(self) -> list[str]:
        return list(self.catalogue) if self.lab.has_kprotperf() else []

    def fact(self, name: str, series: str) -> Fact | None:
        """Returns what is known of a protection in a series, None where there is no such protection."""
        one = self.catalogue.get(name)
        if one is None:
            return None
        by_boot = one["switched_by"] == "boot"
        options = [option for option in one["options"] if option["role"] != "default" and exists(option, series)]
        parameters = [parameter for parameter in one["parameters"] if exists(parameter, series)] if by_boot else []

        def parameter(side: str) -> str:
            value = parameters[0].get(side) if parameters else None
            return "" if value is None else f"{parameters[0]['name']}{'=' + value if value else ''}"

        return Fact(
            name,
            one["title"],
            one["switched_by"],
            one.get("missing") or "",
            one.get("since") or "",
            one.get("lab_cpu") or "",
            exists(one, series),
            # With a parameter for it, the kernel has it on either side.
            {side: [option_line(option, "on" if by_boot else side) for option in options] for side in ("off", "on")},
            {side: parameter(side) for side in ("off", "on")},
            [option["symbol"] for option in options if option["on"] != "n"],
        )

    def need(self, name: str, series: str) -> Fact:
        """Returns the same; raises UsageError where there is no such protection."""
        fact = self.fact(name, series)
        if fact is None:
            near = self.lab.guess(name, self.names())
            raise UsageError(f"unknown protection '{name}'; see kprotperf list --protections{near}")
        return fact
