#!/usr/bin/env python3
"""Every C and C++ source is as clang-format makes it. Usage: check_format.py [--fix] [PATH...]

Versions differ in what they make of the same source: another one than the house's ends it with 77 (a skipped test).
"""

import pathlib
import re
import subprocess
import sys

import source_tree

VERSION = "14"  # of Debian 12
SUFFIXES = {".c", ".h", ".cpp", ".hpp"}


def main(arguments):
    found = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    if not re.search(rf"version {VERSION}\b", found):
        print(f"skipped: the layout is that of clang-format {VERSION}; here is {found.strip()}", file=sys.stderr)
        return 77
    fix = "--fix" in arguments
    wanted = [pathlib.Path(a) for a in arguments if a != "--fix"]
    sources = [path for path in source_tree.files() if path.suffix in SUFFIXES]
    if wanted:
        sources = [path for path in sources if any(path.is_relative_to(w) for w in wanted)]
    how = ["-i"] if fix else ["--dry-run", "-Werror"]
    return subprocess.run(["clang-format", *how, *map(str, sources)], cwd=source_tree.ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
