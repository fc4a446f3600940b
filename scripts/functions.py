"""Where the functions of a C or C++ source begin and end, by its braces alone."""

import re

NO_FUNCTION = re.compile(r"^\s*(namespace|inline namespace|class|struct|union|enum|extern\s+\"\")\b")
TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL
)


def _blank(match):
    """Comments and the insides of literals say nothing about braces; line breaks stay."""
    text = match.group(0)
    lines = "\n" * text.count("\n")
    return lines if text.startswith("/") else '""' + lines


def _without_digit_separators(text):
    return re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)


def functions(text):
    """(first line, lines) of every function body that stands outside of another function."""
    text = TOKENS.sub(_blank, _without_digit_separators(text))
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.MULTILINE)
    found = []
    stack = []  # for each open brace: the line where its function begins, or None
    head, head_line, line = "", 1, 1
    inside = False
    for character in text:
        if character == "\n":
            line += 1
        if character == "{":
            is_function = not inside and ")" in head and not NO_FUNCTION.match(head) and not head.rstrip().endswith("=")
            stack.append(head_line if is_function else None)
            inside = inside or is_function
        elif character == "}" and stack:
            begin = stack.pop()
            if begin is not None:
                found.append((begin, line - begin + 1))
                inside = False
        if character in "{};":
            head = ""
        elif head or not character.isspace():
            if not head:
                head_line = line
            head += character
    return found
