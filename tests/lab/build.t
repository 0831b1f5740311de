#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab builds kernels from the user's patches, trees and options. Like make, its stand-in (programs.py) compiles files that
are newer than their objects. patch.t builds and boots a real kernel."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path


sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from programs import Programs, Result, repo  # noqa: E402
from tap import done, is_, like, ok  # noqa: E402

FILES = ("mm/slub.c", "mm/util.c", "kernel/fork.c")


class Compiler(Programs):
    kills = False  # a build kills the lab
    no_guest = False  # QEMU fails
    files: list[str] = []  # compiled files

    def unpack(self, into: Path) -> None:
        into.joinpath("Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\n")
        for name in FILES:
            (into / name).parent.mkdir(exist_ok=True)
            (into / name).write_text("".join(f"line {number} of {name}\n" for number in range(1, 10)))
        for file in into.rglob("*"):
            os.utime(file, (1577836800, 1577836800))

    def compile(self, src: Path, obj: Path) -> int:
        if self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        for file in sorted(src.glob("*/*.c")):
            made, text = obj / f"{file.stem}.o", file.read_text()
            if made.exists() and file.stat().st_mtime_ns <= made.stat().st_mtime_ns:
                continue
            self.files.append(file.name)
            if "#error" in text:
                print(f"{file}:5:2: error: #error broken")
                return 2
            made.write_text(text)
        (obj / "vmlinux").write_text("".join(file.read_text() for file in [*sorted(obj.glob("*.o")), obj / ".config"]))
        return 0

    def qemu(self, words: list[str]) -> int:
        return 1 if self.no_guest else super().qemu(words)

    def compiled(self) -> str:
        """Return the files that were compiled since the last call."""
        found = " ".join(sorted(self.files))
        self.files.clear()
        return found


programs = Compiler()
lab, compiled = programs.lab, programs.compiled
cache = programs.scratch / "cache"
Contents = dict[str, tuple[int, bytes]]


def change(file: str, line: int, text: str) -> str:
    """Return a patch that replaces a line of a file."""
    one, two, three = (f"line {number} of {file}" for number in (line - 1, line, line + 1))
    return f"--- a/{file}\n+++ b/{file}\n@@ -{line - 1},3 +{line - 1},3 @@\n {one}\n-{two}\n+{text}\n {three}\n"


def content(*folders: Path, repositories: bool = False) -> Contents:
    """Return the times and contents of all files in these folders."""
    found: Contents = {}
    for folder in folders:
        for top, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if repositories or not name.startswith("git")]
            for path in [Path(top), *(Path(top) / name for name in names)]:
                is_file = path.is_file() and not path.is_symlink()
                found[str(path)] = (path.lstat().st_mtime_ns if is_file else 0, path.read_bytes() if is_file else b"")
    return found


def state(*names: str) -> Contents:
    return content(*(cache / name for name in names or ("src", "obj", "own", "kernels")))


def theirs() -> Contents:
    """Return the times and contents of the user's repository."""
    return content(Path("my linux"), repositories=True)


def folder(kernel: str) -> Path:
    return Path(lab("path", kernel).out)


def has(kernel: str, text: str) -> bool:
    """Return whether a kernel was built of sources with this line."""
    return text in (folder(kernel) / "vmlinux").read_text().splitlines()


def built(*words: str | Path) -> tuple[int, str]:
    """Build a kernel. Return the exit status, and the compiled files."""
    return lab("build", *words).status, compiled()


def refused(title: str, regex: str, *words: str) -> None:
    """Check that a build ends with status 1 and one line, and leaves the cache as it was."""
    before = state()
    said = lab("build", *words)
    compiled()
    lines = [line for line in said.err.splitlines() if not line.startswith("lab: building")]
    is_(f"{title}: status 1, one line", (said.status, len(lines)), (1, 1))
    like("which has the reason", said.err, regex)
    ok("the cache is as it was", state() == before)


def of(said: Result) -> str:
    return f"{said.status}:{said.err}"


is_("a kernel without patches is built of all its files", built(), (0, "fork.c slub.c util.c"))
slub, fork, mail = Path("slub.patch"), Path("fork.patch"), Path("mail.patch")
slub.write_text(change("mm/slub.c", 3, "slub patched"))
fork.write_text(change("kernel/fork.c", 3, "fork patched"))
mail.write_text(f"From: A\nSubject: as in a mail\n\ntext\n---\n{fork.read_text()}-- \n2.39\n")

# --- patches -------------------------------------------------------------------

before = state("src", "obj")
is_("a patched kernel is built of the files that the patch changes", built("mine", "--patch", slub), (0, "slub.c"))
ok("it has the patch", has("mine", "slub patched"))
source = folder("mine") / "source"
is_("files that the patch changes are kept", [one for one in source.rglob("*") if one.is_file()], [source / "mm/slub.c"])
ok("as they were compiled", "slub patched\n" in (source / "mm/slub.c").read_text())
ok("its options are those of baseline", (folder("mine") / "config").read_text() == (folder("baseline") / "config").read_text())
ok("sources and object trees are as they were, to their times", state("src", "obj") == before)
is_("the next kernels compile nothing again", built("hardened", "notrace"), (0, ""))
said = built("mine2", "--patch", slub, "--patch", mail, "--on", "hardened")
is_("two patches, one of them a mail, on another kernel", said, (0, "fork.c slub.c"))
lines = ("slub patched", "fork patched", "CONFIG_SLAB_FREELIST_RANDOM=y")
ok("both are in it", all(has("mine2", line) for line in lines))
built("more", "--patch", slub, mail)
ok("--patch takes several files, as the shell expands *.patch", all(has("more", line) for line in lines[:2]))
built("more2", "--on", "mine", "--patch", fork)
ok("a patch on a kernel that has patches itself", all(has("more2", line) for line in lines[:2]))
slub.unlink()
again = lab("build", "mine")
is_("a defined kernel is known without its patch", (of(again), compiled()), ("0:", ""))
said = lab("list").out
like("list shows the kernel, and its patch", said, r"^mine +built +baseline \+ slub\.patch$")
like("list shows several patches", said, r"^mine2 +built +hardened \+ slub\.patch \+ mail\.patch$")
for text in ("second", "third"):
    slub.write_text(change("mm/slub.c", 3, f"slub {text}"))
    lab("build", "mine", "--patch", slub)
ok("the last definition of a kernel wins", has("mine", "slub third"))
older = "".join(file.read_text() for file in cache.glob("kernels/mine-*/vmlinux")).splitlines()
is_("one older build of it is kept", older.count("slub second") + older.count("slub patched"), 1)
util = next(cache.glob("src/6.1*/mm/util.c")).read_text().splitlines()
Path("files.patch").write_text(
    "diff --git a/mm/new.c b/mm/new.c\nnew file mode 100644\n--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+new file\n"
    "diff --git a/mm/util.c b/mm/util.c\ndeleted file mode 100644\n--- a/mm/util.c\n+++ /dev/null\n"
    f"@@ -1,{len(util)} +0,0 @@\n" + "".join(f"-{line}\n" for line in util)
)
compiled()
before = state("src")
is_("a patch that adds a file and removes one", built("files", "--patch", "files.patch"), (0, "new.c"))
ok("does not change the sources", state("src") == before)

# --- what is refused -----------------------------------------------------------

refused("a missing patch", "^lab: cannot read nosuch.patch$", "bad", "--patch", "nosuch.patch")
Path("empty.patch").write_text("")
refused("an empty patch", "^lab: empty.patch is empty$", "bad", "--patch", "empty.patch")
Path("binary.patch").write_bytes(bytes(range(256)) * 8)
cannot = "^lab: cannot apply {} to linux-source-6.1 .*: {}"
refused("a patch that is none", cannot.format("binary.patch", "No valid patches"), "bad", "--patch", "binary.patch")
Path("context.patch").write_text(change("mm/slub.c", 3, "context").replace("\n line 2 ", "\n line 2 not "))
regex = cannot.format("context.patch", "patch failed: mm/slub.c:2")
refused("a patch for other sources", regex, "mine", "--patch", "context.patch")
Path("outside.patch").write_text("--- a/../../x\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n")
refused("a patch of files outside the sources", "^lab: cannot apply outside.patch", "bad", "--patch", "outside.patch")
Path("error.patch").write_text(change("kernel/fork.c", 5, "#error broken"))
regex = r"^lab: cannot build kernel bad: kernel/fork.c:5:2: error: #error broken; log: .*/build-bad.log:[0-9]+$"
refused("a patch that does not compile", regex, "bad", "--patch", "error.patch")
# The lab must not mistake a name for an option of a tool, or for a line of a kernel's definition.
for name in ("bad.config", "-e.config"):
    Path(name).write_text("CONFIG_X86=y and\noption X\n")
    refused(f"invalid options in {name}", f"^lab: {name}:2: not an option line: option X$", "bad", "--config", name)
ok("a refused definition leaves the previous build", has("mine", "slub third"))
said = of(lab("build", "bad", "--patch", "slub.patch\n# patch: /etc/passwd"))
like("a name of two lines is wrong usage", said, r"\A2:lab: there is a line feed in")
for wrong in (
    "hardened --patch slub.patch, base --patch slub.patch, Mine --patch slub.patch, a.b --patch slub.patch, "
    "debug_list --patch slub.patch, debug_list-on --patch slub.patch, a b --patch=slub.patch, --patch slub.patch, "
    "a --patch, a --on nosuch, a --on debian-6.1, mine --on more2, --nosuch"
).split(", "):
    failed = lab("build", *wrong.split())
    is_(f"'build {wrong}': status 2 and one line", (failed.status, len(failed.err.splitlines())), (2, 1))

# --- a build that is killed ------------------------------------------------------

Path("util.patch").write_text(change("mm/util.c", 3, "util patched"))
child = os.fork()
if not child:
    programs.kills = True
    lab("build", "killed", "--patch", "util.patch")
is_("SIGKILL ends a build", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), -signal.SIGKILL)
kept = [one.parent.name for one in cache.glob("*/6.1*.kept")]
is_("while patched sources and a copied object tree are in place", sorted(kept), ["obj", "src"])
Path("other.config").write_text("CONFIG_KFENCE=y\n")
said = built("other", "--config", "other.config", "--on", "hardened")
is_("the next kernel is built of sources as they were", (said, list(cache.rglob("*.kept"))), ((0, ""), []))
ok("without the patch of the killed build", not has("other", "util patched"))

# --- source trees --------------------------------------------------------------

tree = Path("my linux")
tree.mkdir()
programs.unpack(tree)
for command in ("init -q", "add -A", "commit -qm 1"):
    subprocess.run(["git", "-C", tree, *command.split()], check=True)
before = theirs()
is_("a tree is built of all its files", built("tree", "--tree", tree), (0, "fork.c slub.c util.c"))
ok("neither its files nor its repository are touched", theirs() == before)
(tree / "mm/slub.c").write_text((tree / "mm/slub.c").read_text().replace("line 2 of mm/slub.c", "slub edited"))
(tree / "mm/untracked.c").write_text("new\n")
before = theirs()
is_("then of the files that have changed since", built("tree", "--tree", tree), (0, "slub.c untracked.c"))
ok("nothing of the changed tree is touched", theirs() == before)
ok("changes that are not committed are built", has("tree", "slub edited"))
is_("a revision has what is committed, which is built already", built("head", "--tree", "my linux@HEAD"), (0, ""))
ok("and no more", has("head", "line 2 of mm/slub.c"))
said = of(lab("build", "tree"))
is_("a kernel stays what it was built of", (said, compiled()), ("0:", ""))
like("list shows the tree", lab("list").out, "^head +built +baseline of .*my linux@HEAD$")
said = built("both", "--tree", "my linux@HEAD", "--patch", fork)
untracked = list(cache.glob("src/git-*/**/untracked.c"))
is_("a patch of a revision, which is checked out", (said, untracked), ((0, "fork.c slub.c"), []))
ok("it has the patch", has("both", "fork patched"))
programs.no_guest = True
said = of(lab("ab", "--baseline", "tree", "--tree", "my linux@HEAD", "--accel", "icount", "--", "true"))
last = said.partition(":")[0] + ":" + said.splitlines()[-1]
like(
    "ab --tree builds the hardened kernel of a tree, and boots the baseline",
    last,
    r"^120:lab: recording baseline \(kernel tree, ",
)
ok("the two differ", has("ab-my-linux-head", "line 2 of mm/slub.c") and has("tree", "slub edited"))
lab("remove", "ab-my-linux-head")
compiled()
refused("a missing tree", "^lab: .*/nosuch is not a git repository", "bad", "--tree", "nosuch")
refused("a missing revision", "^lab: .*/my linux has no revision 'nosuch'$", "bad", "--tree", "my linux@nosuch")
subprocess.run(["git", "init", "-q", "other"], check=True)
Path("other/Makefile").write_text("hello\n")
refused("a tree that is no kernel", "^lab: .*/other is not a Linux source tree: ", "bad", "--tree", "other")

# --- configuration fragments ---------------------------------------------------

shutil.copytree(repo / "scripts/kernels", "scripts/kernels")
Path("patches").mkdir()
patch, here = Path("patches/a.patch"), os.getcwd()
patch.write_text(change("mm/slub.c", 5, "slub of a fragment"))
header = "# about: patched\n# on: hardened\n# patch: patches/a.patch\n"
Path("scripts/kernels/patched.config").write_text(f"{header}# patch: {here}/fork.patch\n")
Path("scripts/kernels/ofgit.config").write_text(f"# about: a tree\n# on: baseline\n# tree: {here}/my linux\n")
programs.scripts = Path("scripts").absolute()
is_("a fragment names patches", built("patched"), (0, "fork.c slub.c"))
first = folder("patched")
patch.write_text(change("mm/slub.c", 5, "slub anew"))
said = of(lab("path", "patched"))
like("with another content of a patch it is another kernel", said, r"\A1:.*kernel 'patched' is not built")
is_("built of the files that the patches change", built("patched"), (0, "fork.c slub.c"))
ok("beside the other", folder("patched") != first and first.is_dir())
said = built("ofgit")
of_git = folder("ofgit")
patch.unlink()
missing = of(lab("path", "patched"))
programs.scripts = repo / "scripts"
is_("a fragment names a tree, by its content: it has been built already", (said, of_git), ((0, ""), folder("tree")))
like("a missing patch is named", missing, r"\A1:lab: kernel 'patched': cannot read the patch .*/patches/a.patch$")

# --- removal of kernels --------------------------------------------------------

failed = lab("remove", "nosuch")
is_("a kernel that does not exist cannot be removed", (failed.status, len(failed.err.splitlines())), (2, 1))
said = of(lab("remove", "mine"))
like("a kernel on which another builds stays", said, r"\A1:lab: kernel 'more2' is based on 'mine'; remove it first$")
ok("with its files", has("mine", "slub third"))
before = state("src", "obj")
said = of(lab("remove", "more2", "mine"))
left = [one for where in ("own", "kernels") for name in ("mine-*", "mine", "more2*") for one in cache.glob(f"{where}/{name}")]
is_("a removed kernel of the user is forgotten", (said, left), ("0:", []))
ok("sources and objects are there for the others", state("src", "obj") == before)
lab("remove", "hardened")
said = of(lab("path", "hardened"))
like("a removed kernel of the lab can be built again", said, r"\A1:lab: kernel 'hardened' is not built")
is_("of the objects that are there", built("hardened"), (0, ""))
said = lab("remove", "tree", "both")
is_("a build that is another kernel, too, stays", (said.status, lab("path", "head").status), (0, 0))
is_("its sources too", len(list(cache.glob("src/git-*"))), 2)
said = lab("remove", "head")
left = [one for where in ("src", "obj", "kernels") for one in cache.glob(f"{where}/*git-*")]
is_("with the last kernel of a repository its sources and objects go", (said.status, left), (0, []))
shutil.rmtree(cache / "own")
for one in cache.glob("kernels/baseline-*"):
    one.unlink() if one.is_symlink() else shutil.rmtree(one)
said = built("baseline")
links = [one for one in folder("baseline").rglob("*") if one.is_symlink()]
is_("no patched kernel is taken for one with its options", (said, folder("baseline").is_symlink(), links), ((0, ""), False, []))
done()
