#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""lab ab boots both kernels with the right options, and merges and compares the right files. All programs are stand-ins
(programs.py): kprotperf record writes its arguments. pair.t, patch.t and tests/live/demo.t compare real guests."""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from programs import Programs  # noqa: E402
from tap import done, is_, like  # noqa: E402

CHANGED = [("f1", "differs", False), ("f2", "new", False), ("f3", "differs", True)]
CHANGED += [("f4.isra.0", "differs", False), ("f4", "differs", False)]


class Recorder(Programs):
    fails_on = ""  # the kernel whose recordings fail

    def kernel(self) -> str:
        return "hardened" if "CONFIG_SLAB_FREELIST_RANDOM=y\n" in (self.booted / "config").read_text() else "baseline"

    def kprotperf_record(self, words: list[str]) -> int:
        given = dict(zip(words, words[1:]))
        if "--write-plan" in given:
            Path(given["--write-plan"]).write_text("--func=chosen\n")
        if self.kernel() == self.fails_on:
            return 9
        arguments = re.sub(r"\.lab-ab\S*", "FILE", " ".join(words[2:]))
        Path(given["-o"]).write_text(f"{self.kernel()}: {arguments}\n")
        return 0

    def kprotperf_changes(self, _words: list[str]) -> int:
        print(json.dumps({"functions": [dict(zip(("function", "change", "init"), one)) for one in CHANGED]}))
        return 0

    def kprotperf_diff(self, words: list[str]) -> int:
        print(*words[1:])
        return 0

    def unpack(self, into: Path) -> None:
        (into / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\n")

    def compile(self, _src: Path, obj: Path) -> int:
        (obj / "vmlinux").write_bytes((obj / ".config").read_bytes())
        return 0


def text(name: str) -> str:
    """Return the content of a recording, and remove the file."""
    found = Path(name).read_text()
    Path(name).unlink()
    return found


programs = Recorder()
lab = programs.lab
icount = "--accel icount".split()
built = lab("build", "baseline", "hardened")
is_("both kernels are built", built.status, 0)

said = lab("ab", "--control-run", "--func", "f", *icount, "--", "workload")
is_(
    "unprobed runs are the first of a boot, as probed ones are, and recorded alike",
    (said.status, text("baseline.data")),
    (0, "baseline: --func f -o FILE -- workload\nbaseline: --func f --control-run --repeat=0 -o FILE -- workload\n"),
)

said = lab("ab", *"--boots 2 --control --func allocate_slab -r 3".split(), *icount, *"-- workload --iterations 5".split())
is_(
    "ab ends with diff, to which --control gives a third file",
    (said.status, said.out),
    (0, "diff --control control.data baseline.data hardened.data"),
)
recording = ": --func allocate_slab -r 3 -o FILE -- workload --iterations 5\n"
is_("baseline is recorded on baseline, two boots are merged", text("baseline.data"), f"baseline{recording}" * 2)
is_("hardened on hardened", text("hardened.data"), f"hardened{recording}" * 2)
is_("the control is a recording of the baseline", text("control.data"), f"baseline{recording}" * 2)
sides = [f"boot {boot} of 2: {side}" for boot in (1, 2) for side in ("baseline", "hardened", "control")]
is_("boots alternate", re.findall("boot . of 2: [a-z]*", said.err), sides)

said = lab("ab", *"--boots 2 --auto --budget 6".split(), *icount, "--", "workload")
is_(
    "--auto chooses once, and both sides time the same functions",
    (said.status, text("baseline.data"), text("hardened.data")),
    (0, *(f"{side}: --plan FILE -o FILE -- workload\n" * 2 for side in ("baseline", "hardened"))),
)
like(
    "functions are chosen in a boot of its own, of the hardened kernel",
    said.err,
    r"\Alab: choosing the functions to time \(kernel hardened\)\nlab: boot 1 of 2: baseline, ",
)
is_("--auto leaves only the recordings", list(Path().glob(".lab-ab*")), [])

plan = programs.scratch / "kept"
said = lab("ab", "--auto", "--write-plan", plan, *icount, "--", "workload")
is_("--write-plan keeps the plan, also where no guest can write", (said.status, plan.read_text()), (0, "--func=chosen\n"))
Path("a.patch").write_text("--- a/Makefile\n+++ b/Makefile\n@@ -1,2 +1,2 @@\n VERSION = 6\n-PATCHLEVEL = 1\n+PATCHLEVEL=1\n")
said = lab("ab", "--auto", "--write-plan", plan, "--patch", "a.patch", *icount, "--", "workload")
is_(
    "--auto also times the functions that a patch changes, by their names in the source",
    (said.status, plan.read_text()),
    (0, "--func=chosen\n--func=@(f1|f4)\n"),
)
like("diff knows the patch", said.out, "^diff .*--patch=[^ ]*a.patch baseline.data hardened.data$")

for name in ("baseline.data", "hardened.data"):
    Path(name).unlink()
programs.fails_on = "baseline"
bzimage = lab("path", "hardened").out + "/bzImage"
said = lab("ab", *icount, "--bzimage-baseline", bzimage, "--hardened=baseline", "--", "workload")
is_("sides as asked, one of them a file; a record that fails stops ab, with its status", said.status, 9)
like("one line says where", said.err, r"^lab: recording hardened \(kernel baseline, boot 1\) ended with status 9")
is_("no part of a file is left", list(Path().glob("*data*")), [])

for wrong in (
    "-o x.data",
    "--bzimage-hardened nosuch",
    "--patch a.patch --hardened notrace",
    "--patch a.patch --protection kfence",
    "--patch a.patch --bzimage-baseline /dev/null",
    "--patch nosuch.patch",
    "--bzimage x",
    "--patch",
    "--budget 5",
    "--write-plan x",
    "--auto --exact",
    "--boots none",
):
    said = lab("ab", *wrong.split(), "--", "workload")
    is_(f"'{wrong}': status 120 and one line", (said.status, len(said.err.splitlines())), (120, 1))
is_("a command is wanted", lab("ab", "--boots", "2").status, 120)
said = lab("ab", "--", "workload", KPROTPERF="/no/such")
like("without kprotperf the lab says how to get it", said.err, "^lab: no program /no/such; build it with make")
done()
