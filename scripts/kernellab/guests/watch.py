"""Copy a guest's output until QEMU ends, a timeout expires, the kernel is silent, or the output's reader ends."""

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
CLOCK_SECONDS = 1  # seconds between two checks for a timeout
CHUNK = 4096  # bytes that a pipe takes without blocking if select() reports it writable
BUFFERED_MOST = 1 << 30  # maximum bytes of output to keep for a slow reader


class Clock:
    """The timeouts of a guest. They exclude the time in which QEMU waits for a CPU, most of the time on a busy host."""

    def __init__(self, pid: int, seconds: int, silence: int, console: Path, booted: Path) -> None:
        self.pid = pid
        self.seconds = seconds
        self.silence = silence
        self.console = console
        self.booted = booted
        self.begun = time.monotonic()
        self.size, self.grown = -1, 0.0

    def waited(self) -> float:
        """Return the longest time in seconds that a thread of QEMU has waited for a CPU; 0 without CONFIG_SCHED_INFO."""
        longest = 0.0
        for path in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            with suppress(OSError, IndexError):
                longest = max(longest, int(path.read_text().split()[1]) / 1e9)
        return longest

    def expired(self) -> str:
        """Return TIMEOUT if time is up, SILENT if the guest has not booted and its console does not grow, else ""."""
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
    """Copies output of a guest from a FIFO to a descriptor of the lab."""

    def __init__(self, path: Path, target: int, discard: bool) -> None:
        # Open the FIFO for writing, too: then opening does not wait for QEMU, and the input does not end before this is closed.
        self.hold: int | None = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.target = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC) if discard else target
        self.waiting = bytearray()
        self.received = 0  # bytes received
        self.ended = False

    def end_input(self) -> None:
        if self.hold is not None:
            os.close(self.hold)
            self.hold = None

    def is_done(self) -> bool:
        return self.ended and not self.waiting

    def carry(self, ready: Sequence[int]) -> bool:
        """Read and write without blocking. Return whether the lab's output still has a reader."""
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
    """Return whether the command has ended, and the lab has received all bytes that the guest sent."""
    with suppress(OSError, ValueError):
        word, *numbers = status.read_text().split()
        return word == "exit" and sum(map(int, numbers[2:])) == sum(one.received for one in outputs)
    return False


def carry_all(outputs: Sequence[Output], also: int | None, timeout: float | None) -> tuple[bool, list[int]]:
    """Wait until output can be copied, the descriptor `also` is ready, or timeout seconds have passed. Copy output. Return
    whether the lab's output still has its readers, and the descriptors that were ready."""
    # Read ahead of slow readers: QEMU loses the output that it still has when the guest ends.
    readers = [one.reader for one in outputs if not one.ended and len(one.waiting) < BUFFERED_MOST]
    writers = [one.target for one in outputs if one.waiting]
    ready = select.select(readers if also is None else [*readers, also], writers, [], timeout)
    fds = [*ready[0], *ready[1]]
    there = [output.carry(fds) for output in outputs]
    return all(there), fds


def wait(process: subprocess.Popen[bytes], outputs: Sequence[Output], clock: Clock, control: Path) -> str:
    """Copy output until the run ends, and then the rest. Kill QEMU. Return the reason for the end: ENDED, TIMEOUT, ..."""
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
