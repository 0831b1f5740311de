"""The search for programs that make targets dear: mutation, guided by what the emulator counted.

A call's share is the part of its kernel instructions that targets, and what they call, have. It is a figure per call, not
per program, so that the search does not drift to long programs. The best program of each call is kept, and each program that
executed new code. Until a target is reached, programs whose functions are the fewest direct calls away from one are varied
most. Which functions are called by pointer is not known before they are executed: no distance leads across such a call.
"""

import random
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Callable, Iterator

from .grammar import draw, splice, vary
from .program import Program, text, without
from .server import FAR, Outcome

TRIALS = 4  # more runs of a program that seems better than the best one, since a slab may have been full by chance
SHORT = 500_000  # instructions of a program of which the guest executes some hundred per second
NEARLY = 0.95  # part of the share that a smaller program must have
KEPT_MOST = 4000  # programs that are kept for having executed new code
REACHING_MOST = 20_000  # programs among which the typical one is
ENTRIES_LEAST = 16  # entries of targets, below which a call's share may be chance: one call in twenty fills a slab
END = "[exit]"  # the end of the program's process


@dataclass(frozen=True)
class Cost:
    """What a system call costs in a program, per call: instructions of the kernel, those in targets and what they call."""

    name: str
    kernel: float
    target: float

    @property
    def share(self) -> float:
        return self.target / self.kernel if self.kernel else 0.0

    @property
    def more(self) -> float:
        """Return by which part the targets make the call dearer."""
        return self.target / max(self.kernel - self.target, 1.0)


def totals(program: Program, outcome: Outcome) -> dict[str, tuple[int, Cost, int]]:
    """Return for each call of a program how often it is made, its costs, and its entries of targets. Lines of one name are
    taken together: else a line would be dear that is executed once, just when a slab is full."""
    names, counts = [*(line.name for line in program), END], [*(line.count for line in program), 1]
    steps = list(zip(names, counts, outcome.steps))
    found = dict[str, tuple[int, Cost, int]]()
    for name in dict.fromkeys(name for name, _, _ in steps):
        own = [(count, step) for one, count, step in steps if one == name]
        calls = sum(count for count, _ in own)
        cost = Cost(name, sum(step.kernel for _, step in own) / calls, sum(step.target for _, step in own) / calls)
        found[name] = (calls, cost, sum(step.entries for _, step in own))
    return found


def costs(program: Program, outcome: Outcome) -> list[Cost]:
    """Return the costs of the calls that reached targets often enough."""
    return [cost for _, cost, entries in totals(program, outcome).values() if entries >= ENTRIES_LEAST]


@dataclass
class Best:
    """The program in which a call had the largest share so far, the mean of several runs; instructions of the whole program."""

    cost: Cost
    program: Program
    kernel: float = 0


@dataclass
class Compared:
    """A program and one of its calls: instructions of the kernel per call on both kernels, as the emulator counted them."""

    program: Program
    name: str
    baseline: float
    hardened: float

    @property
    def percent(self) -> float:
        return 100 * (self.hardened / self.baseline - 1) if self.baseline else 0.0


@dataclass
class Kept:
    """A program that executed new code."""

    program: Program
    nearest: int
    kernel: int


@dataclass
class Search:
    """What is known so far. Several guests may ask and tell at a time."""

    rng: random.Random
    best: dict[str, Best] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    reaching: list[tuple[Program, str]] = field(default_factory=list)  # programs, and the call that reached a target
    programs: int = 0
    blocks: int = 0
    nearest: int = FAR
    reached_after: tuple[int, float] | None = None
    begun: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def propose(self) -> Program:
        """Return a program to try."""
        with self.lock:
            rng, kind = self.rng, self.rng.random()
            if not self.kept or kind < 0.1:
                return draw(rng)
            if self.best and kind < 0.6:
                parent = self.some_best()
            elif kind < 0.85:
                parent = self.near()
            else:
                parent = rng.choice(self.kept).program
            if rng.random() < 0.1:
                return splice(rng, parent, rng.choice(self.kept).program)
            program = vary(rng, parent)
            while rng.random() < 0.3:
                program = vary(rng, program)
            return program

    def some_best(self) -> Program:
        """Return one of the best programs, short ones more often: in the time of one with 30 million instructions, a hundred
        short ones can be tried."""
        found = list(self.best.values())
        return self.rng.choices(found, [1 / (SHORT + one.kernel) for one in found])[0].program

    def near(self) -> Program:
        """Return one of the kept programs, near and short ones more often."""
        sample = [self.rng.choice(self.kept) for _ in range(4)] + self.kept[-1:]
        return min(sample, key=lambda one: (one.nearest, one.kernel)).program

    def learn(self, program: Program, outcome: Outcome) -> None:
        with self.lock:
            self.programs += 1
            self.blocks = max(self.blocks, outcome.blocks)
            self.nearest = min(self.nearest, outcome.nearest)
            if outcome.new or (outcome.more > 20 and self.rng.random() < 0.05):
                if len(self.kept) == KEPT_MOST:
                    self.kept.pop(self.rng.randrange(KEPT_MOST))
                self.kept.append(Kept(program, outcome.nearest, outcome.kernel))

    def is_better(self, cost: Cost, kernel: float) -> bool:
        """Return whether the call has a larger share than in the best program, or nearly the same in half the instructions."""
        best = self.best.get(cost.name)
        if not best:
            return True
        shorter = kernel < best.kernel / 2
        return cost.share > best.cost.share * (NEARLY if shorter else 1 / NEARLY)

    def try_one(self, run: Callable[[str], Outcome]) -> Outcome:
        """Try a program. Raise Hung if the guest does not survive it."""
        program = self.propose()
        outcome = run(text(program))
        self.learn(program, outcome)
        found = costs(program, outcome) if outcome.state == 0 else []
        with self.lock:
            if found and not self.reached_after:
                self.reached_after = (self.programs, time.monotonic() - self.begun)
            for cost in found:
                if len(self.reaching) < REACHING_MOST:
                    self.reaching.append((program, cost.name))
        for cost in found:
            if self.is_better(cost, outcome.kernel):
                self.confirm(run, Best(cost, program, outcome.kernel))
        return outcome

    def confirm(self, run: Callable[[str], Outcome], seen: Best) -> None:
        mean = measure(run, seen.program, seen.cost.name)
        with self.lock:
            if mean and self.is_better(mean, seen.kernel):
                self.best[mean.name] = replace(seen, cost=mean)


def measure(run: Callable[[str], Outcome], program: Program, name: str, trials: int = TRIALS) -> Cost | None:
    """Return the mean cost of a call over several runs; None if it did not reach a target in each of them."""
    found = []
    for _ in range(trials):
        outcome = run(text(program))
        found += [cost for cost in costs(program, outcome) if cost.name == name and not outcome.state]
    if len(found) < trials:
        return None
    return Cost(name, sum(one.kernel for one in found) / trials, sum(one.target for one in found) / trials)


def per_call(run: Callable[[str], Outcome], program: Program, name: str) -> float:
    """Return the fewest instructions of the kernel per call in several runs: interrupts and deferred work only add to them.
    Return 0 if the program cannot be executed."""
    found = list[float]()
    for _ in range(TRIALS):
        outcome = run(text(program))
        found.append(0 if outcome.state else totals(program, outcome)[name][1].kernel)
    return min(found)


def shorter(program: Program) -> Iterator[Program]:
    """Yield programs with a line less, and programs that execute a line half as often."""
    for index in reversed(range(len(program))):
        yield without(program, index)
        if program[index].count > 1:
            yield (*program[:index], replace(program[index], count=program[index].count // 2), *program[index + 1 :])


def minimize(run: Callable[[str], Outcome], best: Best) -> Best:
    """Return the smallest program in which the call has nearly the same share."""
    for program in shorter(best.program):
        cost = measure(run, program, best.cost.name, 2) if program else None
        if cost and cost.share >= best.cost.share * NEARLY:
            return minimize(run, Best(cost, program))
    return best
