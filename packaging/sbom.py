#!/usr/bin/env python3
"""A bill of materials in SPDX 2.3 (JSON) of installed trees: their files, and the software of others in them.

Usage: sbom.py NAME=TREE...     to standard output; NAME is a package, TREE the folder that its files are in
       sbom.py --check          each package that the build takes has a line in packaging/parts.txt
       sbom.py --self-test      a missing line is found, and two documents of one tree are equal
The date is SOURCE_DATE_EPOCH, or that of CHANGELOG.md. Versions of others are those of this machine's packages.
"""

import collections
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

import lists

PROJECT = pathlib.Path(__file__).resolve().parent.parent
NEEDED = {"build", "option", "demo"}
# How Terrane has a part: the relationship, and whether it begins at the part.
RELATIONS = {"compiled": ("STATIC_LINK", False), "linked": ("DYNAMIC_LINK", False),
             "loaded": ("RUNTIME_DEPENDENCY_OF", True), "built": ("BUILD_TOOL_OF", True)}
Part = collections.namedtuple("Part", "package name licence how debian fedora")


def rows(file):
    for line in (PROJECT / file).read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if words:
            yield words


def parts():
    fedora = {row[0]: row[2] for row in rows("scripts/packages.txt") if len(row) > 2}
    for package, name, licence, how, *asked in rows("packaging/parts.txt"):
        yield Part(package, name, licence.replace("+", " "), how, *(asked or (package, fedora.get(package, package))))


def faults(packages, known):
    names = {row[0] for row in packages}
    for package in sorted({row[0] for row in packages if row[1] in NEEDED} - {part.package for part in known}):
        yield f"{package}: the build takes it (scripts/packages.txt), and packaging/parts.txt has no line for it"
    for part in known:
        if part.package not in names or part.how not in RELATIONS:
            yield f"packaging/parts.txt: {part.name}: no such package in scripts/packages.txt, or no such way '{part.how}'"


def check():
    found = list(faults(list(rows("scripts/packages.txt")), list(parts())))
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"sbom: {len(list(parts()))} parts, {len(found)} faults")
    return 1 if found else 0


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def system():
    try:
        text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return "linux"
    return re.search(r"^ID=\"?([^\"\n]*)", text, re.MULTILINE).group(1)


def version(part):
    """The version here, and the package's address (https://github.com/package-url)."""
    debian = said("dpkg-query", "-W", "-f", "${Version}", part.debian)
    if debian:
        return debian, f"pkg:deb/{system()}/{urllib.parse.quote(part.debian)}@{urllib.parse.quote(debian)}"
    fedora = said("rpm", "-q", "--qf", "%{VERSION}-%{RELEASE}", part.fedora)
    return (fedora, f"pkg:rpm/{system()}/{urllib.parse.quote(part.fedora)}@{fedora}") if fedora else ("", "")


def date():
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or (PROJECT / "CHANGELOG.md").stat().st_mtime
    return datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def identity(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def entry(identifier, name, number, licence):
    one = {"SPDXID": identifier, "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION"}
    return one | ({"versionInfo": number} if number else {})


def files_of(name, tree):
    """Regular files; a link has no content of its own."""
    for path in sorted(pathlib.Path(tree).rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        place = path.relative_to(tree).as_posix()
        content = path.read_bytes()
        unique = hashlib.sha1(f"{name}/{place}".encode()).hexdigest()[:16]
        yield {"SPDXID": f"SPDXRef-File-{unique}", "fileName": f"./{place}",
               "checksums": [{"algorithm": algorithm, "checksumValue": hashlib.new(algorithm.lower(), content).hexdigest()}
                             for algorithm in ("SHA1", "SHA256")],
               "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def own_packages(document, trees):
    for name, tree in trees:
        one = entry(identity("Package", name), name, lists.version(), "Apache-2.0")
        files = list(files_of(name, tree))
        if files:
            sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
            one |= {"filesAnalyzed": True, "licenseInfoFromFiles": ["NOASSERTION"], "packageVerificationCode": {
                "packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()}}
        document["packages"].append(one)
        document["files"] += files
        document["relationships"] += [relation("SPDXRef-DOCUMENT", "DESCRIBES", one["SPDXID"])]
        document["relationships"] += [relation(one["SPDXID"], "CONTAINS", file["SPDXID"]) for file in files]


def other_packages(document, main):
    for part in parts():
        number, address = version(part)
        if not number and part.how == "built":
            continue
        one = entry(identity("Part", part.name), part.name, number, part.licence)
        if address:
            one["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                    "referenceLocator": address}]
        document["packages"].append(one)
        kind, begins = RELATIONS[part.how]
        ends = (one["SPDXID"], main) if begins else (main, one["SPDXID"])
        document["relationships"].append(relation(ends[0], kind, ends[1]))


def bill(trees):
    title = f"terrane-{lists.version()}"
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": title,
                "documentNamespace": "", "creationInfo": {"created": date(), "creators": ["Tool: packaging/sbom.py"]},
                "packages": [], "files": [], "relationships": []}
    own_packages(document, trees)
    other_packages(document, document["packages"][0]["SPDXID"])
    # Two documents have one name only if they are equal.
    content = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://terrane.example/spdx/{title}-{content[:32]}"
    return json.dumps(document, indent=1) + "\n"


def self_test():
    known = [Part("a-dev", "a", "MIT", "linked", "a", "a"), Part("c-dev", "c", "MIT", "eaten", "c", "c")]
    found = list(faults([["a-dev", "build"], ["b-dev", "option"], ["c-dev", "ci"], ["d", "test"]], known))
    assert len(found) == 2 and found[0].startswith("b-dev:") and "'eaten'" in found[1], found
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a").write_text("a", encoding="utf-8")
        (pathlib.Path(folder) / "b").symlink_to("a")
        one = bill([("terrane", folder)])
        assert one == bill([("terrane", folder)]) and len(json.loads(one)["files"]) == 1, one
        (pathlib.Path(folder) / "a").write_text("other", encoding="utf-8")
        names = [json.loads(text)["documentNamespace"] for text in (one, bill([("terrane", folder)]))]
        assert names[0] != names[1], names
    print("self-test passed")
    return 0


def main(words):
    if words == ["--check"]:
        return check()
    if words == ["--self-test"]:
        return self_test()
    trees = [tuple(word.split("=", 1)) for word in words if "=" in word and pathlib.Path(word.split("=", 1)[1]).is_dir()]
    if not words or len(trees) != len(words):
        print(__doc__, file=sys.stderr)
        return 2
    sys.stdout.write(bill(trees))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
