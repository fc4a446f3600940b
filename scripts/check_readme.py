#!/usr/bin/env python3
"""The program that README.md shows is examples/counter/counter.c, to the letter."""

import re
import sys

import source_tree

SHOWN = "examples/counter/counter.c"


def check():
    readme = (source_tree.ROOT / "README.md").read_text()
    program = (source_tree.ROOT / SHOWN).read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", readme, flags=re.DOTALL | re.MULTILINE)
    if program not in blocks:
        return [f"README.md: no ```c block is equal to {SHOWN}"]
    return []


if __name__ == "__main__":
    sys.exit(source_tree.report("check_readme", check()))
