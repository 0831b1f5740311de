# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the lab in this process, in a scratch folder and with a cache of its own. Functions stand in for the programs that it
starts: make, QEMU with its guest, kprotperf, tar, and the lab itself."""

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Callable, Iterator, Mapping, Sequence

repo = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(repo / "scripts"), str(repo / "tests")]

from kernellab.cli import main  # noqa: E402

KPROTPERF = repo / (os.environ.get("BUILD") or "build") / "kprotperf"


@dataclass
class Result:
    """The exit status and the output of a program."""

    status: int
    out: str
    err: str


class Ended:
    """A process that has ended. Programs returns it in place of a subprocess.Popen."""

    def __init__(self, args: Sequence[str], status: int, pid: int, read: Sequence[str | bytes | None]) -> None:
        self.args, self.returncode, self.pid, self.read = args, status, pid, read

    def __enter__(self) -> "Ended":
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def communicate(self, *_input: object, **_timeout: object) -> Sequence[str | bytes | None]:
        return self.read

    def wait(self, *_timeout: object) -> int:
        return self.returncode

    poll = wait

    def kill(self) -> None:
        pass

    terminate = kill


@contextmanager
def redirected(targets: Mapping[int, int]) -> Iterator[None]:
    """Let the descriptors refer to the files of other descriptors, until the end of the block."""

    def flush() -> None:
        sys.stdout.flush()
        sys.stderr.flush()

    flush()
    kept = {fd: os.dup(fd) for fd in targets}
    try:
        for fd, target in targets.items():
            os.dup2(target, fd)
        yield
    finally:
        flush()
        for fd, old in kept.items():
            os.dup2(old, fd)
            os.close(old)


def exit_status(do: Callable[[], int | None]) -> int:
    """Return the status that `do` returns or exits with."""
    try:
        return do() or 0
    except SystemExit as ended:
        return int(ended.code or 0)


class Programs:
    """The stand-in for all processes: from its creation on, subprocess starts its methods. Other programs really run. A test
    overrides `compile`, `kprotperf` and `unpack`."""

    def __init__(self) -> None:
        self.popen: Callable[..., Any] = subprocess.Popen
        self.pid = os.posix_spawn(
            "/bin/true", ["true"], os.environ
        )  # never waited for, so that its descriptor shows that it ended
        self.booted, self.append, self.seed = Path(), "", ""  # the guest's kernel (its folder) and parameters
        self.scripts = repo / "scripts"
        self.scratch = Path(tempfile.mkdtemp(prefix="kprotperf-test."))
        atexit.register(shutil.rmtree, self.scratch, ignore_errors=True)
        (self.scratch / "here").mkdir()
        os.chdir(self.scratch / "here")
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            os.environ.pop(name, None)
        os.environ |= {"PWD": os.getcwd(), "KPROTPERF": str(KPROTPERF), "KPROTPERF_LAB": str(self.scratch / "cache")}
        os.environ |= {"GIT_CONFIG_GLOBAL": "/dev/null"}
        os.environ |= {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        setattr(subprocess, "Popen", self.start)

    def lab(self, *words: str | Path, **environ: str) -> Result:
        """Run the lab with these words, and with these variables added to the environment."""
        old = dict(os.environ)
        os.environ.update(environ)
        try:
            done = subprocess.run([self.scripts / "lab", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        finally:
            os.environ.clear()
            os.environ.update(old)
        return Result(done.returncode, *(part.decode(errors="replace").rstrip("\n") for part in (done.stdout, done.stderr)))

    # --- in place of subprocess ------------------------------------------------------

    def start(self, words: Sequence[str | Path], **options: Any) -> Any:
        """Run a stand-in to its end. Start other programs."""
        plain = [str(word) for word in words]
        if plain[0] == "setpriv":
            plain = plain[3:]
        act = self.stand_in(plain)
        if not act:
            return self.popen(words, **options)
        here, text = os.getcwd(), options.get("text")
        targets, pipes = self.targets(options)
        try:
            os.chdir(options.get("cwd") or here)
            with redirected(targets):
                status = exit_status(partial(act, plain))
        finally:
            os.chdir(here)
        read: list[Any] = [None, None]
        for fd, file in pipes.items():
            file.seek(0)
            read[fd - 1] = file.read().decode() if text else file.read()
        return Ended(plain, status, self.pid, read)

    def stand_in(self, words: Sequence[str]) -> Callable[[list[str]], int] | None:
        name = os.path.basename(words[0])
        if name == "kprotperf":
            return getattr(self, f"kprotperf_{words[1]}", None)
        acts = {"lab": self.run_lab, "make": self.make, "tar": self.tar, "qemu-system-x86_64": self.qemu}
        return acts.get(name)

    @staticmethod
    def targets(options: Mapping[str, Any]) -> tuple[dict[int, int], dict[int, IO[bytes]]]:
        """Return the targets of the descriptors 1 and 2 for options of Popen, and temporary files in place of pipes."""
        found, pipes = dict[int, int](), dict[int, IO[bytes]]()
        for fd, name in ((1, "stdout"), (2, "stderr")):
            target = options.get(name)
            if target in (subprocess.PIPE, subprocess.DEVNULL):
                target = pipes[fd] = tempfile.TemporaryFile()
            if target is not None:
                found[fd] = target if isinstance(target, int) else target.fileno()
        return found, pipes

    # --- stand-ins -------------------------------------------------------------------

    @staticmethod
    def run_lab(words: list[str]) -> int:
        return main(Path(words[0]).parent, words[1:])

    def tar(self, words: list[str]) -> int:
        """tar -xf ARCHIVE -C FOLDER ..."""
        self.unpack(Path(words[4]))
        return 0

    def make(self, words: list[str]) -> int:
        """make -C SOURCES O=OBJECTS ...: use the fragment alone as the configuration."""
        src, obj = Path(words[2]), Path(words[3].removeprefix("O="))
        if words[-1] == "allnoconfig":
            shutil.copy(obj / "fragment", obj / ".config")
            return 0
        status = self.compile(src, obj)
        if status == 0:
            (obj / "arch/x86/boot").mkdir(parents=True, exist_ok=True)
            for name in ("arch/x86/boot/bzImage", "System.map", "Module.symvers"):
                shutil.copy(obj / "vmlinux", obj / name)
        return status

    def qemu(self, words: list[str]) -> int:
        """Boot a guest: run its command here. Refuse to save or resume a boot."""
        given = dict(zip(words, words[1:]))
        if "-mon" in given:
            return 1
        self.booted, self.append, self.seed = Path(given["-kernel"]).parent, given["-append"], given["-seed"]
        share = next(word for word in words if ",id=lab," in word)
        control = Path(share.partition("path=")[2].partition(",security_model")[0])
        (control / "opened").write_text("/")
        command = shlex.split(next(line for line in (control / "config").read_text().splitlines() if line.startswith("exec ")))
        act = self.stand_in(command[3:])
        with (control / "out").open("wb", 0) as out, (control / "err").open("wb", 0) as err:
            with redirected({1: out.fileno(), 2: err.fileno()}):
                status = act(command[3:]) if act else 0
        (control / "status").write_text(f"exit {status} 256\n")
        return 0

    def kprotperf_index(self, _words: list[str]) -> int:
        return 0

    def kprotperf_merge(self, words: list[str]) -> int:
        """kprotperf merge -o FILE FILE..."""
        Path(words[3]).write_text("".join(Path(word).read_text() for word in words[4:]))
        return 0

    # --- what tests override ---------------------------------------------------------

    def unpack(self, into: Path) -> None:
        """Make the sources of a kernel."""
        raise NotImplementedError

    def compile(self, src: Path, obj: Path) -> int:
        """Make vmlinux in obj. Return a status."""
        raise NotImplementedError
