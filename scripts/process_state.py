#!/usr/bin/env python3
"""The state of a process on several nodes: checks src/frontend/process_state.txt, which explains its format, and what
is made from it: the lists in the guides, the interposers of rows with prototypes, and the list of calls for the
test that makes each of them (scripts/interposers.py).

Usage: process_state.py [LIBRARY...]   check; with libraries also that one of them exports each call
       process_state.py --write        write what is made from the table (also after a merge conflict in it)
       process_state.py --self-test"""

import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass

import interposers
import served_calls
import source_tree

SOURCES = pathlib.Path("src/frontend")
TABLE = SOURCES / "process_state.txt"
PAGES = {"threads": "docs/threads.md", "openmp": "docs/openmp.md"}
BLOCKS = {*PAGES, "kernel"}
# What is made of the rows: file, their page, how many of them, headers, namespaces.
KERNEL_CALLS = SOURCES / "interpose/table_calls.cpp"
KERNEL_TEST = pathlib.Path("tests/pages/table_calls.h")
THREADS_CALLS = [SOURCES / "threads/table_calls.cpp", SOURCES / "threads/table_calls_2.cpp"]
HEADERS = {"kernel": ["frontend/interpose/kernel_headers.h", "frontend/interpose/made_calls.h"],
           "threads": ["frontend/interpose/made_calls.h", "frontend/threads/call_headers.h", "frontend/threads/copies.h",
                       "frontend/threads/state_calls.h"]}
NAMESPACES = {"kernel": ["terrane::frontend", "terrane::frontend::made"],
              "threads": ["terrane::frontend", "terrane::frontend::made", "terrane::frontend::threads"]}
MOST_IN_A_FILE = 250  # functions
KINDS = {"program": "the program's", "inherited": "each thread's, from its creator", "replicated": "on all nodes",
         "node": "the node's own"}
BEGIN, END = "<!-- process state: scripts/process_state.py -->\n", "<!-- end of process state -->\n"
REFUSAL = re.compile(r"(?:(\S+\.cpp) )?(E[A-Z0-9]+|ends|unnoticed): (.+)")


@dataclass
class Row:
    line: int
    page: str
    title: str
    calls: list
    prototype: str
    state: str
    kind: str
    file: str  # that serves or refuses it; "": the build makes it
    answer: str  # an error number, "ends", "unnoticed", a shape; "": served in the file
    sentence: str
    test: str

    def name(self):
        return self.state or " ".join(f"`{call}`" for call in self.calls)


def logical_lines(text):
    """(number, line) of blocks and rows; a line that begins with a blank belongs to the one before it."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace() and found:
            found[-1] = (found[-1][0], f"{found[-1][1].rstrip()} {line.strip()}")
        else:
            found.append((number, line.rstrip()))
    return found


def columns_of(line, block):
    """calls, kind, served by, test: a row has what its block does not give."""
    columns = re.split(r"\s+\|\s+", line)
    usual = block[2:] if block else []
    if len(columns) == 2 and usual:
        return [*columns[:1], usual[0], columns[1], usual[2]]
    if len(columns) == 1:
        columns += usual
    if len(columns) != 4 or not block:
        raise ValueError("a row has four columns, and stands in a block: calls | kind | served by | test")
    return columns


def parse_row(number, block, line):
    what, kind, server, test = columns_of(line, block)
    row = Row(number, *block[:2], [], "", "", kind, "", "", "", test)
    prototype = interposers.PROTOTYPE.fullmatch(what)
    if what.startswith("state: "):
        row.state = what.removeprefix("state: ")
    elif prototype:
        row.prototype, row.calls = what, [prototype.group(2)]
    else:
        row.calls = what.split()
    refusal = REFUSAL.fullmatch(server)
    if refusal:
        row.file, row.answer, row.sentence = refusal.group(1) or "", refusal.group(2), refusal.group(3)
    elif server in interposers.SHAPES or interposers.OTHER.fullmatch(server):
        row.answer = server
    else:
        row.file = server
    return row


def read(text):
    """The rows, and complaints about lines that are none."""
    rows, complaints, block = [], [], None
    for number, line in logical_lines(text):
        head = re.fullmatch(r"\[(\w+)\] (.+)", line)
        if head and head.group(1) in BLOCKS:
            block = [head.group(1), *re.split(r"\s+\|\s+", head.group(2))]
            continue
        try:
            rows.append(parse_row(number, block, line))
        except ValueError as error:
            complaints.append(f"{TABLE}:{number}: {error}")
    return rows, complaints


def has_test(root, test):
    path, _, name = test.partition(" ")
    if not name:  # of ctest
        lists = [file for file in source_tree.files(root) if file.name == "CMakeLists.txt"]
        return any(re.search(rf"\b{re.escape(test)}\b", (root / file).read_text()) for file in lists)
    suite, _, case = name.partition(".")
    pattern = rf"TEST(_F|_P)?\(\s*{re.escape(suite)},\s*{re.escape(case)}\s*\)"
    return (root / path).is_file() and re.search(pattern, (root / path).read_text()) is not None


def complaints_of(row, root):
    if row.kind not in KINDS:
        yield f"'{row.kind}' is no kind: {', '.join(KINDS)}"
    made = bool(row.prototype)
    if made == bool(row.file) and row.answer != "unnoticed":
        yield "either a file serves it, or the row has a prototype and an answer that the build makes"
    if (row.answer in interposers.SHAPES or interposers.OTHER.fullmatch(row.answer)) and not made:
        yield f"{row.answer} needs the prototype of one function"
    if row.file:
        path = root / SOURCES / row.file
        beside = path.with_name("table_calls.cpp")
        texts = [file.read_text() for file in (path, beside) if file.is_file()] if path.is_file() else []
        names = [name for text in texts for name in served_calls.defined(text)] if texts else None
        if names is None:
            yield f"there is no {SOURCES / row.file}"
        else:
            yield from (f"{SOURCES / row.file} does not define {call}" for call in row.calls if call not in names)
    if row.test == "-":
        if row.answer != "unnoticed":
            yield "it needs a test"
    elif not has_test(root, row.test):
        yield f"there is no test '{row.test}'"


def check(root, libraries=()):
    rows, complaints = read((root / TABLE).read_text())
    seen = {}
    exported = {name for library in libraries for name in served_calls.exported_by(library)}
    for row in rows:
        found = list(complaints_of(row, root))
        for call in row.calls:
            if seen.setdefault((row.page, call, row.answer), row.line) != row.line:
                found.append(f"{call} has a row already, in line {seen[row.page, call, row.answer]}")
            if libraries and row.answer != "unnoticed" and call not in exported:
                found.append(f"no library exports {call}")
        complaints += [f"{TABLE}:{row.line}: {complaint}" for complaint in found]
    for page, path in PAGES.items():
        shown = (root / path).read_text() if (root / path).is_file() else ""
        if shown and shown.partition(BEGIN)[2].partition(END)[0].strip() != lists(rows, page).strip():
            complaints.append(f"{path}: the lists of calls are out of date: scripts/process_state.py --write")
    complaints += [f"{path}: out of date: scripts/process_state.py --write" for path, text in made_of(rows).items()
                   if (root / KERNEL_CALLS).is_file()
                   and ((root / path).read_text() if (root / path).is_file() else "") != text]
    return complaints


def wrapped(text):
    return textwrap.wrap(text, width=118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def lists(rows, page):
    """What a guide says: served by blocks and kinds, refused, not noticed."""
    own = [row for row in rows if row.page == page]
    served, refused, unnoticed, of_node = {}, [], [], {"own_fd": [], "of_node": []}
    for row in own:
        if row.answer == "unnoticed":
            unnoticed += wrapped(f"- {row.name()}: {row.sentence}")
        elif row.answer in ("own_fd", "of_node"):
            of_node[row.answer].append(row.name())
        elif row.sentence:
            answer = "the program ends" if row.answer == "ends" else row.answer
            refused += wrapped(f"- {row.name()}: {answer}; {row.sentence}")
        else:
            served.setdefault((row.title, row.kind), []).append(row.name())
    for shape, answer in (("own_fd", "EBADF for a descriptor of another node"),
                          ("of_node", "the program ends, if another node has opened it")):
        if of_node[shape]:
            refused += wrapped(f"- {' '.join(of_node[shape])}: {answer}")
    text = []
    if served:
        text += ["**Served:**", ""]
        for (title, kind), names in served.items():
            text += wrapped(f"- {title} ({KINDS.get(kind, kind)}): {' '.join(names)}")
    for title, part in (("**Refused, with a sentence:**", refused), ("**Not noticed:**", unnoticed)):
        if part:
            text += ["", title, "", *part]
    return "\n".join(text) + "\n"


def write():
    rows, _ = read((source_tree.ROOT / TABLE).read_text())
    for page, path in PAGES.items():
        file = source_tree.ROOT / path
        before, begin, rest = file.read_text().partition(BEGIN)
        if begin:
            file.write_text(before + begin + "\n" + lists(rows, page) + "\n" + END + rest.partition(END)[2])
    for path, text in made_of(rows).items():
        (source_tree.ROOT / path).write_text(text)


def made_of(rows):
    """File -> its text: the functions that are made, so many in a file."""
    made = {page: [row for row in rows if row.prototype and not row.file and row.page == page] for page in HEADERS}
    parts = {KERNEL_CALLS: ("kernel", made["kernel"])}
    for number, path in enumerate(THREADS_CALLS):
        parts[path] = "threads", made["threads"][number * MOST_IN_A_FILE:(number + 1) * MOST_IN_A_FILE]
    files = {path: interposers.file_of(of, TABLE, HEADERS[page], NAMESPACES[page])
             for path, (page, of) in parts.items() if of}
    return files | {KERNEL_TEST: interposers.test_of(made["kernel"], TABLE)}


def self_test():
    """Each wrong row is found, and no right one."""
    source = '#pragma GCC visibility push(default)\nint served(int a) {\n#pragma GCC visibility pop\n'
    test = "TEST(Some, Claim) {"
    right = ["served | program | x.cpp | t.cpp Some.Claim", "int made(int a) | replicated | every_node | t.cpp Some.Claim",
             "int no(void) noexcept | node | EPERM: it cannot be | t.cpp Some.Claim",
             "state: words | inherited | x.cpp | t.cpp Some.Claim", "other | node | unnoticed: it is wrong | -"]
    wrong = ["served | program | x.cpp", "served | mine | x.cpp | t.cpp Some.Claim",
             "absent | program | x.cpp | t.cpp Some.Claim", "served | program | y.cpp | t.cpp Some.Claim",
             "served | program | x.cpp | -", "served | program | x.cpp | t.cpp Some.Other",
             "made | replicated | every_node | t.cpp Some.Claim",
             "int made(int a) | replicated | x.cpp | t.cpp Some.Claim"]
    cases = [(row, False) for row in right] + [(row, True) for row in wrong]
    complaints = []
    for row, is_wrong in cases:
        files = {str(TABLE): f"[threads] Title\n{row}\n", str(SOURCES / "x.cpp"): source, "t.cpp": test}
        missed = source_tree.self_test(lambda root: check(root), files if is_wrong else {}, {} if is_wrong else files)
        wanted = [line for line in missed if str(TABLE) in line]
        complaints += [f"self-test: '{row}': {line}" for line in wanted]
    return complaints


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        sys.exit(source_tree.report("process_state --self-test", self_test()))
    if arguments == ["--write"]:
        write()
        arguments = []
    sys.exit(source_tree.report("process_state", check(source_tree.ROOT, arguments)))
