#!/usr/bin/env python3
"""Pages (*.md and docs/man) are in plain words: lines of at most 120 characters, no word of WORDS, "who" no noun. So are
the comments of public headers and of the folders COMMENTED.

Usage: check_words.py [--self-test]. Code, generated lists and link targets are not prose; only their length counts."""

import re
import sys

import source_tree

MAX_LINE = 120
SOURCES = {".c", ".h", ".cpp", ".hpp"}
MAX_WHO = 0.5  # per 1,000 words of a page
# What a page does not say, and what it says instead. Words with an ordinary meaning beside the one that is to be
# avoided ("given", "hand", "failures", "skip") are not here: a pattern cannot tell the two meanings apart.
WORDS = {
    r"he|him|his": "the noun: the reader, the requester",
    r"comes? along|brings?": "is prefetched, prefetches, carries",
    r"ahead": "pipelined, before",
    r"streams? of misses": "sequential stream",
    r"promise[ds]?|expectations?": "subscription",
    r"news": "push",
    r"serial numbers?": "version",
    r"departures?": "barrier exit",
    r"hot|renew(?:s|ed|als?)?": "refreshed",
    r"on trial": "on probation",
    r"hidden cop(?:y|ies)": "unmapped probe",
    r"fores(?:ee|eeing|een|ight)": "prediction",
    r"regrets?": "reclaimed home",
    r"calm|told|disturb(?:s|ed)?|settled": "quiet, reported, changed",
    r"attends?|attention": "poll for the node",
    r"aside": "staging buffer, separately",
    r"alike": "same-owner run, in the same way",
    r"meets?|meetings?": "in-memory barrier, rendezvous",
    r"hand of (?:the )?evictions?": "clock hand",
    r"rivals?": "competing process",
    r"owed": "yields to the handler",
    r"stands?(?: up to)?|bears?": "is, works with, represents",
}
WORD = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): instead for words, instead in WORDS.items()}
# "Who" is a noun where it begins a clause by itself: "who waits polls". After a noun it is a relative pronoun ("the
# reader who waits"). A script knows no nouns: it counts "who" unless a word stands directly before it that is none of
# FUNCTION_WORDS. "Whoever" and "whom" always count. It misses few, and counts some indirect questions ("knows who").
FUNCTION_WORDS = set("""
    a about after also an and as ask asks at because but by decides for from if in is it know knows not of on only
    or report reports say saying says see sees tell tells than that the then to what when where while with
""".split())
WHO = re.compile(r"(?:\b([\w'-]+)[ \n])?\b(who|whoever|whom)\b", re.IGNORECASE)


# Sources whose comments are checked.
COMMENTED = ("include/", "src/", "bench/", "tests/", "examples/")
# Words of these comments that are names in the code: take_news(), attend(), meet(), the departure of a barrier.
NAMES = re.compile(r"\b(?:news|attends?|meets?|departures?)\b", re.IGNORECASE)
COMMENT = re.compile(r"""(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?\*/""", re.DOTALL)


def comments(lines):
    """The comments of C or C++ as prose, each on its line; everything else blanked."""
    text = "\n".join(lines)
    prose = [""] * len(lines)
    for match in COMMENT.finditer(text):
        if match["text"]:
            continue
        first = text.count("\n", 0, match.start())
        for number, line in enumerate(match[0].splitlines(), first):
            prose[number] += re.sub(r"`[^`]*`", "`", NAMES.sub("", re.sub(r"^\s*(?://+|/?\*+/?) ?|\*/$", "", line)))
    return prose


def markdown_prose(lines):
    """The lines with those that are no prose blanked."""
    fenced = generated = False
    before = ""
    for line in lines:
        generated = (generated or line.startswith("<!-- served calls")) and not line.startswith("<!-- end of")
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        indented = line.startswith("    ") and (not before.strip() or before.startswith("    "))
        if fence or fenced or generated or indented:
            yield ""
        else:
            yield re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`", line))
        before = line


def manual_prose(lines):
    """The same for a manual page (scdoc): without examples, and without what is bold, which is code."""
    example = False
    for line in lines:
        fence = line.strip() == "```"
        example ^= fence
        yield "" if fence or example else re.sub(r"\*[^*]*\*", "*", line)


def who_as_noun(prose):
    """The numbers of the lines where it is one."""
    text = "\n".join(prose)
    for match in WHO.finditer(text):
        is_relative = match[2].lower() == "who" and match[1] and match[1].lower() not in FUNCTION_WORDS
        if not is_relative:
            yield text.count("\n", 0, match.start(2)) + 1


def check_page(path, text):
    lines = text.splitlines()
    how = {".md": markdown_prose} | dict.fromkeys(SOURCES, comments)
    prose = list(how.get(path.suffix, manual_prose)(lines))
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            yield f"{path}:{number}: {len(line)} characters; at most {MAX_LINE}"
    for number, line in enumerate(prose, 1):
        for word, instead in WORD.items():
            for match in word.finditer(line):
                yield f"{path}:{number}: '{match[0]}': write: {instead}"
    found = list(who_as_noun(prose))
    if path.suffix in SOURCES or len(found) * 1000 > MAX_WHO * len(" ".join(prose).split()):
        for number in found:
            yield f"{path}:{number}: 'who' as a noun: name the actor"


def is_checked(path):
    name = path.as_posix()
    is_source = path.suffix in SOURCES and name.startswith(COMMENTED)
    return path.suffix == ".md" or name.startswith("docs/man/") or is_source


def check(root):
    pages = [path for path in source_tree.files(root) if is_checked(path)]
    sources = [path for path in pages if path.suffix in SOURCES]
    complaints = [complaint for path in pages if path not in sources for complaint in check_page(path, (root / path).read_text())]
    return complaints + check_comments(root, sources)


def check_comments(root, sources):
    """Of all comments together a few may have such words: MAX_WHO of 1,000."""
    words, found = 0, []
    for path in sources:
        text = (root / path).read_text()
        words += sum(len(line.split()) for line in comments(text.splitlines()))
        found += [complaint for complaint in check_page(path, text) if "characters" not in complaint]
    return found if len(found) * 1000 > MAX_WHO * words else []


def self_test():
    """The check must find each of these, and nothing in the others."""
    wrong = {
        "README.md": "A line " + "of many words " * 10 + "\n",
        "CHANGELOG.md": "- Misses are foreseen.\n",
        "docs/noun.md": "Who waits for a page polls.\n",
        "docs/second.md": "The home sends it to\nwhoever wants it.\n",
        "docs/pronoun.md": "The reader asks, and he waits.\n",
        "src/base/a.h": "int a;  // Who waits polls, and\n// whoever sleeps is woken.\n",
        "include/terrane/b.h": "/* The reader is\n * told. */\n",
        "docs/man/a.1.scd": "a(1)\n\n# NAME\n\na - tells what\n\n*b*\n\tis owed\n",
    }
    right = {
        "docs/relative.md": "The reader who waits polls.\n",
        "docs/code.md": "Run `who` or\n\n    who ahead\n\n```c\nint ahead;\n```\nsee [a page](decisions/who.md).\n",
        "docs/long.md": "word " * 24 + "\n" + ("word " * 20 + "\n") * 200 + "Who waits polls.\n",
        "src/base/b.cpp": 'const char* text = "who // is told";  // The home answers by `told`.\n',
        "docs/man/b.1.scd": "b(1)\n\n```\nnews ahead\n```\n\nThe page is *stands_for*(1), after *--hot*.\n",
    }
    return source_tree.self_test(check, wrong, right)


if __name__ == "__main__":
    ours = self_test() if sys.argv[1:] == ["--self-test"] else check(source_tree.ROOT)
    sys.exit(source_tree.report("check_words", ours))
