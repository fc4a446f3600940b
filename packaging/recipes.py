#!/usr/bin/env python3
"""Recipes for Spack and conda, made of packaging/spack and packaging/conda.

Usage: recipes.py --spack FOLDER ARCHIVE    a package repository of Spack below FOLDER, with the sources in it
       recipes.py --conda FOLDER ARCHIVE    FOLDER/recipe.yaml for rattler-build, with the sources beside it
       recipes.py --check                   what the recipes say is what CMake and scripts/packages.txt say
       recipes.py --self-test               a missing line, an unknown option and a wrong recipe are found
The version and the oldest CMake are those of CMakeLists.txt, the needs those of scripts/packages.txt by the names in
packaging/names.txt, and how each is needed says packaging/parts.txt.
"""

import ast
import collections
import hashlib
import pathlib
import re
import shutil
import sys
import tempfile

import lists
import sbom

PROJECT = pathlib.Path(__file__).resolve().parent.parent
SPACK = PROJECT / "packaging/spack"
CONDA = PROJECT / "packaging/conda/recipe.yaml.in"
NEEDED = {"build", "option", "demo"}
# When Spack needs a part; "started": a command, or a library whose headers the build does not take.
SPACK_TYPES = {"compiled": '("build", "link")', "linked": '("build", "link")', "loaded": '("build", "link", "run")',
               "started": '"run"', "built": '"build"'}
LANGUAGES = {"c", "cxx", "fortran"}
Need = collections.namedtuple("Need", "package spack conda how")


def cmake():
    text = (PROJECT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^cmake_minimum_required\(VERSION ([0-9.]+)\)", text, re.MULTILINE).group(1)


def needs():
    how = {part.package: part.how for part in sbom.parts() if part.package != "build-essential"}
    compiled = {row[0] for row in sbom.rows("scripts/packages.txt") if row[1] in ("build", "option")}
    how |= {name: "started" for name in how if how[name] == "loaded" and name not in compiled}
    for package, spack, conda in sbom.rows("packaging/names.txt"):
        yield Need(package, spack.replace("@CMAKE@", cmake()), conda.replace("@CMAKE@", cmake()),
                   how.get(package, "built"))


def spack_dependencies(all_needs):
    return "\n".join(f'    depends_on("{need.spack}", type={SPACK_TYPES[need.how]})' for need in all_needs
                     if need.spack != "-")


def base(spec):
    return re.split(r"[@ ~+]", spec)[0]


def loaded(all_needs):
    return ", ".join(f'"{base(need.spack)}"' for need in all_needs if need.how in ("loaded", "started")
                     and need.package.startswith("lib") and need.spack != "-")


def conda_list(all_needs, *how):
    names = [need.conda.replace(">=", " >=") for need in all_needs if need.conda != "-" and need.how in how]
    return "\n".join(f"    - {name.replace('${{', '${{ ').replace('}}', ' }}')}" for name in names)


def filled(text, archive, checksum, all_needs):
    places = {"VERSION": lists.version(), "SHA256": checksum, "ARCHIVE": archive,
              "DEPENDENCIES": spack_dependencies(all_needs), "LOADED": loaded(all_needs),
              "BUILD": conda_list(all_needs, "built"), "HOST": conda_list(all_needs, "compiled", "linked", "loaded"),
              "RUN": conda_list(all_needs, "loaded", "started")}
    return re.sub(r"@([A-Z0-9]+)@", lambda found: places[found.group(1)], text)


def read(template, archive, checksum="0" * 64):
    return filled(template.read_text(encoding="utf-8"), archive, checksum, list(needs()))


def sum_of(archive):
    return hashlib.sha256(pathlib.Path(archive).read_bytes()).hexdigest()


def spack(folder, archive):
    """Spack finds a repository by its folder, whose name is its namespace; a folder of a package is its name."""
    repository = pathlib.Path(folder) / "spack_repo" / "terrane"
    repository.mkdir(parents=True, exist_ok=True)
    (repository / "repo.yaml").write_text("repo:\n  namespace: terrane\n  api: v2.0\n", encoding="utf-8")
    for recipe in sorted(SPACK.glob("*.py*")):
        package = repository / "packages" / recipe.name.split(".")[0]
        package.mkdir(parents=True, exist_ok=True)
        name = pathlib.Path(archive).name
        (package / "package.py").write_text(read(recipe, name, sum_of(archive)), encoding="utf-8")
    shutil.copy(archive, repository / "packages/terrane")
    return 0


def conda(folder, archive):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    text = read(CONDA, pathlib.Path(archive).name, sum_of(archive))
    (pathlib.Path(folder) / "recipe.yaml").write_text(text, encoding="utf-8")
    shutil.copy(archive, folder)
    return 0


def options():
    """The options of CMake that a recipe may set."""
    text = "".join(path.read_text(encoding="utf-8") for path in [PROJECT / "CMakeLists.txt",
                                                                 *sorted((PROJECT / "cmake").glob("*.cmake"))])
    return set(re.findall(r"(?:option|set)\((TERRANE_[A-Z_]+) ", text))


def called(node):
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def faults_of_spack(name, text):
    """Of one recipe: a class with the package's name in camel case, of a class that ends with Package, which says its
    licence, its versions with what they are checked by, and needs with types that Spack knows."""
    tree = ast.parse(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if [one.name for one in classes] != [name.title().replace("_", "")]:
        yield f"packaging/spack/{name}: its class must be {name.title().replace('_', '')}"
        return
    if not all(isinstance(one, ast.Name) and one.id.endswith("Package") for one in classes[0].bases):
        yield f"packaging/spack/{name}: it must be a Package of Spack"
    calls = [node.value for node in classes[0].body if isinstance(node, ast.Expr) and called(node.value)]
    kinds = [called(call) for call in calls]
    for wanted in ("license", "version", "depends_on"):
        if wanted not in kinds:
            yield f"packaging/spack/{name}: it has no {wanted}()"
    for call in calls:
        words = {word.arg: word.value for word in call.keywords}
        if called(call) == "version" and not {"sha256", "commit"} & set(words):
            yield f"packaging/spack/{name}: a version has neither sha256 nor commit"
        if called(call) == "depends_on":
            types = {one.value for one in ast.walk(words["type"]) if isinstance(one, ast.Constant)} if "type" in words else set()
            if not types <= {"build", "link", "run", "test"}:
                yield f"packaging/spack/{name}: {call.args[0].value}: no such types: {sorted(types)}"
            if call.args[0].value in LANGUAGES and types != {"build"}:
                yield f"packaging/spack/{name}: the language {call.args[0].value} is needed for the build alone"


def faults_of_names(packages, names, known):
    wanted = {row[0] for row in packages if row[1] in NEEDED}
    for package in sorted(wanted - {need.package for need in names}):
        yield f"{package}: the build takes it (scripts/packages.txt), and packaging/names.txt has no line for it"
    for need in names:
        if need.package not in {row[0] for row in packages}:
            yield f"packaging/names.txt: {need.package}: no such package in scripts/packages.txt"
        if need.package not in known:
            yield f"packaging/names.txt: {need.package}: packaging/parts.txt does not say how it is needed"


def faults_of_options(file, text, known):
    for option in sorted(set(re.findall(r"TERRANE_[A-Z_]+", text)) - known):
        yield f"{file}: CMake has no option {option}"


def faults_of_conda(text):
    """Where PyYAML is there: the sections of the recipe format, and no other ones."""
    try:
        import yaml
    except ImportError:
        return
    recipe = yaml.safe_load(text)
    known = {"context", "package", "source", "build", "requirements", "tests", "about", "extra", "schema_version"}
    for section in sorted(set(recipe) - known):
        yield f"packaging/conda: no section '{section}' in a recipe"
    for section in sorted({"package", "source", "build", "requirements", "tests", "about"} - set(recipe)):
        yield f"packaging/conda: no section '{section}'"
    for part, list_of in recipe.get("requirements", {}).items():
        if part not in {"build", "host", "run", "run_constraints"} or not all(isinstance(one, str) for one in list_of):
            yield f"packaging/conda: requirements: {part} must be a list of names"


def all_faults():
    names = list(needs())
    yield from faults_of_names(list(sbom.rows("scripts/packages.txt")), names, {part.package for part in sbom.parts()})
    for recipe in sorted(SPACK.glob("*.py*")):
        text = read(recipe, "archive")
        yield from faults_of_spack(recipe.name.split(".")[0], text)
        yield from faults_of_options(f"packaging/spack/{recipe.name}", text, options())
    text = read(CONDA, "archive")
    yield from faults_of_conda(text)
    yield from faults_of_options("packaging/conda/recipe.yaml.in", text, options())
    own = {recipe.name.split(".")[0] for recipe in SPACK.glob("*.py*")} - {"terrane"}
    for name in sorted(own - {base(need.spack) for need in names}):
        if f'depends_on("{name}' not in "".join(path.read_text(encoding="utf-8") for path in SPACK.glob("*.py*")):
            yield f"packaging/spack/{name}: nothing needs it"


def check():
    found = list(all_faults())
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"recipes: {len(list(needs()))} needs, {len(found)} faults")
    return 1 if found else 0


def self_test():
    names = [Need("a-dev", "a", "a", "linked"), Need("c", "c", "c", "built")]
    found = list(faults_of_names([["a-dev", "build"], ["b-dev", "option"]], names, {"a-dev"}))
    assert len(found) == 3 and found[0].startswith("b-dev:"), found
    found = list(faults_of_options("file", "TERRANE_TESTS TERRANE_TEST", {"TERRANE_TESTS"}))
    assert found == ["file: CMake has no option TERRANE_TEST"], found
    good = ('class Ab(CMakePackage):\n license("MIT")\n version("1", sha256="0")\n depends_on("c", type="build")\n')
    assert not list(faults_of_spack("ab", good))
    for old, new in (("Ab(", "Ba("), ("(CMakePackage)", "(object)"), (', sha256="0"', ""), ('"build"', '"built"'),
                     (' license("MIT")\n', ""), ('type="build"', 'type=("build", "link")')):
        assert list(faults_of_spack("ab", good.replace(old, new))), new
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder) / "terrane-1.tar.xz"
        archive.write_bytes(b"sources")
        spack(folder, archive)
        conda(pathlib.Path(folder) / "conda", archive)
        made = pathlib.Path(folder) / "spack_repo/terrane/packages/terrane"
        assert (made / archive.name).read_bytes() == b"sources"
        for text in (made / "package.py", pathlib.Path(folder) / "conda/recipe.yaml"):
            assert sum_of(archive) in text.read_text(encoding="utf-8") and "@" + "VERSION" not in text.read_text()
    print("self-test passed")
    return 0


def main(words):
    commands = {"--spack": spack, "--conda": conda, "--check": check, "--self-test": self_test}
    if not words or words[0] not in commands or len(words) != (3 if words[0] in ("--spack", "--conda") else 1):
        print(__doc__, file=sys.stderr)
        return 2
    return commands[words[0]](*words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
