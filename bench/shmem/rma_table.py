"""Puts, gets and atomics between two PEs on this host, beside memcpy and bare atomics in the same process and run."""
import os
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
ROWS = os.path.join(BUILD, "bench/shmem/terrane_bench_shmem_rma_rows")
GOALS = {"p": "<= 5 ns", "g": "<= 8 ns", "fetch-add": "<= 12 ns"}
MIB = 1 << 20


def measure():
    done = subprocess.run(["terrane", "run", "-n", "2", ROWS], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"bench: {ROWS} failed with {done.returncode}:\n{done.stderr}")
    rows = {}
    for line in done.stdout.splitlines():
        fields = dict(part.split("=", 1) for part in line.split())
        rows[fields["row"], fields["memory"], int(fields["bytes"])] = float(fields["ns"])
    return rows


def print_words(rows):
    print(f"{'ns a call, 8 bytes':24}{'heap':>10}{'statics':>10}")
    for name, memory, number in rows:
        if memory == "heap" and number == 8 and (name, "statics", 8) in rows and "put" != name != "get":
            cells = (rows[name, "heap", 8], rows[name, "statics", 8])
            print(f"{name:24}{cells[0]:10.2f}{cells[1]:10.2f}  {GOALS.get(name, '')}")


def print_blocks(rows):
    print(f"\n{'us a call, heap':14}{'memcpy to':>12}{'put':>12}{'ratio':>8}{'memcpy from':>14}{'get':>12}{'ratio':>8}")
    for number in sorted({n for name, memory, n in rows if name == "put" and memory == "heap"}):
        to, put, back, get = (rows[name, "heap", number] / 1e3 for name in ("memcpy-to", "put", "memcpy-from", "get"))
        goal = "  goal <= 1.02" if number == MIB else ""
        print(f"{number:>12} B{to:12.4f}{put:12.4f}{put / to:8.2f}{back:14.4f}{get:12.4f}{get / back:8.2f}{goal}")


def show():
    rows = measure()
    print_words(rows)
    strided = [rows[name, "heap", 4096] for name in ("iput-512", "p-512")]
    print(f"\n512 words, 8 apart: iput {strided[0]:.0f} ns, p one by one {strided[1]:.0f} ns")
    print_blocks(rows)
