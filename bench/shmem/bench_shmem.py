#!/usr/bin/env python3
"""OpenSHMEM's puts, gets and atomics beside memcpy, and its barriers and collectives beside bare barriers.

Usage: ./run bench shmem [--pes N,N] [--turns N] [--tune FILE]
Of collectives: times in us, with a barrier after each operation; medians over the turns. --tune measures every algorithm of every
collective and writes the fastest ones as a file for TERRANE_SHMEM_ALGORITHM=@FILE.
"""
import argparse
import os
import statistics
import subprocess
import sys

import rma_table

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
ROWS = os.path.join(BUILD, "bench/shmem/terrane_bench_shmem_collective_rows")
ALGORITHMS = {"sync": ("pairwise", "counter"), "broadcast": ("inline", "get", "put"), "reduce": ("inline", "get", "put"),
              "scan": ("inline", "get", "put"), "fcollect": ("inline", "get", "put"), "collect": ("get", "put"),
              "alltoall": ("get", "put")}
INLINE_BYTES = 248


def run(pes, arguments=(), algorithm=""):
    command = ["terrane", "run", "-n", str(pes), ROWS, *arguments]
    environment = dict(os.environ, TERRANE_SHMEM_ALGORITHM=algorithm)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
    for line in done.stdout.splitlines():
        fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
        yield (fields["row"], int(fields["bytes"])), float(fields["ns"])


def medians(pes, turns, arguments=(), algorithm=""):
    samples = {}
    for _ in range(turns):
        for row, ns in run(pes, arguments, algorithm):
            samples.setdefault(row, []).append(ns)
    return {row: statistics.median(values) for row, values in samples.items()}


def show(pes, turns):
    found = medians(pes, turns)
    bare = min(ns for (name, _), ns in found.items() if name.startswith("bare"))
    memcpy = found["memcpy", 1 << 20]
    print(f"{pes} PEs on {os.cpu_count()} processors")
    for (name, size), ns in found.items():
        beside = f"{ns / bare:8.2f}x the best bare barrier" if size == 0 else ""
        if size == 1 << 20:
            beside = f"{ns / memcpy:8.2f}x memcpy"
        print(f"  {name:16}{size:9} B{ns / 1e3:12.3f} us{beside}")


def tune(pes_list, turns, path):
    lines = ["# COLLECTIVE BYTES PES crowded|roomy ALGORITHM; written by ./run bench shmem --tune"]
    for collective, algorithms in ALGORITHMS.items():
        row = "barrier_all" if collective == "sync" else collective
        for pes in pes_list:
            room = "crowded" if pes > os.cpu_count() else "roomy"
            times = {one: medians(pes, turns, [row], f"{collective}={one}") for one in algorithms}
            for size in sorted(size for _, size in times[algorithms[0]]):
                able = [one for one in algorithms if one != "inline" or size <= INLINE_BYTES]
                best = min(able, key=lambda one: times[one][row, size])
                print(f"{collective} {size} B, {pes} PEs: " +
                      ", ".join(f"{one} {times[one][row, size] / 1e3:.2f} us" for one in able))
                lines.append(f"{collective} {size if size else 'any'} {pes} {room} {best}")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    print(f"written: {path}; use it with TERRANE_SHMEM_ALGORITHM=@{path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pes", default="2,8", help="numbers of PEs (default 2,8)")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--tune", metavar="FILE", help="measure all algorithms, write the fastest")
    options = parser.parse_args()
    pes_list = [int(pes) for pes in options.pes.split(",")]
    if options.tune:
        tune(pes_list, options.turns, options.tune)
        return
    rma_table.show()
    for pes in pes_list:
        print()
        show(pes, options.turns)


if __name__ == "__main__":
    main()
