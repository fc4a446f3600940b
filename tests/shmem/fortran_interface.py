#!/usr/bin/env python3
"""Holds the Fortran module against interface.txt, the functions of the specification.

Usage: fortran_interface.py bound MODULE LIBRARY              every name is bound, and the library defines it
       fortran_interface.py same MODULE COMPILER              the module is Fortran 2008, and what it binds has the
                                                              parameters of the function in C
       fortran_interface.py calls MODULE LIBRARY COMPILER     a program that calls each, and all generic names, links

MODULE is shmem.f90.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import interface

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "src/frontend/shmem/fortran"))
import make_module  # noqa: E402

SKIPPED = 77
# What C's types are once signs are gone, which Fortran has none of, and on machines whose long has 64 bits.
PLAIN = {"size_t": "long", "ptrdiff_t": "long", "long long": "long", "unsigned long long": "long", "int64_t": "long",
         "uint64_t": "long", "int32_t": "int", "uint32_t": "int", "int16_t": "short", "uint16_t": "short",
         "int8_t": "signed char", "uint8_t": "signed char", "unsigned char": "signed char",
         "long_double": "long double", "double _Complex": "__GFORTRAN_DOUBLE_COMPLEX",
         "float _Complex": "__GFORTRAN_FLOAT_COMPLEX"}


def plain(kind, name=""):
    """The type as both languages have it."""
    pointer = "*" if "*" in kind else ""
    bare = kind.replace("*", "").removeprefix("const ").strip()
    if pointer and (bare == "void" or name in make_module.MAY_BE_NULL):
        return "void*"
    constant = "const " if pointer and kind.startswith("const ") else ""
    return constant + PLAIN.get(bare, bare.removeprefix("unsigned ")) + pointer


def signature(function):
    """Without names, as types that both languages have."""
    words = [re.match(r"(.*?)(\w+)$", p).groups() for p in function.parameters if p != "..."]
    return plain(function.returns), [plain(kind.strip(), name) for kind, name in words]


def wanted():
    functions = interface.Interface(interface.RULES.read_text()).all_functions()
    return {f.name: f for f in functions if f.name not in make_module.LEFT_OUT}


def check_bound(module, library):
    text = re.sub(r"&\n\s*", "", pathlib.Path(module).read_text())
    bound = {label or name for name, label in re.findall(r"(\w+)\([^()]*\) bind\(C(?:, name='(\w+)')?\)", text)}
    names = set(wanted())
    for name in sorted(names - bound):
        print(f"not bound: {name}")
    for name in sorted(bound - names):
        print(f"not in the specification: {name}")
    undefined = sorted(bound - interface.exported(library))
    for name in undefined:
        print(f"not defined in the library: {name}")
    print(f"{len(names & bound)} of {len(names)} names are bound")
    return names == bound and not undefined


def compile_module(compiler, module, folder, *options):
    command = [compiler, "-std=f2008", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *options, f"-J{folder}", module]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    print(result.stderr[:4000], end="")
    return result.stdout if result.returncode == 0 else None


def check_same(module, compiler):
    with tempfile.TemporaryDirectory() as folder:
        printed = compile_module(compiler, module, folder, "-fc-prototypes")
    if printed is None:
        return False
    functions, seen, wrong = wanted(), set(), 0
    for returns, name, parameters in re.findall(r"^(.*?[ *])(\w+) \((.*)\);$", printed, re.MULTILINE):
        prototype = interface.Function(f"{returns.strip()} {name}(void)")
        prototype.parameters = [] if parameters in ("", "void") else parameters.split(", ")
        seen.add(name)
        if signature(prototype) != signature(functions[name]):
            wrong += 1
            print(f"{name}: Fortran has {signature(prototype)}, C {signature(functions[name])}")
    for name in sorted(set(functions) - seen):
        print(f"{compiler} does not print: {name}")
    print(f"{len(seen)} functions, {wrong} with other parameters than in C")
    return seen == set(functions) and wrong == 0


def call(number, name, function, arrays):
    """A subroutine that has what the function takes, and calls it by that name."""
    known = make_module.Function("", c_names(function.returns), function.name,
                                 f"({c_names(', '.join(function.parameters)) or 'void'})")
    lines = [f"subroutine call_{number}({', '.join(f'a{i}' for i in range(len(known.parameters)))})"]
    for i, parameter in enumerate(known.parameters):
        declared = re.sub(r", target, intent\(\w+\)", "", parameter.declared(known.many and arrays))
        lines.append(f"  {declared} :: a{i}")
    arguments = ", ".join(f"a{i}" for i in range(len(known.parameters)))
    if function.returns == "void":
        lines.append(f"  call {name}({arguments})")
    else:
        lines += [f"  {known.result()} :: got", f"  got = {name}({arguments})"]
    return "\n".join([*lines, f"end subroutine call_{number}"])


def c_names(text):
    return text.replace("double _Complex", "terrane_shmem_complexd").replace("float _Complex", "terrane_shmem_complexf")


def generic_calls(functions):
    """Name and function of each generic call, the deprecated ones and those of other types left out."""
    rules = interface.Interface(interface.RULES.read_text())
    old = {f.name for category in ("deprecated", "caches") for f in rules.functions[category]}
    for name, function in rules.generic_calls():
        kind = re.match(r"shmem_(?:ctx_)?([a-z]+\d*)_", function.name)[1]
        if kind in make_module.GENERIC_TYPES and function.name not in old:
            yield name, functions[function.name]


def check_calls(module, library, compiler):
    functions = wanted()
    generic = list(generic_calls(functions))
    calls = [(make_module.RENAMED.get(name, name), f, True) for name, f in functions.items()]
    calls += [(name, f, arrays) for name, f in generic for arrays in (True, False)]
    subroutines = [call(number, *one) for number, one in enumerate(calls)]
    text = "\n".join(["module calls", "  use shmem", "contains", *subroutines, "end module calls", "program main",
                      "end program main", ""])
    with tempfile.TemporaryDirectory() as folder:
        if compile_module(compiler, module, folder) is None:
            return False
        source = pathlib.Path(folder, "calls.f90")
        source.write_text(text)
        command = [compiler, "-std=f2008", f"-I{folder}", f"-J{folder}", str(source), "-o", str(pathlib.Path(folder, "calls")), library]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    print(result.stderr[:4000], end="")
    print(f"{len(functions)} names and {len(generic)} generic ones: {'link' if result.returncode == 0 else 'do not build'}")
    return result.returncode == 0


def main(what="", *arguments):
    if what in ("same", "calls") and subprocess.run(["which", arguments[-1]], capture_output=True, check=False).returncode:
        print("skipped: there is no gfortran (Debian: apt install gfortran)")
        return SKIPPED
    checks = {"bound": check_bound, "same": check_same, "calls": check_calls}
    if what not in checks:
        sys.exit(__doc__)
    return 0 if checks[what](*arguments) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
