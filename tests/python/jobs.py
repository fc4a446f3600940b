"""What the tests of pyterrane share: jobs of scripts, started by the installed command."""

import dataclasses
import os
import pathlib
import subprocess
import sys
import textwrap
import unittest

ENVIRONMENT = pathlib.Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else None
SKIPPED = 77
os.environ.pop("PYTHONUNBUFFERED", None)  # lines of two nodes in one pipe stay whole


@dataclasses.dataclass
class Outcome:
    code: int
    out: str
    err: str


def command(nodes, *options):
    """The words that start a script; 0 nodes: by the interpreter alone."""
    python = str(ENVIRONMENT / "bin" / "python")
    if nodes == 0:
        return [python]
    return [str(ENVIRONMENT / "bin" / "terrane"), "run", "-n", str(nodes), *options, python]


def script(text):
    """The words of a Python program that has pyterrane as tr and NumPy as np."""
    return ["-c", "import numpy as np, pyterrane as tr\n" + textwrap.dedent(text)]


def run(nodes, text, *options, seconds=60, **more):
    """Runs the text on so many nodes to its end."""
    done = subprocess.run(command(nodes, *options) + script(text), capture_output=True, text=True, timeout=seconds, **more)
    return Outcome(done.returncode, done.stdout, done.stderr)


class JobTest(unittest.TestCase):
    def right(self, nodes, text, *options, **more):
        """The text ends without an error, and says nothing on standard error."""
        outcome = run(nodes, text, *options, **more)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        return outcome.out

    def wrong(self, nodes, text, *parts):
        """The text fails, and says each of the parts."""
        outcome = run(nodes, text)
        self.assertNotEqual(outcome.code, 0, outcome)
        for part in parts:
            self.assertIn(part, outcome.err)
        return outcome


def main():
    if not (ENVIRONMENT / "bin" / "terrane").exists():
        print("pyterrane is not installed: python.Installs says why")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
