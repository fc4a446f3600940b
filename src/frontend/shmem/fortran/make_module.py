#!/usr/bin/env python3
"""Writes the Fortran module `shmem`: a binding of every function of <shmem.h>, made of the same table.

Usage: make_module.py C_COMPILER INCLUDE_FOLDER OUTPUT

The module has interfaces alone, so that programs link nothing but the library. Its source is Fortran 2008.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

# C's types by value, and what they are in iso_c_binding. Fortran has no unsigned numbers: the signed ones of the same size.
# c_ptrdiff_t is of Fortran 2018; c_intptr_t has its size.
KINDS = {
    "char": "character(c_char)",
    "signed char": "integer(c_signed_char)",
    "unsigned char": "integer(c_signed_char)",
    "short": "integer(c_short)",
    "unsigned short": "integer(c_short)",
    "int": "integer(c_int)",
    "unsigned int": "integer(c_int)",
    "long": "integer(c_long)",
    "unsigned long": "integer(c_long)",
    "long long": "integer(c_long_long)",
    "unsigned long long": "integer(c_long_long)",
    "size_t": "integer(c_size_t)",
    "ptrdiff_t": "integer(c_intptr_t)",
    "float": "real(c_float)",
    "double": "real(c_double)",
    "long double": "real(c_long_double)",
    "terrane_shmem_complexf": "complex(c_float_complex)",
    "terrane_shmem_complexd": "complex(c_double_complex)",
    "shmem_team_t": "type(shmem_team_t)",
    "shmem_ctx_t": "type(shmem_ctx_t)",
    "shmem_team_config_t": "type(shmem_team_config_t)",
    **{f"{sign}int{bits}_t": f"integer(c_int{bits}_t)" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
# Of the C types that are one type in Fortran, the one that a generic call takes.
GENERIC_TYPES = "int8 int16 int32 int64 float double longdouble complexf complexd char".split()
# Pointers that may be null, which Fortran 2008 can only say by a C pointer.
MAY_BE_NULL = {"status", "config", "xaxis_config", "yaxis_config"}
# What a pointer of these names points to is an array; that of all others is one object.
ARRAYS = {"ivars", "indices", "cmp_values", "target_pes", "pWrk", "pSync", "name"}
# Fortran knows no difference of case: the constants SHMEM_SIGNAL_ADD and SHMEM_SIGNAL_SET have these names.
RENAMED = {"shmem_signal_add": "shmem_signal_add_to", "shmem_signal_set": "shmem_signal_set_at"}
# No name of Fortran begins with an underscore; and shmem_wait_until, in C of long alone, is a generic name.
LEFT_OUT = {"_my_pe", "_num_pes", "shmem_wait_until"}


class Parameter:
    def __init__(self, text):
        self.kind, self.name = re.match(r"(.*?)(\w+)$", " ".join(text.split())).groups()
        self.constant = self.kind.startswith("const ")
        self.pointer = "*" in self.kind
        self.kind = self.kind.removeprefix("const ").replace("*", "").strip()

    def declared(self, many):
        """The attributes of the dummy argument; `many`: objects that the call copies are arrays."""
        if self.pointer and (self.kind == "void" or self.name in MAY_BE_NULL):
            return "type(c_ptr), value"
        kind = KINDS[self.kind]
        if not self.pointer:
            return f"{kind}, value"
        copied = self.name in ("dest", "source") and many
        array = ", dimension(*)" if copied or self.name in ARRAYS else ""
        # A target: other PEs see and change the object outside of the call too, and the compiler must not think otherwise.
        return f"{kind}{array}, target, intent({'in' if self.constant else 'inout'})"


class Function:
    def __init__(self, section, returns, name, parameters):
        self.old, self.returns, self.name = section == "old", " ".join(returns.split()), name
        inner = parameters.strip()[1:-1].strip()
        words = [] if inner == "void" else [w.strip() for w in inner.split(",")]
        self.parameters = [Parameter(w) for w in words if w != "..."]
        self.many = any(p.name in ("nelems", "nreduce", "nblocks") for p in self.parameters)

    @property
    def fortran_name(self):
        return RENAMED.get(self.name, self.name)

    def result(self):
        return "type(c_ptr)" if "*" in self.returns else KINDS[self.returns]

    def moves_arrays(self):
        return self.many and any(p.name in ("dest", "source") and p.kind != "void" for p in self.parameters)

    def interface(self, name, many=True):
        arguments = ", ".join(p.name for p in self.parameters)
        label = "bind(C)" if name == self.name else f"bind(C, name='{self.name}')"
        word = "subroutine" if self.returns == "void" else "function"
        lines = [f"{word} {name}({arguments}) {label}", "  import"]
        if word == "function":
            lines.append(f"  {self.result()} :: {name}")
        by_kind = {}
        for p in self.parameters:
            by_kind.setdefault(p.declared(self.many and many), []).append(p.name)
        lines += [f"  {kind} :: {', '.join(names)}" for kind, names in by_kind.items()]
        return [*lines, f"end {word} {name}"]


def read_table(compiler, include):
    """The functions, and the names of types that functions have in their names."""
    command = [compiler, "-E", "-P", "-x", "c", f"-I{include}", str(HERE / "table.h.in")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    functions, types = [], []
    for entry in re.findall(r"@(.*?)@", text, re.DOTALL):
        section, *fields = (" ".join(f.split()) for f in entry.split("|"))
        if section == "type":
            types += fields
        else:
            functions.append(Function(section, *fields))
    return [f for f in functions if f.name not in LEFT_OUT], types


def constants(include):
    text = pathlib.Path(include, "terrane/shmem/constants.h").read_text()
    for name, value in re.findall(r"^#define (SHMEM_\w+) (.+)$", text, re.MULTILINE):
        handle = re.fullmatch(r"\(\((\w+)\)(\d+)\)", value)
        if handle:
            yield f"type({handle[1]}), parameter :: {name} = {handle[1]}({handle[2]}_c_intptr_t)"
        elif value.startswith('"'):
            yield f"character(len=*), parameter :: {name} = {value}"
        elif value.endswith("L"):
            yield f"integer(c_long), parameter :: {name} = {value[:-1]}_c_long"
        else:
            yield f"integer(c_int), parameter :: {name} = {int(value)}_c_int"


def generics(functions, types):
    """Generic names, each with the functions that it stands for: one for each type of Fortran, with a context and without."""
    typed = re.compile(rf"shmem_(ctx_)?({'|'.join(sorted(types, key=len, reverse=True))})_(\w+)$")
    found = {}
    for function in functions:
        parts = typed.match(function.name)
        if parts and not function.old and parts[2] in GENERIC_TYPES:
            found.setdefault(f"shmem_{parts[3]}", []).append(function)
    return found


def generic_interface(name, functions):
    """Of arrays; and of single objects, or elements of arrays, under names that programs need not know."""
    yield f"interface {name}"
    for function in functions:
        yield f"  procedure :: {function.fortran_name}"
    for function in functions:
        if function.moves_arrays():
            own = function.name.replace("shmem", "shmem_one", 1)
            yield from (f"  {line}" for line in function.interface(own, many=False))
    yield f"end interface {name}"


def wrapped(line):
    """A line of at most 132 characters, continued after a comma where it is longer."""
    indent = re.match(" *", line)[0]
    while len(line) > 128:
        cut = line.rindex(", ", 0, 126) + 1
        yield f"{line[:cut]} &"
        line = f"{indent}    {line[cut:].strip()}"
    yield line


def module(functions, types, values):
    yield from (HERE / "head.f90.in").read_text().splitlines()
    yield from (f"  {line}" for line in values)
    yield ""
    yield "  interface"
    for function in functions:
        yield from (f"    {line}" for line in function.interface(function.fortran_name))
    yield "  end interface"
    for name, chosen in generics(functions, types).items():
        yield ""
        yield from (f"  {line}" for line in generic_interface(name, chosen))
    yield "end module shmem"


def check_names(functions, types, values):
    """Fortran takes names that differ in case for the same."""
    names = [f.fortran_name for f in functions] + list(generics(functions, types))
    names += [re.search(r":: (\w+)", v)[1] for v in values]
    twice = {n for n in names if [m.lower() for m in names].count(n.lower()) > 1}
    if twice:
        sys.exit(f"make_module.py: names that Fortran takes for the same: {', '.join(sorted(twice))}")


def main(compiler, include, output):
    functions, types = read_table(compiler, include)
    values = list(constants(include))
    check_names(functions, types, values)
    lines = [w for line in module(functions, types, values) for w in wrapped(line)]
    pathlib.Path(output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
