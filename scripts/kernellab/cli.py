"""The command line of the lab."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Callable

from .guests import accel
from .guests import run as run_command
from .jobs import ab, commits, matrix
from .kernels import fetch, module, stock
from .kernels.build import Builder
from .kernels.definitions import Kernels
from .lab import STATUS_LAB, Ended, Lab, LabError, Stopped, UsageError, remove, stop_on_signals
from .locks import Locks

COMMANDS = "build fetch path module run ab why matrix list remove clean".split()
INTERNAL = ["boot"]  # of jobs that a matrix hands out
BOOTING = ["run", "ab", "why", "matrix", *INTERNAL]
OURS = "src obj own kernels stock versions resume files logs runs accel lock locks python".split()  # what the cache has


class Cli:
    """The commands."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.kernels = Kernels(lab)
        self.usage = lab.text((lab.data / "usage").read_text())

    def do_build(self, words: list[str]) -> None:
        Builder(self.lab, self.kernels).command(words, self.usage)

    def do_fetch(self, words: list[str]) -> None:
        fetch.command(self.lab, self.kernels, words, self.usage)

    def do_module(self, words: list[str]) -> None:
        module.command(self.lab, self.kernels, words, self.usage)

    def do_run(self, words: list[str]) -> None:
        run_command.command(self.lab, self.kernels, words, self.usage)

    def do_ab(self, words: list[str]) -> None:
        ab.command(self.lab, self.kernels, words, None)

    def do_why(self, words: list[str]) -> None:
        ab.command(self.lab, self.kernels, words, commits.command)

    def do_matrix(self, words: list[str]) -> None:
        matrix.command(self.lab, self.kernels, words, self.usage)

    def do_boot(self, words: list[str]) -> None:
        matrix.boot(self.lab, words)

    def do_path(self, words: list[str]) -> None:
        if len(words) != 1:
            raise UsageError("path needs one kernel name")
        print(self.kernels.known_dir(words[0]))

    def do_list(self, words: list[str]) -> None:
        if words:
            raise UsageError("list takes no arguments")
        for name in self.kernels.names():
            folder = self.kernels.dir_if(name)
            state = "no source" if folder is None else "built" if folder.is_dir() else "not built"
            print(f"{name:<14} {state:<10} {self.kernels.inherited(name, 'about')}")
        # Pairs are many: those that are there.
        for name, folder in self.built_pairs():
            if self.kernels.dir_if(name) == folder:
                short = name.removesuffix("-" + self.kernels.base_series())
                print(f"{short:<14} {'built':<10} {self.kernels.inherited(name, 'about')}")
        for name in stock.names(self.lab):
            about = stock.folder(self.lab, name) / "about"
            print(f"{name:<16} {'fetched':<8} {about.read_text().strip() if about.exists() else ''}")
        sys.stdout.flush()
        self.lab.note(f"can be fetched: {fetch.listed(self.lab)}")
        default = {
            "yes": "kvm",
            "no": "icount (KVM does not work on this machine)",
            "untried": "unknown until the first run tries KVM",
        }
        self.lab.note(f"default accelerator: {default[accel.kvm_state(self.lab)]}")

    def built_pairs(self) -> list[tuple[str, Path]]:
        found = []
        for side in ("off", "on"):
            for folder in sorted(self.lab.cache.glob(f"kernels/*-{side}-*")):
                stem, _, rest = folder.name.partition(f"-{side}-")
                series = ".".join(rest.split(".")[:2])
                if folder.is_dir() and series.replace(".", "").isdigit():
                    found.append((f"{stem}-{side}-{series}", folder))
        return found

    def do_remove(self, words: list[str]) -> None:
        """Removes all builds of these kernels, and what build was told of them."""
        if not words:
            raise UsageError("remove needs the names of kernels (see scripts/lab list)")
        for name in words:
            self.kernels.check_known(name)
        for name in words:
            if self.kernels.is_stock(name):
                self.kernels.built_dir(name)
                with Locks(self.lab).hold("stock", f"the removal of {name}"):
                    stock.remove_fetched(self.lab, name)
            else:
                Builder(self.lab, self.kernels).remove(name)

    def do_clean(self, words: list[str]) -> None:
        if words:
            raise UsageError("clean takes no arguments")
        if not self.lab.cache.is_dir():
            return
        Locks(self.lab).alone()
        # By name: the variable may point at a folder that is not only ours.
        for name in OURS:
            remove(self.lab.cache / name)
        if not any(self.lab.cache.iterdir()):
            self.lab.cache.rmdir()


def check_words(words: list[str]) -> None:
    """Kernels' headers, lists of files and jobs are lines."""
    ours = words[: words.index("--")] if "--" in words else words
    for word in ours:
        if "\n" in word:
            shown = word.replace("\n", "\\n")
            raise UsageError(f"there is a line feed in '{shown}'; only a command after -- may have one")


def dispatch(cli: Cli, words: list[str]) -> None:
    if not words:
        raise UsageError("no command specified: build, fetch, path, module, run, ab, why, matrix, list, remove or clean")
    command, rest = words[0], words[1:]
    check_words(rest)
    if command in ("-h", "--help", "help") or (command in COMMANDS + INTERNAL and rest[:1] == ["--help"]):
        print(cli.usage, end="")
        return
    if command not in COMMANDS + INTERNAL:
        raise UsageError(f"unknown command '{command}'{cli.lab.guess(command, COMMANDS)}")
    do: Callable[[list[str]], None] = getattr(cli, "do_" + command)
    do(rest)


def main(scripts: Path, words: list[str]) -> int:
    """Does what the lab is told to do. Returns its status."""
    lab = Lab(scripts, os.environ)
    booting = words[:1] and words[0] in BOOTING
    stop_on_signals()
    try:
        dispatch(Cli(lab), words)
        return 0
    except Ended as ended:
        return ended.status
    except UsageError as error:
        lab.note(f"{error} (see scripts/lab --help)")
        return STATUS_LAB if booting else 2
    except LabError as error:
        lab.note(str(error))
        return STATUS_LAB if booting else 1
    except BrokenPipeError:
        return 141
    except OSError as error:
        lab.note(f"{error.filename or lab.cache}: {error.strerror or error}")
        return STATUS_LAB if booting else 1
    except subprocess.CalledProcessError as error:
        lab.note(f"{' '.join(map(str, error.cmd))} ended with status {error.returncode}; is the disk full?")
        return STATUS_LAB if booting else 1
    except Stopped as stopped:
        if stopped.number == signal.SIGINT:
            # As a shell wants to see it.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 128 + stopped.number
