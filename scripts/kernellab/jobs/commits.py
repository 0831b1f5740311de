"""`lab why`; and `lab why --range A..B --tree DIR`, which finds the commit that causes most of a cost.

A build takes minutes, a boot seconds. So the search bisects the range with few builds: it boots a kernel of the middle commit
until the confidence interval of its cost is above or below half of the whole range's cost.
"""

import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from ..kernels.definitions import Kernels
from ..lab import LabError, Options, UsageError, counted, output
from .ab import Comparison, Said, build_changed, recorded
from .boots import Boot, Pool, slots
from .pair import Side, named

BOOTS_MOST = 12  # maximum boots per commit, to decide whether its cost is more than half of the whole
NOT_BUILT_OF = (":!Documentation", ":!samples", ":!tools/testing")


@dataclass
class Cost:
    """The cost of a commit over the first commit, in instructions per run in one context, and the limits of its interval."""

    context: str
    total: float = 0
    low: float | None = 0
    high: float | None = 0
    significant: bool = False


class Search:
    """The search for a commit. Commits have indices: 0 is A, the commit before the range, and the last index is B."""

    def __init__(self, kernels: Kernels, said: Said) -> None:
        self.lab = kernels.lab
        self.kernels = kernels
        self.said = said
        self.first, dots, self.last = said.range.partition("..")
        self.tree = said.given.get("--tree")
        if not self.tree or not (self.first and dots and self.last):
            raise UsageError("--range needs A..B, and --tree DIR, a git work tree")
        self.others = [one for one in said.changes.given if one[0] != "--tree"]
        self.commits = self.list_range()
        self.parts: dict[int, list[str]] = {}
        self.context, self.total = "", 0

    def git(self, *words: str) -> str:
        return output(["git", "-C", self.tree, *words])

    def list_range(self) -> list[str]:
        """Return A, then the commits of the range that change files outside NOT_BUILT_OF, oldest first."""
        ends = [self.git("rev-parse", "--verify", "-q", end + "^{commit}") for end in (self.first, self.last)]
        for end, found in zip((self.first, self.last), ends):
            if not found:
                raise UsageError(f"{self.tree} has no commit {end}")
        listed = self.git("rev-list", "--reverse", "--first-parent", f"{ends[0]}..{ends[1]}", "--", ".", *NOT_BUILT_OF)
        if not listed:
            raise UsageError(f"no commit of {self.said.range} changes the kernel")
        return [ends[0], *listed.split()]

    def name(self, index: int) -> str:
        return f"range-{self.commits[index][:12]}"

    def title(self, index: int) -> str:
        return self.git("log", "-1", "--format=%h %s", self.commits[index])

    def build(self, index: int) -> bool:
        """Build the kernel of a commit. Return whether it could be built."""
        if index in self.parts:
            return True
        self.parts[index] = []
        self.lab.note(f"commit {index} of {len(self.commits) - 1}: {self.title(index)}")
        changes = Options(("--tree", f"{self.tree}@{self.commits[index]}"), *self.others)
        try:
            build_changed(self.kernels, self.name(index), named(self.said.given, "baseline") or "baseline", changes)
            return True
        except LabError as error:
            self.lab.note(str(error))
        except SystemExit:
            pass
        return False

    def measure(self, indices: Sequence[int], boots: int) -> bool:
        """Build the kernels of these commits, and boot each until it has `boots` boots. Return whether all could be built."""
        if not all([self.build(index) for index in indices]):
            return False
        said, jobs = self.said, []
        for index in indices:
            name = self.name(index)
            for boot in range(len(self.parts[index]) + 1, boots + 1):
                part = said.file(f"commit{index}.{boot}.exact.data")
                self.parts[index].append(part)
                words = [*said.run_options(name, boot, ""), "--exact", *said.exact_options, "-o", part, "--", *said.command]
                title = f"boot {boot} of {said.boots}: commit{index}, exact (kernel {name})"
                jobs.append(Boot(title, words, f"recording commit{index} (kernel {name}, boot {boot})"))
        Pool(self.lab, len(jobs)).run(jobs, slots(self.lab, self.said.accel()))
        return True

    def more_boots(self, index: int) -> bool:
        """Boot the kernels of a commit and of commit 0 once more. Return False if they have BOOTS_MOST boots already."""
        wanted = len(self.parts[index]) + 1
        return wanted <= BOOTS_MOST and self.measure([0, index], wanted)

    def cost(self, index: int) -> Cost:
        """Return the cost of a commit. If the whole range reduces the instructions, return the reduction as a positive cost."""
        if index == 0:
            return Cost(self.context)
        files = []
        for one in (0, index):
            files.append(self.said.file(f"range{one}.data"))
            subprocess.run([self.lab.kprotperf, "merge", "-o", files[-1], *self.parts[one]], check=True)
        context = [f"--context={self.context}"] if self.context else []
        said = self.lab.ask("why", "--format=json", "--section=contexts", *context, *files)
        for file in files:
            Path(file).unlink()
        found = next((one for one in said["contexts"] if one["name"] == said["of"]), None)
        if not found:
            return Cost(said["of"] or "")
        sign = -1 if self.total < 0 else 1
        keys = ("delta_total", "delta_total_low", "delta_total_high")
        total, low, high = (None if found.get(key) is None else found[key] * sign for key in keys)
        return Cost(found["name"], total or 0, low, high, bool(found["significant"]))

    def side_of_half(self, index: int) -> bool:
        """Return whether the cost of a commit is more than half of the whole range's cost."""
        half = abs(self.total) / 2
        while True:
            cost = self.cost(index)
            ends = [cost.total if end is None else end for end in (cost.low, cost.high)]
            if min(ends) > half or max(ends) < half:
                return min(ends) > half
            if not self.more_boots(index):
                where = "above" if cost.total > half else "below"
                self.lab.note(f"its change is most likely {where} half of the whole, measured over {BOOTS_MOST} boots per side")
                return cost.total > half

    def untried(self, low: int, high: int) -> int:
        """Return the untried commit that is nearest to the middle of low and high. Raise LabError if all commits were tried."""
        middle = (low + high) // 2
        for distance in range(high - low):
            for one in (middle - distance, middle + distance):
                if low < one < high and one not in self.parts:
                    return one
        commits = f"{self.commits[low][:12]}..{self.commits[high][:12]}"
        raise LabError(f"the change is in one of the {high - low} commits {commits}, of which only the last can be built")

    def whole(self, last: int) -> None:
        """Measure the whole range. Set self.context to the context with the largest change, and self.total to this change."""
        for index, which in ((0, "first"), (last, "last")):
            if not self.build(index):
                raise LabError(f"cannot build the {which} commit of {self.said.range}: see above")
        self.measure([0, last], self.said.boots)
        while not ((cost := self.cost(last)).significant and cost.low is not None):
            if not self.more_boots(last):
                between = f"between {self.first} and {self.last}, measured over {BOOTS_MOST} boots per side"
                raise LabError(f"no significant change {between}")
        self.context, self.total = cost.context, round(cost.total)
        among = f"looking for the commit among {counted(last, 'commit')}"
        self.lab.note(f"{self.said.range} changes {self.context} by {self.total} instructions per run; {among}")

    def run(self) -> int:
        """Find the commit with most of the cost, and print the output of `kprotperf why` on this commit. Return its status."""
        low, high = 0, len(self.commits) - 1
        self.whole(high)
        while high - low > 1:
            middle = self.untried(low, high)
            if self.measure([middle], self.said.boots):
                if self.side_of_half(middle):
                    high = middle
                else:
                    low = middle
        return self.explain(low, high)

    def explain(self, low: int, high: int) -> int:
        """Print the output of `kprotperf why` on the commit with the index high, compared with low. Return its status."""
        sign = -1 if self.total < 0 else 1
        more = round((self.cost(high).total - self.cost(low).total) * sign)
        of = f"{more:+d} of the {self.total:+d} instructions per run that {self.said.range} adds"
        print(f"{self.title(high)}\n{self.context}: {of}.", flush=True)
        # Name the patch file after the commit, since the output contains its name.
        patch = Path(self.said.file("commit")) / self.title(high).partition(" ")[0]
        patch.parent.mkdir()
        patch.write_text(self.git("diff", self.commits[low], self.commits[high]) + "\n", errors="surrogateescape")
        self.said.changes = Options(("--patch", str(patch)))
        sides = {"baseline": Side(self.name(low)), "hardened": Side(self.name(high))}
        comparison = Comparison(self.kernels, self.said, sides)
        comparison.record(["exact"], "")
        return comparison.explain()


def why(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab why`."""
    with closing(Said(kernels.lab, words, why=True)) as said:
        if said.range:
            raise SystemExit(Search(kernels, said).run())
        raise SystemExit(recorded(kernels, said).explain())
