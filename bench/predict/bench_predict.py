#!/usr/bin/env python3
"""What each heuristic of the page protocol gains: every pattern with all of them, and with one switched off.

Usage: ./run bench predict [--most NODES] [--real] [--rounds N] [--only NAME,...] [--gains FILE]
In virtual time (bench/scale), 2 to NODES nodes (64); with --real also on real pages: Jacobi and the patterns of sharing, two
nodes over shared memory and over tcp. A gain of 10 % says that without the heuristic the row takes 1.1 times as long.
Figures of virtual time are exact. Those of real pages are medians of N rounds (5) in turn; the row "(nothing off)" is their
noise: the same run a second time.
"""
import argparse
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
ROWS = os.path.join(BUILD, "bench/scale/terrane_bench_scale_rows")
TERRANE = os.path.join(BUILD, "bin/terrane")
# Most nodes: the last ones have many pages.
PATTERNS = {"stencil": 256, "transpose": 64, "tree": 256, "update": 256, "broadcast": 256, "migratory": 256, "producer": 256,
            "sweep": 16, "downwards": 16, "master": 16, "scatter": 16}
KEEP = 5.0  # percent, in one row at least


def run(command, seconds=600, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


def pairs(line):
    return dict(part.split("=", 1) for part in line.split() if "=" in part)


def heuristics():
    """Their names, as the refusal of an unknown one lists them."""
    refused = subprocess.run([ROWS, "barrier", "2", "1", "-?"], capture_output=True, text=True)
    return re.findall(r"-([a-z][a-z_]+)", refused.stderr.split("switch off", 1)[1])


def virtual(names, most):
    nodes = [n for n in (2, 4, 8, 16, 32, 64, 128, 256) if n <= most]
    jobs = {(name, pattern, n): [ROWS, pattern, str(n), "8", f"-{name}" if name else ""]
            for name in ("",) + names for pattern, largest in PATTERNS.items() for n in nodes if n <= largest}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        times = dict(zip(jobs, pool.map(lambda command: float(pairs(run(command))["us"]), jobs.values())))
    gains = {name: {} for name in names}
    for (name, pattern, n), us in times.items():
        if name:
            gains[name][f"{pattern}, {n} nodes"] = 100 * (us / times["", pattern, n] - 1)
    return gains


def real_rows(transport, predict):
    """Row -> us, of one round."""
    environment = {"UCX_TLS": "tcp,self"} if transport == "tcp" else {}
    start = [TERRANE, "run", "--transport", "ucx" if transport == "tcp" else transport, "-n", "2", "--bind-to", "core"]
    start += [f"--predict=-{predict}"] if predict else []
    rows = {}
    for init in ("own", "master"):
        out = run(start + [os.path.join(BUILD, "bench/reference/jacobi_terrane"), "--init", init, "--iterations", "50"],
                  environment=environment)
        row = next(p for p in map(pairs, out.splitlines()) if "total_us" in p)
        rows[f"jacobi by {init}, {transport}"] = float(row["total_us"])
    out = run(start + [os.path.join(BUILD, "bench/pages/terrane_bench_pattern_rows"), "--repeat", "1"],
              environment=environment)
    for row in map(pairs, out.splitlines()):
        if row.get("propagation") == "adaptive" and row.get("protocol") == "hlrc":
            rows[f"{row['pattern']}, {transport}"] = float(row["us"])
    return rows


NOISE = "(nothing off)"


def real(names, rounds):
    """Gains on real pages: the median over the rounds of the ratio to the same round's run with all heuristics. The heuristic
    NOISE is that run a second time: what it shows is noise."""
    ratios = {name: {} for name in (NOISE,) + names}
    for _ in range(rounds):
        for transport in ("shm", "tcp"):
            base = real_rows(transport, "")
            for name, found in ratios.items():
                for row, us in real_rows(transport, "" if name == NOISE else name).items():
                    found.setdefault(row, []).append(us / base[row])
    return {name: {row: 100 * (statistics.median(all_) - 1) for row, all_ in found.items()} for name, found in ratios.items()}


def main():
    parser = argparse.ArgumentParser(prog="./run bench predict", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=64, help="nodes in virtual time (64)")
    parser.add_argument("--real", action="store_true", help="also on real pages")
    parser.add_argument("--rounds", type=int, default=5, help="on real pages (5)")
    parser.add_argument("--only", help="these heuristics alone")
    parser.add_argument("--gains", metavar="FILE", help="write all gains there, in percent")
    options = parser.parse_args()
    known = heuristics()
    names = tuple(options.only.split(",")) if options.only else tuple(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"--only: there is no {unknown[0]}; there are {', '.join(known)}")
    gains = virtual(names, options.most)
    if options.real:
        for name, rows in real(names, options.rounds).items():
            gains.setdefault(name, {}).update(rows)
    print(f"{'heuristic':20} {'gain':>7}  most in{'':33} {'loss':>7}  most in")
    for name, rows in gains.items():
        best, worst = max(rows, key=rows.get), min(rows, key=rows.get)
        verdict = "" if rows[best] >= KEEP else f"  less than {KEEP:.0f} % in every row"
        print(f"{name:20} {rows[best]:6.1f}%  {best:40} {rows[worst]:6.1f}%  {worst}{verdict}")
    if options.gains:
        with open(options.gains, "w", encoding="utf-8") as file:
            json.dump(gains, file, indent=1)


if __name__ == "__main__":
    main()
