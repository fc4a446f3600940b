"""Viewers of the live page that stop reading: the peak memory against the budget of a node (--memory), and the time."""
import socket
import statistics
import subprocess
import threading

from sides import VIDEO, Run

VIEWERS = 4  # as many as the page has room for
BASE_BYTES = 64 << 20  # of a process without frames: programs, libraries, stacks


class Viewers:
    """Opens the stream of pictures as often as the page lets it, and reads nothing, while the block runs."""

    def __init__(self, port):
        self.port, self.sockets, self.over = port, [], False
        self.thread = threading.Thread(target=self.connect)

    def connect(self):
        while len(self.sockets) < VIEWERS and not self.over:
            viewer = socket.socket()
            viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            try:
                viewer.connect(("127.0.0.1", self.port))
                viewer.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.sockets.append(viewer)
            except OSError:
                viewer.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.over = True
        self.thread.join()
        for viewer in self.sockets:
            viewer.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def missing_page():
    """Why the program has no live page, in its own words; empty: it has one."""
    command = ["terrane", "run", "-n", "2", VIDEO, "--live", str(free_port()), "synthetic:64x48:1"]
    tried = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return next((line for line in tried.stderr.splitlines() if "built without" in line), "")


def show(size, shape, frames, options):
    """One line: how a run with viewers that read nothing compares with one without viewers."""
    if reason := missing_page():
        print(f"{size}: without viewers of the live page ({reason}); install the Debian package libcpp-httplib-dev and build again")
        return
    width, height = map(int, shape.split("x"))
    workers, repeat = options.workers, 4
    # The home reserves the capacity of each writing node, in its half of the memory.
    budget = max(BASE_BYTES, 2 * (workers + 2) * (1 + workers) * (width * height + 4096))
    ratios, peaks = [], []
    for _ in range(options.rounds):
        port = free_port()
        command = ["terrane", "run", "-n", str(workers + 1), "--memory", str(budget), VIDEO, "--repeat", str(repeat)]
        shown = ["--live", str(port), f"synthetic:{shape}:{frames}"]
        alone = Run(command, shown)
        with Viewers(port) as viewers:
            stalled = Run(command, shown)
        if (stalled.sum, stalled.frames) != (alone.sum, alone.frames) or len(viewers.sockets) < VIEWERS:
            raise SystemExit(f"bench: {VIEWERS} viewers that read nothing: {len(viewers.sockets)} came, "
                             f"{stalled.frames} of {alone.frames} frames were written")
        ratios.append(stalled.seconds / alone.seconds)
        peaks.append(stalled.peak)
    peak = max(peaks)
    print(f"{size}: {VIEWERS} viewers that read nothing: {statistics.median(ratios):.3f}x the time without viewers; "
          f"peak memory {peak / 1e6:.0f} MB, {peak / budget:.3f}x the budget of {budget / 1e6:.0f} MB")
