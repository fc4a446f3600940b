"""Arrays in shared memory. Each is a numpy.ndarray whose base holds the memory."""

from __future__ import annotations

import json
import math
import operator
import typing
import weakref

import numpy as np

from . import _core, _job
from ._directory import ARRAY, checked_name, number_of

if typing.TYPE_CHECKING:
    from ._types import Array, ArrayLike, DTypeLike, Homes, Shape

_HOMES = {"first touch": 0, "block": 1, "cyclic": 2}
_MOST_BYTES = 1 << 46  # beyond what a job can address
_PLAIN_KINDS = "?biufcmMSUV"

# Slot and generation -> Memory of this node, and the other way round.
_open_memory: weakref.WeakValueDictionary[tuple[int, int], _core.Memory] = weakref.WeakValueDictionary()
_keys: weakref.WeakKeyDictionary[_core.Memory, tuple[int, int]] = weakref.WeakKeyDictionary()
_made = 0  # arrays without a name that this node has made
makes_own = False  # arrays without a name are of this node alone: others get them by reference
_own = 0  # how many such there were


def checked_dtype(dtype):
    """The dtype. Raises TypeError: other nodes could not read it."""
    found = np.dtype(dtype)
    if found.hasobject or found.kind not in _PLAIN_KINDS:
        raise TypeError(f"dtype {found} holds pointers to Python objects, which other nodes do not have; use numbers, "
                        "texts of fixed length (S, U), or a structured dtype of these")
    return np.empty(0, found).dtype  # S and U without a length have one then


def checked_shape(shape, dtype):
    """The shape as a tuple of ints. Raises TypeError or ValueError."""
    try:
        numbers = (operator.index(shape),)
    except TypeError:
        numbers = tuple(operator.index(one) for one in shape)
    if any(one < 0 for one in numbers):
        raise ValueError(f"shape {numbers}: a length is negative")
    size = math.prod(one for one in numbers if one) * dtype.itemsize
    if size > _MOST_BYTES:
        raise ValueError(f"shape {numbers} of {dtype}: {size} bytes are more than a job can address ({_MOST_BYTES})")
    np.empty(()).reshape((1,) * len(numbers))  # raises where there are too many dimensions
    return numbers


def _policy(homes):
    """The C interface's homes, home and block_pages."""
    if homes is None:
        return 0, 0, 0
    if isinstance(homes, str):
        known = homes.replace("_", " ").replace("-", " ")
        if known not in _HOMES:
            raise ValueError(f"homes={homes!r}: 'first touch', 'block', 'cyclic' or the number of a node")
        return _HOMES[known], 0, 0
    home = operator.index(homes)
    if not 0 <= home < _job.nodes():
        raise ValueError(f"homes={home}: the job has nodes 0 to {_job.nodes() - 1}")
    return 3, home, 0


def _next_name():
    global _made
    _made += 1
    return b"\1%d" % _made


def _own_name():
    global _own
    _own += 1
    return b"\3%d.%d" % (_job.node(), _own)


def text_of(shape, dtype):
    """Shape and dtype as the directory has them."""
    description = np.lib.format.dtype_to_descr(dtype)
    return json.dumps([description, shape], separators=(",", ":"))


def description(text):
    """The shape and the dtype of a text of the directory."""
    def tuples(value):
        return [(*map(tuples, one),) if isinstance(one, list) else one for one in value]

    description, shape = json.loads(text)
    if isinstance(description, list):
        description = [_field(one) for one in description]
    return tuple(shape), np.lib.format.descr_to_dtype(description)


def _field(one):
    """JSON has no tuples: a field is (name, description) or (name, description, shape)."""
    name, kind = one[0], one[1]
    name = tuple(name) if isinstance(name, list) else name
    kind = [_field(part) for part in kind] if isinstance(kind, list) and isinstance(kind[0], list) else kind
    kind = (kind[0], tuple(kind[1])) if isinstance(kind, list) and isinstance(kind[0], str) else kind
    return (name, kind) if len(one) == 2 else (name, kind, tuple(one[2]))


def _memory(table, slot):
    """This node's Memory of the slot. Inside table.open()."""
    entry = table[slot]
    key = (slot, int(entry["generation"]))
    memory = _open_memory.get(key)
    if memory is None:
        memory = _core.Memory(int(entry["address"]), int(entry["bytes"]))
        _open_memory[key] = memory
        _keys[memory] = key
        weakref.finalize(memory, table.drop, slot).atexit = False
    return memory


def _create(table, name, text, size, policy, label):
    address = _core.alloc(max(size, 1), *policy, label, False)
    try:
        slot = table.add(ARRAY, name)
    except RuntimeError:
        _core.free(address)
        raise
    entry = table[slot]
    entry["address"], entry["bytes"], entry["text"] = address, max(size, 1), text
    return slot


def _make(shape, dtype, homes, name, values=None):
    """The array of all nodes; `values` fill it, from the node that comes first."""
    table = _job.directory()
    dtype = checked_dtype(dtype)
    shape = checked_shape(shape, dtype)
    policy = _policy(homes)
    text = text_of(shape, dtype).encode()
    kept = name is not None
    size = math.prod(shape) * dtype.itemsize
    if len(text) > 600:
        raise ValueError(f"the description of dtype {dtype} has {len(text)} bytes; at most 600 go")
    with table.open():
        own = makes_own and not kept
        key = checked_name(name).encode() if kept else _own_name() if own else _next_name()
        slot = table.find(ARRAY, key)
        first = slot is None
        if first:
            slot = _create(table, key, text, size, policy, name.encode()[:31].decode(errors="ignore") if kept else None)
            table[slot]["kept"] = kept
            table[slot]["refs"] = 0 if kept else 1 if own else _core.nodes()
            if values is not None:
                _core.flag_clear(number_of(slot))
                table[slot]["filling"] = 1
        elif bytes(table[slot]["text"]) != text:
            other, kind = description(table[slot]["text"])
            which = f"the array {name!r}" if kept else f"array {_made} of this node"
            raise ValueError(f"{which} has shape {other} and dtype {kind} on another node, and shape {shape} and dtype "
                             f"{dtype} here")
        waits = not first and values is not None and bool(table[slot]["filling"])
        if kept:
            table[slot]["refs"] += (slot, int(table[slot]["generation"])) not in _open_memory
        memory = _memory(table, slot)
    array = np.ndarray(shape, dtype, memory)
    if first and values is not None:
        array[...] = values
        _core.flag_set(number_of(slot))
    elif waits:
        _core.flag_wait(number_of(slot))
    return array


def zeros(shape: Shape, dtype: DTypeLike = float, *, homes: Homes = None, name: str | None = None) -> Array:
    """An array of zeros, one for all nodes.

    shape: an int or a sequence of ints. dtype: any without pointers.
    homes: where the pages are kept: "first touch" (the default: with the node that writes them), "block" (equal parts
      in the order of the nodes), "cyclic" (page after page around the nodes), or the number of a node.
    name: without one, all nodes make their arrays in the same order, and the n-th of each is the same; it is freed when
      it is gone on every node. With one, any node may make it or find it at any time; it stays until forget().
    Raises TypeError, ValueError (another node gave another shape or dtype), MemoryError.
    """
    return _make(shape, dtype, homes, name)


def empty(shape: Shape, dtype: DTypeLike = float, *, homes: Homes = None, name: str | None = None) -> Array:
    """The same as zeros(): shared memory is zeroed anyway."""
    return _make(shape, dtype, homes, name)


def full(shape: Shape, fill_value: ArrayLike, dtype: DTypeLike | None = None, *, homes: Homes = None,
         name: str | None = None) -> Array:
    """An array full of a value, which the first node to come writes; the others wait for it. See zeros()."""
    value = np.asarray(fill_value)
    dtype = checked_dtype(value.dtype if dtype is None else dtype)
    return _make(shape, dtype, homes, name, np.broadcast_to(value.astype(dtype), checked_shape(shape, dtype)))


def ones(shape: Shape, dtype: DTypeLike = float, *, homes: Homes = None, name: str | None = None) -> Array:
    """An array full of ones. See full()."""
    return full(shape, 1, dtype, homes=homes, name=name)


def array(other: ArrayLike, dtype: DTypeLike | None = None, *, homes: Homes = None,
          name: str | None = None) -> Array:
    """A shared copy of `other`, anything that numpy.asarray takes. Each node gives it; the first one's values count."""
    values = np.asarray(other)
    dtype = checked_dtype(values.dtype if dtype is None else dtype)
    return _make(values.shape, dtype, homes, name, values.astype(dtype, copy=False))


def zeros_like(other: ArrayLike, dtype: DTypeLike | None = None, *, homes: Homes = None,
               name: str | None = None) -> Array:
    """An array of zeros with the shape and the dtype of another array. See zeros()."""
    other = np.asanyarray(other)
    return _make(other.shape, other.dtype if dtype is None else dtype, homes, name)


def find(name: str) -> Array:
    """The array of that name, with the shape and the dtype that its first node gave. Raises KeyError: there is none."""
    table = _job.directory()
    with table.open():
        slot = table.find(ARRAY, checked_name(name))
        if slot is None:
            raise KeyError(f"the job has no array {name!r} yet")
        memory, text, filling = _attach(table, slot)
    if filling:
        _core.flag_wait(number_of(slot))
    shape, dtype = description(text)
    return np.ndarray(shape, dtype, memory)


def _attach(table, slot):
    """The slot's Memory, its text, and whether its first values may still be on their way. Inside table.open()."""
    entry = table[slot]
    entry["refs"] += (slot, int(entry["generation"])) not in _open_memory
    return _memory(table, slot), bytes(entry["text"]), bool(entry["filling"])


def forget(name: str) -> None:
    """Takes the name from an array: its memory is freed when no node has the array any more."""
    table = _job.directory()
    with table.open():
        slot = table.find(ARRAY, checked_name(name))
        if slot is None:
            raise KeyError(f"the job has no array {name!r}")
        table[slot]["name"], table[slot]["kept"] = b"\2", 0
        table[slot]["refs"] += 1
        table.release(slot)


def own_bytes(data):
    """An array with these bytes, of this node alone."""
    global makes_own
    before, makes_own = makes_own, True
    try:
        held = _make(len(data), "u1", None, None)
    finally:
        makes_own = before
    held[...] = np.frombuffer(data, "u1")
    return held


def as_bytes(memory):
    """All of a Memory."""
    return np.ndarray(memory.nbytes, "u1", memory)


def open_arrays():
    """How many arrays of the job this process has, views counted with theirs."""
    return len(_open_memory)


def memory_of(array):
    """The Memory behind an array or a view of it, or None: it is not in shared memory."""
    while array is not None and not isinstance(array, _core.Memory):
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return array


def slot_of(memory):
    """The slot and the generation of a Memory of this node, or None: it is no array's."""
    return _keys.get(memory)


def reopen(slot, generation):
    """The Memory of an array of this job; None: the array is gone."""
    table = _job.directory()
    with table.open():
        entry = table[slot]
        if entry["kind"] != ARRAY or int(entry["generation"]) != generation:
            return None
        memory, _, filling = _attach(table, slot)
    if filling:
        _core.flag_wait(number_of(slot))
    return memory


def local_rows(array: Array) -> slice:
    """The rows of an array that are this node's part, as a slice: equal parts in the order of the nodes.

    With homes="block" these rows are (but for the pages at the edges) in this node's memory.
    """
    node, nodes = _job.node(), _job.nodes()
    if array.ndim == 0:
        raise ValueError("an array without dimensions has no rows")
    return slice(len(array) * node // nodes, len(array) * (node + 1) // nodes)
