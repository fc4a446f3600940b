#!/usr/bin/env python3
"""The functions that the headers of glibc declare: each has a row in src/frontend/process_state.txt, or a function of
ours in front of it, or stands with its reason in src/frontend/calls_without_state.txt, which explains its format.

Usage: libc_functions.py                          check the list scripts/libc_functions.txt
       libc_functions.py --headers                also that it has what this machine's headers declare
       libc_functions.py --write VERSION FOLDER   add what the headers in FOLDER declare (/usr/include, or that of an
                                                  unpacked libc6-dev and linux-libc-dev), which are of that version
       libc_functions.py --self-test"""

import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import process_state
import served_calls
import source_tree

LIST = pathlib.Path("scripts/libc_functions.txt")
REASONS = pathlib.Path("src/frontend/calls_without_state.txt")
HEAD = """\
# Functions that the headers of glibc declare, by header: in 2.36, or (@2.41, @2.43) in that version and in none before
# it that was looked at. Of math.h and complex.h there is one line, which is made by hand.
# Made by scripts/libc_functions.py --write.
"""
FIRST = "2.36"
# Headers of mathematics: hundreds of functions that compute from their arguments.
MATHEMATICS = re.compile(r"bits/(math|cmath|iscanonical).*")
# Headers of other things than the C library: the kernel's, libthread_db's, and what an audit library defines.
FOREIGN = re.compile(r"(linux|asm|asm-generic|drm|mtd|rdma|scsi|sound|video|xen|misc|cxl|fwctl|regulator)/.*"
                     r"|thread_db.h|proc_service.h|bits/link.h")
FORTIFIED = re.compile(r"__\w+_(alias|chk_warn|warn|missing_mode|too_many_args|nulldst|noreturn|invalid_size)"
                       r"|__mq_open_\w+|__fdelt_warn|__error_\w+")  # inline, and names of the compiler's messages


def options_for(folder):
    if folder == "/usr/include":
        return []
    own = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    machine = subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True, check=True).stdout.strip()
    return ["-nostdinc", "-isystem", own, "-isystem", f"{folder}/{machine}", "-isystem", folder]


def headers_of(folder):
    """The headers of the C library, as a program names them."""
    if folder == "/usr/include":
        listed = subprocess.run(["dpkg", "-L", "libc6-dev"], capture_output=True, text=True, check=True).stdout.split()
    else:
        listed = [str(path) for path in pathlib.Path(folder).rglob("*.h")]
    names = {re.sub(r"^[^/]*-linux-gnu\w*/", "", path[len(folder) + 1:]) for path in listed
             if path.startswith(folder + "/") and path.endswith(".h")}
    skipped = re.compile(r"(bits|gnu|finclude)/.*")
    return sorted(name for name in names if not skipped.match(name) and not FOREIGN.match(name))


def name_in(prototype):
    """The function that a prototype of gcc's -aux-info declares; the first name before arguments."""
    return re.search(r"(\w+) \((?!\*)", prototype).group(1)


PLAIN, CHECKED = ["-O0"], ["-O2", "-D_FORTIFY_SOURCE=3", "-std=gnu2x"]


def declared(folder, modes=(PLAIN, CHECKED)):
    """Function -> the header that declares it. Each header is compiled by itself, plain and with _FORTIFY_SOURCE."""
    found = {}
    with tempfile.TemporaryDirectory() as work:
        told = pathlib.Path(work, "declared")
        for header in headers_of(folder):
            source = f"#define _GNU_SOURCE 1\n#include <sys/types.h>\n#include <stdio.h>\n#include <{header}>\n"
            for mode in modes:
                told.unlink(missing_ok=True)  # the compiler removes it after errors
                subprocess.run(["gcc", "-w", "-fno-builtin", *mode, *options_for(folder), "-x", "c", "-", "-S", "-o",
                                "/dev/null", "-aux-info", told], input=source, text=True, capture_output=True)
                found |= functions_in(told.read_text() if told.is_file() else "", folder)
    return found


def functions_in(text, folder):
    found = {}
    for path, prototype in re.findall(r"^/\* (\S+?):\d+:\S* \*/ (.*)$", text, re.MULTILINE):
        if not path.startswith(folder + "/"):
            continue
        header = re.sub(r"^[^/]*-linux-gnu\w*/", "", path[len(folder) + 1:])
        name = name_in(prototype)
        unwanted = MATHEMATICS.match(header) or FOREIGN.match(header) or FORTIFIED.fullmatch(name)
        if not unwanted and "static" not in prototype.partition(name)[0]:
            found[name] = header
    return found


def read_list(text):
    """Function -> (header, version)."""
    found = {}
    for _, line in process_state.logical_lines(text):
        header, _, names = line.partition(": ")
        for name in names.split():
            name, _, version = name.partition("@")
            found[name] = header, version or FIRST
    return found


def list_of(functions):
    lines = []
    for header in sorted({header for header, _ in functions.values()}):
        names = [name if version == FIRST else f"{name}@{version}"
                 for name, (of, version) in sorted(functions.items()) if of == header]
        lines += textwrap.wrap(f"{header}: {' '.join(names)}", width=118, subsequent_indent="  ",
                               break_long_words=False, break_on_hyphens=False)
    return HEAD + "\n".join(lines) + "\n"


def read_reasons(text):
    """(line, patterns, reason) of each row, and complaints about lines that are none."""
    rows, complaints = [], []
    for number, line in process_state.logical_lines(text):
        patterns, _, reason = line.partition(" | ")
        if reason.strip():
            rows.append((number, patterns.split(), reason.strip()))
        else:
            complaints.append(f"{REASONS}:{number}: a row has two columns: patterns | why they need no row")
    return rows, complaints


def matches(pattern, name, header):
    of, _, names = pattern.rpartition(":")
    return fnmatch.fnmatchcase(name, names) and (not of or of == header)


def defined_by_us(root):
    sources = sorted((root / "src/frontend").rglob("*.cpp"))
    return {name for path in sources for name in served_calls.defined(path.read_text())}


def check(root):
    functions = read_list((root / LIST).read_text())
    rows, _ = process_state.read((root / process_state.TABLE).read_text())
    known = {call for row in rows for call in row.calls}
    known |= {name for row in rows for name in re.findall(r"`(\w+)`", row.state)}
    known |= defined_by_us(root)
    reasons, complaints = read_reasons((root / REASONS).read_text())
    used = set()
    for name, (header, _) in functions.items():
        found = [(line, pattern) for line, patterns, _ in reasons for pattern in patterns
                 if matches(pattern, name, header)]
        used |= set(found)
        if name in known and any(not re.search(r"[*?\[]", pattern) for _, pattern in found):
            complaints.append(f"{REASONS}:{found[0][0]}: {name} has a row, or a function of ours")
        if name not in known and not found:
            complaints.append(f"{LIST}: {name} of <{header}> has no row in {process_state.TABLE}, and no reason in "
                              f"{REASONS}")
    for line, patterns, _ in reasons:
        complaints += [f"{REASONS}:{line}: no function is {pattern}" for pattern in patterns
                       if (line, pattern) not in used]
    return complaints


def check_headers(root):
    known = read_list((root / LIST).read_text())
    return [f"{LIST}: {name} of <{header}> is missing: scripts/libc_functions.py --write, and say in "
            f"{process_state.TABLE} what serves it" for name, header in declared("/usr/include", [CHECKED]).items()
            if name not in known]


def write(version, folder):
    path = source_tree.ROOT / LIST
    functions = read_list(path.read_text()) if path.is_file() else {}
    for name, header in declared(folder.rstrip("/")).items():
        functions.setdefault(name, (header, version))
    path.write_text(list_of(functions))


def self_test():
    """Each function without a reason is found, and each reason without a function; no others."""
    table = "[threads] Title\nserved | program | x.cpp | t.cpp Some.Claim\nstate: `told` | node | unnoticed: so | -\n"
    ours = "#pragma GCC visibility push(default)\nint inside(int a) {\n#pragma GCC visibility pop\n"
    right = {str(process_state.TABLE): table, "src/frontend/x.cpp": ours,
             str(LIST): "a.h: served told inside abs@2.41\nb.h: new_one\n", str(REASONS): "abs b.h:new_* | computes\n"}
    wrong = {"a function without a row": {str(LIST): right[str(LIST)] + "c.h: lost\n"},
             "a row of reasons that fits nothing": {str(REASONS): right[str(REASONS)] + "nothing | computes\n"},
             "a reason for a function that is served": {str(REASONS): right[str(REASONS)] + "served | computes\n"},
             "a row without a reason": {str(REASONS): right[str(REASONS)] + "abs\n"}}
    complaints = source_tree.self_test(check, {}, right)
    for what, files in wrong.items():
        if not source_tree.self_test(check, {}, right | files):
            complaints.append(f"self-test: not found: {what}")
    return complaints


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        sys.exit(source_tree.report("libc_functions --self-test", self_test()))
    if len(arguments) == 3 and arguments[0] == "--write":
        write(*arguments[1:])
        arguments = []
    found = check(source_tree.ROOT)
    if arguments == ["--headers"]:
        found += check_headers(source_tree.ROOT)
    sys.exit(source_tree.report("libc_functions", found))
