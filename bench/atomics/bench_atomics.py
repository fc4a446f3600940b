#!/usr/bin/env python3
"""Atomic operations of a program that nobody compiled for Terrane: two threads, two nodes of a host, two hosts.

Usage: ./run bench atomics [--turns N] [--no-hosts] [--points N]
The program (atomics_rows.cpp) has two threads. Ways: each thread its own word; one word of both; additions to words all
over 8 MiB; a word that goes to and fro by atomic operations; data that go to and fro with a flag. A figure is the median
over the turns, in which the sides run one after another. "relaxed" is --atomics=relaxed. Hosts are namespaces joined by
tcp; beside them stands UCX's own round trip. Then k-means, and pigz where it is installed, by two threads of one node
beside the same without Terrane: what replaced instructions cost. Hosts need root or user namespaces.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
ROWS = os.path.join(BUILD, "bench/atomics/terrane_bench_atomics_rows")
UCX_ROWS = os.path.join(BUILD, "bench/memory/terrane_bench_memory_ucx_rows")
KMEANS = os.path.join(BUILD, "bench/reference/kmeans_threads")
ON_HOSTS = [TERRANE, "hosts", "-n", "2", "--"]
TIMEOUT = 300
SIDES = {"2 threads": [], "2 nodes": [TERRANE, "threads", "-n", "2", "--placement", "1"]}
SIDES["relaxed"] = [*SIDES["2 nodes"], "--atomics=relaxed"]
HOST_SIDES = {"2 hosts": [*ON_HOSTS, TERRANE, "threads", "-H", "h0,h1", "--placement", "1"]}
HOST_SIDES["hosts, relaxed"] = [*HOST_SIDES["2 hosts"], "--atomics=relaxed"]
WAYS = {"private": "an own word", "contended": "one word of both", "scattered": "words all over",
        "moving": "a word to and fro", "flag": "flag and data, to and fro"}
MIB = 1 << 20


def output_of(command):
    """What it prints, and the seconds that it takes."""
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        sys.exit(f"bench: HANGS: {' '.join(command)} had not ended after {TIMEOUT} s")
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout, time.monotonic() - begin


def medians_of(sides, turns):
    """{side: {way: nanoseconds}}"""
    samples = {side: {way: [] for way in WAYS} for side in sides}
    for _ in range(turns):
        for side, words in sides.items():
            for way, ns in re.findall(r"^(\w+)=([0-9.]+)$", output_of([*words, ROWS])[0], re.MULTILINE):
                samples[side][way].append(float(ns))
    return {side: {way: statistics.median(found) for way, found in ways.items()} for side, ways in samples.items()}


def show_ways(found):
    print(f"{'nanoseconds':28}" + "".join(f"{side:>15}" for side in found))
    for way, title in WAYS.items():
        print(f"{title:28}" + "".join(f"{ways[way]:15,.1f}" for ways in found.values()))


def show_round_trip():
    said, _ = output_of([*ON_HOSTS, TERRANE, "run", "-H", "h0,h1", UCX_ROWS, "eth0", "10", "2000"])
    us = re.search(r"polling_us=([0-9.]+)", said)
    if us:
        print(f"UCX's own round trip between the hosts, a page as its answer: {float(us[1]) * 1e3:,.0f} ns")


def seconds_of_kmeans(words, points):
    said, _ = output_of([*words, KMEANS, "2", str(points), "20"])
    return float(re.search(r"^time ([0-9.]+) s", said, re.MULTILINE)[1])


def show_one_node(points, turns):
    """Programs whose atomic operations no other node sees: replaced instructions over plain ones."""
    with tempfile.NamedTemporaryFile(dir=BUILD) as file:
        file.write(os.urandom(16 * MIB) * 8)
        file.flush()
        programs = {"k-means": lambda words: seconds_of_kmeans(words, points)}
        if shutil.which("pigz"):
            pigz = [shutil.which("pigz"), "-p", "2", "-k", "-f", file.name]
            programs["pigz"] = lambda words: output_of([*words, *pigz])[1]
        for name, seconds in programs.items():
            plain, ours = [], []
            for _ in range(turns):
                plain.append(seconds([]))
                ours.append(seconds([TERRANE, "threads", "-n", "1"]))
            plain, ours = statistics.median(plain), statistics.median(ours)
            print(f"{name}, one node with two threads: {ours:.3f} s, without Terrane {plain:.3f} s: {ours / plain:.2f} times")
        if os.path.exists(file.name + ".gz"):
            os.remove(file.name + ".gz")


def main():
    parser = argparse.ArgumentParser(prog="./run bench atomics", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5, help="runs of each side (default 5)")
    parser.add_argument("--points", type=int, default=4_000_000, help="of k-means (default 4 million)")
    parser.add_argument("--no-hosts", action="store_true", help="on this host alone")
    options = parser.parse_args()
    if options.points < 1000 or options.turns < 1:
        parser.error("--points: at least 1000; --turns: at least 1")
    sides = SIDES if options.no_hosts else {**SIDES, **HOST_SIDES}
    print(f"two threads, {os.cpu_count()} processors, medians of {options.turns} turns")
    show_ways(medians_of(sides, options.turns))
    if not options.no_hosts:
        show_round_trip()
    show_one_node(options.points, options.turns)


if __name__ == "__main__":
    main()
