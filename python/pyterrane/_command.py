"""Where the command of this wheel is."""

import pathlib

COMMAND = pathlib.Path(__file__).parent / "terrane" / "bin" / "terrane"
