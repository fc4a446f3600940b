#!/usr/bin/env python3
"""k-means (examples/threads/kmeans.cpp, unmodified) by threads, by terrane threads on two nodes, and by MPI.

Usage: ./run bench threads [--points N] [--turns N] [--hosts]
Each side has two workers. A figure is the median over the turns, in which the sides run one after another, of the
program's own time: all rounds, and what it takes to bring the points to the second worker, but not to make them. MPI
scatters them. Then two threads write lines (bench/reference/lines_threads.c). --hosts: the same on two hosts made of namespaces, by tcp, too; that needs root or user namespaces.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
KMEANS = os.path.join(BUILD, "bench/reference/kmeans_threads")
LINES = os.path.join(BUILD, "bench/reference/lines_threads")
WAYS = {"one": "one thread", "all": "unordered", "lock": "under a mutex", "turns": "in turns"}
KMEANS_MPI = os.path.join(BUILD, "bench/reference/kmeans_mpi")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "--mca", "btl_base_warn_component_unused", "0"]
MPI_TCP = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
ROUNDS = 20  # at most; the points need fewer


def sides(points, hosts):
    """Name -> command."""
    threads, mpi = [KMEANS, "2", str(points), str(ROUNDS)], [KMEANS_MPI, str(points), str(ROUNDS)]
    found = {"1 thread": [KMEANS, "1", str(points), str(ROUNDS)], "2 threads": threads,
             "2 nodes": [TERRANE, "threads", "-n", "2", "--placement", "1", *threads]}
    has_mpi = shutil.which("mpirun") and os.path.exists(KMEANS_MPI)
    if has_mpi:
        found["MPI"] = [*MPIRUN, *mpi]
    else:
        print("without MPI: install the Debian packages openmpi-bin and libopenmpi-dev and build again")
    if hosts:
        on_hosts = [TERRANE, "hosts", "-n", "2", "--"]
        found["2 hosts"] = [*on_hosts, TERRANE, "threads", "-H", "h0,h1", "--placement", "1", *threads]
        if has_mpi:
            agent = ["--mca", "plm_rsh_agent", os.path.join(BUILD, "bin/enter_host"), "--host", "h0,h1"]
            found["MPI, 2 hosts"] = [*on_hosts, *MPIRUN, *MPI_TCP, *agent, *mpi]
    return found


def run(command):
    """The program's time in seconds, and the centres that it found."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        sys.exit(f"bench: HANGS: {' '.join(command)} had not ended after 300 s")
    time = re.search(r"^time ([0-9.]+) s", done.stdout, re.MULTILINE)
    if done.returncode != 0 or time is None:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    centres = [[round(float(number), 4) for number in line]
               for line in re.findall(r"^cluster \d+: (\S+) (\S+)$", done.stdout, re.MULTILINE)]
    return float(time[1]), centres


def time_of_lines(command, way, lines, into_file):
    """Microseconds a line of two threads."""
    with tempfile.NamedTemporaryFile() as file:
        words = [*command, LINES, way, str(lines)] + ([file.name] if into_file else [])
        done = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, text=True, timeout=300)
        written = sum(1 for _ in open(file.name, "rb"))
    time = re.search(r"^time ([0-9.]+) s", done.stderr, re.MULTILINE)
    count = lines if way == "one" else 2 * lines
    if done.returncode != 0 or time is None or written != count:
        sys.exit(f"bench: {' '.join(words)} failed with {done.returncode}, {written} lines:\n{done.stderr}")
    return float(time[1]) / count * 1e6


def print_lines(lines, turns):
    """A table of what a line costs."""
    two = [TERRANE, "threads", "-n", "2", "--placement", "1"]
    print(f"microseconds a line of two threads, medians of {turns} turns")
    print(f"{'':30} {'2 threads':>10} {'2 nodes':>10}")
    for into_file, title in ((False, "standard output"), (True, "a file of main's")):
        for way, name in WAYS.items():
            count = lines // 20 if way == "turns" or (into_file and way == "lock") else lines
            figures = [statistics.median(time_of_lines(command, way, count, into_file) for _ in range(turns))
                       for command in ([], two)]
            print(f"{title + ', ' + name:30} {figures[0]:10.2f} {figures[1]:10.2f}")


def main():
    parser = argparse.ArgumentParser(prog="./run bench threads", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10_000_000, help="how many (default 10 million)")
    parser.add_argument("--lines", type=int, default=100_000, help="that each thread writes (default 100,000)")
    parser.add_argument("--turns", type=int, default=5, help="runs of each side (default 5)")
    parser.add_argument("--hosts", action="store_true", help="on two hosts, too")
    options = parser.parse_args()
    if options.points < 1000 or options.turns < 1:
        parser.error("--points: at least 1000; --turns: at least 1")
    found = sides(options.points, options.hosts)
    samples, centres = {name: [] for name in found}, {}
    for _ in range(options.turns):
        for name, command in found.items():
            seconds, centres[name] = run(command)
            samples[name].append(seconds)
    print(f"k-means of {options.points} points, {os.cpu_count()} processors, medians of {options.turns} turns")
    print(f"{'':14} {'seconds':>9} {'/ 2 threads':>12} {'/ MPI':>8}")
    medians = {name: statistics.median(values) for name, values in samples.items()}
    for name, seconds in medians.items():
        mpi = medians.get("MPI, 2 hosts" if "host" in name else "MPI")
        print(f"{name:14} {seconds:9.3f} {seconds / medians['2 threads']:12.2f} {seconds / mpi if mpi else float('nan'):8.2f}")
    differ = [name for name in found if centres[name] != centres["1 thread"]]
    print(f"centres that differ from those of one thread: {', '.join(differ) if differ else 'none'}")
    print_lines(options.lines, options.turns)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
