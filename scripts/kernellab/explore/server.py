"""A guest that executes programs one after the other. The emulator's plugin (emulator/explore) counts what each executes."""

import os
import select
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from ..lab import Lab, LabError, last_line, remove

BOOT_SECONDS = 120
PROGRAM_SECONDS = 30  # a guest that does not answer for that long hangs
COMMAND_SECONDS = 300  # the same for a command line
FAR = 2**32 - 1  # distance of a function from which no direct calls lead to a target
COMMON, OF_STEP = 6, 5  # numbers in the plugin's answer: of the whole program, and of each of its steps


@dataclass(frozen=True)
class Step:
    """Counts of one line of a program, with its repetitions, or of the end of its process: instructions of the kernel, of these
    in targets and what they call, entries of targets; how many calls failed, and the last error."""

    kernel: int
    target: int
    entries: int
    failed: int
    error: int


@dataclass(frozen=True)
class Outcome:
    """Counts of a program. State: 0: it ran; 1: invalid; 2: a signal ended it. Blocks of the kernel's code that no program
    executed before; blocks executed a new number of times; all blocks; distance of the nearest executed function to a target.
    """

    state: int
    signal: int
    new: int
    more: int
    blocks: int
    nearest: int
    steps: tuple[Step, ...]  # the last one is the end of the process

    @property
    def kernel(self) -> int:
        return sum(step.kernel for step in self.steps)

    @classmethod
    def read(cls, line: str) -> "Outcome":
        numbers = list(map(int, line.split()))
        of_steps = numbers[COMMON:]
        steps = tuple(Step(*of_steps[i : i + OF_STEP]) for i in range(0, len(of_steps), OF_STEP))
        state, signal, new, more, blocks, nearest = numbers[:COMMON]
        return cls(state, signal, new, more, blocks, nearest, steps)


class Hung(Exception):
    """The guest has ended or hangs. The argument is the reason."""


class Server:
    """A guest that is started when the first program comes, and again after a program ended it."""

    def __init__(self, lab: Lab, folder: Path, options: Sequence[str], targets: str) -> None:
        self.lab, self.folder, self.targets = lab, folder, targets
        own = ["--serve", str(folder), "-o", str(folder / "no.data")]
        self.words = lab.command("run", *own, *options, "--", lab.repo / "build/workloads/calls", "--serve")
        self.process: subprocess.Popen[bytes] | None = None
        self.programs, self.answers, self.rest = -1, -1, b""

    def start(self) -> None:
        remove(self.folder)
        self.folder.mkdir(parents=True)
        (self.folder / "targets").write_text(self.targets)
        for name in ("from", "to"):
            os.mkfifo(self.folder / name)
        for fd in (self.programs, self.answers):
            if fd >= 0:
                os.close(fd)
        # Open the FIFOs for reading and writing: then opening does not wait for QEMU.
        self.programs, self.answers = (os.open(self.folder / name, os.O_RDWR | os.O_CLOEXEC) for name in ("from", "to"))
        self.rest = b""
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop(self) -> None:
        if not self.process:
            return
        process, self.process = self.process, None
        process.terminate()
        process.wait()
        remove(self.folder)

    def run(self, text: str, seconds: float = PROGRAM_SECONDS) -> Outcome:
        """Execute a program, and return its counts. Raise Hung if the guest ends or hangs."""
        seconds = seconds if self.process else seconds + BOOT_SECONDS
        if not self.process:
            self.start()
        os.write(self.programs, text.encode("latin-1") + b".\n")
        try:
            return Outcome.read(self.answer(seconds))
        except Hung:
            self.stop()
            raise

    def answer(self, seconds: float) -> str:
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            if select.select([self.answers], [], [], 0.5)[0]:
                self.rest += os.read(self.answers, 65536)
            elif not self.process or self.process.poll() is not None:
                raise Hung(self.reason())
            elif time.monotonic() > end:
                raise Hung("the guest does not answer")
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def reason(self) -> str:
        with suppress(OSError):
            lines = (self.folder / "log").read_text(errors="replace").splitlines()
            said = [line for line in lines if line.startswith("lab: ")]
            return (said or lines or [""])[0].removeprefix("lab: ") or "the guest ended"
        return "the guest ended"

    def check(self) -> None:
        """Raise LabError if the guest cannot execute the empty program `getpid`."""
        try:
            if self.run("getpid\n").state:
                raise LabError(f"the guest cannot execute programs: {last_line(self.reason())}")
        except Hung as hung:
            raise LabError(f"the guest cannot execute programs: {hung}") from hung
