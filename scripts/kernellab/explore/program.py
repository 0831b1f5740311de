"""Programs of system calls. workloads/calls/program.h describes their text."""

import re
from dataclasses import dataclass, replace
from typing import Callable

from ..lab import LabError

LINES, ARGS, COUNT, REFERENCES, STRUCTURE, MEMORY = 8, 6, 4096, 32, 1024, 1 << 20
TEXT = r'"(?:[^"\\\n]|\\["\\]|\\x[0-9a-fA-F]{2})*"'
INTEGER = r"-?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)"
WORD = re.compile(rf"({TEXT}|{INTEGER}|\$[1-9][0-9]*(?:\.[0-3])?|\*[0-9][0-9a-fA-Fx]*)(?![^ \]:])|[\[\]]|:[0-9]+(?![^ \]])| +")
REFERENCE = re.compile(rf"{TEXT}|\$([0-9]+)(\.[0-3])?")


@dataclass(frozen=True)
class Line:
    name: str
    args: tuple[str, ...] = ()
    count: int = 1


Program = tuple[Line, ...]


def number(text: str) -> int:
    """Return the value of an integer as C writes it."""
    digits = text.lstrip("-")
    value = int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
    return -value if text[0] == "-" else value


def text(program: Program) -> str:
    """Return one line of text per call."""
    return "".join(" ".join([line.name, *line.args, *([f"x {line.count}"] * (line.count > 1))]) + "\n" for line in program)


def words(argument: str) -> list[str]:
    """Return the tokens of an argument or of several arguments, without spaces. Raise LabError for text that is none."""
    found, at = [], 0
    while at < len(argument):
        match = WORD.match(argument, at)
        if not match:
            raise LabError(f"'{argument[at:].split(' ')[0]}' is no argument")
        if not match[0].isspace():
            found.append(match[0])
        at = match.end()
    return found


def check_word(word: str) -> int:
    """Return the bytes that an item takes in a structure. Raise LabError if its value is out of range."""
    if word[0] == "*" and not (re.fullmatch(INTEGER, word[1:]) and 1 <= number(word[1:]) <= MEMORY):
        raise LabError(f"'{word}' is not memory of 1 to {MEMORY} bytes")
    if word[0] in "-0123456789" and abs(number(word)) >= 1 << 64:
        raise LabError(f"'{word}' is no argument")
    return 8


def take(tokens: list[str], inside: bool = False) -> tuple[str, int]:
    """Remove one argument or item from the front of tokens. Return its text, and the bytes it takes in a structure."""
    word = tokens.pop(0)
    if word == "[":
        items, size = [], 0
        while tokens and tokens[0] != "]":
            item, bytes_ = take(tokens, inside=True)
            items.append(item)
            size += bytes_
        if not tokens:
            raise LabError("'[' has no end")
        if size > STRUCTURE:
            raise LabError("'[' is too long")
        word = "[" + " ".join(items) + tokens.pop(0)
    elif word[0] in ":]":
        raise LabError(f"'{word}' is too much")
    size = check_word(word)
    if inside and tokens and tokens[0][0] == ":":
        suffix = tokens.pop(0)
        size = int(suffix[1:])
        if not (1 <= size <= STRUCTURE if word[0] == '"' else size in (1, 2, 4)):
            raise LabError(f"'{suffix}' is no size for this item")
        word += f":{size}"
    return word, size


def parse_line(text: str, before: Program) -> Line:
    call, counted, count = text.strip(" "), "", "1"
    match = re.fullmatch(rf"((?:{TEXT}|[^\"])*) x +(\S*)", call)
    if match:
        call, counted, count = match[1], match[2], match[2]
    name, *rest = call.split(" ", 1)
    if counted and not (counted.isdigit() and 1 <= int(count) <= COUNT):
        raise LabError(f"'{counted}' is no count from 1 to {COUNT} at the end of a line")
    tokens, args = words("".join(rest)), []
    while tokens:
        args.append(take(tokens)[0])
    if len(args) > ARGS:
        raise LabError(f"'{args[ARGS]}' is beyond the {ARGS} arguments of a call")
    line = Line(name, tuple(args), int(count))
    found = [match for arg in args for match in REFERENCE.finditer(arg) if match[1]]
    if len(found) > REFERENCES:
        raise LabError(f"'{found[REFERENCES][0]}' is beyond the {REFERENCES} references of a line")
    for one in found:
        if not 1 <= int(one[1]) <= len(before):
            raise LabError(f"'{one[0]}' refers to no earlier line")
        if one[2] and not any(arg[0] in '*"[' for arg in before[int(one[1]) - 1].args):
            raise LabError(f"'{one[0]}' refers to a line without an address")
    return line


def parse(text: str) -> Program:
    """Return the program with this text. Raise LabError if the executor refuses it, except for its names."""
    program: Program = ()
    for one in text.split("\n"):
        if not one.strip(" ") or one.lstrip(" ").startswith("#"):
            continue
        try:
            if len(program) == LINES:
                raise LabError(f"'{one.split()[0]}' is beyond the {LINES} lines of a program")
            program += (parse_line(one, program),)
        except LabError as error:
            raise LabError(f"line {len(program) + 1}: {error}") from None
    if not program:
        raise LabError("line 1: '' has no call")
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
