#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""lab why --range finds the commit that causes a cost: it builds, boots and prints the right things. All programs but git are
stand-ins (programs.py): a kernel's cost is in its file `cost`. inside.t tests the search itself, with costs that vary."""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from programs import Programs  # noqa: E402
from tap import done, is_, like  # noqa: E402


class Costs(Programs):
    compiled = 0  # number of builds

    def compile(self, src: Path, obj: Path) -> int:
        cost = (src / "cost").read_text()
        self.compiled += 1
        if "broken" in cost:
            print("cost:1: error: broken")
            return 2
        (obj / "vmlinux").write_text(cost)
        return 0

    def kprotperf_record(self, words: list[str]) -> int:
        cost = (self.booted / "bzImage").read_text().split()[0]
        Path(words[words.index("-o") + 1]).write_text(cost + "\n")
        return 0

    def kprotperf_why(self, words: list[str]) -> int:
        low, high = [sorted(set(Path(word).read_text().split())) for word in words[-2:]]
        patch = re.search(r"--patch=\S*/(\S*)", " ".join(words))
        if "--plan" in words:
            Path(words[words.index("--plan") + 1]).write_text("")
        elif "--format=json" in words:
            delta = int(high[0]) - int(low[0])
            found = {"name": "prctl", "significant": delta != 0}
            found |= {key: delta for key in ("delta_total", "delta_total_low", "delta_total_high")}
            print(json.dumps({"of": "prctl", "contexts": [found]}))
        else:
            print("why", *low, *high, patch and patch[1])
        return 0


programs = Costs()


def git(*words: str) -> None:
    subprocess.run(["git", "-C", "tree", *words], check=True)


def commit(number: int, cost: str, last: int) -> int:
    """Make a commit with a cost; "broken" does not build, "docs" changes documentation. Return the cost, or the last one."""
    if cost == "docs":
        Path("tree/Documentation/text").write_text(f"{number}\n")
    elif cost == "broken":
        Path("tree/cost").write_text(f"{last} broken {number}\n")
    else:
        last = 10000 + int(cost)
        Path("tree/cost").write_text(f"{last} commit {number}\n")
    git("add", "-A")
    git("commit", "-qm", f"commit {number}")
    return last


Path("tree/Documentation").mkdir(parents=True)
Path("tree/Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\n")
git("init", "-q")
last = commit(0, "0", 0)
git("tag", "start")
for number, cost in enumerate("0 docs broken 0 1000 docs 1000".split(), 1):
    last = commit(number, cost, last)

said = programs.lab("why", *"--range start..HEAD --tree tree --accel icount -- true".split())
first, *rest = said.out.splitlines()
name, _, title = first.partition(" ")
is_("the commit with the cost is found, with six builds", (said.status, title, programs.compiled), (0, "commit 5", 6))
like("commits that change no code are left out", said.err, "; looking for the commit among 5 commits$")
is_("a commit that cannot be built is passed over", said.err.count("error: broken"), 1)
like("the commit's share of the cost is printed", rest[0], r"^prctl: \+1000 of the \+1000 instructions per run")
is_("the output of why compares the commit with the one before, and has its patch", rest[-1], f"why 10000 11000 {name}")
is_("each commit that can be built has three boots", len(re.findall("boot [0-9]* of [0-9]*: commit", said.err)), 15)
is_("only the recordings are left", list(Path().glob(".lab-ab*")), [])
for wrong in ("HEAD", "start..HEAD", "nosuch..HEAD --tree tree", "HEAD..HEAD --tree tree"):
    said = programs.lab("why", "--range", *wrong.split(), "--", "true")
    is_(f"'--range {wrong}': status 120 and one line", (said.status, len(said.err.splitlines())), (120, 1))
done()
