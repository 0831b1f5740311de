"""Find out whether KVM works on this machine.

Even if /dev/kvm exists, a guest may hang while booting. So the lab tries a guest once per boot of the host and version of QEMU.
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
    """Return one line that identifies this boot of the host and this version of QEMU."""
    qemu = shutil.which("qemu-system-x86_64")
    found = os.stat(qemu) if qemu else None
    return f"{boot_id()} {found.st_size}.{int(found.st_mtime)}" if found else boot_id()


def trials(lab: Lab) -> list[str]:
    """Return the results of earlier trials, one line per trial."""
    file = lab.cache / "accel"
    return file.read_text().splitlines() if file.is_file() else []


def kvm_state(lab: Lab) -> str:
    """Return whether KVM works: yes, no or untried."""
    if not os.access("/dev/kvm", os.W_OK):
        return "no"
    found = dict(line.rpartition(" ")[::2] for line in trials(lab))
    return found.get(machine_id(), "untried")


def record_trial(lab: Lab, works: str) -> None:
    """Store the result of a trial. Keep results of this boot of the host with other QEMUs; drop those of earlier boots."""
    kept = [line for line in trials(lab) if line.startswith(boot_id() + " ")]
    with whole(lab.cache / "accel") as new:
        new.write_text(join_lines([*kept, f"{machine_id()} {works}"]))
