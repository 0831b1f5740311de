"""One command in one guest.

    runs/XXXXXXXX/       control folder of a run, shared with the guest as "lab"
    logs/console-*.log   the guest kernels' consoles, the last 20

The guest's side is guest-init.
"""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Iterator, Sequence

from ..lab import STATUS_HANG, STATUS_LAB, STATUS_PANIC, STATUS_STATE, Lab, LabError, last_line, outliving_nobody, remove
from . import machine as told
from . import memory
from .machine import Machine
from .resume import Saved
from .share import Share, qemu_path
from .watch import ENDED, READER_GONE, SILENT, TIMEOUT, Clock, Output, wait

CONSOLES_KEPT = 20
CONSOLE_LINES = 15  # that are printed when a kernel panics
SEEDED_BITS = 128  # end the state in which each random number is extracted from the pool anew
UNSHARED = ("/", "/dev", "/dev/pts", "/proc", "/sys")
QEMU = ["-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot"]


class Guest:
    """A guest for one command."""

    def __init__(self, lab: Lab, machine: Machine, silent: bool = False) -> None:
        self.lab = lab
        self.machine = machine
        self.silent = silent  # a trial
        self.received: list[int] = []  # bytes of the command's output and errors
        self.opened = b""  # the files that the command opened, in a boot that lists them
        self.qemu = shutil.which("qemu-system-x86_64") or ""

    def run(self, command: Sequence[str]) -> int:
        """Boots and runs a command. Returns its status, or one of the lab's own."""
        cwd = os.path.realpath(".")
        check_cwd(cwd)
        with self.control_folder() as control:
            console = self.lab.cache / "logs" / f"console-{time.strftime('%Y%m%d-%H%M%S')}.{control.name}.log"
            console.write_bytes(b"")
            if self.machine.in_memory:
                self.fill_memory(control, cwd, command)
            (control / "mounts").write_bytes(told.mounts(self.lab, self.machine, cwd))
            text = told.config(self.machine, cwd, command)
            (control / "config").write_bytes(os.fsencode(text))
            for name in ("out", "err"):
                os.mkfifo(control / name)
            outcome = self.boot(cwd, control, console)
            if self.machine.lists and (control / "opened").is_file():
                self.opened = (control / "opened").read_bytes()
            if not self.silent:
                self.resolve(control, cwd)
            status = self.judge(outcome, control, console)
            hidden = told.hidden_file(self.lab, cwd, command) if status else ""
            if hidden:
                own = "which has its own /tmp, /run and /dev/shm"
                self.note(f"{hidden} is not in the guest, {own}: move it below the current directory")
        self.keep_last_consoles()
        return status

    def note(self, text: str) -> None:
        if not self.silent:
            self.lab.note(text)

    # --- files -----------------------------------------------------------------

    def fill_memory(self, control: Path, cwd: str, command: Sequence[str]) -> None:
        """Puts what the command will read where the guest takes it into its memory."""
        if command[0] == self.lab.kprotperf and "--" in command:
            command = command[command.index("--") + 1 :]

        def find() -> bytes:
            seconds = min(self.machine.timeout, memory.LIST_SECONDS)
            finder = replace(self.machine, in_memory=False, lists=True, exact="", insmod=[], timeout=seconds)
            guest = Guest(self.lab, finder, silent=True)
            guest.run(command)
            return guest.opened

        paths = memory.listed(self.lab, cwd, command, find)
        if not paths:
            self.note(
                "it cannot be found which files the command reads; reading them, and the interrupts of that, are in its cost"
            )
        with (control / "files").open("wb") as file:
            said = memory.write(paths, cwd, file)
        if said:
            self.note(said)

    @contextmanager
    def control_folder(self) -> Iterator[Path]:
        """Makes the control folder, marked as in use by a lock, which another container sharing the cache can see, too; and
        removes those of runs whose lab was killed."""
        runs = self.lab.cache / "runs"
        try:
            runs.mkdir(parents=True, exist_ok=True)
            (self.lab.cache / "logs").mkdir(exist_ok=True)
        except OSError as error:
            raise LabError(f"cannot create the cache {self.lab.cache}") from error
        for lock in runs.glob("*/lock"):
            if try_lock(lock):
                remove(lock.parent)
        control = Path(tempfile.mkdtemp(dir=runs, prefix=""))
        # Locked before it gets its name, so that nobody sees it unlocked.
        with (control / "lock.new").open("wb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            (control / "lock.new").rename(control / "lock")
            try:
                yield control
            finally:
                remove(control)

    def keep_last_consoles(self) -> None:
        """Keeps the last 20, and those of what still runs, whatever has ended since."""
        # They begin with the time.
        logs = sorted((self.lab.cache / "logs").glob("console-*.log"))
        for log in logs[:-CONSOLES_KEPT]:
            if not (self.lab.cache / "runs" / log.stem.rpartition(".")[2]).exists():
                log.unlink(missing_ok=True)

    def resolve(self, control: Path, cwd: str) -> None:
        """Puts names and lines into the files that kprotperf wrote in the guest and listed: reading DWARF there would cost the
        guest seconds of its own time. What it wrote elsewhere ended with the guest."""
        listed = control / "resolve"
        if not listed.is_file() or not self.lab.has_kprotperf():
            return
        if self.machine.exact:
            for line in (control / "qemu.log").read_text(errors="replace").splitlines():
                if line.startswith("exact: "):
                    self.note(line[len("exact: ") :])
            words = [self.lab.kprotperf, "exact", self.machine.output, str(control / "symbols"), str(control / "counts")]
            subprocess.run(words, cwd=cwd, check=False)
            return
        for path in sorted(set(listed.read_text(errors="surrogateescape").splitlines())):
            if path.startswith(cwd + "/") and os.path.isfile(path):
                subprocess.run([self.lab.kprotperf, "resolve", path], check=False)

    # --- QEMU ------------------------------------------------------------------

    def boot(self, cwd: str, control: Path, console: Path) -> str:
        """Boots, or goes on from a saved boot, and waits. Returns what ended it."""
        share = Share(self.lab, self.machine.share, cwd, control, "always" if self.machine.in_memory else "auto")
        try:
            outputs, saved = self.outputs(control), None
            if self.machine.resume:
                saved = Saved.find(self.lab, self.qemu, self.arguments(share, control), self.machine)
            outcome = self.start(share, control, console, saved, outputs)
            if saved and outcome == ENDED and not (control / "booted").exists() and console.read_bytes() == saved.console():
                # QEMU did not run the guest that it was to go on with.
                remove(saved.folder)
                self.machine.resume = False
                outcome = self.start(share, control, console, None, self.outputs(control))
            return outcome
        finally:
            share.end()

    def arguments(self, share: Share, control: Path) -> list[str]:
        """Returns QEMU's, but for the console and what a saved boot adds."""
        machine = self.machine
        words = [*QEMU, "-m", "2G", "-smp", str(machine.cpus), "-seed", machine.seed, "-kernel", str(machine.bzimage)]
        if machine.initramfs:
            words += ["-initrd", str(machine.initramfs)]
        words += [
            "-append",
            told.kernel_command_line(self.lab, machine),
            *share.arguments,
            "-device",
            "virtio-serial-pci,max_ports=3",
        ]
        for number, name in enumerate(("out", "err"), 1):
            words += ["-chardev", f"file,id={name},path={qemu_path(control / name)}"]
            words += ["-device", f"virtserialport,chardev={name},nr={number}"]
        hpet = "off"
        cpu = "max,-erms,-fsrm" + ("," + machine.cpu if machine.cpu else "")
        if machine.accel == "icount":
            # sleep=on: while the guest idles its clock follows the host's. With sleep=off it would jump from timer to timer as
            # long as the host takes to answer, 20 s in a boot on a busy one, and the interrupts of these timers feed a random
            # generator that is to stay unseeded.
            how = ["-accel", "tcg", "-cpu", cpu, "-icount", "shift=0,sleep=on", "-rtc", "clock=vm,base=2026-01-01"]
        elif machine.accel == "kvm":
            how = ["-accel", "kvm", "-cpu", "host" + ("," + machine.cpu if machine.cpu else "")]
        else:
            # The kernel calibrates the TSC by the PIT, which fails on a busy host. With an HPET it has another clock to
            # calibrate by, and to use instead; else its ticks are all it has.
            hpet = "on"
            how = ["-accel", f"tcg,thread={'single' if machine.accel == 'tcg' else 'multi'}", "-cpu", cpu]
        return [*words, "-machine", f"q35,sata=off,smbus=off,hpet={hpet},usb=off,graphics=off", *how]

    def plugin(self, control: Path) -> list[str]:
        machine, where = self.machine, qemu_path(control)
        if not machine.exact:
            return []
        trace = f",trace={machine.trace}" if machine.trace else ""
        model = f",model={qemu_path(machine.model)}" if machine.model else ""
        return ["-plugin", f"{machine.exact},symbols={where}/symbols,out={where}/counts{trace}{model}"]

    def outputs(self, control: Path) -> list[Output]:
        return [Output(control / name, target, self.silent) for target, name in enumerate(("out", "err"), 1)]

    def start(self, share: Share, control: Path, console: Path, saved: Saved | None, outputs: list[Output]) -> str:
        """Starts QEMU and waits for its end. Nothing outlives the lab, should that be killed. QEMU does not get the lab's
        output: it would keep a reader of that waiting."""
        serial = ["-chardev", f"file,id=console,path={qemu_path(console)},append=on", "-serial", "chardev:console"]
        words = [self.qemu, *self.arguments(share, control), *self.plugin(control), *serial]
        process = None
        try:
            with (control / "qemu.log").open("wb") as log:
                if saved:
                    process = saved.go_on(words, console, log)
                else:
                    process = subprocess.Popen(outliving_nobody(words), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            clock = Clock(process.pid, self.machine.timeout, self.machine.silence, console, control / "booted")
            outcome = wait(process, outputs, clock)
            self.received = [one.received for one in outputs]
            return outcome
        finally:
            if process:
                process.kill()
                process.wait()
            for one in outputs:
                one.close()

    # --- the end ---------------------------------------------------------------

    def judge(self, outcome: str, control: Path, console: Path) -> int:
        """Returns the run's status, having said why it is one of the lab's own."""
        file = control / "status"
        word, _, rest = (file.read_text().splitlines() or [""])[0].partition(" ") if file.is_file() else ("", "", "")
        text = console.read_text(errors="replace").replace("\r", "")
        panic = re.search(r"BUG: .*", text) or re.search(r"Kernel panic.*", text)
        shown = CONSOLE_LINES
        if word == "exit":
            return self.judge_exit(rest, text, console, outcome)
        if outcome == READER_GONE and word != "error":
            return 141
        if word == "error":
            status, said, shown = STATUS_STATE, f"the guest did not reach its known state: {rest}", 0
        elif re.search(r"Kernel panic|Oops: |BUG: unable to handle", text):
            status, said = STATUS_PANIC, f"the guest's kernel panicked: {panic[0] if panic else ''}"
        elif outcome == TIMEOUT:
            within = f"within {self.machine.timeout} s and was stopped; see --timeout"
            status, said = STATUS_HANG, f"the guest did not finish {within}"
        elif outcome == SILENT:
            during = f'its kernel stopped during boot, after "{last_line(text)}"'
            status, said = STATUS_STATE, f"the guest did not reach its known state: {during}"
        else:
            log = last_line((control / "qemu.log").read_text(errors="replace"))
            status, said, shown = STATUS_LAB, f"QEMU exited before the guest: {log or 'no reason given'}", 0
        self.note(f"{said} (console: {console})")
        if not self.silent:
            lines = text.splitlines()[-shown:] if shown else []
            os.write(2, "".join(f"  | {line}\n" for line in lines).encode(errors="replace"))
        return status

    def judge_exit(self, rest: str, text: str, console: Path, outcome: str) -> int:
        # At the start of a message: elsewhere it is about the CPU.
        if re.search(r"(^|\] )WARNING: |BUG: |KASAN: |INFO: possible|Call Trace:", text, re.MULTILINE):
            self.note(f"the guest's kernel printed a warning: {console}")
        status, bits, *sent = rest.split()
        lost = sum(map(int, sent)) - sum(self.received)
        if sent and lost and outcome == ENDED:
            self.note(f"{lost} bytes of the command's output are lost: the host was too busy to take them; run it again")
        if self.machine.unseeded() and int(bits) >= SEEDED_BITS:
            self.note("the random generator did not stay unseeded; see docs/internals/lab.md")
        return int(status)


def check_cwd(cwd: str) -> None:
    """Raises LabError where the current directory cannot be shared. The guest has its own /proc, /sys and /dev, and / shared
    writable would be the host's root."""
    if cwd in UNSHARED or cwd.startswith(("/dev/pts/", "/proc/", "/sys/")):
        raise LabError(f"the current directory {cwd} cannot be shared with a guest; change to another directory")
    if "\n" in cwd or '"' in cwd:
        raise LabError("the current directory has a quote or newline in its name")


def try_lock(path: Path) -> bool:
    """Returns whether nobody holds the lock of a run."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except OSError:  # it is held, or gone by now
        return False
