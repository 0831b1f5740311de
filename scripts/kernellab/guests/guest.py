"""Run one command in one guest. guest-init is the part that runs in the guest."""

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

from ..lab import STATUS_HANG, STATUS_LAB, STATUS_PANIC, STATUS_STATE, Lab, LabError, last_line, remove
from ..locks import Lock
from . import machine as told
from . import memory
from .machine import Machine
from .resume import going_on, saved_boot
from .share import qemu_path, running, shared
from .watch import ENDED, READER_GONE, SILENT, TIMEOUT, Clock, Output, wait

CONSOLES_KEPT = 20
CONSOLE_LINES = 15  # lines of the console to print if the guest panics or hangs
SEEDED_BITS = 128  # bits of entropy; from then on, Linux extracts no more random numbers directly from the entropy pool
UNSHARED = ("/", "/dev", "/dev/pts", "/proc", "/sys")
QEMU = ["-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot"]


class Guest:
    """A guest for one command."""

    def __init__(self, lab: Lab, machine: Machine, silent: bool = False) -> None:
        self.lab = lab
        self.machine = machine
        self.silent = silent  # discard the command's output and the lab's messages
        self.received: list[int] = []  # number of bytes of the command's output and errors
        self.opened = b""  # names of the files that the command opened, if the boot lists them
        self.cwd = os.path.realpath(".")
        self.control, self.console = Path(), Path()
        self.qemu = shutil.which("qemu-system-x86_64") or ""

    def run(self, command: Sequence[str]) -> int:
        """Boot the guest and run a command. Return the command's exit status, or a status of the lab's own (STATUS_...)."""
        self.check_cwd()
        with self.control_folder() as self.control:
            self.console = self.lab.cache / "logs" / f"console-{time.strftime('%Y%m%d-%H%M%S')}.{self.control.name}.log"
            self.console.write_bytes(b"")
            if self.machine.in_memory:
                self.fill_memory(command)
            (self.control / "mounts").write_bytes(told.mounts(self.lab, self.machine, self.cwd))
            (self.control / "config").write_bytes(os.fsencode(told.config(self.machine, self.cwd, command)))
            for name in ("out", "err"):
                os.mkfifo(self.control / name)
            outcome = self.boot()
            if self.machine.lists and (self.control / "opened").is_file():
                self.opened = (self.control / "opened").read_bytes()
            if not self.silent:
                self.resolve()
            status = self.judge(outcome)
            hidden = told.hidden_file(self.lab, self.cwd, command) if status else ""
            if hidden:
                own = "which has its own /tmp, /run and /dev/shm"
                self.note(f"{hidden} is not in the guest, {own}: move it below the current directory")
        self.keep_last_consoles()
        return status

    def note(self, text: str) -> None:
        if not self.silent:
            self.lab.note(text)

    def check_cwd(self) -> None:
        """Raise LabError if the current directory cannot be shared: the guest has its own /dev, and / must stay read-only."""
        if self.cwd in UNSHARED or self.cwd.startswith(("/dev/pts/", "/proc/", "/sys/")):
            raise LabError(f"the current directory {self.cwd} cannot be shared with a guest; change to another directory")
        if "\n" in self.cwd or '"' in self.cwd:
            raise LabError("the current directory has a quote or newline in its name")

    def fill_memory(self, command: Sequence[str]) -> None:
        """Write copies of the files that the command will read to the control folder. The guest copies them into memory."""
        if command[0] == self.lab.kprotperf and "--" in command:
            command = command[command.index("--") + 1 :]

        def find() -> bytes:
            seconds = min(self.machine.timeout, memory.LIST_SECONDS)
            finder = replace(self.machine, in_memory=False, lists=True, exact="", insmod=[], timeout=seconds)
            guest = Guest(self.lab, finder, silent=True)
            guest.run(command)
            return guest.opened

        paths = memory.listed(self.lab, self.cwd, command, find)
        if not paths:
            cost = "reading them, and the interrupts of that, are in its cost"
            self.note(f"it cannot be found which files the command reads; {cost}")
        with (self.control / "files").open("wb") as file:
            said = memory.write(paths, self.cwd, file)
        if said:
            self.note(said)

    @contextmanager
    def control_folder(self) -> Iterator[Path]:
        """Make the control folder. Remove control folders of killed labs, even in other containers: their locks are free."""
        runs = self.lab.cache / "runs"
        try:
            runs.mkdir(parents=True, exist_ok=True)
            (self.lab.cache / "logs").mkdir(exist_ok=True)
        except OSError as error:
            raise LabError(f"cannot create the cache {self.lab.cache}") from error
        for file in runs.glob("*/lock"):
            lock = Lock(file)
            if lock.take(seconds=0):
                remove(file.parent)
            lock.release()
        control = Path(tempfile.mkdtemp(dir=runs, prefix=""))
        # Take the lock before the rename: another lab would remove a folder with a free lock.
        held = Lock(control / "lock.new")
        held.take()
        (control / "lock.new").rename(control / "lock")
        try:
            yield control
        finally:
            remove(control)
            held.release()

    def keep_last_consoles(self) -> None:
        """Remove console logs, except the last CONSOLES_KEPT and those of running guests. Logs' names begin with the time."""
        logs = sorted((self.lab.cache / "logs").glob("console-*.log"))
        for log in logs[:-CONSOLES_KEPT]:
            if not (self.lab.cache / "runs" / log.stem.rpartition(".")[2]).exists():
                log.unlink(missing_ok=True)

    def resolve(self) -> None:
        """Add names and lines to the guest's recordings: in the guest, reading DWARF would take seconds. For --exact, make the
        recording from the counts of QEMU's plugin."""
        listed, control = self.control / "resolve", self.control
        if not listed.is_file() or not self.lab.has_kprotperf() or self.machine.serves:
            return
        if self.machine.exact:
            for line in (control / "qemu.log").read_text(errors="replace").splitlines():
                if line.startswith("exact: "):
                    self.note(line[len("exact: ") :])
            words = [self.lab.kprotperf, "exact", self.machine.output, str(control / "symbols"), str(control / "counts")]
            subprocess.run(words, check=False)
            return
        for path in sorted(set(listed.read_text(errors="surrogateescape").splitlines())):
            if path.startswith(self.cwd + "/") and os.path.isfile(path):
                subprocess.run([self.lab.kprotperf, "resolve", path], check=False)

    def boot(self) -> str:
        """Boot the guest or resume a saved boot. Return the reason for the end of the run: ENDED, TIMEOUT, SILENT or
        READER_GONE."""
        cache = "always" if self.machine.in_memory else "auto"
        with shared(self.lab, self.machine.share, self.cwd, self.control, cache) as sharing:
            # Open the FIFOs first, since QEMU opens them even to save a boot.
            outputs, words, saved = self.outputs(), self.arguments(sharing), None
            if self.machine.resume:
                saved = saved_boot(self.lab, self.qemu, words, self.machine)
            outcome = self.start(words, saved, outputs)
            if saved and outcome == ENDED and not (self.control / "booted").exists():
                if self.console.read_bytes() == (saved / "console").read_bytes():
                    # QEMU could not resume the guest: remove the saved boot, and boot in full.
                    remove(saved)
                    self.machine.resume = False
                    outcome = self.start(self.arguments(sharing), None, self.outputs())
            return outcome

    def arguments(self, sharing: Sequence[str]) -> list[str]:
        """Return QEMU's arguments, except those for the console and for a saved boot."""
        machine, hpet = self.machine, "off"
        words = [*QEMU, "-m", "2G", "-smp", str(machine.cpus), "-seed", machine.seed, "-kernel", str(machine.bzimage)]
        words += ["-initrd", str(machine.initramfs)] if machine.initramfs else []
        words += ["-append", told.kernel_command_line(self.lab, machine), *sharing, "-device", "virtio-serial-pci,max_ports=3"]
        for number, name in enumerate(("out", "err"), 1):
            words += ["-chardev", f"file,id={name},path={qemu_path(self.control / name)}"]
            words += ["-device", f"virtserialport,chardev={name},nr={number}"]
        more = "," + machine.cpu if machine.cpu else ""
        cpu = "max,-erms,-fsrm" + more
        if machine.accel == "icount":
            # With sleep=off, the clock of an idle guest jumps from timer to timer until the host answers. The interrupts of
            # these timers would feed a random generator that must stay unseeded.
            how = ["-accel", "tcg", "-cpu", cpu, "-icount", "shift=0,sleep=on", "-rtc", "clock=vm,base=2026-01-01"]
        elif machine.accel == "kvm":
            how = ["-accel", "kvm", "-cpu", "host" + more]
        else:
            # Calibrating the TSC by the PIT fails on a busy host. Give the kernel another clock.
            hpet = "on"
            how = ["-accel", f"tcg,thread={'single' if machine.accel == 'tcg' else 'multi'}", "-cpu", cpu]
        return [*words, "-machine", f"q35,sata=off,smbus=off,hpet={hpet},usb=off,graphics=off", *how]

    def plugin(self) -> list[str]:
        machine, where = self.machine, qemu_path(self.control)
        if not machine.exact:
            return []
        if machine.serves:
            files = ",".join(f"{name}={qemu_path(machine.serves)}/{name}" for name in ("targets", "from", "to"))
            return ["-plugin", f"{machine.exact},symbols={where}/symbols,{files}"]
        trace = f",trace={machine.trace}" if machine.trace else ""
        model = f",model={qemu_path(machine.model)}" if machine.model else ""
        return ["-plugin", f"{machine.exact},symbols={where}/symbols,out={where}/counts{trace}{model}"]

    def outputs(self) -> list[Output]:
        return [Output(self.control / name, target, self.silent) for target, name in enumerate(("out", "err"), 1)]

    def start(self, words: Sequence[str], saved: Path | None, outputs: list[Output]) -> str:
        """Start QEMU, and wait for its end. Return the reason why the run ended."""
        machine, control, console = self.machine, self.control, self.console
        serial = ["-chardev", f"file,id=console,path={qemu_path(console)},append=on", "-serial", "chardev:console"]
        words = [self.qemu, *words, *self.plugin(), *serial]
        try:
            with (control / "qemu.log").open("wb") as log:
                with going_on(saved, words, console, log) if saved else running(words, log) as process:
                    clock = Clock(process.pid, machine.timeout, machine.silence, console, control / "booted")
                    outcome = wait(process, outputs, clock, control)
            self.received = [one.received for one in outputs]
            return outcome
        finally:
            for one in outputs:
                one.close()

    def judge(self, outcome: str) -> int:
        """Return the run's exit status. If the status is one of the lab's own, print the reason."""
        file = self.control / "status"
        word, _, rest = (file.read_text().splitlines() or [""])[0].partition(" ") if file.is_file() else ("", "", "")
        text = self.console.read_text(errors="replace").replace("\r", "")
        panic = re.search(r"BUG: .*", text) or re.search(r"Kernel panic.*", text)
        shown = CONSOLE_LINES
        if word == "exit":
            return self.judge_exit(rest, text, outcome)
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
            log = last_line((self.control / "qemu.log").read_text(errors="replace"))
            status, said, shown = STATUS_LAB, f"QEMU exited before the guest: {log or 'no reason given'}", 0
        self.note(f"{said} (console: {self.console})")
        if not self.silent:
            lines = text.splitlines()[-shown:] if shown else []
            os.write(2, "".join(f"  | {line}\n" for line in lines).encode(errors="replace"))
        return status

    def judge_exit(self, rest: str, text: str, outcome: str) -> int:
        # Search WARNING only at the start of a message. Elsewhere it is about vulnerabilities of the CPU.
        if re.search(r"(^|\] )WARNING: |BUG: |KASAN: |INFO: possible|Call Trace:", text, re.MULTILINE):
            self.note(f"the guest's kernel printed a warning: {self.console}")
        status, bits, *sent = rest.split()
        lost = sum(map(int, sent)) - sum(self.received)
        if sent and lost and outcome == ENDED:
            self.note(f"{lost} bytes of the command's output are lost: the host was too busy to take them; run it again")
        if self.machine.unseeded() and int(bits) >= SEEDED_BITS:
            self.note("the random generator did not stay unseeded; see docs/internals/lab.md")
        return int(status)
