"""`lab explore`: find system call programs in which a protection is cheap, typical and dear, and what multiplies its cost."""

import json
import random
import shlex
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Iterator, Sequence

from ..jobs.boots import Pool, slots
from ..jobs.pair import SIDES, Side, choose
from ..kernels.definitions import Kernels
from ..lab import Lab, LabError, Options, Stopped, UsageError, counted, number, read_options
from . import reach, result
from .program import Program, parse, text
from .search import Best, Compared, Search, costs, measure, minimize, per_call
from .server import Hung, Outcome, Server
from .targets import targets

OF_PAIR = "--baseline --hardened --kernel --protection --series"
VALUED = f"{OF_PAIR} --func --budget --boots --seed --vary --dir --format --replay --append"
FLAGS = "--reach"
MINUTES, BOOTS = "10", "3"
SAMPLE = 30  # programs tried that are compared on both kernels, for the typical and the cheapest
HUNG_MOST = 20  # programs that hang or end the guest, after which the search stops
TARGET_SECONDS = 36000
# Contexts that may multiply a cost, and the kernel parameters that make them.
CONTEXTS = {
    "the random generator is unseeded": "random.trust_cpu=off random.trust_bootloader=off",
    "slab caches are not shared (slab_nomerge)": "slab_nomerge",
    "addresses are random": "sysctl.kernel.randomize_va_space=2",
    "huge pages are always used": "transparent_hugepage=always",
    "memory is not accounted to cgroups": "cgroup_disable=memory",
    "page tables are isolated (pti=on)": "pti=on",
}


@dataclass
class Explorer:
    """One search: its guests, and what it found."""

    lab: Lab
    sides: dict[str, Side]
    targets: str
    folder: Path
    given: Options
    search: Search
    hung: list[tuple[str, str]] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def options(self, side: Side, more: str = "") -> list[str]:
        append = " ".join(filter(None, (self.given.get("--append"), side.append, more)))
        words = ["--kernel", side.kernel, "--accel", "icount", "--resume", "--timeout", str(TARGET_SECONDS), "--append", append]
        return words + (["--cpu", side.cpu] if side.cpu else [])

    def server(self, name: str, more: str = "", side: str = "hardened") -> Server:
        """Return a guest. The baseline may lack the targets, so it looks for a function that each kernel has."""
        wanted = self.targets if side == "hardened" else "do_exit\n"
        return Server(self.lab, self.folder / f".guest-{name}", self.options(self.sides[side], more), wanted)

    # --- the search ---------------------------------------------------------------------

    def work(self, server: Server, end: float) -> None:
        """Try programs in one guest until the time is over."""
        while time.monotonic() < end and not self.stopping.is_set():
            tried = list[str]()

            def run(program: str) -> Outcome:
                tried[:] = [program]
                return server.run(program)

            try:
                self.search.try_one(run)
            except Hung as hung:
                if not self.stopping.is_set():
                    self.keep_hung(tried[0], str(hung))

    def keep_hung(self, program: str, reason: str) -> None:
        self.hung.append((program, reason))
        (self.folder / f"hung-{len(self.hung)}.calls").write_text(f"# {reason}\n{program}")
        if len(self.hung) == HUNG_MOST:
            self.stopping.set()

    @contextmanager
    def servers(self, wanted: int) -> Iterator[list[Server]]:
        """Yield guests, no more than this machine has room for. Raise LabError if they cannot work."""
        servers = [self.server(str(i)) for i in range(min(wanted, slots(self.lab, "icount")))]
        try:
            for server in servers:
                server.check()
            yield servers
        finally:
            self.stopping.set()
            Pool.show("")
            for server in servers:
                server.stop()

    def reach(self, commands: dict[str, str]) -> list[reach.Reach]:
        """Count workloads."""
        with self.servers(len(commands)) as servers:
            return reach.count_all(servers, commands, Pool.show)

    def explore(self, minutes: int) -> None:
        """Search for programs, until the time is over or a signal comes."""
        with self.servers(slots(self.lab, "icount")) as servers:
            self.stopping.clear()
            end = time.monotonic() + minutes * 60
            threads = [threading.Thread(target=self.work, args=(server, end)) for server in servers]
            for thread in threads:
                thread.start()
            try:
                while any(thread.is_alive() for thread in threads):
                    self.show(end - time.monotonic())
                    threads[0].join(1)
                    for thread in threads[1:]:
                        thread.join(0.01)
            finally:
                self.stopping.set()
                for thread in threads:
                    thread.join()
        if len(self.hung) >= HUNG_MOST:
            self.lab.note(f"stopped: {HUNG_MOST} programs hung or ended the guest; they are in {self.folder}/hung-*.calls")

    def show(self, seconds: float) -> None:
        search = self.search
        found = max(search.best.values(), key=lambda best: best.cost.share, default=None)
        said = f"dearest so far: {found.cost.name} +{100 * found.cost.more:.1f} %" if found else "no target reached"
        Pool.show(f"lab: {counted(search.programs, 'program')}, {said}; {max(0, seconds) / 60:.0f} min left")

    def replay(self, file: Path) -> None:
        """Take a program from a file instead of a search."""
        program = parse(file.read_text())
        server = self.server("0")
        try:
            outcome = server.run(text(program))
            if outcome.state == 1:
                raise LabError(f"{file} is no program; build/workloads/calls {file} says why")
            for cost in costs(program, outcome):
                self.search.best[cost.name] = Best(cost, program, outcome.kernel)
                self.search.reaching.append((program, cost.name))
        except Hung as hung:
            raise LabError(f"{file}: {hung}") from hung
        finally:
            server.stop()

    # --- what was found -----------------------------------------------------------------

    def ranked(self) -> list[Best]:
        """Return the calls that reach a target, those with the largest share first."""
        return sorted(self.search.best.values(), key=lambda best: -best.cost.share)

    def per_calls(self, side: str, programs: Sequence[tuple[Program, str]]) -> list[float]:
        """Return the instructions of the kernel per call of each program on one kernel; 0: not counted."""
        server, found = self.server(side, side=side), list[float]()
        try:
            server.check()
            for program, name in programs:
                try:
                    found.append(per_call(server.run, program, name))
                except Hung:
                    found.append(0)
        finally:
            server.stop()
        return found

    def compare(self, programs: Sequence[tuple[Program, str]]) -> list[Compared]:
        """Count programs on both kernels at a time. Return those that both executed, the dearest first."""
        # Import this only here: loading it takes a fifth of the time of `lab path`.
        from concurrent.futures import ThreadPoolExecutor

        Pool.show(f"lab: comparing {counted(len(programs), 'program')} on both kernels")
        with ThreadPoolExecutor(len(SIDES)) as pool:
            baseline, hardened = pool.map(lambda side: self.per_calls(side, programs), SIDES)
        Pool.show("")
        found = [Compared(*one, base, hard) for one, base, hard in zip(programs, baseline, hardened) if base and hard]
        return sorted(found, key=lambda one: -one.percent)

    def smallest(self, dearest: Compared) -> Compared:
        """Return the dearest program made as small as possible."""
        server = self.server("0")
        try:
            cost = measure(server.run, dearest.program, dearest.name)
            if not cost:
                return dearest
            return replace(dearest, program=minimize(server.run, Best(cost, dearest.program)).program)
        except Hung:
            return dearest
        finally:
            server.stop()

    def vary(self, dearest: Compared, contexts: dict[str, str]) -> dict[str, float]:
        """Return by which part the targets make a call dearer in other contexts. A context in which the guest cannot boot has
        none."""
        found = dict[str, float]()
        for name, parameters in {"": "", **contexts}.items():
            Pool.show(f"lab: trying {dearest.name} where {name or 'nothing differs'}")
            server = self.server("context", parameters)
            try:
                server.check()
                cost = measure(server.run, dearest.program, dearest.name)
                if cost:
                    found[name] = cost.more
            except (Hung, LabError) as error:
                self.lab.note(f"not tried where {name}: {error}")
            finally:
                server.stop()
                Pool.show("")
        return found

    def exact(self, program: Program, call: str, title: str, more: str = "") -> result.Exact | None:
        """Count a program on both kernels."""
        file = self.folder / f"{title}.calls"
        file.write_text(text(program))
        sides = [self.options(self.sides[side])[1] for side in SIDES]
        words = ["--baseline", sides[0], "--hardened", sides[1], "--exact", "--boots", self.given.get("--boots", BOOTS)]
        for side in SIDES:
            append = " ".join(filter(None, (self.given.get("--append"), self.sides[side].append, more)))
            words += [f"--append-{side}", append]
        words += ["--cpu", self.sides["hardened"].cpu] if self.sides["hardened"].cpu else []
        return result.count(self.lab, self.folder, words, file, program, call)


def contexts(given: Options) -> dict[str, str]:
    """Return the contexts to try: those of --vary NAME=PARAMETERS, or the lab's; --vary none: no context."""
    said = given.all("--vary")
    if not said:
        return CONTEXTS
    pairs = [one.partition("=") if " " in one.partition("=")[0] else (one, "", one) for one in said if one != "none"]
    return {name: parameters for name, _, parameters in pairs}


def chosen_sides(kernels: Kernels, given: Options) -> dict[str, Side]:
    sides = choose(kernels, Options(*(one for one in given.given if one[0] in OF_PAIR.split())))
    for side in sides.values():
        if "/" in side.kernel:
            raise UsageError("explore needs kernels of the lab, by name")
        kernels.known_dir(side.kernel)
    if sides["baseline"] == sides["hardened"]:
        raise UsageError("both sides are one kernel with the same parameters: --kernel needs a --protection to switch")
    return sides


def command(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab explore`."""
    lab = kernels.lab
    given = read_options(lab, "explore", words, VALUED, FLAGS)
    if given.all(""):
        raise UsageError(f"explore takes '{given.all('')[0]}' after -- only, as a command that is to be counted, too")
    minutes, form = number(given.get("--budget", MINUTES), "--budget"), given.get("--format", "table")
    if form not in ("table", "json"):
        raise UsageError(f"--format is table or json, not '{form}'")
    lab.need_kprotperf()
    protection, functions = given.get("--protection"), given.all("--func")
    if bool(protection) == bool(functions):
        raise UsageError("explore needs --protection P, or --func F (of an inlined function: --func INLINED@F)")
    sides = chosen_sides(kernels, given)
    wanted = targets(kernels, protection, functions, sides["hardened"].kernel)
    folder = Path(given.get("--dir", "explore"))
    folder.mkdir(parents=True, exist_ok=True)
    explorer = Explorer(lab, sides, wanted, folder.resolve(), given, Search(random.Random(given.get("--seed", "1"))))
    found = result.Found(protection or " and ".join(functions), explorer.search, explorer.hung)
    own = {shlex.join(words): shlex.join(words)} if words else {}
    if given.has("--reach"):
        found.reach = explorer.reach(own | reach.workloads(lab) | reach.stressors())
        print(json.dumps(found.document(), indent=2) + "\n" if form == "json" else reach.page(found.reach, found.what), end="")
        raise SystemExit(0 if any(one.entries for one in found.reach) else 1)
    known = kernels.protections.catalogue[protection]["workloads"] if protection else []
    beside = own | {name: line for name, line in reach.workloads(lab).items() if name in known}
    found.reach = explorer.reach(beside) if beside else []
    if given.get("--replay"):
        explorer.replay(Path(given.get("--replay")))
    else:
        lab.note(f"searching for {counted(minutes, 'minute')} (kernel {sides['hardened'].kernel}), into {folder}/")
        try:
            explorer.explore(minutes)
        except Stopped:
            # What was found so far is not lost.
            write(explorer, found, form)
            raise
    if explorer.search.best:
        count_on_both(explorer, found, contexts(given))
    write(explorer, found, form)
    raise SystemExit(0 if explorer.search.best else 1)


def write(explorer: Explorer, found: result.Found, form: str) -> None:
    """Print what was found, and write the best program of each call to a file."""
    best = [(one.name, one.program) for one in found.compared] or [(one.cost.name, one.program) for one in explorer.ranked()]
    for index, (name, program) in enumerate(best, 1):
        (explorer.folder / f"{index}-{name.strip('[]')}.calls").write_text(text(program))
    print(json.dumps(found.document(), indent=2) + "\n" if form == "json" else found.page(), end="", flush=True)


def count_on_both(explorer: Explorer, found: result.Found, tried: dict[str, str]) -> None:
    """Compare programs on both kernels by the plugin's counts, and count the dearest, a typical and the cheapest exactly, the
    dearest also in the context that multiplies its cost most."""
    search = explorer.search
    best = {best.cost.name: (best.program, best.cost.name) for best in explorer.ranked()}
    others = search.rng.sample(search.reaching, min(SAMPLE, len(search.reaching)))
    compared = explorer.compare(list(dict.fromkeys([*best.values(), *others])))
    if not compared:
        return
    found.compared = [one for one in compared if best.get(one.name) == (one.program, one.name)] or compared
    if not explorer.given.get("--replay"):
        compared[0] = explorer.smallest(compared[0])
    chosen = {(one.program, one.name): one for one in (compared[0], compared[len(compared) // 2], compared[-1])}
    counts = [
        (exact, one) for i, one in enumerate(chosen.values()) if (exact := explorer.exact(one.program, one.name, f"exact-{i}"))
    ]
    counts.sort(key=lambda one: -one[0].percent)
    for title, (exact, one) in zip(result.TITLES[: len(counts)], counts):
        found.exact[title] = (exact, one)
    if not counts or not tried:
        return
    dearest = counts[0][1]
    found.contexts = explorer.vary(dearest, tried)
    most = found.most()
    there = explorer.exact(dearest.program, dearest.name, "dearest-there", tried[most]) if most else None
    if there:
        found.exact["dearest-there"] = (there, dearest)
