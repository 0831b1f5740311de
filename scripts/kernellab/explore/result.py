"""What a search found: exact counts of its programs, and the output."""

import subprocess
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

from ..lab import Lab, counted, join_lines, remove
from .program import Program, text
from .reach import Reach
from .search import END, Best, Search

REPEATED = 256  # calls that a program is to make in all when it is counted exactly
MULTIPLIES = 1.5  # a context is named that makes the cost that many times as large
CONTEXT_OF = {"fork": "clone", END: "exit_group"}  # names of contexts in recordings that differ from the call's
ROWS = 20
PROGRAM_WIDTH = 46
OF_TABLE = (
    "Instructions of the kernel per call, and of these in the target and what it calls, on the hardened kernel; "
    "what the target replaces is not taken off here, as it is above:"
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
    best: list[Best] = field(default_factory=list)
    contexts: dict[str, float] = field(default_factory=dict)
    exact: dict[str, Exact] = field(default_factory=dict)

    @property
    def shares(self) -> list[tuple[float, Program, str]]:
        return sorted(self.search.shares, key=lambda one: one[0])

    def to_count(self) -> list[tuple[str, Program, str]]:
        """Return the programs to count exactly, each once: title, program, and the call that reaches a target."""
        shares = self.shares
        typical = shares[len(shares) // 2]
        dearest = self.best[0]
        found = {(dearest.program, dearest.cost.name): "dearest"}
        found.setdefault(typical[1:], "typical")
        found.setdefault(shares[0][1:], "cheapest")
        return [(title, *one) for one, title in found.items()]

    def most(self) -> str:
        """Return the context that multiplies the dearest program's cost most, or ""."""
        usual = self.contexts.get("", 0)
        there = {name: more for name, more in self.contexts.items() if name and more > usual * MULTIPLIES}
        return max(there, key=lambda name: there[name], default="")

    # --- output -------------------------------------------------------------------------

    def page(self) -> str:
        search = self.search
        tried = f"{counted(search.programs, 'program')} tried, {search.blocks:,} blocks of the kernel's code seen"
        if not self.best:
            return self.page_of_nothing(tried)
        lines = [self.headline(), *self.sentences(), ""]
        lines += [*textwrap.wrap(f"{tried}. {OF_TABLE}", WIDTH), ""]
        lines += [f"{'CALL':<20} {'KERNEL':>10} {'TARGET':>9} {'MORE BY':>10}  PROGRAM"]
        for best in self.best[:ROWS]:
            cost = best.cost
            shown = textwrap.shorten(one_line(best.program), PROGRAM_WIDTH, placeholder=" ...")
            more = f"+{100 * cost.more:.2f} %"
            lines.append(f"{cost.name:<20} {cost.kernel:>10,.0f} {cost.target:>9,.0f} {more:>10}  {shown}")
        if len(self.best) > ROWS:
            lines.append(f"and {len(self.best) - ROWS} more; --format json has all")
        return join_lines(lines)

    def page_of_nothing(self, tried: str) -> str:
        near = self.search.nearest
        how = f"the nearest function executed is {counted(near, 'direct call')} away from one" if near < 2**31 else ""
        how = "a target was executed, but fewer than 16 times in each program" if near == 0 else how
        return join_lines([f"No program reached a target{': ' + how if how else ''}.", f"{tried}."])

    def headline(self) -> str:
        best = self.best[0].cost
        calls = counted(len(self.best), "system call")
        exact = self.exact.get("dearest")
        much = (
            exact.words() if exact else f"+{100 * best.more:.2f} % of its instructions, by the emulator's count on one kernel"
        )
        return f"{calls} {'reaches' if len(self.best) == 1 else 'reach'} {self.what}. Dearest: {best.name}, {much}."

    def sentences(self) -> list[str]:
        """Return what follows the headline: what multiplies the cost, and the typical and the cheapest program."""
        lines = list[str]()
        most, usual = self.most(), self.contexts.get("", 0)
        if most:
            times = self.contexts[most] / usual
            exact = self.exact.get("dearest-there")
            lines.append(f"  Where {most}, {times:.0f} times as much" + (f": {exact.words()}." if exact else "."))
        elif self.contexts:
            lines.append(f"  None of {counted(len(self.contexts) - 1, 'other context')} makes it {MULTIPLIES} times as dear.")
        for title in ("typical", "cheapest"):
            if title in self.exact:
                _, program, call = next(one for one in self.to_count() if one[0] == title)
                shown = textwrap.shorten(one_line(program), WIDTH, placeholder=" ...")
                lines.append(f"  {title.capitalize()}: {call} {self.exact[title].words()}: {shown}")
        beside = [one for one in self.reach if one.kernel]
        if beside:
            shown = ", ".join(f"{one.name} {one.percent:+.2f} %" for one in beside)
            lines.append(f"  Beside it, of all kernel instructions of a workload: {shown}.")
        if "dearest" in self.exact:
            paragraphs = self.exact["dearest"].answer.splitlines()
            lines += ["", "The dearest program, counted on both kernels:"]
            lines += [
                line for one in paragraphs for line in textwrap.wrap(one, WIDTH, initial_indent="  ", subsequent_indent="    ")
            ]
        if self.hung:
            lines.append(f"  {counted(len(self.hung), 'program')} hung or ended the guest: hung-*.calls.")
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
            "calls": [
                {
                    "name": best.cost.name,
                    "kernel_per_call": best.cost.kernel,
                    "target_per_call": best.cost.target,
                    "more_pct": 100 * best.cost.more,
                    "program": text(best.program),
                }
                for best in self.best
            ],
            "contexts": [{"name": name, "more_pct": 100 * more} for name, more in self.contexts.items()],
            "exact": [{"program": title, **vars(one)} for title, one in self.exact.items()],
            "reach": [{**vars(one), "more_pct": one.percent} for one in self.reach],
            "hung": [{"program": program, "reason": reason} for program, reason in self.hung],
        }
