#!/usr/bin/env python3
"""The list in docs/design/faults.md: the functions of the C library that libterrane stands in front of.

Usage: served_calls.py [--write] [LIBRARY] - compares the page with the sources, and these with what the library
LIBRARY exports; --write writes the list anew."""

import re
import subprocess
import sys
import textwrap

import source_tree

PAGE = source_tree.ROOT / "docs/design/faults.md"
FRONTEND = source_tree.ROOT / "src/frontend"
FOLDERS = ["interpose", "pages/objects", "closing"]
BEGIN, END = "<!-- served calls: scripts/served_calls.py -->\n", "<!-- end of served calls -->\n"
ROWS = {  # what the page calls a file's functions
    "bytes": "bytes", "vectors": "lists of buffers", "moves": "between files, pipes, processes", "stdio": "streams",
    "print": "texts", "files": "files", "paths": "names of files", "attributes": "attributes of files",
    "control": "control, where the size is known", "sockets": "sockets", "queues": "queues and semaphores",
    "waiting": "waiting", "clocks": "clocks and timers", "limits": "limits, rights, processors", "locking": "locked memory",
    "process": "processes", "programs": "other programs", "signals": "signals", "fortified": "checked and old forms",
    "unserved": "not served, but told", "mutexes": "mutexes", "read_write_locks": "locks of readers and writers",
    "conditions": "conditions", "semaphores": "semaphores", "c_threads": "objects of C's threads",
    "closing": "descriptors that the job needs",
}
NOT_OF_LIBC = ("terrane_", "_Z", "__atomic_")  # our own, and the compiler's
DEFINITION = re.compile(r"^[A-Za-z_][\w:<>*& \[\]]*?[ *&](\w+)\(", re.MULTILINE)


def defined(text):
    """The functions between the lines that open and close default visibility, and those marked as in front."""
    exported = re.findall(r"#pragma GCC visibility push\(default\)\n(.*?)#pragma GCC visibility pop", text, re.DOTALL)
    exported += re.findall(r"^TERRANE_IN_FRONT .*", text, re.MULTILINE)
    return [name for part in exported for name in DEFINITION.findall(part) if not name.startswith(NOT_OF_LIBC)]


def served_by_sources():
    """File stem -> its functions, sorted; files without any are left out."""
    paths = [path for folder in FOLDERS for path in (FRONTEND / folder).glob("*.cpp")]
    found = {path.stem: sorted(defined(path.read_text())) for path in paths}
    return {stem: names for stem, names in found.items() if names}


def wide(name):
    """The name without what says that offsets have 64 bits: these forms are not listed by themselves."""
    return re.sub(r"64(?=_|v2|$)", "", name)


def page_list(functions):
    lines = []
    order = {stem: number for number, stem in enumerate(ROWS)}
    for stem in sorted(functions, key=lambda stem: (order.get(stem, len(order)), stem)):
        names = [name for name in functions[stem] if wide(name) == name or wide(name) not in functions[stem]]
        text = f"- {ROWS.get(stem, stem)}: {' '.join(f'`{name}`' for name in names)}"
        lines += textwrap.wrap(text, width=118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def exported_by(library):
    """The names that the library defines, but for its own interface."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines() if " T " in line or " W " in line}
    return {name for name in names if not name.startswith(NOT_OF_LIBC)} - {"_init", "_fini"}


def check(functions, library):
    shown = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    complaints = []
    if shown.strip() != page_list(functions).strip():
        complaints.append(f"{PAGE.name}: the list of served calls is out of date: scripts/served_calls.py --write")
    if library:
        listed, exported = {name for names in functions.values() for name in names}, exported_by(library)
        complaints += [f"{name}: the library does not export it" for name in sorted(listed - exported)]
        complaints += [f"{name}: exported, but no file of these folders defines it" for name in sorted(exported - listed)]
    return complaints


def write(functions):
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(before + begin + "\n" + page_list(functions) + "\n" + END + after)


if __name__ == "__main__":
    served = served_by_sources()
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    if "--write" in sys.argv:
        write(served)
    sys.exit(source_tree.report("served_calls", check(served, arguments[0] if arguments else None)))
