"""Where the command of this wheel is, and UCX."""

import importlib.util
import os
import pathlib

COMMAND = pathlib.Path(__file__).parent / "terrane" / "bin" / "terrane"


def name_ucx():
    """Where the system has no UCX, that of the extra `hosts` (the package libucx) serves this process and its children."""
    found = importlib.util.find_spec("libucx")
    if "TERRANE_UCX" not in os.environ and found is not None and found.submodule_search_locations:
        os.environ["TERRANE_UCX"] = str(pathlib.Path(found.submodule_search_locations[0]) / "lib" / "libucp.so.0")
