"""`python -m pyterrane run -n 4 script.py`, and the command `terrane` of the wheel."""

import os
import sys

from pyterrane._command import COMMAND, name_ucx


def command():
    """Becomes the command `terrane` of this wheel."""
    name_ucx()
    os.execv(COMMAND, [str(COMMAND), *sys.argv[1:]])


if __name__ == "__main__":
    command()
