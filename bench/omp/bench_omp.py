#!/usr/bin/env python3
"""OpenMP on 2 nodes of one thread each beside gcc's own library with 2 threads of one process.

Usage: ./run bench omp [--rows constructs,ep,cg,ft,laplace,paper] [--transport shm|ucx] [--turns N]
One binary takes both sides, in turn; a figure is the median over the turns. The ratio is the time of gcc's library
divided by that of the nodes: 1 is as fast, and the goal is the least. Costs of constructs are microseconds, with the
most as the goal. Both sides must have the same results. The last rows are Omni/SCASH's programs on 16 nodes, ours in virtual time.
"""
import argparse
import os
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
PROGRAM = os.path.join(BUILD, "bench/omp/terrane_bench_omp_rows")
MODEL = os.path.join(BUILD, "bench/scale/terrane_bench_scale_rows")
GROUPS = ("constructs", "ep", "cg", "ft", "laplace", "paper")
MOST_US = {"region": 1.0, "region-with-8-changed-pages": 3.0, "barrier": 0.3, "reduction": 2.0, "single": 1.5}
LEAST_RATIO = {"ep": 0.98, "cg": 0.85, "ft": 0.65}
# Omni/SCASH on 16 processors: the speed-up by Myrinet and by Ethernet, NPB in the order of the slides.
PAPER = {"laplace": ("13.3", "3.0"), "ep": ("11.6", "7.2"), "bt": ("6.2", "none"), "sp": ("9.5", "3.4")}


def run(command, environment):
    """{name: (time, unit, checksum)}; empty: it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ, **environment))
    except subprocess.TimeoutExpired:
        print(f"bench: {' '.join(command)} hangs", file=sys.stderr)
        return {}
    if done.returncode != 0:
        print(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}", file=sys.stderr)
        return {}
    rows = (line.split() for line in done.stdout.splitlines())
    return {name: (float(time), unit, float(checksum)) for name, time, unit, checksum in rows}


def same(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def print_row(name, threads, nodes):
    """True: the two sides have the same result."""
    if not threads or not nodes or not same(threads[0][2], nodes[0][2]):
        print(f"{name:28} {'FAILS' if not threads or not nodes else 'WRONG':>12}", flush=True)
        return False
    times = [statistics.median(sample[0] for sample in side) for side in (threads, nodes)]
    ratio = times[0] / times[1]
    if name in LEAST_RATIO:
        goal, missed = f">= {LEAST_RATIO[name]} x", ratio < LEAST_RATIO[name]
    elif name in MOST_US:
        goal, missed = f"<= {MOST_US[name]} us", times[1] > MOST_US[name]
    else:
        goal, missed = "", False
    print(f"{name:28} {times[0]:>12.3f} {times[1]:>12.3f} {threads[0][1]:>3} {ratio:>8.3f} {goal:>11}"
          f"{'  MISSED' if missed else ''}", flush=True)
    return True


def print_paper():
    """What the paper reached on 16 nodes beside our protocol in virtual time (bench/scale): costs measured over tcp."""
    if not os.path.exists(MODEL):
        print("bench: this build has no model of large jobs", file=sys.stderr)
        return False
    print(f"{'speed-up of 16 nodes':28} {'Myrinet':>12} {'Ethernet':>12} {'':>3} {'ours, modelled'}")
    for name, (myrinet, ethernet) in PAPER.items():
        done = subprocess.run([MODEL, name, "16", "4"], capture_output=True, text=True, timeout=600)
        fields = dict(part.split("=", 1) for part in done.stdout.split())
        if done.returncode != 0 or "speedup" not in fields:
            print(f"bench: the model of {name} failed: {done.stderr}", file=sys.stderr)
            return False
        print(f"{'paper-' + name:28} {myrinet:>12} {ethernet:>12} {'x':>3} {float(fields['speedup']):>8.1f}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(prog="./run bench omp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(GROUPS), help="which (default: all)")
    parser.add_argument("--transport", choices=("shm", "ucx"), default="shm", help="what pages travel by (default shm)")
    parser.add_argument("--turns", type=int, default=5, help="runs of each side (default 5)")
    options = parser.parse_args()
    groups = options.rows.split(",")
    for group in groups:
        if group not in GROUPS:
            parser.error(f"--rows: no row '{group}': {', '.join(GROUPS)}")
    if options.turns < 1:
        parser.error("--turns: at least 1")
    if not os.path.exists(PROGRAM):
        sys.exit("bench: this build has no OpenMP for several nodes: it needs gcc on x86-64")
    transport = ["--transport", "ucx"] if options.transport == "ucx" else []
    nodes = [TERRANE, "omp", *transport, "-n", "2", "--threads", "1", "--", PROGRAM]
    print(f"OpenMP, medians of {options.turns} turns; {os.cpu_count()} processors")
    print(f"{'row':28} {'2 threads':>12} {'2 nodes':>12} {'':>3} {'ratio':>8} {'goal':>11}")
    good = True
    for group in groups:
        if group == "paper":
            good &= print_paper()
            continue
        sides = ([], [])
        for _ in range(options.turns):
            sides[0].append(run([PROGRAM, group], {"OMP_NUM_THREADS": "2"}))
            sides[1].append(run([*nodes, group], {}))
        names = list(next((rows for rows in sides[0] if rows), {}))
        for name in names:
            good &= print_row(name, *([rows[name] for rows in side if name in rows] for side in sides))
        good &= bool(names)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
