"""What can go wrong. Each message names what was wrong, where, and the next step."""

from __future__ import annotations


class Error(Exception):
    """Any error of this package."""


class RecordError(Error):
    """A path is no record, or the program refuses to read it."""


class DamagedRecordError(RecordError):
    """A record is not what was written. `damage` says what, as `ioproof check` does."""

    def __init__(self, path: str, damage: list[str], advice: str) -> None:
        super().__init__(f"{path} is a damaged record: {'; '.join(damage)}; {advice}")
        self.path = path
        self.damage = damage


class ProgramError(Error):
    """The program `ioproof` is missing, does not run, or is of another version."""


class FramesError(Error, ImportError):
    """There is no library for data frames."""


class IncompleteTablesWarning(UserWarning):
    """The tables of a record lack cases that its journal has."""
