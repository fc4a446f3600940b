#!/usr/bin/env python3
"""Links between pages, and pages that sources name, lead somewhere; a link of another page leads to each page of docs/.

Usage: check_links.py [--self-test]
"""

import os
import re
import sys

import source_tree

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
NAMED_PAGE = re.compile(r"\bdocs/[\w./-]+\.(?:md|[1-9](?:\.scd)?)\b")
SOURCES = {".c", ".h", ".cpp", ".hpp", ".cmake", ".txt"}


def orphans(root, pages):
    """The pages of docs/ that no other page links to."""
    linked = set()
    for path in pages:
        links = {os.path.normpath(path.parent / link) for link in LINK.findall((root / path).read_text())}
        linked |= links - {str(path)}
    return [path for path in pages if path.parts[0] == "docs" and str(path) not in linked]


def check(root):
    complaints = []
    pages = [path for path in source_tree.files(root) if path.suffix == ".md"]
    complaints += [f"{path}: no page links to it" for path in orphans(root, pages)]
    for path in source_tree.files(root):
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
        "src/a/lost.h": "// docs/design/" "none.md\n",
    }
    right = {
        "CONTRIBUTING.md": "see [a page](docs/here.md)\n",
        "docs/here.md": "[this](here.md), [up](../README.md#top), [far](https://a.example/b.md)\n",
        "src/a/here.h": "// docs/here" ".md\n",
    }
    return source_tree.self_test(check, wrong, right)


if __name__ == "__main__":
    ours = self_test() if sys.argv[1:] == ["--self-test"] else check(source_tree.ROOT)
    sys.exit(source_tree.report("check_links", ours))
