#!/usr/bin/env python3
"""The house rules that a machine can see (CONTRIBUTING.md). Usage: check_style.py [--self-test]"""

import ast
import os
import re
import sys

import functions
import source_tree

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 70
C_FAMILY = {".c", ".h", ".cpp", ".hpp"}
SOURCES = C_FAMILY | {".py", ".sh", ".S", ".f90"}
# Python's own names of modules, and modules that a package keeps for itself, begin with "_".
SNAKE_CASE = re.compile(r"__(init|main)__\.py|_?[a-z0-9]+(_[a-z0-9]+)*(\.[a-z0-9]+)*\.[A-Za-z0-9]+")
LEFT_TO_DO = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
SHARED_FOLDER = re.compile(r"testing::TempDir\(\)|\bmkdtemp\(|\btemp_directory_path\(")
MACHINE_PATH = re.compile(r"(?<![\w.~$})])/(home|root|Users|mnt|work|workspace)/\w")


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def shell_functions(text):
    begin = None
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"^[\w-]+\(\)\s*\{\s*(#.*)?$", line):
            begin = number
        elif line == "}" and begin is not None:
            yield begin, number - begin + 1
            begin = None


def has_test_folder(path):
    is_ours = path.parts[0] in {"src", "tests"} and path.name != "test_folder.h"
    return is_ours and path.suffix in {".cpp", ".h"} and "test" in path.name


def functions_of(path, text):
    if path.suffix in C_FAMILY:
        return functions.functions(text)
    if path.suffix == ".py":
        return python_functions(text)
    if path.suffix == ".sh" or text.startswith("#!/usr/bin/env bash"):
        return shell_functions(text)
    return []


def check_file(path, text):
    lines = text.splitlines()
    if path.suffix in SOURCES:
        if len(lines) > MAX_FILE_LINES:
            yield f"{path}: {len(lines)} lines; at most {MAX_FILE_LINES}"
        if not SNAKE_CASE.fullmatch(path.name):
            yield f"{path}: the name is not snake_case"
    for begin, length in functions_of(path, text):
        if length > MAX_FUNCTION_LINES:
            yield f"{path}:{begin}: a function of {length} lines; at most {MAX_FUNCTION_LINES}"
    for number, line in enumerate(lines, 1):
        if LEFT_TO_DO.search(line):
            yield f"{path}:{number}: {LEFT_TO_DO.search(line).group(0)}: do it, or write an issue"
        if MACHINE_PATH.search(line):
            yield f"{path}:{number}: {MACHINE_PATH.search(line).group(0)}...: a path of one machine"
        if has_test_folder(path) and SHARED_FOLDER.search(line):
            yield f"{path}:{number}: tests run at once: a folder of its own is base::TestFolder"


def check(root):
    complaints = []
    for path in source_tree.files(root):
        try:
            text = (root / path).read_text()
        except UnicodeDecodeError:
            continue  # pictures
        complaints += check_file(path, text)
        if re.fullmatch(r"bench_\w+\.py", path.name) and not os.access(root / path, os.X_OK):
            complaints.append(f"{path}: ./run bench cannot run it: chmod +x {path}")
    return complaints


def self_test():
    """The check must find each of these, and nothing in the others."""
    long_body = "  f();\n" * MAX_FUNCTION_LINES
    wrong = {
        "src/a/long_file.h": "int a;\n" * (MAX_FILE_LINES + 1),
        "src/a/long_function.cpp": "int f(int a)\n    const {\n" + long_body + "}\n",
        "src/a/long_method.h": "namespace a {\nclass B {\n  void c() noexcept {\n" + long_body + "  }\n};\n}\n",
        "src/a/BadName.cpp": "",
        "src/a/left.cpp": "// TO" "DO: finish\n",
        "scripts/long.py": "def f():\n" + "    f()\n" * MAX_FUNCTION_LINES,
        "scripts/long.sh": "f() {\n" + long_body + "}\n",
        "bench/a/bench_a.py": "",
        "src/a/files_test.cpp": 'std::string path = testing::TempDir() + "file";\n',
        "docs/page.md": "see /ho" "me/me/notes\n",
    }
    right = {
        "src/a/good_name.cpp": "namespace {\n" + "int f() { return '{'; }\n" * MAX_FUNCTION_LINES + "}\n",
        "tests/a/program.cpp": "mkdtemp(path);\n",
        "src/a/table.cpp": "int a[] = {\n" + "  1,\n" * MAX_FUNCTION_LINES + "};\n",
        "src/a/digits.h": "constexpr int a = 100'000;  // it's {\n" * MAX_FUNCTION_LINES,
        "README.md": "see https://a.example/home/page\n",
    }
    return source_tree.self_test(check, wrong, right)


if __name__ == "__main__":
    ours = self_test() if sys.argv[1:] == ["--self-test"] else check(source_tree.ROOT)
    sys.exit(source_tree.report("check_style", ours))
