"""The functions in front of the C library's that scripts/process_state.py makes from rows with prototypes."""

import re
import textwrap

PROTOTYPE = re.compile(r"(.+?[ *])(\w+)\((.*)\)( noexcept)?")
# Without a sentence: what each does is in interpose/made_calls.h, threads/state_calls.h and threads/copies.h.
SHAPES = {"every_node", "for_caller", "for_node", "copied", "copied_of_thread", "at_node_0", "copied_at_node_0", "text",
          "at_fd", "own_fd", "opens_fd", "of_node", "own_stack", "kernel", "waits", "opens"}
# "as CALL if CONDITION" and "elsewhere FUNCTION".
OTHER = re.compile(r"(as|elsewhere) (\w+)(\((?:(?! if ).)*\))?(?: if (.+))?")
MOST_IN_A_LINE = 120
# A parameter of one of these names, which is no text: the thing that belongs to a node.
OF_NODE = ("fd", "folder", "queue", "stream", "dir")


def parameters_of(text):
    """(type, name) of each parameter of a prototype: its name is the last word, or what stands in (*NAME)."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    found = [] if text in ("", "void") else [part.strip() for part in parts if part.strip() != "..."]
    names = [re.search(r"\(\*(\w+)\)", part) or re.search(r"(\w+)(\[\w*\])?$", part) for part in found]
    return [(part, name.group(1)) for part, name in zip(found, names)]


def of_node(parameters):
    return next((name for part, name in parameters if name in OF_NODE and "char" not in part), None)


def kinds_of(parameters, for_kernel):
    """The arguments as interpose/made_calls.h has them: what the kernel reads and writes, and whose node is asked."""
    of, kinds = of_node(parameters), []
    for (part, name), (next_part, follows) in zip(parameters, [*parameters[1:], ("", "")]):
        is_bytes = next_part in ("size_t bytes", "socklen_t size")
        kind = name
        if name == of:
            kind = f"Of{{{name}}}"
        elif not for_kernel or "(*" in part or "**" in part or not re.search(r"[*\[]", part):
            pass
        elif follows == "room":
            kind = f"Filled{{{name}, room}}"
        elif part.startswith("const") and is_bytes:
            kind = f"Bytes{{{name}, {follows}}}"
        elif part.startswith("const char*"):
            kind = f"Path{{{name}}}"
        elif part.startswith("const"):
            kind = f"Two{{{name}}}" if part.endswith("[2]") else f"From{{{name}}}"
        elif not re.match(r"(char|void|FILE|DIR)\b", part):
            kind = f"{'Both' if name.startswith('both') else 'To'}{{{name}}}"
        kinds.append(kind)
    return kinds


def quoted(text):
    """A literal of C, in lines of the length that sources have."""
    parts = textwrap.wrap(text, width=80, drop_whitespace=False) or [""]
    return "\n      ".join('"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in parts)


def wrapped(text, later, first=""):
    """In lines that end after commas."""
    words = re.sub(r"(?<!,) ", "\0", text)
    lines = textwrap.wrap(words, width=MOST_IN_A_LINE - 2, initial_indent=first, subsequent_indent=later,
                          break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def other_body(row, name, arguments):
    """Of a function that is made of another one."""
    how, other, listed, condition = OTHER.fullmatch(row.answer).groups()
    call = f"{other}{listed or '(' + ', '.join(arguments) + ')'}"
    gives = "" if row.prototype.startswith("void ") else "return "
    if how == "elsewhere":
        of = of_node(parameters_of(PROTOTYPE.fullmatch(row.prototype).group(3)))
        return [f"return is_elsewhere({of}) ? {call} : next<\"{name}\">(::{name})({', '.join(arguments)});"]
    if not row.prototype.removesuffix(" noexcept").endswith("...)"):
        return [*([f"if (!({condition})) __chk_fail();"] if condition else []), f"{gives}{call};"]
    return [f"va_list arguments; va_start(arguments, {arguments[-1]});", f"auto result = {call};",
            "va_end(arguments);", "return result;"]


def allocation_of(row, result):
    if row.answer == "for_caller":
        return "ForCaller"
    is_opened = row.answer == "opens" and result.strip() == "FILE*"
    return "ForNode" if row.answer == "for_node" or is_opened else None


def served_body(row, result, name, parameters):
    """The lines of a function that is served; `behind` is the C library's."""
    arguments = [argument for _, argument in parameters]
    copies = row.page == "kernel" or row.answer in ("kernel", "opens", "waits")
    kinds = "".join(f", {kind}" for kind in kinds_of(parameters, copies))
    behind = f'next<"{name}">(::{name})'
    listed = "".join(f", {argument}" for argument in arguments)
    of = of_node(parameters)
    if row.answer in ("kernel", "at_fd", "for_caller", "for_node", "opens", "waits"):
        how = {"opens": "opened", "waits": "waited"}.get(row.answer, "called")
        memory = allocation_of(row, result)
        name = f'<"{name}", {memory}>' if memory else f'<"{name}">'
        return [f"return {how}{name}(::{PROTOTYPE.fullmatch(row.prototype).group(2)}{kinds});"]
    if row.answer == "every_node":
        return [f'return on_every_node<"{name}">(::{name}{listed});']
    if row.answer == "own_stack":
        paths = ["InPath own_path(path);"] if "path" in arguments else []
        given = "".join(f", {'own_path.get()' if argument == 'path' else argument}" for argument in arguments)
        return [*paths, f'return on_private_stack<"{name}">(::{name}{given});']
    if row.answer == "of_node":
        return [f"if (is_elsewhere({arguments[0]})) ended_of_node({quoted(name)});",
                f'return called<"{name}", ForNode>(::{name}{listed});']
    if row.answer == "at_node_0":
        return [f'return at_node_0<"{name}">(::{name}{listed});']
    if row.answer == "text":
        return [f'return text_of<"{name}">(::{name}{listed});']
    if row.answer in ("own_fd", "opens_fd"):
        call = f"{behind}({', '.join(arguments)})"
        given = f"adopt({call})" if row.answer == "opens_fd" else call
        return [*([f"if (is_elsewhere({of})) return Elsewhere::get()->refuse({quoted(name)}, {of});"] if of else []),
                f"return {given};"]
    lines = [f"if (is_elsewhere({of})) return call_elsewhere({of}, ::{name}{listed});"] if of else []
    if row.answer == "copied_at_node_0":
        lines = [f"if (is_for_node_0()) return call_on(0, ::{name}{listed});"]
    keeps = "kForThread" if row.answer == "copied_of_thread" else "kForProcess"
    return [*lines, f'return copied<"{name}", {keeps}>(::{name}{listed});']


def body_of(row):
    result, name, listed, _ = PROTOTYPE.fullmatch(row.prototype).groups()
    parameters = parameters_of(listed)
    arguments = [argument for _, argument in parameters]
    if OTHER.fullmatch(row.answer):
        return other_body(row, name, arguments)
    if row.answer in SHAPES:
        return served_body(row, result, name, parameters)
    listed = "".join(f", {argument}" for argument in arguments)
    if row.answer != "ends":
        return [f'return refused<"{name}">(::{name}, {row.answer},\n      {quoted(row.sentence)}{listed});']
    return [f'if (!concerns_all_nodes()) return next<"{name}">(::{name})({", ".join(arguments)});',
            f"ended({quoted(name)},\n      {quoted(row.sentence)});"]


def interposer(row):
    """In one line where there is room."""
    body = body_of(row)
    line = f"{row.prototype} {{ {' '.join(body)} }}"
    if "\n" not in line and len(line) <= MOST_IN_A_LINE:
        return line
    body = "\n".join(wrapped(part, "      ", "  ") if "\n" not in part else f"  {part}" for part in body)
    return f"{wrapped(f'{row.prototype} {{', '    ')}\n{body} }}"


def file_of(rows, table, headers, namespaces):
    """The text of a file with the functions of these rows; a comment names each block."""
    lines, title = [], None
    for row in rows:
        if row.title != title:
            title = row.title
            lines += ["", f"// {title}"]
        lines.append(interposer(row))
    return "\n".join([f"// Made by scripts/process_state.py --write from {table}: change that.", "// clang-format off",
                      *(f'#include "{header}"' for header in headers), "",
                      *(f"using namespace {namespace};" for namespace in namespaces), "",
                      '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"',
                      '#pragma GCC diagnostic ignored "-Wunused-parameter"',
                      "#pragma GCC visibility push(default)", 'extern "C" {', *lines, "",
                      '}  // extern "C"', "#pragma GCC visibility pop"]) + "\n"


def value_of(part, name, kind, writes):
    """What tests/pages/each_call_program.cpp passes: it makes an argument of each kind, and numbers are 0."""
    of = re.sub(r"^const |\*.*$|\[.*$| \w+\[.*$", "", part).strip()
    if kind.startswith("Of{"):
        return "AT_FDCWD" if name == "folder" else "a.fd()"
    if kind.startswith("Path{"):
        return f"a.text({'kRoot' if writes else 'kNothing'})"
    if kind.startswith("Two{"):
        return f"a.from<{of.rpartition(' ')[0] or of}>(2)"
    if kind.startswith(("From{", "Bytes{")):
        return "a.from<char>(kBytes)" if of == "void" else f"a.from<{of}>()"
    if kind.startswith("Filled{"):
        return "a.to<char>(kBytes)"
    if kind.startswith(("To{", "Both{")):
        return f"a.to<{of}>()"
    if re.search(r"[*\[]", part):
        return "nullptr"
    return "kBytes" if name in ("bytes", "size", "room") else f"{part.rpartition(' ')[0]}{{}}"


def calls_of(rows):
    """The list of calls for the test: of each function that has copies made."""
    lines = []
    for row in rows:
        _, name, listed, _ = PROTOTYPE.fullmatch(row.prototype).groups()
        parameters = parameters_of(listed)
        kinds = kinds_of(parameters, True)
        if row.answer not in SHAPES or not any("{" in kind for kind in kinds):
            continue
        writes = any(kind.startswith(("To{", "Both{", "Filled{")) for kind in kinds)
        values = "".join(f", {value_of(part, argument, kind, writes)}"
                         for (part, argument), kind in zip(parameters, kinds))
        lines.append(wrapped(f'{{"{name}", [](Arguments& a) {{ return call(a, ::{name}{values}); }}}},', "      ", "    "))
    return lines


def test_of(rows, table):
    return "\n".join([f"// Made by scripts/process_state.py --write from {table}: change that.", "// clang-format off",
                      "#pragma once", "", "// Each call of the kernel that copies are made for.",
                      "inline constexpr Call kCalls[] = {", *calls_of(rows), "};"]) + "\n"
