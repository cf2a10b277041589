"""`python -m ioproof`: the program takes the place of this process."""

from __future__ import annotations

import os
import sys

from ._errors import ProgramError
from ._program import program


def main() -> None:
    try:
        path = program()
    except ProgramError as error:
        sys.exit(f"ioproof: {error}")
    try:
        os.execv(path, ["ioproof", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"ioproof: {path} does not run: {error.strerror}; is it built for this machine?")


if __name__ == "__main__":
    main()
