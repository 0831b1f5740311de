"""lab run --resume: guests that go on from a saved boot.

    resume/KEY/   memory; state, of the CPU and the devices; console, of the boot; KEY is a hash of all that a boot depends on.
                  The last 24 are kept

A guest is saved while it waits (rootdelay) before it mounts the host's files, after which QEMU cannot save it. Those that go
on from there map its memory privately, so that each finds it as it was.
"""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import IO, Any, Sequence

from ..lab import Lab, outliving_nobody, quote, remove, with_suffix
from ..locks import Lock
from .machine import Machine
from .share import qemu_path
from .watch import Clock

KEPT = 24  # two sides of a matrix of four workloads, three boots
DELAY = b"Waiting 1 sec before mounting root device"
CAPABILITIES = [{"capability": "x-ignore-shared", "state": True}]
LOOK_SECONDS = 0.02


class Monitor:
    """QEMU's control protocol (QMP) over a socket that QEMU inherits."""

    def __init__(self) -> None:
        ours, self.theirs = socket.socketpair()
        self.ours = ours
        self.lines = ours.makefile("rb")

    def arguments(self) -> list[str]:
        return ["-chardev", f"socket,id=monitor,fd={self.theirs.fileno()}", "-mon", "chardev=monitor,mode=control"]

    def began(self) -> None:
        """QEMU has its end."""
        self.theirs.close()

    def do(self, command: str, **arguments: Any) -> Any:
        """Has QEMU execute a command. Returns its answer; raises OSError where it fails or QEMU has ended."""
        self.ours.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        for line in self.lines:
            said = json.loads(line)
            if "error" in said:
                raise OSError(said["error"]["desc"])
            if "return" in said:
                return said["return"]
        raise OSError("QEMU has ended")

    def negotiate(self) -> None:
        self.do("qmp_capabilities")
        self.do("migrate-set-capabilities", capabilities=CAPABILITIES)

    def close(self) -> None:
        self.lines.close()
        self.ours.close()


def memory(folder: Path, share: str) -> list[str]:
    """Returns the arguments with which QEMU has its memory in a file."""
    backend = f"memory-backend-file,id=ram,size=2G,share={share},mem-path={qemu_path(folder)}/memory"
    return ["-object", backend, "-machine", "memory-backend=ram", "-global", "migration.store-global-state=off"]


class Saved:
    """A saved boot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def console(self) -> bytes:
        return (self.folder / "console").read_bytes()

    @classmethod
    def find(cls, lab: Lab, qemu: str, arguments: Sequence[str], machine: Machine) -> "Saved | None":
        """Returns the saved boot that QEMU makes with these arguments; None where there is none and none can be made, such as
        by a guest whose disk is full, or while another makes it: then the guest just boots."""
        files = [str(machine.bzimage), qemu]
        depends = [f"{file} {os.stat(file).st_size} {int(os.stat(file).st_mtime)}" for file in files]
        depends += [re.sub(r"path=([^,]|,,)*", "", word) for word in arguments]
        key = hashlib.sha256("\n".join(depends).encode(errors="surrogateescape")).hexdigest()[:16]
        saved = cls(lab.cache / "resume" / key)
        lock = Lock(with_suffix(saved.folder, ".lock"))
        try:
            if saved.folder.is_dir():
                os.utime(saved.folder)
                return saved
            return saved if lock.take(seconds=0) and saved.save(qemu, arguments, machine) else None
        finally:
            lock.release()

    def save(self, qemu: str, arguments: Sequence[str], machine: Machine) -> bool:
        """Boots as far as that, into the folder, which appears complete or not at all."""
        part = with_suffix(self.folder, ".part")
        remove(part)
        part.mkdir()
        monitor, process = Monitor(), None
        try:
            words = [qemu, *arguments, "-serial", f"file:{qemu_path(part)}/console", *memory(part, "on"), *monitor.arguments()]
            process = start(words, subprocess.DEVNULL, [monitor.theirs.fileno()])
            monitor.began()
            self.wait_for_delay(process, part, machine)
            completed = self.migrate(monitor, part / "state")
            if completed:
                process.wait()
                part.rename(self.folder)
                self.prune()
            return completed
        finally:
            if process:
                process.kill()
                process.wait()
            monitor.close()
            remove(part)

    @staticmethod
    def wait_for_delay(process: subprocess.Popen[bytes], part: Path, machine: Machine) -> None:
        console = part / "console"
        clock = Clock(process.pid, machine.timeout, machine.silence, console, part / "booted")
        while process.poll() is None and not (console.exists() and DELAY in console.read_bytes()) and not clock.expired():
            time.sleep(LOOK_SECONDS)

    @staticmethod
    def migrate(monitor: Monitor, state: Path) -> bool:
        """Has QEMU write the guest's state, and end. Returns whether it did."""
        try:
            monitor.negotiate()
            monitor.do("migrate", uri=f"exec:cat >{quote([state])}")
            while (status := monitor.do("query-migrate").get("status", "")) in (
                "",
                "setup",
                "active",
                "device",
                "pre-switchover",
            ):
                time.sleep(LOOK_SECONDS)
            if status != "completed":
                return False
            monitor.do("quit")
            return True
        except OSError:
            return False

    def prune(self) -> None:
        """Removes all but the last 24."""
        boots = [one for one in self.folder.parent.iterdir() if one.is_dir()]
        for old in sorted(boots, key=lambda one: -one.stat().st_mtime)[KEPT:]:
            remove(old)
            remove(with_suffix(old, ".lock"))

    def go_on(self, words: Sequence[str], console: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts a QEMU that goes on from here. Where that fails, QEMU ends."""
        shutil.copyfile(self.folder / "console", console)
        monitor = Monitor()
        try:
            with (self.folder / "state").open("rb") as state:
                more = [*memory(self.folder, "off"), "-incoming", "defer", *monitor.arguments()]
                process = start([*words, *more], log, [monitor.theirs.fileno(), state.fileno()])
                monitor.began()
                try:
                    monitor.negotiate()
                    monitor.do("migrate-incoming", uri=f"fd:{state.fileno()}")
                except OSError:
                    process.kill()
            return process
        finally:
            monitor.close()


def start(words: Sequence[str], log: int | IO[bytes], fds: Sequence[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(outliving_nobody(words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=fds)
