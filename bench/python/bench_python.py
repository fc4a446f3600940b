#!/usr/bin/env python3
"""Arrays of pyterrane beside NumPy's own, heat in a plate beside mpi4py, chunks beside queues, and 64 writers. In turn.

Usage: ./run bench python [--rounds N] [--size SIZE] [--steps STEPS]
It builds the wheel (packaging/wheel.sh), and installs it with NumPy and the others by pip in build/python. Rows:
  store, ufunc       on a shared array of one node, over the same on an array of NumPy
  store-4K, ufunc-4K the same, where NumPy asks the kernel for no large pages (NUMPY_MADVISE_HUGEPAGE=0)
  barrier            of two nodes, tr.barrier() less terrane_barrier() in C, in us
  heat               SIZE x SIZE on two nodes of this host, over mpi4py's Sendrecv with two processes (mpirun)
  heat-tcp           the same on two hosts (terrane hosts), over tcp
  chunk, queue, zmq, an array of so many bytes from one process of this host to another one, in us: half of the median
  iceoryx2           round trip, whose sides change the first element and read the last one; tr.Chunk,
                     multiprocessing.Queue, ZeroMQ's PAIR sockets over ipc with copy=False, and iceoryx2's slices with
                     an event for each
  writers            64 columns of a matrix of 5000 rows that four processes count (examples/python/writers.py), in ms:
                     in place, and by Ray and Dask, whose tasks return columns that one process puts together
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

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
WRITERS_COMMON = """
import sys, time
import numpy as np
def column_of(column, rows=5000):
    numbers = np.random.default_rng(column).zipf(1.5, 2000)
    found, times = np.unique(numbers[numbers < rows], return_counts=True)
    out = np.zeros(rows, np.int64)
    out[found] = times
    return out
def measure(name, work, count=10):
    each = []
    for turn in range(count):
        begin = time.perf_counter()
        assert work() > 0
        each.append((time.perf_counter() - begin) * 1e3)
    print("writers-" + name, sorted(each)[count // 2])
"""
WRITERS = WRITERS_COMMON + """
import threading
import pyterrane as tr
sys.path.insert(0, {examples!r})
import writers
matrix = tr.zeros((5000, 64), np.int64)
def work():
    tr.barrier()
    threads = [threading.Thread(target=writers.count, args=(matrix, column)) for column in range(tr.node(), 64, tr.nodes())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tr.barrier()
    return matrix.sum() if tr.node() == 0 else 1
with open("/dev/null", "w") as nowhere:
    sys.stdout = sys.stdout if tr.node() == 0 else nowhere
    measure("terrane", work)
    tr.barrier()
    sys.stdout = sys.__stdout__
"""
WRITERS_RAY = WRITERS_COMMON + """
import os
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray
ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
remote = ray.remote(column_of)
def work():
    return np.stack(ray.get([remote.remote(column) for column in range(64)]), axis=1).sum()
work()
measure("ray", work)
"""
WRITERS_DASK = WRITERS_COMMON + """
import dask.distributed
def main():
    with dask.distributed.Client(n_workers=4, threads_per_worker=1, dashboard_address=None) as client:
        def work():
            return np.stack(client.gather(client.map(column_of, range(64), pure=False)), axis=1).sum()
        work()
        measure("dask", work)
if __name__ == "__main__":
    main()
"""
BARRIER = """
import time
import ctypes
import pathlib
import pyterrane as tr
tr.node()
library = ctypes.CDLL(str(pathlib.Path(tr.__file__).parent / "terrane/lib/libterrane.so.0"))
def measure(call, count=100):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count * 1e6
calls = tr.barrier, library.terrane_barrier, library.terrane_version
ours, theirs, empty = map(min, zip(*[[measure(call) for call in calls] for _ in range(200)]))
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
ICEORYX2 = ROUND_TRIPS + """
import ctypes, os
import iceoryx2
iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
def side(size, name, is_first):
    node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
    def ports(way, sends):
        topic = iceoryx2.ServiceName.new(f"{{os.getpid() if is_first else os.getppid()}}/{{name}}/{{way}}")
        data = node.service_builder(topic).publish_subscribe(iceoryx2.Slice[ctypes.c_uint8]).open_or_create()
        event = node.service_builder(topic).event().open_or_create()
        if sends:
            return data.publisher_builder().initial_max_slice_len(size).create(), event.notifier_builder().create()
        return data.subscriber_builder().create(), event.listener_builder().create()
    (publisher, notifier), (subscriber, listener) = (ports("ab"[way != is_first], way) for way in (True, False))
    time.sleep(0.5)
    def array(sample):
        return np.ctypeslib.as_array(ctypes.cast(sample.payload_ptr, ctypes.POINTER(ctypes.c_int64)), (size // 8,))
    def send(turn):
        sample = publisher.loan_slice_uninit(size)
        a = array(sample)
        a[0] = a[-1] = turn
        sample.assume_init().send()
        notifier.notify()
    def receive(turn):
        while (sample := subscriber.receive()) is None:
            listener.blocking_wait()
        assert array(sample)[-1] == turn
        sample.delete()
    each = measure(send, receive, is_first)
    if is_first:
        print("iceoryx2-" + name, each, flush=True)
for name, size in {sizes}.items():
    child = os.fork()
    side(size, name, child != 0)
    if child == 0:
        os._exit(0)
    os.wait()
"""
OTHERS = ("mpi4py", "pyzmq", "iceoryx2", "ray", "dask[distributed]")


def install():
    """The wheel of build/stage in an environment of its own, with those of the others that pip has."""
    pip = [ENVIRONMENT / "bin" / "pip", "install", "-q", "--disable-pip-version-check"]
    if not (ENVIRONMENT / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([*pip, "numpy"], check=True)
    for one in OTHERS:
        subprocess.run([*pip, one], check=False)
    wheels = ENVIRONMENT / "wheels"
    subprocess.run([ROOT / "packaging" / "wheel.sh", "build/stage", wheels, sys.executable], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                    "--force-reinstall", *wheels.glob("*.whl")], check=True)


def run(start, text, **more):
    """The last word of each line that the program prints, as a number; None where it fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=ENVIRONMENT) as script:  # Dask's workers import it
        script.write(text)
        script.flush()
        done = subprocess.run([*start, ENVIRONMENT / "bin" / "python", script.name], capture_output=True, text=True,
                              timeout=600, cwd=ROOT, env={**os.environ, **MPI_ROOT, **more})
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return None
    return {line.split()[0] if " " in line else "time": float(line.split()[-1]) for line in done.stdout.splitlines()}


GOALS = {"store": "1.02", "store-4K": "1.02", "ufunc": "1.02", "ufunc-4K": "1.02", "barrier": "1.5 us", "heat": "1.1",
         "heat-tcp": "1.1"}
MPI_TCP = ["mpirun", "-n", "2", "--host", "h0,h1", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "plm_rsh_agent"]
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
    hosts = [terrane[0], "hosts", "-n", "2"]
    enter_host = next(ENVIRONMENT.glob("lib/python*/site-packages/pyterrane/terrane/lib/terrane/enter_host"))
    has_hosts = subprocess.run([*hosts, "true"], capture_output=True).returncode == 0
    sizes = {"examples": str(ROOT / "examples" / "python"), "size": options.size, "steps": options.steps}
    rows = {}
    for _ in range(options.rounds):
        found = {**(run([], ARRAYS) or {}), **(run(terrane, BARRIER) or {})}
        small = run([], ARRAYS, NUMPY_MADVISE_HUGEPAGE="0") or {}
        found |= {f"{name}-4K": value for name, value in small.items()}
        ours = run(terrane, HEAT.format(**sizes))
        theirs = run(["mpirun", "-n", "2", "--oversubscribe"], HEAT_MPI.format(**sizes))
        if ours and theirs:
            found["heat"] = ours["time"] / theirs["time"]
        if has_hosts:
            ours = run([*hosts, *terrane, "-H", "h0,h1"], HEAT.format(**sizes))
            theirs = run([*hosts, *MPI_TCP, enter_host], HEAT_MPI.format(**sizes))
            if ours and theirs:
                found["heat-tcp"] = ours["time"] / theirs["time"]
        for start, text in ((terrane, CHUNK), ([], QUEUE), ([], ZMQ), ([], ICEORYX2)):
            found |= run(start, text.format(sizes=SIZES)) or {}
        for start, text in (([*terrane[:-1], "4"], WRITERS.format(**sizes)), ([], WRITERS_RAY), ([], WRITERS_DASK)):
            found |= run(start, text) or {}
        for name, value in found.items():
            rows.setdefault(name, []).append(value)
    report(rows)


def report(rows):
    """The table: medians, and where a goal is known, that."""
    for name, goal in GOALS.items():
        if name in rows:
            print(f"{name:9} {statistics.median(rows[name]):8.3f}   goal {goal}   "
                  f"({min(rows[name]):.3f} to {max(rows[name]):.3f}, {len(rows[name])} rounds)")
        else:
            print(f"{name:9} not measured: what it needs is not here")
    for size in SIZES:
        print(f"{size:8} " + beside(rows, "us", [(name, f"{name}-{size}") for name in ("chunk", "queue", "zmq", "iceoryx2")]))
    print("writers  " + beside(rows, "ms", [(name, f"writers-{name}") for name in ("terrane", "ray", "dask")]))


def beside(rows, unit, names):
    """The medians of each, ours first, and how the fastest other compares."""
    known = {name: statistics.median(rows[row]) for name, row in names if row in rows}
    text = ", ".join(f"{name} {known[name]:.1f} {unit}" if name in known else f"{name} not here" for name, _ in names)
    ours = names[0][0]
    if ours not in known or len(known) == 1:
        return text
    fastest = min((one for one in known if one != ours), key=known.get)
    return f"{text}; {fastest} / {ours} {known[fastest] / known[ours]:.2f}x   goal 1 or more"

if __name__ == "__main__":
    main()
