#!/usr/bin/env python3
"""Who may include whom (docs/design/architecture.md). Usage: check_includes.py [--self-test]"""

import re
import sys

import source_tree

# A folder of src/ and the others that it may include; itself and base are understood.
MAY_INCLUDE = {
    "base": set(),
    "wire": set(),
    "routing": set(),
    "protocol": {"wire"},
    "sim": {"protocol", "wire", "routing"},
    "forecast": {"protocol", "wire"},
    "platform": set(),
    "patch": {"platform"},
    "waiting": {"platform"},  # below the transports, which wait as well
    "stream": set(),
    "transport": {"wire", "routing", "stream", "platform", "waiting"},
    "bootstrap": set(),
    "membership": {"bootstrap"},
    "runtime": {"protocol", "wire", "transport", "platform", "bootstrap", "membership", "waiting"},
    "frontend": {"runtime", "platform", "patch", "membership", "waiting"},
    "tools": {"runtime", "sim", "forecast", "transport", "routing", "stream", "bootstrap", "platform", "patch"},
}
# The folders of src/protocol/, and what each may include of the others; a unit test may include all of them.
PROTOCOL = {
    "steps": set(),
    "races": {"steps"},
    "predict": {"steps"},
    "push": {"steps", "predict"},
    "serve": {"steps", "push", "predict"},
    "sc": {"steps"},
    "core": {"steps", "sc"},
    "node": {"steps", "core", "push", "serve", "predict"},
    "homes": {"steps", "core", "push", "serve", "predict", "node"},
    "copies": {"steps", "core", "push", "serve", "predict", "sc", "node", "homes"},
    "hlrc": {"steps", "core", "push", "serve", "predict", "sc", "node", "homes", "copies"},
    "chunks": {"steps"},
}
# These folders run inside the simulator: nothing of the operating system, no thread, clock or chance.
PURE = {"wire", "routing", "protocol"}
IMPURE = re.compile(
    r"^(sys/|linux/|unistd|pthread|sched|signal|poll|fcntl|time\.h|ctime|chrono|thread|mutex|shared_mutex|"
    r"condition_variable|future|random|semaphore|barrier|latch|stop_token|iostream|fstream|cstdio)"
)
# The installed headers are for those who stand outside.
PUBLIC_HEADERS = {"frontend"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
SUFFIXES = {".c", ".h", ".cpp", ".hpp"}


def complaint(path, folder, kind, name):
    """Why this include is wrong, or None. folder: below src/, or None."""
    target = name.split("/")[0]
    if name.startswith("terrane/"):
        outside = folder is None or folder in PUBLIC_HEADERS
        return None if outside else "the installed headers are for front-ends and programs"
    if path.parts[0] in ("include", "examples"):
        internal = "/" in name and target in MAY_INCLUDE
        return "programs know the installed headers alone" if internal else None
    if folder is None:
        return None
    if kind == "<":
        if folder in PURE and IMPURE.match(name):
            return f"{folder} has no operating system, thread, clock or randomness"
        return None
    if "/" not in name:
        return "includes are written from src/"
    if target not in MAY_INCLUDE:
        return f"{target} is no folder of src/"
    if folder == target == "protocol" and not path.stem.endswith("_test"):
        inner, wanted = path.parts[2], name.split("/")[1]
        if inner not in PROTOCOL:
            return f"folder src/protocol/{inner} has no rule in scripts/check_includes.py"
        if wanted not in PROTOCOL[inner] | {inner}:
            allowed = ", ".join(sorted(PROTOCOL[inner])) or "nothing"
            return f"protocol/{inner} may include {allowed} of the other protocol folders alone"
    if target not in MAY_INCLUDE[folder] | {folder, "base"}:
        allowed = ", ".join(sorted(MAY_INCLUDE[folder] | {"base"} - {folder}))
        return f"{folder} may include {allowed} alone"
    return None


def check(root):
    complaints = []
    for path in source_tree.files(root):
        if path.suffix not in SUFFIXES:
            continue
        folder = path.parts[1] if path.parts[0] == "src" else None
        if folder is not None and folder not in MAY_INCLUDE:
            complaints.append(f"{path}: folder src/{folder} has no rule in scripts/check_includes.py")
            continue
        lines = (root / path).read_text(errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            why = complaint(path, folder, *found.groups()) if found else None
            if why:
                complaints.append(f"{path}:{number}: includes {found.group(2)}: {why}")
    return complaints


def self_test():
    """The check must find each of these, and nothing in the others."""
    wrong = {
        "src/protocol/core/a.h": '#include "platform/mapping.h"',
        "src/protocol/core/b.h": "#include <thread>",
        "src/wire/a.h": '#include "protocol/core/core.h"',
        "src/protocol/predict/a.h": '#include "protocol/hlrc/hlrc.h"',
        "src/protocol/more/a.h": '#include "protocol/steps/strand.h"',
        "src/sim/a.cpp": '# include "runtime/node.h"',
        "src/base/a.h": '#include "wire/message.h"',
        "src/stream/a.h": '#include "transport/transport.h"',
        "src/runtime/a.h": '#include "node.h"',
        "src/runtime/b.cpp": "#include <terrane/pages.h>",
        "src/frontend/pages/a.cpp": '#include "protocol/core/core.h"',
        "src/tools/a.cpp": '#include "protocol/core/core.h"',
        "src/unheard_of/a.h": "",
        "src/waiting/a.h": '#include "transport/transport.h"',
        "src/transport/a.h": '#include "runtime/node.h"',
        "examples/a/a.c": '#include "base/result.h"',
    }
    right = {
        "src/protocol/sc/a_test.cpp": '#include "protocol/core/test_job.h"',
        "src/protocol/hlrc/a.h": '#include "protocol/core/core.h"',
        "src/runtime/c.h": '#include "protocol/core/core.h"',
        "src/transport/b.h": '#include "waiting/backoff.h"',
        "src/tools/b.cpp": '#include "sim/history.h"',
        "src/tools/c.cpp": '#include "stream/secret.h"',
        "src/frontend/pages/b.cpp": "#include <terrane/pages.h>",
        "src/frontend/pages/c.cpp": '#include "platform/guarded_copy.h"',
        "tests/a.cpp": '#include "protocol/core/core.h"',
        "examples/a/b.cpp": '#include "b.h"',
    }
    return source_tree.self_test(check, wrong, right)


if __name__ == "__main__":
    ours = self_test() if sys.argv[1:] == ["--self-test"] else check(source_tree.ROOT)
    sys.exit(source_tree.report("check_includes", ours))
