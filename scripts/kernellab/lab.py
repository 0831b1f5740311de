"""Common parts of the lab: paths, messages, options, exit statuses, and running programs."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, Iterable, Iterator, Mapping, NoReturn, Sequence

# Exit statuses of the lab itself for `run`, `ab`, `why` and `matrix`. Other statuses are those of the user's command. Other
# commands of the lab use 1 (failed) and 2 (usage). A command that has already printed why it ends raises SystemExit.
STATUS_LAB, STATUS_PANIC, STATUS_HANG, STATUS_STATE = 120, 121, 122, 123
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class LabError(Exception):
    """An error with a message of one line: what failed, where, and what to do next."""


class UsageError(LabError):
    """The command line is wrong."""


class Stopped(BaseException):
    """A signal ends the lab. The argument is the signal's number. Cleanup runs while this exception propagates."""


def stop_on_signals() -> None:
    """Raise Stopped on the signals that end a program, unless they are ignored."""

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        # A second signal must not interrupt the cleanup.
        for one in STOPPING:
            signal.signal(one, signal.SIG_IGN)
        raise Stopped(number)

    for one in STOPPING:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, stop)


class Lab:
    """The paths of the lab, its cache and kprotperf, and functions that call kprotperf."""

    def __init__(self, scripts: Path, environ: Mapping[str, str]) -> None:
        self.scripts = scripts
        self.repo = scripts.parent
        self.data = Path(__file__).parent
        self.fragments = scripts / "kernels"
        self.cache = Path(os.path.realpath(environ.get("KPROTPERF_LAB") or Path.home() / ".cache/kprotperf/lab"))
        self.kprotperf = environ.get("KPROTPERF") or str(self.repo / "build/kprotperf")

    @cached_property
    def usage(self) -> str:
        return self.text((self.data / "usage").read_text())

    def text(self, text: str) -> str:
        """Return text. If the lab is installed, replace commands of a clone, such as scripts/lab, by their installed names."""
        if (self.repo / "Makefile").exists():
            return text
        return text.replace("scripts/lab", "kprotperf-lab").replace("scripts/setup", str(self.scripts / "setup"))

    def note(self, text: str) -> None:
        print(f"lab: {self.text(text)}", file=sys.stderr, flush=True)

    def command(self, *words: str | Path) -> list[str]:
        """Return a command line that runs the lab with these words."""
        return [str(self.scripts / "lab"), *map(str, words)]

    def need_kprotperf(self, which: str = "") -> None:
        if not self.has_kprotperf():
            raise LabError(f"no program {self.kprotperf}{which}; build it with make, or set KPROTPERF")

    def has_kprotperf(self) -> bool:
        return os.access(self.kprotperf, os.X_OK)

    def guess(self, word: str, names: Iterable[str]) -> str:
        """Return "; did you mean 'NAME'? ..." with the most similar name, or "" if no name is similar."""
        return output([self.kprotperf, "guess", word, *names])

    def ask(self, *words: str | Path) -> Any:
        """Run kprotperf with these words. Return the JSON that it prints; None if it fails."""
        text = output([self.kprotperf, *words])
        return json.loads(text) if text else None

    def make_index(self, vmlinux: Path, beside: bool) -> None:
        """Make the index of vmlinux, so that no guest spends seconds on reading DWARF. Ignore failures."""
        if self.has_kprotperf():
            output([self.kprotperf, "index", *(["--beside"] if beside else []), vmlinux])


# --- options -----------------------------------------------------------------------


class Options:
    """The options of a command line, in order. Words other than options are values of the option ""."""

    def __init__(self, *given: tuple[str, str]) -> None:
        self.given = list(given)

    def has(self, option: str) -> bool:
        return any(option == name for name, _ in self.given)

    def all(self, option: str) -> list[str]:
        return [value for name, value in self.given if name == option]

    def get(self, option: str, default: str = "") -> str:
        """Return the last value of an option."""
        return [default, *self.all(option)][-1]

    def words(self, options: Sequence[str]) -> list[str]:
        """Return the given options that are in `options`, as words of a command line."""
        return [word for name, value in self.given if name in options for word in (name, value)]


def read_options(
    lab: Lab, command: str, words: list[str], valued: str, flags: str = "", unknown: bool = False, first_word_ends: bool = False
) -> Options:
    """Remove options from the front of words, up to `--`, and return them. Raise UsageError for unknown options. If `unknown`
    is set, treat unknown options as other words."""
    found = Options()
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            break
        if name in valued.split():
            if not equals and not words:
                raise UsageError(f"{name} needs a value")
            found.given.append((name, value if equals else words.pop(0)))
        elif word in flags.split():
            found.given.append((word, ""))
        elif word.startswith("-") and not unknown:
            raise UsageError(f"{command} has no option '{word}'{lab.guess(name, re.findall('--[a-z-]+', lab.usage))}")
        elif first_word_ends:
            words.insert(0, word)
            break
        else:
            found.given.append(("", word))
    return found


def number(text: str, what: str) -> int:
    """Return the value `text` of the option `what` as a number. Raise UsageError if it is less than 1."""
    if not re.fullmatch("0*[1-9][0-9]*", text):
        raise UsageError(f"{what} needs a number, not '{text}'")
    return int(text)


# --- words -------------------------------------------------------------------------


def quote(words: Sequence[str | Path]) -> str:
    """Return words as one line of POSIX shell, all of them in quotes."""
    return " ".join("'" + str(word).replace("'", "'\\''") + "'" for word in words)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 boot" or "2 boots"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def last_line(text: str) -> str:
    return text.rstrip("\n").rpartition("\n")[2]


def join_lines(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


# --- programs ----------------------------------------------------------------------


def output(words: Sequence[str | Path], **options: Any) -> str:
    """Return the output of a program, without line ends at its end. Return "" if it fails or does not exist."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
    except OSError:
        return ""
    text: str = done.stdout.decode(errors="surrogateescape")
    return text.rstrip("\n") if done.returncode == 0 else ""


def need_tools(purpose: str, setup: str, tools: Sequence[str]) -> None:
    """Raise LabError unless these programs are installed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [tool for tool in tools if not shutil.which(tool, path=path)]
    if missing:
        raise LabError(f"cannot {purpose} kernels without {' '.join(missing)}; install them with scripts/setup --for={setup}")


def outliving_nobody(words: Sequence[str | Path]) -> list[str]:
    """Return a command line that runs words. The kernel kills the program when its parent ends."""
    return ["setpriv", "--pdeathsig", "KILL", *map(str, words)]


# --- files -------------------------------------------------------------------------


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with its content, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def with_suffix(path: Path, suffix: str) -> Path:
    """Return the path with suffix appended to its name."""
    return path.with_name(path.name + suffix)


@contextmanager
def whole(path: Path, part: Path | None = None) -> Iterator[Path]:
    """Yield a temporary name. After the block, rename the file or folder of this name to path; remove it if the block fails."""
    part = part or path.with_name(f".{path.name}.{os.getpid()}")
    remove(part)
    try:
        yield part
        part.rename(path)
    finally:
        remove(part)


def all_but_newest(kept: int, files: Iterable[Path]) -> list[Path]:
    return sorted(files, key=lambda one: -one.lstat().st_mtime)[kept:]
