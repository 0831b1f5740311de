"""Random programs of system calls, made of the forms in the file `table`, which describes its format."""

import random
import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Sequence

from ..lab import LabError
from .program import COUNT, INTEGER, TEXT, Line, Program, inserted, parse, references, renumbered, text, without

LINES = 5  # maximum, of a program that is made here
WORDS = {"new": ['"a"', '"b"', '"c"', '"d"'], "mem": [f"*{size}" for size in (8, 64, 512, 4096, 4096, 65536)]}
COUNTS = (1, 1, 1, 1, 1, 1, 4, 16, 64)
BOUNDARIES = (
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    255,
    256,
    4095,
    4096,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    -1,
    -4096,
)
KIND = re.compile(r"(fd|path|addr|pid|key|msg|sem|shm)(\.[a-z0-9.]+)?")
PLACE = re.compile(r"<([^<>]*)>")
VALUE = re.compile(rf"{TEXT}|[*$:][0-9.]+|({INTEGER})")  # group 1: an integer


@dataclass(frozen=True)
class Form:
    """A form of a call: the line, the lines before it, and pairs of a value that it gives and the value's kind."""

    line: Line
    before: Program
    gives: tuple[tuple[str, str], ...]


class Full(Exception):
    """A program would have too many lines."""


def split(call: str) -> list[str]:
    """Return the words of a call. Spaces between brackets do not separate words."""
    found, depth = [""], 0
    for char in call:
        depth += (char in "[<") - (char in "]>")
        if char == " " and not depth:
            found.append("")
        else:
            found[-1] += char
    return found


def read_line(call: str) -> Line:
    words = split(call)
    count = int(words.pop()) if words[-2:-1] == ["x"] else 1
    return Line(words[0], tuple(word for word in words[1:] if word != "x"), count)


def read_form(row: str) -> Form:
    calls, _, gives = row.partition(" > ")
    *before, line = map(read_line, calls.split(" / "))
    pairs = [word.rpartition("=") for word in gives.split()]
    return Form(line, tuple(before), tuple((value, kind) for value, _, kind in pairs))


def read_table(table: str) -> list[Form]:
    return [read_form(row) for row in re.sub(r"\n +", " ", table).splitlines() if row and row[0] != "#"]


FORMS = read_table((Path(__file__).parent / "table").read_text())
NAMES = sorted({form.line.name for form in FORMS})


@cache
def makers(kind: str) -> list[Form]:
    """Return the forms that give a kind."""
    return [form for form in FORMS if any(is_kind(given, kind) for _, given in form.gives)]


def is_kind(given: str, wanted: str) -> bool:
    return given == wanted or given.startswith(wanted + ".")


def kinds(place: str) -> list[str]:
    return [word for word in place.split("|") if KIND.fullmatch(word)]


# --- what lines give ---------------------------------------------------------------------------


def value_of(value: str, line: Line, n: int) -> str:
    """Return the argument that stands for a value that line N gives, or "" if there is none."""
    if not value or value[0] == ".":
        return f"${n}{value}"
    arg = line.args[int(value.lstrip("~")) - 1]
    if value[0] != "~":
        return arg
    return arg[:-1] + {"0": "1", "1": "0"}.get(arg[-1], "") if re.fullmatch(r"\$\d+\.[01]", arg) else ""


def form_of(line: Line, given: Sequence[tuple[str, str]]) -> Form | None:
    """Return the form of a line: its arguments are those of the form, or what was given before of the form's kinds."""

    def fits(arg: str, has: str) -> bool:
        place = PLACE.fullmatch(arg)
        if has[0] == "$" and place and kinds(place[1]):
            return any(value == has and is_kind(kind, wanted) for value, kind in given for wanted in kinds(place[1]))
        return "<" in arg or "$" in arg or arg == has

    for form in FORMS:
        if form.line.name == line.name and len(form.line.args) == len(line.args):
            if all(map(fits, form.line.args, line.args)):
                return form
    return None


@lru_cache(1 << 14)
def forms_and_given(program: Program) -> tuple[tuple[Form | None, ...], tuple[tuple[str, str], ...]]:
    """Return the form of each line, and pairs of a value that the lines give and its kind."""
    forms, given = [], list[tuple[str, str]]()
    for n, line in enumerate(program, 1):
        form = form_of(line, given)
        forms.append(form)
        pairs = [(value_of(value, line, n), kind) for value, kind in form.gives] if form else []
        given += [(value, kind) for value, kind in pairs if value]
    return tuple(forms), tuple(given)


# --- programs at random ------------------------------------------------------------------------


class Draft:
    """A program to which lines are added."""

    def __init__(self, rng: random.Random, program: Program, limit: int) -> None:
        self.rng, self.program, self.limit = rng, program, limit

    def given(self, kind: str) -> str:
        """Return a value of a kind. If no line gives one, and sometimes if one does, add a line that does."""
        found = [value for value, has in forms_and_given(self.program)[1] if is_kind(has, kind)]
        if found and (self.rng.random() < 0.9 or len(self.program) + 2 > self.limit):
            return self.rng.choice(found)
        self.add(self.rng.choice(makers(kind)), self.limit - 1)
        found = [value for value, has in forms_and_given(self.program)[1] if is_kind(has, kind)]
        if not found:
            raise Full
        return found[-1]

    def word(self, place: str, before: str) -> str:
        """Return a word for a place. BEFORE is the line's text before it."""
        choice = self.rng.choice(place.split("|"))
        if KIND.fullmatch(choice):
            return self.given(choice)
        if choice == "new" and self.rng.random() < 0.9:
            used = text(self.program) + before
            return self.rng.choice([name for name in WORDS["new"] if name not in used] or WORDS["new"])
        if choice == "len":
            size = int(([4096, *re.findall(r"\*(\d+)", before)])[-1])
            return str(size if self.rng.random() < 0.75 else self.rng.choice((0, 1, size // 2, size - 1)))
        if re.fullmatch(r"\d+\.\.\d+", choice):
            low, high = map(int, choice.split(".."))
            return str(self.rng.choice((low, high, self.rng.randint(low, high))))
        if re.fullmatch(r"\d+(\+\d+)+", choice):
            first, *others = map(int, choice.split("+"))
            return str(first + sum(one for one in others if self.rng.random() < 0.25))
        return self.rng.choice(WORDS.get(choice, [choice]))

    def fill(self, arg: str, before: Sequence[str] = ()) -> str:
        """Return an argument of a form with words in place of its places."""
        while place := PLACE.search(arg):
            word = self.word(place[1], " ".join((*before, arg[: place.start()])))
            arg = arg[: place.start()] + word + arg[place.end() :]
        return arg

    def add(self, form: Form, limit: int, count: int = 1) -> None:
        """Add a form's lines. Raise Full if the program would have more than LIMIT lines."""
        numbers = [0]
        for line in (*form.before, form.line):
            args = list[str]()
            for arg in renumbered(line, numbers.__getitem__).args:
                args.append(self.fill(arg, args))
            self.program += (replace(line, args=tuple(args), count=max(line.count, count if line is form.line else 1)),)
            numbers.append(len(self.program))
            if len(self.program) > limit:
                raise Full


def is_valid(program: Program) -> bool:
    try:
        return parse(text(program)) == program
    except LabError:
        return False


def draw(rng: random.Random, program: Program = (), name: str | None = None, limit: int = LINES) -> Program:
    """Return the program with a random call, or NAME, and lines that it needs; the same program if there is no room."""
    for _ in range(20):
        chosen = name or rng.choice(NAMES)
        draft = Draft(rng, program, limit)
        try:
            draft.add(rng.choice([form for form in FORMS if form.line.name == chosen]), limit, rng.choice(COUNTS))
            return draft.program
        except Full:
            pass
    return program


# --- changes -----------------------------------------------------------------------------------


def change_argument(rng: random.Random, program: Program) -> Program:
    """Draw an argument of a line again, or put a boundary value into it."""
    i = rng.randrange(len(program))
    line, form = program[i], forms_and_given(program)[0][i]
    places = [j for j, arg in enumerate(form.line.args) if "<" in arg and "$" not in arg] if form else []
    if not form or not places:
        return program
    j = rng.choice(places)
    arg = line.args[j]
    integers = [match.span() for match in VALUE.finditer(arg) if match[1]]
    if integers and rng.random() < 0.3:
        begin, end = rng.choice(integers)
        arg = arg[:begin] + str(rng.choice(BOUNDARIES)) + arg[end:]
    else:
        arg = Draft(rng, program[:i], i).fill(form.line.args[j], line.args[:j])
    return (*program[:i], replace(line, args=(*line.args[:j], arg, *line.args[j + 1 :])), *program[i + 1 :])


def change_count(rng: random.Random, program: Program) -> Program:
    """Change the count of a line, and sometimes the counts of the lines that it refers to."""
    i = rng.randrange(len(program))
    old = program[i].count
    count = min(max(rng.choice((1, old * 2, old * 16, old // 2, rng.choice(COUNTS), COUNT)), 1), COUNT)
    lines = {i, *(n - 1 for n in references(program[i]) if rng.random() < 0.5)}
    return tuple(replace(line, count=count) if j in lines else line for j, line in enumerate(program))


def remove_line(rng: random.Random, program: Program) -> Program:
    return without(program, rng.randrange(len(program))) or program


def insert_call(rng: random.Random, program: Program) -> Program:
    """Insert a random call, and the lines that it needs, before a line or at the end."""
    i = rng.randint(0, len(program))
    drawn = draw(rng, program[:i], limit=LINES - len(program) + i)
    for j in range(i, len(drawn)):
        program = inserted(program, j, drawn[j])
    return program


def repeat_line(rng: random.Random, program: Program) -> Program:
    i = rng.randrange(len(program))
    return inserted(program, i + 1, program[i])


def swap_call(rng: random.Random, program: Program) -> Program:
    """Put another call in place of a line: one that gives the same, if later lines need this."""
    i = rng.randrange(len(program))
    form = forms_and_given(program)[0][i]
    if any(i + 1 in references(line) for line in program):
        pairs = form.gives if form else ()
        others = [one for one in FORMS if pairs and {v: k[:2] for v, k in one.gives} == {v: k[:2] for v, k in pairs}]
    else:
        others = [one for one in FORMS if not one.gives]
    others = [one for one in others if not one.before]
    if not others:
        return program
    draft = Draft(rng, program[:i], i + 1)
    draft.add(rng.choice(others), i + 1, program[i].count)
    return (*draft.program, *program[i + 1 :])


CHANGES = {change_argument: 8, change_count: 4, insert_call: 3, swap_call: 2, remove_line: 1, repeat_line: 1}


def vary(rng: random.Random, program: Program) -> Program:
    """Return the program with one random change. It gets no more than LINES lines, unless it has more already. Return the same
    program if none of 50 changes is valid."""
    for _ in range(50):
        change = rng.choices(list(CHANGES), list(CHANGES.values()))[0]
        try:
            changed = change(rng, program)
        except Full:
            continue
        if changed != program and len(changed) <= max(LINES, len(program)) and is_valid(changed):
            return changed
    return program


def splice(rng: random.Random, a: Program, b: Program) -> Program:
    """Return lines of both programs, those of A first."""
    both = (*a, *(renumbered(line, lambda n: n + len(a)) for line in b))
    while len(both) > LINES:
        both = without(both, rng.randrange(len(both))) or a
    return both
