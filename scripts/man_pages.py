#!/usr/bin/env python3
"""Manual pages of section 3, made from the comments of a C header of include/terrane.

Usage: man_pages.py HEADER FOLDER VERSION

Writes FOLDER/terrane_NAME.3 for HEADER NAME.h, with every declaration and its comment, and for each function a page
FUNCTION.3 that leads there.
"""

import pathlib
import re
import sys

FUNCTION = re.compile(r"TERRANE_API\s+([\w\s*]+?)(\w+)\(", re.S)


def paragraphs(comment):
    """The text of a comment, one string a paragraph."""
    text = "\n".join(re.sub(r"^\s*\*? ?", "", line).rstrip() for line in comment.splitlines())
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def without_macros(code):
    code = re.sub(r"\b(TERRANE_API|TERRANE_NOEXCEPT|TERRANE_ANY_INT)\s?", "", code)
    return "\n".join(line.rstrip() for line in code.strip("\n").splitlines()).replace(" ;", ";")


def body(header):
    """What stands between the inclusion guard's parts, without preprocessor lines but constants."""
    lines = header.splitlines(keepends=True)
    begin = next(i for i, line in enumerate(lines) if 'extern "C"' in line) + 2
    end = max(i for i, line in enumerate(lines) if line.startswith("#ifdef __cplusplus"))
    return "".join(lines[begin:end])


def entries(text):
    """Pairs of a comment and the declarations behind it; a comment inside of a declaration belongs to that."""
    found = []
    for block in re.split(r"\n\s*\n", text):
        while block.lstrip().startswith("/*"):
            comment, _, rest = block.lstrip()[2:].partition("*/")
            cut = re.search(r"\n(?=/\*)", rest)
            code, block = (rest[: cut.start()], rest[cut.end() :]) if cut else (rest, "")
            found.append((comment, code))
        if block.strip():
            found.append(("", block))
    return found


def main(arguments):
    header, folder, version = pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), arguments[2]
    text = header.read_text()
    title = "terrane_" + header.stem
    introduction = paragraphs(text[text.index("/*") + 2 : text.index("*/")])
    name = introduction[0].split(": ", 1)[-1].rstrip(".")
    lines = [
        f'.TH {title.upper()} 3 2026-01-01 "terrane {version}" "Terrane"',
        ".SH NAME",
        f"{title} \\- {roff(name[0].lower() + name[1:])}",
        ".SH SYNOPSIS",
        ".nf",
        f".B #include <terrane/{header.name}>",
        ".fi",
        ".SH DESCRIPTION",
    ]
    for part in introduction[1:]:
        lines += [roff(part), ".PP"]
    lines.append(".SH FUNCTIONS AND TYPES")
    functions = []
    for comment, code in entries(body(text)):
        functions += [match.group(2) for match in FUNCTION.finditer(code)]
        if code.strip():
            lines += [".nf", roff(without_macros(code)), ".fi"]
        for part in paragraphs(comment):
            lines += [".RS 4", roff(part), ".RE"]
        lines.append(".PP")
    lines += [".SH SEE ALSO", f".BR terrane\\-{header.stem} (7),", ".BR terrane (1)"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{title}.3").write_text("\n".join(lines) + "\n")
    for function in functions:
        (folder / f"{function}.3").write_text(f".so man3/{title}.3\n")
    if not functions:
        sys.exit(f"man_pages.py: no function found in {header}")


if __name__ == "__main__":
    main(sys.argv[1:])
