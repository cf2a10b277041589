"""The frames of records, with both libraries."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import ioproof
from conftest import ROOT, Unfinished, called
from ioproof import _report

NAMES = ["figures", "repetitions", "audit", "statements", "phases", "latencies", "seconds", "devices"]


def rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame of either library, where null is None."""
    if hasattr(frame, "to_dicts"):
        return list(frame.to_dicts())
    plain = frame.astype(object)
    return list(plain.where(plain.notna(), None).to_dict("records"))


def opened(record: Path, frames: str) -> ioproof.Run[Any]:
    return ioproof.open(record, frames=frames)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("name", NAMES)
def test_each_frame_says_where_its_values_are_from(name: str, frames: str, measured: Path, simulated: Path) -> None:
    for record, provenance in ((measured, "measured"), (simulated, "simulated")):
        run = opened(record, frames)
        found = rows(getattr(run, name))
        assert {(row["run_id"], row["provenance"], row["state"]) for row in found} <= {(run.id, provenance, "complete")}
        assert found or name in ("audit", "devices")


def test_frames_are_of_the_library_that_was_asked_for(measured: Path, frames: str) -> None:
    assert type(opened(measured, frames).figures).__module__.startswith(frames)
    assert type(ioproof.open(measured).figures).__module__.startswith("pandas")


def test_figures_have_the_values_of_the_report(measured: Path, simulated: Path, frames: str) -> None:
    for record in (measured, simulated):
        run = opened(record, frames)
        found = rows(run.figures)
        assert len(found) == len(run.report["figures"]) > 3
        for row, figure in zip(found, run.report["figures"]):
            assert row["case"] == figure["case"]
            assert row["doubts"] == "; ".join(figure["doubts"])
            assert row["bytes_per_second_median"] == figure["bytes_per_second"]["median"]
            (latency,) = figure["latency"]
            assert row[f"{latency['operation']}_latency_p99_ns"] == latency["p99_ns"]
            assert row[f"{latency['operation']}_transfers"] == latency["transfers"]


def test_the_figures_of_a_sweep_have_its_settings(simulated: Path, frames: str) -> None:
    for row in rows(opened(simulated, frames).figures):
        depth, direct = row["setting_depth"], row["setting_direct"]
        assert row["settings"] == f"direct={str(direct).lower()};depth={depth}"
        assert isinstance(depth, int) and isinstance(direct, bool)


def test_doubts_stand_beside_figures_and_in_a_frame(measured: Path, frames: str) -> None:
    run = opened(measured, frames)
    found = rows(run.audit)
    for figure in rows(run.figures):
        of_figure = [row for row in found if row["number"] == figure["number"]]
        # The audit also has checks that explain a figure and doubt nothing.
        assert {row["check"] for row in of_figure} >= set(figure["doubts"].split("; "))
        # Passes of 100 ms are too short for any promise.
        assert "too short" in figure["doubts"]
        assert figure["disqualified"] is True
        assert all(row["evidence"] and row["advice"] for row in of_figure)


def test_tables_agree_with_each_other(measured: Path, frames: str) -> None:
    run = opened(measured, frames)

    def sums(found: list[dict[str, Any]], *columns: str) -> dict[tuple[Any, ...], int]:
        totals: dict[tuple[Any, ...], int] = {}
        for row in found:
            key = row["case"], row["repetition"], row["phase"]
            totals[key] = totals.get(key, 0) + sum(row[column] for column in columns)
        return totals

    phases, seconds = rows(run.phases), rows(run.seconds)
    assert sums(phases, "reads", "writes") == sums(rows(run.latencies), "count") == sums(seconds, "transfers")
    assert sums(phases, "read_bytes", "write_bytes") == sums(seconds, "bytes")
    recorded = {(row["case"], row["repetition"], row["phase"]) for row in rows(run.repetitions)}
    assert recorded == {key for key in sums(phases) if key[2] != "fill"}


def test_repetitions_have_every_named_rate(measured: Path, frames: str) -> None:
    for row in rows(opened(measured, frames).repetitions):
        assert row["role"] == "recorded"
        assert row["by_wall_time_bytes_per_second"] == row["bytes_per_second"]
        assert row["by_i_o_phase_bytes_per_second"] >= row["bytes_per_second"]


@pytest.mark.parametrize(("kind", "units"), [("simulated", {"ops/s", "ratio"}), ("imported", {"ratio"})])
def test_statements_are_those_of_the_program(
    kind: str, units: set[str], frames: str, request: pytest.FixtureRequest
) -> None:
    """CSV has the same rows, as text."""
    record = request.getfixturevalue(kind)
    found = rows(opened(record, frames).statements)
    printed = called(ioproof.program(), "report", record, "--format", "csv", "--output", "-")
    wanted = [row for row in csv.DictReader(io.StringIO(printed)) if row["row"] == "statement"]

    def number(text: str) -> float | None:
        return float(text) if text else None

    # CSV has kinds in the order of the report, and JSON by name.
    by_csv = sorted(
        (row["statement"], row["figures"], row["outcome"], row["because"], row["value_name"], row["value_unit"])
        + (number(row["value"]) or 0.0,)
        for row in wanted
    )
    by_frame = sorted(
        (row["statement"], row["figures"], row["outcome"], row["because"], row["value_name"] or "")
        + (row["value_unit"] or "", row["value"] or 0.0)
        for row in found
    )
    assert len(by_frame) > 10
    for one, other in zip(by_csv, by_frame):
        assert one[:-1] == other[:-1]
        assert math.isclose(one[-1], other[-1])
    assert len(by_csv) == len(by_frame)
    assert {row["value_unit"] for row in found} >= units


def test_two_commitments_on_one_figure_have_their_own_units(simulated: Path, frames: str) -> None:
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows(opened(simulated, frames).statements):
        if row["statement"] == "commitment":
            found.setdefault(row["number"], {})[row["value_name"]] = row
    units = {(one["name"]["value_text"], one["promised"]["value_unit"]) for one in found.values()}
    assert units == {("fast reads", "ops/s"), ("reads answered in time", "ns")}
    figures = [one["name"]["figures"] for one in found.values()]
    assert len(figures) == 2 * len(set(figures))
    assert all(one["measured"]["value_unit"] == one["promised"]["value_unit"] for one in found.values())


def statement(**values: Any) -> dict[str, Any]:
    return {"figure": 1, "figures": [1], "conditions": "", "outcome": "stated", "because": [], **values}


def test_units_are_those_of_the_statement_in_its_place() -> None:
    figures = [{"number": 1, "case": "a", "phase": "read", "provenance": "measured"}]
    all_of_kind = [
        statement(rate=1.5, other=None, word="", interval=[0.5, None]),
        statement(outcome="withheld", rate=None),
        # Not finite.
        statement(rate=None, other=2, names=[]),
        statement(rate=3.5, flag=True, text="=1" * 100_000),
    ]
    shown = [
        ("stated", "rate", "1.5", "", "bytes/s"),
        ("stated", "interval", "0.5", "from", "ratio"),
        ("stated", "interval", "", "to", "ratio"),
        ("stated", "word", "", "", ""),
        ("withheld", "", "", "", ""),
        ("stated", "rate", "", "", "bytes/s"),
        ("stated", "other", "2", "", "s"),
        ("stated", "names", "", "", ""),
        ("stated", "text", "", "'" + "=1" * 100_000, ""),
        ("stated", "rate", "3.5", "", "ops/s"),
        ("stated", "flag", "1", "", ""),
    ]
    text = io.StringIO()
    csv.writer(text).writerows(
        [
            ("row", "statement", "figures", "outcome", "value_name", "value", "value_text", "value_unit"),
            ("figure", *[""] * 7),
            *(("statement", "kind", "1", *row) for row in shown),
        ]
    )
    report = {"figures": figures, "statements": {"empty": [], "kind": all_of_kind}}
    found = [*_report.statements(report, text.getvalue())]
    assert [(row["number"], row.get("value_name"), row.get("value"), row.get("value_unit")) for row in found] == [
        (1, "rate", 1.5, "bytes/s"),
        (1, "word", None, ""),
        (1, "interval", 0.5, "ratio"),
        (1, "interval", None, "ratio"),
        (2, None, None, None),
        (3, "other", 2, "s"),
        (3, "names", None, ""),
        (4, "rate", 3.5, "ops/s"),
        (4, "flag", None, ""),
        (4, "text", None, ""),
    ]
    # One statement less, one more, and those of another kind.
    for statements in ({"kind": all_of_kind[:-1]}, {"kind": [*all_of_kind, all_of_kind[0]]}, {"other": all_of_kind}):
        with pytest.raises(_report.Unlike):
            [*_report.statements({"figures": figures, "statements": statements}, text.getvalue())]


def test_statements_with_a_csv_file_of_their_own_have_units(jobs: Path, frames: str) -> None:
    found = [row for row in rows(opened(jobs, frames).statements) if row["statement"] == "full_timer"]
    units = {row["value_name"]: row["value_unit"] for row in found}
    assert (units["real_ns"], units["memory_bytes"], units["voluntary_switches"]) == ("ns", "bytes", "")
    policy = (ROOT / "crates" / "analysis" / "src" / "gate" / "policy.rs").read_text(encoding="utf-8")
    rows_of_policy = re.findall(r'^    \w+: \w+\("(\w+)"(.*?),\n(?=    \w+: |\})', policy, re.MULTILINE | re.DOTALL)
    assert len(rows_of_policy) > 40
    assert {kind for kind, row in rows_of_policy if ".wide()" in row} == _report.WIDE


@pytest.mark.parametrize("name", [*NAMES, "table"])
def test_the_provenance_of_a_row_is_that_of_its_figure_or_case(name: str, merged: Path, frames: str) -> None:
    run = opened(merged, frames)
    by_number = {figure["number"]: figure["provenance"] for figure in run.report["figures"]}
    by_case = {figure["case"]: figure["provenance"] for figure in run.report["figures"]}
    assert run.provenance == "measured" and set(by_case.values()) == {"measured", "imported"}
    found = rows(run.table("printed") if name == "table" else getattr(run, name))
    for row in found:
        number = row["figure"] if name == "statements" else row.get("number")
        wanted = by_number.get(number) if name in ("audit", "statements") else by_case[row["case"]]
        assert row["provenance"] == (wanted or "measured")
    if name in ("figures", "repetitions", "statements", "phases"):
        assert {row["provenance"] for row in found} == {"measured", "imported"}


def test_figures_of_another_provenance_are_counted(merged: Path) -> None:
    run = ioproof.open(merged)
    others = sum(figure["provenance"] == "imported" for figure in run.report["figures"])
    assert f"measured; complete; {len(run.report['figures'])} figures, {others} imported, " in repr(run)


def test_withheld_statements_are_there_without_a_value(simulated: Path, frames: str) -> None:
    withheld = [row for row in rows(opened(simulated, frames).statements) if row["outcome"] == "withheld"]
    assert withheld
    for row in withheld:
        assert row["because"]
        assert (row["value_name"], row["value"], row["value_text"]) == (None, None, None)


def test_a_promise_is_not_kept_by_a_model(simulated: Path, frames: str) -> None:
    run = opened(simulated, frames)
    assert "simulated by model a laptop with one NVMe drive, not measured" in repr(run)
    judgements = {row["value_text"] for row in rows(run.statements) if row["value_name"] == "judgement"}
    assert judgements and all(word.endswith("in this model") for word in judgements)


def test_an_imported_record_says_so(imported: Path, frames: str) -> None:
    run = opened(imported, frames)
    assert run.provenance == "imported" and "imported" in repr(run)
    (figure,) = rows(run.figures)
    assert figure["provenance"] == "imported" and figure["transfers_per_second_median"] == 10000
    assert {row["provenance"] for row in rows(run.table("printed"))} == {"imported"}
    # Nothing was observed second by second.
    assert rows(run.seconds) == [] and "length_ns" in run.seconds.columns


def test_integers_that_may_be_null_stay_integers(measured: Path, frames: str) -> None:
    for row in rows(opened(measured, frames).phases):
        assert row["stonewall_ns"] is None
        assert isinstance(row["started_unix_ns"], int) and row["started_unix_ns"] > 2**60


def test_the_columns_of_tables_are_those_of_the_format() -> None:
    text = (ROOT / "docs" / "RECORD.md").read_text(encoding="utf-8")
    for table, columns in ioproof._run.COLUMNS.items():
        section = text.split(f"### `{table}/`")[1].split("\n### ")[0]
        documented = re.findall(r"^\| `(\w+)` \| (text|integer)", section, re.MULTILINE)
        assert columns.split() == [name for name, _ in documented]
        assert {name for name, kind in documented if kind == "text"} <= ioproof._run.TEXTS


def test_a_run_in_progress_and_a_killed_one_are_marked(unfinished: Unfinished, frames: str) -> None:
    run = opened(unfinished.record, frames)
    assert run.state == "still running" and "in progress" in run.missing[0]
    unfinished.kill()
    run = opened(unfinished.record, frames)
    assert run.state == "killed" and "killed" in repr(run)
    figures = rows(run.figures)
    assert figures and all("unfinished" in row["doubts"] and row["state"] == "killed" for row in figures)
    with pytest.warns(ioproof.IncompleteTablesWarning, match="seq-read.*--resume") as warned:
        assert rows(run.phases) == []
    assert [one.filename for one in warned] == [__file__]
    for name in ("latencies", "seconds", "devices"):
        with pytest.warns(ioproof.IncompleteTablesWarning):
            assert "case" in getattr(run, name).columns


def test_a_resumed_run_says_so(unfinished: Unfinished, frames: str) -> None:
    unfinished.kill()
    journal = unfinished.record / "journal.jsonl"
    before = journal.read_bytes().count(b'"phase-finished"')
    resumed = [ioproof.program(), "run", "--resume", str(unfinished.record), "--yes", "--quiet"]
    again = subprocess.Popen(resumed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while journal.read_bytes().count(b'"phase-finished"') <= before:
        assert again.poll() is None
        time.sleep(0.02)
    again.kill()
    again.wait()
    run = opened(unfinished.record, frames)
    assert run.resumed == 1 and "resumed once" in repr(run)


def test_a_run_that_was_killed_at_once_has_empty_frames(measured: Path, tmp_path: Path, frames: str) -> None:
    record = tmp_path / "record"
    record.mkdir()
    (record / "manifest.json").write_bytes((measured / "manifest.json").read_bytes())
    first, rest = (measured / "journal.jsonl").read_bytes().split(b"\n", 1)
    (record / "journal.jsonl").write_bytes(first + b"\n")
    # The manifest is that of the end, and the journal that of the start.
    run = ioproof.open(record, frames=frames, damaged=True)  # type: ignore[call-overload]
    for name in ("figures", "repetitions", "audit", "statements"):
        assert rows(getattr(run, name)) == []
    assert {"case", "bytes_per_second_median", "doubts"} <= set(run.figures.columns)


def test_other_tables_are_read_by_name(measured: Path, frames: str) -> None:
    run = opened(measured, frames)
    assert {"phases", "tasks", "load"} <= set(run.tables)
    assert len(rows(run.table("tasks"))) == len(rows(run.phases))
    with pytest.raises(ioproof.RecordError, match="no table 'task'; it has devices, latency"):
        run.table("task")


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_records_of_every_version_have_the_same_columns(version: int, frames: str) -> None:
    record = ROOT / "crates" / "record" / "tests" / "fixtures" / f"version-{version}"
    run = opened(record, frames)
    assert rows(run.figures) and rows(run.statements)
    # The audit explains these figures and doubts none.
    assert rows(run.audit) and not any(row["doubts"] or row["disqualified"] for row in rows(run.figures))
    tables = {"phases": run.phases, "latency": run.latencies, "series": run.seconds, "devices": run.devices}
    for name, frame in tables.items():
        assert list(frame.columns) == ["run_id", "provenance", "state", *ioproof._run.COLUMNS[name].split()]
        assert rows(frame)
    assert {row["fetched_bytes"] for row in rows(run.phases)} == {None}


@pytest.fixture(scope="session")
def every(measured: Path, simulated: Path, imported: Path, merged: Path, jobs: Path) -> list[Path]:
    """Records of all kinds and versions."""
    fixtures = ROOT / "crates" / "record" / "tests" / "fixtures"
    return [measured, simulated, imported, merged, jobs, *sorted(fixtures.iterdir())]


@pytest.mark.parametrize("name", [*NAMES, "tasks"])
def test_frames_of_different_runs_can_be_put_together(name: str, every: list[Path], frames: str) -> None:
    found = []
    for record in every:
        run = opened(record, frames)
        if name in NAMES or name in run.tables:
            found.append(run.table(name) if name == "tasks" else getattr(run, name))
    assert len(found) > 5
    types: dict[str, set[str]] = {}
    for frame in found:
        for column in frame.columns:
            types.setdefault(column, set()).add(str(frame[column].dtype))
    assert {column: kinds for column, kinds in types.items() if len(kinds) > 1} == {}
    if frames == "polars":
        together: Any = polars.concat(found, how="diagonal")
    else:
        together = pandas.concat(found)
    assert len(rows(together)) == sum(len(rows(frame)) for frame in found)


def kind_in_schema(field: dict[str, Any]) -> str:
    """The kind of a column with the values of this field."""
    types = field["type"] if isinstance(field["type"], list) else [field["type"]]
    (kind,) = {one for one in types if one != "null"}
    # A list is of words.
    return {"string": "text", "array": "text", "boolean": "flag"}.get(kind, kind)


def test_the_kinds_of_columns_are_those_of_the_schemas() -> None:
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
    kinds: dict[str, dict[str, Any]] = schema["$defs"]
    figure = kinds["Figure"]["properties"]
    repetition = figure["repetitions"]["items"]["properties"]
    latency, operations = kinds["LatencyInfo"]["properties"], figure["operations"]["items"]["properties"]
    fields = {name: field for name, field in figure.items() if name not in _report.NESTED}
    fields.update({name: field for name, field in repetition.items() if name != "rates"})
    fields.update(schema["properties"]["audit"]["items"]["properties"])
    fields.update({f"exchange_{name}": field for name, field in kinds["Exchange"]["properties"].items()})
    for operation in latency["operation"]["enum"]:
        for measure in ("", "service_"):
            times = {name: field for name, field in latency.items() if name.endswith("_ns")}
            fields.update({f"{operation}_{measure}latency_{name}": field for name, field in times.items()})
        fields.update({f"{operation}_{name}": field for name, field in operations.items() if name != "operation"})
        fields.update({f"{operation}_{name}": latency["transfers"] for name in ("transfers", "operations")})
    assert len(fields) > 250
    assert {name: _report.kind_of(name) for name in fields} == {
        name: kind_in_schema(field) for name, field in fields.items()
    }


def test_the_kinds_of_settings_are_those_of_the_keys_that_can_be_swept() -> None:
    schema = json.loads((ROOT / "docs" / "study.schema.json").read_text(encoding="utf-8"))
    keys = schema["$defs"]["workload"]["properties"]
    wanted = {}
    for key in keys["together"]["items"]["enum"]:
        # A single value stands before ranges and lists of them.
        single = keys[key]["anyOf"][0]
        pattern = single.get("pattern", "")
        if "anyOf" in single:
            wanted[f"setting_{key}_bytes"] = "integer"
        elif "ns|us" in pattern:
            wanted[f"setting_{key}_ns"] = "integer"
        else:
            wanted[f"setting_{key}"] = "text" if "oneOf" in single else kind_in_schema(single)
    assert len(wanted) > 60
    assert {name: _report.kind_of(name) for name in wanted} == wanted


def test_the_units_of_all_numbers_are_documented() -> None:
    """A number without a unit at the end of its name, or with one elsewhere in it, stands in the table of units."""
    text = (ROOT / "docs" / "PYTHON.md").read_text(encoding="utf-8")
    table = text.split("These are the units of numbers:")[1].split("All other columns")[0]
    names = set(re.findall(r"`(\w+)`", table))
    numbers = {name for name, kind in _report.KINDS.items() if kind in ("integer", "number")}
    for columns in ioproof._run.COLUMNS.values():
        numbers |= set(columns.split()) - ioproof._run.TEXTS
    assert len(numbers) > 100
    unit = "(^|_)(ns|bytes|bytes_per_second|per_second|share|percent)"
    for name in numbers - names:
        if re.search("_per_second_", name):
            continue
        without = re.sub(f"{unit}$", "", name)
        counted = _report.KINDS.get(name, "integer") == "integer"
        assert (without != name or counted) and not re.search(f"{unit}(_|$)", without), name


def test_a_record_is_shown_as_it_was_when_it_was_opened(measured: Path, tmp_path: Path, frames: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy)
    run, before = opened(copy, frames), opened(measured, frames)
    for table in ("phases", "latency"):
        shutil.copy(copy / table / "000001.parquet", copy / table / "000002.parquet")
    (copy / "mine").mkdir()
    shutil.copy(copy / "phases" / "000001.parquet", copy / "mine" / "000001.parquet")
    assert run.tables == before.tables
    assert rows(run.phases) == rows(before.phases) and rows(run.latencies) == rows(before.latencies)


def test_a_run_in_progress_is_shown_as_it_was_when_it_was_opened(
    unfinished: Unfinished, frames: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(unfinished.record, frames)
    assert run.state == "still running"
    unfinished.kill()
    monkeypatch.setattr("ioproof._run.ask", lambda *words: pytest.fail("it is read again"))
    assert any(row["value_unit"] == "ns" for row in rows(run.statements))
    with pytest.warns(ioproof.IncompleteTablesWarning):
        assert rows(run.phases) == []


def test_a_run_in_progress_that_went_on_in_between_is_read_again(
    simulated: Path, frames: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def ask(*words: str) -> str:
        asked.append(words[2])
        printed = called(ioproof.program(), *words)
        # The first CSV is of another moment.
        if asked == ["--json", "--format"]:
            return printed.split("\n")[0]
        return printed.replace('"state": "complete"', '"state": "still running"')

    monkeypatch.setattr("ioproof._run.ask", ask)
    run = opened(simulated, frames)
    assert run.state == "still running" and asked == ["--json", "--format"] * 2
    assert rows(run.statements) and len(asked) == 4


def test_a_record_that_is_another_one_by_now_is_named(measured: Path, tmp_path: Path, frames: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy)
    run = opened(copy, frames)
    shutil.rmtree(copy)
    shutil.copytree(ROOT / "crates" / "record" / "tests" / "fixtures" / "version-3", copy)
    with pytest.raises(ioproof.RecordError, match="copy has changed since it was opened; open it again"):
        run.statements
    (copy / "phases" / "000001.parquet").unlink()
    with pytest.raises(ioproof.RecordError, match="copy has changed since it was opened; open it again"):
        run.phases


def test_files_of_other_names_are_no_part_of_a_table(measured: Path, tmp_path: Path, frames: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy)
    for name in (".000002.parquet", "000002.parquet.unfinished", "mine.parquet"):
        shutil.copy(copy / "phases" / "000001.parquet", copy / "phases" / name)
    assert len(rows(opened(copy, frames).phases)) == len(rows(opened(measured, frames).phases))


def test_a_path_with_special_characters_is_a_path(measured: Path, tmp_path: Path, frames: str) -> None:
    link = tmp_path / "run=3 [a]*"
    link.symlink_to(measured)
    found = opened(link, frames).phases
    assert "run" not in found.columns and len(rows(found)) > 0
