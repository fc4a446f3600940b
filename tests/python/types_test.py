"""The types that pyterrane declares, as mypy sees them. Usage: types_test.py ENVIRONMENT"""

import pathlib
import subprocess
import tempfile
import unittest

import jobs

CLIENT = pathlib.Path(__file__).resolve().parent / "types_client.py"
WRONG = """
import pyterrane as tr
tr.zeros("three")
tr.barrier("soon")
text: str = tr.nodes()
with tr.Chunk("a", 3).write(timeout="long") as a:
    a.no_such_method()
"""


class TypesTest(unittest.TestCase):
    def mypy(self, *words):
        python = jobs.command(0)
        if subprocess.run([*python, "-c", "import mypy"], capture_output=True).returncode != 0:
            self.skipTest("pip cannot install mypy here")
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([*python, "-m", "mypy", "--cache-dir", folder, *words], capture_output=True, text=True,
                                  cwd=folder, timeout=110)

    def test_a_strictly_checked_program_uses_every_public_name(self):
        done = self.mypy("--strict", str(CLIENT))
        self.assertEqual(done.returncode, 0, done.stdout)
        text = CLIENT.read_text()
        names = subprocess.run([*jobs.command(0), "-c", "import pyterrane; print(*pyterrane.__all__)"], capture_output=True,
                               text=True).stdout.split()
        self.assertEqual([name for name in names if f"tr.{name}" not in text and name != "Job"], [])

    def test_wrong_types_are_found(self):
        done = self.mypy("-c", WRONG)
        self.assertEqual(done.stdout.count(": error:"), 5, done.stdout)

    def test_the_package_is_right_against_the_stub_of_its_binding(self):
        done = self.mypy("--ignore-missing-imports", "-p", "pyterrane")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    jobs.main()
