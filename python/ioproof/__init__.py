"""Records of ioproof as data frames of pandas or Polars.

    >>> import ioproof
    >>> run = ioproof.open("ioproof-runs/RUN")
    >>> run.figures[["case", "phase", "bytes_per_second_median", "doubts"]]

`open` asks the program for its report of the record, so that each figure comes with the doubts about it and each
statement with its outcome. The tables of the record are read from its Parquet files. `Run` lists the frames.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, overload

from ._errors import DamagedRecordError, Error, FramesError, IncompleteTablesWarning, ProgramError, RecordError
from ._frames import library
from ._program import program
from ._run import Run

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = [
    "DamagedRecordError",
    "Error",
    "FramesError",
    "IncompleteTablesWarning",
    "ProgramError",
    "RecordError",
    "Run",
    "open",
    "program",
]


@overload
def open(run: str | os.PathLike[str], frames: Literal["pandas"], damaged: bool = False) -> Run[pandas.DataFrame]: ...
@overload
def open(run: str | os.PathLike[str], frames: Literal["polars"], damaged: bool = False) -> Run[polars.DataFrame]: ...
@overload
def open(run: str | os.PathLike[str], frames: None = None, damaged: bool = False) -> Run[Any]: ...
def open(run: str | os.PathLike[str], frames: str | None = None, damaged: bool = False) -> Run[Any]:
    """Opens the record in the directory `run`.

    `frames` is "pandas" or "polars"; without it pandas is taken if it is there, else Polars.

    A damaged record raises `DamagedRecordError`. With `damaged=True` it is opened: figures and statements are made from
    what is readable, each figure has the doubt `damaged record`, and the tables of the record still raise the error.

    Raises `RecordError` if `run` is no record, `ProgramError` if the program is missing or does not run, and
    `FramesError` if there is no library for data frames. All are `Error`.
    """
    return Run(os.path.abspath(os.fspath(run)), library(frames), damaged)
