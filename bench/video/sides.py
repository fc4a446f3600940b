"""The implementations of the video showcase, and one run of one of them."""
import os
import shutil
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
FOLDER = os.path.join(BUILD, "examples/video")
VIDEO, MPI, ZMQ = (os.path.join(FOLDER, name) for name in ("video", "video_mpi", "video_zmq"))
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
          "--mca", "btl_base_warn_component_unused", "0"]


def sides(workers, log_folder):
    """Name -> the command before the options, for so many workers."""
    terrane = ["terrane", "run", "-n", str(workers + 1)]
    found = {"sequential": [VIDEO, "--with", "sequential"],
             "threads": [VIDEO, "--with", "threads", "--workers", str(workers)],
             "chunks": [*terrane, VIDEO],
             "chunks, log": [*terrane, "--report", log_folder, VIDEO]}
    # Four servers need four nodes.
    nodes = max(4, workers + 1)
    found["chunks, 4 servers"] = ["terrane", "run", "-n", str(nodes), "--servers", "0,1,2,3", VIDEO]
    found["chunks, 4, log"] = [*found["chunks, 4 servers"][:-1], "--report", log_folder, VIDEO]
    if os.path.exists(MPI) and shutil.which("mpirun"):
        for way in ("sync", "async", "multiple"):
            found[f"MPI {way}"] = [*MPIRUN, "-np", str(workers + 2), MPI, "--with", way]
    else:
        print("without MPI: install the Debian packages openmpi-bin and libopenmpi-dev and build again")
    if os.path.exists(ZMQ):
        for way, endpoint in (("reqrep", "ipc"), ("dealer", "ipc"), ("reqrep", "tcp"), ("dealer", "tcp")):
            found[f"ZeroMQ {way} {endpoint}"] = [ZMQ, "--with", way, "--endpoint", endpoint, "--workers", str(workers)]
    else:
        print("without ZeroMQ: install the Debian package libzmq3-dev and build again")
    return found


class Run:
    """What one run printed, added up."""

    def __init__(self, command, options, environment=None):
        self.command = [*command, *options]
        try:
            done = subprocess.run(self.command, capture_output=True, text=True, timeout=300,
                                  env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired:
            sys.exit(f"bench: HANGS: {' '.join(self.command)} had not ended after 300 s")
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(self.command)} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
        rows = {}
        for line in done.stdout.splitlines():
            fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
            if "row" in fields:
                rows.setdefault(fields["row"], []).append(fields)
        result, processes = rows["result"][0], rows["process"]
        self.frames, self.sum = int(result["frames"]), result["sum"]
        self.seconds = (max(int(row["end_ns"]) for row in processes) - min(int(row["begin_ns"]) for row in processes)) / 1e9
        self.cpu = sum(int(row["cpu_ns"]) for row in processes) / 1e9
        self.messages = sum(int(row["messages"]) for row in processes)
        self.bytes = sum(int(row["bytes"]) for row in processes)
        self.shared_bytes = 0
        for row in rows.get("counters", []):
            self.messages += int(row["messages"])
            self.bytes += int(row["transfer_bytes"])
            self.shared_bytes += int(row["shared_bytes"])
        self.peak = max(int(row["peak"]) for row in processes)
        self.workers = sorted((int(row["index"]), int(row["frames"]), int(row["processing_ns"]) / 1e9, int(row["waiting_ns"]) / 1e9,
                               row["host"]) for row in rows["worker"])
        self.deviation = float(rows["deviation"][0]["parts"]) if "deviation" in rows else None

    def processing(self):
        return sum(worker[2] for worker in self.workers)

    def waiting(self):
        return sum(worker[3] for worker in self.workers)


def ideal(times, frames):
    """The paper's: for each worker its share of the frames by its speed, and the time that the whole takes."""
    fastest = [max(times) / time for time in times]
    alpha = frames / sum(fastest)
    shares = [alpha * speed for speed in fastest]
    return shares, max(share * time for share, time in zip(shares, times))
