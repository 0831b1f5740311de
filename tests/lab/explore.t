#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Test `lab explore`: the search with a stand-in for the guest, the output, and one program in real guests."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

repo = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(repo / "scripts"), str(repo / "tests")]

from kernellab.explore import explore, reach, result  # noqa: E402
from kernellab.explore.program import Line, parse, text  # noqa: E402
from kernellab.explore.search import END, Best, Compared, Cost, Search, costs, measure, minimize  # noqa: E402
from kernellab.explore.server import FAR, Outcome, Step  # noqa: E402
from kernellab.lab import Options  # noqa: E402
from tap import done, is_, like, ok  # noqa: E402

build = repo / (os.environ.get("BUILD") or "build")

# --- the search ------------------------------------------------------------------------

outcome = Outcome.read("0 0 5 6 100 2 1000 0 0 1 9 500 50 20 0 0")
is_("an answer has the counts of each step", outcome.steps, (Step(1000, 0, 0, 1, 9), Step(500, 50, 20, 0, 0)))
is_("the end of the process is a call of its own", costs((Line("write", (), 4),), outcome), [Cost(END, 500.0, 50.0)])
twice = (Line("read", (), 9), Line("read", (), 1))
steps = (Step(1000, 100, 15, 0, 0), Step(200, 150, 1, 0, 0), Step(0, 0, 0, 0, 0))
is_("lines of one name are one call", costs(twice, Outcome(0, 0, 0, 0, 0, 0, steps)), [Cost("read", 120.0, 25.0)])
few = (Step(1000, 100, 15, 0, 0), Step(0, 0, 0, 0, 0))
is_("fifteen entries of the target are none", costs((Line("read", (), 9),), Outcome(0, 0, 0, 0, 0, 0, few)), [])


DEAR = {"timerfd_create", "timerfd_settime"}
seen = set[str]()


def kernel(given: str) -> Outcome:
    """A kernel in which timerfd_create is dear in a program that has timerfd_settime as well, and dearer if executed often."""
    program, steps = parse(given), list[Step]()
    names = {line.name for line in program}
    new = len(names - seen)
    seen.update(names)
    for line in program:
        dear = line.name == "timerfd_create" and DEAR <= names
        each = 10 + line.count // 64 if dear else 0
        steps.append(Step((1000 + each) * line.count, each * line.count, line.count if dear else 0, 0, 0))
    steps.append(Step(5000, 0, 0, 0, 0))
    return Outcome(0, 0, new, 0, len(seen), 2 - len(DEAR & names), tuple(steps))


def found(run: Callable[[str], Outcome], programs: int) -> Search:
    search = Search(random.Random(3))
    for _ in range(programs):
        search.try_one(run)
    return search


search = found(kernel, 6000)
best = search.best.get("timerfd_create", Best(Cost("", 1, 0), ()))
ok("the search finds the call that is dear beside another", best.cost.target >= 20, best)
ok("and how often it must be executed", max(line.count for line in best.program) >= 1024, best)
small = minimize(kernel, best)
is_("the smallest program has the two calls", sorted(line.name for line in small.program), sorted(DEAR))
ok("the smallest program has nearly the share", small.cost.share >= best.cost.share * 0.9, small, best)
is_(
    "a cost that does not repeat is none",
    measure(lambda _: Outcome(2, 11, 0, 0, 0, 0, ()), best.program, "timerfd_create"),
    None,
)

# --- the output ------------------------------------------------------------------------

dear = Compared(small.program, "timerfd_create", 1000, 1030)
what = result.Found("shuffle_freelist", search, [], compared=[dear], contexts={"": 0.02, "it rains": 0.4, "it snows": 0.1})
what.exact["dearest"] = (result.Exact(3.0, 2.5, 3.5, 120.4, 4096, "calls takes 1 % more."), dear)
lines = what.page().splitlines()
like(
    "the first line names call and cost",
    lines[0],
    r"reaches shuffle_freelist\. Dearest: timerfd_create, \+3\.00 % \(between \+2\.5 and",
)
like("the second names what multiplies it", lines[1], "^  Where it rains, 20 times as much")
like("a row has both kernels", lines[-1], r"^timerfd_create +1,000 +1,030 +\+3\.00 %")
is_("JSON has the same program", what.document()["calls"][0]["program"], text(small.program))
nothing = result.Found("f", Search(random.Random(1)), [])
nothing.search.nearest = 3
like(
    "without a program it says how near one came",
    nothing.page(),
    "^No program reached a target: the nearest .* 3 direct calls away",
)
nothing.search.nearest = FAR
like("or nothing, if no calls lead there", nothing.page(), r"^No program reached a target\.$")
table = reach.page([reach.Reach("a", 1000, 100, 3), reach.Reach("b", 500), reach.Reach("c", reason="it failed")], "f")
like(
    "reach lists who reaches it",
    table,
    r"^1 of 3 workloads reach f\.\n\nWORKLOAD.*\na +3 +100 +1,000 +\+11\.11 %\n\nNot counted: c \(it failed\)",
)
is_("a command with quotes is one text", parse(reach.text('echo "a b"'))[0].args, ('"echo \\"a b\\""',))
is_(
    "a context has a name, or its parameters",
    explore.contexts(Options(("--vary", "a b=c d=e"), ("--vary", "pti=on"))),
    {"a b": "c d=e", "pti=on": "pti=on"},
)

# --- guests ----------------------------------------------------------------------------


def lab(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [repo / "scripts/lab", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "KPROTPERF": str(build / "kprotperf")},
    )


for wrong, message in (
    ("", "needs --protection P, or --func F"),
    ("--protection kfence --func f", "needs --protection P, or --func F"),
    ("--func no_such_function", "this kernel has no function no_such_function"),
    ("--func shuffle_freelist --format xml", "--format is table or json, not 'xml'"),
    ("--protection stackprotector_strong --kernel hardened", "no kernel parameter switches stackprotector_strong"),
    ("--func shuffle_freelist --kernel hardened", "both sides are one kernel"),
    ("--func shuffle_freelist true", "takes 'true' after -- only"),
):
    got = lab("explore", *wrong.split())
    ok(
        f"wrong usage '{wrong}': status 120 and one line",
        got.returncode == 120 and got.stderr.count("\n") == 1 and message in got.stderr,
        got,
    )

folder = Path(tempfile.mkdtemp(dir=repo / (os.environ.get("BUILD") or "build"), prefix="explore."))
os.chdir(folder)
try:
    Path("pipes.calls").write_text("pipe2 *8 0 x 2048\n")
    words = "--func shuffle_freelist --replay pipes.calls --boots 1 --format json".split()
    got = lab(
        "explore", *words, "--vary", "the generator is unseeded=random.trust_cpu=off random.trust_bootloader=off", "--", "true"
    )
    ok("a program is counted in guests", got.returncode == 0, got)
    told = json.loads(got.stdout or "{}")
    call = told["calls"][0]
    exact = {one["which"]: one for one in told["exact"]}
    is_("its call reaches the target", call["name"], "pipe2")
    # Measured: 4,238 instructions per call exactly, by the plugin 4,463 to 4,885, with interrupts and deferred work.
    per_call = 100 * exact["dearest"]["per_call"] / exact["dearest"]["percent"]
    ok(
        "the plugin counts what the exact recorder counts, within a fifth",
        abs(call["baseline_per_call"] / per_call - 1) < 0.2,
        told,
    )
    ok("pipe2 is at least 2 % dearer on the hardened kernel", exact["dearest"]["percent"] > 2, told)
    ok("and 80 % where the generator is unseeded", exact["dearest-there"]["percent"] > 80, told)
    is_("the command is counted beside it", [one["name"] for one in told["reach"]], ["true"])
    os.environ["PATH"] = "/usr/bin:/bin"
    hung = lab("explore", "--func", "shuffle_freelist", "--replay", "none.calls")
    like("a program that is not there is one line", hung.stderr, "^lab: none.calls: No such file")
finally:
    os.chdir(repo)
    shutil.rmtree(folder)
done()
