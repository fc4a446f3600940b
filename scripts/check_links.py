#!/usr/bin/env python3
"""Links between pages, and pages that sources name, lead somewhere. A link of another page leads to each page and picture
of docs/. docs/decisions/README.md lists each decision once.

Usage: check_links.py [--self-test]
"""

import os
import pathlib
import re
import sys

import source_tree

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
NAMED_PAGE = re.compile(r"\bdocs/[\w./-]+\.(?:md|[1-9](?:\.scd)?)\b")
DECISIONS = pathlib.Path("docs/decisions")
PICTURES = {".svg", ".png", ".jpg"}
SOURCES = {".c", ".h", ".cpp", ".hpp", ".cmake", ".txt"}


def orphans(root, pages, pictures):
    """The pages and pictures of docs/ that no other page links to."""
    linked = set()
    for path in pages:
        links = {os.path.normpath(path.parent / link) for link in LINK.findall((root / path).read_text())}
        linked |= links - {str(path)}
    return [path for path in pages + pictures if path.parts[0] == "docs" and str(path) not in linked]


def decisions(root, pages):
    """What is wrong with the list of decisions."""
    records = [path.name for path in pages if path.parent == DECISIONS and path.name != "README.md"]
    index = root / DECISIONS / "README.md"
    listed = LINK.findall(index.read_text()) if index.exists() else []
    return [f"{DECISIONS}/{name}: {DECISIONS}/README.md lists it {listed.count(name)} times; once is right"
            for name in records if listed.count(name) != 1]


def check(root):
    files = source_tree.files(root)
    pages = [path for path in files if path.suffix == ".md"]
    pictures = [path for path in files if path.suffix in PICTURES]
    complaints = [f"{path}: no page links to it" for path in orphans(root, pages, pictures)]
    complaints += decisions(root, pages)
    for path in files:
        if path.suffix == ".md":
            text = (root / path).read_text()
            named = [path.parent / link for link in LINK.findall(text) if "://" not in link]
        elif path.suffix in SOURCES:
            named = NAMED_PAGE.findall((root / path).read_text())
        else:
            continue
        complaints += [f"{path}: leads nowhere: {name}" for name in named if not (root / name).exists()]
    return complaints


def self_test():
    """The check must find each of these, and nothing in the others."""
    wrong = {
        "README.md": "see [the index](docs/README.txt)\n",
        "lost.md": "see [there](design/none.md#part)\n",
        "docs/alone.md": "see [me](alone.md)\n",
        "docs/images/alone.svg": "<svg/>\n",
        "docs/decisions/0001-none.md": "[0002](0002-twice.md)\n",
        "docs/decisions/0002-twice.md": "[0001](0001-none.md)\n",
        "src/a/lost.h": "// docs/design/" "none.md\n",
    }
    right = {
        "CONTRIBUTING.md": "see [a page](docs/here.md)\n",
        "docs/here.md": "[this](here.md), [up](../README.md#top), [far](https://a.example/b.md) ![picture](images/b.svg)\n",
        "docs/images/b.svg": "<svg/>\n",
        "docs/decisions/README.md": "[here](../here.md) [2](0002-twice.md) [3](0003-once.md), [2](0002-twice.md)\n",
        "docs/decisions/0003-once.md": "[all](README.md)\n",
        "src/a/here.h": "// docs/here" ".md\n",
    }
    return source_tree.self_test(check, wrong, right)


if __name__ == "__main__":
    ours = self_test() if sys.argv[1:] == ["--self-test"] else check(source_tree.ROOT)
    sys.exit(source_tree.report("check_links", ours))
