"""Which workloads reach the targets, how often, and at what cost: the project's, stress-ng's, and the user's command."""

import shutil
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Callable, Sequence

from ..lab import Lab, join_lines, output, quote
from .server import COMMAND_SECONDS, Hung, Server

ITERATIONS = 20
TEXT_MOST = 8000  # bytes of a program; include/kprotperf/calls.h has 8192
OPERATIONS, STRESS_SECONDS = 50, 5  # of each of stress-ng's stressors


@dataclass
class Reach:
    """What a workload executed: instructions of the kernel, those in targets and what they call, and entries of targets."""

    name: str
    kernel: int = 0
    target: int = 0
    entries: int = 0
    reason: str = ""  # the reason why there are no counts

    @property
    def percent(self) -> float:
        return 100 * self.target / max(self.kernel - self.target, 1)


def workloads(lab: Lab) -> dict[str, str]:
    """Return the project's workloads, by name, as command lines."""
    folder = lab.repo / "build/workloads"
    names = sorted(file.name for file in folder.iterdir() if file.name != "calls")
    return {name: f"{quote([folder / name])} --iterations {ITERATIONS}" for name in names}


def stressors() -> dict[str, str]:
    """Return stress-ng's stressors; none if it is not installed."""
    program = shutil.which("stress-ng")
    names = output([program, "--stressors"]).split() if program else []
    how = f"--{{0}}-ops {OPERATIONS} --timeout {STRESS_SECONDS} --temp-path /tmp"
    return {f"stress-ng {name}": f"{quote([program or ''])} --{name} 1 {how.format(name)}" for name in names}


def text(command: str) -> str:
    quoted = command.replace("\\", "\\\\").replace('"', '\\"')
    return f'sh "{quoted}"\n'


def count(server: Server, name: str, command: str) -> Reach:
    program = text(command)
    if len(program) >= TEXT_MOST:
        return Reach(name, reason=f"its command line has more than {TEXT_MOST} bytes")
    try:
        outcome = server.run(program, COMMAND_SECONDS)
    except Hung as hung:
        return Reach(name, reason=str(hung))
    if outcome.state or not outcome.steps:
        return Reach(name, reason="a signal ended it" if outcome.state == 2 else "it is no command line")
    step = outcome.steps[0]
    return Reach(name, step.kernel, step.target, step.entries, "it failed" if step.failed else "")


def count_all(servers: Sequence[Server], commands: dict[str, str], show: Callable[[str], None]) -> list[Reach]:
    """Count command lines in several guests at a time. Return those with the largest share first."""
    waiting, found = SimpleQueue[tuple[str, str]](), list[Reach]()
    for one in commands.items():
        waiting.put(one)

    def work(server: Server) -> None:
        while True:
            try:
                found.append(count(server, *waiting.get_nowait()))
            except Empty:
                return

    threads = [threading.Thread(target=work, args=(server,), daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        show(f"lab: {len(found)} of {len(commands)} workloads counted")
        for thread in threads:
            thread.join(0.5)
    return sorted(found, key=lambda one: (bool(one.reason), -one.percent, one.name))


def page(found: Sequence[Reach], what: str) -> str:
    """Return the table as text."""
    reached = [one for one in found if one.entries]
    lines = [f"{len(reached)} of {len(found)} workloads reach {what}."]
    if reached:
        lines += ["", f"{'WORKLOAD':<28} {'ENTRIES':>12} {'TARGET INSNS':>14} {'KERNEL INSNS':>15} {'TARGET':>9}"]
    for one in reached:
        share = f"+{one.percent:.2f} %"
        why = f"  ({one.reason})" if one.reason else ""
        lines.append(f"{one.name:<28} {one.entries:>12,} {one.target:>14,} {one.kernel:>15,} {share:>9}{why}")
    failed = [f"{one.name} ({one.reason})" for one in found if one.reason and not one.entries]
    lines += ["", f"Not counted: {', '.join(failed)}."] if failed else []
    return join_lines(lines)
