"""`lab ab` and `lab why`: record one command on two kernels, and print how the recordings differ."""

import os
import re
import shutil
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Sequence

from ..kernels.build import build
from ..kernels.define import defined
from ..kernels.definitions import Kernels
from ..lab import Lab, LabError, Options, UsageError, number, read_options, remove
from .boots import OPTIONS, Boot, Pool, is_icount, slots
from .pair import CHANGES, SIDES, Side, choose, readable

OWN = (
    "--baseline --hardened --kernel --protection --series --boots --append --range --append-baseline --append-hardened"
    " --bzimage-baseline --bzimage-hardened --patch --tree --config --trace --model --budget --write-plan"
)
OF_RUN = "--accel --cpus --cpu --timeout --insmod"
FLAGS = "--control --control-run --exact --auto"
REFUSED = {
    "--bzimage": "ab takes --bzimage-baseline and --bzimage-hardened, not {}",
    "--seed": "ab gives each boot its own seed: --seed cannot be used",
    "--output": "ab writes baseline.data and hardened.data: {} cannot be used",
}
WHY_BOOTS = "3"  # two boots are too few for a standard deviation
CHANGED_MOST = 8  # maximum number of changed functions that --auto times as well


class Said:
    """The command line of `lab ab` or `lab why`, and its temporary files in the current directory, where guests can write."""

    def __init__(self, lab: Lab, words: list[str], why: bool) -> None:
        """Remove the options from words, so that the command remains. Pass options unknown to the lab to `kprotperf record`."""
        self.lab, self.why, self.command = lab, why, words
        given = read_options(lab, "ab", words, f"{OWN} {OF_RUN}", FLAGS, unknown=True)
        if not words:
            raise UsageError("ab needs -- and a command")
        self.boots = number(given.get("--boots", WHY_BOOTS if why else "1"), "--boots")
        self.given = given
        self.changes = Options(*(one for one in given.given if one[0] in CHANGES))
        self.append, self.range, self.write_plan = map(given.get, ("--append", "--range", "--write-plan"))
        self.run = given.words(OF_RUN.split())
        self.record = given.all("")
        self.exact = why or given.has("--exact")
        self.exact_options = given.words(("--trace", "--model"))
        self.auto = (["--auto"] if given.has("--auto") else []) + given.words(("--budget",))
        self.control, self.control_run = given.has("--control"), given.has("--control-run")
        self.files: list[Path] = []
        self.check()
        if self.exact and not self.accel():
            self.run += ["--accel", "icount"]  # the emulator counts instructions under icount

    def check(self) -> None:
        for word in self.record:
            name = "--output" if re.match("-o|--output(=|$)", word) else word.partition("=")[0]
            if name in REFUSED:
                raise UsageError(REFUSED[name].format(word))
        if self.range and not self.why:
            raise UsageError("--range is for why")
        if self.exact and self.record and not self.why:
            raise UsageError(f"--exact counts everything: it cannot be combined with {self.record[0]}")
        if self.exact_options and not self.exact:
            raise UsageError("--trace and --model need --exact")
        if (self.auto or self.write_plan) and "--auto" not in self.auto:
            raise UsageError("--budget and --write-plan need --auto")
        if self.auto and self.exact:
            raise UsageError("--auto chooses what to time: it cannot be combined with --exact and why, which count everything")
        self.lab.need_kprotperf()

    def patches(self) -> list[str]:
        """Return kprotperf's options for the patches that the hardened kernel has."""
        return [f"--patch={file}" for file in self.changes.all("--patch")]

    def accel(self) -> str:
        return dict(zip(self.run[::2], self.run[1::2])).get("--accel", "")

    def kinds(self) -> list[str]:
        return ["exact"] if self.exact else ["probed", "unprobed"] if self.control_run else ["probed"]

    def run_options(self, kernel: str, seed: int, append: str) -> list[str]:
        """Return the options of `lab run` for one boot of a kernel."""
        quiet = OPTIONS if is_icount(self.lab, self.accel()) else []
        option = "--bzimage" if "/" in kernel else "--kernel"
        return [option, kernel, "--seed", str(seed), *quiet, "--append", f"{self.append} {append}", *self.run]

    def file(self, name: str) -> str:
        """Return the name of a temporary file. close() removes the file."""
        self.files.append(Path(f".lab-ab.{os.getpid()}.{name}"))
        return str(self.files[-1])

    def close(self) -> None:
        for file in self.files:
            remove(file)


def command(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab ab`."""
    with closing(Said(kernels.lab, words, why=False)) as said:
        raise SystemExit(recorded(kernels, said).compare())


def recorded(kernels: Kernels, said: Said) -> "Comparison":
    """Choose the two kernels, build them if --patch, --tree or --config define one, and record the command on both."""
    sides, protection = choose(kernels, said.given), said.given.get("--protection")
    if sides["baseline"].cpu and "--cpu" not in said.run[::2]:
        said.run += ["--cpu", sides["baseline"].cpu]
    for name in SIDES:
        more = "".join(" " + value for value in said.given.all(f"--append-{name}"))
        sides[name] = replace(sides[name], append=sides[name].append + more)
    if protection:
        # Probes add to the command's time. So run the command without probes, too.
        if not said.exact:
            said.control_run = True
            said.record = ["--protection", protection, *said.record]
        for name, state in zip(SIDES, ("off", "on")):
            said.lab.note(f"{name}: {protection} {state}: kernel {sides[name].kernel} {sides[name].append}")
    if said.changes.given:
        # Build the changed kernel first, since its build may fail.
        baseline = sides["baseline"].kernel
        kernels.check_own(baseline)
        build_changed(kernels, sides["hardened"].kernel, baseline, said.changes)
        build(kernels, [baseline])
    comparison = Comparison(kernels, said, sides)
    comparison.record(said.kinds(), "")
    return comparison


def build_changed(kernels: Kernels, name: str, on: str, changes: Options) -> None:
    """Define and build the kernel `name`, which is the kernel `on` with these changes."""
    with defined(kernels, name, on, changes):
        build(kernels, [name])


class Comparison:
    """A command that is recorded on two kernels."""

    def __init__(self, kernels: Kernels, said: Said, sides: dict[str, Side]) -> None:
        self.lab = kernels.lab
        self.kernels = kernels
        self.said = said
        # The control is a second recording of the baseline. It shows the difference between two recordings of the same kernel.
        self.sides = sides | ({"control": sides["baseline"]} if said.control else {})
        self.record_options = [] if said.why else list(said.record)
        self.plan = ""
        self.folders: dict[str, Path] = {}
        # `lab why` records twice: exact recordings, then recordings with probes in the functions that cause the difference.
        self.pool = Pool(self.lab, said.boots * len(self.sides) * len(said.kinds()) * (2 if said.why else 1))

    def side_kernel(self, side: str) -> Path:
        """Return the folder of the kernel, or its bzImage."""
        kernel = self.sides[side].kernel
        return Path(readable(kernel)) if "/" in kernel else self.kernels.known_dir(kernel)

    def record(self, kinds: Sequence[str], suffix: str) -> None:
        """Record all boots. Merge the boots of each side into SIDE<suffix>.data."""
        # Look up the kernels before the first of many boots, since a kernel may be missing.
        self.folders = {side: self.side_kernel(side) for side in self.sides}
        if self.said.auto:
            self.choose_functions()
        # Alternate the sides, so that a host that slows down over time affects all of them. Boots of both sides use the same
        # seeds, so that the emulated hardware has the same random numbers.
        order = [(side, boot, kind) for boot in range(1, self.said.boots + 1) for side in self.sides for kind in kinds]
        parts = {one: self.said.file("{}.{}.{}.data".format(*one)) for one in order}
        self.pool.run([self.boot(*one, parts[one]) for one in order], slots(self.lab, self.said.accel()))
        merges = []
        for side in self.sides:
            files = [parts[one] for kind in kinds for one in order if one[0] == side and one[2] == kind]
            if len(files) > 1:
                merges.append(subprocess.Popen([self.lab.kprotperf, "merge", "-o", f"{side}{suffix}.data", *files]))
            else:
                os.replace(files[0], f"{side}{suffix}.data")
        for status in [merge.wait() for merge in merges]:
            if status:
                raise SystemExit(status)

    def boot(self, side: str, boot: int, kind: str, part: str) -> Boot:
        """Return a boot. Unprobed runs need boots of their own: after a probed run, more files would be in memory."""
        said, kernel = self.said, self.sides[side].kernel
        if self.side_kernel(side) != self.folders[side]:
            raise LabError(f"kernel {kernel} was changed in the meantime; stopped")
        # Give the control other seeds: with the baseline's seeds it would execute the same instructions.
        seed = said.boots + boot if side == "control" else boot
        record = ["--", self.lab.kprotperf, "record", *self.record_options]
        words = {
            "exact": ["--exact", *said.exact_options],
            "unprobed": [*record, "--control-run", "--repeat=0"],
            "probed": record,
            "auto": [*record, *said.auto, "--write-plan", self.plan],
        }[kind]
        words = [*said.run_options(kernel, seed, self.sides[side].append), *words, "-o", part, "--", *said.command]
        title = f"boot {boot} of {said.boots}: {side}, {kind} (kernel {kernel})" if said.boots > 1 and kind != "auto" else ""
        return Boot(title, words, f"recording {side} (kernel {kernel}, boot {boot})")

    def choose_functions(self) -> None:
        """Boot the hardened kernel once more: `record --auto` chooses the functions to time and writes them to self.plan."""
        self.plan = self.said.file("auto")
        Path(self.plan).write_text("")
        self.lab.note(f"choosing the functions to time (kernel {self.sides['hardened'].kernel})")
        self.pool.total += 1
        self.pool.run([self.boot("hardened", 1, "auto", self.said.file("hardened.1.auto.data"))], 1)
        self.add_changed()
        if not os.path.getsize(self.plan):
            self.lab.note("no function was chosen: syscalls alone are timed")
        if self.said.write_plan:
            # Guests can write to the current directory only, so copy the plan here.
            try:
                shutil.copyfile(self.plan, self.said.write_plan)
            except OSError as error:
                raise LabError(f"cannot write {self.said.write_plan}: {error.strerror}") from error
        self.record_options += ["--plan", self.plan]

    def add_changed(self) -> None:
        """Add to the plan the functions that a patch changes: `record --auto` may miss them if they have few samples. Use their
        names in the source code, without suffixes of the compiler such as .isra and .cold."""
        files = [self.folders[side] / "vmlinux" for side in SIDES]
        if not self.said.patches() or not all(file.is_file() for file in files):
            return
        found = self.lab.ask("changes", "--format=json", "--section=functions", *files) or {"functions": []}
        changed = [one for one in found["functions"] if one["change"] == "differs" and not one.get("init")]
        names = list(dict.fromkeys(one["function"].partition(".")[0] for one in changed))[:CHANGED_MOST]
        if names:
            self.lab.note(f"also timed, as the patch changes their code: {' '.join(names)}")
            with open(self.plan, "a", encoding="utf-8") as plan:
                plan.write(f"--func=@({'|'.join(names)})\n")

    def compare(self) -> int:
        """Print the output of `kprotperf diff`. Return its status."""
        more = ["--control", "control.data"] if self.said.control else self.said.patches()
        return subprocess.run([self.lab.kprotperf, "diff", *more, "baseline.data", "hardened.data"], check=False).returncode

    def explain(self) -> int:
        """Print the output of `kprotperf why`, and return its status. First, record with probes in the functions that `why
        --plan` names. If that fails, explain the exact recordings alone."""
        files, plan = ["baseline.data", "hardened.data"], self.said.file("plan")
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
            except SystemExit:
                pass
        return subprocess.run([self.lab.kprotperf, "why", *self.said.patches(), *files], check=False).returncode
