"""Which accelerator QEMU can use on this machine.

/dev/kvm may exist and never get a kernel past its boot, so only a boot that ran a program counts. It is tried once for each
boot of the host and each QEMU; the file `accel` in the cache says what was found.
"""

import os
import shutil
from pathlib import Path
from typing import Callable

from ..lab import Lab

ACCELERATORS = ("icount", "tcg", "mttcg", "kvm")
TRIAL_SECONDS = 10


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def machine_id() -> str:
    """Returns one line for this boot of the host and this QEMU."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        return boot_id()
    found = os.stat(qemu)
    return f"{boot_id()} {found.st_size}.{int(found.st_mtime)}"


def kvm_state(lab: Lab) -> str:
    """Returns whether KVM works: yes, no or untried."""
    if not os.access("/dev/kvm", os.W_OK):
        return "no"
    file = lab.cache / "accel"
    lines = file.read_text().splitlines() if file.is_file() else []
    known = [line.rpartition(" ")[2] for line in lines if line.rpartition(" ")[0] == machine_id()]
    return known[-1] if known else "untried"


def choose(lab: Lab, cpus: int, boots: Callable[[], bool]) -> str:
    """Returns the best accelerator that works; boots tries a boot with KVM."""
    works = kvm_state(lab)
    if works == "untried":
        lab.note(f"checking whether KVM works on this machine (once, up to {TRIAL_SECONDS} s)")
        works = "yes" if boots() else "no"
        if works == "no":
            lab.note("/dev/kvm exists but cannot boot a kernel; using --accel icount")
        file = lab.cache / "accel"
        # A line for each QEMU of this boot: another one in PATH makes nobody try this one again.
        kept = [line for line in (file.read_text().splitlines() if file.is_file() else []) if line.startswith(boot_id() + " ")]
        new = file.with_name(f"accel.{os.getpid()}")
        new.write_text("".join(line + "\n" for line in [*kept, f"{machine_id()} {works}"]))
        new.rename(file)
    if works == "yes":
        return "kvm"
    return "tcg" if cpus > 1 else "icount"  # icount has one CPU
