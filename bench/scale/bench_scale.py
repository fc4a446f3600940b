#!/usr/bin/env python3
"""What jobs of 2 to 1,024 nodes would take, in virtual time: the protocol's own machines, and costs measured on real nodes.

Usage: ./run bench scale [--most NODES]
Each node is a host of its own with a processor for its thread and one for its handler, in a network without contention but at
senders and receivers (bench/scale/costs.h). The whole takes some minutes. scripts/results.py makes plots of a record (--json FILE).
"""
import argparse
import os
import subprocess
import sys

ROWS = os.path.join(os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release")), "bench/scale/terrane_bench_scale_rows")
PATTERNS = {"barrier": 1024, "stencil": 1024, "transpose": 256, "tree": 1024, "update": 1024, "broadcast": 1024, "migratory": 1024, "producer": 1024}  # most nodes
COLUMNS = (("us", "us an iteration"), ("messages", "messages a node"), ("bytes", "bytes a node"), ("faults", "faults a node"),
           ("pages", "pages fetched"), ("busiest", "received, busiest"), ("memory", "memory, most"))


def measure(pattern, nodes):
    done = subprocess.run([ROWS, pattern, str(nodes), "4"], capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        sys.exit(f"bench: {pattern} with {nodes} nodes failed: {done.stderr.strip()}")
    fields = dict(part.split("=", 1) for part in done.stdout.split())
    return {name: float(fields[name]) for name, _ in COLUMNS}


def main():
    parser = argparse.ArgumentParser(prog="./run bench scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1024, help="nodes (1024)")
    options = parser.parse_args()
    if options.most < 2:
        parser.error("--most: at least 2 nodes")
    print(f"{'pattern':10} {'nodes':>6} " + " ".join(f"{title:>17}" for _, title in COLUMNS))
    for pattern, most in PATTERNS.items():
        nodes = 2
        while nodes <= min(most, options.most):
            row = measure(pattern, nodes)
            print(f"{pattern:10} {nodes:6} " + " ".join(f"{row[name]:17,.{0 if name in ('bytes', 'memory') else 1}f}" for name, _ in COLUMNS), flush=True)
            nodes *= 2


if __name__ == "__main__":
    main()
