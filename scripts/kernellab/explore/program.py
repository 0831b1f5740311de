"""Programs of system calls. workloads/calls/program.h describes their text."""

import re
from dataclasses import dataclass, replace
from typing import Callable

from ..lab import LabError

LINES, ARGS, COUNT, REFERENCES, STRUCTURE, MEMORY = 8, 6, 4096, 32, 1024, 1 << 20
TEXT = r'"(?:[^"\\\n]|\\["\\]|\\x[0-9a-fA-F]{2})*"'
INTEGER = r"-?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)"
VALUE = rf"{TEXT}|{INTEGER}|\$[1-9][0-9]*(?:\.[0-3])?|\*(?:{INTEGER})"
TOKEN = re.compile(rf"(?:{VALUE}|\])(?![^ \]:])|\[|(?<! ):[0-9]+(?![^ \]])| +")
REFERENCE = re.compile(rf"{TEXT}|\$([0-9]+)(\.[0-3])?")  # group 1: the number, unless it is a text


@dataclass(frozen=True)
class Line:
    name: str
    args: tuple[str, ...] = ()
    count: int = 1


Program = tuple[Line, ...]


def number(text: str) -> int:
    """Return the value of an integer as C writes it."""
    value = int(text.lstrip("-"), 8 if re.fullmatch("-?0[0-7]+", text) else 0)
    return -value if text[0] == "-" else value


def text(program: Program) -> str:
    """Return one line of text per call."""
    return "".join(" ".join([line.name, *line.args, *([f"x {line.count}"] * (line.count > 1))]) + "\n" for line in program)


def tokens(arguments: str) -> list[str]:
    found, at = [], 0
    while at < len(arguments):
        match = TOKEN.match(arguments, at)
        if not match:
            raise LabError(f"'{arguments[at:].split(' ')[0]}' is no argument")
        if not match[0].isspace():
            found.append(match[0])
        at = match.end()
    return found


def take(words: list[str], inside: bool = False) -> tuple[str, int]:
    """Remove an argument, or an item of a structure, from the front of words. Return its text, and the item's size."""
    word, size = words.pop(0), 8
    if word == "[":
        items = []
        while words and words[0] != "]":
            items.append(take(words, inside=True))
        if not words or sum(size for _, size in items) > STRUCTURE:
            raise LabError(f"'[' is {'too long' if words else 'without an end'}")
        word = f"[{' '.join(item for item, _ in items)}{words.pop(0)}"
    elif word[0] in ":]":
        raise LabError(f"'{word}' is too much")
    elif word[0] == "*" and not 1 <= number(word[1:]) <= MEMORY:
        raise LabError(f"'{word}' is not memory of 1 to {MEMORY} bytes")
    elif word[0] in "-0123456789" and abs(number(word)) >= 1 << 64:
        raise LabError(f"'{word}' is no argument")
    if inside and words and words[0][0] == ":":
        size = int(words[0][1:])
        if not (1 <= size <= STRUCTURE if word[0] == '"' else size in (1, 2, 4)):
            raise LabError(f"'{words[0]}' is no size for this item")
        word += words.pop(0)
    return word, size


def check_references(line: Line, before: Program) -> None:
    found = [match for arg in line.args for match in REFERENCE.finditer(arg) if match[1]]
    if len(found) > REFERENCES:
        raise LabError(f"'{found[REFERENCES][0]}' is beyond the {REFERENCES} references of a line")
    for one in found:
        if not 1 <= int(one[1]) <= len(before):
            raise LabError(f"'{one[0]}' refers to no earlier line")
        if one[2] and not any(arg[0] in '*"[' for arg in before[int(one[1]) - 1].args):
            raise LabError(f"'{one[0]}' refers to a line without an address")


def parse_line(call: str, before: Program) -> Line:
    match = re.fullmatch(rf" *([^ ]+)((?: +(?!x )(?:{TEXT}|[^ \"])+)*?)(?: +x +([^ ]*))? *", call)
    if not match:
        raise LabError(f"'{call}' is no call")
    if match[3] and not (match[3].isdecimal() and 1 <= int(match[3]) <= COUNT):
        raise LabError(f"'{match[3]}' is no count from 1 to {COUNT} at the end of a line")
    words, args = tokens(match[2]), []
    while words:
        args.append(take(words)[0])
    if len(args) > ARGS:
        raise LabError(f"'{args[ARGS]}' is beyond the {ARGS} arguments of a call")
    line = Line(match[1], tuple(args), int(match[3] or 1))
    check_references(line, before)
    return line


def parse(text: str) -> Program:
    """Return the program with this text. Raise LabError if the executor refuses it, except for the names of calls."""
    program: Program = ()
    for call in text.split("\n"):
        if call.strip(" ")[:1] not in ("", "#"):
            try:
                if len(program) == LINES:
                    raise LabError(f"a program has at most {LINES} lines")
                program += (parse_line(call, program),)
            except LabError as error:
                raise LabError(f"line {len(program) + 1}: {error}") from None
    if not program:
        raise LabError("a program without a call")
    return program


def references(line: Line) -> set[int]:
    """Return the numbers, from 1, of the lines to which a line refers."""
    return {int(match[1]) for arg in line.args for match in REFERENCE.finditer(arg) if match[1]}


def renumbered(line: Line, new: Callable[[int], int]) -> Line:
    """Return the line with references to line new(N) in place of those to line N."""

    def change(match: re.Match[str]) -> str:
        return f"${new(int(match[1]))}{match[2] or ''}" if match[1] else match[0]

    return replace(line, args=tuple(REFERENCE.sub(change, arg) for arg in line.args))


def without(program: Program, i: int) -> Program:
    """Return the program without the line of index i and all lines that need it."""
    gone, kept = {i + 1}, [0]
    for n, line in enumerate(program, 1):
        if references(line) & gone:
            gone.add(n)
        if n not in gone:
            kept.append(n)
    return tuple(renumbered(program[n - 1], kept.index) for n in kept[1:])


def inserted(program: Program, i: int, line: Line) -> Program:
    """Return the program with a line inserted at index i. The line refers to lines before it."""
    after = tuple(renumbered(one, lambda n: n + (n > i)) for one in program[i:])
    return (*program[:i], line, *after)
