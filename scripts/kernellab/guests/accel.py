"""The accelerator that QEMU can use on this machine.

/dev/kvm may exist and never get a kernel past its boot. So a boot is tried once for each boot of the host and each QEMU.
"""

import os
import shutil
from pathlib import Path

from ..lab import Lab, join_lines, whole

ACCELERATORS = ("icount", "tcg", "mttcg", "kvm")
TRIAL_SECONDS = 10


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def machine_id() -> str:
    """Return one line for this boot of the host and this QEMU."""
    qemu = shutil.which("qemu-system-x86_64")
    found = os.stat(qemu) if qemu else None
    return f"{boot_id()} {found.st_size}.{int(found.st_mtime)}" if found else boot_id()


def trials(lab: Lab) -> list[str]:
    """Return the results so far, a line each."""
    file = lab.cache / "accel"
    return file.read_text().splitlines() if file.is_file() else []


def kvm_state(lab: Lab) -> str:
    """Return whether KVM works: yes, no or untried."""
    if not os.access("/dev/kvm", os.W_OK):
        return "no"
    found = dict(line.rpartition(" ")[::2] for line in trials(lab))
    return found.get(machine_id(), "untried")


def record_trial(lab: Lab, works: str) -> None:
    """Keep the result of a trial. Other QEMUs of this boot of the host keep theirs."""
    kept = [line for line in trials(lab) if line.startswith(boot_id() + " ")]
    with whole(lab.cache / "accel") as new:
        new.write_text(join_lines([*kept, f"{machine_id()} {works}"]))
