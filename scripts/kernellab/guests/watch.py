"""Copy a guest's output until the run ends: by QEMU's end, a timeout, a silent kernel, or the loss of the output's reader."""

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
CLOCK_SECONDS = 1  # between two checks for a timeout
CHUNK = 4096  # bytes that a pipe takes without blocking, once select() reports it writable
BUFFERED_MOST = 1 << 30  # bytes of output that wait for a slow reader


class Clock:
    """The timeouts of a guest. Time in which QEMU waits for a CPU does not count: on a busy host that is most of the time."""

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
        # Hold the FIFO open for writing: opening then does not wait for QEMU, and the input ends only when this is closed.
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
        """Read and write without waiting. Return whether the lab's output still has a reader."""
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
    """Wait until output can be copied, the descriptor `also` is ready, or the timeout (seconds) is over. Copy output. Return
    whether the lab's output still has its readers, and the descriptors that were ready."""
    # Read ahead of slow readers: QEMU loses the output that it still has when the guest ends.
    readers = [one.reader for one in outputs if not one.ended and len(one.waiting) < BUFFERED_MOST]
    writers = [one.target for one in outputs if one.waiting]
    ready = select.select(readers if also is None else [*readers, also], writers, [], timeout)
    fds = [*ready[0], *ready[1]]
    there = [output.carry(fds) for output in outputs]
    return all(there), fds


def wait(process: subprocess.Popen[bytes], outputs: Sequence[Output], clock: Clock, control: Path) -> str:
    """Copy output until the run ends, and the rest after it. Kill QEMU. Return what ended the run: ENDED, TIMEOUT, ..."""
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
