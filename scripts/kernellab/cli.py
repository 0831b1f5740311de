"""The command line of the lab."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from .explore import explore
from .guests import accel
from .guests import run as guest
from .jobs import ab, commits, matrix
from .kernels import build, fetch, module
from .kernels.definitions import Kernels
from .lab import STATUS_LAB, Lab, LabError, Stopped, UsageError, remove, stop_on_signals

BOOTING = ("run", "ab", "why", "matrix", "explore", "boot")
OURS = "src obj own kernels stock versions resume files logs runs accel lock locks python".split()  # files in the cache


def print_path(kernels: Kernels, words: list[str]) -> None:
    if len(words) != 1:
        raise UsageError("path needs one kernel name")
    print(kernels.known_dir(words[0]))


def print_list(kernels: Kernels, words: list[str]) -> None:
    if words:
        raise UsageError("list takes no arguments")
    lab = kernels.lab
    for name in kernels.names():
        folder = kernels.dir_if(name)
        state = "no source" if folder is None else "built" if folder.is_dir() else "not built"
        print(f"{name:<14} {state:<10} {kernels.inherited(name, 'about')}")
    # Of the many kernels PROTECTION-off and PROTECTION-on, list only those that are built.
    for name, folder in built_pairs(lab):
        if kernels.dir_if(name) == folder:
            short = name.removesuffix("-" + kernels.base_series())
            print(f"{short:<14} {'built':<10} {kernels.inherited(name, 'about')}")
    for name in kernels.stock_names():
        about = kernels.dir(name) / "about"
        print(f"{name:<16} {'fetched':<8} {about.read_text().strip() if about.exists() else ''}")
    sys.stdout.flush()
    lab.note(f"can be fetched: {fetch.listed(lab)}")
    default = {
        "yes": "kvm",
        "no": "icount (KVM does not work on this machine)",
        "untried": "unknown until the first run tries KVM",
    }
    lab.note(f"default accelerator: {default[accel.kvm_state(lab)]}")


def built_pairs(lab: Lab) -> list[tuple[str, Path]]:
    found = []
    for side in ("off", "on"):
        for folder in sorted(lab.cache.glob(f"kernels/*-{side}-*")):
            stem, _, rest = folder.name.partition(f"-{side}-")
            series = ".".join(rest.split(".")[:2])
            if folder.is_dir() and series.replace(".", "").isdigit():
                found.append((f"{stem}-{side}-{series}", folder))
    return found


def remove_kernels(kernels: Kernels, words: list[str]) -> None:
    """Remove all builds of these kernels, and their definitions."""
    if not words:
        raise UsageError("remove needs the names of kernels (see scripts/lab list)")
    for name in words:
        kernels.check_known(name)
    for name in words:
        if kernels.is_stock(name):
            folder = kernels.built_dir(name)
            with kernels.locks.hold("stock", f"the removal of {name}"):
                (kernels.stock / name).unlink()
                if all(kernels.dir(other) != folder for other in kernels.stock_names()):
                    remove(folder)
        else:
            build.remove_kernel(kernels, name)


def clean(kernels: Kernels, words: list[str]) -> None:
    if words:
        raise UsageError("clean takes no arguments")
    cache = kernels.lab.cache
    if not cache.is_dir():
        return
    kernels.locks.alone()
    # Remove the lab's own files only: KPROTPERF_LAB may be a folder that has other files too.
    for name in OURS:
        remove(cache / name)
    if not any(cache.iterdir()):
        cache.rmdir()


COMMANDS = {
    "build": build.command,
    "fetch": fetch.command,
    "path": print_path,
    "module": module.command,
    "run": guest.command,
    "ab": ab.command,
    "why": commits.why,
    "matrix": matrix.command,
    "explore": explore.command,
    "list": print_list,
    "remove": remove_kernels,
    "clean": clean,
    "boot": matrix.boot,  # internal: a job of a matrix
}


def dispatch(lab: Lab, words: list[str]) -> None:
    names = [name for name in COMMANDS if name != "boot"]
    if not words:
        raise UsageError(f"no command specified: {', '.join(names[:-1])} or {names[-1]}")
    command, *rest = words
    # Refuse line feeds: the lab writes headers of kernels, lists of files and jobs with one item per line.
    for word in rest[: rest.index("--")] if "--" in rest else rest:
        if "\n" in word:
            shown = word.replace("\n", "\\n")
            raise UsageError(f"there is a line feed in '{shown}'; only a command after -- may have one")
    if command in ("-h", "--help", "help") or (command in COMMANDS and rest[:1] == ["--help"]):
        print(lab.usage, end="")
    elif command in COMMANDS:
        COMMANDS[command](Kernels(lab), rest)
    else:
        raise UsageError(f"unknown command '{command}'{lab.guess(command, names)}")


def main(scripts: Path, words: list[str]) -> int:
    """Run the command line. Return the exit status."""
    lab = Lab(scripts, os.environ)
    booting = words[:1] and words[0] in BOOTING
    stop_on_signals()
    try:
        dispatch(lab, words)
        return 0
    except UsageError as error:
        lab.note(f"{error} (see scripts/lab --help)")
        return STATUS_LAB if booting else 2
    except BrokenPipeError:
        return 141
    except Stopped as stopped:
        if stopped.args[0] == signal.SIGINT:
            # The shell must see that the signal ended the lab.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 128 + int(stopped.args[0])
    except LabError as error:
        lab.note(str(error))
    except OSError as error:
        lab.note(f"{error.filename or lab.cache}: {error.strerror or error}")
    except subprocess.CalledProcessError as error:
        lab.note(f"{' '.join(map(str, error.cmd))} ended with status {error.returncode}; is the disk full?")
    return STATUS_LAB if booting else 1
