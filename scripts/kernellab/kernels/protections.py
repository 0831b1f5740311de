"""The catalogue of protections (`kprotperf list --protections`), and the ways in which the lab switches them.

If a kernel parameter switches a protection, both sides boot the same kernel: "baseline" or, for a protection that it lacks,
"switches".
"""

from functools import cached_property
from typing import Any

from ..lab import Lab, UsageError


def release(version: str) -> int:
    major, minor = version.split(".")[:2]
    return int(major) * 1000 + int(minor)


def exists(entry: dict[str, Any], series: str) -> bool:
    return release(entry.get("since") or "0.0") <= release(series) < release(entry.get("until") or "99.0")


def option_line(option: dict[str, Any], side: str) -> str:
    symbol, value = option["symbol"], option[side]
    return f"# CONFIG_{symbol} is not set" if value == "n" else f"CONFIG_{symbol}={value}"


class Fact:
    """The way to switch a protection in one series of Linux. The sides are "off" and "on"."""

    def __init__(self, entry: dict[str, Any], series: str) -> None:
        self.title: str = entry["title"]
        self.switched_by: str = entry["switched_by"]
        self.missing, self.since, self.lab_cpu = (entry.get(key) or "" for key in ("missing", "since", "lab_cpu"))
        self.exists = exists(entry, series)
        by_boot = self.switched_by == "boot"
        options = [option for option in entry["options"] if option["role"] != "default" and exists(option, series)]
        parameters = [parameter for parameter in entry["parameters"] if exists(parameter, series)] if by_boot else []
        # If a kernel parameter switches the protection, both kernels are built with it.
        self.options = {side: [option_line(option, "on" if by_boot else side) for option in options] for side in ("off", "on")}
        self.parameter = {side: parameter_word(parameters[0], side) if parameters else "" for side in ("off", "on")}
        self.symbols: list[str] = [option["symbol"] for option in options if option["on"] != "n"]


def parameter_word(parameter: dict[str, Any], side: str) -> str:
    value = parameter.get(side)
    return "" if value is None else f"{parameter['name']}{'=' + value if value else ''}"


class Protections:
    """The catalogue of protections."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    @cached_property
    def catalogue(self) -> dict[str, dict[str, Any]]:
        self.lab.need_kprotperf(", which knows the protections")
        found = self.lab.ask("list", "--protections", "--format=json") or {"protections": []}
        return {one["name"]: one for one in found["protections"]}

    def names(self) -> list[str]:
        return list(self.catalogue) if self.lab.has_kprotperf() else []

    def need(self, name: str, series: str) -> Fact:
        """Return the facts about a protection in a series. Raise UsageError if there is no such protection."""
        if name not in self.catalogue:
            near = self.lab.guess(name, self.names())
            raise UsageError(f"unknown protection '{name}'; see kprotperf list --protections{near}")
        return Fact(self.catalogue[name], series)
