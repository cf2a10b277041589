"""Where the program is, and what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ._errors import ProgramError, RecordError

VARIABLE = "IOPROOF_PROGRAM"

# 8: a record with a signature that does not match is read, and marked as damaged.
READ = (0, 8)


def program() -> str:
    """The path of the program: that of the variable IOPROOF_PROGRAM, else of the wheel, else of PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        if not executable(named):
            raise ProgramError(f"{VARIABLE} names {named}, which is no program; correct or unset the variable")
        return os.path.abspath(named)
    for place in of_the_wheel():
        if executable(place):
            return os.path.realpath(place)
    found = shutil.which("ioproof")
    if found is None:
        raise ProgramError(
            "the program ioproof is neither beside this package nor on PATH; install the wheel again "
            f"(pip install --force-reinstall FILE.whl), or set {VARIABLE} to its path"
        )
    return os.path.abspath(found)


def of_the_wheel() -> Iterator[str]:
    """Where an installer puts scripts: where it says, or beside the package (`pip install --target`)."""
    try:
        files = distribution("ioproof").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "ioproof" and file.parent.name == "bin":
            yield str(file.locate())
    yield str(Path(__file__).parents[1] / "bin" / "ioproof")


def executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def ask(*words: str) -> str:
    """What the program prints for these arguments, which read a record."""
    path = program()
    try:
        ended = subprocess.run([path, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise ProgramError(f"{path} does not run: {error.strerror}; is it built for this machine?") from error
    if ended.returncode not in READ or not ended.stdout:
        said = ended.stderr.decode(errors="replace").strip()
        if ended.returncode == 7:
            raise RecordError(said.removeprefix("ioproof: "))
        how = f"status {ended.returncode}" if ended.returncode >= 0 else f"signal {-ended.returncode}"
        raise ProgramError(f"{path} {' '.join(words)} ended with {how}: {said or 'it printed nothing'}")
    return ended.stdout.decode()
