#!/usr/bin/env python3
"""Runs each command of docs/tutorial.md in its order, against the staged tree, and compares what it prints.

Usage: tutorial_test.py STAGE SOURCE_FOLDER

Blocks ```console have commands behind "$ ", and lines that the output of the command must have; numbers count as equal.
A line "..." stands for any lines, and one that ends with " ..." for any end. A command with "# refused" fails, every
other one succeeds. An address in a command is replaced by the one that a job has printed for the program: it belongs to
the compiler. ./run build and ./run shell, the preparation, are what the staged tree and its PATH are here.
The exit code 77: this machine permits no hosts.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"0x[0-9a-f]+|-?\d[\d.]*")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NO_HOSTS = 77


def commands(page):
    """Each command, with the lines that it prints."""
    found = []
    for language, block in BLOCK.findall(page):
        for line in block.splitlines() if language == "console" else ():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def form(line):
    return " ".join(NUMBER.sub("#", line).split())


def missing(expected, output):
    """The expected lines that the output does not have."""
    printed = [form(line) for line in output.splitlines()]
    for line in expected:
        begin = form(line.removesuffix("..."))
        is_there = any(one.startswith(begin) if line.endswith("...") else one == begin for one in printed)
        if not is_there and line != "...":
            yield line


class Shell:
    """Runs commands one after the other; the folder of one is that of the next."""

    def __init__(self, folder, path):
        self.folder = folder
        self.environment = os.environ | {"PATH": f"{path}:{os.environ['PATH']}"}
        self.address = None

    def run(self, command):
        """The exit code, and everything printed."""
        if self.address:
            command = re.sub(r"0x[0-9a-f]+", self.address, command)
        with tempfile.NamedTemporaryFile("r") as place:
            script = f"set -o pipefail\n{command}\nstatus=$?\npwd >'{place.name}'\nexit $status"
            done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, text=True, timeout=60,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.folder = place.read().strip() or self.folder
        printed = re.search(r"kmeans:(0x[0-9a-f]+)", done.stdout)
        self.address = printed[1] if printed else self.address
        return done.returncode, done.stdout


def fetched(output):
    """The most pages that a thread has fetched, by --stats."""
    return max(int(pages) for pages in re.findall(r"^  thread \d+(?: +\d+\.\d+){6} +\d+ +(\d+)", output, re.MULTILINE))


def check(page, shell):
    """What is wrong with the page, at the first command that goes wrong."""
    pages = []
    for command, expected in commands(page):
        status, output = shell.run(command)
        if status == NO_HOSTS and "CI" not in os.environ:
            print(output)
            sys.exit(NO_HOSTS)
        if (status != 0) != ("# refused" in command):
            return [f"{command}: exit code {status}\n{output}"]
        gone = list(missing(expected, output))
        if gone:
            return [f"{command}: does not print {line!r}; it prints\n{output}" for line in gone]
        if "--stats" in command:
            pages.append(fetched(output))
    return [] if pages[-1] < pages[0] / 10 else [f"the change does not pay: pages fetched before and after it: {pages}"]


def main(stage, source):
    source = pathlib.Path(source)
    page = (source / "docs/tutorial.md").read_text()
    patch = (source / "examples/threads/own_points.patch").read_text()
    wrong = [f"not in own_points.patch: {block}" for language, block in BLOCK.findall(page)
             if language == "diff" and block not in patch]
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(source / "examples", pathlib.Path(folder, "examples"))
        wrong += check(page, Shell(folder, pathlib.Path(stage) / "bin"))
    print("\n".join(wrong) or "each command prints what the page says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
