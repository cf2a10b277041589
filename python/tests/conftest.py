"""Records that the program makes for the tests. It is found as the package finds it, or by IOPROOF_PROGRAM."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import ioproof

ROOT = Path(__file__).parents[2]

STUDY = """
[study]
title = "Reads of a model"

[protocol]
repetitions = 5

[[target]]
name = "disk"
directory = "/mnt/scratch"

[[workload]]
name = "random"
target = "disk"
phases = ["read"]
transfer = "4KiB"
size = "1GiB"
order = "random"
direct = [true, false]
depth = [1, 8]
duration = "5s"
fill = true
existing = "reuse"

[[commitment]]
name = "fast reads"
by = "the tests"
workload = "random"
phase = "read"
at = { direct = true, depth = 1 }
statistic = "median"
iops_at_least = 100_000

[[commitment]]
name = "reads answered in time"
by = "the tests"
workload = "random"
phase = "read"
at = { direct = true, depth = 1 }
statistic = "worst"
latency_at_most = "1ms"
percentile = 99
"""

# What fio prints for a job of random reads, as far as an import needs it.
FIO = {
    "fio version": "fio-3.33",
    "timestamp": 1700000000,
    "global options": {},
    "jobs": [
        {
            "jobname": "reads",
            "error": 0,
            "job options": {"rw": "randread", "bs": "4k", "size": "1g", "direct": "1", "filename": "/mnt/data"},
            "read": {
                "io_bytes": 409600000,
                "total_ios": 100000,
                "runtime": 10000,
                "bw": 40000,
                "bw_bytes": 40960000,
                "iops": 10000.0,
            },
        }
    ],
}


def quick(target: Path, record: Path, *settings: str) -> list[str]:
    """A quick run that is as short as it can be."""
    target.mkdir()
    words = [ioproof.program(), "run", "--quick", str(target), "--yes", "--quiet", "--out", str(record)]
    for setting in ("duration=100ms", "repetitions=2", "size=16MiB", *settings):
        words += ["--set", setting]
    return words


def called(*words: str | Path) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["pandas", "polars"])
def frames(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("measured")
    called(*quick(place / "target", place / "record"))
    return place / "record"


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("simulated")
    (place / "study.toml").write_text(STUDY)
    called(ioproof.program(), "run", place / "study.toml", "--model", "laptop", "--out", place / "record", "--yes")
    return place / "record"


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("imported")
    (place / "fio.json").write_text(json.dumps(FIO))
    called(ioproof.program(), "import", place / "fio.json", "--out", place / "record")
    return place / "record"


@pytest.fixture(scope="session")
def merged(measured: Path, imported: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A measured run that has a case of another tool."""
    record = tmp_path_factory.mktemp("merged") / "record"
    called(ioproof.program(), "merge", record, measured, imported)
    return record


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two short jobs."""
    place = tmp_path_factory.mktemp("jobs")
    (place / "target").mkdir()
    words = [ioproof.program(), "run", ROOT / "studies" / "sas-mixed-analytics.toml", "--yes", "--quiet"]
    for setting in (
        f"target.*.directory={place / 'target'}",
        'workload.mix.tests=["sort"]',
        "workload.mix.scale=1e-6",
        "test.*.streams=2",
        "test.*.rounds=1",
        "test.*.memory=16MiB",
    ):
        words += ["--set", setting]
    called(*words, "--out", place / "record")
    return place / "record"


class Unfinished:
    """A run that is still in progress, and the same after it was killed."""

    def __init__(self, place: Path) -> None:
        self.record = place / "record"
        words = quick(place / "target", self.record, "repetitions=200")
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        journal = self.record / "journal.jsonl"
        while not (journal.exists() and journal.read_bytes().count(b'"phase-finished"') >= 4):
            assert self.process.poll() is None, "the run ended by itself"
            time.sleep(0.02)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture()
def unfinished(tmp_path: Path) -> Iterator[Unfinished]:
    started = Unfinished(tmp_path)
    yield started
    started.kill()
    called(ioproof.program(), "clean", tmp_path, "--yes")


@pytest.fixture()
def damaged(measured: Path, tmp_path: Path) -> Path:
    """A record with wrong bytes in a table."""
    copy = tmp_path / "damaged"
    shutil.copytree(measured, copy)
    table = copy / "latency" / "000001.parquet"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 0xFF
    table.write_bytes(content)
    return copy
