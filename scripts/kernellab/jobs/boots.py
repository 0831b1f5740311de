"""Run boots. Under icount, run several at a time, since times in the guest do not depend on the host."""

import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Sequence

from ..guests import accel
from ..lab import Lab

# Options of boots under icount. Each seed has its own saved boot, so resumed boots differ as much as full boots do.
OPTIONS = ["--resume", "--in-memory"]
GUEST_KB = 2 << 20  # memory of a guest, in KiB
GUESTS_PER_CPU = 1.5  # a guest waits for a third of its time
REFRESH_SECONDS = 1


@dataclass
class Boot:
    """A boot by `lab run` with the arguments `words`."""

    title: str  # a line for the log; empty: print none
    words: list[str]
    failure: str  # first part of the message on a failure; the exit status is appended


@dataclass
class Started:
    """A started boot. `output` is empty or, if several boots run at a time, has temporary files for stdout and stderr."""

    boot: Boot
    process: subprocess.Popen[bytes]
    output: list[IO[bytes]]


def is_icount(lab: Lab, wanted: str) -> bool:
    """Return whether boots will use icount. `wanted` is the value of --accel, or empty."""
    return wanted == "icount" or (not wanted and accel.kvm_state(lab) == "no")


def slots(lab: Lab, wanted: str) -> int:
    """Return the number of guests that may run at a time. Without icount it is 1, since guests measure the host's time."""
    if not is_icount(lab, wanted):
        return 1
    available = re.search(r"MemAvailable: *(\d+)", Path("/proc/meminfo").read_text())
    by_memory = int(available[1]) // GUEST_KB if available else 1
    return max(1, min(int(len(os.sched_getaffinity(0)) * GUESTS_PER_CPU), by_memory))


class Pool:
    """Run boots. Show progress: on a terminal in one line, elsewhere one line per boot."""

    def __init__(self, lab: Lab, total: int) -> None:
        self.lab = lab
        self.total = total
        self.begun = time.monotonic()
        self.done = 0

    def run(self, boots: Sequence[Boot], at_a_time: int) -> None:
        """Run all boots. Print their output in the order of boots. If a boot fails, end the others and raise SystemExit with
        its status."""
        waiting, running = list(boots), list[Started]()
        try:
            while waiting or running:
                alive = [boot for boot in running if boot.process.poll() is None]
                while waiting and len(alive) < at_a_time:
                    alive.append(self.start(waiting.pop(0), at_a_time > 1))
                    running.append(alive[-1])
                self.wait(alive)
                while running and running[0].process.poll() is not None:
                    self.finish(running.pop(0))
        finally:
            self.show("")
            for one in running:
                one.process.terminate()
                one.process.wait()

    def start(self, boot: Boot, beside_others: bool) -> Started:
        if boot.title and not sys.stderr.isatty():
            self.lab.note(boot.title)
        output: list[IO[bytes]] = [tempfile.TemporaryFile(), tempfile.TemporaryFile()] if beside_others else []
        out, err = output or (None, None)
        words = self.lab.command("run", *boot.words)
        return Started(boot, subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err), output)

    def wait(self, alive: Sequence[Started]) -> None:
        """Wait until one of these boots ends, and show progress meanwhile."""
        fds = [os.pidfd_open(boot.process.pid) for boot in alive]
        try:
            while fds and not select.select(fds, [], [], REFRESH_SECONDS)[0]:
                seconds = (time.monotonic() - self.begun) / (self.done or 1) * (self.total - self.done)
                left = f", about {seconds:.0f} s left" if self.done else ""
                self.show(f"lab: boot {self.done + 1} of {self.total}{left}")
        finally:
            for fd in fds:
                os.close(fd)

    def finish(self, one: Started) -> None:
        self.show("")
        self.done += 1
        for target, file in zip((sys.stdout, sys.stderr), one.output):
            target.flush()
            file.seek(0)
            shutil.copyfileobj(file, target.buffer)
            target.flush()
            file.close()
        status = one.process.returncode
        if status:
            status = status if status > 0 else 128 - status
            self.lab.note(f"{one.boot.failure} ended with status {status}; stopped")
            raise SystemExit(status)

    @staticmethod
    def show(text: str) -> None:
        """Replace the progress line, if stderr is a terminal."""
        if sys.stderr.isatty():
            print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)
