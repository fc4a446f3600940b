"""What nodes wait for: barriers, locks, counters, events and semaphores of the job, each known by a name.

What a node wrote before it came to a barrier, released a lock, changed a counter, set an event or released a semaphore
is seen by those that go on because of it.
"""

from __future__ import annotations

import math
import operator
import typing

import numpy as np

from . import _core, _job, _timed_barrier
from ._directory import COUNTER, EVENT, FIRST_NUMBER, LOCK_KIND, MOST_REDUCED, SEMAPHORE, checked_name, number_of

if typing.TYPE_CHECKING:
    from ._types import ArrayLike

_numbers: dict[tuple[int, str], int] = {}  # kind and name -> number
_SUM, _MIN, _MAX = 1, 2, 3
_OPERATIONS = {"sum": _SUM, "min": _MIN, "max": _MAX, "and": 4, "or": 5, "xor": 6}
_TYPES = {"i": (0, np.int64), "b": (0, np.int64), "u": (1, np.uint64), "f": (2, np.float64)}


def _number(kind, name):
    """The number of a named object and whether it is new; of an int, the C interface's own number."""
    if not isinstance(name, str):
        number = operator.index(name)
        if not 0 <= number < FIRST_NUMBER:
            raise ValueError(f"number {number}: the numbers of programs go from 0 to {FIRST_NUMBER - 1}")
        _job.directory()
        return number, False
    key = kind, checked_name(name)
    if key in _numbers:
        return _numbers[key], False
    table = _job.directory()
    with table.open():
        slot = table.find(kind, name)
        is_new = slot is None
        if is_new:
            slot = table.add(kind, name)
    _numbers[key] = number_of(slot)
    return _numbers[key], is_new


def nanoseconds(timeout):
    """A timeout in seconds for the binding; -1: for ever. Raises ValueError."""
    if timeout is None:
        return -1
    if not timeout >= 0 or math.isinf(timeout):
        raise ValueError(f"timeout={timeout}: seconds from 0, or None")
    return int(timeout * 1e9)


def barrier(timeout: float | None = None) -> None:
    """Waits until all nodes have come, one thread of each; all then see what any of them wrote before.

    timeout: seconds after which it raises TimeoutError, which names the nodes that have not come. The node has left
      the barrier then, as after Ctrl-C, and may come again. All nodes give a timeout, or none.
    """
    table = _job.directory()
    if timeout is None:
        _core.barrier()
    else:
        _timed_barrier.wait(table, timeout, nanoseconds(timeout))


def reduce(value: ArrayLike, op: str = "sum", timeout: float | None = None) -> typing.Any:
    """A barrier to which each node gives a value, and from which each gets those of all, combined.

    value: a number, or an array of up to 1024 of them, of the same kind and shape on all nodes.
    op: "sum" (of integers: it wraps around), "min", "max"; of integers also "and", "or", "xor".
    timeout: as of barrier().
    Returns a numpy scalar, or an array of the same shape, of 64-bit integers or floats.
    """
    values = np.asarray(value)
    if op not in _OPERATIONS:
        raise ValueError(f"op={op!r}: {', '.join(_OPERATIONS)}")
    if values.dtype.kind not in _TYPES or values.dtype.itemsize > 8:
        raise TypeError(f"reduce() takes integers and floats of up to 64 bits, not {values.dtype}")
    if not 1 <= values.size <= MOST_REDUCED:
        raise ValueError(f"reduce() takes 1 to {MOST_REDUCED} values, not {values.size}; larger ones go through an array")
    number, kind = _TYPES[values.dtype.kind]
    table = _job.directory()
    if timeout is not None:
        limit_ns = nanoseconds(timeout)
        if op in ("and", "or", "xor") and kind is np.float64:
            raise ValueError(f"op={op!r} is for integers")
        data = np.ascontiguousarray(values, kind).reshape(-1).view("u8")
        rows = _timed_barrier.wait(table, timeout, limit_ns, f"{op} {np.dtype(kind)}".encode(), data)
        return _timed_barrier.combine(rows, op, kind).reshape(values.shape)[()]
    got = _core.reduce(0, _OPERATIONS[op], number, np.ascontiguousarray(values, kind).tobytes())
    return np.frombuffer(bytearray(got), kind).reshape(values.shape)[()]


class _Named:
    _KIND: int

    def __init__(self, name: str | int) -> None:
        self.name = name
        self._number, self._is_new = _number(self._KIND, name)

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self):
        return type(self), (self.name,)


class Lock(_Named):
    """Mutual exclusion of all threads of all nodes that make a Lock of the same name. Not recursive.

    The thread that acquired it releases it: `with tr.Lock("name"):`.
    """

    _KIND = LOCK_KIND

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """True: this thread has the lock. timeout: seconds after which it returns False; None: it waits for ever."""
        return _core.lock_for(self._number, 0 if not blocking else nanoseconds(timeout))

    def release(self) -> None:
        _core.unlock(self._number)

    def __enter__(self) -> typing.Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Counter(_Named):
    """A 64-bit integer that begins at 0, and that all nodes change and wait for."""

    _KIND = COUNTER
    _ADD, _SET, _MAX = 0, 1, 6

    def add(self, amount: int = 1) -> int:
        """Adds as one step, and returns what the counter was before: each node that asks gets its own number."""
        return _core.counter_fetch(self._number, self._ADD, amount)

    def set(self, value: int) -> int:
        """Returns what the counter was before."""
        return _core.counter_fetch(self._number, self._SET, value)

    @property
    def value(self) -> int:
        return _core.counter_fetch(self._number, self._ADD, 0)

    def wait(self, at_least: int, timeout: float | None = None) -> bool:
        """Waits until the counter has been so high. False: not within `timeout` seconds."""
        return _core.counter_wait_for(self._number, at_least, nanoseconds(timeout))


class Event(_Named):
    """A flag that one node sets and for which others wait; it stays set until it is cleared."""

    _KIND = EVENT

    def set(self) -> None:
        _core.flag_set(self._number)

    def clear(self) -> None:
        _core.flag_clear(self._number)

    def is_set(self) -> bool:
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> bool:
        """False: it was not set within `timeout` seconds."""
        return _core.flag_wait_for(self._number, nanoseconds(timeout))


class Semaphore(_Named):
    """Units that nodes give and take. It begins with `value` units, which the first node of its name gives."""

    _KIND = SEMAPHORE

    def __init__(self, name: str | int, value: int = 0) -> None:
        if value < 0:
            raise ValueError(f"value={value}: a semaphore has 0 units or more")
        super().__init__(name)
        if value and self._is_new:
            self.release(value)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Takes a unit. False: there was none within `timeout` seconds (None: it waits for ever)."""
        return _core.semaphore_wait_for(self._number, 0 if not blocking else nanoseconds(timeout))

    def release(self, n: int = 1) -> None:
        """Gives units; each lets one that waits go on, in the order in which they came."""
        _core.semaphore_post(self._number, n)

    def __enter__(self) -> typing.Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
