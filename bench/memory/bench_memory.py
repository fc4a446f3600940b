#!/usr/bin/env python3
"""Programs whose data exceed a host, on hosts of little memory: right or wrong, beside swap, and beside UCX itself.

Usage: ./run bench memory [--turns N] [--lookups N] [--only rows,speed] [--quick] [--host-mib N]
Hosts are namespaces of this machine, joined by tcp, each in a control group of memory of 288 MiB: 256 MiB, which --memory
says, and 32 MiB for Terrane's own text, tables and messages. Needs root. "at most" is what the control groups count.
--host-mib: rows with smaller hosts and as much less data; static arrays have one size, and are left out.
Rows: main fills all data and reads them. Speed: medians of turns, in which the sides run one after another: main of one
program on two hosts; the same program alone in a group of 256 MiB with a swap file of this machine; and messages of UCX
between the two hosts. Far data are those that the other host keeps. --quick: less of it, in less than a minute.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time

from swap_file import SwapFile

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
ROWS = os.path.join(BUILD, "bench/memory/terrane_bench_memory_")
NODE_MIB, OWN_MIB = 256, 32
GROUP_MIB = NODE_MIB + OWN_MIB
TIMEOUT = 300
# name, hosts, which of them lend, MiB of data
SHAPES = (("2 hosts", 2, 0, 400), ("4 hosts", 4, 0, 850), ("1 host, 2 lend", 3, 2, 550))
PROGRAMS = ("threads heap", "threads static", "threads mapping", "omp", "pages")
SPEED_MIB, FAR_MIB = 400, 160  # the oldest data leave first: these lie at the other host
GOALS = {"lookups": 3.0, "sweep": 1.0}  # times as fast as swap, at least
LEAST_OF_STREAM, MOST_OF_ROUND_TRIP = 0.7, 1.5


class Outcome:
    """What became of a command on hosts: error (empty: none), fields of its last line, seconds, peaks of the hosts in MiB."""

    def __init__(self, hosts, group_mib, words, swap=False):
        command = [TERRANE, "hosts", "-n", str(hosts), "--memory", f"{group_mib}M", *(["--swap"] if swap else []), "--", *words]
        begin = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.error, self.fields, self.peaks, self.seconds = "HANGS", {}, [], TIMEOUT
            return
        self.seconds = time.monotonic() - begin
        self.peaks = [float(mib) for mib in re.findall(r"^h\d+: at most ([\d.]+) MiB", done.stderr, re.MULTILINE)]
        self.fields = dict(word.split("=", 1) for line in done.stdout.splitlines()[-1:] for word in line.split())
        self.error = "" if done.returncode == 0 else f"FAILS with {done.returncode}: {reason_in(done.stderr)}"
        if not self.error and self.fields.get("wrong", "0") != "0":
            self.error = f"WRONG: {self.fields['wrong']} words"

    def seconds_of(self, part):
        return float(self.fields[part])


def reason_in(said):
    lines = [line for line in said.splitlines() if not re.match(r"h\d+: at most", line)]
    return lines[0] if lines else "it says nothing"


def command_of(program, hosts, lenders, host_mib, mib):
    """The words that start a program; None: there is none."""
    kind, _, memory = program.partition(" ")
    binary = {"threads": f"{ROWS}threads_{mib if memory == 'static' else 0}_rows"}.get(kind, f"{ROWS}{kind}_rows")
    if not os.path.exists(binary):
        return None
    names = [f"h{host}" for host in range(hosts)]
    where = ["-H", ",".join(names[:hosts - lenders])] + (["--lend", ",".join(names[hosts - lenders:])] if lenders else [])
    return [TERRANE, "run" if kind == "pages" else kind, *where, "--memory", f"{host_mib}M", binary, *([memory] if memory else []), str(mib)]


def show_rows(options):
    """True: all were right, and no host exceeded its group."""
    rows, bad, group = 0, 0, options.host_mib + OWN_MIB
    print(f"Hosts of {options.host_mib} MiB; main fills all data and reads them")
    print(f"{'':16} {'program':16} {'MiB':>4} {'result':7} {'seconds':>8}  at most, MiB of {group}, in h0, h1, ...")
    for name, hosts, lenders, full_mib in SHAPES:
        mib = full_mib * options.host_mib // NODE_MIB
        for program in PROGRAMS[:1] if options.quick and hosts == 4 else PROGRAMS:
            command = command_of(program, hosts, lenders, options.host_mib, mib)
            if command is None:
                print(f"{name:16} {program:16} {mib:4} none: it was not built here", flush=True)
                continue
            if lenders and program == "pages":
                print(f"{name:16} {program:16} {mib:4} none: such a program has a process on every node", flush=True)
                continue
            outcome = Outcome(hosts, group, command)
            over = any(peak > group for peak in outcome.peaks)
            rows, bad = rows + 1, bad + bool(outcome.error or over)
            result = outcome.error or ("OVER" if over else "right")
            print(f"{name:16} {program:16} {mib:4} {result:7} {outcome.seconds:8.2f}  "
                  + " ".join(f"{peak:.0f}" for peak in outcome.peaks), flush=True)
    print(f"rows that are wrong or exceed their control group: {bad} of {rows}")
    return bad == 0


def measure(options, swap):
    """{(side, part): median}: seconds of ours and of swap, what UCX reaches; and what went wrong."""
    program = f"{ROWS}threads_0_rows"
    words = [program, "heap", str(SPEED_MIB), str(options.lookups), "4", str(FAR_MIB), str(options.lookups // 10)]
    nodes = ["-H", "h0,h1", "--memory", f"{NODE_MIB}M"]
    sides = {"ours": lambda: Outcome(2, GROUP_MIB, [TERRANE, "threads", *nodes, *words]),
             "UCX": lambda: Outcome(2, GROUP_MIB, [TERRANE, "run", "-H", "h0,h1", f"{ROWS}ucx_rows", "eth0", "200", str(options.lookups // 10)])}
    if not swap.refused:
        sides["swap"] = lambda: Outcome(1, NODE_MIB, words, swap=True)
    samples = {}
    for _ in range(options.turns):
        for side, run in sides.items():
            outcome = run()
            if outcome.error:
                return {}, f"{side}: {outcome.error}"
            for part in outcome.fields:
                samples.setdefault((side, part), []).append(outcome.seconds_of(part))
    return {key: statistics.median(values) for key, values in samples.items()}, ""


def verdict(good):
    return "" if good else ": missed"


def show_speed(options):
    """True: nothing failed."""
    with SwapFile(BUILD, 2 * SPEED_MIB) as swap:
        found, error = measure(options, swap)
    if error:
        print(f"FAILS: {error}")
        return False
    print(f"\nmain fills and reads {SPEED_MIB} MiB on two hosts of {NODE_MIB} MiB; medians of {options.turns} turns")
    print(f"{'':34} {'ours':>9} {'swap':>9}   swap / ours")
    if swap.refused:
        print(f"no swap here: {swap.refused}")
    titles = {"fill": "fill, s", "sweep": "sweep, s", "lookups": "random lookup by main, us", "threads": "random lookup, 4 threads, us"}
    for part, title in titles.items():
        scale = 1e6 / options.lookups if "us" in title else 1
        ours, other = (found.get((side, part), float("nan")) * scale for side in ("ours", "swap"))
        goal = f"  goal >= {GOALS[part]}{verdict(other / ours >= GOALS[part])}" if part in GOALS and not swap.refused else ""
        print(f"{title:34} {ours:9.3f} {other:9.3f} {other / ours:13.2f}{goal}")
    print(f"{'':34} {'ours':>9} {'UCX':>9}   ours / UCX")
    ours, stream = FAR_MIB * (1 << 20) / found["ours", "far"] / 1e9, found["UCX", "stream_gbs"]
    print(f"{'sweep of far data, GB/s':34} {ours:9.3f} {stream:9.3f} {ours / stream:13.2f}  goal >= {LEAST_OF_STREAM}"
          f"{verdict(ours / stream >= LEAST_OF_STREAM)}")
    page = found["ours", "pages"] / (options.lookups // 10) * 1e6
    for wait in ("asleep", "polling"):
        trip = found["UCX", f"{wait}_us"]
        goal = f"  goal <= {MOST_OF_ROUND_TRIP}{verdict(page / trip <= MOST_OF_ROUND_TRIP)}" if wait == "asleep" else ""
        print(f"{f'a random far page, peer {wait}, us':34} {page:9.1f} {trip:9.1f} {page / trip:13.2f}{goal}")
    return True


def main():
    parser = argparse.ArgumentParser(prog="./run bench memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5, help="runs of each side (default 5)")
    parser.add_argument("--lookups", type=int, default=50_000, help="random words that are read (default 50,000)")
    parser.add_argument("--only", default="rows,speed", help="which parts")
    parser.add_argument("--quick", action="store_true", help="one turn, fewer lookups and rows")
    parser.add_argument("--host-mib", type=int, default=NODE_MIB, help=f"of the rows (default {NODE_MIB})")
    options = parser.parse_args()
    if options.turns < 1 or options.lookups < 1000:
        parser.error("--turns: at least 1; --lookups: at least 1000")
    if not 16 <= options.host_mib <= NODE_MIB:
        parser.error(f"--host-mib: 16 to {NODE_MIB}")
    if options.quick:
        options.turns, options.lookups = 1, min(options.lookups, 10_000)
    probe = Outcome(1, GROUP_MIB, ["true"])
    if probe.error:
        print(f"skipped: {probe.error}")
        sys.exit(77)
    only, good = options.only.split(","), True
    if "rows" in only:
        good = show_rows(options) and good
    if "speed" in only:
        good = show_speed(options) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
