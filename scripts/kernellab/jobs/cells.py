"""A cell of a matrix: the results of `kprotperf why` and `kprotperf diff` for one workload and one protection."""

import json
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Sequence

from ..lab import Lab, remove, whole

CONTEXT = "name delta_total delta_total_low delta_total_high delta_pct significant cause protection".split()
NO_ANSWER = "the recordings cannot be compared"


@dataclass
class Cell:
    """A cell, made from recordings with the protection off and on. explained: they are exact, so `kprotperf why` reads them."""

    folder: Path
    row: str
    workload: str
    html: bool
    explained: bool
    reason: str = ""  # the reason why the cell cannot be made
    files: dict[str, list[str]] = field(default_factory=lambda: {"off": [], "on": []})

    def made_of(self) -> str:
        return f"{'yes' if self.html else 'no'} {' '.join([*self.files['off'], '--', *self.files['on']])}"

    def is_made(self) -> bool:
        """Return whether there is nothing to do: the cell is made from these recordings, or cannot be made for a known reason.
        Remove a cell that is made from other recordings."""
        boots = self.folder / "boots"
        if not self.reason and boots.is_file() and boots.read_text().strip() == self.made_of():
            return True
        remove(self.folder)
        return bool(self.reason)

    def make(self, lab: Lab) -> None:
        """Make the cell's folder, unless the recordings cannot be compared."""
        with suppress(subprocess.CalledProcessError), whole(self.folder) as part:
            part.mkdir(parents=True)
            (part / "boots").write_text(self.made_of() + "\n")
            for side, name in (("off", "baseline.data"), ("on", "hardened.data")):
                subprocess.run([lab.kprotperf, "merge", "-o", part / name, *self.files[side]], check=True)
            why = self.answer(lab, part, "why", "contexts") if self.explained else None
            content = self.describe(self.answer(lab, part, "diff", "workload"), why)
            (part / "cell.json").write_text(json.dumps(content) + "\n")
            for name in ("baseline.data", "hardened.data"):
                (part / name).unlink()

    def answer(self, lab: Lab, part: Path, command: str, section: str) -> Any:
        """Return a section of the JSON of `kprotperf COMMAND`. Write its HTML page too, if HTML is wanted."""

        def said(*words: str) -> bytes:
            full = [lab.kprotperf, command, *words, "baseline.data", "hardened.data"]
            done = subprocess.run(full, cwd=part, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            return bytes(done.stdout)

        if self.html:
            (part / f"{command}.html").write_bytes(said("--html"))
        return json.loads(said("--format=json", f"--section={section}"))

    def describe(self, diff: Any, why: Any) -> dict[str, Any]:
        command = next(one for one in diff["workload"] if one["name"] == "[command cpu]" and one["probed"] is False)
        low, high = command["ci_pct"] or (None, None)
        context = next((one for one in why["contexts"] if one["name"] == why["of"]), None) if why else None
        return {
            "protection": self.row,
            "workload": self.workload,
            "reason": None,
            "unit": diff["unit"],
            **{side: command[side]["mean"] for side in ("baseline", "hardened")},
            **{key: command.get(key) for key in ("delta", "delta_pct", "ci")},
            "ci_low_pct": low,
            "ci_high_pct": high,
            **{key: command.get(key) for key in ("verdict", "p")},
            "context": {key: context.get(key) if context else None for key in CONTEXT},
            "answer": why["answer"] if why else None,
            "warnings": diff["warnings"],
            "pages": "/".join(self.folder.parts[-2:]) if self.html else "",
        }

    def content(self) -> dict[str, Any]:
        """Return the cell's JSON. If there is none, return JSON with the reason."""
        file = self.folder / "cell.json"
        if not self.reason and file.is_file():
            found: dict[str, Any] = json.loads(file.read_text())
            return found
        return {"protection": self.row, "workload": self.workload, "reason": self.reason or NO_ANSWER}


def make_all(lab: Lab, cells: Sequence[Cell], at_a_time: int) -> None:
    # Import this only here: loading it takes a fifth of the time of `lab path`.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(at_a_time) as pool:
        try:
            for done in [pool.submit(cell.make, lab) for cell in cells]:
                done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
