"""lab run: what is to be booted, and how."""

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Sequence

from ..kernels import module
from ..kernels.definitions import Kernels
from ..lab import Ended, Lab, LabError, UsageError, number
from ..words import REST, no_option, options
from . import accel, host
from .guest import Guest
from .machine import Machine

VALUED = "--on --kernel --bzimage --accel --cpus --cpu --append --timeout --seed --trace --model --insmod -o".split()
TRACE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(:[1-9][0-9]*)?")


@dataclass
class Options:
    """The options of run, as they are written."""

    on: str = ""
    kernel: str = ""
    bzimage: str = ""
    accel: str = ""
    cpus: str = ""
    cpu: str = ""
    append: str = ""
    timeout: str = "600"
    seed: str = "1"
    trace: str = ""
    model: str = ""
    output: str = ""
    insmod: list[str] = field(default_factory=list)
    resume: bool = False
    exact: bool = False
    in_memory: bool = False


def read(lab: Lab, words: list[str], usage: str) -> Options:
    """Takes run's options off the front of its words, which leaves the command."""
    said = Options()
    for option, value, known in options(words, VALUED, ("--exact", "--resume", "--in-memory")):
        if not known:
            raise no_option(lab, usage, "run", option)
        if option == REST:
            words.insert(0, value)
            break
        if option == "--insmod":
            said.insmod.append(value)
        else:
            name = "output" if option == "-o" else option[2:].replace("-", "_")
            setattr(said, name, value if option in VALUED else True)
    if not words:
        raise UsageError("run needs a command")
    if said.kernel and said.bzimage:
        raise UsageError("--kernel and --bzimage are mutually exclusive")
    if not re.fullmatch("[1-9][0-9]*", said.timeout):
        raise UsageError(f"--timeout needs whole seconds, not '{said.timeout}'")
    if not re.fullmatch("[0-9]+", said.seed):
        raise UsageError(f"--seed needs a number, not '{said.seed}'")
    return said


def command(lab: Lab, kernels: Kernels, words: list[str], usage: str) -> NoReturn:
    """Does what `run` with these words is to do."""
    said = read(lab, words, usage)
    if said.on:
        raise Ended(run_on_host(lab, said, words))
    machine = choose(lab, kernels, said)
    if said.exact:
        words = [lab.kprotperf, "record", "--exact", "-o", machine.output, "--", *words]
    raise Ended(Guest(lab, machine).run(words))


def run_on_host(lab: Lab, said: Options, words: Sequence[str]) -> int:
    machine = host.Host(lab, host.host_of(said.on), int(said.timeout))
    if not said.kernel:
        raise UsageError("--on needs --kernel, the name of one in HOST's /boot")
    if said.bzimage or said.accel or said.cpus or said.cpu or said.insmod or said.exact or said.trace or said.model:
        takes = "--kernel, --append, --timeout and -o"
        raise UsageError(f"--on runs CMD on a real machine: of the options of run it takes {takes}")
    return host.run(lab, machine, said.kernel, said.append, said.output, words)


def choose(lab: Lab, kernels: Kernels, said: Options) -> Machine:
    """Returns the machine that the options ask for."""
    silence = os.environ.get("KPROTPERF_LAB_SILENCE") or "60"
    if not re.fullmatch("[1-9][0-9]*", silence):
        raise UsageError(f"KPROTPERF_LAB_SILENCE needs whole seconds, not '{silence}'")
    machine = choose_kernel(lab, kernels, said)
    machine.timeout, machine.silence, machine.seed = int(said.timeout), int(silence), said.seed
    machine.cpu, machine.append = said.cpu, said.append
    machine.cpus = number(said.cpus or "1", "--cpus")
    choose_accel(lab, machine, said.accel)
    # Elsewhere time goes on while nobody runs the guest; and QEMU cannot save what virtiofs serves.
    machine.resume = said.resume and machine.accel == "icount" and not machine.initramfs
    machine.in_memory = said.in_memory
    machine.insmod = modules(lab, kernels, said)
    choose_exact(lab, machine, said)
    return machine


def choose_kernel(lab: Lab, kernels: Kernels, said: Options) -> Machine:
    if said.bzimage:
        if not os.access(said.bzimage, os.R_OK):
            raise LabError(f"cannot read the kernel {said.bzimage}")
        bzimage = Path(os.path.realpath(said.bzimage))
        beside = bzimage.parent / "vmlinux"
        given = os.environ.get("KPROTPERF_VMLINUX")
        vmlinux = beside if beside.exists() else Path(given) if given else None
        if vmlinux:
            lab.make_index(vmlinux, beside=False)
        return Machine(bzimage, vmlinux)
    said.kernel = said.kernel or "hardened"
    folder = kernels.known_dir(said.kernel)
    machine = Machine(folder / "bzImage")
    if (folder / "vmlinux").is_file():
        machine.vmlinux = folder / "vmlinux"
        lab.make_index(machine.vmlinux, beside=True)
    if (folder / "initramfs").is_file():
        machine.initramfs = folder / "initramfs"
        machine.share = (folder / "share").read_text().strip()
    # Options that the kernel's fragment asks for (`# run: ...`) where the caller has not said otherwise.
    wanted = kernels.inherited(said.kernel, "run").split()
    for option, value in zip(wanted[::2], wanted[1::2]):
        if option == "--accel":
            said.accel = said.accel or value
        elif option == "--cpus" and said.accel != "icount":
            said.cpus = said.cpus or value
    return machine


def choose_accel(lab: Lab, machine: Machine, wanted: str) -> None:
    if not shutil.which("qemu-system-x86_64"):
        raise LabError("qemu-system-x86_64 is not installed; install it with scripts/setup --for=lab")
    if not shutil.which("perl"):
        raise LabError("perl is not installed; the guest needs it to carry output")

    def boots() -> bool:
        trial = Machine(machine.bzimage, machine.vmlinux, machine.initramfs, machine.share, "kvm", timeout=accel.TRIAL_SECONDS)
        return Guest(lab, trial, silent=True).run(["true"]) == 0

    machine.accel = wanted or accel.choose(lab, machine.cpus, boots)
    if machine.accel not in accel.ACCELERATORS:
        raise UsageError(f"--accel is icount, tcg, mttcg or kvm, not '{machine.accel}'")
    if machine.accel == "icount" and machine.cpus > 1:
        raise UsageError(f"--accel icount has one CPU (more hang in QEMU); for --cpus {machine.cpus} use --accel tcg")


def modules(lab: Lab, kernels: Kernels, said: Options) -> list[str]:
    """Returns the files of --insmod; those of a folder are built."""
    files: list[str] = []
    for name in said.insmod:
        if os.path.isdir(name):
            if not said.kernel:
                raise UsageError("--insmod with a folder needs --kernel")
            files += map(str, module.build(lab, kernels, said.kernel, name))
        else:
            files.append(name)
    return files


def choose_exact(lab: Lab, machine: Machine, said: Options) -> None:
    """The emulator can count all instructions only where it is what executes them, one after the other."""
    if (said.trace or said.model) and not said.exact:
        raise UsageError("--trace and --model need --exact")
    models = lab.repo / "emulator/models"
    machine.model = said.model if "/" in said.model or not said.model else str(models / said.model)
    if machine.model and not os.path.isfile(machine.model):
        known = sorted(file.name for file in models.glob("*"))
        near = lab.guess(os.path.basename(machine.model), known)
        raise UsageError(f"--model is a file (with a / in its name) or one of {' '.join(known)}{near}")
    if said.trace and not TRACE.fullmatch(said.trace):
        raise UsageError(f"--trace needs FUNC or FUNC:N, not '{said.trace}'")
    machine.trace, machine.output = said.trace, said.output
    if not said.exact:
        return
    machine.output = said.output or "kprotperf.data"
    if machine.accel != "icount":
        raise UsageError(f"--exact needs --accel icount, not {machine.accel}")
    machine.exact = str(lab.repo / "build/emulator/exact.so")
    if not lab.has_kprotperf() or not os.path.isfile(machine.exact):
        raise LabError(f"{lab.kprotperf} or {machine.exact} is missing; build them with make")
    if not os.path.realpath(machine.output).startswith(os.path.realpath(".") + "/"):
        raise UsageError(f"-o {machine.output}: the guest can write to files below the current directory only")
