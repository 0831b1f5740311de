"""What a search found: exact counts of its programs, and the output."""

import subprocess
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

from ..lab import Lab, counted, join_lines, remove
from .program import Program, text
from .reach import Reach
from .search import END, Compared, Search

REPEATED = 256  # calls that a program is to make in all when it is counted exactly
MULTIPLIES = 1.5  # a context is named that makes the cost that many times as large
CONTEXT_OF = {"fork": "clone", END: "exit_group"}  # names of contexts in recordings that differ from the call's
ROWS = 20
PROGRAM_WIDTH = 46
TITLES = ("dearest", "typical", "cheapest")
OF_TABLE = (
    "The best program found for each call: instructions of the kernel per call on both kernels, as the emulator counts them "
    "with interrupts and deferred work (the figures above are exact):"
)
WIDTH = 100


@dataclass
class Exact:
    """How much dearer a call is on the hardened kernel, counted exactly: in %, the limits of its interval, and instructions per
    call; what `kprotperf why` says."""

    percent: float
    low: float
    high: float
    per_call: float
    calls: float
    answer: str

    def words(self) -> str:
        limits = f" (between {self.low:+.1f} and {self.high:+.1f})" if self.low < self.high else ""
        return f"{self.percent:+.2f} %{limits}, {self.per_call:+,.0f} instructions per call"


def count(lab: Lab, folder: Path, words: Sequence[str], file: Path, program: Program, call: str) -> Exact | None:
    """Count a program exactly on both kernels. Return None, after a message, if that fails or a recording lacks the call."""
    calls = sum(line.count for line in program if line.name == call) or 1
    command = [str(lab.repo / "build/workloads/calls"), "--iterations", str(max(1, REPEATED // calls)), file.name]
    done = subprocess.run(lab.command("ab", *words, "--", *command), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        lab.note(f"{file} could not be counted exactly: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
        return None
    files = [folder / "baseline.data", folder / "hardened.data"]
    found: dict[str, Any] = lab.ask("why", "--format=json", *files) or {"contexts": [], "answer": ""}
    for one in files:
        remove(one)
    name = CONTEXT_OF.get(call, call)
    row = next((one for one in found["contexts"] if one["name"] == name), None)
    if not row or not row["baseline_total"] or not row["hardened_calls"]:
        lab.note(f"{file}: {name} is not in both exact recordings")
        return None
    base, delta = row["baseline_total"], row["delta_total"]
    ends = [delta if row[key] is None else row[key] for key in ("delta_total_low", "delta_total_high")]
    return Exact(
        100 * delta / base,
        100 * ends[0] / base,
        100 * ends[1] / base,
        delta / row["hardened_calls"],
        row["hardened_calls"],
        found["answer"],
    )


def one_line(program: Program) -> str:
    return "; ".join(text(program).splitlines())


@dataclass
class Found:
    """What a search found."""

    what: str  # the targets' name
    search: Search
    hung: list[tuple[str, str]]
    reach: list[Reach] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    contexts: dict[str, float] = field(default_factory=dict)
    exact: dict[str, tuple[Exact, Compared]] = field(default_factory=dict)

    def most(self) -> str:
        """Return the context that multiplies the dearest program's cost most, or ""."""
        usual = self.contexts.get("", 0)
        there = {name: more for name, more in self.contexts.items() if name and more > usual * MULTIPLIES}
        return max(there, key=lambda name: there[name], default="")

    # --- output -------------------------------------------------------------------------

    def page(self) -> str:
        search = self.search
        tried = f"{counted(search.programs, 'program')} tried, {search.blocks:,} blocks of the kernel's code seen"
        if not search.best:
            return self.page_of_nothing(tried)
        if not self.compared:
            calls = ", ".join(sorted(search.best))
            return join_lines([f"{self.reached()}: {calls}.", f"They were not compared. {tried}."])
        lines = [self.headline(), *self.sentences(), ""]
        lines += [*textwrap.wrap(f"{tried}. {OF_TABLE}", WIDTH), ""]
        lines += [f"{'CALL':<20} {'BASELINE':>10} {'HARDENED':>10} {'MORE BY':>10}  PROGRAM"]
        for one in self.compared[:ROWS]:
            shown = textwrap.shorten(one_line(one.program), PROGRAM_WIDTH, placeholder=" ...")
            lines.append(f"{one.name:<20} {one.baseline:>10,.0f} {one.hardened:>10,.0f} {one.percent:>+8.2f} %  {shown}")
        if len(self.compared) > ROWS:
            lines.append(f"and {len(self.compared) - ROWS} more; --format json has all")
        return join_lines(lines)

    def page_of_nothing(self, tried: str) -> str:
        near = self.search.nearest
        how = f"the nearest function executed is {counted(near, 'direct call')} away from one" if near < 2**31 else ""
        how = "a target was executed, but fewer than 16 times in each program" if near == 0 else how
        return join_lines([f"No program reached a target{': ' + how if how else ''}.", f"{tried}."])

    def reached(self) -> str:
        n = len(self.search.best)
        return f"{counted(n, 'system call')} {'reaches' if n == 1 else 'reach'} {self.what}"

    def headline(self) -> str:
        if "dearest" in self.exact:
            exact, one = self.exact["dearest"]
            return f"{self.reached()}. Dearest: {one.name}, {exact.words()}."
        one = self.compared[0]
        return f"{self.reached()}. Dearest: {one.name}, {one.percent:+.1f} %, by the emulator's counts alone."

    def sentences(self) -> list[str]:
        """Return what follows the headline: what multiplies the cost, and the typical and the cheapest program."""
        lines = list[str]()
        most, usual = self.most(), self.contexts.get("", 0)
        if most:
            there = self.exact.get("dearest-there")
            words = f": {there[0].words()}" if there else ""
            lines.append(f"  Where {most}, {self.contexts[most] / usual:.0f} times as much{words}.")
        elif self.contexts:
            lines.append(f"  None of {counted(len(self.contexts) - 1, 'other context')} makes it {MULTIPLIES} times as dear.")
        for title in TITLES[1:]:
            if title in self.exact:
                exact, one = self.exact[title]
                shown = textwrap.shorten(one_line(one.program), PROGRAM_WIDTH, placeholder=" ...")
                lines.append(f"  {title.capitalize()}: {one.name}, {exact.words()}: {shown}")
        beside = [one for one in self.reach if one.kernel]
        if beside:
            shown = ", ".join(f"{one.name} {one.percent:.2f} %" for one in beside)
            lines.append(f"  Of all kernel instructions of a workload it and what it calls are: {shown}.")
        if self.hung:
            lines.append(f"  {counted(len(self.hung), 'program')} hung or ended the guest: hung-*.calls.")
        if "dearest" in self.exact:
            exact, one = self.exact["dearest"]
            lines += ["", f"Dearest: {one_line(one.program)}"]
            for paragraph in exact.answer.splitlines():
                lines += textwrap.wrap(paragraph, WIDTH, initial_indent="  ", subsequent_indent="    ")
        return lines

    def document(self) -> dict[str, Any]:
        search = self.search
        return {
            "schema": "kprotperf-explore/1",
            "what": self.what,
            "programs": search.programs,
            "blocks": search.blocks,
            "nearest": search.nearest,
            "reached_after_programs": search.reached_after[0] if search.reached_after else None,
            "reached_after_seconds": search.reached_after[1] if search.reached_after else None,
            "reached_by": sorted(search.best),
            "calls": [
                {
                    "name": one.name,
                    "baseline_per_call": one.baseline,
                    "hardened_per_call": one.hardened,
                    "more_pct": one.percent,
                    "program": text(one.program),
                }
                for one in self.compared
            ],
            "contexts": [{"name": name, "more_pct": 100 * more} for name, more in self.contexts.items()],
            "exact": [
                {"which": title, "name": one.name, "program": text(one.program), **vars(exact)}
                for title, (exact, one) in self.exact.items()
            ],
            "reach": [{**vars(one), "more_pct": one.percent} for one in self.reach],
            "hung": [{"program": program, "reason": reason} for program, reason in self.hung],
        }
