"""The program's report of a record (JSON), as columns: figures, repetitions, audit and statements."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
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

# All columns by their names, so that the same column has the same type in the frames of all runs.
KINDS = {
    **FIGURE,
    **REPETITION,
    **AUDIT,
    **STATEMENT,
    # Of figures.
    **kinds(number="cache_share device_share cpu_ns_per_operation allocated_bytes_per_file"),
    **kinds(integer="nodes bytes_per_operation names_searched names_found surprises"),
    **kinds(integer="exchange_request_bytes exchange_response_bytes exchange_ends exchange_connections"),
    **kinds(integer="exchange_depth exchange_threads"),
    # Of repetitions.
    **kinds(number="drift first_touch_share resident_share", integer="bytes transfers started_unix_ns"),
    **kinds(integer="wall_ns open_ns io_ns close_ns user_cpu_ns system_cpu_ns"),
}
# The keys of studies that can be swept. Sizes and times have their unit in the name of the column.
SETTINGS = {
    **kinds(integer="branching concurrency connections depth free_percent history items_per_directory levels member"),
    **kinds(integer="members nodes offset operations pieces port precondition precreated processes read_distance"),
    **kinds(integer="read_percent rounds segments sets shift signature steps stride tasks tasks_per_node threads"),
    **kinds(integer="waiting_percent warm_up", number="rate scale"),
    **kinds(flag="barriers collective direct drop_caches file_per_repetition fresh_order leaf_only make_node no_stat"),
    **kinds(flag="own_trees random read_only reshuffle single_attempt unique_dir verify wear_out wipe"),
}
KINDS.update({f"setting_{key}": kind for key, kind in SETTINGS.items()})
# Of any operation and named rate.
PATTERNS = {
    r"setting_\w+_(bytes|ns)": "integer",
    r"[a-z]+_(transfers|operations)": "integer",
    r"\w+_latency_(mean|mean_deviation|deviation)_ns": "number",
    r"\w+_latency_\w+_ns": "integer",
    r"\w+_per_second": "number",
}

# Fields of every kind of statement.
EVERY = {"figure", "figures", "conditions", "outcome", "because"}
# The kinds with a CSV file of their own, so that the other has no rows of them.
WIDE = {"full_timer"}
# The units that their names end in.
ENDINGS = {"_ns": "ns", "_bytes": "bytes"}


def columns(rows: list[Row], known: dict[str, str]) -> dict[str, tuple[str, list[Any]]]:
    """The columns of `rows`: those that are known, then others as they come up. What a row lacks is null."""
    found = {}
    for name in dict.fromkeys([*known, *(name for row in rows for name in row)]):
        values = [row.get(name) for row in rows]
        kind = known.get(name) or kind_of(name)
        found[name] = kind, [text_of(value) for value in values] if kind == "text" else values
    return found


def kind_of(name: str) -> str:
    """The kind of a column, by its name alone. What this package does not know is text."""
    matching = (kind for pattern, kind in PATTERNS.items() if re.fullmatch(pattern, name))
    return KINDS.get(name) or next(matching, "text")


def text_of(value: Any) -> str | None:
    """Words, as the program writes them in CSV."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "; ".join(map(str, value))
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
            row = {key: figure[key] for key in ("provenance", "number", "case", "phase")}
            row.update({key: value for key, value in one.items() if key != "rates"})
            for rate in one["rates"]:
                name = re.sub(r"\W+", "_", rate["name"].lower())
                row.update({f"{name}_{key}": rate[key] for key in SPREADS})
            yield row


def audit(report: Row) -> Iterator[Row]:
    """A row for each figure and check that found something."""
    figures = by_number(report)
    for issue in report["audit"]:
        found = {key: value for key, value in issue.items() if key != "figure"}
        yield {**origin(figures.get(issue["figure"])), "number": issue["figure"], **found}


def by_number(report: Row) -> dict[int, Row]:
    return {figure["number"]: figure for figure in report["figures"]}


def origin(figure: Row | None) -> Row:
    """Where the values of a row are from that is about this figure. Without one it is the run, as in CSV."""
    return {"provenance": figure["provenance"]} if figure else {}


class Unlike(Exception):
    """The report in CSV is not of the statements that the report in JSON has."""


def statements(report: Row, report_csv: str) -> Iterator[Row]:
    """A row for each value of each statement. A withheld statement has one row without a value."""
    figures, in_csv = by_number(report), rows_of_statements(report_csv)
    number = 0
    for kind, all_of_kind in report["statements"].items():
        rows = iter(in_csv.pop(kind, []))
        for said in all_of_kind:
            number += 1
            figure = figures.get(said["figure"])
            row = {
                **origin(figure),
                "number": number,
                "statement": kind,
                "figure": said["figure"],
                "figures": " ".join(map(str, said["figures"])),
                "case": figure and figure["case"],
                "phase": figure and figure["phase"],
                "conditions": said["conditions"],
                "outcome": said["outcome"],
                "because": "; ".join(f"{why['reason']}: {why['evidence']}" for why in said["because"]),
            }
            shown = [*values_of(said)]
            if kind in WIDE:
                units = {one["value_name"]: unit_in(one["value_name"]) for one in shown}
            else:
                units = units_of(row, shown, rows)
            if said["outcome"] == "withheld":
                yield row
            for one in shown:
                yield {**row, **one, "value_unit": units.get(one["value_name"], "")}
        if next(rows, None):
            raise Unlike(kind)
    if in_csv:
        raise Unlike(", ".join(in_csv))


def values_of(said: Row) -> Iterator[Row]:
    """The values of a statement with their names. An interval is two values."""
    named = {} if said["outcome"] == "withheld" else said
    for name, value in named.items():
        if name in EVERY or value is None:
            continue
        if isinstance(value, list) and value and not isinstance(value[0], str):
            for end, text in zip(value, ("from", "to")):
                yield {"value_name": name, "value": end, "value_text": text}
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield {"value_name": name, "value": value}
        else:
            yield {"value_name": name, "value_text": text_of(value)}


def rows_of_statements(report_csv: str) -> dict[str, list[Row]]:
    """The rows of each kind of statement, without those of an empty value.

    Such a value is an empty text, or a number that is not finite and null in JSON.
    """
    found: dict[str, list[Row]] = {}
    limit = csv.field_size_limit(max(len(report_csv), csv.field_size_limit()))
    try:
        for row in csv.DictReader(io.StringIO(report_csv, newline="")):
            if row["row"] == "statement" and (not row["value_name"] or row["value"] or row["value_text"]):
                found.setdefault(row["statement"], []).append(row)
    finally:
        csv.field_size_limit(limit)
    return found


def units_of(row: Row, shown: list[Row], rows: Iterator[Row]) -> Row:
    """The units of the values of a statement by their names. Only CSV has them: in `rows`, those of its kind.

    Both forms have the statements of a kind in the same order. Within a statement JSON has the values by name, and CSV
    in the order of the columns. A withheld statement has one row without a name.
    """
    names = [one["value_name"] for one in shown if one.get("value") is not None or one["value_text"]]
    if row["outcome"] == "withheld":
        names = [""]
    taken = [*islice(rows, len(names))]
    of_others = any((one["figures"], one["outcome"]) != (row["figures"], row["outcome"]) for one in taken)
    if of_others or sorted(one["value_name"] for one in taken) != sorted(names):
        raise Unlike(row["statement"])
    return {one["value_name"]: one["value_unit"] for one in taken}


def unit_in(name: str) -> str:
    """The unit that the name of a value ends in."""
    return next((unit for ending, unit in ENDINGS.items() if name.endswith(ending)), "")
