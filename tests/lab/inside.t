#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Test decisions of the lab in one process, without a guest: the commit that causes a cost, pairs of kernels, the table of
a matrix."""

import io
import os
import sys
from pathlib import Path
from typing import Sequence

repo = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(repo / "scripts"), str(repo / "tests")]

from kernellab.guests.machine import Machine, kernel_command_line  # noqa: E402
from kernellab.guests.watch import Output, carry_all  # noqa: E402
from kernellab.jobs import pair, table  # noqa: E402
from kernellab.jobs.ab import Said  # noqa: E402
from kernellab.jobs.boots import Boot, Pool  # noqa: E402
from kernellab.jobs.commits import Cost, Search  # noqa: E402
from kernellab.jobs.pair import Side  # noqa: E402
from kernellab.jobs.rows import Row, join, together_rows  # noqa: E402
from kernellab.kernels.definitions import Kernels, named_compiler  # noqa: E402
from kernellab.lab import Lab, LabError, Options, UsageError, quote  # noqa: E402
from tap import done, is_, like, ok, raises  # noqa: E402

BROKEN = None


class Notes(Lab):
    """A lab that stores its messages."""

    def __init__(self) -> None:
        build = Path(os.environ.get("BUILD") or "build")
        super().__init__(repo / "scripts", {"KPROTPERF": str(repo / build / "kprotperf"), **os.environ})
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


# --- search for a commit in a range ---------------------------------------------


class Series(Search):
    """Commits with known costs; commit 0 costs 0. Every third boot costs `noise` more. Intervals: +- 3 * noise / boots."""

    def __init__(self, *costs: int | None, noise: int = 0) -> None:
        self.lab = Notes()
        self.said = Said(self.lab, "--boots 3 --range start..HEAD -- true".split(), why=True)
        self.first, self.last = "start", "HEAD"
        self.costs, self.noise = [0, *costs], noise
        self.commits = [f"commit {number}" for number in range(len(self.costs))]
        self.parts: dict[int, list[str]] = {}
        self.context, self.total = "", 0
        self.built: list[int] = []
        self.found = (-1, -1)

    def build(self, index: int) -> bool:
        if index not in self.parts:
            self.parts[index] = []
            self.built.append(index)
        return self.costs[index] is not BROKEN

    def measure(self, indices: Sequence[int], boots: int) -> bool:
        if not all([self.build(index) for index in indices]):
            return False
        for index in indices:
            self.parts[index] = [f"{index}.{boot}" for boot in range(1, max(boots, len(self.parts[index])) + 1)]
        return True

    def mean(self, index: int) -> float:
        boots = len(self.parts[index])
        return (self.costs[index] or 0) + self.noise * sum(seed % 3 == 1 for seed in range(1, boots + 1)) / boots

    def cost(self, index: int) -> Cost:
        sign = -1 if self.total < 0 else 1
        total = (self.mean(index) - self.mean(0)) * sign
        by = self.noise * 3 / len(self.parts[index])
        return Cost("prctl", total, total - by, total + by, abs(total) > by)

    def explain(self, low: int, high: int) -> int:
        self.found = (low, high)
        return 0

    def boots(self) -> int:
        return sum(map(len, self.parts.values()))


def broken_first() -> Series:
    first = Series(100)
    first.costs[0] = BROKEN
    return first


series = Series(*[0] * 10, *[1000] * 6)
is_("of 16 commits the one with the cost is found", (series.run(), series.found), (0, (10, 11)))
is_("in 6 builds, of three boots each", (len(series.built), series.boots()), (6, 18))
is_(
    "the whole is said",
    series.lab.notes,
    ["start..HEAD changes prctl by 1000 instructions per run; looking for the commit among 16 commits"],
)
series = Series(*[0] * 10, *[1000] * 6, noise=600)
is_("where boots differ it is found, too", (series.run(), series.found), (0, (10, 11)))
ok("by more boots", series.boots() > 18, series.boots())
series = Series(*[0] * 10, *[1000] * 6, noise=9000)
text = "no significant change between start and HEAD, measured over 12 boots per side$"
raises("a range that has no cost beyond chance", LabError, text, series.run)
series = Series(0, BROKEN, 0, 0, -700, -700)
is_("a gain is found, and what does not build is passed over", (series.run(), series.found), (0, (4, 5)))
series = Series(BROKEN, BROKEN, BROKEN, 500)
text = "the change is in one of the 4 commits .*, of which only the last can be built"
raises("where only the last one builds, it may be any", LabError, text, series.run)
raises("the first has to", LabError, "cannot build the first commit of start..HEAD", lambda: broken_first().run())


# --- pairs of kernels ------------------------------------------------------------

lab = Notes()
kernels = Kernels(lab)


def chosen(**wanted: str) -> tuple[str, str]:
    found = pair.choose(kernels, Options(*((f"--{name}", value) for name, value in wanted.items())))
    return found["baseline"].kernel, found["hardened"].kernel


is_("without a word the pair is baseline and hardened", chosen(), ("baseline", "hardened"))
is_("of another series", chosen(series="6.12"), ("baseline-6.12", "hardened-6.12"))
is_("two kernels for what a rebuild switches", chosen(protection="debug_list"), ("debug_list-off", "debug_list-on"))
is_("one for what a parameter does", chosen(protection="init_on_alloc"), ("baseline", "baseline"))
found = pair.choose(kernels, Options(("--protection", "init_on_alloc")))
is_("which has it", (found["baseline"].append, found["hardened"].append), ("init_on_alloc=0", "init_on_alloc=1"))
is_(
    "a row's CPU is the pair's",
    pair.choose(kernels, Options(("--protection", "srso")))["baseline"].cpu,
    "vendor=AuthenticAMD,family=25,model=1",
)
for wanted, text in {
    (("protection", "kfence"), ("baseline", "baseline")): "--protection chooses the kernels",
    (("kernel", "hardened"), ("series", "6.12")): "--kernel is for both sides",
    (("protection", "kfenc"),): "unknown protection 'kfenc'; .*; did you mean 'kfence'\\?",
    (("protection", "shadow_call_stack"),): "the lab cannot switch shadow_call_stack: arm64",
    (("protection", "seccomp_filter"),): "seccomp_filter is switched by programs",
    (("protection", "random_kmalloc_caches"),): "this Linux has no random_kmalloc_caches, which is new in 6.6",
}.items():
    raises(f"refused: {wanted}", LabError, text, lambda: chosen(**dict(wanted)))
raises(
    "an unknown kernel is wrong usage",
    UsageError,
    "^unknown kernel 'nosuch'; known: baseline ",
    lambda: kernels.check_known("nosuch"),
)
raises("a path is no kernel", UsageError, "unknown kernel", lambda: kernels.check_known("../hardened"))
raises(
    "nor is one of a series that there is not",
    UsageError,
    "the lab has Linux 6.1 6.12$",
    lambda: kernels.check_known("baseline-5.4"),
)
is_(
    "options of a kernel, each once, the last wins",
    [line for line in kernels.fragment("hardened") if "FREELIST_RANDOM" in line],
    ["CONFIG_SLAB_FREELIST_RANDOM=y"],
)

# --- options of ab and of record -------------------------------------------------

words = ["--boots", "2", "--func=f", "-r", "3", "--", "cmd", "--boots"]
said = Said(lab, words, why=False)
is_(
    "options of ab and of record are told apart, in order",
    (said.boots, said.record, words),
    (2, ["--func=f", "-r", "3"], ["cmd", "--boots"]),
)
for wrong in (
    "--bzimage x",
    "--seed 1",
    "-o x",
    "-ox",
    "--output=x",
    "--boots none",
    "--budget 5",
    "--write-plan x",
    "--auto --exact",
    "--trace f",
):
    raises(f"refused: ab {wrong}", UsageError, ".", lambda: Said(lab, [*wrong.split(), "--", "cmd"], why=False))
raises("refused: ab without a command", UsageError, "needs -- and a command", lambda: Said(lab, ["--boots", "2"], why=False))
raises("an option without its value", UsageError, "--patch needs a value", lambda: Said(lab, ["--patch"], why=False))
is_("words are quoted for any shell", quote(["a b", "it's", "$x", ""]), "'a b' 'it'\\''s' '$x' ''")

# --- a matrix ----------------------------------------------------------------------


def cell(row: str, delta: float, ci: list[float] | None, **more: object) -> dict[str, object]:
    percent = [one / 1000 * 100 for one in ci] if ci else [None, None]
    found: dict[str, object] = {
        "protection": row,
        "workload": "w",
        "reason": None,
        "unit": "insn",
        "baseline": 1000,
        "hardened": 1000 + delta,
    }
    found |= {
        "delta": delta,
        "delta_pct": delta / 10,
        "ci": ci,
        "ci_low_pct": percent[0],
        "ci_high_pct": percent[1],
        "verdict": "slower",
        "p": 0.01,
    }
    return (
        found | {"context": {"significant": False, "delta_total_low": None}, "answer": None, "warnings": [], "pages": ""} | more
    )


four = ["P without Q", "Q without P", "Q with P", "P+Q"]
cells = [cell(four[0], 10, [9, 11]), cell(four[1], 20, [17, 23]), cell(four[2], 16, [12, 20]), cell(four[3], 26, [25, 27])]
document = table.document(lab, cells, 3, four, ["w"], [four])
sums = document["together"][0]
is_("what two cost together less the sum of each", (sums["sum"], sums["both"], sums["difference"]), (30, 26, -4))
is_("has the interval of a difference of independent ones", [round(end, 3) for end in sums["ci"]], [-9, 1])
is_("which decides", sums["verdict"], "unclear")
like(
    "in the text",
    "\n".join(table.text(document)),
    r"^  P\+Q, w: \+1\.00 and \+2\.00, sum \+3\.00; both \+2\.60; -0\.40 \[-0\.90, \+0\.10\] unclear$",
)
cells[1] |= {"ci": None, "ci_low_pct": None, "ci_high_pct": None}
is_("without intervals there is none", table.document(lab, cells, 1, four, ["w"], [four])["together"][0]["ci"], None)
cells[3] = {"protection": "P+Q", "workload": "w", "reason": "off, boot 1: status 3: a < b"}
document = table.document(lab, cells, 3, four, ["w"], [four])
is_("where one of the four is missing nothing is summed up", document["together"], [])
like("a cell that is missing says why", "\n".join(table.text(document)), "^  P\\+Q, w: off, boot 1: status 3: a < b$")
like("as text of a page, too", "\n".join(table.page(document)), 'title="off, boot 1: status 3: a &lt; b">failed')
is_(
    "figures are rounded away from zero, with their sign",
    [table.figure(one) for one in (0, 0.005, -0.005, -12.346, None)],
    ["+0.00", "+0.01", "-0.01", "-12.35", "-"],
)
is_(
    "CSV has names in quotes, numbers as they are",
    list(table.csv(document))[1].split(",")[:5],
    ['"P without Q"', '"w"', '"insn"', "1000", "1010"],
)

base, other = Side("baseline", "a=1"), Side("x-on", "", "cpu")
is_("what parameters of baseline switch goes with another kernel", join(base, other), Side("x-on", "a=1", "cpu"))
raises("two kernels do not", LabError, "they need two kernels, y-on and x-on", lambda: join(Side("y-on"), other))
raises("nor do two CPUs", LabError, "they need two CPUs", lambda: join(Side("x-on", cpu="other"), other))
rows = together_rows(
    Row("p", {"off": Side("p-off"), "on": Side("p-on")}),
    Row("q", {"off": Side("baseline", "q=0"), "on": Side("baseline", "q=1")}),
    "",
)
is_("two together have four rows", [row.name for row in rows], ["p without q", "q without p", "q with p", "p+q"])
is_(
    "of which the third has p on both sides",
    (rows[2].sides["off"], rows[2].sides["on"]),
    (Side("p-on", "q=0"), Side("p-on", "q=1")),
)

# --- several guests at a time --------------------------------------------------------


class Shell(Notes):
    """A lab that does not boot, but executes the last argument of `lab run` as a shell script."""

    def command(self, *words: str | Path) -> list[str]:
        return ["sh", "-c", str(words[-1])]


def run_all(at_a_time: int, *scripts: str) -> tuple[str, list[str], int]:
    """Run the scripts as guests. Return their output, the lab's messages, and the status."""
    shell, ours, status = Shell(), sys.stdout, 0
    sys.stdout = io.TextIOWrapper(io.BytesIO())
    try:
        Pool(shell, len(scripts)).run(
            [Boot(f"boot {script}", [script], f"recording {script}") for script in scripts], at_a_time
        )
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        sys.stdout, printed = ours, sys.stdout
    printed.seek(0)
    return printed.read(), shell.notes, status


# The first script waits for the third, for ten seconds at most.
flag = Path(os.environ.get("TMPDIR") or "/tmp") / f"kprotperf-inside.{os.getpid()}.flag"
first = f"for i in $(seq 200); do [ ! -e {flag} ] || break; sleep 0.05; done; [ -e {flag} ] && echo one"
said = run_all(2, first, "echo two", f"touch {flag}; echo three")
is_("what guests print comes in their order", said[0], "one\ntwo\nthree\n")
is_("one that ends makes room for the next, whichever it is", said[2], 0)
is_("each has a line", said[1][1], "boot echo two")
flag.unlink()
said = run_all(2, "echo one", "echo two; exit 9", "sleep 100")
is_("one that fails ends the others, with its status", (said[0], said[2]), ("one\ntwo\n", 9))
like("and a line that says which", said[1][-1], "^recording echo two; exit 9 ended with status 9; stopped$")
is_("one at a time keeps nothing back", run_all(1, "true", "exit 3")[2], 3)

os.environ["CC"] = "cc"
is_("a link to gcc is gcc, whose objects need not be made anew", named_compiler(), "gcc")
os.environ["CC"] = "nosuch-gcc"
is_("another compiler is that one", named_compiler(), "nosuch-gcc")
del os.environ["CC"]

# --- a guest's command line -------------------------------------------------------

like(
    "a guest with files in memory is told so, as recordings have its command line",
    kernel_command_line(Notes(), Machine(Path("bzImage"), accel="icount", in_memory=True)),
    r" kprotperf\.files=memory ",
)
ok("others are not", "kprotperf.files" not in kernel_command_line(Notes(), Machine(Path("bzImage"), accel="icount")))

# --- a guest's output --------------------------------------------------------------

scratch = Path(os.environ.get("TMPDIR") or "/tmp") / f"kprotperf-inside.{os.getpid()}"
os.mkfifo(scratch)
reader, writer = os.pipe()
try:
    output = Output(scratch, writer, False)
    with open(scratch, "wb", buffering=0) as fifo:
        for _ in range(64):
            os.write(fifo.fileno(), b"x" * 4096)
            carry_all([output], None, 0)
    output.end_input()
    ok("what nobody reads is kept", output.received == 64 * 4096 and output.waiting, output.received, len(output.waiting))
    os.set_blocking(reader, False)
    arrived = b""
    while not output.is_done():
        carry_all([output], None, 0)
        arrived += os.read(reader, 1 << 16)
    is_("and arrives whole", arrived, b"x" * (64 * 4096))
    os.close(reader)
    output.close()
finally:
    scratch.unlink()
done()
