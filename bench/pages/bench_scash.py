#!/usr/bin/env python3
"""The experiments of Omni/SCASH, as it defined them, beside its figures: the cost of a page, of a barrier, and Laplace.

Usage: ./run bench scash [--transport shm|ucx] [--rounds N]
SCASH had 8 nodes of 450 MHz with 800 Mb/s Myrinet or 100 Mb/s Ethernet: its times are of another age, its ratios are not.
Laplace is 1024 x 1024 doubles, 50 iterations; no more speed-up can be had than this machine has processors.
"""
import argparse
import os
import statistics

from bench_pages import BUILD, Over, rows, run

PROGRAM = os.path.join(BUILD, "bench/pages/terrane_bench_scash_rows")
LAPLACE = os.path.join(BUILD, "bench/reference/jacobi_terrane")
MICRO = "SCASH: 240 us by Myrinet, 700 us by Ethernet"
SPEED = "SCASH, 16 processors: 13.3 by Myrinet, 3.0 by Ethernet"


def micro(over, rounds):
    print(f"{'nodes':>5} {'a page, us':>11} {'reading, us':>12} {'and barrier, us':>16} {'barrier, us':>12}   a page: {MICRO}")
    for nodes in (2, 4, 8):
        found = {row["row"]: row for row in rows(run(over.terrane + ["-n", str(nodes), PROGRAM, "--rounds", str(rounds)]), "row")}
        reading = {name: float(found["reading"][name]) / 1e3 for name in ("without", "with_barrier")}
        print(f"{nodes:5} {float(found['page']['ns']) / 1e3:11.2f} {reading['without']:12.2f} {reading['with_barrier']:16.2f} "
              f"{reading['with_barrier'] - reading['without']:12.2f}")


def laplace(over, turns):
    samples, sums = {1: [], 2: [], 4: []}, set()
    for _ in range(turns):
        for nodes, taken in samples.items():
            for row in rows(run(over.terrane + ["-n", str(nodes), LAPLACE]), "total_us"):
                taken.append(float(row["total_us"]))
                sums.add(row["checksum"])
    print(f"\nLaplace, medians of {turns} turns; results {'equal' if len(sums) == 1 else 'DIFFER'}; {os.cpu_count()} processors; {SPEED}")
    alone = statistics.median(samples[1])
    for nodes, taken in samples.items():
        total = statistics.median(taken)
        print(f"{nodes:5} nodes {total / 1e3:9.2f} ms, speed-up {alone / total:.2f}")


def main():
    parser = argparse.ArgumentParser(prog="./run bench scash", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transport", choices=("shm", "ucx"), default="shm", help="what pages travel by (default shm)")
    parser.add_argument("--rounds", type=int, default=200, help="samples of a cost (default 200)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    over = Over(options.transport)
    micro(over, options.rounds)
    laplace(over, 5)


if __name__ == "__main__":
    main()
