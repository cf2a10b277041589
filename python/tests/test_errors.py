"""Errors name what was wrong and the next step."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ioproof
from conftest import STUDY, called


def test_a_damaged_record_is_refused_in_the_words_of_check(damaged: Path) -> None:
    check = subprocess.run([ioproof.program(), "check", str(damaged), "--json"], capture_output=True, check=False)
    doubts = json.loads(check.stdout)["doubts"]
    (evidence,) = {doubt["evidence"] for doubt in doubts if doubt["check"] == "damaged record"}
    with pytest.raises(ioproof.DamagedRecordError, match="use an intact copy of the record") as raised:
        ioproof.open(damaged)
    assert raised.value.damage == [evidence]
    assert evidence in str(raised.value) and "latency/000001.parquet" in evidence


def test_a_damaged_record_can_be_opened_on_request(damaged: Path, frames: str) -> None:
    run = ioproof.open(damaged, frames=frames, damaged=True)  # type: ignore[call-overload]
    assert run.damage and all("damaged record" in doubts for doubts in run.figures["doubts"])
    for name in ("phases", "latencies", "seconds", "devices"):
        with pytest.raises(ioproof.DamagedRecordError):
            getattr(run, name)


def test_a_lost_table_a_torn_journal_and_a_lost_manifest_are_damage(measured: Path, tmp_path: Path) -> None:
    def torn(record: Path) -> None:
        journal = record / "journal.jsonl"
        journal.write_bytes(journal.read_bytes()[:-20])

    def without(name: str) -> None:
        (tmp_path / "copy" / name).unlink()

    for damage in (
        torn,
        lambda _: without("manifest.json"),
        lambda _: without("journal.jsonl"),
        lambda _: without("series/000001.parquet"),
    ):
        copy = tmp_path / "copy"
        shutil.copytree(measured, copy)
        damage(copy)
        with pytest.raises(ioproof.DamagedRecordError):
            ioproof.open(copy)
        shutil.rmtree(copy)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_a_record_that_differs_from_its_signature_is_damaged(tmp_path: Path) -> None:
    key, study, record = tmp_path / "key", tmp_path / "study.toml", tmp_path / "record"
    study.write_text(STUDY)
    called("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    called(ioproof.program(), "run", study, "--model", "laptop", "--out", record, "--yes", "--sign", key)
    assert ioproof.open(record).damage == []
    sums = record / "SHA256SUMS"
    sums.write_text(sums.read_text().replace("a", "b"))
    with pytest.raises(ioproof.DamagedRecordError, match="sign"):
        ioproof.open(record)


def test_damage_counts_where_there_is_no_figure(measured: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy)
    journal = copy / "journal.jsonl"
    first = journal.read_bytes().splitlines(keepends=True)[0]
    journal.write_bytes(first + b"{]\n")
    for table in copy.glob("*/*.parquet"):
        table.unlink()
    with pytest.raises(ioproof.DamagedRecordError, match="line 2"):
        ioproof.open(copy)


def test_what_is_no_record_is_named(tmp_path: Path) -> None:
    with pytest.raises(ioproof.RecordError, match="neither manifest.json nor journal.jsonl; name the directory"):
        ioproof.open(tmp_path)
    with pytest.raises(ioproof.RecordError, match="absent does not exist; name the directory of a run"):
        ioproof.open(tmp_path / "absent")
    (tmp_path / "file").write_text("")
    with pytest.raises(ioproof.RecordError, match="Not a directory"):
        ioproof.open(tmp_path / "file")


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOPROOF_PROGRAM", str(tmp_path / "absent"))
    with pytest.raises(ioproof.ProgramError, match="IOPROOF_PROGRAM names .*absent, which is no program; correct"):
        ioproof.open(tmp_path)
    monkeypatch.delenv("IOPROOF_PROGRAM")
    monkeypatch.setattr("ioproof._program.of_the_wheel", lambda: iter(()))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ioproof.ProgramError, match="neither beside this package nor on PATH; install the wheel again"):
        ioproof.open(tmp_path)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("#!/bin/sh\necho hello", "printed no report of .*; is it ioproof"),
        ("#!/bin/sh\n", "it printed nothing"),
        ("#!/bin/sh\necho no >&2; exit 3", "ended with status 3: no"),
        ("#!/bin/sh\nkill -9 $$", "ended with signal 9"),
        ("""#!/bin/sh\necho '{"schema": "ioproof-report/9"}'""", "writes ioproof-report/9 and this package reads"),
        ("\x7fELF of another machine", "does not run: .*; is it built for this machine"),
    ],
)
def test_another_program_is_named(script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ioproof"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("IOPROOF_PROGRAM", str(program))
    with pytest.raises(ioproof.ProgramError, match=message):
        ioproof.open(tmp_path)


def test_without_a_library_both_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ioproof.FramesError, match="pip install pandas pyarrow or pip install polars") as raised:
        ioproof.open(tmp_path)
    assert "pandas cannot be used" in str(raised.value) and "pyarrow" in str(raised.value)
    with pytest.raises(ImportError, match="polars cannot be used.*install it: pip install polars$"):
        ioproof.open(tmp_path, frames="polars")
    with pytest.raises(ioproof.FramesError, match="frames is 'dask'; it may be 'pandas' or 'polars'"):
        ioproof.open(tmp_path, frames="dask")  # type: ignore[call-overload]


def test_polars_serves_where_pandas_is_not(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert type(ioproof.open(measured).phases).__module__.startswith("polars")


def test_a_table_that_the_library_cannot_read_is_named(
    measured: Path, frames: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ioproof.open(measured, frames=frames)  # type: ignore[call-overload]
    monkeypatch.setattr(run, "_files", lambda table: [__file__])
    with pytest.raises(ioproof.RecordError, match=f"{frames} cannot read table phases of .*; install a later version"):
        run.phases


def test_nothing_is_written_into_a_record(measured: Path) -> None:
    before = called("find", measured, "-printf", "%p %s %T@\n")
    run = ioproof.open(measured)
    for name in ("figures", "statements", "phases", "tables"):
        getattr(run, name)
    assert called("find", measured, "-printf", "%p %s %T@\n") == before
