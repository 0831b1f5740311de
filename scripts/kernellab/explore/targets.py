"""Targets of a search: the code of a protection or of functions, as lines for the emulator's plugin."""

from pathlib import Path
from typing import Any

from ..kernels.definitions import Kernels
from ..kernels.protections import exists
from ..lab import Lab, LabError


def body_lines(lab: Lab, vmlinux: Path, name: str) -> list[str]:
    """Return lines for the places where a function is inlined; NAME@FUNC: into FUNC alone."""
    glob = name if "@" in name else name + "@*"
    found = lab.ask("list", f"--vmlinux={vmlinux}", "--format=json", glob) if vmlinux.is_file() else None
    return [
        f"{body['symbol']} {start - body['symbol_addr']:x} {end - body['symbol_addr']:x}"
        for body in (found or {"inlined": []})["inlined"]
        if body["symbol"]
        for start, end in body["ranges"]
    ]


def function_lines(lab: Lab, vmlinux: Path, name: str) -> list[str]:
    """Return lines for a function and the places where it is inlined. Without a vmlinux the running kernel decides whether it
    has the function."""
    if "@" in name:
        lines = body_lines(lab, vmlinux, name)
        if not lines:
            raise LabError(f"{name} is not inlined in this kernel, or it has no debug symbols; see kprotperf list '{name}'")
        return lines
    found = (
        lab.ask("list", f"--vmlinux={vmlinux}", "--format=json", name) if vmlinux.is_file() else {"functions": [{"name": name}]}
    )
    lines = [one["name"] for one in (found or {"functions": []})["functions"]] + body_lines(lab, vmlinux, name)
    if not lines:
        raise LabError(f"this kernel has no function {name}, nor is it inlined there; see kprotperf list '{name}'")
    return lines


def protection_lines(kernels: Kernels, protection: str, kernel: str, vmlinux: Path) -> list[str]:
    """Return lines for the functions that the catalogue lists for a protection. Functions that have a protection's code inlined
    are targets if nothing smaller is known."""
    entry: dict[str, Any] = kernels.protections.catalogue[protection]
    series = kernels.kernel_series(kernel)
    functions = [one for one in entry["functions"] if exists(one, series)]
    own = [one["name"] for one in functions if one["code"] in ("function", "assembly", "unprobeable")]
    inlined = [line for one in functions if one["code"] == "inline" for line in body_lines(kernels.lab, vmlinux, one["name"])]
    lines = own + inlined or [one["name"] for one in functions if one["code"] == "host"]
    if not lines:
        raise LabError(f"{protection} is in the code of all functions, so there is none to look for; use --func")
    return lines


def targets(kernels: Kernels, protection: str, functions: list[str], kernel: str) -> str:
    """Return the file of targets for the plugin."""
    vmlinux = kernels.known_dir(kernel) / "vmlinux"
    if protection:
        lines = protection_lines(kernels, protection, kernel, vmlinux)
    else:
        lines = [line for name in functions for line in function_lines(kernels.lab, vmlinux, name)]
    return "".join(line + "\n" for line in dict.fromkeys(lines))
