#!/usr/bin/env python3
"""What jobs of 2 to 1,024 nodes would take, in virtual time: the protocol's own machines, and costs measured on real nodes.

Usage: ./run bench scale [--most NODES] [--plot FOLDER]
Each node is a host of its own with a processor for its thread and one for its handler, in a network without contention but at
senders and receivers (bench/scale/costs.h). --plot writes plots in SVG. The whole takes some minutes.
"""
import argparse
import math
import os
import subprocess
import sys

ROWS = os.path.join(os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release")), "bench/scale/terrane_bench_scale_rows")
PATTERNS = {"barrier": 1024, "stencil": 1024, "transpose": 256, "tree": 1024, "migratory": 1024, "producer": 1024}  # most nodes
COLUMNS = (("us", "us an iteration"), ("messages", "messages a node"), ("bytes", "bytes a node"), ("faults", "faults a node"),
           ("pages", "pages fetched"), ("busiest", "received, busiest"), ("memory", "memory, most"))
PLOTS = {"us": "us an iteration", "messages": "messages a node and iteration", "memory": "bytes of the protocol, at the node that has most"}
COLOURS = ("#888888", "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 760, 420, 80, 40, 60, 120


def measure(pattern, nodes):
    done = subprocess.run([ROWS, pattern, str(nodes), "4"], capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        sys.exit(f"bench: {pattern} with {nodes} nodes failed: {done.stderr.strip()}")
    fields = dict(part.split("=", 1) for part in done.stdout.split())
    return {name: float(fields[name]) for name, _ in COLUMNS}


def svg(found, column, title):
    curves = {pattern: {nodes: row[column] for nodes, row in rows.items()} for pattern, rows in found.items()}
    values = [value for points in curves.values() for value in points.values() if value > 0]
    counts = sorted({nodes for points in curves.values() for nodes in points})
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def place(nodes, value):
        x = LEFT + (WIDTH - LEFT - RIGHT) * math.log2(nodes / counts[0]) / max(1.0, math.log2(counts[-1] / counts[0]))
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(max(value, 10 ** low)) - low) / (high - low)
        return round(x, 1), round(y, 1)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="22" font-size="15">{title}</text>']
    for nodes in counts:
        x, y = place(nodes, 10 ** low)
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{nodes}</text>')
    for power in range(low, high + 1):
        x, y = place(counts[0], 10 ** power)
        parts.append(f'<line x1="{x}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{10 ** power:,}</text>')
    parts.append(f'<text x="{LEFT + 250}" y="{HEIGHT - 14}">nodes</text>')
    for number, (pattern, points) in enumerate(curves.items()):
        line = " ".join("{},{}".format(*place(nodes, points[nodes])) for nodes in sorted(points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[number]}" stroke-width="2"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 20 * number + 10}" fill="{COLOURS[number]}">{pattern}</text>')
    return "\n".join(parts + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(prog="./run bench scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1024, help="nodes (1024)")
    parser.add_argument("--plot", metavar="FOLDER", help="write scale_*.svg there")
    options = parser.parse_args()
    if options.most < 2:
        parser.error("--most: at least 2 nodes")
    found = {}
    print(f"{'pattern':10} {'nodes':>6} " + " ".join(f"{title:>17}" for _, title in COLUMNS))
    for pattern, most in PATTERNS.items():
        found[pattern] = {}
        nodes = 2
        while nodes <= min(most, options.most):
            row = found[pattern][nodes] = measure(pattern, nodes)
            print(f"{pattern:10} {nodes:6} " + " ".join(f"{row[name]:17,.{0 if name in ('bytes', 'memory') else 1}f}" for name, _ in COLUMNS), flush=True)
            nodes *= 2
    if options.plot:
        os.makedirs(options.plot, exist_ok=True)
        for column, title in PLOTS.items():
            path = os.path.join(options.plot, f"scale_{column}.svg")
            with open(path, "w", encoding="utf-8") as file:
                file.write(svg(found, column, title))
            print(f"written: {path}")


if __name__ == "__main__":
    main()
