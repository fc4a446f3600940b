"""The files of the project, as every check sees them."""

import os
import pathlib
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def files(root=ROOT):
    """All files below root but those of build folders and hidden ones (.ci excepted), sorted, relative to root."""
    found = []
    for folder, folders, names in os.walk(root):
        if "CMakeCache.txt" in names:
            folders.clear()
            continue
        hidden = [f for f in folders if (f.startswith(".") and f != ".ci") or f == "__pycache__"]
        for unwanted in hidden + (["build"] if pathlib.Path(folder) == root else []):
            if unwanted in folders:
                folders.remove(unwanted)
        found += [pathlib.Path(folder, name).relative_to(root) for name in names if name != ".git"]
    return sorted(found)


def report(name, complaints):
    """Prints the complaints; the exit code."""
    for complaint in complaints:
        print(complaint)
    if not complaints:
        print(f"{name}: nothing found")
    return 1 if complaints else 0


def self_test(check, wrong, right):
    """What check(root) misses of the files in `wrong`, and what it finds in `right`; both map names to texts."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in (wrong | right).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = {line.split(":")[0] for line in check(root)}
    complaints = [f"self-test: not found: {name}" for name in sorted(set(wrong) - found)]
    return complaints + [f"self-test: found where nothing is wrong: {name}" for name in sorted(found - set(wrong))]
