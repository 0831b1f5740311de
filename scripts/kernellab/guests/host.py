"""`lab run --on ssh:HOST`: run a command on a real machine, under another kernel. The script on-host runs on that machine.

A second process, the guard, makes the machine return to its default kernel after the lab has ended, even if it was killed.
"""

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, Sequence

from ..lab import STOPPING, Lab, LabError, UsageError, last_line, quote
from ..locks import Lock

RECORDING = "/run/kprotperf-lab.data"
SSH = "-o BatchMode=yes -o LogLevel=ERROR -o ConnectTimeout=10 -o ServerAliveInterval=10 --".split()
SSH_FAILED = 255


def host_of(on: str) -> str:
    """Return HOST of ssh:HOST."""
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
        self.state = ""  # the last output of the command `state` or `home` of on-host

    def ssh(self, command: str) -> list[str]:
        return ["ssh", *SSH, self.host, command]

    def do(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the script on-host."""
        script = (self.lab.data / "guests/on-host").read_bytes()
        done = subprocess.run(self.ssh(f"sh -s -- {quote(words)}"), input=script, capture_output=True, check=False)
        text = (part.decode(errors="surrogateescape").rstrip("\n") for part in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, *text)

    def wait_for(self, word: str, left: str, mark: str) -> bool:
        """Repeat the command `word` of on-host until the machine has left the boot with the ID `left` ("": any boot), and the
        command's output ends with `mark`. Return whether this happens within self.timeout seconds."""
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

    def error(self, text: str) -> LabError:
        return LabError(f"{self.host}: {text}")


Say = Callable[[str], object]


@contextmanager
def guard(host: Host) -> Iterator[Say]:
    """Start the guard, which inherits the lock. Yield a function that tells it the ID of the boot to leave later; "": none."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            for one in STOPPING:
                signal.signal(one, signal.SIG_IGN)
            os.close(writer)
            with os.fdopen(reader) as lines:
                left = (lines.read().splitlines() or [""])[-1]
            if left and not host.wait_for("home", left, " default") and not host.state.startswith(left + " "):
                host.lab.note(f"{host.host}: did not return to its default kernel within {host.timeout} s; reset it")
        finally:
            os._exit(0)
    os.close(reader)
    try:
        yield lambda boot: os.write(writer, (boot + "\n").encode())
    finally:
        os.close(writer)
        os.waitpid(child, 0)


def run(host: Host, kernel: str, append: str, recording: str, command: Sequence[str]) -> int:
    """Boot a kernel with the parameters `append`, and run a command. If `recording` is a file name, record the command, and
    fetch the recording into this file. Return the exit status of the command."""
    programs = [command[0]]
    if recording:
        command = [host.lab.kprotperf, "record", "--warmup=1", "--control-run", "-o", RECORDING, "--", *command]
        programs.append(host.lab.kprotperf)
    lock = Lock(host.lab.cache / "locks" / f"on-{host.host.replace('/', '+')}")
    lock.wait(host.lab, f"another lab on {host.host}")
    with guard(host) as say:
        boot(host, say, kernel, append, programs)
        status = run_there(host, command)
        if status == 0 and recording:
            fetch(host, recording)
    lock.release()
    return status


def boot(host: Host, say: Say, kernel: str, append: str, programs: Sequence[str]) -> None:
    """Boot the kernel. First, if an earlier lab left the machine in another kernel, return to the machine's default kernel."""
    done = host.do("home")
    if done.returncode != 0:
        raise host.error(f"cannot log in: {last_line(done.stderr)}; see that this works: ssh {host.host} true")
    host.state = done.stdout
    if not host.state.endswith(" default") and not host.wait_for("home", "", " default"):
        raise host.error(f"did not return to its default kernel from an earlier one within {host.timeout} s; reset it")
    before = host.state.partition(" ")[0]
    say(before)
    done = host.do("boot", kernel, append, *programs)
    if done.returncode != 0:
        # If ssh failed, the machine may still boot the kernel: let the guard watch it.
        if done.returncode != SSH_FAILED:
            say("")
        raise host.error(f"cannot boot kernel {kernel}: {last_line(done.stderr or done.stdout)}")
    if not host.wait_for("state", before, ""):
        late = f"did not come back with kernel {kernel} within {host.timeout} s"
        raise host.error(f"{late}; look at its console, and reset it: it boots its default kernel")
    if not host.state.endswith(" lab"):
        other = f"came back with its default kernel instead of {kernel}"
        raise host.error(f"{other}; does that one boot there, with the network? Look at its console")


def run_there(host: Host, command: Sequence[str]) -> int:
    """Run a command. Return its exit status."""
    booted = host.state
    words = host.ssh(f"cd {quote([os.environ.get('PWD') or os.getcwd()])} 2>/dev/null; exec {quote(command)}")
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        status = process.wait()
    except BaseException:
        process.terminate()
        raise
    if status == SSH_FAILED and host.do("state").stdout != booted:
        raise host.error("the connection ended while the command ran; did the kernel panic? Look at the machine's console")
    return status if status >= 0 else 128 - status


def fetch(host: Host, output: str) -> None:
    words = host.ssh(f"cat {RECORDING}")
    with open(output, "wb") as file:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        Path(output).unlink()
        raise host.error(f"cannot fetch the recording: {last_line(done.stderr.decode(errors='replace'))}; try again")
