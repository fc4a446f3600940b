#!/usr/bin/env python3
"""Names in backticks exist, on the pages that describe the code and its commands: files, folders, constants (kName),
types and tests (CamelCase), functions (name()), names with _ or ::, options, subcommands and benchmarks.

Usage: check_names.py [--self-test]

Planted faults (*CamelCase*) and commands in blocks of code are read in the same way. Decisions, results and the
changelog say what was, and are not read; nor is the rest of blocks, or a generated list."""

import functools
import re
import sys

import source_tree

C_FAMILY = {".c", ".h", ".cpp", ".hpp"}
SOURCES = C_FAMILY | {"", ".S", ".f90", ".py", ".sh", ".cmake", ".txt", ".in", ".map", ".pml"}
# Folders whose parts a page may name; other folders are those of an installation, or of the reader.
FOLDERS = ("src", "docs", "tests", "bench", "examples", "scripts", "cmake")
# Pages whose files without a folder, and whose *Constants:*, are in a folder of their own.
SUBJECTS = {"docs/design/prediction.md": "src/protocol/predict"}
# Names of other projects, and functions that a script makes of a table.
FOREIGN = re.compile(r"PascalCase|ProxyJump|io_uring|sem_open|pool_size|fb_data|p?shmem_\w+")

COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?\*/""", re.DOTALL)
SKIPPED = re.compile(r"<!-- (?:served calls|process state).*?<!-- end of|^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
CONSTANTS = re.compile(r"\*Constants?:\*(.*?)(?:\n\n|\(\[|\Z)", re.DOTALL)
FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.(?:h|hpp|cpp|c|py|sh|md|txt|scd|cmake|json|pml|def)")
FOLDER = re.compile(r"(?:[\w-]+/)+")
CAMEL = r"(?:[A-Z][a-z0-9]+){2,}"
FAULTS = re.compile(rf"(?<!\*)\*((?:{CAMEL},?\s*)+)\*(?!\*)")
NAME = re.compile(rf"k[A-Z]\w*|{CAMEL}(?:\.{CAMEL})?|\w+\(\)|[A-Za-z]\w*(?:::\w+)+|"
                  r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+|TERRANE_\w+")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
BLOCK_LINE = re.compile(r"(?:^ *|\$ |&& )((?:terrane|\./run) [^#\n]*)")
COMMAND = re.compile(r"(terrane|\./run bench|\./run) ([a-z][a-z-]*)\b")


def is_checked(path):
    is_guide = path.parent.as_posix() in (".", "docs", "docs/design") or path.parts[0] in ("examples", "bench")
    return path.suffix == ".md" and is_guide and path.name not in ("CHANGELOG.md", "results.md")


class Tree:
    """What there is: words and options of the sources, ends of paths, commands."""

    def __init__(self, root):
        self.files = source_tree.files(root)
        self.words, self.options, self.commands = set(), set(), set()
        for path in self.files:
            if path.suffix in SOURCES and path.parts[0] != "docs" and path.name != "check_names.py":
                self.read(path, (root / path))
        self.ends = {"/".join(parent.parts[place:]) for path in self.files for parent in (path, *path.parents)
                     for place in range(len(parent.parts))}

    def read(self, path, file):
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            return
        if path.suffix in C_FAMILY:
            text = COMMENT.sub(lambda match: match[1] or " ", text)
        self.words.update(re.findall(r"\w+", text))
        self.options.update(OPTION.findall(text))
        self.commands.update(("terrane", name) for name in re.findall(r'add_subcommand\(\s*"([\w-]+)"', text))
        if path.as_posix() == "run":
            commands = re.findall(r"^command_(\w+)\(\)", text, re.MULTILINE)
            self.commands.update(("./run", name) for name in ["help", *commands])
        found = re.fullmatch(r"bench_(\w+)", path.stem)
        if found:
            self.commands.add(("./run bench", found[1]))
        self.commands.update(("./run bench", name) for name in re.findall(r"terrane_bench_(\w+)", text))

    def has_file(self, name, subject):
        if "/" in name or subject is None:
            return name in self.ends
        return any(path.name == name and path.as_posix().startswith(subject) for path in self.files)

    def missing(self, code, subject):
        """What of a piece of code does not exist, or None."""
        if FILE.fullmatch(code):
            is_example = re.search(r"[A-Z]{3,}", code) and "README" not in code and "CHANGELOG" not in code
            return None if is_example or self.has_file(code, subject) or code.startswith("build/") else code
        if FOLDER.fullmatch(code):
            return code if code.split("/")[0] in FOLDERS and code.rstrip("/") not in self.ends else None
        if NAME.fullmatch(code):
            is_known = all({word, "k" + word} & self.words for word in re.findall(r"\w+", code))
            return None if is_known or FOREIGN.fullmatch(code) else code
        command = COMMAND.match(code)
        if command and (command[1], command[2]) not in self.commands:
            return command[0]
        if command or code.startswith("-"):
            return next((option for option in OPTION.findall(code) if option not in self.options), None)
        return None


def commands_of(text):
    """The commands of Terrane in blocks of code, which are fenced or indented, with their lines."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        command = BLOCK_LINE.search(line) if fenced or line.startswith("    ") else None
        if command:
            yield number, command[1]


def code_of(text):
    """Each piece of code in backticks and each planted fault, with its line."""
    prose = SKIPPED.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in CODE.finditer(prose):
        yield prose.count("\n", 0, match.start()) + 1, match[1].strip()
    for match in FAULTS.finditer(prose):
        yield from ((prose.count("\n", 0, match.start()) + 1, name) for name in re.findall(r"\w+", match[1]))


def constants(text, folder, root):
    """The constants that a page lists and its folder does not define."""
    @functools.cache
    def defined():
        sources = "".join(path.read_text() for path in sorted((root / folder).rglob("*.h")))
        return set(re.findall(r"(\w+) = ", COMMENT.sub(" ", sources)))

    for listed in CONSTANTS.finditer(text):
        for name in CODE.findall(listed[1]):
            if name not in defined():
                yield text.count("\n", 0, listed.start()) + 1, name


def check(root):
    tree = Tree(root)
    complaints = []
    for path in filter(is_checked, tree.files):
        text, subject = (root / path).read_text(), SUBJECTS.get(path.as_posix())
        for number, code in (*code_of(text), *commands_of(text)):
            gone = tree.missing(code, subject)
            if gone:
                complaints.append(f"{path}:{number}: no such name in the tree: {gone}")
        for number, name in constants(text, subject, root) if subject else ():
            complaints.append(f"{path}:{number}: no such constant in {subject}: {name}")
    return complaints


def self_test():
    """The check must find each of these, and nothing in the others."""
    wrong = {
        "docs/file.md": "see `gone.h`\n",
        "docs/path.md": "see `src/base/gone.cpp`\n",
        "docs/folder.md": "see `src/gone/`\n",
        "docs/design/constant.md": "at most `kGone`\n",
        "docs/design/comment.md": "as `kOnlyInAComment`\n",
        "docs/design/type.md": "a `GoneType`\n",
        "docs/design/test.md": "`ThereTest.GoneClaim` shows it\n",
        "docs/design/member.md": "`There::gone`\n",
        "docs/design/underscore.md": "`gone_name`\n",
        "docs/design/prediction.md": "**x** (`there.h`). *Constant:* `there_is`.\n",
        "docs/design/fault.md": "a rule. *IsThere,\nIsGone*; a scenario\n",
        "docs/option.md": "run `terrane run --gone`\n",
        "docs/command.md": "run `terrane gone`\n",
        "docs/benchmark.md": "run `./run bench gone`\n",
        "docs/block.md": "run\n\n    terrane run -n 2 --gone ./a\n",
        "docs/fence.md": "```sh\n$ terrane gone  # here\n```\n",
    }
    right = {
        "src/base/there.h": "class There { int there_is(); };  // kOnlyInAComment\nconstexpr int kThere = 1;\n",
        "src/base/there_test.cpp": 'TEST(ThereTest, IsThere)\nadd_subcommand("run") "--there"\n',
        "bench/base/bench_there.py": "x = 1\n",
        "run": "command_bench() {\n",
        "docs/decisions/0001-gone.md": "`gone.h` `kGone`\n",
        "docs/block_right.md": "run\n\n    terrane run --there a  # --gone\n\n```\n./run bench there\nclang --gone\n"
                               "```\n",
        "docs/design/right.md": "a rule. *IsThere*; *home*\n",
        "docs/right.md": "`there.h` `src/base/` `kThere` `ThereTest.IsThere`\n`There::there_is`\n"
                         "`terrane run --there` `./run bench there`\n"
                         "`lib/gone/` `hello`\n```\n`kGone`\n```\n"
                         "<!-- served calls: x -->\n`gone_name`\n<!-- end of -->\n",
    }
    return source_tree.self_test(check, wrong, right)


if __name__ == "__main__":
    ours = self_test() if sys.argv[1:] == ["--self-test"] else check(source_tree.ROOT)
    sys.exit(source_tree.report("check_names", ours))
