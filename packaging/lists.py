#!/usr/bin/env python3
"""What each package holds (packaging/files.txt), for the test and for the recipes of package managers.

Usage: lists.py --check STAGE [LIBDIR]       every staged file belongs to one line, and each line to a file
       lists.py --debian SOURCE STAGED       SOURCE/debian/PACKAGE.install, and Debian's places in the tree STAGED
       lists.py --rpm TEMPLATE               an RPM spec, with the version and the files
       lists.py --version                    Terrane's version, which CMakeLists.txt alone says
       lists.py --self-test                  files without a line, or with two, are found
LIBDIR is the library folder below the prefix: lib (the default), lib64, lib/x86_64-linux-gnu.
"""

import collections
import pathlib
import re
import shutil
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
Line = collections.namedtuple("Line", "package path optional debian")
# RPM's names of packages, where they are not Debian's.
RPM_NAMES = {"libterrane0": "terrane-libs", "libterrane-shmem0": "terrane-libs", "libterrane-chunks0": "terrane-libs",
             "libterrane-dev": "terrane-devel"}


def read_lines(text):
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        package, path = words[0], words[1]
        yield Line(package.rstrip("?"), path, package.endswith("?"), words[2] if len(words) > 2 else path)


def file_lines():
    return list(read_lines((FOLDER / "files.txt").read_text(encoding="utf-8")))


def version():
    text = (FOLDER.parent / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(terrane VERSION ([0-9.]+)", text, re.MULTILINE).group(1)


def pattern(path):
    """`*` stays in a folder, `**` does not."""
    parts = re.split(r"(\*\*|\*)", path)
    return re.compile("".join({"**": ".+", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts))


def staged_files(stage, libdir):
    """Paths below the prefix; those in the library folder begin with lib/."""
    for file in sorted(pathlib.Path(stage).rglob("*")):
        if file.is_dir() and not file.is_symlink():
            continue
        path = file.relative_to(stage).as_posix()
        yield "lib/" + path[len(libdir) + 1:] if path.startswith(libdir + "/") else path


def faults(lines, files):
    patterns = [pattern(line.path) for line in lines]
    used = set()
    for file in files:
        owners = [i for i, one in enumerate(patterns) if one.fullmatch(file)]
        used.update(owners)
        if len(owners) != 1:
            which = ", ".join(f"{lines[i].package} ({lines[i].path})" for i in owners) or "none"
            yield f"{file}: belongs to {which}; it must be one line of packaging/files.txt"
    for i, line in enumerate(lines):
        if i not in used and not line.optional:
            yield f"{line.path}: no such file is staged, but packaging/files.txt gives it to {line.package}"


def check(stage, libdir="lib"):
    files = list(staged_files(stage, libdir))
    found = list(faults(file_lines(), files))
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"lists: {len(files)} files, {len(found)} faults")
    return 1 if found or not files else 0


def place(path, libdir):
    return libdir + path[3:] if path.startswith("lib/") else path


def matches(root, path):
    return [file for file in root.glob(path.replace("**", "*"))]


def debian(source, staged):
    """Files that Debian has at other places are moved there; what has no file is not listed."""
    usr = pathlib.Path(staged) / "usr"
    libdir = next(path.parent for path in usr.rglob("libterrane.so")).relative_to(usr).as_posix()
    texts = collections.defaultdict(list)
    for line in file_lines():
        path, wanted = place(line.path, libdir), place(line.debian, libdir)
        if not matches(usr, path):
            continue
        if path != wanted:
            (usr / wanted).parent.mkdir(parents=True, exist_ok=True)
            (usr / path).rename(usr / wanted)
        texts[line.package].append(f"usr/{wanted.replace('**', '*')}\n")
    for package, lines in texts.items():
        (pathlib.Path(source) / "debian" / f"{package}.install").write_text("".join(lines), encoding="utf-8")
    return 0


def own_folders(path):
    """The folders of a path that no other software has: RPM removes only those that a package names."""
    parts = path.split("/")[:-1]
    first = next((i for i, part in enumerate(parts) if part in ("terrane", "mpp")), len(parts))
    # A folder with any name is COMPILER-VERSION; files that are beside it have no such name.
    return ["/".join(parts[:i + 1]).replace("/*", "/*-*") for i in range(first, len(parts))]


def rpm_path(path):
    roots = {"bin": "%{_bindir}", "include": "%{_includedir}", "share": "%{_datadir}", "lib": "%{_libdir}"}
    top, rest = path.split("/", 1)
    return f"{roots[top]}/{rest}".replace("%{_datadir}/man/", "%{_mandir}/").replace("**", "*")


def rpm(template):
    """The spec of a template, with all files: what may be missing elsewhere is built for RPM."""
    texts = collections.defaultdict(list)
    for line in file_lines():
        lines = texts[RPM_NAMES.get(line.package, line.package)]
        folders = [f"%dir {rpm_path(folder)}" for folder in own_folders(line.path)]
        lines += [folder for folder in folders if folder not in lines]
        lines.append(rpm_path(line.path) + ("*" if "/man/" in line.path else ""))
    sections = "\n".join(f"%files -n {package}\n" + "\n".join(lines) + "\n" for package, lines in texts.items())
    print(pathlib.Path(template).read_text(encoding="utf-8").replace("@VERSION@", version()).replace("@FILES@", sections))
    return 0


def self_test():
    lines = list(read_lines("one bin/a\ntwo lib/*.so  # why\ntwo? share/**\nthree lib/b.so"))
    with tempfile.TemporaryDirectory() as folder:
        for file in ("bin/a", "bin/c", "lib64/b.so", "lib64/d/e.so", "share/x/y"):
            (pathlib.Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / file).touch()
        found = list(faults(lines, staged_files(folder, "lib64")))
        shutil.rmtree(pathlib.Path(folder) / "bin")
        found += list(faults(lines, staged_files(folder, "lib64")))
    wanted = ["bin/c: belongs to none", "lib/b.so: belongs to two (lib/*.so), three", "lib/d/e.so: belongs to none",
              "lib/b.so: belongs", "lib/d/e.so: belongs", "bin/a: no such file"]
    assert len(found) == len(wanted) and all(map(str.startswith, found, wanted)), found
    assert own_folders("lib/terrane/omp/**") == ["lib/terrane", "lib/terrane/omp"], own_folders("lib/terrane/omp/**")
    assert not own_folders("bin/terrane") and not own_folders("share/zsh/site-functions/_terrane")
    print("self-test passed")
    return 0


def main(words):
    commands = {"--check": check, "--debian": debian, "--rpm": rpm, "--self-test": self_test,
                "--version": lambda: print(version())}
    if not words or words[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[words[0]](*words[1:]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
