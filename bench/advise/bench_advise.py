#!/usr/bin/env python3
"""How good forecasts are: the time that terrane advise predicts over the time that two hosts take.

Usage: ./run bench advise [--turns N] [--latency US[,US...]] [--bandwidth MB/S]
Five kernels (kernels.c, queue.c) on two nodes of a thread each. Each is recorded once on this host; then it runs on two hosts
made of namespaces, where each message to the other one takes so much longer each way, and is forecast with twice that there
and back. A figure is predicted over measured: by the median of the turns, and by the least. Hosts need root or user
namespaces.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
ROWS = os.path.join(BUILD, "bench/advise/terrane_bench_advise_")
KERNELS = {name: ("omp", ["--threads", "1"], [ROWS + "kernels_rows", name]) for name in ("jacobi", "kmeans", "product", "transpose")}
KERNELS["queue"] = ("threads", ["--placement", "1"], [ROWS + "queue_rows"])
TIMEOUT = 300


def output_of(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        sys.exit(f"bench: HANGS: {' '.join(command)} had not ended after {TIMEOUT} s")
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def predicted(folder, latency, bandwidth):
    said = output_of([TERRANE, "advise", "--recorded", folder, "--json", "--round-trip", str(2 * latency), "--bandwidth", str(bandwidth)])
    return json.loads(said)["points"][-1]["seconds"]


def measured(front_end, options, program, latency):
    command = [TERRANE, "hosts", "-n", "2", "--", "env", f"TERRANE_TEST_LATENCY_US={latency}", TERRANE, front_end, "-H", "h0,h1"]
    return float(re.search(r"^seconds=([0-9.]+)$", output_of([*command, *options, *program]), re.MULTILINE)[1])


def main():
    parser = argparse.ArgumentParser(prog="./run bench advise", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--latency", default="0,100,1000", help="microseconds, with commas between them")
    parser.add_argument("--bandwidth", type=float, default=4000, help="of a host made of namespaces (4000)")
    asked = parser.parse_args()
    latencies = [int(one) for one in asked.latency.split(",")]
    print(f"{'seconds':12} {'us each way':>12} {'predicted':>10} {'median':>10} {'least':>10} {'over median':>12} {'over least':>11}")
    for name, (front_end, options, program) in KERNELS.items():
        if not os.path.exists(program[0]):
            print(f"{name:12} is left out: there is no compiler for OpenMP")
            continue
        with tempfile.TemporaryDirectory() as folder:
            output_of([TERRANE, "advise", "-n", "2", "--keep", folder, *program])
            for latency in latencies:
                took = [measured(front_end, options, program, latency) for _ in range(asked.turns)]
                says, median, least = predicted(folder, latency, asked.bandwidth), statistics.median(took), min(took)
                print(f"{name:12} {latency:12} {says:10.3f} {median:10.3f} {least:10.3f} {says / median:12.2f} {says / least:11.2f}", flush=True)


if __name__ == "__main__":
    main()
