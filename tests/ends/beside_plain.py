#!/usr/bin/env python3
"""Runs the ends of ends.txt by themselves and under `terrane threads`, and compares exit code and output.

Usage: beside_plain.py [--build FOLDER] [--selection] [--every N] [--only TEXT] [--set-up OPTIONS]... [--jobs N] [--list]

Without options: every end with one, two and three nodes, in this checkout's build/release; some ten minutes. Standard
output must have the same bytes, and standard error the lines of the plain run. The exit code is 0 where all agree."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SET_UPS = ("-n 1", "-n 2 --placement 1", "-n 3 --placement 1")
LIMIT_S = 40
# What differs in each plain run: numbers of processes, addresses, and a shell's words about a child's death.
NOT_COMPARED = re.compile(r"^(#|(bash|environment): line|\s|$|Backtrace|Error termination\. Backtrace)|^/bin/bash|core dumped|^(Aborted|Terminated)$")

# An end is a line of bash. $T is `terrane threads OPTIONS`, or nothing; $P the folder of the programs.
PRELUDE = r"""
# bash starts what runs in the background with these two ignored.
alone_as_always() { exec setsid env --default-signal=INT,QUIT "$@"; }
# Signal of a program that has said "ready", to it alone or to all of its group: send SIGNAL WHOM COMMAND...
send() {
  local signal=$1 whom=$2 out=$W/out code pid
  shift 2
  : >"$out"
  alone_as_always "$@" >"$out" &
  pid=$!
  until grep -q ready "$out" || ! kill -0 $pid 2>&-; do sleep 0.02; done
  sleep 0.1
  case $whom in
    it) kill -"$signal" $pid ;;
    group) kill -"$signal" -- -$pid ;;
    both) kill -"$signal" $pid -$pid ;;
    twice) kill -"$signal" $pid; sleep 0.6; kill -"$signal" $pid 2>&- ;;
  esac
  wait $pid
  code=$?
  cat "$out"
  return $code
}
# A command on a terminal of its own.
in_terminal() {
  python3 -c 'import os, pty, sys
code = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:]))
sys.exit(code if code >= 0 else 128 - code)' "$@"
}
# A command that is a group of its own.
alone() {
  alone_as_always "$@" &
  wait $!
}
lines() { seq -f "line %.0f" "$1"; }
"""


class Run:
    """What one end did."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def lines_of_error(self):
        lines = (re.sub(r"\b\d{3,}\b|0x[0-9a-f]+", "N", line) for line in self.err.decode(errors="replace").splitlines())
        return [line for line in lines if not NOT_COMPARED.search(line)]


def end_what_is_left(folder):
    """Processes of an end that have left its session."""
    mark = f"W={folder}".encode()
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
        except (OSError, ValueError):
            continue


def run(script, programs, threads, environment):
    with tempfile.TemporaryDirectory(prefix="terrane_ends_") as folder:
        environment = dict(environment, T=threads, P=str(programs), W=folder)
        results = [pathlib.Path(folder) / name for name in ("stdout", "stderr")]
        with open(results[0], "wb") as out, open(results[1], "wb") as err:
            writer = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=out)
            process = subprocess.Popen(["bash", "-c", PRELUDE + script], stdin=subprocess.DEVNULL, stdout=writer.stdin,
                                       stderr=err, env=environment, cwd=folder, start_new_session=True)
            writer.stdin.close()
            try:
                code = process.wait(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                code = "it hangs"
            end_what_is_left(folder)
            writer.wait()
        if isinstance(code, int) and code < 0:
            code = 128 - code
        return Run(code, *(path.read_bytes() for path in results))


def difference(plain, ours):
    if plain.code != ours.code:
        return f"exit code {ours.code}, plain {plain.code}"
    # Terrane writes at a crash what standard output holds, which is lost in a plain run.
    is_same = ours.out.startswith(plain.out) if isinstance(plain.code, int) and plain.code > 128 else ours.out == plain.out
    if not is_same:
        return f"output {ours.out[:300]!r}, plain {plain.out[:300]!r}"
    missing = [line for line in plain.lines_of_error() if line not in ours.lines_of_error()]
    return f"standard error lacks {missing[:3]}" if missing else None


def read_ends(path):
    """(line of bash, (reason why it may differ or None, whether it is of the selection)), with @ as main and the
    threads on nodes 1 and 2."""
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        script, _, reason = (part.strip() for part in line.removeprefix("+ ").partition("  ## "))
        for actor in ("", "1", "2") if "@" in script else ("",):
            yield script.replace("@", actor), (reason or None, line.startswith("+ "))


def check(end, options, reason):
    """The sentences about an end with those set-ups."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=f"{options.build / 'bin'}:{os.environ['PATH']}")
    programs = options.build / "tests" / "ends"
    plain = run(end, programs, "", environment)
    sentences, known = [], 0
    for set_up in options.set_up:
        ours = run(end, programs, f"terrane threads {set_up}", environment)
        differs = difference(plain, ours)
        hides_failure = plain.code != 0 and ours.code in (0, "it hangs")
        if differs and reason and not hides_failure:
            known += 1
        elif differs:
            said = ours.err.decode(errors="replace")[-400:]
            sentences.append(f"{end}\n    {set_up}: {differs}\n    {said!r}")
    return sentences, known


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build" / "release")
    parser.add_argument("--selection", action="store_true", help="the ends that begin with +")
    parser.add_argument("--every", type=int, default=1, help="each Nth end alone")
    parser.add_argument("--only", default="", help="ends that contain this text")
    parser.add_argument("--set-up", action="append", help="options of terrane threads")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.set_up = options.set_up or SET_UPS
    return options


def main():
    options = read_options()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    ends = [(end, reason) for end, (reason, selected) in dict(read_ends(HERE / "ends.txt")).items()
            if options.only in end and (selected or not options.selection)][::options.every]
    if options.list:
        print("\n".join(end for end, _ in ends))
        return 0
    wrong = known = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for sentences, differ in pool.map(lambda end: check(end[0], options, end[1]), ends):
            wrong += len(sentences)
            known += differ
            for sentence in sentences:
                print(sentence, flush=True)
    print(f"{len(ends)} ends on {len(options.set_up)} set-ups: {wrong} differ, and {known} that ends.txt explains")
    return 1 if wrong or not ends else 0


if __name__ == "__main__":
    sys.exit(main())
