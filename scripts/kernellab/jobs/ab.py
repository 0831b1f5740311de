"""lab ab, lab why: one command recorded on two kernels, and what differs."""

import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterator, Sequence

from ..kernels.build import Builder
from ..kernels.define import Definition, defined
from ..kernels.definitions import Kernels
from ..lab import Ended, Lab, LabError, UsageError, number, remove
from ..words import REST, options
from .boots import OPTIONS, Boot, Pool, is_icount, slots
from .pair import Pair, Wanted, choose

OWN = (
    "--baseline --hardened --kernel --protection --series --boots --append --range --append-baseline --append-hardened".split()
)
OWN += "--bzimage-baseline --bzimage-hardened --patch --tree --config --trace --model --budget --write-plan".split()
OF_RUN = "--accel --cpus --cpu --timeout --insmod".split()
FLAGS = "--control --control-run --exact --auto".split()
REFUSED = {
    "--bzimage": "ab takes --bzimage-baseline and --bzimage-hardened, not {}",
    "--seed": "ab gives each boot its own seed: --seed cannot be used",
    "--output": "ab writes baseline.data and hardened.data: {} cannot be used",
}
WHY_BOOTS = "3"  # what one kernel's boots differ by three tell better than two, and more seldom agree by chance
CHANGED_MOST = 8  # changed functions that --auto times as well


@dataclass
class Said:
    """The options of ab and why."""

    why: bool
    wanted: Wanted = field(default_factory=Wanted)
    boots: int = 1
    append: str = ""
    side_append: dict[str, str] = field(default_factory=lambda: {"baseline": "", "hardened": ""})
    run: list[str] = field(default_factory=list)
    record: list[str] = field(default_factory=list)
    exact: list[str] = field(default_factory=list)
    auto: list[str] = field(default_factory=list)
    write_plan: str = ""
    range: str = ""
    flags: set[str] = field(default_factory=set)

    def accel(self) -> str:
        given = [value for option, value in zip(self.run[::2], self.run[1::2]) if option == "--accel"]
        return (given or [""])[-1]

    def is_exact(self) -> bool:
        return "--exact" in self.flags

    def kinds(self) -> list[str]:
        return ["exact"] if self.is_exact() else ["probed", "unprobed"] if "--control-run" in self.flags else ["probed"]


def read(lab: Lab, words: list[str], why: bool) -> Said:
    """Takes ab's options off the front of its words, which leaves the command. Others are those of record."""
    said = Said(why, flags={"--exact"} if why else set())
    boots = WHY_BOOTS if why else "1"
    for option, value, known in options(words, OWN + OF_RUN, FLAGS):
        refused = REFUSED.get("--output" if re.match("-o|--output(=|$)", option) else option.partition("=")[0])
        if option == REST:
            said.record.append(value)
        elif not known and refused:
            raise UsageError(refused.format(option))
        elif not known:
            said.record.append(option)
        elif option == "--boots":
            boots = value
        elif option in FLAGS:
            said.flags.add(option)
        else:
            put(said, option, value)
    if "--auto" in said.flags:
        said.auto.insert(0, "--auto")
    if not words:
        raise UsageError("ab needs -- and a command")
    said.boots = number(boots, "--boots")
    check(lab, said)
    return said


def put(said: Said, option: str, value: str) -> None:
    if option.startswith("--bzimage-"):
        if not os.access(value, os.R_OK):
            raise LabError(f"cannot read the kernel {value}")
        setattr(said.wanted, option[len("--bzimage-") :], os.path.realpath(value))
    elif option in ("--patch", "--tree", "--config"):
        said.wanted.change.append((option, value))
    elif option in ("--append", "--range"):
        setattr(said, option[2:], value)
    elif option.startswith("--append-"):
        said.side_append[option[len("--append-") :]] += " " + value
    elif option in ("--trace", "--model"):
        said.exact += [option, value]
    elif option == "--budget":
        said.auto += [option, value]
    elif option == "--write-plan":
        said.write_plan = value
    elif option in OF_RUN:
        said.run += [option, value]
    else:
        setattr(said.wanted, option[2:], value)


def check(lab: Lab, said: Said) -> None:
    if said.range and not said.why:
        raise UsageError("--range is for why")
    if said.is_exact() and said.record and not said.why:
        raise UsageError(f"--exact counts everything: it cannot be combined with {said.record[0]}")
    if said.exact and not said.is_exact():
        raise UsageError("--trace and --model need --exact")
    if (said.auto or said.write_plan) and "--auto" not in said.flags:
        raise UsageError("--budget and --write-plan need --auto")
    if said.auto and said.is_exact():
        raise UsageError("--auto chooses what to time: it cannot be combined with --exact and why, which count everything")
    lab.need_kprotperf()


Search = Callable[[Lab, Kernels, Said, Sequence[str], "Scratch"], None]


def command(lab: Lab, kernels: Kernels, words: list[str], search: Search | None) -> None:
    """Does what `ab`, or `why`, with these words is to do. search does what `why --range` is to do; `ab` has none."""
    said = read(lab, words, search is not None)
    if said.is_exact() and not said.accel():
        # The emulator counts.
        said.run += ["--accel", "icount"]
    with scratch_files() as scratch:
        if said.range and search:
            search(lab, kernels, said, words, scratch)
            return
        pair = choose(lab, kernels, said.wanted)
        prepare(lab, kernels, said, pair)
        comparison = Comparison(lab, kernels, said, pair, words, scratch)
        comparison.record(said.kinds(), "")
        raise Ended(comparison.explain() if said.why else comparison.compare())


def prepare(lab: Lab, kernels: Kernels, said: Said, pair: Pair) -> None:
    """Builds what is to be built, and says what differs."""
    if pair.cpu and "--cpu" not in said.run[::2]:
        said.run += ["--cpu", pair.cpu]
    for side in ("baseline", "hardened"):
        pair.append[side] += said.side_append[side]
    if said.wanted.protection:
        # The truth is what the command takes unprobed.
        if not said.is_exact():
            said.flags.add("--control-run")
            said.record = ["--protection", said.wanted.protection, *said.record]
        lab.note(f"baseline: {said.wanted.protection} off: kernel {pair.kernel['baseline']} {pair.append['baseline']}")
        lab.note(f"hardened: {said.wanted.protection} on: kernel {pair.kernel['hardened']} {pair.append['hardened']}")
    if said.wanted.change:
        # First the one that may be impossible.
        kernels.check_own(pair.kernel["baseline"])
        build_changed(lab, kernels, pair.kernel["hardened"], pair.kernel["baseline"], said.wanted.change)
        Builder(lab, kernels).build([pair.kernel["baseline"]])


def build_changed(lab: Lab, kernels: Kernels, name: str, on: str, change: Sequence[tuple[str, str]]) -> None:
    """Builds a kernel with these changes, known as name."""
    definition = Definition(on)
    for option, value in change:
        if option == "--patch":
            definition.patches.append(value)
        else:
            setattr(definition, option[2:], value)
    with defined(kernels, name, definition):
        Builder(lab, kernels).build([name])


class Scratch:
    """Files of a job in the current directory, which guests can write; they go with it."""

    def __init__(self) -> None:
        self.files: list[Path] = []

    def file(self, name: str) -> str:
        """Returns the name of a file."""
        self.files.append(Path(f".lab-ab.{os.getpid()}.{name}"))
        return str(self.files[-1])


@contextmanager
def scratch_files() -> Iterator[Scratch]:
    scratch = Scratch()
    try:
        yield scratch
    finally:
        for file in scratch.files:
            remove(file)


class Comparison:
    """A command on two kernels."""

    def __init__(self, lab: Lab, kernels: Kernels, said: Said, pair: Pair, command: Sequence[str], scratch: Scratch) -> None:
        self.lab = lab
        self.kernels = kernels
        self.said = said
        self.command = command
        self.scratch = scratch
        self.kernel, self.append = dict(pair.kernel), dict(pair.append)
        self.sides = ["baseline", "hardened"]
        if "--control" in said.flags:
            # The baseline once more: what differs between two recordings of one kernel.
            self.sides.append("control")
            self.kernel["control"], self.append["control"] = pair.kernel["baseline"], pair.append["baseline"]
        self.record_options = [] if said.why else list(said.record)
        self.plan = ""
        self.folders: dict[str, Path] = {}
        # why times with probes what it finds.
        self.pool = Pool(lab, self.boots_of(said.kinds()) * (2 if said.why else 1))

    def boots_of(self, kinds: Sequence[str]) -> int:
        return self.said.boots * len(self.sides) * len(kinds)

    def side_kernel(self, side: str) -> Path:
        """Returns the folder of a side's kernel, or its bzImage."""
        kernel = self.kernel[side]
        if "/" not in kernel:
            return self.kernels.known_dir(kernel)
        if not os.access(kernel, os.R_OK):
            raise LabError(f"cannot read the kernel {kernel}")
        return Path(kernel)

    def record(self, kinds: Sequence[str], suffix: str) -> None:
        """Boots and records, into SIDE<suffix>.data."""
        # Found before the first of many boots rather than after half of them.
        for side in self.sides:
            self.folders[side] = self.side_kernel(side)
        if self.said.auto:
            self.choose_functions()
        # Alternating, so that a host that slows down over time does it to both. The two sides of a pair share their seed:
        # what is random in the hardware is then no difference between them.
        order = [(side, boot, kind) for boot in range(1, self.said.boots + 1) for side in self.sides for kind in kinds]
        parts = {one: self.scratch.file("{}.{}.{}.data".format(*one)) for one in order}
        self.pool.run([self.boot(*one, parts[one]) for one in order], slots(self.lab, self.said.accel()))
        merges = []
        for side in self.sides:
            of_side = [parts[one] for kind in kinds for one in order if one[0] == side and one[2] == kind]
            merges.append(self.merge(of_side, f"{side}{suffix}.data"))
        for status in [merge.wait() for merge in merges if merge]:
            if status:
                raise Ended(status)

    def boot(self, side: str, boot: int, kind: str, part: str) -> Boot:
        """Returns a boot. Unprobed runs have boots of their own, so that they find no more in memory than probed ones; the
        recorder does everything else as before those, and so the files merge."""
        said, kernel = self.said, self.kernel[side]
        if self.side_kernel(side) != self.folders[side]:
            raise LabError(f"kernel {kernel} was changed in the meantime; stopped")
        # The control with the baseline's seeds would be the same instructions once more.
        seed = said.boots + boot if side == "control" else boot
        record = [self.lab.kprotperf, "record", *self.record_options]
        words = {
            "exact": ["--exact", *said.exact, "-o", part, "--"],
            "unprobed": ["--", *record, "--control-run", "--repeat=0", "-o", part, "--"],
            "probed": ["--", *record, "-o", part, "--"],
            "auto": ["--", *record, *said.auto, "--write-plan", self.plan, "-o", part, "--"],
        }[kind]
        option = "--bzimage" if "/" in kernel else "--kernel"
        quiet = OPTIONS if is_icount(self.lab, said.accel()) else []
        words = [
            option,
            kernel,
            "--seed",
            str(seed),
            *quiet,
            "--append",
            f"{said.append} {self.append[side]}",
            *said.run,
            *words,
        ]
        title = f"boot {boot} of {said.boots}: {side}, {kind} (kernel {kernel})" if said.boots > 1 and kind != "auto" else ""
        return Boot(title, [*words, *self.command], f"recording {side} (kernel {kernel}, boot {boot})")

    def merge(self, parts: Sequence[str], file: str) -> subprocess.Popen[bytes] | None:
        """Makes one file of a side's. Returns what is still at it."""
        if len(parts) > 1:
            return subprocess.Popen([self.lab.kprotperf, "merge", "-o", file, *parts])
        os.replace(parts[0], file)
        return None

    # --- --auto ----------------------------------------------------------------

    def choose_functions(self) -> None:
        """Has record choose in a boot of its own of the hardened kernel where the cost is: all others time the same."""
        self.plan = self.scratch.file("auto")
        Path(self.plan).write_text("")
        self.lab.note(f"choosing the functions to time (kernel {self.kernel['hardened']})")
        self.pool.total += 1
        self.pool.run([self.boot("hardened", 1, "auto", self.scratch.file("hardened.1.auto.data"))], 1)
        self.add_changed()
        if not os.path.getsize(self.plan):
            self.lab.note("no function was chosen: syscalls alone are timed")
        if self.said.write_plan:
            # The guest writes to the current directory only.
            try:
                shutil.copyfile(self.plan, self.said.write_plan)
            except OSError as error:
                raise LabError(f"cannot write {self.said.write_plan}: {error.strerror}") from error
        self.record_options += ["--plan", self.plan]

    def add_changed(self) -> None:
        """Adds to the plan what a patch changes, whose samples may be few. Each kernel's compiler gives parts of functions
        names of their own, so they are named as in the source."""
        files = [self.folders[side] / "vmlinux" for side in ("baseline", "hardened")]
        if not self.said.wanted.patches() or not all(file.is_file() for file in files):
            return
        found = self.lab.ask("changes", "--format=json", "--section=functions", *files) or {"functions": []}
        changed = [
            one["function"].partition(".")[0]
            for one in found["functions"]
            if one["change"] == "differs" and not one.get("init")
        ]
        names = list(dict.fromkeys(changed))[:CHANGED_MOST]
        if names:
            self.lab.note(f"also timed, as the patch changes their code: {' '.join(names)}")
            with open(self.plan, "a", encoding="utf-8") as plan:
                plan.write(f"--func=@({'|'.join(names)})\n")

    # --- answers ---------------------------------------------------------------

    def compare(self) -> int:
        """Prints the differences. Returns kprotperf's status."""
        more = ["--control", "control.data"] if len(self.sides) > 2 else self.said.wanted.patches()
        return subprocess.run([self.lab.kprotperf, "diff", *more, "baseline.data", "hardened.data"], check=False).returncode

    def explain(self) -> int:
        """Prints what was counted, beside recordings of the functions that it names, as many: one run of probes per side
        differs
        from another by a tenth of 0.6 %. Where these cannot be made what was counted is the answer all the same."""
        files, plan = ["baseline.data", "hardened.data"], self.scratch.file("plan")
        done = subprocess.run([self.lab.kprotperf, "why", "--plan", plan, *files], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            return done.returncode
        self.record_options = Path(plan).read_text().splitlines()
        if self.record_options:
            self.record_options += self.said.record
            try:
                self.record(["probed"], "-probed")
                files += ["baseline-probed.data", "hardened-probed.data"]
            except LabError as error:
                self.lab.note(str(error))
            except Ended:
                pass
        return subprocess.run([self.lab.kprotperf, "why", *self.said.wanted.patches(), *files], check=False).returncode
