#!/usr/bin/env python3
"""Holds <shmem.h> and the library against interface.txt, the functions of the specification.

Usage: interface.py exported LIBRARY            every name, and its pshmem_ one, is defined; no other
       interface.py compiled LIBRARY INCLUDE COMPILER STANDARD
                                                a program that calls each compiles and links
       interface.py generic LIBRARY INCLUDE COMPILER STANDARD
                                                the same of the calls that choose by type
       interface.py list                        the functions' names
"""

import pathlib
import re
import subprocess
import sys
import tempfile

RULES = pathlib.Path(__file__).with_name("interface.txt")
PROTOTYPE = re.compile(r"(?P<returns>.*?[ *])(?P<name>\w+)\((?P<parameters>.*)\)$")
# What the library may export besides: what the inlined calls need, and what makes the static data of libraries
# symmetric that the program opens, and what keeps the job's descriptors open.
SHMEMX = pathlib.Path(__file__).parents[2] / "include" / "shmemx.h"  # extensions
OWN = re.compile(r"terrane_shmem_\w+$|(dlopen|close|close_range|closefrom|dup2|dup3)$|__odr_asan\.")


class Function:
    def __init__(self, prototype):
        found = PROTOTYPE.match(prototype)
        self.returns = found["returns"].strip()
        self.name = found["name"]
        self.parameters = [] if found["parameters"] == "void" else found["parameters"].split(", ")

    def with_context(self):
        context = Function(f"{self.returns} {self.name.replace('shmem_', 'shmem_ctx_', 1)}(void)")
        context.parameters = ["shmem_ctx_t ctx", *self.parameters]
        return context

    def types(self):
        return [p if p == "..." else re.match(r"(.*?)\w+$", p)[1].strip() for p in self.parameters]


class Interface:
    """What the rules say: functions by category, and the generic calls."""

    def __init__(self, text):
        self.tables, self.sizes, self.functions, self.generic = {}, {}, {}, []
        self.wanted, self.category = {}, None
        for line in text.splitlines():
            if line and not line.startswith("#"):
                self.read(line)
        for category, wanted in self.wanted.items():
            found = len(self.functions[category])
            if found != wanted:
                sys.exit(f"interface.txt: {category} has {found} functions, not {wanted}")

    def read(self, line):
        word, _, rest = line.partition(" ")
        if word == "types":
            name, _, types = rest.partition(": ")
            self.tables[name] = self.table(types.split(", "))
        elif word == "sizes":
            name, _, sizes = rest.partition(": ")
            self.sizes[name] = sizes.split()
        elif word == "category":
            self.category, count = rest.split()
            self.wanted[self.category] = int(count)
            self.functions[self.category] = []
        elif word == "generic":
            form, tables, *names = rest.replace(":", "").split()
            for name in names:
                self.generic.append((form, tables, name))
                self.functions[self.category].append(f"shmem_{name}")
        else:
            self.functions[self.category] += self.expand(line)

    def table(self, entries):
        types = {}
        for entry in entries:
            if entry.startswith("@"):
                types |= self.tables[entry[1:]]
            else:
                name, _, kind = entry.partition("=")
                types[name] = kind
        return types

    def expand(self, line):
        both = line.startswith("both ")
        prototype = line.removeprefix("both ")
        place = re.search(r"<(\w+)>", prototype)
        if not place:
            found = [Function(prototype)]
        elif place[1] in self.sizes:
            found = [Function(prototype.replace(place[0], size)) for size in self.sizes[place[1]]]
        else:
            found = [
                Function(re.sub(r"\bTYPE\b", kind, prototype.replace(place[0], name)))
                for name, kind in self.tables[place[1]].items()
            ]
        return [f for one in found for f in ([one, one.with_context()] if both else [one])]

    def all_functions(self):
        return [f for category, found in self.functions.items() if category != "generic" for f in found]

    def generic_calls(self):
        """The typed functions that generic calls must reach, by the name that the program uses."""
        by_name = {f.name: f for f in self.all_functions()}
        for form, tables, name in self.generic:
            if form == "team":
                yield f"shmem_{name}", by_name[f"shmem_team_{name}"]
                continue
            types = [""] if tables == "-" else [f"{t}_" for k in tables.split(",") for t in self.tables[k]]
            for kind in types:
                yield f"shmem_{name}", by_name[f"shmem_{kind}{name}"]
                if form == "both":
                    yield f"shmem_{name}", by_name[f"shmem_ctx_{kind}{name}"]


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = {line.split()[-1].partition("@")[0] for line in listing.stdout.splitlines()}
    return {n for n in names if not n.startswith("TERRANE_")}


def missing(interface, library):
    have = exported(library)
    return [n for f in interface.all_functions() for n in (f.name, f"p{f.name}") if n not in have]


def check_exported(interface, library):
    wanted = {n for f in interface.all_functions() for n in (f.name, f"p{f.name}")}
    lacking = missing(interface, library)
    extensions = set(re.findall(r"\b(shmemx_\w+)\(", SHMEMX.read_text()))
    surplus = sorted(n for n in exported(library) - wanted - extensions if not OWN.match(n))
    for name in lacking:
        print(f"not defined: {name}")
    for name in surplus:
        print(f"not in the specification: {name}")
    print(f"{len(wanted) - len(lacking)} of {len(wanted)} names are defined")
    return not lacking and not surplus


def declaration(kind, name):
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}"


def spelled(kind, cpp):
    return kind.replace("double _Complex", "__complex__ double").replace("float _Complex", "__complex__ float") if cpp else kind


def call(number, name, function, cpp):
    """A function of the program that takes what the call takes, and makes it."""
    types = [spelled(t, cpp) for t in function.types() if t != "..."]
    parameters = ", ".join(declaration(t, f"a{i}") for i, t in enumerate(types)) or "void"
    arguments = ", ".join(f"a{i}" for i in range(len(types)))
    returns = spelled(function.returns, cpp)
    back = "" if returns == "void" else "return "
    return f"{returns} call_{number}({parameters}) {{ {back}{name}({arguments}); }}"


def pointer(number, name, function, cpp):
    """Compiles only if the declaration is the one of the specification."""
    parameters = ", ".join(spelled(t, cpp) for t in function.types()) or "void"
    return f"{spelled(function.returns, cpp)} (*pointer_{number})({parameters}) = {name};"


def build(text, library, include, compiler, standard, cpp):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "calls.cpp" if cpp else "calls.c")
        source.write_text(text)
        command = [compiler, f"-std={standard}", f"-I{include}", "-O1", "-Wall", "-Wextra", "-Werror"]
        command += [str(source), "-o", str(pathlib.Path(folder, "calls")), library]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        print(result.stderr[:4000], end="")
        return result.returncode == 0


def check_built(interface, generic, library, include, compiler, standard):
    cpp = standard.startswith("c++")
    lines = ["#include <pshmem.h>", "#include <shmemx.h>", "#include <mpp/shmem.h>", "#include <mpp/shmemx.h>"]
    if cpp:
        lines.append('extern "C" {')
    calls = list(interface.generic_calls()) if generic else [
        (p + f.name, f) for f in interface.all_functions() for p in ("", "p")
    ]
    for number, (name, function) in enumerate(calls):
        lines.append(call(number, name, function, cpp))
        if not generic:
            lines.append(pointer(number, name, function, cpp))
    lines += ["}"] * cpp + ["int main(void) { return 0; }", ""]
    good = build("\n".join(lines), library, include, compiler, standard, cpp)
    print(f"{len(calls)} calls {'compile and link' if good else 'do not build'} as {standard} with {compiler}")
    return good


def main(what="", *arguments):
    interface = Interface(RULES.read_text())
    if what == "exported":
        return check_exported(interface, *arguments)
    if what in ("compiled", "generic"):
        return check_built(interface, what == "generic", *arguments)
    if what == "list":
        print("\n".join(f.name for f in interface.all_functions()))
        return True
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
