"""Sources of kernels: Debian's package linux-source, or git trees."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ..lab import Lab, LabError, output

DPKG_STATUS = Path("/var/lib/dpkg/status")


def tarball(series: str) -> Path:
    return Path(f"/usr/src/linux-source-{series}.tar.xz")


@cache
def source_version(lab: Lab, series: str) -> str:
    """Return the version of the installed package linux-source-SERIES, as one word."""
    file = tarball(series)
    if not file.is_file():
        purpose = "lab" if series == "6.1" else f"lab-{series}"
        raise LabError(f"{file} is missing; install it with scripts/setup --for={purpose}")
    return re.sub(r"[^A-Za-z0-9.+-]", "_", package_version(lab.cache / "versions" / series, series, file))


def package_version(kept: Path, series: str, file: Path) -> str:
    # Use the stored version unless dpkg has changed packages since then: asking dpkg takes as long as ten other processes.
    if DPKG_STATUS.exists() and kept.is_file() and kept.stat().st_mtime_ns > DPKG_STATUS.stat().st_mtime_ns:
        return kept.read_text().strip()
    version = output(["dpkg-query", "-W", "-f", "${Version}", f"linux-source-{series}"])
    if not version:
        return f"{file.stat().st_size}.{int(file.stat().st_mtime)}"
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(version + "\n")
    return version


class Trees:
    """Git trees: DIR, a work tree with its uncommitted changes, or DIR@REV. The lab writes nothing to the user's repository."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.names: dict[str, str] = {}
        self.identities: set[str] = set()  # IDs of tree objects that exist

    def absolute(self, file: str) -> Path:
        """Return the absolute path of a file in a fragment. A relative name starts at the folder of this repository."""
        return self.lab.repo / os.path.expanduser(file)

    def folder(self, tree: str) -> Path:
        path = self.absolute(tree)
        return path if path.is_dir() else Path(str(path).partition("@")[0])

    def revision(self, tree: str) -> str:
        """Return the tree's revision, "" for a work tree."""
        return "" if self.absolute(tree).is_dir() else tree.partition("@")[2]

    def path(self, tree: str, *what: str) -> str:
        """Return the absolute path that `git rev-parse WHAT...` prints in the tree's repository."""
        if not shutil.which("git"):
            raise LabError("git is not installed; install it with scripts/setup --for=lab")
        folder = self.folder(tree)
        words = ["git", "-C", str(folder), "rev-parse", "--path-format=absolute", *what]
        done = subprocess.run(words, env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LabError(f"{folder} is not a git repository, or belongs to another user (see git -C {folder} status)")
        return done.stdout.rstrip("\n")

    def store(self, tree: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run git. It writes new objects to the lab's object store, and finds objects in the tree's repository, too."""
        objects = self.path(tree, "--git-path", "objects")
        store = self.lab.cache / "src/git"
        if not (store / "HEAD").exists():
            plain = {key: value for key, value in os.environ.items() if key not in ("GIT_WORK_TREE", "GIT_INDEX_FILE")}
            subprocess.run(["git", "init", "-q", "--bare", store], env=plain, check=False)
        env = os.environ | {"GIT_DIR": str(store), "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects} | environ
        how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
        return subprocess.run(["git", *words], env=env, check=False, **how)

    def repository_name(self, tree: str) -> str:
        """Return a name for the tree's repository, one word, which is the same for all work trees of the repository."""
        if tree not in self.names:
            git = self.path(tree, "--git-common-dir")
            name = re.sub(r"[^A-Za-z0-9_]", "_", git.removesuffix("/.git").rpartition("/")[2])
            self.names[tree] = f"git-{name}-{hashlib.sha256((git + chr(10)).encode()).hexdigest()[:8]}"
        return self.names[tree]

    def identity(self, tree: str) -> str:
        """Return the ID of git's tree object with the content of a tree."""
        revision = self.revision(tree)
        if revision in self.identities:
            return revision
        found = self.revision_identity(tree, revision) if revision else self.work_tree_identity(tree)
        self.identities.add(found)
        return found

    def revision_identity(self, tree: str, revision: str) -> str:
        words = ["rev-parse", "-q", "--verify", revision + "^{tree}"]
        env = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        found = output(["git", "-C", self.folder(tree), *words], env=env) or self.store(tree, *words).stdout.strip()
        if not found:
            raise LabError(f"{self.folder(tree)} has no revision '{revision}'")
        return found

    def work_tree_identity(self, tree: str) -> str:
        """Return the ID that `git add -A; git write-tree` prints, with a temporary index and the lab's object store."""
        top = self.path(tree, "--show-toplevel")
        folder = self.folder(tree)
        if not top:
            raise LabError(f"{folder} has no work tree; specify a revision: {folder}@REVISION")
        with tempfile.TemporaryDirectory() as scratch:
            index = os.path.join(scratch, "index")
            theirs = Path(self.path(tree, "--git-path", "index"))
            if theirs.is_file():
                shutil.copy2(theirs, index)
            added = self.store(tree, "-C", top, "add", "-A", GIT_INDEX_FILE=index, GIT_WORK_TREE=top)
            found = self.store(tree, "write-tree", GIT_INDEX_FILE=index)
        if added.returncode != 0 or found.returncode != 0:
            raise LabError(f"git cannot read the work tree {top}")
        return found.stdout.strip()

    def version(self, tree: str) -> str:
        """Return the version of Linux in a tree, such as 6.1."""
        makefile = self.store(tree, "cat-file", "-p", self.identity(tree) + ":Makefile").stdout
        match = re.search(r"^VERSION = ([0-9]+)\nPATCHLEVEL = ([0-9]+)", makefile, re.MULTILINE)
        if not match:
            raise LabError(f"{tree} is not a Linux source tree: its Makefile has no VERSION and PATCHLEVEL")
        return f"{match[1]}.{match[2]}"

    def check_out(self, tree: str, src: Path) -> None:
        """Update src to the content of a tree. Write only files that differ, so that the other files keep their times."""
        if not src.is_dir():
            self.lab.note(f"checking out {tree}")
        src.mkdir(parents=True, exist_ok=True)
        index = str(src) + ".index"
        words = ["read-tree", "--reset", "-u", self.identity(tree)]
        if self.store(tree, *words, GIT_INDEX_FILE=index, GIT_WORK_TREE=str(src)).returncode != 0:
            raise LabError(f"cannot check out {tree} into {src} (is the disk full?)")
