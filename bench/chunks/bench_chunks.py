#!/usr/bin/env python3
"""Chunks beside memcpy, beside ZeroMQ (ipc and tcp) and beside MPI, in one run.

Usage: ./run bench chunks [--turns N] [--subscribers N,N] [--sizes BYTES,BYTES] [--quick]
Frames from one producer to its subscribers, one at a time: the time from when a frame is whole until the slowest subscriber may read
it, as a ratio to a memcpy of that size. Then scopes of many chunks by 16 clients. The sides take turns; figures are medians over the
turns. A side that is missing is named and left out. Trust the ratios: the machine's speed drifts.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
FOLDER = os.path.join(BUILD, "bench/chunks")
OURS = os.path.join(FOLDER, "terrane_bench_chunk_rows")
CLIENTS = 16


def sides():
    """Name -> command for so many subscribers, bytes, frames."""
    found = {"Terrane": lambda n, *rest: ["terrane", "run", "-n", str(n + 1), OURS, "frames", *map(str, rest)]}
    zmq = os.path.join(FOLDER, "zmq_chunk_rows")
    mpi = os.path.join(FOLDER, "mpi_chunk_rows")
    if os.path.exists(zmq):
        for way in ("ipc", "tcp"):
            found[f"ZeroMQ {way}"] = lambda *rest, way=way: [zmq, way, *map(str, rest)]
    else:
        print("without ZeroMQ: install the Debian package libzmq3-dev and build again")
    if os.path.exists(mpi) and shutil.which("mpirun"):
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "btl_base_warn_component_unused", "0"]
        found["MPI"] = lambda n, *rest: ["mpirun", *options, "-np", str(n + 1), mpi, *map(str, rest)]
    else:
        print("without MPI: install the Debian packages openmpi-bin and libopenmpi-dev and build again")
    return found


def rows(command):
    """Row -> its values; of several processes, several."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        print(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}", file=sys.stderr)
    found = {}
    for line in done.stdout.splitlines():
        fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
        if "row" in fields:
            found.setdefault(fields["row"], []).append(float(fields["ns"]))
    return found


def frames(options):
    found = sides()
    print("\nFrames: until the slowest subscriber may read, as a ratio to memcpy")
    print(f"{'bytes':>10} {'subscribers':>12} {'memcpy us':>10}" + "".join(f"{name:>13}" for name in found))
    for size in options.sizes:
        for count in options.subscribers:
            samples, copies = {name: [] for name in found}, []
            for _ in range(options.turns):
                copies += rows([OURS, "memcpy", str(size), str(options.frames)]).get("memcpy", [])
                for name, command in found.items():
                    values = rows(command(count, size, options.frames)).get("readable", [])
                    if len(values) == count:
                        samples[name].append(max(values))
            copy = statistics.median(copies)
            line = f"{size:>10} {count:>12} {copy / 1e3:>10.0f}"
            for name in found:
                line += f"{statistics.median(samples[name]) / copy:>13.3f}" if samples[name] else f"{'-':>13}"
            print(line, flush=True)


def scopes(options):
    print(f"\nScopes of {options.chunks} chunks by {CLIENTS} clients, every second one read-write: us")
    columns = ["read-median", "read-p99", "read-write-median", "read-write-p99"]
    print(f"{'bytes':>10} {'servers':>8}" + "".join(f"{name:>19}" for name in columns) + f"{'scopes/s':>12}")
    for size in options.chunk_sizes:
        for servers in (1, 4):
            samples = {}
            for _ in range(options.turns):
                command = ["terrane", "run", "-n", str(CLIENTS), "--servers", str(servers), OURS, "scopes", str(size),
                           str(options.chunks), str(options.operations)]
                for row, values in rows(command).items():
                    samples.setdefault(row, []).append(statistics.median(values))
            if not samples:
                continue
            line = f"{size:>10} {servers:>8}"
            line += "".join(f"{statistics.median(samples[name]) / 1e3:>19.1f}" for name in columns)
            print(line + f"{CLIENTS * 1e9 / statistics.median(samples['rate']):>12.0f}", flush=True)


def main():
    def numbers(text):
        return [int(one) for one in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5, help="of every side (default 5)")
    parser.add_argument("--frames", type=int, default=40, help="of every turn (default 40)")
    parser.add_argument("--subscribers", type=numbers, default=[1, 2, 8])
    parser.add_argument("--sizes", type=numbers, default=[2073600, 8294400, 33177600], help="of frames, in bytes")
    parser.add_argument("--chunks", type=int, default=10_000, help="of the scopes (default 10000)")
    parser.add_argument("--chunk-sizes", type=numbers, default=[1024, 16384])
    parser.add_argument("--operations", type=int, default=2000, help="of every client (default 2000)")
    parser.add_argument("--quick", action="store_true", help="one short turn: does it run?")
    options = parser.parse_args()
    if options.quick:
        options.turns, options.frames, options.chunks, options.operations = 1, 5, 500, 200
    frames(options)
    scopes(options)


if __name__ == "__main__":
    main()
