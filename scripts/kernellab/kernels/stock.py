"""lab fetch: kernels that a distribution built, into the cache.

    stock/NAME             link to what NAME is
    stock/versions/X       one version: boot/ and lib/modules/ as in the image, and bzImage, vmlinux (--dbg), config: links into
                           it; initramfs: the modules that reach the host's files, which its `share` says how; `about`.
                           Renamed into place whole
    stock/apt/SUITE        package lists, apart from this machine's apt
    stock/part             what is being downloaded and unpacked
"""

import os
import re
from pathlib import Path

from ..lab import Lab, LabError, remove

DEBIAN = re.compile(r"debian-[0-9]+\.[0-9]+(-cloud|-rt)?(@[a-z-]+)?")


def is_stock(lab: Lab, name: str) -> bool:
    """Returns whether it is the name of one of these kernels, fetched or not."""
    return bool(DEBIAN.fullmatch(name)) or (name != "" and "/" not in name and (lab.cache / "stock" / name).is_symlink())


def folder(lab: Lab, name: str) -> Path:
    return Path(os.path.realpath(lab.cache / "stock" / name))


def names(lab: Lab) -> list[str]:
    """Returns those that are fetched."""
    return sorted(one.name for one in lab.cache.glob("stock/*") if one.is_symlink())


def image_release(image: Path) -> str:
    """Returns the release of an image's one kernel, which its modules are named after."""
    found = {one.name for lib in ("lib", "usr/lib") for one in (image / lib / "modules").glob("*") if one.is_dir()}
    if not found:
        raise LabError(f"{image} is not an unpacked kernel image: no folder lib/modules/RELEASE")
    if len(found) > 1:
        raise LabError(f"{image} contains several kernels ({' '.join(sorted(found))}), but the lab takes one")
    return found.pop()


def remove_fetched(lab: Lab, name: str) -> None:
    """Removes a name, and its version, unless that has other names; by whoever holds the lock of stock."""
    where = folder(lab, name)
    (lab.cache / "stock" / name).unlink()
    if all(folder(lab, other) != where for other in names(lab)):
        remove(where)
