"""Recordings: files with the versions of a chunk, their numbers, lengths and times."""

from __future__ import annotations

import math
import os
import time
import typing

import numpy as np

from . import _arrays, _core

if typing.TYPE_CHECKING:
    from ._types import Array

_LONGEST_SLEEP = 0.1  # seconds: Ctrl-C and the like are heard meanwhile


class Recording:
    """A file that Chunk.record() has made, to be read: `for a in tr.Recording(path):`. It needs no job.

    path: of the file. Raises OSError: it cannot be read; ValueError: it is no recording, or it was cut short, and where.
    Each array is a copy of its own, with the shape and dtype of the chunk; bytes, where a program in C has recorded.
    """

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[typing.Any]
    begin: float  # when it was made, in seconds since 1970
    version: int  # of the array that came last: its number
    time: float  # and when it was recorded, in seconds since `begin`

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file = _core.Recording.open(self.path)
        self.begin = self._file.begin_ns / 1e9
        self.shape, self.dtype = description_of(self._file)
        self._size = math.prod(self.shape) * self.dtype.itemsize
        self.version, self.time = 0, 0.0

    def __repr__(self):
        return f"Recording({self.path!r})"

    def __iter__(self) -> typing.Iterator[Array]:
        """The versions in their order. Ends with those that are in the file; what is added later comes to a later loop."""
        while self._next():
            array = np.empty(self.shape, self.dtype)
            self._file.read(as_bytes(array))
            yield array

    def _next(self):
        """Whether there is a version more, of which version and time are then."""
        head = self._file.next()
        if head is None:
            return False
        number, time_ns, size = head
        if size != self._size:
            raise ValueError(f"'{self.path}' has a version of {size} bytes; {self.shape} of {self.dtype} has {self._size}")
        self.version, self.time = number, time_ns / 1e9
        return True

    def close(self) -> None:
        """Closes the file. A loop, too, may leave it open until the object is gone."""
        self._file.close()

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def as_bytes(array):
    """A view of all bytes of a contiguous array."""
    return array.reshape(-1).view("u1")


def description_of(file):
    """The shape and the dtype that the file states; bytes, where it states none."""
    if not file.description.startswith("["):
        return (file.bytes,), np.dtype("u1")
    try:
        return _arrays.description(file.description)
    except Exception as error:
        raise ValueError(f"a recording whose description is no shape and dtype: {file.description[:80]!r}") from error


def record(chunk, path, versions, timeout):
    """What Chunk.record() says."""
    file = _core.Recording.create(os.fspath(path), chunk.nbytes, _arrays.text_of(chunk.shape, chunk.dtype))
    done = 0
    try:
        while versions is None or done < versions:
            array = chunk._take(timeout)
            if array is None or array is False:
                break
            file.append(chunk.version, as_bytes(array))
            del array
            done += 1
    finally:
        file.close()
    return done


def replay(chunk, path, speed):
    """What Chunk.replay() says."""
    if speed is not None and not (speed > 0 and math.isfinite(speed)):
        raise ValueError(f"speed={speed}: a number above 0, or None: without pauses")
    done = 0
    with Recording(path) as recording:
        if (recording.shape, recording.dtype) != (chunk.shape, chunk.dtype):
            raise ValueError(f"{recording!r} has versions of shape {recording.shape} and dtype {recording.dtype}, and "
                             f"{chunk!r} has others")
        begin = None
        while recording._next():
            if begin is None:
                begin = time.monotonic() - recording.time / (speed or 1)
            if speed is not None:
                _sleep_until(begin + recording.time / speed)
            with chunk.write() as array:
                recording._file.read(as_bytes(array))
            done += 1
    return done


def _sleep_until(moment):
    while (left := moment - time.monotonic()) > 0:
        time.sleep(min(left, _LONGEST_SLEEP))
