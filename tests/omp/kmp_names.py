#!/usr/bin/env python3
"""The names of LLVM's libomp that Terrane's library does not have: each is listed with its reason.

Usage: kmp_names.py OURS OTHER     OTHER is libomp, or a program that clang has linked with it; prints what is left, by
reason. 77: there is no libomp
"""

import collections
import fnmatch
import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path(__file__).resolve().parents[2] / "src/frontend/omp/kmp/unserved.txt"


def names(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if line.split()[1] != "A"}


def libomp_of(file):
    """Of a program, what the loader takes; of a library itself."""
    text = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
    found = re.search(r"lib(?:i?omp)[0-9]*\.so\S* => (\S+)", text)
    return found.group(1) if found else file


def reasons():
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split(maxsplit=1)
        if words:
            yield words[0], words[1].strip()


def main(ours, other):
    if not pathlib.Path(other).is_file():
        print(f"skipped: {other} is not there (Debian: apt install libomp-dev)")
        return 77
    theirs, known = names(libomp_of(other)), list(reasons())
    mine = names(ours)
    left = collections.defaultdict(list)
    for name in sorted(theirs - mine):
        left[next((why for pattern, why in known if fnmatch.fnmatchcase(name, pattern)), "")].append(name)
    for why, some in sorted(left.items()):
        print(f"{why or 'NO REASON'}: {' '.join(some)}")
    stale = [pattern for pattern, _ in known if fnmatch.filter(mine & theirs, pattern)]
    for pattern in stale:
        print(f"{TABLE.name}: {pattern}: is served")
    print(f"{len(theirs)} names, {len(theirs & mine)} served, {len(theirs - mine)} left, {len(left[''])} without a reason")
    return 1 if left[""] or stale else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
