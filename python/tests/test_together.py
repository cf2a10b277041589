"""The package with what is used beside it: DuckDB, notebooks, type checkers, the command line, and pip."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path

import duckdb
import nbclient
import nbformat
import pytest

import ioproof
from conftest import called

PYTHON = Path(__file__).parents[1]


def test_duckdb_queries_frames_and_files_alike(measured: Path) -> None:
    by_pandas = ioproof.open(measured, frames="pandas")
    by_polars = ioproof.open(measured, frames="polars")
    query = 'SELECT "case", phase, sum("count")::BIGINT FROM {} GROUP BY ALL ORDER BY ALL'
    files = duckdb.sql(query.format(f"'{measured}/latency/*.parquet'")).fetchall()
    latencies = by_pandas.latencies  # noqa: F841
    assert duckdb.sql(query.format("latencies")).fetchall() == files
    latencies = by_polars.latencies  # type: ignore[assignment]  # noqa: F841
    assert duckdb.sql(query.format("latencies")).fetchall() == files
    for run in (by_pandas, by_polars):
        figures, statements, phases = run.figures, run.statements, run.phases  # noqa: F841
        joined = duckdb.sql(
            'SELECT DISTINCT f.number, f.doubts, s.outcome FROM figures f JOIN phases USING (run_id, "case", phase)'
            " LEFT JOIN statements s ON s.figure = f.number AND s.statement = 'limited_by'"
        ).fetchall()
        assert sorted(row[0] for row in joined) == list(range(1, len(run.report["figures"]) + 1))


def test_the_examples_of_the_documentation_run(measured: Path, tmp_path: Path) -> None:
    (tmp_path / "ioproof-runs").mkdir()
    (tmp_path / "ioproof-runs" / "RUN").symlink_to(measured)
    text = (PYTHON.parent / "docs" / "PYTHON.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    opened, pandas, polars, duckdb_ = examples
    for library in ("pandas", "polars"):
        again = f'run = ioproof.open("ioproof-runs/RUN", frames="{library}")\n'
        script = "".join([opened, again, pandas if library == "pandas" else polars, again, duckdb_])
        done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert "measured; complete" in done.stdout and "bytes_per_second_median" in done.stdout


def test_the_notebook_runs() -> None:
    notebook = nbformat.read(PYTHON / "example.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    assert not any(output.get("name") == "stderr" for output in outputs)


def test_types_hold(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(
        "from typing import Any\n"
        "from typing_extensions import assert_type\n"
        "import pandas, polars, ioproof\n"
        'assert_type(ioproof.open("r", frames="pandas").figures, pandas.DataFrame)\n'
        'assert_type(ioproof.open("r", frames="polars").seconds, polars.DataFrame)\n'
        'assert_type(ioproof.open("r", frames="polars").table("load"), polars.DataFrame)\n'
        'assert_type(ioproof.open("r").report, dict[str, Any])\n'
    )
    cache = os.environ.get("MYPY_CACHE_DIR", str(tmp_path))
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache]
    called(*mypy, PYTHON / "ioproof", user)


def test_the_module_becomes_the_program() -> None:
    assert called(sys.executable, "-m", "ioproof", "--version") == called(ioproof.program(), "--version")
    # It reads its standard input until that ends.
    words = [sys.executable, "-m", "ioproof", "import", "-"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program, until = os.path.realpath(ioproof.program()), time.monotonic() + 60
    while os.readlink(f"/proc/{process.pid}/exe") != program:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    process.communicate()
    assert process.returncode == 2


def test_the_package_has_the_syntax_of_the_oldest_python() -> None:
    files = [*(PYTHON / "ioproof").glob("*.py")]
    assert len(files) > 5
    for file in files:
        ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=(3, 9))
    assert 'requires-python = ">=3.9"' in (PYTHON / "pyproject.toml").read_text(encoding="utf-8")


@pytest.fixture()
def chosen(tmp_path: Path) -> Callable[..., str]:
    """What scripts/python-tests.sh says up to where it needs Python, which is too old here."""
    tools, target = tmp_path / "tools", tmp_path / "target"
    tools.mkdir()
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tools / "python3").chmod(0o755)
    variables = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "CARGO_TARGET_DIR": str(target)}
    variables.pop("IOPROOF_PROGRAM", None)

    def run(*words: str, **more: str) -> str:
        script = [PYTHON.parent / "scripts" / "python-tests.sh", *words]
        done = subprocess.run(
            script, cwd=tmp_path, env={**variables, **more}, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    return run


def built(tmp_path: Path, place: str, age: int) -> Path:
    file = tmp_path / "target" / place / "ioproof"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    file.chmod(0o755)
    os.utime(file, ns=(time.time_ns() - age, time.time_ns() - age))
    return file


def test_the_script_takes_a_program_from_where_it_was_called(tmp_path: Path, chosen: Callable[..., str]) -> None:
    file = built(tmp_path, "mine", 0)
    for said in (chosen("target/mine/ioproof"), chosen(IOPROOF_PROGRAM="target/mine/ioproof"), chosen(str(file))):
        assert f"program: {file}\n" in said and "skipped" in said
    assert f"{tmp_path}/absent is no program" in chosen("absent")


def test_the_script_takes_the_newest_program(tmp_path: Path, chosen: Callable[..., str]) -> None:
    assert "no program is built" in chosen()
    for age, place in ((3, "debug"), (2, "release"), (1, "release-files"), (0, "debug")):
        file = built(tmp_path, place, age * 1_000_000)
        assert f"program: {file}\n" in chosen()


def test_a_wheel_is_the_same_again_and_leaves_nothing(tmp_path: Path) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("scripts/wheel.py needs Python 3.11")
    made = []
    for name in ("one", "other"):
        words = [PYTHON.parent / "scripts" / "wheel.py", ioproof.program(), tmp_path / name, "--any-glibc"]
        made.append(Path(called(sys.executable, *words).strip()))
    assert made[0].name == made[1].name and made[0].read_bytes() == made[1].read_bytes()

    place = tmp_path / "venv"
    venv.create(place, with_pip=True)
    pip = [place / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    files = ("find", place, "-not", "-name", "*.pyc", "-not", "-name", "__pycache__")
    before = sorted(called(*files).split("\n"))
    called(*pip, "install", "--no-index", made[0])
    program = place / "bin" / "ioproof"
    assert program.read_bytes() == Path(ioproof.program()).read_bytes()

    def alone(*words: str | Path, **variables: str) -> str:
        """What is printed where neither these sources nor another program can be found."""
        environment = {"PATH": "/nonexistent", **variables}
        return subprocess.run(words, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout.decode()

    assert alone(place / "bin" / "python", "-m", "ioproof", "--version") == called(program, "--version")
    called(*pip, "uninstall", "--yes", "ioproof")
    assert sorted(called(*files).split("\n")) == before

    target = tmp_path / "target"
    called(*pip, "install", "--no-index", "--target", target, made[0])
    shown = alone(sys.executable, "-c", "import ioproof; print(ioproof.program())", PYTHONPATH=str(target))
    assert shown.strip() == str(target / "bin" / "ioproof")
