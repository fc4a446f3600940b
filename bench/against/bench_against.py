#!/usr/bin/env python3
"""This tree's page protocol beside that of another build of Terrane, such as one of an earlier commit; both in turn.

Usage: ./run bench against OTHER [--rounds N] [--transport shm|tcp] [--most NODES]
OTHER is the build folder of another checkout (OTHER/bin/terrane, OTHER/bench/...): cmake --preset release && cmake --build
--preset release there. The rows of ./run bench pages, Jacobi and the patterns of sharing on two nodes, over shared memory
and over tcp, are medians of the ratios of N rounds (9) in turn; those of ./run bench scale are in virtual time, which is
exact, on 2 to NODES nodes (64). A row that is slower than 1.05 times is marked. Rows that only one build has are left out.
"""
import argparse
import concurrent.futures
import os
import re
import statistics
import subprocess
import sys

OURS = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
SLOWER = 1.05
PATTERNS = {"barrier": 64, "stencil": 64, "transpose": 64, "tree": 64, "update": 64, "broadcast": 64, "migratory": 64,
            "producer": 64, "sweep": 16, "downwards": 16, "master": 16, "scatter": 16}


def run(command, environment=None):
    """What it printed; None where it failed, as a row does that this build does not have."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, **(environment or {})})
    return done.stdout if done.returncode == 0 else None


def pairs(line):
    return dict(part.split("=", 1) for part in line.split() if "=" in part)


def real_rows(build, transport):
    """Row -> time, of one round."""
    environment = {"UCX_TLS": "tcp,self"} if transport == "tcp" else {}
    start = [os.path.join(build, "bin/terrane"), "run", "-n", "2", "--transport", "ucx" if transport == "tcp" else "shm"]
    bench = os.path.join(build, "bench")
    commands = {f"jacobi by {init}": ["--bind-to", "core", f"{bench}/reference/jacobi_terrane", "--init", init, "--iterations", "50"]
                for init in ("own", "master")}
    commands["sharing"] = ["--bind-to", "core", f"{bench}/pages/terrane_bench_pattern_rows", "--repeat", "1"]
    commands["locks"] = [f"{bench}/pages/terrane_bench_lock_rows", "--times", "500"]
    for threads in ("1", "2"):
        for home in ("polling", "computing"):
            commands[f"{threads} threads, home {home}"] = [
                f"{bench}/pages/terrane_bench_pages_rows", "--threads", threads, "--home", home, "--rounds", "5",
                "--over", "network" if transport == "tcp" else "shm"]
    rows = {}
    for name, command in commands.items():
        for row in map(pairs, (run(start + command, environment) or "").splitlines()):
            if "total_us" in row:
                rows[f"{name}, in all"] = float(row["total_us"])
                rows[f"{name}, iterations 3 on"] = float(row["from3_us"])
            elif row.get("propagation") == "adaptive":
                rows[f"{row['pattern']}, {row['protocol']}"] = float(row["us"])
            elif "ours" in row:
                rows[f"{row['row']}, {name}"] = float(row["ours"])
            elif "p99" in row:
                rows["lock in turns, median"] = float(row["median"])
    return {f"{row}, {transport}": time for row, time in rows.items()}


def real(other, transports, rounds):
    """Row -> the median of our time over the other's."""
    ratios = {}
    for number in range(rounds):
        for transport in transports:
            sides = [OURS, other] if number % 2 == 0 else [other, OURS]
            times = {side: real_rows(side, transport) for side in sides}
            for row, ours in times[OURS].items():
                if times[other].get(row):
                    ratios.setdefault(row, []).append(ours / times[other][row])
    return {row: statistics.median(all_) for row, all_ in ratios.items()}


def virtual(other, most):
    jobs = [(build, pattern, nodes) for pattern, largest in PATTERNS.items()
            for nodes in (2, 4, 8, 16, 32, 64) if nodes <= min(largest, most) for build in (OURS, other)]

    def time_of(job):
        build, pattern, nodes = job
        out = run([os.path.join(build, "bench/scale/terrane_bench_scale_rows"), pattern, str(nodes), "8"])
        found = re.search(r"\bus=([0-9.]+)", out or "")
        return float(found[1]) if found else None

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        times = dict(zip(jobs, pool.map(time_of, jobs)))
    return {f"{pattern}, {nodes} nodes, virtual time": times[OURS, pattern, nodes] / times[other, pattern, nodes]
            for build, pattern, nodes in jobs
            if build == OURS and times[OURS, pattern, nodes] and times[other, pattern, nodes]}


def main():
    parser = argparse.ArgumentParser(prog="./run bench against", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", metavar="OTHER", help="the build folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=9, help="on real pages (9)")
    parser.add_argument("--transport", choices=("shm", "tcp"), help="only this one (both)")
    parser.add_argument("--most", type=int, default=64, help="nodes in virtual time (64); 0: none")
    options = parser.parse_args()
    other = os.path.abspath(options.other)
    if not os.path.exists(os.path.join(other, "bin/terrane")):
        sys.exit(f"bench: {other}/bin/terrane does not exist; give the build folder of another checkout, such as ../old/build/release")
    ratios = virtual(other, options.most)
    ratios.update(real(other, [options.transport] if options.transport else ["shm", "tcp"], options.rounds))
    print(f"{'row':60} ours / other")
    for row, ratio in sorted(ratios.items(), key=lambda item: -item[1]):
        print(f"{row:60} {ratio:12.3f}{'  slower' if ratio > SLOWER else ''}")
    slower = sum(ratio > SLOWER for ratio in ratios.values())
    print(f"{len(ratios)} rows, {slower} slower than {SLOWER} times, {sum(r < 1 / SLOWER for r in ratios.values())} as much faster")


if __name__ == "__main__":
    main()
