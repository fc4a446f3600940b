"""What the nodes of a job have by name: a table in shared memory, under one lock of the job.

Each slot is an array or an object to synchronise with. Its index is the object's number in Terrane's C interface.
"""

import collections
import contextlib
import os
import threading

import numpy as np

from . import _core

SLOTS = 16384
FIRST_NUMBER = 1 << 31  # locks, flags, counters and semaphores below it are the program's own
LOCK = (1 << 32) - 1
NAME_BYTES = 128
TEXT_BYTES = 640
MOST_REDUCED = 1024  # values

FREE, ARRAY, LOCK_KIND, COUNTER, EVENT, SEMAPHORE, CHUNK = range(7)

_SLOT = np.dtype([("kind", "i4"), ("refs", "i4"), ("generation", "i8"), ("address", "u8"), ("bytes", "u8"),
                  ("filling", "i4"), ("kept", "i4"), ("name", f"S{NAME_BYTES}"), ("text", f"S{TEXT_BYTES}")])
_HEAD = np.dtype([("used", "i8"), ("generation", "i8"), ("job", "S32"), ("versions", "S256")])
_HEAD_BYTES = 4096
_ARRIVAL = np.dtype([("turn", "i8"), ("kind", "S16"), ("count", "i8"), ("values", "u8", MOST_REDUCED)])


class Directory:
    """The table, as one node sees it. Threads: any; methods that take `slots` run inside open()."""

    def __init__(self):
        nodes, arrivals_at = _core.nodes(), _HEAD_BYTES + SLOTS * _SLOT.itemsize
        size = arrivals_at + 2 * nodes * _ARRIVAL.itemsize
        memory = _core.Memory(_core.alloc(size, 0, 0, 0, "pyterrane's directory", True), size)
        self._head = np.ndarray((1,), _HEAD, memory)[0]
        self._slots = np.ndarray((SLOTS,), _SLOT, memory, _HEAD_BYTES)
        self.arrivals = np.ndarray((2, nodes), _ARRIVAL, memory, arrivals_at)  # of even and odd rounds (_timed_barrier.py)
        self._mutex = threading.Lock()
        self._dropped = collections.deque()  # slots of arrays that are gone on this node
        self._process = os.getpid()

    def close(self):
        """This process leaves the job: nothing is read or changed any more."""
        self._process = None

    @contextlib.contextmanager
    def open(self):
        """Inside, this thread alone of all nodes reads and changes the table."""
        if self._process is None:
            raise RuntimeError("this process has left its job")
        with self._mutex:
            _core.lock(LOCK)
            try:
                self._free_dropped()
                yield self
            finally:
                _core.unlock(LOCK)
        self._look_for_dropped()

    def drop(self, slot):
        """An array of this slot is gone here. Called by the garbage collector, at any point of any thread."""
        if os.getpid() == self._process:
            self._dropped.append(slot)
            self._look_for_dropped()

    def _look_for_dropped(self):
        while self._dropped and self._mutex.acquire(blocking=False):
            try:
                _core.lock(LOCK)
                try:
                    self._free_dropped()
                finally:
                    _core.unlock(LOCK)
            finally:
                self._mutex.release()

    def _free_dropped(self):
        while self._dropped:
            self.release(self._dropped.popleft())

    def release(self, slot):
        """One holder less. The last one frees what is not kept by its name."""
        entry = self._slots[slot]
        entry["refs"] -= 1
        if entry["refs"] <= 0 and not entry["kept"]:
            _core.free(int(entry["address"]))
            entry["kind"] = FREE

    def check_versions(self, mine):
        """The job's name. Raises RuntimeError where the first node has other versions."""
        with self.open():
            if not self._head["job"]:
                self._head["job"] = os.urandom(16).hex().encode()
                self._head["versions"] = mine.encode()
            first = bytes(self._head["versions"]).decode()
            job = bytes(self._head["job"]).decode()
        if first != mine:
            raise RuntimeError(f"this node has {mine}, and the first one has {first}: install the same on all hosts")
        return job

    def find(self, kind, name):
        """The slot of that kind and name, or None."""
        used = int(self._head["used"])
        wanted = name.encode() if isinstance(name, str) else name
        found = np.flatnonzero((self._slots["name"][:used] == wanted) & (self._slots["kind"][:used] == kind))
        return int(found[0]) if found.size else None

    def add(self, kind, name):
        """A slot of its own for the name. Raises RuntimeError where the table is full."""
        used = int(self._head["used"])
        free = np.flatnonzero(self._slots["kind"][:used] == FREE)
        slot = int(free[0]) if free.size else used
        if slot == SLOTS:
            raise RuntimeError(f"a job has at most {SLOTS} arrays, locks and the like at a time: drop some")
        self._head["used"] = max(used, slot + 1)
        self._head["generation"] += 1
        entry = self._slots[slot]
        entry["kind"], entry["refs"], entry["filling"], entry["kept"] = kind, 0, 0, 0
        entry["generation"] = self._head["generation"]
        entry["name"] = name.encode() if isinstance(name, str) else name
        entry["text"] = b""
        return slot

    def __getitem__(self, slot):
        return self._slots[slot]


def number_of(slot):
    """The number by which Terrane's C interface knows the slot's object."""
    return FIRST_NUMBER + slot


def checked_name(name):
    """The name, which may be up to 120 bytes. Raises TypeError or ValueError."""
    if not isinstance(name, str):
        raise TypeError(f"a name is a str, not {type(name).__name__}")
    if not name or "\0" in name or len(name.encode()) > 120:
        raise ValueError(f"a name has 1 to 120 bytes and no NUL: {name!r}")
    return name
