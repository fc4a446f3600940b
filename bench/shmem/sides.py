"""Who is measured, how each is started, and samples of all of them in turn."""
import os
import shutil
import statistics
import subprocess
import sys
import time

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
FOLDER = os.path.join(BUILD, "bench/shmem")
OURS, OPEN_MPI, MPI = "Terrane", "Open MPI", "MPI-3"
# Without "osc ^rdma" Open MPI 4.1's OpenSHMEM crashes when it ends.
OPEN_MPI_OPTIONS = ["--allow-run-as-root", "--oversubscribe", "--mca", "osc", "^rdma", "--mca", "btl_base_warn_component_unused", "0"]
PACKAGES = "the Debian packages openmpi-bin and libopenmpi-dev"


def find_sides():
    """The sides that can run here: name -> command of so many PEs. Names those that are missing."""
    bind = ["--bind-to", "core"]
    ours = os.path.join(FOLDER, "terrane_bench_shmem_rows")
    sides = {OURS: lambda pes: ["terrane", "run", "-n", str(pes), *(bind if pes <= os.cpu_count() else []), ours]}
    for name, starter, program in ((OPEN_MPI, "oshrun", "openmpi_shmem_rows"), (MPI, "mpirun", "mpi_shmem_rows")):
        path = os.path.join(FOLDER, program)
        found = next((one for one in (f"/usr/bin/{starter}", shutil.which(starter)) if one and os.path.exists(one)), None)
        if found is None or not os.path.exists(path):
            print(f"without {name}: {path if found else starter} is missing; install {PACKAGES} and build again")
            continue
        sides[name] = lambda pes, found=found, path=path: [
            found, *OPEN_MPI_OPTIONS, *(bind if pes <= os.cpu_count() else ["--bind-to", "none"]), "-np", str(pes), path]
    return sides


def run(command):
    """The rows that a program prints, (row, memory, bytes) -> ns; nothing if it fails, which is said."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    elapsed = time.monotonic() - start
    if done.returncode != 0:
        print(f"bench: {' '.join(command)} failed with {done.returncode}:\n{done.stderr}", file=sys.stderr)
        return {}
    rows = {}
    for line in done.stdout.splitlines():
        fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
        if "row" in fields:
            rows[fields["row"], fields["memory"], int(fields["bytes"])] = float(fields["ns"])
    rows["job", "none", 0] = elapsed * 1e9
    return rows


def measure(sides, pes, part, turns):
    """Medians of every side's rows over the turns, in which the sides run one after another: side -> row -> ns."""
    samples = {name: {} for name in sides}
    for _ in range(turns):
        for name, command in sides.items():
            for row, ns in run(command(pes) + [part]).items():
                samples[name].setdefault(row, []).append(ns)
    if not samples[OURS]:
        sys.exit("bench: nothing was measured")
    return {name: {row: statistics.median(values) for row, values in rows.items()} for name, rows in samples.items() if rows}
