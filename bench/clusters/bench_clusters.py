#!/usr/bin/env python3
"""What it gains to say which hosts form a cluster: 2 x 3 hosts of namespaces, a router between, with and without clusters.

Usage: ./run bench clusters [--latency US,...] [--rounds N] [--size N] [--link-rate RATE] [--only floors,barrier,...]
Needs root or user namespaces. Each job runs with clusters and with TERRANE_CLUSTERS=0, in turn, on the same hosts with the
same latency; figures are medians of three, and of one from 5 ms on. "Messages" are those over the link, in both
directions: of one barrier, and of one use of a lock that the three nodes of the second cluster use alone. The rows "floor: ..." come first: a client asks a
server in the other cluster for 4 KiB, and for 64 times as much at once, through a chain of two bare relays and without it;
"CPU s/GB" is what both relays use for a gigabyte. The row "stall" has a node that is stopped while another one puts to it
through gateways: what a gateway holds, and what a third node reaches beside it. The row "fill" has one pair of nodes, and a link
of 50 ms with and without figures in [[links]]. The rows "one cluster" are jobs on the
three hosts of a cluster, with --clusters that names them all, and without.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
STALL = os.path.join(BUILD, "bench/clusters/terrane_bench_stall_rows")
PUT = os.path.join(BUILD, "bench/clusters/terrane_bench_put_rows")
ROWS = os.path.join(BUILD, "bench/clusters/terrane_bench_cluster_rows")
LU = os.path.join(BUILD, "examples/lu/lu")
CHAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chain.py")
FILLED_LINK = os.path.join(os.path.dirname(CHAIN), "filled_link.py")
JACOBI = os.path.join(BUILD, "bench/reference/jacobi_terrane")
HOSTS = [f"h{n}" for n in range(6)]
GATEWAYS = ("--gateways", "a:h0/b:h3")
TURNS = 3
SLOW_US = 5000  # of a latency at which a job takes so long that once is enough
GOALS = {"barrier messages": "<= 2", "lock messages": "0", "LU": ">= 1.5x at 1 ms", "Jacobi": ">= 1.5x at 1 ms"}


FLOORS = {"floor: direct": ["--direct"], "floor: relays": [], "floor: relays, TLS": ["--tls"]}
BULK_BYTES = 2_000_000_000


def turns(latency):
    return 1 if latency >= SLOW_US else TURNS


def on_hosts(options, command, shape="2x3"):
    """What a command says, on standard output and on standard error, in the first of 2 x 3 hosts."""
    command = [TERRANE, "hosts", "--clusters", shape] + (["--link-rate", options.link_rate] if options.link_rate else []) + command
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
    return done.stdout, done.stderr


def run_job(options, latency, clusters, program, gateways=()):
    """What a job on 2 x 3 hosts says on standard output and on standard error, with its statistics."""
    return on_hosts(options, [
        TERRANE, "run", "-H", ",".join(HOSTS), "--clusters", f"a:{','.join(HOSTS[:3])}/b:{','.join(HOSTS[3:])}",
        *gateways, "--stats", "-x", f"TERRANE_TEST_LATENCY_US={latency}", "-x", f"TERRANE_CLUSTERS={int(clusters)}"] + program)


def run(options, latency, clusters, program, gateways=()):
    """The output of a job on 2 x 3 hosts, and how many messages its nodes sent over the link."""
    out, said = run_job(options, latency, clusters, program, gateways)
    sent = re.findall(r"to other clusters: (\d+) messages", said)
    return out, sum(map(int, sent))


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
    for _ in range(turns(latency)):
        for clusters, samples in taken.items():
            samples.append(measure(clusters))
    middle = {clusters: [statistics.median(column) for column in zip(*samples)] for clusters, samples in taken.items()}
    ours, flat = middle[True], middle[False]
    messages = f"{ours[1]:9.2f} {flat[1]:9.2f}" if len(ours) > 1 else f"{'':9} {'':9}"
    goal = GOALS.get(name) or GOALS.get(f"{name} messages", "")
    print(f"{latency:8} {name:8} {ours[0]:12.1f} {flat[0]:12.1f} {flat[0] / ours[0]:7.2f} {messages}  {goal}", flush=True)


def measure_floor(options, latency, words):
    """Microseconds of a read of 4 KiB and of 64 at once; without latency also GB/s there and back, CPU seconds a gigabyte."""
    rounds = max(30, min(1000, 1_000_000 // (2 * latency + 100)))
    out, _ = on_hosts(options, [CHAIN, *words, "--delay", str(latency), "--rounds", str(rounds), "--page-rounds", str(rounds // 5)])
    figures = [number(r"read_us=([\d.]+)", out), number(r"pages_us=([\d.]+)", out)]
    if latency == 0 and not options.link_rate:
        out, _ = on_hosts(options, [CHAIN, *words, "--bulk", str(BULK_BYTES)])
        figures += [number(r"there_gbs=([\d.]+)", out), number(r"back_gbs=([\d.]+)", out),
                    number(r"relays_cpu_s=([\d.]+)", out) / (2 * BULK_BYTES / 1e9)]
    return figures


def measure_read(options, latency, reader, home, gateways=()):
    """Microseconds of a read of a page, and of 64 at once, by node `reader` from node `home`, which are second hosts."""
    rounds = max(30, min(1000, 1_000_000 // (2 * latency + 100)))
    out, _ = run(options, latency, True, [ROWS, "read", str(rounds), str(reader), str(home)], gateways)
    return [number(r"read_us=([\d.]+)", out), number(r"pages_us=([\d.]+)", out)]


def measure_gateways(options):
    """Processor seconds of both gateways for a gigabyte of pages."""
    _, said = run_job(options, 0, True, [ROWS, "bulk", "1024", "1", "4"], GATEWAYS)
    return sum(map(float, re.findall(r"gateway .* ([\d.]+) s of a processor", said))) / 1.074


def show_reads(options, latencies, ways):
    """A table of what reads across the link cost by each way: its name, and what measures it once. Returns the medians."""
    medians = {}
    print(f"{'us':>8} {'what':20} {'4 KiB us':>12} {'64 of it us':>12} {'GB/s':>7} {'back':>7} {'CPU s/GB':>9}")
    for latency in latencies:
        taken = {name: [] for name in ways}
        for _ in range(turns(latency)):
            for name, measure in ways.items():
                taken[name].append(measure(latency))
        for name, samples in taken.items():
            middle = medians[latency, name] = [statistics.median(column) for column in zip(*samples)]
            bulk = "".join(f" {figure:{width}.2f}" for figure, width in zip(middle[2:], (7, 7, 9)))
            print(f"{latency:8} {name:20} {middle[0]:12.1f} {middle[1]:12.1f}{bulk}", flush=True)
    return medians


def show_floors(options, latencies):
    ways = {name: lambda latency, words=words: measure_floor(options, latency, words) for name, words in FLOORS.items()}
    ways |= {
        "pages: same cluster": lambda latency: measure_read(options, latency, 1, 2),
        "pages: routed by IP": lambda latency: measure_read(options, latency, 1, 4),
        "pages: gateways": lambda latency: measure_read(options, latency, 1, 4, GATEWAYS),
        "pages: encrypted": lambda latency: measure_read(options, latency, 1, 4, (*GATEWAYS, "--encrypt")),
    }
    medians = show_reads(options, [0, *latencies], ways)
    for latency in [0, *latencies]:
        ours, floor = medians[latency, "pages: gateways"], medians[latency, "floor: relays, TLS"]
        trips = f", 64 pages {ours[1] / (2 * latency):.2f} round trips" if latency else ""
        print(f"at {latency} us: a page by gateways / relays with TLS {ours[0] / floor[0]:.2f}x{trips}", flush=True)
    floor = medians[0, "floor: relays, TLS"]
    if len(floor) > 4:
        cpu = statistics.median(measure_gateways(options) for _ in range(TURNS))
        print(f"gateways: {cpu:.2f} CPU s/GB, {cpu / floor[4]:.2f}x of relays with TLS", flush=True)


# The multi-cluster paper, 8 bytes in us: same cluster, other cluster; and LU 1200 x 1200 in s by clusters x nodes.
PAPER = {"read": (208, 1358), "write": (200, 1161), "barrier": (None, 969)}
PAPER_LU = {(1, 1): 42.5, (1, 2): 21.7, (1, 3): 14.7, (2, 1): 23.8, (2, 2): 14.3, (2, 3): 11.7}


def run_lu(options, clusters, nodes):
    """Seconds of LU 1200 x 1200 on so many nodes of each of so many clusters; gateways between."""
    hosts = [[f"h{3 * cluster + node}" for node in range(nodes)] for cluster in range(clusters)]
    names = [name for cluster in hosts for name in cluster]
    words = ["-H", ",".join(names)]
    if clusters > 1:
        words += ["--clusters", "/".join(f"c{n}:{','.join(one)}" for n, one in enumerate(hosts)),
                  "--gateways", "/".join(f"c{n}:{one[0]}" for n, one in enumerate(hosts))]
    out, _ = on_hosts(options, [TERRANE, "run", *words, LU, "--generate", "1200"])
    return number(r"factored in ([\d.]+) s", out)


def show_paper(options):
    """What the paper measured on 2 x 4 machines, and the same here without added latency."""
    near, far, barrier = [], [], []
    for _ in range(TURNS):
        for home, samples in ((2, near), (4, far)):
            out, _ = run(options, 0, True, [ROWS, "read", "500", "1", str(home)], GATEWAYS)
            samples.append((number(r"read_us=([\d.]+)", out), number(r"write_us=([\d.]+)", out)))
        out, _ = run(options, 0, True, [ROWS, "barrier", "200"], GATEWAYS)
        barrier.append(number(r"ns=(\d+)", out) / 1e3)
    columns = [[statistics.median(column) for column in zip(*samples)] for samples in (near, far)]
    ours = {"read": (columns[0][0], columns[1][0]), "write": (columns[0][1], columns[1][1]),
            "barrier": (None, statistics.median(barrier))}
    print(f"{'8 bytes, us':12} {'same cluster':>13} {'paper':>7} {'other cluster':>14} {'paper':>7}")
    for name, paper in PAPER.items():
        cells = [f"{'' if figure is None else f'{figure:.1f}'}" for figure in (ours[name][0], paper[0], ours[name][1], paper[1])]
        print(f"{name:12} {cells[0]:>13} {cells[1]:>7} {cells[2]:>14} {cells[3]:>7}", flush=True)
    print(f"{'LU 1200':12} {'s':>13} {'paper s':>7} {'gain over 1x1':>14} {'paper':>7}")
    taken = {grid: [] for grid in PAPER_LU}
    for _ in range(TURNS):
        for grid, samples in taken.items():
            samples.append(run_lu(options, *grid))
    times = {grid: statistics.median(samples) for grid, samples in taken.items()}
    for (clusters, nodes), paper in PAPER_LU.items():
        ours = times[clusters, nodes]
        print(f"{clusters} x {nodes:<8} {ours:13.3f} {paper:7.1f} {times[1, 1] / ours:14.2f} {PAPER_LU[1, 1] / paper:7.2f}", flush=True)


STALL_SECONDS = 3.0
WINDOW_BYTES, PAIRS = 4 << 20, 18  # of a pair of nodes, and pairs of nodes that a gateway serves


def measure_stall(options, stalls):
    """What PE 2 reaches beside it, MB/s; what a gateway holds at most, MB; its memory at most, MB."""
    out, said = run_job(options, 0, True, [STALL, str(STALL_SECONDS), str(int(stalls))], (*GATEWAYS, "--heartbeat", "20"))
    held = re.findall(r"held ([\d.]+) MB at most", said)
    memory = re.findall(r"([\d]+) MB of memory at most", said)
    return [number(r"mbs=([\d.]+)", out), max(map(float, held)), max(map(float, memory))]


def show_stall(options):
    taken = {False: [], True: []}
    for _ in range(TURNS):
        for stalls, samples in taken.items():
            samples.append(measure_stall(options, stalls))
    alone, beside = ([statistics.median(column) for column in zip(*taken[stalls])] for stalls in (False, True))
    budget = WINDOW_BYTES * PAIRS / 1e6
    print(f"stall: others at {beside[0] / alone[0]:.2f}x ({beside[0]:.0f} of {alone[0]:.0f} MB/s, goal >= 0.9x); a gateway "
          f"holds {beside[1]:.1f} MB at most, {beside[1] / budget:.2f}x of its budget {budget:.1f} MB (goal <= 1.1x; "
          f"{alone[1]:.1f} MB without the stall), its memory {beside[2]:.0f} MB ({alone[2]:.0f})", flush=True)


FILL_US, FILL_RATE, FILL_MB = 50_000, "1gbit", "256"


def show_fill(options):
    """What one pair reaches over a link that holds more than a window, with and without the link's figures."""
    taken = {False: [], True: []}
    for _ in range(TURNS):
        for figures, samples in taken.items():
            words = ["--link", FILL_RATE] if figures else []
            out, _ = on_hosts(options, [FILLED_LINK, "--delay", str(FILL_US), *words, PUT, FILL_MB], "2x1")
            samples.append(number(r"mbs=([\d.]+)", out))
    plain, ours = statistics.median(taken[False]), statistics.median(taken[True])
    print(f"fill: one pair, {FILL_US / 1000:.0f} ms one way: {ours:.1f} MB/s with {FILL_RATE} in [[links]], {plain:.1f} without: "
          f"{ours / plain:.2f}x", flush=True)


def show_one_cluster(options):
    """A job on the hosts of one cluster, with and without --clusters: barrier in us, LU and Jacobi in ms."""
    hosts = ",".join(HOSTS[:3])
    programs = {
        "barrier": ([ROWS, "barrier", "3000"], r"ns=(\d+)", 1e-3),
        "LU": ([LU, "--generate", str(options.size)], r"factored in ([\d.]+) s", 1e3),
        "Jacobi": ([JACOBI, "--size", str(options.size)], r"total_us=([\d.]+)", 1e-3),
    }
    for name, (program, pattern, scale) in programs.items():
        taken = {True: [], False: []}
        for turn in range(2 * TURNS + 1):
            for clusters in (True, False) if turn % 2 else (False, True):
                words = ["--clusters", f"a:{hosts}"] if clusters else []
                out, _ = on_hosts(options, [TERRANE, "run", "-H", hosts, *words] + program)
                taken[clusters].append(number(pattern, out) * scale)
        ours, plain = statistics.median(taken[True]), statistics.median(taken[False])
        print(f"one cluster: {name} {ours:.2f}, without --clusters {plain:.2f}: {ours / plain:.3f}x (goal <= 1.02x; least "
              f"{min(taken[True]):.2f} and {min(taken[False]):.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./run bench clusters", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", default="100,1000,10000", help="one way between the clusters, us (default 100,1000,10000)")
    parser.add_argument("--rounds", type=int, default=50, help="barriers and uses of a lock (default 50)")
    parser.add_argument("--size", type=int, default=600, help="rows of the matrix of LU and of the grid of Jacobi (default 600)")
    parser.add_argument("--link-rate", default="", help="limit of the link, as tc writes it")
    parser.add_argument("--only", default="floors,paper,stall,fill,one,barrier,lock,LU,Jacobi", help="which rows")
    options = parser.parse_args()
    only, latencies = options.only.split(","), list(map(int, options.latency.split(",")))
    if "floors" in only:
        show_floors(options, latencies)
    if "paper" in only:
        show_paper(options)
    if "stall" in only:
        show_stall(options)
    if "fill" in only:
        show_fill(options)
    if "one" in only:
        show_one_cluster(options)
    if not set(only) - {"floors", "paper", "stall", "fill", "one"}:
        return
    print(f"{'us':>8} {'what':8} {'clusters us':>12} {'without us':>12} {'gain':>7} {'messages':>9} {'without':>9}  goal")
    for latency in latencies:
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
