"""What ends a run: QEMU's end, too much time, a silent kernel, or a reader of our output that has gone."""

import os
import select
import subprocess
import time
from collections import deque
from pathlib import Path
from typing import Sequence

from ..lab import LabError

ENDED, TIMEOUT, SILENT, READER_GONE = "ended", "timeout", "silent", "reader gone"
TICK_MS = 1000
CHUNK = 4096  # a pipe that can be written takes as much at once
BUFFERED_MOST = 1 << 30  # bytes of output that nobody has read yet


class Clock:
    """How long a guest takes. Time counts in which QEMU could run or slept: when the host has no CPU for it, which on a busy
    one is most of the time, that counts for nothing."""

    def __init__(self, pid: int, seconds: int, silence: int, console: Path, booted: Path) -> None:
        self.pid = pid
        self.seconds = seconds
        self.silence = silence
        self.console = console
        self.booted = booted
        self.begun = time.monotonic()
        self.size, self.grown = -1, 0.0

    def waited(self) -> float:
        """Returns the seconds that threads of QEMU have waited for a CPU; 0 where the host's kernel does not say
        (CONFIG_SCHED_INFO). Of several the longest: they wait at the same time."""
        longest = 0.0
        for path in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            try:
                longest = max(longest, int(path.read_text().split()[1]) / 1e9)
            except (OSError, IndexError):
                pass
        return longest

    def expired(self) -> str:
        """Returns TIMEOUT after so many seconds; SILENT after so many in which the console has not grown, as long as the guest
        has not booted; else nothing."""
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
    """What a guest writes into a FIFO, on its way to one of our descriptors."""

    def __init__(self, path: Path, target: int, discard: bool) -> None:
        # Held open, so that opening it waits for nobody, and its end is ours to make.
        self.hold: int | None = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.target = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC) if discard else target
        self.waiting: deque[memoryview] = deque()
        self.buffered = 0
        self.received = 0  # bytes
        self.ended = False

    def end_input(self) -> None:
        """Nobody writes any more."""
        if self.hold is not None:
            os.close(self.hold)
            self.hold = None

    def is_done(self) -> bool:
        return self.ended and not self.waiting

    def register(self, poll: select.poll) -> None:
        """Asks for what it waits for. It reads ahead of a slow reader of ours: what QEMU has not got rid of when the guest
        ends is lost."""
        if self.waiting:
            poll.register(self.target, select.POLLOUT)
        if not self.ended and self.buffered < BUFFERED_MOST:
            poll.register(self.reader, select.POLLIN)

    def carry(self, ready: Sequence[int]) -> bool:
        """Reads and writes what is possible at once. Returns whether the reader of our output is there."""
        if self.reader in ready:
            try:
                data = os.read(self.reader, 1 << 16)
                self.ended = not data
                self.received += len(data)
                self.buffered += len(data)
                if data:
                    self.waiting.append(memoryview(data))
            except BlockingIOError:
                pass
        if self.waiting and self.target in ready:
            try:
                written = os.write(self.target, self.waiting[0][:CHUNK])
            except BrokenPipeError:
                return False
            except OSError as error:
                raise LabError(f"cannot write what the command prints: {error.strerror}") from error
            self.buffered -= written
            self.waiting[0] = self.waiting[0][written:]
            if not self.waiting[0]:
                self.waiting.popleft()
        return True

    def close(self) -> None:
        self.end_input()
        os.close(self.reader)
        if self.target > 2:
            os.close(self.target)


def carry_all(outputs: Sequence[Output], also: int | None, timeout: int | None) -> tuple[bool, list[int]]:
    """Waits until something can be carried, or the descriptor `also` is ready, or milliseconds have passed. Returns whether the
    readers are there, and what was ready."""
    poll = select.poll()
    for output in outputs:
        output.register(poll)
    if also is not None:
        poll.register(also, select.POLLIN)
    ready = [fd for fd, _ in poll.poll(timeout)]
    there = [output.carry(ready) for output in outputs]
    return all(there), ready


def wait(process: subprocess.Popen[bytes], outputs: Sequence[Output], clock: Clock) -> str:
    """Carries output until the run ends. Returns what ended it; QEMU is gone then, and all that the guest wrote is out."""
    outcome = ""
    ended = os.pidfd_open(process.pid)
    try:
        while not outcome:
            there, ready = carry_all(outputs, ended, TICK_MS)
            outcome = ENDED if ended in ready else clock.expired() if there else READER_GONE
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
