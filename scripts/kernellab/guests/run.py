"""`lab run`: read the options, and choose the kernel and the accelerator."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Sequence

from ..kernels import module
from ..kernels.definitions import Kernels
from ..lab import Lab, LabError, Options, UsageError, number, read_options
from . import accel, host
from .guest import Guest
from .machine import Machine

VALUED = "--on --kernel --bzimage --accel --cpus --cpu --append --timeout --seed --trace --model --insmod -o --serve"
FLAGS = "--exact --resume --in-memory"
NOT_ON_HOST = "--bzimage --accel --cpus --cpu --insmod --exact --trace --model".split()


def command(kernels: Kernels, words: list[str]) -> None:
    """Execute `lab run`."""
    lab = kernels.lab
    said = read_options(lab, "run", words, VALUED, FLAGS, first_word_ends=True)
    if not words:
        raise UsageError("run needs a command")
    if said.get("--kernel") and said.get("--bzimage"):
        raise UsageError("--kernel and --bzimage are mutually exclusive")
    check_seconds("--timeout", said.get("--timeout", "600"))
    if not re.fullmatch("[0-9]+", said.get("--seed", "1")):
        raise UsageError(f"--seed needs a number, not '{said.get('--seed')}'")
    if said.get("--on"):
        raise SystemExit(run_on_host(lab, said, words))
    machine = choose(kernels, said)
    if machine.exact:
        words = [lab.kprotperf, "record", "--exact", "-o", machine.output, "--", *words]
    raise SystemExit(Guest(lab, machine).run(words))


def check_seconds(what: str, text: str) -> int:
    if not re.fullmatch("[1-9][0-9]*", text):
        raise UsageError(f"{what} needs whole seconds, not '{text}'")
    return int(text)


def run_on_host(lab: Lab, said: Options, words: Sequence[str]) -> int:
    machine = host.Host(lab, host.host_of(said.get("--on")), int(said.get("--timeout", "600")))
    if not said.get("--kernel"):
        raise UsageError("--on needs --kernel, the name of one in HOST's /boot")
    if any(map(said.has, NOT_ON_HOST)):
        takes = "--kernel, --append, --timeout and -o"
        raise UsageError(f"--on runs CMD on a real machine: of the options of run it takes {takes}")
    return host.run(machine, said.get("--kernel"), said.get("--append"), said.get("-o"), words)


def choose(kernels: Kernels, said: Options) -> Machine:
    """Return the machine that the options describe."""
    silence = check_seconds("KPROTPERF_LAB_SILENCE", os.environ.get("KPROTPERF_LAB_SILENCE") or "60")
    name, wanted = said.get("--kernel") or ("" if said.get("--bzimage") else "hardened"), dict[str, str]()
    if name:
        machine = lab_kernel(kernels, name)
        # The kernel's fragment may have a line of default options for `lab run`: `# run: ...`.
        words = kernels.inherited(name, "run").split()
        wanted = dict(zip(words[::2], words[1::2]))
    else:
        machine = any_kernel(kernels.lab, said.get("--bzimage"))
    machine.timeout, machine.silence, machine.seed = int(said.get("--timeout", "600")), silence, said.get("--seed", "1")
    machine.cpu, machine.append = said.get("--cpu"), said.get("--append")
    machine.accel = said.get("--accel") or wanted.get("--accel", "")
    cpus = "" if machine.accel == "icount" else wanted.get("--cpus", "")
    machine.cpus = number(said.get("--cpus") or cpus or "1", "--cpus")
    choose_accel(kernels.lab, machine)
    # With other accelerators, the clock continues between saving and resuming. QEMU cannot save a guest that uses virtiofs.
    machine.resume = said.has("--resume") and machine.accel == "icount" and not machine.initramfs
    machine.in_memory = said.has("--in-memory")
    for file in said.all("--insmod"):
        if os.path.isdir(file) and not name:
            raise UsageError("--insmod with a folder needs --kernel")
        machine.insmod += map(str, module.build(kernels, name, file)) if os.path.isdir(file) else [file]
    choose_exact(kernels.lab, machine, said)
    return machine


def any_kernel(lab: Lab, file: str) -> Machine:
    if not os.access(file, os.R_OK):
        raise LabError(f"cannot read the kernel {file}")
    bzimage = Path(os.path.realpath(file))
    beside, given = bzimage.parent / "vmlinux", os.environ.get("KPROTPERF_VMLINUX")
    vmlinux = beside if beside.exists() else Path(given) if given else None
    if vmlinux:
        lab.make_index(vmlinux, beside=False)
    return Machine(bzimage, vmlinux)


def lab_kernel(kernels: Kernels, name: str) -> Machine:
    folder = kernels.known_dir(name)
    machine = Machine(folder / "bzImage")
    if (folder / "vmlinux").is_file():
        machine.vmlinux = folder / "vmlinux"
        kernels.lab.make_index(machine.vmlinux, beside=True)
    if (folder / "initramfs").is_file():
        machine.initramfs = folder / "initramfs"
        machine.share = (folder / "share").read_text().strip()
    return machine


def choose_accel(lab: Lab, machine: Machine) -> None:
    if not shutil.which("qemu-system-x86_64"):
        raise LabError("qemu-system-x86_64 is not installed; install it with scripts/setup --for=lab")
    if not shutil.which("perl"):
        raise LabError("perl is not installed; the guest needs it to carry output")
    machine.accel = machine.accel or best_accel(lab, machine)
    if machine.accel not in accel.ACCELERATORS:
        raise UsageError(f"--accel is icount, tcg, mttcg or kvm, not '{machine.accel}'")
    if machine.accel == "icount" and machine.cpus > 1:
        raise UsageError(f"--accel icount has one CPU (more hang in QEMU); for --cpus {machine.cpus} use --accel tcg")


def best_accel(lab: Lab, machine: Machine) -> str:
    """Return the best accelerator that works. Try a boot with KVM once."""
    works = accel.kvm_state(lab)
    if works == "untried":
        lab.note(f"checking whether KVM works on this machine (once, up to {accel.TRIAL_SECONDS} s)")
        trial = replace(machine, accel="kvm", append="", seed="1", cpu="", cpus=1, timeout=accel.TRIAL_SECONDS)
        works = "yes" if Guest(lab, trial, silent=True).run(["true"]) == 0 else "no"
        if works == "no":
            lab.note("/dev/kvm exists but cannot boot a kernel; using --accel icount")
        accel.record_trial(lab, works)
    if works == "yes":
        return "kvm"
    return "tcg" if machine.cpus > 1 else "icount"  # icount has one CPU


def choose_exact(lab: Lab, machine: Machine, said: Options) -> None:
    """Check the options of --exact. --exact needs icount, where the emulator executes one instruction after the other."""
    machine.trace, model = said.get("--trace"), said.get("--model")
    if (machine.trace or model) and not said.has("--exact"):
        raise UsageError("--trace and --model need --exact")
    models = lab.repo / "emulator/models"
    machine.model = model if "/" in model or not model else str(models / model)
    if model and not os.path.isfile(machine.model):
        known = sorted(file.name for file in models.glob("*"))
        near = lab.guess(os.path.basename(model), known)
        raise UsageError(f"--model is a file (with a / in its name) or one of {' '.join(known)}{near}")
    if machine.trace and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*(:[1-9][0-9]*)?", machine.trace):
        raise UsageError(f"--trace needs FUNC or FUNC:N, not '{machine.trace}'")
    machine.serves = said.get("--serve")
    if not said.has("--exact") and not machine.serves:
        return
    machine.output = said.get("-o") or "kprotperf.data"
    if machine.accel != "icount":
        raise UsageError(f"--exact needs --accel icount, not {machine.accel}")
    machine.exact = str(lab.repo / "build/emulator" / ("explore.so" if machine.serves else "exact.so"))
    if not lab.has_kprotperf() or not os.path.isfile(machine.exact):
        raise LabError(f"{lab.kprotperf} or {machine.exact} is missing; build them with make")
    if not os.path.realpath(machine.output).startswith(os.path.realpath(".") + "/"):
        raise UsageError(f"-o {machine.output}: the guest can write to files below the current directory only")
