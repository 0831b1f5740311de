# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP output for tests in Python."""

import re
from typing import Any, Callable

count = 0


def ok(name: str, holds: bool, *details: object) -> None:
    """Prints one line, and the details if the test fails."""
    global count
    count += 1
    print(f"{'ok' if holds else 'not ok'} {count} - {name}", flush=True)
    if not holds:
        for detail in details:
            print(f"#   {detail}", flush=True)


def is_(name: str, got: Any, expected: Any) -> None:
    ok(name, got == expected, f"got      {got!r}", f"expected {expected!r}")


def like(name: str, text: str, regex: str) -> None:
    ok(name, re.search(regex, text, re.MULTILINE) is not None, f"text  {text!r}", f"regex {regex}")


def raises(name: str, kind: type[BaseException], regex: str, do: Callable[[], object]) -> None:
    """Checks that `do` raises an error of class `kind` with a text that matches `regex`."""
    try:
        do()
    except kind as error:
        like(name, str(error), regex)
    else:
        ok(name, False, "nothing was raised")


def done() -> None:
    print(f"1..{count}")
