#!/usr/bin/env python3
"""NPB's OpenMP programs, unmodified, on 2 nodes, beside gcc's library with 2 threads, and beside NPB's own MPI programs.

Usage: ./run bench npb --npb DIR [--class S|W|A] [--only LU,IS] [--turns N] [--ways host,tcp,link] [--no-counters]
DIR has folders NPB3.x-OMP and NPB3.x-MPI (NPB 3.3 or 3.4), which are copied, built elsewhere and not changed; nothing is
downloaded. The sides take turns; a figure is the median of the program's own time, in seconds, and each run must verify its
result. "host": two processes of this machine. "tcp": two hosts made of namespaces (root or user namespaces). "link": those
with 0.1 ms of delay each way, where the kernel has netem. BT and SP have no MPI side: two ranks are no square.
Then the counters of one more run of ours on the host (--stats), and what a whole run sends over the interface of a host.
"""
import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import reports
import sources

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
PROGRAMS = ("EP", "MG", "CG", "FT", "IS", "LU", "SP", "BT")
TIMEOUT = 600
DELAY_US = 100
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "--mca", "btl_base_warn_component_unused", "0"]
MPI_HOSTS = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--host", "h0,h1",
             "--mca", "plm_rsh_agent", os.path.join(BUILD, "bin/enter_host")]
# Ours over the peer, at most.
GOALS = {"host": {"EP": 1.0, "MG": 1.05, "CG": 1.1, "FT": 1.1, "IS": 1.5, "LU": 1.3},
         "tcp": {"CG": 0.65, "MG": 1.1, "FT": 1.2, "IS": 1.5, "LU": 1.5},
         "libgomp": {"BT": 1.1, "SP": 1.2},
         "wire": {"FT": 1.3, "IS": 1.3, "CG": 1.3, "MG": 1.3}}
# On the first host: $1 is a delay in us or 0; the rest is a command. What eth0 carried for it, both ways, is said at the end.
ON_HOSTS = """
delay=$1
shift
if [ "$delay" != 0 ]; then
  for host in h0 h1; do "$TERRANE_RSH" --here $host tc qdisc add dev eth0 root netem delay "${delay}us" || exit 77; done
fi
bytes() { awk '$1 == "eth0:" { printf "%.0f", $2 + $10 }' /proc/net/dev; }
before=$(bytes)
"$@" || exit
echo "wire $(($(bytes) - before))"
"""


def on_hosts(folder, delay):
    return [TERRANE, "hosts", "-n", "2", "--share", folder, "--", "sh", os.path.join(folder, "on_hosts.sh"), str(delay)]


def commands(folder, ways, programs):
    """(way, side) -> the words that start a program."""
    found = {}
    if "host" in ways:
        found["host", "libgomp"] = [programs["libgomp"]]
        found["host", "ours"] = [TERRANE, "omp", "-n", "2", "--threads", "1", "--", programs["ours"]]
        if programs.get("MPI"):
            found["host", "MPI"] = [*MPIRUN, programs["MPI"]]
    for way, delay in (("tcp", 0), ("link", DELAY_US)):
        if way in ways:
            start = on_hosts(folder, delay)
            found[way, "ours"] = [*start, TERRANE, "omp", "-H", "h0,h1", "--threads", "1", "--", programs["ours"]]
            if programs.get("MPI"):
                found[way, "MPI"] = [*start, *MPIRUN, *MPI_HOSTS, programs["MPI"]]
    return found


def run(command, folder):
    """The program's seconds, and what it and Terrane said. reports.Wrong: why there is no figure."""
    environment = dict(os.environ, OMP_NUM_THREADS="2")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=environment, cwd=folder)
    except subprocess.TimeoutExpired:
        raise reports.Wrong("HANGS") from None
    said = done.stdout + done.stderr
    try:
        if done.returncode != 0:
            raise reports.Wrong("FAILS")
        return reports.seconds(done.stdout), said
    except reports.Wrong:
        print(f"bench: {' '.join(command)}: exit code {done.returncode}\n{said}", file=sys.stderr)
        raise


def measure(started, turns, folder):
    """Two tables by (way, side): median seconds, or a word that says what went wrong; and bytes of the wire."""
    times, bytes_ = {key: [] for key in started}, {key: [] for key in started}
    for _ in range(turns):
        for key, command in started.items():
            if isinstance(times[key], str):
                continue
            try:
                taken, said = run(command, folder)
            except reports.Wrong as wrong:
                times[key] = str(wrong)
                continue
            times[key].append(taken)
            bytes_[key].append(reports.wire_bytes(said))
    seconds = {key: value if isinstance(value, str) else statistics.median(value) for key, value in times.items()}
    wire = {key: statistics.median(value) for key, value in bytes_.items() if value and None not in value}
    return seconds, wire


def ratio(one, other):
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float)) and other > 0
    return one / other if numbers else None


def cell(value, width, form=".2f"):
    return f"{'-' if value is None else value if isinstance(value, str) else format(value, form):>{width}}"


def missed(goals, program, value):
    goal = GOALS[goals].get(program)
    return f"  {goals} > {goal}" if goal is not None and value is not None and value > goal else ""


def print_titles(ways):
    print(f"{'':4} {'host:':>9} {'':>9} {'':>9} {'ours /':>8} {'ours /':>8}"
          + "".join(f" {title:>9} {'':>9} {'ours /':>8}" for way, title in (("tcp", "2 hosts:"), ("link", "0.1 ms:")) if way in ways))
    print(f"{'':4} {'libgomp':>9} {'ours':>9} {'MPI':>9} {'libgomp':>8} {'MPI':>8}"
          + "".join(f" {'ours':>9} {'MPI':>9} {'MPI':>8}" for way in ("tcp", "link") if way in ways) + "  missed", flush=True)


def print_row(program, ways, seconds):
    """The times of a program; True: all its runs were right."""
    ours, threads, mpi = (seconds.get(("host", side)) for side in ("ours", "libgomp", "MPI"))
    row = f"{program:4} {cell(threads, 9)} {cell(ours, 9)} {cell(mpi, 9)} {cell(ratio(ours, threads), 8)} {cell(ratio(ours, mpi), 8)}"
    late = missed("host", program, ratio(ours, mpi)) + missed("libgomp", program, ratio(ours, threads))
    for way in ("tcp", "link"):
        if way in ways:
            ours, mpi = seconds.get((way, "ours")), seconds.get((way, "MPI"))
            row += f" {cell(ours, 9)} {cell(mpi, 9)} {cell(ratio(ours, mpi), 8)}"
            late += missed("tcp", program, ratio(ours, mpi)) if way == "tcp" else ""
    print(row + late, flush=True)
    return not any(isinstance(value, str) for value in seconds.values())


def print_counters(counted, wires):
    print(f"\n{'':4} {'faults':>9} {'fetched':>9} {'flushed KiB':>12} {'messages':>9}   wire, MiB: {'ours':>9} {'MPI':>9} {'ours / MPI':>11}")
    for program, counters in counted.items():
        ours, mpi = (wires[program].get(("tcp", side)) for side in ("ours", "MPI"))
        times = ratio(ours, mpi)
        mib = [value / 2**20 if value is not None else None for value in (ours, mpi)]
        print(f"{program:4} {cell(counters.get('faults'), 9, 'd')} {cell(counters.get('fetched'), 9, 'd')} "
              f"{cell(counters.get('flushed KiB'), 12, 'd')} {cell(counters.get('messages'), 9, 'd')} {'':13} {cell(mib[0], 9, '.1f')} "
              f"{cell(mib[1], 9, '.1f')} {cell(times, 11)}{missed('wire', program, times)}", flush=True)


def count(program, folder):
    """The counters of one run of ours on this host; empty: it failed."""
    try:
        _, said = run([TERRANE, "omp", "-n", "2", "--threads", "1", "--stats", "--", program], folder)
    except reports.Wrong:
        return {}
    return reports.counters(said)


def ways_here(asked, folder):
    """Which of the ways there are on this machine; says why others are not."""
    ways = []
    for way in asked:
        delay = {"host": None, "tcp": 0, "link": DELAY_US}[way]
        probe = None if delay is None else subprocess.run([*on_hosts(folder, delay), "true"], capture_output=True, text=True)
        if probe is None or probe.returncode == 0:
            ways.append(way)
        else:
            print(f"without '{way}': {' '.join((probe.stderr or probe.stdout).split())}")
    return ways


def bench(options, folder, kinds, names):
    with open(os.path.join(folder, "on_hosts.sh"), "w", encoding="ascii") as file:
        file.write(ON_HOSTS)
    sides = [side for side in sources.SIDES if sources.SIDES[side].kind in kinds]
    for side in [side for side in sides if not sources.SIDES[side].are_here()]:
        if side != "MPI":
            sys.exit(f"bench: no {sources.SIDES[side].fortran} here: ./run bench finds terrane-gfortran; gfortran is a Debian package")
        print("without MPI: install the Debian packages openmpi-bin and libopenmpi-dev")
        sides.remove(side)
    if "MPI" not in kinds:
        print(f"without MPI: {options.npb} has no {os.path.basename(kinds['OMP']).replace('OMP', 'MPI')}")
    ways = ways_here(options.ways.split(","), folder)
    built = sources.Sources(kinds, folder, sides)
    print(f"{os.path.basename(kinds['OMP'])}, class {options.size}, seconds, medians of {options.turns} turns; {os.cpu_count()} processors")
    print_titles(ways)
    good, counted, wires = True, {}, {}
    for name in names:
        try:
            programs = {side: built.build(side, name, options.size) for side in sides}
        except RuntimeError as error:
            print(f"{name:4} {error}", flush=True)
            good = False
            continue
        seconds, wires[name] = measure(commands(folder, ways, programs), options.turns, folder)
        good = print_row(name, ways, seconds) and good
        if options.counters:
            counted[name] = count(programs["ours"], folder)
    if counted:
        print_counters(counted, wires)
    return good


def main():
    if sys.argv[1:] == ["--self-test"]:
        reports.self_test()
        print("bench_npb: nothing found")
        return
    parser = argparse.ArgumentParser(prog="./run bench npb", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npb", metavar="DIR", required=True, help="the folder with NPB3.x-OMP and NPB3.x-MPI")
    parser.add_argument("--class", dest="size", choices=("S", "W", "A"), default="A", help="of the problems (default A)")
    parser.add_argument("--only", default=",".join(PROGRAMS), help="which programs (default: all)")
    parser.add_argument("--ways", default="host,tcp,link", help="where: host, tcp, link (default: all)")
    parser.add_argument("--turns", type=int, default=5, help="runs of each side (default 5)")
    parser.add_argument("--no-counters", dest="counters", action="store_false", help="times alone")
    options = parser.parse_args()
    names = options.only.split(",")
    for what, given, known in (("--only: no program", names, PROGRAMS), ("--ways: no way", options.ways.split(","), ("host", "tcp", "link"))):
        for name in given:
            if name not in known:
                parser.error(f"{what} '{name}': {', '.join(known)}")
    if options.turns < 1:
        parser.error("--turns: at least 1")
    kinds = sources.find(options.npb)
    if isinstance(kinds, str):
        sys.exit(f"bench: {kinds}")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    folder = tempfile.mkdtemp(prefix="terrane_npb_", dir="/tmp")  # hosts share folders below /tmp
    try:
        good = bench(options, folder, kinds, names)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
