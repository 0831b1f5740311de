"""How a guest reaches the host's files: QEMU's own 9p server, or a virtiofsd for each shared folder."""

import os
import stat
import subprocess
import time
from pathlib import Path

from ..lab import Lab, LabError, last_line, outliving_nobody

VIRTIOFSD = ("/usr/lib/qemu/virtiofsd", "/usr/libexec/virtiofsd")
START_SECONDS = 5


def qemu_path(path: str | Path) -> str:
    """Returns a path as QEMU's options have it."""
    return str(path).replace(",", ",,")


class Share:
    """The host's /, the current directory and a run's control folder, for one guest."""

    def __init__(self, lab: Lab, kind: str, cwd: str, control: Path, cwd_cache: str) -> None:
        self.lab = lab
        self.control = control
        self.servers: list[subprocess.Popen[bytes]] = []
        self.arguments: list[str] = []
        if kind == "9p":
            self.add_9p("root", "/", "/dev/root", ",multidevs=remap,readonly=on")
            self.add_9p("cwd", cwd, "cwd", ",multidevs=remap")
            self.add_9p("lab", str(control), "lab", "")
            return
        try:
            # The server works on the guest's memory.
            memory = "memory-backend-memfd,id=ram,size=2G,share=on"
            self.arguments += ["-object", memory, "-machine", "memory-backend=ram"]
            self.serve("root", "/", "/dev/root", "always")
            self.serve("cwd", cwd, "cwd", cwd_cache)
            self.serve("lab", str(control), "lab", "none")
        except BaseException:
            self.end()
            raise

    def add_9p(self, name: str, folder: str, tag: str, more: str) -> None:
        device = f"local,id={name},path={qemu_path(folder)},security_model=none{more}"
        self.arguments += ["-fsdev", device, "-device", f"virtio-9p-pci,fsdev={name},mount_tag={tag}"]

    def serve(self, name: str, folder: str, tag: str, cache: str) -> None:
        """Starts what serves a folder by virtiofs."""
        programs = [program for program in VIRTIOFSD if os.access(program, os.X_OK)]
        if not programs:
            wanted = "virtiofsd is not installed; install it with scripts/setup --for=lab-stock"
            raise LabError(f"this kernel can share files by virtiofs only, and {wanted}")
        socket, log = self.control / f"{name}.sock", self.control / f"virtiofsd-{name}.log"
        server = self.lab.data / "guests/serve-virtiofs"
        words = outliving_nobody([server, programs[-1], socket, folder, cache])
        with log.open("wb") as file:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        self.servers.append(process)
        end = time.monotonic() + START_SECONDS
        while not is_socket(socket) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        if not is_socket(socket):
            raise LabError(f"virtiofsd cannot share {folder}: {last_line(log.read_text(errors='replace'))}")
        self.arguments += ["-chardev", f"socket,id=fs-{name},path={qemu_path(socket)}"]
        self.arguments += ["-device", f"vhost-user-fs-pci,chardev=fs-{name},tag={tag}"]

    def end(self) -> None:
        """Ends the servers. They end with QEMU; unless it was never there."""
        for server in self.servers:
            server.kill()
            server.wait()
        self.servers = []


def is_socket(path: Path) -> bool:
    return path.exists() and stat.S_ISSOCK(path.stat().st_mode)
