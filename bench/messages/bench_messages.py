#!/usr/bin/env python3
"""Messages and one-sided calls between two processes: our transports beside UCX's own and MPI's messages, in one run.

Usage: ./run bench messages [--turns N] [--quick]
Round trips in us (with a peer that polls, and one that sleeps), bandwidth in GB/s. shm and MPI's shared memory within
the host; ucx, UCX and MPI over tcp on the loopback interface. Programs take turns; figures are medians over the turns.
The machine's speed drifts: trust the ratios.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
MESSAGES = os.path.join(BUILD, "bench/messages")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "core", "-np", "2",
          "--mca", "btl_base_warn_component_unused", "0", "--mca", "pml", "ob1"]
# ucx / UCX, with a peer that polls: time a row, whatever its size.
GOALS = {"latency": 1.15, "get": 1.2, "put+quiet": 1.2, "fetch-add": 1.2, "puts": 1.11, "gets": 1.11}
STREAMS = {"stream": "bandwidth", "puts": "puts", "gets": "gets"}


def programs():
    found = {}
    for kind in ("", "one_sided_"):
        ours = os.path.join(MESSAGES, f"terrane_bench_transport_{kind}rows")
        own = os.path.join(MESSAGES, f"terrane_bench_ucx_{kind}rows")
        for name, command in (("shm", [ours, "shm"]), ("ucx", [ours, "ucx"]), ("UCX", [own])):
            found.setdefault(name, []).append(command)
    mpi = os.path.join(MESSAGES, "message_rows_mpi")
    if shutil.which("mpirun") and os.path.exists(mpi):
        found["MPI shm"] = [MPIRUN + ["--mca", "btl", "vader,self", mpi]]
        found["MPI tcp"] = [MPIRUN + ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", mpi]]
    return found


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
    for line in done.stdout.splitlines():
        fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
        if "row" in fields:
            yield (fields["row"], fields["wait"], int(fields["bytes"])), float(fields["ns"])


def size(number):
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number} {unit}"
        number //= 1024
    return f"{number} GiB"


def print_table(samples, names):
    print(f"{'':34}" + "".join(f"{name:>10}" for name in names) + f"{'ucx/UCX':>10}")
    for row in sorted({row for row, _ in samples}, key=lambda row: (row[0], row[1], row[2])):
        medians = {name: statistics.median(samples[row, name]) for name in names if (row, name) in samples}
        kind, wait, number = row
        stream = kind in STREAMS
        text = f"{STREAMS[kind]} GB/s" if stream else f"{'round trip' if kind == 'latency' else kind} us"
        text += f", peer {wait}s"
        cells = {name: number / ns if stream else ns / 1e3 for name, ns in medians.items()}
        print(f"{text:26}{size(number):>8}" +
              "".join(f"{cells[name]:10.2f}" if name in cells else f"{'-':>10}" for name in names) +
              f"{medians['ucx'] / medians['UCX']:10.2f}" + (f"  goal <= {GOALS[kind]}" if kind in GOALS and wait == "poll" else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=9, help="of every program (default 9)")
    parser.add_argument("--quick", action="store_true", help="one turn: does it run?")
    options = parser.parse_args()
    commands = programs()
    samples = {}
    for _ in range(1 if options.quick else options.turns):
        for name, parts in commands.items():
            for row, ns in (sample for command in parts for sample in run(command)):
                samples.setdefault((row, name), []).append(ns)
    print_table(samples, list(commands))


if __name__ == "__main__":
    main()
