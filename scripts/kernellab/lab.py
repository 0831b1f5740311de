"""What all rooms of the lab share: where things are, messages, and how a command ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any, Mapping, Sequence

# Statuses of `run`, `ab`, `why` and `matrix` that are the lab's own; all others there are the command's. The other commands
# use 1 (failed) and 2 (usage).
STATUS_LAB, STATUS_PANIC, STATUS_HANG, STATUS_STATE = 120, 121, 122, 123
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class LabError(Exception):
    """A line for the user: what failed, where, what to do next. status is the command's, if it is not the usual one."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class UsageError(LabError):
    """The command line is wrong."""


class Ended(Exception):
    """The command ends with this status; the reason has been printed."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Stopped(BaseException):
    """A signal ends the lab; what is under way is taken back on its way up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def stop_on_signals() -> None:
    """Raises Stopped on the signals that end a program; those that are ignored stay ignored."""

    def stop(number: int, _frame: FrameType | None) -> None:
        # What is taken back is taken back whole.
        for one in STOPPING:
            signal.signal(one, signal.SIG_IGN)
        raise Stopped(number)

    for one in STOPPING:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, stop)


def quote(words: Sequence[str | Path]) -> str:
    """Returns words as one line of POSIX shell."""
    return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in words)


def counted(number: int, noun: str) -> str:
    """Returns "1 boot", "2 boots"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def last_line(text: str) -> str:
    """Returns the last line of what a program said."""
    return text.rstrip("\n").rpartition("\n")[2]


def number(text: str, what: str) -> int:
    """Returns a count of at least 1, given as the value of option what."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise UsageError(f"{what} needs a number, not '{text}'")
    return int(text)


class Lab:
    """Where the lab and its cache are, and the programs that it calls."""

    def __init__(self, scripts: Path, environ: Mapping[str, str]) -> None:
        self.scripts = scripts
        self.repo = scripts.parent
        self.data = Path(__file__).parent
        self.fragments = scripts / "kernels"
        self.cache = Path(os.path.realpath(environ.get("KPROTPERF_LAB") or Path.home() / ".cache/kprotperf/lab"))
        self.kprotperf = environ.get("KPROTPERF") or str(self.repo / "build/kprotperf")
        # As the user finds them, in a clone or installed.
        in_clone = (self.repo / "Makefile").exists()
        self.name = "scripts/lab" if in_clone else "kprotperf-lab"
        self.setup = "scripts/setup" if in_clone else str(scripts / "setup")

    def text(self, text: str) -> str:
        """Returns text with the names of the lab's commands as the user finds them."""
        return text.replace("scripts/lab", self.name).replace("scripts/setup", self.setup)

    def note(self, text: str) -> None:
        """Prints a line on stderr."""
        print(f"lab: {self.text(text)}", file=sys.stderr, flush=True)

    def command(self, *words: str | Path) -> list[str]:
        """Returns the command line of the lab itself."""
        return [str(self.scripts / "lab"), *map(str, words)]

    # --- kprotperf -------------------------------------------------------------

    def need_kprotperf(self, which: str = "") -> None:
        """Raises LabError where there is no kprotperf."""
        if not self.has_kprotperf():
            raise LabError(f"no program {self.kprotperf}{which}; build it with make, or set KPROTPERF")

    def has_kprotperf(self) -> bool:
        return os.access(self.kprotperf, os.X_OK)

    def guess(self, word: str, names: Sequence[str]) -> str:
        """Returns "; did you mean 'NAME'? ..." with the nearest name, or nothing if none is near."""
        return output([self.kprotperf, "guess", word, *names])

    def ask(self, *words: str | Path) -> Any:
        """Returns what kprotperf prints as JSON, None where it fails."""
        text = output([self.kprotperf, *words])
        return json.loads(text) if text else None

    def make_index(self, vmlinux: Path, beside: bool) -> None:
        """Makes the index of vmlinux, so that no guest reads DWARF, which takes it seconds of its own time. Guests do
        without where it cannot be made."""
        if self.has_kprotperf():
            output([self.kprotperf, "index", *(["--beside"] if beside else []), vmlinux])


def output(words: Sequence[str | Path], **options: Any) -> str:
    """Returns what a program prints, without the line ends at its end; nothing where it fails or is not there."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
    except OSError:
        return ""
    text: str = done.stdout.decode(errors="surrogateescape")
    return text.rstrip("\n") if done.returncode == 0 else ""


def missing_tools(tools: Sequence[str]) -> list[str]:
    """Returns those that are not there."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [tool for tool in tools if not shutil.which(tool, path=path)]


def remove(path: Path) -> None:
    """Removes a file, a link, or a folder with all that is in it; what is not there is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def with_suffix(path: Path, suffix: str) -> Path:
    """Returns the path whose name has suffix at its end."""
    return path.with_name(path.name + suffix)


def outliving_nobody(words: Sequence[str | Path]) -> list[str]:
    """Returns a command line that is killed when its parent ends, whatever ends that."""
    return ["setpriv", "--pdeathsig", "KILL", *map(str, words)]
