#!/usr/bin/env python3
"""Arrays of pyterrane beside NumPy's own, heat in a plate beside mpi4py, and chunks beside queues. Measured in turn.

Usage: ./run bench python [--rounds N] [--size SIZE] [--steps STEPS]
It builds the wheel (packaging/wheel.sh), and installs it with NumPy, mpi4py and pyzmq by pip in build/python. Rows:
  store, ufunc       on a shared array of one node, over the same on an array of NumPy
  barrier            of two nodes, tr.barrier() less terrane_barrier() in C, in us
  heat               SIZE x SIZE on two nodes of this host, over mpi4py's Sendrecv with two processes (mpirun)
  chunk, queue, zmq  an array of so many bytes from one process of this host to another one, in us: half of the median
                     round trip, whose sides change the first element and read the last one; tr.Chunk,
                     multiprocessing.Queue, and ZeroMQ's PAIR sockets over ipc with copy=False
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "build" / "python"

ARRAYS = """
import time
import numpy as np
import pyterrane as tr
arrays = {"shared": tr.zeros((1024, 1024)), "own": np.zeros((1024, 1024))}
tasks = {"store": lambda a: a.__setitem__(slice(None), 1.5), "ufunc": lambda a: np.add(a, 1.0, out=a)}
best = {}
for turn in range(60):
    for where, array in arrays.items():
        for name, task in tasks.items():
            begin = time.perf_counter()
            task(array)
            best.setdefault((name, where), []).append(time.perf_counter() - begin)
for name in tasks:
    shared, own = (sorted(best[name, where])[15] for where in ("shared", "own"))
    print(f"{name} {shared / own}")
"""
BARRIER = """
import time
import ctypes
import pathlib
import pyterrane as tr
tr.node()
library = ctypes.CDLL(str(pathlib.Path(tr.__file__).parent / "terrane/lib/libterrane.so.0"))
def measure(call, count=2000):
    call()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count * 1e6
ours = min(measure(tr.barrier) for _ in range(5))
theirs = min(measure(library.terrane_barrier) for _ in range(5))
empty = min(measure(library.terrane_version) for _ in range(5))
if tr.node() == 0:
    print("barrier", ours - (theirs - empty))
tr.barrier()
"""
HEAT = """
import sys, time
sys.path.insert(0, {examples!r})
import heat
import pyterrane as tr
plate, other = tr.zeros(({size}, {size}), homes="block"), tr.zeros(({size}, {size}), homes="block")
rows = tr.local_rows(plate)
for array in (plate, other):
    array[rows, 0] = 100.0
tr.barrier()
for step in range({steps} + 2):
    if step == 2:
        begin = time.perf_counter()
    heat.step(plate, other, rows)
    tr.barrier()
    plate, other = other, plate
if tr.node() == 0:
    print(time.perf_counter() - begin)
tr.barrier()
"""
HEAT_MPI = """
import sys, time
import numpy as np
from mpi4py import MPI
everybody = MPI.COMM_WORLD
me, others = everybody.rank, everybody.size
rows = {size} * (me + 1) // others - {size} * me // others
first, last = me == 0, me == others - 1
old, new = np.zeros((rows + 2, {size})), np.zeros((rows + 2, {size}))
for array in (old, new):
    array[1:-1, 0] = 100.0
up, down = (MPI.PROC_NULL if first else me - 1), (MPI.PROC_NULL if last else me + 1)
begin_row, end_row = (2 if first else 1), (rows if last else rows + 1)
everybody.Barrier()
for step in range({steps} + 2):
    if step == 2:
        begin = time.perf_counter()
    everybody.Sendrecv(old[1], up, recvbuf=old[-1], source=down)
    everybody.Sendrecv(old[-2], down, recvbuf=old[0], source=up)
    new[begin_row:end_row, 1:-1] = (old[begin_row - 1:end_row - 1, 1:-1] + old[begin_row + 1:end_row + 1, 1:-1]
                                    + old[begin_row:end_row, :-2] + old[begin_row:end_row, 2:]) / 4
    old, new = new, old
everybody.Barrier()
if me == 0:
    print(time.perf_counter() - begin)
"""
SIZES = {"64K": 1 << 16, "1M": 1 << 20, "8M": 1 << 23}
ROUND_TRIPS = """
import time
import numpy as np
def measure(send, receive, is_first, count=100):
    each = []
    for turn in range(count + 10):
        begin = time.perf_counter()
        if is_first:
            send(turn)
        receive(turn)
        if not is_first:
            send(turn)
        each.append((time.perf_counter() - begin) / 2 * 1e6)
    return sorted(each[10:])[count // 2]
"""
CHUNK = ROUND_TRIPS + """
import pyterrane as tr
for name, size in {sizes}.items():
    there, back = (tr.Chunk(way + name, size // 8, "i8", home=home) for home, way in enumerate(("there", "back")))
    out, inward = (there, back) if tr.node() == 0 else (back, there)
    inward.subscribe()
    tr.barrier()
    def send(turn):
        with out.write() as a:
            a[0] = a[-1] = turn
    def receive(turn):
        a = inward.take()
        assert a[-1] == turn
    each = measure(send, receive, tr.node() == 0)
    if tr.node() == 0:
        print("chunk-" + name, each)
    tr.barrier()
"""
QUEUE = ROUND_TRIPS + """
import multiprocessing
def side(size, out, inward, is_first, name):
    a = np.zeros(size // 8, "i8")
    def send(turn):
        a[0] = a[-1] = turn
        out.put(a)
    def receive(turn):
        assert inward.get()[-1] == turn
    each = measure(send, receive, is_first)
    if is_first:
        print("queue-" + name, each)
for name, size in {sizes}.items():
    there, back = multiprocessing.Queue(), multiprocessing.Queue()
    other = multiprocessing.Process(target=side, args=(size, back, there, False, name))
    other.start()
    side(size, there, back, True, name)
    other.join()
"""
ZMQ = ROUND_TRIPS + """
import os, tempfile
import zmq
def side(size, address, is_first, name):
    socket = zmq.Context().socket(zmq.PAIR)
    (socket.bind if is_first else socket.connect)(address)
    a = np.zeros(size // 8, "i8")
    def send(turn):
        a[0] = a[-1] = turn
        socket.send(a, copy=False)
    def receive(turn):
        assert np.frombuffer(socket.recv(copy=False).buffer, "i8")[-1] == turn
    each = measure(send, receive, is_first)
    if is_first:
        print("zmq-" + name, each)
with tempfile.TemporaryDirectory() as folder:
    for name, size in {sizes}.items():
        address = f"ipc://{{folder}}/{{name}}"
        child = os.fork()
        side(size, address, child != 0, name)
        if child == 0:
            os._exit(0)
        os.wait()
"""


def install():
    """The wheel of build/stage in an environment of its own, with mpi4py if pip has it."""
    if not (ENVIRONMENT / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        pip = [ENVIRONMENT / "bin" / "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "numpy"], check=True)
        for one in ("mpi4py", "pyzmq"):
            subprocess.run([*pip, one], check=False)
    wheels = ENVIRONMENT / "wheels"
    subprocess.run([ROOT / "packaging" / "wheel.sh", "build/stage", wheels, sys.executable], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                    "--force-reinstall", *wheels.glob("*.whl")], check=True)


def run(start, text):
    """The last word that the program prints, as a number; None where it fails."""
    command = [*start, ENVIRONMENT / "bin" / "python", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT, env={**os.environ, **MPI_ROOT})
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return None
    return {line.split()[0] if " " in line else "time": float(line.split()[-1]) for line in done.stdout.splitlines()}


# Open MPI refuses root without these.
MPI_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    install()
    terrane = [ENVIRONMENT / "bin" / "terrane", "run", "-n", "2"]
    sizes = {"examples": str(ROOT / "examples" / "python"), "size": options.size, "steps": options.steps}
    rows = {}
    for _ in range(options.rounds):
        found = {**(run([], ARRAYS) or {}), **(run(terrane, BARRIER) or {})}
        ours = run(terrane, HEAT.format(**sizes))
        theirs = run(["mpirun", "-n", "2", "--oversubscribe"], HEAT_MPI.format(**sizes))
        if ours and theirs:
            found["heat"] = ours["time"] / theirs["time"]
        for start, text in ((terrane, CHUNK), ([], QUEUE), ([], ZMQ)):
            found |= run(start, text.format(sizes=SIZES)) or {}
        for name, value in found.items():
            rows.setdefault(name, []).append(value)
    for name, goal in (("store", "1.02"), ("ufunc", "1.02"), ("barrier", "1.5 us"), ("heat", "1.1")):
        if name in rows:
            print(f"{name:8} {statistics.median(rows[name]):8.3f}   goal {goal}   "
                  f"({min(rows[name]):.3f} to {max(rows[name]):.3f}, {len(rows[name])} rounds)")
        else:
            print(f"{name:8} not measured: what it needs is not here")
    for size in SIZES:
        known = [name for name in ("chunk", "queue", "zmq") if f"{name}-{size}" in rows]
        times = {name: statistics.median(rows[f"{name}-{size}"]) for name in known}
        print(f"{size:8} " + ", ".join(f"{name} {us:.0f} us" for name, us in times.items())
              + "   goal: chunk below the others, and the same for all sizes")


if __name__ == "__main__":
    main()
