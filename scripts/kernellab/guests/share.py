"""Sharing the host's files with a guest, by QEMU's own 9p server or by one virtiofsd per folder."""

import os
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Iterator, Sequence

from ..lab import Lab, LabError, last_line, outliving_nobody

VIRTIOFSD = ("/usr/lib/qemu/virtiofsd", "/usr/libexec/virtiofsd")
START_SECONDS = 5


def qemu_path(path: str | Path) -> str:
    """Return a path, quoted for an option of QEMU."""
    return str(path).replace(",", ",,")


@contextmanager
def running(words: Sequence[str | Path], log: int | IO[bytes], fds: Sequence[int] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block or of the lab. The program does not inherit the lab's output, whose reader would
    wait for the program."""
    process = subprocess.Popen(outliving_nobody(words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=fds)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def shared(lab: Lab, kind: str, cwd: str, control: Path, cwd_cache: str) -> Iterator[list[str]]:
    """Share the host's /, the current directory and a run's control folder with one guest. Yield QEMU's arguments."""
    words: list[str] = []
    with ExitStack() as servers:
        if kind == "9p":
            for name, folder, tag, more in (
                ("root", "/", "/dev/root", ",multidevs=remap,readonly=on"),
                ("cwd", cwd, "cwd", ",multidevs=remap"),
                ("lab", str(control), "lab", ""),
            ):
                words += ["-fsdev", f"local,id={name},path={qemu_path(folder)},security_model=none{more}"]
                words += ["-device", f"virtio-9p-pci,fsdev={name},mount_tag={tag}"]
        else:
            # virtiofsd accesses the guest's memory, so QEMU must share it.
            memory = "memory-backend-memfd,id=ram,size=2G,share=on"
            words += ["-object", memory, "-machine", "memory-backend=ram"]
            for name, folder, tag, cache in (
                ("root", "/", "/dev/root", "always"),
                ("cwd", cwd, "cwd", cwd_cache),
                ("lab", str(control), "lab", "none"),
            ):
                socket = serve(lab, servers, control, name, folder, cache)
                words += ["-chardev", f"socket,id=fs-{name},path={qemu_path(socket)}"]
                words += ["-device", f"vhost-user-fs-pci,chardev=fs-{name},tag={tag}"]
        yield words


def serve(lab: Lab, servers: ExitStack, control: Path, name: str, folder: str, cache: str) -> Path:
    """Start a virtiofsd that serves a folder. Return its socket."""
    programs = [program for program in VIRTIOFSD if os.access(program, os.X_OK)]
    if not programs:
        wanted = "virtiofsd is not installed; install it with scripts/setup --for=lab-stock"
        raise LabError(f"this kernel can share files by virtiofs only, and {wanted}")
    socket, log = control / f"{name}.sock", control / f"virtiofsd-{name}.log"
    words = [str(lab.data / "guests/serve-virtiofs"), programs[-1], str(socket), folder, cache]
    with log.open("wb") as file:
        process = servers.enter_context(running(words, file))
    end = time.monotonic() + START_SECONDS
    while not socket.is_socket() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    if not socket.is_socket():
        raise LabError(f"virtiofsd cannot share {folder}: {last_line(log.read_text(errors='replace'))}")
    return socket
