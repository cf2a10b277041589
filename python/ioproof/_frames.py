"""Data frames of pandas and of Polars, made from columns or from Parquet files.

In both, integers may be null and stay integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ._errors import FramesError

if TYPE_CHECKING:
    import pandas
    import polars

Frame_co = TypeVar("Frame_co", covariant=True)

# A column is text, integer, number or flag.
Columns = Mapping[str, "tuple[str, Sequence[Any]]"]
# The cases of each provenance that is not that of the run.
Others = Mapping[str, "list[str]"]


class Library(Protocol[Frame_co]):
    """A library for data frames."""

    name: str

    def build(self, columns: Columns) -> Frame_co:
        """A frame of these columns."""

    def read(self, files: list[str], leading: Mapping[str, str], others: Others, known: Mapping[str, str]) -> Frame_co:
        """The rows of these Parquet files, with columns before them whose text is the same in all rows.

        The `provenance` is another one in the rows of the cases that `others` has. Columns that are known by name and
        kind, and that the files lack, are null.
        """


class Pandas:
    """Frames with the nullable types of pandas."""

    name = "pandas"
    types: Mapping[str, Any] = {"text": "string", "integer": "Int64", "number": "Float64", "flag": "boolean"}

    def __init__(self) -> None:
        # Named first where it is what is missing: pandas reads Parquet by it.
        import_module("pyarrow")
        import_module("pandas")

    def build(self, columns: Columns) -> pandas.DataFrame:
        import pandas

        series = {name: pandas.array(values, dtype=self.types[kind]) for name, (kind, values) in columns.items()}
        return pandas.DataFrame(series)

    def read(
        self, files: list[str], leading: Mapping[str, str], others: Others, known: Mapping[str, str]
    ) -> pandas.DataFrame:
        import pandas

        # A path with `=` in it is no partition.
        every: Any = files
        frame = pandas.read_parquet(every, engine="pyarrow", dtype_backend="numpy_nullable", partitioning=None)
        for place, (name, text) in enumerate(leading.items()):
            frame.insert(place, name, pandas.Series(text, index=frame.index, dtype="string"))
        for provenance, cases in others.items():
            frame.loc[frame["case"].isin(cases), "provenance"] = provenance
        for name in known.keys() - set(frame.columns):
            frame[name] = pandas.Series(pandas.NA, index=frame.index, dtype=self.types[known[name]])
        return frame[list(dict.fromkeys([*leading, *known, *frame.columns]))]


class Polars:
    """Frames of Polars."""

    name = "polars"
    types: Mapping[str, Any] = {"text": "String", "integer": "Int64", "number": "Float64", "flag": "Boolean"}

    def __init__(self) -> None:
        import_module("polars")

    def build(self, columns: Columns) -> polars.DataFrame:
        import polars

        typed = {name: getattr(polars, self.types[kind]) for name, (kind, _) in columns.items()}
        return polars.DataFrame({name: values for name, (_, values) in columns.items()}, typed)

    def read(
        self, files: list[str], leading: Mapping[str, str], others: Others, known: Mapping[str, str]
    ) -> polars.DataFrame:
        import polars

        frame = polars.read_parquet(files, glob=False, hive_partitioning=False)
        texts = [polars.lit(text).alias(name) for name, text in leading.items()]
        lacking = known.keys() - set(frame.columns)
        nulls = [polars.lit(None, getattr(polars, self.types[known[name]])).alias(name) for name in lacking]
        frame = frame.select(*texts, polars.all(), *nulls)
        for provenance, cases in others.items():
            other = polars.when(polars.col("case").is_in(cases)).then(polars.lit(provenance))
            frame = frame.with_columns(other.otherwise("provenance").alias("provenance"))
        return frame.select(list(dict.fromkeys([*leading, *known, *frame.columns])))


LIBRARIES: dict[str, type[Pandas] | type[Polars]] = {"pandas": Pandas, "polars": Polars}
PACKAGES = {"pandas": "pandas pyarrow", "polars": "polars"}


def library(name: str | None) -> Library[Any]:
    """The library of this name, or the first one that is there."""
    if name is not None and name not in LIBRARIES:
        raise FramesError(f"frames is {name!r}; it may be {' or '.join(map(repr, LIBRARIES))}")
    wrong = []
    for tried in LIBRARIES if name is None else [name]:
        try:
            return LIBRARIES[tried]()
        except ImportError as error:
            wrong.append(f"{tried} cannot be used: {error}")
    packages = " or ".join(f"pip install {PACKAGES[tried]}" for tried in (LIBRARIES if name is None else [name]))
    raise FramesError(f"{'; '.join(wrong)}; install it: {packages}")
