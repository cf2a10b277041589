"""The frames of records, with both libraries."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import ioproof
from conftest import Unfinished, called

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
    text = (Path(__file__).parents[2] / "docs" / "RECORD.md").read_text(encoding="utf-8")
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
    record = Path(__file__).parents[2] / "crates" / "record" / "tests" / "fixtures" / f"version-{version}"
    run = opened(record, frames)
    assert rows(run.figures) and rows(run.statements)
    # The audit explains these figures and doubts none.
    assert rows(run.audit) and not any(row["doubts"] or row["disqualified"] for row in rows(run.figures))
    tables = {"phases": run.phases, "latency": run.latencies, "series": run.seconds, "devices": run.devices}
    for name, frame in tables.items():
        assert list(frame.columns) == ["run_id", "provenance", "state", *ioproof._run.COLUMNS[name].split()]
        assert rows(frame)
    assert {row["fetched_bytes"] for row in rows(run.phases)} == {None}


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
