"""The program's report of a record (JSON), as columns: figures, repetitions, audit and statements."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

Row = dict[str, Any]

SPREADS = ("bytes_per_second", "transfers_per_second")
# The median is the summary.
SPREAD = "median mean deviation minimum maximum interval_low interval_high confidence".split()


def kinds(**names: str) -> dict[str, str]:
    """The columns of each kind of values, as `text="case phase"`."""
    return {name: kind for kind, text in names.items() for name in text.split()}


# Fields of a figure that become several columns, or rows of another frame.
NESTED = {"settings", "latency", "operations", "exchange", "devices", "repetitions", *SPREADS}

# The columns that stand first, also where there are no rows. All other fields follow.
FIGURE = {
    **kinds(integer="number", text="case title group target phase what path conditions"),
    **kinds(integer="tasks transfer_bytes", text="unit"),
    **{f"{key}_{name}": "number" for key in SPREADS for name in SPREAD},
    **kinds(text="doubts", flag="disqualified", integer="repetitions"),
    **kinds(text="notes overrides settings caution client statistic rate", flag="page_cache"),
}
REPETITION = kinds(integer="number", text="case phase") | kinds(integer="repetition", text="role")
AUDIT = kinds(integer="number", text="check", flag="disqualifies") | kinds(text="concerns evidence advice")
STATEMENT = {
    **kinds(integer="number", text="statement"),
    **kinds(integer="figure", text="figures case phase conditions outcome because value_name"),
    **kinds(number="value", text="value_text value_unit"),
}

# Fields of every kind of statement.
EVERY = {"figure", "figures", "conditions", "outcome", "because"}


def columns(rows: list[Row], known: dict[str, str]) -> dict[str, tuple[str, list[Any]]]:
    """The columns of `rows`: those that are known, then others as they come up. What a row lacks is null."""
    found = {}
    for name in dict.fromkeys([*known, *(name for row in rows for name in row)]):
        values = [row.get(name) for row in rows]
        kind = known.get(name) or kind_of(values)
        found[name] = kind, [text_of(value) for value in values] if kind == "text" else values
    return found


def kind_of(values: Iterable[Any]) -> str:
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return "flag"
    if types == {int}:
        return "integer"
    return "number" if types <= {int, float} else "text"


def text_of(value: Any) -> str | None:
    """Words, as the program writes them in CSV."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "; ".join(value)
    return None if value is None else str(value)


def figures(report: Row) -> list[Row]:
    """A row for each figure. `disqualified`: a doubt keeps it from any commitment."""
    disqualified = {issue["figure"] for issue in report["audit"] if issue["disqualifies"]}
    return [{**figure_row(figure), "disqualified": figure["number"] in disqualified} for figure in report["figures"]]


def figure_row(figure: Row) -> Row:
    row = {key: value for key, value in figure.items() if key not in NESTED}
    row["repetitions"] = len(figure["repetitions"])
    for key in SPREADS:
        row.update({f"{key}_{name}": value for name, value in figure[key].items()})
    row["settings"] = ";".join(f"{one['key']}={text_of(one['value'])}" for one in figure["settings"])
    for one in figure["settings"]:
        row["_".join(filter(None, ("setting", one["key"], one["unit"])))] = one["value"]
    for one in figure["latency"]:
        row.update(latency(one))
    for one in figure["operations"]:
        row.update({f"{one['operation']}_{key}": one[key] for key in ("per_second", "bytes_per_second")})
    row.update({f"exchange_{key}": value for key, value in (figure["exchange"] or {}).items()})
    return row


def latency(one: Row) -> Row:
    """The statistics of an operation, named as in CSV."""
    operation, response = one["operation"], one["measure"] == "response"
    prefix = f"{operation}_latency" if response else f"{operation}_{one['measure']}_latency"
    row = {f"{prefix}_{key}": value for key, value in one.items() if key.endswith("_ns")}
    if response:
        counted = "transfers" if operation in ("read", "write") else "operations"
        row[f"{operation}_{counted}"] = one["transfers"]
    return row


def repetitions(report: Row) -> Iterator[Row]:
    """A row for each pass of each figure, with every named rate; `role` says whether it counts."""
    for figure in report["figures"]:
        for one in figure["repetitions"]:
            row = {key: figure[key] for key in ("number", "case", "phase")}
            row.update({key: value for key, value in one.items() if key != "rates"})
            for rate in one["rates"]:
                name = re.sub(r"\W+", "_", rate["name"].lower())
                row.update({f"{name}_{key}": rate[key] for key in SPREADS})
            yield row


def audit(report: Row) -> Iterator[Row]:
    """A row for each figure and check that found something."""
    for issue in report["audit"]:
        yield {"number": issue["figure"], **{key: value for key, value in issue.items() if key != "figure"}}


def statements(report: Row, units: dict[tuple[str, str, str], str]) -> Iterator[Row]:
    """A row for each value of each statement. A withheld statement has one row without a value."""
    figures = {figure["number"]: figure for figure in report["figures"]}
    number = 0
    for kind, all_of_kind in report["statements"].items():
        for said in all_of_kind:
            number += 1
            figure = figures.get(said["figure"], {})
            row = {
                "number": number,
                "statement": kind,
                "figure": said["figure"],
                "figures": " ".join(map(str, said["figures"])),
                "case": figure.get("case"),
                "phase": figure.get("phase"),
                "conditions": said["conditions"],
                "outcome": said["outcome"],
                "because": "; ".join(f"{why['reason']}: {why['evidence']}" for why in said["because"]),
            }
            if said["outcome"] == "withheld":
                yield row
                continue
            for name, value in said.items():
                if name in EVERY or value is None:
                    continue
                unit = units.get((kind, row["figures"], name), "")
                for shown in values(value):
                    yield {**row, "value_name": name, "value_unit": unit, **shown}


def values(value: Any) -> Iterator[Row]:
    """An interval is two values."""
    if isinstance(value, list) and value and isinstance(value[0], (int, float)):
        yield from ({"value": end, "value_text": text} for end, text in zip(value, ("from", "to")))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield {"value": value}
    else:
        yield {"value_text": text_of(value)}


def units_of(report_csv: str) -> dict[tuple[str, str, str], str]:
    """Of each value of a statement the unit, which only CSV has: by kind, figures and name."""
    rows = csv.DictReader(io.StringIO(report_csv, newline=""))
    said = (row for row in rows if row["row"] == "statement")
    return {(row["statement"], row["figures"], row["value_name"]): row["value_unit"] for row in said}
