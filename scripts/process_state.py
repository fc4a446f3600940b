#!/usr/bin/env python3
"""The state of a process on several nodes: checks src/frontend/process_state.txt, which explains its format, and what
is made from it: the lists in the guides, and src/frontend/threads/table_calls*.cpp with the simple interposers.

Usage: process_state.py [LIBRARY...]   check; with libraries also that one of them exports each call
       process_state.py --write        write what is made from the table (also after a merge conflict in it)
       process_state.py --self-test"""

import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass

import served_calls
import source_tree

SOURCES = pathlib.Path("src/frontend")
TABLE = SOURCES / "process_state.txt"
MADE = SOURCES / "threads/table_calls.cpp"
MOST_IN_A_FILE = 160  # functions
PAGES = {"threads": "docs/threads.md", "openmp": "docs/openmp.md"}
KINDS = {"program": "the program's", "inherited": "each thread's, from its creator", "replicated": "on all nodes",
         "node": "the node's own"}
# Without a sentence: what each does is in threads/state_calls.h and threads/copies.h.
SHAPES = {"every_node", "for_caller", "for_node", "copied", "copied_of_thread", "at_node_0", "copied_at_node_0", "text",
          "at_fd", "own_fd", "opens_fd", "of_node", "own_stack"}
BEGIN, END = "<!-- process state: scripts/process_state.py -->\n", "<!-- end of process state -->\n"
PROTOTYPE = re.compile(r"(.+?[ *])(\w+)\((.*)\)( noexcept)?")
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


def parse_row(number, block, line):
    columns = [column.strip() for column in line.split("|")]
    if len(columns) != 4 or not block:
        raise ValueError("a row has four columns, and stands in a block: calls | kind | served by | test")
    what, kind, server, test = columns
    row = Row(number, *block, [], "", "", kind, "", "", "", test)
    prototype = PROTOTYPE.fullmatch(what)
    if what.startswith("state: "):
        row.state = what.removeprefix("state: ")
    elif prototype:
        row.prototype, row.calls = what, [prototype.group(2)]
    else:
        row.calls = what.split()
    refusal = REFUSAL.fullmatch(server)
    if refusal:
        row.file, row.answer, row.sentence = refusal.group(1) or "", refusal.group(2), refusal.group(3)
    elif server in SHAPES:
        row.answer = server
    else:
        row.file = server
    return row


def read(text):
    """The rows, and complaints about lines that are none."""
    rows, complaints, block = [], [], None
    for number, line in logical_lines(text):
        head = re.fullmatch(r"\[(\w+)\] (.+)", line)
        if head and head.group(1) in PAGES:
            block = head.groups()
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
    if row.answer in SHAPES and not made:
        yield f"{row.answer} needs the prototype of one function"
    if row.file:
        path = root / SOURCES / row.file
        names = served_calls.defined(path.read_text()) if path.is_file() else None
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
    complaints += [f"{path}: out of date: scripts/process_state.py --write"
                   for path, text in interposers(rows).items()
                   if (root / MADE).is_file() and ((root / path).read_text() if (root / path).is_file() else "") != text]
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
    for path, text in interposers(rows).items():
        (source_tree.ROOT / path).write_text(text)


def argument_names(parameters):
    """Names of the parameters of a prototype: the last word of each, or what stands in (*NAME)."""
    depth, parts = 0, [""]
    for letter in parameters:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    names = [re.search(r"\(\*(\w+)\)", part) or re.search(r"(\w+)(\[\w*\])?$", part.strip()) for part in parts]
    return [] if parameters in ("", "void") else [name.group(1) for name in names]


def quoted(text):
    """A literal of C, in lines of the length that sources have."""
    parts = textwrap.wrap(text, width=80, drop_whitespace=False) or [""]
    return "\n      ".join('"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in parts)


def served_body(row, result, name, arguments):
    """The lines of a function that is served; `behind` is the C library's."""
    behind = f'next<"{name}">(::{name})'
    listed = "".join(f", {argument}" for argument in arguments)
    call = f"{behind}({', '.join(arguments)})"
    of = next((argument for argument in arguments if argument in ("stream", "fd", "dir")), None)
    lines = [f"if (is_elsewhere({of})) return call_elsewhere({of}, ::{name}{listed});"] if of else []
    if row.answer == "every_node":
        return [f"return on_every_node({quoted(name)}, {behind}{listed});"]
    if row.answer in ("for_caller", "for_node"):
        kind = "ForCaller" if row.answer == "for_caller" else "ForNode"
        return [*lines, f"terrane::frontend::{kind} memory;", f"return {call};"]
    if row.answer == "own_stack":
        paths = [f"terrane::frontend::InPath own_path(path);"] if "path" in arguments else []
        given = "".join(f", {'own_path.get()' if argument == 'path' else argument}" for argument in arguments)
        return [*paths, f"return on_private_stack({behind}{given});"]
    if row.answer == "of_node":
        return [f"if (is_elsewhere({arguments[0]}))",
                f'  ended({quoted(name)}, "it is used on another node than the one that has opened it");',
                "terrane::frontend::ForNode memory;", f"return {call};"]
    if row.answer == "at_node_0":
        return [f"return at_node_0({behind}, ::{name}{listed});"]
    if row.answer == "text":
        return [f"return text_of({behind}{listed});"]
    if row.answer == "copied_at_node_0":
        lines = [f"if (is_for_node_0()) return call_on(0, ::{name}{listed});"]
    if row.answer in ("own_fd", "opens_fd"):
        refuse = f"terrane::frontend::Elsewhere::get()->refuse({quoted(name)}, {of})"
        result = f"terrane::frontend::adopt({call})" if row.answer == "opens_fd" else call
        return [*([f"if (is_elsewhere({of})) return {refuse};"] if of else []), f"return {result};"]
    if row.answer == "at_fd":
        return [*lines, f"return {call};"]
    keeps = "kForThread" if row.answer == "copied_of_thread" else "kForProcess"
    return [*lines, f"return copied<{quoted(name)}, Keeps::{keeps}>({behind}{listed});"]


def interposer(row):
    result, name, parameters, _ = PROTOTYPE.fullmatch(row.prototype).groups()
    arguments = argument_names(parameters)
    if row.answer in SHAPES:
        body = served_body(row, result, name, arguments)
    else:
        refuses = f"ended({quoted(name)},\n      {quoted(row.sentence)});"
        if row.answer != "ends":
            kind = result.strip()
            refuses = f"return refused<{quoted(name)}, {kind}>({row.answer},\n      {quoted(row.sentence)});"
        behind = f'next<"{name}">(::{name})({", ".join(arguments)})'
        body = [f"if (!concerns_all_nodes()) return {behind};", refuses]
    return "\n".join([f"{row.prototype} {{", *(f"  {line}" for line in body), "}"])


def interposers(rows):
    """File -> its text: the functions that are made, so many in a file."""
    made = [interposer(row) for row in rows if row.prototype and not row.file]
    files = {MADE: made[:MOST_IN_A_FILE]}
    if len(made) > MOST_IN_A_FILE:
        files[MADE.with_name("table_calls_2.cpp")] = made[MOST_IN_A_FILE:]
    return {path: file_of(functions) for path, functions in files.items()}


def file_of(functions):
    return "\n".join([f"// Made by scripts/process_state.py --write from {TABLE}: change that.",
                      "// clang-format off",
                      '#include "frontend/threads/copies.h"',
                      '#include "frontend/threads/state_calls.h"', "",
                      "using terrane::frontend::call_elsewhere;", "using terrane::frontend::call_on;",
                      "using terrane::frontend::is_elsewhere;",
                      "using namespace terrane::frontend::threads;", "using terrane::frontend::next;", "",
                      '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"',
                      "#pragma GCC visibility push(default)", 'extern "C" {', "",
                      *functions, "",
                      '}  // extern "C"', "#pragma GCC visibility pop"]) + "\n"


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
