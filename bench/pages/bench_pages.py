#!/usr/bin/env python3
"""The rows of page coherence, each beside its floor, and Jacobi beside MPI and threads; all in one run.

Usage: ./run bench pages [--transport shm|ucx] [--rounds N] [--quick]
With ucx everything goes over tcp (the loopback interface), MPI too, and the floor of what needs a message is UCX's own
request and reply.
Programs of the two sides run in turn; figures are medians. The machine's speed drifts: trust the ratios.
"""
import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
GOALS = {  # ours / floor, or nanoseconds where the floor says "goal"
    "read-fault-warm": "<= 1.3x", "read-fault-cold": "printed", "write-fault": "<= 1000 ns",
    "release-full-page": "printed", "release-scattered": "<= 1.2x", "barrier-nothing-tracked": "<= 2x",
    "barrier-per-tracked-page": "<= 3 ns",
}
NETWORK_GOALS = {"read-fault-warm": "<= 1.5x", "read-run": "printed", "barrier-nothing-tracked": "<= 2x MPI's"}
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "--mca", "btl_base_warn_component_unused", "0"]
MPI_TCP = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]


class Over:
    """What a transport's name means to each side."""

    def __init__(self, transport):
        self.network = transport == "ucx"
        self.terrane = [TERRANE, "run"] + (["--transport", "ucx"] if self.network else [])
        self.mpirun = MPIRUN + (MPI_TCP if self.network else [])
        self.goals = GOALS | (NETWORK_GOALS if self.network else {})


def run(command, seconds=120):
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
    return done.stdout


def pairs(line):
    return dict(part.split("=", 1) for part in line.split() if "=" in part)


def rows(lines, key):
    return [p for p in (pairs(line) for line in lines.splitlines()) if key in p]


def page_rows(rounds, over):
    print(f"{'row':26} {'threads':>7} {'home':>10} {'ours ns':>10} {'floor ns':>10} {'ratio':>7}  goal        floor")
    for threads in ("1", "2"):
        for home in ("polling", "computing"):
            out = run(over.terrane + ["-n", "2", os.path.join(BUILD, "bench/pages/terrane_bench_pages_rows"),
                                      "--threads", threads, "--home", home, "--rounds", str(rounds),
                                      "--over", "network" if over.network else "shm"])
            for row in rows(out, "row"):
                ours, floor = float(row["ours"]), float(row["floor"])
                print(f"{row['row']:26} {threads:>7} {home:>10} {ours:10.1f} {floor:10.1f} {ours / floor:7.2f}  "
                      f"{over.goals.get(row['row'], ''):11} {row['floor_name']}")


def mpi_barrier(rounds, over):
    mpi = os.path.join(BUILD, "bench/reference/barrier_mpi")
    if not (shutil.which("mpirun") and os.path.exists(mpi)):
        return
    samples = [float(row["barrier_ns"]) for _ in range(rounds) for row in rows(run(over.mpirun + [mpi]), "barrier_ns")]
    print(f"{'MPI_Barrier, 2 ranks':26} {'1':>7} {'polling':>10} {statistics.median(samples):10.1f}")


def lock_rows(times, over):
    # A node that comes back for the lock keeps it for some turns: the median of all turns is one of these.
    print(f"\n{'lock hand-off, all nodes contend':34} {'median us':>10} {'moved us':>10} {'p99 us':>10} {'p99/moved':>10} {'overtaken':>10}  goal")
    for nodes in (2, 4, 8):
        out = run(over.terrane + ["-n", str(nodes), os.path.join(BUILD, "bench/pages/terrane_bench_lock_rows"),
                                  "--times", str(times)])
        for row in rows(out, "row"):
            median, moved, p99 = (int(row[name]) / 1e3 for name in ("median", "moved_median", "p99"))
            print(f"{nodes} nodes{'':27} {median:10.2f} {moved:10.2f} {p99:10.2f} {p99 / moved:10.1f} "
                  f"{row['most_overtaken']:>10}  p99 <= 20x")


def lock_cost_rows(turns, over):
    """Locks that one node alone uses, and such as both want, each with a page of data."""
    figures = {}
    for _ in range(turns):
        for row in rows(run(over.terrane + ["-n", "2", os.path.join(BUILD, "bench/pages/terrane_bench_lock_cost_rows")]), "row"):
            kind = f"lock of one node, {row['copies']} copies" if "copies" in row else f"{row['locks']} of both, a page each"
            figures.setdefault(kind, []).append(float(row["ns"]))
    print(f"\n{'lock and unlock, 2 nodes':34} {'us':>10}  goal")
    for kind, times in figures.items():
        goal = "<= 0.5 us" if "copies" in kind else "<= 10 us" if kind.startswith("1 ") else "printed"
        print(f"{kind:34} {statistics.median(times) / 1e3:10.2f}  {goal}")


def pattern_rows(repeat, over):
    out = run(over.terrane + ["-n", "2", "--bind-to", "core", os.path.join(BUILD, "bench/pages/terrane_bench_pattern_rows"),
                              "--repeat", str(repeat)], 600)
    figures = {(row["pattern"], row["protocol"], row["propagation"]): float(row["us"]) for row in rows(out, "pattern")}
    kinds = ("invalidate", "update", "adaptive")
    print(f"\n{'sharing, us a round':24} {'protocol':>8} " + " ".join(f"{kind:>10}" for kind in kinds) +
          "  adaptive / the better (goal <= 1.1 for hlrc)")
    for pattern, protocol in dict.fromkeys(key[:2] for key in figures):
        times = [figures[pattern, protocol, kind] for kind in kinds]
        print(f"{pattern:24} {protocol:>8} " + " ".join(f"{time:10.1f}" for time in times) +
              f"  {times[2] / min(times[:2]):.2f}x")
    print(f"\n{'atomic operations, ns':34} {'2 nodes':>10}")
    for line in out.splitlines():
        found = re.match(r"atomic=(.*) ns=([0-9.]+) right=([01])", line)
        if found:
            print(f"{found[1]:34} {float(found[2]):10.1f}{'' if found[3] == '1' else '  WRONG SUM'}")


def jacobi_programs(over):
    reference = os.path.join(BUILD, "bench/reference")
    programs = {
        "terrane, 2 nodes": over.terrane + ["-n", "2", "--bind-to", "core", os.path.join(reference, "jacobi_terrane")],
        "threads, 2": [os.path.join(reference, "jacobi_threads"), "--threads", "2"],
        "threads, 1": [os.path.join(reference, "jacobi_threads"), "--threads", "1"],
        "terrane, 1 node x 2 threads": [TERRANE, "run", "-n", "1", os.path.join(reference, "jacobi_terrane"),
                                        "--threads", "2"],
        "terrane, 8 nodes": over.terrane + ["-n", "8", os.path.join(reference, "jacobi_terrane")],
    }
    mpi = os.path.join(reference, "jacobi_mpi")
    if shutil.which("mpirun") and os.path.exists(mpi):
        programs["MPI, 2 ranks"] = over.mpirun + ["--bind-to", "core", mpi]
    return programs


@contextlib.contextmanager
def low_priority_work():
    """Beside what runs meanwhile, each processor has a program of low priority that computes."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.nice(10))
            for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def jacobi(rounds, over, init, iterations, programs):
    samples = {name: {} for name in programs}
    sums = set()
    for _ in range(rounds):
        for name, command in programs.items():
            for row in rows(run(command + ["--init", init, "--iterations", str(iterations)]), "median_us"):
                sums.add(row["checksum"])
                for key in ("median_us", "from3_us", "total_us"):
                    samples[name].setdefault(key, []).append(float(row[key]))
    medians = {name: {key: statistics.median(values) for key, values in found.items()} for name, found in samples.items()}
    print(f"{rounds} rounds in turn, medians in us; results {'equal' if len(sums) == 1 else 'DIFFER'}")
    print(f"{'program':30} {'an iteration':>13} {'iterations 3 on':>16} {'total':>10}")
    for name, found in medians.items():
        print(f"{name:30} {found['median_us']:13.1f} {found['from3_us']:16.1f} {found['total_us']:10.1f}")
    if "MPI, 2 ranks" in medians:
        ours, theirs = medians["terrane, 2 nodes"], medians["MPI, 2 ranks"]
        print(f"terrane / MPI: an iteration {ours['median_us'] / theirs['median_us']:.2f}x, iterations 3 on "
              f"{ours['from3_us'] / theirs['from3_us']:.2f}x, total {ours['total_us'] / theirs['total_us']:.2f}x")
    if "terrane, 8 nodes" in medians:
        eight, two = medians["terrane, 8 nodes"]["median_us"], medians["terrane, 2 nodes"]["median_us"]
        print(f"an iteration, 8 nodes / 2 nodes: {eight / two:.1f}x (goal <= 20x)")


def jacobi_rows(rounds, over):
    programs = jacobi_programs(over)
    pairs_alone = {name: command for name, command in programs.items() if name.endswith((", 2", "2 nodes", "2 ranks"))}
    print("\nJacobi 1024 x 1024 x 50, homes by first touch (goal: iterations 3 on <= 1.1x MPI)")
    jacobi(rounds, over, "own", 50, programs)
    if over.network:
        print("\nthe same, 200 iterations")
        jacobi(rounds, over, "own", 200, pairs_alone)
    iterations = 200 if over.network else 50
    print(f"\nJacobi 1024 x 1024 x {iterations}, the master initialises (goal: total <= 1.3x MPI)")
    jacobi(rounds, over, "master", iterations, programs)
    print("\nJacobi 1024 x 1024 x 50, homes by first touch, beside a program of low priority on each processor")
    with low_priority_work():
        jacobi(rounds, over, "own", 50, pairs_alone)


def sort_rows(rounds, over, mib):
    sort = os.path.join(BUILD, "examples/sort/sort_large")
    samples = {"": [], f"{mib // 3}M": []}
    evicted = 0
    for _ in range(rounds):
        for limit, times in samples.items():
            out = run(over.terrane + ["-n", "4"] + (["--memory", limit] if limit else []) + [sort, str(mib)])
            found = re.search(r"sorted in ([0-9.]+) s, ([0-9]+) copies evicted: right", out)
            times.append(float(found[1]))
            evicted = max(evicted, int(found[2]))
    whole, short = (statistics.median(times) for times in samples.values())
    print(f"\nsort of {mib} MiB on 4 nodes, {rounds} rounds in turn: {whole:.2f} s without a limit, "
          f"{short:.2f} s with {mib // 3} MiB a node ({short / whole:.2f}x, {evicted} copies evicted)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transport", choices=("shm", "ucx"), default="shm", help="what pages travel by (default shm)")
    parser.add_argument("--rounds", type=int, default=25, help="samples a row (default 25)")
    parser.add_argument("--quick", action="store_true", help="few samples: does it run?")
    options = parser.parse_args()
    rounds = 5 if options.quick else options.rounds
    over = Over(options.transport)
    page_rows(rounds, over)
    mpi_barrier(2 if options.quick else 5, over)
    lock_rows(200 if options.quick else 2000, over)
    lock_cost_rows(1 if options.quick else 5, over)
    pattern_rows(1 if options.quick else 9, over)
    jacobi_rows(2 if options.quick else 9, over)
    sort_rows(1 if options.quick else 5, over, 24 if options.quick else 192)


if __name__ == "__main__":
    main()
