#!/usr/bin/env python3
"""The SPLASH work-alike kernels (examples/splash): 2 nodes of one thread each beside 2 threads of one process.

Usage: ./run bench splash [--kernels NAME,...] [--scale small|vismi|goals|large] [--transport shm|ucx] [--turns N] [--stats]
One binary takes all sides; only `terrane threads` makes its threads run on nodes. The sides take turns, and a figure is
the median over the turns of the kernel's own time, without initialisation. Each run verifies its result.
nodes/threads is to be at most the goal; an efficiency is the time of one thread / (2 x the time of the two), beside
which stands what ViSMI reported for its 4 nodes of another age.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
FOLDER = os.path.join(BUILD, "examples/splash")
SCALES = ("small", "vismi", "goals", "large")
KERNELS = {  # program, other arguments, sizes at each scale, goal for nodes/threads, ViSMI's efficiency
    "barnes": ("barnes", [], (4096, 32768, 32768, 327680), 5, 0.82),
    "fft": ("fft", [], (1 << 16, 1 << 20, 1 << 22, 1 << 22), 2, 0.65),
    "lu": ("lu", [], (512, 2048, 2048, 4096), 1.15, 0.975),
    "lu-by-rows": ("lu", ["-c", "0"], (512, 2048, 2048, 4096), 2, None),
    "radix": ("radix", [], (1 << 20, 8 << 20, 8 << 20, 80 << 20), 2.5, 0.55),
    "ocean": ("ocean", [], (130, 514, 514, 1026), 1.3, None),
    "water-nsquared": ("water_nsquared", ["-s", "40"], (512, 1000, 1000, 4096), 1.4, None),
    "water-spatial": ("water_spatial", ["-s", "40"], (512, 4096, 4096, 32768), 1.1, None),
}


def has_threads():
    """Whether this build has `terrane threads`."""
    done = subprocess.run([TERRANE, "threads", "--help"], capture_output=True, text=True)
    return done.returncode == 0


def own_time(command):
    """Seconds, as the kernel says; or a sentence why there are none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "HANGS"
    found = re.search(r"^time ([0-9.]+) s", done.stdout, re.MULTILINE)
    if done.returncode == 0 and found and "verified: " in done.stdout:
        return float(found.group(1))
    print(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}", file=sys.stderr)
    return "FAILS"


def measure(name, options, sides):
    """The median of each side; a string where it failed."""
    program, arguments, sizes, _, _ = KERNELS[name]
    size = sizes[SCALES.index(options.scale)]
    samples = {side: [] for side in sides}
    for _ in range(options.turns):
        for side, (start, processors) in sides.items():
            command = [*start, os.path.join(FOLDER, program), "-n", str(size), "-p", str(processors), *arguments]
            samples[side].append(own_time(command))
    medians = {}
    for side, values in samples.items():
        wrong = [value for value in values if isinstance(value, str)]
        medians[side] = wrong[0] if wrong else statistics.median(values)
    return size, medians


def breakdown(name, size, start, processors):
    """Prints the lines of a report about the threads of the program on each node."""
    program, arguments = KERNELS[name][:2]
    command = [*start[:-1], "--stats", "--", os.path.join(FOLDER, program), "-n", str(size), "-p", str(processors), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stderr.splitlines() if re.match(r"terrane: node| +seconds of| +thread ", line)]
    print("\n".join(f"    {line}" for line in lines), flush=True)


def ratio(a, b):
    return a / b if isinstance(a, float) and isinstance(b, float) and b > 0 else None


def cell(value, form, width):
    return f"{value if isinstance(value, str) else '-' if value is None else format(value, form):>{width}}"


def row(name, size, times):
    goal, vismi = KERNELS[name][3:]
    nodes, threads, alone = times.get("nodes"), times["threads"], times["alone"]
    slower = ratio(nodes, threads)
    verdict = "" if slower is None or slower <= goal else "  MISSED"
    efficiency = {side: ratio(alone, 2 * value) if isinstance(value, float) else None
                  for side, value in (("threads", threads), ("nodes", nodes))}
    print(f"{name:15} {size:>10} {cell(alone, '.3f', 9)} {cell(threads, '.3f', 10)} {cell(nodes, '.3f', 9)} "
          f"{cell(slower, '.2f', 14)} {goal:>6} {cell(efficiency['threads'], '.2f', 11)} {cell(efficiency['nodes'], '.2f', 9)} "
          f"{cell(vismi, '.3f', 7)}{verdict}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./run bench splash", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default=",".join(KERNELS), help="which (default: all)")
    parser.add_argument("--scale", choices=SCALES, default="goals",
                        help="ViSMI's sizes, those of the goals (default), smaller ones, or up to ten times ViSMI's")
    parser.add_argument("--transport", choices=("shm", "ucx"), default="shm", help="what pages travel by (default shm)")
    parser.add_argument("--turns", type=int, default=5, help="runs of each side (default 5)")
    parser.add_argument("--stats", action="store_true", help="where the time of each node's threads went, too")
    options = parser.parse_args()
    if options.turns < 1:
        parser.error("--turns: at least 1")
    names = options.kernels.split(",")
    for name in names:
        if name not in KERNELS:
            parser.error(f"--kernels: no kernel '{name}': {', '.join(KERNELS)}")
    sides = {"alone": ([], 1), "threads": ([], 2)}
    if has_threads():
        transport = ["--transport", "ucx"] if options.transport == "ucx" else []
        sides["nodes"] = ([TERRANE, "threads", *transport, "-n", "2", "--"], 2)
    else:
        print("Without nodes: this build of terrane has no command `threads`, so that only threads of one process are measured.")
    print(f"SPLASH work-alikes, medians of {options.turns} turns, seconds; {os.cpu_count()} processors; ViSMI: 4 nodes")
    print(f"{'kernel':15} {'size':>10} {'1 thread':>9} {'2 threads':>10} {'2 nodes':>9} {'nodes/threads':>14} {'goal':>6} "
          f"{'efficiency':>11} {'of nodes':>9} {'ViSMI':>7}")
    wrong = False
    for name in names:
        size, times = measure(name, options, sides)
        row(name, size, times)
        if options.stats and isinstance(times.get("nodes"), float):
            breakdown(name, size, *sides["nodes"])
        wrong |= any(isinstance(value, str) for value in times.values())
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
