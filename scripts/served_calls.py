#!/usr/bin/env python3
"""The lists in docs/design/faults.md and docs/pages.md: the functions of the C library that libterrane stands in front of.

Usage: served_calls.py [--write] [LIBRARY] - compares the pages with the sources, and these with what the library
LIBRARY exports; --write writes the lists anew."""

import re
import subprocess
import sys
import textwrap

import source_tree

# Each page lists the functions of some folders.
FOLDERS = {"docs/design/faults.md": ["src/frontend/interpose", "src/frontend/closing"],
           "docs/pages.md": ["src/frontend/pages/objects"]}
BEGIN, END = "<!-- served calls: scripts/served_calls.py -->\n", "<!-- end of served calls -->\n"
ROWS = {  # what the page calls a file's functions
    "bytes": "bytes", "vectors": "lists of buffers", "moves": "between files, pipes, processes", "stdio": "streams",
    "print": "texts", "files": "files", "paths": "names of files", "attributes": "attributes of files",
    "control": "control, where the size is known", "sockets": "sockets", "queues": "queues and semaphores",
    "waiting": "waiting", "clocks": "clocks", "timers": "timers",
    "async_files": "asynchronous ones, made at once", "limits": "rights, processors", "locking": "locked memory",
    "process": "processes", "replaced": "threads, the current folder, rights and limits", "programs": "other programs", "signals": "signals", "old_signals": "older calls about signals", "fortified": "checked and old forms",
    "closing": "closing, which spares the job's descriptors",
    "mutexes": "mutexes", "conditions": "conditions", "read_write_locks": "read-write locks",
    "semaphores": "semaphores and barriers", "c_threads": "C", "atomics": "atomics",
    "system_call": "raw system calls, of which futex is served, and others are told of",
}
DEFINITION = re.compile(r"^[A-Za-z_][\w:<>*& \[\]]*?[ *&](\w+)\(", re.MULTILINE)
# A function that has another name in the library; the pages do not list the compiler's calls for atomics.
LABEL = re.compile(r'(\w+)\([^;{()]*\)\s*__asm__\("(\w+)"\)')
IN_FRONT = re.compile(r"^TERRANE_IN_FRONT [^(]*?(\w+)\(", re.MULTILINE)


def defined(text):
    """The functions between the lines that open and close default visibility, or that are marked by themselves."""
    exported = re.findall(r"#pragma GCC visibility push\(default\)\n(.*?)#pragma GCC visibility pop", text, re.DOTALL)
    found = [name for part in exported for name in DEFINITION.findall(part)] + IN_FRONT.findall(text)
    labels = dict(LABEL.findall(text))
    return [labels.get(name, name) for name in found if not labels.get(name, "").startswith("__atomic_")]


def parts_of(path):
    """(title, functions) of a source: its title, or (made of the table of a process's state) a comment's each."""
    text = path.read_text()
    if path.stem != "table_calls":
        return [(ROWS.get(path.stem, path.stem), defined(text))]
    head, *parts = re.split(r"^// (.+)\n", text[text.index('extern "C" {'):], flags=re.MULTILINE)
    return [(title, DEFINITION.findall(part)) for title, part in zip(parts[::2], parts[1::2])]


def served_by(folders):
    """Title -> its functions, sorted; files without any are left out."""
    found = {}
    for path in sorted(path for folder in folders for path in (source_tree.ROOT / folder).glob("*.cpp")):
        for title, names in parts_of(path):
            found[title] = sorted({*found.get(title, []), *names})
    return {title: names for title, names in found.items() if names}


def wide(name):
    """The name without what says that offsets have 64 bits: these forms are not listed by themselves."""
    return re.sub(r"64(?=_|v2|$)", "", name)


def page_list(functions):
    lines = []
    order = {title: number for number, title in enumerate(ROWS.values())}
    for title in sorted(functions, key=lambda title: (order.get(title, len(order)), title)):
        names = [name for name in functions[title] if wide(name) == name or wide(name) not in functions[title]]
        text = f"- {title}: {' '.join(f'`{name}`' for name in names)}"
        lines += textwrap.wrap(text, width=118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def exported_by(library):
    """The names that the library defines, but for its own interface and what the compiler calls for atomics."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines() if " T " in line or " W " in line}
    return {name for name in names if not name.startswith(("terrane_", "_Z", "__atomic_"))} - {"_init", "_fini"}


def check(library):
    complaints = []
    listed = set()
    for page, folders in FOLDERS.items():
        functions = served_by(folders)
        listed |= {name for names in functions.values() for name in names}
        shown = (source_tree.ROOT / page).read_text().partition(BEGIN)[2].partition(END)[0]
        if shown.strip() != page_list(functions).strip():
            complaints.append(f"{page}: the list of served calls is out of date: scripts/served_calls.py --write")
    if library:
        exported = exported_by(library)
        complaints += [f"{name}: the library does not export it" for name in sorted(listed - exported)]
        complaints += [f"{name}: exported, but no file of FOLDERS defines it" for name in sorted(exported - listed)]
    return complaints


def write():
    for page, folders in FOLDERS.items():
        path = source_tree.ROOT / page
        before, begin, rest = path.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        path.write_text(before + begin + "\n" + page_list(served_by(folders)) + "\n" + END + after)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    if "--write" in sys.argv:
        write()
    sys.exit(source_tree.report("served_calls", check(arguments[0] if arguments else None)))
