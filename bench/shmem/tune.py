"""Measures every algorithm of every collective, and writes the fastest ones as rows for TERRANE_SHMEM_ALGORITHM=@FILE."""
import os
import statistics
import subprocess
import sys

from sides import FOLDER

ROWS = os.path.join(FOLDER, "terrane_bench_shmem_collective_rows")
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


def show_all(pes, turns):
    """Every collective of version 1.6 as it is chosen, beside a bare barrier and memcpy."""
    found = medians(pes, turns)
    bare = min(ns for (name, _), ns in found.items() if name.startswith("bare"))
    memcpy = found["memcpy", 1 << 20]
    print(f"\n{pes} PEs on {os.cpu_count()} processors, a barrier after each")
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
