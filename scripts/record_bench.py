#!/usr/bin/env python3
"""Runs a benchmark and writes what it printed as JSON: ./run bench NAME --json FILE calls it.

Usage: record_bench.py FILE NAME PROGRAM [ARGUMENTS...]

The file has the command, the commit, the machine, the date, how busy the machine was, and the lines of the output. What a
goal is, and whether it is met, is decided by scripts/results.py, which reads such files.
"""

import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*words):
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def distribution():
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            return next(line.split("=", 1)[1].strip().strip('"') for line in file if line.startswith("PRETTY_NAME"))
    except (OSError, StopIteration):
        return "Linux"


def priority():
    """What goes before a command that has this process's scheduling."""
    real_time = os.sched_getscheduler(0) in (os.SCHED_RR, os.SCHED_FIFO)
    return ["chrt", "-r", str(os.sched_getparam(0).sched_priority)] if real_time else []


def run(program):
    """The exit code and the lines, which are also printed as they come."""
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line.rstrip("\n"))
    return process.wait(), lines


def main(arguments):
    path, name, program = pathlib.Path(arguments[0]), arguments[1], arguments[2:]
    busy = os.getloadavg()[0]
    begin = datetime.datetime.now()
    exit_code, lines = run(program)
    record = {
        "benchmark": name,
        "command": " ".join([*priority(), "./run", "bench", name, *program[1:]]),
        "commit": git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else ""),
        "date": begin.strftime("%Y-%m-%d"),
        "time": begin.strftime("%H:%M"),
        "seconds": round((datetime.datetime.now() - begin).total_seconds(), 1),
        "exit_code": exit_code,
        "machine": {
            "processors": os.cpu_count(),
            "processor": processor(),
            "kernel": platform.release().split("-")[0],
            "system": distribution(),
            "load_before": round(busy, 1),
        },
        "output": lines,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return exit_code


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
