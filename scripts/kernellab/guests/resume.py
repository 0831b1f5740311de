"""`lab run --resume`: resume guests from a saved boot.

QEMU cannot save a guest that has mounted the host's files. So the guest is saved before it mounts them, while it waits because
of the parameter rootdelay. Resumed guests map the saved memory privately.
"""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, Iterator, Sequence

from ..lab import Lab, quote
from ..locks import cache_entry
from .machine import Machine
from .share import qemu_path, running
from .watch import Clock

KEPT = 24  # maximum number of saved boots: enough for a matrix of 2 sides, 4 workloads and 3 boots
DELAY = b"Waiting 1 sec before mounting root device"
CAPABILITIES = [{"capability": "x-ignore-shared", "state": True}]
UNDER_WAY = ("", "setup", "active", "device", "pre-switchover")
LOOK_SECONDS = 0.02


class Monitor:
    """A client of QEMU's control protocol (QMP) over a socket that QEMU inherits."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.lines = self.ours.makefile("rb")
        self.arguments = ["-chardev", f"socket,id=monitor,fd={self.theirs.fileno()}", "-mon", "chardev=monitor,mode=control"]

    def do(self, command: str, **arguments: Any) -> Any:
        """Let QEMU execute a command, and return the answer. Raise OSError if the command fails or QEMU has ended."""
        self.ours.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        for line in self.lines:
            said = json.loads(line)
            if "error" in said:
                raise OSError(said["error"]["desc"])
            if "return" in said:
                return said["return"]
        raise OSError("QEMU has ended")

    def negotiate(self) -> None:
        """Start the protocol. Call this after QEMU has inherited its end of the socket."""
        self.theirs.close()
        self.do("qmp_capabilities")
        self.do("migrate-set-capabilities", capabilities=CAPABILITIES)

    def save(self, state: Path) -> None:
        """Let QEMU write the guest's state, and quit."""
        self.negotiate()
        self.do("migrate", uri=f"exec:cat >{quote([state])}")
        while (status := self.do("query-migrate").get("status", "")) in UNDER_WAY:
            time.sleep(LOOK_SECONDS)
        if status != "completed":
            raise OSError(status)
        self.do("quit")

    def close(self) -> None:
        self.lines.close()
        self.ours.close()
        self.theirs.close()


def memory(folder: Path, share: str) -> list[str]:
    """Return QEMU's arguments that keep the guest's memory in a file of this folder. share="off" maps the file privately."""
    backend = f"memory-backend-file,id=ram,size=2G,share={share},mem-path={qemu_path(folder)}/memory"
    return ["-object", backend, "-machine", "memory-backend=ram", "-global", "migration.store-global-state=off"]


def saved_boot(lab: Lab, qemu: str, arguments: Sequence[str], machine: Machine) -> Path | None:
    """Return the folder of the saved boot for these arguments of QEMU. If it is missing, save a boot. Return None if that
    fails, or if another lab is saving it. The caller then boots the guest in full."""
    files = [str(machine.bzimage), qemu]
    depends = [f"{file} {os.stat(file).st_size} {int(os.stat(file).st_mtime)}" for file in files]
    depends += [re.sub(r"path=([^,]|,,)*", "", word) for word in arguments]
    key = hashlib.sha256("\n".join(depends).encode(errors="surrogateescape")).hexdigest()[:16]

    def make(part: Path) -> None:
        save(part, qemu, arguments, machine)

    return cache_entry(lab.cache / "resume" / key, KEPT, False, make)


def save(folder: Path, qemu: str, arguments: Sequence[str], machine: Machine) -> None:
    """Boot until the kernel waits for its root, and save the guest to the folder. Raise OSError on failure."""
    folder.mkdir()
    console = folder / "console"
    with closing(Monitor()) as monitor:
        words = [qemu, *arguments, "-serial", f"file:{qemu_path(console)}", *memory(folder, "on"), *monitor.arguments]
        with running(words, subprocess.DEVNULL, [monitor.theirs.fileno()]) as process:
            clock = Clock(process.pid, machine.timeout, machine.silence, console, folder / "booted")
            while process.poll() is None and not (console.exists() and DELAY in console.read_bytes()) and not clock.expired():
                time.sleep(LOOK_SECONDS)
            monitor.save(folder / "state")
            process.wait()


@contextmanager
def going_on(folder: Path, words: Sequence[str], console: Path, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a QEMU that resumes the saved boot in the folder. Kill QEMU if it cannot load the boot."""
    shutil.copyfile(folder / "console", console)
    monitor = Monitor()
    with (folder / "state").open("rb") as state:
        more = [*memory(folder, "off"), "-incoming", "defer", *monitor.arguments]
        with running([*words, *more], log, [monitor.theirs.fileno(), state.fileno()]) as process:
            try:
                monitor.negotiate()
                monitor.do("migrate-incoming", uri=f"fd:{state.fileno()}")
            except OSError:
                process.kill()
            finally:
                monitor.close()
            yield process
