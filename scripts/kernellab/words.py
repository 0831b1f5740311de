"""The words of a command line: options with and without values."""

import re
from typing import Iterator, Sequence

from .lab import Lab, UsageError

REST = ""  # the name under which words that are no options come


def needs_value(option: str) -> UsageError:
    return UsageError(f"{option} needs a value")


def no_option(lab: Lab, usage: str, command: str, word: str) -> UsageError:
    """Returns the error for an option that a command does not have."""
    known = re.findall(r"--[a-z-]+", usage)
    return UsageError(f"{command} has no option '{word}'{lab.guess(word.split('=')[0], known)}")


def options(words: list[str], valued: Sequence[str], flags: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Takes words off the front of a list, up to `--`. Yields each option's name, value and whether it is known; a word that
    is no option, and an unknown option, are yielded as they are."""
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            return
        if name in valued:
            if not equals:
                if not words:
                    raise needs_value(name)
                value = words.pop(0)
            yield name, value, True
        elif word in flags:
            yield word, "", True
        elif word.startswith("-"):
            yield word, "", False
        else:
            yield REST, word, True
