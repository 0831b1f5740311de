"""A description of a guest, and its mounts, configuration and kernel command line."""

import hashlib
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

from ..lab import Lab, join_lines, quote, whole

# Folders that the guest has of its own, instead of the host's.
HIDDEN = ("/tmp", "/run", "/dev/shm")
PASSED = re.compile(r"PATH|HOME|LANG|LC_.*|TZ|USER|LOGNAME|SHELL|NO_COLOR|XDG_CACHE_HOME|KPROTPERF|KPROTPERF_.*|.*SAN_OPTIONS")
UNSET = "TERM BOOT_IMAGE lab_share lab_root_options lab_init PERL_HASH_SEED PERL_INTERNAL_RAND_SEED"
MOUNTS = """\
proc /proc proc nosuid,nodev,noexec
sysfs /sys sysfs nosuid,nodev,noexec
tracefs /sys/kernel/tracing tracefs nosuid,nodev,noexec
debugfs /sys/kernel/debug debugfs nosuid,nodev,noexec
bpf /sys/fs/bpf bpf nosuid,nodev,noexec
cgroup2 /sys/fs/cgroup cgroup2 nosuid,nodev,noexec
devtmpfs /dev devtmpfs nosuid,mode=755
devpts /dev/pts devpts nosuid,noexec,gid=5,mode=620,ptmxmode=666
tmpfs /dev/shm tmpfs nosuid,nodev
tmpfs /run tmpfs nosuid,nodev,mode=755
tmpfs /tmp tmpfs nosuid,nodev,mode=1777
/sys/lab /run/lab none bind
"""


@dataclass
class Machine:
    """A description of a guest."""

    bzimage: Path
    vmlinux: Path | None = None
    initramfs: Path | None = None
    share: str = "9p"  # the file system for the host's files: 9p or virtiofs
    accel: str = ""
    cpus: int = 1
    cpu: str = ""
    append: str = ""
    timeout: int = 600
    silence: int = 60
    seed: str = "1"
    insmod: list[str] = field(default_factory=list)
    resume: bool = False
    exact: str = ""  # path of the emulator's plugin that counts instructions
    serves: str = ""  # folder with the targets and FIFOs of the plugin that serves programs, which EXACT is then
    trace: str = ""
    model: str = ""
    output: str = ""
    in_memory: bool = False  # copy the files that the command reads into the guest's memory
    lists: bool = False  # list the files that the command opens

    def unseeded(self) -> bool:
        """Return whether the kernel's random generator must stay unseeded."""
        return bool(re.search(r" random\.trust_cpu=(off|0|n|N|f|F) ", f" {self.append} "))


def is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def share_options(share: str, cache: str) -> tuple[str, str]:
    """Return the file system and its mount options. With cache=mmap, files can be mapped, and writes go to the host at once, as
    without a cache. virtiofs always writes through."""
    if share == "9p":
        return "9p", f"trans=virtio,version=9p2000.L,cache={cache},msize=512000"
    return "virtiofs", "defaults"


def cwd_mounts(machine: Machine, cwd: str) -> list[tuple[str, str, str, str]]:
    """Return the mounts of the current directory: a share, cached if in_memory is set; with `lists`, an overlay on a share."""
    if machine.lists:
        kind, how = share_options(machine.share, "loose")
        layers = "lowerdir=/sys/cwd,upperdir=/sys/cwd-upper,workdir=/sys/cwd-work"
        return [("cwd", "/sys/cwd", kind, how + ",ro"), ("overlay", "/sys/root" + cwd, "overlay", layers)]
    return [("cwd", "/sys/root" + cwd, *share_options(machine.share, "loose" if machine.in_memory else "mmap"))]


def mounts(lab: Lab, machine: Machine, cwd: str) -> bytes:
    """Return the guest's mounts, in the order in which guest-init makes them."""
    layers = "lowerdir=/sys/files:/" if machine.in_memory else "lowerdir=/"
    found = [("overlay", "/sys/root", "overlay", layers + ",upperdir=/sys/upper,workdir=/sys/work")]
    found += [(one[0], "/sys/root" + one[1], one[2], one[3]) for one in map(str.split, MOUNTS.splitlines())]
    # The command needs the kernel's symbols, their index and this repository. Mount them if /tmp or /run hides them.
    index = os.environ.get("KPROTPERF_CACHE") or (os.environ.get("XDG_CACHE_HOME") or f"{Path.home()}/.cache") + "/kprotperf"
    for folder in [str(lab.repo), *([str(machine.vmlinux.parent)] if machine.vmlinux else []), f"{index}/index"]:
        if os.path.isdir(folder) and is_below(folder + "/", HIDDEN):
            found.append((folder, "/sys/root" + folder, "none", "bind,ro"))
    if machine.initramfs:
        # Mount the kernel's own configuration and modules over the host's.
        for folder in ("/boot", "/lib/modules"):
            found.append((f"{machine.initramfs.parent}{folder}", "/sys/root" + folder, "none", "bind,ro"))
    words = [word for mount in [*found, *cwd_mounts(machine, cwd)] for word in mount]
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def config(machine: Machine, cwd: str, command: Sequence[str]) -> str:
    """Return the content of the file `config` for guest-init: a shell script."""
    # Under icount, demand the TSC as clock. With other accelerators the kernel may choose any clock.
    clock = "tsc" if machine.accel == "icount" and " clocksource=" not in " " + machine.append else ""
    lines = [f"lab_wait_random={int(not machine.unseeded())}", f"lab_clock={clock}", f"lab_lists={int(machine.lists)}"]
    lines += [f"lab_keeps_output={int(machine.in_memory)}", "lab_command() {", f"unset {UNSET}"]
    env = {name: value for name, value in os.environ.items() if PASSED.fullmatch(name)}
    if machine.vmlinux:
        env["KPROTPERF_VMLINUX"] = str(machine.vmlinux)
    if machine.vmlinux or machine.exact:
        env["KPROTPERF_RESOLVE_LATER"] = "/run/lab/resolve"
    if machine.exact:
        env["KPROTPERF_EXACT"] = "/run/lab/symbols"
    if machine.model:
        env["KPROTPERF_EXACT_OBJECTS"] = "/run/lab/symbols.objects"
    lines += [f"export {name}={quote([value])}" for name, value in env.items()]
    lines.append(f"cd {quote([cwd])} || exit 126")
    lines += [f"insmod -- {quote([name])} || exit 126" for name in machine.insmod]
    lines += [f"exec setsid -- {quote(command)}", "}"]
    return join_lines(lines)


def guest_init(lab: Lab) -> Path:
    """Return the path of a copy of guest-init in the cache. Saved boots contain the path, so clones must share the copy."""
    init = lab.data / "guests/guest-init"
    file = lab.cache / "resume" / f"init-{hashlib.sha256(init.read_bytes()).hexdigest()[:16]}"
    if not os.access(file, os.X_OK):
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole(file) as new:
            shutil.copy(init, new)
    return file


def kernel_command_line(lab: Lab, machine: Machine) -> str:
    words = ["console=ttyS0 panic=-1 oops=panic hostname=lab no5lvl"]
    init = guest_init(lab)
    if machine.initramfs:
        words.append(f'lab_share={machine.share} lab_root_options={share_options(machine.share, "loose")[1]} lab_init="{init}"')
    else:
        words.append(f'root=/dev/root rootfstype=9p ro rootflags={share_options("9p", "loose")[1]} init="{init}"')
    if machine.resume:
        words.append("rootdelay=1")
    words.append("random.trust_cpu=on PERL_HASH_SEED=0 PERL_INTERNAL_RAND_SEED=1")
    if machine.accel == "icount":
        # The TSC counts QEMU's virtual nanoseconds. Calibration against another timer would miss its exact 1 GHz.
        words.append("tsc=reliable tsc_early_khz=1000000 pmtmr=0 no_timer_check")
        # Calibrating the local APIC's timer takes 10 s of the host's time; the PIT needs no calibration.
        words.append("nolapic_timer")
        # Randomized addresses of mappings would make a page fault of 4,217 instructions vary by 134.
        words.append("norandmaps kprotperf.clock=icount")
    elif machine.accel.endswith("tcg"):
        words.append("tsc=reliable no_timer_check")
    if machine.in_memory:
        words.append("kprotperf.files=memory")  # recordings contain this, so `diff` shows if only one side has it
    return " ".join([*words, machine.append])


def hidden_file(lab: Lab, cwd: str, command: Sequence[str]) -> str:
    """Return a file in the command line that the guest's own folders (HIDDEN) hide, or ""."""
    inside: list[str] = re.findall(r"/(?:tmp|run|dev/shm)/[^][ \"'`$;:,|&<>(){}=]+", " ".join(command))
    programs = [shutil.which(word) or word for word in command]
    for word in [*command, *programs, *inside]:
        if os.path.exists(word):
            path = os.path.realpath(word)
            ours = is_below(path, [cwd, str(lab.repo)]) or is_below(cwd + "/", [path])
            if not ours and is_below(path, HIDDEN):
                return path
    return ""
