"""The table that `lab matrix` writes as text, CSV, JSON and HTML. `kprotperf diff` and `kprotperf why` compute all figures."""

import json
import math
from collections import defaultdict
from html import escape
from typing import Any, Iterator, Sequence
from urllib.parse import quote

from ..lab import Lab, join_lines, output

Found = dict[str, Any]
NOTE = "A+A compares one kernel with itself"
SUMS = (
    "Two together, in % of the command with both off: each alone, their sum; both; both less the sum, with its 95 % interval:"
)
COLUMNS = "protection workload unit baseline hardened delta delta_pct ci_low_pct ci_high_pct verdict p".split()
STYLE = """\
body{font:14px sans-serif}table{border-collapse:collapse}td,th{border:1px solid #999;padding:4px 8px}
.slower{background:#fbb}.faster{background:#bfb}.same{background:#eee}.failed{color:#999}</style>"""


def document(
    lab: Lab, cells: list[Found], boots: int, rows: list[str], workloads: list[str], together: Sequence[list[str]]
) -> Found:
    """Return the table as a JSON object. `together` has, for each pair of protections, the names of its four rows."""
    at = {(cell["protection"], cell["workload"]): cell for cell in cells}
    fours = [[at[row, workload] for row in four] for four in together for workload in workloads]
    return {
        "schema": "kprotperf-matrix/1",
        "boots": boots,
        "protections": rows,
        "workloads": workloads,
        "cells": [at[row, workload] for row in rows for workload in workloads],
        "together": [sum_up(lab, *four) for four in fours if all(cell["reason"] is None for cell in four)],
    }


def sum_up(lab: Lab, p: Found, q: Found, q_with_p: Found, both: Found) -> Found:
    """Compare Q's cost while P is on with Q's cost while P is off. They are equal if the costs of P and Q add up. Their errors
    are independent, since the two costs come from different recordings."""
    difference, interval = q_with_p["delta"] - q["delta"], None
    if q["ci"] and q_with_p["ci"] and None not in q["ci"] + q_with_p["ci"]:
        estimates = [q["delta"], *q["ci"], q_with_p["delta"], *q_with_p["ci"]]
        interval = list(map(float, output([lab.kprotperf, "difference", *map(repr, estimates)]).split()[1:]))
    verdict = None if interval is None else "more" if interval[0] > 0 else "less" if interval[1] < 0 else "unclear"
    return {
        "protections": both["protection"],
        **{key: both[key] for key in ("workload", "unit", "baseline")},
        "alone": [p["delta"], q["delta"]],
        "sum": p["delta"] + q["delta"],
        "both": both["delta"],
        "difference": difference,
        "ci": interval,
        "verdict": verdict,
    }


def forms(found: Found) -> dict[str, str]:
    """Return the table as text, CSV, JSON and an HTML page."""
    return {
        "json": json.dumps(found, indent=2, ensure_ascii=False) + "\n",
        "txt": join_lines(text(found)),
        "csv": join_lines(csv(found)),
        "html": join_lines(page(found)),
    }


def figure(value: float | None) -> str:
    """Return a number with its sign and two decimals."""
    if value is None:
        return "-"
    hundredths = math.floor(abs(value) * 100 + 0.5)
    return f"{'+' if value >= 0 else '-'}{hundredths // 100}.{hundredths % 100:02}"


def doubt(cell: Found) -> str:
    """Return the mark of a cell that has warnings."""
    return "*" if cell.get("warnings") else ""


def shown(cell: Found) -> str:
    if cell["reason"]:
        return "failed"
    start = figure(cell["delta_pct"]) + doubt(cell)
    if cell["ci_low_pct"] is None:
        return start + " not known"
    return f"{start} [{figure(cell['ci_low_pct'])}, {figure(cell['ci_high_pct'])}] {cell['verdict']}"


def where(context: Found) -> str:
    protection = f" ({context['protection']})" if context["protection"] else ""
    return f"{context['name']} {figure(context['delta_pct'])} %, {context['cause'] or 'in many functions'}{protection}"


def sums(one: Found) -> str:
    """Return a line on whether two costs add up, in percent of the command's CPU time with both protections off."""

    def percent(value: float | None) -> str:
        return figure(None if value is None else value / one["baseline"] * 100)

    alone = " and ".join(map(percent, one["alone"]))
    ci = "not known" if one["ci"] is None else f"[{', '.join(map(percent, one['ci']))}] {one['verdict']}"
    costs = f"{alone}, sum {percent(one['sum'])}; both {percent(one['both'])}; {percent(one['difference'])} {ci}"
    return f"{one['protections']}, {one['workload']}: {costs}"


def cautions(found: Found) -> list[str]:
    """Return a line for each warning: the cells with this warning, and its text."""
    cells = defaultdict[str, list[str]](list)
    for cell in found["cells"]:
        for warning in cell.get("warnings") or []:
            cells[warning].append(f"{cell['protection']}, {cell['workload']}")
    return [f"{'; '.join(cells[warning])}: {warning}" for warning in sorted(cells)]


def failures(found: Found) -> list[str]:
    """Return a line for each protection and reason of missing cells."""
    workloads = defaultdict[tuple[str, str], list[str]](list)
    for cell in found["cells"]:
        if cell["reason"]:
            workloads[cell["protection"], cell["reason"]].append(cell["workload"])
    return [f"{row}, {', '.join(workloads[row, reason])}: {reason}" for row, reason in sorted(workloads)]


def places(found: Found) -> list[str]:
    """Return a line for each cell with a significant change: the context that changes most, and the cause."""
    known = [cell for cell in found["cells"] if cell["reason"] is None and (cell.get("context") or {}).get("significant")]
    known = [cell for cell in known if cell["context"]["delta_total_low"] is not None]
    return [f"{cell['protection']}, {cell['workload']}: {where(cell['context'])}" for cell in known]


def rows(found: Found) -> Iterator[tuple[str, list[Found]]]:
    for row in found["protections"]:
        yield row, [cell for cell in found["cells"] if cell["protection"] == row]


def text(found: Found) -> Iterator[str]:
    grid = [["PROTECTION", *found["workloads"]], *([row, *map(shown, cells)] for row, cells in rows(found))]
    widths = [max(map(len, column)) for column in zip(*grid)]
    for line in grid:
        yield "  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip(" ")
    yield ""
    yield f"Change of the command's CPU time in %, its 95 % interval, and the verdict. Boots per side: {found['boots']}."
    yield f"{NOTE}: a change no larger than that is not significant."
    below = {
        "Where the change is, if it is significant:": places(found),
        SUMS: list(map(sums, found["together"])),
        "* To be read with care:": cautions(found),
        "Not measured:": failures(found),
    }
    for title, lines in below.items():
        if lines:
            yield from ("", title, *("  " + line for line in lines))


def field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return json.dumps(value)


def csv(found: Found) -> Iterator[str]:
    more = "context context_delta_pct context_significant cause cause_protection reason".split()
    yield ",".join(map(field, COLUMNS + more))
    for cell in found["cells"]:
        context = cell.get("context") or {}
        values = [cell.get(key) for key in COLUMNS]
        values += [context.get(key) for key in ("name", "delta_pct", "significant", "cause", "protection")]
        yield ",".join(map(field, [*values, cell["reason"]]))


def page_cell(cell: Found) -> str:
    if cell["reason"]:
        return f'<td class=failed title="{escape(cell["reason"])}">failed</td>'
    ends = f"{figure(cell['ci_low_pct'])} to {figure(cell['ci_high_pct'])}"
    parts = [f"<b>{figure(cell['delta_pct'])} %{doubt(cell)}</b>", ends, escape(str(cell["verdict"]))]
    if cell["pages"]:
        folder = "cells/" + "/".join(quote(part, safe="") for part in cell["pages"].split("/"))
        why = f'<a href="{folder}/why.html">why</a> ' if cell["answer"] else ""
        parts.append(f'{why}<a href="{folder}/diff.html">diff</a>')
    title = escape(cell["answer"] or "")
    return f'<td class={escape(str(cell["verdict"]))} title="{title}">{"<br>".join(parts)}</td>'


def page(found: Found) -> Iterator[str]:
    yield "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>kprotperf: protections and workloads</title><style>"
    yield STYLE
    legend = "Change of the command's CPU time, its 95 % interval, and the verdict."
    yield f"<p>{legend} Boots per side: {found['boots']}. {NOTE}.</p>"
    yield f"<table><tr><th></th>{''.join(f'<th>{escape(name)}</th>' for name in found['workloads'])}</tr>"
    for row, cells in rows(found):
        yield f"<tr><th>{escape(row)}</th>{''.join(map(page_cell, cells))}</tr>"
    yield "</table>"
    if found["together"]:
        yield f"<p>{SUMS}"
        yield from (f"<br>{escape(sums(one))}" for one in found["together"])
    yield from (f"<p>* {escape(line)}</p>" for line in cautions(found))
    yield "</html>"
