#!/usr/bin/env python3
"""Chunks beside memcpy, beside ZeroMQ (ipc and tcp) and beside MPI, in one run.

Usage: ./run bench chunks [--parts NAME,...] [--turns N] [--subscribers N,N] [--sizes BYTES,BYTES] [--quick]
frames  One at a time from a producer to its subscribers: the time from when a frame is whole until the slowest subscriber may read it,
        and until it has read every byte; and the processor time of all processes: as ratios to a memcpy of that size.
scopes  Of many chunks by 16 clients; of sizes from 1 KiB to 1 MiB, too. A run that hangs is ended and told.
log     What the event log costs a scope that needs no other node: with and without it in turns;
        the median of what each turn says.
stall   One of two subscribers is stopped for --stall seconds: the memory of each node, against its budget.
wake    How long a receiver that waits takes to have a message, and what its waiting costs (--idle us before each).
The sides take turns; figures are medians over the turns. A side that is missing is named and left out. Trust the ratios: the machine's
speed drifts.
"""
import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

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


def fields_of(line):
    return dict(part.split("=", 1) for part in line.split() if "=" in part)


def rows(command, environment=None):
    """Row -> its values; of several processes, several."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        sys.exit(f"bench: HANGS: {' '.join(command)} had not ended after 300 s")
    if done.returncode != 0:
        print(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}", file=sys.stderr)
    found = {}
    for line in done.stdout.splitlines():
        fields = fields_of(line)
        if "row" in fields:
            found.setdefault(fields["row"], []).append(float(fields["ns"]))
    return found


def frames(options, variant=()):
    found = sides()
    what = "has read every byte" if variant else "may read"
    print(f"\nFrames: until the slowest subscriber {what} / processor time of all processes, as ratios to memcpy")
    print(f"{'bytes':>10} {'subscribers':>12} {'memcpy us':>10}" + "".join(f"{name:>17}" for name in found))
    for size in options.sizes:
        for count in options.subscribers:
            ages, cpu, copies = {name: [] for name in found}, {name: [] for name in found}, []
            for _ in range(options.turns):
                copies += rows([OURS, "memcpy", str(size), str(options.frames)]).get("memcpy", [])
                for name, command in found.items():
                    values = rows(command(count, size, options.frames, *variant))
                    if len(values.get("readable", [])) == count:
                        ages[name].append(max(values["readable"]))
                        cpu[name].append(sum(values["cpu"]))
            copy = statistics.median(copies)
            line = f"{size:>10} {count:>12} {copy / 1e3:>10.0f}"
            for name in found:
                pair = f"{statistics.median(ages[name]) / copy:.3f} / {statistics.median(cpu[name]) / copy:.1f}" if ages[name] else "-"
                line += f"{pair:>17}"
            print(line, flush=True)
            if count == 1:
                figures = ", ".join(f"{name} {statistics.median(ages[name]) / copy:.2f}x" for name in found if ages[name])
                print(f"  one subscriber {what} {size} bytes after, memcpy 1: {figures}", flush=True)


def scopes(options):
    print(f"\nScopes of {options.chunks} chunks by {CLIENTS} clients, every second one read-write: us")
    columns = [f"{kind}-{part}" for kind in ("read", "read-write") for part in ("median", "p99", "max")]
    print(f"{'bytes':>10} {'servers':>8}" + "".join(f"{name:>19}" for name in columns) + f"{'scopes/s':>12}")
    for size in options.chunk_sizes:
        for servers in (1, 4):
            samples = {}
            for _ in range(options.turns):
                command = ["terrane", "run", "-n", str(CLIENTS), "--servers", str(servers)]
                command += ["--memory", "8G"] if size == 0 else []
                for row, values in rows(command + [OURS, "scopes", str(size), str(options.chunks), str(options.operations)]).items():
                    samples.setdefault(row, []).append(max(values) if row.endswith("max") else statistics.median(values))
            if not samples:
                continue
            line = f"{size or '1K-1M':>10} {servers:>8}"
            line += "".join(f"{statistics.median(samples[name]) / 1e3:>19.1f}" for name in columns)
            print(line + f"{CLIENTS * 1e9 / statistics.median(samples['rate']):>12.0f}", flush=True)


def log(options):
    times = {(row, on): [] for row in ("scope", "scope-cpu") for on in (False, True)}
    for _ in range(options.turns):
        for on in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                command = ["terrane", "run", "-n", "1", *(["--report", os.path.join(folder, "log")] if on else [])]
                for row, values in rows(command + [OURS, "alone", "1024", "1000", str(options.samples)]).items():
                    times[row, on] += values
    print("\nThe event log, and a scope that needs no other node: ns")
    print(f"{'':>20} {'without':>10} {'with':>10} {'more':>8}")
    for row, name in (("scope", "time"), ("scope-cpu", "processor time")):
        pairs = list(zip(times[row, False], times[row, True]))
        without, noted = (statistics.median(values) for values in zip(*pairs))
        more = statistics.median(on / off for off, on in pairs) - 1
        print(f"{name:>20} {without:>10.1f} {noted:>10.1f} {more * 100:>6.1f} %", flush=True)


def memory_of(pid):
    """Resident bytes of a process, shared memory with all of it; and its share of everything (PSS)."""
    values = {}
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if words[0] in ("Rss:", "Pss:"):
                    values[words[0]] = int(words[1]) << 10
    except OSError:
        pass  # it has ended
    return values.get("Rss:", 0), values.get("Pss:", 0)


def stalled_job(policy, options):
    """Peak (Rss, Pss) of each node, and the frames of each, while node 1 is stopped."""
    command = ["terrane", "run", "-n", "3", "--heartbeat", "0", "--memory", f"{options.stall_memory}M", OURS, "stall",
               str(options.sizes[0]), str(options.stall + 1), policy]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
        pids = {}
        while len(pids) < 3:
            fields = fields_of(job.stdout.readline())
            pids[int(fields["node"])] = int(fields["pid"])
        peak = {node: (0, 0) for node in pids}
        os.kill(pids[1], signal.SIGSTOP)
        end = time.monotonic() + options.stall
        while time.monotonic() < end:
            for node, pid in pids.items():
                peak[node] = tuple(map(max, peak[node], memory_of(pid)))
            time.sleep(0.05)
        os.kill(pids[1], signal.SIGCONT)
        try:
            text, _ = job.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            sys.exit(f"bench: HANGS: policy {policy} had not ended 60 s after the subscriber went on")
    return peak, [int(float(fields_of(line)["ns"])) for line in text.splitlines() if "row=frames" in line]


def stall(options):
    print(f"\nA subscriber that is stopped for {options.stall} s; --memory {options.stall_memory}M, of which half is the budget: MiB at most")
    print(f"{'policy':>8} {'node':>14} {'resident':>10} {'its share':>10} {'budget + 10 %':>14}")
    limit = options.stall_memory / 2 * 1.1
    for policy in ("block", "latest", "drop"):
        peak, counts = stalled_job(policy, options)
        for node, (rss, pss) in sorted(peak.items()):
            name = ["writer, server", "stopped", "subscriber"][node]
            verdict = "" if rss / 2**20 <= limit else "  MISSED"
            print(f"{policy:>8} {name:>14} {rss / 2**20:>10.1f} {pss / 2**20:>10.1f} {limit:>14.1f}{verdict}", flush=True)
        print(f"{'':>8} frames: {sorted(counts)}")


def wake(options):
    print("\nA receiver that waits: until it has a message, and its processor time as a part of the time that passes")
    print(f"{'idle us':>10} {'TERRANE_WAIT':>13} {'latency us':>11} {'processor':>10}")
    for idle in options.idle:
        for how in ("spin", "auto", "sleep"):
            latency, part = [], []
            for _ in range(options.turns):
                begin = time.monotonic()
                found = rows(["terrane", "run", "-n", "2", OURS, "wake", str(idle), str(options.wakes)], {"TERRANE_WAIT": how})
                took = (time.monotonic() - begin) * 1e9 / options.wakes
                if "readable" in found:
                    latency.append(found["readable"][0] / 1e3)
                    part.append(found["cpu"][0] / took)
            if latency:
                print(f"{idle:>10} {how:>13} {statistics.median(latency):>11.1f} {statistics.median(part):>10.2f}", flush=True)


PARTS = {"frames": frames, "whole": lambda options: frames(options, ("whole",)), "scopes": scopes, "log": log,
         "stall": stall, "wake": wake}


def main():
    def numbers(text):
        return [int(one) for one in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--turns", type=int, default=5, help="of every side (default 5)")
    parser.add_argument("--frames", type=int, default=40, help="of every turn (default 40)")
    parser.add_argument("--subscribers", type=numbers, default=[1, 2, 8])
    parser.add_argument("--sizes", type=numbers, default=[2073600, 8294400, 33177600], help="of frames, in bytes")
    parser.add_argument("--chunks", type=int, default=10_000, help="of the scopes (default 10000)")
    parser.add_argument("--chunk-sizes", type=numbers, default=[1024, 16384, 0], help="0: 1 KiB to 1 MiB, log-uniform")
    parser.add_argument("--operations", type=int, default=2000, help="of every client (default 2000)")
    parser.add_argument("--samples", type=int, default=300, help="of a thousand scopes each, of log (default 300)")
    parser.add_argument("--stall", type=float, default=5, help="seconds for which a subscriber is stopped (default 5)")
    parser.add_argument("--stall-memory", type=int, default=128, help="MiB of each node then (default 128)")
    parser.add_argument("--idle", type=numbers, default=[100, 1000, 20000], help="us before each message of wake")
    parser.add_argument("--wakes", type=int, default=200, help="messages of wake (default 200)")
    parser.add_argument("--quick", action="store_true", help="one short turn: does it run?")
    options = parser.parse_args()
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]}")
    if options.quick:
        options.turns, options.frames, options.chunks, options.operations = 1, 5, 500, 200
        options.samples = 20
        options.stall, options.wakes, options.idle = 1, 20, [1000]
    for name in options.parts:
        PARTS[name](options)


if __name__ == "__main__":
    main()
