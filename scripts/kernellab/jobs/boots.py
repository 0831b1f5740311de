"""Boots, several at a time where nothing is timed by a real clock."""

import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Sequence

from ..guests import accel
from ..lab import Ended, Lab

# Each seed has a saved boot of its own, so boots differ from each other as much as without.
OPTIONS = ["--resume", "--in-memory"]  # where instructions are counted
GUEST_KB = 2 << 20  # a guest's memory
GUESTS_PER_CPU = 1.5  # one waits for a third of its time
REFRESH_MS = 1000


@dataclass
class Boot:
    """A guest that is to be booted by `run` with these words."""

    title: str  # for the log, nothing if it is the only one
    words: list[str]
    failure: str  # what is said where it fails, before its status
    process: subprocess.Popen[bytes] | None = None
    output: list[IO[bytes]] = field(default_factory=list)


def is_icount(lab: Lab, wanted: str) -> bool:
    """Returns whether boots with --accel wanted, or without, will be those of icount."""
    return wanted == "icount" or (not wanted and accel.kvm_state(lab) == "no")


def slots(lab: Lab, wanted: str) -> int:
    """Returns how many guests may run at a time. Under icount one makes no difference to another; elsewhere time is the
    host's."""
    if not is_icount(lab, wanted):
        return 1
    memory = next(
        (int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line), 0
    )
    return max(1, min(int(len(os.sched_getaffinity(0)) * GUESTS_PER_CPU), memory // GUEST_KB))


class Pool:
    """Runs boots. On a terminal one line tells how far they are; in a log each has a line."""

    def __init__(self, lab: Lab, total: int) -> None:
        self.lab = lab
        self.total = total
        self.begun = time.monotonic()
        self.done = 0

    def run(self, boots: Sequence[Boot], at_a_time: int) -> None:
        """Runs all, in order. What a guest prints comes as if they had run one after the other. Raises Ended with the status
        of one that fails; the others end then."""
        waiting, running = list(boots), list[Boot]()
        try:
            while waiting or running:
                while waiting and len(running) < at_a_time:
                    running.append(self.start(waiting.pop(0), at_a_time > 1))
                self.wait(running)
                # The first prints at once, the others when it is its turn.
                while running and running[0].process and running[0].process.poll() is not None:
                    self.finish(running.pop(0))
        finally:
            self.clear()
            for boot in running:
                self.stop(boot)

    def start(self, boot: Boot, beside_others: bool) -> Boot:
        if boot.title and not sys.stderr.isatty():
            self.lab.note(boot.title)
        if beside_others:
            boot.output = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        out, err = boot.output or (None, None)
        boot.process = subprocess.Popen(self.lab.command("run", *boot.words), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        return boot

    def wait(self, running: Sequence[Boot]) -> None:
        """Waits until one ends."""
        fds = [os.pidfd_open(boot.process.pid) for boot in running if boot.process and boot.process.poll() is None]
        poll = select.poll()
        for fd in fds:
            poll.register(fd, select.POLLIN)
        try:
            while len(fds) == len(running) and not poll.poll(REFRESH_MS):
                self.progress()
        finally:
            for fd in fds:
                os.close(fd)

    def finish(self, boot: Boot) -> None:
        self.clear()
        self.done += 1
        self.print(boot)
        status = boot.process.returncode if boot.process else 0
        status = status if status >= 0 else 128 - status
        if status:
            self.lab.note(f"{boot.failure} ended with status {status}; stopped")
            raise Ended(status)

    @staticmethod
    def print(boot: Boot) -> None:
        for target, file in zip((sys.stdout, sys.stderr), boot.output):
            target.flush()
            file.seek(0)
            while data := file.read(1 << 16):
                target.buffer.write(data)
            target.flush()
            file.close()
        boot.output = []

    def stop(self, boot: Boot) -> None:
        if boot.process and boot.process.poll() is None:
            boot.process.terminate()
            boot.process.wait()
        for file in boot.output:
            file.close()

    def progress(self) -> None:
        if sys.stderr.isatty():
            left = ""
            if self.done:
                seconds = (time.monotonic() - self.begun) / self.done * (self.total - self.done)
                left = f", about {seconds:.0f} s left"
            print(f"\rlab: boot {self.done + 1} of {self.total}{left}\033[K", end="", file=sys.stderr, flush=True)

    @staticmethod
    def clear() -> None:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
