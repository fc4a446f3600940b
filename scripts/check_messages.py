#!/usr/bin/env python3
"""Each message between nodes has its place in docs/design/hlrc.md. Usage: check_messages.py [--self-test]"""

import re
import sys

import source_tree

WIRE = "src/wire/message.h"
PAGE = "docs/design/hlrc.md"


def kinds_of(header):
    body = re.search(r"enum class Kind[^{]*\{(.*?)\};", header, re.DOTALL)
    return re.findall(r"\b(k\w+)", re.sub(r"//[^\n]*", "", body[1])) if body else []


def named_in(page):
    table = page.split("## Messages", 1)[-1]
    return [kind for line in table.splitlines() if line.startswith("| `")
            for kind in re.findall(r"`(k\w+)`", line.split(" | ")[0])]


def check(header, page):
    kinds, named = kinds_of(header), named_in(page)
    complaints = [] if kinds else [f"{WIRE}: no enum class Kind"]
    for kind in kinds:
        if named.count(kind) != 1:
            complaints.append(f"{PAGE}: {kind} is in the table of messages {named.count(kind)} times; once is right")
    complaints += [f"{PAGE}: {kind} is no message of {WIRE}" for kind in named if kind not in kinds]
    return complaints


def self_test():
    header = "enum class Kind : int {\n  kAsk = 1,  // kNot\n  kAnswer,\n};\n"
    good = "## Messages\n\n| `kAsk`, `kAnswer` | a | b | c |\n"
    assert check(header, good) == []
    assert len(check(header, good.replace("`kAnswer`", "`kGone`"))) == 2
    assert len(check(header, good + "| `kAsk` | a | b | c |\n")) == 1
    assert len(check("", good)) == 3


if __name__ == "__main__":
    if "--self-test" in sys.argv[1:]:
        self_test()
        sys.exit(0)
    read = [(source_tree.ROOT / path).read_text() for path in (WIRE, PAGE)]
    sys.exit(source_tree.report("check_messages", check(*read)))
