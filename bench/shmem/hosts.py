"""PEs on two hosts (namespaces of this machine, joined by tcp): gets, puts and atomics beside UCX's own, samples in turn."""
import os
import statistics
import subprocess
import sys

from sides import BUILD, FOLDER

HOSTS = os.path.join(BUILD, "bin/test_hosts")
ROWS = os.path.join(FOLDER, "terrane_bench_shmem_host_rows")
MIB = 1 << 20


def measure(turns):
    samples = {}
    command = [HOSTS, "-n", "2", "--", "terrane", "run", "-n", "2", "-H", "h0:1,h1:1", ROWS, "eth0"]
    for _ in range(turns):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
        for line in done.stdout.splitlines():
            fields = dict(part.split("=", 1) for part in line.split())
            samples.setdefault((fields["row"], int(fields["bytes"]), fields["side"], fields["wait"]), []).append(float(fields["ns"]))
    return {key: statistics.median(values) for key, values in samples.items()}


def show(turns):
    found = measure(turns)
    print(f"\n{'2 hosts, tcp':26}{'Terrane':>12}{'UCX':>12}{'PE 1 computes':>16}   Terrane / UCX")
    for row in ("get", "put+quiet", "fetch-add"):
        ours, own, busy = (found[row, 8, side, wait] for side, wait in (("ours", "poll"), ("UCX", "poll"), ("ours", "compute")))
        goal = f", goal 1.2{'' if ours <= 1.2 * own else ': missed'}" if row == "get" else ""
        print(f"{row + ' 8 B, us':26}{ours / 1e3:12.2f}{own / 1e3:12.2f}{busy / 1e3:16.2f}   {ours / own:.2f}{goal}")
    for row in ("gets", "puts"):
        ours, own, busy = (MIB / found[row, MIB, side, wait] for side, wait in (("ours", "poll"), ("UCX", "poll"), ("ours", "compute")))
        goal = f", goal 0.9{'' if ours >= 0.9 * own else ': missed'}"
        print(f"{row + ' of 1 MiB, GB/s':26}{ours:12.2f}{own:12.2f}{busy:16.2f}   {ours / own:.2f}{goal}")
