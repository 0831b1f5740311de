"""`lab matrix`: a table with a row per protection and a column per workload. docs/matrix.md describes the files in DIR.

A file gets its name when it is complete, and is not made again. So a matrix can be resumed, and any program can run its jobs.
"""

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from ..guests.host import Host, host_of
from ..kernels.definitions import Kernels
from ..lab import Lab, LabError, UsageError, counted, join_lines, last_line, number, outliving_nobody, quote
from ..lab import read_options, remove, whole
from ..locks import Lock
from . import table
from .boots import OPTIONS
from .cells import Cell, make_all
from .pair import Side
from .rows import FLOOR, Row, best_workloads, protection_row, switchable, together_rows

VALUED = "--protection --together --workload --series --kernel --sshlogin --boots --dir --jobs --on"
FLAGS = "--print-jobs --html --retry-failed"
NOISE = re.compile(r"  \| |kprotperf: (one run|warning: the command)")
LOCALE = "LANG TZ USER LOGNAME SHELL NO_COLOR".split()


class Said:
    """The command line of `lab matrix`."""

    def __init__(self, lab: Lab, words: list[str]) -> None:
        given = read_options(lab, "matrix", words, VALUED, FLAGS)
        for word in given.all("") + words:
            raise UsageError(f"matrix takes options only, not '{word}'")
        self.protections = [one for value in given.all("--protection") for one in value.split(",")]
        self.together: list[tuple[str, str]] = []
        for value in given.all("--together"):
            first, comma, second = value.partition(",")
            if not (first and comma and second) or "," in second or first == second:
                raise UsageError(f"--together needs two protections, P,Q, not '{value}'")
            self.together.append((first, second))
        self.sources = [one for one in given.given if one[0] in ("--series", "--kernel")]
        self.logins = given.all("--sshlogin")
        for login in self.logins:
            if login.startswith("-"):
                raise UsageError(f"--sshlogin needs a host, not '{login}'")
        self.workloads = given.all("--workload")
        self.boots = number(given.get("--boots", "3"), "--boots")
        self.jobs, self.on, self.dir = given.get("--jobs"), given.get("--on"), given.get("--dir", "matrix")
        if self.dir.startswith(("/", "-")) or "/../" in f"/{self.dir}/":
            raise UsageError("--dir is a folder below the current directory, as guests write nowhere else")
        self.print_jobs, self.html, self.retry = map(given.has, FLAGS.split())


@dataclass
class Workload:
    """A command line, its name in the table, and the name of its folders."""

    name: str
    command: str
    file: str


def file_name(text: str) -> str:
    """Return text with characters replaced that file names should not contain."""
    return re.sub(r"[^A-Za-z0-9_.=,-]", "+", text.replace("  ", " ", 1))


class Matrix:
    """A table of protections and workloads."""

    def __init__(self, kernels: Kernels, said: Said) -> None:
        self.lab = kernels.lab
        self.kernels = kernels
        self.said = said
        self.dir = Path(said.dir)
        self.rows: list[Row] = []
        self.together: list[list[str]] = []  # the names of the four rows of each pair in --together
        self.kernel_reason: dict[str, str] = {}
        self.lab.need_kprotperf()
        if not shutil.which("parallel"):
            raise LabError("GNU parallel is not installed; install it with scripts/setup --for=lab")

    # --- rows and columns ------------------------------------------------------

    def choose(self) -> None:
        """Choose the protections and the workloads."""
        said = self.said
        if said.on:
            self.host_kernels()
        if not said.protections and not said.together:
            said.protections = switchable(self.kernels)
        named = said.protections + [one for two in zip(*said.together) for one in two]
        for protection in named:
            self.kernels.protections.need(protection, self.kernels.base_series())
        for source in said.sources or [("--series", "")]:
            if source[0] == "--kernel":
                self.kernels.known_dir(source[1])
            suffix = f"-{source[1]}" if len(said.sources) > 1 and source[1] else ""
            self.rows += [self.row(protection + suffix, protection, source) for protection in said.protections]
            for first, second in said.together:
                four = together_rows(self.row(first, first, source), self.row(second, second, source), suffix)
                self.rows += four
                self.together.append([row.name for row in four])
        self.workloads = [self.workload(one) for one in said.workloads or best_workloads(self.kernels, named)]

    def row(self, name: str, protection: str, source: tuple[str, str]) -> Row:
        return protection_row(self.kernels, name, protection, source, bool(self.said.on))

    def workload(self, text: str) -> Workload:
        """Return the workload in `text`: a program of build/workloads or a command line, with or without NAME=."""
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)=(.+)", text, re.DOTALL)
        name, command = (match[1], match[2]) if match else (text, text)
        program, _, rest = command.strip().partition(" ")
        ours = self.lab.repo / "build/workloads" / program
        if program and os.access(ours, os.X_OK):
            program = str(ours)
        if not shutil.which(program):
            raise LabError(f"no such workload or command: {program}")
        return Workload(name, f"{program} {rest.strip()}".strip(), file_name(name))

    def host_kernels(self) -> None:
        """Use a separate cache below DIR. Store the configurations of HOST's kernels in this cache."""
        said, host = self.said, Host(self.lab, host_of(self.said.on))
        if said.logins:
            raise UsageError("--on is for one machine: it cannot be combined with --sshlogin")
        if not said.sources or any(kind != "--kernel" for kind, _ in said.sources):
            raise UsageError("--on needs --kernel, the name of one in HOST's /boot")
        self.lab.cache = Path.cwd() / self.dir / "host"
        for _, name in said.sources:
            done = host.do("kernel", name)
            if done.returncode:
                raise host.error(f"cannot read kernel {name}: {last_line(done.stderr or done.stdout)}")
            key, _, config = done.stdout.partition("\n")
            kernel = self.lab.cache / "stock/versions" / file_name(f"{name}-{host.host.rpartition('@')[2]}-{key}")
            (kernel / "lib/modules" / name).mkdir(parents=True, exist_ok=True)
            (kernel / "config").write_text(config + "\n")
            link = self.lab.cache / "stock" / name
            remove(link)
            link.symlink_to(kernel)

    # --- kernels ---------------------------------------------------------------

    def build(self) -> None:
        """Build missing kernels, ordered by object tree, so that most builds are incremental. Set the folder names of all rows.
        Add the row A+A, which compares a kernel with itself."""
        kernels = {side.kernel for row in self.rows for side in row.sides.values()}
        missing = sorted((self.kernels.objects(kernel), kernel) for kernel in kernels if not self.kernels.dir(kernel).is_dir())
        started, left = time.monotonic(), ""
        for done, (_, kernel) in enumerate(missing):
            failed = self.dir / "kernels" / f"{kernel}.failed"
            if done:
                minutes = (time.monotonic() - started) * (len(missing) - done) / done / 60 + 1
                left = f", about {minutes:.0f} min left"
            if not failed.is_file():
                self.lab.note(f"kernel {done + 1} of {len(missing)}: {kernel}{left}")
                run_job(failed, self.lab.command("build", kernel))
            if failed.is_file():
                self.kernel_reason[kernel] = failed.read_text().strip()
        for row in self.rows:
            self.name_sides(row)
        floor = next((row for row in self.rows if row.folders and not row.reason), None)
        if floor:
            off = {"off": floor.sides["off"], "on": floor.sides["off"]}
            self.rows.append(Row(FLOOR, off, folders={side: floor.folders["off"] for side in off}))

    def name_sides(self, row: Row) -> None:
        for side, how in row.sides.items():
            if how.kernel in self.kernel_reason:
                row.reason = f"kernel {how.kernel}: {self.kernel_reason[how.kernel]}"
                return
            folder = self.kernels.built_dir(how.kernel).resolve().name
            row.folders[side] = file_name(" ".join(filter(None, (folder, how.append, how.cpu))))

    # --- boots -----------------------------------------------------------------

    def boot_file(self, row: Row, side: str, boot: int, workload: Workload) -> tuple[str, int]:
        """Return the file name of a boot, without .data, and its seed."""
        # Both sides of A+A boot one kernel. With the same seeds, they would execute the same instructions.
        seed = self.said.boots + boot if (row.name, side) == (FLOOR, "on") else boot
        return f"{self.said.dir}/boots/{row.folders[side]}/{workload.file}/{seed}", seed

    def jobs(self) -> list[str]:
        """Return the command lines of missing boots: the first boot of each side, then the second boots, and so on."""
        lines: dict[str, None] = {}
        start = f"cd {quote([pwd()])} && {quote(self.lab.command())} boot"
        for boot in range(1, self.said.boots + 1):
            for row in [row for row in self.rows if not row.reason]:
                for workload in self.workloads:
                    for side, how in row.sides.items():
                        file, seed = self.boot_file(row, side, boot, workload)
                        if not os.path.isfile(file + ".data") and not os.path.isfile(file + ".failed"):
                            words = self.boot_options(how, seed)
                            lines[f"{start} {quote([file])} {words} -- {workload.command}"] = None
        return list(lines)

    def boot_options(self, how: Side, seed: int) -> str:
        words = ["--on", self.said.on] if self.said.on else []
        words += ["--kernel", how.kernel]
        words += ["--append", how.append] if how.append else []
        words += ["--cpu", how.cpu] if how.cpu else []
        return quote(words) + ("" if self.said.on else f"  --seed {seed}")

    def parallel(self, words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Run GNU parallel, and kill it when the lab ends. With close_fds=False, its jobs inherit the lock of the matrix."""
        command = outliving_nobody(["parallel", "--will-cite", *words])
        env = os.environ | {"PARALLEL_SHELL": "/bin/sh"}
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env, check=False, **options)

    def run_boots(self, jobs: Sequence[str]) -> None:
        if not jobs:
            return
        words = ["--jobs", self.said.jobs] if self.said.jobs else []
        for login in self.said.logins:
            words += ["--sshlogin", login]
        if self.said.logins:
            words += self.check_hosts(jobs, words)
        if self.said.on:
            words = ["--jobs", "1"]
        self.lab.note(f"{counted(len(jobs), 'boot')} (log: {self.dir}/jobs.log)")
        words = [*(["--eta"] if os.isatty(2) else []), *words, "--joblog", f"+{self.dir}/jobs.log"]
        done = self.parallel(words, input=join_lines(jobs), close_fds=False)
        for line in done.stdout.splitlines():
            file, tab, reason = line.partition("\t")
            # If a host does not share this folder, it returns no .failed file, but its job prints the reason.
            if tab and not os.path.isfile(file + ".failed"):
                Path(file + ".failed").parent.mkdir(parents=True, exist_ok=True)
                Path(file + ".failed").write_text(reason + "\n")

    def check_hosts(self, jobs: Sequence[str], words: Sequence[str]) -> list[str]:
        """Check that each host has the same kernels: the names of their folders contain a hash of all that a kernel depends on.
        Return options of parallel that make hosts send their files back if they do not share this folder."""
        names = sorted(set(re.findall(r"'--kernel' '([^']*)'", "\n".join(jobs))))
        kernels, here = "".join(name + " " for name in names), quote([pwd()])
        each = f"for kernel in {kernels}; do {quote(self.lab.command())} path $kernel || exit; done"
        ask = f"mkdir -p {here} && cd {here} && {each}"
        ours = subprocess.run(["sh", "-c", ask], capture_output=True, text=True, check=False).stdout.splitlines()
        shared = f"{ask}; [ ! -s {quote([self.dir / 'jobs'])} ] || echo shared"
        done = self.parallel([*words, "--nonall", "--tag", shared], stderr=subprocess.STDOUT)
        said: dict[str, list[str]] = {}
        for line in done.stdout.splitlines():
            login, tab, answer = line.partition("\r")[0].partition("\t")
            if login:
                said.setdefault(login, []).append(answer)
        for login, answers in sorted(said.items()):
            if [answer for answer in answers if answer != "shared"] != ours:
                raise LabError(f"{login} does not have this machine's kernels {kernels}(docs/scaling.md): {answers[-1]}")
        if done.returncode:
            raise LabError(f"cannot log in to all of {' '.join(self.said.logins)}; see that this works: ssh HOST true")
        if all("shared" in answers for answers in said.values()):
            return []
        return ["--workdir", pwd(), "--cleanup", "--return", "{= s/^.* boot '([^']*)' .*/$1.data/ =}"]

    # --- cells -----------------------------------------------------------------

    def cell(self, row: Row, workload: Workload) -> Cell:
        folder = self.dir / "cells" / row.name / workload.file
        cell = Cell(folder, row.name, workload.name, self.said.html, not self.said.on, row.reason)
        for side in row.sides if not row.reason else ():
            for boot in range(1, self.said.boots + 1):
                file, _ = self.boot_file(row, side, boot, workload)
                cell.files[side].append(file + ".data")
                if not os.path.isfile(file + ".data"):
                    failed = Path(file + ".failed")
                    reason = failed.read_text().strip() if failed.is_file() else f"not recorded (see {self.dir}/jobs.log)"
                    cell.reason = cell.reason or f"{side}, boot {boot}: {reason}"
        return cell

    def write(self, cells: Sequence[Cell]) -> None:
        """Write the table in all formats, as DIR/matrix.*."""
        contents = [cell.content() for cell in cells]
        rows, workloads = [row.name for row in self.rows], [workload.name for workload in self.workloads]
        found = table.document(self.lab, contents, self.said.boots, rows, workloads, self.together)
        for form, text in table.forms(found).items():
            with whole(self.dir / f"matrix.{form}") as new:
                new.write_text(text)

    # --- the whole matrix --------------------------------------------------------

    def run(self) -> None:
        """Make missing kernels, recordings and cells, and print the table. With --print-jobs, print the commands of boots
        instead."""
        for name in ("kernels", "boots", "cells"):
            (self.dir / name).mkdir(parents=True, exist_ok=True)
        # Boots inherit this lock. So a new matrix waits for boots of a matrix that was killed.
        lock = Lock(self.dir / "lock")
        os.set_inheritable(lock.fd, True)
        lock.wait(self.lab, f"another lab matrix in {self.said.dir}")
        self.tidy()
        self.build()
        jobs = self.jobs()
        (self.dir / "jobs").write_text(join_lines(jobs))
        if self.said.print_jobs:
            print(join_lines(jobs), end="")
            return
        self.run_boots(jobs)
        cells = [self.cell(row, workload) for row in self.rows for workload in self.workloads]
        missing = [cell for cell in cells if not cell.is_made()]
        if missing:
            self.lab.note(counted(len(missing), "cell"))
            at_a_time = int(self.said.jobs) if self.said.jobs.isdigit() else os.cpu_count() or 1
            make_all(self.lab, missing, at_a_time)
        self.write(cells)
        print((self.dir / "matrix.txt").read_text(), end="")

    def tidy(self) -> None:
        """Remove unfinished files. With --retry-failed also remove recorded failures."""
        for name in ("boots", "cells", "kernels"):
            failed = self.dir.glob(f"{name}/**/*.failed") if self.said.retry and name != "cells" else ()
            for path in [*self.dir.glob(f"{name}/**/.*"), *failed]:
                remove(path)


def pwd() -> str:
    return os.environ.get("PWD") or os.getcwd()


def run_job(failed: Path, words: Sequence[str]) -> int:
    """Run a command, and return its status. If it fails, write its last error message to the file `failed`."""
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, close_fds=False, check=False
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        reasons = [line for line in lines if not NOISE.match(line)] or ["no message"]
        with whole(failed) as new:
            new.write_text(f"status {done.returncode}: {reasons[-1].removeprefix('lab: ')}\n")
    return done.returncode


def command(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab matrix`."""
    matrix = Matrix(kernels, Said(kernels.lab, words))
    matrix.choose()
    matrix.run()


def boot(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab boot FILE [RUN-OPTION...] -- CMD...`, a job of a matrix: record one boot into FILE.data. On failure, write
    the reason to FILE.failed, and print it."""
    if len(words) < 3:
        raise UsageError("boot needs a file, and what run takes")
    file, *words = words
    data, failed = Path(file + ".data"), Path(file + ".failed")
    if data.is_file():
        return
    # The user's locale must not change costs: the recorder maps files of the locale, and execve() of the command unmaps them.
    for name in [name for name in os.environ if name in LOCALE or name.startswith("LC_")]:
        del os.environ[name]
    part = data.with_name(f".{data.stem}.{os.getpid()}.data")
    part.parent.mkdir(parents=True, exist_ok=True)
    failed.unlink(missing_ok=True)
    how = [] if words[0] == "--on" else ["--accel", "icount", *OPTIONS, "--exact"]
    status = run_job(failed, kernels.lab.command("run", *how, "-o", str(part), *words))
    if status:
        part.unlink(missing_ok=True)
        print(f"{file}\t{failed.read_text().strip()}")
        raise SystemExit(status)
    part.rename(data)
