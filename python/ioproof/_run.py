"""A record that was opened."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from . import _report
from ._errors import DamagedRecordError, IncompleteTablesWarning, ProgramError, RecordError
from ._frames import Frame_co, Library
from ._program import ask, program

Made = TypeVar("Made")

SCHEMA = "ioproof-report/3"
RUNNING = "still running"
# How often a run in progress is read until nothing has changed in between.
ATTEMPTS = 5

# The columns of docs/RECORD.md: a table without rows has no file, and records of earlier programs lack columns.
LEADING = "case repetition phase"
COLUMNS = {
    "phases": f"""{LEADING} started_unix_ns wall_ns open_ns io_ns close_ns read_bytes write_bytes reads writes
        first_done_ns first_done_bytes stonewall_ns stonewall_bytes user_cpu_ns system_cpu_ns wrong_cells
        device_read_bytes device_write_bytes items allocated_bytes found surprises traced_requests traced_contiguous
        traced_seek_bytes harness_cpu_ns node_cpu_ns cpu_wait_ns resident_bytes resident_of_bytes fetched_bytes""",
    "latency": f"{LEADING} operation measure low_ns high_ns count",
    "series": f"{LEADING} operation start_ns length_ns bytes transfers latency_sum_ns latency_max_ns",
    "devices": f"""{LEADING} node device start_ns length_ns reads read_bytes read_time_ns writes write_bytes
        write_time_ns busy_ns queue_time_ns""",
}
TEXTS = {"case", "phase", "operation", "measure", "node", "device"}


class Run(Generic[Frame_co]):
    """A record, as it was when it was opened. Every frame begins with `run_id`, `provenance` and `state`.

    The provenance is that of the figure or case that a row is about, and of a row without one that of the run.

    From the program's report: `figures`, `repetitions`, `audit`, `statements`; all of it is in `report`. From the
    tables of the record: `phases`, `latencies`, `seconds`, `devices`, and any other by `table`.
    """

    def __init__(self, path: str, library: Library[Frame_co], damaged: bool = False) -> None:
        self.path: str = path
        self._library = library
        self._made: dict[str, Any] = {}
        self._read_report()
        run = self.report["run"]
        self.id: str = run["id"]
        self.title: str = run["title"]
        # `complete`, `interrupted`, `failed`, `killed` or `still running`.
        self.state: str = run["state"]
        # `measured`, `imported`, `published` or `simulated`.
        self.provenance: str = run["provenance"]
        # The name of the model of a simulated run.
        self.model: str | None = run["model"] and run["model"]["name"]
        # How often it was resumed.
        self.resumed: int = run["resumed"]
        # What is not there and why, in sentences.
        self.missing: list[str] = self.report["missing"]
        # What is not as it was written.
        self.damage: list[str] = damage(self.report)
        self._refuse_damage(damaged)

    def _read_report(self) -> None:
        """Reads what the record is at one moment: of a run in progress again where it went on in between."""
        for _ in range(ATTEMPTS):
            self._made.clear()
            # First, so that the report has the cases of all files.
            self._places: dict[str, list[str]] = places(self.path)
            self.report: dict[str, Any] = report(self.path)
            if self.report["run"]["state"] != RUNNING:
                return
            try:
                self.statements
            except RecordError:
                continue
            if places(self.path) == self._places:
                return

    def __repr__(self) -> str:
        doubted = sum(bool(figure["doubts"]) for figure in self.report["figures"])
        by = f" by model {self.model}" if self.model else ""
        where = f"simulated{by}, not measured" if self.provenance == "simulated" else self.provenance
        times = "once" if self.resumed == 1 else f"{self.resumed} times"
        resumed = f", resumed {times}" if self.resumed else ""
        count = len(self.report["figures"])
        of_others = Counter(one["provenance"] for one in self.report["figures"] if one["provenance"] != self.provenance)
        others = "".join(f", {number} {provenance}" for provenance, number in sorted(of_others.items()))
        figures = f"{count} figure{'' if count == 1 else 's'}{others}, {doubted} with doubts"
        return f"<ioproof.Run {self.id}: {self.title}; {where}; {self.state}{resumed}; {figures}>"

    @property
    def figures(self) -> Frame_co:
        """A row for each figure: conditions, rates and their spread, latencies, and the doubts about it."""
        return self._once("figures", lambda: self._frame(_report.figures(self.report), _report.FIGURE))

    @property
    def repetitions(self) -> Frame_co:
        """A row for each pass of each figure, with its role and every named rate."""
        rows = _report.repetitions
        return self._once("repetitions", lambda: self._frame([*rows(self.report)], _report.REPETITION))

    @property
    def audit(self) -> Frame_co:
        """A row for each figure and check of the audit that found something, with evidence and advice."""
        return self._once("audit", lambda: self._frame([*_report.audit(self.report)], _report.AUDIT))

    @property
    def statements(self) -> Frame_co:
        """A row for each value of each statement; a withheld statement has one row without a value."""

        def make() -> Frame_co:
            printed = ask("report", self.path, "--format", "csv", "--output", "-")
            try:
                rows = [*_report.statements(self.report, printed)]
            except _report.Unlike as error:
                raise RecordError(f"{self.path} has changed since it was opened; open it again") from error
            return self._frame(rows, _report.STATEMENT)

        return self._once("statements", make)

    @property
    def phases(self) -> Frame_co:
        """A row for each phase of each pass."""
        return self._table("phases")

    @property
    def latencies(self) -> Frame_co:
        """A row for each non-empty bucket of the histogram of each phase (table `latency`)."""
        return self._table("latency")

    @property
    def seconds(self) -> Frame_co:
        """A row for each second of a phase and operation (table `series`)."""
        return self._table("series")

    @property
    def devices(self) -> Frame_co:
        """A row for each block device and interval of a phase."""
        return self._table("devices")

    def table(self, name: str) -> Frame_co:
        """A table of the record, by its name in docs/RECORD.md."""
        return self._table(name)

    @property
    def tables(self) -> list[str]:
        """The tables of the record that have rows."""
        return sorted(self._places)

    def _table(self, name: str) -> Frame_co:
        self._refuse_damage()
        if name not in COLUMNS and name not in self.tables:
            raise RecordError(f"{self.path} has no table {name!r}; it has {', '.join(self.tables) or 'none'}")
        frame: Frame_co = self._once(f"table {name}", lambda: self._read(name))
        lacking = self._once("cases", self._cases_without_rows)
        if lacking:
            warnings.warn(
                f"{self.path} is {self.state}: of these cases only its journal has rows, and its tables have none: "
                f"{', '.join(lacking)}; figures and statements include them, and `ioproof run --resume {self.path}` "
                "completes a run that was interrupted",
                IncompleteTablesWarning,
                stacklevel=3,
            )
        return frame

    def _cases_without_rows(self) -> list[str]:
        cases = {figure["case"] for figure in self.report["figures"]}
        return sorted(cases - set(self._read("phases")["case"]))

    def _once(self, name: str, make: Callable[[], Made]) -> Made:
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made

    def _read(self, name: str) -> Any:
        files = self._files(name)
        known = {column: "text" if column in TEXTS else "integer" for column in COLUMNS.get(name, "").split()}
        if files:
            try:
                return self._library.read(files, self._leading, self._others(), known)
            except Exception as error:
                if not all(map(os.path.exists, files)):
                    raise RecordError(f"{self.path} has changed since it was opened; open it again") from error
                # The program has read the same bytes.
                raise RecordError(
                    f"{self._library.name} cannot read table {name} of {self.path}: {error}; install a later version "
                    "of it, or open the record with the other library (frames=...)"
                ) from error
        return self._frame([], known)

    def _files(self, table: str) -> list[str]:
        return self._places.get(table, [])

    @property
    def _leading(self) -> dict[str, str]:
        run = self.report["run"]
        return {"run_id": run["id"], "provenance": run["provenance"], "state": run["state"]}

    def _others(self) -> dict[str, list[str]]:
        """The cases of each provenance that is not that of the run."""
        found: dict[str, list[str]] = {}
        for figure in self.report["figures"]:
            if figure["provenance"] != self.provenance:
                found.setdefault(figure["provenance"], []).append(figure["case"])
        return found

    def _frame(self, rows: list[_report.Row], known: dict[str, str]) -> Frame_co:
        leading = self._leading
        rows = [{**leading, **row} for row in rows]
        return self._library.build(_report.columns(rows, {**dict.fromkeys(leading, "text"), **known}))

    def _refuse_damage(self, allowed: bool = False) -> None:
        if self.damage and not allowed:
            advice = [issue["advice"] for issue in self.report["audit"] if issue["check"] == DAMAGED]
            raise DamagedRecordError(self.path, self.damage, advice[0] if advice else ADVICE)


def report(path: str) -> dict[str, Any]:
    printed = ask("report", path, "--json")
    try:
        found: dict[str, Any] = json.loads(printed)
        schema = found["schema"]
    except (ValueError, KeyError, TypeError) as error:
        raise ProgramError(f"{program()} printed no report of {path}: {error}; is it ioproof?") from error
    if schema != SCHEMA:
        raise ProgramError(
            f"{program()} writes {schema} and this package reads {SCHEMA}; use the program of the same wheel"
        )
    return found


def places(path: str) -> dict[str, list[str]]:
    """The files of each table. Other names are of files that are not finished, or of none of the record."""
    found = {}
    for table in sorted(entries(path)):
        directory = os.path.join(path, table)
        names = sorted(filter(re.compile(r"\d{6,}\.parquet").fullmatch, entries(directory)))
        if names:
            found[table] = [os.path.join(directory, name) for name in names]
    return found


def entries(path: str) -> list[str]:
    """What is in a directory; nothing of what is none."""
    try:
        return os.listdir(path)
    except OSError:
        return []


# The name of the check, how a sentence about damage begins in `missing`, and the advice where there is no figure.
DAMAGED = "damaged record"
NOT_READABLE = "Not readable: "
ADVICE = "use an intact copy of the record, or measure again"


def damage(report: dict[str, Any]) -> list[str]:
    """What is not as it was written: all of it, or at least what the audit names."""
    lines = [line[len(NOT_READABLE) : -1] for line in report["missing"] if line.startswith(NOT_READABLE)]
    named = [issue["evidence"] for issue in report["audit"] if issue["check"] == DAMAGED]
    return lines or named[:1]
