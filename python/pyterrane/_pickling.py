"""Pickles of arrays in shared memory: read on a node of the job, they are that memory; elsewhere, a copy."""

import contextlib
import copyreg
import operator
import threading
import typing

import numpy as np

from . import _arrays, _core, _job

_state = threading.local()


@contextlib.contextmanager
def references() -> typing.Iterator[None]:
    """Pickles that are made inside hold no copy: they are small, and only nodes of this job can read them."""
    before = getattr(_state, "alone", False)
    _state.alone = True
    try:
        yield
    finally:
        _state.alone = before


class _AsPlain:
    """Pickles an array as NumPy does by itself, with the pickle's own protocol."""

    def __init__(self, array):
        self._array = array

    def __reduce_ex__(self, protocol):
        return self._array.__reduce_ex__(protocol)


def _reference(array):
    """What another node needs to find the same bytes, or None: they are not in shared memory."""
    memory = _arrays.memory_of(array) if array.base is not None else None
    slot = _arrays.slot_of(memory) if memory is not None else None
    if slot is None:
        return None
    offset = array.__array_interface__["data"][0] - memory.address
    return (_job.job_name(), *slot, offset, array.shape, array.strides, array.dtype, array.flags.writeable)


def _reduce(array):
    reference = _reference(array)
    if reference is not None:
        return _restore, (reference, None if getattr(_state, "alone", False) else _AsPlain(array))
    if array.dtype.hasobject:
        return array.__reduce__()
    return operator.getitem, ((_AsPlain(array),), 0)  # the array alone, without a name of this module


def _restore(reference, copy):
    job, slot, generation, offset, shape, strides, dtype, writeable = reference
    memory = _arrays.reopen(slot, generation) if _job.is_in(job) else None
    if memory is None:
        if copy is not None:
            return copy
        raise RuntimeError("this pickle is a reference to an array of a job's shared memory, which is gone, or which this "
                           "process is no node of; pickle it outside of references() to send a copy")
    array = np.ndarray(shape, dtype, memory, offset, strides)
    array.flags.writeable = writeable
    return array


def install():
    """From now on NumPy's arrays are pickled so. Those that are not in shared memory are as before."""
    copyreg.pickle(np.ndarray, _reduce)
