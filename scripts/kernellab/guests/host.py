"""lab run --on ssh:HOST: a command on a real machine, under a kernel that is installed there. The machine's side is on-host.

A process of its own, the guard, sees the end of the lab, whatever that is, and then has HOST return to its default kernel.
"""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Sequence

from ..lab import STOPPING, Lab, LabError, UsageError, last_line, quote
from ..locks import Lock

RECORDING = "/run/kprotperf-lab.data"
SSH = "-o BatchMode=yes -o LogLevel=ERROR -o ConnectTimeout=10 -o ServerAliveInterval=10 --".split()
SSH_FAILED = 255


def host_of(on: str) -> str:
    """Returns HOST of ssh:HOST."""
    host = on.removeprefix("ssh:")
    if host == on or not host or host.startswith("-"):
        raise UsageError(f"--on needs ssh:HOST, not '{on}'")
    return host


class Host:
    """A machine that is reached by ssh."""

    def __init__(self, lab: Lab, host: str, timeout: int = 600) -> None:
        self.lab = lab
        self.host = host
        self.timeout = timeout
        self.state = ""  # the last answer: boot id, release, and lab or default

    def ssh(self, command: str) -> list[str]:
        return ["ssh", *SSH, self.host, command]

    def do(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Has the machine do a command of on-host."""
        script = (self.lab.data / "guests/on-host").read_bytes()
        done = subprocess.run(self.ssh(f"sh -s -- {quote(words)}"), input=script, capture_output=True, check=False)
        text = (part.decode(errors="surrogateescape").rstrip("\n") for part in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, *text)

    def wait_for(self, word: str, left: str, mark: str) -> bool:
        """Has the machine do a word until it answers with that mark, or any, from another boot than the one it left. Returns
        whether it did so in time."""
        end = time.monotonic() + self.timeout
        while True:
            done = self.do(word)
            if done.returncode == 0:
                self.state = done.stdout
                if not self.state.startswith((left or "none") + " ") and self.state.endswith(mark):
                    return True
            if time.monotonic() >= end:
                return False
            time.sleep(1)

    def name_and_reason(self, text: str) -> LabError:
        return LabError(f"{self.host}: {text}")


class Guard:
    """The process that has the machine return to its default kernel when the lab has ended."""

    def __init__(self, host: Host, lock: Lock) -> None:
        reader, self.writer = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(reader)
            return
        # It has the lock until it ends.
        try:
            for one in STOPPING:
                signal.signal(one, signal.SIG_IGN)
            os.close(self.writer)
            self.watch(host, reader)
        finally:
            os._exit(0)

    @staticmethod
    def watch(host: Host, reader: int) -> None:
        """Reads until the lab ends; the last line is the boot that the machine was to leave, or empty where it stays."""
        with os.fdopen(reader) as lines:
            left = (lines.read().splitlines() or [""])[-1]
        if left and not host.wait_for("home", left, " default") and not host.state.startswith(left + " "):
            host.lab.note(f"{host.host}: did not return to its default kernel within {host.timeout} s; reset it")

    def say(self, boot: str) -> None:
        os.write(self.writer, (boot + "\n").encode())

    def release(self) -> None:
        """Waits until it has seen to the machine."""
        if self.pid:
            os.close(self.writer)
            os.waitpid(self.pid, 0)
            self.pid = 0


def lock_host(lab: Lab, host: str) -> Lock:
    """Waits until no other lab uses the machine."""
    lock = Lock(lab.cache / "locks" / f"on-{host.replace('/', '+')}")
    if not lock.take(seconds=0):
        lab.note(f"waiting for another lab on {host}")
        lock.take()
    return lock


def run(lab: Lab, host: Host, kernel: str, append: str, recording: str, command: Sequence[str]) -> int:
    """Boots the machine into a kernel with these parameters, runs a command there, and fetches its recording if that has a
    name. Returns the command's status."""
    programs = [command[0]]
    if recording:
        command = [lab.kprotperf, "record", "--warmup=1", "--control-run", "-o", RECORDING, "--", *command]
        programs.append(lab.kprotperf)
    lock = lock_host(lab, host.host)
    guard = Guard(host, lock)
    try:
        boot(host, guard, kernel, append, programs)
        status = run_there(host, command)
        if status == 0 and recording:
            fetch(host, recording)
        return status
    finally:
        # After what the guard may say, since the last line is taken for the reason.
        guard.release()
        lock.release()


def boot(host: Host, guard: Guard, kernel: str, append: str, programs: Sequence[str]) -> None:
    """Boots the kernel. What was left in such a kernel returns first."""
    done = host.do("home")
    if done.returncode != 0:
        raise host.name_and_reason(f"cannot log in: {last_line(done.stderr)}; see that this works: ssh {host.host} true")
    host.state = done.stdout
    if not host.state.endswith(" default") and not host.wait_for("home", "", " default"):
        text = f"did not return to its default kernel from an earlier one within {host.timeout} s; reset it"
        raise host.name_and_reason(text)
    before = host.state.partition(" ")[0]
    guard.say(before)
    done = host.do("boot", kernel, append, *programs)
    if done.returncode != 0:
        # Unless one does not know whether it boots.
        if done.returncode != SSH_FAILED:
            guard.say("")
        raise host.name_and_reason(f"cannot boot kernel {kernel}: {last_line(done.stderr or done.stdout)}")
    if not host.wait_for("state", before, ""):
        late = f"did not come back with kernel {kernel} within {host.timeout} s"
        raise host.name_and_reason(f"{late}; look at its console, and reset it: it boots its default kernel")
    if not host.state.endswith(" lab"):
        other = f"came back with its default kernel instead of {kernel}"
        raise host.name_and_reason(f"{other}; does that one boot there, with the network? Look at its console")


def run_there(host: Host, command: Sequence[str]) -> int:
    """Runs a command. Returns its status."""
    booted = host.state
    words = host.ssh(f"cd {quote([os.environ.get('PWD') or os.getcwd()])} 2>/dev/null; exec {quote(command)}")
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        status = process.wait()
    except BaseException:
        process.terminate()
        raise
    if status == SSH_FAILED and host.do("state").stdout != booted:
        text = "the connection ended while the command ran; did the kernel panic? Look at the machine's console"
        raise host.name_and_reason(text)
    return status if status >= 0 else 128 - status


def fetch(host: Host, output: str) -> None:
    """Fetches the recording."""
    with open(output, "wb") as file:
        done = subprocess.run(
            host.ssh(f"cat {RECORDING}"), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, check=False
        )
    if done.returncode != 0:
        Path(output).unlink()
        raise host.name_and_reason(f"cannot fetch the recording: {last_line(done.stderr.decode(errors='replace'))}; try again")
