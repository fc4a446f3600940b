#!/usr/bin/env python3
"""What it gains to say which hosts form a cluster: 2 x 3 hosts of namespaces, a router between, with and without clusters.

Usage: ./run bench clusters [--latency US,...] [--rounds N] [--size N] [--link-rate RATE]
Needs root or user namespaces. Each job runs with clusters and with TERRANE_CLUSTERS=0, in turn, on the same hosts with the
same latency; figures are medians of three. "Messages" are those over the link, in both directions: of one barrier, and of
one use of a lock that the three nodes of the second cluster use alone.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
ROWS = os.path.join(BUILD, "bench/clusters/terrane_bench_cluster_rows")
LU = os.path.join(BUILD, "examples/lu/lu")
JACOBI = os.path.join(BUILD, "bench/reference/jacobi_terrane")
HOSTS = [f"h{n}" for n in range(6)]
TURNS = 3
GOALS = {"barrier messages": "<= 2", "lock messages": "0", "LU": ">= 1.5x at 1 ms", "Jacobi": ">= 1.5x at 1 ms"}


def run(options, latency, clusters, program):
    """The output of a job on 2 x 3 hosts, and how many messages its nodes sent over the link."""
    command = [TERRANE, "hosts", "--clusters", "2x3"]
    if options.link_rate:
        command += ["--link-rate", options.link_rate]
    command += [TERRANE, "run", "-H", ",".join(HOSTS), "--clusters", f"a:{','.join(HOSTS[:3])}/b:{','.join(HOSTS[3:])}",
                "--stats", "-x", f"TERRANE_TEST_LATENCY_US={latency}", "-x", f"TERRANE_CLUSTERS={int(clusters)}"] + program
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
    sent = re.findall(r"to other clusters: (\d+) messages", done.stderr)
    return done.stdout, sum(map(int, sent))


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"bench: no {pattern} in:\n{text}")
    return float(found[1])


def per_round(options, latency, clusters, rounds, words):
    """Microseconds and messages over the link of one round: of two jobs, the longer less the shorter."""
    short, long = rounds, 3 * rounds
    _, before = run(options, latency, clusters, [ROWS, words[0], str(short), *words[1:]])
    out, after = run(options, latency, clusters, [ROWS, words[0], str(long), *words[1:]])
    return number(r"ns=(\d+)", out) / 1e3, (after - before) / (long - short)


def compare(name, latency, measure):
    taken = {True: [], False: []}
    for _ in range(TURNS):
        for clusters, samples in taken.items():
            samples.append(measure(clusters))
    middle = {clusters: [statistics.median(column) for column in zip(*samples)] for clusters, samples in taken.items()}
    ours, flat = middle[True], middle[False]
    messages = f"{ours[1]:9.2f} {flat[1]:9.2f}" if len(ours) > 1 else f"{'':9} {'':9}"
    goal = GOALS.get(name) or GOALS.get(f"{name} messages", "")
    print(f"{latency:8} {name:8} {ours[0]:12.1f} {flat[0]:12.1f} {flat[0] / ours[0]:7.2f} {messages}  {goal}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./run bench clusters", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", default="100,1000,10000", help="one way between the clusters, us (default 100,1000,10000)")
    parser.add_argument("--rounds", type=int, default=50, help="barriers and uses of a lock (default 50)")
    parser.add_argument("--size", type=int, default=600, help="rows of the matrix of LU and of the grid of Jacobi (default 600)")
    parser.add_argument("--link-rate", default="", help="limit of the link, as tc writes it")
    parser.add_argument("--only", default="barrier,lock,LU,Jacobi", help="which rows")
    options = parser.parse_args()
    print(f"{'us':>8} {'what':8} {'clusters us':>12} {'without us':>12} {'gain':>7} {'messages':>9} {'without':>9}  goal")
    only = options.only.split(",")
    for latency in map(int, options.latency.split(",")):
        jobs = {
            "barrier": lambda on: per_round(options, latency, on, options.rounds, ["barrier"]),
            "lock": lambda on: per_round(options, latency, on, options.rounds, ["lock", "3"]),
            "LU": lambda on: (number(r"factored in ([\d.]+) s", run(options, latency, on, [
                LU, "--generate", str(options.size)])[0]) * 1e6,),
            "Jacobi": lambda on: (number(r"total_us=([\d.]+)", run(options, latency, on, [
                JACOBI, "--size", str(options.size)])[0]),),
        }
        for name, measure in jobs.items():
            if name in only:
                compare(name, latency, measure)


if __name__ == "__main__":
    main()
