"""The end of a run: QEMU's end, too much time, a silent kernel, or output without a reader; and the output until then."""

import os
import select
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Sequence

from ..lab import LabError

ENDED, TIMEOUT, SILENT, READER_GONE = "ended", "timeout", "silent", "reader gone"
TICK_SECONDS = 0.05
CLOCK_SECONDS = 1  # between two looks at the clock
CHUNK = 4096  # a pipe that can be written takes as much at once
BUFFERED_MOST = 1 << 30  # bytes of output that nobody has read yet


class Clock:
    """How long a guest takes. The time in which the host has no CPU for QEMU does not count; on a busy host that is most."""

    def __init__(self, pid: int, seconds: int, silence: int, console: Path, booted: Path) -> None:
        self.pid = pid
        self.seconds = seconds
        self.silence = silence
        self.console = console
        self.booted = booted
        self.begun = time.monotonic()
        self.size, self.grown = -1, 0.0

    def waited(self) -> float:
        """Return the longest time in seconds that a thread of QEMU has waited for a CPU, 0 without CONFIG_SCHED_INFO."""
        longest = 0.0
        for path in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            with suppress(OSError, IndexError):
                longest = max(longest, int(path.read_text().split()[1]) / 1e9)
        return longest

    def expired(self) -> str:
        """Return TIMEOUT if time is up, SILENT if the console of a guest that has not booted does not grow, else nothing."""
        spent = time.monotonic() - self.begun - self.waited()
        if spent >= self.seconds:
            return TIMEOUT
        if not self.booted.exists():
            size = self.console.stat().st_size if self.console.exists() else 0
            if size != self.size:
                self.size, self.grown = size, spent
            if spent - self.grown >= self.silence:
                return SILENT
        return ""


class Output:
    """Output of a guest, from a FIFO to a descriptor of the lab."""

    def __init__(self, path: Path, target: int, discard: bool) -> None:
        # A writer of ours: opening waits for no other, and the end comes when this is closed.
        self.hold: int | None = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.target = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC) if discard else target
        self.waiting = bytearray()
        self.received = 0  # bytes
        self.ended = False

    def end_input(self) -> None:
        if self.hold is not None:
            os.close(self.hold)
            self.hold = None

    def is_done(self) -> bool:
        return self.ended and not self.waiting

    def carry(self, ready: Sequence[int]) -> bool:
        """Read and write what is possible at once. Return whether the lab's output has a reader."""
        if self.reader in ready:
            with suppress(BlockingIOError):
                data = os.read(self.reader, 1 << 16)
                self.ended = not data
                self.received += len(data)
                self.waiting += data
        if self.waiting and self.target in ready:
            try:
                del self.waiting[: os.write(self.target, self.waiting[:CHUNK])]
            except BrokenPipeError:
                return False
            except OSError as error:
                raise LabError(f"cannot write what the command prints: {error.strerror}") from error
        return True

    def close(self) -> None:
        self.end_input()
        os.close(self.reader)
        if self.target > 2:
            os.close(self.target)


def has_all(outputs: Sequence[Output], status: Path) -> bool:
    """Return whether all output of a guest whose command has ended is here: what QEMU still has is lost when the guest ends."""
    with suppress(OSError, ValueError):
        word, *numbers = status.read_text().split()
        return word == "exit" and sum(map(int, numbers[2:])) == sum(one.received for one in outputs)
    return False


def carry_all(outputs: Sequence[Output], also: int | None, timeout: float | None) -> tuple[bool, list[int]]:
    """Wait for something to carry, for `also`, or for some seconds. Return whether the readers of the lab's output are there,
    and what was ready."""
    # Read ahead of slow readers: QEMU loses what it still has when the guest ends.
    readers = [one.reader for one in outputs if not one.ended and len(one.waiting) < BUFFERED_MOST]
    writers = [one.target for one in outputs if one.waiting]
    ready = select.select(readers if also is None else [*readers, also], writers, [], timeout)
    fds = [*ready[0], *ready[1]]
    there = [output.carry(fds) for output in outputs]
    return all(there), fds


def wait(process: subprocess.Popen[bytes], outputs: Sequence[Output], clock: Clock, control: Path) -> str:
    """Carry output until the run ends. Return what ended it; QEMU is gone then, and all that the guest wrote is out."""
    outcome, looked, taken = "", 0.0, control / "taken"
    ended = os.pidfd_open(process.pid)
    try:
        while not outcome:
            there, ready = carry_all(outputs, ended, TICK_SECONDS)
            outcome = ENDED if ended in ready else "" if there else READER_GONE
            if not outcome and time.monotonic() >= looked + CLOCK_SECONDS:
                outcome, looked = clock.expired(), time.monotonic()
            if not taken.exists() and has_all(outputs, control / "status"):
                taken.touch()
    finally:
        os.close(ended)
    process.kill()
    process.wait()
    for output in outputs:
        output.end_input()
    while outcome != READER_GONE and not all(output.is_done() for output in outputs):
        if not carry_all(outputs, None, None)[0]:
            outcome = READER_GONE
    return outcome
