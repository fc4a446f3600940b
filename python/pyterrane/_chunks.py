"""Chunks: named arrays that change as a whole, by versions, which nodes subscribe to."""

from __future__ import annotations

import asyncio
import math
import operator
import os
import sys
import typing
import weakref

import numpy as np

from . import _arrays, _core, _job, _recordings
from ._directory import CHUNK, FREE, checked_name
from ._sync import nanoseconds

if typing.TYPE_CHECKING:
    import contextlib

    from ._types import Array, DTypeLike, Shape

_COHERENCES = {"invalidate": 0, "update": 1, "stream": 2, "once": 3}
_POLICIES = {"block": 0, "latest": 1, "drop": 2}
_READ, _WRITE, _READ_WRITE = 1, 2, 3
_BY_NAME, _AT_FIRST_SUBSCRIBER = -1, -2
_LOOK_AGAIN = 0.5  # seconds after which a task looks whether its subscription has ended


class _Over:
    """What the array of a version holds once its scope is over."""

    __slots__ = ("_chunk", "_version")

    def __init__(self, chunk, version=None):
        self._chunk, self._version = chunk, version

    def __repr__(self):
        which = f"a version of {self._chunk!r}, whose scope" if self._version is None else (
            f"version {self._version} of {self._chunk!r}, which")
        return f"{which} is over: keep a copy"


def _references(one):
    return sys.getrefcount(one)


def _own_references():
    one = object()
    return _references(one)


_OWN = _own_references()


_OBJECT = np.dtype(object)


def _ended(over):
    """The state of an array whose memory was taken from it (__setstate__): one object, which says why."""
    return (1, (1,), _OBJECT, False, [over])


class _Scope:
    """A with statement's scope of a chunk."""

    __slots__ = ("_chunk", "_mode", "_timeout", "_scope", "_array")

    def __init__(self, chunk, mode, timeout):
        self._chunk, self._mode, self._timeout = chunk, mode, timeout
        self._scope = None

    def __enter__(self):
        if self._scope is not None:
            raise RuntimeError(f"this scope of {self._chunk!r} is open already")
        self._scope = self._chunk._open(self._mode, self._timeout)
        self._array = self._chunk._array_of(self._scope)
        return self._array

    def __exit__(self, kind, error, trace):
        array, scope, self._array, self._scope = self._array, self._scope, None, None
        # One name may have it: that of the with statement. After an exception frames of its traceback have it, too.
        if kind is None and _references(array) - _OWN > 1:
            scope.leave()
            raise self._held("another name or object has its array")
        array.__setstate__(self._chunk._ended)  # views of it are as before
        if not scope.leave() and kind is None:
            raise self._held("a view of it is kept")

    def _held(self, why):
        return BufferError(f"the scope of {self._chunk!r} is over, and {why}: keep a copy, or delete it within the scope "
                           "(del); the scope ends when it is gone")


def _place(home):
    """The C interface's home."""
    if home is None:
        return _BY_NAME
    if home == "subscriber":
        return _AT_FIRST_SUBSCRIBER
    place = operator.index(home)
    if not 0 <= place < _job.nodes():
        raise ValueError(f"home={home}: 'subscriber', or the number of a node: 0 to {_job.nodes() - 1}")
    return place


class Chunk:
    """A named array that changes as a whole: a writer makes a version, and subscribers get it.

    name: of the job; nodes that give the same name, shape, dtype and coherence have the same chunk.
    shape, dtype: as of zeros(); at least one byte.
    coherence: "stream" (the default), "update" or "once": versions go to subscribers; "invalidate": readers fetch them.
    home: the number of the node through which versions go; "subscriber": the first one; None: a server, by the name.
    Raises TypeError, ValueError (it exists with another shape, dtype or coherence), MemoryError.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[typing.Any]

    def __init__(self, name: str, shape: Shape, dtype: DTypeLike = float, *, coherence: str = "stream",
                 home: int | str | None = None) -> None:
        table = _job.directory()
        kind = _arrays.checked_dtype(dtype)
        lengths = _arrays.checked_shape(shape, kind)
        size = math.prod(lengths) * kind.itemsize
        if size == 0:
            raise ValueError(f"shape {lengths} of {kind}: a chunk has at least one byte")
        if coherence not in _COHERENCES:
            raise ValueError(f"coherence={coherence!r}: {', '.join(_COHERENCES)}")
        is_first = _state_shape(table, checked_name(name), lengths, kind)
        try:
            number = _core.chunk_create(name, size, _COHERENCES[coherence], _place(home))
        except Exception:
            if is_first:
                _take_shape_back(table, name)
            raise
        self._begin(name, lengths, kind, number)

    @classmethod
    def find(cls, name: str, timeout: float | None = None) -> typing.Self:
        """The chunk of that name, with its shape and dtype; waits until it is made. Raises TimeoutError."""
        table = _job.directory()
        number = _core.chunk_find(checked_name(name), nanoseconds(timeout))
        with table.open():
            text = bytes(table[table.find(CHUNK, name)]["text"])
        self = object.__new__(cls)
        shape, dtype = _arrays.description(text)
        self._begin(name, shape, dtype, number)
        return self

    def _begin(self, name, shape, dtype, number):
        self.name, self.shape, self.dtype = name, shape, dtype
        self._number = number
        self._is_subscribed, self._has_one_place = False, False
        self._last = None  # where there is one place: a weak reference to the array that was taken last, and its scope
        self._newest = None  # the scope of the version that was taken last
        self._ended = _ended(_Over(self))

    @property
    def version(self) -> int:
        """The number of the version that was taken last; 0: none was."""
        return 0 if self._newest is None else self._newest.version

    @property
    def missed(self) -> int:
        """How many versions were left out before the one that was taken last."""
        return 0 if self._newest is None else self._newest.missed

    @property
    def nbytes(self) -> int:
        """The bytes of a version."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __repr__(self):
        return f"Chunk({self.name!r}, {self.shape}, {str(self.dtype)!r})"

    def __reduce__(self):
        return Chunk.find, (self.name,)

    def write(self, timeout: float | None = None) -> contextlib.AbstractContextManager[Array]:
        """`with chunk.write() as a:` a holds anything, and all of it is to be written; the end makes a version.

        timeout: seconds after which it raises TimeoutError, which says who has a scope.
        An array or a view that outlives the scope raises BufferError. An exception makes a version, too.
        """
        return _Scope(self, _WRITE, timeout)

    def read_write(self, timeout: float | None = None) -> contextlib.AbstractContextManager[Array]:
        """The same, where a holds the newest version."""
        return _Scope(self, _READ_WRITE, timeout)

    def read(self, timeout: float | None = None) -> contextlib.AbstractContextManager[Array]:
        """`with chunk.read() as a:` a is the newest version, read-only; zeros before the first one."""
        return _Scope(self, _READ, timeout)

    def _open(self, mode, timeout):
        _job.directory()
        return _core.chunk_open(self._number, mode, -1 if timeout is None else nanoseconds(timeout))

    def _array_of(self, scope):
        # Views of an array have the array as their base that has the memory: that is this one, and not what is returned.
        memory = np.frombuffer(scope, self.dtype)
        return memory.view() if len(self.shape) == 1 else memory.reshape(self.shape)

    def subscribe(self, policy: str = "block", window: int = 0) -> None:
        """Versions come to this node from now on, the newest one first; `for a in chunk` and take() give them.

        policy: what happens while this node is slow. "block": all versions come, and the writer waits; "latest": the next
          one is the newest; "drop": the same with a window.
        window: how many versions may be under way or held here, 1 to 1024; 0: it is measured, at least 2. "latest" has 1.
        Raises RuntimeError: this node is a subscriber already.
        """
        _job.directory()
        if policy not in _POLICIES:
            raise ValueError(f"policy={policy!r}: {', '.join(_POLICIES)}")
        _core.chunk_subscribe(self._number, _POLICIES[policy], window)
        self._is_subscribed = True
        self._has_one_place = policy == "latest" or window == 1

    def unsubscribe(self) -> None:
        """No more versions come; loops over the chunk end."""
        _core.chunk_unsubscribe(self._number)

    def take(self, timeout: float | None = None) -> Array:
        """The next version that comes, as a read-only array, which stays as it is while it or a view of it is held.

        It uses a place of the window so long; with policy "latest" it is over at the next take().
        timeout: seconds after which it raises TimeoutError.
        Raises BufferError: all places of the window are held, or a view of a version that is over. EOFError: the
        subscription has ended.
        """
        array = self._take(-1 if timeout is None else nanoseconds(timeout))
        if array is None:
            raise TimeoutError(f"no version of {self!r} has come within {timeout} s")
        if array is False:
            raise EOFError(f"the subscription of {self!r} has ended")
        return array

    def _take(self, timeout_ns):
        """An array, None: none came in time, or False: none comes any more."""
        _job.directory()
        if not self._is_subscribed:
            self.subscribe()
        if self._has_one_place:
            self._end_last()
        scope = _core.chunk_take(self._number, timeout_ns)
        if not scope:
            self._is_subscribed = self._is_subscribed and scope is None
            return scope
        self._newest = scope
        array = self._array_of(scope)
        if self._has_one_place:
            self._last = weakref.ref(array), scope
        return array

    def _end_last(self):
        """The version before is over, so that the next one can come."""
        if self._last is None:
            return
        (array, scope), self._last = (self._last[0](), self._last[1]), None
        if array is not None:
            array.__setstate__(_ended(_Over(self, scope.version)))
        if not scope.leave():
            raise BufferError(f"version {scope.version} of {self!r} is over, and a view of it is kept: keep a copy")

    def record(self, path: str | os.PathLike[str], versions: int | None = None, timeout: float | None = None) -> int:
        """Writes the versions that come into a file, as of take(), and returns how many these were.

        path: of the file, which is replaced where it exists; Recording reads it, and replay().
        versions: after so many it ends; None: when the subscription does (unsubscribe(), in another thread).
        timeout: it ends when no version has come within so many seconds.
        Raises OSError: the file cannot be written, or the disk is full; the versions before are in it.
        """
        return _recordings.record(self, path, versions, nanoseconds(timeout))

    def replay(self, path: str | os.PathLike[str], speed: float | None = 1.0) -> int:
        """Makes the versions of a recording anew, with the pauses that were between them; returns how many these were.

        speed: 2 is twice as fast; None: without pauses.
        Raises OSError, or ValueError: the file is no recording of this shape and dtype, or was cut short; the versions before
        have been made.
        """
        return _recordings.replay(self, path, speed)

    def __iter__(self) -> typing.Iterator[Array]:
        """Versions as of take(), until the subscription ends."""
        while (array := self._take(-1)) is not False:
            yield array
            del array

    async def __aiter__(self) -> typing.AsyncIterator[Array]:
        """`async for a in chunk:` as the loop of threads; other tasks run meanwhile."""
        while True:
            array = self._take(0)
            if array is False:
                return
            if array is None:
                await self._readable()
                continue
            yield array
            del array

    async def _readable(self):
        """Waits until a version may have come."""
        descriptor = _core.chunk_descriptor(self._number)
        if descriptor < 0:
            return
        loop = asyncio.get_running_loop()
        come = asyncio.Event()
        loop.add_reader(descriptor, come.set)
        try:
            await asyncio.wait_for(come.wait(), _LOOK_AGAIN)
        except asyncio.TimeoutError:
            pass
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)


def _state_shape(table, name, shape, dtype):
    """Whether this node is the first to say the chunk's shape and dtype. Raises ValueError: it says others."""
    text = _arrays.text_of(shape, dtype).encode()
    with table.open():
        slot = table.find(CHUNK, name)
        if slot is None:
            table[table.add(CHUNK, name)]["text"] = text
        elif bytes(table[slot]["text"]) != text:
            other, kind = _arrays.description(table[slot]["text"])
            raise ValueError(f"the chunk {name!r} has shape {other} and dtype {kind} on another node, and shape {shape} and "
                             f"dtype {dtype} here")
        return slot is None


def _take_shape_back(table, name):
    with table.open():
        table[table.find(CHUNK, name)]["kind"] = FREE
