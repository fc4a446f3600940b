#!/usr/bin/env python3
"""The tables and lists of docs/openmp.md, made from src/frontend/omp/tables.txt, whose rows name their tests.

Usage: openmp_tables.py [--write] - checks that each test exists and says what its row says, that no mode of the tests
and no variable of the environment lacks a row, and that the page is up to date; --write writes the page anew."""

import re
import sys
import textwrap

import process_state
import source_tree

TABLE = "src/frontend/omp/tables.txt"
PAGE = "docs/openmp.md"
TESTS = "tests/omp"
SOURCES = "src/frontend/omp"
EACH = "omp_test.cpp OmpTest.EachConstructWorksAlone"
VARIABLE = re.compile(r'"(OMP_[A-Z_]+)[="]')


def markers(name):
    return f"<!-- {name.lower()}: scripts/openmp_tables.py -->\n", f"<!-- end of {name.lower()} -->\n"


def read(text):
    """Name of a table -> (heads, rows): a row is (line, what, how, test)."""
    tables, current = {}, None
    for number, line in process_state.logical_lines(text):
        head = re.fullmatch(r"\[([A-Z]+)\](?: (.+))?", line)
        if head:
            current = tables[head.group(1)] = (re.split(r"\s+\|\s+", head.group(2)) if head.group(2) else [], [])
            continue
        columns = re.split(r"\s+\|\s+", line)
        heads, rows = current
        if len(columns) != len(heads or [0]) + 1:
            raise ValueError(f"{TABLE}:{number}: a row has {len(heads or [0]) + 1} columns")
        rows.append((number, columns[0], columns[1] if heads else "", columns[-1]))
    return tables


def text_of_test(root, file, name):
    """What stands in a test; nothing: there is no such test."""
    suite, _, case = name.partition(".")
    path = root / TESTS / file
    text = path.read_text() if path.is_file() else ""
    begin = re.search(rf"^TEST(_F|_P)?\(\s*{re.escape(suite)},\s*{re.escape(case)}\s*\)", text, re.MULTILINE)
    return "" if begin is None else text[begin.start():].split("\n}\n")[0]


def complaints_of(root, tables):
    named = set()
    for number, what, _, test in (row for _, rows in tables.values() for row in rows):
        if test == "-":
            continue
        file, name, *words = test.split()
        text = text_of_test(root, file, name)
        if not text:
            yield f"{TABLE}:{number}: there is no test '{file} {name}'"
        yield from (f"{TABLE}:{number}: {name} has no '{word}'" for word in words if not re.search(rf"\b{word}\b", text))
        named |= {(f"{file} {name}", word) for word in words} | set(re.findall(r"`(OMP_[A-Z_]+)`", what))
    modes = text_of_test(root, *EACH.split()).partition("{\n")[2].partition("})")[0]
    for mode in re.findall(r'"(\w+)"', modes):
        if (EACH, mode) not in named:
            yield f"{TABLE}: no row for the mode '{mode}' of {EACH}"
    for path in sorted((root / SOURCES).glob("*.cpp")):
        for variable in VARIABLE.findall(path.read_text()):
            if variable not in named:
                yield f"{TABLE}: no row for {variable}, which {path.name} reads"


def shown(heads, rows):
    if heads:
        lines = [f"| {' | '.join(line)} |\n" for line in [heads, *([what, how] for _, what, how, _ in rows)]]
        return "".join([lines[0], "|" + "---|" * len(heads) + "\n", *lines[1:]])
    lines = []
    for _, what, _, _ in rows:
        end = "." if ". " in what and what[-1] not in ".)" else ""
        lines += textwrap.wrap(f"- {what}{end}", width=118, subsequent_indent="  ", break_long_words=False,
                               break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def with_tables(page, tables):
    for name, (heads, rows) in tables.items():
        begin, end = markers(name)
        before, found, rest = page.partition(begin)
        if found:
            page = before + begin + "\n" + shown(heads, rows) + "\n" + end + rest.partition(end)[2]
    return page


def check(root, write=False):
    try:
        tables = read((root / TABLE).read_text())
    except ValueError as error:
        return [str(error)]
    page = (root / PAGE).read_text()
    made = with_tables(page, tables)
    if write:
        (root / PAGE).write_text(made)
        page = made
    complaints = list(complaints_of(root, tables))
    complaints += [f"{PAGE}: has no '{markers(name)[0].strip()}'" for name in tables if markers(name)[0] not in page]
    if page != made:
        complaints.append(f"{PAGE}: the tables are out of date: scripts/openmp_tables.py --write")
    return complaints


if __name__ == "__main__":
    sys.exit(source_tree.report("openmp_tables", check(source_tree.ROOT, sys.argv[1:] == ["--write"])))
