#!/usr/bin/env python3
"""The functions and objects that programs get from Terrane's libraries: packaging/abi/LIBRARY.txt lists them.

Usage: abi.py --check LIBRARY_FOLDER     the libraries export exactly what the lists say
       abi.py --write LIBRARY_FOLDER     makes the lists of the libraries
       abi.py --self-test                a symbol that is gone is found

A symbol that is gone breaks programs that were linked before: then the library's number (SOVERSION) must rise. One that
is new belongs into the list. What stands in front of functions of the C library has no version of ours, and is in no
list: src/frontend/process_state.txt has it.
"""

import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "abi"
LIBRARIES = ("libterrane.so.0", "libterrane_shmem.so.0", "libterrane_chunks.so.0")
SYMBOL = re.compile(r"^[0-9a-f]+ [A-Z] ([^@ ]+)@@(TERRANE\w*)$", re.MULTILINE)


def symbols_of(nm_output):
    """With the profiling name of OpenSHMEM: `[p]NAME` stands for NAME and pNAME."""
    names = {f"{name}@{version}" for name, version in SYMBOL.findall(nm_output)}
    twins = {name for name in names if "p" + name in names}
    return sorted(names - twins - {"p" + name for name in twins} | {"[p]" + name for name in twins})


def exported(folder, library):
    command = ["nm", "-D", "--defined-only", "--with-symbol-versions", str(pathlib.Path(folder) / library)]
    return symbols_of(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def list_of(library):
    return FOLDER / (library + ".txt")


def faults(library, listed, found):
    for name in sorted(set(listed) - set(found)):
        yield f"{library}: {name} is gone; programs that use it end at their start (raise SOVERSION, or bring it back)"
    for name in sorted(set(found) - set(listed)):
        yield f"{library}: {name} is new; add it to the list: packaging/abi.py --write"


def check(folder):
    count = 0
    for library in LIBRARIES:
        for fault in faults(library, list_of(library).read_text(encoding="utf-8").split(), exported(folder, library)):
            print(fault, file=sys.stderr)
            count += 1
    print(f"abi: {count} differences")
    return 1 if count else 0


def write(folder):
    FOLDER.mkdir(exist_ok=True)
    for library in LIBRARIES:
        list_of(library).write_text("\n".join(exported(folder, library)) + "\n", encoding="utf-8")
    return 0


def self_test():
    found = symbols_of("00 T terrane_init@@TERRANE_0\n00 A TERRANE_0\n01 T read\n02 T shmem_put@@TERRANE_SHMEM_0\n"
                       "02 T pshmem_put@@TERRANE_SHMEM_0\n03 W other@@GLIBC_2.2.5\n")
    assert found == ["[p]shmem_put@TERRANE_SHMEM_0", "terrane_init@TERRANE_0"], found
    wrong = list(faults("l", ["a@V", "b@V"], ["b@V", "c@V"]))
    assert len(wrong) == 2 and "a@V is gone" in wrong[0] and "c@V is new" in wrong[1], wrong
    print("self-test passed")
    return 0


def main(words):
    commands = {"--check": check, "--write": write, "--self-test": self_test}
    if not words or words[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[words[0]](*words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
